"""Several classes at once: multinomial logistic regression with a ball for each class.

    min over W, b of sum_i h_i log(1 + sum over k != y_i of exp(s_ik - s_iy)) + l2 / 2 ||W||^2,   s_ik = <w_k, x_i> + b_k,
    sum_j c_j |w_kj| <= radius for each class k, and optionally w >= 0.

The lower bound: for probabilities q_ik of which sum_i h_i q_ik is the share of the labels in class k, for all k (without
intercepts: for any), with V_kj = sum_i h_i ([k = y_i] - q_ik) x_ij,

    D = -sum_i h_i sum_k q_ik ln q_ik - sum_k sup over the ball of <V_k, w> - l2 / 2 ||w||^2.

The q are the probabilities at the weights: shifted towards the best intercepts by a few steps of iterative scaling
(Darroch, Ratcliff, 1972), and then mixed with those that are the same for all examples, which makes the shares exact.

For each class, the methods of `Problem` are used, with the arrays of that class.

Duchi, Shalev-Shwartz, Singer, Chandra. Efficient Projections onto the l1-Ball. ICML 2008; eq. 12.
"""

from libc.math cimport INFINITY, fabs, isfinite
from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free, malloc

from vwlite.core.base.arrays cimport view_of
from vwlite.core.base.elementary cimport exp_of
from vwlite.core.base.logistic cimport log_1_plus
from vwlite.core.solve.batch_losses cimport LOGISTIC, log_of, x_log_x
from vwlite.core.solve.problem cimport Problem, larger, total
from vwlite.core.solve.rows cimport Rows

cdef enum:
    SCALINGS = 20       # steps towards the best intercepts, for the bound


cdef double softmax_row(const double* scores, size_t stride, size_t classes, size_t label, double h,
                        double* r) noexcept nogil:
    """The loss of an example, whose scores have distance `stride`, and r_k = h (P(k) - [k is the label]), likewise."""
    cdef double most = scores[0], others = 0, own, sum, e
    cdef size_t k
    for k in range(1, classes):
        most = larger(most, scores[k * stride])
    for k in range(classes):
        if k != label:
            e = exp_of(larger(scores[k * stride] - most, -600))
            r[k * stride] = e
            others += e
    own = exp_of(larger(scores[label * stride] - most, -600))
    sum = own + others
    for k in range(classes):
        if k != label:
            r[k * stride] *= h / sum
    r[label * stride] = -h * (others / sum)
    if own == 1:
        return log_1_plus(others)
    return (most - scores[label * stride]) + log_of(sum)


def softmax_each(const double[:, ::1] scores not None, const uint32_t[::1] labels not None, double[::1] values not None,
                 double[:, ::1] slopes not None):
    """The loss of each example, and its derivatives P(k) - [k is the label]. labels: from 0."""
    cdef size_t i, n = scores.shape[0], classes = scores.shape[1]
    if not (<size_t>labels.shape[0] == <size_t>values.shape[0] == <size_t>slopes.shape[0] == n
            and <size_t>slopes.shape[1] == classes):
        raise ValueError("arrays of different lengths")
    for i in range(n):
        if labels[i] >= classes:
            raise ValueError(f"{labels[i]} is not one of {classes} classes")
        values[i] = softmax_row(&scores[i, 0], 1, classes, labels[i], 1, &slopes[i, 0])


