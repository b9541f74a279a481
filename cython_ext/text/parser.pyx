"""The parser: a block of text becomes a batch.

    VW      [label [importance [initial]]] ['tag | tag touching the bar] |namespace[:scale] feature[:value] ...
    libsvm  [label] index:value index:value ... [# comment]

The grammar is strict: a line that it does not know is a fault, with a place and a reason, and adds
nothing to the batch. In words, as far as it is not plain from the above:

- Blanks are space and TAB. A line ends with LF, CR LF or the block; a CR elsewhere is a fault. A
  line of blanks only is BLANK, and so is a libsvm line with a comment only.
- VW: the last word before the first bar is a tag if it touches the bar or begins with `'`, which
  is dropped. A name runs to a blank, ':' or '|', and may be empty before ':' in a feature: the
  feature's hash is then that of its namespace plus k, for the k-th (from 0) nameless feature of the
  occurrence. Without a value a feature counts 1. Values are multiplied by the scale, as floats.
- With classes, the label is a word that names one, whatever it looks like, or a number from 1 to K.
- libsvm: indices rise, from 1 to 2^32 - 1; the hash of a feature is that of its index as a name.
  A first word with a colon is a feature: such a line has no label.
- Features that are zero, be it by underflow or scale, are left out. Repeated ones stay.

How it is fast. One pass, and hardly a branch that the processor cannot foretell. In VW text, a search
finds all delimiters of some kilobytes first; a walk over them puts names and values into columns;
and loops over the columns hash and read them, many at a time (lines_fast.pyx). Lines that are not
plain - tabs, scales, nameless features, whatever is bad - go another way, one by one, as all lines
of libsvm do: a window of 32 bytes is searched at once for the end of the name and that of the value,
so that the place of the next feature is known long before this one is hashed and read, eight bytes
at a time. This way knows the whole grammar; the columns know nothing that it does not.

Bytes behind every line must be readable, so the last lines of a block are parsed in a padded copy;
every line of the rest has the others behind it. Each line ends with LF then, and no loop below looks
for the end of the text. A fault carries pointers; words are found for it in vwlite/input/diagnostics.py
when somebody asks.
"""

import re

from cpython.buffer cimport PyBUF_SIMPLE, PyObject_GetBuffer, PyBuffer_Release, Py_buffer
from libc.math cimport NAN, isfinite
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

from vwlite.core.base.buffers cimport reserve
from vwlite.core.data.batch cimport BLANK, EXAMPLE, REJECTED, Arrays, Batch, Fault
from vwlite.core.text.lines_fast cimport FULL, MARKS, Columns, compute, find_marks, is_odd
from vwlite.core.text.murmur cimport finish, hash_strings, mix, murmur, scramble
from vwlite.core.data.class_names cimport Names
from vwlite.core.text.numbers cimport Double, Float, read_double, read_float
from vwlite.core.base.simd cimport (
    PADDING, are_digits, decimal, delimiters, delimiters_portable, digits_of, first_bytes, foretold, last_of, likely,
    load64, lowest, unlikely,
)

cdef extern from *:
    """
    enum { VWLITE_NAME = 1, VWLITE_WORD = 2, VWLITE_PAIR = 4, VWLITE_BLANK = 8 };
    static const uint8_t vwlite_ends[256] = {
        [' '] = 15, ['\\t'] = 15, ['\\r'] = 7, ['\\n'] = 7, [':'] = 1, ['|'] = 3, ['#'] = 4};
    """
    enum:
        ENDS_NAME "VWLITE_NAME"   # blank, ':', '|', end of line
        ENDS_WORD "VWLITE_WORD"   # blank, '|', end of line
        ENDS_PAIR "VWLITE_PAIR"   # blank, '#', end of line: what ends index:value in libsvm
        IS_BLANK "VWLITE_BLANK"
    const uint8_t ENDS "vwlite_ends"[256]
    const uint64_t LARGEST_INDEX "(uint64_t)0xFFFFFFFF"

# What can be wrong with a line. The names go to vwlite/input/diagnostics.py.
cdef enum Code:
    OUT_OF_MEMORY
    NO_BAR
    CARRIAGE_RETURN
    EXTRA_WORD
    LABEL
    LABEL_LARGE
    LABEL_DOMAIN
    LABEL_MAPPING
    IMPORTANCE
    IMPORTANCE_LARGE
    IMPORTANCE_NEGATIVE
    INITIAL
    INITIAL_LARGE
    NAMESPACE_NAME
    SCALE
    SCALE_LARGE
    VALUE
    VALUE_LARGE
    VALUE_SCALED
    PAIR
    QUERY
    INDEX
    INDEX_SMALL
    INDEX_LARGE
    INDEX_REPEATED
    INDEX_ORDER
    CLASS_NUMBER
    CLASS_UNKNOWN
    CLASS_EXTRA
    WARY

CODES = (
    "out of memory", "no bar", "carriage return", "extra word",
    "label", "label too large", "label outside domain", "label not mapped",
    "importance", "importance too large", "importance negative", "initial", "initial too large",
    "namespace name", "scale", "scale too large", "value", "value too large", "value too large by scale",
    "pair", "query", "index", "index too small", "index too large", "index repeated", "index order",
    "class number", "class unknown", "class extra",
    "read otherwise by Vowpal Wabbit",
)

