"""Random numbers and hashes with the same bits everywhere: SplitMix64 (Steele, Lea, Flood. Fast Splittable Pseudorandom
Number Generators. OOPSLA 2014)."""

from libc.stdint cimport uint64_t

cdef enum:
    SEED = 1


cdef inline uint64_t mixed(uint64_t x) noexcept nogil:
    """A hash of a number."""
    x = (x ^ (x >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t>0x94D049BB133111EB
    return x ^ (x >> 31)


cdef inline uint64_t below(uint64_t* state, uint64_t limit) noexcept nogil:
    """The next random number from 0 to limit - 1; limit < 2^53."""
    state[0] += <uint64_t>0x9E3779B97F4A7C15
    return <uint64_t>(<double>(mixed(state[0]) >> 11) / 9007199254740992.0 * limit)
