"""Small dense matrices: products, a symmetric system, the eigenvectors of a symmetric matrix.

NumPy has all of it from a library that chooses its code, and the order of its sums, by the processor and the number of
its threads. Here every sum has one order: the same bits everywhere, in one thread.
"""

from libc.float cimport DBL_EPSILON
from libc.math cimport INFINITY, copysign, fabs, frexp, ldexp, sqrt
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from vwlite.core.base.targets cimport *

cdef extern from *:
    """
    #define VWLITE_COLUMNS 256      /* of rows that are rotated, at a time */

    /* In eight lanes. */
    VWLITE_CLONES static double vwlite_dot(const double *x, const double *y, size_t n) {
        double lanes[8] = {0};
        size_t i = 0;
        for (; i + 8 <= n; i += 8)
            for (int k = 0; k < 8; k++)
                lanes[k] += x[i + k] * y[i + k];
        for (int k = 0; i < n; i++, k++)
            lanes[k] += x[i] * y[i];
        return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
    }

    /* y += a x */
    VWLITE_CLONES static void vwlite_add_times(double *y, double a, const double *x, size_t n) {
        for (size_t i = 0; i < n; i++)
            y[i] += a * x[i];
    }

    /* z += a x + b y */
    VWLITE_CLONES static void vwlite_add_two(double *z, double a, const double *x, double b, const double *y, size_t n) {
        for (size_t i = 0; i < n; i++)
            z[i] += a * x[i] + b * y[i];
    }

    /* out += A x, of which row i < n has its first i + 1 numbers: those of a symmetric matrix. */
    VWLITE_CLONES static void vwlite_add_symmetric(double *out, const double *A, size_t stride, const double *x, size_t n) {
        for (size_t i = 0; i < n; i++) {
            const double *row = A + i * stride;
            double lanes[8] = {0}, a = x[i];
            size_t j = 0;
            for (; j + 8 <= i; j += 8)
                for (int k = 0; k < 8; k++) {
                    lanes[k] += row[j + k] * x[j + k];
                    out[j + k] += a * row[j + k];
                }
            for (int k = 0; j < i; j++, k++) {
                lanes[k] += row[j] * x[j];
                out[j] += a * row[j];
            }
            out[i] += a * row[i]
                + (((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])));
        }
    }

    /* Rows `last` to `first` of R, from the last on: rows i + 1 and i become s R_i + c R_i+1 and c R_i - s R_i+1. */
    VWLITE_CLONES static void vwlite_rotate(double *R, size_t n, size_t first, size_t last, const double *c,
                                            const double *s) {
        double below[VWLITE_COLUMNS];
        for (size_t begin = 0; begin < n; begin += VWLITE_COLUMNS) {
            size_t width = n - begin < VWLITE_COLUMNS ? n - begin : VWLITE_COLUMNS;
            memcpy(below, R + last * n + begin, width * sizeof(double));
            for (size_t i = last; i-- > first;) {
                double *row = R + i * n + begin, *next = row + n;
                double cosine = c[i], sine = s[i];
                for (size_t j = 0; j < width; j++) {
                    double a = row[j], b = below[j];
                    next[j] = sine * a + cosine * b;
                    below[j] = cosine * a - sine * b;
                }
            }
            memcpy(R + first * n + begin, below, width * sizeof(double));
        }
    }
    """
    double dot_of "vwlite_dot"(const double* x, const double* y, size_t n) noexcept nogil
    void add_times "vwlite_add_times"(double* y, double a, const double* x, size_t n) noexcept nogil
    void add_two "vwlite_add_two"(double* z, double a, const double* x, double b, const double* y, size_t n) noexcept nogil
    void add_symmetric "vwlite_add_symmetric"(
        double* out, const double* A, size_t stride, const double* x, size_t n) noexcept nogil
    void rotate "vwlite_rotate"(
        double* R, size_t n, size_t first, size_t last, const double* c, const double* s) noexcept nogil

cdef enum:
    MOST_SWEEPS = 60    # of the QL iteration for an eigenvalue; two are usual

cdef double NOTHING = 1e-100    # relative to the largest number of a matrix


def dot(const double[::1] x not None, const double[::1] y not None):
    """sum of x_i y_i"""
    if x.shape[0] != y.shape[0]:
        raise ValueError("vectors of two lengths")
    return dot_of(&x[0], &y[0], x.shape[0]) if x.shape[0] else 0.0


def times(const double[:, ::1] A not None, const double[::1] x not None, double[::1] out not None):
    """out = A x"""
    cdef Py_ssize_t i
    if A.shape[1] != x.shape[0] or A.shape[0] != out.shape[0]:
        raise ValueError("a matrix and vectors that do not fit")
    for i in range(A.shape[0]):
        out[i] = dot_of(&A[i, 0], &x[0], x.shape[0]) if x.shape[0] else 0


