"""Exponentiated gradient: w_i <- w_i exp(-eta_t g_i) / Z on the simplex {w >= 0, sum w = z}.

Kivinen, Warmuth. Exponentiated Gradient versus Gradient Descent for Linear Predictors. Information and
Computation 132, 1997; in Duchi, Shalev-Shwartz, Singer, Chandra, ICML 2008, eq. 13.

All d weights start at z / d. A slot stores an unnormalised weight v, initially 1, and w = z v / V, where V is
the sum of all v; a feature that was never touched has v = 1 too, so it needs no slot, and a step costs O(k).

Any number of steps causes neither overflow nor loss of precision:

- v = m 2^(10 block), with 1 <= m < 1024 and a whole block: no exponent is too large, and multiplying by e^a changes
  v by half a unit in the last place.
- V is kept as one sum for each block. As m has 52 bits behind the point, m 2^52 is a whole number: the sums are of
  integers, exact in any order, and everything that is subtracted was added before. V itself is read from the topmost
  ten blocks; the rest is below the last bit of a double, even with 2^32 features.

Only the blocks in a window below the topmost one have a sum. When the topmost v have decreased by half of the
window, which is e^14000, the sums are recomputed from the table.
"""

from libc.math cimport fabs, ldexp, llrint
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from vwlite.core.base.elementary cimport exp_of, exponentials
from vwlite.core.base.buffers cimport reserve
from vwlite.core.base.int128 cimport int128
from vwlite.core.learn.rule cimport Example, Outcome, Rule, iterate, last_slot, learning_rate, next_chunk
from vwlite.core.learn.table cimport next_slot

from vwlite.core.base.arrays import total
from vwlite.core.base.elementary import each

cdef enum:
    WIDTH = 10          # bits of a block
    WINDOW = 4096       # blocks that have a sum; a power of two
    DEPTH = 10          # blocks of which V is the sum
    LAST = 1 << 30      # of a block's number, up and down
    POWERS = 112        # more than this many blocks below the topmost, the factor is 0 in double

cdef double UNIT = <double>(<int64_t>1 << 52)
cdef double BLOCK = <double>(1 << WIDTH)
# 10 ln 2 in two parts: whole multiples of the first, which has 32 bits, are exact.
cdef double LN_HIGH = 6.9314718041568995
cdef double LN_LOW = 1.4425536419628485e-09
cdef double LN2 = 0.6931471805599453
cdef double LARGEST_STEP = 1e8     # of a logarithm
cdef double SMALL_STEP = 300        # e^a is neither too large nor too small for a double, nor is m e^a

cdef double power_of_block[POWERS + 1]    # 2^(-10 i), the last one 0
for _i in range(POWERS):
    power_of_block[_i] = ldexp(1, -10 * _i)
power_of_block[POWERS] = 0


cdef struct Slot:
    uint32_t mark
    int32_t block
    double m          # v = m 2^(10 block); 0: never touched, so v = 1. For the intercept: w itself


cdef inline double of_block(int64_t depth) noexcept nogil:
    """2^(-10 depth) for depth >= 0"""
    return power_of_block[depth if depth < POWERS else POWERS]


cdef void multiply_far(double* m, int32_t* block, double a) noexcept nogil:
    """(m, block) *= e^a, for any a"""
    cdef int64_t whole
    a = min(max(a, -LARGEST_STEP), LARGEST_STEP)
    whole = llrint(a / LN_HIGH)
    multiply(m, block, exp_of((a - whole * LN_HIGH) - whole * LN_LOW), whole)


cdef inline void multiply(double* m, int32_t* block, double factor, int64_t whole) noexcept nogil:
    """(m, block) *= factor 2^(10 whole)"""
    cdef int64_t bits, by, to
    m[0] *= factor
    memcpy(&bits, m, 8)
    by = (bits >> 52) - 1023
    if by < 0 or by >= WIDTH or whole != 0:
        by = (by if by >= 0 else by - (WIDTH - 1)) / WIDTH     # rounded down
        bits -= (WIDTH * by) << 52
        memcpy(m, &bits, 8)
        to = block[0] + by + whole
        block[0] = <int32_t>min(max(to, -LAST), LAST)


