"""The copy of the rows by columns. See columns.pyx."""

from libc.stdint cimport uint8_t, uint32_t

from vwlite.core.solve.rows cimport Rows, Sparse

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>

    /* Sums in four lanes: one after the other, each would wait for the one before. */
    static inline double vwlite_dot(const double *x, const uint32_t *index, const float *value, size_t n) {
        double a = 0, b = 0, c = 0, d = 0;
        size_t i = 0;
        for (; i + 4 <= n; i += 4) {
            a += x[index[i]] * value[i];
            b += x[index[i + 1]] * value[i + 1];
            c += x[index[i + 2]] * value[i + 2];
            d += x[index[i + 3]] * value[i + 3];
        }
        for (; i < n; i++)
            a += x[index[i]] * value[i];
        return (a + b) + (c + d);
    }

    static inline double vwlite_dot_float(const float *x, const uint32_t *index, const float *value, size_t n) {
        float a = 0, b = 0, c = 0, d = 0;
        size_t i = 0;
        for (; i + 4 <= n; i += 4) {
            a += x[index[i]] * value[i];
            b += x[index[i + 1]] * value[i + 1];
            c += x[index[i + 2]] * value[i + 2];
            d += x[index[i + 3]] * value[i + 3];
        }
        for (; i < n; i++)
            a += x[index[i]] * value[i];
        return (a + b) + (c + d);
    }

    /* sum d x^2 and sum d x */
    static inline double vwlite_curvature(const float *d, const uint32_t *index, const float *value, size_t n,
                                          double *sum) {
        double a = 0, b = 0, c = 0, e = 0;
        size_t i = 0;
        for (; i + 2 <= n; i += 2) {
            double x = value[i], y = value[i + 1], dx = d[index[i]] * x, dy = d[index[i + 1]] * y;
            a += dx * x;
            b += dy * y;
            c += dx;
            e += dy;
        }
        if (i < n) {
            double x = value[i], dx = d[index[i]] * x;
            a += dx * x;
            c += dx;
        }
        *sum = c + e;
        return a + b;
    }

    static inline float vwlite_largest(const float *value, size_t n) {
        float most = 0;
        for (size_t i = 0; i < n; i++) {
            float size = value[i] < 0 ? -value[i] : value[i];
            most = size > most ? size : most;
        }
        return most;
    }

    static inline void vwlite_add_column(float *out, const float *scale, float step, const uint32_t *index,
                                         const float *value, size_t n) {
        for (size_t i = 0; i < n; i++)
            out[index[i]] += scale[index[i]] * (step * value[i]);
    }

    /* The beginning of a column; the processor notices by itself that the rest follows. */
    static inline void vwlite_fetch_column(const uint32_t *index, const float *value) {
        for (int line = 0; line < 6; line++) {
            __builtin_prefetch(index + 16 * line, 0, 3);
            __builtin_prefetch(value + 16 * line, 0, 3);
        }
    }
    """
    double sparse_dot "vwlite_dot"(const double* x, const uint32_t* index, const float* value, size_t n) noexcept nogil
    double sparse_dot_float "vwlite_dot_float"(
        const float* x, const uint32_t* index, const float* value, size_t n) noexcept nogil
    void sparse_add "vwlite_add_column"(
        float* out, const float* scale, float step, const uint32_t* index, const float* value, size_t n) noexcept nogil
    double sparse_curvature "vwlite_curvature"(
        const float* d, const uint32_t* index, const float* value, size_t n, double* sum) noexcept nogil
    float largest_size "vwlite_largest"(const float* value, size_t n) noexcept nogil
    void fetch "vwlite_fetch_column"(const uint32_t* index, const float* value) noexcept nogil

cdef enum:
    NOT_KEPT = 0xFFFFFFFF


cdef class Columns:
    cdef readonly Rows rows
    cdef readonly size_t nonzeros
    # Owned.
    cdef Sparse a               # the columns kept; index: rows, ascending
    cdef uint32_t* number       # [size] which column of the rows it is
    cdef uint32_t* position     # [columns of the rows] where it is kept, or NOT_KEPT

    cdef int fill(self, const uint8_t* keep) noexcept nogil


cdef inline double dot(const double* x, const Sparse* a, size_t k) noexcept nogil:
    """<x, line k of a>"""
    return sparse_dot(x, a.index + a.begin[k], a.value + a.begin[k], a.begin[k + 1] - a.begin[k])


cdef inline double dot_float(const float* x, const Sparse* a, size_t k) noexcept nogil:
    """<x, line k of a>, in floats."""
    return sparse_dot_float(x, a.index + a.begin[k], a.value + a.begin[k], a.begin[k + 1] - a.begin[k])


cdef inline double curvature_along(const float* d, const Sparse* a, size_t k, double* sum) noexcept nogil:
    """sum_i d_i x_i^2 of line k of a; sum_i d_i x_i."""
    return sparse_curvature(d, a.index + a.begin[k], a.value + a.begin[k], a.begin[k + 1] - a.begin[k], sum)


cdef inline void add_column(float* out, const float* scale, float step, const Sparse* a, size_t k) noexcept nogil:
    """out += step * scale * line k of a, entry by entry."""
    sparse_add(out, scale, step, a.index + a.begin[k], a.value + a.begin[k], a.begin[k + 1] - a.begin[k])


cdef inline void fetch_column(const Sparse* a, size_t k) noexcept nogil:
    """Have the processor bring line k of a, which is wanted soon."""
    fetch(a.index + a.begin[k], a.value + a.begin[k])


cdef Columns kept_columns(Rows rows, const uint8_t* keep)
