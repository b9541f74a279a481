"""Scores of weights on holdout examples, for many models on one line: predictions of w_0 + step D
are p_0 + step p_D, so the data are read once per direction, not once per step.
"""

import array

from libc.math cimport INFINITY, isfinite
from libc.stdint cimport uint32_t

from vwlite.core.base.elementary cimport exp, log
from vwlite.core.learn.losses cimport Loss


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


def sum_of_losses(Loss loss not None, const double[::1] start not None, const double[::1] change not None, double step,
                  const double[::1] labels not None, const double[::1] importance not None,
                  const double[::1] initial not None, *, size_t classes=0, bint softmax=False, double low=-INFINITY,
                  double high=INFINITY):
    """The losses of the predictions initial + start + step * change, weighted by importance: their sum, infinity if it is
    not finite, and that of the importances.

    classes: the number of classes with a name, of as many as there are scores in a row (0: the labels are numbers).
    Their loss is the sum of those of one against all, or with `softmax` the log loss; examples of other classes do not
    count. low, high: the range to which predictions are clipped, except for `softmax`.
    """
    cdef size_t i, c, n = labels.shape[0], records = start.shape[0] // n if n else 1
    cdef double sum = 0, weight = 0, p, y, found, most
    with nogil:
        for i in range(n):
            if classes == 0:
                p = initial[i] + start[i] + step * change[i]
                found = loss.value(min(max(p, low), high), labels[i]) if isfinite(p) else INFINITY
            elif not 1 <= labels[i] <= classes:
                continue
            elif softmax:
                most, found = -INFINITY, 0
                for c in range(classes):
                    most = max(most, initial[i] + start[i * records + c] + step * change[i * records + c])
                for c in range(classes):
                    found += exp(initial[i] + start[i * records + c] + step * change[i * records + c] - most)
                c = <size_t>labels[i] - 1
                found = log(found) + most - (initial[i] + start[i * records + c] + step * change[i * records + c])
            else:
                found = 0
                for c in range(classes):
                    y = 1 if c + 1 == labels[i] else -1
                    p = initial[i] + start[i * records + c] + step * change[i * records + c]
                    found += loss.value(min(max(p, low), high), y) if isfinite(p) else INFINITY
            sum += importance[i] * found
            weight += importance[i]
    return sum if isfinite(sum) else INFINITY, weight
