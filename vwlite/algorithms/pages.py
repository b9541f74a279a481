"""The pages of the algorithms: what `vwlite algorithms NAME` says beside the registry.

Data only, needed by nobody who learns. The formulas are those of the papers with the
names of our options; the constant feature is never shrunk, truncated, rounded or projected, except by gd.
"""

from dataclasses import dataclass

TG = "J. Langford, L. Li, T. Zhang. Sparse Online Learning via Truncated Gradient. JMLR 10, 2009"
L1B = (
    "J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra. Efficient Projections onto the l1-Ball for Learning in High "
    "Dimensions. ICML 2008"
)
ADA = (
    "J. Duchi, E. Hazan, Y. Singer. Adaptive Subgradient Methods for Online Learning and Stochastic Optimization. "
    "JMLR 12, 2011"
)
SMD = "S. Shalev-Shwartz, A. Tewari. Stochastic Methods for l1 Regularized Loss Minimization. ICML 2009"
EG = (
    "J. Kivinen, M. Warmuth. Exponentiated Gradient versus Gradient Descent for Linear Predictors. Information and "
    "Computation 132, 1997"
)
PA = (
    "K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer. Online Passive-Aggressive Algorithms. JMLR 7, "
    "2006; figure 1"
)
EQUAL_START = "All features begin equal, at radius / d, also those that are yet to be seen."
COUNTED = "More features in the data than --features says end the run (exit code 65)."


@dataclass(frozen=True)
class Page:
    """What is to be said about one algorithm, in plain text."""

    about: str
    step: str  # the formulas of one step, line by line
    cost: str  # of an example with k features
    source: str
    command: str  # options with which a run on data/breast_cancer.train.vw learns something
    refuses: str = ""  # beside what the registry and the options already say
    d: str = ""  # what d is in the formulas


