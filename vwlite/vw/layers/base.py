"""The layers of a learner: a linear model at the bottom, reductions above it, as Vowpal Wabbit stacks them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from vwlite.core.data.batch import Batch
from vwlite.core.learn.losses import Loss, Squared
from vwlite.core.learn.rule import Rule
from vwlite.core.vw.stepper import Stepper, TableFull
from vwlite.runs.memory import table_needs
from vwlite.vw.arguments import Arguments
from vwlite.vw.messages import Streams
from vwlite.vw.setup import Setup
from vwlite.vw.text.examples import spans_of

NO_LABEL = float("nan")


@dataclass
class Current:
    """The example at hand, on its way through the layers."""

    label: float = NO_LABEL
    weight: float = 1.0
    initial: float = 0.0
    tag: bytes = b""
    words: list[bytes] = field(default_factory=list)  # of a label that is not simple
    target: Any = None  # such a label, read
    shared: bool = False  # its features belong to all lines that follow
    held: bool = False
    test: bool = False  # only predict
    names: dict[int, list[bytes]] | None = None
    more_names: list[bytes] = field(default_factory=list)  # of features behind those of the line
    raw_scores: list[tuple[int, float]] | None = None  # of classes, to be written; None: nothing is
    excess: dict[int, float] = field(default_factory=dict)  # of the squares of its namespaces
    made_names: list[bytes] | None = None  # of its features, if they are not those of its line
    own: set[int] | None = None  # the namespaces that are not only of a line shared with others
    batch: Any = None
    line: int = 0
    counter: int = 0  # its number in the run, from 0: blank lines and the ends of passes count too

    model: int = 0  # which of the linear models is meant
    features: int = 0
    prediction: Any = 0.0
    partial: float = 0.0  # the score before it was clipped
    loss: float = 0.0
    confidence: float = 0.0

    @property
    def labelled(self) -> bool:
        return self.label == self.label


def keep_lines(examples: Sequence[Current], batch: Batch) -> None:
    """Have examples that will outlive the content of a batch keep their lines of it themselves."""
    kept = Batch()
    for e in examples:
        if e.batch is batch:
            kept.extend(batch, e.line, e.line + 1)
            e.batch, e.line = kept, len(kept) - 1


def counts_of(e: Current, dropped: Callable[[int], bool]) -> dict[int, int]:
    """How many features each namespace of an example has that is not dropped, in order."""
    counts: dict[int, int] = {}
    for letter, begin, end in spans_of(e.batch, e.line):
        if not dropped(letter):
            counts[letter] = counts.get(letter, 0) + end - begin
    return counts


class Layer:
    """A learner over another one; its first lines say what goes with it.

    option: what asks for it. excludes: options that it cannot be with. fits: the companies that it can be in: "batches"
    (weights that change between passes only), "lines" (examples of several lines), "classes" (whose models lie side by
    side). company: the one that all others must fit. ensemble: it is made of learners of the kind below it, as many as
    its option says, and counts the features of an example itself. kind, output: its labels and predictions, if they are
    not those of the layer below. name: as the header shows it. predicts_apart: what is shown is predicted before
    learning, on its own; None: as below.
    """

    option = company = ""
    excludes: tuple[str, ...] = ()
    fits: tuple[str, ...] = ()
    kind = output = name = ""
    ensemble = False
    predicts_apart: bool | None = None
    increment: int
    of_lines: Any = None  # the layer that learns examples of several lines, if they are such

    @classmethod
    def wanted(cls, a: Arguments) -> bool:
        """Whether it is in the learner, if its option is given or it has none."""
        return True

    @classmethod
    def models(cls, a: Arguments) -> int:
        """How many learners of the kind below it is made of."""
        return int(a[cls.option]) if cls.ensemble else 1

    @classmethod
    def check(cls, a: Arguments) -> None:
        """Refuse what it cannot do, beyond what it excludes."""

    @classmethod
    def prepare(cls, s: Setup) -> None:
        """What comes before any layer is made."""

    @classmethod
    def over(cls, base: "Layer", s: Setup) -> "Layer":
        """The layer over those below it."""
        return cls(base, s)

    def __init__(self, base: "Layer", s: Setup) -> None:
        self.base, self.streams = base, s.streams
        self.width = self.models(s.arguments)
        self.increment = base.increment * base.width  # models between two of the base
        self.kind, self.output = self.kind or base.kind, self.output or base.output
        self.of_lines = base.of_lines
        if self.predicts_apart is None:
            self.predicts_apart = base.predicts_apart

    def predict(self, e: Current) -> None:
        self.base.predict(e)

    def learn(self, e: Current) -> None:
        self.base.learn(e)

    def predict_with(self, e: Current, i: int) -> None:
        """Have the i-th base predict."""
        e.model += i * self.increment
        self.base.predict(e)
        e.model -= i * self.increment

    def learn_with(self, e: Current, i: int) -> None:
        """Have the i-th base learn."""
        e.model += i * self.increment
        self.base.learn(e)
        e.model -= i * self.increment

    def end_example(self) -> None:
        """What follows an example."""
        self.base.end_example()

    def end_pass(self) -> None:
        self.base.end_pass()

    # What a model keeps of the layers, from the top down: in a readable one, in a binary one, and read back.

    def saved_text(self) -> str:
        return self.base.saved_text()

    def saved_bytes(self) -> bytes:
        return self.base.saved_bytes()

    def load(self, source: Any) -> None:
        self.base.load(source)

    @property
    def names(self) -> list[str]:
        """The layers from the bottom up, as the header lists them."""
        return self.base.names + ([self.name] if self.name else [])

    def layer(self, option: str) -> Any:
        """The layer of an option, here or below; None if there is none."""
        return self if self.option == option else self.base.layer(option)

    @property
    def bottom(self) -> "LinearLayer":
        return self.base.bottom


class Symmetric(Layer):
    """A layer that does about the same where it predicts and where it learns."""

    def run(self, e: Current, learns: bool) -> None:
        raise NotImplementedError

    def predict(self, e: Current) -> None:
        self.run(e, False)

    def learn(self, e: Current) -> None:
        self.run(e, True)

    def pass_on(self, e: Current, learns: bool) -> None:
        """Have the base do it."""
        if learns:
            self.base.learn(e)
        else:
            self.base.predict(e)


class LinearLayer(Layer):
    """The linear model itself: the stepper's rule."""

    kind, output = "SIMPLE", "SCALAR"
    fits: tuple[str, ...] = ("lines",)
    in_batches = False  # weights change between passes only

    def __init__(self, name: str, stepper: Stepper, streams: Streams, predicts_apart: bool = False) -> None:
        self.name, self.stepper, self.streams = name, stepper, streams
        self.increment = self.width = 1
        self.predicts_apart = predicts_apart
        self.audit: Callable[[Current], None] | None = None
        self.collect: Callable[[Current], None] | None = None
        self.example_number = 0
        self.more_squares: Callable[[Current], float] | None = None
        self.constant_places: Callable[[Current], tuple[int, int]] | None = None

    def take(self, e: Current) -> None:
        """Have the stepper hold the features of an example."""
        e.features = self.stepper.take(e.batch, e.line) + self.stepper.expander.hidden
        if e.own is not None and self.constant_places is not None:
            keys, values = self.stepper.features()
            now, then = self.constant_places(e)
            keys.insert(then, keys.pop(now))
            values.insert(then, values.pop(now))
            self.stepper.set(keys, values)
        if self.more_squares is not None:
            self.stepper.rule.more_squares = self.more_squares(e)

    def predict(self, e: Current) -> None:
        e.prediction = self.stepper.predict(e.model, e.initial)
        self._after(e)

    def learn(self, e: Current) -> None:
        if self.audit is not None:
            e.prediction = self.stepper.predict(e.model, e.initial)
            if self.stepper.widens:
                low, high = min(self.stepper.min_label, e.label), max(self.stepper.max_label, e.label)
                e.prediction = min(max(self.stepper.raw, low), high)
            self.audit(e)
        try:
            e.prediction = self.stepper.learn(e.label, e.weight, e.model, e.initial)
        except TableFull as error:
            raise MemoryError(table_needs(self.stepper.size)) from error
        self._warn(e)
        self.warn_of_update(self.stepper.rule_of(e.model))
        if self.collect is not None:
            self.collect(e)

    def warn_of_update(self, rule: Rule) -> None:
        """Tell of what the last update of a rule met."""
        if getattr(rule, "too_large", False):
            self.streams.error("The features have too much magnitude")
        if getattr(rule, "lost", False):
            self.streams.warn("update is NAN, replacing with 0")

    def update(self, e: Current, p: float) -> None:
        """Learn as if `p` had been predicted."""
        try:
            self.stepper.update(p, e.label, e.weight, e.model)
        except TableFull as error:
            raise MemoryError(table_needs(self.stepper.size)) from error

    def _after(self, e: Current) -> None:
        self._warn(e)
        if self.audit is not None:
            self.audit(e)
        if self.collect is not None:
            self.collect(e)

    def _warn(self, e: Current) -> None:
        e.partial = self.stepper.raw
        if self.stepper.lost:
            self._forgive(e)

    def _forgive(self, e: Current) -> None:
        self.streams.warn(f"NAN prediction in example {self.example_number + 1}, forcing 0")
        e.partial = 0.0

    def begin(self) -> None:
        """The weights to begin with are there."""

    def end_example(self) -> None:
        pass

    def end_pass(self) -> None:
        pass

    def saved_text(self) -> str:
        return ""

    def saved_bytes(self) -> bytes:
        return b""

    def load(self, source: Any) -> None:
        pass

    @property
    def names(self) -> list[str]:
        return [self.name]

    def layer(self, option: str) -> Any:
        return self if self.option == option else None

    @property
    def bottom(self) -> "LinearLayer":
        return self


class NamedLayer(Layer):
    """A layer that is only a name in the header."""

    fits = ("batches", "lines", "classes")


def judged(loss: Loss, p: float, y: float, stepper: Stepper) -> float:
    """The loss of a prediction. The squared one grows linearly outside of the labels seen."""
    low, high = stepper.min_label, stepper.max_label
    if low <= p <= high or not isinstance(loss, Squared):
        return float(loss(p, y))
    edge = low if p < low else high
    return float((y - edge) ** 2 + 2 * (y - edge) * (edge - p))
