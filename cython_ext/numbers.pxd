"""Numbers from text, without the locale, without allocating, and rounded as Python's float rounds.

[+-]digits[.digits][e[+-]digits], also `.5` and `5.`; nothing else is a number here. Most numbers have
so few digits that digits and power of ten are exact in a double, and one division is correctly rounded
(Clinger 1990). With more digits the result may be off by an ulp or two, which does not matter when it
becomes a float and does not lie near the middle of two of them; what remains goes to strtod in the C locale.
Little-endian.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy


cdef extern from *:
    """
    #include <stdlib.h>
    #include <locale.h>
    #include <string.h>
    #if defined(__APPLE__)
    #include <xlocale.h>
    #endif
    static locale_t vwlite_c_locale;
    /* strtod in the C locale, on a copy; -1 if there is no memory for a long one. */
    static int vwlite_strtod(const char* begin, size_t size, double* out) {
        char small[512];
        char* copy = size < sizeof small ? small : (char*)malloc(size + 1);
        if (!copy) return -1;
        if (!vwlite_c_locale) vwlite_c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        memcpy(copy, begin, size);
        copy[size] = 0;
        *out = strtod_l(copy, NULL, vwlite_c_locale);
        if (copy != small) free(copy);
        return 0;
    }
    #define vwlite_ctz(x) __builtin_ctzll(x)
    static const double vwlite_tens[23] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    static const unsigned long long vwlite_whole_tens[9] = {1, 10, 100, 1000, 10000, 100000, 1000000,
        10000000, 100000000};
    """
    int slow_number "vwlite_strtod" (const char* begin, size_t size, double* out) noexcept nogil
    int count_trailing_zeros "vwlite_ctz" (uint64_t x) noexcept nogil
    const double* TENS "vwlite_tens"
    const uint64_t* WHOLE_TENS "vwlite_whole_tens"


cdef enum:
    MOST_DIGITS = 19    # of an uint64, whatever they are


cdef inline uint64_t load_word(const char* p, const char* end) noexcept nogil:
    """Eight bytes from p, zeros from `end` on."""
    cdef uint64_t word = 0
    if end - p >= 8:
        memcpy(&word, p, 8)
    elif p < end:
        memcpy(&word, p, end - p)
    return word


cdef inline int leading_digits(uint64_t word) noexcept nogil:
    """How many of the bytes of a word, from the first, are digits."""
    cdef uint64_t digits = word ^ <uint64_t>0x3030303030303030
    cdef uint64_t others = ((digits + <uint64_t>0x7676767676767676) | digits) & <uint64_t>0x8080808080808080
    return count_trailing_zeros(others) >> 3 if others else 8


cdef inline uint64_t digits_value(uint64_t word, int n) noexcept nogil:
    """The number that the first n >= 1 bytes of a word, all digits, spell."""
    word = (word ^ <uint64_t>0x3030303030303030) << (8 * (8 - n))
    word = (word * 10 + (word >> 8)) & <uint64_t>0x00FF00FF00FF00FF
    word = (word * 100 + (word >> 16)) & <uint64_t>0x0000FFFF0000FFFF
    return (word * 10000 + (word >> 32)) & <uint64_t>0xFFFFFFFF


cdef inline const char* scan_number(const char* p, const char* end, double* out, bint* rough) noexcept nogil:
    """Read a number at p; where it ends, or NULL if there is none.

    rough: the value may be off by a few ulps; whoever needs it exactly reads it with `exact_number`.
    """
    cdef bint negative = False, negative_exponent = False
    cdef uint64_t mantissa = 0, word
    cdef int n, digits = 0, exponent = 0, dropped = 0, written = 0
    cdef const char* point
    cdef double value
    rough[0] = False
    if p < end and (p[0] == 45 or p[0] == 43):
        negative = p[0] == 45
        p += 1
    # One digit before the point is the common case; then all of the rest at once.
    while p < end and 48 <= p[0] <= 57:
        if digits < MOST_DIGITS:
            mantissa = mantissa * 10 + <uint64_t>(p[0] - 48)
            digits += mantissa != 0
        else:
            dropped += 1
            rough[0] = True
        written += 1
        p += 1
    if p < end and p[0] == 46:
        p += 1
        point = p
        if digits <= MOST_DIGITS - 8:
            word = load_word(p, end)
            n = leading_digits(word)
            if n:
                mantissa = mantissa * WHOLE_TENS[n] + digits_value(word, n)
                digits += n
                exponent = -n
                p += n
        while p < end and 48 <= p[0] <= 57:
            if digits < MOST_DIGITS:
                mantissa = mantissa * 10 + <uint64_t>(p[0] - 48)
                digits += mantissa != 0
                exponent -= 1
            else:
                rough[0] = True
            p += 1
        written += p - point
    if written == 0:
        return NULL
    exponent += dropped
    if p < end and (p[0] | 32) == 101:
        p += 1
        if p < end and (p[0] == 45 or p[0] == 43):
            negative_exponent = p[0] == 45
            p += 1
        if p == end or not 48 <= p[0] <= 57:
            return NULL
        n = 0
        while p < end and 48 <= p[0] <= 57:
            if n < 100000:
                n = n * 10 + (p[0] - 48)
            p += 1
        exponent += -n if negative_exponent else n
    value = <double>mantissa
    if mantissa >> 53:
        rough[0] = True
    if exponent < 0:
        if exponent >= -22:
            value /= TENS[-exponent]
        elif mantissa:
            rough[0] = True
            value = 0       # outside of what is quick: `exact_number` tells
    elif exponent > 0:
        if exponent <= 22:
            value *= TENS[exponent]
        elif mantissa:
            rough[0] = True
            value = 0
    out[0] = -value if negative else value
    return p


cdef inline int exact_number(const char* begin, const char* end, double* value) noexcept nogil:
    """The value of a rough number, correctly rounded; -1: no memory."""
    return slow_number(begin, end - begin, value)


cdef inline bint settles_as_float(double value) noexcept nogil:
    """Whether a rough value, off by a few ulps at most, becomes the same float as the exact one."""
    cdef uint64_t bits
    cdef uint32_t rest
    memcpy(&bits, &value, 8)
    rest = <uint32_t>(bits & 0x1FFFFFFF)          # what a float has no room for; the middle is 0x10000000
    return (1e-37 < value < 1e38 or -1e38 < value < -1e-37) and not 0x0FFFFFF0 <= rest <= 0x10000010
