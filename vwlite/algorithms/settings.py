"""The settings of a model: the options that define it, each written once, here."""

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from vwlite.algorithms.losses import LINKS, LOSS_OPTIONS, LOSSES
from vwlite.algorithms.outputs import OutputSettings
from vwlite.algorithms.table import ALGORITHMS, AUTO, CHOICES, GRAVITIES, UPDATES, algorithm_of
from vwlite.options import spec as rows
from vwlite.options.spec import CLASSES, FEATURES, IN, LEARN, OUT, Spec, specs_of
from vwlite.options.types import PATH, Choice, Classes, Crossing, Labels, LettersType, Number, Numbers, Whole
from vwlite.records import record

if TYPE_CHECKING:
    from vwlite.derived import Derived

MOST_CLASSES = 1 << 16
MOST_TAUS = 99
_ALWAYS = "quantile_tau"  # the first model format stores it for every loss
# Stored if they are not at their defaults
_NEWER = ("crosses", "normalize", "softmax_probabilities", "gravity", "smidas_p", "derived", "label_transform")
POSITIVE = Number(0, open_low=True)


# By option, the algorithms that have another default, and that
_OTHER_DEFAULTS: dict[str, list[tuple[str, Any]]] = {}
for _algorithm in ALGORITHMS.values():
    for _name, _default in _algorithm.unset.items():
        _OTHER_DEFAULTS.setdefault(_name, []).append((_algorithm.name, _default))


def option(default: Any, *typed: str, **more: Any) -> Any:
    """A field that is an option, as of `vwlite.options.spec`."""
    return options(default, Spec(typed, default=default, **more))


def options(default: Any, *specs: Spec) -> Any:
    """The same of several options. Their help names the algorithms that take them, or have another default."""
    return rows.options(default, *map(_of_algorithms, specs))


def _of_algorithms(spec: Spec) -> Spec:
    name = spec.name
    others = "".join(f"; {a}: {value}" for a, value in _OTHER_DEFAULTS.get(name, ()))
    takers = _takers(name) if spec.for_some else ""
    return replace(spec, takers=takers, other_defaults=others) if takers or others else spec


def _takers(name: str) -> str:
    """The algorithms that take an option; `adagrad*` for adagrad and all of its family, if they do."""
    takers = [a.name for a in ALGORITHMS.values() if name in a.options]
    family = [a for a in ALGORITHMS if a == takers[0] or a.startswith(f"{takers[0]}-")]
    return f"{takers[0]}*" if takers == family and len(family) > 1 else ", ".join(takers)


