"""exp, expm1, log, log1p and pow, in additions, multiplications and divisions alone: the same bits everywhere.

Those of the C library choose their code by the processor, and change with its version; those of NumPy do both. Nothing
that reaches a model, a prediction or a report may be made by them (but in `vwlite vw`, whose original does so).

Of one number each, for all numbers, with infinities, NaN and subnormal numbers as in C (but x >= 0 in pow):

    exp, expm1, log, log1p, pow     within 0.6 units in the last place (1 where the result is subnormal)
    powf                            in floats, within 0.501

Exponentials come from a table of 2^(i / 128), logarithms from one of ln c, c the nearest number of seven bits, and from
short series for what is left (Tang. Table-Driven Implementation of the Exponential Function in IEEE Floating-Point
Arithmetic. ACM TOMS 15, 1989; of the Logarithm Function, 16, 1990). What is left is kept in two parts where one would
lose digits.

Of many numbers at once, in vector instructions and without tables: `exponentials` and `powers`, and exp_of and log_of
of single ones, to a few units in the last place, for numbers that are neither too large nor too small.
"""

from vwlite.core.base.targets cimport *

cdef extern from *:
    """
    VWLITE_CLONES static void vwlite_exponentials(const double *x, double *out, size_t n) {
        for (size_t i = 0; i < n; i++)
            out[i] = vwlite_exp(x[i]);
    }

    VWLITE_CLONES static void vwlite_powers(const double *x, double exponent, double *out, size_t n) {
        for (size_t i = 0; i < n; i++) {
            double y = exponent * vwlite_log(x[i]);
            double power = vwlite_exp(y > -700 ? y : -700);
            out[i] = x[i] > 0 && y > -700 ? power : 0;
        }
    }
    """
    void vwlite_exponentials(const double* x, double* out, size_t n) noexcept nogil
    void vwlite_powers(const double* x, double exponent, double* out, size_t n) noexcept nogil


cdef void exponentials(const double* x, double* out, size_t n) noexcept nogil:
    """out = e^x, for |x| <= 700; out may be x"""
    vwlite_exponentials(x, out, n)


cdef void powers(const double* x, double exponent, double* out, size_t n) noexcept nogil:
    """out = x^exponent, for x >= 0 and exponent ln x <= 700; 0 where that is below e^-700, and for 0; out may be x"""
    vwlite_powers(x, exponent, out, n)


# Of one number each: name, function.
cdef double of_one(int which, double x, double y) noexcept nogil:
    if which == 0:
        return exp(x)
    if which == 1:
        return expm1(x)
    if which == 2:
        return log(x)
    if which == 3:
        return log1p(x)
    if which == 4:
        return pow(x, y)
    if which == 5:
        return powf(<float>x, <float>y)
    return sigmoid(x)


FUNCTIONS = ("exp", "expm1", "log", "log1p", "pow", "powf", "sigmoid")


def each(str name, const double[::1] x not None, double[::1] out not None, double y=0):
    """Fill `out`, which may be x, with the function of each number; y: the exponent of pow and powf.

    name: one of FUNCTIONS, or exponentials and powers, which are made in vectors for a part of all numbers: see above.
    ValueError for another one, and for arrays that are not of one size.
    """
    cdef Py_ssize_t i
    cdef int which
    if x.shape[0] != out.shape[0]:
        raise ValueError("as many results as numbers")
    if name == "exponentials":
        exponentials(&x[0], &out[0], x.shape[0])
    elif name == "powers":
        powers(&x[0], y, &out[0], x.shape[0])
    else:
        which = FUNCTIONS.index(name)
        with nogil:
            for i in range(x.shape[0]):
                out[i] = of_one(which, x[i], y)


def power(double x, double y):
    """x^y for x >= 0; NaN for others."""
    return pow(x, y)
