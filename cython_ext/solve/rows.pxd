"""The labelled examples of all batches, as rows. See rows.pyx."""

from libc.stdint cimport uint32_t

from vwlite.core.data.batch cimport Arrays
from vwlite.core.data.expand cimport Expander
from vwlite.core.solve.paged cimport Paged, Paging, visit_entries


# A compressed sparse matrix: the entries of line i are [begin[i], begin[i + 1]) of index and value.
cdef struct Sparse:
    size_t size             # lines: rows or columns
    size_t* begin           # [size + 1]
    uint32_t* index
    float* value
    Paging* paging          # of index and value, which are in a file; NULL: they are in memory


cdef inline void visit(const Sparse* a, size_t i) noexcept nogil:
    """Record that line i of a is read now. Must be called before reading a line."""
    if a.paging != NULL:
        visit_entries(a.paging, a.begin[i], a.begin[i + 1])


# An entry of the hash table from keys to columns.
cdef struct Place:
    uint32_t key
    uint32_t column         # 1 + its number; 0: a free entry


cdef class Rows:
    cdef Expander expander
    cdef bint finished
    cdef size_t columns
    cdef readonly size_t nonzeros, unlabelled
    cdef readonly size_t memory_limit   # memory limit in bytes for the entries of columns; 0: no limit
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
    # Of rows that may go to a file.
    cdef size_t most            # entries in memory before they do; 0: any number
    cdef Paged paged            # None: all are in memory
    cdef size_t written         # entries in the file
    # Until `finish`. Owned.
    cdef uint32_t* final_column # [columns] the column of each number in the order of arrival
    cdef size_t* seen           # [columns] 1 + the last position of the column

    cdef int add_lines(self, Expander expander, const Arrays* a, bint numbered) noexcept nogil
    cdef int add_line(self, Expander expander, const Arrays* a, size_t line, bint numbered, uint32_t* known) noexcept nogil
    cdef int append(self, const uint32_t* keys, const float* values, size_t n) noexcept nogil
    cdef int column_of(self, uint32_t key, uint32_t* column) noexcept nogil
    cdef int grow_places(self) noexcept nogil
    cdef int number_columns(self) noexcept nogil
    cdef int tidy(self, const uint32_t* index, const float* value, Paging* paging, size_t first, size_t end, size_t k,
                  size_t to) noexcept nogil
    cdef int spill(self) except -1
    cdef int write(self, size_t at, size_t n) except -1
    cdef int tidy_file(self) except -1
