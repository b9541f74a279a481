"""Passes over a file: the candidates, their scores of examples that were not learned, and which of them is the model.

A candidate is a normalization of the values with a learning-rate grid of its own (lanes). After each pass the examples
are scored by lanes that never learn them, and the scores are stacked. A pass is as good as its out-of-fold loss.

From LARGE examples on a tenth of them is held out in place of folds: half of the lanes do not learn it, the others
learn all examples, and the model is the mean of both. Candidates learn a sample first, and those that are not within
CLOSE of the best one there end. Where most labels are equal, what counts is how many are not: a tenth with few of
these has a loss by chance.

The least of many losses is less than what it stands for, which matters where examples are few. So below NESTED
examples the loss that is reported is that of nested choices: for each fold, normalization, pass and stack are
chosen without its examples, and judged by them.
"""

import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import field, replace
from itertools import compress, repeat
from typing import Any, NamedTuple

from vwlite.core.auto.folds import folds_of, folds_of_groups
from vwlite.core.auto.lanes import Lanes
from vwlite.core.auto.screening import difference_of, losses_of_tenths, row_losses
from vwlite.core.auto.stack import Scored, folds_in_order, gathered, stacked_scores
from vwlite.core.auto.summary import DataSummary
from vwlite.core.learn.losses import Loss
from vwlite.records import record
from vwlite.training.auto.data import DrawnExamples

RATES = (1.0, 8.0, 2.0, 32.0)  # of gd, gd, nsgd, nsgd
LARGE_RATES = (1.0, 8.0, 32.0, 512.0)  # those of nsgd fall with the root of the examples, of which there are many
KINDS = len(RATES)
COLUMNS = 2 * KINDS  # scores of an example: by the last weights of each kind, then by their means
STATE = COLUMNS + 3  # numbers of a feature after a pass
FOLDS = 4
HELD_OUT = 10  # one of so many examples
IS_FIRST = bytes([1]) + bytes(255)  # 1 for fold 0
HELD_OUT_FOLDS = 2  # the first one is held out, the second one empty
LARGE = 50_000  # examples
RARER = 100  # with another label than most, that are needed among examples that judge; and of each class
SAMPLE = 30_000  # of the examples, that candidates learn first,
JUDGED = 10_000  # ... and that they are judged by,
SAMPLE_PASSES = 3  # ... in so many passes
CLOSE = 1.001  # times the least loss
STRENGTH = 5.0  # of the penalty that keeps the stack near the best column
MOST_SCORED = 1_000_000  # examples that are scored for the stack
NESTED = 1000  # examples below which choices are nested
PATIENCE = 2  # passes without gain after which a candidate ends
LEAST_GAIN = 1e-4  # relative
MOST_BY_FOLD = 1 << 16  # features of which the weights of each fold are kept
LARGE_GAIN = 1e-3  # of large data, below which passes end
RACE: Mapping[int, float] = {1: 1.10, 3: 1.05}  # after this pass, candidates with a loss above this times the least end
LARGE_RACE: Mapping[int, float] = {1: 1.0}


def most_passes(examples: int) -> int:
    """How many passes there are at most."""
    return 60 if examples < 3000 else 20 if examples < 12000 else 8


def are_many(examples: int, rarer: int) -> bool:
    """Whether a tenth of the examples is enough to judge by: of a rare label, too."""
    return examples >= LARGE and rarer >= HELD_OUT * RARER


def has_sample(examples: int, rarer: int) -> bool:
    """Whether the first ones of many examples are enough to judge by."""
    return rarer * JUDGED >= RARER * examples


def are_various(contents: Any, mask: Any) -> bool:
    """Whether masked examples are RARER different ones, or all that there are."""
    seen = set()
    for content in compress(contents, mask):
        seen.add(content)
        if len(seen) == RARER:
            return True
    return all(content in seen for content in contents)


def is_tenth(held: int, all_: int) -> bool:
    """Whether one of HELD_OUT is held out, about."""
    return all_ <= 2 * HELD_OUT * held <= 4 * all_


def kinds_of(rates: Sequence[float]) -> list[str]:
    """The names of the kinds of lanes; empty: there is none, as its rate is 0."""
    return [f"{'gd' if k < 2 else 'nsgd'}({rate:g})" if rate else "" for k, rate in enumerate(rates)]


