"""Numbers as text, without the locale and without allocating."""

from libc.math cimport copysign, fabs, floor, rint
from libc.stdint cimport uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport strtod
from libc.string cimport memmove, memset, strlen

cdef extern from "<math.h>" nogil:
    double fma(double, double, double)

cdef enum:
    LONGEST_NUMBER = 352     # a double in full, its sign and six decimals


cdef inline int write_unsigned(char* out, uint64_t n) noexcept nogil:
    cdef char digits[20]
    cdef int size = 0, i
    while True:
        digits[size] = 48 + <char>(n % 10)
        size += 1
        n //= 10
        if n == 0:
            break
    for i in range(size):
        out[i] = digits[size - 1 - i]
    return size


cdef inline int write_short(char* out, double v) noexcept nogil:
    """v with six digits at most, as C's %g writes it; the length. At most LONGEST_NUMBER."""
    cdef double scale = 1e6, product, error
    cdef uint64_t digits
    cdef int zeros = 0, size, i
    if 1e-4 <= v < 1:
        while v * scale < 1e5:      # number of zeros before the first nonzero digit
            scale *= 10
            zeros += 1
        product = v * scale
        digits = <uint64_t>rint(product)
        if product - floor(product) == 0.5:     # as in write_number
            error = fma(v, scale, -product)
            if error != 0:
                digits = <uint64_t>floor(product) + (error > 0)
        if 100000 <= digits < 1000000:
            size = 8 + zeros
            out[0], out[1] = c'0', c'.'
            for i in range(zeros):
                out[2 + i] = c'0'
            for i in range(size - 1, 1 + zeros, -1):
                out[i] = c'0' + <char>(digits % 10)
                digits //= 10
            while out[size - 1] == c'0':
                size -= 1
            return size
    return snprintf(out, LONGEST_NUMBER, "%g", v)


cdef inline int write_number(char* out, double v) noexcept nogil:
    """v with six decimals, none if it is an integer, as Vowpal Wabbit writes predictions; the length."""
    cdef int size = 0, i
    cdef double whole, product, error
    cdef uint64_t decimals
    if fabs(v) >= 9007199254740992.0:     # 2^53: from here on all are integers
        return snprintf(out, LONGEST_NUMBER, "%.0f", v)
    if copysign(1, v) < 0:
        out[0] = 45
        size = 1
        v = -v
    whole = floor(v)
    product = (v - whole) * 1e6
    decimals = <uint64_t>rint(product)
    if product - floor(product) == 0.5:     # rounded to a tie, perhaps: what the product has lost decides
        error = fma(v - whole, 1e6, -product)
        if error != 0:
            decimals = <uint64_t>floor(product) + (error > 0)
    if decimals == 1000000:
        whole, decimals = whole + 1, 0
        size += write_unsigned(out + size, <uint64_t>whole)
    elif v == whole:
        return size + write_unsigned(out + size, <uint64_t>whole)
    else:
        size += write_unsigned(out + size, <uint64_t>whole)
    out[size] = 46
    for i in range(6, 0, -1):
        out[size + i] = 48 + <char>(decimals % 10)
        decimals //= 10
    return size + 7


cdef inline int write_exact(char* out, double v, bint narrow, int large) noexcept nogil:
    """v with as few digits as tell it from other doubles (narrow: floats), whole numbers without a point, below 1e-6 and
    from the power `large` of 10 on with an exponent: as pyarrow writes numbers into CSV if it is 10; the length."""
    cdef int digits = 6 if narrow else 15, exponent, size, i, first = 0
    cdef char* e
    if fabs(v) < (1.2e-38 if narrow else 2.3e-308):   # a subnormal number has fewer
        digits = 1
    if v - v != 0:
        return snprintf(out, LONGEST_NUMBER, "%s", <const char*>("nan" if v != v else "inf" if v > 0 else "-inf"))
    while True:
        snprintf(out, LONGEST_NUMBER, "%.*e", digits - 1, v)
        if digits == (9 if narrow else 17) or (
                <float>strtod(out, NULL) == <float>v if narrow else strtod(out, NULL) == v):
            break
        digits += 1
    size = <int>strlen(out)
    i = size
    while out[i - 1] != c'e':
        i -= 1
    exponent = <int>strtod(out + i, NULL)
    e = out + i - 1                     # behind the digits
    while (e - 1)[0] == c'0' and e - out > 3:
        e -= 1
    if (e - 1)[0] == c'.' or ((e - 1)[0] == c'0' and (e - 2)[0] == c'.'):
        e -= 1 + ((e - 1)[0] == c'0')
    first = out[0] == c'-'
    if not -7 < exponent < large:
        return <int>(e - out) + snprintf(e, 8, "e%+d", exponent)
    digits = 1
    if e - out > first + 1:             # the point goes elsewhere
        digits = <int>(e - out) - first - 1
        memmove(out + first + 1, out + first + 2, digits - 1)
    if exponent < 0:
        memmove(out + first + 1 - exponent, out + first, digits)
        memset(out + first, c'0', 1 - exponent)
        out[first + 1] = c'.'
        return first + 1 - exponent + digits
    if digits <= exponent + 1:
        memset(out + first + digits, c'0', exponent + 1 - digits)
        return first + exponent + 1
    memmove(out + first + exponent + 2, out + first + exponent + 1, digits - exponent - 1)
    out[first + exponent + 1] = c'.'
    return first + digits + 1
