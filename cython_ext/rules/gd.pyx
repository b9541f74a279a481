"""Vowpal Wabbit's default update: adaptive, normalized and importance-aware gradient descent.

Per feature: w, G (the sum of squared gradients) and N (the largest |x| seen). With the rate
r_i = G_i^-power_t * (scale of N_i) and M, the correction for the average scale of the features,

    w_i <- w_i + u M x_i r_i,   u the loss's invariant step for h = M sum x_i^2 r_i.

Ross, Mineiro, Langford. Normalized Online Learning, UAI 2013. Duchi, Hazan, Singer. Adaptive
Subgradient Methods, JMLR 2011. Karampatziakis, Langford. Online Importance Weight Aware Updates,
UAI 2011. l1 and l2 are Vowpal Wabbit's: one cumulative gravity and one contraction for all weights,
applied when a weight is read. The order of operations is that of Vowpal Wabbit's gd, so that both learn
the same from the same stream.
"""

from libc.float cimport FLT_MAX
from libc.math cimport fabs, sqrt
from libc.stdlib cimport free

from vwlite.core.base.buffers cimport reserve
from vwlite.core.base.elementary cimport pow, powf
from vwlite.core.base.targets cimport *
from vwlite.core.learn.prox cimport soft_threshold
from vwlite.core.learn.rule cimport Example, Outcome, Rule, iterate, next_chunk
from vwlite.core.learn.table cimport next_slot

cdef enum:
    FOLD_GRAVITY = 1000     # gravity above this is applied to all weights at once

cdef double FOLD_CONTRACTION = 1e-9


cdef class Gd(Rule):
    """w <- w + u M x G^-power_t / N"""

    SLOT = [("mark", "<u4"), ("w", "<f4"), ("G", "<f4"), ("N", "<f4")]
    SLOT_BYTES = sizeof(Slot)
    WEIGHS_ALONE = True
    SCALARS = ["t", "norm_sum", "weight_sum", "gravity", "contraction"]
    CLIPS = True

    def __init__(self, loss, *, double l1=0, double l2=0, double initial_t=0, **schedule):
        self.schedule.initial_t = initial_t     # blank() needs it
        super().__init__(loss, initial_t=initial_t, **schedule)
        self.l1, self.l2 = l1, l2
        self.norm_sum = self.weight_sum = initial_t
        self.gravity, self.contraction = 0, 1

    def __dealloc__(self):
        free(self.visits)

    def state_of(self, m):
        return {"w": m.w, "G": m.S, "N": m.extra}

    def blank(self):
        cdef Slot slot = Slot(0, 0, <float>self.schedule.initial_t, 0)
        return (<const char*>&slot)[:sizeof(Slot)]

    cdef void begin_unit(self, char* slot) noexcept nogil:
        """Begin with the scale 1: else a cell that had small values only would have a large weight."""
        if (<Slot*>slot).N == 0:
            (<Slot*>slot).N = 1

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i, n
        cdef const float* x
        cdef Slot** slots
        cdef double even = 0, odd = 0
        cdef Example part = iterate(e)
        while next_chunk(&part):
            slots, x, n = <Slot**>part.slots, part.x, part.size
            if self.gravity != 0:
                for i in range(n):
                    even += soft_threshold(slots[i].w, self.gravity) * x[i]
                continue
            i = 0
            while i + 1 < n:
                even += <double>slots[i].w * x[i]
                odd += <double>slots[i + 1].w * x[i + 1]
                i += 2
            if i < n:
                even += <double>slots[i].w * x[i]
        return self.contraction * (e.initial + (even + odd))

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef double g2 = min(o.importance * o.dloss * o.dloss, FLT_MAX)
        cdef double h = 1, norms = 0
        self.t += 1
        if o.loss <= 0:
            return
        if g2 != 0:
            h = adapt(self, e, g2, &norms)
        if not self.out_of_memory:
            descend(self, e, o, g2, h, norms)

    cdef void fold(self) noexcept nogil:
        """Apply gravity and contraction to all weights."""
        cdef char* slot = NULL
        cdef Slot* s
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if s.w != 0:
                s.w = <float>(now(self, s) * self.contraction)
        self.gravity, self.contraction = 0, 1

    cdef double weight(self, const char* slot) noexcept nogil:
        return now(self, <const Slot*>slot) * self.contraction

    cdef bint is_default(self, const char* slot) noexcept nogil:
        cdef const Slot* s = <const Slot*>slot
        return s.w == 0 and s.G == <float>self.schedule.initial_t and s.N == 0


cdef inline double now(Gd self, const Slot* s) noexcept nogil:
    """The weight after gravity, before contraction; the intercept pays too, as in Vowpal Wabbit."""
    return soft_threshold(s.w, self.gravity) if self.gravity != 0 else s.w


# --- an update, step by step -----------------------------------------------------------------

