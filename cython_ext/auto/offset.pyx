"""A learner that adds a constant to all initial predictions: the best constant, from which learning begins."""

from vwlite.core.data.expand cimport Expander
from vwlite.core.learn.learner cimport Learner, Reason, Turn
from vwlite.core.learn.losses cimport Loss
from vwlite.core.learn.rule cimport Rule


cdef class OffsetLearner(Learner):

    cdef readonly double offset

    def __init__(self, Rule rule not None, Loss loss not None, Expander expander not None, *, double offset=0, **options):
        super().__init__(rule, loss, expander, **options)
        self.offset = offset

    cdef Reason predict(self, Turn* turn) noexcept nogil:
        turn.e.initial += self.offset
        return Learner.predict(self, turn)