def times_transposed(const double[:, ::1] A not None, const double[::1] x not None, double[::1] out not None):
    """out = A^T x"""
    cdef Py_ssize_t i
    if A.shape[0] != x.shape[0] or A.shape[1] != out.shape[0]:
        raise ValueError("a matrix and vectors that do not fit")
    out[:] = 0
    for i in range(A.shape[0]):
        if x[i] != 0:
            add_times(&out[0], x[i], &A[i, 0], A.shape[1])


def add_outer_products(double[:, ::1] S not None, const double[::1] values not None, const double[:, ::1] rows not None):
    """S += sum of v_j r_j r_j^T, for the values v_j that are not 0 and rows r_j, which may be shorter than those of S."""
    cdef Py_ssize_t i, j, k, m = rows.shape[1]
    if values.shape[0] != rows.shape[0] or S.shape[0] != S.shape[1] or S.shape[0] < m:
        raise ValueError("matrices that do not fit")
    with nogil:
        for i in range(m):
            j = -1
            for k in range(rows.shape[0]):
                if values[k] == 0:
                    continue
                if j < 0:
                    j = k
                    continue
                add_two(&S[i, 0], values[j] * rows[j, i], &rows[j, 0], values[k] * rows[k, i], &rows[k, 0], i + 1)
                j = -1
            if j >= 0:
                add_times(&S[i, 0], values[j] * rows[j, i], &rows[j, 0], i + 1)
        for i in range(m):
            for j in range(i):
                S[j, i] = S[i, j]


def solve(double[:, ::1] A not None, double[::1] b not None):
    """Set b to A^-1 b, A symmetric and positive definite; A is overwritten.

    Cholesky's factors, without roots: A = L D L^T. A pivot of D that rounding has left below the last digits of its
    diagonal counts as these.
    """
    cdef Py_ssize_t i, j, n = A.shape[0]
    cdef double least, x
    cdef double* pivots
    if A.shape[1] != n or b.shape[0] != n:
        raise ValueError("a matrix and a vector that do not fit")
    pivots = <double*>malloc(n * sizeof(double) + 1)
    if pivots == NULL:
        raise MemoryError
    with nogil:
        for i in range(n):
            # Row i of L D first, then of L: the pivots come in between.
            for j in range(i):
                A[i, j] -= dot_of(&A[i, 0], &A[j, 0], j)
            least = n * DBL_EPSILON * fabs(A[i, i])
            for j in range(i):
                x = A[i, j]
                A[i, j] = x / pivots[j]
                A[i, i] -= x * A[i, j]
            pivots[i] = A[i, i] if A[i, i] > least or A[i, i] != A[i, i] else least
        for i in range(n):
            b[i] -= dot_of(&A[i, 0], &b[0], i)
        for i in range(n):
            b[i] /= pivots[i]
        for i in range(n - 1, 0, -1):
            add_times(&b[0], -b[i], &A[i, 0], i)
    free(pivots)


def eigenvectors(double[:, ::1] A not None, double[::1] values not None):
    """Replace the rows of a symmetric matrix A by its eigenvectors, and `values` by its ascending eigenvalues.

    ArithmeticError: A is not finite. They are exact to the last digits of the largest eigenvalue.

    Householder's reflections make A tridiagonal, the QL iteration with implicit shifts diagonal. Bowdler, Martin,
    Reinsch, Wilkinson. The QR and QL Algorithms for Symmetric Matrices. Numerische Mathematik 11, 1968.
    """
    cdef Py_ssize_t i, n = A.shape[0]
    cdef double largest = 0
    cdef int exponent = 0
    cdef bint done = False
    cdef double* Q
    cdef double* work
    if A.shape[1] != n or values.shape[0] != n:
        raise ValueError("a matrix and a vector that do not fit")
    if n == 0:
        return
    for i in range(n * n):
        if not fabs((&A[0, 0])[i]) < INFINITY:
            raise ArithmeticError("the matrix is not finite")
        largest = max(largest, fabs((&A[0, 0])[i]))
    frexp(largest, &exponent)       # with 1 as the largest nothing overflows
    Q, work = <double*>malloc(n * n * sizeof(double)), <double*>malloc(4 * n * sizeof(double))
    try:
        if Q == NULL or work == NULL:
            raise MemoryError
        with nogil:
            for i in range(n * n):
                (&A[0, 0])[i] = ldexp((&A[0, 0])[i], -exponent)
            make_tridiagonal(&A[0, 0], n, &values[0], work, Q, work + n)
            done = make_diagonal(Q, n, &values[0], work)
            put_in_order(Q, n, &values[0], &A[0, 0], work)
            for i in range(n):
                values[i] = ldexp(values[i], exponent)
        if not done:
            raise ArithmeticError("the eigenvalues do not converge")
    finally:
        free(Q)
        free(work)


