"""The mean of w_1, ..., w_T, the weights that made the predictions, for weights that shrink while nobody looks.

Langford, Li, Zhang. Sparse Online Learning via Truncated Gradient. JMLR 10, 2009; theorem 3.2.

What is summed up is a size max(u - A_t, 0): A is a number of all features that never falls, u one of the feature that
stays as it is while the feature is untouched. With C_t = A_0 + ... + A_{t-1}, the examples r + 1, ..., t add

    (t - r) u - (C_t - C_r)

as long as u > A. When A comes to u is known to nobody at that moment; so A and C are remembered for as many examples as
the table has slots. Then one sweep over the table closes the sums of all the weights that became zero, and the history
begins anew. A weight that is touched before looks up in the history when it became zero. So an example costs
what its features do, and on average one slot of a sweep; and what a sum is does not depend on when it is closed.
"""

from libc.stdlib cimport free

from vwlite.core.base.buffers cimport ample, resize


# What a slot keeps beside its state. One that is closed holds `sum` and zeros.
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
    """Begin anew after example t, when the sum of no zero is open; -1: no memory."""
    h.size, h.begin = 0, t
    return append(h, shift, area)


cdef inline void free_history(History* h) noexcept nogil:
    free(h.shifts)
    free(h.areas)


cdef inline size_t when_zero(const History* h, double size, double at) noexcept nogil:
    """Where in the history a size that was `size` at the shift `at` is zero for the first time; it is, at its end."""
    cdef size_t low = 0, high = h.size - 1, middle
    while low < high:
        middle = (low + high) // 2
        if h.shifts[middle] - at >= size:
            high = middle
        else:
            low = middle + 1
    return low


cdef inline void bring_up(RunningSum* r, double pending, double t, double area) noexcept nogil:
    """Add what the examples up to t have added since the last touch."""
    r.sum, r.since, r.area = r.sum + pending, t, area


cdef inline void close(RunningSum* r, double pending) noexcept nogil:
    """The same for a weight that has become zero: nothing more comes."""
    bring_up(r, pending, 0, 0)


cdef inline double mean(const RunningSum* r, double pending, double t) noexcept nogil:
    """The mean weight of t examples."""
    return (r.sum + pending) / t if t else 0


cdef inline double shrinking(const History* h, const RunningSum* r, double size, double at, double shift, double t,
                             double area) noexcept nogil:
    """What the examples after `since` add to the sum of a size that was `size` at the shift `at`; t, shift, area: now."""
    cdef size_t i
    if shift - at >= size:
        i = when_zero(h, size, at)
        t, area = h.begin + i, h.areas[i]
        if t <= r.since:
            return 0
    return (t - r.since) * (size + at) - (area - r.area)