cdef double adapt(Gd self, const Example* e, double g2, double* norms) noexcept nogil:
    """Add the squared gradient g2 x^2 to every G, and |x| to every N. Returns the sum of x^2 r; norms: of (x / N)^2."""
    cdef double[4] sums     # of x^2 r over even features and over odd ones, of (x / N)^2 over even and odd
    cdef Example part
    if self.schedule.power_t != 0.5:
        return adapt_to_the_power(e, <float>g2, <float>self.schedule.power_t, norms)
    part = iterate(e)
    sums[:] = [0, 0, 0, 0]
    while next_chunk(&part):
        if reserve(<void**>&self.visits, &self.capacity, 5 * whole(part.size), sizeof(float)):
            self.out_of_memory = True
            return 0
        adapt_to_the_half(self.visits, whole(part.size), part.slots, part.x, part.size, <float>g2, sums)
    norms[0] = sums[2] + sums[3]
    return sums[0] + sums[1]


cdef double descend(Gd self, const Example* e, const Outcome* o, double g2, double h, double norms) noexcept nogil:
    """Move the weights, after `adapt`, if g2 is not 0. Returns u M: w moved by this times x r."""
    cdef double scale, step
    if g2 != 0:
        self.norm_sum += o.importance * norms
        self.weight_sum += o.importance
    scale = average_scale(self)
    if g2 != 0:
        h *= scale
    step = self.loss.invariant_step(
        o.p, o.label, o.dloss, self.schedule.rate * self.schedule.decay * o.importance, h)
    step = regularized(self, o, step)
    if step == 0:
        return 0
    step *= scale
    if self.schedule.power_t == 0.5:
        if g2 == 0:     # nothing was adapted: rates do not exist
            return step
        if e.chunks == NULL:
            move(self.visits, whole(e.size), e.slots, e.x, e.size, <float>step)
        else:
            move_chunks(e, <float>step)
    else:
        move_to_the_power(e, step, <float>self.schedule.power_t)
    fold_if_due(self)
    return step


cdef double average_scale(Gd self) noexcept nogil:
    """M = (S / W)^(power_t - 1), for power_t = 1/2 that is sqrt(W / S)."""
    if self.norm_sum <= 0 or self.weight_sum <= 0:
        return 1
    if self.schedule.power_t == 0.5:
        return sqrt(self.weight_sum / self.norm_sum)
    return pow(self.norm_sum / self.weight_sum, self.schedule.power_t - 1)


cdef double regularized(Gd self, const Outcome* o, double step) noexcept nogil:
    """Add the l1 and l2 of a step to the pending gravity and contraction of all weights; returns the step, scaled for
    weights before contraction."""
    cdef double bare
    if (self.l1 != 0 or self.l2 != 0) and fabs(step) > 1e-8:
        bare = -step / o.dloss if fabs(o.dloss) > 1e-8 else 0
        if fabs(o.dloss) > 1e-8:
            self.contraction *= 1 - self.l2 * bare
        step /= self.contraction
        self.gravity += bare * self.l1
    return step


cdef void fold_if_due(Gd self) noexcept nogil:
    """Fold before numbers become too small, or too large."""
    if self.contraction < FOLD_CONTRACTION or self.gravity > FOLD_GRAVITY:
        self.fold()


# The loops, for power_t = 1/2. One loop accesses the slots, another computes roots, divisions and sums over arrays, as
# vectors of four. A feature that occurs twice in an example moves by the rate after its last occurrence, as in Vowpal
# Wabbit; it is detected by its G or N, which differ from those of its first visit. G and N are read and written
# together: what limits these loops is the number of their instructions, not the memory.

