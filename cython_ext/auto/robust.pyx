"""The losses of `--algorithm auto` that have kinks, or hardly any curvature: as lanes learn them, and smoothed for Newton's
method. Labels have a standard deviation of 1.
"""

from libc.math cimport fabs

from vwlite.core.learn.losses cimport Huber, Loss, Quantile

cdef double WIDTH = 0.05    # residuals up to this have a curvature


def least_slope(double delta):
    """What `ScaledHuber` divides by: min(delta, 1), and not 0."""
    return max(min(delta, 1), 1e-100)


cdef class ScaledHuber(Huber):
    """Huber's loss over min(delta, 1): its slope is at most 2 for a small delta, where Huber's own is as small as delta. So it
    ranges from twice the absolute to the squared loss, and rates and penalties mean the same for all."""

    cdef double factor

    def __init__(self, double delta=1):
        super().__init__(max(delta, 1e-100))
        self.factor = 1 / least_slope(delta)

    cdef double value(self, double p, double y) noexcept nogil:
        return self.factor * Huber.value(self, p, y)

    cdef double dloss(self, double p, double y) noexcept nogil:
        return self.factor * Huber.dloss(self, p, y)

    cdef double curvature(self, double p, double y) noexcept nogil:
        return self.factor * Huber.curvature(self, p, y)

    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil:
        """The time runs faster by the factor."""
        return Huber.invariant_step(self, p, y, dloss / self.factor, eta * self.factor, h)


cdef class SmoothQuantile(Quantile):
    """The mean of the quantile loss over labels that are spread evenly over [y - w, y + w], w = WIDTH: for |p - y| >= w the
    quantile loss, else tau (y - p) + (y - p - w)^2 / (4 w). (Fernandes, Guerre, Horta. Smoothing Quantile Regressions. JBES
    2021.)"""

    cdef double value(self, double p, double y) noexcept nogil:
        cdef double r = y - p
        if fabs(r) >= WIDTH:
            return Quantile.value(self, p, y)
        return self.tau * r + (r - WIDTH) * (r - WIDTH) / (4 * WIDTH)

    cdef double dloss(self, double p, double y) noexcept nogil:
        cdef double r = y - p
        if fabs(r) >= WIDTH:
            return Quantile.dloss(self, p, y)
        return (WIDTH - r) / (2 * WIDTH) - self.tau

    cdef double curvature(self, double p, double y) noexcept nogil:
        return 1 / (2 * WIDTH) if fabs(y - p) < WIDTH else 0


cpdef Loss smoothed(Loss loss):
    """The loss that Newton's method minimizes in place of this one: itself if it has a curvature everywhere."""
    if isinstance(loss, Quantile):
        return SmoothQuantile((<Quantile>loss).tau)
    if isinstance(loss, Huber):
        return ScaledHuber(max((<Huber>loss).delta, WIDTH))
    return loss
