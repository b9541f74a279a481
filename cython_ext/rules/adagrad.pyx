"""AdaGrad with a diagonal matrix: every weight has its own rate, eta_t / H_i, H = delta + sqrt(sum of g^2).

Duchi, Hazan, Singer. Adaptive Subgradient Methods for Online Learning and Stochastic Optimization. JMLR 12,
2011; Algorithm 1. Composite mirror descent, eq. 6:

    w_i <- soft(w_i - eta_t g_i / H_i, eta_t l1 / H_i).

H_i is constant while i is untouched, so a weight that misses the steps s has to apply soft(w_i, sum of eta_s l1 / H_i).
With one global number, the shift A = sum of eta_s l1, and z = sign(w) (H |w| + A) in the slot, w = soft(z, A) / H at
any time: no lazy update is pending.

Regularized dual averaging, eq. 5, with G = sum of g:

    w_i = -sign(G_i) (eta_t t / H_i) max(|G_i| / t - l1, 0),

which is eta_t soft(z, A) / H with z = -G and A = t l1.

With --l2 a step is that of the elastic net, eta_t (l1 |w_i| + l2 w_i^2 / 2). Descent:

    w_i <- soft(H_i w_i - eta_t g_i, eta_t l1) / (H_i + eta_t l2).

A missed step is |w| <- (|w| - a / H) / (1 + b / H), a = eta l1, b = eta l2; so |w| + a / b is divided by 1 + b / H, and n
of them leave max(0, |w| q^n - (a / b) (1 - q^n)), q = 1 / (1 + b / H). A slot stores the time of its last update. That
needs constant a and b: where they change, as between passes, all weights are updated first. So the rate must be
constant: for other rates the products cannot be stored as a function of H. Averaging:

    w_i = -sign(G_i) eta_t t / (H_i + eta_t t l2) max(|G_i| / t - l1, 0).

A gradient is that of the whole example. A feature that occurs twice in it, or collides with another, has the sum of
both, and its square goes into S once; so the features of an example are first collected, then updated, then written
back: the update is plain arithmetic on arrays, and writing one feature back twice is harmless.
"""

from libc.math cimport INFINITY, copysign, fabs, fmax, fmin, sqrt
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free

from vwlite.core.rules._averaging cimport (
    History, RunningSum, append, bring_up, close, free_history, mean, reset, shrinking
)
from vwlite.core.base.buffers cimport reserve
from vwlite.core.base.elementary cimport exp, expm1, log1p
from vwlite.core.base.targets cimport *
from vwlite.core.learn.nonzeros cimport Limited, kth_largest
from vwlite.core.learn.prox cimport *
from vwlite.core.rules._gathered cimport CHUNK, Value, add_up, chunk_of, gather_chunks, give_back, met, product
from vwlite.core.learn.rule cimport Example, Outcome, Rule, iterate, learning_rate, next_chunk
from vwlite.core.learn.table cimport next_slot

cdef extern from *:
    """
    VWLITE_CLONES_V3 static void vwlite_adagrad_weigh(size_t n, double shift, const double *restrict z,
            const double *restrict inverse, double *restrict w) {
        for (size_t i = 0; i < n; i++)
            w[i] = copysign(vwlite_positive_part(fabs(z[i]) - shift), z[i]) * inverse[i];
    }

    #define VWLITE_ADAGRAD_STEP(name, Value) \\
        VWLITE_CLONES_V3 static void name(size_t n, const Value *restrict x, double dloss, double eta, double delta, \\
                double shift, const double *restrict w, double *restrict z, double *restrict S, \\
                double *restrict inverse) { \\
            for (size_t i = 0; i < n; i++) { \\
                double g = dloss * x[i], H, moved; \\
                S[i] += g * g; \\
                H = delta + sqrt(S[i]); \\
                moved = w[i] * H - eta * g; \\
                z[i] = moved + copysign(shift, moved); \\
                inverse[i] = 1 / H; \\
            } \\
        }
    VWLITE_ADAGRAD_STEP(vwlite_adagrad_step, float)
    VWLITE_ADAGRAD_STEP(vwlite_adagrad_step_by_sums, double)
    """
    void weigh_all "vwlite_adagrad_weigh"(size_t n, double shift, const double* z, const double* inverse,
                                          double* w) noexcept nogil
    void step_by "vwlite_adagrad_step"(size_t n, const float* x, double dloss, double eta, double delta, double shift,
                                       const double* w, double* z, double* S, double* inverse) noexcept nogil
    void step_by_sums "vwlite_adagrad_step_by_sums"(size_t n, const double* x, double dloss, double eta, double delta,
                                                    double shift, const double* w, double* z, double* S,
                                                    double* inverse) noexcept nogil