cdef enum:
    WORDS = 5           # label, importance, initial, one too many, and the last
    PATIENCE = 64       # lines that are parsed one by one, at most, before the columns are tried again
    LARGEST_BLOCK = 1 << 30


cdef struct Name:
    const char* end
    uint32_t hash
    uint32_t rest       # the delimiters of its window that come after its end


# --- words and names -----------------------------------------------------------------------------

cdef inline const char* find(const char* p, uint8_t ends) noexcept nogil:
    """The next byte of that class; LF is in all of them."""
    while not ENDS[<uint8_t>p[0]] & ends:
        p += 1
    return p


cdef inline const char* skip_blanks(const char* p) noexcept nogil:
    while p[0] == c' ' or p[0] == c'\t':
        p += 1
    return p


cdef inline const char* line_feed(const char* p) noexcept nogil:
    """The LF of this line."""
    while p[0] != c'\n':
        p += 1
    return p


cdef inline const char* line_end(const char* p) noexcept nogil:
    """The LF of this line if p is at its LF or CR LF; else NULL."""
    if p[0] == c'\n':
        return p
    if p[0] == c'\r' and p[1] == c'\n':
        return p + 1
    return NULL


cdef inline const char* trouble_at(Trouble* trouble, uint32_t code, const char* begin, const char* end) noexcept nogil:
    trouble.code, trouble.begin, trouble.end = code, begin, end
    return NULL


cdef inline const char* no_line_end(Trouble* trouble, const char* p) noexcept nogil:
    """p is at a CR which does not end the line."""
    return trouble_at(trouble, CARRIAGE_RETURN, p, p + 1)


cdef Name any_name(const char* p, uint32_t seed, bint strings) noexcept nogil:
    """`name_at` for every name."""
    cdef Name name
    name.end, name.rest = find(p, ENDS_NAME), 0
    if strings:
        name.hash = hash_strings(p, name.end - p, seed)
    else:
        name.hash = murmur(p, name.end - p, seed)
    return name


cdef inline Name name_at(const char* p, uint32_t window, uint32_t seed, bint strings) noexcept nogil:
    """The name at p and its hash. `window`: the delimiters from p on; p itself is none.

    The short way is for names up to 31 bytes without control bytes, and for numbers up to 7.
    """
    cdef Name name
    cdef const char* q = p
    cdef uint32_t h = seed, last, full
    cdef uint64_t word
    cdef size_t n
    if unlikely(window == 0):
        return any_name(p, seed, strings)
    n = lowest(window)
    name.end, name.rest = p + n, window & (window - 1)
    if unlikely(p[n] != c':' and not ENDS[<uint8_t>p[n]] & ENDS_NAME):
        return any_name(p, seed, strings)
    if unlikely(<uint8_t>(p[0] - c'0') <= 9 and strings):
        word = last_of(digits_of(load64(p)), n & 7)
        if n <= 7 and are_digits(word):
            name.hash = <uint32_t>decimal(word) + seed
        else:
            name.hash = hash_strings(p, n, seed)
        return name
    while unlikely(name.end - q >= 8):
        word = load64(q)
        h = mix(mix(h, <uint32_t>word), <uint32_t>(word >> 32))
        q += 8
    # 0 to 7 bytes are left. Whether 4 of them are a block is a coin toss: no branch, and none that
    # the compiler could make of it.
    word = first_bytes(load64(q), n & 7)
    full = (n >> 2) & 1
    h ^= (h ^ mix(h, <uint32_t>word)) & (0 - full)
    last = <uint32_t>(word >> (32 * full))
    name.hash = finish(h ^ scramble(last), n)
    return name


cdef inline const char* value_end(const char* p, const char* window, uint32_t rest, uint8_t ends) noexcept nogil:
    """Where the value at p ends. `rest`: the delimiters in the window that come after p."""
    cdef const char* end
    if likely(rest != 0):
        end = window + lowest(rest)
        if likely(ENDS[<uint8_t>end[0]] & ends):
            return end
    return find(p, ends)


# --- lines ---------------------------------------------------------------------------------------
# Each of these reads the line at p, adds it to the batch and returns where the next one begins; or
# NULL, with the trouble noted. Then the batch's arrays may hold a part of the line behind their
# counts, and the counts of spans and features may be too high: `one_by_one` sets them back.

cdef bint take_class(const Settings* s, const char* p, const char* end, double* label, Trouble* trouble) noexcept nogil:
    """The number of the class that the label [p, end) names, or false."""
    cdef Double number
    cdef uint32_t found = 0
    cdef uint32_t code
    if (<Names>s.names).numbers:
        code = CLASS_NUMBER
        number = read_double(p)
        if number.end == end and 1 <= number.value <= (<Names>s.names).room and number.value == <uint32_t>number.value:
            found = <uint32_t>number.value
    else:
        code = CLASS_EXTRA if (<Names>s.names).grows else CLASS_UNKNOWN
        if (<Names>s.names).take(p, end - p, &found):
            trouble_at(trouble, OUT_OF_MEMORY, p, end)
            return False
    if found == 0 and not s.lenient:
        trouble_at(trouble, code, p, end)
        return False
    label[0] = found if found != 0 else NAN
    return True


