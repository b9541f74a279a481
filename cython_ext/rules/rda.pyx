"""Regularized dual averaging: w_i = -eta_t t sign(G_i) max(|G_i| / t - l1, 0), G = sum of g, with one rate for all.

Xiao. Dual Averaging Methods for Regularized Stochastic Learning and Online Optimization. JMLR 11, 2010; section 2.2. In
Duchi, Hazan, Singer. Adaptive Subgradient Methods. JMLR 12, 2011 it is eq. 5 with psi_t = sqrt t ||w||^2 / 2, which
adagrad-rda is compared with. At the usual eta_t = eta / sqrt t the factor eta_t t is eta sqrt t.

As for adagrad-rda, with z = -G and the shift A = t l1, w = eta_t soft(z, A): no lazy update is pending.
"""

from libc.math cimport fabs
from libc.stdint cimport uint32_t

from vwlite.core.learn.nonzeros cimport Limited, kth_largest
from vwlite.core.learn.prox cimport soft_threshold
from vwlite.core.learn.rule cimport Example, Outcome, iterate, learning_rate, next_chunk


cdef struct Slot:
    uint32_t mark
    double z            # the sum of -g


cdef class Rda(Limited):
    """-eta_t t soft(G / t, l1)"""

    SLOT = [("mark", "<u4"), ("z", "<f8")]
    SLOT_BYTES = sizeof(Slot)
    WEIGHS_ALONE = True
    SCALARS = ["t", "shift", "scale"]

    cdef public double shift      # t l1
    cdef public double scale      # eta_t
    cdef double l1

    def __init__(self, loss, *, double l1=0, **schedule):
        super().__init__(loss, **schedule)
        self.l1 = self.strength = l1
        self.scale = 1

    cdef void set_strength(self, double strength) noexcept nogil:
        self.l1 = strength

    cdef void update_state(self) noexcept nogil:
        self.shift = self.t * self.l1

    cdef double size(self, const char* slot) noexcept nogil:
        return fabs((<const Slot*>slot).z)

    cdef double next_strength(self, size_t n, double examples) noexcept nogil:
        return kth_largest(self.sizes, n, <size_t>self.target_count() + 1) / self.t if n > self.target_count() else 0

    def state_of(self, m):
        """|z| = |w| / scale + shift; where w = 0, the sum of z, clipped so that w stays 0."""
        import numpy as np
        m.scalars["shift"] = [t * l1 for t, l1 in zip(m.scalars["t"], m.strengths("l1"), strict=True)]
        shift = m.of("shift")
        nonzero = np.copysign(np.abs(m.w) / np.asarray(m.scalars["scale"]) + shift, m.w)
        return {"z": np.where(m.w == 0, np.clip(m.extra, -shift, shift), nonzero)}

    def restricted(self, m, w):
        return m.supported(w, m.l1 * m.scalars["t"])

    cdef inline double now(self, const Slot* s) noexcept nogil:
        """The weight, over eta_t."""
        return soft_threshold(s.z, 0 if s.mark == self.constant_mark else self.shift)

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef const float* x
        cdef Slot** slots
        cdef double sum = 0
        cdef Example part = iterate(e)
        while next_chunk(&part):
            slots, x = <Slot**>part.slots, part.x
            for i in range(part.size):
                sum += self.now(slots[i]) * x[i]
        return e.initial + self.scale * sum

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i
        cdef const float* x
        cdef Slot** slots
        cdef double step = -o.importance * o.dloss
        cdef Example part = iterate(e)
        if self.t >= self.next_recount_t:
            self.adapt_strength()
        self.t += 1
        while step != 0 and next_chunk(&part):
            slots, x = <Slot**>part.slots, part.x
            for i in range(part.size):
                slots[i].z += step * x[i]
        self.shift += self.l1
        self.scale = learning_rate(&self.schedule, self.t)

    cdef double weight(self, const char* slot) noexcept nogil:
        return self.scale * self.now(<const Slot*>slot)

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).z == 0
