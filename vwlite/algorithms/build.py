"""From settings to objects: which class is meant by which name."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from vwlite.algorithms.table import ALGORITHMS, LABEL_DOMAIN
from vwlite.core.data.class_names import Names
from vwlite.core.data.expand import Expander
from vwlite.core.learn.learner import Learner
from vwlite.core.learn.losses import Hinge, Logistic, Loss, Poisson, Quantile, Squared
from vwlite.core.learn.multiclass import OneAgainstAll, Softmax
from vwlite.core.learn.rule import Rule
from vwlite.core.rules.adagrad import Adagrad, AdagradRda, AveragedAdagrad
from vwlite.core.rules.adagrad_ball import AdagradBall
from vwlite.core.rules.adagrad_full import AdagradFull
from vwlite.core.rules.arow import Arow
from vwlite.core.rules.eg import Eg, EgPm
from vwlite.core.rules.ftrl import Ftrl
from vwlite.core.rules.gd import Gd
from vwlite.core.rules.l1_ball import AveragedL1Ball, L1Ball, WeightedL1Ball
from vwlite.core.rules.l1_subgradient import L1Subgradient
from vwlite.core.rules.passive_aggressive import Pa, PaI, PaII
from vwlite.core.rules.rounding import Rounding
from vwlite.core.rules.sgd import AveragedSgd, Sgd
from vwlite.core.rules.simplex import Simplex
from vwlite.core.rules.smidas import Smidas
from vwlite.core.rules.truncated_gradient import AveragedTruncatedGradient, TruncatedGradient

RULES: dict[str, type[Rule]] = {
    "gd": Gd,
    "sgd": Sgd,
    "truncated-gradient": TruncatedGradient,
    "rounding": Rounding,
    "l1-subgradient": L1Subgradient,
    "l1-ball": L1Ball,
    "simplex": Simplex,
    "eg": Eg,
    "eg-pm": EgPm,
    "adagrad": Adagrad,
    "adagrad-rda": AdagradRda,
    "adagrad-ball": AdagradBall,
    "adagrad-full": AdagradFull,
    "pa": Pa,
    "pa-i": PaI,
    "pa-ii": PaII,
    "arow": Arow,
    "ftrl": Ftrl,
    "smidas": Smidas,
}

AVERAGED: dict[str, type[Rule]] = {
    "sgd": AveragedSgd,
    "truncated-gradient": AveragedTruncatedGradient,
    "l1-ball": AveragedL1Ball,
    "adagrad": AveragedAdagrad,
}

SIMPLE_LOSSES: dict[str, type[Loss]] = {
    "squared": Squared,
    "logistic": Logistic,
    "hinge": Hinge,
    "poisson": Poisson,
}

# Algorithms whose number of features is that of all keys if --features does not say it.
EVERY_KEY = ("simplex", "eg", "eg-pm")

# Where the radius begins that --nonzeros finds, if --radius does not say it.
FIRST_RADIUS = 1.0

# Where the range of predictions begins, before it follows the labels; for rules that clip.
FIRST_RANGE = {"logistic": (-50.0, 50.0), "poisson": (-50.0, 50.0)}
NO_RANGE = (0.0, 0.0)


@dataclass(frozen=True)
class Settings:
    """Everything that shapes a model: what is stored in it, under these names."""

    algorithm: str = "gd"
    loss: str = "squared"  # "": that of a model of Vowpal Wabbit, which does not know it
    quantile_tau: float = 0.5
    labels: tuple[float, float] | None = None
    bits: int = 32
    hash: str = "strings"
    constant: bool = True
    interactions: tuple[str, ...] = ()
    keep: str = ""
    ignore: str = ""
    ignore_linear: str = ""
    learning_rate: float = 0.5
    power_t: float = 0.5
    initial_t: float = 0.0
    decay_learning_rate: float = 1.0
    l1: float = 0.0
    l2: float = 0.0
    period: int = 1
    threshold: float | None = None  # None: infinite
    radius: float | None = None
    delta: float = 1e-8
    update: str = "cmd"
    root_every: int = 1
    round_at_end: float = 0.0
    pa_c: float = 1.0
    arow_r: float = 1.0
    ftrl_alpha: float = 0.5
    ftrl_beta: float = 1.0
    features: int | None = None
    feature_weights: bool = False
    box: float | None = None
    nonnegative: bool = False
    average: bool = False
    nonzeros: int | None = None
    oaa: int | None = None  # how many classes there are at most; None: labels are numbers
    classes: str = ""  # names with commas between them; auto: those that appear; "": the numbers from 1
    softmax: bool = False
    link: str = "identity"

    def stored(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)

    @staticmethod
    def of(algorithm: str) -> "Settings":
        """The defaults of an algorithm."""
        return Settings(algorithm=algorithm, **ALGORITHMS[algorithm].defaults)

    @staticmethod
    def restored(stored: dict[str, Any]) -> "Settings":
        """What `stored` gave, as JSON has it. Nothing is checked; `vwlite/model/header.py` does."""
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in stored.items()}
        return Settings(**values)

    @property
    def label_domain(self) -> str:
        return LABEL_DOMAIN[self.loss] if self.loss else "any"


def make_loss(settings: Settings) -> Loss:
    if settings.loss == "quantile":
        return Quantile(settings.quantile_tau)
    return SIMPLE_LOSSES[settings.loss or "squared"]()  # one that is not known only predicts


def make_expander(settings: Settings) -> Expander:
    return Expander(
        bits=settings.bits,
        constant=settings.constant,
        keep=settings.keep.encode("latin-1"),
        ignore=settings.ignore.encode("latin-1"),
        ignore_linear=settings.ignore_linear.encode("latin-1"),
        interactions=[pattern.encode("latin-1") for pattern in settings.interactions],
    )


def make_names(settings: Settings, known: Sequence[str] = (), *, grows: bool = True) -> Names:
    """The names of the classes. known: those that a model has found. grows: whether --classes auto may find more."""
    if not settings.classes:
        return Names(settings.oaa, numbers=True)
    names = known if settings.classes == "auto" else settings.classes.split(",")
    encoded = [name.encode("utf-8", "surrogateescape") for name in names]
    return Names(settings.oaa, encoded, grows=grows and settings.classes == "auto")


def make_rule(settings: Settings, loss: Loss, constant: int | None, rule_class: type[Rule] | None = None) -> Rule:
    """The rule of the algorithm; or, with classes, one for each of them together. rule_class: instead of that."""

    def one() -> Rule:
        return rule_class(loss, constant=constant) if rule_class else _make_one(settings, loss, constant)

    if settings.oaa is None:
        return one()
    rules = [one() for _ in range(settings.oaa)]
    if settings.softmax:
        return Softmax(rules)
    return OneAgainstAll(rules, begin=FIRST_RANGE.get(settings.loss, NO_RANGE))


def _make_one(settings: Settings, loss: Loss, constant: int | None) -> Rule:
    values = {name: getattr(settings, name) for name in ALGORITHMS[settings.algorithm].options}
    weighted, averaged = values.pop("feature_weights", False), values.pop("average", False)
    options = {name: value for name, value in values.items() if value is not None}
    kind = WeightedL1Ball if weighted or "box" in options else RULES[settings.algorithm]
    if "nonzeros" in options and "radius" in ALGORITHMS[settings.algorithm].required:
        options.setdefault("radius", FIRST_RADIUS)
    if averaged:
        kind = AVERAGED[settings.algorithm]
    if settings.algorithm in EVERY_KEY:
        options.setdefault("features", (1 << settings.bits) - settings.constant)
    return kind(
        loss,
        rate=settings.learning_rate,
        power_t=settings.power_t,
        initial_t=settings.initial_t,
        constant=constant,
        **options,
    )


def make_learner(
    settings: Settings, rule_class: type[Rule] | None = None, names: Sequence[str] = (), **options: Any
) -> Learner:
    """A learner that has seen nothing.

    options: as Learner takes them. rule_class: instead of the algorithm's. names: the classes that a model has found.
    """
    loss, expander = make_loss(settings), make_expander(settings)
    rule = make_rule(settings, loss, expander.constant_key, rule_class)
    if settings.oaa is not None:
        options["names"] = make_names(settings, names, grows=options.get("learn", True))
    learner = Learner(rule, loss, expander, link=settings.link, **options)
    learner.min_label, learner.max_label = FIRST_RANGE.get(settings.loss, NO_RANGE)
    return learner
