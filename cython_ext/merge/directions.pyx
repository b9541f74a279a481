"""Merge directions: a change D of every weight from the start to a merged model, from the sums over shards (sums.pyx).

    mean            sum of share_k Delta_k
    touched         sum Delta_k / m, m the number of shards in which the weight has moved
    root            sum Delta_k / sqrt m
    information     sum dS_k Delta_k / dS: Agarwal, Chapelle, Dudik, Langford. A Reliable Effective Terascale Linear
                    Learning System. JMLR 15, 2014; in differences from the start, counted once
    path            r(S_0, dS) (sum dS_k Delta_k / r(S_0, dS_k)) / dS, r the share of its way that a weight has gone: the
                    sum of what rare features have learned, the weighted mean of what common ones have. c = 8; path2
                    and path32 with 2 and 32: features that occur together go their way faster
    dual            (u_0 + sum (u_k - u_0)) / (S_0 + dS) - w_0, u = w S, of arow: the product of the distributions

Where dS is 0, information and the paths are `touched`: so a single shard is unchanged. There a weight moves by
shrinkage only, and the sum of the shrinkage of K shards may exceed the weight.
"""

import array

from libc.math cimport sqrt

from vwlite.core.merge.sums cimport Sums

# Columns that each needs, beside `start`.
NEEDS = {
    "mean": ("shared",),
    "touched": ("delta", "moved"),
    "root": ("delta", "moved"),
    "information": ("information", "evidence", "delta", "moved"),
    **{path: (path, "evidence", "delta", "moved") for path in ("path2", "path", "path32")},
    "dual": ("dual", "evidence", "start_evidence"),
}

cdef enum:
    MEAN, TOUCHED, ROOTED, INFORMATION, DUAL, PATH

_NUMBERS = {"mean": MEAN, "touched": TOUCHED, "root": ROOTED, "information": INFORMATION, "dual": DUAL}


cdef const double[::1] of(Sums sums, str name):
    """A column; empty if it was not requested."""
    return sums[name] if name in sums else array.array("d")


def direction(Sums sums not None, str name not None):
    """D, as a memoryview with a row of all classes for each key. KeyError if a sum is missing."""
    cdef const double[::1] w = sums["start"], S = of(sums, "start_evidence"), moved = of(sums, "moved")
    cdef const double[::1] delta = of(sums, "delta"), shared = of(sums, "shared"), dS = of(sums, "evidence")
    cdef const double[::1] information = of(sums, "information"), dual = of(sums, "dual"), path
    cdef Py_ssize_t i, n = w.shape[0]
    cdef int which = _NUMBERS.get(name, PATH)
    cdef double H
    for needed in NEEDS[name]:
        sums[needed]        # KeyError
    path = of(sums, name if which == PATH else "path")
    found = array.array("d", [0.0]) * n
    cdef double[::1] out = found
    with nogil:
        for i in range(n):
            if which == MEAN:
                out[i] = shared[i]
            elif which == ROOTED:
                out[i] = delta[i] / sqrt(moved[i]) if moved[i] > 0 else 0
            elif which == DUAL:
                H = S[i] + dS[i]
                out[i] = (w[i] * S[i] + dual[i]) / H - w[i] if H > 0 else 0
            elif which == TOUCHED or not dS[i] > 0:
                out[i] = delta[i] / moved[i] if moved[i] > 0 else 0
            elif which == INFORMATION:
                out[i] = information[i] / dS[i]
            else:
                out[i] = path[i]
    return memoryview(found)
