"""Arrays that grow."""

from libc.stdlib cimport realloc
from libc.string cimport memcpy

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
    #include <sys/mman.h>
    #endif

    /* A hint, which may be ignored: large arrays in pages of 2 MB, as each page costs a fault when it is first touched.
          From the page where the array begins: memory in two mappings cannot grow in place. */
    static inline void vwlite_wish_large_pages(void *array, size_t bytes) {
    #ifdef MADV_HUGEPAGE
        size_t before = (uintptr_t)array % 4096;
        if (bytes >= (size_t)1 << 22)
            madvise((char *)array - before, before + bytes, MADV_HUGEPAGE);
    #else
        (void)array, (void)bytes;
    #endif
    }
    """
    void wish_large_pages "vwlite_wish_large_pages"(void* array, size_t bytes) noexcept nogil


cdef inline int resize(void** array, size_t items, size_t size) noexcept nogil:
    """Resize an array to `items` items of `size` bytes; -1: no memory, and nothing has changed.

    For several arrays that share a capacity, which is raised when all of them have grown.
    """
    cdef void* grown = realloc(array[0], items * size)
    if grown == NULL:
        return -1
    array[0] = grown
    return 0


cdef inline int resize_large(void** array, size_t items, size_t size) noexcept nogil:
    """`resize` for an array whose items will all be used, and which may take a large part of the memory."""
    if resize(array, items, size):
        return -1
    wish_large_pages(array[0], items * size)
    return 0


cdef inline size_t ample(size_t n) noexcept nogil:
    """The capacity to ask for when n items do not fit: doubled, so that each item costs O(1)."""
    return 2 * n + 62


cdef inline int reserve(void** array, size_t* capacity, size_t n, size_t size) noexcept nogil:
    """Ensure capacity for at least n items of `size` bytes; -1: no memory, and nothing has changed."""
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


# A buffer of bytes. A struct of zeros is an empty buffer.
cdef struct Buffer:
    char* data          # owned
    size_t size, capacity


cdef inline int append(Buffer* buffer, const void* data, size_t size) noexcept nogil:
    """Add bytes; -1: no memory, and it is as it was."""
    if reserve(<void**>&buffer.data, &buffer.capacity, buffer.size + size, 1):
        return -1
    copy(buffer.data + buffer.size, data, size)
    buffer.size += size
    return 0
