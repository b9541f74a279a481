"""What all solvers are. See solver.pyx."""

from libc.stdint cimport uint64_t

from vwlite.core.solve.problem cimport Problem


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


cdef class Solver:
    cdef readonly Problem problem
    cdef readonly bint done         # nothing more to gain
    cdef readonly str why           # it is done
    cdef readonly uint64_t accesses     # entries of the data that were read
    cdef readonly size_t columns    # that the last step looked at
    cdef uint64_t random
    cdef size_t changes             # those of the problem that are known
    cdef int stopping
    cdef double scale               # of slopes: what is small against it is rounding
    cdef double best                # objective
    cdef int idle                   # steps without a better one

    cdef int begin(self) except -1
    cdef int iterate(self, Problem p) except -1 nogil
    cdef bint exact(self, Problem p) noexcept nogil
    cdef bint stopped(self) noexcept nogil