cdef inline bint take_label(const Settings* s, const char* p, const char* end, double* label,
                            Trouble* trouble) noexcept nogil:
    """The label [p, end), or false."""
    cdef Double number
    cdef double y
    if unlikely(s.names != NULL):
        return take_class(s, p, end, label, trouble)
    number = read_double(p)
    y = number.value
    if number.end != end:
        trouble_at(trouble, LABEL, p, end)
        return False
    if not isfinite(y):
        trouble_at(trouble, LABEL_LARGE, p, end)
        return False
    if s.mapped:
        if y == s.negative:
            y = -1
        elif y == s.positive:
            y = 1
        elif s.lenient:
            y = NAN
        else:
            trouble_at(trouble, LABEL_MAPPING, p, end)
            return False
    if (s.domain == BINARY and y != 1 and y != -1) or (s.domain == NONNEGATIVE and y < 0):
        if not s.lenient:
            trouble_at(trouble, LABEL_DOMAIN, p, end)
            return False
        y = NAN
    label[0] = y
    return True


cdef int keep_words(Batch batch, const char* words, const char* words_end, const char* tag,
                    const char* tag_end) noexcept nogil:
    """Make words, a NUL and the tag, which may begin with a quote, the tag of the next line; -1: no memory."""
    cdef size_t before = words_end - words if words_end > words else 0, size
    cdef char* to
    if tag < tag_end and tag[0] == c'\'':
        tag += 1
    size = tag_end - tag
    if batch.reserve(0, 0, 0, before + 1 + size):
        return -1
    to = batch.a.tags + batch.a.tag_bytes
    memcpy(to, words, before)
    to[before] = 0
    memcpy(to + before + 1, tag, size)
    batch.a.tag_bytes += before + 1 + size
    return 0


cdef inline const char* vw_header(const Settings* s, Batch batch, const char* p, Trouble* trouble) noexcept nogil:
    """The words before the first bar into the next line of the batch, which has room. Returns the
    bar; or the end of a line that is blank."""
    cdef const char* begins[WORDS]
    cdef const char* ends[WORDS]
    cdef const char* q
    cdef const char* line = p
    cdef const char* before = p     # where the last word but one ends ...
    cdef const char* after = p      # ... and the last one
    cdef int count = 0, numbers, last
    cdef size_t i = batch.a.lines, tag
    cdef Double number
    cdef bint touches = False
    batch.a.label[i], batch.a.importance[i], batch.a.initial[i] = NAN, 1.0, 0.0
    begins[0] = p
    while True:
        p = skip_blanks(p)
        if p[0] == c'|':
            break
        if p[0] == c'\n' or p[0] == c'\r':
            q = line_end(p)
            if q == NULL:
                return no_line_end(trouble, p)
            if count == 0:
                if unlikely(s.vw_compatible_only and p != line):
                    return trouble_at(trouble, WARY, line, p)
                return q
            return trouble_at(trouble, NO_BAR, begins[0], p)
        q = find(p, ENDS_WORD)
        last = count if count < WORDS - 1 else WORDS - 1
        begins[last], ends[last] = p, q
        count += 1
        touches = q[0] == c'|'
        before, after = after, q
        p = q
    if unlikely(s.vw_compatible_only and memchr(line, c'\t', p - line) != NULL):
        return trouble_at(trouble, WARY, line, p)
    if unlikely(s.labels_in_tags):
        last = 0 if count == 0 else count - 1 if count < WORDS else WORDS - 1
        q = begins[last] if count and (touches or begins[last][0] == c'\'') else after
        if keep_words(batch, begins[0], before if q != after else after, q, after):
            return trouble_at(trouble, OUT_OF_MEMORY, p, p)
        return p
    if count == 0:
        return p
    numbers = count
    last = count - 1 if count < WORDS else WORDS - 1
    if touches or begins[last][0] == c'\'':
        numbers -= 1
        q = begins[last] + (begins[last][0] == c'\'')
        tag = ends[last] - q
        if unlikely(batch.a.tag_bytes + tag > batch.tag_capacity) and batch.reserve(0, 0, 0, tag):
            return trouble_at(trouble, OUT_OF_MEMORY, p, p)
        if tag:
            memcpy(batch.a.tags + batch.a.tag_bytes, q, tag)
            batch.a.tag_bytes += tag
    if numbers > 0 and not take_label(s, begins[0], ends[0], &batch.a.label[i], trouble):
        return NULL
    if numbers > 1:
        number = read_double(begins[1])
        if number.end != ends[1]:
            return trouble_at(trouble, IMPORTANCE, begins[1], ends[1])
        if number.value < 0:
            return trouble_at(trouble, IMPORTANCE_NEGATIVE, begins[1], ends[1])
        if not isfinite(number.value):
            return trouble_at(trouble, IMPORTANCE_LARGE, begins[1], ends[1])
        batch.a.importance[i] = number.value
    if numbers > 2:
        number = read_double(begins[2])
        if number.end != ends[2]:
            return trouble_at(trouble, INITIAL, begins[2], ends[2])
        if not isfinite(number.value):
            return trouble_at(trouble, INITIAL_LARGE, begins[2], ends[2])
        batch.a.initial[i] = number.value
    if numbers > 3:
        return trouble_at(trouble, EXTRA_WORD, begins[3], ends[3])
    return p


