"""AdaGrad with the full matrix: S = delta I + G^(1/2), G = sum of g g^T, replaces the individual rates.

Duchi, Hazan, Singer. Adaptive Subgradient Methods for Online Learning and Stochastic Optimization. JMLR 12,
2011; eq. 1, 5 and 6. With c = eta_t l1 and ||v||_S^2 = v^T S v,

    cmd:  w <- argmin eta_t <g, w> + c ||w||_1 + ||w - w_t||_S^2 / 2
    rda:  w <- argmin eta_t <sum of g, w> + t c ||w||_1 + ||w||_S^2 / 2,

Without l1 these are w_t - eta_t S^-1 g and -eta_t S^-1 (sum of g). With l1 both are min w^T S w / 2 - b^T w + c
||w||_1, solved exactly by the feature-sign search of Lee, Battle, Raina, Ng (Efficient Sparse Coding Algorithms, NIPS
2006).

The matrices cover the features seen so far, in the order of appearance. The root is recomputed after every `root_every`
gradients, and at once if the old root would make a step S^-1 g longer than 1, which is impossible with a new one
(g g^T <= G). Otherwise a gradient outside of the range of the old G would be divided by delta alone.

A step costs O(n^2) for n features, a root O(n^3): it is for few features, and raises an error if there are more.
"""

from libc.stdint cimport uint32_t

from vwlite.core.base.dense import add_outer_products, dot, eigenvectors, solve, times, times_transposed
from vwlite.core.learn.rule cimport Example, Outcome, Rule, iterate, learning_rate, next_chunk
from vwlite.core.learn.table cimport next_slot

cdef enum:
    MOST = 4096
    OVERSIZED = 1 << 20      # features of an example: above this, more than MOST of their gradients are not zero

ARRAYS = {"w": 1, "sums": 1, "G": 2, "basis": 2, "root": 1}     # and their dimensions
np = None


def import_numpy():
    """Import on first use: the other rules start faster without it."""
    global np
    import numpy
    np = numpy


cdef struct Slot:
    uint32_t mark
    uint32_t place      # of the feature in the arrays, from 1; 0: no gradient so far


