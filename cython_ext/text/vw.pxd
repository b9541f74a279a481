"""The grammar of VW text, line by line.

    [label [importance [initial]]] ['tag | tag touching the bar] |namespace[:scale] feature[:value] ...

The last word before the first bar is a tag if it touches the bar or begins with `'`, which is dropped. A name runs to
a blank, ':' or '|', and may be empty before ':' in a feature: the feature's hash is then that of its namespace plus k,
for the k-th (from 0) nameless feature of the occurrence. Without a value a feature counts 1. Values are multiplied by
the scale, as floats.

`vw_line` knows the whole grammar; `plain_line` does the same for most lines, and leaves their features to the columns.
"""

from libc.math cimport NAN, isfinite
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy

from vwlite.core.base.murmur cimport hash_strings, murmur
from vwlite.core.base.simd cimport delimiters, first_bytes, foretold, likely, load64, unlikely
from vwlite.core.data.batch cimport BLANK, EXAMPLE, Batch
from vwlite.core.text.lines_fast cimport FeatureColumns, is_odd
from vwlite.core.text.numbers cimport Double, Float, read_double, read_float
from vwlite.core.text.tokens cimport *

cdef enum:
    WORDS = 5           # label, importance, initial, one too many, and the last


# The name of a namespace and its hash.
cdef struct NamespaceHead:
    size_t length
    uint64_t head          # bytes 0 to 7, zeros behind
    uint64_t more          # bytes 8 to 14
    uint32_t hash


cdef enum:
    PLACES = 16


cdef inline int keep_words(Batch batch, const char* words, const char* words_end, const char* tag,
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


cdef inline const char* vw_header(const TokenSettings* s, Batch batch, const char* p, TokenError* error) noexcept nogil:
    """Parse the words before the first bar into the next line of the batch, which must have capacity. Returns the
    bar; or the end of a blank line."""
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
                return no_line_end(error, p)
            if count == 0:
                if unlikely(s.vw_compatible_only and p != line):
                    return error_at(error, VW_INCOMPATIBLE, line, p)
                return q
            return error_at(error, NO_BAR, begins[0], p)
        q = find(p, ENDS_WORD)
        last = count if count < WORDS - 1 else WORDS - 1
        begins[last], ends[last] = p, q
        count += 1
        touches = q[0] == c'|'
        before, after = after, q
        p = q
    if unlikely(s.vw_compatible_only and memchr(line, c'\t', p - line) != NULL):
        return error_at(error, VW_INCOMPATIBLE, line, p)
    if unlikely(s.labels_in_tags):
        last = 0 if count == 0 else count - 1 if count < WORDS else WORDS - 1
        q = begins[last] if count and (touches or begins[last][0] == c'\'') else after
        if keep_words(batch, begins[0], before if q != after else after, q, after):
            return error_at(error, OUT_OF_MEMORY, p, p)
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
            return error_at(error, OUT_OF_MEMORY, p, p)
        if tag:
            memcpy(batch.a.tags + batch.a.tag_bytes, q, tag)
            batch.a.tag_bytes += tag
    if numbers > 0 and not take_label(s, begins[0], ends[0], &batch.a.label[i], error):
        return NULL
    if numbers > 1:
        number = read_double(begins[1])
        if number.end != ends[1]:
            return error_at(error, IMPORTANCE, begins[1], ends[1])
        if number.value < 0:
            return error_at(error, IMPORTANCE_NEGATIVE, begins[1], ends[1])
        if not isfinite(number.value):
            return error_at(error, IMPORTANCE_LARGE, begins[1], ends[1])
        batch.a.importance[i] = number.value
    if numbers > 2:
        number = read_double(begins[2])
        if number.end != ends[2]:
            return error_at(error, INITIAL, begins[2], ends[2])
        if not isfinite(number.value):
            return error_at(error, INITIAL_LARGE, begins[2], ends[2])
        batch.a.initial[i] = number.value
    if numbers > 3:
        return error_at(error, EXTRA_WORD, begins[3], ends[3])
    return p


cdef inline const char* vw_line(const TokenSettings* s, Batch batch, const char* p, TokenError* error) noexcept nogil:
    """Append the line at p to the batch, token by token: any line of VW text. Returns its end; NULL: see `error`."""
    cdef uint32_t* hash
    cdef float* value
    cdef size_t n, first, limit
    cdef uint32_t space, nameless, window
    cdef float scale, x
    cdef uint8_t letter
    cdef const char* begin
    cdef const char* end
    cdef NameToken name
    cdef Float number
    cdef bint strings = s.strings
    p = vw_header(s, batch, p, error)
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
                    return error_at(error, SCALE, begin, end)
                p, scale = end, number.value
                if not isfinite(scale):
                    return error_at(error, SCALE_LARGE, begin, p)
                if unlikely(s.vw_compatible_only and (p[0] == c'\n' or p[0] == c'\r')):
                    return error_at(error, VW_INCOMPATIBLE, begin, p)
        elif p[0] == c':':
            return error_at(error, NAMESPACE_NAME, p, find(p, ENDS_WORD))
        while True:           # for each feature
            window = delimiters(p, c'|')
            if unlikely(n == limit):
                batch.a.features = n
                if batch.reserve(0, 0, 64, 0):
                    return error_at(error, OUT_OF_MEMORY, p, p)
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
            if unlikely(batch.name_begin != NULL):
                batch.name_begin[n] = <uint32_t>(<size_t>p - batch.text)
            x = 1
            if name.end[0] == c':':
                begin = name.end + 1
                end = value_end(begin, p, name.rest, ENDS_WORD)
                number = read_float(begin, end)
                if unlikely(number.end != end):
                    return error_at(error, VALUE, begin, end)
                p, x = end, number.value
            else:
                p = name.end
            x = x * scale
            if unlikely(not isfinite(x)):
                return error_at(error, VALUE_SCALED if isfinite(number.value) else VALUE_LARGE, begin, p)
            value[n] = x
            if likely(x != 0) or s.zeros:
                n += 1
            if likely(p[0] == c' '):
                p = foretold(p + 1)
        if n != first and close_span(batch, letter, space, n):
            return error_at(error, OUT_OF_MEMORY, p, p)
    begin = line_end(p)
    if begin == NULL:
        return no_line_end(error, p)
    return close_line(batch, EXAMPLE, begin)


cdef inline uint32_t space_hash(const TokenSettings* s, NamespaceHead* known, const char* p, size_t n) noexcept nogil:
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


cdef inline const char* plain_line(const TokenSettings* s, Batch batch, FeatureColumns* c, NamespaceHead* spaces, const char* base,
                                   const char* p, const uint32_t** position, const uint32_t* last) noexcept nogil:
    """`vw_line` for simple lines, the majority, which leaves its features to the columns.

    position: in the positions of delimiters, from p on, up to `last`; is set after those of the line. Returns NULL if
    the line needs the slow path, and p if its delimiters are incomplete. Then the line may have left a tag and spans
    behind, and nothing else.
    """
    cdef const uint32_t* m = position[0]
    cdef const char* line = p
    cdef const char* q
    cdef size_t n = c.size, first, ordinal = 0
    cdef size_t begin = batch.a.features - n
    cdef uint32_t space
    cdef uint8_t letter
    cdef TokenError error
    p = vw_header(s, batch, p, &error)
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
                c.slow[c.slow_count] = <uint32_t>n
                c.slow_count += 1
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
            if unlikely(batch.a.space != NULL):
                batch.a.space[batch.a.spans] = space
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
    position[0] = m + 1
    return close_line(batch, EXAMPLE, q)