PAGES = {
    "gd": Page(
        "A feature learns at a rate of its own that follows from the sum of its squared gradients and the largest "
        "value "
        "it had: features of any scale and frequency can stand side by side. Steps are those of infinitely many tiny "
        "ones and never pass the label. Start here. l1 and l2 work as in Vowpal Wabbit: on the constant too, and only "
        "with examples that bring a step.",
        "G_i <- G_i + h l'(p, y)^2 x_i^2,  N_i <- max(N_i, |x_i|)\n"
        "    where N_i grows, w_i <- w_i (N_i before / N_i)^(2 - 2 power-t)\n"
        "S <- S + h sum of (x_i / N_i)^2,  W <- W + h,  M = (S / W)^(power-t - 1)\n"
        "r_i = G_i^-power-t N_i^(2 power-t - 2), by default 1 / (sqrt(G_i) N_i);  c = M sum of x_i^2 r_i\n"
        "w_i <- w_i + u M x_i r_i\n"
        "    u: p moves by c u, as if it went with dp/ds = -c l'(p, y) for a time of h eta\n"
        "    eta = learning-rate decay-learning-rate^(pass - 1)\n"
        "G_i, S and W begin at initial-t",
        "O(k)",
        "S. Ross, P. Mineiro, J. Langford. Normalized Online Learning. UAI 2013; algorithm 2. "
        "N. Karampatziakis, J. Langford. Online Importance Weight Aware Updates. UAI 2011. " + ADA,
        "",
    ),
    "sgd": Page(
        "One rate for all features, so scale them alike. It makes no weight zero: the measure of what the others cost.",
        "w <- w - eta_t g",
        "O(k)",
        "H. Robbins, S. Monro. A Stochastic Approximation Method. Annals of Mathematical Statistics 22, 1951",
        "-l 1e-3",
    ),
    "truncated-gradient": Page(
        "The online counterpart of l1 regularisation: every K examples all weights of at most theta are shrunk by what "
        "K steps of strength l1 sum up to, and those that come to zero leave the model. --threshold equal to --l1 is "
        "the paper's other special case.",
        "v = w - eta_t g\n"
        "if K divides t:  w <- T1(v, eta_t K l1, theta),  else  w <- v\n"
        "T1(v_j, a, theta) = max(0, v_j - a)  if 0 <= v_j <= theta\n"
        "                    min(0, v_j + a)  if -theta <= v_j <= 0\n"
        "                    v_j              otherwise\n"
        "K = --period, theta = --threshold",
        "O(k): a weight that nobody looks at is shrunk when somebody does, by all that it has missed",
        TG + "; section 3.3, eq. 6",
        "-l 1e-3 --l1 0.1",
    ),
    "rounding": Page(
        "Small weights are set to zero every K examples. Choose a period in which a weight that matters can grow "
        "beyond "
        "the threshold.",
        "v = w - eta_t g\n"
        "if K divides t:  w <- T0(v, theta),  else  w <- v\n"
        "T0(v_j, theta) = 0  if |v_j| < theta,  v_j  otherwise\n"
        "K = --period, theta = --threshold",
        "O(k)",
        TG + "; section 3.1, eq. 4 (its indicator is misprinted)",
        "-l 1e-3 --period 100 --threshold 0.01",
    ),
    "l1-subgradient": Page(
        "A baseline for the others. Weights step over zero and back, and hardly ever are zero: --round-at-end leaves "
        "those below a threshold out of the model.",
        "w <- w - eta_t g - eta_t l1 sgn(w),  sgn(0) = 0",
        "O(k) at a constant rate (--power-t 0). Else, for a weight that has come to zero, a step for every example "
        "since "
        "it was seen last",
        TG + "; section 3.2, eq. 5",
        "-l 1e-3 --l1 0.1 --round-at-end 0.01",
    ),
    "l1-ball": Page(
        "Keeps the sum of |weights| at most at the radius, exactly, after every example: the smaller the radius, the "
        "more weights are zero. With --feature-weights a feature counts in the sum as often as the file says; "
        "--box bounds every |weight|.",
        "v = w - eta_t g\n"
        "w <- argmin ||w - v||_2  over  ||w||_1 <= radius,  which is\n"
        "w_i = sign(v_i) max(|v_i| - theta, 0),  theta = 0 if ||v||_1 <= radius, else the one with ||w||_1 = radius\n"
        "with weights a_i and a box b:  over  sum of a_i |w_i| <= radius and |w_i| <= b\n"
        "w_i = sign(v_i) min(b, max(|v_i| - theta a_i, 0))",
        "O(k log n), n weights not being zero, amortised; it does not depend on the number of features",
        L1B + "; sections 4 and 6, figures 2 and 3",
        "-l 1e-3 --radius 1",
        refuses="A line of --feature-weights that is not NAMESPACE^NAME WEIGHT, with a weight from 0.001 to 1000.",
    ),
    "simplex": Page(
        "Keeps the weights positive and their sum at the radius, exactly, after every example; many become zero. "
        + EQUAL_START,
        "v = w - eta_t g\n"
        "w <- argmin ||w - v||_2  over  w >= 0, sum of w = radius,  which is\n"
        "w_i = max(v_i - theta, 0),  theta the one with sum of w = radius (it may be negative)\n"
        "w_i = radius / d at the beginning",
        "O(k log n), n weights not being zero, amortised; it does not depend on the number of features",
        L1B + "; section 3, eq. 3, and section 6",
        "-l 0.1 --radius 0.1 --features 10 --keep e",
        refuses=COUNTED,
        d="--features, or 2^bits without the constant",
    ),
    "eg": Page(
        "Multiplies weights, which are positive and add up to the radius: good where few of many features matter, and "
        "push one way. No weight is ever zero. " + EQUAL_START,
        "w_i <- w_i exp(-eta_t g_i) / Z,  Z such that sum of w = radius\nw_i = radius / d at the beginning",
        "O(k): logarithms of unnormalised weights and one common normaliser",
        EG + ". " + L1B + "; section 7, eq. 13",
        "-l 1 --radius 0.01 --features 30",
        refuses=COUNTED,
        d="--features, or 2^bits without the constant",
    ),
    "eg-pm": Page(
        "Two vectors of positive weights, one that counts for and one that counts against: weights of any sign, their "
        "absolute values adding up to at most the radius. No weight leaves the model for zero. " + EQUAL_START,
        "w = w+ - w-\n"
        "w+_i <- w+_i exp(-eta_t g_i) / Z\n"
        "w-_i <- w-_i exp(+eta_t g_i) / Z,  Z such that sum of w+ + w- = radius\n"
        "w+_i = w-_i = radius / (2 d) at the beginning",
        "O(k)",
        EG + "; EG+-. " + L1B + "; section 7",
        "-l 1e-3 --radius 1 --features 30",
        refuses=COUNTED,
        d="--features, or 2^bits without the constant",
    ),
    "adagrad": Page(
        "Each feature learns at a rate of its own that falls with its own gradients: rare features move far. Composite "
        "mirror descent, the form that shrinks weights by a soft threshold at the same rates. The common rate eta_t is "
        "constant unless --power-t is given.",
        "H_i = delta + sqrt(sum of g_i^2, this example's too)\n"
        "w_i <- soft(w_i - eta_t g_i / H_i, eta_t l1 / H_i)\n"
        "soft(v, a) = sign(v) max(|v| - a, 0)",
        "O(k)",
        ADA + "; algorithm 1, eq. 6",
        "-l 0.01 --l1 0.001",
    ),
    "adagrad-rda": Page(
        "As adagrad, by regularized dual averaging: a weight follows from the sum of all its gradients, and is zero "
        "unless their mean exceeds l1. Sparser models than those of adagrad. The common rate is constant unless "
        "--power-t is given.",
        "G_i = sum of g_i,  H_i = delta + sqrt(sum of g_i^2)\nw_i <- -sign(G_i) (eta_t t / H_i) max(|G_i| / t - l1, 0)",
        "O(k)",
        ADA + "; algorithm 1, eq. 5",
        "-l 0.01 --l1 0.001",
    ),
    "adagrad-ball": Page(
        "As adagrad, with the sum of |weights| at most at the radius after every example: of what violates it, weights "
        "that are sure to be large give the least. The common rate is constant unless --power-t is given.",
        "H_i = delta + sqrt(sum of g_i^2, this example's too),  v_i = w_i - eta_t g_i / H_i\n"
        "w <- argmin sum of H_i (w_i - v_i)^2  over  ||w||_1 <= radius,  which is\n"
        "w_i = sign(v_i) max(|v_i| - theta / H_i, 0)\n"
        "theta = (sum of |v_i| - radius) / (sum of 1 / H_i), both sums over the weights that stay, if that is positive",
        "O(k log n), n weights not being zero, amortised; it does not depend on the number of features",
        ADA + "; eq. 2",
        "-l 0.01 --radius 1",
    ),
    "adagrad-full": Page(
        "AdaGrad with the matrix of all products of gradients where adagrad has its diagonal: it sees which features "
        "go "
        "together. For few features. --root-every N makes the root of the matrix only every N gradients, and when the "
        "old one would lead too far; give a larger --delta (0.1) then.",
        "G = sum of g g^T,  S = delta I + G^(1/2),  ||v||_S^2 = v^T S v\n"
        "cmd:  w <- argmin over w of  eta_t <g, w> + eta_t l1 ||w||_1 + ||w - w_t||_S^2 / 2\n"
        "rda:  w <- argmin over w of  eta_t <sum of g, w> + eta_t t l1 ||w||_1 + ||w||_S^2 / 2\n"
        "without l1:  w <- w_t - eta_t S^-1 g  and  w <- -eta_t S^-1 (sum of g)",
        "O(n^2) for n features seen, O(n^3) for a root; with l1 some solutions of linear systems",
        ADA + "; eq. 1, 5 and 6, section 4",
        "-l 0.01 --delta 0.1 --root-every 10",
        refuses="More than 4,096 features end the run (exit code 65): use adagrad.",
    ),
    "pa": Page(
        "The smallest step that has the example on the right side with a margin of 1. Where the data cannot be "
        "separated it keeps jumping; see pa-i and pa-ii.",
        "l = max(0, 1 - y p)\nw <- w + tau y x,  tau = l / ||x||^2",
        "O(k)",
        PA,
        "",
    ),
    "pa-i": Page(
        "No example moves the weights by more than C times itself, so that a wrong label does less harm. The "
        "importance h of "
        "an example multiplies C.",
        "l = max(0, 1 - y p)\nw <- w + tau y x,  tau = min(h C, l / ||x||^2)\nC = --pa-c",
        "O(k)",
        PA,
        "--pa-c 1e-6",
    ),
    "pa-ii": Page(
        "The smaller C, the shorter are all steps: the margin is approached, not reached. The importance h of an "
        "example "
        "multiplies C.",
        "l = max(0, 1 - y p)\nw <- w + tau y x,  tau = l / (||x||^2 + 1 / (2 h C))\nC = --pa-c",
        "O(k)",
        PA,
        "--pa-c 1e-6",
    ),
    "arow": Page(
        "Keeps a variance for each weight, which falls with every example that has the feature and a loss. Weights of "
        "rare features move far, those of common ones settle. The importance h of an example divides r.",
        "l = max(0, 1 - y p),  beta = 1 / (x^T Sigma x + r / h);  if l > 0:\n"
        "w <- w + l beta y Sigma x\n"
        "Sigma_ii <- Sigma_ii - beta (Sigma_ii x_i)^2,  Sigma_ii = 1 at the beginning, the rest 0\n"
        "r = --arow-r",
        "O(k)",
        "K. Crammer, A. Kulesza, M. Dredze. Adaptive Regularization of Weight Vectors. NIPS 2009; figure 1, eq. 7 and "
        "9",
        "",
    ),
    "ftrl": Page(
        "FTRL-Proximal, known from models of clicks: each feature learns at a rate of its own, and its weight is "
        "exactly "
        "zero as long as what speaks for it is at most l1. l1 and l2 are of the sum of all losses, not of a step: try "
        "1. "
        "Two passes are as twice the data. Where values are small, as in texts scaled to length 1, try beta = 0.1 and "
        "0.01.",
        "w_i = 0  if |z_i| <= l1,  else  -(z_i - sign(z_i) l1) / ((beta + sqrt(n_i)) / alpha + l2)\n"
        "sigma_i = (sqrt(n_i + g_i^2) - sqrt(n_i)) / alpha\n"
        "z_i <- z_i + g_i - sigma_i w_i\n"
        "n_i <- n_i + g_i^2\n"
        "alpha = --ftrl-alpha, beta = --ftrl-beta",
        "O(k)",
        "H. B. McMahan et al. Ad Click Prediction: a View from the Trenches. KDD 2013; algorithm 1",
        "--ftrl-alpha 0.01 --l1 1",
    ),
    "smidas": Page(
        "It adds to a dual vector theta, shrinks it, and weighs with a power of it, so "
        "that large weights grow faster than small ones. For data with many features in each example of which few "
        "matter. Say how many features there are with --features; else those seen so far count, and stay in the "
        "model to be counted.",
        "theta <- soft(theta - eta_t g, eta_t l1),  soft(v, a) = sign(v) max(|v| - a, 0)\n"
        "w_j = sign(theta_j) |theta_j|^(p-1) / ||theta||_p^(p-2)\n"
        "p = 2 ln d, at least 2",
        "O(k): the norm is kept to 12 digits by sums over the few theta that make it up",
        SMD + "; algorithm 3",
        "-l 1e-3 --l1 0.01",
        d="--features, or the number of features seen so far",
    ),
}
