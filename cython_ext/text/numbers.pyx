"""Decimal numbers: [+-] digits [. digits] [e [+-] digits], also `.5` and `5.`

No locale, no hexadecimal, no words such as nan. The result is exactly Python's:

    read_double(token) == float(token)
    read_float(token)  == numpy.float32(float(token))       (two roundings, so we need them both)

The digits go into a 64-bit integer m, the rest into a power of ten e. If m <= 2^53 and
|e| <= 22, both are exact as doubles and IEEE division or multiplication rounds correctly (Clinger,
How to read floating point numbers accurately, 1990). Otherwise m * 10^e in doubles is off by at
most a few units in the last place; this is enough for a float32, unless the double is next to the
middle between two floats. All other numbers go to strtod, rewritten without a point, so that the
locale has no effect; of the digits after the 800th it only matters whether one is not zero.

Text is read up to the first byte that does not belong to the number, and words of eight bytes from
there: PADDING bytes after that byte must be readable.
"""

from libc.float cimport FLT_MIN
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport strtod
from libc.string cimport memcpy

from vwlite.core.base.simd cimport PADDING, are_digits, decimal, digits_of, likely, load64

cdef extern from *:
    """
    static const double vwlite_powers[64] = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31,
        1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38, 1e39, 1e40, 1e41, 1e42, 1e43, 1e44, 1e45, 1e46, 1e47,
        1e48, 1e49, 1e50, 1e51, 1e52, 1e53, 1e54, 1e55, 1e56, 1e57, 1e58, 1e59, 1e60, 1e61, 1e62, 1e63};
    #define VWLITE_EXACT_MANTISSA ((uint64_t)1 << 53)
    """
    const double POWERS "vwlite_powers"[64]
    const uint64_t EXACT_MANTISSA "VWLITE_EXACT_MANTISSA"

cdef enum:
    EXACT_POWER = 22         # 10^22 is the last power of ten that is exact as a double
    LAST_POWER = 63
    MOST_DIGITS = 800        # a double is settled by its first 770 digits and "more follows"
    ULPS = 8                 # generous: m, 10^e and the operation each err by half a unit


cdef struct Decimal:
    const char* end    # after the number; NULL for an invalid number
    uint64_t mantissa  # its first 18 or 19 significant digits
    int64_t power      # of ten
    bint negative
    bint cut           # digits that are not zero did not fit into the mantissa


cdef inline bint is_digit(char c) noexcept nogil:
    return <uint8_t>(c - c'0') <= 9


cdef inline Decimal read_decimal(const char* p) noexcept nogil:
    """The number at p as digits and a power of ten."""
    cdef Decimal d
    cdef const char* begin
    cdef uint64_t m = 0, word
    cdef int64_t power = 0, e = 0
    cdef int digit, some = 0
    cdef bint down
    d.end, d.cut, d.negative = NULL, False, p[0] == c'-'
    if p[0] == c'-' or p[0] == c'+':
        p += 1
    begin = p
    while True:
        digit = <uint8_t>(p[0] - c'0')
        if digit > 9:
            break
        if m < <uint64_t>1000000000000000000:
            m = m * 10 + <uint64_t>digit
        else:
            power += 1
            d.cut |= digit != 0
        p += 1
    some = p != begin
    if p[0] == c'.':
        p += 1
        begin = p
        while m < <uint64_t>100000000000:   # so that eight digits more fit
            word = digits_of(load64(p))
            if not are_digits(word):
                break
            m = m * 100000000 + decimal(word)
            power -= 8
            p += 8
        while True:
            digit = <uint8_t>(p[0] - c'0')
            if digit > 9:
                break
            if m < <uint64_t>1000000000000000000:
                m = m * 10 + <uint64_t>digit
                power -= 1
            else:
                d.cut |= digit != 0
            p += 1
        some |= p != begin
    if not some:
        return d
    d.end = p
    if p[0] == c'e' or p[0] == c'E':
        p += 1
        down = p[0] == c'-'
        if p[0] == c'-' or p[0] == c'+':
            p += 1
        if is_digit(p[0]):
            while is_digit(p[0]):
                if e < 100000000:   # more than any line can make up for by its zeros
                    e = e * 10 + (p[0] - c'0')
                p += 1
            power += -e if down else e
            d.end = p
    d.mantissa, d.power = m, power
    return d


