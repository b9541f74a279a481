"""The copy of the rows by columns: for solvers that visit one coordinate after the other.

Two passes over the rows: one counts, unless somebody has, and one puts each entry in its place. Only columns that are
asked for take memory, 8 bytes an entry.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc

from vwlite.core.base.buffers cimport resize_large
from vwlite.core.base.prefetch cimport prefetch_write
from vwlite.core.solve.rows cimport Rows, Sparse

cdef enum:
    CACHED = 1024       # columns whose ends fit into the first-level cache
    AHEAD = 96          # entries whose places are prefetched, if there are more columns


cdef Columns kept_columns(Rows rows, const uint8_t* keep, size_t* counted):
    """keep: for each column whether it is requested; NULL: all that are not empty. counted: the number of entries of
    each column, allocated by malloc, freed here; NULL: not known. MemoryError."""
    cdef Columns columns = Columns.__new__(Columns)
    columns.rows = rows
    columns.make(keep, counted)
    return columns


cdef class Columns:
    """All columns of the rows. One may serve several problems, as those of several classes."""

    def __init__(self, Rows rows not None):
        if not rows.finished:
            raise ValueError("the rows are not finished")
        if self.rows is not None:
            raise ValueError("the columns are made")
        self.rows = rows
        self.make(NULL, NULL)

    def __dealloc__(self):
        free(self.a.begin)
        free(self.a.entry)
        free(self.rows_column)
        free(self.position)

    def __len__(self):
        return self.a.size

    cdef int make(self, const uint8_t* keep, size_t* counted) except -1:
        cdef int failed
        with nogil:
            failed = self.fill(keep, counted)
        if failed:
            raise MemoryError("no memory for the columns")
        return 0

    cdef int fill(self, const uint8_t* keep, size_t* counted) noexcept nogil:
        """-1: no memory."""
        cdef const Sparse* rows = &self.rows.a
        cdef size_t i, k, j, at, end, total = 0, columns = self.rows.columns
        cdef bint many
        cdef Entry* entry
        cdef const uint32_t* index
        cdef const float* value
        cdef size_t* next_entry = <size_t*>calloc(columns + 1, sizeof(size_t)) if counted == NULL else counted
        self.position = <uint32_t*>malloc(4 * (columns + 1))
        if next_entry == NULL or self.position == NULL:
            free(next_entry)
            return -1
        if counted == NULL:
            for i in range(rows.size):
                for k in range(rows.begin[i], rows.begin[i + 1]):
                    next_entry[rows.index[k]] += 1
        for j in range(columns):
            if next_entry[j] and (keep == NULL or keep[j]):
                self.position[j] = <uint32_t>self.a.size
                self.a.size += 1
                total += next_entry[j]
            else:
                self.position[j] = NOT_KEPT
        self.nonzeros = total
        self.a.begin = <size_t*>malloc(sizeof(size_t) * (self.a.size + 1))
        self.rows_column = <uint32_t*>malloc(4 * (self.a.size + 1))
        if self.a.begin == NULL or self.rows_column == NULL:
            free(next_entry)
            return -1
        if resize_large(<void**>&self.a.entry, total + 1, sizeof(Entry)):
            free(next_entry)
            return -1
        total = 0
        for j in range(columns):
            if self.position[j] != NOT_KEPT:
                self.a.begin[self.position[j]], self.rows_column[self.position[j]] = total, <uint32_t>j
                total += next_entry[j]
                next_entry[j] = self.a.begin[self.position[j]]
            else:
                next_entry[j] = self.nonzeros       # one place for all that is not kept: no branch to foretell
        self.a.begin[self.a.size] = total
        entry, index, value, end = self.a.entry, rows.index, rows.value, rows.begin[rows.size]
        many = self.a.size > CACHED
        for i in range(rows.size):
            for k in range(rows.begin[i], rows.begin[i + 1]):
                if many and k + AHEAD < end:
                    prefetch_write(&entry[next_entry[index[k + AHEAD]]])
                j = index[k]
                at = next_entry[j]
                entry[at].row, entry[at].value = <uint32_t>i, value[k]
                next_entry[j] = at + (at != total)
        free(next_entry)
        return 0
