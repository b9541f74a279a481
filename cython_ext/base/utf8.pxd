"""Characters in UTF-8."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t

cdef extern from *:
    """
    /* The length in bytes and the code point of the character at p; 0 if it is invalid. */
    static inline size_t vwlite_character(const uint8_t *p, size_t n, uint32_t *c) {
        uint32_t x = p[0];
        size_t more = x < 0x80 ? 0 : (x >> 5) == 6 ? 1 : (x >> 4) == 14 ? 2 : (x >> 3) == 30 ? 3 : 4;
        static const uint32_t least[4] = {0, 0x80, 0x800, 0x10000};
        if (more >= n || more == 4) {
            return 0;
        }
        x &= more == 0 ? 0x7F : 0x3F >> more;
        for (size_t i = 1; i <= more; i++) {
            if ((p[i] & 0xC0) != 0x80) {
                return 0;
            }
            x = x << 6 | (p[i] & 0x3F);
        }
        if (x < least[more] || x > 0x10FFFF || (x >= 0xD800 && x <= 0xDFFF)) {
            return 0;
        }
        *c = x;
        return more + 1;
    }
    """
    size_t character "vwlite_character"(const uint8_t* p, size_t n, uint32_t* c) noexcept nogil


cdef inline size_t write_character(char* to, uint32_t c) noexcept nogil:
    """As UTF-8; how many bytes it has."""
    if c < 0x80:
        to[0] = <char>c
        return 1
    if c < 0x800:
        to[0], to[1] = <char>(0xC0 | c >> 6), <char>(0x80 | c & 0x3F)
        return 2
    if c < 0x10000:
        to[0], to[1], to[2] = <char>(0xE0 | c >> 12), <char>(0x80 | c >> 6 & 0x3F), <char>(0x80 | c & 0x3F)
        return 3
    to[0], to[1] = <char>(0xF0 | c >> 18), <char>(0x80 | c >> 12 & 0x3F)
    to[2], to[3] = <char>(0x80 | c >> 6 & 0x3F), <char>(0x80 | c & 0x3F)
    return 4
