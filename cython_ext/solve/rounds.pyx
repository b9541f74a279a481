"""Methods that use the loss and its gradient at one point per round, and choose the next point.

`tell` receives them at `trial`, and computes the next `trial`: a new step from there, or a shorter one from the last
accepted point. So the caller can sum over many machines. The last coordinate is the intercept, which is neither
penalised nor projected; its step uses its own curvature, which is often much larger than that of the others.

    OWLQN   min f(x) + l1 sum_j |x_j| + l2 / 2 sum_j x_j^2. L-BFGS on the orthant of each step: Andrew, Gao. Scalable
            Training of L1-Regularized Log-Linear Models. ICML 2007. Not specified there: s and y are those
            of the weights that may move, neither 0 nor held there, as in Byrd, Chin, Nocedal, Oztoprak. A family of
            second-order methods for convex l1-regularized optimization. 2016 (rcv1: 18 rounds to 1e-3 instead of 22, 29
            to 1e-5 instead of 44); the inverse Hessian is at first s'y / y'y for the weights, by the last step, and 1 /
            f''_bb for the intercept. Without l1 it is L-BFGS, whose first inverse Hessian may be given: that of a
            sample of the rows (a9a, l2 1e-3: 7 rounds to a gap of 1e-3 instead of 38).
    SPG     min f(x) + l2 / 2 sum_j x_j^2 over sum_j |x_j| <= radius. Steps towards the projection of x - t g, t = s's / s'y
            by the last step, whose objective is below the largest of the last ten: Birgin, Martinez, Raydan.
            Nonmonotone Spectral Projected Gradient Methods on Convex Sets. SIAM J. Optim. 10, 2000 (SPG2).

A rejected step is shortened to the minimum of the parabola through the known values of the objective along it, to
between 1/10 and 1/2. Sums are of double, in a fixed order.
"""

import array

from libc.math cimport INFINITY, fabs, isfinite, sqrt
from libc.string cimport memcpy, memset

from vwlite.core.base.sums cimport Sum, add, value_of
from vwlite.core.solve.problem cimport larger, smaller

from vwlite.core.projection import project_plain

cdef enum:
    PAIRS = 10              # of OWLQN
    HISTORY = 10            # objectives of SPG
    MOST_TRIALS = 30        # of one step
    BLOCK = 512

cdef double ENOUGH = 1e-4       # the part of the decrease predicted by the slope that a step must reach
cdef double NOISE = 1e-14       # of the objective: rounding
cdef double CONVEX = 1e-10      # <s, y> over <y, y> below this is rounding
cdef double LEAST_CURVED = 1e-12
cdef double MOST_RATE = 1e30


cdef double product(const double[::1] x, const double[::1] y) noexcept nogil:
    """<x, y>, in eight lanes, with the rounding of each block kept."""
    cdef double[8] lanes
    cdef Sum whole = Sum(0, 0)
    cdef Py_ssize_t n = x.shape[0], begin = 0, end, i, k
    while begin < n:
        end = min(begin + BLOCK, n)
        memset(lanes, 0, sizeof(lanes))
        i = begin
        while i + 8 <= end:
            for k in range(8):
                lanes[k] += x[i + k] * y[i + k]
            i += 8
        for k in range(end - i):
            lanes[k] += x[i + k] * y[i + k]
        add(&whole, ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])))
        begin = end
    return value_of(&whole)


cdef double product_where(const double[::1] free, const double[::1] x, const double[::1] y, Py_ssize_t n) noexcept nogil:
    """<x, y> over the first n coordinates where `free` is not 0."""
    cdef Sum whole = Sum(0, 0)
    cdef double lane = 0
    cdef Py_ssize_t i
    for i in range(n):
        if free[i] != 0:
            lane += x[i] * y[i]
        if i % BLOCK == BLOCK - 1:
            add(&whole, lane)
            lane = 0
    add(&whole, lane)
    return value_of(&whole)


cdef double sum_of_sizes(const double[::1] x) noexcept nogil:
    cdef Sum whole = Sum(0, 0)
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        if x[i] != 0:
            add(&whole, fabs(x[i]))
    return value_of(&whole)


