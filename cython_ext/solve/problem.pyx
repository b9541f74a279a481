"""A batch problem: rows, a loss, a penalty or a constraint set, and the current weights, which a solver changes.

    min over w, b of P = sum_i h_i l(p_i, y_i) + l1 sum_j c_j |w_j| + l2 / 2 ||w||^2,   p_i = <w, x_i> + b + initial_i

with the shares h_i of the importance (they sum to 1), the intercept b without penalty, and optionally w >= 0,
|w_j| <= box, sum_j c_j |w_j| <= radius or, the simplex, = radius.

Every lower bound is the value of the dual at a point computed from the derivatives at the weights: alpha_i = -l'(p_i),
changed so that sum_i h_i alpha_i = 0 if there is an intercept, as it is not penalised. With v_j = sum_i h_i alpha_i
x_ij,

    D = -sum_i h_i (l*(-alpha_i) + alpha_i initial_i) - sup over w of <v, w> - penalty(w).

The supremum of l1 alone is infinite unless |v_j| <= l1 c_j for all j: then alpha is scaled down. For hinge and quantile
losses the bound is below the objective even at the solution; for the others they are equal there.

L1B: Duchi, Shalev-Shwartz, Singer, Chandra. Efficient projections onto the l1-ball. ICML 2008. The duals: Rockafellar,
Convex Analysis, section 31.
"""

import array

from libc.math cimport INFINITY, fabs, isfinite
from libc.stdint cimport uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from vwlite.core.base.arrays cimport view_of
from vwlite.core.base.sums cimport Sum, add, value_of
from vwlite.core.solve.columns cimport NOT_KEPT, ByColumn, Columns, add_column, dot, kept_columns
from vwlite.core.solve.batch_losses cimport (
    HINGE, LOGISTIC, POISSON, SQUARED, LossKind, classifies, conjugates, evaluate_range, is_smooth, log_of,
)
from vwlite.core.solve.rows cimport Rows, Sparse

from vwlite.core.solve.batch_losses import NAMES

cdef double MOST_COUNT = 1e250  # e^p goes as far as MOST_EXPONENT, and the best p has to be there
cdef double CERTAIN = 1e-15     # a mean derivative below this counts as 0: an intercept that diverges stops there


cdef double total(const double* x, size_t n) noexcept nogil:
    """The sum, in eight lanes, with the rounding of each block of 512 kept."""
    cdef double[8] lanes
    cdef Sum whole = Sum(0, 0)
    cdef size_t begin = 0, end, i, k
    while begin < n:
        end = min(begin + 512, n)
        memset(lanes, 0, sizeof(lanes))
        i = begin
        while i + 8 <= end:
            for k in range(8):
                lanes[k] += x[i + k]
            i += 8
        while i < end:
            lanes[i - (end & ~<size_t>7)] += x[i]
            i += 1
        add(&whole, ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])))
        begin = end
    return value_of(&whole)


