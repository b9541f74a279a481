"""Lanes: several learners that share one look-up, one scale for each feature, and the reading of the data.

There are two kinds, with two learning rates each, or one:

    gd(eta)     the update of rules/gd.pyx with power_t = 1/2
    nsgd(eta)   normalized and invariant, but not adaptive; the rate falls as the root of the examples learned:
                w_i <- w_i + u a^2 x_i / N_i^2, u the loss's invariant step for h = a^2 sum (x_i / N_i)^2 and the rate
                eta / sqrt(T)

where a^2 = t / S, and S is the sum of (x_i / N_i)^2 over all examples. Each kind has a lane for each fold, which learns
all examples but those of the fold; t, S and the scales N move with every example. A lane has last weights and,
through an accumulator A, the mean of its weights after each example that it learned, w - A / T.

Unlike the rule `gd`, scales grow before an example is predicted, so that a lane of gd has the bytes of that rule only
where no |x| is larger than those before it. A lane's arithmetic is in vector instructions over lanes: in a record, all
numbers of one meaning are adjacent, those of gd first, by fold.

With K classes a record has the lanes of all of them, one after the other: one look-up finds them, and what depends on
values and scales alone is computed once. The lanes of class k learn y = 1 from the examples of this class and y = -1 from
the others, as they would alone.
"""

from libc.float cimport FLT_MAX
from libc.math cimport isfinite, sqrt
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset
from posix.stdlib cimport posix_memalign

from vwlite.core.auto.starts cimport Starts
from vwlite.core.base.buffers cimport reserve, resize
from vwlite.core.base.prefetch cimport prefetch_write
from vwlite.core.base.targets cimport *
from vwlite.core.data.batch cimport Arrays, Batch
from vwlite.core.data.expand cimport WHOLE, Expander, Features
from vwlite.core.learn.losses cimport Loss, bounded
from vwlite.core.learn.table cimport Table