cdef class AdagradFull(Rule):
    """Mirror descent or dual averaging in the norm of delta I + G^(1/2)"""

    SLOT = [("mark", "<u4"), ("place", "<u4")]
    SLOT_BYTES = sizeof(Slot)
    SCALARS = ["t", "shift", "age"]
    MOST_FEATURES = MOST

    cdef public double shift      # sum of l1
    cdef public size_t age        # gradients since the last computation of the root
    cdef double l1, delta
    cdef bint averages
    cdef size_t root_every
    cdef size_t n                 # features with a place
    cdef object penalized         # [n] 1, or 0 for the intercept
    cdef object w, sums           # [n]
    cdef object G                 # [n, n]
    cdef object vectors, root     # [m, m], [m]: eigenvectors, a row each, and the roots of eigenvalues; m <= n
    cdef double[::1] now          # w

    def __init__(self, loss, *, update="cmd", double l1=0, double delta=1e-8, size_t root_every=1, **schedule):
        import_numpy()
        super().__init__(loss, **schedule)
        self.averages = {"cmd": False, "rda": True}[update]
        self.l1, self.delta, self.root_every = l1, delta, root_every
        self.put({name: np.zeros((0,) * dimensions) for name, dimensions in ARRAYS.items()})
        self.penalized = np.zeros(0)

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef Slot** slots
        cdef double sum = 0
        cdef Example part = iterate(e)
        while next_chunk(&part):
            slots = <Slot**>part.slots
            for i in range(part.size):
                if slots[i].place:
                    sum += self.now[slots[i].place - 1] * part.x[i]
        return e.initial + sum

    cdef double weight(self, const char* slot) noexcept nogil:
        cdef uint32_t place = (<const Slot*>slot).place
        return self.now[place - 1] if place else 0

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).place == 0

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef double eta
        self.t += 1
        self.shift += self.l1
        eta = learning_rate(&self.schedule, self.t)
        with gil:
            try:
                g = self.gradient(e, o.importance * o.dloss)
                if not self.too_many and self.n:
                    self.step(g, eta)
            except MemoryError:
                self.out_of_memory = True
            except BaseException as fault:  # G is not finite, or a bug, which is printed: both end the run
                self.w[:] = np.nan
                if not isinstance(fault, ArithmeticError):
                    raise

    cdef gradient(self, const Example* e, double dloss):
        """The gradient as a vector; new features get a place in it if their gradient is not zero."""
        cdef size_t i
        cdef Slot* s
        cdef size_t before = self.n
        cdef Example part = iterate(e)
        sums = {}
        while (dloss != 0 or e.chunks == NULL) and next_chunk(&part):
            for i in range(part.size):
                key = <size_t>part.slots[i]
                sums[key] = sums.get(key, 0.0) + dloss * part.x[i]
            if e.chunks != NULL and len(sums) > OVERSIZED:
                self.too_many = True
                return None
        for key, x in sums.items():
            s = <Slot*><size_t>key
            if s.place == 0 and x != 0:
                if self.n == MOST:
                    self.too_many = True
                    return None
                self.n += 1
                s.place = <uint32_t>self.n
                self.penalized = np.append(self.penalized, 0.0 if s.mark == self.constant_mark else 1.0)
        if self.n > before:
            self.put({"w": np.append(self.w, np.zeros(self.n - before)),
                      "sums": np.append(self.sums, np.zeros(self.n - before)),
                      "G": np.pad(self.G, (0, self.n - before)), "basis": self.vectors.T, "root": self.root})
        g = np.zeros(self.n)
        for key, x in sums.items():
            if (<Slot*><size_t>key).place:
                g[(<Slot*><size_t>key).place - 1] = x
        return g

    def step(self, g, double eta):
        """Learn from the gradient g."""
        cdef bint moved = g.any()
        direction = None
        if moved:
            touched = np.flatnonzero(g)
            self.G[np.ix_(touched, touched)] += np.outer(g[touched], g[touched])
            self.sums += g
            self.age += 1
            if self.age < self.root_every:
                direction = self.divided(g)
            if direction is None or dot(direction, direction) > 1 + 2e-9:
                self.make_root()
                direction = self.divided(g)
        if self.averages:
            if self.l1 == 0:
                self.w[:] = -eta * self.divided(self.sums)
            else:
                self.w[:] = feature_sign(self.matrix(), -eta * self.sums, eta * self.shift * self.penalized, self.w)
        elif self.l1 != 0:
            S = self.matrix()
            self.w[:] = feature_sign(S, product(S, self.w) - eta * g, eta * self.l1 * self.penalized, self.w)
        elif moved:
            self.w -= eta * direction

    cdef make_root(self):
        self.vectors, values = self.G.copy(), np.empty(self.n)
        eigenvectors(self.vectors, values)
        # Directions below the precision of the largest are treated as zero.
        values[values < values[values.size - 1] * values.size * np.finfo(float).eps] = 0
        self.root = np.sqrt(values)
        self.age = 0

    cdef divided(self, v):
        """S^-1 v"""
        cdef size_t m = self.root.size
        parts = product(self.vectors, v[:m]) / (self.delta + self.root)
        if self.age == 0:       # v is in the range of G, but for its last digits
            parts[self.root == 0] = 0
        out = np.empty(m)
        times_transposed(self.vectors, parts, out)
        return np.append(out, v[m:] / self.delta)

    cdef matrix(self):
        """S"""
        S = np.diag(np.full(self.n, self.delta))
        add_outer_products(S, self.root, self.vectors)
        return S

    # --- state -------------------------------------------------------------------------------

    cdef put(self, arrays):
        self.w, self.sums, self.G, basis, self.root = (arrays[name] for name in ARRAYS)
        self.vectors = np.ascontiguousarray(basis.T)
        self.now = self.w

    def scalars(self):
        own = {"w": self.w, "sums": self.sums, "G": self.G, "basis": self.vectors.T, "root": self.root}
        return super().scalars() | {name: memoryview(array.flatten()) for name, array in own.items()}

    def load(self, scalars, slots):
        cdef char* slot = NULL
        cdef Slot* s
        flat = {name: np.array(scalars[name], np.float64) for name in ARRAYS}
        size, m = flat["w"].size, flat["root"].size
        if m > size:
            raise ValueError("the root is larger than the matrix")
        super().load(scalars, slots)
        shapes = {"w": (size,), "sums": (size,), "G": (size, size), "basis": (m, m), "root": (m,)}
        self.put({name: flat[name].reshape(shape) for name, shape in shapes.items()})
        self.n = size
        self.penalized = np.full(size, np.nan)
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if s.place:
                if s.place > self.n:
                    raise ValueError("a feature is not in the arrays")
                self.penalized[s.place - 1] = 0.0 if s.mark == self.constant_mark else 1.0
        if np.isnan(self.penalized).any():
            raise ValueError("the arrays have more features than there are")


def product(A, x):
    """A x"""
    out = np.empty(len(A))
    times(A, x, out)
    return out


def feature_sign(S, b, c, w):
    """argmin w^T S w / 2 - b^T w + sum of c_i |w_i|, S positive definite, c >= 0; started at w.

    It keeps a set of nonzero weights, with their signs, and solves for them exactly. Where a sign would
    change, it moves to the best point on the way; otherwise it adds the weight whose gradient most violates
    the optimality condition of a zero. The objective decreases every time, so no set of signs occurs twice.
    """
    import_numpy()
    w = w.copy()
    signs = np.sign(w)
    used = (w != 0) | (c == 0)
    slack = 1e-12 * max(np.abs(b).max(), c.max())
    for _ in range(100 * w.size + 1000):
        A = np.flatnonzero(used)
        if A.size:
            old, S_A, b_A, c_A = w[A], np.ascontiguousarray(S[np.ix_(A, A)]), b[A], c[A]
            new = b_A - c_A * signs[A]
            solve(S_A.copy(), new)
            crossing = (c_A > 0) & (new * signs[A] <= 0)
            if crossing.any():
                with np.errstate(divide="ignore", invalid="ignore"):
                    stops = old[crossing] / (old[crossing] - new[crossing])
                stops = np.append(np.unique(stops[(stops > 0) & (stops < 1)]), 1.0)
                points = old + stops[:, None] * (new - old)
                last = len(stops) - 1
                points[:last][np.abs(points[:last]) <= 1e-15 * np.abs(new - old)] = 0
                values = [dot(x, product(S_A, x)) / 2 - dot(x, b_A) + dot(np.abs(x), c_A) for x in points]
                new = points[np.argmin(values)]
                w[A] = new
                signs[A] = np.sign(new)
                used[A] = (new != 0) | (c_A == 0)
                continue
            w[A] = new
        gradient = product(S, w) - b
        excess = np.where(used, 0, np.abs(gradient) - c)
        worst = int(np.argmax(excess))
        if excess[worst] <= slack:
            return w
        used[worst], signs[worst] = True, -np.sign(gradient[worst])
    return w
