"""What is asked of the arrays of a model: NumPy can do it too, but takes longer to load than most jobs to begin."""

import array

from libc.math cimport isfinite
from libc.stdint cimport uint32_t


def all_finite(numbers):
    """Whether no float of a memoryview of format "f" or "d" is infinite or NaN."""
    cdef const double[::1] doubles
    cdef const float[::1] floats
    cdef Py_ssize_t i
    if numbers.format == "d":
        doubles = numbers
        for i in range(doubles.shape[0]):
            if not isfinite(doubles[i]):
                return False
    else:
        floats = numbers
        for i in range(floats.shape[0]):
            if not isfinite(floats[i]):
                return False
    return True


def is_ascending(const uint32_t[::1] numbers):
    """Whether each number is larger than the one before it."""
    cdef Py_ssize_t i
    for i in range(1, numbers.shape[0]):
        if numbers[i] <= numbers[i - 1]:
            return False
    return True


def shifted(const uint32_t[::1] numbers, uint32_t by):
    """numbers + by, mod 2^32."""
    out = array.array("I", bytes(4 * numbers.shape[0]))
    cdef uint32_t[::1] sums = out
    cdef Py_ssize_t i
    for i in range(numbers.shape[0]):
        sums[i] = numbers[i] + by
    return memoryview(out)