cdef inline const char* close_line(Batch batch, uint8_t kind, const char* end) noexcept nogil:
    """The line is whole: count it in. `end` is its LF."""
    cdef size_t i = batch.a.lines + 1
    batch.a.kind[i - 1] = kind
    batch.a.tag_begin[i] = <uint32_t>batch.a.tag_bytes
    batch.a.span_begin[i] = <uint32_t>batch.a.spans
    batch.a.lines = i
    return end + 1


cdef const char* vw_line(const Settings* s, Batch batch, const char* p, Trouble* trouble) noexcept nogil:
    cdef uint32_t* hash
    cdef float* value
    cdef size_t n, first, limit
    cdef uint32_t space, nameless, window
    cdef float scale, x
    cdef uint8_t letter
    cdef const char* begin
    cdef const char* end
    cdef Name name
    cdef Float number
    cdef bint strings = s.strings
    p = vw_header(s, batch, p, trouble)
    if p == NULL:
        return NULL
    if p[0] == c'\n':
        return close_line(batch, BLANK, p)
    hash, value = batch.a.hash, batch.a.value
    n, limit = batch.a.features, batch.feature_capacity
    while p[0] == c'|':   # for each occurrence of a namespace
        p += 1
        letter, space, scale, nameless, first = c' ', s.unnamed, 1, 0, n
        if not ENDS[<uint8_t>p[0]] & ENDS_NAME:
            letter = <uint8_t>p[0]
            name = name_at(p, delimiters(p, c'|'), s.seed, strings)
            p, space = name.end, name.hash
            if p[0] == c':':
                begin = p + 1
                end = find(begin, ENDS_WORD)
                number = read_float(begin, end)
                if number.end != end:
                    return trouble_at(trouble, SCALE, begin, end)
                p, scale = end, number.value
                if not isfinite(scale):
                    return trouble_at(trouble, SCALE_LARGE, begin, p)
                if unlikely(s.vw_compatible_only and (p[0] == c'\n' or p[0] == c'\r')):
                    return trouble_at(trouble, WARY, begin, p)
        elif p[0] == c':':
            return trouble_at(trouble, NAMESPACE_NAME, p, find(p, ENDS_WORD))
        while True:           # for each feature
            window = delimiters(p, c'|')
            if unlikely(n == limit):
                batch.a.features = n
                if batch.reserve(0, 0, 64, 0):
                    return trouble_at(trouble, OUT_OF_MEMORY, p, p)
                hash, value, limit = batch.a.hash, batch.a.value, batch.feature_capacity
            if likely(not (window & 1)):
                name = name_at(p, window, space, strings)
            elif p[0] == c' ' or p[0] == c'\t':
                p += 1
                continue
            elif p[0] == c':':
                name.end, name.rest = p, window & (window - 1)
                name.hash = space + nameless
                nameless += 1
            elif ENDS[<uint8_t>p[0]] & ENDS_WORD:
                break
            else:   # a control byte, which may begin a name
                name = any_name(p, space, strings)
            hash[n] = name.hash
            x = 1
            if name.end[0] == c':':
                begin = name.end + 1
                end = value_end(begin, p, name.rest, ENDS_WORD)
                number = read_float(begin, end)
                if unlikely(number.end != end):
                    return trouble_at(trouble, VALUE, begin, end)
                p, x = end, number.value
            else:
                p = name.end
            x = x * scale
            if unlikely(not isfinite(x)):
                return trouble_at(trouble, VALUE_SCALED if isfinite(number.value) else VALUE_LARGE, begin, p)
            value[n] = x
            if likely(x != 0):
                n += 1
            if likely(p[0] == c' '):
                p = foretold(p + 1)
        if n != first:
            batch.a.features = n
            if unlikely(batch.a.spans + 1 >= batch.span_capacity) and batch.reserve(0, 1, 0, 0):
                return trouble_at(trouble, OUT_OF_MEMORY, p, p)
            batch.a.letter[batch.a.spans] = letter
            batch.a.spans += 1
            batch.a.feature_begin[batch.a.spans] = <uint32_t>n
    begin = line_end(p)
    if begin == NULL:
        return no_line_end(trouble, p)
    return close_line(batch, EXAMPLE, begin)


cdef inline uint32_t space_hash(const Settings* s, Space* known, const char* p, size_t n) noexcept nogil:
    """The hash of the namespace [p, p + n). `known`: that of the line before, in the same place."""
    cdef uint64_t head = load64(p), more = load64(p + 8)
    if n < 8:
        head, more = first_bytes(head, n), 0
    else:
        more = first_bytes(more, n & 7)
    if unlikely(n != known.length or head != known.head or more != known.more or n > 15):
        known.length, known.head, known.more = n, head, more
        known.hash = hash_strings(p, n, s.seed) if s.strings else murmur(p, n, s.seed)
    return known.hash


