"""A batch: one block of text, parsed into flat arrays.

The parser fills a batch, the learner reads it, the cache stores its arrays on disk as they are in memory
and reads them back, except trivial ones such as importances of 1: batches that are read share memory for
them. A batch does not depend on files, options or weights.

A batch is reused for the next block: `clear` removes the content and keeps the memory, so
that a warm program allocates nothing per line.

Most features of a block occur in it many times. So a batch can number the distinct ones: in the
cache, two bytes replace a hash, and the learner looks up each distinct hash once.
Several batches can have the same numbers (dictionary.pyx).
"""

from bisect import bisect_left
from itertools import accumulate

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.buffer cimport PyBUF_SIMPLE, PyObject_GetBuffer, PyBuffer_Release, Py_buffer
from libc.math cimport INFINITY, fabs, floor, isfinite, isnan
from libc.stdlib cimport free
from libc.string cimport memcmp, memcpy, memset

from vwlite.core.base.arrays cimport view_of
from vwlite.core.base.buffers cimport copy, reserve, resize
from vwlite.core.base.fibonacci cimport place_of, shift_of
from vwlite.core.base.targets cimport *

cdef extern from *:
    """
    /* The least and the largest absolute value of floats, as their bits times 2. */
    VWLITE_CLONES static void vwlite_spread(const uint32_t *bits, size_t n, uint32_t *least, uint32_t *largest) {
        uint32_t low = UINT32_MAX, high = 0;
        for (size_t i = 0; i < n; i++) {
            uint32_t x = bits[i] << 1;
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        *least = low;
        *largest = high;
    }

    VWLITE_CLONES static int vwlite_all_below(const uint16_t *number, size_t n, size_t limit) {
        uint16_t largest = 0;
        for (size_t i = 0; i < n; i++) {
            largest = number[i] > largest ? number[i] : largest;
        }
        return n == 0 || largest < limit;
    }

    /* Whether begins run from 0 to `last` without falling. */
    VWLITE_CLONES static int vwlite_rises(const uint32_t *begin, size_t items, size_t last) {
        uint32_t falls = 0;
        for (size_t i = 0; i < items; i++) {
            falls |= begin[i] > begin[i + 1];
        }
        return !falls && begin[0] == 0 && begin[items] == last;
    }

    /* Whether begins are 0, step, 2 step, ... */
    VWLITE_CLONES static int vwlite_is_rising_by(const uint32_t *begin, size_t items, uint32_t step) {
        uint32_t other = 0;
        for (size_t i = 0; i < items; i++) {
            other |= begin[i] ^ (uint32_t)i * step;
        }
        return !other;
    }
    """
    void spread "vwlite_spread"(const uint32_t* bits, size_t n, uint32_t* least, uint32_t* largest) noexcept nogil
    bint all_below "vwlite_all_below"(const uint16_t* number, size_t n, size_t limit) noexcept nogil
    bint rises "vwlite_rises"(const uint32_t* begin, size_t items, size_t last) noexcept nogil
    bint is_rising_by "vwlite_is_rising_by"(const uint32_t* begin, size_t items, uint32_t step) noexcept nogil

cdef enum:
    COUNTS = 6      # lines, spans, features, tag_bytes, distinct, form: the head of a dump, uint64 each
    ARRAYS = 13
    BLOCK = 64      # spans that are compared at a time
    INFINITE = 0xFF000000   # the bits of a float, times 2, from where on it is not finite


# The form of a dump, as bits: which arrays it leaves out, as their content follows from the counts.
cdef enum Form:
    NO_IMPORTANCE = 1       # all are 1
    NO_INITIAL = 2          # all are 0
    NO_TAG = 4              # no line has a tag, so begins of tags are omitted
    NO_SPAN_BEGIN = 8       # each line has the same namespaces; `letter` and `space` have those of one line
    NO_FEATURE_BEGIN = 16   # each span has one feature
    NO_VALUE = 32           # all are 1
    NO_KIND = 64            # all lines are examples
    SPACES = 128            # there are the hashes of namespaces
    ALL_FORMS = 255


cdef inline size_t aligned(size_t size) noexcept nogil:
    return (size + 7) & ~<size_t>7


cdef inline size_t spans_kept(const Arrays* a, uint64_t form) noexcept nogil:
    """The number of spans whose letters are in a dump."""
    return a.spans / a.lines if form & NO_SPAN_BEGIN else a.spans


cdef void sizes_of(const Arrays* a, uint64_t form, size_t* sizes) noexcept nogil:
    """Bytes of each array in a dump, in the order of the struct."""
    sizes[0] = 8 * a.lines
    sizes[1] = 0 if form & NO_IMPORTANCE else 8 * a.lines
    sizes[2] = 0 if form & NO_INITIAL else 8 * a.lines
    sizes[3] = 0 if form & NO_TAG else 4 * (a.lines + 1)
    sizes[4] = 0 if form & NO_SPAN_BEGIN else 4 * (a.lines + 1)
    sizes[5] = 0 if form & NO_FEATURE_BEGIN else 4 * (a.spans + 1)
    sizes[6] = 4 * a.distinct
    sizes[7] = 2 * a.features if a.distinct else 4 * a.features     # numbers or hashes
    sizes[8] = 0 if form & NO_VALUE else 4 * a.features
    sizes[9] = 0 if form & NO_KIND else a.lines
    sizes[10] = spans_kept(a, form)
    sizes[11] = a.tag_bytes
    sizes[12] = 4 * spans_kept(a, form) if form & SPACES else 0


