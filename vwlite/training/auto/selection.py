"""Passes over files: the candidates, their scores of examples that they do not learn, and the choice of the model.

A candidate is a normalization of the values, with lanes: learners with the rates of a grid; or ridge regression. After
each pass, examples are scored by lanes that never learn them, and a stack combines the scores. Passes are compared by
out-of-fold loss.

From LARGE examples on, a tenth of them is held out in place of folds: half of the lanes do not learn it, the others
learn all examples, and the model is the mean of both. Candidates learn a sample first; those whose loss there is not
within CLOSE of the least one end. If most labels are equal, the number of other labels counts: if a tenth has few of
these, its loss is mostly chance.

The least of several losses is biased downwards, most if examples are few (selection bias). So below NESTED examples the
reported loss is that of nested cross validation: for each fold, normalization, pass and stack are chosen without its
examples, and scored on them.
"""

import math
from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import field, replace
from itertools import compress, repeat
from typing import Any, NamedTuple, Protocol

from vwlite.core.auto.folds import folds_of, folds_of_groups
from vwlite.core.auto.screening import difference_of, losses_of_tenths, row_losses
from vwlite.core.auto.stack import Scored, folds_in_order, gathered, stacked_scores
from vwlite.core.auto.summary import DataSummary
from vwlite.core.data.batch import Batch
from vwlite.core.learn.losses import Loss
from vwlite.records import record
from vwlite.training.auto.data import DrawnExamples

RATES = (1.0, 8.0, 2.0, 32.0)  # of gd, gd, nsgd, nsgd
LARGE_RATES = (1.0, 8.0, 32.0, 512.0)  # steps of nsgd fall with the root of the number of examples
KINDS = len(RATES)
COLUMNS = 2 * KINDS  # scores of an example: by the last weights of each kind, then by their averages
STATE = COLUMNS + 3  # numbers of a feature after a pass
FOLDS = 4
FOLDS_OF_FEW = bytes([0, 3, 1]) + bytes(253)  # of two or three groups: one in each half, and in each parity
RIDGE = "ridge"  # the candidate of ridge regression
STRENGTHS: Mapping[str, Sequence[float]] = {  # of its penalty, by loss
    "squared": (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 3e-3, 1e-5),
    "logistic": (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 3e-3),  # less makes weights huge where a line divides the labels
}
CENTERED = ("center", RIDGE)  # candidates whose dense columns are centered
RIDGE_BETTER = 0.95  # ridge regression is taken if its loss is less than this times that of the other candidates
HELD_OUT = 10  # one of so many examples is held out
IS_FIRST = bytes([1]) + bytes(255)  # a table for bytes.translate: 1 for fold 0
HELD_OUT_FOLDS = 2  # the first one is held out, the second one is empty
LARGE = 50_000  # examples
RARER = 100  # scored examples without the most frequent label, and examples of each class, that are needed
SAMPLE = 30_000  # examples that candidates learn first, ...
JUDGED = 10_000  # ... scored on so many, ...
SAMPLE_PASSES = 3  # ... in so many passes
CLOSE = 1.001  # times the least loss
STRENGTH = 5.0  # of the penalty on the distance between the stack and the best column
MOST_SCORED = 1_000_000  # examples that are scored for the stack
NESTED = 1000  # below so many examples, choices are nested
PATIENCE = 2  # a candidate ends after so many passes without gain
LEAST_GAIN = 1e-4  # relative
MOST_BY_FOLD = 1 << 16  # with more features, the weights of each fold are not kept
LARGE_GAIN = 1e-3  # large data: passes end if one gains less (relative)
RACE: Mapping[int, float] = {1: 1.10, 3: 1.05}  # after this pass, candidates with a loss above this times the least end
LARGE_RACE: Mapping[int, float] = {1: 1.0}


def most_passes(examples: int) -> int:
    """The largest number of passes."""
    return 60 if examples < 3000 else 20 if examples < 12000 else 8


def are_many(examples: int, rarer: int) -> bool:
    """Whether a tenth of the examples is enough to compare candidates, if a label is rare, too."""
    return examples >= LARGE and rarer >= HELD_OUT * RARER