cdef class Exponentiated(Rule):
    """The common part of both forms: the sums of the blocks, and d.

    radius: z. features: d; `too_many` is set when more are touched.
    """

    SLOT = [("mark", "<u4"), ("block", "<i4"), ("m", "<f8")]
    SLOT_BYTES = sizeof(Slot)
    TWO_SIDED = False       # whether a feature has both v and 1 / v

    cdef readonly double radius
    cdef readonly uint64_t features
    cdef uint64_t touched               # features that have their own v
    cdef int128 sums[WINDOW]            # of m 2^52, at block % WINDOW
    cdef int64_t low, top               # the lowest block that has a sum; the topmost one that is not empty
    cdef double norm                    # z / (V / 2^(10 top))
    cdef readonly double unseen         # the weight of a feature that was never touched
    cdef bint two_sided                 # TWO_SIDED
    cdef double* steps                  # owned; changes of the logarithms of the features of an example ...
    cdef double* factors                # owned; ... and e to that
    cdef size_t steps_capacity, factors_capacity

    def __init__(self, loss, *, double radius, uint64_t features, **schedule):
        super().__init__(loss, **schedule)
        self.radius, self.features, self.two_sided = radius, features, self.TWO_SIDED
        self.recount()

    def __dealloc__(self):
        free(self.steps)
        free(self.factors)

    cdef inline void add(self, double m, int64_t block) noexcept nogil:
        if block < self.low:
            return
        if block > self.top:
            self.rise(block)
        self.sums[block & (WINDOW - 1)] += <int64_t>(m * UNIT)

    cdef inline void move(self, double m, int64_t block, double old_m, int64_t old_block) noexcept nogil:
        """Replace a term of the sums."""
        if block == old_block:
            if block >= self.low:
                self.sums[block & (WINDOW - 1)] += <int64_t>(m * UNIT) - <int64_t>(old_m * UNIT)
            return
        if old_block >= self.low:
            self.sums[old_block & (WINDOW - 1)] -= <int64_t>(old_m * UNIT)
        self.add(m, block)

    cdef void rise(self, int64_t top) noexcept nogil:
        """Extend the window up to a new topmost block."""
        self.top = top
        if top - self.low >= 2 * WINDOW:
            memset(self.sums, 0, sizeof(self.sums))
            self.low = top - WINDOW + 1
        while top - self.low >= WINDOW:
            self.sums[self.low & (WINDOW - 1)] = 0
            self.low += 1

    cdef void renormalize(self) noexcept nogil:
        """After a step: update the topmost block, V and the norm."""
        cdef int64_t i
        cdef double sum = 0
        while self.top > self.low and self.sums[self.top & (WINDOW - 1)] == 0:
            self.top -= 1
        if self.top < self.low + DEPTH:
            self.recount()
            return
        for i in range(DEPTH):
            if self.sums[(self.top - i) & (WINDOW - 1)] != 0:
                sum += <double>self.sums[(self.top - i) & (WINDOW - 1)] * power_of_block[i]
        self.norm = self.radius / (sum / UNIT)
        self.unseen = self.first_weight() if self.touched < self.features else 0

    cdef void recount(self) noexcept nogil:
        """Recompute the sums from the table, and from the features that are not in it."""
        cdef char* slot = NULL
        cdef Slot* s
        memset(self.sums, 0, sizeof(self.sums))
        self.touched = 0
        self.top = -<int64_t>LAST - 1
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if s.m != 0 and s.mark != self.constant_mark:
                self.touched += 1
                self.top = max(self.top, self.topmost(s.block))
        if self.touched < self.features:
            self.top = max(self.top, 0)
        self.low = self.top - WINDOW // 2
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if s.m != 0 and s.mark != self.constant_mark:
                self.enter(s.m, s.block)
        if self.touched < self.features:
            self.count_untouched(self.features - self.touched)
        self.renormalize()

    cdef int64_t topmost(self, int64_t block) noexcept nogil:
        """The higher block of a feature's."""
        return max(block, -block - 1) if self.two_sided else block

    cdef void enter(self, double m, int64_t block) noexcept nogil:
        """Add a feature to the sums."""
        self.add(m, block)
        if self.two_sided:
            self.add(BLOCK / m, -block - 1)

    cdef void count_untouched(self, uint64_t n) noexcept nogil:
        """Add n features with v = 1 to the sums."""
        if self.low <= 0:
            self.sums[0] += <int128>n << 52
        if self.two_sided and self.low <= -1:
            self.sums[WINDOW - 1] += <int128>n << (52 + WIDTH)

    cdef double first_weight(self) noexcept nogil:
        """The weight for v = 1."""
        return 0

    cdef inline void touch(self, Slot* s) noexcept nogil:
        """Create an own v for a feature."""
        if s.m == 0:
            s.m = 1
            self.touched += 1
            self.too_many = self.touched > self.features

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef double step
        cdef Example part = iterate(e)
        self.t += 1
        step = -learning_rate(&self.schedule, self.t) * o.importance * o.dloss
        if step == 0:
            return
        while next_chunk(&part):
            self.descend(&part, step)
        self.renormalize()

    cdef void descend(self, const Example* e, double step) noexcept nogil:
        """v *= e^(step x), for a chunk."""
        cdef size_t i
        cdef const float* x = e.x
        cdef Slot* s
        cdef double old_m
        cdef int32_t old_block
        cdef double* steps
        cdef double* factors
        if (reserve(<void**>&self.steps, &self.steps_capacity, e.size, sizeof(double))
                or reserve(<void**>&self.factors, &self.factors_capacity, e.size, sizeof(double))):
            self.out_of_memory = True
            return
        steps, factors = self.steps, self.factors
        for i in range(e.size):
            steps[i] = step * x[i]
            factors[i] = steps[i] if fabs(steps[i]) < SMALL_STEP else 0
        exponentials(factors, factors, e.size)
        for i in range(e.size):
            s = <Slot*>e.slots[i]
            if s.mark == self.constant_mark:
                s.m += steps[i]
                continue
            self.touch(s)
            old_m, old_block = s.m, s.block
            if fabs(steps[i]) < SMALL_STEP:
                multiply(&s.m, &s.block, factors[i], 0)
            else:
                multiply_far(&s.m, &s.block, steps[i])
            self.move(s.m, s.block, old_m, old_block)
            if self.two_sided:
                self.move(BLOCK / s.m, -s.block - 1, BLOCK / old_m, -old_block - 1)

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).m == 0

    def scalars(self):
        return {**super().scalars(), "unseen": self.unseen}

    def load(self, scalars, slots):
        super().load(scalars, slots)
        cdef char* slot = NULL
        cdef Slot* s
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if s.m != 0 and s.mark != self.constant_mark and not (1 <= s.m < BLOCK and -LAST <= s.block <= LAST):
                raise ValueError("a weight is out of its block")
        self.recount()
        if self.touched > self.features:
            raise ValueError("there are more weights than features")


