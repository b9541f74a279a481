"""Ridge regression, for a few features or a few examples: a candidate beside those of lanes, with the same methods.

Where columns are nearly collinear, small steps take very long to find the weights of their differences; where features are
more than examples, they stop at weights that are too large. For each fold, and for each of COLUMNS strengths s, w minimizes

    sum of h l(<w, x>, y) + s d / 2 sum of (unit_i w_i)^2

over the examples that are not of the fold, d the number of features, in Newton steps. The intercept has no penalty. unit is
the root of the mean square of a feature that at least half of the examples have, and the largest |x| of another one. (Hoerl,
Kennard. Ridge Regression. Technometrics 1970.)

With more features than examples, w is a sum of the examples: rows are then those of Cholesky's factor L of Z Z', Z the
examples in units, as |Z' a|^2 = |L' a|^2, and Z' a is found from L' a.

The first pass takes the examples; what is solved then stays, so that later passes change nothing.
"""

from libc.float cimport FLT_MAX, FLT_MIN
from libc.math cimport fabs, fmax, fmin, isfinite, sqrt
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from vwlite.core.auto.lanes cimport STATE
from vwlite.core.auto.stack cimport solve
from vwlite.core.base.buffers cimport reserve
from vwlite.core.data.expand cimport WHOLE, Features

cdef enum:
    MOST_STEPS = 20
    MOST_HALVED = 8
    NO_MEMORY = -1
    TOO_MANY = 1                # features of an example
cdef double CLOSE = 1e-6        # steps end when one moves no weight by more, relative to the largest
cdef double FREE = 1e-9         # of the intercept, relative to the strength
cdef double TINY = 1e-19        # values below it count as nothing
cdef double JITTER = 1e-10      # added to the diagonal of Z Z', relative to its mean


cdef struct Slot:
    uint32_t mark
    uint32_t place


