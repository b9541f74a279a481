"""Kinds of output of a model: a number, one of two labels, several quantiles, or classes.

`Settings.outputs` is an object of one of these classes. It maps labels to targets and back, names the scores and the
measures, and refuses options that do not fit. Callers call its methods; they do not ask which kind it is.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from vwlite.algorithms.losses import LINKS, TRANSFORMED, called, loss_function
from vwlite.algorithms.table import MOST_STACKED, SOLVED, algorithm_of
from vwlite.errors import UsageError
from vwlite.names import names_in
from vwlite.options.spec import option_name

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from vwlite.core.data.class_names import ClassNames
    from vwlite.core.learn.learner import Learner
    from vwlite.core.learn.losses import Loss
    from vwlite.core.learn.rule import Rule

    Floats = NDArray[float64]


class OutputSettings:
    """The settings that decide the kind of output; see `Settings`."""

    algorithm: str
    loss: str
    quantile_tau: float | tuple[float, ...]
    label_transform: str
    labels: tuple[float, float] | tuple[str, str] | None
    oaa: int | None
    classes: str
    softmax: bool
    softmax_probabilities: bool
    nonzeros: int | None
    link: str

    @property
    def outputs(self) -> "Outputs":
        """The kind of output. Created at each access: loops keep it."""
        if self.oaa is not None:
            return Softmax(self) if self.softmax else Classes(self)
        if isinstance(self.quantile_tau, tuple):
            return Quantiles(self)
        found = Outputs(self)
        return TwoLabels(self) if self.labels is not None or found.domain == "binary" else found


class Transform:
    """From labels to targets, which are what is learned; here they are the same."""

    name = ""
    link = ""  # from a score to a prediction of the label
    of = ""  # after the name of a loss
    inverse: Callable[[float], float] = staticmethod(float)

    def learned(self, labels: "Floats") -> "Floats":
        """The targets of labels."""
        return labels

    def labels(self, targets: "Floats") -> "Floats":
        """The labels of targets."""
        return targets

    def offset(self, found: float) -> float | None:
        """What the link adds to scores. found: that of a learner. None: the link adds nothing."""
        return None

    def notes(self, what: str) -> list[str]:
        """Notes on numbers (what: their name) that are in the unit of targets, not of labels."""
        return []

    def check(self, settings: OutputSettings) -> None:
        """UsageError for settings that cannot be combined with it."""

    def refuse(self, what: str, model: str | None = None) -> None:
        """UsageError unless targets are the labels. what: needs that. model: the path of the model, if there is one."""


class Log1p(Transform):
    """The target is log(1 + label)."""

    name, link, of = "log1p", "expm1", " of log(1 + label)"
    inverse = staticmethod(math.expm1)

    def learned(self, labels: "Floats") -> "Floats":
        from vwlite.core.base.elementary import each

        found: Floats = labels.copy()
        each("log1p", found, found)
        return found

    def labels(self, targets: "Floats") -> "Floats":
        import numpy as np

        return np.expm1(targets)

    def offset(self, found: float) -> float | None:
        return found

    def notes(self, what: str) -> list[str]:
        return [f"{what} are{self.of}"]

    def check(self, settings: OutputSettings) -> None:
        s, option = settings, "--label-transform log1p"
        for name in ("oaa", "labels"):
            if getattr(s, name) is not None:
                raise UsageError(f"{option} is for labels that are amounts, and {option_name(name)} says that they are "
                                 "classes: leave one of them out")
        if s.algorithm == SOLVED.name:
            self.refuse("vwlite solve")
        if s.loss not in TRANSFORMED:
            binary = loss_function(s.loss).labels == "binary"
            why = f"predicts {'one of two labels' if binary else 'the logarithm of the mean already'}"
            instead = "--loss squared" if binary else f"--loss {s.loss} alone"
            raise UsageError(f"{option} cannot be used with --loss {s.loss}, which {why}: use {instead}")

    def refuse(self, what: str, model: str | None = None) -> None:
        has = f", which {model} has" if model else ""
        raise UsageError(f"{what} does not know --label-transform log1p{has}: use --loss gamma or poisson, or labels "
                         "whose logarithms the data have")


TRANSFORMS = {"none": Transform(), "log1p": Log1p()}

# The labels that a loss or a transform can use, if not all: in a sentence, and which labels of an array these are.
DOMAINS: "dict[str, tuple[str, Callable[[Floats], NDArray[Any]]]]" = {
    "binary": ("labels of -1 and 1", lambda y: abs(y) == 1),
    "nonnegative": ("labels of at least 0", lambda y: y >= 0),
    "positive": ("labels above 0", lambda y: y > 0),
    "log1p": ("labels above -1", lambda y: y > -1),
}


class Outputs:
    """One score, a number: the prediction is the score through the link. Subclasses are the other kinds."""

    task = "number"
    records = 1  # scores of an example, and weights of a feature
    middle = 0  # the score that is the prediction
    is_binary = False  # labels are one of two
    taus: tuple[float, ...] = ()
    tau_names: Sequence[str] = ()
    columns: Sequence[str] = ("prediction",)  # of a table of predictions
    facts: Sequence[str] = ()  # names of what the engine counts of several quantiles
    shares = ""  # how the scores of classes get probabilities: sigmoid, softmax; "" for none
    count = ""  # of classes, in a sentence
    most_labels: float = 2  # different ones that may be classes
    calibrations: tuple[str, ...] = ()  # the methods of `vwlite calibrate`

    def __init__(self, settings: OutputSettings) -> None:
        self.settings = settings

    @property
    def one_tau(self) -> float:
        """The quantile; of several, the one whose loss is the mean loss of one prediction for all."""
        tau = self.settings.quantile_tau
        return sum(tau) / len(tau) if isinstance(tau, tuple) else tau

    # --- labels ------------------------------------------------------------------------------

    @property
    def transform(self) -> Transform:
        return TRANSFORMS[self.settings.label_transform]

    @property
    def domain(self) -> str:
        """Which labels can be used, as LossFunction has it; or the name of the transform."""
        return self.transform.name or loss_function(self.settings.loss).labels

    @property
    def learned_by(self) -> str:
        """The name of what limits the labels: the transform, or the loss."""
        return self.transform.name or self.settings.loss

    @property
    def smears(self) -> bool:
        """Whether predictions are means of labels whose logarithms were learned."""
        return bool(self.transform.name) and self.settings.loss == "squared"

    def label_of(self, y: float) -> float | str:
        """A label of the learner as it is in the data."""
        y = self.transform.inverse(y)
        return y if self.settings.labels is None else self.settings.labels[y > 0]

    def shown_label(self, y: float, learner: "Learner") -> float | str:
        """The same; of a class its name."""
        return self.label_of(y)

    def shown(self, p: float, learner: "Learner") -> float | str:
        """A prediction of the learner as it is written: a number that went through the link, or the name of a class."""
        return float(learner.linked(p))

    def class_names(self, known: Sequence[str] = (), *, grows: bool = True) -> "ClassNames | None":
        """The names of the classes, for the engine. known: those that a model has found. grows: whether --classes auto
        may find more."""
        return None

    def shaping(self, named: Sequence[str]) -> dict[str, Any]:
        """What a cache depends on beside the options of parsing. named: the classes that were known before it."""
        return {}

    def rule(self, one: "Callable[..., Rule]", losses: "Sequence[Loss]") -> "Rule":
        """The update rule. one: makes that of one score. losses: of each quantile."""
        return one()

    @property
    def called(self) -> str:
        """What the average loss is called in sentences."""
        return called(self.settings.loss) + self.transform.of

    # --- predictions -------------------------------------------------------------------------

    @property
    def loss_name(self) -> str:
        return self.settings.loss

    def keys(self, losses: Sequence[str]) -> list[str]:
        """The measures of --fail-if of training. losses: those that it may have."""
        return [*map(_loss_key, losses), "auc", *self.facts]

    @property
    def loss_keys(self) -> list[str]:
        """Those of them that are the average loss."""
        return [_loss_key(self.settings.loss)]

    @property
    def usual_link(self) -> str:
        """The default link of a new model: to probabilities for the logistic loss, to means for a loss of log means."""
        return next(filter(None, (self.transform.link, *loss_function(self.settings.loss).links, "identity")))

    @property
    def has_probabilities(self) -> bool:
        return "logistic" in (self.settings.loss, self.settings.link)

    def names(self, found: Sequence[str]) -> list[str]:
        """The names of several scores; [] for one. found: the names of classes that were found in the data."""
        return []

    def named(self, found: Sequence[str]) -> int:
        """How many classes have a name."""
        return 0

    def stored(self, each: list[Any]) -> Any:
        """What a model stores of a list with a number for each score."""
        return each[0] if self.records == 1 else each

    def explained(self, shown: float, wanted: Sequence[int] | None, named: int) -> Sequence[int]:
        """The scores of an example to explain. wanted: these; None: the predicted one. named: the result of `named`."""
        return [self.middle]

    def wrong(self, label: float, rival: float, slope: float) -> tuple[int, int | None, int]:
        """The score that explains a loss, another one to subtract, and the sign of contributions. rival, slope: as in
        Recorder."""
        return self.middle, None, 1 if slope > 0 else -1

    def margins(self, slopes: "Floats") -> "Floats":
        """The order of examples with equal losses, the largest first."""
        import numpy as np

        return np.zeros_like(slopes)

    def classes(self, names: list[str]) -> list[str] | None:
        """The names of classes; None if predictions are numbers."""
        return None

    # --- what is refused ---------------------------------------------------------------------

    def check(self) -> None:
        """UsageError for options of outputs that contradict each other, or the algorithm."""
        s = self.settings
        if s.softmax_probabilities:
            raise _only_against_all()
        if s.classes == "auto":
            raise UsageError("--classes auto needs --oaa K, the largest number of classes that there may be")
        if s.classes:  # the command line counts them; a header may not
            raise UsageError(f"--classes names {len(s.classes.split(','))} classes, but --oaa is missing")
        if s.softmax:
            raise UsageError("--softmax needs the classes: add --oaa K for labels from 1 to K, or --classes")

    def check_one(self, what: str, model: str | None = None) -> None:
        """UsageError for several quantiles. what: needs one prediction. model: the path of the model, if any."""

    def check_auto(self) -> None:
        """UsageError if --algorithm auto cannot learn this."""

    def check_link(self) -> None:
        """UsageError for a link that does not fit the loss."""
        s = self.settings
        if s.link == "expm1" != self.transform.link:
            raise UsageError("--link expm1 is for scores of --label-transform log1p: leave it out")
        if s.loss and s.loss not in LINKS[s.link]:
            raise UsageError(
                f"--link {s.link} cannot be applied to the scores of --loss {s.loss}, only of --loss "
                f"{' or '.join(LINKS[s.link])}: use --link identity"
            )


class TwoLabels(Outputs):
    """One score of two labels, the negative one below a threshold."""

    task, is_binary = "two labels", True

    @property
    def calibrations(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("platt", "isotonic") if self.settings.loss == "logistic" else ()


class Quantiles(Outputs):
    """A score for each of several quantiles."""

    task = "quantiles"

    def __init__(self, settings: OutputSettings) -> None:
        super().__init__(settings)
        assert isinstance(settings.quantile_tau, tuple)
        self.taus = settings.quantile_tau
        self.records, self.middle = len(self.taus), len(self.taus) // 2
        self.tau_names = [f"{tau:g}" if float(f"{tau:g}") == tau else repr(tau) for tau in self.taus]
        self.columns = [f"quantile_{name}" for name in self.tau_names]

    @property
    def facts(self) -> Sequence[str]:  # type: ignore[override]
        """See `cython_ext/learn/multiclass.pyx`."""
        names, of_pair = self.tau_names, ("coverage", "width")
        pairs = [f"{names[k]}_{names[-1 - k]}" for k in range(len(names) // 2)]
        return [*(f"pinball_{name}" for name in names), *(f"{what}_{pair}" for pair in pairs for what in of_pair)]

    def names(self, found: Sequence[str]) -> list[str]:
        return [*self.tau_names]

    def explained(self, shown: float, wanted: Sequence[int] | None, named: int) -> Sequence[int]:
        return [self.middle] if wanted is None else wanted

    def rule(self, one: "Callable[..., Rule]", losses: "Sequence[Loss]") -> "Rule":
        from vwlite.core.data.class_names import ClassNames
        from vwlite.core.learn.multiclass import Quantiles

        return Quantiles([*map(one, losses)], ClassNames(self.records, [name.encode() for name in self.tau_names]))

    def check_one(self, what: str, model: str | None = None) -> None:
        who = f"{model} predicts" if model else f"--quantile-tau {','.join(self.tau_names)} asks for"
        raise UsageError(f"{what} is for one prediction, and {who} {len(self.taus)} quantiles: train a model of one, "
                         "such as --quantile-tau 0.5")


class Classes(Outputs):
    """A score for each class, learned one against all. The prediction is the first class with the largest score."""

    task = "classes"
    option = "--oaa"
    most_labels = math.inf

    def __init__(self, settings: OutputSettings) -> None:
        super().__init__(settings)
        assert settings.oaa is not None
        self.records = settings.oaa
        self.is_binary, self.count = settings.oaa == 2, f"{settings.oaa} classes, "

    @property
    def usual_link(self) -> str:
        return "identity"

    @property
    def shares(self) -> str:  # type: ignore[override]
        return "softmax" if self.settings.softmax_probabilities else "sigmoid" * self.has_probabilities

    @property
    def has_probabilities(self) -> bool:
        return self.settings.loss == "logistic"

    def shown_label(self, y: float, learner: "Learner") -> float | str:
        return str(learner.class_names[int(y) - 1]) if 1 <= y <= len(learner.class_names) else "none"

    def shown(self, p: float, learner: "Learner") -> float | str:
        return self.shown_label(p, learner)

    def shaping(self, named: Sequence[str]) -> dict[str, Any]:
        return {"number of classes": self.records, "choice of classes": self.settings.classes,
                "order of classes": named}

    @property
    def called(self) -> str:
        return "share of errors"

    def keys(self, losses: Sequence[str]) -> list[str]:
        return ["log_loss"]

    @property
    def loss_keys(self) -> list[str]:
        return []

    @property
    def calibrations(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("temperature", "vector") if self.shares else ()

    def names(self, found: Sequence[str]) -> list[str]:
        """`?4`: the fourth class, which has no name yet."""
        known = {"": map(str, range(1, self.records + 1)), "auto": found}.get(self.settings.classes)
        names = [*(names_in(self.settings.classes) if known is None else known)]
        return names + [f"?{k + 1}" for k in range(len(names), self.records)]

    def named(self, found: Sequence[str]) -> int:
        return len(found) if self.settings.classes == "auto" else self.records

    def explained(self, shown: float, wanted: Sequence[int] | None, named: int) -> Sequence[int]:
        return [k for k in ([max(int(shown) - 1, 0)] if wanted is None else wanted) if k < named]

    def wrong(self, label: float, rival: float, slope: float) -> tuple[int, int | None, int]:
        return max(int(rival) - 1, 0), int(label) - 1, 1

    def margins(self, slopes: "Floats") -> "Floats":
        return slopes

    def class_names(self, known: Sequence[str] = (), *, grows: bool = True) -> "ClassNames | None":
        from vwlite.core.data.class_names import ClassNames

        typed = self.settings.classes
        if not typed:
            return ClassNames(self.records, numbers=True)
        encoded = [name.encode("utf-8", "surrogateescape") for name in (known if typed == "auto" else names_in(typed))]
        return ClassNames(self.records, encoded, grows=grows and typed == "auto")

    def rule(self, one: "Callable[..., Rule]", losses: "Sequence[Loss]") -> "Rule":
        from vwlite.core.learn.multiclass import OneAgainstAll

        rules, first_range = [one() for _ in range(self.records)], loss_function(self.settings.loss).first_range
        return OneAgainstAll(rules, first_range=first_range, softmax=self.shares == "softmax")

    def classes(self, names: list[str]) -> list[str] | None:
        return names

    def check(self) -> None:
        s, option = self.settings, self.option
        if s.softmax_probabilities and (s.loss != "logistic" or option != "--oaa"):
            raise _only_against_all()
        if s.classes not in ("", "auto") and len(names_in(s.classes)) != self.records:
            raise UsageError(f"--oaa {self.records} contradicts --classes, which names {len(s.classes.split(','))}: "
                             "leave --oaa out")
        if s.nonzeros:
            strength = option_name(algorithm_of(s.algorithm).strength)
            raise UsageError(
                f"--nonzeros counts the weights of one score, but {option} has one for each class: use {strength}"
            )
        if s.labels is not None:
            raise UsageError(f"--labels maps labels to -1 and 1, but with {option} they are classes: use --classes")
        if s.link != "identity":
            raise UsageError(f"--link {s.link} is for one score, but {option} has one for each class: leave it out; "
                             "vwlite predict --probabilities prints probabilities")
        self._check_loss()

    def _check_loss(self) -> None:
        if self.domain in ("nonnegative", "positive"):
            raise UsageError(f"--oaa learns from labels of 1 and -1, which --loss {self.settings.loss} cannot use: use "
                             "--loss logistic")

    def check_one(self, what: str, model: str | None = None) -> None:
        if isinstance(self.settings.quantile_tau, tuple):
            Quantiles(self.settings).check_one(what, model)

    def check_auto(self) -> None:
        if self.settings.loss != "logistic":
            raise UsageError(f"--algorithm auto cannot learn classes from --loss {self.settings.loss}: use --loss "
                             "logistic")
        if self.records > MOST_STACKED:
            raise UsageError(f"--algorithm auto is for at most {MOST_STACKED:,} classes: use --algorithm gd")


class Softmax(Classes):
    """A score for each class, learned together by one loss: multinomial logistic regression."""

    option = "--softmax"
    shares = loss_name = "softmax"

    def rule(self, one: "Callable[..., Rule]", losses: "Sequence[Loss]") -> "Rule":
        from vwlite.core.learn.multiclass import Softmax

        return Softmax([one() for _ in range(self.records)])

    def _check_loss(self) -> None:
        s = self.settings
        if s.loss != "logistic":
            raise UsageError(f"--softmax has its own loss: leave --loss {s.loss} out")
        if algorithm_of(s.algorithm).needs_loss:
            raise UsageError(f"--algorithm {s.algorithm} cannot learn from --softmax, as its steps need the loss of "
                             "one score: use l1-ball, sgd, adagrad or ftrl")

    def check_auto(self) -> None:
        raise UsageError("--algorithm auto has the softmax as its probabilities without --softmax: leave it out")


def _loss_key(loss: str) -> str:
    """The name of an average loss, as vwlite evaluate has it."""
    return {"logistic": "log_loss", "squared": "mse"}.get(loss, f"{loss.replace('-', '_')}_loss")


def _only_against_all() -> UsageError:
    return UsageError("the softmax of scores is for one against all with --loss logistic")  # only in a header