cdef class Problem:
    """rows: finished. loss: squared, logistic, squared-hinge, poisson, hinge, quantile (with `tau`).

    l1, l2: regularization strengths. radius: instead of l1, of the ball; `simplex`: w >= 0 and the sum is the radius.
    constant: whether there is an intercept; it is not penalised, unless `penalize_constant` applies l2 to it: for hinge
    loss with l2 alone. nonnegative: w >= 0. box: the largest |w_j|.
    penalty_weights: c_j > 0 of each column, 1 without. labels: instead of those of the rows, such as -1 and 1 of one
    class. columns: those of `rows`, if several problems share them; otherwise a solver creates them on demand.

    ValueError: a number out of its range, labels that are not valid for the loss, no rows.
    """

    def __cinit__(self, *args, **options):
        self.ball = -1
        self.objective = self.violation = INFINITY

    def __init__(self, Rows rows not None, str loss not None, *, double l1=0, double l2=0, radius=None, bint simplex=False,
                 bint constant=True, bint nonnegative=False, penalty_weights=None, box=None, labels=None,
                 double tau=0.5, Columns columns=None, bint penalize_constant=False):
        if self.rows is not None:
            raise ValueError("the problem is made")
        if not rows.finished or rows.a.size == 0:
            raise ValueError("no labelled example")
        if loss not in NAMES:
            raise ValueError(f"no loss is called {loss!r}")
        if not 0 <= l1 < INFINITY or not 0 <= l2 < INFINITY:
            raise ValueError("a regularization strength must be at least 0")
        if radius is not None and (not 0 < radius < INFINITY or l1 > 0):
            raise ValueError("a radius must be above 0, and replaces l1")
        if simplex and radius is None:
            raise ValueError("a simplex has a radius")
        if box is not None and (not 0 < box < INFINITY or radius is not None):
            raise ValueError("a box must be above 0, and cannot be used with a radius")
        if not 0 <= tau <= 1:
            raise ValueError("tau is a number from 0 to 1")
        if penalize_constant and not (loss == "hinge" and l2 > 0 and l1 == 0 and radius is None):
            raise ValueError("the intercept is penalised only for hinge loss, with l2 alone")
        if columns is not None and (columns.rows is not rows):
            raise ValueError("the columns are those of other rows")
        self.rows, self.columns, self.shared_columns = rows, columns, columns is not None
        self.loss.kind, self.loss.tau = <LossKind><int>NAMES.index(loss), tau
        self.l1, self.l2, self.box = l1, l2, INFINITY if box is None else box
        self.ball, self.simplex = -1 if radius is None else radius, simplex
        self.constant, self.nonnegative = constant, nonnegative or simplex
        self.penalizes_constant = constant and penalize_constant
        self.n, self.d = rows.a.size, rows.columns
        self.allocate(penalty_weights is not None)
        self.take_labels(rows.labels if labels is None else labels)
        if penalty_weights is not None:
            self.take_penalty_weights(penalty_weights)

    def __dealloc__(self):
        free(self.y)
        free(self.h)
        free(self.predictions)
        free(self.r)
        free(self.curved)
        free(self.alpha)
        free(self.scratch)
        free(self.weights)
        free(self.g)
        free(self.c)

    def allocate(self, bint weighted):
        self.y = <double*>malloc(8 * self.n)
        self.h = <double*>malloc(8 * self.n)
        self.predictions = <double*>malloc(8 * self.n)
        self.r = <double*>calloc(self.n, 8)
        self.curved = <double*>calloc(self.n, 8)
        self.alpha = <double*>malloc(8 * self.n)
        self.scratch = <double*>malloc(8 * self.n)
        self.weights = <double*>calloc(self.d + 1, 8)
        self.g = <double*>calloc(self.d + 1, 8)
        self.c = <double*>malloc(8 * (self.d + 1)) if weighted else NULL
        if (self.y == NULL or self.h == NULL or self.predictions == NULL or self.r == NULL or self.curved == NULL
                or self.alpha == NULL or self.scratch == NULL or self.weights == NULL or self.g == NULL
                or (weighted and self.c == NULL)):
            raise MemoryError("no memory for the problem")

    def take_labels(self, const double[::1] labels):
        cdef size_t i, positive = 0, negative = 0
        cdef double whole = total(self.rows.importance, self.n)
        if <size_t>labels.shape[0] != self.n:
            raise ValueError(f"{labels.shape[0]} labels are not one for each of {self.n} rows")
        if not isfinite(whole):
            raise ValueError("the importance of all examples sums to infinity")
        for i in range(self.n):
            self.y[i] = labels[i]
            self.h[i] = self.rows.importance[i] / whole
            positive += labels[i] > 0
            negative += labels[i] < 0
            if classifies(self.loss) and fabs(labels[i]) != 1:
                raise ValueError(f"a label is {labels[i]:g}, not -1 or 1")
            if not isfinite(labels[i]) or (self.loss.kind == POISSON and labels[i] < 0):
                raise ValueError(f"a label is {labels[i]:g}")
            if self.loss.kind == POISSON and labels[i] > MOST_COUNT:
                raise ValueError(f"a label is {labels[i]:g}, more than {MOST_COUNT:g}")
        if self.constant:
            self.one_sided = ((self.loss.kind == LOGISTIC and (positive == 0 or negative == 0))
                              or (self.loss.kind == POISSON and positive == 0))

    def take_penalty_weights(self, const double[::1] weights):
        cdef size_t j
        if <size_t>weights.shape[0] != self.d:
            raise ValueError(f"{weights.shape[0]} weights are not one for each of {self.d} columns")
        for j in range(self.d):
            if not 0 < weights[j] < INFINITY:
                raise ValueError("the weight of a feature in the penalty is a number above 0")
            self.c[j] = weights[j]

    # --- what Python sees --------------------------------------------------------------------

    @property
    def radius(self):
        """That of the ball or the simplex; None without."""
        return None if self.ball < 0 else self.ball

    @property
    def w(self):
        """The weights, one for each column. Read-only; valid while the problem lives, and changed by solvers."""
        return view_of(self, self.weights, self.d, 8, "d")

    @property
    def b(self):
        """The intercept."""
        return self.b

    @property
    def gap(self):
        """objective - lower_bound, and 0 if rounding makes that negative."""
        return larger(self.objective - self.lower_bound, 0)

    def set(self, const double[::1] w, double b):
        """Start from these weights. Without an intercept, b is 0; a weight outside of the box is moved to its edge."""
        cdef size_t j
        cdef Penalty penalty
        if <size_t>w.shape[0] != self.d:
            raise ValueError(f"{w.shape[0]} weights are not one for each of {self.d} columns")
        for j in range(self.d):
            if not isfinite(w[j]):
                raise ValueError("a weight is not finite")
        if not isfinite(b):
            raise ValueError("the intercept is not finite")
        for j in range(self.d):
            penalty = self.penalty_of(j)
            self.weights[j] = smaller(larger(w[j], penalty.low), penalty.high)
        self.b = b if self.constant else 0
        self.known = False
        self.changes += 1

    def set_l1(self, double l1):
        """Set another strength, keeping the weights; the bound of the objective is reset."""
        if not 0 <= l1 < INFINITY or self.ball >= 0:
            raise ValueError("a regularization strength must be at least 0, without a radius")
        self.l1 = l1
        self.forget()

    def forget(self):
        """Forget the best lower bound: it was that of another problem."""
        self.lower_bound = 0
        self.objective = self.violation = INFINITY
        self.changes += 1

    def make_columns(self, double l1):
        """Create the columns in which the solution can have weights at strengths from l1 on, once for a whole path.
        MemoryError."""
        if not 0 <= l1 < INFINITY:
            raise ValueError("a regularization strength must be at least 0")
        self.pick_columns(l1)
        self.changes += 1

    def l1_max(self):
        """The least l1 at which all weights are zero: max_j |g_j| / c_j at w = 0 and the best b. ValueError: the loss
        has kinks."""
        cdef double found
        if not is_smooth(self.loss):
            raise ValueError("the loss has kinks")
        with nogil:
            found = self.zero_l1_max()
        self.known = False
        self.changes += 1
        return found

    def evaluate(self):
        """Objective, lower bound, violation and nonzeros of the weights as they are; changes none of them. The lower
        bound is the best so far."""
        with nogil:
            self.whole()
        self.changes += 1

    def dual(self):
        """The lower bound from the current weights alone. For tests."""
        cdef double best = self.lower_bound
        self.lower_bound = -INFINITY
        with nogil:
            self.whole()
        self.changes += 1
        found, self.lower_bound = self.lower_bound, larger(best, self.lower_bound)
        return found

    def gradient_at(self):
        """The gradient of the mean loss by each weight, as of the last evaluation. For tests."""
        return view_of(self, self.g, self.d, 8, "d")

    def penalized(self):
        """The problem with a penalty instead of the ball, l1 = 0 at first: the solution of this problem is on its
        regularization path."""
        labels, c = view_of(self, self.y, self.n, 8, "d"), None
        if self.c != NULL and self.d:
            c = view_of(self, self.c, self.d, 8, "d")
        return Problem(self.rows, NAMES[<int>self.loss.kind], l2=self.l2, constant=self.constant,
                       nonnegative=self.nonnegative, penalty_weights=c, labels=labels, tau=self.loss.tau,
                       columns=self.columns if self.shared_columns else None)

    # --- for solvers -------------------------------------------------------------------------

    cdef int prepare(self) except -1:
        """Create columns, set the weights of all others to zero, and update the state as `settle` does."""
        cdef size_t j
        if self.columns is None:
            self.pick_columns(self.l1)
        elif self.columns_l1 > self.l1:     # strengths fall: recompute less often than they do
            self.pick_columns(self.l1 / 4)
        with nogil:
            for j in range(self.d):
                if self.columns.position[j] == NOT_KEPT and self.weights[j] != 0:
                    self.weights[j] = 0
                    self.known = False
            if not self.known:
                self.predict()
            if self.known and not self.constant:
                self.conclude()
            else:
                self.settle(False)
        return 0

    # --- passes ------------------------------------------------------------------------------

    cdef Penalty penalty_of(self, size_t j) noexcept nogil:
        cdef Penalty penalty
        penalty.l1 = self.l1 * self.c[j] if self.c != NULL else self.l1
        penalty.l2 = self.l2
        penalty.low = 0 if self.nonnegative else -self.box
        penalty.high = self.box
        return penalty

    cdef void predict(self) noexcept nogil:
        """Compute predictions from the weights: by the columns of the nonzero weights, if these are stored and few;
        else by rows."""
        cdef const Sparse* a = &self.rows.a
        cdef const ByColumn* columns
        cdef const double* w = self.weights
        cdef double sum
        cdef size_t i, e, k
        if self.entries_of_weights() <= self.rows.nonzeros / 2:
            memset(self.predictions, 0, 8 * self.n)
            if self.columns is not None:
                columns = &self.columns.a
                for k in range(columns.size):
                    if w[self.columns.rows_column[k]] != 0:
                        add_column(self.predictions, w[self.columns.rows_column[k]], columns, k)
            for i in range(self.n):
                self.predictions[i] += self.b + self.rows.initial[i]
            return
        for i in range(self.n):
            sum = 0
            for e in range(a.begin[i], a.begin[i + 1]):
                sum += w[a.index[e]] * a.value[e]
            self.predictions[i] = sum + self.b + self.rows.initial[i]

    cdef size_t entries_of_weights(self) noexcept nogil:
        """The number of entries in the columns of nonzero weights; more than exist if one is not stored."""
        cdef size_t j, k, entries = 0
        for j in range(self.d):
            if self.weights[j] != 0:
                if self.columns is None or self.columns.position[j] == NOT_KEPT:
                    return <size_t>-1
                k = self.columns.position[j]
                entries += self.columns.a.begin[k + 1] - self.columns.a.begin[k]
        return entries

    cdef double lose(self) noexcept nogil:
        """The mean loss; r and curved."""
        self.mean_loss = evaluate_range(self.loss, self.predictions, self.y, self.h, self.r, self.curved, self.n)
        if self.mean_loss < 0:      # no loss is, but for rounding
            self.mean_loss = 0
        return self.mean_loss

    cdef double fit_constant(self, bint known) noexcept nogil:
        """Set b to the best one for these weights, by Newton's method between bounds; `lose` there. Smooth losses.
        known: `lose` has seen the predictions."""
        cdef double low = -INFINITY, high = INFINITY, shift = 0, slope, curvature, size, step
        cdef size_t i, rounds
        for rounds in range(200):
            if not known:
                self.lose()
            known = False
            if not self.constant:
                break
            slope, curvature = total(self.r, self.n), total(self.curved, self.n)
            for i in range(self.n):
                self.scratch[i] = fabs(self.r[i])
            size = total(self.scratch, self.n)
            if fabs(slope) <= 1e-14 * size or size <= CERTAIN:
                break
            if slope > 0:
                high = shift
            else:
                low = shift
            if self.loss.kind == POISSON:       # exactly: curvature - slope is the sum of h y
                step = log_of((curvature - slope) / curvature) if curvature - slope > 1e-280 < curvature else -30
                step = smaller(larger(step, -30), 30)
            elif curvature > 0:
                step = -slope / curvature
                if self.loss.kind == LOGISTIC:
                    step = smaller(larger(step, -4), 4)
            else:
                step = -4 if slope > 0 else 4
            if not low < shift + step < high:       # to the middle; past a bound that is not one yet, it is rounding
                step = (low + high) / 2 - shift if isfinite(low) and isfinite(high) else 0
            if fabs(step) <= 1e-16 * (1 + fabs(shift)) or shift + step == shift:
                break
            shift += step
            self.b += step
            for i in range(self.n):
                self.predictions[i] += step
        return self.mean_loss

    cdef bint balance(self) noexcept nogil:
        """The dual point of r: alpha, and r = -h alpha; with an intercept, changed so that sum h alpha = 0. Whether it
        was changed by more than rounding."""
        cdef size_t i
        cdef double positive, negative, least, up = 1, down = 1, shift
        cdef double change = 0
        if self.constant and self.loss.kind == SQUARED:
            shift = total(self.r, self.n)
            for i in range(self.n):
                self.r[i] -= self.h[i] * shift
            change = fabs(shift)
        elif self.constant and self.loss.kind == POISSON:
            for i in range(self.n):
                self.scratch[i] = self.h[i] * self.y[i]
            positive = total(self.scratch, self.n)
            negative = total(self.curved, self.n)
            up = positive / negative if negative > 0 else 0
            for i in range(self.n):
                self.r[i] = up * self.curved[i] - self.scratch[i]
            change = fabs(up - 1)
        elif self.constant and not self.penalizes_constant:
            for i in range(self.n):
                self.scratch[i] = larger(-self.r[i], 0)
            positive = total(self.scratch, self.n)
            for i in range(self.n):
                self.scratch[i] = larger(self.r[i], 0)
            negative = total(self.scratch, self.n)
            least = smaller(positive, negative)
            up = least / positive if positive > 0 else 0
            down = least / negative if negative > 0 else 0
            change = larger(fabs(positive - negative), 0)
            if change > 0:
                for i in range(self.n):
                    self.r[i] *= up if self.r[i] < 0 else down
        for i in range(self.n):
            self.alpha[i] = -self.r[i] / self.h[i]
            if self.loss.kind == POISSON:
                self.alpha[i] = smaller(self.alpha[i], self.y[i])
            elif self.loss.kind == LOGISTIC or self.loss.kind == HINGE:
                self.alpha[i] = smaller(larger(self.alpha[i], -1), 1)
        return change > 1e-12

    cdef void gradient(self, bint kept) noexcept nogil:
        """g = X^T r. kept: of the columns that are kept, 0 for the others; else of all, by rows."""
        cdef const Sparse* a
        cdef const ByColumn* columns
        cdef const double* residual = self.r
        cdef size_t i, k, e
        memset(self.g, 0, 8 * self.d)
        if kept:
            columns = &self.columns.a
            for k in range(columns.size):
                self.g[self.columns.rows_column[k]] = dot(residual, columns, k)
            return
        a = &self.rows.a
        for i in range(self.n):
            for e in range(a.begin[i], a.begin[i + 1]):
                self.g[a.index[e]] += residual[i] * a.value[e]

    cdef double norm(self) noexcept nogil:
        """sum_j c_j |w_j|"""
        cdef size_t j
        cdef Sum norm = Sum(0, 0)
        for j in range(self.d):
            if self.weights[j] != 0:
                add(&norm, fabs(self.weights[j]) * (self.c[j] if self.c != NULL else 1))
        return value_of(&norm)

    cdef double penalties(self) noexcept nogil:
        """The penalty, which is added to the mean loss."""
        cdef size_t j
        cdef double squares = self.b * self.b if self.penalizes_constant else 0
        if self.l2 > 0:
            for j in range(self.d):
                squares += self.weights[j] * self.weights[j]
        return (self.l1 * self.norm() if self.l1 > 0 else 0) + self.l2 / 2 * squares

    cdef void measure(self) noexcept nogil:
        """Objective, violation and nonzeros from mean_loss, r and g, and the lower bound from alpha and r."""
        cdef size_t j
        cdef double worst = 0, largest = 0, along = 0, size, w, g
        cdef Penalty penalty
        self.objective = self.mean_loss + self.penalties()
        self.nonzeros = 0
        for j in range(self.d):
            w = self.weights[j]
            self.nonzeros += w != 0
            if self.ball < 0:
                if w == 0 and fabs(self.g[j]) <= (self.l1 if self.c == NULL else self.l1 * self.c[j]):
                    continue
                penalty = self.penalty_of(j)
                worst = larger(worst, violation_of(&penalty, w, self.g[j]))
                continue
            g = self.g[j] + self.l2 * w
            along += g * w
            size = (-g if self.nonnegative else fabs(g)) / (self.c[j] if self.c != NULL else 1)
            largest = size if j == 0 else larger(largest, size)
        if self.ball >= 0:
            # What the best corner of the set gains, by unit of its radius.
            self.steepest = largest
            worst = along / self.ball + (largest if self.simplex else larger(largest, 0))
        w = self.l2 * self.b if self.penalizes_constant else 0
        self.violation = larger(worst, fabs(total(self.r, self.n) + w) if self.constant else 0)

    cdef double dual_value(self) noexcept nogil:
        """The dual at alpha, or at the best of the points near it that were tried."""
        cdef size_t j, i
        cdef double free_of = -INFINITY, largest = 0, size, scale, step, supremum = 0, w, offset
        cdef Penalty penalty
        for i in range(self.n):
            self.scratch[i] = self.r[i] * self.rows.initial[i]
        offset = total(self.scratch, self.n)
        if self.ball >= 0:
            return offset - conjugates(self.loss, self.alpha, self.y, self.h, self.n) - self.ball_conjugate()
        if self.penalizes_constant:
            step = total(self.r, self.n)
            supremum = step * step / (2 * self.l2)
        for j in range(self.d):
            size = -self.g[j] if self.nonnegative else fabs(self.g[j])
            if size > (self.l1 if self.c == NULL else self.l1 * self.c[j]):
                penalty = self.penalty_of(j)
                largest = larger(largest, size / penalty.l1) if penalty.l1 > 0 else INFINITY
                if self.l2 > 0 or self.box < INFINITY:
                    step = size - penalty.l1
                    w = smaller(step / self.l2, self.box) if self.l2 > 0 else self.box
                    supremum += step * w - self.l2 / 2 * w * w
        if self.l2 > 0 or self.box < INFINITY or largest <= 1:
            free_of = offset - conjugates(self.loss, self.alpha, self.y, self.h, self.n) - supremum
        if largest <= 1:
            return free_of
        scale = 1 / largest
        for i in range(self.n):
            self.scratch[i] = scale * self.alpha[i]
        return larger(free_of, scale * offset - conjugates(self.loss, self.scratch, self.y, self.h, self.n))

    cdef double ball_conjugate(self) noexcept nogil:
        """sup of <v, w> - l2 / 2 ||w||^2 over the ball or the simplex, v = -g. With l2, its dual: the least
        mu radius + sum_j max(|v_j| - mu c_j, 0)^2 / (2 l2) over mu, at a mu that is nearly the best."""
        cdef size_t j, rounds
        cdef double largest = -INFINITY, low, high, mu = 0, size, c, slope, value
        for j in range(self.d):
            c = self.c[j] if self.c != NULL else 1
            largest = larger(largest, (-self.g[j] if self.nonnegative else fabs(self.g[j])) / c)
        if self.d == 0:
            return 0
        if not self.simplex:
            largest = larger(largest, 0)
        if self.l2 == 0:
            return self.ball * largest
        low, high = 0, largest
        if self.simplex:        # below this, every weight would be at least the radius
            low = -INFINITY
            for j in range(self.d):
                c = self.c[j] if self.c != NULL else 1
                if -self.g[j] / c == largest:
                    low = largest - self.l2 * self.ball / (c * c)
                    break
        for rounds in range(200):
            mu = (low + high) / 2
            slope = self.ball
            for j in range(self.d):
                c = self.c[j] if self.c != NULL else 1
                size = (-self.g[j] if self.nonnegative else fabs(self.g[j])) - mu * c
                if size > 0:
                    slope -= size * c / self.l2
            if slope > 0:
                high = mu
            else:
                low = mu
            if high - low <= 1e-15 * fabs(high):
                break
        value = mu * self.ball
        for j in range(self.d):
            c = self.c[j] if self.c != NULL else 1
            size = (-self.g[j] if self.nonnegative else fabs(self.g[j])) - mu * c
            if size > 0:
                value += size * size / (2 * self.l2)
        return value

    cdef void settle(self, bint known) noexcept nogil:
        """After predictions have changed: the best intercept, gradient, objective, lower bound. With columns: of those,
        as the solution has no weights in others. known: `lose` has seen the predictions."""
        if is_smooth(self.loss):
            self.fit_constant(known)
        else:
            self.lose()
        self.balance()
        self.gradient(self.columns is not None)
        self.conclude()

    cdef void conclude(self) noexcept nogil:
        """Update objective and lower bound from the mean loss, alpha, r and g."""
        cdef double bound
        self.measure()
        bound = self.dual_value()
        if bound > self.lower_bound:
            self.lower_bound = bound

    cdef void whole(self) noexcept nogil:
        """`evaluate`: the bound at the best intercept, then the rest at the current one."""
        cdef double b = self.b, bound
        cdef bint changed, by_columns = self.columns is not None and self.columns.nonzeros == self.rows.nonzeros
        self.predict()
        if self.constant and is_smooth(self.loss):
            self.fit_constant(False)
        else:
            self.lose()
        changed = self.balance()
        self.gradient(by_columns)
        bound = self.dual_value()
        if bound > self.lower_bound:
            self.lower_bound = bound
        if changed or self.b != b:
            self.b = b
            self.predict()
            self.lose()
            self.gradient(by_columns)
        self.measure()
        self.known = True

    cdef double zero_l1_max(self) noexcept nogil:
        cdef size_t i, j
        cdef double b = self.b, largest = 0, size
        self.b = 0
        for i in range(self.n):
            self.predictions[i] = self.rows.initial[i]
        self.fit_constant(False)
        self.balance()
        self.gradient(False)
        self.b = b
        for j in range(self.d):
            size = -self.g[j] if self.nonnegative else fabs(self.g[j])
            largest = larger(largest, size / (self.c[j] if self.c != NULL else 1))
        return largest

    cdef int pick_columns(self, double l1) except -1:
        """Select the columns in which the solution can have weights at a strength of at least l1. MemoryError.

        For losses with |l'| <= 1 and the sign of -y, a column whose entries of either sign of y x weigh less than
        l1 c_j in sum has |g_j| < l1 c_j whatever the weights are (SAFE rules: El Ghaoui, Viallon, Rabbani, 2012).
        """
        cdef double* sums
        cdef uint8_t* keep
        cdef size_t* counted
        cdef const Sparse* a
        cdef size_t i, k, j
        cdef double x, limit, hy
        if self.columns is not None and (self.shared_columns or self.columns_l1 <= l1):
            return 0
        self.columns = None
        self.columns_l1 = 0
        if self.ball >= 0 or l1 == 0 or not (self.loss.kind == LOGISTIC or self.loss.kind == HINGE):
            self.columns = kept_columns(self.rows, NULL, NULL)
            return 0
        sums = <double*>calloc(2 * self.d + 1, 8)
        keep = <uint8_t*>malloc(self.d + 1)
        counted = <size_t*>calloc(self.d + 1, sizeof(size_t))
        if sums == NULL or keep == NULL or counted == NULL:
            free(sums)
            free(keep)
            free(counted)
            raise MemoryError("no memory to count the columns")
        a = &self.rows.a
        with nogil:
            for i in range(self.n):
                hy = self.h[i] * self.y[i]
                for k in range(a.begin[i], a.begin[i + 1]):
                    x, j = hy * a.value[k], a.index[k]
                    sums[2 * j + (x < 0)] += fabs(x)
                    counted[j] += 1
            for j in range(self.d):
                limit = l1 * (self.c[j] if self.c != NULL else 1)
                keep[j] = larger(sums[2 * j], sums[2 * j + 1]) * (1 + 1e-9) >= limit
        try:
            self.columns = kept_columns(self.rows, keep, counted)
        finally:
            free(sums)
            free(keep)
        self.columns_l1 = l1
        return 0
