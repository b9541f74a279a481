"""The table of solvers, from which help texts, pages, checks and tests are generated.

Data only. More about a solver is in `pages/NAME.txt` in this folder.
"""

from dataclasses import dataclass

SMOOTH = ("squared", "logistic", "squared-hinge", "poisson")
BOUNDED = ("squared", "logistic", "squared-hinge")  # those whose curvature has a bound

# What a problem may have beside its loss.
PENALTY = ("l1", "l2", "nonnegative", "box", "feature_weights")
BALL = ("radius", "l2", "nonnegative", "feature_weights")


@dataclass(frozen=True)
class SolverRow:
    """One row of the table of solvers."""

    name: str
    kind: str  # its class, as MODULE:CLASS in vwlite.core.solve
    summary: str
    formula: str
    takes: tuple[str, ...]  # of the problem, by the options' names
    paper: str
    losses: tuple[str, ...] = SMOOTH
    options: tuple[str, ...] = ()  # of its own
    needs: tuple[str, ...] = ()  # of the problem
    descends: bool = True  # no step makes the objective worse
    ends: bool = True  # by itself, where nothing is left to gain
    penalizes_constant: bool = False  # --l2 is on it too
    simplex: bool = False  # weights are not negative and add up to the radius
    softmax: bool = False  # several classes with one loss
    on_ball: str = ""  # its class for --radius, if another
    to_count: str = ""  # and for --nonzeros
    of_papers: bool = False  # there to reproduce papers: others are better at all that it does


