"""Features that stand twice in an example, or share a key: one coordinate, whose value is the sum.

For rules that note the state of an example's features side by side, a place for each, compute there and write it back.
What stands twice gets the sum in all its places, so that each of them computes the same and writing it twice does no
harm. Most examples have no such feature: then nothing is to be done. Slots begin as `Met` does.
"""

from libc.stdint cimport uint32_t


# Of an example's features: the values themselves, or the sums when some stand twice.
ctypedef fused Value:
    float
    double


cdef struct Met:
    uint32_t mark
    uint32_t at           # a number of the last example that had the feature, or its last place there


cdef inline bint met(void* slot, uint32_t number) noexcept nogil:
    """Note that the example of this number has the feature; whether it was noted already."""
    cdef Met* s = <Met*>slot
    cdef bint before = s.at == number
    s.at = number
    return before


cdef inline void add_up(char** slots, const float* x, size_t n, double* sums) noexcept nogil:
    """Give every place of a feature the sum of its values; `at` is its last place then."""
    cdef size_t i
    for i in range(n):
        (<Met*>slots[i]).at = <uint32_t>i
        sums[i] = 0
    for i in range(n):
        sums[(<Met*>slots[i]).at] += x[i]
    for i in range(n):
        sums[i] = sums[(<Met*>slots[i]).at]
