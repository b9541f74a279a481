"""AdaGrad with the full matrix: S = delta I + G^(1/2), G = sum of g g^T, replaces the individual rates.

Duchi, Hazan, Singer. Adaptive Subgradient Methods for Online Learning and Stochastic Optimization. JMLR 12,
2011; eq. 1, 5 and 6. With c = eta_t l1 and ||v||_S^2 = v^T S v,

    cmd:  w <- argmin eta_t <g, w> + c ||w||_1 + ||w - w_t||_S^2 / 2
    rda:  w <- argmin eta_t <sum of g, w> + t c ||w||_1 + ||w||_S^2 / 2,

Without l1 these are w_t - eta_t S^-1 g and -eta_t S^-1 (sum of g). With l1 both are min w^T S w / 2 - b^T w + c
||w||_1, solved exactly by the feature-sign search of Lee, Battle, Raina, Ng (Efficient Sparse Coding Algorithms, NIPS
2006).

With a radius, w is the minimum over ||w||_2 <= radius, the intercept not counted: that with x ||w||^2 / 2 added, where x
is the least multiplier that is enough. Without l1, it is the projection of these w in the norm of S.

The root is recomputed after every `root_every` gradients, and at once if the old root would make a step S^-1 g longer
than 1, which is impossible with a new one (g g^T <= G). Otherwise a gradient outside of the range of the old G would be
divided by delta alone.

A step costs O(n^2) for n features, a root O(n^3).
"""

from libc.math cimport INFINITY

from vwlite.core.base.dense import add_outer_products, dot, eigenvectors, solve, times_transposed
from vwlite.core.learn.rule cimport Example, Outcome, learning_rate
from vwlite.core.rules.full_matrix cimport FullMatrix

from vwlite.core.rules.full_matrix import import_numpy, product

np = None


cdef class AdagradFull(FullMatrix):
    """Mirror descent or dual averaging in the norm of delta I + G^(1/2)"""

    SCALARS = ["t", "shift", "age"]
    ARRAYS = {"w": 1, "sums": 1, "G": 2, "basis": 2, "root": 1}

    cdef public double shift      # sum of l1
    cdef public size_t age        # gradients since the last computation of the root
    cdef double l1, delta, radius
    cdef bint averages
    cdef size_t root_every
    cdef object sums              # [n]
    cdef object G                 # [n, n]
    cdef object vectors, root     # [m, m], [m]: eigenvectors, a row each, and the roots of eigenvalues; m <= n

    def __init__(self, loss, *, update="cmd", double l1=0, double delta=1e-8, size_t root_every=1,
                 double radius=INFINITY, **schedule):
        global np
        np = import_numpy()
        super().__init__(loss, **schedule)
        self.averages = {"cmd": False, "rda": True}[update]
        self.l1, self.delta, self.root_every, self.radius = l1, delta, root_every, radius

    cdef learn(self, const Example* e, const Outcome* o):
        self.shift += self.l1
        g = self.vector(e, o.importance * o.dloss)
        if g is not None and self.n:
            self.step(g, learning_rate(&self.schedule, self.t))

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
        if self.l1 == 0:
            if self.averages:
                self.w[:] = -eta * self.divided(self.sums)
            elif moved:
                self.w -= eta * direction
            self.project()
            return
        S = self.matrix()
        if self.averages:
            b, c = -eta * self.sums, eta * self.shift * self.penalized
        else:
            b, c = product(S, self.w) - eta * g, eta * self.l1 * self.penalized
        damped = lambda x: feature_sign(S + np.diag(x * self.penalized), b, c, self.w)
        self.w[:] = in_ball(damped, self.penalized, self.radius)

    def project(self):
        """Replace w = v by the nearest point of the ball in the norm of S: (S + x D) w = S v, D = diag(penalized).

        In the basis of S, with its eigenvalues s, r = s / (s + x), and q the direction of the intercept: w = b q + r (v -
        b q), b = <q r, v> / <q r, q>.
        """
        cdef size_t m = self.root.size
        if not norm_of(self.w, self.penalized) > self.radius:
            return
        s = np.append(self.delta + self.root, np.full(self.n - m, self.delta))
        v, q = (np.append(product(self.vectors, x[:m]), x[m:]) for x in (self.w, 1 - self.penalized))

        def damped(x):
            r = s / (s + x)
            b = dot(q * r, v) / dot(q * r, q) if q.any() else 0.0
            parts, out = b * q + r * (v - b * q), np.empty(m)
            times_transposed(self.vectors, parts[:m], out)
            return np.append(out, parts[m:])

        self.w[:] = in_ball(damped, self.penalized, self.radius)

    def radius_changed(self):
        """Continue from a loaded state with another radius."""
        self.project()

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

    cdef arrays(self):
        return {"w": self.w, "sums": self.sums, "G": self.G, "basis": self.vectors.T, "root": self.root}

    cdef put(self, arrays):
        FullMatrix.put(self, arrays)
        self.sums, self.G, basis, self.root = (arrays[name] for name in list(self.ARRAYS)[1:])
        self.vectors = np.ascontiguousarray(basis.T)
        n, m = self.w.size, self.root.size
        if self.sums.size != n or self.G.shape != (n, n) or basis.shape != (m, m) or m > n:
            raise ValueError("the arrays do not fit")

    cdef grow(self, size_t more):
        new = np.zeros(more)
        self.put(self.arrays() | {
            "w": np.append(self.w, new), "sums": np.append(self.sums, new), "G": np.pad(self.G, (0, more))
        })


def norm_of(w, penalized):
    """||w||_2 of the penalized weights"""
    return np.sqrt(dot(w * penalized, w * penalized))


def in_ball(minimum, penalized, double radius):
    """minimum(x) of the least x >= 0 for which its norm, which falls, is at most the radius.

    By the secant of 1 / norm, which is nearly linear, and now and then by halving.
    """
    cdef double low = 0, high = 1, x, share, size, at_low, at_high
    w = minimum(0.0)
    size = at_low = norm_of(w, penalized)
    if not size > radius:
        return w
    while size > radius and high < INFINITY:
        w = minimum(high)
        size = norm_of(w, penalized)
        if size > radius:
            low, at_low, high = high, size, 8 * high
    at_high = size
    for i in range(200):
        if not at_high < radius * (1 - 1e-13):
            break
        share = (1 / radius - 1 / at_low) / (1 / at_high - 1 / at_low) if i % 3 < 2 and at_high > 0 else 0.5
        x = low + share * (high - low)
        if not low < x < high:
            break
        new = minimum(x)
        size = norm_of(new, penalized)
        if size > radius:
            low, at_low = x, size
        else:
            high, at_high, w = x, size, new
    return w


def feature_sign(S, b, c, w):
    """argmin w^T S w / 2 - b^T w + sum of c_i |w_i|, S positive definite, c >= 0; started at w.

    It keeps a set of nonzero weights, with their signs, and solves for them exactly. Where a sign would
    change, it moves to the best point on the way; otherwise it adds the weight whose gradient most violates
    the optimality condition of a zero. The objective decreases every time, so no set of signs occurs twice.
    """
    global np
    np = import_numpy()
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
