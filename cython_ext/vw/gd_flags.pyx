"""gd with Vowpal Wabbit's flags: adaptive, normalized and invariant can each be turned off, and more.

Without `adaptive` the rate of an example falls with the weight of the examples before it, as (t + importance)^-power_t.
A feature whose square overflows a float is left out of the norms, and a step that is NaN is skipped; both give
warnings.
"""

from libc.float cimport FLT_MAX
from libc.math cimport INFINITY, isnan, pow, sqrt
from libc.stdint cimport uint32_t

from vwlite.core.learn.rule cimport Example, Outcome, iterate, next_chunk
from vwlite.core.rules.gd cimport (
    SMALLEST, TINY, TINY_SQUARE, Gd, Slot, adapt, average_scale, descend, fold_if_due, regularized
)

cdef extern from "<math.h>" nogil:
    float fabsf(float)

cdef float LARGEST = 1.8446743e19        # the square of a larger value overflows
cdef double LARGEST_SQUARE = 3.4028234663852886e38


cdef class GdWithFlags(Gd):
    """adax: the adaptive sum counts x^2 only. masked: weights that are 0 stay 0. sparse_l2: how much of the prediction
    is taken from each step. The others: see the module and Gd."""

    def __init__(self, loss, *, double initial_t=0, bint adaptive=True, bint normalized=True, bint invariant=True,
                 bint adax=False, bint masked=False, double sparse_l2=0, **options):
        super().__init__(loss, initial_t=initial_t if adaptive else 0, **options)
        self.adaptive, self.normalized, self.invariant = adaptive, normalized, invariant
        self.adax, self.masked, self.sparse_l2 = adax, masked, sparse_l2
        self.default = adaptive and normalized and invariant and not (adax or masked or sparse_l2)
        self.norm_sum = self.weight_sum = self.elapsed = initial_t
        self.multiplier = 1

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef double g2 = min(o.importance * o.dloss * o.dloss, FLT_MAX)
        cdef double h = 1, norms = 0
        self.t += 1
        self.moved = 0
        self.too_large = self.lost = self.has_warning = False
        if not (self.default and are_squares_floats(e)):
            self.update_any(e, o)
            return
        if o.loss <= 0:
            return
        if g2 != 0:
            h = adapt(self, e, g2, &norms) + self.more_h
        if not self.out_of_memory:
            self.moved = descend(self, e, o, g2, h, norms + self.more_norms)

    cdef void update_any(self, const Example* e, const Outcome* o) noexcept nogil:
        """`update` for any choice of the flags."""
        cdef size_t i
        cdef Slot* s
        cdef double eta = self.schedule.rate * self.schedule.decay * o.importance
        cdef double g2 = o.importance * (1 if self.adax else o.dloss * o.dloss)
        cdef double h = 0, norms = 0, power_t = self.schedule.power_t, step, square
        cdef float size, x
        cdef Example part = iterate(e)
        if not self.external_clock:
            self.elapsed += o.importance
        if o.loss <= 0:
            if self.sparse_l2:
                self.move_any(e, -self.sparse_l2 * o.p * self.multiplier)
            return
        if not (self.adaptive or self.normalized):
            while next_chunk(&part):
                for i in range(part.size):
                    h += <double>part.x[i] * part.x[i]
            h += self.more_squares
        elif g2 == 0:
            h = 1
        else:
            while next_chunk(&part):
                for i in range(part.size):
                    s, x = <Slot*>part.slots[i], part.x[i]
                    if self.masked and s.w == 0:
                        continue
                    square, size = <double>x * x, fabsf(x)
                    if square < TINY_SQUARE:
                        square, size = TINY_SQUARE, TINY
                    if self.adaptive:
                        s.G += <float>(g2 * square)
                    if self.normalized:
                        if size > s.N:
                            if s.N > 0:
                                s.w *= self.rescaling(s.N, size)
                            s.N = size
                        if square > LARGEST_SQUARE:
                            self.too_large = self.has_warning = True
                            norms += 1
                        else:
                            norms += square / (<double>s.N * s.N)
                    h += square * self.feature_rate(s)
            h += self.more_h
            norms += self.more_norms
            if self.normalized:
                self.norm_sum += o.importance * norms
                self.weight_sum += o.importance
                self.multiplier = self.scale()
                h *= self.multiplier
        if not self.adaptive and power_t != 0:
            eta *= pow(self.elapsed if not self.external_clock else self.elapsed + o.importance, -power_t)
        step = self.loss.invariant_step(o.p, o.label, o.dloss, eta, h) if self.invariant else -eta * o.dloss
        step = regularized(self, o, step)
        if self.sparse_l2:
            step -= self.sparse_l2 * o.p
        if isnan(step):
            self.lost = self.has_warning = True
            return
        self.move_any(e, step * self.multiplier)
        fold_if_due(self)

    cdef void move_any(self, const Example* e, double step) noexcept nogil:
        """w += step x r, for any choice of the flags. A feature that never had a gradient has no rate yet."""
        cdef size_t i
        cdef Slot* s
        cdef float x
        cdef Example part = iterate(e)
        self.moved = step
        if step == 0:
            return
        while next_chunk(&part):
            for i in range(part.size):
                s, x = <Slot*>part.slots[i], part.x[i]
                if fabsf(x) == INFINITY or (self.masked and s.w == 0):
                    continue
                if not (self.adaptive or self.normalized):
                    s.w += <float>(step * x)
                elif (s.N > 0 or not self.normalized) and (s.G > 0 or not self.adaptive):
                    s.w += <float>(step * x * self.feature_rate(s))

    cdef inline double feature_rate(self, const Slot* s) noexcept nogil:
        """G^-power_t, times the scale of N."""
        cdef double rate = 1, power_t = self.schedule.power_t
        if self.adaptive:
            rate = 1 / sqrt(max(s.G, SMALLEST)) if power_t == 0.5 else pow(max(s.G, SMALLEST), -power_t)
        if self.normalized:
            if power_t == 0.5:
                rate *= 1 / <double>s.N if self.adaptive else 1 / (<double>s.N * s.N)
            else:
                rate *= pow(<double>s.N * s.N, power_t - 1)
        return rate

    cdef inline float rescaling(self, float before, float now) noexcept nogil:
        """The factor of a weight when the largest |x| grows."""
        cdef double ratio = <double>before / now
        if self.schedule.power_t == 0.5:
            return <float>(ratio if self.adaptive else ratio * ratio)
        return <float>pow(1 / (ratio * ratio), self.schedule.power_t - 1)

    cdef inline double scale(self) noexcept nogil:
        """M for any choice of the flags."""
        if self.norm_sum <= 0 or self.weight_sum <= 0:
            return 1
        if self.schedule.power_t == 0.5 and not self.adaptive:
            return self.weight_sum / self.norm_sum
        return average_scale(self)

    def sensitivity(self, const unsigned char[::1] slots, values, double p, double label, double importance):
        """The change of the prediction per unit of dloss if these features were learned. Changes nothing.

        slots: copies of the features' slots, one after the other.
        """
        cdef size_t i, n = len(values)
        cdef Slot s
        cdef double dloss = self.loss.dloss(p, label)
        cdef double g2 = importance * (1 if self.adax else dloss * dloss)
        cdef double h = 0, norms = 0, square, scale = 1, eta = self.schedule.rate * self.schedule.decay
        cdef float size, x
        for i in range(n):
            s = (<const Slot*>&slots[i * sizeof(Slot)])[0]
            x = values[i]
            square, size = <double>x * x, fabsf(x)
            if not (self.adaptive or self.normalized):
                h += square
                continue
            if square < TINY_SQUARE:
                square, size = TINY_SQUARE, TINY
            s.G += <float>(g2 * square)
            s.N = max(s.N, size)
            norms += square / (<double>s.N * s.N)
            h += square * self.feature_rate(&s)
        if self.normalized and norms > 0:
            scale = (self.norm_sum + importance * norms) / (self.weight_sum + importance)
            if self.schedule.power_t == 0.5:
                scale = 1 / sqrt(scale) if self.adaptive else 1 / scale
            else:
                scale = pow(scale, self.schedule.power_t - 1)
        if not self.adaptive and self.schedule.power_t != 0:
            eta *= pow(self.elapsed + 1, -self.schedule.power_t)
        return eta * h * scale

    def set_slot(self, uint32_t key, float w, float G, float N):
        """Give a key all its numbers."""
        cdef char* slot
        if self.table.resolve(&key, 1, &slot):
            raise MemoryError("no memory for the weight table")
        (<Slot*>slot).w, (<Slot*>slot).G, (<Slot*>slot).N = w, G, N

    def fold_weights(self):
        """Apply gravity and contraction to all weights."""
        self.fold()


cdef bint are_squares_floats(const Example* e) noexcept nogil:
    """Whether no |x| is too large: then the update without flags does the same, and is faster."""
    cdef size_t i
    cdef float largest = 0
    cdef Example part = iterate(e)
    while next_chunk(&part):
        for i in range(part.size):
            largest = max(largest, fabsf(part.x[i]))
    return largest < LARGEST