def has_sample(examples: int, rarer: int) -> bool:
    """Whether JUDGED of many examples are enough to compare candidates."""
    return rarer * JUDGED >= RARER * examples


def are_various(contents: Any, mask: Any) -> bool:
    """Whether the masked examples are RARER different ones, or no others exist."""
    seen = set()
    for content in compress(contents, mask):
        seen.add(content)
        if len(seen) == RARER:
            return True
    return all(content in seen for content in contents)


def is_tenth(held: int, all_: int) -> bool:
    """Whether about one of HELD_OUT is held out: at least half and at most twice that share."""
    return all_ <= 2 * HELD_OUT * held <= 4 * all_


def kinds_of(rates: Sequence[float]) -> list[str]:
    """The names of the kinds of lanes; "" if there is no lane, because the rate is 0."""
    return [f"{'gd' if k < 2 else 'nsgd'}({rate:g})" if rate else "" for k, rate in enumerate(rates)]


def columns_of(rates: Sequence[float]) -> list[str]:
    """The names of the scores. rates: strengths of ridge regression, if they are as many."""
    if len(rates) == COLUMNS:
        return [f"ridge({strength:g})" for strength in rates]
    kinds = kinds_of(rates)
    return kinds + [kind and f"mean of {kind}" for kind in kinds]


def by_column(rates: Sequence[float], values: Sequence[Any]) -> dict[str, Any]:
    """Values of the columns by name, without those that have no lane; for several quantiles, lists of values."""
    each = values if len(values) == COLUMNS else [values[c::COLUMNS] for c in range(COLUMNS)]
    return {name: value for name, value in zip(columns_of(rates), each, strict=True) if name}


@record(frozen=True)
class LabelScale:
    """The scale of labels: (y - mean) / scale is learned. Losses and weights are for such scaled labels.

    loss_scale: a loss of scaled labels times this is the loss of the labels.
    """

    mean: float = 0.0
    scale: float = 1.0
    initial_scale: float = 1.0
    loss_scale: float = 1.0


@record(frozen=True)
class PassResult:
    """The result of a candidate after a pass: the out-of-fold loss, and the weights of the columns with this loss."""

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
    """The examples of a fold, and the others, which choose without it. All are masks. halves: of the others."""

    fold: bytearray
    rest: bytearray
    halves: tuple[bytearray, bytearray]


@record(frozen=True)
class NestedChoice:
    """The best pass of a candidate without a fold. loss: of the other folds. total: the sum of losses in the fold."""

    loss: float
    total: float


@record
class PassState:
    """The state after the best pass: keys of features, STATE numbers for each (columns), and the numbers of the two
    kinds of gd. by_fold: the weights of the models that have not learned a fold, [features * folds]; None if there are
    many features."""

    keys: Any
    columns: Any
    scalars: list[dict[str, float]]  # of several classes: one class after the other
    by_fold: Any = None


class Learned(Protocol):
    """What a candidate learns: `Lanes`, which say what the methods do, or `Ridge`."""

    @property
    def classes(self) -> int: ...
    @property
    def folds(self) -> int: ...
    @abstractmethod
    def __len__(self) -> int: ...
    @abstractmethod
    def learn(
        self, batch: Batch, folds: Any, *, mean: float = 0, scale: float = 1, initial_scale: float = 1,
        keep: bool = False,
    ) -> None: ...
    @abstractmethod
    def score(self, batch: Batch, folds: Any, scores: Any, *, keep: bool = False) -> None: ...
    @abstractmethod
    def weights(self, keys: Any, columns: Any) -> None: ...
    @abstractmethod
    def fold_weights(self, u: Any, out: Any) -> None: ...
    @abstractmethod
    def scalars(self, kind: int, k: int = 0) -> dict[str, float]: ...


