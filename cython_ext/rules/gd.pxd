"""Adaptive, normalized and importance-aware gradient descent. See gd.pyx."""

from libc.stdint cimport uint32_t

from vwlite.core.learn.rule cimport Example, Outcome, Rule

cdef extern from *:
    """
    #include <stdint.h>

    typedef struct {
        uint32_t mark;
        float w;
        float G;      /* initial_t + sum of importance * (dloss x)^2 */
        float N;      /* the largest |x| seen */
    } vwlite_gd_slot;

    #define vwlite_tiny_square ((float)1.17549e-38)
    #define vwlite_tiny ((float)1.084202e-19)
    #define vwlite_smallest ((float)1.1754944e-38)
    """
    const float TINY_SQUARE "vwlite_tiny_square"     # x^2 below this is replaced by this ...
    const float TINY "vwlite_tiny"                   # ... and |x| by this
    const float SMALLEST "vwlite_smallest"           # G below this is replaced by this, so that a rate is finite

    ctypedef struct Slot "vwlite_gd_slot":
        uint32_t mark
        float w, G, N


cdef class Gd(Rule):
    cdef public double norm_sum       # S: sum of importance * sum of (x / N)^2
    cdef public double weight_sum     # W: sum of importance
    cdef public double gravity        # g: gravity that |w| has not paid yet
    cdef public double contraction    # c: pending factor of every weight
    cdef double l1, l2
    cdef float* visits                # owned; of the last chunk: see `adapt_to_the_half`
    cdef size_t capacity

    cdef void fold(self) noexcept nogil


# An update step by step; each is called once for an example.
cdef double adapt(Gd self, const Example* e, double g2, double* norms) noexcept nogil
cdef double descend(Gd self, const Example* e, const Outcome* o, double g2, double h, double norms) noexcept nogil
cdef double regularized(Gd self, const Outcome* o, double step) noexcept nogil
cdef double average_scale(Gd self) noexcept nogil
cdef void fold_if_due(Gd self) noexcept nogil
