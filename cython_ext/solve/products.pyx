"""Products of rows with the weights of one or several classes. Every sum has one order: the same bits everywhere."""

from libc.stdint cimport uint32_t

from vwlite.core.solve.rows cimport Rows, Sparse

cdef extern from *:
    """
    /* sum of w_j x_j, in four lanes: a chain of additions waits for each of them. */
    static inline double vwlite_gathered(const uint32_t *index, const float *value, size_t n, const double *w) {
        double lanes[4] = {0};
        size_t i = 0;
        for (; i + 4 <= n; i += 4)
            for (int k = 0; k < 4; k++)
                lanes[k] += w[index[i + k]] * value[i + k];
        for (; i < n; i++)
            lanes[i & 3] += w[index[i]] * value[i];
        return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }

    /* p_k = sum of w_jk x_ij of several classes, whose weights are side by side. */
    static inline void vwlite_gathered_each(const uint32_t *index, const float *value, size_t n, const double *w,
                                            size_t classes, double *p) {
        for (size_t k = 0; k < classes; k++)
            p[k] = 0;
        for (size_t i = 0; i < n; i++) {
            const double *wj = w + index[i] * classes, x = value[i];
            for (size_t k = 0; k < classes; k++)
                p[k] += wj[k] * x;
        }
    }

    static inline void vwlite_scatter(const uint32_t *index, const float *value, size_t n, const double *r,
                                      size_t classes, double *g, int squares) {
        for (size_t i = 0; i < n; i++) {
            double x = squares ? (double)value[i] * value[i] : value[i], *gj = g + index[i] * classes;
            for (size_t k = 0; k < classes; k++)
                gj[k] += r[k] * x;
        }
    }
    """
    double gathered "vwlite_gathered"(
        const uint32_t* index, const float* value, size_t n, const double* w) noexcept nogil
    void gathered_each "vwlite_gathered_each"(const uint32_t* index, const float* value, size_t n, const double* w,
                                              size_t classes, double* p) noexcept nogil
    void scatter "vwlite_scatter"(const uint32_t* index, const float* value, size_t n, const double* r, size_t classes,
                                  double* g, int squares) noexcept nogil


cdef class Products:
    """rows: finished. x_i is row i, j a column, k a class. first: the rows from this one on."""

    cdef Sparse a               # that of the owner
    cdef size_t columns
    cdef object owner

    def __init__(self, Rows rows not None):
        if not rows.finished:
            raise ValueError("rows are not finished")
        self.a, self.columns, self.owner = rows.a, rows.columns, rows

    @staticmethod
    def of(const size_t[::1] begin not None, const uint32_t[::1] index not None, const float[::1] value not None,
           size_t columns):
        """Of the entries of at least one row as in `Rows.entries`. ValueError for impossible ones."""
        cdef Products self = Products.__new__(Products)
        cdef Py_ssize_t i
        if begin.shape[0] < 2 or index.shape[0] != value.shape[0] or begin[0] != 0:
            raise ValueError("the arrays of the rows do not match")
        for i in range(begin.shape[0] - 1):
            if begin[i] > begin[i + 1]:
                raise ValueError("the rows do not ascend")
        if begin[begin.shape[0] - 1] != <size_t>index.shape[0]:
            raise ValueError("the arrays of the rows do not match")
        for i in range(index.shape[0]):
            if index[i] >= columns:
                raise ValueError("a column is beyond the last one")
        self.owner, self.columns = (begin, index, value), columns
        self.a.size, self.a.begin = begin.shape[0] - 1, <size_t*>&begin[0]
        if index.shape[0]:
            self.a.index, self.a.value = <uint32_t*>&index[0], <float*>&value[0]
        return self

    cdef check(self, size_t first, size_t rows, size_t columns, bint same_classes):
        if first > self.a.size or rows != self.a.size - first or columns != self.columns or not same_classes:
            raise ValueError("arrays that do not fit the rows")

    def scores(self, const double[:, ::1] weights not None, double[:, ::1] out not None, size_t first=0):
        """out_ik = sum of w_jk x_ij"""
        cdef size_t i, begin, n, classes = weights.shape[1]
        self.check(first, out.shape[0], weights.shape[0], out.shape[1] == weights.shape[1])
        if out.size == 0 or weights.size == 0:
            out[:] = 0
            return
        with nogil:
            for i in range(first, self.a.size):
                begin = self.a.begin[i]
                n = self.a.begin[i + 1] - begin
                if classes == 1:
                    out[i - first, 0] = gathered(self.a.index + begin, self.a.value + begin, n, &weights[0, 0])
                else:
                    gathered_each(self.a.index + begin, self.a.value + begin, n, &weights[0, 0], classes,
                                  &out[i - first, 0])

    def gradients(self, const double[:, ::1] slopes not None, double[:, ::1] out not None, size_t first=0,
                  bint squares=False):
        """out_jk = sum of r_ik x_ij, or of r_ik x_ij^2. slopes: r."""
        cdef size_t i, k, begin, n, classes = slopes.shape[1]
        self.check(first, slopes.shape[0], out.shape[0], out.shape[1] == slopes.shape[1])
        out[:] = 0
        if out.size == 0:
            return
        with nogil:
            for i in range(first, self.a.size):
                begin = self.a.begin[i]
                n = self.a.begin[i + 1] - begin
                for k in range(classes):
                    if slopes[i - first, k] != 0:
                        scatter(self.a.index + begin, self.a.value + begin, n, &slopes[i - first, 0], classes,
                                &out[0, 0], squares)
                        break

    def extremes(self, double[::1] least not None, double[::1] most not None, double[::1] entries not None):
        """Of the values of each column that are not 0: the least, the most, and how many they are."""
        cdef size_t e, j
        cdef double x
        self.check(0, self.a.size, entries.shape[0], least.shape[0] == most.shape[0] == entries.shape[0])
        entries[:] = 0
        for e in range(self.a.begin[self.a.size]):
            j, x = self.a.index[e], self.a.value[e]
            if x == 0:
                continue
            if entries[j] == 0:
                least[j] = most[j] = x
            least[j], most[j] = min(least[j], x), max(most[j], x)
            entries[j] += 1
