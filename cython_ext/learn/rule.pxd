"""What an update rule is. See rule.pyx."""

from libc.stdint cimport uint64_t

from vwlite.core.learn.losses cimport Loss
from vwlite.core.learn.table cimport Table
from vwlite.core.base.simd cimport unlikely


# One example as a rule sees it, or a piece of one. The constant feature, if there is one, is the last.
cdef struct Example:
    size_t size           # features
    char** slots          # [size] a feature that occurs twice stands twice
    const float* x        # [size]
    double initial        # added to the prediction
    Pieces* pieces        # where an enormous example has its features: there, not here; NULL: they are here
    bint begun            # of a piece: see `sweep`
    bint ends             # of a piece: the last feature is that of the example


# Where the features of an enormous example come from.
cdef struct Pieces:
    bint (*next)(Pieces* pieces, Example* part) noexcept nogil
    void* maker
    size_t offset         # added to every slot
    char* constant        # the slot of the constant, without the offset


cdef inline Example sweep(const Example* e) noexcept nogil:
    """To go through the features: `while next_piece(&part)`. Mostly there is one piece, the example."""
    return Example(e.size, e.slots, e.x, 0, e.pieces, False, True)


cdef inline bint next_piece(Example* part) noexcept nogil:
    """The next piece; all but the last have an even number of features. They are valid until the piece after."""
    if unlikely(part.pieces != NULL):
        return part.pieces.next(part.pieces, part)
    part.begun = not part.begun
    return part.begun


cdef inline char* last_slot(const Example* e) noexcept nogil:
    """The slot of the constant, of an example that has it."""
    return e.slots[e.size - 1] if e.pieces == NULL else e.pieces.constant + e.pieces.offset


# How the prediction of an example was judged: what the loss tells the rule.
cdef struct Outcome:
    double p              # the prediction, clipped if the rule asks for it
    double label          # for the loss's invariant step; a rule looks at it for nothing else
    double importance     # > 0
    double loss           # l(p, label)
    double dloss          # dl/dp


# eta_t = rate * decay * (t + initial_t)^-power_t
cdef struct Schedule:
    double rate
    double decay          # rho^(pass - 1)
    double power_t
    double initial_t


cdef double learning_rate(const Schedule* s, double t) noexcept nogil


cdef class Rule:
    cdef Loss loss
    cdef Table table
    cdef Schedule schedule
    cdef public double t      # examples learned
    cdef public bint final     # the weights are wanted as they are after the last example of all
    cdef bint out_of_memory   # an update could not get memory: the learner ends
    cdef bint too_many        # there are more features than the rule was made for: the learner ends
    cdef bint no_preallocation    # the number of slots means something: none must be made ahead of time
    cdef bint has_constant
    cdef uint64_t constant    # the mark of the constant feature; 2^32, which no slot has, if there is none

    cdef make_table(self, size_t record, bytes blank, size_t records)
    cdef double predict(self, const Example* e) noexcept nogil
    cdef double predict_to_learn(self, const Example* e) noexcept nogil
    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil
    cdef double weight(self, const char* slot) noexcept nogil
    cdef bint is_default(self, const char* slot) noexcept nogil
    cdef void normalize(self, char* slot) noexcept nogil