cdef extern from *:
    """
    #include <float.h>
    #include <math.h>
    #include <string.h>

    typedef float vwlite_f2 __attribute__((vector_size(8), aligned(4), may_alias));
    typedef float vwlite_f4 __attribute__((vector_size(16), aligned(4), may_alias));
    typedef int32_t vwlite_i4 __attribute__((vector_size(16), aligned(4)));
    typedef double vwlite_d4 __attribute__((vector_size(32), aligned(8), may_alias));

    static inline float vwlite_gd_rate(const vwlite_gd_slot *s) {
        return 1 / (sqrtf(s->G < vwlite_smallest ? vwlite_smallest : s->G) * s->N);
    }

    /* Add a chunk to G, N and the sums. visits: of m numbers each, G and N in turn, |x|, x^2, and r. */
    VWLITE_CLONES_V3 static void vwlite_gd_adapt(float *visits, size_t m, char **slots, const float *restrict x, size_t n,
                                                 float g2, double *sums) {
        vwlite_f2 *restrict seen = (vwlite_f2 *)visits;
        float *restrict size = visits + 2 * m, *restrict square = visits + 3 * m, *restrict rate = visits + 4 * m;
        vwlite_f4 least = (vwlite_f4){0} + vwlite_smallest;
        vwlite_d4 sum = *(vwlite_d4 *)sums;
        for (size_t i = 0; i < n; i++) {
            square[i] = x[i] * x[i] < vwlite_tiny_square ? vwlite_tiny_square : x[i] * x[i];
            size[i] = x[i] * x[i] < vwlite_tiny_square ? vwlite_tiny : fabsf(x[i]);
        }
        for (size_t i = 0; i < n; i++) {
            vwlite_gd_slot *s = (vwlite_gd_slot *)slots[i];
            vwlite_f2 grown = *(vwlite_f2 *)&s->G + (vwlite_f2){g2 * square[i], 0};
            if (__builtin_expect(grown[0] > FLT_MAX, 0))
                grown[0] = FLT_MAX;
            if (__builtin_expect(size[i] > grown[1], 0)) {
                if (grown[1] > 0)
                    s->w *= grown[1] / size[i];
                grown[1] = size[i];
            }
            *(vwlite_f2 *)&s->G = seen[i] = grown;
        }
        for (size_t i = n; i < m; i++) {        /* fill the vectors with values that add 0 */
            seen[i] = (vwlite_f2){1, 1};
            size[i] = square[i] = 0;
        }
        for (size_t i = 0; i < m; i += 4) {
            vwlite_f4 one = *(vwlite_f4 *)(seen + i), other = *(vwlite_f4 *)(seen + i + 2);
            vwlite_f4 G = {one[0], one[2], other[0], other[2]}, N = {one[1], one[3], other[1], other[3]};
            vwlite_i4 low = G < least;
            vwlite_f4 held = (vwlite_f4)((low & (vwlite_i4)least) | (~low & (vwlite_i4)G));
            vwlite_f4 root = {sqrtf(held[0]), sqrtf(held[1]), sqrtf(held[2]), sqrtf(held[3])};
            vwlite_f4 r = 1 / (root * N), unit = *(vwlite_f4 *)(size + i) * (r * root);
            vwlite_f4 scaled = *(vwlite_f4 *)(square + i) * r;
            *(vwlite_f4 *)(rate + i) = r;
            unit *= unit;
            sum += __builtin_convertvector(((vwlite_f4){scaled[0], scaled[1], unit[0], unit[1]}), vwlite_d4);
            sum += __builtin_convertvector(((vwlite_f4){scaled[2], scaled[3], unit[2], unit[3]}), vwlite_d4);
        }
        *(vwlite_d4 *)sums = sum;
    }

    /* w += step x r */
    VWLITE_CLONES_V3 static void vwlite_gd_move(const float *visits, size_t m, char **slots, const float *restrict x,
                                                size_t n, float step) {
        for (size_t i = 0; i < n; i++) {
            vwlite_gd_slot *s = (vwlite_gd_slot *)slots[i];
            float r = visits[4 * m + i];
            if (__builtin_expect(memcmp(&s->G, visits + 2 * i, 8) != 0, 0))
                r = vwlite_gd_rate(s);
            s->w += step * x[i] * r;
        }
    }
    """
    float fabsf(float) noexcept nogil
    float rate_of "vwlite_gd_rate"(const Slot* s) noexcept nogil
    void adapt_to_the_half "vwlite_gd_adapt"(float* visits, size_t m, char** slots, const float* x, size_t n, float g2,
                                             double* sums) noexcept nogil
    void move "vwlite_gd_move"(const float* visits, size_t m, char** slots, const float* x, size_t n,
                               float step) noexcept nogil


cdef inline size_t whole(size_t n) noexcept nogil:
    """The size of n features in whole vectors of four."""
    return (n + 3) // 4 * 4


cdef void move_chunks(const Example* e, float step) noexcept nogil:
    """`move` without visits: the rate is recomputed from G and N, with the same result."""
    cdef size_t i
    cdef Slot* s
    cdef Example part = iterate(e)
    while next_chunk(&part):
        for i in range(part.size):
            s = <Slot*>part.slots[i]
            s.w += step * part.x[i] * rate_of(s)


cdef double adapt_to_the_power(const Example* e, float g2, float power_t, double* norms) noexcept nogil:
    """The same for any power_t: r = G^-power_t (N^2)^(power_t - 1); the sum of x^2 r."""
    cdef size_t i
    cdef Slot* s
    cdef float size, square
    cdef double sum = 0, unit_sum = 0
    cdef Example part = iterate(e)
    while next_chunk(&part):
        for i in range(part.size):
            s = <Slot*>part.slots[i]
            size = fabsf(part.x[i])
            square = size * size
            if square < TINY_SQUARE:
                square, size = TINY_SQUARE, TINY
            s.G = min(s.G + g2 * square, <float>FLT_MAX)
            if size > s.N:
                if s.N > 0:
                    s.w *= powf((size / s.N) * (size / s.N), power_t - 1)
                s.N = size
            unit_sum += (size / s.N) * (size / s.N)
            sum += square * powf(max(s.G, SMALLEST), -power_t) * powf(s.N * s.N, power_t - 1)
    norms[0] = unit_sum
    return sum


cdef void move_to_the_power(const Example* e, double step, float power_t) noexcept nogil:
    cdef size_t i
    cdef Slot* s
    cdef Example part = iterate(e)
    while next_chunk(&part):
        for i in range(part.size):
            s = <Slot*>part.slots[i]
            s.w += <float>step * part.x[i] * powf(max(s.G, SMALLEST), -power_t) * powf(s.N * s.N, power_t - 1)
