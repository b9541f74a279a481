"""The copy of the rows by columns: for solvers that visit one coordinate after the other.

Two passes over the rows: one counts, unless somebody has, and one puts each entry in its place. Only columns that are
asked for take memory, 8 bytes an entry; where the rows say that there is not as much, they are in a file (paged.pyx).
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc

from vwlite.core.base.buffers cimport resize_large
from vwlite.core.base.prefetch cimport prefetch_write
from vwlite.core.solve.paged cimport Paged
from vwlite.core.solve.rows cimport Rows, Sparse, visit

cdef enum:
    CACHED = 1024       # columns whose ends fit into the first-level cache
    AHEAD = 96          # entries whose places are prefetched, if there are more columns


cdef Columns kept_columns(Rows rows, const uint8_t* keep, size_t* counted):
    """keep: for each column whether it is requested; NULL: all that are not empty. counted: the number of entries of
    each column, allocated by malloc, freed here; NULL: not known. MemoryError; OSError."""
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
        if self.a.paging == NULL:
            free(self.a.entry)
        free(self.rows_column)
        free(self.position)

    def __len__(self):
        return self.a.size

    @property
    def in_file(self):
        """Whether the entries are in a file."""
        return self.paged is not None

    cdef int make(self, const uint8_t* keep, size_t* counted) except -1:
        cdef int failed
        with nogil:
            failed = self.fill(keep, counted)
        if failed < 0:
            raise MemoryError("no memory for the columns")
        if failed:
            self.fill_file()
        return 0

    cdef int fill(self, const uint8_t* keep, size_t* counted) noexcept nogil:
        """-1: no memory; 1: the entries exceed the memory limit of the rows, and are not stored."""
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
                visit(rows, i)
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
        if self.rows.memory_limit and sizeof(Entry) * total > self.rows.memory_limit:
            for j in range(columns):
                if self.position[j] != NOT_KEPT:
                    self.a.begin[self.position[j] + 1], self.rows_column[self.position[j]] = next_entry[j], <uint32_t>j
            free(next_entry)
            return 1
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
            visit(rows, i)
            for k in range(rows.begin[i], rows.begin[i + 1]):
                if many and k + AHEAD < end:
                    prefetch_write(&entry[next_entry[index[k + AHEAD]]])
                j = index[k]
                at = next_entry[j]
                entry[at].row, entry[at].value = <uint32_t>i, value[k]
                next_entry[j] = at + (at != total)
        free(next_entry)
        return 0

    cdef int fill_file(self) except -1:
        """Write the entries to a file: as many columns at a time as fit into memory, with a pass over the rows for each
        group. a.begin has the entries of each column, one place further on."""
        cdef const Sparse* rows = &self.rows.a
        cdef size_t first = 0, end, i, k, most = self.rows.memory_limit // sizeof(Entry)
        cdef Entry* entry = NULL
        cdef size_t* next_entry = NULL
        self.a.begin[0] = 0
        for i in range(self.a.size):
            most = max(most, self.a.begin[i + 1])
            self.a.begin[i + 1] += self.a.begin[i]
        self.paged = Paged(sizeof(Entry))
        entry = <Entry*>malloc(sizeof(Entry) * most)
        next_entry = <size_t*>malloc(sizeof(size_t) * self.a.size)
        try:
            if entry == NULL or next_entry == NULL:
                raise MemoryError("no memory for the columns")
            while first < self.a.size:
                end = first + 1
                while end < self.a.size and self.a.begin[end + 1] - self.a.begin[first] <= most:
                    end += 1
                with nogil:
                    for k in range(first, end):
                        next_entry[k] = self.a.begin[k] - self.a.begin[first]
                    for i in range(rows.size):
                        visit(rows, i)
                        for k in range(rows.begin[i], rows.begin[i + 1]):
                            put(rows, k, self.position, first, end, <uint32_t>i, entry, next_entry)
                self.paged.write(0, entry, self.a.begin[first], self.a.begin[end] - self.a.begin[first])
                first = end
        finally:
            free(entry)
            free(next_entry)
        self.a.paging = &self.paged.paging
        self.paged.map(self.nonzeros, self.rows.memory_limit // sizeof(Entry))
        self.a.entry = <Entry*>self.paged.paging.data[0]
        return 0


cdef inline void put(const Sparse* rows, size_t k, const uint32_t* position, size_t first, size_t end, uint32_t row,
                     Entry* entry, size_t* next_entry) noexcept nogil:
    """Put entry k of the rows into its column, if that is one of those from `first` to `end`."""
    cdef size_t column = position[rows.index[k]]
    if first <= column < end:
        entry[next_entry[column]].row, entry[next_entry[column]].value = row, rows.value[k]
        next_entry[column] += 1
