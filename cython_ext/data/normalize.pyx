"""`--normalize`: changes the values of an example, after crossing and without the intercept.

    none      nothing
    l2        divided by the Euclidean length of the example
    log       sign(x) log(1 + |x|), then l2
    center    columns that most examples have: minus their mean, also where an example lacks the column. Such a model
              is one of `none` with another intercept, so that only learning knows it

Values of equal keys are added first, as floats. A value that is 0 then is left out, and a length of 0 stays. Lengths are
sums in double precision, in the order of the features; the results are floats. A difference from a mean that is beyond a
float becomes the largest float.
"""

from libc.float cimport FLT_MAX
from libc.math cimport fmax, fmin
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from vwlite.core.base.elementary cimport exp  # with it comes vwlite_log
from vwlite.core.base.fibonacci cimport place_of, shift_of
from vwlite.core.base.targets cimport *

cdef extern from *:
    """
    #include <math.h>

    /* sign(x) ln(1 + |x|); the rounding of 1 + |x| is made good. */
    VWLITE_CLONES static void vwlite_to_logarithms(float *x, size_t n) {
        for (size_t i = 0; i < n; i++) {
            double e = fabs((double)x[i]), u = 1 + e;
            x[i] = copysignf((float)(vwlite_log(u) + (e - (u - 1)) / u), x[i]);
        }
    }

    VWLITE_CLONES static void vwlite_divide(float *x, double by, size_t n) {
        for (size_t i = 0; i < n; i++)
            x[i] = (float)(x[i] / by);
    }

    static void vwlite_to_unit_length(float *x, size_t n) {
        double square = 0;
        for (size_t i = 0; i < n; i++)
            square += (double)x[i] * x[i];
        if (square > 0)
            vwlite_divide(x, sqrt(square), n);
    }
    """
    void to_logarithms "vwlite_to_logarithms"(float* x, size_t n) noexcept nogil
    void to_unit_length "vwlite_to_unit_length"(float* x, size_t n) noexcept nogil

NORMALIZATIONS = ("none", "l2", "log", "center")
MOST_CENTERED = MOST_DENSE


cdef class Normalizer:
    """name: one of NORMALIZATIONS. For `center`, dense: for each column its key, its mean, and whether all of its
    values are equal; at most MOST_DENSE."""

    def __init__(self, str name="none", dense=()):
        self.name = name
        self.kind = <Normalization><int>NORMALIZATIONS.index(name)
        self.center(dense)

    def center(self, dense):
        """Set the columns of `center`, in place of those before."""
        memset(self.place, 0, sizeof(self.place))
        if len(dense) > MOST_DENSE:
            raise ValueError(f"at most {MOST_DENSE} columns can be centered")
        for j, (key, mean, equal) in enumerate(dense):
            self.dense_key[j], self.mean[j], self.equal[j] = key, mean, equal
            at = place_of(key, shift_of(PLACES))
            while self.place[at]:
                at = (at + 1) & (PLACES - 1)
            self.place[at] = j + 1
        self.extra = len(dense)

    def __dealloc__(self):
        free(self.seen)

    cdef int apply(self, uint32_t* keys, float* values, size_t* size) noexcept nogil:
        """Normalize features in place; there is space for `extra` more. -1: no memory."""
        if merge(self, keys, values, size):
            return -1
        if self.kind == LOG:
            to_logarithms(values, size[0])
        if self.kind == L2 or self.kind == LOG:
            to_unit_length(values, size[0])
        elif self.kind == CENTER:
            center(self, keys, values, size)
        return 0

    def __call__(self, keys, values):
        """The normalized features of one example, as two lists."""
        cdef size_t i, n = len(keys)
        cdef uint32_t* some_keys = <uint32_t*>calloc(n + self.extra + 1, sizeof(uint32_t))
        cdef float* some_values = <float*>calloc(n + self.extra + 1, sizeof(float))
        try:
            if some_keys == NULL or some_values == NULL:
                raise MemoryError("no memory for an example")
            for i in range(n):
                some_keys[i], some_values[i] = keys[i], values[i]
            if self.apply(some_keys, some_values, &n):
                raise MemoryError("no memory for an example")
            return [some_keys[i] for i in range(n)], [some_values[i] for i in range(n)]
        finally:
            free(some_keys)
            free(some_values)


cdef int merge(Normalizer self, uint32_t* keys, float* values, size_t* size) noexcept nogil:
    """Add the values of equal keys, at the position of the first; leave out values of 0. -1: no memory."""
    cdef size_t i, n = size[0]
    cdef bint rising = True, some_zero = False
    for i in range(1, n):
        rising &= keys[i] > keys[i - 1]     # as from a matrix or libsvm: no two are equal
    if not rising and add_equal(self, keys, values, size):
        return -1
    for i in range(size[0]):
        some_zero |= values[i] == 0
    if some_zero:
        leave_out_zeros(keys, values, size)
    return 0


cdef int add_equal(Normalizer self, uint32_t* keys, float* values, size_t* size) noexcept nogil:
    cdef size_t i, at, n = size[0], kept = 0
    cdef int shift
    cdef uint64_t found
    if 2 * n > self.capacity:
        at = 64
        while at < 2 * n:
            at *= 2
        free(self.seen)
        self.capacity, self.stamp = 0, 0
        self.seen = <uint64_t*>calloc(at, sizeof(uint64_t))
        if self.seen == NULL:
            return -1
        self.capacity = at
    self.stamp += 1
    if self.stamp == 0:
        memset(self.seen, 0, self.capacity * sizeof(uint64_t))
        self.stamp = 1
    shift = shift_of(self.capacity)
    for i in range(n):
        at = place_of(keys[i], shift)
        while True:
            found = self.seen[at]
            if found >> 32 != self.stamp:
                self.seen[at] = <uint64_t>self.stamp << 32 | kept
                keys[kept], values[kept] = keys[i], values[i]
                kept += 1
                break
            if keys[<uint32_t>found] == keys[i]:
                values[<uint32_t>found] += values[i]
                break
            at = (at + 1) & (self.capacity - 1)
    size[0] = kept
    return 0


cdef void leave_out_zeros(uint32_t* keys, float* values, size_t* size) noexcept nogil:
    cdef size_t i, kept = 0
    for i in range(size[0]):
        if values[i] != 0:
            keys[kept], values[kept] = keys[i], values[i]
            kept += 1
    size[0] = kept


cdef inline float bounded(double x) noexcept nogil:
    return <float>fmin(fmax(x, -FLT_MAX), FLT_MAX)


cdef void center(Normalizer self, uint32_t* keys, float* values, size_t* size) noexcept nogil:
    """Move the dense columns, minus their means, behind the others."""
    cdef size_t i, j, at, kept = 0
    cdef int shift = shift_of(PLACES)
    for j in range(self.extra):
        self.centered[j] = bounded(-self.mean[j])
    for i in range(size[0]):
        at = place_of(keys[i], shift)
        while self.place[at] and self.dense_key[self.place[at] - 1] != keys[i]:
            at = (at + 1) & (PLACES - 1)
        if self.place[at]:
            j = self.place[at] - 1
            self.centered[j] = bounded(values[i] - self.mean[j])
        else:
            keys[kept], values[kept] = keys[i], values[i]
            kept += 1
    for j in range(self.extra):
        if not self.equal[j] and self.centered[j] != 0:
            keys[kept], values[kept] = self.dense_key[j], self.centered[j]
            kept += 1
    size[0] = kept
