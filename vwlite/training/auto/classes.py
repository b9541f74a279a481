"""Several classes: each has lanes; one stack combines their scores, which the softmax turns into probabilities."""

from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from vwlite.core.auto.folds import folds_of
from vwlite.core.auto.screening import row_log_losses
from vwlite.core.auto.softmax_stack import ClassScored
from vwlite.core.auto.stack import folds_in_order
from vwlite.core.learn.learner import Learner
from vwlite.core.learn.losses import Loss
from vwlite.model.learners import slots_of
from vwlite.training.auto.model import ScoreState
from vwlite.training.auto.selection import (
    COLUMNS,
    FOLDS,
    IS_FIRST,
    KINDS,
    Drawn,
    GridCandidate,
    LabelScale,
    Selection,
)

FEW_FOLDS = 2  # of many examples, as each class has lanes for each fold
OTHER_SEED = 1  # the halves of the stack do not depend on the folds
SHORT_RACE_FROM = 5000  # examples; passes end early then, too, and there are fewer folds, or lanes
SHORT_RACE = {1: 1.005, 2: 1.001}
MANY = 20  # classes; with more there are fewer lanes, no offsets, and a short race of any number of examples
FEW_FOR_FEATURES = 20  # examples for each feature, with which the loss still falls with more examples
FEW_RATES = (1.0, 0.0, 0.0, 64.0)
# The budget of a race, examples times passes; the second one of fewer than SHORT_RACE_FROM examples, with twice as many
# lanes, as there are more folds.
WORK, WORK_OF_FEW = 96_000, 45_000
PASSES = (8, 60)  # the least and the largest limit of their number


def are_many_classes(classes: int) -> bool:
    """Whether each class has too few examples for all lanes and an offset."""
    return classes > MANY


def most_passes_of_classes(examples: int) -> int:
    """The largest number of passes: so many that their work hardly depends on the number of examples, until these are
    enough for the least number of passes."""
    least, most = PASSES
    work = WORK if examples >= SHORT_RACE_FROM else WORK_OF_FEW
    return min(max(work // max(examples, 1), least), most)


class ClassSelection(Selection):
    """The race of the candidates. A prediction is a row of scores, one for each class.

    folds: those of the lanes. rates: of the lanes; 0: there is none. classes: the number of classes that lanes learn.
    named: how many of them, the first ones, have a name; the others take no part in the softmax. has_offsets: whether
    the stack has an offset for each class, unless they are many.
    """

    def __init__(
        self, loss: Loss, data: Drawn, validation: Drawn | None, *, folds: int, rates: Sequence[float], classes: int,
        named: int, has_offsets: bool, ends_early: bool, is_large: bool, **how: bool,
    ) -> None:
        self.has_many = are_many_classes(named)
        self._which = None if all(rates) else [c for c in range(COLUMNS) if rates[c % KINDS]]
        self.classes, self._named, self._has_offsets = classes, named, has_offsets and not self.has_many
        super().__init__(loss, LabelScale(), data, validation, ends_early=ends_early, is_large=is_large, **how)
        if not is_large and (self.has_many or ends_early):
            self.race = SHORT_RACE
        if validation is None and not self.holds_out:
            # A stack is fitted to one half and scored on the other. Each half has examples of all folds, because the
            # offsets depend on the lanes of all.
            if folds < FOLDS:
                self.folds = self._judged_folds = bytearray(fold % folds for fold in self.folds)
            elif not data.summary.grouped and data.groups is None:
                self._halve(data)

    def _halve(self, data: Drawn) -> None:
        """Set the halves of the stack, which copies do not divide."""
        known = data.summary
        found, drawn = bytearray(known.examples), bytearray(len(self._y))
        folds_of(known.contents, known.feature_counts, known.labels, found, 2, OTHER_SEED)
        folds_in_order(found, data.examples.order, drawn)
        first, second = drawn.translate(IS_FIRST), drawn
        if not (any(first) and any(second)):
            return
        self._halves = first, second
        nests = ((nest, both(nest.rest, first), both(nest.rest, second)) for nest in self._nests)
        self._nests = [replace(nest, halves=(a, b) if any(a) and any(b) else nest.halves) for nest, a, b in nests]

    @property
    def is_nested(self) -> bool:
        """Not of many classes: fits of their stack are slow, and without offsets it has few weights."""
        return super().is_nested and not self.has_many

    def of_sample(self) -> Selection:
        found = super().of_sample()
        if self.has_many:
            found.race = SHORT_RACE
        return found

    def _scored(self, c: GridCandidate) -> ClassScored:
        assert c.lanes is not None
        scores, count = next(self._scores(c.lanes, len(self._y)))
        if not self.has_many:
            return self._of(scores, count, self._y, self._h)
        return self._of(scores, count, self._y, self._h, c.passes[-1].u if c.passes else ())

    def _of(self, scores: Any, count: int, labels: Any, importances: Any, begin: Any = None) -> ClassScored:
        """The first `count` examples, with these scores."""
        scores = scores[: count * self.classes * COLUMNS]
        return ClassScored(
            scores, labels, importances, self.classes, self._named, self._has_offsets, begin=begin, which=self._which
        )

    @property
    def width(self) -> int:
        return self._named

    def _constant_predictions(self, constants: Sequence[float]) -> Any:
        return array("d", constants) * len(self._y)

    def _losses_of(self, predictions: Any) -> Any:
        return row_log_losses(predictions, self._y)

    def _predict(self, scores: Any, u: Sequence[float], at: int, out: Any) -> None:
        count = len(out) // self.width
        ones = array("d", [1.0]) * count
        self._of(scores, count, ones, ones).predictions(u, out)


def both(one: bytes | bytearray, other: bytes | bytearray) -> bytearray:
    """A mask of the examples that two masks have."""
    return bytearray(a & b for a, b in zip(one, other, strict=True))


def load_score_states(learner: Learner, keys: Any, parts: Sequence[ScoreState], low: float, high: float) -> list[float]:
    """Load the states of the first classes into a learner of `gd`; all other classes have the last of these states.
    low, high: predictions are clipped to this range. Returns the intercepts; empty if there are none."""
    rule = learner.rule
    records = rule.records
    each = [parts[min(k, len(parts) - 1)] for k in range(records)]
    fields = {}
    for name in each[0].fields:
        fields[name] = memoryview(array("f", bytes(4 * len(keys) * records)))
        for k, part in enumerate(each):
            fields[name][k::records] = part.fields[name]
    state: dict[str, list[float]] = {name: [part.state[name] for part in each] for name in each[0].state}
    rule.load({**state, "min_label": [low] * records, "max_label": [high] * records}, slots_of(rule, keys, fields))
    return [part.intercept for part in each if part.intercept is not None]