cdef class Eg(Exponentiated):
    """w_i <- w_i exp(-eta_t g_i) / Z, w >= 0, sum w = radius"""

    UNSEEN_WEIGHS = True

    cdef inline double now(self, const Slot* s) noexcept nogil:
        if s.m == 0:
            return self.unseen
        return s.m * self.norm * of_block(self.top - s.block)

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef const float* x
        cdef Slot** slots
        cdef double sum = 0, norm = self.norm
        cdef int64_t top = self.top
        cdef Example part = iterate(e)
        if e.size > 0 and self.has_constant:     # the intercept is the last
            sum = (<Slot*>last_slot(e)).m
        while next_chunk(&part):
            slots, x = <Slot**>part.slots, part.x
            for i in range(part.size - (part.ends and self.has_constant)):
                if slots[i].mark == self.constant_mark:
                    sum += slots[i].m * x[i]
                elif slots[i].m == 0:
                    sum += self.unseen * x[i]
                else:
                    sum += slots[i].m * norm * of_block(top - slots[i].block) * x[i]
        return e.initial + sum

    cdef double weight(self, const char* slot) noexcept nogil:
        cdef const Slot* s = <const Slot*>slot
        return s.m if s.mark == self.constant_mark else self.now(s)

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).m == 0 and (<const Slot*>slot).mark != self.constant_mark

    cdef double first_weight(self) noexcept nogil:
        return self.norm * of_block(self.top)

    def state_of(self, m):
        """v = w / unseen, as that of a feature that was never seen is 1."""
        import numpy as np
        m.scalars["unseen"] = m.unseen
        unit = [x if x > 0 else m.settings.radius / m.features for x in m.unseen]
        return in_blocks(m, (each_of("log", np.where(m.free, m.w, 1)) - each_of("log", np.array(unit))) / LN2)


