"""The logistic loss log(1 + exp(-z)), z = y p with y in {-1, 1}, and its derivatives: the formula of learner and solvers.

There are two forms of it, because their last bits differ and models depend on these:

    logistic            of the learner, one prediction at a time: quotients and log1p
    logistic_smooth     of the solvers: one division for loss, slope and curvature, and selections in place of branches,
                        so that compilers make vectors of a loop over examples

In both e = exp(-|z|) is at most 1, so nothing overflows.
"""

from vwlite.core.base.elementary cimport exp

cdef extern from *:
    """
    #include <math.h>

    /* The derivative alone, with the same bits as when it is computed with the loss. */
    static inline double vwlite_logistic_slope(double p, double y) {
        double z = y * p;
        double e = vwlite_exp_any(-fabs(z));
        return z > 0 ? -y * e / (1 + e) : -y / (1 + e);
    }

    /* The loss and its derivative by p. */
    static inline double vwlite_logistic(double p, double y, double *dloss) {
        double z = y * p;
        double e = vwlite_exp_any(-fabs(z));
        if (z > 0) {
            *dloss = -y * e / (1 + e);
            return vwlite_log1p(e);
        }
        *dloss = -y / (1 + e);
        return vwlite_log1p(e) - z;
    }

    static inline double vwlite_logistic_curvature(double p) {
        double e = vwlite_exp_any(-fabs(p));
        return e / ((1 + e) * (1 + e));
    }

    /* ln (1 + e) for 0 <= e <= 1, to full relative accuracy: the rounding of 1 + e is made good. */
    static inline double vwlite_log_1_plus(double e) {
        double u = 1 + e;
        return vwlite_log(u) + (e - (u - 1)) / u;
    }

    /* The loss; share = -dl/dz = 1 / (1 + e^z), curvature = d2l/dz2. |z| is cut at 600, so that e stays a normal number. */
    static inline double vwlite_logistic_smooth(double z, double *share, double *curvature) {
        double size = fabs(z);
        double e = vwlite_exp(-(size < 600 ? size : 600));
        double inverse = 1 / (1 + e);
        *share = z > 0 ? e * inverse : inverse;
        *curvature = e * inverse * inverse;
        return vwlite_log_1_plus(e) + (z > 0 ? 0 : -z);
    }
    """
    double logistic "vwlite_logistic"(double p, double y, double* dloss) noexcept nogil
    double logistic_slope "vwlite_logistic_slope"(double p, double y) noexcept nogil
    double logistic_curvature "vwlite_logistic_curvature"(double p) noexcept nogil
    double log_1_plus "vwlite_log_1_plus"(double e) noexcept nogil
    double logistic_smooth "vwlite_logistic_smooth"(double z, double* share, double* curvature) noexcept nogil
