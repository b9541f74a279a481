"""A learner whose predictions are given: those that were made out of fold, or before an example was learned."""

from libc.math cimport NAN, isnan
from libc.stdint cimport uint32_t

from vwlite.core.auto.order cimport is_used
from vwlite.core.data.batch cimport EXAMPLE, Batch
from vwlite.core.data.expand cimport Expander
from vwlite.core.learn.learner cimport Learner, Reason, Turn, arranged, clipped
from vwlite.core.learn.losses cimport Loss
from vwlite.core.learn.rule cimport Rule


cdef class GivenPredictions(Learner):
    """Evaluates, counts and writes like a learner that does not learn. `give` comes before each batch.

    scale, shift: a prediction is a given score * scale + shift. With classes, each example has a score for each that has a
    name, to which its initial prediction is added; with several quantiles, one for each of them.
    """

    cdef const double[::1] scores
    cdef Batch batch
    cdef size_t at                    # the next line of it
    cdef double scale, shift

    def __init__(self, Rule rule not None, Loss loss not None, Expander expander not None, *, double scale=1, double shift=0,
                 **options):
        super().__init__(rule, loss, expander, learn=False, **options)
        self.scale, self.shift = scale, shift
        if self.multiclass:
            self.named = self.class_names.count

    def give(self, Batch batch not None, const double[::1] scores not None):
        """The scores of the lines of the next batch; NaN: the rule predicts."""
        if <size_t>scores.shape[0] != batch.a.lines * width_of(self):
            raise ValueError("as many scores as lines")
        self.batch, self.scores, self.at = batch, scores, 0

    cdef Reason predict(self, Turn* turn) noexcept nogil:
        cdef double score
        cdef size_t k
        while self.at < self.batch.a.lines and self.batch.a.kind[self.at] != EXAMPLE:
            self.at += 1
        if self.at < self.batch.a.lines and self.scores.shape[0]:      # none: no class has a name
            score = self.scores[self.at * width_of(self)]
        else:
            score = NAN
        self.at += 1
        if isnan(score):
            return Learner.predict(self, turn)
        if self.multiclass:
            for k in range(self.named):
                self.classifier.scores[k] = turn.e.initial + self.scores[(self.at - 1) * self.named + k]
            turn.raw = 0
            turn.o.p = turn.shown = self.classifier.best(self.named)
            return Reason.DONE
        turn.raw = score * self.scale + self.shift
        if turn.labelled and self.clips and turn.o.importance > 0:
            self.widen_range(turn.o.label)
        if self.quantiles is not None:
            for k in range(self.quantiles.classes):
                score = self.scores[(self.at - 1) * self.quantiles.classes + k]
                self.quantiles.scores[k] = score * self.scale + self.shift
            turn.o.p = turn.shown = arranged(self)
            return Reason.DONE
        turn.o.p = turn.shown = clipped(self, turn.raw)
        if self.offset != 0:
            turn.shown += self.offset
        return Reason.DONE


cdef inline size_t width_of(GivenPredictions self) noexcept nogil:
    """How many scores a line has."""
    return self.named if self.multiclass else 1 if self.quantiles is None else self.quantiles.classes


def by_line(Batch batch not None, const double[::1] scores not None, size_t begin, double[::1] out not None, size_t width=1):
    """Fill in the scores of the lines of a batch, `width` each, from those of all examples that can be learned, of which
    `begin` come before; NaN for other lines. Returns how many come before the next batch."""
    cdef size_t line, k
    if <size_t>out.shape[0] != batch.a.lines * width:
        raise ValueError("as many places as scores of the lines")
    for line in range(batch.a.lines):
        for k in range(width):
            out[line * width + k] = NAN
        if is_used(&batch.a, line) and (begin + 1) * width <= <size_t>scores.shape[0]:
            for k in range(width):
                out[line * width + k] = scores[begin * width + k]
            begin += 1
    return begin


def scattered(const double[::1] values not None, const uint32_t[::1] order not None, double[::1] out not None,
              size_t width=1):
    """out[order[i]] = values[i], in rows of `width` numbers. Other rows stay as they are."""
    cdef size_t i, k, rows = <size_t>out.shape[0] // width
    if out.shape[0] < values.shape[0] or width * <size_t>order.shape[0] != <size_t>values.shape[0]:
        raise ValueError("as many places as numbers")
    for i in range(<size_t>order.shape[0]):
        if order[i] >= rows:
            raise IndexError(order[i])
        for k in range(width):
            out[order[i] * width + k] = values[i * width + k]
