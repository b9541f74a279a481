"""Arrays that grow by doubling."""

from libc.stdlib cimport realloc
from libc.string cimport memcpy


cdef inline int make_room(void** array, size_t* capacity, size_t n, size_t size) noexcept nogil:
    """Have room for at least n items of `size` bytes; -1: no memory, and all is as it was."""
    cdef size_t want = 2 * n + 62
    cdef void* grown
    if n <= capacity[0]:
        return 0
    grown = realloc(array[0], want * size)
    if grown == NULL:
        return -1
    array[0] = grown
    capacity[0] = want
    return 0


cdef inline void copy(void* to, const void* source, size_t size) noexcept nogil:
    """An array of no items may be NULL, which memcpy does not take."""
    if size > 0:
        memcpy(to, source, size)
