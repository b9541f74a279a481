"""The interface of update rules. See rule.pyx."""

from libc.stdint cimport uint64_t

from vwlite.core.learn.losses cimport Loss
from vwlite.core.learn.table cimport Table
from vwlite.core.base.simd cimport unlikely


# One example as the input of a rule, or a chunk of one. The intercept, if there is one, is the last feature, except in `vwlite vw`.
cdef struct Example:
    size_t size           # features
    char** slots          # [size] a feature that occurs twice has two entries
    const float* x        # [size]
    double initial        # added to the prediction
    ChunkSource* chunks        # the source of the features of an oversized example; NULL: they are here
    bint started            # of a chunk: see `iterate`
    bint ends             # of a chunk: its last feature is that of the example


# The source of the features of an oversized example, in chunks.
cdef struct ChunkSource:
    bint (*next)(ChunkSource* chunks, Example* part) noexcept nogil
    void* maker
    size_t offset         # added to every slot
    char* constant_slot   # the slot of the intercept, without the offset


cdef inline Example iterate(const Example* e) noexcept nogil:
    """Start an iteration over the features: `while next_chunk(&part)`. Usually there is one chunk, the example."""
    return Example(e.size, e.slots, e.x, 0, e.chunks, False, True)


cdef inline bint next_chunk(Example* part) noexcept nogil:
    """The next chunk; all but the last have an even number of features. They are valid until the next call."""
    if unlikely(part.chunks != NULL):
        return part.chunks.next(part.chunks, part)
    part.started = not part.started
    return part.started


cdef inline char* last_slot(const Example* e) noexcept nogil:
    """The slot of the intercept, of an example that has one."""
    return e.slots[e.size - 1] if e.chunks == NULL else e.chunks.constant_slot + e.chunks.offset


# The evaluated prediction of an example: what the loss passes to the rule.
cdef struct Outcome:
    double p              # the prediction, clipped if the rule asks for it
    double label          # for the loss's invariant step; a rule uses it for nothing else
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
cdef double positive(double x, str name) except -1


cdef class Rule:
    cdef Loss loss
    cdef Table table
    cdef Schedule schedule
    cdef public double t      # examples learned
    cdef public bint final     # the requested weights are those after the last example of all
    cdef bint out_of_memory   # an update could not allocate memory: learning ends
    cdef bint too_many        # there are more features than the rule was created for: learning ends
    cdef bint no_preallocation    # the number of slots is meaningful: create none in advance
    cdef bint has_constant
    cdef uint64_t constant_mark    # the mark of the intercept; 2^32, which no slot has, without an intercept

    cdef make_table(self, size_t record, bytes blank, size_t records)
    cdef double predict(self, const Example* e) noexcept nogil
    cdef double predict_to_learn(self, const Example* e) noexcept nogil
    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil
    cdef void begin_unit(self, char* slot) noexcept nogil
    cdef double weight(self, const char* slot) noexcept nogil
    cdef bint is_default(self, const char* slot) noexcept nogil
    cdef void normalize(self, char* slot) noexcept nogil