def columns_of(rates: Sequence[float]) -> list[str]:
    """The names of the scores."""
    kinds = kinds_of(rates)
    return kinds + [kind and f"mean of {kind}" for kind in kinds]


def by_column(rates: Sequence[float], values: Sequence[Any]) -> dict[str, Any]:
    """Values of the scores, by the names of those that there are. Of several quantiles, lists of them."""
    each = values if len(values) == COLUMNS else [values[c::COLUMNS] for c in range(COLUMNS)]
    return {name: value for name, value in zip(columns_of(rates), each, strict=True) if name}


@record(frozen=True)
class LabelScale:
    """How labels are learned: as (y - mean) / scale. Losses and weights are those of such labels.

    loss_scale: a loss of them times this is a loss of the labels as they are.
    """

    mean: float = 0.0
    scale: float = 1.0
    initial_scale: float = 1.0
    loss_scale: float = 1.0


@record(frozen=True)
class PassResult:
    """A candidate after a pass: the out-of-fold loss, and the weights of the columns that give it."""

    number: int
    loss: float
    best: int  # the column with the least loss
    losses: list[float]  # of the columns
    stacked: float  # the loss of the stack, by cross-fitting
    u: list[float]
    halves: tuple[list[float], list[float]] | None = None  # u of the two halves of a stack; None: one column alone
    offsets: Sequence[float] = ()  # of a stack of several classes
    gain: float | None = None  # relative, over the best pass before

    @property
    def is_stacked(self) -> bool:
        return self.halves is not None


@record(frozen=True)
class Nest:
    """The examples of a fold, and the others, by which a choice is made: as masks. halves: of the others."""

    fold: bytearray
    rest: bytearray
    halves: tuple[bytearray, bytearray]


@record(frozen=True)
class NestedChoice:
    """The best pass of a candidate without a fold. loss: of the others. total: the sum of the losses of the fold."""

    loss: float
    total: float


@record
class PassState:
    """What is kept of the best pass: features, and STATE numbers for each; the state of the two kinds of gd. by_fold:
    of few features, the weights of the models that have not learned a fold, [features * folds]."""

    keys: Any
    columns: Any
    scalars: list[dict[str, float]]  # with classes, of each of them one after the other
    by_fold: Any = None


@record
class GridCandidate:
    """A normalization, its lanes, and its passes so far."""

    name: str
    new_lanes: Callable[[], Lanes]
    lanes: Lanes | None = None  # None: before the first pass, and when it waits for memory
    passes: list[PassResult] = field(default_factory=list)
    best: PassResult | None = None
    kept: PassState | None = None
    predictions: Any = None  # out of fold, of the best pass
    of_best_column: Any = None  # the same of its best column
    nested: list[NestedChoice] = field(default_factory=list)  # of each fold
    nested_predictions: Any = None  # of each example, by what is chosen without its fold
    ended: bool = False
    rates: Sequence[float] = RATES

    def restart(self) -> None:
        """Begin again with the first pass. What is known of passes stays known."""
        self.lanes = self.new_lanes()


class Drawn(NamedTuple):
    """Examples in drawn order, and what is known of them in the order of the file. groups: in place of those of the
    summary."""

    summary: DataSummary
    examples: DrawnExamples
    groups: Any = None


