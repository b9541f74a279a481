"""What all solvers are. See solver.pyx."""

from libc.stdint cimport uint64_t

from vwlite.core.solve.problem cimport Problem


cdef class Solver:
    cdef readonly Problem problem
    cdef readonly bint done         # nothing more to gain
    cdef readonly str why           # it is done
    cdef readonly uint64_t accesses     # entries of the data that were read
    cdef readonly size_t columns    # that the last step looked at
    cdef uint64_t random
    cdef size_t changes             # those of the problem that are known
    cdef int stopping
    cdef double scale               # of slopes: values much smaller are rounding errors
    cdef double best                # objective
    cdef int idle                   # steps without a better one

    cdef int prepare(self) except -1
    cdef int iterate(self, Problem p) except -1 nogil
    cdef bint exact(self, Problem p) noexcept nogil
    cdef bint stopped(self) noexcept nogil
