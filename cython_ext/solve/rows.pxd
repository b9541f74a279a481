"""The labelled examples of all batches, as rows. See rows.pyx."""

from libc.stdint cimport uint32_t

from vwlite.core.data.batch cimport Arrays
from vwlite.core.data.expand cimport Expander


# A compressed sparse matrix: the entries of line i are [begin[i], begin[i + 1]) of index and value.
cdef struct Sparse:
    size_t size             # lines: rows or columns
    size_t* begin           # [size + 1]
    uint32_t* index
    float* value


# An entry of the hash table from keys to columns.
cdef struct Place:
    uint32_t key
    uint32_t column         # 1 + its number; 0: a free entry


cdef class Rows:
    cdef Expander expander
    cdef bint finished
    cdef size_t columns
    cdef readonly size_t nonzeros, unlabelled
    # Owned.
    cdef Sparse a               # index: columns; before `finish`, numbers in the order of arrival
    cdef double* label
    cdef double* importance
    cdef double* initial
    cdef size_t row_capacity, nonzero_capacity
    cdef uint32_t* key          # [columns] of each column
    cdef size_t key_capacity
    cdef Place* place           # [places]
    cdef size_t places
    # Until `finish`. Owned.
    cdef uint32_t* final_column # [columns] the column of each number in the order of arrival
    cdef size_t* seen           # [columns] 1 + the last position of the column

    cdef int add_lines(self, Expander expander, const Arrays* a, bint numbered) noexcept nogil
    cdef int add_line(self, Expander expander, const Arrays* a, size_t line, bint numbered, uint32_t* known) noexcept nogil
    cdef int append(self, const uint32_t* keys, const float* values, size_t n) noexcept nogil
    cdef int column_of(self, uint32_t key, uint32_t* column) noexcept nogil
    cdef int grow_places(self) noexcept nogil
    cdef int number_columns(self) noexcept nogil
    cdef int tidy(self) noexcept nogil
