"""Batch solvers: L-BFGS and conjugate gradient, as `--bfgs` and `--conjugate_gradient` of Vowpal Wabbit have them.

What is minimised is sum_i c_i l(<w, x_i> + b_i, y_i) + sum_j r_j (w_j - u_j)^2 / 2, c_i being the importance of an
example and b_i its initial prediction. The r_j are all `--l2`, and the u_j are 0, unless a file has others
(`--input_feature_regularizer`).

The solver makes passes over the examples. A pass computes the loss and the gradient at w, or the second derivative
along the direction d of the search; the next step is decided at its end (`Solver.end_pass`). The first step is the
Newton step along d; later steps have length 1, or the Newton step's with `--hessian_on`; a step that does not lower the
loss enough (the first Wolfe condition, with 0.01) is halved.

Nocedal, Wright. Numerical Optimization, 2nd edition 2006: algorithm 7.4 (two loops), section 5.2 (conjugate gradient
after Polak and Ribiere, restarted where beta is negative).

Weights and all that is kept for each of them are single precision, and sums over examples and weights are made in
the same order and precision as there, so that the numbers are the same.
"""