class Selection:
    """The race of the candidates. Everything about examples is in drawn order.

    Examples are scored by the lanes of their fold, which do not learn it. If there are others to validate with, these
    are scored, and all lanes learn all examples. is_large: the examples are many. holds_out: a tenth of them is scored,
    and the others are in no fold; without effect if these are no fair tenth. ends_early: a pass that gains less than
    LARGE_GAIN is the last one; so it is of many examples.
    """

    classes = 1  # or quantiles, that have scores

    def __init__(
        self, loss: Loss, labels: LabelScale, data: Drawn, validation: Drawn | None = None, *, is_large: bool = False,
        holds_out: bool = False, ends_early: bool = False,
    ) -> None:
        self.loss, self.labels, self.examples = loss, labels, data.examples
        self.keeps = True  # lanes remember where the features of batches are
        self.stopped = False  # set by another thread: end without the pass that is under way
        self.number = self.racing = self.learned = 0  # the pass, its candidates, and examples that they have learned
        self.is_large = is_large
        self.race, self.ends_early = LARGE_RACE if is_large else RACE, is_large or ends_early
        self.holds_out = holds_out and self._deal(data, 0)
        folds = 1 if self.holds_out or validation is not None else FOLDS
        if not self.holds_out:
            self._deal(data, folds)
        self._halved = range(folds)  # the folds of which each half of the stack has half
        self.folds = bytearray(len(self.folds_in_file))
        folds_in_order(self.folds_in_file, data.examples.order, self.folds)
        if self.holds_out:
            validation = Drawn(data.summary, data.examples.chosen(self.folds.translate(IS_FIRST)))
        self._judge_by(validation or data, bytes(len(validation.examples.order)) if validation else self.folds)
        self._nests: list[Nest] = []
        if validation is None and len(self._y) == len(self.folds) < NESTED:
            nests = (self._nest(fold) for fold in range(folds))
            self._nests = [nest for nest in nests if any(nest.fold) and any(nest.rest)]

    def _deal(self, data: Drawn, folds: int) -> bool:
        """Deal the examples into so many folds. 0: whether a tenth is held out by which they can be judged: it may be
        another part, of all or of the rarer labels, if there are few different examples, or a file is sorted."""
        known, groups = data.summary, data.groups
        self.folds_in_file = found = bytearray(known.examples)
        if known.grouped or groups is not None:
            folds_of_groups(known.contents if groups is None else groups, found, folds)
        else:
            folds_of(known.contents, known.feature_counts, known.labels, found, folds)
        if folds:
            return True
        is_fair = is_tenth(found.count(0), len(found)) and is_tenth(known.rarer(found), known.rarer())
        return is_fair and are_various(known.contents, found.translate(IS_FIRST))

    def _judge_by(self, judge: Drawn, folds: Any) -> None:
        """Set the examples that are scored. folds: of each of them."""
        self.judge, self._judged_folds, labels = judge, folds, self.labels
        summary, order = judge.summary, judge.examples.order
        scored = min(len(order), MOST_SCORED // self.classes)
        self._y, self._h, self._initial = (array("d", bytes(8 * scored)) for _ in range(3))
        gathered(summary.labels, order, self._y, labels.mean, labels.scale)
        gathered(summary.importances, order, self._h)
        gathered(summary.initials, order, self._initial, 0, labels.initial_scale)
        self._all_initial = self._initial
        if scored < len(order):
            self._all_initial = array("d", bytes(8 * len(order)))
            gathered(summary.initials, order, self._all_initial, 0, labels.initial_scale)
        self._scored_folds = bytes(folds[:scored])
        self._halves = halves(self._scored_folds, self._halved)

    def of_sample(self) -> "Selection":
        """That of the first examples only, with the same folds, which are judged by the first ones that are judged: by
        all of them if these are in folds, as each of them is to be predicted."""
        found = copy(self)
        found.examples = self.examples.first(SAMPLE)
        found.race = RACE
        summary, judged, _ = self.judge
        most = SAMPLE if judged is self.examples else JUDGED
        found._judge_by(Drawn(summary, judged.first(most)), self._judged_folds[:most])
        return found

    def _nest(self, fold: int) -> Nest:
        inside = bytearray(f == fold for f in self._scored_folds)
        others = [f for f in range(FOLDS) if f != fold]
        return Nest(inside, bytearray(1 - x for x in inside), halves(self._scored_folds, others))

    @property
    def width(self) -> int:
        """How many predictions an example has."""
        return self.classes

    @property
    def share(self) -> float:
        """Which share of the examples of the pass is learned, about: candidates learn at the same time."""
        return min(self.learned / max(self.racing * len(self.folds), 1), 1.0)

    @property
    def order(self) -> Any:
        """For each prediction of a candidate, which of the examples it is of."""
        return self.judge.examples.order

    def run(
        self, candidates: Sequence[GridCandidate], passes: int, threads: int,
        after: Callable[[int, list[GridCandidate]], None] = lambda number, ran: None, first: int = 1,
    ) -> GridCandidate | None:
        """The best candidate, all of them side by side. after: called after each pass. first: the number of the first
        pass; the candidates have run those before."""
        from concurrent.futures import ThreadPoolExecutor  # not at the top: few examples need no race

        for c in candidates if first == 1 else ():
            c.restart()
        with ThreadPoolExecutor(threads) as pool:
            for number in range(first, passes + 1):
                racing = [c for c in candidates if not c.ended]
                if not racing:
                    break
                self.number, self.racing, self.learned = number, len(racing), 0
                for _ in pool.map(self._one_pass, racing, repeat(number)):
                    pass
                if self.stopped:
                    break
                drop(candidates, number, self.race)
                after(number, racing)
        return best_of(candidates)

    def run_in_turn(
        self, candidates: Sequence[GridCandidate], passes: int,
        after: Callable[[int, list[GridCandidate]], None] = lambda number, ran: None,
    ) -> GridCandidate | None:
        """As `run`, with the same result, in the memory of one candidate: those that stay in the race begin again."""
        for limit in sorted({*(min(number, passes) for number in self.race), passes}):
            for c in [c for c in candidates if not c.ended]:
                c.restart()
                for number in range(1, limit + 1):
                    if not (c.ended or self.stopped):
                        is_new = number > len(c.passes)
                        self.number, self.racing, self.learned = number, 1, 0
                        self._one_pass(c, number)
                        if is_new and not self.stopped:
                            after(number, [c])
                c.lanes = None
            drop(candidates, limit, self.race)
        return best_of(candidates)

    def _one_pass(self, c: GridCandidate, number: int) -> None:
        assert c.lanes is not None
        labels, at = self.labels, 0
        folds, keep = memoryview(self.folds), self.keeps and self.examples.in_memory
        for batch in self.examples.batches():
            if self.stopped:
                return
            c.lanes.learn(
                batch, folds[at : at + len(batch)], mean=labels.mean, scale=labels.scale,
                initial_scale=labels.initial_scale, keep=keep,
            )
            at += len(batch)
            self.learned += len(batch)
        if number <= len(c.passes):
            return  # it is the same as before
        scored = self._scored(c)
        result = self._stacked(scored, number, None, self._halves)
        if c.best is not None and c.best.loss:
            result = replace(result, gain=1 - result.loss / c.best.loss)
        c.passes.append(result)
        self._choose_nested(c, scored, number)
        if c.best is None or is_better(result.loss, c.best.loss):
            before = c.predictions
            c.best, c.kept = result, kept(c.lanes, result.u)
            c.predictions, c.of_best_column = self._predicted(c.lanes, scored, result)
            c.ended = self.ends_early and before is not None and not self._is_worth_it(before, c.predictions)
        elif self.ends_early or number - c.best.number >= PATIENCE:
            c.ended = True

    def _is_worth_it(self, before: Any, after: Any) -> bool:
        """Whether a pass has gained so much, or maybe has, that another one is worth its time."""
        n = len(self._y)
        losses, others = (self._losses_of(x[: self.width * n]) for x in (after, before))
        total, difference, error = difference_of(losses, others, self._h, array("I", range(n)))
        return bool(-difference + error >= LARGE_GAIN * total)

    def constant_loss(self, constants: Sequence[float]) -> float:
        """That of constant scores, one for each class, of the examples by which passes are judged."""
        n = len(self._y)
        losses = self._losses_of(self._constant_predictions(constants))
        return float(difference_of(losses, losses, self._h, array("I", range(n)))[0])

    def loss_with(self, c: GridCandidate, result: PassResult) -> float:
        """The loss of a candidate after its last pass, with the stack of another result."""
        return float(self._scored(c).loss_of([*result.u, *result.offsets])) / sum(self._h)

    def losses_of_tenths(self, predictions: Any) -> list[tuple[float, float]]:
        """Of each tenth of the data in the order of the file, the loss of these predictions and its standard error."""
        n = len(self._y)
        losses = self._losses_of(predictions[: self.width * n])
        found: list[tuple[float, float]] = losses_of_tenths(losses, self._h, self.order[:n], len(self.folds))
        return found

    def _constant_predictions(self, constants: Sequence[float]) -> Any:
        return array("d", (constant + initial for initial in self._initial for constant in constants))

    def _losses_of(self, predictions: Any) -> Any:
        """Of each example of the stack."""
        return row_losses(self.loss, predictions, self._y)

    def _scored(self, c: GridCandidate) -> Any:
        """The examples of the stack, with the scores of the lanes of a candidate that do not learn them."""
        assert c.lanes is not None
        scores, _ = next(self._scores(c.lanes, len(self._y)))
        return Scored(self.loss, scores, self._y, self._h, self._initial)

    def _scores(self, lanes: Lanes, size: int) -> Iterator[tuple[Any, int]]:
        """The scores of so many examples, and how many they are; then of as many again, until all are scored."""
        width, folds, at, filled = self.classes * COLUMNS, memoryview(self._judged_folds), 0, 0
        scores = memoryview(array("f", bytes(4 * width * size)))
        keep = self.keeps and self.judge.examples.in_memory
        for batch in self.judge.examples.batches():
            begin = 0
            while begin < len(batch):
                end = min(len(batch), begin + size - filled)
                count, is_whole = end - begin, end - begin == len(batch)
                part = batch if is_whole else batch.part(begin, end)
                rows = slice(width * filled, width * (filled + count))
                lanes.score(part, folds[at : at + count], scores[rows], keep=keep and is_whole)
                begin, at, filled = end, at + count, filled + count
                if filled == size:
                    yield scores, filled
                    filled = 0
        if filled:
            yield scores, filled

    def _stacked(self, scored: Any, number: int, rows: Any, halves: tuple[Any, Any]) -> PassResult:
        """The result of a pass for these rows, and their halves."""
        losses = [loss if math.isfinite(loss) else math.inf for loss in scored.losses(rows)]
        best = min(range(len(losses)), key=losses.__getitem__)
        alone = [float(c == best) for c in range(len(losses))]
        first, second = halves
        from_first, from_second = fitted(scored, alone, first), fitted(scored, alone, second)
        total = scored.loss_of(from_first, second) + scored.loss_of(from_second, first)
        stacked = total / (sum(self._h) if rows is None else sum(compress(self._h, rows)))
        u = fitted(scored, alone, rows) if stacked < losses[best] else alone
        if u is alone:
            return PassResult(number, losses[best], best, losses, stacked, alone)
        width = COLUMNS
        return PassResult(number, stacked, best, losses, stacked, u[:width], (from_first, from_second), u[width:])

    def _choose_nested(self, c: GridCandidate, scored: Any, number: int) -> None:
        """Choose among the passes so far without each fold."""
        if number == 1:
            c.nested = [NestedChoice(math.inf, math.inf) for _ in self._nests]
            c.nested_predictions = array("d", bytes(8 * self.width * len(self._y)))
        for k, nest in enumerate(self._nests):
            result = self._stacked(scored, number, nest.rest, nest.halves)
            if is_better(result.loss, c.nested[k].loss):
                u = [*result.u, *result.offsets]
                c.nested[k] = NestedChoice(result.loss, scored.loss_of(u, nest.fold))
                scored.predictions(u, c.nested_predictions, nest.fold)

    def reported(self, candidates: Sequence[GridCandidate], best: GridCandidate) -> GridCandidate:
        """The best candidate, with the loss and the predictions to report."""
        if not self._nests:
            return best
        assert best.best is not None
        total, found = 0.0, array("d", best.predictions)
        for k, nest in enumerate(self._nests):
            c = min((c for c in candidates if c.nested), key=lambda c: c.nested[k].loss)
            total += c.nested[k].total
            for i in compress(range(len(nest.fold)), nest.fold):
                part = slice(self.width * i, self.width * (i + 1))
                found[part] = c.nested_predictions[part]
        return replace(best, best=replace(best.best, loss=total / sum(self._h)), predictions=found)

    def _predicted(self, lanes: Lanes, scored: Any, result: PassResult) -> tuple[Any, Any]:
        """The out-of-fold predictions of all examples, and those by the best column alone. Each is by the stack of the
        half that it is not in, or by the whole stack if no stack has seen it."""
        n, width, size, at = len(self._y), self.width, len(self._judged_folds), 0
        alone, whole = [float(c == result.best) for c in range(COLUMNS)], [*result.u, *result.offsets]
        found, of_column = (memoryview(array("d", [0.0]) * (width * size)) for _ in range(2))
        scored.predictions(alone, of_column[: width * n])
        if result.halves is None:
            scored.predictions(whole, found[: width * n])
        else:
            for u, half in zip(reversed(result.halves), self._halves, strict=True):
                scored.predictions(u, found[: width * n], half)
        if n < size:
            for scores, count in self._scores(lanes, n):
                if at:
                    part = slice(width * at, width * (at + count))
                    self._predict(scores, alone, at, of_column[part])
                    self._predict(scores, whole, at, found[part])
                at += count
        return found, of_column

    def _predict(self, scores: Any, u: Sequence[float], at: int, out: Any) -> None:
        """Fill in predictions from those of example `at` on, by their scores."""
        stacked_scores(self.loss, scores, u, memoryview(self._all_initial)[at : at + len(out)], out)


def fitted(scored: Any, alone: list[float], rows: Any = None) -> list[float]:
    """The stack; the best column alone where the stack turns it round: it has then learned how folds differ."""
    u: list[float] = scored.fit(alone, STRENGTH, rows)
    return alone if scored.turns_round(u, alone, rows) else u


def drop(candidates: Sequence[GridCandidate], number: int, race: Mapping[int, float]) -> None:
    """End the candidates that are too far behind after a pass, and forget what a model of them would be made of."""
    losses = [c.best.loss for c in candidates if c.best is not None]
    for c in candidates:
        if number in race and c.best is not None and c.best.loss > race[number] * min(losses):
            c.ended = True
            c.lanes = c.kept = c.predictions = c.of_best_column = None


def close_ones(candidates: Sequence[GridCandidate]) -> list[str]:
    """The names of those within CLOSE of the best one. Of several with equal losses, only the first."""
    least = min(c.best.loss for c in candidates if c.best is not None)
    found: dict[str, float] = {}
    for c in candidates:
        loss = c.best.loss if c.best is not None else math.inf
        if loss <= CLOSE * least and all(abs(loss - other) > LEAST_GAIN * least for other in found.values()):
            found[c.name] = loss
    return list(found)


def best_of(candidates: Sequence[GridCandidate]) -> GridCandidate | None:
    """The candidate with the least loss, of equal ones the first; None before each of them has finished a pass."""
    if not all(c.passes for c in candidates):
        return None
    return min((c for c in candidates if c.best is not None), key=lambda c: c.best.loss, default=None)  # type: ignore


def is_better(loss: float, least: float) -> bool:
    """Whether a loss is less than the least one so far, by more than what does not count."""
    return loss < least * (1 - LEAST_GAIN)


def halves(folds: Sequence[int], among: Sequence[int]) -> tuple[bytearray, bytearray]:
    """The examples of the first half of these folds, and of the second; every second one if a half would be empty."""
    middle = len(among) // 2
    first, second = (bytearray(fold in some for fold in folds) for some in (among[:middle], among[middle:]))
    if any(first) and any(second):
        return first, second
    of_folds = [i for i, fold in enumerate(folds) if fold in among]
    for mask, some in ((first, of_folds[::2]), (second, of_folds[1::2])):
        mask[:] = bytes(len(mask))
        for i in some:
            mask[i] = 1
    return first, second


def kept(lanes: Lanes, u: Sequence[float]) -> PassState:
    """u: of the columns of a score."""
    n = len(lanes)
    keys = array("I", bytes(4 * n))
    columns = array("f", [0.0]) * (STATE * n * lanes.classes)
    lanes.weights(keys, columns)
    by_fold = None
    if lanes.classes == 1 and lanes.folds == FOLDS and n <= MOST_BY_FOLD:
        by_fold = array("d", bytes(8 * n * FOLDS))
        lanes.fold_weights(u, by_fold)
    scalars = [lanes.scalars(kind, k) for k in range(lanes.classes) for kind in range(2)]
    return PassState(keys, columns, scalars, by_fold)
