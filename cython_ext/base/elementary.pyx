"""Exponentials and powers of many numbers at once, in vector instructions.

The C library computes one number a call, and which bits come out depends on the library and the processor. These are
plain arithmetic: the same bits everywhere, to a few units in the last place.
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


def exp(const double[::1] x, double[::1] out):
    """e^x of numbers up to 700 in size. ValueError: the arrays are not of one size."""
    if x.shape[0] != out.shape[0]:
        raise ValueError("as many results as numbers")
    exponentials(&x[0], &out[0], x.shape[0])


def power(const double[::1] x, double exponent, double[::1] out):
    """x^exponent of numbers x >= 0. ValueError: the arrays are not of one size."""
    if x.shape[0] != out.shape[0]:
        raise ValueError("as many results as numbers")
    powers(&x[0], exponent, &out[0], x.shape[0])
