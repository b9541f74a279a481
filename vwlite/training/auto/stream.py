"""One pass over a stream: at first all candidates learn, then the best of them alone."""

import math
import sys
from array import array
from collections.abc import Sequence
from typing import Any

from vwlite.core.auto.lanes import Lanes
from vwlite.core.auto.stack import Scored
from vwlite.core.auto.stream import Reservoir, StreamLearner, best_predictions
from vwlite.core.data.batch import Batch
from vwlite.core.learn.losses import Loss
from vwlite.records import record
from vwlite.training.auto.selection import COLUMNS, GridCandidate, LabelScale, PassResult, kept

KEPT_EXAMPLES = 12_000  # a stream is learned like a file if it has at most so many examples,
KEPT_BYTES = 1 << 26  # ... and they take at most so much memory
SIDE_BY_SIDE = 20_000  # examples that all candidates learn


@record
class StreamCandidate:
    """A normalization, and the learner of its values."""

    name: str
    learner: StreamLearner

    @property
    def loss(self) -> float:
        """The progressive loss of the stack, or of the best column if that is less."""
        return float(min(self.learner.losses))


class Stream:
    """The pass over a stream. Losses and predictions are for scaled labels."""

    def __init__(self, loss: Loss, labels: LabelScale, candidates: Sequence[tuple[str, Lanes]]) -> None:
        self._loss, self._labels = loss, labels
        self.candidates = [
            StreamCandidate(name, StreamLearner(loss, lanes, labels.mean, labels.scale, labels.initial_scale))
            for name, lanes in candidates
        ]
        self._reservoir = Reservoir(loss, labels.mean, labels.scale)

    @property
    def best(self) -> StreamCandidate:
        return min(self.candidates, key=lambda c: c.loss)

    def learn(self, batch: Batch) -> Any:
        """Learn a batch. Returns by line the prediction of its example before it was learned."""
        self._reservoir.take(batch)
        found, begin = array("d", bytes(8 * len(batch))), 0
        while begin < len(batch):
            several = len(self.candidates) > 1
            most = SIDE_BY_SIDE if several else sys.maxsize
            predictions = [array("d", bytes(8 * len(batch))) for _ in self.candidates]
            losses = [array("d", bytes(8 * len(batch))) for _ in self.candidates]
            for c, p, before in zip(self.candidates, predictions, losses, strict=True):
                end = c.learner.learn(batch, begin, most, p, before)
            best_predictions(predictions, losses, shown := array("d", bytes(8 * len(batch))))
            found[begin:end] = shown[begin:end]
            begin = end
            if several and self.candidates[0].learner.examples == SIDE_BY_SIDE:
                self.candidates = [self.best]
        return found

    def result(self) -> GridCandidate:
        """The best candidate: its stack, or the best column if that has less progressive loss."""
        return self._result_of(self.best.learner.losses, self.best.learner.stack.weights)

    def _result_of(self, losses: list[float], u: list[float]) -> GridCandidate:
        *columns, stacked = losses
        column = min(range(len(columns)), key=columns.__getitem__)
        alone = columns[column] < stacked
        weights = [float(c == column) for c in range(len(columns))] if alone else u
        result = PassResult(1, min(losses), column, columns, stacked, weights, None if alone else (u, u))
        c = self.best
        lanes = c.learner.lanes
        return GridCandidate(c.name, lambda: lanes, lanes, [result], result, kept(lanes, result.u))

    @property
    def examples(self) -> int:
        """The number of examples that were learned."""
        return int(self._reservoir.seen)

    @property
    def mean_label(self) -> float:
        return float(self._reservoir.label) * self._labels.scale + self._labels.mean

    @property
    def best_constant(self) -> float:
        """The best constant prediction, for a loss where that is not the mean label."""
        return float(self._reservoir.best_constant) * self._labels.scale + self._labels.mean

    @property
    def has_one_label(self) -> bool:
        return bool(self._reservoir.least == self._reservoir.most)

    def constant_loss(self, score: float) -> float:
        """The loss of a constant score over all examples, if these have no initial predictions."""
        return float(self._reservoir.constant_loss(score))

    def state(self) -> dict[str, Any]:
        """The state of the stream, for `load`."""
        learners = {c.name: c.learner.state() for c in self.candidates}
        return {"candidates": learners, "reservoir": self._reservoir.state(), "sample": packed(self.sample())}

    def load(self, state: dict[str, Any]) -> None:
        """Restore a state in a new stream with the same candidates."""
        for c in self.candidates:
            c.learner.load(state["candidates"][c.name])
        self._reservoir.load(state["reservoir"], unpacked(state["sample"]))

    def sample(self) -> Batch:
        """A sample of all examples of the stream."""
        found: Batch = self._reservoir.batch()
        return found

    def checked(self, c: GridCandidate, batch: Batch, baseline: float) -> GridCandidate | None:
        """The model to use, by its loss on a sample of the stream: c, if it is better than the best constant, else the
        column with the least loss, or None for the constant. baseline: the loss of the constant.

        If data are in an order, as sorted by label, the progressive losses of one pass look perfect, and the model is
        bad.
        """
        assert c.best is not None and c.lanes is not None
        labels = self._labels
        n, width = len(batch), COLUMNS
        scores = array("f", bytes(4 * width * n))
        c.lanes.score(batch, bytes(n), scores)
        y = array("d", ((label - labels.mean) / labels.scale for label in batch.label))
        initial = array("d", (x / labels.initial_scale for x in batch.initial))
        scored = Scored(self._loss, scores, y, batch.importance, initial)
        if scored.loss_of(c.best.u) / sum(batch.importance) <= baseline:
            return c
        losses = scored.losses()
        return self._result_of([*losses, math.inf], c.best.u) if min(losses) < baseline else None


def packed(batch: Batch) -> bytes:
    """A batch as bytes."""
    return b"".join(batch.dump())


def unpacked(data: bytes) -> Batch:
    return Batch.view(data, 0, len(data))