cdef inline const char* plain_line(const Settings* s, Batch batch, Columns* c, Space* spaces, const char* base,
                                   const char* p, const uint32_t** mark, const uint32_t* last) noexcept nogil:
    """`vw_line` for the lines that most text is made of, which leaves its features to the columns.

    mark: the delimiters from p on, up to `last`; is set behind those of the line. Returns NULL if the
    line is not plain, and p if there are not all its delimiters. Then the line may have left a tag
    and spans behind, and nothing else.
    """
    cdef const uint32_t* m = mark[0]
    cdef const char* line = p
    cdef const char* q
    cdef const char* text
    cdef size_t n = c.size, first, ordinal = 0
    cdef size_t begin = batch.a.features - n
    cdef uint32_t space
    cdef uint8_t letter
    cdef Trouble trouble
    p = vw_header(s, batch, p, &trouble)
    if p == NULL or p[0] != c'|':
        return NULL
    while m < last and base + m[0] < p:
        m += 1
    while True:               # for each occurrence of a namespace; p is at its bar, m too
        m += 1
        if m >= last:
            return line
        q = base + m[0]
        p += 1
        letter, space, first = c' ', s.unnamed, n
        if q != p:
            letter, space = <uint8_t>p[0], space_hash(s, &spaces[ordinal % PLACES], p, q - p)
            ordinal += 1
        while q[0] == c' ':   # for each word; q is where the one before it ended, m too
            p = q + 1
            m += 1
            if unlikely(m + 1 >= last):
                return line
            q = base + m[0]
            if unlikely(q == p):
                if q[0] == c':':
                    return NULL
                continue
            c.name[n], c.length[n], c.seed[n] = p, <uint32_t>(q - p), space
            c.head[n], c.more[n] = load64(p), load64(p + 8)
            if unlikely(q - p > 8) and is_odd(p, q - p):
                c.odd[c.odd_count] = <uint32_t>n
                c.odd_count += 1
            p = q + 1
            c.value[n], c.value_more[n], c.value_length[n] = load64(p), load64(p + 8), 0
            if q[0] == c':':
                m += 1
                q = base + m[0]
                c.value_length[n] = <uint32_t>(q - p)
                if unlikely(q == p):
                    return NULL
            n += 1
        if n != first:
            batch.a.letter[batch.a.spans] = letter
            batch.a.spans += 1
            batch.a.feature_begin[batch.a.spans] = <uint32_t>(begin + n)
        if q[0] != c'|':
            break
        p = q
    if q[0] == c'\r' and q[1] == c'\n':
        q += 1
        m += 1
        if m >= last:     # the search ended between the two
            return line
    if q[0] != c'\n':
        return NULL
    c.size, batch.a.features = n, begin + n
    mark[0] = m + 1
    return close_line(batch, EXAMPLE, q)


cdef const char* bad_index(const char* p, Trouble* trouble) noexcept nogil:
    """The word at p does not begin with index: - say what is wrong with it."""
    cdef const char* end = find(p, ENDS_PAIR)
    cdef const char* colon = <const char*>memchr(p, c':', end - p)
    cdef const char* q = p
    if colon == NULL:
        return trouble_at(trouble, PAIR, p, end)
    if memcmp(p, b"qid:", 4) == 0:
        return trouble_at(trouble, QUERY, p, end)
    q += p[0] == c'-'
    while <uint8_t>(q[0] - c'0') <= 9:
        q += 1
    if q == p or q != colon or (colon - 1)[0] == c'-':
        return trouble_at(trouble, INDEX, p, colon)
    return trouble_at(trouble, INDEX_SMALL if p[0] == c'-' else INDEX_LARGE, p, colon)