SOLVERS = {
    row.name: row
    for row in (
        SolverRow(
            "newton",
            "newton:Newton",
            "proximal Newton: coordinate descent on the loss's second order model, over a working set of columns",
            "w <- w + t D, D = argmin <g, D> + sum of l''_i (<x_i, D> + d)^2 / 2 + l1 ||w + D||_1",
            (*PENALTY, "radius", "nonzeros"),
            "Friedman, Hastie, Tibshirani 2010; Yuan, Ho, Lin 2012; Johnson, Guestrin 2015",
            on_ball="path:NewtonOnBall",
            to_count="path:NewtonToCount",
        ),
        SolverRow(
            "cd",
            "coordinate:CoordinateDescent",
            "coordinate descent in random orders, leaving out columns that stay zero",
            "w_j <- soft(w_j - g_j / B_j, l1 / B_j), B_j a bound on the curvature there",
            PENALTY,
            "Friedman, Hastie, Tibshirani 2010; Yuan, Ho, Lin 2012",
        ),
        SolverRow(
            "scd",
            "papers.scd:StochasticCoordinateDescent",
            "stochastic coordinate descent: each step draws a coordinate at random",
            "u_k <- u_k + max(-u_k, -(g_k + l1) / B_k), w = u_1..d - u_d+1..2d, k uniform",
            PENALTY,
            "Shalev-Shwartz, Tewari 2009, Algorithm 1",
            losses=BOUNDED,
            options=("beta",),
            of_papers=True,
        ),
        SolverRow(
            "detcd",
            "papers.scd:DeterministicCoordinateDescent",
            "greedy coordinate descent: each step takes the coordinate with the largest gain",
            "as scd, with the k whose step has the largest bound of its gain",
            PENALTY,
            "Shalev-Shwartz, Tewari 2009, section 2",
            losses=BOUNDED,
            options=("beta",),
            of_papers=True,
        ),
        SolverRow(
            "projected-gradient",
            "gradient:ProjectedGradient",
            "gradient steps, each projected onto the l1 ball",
            "w <- argmin ||w - t g - v|| over ||v||_1 <= radius, t by a line search",
            BALL,
            "Duchi, Shalev-Shwartz, Singer, Chandra 2008, section 6",
            options=("eta0",),
            needs=("radius",),
            softmax=True,
            of_papers=True,
        ),
        SolverRow(
            "accelerated",
            "gradient:AcceleratedGradient",
            "projected gradient steps from a point ahead of the weights",
            "v = w + ((a - 1) / a+) (w - w_before), w <- projection of v - t g(v)",
            BALL,
            "Nesterov 1983; Beck, Teboulle 2009; O'Donoghue, Candes 2015",
            options=("eta0",),
            needs=("radius",),
            softmax=True,
            descends=False,
        ),
        SolverRow(
            "minibatch",
            "papers.sampled:Minibatch",
            "projected gradient steps, each from a sample of the examples",
            "w <- projection of w - eta g_S / sqrt(k), S drawn without replacement",
            BALL,
            "Duchi, Shalev-Shwartz, Singer, Chandra 2008, section 7",
            options=("batch", "eta0"),
            needs=("radius",),
            softmax=True,
            descends=False,
            ends=False,
            of_papers=True,
        ),
        SolverRow(
            "eg",
            "papers.sampled:ExponentiatedGradient",
            "exponentiated gradient, for positive weights that add up to the radius",
            "w_j <- w_j exp(-eta g_j) / Z, Z such that sum w = radius",
            BALL,
            "Kivinen, Warmuth 1997; Duchi, Shalev-Shwartz, Singer, Chandra 2008, eq. 13",
            options=("eta0",),
            needs=("radius",),
            descends=False,
            simplex=True,
            of_papers=True,
        ),
        SolverRow(
            "eg-pm",
            "papers.sampled:ExponentiatedGradientBothSigns",
            "exponentiated gradient for weights of any sign, each the difference of two positive ones",
            "w = w+ - w-, w+-_j <- w+-_j exp(-+eta g_j) / Z, Z such that sum w+ + w- = radius",
            ("radius", "l2", "feature_weights"),
            "Kivinen, Warmuth 1997; Duchi, Shalev-Shwartz, Singer, Chandra 2008, section 7",
            options=("eta0",),
            needs=("radius",),
            softmax=True,
            descends=False,
            of_papers=True,
        ),
        SolverRow(
            "frank-wolfe",
            "gradient:FrankWolfe",
            "steps towards corners of the l1 ball: each adds one weight and shrinks the others",
            "w <- w + t (s - w), s = argmin <g, s> over ||s||_1 <= radius",
            BALL,
            "Frank, Wolfe 1956; Clarkson 2008; Shalev-Shwartz, Tewari 2009, section 1.1",
            losses=BOUNDED,
            needs=("radius",),
            of_papers=True,
        ),
        SolverRow(
            "sdca",
            "dual:DualCoordinateDescent",
            "coordinate ascent on the dual: the support vector machine, an example at a time",
            "a_i <- clip(a_i - (y_i p_i - 1) / ||x_i||^2, 0, h_i / l2), w = sum of a_i y_i x_i",
            ("l2",),
            "Hsieh, Chang, Lin, Keerthi, Sundararajan 2008; Shalev-Shwartz, Tewari 2009, section 4",
            losses=("hinge",),
            options=("order",),
            needs=("l2",),
            descends=False,
            penalizes_constant=True,
        ),
    )
}

# Those of `vwlite solve --shards` and `vwlite dask train --exact`: one gradient a round, summed over shards.
ROUNDS = {
    row.name: row
    for row in (
        SolverRow(
            "owl-qn",
            "rounds:OWLQN",
            "L-BFGS on the orthant of each step",
            "w <- pi(w - t H g'; signs of w), g' the subgradient nearest to 0, H of the last 10 steps",
            ("l1", "l2"),
            "Andrew, Gao 2007",
        ),
        SolverRow(
            "l-bfgs",
            "rounds:OWLQN",
            "L-BFGS, whose first inverse Hessian is that of a sample of the rows",
            "w <- w - t H g, H of the last 10 steps, at first (X' diag(l'') X + D + l2)^-1 of a sample X",
            ("l2",),
            "Liu, Nocedal 1989",
            needs=("l2",),
        ),
        SolverRow(
            "spg",
            "rounds:SPG",
            "projected gradient, whose step is by the last change of the gradient",
            "w <- w + t (P(w - a g) - w), a = s's / s'y, below the largest of the last 10 objectives",
            ("radius", "l2"),
            "Birgin, Martinez, Raydan 2000",
            needs=("radius",),
            descends=False,
        ),
    )
}
EVERY = SOLVERS | ROUNDS


def best_solver(loss: str, *, softmax: bool = False) -> str:
    """What `--solver auto` is for a problem."""
    if softmax:
        return "accelerated"
    return "sdca" if loss == "hinge" else "newton"
