"""Numbers as text, without the locale and without allocating."""

from libc.math cimport fabs, floor, rint
from libc.stdint cimport uint64_t
from libc.stdio cimport snprintf

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


cdef inline int write_number(char* out, double v) noexcept nogil:
    """v with six decimals, none if it is an integer, as Vowpal Wabbit writes predictions; the length."""
    cdef int size = 0, i
    cdef double whole
    cdef uint64_t decimals
    if fabs(v) >= 1e15:
        return snprintf(out, LONGEST_NUMBER, "%.0f", v)
    if v < 0:
        out[0] = 45
        size = 1
        v = -v
    whole = floor(v)
    decimals = <uint64_t>rint((v - whole) * 1e6)
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
