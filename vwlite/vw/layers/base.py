"""The layers of a learner: a linear model at the bottom, reductions above it, as Vowpal Wabbit stacks them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from vwlite.algorithms.memory import table_needs
from vwlite.core.data.batch import Batch
from vwlite.core.learn.losses import Loss, Squared
from vwlite.core.learn.rule import Rule
from vwlite.core.vw.stepper import Stepper, TableFull
from vwlite.vw.arguments import Arguments
from vwlite.vw.messages import Streams
from vwlite.vw.setup import Setup
from vwlite.vw.text.examples import spans_of

NO_LABEL = float("nan")


@dataclass
class Current:
    """The current example, passed through the layers."""

    label: float = NO_LABEL
    weight: float = 1.0
    initial: float = 0.0
    tag: bytes = b""
    words: list[bytes] = field(default_factory=list)  # the words of a label that is not simple
    target: Any = None  # the value of such a label
    shared: bool = False  # its features belong to all lines that follow
    held: bool = False
    test: bool = False  # only predict
    names: dict[int, list[bytes]] | None = None
    more_names: list[bytes] = field(default_factory=list)  # of features behind those of the line
    more_audited: list[tuple[int, float, float, float]] = field(default_factory=list)  # ... outside of the table: slot,
    # value, weight, sum of squared gradients
    raw_scores: list[tuple[int, float]] | None = None  # of classes, to be written; None: nothing is
    excess: dict[int, float] = field(default_factory=dict)  # of the squares of its namespaces
    made_names: list[bytes] | None = None  # of its features, if they are not those of its line
    own: set[int] | None = None  # the namespaces that are not only in the shared line
    batch: Any = None
    line: int = 0
    counter: int = 0  # its number in the run, from 0: blank lines and the ends of passes count too

    model: int = 0  # number of the linear model
    features: int = 0
    prediction: Any = 0.0
    partial: float = 0.0  # the score before it was clipped
    loss: float = 0.0
    confidence: float = 0.0

    @property
    def labelled(self) -> bool:
        return self.label == self.label


def keep_lines(examples: Sequence[Current], batch: Batch) -> None:
    """Copy the lines of examples that are used after the batch has new content."""
    kept = Batch()
    for e in examples:
        if e.batch is batch:
            kept.extend(batch, e.line, e.line + 1)
            e.batch, e.line = kept, len(kept) - 1


def counts_of(e: Current, dropped: Callable[[int], bool]) -> dict[int, int]:
    """The number of features of each namespace that is not dropped, in order."""
    counts: dict[int, int] = {}
    for letter, begin, end in spans_of(e.batch, e.line):
        if not dropped(letter):
            counts[letter] = counts.get(letter, 0) + end - begin
    return counts


class Layer:
    """A learner over another one (its base). Class attributes declare what it is compatible with.

    option: enables it. excludes: incompatible options. compatible_with: kinds of learners that it can be combined with:
    "batches" (weights change between passes only), "lines" (multiline examples), "classes" (models side by side in one
    table). requires: the kind that all other layers must be compatible with. ensemble: it has as many base learners as
    its option says, and counts the features of an example itself. kind, output: types of labels and predictions, if
    they differ from those of the base. name: as the header shows it. predicts_first: the printed prediction is computed
    separately, before learning; None: as the base does.
    """

    option = requires = ""
    excludes: tuple[str, ...] = ()
    compatible_with: tuple[str, ...] = ()
    kind = output = name = ""
    ensemble = False
    predicts_first: bool | None = None
    increment: int
    of_lines: Any = None  # the layer that learns examples of several lines, if they are such

    @classmethod
    def enabled(cls, a: Arguments) -> bool:
        """Whether the layer is used, given that its option is set or it has none."""
        return True

    @classmethod
    def models(cls, a: Arguments) -> int:
        """The number of its base learners."""
        return int(a[cls.option]) if cls.ensemble else 1

    @classmethod
    def check(cls, a: Arguments) -> None:
        """Refuse unsupported options, beyond `excludes`."""

    @classmethod
    def prepare(cls, s: Setup) -> None:
        """Called before any layer is created."""

    @classmethod
    def over(cls, base: "Layer", s: Setup) -> "Layer":
        """Create the layer over its base."""
        return cls(base, s)

    def __init__(self, base: "Layer", s: Setup) -> None:
        self.base, self.streams = base, s.streams
        self.width = self.models(s.arguments)
        self.increment = base.increment * base.width  # models between two of the base
        self.kind, self.output = self.kind or base.kind, self.output or base.output
        self.of_lines = base.of_lines
        if self.predicts_first is None:
            self.predicts_first = base.predicts_first

    def predict(self, e: Current) -> None:
        self.base.predict(e)

    def learn(self, e: Current) -> None:
        self.base.learn(e)

    def predict_with(self, e: Current, i: int) -> None:
        """Predict with the i-th base."""
        e.model += i * self.increment
        self.base.predict(e)
        e.model -= i * self.increment

    def learn_with(self, e: Current, i: int) -> None:
        """Learn with the i-th base."""
        e.model += i * self.increment
        self.base.learn(e)
        e.model -= i * self.increment

    def end_example(self) -> None:
        """Called after each example."""
        self.base.end_example()

    def end_pass(self) -> None:
        self.base.end_pass()

    # The state of layers in a model, from the top down: as text, as bytes, and read back.

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
        """The layer of an option: this one or one below; None if there is none."""
        return self if self.option == option else self.base.layer(option)

    @property
    def bottom(self) -> "LinearLayer":
        return self.base.bottom


class Symmetric(Layer):
    """A layer with one method for predicting and learning."""

    def run(self, e: Current, learns: bool) -> None:
        raise NotImplementedError

    def predict(self, e: Current) -> None:
        self.run(e, False)

    def learn(self, e: Current) -> None:
        self.run(e, True)

    def pass_on(self, e: Current, learns: bool) -> None:
        """Predict or learn with the base."""
        if learns:
            self.base.learn(e)
        else:
            self.base.predict(e)


class LinearLayer(Layer):
    """The linear model itself: the stepper's rule."""

    kind, output = "SIMPLE", "SCALAR"
    compatible_with: tuple[str, ...] = ("lines",)
    in_batches = False  # weights change between passes only

    def __init__(self, name: str, stepper: Stepper, streams: Streams, predicts_first: bool = False) -> None:
        self.name, self.stepper, self.streams = name, stepper, streams
        self.increment = self.width = 1
        self.predicts_first = predicts_first
        self.audit: Callable[[Current], None] | None = None
        self.collect: Callable[[Current], None] | None = None
        self.example_number = 0
        self.more_squares: Callable[[Current], float] | None = None
        self.constant_places: Callable[[Current], tuple[int, int]] | None = None

    def take(self, e: Current) -> None:
        """Pass the features of an example to the stepper."""
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
        """Print warnings about the last update of a rule."""
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

    def weights_are_set(self) -> None:
        """Called when the initial weights are set."""

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

    compatible_with = ("batches", "lines", "classes")


def evaluated_loss(loss: Loss, p: float, y: float, stepper: Stepper) -> float:
    """The loss of a prediction. The squared one grows linearly outside of the labels seen."""
    low, high = stepper.min_label, stepper.max_label
    if low <= p <= high or not isinstance(loss, Squared):
        return float(loss(p, y))
    edge = low if p < low else high
    return float((y - edge) ** 2 + 2 * (y - edge) * (edge - p))
