"""Losses l(p, y): the value, the derivative dl/dp, and the importance-aware step.

A loss depends on prediction and label, never on weights. The importance-aware step is that of Karampatziakis
and Langford, Online Importance Weight Aware Updates, 2011: if the prediction moves along
dp/ds = -h l'(p, y) for a time eta, then p moves by h * invariant_step(p, y, l'(p, y), eta, h). It is the limit of
many tiny gradient steps of total length eta, and never overshoots the label. eta is the learning rate times the
importance; h is how far p moves for a step of 1.
"""

from libc.math cimport INFINITY, fabs, fmax, fmin

from vwlite.core.base.elementary cimport exp, expm1, log, log1p, pow
from vwlite.core.base.logistic cimport logistic, logistic_curvature, logistic_slope


cdef double LARGEST_EXPONENT = 44       # exp(44)^2 is still a float, as in Vowpal Wabbit


cdef inline double lambert_of_exp_minus(double x) noexcept nogil:
    """W(exp(x)) - x, where W is Lambert's function, to 9e-5: one Halley step from a linear guess."""
    cdef double w, r, t, v
    if x >= 1:
        w = 0.86 * x + 0.01
        r = x - log(w) - w
    else:
        w = exp(0.8 * x - 0.65)
        r = 0.2 * x + 0.65 - w
    t = 1 + w
    v = 2 * t * (t + 2 * r / 3)
    return w * (1 + r / t * (v - r) / (v - 2 * r)) - x


cdef inline double mirrored(double x, double c) noexcept nogil:
    """-log(1 - exp(-c x)) / c, its own inverse."""
    return -(log(-expm1(-c * x)) if c * x < 0.7 else log1p(-exp(-c * x))) / c


cdef class Loss:
    """The base class of all losses, with wrappers for Python."""

    def __cinit__(self, *args, **options):
        self.least_p, self.largest_p = -INFINITY, INFINITY

    cdef double value(self, double p, double y) noexcept nogil:
        return 0

    cdef double dloss(self, double p, double y) noexcept nogil:
        """The derivative dl/dp; at a kink, one of the subgradients."""
        return 0

    cdef double evaluate(self, double p, double y, double* dloss) noexcept nogil:
        """The value and the derivative together, as they may share an exponential."""
        dloss[0] = self.dloss(p, y)
        return self.value(p, y)

    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil:
        """dloss: the derivative at p and y. Here the plain gradient step, which may overshoot: a loss overrides it."""
        return -eta * dloss

    cdef double curvature(self, double p, double y) noexcept nogil:
        """The second derivative d2l/dp2; 0 at kinks."""
        return 0

    def __call__(self, double p, double y):
        return self.value(p, y)

    def derivative(self, double p, double y):
        return self.dloss(p, y)

    def second_derivative(self, double p, double y):
        return self.curvature(p, y)

    def evaluate_each(
        self, const double[::1] p, const double[::1] y, double[::1] value, double[::1] dloss, double[::1] curvature
    ):
        """For each prediction and label, fill in the loss and its first two derivatives. All arrays have the same
        length."""
        cdef size_t i, n = p.shape[0]
        if not (<size_t>y.shape[0] == <size_t>value.shape[0] == <size_t>dloss.shape[0]
                == <size_t>curvature.shape[0] == n):
            raise ValueError("arrays of different lengths")
        with nogil:
            for i in range(n):
                value[i] = self.evaluate(p[i], y[i], &dloss[i])
                curvature[i] = self.curvature(p[i], y[i])

    def step(self, double p, double y, double eta, double h):
        """The importance-aware step u: the prediction moves by h * u."""
        return self.invariant_step(p, y, self.dloss(p, y), eta, h)


cdef class Squared(Loss):
    """(p - y)^2"""

    cdef double value(self, double p, double y) noexcept nogil:
        return (p - y) * (p - y)

    cdef double dloss(self, double p, double y) noexcept nogil:
        return 2 * (p - y)

    cdef double curvature(self, double p, double y) noexcept nogil:
        return 2

    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil:
        if eta * h < 1e-6:
            return 2 * (y - p) * eta
        return -(y - p) * expm1(-2 * eta * h) / h


