"""Vowpal Wabbit's default update: adaptive, normalized and importance-aware gradient descent.

Per feature: w, G (the sum of squared gradients) and N (the largest |x| seen). With the rate
r_i = G_i^-power_t * (scale of N_i) and M, the correction for the average scale of the features,

    w_i <- w_i + u M x_i r_i,   u the loss's invariant step for h = M sum x_i^2 r_i.

Ross, Mineiro, Langford. Normalized Online Learning, UAI 2013. Duchi, Hazan, Singer. Adaptive
Subgradient Methods, JMLR 2011. Karampatziakis, Langford. Online Importance Weight Aware Updates,
UAI 2011. l1 and l2 are Vowpal Wabbit's: one cumulative gravity and one contraction for all weights,
paid when a weight is read. The order of operations is that of Vowpal Wabbit's gd, so that both learn
the same from the same stream.

Each of adaptive, normalized and invariant can be turned off. Without `adaptive` the rate of an example falls
with the weight of the examples before it, as (t + importance)^-power_t.
"""

from libc.float cimport FLT_MAX
from libc.math cimport INFINITY, fabs, isnan, pow, sqrt
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, realloc

from vwlite.core.learn.prox cimport soft_threshold
from vwlite.core.learn.rule cimport Example, Outcome, Rule, next_piece, sweep

cdef extern from "<math.h>" nogil:
    float sqrtf(float)
    float powf(float, float)
    float fabsf(float)

cdef enum:
    FOLD_GRAVITY = 1000     # gravity above this is paid by all weights at once

cdef double FOLD_CONTRACTION = 1e-9
cdef float TINY_SQUARE = 1.17549e-38     # x^2 below this counts as this ...
cdef float TINY = 1.084202e-19           # ... and |x| as this
cdef float LARGEST = 1.8446743e19        # the square of a larger one is no float
cdef double LARGEST_SQUARE = 3.4028234663852886e38
cdef float SMALLEST = 1.1754944e-38      # G below this counts as this, so that a rate is finite


cdef struct Slot:
    uint32_t mark
    float w
    float G      # initial_t + sum of importance * (slope x)^2
    float N      # the largest |x| seen


cdef struct Sums:
    # Of an example so far: of x^2 r, and of (x / N)^2. Each is two sums, so that additions overlap.
    double even, odd
    double even_units, odd_units


cdef struct Visit:
    # What the last piece found in its slots, and made of it; all owned by the rule, [capacity].
    float* size
    float* square
    float* G
    float* N
    float* rate


