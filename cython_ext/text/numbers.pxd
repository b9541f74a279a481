"""Decimal numbers in text. See numbers.pyx; this is the fast path, which is inlined."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from vwlite.core.base.simd cimport are_digits, decimal, digits_of, last_of, load64

cdef extern from *:
    """
    /* By sign, then power: dividing by -10^e costs nothing more than dividing by 10^e. */
    static const double vwlite_signed_powers[2][8] = {
        {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}, {-1e0, -1e1, -1e2, -1e3, -1e4, -1e5, -1e6, -1e7}};
    static const int64_t vwlite_whole_powers[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    """
    const double SIGNED_POWERS "vwlite_signed_powers"[2][8]
    const int64_t WHOLE_POWERS "vwlite_whole_powers"[8]


cdef struct Double:
    const char* end    # after the number; NULL for an invalid number
    double value       # infinite if it is too large


cdef struct Float:
    const char* end
    float value


cdef inline size_t whole_size(const char* p, size_t n) noexcept nogil:
    """The bytes of n that are a word's: of a whole number without its point and the zeros behind it, such as 2.0, -2 and
    0.00; all of another word, such as 1.10, 007.0 and 1e5."""
    cdef size_t size = n, i = 0
    while size > 0 and p[size - 1] == c'0':
        size -= 1
    if size < 2 or size == n or p[size - 1] != c'.':
        return n
    size -= 1
    i = p[0] == c'-'
    if i == size or (p[i] == c'0' and size > i + 1):
        return n
    while i < size and <uint8_t>(p[i] - c'0') <= 9:
        i += 1
    return size if i == size else n


cdef Double read_double(const char* p) noexcept nogil
cdef Float read_any_float(const char* p) noexcept nogil


cdef inline Float read_float(const char* p, const char* end) noexcept nogil:
    """The float at p. The fast path is for numbers that end at `end` and consist of one digit, a
    point and up to seven digits, or of up to seven digits: most numbers in text are of this kind."""
    cdef Float result
    cdef size_t negative = p[0] == c'-'
    cdef const char* q = p + negative
    cdef size_t n = end - q
    cdef int64_t first = <uint8_t>(q[0] - c'0')
    cdef uint64_t word
    if q[1] == c'.':
        n -= 2
        word = last_of(digits_of(load64(q + 2)), n & 7)
        if n <= 7 and first <= 9 and are_digits(word):
            result.end = end
            result.value = <float>(<double>(first * WHOLE_POWERS[n] + <int64_t>decimal(word))
                                   / SIGNED_POWERS[negative][n])
            return result
    else:
        word = last_of(digits_of(load64(q)), n & 7)
        if n <= 7 and first <= 9 and are_digits(word):
            result.end = end
            result.value = <float>(<double><int64_t>decimal(word) / SIGNED_POWERS[negative][0])
            return result
    return read_any_float(p)
