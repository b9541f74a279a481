"""Between the weights of a model, by key, and those of a problem, by column."""

import array

from libc.math cimport fabs
from libc.stdint cimport uint32_t


def aligned(const uint32_t[::1] columns, const uint32_t[::1] keys, const double[::1] weights, Py_ssize_t records=1,
            Py_ssize_t record=0, double unseen=0):
    """The weight of each column, as an array of doubles. Both arrays of keys ascend.

    weights: `records` for each key, of which one is selected. unseen: the weight of columns that are not keys.
    """
    found = array.array("d", bytes(8 * columns.shape[0]))
    cdef double[::1] out = found
    cdef Py_ssize_t i, at = 0
    for i in range(columns.shape[0]):
        while at < keys.shape[0] and keys[at] < columns[i]:
            at += 1
        out[i] = weights[at * records + record] if at < keys.shape[0] and keys[at] == columns[i] else unseen
    return found


def norms_beside(const uint32_t[::1] columns, const uint32_t[::1] keys, const double[::1] weights, Py_ssize_t records=1,
                 Py_ssize_t record=0, constant_key=None, const double[::1] shares=None):
    """The sums of c |w| and of w^2 over the keys that are neither columns nor that of the intercept, and how many of
    their weights are not zero; c: `shares`, or 1."""
    cdef Py_ssize_t i, at = 0, nonzeros = 0
    cdef long long skipped = -1 if constant_key is None else constant_key
    cdef double norm = 0, squares = 0, w
    for i in range(keys.shape[0]):
        while at < columns.shape[0] and columns[at] < keys[i]:
            at += 1
        if keys[i] == skipped or (at < columns.shape[0] and columns[at] == keys[i]):
            continue
        w = weights[i * records + record]
        norm += fabs(w) * (1 if shares is None else shares[i])
        squares += w * w
        nonzeros += w != 0
    return norm, squares, nonzeros


def nonzero_records(const uint32_t[::1] columns, weights, constant_key=None, constants=()):
    """The keys of all columns with a nonzero weight, ascending, and their weights, a record for each key.

    weights: for each class, those of the columns. constant_key: the key of the intercept, which is always included, is
    not a column, and has the weights `constants`.
    """
    cdef Py_ssize_t i, k, place, n = columns.shape[0], records = len(weights), size = 0, at = 0
    cdef long long beside = -1 if constant_key is None else constant_key
    cdef const double[::1] row
    mark = bytearray(n + 1)
    cdef unsigned char[::1] used = mark
    for k in range(records):
        row = weights[k]
        for i in range(n):
            used[i] |= row[i] != 0
    for i in range(n):
        size += used[i]
        at += used[i] and columns[i] < beside
    keys = array.array("I", bytes(4 * (size + (beside >= 0))))
    found = array.array("d", bytes(8 * records * len(keys)))
    if not found:
        return keys, found
    cdef uint32_t[::1] key = keys
    cdef double[::1] out = found
    for k in range(records):
        row = weights[k]
        place = 0
        for i in range(n):
            if used[i]:
                place += beside >= 0 and place == at
                key[place] = columns[i]
                out[place * records + k] = row[i]
                place += 1
        if beside >= 0:
            key[at] = <uint32_t>beside
            out[at * records + k] = constants[k]
    return keys, found