cdef class Gd(Rule):
    """w <- w + u M x G^-power_t / N"""

    SLOT = [("mark", "<u4"), ("w", "<f4"), ("G", "<f4"), ("N", "<f4")]
    SLOT_BYTES = sizeof(Slot)
    SCALARS = ["t", "norm_sum", "weight_sum", "gravity", "contraction"]
    CLIPS = True
    SUMS_BY_MODEL = True

    cdef public double norm_sum       # S: sum of importance * sum of (x / N)^2
    cdef public double weight_sum     # W: sum of importance
    cdef public double gravity        # g: what |w| still has to pay
    cdef public double contraction    # c: what every weight is still to be multiplied with
    cdef double l1, l2
    cdef public double elapsed        # initial_t + sum of importance: the time of the schedule without `adaptive`
    cdef public bint wound            # whether somebody else moves `elapsed` on
    cdef readonly bint too_large, lost     # of the last example: a feature whose square is no float; a step that is NaN
    cdef bint plain                   # the update is the default one
    cdef bint adaptive, normalized, invariant, adax, masked, forgiving
    cdef double sparse_l2
    cdef double multiplier            # M, after the last example that had a gradient
    cdef public double more_h, more_norms    # what features outside of the table add to sum x^2 r and sum (x / N)^2
    cdef public double more_squares   # without `adaptive` and `normalized`: added to the sum of x^2
    cdef readonly double moved        # u M of the last example: its weights moved by this times x r
    cdef Visit visits
    cdef size_t capacity

    def __init__(self, loss, *, double l1=0, double l2=0, double initial_t=0, bint adaptive=True, bint normalized=True,
                 bint invariant=True, bint adax=False, bint masked=False, bint forgiving=False, double sparse_l2=0,
                 **schedule):
        """adax: the adaptive sum counts x^2 only. masked: weights that are 0 stay 0. forgiving: features whose
        square no float can hold are left out, and a step that is not a number is none. sparse_l2: how much of the
        prediction is taken from each step."""
        self.schedule.initial_t = initial_t if adaptive else 0     # blank() needs it
        super().__init__(loss, initial_t=self.schedule.initial_t, **schedule)
        self.l1, self.l2, self.sparse_l2 = l1, l2, sparse_l2
        self.adaptive, self.normalized, self.invariant = adaptive, normalized, invariant
        self.adax, self.masked, self.forgiving = adax, masked, forgiving
        self.plain = adaptive and normalized and invariant and not (adax or masked or forgiving or sparse_l2)
        self.norm_sum = self.weight_sum = self.elapsed = initial_t
        self.gravity, self.contraction = 0, 1
        self.multiplier = 1

    def __dealloc__(self):
        free(self.visits.size)

    def blank(self):
        cdef Slot slot = Slot(0, 0, <float>self.schedule.initial_t, 0)
        return (<const char*>&slot)[:sizeof(Slot)]

    cdef inline double now(self, const Slot* s) noexcept nogil:
        """The weight with gravity paid, the contraction apart; the constant pays too, as in Vowpal Wabbit."""
        return soft_threshold(s.w, self.gravity) if self.gravity != 0 else s.w

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i, n
        cdef const float* x
        cdef Slot** slots
        cdef double even = 0, odd = 0
        cdef Example part = sweep(e)
        while next_piece(&part):
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
        cdef double g2 = min(o.importance * o.slope * o.slope, FLT_MAX)
        cdef double h = 1, norms = 0, scale, step, bare
        cdef Sums sums
        cdef Example part = sweep(e)
        self.t += 1
        self.moved = 0
        if not self.plain:
            if not (self.forgiving and self.is_plain(e)):
                self.update_any(e, o)
                return
            self.too_large = self.lost = self.noted = False
        if o.loss <= 0:
            return
        if g2 != 0:
            if self.schedule.power_t == 0.5:
                sums = Sums(0, 0, 0, 0)
                while next_piece(&part):
                    if part.size > self.capacity and self.grow(2 * part.size):
                        return
                    adapt(&self.visits, <Slot**>part.slots, part.x, part.size, <float>g2, &sums)
                h, norms = sums.even + sums.odd, sums.even_units + sums.odd_units
            else:
                h = adapt_to_the_power(e, <float>g2, <float>self.schedule.power_t, &norms)
            h += self.more_h
            self.norm_sum += o.importance * (norms + self.more_norms)
            self.weight_sum += o.importance
        scale = self.scale()
        if g2 != 0:
            h *= scale
        step = self.loss.invariant_step(
            o.p, o.label, o.slope, self.schedule.rate * self.schedule.decay * o.importance, h)
        if (self.l1 != 0 or self.l2 != 0) and fabs(step) > 1e-8:
            bare = -step / o.slope if fabs(o.slope) > 1e-8 else 0
            if fabs(o.slope) > 1e-8:
                self.contraction *= 1 - self.l2 * bare
            step /= self.contraction
            self.gravity += bare * self.l1
        if step == 0:
            return
        step *= scale
        self.moved = step
        if self.schedule.power_t == 0.5:
            if g2 == 0:     # nothing was adapted, so there are no rates
                return
            if e.pieces == NULL:
                move(&self.visits, <Slot**>e.slots, e.x, e.size, <float>step)
            else:
                move_pieces(e, <float>step)
        else:
            move_to_the_power(e, step, <float>self.schedule.power_t)
        if self.contraction < FOLD_CONTRACTION or self.gravity > FOLD_GRAVITY:
            self.fold()

    cdef bint is_plain(self, const Example* e) noexcept nogil:
        """Whether the default update would do the same, which is faster."""
        cdef size_t i
        cdef float largest = 0
        cdef Example part = sweep(e)
        if not (self.adaptive and self.normalized and self.invariant) or self.adax or self.masked or self.sparse_l2:
            return False
        while next_piece(&part):
            for i in range(part.size):
                largest = max(largest, fabsf(part.x[i]))
        return largest < LARGEST

    cdef void update_any(self, const Example* e, const Outcome* o) noexcept nogil:
        """`update` for any choice of the flags."""
        cdef size_t i
        cdef Slot* s
        cdef double eta = self.schedule.rate * self.schedule.decay * o.importance
        cdef double g2 = o.importance * (1 if self.adax else o.slope * o.slope)
        cdef double h = 0, norms = 0, power_t = self.schedule.power_t, step, bare, square
        cdef float size, x
        cdef Example part = sweep(e)
        self.too_large = self.lost = self.noted = False
        if not self.wound:
            self.elapsed += o.importance
        if o.loss <= 0:
            if self.sparse_l2:
                self.move_any(e, -self.sparse_l2 * o.p * self.multiplier)
            return
        if not (self.adaptive or self.normalized):
            while next_piece(&part):
                for i in range(part.size):
                    h += <double>part.x[i] * part.x[i]
            h += self.more_squares
        elif g2 == 0:
            h = 1
        else:
            while next_piece(&part):
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
                            self.too_large = self.noted = True
                            norms += 1
                        else:
                            norms += square / (<double>s.N * s.N)
                    h += square * self.feature_rate(s)
            h += self.more_h
            norms += self.more_norms
            if self.normalized:
                self.norm_sum += o.importance * norms
                self.weight_sum += o.importance
                self.multiplier = self.average_scale()
                h *= self.multiplier
        if not self.adaptive and power_t != 0:
            eta *= pow(self.elapsed if not self.wound else self.elapsed + o.importance, -power_t)
        step = self.loss.invariant_step(o.p, o.label, o.slope, eta, h) if self.invariant else -eta * o.slope
        if (self.l1 != 0 or self.l2 != 0) and fabs(step) > 1e-8:
            bare = -step / o.slope if fabs(o.slope) > 1e-8 else 0
            if fabs(o.slope) > 1e-8:
                self.contraction *= 1 - self.l2 * bare
            step /= self.contraction
            self.gravity += bare * self.l1
        if self.sparse_l2:
            step -= self.sparse_l2 * o.p
        if isnan(step):
            self.lost = self.noted = True
            return
        self.move_any(e, step * self.multiplier)
        if self.contraction < FOLD_CONTRACTION or self.gravity > FOLD_GRAVITY:
            self.fold()

    cdef void move_any(self, const Example* e, double step) noexcept nogil:
        """w += step x r, for any choice of the flags. A feature that never had a gradient has no rate yet."""
        cdef size_t i
        cdef Slot* s
        cdef float x
        cdef Example part = sweep(e)
        self.moved = step
        if step == 0:
            return
        while next_piece(&part):
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
        """What a weight is multiplied with when the largest |x| grows."""
        cdef double ratio = <double>before / now
        if self.schedule.power_t == 0.5:
            return <float>(ratio if self.adaptive else ratio * ratio)
        return <float>pow(1 / (ratio * ratio), self.schedule.power_t - 1)

    cdef inline double average_scale(self) noexcept nogil:
        """M for any choice of the flags."""
        if self.norm_sum <= 0 or self.weight_sum <= 0:
            return 1
        if self.schedule.power_t == 0.5 and not self.adaptive:
            return self.weight_sum / self.norm_sum
        return self.scale()

    def sensitivity(self, const unsigned char[::1] slots, values, double p, double label, double importance):
        """How far the prediction would move per unit of slope, were these features learned. Changes nothing.

        slots: copies of the features' slots, one after the other.
        """
        cdef size_t i, n = len(values)
        cdef Slot s
        cdef double slope = self.loss.slope(p, label)
        cdef double g2 = importance * (1 if self.adax else slope * slope)
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
        """Let every weight pay its gravity and its contraction now."""
        self.fold()

    cdef int grow(self, size_t capacity) noexcept nogil:
        """Make room for the visits of longer examples; -1: no memory."""
        cdef float* all = <float*>realloc(self.visits.size, 5 * capacity * sizeof(float))
        if all == NULL:
            self.out_of_memory = True
            return -1
        self.capacity = capacity
        self.visits = Visit(all, all + capacity, all + 2 * capacity, all + 3 * capacity, all + 4 * capacity)
        return 0

    cdef inline double scale(self) noexcept nogil:
        """M = (S / W)^(power_t - 1), for power_t = 1/2 that is sqrt(W / S)."""
        if self.norm_sum <= 0 or self.weight_sum <= 0:
            return 1
        if self.schedule.power_t == 0.5:
            return sqrt(self.weight_sum / self.norm_sum)
        return pow(self.norm_sum / self.weight_sum, self.schedule.power_t - 1)

    cdef void fold(self) noexcept nogil:
        """Let every weight pay its gravity and its contraction."""
        cdef size_t i
        cdef Slot* s
        for i in range(self.table.capacity + 1):
            s = <Slot*>(self.table.slots + i * self.table.stride)
            if s.w != 0:
                s.w = <float>(self.now(s) * self.contraction)
        self.gravity, self.contraction = 0, 1

    cdef double weight(self, const char* slot) noexcept nogil:
        return self.now(<const Slot*>slot) * self.contraction

    cdef bint idle(self, const char* slot) noexcept nogil:
        cdef const Slot* s = <const Slot*>slot
        return s.w == 0 and s.G == <float>self.schedule.initial_t and s.N == 0