cdef const char* libsvm_line(const Settings* s, Batch batch, const char* p, Trouble* trouble) noexcept nogil:
    cdef uint32_t* hash = batch.a.hash
    cdef float* value = batch.a.value
    cdef size_t n = batch.a.features, first = n, limit = batch.feature_capacity
    cdef size_t i = batch.a.lines
    cdef uint64_t word, index, previous = 0
    cdef uint32_t window, rest
    cdef size_t digits
    cdef const char* begin
    cdef const char* end
    cdef const char* name
    cdef Float number
    cdef float x
    batch.a.label[i], batch.a.importance[i], batch.a.initial[i] = NAN, 1.0, 0.0
    p = skip_blanks(p)
    end = line_feed(p) if p[0] == c'#' else line_end(p)
    if end != NULL:
        return close_line(batch, BLANK, end)
    end = find(p, ENDS_PAIR)
    if memchr(p, c':', end - p) == NULL:
        if p == end:
            return no_line_end(trouble, p)
        if not take_label(s, p, end, &batch.a.label[i], trouble):
            return NULL
        p = end
    while True:
        # A word ended here; a blank or the end of the line is next.
        window = delimiters(p, c'#')
        rest = window & (window - 1)
        digits = lowest(window) if window else 8
        word = last_of(digits_of(load64(p)), digits & 7)
        begin = p
        if likely(digits > 0 and digits < 8 and are_digits(word)):
            index = decimal(word)
            p += digits
        else:
            if p[0] == c' ' or p[0] == c'\t':
                p += 1
                continue
            if ENDS[<uint8_t>p[0]] & ENDS_PAIR:
                break
            index = 0
            while <uint8_t>(p[0] - c'0') <= 9:
                if index <= LARGEST_INDEX:
                    index = index * 10 + <uint64_t>(p[0] - c'0')
                p += 1
        if unlikely(p[0] != c':' or p == begin or index > LARGEST_INDEX):
            return bad_index(begin, trouble)
        if unlikely(index <= previous):
            if index == 0:
                return trouble_at(trouble, INDEX_SMALL, begin, p)
            return trouble_at(trouble, INDEX_REPEATED if index == previous else INDEX_ORDER, begin, p)
        previous = index
        if unlikely(n == limit):
            batch.a.features = n
            if batch.reserve(0, 0, 64, 0):
                return trouble_at(trouble, OUT_OF_MEMORY, p, p)
            hash, value, limit = batch.a.hash, batch.a.value, batch.feature_capacity
        if s.strings:
            hash[n] = <uint32_t>index + s.unnamed
        else:
            name = begin
            while name[0] == c'0':
                name += 1
            hash[n] = murmur(name, p - name, s.unnamed)
        end = value_end(p + 1, begin, rest, ENDS_PAIR)
        begin = p + 1
        number = read_float(begin, end)
        if unlikely(number.end != end):
            return trouble_at(trouble, VALUE, begin, end)
        p, x = end, number.value
        if unlikely(not isfinite(x)):
            return trouble_at(trouble, VALUE_LARGE, begin, p)
        value[n] = x
        if likely(x != 0):
            n += 1
        if likely(p[0] == c' '):
            p = foretold(p + 1)
    end = line_feed(p) if p[0] == c'#' else line_end(p)
    if end == NULL:
        return no_line_end(trouble, p)
    if n != first:
        batch.a.features = n
        if unlikely(batch.a.spans + 1 >= batch.span_capacity) and batch.reserve(0, 1, 0, 0):
            return trouble_at(trouble, OUT_OF_MEMORY, p, p)
        batch.a.letter[batch.a.spans] = c' '
        batch.a.spans += 1
        batch.a.feature_begin[batch.a.spans] = <uint32_t>n
    return close_line(batch, EXAMPLE, end)


# --- blocks --------------------------------------------------------------------------------------

