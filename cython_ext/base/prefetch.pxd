"""Memory that is asked for before it is needed: a line of the processor's cache, to be read or to be written."""

cdef extern from *:
    """
    #define vwlite_prefetch_read(address) __builtin_prefetch(address, 0, 3)
    #define vwlite_prefetch_write(address) __builtin_prefetch(address, 1, 3)
    """
    void prefetch_read "vwlite_prefetch_read"(const void* address) noexcept nogil
    void prefetch_write "vwlite_prefetch_write"(const void* address) noexcept nogil
