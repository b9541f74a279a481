"""Escapes in names, labels and tags. See escapes.pxd."""


cdef inline bint is_held(uint8_t c, bint is_name) noexcept nogil:
    """Whether VW text can hold a byte: in the name of a feature, else in a label or tag."""
    return fits_byte(c) or (c == c':' and not is_name)


cdef inline int escape_at(const char* p, const char* end) noexcept nogil:
    """The byte that `%` and two digits at p stand for; -1: there is no such escape."""
    cdef int high, low, c
    if end - p < 3 or p[0] != c'%':
        return -1
    high = p[1] - c'0'
    low = p[2] - c'0' if p[2] <= c'9' else p[2] - c'A' + 10
    if not 0 <= high <= 7 or not 0 <= low <= 15 or c'9' < p[2] < c'A':
        return -1
    c = high << 4 | low
    return c if not fits_byte(<uint8_t>c) or c == c'%' or c == c"'" else -1


cdef bint needs_escape(const char* p, size_t n, bint is_name) noexcept nogil:
    """Whether `escape` changes these bytes."""
    cdef size_t i
    for i in range(n):
        if not is_held(<uint8_t>p[i], is_name) or (p[i] == c'%' and escape_at(p + i, p + n) >= 0):
            return True
    return False


cdef size_t escape(char* to, const char* p, size_t n, bint is_name) noexcept nogil:
    """Write bytes as VW text can hold them, in at most 3 n bytes; returns how many. A blank is %20, and so all bytes up to
    it, `|`, and in names `:`. `%` is %25 only where it would begin such an escape: so `unescape` gives the bytes back."""
    cdef const char* digits = b"0123456789ABCDEF"
    cdef size_t i, size = 0
    cdef uint8_t c
    for i in range(n):
        c = <uint8_t>p[i]
        if is_held(c, is_name) and (c != c'%' or escape_at(p + i, p + n) < 0):
            to[size] = p[i]
            size += 1
        else:
            to[size], to[size + 1], to[size + 2] = c'%', digits[c >> 4], digits[c & 15]
            size += 3
    return size


def as_in_text(bytes name not None):
    """The name of a feature as VW text has it."""
    cdef bytes found = bytes(3 * len(name))
    cdef char* to = found
    return found[: escape(to, name, len(name), True)]


cdef size_t unescape(char* to, const char* p, size_t n) noexcept nogil:
    """Write the bytes that `escape` converted to these; returns their number."""
    cdef const char* end = p + n
    cdef size_t size = 0
    cdef int c
    while p < end:
        c = escape_at(p, end)
        to[size] = <char>c if c >= 0 else p[0]
        p += 3 if c >= 0 else 1
        size += 1
    return size