cdef double SMALLEST = 2.2250738585072014e-308     # 1 / delta must be finite
cdef double LARGEST = 1e300                         # times 0 it must be 0, which infinity is not


cdef inline double divided(const Slot* s, double shift, uint64_t constant_mark) noexcept nogil:
    """soft(z, shift) / H."""
    return copysign(positive_part(fabs(s.z) - (0 if s.mark == constant_mark else shift)), s.z) * s.inverse


cdef class Adaptive(Limited):
    """The base class: w = scale * soft(z, shift) / H. A subclass implements the update of z, S and the shift."""

    SLOT = [("mark", "<u4"), ("_at", "<u4"), ("z", "<f8"), ("S", "<f8"), ("_inverse", "<f8")]
    SLOT_BYTES = sizeof(Slot)
    WEIGHS_ALONE = True
    SCALARS = ["t", "shift"]

    def __init__(self, loss, *, double delta=1e-8, **schedule):
        super().__init__(loss, **schedule)
        self.delta = max(delta, SMALLEST)
        self.scale = self.example_number = 1

    def __dealloc__(self):
        free(self.visited.x)
        give_back(&self.gathering)

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i, n
        cdef const float* x
        cdef Slot** slots
        cdef double shift = self.shift
        cdef uint64_t constant_mark = self.constant_mark
        cdef double even = 0, odd = 0      # two sums, so that additions overlap
        cdef Example part = iterate(e)
        while next_chunk(&part):
            slots, x, n = <Slot**>part.slots, part.x, part.size
            i = 0
            while i + 1 < n:
                even += divided(slots[i], shift, constant_mark) * x[i]
                odd += divided(slots[i + 1], shift, constant_mark) * x[i + 1]
                i += 2
            if i < n:
                even += divided(slots[i], shift, constant_mark) * x[i]
        return e.initial + self.scale * (even + odd)

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        if e.chunks != NULL:
            return Adaptive.predict(self, e)
        if self.visit(e):
            return 0
        weigh(&self.visited, e.size, self.shift)
        if self.visited.repeated:       # a feature may share the slot of the intercept
            return Adaptive.predict(self, e)
        return e.initial + self.scale * product(self.visited.w, e.x, e.size)

    cdef double weight(self, const char* slot) noexcept nogil:
        return self.scale * divided(<const Slot*>slot, self.shift, self.constant_mark)

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).S == 0 and (<const Slot*>slot).z == 0

    cdef int visit(self, const Example* e) noexcept nogil:
        """Collect the state of the example's features; -1: no memory."""
        cdef size_t i, n = e.size
        cdef Slot** slots = <Slot**>e.slots
        cdef Visit v
        cdef Slot* s
        cdef uint32_t example_number = self.example_number
        cdef bint repeated = False
        if n > self.capacity and self.reserve_visits(n):
            return -1
        v = self.visited
        v.constant_slot = NULL
        for i in range(n):
            s = slots[i]
            repeated |= met(s, example_number)
            v.z[i] = s.z
            v.S[i] = s.S
            v.inverse[i] = s.inverse
        if n > 0 and slots[n - 1].mark == self.constant_mark:
            v.constant_slot, v.constant_at = slots[n - 1], n - 1
        v.repeated = repeated
        self.visited = v
        self.example_number += 1
        return 0

    cdef int reserve_visits(self, size_t n) noexcept nogil:
        """Reserve space for the state of n features; -1: no memory."""
        cdef double* x
        if n <= self.capacity:
            return 0
        if reserve(<void**>&self.visited.x, &self.capacity, n, 5 * sizeof(double)):
            self.out_of_memory = True
            return -1
        x, n = self.visited.x, self.capacity
        self.visited = Visit(x, x + n, x + 2 * n, x + 3 * n, x + 4 * n, NULL, 0, False)
        return 0

    cdef void merge(self, const Example* e) noexcept nogil:
        """Set every occurrence of a feature to the sum of its values."""
        if self.visited.repeated:
            add_up(e.slots, e.x, e.size, self.visited.x)

    cdef void leave(self, const Example* e) noexcept nogil:
        """Write the state of the example's features back."""
        cdef size_t i
        cdef Slot** slots = <Slot**>e.slots
        cdef Visit v = self.visited
        for i in range(e.size):
            slots[i].z = v.z[i]
            slots[i].S = v.S[i]
            slots[i].inverse = v.inverse[i]

    # --- examples that come in chunks --------------------------------------------------------

    cdef int visit_chunk(self, size_t begin, Example* chunk) noexcept nogil:
        """Collect the state of features of the list, from a position on, as if they were an example; -1: no memory."""
        cdef size_t i
        cdef Visit* v = &self.visited
        chunk[0] = Example(min(self.gathering.size - begin, <size_t>CHUNK), self.gathering.slots, NULL, 0, NULL)
        if self.reserve_visits(chunk.size):
            return -1
        chunk_of(&self.gathering, begin, chunk.size, v.x)
        self.visit(chunk)
        v.repeated = True       # x has the sums
        for i in range(chunk.size):
            if (<Slot*>chunk.slots[i]).mark == self.constant_mark:
                v.constant_slot, v.constant_at = <Slot*>chunk.slots[i], i
        weigh(v, chunk.size, self.shift)
        return 0

    cdef void learn_chunks(self, const Example* e, double dloss, double eta) noexcept nogil:
        """Learn each feature of an example once."""
        cdef size_t begin = 0
        cdef Example chunk
        if gather_chunks(&self.gathering, e):
            self.out_of_memory = True
        while begin < self.gathering.size and not self.out_of_memory and not self.visit_chunk(begin, &chunk):
            self.move(&chunk, NULL, dloss, eta)
            begin += CHUNK
        give_back(&self.gathering)

    cdef void learn(self, const Example* e, double dloss, double eta) noexcept nogil:
        """Learn from an example that is visited, if it is not in chunks."""
        if dloss != 0 and e.chunks != NULL:
            self.learn_chunks(e, dloss, eta)
        elif dloss != 0:
            self.merge(e)
            self.move(e, e.x, dloss, eta)

    cdef void move(self, const Example* e, const float* x, double dloss, double eta) noexcept nogil:
        """One step of features that are visited, and their state back. x: NULL if it is the sums of `visited`."""
        pass

    def on_load(self, slots):
        """Slots with their inverses, which are not in a model."""
        whole = bytearray(slots)
        cdef char* data = whole
        cdef Slot* s
        cdef size_t i, step = self.SLOT_BYTES
        for i in range(len(whole) // step):
            s = <Slot*>(data + i * step)
            if not s.S >= 0:
                raise ValueError("a sum of squares is negative")
            s.inverse = 1 / (self.delta + sqrt(s.S))
        return whole


cdef class Adagrad(Adaptive):
    """soft(w - eta g / H, eta l1 / H)"""

    cdef double l1

    def __init__(self, loss, *, double l1=0, **options):
        super().__init__(loss, **options)
        self.l1 = self.strength = l1

    cdef void set_strength(self, double strength) noexcept nogil:
        self.l1 = strength

    cdef double size(self, const char* slot) noexcept nogil:
        return fabs((<const Slot*>slot).z) - self.shift

    cdef double next_strength(self, size_t n, double examples) noexcept nogil:
        return self.next_shrinkage(n, learning_rate(&self.schedule, self.t + 1), examples)

    def state_of(self, m):
        """|z| = H |w| + shift, so that soft(z, shift) / H = w."""
        import numpy as np
        shift = m.of("shift") if "shift" in m.scalars else 0.0
        return {"S": m.S, "z": np.where(m.w == 0, 0, np.copysign(np.abs(m.w) * m.metric + shift, m.w))}

    def restricted(self, m, w):
        """soft(H w, the shrinkage by the shards without the feature) / H"""
        import numpy as np
        v = w * m.metric
        return (np.copysign(np.maximum(np.abs(v) - m.absent * m.free, 0), v) + 0.0) / m.metric

    def shrunk_since(self, now, before):
        """The shrinkage of every H |w| in a shard: its shift, or with --l2 about that many steps of the last one. now,
        before: the numbers of its rule and of the start's, by name."""
        steps = now("t") - before("t")
        return float(now("shift") - before("shift") + steps * now("shrinkage"))

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef double eta, dloss = o.importance * o.dloss
        if self.t >= self.next_recount_t:
            self.adapt_strength()
        self.t += 1
        self.occurrences += e.size
        eta = learning_rate(&self.schedule, self.t)
        self.learn(e, dloss, eta)
        self.shift += eta * self.l1

    cdef void move(self, const Example* e, const float* x, double dloss, double eta) noexcept nogil:
        descend(&self.visited, x, e.size, dloss, eta, self.delta, self.shift)
        self.leave(e)


cdef void weigh(const Visit* v, size_t n, double shift) noexcept nogil:
    """w = soft(z, shift) / H"""
    weigh_all(n, shift, v.z, v.inverse, v.w)
    if v.constant_slot != NULL:      # it is not shrunk
        v.w[v.constant_at] = v.z[v.constant_at] * v.inverse[v.constant_at]


cdef void descend(const Visit* v, const float* x, size_t n, double dloss, double eta, double delta,
                  double shift) noexcept nogil:
    """S += g^2; H w <- H w - eta g, for the new H."""
    cdef size_t i = v.constant_at
    cdef double g, constant_z = 0
    if v.constant_slot != NULL:
        g = dloss * (v.x[i] if v.repeated else x[i])
        constant_z = v.w[i] * (delta + sqrt(v.constant_slot.S + g * g)) - eta * g
    if v.repeated:
        step_by_sums(n, v.x, dloss, eta, delta, shift, v.w, v.z, v.S, v.inverse)
    else:
        step_by(n, x, dloss, eta, delta, shift, v.w, v.z, v.S, v.inverse)
    if v.constant_slot != NULL:
        v.z[i] = constant_z


cdef struct ElasticSlot:
    Slot slot             # z = H w, as it was
    double since          # number of examples at that time


cdef class ElasticAdagrad(Adagrad):
    """soft(H w - eta g, eta l1) / (H + eta l2), at a constant rate"""

    SLOT = [*Adagrad.SLOT, ("since", "<f8")]
    SLOT_BYTES = sizeof(ElasticSlot)
    SCALARS = ["t", "shrinkage", "damping"]

    cdef public double shrinkage  # eta l1 of the last example, ...
    cdef public double damping    # ... and eta l2
    cdef double l2

    def __init__(self, loss, *, double l2, **options):
        super().__init__(loss, **options)
        self.l2 = l2

    cdef inline double left(self, const ElasticSlot* s) noexcept nogil:
        """The weight with all pending lazy updates."""
        cdef double w = s.slot.z * s.slot.inverse, missed = self.t - s.since, ratio, decay, part, lost
        if w == 0 or missed == 0 or s.slot.mark == self.constant_mark:
            return w
        ratio = self.shrinkage / self.damping
        if not ratio < INFINITY:        # damping is too small for a double
            return copysign(fmax(fabs(w) - missed * self.shrinkage * s.slot.inverse, 0), w) + 0.0
        decay = missed * log1p(self.damping * s.slot.inverse)
        if decay < 0.7:                 # 1 - q^n keeps its digits
            lost = -expm1(-decay)
            part = 1 - lost
        else:
            part = exp(-decay)
            lost = 1 - part
        return copysign(fmax(fabs(w) * part - ratio * lost, 0), w) + 0.0     # never -0

    cdef double size(self, const char* slot) noexcept nogil:
        return fabs(self.left(<const ElasticSlot*>slot)) * (self.delta + sqrt((<const Slot*>slot).S))

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i, n
        cdef const float* x
        cdef ElasticSlot** slots
        cdef double even = 0, odd = 0
        cdef Example part = iterate(e)
        while next_chunk(&part):
            slots, x, n = <ElasticSlot**>part.slots, part.x, part.size
            i = 0
            while i + 1 < n:
                even += self.left(slots[i]) * x[i]
                odd += self.left(slots[i + 1]) * x[i + 1]
                i += 2
            if i < n:
                even += self.left(slots[i]) * x[i]
        return e.initial + (even + odd)

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        if e.chunks != NULL:
            return self.predict(e)
        if self.visit(e):
            return 0
        self.bring_up(e)
        return e.initial + product(self.visited.w, e.x, e.size)

    cdef void bring_up(self, const Example* e) noexcept nogil:
        """Fill in the weights of the features that are visited."""
        cdef size_t i
        for i in range(e.size):
            self.visited.w[i] = self.left(<ElasticSlot*>e.slots[i])

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef double eta, shrinkage, damping, dloss = o.importance * o.dloss
        if self.t >= self.next_recount_t:
            self.adapt_strength()
        self.occurrences += e.size
        eta = learning_rate(&self.schedule, self.t + 1)
        shrinkage, damping = fmin(eta * self.l1, LARGEST), fmin(eta * self.l2, LARGEST)
        if shrinkage != self.shrinkage or damping != self.damping:
            self.bring_all_up()
            self.shrinkage, self.damping = shrinkage, damping
        self.learn(e, dloss, eta)
        self.t += 1

    cdef void move(self, const Example* e, const float* x, double dloss, double eta) noexcept nogil:
        """Without the shrinkage that applies to all features."""
        cdef size_t i
        if x == NULL:       # else the weights are up to date since the prediction
            self.bring_up(e)
        descend(&self.visited, x, e.size, dloss, eta, self.delta, 0)
        self.leave(e)
        for i in range(e.size):
            (<ElasticSlot*>e.slots[i]).since = self.t

    cdef void bring_all_up(self) noexcept nogil:
        """Apply pending updates to all weights before the rate or a regularization strength changes."""
        cdef char* slot = NULL
        cdef ElasticSlot* s
        cdef double w
        while next_slot(self.table, &slot):
            if self.is_default(slot):
                continue
            s = <ElasticSlot*>slot
            w = self.left(s)
            s.slot.z = w * (self.delta + sqrt(s.slot.S)) if w != 0 else 0
            s.since = self.t

    cdef double weight(self, const char* slot) noexcept nogil:
        return self.left(<const ElasticSlot*>slot)

    def load(self, scalars, slots):
        cdef char* slot = NULL
        super().load(scalars, slots)
        while next_slot(self.table, &slot):
            if not 0 <= (<ElasticSlot*>slot).since <= self.t:
                raise ValueError("a weight is of a time that was not")


cdef struct AveragedSlot:
    Slot slot
    RunningSum total


cdef class AveragedAdagrad(Adagrad):
    """The mean of the weights of AdaGrad: see _averaging.pxd; the shrinking size is |z|"""

    SLOT = [*Adagrad.SLOT, ("sum", "<f8"), ("since", "<f8"), ("area", "<f8")]
    SLOT_BYTES = sizeof(AveragedSlot)
    SCALARS = [*Adagrad.SCALARS, "area"]

    cdef public double area       # the sum of the shifts after 0, ..., t - 1 examples
    cdef History history

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.reset_history()

    def __dealloc__(self):
        free_history(&self.history)

    cdef void reset_history(self) noexcept nogil:
        if reset(&self.history, self.t, self.shift, self.area):
            self.out_of_memory = True

    cdef inline double pending(self, const AveragedSlot* s) noexcept nogil:
        """The contribution of the examples since the last touch to the sum."""
        cdef double sum
        if s.slot.z == 0:
            return 0
        if s.slot.mark == self.constant_mark:
            return (self.t - s.total.since) * s.slot.z * s.slot.inverse
        sum = shrinking(&self.history, &s.total, fabs(s.slot.z), 0, self.shift, self.t, self.area)
        return copysign(sum, s.slot.z) * s.slot.inverse

    cdef inline bint is_zero(self, const AveragedSlot* s) noexcept nogil:
        return fabs(s.slot.z) <= (0 if s.slot.mark == self.constant_mark else self.shift)

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        self.area += self.shift
        Adagrad.update(self, e, o)
        if append(&self.history, self.shift, self.area):
            self.out_of_memory = True
        if self.history.size > self.table.capacity:
            self.close_zero_sums()

    cdef void move(self, const Example* e, const float* x, double dloss, double eta) noexcept nogil:
        cdef size_t i
        cdef AveragedSlot* s
        for i in range(e.size):
            s = <AveragedSlot*>e.slots[i]
            bring_up(&s.total, self.pending(s), self.t, self.area)
            if self.is_zero(s):
                s.slot.z = 0
        Adagrad.move(self, e, x, dloss, eta)

    cdef void close_zero_sums(self) noexcept nogil:
        """Close the sums of the weights that have become zero."""
        cdef char* slot = NULL
        cdef AveragedSlot* s
        while next_slot(self.table, &slot):
            s = <AveragedSlot*>slot
            if s.slot.z != 0 and self.is_zero(s):
                close(&s.total, self.pending(s))
                s.slot.z = 0
        self.reset_history()

    def flush(self):
        """No sum of a zero weight stays open: the history is not saved."""
        self.close_zero_sums()

    def load(self, scalars, slots):
        super().load(scalars, slots)
        self.reset_history()

    cdef double predict(self, const Example* e) noexcept nogil:
        return Rule.predict(self, e)

    cdef double weight(self, const char* slot) noexcept nogil:
        cdef const AveragedSlot* s = <const AveragedSlot*>slot
        return mean(&s.total, self.pending(s), self.t)


cdef class AdagradRda(Adaptive):
    """-eta t soft(G / t, l1) / H"""

    SCALARS = ["t", "shift", "scale"]

    cdef double l1

    def __init__(self, loss, *, double l1=0, **options):
        super().__init__(loss, **options)
        self.l1 = self.strength = l1

    cdef void set_strength(self, double strength) noexcept nogil:
        self.l1 = strength

    cdef void update_state(self) noexcept nogil:
        self.shift = self.t * self.l1

    cdef double size(self, const char* slot) noexcept nogil:
        return fabs((<const Slot*>slot).z)

    cdef double next_strength(self, size_t n, double examples) noexcept nogil:
        return kth_largest(self.sizes, n, <size_t>self.target_count() + 1) / self.t if n > self.target_count() else 0

    def state_of(self, m):
        """|z| = |w| (H + scale t l2) / scale + shift; where w = 0, the sum of z, clipped so that w stays 0."""
        import numpy as np
        m.scalars["shift"] = [t * l1 for t, l1 in zip(m.scalars["t"], m.strengths("l1"), strict=True)]
        shift, scale = m.of("shift"), np.asarray(m.scalars["scale"])
        damping = scale * m.of("t") * m.settings.l2
        nonzero = np.copysign(np.abs(m.w) * (m.metric + damping) / scale + shift, m.w)
        return {"S": m.S, "z": np.where(m.w == 0, np.clip(m.extra, -shift, shift), nonzero)}

    def restricted(self, m, w):
        return m.supported(w, m.l1 * m.scalars["t"])

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        if self.t >= self.next_recount_t:
            self.adapt_strength()
        self.t += 1
        self.learn(e, o.importance * o.dloss, 0)
        self.shift += self.l1
        self.scale = learning_rate(&self.schedule, self.t)

    cdef void move(self, const Example* e, const float* x, double dloss, double eta) noexcept nogil:
        average(&self.visited, x, e.size, dloss, self.delta)
        self.leave(e)


cdef inline void average_by(const Visit* v, const Value* x, size_t n, double dloss, double delta) noexcept nogil:
    cdef size_t i
    cdef double* z = v.z
    cdef double* S = v.S
    cdef double* inverse = v.inverse
    cdef double g
    for i in range(n):
        g = dloss * x[i]
        S[i] += g * g
        z[i] -= g
        inverse[i] = 1 / (delta + sqrt(S[i]))


cdef void average(const Visit* v, const float* x, size_t n, double dloss, double delta) noexcept nogil:
    """S += g^2; z -= g"""
    if v.repeated:
        average_by(v, <const double*>v.x, n, dloss, delta)
    else:
        average_by(v, x, n, dloss, delta)


cdef class ElasticAdagradRda(AdagradRda):
    """-eta t soft(G / t, l1) / (H + eta t l2)"""

    cdef double l2

    def __init__(self, loss, *, double l2, **options):
        super().__init__(loss, **options)
        self.l2 = l2

    cdef inline double now(self, const Slot* s) noexcept nogil:
        cdef double w = self.scale * divided(s, self.shift, self.constant_mark)
        return w if s.mark == self.constant_mark else w / (1 + fmin(self.scale * self.t * self.l2, LARGEST) * s.inverse)

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i, n
        cdef const float* x
        cdef Slot** slots
        cdef double even = 0, odd = 0
        cdef Example part = iterate(e)
        while next_chunk(&part):
            slots, x, n = <Slot**>part.slots, part.x, part.size
            i = 0
            while i + 1 < n:
                even += self.now(slots[i]) * x[i]
                odd += self.now(slots[i + 1]) * x[i + 1]
                i += 2
            if i < n:
                even += self.now(slots[i]) * x[i]
        return e.initial + (even + odd)

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        if e.chunks == NULL and self.visit(e):
            return 0
        return self.predict(e)

    cdef double weight(self, const char* slot) noexcept nogil:
        return self.now(<const Slot*>slot)


# --- in the hypercube |w_i| <= box: a minimum over it is the clipped one, as the coordinates do not depend on each other

cdef class BoxAdagrad(Adagrad):
    """clip(soft(w - eta g / H, eta l1 / H), box)

    Without a gradient a weight only shrinks, so that only features of the example are clipped.
    """

    cdef double box

    def __init__(self, loss, *, double box, **options):
        super().__init__(loss, **options)
        self.box = box

    def restricted(self, m, w):
        import numpy as np
        return np.where(m.free, np.clip(super().restricted(m, w), -self.box, self.box), w)

    cdef void move(self, const Example* e, const float* x, double dloss, double eta) noexcept nogil:
        cdef size_t i
        cdef Visit v = self.visited
        cdef double shift = self.shift + eta * self.l1
        descend(&v, x, e.size, dloss, eta, self.delta, self.shift)
        for i in range(e.size):
            if (<Slot*>e.slots[i]).mark != self.constant_mark:
                v.z[i] = copysign(fmin(fabs(v.z[i]), self.box / v.inverse[i] + shift), v.z[i])
        self.leave(e)


cdef class BoxAdagradRda(AdagradRda):
    """clip(-eta t soft(G / t, l1) / H, box)"""

    cdef double box

    def __init__(self, loss, *, double box, **options):
        super().__init__(loss, **options)
        self.box = box

    def state_of(self, m):
        """A weight at the border of the box has the sum of the shards' z, if that is beyond the border."""
        import numpy as np
        found = super().state_of(m)
        z, beyond = found["z"], m.free & (np.abs(m.w) >= self.box) & (m.extra * m.w > 0)
        return found | {"z": np.where(beyond, np.copysign(np.maximum(np.abs(z), np.abs(m.extra)), z), z)}

    def restricted(self, m, w):
        import numpy as np
        return np.where(m.free, np.clip(super().restricted(m, w), -self.box, self.box), w)

    cdef double predict(self, const Example* e) noexcept nogil:
        return Rule.predict(self, e)

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        return 0 if e.chunks == NULL and self.visit(e) else Rule.predict(self, e)

    cdef double weight(self, const char* slot) noexcept nogil:
        cdef double w = self.scale * divided(<const Slot*>slot, self.shift, self.constant_mark)
        return w if (<const Slot*>slot).mark == self.constant_mark else fmin(fmax(w, -self.box), self.box)
