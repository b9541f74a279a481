"""The features that a model has. See known.pxd."""

from libc.stdlib cimport calloc, free


cdef class KnownKeys:
    """The keys of a model, rising, of so many bits. words: whether words that are none of these are unknown."""

    def __cinit__(self, const uint32_t[::1] keys, int bits, bint words):
        cdef size_t i, n = keys.shape[0], begins = 0
        cdef int leading = min(max(n.bit_length() - 2, 0), bits)
        self.keys = keys
        self.known.words, self.known.shift = words, bits - leading
        self.known.mask = <uint32_t>((<uint64_t>1 << bits) - 1)
        self.known.keys = &keys[0] if n else NULL
        self.known.first = <uint32_t*>calloc((<size_t>1 << leading) + 1, sizeof(uint32_t))
        if self.known.first == NULL:
            raise MemoryError("no memory for the keys of a model")
        with nogil:
            for i in range(n):
                while begins <= <size_t>(<uint64_t>keys[i] >> self.known.shift):
                    self.known.first[begins] = <uint32_t>i
                    begins += 1
            while begins <= <size_t>1 << leading:
                self.known.first[begins] = <uint32_t>n
                begins += 1

    def __dealloc__(self):
        free(self.known.first)
