"""The sums over one data shard from which a batch problem over all shards is solved, and the bound that they give.

    loss = sum_i h_i l(p_i, y_i),   slopes = sum_i h_i l'_i x_i,   p_i = <w, x_i> + b + initial_i,   h_i the importance

Sums over shards add. For losses without kinks.

The dual bound (problem.pyx) is at alpha_i = -l'_i, changed so that sum_i h_i alpha_i = 0 if there is an intercept. The
change is only known when the sums over all shards are; so the sums contain for each loss what the change needs:

    logistic, squared-hinge  alpha times one factor where y > 0, another where y < 0; second = slopes where y > 0
    squared                  alpha less a number; second = sum_i h_i x_i
    poisson                  alpha = y - c e^p; second = sum_i h_i e^p_i x_i

The sum of l*(-t alpha) at a factor t is convex in t: it is known at the SCALES, and between two of them no more than the
straight line, so the bound holds. For squared losses it is known exactly; for Poisson's at t = 1, and l*(0) = 0.
"""

import array

from libc.math cimport fabs
from libc.stdint cimport uint32_t
from libc.string cimport memcpy

from vwlite.core.base.sums cimport Sum, add, value_of
from vwlite.core.solve.batch_losses cimport (
    LOGISTIC,
    MOST_EXPONENT,
    POISSON,
    SQUARED,
    bounded,
    conjugates,
    is_smooth,
    log_of,
    x_log_x,
)
from vwlite.core.solve.problem cimport Problem, larger, smaller, total

cdef enum:
    HALVINGS = 12
    BASIC = 6           # sums that are not those of the bound

SCALES = (*(1 - 0.5**k for k in range(HALVINGS)), 1.0)  # from 0, where every conjugate is 0


def sums_of(str loss) -> int:
    """The number of sums of a shard."""
    return BASIC + (4 + 2 * len(SCALES) if loss in ("logistic", "squared-hinge") else 6)


cdef class Shard(Problem):
    """One shard: rows and a loss, as for a `Problem`, without a penalty. ValueError: a loss with kinks; as there."""

    def __init__(self, rows, loss, *, bint constant=True, labels=None):
        super().__init__(rows, loss, constant=constant, labels=labels)
        if not is_smooth(self.loss):
            raise ValueError(f"gradients do not say enough for a loss with kinks, such as {loss}")

    def sums(self, const double[::1] w, double b):
        """At these weights, one for each column: the sums (importance, loss, slope and curvature by the intercept,
        importance of labels above and below 0, and those of the bound), the slopes by each column, and the second ones,
        None without an intercept."""
        cdef double whole = total(self.rows.importance, self.n)
        cdef double loss
        cdef size_t i
        second = None
        self.set(w, b)
        with nogil:
            self.predict()
            loss = self.lose()
            self.gradient(False)
        slopes = self.scaled(whole)
        found = array.array("d", [whole, whole * loss, whole * total(self.r, self.n), whole * total(self.curved, self.n),
                                  whole * self.share_of(1), whole * self.share_of(-1)])
        found.extend(whole * x for x in self.of_bound())
        if self.constant:
            memcpy(self.scratch, self.r, 8 * self.n)
            with nogil:
                for i in range(self.n):
                    if self.loss.kind == SQUARED:
                        self.r[i] = self.h[i]
                    elif self.loss.kind == POISSON:
                        self.r[i] = self.curved[i]
                    elif self.y[i] < 0:
                        self.r[i] = 0
                self.gradient(False)
                memcpy(self.r, self.scratch, 8 * self.n)
            second = self.scaled(whole)
        return found, slopes, second

    cdef double share_of(self, double sign):
        """The importance of labels of this sign, as a share of all."""
        cdef size_t i
        for i in range(self.n):
            self.scratch[i] = self.h[i] if self.y[i] * sign > 0 else 0
        return total(self.scratch, self.n)

    def scaled(self, double factor):
        """The gradient times a factor, as an array."""
        cdef size_t j
        found = array.array("d", bytes(8 * self.d))
        cdef double[::1] out = found
        for j in range(self.d):
            out[j] = factor * self.g[j]
        return found

    def of_bound(self):
        """The sums that only the bound needs, by the whole importance."""
        cdef Sum[6] sums
        cdef double[6] terms
        cdef size_t i, k
        cdef double a, y, e, initial
        cdef bint classes = self.loss.kind != SQUARED and self.loss.kind != POISSON, positive
        for k in range(6):
            sums[k], terms[k] = Sum(0, 0), 0
        for i in range(self.n):
            a, y, initial = -self.r[i] / self.h[i], self.y[i], self.rows.initial[i]
            if self.loss.kind == LOGISTIC:
                a = smaller(larger(a, -1), 1)
            self.alpha[i] = a
            if classes:
                positive = y > 0
                terms[positive], terms[2 + positive] = 0, 0
                terms[not positive], terms[3 - positive] = a, a * initial
            elif self.loss.kind == SQUARED:
                terms[0], terms[1], terms[2], terms[3] = a * a, a, y, a * y
                terms[4], terms[5] = initial, a * initial
            else:
                e = self.curved[i] / self.h[i]
                terms[0], terms[1] = e, e * bounded(self.predictions[i], MOST_EXPONENT)
                terms[2], terms[3] = y, y - x_log_x(y)
                terms[4], terms[5] = y * initial, e * initial
            for k in range(6):
                add(&sums[k], self.h[i] * terms[k])
        found = [value_of(&sums[k]) for k in range(4 if classes else 6)]
        if classes:
            found += [self.conjugates_of(sign, scale) for sign in (1, -1) for scale in SCALES]
        return found

    cdef double conjugates_of(self, double sign, double scale):
        """The sum of h l*(-scale alpha) where y has this sign."""
        cdef size_t i
        if scale == 0:
            return 0
        for i in range(self.n):     # l*(0) = 0
            self.scratch[i] = scale * self.alpha[i] if self.y[i] * sign > 0 else 0
        return conjugates(self.loss, self.scratch, self.y, self.h, self.n)

