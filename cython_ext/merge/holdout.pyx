"""Scores of weights on holdout examples: those of w_0 + step D are p_0 + step p_D, so one product serves all steps."""

import array

from libc.stdint cimport uint32_t


def products(const size_t[::1] begin not None, const uint32_t[::1] index not None, const float[::1] value not None,
             const double[::1] weights not None, const double[::1] constants not None):
    """The score of each row for each class, without initial predictions: a row of classes for each.

    begin, index, value: the rows, as of `Rows.entries`. weights: of the columns, all classes of each. constants: the
    intercepts of each class.
    """
    cdef size_t i, j, c, n = begin.shape[0] - 1, classes = constants.shape[0]
    found = array.array("d", bytes(8 * n * classes))
    cdef double[::1] out = found
    with nogil:
        for i in range(n):
            for c in range(classes):
                out[i * classes + c] = constants[c]
            for j in range(begin[i], begin[i + 1]):
                for c in range(classes):
                    out[i * classes + c] += weights[index[j] * classes + c] * value[j]
    return memoryview(found)