cdef class Logistic(Loss):
    """log(1 + exp(-y p)), y in {-1, 1}"""

    cdef double value(self, double p, double y) noexcept nogil:
        cdef double dloss
        return self.evaluate(p, y, &dloss)

    cdef double dloss(self, double p, double y) noexcept nogil:
        return logistic_slope(p, y)

    cdef double evaluate(self, double p, double y, double* dloss) noexcept nogil:
        return logistic(p, y, dloss)

    cdef double curvature(self, double p, double y) noexcept nogil:
        return logistic_curvature(p)

    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil:
        cdef double yp = y * p
        cdef double steep = fabs(dloss)     # 1 / (1 + exp(yp))
        cdef double plain = eta * steep
        if eta * h < 1e-6:
            return y * plain
        if yp > 15:     # the approximation would lose all digits; this is exact to exp(-yp)
            return y * log1p(h * plain) / h
        # The error of the approximation must not move the result out of its valid range.
        cdef double step = -(lambert_of_exp_minus(eta * h + yp + (1 / steep - 1)) + yp) / h
        return y * (plain if step > plain else step if step > 0 else 0)


cdef class Hinge(Loss):
    """max(0, 1 - y p), y in {-1, 1}"""

    cdef double value(self, double p, double y) noexcept nogil:
        return 1 - y * p if y * p < 1 else 0

    cdef double dloss(self, double p, double y) noexcept nogil:
        return -y if y * p < 1 else 0

    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil:
        if y * p >= 1:
            return 0
        return y * fmin(eta, (1 - y * p) / h)


cdef class SquaredHinge(Squared):
    """max(0, 1 - y p)^2, y in {-1, 1}: (p - y)^2 where it is not 0"""

    cdef double value(self, double p, double y) noexcept nogil:
        return Squared.value(self, p, y) if y * p < 1 else 0

    cdef double dloss(self, double p, double y) noexcept nogil:
        return Squared.dloss(self, p, y) if y * p < 1 else 0

    cdef double curvature(self, double p, double y) noexcept nogil:
        return 2 if y * p < 1 else 0

    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil:
        return Squared.invariant_step(self, p, y, dloss, eta, h) if y * p < 1 else 0


cdef class Quantile(Loss):
    """tau (y - p) below the label, (1 - tau) (p - y) above it"""

    def __init__(self, double tau=0.5):
        self.tau = tau
        self.keeps_labels = True

    cdef double value(self, double p, double y) noexcept nogil:
        return self.tau * (y - p) if y > p else (1 - self.tau) * (p - y)

    cdef double dloss(self, double p, double y) noexcept nogil:
        return -self.tau if y > p else 1 - self.tau if y < p else 0

    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil:
        cdef double e = y - p
        if e > 0:
            return fmin(self.tau * eta, e / h)
        if e < 0:
            return -fmin((1 - self.tau) * eta, -e / h)
        return 0


cdef class Expectile(Squared):
    """2 tau (p - y)^2 below the label, 2 (1 - tau) (p - y)^2 above it: at tau = 1/2 the squared loss

    The step stays on its side of the label, where it is that of the square with eta times the factor.
    (Newey, Powell. Asymmetric Least Squares Estimation and Testing. Econometrica 1987.)
    """

    def __init__(self, double tau=0.5):
        self.below, self.above = 2 * tau, 2 * (1 - tau)
        self.keeps_labels = True

    cdef double factor(self, double p, double y) noexcept nogil:
        return self.above if p > y else self.below

    cdef double value(self, double p, double y) noexcept nogil:
        return self.factor(p, y) * (p - y) * (p - y)

    cdef double dloss(self, double p, double y) noexcept nogil:
        return self.factor(p, y) * 2 * (p - y)

    cdef double curvature(self, double p, double y) noexcept nogil:
        return 2 * self.factor(p, y)

    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil:
        return Squared.invariant_step(self, p, y, dloss, eta * self.factor(p, y), h)