cdef class Parser:
    """Blocks of text become batches.

    format: "vw" or "libsvm".
    hash_all, hash_seed: how names are hashed, see murmur.pxd.
    label_domain: "any", "binary" (-1 or 1) or "nonnegative"; `loss_name` is blamed for it.
    labels: a pair of numbers that become -1 and 1; no other label is valid then.
    names: a vwlite.core.data.class_names.Names; labels are classes, and their numbers take the place of labels. Several parsers
        may share one that grows, as long as they take turns in the order of the stream.
    lenient_labels: a label outside of these makes the example unlabelled, which is no fault.
    stop_at_fault: the batch ends before the first bad line; if not, a bad line is REJECTED and the
        next is parsed.

    labels_in_tags: the words before a tag are no label, importance and initial prediction: none of them is read, and the tag
        of a line becomes those words, a NUL, and the tag.
    vw_compatible_only: VW text that Vowpal Wabbit reads otherwise, or with a warning, is a fault too: blanks alone in
        a line, a TAB before the first bar, a namespace's scale before the end of the line.

    columns: read plain lines of VW text by columns, which gives the same in less time.

    One parser serves one thread at a time.
    """

    def __cinit__(self, str format="vw", *, bint hash_all=False, uint32_t hash_seed=0, str label_domain="any",
                  labels=None, Names names=None, bint lenient_labels=False, bint stop_at_fault=True, str loss_name="this loss",
                  bint columns=True, bint labels_in_tags=False, bint vw_compatible_only=False):
        if format not in ("vw", "libsvm"):
            raise ValueError(f"no such format: {format}")
        domains = {"any": ANY, "binary": BINARY, "nonnegative": NONNEGATIVE}
        if label_domain not in domains:
            raise ValueError(f"no such domain of labels: {label_domain}")
        self.format, self.loss_name = format, loss_name
        self.is_libsvm = format == "libsvm"
        self.settings.strings = not hash_all
        self.settings.seed = hash_seed
        self.settings.unnamed = murmur(b"", 0, hash_seed)
        self.settings.domain = domains[label_domain]
        self.names = names
        self.settings.names = NULL if names is None else <void*>names
        self.settings.lenient = lenient_labels
        self.settings.stop = stop_at_fault
        self.settings.labels_in_tags = labels_in_tags
        self.settings.vw_compatible_only = vw_compatible_only
        if labels is not None:
            negative, positive = labels
            self.labels = (float(negative), float(positive))
            self.settings.mapped = True
            self.settings.negative, self.settings.positive = self.labels

        if columns and not self.is_libsvm:
            self.columns = <Columns*>malloc(sizeof(Columns))
            if self.columns == NULL:
                raise MemoryError("no memory for a parser")

    def __dealloc__(self):
        free(self.scratch)
        free(self.columns)

    def parse(self, block, Batch batch):
        """Clear the batch and fill it with the lines of the block. Returns the number of faults.

        A block is any buffer that begins with a line; its last line may lack the LF. Where
        batch.first_line is 1, a byte order mark before it is skipped.
        """
        cdef Py_buffer info
        cdef bint first = batch.first_line == 1
        cdef int failed
        if batch.owner is not None:
            raise ValueError("this batch looks at foreign memory: it cannot be filled")
        PyObject_GetBuffer(block, &info, PyBUF_SIMPLE)
        try:
            if info.len > LARGEST_BLOCK:
                raise ValueError("a block has at most 2^30 bytes")
            with nogil:
                failed = self.fill(<const char*>info.buf, info.len, batch, first)
        finally:
            PyBuffer_Release(&info)
        if failed:
            raise MemoryError("no memory for a batch")
        return batch.fault_count

    cdef int fill(self, const char* data, size_t size, Batch batch, bint first) noexcept nogil:
        """`parse` without Python; -1 when memory is out."""
        cdef size_t whole = size, skip = 0, rest
        cdef int state
        batch.clear()
        if batch.reserve(1, 1, 64, 0):
            return -1
        batch.a.tag_begin[0] = batch.a.span_begin[0] = batch.a.feature_begin[0] = 0
        if first and size >= 3 and memcmp(data, b"\xef\xbb\xbf", 3) == 0:
            skip = 3
        # In place: all lines that have PADDING readable bytes behind them.
        whole = size - PADDING if size > PADDING else 0
        while whole > 0 and data[whole - 1] != c'\n':
            whole -= 1
        if whole:
            state = self.lines(data, data + whole, 0, skip, batch)
            if state:
                return state if state < 0 else 0
            skip = 0
        # The rest: in a copy, with the LF that the last line may lack.
        rest = size - whole
        if rest == 0:
            return 0
        if reserve(<void**>&self.scratch, &self.scratch_size, rest + 1 + PADDING, 1):
            return -1
        memcpy(self.scratch, data + whole, rest)
        memset(self.scratch + rest, 0, PADDING + 1)
        if data[size - 1] != c'\n':
            self.scratch[rest] = c'\n'
            rest += 1
        state = self.lines(self.scratch, self.scratch + rest, whole, skip, batch)
        return state if state < 0 else 0

    cdef inline uint32_t names_so_far(self) noexcept nogil:
        return (<Names>self.settings.names).count if self.settings.names != NULL else 0

    cdef inline void forget_names(self, uint32_t count) noexcept nogil:
        """Names that came after so many are of lines that do not count, or are parsed again."""
        if self.settings.names != NULL:
            (<Names>self.settings.names).forget(count)

    cdef int lines(self, const char* p, const char* end, size_t offset, size_t skip, Batch batch) noexcept nogil:
        """The lines in [p, end), the last byte of which is LF. `offset`: of p in the block. The first
        line begins with `skip` bytes to skip. -1 when memory is out, 1 if it stopped at a fault."""
        if self.columns == NULL:
            return self.one_by_one(p, end, offset, skip, batch)
        return self.by_columns(p, end, offset, skip, batch)

    cdef int by_columns(self, const char* p, const char* end, size_t offset, size_t skip, Batch batch) noexcept nogil:
        """`lines` of VW text: by columns as far as they are plain, else one by one."""
        cdef Columns* c = self.columns
        cdef const char* base = p
        cdef const char* seen = p                # how far the delimiters are known
        cdef const uint32_t* m = c.marks         # those from p on, up to `last`
        cdef uint32_t* last = c.marks
        cdef Arrays begun = batch.a              # as it was where the columns begin:
        cdef const char* begin = p
        cdef const char* next
        cdef Arrays before
        cdef size_t odd, lines, patience = 1
        cdef uint32_t named
        cdef int state
        c.size = c.odd_count = 0
        self.named = self.names_so_far()
        while p < end:
            if batch.reserve(1, MARKS, MARKS, 0):
                return -1
            before.spans, before.tag_bytes, odd = batch.a.spans, batch.a.tag_bytes, c.odd_count
            named = self.names_so_far()
            next = plain_line(&self.settings, batch, c, self.spaces, base, p, &m, last) if not skip else NULL
            if likely(next != NULL and next != p):
                p, patience = next, 1
                if c.size >= FULL or p == end:
                    state = self.take_columns(begin, p, offset + (begin - base), batch, &begun)
                    if state:
                        return state
                    begun, begin, self.named = batch.a, p, self.names_so_far()
                continue
            batch.a.spans, batch.a.tag_bytes, c.odd_count = before.spans, before.tag_bytes, odd
            self.forget_names(named)
            if next == p and seen < end:
                memmove(c.marks, m, (last - m) * sizeof(uint32_t))
                last = c.marks + (last - m)
                m = c.marks
                odd = find_marks(base, seen, end, last, MARKS - (last - m), &seen)
                last += odd
                if odd:
                    continue
            # Not plain. There may be more of the kind, so several lines go the other way.
            if begin != p:
                state = self.take_columns(begin, p, offset + (begin - base), batch, &begun)
                if state:
                    return state
            next = p
            for lines in range(patience):
                if next < end:
                    next = line_feed(next) + 1
            patience = min(2 * patience, <size_t>PATIENCE)
            state = self.one_by_one(p, next, offset + (p - base), skip, batch)
            if state:
                return state
            skip = 0
            p = next
            while m < last and base + m[0] < p:
                m += 1
            if seen < p:
                seen = p
            begun, begin, self.named = batch.a, p, self.names_so_far()
        return 0

    cdef int take_columns(self, const char* p, const char* end, size_t offset, Batch batch, const Arrays* begun) noexcept nogil:
        """Finish the lines [p, end), whose features are in the columns. begun: the batch before them."""
        cdef Columns* c = self.columns
        cdef size_t first = batch.a.features - c.size
        cdef long zeros = compute(c, self.settings.strings, batch.a.hash + first, batch.a.value + first)
        c.size = c.odd_count = 0
        if likely(zeros == 0):
            return 0
        # A bad line, or features to be left out: once more, one by one.
        batch.a.lines, batch.a.spans = begun.lines, begun.spans
        batch.a.features, batch.a.tag_bytes = begun.features, begun.tag_bytes
        self.forget_names(self.named)
        return self.one_by_one(p, end, offset, 0, batch)

    cdef int one_by_one(self, const char* p, const char* end, size_t offset, size_t skip, Batch batch) noexcept nogil:
        """`lines`, each on its own: the way for every line."""
        cdef const char* base = p
        cdef const char* next
        cdef Arrays before
        cdef Trouble trouble
        cdef Fault fault
        cdef uint32_t named
        while p < end:
            if unlikely(batch.a.lines + 1 >= batch.line_capacity) and batch.reserve(1, 0, 0, 0):
                return -1
            before.spans, before.features, before.tag_bytes = batch.a.spans, batch.a.features, batch.a.tag_bytes
            named = self.names_so_far()
            if self.is_libsvm:
                next = libsvm_line(&self.settings, batch, p + skip, &trouble)
            else:
                next = vw_line(&self.settings, batch, p + skip, &trouble)
            skip = 0
            if likely(next != NULL):
                p = next
                continue
            batch.a.spans, batch.a.features, batch.a.tag_bytes = before.spans, before.features, before.tag_bytes
            self.forget_names(named)
            if trouble.code == OUT_OF_MEMORY:
                return -1
            next = line_feed(trouble.end)
            fault.line, fault.code = <uint32_t>batch.a.lines, trouble.code
            fault.begin, fault.end = offset + (trouble.begin - base), offset + (trouble.end - base)
            fault.line_begin, fault.line_end = offset + (p - base), offset + (next - base)
            if batch.add_fault(&fault):
                return -1
            if self.settings.stop:
                return 1
            batch.a.label[batch.a.lines], batch.a.importance[batch.a.lines] = NAN, 1
            batch.a.initial[batch.a.lines] = 0
            p = close_line(batch, REJECTED, next)
        return 0

    @staticmethod
    def faults(Batch batch not None):
        """The faults that `parse` found, in order: what is wrong, the number of the line in the batch, and as offsets
        into the block the begin and the end of the line and those of the offending token."""
        cdef size_t i
        cdef Fault* f = batch.faults
        return [(CODES[f[i].code], f[i].line, f[i].line_begin, f[i].line_end, f[i].begin, f[i].end)
                for i in range(batch.fault_count)]


