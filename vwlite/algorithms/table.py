"""The table of algorithms, from which help texts, pages, checks and tests are generated.

Data only: `vwlite/model/learners.py` creates the objects. More about an algorithm is in `pages/NAME.txt` in this
folder.
"""

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any, NamedTuple

from vwlite.algorithms.losses import LOSSES
from vwlite.records import record

# Options of the algorithms that have a learning rate.
SCHEDULE = ("learning_rate", "power_t", "initial_t", "decay_learning_rate")

# The rate of AdaGrad falls for each feature by itself, so the common one stays.
_CONSTANT_RATE = {"power_t": 0.0}

UPDATES = ("cmd", "rda")
GRAVITIES = ("rate", "constant")

_MEAN = {("average", "nonzeros"): "the mean of weights is rarely zero, leave one of them out"}

_BALL = "the --radius of the ball is the regularization strength"
_FIXED_SUM = {
    "l1": "multiplying never makes a weight zero; use --algorithm l1-ball or truncated-gradient",
    "l2": "the sum of the weights is fixed at --radius; leave --l2 out",
}


# What becomes of a number of the rule in a merge: a constant, or one of these. TIME is added, too, but by its mean
# where shards will continue. SAME is refused where it differs.
ADDED, TIME, LARGEST, LEAST, SAME = "added", "time", "largest", "least", "same"

# Of numbers of the rules, by their names, where `Merging.numbers` does not say it. Those that are not here follow from
# the weights. `area`: the sums of --average restart.
NUMBERS = {
    "t": TIME, "gravity": TIME, "growth": LARGEST, "rounds": LARGEST, "shift": 0.0, "shrinkage": LARGEST,
    "damping": LARGEST, "norm_sum": ADDED, "weight_sum": ADDED, "contraction": 1.0, "min_label": LEAST,
    "max_label": LARGEST, "sum_rest": 0.0, "inverses_rest": 0.0, "strength": LARGEST, "look_at": LARGEST,
    "occurrences": ADDED, "area": 0.0, "gravity_rate": SAME,
}


class Evidence(NamedTuple):
    """What says how surely a weight is known: S, and the steps that the learner takes along it, eta / H(S)."""

    field: str  # of the state
    kind: str = "itself"  # what it is of S: see EVIDENCES in sums.pyx
    beta: str = ""  # the setting that is added to sqrt S
    rate: str = "learning_rate"  # the setting that is eta
    by_extra: bool = False  # eta is over the extra number of a feature, and normalized


class Merging(NamedTuple):
    """How models of an algorithm are merged; the directions (ways) are in `cython_ext/merge/sums.pyx`. The rule says
    what becomes of its state: see `Rule.state_of`."""

    ways: tuple[str, ...] = ("mean", "touched", "root")
    unjudged: str = "touched"  # the way without a holdout
    evidence: Evidence | None = None
    extra: tuple[str, str] = ("", "")  # a field of the state and how it is merged: see EXTRAS in sums.pyx
    numbers: Mapping[str, Any] = MappingProxyType({})  # where they are not merged as in NUMBERS
    adds: bool = False  # its duals, the extra number, add up exactly
    refusal: str = ""  # why models cannot be merged


_MERGED = Merging()
_BY_EVIDENCE = ("mean", "information", "path2", "path", "path32")
_SQUARES = Evidence("S", beta="delta")
_MEAN_ONLY = Merging(("mean",), "mean")