cdef extern from *:
    """
    #include <float.h>
    #include <math.h>
    #include <stddef.h>

    #define TINY_SQUARE ((float)1.17549e-38)   /* as of gd.pyx */
    #define TINY ((float)1.084202e-19)
    #define SMALLEST ((float)1.1754944e-38)

    typedef struct {
        uint32_t key;
        float N;                    /* the largest |x| */
        float lanes[];              /* of each class: w of all lanes, A of all lanes, G of those of gd */
    } vwlite_record;

    /* Of the n features of an example, what is the same for all classes: x^2 and |x| as gd.pyx has them, but for squares
       that are not finite; N; x / N^2. */
    #define SHARED 4
    #define SQUARE(i) shared[i]
    #define SIZE(i) shared[n + (i)]
    #define SCALE(i) shared[2 * n + (i)]
    #define UNIT(i) shared[3 * n + (i)]

    #define INLINE static inline __attribute__((always_inline))
    /* Of a class, whose numbers begin at `at`. */
    #define NUMBERS(i) (((vwlite_record *)found[i])->lanes + at)

    /* Grow the scales, and fill in what is shared. Returns the sum of (x / N)^2. */
    static double vwlite_lanes_grow(char **found, const float *x, size_t n, int gd, int all, size_t classes,
                                    float *shared) {
        double units = 0;
        for (size_t i = 0; i < n; i++) {
            vwlite_record *r = (vwlite_record *)found[i];
            float size = fabsf(x[i]), square = size * size, unit, inverse;
            if (square < TINY_SQUARE) {
                size = TINY;
                square = TINY_SQUARE;
            }
            if (size > r->N) {
                if (r->N > 0) {
                    float shrink = r->N / size;
                    for (size_t k = 0; k < classes; k++) {
                        float *lanes = r->lanes + k * (size_t)(2 * all + gd);
                        for (int l = 0; l < all; l++) {
                            float by = l < gd ? shrink : shrink * shrink;
                            lanes[l] *= by;
                            lanes[all + l] *= by;
                        }
                    }
                }
                r->N = size;
            }
            unit = size / r->N;
            units += (double)(unit * unit);
            inverse = 1 / r->N;
            SQUARE(i) = square > FLT_MAX ? FLT_MAX : square;
            SIZE(i) = size;
            SCALE(i) = r->N;
            UNIT(i) = x[i] * inverse * inverse;
        }
        return units;
    }

    VWLITE_CLONES static void vwlite_roots(float *x, size_t n) {
        for (size_t i = 0; i < n; i++)
            x[i] = sqrtf(x[i] < SMALLEST ? SMALLEST : x[i]);
    }

    /* The loops over the features of an example, for W lanes of gd and W of nsgd as vectors of W numbers; sums are of H
       numbers at a time, as larger vectors of doubles do not fit the registers of most processors. All sums over features
       are made as in gd.pyx.

       dot     p = sum w x, of all lanes
       adapt   add g2 x^2 to G; the rates of all features, and for each lane of gd the sums of x^2 r and of (x / N)^2
       move    w += step x r, and A += the same times `before`; step 0: the lane does not learn */
    #define VWLITE_LANES(W, H) \
        typedef float F##W __attribute__((vector_size(4 * W), aligned(4), may_alias)); \
        typedef int32_t I##W __attribute__((vector_size(4 * W), aligned(4))); \
        typedef float P##W __attribute__((vector_size(4 * H), aligned(4), may_alias)); \
        typedef double D##W __attribute__((vector_size(8 * H), aligned(8), may_alias)); \
        INLINE D##W vwlite_wide_##W(P##W x) { return __builtin_convertvector(x, D##W); } \
        /* A change that is not finite, of a value near FLT_MAX, is none. */ \
        INLINE F##W vwlite_finite_##W(F##W x) { return (F##W)((I##W)(x - x == 0) & (I##W)x); } \
        VWLITE_CLONES static void vwlite_dot_##W(char **found, size_t at, const float *x, size_t n, double *p) { \
            D##W even[2 * W / H] = {{0}}, odd[2 * W / H] = {{0}}; \
            size_t i = 0; \
            for (; i + 1 < n; i += 2) { \
                const P##W *one = (const P##W *)NUMBERS(i), *other = (const P##W *)NUMBERS(i + 1); \
                double value = x[i], next = x[i + 1]; \
                for (int k = 0; k < 2 * W / H; k++) { \
                    even[k] += vwlite_wide_##W(one[k]) * value; \
                    odd[k] += vwlite_wide_##W(other[k]) * next; \
                } \
            } \
            if (i < n) { \
                const P##W *one = (const P##W *)NUMBERS(i); \
                for (int k = 0; k < 2 * W / H; k++) \
                    even[k] += vwlite_wide_##W(one[k]) * (double)x[i]; \
            } \
            for (int k = 0; k < 2 * W / H; k++) \
                ((D##W *)p)[k] = even[k] + odd[k]; \
        } \
        INLINE void vwlite_rates_##W(float scale, float square, float size, P##W *rate, D##W *sum, D##W *units) { \
            for (int k = 0; k < W / H; k++) { \
                P##W root = rate[k], inverse = 1 / (root * scale), unit = size * (inverse * root); \
                rate[k] = inverse; \
                sum[k] += vwlite_wide_##W(square * inverse); \
                units[k] += vwlite_wide_##W(unit * unit); \
            } \
        } \
        VWLITE_CLONES static void vwlite_adapt_##W(char **found, size_t at, const float *shared, size_t n, \
                                                   const float *g2, float *rate, double *sum, double *units) { \
            F##W more = *(const F##W *)g2, *out = (F##W *)rate, most = (F##W){0} + FLT_MAX; \
            D##W even[W / H] = {{0}}, odd[W / H] = {{0}}, even_units[W / H] = {{0}}, odd_units[W / H] = {{0}}; \
            size_t i; \
            for (i = 0; i < n; i++) { \
                F##W *G = (F##W *)NUMBERS(i) + 4, grown = *G + more * SQUARE(i); \
                I##W fits = grown <= most; \
                out[i] = *G = (F##W)((fits & (I##W)grown) | (~fits & (I##W)most)); \
            } \
            vwlite_roots(rate, n * W); \
            for (i = 0; i + 1 < n; i += 2) { \
                vwlite_rates_##W(SCALE(i), SQUARE(i), SIZE(i), (P##W *)(out + i), even, even_units); \
                vwlite_rates_##W(SCALE(i + 1), SQUARE(i + 1), SIZE(i + 1), (P##W *)(out + i + 1), odd, odd_units); \
            } \
            if (i < n) \
                vwlite_rates_##W(SCALE(i), SQUARE(i), SIZE(i), (P##W *)(out + i), even, even_units); \
            for (int k = 0; k < W / H; k++) { \
                ((D##W *)sum)[k] = even[k] + odd[k]; \
                ((D##W *)units)[k] = even_units[k] + odd_units[k]; \
            } \
        } \
        VWLITE_CLONES static void vwlite_move_##W(char **found, size_t at, const float *x, const float *shared, size_t n, \
                                                  const float *step, const float *before, const float *rate) { \
            const F##W *steps = (const F##W *)step, *befores = (const F##W *)before, *rates = (const F##W *)rate; \
            F##W step_gd = steps[0], step_nsgd = steps[1], before_gd = befores[0], before_nsgd = befores[1]; \
            for (size_t i = 0; i < n; i++) { \
                F##W *r = (F##W *)NUMBERS(i); \
                F##W gd = vwlite_finite_##W(step_gd * x[i] * rates[i]); \
                F##W nsgd = vwlite_finite_##W(step_nsgd * UNIT(i)); \
                r[0] += gd; \
                r[1] += nsgd; \
                r[2] += gd * before_gd; \
                r[3] += nsgd * before_nsgd; \
            } \
        }
    VWLITE_LANES(8, 4)
    VWLITE_LANES(4, 4)
    VWLITE_LANES(2, 2)
    VWLITE_LANES(1, 1)

    /* By the number of all lanes. */
    #define BY_WIDTH(call) \
        switch (all) { case 16: call(8); break; case 8: call(4); break; case 4: call(2); break; default: call(1); }
    static void vwlite_lanes_dot(char **found, size_t at, const float *x, size_t n, int all, double *p) {
    #define DOT(W) vwlite_dot_##W(found, at, x, n, p)
        BY_WIDTH(DOT)
    }
    static void vwlite_lanes_adapt(char **found, size_t at, const float *shared, size_t n, int all, const float *g2,
                                   float *rate, double *sum, double *units) {
    #define ADAPT(W) vwlite_adapt_##W(found, at, shared, n, g2, rate, sum, units)
        BY_WIDTH(ADAPT)
    }
    static void vwlite_lanes_move(char **found, size_t at, const float *x, const float *shared, size_t n, int all,
                                  const float *step, const float *before, const float *rate) {
    #define MOVE(W) vwlite_move_##W(found, at, x, shared, n, step, before, rate)
        BY_WIDTH(MOVE)
    }

    /* The scores of one fold: sum w x of its lanes, first those of gd, `each` of a kind, and sum A x of the same. */
    #define VWLITE_FOLD(E) \
        double w_x[2 * E] = {0}, A_x[2 * E] = {0}; \
        for (size_t i = 0; i < n; i++) { \
            const float *w = NUMBERS(i) + gd, *v = NUMBERS(i) + nsgd; \
            double value = x[i]; \
            for (int c = 0; c < E; c++) { \
                w_x[c] += w[c] * value; \
                w_x[E + c] += v[c] * value; \
                A_x[c] += w[all + c] * value; \
                A_x[E + c] += v[all + c] * value; \
            } \
        } \
        for (int c = 0; c < 2 * E; c++) { \
            out[c] = w_x[c]; \
            out[2 * E + c] = A_x[c]; \
        }
    VWLITE_CLONES static void vwlite_lanes_fold(char **found, size_t at, const float *x, size_t n, int all, int each,
                                                int fold, double *out) {
        int gd = each * fold, nsgd = all / 2 + each * fold;
        if (each == 2) {
            VWLITE_FOLD(2)
        } else {
            VWLITE_FOLD(1)
        }
    }
    """
    ctypedef struct Record "vwlite_record":
        uint32_t key
        float N
        float* lanes
    enum:
        SHARED
    double grow_scales "vwlite_lanes_grow"(char** found, const float* x, size_t n, int gd, int all, size_t classes,
                                           float* shared) noexcept nogil
    void dot "vwlite_lanes_dot"(char** found, size_t at, const float* x, size_t n, int all, double* p) noexcept nogil
    void adapt "vwlite_lanes_adapt"(char** found, size_t at, const float* shared, size_t n, int all, const float* g2, float* rate,
                                    double* sum, double* units) noexcept nogil
    void move "vwlite_lanes_move"(char** found, size_t at, const float* x, const float* shared, size_t n, int all,
                                  const float* step, const float* before, const float* rate) noexcept nogil
    void dot_of_fold "vwlite_lanes_fold"(char** found, size_t at, const float* x, size_t n, int all, int each, int fold,
                                         double* out) noexcept nogil

