"""Weights that do not learn: for predictions of a model without state."""

from libc.stdint cimport uint32_t

from vwlite.core.learn.rule cimport Example, Rule, iterate, last_slot, next_chunk


cdef struct Slot:
    uint32_t mark
    double w


cdef class Frozen(Rule):
    """w, unchanged; `unseen` for a feature without a slot"""

    SLOT = [("mark", "<u4"), ("w", "<f8")]
    SLOT_BYTES = sizeof(Slot)
    SCALARS = ["t", "unseen"]

    @property
    def unseen(self):
        return (<Slot*>self.table.blank).w

    @unseen.setter
    def unseen(self, double w):
        (<Slot*>self.table.blank).w = w

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef double sum = 0
        cdef Slot** slots
        cdef Slot* constant_slot
        cdef Example part = iterate(e)
        if e.size > 0 and self.has_constant:     # without a slot it is 0
            constant_slot = <Slot*>last_slot(e)
            sum = constant_slot.w if constant_slot != <Slot*>self.table.blank else 0
        while next_chunk(&part):
            slots = <Slot**>part.slots
            for i in range(part.size - (part.ends and self.has_constant)):
                sum += slots[i].w * part.x[i]
        return e.initial + sum

    cdef double weight(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w
