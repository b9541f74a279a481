"""The settings of a model, which are the options that shape it: each is written once, here."""

from dataclasses import asdict, dataclass
from typing import Any

from vwlite.algorithms.losses import LINKS, LOSS_OPTIONS, LOSSES, loss_function
from vwlite.algorithms.table import ALGORITHMS, UPDATES, algorithm_of
from vwlite.options.spec import CLASSES, FEATURES, IN, LEARN, OUT, Spec, option, options, specs_of
from vwlite.options.types import PATH, Choice, Classes, Crossing, Labels, Letters, Number, Whole

MOST_CLASSES = 1 << 16
_ALWAYS = "quantile_tau"  # models of every loss have it
POSITIVE = Number(0, open_low=True)


@dataclass(frozen=True)
class Settings:
    """Everything that shapes a model: what is stored in it, under these names."""

    algorithm: str = option(
        "gd", "--algorithm", group=LEARN, type=Choice(list(ALGORITHMS)), metavar="NAME",
        help=f"How to learn: {', '.join(ALGORITHMS)}; `vwlite algorithms` explains them.",
    )  # fmt: skip
    # "": that of a model of Vowpal Wabbit, which does not know it
    loss: str = option(
        "squared", "--loss", group=LEARN, vw=("--loss_function",), type=Choice(list(LOSSES)),
        help="What to minimise.",
    )  # fmt: skip
    quantile_tau: float = option(
        0.5, "--quantile-tau", group=LEARN, vw=("--quantile_tau",), type=Number(0, 1, open_low=True, open_high=True),
        help="Which quantile --loss quantile predicts.",
    )  # fmt: skip
    huber_delta: float = option(
        1.0, "--huber-delta", group=LEARN, type=POSITIVE,
        help="The error |p - y| up to which --loss huber is the squared loss; beyond, it grows linearly.",
    )  # fmt: skip
    labels: tuple[float, float] | tuple[str, str] | None = option(
        None, "--labels", group=IN, type=Labels(), metavar="NEG,POS",
        help="The two labels in the data that mean -1 and 1, such as 0,1 or ham,spam.",
    )  # fmt: skip
    bits: int = option(
        32, "-b", "--bits", group=FEATURES, vw=("--bit_precision",), type=Whole(1, 32), metavar="BITS",
        help="How many bits of a feature's hash count.",
    )  # fmt: skip
    hash: str = option(
        "strings", "--hash", group=FEATURES, type=Choice(["strings", "all"]),
        help="Hash names only (a number is its own index), or numbers too.",
    )  # fmt: skip
    constant: bool = options(
        True,
        Spec(("--no-constant",), FEATURES, "Leave the constant feature out.", vw=("--noconstant",)),
    )
    interactions: tuple[str, ...] = options(
        (),
        Spec(("-q", "--quadratic"), FEATURES,
             "Cross the namespaces whose names begin with A and B; `:` is any. NAME,NAME: those of these names. May be "
             "repeated.", Crossing(2, 2, wildcards=True), metavar="AB", multiple=True),
        Spec(("--cubic",), FEATURES, "Cross three namespaces.",
             Crossing(3, 3, wildcards=True), metavar="ABC", multiple=True),
        Spec(("--interactions",), FEATURES, "Cross any number of namespaces.",
             Letters(None, 2, wildcards=True), metavar="ABCD", multiple=True),
    )  # fmt: skip
    # Of `interactions`, those by name: names with commas between them
    crosses: tuple[str, ...] = ()
    keep: str = option(
        "", "--keep", group=FEATURES, type=Letters(), multiple=True, metavar="LETTERS",
        help="Use only namespaces that begin with one of these letters.",
    )  # fmt: skip
    ignore: str = option(
        "", "--ignore", group=FEATURES, type=Letters(), multiple=True, metavar="LETTERS",
        help="Leave out namespaces that begin with one of these letters.",
    )  # fmt: skip
    ignore_linear: str = option(
        "", "--ignore-linear", group=FEATURES, vw=("--ignore_linear",), type=Letters(), multiple=True,
        metavar="LETTERS", help="As --ignore, but interactions still see them.",
    )  # fmt: skip
    learning_rate: float = option(
        0.5, "-l", "--learning-rate", group=LEARN, vw=("--learning_rate",), type=POSITIVE,
        help="The learning rate at the beginning.",
    )  # fmt: skip
    power_t: float = option(
        0.5, "--power-t", group=LEARN, vw=("--power_t",), type=Number(0),
        help="The rate falls as (t + initial-t)^-power-t; for gd, each feature's own; for adagrad, only if given.",
        page="The rate falls as (t + initial-t)^-power-t.",
    )  # fmt: skip
    initial_t: float = option(
        0.0, "--initial-t", group=LEARN, vw=("--initial_t",), type=Number(0), help="Where t begins."
    )
    decay_learning_rate: float = option(
        1.0, "--decay-learning-rate", group=LEARN, vw=("--decay_learning_rate",), type=POSITIVE,
        help="Factor of the rate from one pass to the next.",
    )  # fmt: skip
    l1: float = option(
        0.0, "--l1", group=LEARN, vw=("--gravity",), type=Number(0),
        help="Strength of l1 regularisation: how fast weights shrink to zero.",
    )  # fmt: skip
    l2: float = option(0.0, "--l2", group=LEARN, type=Number(0), help="Strength of l2 regularisation.")
    period: int = option(
        1, "--period", group=LEARN, type=Whole(1), metavar="K", for_some=True,
        help="shrink or round every K examples.",
    )  # fmt: skip
    threshold: float | None = option(  # None: infinite
        None, "--threshold", group=LEARN, type=Number(0, open_low=True, infinite=True), shown="inf",
        help="truncated-gradient: larger weights are not shrunk. rounding, which needs it: smaller ones become zero.",
    )  # fmt: skip
    radius: float | None = option(
        None, "--radius", group=LEARN, type=Number(1e-100, 1e100),
        help="l1-ball, adagrad-ball: the largest sum of |weights|; simplex, eg, eg-pm: their sum. Needed, but for "
             "l1-ball with --nonzeros.",
    )  # fmt: skip
    delta: float = option(
        1e-8, "--delta", group=LEARN, type=POSITIVE, for_some=True,
        help="what is added to the root of the squared gradients.",
    )  # fmt: skip
    update: str = option(
        "cmd", "--update", group=LEARN, type=Choice(UPDATES), for_some=True,
        help="composite mirror descent, or regularized dual averaging.",
    )  # fmt: skip
    root_every: int = option(
        1, "--root-every", group=LEARN, type=Whole(1), metavar="N", for_some=True,
        help="make the root of the matrix anew every N gradients.",
    )  # fmt: skip
    round_at_end: float = option(
        0.0, "--round-at-end", group=LEARN, type=Number(0), for_some=True,
        help="in the model, weights smaller than this are zero.",
    )  # fmt: skip
    pa_c: float = option(
        1.0, "--pa-c", group=LEARN, type=POSITIVE, for_some=True, help="how hard to learn from one example."
    )
    arow_r: float = option(
        1.0, "--arow-r", group=LEARN, type=POSITIVE, for_some=True,
        help="the larger, the less to learn from one example.",
    )  # fmt: skip
    ftrl_alpha: float = option(
        0.5, "--ftrl-alpha", group=LEARN, vw=("--ftrl_alpha",), type=POSITIVE, for_some=True,
        help="the learning rate.",
    )  # fmt: skip
    ftrl_beta: float = option(
        1.0, "--ftrl-beta", group=LEARN, vw=("--ftrl_beta",), type=POSITIVE, for_some=True,
        help="the larger, the slower the first steps of a feature.",
    )  # fmt: skip
    features: int | None = option(
        None, "--features", group=LEARN, type=Whole(1, 1 << 32), metavar="N", shown="2^bits", for_some=True,
        help="how many features there are, without the constant.",
    )  # fmt: skip
    feature_weights: bool = option(
        False, "--feature-weights", group=LEARN, type=PATH, metavar="FILE", shown="1", for_some=True,
        help="how much each feature counts in the sum; lines of NAMESPACE^NAME WEIGHT.",
    )  # fmt: skip
    box: float | None = option(
        None, "--box", group=LEARN, type=POSITIVE, shown="no limit", for_some=True, help="the largest |weight|."
    )
    nonnegative: bool = option(False, "--nonnegative", group=LEARN, for_some=True, help="no weight is below zero.")
    average: bool = option(
        False, "--average", group=LEARN, for_some=True,
        help="the model is the mean of all weights on the way; learning goes on from the last ones.",
    )  # fmt: skip
    nonzeros: int | None = option(
        None, "--nonzeros", group=LEARN, type=Whole(1), metavar="N", shown="no limit", for_some=True,
        help="a model of at most N nonzero weights; --l1 or --radius is found while learning.",
    )  # fmt: skip
    # How many classes there are at most; None: labels are numbers
    oaa: int | None = option(
        None, "--oaa", group=CLASSES, type=Whole(2, MOST_CLASSES), metavar="K",
        help="One against all: labels are K classes, 1 to K; each has weights of its own.",
    )  # fmt: skip
    # Names with commas between them; auto: those that appear; "": the numbers from 1
    classes: str = option(
        "", "--classes", group=CLASSES, type=Classes(), metavar="NAMES",
        help="The labels that are classes, such as red,green,blue; auto: those in the data, at most K of them.",
    )  # fmt: skip
    softmax: bool = option(
        False, "--softmax", group=CLASSES,
        help="One loss for all classes together, the multinomial logistic one.  [algorithm: l1-ball, a ball for "
             "each class]",
    )  # fmt: skip
    link: str = option(
        "identity", "--link", group=OUT, type=Choice(list(LINKS)),
        help="What predictions go through when they are written; logistic gives probabilities.",
    )  # fmt: skip

    def stored(self) -> dict[str, Any]:
        """As JSON can hold it, without the settings of other losses."""
        others = {name for name, loss in LOSS_OPTIONS.items() if loss != self.loss} - {_ALWAYS}
        if not self.crosses:
            others.add("crosses")  # older programs do not know it
        return {name: value for name, value in asdict(self).items() if name not in others}

    @staticmethod
    def of(algorithm: str) -> "Settings":
        """The defaults of an algorithm."""
        return Settings(algorithm=algorithm, **algorithm_of(algorithm).defaults)

    @staticmethod
    def restored(stored: dict[str, Any]) -> "Settings":
        """What `stored` gave, as JSON has it. Nothing is checked; `vwlite/model/header.py` does."""
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in stored.items()}
        return Settings(**values)

    @property
    def label_domain(self) -> str:
        return loss_function(self.loss).labels

    def label_of(self, y: float) -> float | str:
        """A label of the learner as it is in the data."""
        return y if self.labels is None else self.labels[y > 0]

    @property
    def binary(self) -> bool:
        """Whether labels are one of two."""
        return self.oaa == 2 if self.oaa is not None else self.labels is not None or self.label_domain == "binary"


SPECS: dict[str, Spec] = {spec.name: spec for spec in specs_of(Settings)}