cdef enum:
    HEADER = 8          # bytes of a record before its lanes
    LINE = 64           # bytes of a line of the cache; a record begins with one
    PART_BITS = 12      # 2^12 features have their records allocated together; with classes, less of them
    LEAST_PART_BITS = 4
    MOST_LOCATED = 6000000  # features, of 12 bytes, of batches that are kept


cdef class LocatedBatch:
    """Where the features of the lines of a batch are, so that later passes need not derive, normalize and look them up."""

    def __dealloc__(self):
        free(self.begin)
        free(self.records)
        free(self.x)

    cdef int note(self, const Located* e) noexcept nogil:
        """Add a line; -1: no memory."""
        cdef size_t at
        if reserve(<void**>&self.begin, &self.begin_capacity, self.lines + 2, sizeof(size_t)):
            return -1
        if self.lines == 0:
            self.begin[0] = 0
        at = self.begin[self.lines]
        if (reserve(<void**>&self.records, &self.record_capacity, at + e.size, sizeof(char*))
                or reserve(<void**>&self.x, &self.x_capacity, at + e.size, sizeof(float))):
            return -1
        if e.size:      # else there may be no address
            memcpy(self.records + at, e.records, e.size * sizeof(char*))
            memcpy(self.x + at, e.x, e.size * sizeof(float))
        self.lines += 1
        self.begin[self.lines] = at + e.size
        return 0


