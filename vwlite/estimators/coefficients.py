"""`coef_` and `intercept_` of the estimators: the weights of the columns of X, where they give the score."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vwlite.core.data.expand import CONSTANT_HASH
from vwlite.core.tables.matrix import column_hashes
from vwlite.estimators.frames import hashes_of
from vwlite.model.file import Model

Array = Any  # of NumPy, or of scipy where documented


def coefficients(estimator: Any) -> Array:
    """[columns, scores]. AttributeError if they would not give the score."""
    check_is_fitted(estimator)
    model = estimator._learned.model()
    settings, why = model.settings, []
    if estimator._schema is None:
        hashes = np.empty(estimator.n_features_in_, dtype=np.uint32)
        column_hashes(hashes, hash_all=settings.hash == "all")
    else:
        hashes = hashes_of(estimator._schema, settings)
        if hashes is None:
            why.append("the frame has others than numeric columns")
    if settings.normalize != "none":
        why.append(f"the values of each row are normalized (normalize_ is {settings.normalize!r}), which "
                   "normalize='none' or 'center' does not")
    if settings.derived is not None:
        why.append("features are derived from the columns, which derive='none' does not")
    if settings.interactions or settings.crosses:
        why.append("crosses have weights too")
    if why:
        raise AttributeError(f"there is no coef_, as X @ coef_ + intercept_ would not be the score: "
                             f"{', and '.join(why)}; weights_ has all weights, and explain(X) what they add to a "
                             "score")
    return _weights_of(model, hashes)


def intercepts(estimator: Any) -> Array:
    """[scores]"""
    check_is_fitted(estimator)
    model = estimator._learned.model()
    return _weights_of(model, np.array([CONSTANT_HASH], dtype=np.uint32))[0] * model.settings.constant


def shown(estimator: Any, coef: Array) -> Array:
    """Coefficients as an array, or as a matrix (CSR) after `sparsify`."""
    if not estimator._sparse_coef:
        return coef
    from scipy.sparse import csr_array

    return csr_array(coef)


def _weights_of(model: Model, hashes: Array) -> Array:
    """The weights of features [features, scores]."""
    keys, weights = np.asarray(model.keys), np.asarray(model.weights).reshape(-1, model.records)
    wanted = hashes & np.uint32((1 << model.settings.bits) - 1)
    at = np.searchsorted(keys, wanted)
    known = at < len(keys)
    known[known] = keys[at[known]] == wanted[known]
    unseen = np.asarray(model.rule.get("unseen", 0.0), dtype=np.float64)
    found = np.empty((len(hashes), model.records))
    found[:] = unseen
    found[known] = weights[at[known]]
    return found
