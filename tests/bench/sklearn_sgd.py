"""scikit-learn over libsvm text that need not fit in memory: SGDClassifier, 8 MB of text at a time.

python sklearn_sgd.py FILE FEATURES
"""

import os
import sys

from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier

CHUNK = 8 << 20


def main(path: str, features: int) -> None:
    model = SGDClassifier(loss="log_loss", penalty=None)
    for offset in range(0, os.path.getsize(path), CHUNK):
        x, y = load_svmlight_file(path, n_features=features, offset=offset, length=CHUNK, zero_based=False)
        x.indices, x.indptr = x.indices.astype("int32"), x.indptr.astype("int32")  # what partial_fit asks for
        if len(y):
            model.partial_fit(x, y, classes=[-1, 1])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