cdef class Lanes:
    """expander: with the normalization of the data. rates: of the two kinds of gd, then of nsgd; 0 for one of each pair, if
    there is no such kind, whose scores and weights are 0. folds: 4, 2 or 1; with 1, each lane learns all examples. classes: 1
    if labels are numbers, else they are those of classes, from 1. quantiles: not classes: pairs of the loss of a quantile, and
    of what is subtracted from its labels, to which its scores are relative. starts: the scales that features begin with."""

    def __cinit__(self, Loss loss not None, Expander expander not None, rates, size_t folds=1, size_t classes=1, *,
                  list quantiles=[], Starts starts=None):
        cdef size_t k
        classes = len(quantiles) or classes
        if folds not in (1, 2, MOST_FOLDS) or len(rates) != KINDS or classes < 1:
            raise ValueError("lanes are for 1, 2 or 4 folds, with four rates")
        kinds = [k for k in range(KINDS) if rates[k]]
        if len(kinds) not in (KINDS, 2) or sum(k < ADAPTIVE for k in kinds) * 2 != len(kinds):
            raise ValueError("as many kinds of gd as of nsgd")
        self.loss, self.expander, self.folds, self.classes = loss, expander, folds, classes
        self.loss_of = <void**>calloc(classes, sizeof(void*))
        self.minus = <double*>calloc(classes, sizeof(double))
        if self.loss_of == NULL or self.minus == NULL:
            raise MemoryError("no memory for the quantiles")
        self.quantiles, self.has_quantiles = quantiles, len(quantiles) > 0
        for k in range(classes):
            self.loss_of[k] = <void*>(<Loss?>quantiles[k][0] if quantiles else loss)
            self.minus[k] = quantiles[k][1] if quantiles else 0
        self.starts = starts
        self.each = len(kinds) // 2
        for k in range(2 * self.each):
            self.kind[k] = kinds[k]
        self.adaptive, self.lanes = self.each * folds, 2 * self.each * folds
        for k in range(self.lanes):
            self.rate[k] = rates[kinds[k % self.each if k < self.adaptive else self.each + k % self.each]]
        self.width = 2 * self.lanes + self.adaptive
        self.record = HEADER + classes * self.width * sizeof(float)
        self.stride = (self.record + LINE - 1) // LINE * LINE
        self.part_bits = PART_BITS
        while self.part_bits > LEAST_PART_BITS and classes >> (PART_BITS - self.part_bits) > 1:
            self.part_bits -= 1
        self.places = Table(sizeof(Slot))
        self.located, self.most_located = {}, MOST_LOCATED
        if expander.derivation is not None:
            expander.derivation.find_units(expander.mask)
        self.S = <double*>calloc(classes * self.lanes, sizeof(double))
        self.T = <double*>calloc(classes * self.lanes, sizeof(double))
        if self.S == NULL or self.T == NULL or self.add_part():
            raise MemoryError("the learning-rate grid does not fit: use --algorithm gd, or fewer --bits")

    def __dealloc__(self):
        cdef size_t i
        for i in range(self.part_count):
            free(self.parts[i])
        free(self.parts)
        free(self.S)
        free(self.T)
        free(self.loss_of)
        free(self.minus)
        free(self.here[0].own)
        free(self.here[1].own)
        free(self.visits)

    def __len__(self):
        """Features."""
        return self.count

    @property
    def nbytes(self):
        return (self.part_count << self.part_bits) * self.stride + self.places.nbytes

    def learn(self, Batch batch not None, const uint8_t[::1] folds, *, double mean=0, double scale=1,
              double initial_scale=1, float[::1] scores=None, bint keep=False):
        """Learn the examples of a batch; each line is one, with a label and an importance above 0.

        folds: of each line; `self.folds`: all lanes learn it, and it has no scores. mean, scale: of labels, which are
        learned as (y - mean) / scale; initial predictions are divided by `initial_scale`. scores: [lines * classes * COLUMNS],
        filled in with those before an example is learned. keep: the same batch will come again, so that where its features
        are is remembered. MemoryError; OverflowError for an example that cannot be learned.
        """
        cdef size_t line
        cdef size_t width = self.classes * COLUMNS
        cdef int failed = 0
        cdef const Arrays* a = &batch.a
        cdef Target y
        self.check(batch, folds, scores)
        self.begin(batch, keep)
        with nogil:
            if a.lines:
                failed = self.find(a, 0, True)
            for line in range(a.lines):
                if failed == 0 and line + 1 < a.lines:
                    failed = self.find(a, line + 1, True)
                if failed:
                    break
                y.label, y.importance = (a.label[line] - mean) / scale, a.importance[line]
                y.initial, y.fold = a.initial[line] / initial_scale, folds[line]
                failed = self.learn_one(&self.here[line & 1], &y, NULL if scores is None else &scores[line * width])
        self.end(batch, failed)
        raise_failure(failed, batch, line)

    def score(self, Batch batch not None, const uint8_t[::1] folds, float[::1] scores not None, *, bint keep=False):
        """Fill in scores, [lines * classes * COLUMNS], by the lanes of each line's fold, as they are now. keep: as for
        `learn`."""
        cdef size_t line, width = self.classes * COLUMNS
        cdef int failed = 0
        cdef const Arrays* a = &batch.a
        self.check(batch, folds, scores)
        self.begin(batch, keep)
        with nogil:
            if a.lines:
                failed = self.find(a, 0, False)
            for line in range(a.lines):
                if failed == 0 and line + 1 < a.lines:
                    failed = self.find(a, line + 1, False)
                if failed:
                    break
                self.score_one(&self.here[line & 1], folds[line], &scores[line * width])
        self.end(batch, failed)
        raise_failure(failed, batch, line)

    cdef begin(self, Batch batch, bint keep):
        """Before the lines of a batch."""
        self.known = self.located.get(batch) if keep else None
        self.noted = LocatedBatch() if keep and self.known is None and self.features_located < self.most_located else None

    cdef end(self, Batch batch, int failed):
        """After them. failed: they were not all learned or scored."""
        cdef LocatedBatch noted = self.noted
        if noted is not None and not (failed or noted.ends) and noted.lines:
            self.located[batch] = noted
            self.features_located += noted.begin[noted.lines]
        self.known = self.noted = None

    cdef int find(self, const Arrays* a, size_t line, bint learns) noexcept nogil:
        """As `locate`, or from what is known of the batch."""
        cdef Located* e = &self.here[line & 1]
        cdef size_t i
        cdef int failed
        if self.known is None:
            failed = self.locate(a, line, learns)
            if failed or self.noted is None or self.noted.ends:
                return failed
            for i in range(e.size):
                # A feature that is not known yet may be later.
                self.noted.ends |= e.records[i] == self.parts[0]
            return self.noted.note(e)
        e.records = self.known.records + self.known.begin[line]
        e.x = self.known.x + self.known.begin[line]
        e.size = self.known.begin[line + 1] - self.known.begin[line]
        for i in range(e.size):
            prefetch_record(e.records[i])
        return 0

    cdef check(self, Batch batch, const uint8_t[::1] folds, float[::1] scores):
        cdef size_t line, n = batch.a.lines
        if <size_t>folds.shape[0] < n or (scores is not None and (
                <size_t>scores.shape[0] < n * self.classes * COLUMNS)):
            raise ValueError("fewer folds or scores than lines")
        for line in range(n):
            if folds[line] >= self.folds + (scores is None):
                raise ValueError("there is no such fold")
        if batch.decode():
            raise MemoryError("no memory for the hashes of a batch")

    cdef int locate(self, const Arrays* a, size_t line, bint learns) noexcept nogil:
        """Find the records of a line, in here[line & 1]; -1: no memory; TOO_MANY features."""
        cdef Located* e = &self.here[line & 1]
        cdef Features* f
        cdef Slot* slot
        cdef size_t i
        cdef int said = self.expander.expand(a, line, line & 1, False)
        if said != WHOLE:
            return -1 if said < 0 else TOO_MANY
        f = &self.expander.buffers[line & 1]
        e.x, e.size = f.values, f.size
        if reserve(<void**>&e.own, &e.capacity, f.size, sizeof(char*)):
            return -1
        e.records = e.own
        if not learns:
            self.places.lookup(f.keys, f.size, e.records)
        elif self.places.resolve(f.keys, f.size, e.records):
            return -1
        for i in range(f.size):
            slot = <Slot*>e.records[i]
            if learns and slot.record == 0 and self.add_record(f.keys[i], slot):
                return -1
            e.records[i] = record_at(self, slot.record)
            prefetch_record(e.records[i])
        return 0

    cdef int add_record(self, uint32_t key, Slot* slot) noexcept nogil:
        """A record of zeros for a slot that has none; -1: no memory. Number 0 stays empty: that of unknown features."""
        cdef size_t at = self.count + 1
        if at >> self.part_bits >= self.part_count and self.add_part():
            return -1
        self.count, slot.record = at, <uint32_t>at
        (<Record*>record_at(self, at)).key = key
        if self.expander.derivation is not None and self.expander.derivation.is_unit(key):
            # What is from 0 to 1 begins with that scale: else a cell that had small values only would have large weights.
            (<Record*>record_at(self, at)).N = 1
        elif self.starts is not None:
            (<Record*>record_at(self, at)).N = self.starts.of(key)
        return 0

    cdef int add_part(self) noexcept nogil:
        cdef void* part = NULL
        cdef size_t size = self.stride << self.part_bits
        if resize(<void**>&self.parts, self.part_count + 1, sizeof(char*)):
            return -1
        if posix_memalign(&part, LINE, size):
            return -1
        memset(part, 0, size)
        self.parts[self.part_count] = <char*>part
        self.part_count += 1
        return 0

    cdef int learn_one(self, Located* e, const Target* y, float* scores) noexcept nogil:
        """-1: no memory; NOT_FINITE."""
        cdef size_t k, n = e.size
        cdef double plain
        cdef float* shared
        cdef Target own = y[0]
        if reserve(<void**>&self.visits, &self.visit_capacity, n * (self.adaptive + SHARED), sizeof(float)):
            return -1
        shared = self.visits + n * self.adaptive
        self.t += y.importance
        plain = grow_scales(e.records, e.x, n, <int>self.adaptive, <int>self.lanes, self.classes, shared)
        if not isfinite(plain):
            return NOT_FINITE
        for k in range(self.classes):
            if self.has_quantiles:
                own.label = y.label - self.minus[k]
            elif self.classes > 1:
                own.label = 1 if y.label == k + 1 else -1
            self.learn_class(e, &own, k, shared, plain, NULL if scores == NULL else scores + k * COLUMNS)
        return 0

    cdef void learn_class(self, const Located* e, const Target* y, size_t k, const float* shared, double plain,
                          float* scores) noexcept nogil:
        """Learn an example for a class, counted from 0. plain: the sum of (x / N)^2."""
        cdef double* S = self.S + k * self.lanes
        cdef double* T = self.T + k * self.lanes
        cdef void* loss = self.loss_of[k]
        cdef double p[MOST_LANES]
        cdef double sum[MOST_LANES]
        cdef double units[MOST_LANES]
        cdef double dloss[MOST_LANES]
        cdef float g2[MOST_LANES]
        cdef float step[MOST_LANES]
        cdef float before[MOST_LANES]
        cdef double same, square, scale
        cdef bint learns
        cdef size_t l, lanes = self.lanes, adaptive = self.adaptive, at = k * self.width
        if scores != NULL:
            self.score_class(e, y.fold, k, scores)
        dot(e.records, at, e.x, e.size, <int>lanes, p)
        for l in range(lanes):
            before[l] = <float>T[l]
            g2[l], dloss[l] = 0, 0
            if self.folds > 1 and fold_of(self, l) == y.fold:
                continue
            p[l] = bounded(<Loss>loss, p[l] + y.initial)
            dloss[l] = (<Loss>loss).dloss(p[l], y.label)
            learns = isfinite(p[l]) and isfinite(dloss[l])
            square = y.importance * dloss[l] * dloss[l]
            g2[l] = <float>min(square, FLT_MAX) if learns else 0
            T[l] += learns
            dloss[l] = dloss[l] if learns else 0
        adapt(e.records, at, shared, e.size, <int>lanes, g2, self.visits, sum, units)
        for l in range(lanes):
            S[l] += y.importance * (units[l] if l < adaptive else plain)
            if dloss[l] == 0 or S[l] <= 0:
                step[l] = 0
                continue
            scale = sqrt(self.t / S[l])
            if l < adaptive:
                same = (<Loss>loss).invariant_step(p[l], y.label, dloss[l], self.rate[l] * y.importance, sum[l] * scale)
                step[l] = <float>(same * scale)
            else:
                same = (<Loss>loss).invariant_step(
                    p[l], y.label, dloss[l], self.rate[l] * y.importance / sqrt(T[l]), plain * scale * scale)
                step[l] = <float>(same * scale * scale)
        move(e.records, at, e.x, shared, e.size, <int>lanes, step, before, self.visits)

    cdef void score_one(self, Located* e, size_t fold, float* scores) noexcept nogil:
        """The scores of an example by the lanes of a fold: COLUMNS for each class."""
        cdef size_t k
        for k in range(self.classes):
            self.score_class(e, fold, k, scores + k * COLUMNS)

    cdef void score_class(self, const Located* e, size_t fold, size_t number, float* scores) noexcept nogil:
        cdef double sums[COLUMNS]
        cdef size_t k, kinds = 2 * self.each
        cdef double T
        dot_of_fold(e.records, number * self.width, e.x, e.size, <int>self.lanes, <int>self.each, <int>fold, sums)
        if kinds < KINDS:
            memset(scores, 0, COLUMNS * sizeof(float))
        for k in range(kinds):
            T = self.T[number * self.lanes + lane_of(self, k, fold)]
            scores[self.kind[k]] = finite(sums[k])
            scores[KINDS + self.kind[k]] = finite(sums[k] - sums[kinds + k] / T) if T > 0 else 0

    # --- the end of a pass -------------------------------------------------------------------

    def weights(self, uint32_t[::1] keys not None, float[::1] columns not None):
        """Fill in the features, in the order in which they came: their keys, and for each class [features * STATE] numbers:
        COLUMNS weights, the means over the lanes that have learned; N; G of the kinds of gd, the mean over the same lanes."""
        cdef size_t i, k
        if (<size_t>keys.shape[0] != self.count
                or <size_t>columns.shape[0] != self.classes * self.count * STATE):
            raise ValueError("an array for another number of features")
        with nogil:
            for i in range(self.count):
                keys[i] = (<Record*>record_at(self, i + 1)).key
                for k in range(self.classes):
                    means_over_folds(self, i + 1, k, &columns[(k * self.count + i) * STATE])

    def fold_weights(self, u, double[::1] out not None):
        """The weights of the models that have not learned a fold: [features * folds], each the sum of u_c times the weight
        of the lane of column c. Of one score."""
        cdef double[COLUMNS] share
        cdef size_t i, fold
        if self.classes != 1 or len(u) != COLUMNS or <size_t>out.shape[0] != self.count * self.folds:
            raise ValueError("an array for other lanes")
        for i in range(COLUMNS):
            share[i] = u[i]
        with nogil:
            for i in range(self.count):
                for fold in range(self.folds):
                    out[i * self.folds + fold] = weight_of_fold(self, i + 1, fold, share)

    def scalars(self, size_t kind, size_t k=0):
        """The state of a kind of gd that is not per feature, for class k, counted from 0: t, S and the mean number of
        examples that its lanes have learned."""
        if kind >= ADAPTIVE or k >= self.classes:
            raise IndexError(k)
        if self.each == 1:
            if kind != self.kind[0]:
                return {"t": self.t, "S": 0.0, "learned": 0.0}
            kind = 0
        learned = [self.T[k * self.lanes + lane_of(self, kind, fold)] for fold in range(self.folds)]
        S = self.S[k * self.lanes + lane_of(self, kind, 0)]
        return {"t": self.t, "S": S, "learned": sum(learned) / len(learned)}

    # --- keeping -----------------------------------------------------------------------------

    def state(self):
        """All that was learned, which `load` restores."""
        cdef size_t i, size = self.record
        records = bytearray(self.count * size)
        cdef char* out = records
        for i in range(self.count):
            memcpy(out + i * size, record_at(self, i + 1), size)
        numbers = [(self.S[lane], self.T[lane]) for lane in range(self.classes * self.lanes)]
        return {"t": self.t, "lanes": numbers, "records": records}

    def load(self, state):
        """Restore the state of lanes like these; these have learned nothing."""
        cdef size_t i, lane, size = self.record
        cdef const unsigned char[::1] records = state["records"]
        cdef const char* given = <const char*>&records[0] if records.shape[0] else NULL
        cdef uint32_t key
        cdef char* slot
        if self.count or <size_t>records.shape[0] % size or len(state["lanes"]) != self.classes * self.lanes:
            raise ValueError("the state of other lanes")
        self.t = state["t"]
        for lane in range(self.classes * self.lanes):
            self.S[lane], self.T[lane] = state["lanes"][lane]
        for i in range(<size_t>records.shape[0] // size):
            key = (<const Record*>(given + i * size)).key
            if self.places.resolve(&key, 1, &slot) or self.add_record(key, <Slot*>slot):
                raise MemoryError("the learning-rate grid does not fit: use --algorithm gd, or fewer --bits")
            memcpy(record_at(self, i + 1), given + i * size, size)


cdef inline void prefetch_record(char* record) noexcept nogil:
    prefetch_write(record)
    prefetch_write(record + LINE)
    prefetch_write(record + 2 * LINE)


cdef inline float finite(double x) noexcept nogil:
    """As a float, and finite: else a lane that has diverged would spoil the stack, though with a weight of 0."""
    return <float>min(max(x, -FLT_MAX), FLT_MAX) if x == x else 0


cdef inline char* record_at(Lanes self, size_t number) noexcept nogil:
    return self.parts[number >> self.part_bits] + (number & ((<size_t>1 << self.part_bits) - 1)) * self.stride


cdef inline size_t lane_of(Lanes self, size_t k, size_t fold) noexcept nogil:
    """Which lane of a record it is; k: of the kinds that there are."""
    return self.each * fold + k if k < self.each else self.adaptive + self.each * fold + k - self.each


cdef inline size_t fold_of(Lanes self, size_t lane) noexcept nogil:
    """The fold that a lane does not learn."""
    return (lane if lane < self.adaptive else lane - self.adaptive) // self.each


cdef void means_over_folds(Lanes self, size_t number, size_t of_class, float* out) noexcept nogil:
    cdef size_t k, fold, l
    cdef double last, mean, G, learned
    cdef const Record* r = <Record*>record_at(self, number)
    cdef const double* T = self.T + of_class * self.lanes
    cdef const float* w = r.lanes + of_class * self.width
    cdef const float* A = w + self.lanes
    memset(out, 0, STATE * sizeof(float))
    for k in range(2 * self.each):
        last = mean = G = learned = 0
        for fold in range(self.folds):
            l = lane_of(self, k, fold)
            if T[l] > 0:
                learned += 1
                last += w[l]
                mean += w[l] - A[l] / T[l]
                if k < self.each:
                    G += A[self.lanes + l]
        learned = max(learned, 1)
        out[self.kind[k]], out[KINDS + self.kind[k]] = finite(last / learned), finite(mean / learned)
        if k < self.each:
            out[COLUMNS + 1 + self.kind[k]] = <float>(G / learned)
    out[COLUMNS] = r.N


cdef double weight_of_fold(Lanes self, size_t number, size_t fold, const double* share) noexcept nogil:
    cdef const float* w = (<Record*>record_at(self, number)).lanes
    cdef const float* A = w + self.lanes
    cdef double found = 0
    cdef size_t k, l
    for k in range(2 * self.each):
        l = lane_of(self, k, fold)
        if self.T[l] > 0:
            found += share[self.kind[k]] * finite(w[l]) + share[KINDS + self.kind[k]] * finite(w[l] - A[l] / self.T[l])
    return found


cdef raise_failure(int failed, Batch batch, size_t line):
    """Raise what a failure means, if it is one."""
    if failed == 0:
        return
    if failed < 0:
        raise MemoryError("the learning-rate grid does not fit: use --algorithm gd, or fewer --bits")
    why = "the example has too many features"
    if failed == NOT_FINITE:
        why = "a crossed or repeated feature has a value that is too large for a 32-bit float: scale the values"
    raise OverflowError(f"{batch.source}:{batch.line_number(line)}:1: {why}")