cdef void make_tridiagonal(double* A, size_t n, double* d, double* e, double* Q, double* p) noexcept nogil:
    """A = Q^T T Q: T has the diagonal d, and e_i to the left of d_i, e_0 = 0. p: buffer of [2 n].

    Row i of A, from the last on, becomes the reflection (0, .., e_i, d_i) by H_i = I - v v^T / h, h = v^T v / 2. v stays
    in the row, h in its last place.
    """
    cdef Py_ssize_t i, j
    cdef double* v
    cdef double* sums = p + n
    cdef double norm, h, part
    for i in range(<Py_ssize_t>n - 1, -1, -1):
        v = A + i * n
        d[i], e[i] = v[i], v[i - 1] if i > 0 else 0
        norm = sqrt(dot_of(v, v, i))
        v[i] = 0
        if norm < NOTHING:
            e[i] = 0
        if i < 2 or norm < NOTHING or fabs(e[i]) == norm:
            continue
        e[i] = -copysign(norm, v[i - 1])
        h = norm * norm - v[i - 1] * e[i]
        v[i - 1] -= e[i]
        for j in range(i):
            p[j] = 0
        add_symmetric(p, A, n, v, i)
        part = dot_of(p, v, i) / h / (2 * h)
        for j in range(i):
            p[j] = part * v[j] - p[j] / h       # A -= v w^T + w v^T, w = p / h - part v
        for j in range(i):
            add_two(A + j * n, v[j], p, p[j], v, j + 1)
        v[i] = h
    # Q^T = H_n-1 ... H_1 grows by a row and a column with each.
    for i in range(<Py_ssize_t>n):
        v = A + i * n
        h = v[i]
        if h != 0:
            for j in range(i):
                sums[j] = 0
            for j in range(i):
                add_times(sums, v[j] / h, Q + j * n, i)
            for j in range(i):
                add_times(Q + j * n, -v[j], sums, i)
        for j in range(i):
            Q[i * n + j] = Q[j * n + i] = 0
        Q[i * n + i] = 1
    for i in range(<Py_ssize_t>n):
        for j in range(i):
            part = Q[i * n + j]
            Q[i * n + j] = Q[j * n + i]
            Q[j * n + i] = part


cdef bint make_diagonal(double* Q, size_t n, double* d, double* e) noexcept nogil:
    """Set d to the eigenvalues of T and the rows of Q to their eigenvectors; returns whether it converged. e: [3 n], of
    which the first n are T's."""
    cdef Py_ssize_t i, l, m
    cdef int sweeps
    cdef double norm = 0, g, r, s, c, p, f, b
    cdef double* cosines = e + n
    cdef double* sines = e + 2 * n
    for i in range(<Py_ssize_t>n):
        norm = max(norm, fabs(d[i]) + fabs(e[i]))
        if i > 0:
            e[i - 1] = e[i]
    e[n - 1] = 0
    for l in range(<Py_ssize_t>n):
        for sweeps in range(MOST_SWEEPS + 1):
            m = l
            while m < <Py_ssize_t>n - 1 and fabs(e[m]) > DBL_EPSILON / 4 * norm:
                m += 1
            if m == l:
                break
            if sweeps == MOST_SWEEPS:
                return False
            g = (d[l + 1] - d[l]) / (2 * e[l])
            r = sqrt(g * g + 1)
            g = d[m] - d[l] + e[l] / (g + copysign(r, g))
            s, c, p = 1, 1, 0
            for i in range(m - 1, l - 1, -1):
                f, b = s * e[i], c * e[i]
                r = max(fabs(f), fabs(g))
                if r > 0:           # squares of small numbers alone would lose their digits
                    r *= sqrt((f / r) * (f / r) + (g / r) * (g / r))
                e[i + 1] = r
                if r == 0:          # underflow: there T splits
                    d[i + 1] -= p
                    break
                s, c = f / r, g / r
                g = d[i + 1] - p
                r = (d[i] - g) * s + 2 * c * b
                p = s * r
                d[i + 1] = g + p
                g = c * r - b
                cosines[i], sines[i] = c, s
            else:
                d[l] -= p
                e[l] = g
                i = l - 1
            e[m] = 0
            if i + 1 < m:
                rotate(Q, n, i + 1, m, cosines, sines)
    return True


cdef void put_in_order(const double* Q, size_t n, double* values, double* out, double* found) noexcept nogil:
    """Sort `values` ascending, and set `out` to the rows of Q that belong to them. found: buffer of [n]"""
    cdef size_t i, j, least
    memcpy(found, values, n * sizeof(double))
    for i in range(n):
        least = 0
        for j in range(1, n):
            if found[j] < found[least]:
                least = j
        values[i] = found[least]
        found[least] = INFINITY
        memcpy(out + i * n, Q + least * n, n * sizeof(double))
