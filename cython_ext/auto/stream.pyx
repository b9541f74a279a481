"""Learning from a stream: the learning-rate grid without folds, and a stack that learns after each example.

An example is scored by last and by mean weights of all lanes, the stack predicts it from these scores and learns it, then
the lanes learn it. So losses are progressive: of predictions before learning.
"""

from libc.math cimport INFINITY, isfinite
from libc.stdint cimport uint64_t

from vwlite.core.auto.lanes cimport COLUMNS, Lanes, Target, raise_failure
from vwlite.core.auto.order cimport is_used
from vwlite.core.base.random cimport SEED, below
from vwlite.core.auto.stack cimport OnlineStack
from vwlite.core.data.batch cimport EXAMPLE, Arrays, Batch
from vwlite.core.learn.labels cimport LabelSample
from vwlite.core.learn.losses cimport Logistic, Loss, bounded

from vwlite.core.learn.labels import best_constant, constant_loss

RESERVOIR = 2000

cdef double LARGEST_LOSS = 1e200    # in place of one that is not finite


cdef class StreamLearner:
    """The lanes of a candidate and their stack. mean, scale, initial_scale: of labels, as of `Lanes.learn`."""

    cdef readonly Lanes lanes
    cdef readonly OnlineStack stack
    cdef Loss loss
    cdef double mean, scale, initial_scale
    cdef double sums[COLUMNS + 1]     # progressive losses of the columns and of the stack
    cdef double weight                # importance of the examples learned
    cdef readonly size_t examples     # learned

    def __init__(self, Loss loss not None, Lanes lanes not None, double mean=0, double scale=1, double initial_scale=1):
        if lanes.folds != 1:
            raise ValueError("a stream has no folds")
        self.loss, self.lanes, self.stack = loss, lanes, OnlineStack(loss)
        self.mean, self.scale, self.initial_scale = mean, scale, initial_scale

    @property
    def losses(self):
        """The progressive loss of each column, then that of the stack."""
        return [self.sums[c] / self.weight if self.weight else 0.0 for c in range(COLUMNS + 1)]

    def learn(self, Batch batch not None, size_t begin, size_t most, double[::1] predictions not None,
              double[::1] loss_before not None):
        """Learn the lines from `begin` on, until `most` examples have been learned in all; returns the line after the last.

        For each line that is an example: its prediction, for labels as they are learned, and the sum of the losses before
        it, of the stack or of the best column if that is less. MemoryError; OverflowError for an example that cannot be
        learned.
        """
        cdef size_t line = begin
        cdef int failed = 0
        cdef const Arrays* a = &batch.a
        if <size_t>predictions.shape[0] < a.lines or <size_t>loss_before.shape[0] < a.lines:
            raise ValueError("fewer places than lines")
        if batch.decode():
            raise MemoryError("no memory for the hashes of a batch")
        with nogil:
            while line < a.lines and self.examples < most:
                if a.kind[line] == EXAMPLE:
                    failed = self.lanes.locate(a, line, True)
                    if failed == 0:
                        failed = self.learn_one(a, line, &predictions[line], &loss_before[line])
                    if failed:
                        break
                line += 1
        raise_failure(failed, batch, line)
        return line

    cdef int learn_one(self, const Arrays* a, size_t line, double* prediction, double* loss_before) noexcept nogil:
        cdef Target y
        cdef float scores[COLUMNS]
        cdef double dloss, loss
        cdef size_t c
        cdef int failed
        y.initial, y.fold = a.initial[line] / self.initial_scale, 0
        loss_before[0] = least(self.sums)
        if not is_used(a, line):
            self.lanes.score_one(&self.lanes.here[line & 1], 0, scores)
            prediction[0] = y.initial
            for c in range(COLUMNS):
                prediction[0] += self.stack.u[c] * scores[c]
            return 0
        y.label, y.importance = (a.label[line] - self.mean) / self.scale, a.importance[line]
        failed = self.lanes.learn_one(&self.lanes.here[line & 1], &y, scores)
        if failed:
            return failed
        prediction[0] = self.stack.step(scores, y.label, y.importance, y.initial)
        for c in range(COLUMNS + 1):
            loss = self.loss.evaluate(
                bounded(self.loss, prediction[0] if c == COLUMNS else y.initial + scores[c]), y.label, &dloss)
            self.sums[c] += y.importance * (loss if isfinite(loss) else LARGEST_LOSS)
        self.weight += y.importance
        self.examples += 1
        return 0

    def state(self):
        """All that was learned, which `load` restores."""
        return {
            "lanes": self.lanes.state(), "stack": self.stack.state(), "sums": [self.sums[c] for c in range(COLUMNS + 1)],
            "weight": self.weight, "examples": self.examples,
        }

    def load(self, state):
        self.lanes.load(state["lanes"])
        self.stack.load(state["stack"])
        for c in range(COLUMNS + 1):
            self.sums[c] = state["sums"][c]
        self.weight, self.examples = state["weight"], state["examples"]