cdef class Ridge:
    """strengths: COLUMNS of them, falling."""

    def __cinit__(self, Loss loss not None, Expander expander not None, strengths, size_t folds=1):
        cdef size_t c
        if len(strengths) != COLUMNS or folds < 1:
            raise ValueError(f"{COLUMNS} strengths, and at least one fold")
        self.loss, self.expander, self.folds, self.classes = loss, expander, folds, 1
        for c in range(COLUMNS):
            self.strength[c] = strengths[c]
        self.has_constant = expander.constant_key is not None
        self.constant = expander.constant_key if self.has_constant else 0
        self.places = Table(sizeof(Slot))
        if expander.derivation is not None:
            expander.derivation.find_units(expander.mask)

    def __dealloc__(self):
        free(self.keys)
        free(self.values)
        free(self.examples)
        free(self.found)
        free(self.weights_of)
        free(self.unit)
        free(self.largest)
        free(self.squares)

    def __len__(self):
        return self.count

    def learn(self, Batch batch not None, const uint8_t[::1] folds, *, double mean=0, double scale=1,
              double initial_scale=1, bint keep=False):
        """As of lanes; after the first call of `score`, examples are those that were learned."""
        cdef size_t line
        cdef int failed = 0
        cdef const Arrays* a = &batch.a
        if self.is_solved:
            return
        self.check(batch, folds, None)
        with nogil:
            for line in range(a.lines):
                failed = self.take(a, line, (a.label[line] - mean) / scale, a.initial[line] / initial_scale, folds[line])
                if failed:
                    break
        raise_failure(failed, batch, line)

    def score(self, Batch batch not None, const uint8_t[::1] folds, float[::1] scores not None, *, bint keep=False):
        """Fill in scores, [lines * COLUMNS], by the weights that were not learned from each line's fold."""
        cdef size_t line, i, c, place
        cdef int failed = 0
        cdef const Arrays* a = &batch.a
        cdef const double* w
        cdef double sum
        self.check(batch, folds, scores)
        if not self.is_solved:
            with nogil:
                failed = self.solve_all()
            raise_failure(failed, batch, 0)
        with nogil:
            for line in range(a.lines):
                failed = self.locate(a, line, False)
                if failed:
                    break
                for c in range(COLUMNS):
                    w = self.weights_of + (folds[line] * COLUMNS + c) * self.count
                    sum = 0
                    for i in range(self.expander.buffers[0].size):
                        place = (<Slot*>self.found[i]).place
                        if place:
                            sum += w[place - 1] * self.expander.buffers[0].values[i]
                    scores[line * COLUMNS + c] = <float>sum
        raise_failure(failed, batch, line)

    def check(self, Batch batch, const uint8_t[::1] folds, float[::1] scores):
        cdef size_t line, n = batch.a.lines
        if <size_t>folds.shape[0] < n or (scores is not None and <size_t>scores.shape[0] < n * COLUMNS):
            raise ValueError("fewer folds or scores than lines")
        for line in range(n):
            if folds[line] >= self.folds + (scores is None):
                raise ValueError("there is no such fold")
        if batch.decode():
            raise MemoryError("no memory for the hashes of a batch")

    cdef int locate(self, const Arrays* a, size_t line, bint learns) noexcept nogil:
        """Find the slots of the features of a line."""
        cdef Features* f = &self.expander.buffers[0]
        cdef int said = self.expander.expand(a, line, 0, False)
        if said != WHOLE:
            return NO_MEMORY if said < 0 else TOO_MANY
        if reserve(<void**>&self.found, &self.found_capacity, f.size, sizeof(char*)):
            return NO_MEMORY
        if learns:
            return self.places.resolve(f.keys, f.size, self.found)
        self.places.lookup(f.keys, f.size, self.found)
        return 0

    cdef int take(self, const Arrays* a, size_t line, double label, double initial, size_t fold) noexcept nogil:
        """Keep an example."""
        cdef Features* f = &self.expander.buffers[0]
        cdef Slot* slot
        cdef Example* e
        cdef size_t i
        cdef int failed = self.locate(a, line, True)
        if failed:
            return failed
        if (reserve(<void**>&self.values, &self.value_capacity, self.value_count + f.size, sizeof(Value))
                or reserve(<void**>&self.examples, &self.example_capacity, self.example_count + 1, sizeof(Example))
                or reserve(<void**>&self.keys, &self.key_capacity, self.count + f.size, sizeof(uint32_t))):
            return NO_MEMORY
        for i in range(f.size):
            slot = <Slot*>self.found[i]
            if slot.place == 0:
                self.keys[self.count] = f.keys[i]
                self.count += 1
                slot.place = <uint32_t>self.count
            self.values[self.value_count].feature, self.values[self.value_count].x = slot.place - 1, f.values[i]
            self.value_count += 1
        e = &self.examples[self.example_count]
        e.label, e.importance, e.initial, e.fold, e.end = label, a.importance[line], initial, fold, self.value_count
        self.example_count += 1
        return 0

    # --- the weights ----------------------------------------------------------------------------

    cdef int measure(self) noexcept nogil:
        """The units of the features."""
        cdef size_t i, n = self.example_count
        cdef double x
        cdef size_t* times = <size_t*>calloc(self.count + 1, sizeof(size_t))
        self.unit = <double*>calloc(self.count + 1, sizeof(double))
        self.largest = <double*>calloc(self.count + 1, sizeof(double))
        self.squares = <double*>calloc(self.count + 1, sizeof(double))
        self.weights_of = <double*>calloc(self.folds * COLUMNS * self.count + 1, sizeof(double))
        if times == NULL or self.unit == NULL or self.largest == NULL or self.squares == NULL or self.weights_of == NULL:
            free(times)
            return NO_MEMORY
        for i in range(self.value_count):
            x = self.values[i].x
            self.unit[self.values[i].feature] += x * x / n
            self.largest[self.values[i].feature] = fmax(self.largest[self.values[i].feature], fabs(x))
            times[self.values[i].feature] += x != 0
        for i in range(self.count):
            self.unit[i] = sqrt(self.unit[i]) if 2 * times[i] >= n else self.largest[i]
            if self.unit[i] < TINY:
                self.unit[i] = 1        # else its weight might be too large for a float
        free(times)
        return 0

    cdef int solve_all(self) noexcept nogil:
        """The weights of all folds and strengths."""
        cdef size_t i, j, k, row, fold, column, width, n = self.example_count, d = self.count, begin = 0
        cdef size_t intercept = d          # its place; d: there is none
        cdef double* z
        cdef double* factor = NULL
        cdef double* found = NULL
        cdef double* w
        cdef double sum, trace = 0
        cdef int failed = self.measure()
        self.is_solved = True
        if failed:
            return failed
        for i in range(d):
            if self.has_constant and self.keys[i] == self.constant:
                intercept = i
        # Column 0 is that of the intercept, of zeros without one.
        z = <double*>calloc(n * (d + 1) + 1, sizeof(double))
        if z == NULL:
            return NO_MEMORY
        for row in range(n):
            for i in range(begin, self.examples[row].end):
                j = self.values[i].feature
                if j == intercept:
                    z[row * (d + 1)] += self.values[i].x
                else:
                    z[row * (d + 1) + 1 + j] += self.values[i].x / self.unit[j]
            begin = self.examples[row].end
        width = d + 1
        if d > n:
            width = n + 1
            factor = <double*>calloc(n * width + 1, sizeof(double))
            failed = NO_MEMORY if factor == NULL else 0
            for i in range(n if not failed else 0):
                for j in range(i + 1):
                    sum = 0
                    for k in range(1, d + 1):
                        sum += z[i * (d + 1) + k] * z[j * (d + 1) + k]
                    factor[i * width + 1 + j] = sum
                trace += factor[i * width + 1 + i]
            for i in range(n if not failed else 0):
                factor[i * width + 1 + i] += JITTER * trace / n + 1e-300
                for j in range(i + 1):
                    sum = factor[i * width + 1 + j]
                    for k in range(j):
                        sum -= factor[i * width + 1 + k] * factor[j * width + 1 + k]
                    if i > j:
                        factor[i * width + 1 + j] = sum / factor[j * width + 1 + j]
                    else:
                        factor[i * width + 1 + i] = sqrt(fmax(sum, JITTER * trace / n + 1e-300))
                factor[i * width] = z[i * (d + 1)]
        if not failed:
            found = <double*>calloc(COLUMNS * width + 1, sizeof(double))
            failed = NO_MEMORY if found == NULL else 0
        for fold in range(self.folds if not failed else 0):
            failed = self.solve_fold(z if factor == NULL else factor, width, fold, <double>d, found)
            if failed:
                break
            for column in range(COLUMNS):
                w = self.weights_of + (fold * COLUMNS + column) * d
                if factor == NULL:
                    for i in range(d):
                        w[i] = found[column * width + 1 + i] / self.unit[i]
                else:
                    # a: L' a = found; then Z' a
                    for i in reversed(range(n)):
                        sum = found[column * width + 1 + i]
                        for k in range(i + 1, n):
                            sum -= factor[k * width + 1 + i] * found[column * width + 1 + k]
                        found[column * width + 1 + i] = sum / factor[i * width + 1 + i]
                    for i in range(d):
                        w[i] = 0
                    for row in range(n):
                        for i in range(d):
                            w[i] += found[column * width + 1 + row] * z[row * (d + 1) + 1 + i]
                    for i in range(d):
                        w[i] /= self.unit[i]
                if intercept < d:
                    w[intercept] = found[column * width]
        free(z)
        free(factor)
        free(found)
        if not failed:
            self.evidence()
        return failed

    cdef int solve_fold(self, const double* rows, size_t width, size_t fold, double scale, double* found) noexcept nogil:
        """The weights [COLUMNS, width] of a fold, those of a strength beginning with those of the one before."""
        cdef size_t c
        cdef int failed = 0
        cdef double* work = <double*>malloc((width * width + 2 * width) * sizeof(double))
        if work == NULL:
            return NO_MEMORY
        memset(found, 0, width * sizeof(double))
        for c in range(COLUMNS):
            if c:
                memcpy(found + c * width, found + (c - 1) * width, width * sizeof(double))
            self.newton(rows, width, fold, self.strength[c] * scale, found + c * width, work)
        free(work)
        return failed

    cdef int newton(self, const double* rows, size_t width, size_t fold, double strength, double* w, double* work) noexcept nogil:
        """Newton steps from w, halved where they do not go down; w stays if one cannot be found. work: [width * (width + 2)].
        """
        cdef double* hessian = work
        cdef double* step = work + width * width
        cdef double* tried = step + width
        cdef const double* z
        cdef const Example* e
        cdef size_t i, j, row, number, halved
        cdef double p, slope, curvature, size, largest, before, now, penalty
        before = self.objective(rows, width, fold, strength, w)
        for number in range(MOST_STEPS):
            memset(hessian, 0, width * width * sizeof(double))
            for i in range(width):
                penalty = strength if i else strength * FREE
                hessian[i * width + i] = fmax(penalty, 1e-12)
                step[i] = penalty * w[i]
            for row in range(self.example_count):
                e, z = &self.examples[row], rows + row * width
                if self.folds > 1 and e.fold == fold:
                    continue
                p = e.initial
                for i in range(width):
                    p += w[i] * z[i]
                slope = e.importance * self.loss.dloss(p, e.label)
                curvature = e.importance * fmax(self.loss.curvature(p, e.label), 1e-6)
                for i in range(width):
                    if z[i] != 0:
                        step[i] += slope * z[i]
                        add_row(hessian + i * width, z, curvature * z[i], i + 1)
            if not solve(hessian, step, width):
                return 0
            size = largest = 0
            for i in range(width):
                size, largest = fmax(size, fabs(step[i])), fmax(largest, fabs(w[i]))
            for halved in range(MOST_HALVED):
                for i in range(width):
                    tried[i] = w[i] - step[i]
                now = self.objective(rows, width, fold, strength, tried)
                if isfinite(now) and now <= before:
                    break
                for i in range(width):
                    step[i] /= 2
            else:
                return 0
            memcpy(w, tried, width * sizeof(double))
            before = now
            if size <= CLOSE * fmax(largest, 1):
                return 0
        return 0

    cdef double objective(self, const double* rows, size_t width, size_t fold, double strength, const double* w) noexcept nogil:
        cdef size_t i, row
        cdef const double* z
        cdef const Example* e
        cdef double p, total = strength * FREE * w[0] * w[0] / 2
        for i in range(1, width):
            total += strength * w[i] * w[i] / 2
        for row in range(self.example_count):
            e, z = &self.examples[row], rows + row * width
            if self.folds > 1 and e.fold == fold:
                continue
            p = e.initial
            for i in range(width):
                p += w[i] * z[i]
            total += e.importance * self.loss.value(p, e.label)
        return total

    cdef void evidence(self) noexcept nogil:
        """What gd would have added up at the end: sums of squares of the gradient, of importances and of norms."""
        cdef size_t i, row, fold, begin = 0, middle = COLUMNS // 2
        cdef const Example* e
        cdef double p, slope, size
        for row in range(self.example_count):
            e = &self.examples[row]
            fold = e.fold if e.fold < self.folds else 0
            p = e.initial
            for i in range(begin, e.end):
                p += self.weights_of[(fold * COLUMNS + middle) * self.count + self.values[i].feature] * self.values[i].x
            slope = self.loss.dloss(p, e.label)
            for i in range(begin, e.end):
                size = self.values[i].x
                self.squares[self.values[i].feature] += e.importance * slope * slope * size * size
                size /= fmax(self.largest[self.values[i].feature], TINY)
                self.norms += e.importance * size * size
            self.importance += e.importance
            begin = e.end

    # --- for the model --------------------------------------------------------------------------

    def weights(self, uint32_t[::1] keys not None, float[::1] columns not None):
        """As of lanes. N is the largest |x|."""
        cdef size_t i, c, fold
        cdef double sum
        if <size_t>keys.shape[0] != self.count or <size_t>columns.shape[0] != self.count * STATE or not self.is_solved:
            raise ValueError("an array for another number of features")
        for i in range(self.count):
            keys[i] = self.keys[i]
            for c in range(COLUMNS):
                sum = 0
                for fold in range(self.folds):
                    sum += self.weights_of[(fold * COLUMNS + c) * self.count + i]
                columns[i * STATE + c] = <float>(sum / self.folds)
            columns[i * STATE + COLUMNS] = <float>fmax(self.largest[i], TINY)
            for c in range(COLUMNS + 1, STATE):
                columns[i * STATE + c] = <float>fmin(fmax(self.squares[i], FLT_MIN), FLT_MAX)

    def fold_weights(self, u, double[::1] out not None):
        """As of lanes."""
        cdef size_t i, c, fold
        if len(u) != COLUMNS or <size_t>out.shape[0] != self.count * self.folds:
            raise ValueError("an array for other lanes")
        for i in range(self.count):
            for fold in range(self.folds):
                out[i * self.folds + fold] = 0
                for c in range(COLUMNS):
                    out[i * self.folds + fold] += <double>u[c] * self.weights_of[(fold * COLUMNS + c) * self.count + i]

    def scalars(self, size_t kind, size_t k=0):
        """As of lanes."""
        return {"t": self.importance, "S": self.norms, "learned": <double>self.example_count}


cdef inline void add_row(double* out, const double* z, double by, size_t n) noexcept nogil:
    cdef size_t j
    for j in range(n):
        out[j] += by * z[j]


cdef raise_failure(int failed, Batch batch, size_t line):
    if failed < 0:
        raise MemoryError("no memory for ridge regression: use --algorithm gd")
    if failed:
        raise OverflowError(f"{batch.source}:{batch.line_number(line)}:1: the example has too many features")
