"""Numbers as text, without the locale and without allocating."""

from libc.math cimport copysign, fabs, floor, rint
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport strtod
from libc.string cimport memcpy, memmove, memset, strlen

from vwlite.core.base.decimal_tables cimport FIRST_POWER, POWERS_OF_TEN
from vwlite.core.base.simd cimport EACH, eight_digits, store64, zeros_before, zeros_behind

cdef extern from "<math.h>" nogil:
    double fma(double, double, double)

cdef enum:
    LONGEST_NUMBER = 352     # a double in full, its sign and six decimals
    ZERO_POINT = 0x303030302E30     # 0.0000, as a word


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
    if product - floor(product) == 0.5:     # perhaps rounded to a tie: the rounding error of the product decides
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


cdef inline uint64_t scaled(uint64_t power, uint32_t n) noexcept nogil:
    """n * power / 2^64, rounded down; the last bit is 1 if it was not exact, except for the error of `power`."""
    cdef uint64_t high = (power >> 32) * n + (<uint64_t><uint32_t>power * n >> 32)
    return high >> 32 | (<uint32_t>high > 1)


cdef inline uint32_t shortest_digits(float x, int* exponent) noexcept nogil:
    """The digits of the shortest decimal number that reads back as x > 0, the nearest one if there are several, and the
    power of ten of the last digit. (Giulietti, The Schubfach way to render doubles, 2022, for 32-bit floats.)

    x is c 2^q, and what lies within half a unit around it, with its ends if c is even, reads back as x. In units of
    10^k / 4, where 10^k is the largest power of ten below the width of this range, x is `middle` and the ends are `low`
    and `high`: there is one multiple of 10^(k + 1) at most within them, and one of 10^k at least.
    """
    cdef uint32_t bits, c, low, middle, high, digits, tens, below, above, shorter, nearer
    cdef int32_t q, k, shift
    cdef bint narrow_below, odd
    cdef uint64_t power
    memcpy(&bits, &x, 4)
    c, q = bits & 0x7FFFFF, <int32_t>(bits >> 23)
    narrow_below = c == 0 and q > 1     # floats below a power of two are twice as near
    if q:
        c |= 0x800000
    else:
        q = 1
    q -= 150
    if -24 < q <= 0 and c & ((1 << -q) - 1) == 0:     # a whole number
        exponent[0] = 0
        return c >> -q
    k = (q * 1262611 - (524031 if narrow_below else 0)) >> 22     # floor(log10(2^q)), or of 3/4 of it
    shift = q + (-k * 1741647 >> 19) + 1                          # ... floor(log2(10^-k))
    power = POWERS_OF_TEN[-k - FIRST_POWER]
    odd = c & 1
    low = <uint32_t>scaled(power, (4 * c - 2 + narrow_below) << shift) + odd
    middle = <uint32_t>scaled(power, 4 * c << shift)
    high = <uint32_t>scaled(power, (4 * c + 2) << shift) - odd
    digits = middle // 4
    tens = digits // 10
    # Without branches, which would be a matter of chance.
    below, above = low <= 40 * tens, 40 * tens + 40 <= high
    shorter = (digits >= 10) & (below ^ above)
    tens += above
    below, above = low <= 4 * digits, 4 * digits + 4 <= high
    nearer = middle + (digits & 1) > 4 * digits + 2     # the multiple above is; of two as near the even one
    digits += above & ~below | nearer & ~(below ^ above)
    exponent[0] = k + shorter
    return digits ^ ((digits ^ tens) & -shorter)


cdef inline int write_shortest(char* out, double v) noexcept nogil:
    """v with as few digits as tell it from other 32-bit floats, an exponent below 1e-4 and from 1e9 on as %.9g has it,
    whole numbers without a point; beyond the range of such floats nine digits; the length. At most LONGEST_NUMBER."""
    cdef float x = <float>fabs(v)
    cdef uint32_t digits
    cdef uint64_t word              # eight digits as text; those behind the last one are 0
    cdef char first = 0             # the one before them, of nine
    cdef int exponent, count, point, size = v < 0
    if v == 0:
        out[0] = c'0'
        return 1
    if x == 0 or x - x != 0:
        return snprintf(out, LONGEST_NUMBER, "%.9g", v)
    digits = shortest_digits(x, &exponent)
    if digits < 100000000:
        word = eight_digits(digits)
        count = 8 - zeros_before(word)
        word >>= 8 * (8 - count)
    else:
        first, word, count = c'0' + <char>(digits // 100000000), eight_digits(digits % 100000000), 9
    point = count + exponent        # so many digits are before it
    count = (8 - zeros_behind(word) if word else 0) + (first != 0)
    word |= EACH(c'0')
    out[0] = c'-'
    out += size
    if point > 9 or point <= -4:
        if not first:
            first = <char>(word & 0xFF)
            word >>= 8
        out[0], out[1] = first, c'.'
        store64(out + 2, word)
        count += count > 1
        point -= 1
        out[count], out[count + 1] = c'e', c'-' if point < 0 else c'+'
        point = -point if point < 0 else point
        out[count + 2], out[count + 3] = c'0' + <char>(point // 10), c'0' + <char>(point % 10)
        return size + count + 4
    if point <= 0:
        store64(out, ZERO_POINT)
        size += 2 - point
        out += 2 - point
    out[0], out[8] = first, c'0'
    store64(out + (first != 0), word)
    if point <= 0:
        return size + count
    if count <= point:
        return size + point
    out[point] = c'.'
    store64(out + point + 1, word >> 8 * (point - (first != 0)))
    return size + count + 1


cdef inline int write_label(char* out, double v) noexcept nogil:
    """v as in the data: a whole number, as `write_shortest` has it if v is a 32-bit float, else with 15 digits at most;
    the length."""
    cdef double millionths = rint(v * 1e6)
    cdef int size
    if v == floor(v) and fabs(v) < 9007199254740992.0:
        return write_number(out, v + 0.0)
    if <float>v == v or v - v != 0:
        return write_shortest(out, v)
    if 1e2 <= fabs(millionths) < 1e15 and millionths / 1e6 == v:     # six decimals, without a call of printf
        size = write_number(out, v)
        while out[size - 1] == c'0':
            size -= 1
        return size
    return snprintf(out, LONGEST_NUMBER, "%.15g", v)


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
