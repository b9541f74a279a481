"""Numbers as people write them, such as -$1,026.50 or (12 kg)."""

from libc.stddef cimport size_t

cdef enum:
    LONGEST_PLAIN = 64      # characters of such a number: as VW text has it, it has no more bytes

# Owned by a Notation.
cdef struct Written:
    char decimal            # the point
    char thousands          # the separator of groups of digits; 0: there is none
    const char** units      # [count] words that may be beside a number, the longest first
    size_t* sizes
    size_t count


cdef size_t plain_number(const Written* written, const char* p, size_t n, char* to) noexcept nogil


cdef class Notation:
    cdef Written written
    cdef list words         # the units, as bytes