@record(frozen=True)
class Algorithm:
    """One row of the table of algorithms."""

    name: str
    rule: str  # its class, as MODULE:CLASS in vwlite.core.rules
    summary: str
    formula: str
    options: tuple[str, ...]  # beside the schedule and the loss
    paper: str
    required: tuple[str, ...] = ()
    losses: tuple[str, ...] = tuple(LOSSES)
    rate: str = "learning_rate"  # the option that says how large steps are; none: ""
    defaults: dict[str, Any] = field(default_factory=dict)  # where they are not those of Settings
    forms: dict[str, str] = field(default_factory=dict)  # option -> the class of the rule when the option is set
    incompatible: dict[tuple[str, str], str] = field(default_factory=dict)  # pairs of options: why not together
    all_keys: bool = False  # its number of features is that of all keys if --features does not say it
    needs_loss: bool = False  # it needs more of a loss than its dloss, so not --softmax
    instead: dict[str, str] = field(default_factory=dict)  # of options that it refuses: why, or what to use
    meanings: dict[str, str] = field(default_factory=dict)  # of options, where they are its own
    unset: dict[str, str] = field(default_factory=dict)  # the text of a default of its own that is not a number
    solves: str = ""  # the option that is the strength of a problem of `vwlite solve` as it is, l1 or radius
    merging: Merging = _MERGED

    @property
    def schedule(self) -> tuple[str, ...]:
        """Its options of the learning rate."""
        return SCHEDULE if self.rate == "learning_rate" else ()

    @property
    def strength(self) -> str:
        """The option that --nonzeros finds the value of."""
        return "radius" if self.sums_up else "l1"

    @property
    def sums_up(self) -> bool:
        """Whether all weights together have a sum, so that the state of one follows from all."""
        return "radius" in self.required