cdef double least(const double* sums) noexcept nogil:
    cdef size_t c
    cdef double found = sums[0]
    for c in range(1, COLUMNS + 1):
        found = min(found, sums[c])
    return found


def best_predictions(list predictions not None, list losses_before not None, double[::1] out not None):
    """For each line the prediction of the candidate with the least loss before it, of equal ones the first. The losses of
    the first candidate are overwritten."""
    cdef double[::1] smallest = losses_before[0]
    cdef double[::1] p, loss
    cdef Py_ssize_t i
    for k in range(len(predictions)):
        p, loss = predictions[k], losses_before[k]
        for i in range(out.shape[0]):
            if k == 0 or loss[i] < smallest[i]:
                out[i], smallest[i] = p[i], loss[i]


cdef class Reservoir:
    """A sample of the examples that can be learned: each of them is in it with the same probability (Vitter. Random
    Sampling with a Reservoir. 1985; algorithm R)."""

    cdef readonly list batches        # of one line each
    cdef uint64_t random
    cdef readonly uint64_t seen
    cdef Loss loss
    cdef double mean, scale           # labels are learned as (y - mean) / scale
    # Of the labels of all examples that can be learned:
    cdef double weight                # the sum of importances
    cdef double label_sum             # of importance * label as learned
    cdef double loss_sum              # of importance * the loss of a score of 0
    cdef LabelSample sample           # of them, for losses whose best constant no sums tell; else None
    cdef readonly double least, most

    def __init__(self, Loss loss not None, double mean=0, double scale=1):
        self.batches, self.random = [], SEED
        self.loss, self.mean, self.scale = loss, mean, scale
        self.least, self.most = INFINITY, -INFINITY
        self.sample = LabelSample() if loss.keeps_labels else None

    @property
    def label(self):
        """The mean label, as learned."""
        return self.label_sum / self.weight if self.weight else 0.0

    @property
    def best_constant(self):
        """The best constant score of a loss for which no sums tell it."""
        return best_constant(self.loss, self.sample.labels, self.sample.importances)

    def constant_loss(self, double score):
        """The mean loss of a constant score, for the labels of all examples, from their sums."""
        cdef double y, at_zero
        if self.sample is not None:
            return constant_loss(self.loss, score, self.sample.labels, self.sample.importances)
        y, at_zero = self.label, self.loss_sum / self.weight if self.weight else 0
        if isinstance(self.loss, Logistic):
            return self.loss.value(score, 1) * (1 + y) / 2 + self.loss.value(score, -1) * (1 - y) / 2
        if self.loss.power > 1:     # the difference of two scores is linear in the label
            return at_zero + (self.loss.value(score, y) - self.loss.value(0, y) if self.weight else 0)
        # The label is in a term linear in the score.
        return at_zero + self.loss.value(score, 0) - self.loss.value(0, 0) - score * y * self.loss.curvature(0, 0)

    def take(self, Batch batch not None):
        cdef size_t line
        cdef uint64_t place
        cdef double y
        for line in range(batch.a.lines):
            if not is_used(&batch.a, line):
                continue
            self.seen += 1
            y = (batch.a.label[line] - self.mean) / self.scale
            self.weight += batch.a.importance[line]
            self.label_sum += batch.a.importance[line] * y
            self.loss_sum += batch.a.importance[line] * self.loss.value(0, y)
            if self.sample is not None and self.sample.add(y, batch.a.importance[line]):
                raise MemoryError("no memory for labels")
            self.least, self.most = min(self.least, batch.a.label[line]), max(self.most, batch.a.label[line])
            if self.seen <= RESERVOIR:
                place = self.seen - 1
                self.batches.append(None)
            else:
                place = below(&self.random, self.seen)
                if place >= RESERVOIR:
                    continue
            self.batches[place] = batch.part(line, line + 1)

    def batch(self):
        """The sample as one batch."""
        found = self.batches[0].part(0, 1) if self.batches else Batch()
        for one in self.batches[1:]:
            found.extend(one, 0, 1)
        return found

    def state(self):
        """What was counted and drawn, which `load` restores with the sample."""
        return {
            "random": self.random, "seen": self.seen, "weight": self.weight, "label_sum": self.label_sum,
            "loss_sum": self.loss_sum, "least": self.least, "most": self.most,
            "sample": None if self.sample is None else self.sample.state(),
        }

    def load(self, state, Batch sample not None):
        """sample: as `batch` gives it."""
        self.random, self.seen, self.weight = state["random"], state["seen"], state["weight"]
        self.label_sum, self.loss_sum = state["label_sum"], state["loss_sum"]
        self.least, self.most = state["least"], state["most"]
        if self.sample is not None:
            self.sample.load(state["sample"])
        self.batches = [sample.part(line, line + 1) for line in range(sample.a.lines)]