cdef double exact(const char* p, const Decimal* d) noexcept nogil:
    """The magnitude of the number at p by strtod, however long it is."""
    cdef char digits[MOST_DIGITS + 32]
    cdef int n = 0
    cdef int64_t power = d.power
    cdef bint behind_point = False, rest = False
    cdef uint64_t m = d.mantissa
    if not d.cut:
        snprintf(digits, 64, "%llue%lld", <unsigned long long>m, <long long>power)
        return strtod(digits, NULL)
    # The mantissa has lost digits: take them from the text, and recompute the exponent.
    while m >= 10:
        m //= 10
        power += 1
    power += 1               # value = 0.ddd... * 10^power
    while p[0] < c'1' or p[0] > c'9':   # sign, zeros, point
        behind_point |= p[0] == c'.'
        p += 1
    while is_digit(p[0]) or (p[0] == c'.' and not behind_point):
        if p[0] == c'.':
            behind_point = True
        elif n < MOST_DIGITS:
            digits[n] = p[0]
            n += 1
        else:
            rest |= p[0] != c'0'
        p += 1
    if rest:
        digits[n] = c'1'
        n += 1
    snprintf(digits + n, 32, "e%lld", <long long>(power - n))
    return strtod(digits, NULL)


cdef inline bint is_easy(const Decimal* d) noexcept nogil:
    return not d.cut and d.mantissa <= EXACT_MANTISSA and -EXACT_POWER <= d.power <= EXACT_POWER


cdef inline double scaled(const Decimal* d) noexcept nogil:
    """mantissa * 10^power: correctly rounded if `is_easy`. |power| <= LAST_POWER."""
    if d.power < 0:
        return <double>d.mantissa / POWERS[-d.power]
    return <double>d.mantissa * POWERS[d.power]


cdef Double read_double(const char* p) noexcept nogil:
    cdef Decimal d = read_decimal(p)
    cdef Double result
    result.end, result.value = d.end, 0.0
    if d.end == NULL:
        return result
    if likely(is_easy(&d)):
        result.value = scaled(&d)
    elif d.mantissa:
        result.value = exact(p, &d)
    if d.negative:
        result.value = -result.value
    return result


cdef Float read_any_float(const char* p) noexcept nogil:
    """`read_float` for every number."""
    cdef Decimal d = read_decimal(p)
    cdef Float result
    cdef double x = 0.0
    cdef uint64_t bits
    cdef int64_t from_middle
    result.end, result.value = d.end, 0.0
    if d.end == NULL:
        return result
    if likely(is_easy(&d)):
        x = scaled(&d)
    elif d.mantissa:
        from_middle = 0
        if -LAST_POWER <= d.power <= LAST_POWER:
            x = scaled(&d)
            memcpy(&bits, &x, 8)
            # A cast drops the low 29 bits of the fraction (more below FLT_MIN: left to strtod).
            from_middle = <int64_t>(bits & 0x1FFFFFFF) - 0x10000000
        if x < 2 * FLT_MIN or -ULPS <= from_middle <= ULPS:
            x = exact(p, &d)
    result.value = <float>(-x if d.negative else x)
    return result


def whole(bytes word):
    """A word; if it is a whole number, without its point and the zeros behind it, as 2 for 2.0."""
    return word[:whole_size(word, len(word))]


def number(bytes token, bint single):
    """For tests: the token as a float32 (`single`) or a double; None if it is not a number."""
    cdef bytes padded = token + b"\n" + bytes(PADDING)
    cdef const char* p = padded
    cdef Float f
    cdef Double d
    if single:
        f = read_float(p, p + len(token))
        return f.value if f.end == p + len(token) else None
    d = read_double(p)
    return d.value if d.end == p + len(token) else None
