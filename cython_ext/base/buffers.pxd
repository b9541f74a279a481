"""Arrays that grow."""

from libc.stdlib cimport realloc
from libc.string cimport memcpy


cdef inline int resize(void** array, size_t items, size_t size) noexcept nogil:
    """Give an array room for so many items of `size` bytes; -1: no memory, and it is as it was.

    For several arrays that share a capacity, which is raised when all of them have grown.
    """
    cdef void* grown = realloc(array[0], items * size)
    if grown == NULL:
        return -1
    array[0] = grown
    return 0


cdef inline size_t ample(size_t n) noexcept nogil:
    """The capacity to ask for when n items do not fit: doubled, so that each item costs O(1)."""
    return 2 * n + 62


cdef inline int reserve(void** array, size_t* capacity, size_t n, size_t size) noexcept nogil:
    """Have room for at least n items of `size` bytes; -1: no memory, and all is as it was."""
    if n <= capacity[0]:
        return 0
    if resize(array, ample(n), size):
        return -1
    capacity[0] = ample(n)
    return 0


cdef inline void copy(void* to, const void* source, size_t size) noexcept nogil:
    """An array of no items may be NULL, which memcpy does not take."""
    if size > 0:
        memcpy(to, source, size)
