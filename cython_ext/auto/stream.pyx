"""Learning from a stream: the learning-rate grid without folds, and a stack that learns after each example.

An example is scored by last and by mean weights of all lanes, the stack predicts it from these scores and learns it, then
the lanes learn it. So losses are progressive: of predictions before learning.
"""

from libc.math cimport isfinite
from libc.stdint cimport uint64_t

from vwlite.core.auto.lanes cimport COLUMNS, Lanes, Target
from vwlite.core.auto.order cimport is_used
from vwlite.core.auto.random cimport SEED, below
from vwlite.core.auto.stack cimport OnlineStack
from vwlite.core.data.batch cimport EXAMPLE, Arrays, Batch
from vwlite.core.learn.losses cimport Loss

RESERVOIR = 2000


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
        it, of the stack or of the best column if that is less. MemoryError; ValueError for an example with too many features.
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
        if failed:
            if failed < 0:
                raise MemoryError("the learning-rate grid does not fit: use --algorithm gd, or fewer --bits")
            raise ValueError("an example has too many features")
        return line

    cdef int learn_one(self, const Arrays* a, size_t line, double* prediction, double* loss_before) noexcept nogil:
        cdef Target y
        cdef float scores[COLUMNS]
        cdef double dloss, loss
        cdef size_t c
        y.initial, y.fold = a.initial[line] / self.initial_scale, 0
        loss_before[0] = least(self.sums)
        if not is_used(a, line):
            self.lanes.score_one(&self.lanes.here[line & 1], 0, scores)
            prediction[0] = y.initial
            for c in range(COLUMNS):
                prediction[0] += self.stack.u[c] * scores[c]
            return 0
        y.label, y.importance = (a.label[line] - self.mean) / self.scale, a.importance[line]
        if self.lanes.learn_one(&self.lanes.here[line & 1], &y, scores):
            return -1
        prediction[0] = self.stack.step(scores, y.label, y.importance, y.initial)
        for c in range(COLUMNS + 1):
            loss = self.loss.evaluate(
                min(prediction[0] if c == COLUMNS else y.initial + scores[c], self.loss.largest_p), y.label, &dloss)
            if isfinite(loss):
                self.sums[c] += y.importance * loss
        self.weight += y.importance
        self.examples += 1
        return 0


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
    cdef uint64_t seen

    def __init__(self):
        self.batches, self.random = [], SEED

    def take(self, Batch batch not None):
        cdef size_t line
        cdef uint64_t place
        for line in range(batch.a.lines):
            if not is_used(&batch.a, line):
                continue
            self.seen += 1
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