# The loops, for power_t = 1/2. What needs the slots is one loop, roots and divisions another, over arrays,
# which compilers turn into vector instructions. A feature that occurs twice in an example moves by the rate after
# its last occurrence, as in Vowpal Wabbit; it is known by its G or N, which are not those of its first visit.

cdef void adapt(Visit* visits, Slot** slots, const float* x, size_t n, float g2, Sums* sums) noexcept nogil:
    """Add a piece to G, N and the sums."""
    cdef size_t i
    cdef Slot* s
    cdef float* size = visits.size
    cdef float* square = visits.square
    cdef float* G = visits.G
    cdef float* N = visits.N
    cdef float* rate = visits.rate
    cdef float root, r, unit, value
    cdef double sum = sums.even, other_sum = sums.odd, units = sums.even_units, other_units = sums.odd_units
    for i in range(n):
        value = fabsf(x[i])
        square[i] = TINY_SQUARE if value * value < TINY_SQUARE else value * value
        size[i] = TINY if value * value < TINY_SQUARE else value
    for i in range(n):
        s = slots[i]
        s.G = min(s.G + g2 * square[i], <float>FLT_MAX)
        if size[i] > s.N:
            if s.N > 0:
                s.w *= s.N / size[i]
            s.N = size[i]
        G[i] = s.G
        N[i] = s.N
    for i in range(n):
        root = sqrtf(SMALLEST if G[i] < SMALLEST else G[i])
        r = 1 / (root * N[i])
        unit = size[i] * (r * root)
        rate[i] = r
        square[i] *= r
        size[i] = unit * unit
    i = 0
    while i + 1 < n:
        sum += square[i]
        units += size[i]
        other_sum += square[i + 1]
        other_units += size[i + 1]
        i += 2
    if i < n:
        sum += square[i]
        units += size[i]
    sums[0] = Sums(sum, other_sum, units, other_units)


