"""Weights that do not learn: what a model without state predicts with."""

from libc.stdint cimport uint32_t

from vwlite.core.rule cimport Example, Outcome, Rule


cdef struct Slot:
    uint32_t mark
    double w


cdef class Fixed(Rule):
    """w, as it is; `unseen` for a feature that has none"""

    SLOT = [("mark", "<u4"), ("w", "<f8")]
    SCALARS = ["t", "unseen"]

    @property
    def unseen(self):
        return (<Slot*>self.table.blank).w

    @unseen.setter
    def unseen(self, double w):
        (<Slot*>self.table.blank).w = w

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i, n = e.size
        cdef Slot** slots = <Slot**>e.slots
        cdef double sum = 0
        if n > 0 and self.has_constant:     # the constant is the last; without a slot it is 0
            n -= 1
            sum = slots[n].w * e.x[n] if slots[n] != <Slot*>self.table.blank else 0
        for i in range(n):
            sum += slots[i].w * e.x[i]
        return e.initial + sum

    cdef double weight(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w
