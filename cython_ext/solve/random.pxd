"""Random numbers: splitmix64."""

from libc.stdint cimport uint64_t


cdef inline uint64_t next_random(uint64_t* state) noexcept nogil:
    """64 random bits (splitmix64: Steele, Lea, Flood, 2014)."""
    cdef uint64_t z
    state[0] += <uint64_t>0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline size_t random_below(uint64_t* state, size_t n) noexcept nogil:
    """A number below n < 2^32."""
    return (next_random(state) >> 32) * n >> 32