ALGORITHMS = {
    a.name: a
    for a in (
        Algorithm(
            "gd",
            "gd:Gd",
            "adaptive, normalized, importance-aware gradient descent, as Vowpal Wabbit's default",
            "w_i <- w_i + u M x_i / (sqrt(sum of g_i^2) max|x_i|)",
            ("l1", "l2"),
            "Ross, Mineiro, Langford 2013; Karampatziakis, Langford 2011",
            needs_loss=True,
            meanings={
                "power_t": "The rate of a feature falls as the sum of its squared gradients to the power -power-t.",
                "initial_t": "Initial value of that sum.",
            },
            merging=Merging(
                _BY_EVIDENCE, "information", Evidence("G", by_extra=True), ("N", "largest"),
                {"t": ADDED, "gravity": 0.0},
            ),
        ),
        Algorithm(
            "sgd",
            "sgd:Sgd",
            "plain stochastic gradient descent",
            "w <- (w - eta_t g) / (1 + eta_t l2)",
            ("l2", "average"),
            "Robbins, Monro 1951",
            forms={"average": "sgd:AveragedSgd", "l2": "truncated_gradient:ElasticTruncatedGradient"},
        ),
        Algorithm(
            "truncated-gradient",
            "truncated_gradient:TruncatedGradient",
            "gradient descent that shrinks small weights towards zero every K examples",
            "w <- T1(w - eta_t g, eta_t K l1, eta_t K l2, theta)",
            ("l1", "l2", "gravity", "period", "threshold", "average", "nonzeros"),
            "Langford, Li, Zhang 2009, eq. 6",
            forms={
                "average": "truncated_gradient:AveragedTruncatedGradient",
                "l2": "truncated_gradient:ElasticTruncatedGradient",
            },
            incompatible=_MEAN,
            instead={"radius": "its regularization strength is --l1"},
            meanings={"threshold": "Larger weights are not shrunk."},
            solves="l1",
        ),
        Algorithm(
            "rounding",
            "rounding:Rounding",
            "gradient descent that sets small weights to zero every K examples",
            "w <- T0(w - eta_t g, theta)",
            ("period", "threshold"),
            "Langford, Li, Zhang 2009, eq. 4",
            required=("threshold",),
            instead={"nonzeros": "its weights are zero below --threshold; use --algorithm truncated-gradient"},
            meanings={"threshold": "Smaller weights become zero."},
        ),
        Algorithm(
            "l1-subgradient",
            "l1_subgradient:L1Subgradient",
            "subgradient descent on the l1-regularised loss, a baseline",
            "w <- w - eta_t g - eta_t l1 sgn(w)",
            ("l1", "gravity", "round_at_end"),
            "Langford, Li, Zhang 2009, eq. 5",
            instead={"nonzeros": "its weights are almost never exactly zero; use --algorithm truncated-gradient"},
            solves="l1",
        ),
        Algorithm(
            "rda",
            "rda:Rda",
            "regularized dual averaging: weights from the sum of all gradients, sparser than by gradient descent",
            "w_i <- -sign(G_i) eta_t t max(|G_i| / t - l1, 0), G = sum of g",
            ("l1", "nonzeros"),
            "Xiao 2010; Duchi, Hazan, Singer 2011, eq. 5",
            instead={"radius": "its regularization strength is --l1"},
            solves="l1",
            merging=Merging(extra=("z", "added"), numbers={"t": ADDED}, adds=True),
        ),
        Algorithm(
            "l1-ball",
            "l1_ball:L1Ball",
            "gradient descent, projected onto the l1 ball after every example",
            "w <- argmin ||v - w|| over ||w||_1 <= radius, v = w - eta_t g",
            ("radius", "feature_weights", "box", "nonnegative", "average", "nonzeros"),
            "Duchi, Shalev-Shwartz, Singer, Chandra 2008, section 6",
            required=("radius",),
            forms={
                "average": "l1_ball:AveragedL1Ball",
                "feature_weights": "l1_ball:WeightedL1Ball",
                "box": "l1_ball:WeightedL1Ball",
            },
            incompatible=_MEAN,
            instead={"l1": _BALL},
            meanings={"radius": "The largest sum of |weights|."},
            solves="radius",
            merging=Merging(extra=("a", "same")),
        ),
        Algorithm(
            "simplex",
            "simplex:Simplex",
            "gradient descent, projected after every example onto the positive weights that add up to the radius",
            "w <- argmin ||v - w|| over w >= 0, sum w = radius, v = w - eta_t g",
            ("radius", "features"),
            "Duchi, Shalev-Shwartz, Singer, Chandra 2008, sections 3 and 6",
            required=("radius",),
            all_keys=True,
            instead={"l1": "the sum of its weights is --radius; use --algorithm l1-ball, whose radius can shrink"},
            meanings={"radius": "The sum of the weights."},
            solves="radius",
            merging=_MEAN_ONLY,
        ),
        Algorithm(
            "eg",
            "eg:Eg",
            "exponentiated gradient: multiplies weights, which are positive and add up to the radius",
            "w_i <- w_i exp(-eta_t g_i) / Z, Z such that sum w = radius",
            ("radius", "features"),
            "Kivinen, Warmuth 1997; Duchi, Shalev-Shwartz, Singer, Chandra 2008, eq. 13",
            required=("radius",),
            all_keys=True,
            instead=_FIXED_SUM,
            meanings={"radius": "The sum of the weights."},
            solves="radius",
            merging=_MEAN_ONLY,
        ),
        Algorithm(
            "eg-pm",
            "eg:EgPm",
            "exponentiated gradient for weights of any sign, each the difference of two positive ones",
            "w = w+ - w-, w+-_i <- w+-_i exp(-+eta_t g_i) / Z, Z such that sum w+ + w- = radius",
            ("radius", "features"),
            "Kivinen, Warmuth 1997; Duchi, Shalev-Shwartz, Singer, Chandra 2008, section 7",
            required=("radius",),
            all_keys=True,
            instead=_FIXED_SUM,
            meanings={"radius": "The sum of w+ and w-."},
            solves="radius",
            merging=_MEAN_ONLY,
        ),
        Algorithm(
            "adagrad",
            "adagrad:Adagrad",
            "composite mirror descent: gradient descent with a rate for each feature, and shrinking",
            "w_i <- soft(H_i w_i - eta_t g_i, eta_t l1) / (H_i + eta_t l2), H = delta + sqrt(sum of g^2)",
            ("l1", "l2", "delta", "box", "average", "nonzeros"),
            "Duchi, Hazan, Singer 2011, eq. 6",
            defaults=_CONSTANT_RATE,
            forms={
                "average": "adagrad:AveragedAdagrad", "l2": "adagrad:ElasticAdagrad", "box": "adagrad:BoxAdagrad"
            },
            incompatible=_MEAN | {("l2", "power_t"): "--l2 with lazy updates requires a constant rate"},
            solves="l1",
            merging=Merging(_BY_EVIDENCE, "information", _SQUARES, numbers={"t": ADDED, "shift": ADDED}),
        ),
        Algorithm(
            "adagrad-rda",
            "adagrad:AdagradRda",
            "regularized dual averaging with a rate for each feature: sparser models than adagrad",
            "w_i <- -sign(G_i) eta_t t / (H_i + eta_t t l2) max(|G_i| / t - l1, 0), G = sum of g, "
            "H = delta + sqrt(sum of g^2)",
            ("l1", "l2", "delta", "box", "nonzeros"),
            "Duchi, Hazan, Singer 2011, eq. 5",
            defaults=_CONSTANT_RATE,
            forms={"l2": "adagrad:ElasticAdagradRda", "box": "adagrad:BoxAdagradRda"},
            solves="l1",
            merging=Merging(_BY_EVIDENCE, "information", _SQUARES, ("z", "added"), {"t": ADDED}, adds=True),
        ),
        Algorithm(
            "adagrad-ball",
            "adagrad_ball:AdagradBall",
            "gradient descent with a rate for each feature, projected onto the l1 ball in the adaptive norm",
            "w <- argmin sum of H_i (w_i - v_i)^2 over ||w||_1 <= radius, v_i = w_i - eta_t g_i / H_i",
            ("radius", "delta"),
            "Duchi, Hazan, Singer 2011, eq. 2",
            required=("radius",),
            defaults=_CONSTANT_RATE,
            instead={"l1": _BALL, "nonzeros": "use --algorithm adagrad or l1-ball"},
            meanings={"radius": "The largest sum of |weights|."},
            solves="radius",
            merging=Merging(_BY_EVIDENCE, "information", _SQUARES, numbers={"t": ADDED}),
        ),
        Algorithm(
            "adagrad-full",
            "adagrad_full:AdagradFull",
            "AdaGrad with the full matrix, for at most 4,096 features: descent (cmd) or averaging (rda)",
            "w <- argmin eta_t <g, w> + eta_t l1 ||w||_1 + ||w - w_t||_S^2 / 2, S = delta I + (sum of g g^T)^(1/2)",
            ("update", "l1", "delta", "root_every", "radius"),
            "Duchi, Hazan, Singer 2011, eq. 1, 5, 6",
            defaults=_CONSTANT_RATE,
            meanings={"radius": "The largest root of the sum of squared weights."},
            unset={"radius": "no limit"},
            solves="l1",
            merging=Merging(
                refusal="the matrices of shards cannot be added: train on one machine, or use adagrad-rda"
            ),
        ),
        Algorithm(
            "pa",
            "passive_aggressive:Pa",
            "passive-aggressive: the smallest step to a hinge loss of 0",
            "w <- w + y x l / ||x||^2",
            (),
            "Crammer, Dekel, Keshet, Shalev-Shwartz, Singer 2006",
            losses=("hinge",),
            rate="",
            needs_loss=True,
        ),
        Algorithm(
            "pa-i",
            "passive_aggressive:PaI",
            "as pa, with steps of limited size",
            "w <- w + y x min(C, l / ||x||^2)",
            ("pa_c",),
            "Crammer, Dekel, Keshet, Shalev-Shwartz, Singer 2006",
            losses=("hinge",),
            rate="pa_c",
            needs_loss=True,
        ),
        Algorithm(
            "pa-ii",
            "passive_aggressive:PaII",
            "as pa, with steps that are damped",
            "w <- w + y x l / (||x||^2 + 1 / (2 C))",
            ("pa_c",),
            "Crammer, Dekel, Keshet, Shalev-Shwartz, Singer 2006",
            losses=("hinge",),
            rate="pa_c",
            needs_loss=True,
        ),
        Algorithm(
            "arow",
            "arow:Arow",
            "adaptive regularisation of weights: the smaller the variance of a weight, the smaller its steps",
            "if l > 0: w <- w + l beta y Sigma x, Sigma_ii <- Sigma_ii - beta (Sigma_ii x_i)^2, "
            "beta = 1 / (x' Sigma x + r)",
            ("arow_r",),
            "Crammer, Kulesza, Dredze 2009",
            losses=("hinge",),
            rate="",
            needs_loss=True,
            merging=Merging(
                ("mean", "touched", "information", "dual"), "dual", Evidence("sigma", "variance", rate=""),
                numbers={"t": ADDED},
            ),
        ),
        Algorithm(
            "arow-full",
            "arow_full:ArowFull",
            "arow with the covariances of all weights, for at most 4,096 features",
            "if l > 0: w <- w + l beta y Sigma x, Sigma <- Sigma - beta Sigma x x' Sigma, "
            "beta = 1 / (x' Sigma x + r)",
            ("arow_r",),
            "Crammer, Kulesza, Dredze 2009, eq. 7, 8",
            losses=("hinge",),
            rate="",
            needs_loss=True,
            merging=Merging(refusal="the matrices of shards cannot be added: train on one machine, or use arow"),
        ),
        Algorithm(
            "ftrl",
            "ftrl:Ftrl",
            "FTRL-Proximal: sparse, with a learning rate for each feature",
            "w_i <- -soft(z_i, l1) / ((beta + sqrt(n_i)) / alpha + l2), n_i = sum of g_i^2",
            ("ftrl_alpha", "ftrl_beta", "l1", "l2", "nonzeros"),
            "McMahan et al. 2013, algorithm 1",
            rate="ftrl_alpha",
            merging=Merging(
                _BY_EVIDENCE, "information", Evidence("root", "root", "ftrl_beta", "ftrl_alpha"), ("z", "added"),
                {"t": ADDED},
            ),
        ),
        Algorithm(
            "smidas",
            "smidas:Smidas",
            "mirror descent between adding and multiplying, soft-thresholded",
            "theta <- soft(theta - eta_t g, eta_t l1), w_j = sign(theta_j) |theta_j|^(p-1) / ||theta||_p^(p-2), "
            "p = 2 ln d",
            ("l1", "features", "smidas_p", "average"),
            "Shalev-Shwartz, Tewari 2009, Algorithm 3",
            forms={"average": "smidas:AveragedSmidas"},
            instead={"radius": "its regularization strength is --l1"},
            unset={"features": "those seen so far"},
            solves="l1",
            merging=Merging(
                refusal="each weight depends on all the others: train on one machine, or use adagrad-rda"
            ),
        ),
    )
}