cdef bint repeats(const void* data, size_t size, size_t period) noexcept nogil:
    """Whether bytes are the first `period` of them again and again."""
    return size <= period or memcmp(<const char*>data + period, data, size - period) == 0


cdef uint64_t form_of(const Arrays* a) noexcept nogil:
    """The arrays that a dump may omit."""
    cdef uint64_t form = SPACES if a.space != NULL else 0
    cdef double one = 1, zero = 0
    cdef float single = 1
    cdef uint8_t example = EXAMPLE
    cdef size_t n = a.lines, k
    if n == 0:
        return form
    if memcmp(a.importance, &one, 8) == 0 and repeats(a.importance, 8 * n, 8):
        form |= NO_IMPORTANCE
    if memcmp(a.initial, &zero, 8) == 0 and repeats(a.initial, 8 * n, 8):
        form |= NO_INITIAL
    if a.tag_bytes == 0:
        form |= NO_TAG
    if a.kind[0] == example and repeats(a.kind, n, 1):
        form |= NO_KIND
    if a.features and memcmp(a.value, &single, 4) == 0 and repeats(a.value, 4 * a.features, 4):
        form |= NO_VALUE
    if a.spans == a.features and is_rising_by(a.feature_begin, a.spans + 1, 1):
        form |= NO_FEATURE_BEGIN
    if a.spans % n == 0:
        k = a.spans / n
        if (is_rising_by(a.span_begin, n + 1, <uint32_t>k) and repeats(a.letter, a.spans, k)
                and (a.space == NULL or repeats(a.space, 4 * a.spans, 4 * k))):
            form |= NO_SPAN_BEGIN
    return form


cdef class Uniform:
    """The contents of arrays that a dump omits: a repeated pattern, or begins that rise by a step."""

    cdef char* data           # owned
    cdef size_t items
    cdef bytes pattern        # of an item
    cdef uint32_t step        # without a pattern

    def __cinit__(self, size_t items, bytes pattern, uint32_t step):
        cdef size_t i, size = len(pattern)
        cdef const char* item = <const char*>pattern
        self.items, self.pattern, self.step = items, pattern, step
        if resize(<void**>&self.data, items + 1, max(size, sizeof(uint32_t))):
            raise MemoryError("no memory for a batch")
        if size:
            for i in range(items):
                memcpy(self.data + i * size, item, size)
        else:
            for i in range(items):
                (<uint32_t*>self.data)[i] = <uint32_t>i * step

    def __dealloc__(self):
        free(self.data)


cdef dict UNIFORM = {}      # by the name of the array: the last one, which mostly is that of the next batch too