cdef class Huber(Squared):
    """(p - y)^2 if |p - y| <= delta, else the tangent continues linearly: delta (2 |p - y| - delta)"""

    def __init__(self, double delta=1):
        self.delta = delta
        self.keeps_labels = True

    cdef double value(self, double p, double y) noexcept nogil:
        cdef double r = fabs(p - y)
        return r * r if r <= self.delta else 2 * self.delta * (r - self.delta / 2)

    cdef double dloss(self, double p, double y) noexcept nogil:
        return 2 * fmin(fmax(p - y, -self.delta), self.delta)

    cdef double curvature(self, double p, double y) noexcept nogil:
        return 2 if fabs(p - y) <= self.delta else 0

    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil:
        """|r| decreases by 2 h delta s until it is delta (after time excess / (2 h delta)), then as exp(-2 h s)."""
        cdef double beyond = fabs(p - y) - self.delta
        if beyond >= 2 * self.delta * eta * h:
            return -eta * dloss
        if beyond <= 0:
            return Squared.invariant_step(self, p, y, dloss, eta, h)
        return (beyond - self.delta * expm1(beyond / self.delta - 2 * eta * h)) / h * (1 if p < y else -1)


cdef class Poisson(Loss):
    """exp(p) - y p - (y - y log y), y >= 0, p is the logarithm of the mean: half the deviance"""

    def __cinit__(self, *args, **options):
        self.largest_p = LARGEST_EXPONENT
        self.power = 1

    cdef double value(self, double p, double y) noexcept nogil:
        if y == 0:
            return exp(p)
        return exp(p) - y * p - (y - y * log(y))

    cdef double dloss(self, double p, double y) noexcept nogil:
        return exp(p) - y

    cdef double curvature(self, double p, double y) noexcept nogil:
        return exp(p)

    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil:
        if eta * h < 1e-100:
            return (y - exp(p)) * eta
        if y == 0:
            return -log1p(exp(p) * eta * h) / h
        if y * eta * h > 44:
            return -(p - log(y)) / h
        return y * eta - log1p(exp(p) * expm1(y * eta * h) / y) / h


cdef class Gamma(Loss):
    """y exp(-p) + p - (1 + log y), y > 0, p is the logarithm of the mean: half the deviance"""

    def __cinit__(self, *args, **options):
        self.least_p, self.largest_p = -LARGEST_EXPONENT, LARGEST_EXPONENT
        self.power = 2

    cdef double value(self, double p, double y) noexcept nogil:
        cdef double q = p - log(y)
        return expm1(-q) + q

    cdef double dloss(self, double p, double y) noexcept nogil:
        return 1 - y * exp(-p)

    cdef double curvature(self, double p, double y) noexcept nogil:
        return y * exp(-p)

    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil:
        """The mean's distance from y falls as exp(-h s)."""
        cdef double time = fmin(eta * h, 700)
        if time < 1e-100:
            return -eta * dloss
        if dloss > 0 and time > 0.5:    # both are positive: no digits are lost
            return log(y * exp(-p) + dloss * exp(-time)) / h
        return log1p(dloss * expm1(-time)) / h


