"""From a line of a batch to the features of an example: filters, interactions, the intercept.

The order is that of the text, then the interactions, then the intercept. Interactions are hashed as
Vowpal Wabbit does: h = P f_1; h = P (h xor f_j) for the terms between; h xor f_n; P = 16777619. The
value is the product. A namespace that occurs twice in an interaction gives combinations with
repetition (f*f too), each once.

A line with thousands of features has millions of products. More features than `bound` come in chunks of `chunk`,
one after the other in the same order, for each iteration again: no memory holds them all.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from vwlite.core.data.batch cimport EXAMPLE, Arrays, Batch
from vwlite.core.base.buffers cimport ample, copy, resize
from vwlite.core.base.prefetch cimport prefetch_read
from vwlite.core.data.derivation cimport prepare, release

from vwlite.core.data.interactions import WILDCARD, concrete

cdef enum:
    LINE = 16               # numbers of a batch in a line of the cache
    AHEAD = 512             # numbers of a batch that are prefetched
    PRIME = 16777619        # FNV's

cdef uint64_t MOST_COUNTED = <uint64_t>1 << 62

CONSTANT_HASH = CONSTANT

# For new Expanders; tests set them. A chunk has an even number of features, as rules add up pairs.
most_whole = 1 << 18
most_normalized = 1 << 26       # with a normalizer: they never come in chunks
chunk_size = 1 << 14


cdef class Expander:
    """bits: how many bits of the hash make the key. keep, ignore, ignore_linear: first letters of
    namespaces, as bytes. interactions: patterns such as b"ab"; `leave_duplicates`: the same letters may cross more
    than once. named: interactions as the hashes of their namespaces, which the batches must have; `permutations`: a
    namespace that occurs twice gives every pair, in both orders; `constant_early`: the intercept precedes the
    interactions. derivation: of features that take the place of those of the line before all else; interactions do not see
    its products. normalizer: applied to the values of an example, but not to the intercept."""

    def __init__(self, *, int bits=32, bint constant=True, bytes keep=b"", bytes ignore=b"",
                 bytes ignore_linear=b"", interactions=(), named=(), bint leave_duplicates=False, bint permutations=False,
                 bint constant_early=False, Normalizer normalizer=None, Derivation derivation=None):
        cdef int c
        if derivation is not None:
            prepare(&self.derived, derivation)
            self.derivation = derivation
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
        if any(not 2 <= len(term) <= MOST_TERMS for term in named):
            raise ValueError(f"an interaction has 2 to {MOST_TERMS} namespaces")
        hashes = list(dict.fromkeys(hash for term in named for hash in term))
        if len(hashes) > MOST_NAMED:
            raise ValueError(f"at most {MOST_NAMED} namespaces can be crossed by name")
        self.named_count = len(hashes)
        for i, hash in enumerate(hashes):
            self.named[i] = hash
        self.named_terms = [[256 + hashes.index(hash) for hash in term] for term in dict.fromkeys(map(tuple, named))]
        self.filters = bool(keep or ignore or ignore_linear)
        if constant_early and normalizer is not None:
            raise ValueError("the intercept is not normalized, so that it cannot precede the interactions")
        self.normalizer = normalizer
        self.only_derives = not (self.filters or interactions or named or normalizer is not None)
        self.unchanged = self.only_derives and derivation is None
        self.set_terms()
        self.bound, self.chunk = most_whole if normalizer is None else most_normalized, chunk_size

    def __dealloc__(self):
        for buffer in range(2):
            free(self.buffers[buffer].keys)
            free(self.buffers[buffer].values)
        free(self.part.keys)
        free(self.part.values)
        free(self.terms)
        free(self.gathered_hash)
        free(self.gathered_value)
        release(&self.derived)

    @property
    def constant_key(self):
        """The key of the intercept; None without intercept."""
        return CONSTANT & self.mask if self.constant else None

    @property
    def unseen(self):
        """The hashes of the namespaces that are crossed by name and had no features in any example so far."""
        return [self.named[i] for i in range(self.named_count) if not self.named_seen[i]]

    @property
    def terms(self):
        """The current interactions, in order."""
        return self.concrete

    cdef object set_terms(self):
        """Spell out the interactions for the namespaces seen so far."""
        cdef size_t i, n
        cdef int c
        terms = concrete(self.patterns, [c for c in range(256) if self.seen[c]], self.leave_duplicates)
        self.concrete = terms
        encoded = [c for term in [*terms, *self.named_terms] for c in (len(term), *term)]
        memset(self.crossed, 0, 256)
        self.asked_size = 0
        for c in sorted({c for term in terms for c in term}):
            self.crossed[c] = 1
            self.asked[self.asked_size] = c
            self.asked_size += 1
        free(self.terms)
        n = len(encoded)
        self.terms = <uint16_t*>malloc((n + 1) * sizeof(uint16_t))
        if self.terms == NULL:
            raise MemoryError
        for i in range(n):
            self.terms[i] = encoded[i]
        self.terms_size = n

    cdef int reserve(self, size_t n) noexcept nogil:
        """Reserve space for n more features; -1: no memory."""
        cdef size_t want = self.f.size + n
        if want <= self.f.capacity:
            return 0
        want = ample(want)
        if (resize(<void**>&self.f.keys, want, sizeof(uint32_t))
                or resize(<void**>&self.f.values, want, sizeof(float))):
            return -1
        self.f.capacity = want
        return 0

    cdef const Arrays* derive(self, const Arrays* a, size_t* line) noexcept nogil:
        """The batch and the line in it whose features count: of the line, or derived from it. NULL: no memory."""
        if self.derivation is None or a == &self.derived.a:
            return a
        if self.derivation.derive(a, line[0], &self.derived):
            return NULL
        line[0] = 0
        return &self.derived.a

    cdef bint takes_numbers(self, const Arrays* a) noexcept nogil:
        """Whether the numbers of features will do."""
        return self.unchanged and a.distinct != 0

    cdef Expansion expand(self, const Arrays* a, size_t line, int buffer, bint numbered) noexcept nogil:
        """Fill a buffer with the features of a line, by numbers if that is possible and requested."""
        cdef size_t first, last, i, n
        cdef Expansion crossed
        cdef uint32_t mask = self.mask
        cdef const uint32_t* hash
        cdef const float* value
        cdef uint32_t* keys
        if self.derivation is not None:
            a = self.derive(a, &line)
            if a == NULL:
                return NO_SPACE
        first, last = a.span_begin[line], a.span_begin[line + 1]
        self.f = &self.buffers[buffer]
        self.f.size = 0
        self.hidden = 0
        self.f.hash_numbers = NULL
        n = a.feature_begin[last] - a.feature_begin[first]
        numbered = numbered and self.takes_numbers(a)
        if n > self.bound and not numbered:
            return OVERSIZED if self.normalizer is None else TOO_LARGE
        if self.reserve(n + 1):
            return NO_SPACE
        if numbered:
            self.f.hash_numbers = a.hash_number + a.feature_begin[first]
            value = a.value + a.feature_begin[first]
            i = 0
            while i < n:
                prefetch_read(self.f.hash_numbers + i + AHEAD)
                prefetch_read(value + i + AHEAD)
                i += LINE
            copy(self.f.values, value, n * sizeof(float))
            self.f.size = n
        else:
            if not self.filters:
                hash = a.hash + a.feature_begin[first]
                value = a.value + a.feature_begin[first]
                keys = self.f.keys
                i = 0
                while i < n:
                    prefetch_read(hash + i + AHEAD)
                    prefetch_read(value + i + AHEAD)
                    i += LINE
                for i in range(n):
                    keys[i] = hash[i] & mask
                copy(self.f.values, value, n * sizeof(float))
                self.f.size = n
            else:
                self.filter(a, first, last)
            if self.unchanged:
                return NO_SPACE if self.constant and self.add_constant() else WHOLE
            if self.constant and self.constant_early and self.add_constant():
                return NO_SPACE
            if self.wild or self.terms_size:
                crossed = self.cross(a, line)
                if crossed != WHOLE:
                    return crossed
            if self.constant_early:
                return WHOLE
            if self.normalizer is not None and (self.reserve(self.normalizer.extra) or self.normalizer.apply(
                    self.f.keys, self.f.values, &self.f.size)):
                return NO_SPACE
        if self.constant and self.add_constant():
            return NO_SPACE
        return WHOLE

    cdef void filter(self, const Arrays* a, size_t first, size_t last) noexcept nogil:
        """Add the features of namespaces from `first` on that are not ignored; space must have been reserved."""
        cdef size_t span, i
        for span in range(first, last):
            if self.linear[a.letter[span]] and self.alive[a.letter[span]]:
                for i in range(a.feature_begin[span], a.feature_begin[span + 1]):
                    self.f.keys[self.f.size] = a.hash[i] & self.mask
                    self.f.values[self.f.size] = a.value[i]
                    self.f.size += 1
            elif self.alive[a.letter[span]]:
                self.hidden += a.feature_begin[span + 1] - a.feature_begin[span]

    cdef int add_constant(self) noexcept nogil:
        if self.reserve(1):
            return -1
        self.f.keys[self.f.size] = CONSTANT & self.mask
        self.f.values[self.f.size] = 1
        self.f.size += 1
        return 0

    cdef Expansion cross(self, const Arrays* a, size_t line) noexcept nogil:
        """Add the interactions of a line."""
        cdef size_t at = 0
        cdef int failed = self.begin_crossing(a, line)
        cdef Odometer* o = &self.odometer
        if not failed and self.f.size + self.count_crossed() > self.bound:
            self.end_crossing()
            return OVERSIZED if self.normalizer is None else TOO_LARGE
        while at < self.terms_size and not failed:
            o.depth = o.at[0] = o.within = 0
            failed = self.combine(self.terms + at + 1, self.terms[at], o, <size_t>-1)
            at += self.terms[at] + 1
        self.end_crossing()
        return NO_SPACE if failed else WHOLE

    cdef int begin_crossing(self, const Arrays* a, size_t line) noexcept nogil:
        """Find the namespaces of a line that interactions ask for; -1: no memory."""
        cdef size_t span, n, first, last
        cdef uint8_t letter
        cdef FeatureRun* run
        first, last = a.span_begin[line], a.span_begin[line + 1]
        if a == &self.derived.a:
            last = self.derived.crossed
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
        if self.named_count:
            n *= 2      # a namespace may be asked for by its letter and by its name
        if n > self.gathered_capacity:
            if (resize(<void**>&self.gathered_hash, ample(n), sizeof(uint32_t))
                    or resize(<void**>&self.gathered_value, ample(n), sizeof(float))):
                return -1
            self.gathered_capacity = ample(n)
        self.gathered = 0
        for span in range(first, last):
            letter = a.letter[span]
            if not (self.crossed[letter] and self.alive[letter]):
                continue
            run = &self.runs[letter]
            if run.size == 0:
                run.hash, run.value = a.hash + a.feature_begin[span], a.value + a.feature_begin[span]
                run.size = a.feature_begin[span + 1] - a.feature_begin[span]
            elif not is_gathered(self, run):
                self.gather(a, letter, first, last)
        if self.named_count and a.space != NULL:
            self.gather_named(a, first, last)
        return 0

    cdef void end_crossing(self) noexcept nogil:
        cdef size_t i
        for i in range(self.asked_size):
            self.runs[self.asked[i]].size = 0
        for i in range(self.named_count):
            self.runs[256 + i].size = 0

    cdef uint64_t count_crossed(self) noexcept nogil:
        """The number of features from interactions of the namespaces found, at most MOST_COUNTED."""
        cdef size_t at = 0, i, order
        cdef uint64_t sum = 0, product, size
        cdef const uint16_t* letters
        cdef uint64_t times          # the number of repetitions of the letter up to here
        while at < self.terms_size:
            order, letters = self.terms[at], self.terms + at + 1
            product, times = 1, 0
            for i in range(order):
                size = self.runs[letters[i]].size
                times = times + 1 if i > 0 and letters[i] == letters[i - 1] and not self.permutations else 1
                size += times - 1
                if (product | size) >> 31 and size > 0 and product > MOST_COUNTED / size:
                    return MOST_COUNTED
                product *= size
                if times > 1:
                    product //= times       # combinations with repetition
            sum += product
            if sum > MOST_COUNTED:
                return MOST_COUNTED
            at += order + 1
        return sum

    cdef void gather(self, const Arrays* a, uint8_t letter, size_t first, size_t last) noexcept nogil:
        """Copy the features of a namespace that occurs more than once into one run."""
        cdef FeatureRun* run = &self.runs[letter]
        cdef size_t span, i
        run.hash, run.value = self.gathered_hash + self.gathered, self.gathered_value + self.gathered
        run.size = 0
        for span in range(first, last):
            if a.letter[span] == letter:
                for i in range(a.feature_begin[span], a.feature_begin[span + 1]):
                    self.gathered_hash[self.gathered] = a.hash[i]
                    self.gathered_value[self.gathered] = a.value[i]
                    self.gathered += 1
                    run.size += 1

    cdef void gather_named(self, const Arrays* a, size_t first, size_t last) noexcept nogil:
        """As `gather`, for all namespaces that are crossed by name."""
        cdef FeatureRun* run
        cdef size_t span, i, k, begin, size
        for k in range(self.named_count):
            run = &self.runs[256 + k]
            for span in range(first, last):
                if a.space[span] != self.named[k] or not self.alive[a.letter[span]]:
                    continue
                begin, size = a.feature_begin[span], a.feature_begin[span + 1] - a.feature_begin[span]
                self.named_seen[k] = True
                if run.size == 0:
                    run.hash, run.value, run.size = a.hash + begin, a.value + begin, size
                    continue
                if run.hash != self.gathered_hash + self.gathered - run.size:     # a second occurrence: copy the first
                    for i in range(run.size):
                        self.gathered_hash[self.gathered + i] = run.hash[i]
                        self.gathered_value[self.gathered + i] = run.value[i]
                    run.hash, run.value = self.gathered_hash + self.gathered, self.gathered_value + self.gathered
                    self.gathered += run.size
                for i in range(begin, begin + size):
                    self.gathered_hash[self.gathered] = a.hash[i]
                    self.gathered_value[self.gathered] = a.value[i]
                    self.gathered += 1
                run.size += size

    cdef int combine(self, const uint16_t* letters, size_t order, Odometer* o, size_t most) noexcept nogil:
        """Add the products of one interaction, from the position of the odometer, until there are `most` features.

        0: that was the last one; 1: more may follow; -1: no memory.
        """
        cdef size_t* at = o.at
        cdef FeatureRun* run
        cdef FeatureRun* inner = &self.runs[letters[order - 1]]
        cdef size_t depth, i, begin, end
        cdef uint64_t h
        cdef float x
        for depth in range(order):
            if self.runs[letters[depth]].size == 0:
                return 0
        depth = o.depth
        while True:
            if not o.within:
                run = &self.runs[letters[depth]]
                if at[depth] == run.size:       # this level is done: on with the one outside
                    if depth == 0:
                        return 0
                    depth -= 1
                    at[depth] += 1
                    continue
                if depth == 0:
                    o.hash[0] = <uint64_t>PRIME * run.hash[at[0]]
                    o.value[0] = run.value[at[0]]
                else:
                    o.hash[depth] = <uint64_t>PRIME * (o.hash[depth - 1] ^ run.hash[at[depth]])
                    o.value[depth] = o.value[depth - 1] * run.value[at[depth]]
                begin = at[depth] if letters[depth + 1] == letters[depth] and not self.permutations else 0
                if depth + 2 < order:
                    depth += 1
                    at[depth] = begin
                    continue
            else:
                begin = o.inner
            end = begin + min(inner.size - begin, most - self.f.size)
            if self.reserve(end - begin + 1):
                return -1
            h, x = o.hash[depth], o.value[depth]
            for i in range(begin, end):
                self.f.keys[self.f.size] = <uint32_t>(h ^ inner.hash[i]) & self.mask
                self.f.values[self.f.size] = x * inner.value[i]
                self.f.size += 1
            o.within = end < inner.size
            if o.within:
                o.depth, o.inner = depth, end
                return 1
            at[depth] += 1

    # --- in chunks ---------------------------------------------------------------------------

    cdef uint64_t count(self, const Arrays* a, size_t line) noexcept nogil:
        """The number of features of the line of begin_chunks, including the intercept and hidden ones."""
        cdef size_t span
        cdef uint64_t n = self.constant
        if self.derivation is not None:
            a, line = &self.derived.a, 0
        self.hidden = 0
        for span in range(a.span_begin[line], a.span_begin[line + 1]):
            if self.alive[a.letter[span]]:
                if self.linear[a.letter[span]]:
                    n += a.feature_begin[span + 1] - a.feature_begin[span]
                else:
                    self.hidden += a.feature_begin[span + 1] - a.feature_begin[span]
        return n + self.count_crossed()

    cdef int begin_chunks(self, const Arrays* a, size_t line) noexcept nogil:
        """Start to deliver the features of a line by `next_chunk`, until `end_chunks`; -1: no memory."""
        a = self.derive(a, &line)
        if a == NULL:
            return -1
        self.a, self.line = a, line
        memset(self.runs, 0, sizeof(self.runs))
        self.f = &self.part
        self.f.size = 0
        if self.reserve(self.chunk + 1) or self.begin_crossing(a, line):
            return -1
        self.rewind()
        return 0

    cdef void rewind(self) noexcept nogil:
        """Restart the iteration."""
        self.stage = LINEAR
        self.span = self.a.span_begin[self.line]
        self.at = self.a.feature_begin[self.span]

    cdef bint next_chunk(self) noexcept nogil:
        """Fill `part` with the next features; whether there were any."""
        self.f = &self.part
        self.f.size = 0
        while self.stage != ENDED and self.f.size < self.chunk:
            if self.stage == LINEAR:
                self.add_linear()
                if self.span == self.a.span_begin[self.line + 1]:
                    self.stage = EARLY_CONSTANT if self.constant and self.constant_early else TERMS
                    self.at = self.odometer.depth = self.odometer.at[0] = self.odometer.within = 0
            elif self.stage == TERMS:
                if self.at == self.terms_size:
                    self.stage = LATE_CONSTANT if self.constant and not self.constant_early else ENDED
                elif not self.combine(self.terms + self.at + 1, self.terms[self.at], &self.odometer, self.chunk):
                    self.at += self.terms[self.at] + 1
                    self.odometer.depth = self.odometer.at[0] = self.odometer.within = 0
            else:
                self.add_constant()
                self.stage = TERMS if self.stage == EARLY_CONSTANT else ENDED
        return self.f.size > 0

    cdef void add_linear(self) noexcept nogil:
        """Add features of the line, as many as fit into the chunk."""
        cdef size_t i, end
        cdef uint8_t letter
        while self.span < self.a.span_begin[self.line + 1] and self.f.size < self.chunk:
            letter, end = self.a.letter[self.span], self.a.feature_begin[self.span + 1]
            if self.linear[letter] and self.alive[letter]:
                end = min(end, self.at + self.chunk - self.f.size)
                for i in range(self.at, end):
                    self.f.keys[self.f.size] = self.a.hash[i] & self.mask
                    self.f.values[self.f.size] = self.a.value[i]
                    self.f.size += 1
            self.at = end
            if end == self.a.feature_begin[self.span + 1]:
                self.span += 1

    cdef void end_chunks(self) noexcept nogil:
        """The batch may be another by now."""
        memset(self.runs, 0, sizeof(self.runs))

    def largest(self, Batch batch not None):
        """The number of features of the largest line of a batch, with those of interactions."""
        cdef size_t line
        cdef uint64_t most = 0
        if batch.decode():
            raise MemoryError
        for line in range(batch.a.lines):
            if batch.a.kind[line] == EXAMPLE:
                most = max(most, self.count_all(&batch.a, line))
        return most

    cdef uint64_t count_all(self, const Arrays* a, size_t line) except? 0:
        """The number of features of a line before its crossing begins."""
        cdef uint64_t n
        a = self.derive(a, &line)
        if a == NULL or self.begin_crossing(a, line):
            raise MemoryError
        n = self.count(a, line)
        self.end_crossing()
        return n

    def features(self, Batch batch not None, size_t line, uint64_t most=MOST_COUNTED):
        """The keys and values of a line of a batch, as lists. OverflowError: there are more than `most`."""
        cdef size_t i
        cdef Expansion found
        if line >= batch.a.lines:
            raise IndexError(line)
        if batch.decode():
            raise MemoryError
        if self.count_all(&batch.a, line) > most:
            raise OverflowError(f"an example has more than {most} features")
        found = self.expand(&batch.a, line, 0, False)
        if found == TOO_LARGE:
            raise OverflowError("an example has too many features to normalize them")
        if found == NO_SPACE or (found == OVERSIZED and self.begin_chunks(&batch.a, line)):
            raise MemoryError
        keys, values = [], []
        while found == WHOLE or self.next_chunk():
            keys += [self.f.keys[i] for i in range(self.f.size)]
            values += [self.f.values[i] for i in range(self.f.size)]
            if found == WHOLE:
                return keys, values
        if len(keys) != self.count(&batch.a, line):
            raise AssertionError(f"{len(keys)} features, not {self.count(&batch.a, line)}")
        self.end_chunks()
        return keys, values
