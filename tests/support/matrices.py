"""Random matrices with labels, for tests of the estimators."""

import numpy as np
import scipy.sparse as sp

from vwlite.algorithms.losses import LOSSES

ROWS, COLUMNS = 120, 14


def drawn(loss="logistic", classes=0, rows=ROWS, seed=1):
    """A matrix with an empty row and a column 0, and labels that the loss can use."""
    rng = np.random.default_rng(seed)
    x = sp.random(rows, COLUMNS - 2, density=0.3, random_state=rng, format="csr")  # two columns are all zero
    x.resize((rows, COLUMNS))
    x.data = np.round(rng.normal(size=x.nnz), 3) + 0.0005
    x = sp.vstack([x[:5], sp.csr_matrix((1, COLUMNS)), x[6:]]).tocsr()
    score = x @ rng.normal(size=COLUMNS) + rng.normal(size=rows) / 3
    if classes:
        return x, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)) + 1
    domain = LOSSES[loss].labels
    if domain == "binary":
        return x, np.where(score > 0, 1, -1)
    mean = np.exp(np.clip(score, -3, 1.5))
    return x, {"nonnegative": np.round(mean), "positive": np.round(mean, 2)}.get(domain, np.round(score, 2))
