import pandas as pd

from vwlite import SparseClassifier

X = pd.DataFrame({"shop": [1, 2, None, 3] * 25})  # pandas makes this float64
print(X.dtypes.shop)
try:
    print(SparseClassifier(categorical=["shop"]).fit(X, [1, 0, 0, 1] * 25).score(X, [1, 0, 0, 1] * 25))
except ValueError as e:
    print(e)
