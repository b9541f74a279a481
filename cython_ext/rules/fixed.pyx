"""Weights that do not learn: what a model without state predicts with."""

from libc.stdint cimport uint32_t

from vwlite.core.rule cimport Example, Outcome, Rule


cdef struct Slot:
    uint32_t mark
    double w


cdef class Fixed(Rule):
    """w, as it is"""

    SLOT = [("mark", "<u4"), ("w", "<f8")]

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef Slot** slots = <Slot**>e.slots
        cdef double sum = 0
        for i in range(e.size):
            sum += slots[i].w * e.x[i]
        return e.initial + sum

    cdef double weight(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w
