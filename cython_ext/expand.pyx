"""From a line of a batch to the features of an example: filters, interactions, the constant.

The order is that of the text, then the interactions, then the constant. Interactions are hashed as
Vowpal Wabbit does: h = P f_1; h = P (h xor f_j) for the terms between; h xor f_n; P = 16777619. The
value is the product. A namespace that stands twice in an interaction gives combinations with
repetition (f*f too), each once.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from vwlite.core.batch cimport Arrays, Batch
from vwlite.core.room cimport copy

from vwlite.interactions import WILDCARD, concrete

cdef extern from *:
    """
    #define vwlite_prefetch_soon(address) __builtin_prefetch(address, 0, 3)
    """
    void prefetch_soon "vwlite_prefetch_soon"(const void* address) noexcept nogil

cdef enum:
    LINE = 16               # numbers of a batch in a line of the cache
    AHEAD = 512             # numbers of a batch that should be there before they are needed
    PRIME = 16777619        # FNV's
    MOST_TERMS = 64

CONSTANT_HASH = CONSTANT


cdef class Expander:
    """bits: how many bits of the hash make the key. keep, ignore, ignore_linear: first letters of
    namespaces, as bytes. interactions: patterns such as b"ab"; `leave_duplicates`: the same letters may cross more
    than once; `permutations`: a namespace that stands twice gives every pair, in both orders; `constant_early`: the
    constant stands before the interactions."""

    def __init__(self, *, int bits=32, bint constant=True, bytes keep=b"", bytes ignore=b"",
                 bytes ignore_linear=b"", interactions=(), bint leave_duplicates=False, bint permutations=False,
                 bint constant_early=False):
        cdef int c
        self.mask = <uint32_t>((<uint64_t>1 << bits) - 1)
        self.constant = constant
        self.leave_duplicates, self.permutations = leave_duplicates, permutations
        self.constant_early = constant_early
        memset(self.alive, not keep, 256)
        memset(self.linear, 1, 256)
        # As a list, because Cython takes the items of bytes for signed characters.
        for c in list(keep):
            self.alive[c] = 1
        for c in list(ignore):
            self.alive[c] = 0
        for c in list(ignore_linear):
            self.linear[c] = 0
        self.patterns = list(interactions)
        if any(not 2 <= len(pattern) <= MOST_TERMS for pattern in self.patterns):
            raise ValueError(f"an interaction has 2 to {MOST_TERMS} letters")
        self.wild = any(WILDCARD in pattern for pattern in self.patterns)
        self.plain = not (keep or ignore or ignore_linear or interactions)
        self.set_terms()

    def __dealloc__(self):
        for buffer in range(2):
            free(self.buffers[buffer].keys)
            free(self.buffers[buffer].values)
        free(self.terms)
        free(self.gathered_hash)
        free(self.gathered_value)

    @property
    def constant_key(self):
        """The key of the constant feature; None if there is none."""
        return CONSTANT & self.mask if self.constant else None

    @property
    def terms(self):
        """The interactions as they are now, in order."""
        return self.concrete

    cdef object set_terms(self):
        """Spell out the interactions for the namespaces seen so far."""
        cdef bytes spelled
        cdef int c
        terms = concrete(self.patterns, [c for c in range(256) if self.seen[c]], self.leave_duplicates)
        self.concrete = terms
        spelled = b"".join(bytes([len(term)]) + term for term in terms)
        memset(self.crossed, 0, 256)
        for term in terms:
            for c in term:
                self.crossed[c] = 1
        free(self.terms)
        self.terms = <uint8_t*>malloc(len(spelled) + 1)
        if self.terms == NULL:
            raise MemoryError
        memcpy(self.terms, <const char*>spelled, len(spelled))
        self.terms_size = len(spelled)

    cdef int reserve(self, size_t n) noexcept nogil:
        """Make room for n more features; -1: no memory."""
        cdef size_t want = self.f.size + n
        cdef void* grown
        if want <= self.f.capacity:
            return 0
        want = max(2 * want, <size_t>256)
        grown = realloc(self.f.keys, want * sizeof(uint32_t))
        if grown == NULL:
            return -1
        self.f.keys = <uint32_t*>grown
        grown = realloc(self.f.values, want * sizeof(float))
        if grown == NULL:
            return -1
        self.f.values = <float*>grown
        self.f.capacity = want
        return 0

    cdef bint takes_numbers(self, const Arrays* a) noexcept nogil:
        """Whether the numbers of features will do."""
        return self.plain and a.distinct != 0

    cdef int expand(self, const Arrays* a, size_t line, int buffer, bint numbered) noexcept nogil:
        """Fill a buffer with the features of a line, by numbers if that is possible and wanted; -1: no memory."""
        cdef size_t span, first, last, i, n
        cdef uint32_t mask = self.mask
        cdef const uint32_t* hash
        cdef const float* value
        cdef uint32_t* keys
        first, last = a.span_begin[line], a.span_begin[line + 1]
        self.f = &self.buffers[buffer]
        self.f.size = 0
        self.hidden = 0
        if self.reserve(a.feature_begin[last] - a.feature_begin[first] + 1):
            return -1
        self.f.numbers = NULL
        if numbered and self.takes_numbers(a):
            n = a.feature_begin[last] - a.feature_begin[first]
            self.f.numbers = a.number + a.feature_begin[first]
            value = a.value + a.feature_begin[first]
            i = 0
            while i < n:
                prefetch_soon(self.f.numbers + i + AHEAD)
                prefetch_soon(value + i + AHEAD)
                i += LINE
            copy(self.f.values, value, n * sizeof(float))
            self.f.size = n
        elif self.plain:
            n = a.feature_begin[last] - a.feature_begin[first]
            hash = a.hash + a.feature_begin[first]
            value = a.value + a.feature_begin[first]
            keys = self.f.keys
            i = 0
            while i < n:
                prefetch_soon(hash + i + AHEAD)
                prefetch_soon(value + i + AHEAD)
                i += LINE
            for i in range(n):
                keys[i] = hash[i] & mask
            copy(self.f.values, value, n * sizeof(float))
            self.f.size = n
        else:
            for span in range(first, last):
                if self.linear[a.letter[span]] and self.alive[a.letter[span]]:
                    for i in range(a.feature_begin[span], a.feature_begin[span + 1]):
                        self.f.keys[self.f.size] = a.hash[i] & mask
                        self.f.values[self.f.size] = a.value[i]
                        self.f.size += 1
                elif self.alive[a.letter[span]]:
                    self.hidden += a.feature_begin[span + 1] - a.feature_begin[span]
            if self.constant and self.constant_early and self.add_constant():
                return -1
            if (self.wild or self.terms_size) and self.cross(a, line):
                return -1
            if self.constant_early:
                return 0
        if self.constant:
            return self.add_constant()
        return 0

    cdef int add_constant(self) noexcept nogil:
        if self.reserve(1):
            return -1
        self.f.keys[self.f.size] = CONSTANT & self.mask
        self.f.values[self.f.size] = 1
        self.f.size += 1
        return 0

    cdef int cross(self, const Arrays* a, size_t line) noexcept nogil:
        """Add the interactions of a line; -1: no memory."""
        cdef size_t span, n, at, first, last
        cdef uint8_t letter
        cdef Run* run
        cdef void* grown
        first, last = a.span_begin[line], a.span_begin[line + 1]
        if self.wild:
            self.news = False
            for span in range(first, last):
                letter = a.letter[span]
                if not self.seen[letter] and self.alive[letter]:
                    self.seen[letter] = self.news = True
            if self.news:
                with gil:
                    self.set_terms()
        if self.terms_size == 0:
            return 0
        n = a.feature_begin[last] - a.feature_begin[first]
        if n > self.gathered_capacity:
            grown = realloc(self.gathered_hash, 2 * n * sizeof(uint32_t))
            if grown == NULL:
                return -1
            self.gathered_hash = <uint32_t*>grown
            grown = realloc(self.gathered_value, 2 * n * sizeof(float))
            if grown == NULL:
                return -1
            self.gathered_value = <float*>grown
            self.gathered_capacity = 2 * n
        self.gathered = 0
        for span in range(first, last):
            letter = a.letter[span]
            run = &self.runs[letter]
            if not (self.crossed[letter] and self.alive[letter]) or run.size:
                continue
            self.gather(a, span, last)
        at = 0
        while at < self.terms_size:
            n = self.terms[at]
            if self.combine(self.terms + at + 1, n):
                return -1
            at += n + 1
        for span in range(first, last):
            self.runs[a.letter[span]].size = 0
        return 0

    cdef void gather(self, const Arrays* a, size_t span, size_t last) noexcept nogil:
        """The features of a namespace, in one run even if it occurs more than once."""
        cdef uint8_t letter = a.letter[span]
        cdef Run* run = &self.runs[letter]
        cdef size_t other, i
        run.hash = a.hash + a.feature_begin[span]
        run.value = a.value + a.feature_begin[span]
        run.size = a.feature_begin[span + 1] - a.feature_begin[span]
        for other in range(span + 1, last):
            if a.letter[other] == letter:
                break
        else:
            return
        run.hash = self.gathered_hash + self.gathered
        run.value = self.gathered_value + self.gathered
        run.size = 0
        for other in range(span, last):
            if a.letter[other] == letter:
                for i in range(a.feature_begin[other], a.feature_begin[other + 1]):
                    self.gathered_hash[self.gathered] = a.hash[i]
                    self.gathered_value[self.gathered] = a.value[i]
                    self.gathered += 1
                    run.size += 1

    cdef int combine(self, const uint8_t* letters, size_t order) noexcept nogil:
        """Add the products of one interaction; -1: no memory."""
        cdef size_t at[MOST_TERMS]
        cdef uint64_t hash[MOST_TERMS]     # of the terms up to and including this one, times P
        cdef float value[MOST_TERMS]
        cdef Run* run
        cdef Run* inner = &self.runs[letters[order - 1]]
        cdef size_t depth, i, begin
        cdef uint64_t h
        cdef float x
        for depth in range(order):
            if self.runs[letters[depth]].size == 0:
                return 0
        depth = 0
        at[0] = 0
        while True:
            run = &self.runs[letters[depth]]
            if at[depth] == run.size:       # this level is done: on with the one outside
                if depth == 0:
                    return 0
                depth -= 1
                at[depth] += 1
                continue
            if depth == 0:
                hash[0] = <uint64_t>PRIME * run.hash[at[0]]
                value[0] = run.value[at[0]]
            else:
                hash[depth] = <uint64_t>PRIME * (hash[depth - 1] ^ run.hash[at[depth]])
                value[depth] = value[depth - 1] * run.value[at[depth]]
            begin = at[depth] if letters[depth + 1] == letters[depth] and not self.permutations else 0
            if depth + 2 < order:
                depth += 1
                at[depth] = begin
                continue
            if self.reserve(inner.size - begin + 1):
                return -1
            h, x = hash[depth], value[depth]
            for i in range(begin, inner.size):
                self.f.keys[self.f.size] = <uint32_t>(h ^ inner.hash[i]) & self.mask
                self.f.values[self.f.size] = x * inner.value[i]
                self.f.size += 1
            at[depth] += 1

    def features(self, Batch batch not None, size_t line):
        """The keys and values of a line of a batch, as lists. For tests."""
        if line >= batch.a.lines:
            raise IndexError(line)
        if batch.spell_out() or self.expand(&batch.a, line, 0, False):
            raise MemoryError
        return [self.f.keys[i] for i in range(self.f.size)], [self.f.values[i] for i in range(self.f.size)]