cdef void* uniform(Batch batch, str name, size_t items, bytes pattern, uint32_t step=0) except NULL:
    """Memory with at least `items` items of a pattern, or with begins that rise by a step, which batches share."""
    cdef Uniform found = UNIFORM.get(name)
    if found is None or found.items < items or found.pattern != pattern or found.step != step:
        found = Uniform(items + items // 4, pattern, step)
        UNIFORM[name] = found
    batch.shared.append(found)
    return found.data


cdef uint64_t dictionaries = 0      # that were given a number


cdef uint64_t new_dictionary():
    """The number of a dictionary that batches will share."""
    global dictionaries
    dictionaries += 1
    return dictionaries


cdef class Places:
    def __dealloc__(self):
        free(self.begin)


cdef object last_sums = (None, None)   # of the breaks of the last batch that was asked: its list, and what is made of it


cdef object sums_of(breaks):
    """The lines of breaks in order, and the number of line ends before each and behind the last."""
    global last_sums
    of, found = last_sums
    if of is not breaks:
        places = [at for at, _ in breaks]
        found = places, [0, *accumulate(count for _, count in breaks)]
        last_sums = breaks, found
    return found


@cython.no_gc_clear   # else the garbage collector takes `owner` away before __dealloc__ asks for it
cdef class Batch:
    """One block of text, parsed. Every sequence below is a read-only view that is valid until
    the batch is filled again."""

    def __cinit__(self):
        memset(&self.a, 0, sizeof(Arrays))
        self.source, self.first_line, self.breaks = "", 1, ()
        self.shared = []

    def __dealloc__(self):
        if self.owner is None:
            free(self.a.label)
            free(self.a.importance)
            free(self.a.initial)
            free(self.a.tag_begin)
            free(self.a.span_begin)
            free(self.a.feature_begin)
            free(self.a.hash)
            free(self.a.hash_number)
            free(self.a.distinct_hash)
            free(self.a.value)
            free(self.a.kind)
            free(self.a.letter)
            free(self.a.tags)
            free(self.a.space)
        free(self.faults)
        free(self.places)
        free(self.decoded)

    cdef void clear(self) noexcept nogil:
        """Forget the content, keep the memory."""
        self.a.lines = self.a.spans = self.a.features = self.a.tag_bytes = self.a.distinct = 0
        self.coded = False
        self.fault_count = 0
        self.name_begin = NULL

    cdef int keep_spaces(self, bint keep) noexcept nogil:
        """Set whether to store the hashes of namespaces; before the batch is filled. -1: no memory."""
        if keep and self.a.space == NULL:
            return resize(<void**>&self.a.space, self.span_capacity + 1, 4)
        if not keep and self.a.space != NULL:
            free(self.a.space)
            self.a.space = NULL
        return 0

    cdef int keep_places(self) noexcept nogil:
        """Record in `name_places` where names start, until the batch is cleared. -1: no memory."""
        if reserve(<void**>&self.name_places.begin, &self.name_places.capacity, self.feature_capacity + 1, 4):
            return -1
        self.name_begin = self.name_places.begin
        return 0

    cdef int reserve(self, size_t lines, size_t spans, size_t features, size_t tag_bytes) noexcept nogil:
        """Reserve space for that many more; -1 when memory is out. Doubles, so it costs O(1) per item."""
        cdef size_t want
        want = self.a.lines + lines
        if want >= self.line_capacity:
            want = max(want + 1, 2 * self.line_capacity)
            if (resize(<void**>&self.a.label, want, 8) or resize(<void**>&self.a.importance, want, 8)
                    or resize(<void**>&self.a.initial, want, 8) or resize(<void**>&self.a.tag_begin, want + 1, 4)
                    or resize(<void**>&self.a.span_begin, want + 1, 4) or resize(<void**>&self.a.kind, want, 1)):
                return -1
            self.line_capacity = want
        want = self.a.spans + spans
        if want >= self.span_capacity:
            want = max(want + 1, 2 * self.span_capacity)
            if resize(<void**>&self.a.feature_begin, want + 1, 4) or resize(<void**>&self.a.letter, want, 1):
                return -1
            if self.a.space != NULL and resize(<void**>&self.a.space, want + 1, 4):
                return -1
            self.span_capacity = want
        want = self.a.features + features
        if want > self.feature_capacity:
            want = max(want, 2 * self.feature_capacity)
            if resize(<void**>&self.a.hash, want, 4) or resize(<void**>&self.a.value, want, 4):
                return -1
            self.feature_capacity = want
            if self.name_begin != NULL and self.keep_places():
                return -1
        want = self.a.tag_bytes + tag_bytes
        if want > self.tag_capacity:
            want = max(want, 2 * self.tag_capacity)
            if resize(<void**>&self.a.tags, want, 1):
                return -1
            self.tag_capacity = want
        return 0

    cdef int add_fault(self, const ParseError* fault) noexcept nogil:
        if reserve(<void**>&self.faults, &self.fault_capacity, self.fault_count + 1, sizeof(ParseError)):
            return -1
        self.faults[self.fault_count] = fault[0]
        self.fault_count += 1
        return 0

    def number_hashes(self):
        """Number the distinct hashes, in the order in which they first occur, if they are few: at most half as many as
        features, and at most 2^16. MemoryError."""
        cdef int failed
        if self.owner is not None:
            raise ValueError("a view is as it was written")
        with nogil:
            failed = self.assign_hash_numbers()
        if failed:
            raise MemoryError("no memory for the numbers of a batch")

    cdef int assign_hash_numbers(self) noexcept nogil:
        cdef size_t i, capacity, n = self.a.features, distinct = 0
        cdef size_t most = min(n // 2, <size_t>MOST_DISTINCT)
        cdef size_t at
        cdef int shift
        cdef uint32_t hash, found
        self.a.distinct = self.a.dictionary = 0
        if most == 0:
            return 0
        if self.places == NULL and resize(<void**>&self.places, 2 * MOST_DISTINCT, 4):
            return -1
        if self.a.distinct_hash == NULL and resize(<void**>&self.a.distinct_hash, MOST_DISTINCT, 4):
            return -1
        if n > self.number_capacity:
            if resize(<void**>&self.a.hash_number, 2 * n, 2):
                return -1
            self.number_capacity = 2 * n
        capacity = 1
        while capacity < 2 * most:
            capacity *= 2
        shift = shift_of(capacity)
        memset(self.places, 0, capacity * 4)
        for i in range(n):
            hash = self.a.hash[i]
            at = place_of(hash, shift)
            while True:
                found = self.places[at]
                if found == 0:
                    if distinct == most:
                        return 0
                    self.a.distinct_hash[distinct] = hash
                    distinct += 1
                    self.places[at] = found = <uint32_t>distinct
                    break
                if self.a.distinct_hash[found - 1] == hash:
                    break
                at = (at + 1) & (capacity - 1)
            self.a.hash_number[i] = <uint16_t>(found - 1)
        self.a.distinct = distinct
        return 0

    cdef int decode(self) noexcept nogil:
        """Restore the hashes of a numbered batch that has only numbers; -1: no memory."""
        cdef size_t i
        if self.a.distinct == 0 or not (self.coded or self.a.hash == NULL):
            return 0
        if self.a.hash == NULL:
            if resize(<void**>&self.decoded, self.a.features + 1, 4):
                return -1
            self.a.hash = self.decoded
        self.coded = False
        for i in range(self.a.features):
            self.a.hash[i] = self.a.distinct_hash[self.a.hash_number[i]]
        return 0

    def gather(self):
        """Reorder the spans of each line so that namespaces with the same letter are adjacent, at the position of the
        first. Not after `number_hashes`. MemoryError."""
        cdef size_t line
        cdef bint failed = False
        cdef uint32_t[256] seen
        if self.owner is not None:
            raise ValueError("a view is as it was written")
        if self.a.space != NULL:
            raise ValueError("namespaces that are grouped have no names of their own")
        memset(seen, 0, sizeof(seen))
        with nogil:
            for line in range(self.a.lines):
                if is_scattered(&self.a, line, seen) and self.gather_line(line):
                    failed = True
                    break
        if failed:
            raise MemoryError("no memory to sort the namespaces of a line")

    cdef int gather_line(self, size_t line) noexcept nogil:
        """`gather` one line, with the free space after the arrays as a buffer; -1: no memory."""
        cdef size_t first = self.a.span_begin[line], spans = self.a.span_begin[line + 1] - first
        cdef size_t begin = self.a.feature_begin[first], to = begin, at = first, i, j, size
        cdef size_t features = self.a.feature_begin[first + spans] - begin
        cdef uint8_t[256] done
        cdef uint8_t* letter
        cdef uint32_t* starts
        cdef uint32_t* hash
        cdef float* value
        if self.reserve(0, spans + 1, features, 0):
            return -1
        letter, starts = self.a.letter + self.a.spans, self.a.feature_begin + self.a.spans + 1
        hash, value = self.a.hash + self.a.features, self.a.value + self.a.features
        memcpy(letter, self.a.letter + first, spans)
        memcpy(hash, self.a.hash + begin, 4 * features)
        memcpy(value, self.a.value + begin, 4 * features)
        for i in range(spans + 1):
            starts[i] = self.a.feature_begin[first + i] - <uint32_t>begin
        memset(done, 0, sizeof(done))
        for i in range(spans):
            if done[letter[i]]:
                continue
            done[letter[i]] = True
            for j in range(i, spans):
                if letter[j] == letter[i]:
                    size = starts[j + 1] - starts[j]
                    memcpy(self.a.hash + to, hash + starts[j], 4 * size)
                    memcpy(self.a.value + to, value + starts[j], 4 * size)
                    self.a.letter[at], self.a.feature_begin[at] = letter[i], <uint32_t>to
                    to += size
                    at += 1
        return 0

    # --- filled by Python --------------------------------------------------------------------

    def append(self, int kind, double label, double importance, double initial, bytes tag, spans):
        """Add a line. spans: for each span its letter, the hashes and the values of its features, as sequences.

        As in every batch, no value may be zero; empty spans are left out.
        """
        cdef size_t line = self.a.lines, n
        cdef const char* text = tag
        if self.owner is not None:
            raise ValueError("this batch looks at foreign memory: it cannot be filled")
        if self.reserve(1, 1, 0, len(tag)):
            raise MemoryError("no memory for a batch")
        if line == 0:
            self.a.tag_begin[0] = self.a.span_begin[0] = self.a.feature_begin[0] = 0
        for letter, hashes, values in spans:
            if self.reserve(0, 1, len(hashes), 0):
                raise MemoryError("no memory for a batch")
            n = self.a.features
            for hash, value in zip(hashes, values):
                if value != 0:
                    self.a.hash[n], self.a.value[n] = <uint32_t>(<uint64_t>hash), <float><double>value
                    n += 1
            if n == self.a.features:
                continue
            self.a.letter[self.a.spans] = letter
            self.a.spans += 1
            self.a.features = n
            self.a.feature_begin[self.a.spans] = <uint32_t>n
        copy(self.a.tags + self.a.tag_bytes, text, len(tag))
        self.a.tag_bytes += len(tag)
        self.a.label[line], self.a.importance[line], self.a.initial[line] = label, importance, initial
        self.a.kind[line] = kind
        self.a.lines += 1
        self.a.tag_begin[line + 1], self.a.span_begin[line + 1] = <uint32_t>self.a.tag_bytes, <uint32_t>self.a.spans

    def set_tags(self, tags):
        """Give the lines of a batch without tags these, as bytes. ValueError unless there is one for each line."""
        cdef bytes text = b"".join(tags)
        cdef const char* begin = text
        cdef size_t line, end = 0
        if self.owner is not None or self.a.tag_bytes or len(tags) != self.a.lines:
            raise ValueError("tags are for the lines of a batch that has none")
        if self.a.lines == 0:
            return
        if self.reserve(0, 0, 0, len(text)):
            raise MemoryError("no memory for a batch")
        self.a.tag_begin[0] = 0
        for line in range(self.a.lines):
            end += len(tags[line])
            self.a.tag_begin[line + 1] = <uint32_t>end
        copy(self.a.tags, begin, len(text))
        self.a.tag_bytes = len(text)

    def extend(self, Batch other not None, size_t begin, size_t end):
        """Add the lines [begin, end) of another batch."""
        cdef int failed
        if begin > end or end > other.a.lines:
            raise IndexError(end)
        self.check_like(other)
        with nogil:
            failed = self.copy_lines(&other.a, begin, end)
        if failed:
            raise MemoryError("no memory for a batch")

    def part(self, size_t begin, size_t end):
        """A copy of the lines [begin, end)."""
        cdef Batch found = Batch()
        if found.keep_spaces(self.a.space != NULL):
            raise MemoryError("no memory for a batch")
        found.extend(self, begin, end)
        found.source, found.first_line = self.source, self.first_line + begin
        return found

    def chosen(self, const uint8_t[::1] lines not None):
        """A copy of the lines whose entry is not 0."""
        cdef Batch found = Batch()
        cdef size_t line
        cdef bint failed = False
        if <size_t>lines.shape[0] != self.a.lines:
            raise ValueError("as many entries as lines")
        if found.keep_spaces(self.a.space != NULL) or self.decode():
            raise MemoryError("no memory for a batch")
        with nogil:
            for line in range(self.a.lines):
                if lines[line]:
                    failed |= found.copy_lines(&self.a, line, line + 1) != 0
        if failed:
            raise MemoryError("no memory for a batch")
        found.source = self.source
        return found

    def map_labels(self, double negative, double positive):
        """Make these labels -1 and 1. Returns the lines that have another one: they are REJECTED."""
        cdef size_t line
        found = []
        for line in range(self.a.lines):
            if self.a.kind[line] != EXAMPLE or isnan(self.a.label[line]):
                continue
            if self.a.label[line] == negative:
                self.a.label[line] = -1
            elif self.a.label[line] == positive:
                self.a.label[line] = 1
            else:
                self.a.kind[line] = REJECTED
                found.append(line)
        return found

    def set_labels(self, double[::1] labels not None):
        """Replace the label of each line. What a view looks at is not changed."""
        cdef size_t line
        if <size_t>labels.shape[0] != self.a.lines:
            raise IndexError(labels.shape[0])
        if self.owner is not None and self.a.lines:
            self.shared.append(labels)
            self.a.label = &labels[0]
            return
        for line in range(self.a.lines):
            self.a.label[line] = labels[line]

    def set_importance(self, double[::1] importance not None):
        """Replace the importance of each line. What a view looks at is not changed."""
        cdef size_t line
        if <size_t>importance.shape[0] != self.a.lines:
            raise IndexError(importance.shape[0])
        if self.owner is not None and self.a.lines:
            self.shared.append(importance)
            self.a.importance = &importance[0]
            return
        for line in range(self.a.lines):
            self.a.importance[line] = importance[line]

    def reject(self, size_t row):
        """Make a bad line of an example. IndexError for a line that is not there, or in a view."""
        if self.owner is not None or row >= self.a.lines:
            raise IndexError(row)
        self.a.kind[row] = REJECTED

    cdef check_like(self, Batch other):
        """Before `copy_lines` of the other batch: ValueError if its lines cannot be added, MemoryError."""
        if self.owner is not None:
            raise ValueError("this batch looks at foreign memory: it cannot be filled")
        if (self.a.space == NULL) != (other.a.space == NULL):
            raise ValueError("only one of the batches knows the names of its namespaces")
        if other.decode():
            raise MemoryError("no memory for the hashes of a batch")

    cdef int copy_lines(self, const Arrays* a, size_t begin, size_t end) noexcept nogil:
        """Add lines of a batch that `check_like` has accepted; -1: no memory."""
        cdef size_t i, lines, spans, features, tags, first_span, first_feature, first_tag
        if begin == end:
            return 0
        first_span, first_tag = a.span_begin[begin], a.tag_begin[begin]
        first_feature = a.feature_begin[first_span]
        spans, tags = a.span_begin[end] - first_span, a.tag_begin[end] - first_tag
        features = a.feature_begin[first_span + spans] - first_feature
        lines = end - begin
        if self.reserve(lines, spans + 1, features, tags):
            return -1
        if self.a.lines == 0:
            self.a.tag_begin[0] = self.a.span_begin[0] = self.a.feature_begin[0] = 0
        copy(self.a.label + self.a.lines, a.label + begin, 8 * lines)
        copy(self.a.importance + self.a.lines, a.importance + begin, 8 * lines)
        copy(self.a.initial + self.a.lines, a.initial + begin, 8 * lines)
        copy(self.a.kind + self.a.lines, a.kind + begin, lines)
        copy(self.a.letter + self.a.spans, a.letter + first_span, spans)
        if self.a.space != NULL:
            copy(self.a.space + self.a.spans, a.space + first_span, 4 * spans)
        copy(self.a.hash + self.a.features, a.hash + first_feature, 4 * features)
        copy(self.a.value + self.a.features, a.value + first_feature, 4 * features)
        copy(self.a.tags + self.a.tag_bytes, a.tags + first_tag, tags)
        for i in range(1, lines + 1):
            self.a.tag_begin[self.a.lines + i] = <uint32_t>(a.tag_begin[begin + i] - first_tag + self.a.tag_bytes)
            self.a.span_begin[self.a.lines + i] = <uint32_t>(a.span_begin[begin + i] - first_span + self.a.spans)
        for i in range(1, spans + 1):
            self.a.feature_begin[self.a.spans + i] = <uint32_t>(
                a.feature_begin[first_span + i] - first_feature + self.a.features)
        self.a.lines += lines
        self.a.spans += spans
        self.a.features += features
        self.a.tag_bytes += tags
        return 0

    # --- Python interface, for tests and the cache ----------------------------------------

    def __len__(self):
        return self.a.lines

    cdef object _view(self, void* data, size_t items, size_t size, str code):
        return view_of(self, data, items, size, code)

    @property
    def label(self):
        return self._view(self.a.label, self.a.lines, 8, "d")

    @property
    def importance(self):
        return self._view(self.a.importance, self.a.lines, 8, "d")

    @property
    def initial(self):
        return self._view(self.a.initial, self.a.lines, 8, "d")

    @property
    def kind(self):
        return self._view(self.a.kind, self.a.lines, 1, "B")

    @property
    def tag_begin(self):
        return self._view(self.a.tag_begin, self.a.lines + 1 if self.a.lines else 0, 4, "I")

    @property
    def span_begin(self):
        return self._view(self.a.span_begin, self.a.lines + 1 if self.a.lines else 0, 4, "I")

    @property
    def feature_begin(self):
        return self._view(self.a.feature_begin, self.a.spans + 1 if self.a.spans else 0, 4, "I")

    @property
    def letter(self):
        return self._view(self.a.letter, self.a.spans, 1, "B")

    @property
    def space(self):
        """The hashes of the namespaces, or nothing."""
        return self._view(self.a.space, self.a.spans if self.a.space != NULL else 0, 4, "I")

    def distinct_spaces(self):
        """The different ones of them, as a set."""
        cdef uint32_t recent[1024]   # by their low bits, so that each is added about once
        cdef const uint32_t* space = self.a.space
        cdef size_t i = 0, k, n = self.a.spans, period
        cdef uint32_t x, differs
        found = set()
        if self.a.space == NULL or self.a.spans == 0:
            return found
        for k in range(1024):
            recent[k] = ~<uint32_t>k     # another one than is looked for there
        period = max(self.a.span_begin[1], 1)    # of most lines, if each has the namespaces of the first
        while i < n:
            while i >= period and n - i >= BLOCK:     # those that are as a period before, as vectors
                differs = 0
                for k in range(BLOCK):
                    differs |= space[i + k] ^ space[i + k - period]
                if differs:
                    break
                i += BLOCK
            for i in range(i, min(i + BLOCK, n)):
                x = space[i]
                if recent[x & 1023] != x:
                    recent[x & 1023] = x
                    found.add(x)
            i += 1
        return found

    @property
    def distinct(self):
        """The distinct hashes if they are numbered, else nothing."""
        return self._view(self.a.distinct_hash, self.a.distinct, 4, "I")

    @property
    def hash(self):
        if self.decode():
            raise MemoryError("no memory for the hashes of a batch")
        return self._view(self.a.hash, self.a.features, 4, "I")

    @property
    def value(self):
        return self._view(self.a.value, self.a.features, 4, "f")

    def line_number(self, size_t line):
        """The position of a line of the batch in its file."""
        if not self.breaks:
            return self.first_line + line
        places, sums = sums_of(self.breaks)
        return self.first_line + line + sums[bisect_left(places, line)]

    def tag(self, size_t line):
        """The tag of a line, as bytes."""
        if line >= self.a.lines:
            raise IndexError(line)
        cdef uint32_t begin = self.a.tag_begin[line]
        return PyBytes_FromStringAndSize(self.a.tags + begin, self.a.tag_begin[line + 1] - begin)

    # --- as bytes ----------------------------------------------------------------------------

    def dump(self):
        """The parts of the batch as bytes-like objects, to be written one after the other.

        Six uint64 counts, then each array padded to 8 bytes, in the machine's byte order. If the hashes are numbered,
        their indices replace them, after the distinct hashes. The last count is the Form: which arrays are left
        out, and whether there are the hashes of namespaces.
        """
        cdef uint64_t form
        cdef size_t sizes[ARRAYS]
        cdef void* arrays[ARRAYS]
        cdef size_t i
        # A batch without lines or spans still has its single closing zero.
        if self.owner is None:
            if self.reserve(1, 1, 0, 0):
                raise MemoryError("no memory for a batch")
            if self.a.lines == 0:
                self.a.tag_begin[0] = self.a.span_begin[0] = 0
            if self.a.spans == 0:
                self.a.feature_begin[0] = 0
        form = form_of(&self.a)
        sizes_of(&self.a, form, sizes)
        pointers_of(&self.a, arrays)
        parts = [b"".join(int(n).to_bytes(8, "little") for n in
                           (self.a.lines, self.a.spans, self.a.features, self.a.tag_bytes, self.a.distinct, form))]
        for i in range(ARRAYS):
            if sizes[i]:
                parts.append(view_of(self, arrays[i], sizes[i], 1, "B"))
            if aligned(sizes[i]) != sizes[i]:
                parts.append(bytes(aligned(sizes[i]) - sizes[i]))
        return parts

    def check_numbers(self, str domain="any", size_t classes=0, bint opens=False):
        """ValueError unless the numbers are as from the parser, for a domain of labels (see Parser) or for `classes`
        classes: values finite (opens: or OPEN of derivation.pxd), importances finite and not negative, labels within
        the domain or missing."""
        cdef double low = -INFINITY, high = INFINITY
        cdef bint whole = False, binary = domain == "binary"
        cdef const char* why
        cdef uint32_t least, largest
        if classes:
            low, high, whole, binary = 1, classes, True, False
        elif domain in ("nonnegative", "positive"):
            low = 0 if domain == "nonnegative" else 5e-324
        elif domain == "ternary":
            low, high, whole = -1, 1, True
        elif domain not in ("any", "binary", "log1p"):
            raise ValueError("unknown domain of labels")
        with nogil:
            spread(<const uint32_t*>self.a.value, self.a.features, &least, &largest)
            why = invalid_number(&self.a, low, high, whole, binary)
            if largest >= INFINITE and not (opens and all_open(self.a.value, self.a.features)):
                why = b"a value is not finite"
        if why != NULL:
            raise ValueError(why.decode())

    cdef int share(self, uint64_t form) except -1:
        """Set omitted arrays to memory that batches share."""
        cdef size_t n = self.a.lines, k
        cdef double one = 1
        cdef float single = 1
        if form & NO_IMPORTANCE:
            self.a.importance = <double*>uniform(self, "importance", n, (<char*>&one)[:8])
        if form & NO_INITIAL:
            self.a.initial = <double*>uniform(self, "initial", n, bytes(8))
        if form & NO_TAG:
            self.a.tag_begin = <uint32_t*>uniform(self, "tag_begin", n + 1, b"")
        if form & NO_FEATURE_BEGIN:
            self.a.feature_begin = <uint32_t*>uniform(self, "feature_begin", self.a.spans + 1, b"", 1)
        if form & NO_VALUE:
            self.a.value = <float*>uniform(self, "value", self.a.features, (<char*>&single)[:4])
        if form & NO_KIND:
            self.a.kind = <uint8_t*>uniform(self, "kind", n, bytes([EXAMPLE]))
        if form & NO_SPAN_BEGIN:
            k = self.a.spans / n
            self.a.span_begin = <uint32_t*>uniform(self, "span_begin", n + 1, b"", <uint32_t>k)
            if k:
                self.a.letter = <uint8_t*>uniform(self, "letter", n, (<char*>self.a.letter)[:k])
            if k and form & SPACES:
                self.a.space = <uint32_t*>uniform(self, "space", n, (<char*>self.a.space)[:4 * k])
        return 0

    @staticmethod
    def view(buffer, size_t offset, size_t size):
        """A batch that is a view of the output of `dump`, at `offset` of a buffer, without copying.

        The buffer is kept alive, and cannot be resized or closed as long as the batch lives.
        ValueError if the counts or the begins contradict the size, or a kind is invalid: a reader of
        the view never reads outside of its part, whatever the bytes are; or if a value is zero,
        which rules do not expect, in a batch without the hashes of namespaces. Other numbers are verified by a checksum and `check_numbers`.
        """
        cdef Batch batch = Batch()
        cdef Py_buffer info
        cdef size_t sizes[ARRAYS]
        cdef char* arrays[ARRAYS]
        cdef size_t at, i, kept
        cdef uint64_t form
        cdef const uint64_t* counts
        cdef const char* why
        cdef char* base
        PyObject_GetBuffer(buffer, &info, PyBUF_SIMPLE)
        try:
            if offset % 8 or size < 8 * COUNTS or offset > <size_t>info.len or size > <size_t>info.len - offset:
                raise ValueError("not a batch: it is outside of the buffer")
            base = <char*>info.buf + offset
            if <size_t>base % 8:
                raise ValueError("not a batch: its numbers do not lie at multiples of 8")
            batch.owner = memoryview(buffer)   # an export of its own
        finally:
            PyBuffer_Release(&info)
        counts = <const uint64_t*>base
        form = counts[COUNTS - 1]
        for i in range(COUNTS - 1):
            if counts[i] > size:
                raise ValueError("not a batch: a count is larger than the whole")
        batch.a.lines, batch.a.spans = counts[0], counts[1]
        batch.a.features, batch.a.tag_bytes, batch.a.distinct = counts[2], counts[3], counts[4]
        if not is_sound(&batch.a, form):
            raise ValueError("not a batch: what is left out does not follow from the counts")
        sizes_of(&batch.a, form, sizes)
        at = 8 * COUNTS
        for i in range(ARRAYS):
            arrays[i] = base + at
            at += aligned(sizes[i])
        if at != size:
            raise ValueError("not a batch: the counts do not add up to the size")
        batch.a.label = <double*>arrays[0]
        batch.a.importance = <double*>arrays[1]
        batch.a.initial = <double*>arrays[2]
        batch.a.tag_begin = <uint32_t*>arrays[3]
        batch.a.span_begin = <uint32_t*>arrays[4]
        batch.a.feature_begin = <uint32_t*>arrays[5]
        batch.a.distinct_hash = <uint32_t*>arrays[6]
        if batch.a.distinct:
            batch.a.hash_number = <uint16_t*>arrays[7]
        else:
            batch.a.hash = <uint32_t*>arrays[7]
        batch.a.value = <float*>arrays[8]
        batch.a.kind = <uint8_t*>arrays[9]
        batch.a.letter = <uint8_t*>arrays[10]
        batch.a.tags = arrays[11]
        if form & SPACES:
            batch.a.space = <uint32_t*>arrays[12]
        batch.share(form)
        with nogil:
            why = contradiction(&batch.a, form)
        if why != NULL:
            raise ValueError(f"not a batch: {why.decode()}")
        return batch


cdef bint is_scattered(const Arrays* a, size_t line, uint32_t* seen) noexcept nogil:
    """Whether a letter occurs again in a line after another one. seen: for each letter, 1 + the last line with it."""
    cdef size_t span
    cdef uint8_t letter
    for span in range(a.span_begin[line], a.span_begin[line + 1]):
        letter = a.letter[span]
        if seen[letter] == <uint32_t>line + 1 and a.letter[span - 1] != letter:
            return True
        seen[letter] = <uint32_t>line + 1
    return False


cdef void pointers_of(const Arrays* a, void** arrays) noexcept nogil:
    arrays[0] = a.label
    arrays[1] = a.importance
    arrays[2] = a.initial
    arrays[3] = a.tag_begin
    arrays[4] = a.span_begin
    arrays[5] = a.feature_begin
    arrays[6] = a.distinct_hash
    arrays[7] = <void*>a.hash_number if a.distinct else <void*>a.hash
    arrays[8] = a.value
    arrays[9] = a.kind
    arrays[10] = a.letter
    arrays[11] = a.tags
    arrays[12] = a.space


cdef bint is_sound(const Arrays* a, uint64_t form) noexcept nogil:
    """Whether arrays of these counts can be left out."""
    if form > ALL_FORMS or (form & NO_TAG and a.tag_bytes != 0):
        return False
    if form & NO_FEATURE_BEGIN and a.spans != a.features:
        return False
    return not form & NO_SPAN_BEGIN or (a.lines != 0 and a.spans % a.lines == 0)


cdef const char* contradiction(const Arrays* a, uint64_t form) noexcept nogil:
    """An error message for arrays that were read, or NULL; `form` tells which were not."""
    cdef size_t i
    cdef uint32_t least, largest
    if not ((form & NO_TAG or rises(a.tag_begin, a.lines, a.tag_bytes))
            and (form & NO_SPAN_BEGIN or rises(a.span_begin, a.lines, a.spans))
            and (form & NO_FEATURE_BEGIN or rises(a.feature_begin, a.spans, a.features))):
        return b"its ranges are out of order"
    if a.distinct and not (a.distinct <= MOST_DISTINCT and all_below(a.hash_number, a.features, a.distinct)):
        return b"a feature has an invalid number"
    if not form & NO_KIND:
        for i in range(a.lines):
            if a.kind[i] > REJECTED or (a.kind[i] != EXAMPLE and a.span_begin[i] != a.span_begin[i + 1]):
                return b"a line is neither an example nor empty"
    if form & NO_VALUE:
        return NULL
    spread(<const uint32_t*>a.value, a.features, &least, &largest)
    if least == 0 and not form & SPACES:     # with namespaces, features may be derived from a number that is 0
        return b"a value is zero"
    return NULL


cdef bint all_open(const float* value, size_t n) noexcept nogil:
    """Whether all values that are not finite are OPEN of derivation.pxd."""
    cdef size_t i
    for i in range(n):
        if not isfinite(value[i]) and value[i] != <float>INFINITY:
            return False
    return True


cdef const char* invalid_number(const Arrays* a, double low, double high, bint whole, bint binary) noexcept nogil:
    """An error message for the numbers before the features, or NULL."""
    cdef size_t i
    cdef double y
    for i in range(a.lines):
        if not (isfinite(a.importance[i]) and a.importance[i] >= 0 and isfinite(a.initial[i])):
            return b"an importance or an initial prediction is invalid"
        y = a.label[i]
        if isnan(y):
            continue
        if not (isfinite(y) and low <= y <= high) or (whole and y != floor(y)) or (binary and fabs(y) != 1):
            return b"a label is invalid"
    return NULL
