"""Ridge regression beside lanes. See ridge.pyx."""

from libc.stdint cimport uint8_t, uint32_t

from vwlite.core.auto.lanes cimport COLUMNS
from vwlite.core.data.batch cimport Arrays, Batch
from vwlite.core.data.expand cimport Expander
from vwlite.core.learn.losses cimport Loss
from vwlite.core.learn.table cimport Table


# An example: what it is learned for; the fold that does not learn it; where its features end.
cdef struct Example:
    double label, importance, initial
    size_t fold, end


cdef struct Value:
    uint32_t feature
    float x


cdef class Ridge:
    cdef readonly Expander expander
    cdef Loss loss
    cdef double[COLUMNS] strength
    cdef readonly size_t folds, classes
    cdef Table places           # from the key of a feature to its place, from 1
    cdef size_t count           # features
    cdef uint32_t* keys         # owned, [count]
    cdef size_t key_capacity
    cdef Value* values          # owned; of all examples
    cdef size_t value_count, value_capacity
    cdef Example* examples      # owned
    cdef size_t example_count, example_capacity
    cdef char** found           # owned; the slots of an example
    cdef size_t found_capacity
    cdef bint is_solved, has_constant
    cdef uint32_t constant      # the key of the intercept
    cdef double* weights_of     # owned, [folds, COLUMNS, count]
    cdef double* unit           # owned, [count]: weights are for values divided by it
    cdef double* largest        # owned, [count]: |x|
    cdef double* squares        # owned, [count]: G
    cdef double importance, norms

    cdef int locate(self, const Arrays* a, size_t line, bint learns) noexcept nogil
    cdef int take(self, const Arrays* a, size_t line, double label, double initial, size_t fold) noexcept nogil
    cdef int measure(self) noexcept nogil
    cdef int solve_all(self) noexcept nogil
    cdef int solve_fold(self, const double* rows, size_t width, size_t fold, double scale, double* found) noexcept nogil
    cdef int newton(self, const double* rows, size_t width, size_t fold, double strength, double* w, double* work) noexcept nogil
    cdef double objective(self, const double* rows, size_t width, size_t fold, double strength, const double* w) noexcept nogil
    cdef void evidence(self) noexcept nogil