@record
class GridCandidate:
    """A normalization and its lanes, or ridge regression, and the passes so far. rates: of lanes, or strengths."""

    name: str
    new_lanes: Callable[[], Learned]
    lanes: Learned | None = None  # None: before the first pass, and to free memory
    passes: list[PassResult] = field(default_factory=list)
    best: PassResult | None = None
    kept: PassState | None = None
    predictions: Any = None  # out of fold, of the best pass
    of_best_column: Any = None  # the same of its best column
    nested: list[NestedChoice] = field(default_factory=list)  # of each fold
    nested_predictions: Any = None  # of each example, by the choice without its fold
    ended: bool = False
    rates: Sequence[float] = RATES

    @property
    def centers(self) -> bool:
        """Whether dense columns are learned without their means."""
        return self.name in CENTERED

    def restart(self) -> None:
        """Begin again with the first pass; the results of passes stay."""
        self.lanes = self.new_lanes()


AfterPass = Callable[[int, list[GridCandidate]], None]  # takes the number of the pass, and its candidates


class Drawn(NamedTuple):
    """Examples in drawn order, and their summary in the order of the file. groups: in place of those of the summary."""

    summary: DataSummary
    examples: DrawnExamples
    groups: Any = None


class Selection:
    """The race of the candidates. All arrays of examples are in drawn order.

    Examples are scored by the lanes that do not learn their fold. With `validation`, its examples are scored, and all
    lanes learn all examples. is_large: the examples are many. holds_out: a tenth of the examples is scored, and the
    others are in no fold; ignored if that tenth is not representative. ends_early: a pass that gains less than
    LARGE_GAIN is the last one; always so if is_large.
    """

    classes = 1  # the number of scores of an example: of classes or quantiles

    def __init__(
        self, loss: Loss, labels: LabelScale, data: Drawn, validation: Drawn | None = None, *, is_large: bool = False,
        holds_out: bool = False, ends_early: bool = False,
    ) -> None:
        self.loss, self.labels, self.examples = loss, labels, data.examples
        self.keeps = True  # lanes store the places of the features of batches
        self.stopped = False  # set by another thread: end and discard the current pass
        self.number = self.racing = self.learned = 0  # the pass, its candidates, and the examples that they learned
        self.is_large = is_large
        self.race, self.ends_early = LARGE_RACE if is_large else RACE, is_large or ends_early
        self.holds_out = holds_out and self._hold_out(data)
        folds = 1 if self.holds_out or validation is not None else FOLDS
        if not self.holds_out:
            self._deal(data, folds)
        self._halved = range(folds)  # each half of the stack has half of these folds
        self.folds = bytearray(len(self.folds_in_file))
        folds_in_order(self.folds_in_file, data.examples.order, self.folds)
        if self.holds_out:
            validation = Drawn(data.summary, data.examples.chosen(self.folds.translate(IS_FIRST)))
        self._judge_by(validation or data, bytes(len(validation.examples.order)) if validation else self.folds)
        self._nests: list[Nest] = []
        if validation is None and self.is_nested:
            nests = (self._nest(fold) for fold in range(folds))
            self._nests = [nest for nest in nests if any(nest.fold) and any(nest.rest)]

    def _hold_out(self, data: Drawn) -> bool:
        """Hold out a tenth; whether it is representative: if there are few different examples, or a file is sorted, it
        may be another share of all, or of the rarer labels."""
        self._deal(data, 0)
        known, found = data.summary, self.folds_in_file
        is_fair = is_tenth(found.count(0), len(found)) and is_tenth(known.rarer(found), known.rarer())
        return is_fair and are_various(known.contents, found.translate(IS_FIRST))

    def _deal(self, data: Drawn, folds: int) -> None:
        """Assign the examples to so many folds. 0: hold out a tenth."""
        known, groups = data.summary, data.groups
        self.folds_in_file = found = bytearray(known.examples)
        if known.grouped or groups is not None:
            deal_groups(known.contents if groups is None else groups, found, folds)
        else:
            folds_of(known.contents, known.feature_counts, known.labels, found, folds)

    def _judge_by(self, judge: Drawn, folds: Any) -> None:
        """Set the examples that are scored. folds: the fold of each."""
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
        """The same selection on the first SAMPLE examples, with the same folds. It scores the first JUDGED examples or,
        with folds, all examples of the sample, because each needs a prediction."""
        found = copy(self)
        found.examples = self.examples.first(SAMPLE)
        found.race = RACE
        summary, judged, _ = self.judge
        most = SAMPLE if judged is self.examples else JUDGED
        found._judge_by(Drawn(summary, judged.first(most)), self._judged_folds[:most])
        return found

    @property
    def is_nested(self) -> bool:
        """Whether the reported loss is that of nested choices, if the examples are scored out of fold."""
        return len(self._y) == len(self.folds) < NESTED

    def _nest(self, fold: int) -> Nest:
        inside = bytearray(f == fold for f in self._scored_folds)
        others = [f for f in range(FOLDS) if f != fold]
        return Nest(inside, bytearray(1 - x for x in inside), halves(self._scored_folds, others))

    @property
    def width(self) -> int:
        """The number of predictions of an example."""
        return self.classes

    @property
    def share(self) -> float:
        """The learned share of the examples of a pass, about, as several candidates learn at the same time."""
        return min(self.learned / max(self.racing * len(self.folds), 1), 1.0)

    @property
    def order(self) -> Any:
        """For each prediction of a candidate, the number of its example in the order of the file."""
        return self.judge.examples.order

    def run(
        self, candidates: Sequence[GridCandidate], passes: int, threads: int, after: AfterPass, first: int
    ) -> GridCandidate | None:
        """The best candidate; all learn at the same time. after: called after each pass. first: the number of the first
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

    def run_in_turn(self, candidates: Sequence[GridCandidate], passes: int, after: AfterPass) -> GridCandidate | None:
        """As `run`, with the same result, in the memory of one candidate: the others begin again after each drop."""
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
            return  # this pass was scored before
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
        """Whether the gain of a pass, plus its standard error, is large enough for another pass."""
        n = len(self._y)
        losses, others = (self._losses_of(x[: self.width * n]) for x in (after, before))
        total, difference, error = difference_of(losses, others, self._h, array("I", range(n)))
        return bool(-difference + error >= LARGE_GAIN * total)

    def constant_loss(self, constants: Sequence[float]) -> float:
        """The loss of constant scores, one for each class, on the scored examples."""
        n = len(self._y)
        losses = self._losses_of(self._constant_predictions(constants))
        return float(difference_of(losses, losses, self._h, array("I", range(n)))[0])

    def loss_in(self, folds: Sequence[int], predictions: Any = None, constants: Sequence[float] = ()) -> float:
        """The loss of these predictions, or of constant scores, on the scored examples of these folds."""
        n = len(self._y)
        found = self._constant_predictions(constants) if predictions is None else predictions[: self.width * n]
        losses = self._losses_of(found)
        weights = array("d", (h if fold in folds else 0.0 for h, fold in zip(self._h, self._scored_folds, strict=True)))
        return float(difference_of(losses, losses, weights, array("I", range(n)))[0])

    def loss_with(self, c: GridCandidate, result: PassResult) -> float:
        """The loss of a candidate after its last pass, with the stack of another result."""
        return float(self._scored(c).loss_of([*result.u, *result.offsets])) / sum(self._h)

    def losses_of_tenths(self, predictions: Any) -> list[tuple[float, float]]:
        """The loss of these predictions in each tenth of the data, in the order of the file, and its standard error."""
        n = len(self._y)
        losses = self._losses_of(predictions[: self.width * n])
        found: list[tuple[float, float]] = losses_of_tenths(losses, self._h, self.order[:n], len(self.folds))
        return found

    def _constant_predictions(self, constants: Sequence[float]) -> Any:
        return array("d", (constant + initial for initial in self._initial for constant in constants))

    def _losses_of(self, predictions: Any) -> Any:
        """The loss of each example of the stack."""
        return row_losses(self.loss, predictions, self._y)

    def _scored(self, c: GridCandidate) -> Any:
        """The examples of the stack, with their scores by those lanes of a candidate that do not learn them."""
        assert c.lanes is not None
        scores, _ = next(self._scores(c.lanes, len(self._y)))
        return Scored(self.loss, scores, self._y, self._h, self._initial)

    def _scores(self, lanes: Learned, size: int) -> Iterator[tuple[Any, int]]:
        """The scores of at most `size` examples and their number, again and again, until all are scored."""
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
        """The result of a pass on these rows. halves: of these."""
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
        """For each fold, choose among the passes so far without its examples."""
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
            c = min((c for c in candidates if c.nested), key=lambda c: _compared(c, c.nested[k].loss))
            total += c.nested[k].total
            for i in compress(range(len(nest.fold)), nest.fold):
                part = slice(self.width * i, self.width * (i + 1))
                found[part] = c.nested_predictions[part]
        return replace(best, best=replace(best.best, loss=total / sum(self._h)), predictions=found)

    def _predicted(self, lanes: Learned, scored: Any, result: PassResult) -> tuple[Any, Any]:
        """The out-of-fold predictions of all examples, and those by the best column alone. An example is predicted by
        the stack of the half without it, or by the whole stack if that was fitted without it."""
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
        """Write predictions of examples from `at` on into `out`, by their scores."""
        stacked_scores(self.loss, scores, u, memoryview(self._all_initial)[at : at + len(out)], out)


def deal_groups(groups: Any, found: bytearray, folds: int) -> None:
    """The folds of examples of groups, of which there may be fewer than folds. OverflowError for one group."""
    count = len({*groups}) if folds > 1 else folds
    if count < min(folds, 2):
        raise OverflowError("--group: all rows are of one group, and the loss of new groups needs rows of two: leave "
                            "the option out, and --drop the column")
    folds_of_groups(groups, found, min(count, folds))
    if count < folds:
        found[:] = found.translate(FOLDS_OF_FEW)


def fitted(scored: Any, alone: list[float], rows: Any = None) -> list[float]:
    """The stack; the best column alone if the stack reverses its sign: then it has learned how the folds differ."""
    u: list[float] = scored.fit(alone, STRENGTH, rows)
    return alone if scored.turns_round(u, alone, rows) else u


def drop(candidates: Sequence[GridCandidate], number: int, race: Mapping[int, float]) -> None:
    """End the candidates with a loss that is too large after a pass, and free their state."""
    losses = [_compared(c, c.best.loss) for c in candidates if c.best is not None]
    for c in candidates:
        if number in race and c.best is not None and _compared(c, c.best.loss) > race[number] * min(losses):
            c.ended = True
            c.lanes = c.kept = c.predictions = c.of_best_column = None


def close_ones(candidates: Sequence[GridCandidate]) -> list[str]:
    """The names of candidates with a loss within CLOSE of the least one. Of several with equal losses, only the first.
    """
    least = min(c.best.loss for c in candidates if c.best is not None)
    found: dict[str, float] = {}
    for c in candidates:
        loss = c.best.loss if c.best is not None else math.inf
        if loss <= CLOSE * least and all(abs(loss - other) > LEAST_GAIN * least for other in found.values()):
            found[c.name] = loss
    return list(found)


def best_of(candidates: Sequence[GridCandidate]) -> GridCandidate | None:
    """The candidate with the least loss, the first if several have it; None until each has finished a pass."""
    if not all(c.passes for c in candidates):
        return None
    return min((c for c in candidates if c.best is not None), key=lambda c: _compared(c, c.best.loss), default=None)  # type: ignore


def _compared(c: GridCandidate, loss: float) -> float:
    """A loss of a candidate as it is compared with those of others. That of ridge regression is often nearly the same;
    then the learners that stop early are better on new rows."""
    return loss / (RIDGE_BETTER if c.name == RIDGE else 1.0)


def is_better(loss: float, least: float) -> bool:
    """Whether a loss is less than the least one so far, by at least LEAST_GAIN."""
    return loss < least * (1 - LEAST_GAIN)


def halves(folds: Sequence[int], among: Sequence[int]) -> tuple[bytearray, bytearray]:
    """Masks of the examples of the first half of these folds, and of the second; if one would be empty, of every second
    example."""
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


def kept(lanes: Learned, u: Sequence[float]) -> PassState:
    """The state of lanes after a pass. u: the weights of the columns."""
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
