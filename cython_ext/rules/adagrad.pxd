"""The common part of the AdaGrad rules with a diagonal matrix. See adagrad.pyx."""

from libc.stdint cimport uint32_t

from vwlite.core.learn.nonzeros cimport Limited
from vwlite.core.rules._gathered cimport Gathering
from vwlite.core.learn.rule cimport Example


# w = scale * soft(z, shift) / H, H = delta + sqrt(S)
cdef struct Slot:
    uint32_t mark
    uint32_t at           # see _gathered.pxd
    double z
    double S              # the sum of g^2
    double inverse        # 1 / H; 0 as long as there was no gradient


# The state of the features of the example that is being learned, to compute with; owned by the rule, [capacity].
cdef struct Visit:
    double* x             # summed over all places where the feature occurs, if some feature occurs twice
    double* z
    double* S
    double* inverse
    double* w             # before the example
    Slot* constant_slot   # the intercept's slot, and its position in the arrays; NULL without an intercept
    size_t constant_at
    bint repeated         # some feature occurs twice; `at` of a slot is its last position then


cdef class Adaptive(Limited):
    cdef public double shift
    cdef public double scale
    cdef readonly double delta
    cdef Visit visited
    cdef size_t capacity
    cdef uint32_t example_number   # in a cycle: it only says which features occur twice
    cdef Gathering gathering  # of an example that comes in chunks

    cdef int visit(self, const Example* e) noexcept nogil
    cdef int reserve_visits(self, size_t n) noexcept nogil
    cdef int visit_chunk(self, size_t begin, Example* chunk) noexcept nogil
    cdef void learn_chunks(self, const Example* e, double dloss, double eta) noexcept nogil
    cdef void learn(self, const Example* e, double dloss, double eta) noexcept nogil
    cdef void move(self, const Example* e, const float* x, double dloss, double eta) noexcept nogil
    cdef void merge(self, const Example* e) noexcept nogil
    cdef void leave(self, const Example* e) noexcept nogil


cdef void descend(const Visit* v, const float* x, size_t n, double dloss, double eta, double delta, double shift) noexcept nogil