cdef void move(const Visit* visits, Slot** slots, const float* x, size_t n, float step) noexcept nogil:
    """w += step x r"""
    cdef size_t i
    cdef Slot* s
    cdef const uint32_t* G = <const uint32_t*>visits.G      # as integers: equal is equal
    cdef const uint32_t* N = <const uint32_t*>visits.N
    cdef const float* rate = visits.rate
    cdef float r
    for i in range(n):
        s = slots[i]
        r = rate[i]
        if ((<uint32_t*>&s.G)[0] ^ G[i]) | ((<uint32_t*>&s.N)[0] ^ N[i]):
            r = 1 / (sqrtf(SMALLEST if s.G < SMALLEST else s.G) * s.N)
        s.w += step * x[i] * r


cdef void move_pieces(const Example* e, float step) noexcept nogil:
    """`move` without visits: the rate is made anew of G and N, which gives the same."""
    cdef size_t i
    cdef Slot* s
    cdef float r
    cdef Example part = sweep(e)
    while next_piece(&part):
        for i in range(part.size):
            s = <Slot*>part.slots[i]
            r = 1 / (sqrtf(SMALLEST if s.G < SMALLEST else s.G) * s.N)
            s.w += step * part.x[i] * r


cdef double adapt_to_the_power(const Example* e, float g2, float power_t, double* norms) noexcept nogil:
    """`adapt` for any power_t: r = G^-power_t (N^2)^(power_t - 1); the sum of x^2 r."""
    cdef size_t i
    cdef Slot* s
    cdef float size, square
    cdef double sum = 0, unit_sum = 0
    cdef Example part = sweep(e)
    while next_piece(&part):
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
    cdef Example part = sweep(e)
    while next_piece(&part):
        for i in range(part.size):
            s = <Slot*>part.slots[i]
            s.w += <float>step * part.x[i] * powf(max(s.G, SMALLEST), -power_t) * powf(s.N * s.N, power_t - 1)