@record(frozen=True)
class Settings(OutputSettings):
    """Everything that shapes a model: what is stored in it, under these names."""

    algorithm: str = option(
        "gd", "--algorithm", group=LEARN, type=Choice(list(CHOICES)), metavar="NAME", shown=AUTO.name,
        help="The update rule; see `vwlite algorithms`. auto tries several rates and numbers of passes; with an option "
             f"that it has no use for, such as --learning-rate, it is gd. One of {', '.join(CHOICES)}.",
    )
    # "": that of a model of Vowpal Wabbit, which does not know it
    loss: str = option(
        "squared", "--loss", group=LEARN, vw=("--loss_function",), type=Choice(list(LOSSES)),
        help="The loss function to minimize. With --algorithm auto: logistic if labels are two words, 0 and 1, or -1 "
             "and 1; for amounts (never negative, and skewed), the one with the least squared error: see `vwlite help "
             "training`.",
    )
    quantile_tau: float | tuple[float, ...] = option(
        0.5, "--quantile-tau", group=LEARN, vw=("--quantile_tau",), type=Numbers(0, 1, MOST_TAUS), metavar="TAU",
        help="The quantile that --loss quantile predicts. Several, as in 0.1,0.5,0.9: one model predicts all of them, "
             "in ascending order.",
    )
    expectile_tau: float = option(
        0.5, "--expectile-tau", group=LEARN, type=Number(0, 1, open_low=True, open_high=True), metavar="TAU",
        help="The expectile that --loss expectile predicts. Squared errors of predictions below the label weigh TAU, "
             "of those above it 1 - TAU; 0.5 is the mean.",
    )
    huber_delta: float = option(
        1.0, "--huber-delta", group=LEARN, type=POSITIVE,
        help="The error up to which --loss huber is the squared loss. Beyond it, the loss grows linearly with |p - "
             "y|. In the unit of the labels.",
    )
    tweedie_power: float = option(
        1.5, "--tweedie-power", group=LEARN, type=Number(1, 2, open_low=True, open_high=True), metavar="P",
        help="The variance power of --loss tweedie. The variance of labels grows as the mean to this power: 1 is "
             "Poisson, 2 gamma; between them, labels are sums of a random number of amounts, such as claims.",
    )
    label_transform: str = option(
        "none", "--label-transform", group=LEARN, type=Choice(["none", "log1p"]),
        help="log1p: learn log(1 + label), and predict labels. For amounts above -1 whose errors are factors, with "
             "--loss squared, huber, quantile or expectile; see `vwlite help training`.",
    )
    labels: tuple[float, float] | tuple[str, str] | None = option(
        None, "--labels", group=IN, type=Labels(), metavar="NEG,POS",
        help="The negative and positive label, such as 0,1 or ham,spam. One with a comma is quoted, as in CSV.",
    )
    bits: int = option(
        32, "-b", "--bits", group=FEATURES, vw=("--bit_precision",), type=Whole(1, 32), metavar="BITS",
        help="Number of hash bits. The model has up to 2^BITS weights.",
    )
    hash: str = option(
        "strings", "--hash", group=FEATURES, type=Choice(["strings", "all"]),
        help="Hash strings only, or numbers too. With strings, a number is its own index.",
    )
    constant: bool = options(
        True,
        Spec(("--no-constant",), FEATURES, "Learn no intercept (also called constant or bias).", vw=("--noconstant",)),
    )
    interactions: tuple[str, ...] = options(
        (),
        Spec(("-q", "--quadratic"), FEATURES,
             "Cross namespaces that begin with A and with B. `:` is any; NAME,NAME: the namespaces of these names. "
             "May be repeated.", Crossing(2, 2, wildcards=True), metavar="AB", multiple=True),
        Spec(("--cubic",), FEATURES, "Cross three namespaces.",
             Crossing(3, 3, wildcards=True), metavar="ABC", multiple=True),
        Spec(("--interactions",), FEATURES, "Cross any number of namespaces.",
             LettersType(None, 2, wildcards=True), metavar="ABCD", multiple=True),
    )
    # Of `interactions`, those by name: names with commas between them
    crosses: tuple[str, ...] = ()
    keep: str = option(
        "", "--keep", group=FEATURES, type=LettersType(), multiple=True, metavar="LETTERS",
        excludes={"--ignore": "use one of them"}, help="Use only namespaces that begin with one of the letters.",
    )
    ignore: str = option(
        "", "--ignore", group=FEATURES, type=LettersType(), multiple=True, metavar="LETTERS",
        help="Ignore namespaces that begin with one of the letters.",
    )
    ignore_linear: str = option(
        "", "--ignore-linear", group=FEATURES, vw=("--ignore_linear",), type=LettersType(), multiple=True,
        metavar="LETTERS", help="Like --ignore, but interactions still use them.",
    )
    normalize: str = option(
        "none", "--normalize", group=FEATURES, type=Choice(["none", "l2", "log", "center"]),
        help="Scale or center the values of each example. l2: to length 1; log: sign(x) log(1 + |x|), then l2; center: "
             "minus the means of their columns, found by a first reading of DATA.",
    )
    learning_rate: float = option(
        0.5, "-l", "--learning-rate", group=LEARN, vw=("--learning_rate",), type=POSITIVE,
        help="The initial learning rate.",
    )
    power_t: float = option(
        0.5, "--power-t", group=LEARN, vw=("--power_t",), type=Number(0),
        help="Exponent of the decay of the learning rate. The rate is proportional to (t + initial-t)^-power-t; for "
             "gd, of each feature; for adagrad, only if given.",
        page="Exponent of the decay of the learning rate, which is proportional to (t + initial-t)^-power-t.",
    )
    initial_t: float = option(
        0.0, "--initial-t", group=LEARN, vw=("--initial_t",), type=Number(0), help="Initial value of t in the decay "
                                                                                   "of the learning rate."
    )
    decay_learning_rate: float = option(
        1.0, "--decay-learning-rate", group=LEARN, vw=("--decay_learning_rate",), type=POSITIVE,
        help="Multiply the learning rate by this after each pass.",
    )
    l1: float = option(
        0.0, "--l1", group=LEARN, type=Number(0),
        help="l1 regularization strength. The larger, the more weights are zero.",
    )
    l2: float = option(0.0, "--l2", group=LEARN, type=Number(0), help="l2 regularization strength.")
    gravity: str = option(
        "rate", "--gravity", group=LEARN, type=Choice(GRAVITIES, number="--l1"), for_some=True,
        help="The learning rate by which --l1 and --l2 are multiplied. rate: that of the example; constant: that of "
             "the first example, which makes models sparser if the learning rate decays.",
    )
    period: int = option(
        1, "--period", group=LEARN, type=Whole(1), metavar="K", for_some=True,
        help="Truncate or round weights every K examples.",
    )
    threshold: float | None = option(  # None: infinite
        None, "--threshold", group=LEARN, type=Number(0, open_low=True, infinite=True), shown="inf",
        help="Size of weights up to which they are truncated. truncated-gradient: larger weights are not shrunk. "
             "rounding, which requires it: smaller ones become zero.",
    )
    radius: float | None = option(
        None, "--radius", group=LEARN, type=Number(1e-100, 1e100),
        help="Limit of the sum of |weights|. For l1-ball, adagrad-ball; for simplex, eg, eg-pm it is the sum itself. "
             "Required, except by l1-ball with --nonzeros. adagrad-full: limit of the root of the sum of squares.",
    )
    delta: float = option(
        1e-8, "--delta", group=LEARN, type=POSITIVE, for_some=True,
        help="Number added to the root of the squared gradients.",
    )
    update: str = option(
        "cmd", "--update", group=LEARN, type=Choice(UPDATES), for_some=True,
        help="Composite mirror descent, or regularized dual averaging.",
    )
    root_every: int = option(
        1, "--root-every", group=LEARN, type=Whole(1), metavar="N", for_some=True,
        help="Recompute the matrix square root every N gradients.",
    )
    round_at_end: float = option(
        0.0, "--round-at-end", group=LEARN, type=Number(0), for_some=True,
        help="Set weights below this to zero when saving the model.",
    )
    pa_c: float = option(
        1.0, "--pa-c", group=LEARN, type=POSITIVE, for_some=True, help="Aggressiveness C: the limit of the step of "
                                                                       "an example."
    )
    arow_r: float = option(
        1.0, "--arow-r", group=LEARN, type=POSITIVE, for_some=True,
        help="Regularization r: the larger, the smaller the steps.",
    )
    ftrl_alpha: float = option(
        0.5, "--ftrl-alpha", group=LEARN, vw=("--ftrl_alpha",), type=POSITIVE, for_some=True,
        help="The learning rate alpha.",
    )
    ftrl_beta: float = option(
        1.0, "--ftrl-beta", group=LEARN, vw=("--ftrl_beta",), type=POSITIVE, for_some=True,
        help="Smoothing beta: the larger, the smaller the first steps.",
    )
    smidas_p: float | None = option(
        None, "--smidas-p", group=LEARN, type=Number(2, 50), metavar="P", shown="2 ln d", for_some=True,
        help="The p of the p-norm of the link function. 2: additive updates, as those of truncated-gradient; 2 ln d: "
             "nearly multiplicative ones, for sparse solutions.",
    )
    features: int | None = option(
        None, "--features", group=LEARN, type=Whole(1, 1 << 32), metavar="N", shown="2^bits", for_some=True,
        help="Number of features in the data, without the intercept.",
    )
    feature_weights: bool = option(
        False, "--feature-weights", group=LEARN, type=PATH, metavar="FILE", shown="1", for_some=True,
        reads="the file of --feature-weights", help="File of penalty factors: lines of NAMESPACE^NAME WEIGHT. Each "
                                                    "|weight| counts with its factor in the sum; 0: not at all.",
    )
    box: float | None = option(
        None, "--box", group=LEARN, type=POSITIVE, shown="no limit", for_some=True, help="Limit of each |weight|."
    )
    nonnegative: bool = option(False, "--nonnegative", group=LEARN, for_some=True, help="Allow no weight below zero.")
    average: bool = option(
        False, "--average", group=LEARN, for_some=True,
        help="Save the mean of all weights during learning. Learning continues from the last ones.",
    )
    nonzeros: int | None = option(
        None, "--nonzeros", group=LEARN, type=Whole(1), metavar="N", shown="no limit", for_some=True,
        help="Limit the model to N nonzero weights. --l1 or --radius is found while learning.",
    )
    # How many classes there are at most; None: labels are numbers
    oaa: int | None = option(
        None, "--oaa", group=CLASSES, type=Whole(2, MOST_CLASSES), metavar="K",
        help="One against all: labels are K classes, from 1 to K. Each class has its own weights.",
    )
    # Names with commas between them; auto: those that appear; "": the numbers from 1
    classes: str = option(
        "", "--classes", group=CLASSES, type=Classes(), metavar="NAMES",
        help="Labels that are classes, such as red,green,blue. One with a comma is quoted, as in CSV. auto: those in "
             "the data, at most K of them; without --oaa, a first reading of files counts them.",
    )
    softmax: bool = option(
        False, "--softmax", group=CLASSES,
        help="One loss for all classes: multinomial logistic regression.  [algorithm: adagrad; with --radius l1-ball]",
    )
    # With --oaa: probabilities are the softmax of the scores, as --algorithm auto fits them
    softmax_probabilities: bool = False
    # What is derived from the columns of tables, as --algorithm auto finds it
    derived: "Derived | None" = None
    link: str = option(
        "identity", "--link", group=OUT, type=Choice(list(LINKS)), shown="logistic, poisson, log or expm1 by the loss",
        help="Function applied to scores when they are written. logistic gives probabilities, poisson and log "
             "means, expm1 labels of --label-transform; identity the scores.",
    )

    @property
    def needs_spaces(self) -> bool:
        """Whether batches need the hashes of namespaces."""
        return bool(self.crosses) or self.derived is not None

    def stored(self) -> dict[str, Any]:
        """As JSON can hold it, without the settings of other losses."""
        others = {name for name, loss in LOSS_OPTIONS.items() if loss != self.loss} - {_ALWAYS}
        others |= {name for name in _NEWER if getattr(self, name) == getattr(Settings, name)}
        found = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in others}
        return found | ({"derived": self.derived.stored()} if self.derived is not None else {})

    @staticmethod
    def of(algorithm: str) -> "Settings":
        """The defaults of an algorithm."""
        return Settings(algorithm=algorithm, **algorithm_of(algorithm).defaults)

    @staticmethod
    def restored(stored: dict[str, Any]) -> "Settings":
        """What `stored` gave, as JSON has it. Nothing is checked; `vwlite/model/header.py` does."""
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in stored.items()}
        if isinstance(values.get("derived"), dict):
            from vwlite.derived import Derived  # not at the top, for the time of a start

            values["derived"] = Derived.restored(values["derived"])
        return Settings(**values)


SPECS: dict[str, Spec] = {spec.name: spec for spec in specs_of(Settings)}


@record(frozen=True)
class Resolved:
    """Settings, and which of them the command line changed in the model that is continued."""

    settings: Settings
    changed: dict[str, tuple[Any, Any]]  # name -> (in the model, now)
    why: str = ""  # the algorithm, if it was not typed
    option: str = ""  # that which needs this algorithm, as typed, if it was not typed