# That of the models of `vwlite solve`: weights that stay as they are.
SOLVED = Algorithm(
    "solve",
    "frozen:Frozen",
    "what `vwlite solve` found",
    "",
    ("l1", "l2", "radius", "nonzeros", "nonnegative", "box", "feature_weights"),
    "",
    losses=("squared", "logistic", "squared-hinge", "poisson", "hinge"),
    rate="",
    solves="l1",
    merging=Merging(refusal="merged optima are not the optimum of all data: run vwlite solve on all of it"),
)

MOST_STACKED = 1000  # classes of --algorithm auto, whose stack has an offset for each
# Not an update rule, but a choice among several learners; its models are those of gd.
_TRIES = "it tries several learning rates and keeps the best: leave the option out, or use --algorithm gd"
AUTO = Algorithm(
    "auto",
    "gd:Gd",
    "learning without tuning: a learning-rate grid of gd and nsgd, stacked out of fold into one weight vector",
    "w = sum over lanes of u_c (mean over folds of W_c), u = argmin of the out-of-fold loss",
    (),
    "Ross, Mineiro, Langford 2013; Wolpert 1992",
    losses=("squared", "logistic", "poisson", "gamma", "tweedie", "quantile", "huber", "expectile"),
    rate="",
    instead={
        **dict.fromkeys(("learning_rate", "power_t", "initial_t", "decay_learning_rate"), _TRIES),
        "l1": "use --algorithm adagrad-rda, or --nonzeros N with it",
        "l2": "it chooses among models by their out-of-fold loss: use --algorithm gd",
        "nonzeros": "use --algorithm adagrad-rda",
    },
    merging=Merging(refusal="its features depend on the data: use vwlite dask train, or --algorithm gd"),
)

# What --algorithm may be.
CHOICES = {AUTO.name: AUTO, **ALGORITHMS}


def algorithm_of(name: str) -> Algorithm:
    """The row of the algorithm of a model."""
    return SOLVED if name == SOLVED.name else CHOICES[name]
