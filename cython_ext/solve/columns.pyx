"""The copy of the rows by columns: for solvers that visit one coordinate after the other.

Two passes over the rows: one counts, unless somebody has, and one puts each entry in its place. Only columns that are asked for take memory, 8
bytes an entry.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc

from vwlite.core.solve.rows cimport Rows, Sparse

cdef extern from *:
    """
    #include <stdlib.h>
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif

    #define VWLITE_HUGE ((size_t)2 << 20)

    /* As malloc, for `free`. Large memory in pages of 2 MB where the system has them: the first touch of each page is a
       call of the system, and of small pages these calls cost more than the entries that are written. */
    static inline void *vwlite_large(size_t bytes) {
    #ifdef MADV_HUGEPAGE
        void *found;
        if (bytes >= VWLITE_HUGE && posix_memalign(&found, VWLITE_HUGE, bytes) == 0) {
            madvise(found, bytes, MADV_HUGEPAGE);
            return found;
        }
    #endif
        return malloc(bytes);
    }
    """
    void* large "vwlite_large"(size_t bytes) noexcept nogil


cdef Columns kept_columns(Rows rows, const uint8_t* keep, size_t* counted):
    """keep: for each column whether it is wanted; NULL: all that are not empty. counted: how many entries each column
    has, of malloc, and freed here; NULL: not known. MemoryError."""
    cdef Columns columns = Columns.__new__(Columns)
    cdef int failed
    columns.rows = rows
    with nogil:
        failed = columns.fill(keep, counted)
    if failed:
        raise MemoryError("no memory for the columns")
    return columns


cdef class Columns:
    """All columns of the rows. One may serve several problems, as those of several classes."""

    def __init__(self, Rows rows not None):
        cdef int failed
        if not rows.finished:
            raise ValueError("the rows are not finished")
        if self.rows is not None:
            raise ValueError("the columns are made")
        self.rows = rows
        with nogil:
            failed = self.fill(NULL, NULL)
        if failed:
            raise MemoryError("no memory for the columns")

    def __dealloc__(self):
        free(self.a.begin)
        free(self.a.entry)
        free(self.number)
        free(self.position)

    def __len__(self):
        return self.a.size

    cdef int fill(self, const uint8_t* keep, size_t* counted) noexcept nogil:
        """-1: no memory."""
        cdef const Sparse* rows = &self.rows.a
        cdef size_t i, k, j, at, total = 0, columns = self.rows.columns
        cdef size_t* next_entry = <size_t*>calloc(columns + 1, sizeof(size_t)) if counted == NULL else counted
        self.position = <uint32_t*>malloc(4 * (columns + 1))
        if next_entry == NULL or self.position == NULL:
            free(next_entry)
            return -1
        if counted == NULL:
            for k in range(rows.begin[rows.size]):
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
        self.number = <uint32_t*>malloc(4 * (self.a.size + 1))
        self.a.entry = <Entry*>large(sizeof(Entry) * (total + 1))
        if self.a.begin == NULL or self.number == NULL or self.a.entry == NULL:
            free(next_entry)
            return -1
        total = 0
        for j in range(columns):
            if self.position[j] != NOT_KEPT:
                self.a.begin[self.position[j]], self.number[self.position[j]] = total, <uint32_t>j
                total += next_entry[j]
                next_entry[j] = self.a.begin[self.position[j]]
            else:
                next_entry[j] = self.nonzeros       # one place for all that is not kept: no branch to foretell
        self.a.begin[self.a.size] = total
        for i in range(rows.size):
            for k in range(rows.begin[i], rows.begin[i + 1]):
                j = rows.index[k]
                at = next_entry[j]
                self.a.entry[at].row, self.a.entry[at].value = <uint32_t>i, rows.value[k]
                next_entry[j] = at + (at != self.nonzeros)
        free(next_entry)
        return 0
