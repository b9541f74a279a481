"""A learner whose predictions are given: those that were made out of fold, or before an example was learned."""

from libc.math cimport NAN, isnan

from vwlite.core.auto.order cimport is_used
from vwlite.core.data.batch cimport EXAMPLE, Batch
from vwlite.core.data.expand cimport Expander
from vwlite.core.learn.learner cimport Learner, Reason, Turn, clipped
from vwlite.core.learn.losses cimport Loss
from vwlite.core.learn.rule cimport Rule


cdef class GivenPredictions(Learner):
    """Evaluates, counts and writes like a learner that does not learn. `give` comes before each batch.

    scale, shift: a prediction is a given score * scale + shift.
    """

    cdef const double[::1] scores
    cdef Batch batch
    cdef size_t at                    # the next line of it
    cdef double scale, shift

    def __init__(self, Rule rule not None, Loss loss not None, Expander expander not None, *, double scale=1, double shift=0,
                 **options):
        super().__init__(rule, loss, expander, learn=False, **options)
        self.scale, self.shift = scale, shift

    def give(self, Batch batch not None, const double[::1] scores not None):
        """The scores of the lines of the next batch; NaN: the rule predicts."""
        if <size_t>scores.shape[0] != batch.a.lines:
            raise ValueError("as many scores as lines")
        self.batch, self.scores, self.at = batch, scores, 0

    cdef Reason predict(self, Turn* turn) noexcept nogil:
        cdef double score
        while self.at < self.batch.a.lines and self.batch.a.kind[self.at] != EXAMPLE:
            self.at += 1
        score = self.scores[self.at] if self.at < self.batch.a.lines else NAN
        self.at += 1
        if isnan(score):
            return Learner.predict(self, turn)
        turn.raw = score * self.scale + self.shift
        if turn.labelled and self.clips and turn.o.importance > 0:
            self.widen_range(turn.o.label)
        turn.o.p = turn.shown = clipped(self, turn.raw)
        return Reason.DONE


def by_line(Batch batch not None, const double[::1] scores not None, size_t begin, double[::1] out not None):
    """Fill in the scores of the lines of a batch, from those of all examples that can be learned, of which `begin` come before;
    NaN for other lines. Returns how many come before the next batch."""
    cdef size_t line
    if <size_t>out.shape[0] != batch.a.lines:
        raise ValueError("as many places as lines")
    for line in range(batch.a.lines):
        out[line] = NAN
        if is_used(&batch.a, line) and begin < <size_t>scores.shape[0]:
            out[line] = scores[begin]
            begin += 1
    return begin