def detect(first_bytes) -> str | None:
    """The format of a text, "vw" or "libsvm", by the first line that shows one; None if that line is
    neither. Text without any such line (blank, labels, comments) is taken for libsvm if it has a
    label or a comment and for VW if not."""
    found = "vw"
    for line in bytes(first_bytes).removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        words = line.partition(b"#")[0].split()
        if b"|" in line and not line.startswith(b"#"):
            return "vw"
        if any(re.match(rb"(-?\d+|qid):", word) for word in words[:2]):
            return "libsvm"
        if len(words) > 1 or (words and not re.fullmatch(rb"[-+.\deE]+", words[0])):
            return None
        if words or line.startswith(b"#"):
            found = "libsvm"
    return found


# --- for tests -----------------------------------------------------------------------------------

def murmur3(bytes data, uint32_t seed):
    """MurmurHash3_x86_32."""
    cdef const char* p = data
    return murmur(p, len(data), seed)


def name_hash(bytes name, uint32_t seed, bint hash_all=False):
    """The hash of a name, as in murmur.pxd."""
    cdef const char* p = name
    return murmur(p, len(name), seed) if hash_all else hash_strings(p, len(name), seed)


def window(bytes text, str other, bint portable=False):
    """The delimiters among the first 32 bytes of the text, as bits."""
    cdef bytes padded = text + bytes(PADDING)
    cdef char third = <char>ord(other)
    return delimiters_portable(padded, third) if portable else delimiters(padded, third)
