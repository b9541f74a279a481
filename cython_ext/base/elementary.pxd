"""exp, log and their kin: plain arithmetic, the same bits on every processor and with every C library. See elementary.pyx."""

from vwlite.core.base.elementary_tables cimport *

cdef extern from *:
    """
    #include <math.h>
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

    /* --- functions of one number, for all numbers --- */

    /* What is left of x: x = (128 m + i) ln 2 / 128 + r, m + i / 128 = k / 128; all but the last bits of r. */
    static inline double vwlite_reduced(double x, double *n, int64_t *k) {
        const double whole = 0x1.8p52;
        double shifted = x * (0x1.71547652b82fep0 * 128) + whole;
        *n = shifted - whole;
        *k = vwlite_bits(shifted) - vwlite_bits(whole);
        return x - *n * (VWLITE_LN2_HIGH / 128);
    }

    /* e^r - 1 - r for |r| <= 0.0028, but for r^6 / 720 */
    static inline double vwlite_exp_rest(double r, double s) {
        return s * (0.5 + r * (1 / 6.0)) + s * s * (1 / 24.0 + r * (1 / 120.0));
    }

    /* 2^m, for which 2^m is normal. */
    static inline double vwlite_power_of_two(int64_t m) {
        return vwlite_double((int64_t)((uint64_t)(m + 1023) << 52));
    }

    /* e^(x + tail), |tail| far below |x| or 1: 2^m 2^(i / 128) e^r. */
    static inline double vwlite_exp_sum(double x, double tail) {
        int64_t k, m;
        double n, r, scale, more;
        if (!(fabs(x) < 746))
            return x > 0 ? INFINITY : x != x ? x : 0;
        r = vwlite_reduced(x, &n, &k) - (n * (VWLITE_LN2_LOW / 128) - tail);
        more = (vwlite_exp_table[k & 127][1] + r) + vwlite_exp_rest(r, r * r);
        scale = vwlite_exp_table[k & 127][0];
        m = k >> 7;
        if (fabs(x) < 708) {
            scale = vwlite_double(vwlite_bits(scale) + (int64_t)((uint64_t)m << 52));
            return scale + scale * more;
        }
        return (scale + scale * more) * vwlite_power_of_two(m / 2) * vwlite_power_of_two(m - m / 2);    /* may be subnormal */
    }

    static inline double vwlite_exp_any(double x) {
        return vwlite_exp_sum(x, 0);
    }

    /* e^x - 1: the parts of 2^m 2^(i / 128) (1 + r) - 1 that are not small as products of floats, which are exact. */
    static inline double vwlite_expm1(double x) {
        int64_t k;
        double n, more, r, r_high, r_low, s, scale, entry, high, low, one_less, lost, product, sum;
        if (!(fabs(x) < 40))
            return x > 0 ? vwlite_exp_any(x) : x != x ? x : -1;
        if (fabs(x) < 0x1p-9) {             /* the series alone; x for the smallest, with its sign */
            s = x * x;
            return s == 0 ? x : x + (vwlite_exp_rest(x, s) + s * s * s * (1 / 720.0));
        }
        r = vwlite_reduced(x, &n, &k);
        more = n * (VWLITE_LN2_LOW / 128);
        r_high = (float)(r - more);
        r_low = (r - r_high) - more;
        r -= more;
        s = r * r;
        scale = vwlite_power_of_two(k >> 7);
        entry = vwlite_exp_table[k & 127][0];
        high = (float)entry * scale;
        low = ((entry - (float)entry) + entry * vwlite_exp_table[k & 127][1]) * scale;
        one_less = high - 1;
        lost = one_less + 1;                                    /* the rounding error of high - 1 */
        lost = (high - lost) + ((lost - one_less) - 1);
        product = high * r_high;
        sum = one_less + product;
        lost += (one_less - sum) + product;
        return sum + (lost + (low + (high * r_low + (low * r + (high + low) * (
            vwlite_exp_rest(r, s) + s * s * s * (1 / 720.0))))));
    }

    /* ln (u + more) = return value + low, for a normal u > 0 and `more` below its last bit. u = 2^k z, c the number of
       seven bits nearest to z: r = (z - c) / c, in two parts, of which the first times c is exact. With a square that is
       exact as well for `exact`, which pow needs. carried: whether more is not 0. */
    static inline double vwlite_log_parts(double u, double more, double *low, int carried, int exact) {
        const int64_t first = 0x3fe6800000000000;               /* the bits of the least c */
        int64_t at = vwlite_bits(u) + ((int64_t)1 << 45) - first;
        int64_t k = at >> 52;
        unsigned i = (unsigned)(at >> 46) & 63;
        double c = vwlite_double(first + (at & ((int64_t)63 << 46)));
        double d = vwlite_double((int64_t)((uint64_t)vwlite_bits(u) - ((uint64_t)k << 52))) - c;
        double inverse = vwlite_log_table[i][0];
        double less = carried ? more * vwlite_power_of_two(-k) : 0;
        double r = (d + less) * inverse, s = r * r;
        double r_high = (float)r;
        double r_low = ((d - r_high * c) + less) * inverse;
        double n = (double)k;
        double high = n * VWLITE_LN2_HIGH + vwlite_log_table[i][1];
        double sum = high + r_high;
        double rest = ((high - sum) + r_high) + (r_low + (n * VWLITE_LN2_LOW + vwlite_log_table[i][2]));
        double end = s * s * (r * 0.2 - 0.25) + s * s * s * ((r * (1 / 7.0) - 1 / 6.0) - s * 0.125);
        if (exact) {
            double square = -0.5 * r_high * r_high;
            double with_it = sum + square;
            *low = (((sum - with_it) + square) + rest) + (s * r * (1 / 3.0) + end - r_low * (r_high + 0.5 * r_low));
            return with_it;
        }
        *low = rest + ((s * (r * (1 / 3.0) - 0.5)) + end);
        return sum;
    }

    static inline int vwlite_is_normal(double x) {              /* and above 0 */
        return (uint64_t)vwlite_bits(x) - 0x0010000000000000 < 0x7fe0000000000000;
    }

    /* ln x, for x that is not a positive normal number */
    static inline double vwlite_log_odd(double x) {
        double low, high;
        if (x == 0)
            return -INFINITY;
        if (!(x > 0))
            return NAN;
        if (x == INFINITY)
            return x;
        high = vwlite_log_parts(x * 0x1p54, 0, &low, 0, 0);
        return (high - 54 * VWLITE_LN2_HIGH) + (low - 54 * VWLITE_LN2_LOW);
    }

    static inline double vwlite_log_any(double x) {
        double low, high;
        if (!vwlite_is_normal(x))
            return vwlite_log_odd(x);
        high = vwlite_log_parts(x, 0, &low, 0, 0);
        return high + low;
    }

    static inline double vwlite_log1p(double x) {
        double low, high, u = 1 + x;
        if (!(x > -1 && x < INFINITY))
            return vwlite_log_odd(u);
        if (fabs(x) < 0x1p-8) {             /* the series alone; x for the smallest, with its sign */
            double s = x * x;
            return s == 0 ? x : x + (s * (x * (1 / 3.0) - 0.5)
                + (s * s * (x * 0.2 - 0.25) + s * s * s * (x * (1 / 7.0) - 1 / 6.0)));
        }
        if (x > 0x1p60)
            return vwlite_log_any(x);
        high = vwlite_log_parts(u, x < 1 ? x - (u - 1) : 1 - (u - x), &low, 1, 0);
        return high + low;
    }

    /* x^y, for x that is not a positive normal number, and for y that is not finite */
    static inline double vwlite_pow_odd(double x, double y) {
        if (y == 0 || x == 1)
            return 1;
        if (!(x >= 0) || y != y)
            return NAN;
        if (fabs(y) == INFINITY)
            return (x > 1) == (y > 0) ? INFINITY : 0;
        return (x == 0) == (y < 0) ? INFINITY : 0;
    }

    /* x^y = e^(y ln x), x >= 0; NaN for others. */
    static inline double vwlite_pow(double x, double y) {
        double low, high, head, y_head, product, more = 0;
        if (!vwlite_is_normal(x) || !(fabs(y) < INFINITY)) {
            if (!(x > 0 && x < INFINITY && fabs(y) < INFINITY))
                return vwlite_pow_odd(x, y);
            x *= 0x1p54;
            more = -54;
        }
        if (fabs(y) > 0x1p80)                                   /* infinite or 0 in any case, if not 1 */
            y = y > 0 ? 0x1p80 : -0x1p80;
        high = vwlite_log_parts(x, 0, &low, 0, 1);
        if (more != 0) {
            head = high + more * VWLITE_LN2_HIGH;
            low += (high - (head - more * VWLITE_LN2_HIGH)) + more * VWLITE_LN2_LOW;
            high = head;
        }
        head = vwlite_double(vwlite_bits(high) & -((int64_t)1 << 27));
        y_head = vwlite_double(vwlite_bits(y) & -((int64_t)1 << 27));
        low += high - head;
        product = y_head * head;
        if (fabs(product) > 800)
            return product > 0 ? INFINITY : 0;
        return vwlite_exp_sum(product, (y - y_head) * head + y * low);
    }

    /* x^y in floats, through doubles that are right to about 40 bits. 1 is frequent where numbers are squares of scales. */
    static inline float vwlite_powf(float x, float y) {
        const int64_t first = 0x3fe6800000000000;
        int64_t at, k;
        double c, r, s, log, n, scale;
        if (x == 1)
            return 1;
        if (!(x >= 0x1p-126f && x < INFINITY && fabsf(y) < 0x1p60f))
            return (float)vwlite_pow(x, y);
        at = vwlite_bits(x) + ((int64_t)1 << 45) - first;
        k = at >> 52;
        c = vwlite_double(first + (at & ((int64_t)63 << 46)));
        r = vwlite_double((int64_t)((uint64_t)vwlite_bits(x) - ((uint64_t)k << 52))) - c;
        r *= vwlite_log_table[at >> 46 & 63][0];
        s = r * r;
        log = ((double)k * 0x1.62e42fefa39efp-1 + vwlite_log_table[at >> 46 & 63][1])
            + (r + s * ((-0.5 + r * (1 / 3.0)) + s * (-0.25 + r * 0.2)));
        log *= y;
        if (!(fabs(log) < 150))
            return log > 0 ? INFINITY : 0;
        vwlite_reduced(log, &n, &k);
        r = log - n * (0x1.62e42fefa39efp-1 / 128);
        scale = vwlite_double(vwlite_bits(vwlite_exp_table[k & 127][0]) + (int64_t)((uint64_t)(k >> 7) << 52));
        return (float)(scale + scale * (r + r * r * (0.5 + r * (1 / 6.0))));
    }
    """
    double exp_of "vwlite_exp"(double x) noexcept nogil       # |x| <= 700; in loops the compiler makes vectors of it

    double exp "vwlite_exp_any"(double x) noexcept nogil
    double expm1 "vwlite_expm1"(double x) noexcept nogil
    double log "vwlite_log_any"(double x) noexcept nogil
    double log1p "vwlite_log1p"(double x) noexcept nogil
    double pow "vwlite_pow"(double x, double y) noexcept nogil      # x >= 0
    float powf "vwlite_powf"(float x, float y) noexcept nogil


cdef void exponentials(const double* x, double* out, size_t n) noexcept nogil
cdef void powers(const double* x, double exponent, double* out, size_t n) noexcept nogil


cdef inline double sigmoid(double p) noexcept nogil:
    """1 / (1 + e^-p), the probability of the label 1"""
    return 1 / (1 + exp(-p))