cdef class EgPm(Exponentiated):
    """w = w+ - w-: w+_i <- w+_i exp(-eta_t g_i) / Z, w-_i <- w-_i exp(eta_t g_i) / Z, sum w+ + w- = radius

    The two begin as one and are multiplied by f and 1 / f: the slot keeps v+ = v, and v- = 1 / v. With
    v = m 2^(10 block), v- is 1024 / m at block -block - 1.
    """

    TWO_SIDED = True

    cdef inline double now(self, double m, int64_t block) noexcept nogil:
        # The topmost block is at least 0 and at least that of either part.
        return self.norm * (m * of_block(self.top - block) - BLOCK / m * of_block(self.top + block + 1))

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef Slot* s
        cdef double sum = 0
        cdef Example part = iterate(e)
        while next_chunk(&part):
            for i in range(part.size):
                s = <Slot*>part.slots[i]
                if s.mark == self.constant_mark:
                    sum += s.m * part.x[i]
                elif s.m != 0:
                    sum += self.now(s.m, s.block) * part.x[i]
        return e.initial + sum

    cdef double weight(self, const char* slot) noexcept nogil:
        cdef const Slot* s = <const Slot*>slot
        if s.mark == self.constant_mark or s.m == 0:
            return s.m
        return self.now(s.m, s.block)

    def state_of(self, m):
        """w = radius (v - 1 / v) / Z, Z the sum of v + 1 / v over all features: asinh(w Z / (2 radius)) = ln v.

        Z by Newton's method, from below: with z = Z / (2 radius), z radius = sum sqrt(1 + (z w)^2), both sides rising,
        the left one faster.
        """
        import numpy as np
        m.scalars["unseen"] = m.unseen
        radius, logs = m.settings.radius, np.zeros_like(m.w)
        inside = m.free[:, 0]
        for c in range(m.w.shape[1]):
            w = m.w[inside, c]
            untouched, z = m.features - len(w), 0.0
            for _ in range(200):
                root = np.sqrt(1 + (z * w) ** 2)
                slope = radius - total(z * w * w / root)
                step = (untouched + total(root) - z * radius) / slope if slope > 0 else 0.0
                if not step > 1e-15 * z or z + step > 1e100:
                    break
                z += step
            size = np.minimum(np.abs(z * w), 1e150)
            steps = each_of("log1p", size + size * (size / (1 + np.sqrt(1 + size * size))))
            logs[inside, c] = np.copysign(steps, w) / LN2
        return in_blocks(m, logs)


# --- merges -------------------------------------------------------------------------------------


def each_of(name, x):
    """Apply a function to each number, with the same result on every machine (NumPy's functions differ)."""
    import numpy as np
    out = np.array(x, dtype=float, order="C")
    each(name, out.reshape(-1), out.reshape(-1))
    return out


def in_blocks(m, logs):
    """v = m 2^(10 block), from log2 v; the intercept's m is its weight."""
    import numpy as np
    logs = np.where(m.free, np.clip(logs, -1e6, 1e6), 0.0)
    block = np.floor(logs / 10)
    mantissa = np.clip(each_of("exp", (logs - 10 * block) * LN2), 1, np.nextafter(1024, 0))
    return {"block": block, "m": np.where(m.free, mantissa, m.w)}
