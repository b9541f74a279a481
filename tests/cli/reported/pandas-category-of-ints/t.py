import numpy as np
import pandas as pd

from vwlite import SparseClassifier

c = np.tile([0, 1, 2, 3], 100)
X, y = pd.DataFrame({"shop": pd.Categorical(c)}), c % 2
S = X.astype(str).astype("category")
print("dtype category of ints:   ", SparseClassifier().fit(X, y).score(X, y))
print("dtype category of strings:", SparseClassifier().fit(S, y).score(S, y))
print("categorical=['shop']:     ", SparseClassifier(categorical=["shop"]).fit(X, y).score(X, y))
