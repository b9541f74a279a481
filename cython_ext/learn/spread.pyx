"""How often features occur in examples, and the standard deviation of their values there. One of value 0 does not."""

from libc.math cimport sqrt
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free

from vwlite.core.base.buffers cimport reserve
from vwlite.core.data.batch cimport EXAMPLE, Batch
from vwlite.core.data.expand cimport NO_SPACE, OVERSIZED, TOO_LARGE, WHOLE, Expander, Expansion
from vwlite.core.learn.table cimport Table


cdef struct Slot:
    uint32_t mark
    uint64_t last           # the number of the last example that has the feature, from 1; 0: it is counted
    uint64_t examples       # ... and the number of examples with it before that one
    double value            # in the last one, where it may occur several times
    double mean, squares    # before that one: the mean, and the sum of squared differences from it (Welford)


cdef inline void settle(Slot* s) noexcept nogil:
    """Count the last example."""
    cdef double difference = s.value - s.mean
    if s.last == 0:
        return
    s.examples += 1
    s.mean += difference / s.examples
    s.squares += difference * (s.value - s.mean)
    s.last = 0


cdef class Spread:
    """Counts the features that have these keys. expander: one of its own."""

    cdef Expander expander
    cdef Table table
    cdef const uint32_t[::1] keys
    cdef char** slots           # owned
    cdef size_t capacity
    cdef readonly uint64_t examples

    def __init__(self, Expander expander not None, const uint32_t[::1] keys not None):
        cdef Py_ssize_t i
        cdef char* slot
        self.expander, self.keys, self.table = expander, keys, Table(sizeof(Slot))
        for i in range(keys.shape[0]):
            if self.table.resolve(&keys[i], 1, &slot):
                raise MemoryError("no memory to count features")

    def __dealloc__(self):
        free(self.slots)

    def take(self, Batch batch not None):
        """Count the examples of a batch. OverflowError: one has too many features to normalize them."""
        cdef size_t line
        cdef int failed = batch.decode()
        with nogil:
            for line in range(batch.a.lines):
                if not failed and batch.a.kind[line] == EXAMPLE:
                    failed = self.add(batch, line)
        if failed == TOO_LARGE:
            raise OverflowError("an example has too many features to normalize them")
        if failed:
            raise MemoryError("no memory to count features")

    cdef int add(self, Batch batch, size_t line) noexcept nogil:
        cdef Expansion found = self.expander.expand(&batch.a, line, 0, False)
        self.examples += 1
        if found == WHOLE:
            return self.add_features()
        if found != OVERSIZED or self.expander.begin_chunks(&batch.a, line):
            return TOO_LARGE if found == TOO_LARGE else NO_SPACE
        while self.expander.next_chunk():
            if self.add_features():
                return NO_SPACE
        self.expander.end_chunks()
        return 0

    cdef int add_features(self) noexcept nogil:
        cdef size_t i
        cdef Slot* s
        if reserve(<void**>&self.slots, &self.capacity, self.expander.f.size, sizeof(char*)):
            return NO_SPACE
        self.table.lookup(self.expander.f.keys, self.expander.f.size, self.slots)
        for i in range(self.expander.f.size):
            s = <Slot*>self.slots[i]
            if <char*>s == self.table.blank or self.expander.f.values[i] == 0:
                continue
            if s.last != self.examples:
                settle(s)
                s.last, s.value = self.examples, 0
            s.value += self.expander.f.values[i]
        return 0

    def results(self, uint64_t[::1] examples not None, double[::1] deviations not None):
        """For each key, how many examples have the feature, and the standard deviation of its value in all examples,
        which is 0 where it is missing."""
        cdef Py_ssize_t i
        cdef char* slot
        cdef Slot* s
        cdef double n, all = self.examples
        for i in range(self.keys.shape[0]):
            self.table.lookup(&self.keys[i], 1, &slot)
            s = <Slot*>slot
            settle(s)
            examples[i], n = s.examples, s.examples
            deviations[i] = sqrt((s.squares + s.mean * s.mean * n * (all - n) / all) / all) if n else 0