cdef class SoftmaxProblem(Problem):
    """rows: finished; labels from 1 to `classes`, or `labels` instead of those of the rows. radius: of each class's ball.

    constant: whether each class has an intercept, which is not penalised. nonnegative, penalty_weights, l2: as
    `Problem`. Initial predictions of examples are added to all classes alike, and so have no effect.

    ValueError: as `Problem`; fewer than 2 classes; a label that is not a class.
    """

    def __init__(self, Rows rows not None, size_t classes, radius not None, bint nonnegative=False, *, double l2=0,
                 bint constant=True, penalty_weights=None, labels=None):
        if not 2 <= classes < 1 << 31:
            raise ValueError(f"{classes} classes: there must be at least 2")
        super().__init__(rows, "squared", l2=l2, radius=radius, constant=constant, nonnegative=nonnegative,
                         penalty_weights=penalty_weights, labels=labels)
        self.loss.kind = LOGISTIC
        self.classes = classes
        self.allocate_classes()
        self.take_classes()

    def __dealloc__(self):
        if self.every_weight != NULL:       # else these are those of the base
            self.weights = self.g = self.predictions = self.r = NULL
        free(self.class_of)
        free(self.share)
        free(self.every_weight)
        free(self.every_g)
        free(self.every_prediction)
        free(self.every_r)
        free(self.constants)
        free(self.mean)

    def allocate_classes(self):
        cdef size_t k = self.classes, by_columns, by_rows
        if self.d + 1 > (<size_t>-1) / 8 / k or self.n > (<size_t>-1) / 8 / k:
            raise MemoryError("no memory for the classes")
        by_columns, by_rows = 8 * k * (self.d + 1), 8 * k * self.n
        self.class_of = <uint32_t*>malloc(4 * self.n)
        self.share, self.mean = <double*>calloc(k, 8), <double*>calloc(k, 8)
        self.constants = <double*>calloc(k, 8)
        self.every_g = <double*>calloc(by_columns, 1)
        self.every_prediction, self.every_r = <double*>malloc(by_rows), <double*>calloc(by_rows, 1)
        if (self.class_of == NULL or self.share == NULL or self.mean == NULL or self.constants == NULL
                or self.every_g == NULL or self.every_prediction == NULL or self.every_r == NULL):
            raise MemoryError("no memory for the classes")
        self.every_weight = <double*>calloc(by_columns, 1)
        if self.every_weight == NULL:
            raise MemoryError("no memory for the classes")
        free(self.weights)
        free(self.g)
        free(self.predictions)
        free(self.r)
        self.lend(0)

    def take_classes(self):
        cdef size_t i, k
        for i in range(self.n):
            if not 1 <= self.y[i] <= self.classes or self.y[i] != <size_t>self.y[i]:
                raise ValueError(f"a label is {self.y[i]:g}, not a class from 1 to {self.classes}")
            self.class_of[i] = <uint32_t>self.y[i] - 1
            self.share[self.class_of[i]] += self.h[i]
        for k in range(self.classes):
            self.one_sided = self.one_sided or (self.constant and self.share[k] == 0)

    # --- what Python sees --------------------------------------------------------------------

    @property
    def w(self):
        """The weights, [classes, columns]. Read-only; valid while the problem lives, and changed by solvers."""
        return self.table(self.every_weight)

    @property
    def b(self):
        """The intercepts, one for each class."""
        return view_of(self, self.constants, self.classes, 8, "d")

    cdef object table(self, double* data):
        flat = view_of(self, data, self.classes * self.d, 8, "d")
        return flat.cast("B").cast("d", (self.classes, self.d)) if self.d else flat

    def set(self, const double[:, ::1] w, const double[::1] b):
        """Start from these weights, [classes, columns], and intercepts. Without intercepts, they are 0; a weight below
        0 becomes 0 where it must not be. w: None without columns, as no buffer has a length of 0."""
        cdef size_t k, j
        cdef double low = 0 if self.nonnegative else -INFINITY
        if w is None and self.d:
            raise ValueError(f"no weights are not {self.classes} x {self.d}")
        if w is not None and (<size_t>w.shape[0] != self.classes or <size_t>w.shape[1] != self.d):
            raise ValueError(f"{w.shape[0]} x {w.shape[1]} weights are not {self.classes} x {self.d}")
        if <size_t>b.shape[0] != self.classes:
            raise ValueError(f"{b.shape[0]} intercepts are not one for each of {self.classes} classes")
        for k in range(self.classes):
            if not isfinite(b[k]):
                raise ValueError("an intercept is not finite")
            for j in range(self.d):
                if not isfinite(w[k, j]):
                    raise ValueError("a weight is not finite")
        for k in range(self.classes):
            self.constants[k] = b[k] if self.constant else 0
            for j in range(self.d):
                self.every_weight[k * self.d + j] = larger(w[k, j], low)
        self.lend(0)
        self.changes += 1

    def l1_max(self):
        """ValueError: not defined for balls."""
        raise ValueError("several classes have balls, and no l1")

    def penalized(self):
        """ValueError: the balls of several classes do not share one regularization path."""
        raise ValueError("several classes have balls, and no l1")

    def gradient_at(self):
        return self.table(self.every_g)

    # --- passes ------------------------------------------------------------------------------

    cdef void lend(self, size_t k) noexcept nogil:
        """Let the base class work on the arrays of a class."""
        self.weights, self.g = self.every_weight + k * self.d, self.every_g + k * self.d
        self.predictions, self.r = self.every_prediction + k * self.n, self.every_r + k * self.n
        self.b = self.constants[k]

    cdef void predict(self) noexcept nogil:
        cdef size_t k
        for k in range(self.classes):
            self.lend(k)
            Problem.predict(self)
        self.lend(0)

    cdef double lose(self) noexcept nogil:
        cdef size_t i
        for i in range(self.n):
            self.scratch[i] = self.h[i] * softmax_row(self.every_prediction + i, self.n, self.classes, self.class_of[i],
                                                      self.h[i], self.every_r + i)
        self.mean_loss = total(self.scratch, self.n)
        return self.mean_loss

    cdef double fit_constant(self, bint known) noexcept nogil:
        """A few steps towards the best intercepts; predictions are shifted, intercepts are not."""
        cdef size_t i, k, rounds
        cdef double shift, farthest
        self.lose()
        for rounds in range(SCALINGS):
            farthest = 0
            for k in range(self.classes):
                self.mean[k] = self.share[k] + total(self.every_r + k * self.n, self.n)
                farthest = larger(farthest, fabs(self.mean[k] - self.share[k]))
            if farthest <= 1e-15:
                break
            for k in range(self.classes):
                shift = -30
                if self.share[k] > 0:
                    shift = larger(log_of(self.share[k] / larger(self.mean[k], 1e-290)), -30)
                if self.mean[k] > 1e-30:
                    for i in range(self.n):
                        self.every_prediction[k * self.n + i] += shift
            self.lose()
        return self.mean_loss

    cdef void make_balanced(self) noexcept nogil:
        """From r, with intercepts: those of probabilities that have the shares of the labels, for the bound."""
        cdef size_t i, k
        cdef double mixed = 0, rest, q, own
        if not self.constant:
            return
        for i in range(self.n):             # the probability of a class without labels goes to the others
            rest = 0
            for k in range(self.classes):
                if self.share[k] == 0:
                    rest += self.every_r[k * self.n + i]
                    self.every_r[k * self.n + i] = 0
            if rest > 0:
                for k in range(self.classes):
                    if self.share[k] > 0:
                        own = self.h[i] if k == self.class_of[i] else 0
                        q = self.every_r[k * self.n + i] + own
                        q = q / (self.h[i] - rest) * self.h[i] if rest < 0.999 * self.h[i] else own
                        self.every_r[k * self.n + i] = q - own
        for k in range(self.classes):
            self.mean[k] = self.share[k] + total(self.every_r + k * self.n, self.n)
            if self.mean[k] > self.share[k] > 0:
                mixed = larger(mixed, 1 - self.share[k] / self.mean[k])
        for k in range(self.classes):
            if self.share[k] == 0:
                continue
            # (1 - mixed) r + mixed (what is the same for all - [it is the label]), whose mean is 0
            rest = self.share[k] - (1 - mixed) * self.mean[k]
            for i in range(self.n):
                own = self.h[i] if k == self.class_of[i] else 0
                q = (1 - mixed) * self.every_r[k * self.n + i]
                self.every_r[k * self.n + i] = q + (self.h[i] * rest - mixed * own)

    cdef void gradient(self, bint kept) noexcept nogil:
        cdef size_t k
        for k in range(self.classes):
            self.lend(k)
            Problem.gradient(self, False)
        self.lend(0)

    cdef void measure(self) noexcept nogil:
        cdef size_t k, nonzeros = 0
        cdef double penalties = 0, worst = 0
        for k in range(self.classes):
            self.lend(k)
            Problem.measure(self)
            penalties += self.penalties()
            worst = larger(worst, self.violation)
            nonzeros += self.nonzeros
        self.lend(0)
        self.objective, self.violation, self.nonzeros = self.mean_loss + penalties, worst, nonzeros

    cdef double dual_value(self) noexcept nogil:
        cdef size_t i, k
        cdef double value, q
        for i in range(self.n):
            value = 0
            for k in range(self.classes):
                q = self.every_r[k * self.n + i] / self.h[i] + (1 if k == self.class_of[i] else 0)
                value -= x_log_x(larger(q, 0))
            self.scratch[i] = self.h[i] * value
        value = total(self.scratch, self.n)
        for k in range(self.classes):
            self.lend(k)
            value -= self.ball_conjugate()
        self.lend(0)
        return value

    cdef void settle(self, bint known) noexcept nogil:
        self.whole()

    cdef void whole(self) noexcept nogil:
        """`evaluate`: the bound near the best intercepts, then the rest at the current ones."""
        cdef double bound
        self.predict()
        if self.constant:
            self.fit_constant(False)
            self.make_balanced()
        else:
            self.lose()
        self.gradient(False)
        bound = self.dual_value()
        if bound > self.lower_bound:
            self.lower_bound = bound
        if self.constant:
            self.predict()
            self.lose()
            self.gradient(False)
        self.measure()

    cdef int prepare(self) except -1:
        with nogil:
            self.whole()
        return 0
