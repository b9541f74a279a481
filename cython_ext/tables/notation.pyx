"""Numbers as people write them. See notation.pxd."""

from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy

from vwlite.core.base.utf8 cimport character


cdef size_t spelled(const char* p, size_t n, char* to) noexcept nogil:
    """A text with one kind of blank, of apostrophe and of minus; how many bytes, 0: it has more than LONGEST_PLAIN characters."""
    cdef const char* end = p + n
    cdef size_t size, at = 0, count = 0
    cdef uint32_t c
    if n > 4 * LONGEST_PLAIN:
        return 0
    while p < end:
        c = 0
        size = max(character(<const uint8_t*>p, end - p, &c), 1)
        if c == 0xA0 or c == 0x2009 or c == 0x202F or c == 0x2019 or c == 0x2212:
            to[at] = c'-' if c == 0x2212 else c"'" if c == 0x2019 else c' '
            at += 1
        else:
            memcpy(to + at, p, size)
            at += size
        p += size
        count += 1
    return at if count <= LONGEST_PLAIN else 0


cdef inline void take_blanks(const char** p, const char** end, bint behind) noexcept nogil:
    """Take off the blanks at the beginning of a text, or at its end (behind)."""
    while p[0] < end[0] and (end[0] - 1 if behind else p[0])[0] == c' ':
        if behind:
            end[0] -= 1
        else:
            p[0] += 1


cdef char take_sign(const char** p, const char** end) noexcept nogil:
    """Take off a sign before a number, a minus behind it, or the brackets around it, which are a minus; 0: there is
    none."""
    cdef const char* last = end[0] - 1
    cdef char sign = c'-'
    if p[0] == end[0]:
        return 0
    if p[0][0] == c'-' or p[0][0] == c'+':
        sign = p[0][0]
        p[0] += 1
    elif last[0] == c'-':
        end[0] = last
    elif p[0][0] == c'(' and last[0] == c')':
        p[0] += 1
        end[0] = last
    else:
        return 0
    return sign


cdef inline bint is_money(const char* p, size_t n) noexcept nogil:
    """Whether n bytes are a sign of money or `%`."""
    cdef uint32_t c = 0
    return character(<const uint8_t*>p, n, &c) == n and (
        c == c'$' or c == c'%' or 0xA2 <= c <= 0xA5 or 0x20A0 <= c <= 0x20CF)


cdef size_t unit_at(const Written* written, const char* p, const char* end, bint behind) noexcept nogil:
    """The bytes of the unit, or else of the sign of money, at the beginning of a text, or at its end (behind); 0: there
    is none."""
    cdef size_t i, size, n = end - p
    for i in range(written.count):
        size = written.sizes[i]
        if size <= n and memcmp(end - size if behind else p, written.units[i], size) == 0:
            return size
    for size in range(1, min(n, 3) + 1):
        if is_money(end - size if behind else p, size):
            return size
    return 0


cdef void take_unit(const Written* written, const char** p, const char** end) noexcept nogil:
    """Take off a unit or a sign of money before a number, or else behind it, with the blanks between them."""
    cdef size_t size = unit_at(written, p[0], end[0], False)
    cdef bint behind = size == 0
    if behind:
        size = unit_at(written, p[0], end[0], True)
        end[0] -= size
    else:
        p[0] += size
    if size:
        take_blanks(p, end, behind)


cdef size_t plain_digits(const Written* written, const char* p, const char* end, char* to) noexcept nogil:
    """The digits and the point of a number; how many bytes, 0: it is none. Groups have three digits, or two before
    others."""
    cdef size_t size = 0, group = 0
    cdef bint grouped = False, whole = True, digits = False
    while p < end:
        if c'0' <= p[0] <= c'9':
            to[size] = p[0]
            size += 1
            group += 1
            digits = True
        elif (written.thousands and p[0] == written.thousands and whole and digits
                and end - p > 1 and c'0' <= p[1] <= c'9'):
            if group > 3 or (grouped and group < 2):
                return 0
            grouped, group = True, 0
        elif p[0] == written.decimal and whole:
            if grouped and group != 3:
                return 0
            to[size] = c'.'
            size += 1
            whole = False
        else:
            return 0
        p += 1
    return 0 if not digits or (whole and grouped and group != 3) else size


cdef size_t plain_number(const Written* written, const char* p, size_t n, char* to) noexcept nogil:
    """A number as VW text has it, in LONGEST_PLAIN bytes at the most; how many bytes, 0: it is none. Before or behind
    the digits there may be a sign of money, `%` or a unit, and a sign on either side of that."""
    cdef char[4 * LONGEST_PLAIN] text
    cdef const char* begin = text
    cdef const char* end = text + spelled(p, n, text)
    cdef char sign
    cdef size_t size
    take_blanks(&begin, &end, False)
    take_blanks(&begin, &end, True)
    sign = take_sign(&begin, &end)
    take_unit(written, &begin, &end)
    if not sign:
        sign = take_sign(&begin, &end)
    to[0] = sign
    size = plain_digits(written, begin, end, to + (sign != 0))
    return size + (sign != 0) if size else 0


cdef class Notation:
    """How people write numbers. decimal: the point; "" is a point, too. thousands: the separator of groups of digits; ""
    is none. units: words that are left out beside a number."""

    def __cinit__(self, str decimal="", str thousands="", units=()):
        cdef size_t i
        cdef bytes word
        cdef char[4 * LONGEST_PLAIN] text
        self.words = []
        for unit in units:
            word = unit.encode("utf-8", "surrogateescape")
            self.words.append(text[:spelled(word, len(word), text)].strip(b" "))
        self.words = sorted(filter(None, self.words), key=len, reverse=True)
        self.written.decimal = <char>ord(decimal or ".")
        self.written.thousands = <char>ord(thousands) if thousands else 0
        self.written.count = len(self.words)
        self.written.units = <const char**>calloc(len(self.words) + 1, sizeof(char*))
        self.written.sizes = <size_t*>calloc(len(self.words) + 1, sizeof(size_t))
        if self.written.units == NULL or self.written.sizes == NULL:
            raise MemoryError("no memory for units")
        for i in range(self.written.count):
            word = self.words[i]            # `self.words` owns it
            self.written.units[i], self.written.sizes[i] = word, len(word)

    @property
    def units(self):
        """The words, as they are compared."""
        return [word.decode("utf-8", "surrogateescape") for word in self.words]

    def number_of(self, bytes cell):
        """The number of a cell, as bytes of VW text; None if it is not a number."""
        cdef char[LONGEST_PLAIN] plain
        cdef size_t size = plain_number(&self.written, cell, len(cell), plain)
        return plain[:size] if size else None

    def __dealloc__(self):
        free(self.written.units)
        free(self.written.sizes)
