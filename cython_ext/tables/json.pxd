"""The grammar of JSON (RFC 8259), independent of columns: strings, numbers, values to skip.

A line of JSON lines is an object. It ends with LF, which no string may hold as it is: so nothing here reads beyond it.
Every function starts at a byte of the line, and returns where it stopped; or NULL, with the error set.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from vwlite.core.text.tokens cimport TokenError, error_at

cdef extern from *:
    """
    /* The first quote, backslash or control byte from p on. PADDING bytes behind the LF of the line are readable. */
    static inline const char *vwlite_json_stop_portable(const char *p) {
        while ((uint8_t)*p > 0x1F && *p != '"' && *p != '\\\\') {
            p++;
        }
        return p;
    }

    #ifdef VWLITE_SSE2
    static inline const char *vwlite_json_stop(const char *p) {
        const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\\\'), control = _mm_set1_epi8(0x1F);
        while (1) {
            __m128i w = _mm_loadu_si128((const __m128i *)p);
            __m128i found = _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(w, control), w),
                _mm_or_si128(_mm_cmpeq_epi8(w, quote), _mm_cmpeq_epi8(w, slash)));
            unsigned bits = (unsigned)_mm_movemask_epi8(found);
            if (bits) {
                return p + __builtin_ctz(bits);
            }
            p += 16;
        }
    }
    #else
    #define vwlite_json_stop vwlite_json_stop_portable
    #endif
    """
    const char* json_stop "vwlite_json_stop"(const char* p) noexcept nogil
    const char* json_stop_portable "vwlite_json_stop_portable"(const char* p) noexcept nogil

cdef enum:
    BRACE = 0x7B
    END_BRACE = 0x7D
    BRACKET = 0x5B
    END_BRACKET = 0x5D
    DEEPEST = 64          # nesting depth of skipped values


# Error codes of a line of JSON, in addition to those of tokens.pxd and csv.pxd; the names are JSON_CODES in tables.pyx.
cdef enum JsonCode:
    JSON_OBJECT = 200
    JSON_VALUE
    JSON_STRING
    JSON_ESCAPE
    JSON_NUMBER
    JSON_KEY
    JSON_COLON
    JSON_COMMA
    JSON_AFTER
    JSON_TWICE
    JSON_DEEP
    JSON_MIXED
    JSON_KIND


cdef inline const char* json_blanks(const char* p) noexcept nogil:
    while p[0] == c' ' or p[0] == c'\t' or p[0] == c'\r':
        p += 1
    return p


cdef inline const char* json_string(const char* p, bint* escaped, TokenError* error) noexcept nogil:
    """The position after the closing quote of the string that starts with the quote at p."""
    cdef const char* begin = p
    escaped[0] = False
    p += 1
    while True:
        p = json_stop(p)
        if p[0] == c'"':
            return p + 1
        if p[0] != c'\\':
            return error_at(error, JSON_STRING, begin, p)
        escaped[0] = True
        if <uint8_t>p[1] <= 0x1F:
            return error_at(error, JSON_STRING, begin, p + 1)
        p += 2


cdef inline bint is_digit(char c) noexcept nogil:
    return <uint8_t>(c - c'0') <= 9


cdef inline const char* json_number(const char* p, TokenError* error) noexcept nogil:
    """The position after the number at p."""
    cdef const char* begin = p
    p += p[0] == c'-'
    if not is_digit(p[0]) or (p[0] == c'0' and is_digit(p[1])):
        return error_at(error, JSON_NUMBER, begin, p + 1)
    while is_digit(p[0]):
        p += 1
    if p[0] == c'.':
        p += 1
        if not is_digit(p[0]):
            return error_at(error, JSON_NUMBER, begin, p)
        while is_digit(p[0]):
            p += 1
    if p[0] == c'e' or p[0] == c'E':
        p += 1
        p += p[0] == c'-' or p[0] == c'+'
        if not is_digit(p[0]):
            return error_at(error, JSON_NUMBER, begin, p)
        while is_digit(p[0]):
            p += 1
    return p


cdef inline size_t json_word(const char* p) noexcept nogil:
    """The length of the `true`, `false` or `null` at p, or of the NaN that Python writes for it; 0: none of them."""
    if p[0] == c't' and p[1] == c'r' and p[2] == c'u' and p[3] == c'e':
        return 4
    if p[0] == c'f' and p[1] == c'a' and p[2] == c'l' and p[3] == c's' and p[4] == c'e':
        return 5
    if p[0] == c'n' and p[1] == c'u' and p[2] == c'l' and p[3] == c'l':
        return 4
    if p[0] == c'N' and p[1] == c'a' and p[2] == c'N':
        return 3
    return 0


cdef inline const char* json_no_value(const char* p, TokenError* error) noexcept nogil:
    """What is at p is no value; Python writes Infinity."""
    return error_at(error, JSON_NUMBER if p[0] == c'I' else JSON_VALUE, p, p + (p[0] != c'\n'))


cdef inline const char* json_skip(const char* p, TokenError* error) noexcept nogil:
    """The position after the value at p, of any type."""
    cdef char[DEEPEST] closing
    cdef int depth = 0
    cdef bint escaped
    cdef size_t n
    while True:
        # p is at a value.
        p = json_blanks(p)
        if p[0] == c'{' or p[0] == c'[':
            if depth == DEEPEST:
                return error_at(error, JSON_DEEP, p, p + 1)
            closing[depth] = c'}' if p[0] == c'{' else c']'
            depth += 1
            p = json_blanks(p + 1)
            if p[0] == closing[depth - 1]:
                depth -= 1
                p += 1
            elif closing[depth - 1] == c'}':
                p = json_key(p, &escaped, error)
                if p == NULL:
                    return NULL
                continue
            else:
                continue
        elif p[0] == c'"':
            p = json_string(p, &escaped, error)
        elif p[0] == c'-' or is_digit(p[0]):
            p = json_number(p, error)
        else:
            n = json_word(p)
            if n == 0:
                return json_no_value(p, error)
            p += n
        if p == NULL:
            return NULL
        # Behind a value.
        while True:
            if depth == 0:
                return p
            p = json_blanks(p)
            if p[0] == closing[depth - 1]:
                depth -= 1
                p += 1
                continue
            if p[0] != c',':
                return error_at(error, JSON_COMMA, p, p + (p[0] != c'\n'))
            p += 1
            if closing[depth - 1] == c'}':
                p = json_key(json_blanks(p), &escaped, error)
                if p == NULL:
                    return NULL
            break


cdef inline const char* json_key(const char* p, bint* escaped, TokenError* error) noexcept nogil:
    """Behind the colon of the key that begins at p."""
    if p[0] != c'"':
        return error_at(error, JSON_KEY, p, p + (p[0] != c'\n'))
    p = json_string(p, escaped, error)
    if p == NULL:
        return NULL
    p = json_blanks(p)
    if p[0] != c':':
        return error_at(error, JSON_COLON, p, p + (p[0] != c'\n'))
    return p + 1


cdef inline int hex_digit(char c) noexcept nogil:
    """The value of a hexadecimal digit; -1 for another character."""
    if is_digit(c):
        return c - c'0'
    if c'a' <= (c | 0x20) <= c'f':
        return (c | 0x20) - c'a' + 10
    return -1


cdef inline int json_unit(const char* p) noexcept nogil:
    """The number of four hexadecimal digits; -1: they are not digits."""
    cdef int i, digit, unit = 0
    for i in range(4):
        digit = hex_digit(p[i])
        if digit < 0:
            return -1
        unit = 16 * unit + digit
    return unit