cdef bint are_finite(numbers):
    cdef double x
    for x in numbers:
        if not isfinite(x):
            return False
    return True


cdef class Descent:
    """The common part of both methods. x: the initial weights and the intercept; l2: strength, not for the intercept.

    The state is the numbers of `state` and the arrays of `arrays`; `load` restores it.
    """

    cdef readonly Py_ssize_t d          # weights
    cdef readonly double l2
    cdef readonly double objective      # at x
    cdef readonly double step           # the part of the direction that `trial` is at
    cdef readonly Py_ssize_t rounds     # gradients received
    cdef readonly Py_ssize_t steps      # those that were taken
    cdef readonly Py_ssize_t trials     # in a row that were not
    cdef readonly bint done             # no step lowers the objective any more
    cdef bint known                     # the objective and g
    cdef bint noisy                     # the direction was reset as no step decreased the objective
    cdef double curvature               # of the intercept
    cdef double rate                    # the scale of the first inverse Hessian, or t
    cdef double slope                   # along the direction
    cdef double[::1] x, g, direction, trial
    cdef readonly dict arrays

    def __init__(self, const double[::1] x not None, *, double l2=0):
        cdef Py_ssize_t j
        self.d, self.l2 = x.shape[0] - 1, l2
        if self.d < 0:
            raise ValueError("the intercept is missing (it may be 0)")
        self.objective = INFINITY
        self.step, self.curvature, self.rate = 1, 1, 0
        self.arrays = {}
        self.x, self.g, self.direction, self.trial = (self.allocate(name) for name in ("x", "g", "direction", "trial"))
        for j in range(self.d + 1):
            self.trial[j] = x[j]

    def allocate(self, name):
        """A new array of the state, of zeros."""
        found = self.arrays[name] = array.array("d", bytes(8 * (self.d + 1)))
        return found

    def state(self):
        """The numbers, by name; the arrays are `arrays`."""
        return {
            "objective": self.objective if self.known else None, "step": self.step, "curvature": self.curvature,
            "rate": self.rate, "trials": self.trials, "rounds": self.rounds, "steps": self.steps, "known": self.known,
            "done": self.done, "noisy": self.noisy,
        }

    def load(self, numbers, arrays):
        """Continue from a state. ValueError: an invalid one."""
        if set(arrays) != set(self.arrays) or any(len(arrays[name]) != self.d + 1 for name in arrays):
            raise ValueError("its arrays are not those of the method")
        for name, found in arrays.items():
            memoryview(self.arrays[name])[:] = memoryview(found)
        try:
            self.objective = INFINITY if numbers["objective"] is None else numbers["objective"]
            self.step, self.curvature, self.rate = numbers["step"], numbers["curvature"], numbers["rate"]
            self.trials, self.rounds, self.steps = numbers["trials"], numbers["rounds"], numbers["steps"]
            self.known, self.done, self.noisy = numbers["known"], numbers["done"], numbers["noisy"]
        except (KeyError, TypeError, OverflowError) as e:
            raise ValueError(f"its numbers are not those of the method: {e}") from None
        found = (self.step, self.curvature, self.rate, self.trials, self.rounds, self.steps)
        if min(found) < 0 or not are_finite(found) or self.known != isfinite(self.objective):
            raise ValueError("its numbers cannot be")
        if self.known:
            self.look_around()

    def nonzeros(self, name="x"):
        """The number of nonzero weights in an array of the state."""
        cdef const double[::1] x = self.arrays[name]
        cdef Py_ssize_t j, found = 0
        for j in range(self.d):
            found += x[j] != 0
        return found

    def weights(self, name="x"):
        """The weights in an array of the state, and the intercept."""
        found = self.arrays[name]
        return found[: self.d], found[self.d]

    def objective_of(self, double loss):
        """The objective at `trial`, from the mean loss there."""
        return loss + self.l2 / 2 * product(self.trial[: self.d], self.trial[: self.d]) + self.penalty()

    def tell(self, double loss, double[::1] gradient, double curvature):
        """Receive the values at `trial`: the mean loss, its gradient (modified to include l2), and the second
        derivative by the intercept. Returns whether the step is accepted."""
        cdef Py_ssize_t j
        cdef double value = self.objective_of(loss)
        if gradient.shape[0] != self.d + 1:
            raise ValueError("the gradient is of other columns")
        self.rounds += 1
        for j in range(self.d):
            gradient[j] += self.l2 * self.trial[j]
        if self.known and not self.is_enough(value):
            self.shorten(value)
            return False
        self.curvature = larger(curvature, LEAST_CURVED) if isfinite(curvature) else 1
        if self.known:
            self.learn(gradient)
        self.x[:], self.g[:] = self.trial, gradient
        self.objective = value
        self.known, self.trials, self.noisy = True, 0, False
        self.steps += 1
        self.take(value)
        self.go()
        return True

    cdef bint is_enough(self, double value) noexcept:
        return value <= self.most() + ENOUGH * self.promise() + NOISE * fabs(self.objective)

    cdef int shorten(self, double value) except -1:
        """A shorter step along the direction; when there were many, another direction, or the end."""
        cdef double shorter = self.step / 10, bend
        self.trials += 1
        if self.trials >= MOST_TRIALS:
            if self.noisy:
                self.done = True
                self.trial[:] = self.x
                return 0
            self.noisy, self.trials = True, 0
            self.forget()
            return self.go()
        bend = value - self.objective - self.step * self.slope
        if isfinite(bend) and bend > 0:
            shorter = -self.slope * self.step * self.step / (2 * bend)
        self.step = smaller(larger(shorter, self.step / 10), self.step / 2)
        self.move()
        return 0

    cdef int go(self) except -1:
        """The direction from x, and the first trial along it."""
        self.look_around()
        self.aim()
        self.step = 1
        self.slope = self.slope_along()
        if not self.slope < 0:
            self.done = True
            self.trial[:] = self.x
            return 0
        self.move()
        return 0

    cdef int look_around(self) except -1:
        """Compute the derived arrays from x, g and direction."""
        self.slope = self.slope_along()
        return 0

    cdef double slope_along(self) noexcept:
        return product(self.g, self.direction)

    # What a method implements.

    cdef double penalty(self) noexcept:
        return 0

    cdef double most(self) noexcept:
        """The objective that a step has to be below."""
        return self.objective

    cdef double promise(self) noexcept:
        """The predicted change of the objective from x to `trial`, by the slope."""
        return self.step * self.slope

    cdef int learn(self, const double[::1] g) except -1:
        """Update the curvature estimate from the gradients at the two ends of the step."""
        return 0

    cdef int take(self, double value) except -1:
        """Called when the step is accepted."""
        return 0

    cdef int forget(self) except -1:
        """Discard the curvature estimate."""
        return 0

    cdef int aim(self) except -1:
        """Choose the direction."""
        return 0

    cdef int move(self) except -1:
        """`trial`, by the direction and the step."""
        cdef Py_ssize_t j
        for j in range(self.d + 1):
            self.trial[j] = self.x[j] + self.step * self.direction[j]
        return 0


