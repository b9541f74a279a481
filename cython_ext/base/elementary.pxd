"""Exponentials and powers of many numbers at once (see elementary.pyx), and the sigmoid of one."""

from libc.math cimport exp

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    static inline int64_t vwlite_bits(double x) {
        int64_t bits;
        memcpy(&bits, &x, 8);
        return bits;
    }

    static inline double vwlite_double(int64_t bits) {
        double x;
        memcpy(&x, &bits, 8);
        return x;
    }

    #define VWLITE_LN2_HIGH 0x1.62e42fefap-1             /* short: n times it is exact */
    #define VWLITE_LN2_LOW 0x1.cf79abc9e3b39803p-40      /* the rest of ln 2 */

    /* e^x for |x| <= 700. x = n ln 2 + r, |r| <= ln 2 / 2, and 14 terms of the series of e^r. Adding 1.5 2^52 rounds to
       a whole number and leaves it in the lowest bits. */
    static inline double vwlite_exp(double x) {
        const double whole = 0x1.8p52;
        double shifted = x * 0x1.71547652b82fep0 + whole;
        double n = shifted - whole;
        double r = (x - n * VWLITE_LN2_HIGH) - n * VWLITE_LN2_LOW;
        double sum = 1 / 6227020800.0;
        sum = sum * r + 1 / 479001600.0;
        sum = sum * r + 1 / 39916800.0;
        sum = sum * r + 1 / 3628800.0;
        sum = sum * r + 1 / 362880.0;
        sum = sum * r + 1 / 40320.0;
        sum = sum * r + 1 / 5040.0;
        sum = sum * r + 1 / 720.0;
        sum = sum * r + 1 / 120.0;
        sum = sum * r + 1 / 24.0;
        sum = sum * r + 1 / 6.0;
        sum = sum * r + 0.5;
        sum = sum * r + 1;
        sum = sum * r + 1;
        return sum * vwlite_double((int64_t)((uint64_t)(vwlite_bits(shifted) + 1023) << 52));
    }

    /* ln x for a normal x > 0. x = 2^n m, 0.7 < m < 1.42, and ln m = 2 (s + s^3 / 3 + s^5 / 5 + ...), s = (m - 1) / (m + 1). */
    static inline double vwlite_log(double x) {
        const int64_t begin = 0x3fe6a09e00000000;        /* the bits of the least m */
        uint64_t bits = (uint64_t)vwlite_bits(x) + (0x3ff0000000000000 - begin);
        double n = vwlite_double((int64_t)((bits >> 52) | 0x4330000000000000)) - (0x1p52 + 1023);
        double f = vwlite_double((int64_t)(bits & 0x000fffffffffffff) + begin) - 1;
        double s = f / (2 + f);
        double z = s * s;
        double sum = 1 / 21.0;
        sum = sum * z + 1 / 19.0;
        sum = sum * z + 1 / 17.0;
        sum = sum * z + 1 / 15.0;
        sum = sum * z + 1 / 13.0;
        sum = sum * z + 1 / 11.0;
        sum = sum * z + 1 / 9.0;
        sum = sum * z + 1 / 7.0;
        sum = sum * z + 1 / 5.0;
        sum = sum * z + 1 / 3.0;
        return n * VWLITE_LN2_HIGH + (2 * s + (2 * s * z * sum + n * VWLITE_LN2_LOW));
    }
    """
    double exp_of "vwlite_exp"(double x) noexcept nogil       # |x| <= 700


cdef void exponentials(const double* x, double* out, size_t n) noexcept nogil
cdef void powers(const double* x, double exponent, double* out, size_t n) noexcept nogil


cdef inline double sigmoid(double p) noexcept nogil:
    """1 / (1 + e^-p), the probability of the label 1; e^x is that of the C library"""
    return 1 / (1 + exp(-p))
