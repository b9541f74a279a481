"""gd with Vowpal Wabbit's flags. See gd_flags.pyx."""

from vwlite.core.learn.rule cimport Example, Outcome
from vwlite.core.rules.gd cimport Gd, Slot


cdef class GdWithFlags(Gd):
    cdef bint adaptive, normalized, invariant, adax, masked
    cdef bint default                 # the flags are those of Gd
    cdef double sparse_l2
    cdef double multiplier            # M, after the last example that had a gradient
    cdef public double elapsed        # initial_t + sum of importance: the time of the schedule without `adaptive`
    cdef public bint external_clock   # somebody else moves `elapsed` on
    # What features outside of the table add, to the sum of x^2 r, to that of (x / N)^2, and, without `adaptive` and
    # `normalized`, to that of x^2.
    cdef public double more_h, more_norms, more_squares
    # Of the last example.
    cdef readonly double moved        # u M: its weights moved by this times x r
    cdef readonly bint too_large      # a feature whose square overflows a float
    cdef readonly bint lost           # a step that was not a number
    cdef bint has_warning             # one of these two, until the caller resets it

    cdef void update_any(self, const Example* e, const Outcome* o) noexcept nogil
    cdef void move_any(self, const Example* e, double step) noexcept nogil
    cdef double feature_rate(self, const Slot* s) noexcept nogil
    cdef float rescaling(self, float before, float now) noexcept nogil
    cdef double scale(self) noexcept nogil
