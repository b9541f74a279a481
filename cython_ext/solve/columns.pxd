"""The copy of the rows by columns. See columns.pyx."""

from libc.stdint cimport uint8_t, uint32_t

from vwlite.core.solve.rows cimport Rows

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>

    /* Row and value together: copying puts entries of many columns one after the other, and then touches one place each. */
    typedef struct {
        uint32_t row;
        float value;
    } vwlite_entry;

    /* Entries that a loop will come to, eight of them. */
    #define VWLITE_AHEAD(entry) __builtin_prefetch((const char *)(entry) + 1024, 0, 3)

    /* Sums in four lanes: one after the other, each would wait for the one before. */
    #define VWLITE_DOT(sum)                               \
        sum a = 0, b = 0, c = 0, d = 0;                   \
        size_t i = 0;                                     \
        for (; i + 8 <= n; i += 8) {                      \
            VWLITE_AHEAD(entry + i);                      \
            a += x[entry[i].row] * entry[i].value;         \
            b += x[entry[i + 1].row] * entry[i + 1].value; \
            c += x[entry[i + 2].row] * entry[i + 2].value; \
            d += x[entry[i + 3].row] * entry[i + 3].value; \
            a += x[entry[i + 4].row] * entry[i + 4].value; \
            b += x[entry[i + 5].row] * entry[i + 5].value; \
            c += x[entry[i + 6].row] * entry[i + 6].value; \
            d += x[entry[i + 7].row] * entry[i + 7].value; \
        }                                                 \
        for (; i < n; i++)                                \
            a += x[entry[i].row] * entry[i].value;         \
        return (a + b) + (c + d);

    static inline double vwlite_dot(const double *x, const vwlite_entry *entry, size_t n) {
        VWLITE_DOT(double)
    }

    static inline double vwlite_dot_float(const float *x, const vwlite_entry *entry, size_t n) {
        VWLITE_DOT(float)
    }

    /* sum d x^2 and sum d x */
    static inline double vwlite_curvature(const float *d, const vwlite_entry *entry, size_t n, double *sum) {
        double squares[4] = {0}, sums[4] = {0};
        size_t i = 0;
        for (; i + 8 <= n; i += 8) {
            VWLITE_AHEAD(entry + i);
            for (int k = 0; k < 8; k++) {
                double x = entry[i + k].value, dx = d[entry[i + k].row] * x;
                squares[k & 3] += dx * x;
                sums[k & 3] += dx;
            }
        }
        for (; i < n; i++) {
            double x = entry[i].value, dx = d[entry[i].row] * x;
            squares[0] += dx * x;
            sums[0] += dx;
        }
        *sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        return (squares[0] + squares[1]) + (squares[2] + squares[3]);
    }

    static inline float vwlite_largest(const vwlite_entry *entry, size_t n) {
        float most = 0;
        for (size_t i = 0; i < n; i++) {
            float size = entry[i].value < 0 ? -entry[i].value : entry[i].value;
            most = size > most ? size : most;
        }
        return most;
    }

    static inline void vwlite_add(double *out, double step, const vwlite_entry *entry, size_t n) {
        for (size_t i = 0; i < n; i++)
            out[entry[i].row] += step * entry[i].value;
    }

    static inline void vwlite_add_scaled(float *out, const float *scale, float step, const vwlite_entry *entry, size_t n) {
        for (size_t i = 0; i < n; i++)
            out[entry[i].row] += scale[entry[i].row] * (step * entry[i].value);
    }

    /* The beginning of a column; the processor notices by itself that the rest follows. */
    static inline void vwlite_fetch(const vwlite_entry *entry) {
        for (int line = 0; line < 12; line++)
            __builtin_prefetch((const char *)entry + 64 * line, 0, 3);
    }
    """
    ctypedef struct Entry "vwlite_entry":
        uint32_t row
        float value

    double sparse_dot "vwlite_dot"(const double* x, const Entry* entry, size_t n) noexcept nogil
    double sparse_dot_float "vwlite_dot_float"(const float* x, const Entry* entry, size_t n) noexcept nogil
    double sparse_curvature "vwlite_curvature"(const float* d, const Entry* entry, size_t n, double* sum) noexcept nogil
    float sparse_largest "vwlite_largest"(const Entry* entry, size_t n) noexcept nogil
    void sparse_add "vwlite_add"(double* out, double step, const Entry* entry, size_t n) noexcept nogil
    void sparse_add_scaled "vwlite_add_scaled"(
        float* out, const float* scale, float step, const Entry* entry, size_t n) noexcept nogil
    void fetch "vwlite_fetch"(const Entry* entry) noexcept nogil

cdef enum:
    NOT_KEPT = 0xFFFFFFFF


# A matrix by columns: the entries of column k are [begin[k], begin[k + 1]), by ascending row.
cdef struct ByColumn:
    size_t size
    size_t* begin               # [size + 1]
    Entry* entry


cdef class Columns:
    cdef readonly Rows rows
    cdef readonly size_t nonzeros
    # Owned.
    cdef ByColumn a             # the columns kept
    cdef uint32_t* rows_column  # [size] which column of the rows it is
    cdef uint32_t* position     # [columns of the rows] where it is kept, or NOT_KEPT

    cdef int make(self, const uint8_t* keep, size_t* counted) except -1
    cdef int fill(self, const uint8_t* keep, size_t* counted) noexcept nogil


cdef inline double dot(const double* x, const ByColumn* a, size_t k) noexcept nogil:
    """<x, column k of a>"""
    return sparse_dot(x, a.entry + a.begin[k], a.begin[k + 1] - a.begin[k])


cdef inline double dot_float(const float* x, const ByColumn* a, size_t k) noexcept nogil:
    """<x, column k of a>, in floats."""
    return sparse_dot_float(x, a.entry + a.begin[k], a.begin[k + 1] - a.begin[k])


cdef inline double curvature_along(const float* d, const ByColumn* a, size_t k, double* sum) noexcept nogil:
    """sum_i d_i x_i^2 of column k of a; sum_i d_i x_i."""
    return sparse_curvature(d, a.entry + a.begin[k], a.begin[k + 1] - a.begin[k], sum)


cdef inline float largest_size(const ByColumn* a, size_t k) noexcept nogil:
    """max_i |x_i| of column k of a."""
    return sparse_largest(a.entry + a.begin[k], a.begin[k + 1] - a.begin[k])


cdef inline void add_column(double* out, double step, const ByColumn* a, size_t k) noexcept nogil:
    """out += step * column k of a."""
    sparse_add(out, step, a.entry + a.begin[k], a.begin[k + 1] - a.begin[k])


cdef inline void add_scaled(float* out, const float* scale, float step, const ByColumn* a, size_t k) noexcept nogil:
    """out += step * scale * column k of a, entry by entry."""
    sparse_add_scaled(out, scale, step, a.entry + a.begin[k], a.begin[k + 1] - a.begin[k])


cdef inline void fetch_column(const ByColumn* a, size_t k) noexcept nogil:
    """Prefetch column k of a, which is needed soon."""
    fetch(a.entry + a.begin[k])


cdef Columns kept_columns(Rows rows, const uint8_t* keep, size_t* counted)
