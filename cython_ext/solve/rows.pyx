"""The labelled examples of all batches in memory: rows of columns and values, as a compressed sparse matrix (CSR).

A column is a key that occurs: names that collide are one column. Columns are numbered by ascending key, independent of
the order of arrival; a feature that occurs twice in a line is one entry, with the sum as its value.
"""

from libc.math cimport isfinite, isnan
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort

from vwlite.core.base.arrays cimport view_of
from vwlite.core.base.buffers cimport ample, resize, resize_large
from vwlite.core.base.prefetch cimport prefetch_read
from vwlite.core.data.batch cimport EXAMPLE, Arrays, Batch
from vwlite.core.data.expand cimport NO_SPACE, OVERSIZED, TOO_LARGE, Expander, Expansion

cdef enum:
    NO_MEMORY = -1
    OVERFLOW = -2
    TOO_MANY = -3           # columns for 32 bits
    UNNORMALIZED = -4
    AHEAD = 8               # keys whose places are prefetched


OVERFLOWS = "the values of a feature that is repeated in a line sum to infinity"


cdef inline size_t place_of(uint32_t key, size_t places) noexcept nogil:
    """The position where the search for a key starts; `places` is a power of two."""
    return (key * <uint64_t>0x9E3779B97F4A7C15 >> 32) & (places - 1)


cdef int by_size(const void* a, const void* b) noexcept nogil:
    cdef uint64_t x = (<const uint64_t*>a)[0], y = (<const uint64_t*>b)[0]
    return (x > y) - (x < y)


