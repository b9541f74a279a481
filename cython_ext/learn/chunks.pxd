"""The features of an oversized example, in chunks. See chunks.pyx."""

from libc.stdint cimport uint32_t, uint64_t

from vwlite.core.data.batch cimport Arrays
from vwlite.core.data.expand cimport Expander
from vwlite.core.learn.rule cimport ChunkSource, Example
from vwlite.core.learn.table cimport Table

cdef extern from *:
    """
    #define vwlite_load(flag) __atomic_load_n(&(flag), __ATOMIC_RELAXED)
    #define vwlite_store(flag, value) __atomic_store_n(&(flag), value, __ATOMIC_RELAXED)
    """
    int vwlite_load(int flag) noexcept nogil
    void vwlite_store(int flag, int value) noexcept nogil


cdef class ChunkMaker:
    cdef ChunkSource chunks            # referenced by an example
    cdef readonly uint64_t size   # features of the example
    cdef readonly bint stopped    # a stop was requested: iterations end early from then on
    cdef Expander expander
    cdef Table table
    cdef char** slots             # owned; of a chunk
    cdef size_t capacity
    cdef int shift, less          # a key is ((hash << shift) + model & mask) >> less, if it is not the hash
    cdef uint32_t model, mask
    cdef bint cuts
    cdef const int* stopping      # the caller's flag; borrowed, or NULL
    cdef size_t since             # features since it was looked at
    cdef object error             # the exception that a signal handler raised

    cdef void set_keys(self, int shift, uint32_t model, uint32_t mask, int less) noexcept nogil
    cdef int start_line(self, const Arrays* a, size_t line) noexcept nogil
    cdef int make_slots(self) noexcept nogil
    cdef void find_constant(self) noexcept nogil
    cdef bint next(self, Example* part) noexcept nogil
    cdef bint fill(self) noexcept nogil
    cdef bint continues(self, size_t features) noexcept nogil
    cdef void end(self) noexcept nogil
