"""The mean of w_1, ..., w_T, the weights that made the predictions, for weights with lazy shrinkage.

Langford, Li, Zhang. Sparse Online Learning via Truncated Gradient. JMLR 10, 2009; theorem 3.2.

The summed quantity is a size max(u - A_t, 0): A is shared by all features and never decreases, u belongs to the feature
and does not change while the feature is untouched. With C_t = A_0 + ... + A_{t-1}, the examples r + 1, ..., t add

    (t - r) u - (C_t - C_r)

as long as u > A. The moment when A reaches u is not detected; so A and C are stored for as many examples as
the table has slots. Then one scan of the table closes the sums of all weights that became zero, and the history
restarts. A weight that is touched earlier is looked up in the history to find when it became zero. So an example costs
O(its features), plus on average one slot of a scan; the value of a sum does not depend on when it is closed.
"""

from libc.stdlib cimport free

from vwlite.core.base.buffers cimport ample, resize


# The fields of a slot beside its state. A closed one holds `sum` and zeros.
cdef struct RunningSum:
    double sum          # of the weights of the examples 1, ..., since
    double since
    double area         # C_since


# A and C after the examples begin, begin + 1, ...; owned by the rule
cdef struct History:
    double* shifts
    double* areas
    size_t size, capacity
    double begin


cdef inline int append(History* h, double shift, double area) noexcept nogil:
    """Append A and C after the next example; -1: no memory."""
    cdef size_t want = ample(h.size + 1)
    if h.size == h.capacity:
        if resize(<void**>&h.shifts, want, sizeof(double)) or resize(<void**>&h.areas, want, sizeof(double)):
            return -1
        h.capacity = want
    h.shifts[h.size], h.areas[h.size] = shift, area
    h.size += 1
    return 0


cdef inline int reset(History* h, double t, double shift, double area) noexcept nogil:
    """Restart after example t, when no sum of a zero weight is open; -1: no memory."""
    h.size, h.begin = 0, t
    return append(h, shift, area)


cdef inline void free_history(History* h) noexcept nogil:
    free(h.shifts)
    free(h.areas)


cdef inline size_t when_zero(const History* h, double size, double at) noexcept nogil:
    """The position in the history where a size that was `size` at the shift `at` is zero for the first time."""
    cdef size_t low = 0, high = h.size - 1, middle
    while low < high:
        middle = (low + high) // 2
        if h.shifts[middle] - at >= size:
            high = middle
        else:
            low = middle + 1
    return low


cdef inline void bring_up(RunningSum* r, double pending, double t, double area) noexcept nogil:
    """Add the contribution of the examples up to t since the last touch."""
    r.sum, r.since, r.area = r.sum + pending, t, area


cdef inline void close(RunningSum* r, double pending) noexcept nogil:
    """The same for a weight that has become zero: later contributions are 0."""
    bring_up(r, pending, 0, 0)


cdef inline double mean(const RunningSum* r, double pending, double t) noexcept nogil:
    """The mean weight of t examples."""
    return (r.sum + pending) / t if t else 0


cdef inline double shrinking(const History* h, const RunningSum* r, double size, double at, double shift, double t,
                             double area) noexcept nogil:
    """The contribution of the examples after `since` to the sum of a size that was `size` at the shift `at`; t, shift,
    area: current values."""
    cdef size_t i
    if shift - at >= size:
        i = when_zero(h, size, at)
        t, area = h.begin + i, h.areas[i]
        if t <= r.since:
            return 0
    return (t - r.since) * (size + at) - (area - r.area)
