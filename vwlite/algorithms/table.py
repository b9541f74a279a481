"""The algorithms: what each is called, what it does, which options it takes.

Data only. `vwlite/algorithms/build.py` makes the objects, `vwlite/options/groups.py` checks the options against this.
"""

from dataclasses import dataclass, field
from typing import Any

LOSSES = ("squared", "logistic", "hinge", "quantile", "poisson")

# Which labels a loss can use: any number, -1 and 1, or numbers from 0.
LABEL_DOMAIN = {
    "squared": "any",
    "logistic": "binary",
    "hinge": "binary",
    "quantile": "any",
    "poisson": "nonnegative",
}

# What predictions may go through when they are written, and the losses whose scores it makes sense of.
LINKS = {
    "identity": LOSSES,
    "logistic": ("logistic",),
    "glf1": ("logistic",),
    "poisson": ("poisson",),
}

# Options of the algorithms that have a learning rate.
SCHEDULE = ("learning_rate", "power_t", "initial_t", "decay_learning_rate")

# The rate of AdaGrad falls for each feature by itself, so the common one stays.
ADAPTIVE = {"power_t": 0.0}

UPDATES = ("cmd", "rda")

MOST_CLASSES = 1 << 16

# Algorithms that need more of a loss than its slope, so not --softmax.
MORE_THAN_SLOPES = ("gd", "pa", "pa-i", "pa-ii", "arow")


@dataclass(frozen=True)
class Algorithm:
    """One row of the table of algorithms."""

    name: str
    summary: str
    formula: str
    options: tuple[str, ...]  # beside the schedule and the loss
    paper: str
    required: tuple[str, ...] = ()
    losses: tuple[str, ...] = LOSSES
    rate: str = "learning_rate"  # the option that says how large steps are; none: ""
    defaults: dict[str, Any] = field(default_factory=dict)  # where they are not those of Settings

    @property
    def schedule(self) -> tuple[str, ...]:
        """Its options of the learning rate."""
        return SCHEDULE if self.rate == "learning_rate" else ()