cdef class Tweedie(Loss):
    """exp(b p) / b + y exp(-a p) / a - y^b / (a b), y >= 0, b = 2 - power, a = power - 1, 1 < power < 2, p is the logarithm of
    the mean: half the deviance

    The invariant step moves q = p - log y by dq/dt = exp(-a q) - exp(b q) for a time t = y^b eta h, and so x = |q|, with
    c = b if q > 0 and else c = a, by dx/dt = -(exp(c x) - exp((c - 1) x)): from T(x) to T(x) + t, where

        T(x) = int_x^inf exp(-c z) / (1 - exp(-z)) dz = sum_k exp(-(k + c) x) / (k + c)

    is the time from infinity to x.
    """

    def __init__(self, double power=1.5):
        cdef size_t k, j
        cdef double c, term
        cdef double* s
        if not 1 < power < 2:
            raise ValueError("a power between 1 and 2")
        self.least_p, self.largest_p = -LARGEST_EXPONENT, LARGEST_EXPONENT
        self.power, self.a, self.b = power, power - 1, 2 - power
        for above in range(2):
            # x exp(-c x) / (1 - exp(-x)) = sum_k s_k x^k: for small x, T(x) = s_0 - log x - sum_{k > 0} s_k x^k / k
            c, s = self.b if above else self.a, self.series[above]
            s[0] = 1
            for k in range(1, TERMS):
                s[k], term = 1, 1
                for j in range(1, k + 1):
                    s[k] *= -c / j
                for j in range(1, k + 1):
                    term *= -1 / <double>(j + 1)
                    s[k] -= term * s[k - j]
            for k in range(1, TERMS):
                s[k] /= k
            s[0] = 0
            s[0] = self.far(2, above) - self.near(2, above)

    cdef double value(self, double p, double y) noexcept nogil:
        if y == 0:
            return exp(self.b * p) / self.b
        cdef double q = p - log(y)
        return pow(y, self.b) * (expm1(self.b * q) / self.b + expm1(-self.a * q) / self.a)

    cdef double dloss(self, double p, double y) noexcept nogil:
        return exp(self.b * p) - (y * exp(-self.a * p) if y > 0 else 0)

    cdef double curvature(self, double p, double y) noexcept nogil:
        return self.b * exp(self.b * p) + (self.a * y * exp(-self.a * p) if y > 0 else 0)

    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil:
        if eta * h < 1e-100:
            return -eta * dloss
        if y == 0:
            return -log1p(self.b * exp(self.b * p) * eta * h) / (self.b * h)
        return self.flow(p - log(y), pow(y, self.b) * eta * h) / h

    cdef double flow(self, double q, double t) noexcept nogil:
        """How far q moves in the time t, and never beyond 0."""
        cdef bint above = q > 0
        cdef double c = self.b if above else self.a, x = fabs(q), up = exp(c * x), down = exp((c - 1) * x)
        cdef double f = up - down, f1 = c * up + (1 - c) * down, f2 = c * c * up - (1 - c) * (1 - c) * down
        cdef double end, s, more, z = x
        cdef int i
        if t * f1 < 3e-3:       # three terms of Taylor's series
            more = t * f * (1 - t * f1 / 2 + ((t * f1) * (t * f1) + (t * f) * (t * f2)) / 6)
        elif t > 44 + 1 / c:    # it arrives
            more = x
        elif c == 0.5:          # tanh(x / 4) falls as exp(-t)
            more = -2 * log((2 + (1 - down) * expm1(-t)) / (2 - (up - 1) * expm1(-t)))
        else:
            # Newton's method for s = -log(1 - exp(-c x)) / c, in which T is concave with a slope of c to 1: it comes from below.
            end = self.time_from_infinity(x, above) + t
            s = mirrored(x, c)
            for i in range(20):
                more = (end - self.time_from_infinity(z, above)) * expm1(-z) / expm1(-c * z)
                s += more
                z = mirrored(s, c)
                if not more > 1e-13 * s:
                    break
            more = fmin(fmax(x - z, 0), x)
        return -more if above else more

    cdef double time_from_infinity(self, double x, bint above) noexcept nogil:
        return self.near(x, above) if x < 2 else self.far(x, above)

    cdef double near(self, double x, bint above) noexcept nogil:
        cdef double sum = 0
        cdef int k
        for k in range(TERMS - 1, 0, -1):
            sum = (sum + self.series[above][k]) * x
        return self.series[above][0] - log(x) - sum

    cdef double far(self, double x, bint above) noexcept nogil:
        cdef double c = self.b if above else self.a, sum = 0, e = exp(-x)
        cdef int k
        for k in range(17, -1, -1):
            sum = sum * e + 1 / (k + c)
        return sum * exp(-c * x)