cdef class OWLQN(Descent):
    """l1: regularization strength. solve: a function of x, q and the intercept's curvature that returns the first
    inverse Hessian times q; only without l1."""
    cdef readonly double l1
    cdef object solve
    cdef double[::1] pseudo         # the subgradient of the objective at x that is nearest to 0
    cdef double[::1] free           # 1 where it or x is not 0, and for the intercept; else 0
    cdef list s, y                  # of the last steps, the oldest first: arrays of the state

    def __init__(self, const double[::1] x not None, *, double l1=0, double l2=0, solve=None):
        super().__init__(x, l2=l2)
        self.l1, self.solve = l1, solve
        self.pseudo, self.free = array.array("d", bytes(8 * (self.d + 1))), array.array("d", bytes(8 * (self.d + 1)))
        self.s, self.y = [], []

    def load(self, numbers, arrays):
        cdef Py_ssize_t k, many = sum(name.startswith("s") for name in arrays)
        if not 0 <= many <= PAIRS:
            raise ValueError("its arrays are not those of the method")
        for k in range(many):
            self.s.append(self.allocate(f"s{k}"))
            self.y.append(self.allocate(f"y{k}"))
        super().load(numbers, arrays)

    cdef double penalty(self) noexcept:
        return self.l1 * sum_of_sizes(self.trial[: self.d])

    cdef double promise(self) noexcept:
        cdef Sum found = Sum(0, 0)
        cdef Py_ssize_t j
        for j in range(self.d + 1):
            add(&found, self.pseudo[j] * (self.trial[j] - self.x[j]))
        return value_of(&found)

    cdef double slope_along(self) noexcept:
        return product(self.pseudo, self.direction)

    cdef int look_around(self) except -1:
        cdef Py_ssize_t j
        cdef double right, left
        for j in range(self.d):
            right, left = self.g[j] + self.l1, self.g[j] - self.l1
            if self.x[j] > 0 or (self.x[j] == 0 and right < 0):
                self.pseudo[j] = right
            elif self.x[j] < 0 or left > 0:
                self.pseudo[j] = left
            else:
                self.pseudo[j] = 0
            self.free[j] = self.l1 == 0 or self.x[j] != 0 or self.pseudo[j] != 0
        self.pseudo[self.d], self.free[self.d] = self.g[self.d], 1
        return Descent.look_around(self)

    cdef int learn(self, const double[::1] g) except -1:
        cdef double[::1] s, y
        cdef Py_ssize_t j
        if len(self.s) < PAIRS:
            k = len(self.s)
            self.s.append(self.allocate(f"s{k}"))
            self.y.append(self.allocate(f"y{k}"))
        else:   # the oldest is replaced
            self.s.append(self.s.pop(0))
            self.y.append(self.y.pop(0))
        s, y = self.s[len(self.s) - 1], self.y[len(self.y) - 1]
        for j in range(self.d + 1):
            s[j], y[j] = self.trial[j] - self.x[j], g[j] - self.g[j]
        if not product(s, y) > CONVEX * product(y, y):
            self.s.pop()
            self.y.pop()
        self.name_pairs()
        return 0

    cdef int name_pairs(self) except -1:
        """Each pair has the name of its place, in the state."""
        for name in [name for name in self.arrays if name[0] in "sy"]:
            del self.arrays[name]
        for k, (s, y) in enumerate(zip(self.s, self.y)):
            self.arrays[f"s{k}"], self.arrays[f"y{k}"] = s, y
        return 0

    cdef int forget(self) except -1:
        self.s, self.y, self.rate = [], [], 0
        return self.name_pairs()

    cdef int aim(self) except -1:
        cdef double[::1] q = self.direction, free = self.free, s, y
        cdef const double[::1] solved
        cdef double size, factor, along, squares
        cdef Py_ssize_t j
        used = []       # s, y, <s, y>, factor
        for j in range(self.d + 1):
            q[j] = -self.pseudo[j]      # 0 where it is not free, as it stays
        for s_k, y_k in zip(reversed(self.s), reversed(self.y)):
            s, y = s_k, y_k
            along, squares = product_where(free, s, y, self.d + 1), product_where(free, y, y, self.d + 1)
            if not along > CONVEX * squares:
                continue
            if not used:
                size, squares = product_where(free, s, y, self.d), product_where(free, y, y, self.d)
                if size > 0 and squares > 0:
                    self.rate = size / squares
            factor = product(s, q) / along
            used.append((s_k, y_k, along, factor))
            for j in range(self.d + 1):
                q[j] -= factor * y[j] * free[j]
        if self.solve is not None:
            solved = self.solve(self.arrays["x"], self.arrays["direction"], self.curvature)
            q[:] = solved
        else:
            if self.rate == 0:
                size = sqrt(product(self.pseudo[: self.d], self.pseudo[: self.d]))
                self.rate = 1 / size if size > 0 else 1
            for j in range(self.d):
                q[j] *= self.rate
            q[self.d] /= self.curvature
        for s_k, y_k, along, factor in reversed(used):
            s, y = s_k, y_k
            factor -= product(y, q) / along
            for j in range(self.d + 1):
                q[j] += factor * s[j] * free[j]
        for j in range(self.d if self.l1 > 0 else 0):
            if q[j] * self.pseudo[j] >= 0:
                q[j] = 0
        if self.s and not product(self.pseudo, q) < 0:      # as the sign of the intercept is not restricted
            self.forget()
            return self.aim()
        return 0

    cdef int move(self) except -1:
        """Weights do not pass 0."""
        cdef Py_ssize_t j
        cdef double side
        Descent.move(self)
        if self.l1 == 0:
            return 0
        for j in range(self.d):
            side = self.x[j] if self.x[j] != 0 else -self.pseudo[j]
            if (self.trial[j] > 0) != (side > 0) or side == 0:
                self.trial[j] = 0
        return 0