ALGORITHMS = {
    a.name: a
    for a in (
        Algorithm(
            "gd",
            "adaptive, normalized, importance-aware gradient descent, as Vowpal Wabbit's default",
            "w_i <- w_i + u M x_i / (sqrt(sum of g_i^2) max|x_i|)",
            ("l1", "l2"),
            "Ross, Mineiro, Langford 2013; Karampatziakis, Langford 2011",
        ),
        Algorithm(
            "sgd",
            "plain stochastic gradient descent",
            "w <- w - eta_t g",
            ("average",),
            "Robbins, Monro 1951",
        ),
        Algorithm(
            "truncated-gradient",
            "gradient descent that shrinks small weights towards zero every K examples",
            "w <- T1(w - eta_t g, eta_t K l1, theta)",
            ("l1", "period", "threshold", "average", "nonzeros"),
            "Langford, Li, Zhang 2009, eq. 6",
        ),
        Algorithm(
            "rounding",
            "gradient descent that sets small weights to zero every K examples",
            "w <- T0(w - eta_t g, theta)",
            ("period", "threshold"),
            "Langford, Li, Zhang 2009, eq. 4",
            required=("threshold",),
        ),
        Algorithm(
            "l1-subgradient",
            "subgradient descent on the l1-regularised loss, a baseline",
            "w <- w - eta_t g - eta_t l1 sgn(w)",
            ("l1", "round_at_end"),
            "Langford, Li, Zhang 2009, eq. 5",
        ),
        Algorithm(
            "l1-ball",
            "gradient descent, projected onto the l1 ball after every example",
            "w <- argmin ||v - w|| over ||w||_1 <= radius, v = w - eta_t g",
            ("radius", "feature_weights", "box", "nonnegative", "average", "nonzeros"),
            "Duchi, Shalev-Shwartz, Singer, Chandra 2008, section 6",
            required=("radius",),
        ),
        Algorithm(
            "simplex",
            "gradient descent, projected after every example onto the positive weights that add up to the radius",
            "w <- argmin ||v - w|| over w >= 0, sum w = radius, v = w - eta_t g",
            ("radius", "features"),
            "Duchi, Shalev-Shwartz, Singer, Chandra 2008, sections 3 and 6",
            required=("radius",),
        ),
        Algorithm(
            "eg",
            "exponentiated gradient: multiplies weights, which are positive and add up to the radius",
            "w_i <- w_i exp(-eta_t g_i) / Z, Z such that sum w = radius",
            ("radius", "features"),
            "Kivinen, Warmuth 1997; Duchi, Shalev-Shwartz, Singer, Chandra 2008, eq. 13",
            required=("radius",),
        ),
        Algorithm(
            "eg-pm",
            "exponentiated gradient for weights of any sign, each the difference of two positive ones",
            "w = w+ - w-, w+-_i <- w+-_i exp(-+eta_t g_i) / Z, Z such that sum w+ + w- = radius",
            ("radius", "features"),
            "Kivinen, Warmuth 1997; Duchi, Shalev-Shwartz, Singer, Chandra 2008, section 7",
            required=("radius",),
        ),
        Algorithm(
            "adagrad",
            "composite mirror descent: gradient descent with a rate for each feature, and shrinking",
            "w_i <- soft(w_i - eta_t g_i / H_i, eta_t l1 / H_i), H = delta + sqrt(sum of g^2)",
            ("l1", "delta", "average", "nonzeros"),
            "Duchi, Hazan, Singer 2011, eq. 6",
            defaults=ADAPTIVE,
        ),
        Algorithm(
            "adagrad-rda",
            "regularized dual averaging with a rate for each feature: sparser models than adagrad",
            "w_i <- -sign(G_i) (eta_t t / H_i) max(|G_i| / t - l1, 0), G = sum of g, H = delta + sqrt(sum of g^2)",
            ("l1", "delta", "nonzeros"),
            "Duchi, Hazan, Singer 2011, eq. 5",
            defaults=ADAPTIVE,
        ),
        Algorithm(
            "adagrad-ball",
            "gradient descent with a rate for each feature, projected onto the l1 ball in the adaptive norm",
            "w <- argmin sum of H_i (w_i - v_i)^2 over ||w||_1 <= radius, v_i = w_i - eta_t g_i / H_i",
            ("radius", "delta"),
            "Duchi, Hazan, Singer 2011, eq. 2",
            required=("radius",),
            defaults=ADAPTIVE,
        ),
        Algorithm(
            "adagrad-full",
            "AdaGrad with the full matrix, for at most 4,096 features: descent (cmd) or averaging (rda)",
            "w <- argmin eta_t <g, w> + eta_t l1 ||w||_1 + ||w - w_t||_S^2 / 2, S = delta I + (sum of g g^T)^(1/2)",
            ("update", "l1", "delta", "root_every"),
            "Duchi, Hazan, Singer 2011, eq. 1, 5, 6",
            defaults=ADAPTIVE,
        ),
        Algorithm(
            "pa",
            "passive-aggressive: the smallest step to a hinge loss of 0",
            "w <- w + y x l / ||x||^2",
            (),
            "Crammer, Dekel, Keshet, Shalev-Shwartz, Singer 2006",
            losses=("hinge",),
            rate="",
        ),
        Algorithm(
            "pa-i",
            "as pa, with steps of limited size",
            "w <- w + y x min(C, l / ||x||^2)",
            ("pa_c",),
            "Crammer, Dekel, Keshet, Shalev-Shwartz, Singer 2006",
            losses=("hinge",),
            rate="pa_c",
        ),
        Algorithm(
            "pa-ii",
            "as pa, with steps that are damped",
            "w <- w + y x l / (||x||^2 + 1 / (2 C))",
            ("pa_c",),
            "Crammer, Dekel, Keshet, Shalev-Shwartz, Singer 2006",
            losses=("hinge",),
            rate="pa_c",
        ),
        Algorithm(
            "arow",
            "adaptive regularisation of weights: each has a variance, and moves the less the surer it is",
            "if l > 0: w <- w + l beta y Sigma x, Sigma_ii <- Sigma_ii - beta (Sigma_ii x_i)^2, "
            "beta = 1 / (x' Sigma x + r)",
            ("arow_r",),
            "Crammer, Kulesza, Dredze 2009",
            losses=("hinge",),
            rate="",
        ),
        Algorithm(
            "ftrl",
            "FTRL-Proximal: sparse, with a learning rate for each feature",
            "w_i <- -soft(z_i, l1) / ((beta + sqrt(n_i)) / alpha + l2), n_i = sum of g_i^2",
            ("ftrl_alpha", "ftrl_beta", "l1", "l2", "nonzeros"),
            "McMahan et al. 2013, algorithm 1",
            rate="ftrl_alpha",
        ),
        Algorithm(
            "smidas",
            "mirror descent between adding and multiplying, soft-thresholded",
            "theta <- soft(theta - eta_t g, eta_t l1), w_j = sign(theta_j) |theta_j|^(p-1) / ||theta||_p^(p-2), "
            "p = 2 ln d",
            ("l1", "features"),
            "Shalev-Shwartz, Tewari 2009, Algorithm 3",
        ),
    )
}
