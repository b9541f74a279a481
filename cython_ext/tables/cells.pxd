"""From a cell of a table to features. The roles of columns are defined in vwlite/input/schema.py.

Each column is a namespace of that name. The hash of a numeric column's feature is fixed, and the hash of a
categorical one's starts with a fixed part: that of `name=`, as far as it fills whole blocks of murmur.

A `CellSink` receives either the features of a batch, or equivalent VW text. Functions return -1 without memory.
They do not read bytes outside of the cell, so that cells may be in external memory; except `add_padded_word`.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from vwlite.core.base.buffers cimport Buffer, append, reserve
from vwlite.core.base.escapes cimport fits_all, fits_byte
from vwlite.core.base.murmur cimport finish, hash_strings, mix, murmur, scramble
from vwlite.core.base.simd cimport likely, load32, load64, unlikely
from vwlite.core.data.batch cimport Batch
from vwlite.core.tables.known cimport Known, KnownKeys, is_known
from vwlite.core.tables.notation cimport Notation, Written
from vwlite.core.tables.times cimport Moment
from vwlite.core.text.numbers cimport whole_size

cdef extern from *:
    """
    /* Whether a name can hold the first n bytes of 16, n from 1 to 13, unless all are kept, and murmur's hash of them
       behind `rest`, bytes that did not fill a block; length: of the whole name. No branch, as the lengths of words are
       hard to foretell. */
    static inline int vwlite_hash_short(int keeps, uint32_t h, uint32_t rest, unsigned rest_size, uint32_t length,
            uint64_t head, uint64_t more, unsigned n, uint32_t *hash) {
        uint64_t first = n < 8 ? ((uint64_t)1 << (8 * n)) - 1 : ~(uint64_t)0;
        uint64_t second = n > 8 ? ((uint64_t)1 << (8 * n - 64)) - 1 : 0;
        unsigned shift = 8 * rest_size, blocks = (rest_size + n) >> 2;
        uint64_t low, high;
        uint32_t a, b, c, d, h1, h2, h3, last;
        if (!keeps && (!vwlite_fits((head & first) | (VWLITE_EACH('a') & ~first))
                || !vwlite_fits((more & second) | (VWLITE_EACH('a') & ~second)))) {
            return 0;
        }
        head &= first;
        more &= second;
        low = head << shift | rest;
        high = more << shift | (head >> 1) >> (63 - shift);
        a = (uint32_t)low, b = (uint32_t)(low >> 32), c = (uint32_t)high, d = (uint32_t)(high >> 32);
        h1 = vwlite_mix(h, a), h2 = vwlite_mix(h1, b), h3 = vwlite_mix(h2, c);
        h = blocks == 0 ? h : blocks == 1 ? h1 : blocks == 2 ? h2 : blocks == 3 ? h3 : vwlite_mix(h3, d);
        last = blocks == 0 ? a : blocks == 1 ? b : blocks == 2 ? c : blocks == 3 ? d : 0;
        *hash = vwlite_finish(h ^ vwlite_scramble(last), length);
        return 1;
    }
    """
    bint hash_short "vwlite_hash_short"(
        bint keeps, uint32_t h, uint32_t rest, unsigned int rest_size, uint32_t length, uint64_t head, uint64_t more,
        unsigned int n, uint32_t* hash) noexcept nogil

cdef extern from "Python.h" nogil:
    # Tables of the interpreter: no object, no lock.
    bint is_alnum "Py_UNICODE_ISALNUM"(uint32_t c)
    bint is_space "Py_UNICODE_ISSPACE"(uint32_t c)
    uint32_t to_lower "Py_UNICODE_TOLOWER"(uint32_t c)

cdef enum:
    MOST_WORDS = 16             # of an n-gram
    MOST_LOGGED = 1 << 16       # words of a column in the log
    MOST_CHARACTERS = 8         # of an n-gram
    RECENT = 2048               # words that are known without looking at the keys of the model

# In the order of ROLES in vwlite/input/schema.py.
cdef enum Role:
    NUMERIC
    CATEGORICAL
    TEXT
    TIME
    IS_LABEL
    IS_IMPORTANCE
    IS_TAG
    DROPPED
    BY_VALUE


# A column, or the names that begin with one in a namespace: what its features have in common.
cdef struct Column:
    Role role
    uint8_t letter          # of the namespace
    uint32_t space          # its hash
    uint32_t numeric_hash   # the hash of the feature `name`
    uint32_t prefix          # murmur's state after the whole blocks of `name=`
    uint32_t rest           # the bytes of `name=` behind these, and how many they are
    uint32_t rest_size
    uint32_t size           # bytes of the name
    const char* name        # name=; in VW text, without what that cannot hold
    bint escaped            # ... which was escaped
    uint32_t logged         # words that are in the log
    uint32_t absent_hash    # the hash of the feature `name?`
    bint has_absent         # a cell that is absent has this feature
    bint unspaced           # of a text: each letter of a script without blanks is a word
    uint64_t missing, unknown   # cells that had it so far: as they have no value, or words that are all unknown


# Words that mean a missing value in numeric columns, the label and the importance. Those that are numbers count in
# numeric columns only, by value. Owned by the Cells.
cdef struct Missing:
    size_t count
    const char** words
    size_t* sizes
    uint8_t[256] begins     # by byte: whether a word begins with it
    size_t number_count
    float* numbers
    bint nan                # one of the words means NaN


# Where features go. text: VW text instead of features; NULL: into the batch.
cdef struct CellSink:
    Missing missing
    bint strings            # names of digits only are numbers, not hashed
    int ngram
    int characters          # of n-grams of them; 0: there are none
    float beyond            # the value of the features of a text beyond its words: 1, or OPEN of derivation.pxd
    const Written* written  # of the Notation of the Cells; NULL: numbers are those of VW text
    int words               # how texts become words: WORDS of vwlite/input/schema.py
    bint keeps              # names are those of the table; else `_` is in them for what VW text cannot hold
    bint wholes             # words that are whole numbers have no point and zeros behind it
    bint wide_times         # they may be months and milliseconds; those of a type with a zone are of the zone, not of UTC
    const char* format      # of times that are text, in letters of strptime; owned by the Cells. NULL: they are ISO 8601
    const char* format_end
    size_t escaped          # names, labels and tags that were escaped in VW text
    char* scratch
    size_t scratch_size
    bint as_text
    Buffer text             # owned by the Cells, as is `scratch`
    uint32_t seed           # of the names of namespaces
    size_t first            # features (bytes, if as_text) before the namespace that is being filled
    bint zeros              # numbers of value 0 are features too
    bint logs               # names of columns and words go to a log when they are first seen
    Buffer log              # owned by the Cells, as is `logged`: space, hash, and size of a feature's name, and the name
    uint64_t* logged        # [1 << logged_bits] the space and the hash of each logged name
    size_t logged_count
    int logged_bits
    bint absents            # absent cells have a feature
    bint some_known         # ... and one in the namespace that is being written, if `knows`
    const Known* known      # absent cells have features of these only; of `Cells.known`; NULL: they may be any
    bint knows              # ... and words that are none of these are unknown
    uint32_t[RECENT] recent # hashes that are known, each at its place by its last bits; others where there is none


cdef uint32_t name_hash(const CellSink* sink, const char* p, size_t n, uint32_t space) noexcept nogil


cdef bint is_missing_word(const Missing* missing, const char* p, size_t n) noexcept nogil


cdef inline bint is_missing(const Missing* missing, const char* p, size_t n) noexcept nogil:
    """Whether a cell that is not empty, without blanks at its ends, means a missing value."""
    return missing.begins[<uint8_t>p[0]] and is_missing_word(missing, p, n)


cdef inline bint is_missing_number(const Missing* missing, float x) noexcept nogil:
    """Whether a number, or NaN, in a numeric column means a missing one."""
    cdef size_t i
    if unlikely(x != x):
        return missing.nan
    for i in range(missing.number_count):
        if missing.numbers[i] == x:
            return True
    return False


cdef inline uint32_t begun_hash(const Column* c, const char* p, size_t n) noexcept nogil:
    """The MurmurHash of `name=` and n more bytes."""
    cdef uint32_t h = c.prefix
    cdef uint64_t word = c.rest
    cdef uint32_t have = c.rest_size, tail = 0
    cdef uint32_t length = c.size + 1 + <uint32_t>n
    cdef size_t left = n, i
    while left >= 4:
        word |= <uint64_t>load32(p) << (8 * have)
        h = mix(h, <uint32_t>word)
        word >>= 32
        p += 4
        left -= 4
    if left:
        if n >= 4:
            tail = load32(p + left - 4) >> (8 * (4 - left))
        else:
            for i in range(left):
                tail |= <uint32_t><uint8_t>p[i] << (8 * i)
        word |= <uint64_t>tail << (8 * have)
        have += left
        if have >= 4:
            h = mix(h, <uint32_t>word)
            word >>= 32
    return finish(h ^ scramble(<uint32_t>word), length)


cdef inline const char* fitting(CellSink* sink, const char* p, size_t n) noexcept nogil:
    """The same bytes, or, unless names are kept, in the scratch a copy with `_` for what VW text cannot hold; NULL: no
    memory."""
    cdef size_t i
    if likely(sink.keeps or fits_all(p, n)):
        return p
    if reserve(<void**>&sink.scratch, &sink.scratch_size, n, 1):
        return NULL
    for i in range(n):
        sink.scratch[i] = p[i] if fits_byte(<uint8_t>p[i]) else c'_'
    return sink.scratch


cdef inline int write(CellSink* sink, const char* p, size_t n) noexcept nogil:
    """Add to the VW text."""
    return append(&sink.text, p, n)


cdef int write_name(CellSink* sink, const Column* c, const char* p, size_t n) noexcept nogil


cdef inline int put(Batch batch, uint32_t hash, float value) noexcept nogil:
    """Add a feature; a zero is left out."""
    cdef size_t n = batch.a.features
    if unlikely(n == batch.feature_capacity) and batch.reserve(0, 0, 64, 0):
        return -1
    batch.a.hash[n] = hash
    batch.a.value[n] = value
    batch.a.features = n + (value != 0)
    return 0


cdef int log_name(CellSink* sink, const Column* c, uint32_t hash, const char* p, size_t n) noexcept nogil


cdef inline int open_space(CellSink* sink, Batch batch, const char* name, size_t size) noexcept nogil:
    """A namespace begins; its features come next."""
    if likely(not sink.as_text):
        sink.first = batch.a.features
        return 0
    sink.first, sink.some_known = sink.text.size, False
    return write(sink, b" |", 2) or write(sink, name, size)


cdef inline int close_space(CellSink* sink, const Column* c, Batch batch) noexcept nogil:
    """Close the namespace of a column. Without features it is omitted."""
    if unlikely(sink.as_text):
        if sink.text.size == sink.first + 2 + c.size:
            sink.text.size = sink.first
        return 0
    if batch.a.features == sink.first:
        return 0
    if unlikely(batch.a.spans + 1 >= batch.span_capacity) and batch.reserve(0, 1, 0, 0):
        return -1
    batch.a.letter[batch.a.spans] = c.letter
    if unlikely(batch.a.space != NULL):
        batch.a.space[batch.a.spans] = c.space
    batch.a.spans += 1
    batch.a.feature_begin[batch.a.spans] = <uint32_t>batch.a.features
    return 0


cdef bint can_be_absent(const CellSink* sink, const Column* c) noexcept nogil
cdef int add_absent(CellSink* sink, const Column* c, Batch batch, bint missing) noexcept nogil


cdef inline bint is_known_word(CellSink* sink, uint32_t hash) noexcept nogil:
    """`is_known`, with a memory of recent words: most columns have few."""
    cdef uint32_t* place = &sink.recent[hash % RECENT]
    if likely(place[0] == hash):
        return True
    if not is_known(sink.known, hash):
        return False
    place[0] = hash
    return True


cdef inline bint is_unknown(CellSink* sink, Batch batch) noexcept nogil:
    """Whether the current namespace has features that are all unknown to the model. In text it has some."""
    cdef size_t i
    if unlikely(sink.as_text):
        return not sink.some_known
    for i in range(sink.first, batch.a.features):
        if likely(is_known_word(sink, batch.a.hash[i])):
            return False
    return batch.a.features > sink.first


cdef inline bint is_empty(const CellSink* sink, const Column* c, Batch batch) noexcept nogil:
    """Whether the namespace that is being filled has no feature so far."""
    return sink.text.size == sink.first + 2 + c.size if sink.as_text else batch.a.features == sink.first


cdef inline int end_cell(CellSink* sink, const Column* c, Batch batch, bint missing) noexcept nogil:
    """Close the namespace of a cell. One that is missing, or has only words that the model does not know, gets the
    feature `name?`."""
    if unlikely(missing) or (sink.knows and c.role != NUMERIC and is_unknown(sink, batch)):
        if c.has_absent and add_absent(sink, c, batch, missing):
            return -1
    return close_space(sink, c, batch)


cdef inline int missing_cell(CellSink* sink, const Column* c, Batch batch) noexcept nogil:
    """The features of a cell without a value."""
    if not c.has_absent:
        return 0
    return open_space(sink, batch, c.name, c.size) or end_cell(sink, c, batch, True)


cdef inline void note_written(CellSink* sink, uint32_t hash) noexcept nogil:
    """A feature with this hash is written as text."""
    if sink.knows:
        sink.some_known |= is_known_word(sink, hash)


cdef inline int add_number(CellSink* sink, const Column* c, Batch batch, float value, const char* p, size_t n) noexcept nogil:
    """name:value. [p, p + n): the value as text, for a sink of text."""
    if likely(not sink.as_text):
        if unlikely(sink.logs) and log_name(sink, c, c.numeric_hash, NULL, 0):
            return -1
        if unlikely(sink.zeros and value == 0):
            if put(batch, c.numeric_hash, 1):
                return -1
            batch.a.value[batch.a.features - 1] = 0
            return 0
        return put(batch, c.numeric_hash, value)
    sink.escaped += c.escaped
    note_written(sink, c.numeric_hash)
    return write(sink, b" ", 1) or write(sink, c.name, c.size) or write(sink, b":", 1) or write(sink, p, n)


cdef inline size_t word_size(const CellSink* sink, const char* p, size_t n) noexcept nogil:
    """The bytes of a word: without control characters at its end, which the hash of a name does not have, and of a whole
    number without its point."""
    while n > 0 and sink.keeps and unlikely(<uint8_t>p[n - 1] <= 0x20):
        n -= 1
    return whole_size(p, n) if sink.wholes and n > 2 and p[n - 1] == c'0' else n


cdef inline int add_word(CellSink* sink, const Column* c, Batch batch, const char* p, size_t n) noexcept nogil:
    """name=word, for a word that is not empty."""
    cdef uint32_t hash
    n = word_size(sink, p, n)
    if unlikely(n == 0):
        return 0
    p = fitting(sink, p, n)
    if unlikely(p == NULL):
        return -1
    if likely(not sink.as_text):
        hash = begun_hash(c, p, n)
        if unlikely(sink.logs) and log_name(sink, c, hash, p, n):
            return -1
        return put(batch, hash, 1)
    return write_name(sink, c, p, n)


cdef inline int add_padded_word(CellSink* sink, const Column* c, Batch batch, const char* p, size_t n) noexcept nogil:
    """`add_word` where 16 bytes from p on are readable."""
    cdef uint32_t hash
    n = word_size(sink, p, n)
    if unlikely(n == 0):
        return 0
    if likely(n <= 13 and not sink.as_text and not sink.logs) and likely(hash_short(
            sink.keeps, c.prefix, c.rest, c.rest_size, c.size + 1 + <uint32_t>n, load64(p), load64(p + 8), <unsigned int>n, &hash)):
        return put(batch, hash, 1)
    return add_word(sink, c, batch, p, n)


cdef int add_text(CellSink* sink, const Column* c, Batch batch, const char* p, size_t n) noexcept nogil
cdef bint read_time(const CellSink* sink, const char* p, size_t n, Moment* to) noexcept nogil
cdef int add_time(CellSink* sink, const Column* c, Batch batch, const Moment* time) noexcept nogil

cdef void set_column(Column* c, const char* name, size_t n, Role role, uint32_t space, bint strings, uint8_t letter) noexcept nogil


cdef class Cells:
    cdef CellSink sink
    cdef Column* columns        # owned; [count]
    cdef readonly size_t count
    cdef int[3] head            # which columns are the label, the importance and the tag, in this order
    cdef size_t heads           # how many there are
    cdef readonly list names    # of the columns, each with `=` behind it
    cdef list missing           # the words that mean a missing value, as bytes
    cdef KnownKeys known        # those of the model that is applied, or None
    cdef Notation notation
    cdef dict zones             # by name
    cdef bytes format           # of times

    cdef set_missing(self, list words)
    cdef zone(self, str name, str column)
