"""The grammar of libsvm text, line by line.

    [label] index:value index:value ... [# comment]

Indices rise, from 0 to 2^32 - 1; the hash of a feature is that of its index as a name. A first word with a colon is a
feature: such a line has no label.
"""

from libc.math cimport NAN, isfinite
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp

from vwlite.core.base.murmur cimport murmur
from vwlite.core.base.simd cimport (
    are_digits, decimal, delimiters, digits_of, foretold, last_of, likely, load64, lowest, unlikely,
)
from vwlite.core.data.batch cimport BLANK, EXAMPLE, Batch
from vwlite.core.text.numbers cimport Float, read_float
from vwlite.core.text.tokens cimport *


cdef inline const char* bad_index(const char* p, TokenError* error) noexcept nogil:
    """The word at p does not begin with index: - set the error code."""
    cdef const char* end = find(p, ENDS_PAIR)
    cdef const char* colon = <const char*>memchr(p, c':', end - p)
    cdef const char* q = p
    if colon == NULL:
        return error_at(error, PAIR, p, end)
    if memcmp(p, b"qid:", 4) == 0:
        return error_at(error, QUERY, p, end)
    q += p[0] == c'-'
    while <uint8_t>(q[0] - c'0') <= 9:
        q += 1
    if q == p or q != colon or (colon - 1)[0] == c'-':
        return error_at(error, INDEX, p, colon)
    return error_at(error, INDEX_SMALL if p[0] == c'-' else INDEX_LARGE, p, colon)


cdef inline const char* libsvm_line(const TokenSettings* s, Batch batch, const char* p, TokenError* error) noexcept nogil:
    cdef uint32_t* hash = batch.a.hash
    cdef float* value = batch.a.value
    cdef size_t n = batch.a.features, first = n, limit = batch.feature_capacity
    cdef size_t i = batch.a.lines
    cdef uint64_t word, index, least = 0
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
            return no_line_end(error, p)
        if not take_label(s, p, end, &batch.a.label[i], error):
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
            return bad_index(begin, error)
        if unlikely(index < least):
            return error_at(error, INDEX_REPEATED if index == least - 1 else INDEX_ORDER, begin, p)
        least = index + 1
        if unlikely(n == limit):
            batch.a.features = n
            if batch.reserve(0, 0, 64, 0):
                return error_at(error, OUT_OF_MEMORY, p, p)
            hash, value, limit = batch.a.hash, batch.a.value, batch.feature_capacity
        if likely(s.strings and batch.name_begin == NULL):
            hash[n] = <uint32_t>index + s.unnamed
        else:
            name = begin
            while name[0] == c'0' and name + 1 != p:
                name += 1
            hash[n] = <uint32_t>index + s.unnamed if s.strings else murmur(name, p - name, s.unnamed)
            if batch.name_begin != NULL:
                batch.name_begin[n] = <uint32_t>(<size_t>name - batch.text)
        end = value_end(p + 1, begin, rest, ENDS_PAIR)
        begin = p + 1
        number = read_float(begin, end)
        if unlikely(number.end != end):
            return error_at(error, VALUE, begin, end)
        p, x = end, number.value
        if unlikely(not isfinite(x)):
            return error_at(error, VALUE_LARGE, begin, p)
        value[n] = x
        if likely(x != 0):
            n += 1
        if likely(p[0] == c' '):
            p = foretold(p + 1)
    end = line_feed(p) if p[0] == c'#' else line_end(p)
    if end == NULL:
        return no_line_end(error, p)
    if n != first and close_span(batch, c' ', s.unnamed, n):
        return error_at(error, OUT_OF_MEMORY, p, p)
    return close_line(batch, EXAMPLE, end)
