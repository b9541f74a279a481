"""Fit an estimator to the matrix of a libsvm text, so many times: vwlite's with an algorithm, or scikit-learn's.

python in_memory.py gd|sgd|sklearn FILE TIMES

The matrix is kept in the current folder, so that later runs only read it.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp


def matrix_of(path: Path) -> tuple[Any, Any]:
    """Column j is the feature of index j."""
    kept = Path(path.name).with_suffix(".npz")
    if not kept.exists():
        from sklearn.datasets import load_svmlight_file

        x, y = load_svmlight_file(str(path), zero_based=True)
        indices, indptr = x.indices.astype("int32"), x.indptr.astype("int32")  # what SGDClassifier asks for
        np.savez(kept, data=x.data, indices=indices, indptr=indptr, y=y, shape=x.shape)
    found = np.load(kept)
    return sp.csr_matrix((found["data"], found["indices"], found["indptr"]), shape=found["shape"]), found["y"]


def main(who: str, path: str, times: int) -> None:
    x, y = matrix_of(Path(path))
    for _ in range(times):
        if who == "sklearn":
            from sklearn.linear_model import SGDClassifier

            SGDClassifier(loss="log_loss", max_iter=1, tol=None).fit(x, y)
        else:
            from vwlite import SparseClassifier

            SparseClassifier(algorithm=who).fit(x, y)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