cdef class SPG(Descent):
    """radius: of the ball, into which the beginning is projected. The objective may rise on the way: `best` is where it
    was least."""

    cdef readonly double radius
    cdef readonly double least      # the objective at `best`
    cdef double[::1] best
    cdef list last                  # objectives of the last steps

    def __init__(self, const double[::1] x not None, *, double radius, double l2=0):
        super().__init__(x, l2=l2)
        if not 0 < radius < INFINITY:
            raise ValueError("a radius is a number above 0")
        self.radius, self.least, self.last = radius, INFINITY, []
        self.best = self.allocate("best")
        self.project(self.trial, self.x)
        memcpy(&self.trial[0], &self.x[0], 8 * self.d + 8)

    def state(self):
        return {**super().state(), "least": self.least if self.known else None, "last": list(self.last)}

    def load(self, numbers, arrays):
        super().load(numbers, arrays)
        try:
            self.least = INFINITY if numbers["least"] is None else numbers["least"]
            self.last = [float(x) for x in numbers["last"]]
        except (KeyError, TypeError, ValueError, OverflowError) as e:
            raise ValueError(f"its numbers are not those of the method: {e}") from None
        if (bool(self.last) != self.known or len(self.last) > HISTORY or not are_finite(self.last)
                or self.known != isfinite(self.least)):
            raise ValueError("its objectives are not those of the method")

    cdef int project(self, double[::1] given, double[::1] out) except -1:
        """The weights onto the ball."""
        out[self.d] = given[self.d]
        if self.d and not project_plain(given[: self.d], self.radius, False, out[: self.d]):
            raise ValueError("a weight is not finite")
        return 0

    cdef double most(self) noexcept:
        return max(self.last)

    cdef int learn(self, const double[::1] g) except -1:
        cdef Sum squares = Sum(0, 0), along = Sum(0, 0)
        cdef double s
        cdef Py_ssize_t j
        for j in range(self.d):
            s = self.trial[j] - self.x[j]
            add(&squares, s * s)
            add(&along, s * (g[j] - self.g[j]))
        if value_of(&squares) > 0:
            self.rate = MOST_RATE
            if value_of(&along) > 0:
                self.rate = smaller(larger(value_of(&squares) / value_of(&along), 1 / MOST_RATE), MOST_RATE)
        return 0

    cdef int take(self, double value) except -1:
        self.last = [*self.last[len(self.last) >= HISTORY :], value]
        if value < self.least:
            self.least = value
            self.best[:] = self.x
        return 0

    cdef int forget(self) except -1:
        self.rate = 0
        self.last = [self.objective]
        return 0

    cdef int aim(self) except -1:
        """To the projection of x - t g; t is at first 1 over the largest change that t = 1 makes."""
        cdef double most = 0
        cdef Py_ssize_t j
        if self.rate == 0:
            self.rate = 1
            self.aim()
            for j in range(self.d):
                most = larger(most, fabs(self.direction[j]))
            self.rate = 1 / most if most > 0 else 1
        for j in range(self.d):
            self.trial[j] = self.x[j] - self.rate * self.g[j]
        self.trial[self.d] = self.x[self.d] - self.g[self.d] / self.curvature
        self.project(self.trial, self.direction)
        for j in range(self.d + 1):
            self.direction[j] -= self.x[j]
        return 0
