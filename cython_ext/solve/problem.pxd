"""A batch problem and its current weights, objective and lower bound. See problem.pyx."""

from libc.math cimport fabs

from vwlite.core.solve.columns cimport Columns
from vwlite.core.solve.batch_losses cimport BatchLoss
from vwlite.core.solve.rows cimport Rows, Sparse


# The penalty of one weight: l1 |w| + l2 w^2 / 2, between two bounds.
cdef struct Penalty:
    double l1, l2, low, high


# The functions of the C library are calls, as they handle NaN.
cdef inline double larger(double a, double b) noexcept nogil:
    return a if a > b else b


cdef inline double smaller(double a, double b) noexcept nogil:
    return a if a < b else b


cdef inline double soft(double v, double a) noexcept nogil:
    """sign(v) max(|v| - a, 0)"""
    return v - a if v > a else v + a if v < -a else 0


cdef inline double minimizer(const Penalty* penalty, double w, double g, double h) noexcept nogil:
    """The u with the least g (u - w) + h (u - w)^2 / 2 + penalty(u). g: without the slope of the penalty; h > 0."""
    return smaller(larger(soft(h * w - g, penalty.l1) / (h + penalty.l2), penalty.low), penalty.high)


cdef inline double violation_of(const Penalty* penalty, double w, double g) noexcept nogil:
    """How far 0 is from the subgradients of the objective by a weight. g: without the slope of the penalty."""
    cdef double v
    if w == 0:
        v = larger(-g - penalty.l1 if penalty.high > 0 else 0, g - penalty.l1 if penalty.low < 0 else 0)
        return larger(v, 0)
    v = g + penalty.l2 * w + (penalty.l1 if w > 0 else -penalty.l1)
    if w >= penalty.high:
        return larger(v, 0)
    if w <= penalty.low:
        return larger(-v, 0)
    return fabs(v)


cdef class Problem:
    cdef readonly Rows rows
    cdef readonly Columns columns   # None until a solver needs it
    cdef bint shared_columns
    cdef double columns_l1          # the strength for which they were selected
    cdef BatchLoss loss
    cdef readonly bint constant, nonnegative, simplex
    cdef readonly double l1, l2, box
    cdef readonly double ball       # the radius; below 0: none
    cdef readonly bint penalizes_constant   # l2 applies to the intercept too
    cdef readonly bint one_sided    # the optimal intercept is infinite
    cdef size_t n, d
    # Owned.
    cdef double* y                  # [n]
    cdef double* h                  # [n] shares of the importance: they sum to 1
    cdef double* predictions        # [n] <w, x> + b + initial
    cdef double* r                  # [n] h l'
    cdef double* curved             # [n] h l''
    cdef double* alpha              # [n] the dual point
    cdef double* scratch            # [n]
    cdef double* weights            # [d]
    cdef double* g                  # [d] the gradient of the mean loss
    cdef double* c                  # [d] of the penalty; NULL: all 1
    cdef double b
    cdef size_t changes             # made by others than the solver: it begins again
    cdef bint known                 # mean loss, r, g and alpha were computed from the weights that there are
    cdef readonly double objective, lower_bound, violation, mean_loss
    cdef double steepest            # with a ball: max_j |g_j| / c_j, or -g_j if w >= 0
    cdef readonly size_t nonzeros

    cdef Penalty penalty_of(self, size_t j) noexcept nogil
    cdef void predict(self) noexcept nogil
    cdef size_t entries_of_weights(self) noexcept nogil
    cdef double lose(self) noexcept nogil
    cdef double fit_constant(self, bint known) noexcept nogil
    cdef bint balance(self) noexcept nogil
    cdef void gradient(self, bint kept) noexcept nogil
    cdef double penalties(self) noexcept nogil
    cdef double dual_value(self) noexcept nogil
    cdef double ball_conjugate(self) noexcept nogil
    cdef void measure(self) noexcept nogil
    cdef void settle(self, bint known) noexcept nogil
    cdef void conclude(self) noexcept nogil
    cdef void whole(self) noexcept nogil
    cdef double zero_l1_max(self) noexcept nogil
    cdef int prepare(self) except -1
    cdef int pick_columns(self, double l1) except -1
    cdef double norm(self) noexcept nogil


cdef double total(const double* x, size_t n) noexcept nogil