cdef class Rows:
    """expander: without the intercept, which is never a column. Fill with `add`, then `finish`."""

    def __init__(self, Expander expander not None):
        self.expander = expander
        if resize(<void**>&self.a.begin, 1, sizeof(size_t)) or self.grow_places():
            raise MemoryError("no memory for the examples")
        self.a.begin[0] = 0

    def __dealloc__(self):
        free(self.a.begin)
        free(self.a.index)
        free(self.a.value)
        free(self.label)
        free(self.importance)
        free(self.initial)
        free(self.key)
        free(self.place)
        free(self.final_column)
        free(self.seen)

    def __len__(self):
        return self.a.size

    def add(self, Batch batch not None):
        """Append the labelled examples of positive importance of a batch, in order. MemoryError; OverflowError: more
        than 2^32 - 2 columns, or more features in a line than can be normalized. ValueError: after `finish`."""
        cdef int failed
        cdef Expander expander = self.expander
        cdef bint numbered = expander.takes_numbers(&batch.a)
        if self.finished:
            raise ValueError("the rows are finished")
        if not numbered and batch.decode():
            raise MemoryError("no memory for the hashes of a batch")
        with nogil:
            failed = self.add_lines(expander, &batch.a, numbered)
        if failed == TOO_MANY:
            raise OverflowError("more columns than numbers of 32 bits")
        if failed == OVERFLOW:
            raise OverflowError(OVERFLOWS)
        if failed == UNNORMALIZED:
            raise OverflowError(f"an example has more than {expander.bound} features, too many to normalize them")
        if failed:
            raise MemoryError("no memory for the examples")

    def finish(self):
        """Number the columns by key and sum repeated features. MemoryError; OverflowError: a sum of values of repeated
        features is not a number any more."""
        cdef int failed
        if self.finished:
            return
        with nogil:
            failed = self.number_columns()
            if not failed:
                failed = self.tidy()
        free(self.final_column)
        free(self.seen)
        self.final_column, self.seen = NULL, NULL
        self.finished = failed != NO_MEMORY
        if failed == OVERFLOW:
            raise OverflowError(OVERFLOWS)
        if failed:
            raise MemoryError("no memory for the columns")

    @property
    def keys(self):
        """The key of each column, ascending."""
        return view_of(self, self.key, self.columns, 4, "I")

    @property
    def labels(self):
        return view_of(self, self.label, self.a.size, 8, "d")

    @property
    def importance(self):
        return view_of(self, self.importance, self.a.size, 8, "d")

    @property
    def initial(self):
        """The initial predictions, which are added to each prediction."""
        return view_of(self, self.initial, self.a.size, 8, "d")

    @property
    def entries(self):
        """The begin of each row, and the columns and values of all rows, one after the other."""
        cdef size_t n = self.a.begin[self.a.size]
        return (view_of(self, self.a.begin, self.a.size + 1, sizeof(size_t), "N"), view_of(self, self.a.index, n, 4, "I"),
                view_of(self, self.a.value, n, 4, "f"))

    def row(self, size_t i):
        """The columns and values of a row, as lists. For tests."""
        if i >= self.a.size:
            raise IndexError(i)
        span = range(self.a.begin[i], self.a.begin[i + 1])
        return [self.a.index[k] for k in span], [self.a.value[k] for k in span]

    cdef int add_lines(self, Expander expander, const Arrays* a, bint numbered) noexcept nogil:
        cdef uint32_t* known = NULL     # of the numbers of the batch: 1 + the column
        cdef size_t line
        cdef int failed = 0
        if numbered:
            known = <uint32_t*>calloc(a.distinct, 4)
            if known == NULL:
                return NO_MEMORY
        for line in range(a.lines):
            if a.kind[line] != EXAMPLE:
                continue
            if isnan(a.label[line]):
                self.unlabelled += 1
                continue
            if a.importance[line] > 0:
                failed = self.add_line(expander, a, line, numbered, known)
                if failed:
                    break
        free(known)
        return failed

    cdef int add_line(self, Expander expander, const Arrays* a, size_t line, bint numbered,
                      uint32_t* known) noexcept nogil:
        cdef size_t i, want, at = self.a.begin[self.a.size]
        cdef uint32_t hash_number
        cdef Expansion found
        cdef int failed = 0
        if self.a.size + 2 > self.row_capacity:
            want = ample(self.a.size + 2)
            if (resize(<void**>&self.a.begin, want + 1, sizeof(size_t)) or resize(<void**>&self.label, want, 8)
                    or resize(<void**>&self.importance, want, 8) or resize(<void**>&self.initial, want, 8)):
                return NO_MEMORY
            self.row_capacity = want
        self.a.begin[self.a.size + 1] = at
        found = expander.expand(a, line, 0, numbered)
        if found == NO_SPACE:
            return NO_MEMORY
        if found == TOO_LARGE:
            return UNNORMALIZED
        if found == OVERSIZED:
            if expander.begin_chunks(a, line):
                return NO_MEMORY
            while not failed and expander.next_chunk():
                failed = self.append(expander.f.keys, expander.f.values, expander.f.size)
            expander.end_chunks()
        elif numbered:
            if at + expander.f.size > self.nonzero_capacity:
                failed = self.append(NULL, NULL, expander.f.size)
                self.a.begin[self.a.size + 1] = at
            for i in range(expander.f.size):
                if failed:
                    break
                hash_number = expander.f.hash_numbers[i]
                if known[hash_number] == 0:
                    failed = self.column_of(a.distinct_hash[hash_number] & expander.mask, &known[hash_number])
                    known[hash_number] += 1
                self.a.index[at + i], self.a.value[at + i] = known[hash_number] - 1, expander.f.values[i]
            self.a.begin[self.a.size + 1] = at + expander.f.size
        else:
            if expander.normalizer is not None:     # which has added up repeated features
                for i in range(expander.f.size):
                    if not isfinite(expander.f.values[i]):
                        return OVERFLOW
            failed = self.append(expander.f.keys, expander.f.values, expander.f.size)
        if failed:
            return failed
        self.label[self.a.size] = a.label[line]
        self.importance[self.a.size], self.initial[self.a.size] = a.importance[line], a.initial[line]
        self.a.size += 1
        self.nonzeros = self.a.begin[self.a.size]
        return 0

    cdef int append(self, const uint32_t* keys, const float* values, size_t n) noexcept nogil:
        """Add features to the row that is being filled; without keys, only reserve space for them."""
        cdef size_t i, at = self.a.begin[self.a.size + 1], want = at + n
        cdef int failed
        if want > self.nonzero_capacity:
            want = ample(want)
            if resize_large(<void**>&self.a.index, want, 4) or resize_large(<void**>&self.a.value, want, 4):
                return NO_MEMORY
            self.nonzero_capacity = want
        if keys != NULL:
            for i in range(n):
                if i + AHEAD < n:
                    prefetch_read(&self.place[place_of(keys[i + AHEAD], self.places)])
                failed = self.column_of(keys[i], &self.a.index[at + i])
                if failed:
                    return failed
                self.a.value[at + i] = values[i]
        self.a.begin[self.a.size + 1] = at + n
        return 0

    cdef int column_of(self, uint32_t key, uint32_t* column) noexcept nogil:
        """The number of a key; a new key gets the next number."""
        cdef size_t at = place_of(key, self.places)
        cdef size_t want
        while self.place[at].column:
            if self.place[at].key == key:
                column[0] = self.place[at].column - 1
                return 0
            at = (at + 1) & (self.places - 1)
        if self.columns >= <size_t>0xFFFFFFFE:
            return TOO_MANY
        if self.columns == self.key_capacity:
            want = ample(self.columns)
            if resize(<void**>&self.key, want, 4):
                return NO_MEMORY
            self.key_capacity = want
        self.key[self.columns] = key
        column[0] = <uint32_t>self.columns
        self.columns += 1
        self.place[at].key, self.place[at].column = key, <uint32_t>self.columns
        return self.grow_places() if 2 * self.columns > self.places else 0

    cdef int grow_places(self) noexcept nogil:
        """Double the hash table of keys, from 1024."""
        cdef size_t places = 2 * self.places if self.places else 1024
        cdef Place* place = <Place*>calloc(places, sizeof(Place))
        cdef size_t i, at
        if place == NULL:
            return NO_MEMORY
        for i in range(self.columns):
            at = place_of(self.key[i], places)
            while place[at].column:
                at = (at + 1) & (places - 1)
            place[at].key, place[at].column = self.key[i], <uint32_t>(i + 1)
        free(self.place)
        self.place, self.places = place, places
        return 0

    cdef int number_columns(self) noexcept nogil:
        """Sort the keys; the place of each in that order is the number of its column."""
        cdef uint64_t* arrived = <uint64_t*>malloc(8 * (self.columns + 1))
        cdef size_t i
        self.final_column = <uint32_t*>malloc(4 * (self.columns + 1))
        self.seen = <size_t*>calloc(self.columns + 1, sizeof(size_t))
        if arrived == NULL or self.final_column == NULL or self.seen == NULL:
            free(arrived)
            return NO_MEMORY
        for i in range(self.columns):
            arrived[i] = <uint64_t>self.key[i] << 32 | i
        qsort(arrived, self.columns, 8, by_size)
        for i in range(self.columns):
            self.final_column[<uint32_t>arrived[i]] = <uint32_t>i
            self.key[i] = arrived[i] >> 32
        free(arrived)
        free(self.place)
        self.place = NULL
        return 0

    cdef int tidy(self) noexcept nogil:
        """Number the columns of the rows and sum repeated features."""
        cdef size_t i, start, stop, k = 0, to = 0
        cdef uint32_t j
        cdef int failed = 0
        for i in range(self.a.size):
            start, stop = to, self.a.begin[i + 1]
            while k < stop:
                j = self.final_column[self.a.index[k]]
                if self.seen[j] > start:
                    self.a.value[self.seen[j] - 1] += self.a.value[k]
                    if not isfinite(self.a.value[self.seen[j] - 1]):
                        failed = OVERFLOW
                else:
                    self.a.index[to], self.a.value[to] = j, self.a.value[k]
                    to += 1
                    self.seen[j] = to
                k += 1
            self.a.begin[i + 1] = to
        self.nonzeros = to
        return failed
