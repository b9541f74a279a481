"""Names of features, collected while text is parsed: the names of the indices of a model.

A name is NAMESPACE^NAME, or only a name without a namespace; a nameless feature is named by its number, from 0. A
cross is its components with `*` between them.

The parser of a block records the positions of names in its text. Most features of a block have been seen before: so a
finder, one per parsing thread, has a set of the hashes that it has seen, and in front of it a small cache of the
most recent ones. Only names of new hashes are copied. For a cross it stores the hashes of its components.

The store merges the results of finders block by block, in the order of the stream, and keeps new entries. Each
finder passes on the first name of each hash in its blocks; so the store has the same names, the first ones,
for any number of threads and any block size. All sets contain 32-bit hashes; two names that share an index
of fewer bits are both kept.

Learning does not depend on it.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer, Py_buffer
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memchr, memcmp, memcpy, memset

from vwlite.core.base.buffers cimport append, copy, reserve
from vwlite.core.base.escapes cimport unescape
from vwlite.core.base.fibonacci cimport place_of, shift_of
from vwlite.core.base.prefetch cimport prefetch_read
from vwlite.core.base.simd cimport likely
from vwlite.core.base.sorting cimport sort_by_high_half
from vwlite.core.data.batch cimport EXAMPLE, REJECTED, Arrays, Batch
from vwlite.core.data.expand cimport Expander, FeatureRun
from vwlite.core.text.parser cimport Parser
from vwlite.core.text.tokens cimport TokenSettings, hash_of, name_length, space_before

cdef enum:
    PRIME = 16777619        # FNV's, as in expand.pyx
    SMALLEST = 1 << 12      # slots of a set
    RECENT_BITS = 15        # of the places for hashes that were met lately
    AHEAD = 16              # prefetch distance, in hashes
    TEXT_OF_NAME = 100      # average bytes of text per name that a store reserves


# --- sets of hashes ------------------------------------------------------------------------------

cdef int make_set(HashSet* s, size_t capacity) noexcept nogil:
    """An empty set with `capacity` slots, a power of two; -1: no memory, and the set is unchanged."""
    cdef uint32_t* slots = <uint32_t*>calloc(capacity + 1, sizeof(uint32_t))
    if slots == NULL:
        return -1
    free(s.slots)
    s.slots, s.capacity, s.count, s.has_zero, s.shift = slots, capacity, 0, False, shift_of(capacity)
    return 0


cdef inline bint has(const HashSet* s, uint32_t hash) noexcept nogil:
    cdef size_t at
    if hash == 0:
        return s.has_zero
    at = place_of(hash, s.shift)
    while s.slots[at] != hash:
        if s.slots[at] == 0:
            return False
        at = (at + 1) & (s.capacity - 1)
    return True


cdef inline bint is_near(const HashSet* s, uint32_t hash) noexcept nogil:
    """Whether a hash is in one of its first two slots, as most are. Without a branch, which would be unpredictable."""
    cdef const uint32_t* slot = s.slots + place_of(hash, s.shift)
    return ((slot[0] == hash) | (slot[1] == hash)) & (hash != 0)


cdef inline bint put(HashSet* s, uint32_t hash) noexcept nogil:
    """Add a hash to a set that has a free slot; returns whether it is new."""
    cdef size_t at
    if hash == 0:
        if s.has_zero:
            return False
        s.has_zero = True
        return True
    at = place_of(hash, s.shift)
    while s.slots[at] != 0:
        if s.slots[at] == hash:
            return False
        at = (at + 1) & (s.capacity - 1)
    s.slots[at] = hash
    s.count += 1
    return True


cdef inline bint is_full(const HashSet* s) noexcept nogil:
    return 2 * s.count >= s.capacity


cdef int copy_larger(const HashSet* s, HashSet* larger) noexcept nogil:
    """A copy of the set with more capacity; -1: no memory."""
    cdef size_t i
    larger.slots = NULL
    if make_set(larger, 2 * s.capacity):
        return -1
    for i in range(s.capacity):
        if s.slots[i] != 0:
            put(larger, s.slots[i])
    larger.has_zero = s.has_zero
    return 0


cdef int insert(HashSet* s, uint32_t hash) noexcept nogil:
    """1 if it is new, 0 if not; -1: no memory."""
    cdef HashSet larger
    if not put(s, hash):
        return 0
    if is_full(s):
        if copy_larger(s, &larger):
            return -1
        free(s.slots)
        s[0] = larger
    return 1


cdef inline bint is_recent(const uint32_t* recent, uint32_t hash) noexcept nogil:
    """Whether a table of hashes that were met lately has this one."""
    return (recent[place_of(hash, 64 - RECENT_BITS)] == hash) & (hash != 0)


cdef inline void remember(uint32_t* recent, uint32_t hash) noexcept nogil:
    recent[place_of(hash, 64 - RECENT_BITS)] = hash


# --- finding -------------------------------------------------------------------------------------

cdef class NameFinder:
    """Finds names of features that it has not seen before, in blocks of text, for one thread.

    store: receives the names; when it is full, the search stops. expander: keep, ignore, ignore_linear and
    interactions of the model, in an Expander of its own. wanted: keys of a model with as many bits as the expander; if
    given, only names of these are searched, and those of all components of interactions. hash_all: as the parser's.
    """

    def __cinit__(self, NameStore store not None, Expander expander not None, *, bint hash_all=False, wanted=None,
                  int bits=32):
        cdef uint32_t key
        cdef int letter
        self.store, self.expander = store, expander
        self.parser, self.converted = Parser(hash_all=hash_all, labels_in_tags=True, places=True), Batch()
        self.converted.first_line = 2       # without byte order mark
        self.crossing = expander.wild or expander.terms_size != 0
        self.all_alive = True
        for letter in range(256):
            self.all_alive &= expander.alive[letter]
        self.mask = <uint32_t>((<uint64_t>1 << bits) - 1)
        self.recent = <uint32_t*>calloc(<size_t>2 << RECENT_BITS, sizeof(uint32_t))
        self.recent_crosses = self.recent + (<size_t>1 << RECENT_BITS)
        if (self.recent == NULL or make_set(&self.met, SMALLEST) or make_set(&self.crossed, SMALLEST)
                or make_set(&self.wanted, SMALLEST)):
            raise MemoryError("no memory for the names of features")
        self.selects = wanted is not None
        if self.selects:
            for key in wanted:
                if insert(&self.wanted, key) < 0:
                    raise MemoryError("no memory for the names of features")

    def __dealloc__(self):
        free(self.recent)
        free(self.met.slots)
        free(self.crossed.slots)
        free(self.wanted.slots)
        free(self.news)
        free(self.unescaped)
        free(self.found.data)
        free(self.text.data)
        free(self.crosses.data)

    def find(self, block, Batch batch not None, *, convert=None):
        """The new names of a block, for `NameStore.take`; None without new names. batch: the result of a parser with
        `places` for this block, not numbered yet. For any other batch, `convert` creates VW text when it is needed, and
        a batch of the same lines that marks rejected lines, which are not in the text; None: no line is rejected."""
        cdef Py_buffer info
        cdef Batch named = batch, kinds = None
        cdef int failed = 0
        self.found.size = self.text.size = self.crosses.size = self.news_count = 0
        if batch.decode():
            raise MemoryError("no memory for the hashes of a batch")
        with nogil:
            if not self.store.full:
                failed = self.look(&batch.a)
        if convert is not None and self.news_count > 0:
            block, kinds = convert()
            named = self.converted
            self.parser.parse(block, named)
        if named.name_begin == NULL and self.news_count > 0:
            raise ValueError("the parser of this batch did not note the places of names")
        PyObject_GetBuffer(block, &info, PyBUF_SIMPLE)
        try:
            with nogil:
                if not failed and self.news_count > 0:
                    failed = self.copy_names(<const char*>info.buf, info.len, &batch.a, named, kinds)
                if not failed and self.crossing and not self.store.crosses_full:
                    failed = self.cross(&batch.a)
        finally:
            PyBuffer_Release(&info)
        if failed:
            raise MemoryError("no memory for the names of features")
        if self.found.size == 0 and self.crosses.size == 0:
            return None
        return taken(&self.found), taken(&self.text), taken(&self.crosses)

    def find_crosses(self, Batch batch not None):
        """As `find`, but only crosses, for a store that has the names of their components from elsewhere."""
        cdef int failed = 0
        self.crosses.size = 0
        if batch.decode():
            raise MemoryError("no memory for the hashes of a batch")
        if self.crossing and not self.store.crosses_full:
            with nogil:
                failed = self.cross(&batch.a)
        if failed:
            raise MemoryError("no memory for the names of features")
        return b"", b"", taken(&self.crosses)

    def new_lines(self, Batch batch not None):
        """For the `convert` of `find`: a byte per line of the batch, not zero if it has new names. The text of other
        lines is not used."""
        cdef const Arrays* a = &batch.a
        cdef size_t line, at = 0
        found = bytearray(a.lines)
        cdef char* has = found
        for line in range(a.lines):
            while at < self.news_count and self.news[at] < a.feature_begin[a.span_begin[line + 1]]:
                has[line] = 1
                at += 1
        return found

    cdef int look(self, const Arrays* a) noexcept nogil:
        """Record the features whose hash is new; -1: no memory."""
        cdef const uint32_t* hash = a.hash
        cdef size_t span, i, n = 0
        cdef uint32_t h
        cdef int fresh
        if reserve(<void**>&self.news, &self.news_capacity, a.features + 1, sizeof(uint32_t)):
            return -1
        # First those that were not met lately: most were.
        if self.all_alive:
            n = self.not_recent(hash, 0, a.features, 0)
        else:
            for span in range(a.spans):
                if self.expander.alive[a.letter[span]]:
                    n = self.not_recent(hash, a.feature_begin[span], a.feature_begin[span + 1], n)
        for i in range(n):
            if i + AHEAD < n:
                prefetch_read(self.met.slots + place_of(hash[self.news[i + AHEAD]], self.met.shift))
            h = hash[self.news[i]]
            if is_recent(self.recent, h):       # by now
                continue
            if a.value[self.news[i]] == 0:      # a derived feature of a table, which is not in the text
                continue
            remember(self.recent, h)
            if is_near(&self.met, h):
                continue
            if self.selects and not self.crossing and not has(&self.wanted, h & self.mask):
                continue
            fresh = insert(&self.met, h)
            if fresh < 0:
                return -1
            self.news[self.news_count] = self.news[i]
            self.news_count += fresh
        return 0

    cdef size_t not_recent(self, const uint32_t* hash, size_t begin, size_t end, size_t n) noexcept nogil:
        """Append to `news`, which has n places, those of [begin, end) whose hash is not recent. Returns the new n."""
        cdef const uint32_t* recent = self.recent
        cdef uint32_t* news = self.news
        cdef size_t i
        for i in range(begin, end):
            news[n] = <uint32_t>i
            n += not is_recent(recent, hash[i])
        return n

    cdef int copy_names(self, const char* text, size_t size, const Arrays* a, Batch named, Batch kinds) noexcept nogil:
        """Pass on the names of the new features, whose positions in the text are in `named`; -1: no memory. kinds:
        see `find`, or None."""
        cdef const Arrays* b = &named.a
        cdef Found found
        cdef const uint8_t* kind = NULL if kinds is None else kinds.a.kind
        cdef size_t known = 0 if kinds is None else kinds.a.lines
        cdef size_t i, k, at, line = 0, row = 0, span = 0   # row: of the text
        cdef size_t seen = a.feature_begin[a.span_begin[0]] if a.lines else 0, zeros = 0    # of the line, before k
        cdef size_t known_span = b.spans
        cdef uint32_t space_size = 0, name_size, seed
        cdef const TokenSettings* s = &self.parser.settings
        cdef char[16] number
        cdef const char* end = text + size
        cdef const char* name
        cdef const char* space = NULL
        for i in range(self.news_count):
            k = self.news[i]
            while a.feature_begin[a.span_begin[line + 1]] <= k:
                row += line >= known or kind[line] != REJECTED
                line += 1
                seen, zeros = a.feature_begin[a.span_begin[line]], 0
            if row >= b.lines:
                break
            while seen < k:
                zeros += a.value[seen] == 0
                seen += 1
            at = k - zeros - a.feature_begin[a.span_begin[line]] + b.feature_begin[b.span_begin[row]]
            while span < b.spans and b.feature_begin[span + 1] <= at:
                span += 1
            if span == b.spans:
                continue
            if named.name_begin[at] >= size:
                break
            name = text + named.name_begin[at]
            if span != known_span:
                known_span, space_size = span, 0
                if b.letter[span] != c' ':      # the namespace follows the bar that precedes the feature
                    space = space_before(text, name)
                    space_size = name_length(space, end)
            name_size = name_length(name, end)
            if name_size == 0 or b.hash[at] != a.hash[k] or memchr(name, c'%', name_size) != NULL:
                seed = hash_of(s, space, space_size, s.seed) if space_size else s.unnamed
                if name_size == 0 and b.hash[at] == a.hash[k]:      # the k-th has the hash of the namespace + k
                    name, name_size = number, <uint32_t>snprintf(number, 16, b"%u", a.hash[k] - seed)
                elif hash_of(s, name, name_size, seed) != a.hash[k]:    # escaped, or the text says something else
                    if reserve(<void**>&self.unescaped, &self.unescaped_size, name_size, 1):
                        return -1
                    name, name_size = self.unescaped, <uint32_t>unescape(self.unescaped, name, name_size)
                    if hash_of(s, name, name_size, seed) != a.hash[k]:
                        continue
            found.hash, found.component = a.hash[k], not self.expander.linear[b.letter[span]]
            found.size = name_size + space_size + (space_size > 0)
            if (append(&self.found, &found, sizeof(Found)) or append(&self.text, space, space_size)
                    or append(&self.text, b"^", space_size > 0) or append(&self.text, name, name_size)):
                return -1
        return 0

    # --- crosses -----------------------------------------------------------------------------

    cdef int cross(self, const Arrays* a) noexcept nogil:
        """Pass on the components of new crosses of all lines; -1: no memory."""
        cdef const uint16_t* letters
        cdef size_t line, at, i, order
        cdef bint whole
        cdef int failed
        for line in range(a.lines):
            if a.kind[line] != EXAMPLE:
                continue
            failed = self.expander.begin_crossing(a, line)
            at = 0
            while at < self.expander.terms_size and not failed:
                order, letters = self.expander.terms[at], self.expander.terms + at + 1
                whole = True
                for i in range(order):
                    whole &= self.expander.runs[letters[i]].size != 0
                failed = self.combine(letters, order, 0, 0, 0) if whole else 0
                at += order + 1
            self.expander.end_crossing()
            if failed:
                return -1
        return 0

    cdef int combine(self, const uint16_t* letters, size_t order, size_t depth, size_t begin,
                     uint64_t hash) noexcept nogil:
        """Iterate over the products of an interaction from `depth` on, in the order of Expander.combine."""
        cdef FeatureRun* run = &self.expander.runs[letters[depth]]
        cdef size_t i, next
        cdef uint64_t h
        cdef uint32_t key, size = <uint32_t>order
        cdef int fresh
        for i in range(begin, run.size):
            h = hash ^ run.hash[i]
            self.components[depth] = run.hash[i]
            if depth + 1 < order:
                next = i if letters[depth + 1] == letters[depth] and not self.expander.permutations else 0
                if self.combine(letters, order, depth + 1, next, h * <uint64_t>PRIME):
                    return -1
                continue
            key = <uint32_t>h
            if likely(is_recent(self.recent_crosses, key)):
                continue
            if self.selects and not has(&self.wanted, key & self.mask):
                continue
            if self.crossed.count >= self.store.most:   # the store is full, or will be
                return 0
            fresh = insert(&self.crossed, key)
            if fresh < 0:
                return -1
            remember(self.recent_crosses, key)
            if fresh == 0:
                continue
            if (append(&self.crosses, &key, 4) or append(&self.crosses, &size, 4)
                    or append(&self.crosses, self.components, 4 * order)):
                return -1
        return 0


cdef object taken(Buffer* buffer):
    cdef size_t size = buffer.size
    buffer.size = 0
    return PyBytes_FromStringAndSize(buffer.data, size)


# --- keeping -------------------------------------------------------------------------------------

cdef int by_text(const void* a, const void* b) noexcept nogil:
    cdef const Named* x = <const Named*>a
    cdef const Named* y = <const Named*>b
    cdef int order = memcmp(x.text, y.text, min(x.size, y.size)) if min(x.size, y.size) > 0 else 0
    return order if order != 0 else (x.size > y.size) - (x.size < y.size)


cdef int by_key(const void* a, const void* b) noexcept nogil:
    cdef const Named* x = <const Named*>a
    cdef const Named* y = <const Named*>b
    return by_text(a, b) if x.key == y.key else (1 if x.key > y.key else -1)


cdef class NameStore:
    """At most `most` names of features, the first ones, with 100 bytes of text for each on average; and as many
    crosses, stored by their components.

    known: names of a model, which are stored as names of features: their keys, ends and text, as in FeatureNames.
    full, crosses_full: whether the capacity is used up, so that names may be missing.
    """

    def __cinit__(self, size_t most, known=None):
        self.most, self.most_text = most, TEXT_OF_NAME * most
        self.known = known
        if known is not None:
            self.known_count = len(known[0])
        self.full, self.crosses_full = self.known_count >= most, most == 0
        if self.number_names() or make_set(&self.crossed, SMALLEST):
            raise MemoryError("no memory for the names of features")

    def __dealloc__(self):
        free(self.names)
        free(self.ends)
        free(self.places)
        free(self.text.data)
        free(self.crosses.data)
        free(self.cross_at)
        free(self.crossed.slots)

    def __len__(self):
        return self.known_count + self.count + self.cross_count

    def take(self, found):
        """Add the new names that a finder has found, up to the capacity. Blocks must come in the order of the text."""
        cdef const unsigned char[::1] names, text, crosses
        cdef size_t i, at = 0
        cdef Found one
        cdef int failed = 0
        if found is None:
            return
        names, text, crosses = found
        with nogil:
            for i in range(names.shape[0] // sizeof(Found)):
                if (i + AHEAD) * sizeof(Found) < <size_t>names.shape[0]:
                    prefetch_read(
                        self.places + place_of((<const Found*>&names[(i + AHEAD) * sizeof(Found)]).hash, self.shift))
                memcpy(&one, &names[i * sizeof(Found)], sizeof(Found))
                failed = self.add(&one, <const char*>&text[at] if one.size else NULL)
                if failed:
                    break
                at += one.size
            at = 0
            while not failed and at < <size_t>crosses.shape[0]:
                failed = self.add_cross(<const uint32_t*>&crosses[at])
                at += 8 + 4 * (<const uint32_t*>&crosses[at])[1]
        if failed:
            raise MemoryError("no memory for the names of features")

    cdef int place(self, uint32_t hash, size_t* at) noexcept nogil:
        """1 + the number of the name with that hash, and its position in `places`; 0: not found, and the position to
        insert it."""
        cdef uint32_t number
        at[0] = place_of(hash, self.shift)
        while True:
            number = self.places[at[0]]
            if number == 0 or self.names[number - 1].hash == hash:
                return number
            at[0] = (at[0] + 1) & (self.place_capacity - 1)

    cdef int number_names(self) noexcept nogil:
        """Rebuild the index of `place` with all names, and capacity for twice as many; -1: no memory."""
        cdef size_t capacity = SMALLEST, i, at
        while capacity < 4 * self.count:
            capacity *= 2
        free(self.places)
        self.places, self.place_capacity = <uint32_t*>calloc(capacity, sizeof(uint32_t)), capacity
        self.shift = shift_of(capacity)
        if self.places == NULL:
            return -1
        for i in range(self.count):
            self.place(self.names[i].hash, &at)
            self.places[at] = <uint32_t>(i + 1)
        return 0

    cdef int add(self, const Found* found, const char* text) noexcept nogil:
        cdef size_t at
        if self.full or self.place(found.hash, &at):
            return 0
        if self.text.size + found.size > self.most_text:
            self.full = True
            return 0
        if (reserve(<void**>&self.names, &self.name_capacity, self.count + 1, sizeof(Found))
                or reserve(<void**>&self.ends, &self.end_capacity, self.count + 1, sizeof(uint64_t))
                or append(&self.text, text, found.size)):
            return -1
        self.names[self.count], self.ends[self.count] = found[0], self.text.size
        self.count += 1
        self.places[at] = <uint32_t>self.count
        self.full = self.known_count + self.count >= self.most
        return self.number_names() if 2 * self.count >= self.place_capacity else 0

    cdef int add_cross(self, const uint32_t* record) noexcept nogil:
        cdef int fresh
        if self.crosses_full:
            return 0
        fresh = insert(&self.crossed, record[0])
        if fresh <= 0:
            return fresh
        if reserve(<void**>&self.cross_at, &self.cross_capacity, self.cross_count + 1, sizeof(uint64_t)):
            return -1
        self.cross_at[self.cross_count] = self.crosses.size
        if append(&self.crosses, record, 8 + 4 * record[1]):
            return -1
        self.cross_count += 1
        self.crosses_full = self.cross_count >= self.most
        return 0

    cdef int compose(self, const uint32_t* record, Buffer* out) noexcept nogil:
        """Append the name of a cross. 1: a component without a name; -1: no memory."""
        cdef size_t i, at, begin, before = out.size
        cdef int number
        for i in range(record[1]):
            number = self.place(record[2 + i], &at)
            if number == 0:
                out.size = before
                return 1
            begin = self.ends[number - 1] - self.names[number - 1].size
            if append(out, b"*", i > 0) or append(out, self.text.data + begin, self.names[number - 1].size):
                return -1
        return 0

    def of(self, const uint32_t[::1] keys not None, const double[::1] weights not None, size_t records, int bits):
        """The names of the keys (ascending) that have a nonzero weight among their `records`: keys, ends and text as in
        FeatureNames, as three bytearrays. MemoryError."""
        cdef const uint32_t[::1] known_keys
        cdef const uint32_t[::1] known_ends
        cdef const unsigned char[::1] known_text
        cdef KnownNames known
        cdef Gathered g
        cdef size_t i, total = 0
        cdef uint32_t* out_keys
        cdef uint32_t* out_ends
        cdef char* out_text
        memset(&known, 0, sizeof(known))
        if self.known_count:
            known_keys, known_ends, known_text = self.known
            known.keys, known.ends = &known_keys[0], &known_ends[0]
            known.text = <const char*>&known_text[0] if known_text.shape[0] else NULL
        memset(&g, 0, sizeof(g))
        try:
            if keys.shape[0]:
                with nogil:
                    i = self.gather(&keys[0], keys.shape[0], &weights[0], records, bits, &known, &g)
                if i:
                    raise MemoryError("no memory for the names of features")
            for i in range(g.count):
                total += g.names[i].size
            if total >> 32:
                raise MemoryError("the names of features have more than 2^32 bytes")
            of_keys, of_ends, text = bytearray(4 * g.count), bytearray(4 * g.count), bytearray(total)
            out_keys, out_ends, out_text = <uint32_t*><char*>of_keys, <uint32_t*><char*>of_ends, text
            total = 0
            for i in range(g.count):
                copy(out_text + total, g.names[i].text, g.names[i].size)
                total += g.names[i].size
                out_keys[i], out_ends[i] = g.names[i].key, <uint32_t>total
            return of_keys, of_ends, text
        finally:
            free(g.items)
            free(g.names)
            free(g.made.data)

    cdef int gather(self, const uint32_t* keys, size_t n, const double* weights, size_t records, int bits,
                    const KnownNames* known, Gathered* g) noexcept nogil:
        """The names of keys with a weight, by key and text, each once; -1: no memory."""
        cdef uint32_t mask = <uint32_t>((<uint64_t>1 << bits) - 1), key
        cdef size_t i, j, at = 0, count = 0, place, begin
        cdef size_t every = self.count + self.known_count + self.cross_count
        cdef bint alive
        cdef int state
        cdef Named* one
        cdef uint64_t* items        # in order
        g.items = <uint64_t*>malloc(2 * every * sizeof(uint64_t) + 1)
        if g.items == NULL:
            return -1
        # Which key each has; those of a key that has no weight are left out when both are in order.
        for i in range(self.count):
            if not self.names[i].component:
                g.items[count] = <uint64_t>(self.names[i].hash & mask) << 32 | i
                count += 1
        for i in range(self.known_count):
            g.items[count] = <uint64_t>known.keys[i] << 32 | (self.count + i)
            count += 1
        for i in range(self.cross_count):
            key = (<const uint32_t*>(self.crosses.data + self.cross_at[i]))[0] & mask
            g.items[count] = <uint64_t>key << 32 | (self.count + self.known_count + i)
            count += 1
        items = sort_by_high_half(g.items, g.items + every, count)
        g.names = <Named*>malloc(count * sizeof(Named) + 1)
        if g.names == NULL:
            return -1
        for i in range(count):
            key, place = <uint32_t>(items[i] >> 32), <uint32_t>items[i]
            if i == 0 or key != items[i - 1] >> 32:
                while at < n and keys[at] < key:
                    at += 1
                alive = False
                if at < n and keys[at] == key:
                    for j in range(records):
                        alive |= weights[at * records + j] != 0
            if not alive:
                continue
            one = &g.names[g.count]
            one.key, one.text = key, NULL
            if place < self.count:
                one.size = self.names[place].size
                one.text = self.text.data + self.ends[place] - one.size
            elif place < self.count + self.known_count:
                place -= self.count
                begin = known.ends[place - 1] if place else 0
                one.size, one.text = <uint32_t>(known.ends[place] - begin), known.text + begin
            else:       # composed: its text may still be moved
                begin = g.made.size
                place -= self.count + self.known_count
                state = self.compose(<const uint32_t*>(self.crosses.data + self.cross_at[place]), &g.made)
                if state < 0:
                    return -1
                if state > 0:
                    continue
                one.size = <uint32_t>(g.made.size - begin)
            g.count += 1
        begin = 0
        for i in range(g.count):
            if g.names[i].text == NULL:
                g.names[i].text = g.made.data + begin
                begin += g.names[i].size
        # Names of the same key by their text, each once.
        i, count = 0, 0
        while i < g.count:
            j = i + 1
            while j < g.count and g.names[j].key == g.names[i].key:
                j += 1
            if j - i > 1:
                qsort(g.names + i, j - i, sizeof(Named), by_text)
            for place in range(i, j):
                if place == i or by_text(&g.names[place], &g.names[count - 1]):
                    g.names[count] = g.names[place]
                    count += 1
            i = j
        g.count = count
        return 0


def disorder(const uint32_t[::1] names_keys not None, const uint32_t[::1] ends not None,
             const unsigned char[::1] text not None, const uint32_t[::1] keys not None):
    """An error message for names in the form of FeatureNames, for a model with these ascending keys; None if they are
    valid."""
    cdef size_t i, at = 0, n = names_keys.shape[0], known = keys.shape[0]
    cdef uint32_t begin = 0
    cdef Named last, name
    if <size_t>ends.shape[0] != n:
        return "it has not as many ends of names as names"
    for i in range(n):
        if not begin <= ends[i] <= <size_t>text.shape[0]:
            return "a name ends before it begins, or behind all names"
        name.key, name.size = names_keys[i], ends[i] - begin
        name.text = <const char*>&text[begin] if name.size else NULL
        if i > 0 and by_key(&last, &name) >= 0:
            return "names are not ascending"
        while at < known and keys[at] < name.key:
            at += 1
        if at == known or keys[at] != name.key:
            return "a name is of a feature that is not there"
        last, begin = name, ends[i]
    return "there is more text than names" if begin != <size_t>text.shape[0] else None


cdef struct Listed:
    # Names of a model in their order, at any address. Not owned.
    const char* keys
    const char* ends
    const char* text
    size_t n, at, size
    uint32_t begin


cdef Listed listed(names) except *:
    """Keys, ends and text as in FeatureNames, which the caller keeps."""
    cdef const unsigned char[::1] keys, ends, text
    cdef Listed found
    memset(&found, 0, sizeof(found))
    found.n = len(names[0])
    if found.n:
        keys, ends = names[0].cast("B"), names[1].cast("B")
        found.keys, found.ends = <const char*>&keys[0], <const char*>&ends[0]
    if len(names[2]):
        text = names[2]
        found.text, found.size = <const char*>&text[0], len(names[2])
    return found


cdef inline bint next_name(Listed* names, Named* name) noexcept nogil:
    """The next name, if there is one."""
    cdef uint32_t end
    if names.at == names.n:
        return False
    memcpy(&name.key, names.keys + 4 * names.at, 4)
    memcpy(&end, names.ends + 4 * names.at, 4)
    name.size, name.text = end - names.begin, names.text + names.begin
    names.at += 1
    names.begin = end
    return True


def united(known, more, const uint32_t[::1] keys not None, size_t most):
    """The names of these ascending keys in two models: those of `known`, and of `more` up to the capacity, for
    `most` names with 100 bytes of text each on average. known, more: keys, ends and text as in FeatureNames, at any
    address. Keys, ends and text as three bytearrays, and whether all fit. MemoryError."""
    cdef Listed[2] lists
    cdef Named[2] now
    cdef bint[2] is_there
    cdef size_t j, at = 0, n = keys.shape[0], count = 0, total = 0, capacity = TEXT_OF_NAME * most
    cdef int order
    cdef uint32_t end
    cdef bint whole = True
    cdef char* out_keys
    cdef char* out_ends
    cdef char* out_text
    lists[0], lists[1] = listed(known), listed(more)
    if (lists[0].size + lists[1].size) >> 32:
        raise MemoryError("the names of features have more than 2^32 bytes")
    of_keys, of_text = bytearray(4 * (lists[0].n + lists[1].n)), bytearray(lists[0].size + lists[1].size)
    of_ends = bytearray(len(of_keys))
    out_keys, out_ends, out_text = of_keys, of_ends, of_text
    most -= min(most, lists[0].n)
    capacity -= min(capacity, lists[0].size)
    with nogil:
        is_there[0], is_there[1] = next_name(&lists[0], &now[0]), next_name(&lists[1], &now[1])
        while is_there[0] or is_there[1]:
            order = -1 if not is_there[1] else 1 if not is_there[0] else by_key(&now[0], &now[1])
            j = order > 0
            while at < n and keys[at] < now[j].key:
                at += 1
            if at < n and keys[at] == now[j].key:
                if j and (most == 0 or now[j].size > capacity):
                    whole = False
                else:
                    copy(out_text + total, now[j].text, now[j].size)
                    total += now[j].size
                    end = <uint32_t>total
                    memcpy(out_keys + 4 * count, &now[j].key, 4)
                    memcpy(out_ends + 4 * count, &end, 4)
                    count += 1
                    if j:
                        most -= 1
                        capacity -= now[j].size
            if order == 0:
                is_there[1] = next_name(&lists[1], &now[1])
            is_there[j] = next_name(&lists[j], &now[j])
    del of_keys[4 * count:], of_ends[4 * count:], of_text[total:]
    return of_keys, of_ends, of_text, whole
