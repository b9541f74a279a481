"""Decimal numbers, as they stand in text. See numbers.pyx; here is the short way, to be inlined."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from vwlite.core.words cimport decimal, digits_of, foretold, likely, load64, lowest_byte, mark_non_digits, unlikely

cdef extern from *:
    """
    /* By sign, then power: dividing by -10^e costs nothing more than dividing by 10^e. */
    static const double vwlite_signed_powers[2][8] = {
        {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}, {-1e0, -1e1, -1e2, -1e3, -1e4, -1e5, -1e6, -1e7}};
    static const int64_t vwlite_whole_powers[8] = {
        1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    """
    const double SIGNED_POWERS "vwlite_signed_powers"[2][8]
    const int64_t WHOLE_POWERS "vwlite_whole_powers"[8]


cdef struct Double:
    const char* end    # behind the number; NULL if there is none
    double value       # infinite if it is too large


cdef struct Float:
    const char* end
    float value


cdef Double read_double(const char* p) noexcept nogil
cdef Float read_any_float(const char* p) noexcept nogil


cdef inline Float read_float(const char* p) noexcept nogil:
    """The float at p. One digit, a point and up to seven digits take the short way, as do up to
    seven digits alone; this is what most text is made of."""
    cdef Float result
    cdef size_t negative = 0
    cdef const char* q = p
    cdef int64_t first
    cdef uint64_t word, marks
    cdef unsigned int n
    if unlikely(p[0] == c'-'):
        q = foretold(p + 1)
        negative = 1
    first = <uint8_t>(q[0] - c'0')
    if likely(first <= 9):
        if q[1] == c'.':
            word = digits_of(load64(q + 2))
            marks = mark_non_digits(word)
            if likely(marks != 0):
                n = lowest_byte(marks)
                q += 2 + n
                if likely((q[0] | 0x20) != c'e'):
                    result.end = q
                    result.value = <float>(<double>(first * WHOLE_POWERS[n] + <int64_t>decimal(word, n))
                                           / SIGNED_POWERS[negative][n])
                    return result
        else:
            word = digits_of(load64(q))
            marks = mark_non_digits(word)
            if likely(marks != 0):
                n = lowest_byte(marks)
                q += n
                if likely(q[0] != c'.' and (q[0] | 0x20) != c'e'):
                    result.end = q
                    result.value = <float>(<double><int64_t>decimal(word, n) / SIGNED_POWERS[negative][0])
                    return result
    return read_any_float(p)
