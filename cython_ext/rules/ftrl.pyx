"""FTRL-Proximal: follow the (proximally) regularised leader, with a rate for each coordinate.

McMahan et al. Ad Click Prediction: a View from the Trenches. KDD 2013; algorithm 1.

    w_i = 0 if |z_i| <= l1, else -(z_i - sgn(z_i) l1) / ((beta + sqrt(n_i)) / alpha + l2),
    sigma = (sqrt(n_i + g_i^2) - sqrt(n_i)) / alpha,    z_i <- z_i + g_i - sigma w_i,    n_i <- n_i + g_i^2.

A weight is a function of z and n, without lazy updates; it is stored beside them, so that a prediction costs
only a product. The root of n is stored instead of n. The intercept has neither l1 nor l2.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport uint32_t
from libc.stdlib cimport free

from vwlite.core.base.buffers cimport reserve
from vwlite.core.base.targets cimport *
from vwlite.core.learn.nonzeros cimport Limited, kth_largest
from vwlite.core.learn.prox cimport *
from vwlite.core.rules._gathered cimport (
    CHUNK, Gathering, add_up, chunk_of, dot, gather_chunks, give_back, met, product,
)
from vwlite.core.learn.rule cimport Example, Outcome, iterate, next_chunk
from vwlite.core.learn.table cimport next_slot


cdef struct Slot:
    uint32_t mark
    uint32_t at         # see _gathered.pxd
    double w            # function of z and n
    double z
    double root         # sqrt(n), n the sum of g^2


cdef struct FtrlColumns:
    # Copies of the slots of an example, as arrays for vector instructions; owned by the rule, [capacity].
    double* x           # summed over all places where the feature occurs, if some feature occurs twice
    double* z
    double* root
    double* w
    size_t capacity
    size_t constant_at  # the position of the intercept; beyond the example, if it has none
    bint repeated       # some feature occurs twice


cdef extern from *:
    """
    static inline double vwlite_ftrl_weight(double z, double root, double inverse_alpha, double beta, double l1,
            double l2) {
        return vwlite_soft_threshold(-z, l1) / ((beta + root) * inverse_alpha + l2);
    }

    /* One step of all coordinates, g = step x. */
    #define VWLITE_FTRL_FOLLOW(name, Value) \\
        VWLITE_CLONES_V3 static void name(size_t n, const Value *restrict x, double step, double inverse_alpha, \\
                double beta, double l1, double l2, double *restrict z, double *restrict root, double *restrict w) { \\
            for (size_t i = 0; i < n; i++) { \\
                double g = step * x[i], before = root[i]; \\
                root[i] = sqrt(before * before + g * g); \\
                z[i] += g - (root[i] - before) * inverse_alpha * w[i]; \\
                w[i] = vwlite_ftrl_weight(z[i], root[i], inverse_alpha, beta, l1, l2); \\
            } \\
        }
    VWLITE_FTRL_FOLLOW(vwlite_ftrl_follow, float)
    VWLITE_FTRL_FOLLOW(vwlite_ftrl_follow_sums, double)
    """
    double ftrl_weight "vwlite_ftrl_weight"(double z, double root, double inverse_alpha, double beta, double l1,
                                            double l2) noexcept nogil
    void follow "vwlite_ftrl_follow"(size_t n, const float* x, double step, double inverse_alpha, double beta,
                                     double l1, double l2, double* z, double* root, double* w) noexcept nogil
    void follow_sums "vwlite_ftrl_follow_sums"(size_t n, const double* x, double step, double inverse_alpha,
                                               double beta, double l1, double l2, double* z, double* root,
                                               double* w) noexcept nogil


cdef class Ftrl(Limited):
    """argmin <sum of g, w> + sum of sigma (w - w_s)^2 / 2 + l1 |w| + l2 w^2 / 2"""

    SLOT = [("mark", "<u4"), ("_at", "<u4"), ("_w", "<f8"), ("z", "<f8"), ("root", "<f8")]
    SLOT_BYTES = sizeof(Slot)
    WEIGHS_ALONE = True

    cdef double inverse_alpha, beta, l1, l2
    cdef bint merging
    cdef FtrlColumns columns
    cdef Gathering gathering  # of an example that comes in chunks
    cdef uint32_t example_number   # in a cycle: it only says which features occur twice

    def __init__(self, loss, *, double ftrl_alpha=0.5, double ftrl_beta=1, double l1=0, double l2=0,
                 bint merging=True, **schedule):
        """merging: whether the values of a feature that occurs twice in an example are added up, or learned one
        after the other, as in Vowpal Wabbit."""
        super().__init__(loss, **schedule)
        self.merging = merging
        self.inverse_alpha, self.beta, self.l1, self.l2 = 1 / ftrl_alpha, ftrl_beta, l1, l2
        self.strength = l1
        self.example_number = 1

    def __dealloc__(self):
        free(self.columns.x)
        give_back(&self.gathering)

    def load(self, scalars, slots):
        """Continue from `scalars()` and `slots()`."""
        super().load(scalars, slots)
        self.update_state()

    cdef void set_strength(self, double strength) noexcept nogil:
        self.l1 = strength

    cdef void update_state(self) noexcept nogil:
        cdef char* slot = NULL
        cdef Slot* s
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if s.z != 0 or s.root != 0:
                s.w = self.derived(s)

    cdef double size(self, const char* slot) noexcept nogil:
        return fabs((<const Slot*>slot).z)

    cdef double next_strength(self, size_t n, double examples) noexcept nogil:
        return kth_largest(self.sizes, n, <size_t>self.target_count() + 1) if n > self.target_count() else 0

    cdef inline double derived(self, const Slot* s) noexcept nogil:
        """The weight computed from z and n."""
        if s.mark != self.constant_mark and fabs(s.z) <= self.l1:
            return 0
        if s.mark == self.constant_mark:
            return ftrl_weight(s.z, s.root, self.inverse_alpha, self.beta, 0, 0)
        return ftrl_weight(s.z, s.root, self.inverse_alpha, self.beta, self.l1, self.l2)

    def state_of(self, m):
        """|z| = |w| ((beta + root) / alpha + l2) + l1; where w = 0, the sum of z, clipped so that w stays 0."""
        import numpy as np
        s, root = m.settings, np.sqrt(m.S)
        size = np.abs(m.w) * ((s.ftrl_beta + root) / s.ftrl_alpha + s.l2 * m.free) + m.l1
        return {"root": root, "z": np.where(m.w == 0, np.clip(m.extra, -m.l1, m.l1), -np.copysign(size, m.w))}

    def restricted(self, m, w):
        return m.supported(w, m.l1)

    cdef double predict(self, const Example* e) noexcept nogil:
        return e.initial + dot(e)

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        if not self.merging or e.chunks != NULL:
            return self.predict(e)
        if self.visit(e):
            return 0
        return e.initial + product(self.columns.w, e.x, e.size)

    cdef int visit(self, const Example* e) noexcept nogil:
        """Collect the state of the example's features; -1: no memory."""
        cdef size_t i
        cdef Slot** slots = <Slot**>e.slots
        cdef Slot* s
        cdef FtrlColumns c
        cdef uint32_t example_number = self.example_number
        cdef bint repeated = False
        if e.size > self.columns.capacity and self.grow(e.size):
            self.out_of_memory = True
            return -1
        c = self.columns
        c.constant_at = e.size
        for i in range(e.size):
            s = slots[i]
            repeated |= met(s, example_number)
            c.z[i] = s.z
            c.root[i] = s.root
            c.w[i] = s.w
        if e.size > 0 and slots[e.size - 1].mark == self.constant_mark:
            c.constant_at = e.size - 1
        c.repeated = repeated
        self.columns = c
        self.example_number += 1
        return 0

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef double step = o.importance * o.dloss
        if self.t >= self.next_recount_t:
            self.adapt_strength()
            if self.merging and e.chunks == NULL and self.visit(e):      # the weights have changed
                return
        self.t += 1
        if not self.merging:
            self.update_one_by_one(e, step)
            return
        if step == 0:
            return
        if e.chunks != NULL:
            self.learn_chunks(e, step)
            return
        if self.columns.repeated:
            add_up(e.slots, e.x, e.size, self.columns.x)
        self.learn(e, step)

    cdef void learn(self, const Example* e, double step) noexcept nogil:
        """Learn features that are visited."""
        cdef size_t i
        cdef Slot* s
        cdef FtrlColumns c = self.columns
        if c.repeated:
            follow_sums(e.size, c.x, step, self.inverse_alpha, self.beta, self.l1, self.l2, c.z, c.root, c.w)
        else:
            follow(e.size, e.x, step, self.inverse_alpha, self.beta, self.l1, self.l2, c.z, c.root, c.w)
        i = c.constant_at
        if i < e.size:
            c.w[i] = ftrl_weight(c.z[i], c.root[i], self.inverse_alpha, self.beta, 0, 0)
        for i in range(e.size):
            s = (<Slot**>e.slots)[i]
            s.z = c.z[i]
            s.root = c.root[i]
            s.w = c.w[i]

    cdef void learn_chunks(self, const Example* e, double step) noexcept nogil:
        """Learn each feature of an example once."""
        cdef size_t i, begin = 0
        cdef Gathering* g = &self.gathering
        cdef Example chunk = e[0]
        chunk.chunks = NULL
        if gather_chunks(g, e) or (CHUNK > self.columns.capacity and self.grow(CHUNK)):
            self.out_of_memory = True
        while begin < g.size and not self.out_of_memory:
            chunk.slots, chunk.size = g.slots, min(g.size - begin, <size_t>CHUNK)
            chunk_of(g, begin, chunk.size, self.columns.x)
            self.visit(&chunk)
            self.columns.repeated = True        # x has the sums
            for i in range(chunk.size):
                if (<Slot*>chunk.slots[i]).mark == self.constant_mark:
                    self.columns.constant_at = i
            self.learn(&chunk, step)
            begin += CHUNK
        give_back(g)

    cdef void update_one_by_one(self, const Example* e, double step) noexcept nogil:
        cdef size_t i
        cdef Slot* s
        cdef double g, before
        cdef Example part = iterate(e)
        while next_chunk(&part):
            for i in range(part.size):
                s = <Slot*>part.slots[i]
                g, before = step * part.x[i], s.root
                s.root = sqrt(before * before + g * g)
                s.z += g - (s.root - before) * self.inverse_alpha * s.w
                s.w = self.derived(s)

    cdef int grow(self, size_t n) noexcept nogil:
        """Reserve space for longer examples; -1: no memory."""
        cdef double* x
        if reserve(<void**>&self.columns.x, &self.columns.capacity, n, 4 * sizeof(double)):
            return -1
        x, n = self.columns.x, self.columns.capacity
        self.columns = FtrlColumns(x, x + n, x + 2 * n, x + 3 * n, n, 0, False)
        return 0

    cdef double weight(self, const char* slot) noexcept nogil:
        return self.derived(<const Slot*>slot)

    cdef bint is_default(self, const char* slot) noexcept nogil:
        cdef const Slot* s = <const Slot*>slot
        return s.z == 0 and s.root == 0 and s.w == 0