# --- the bound --------------------------------------------------------------------------------


cdef double between(sums, double t):
    """Interpolate the values at the SCALES for t."""
    cdef Py_ssize_t k
    cdef double part
    for k in range(len(SCALES) - 1):
        if t <= SCALES[k + 1]:
            part = (t - SCALES[k]) / (SCALES[k + 1] - SCALES[k])
            return (1 - part) * sums[k] + part * sums[k + 1]
    return sums[len(SCALES) - 1]


cdef class DualPoint:
    """A dual point of the problem over all shards, from the sums over them. loss, constant: as for `Shard`."""
    cdef str loss
    cdef list sums              # those of the bound, by the whole importance
    cdef double up, down        # factors of alpha where y > 0 and where y < 0
    cdef double shift           # what alpha is less, or the factor of e^p
    cdef double of_slopes, of_second
    cdef double whole
    cdef const double[::1] slopes, second

    def __init__(self, str loss not None, bint constant, const double[::1] sums, const double[::1] slopes,
                 const double[::1] second):
        """second: None without an intercept. ValueError: sums that are not those of a shard."""
        cdef double positive, negative, least
        if sums.shape[0] != sums_of(loss):
            raise ValueError("the sums are not those of shards with this loss")
        self.loss, self.whole, self.slopes, self.second = loss, sums[0], slopes, second
        self.sums = [x / self.whole for x in sums[BASIC:]]
        self.up = self.down = 1
        self.of_slopes, self.of_second, self.shift = 1, 0, 0
        if loss == "squared":
            if constant:
                self.shift = self.of_second = self.sums[1]
        elif loss == "poisson":
            self.shift = 1
            if constant:
                self.shift = self.sums[2] / self.sums[0] if self.sums[0] > 0 else 0
                self.of_second = self.shift - 1
        elif constant:
            positive, negative = fabs(self.sums[0]), fabs(self.sums[1])
            least = smaller(positive, negative)
            self.up = least / positive if positive > 0 else 0
            self.down = least / negative if negative > 0 else 0
            self.of_slopes, self.of_second = self.down, self.up - self.down

    cdef double v(self, Py_ssize_t j) noexcept:
        """sum_i h_i alpha_i x_ij"""
        cdef double found = self.of_slopes * self.slopes[j]
        if self.second is not None:
            found += self.of_second * self.second[j]
        return -found / self.whole

    cdef double value(self, double t):
        """-sum_i h_i (l*(-t alpha_i) + t alpha_i initial_i), or less."""
        cdef list s = self.sums
        cdef double c = self.shift, conjugate, offset, squares, along
        cdef Py_ssize_t n = len(SCALES)
        if self.loss == "squared":
            squares, along = s[0] - 2 * c * s[1] + c * c, s[3] - c * s[2]
            return -(t * t * squares / 4 - t * along + t * (s[5] - c * s[4]))
        if self.loss == "poisson":
            conjugate = s[3]
            if c > 0:
                conjugate += c * (s[0] * log_of(c) + s[1]) - c * s[0]
            return -t * (conjugate + s[4] - c * s[5])
        offset = self.up * s[2] + self.down * s[3]
        return -(between(s[4:4 + n], t * self.up) + between(s[4 + n:], t * self.down) + t * offset)

    def bound(self, double l1, double l2, radius=None):
        """The most that is found of the dual: no weights have a smaller objective. At least 0.

        l1, l2: of the penalty; radius: instead of l1.
        """
        cdef Py_ssize_t j
        cdef double largest = 0, best = 0, supremum = 0, t, over
        for j in range(self.slopes.shape[0]):
            largest = larger(largest, fabs(self.v(j)))
        if radius is not None:
            return larger(self.value(1) - self.over_ball(l2, radius, largest), best)
        if l2 > 0:
            for j in range(self.slopes.shape[0]):
                over = fabs(self.v(j)) - l1
                if over > 0:
                    supremum += over * over / (2 * l2)
            best = larger(best, self.value(1) - supremum)
        t = l1 / largest if largest > l1 else 1
        best = larger(best, self.value(t))
        if self.loss == "squared":      # the best factor up to t, as it is known exactly
            over = self.squares()
            if over > 0:
                best = larger(best, self.value(smaller(t, larger((self.value(1) + over) / (2 * over), 0))))
        return best

    cdef double squares(self):
        """A quarter of the sum of h alpha^2, for squared losses."""
        cdef list s = self.sums
        return (s[0] - 2 * self.shift * s[1] + self.shift * self.shift) / 4

    cdef double over_ball(self, double l2, double radius, double largest):
        """The supremum of <v, w> - l2 / 2 ||w||^2 over the ball; or more: mu radius + sum_j max(|v_j| - mu, 0)^2 / (2 l2)
        is an upper bound for any mu, nearly tight for the one that bisection finds."""
        cdef double low = 0, high = largest, mu, slope, over, found
        cdef Py_ssize_t j, rounds
        if l2 == 0:
            return radius * largest
        for rounds in range(100):
            mu, slope = (low + high) / 2, radius
            for j in range(self.slopes.shape[0]):
                over = fabs(self.v(j)) - mu
                if over > 0:
                    slope -= over / l2
            if slope > 0:
                high = mu
            else:
                low = mu
            if high - low <= 1e-15 * high:
                break
        found = high * radius
        for j in range(self.slopes.shape[0]):
            over = fabs(self.v(j)) - high
            if over > 0:
                found += over * over / (2 * l2)
        return found


# --- sums over shards ---------------------------------------------------------------------------


def is_one_sided(str loss, const double[::1] sums):
    """Whether the best intercept is infinite, as in `Problem`."""
    if loss == "logistic":
        return sums[4] == 0 or sums[5] == 0
    return loss == "poisson" and sums[4] == 0


def mean_gradient(const double[::1] sums, const double[::1] slopes, bint constant):
    """The gradient of the mean loss by the weights and, last, by the intercept, from the sums over all shards."""
    cdef Py_ssize_t j, n = slopes.shape[0]
    found = array.array("d", bytes(8 * n + 8))
    cdef double[::1] out = found
    for j in range(n):
        out[j] = slopes[j] / sums[0]
    out[n] = sums[2] / sums[0] if constant else 0
    return found
