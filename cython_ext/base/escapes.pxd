"""What names, labels and tags of VW text can hold, and how it is escaped where they cannot: `%` and two digits."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint64_t

from vwlite.core.base.simd cimport load64

cdef extern from *:
    """
    #define VWLITE_HIGH VWLITE_EACH(0x80)

    /* Whether a name can hold these eight bytes unescaped: each is above 0x20 and neither ':' nor '|'. */
    static inline int vwlite_fits(uint64_t w) {
        uint64_t low = ~(((w & VWLITE_EACH(0x7F)) + VWLITE_EACH(0x7F - 0x20)) | w) & VWLITE_HIGH;
        return !(low | vwlite_zeros(w ^ VWLITE_EACH(':')) | vwlite_zeros(w ^ VWLITE_EACH('|')));
    }

    static inline int vwlite_fits_byte(uint8_t c) {
        return c > 0x20 && c != ':' && c != '|';
    }
    """
    bint fits "vwlite_fits"(uint64_t word) noexcept nogil
    bint fits_byte "vwlite_fits_byte"(uint8_t c) noexcept nogil


cdef inline bint fits_all(const char* p, size_t n) noexcept nogil:
    """Whether a name can hold these bytes."""
    cdef size_t i = 0
    if n >= 8:
        while n - i > 8:
            if not fits(load64(p + i)):
                return False
            i += 8
        return fits(load64(p + n - 8))
    for i in range(n):
        if not fits_byte(<uint8_t>p[i]):
            return False
    return True


cdef bint needs_escape(const char* p, size_t n, bint is_name) noexcept nogil
cdef size_t escape(char* to, const char* p, size_t n, bint is_name) noexcept nogil
cdef size_t unescape(char* to, const char* p, size_t n) noexcept nogil
