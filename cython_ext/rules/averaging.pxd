"""The mean of w_1, ..., w_T, the weights that made the predictions, for weights that shrink while nobody looks.

Langford, Li, Zhang. Sparse Online Learning via Truncated Gradient. JMLR 10, 2009; theorem 3.2.

What is summed up is a size max(u - A_t, 0): A is a number of all features that never falls, u one of the feature that
stays as it is while the feature is untouched. With C_t = A_0 + ... + A_{t-1}, the examples r + 1, ..., t add

    (t - r) u - (C_t - C_r)

as long as u > A. When A comes to u is known to nobody at that moment; so A and C are remembered for as many examples as
the table has slots. Then one sweep over the table closes the accounts of all the weights that became zero, and A and C
are remembered anew. A weight that is touched before looks up in the memory when it became zero. So an example costs
what its features do, and on average one slot of a sweep; and what is in an account does not depend on when it is closed.
"""

from libc.stdlib cimport free

from vwlite.core.base.buffers cimport ample, resize


# What a slot keeps beside its state. An account that is closed holds `sum` and zeros.
cdef struct Account:
    double sum          # of the weights of the examples 1, ..., since
    double since
    double area         # C_since


# A and C after the examples begin, begin + 1, ...; owned by the rule
cdef struct Memory:
    double* shifts
    double* areas
    size_t size, capacity
    double begin


cdef inline int remember(Memory* m, double shift, double area) noexcept nogil:
    """Append A and C after the next example; -1: no memory."""
    cdef size_t want = ample(m.size + 1)
    if m.size == m.capacity:
        if resize(<void**>&m.shifts, want, sizeof(double)) or resize(<void**>&m.areas, want, sizeof(double)):
            return -1
        m.capacity = want
    m.shifts[m.size], m.areas[m.size] = shift, area
    m.size += 1
    return 0


cdef inline int forget(Memory* m, double t, double shift, double area) noexcept nogil:
    """Begin anew after example t, when no account of a zero is open; -1: no memory."""
    m.size, m.begin = 0, t
    return remember(m, shift, area)


cdef inline void free_memory(Memory* m) noexcept nogil:
    free(m.shifts)
    free(m.areas)


cdef inline size_t when_zero(const Memory* m, double size, double at) noexcept nogil:
    """Where in the memory a size that was `size` at the shift `at` is zero for the first time; it is, at its end."""
    cdef size_t low = 0, high = m.size - 1, middle
    while low < high:
        middle = (low + high) // 2
        if m.shifts[middle] - at >= size:
            high = middle
        else:
            low = middle + 1
    return low


cdef inline double shrinking(const Memory* m, const Account* a, double size, double at, double shift, double t,
                             double area) noexcept nogil:
    """What the examples after `since` add to the sum of a size that was `size` at the shift `at`; t, shift, area: now."""
    cdef size_t i
    if shift - at >= size:
        i = when_zero(m, size, at)
        t, area = m.begin + i, m.areas[i]
        if t <= a.since:
            return 0
    return (t - a.since) * (size + at) - (area - a.area)
