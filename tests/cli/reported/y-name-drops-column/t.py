import warnings

import numpy as np
import pandas as pd

from vwlite import SparseClassifier

warnings.simplefilter("always")
g = np.random.default_rng(0)
d = pd.DataFrame({"age": g.choice(["young", "old", "older"], 300), "x": g.normal(size=300)})
y = d.age == "old"  # a Series whose name is still "age"
m = SparseClassifier().fit(d, y)
print(m.feature_names_in_, m.score(d, y))
y.name = "is_old"
m = SparseClassifier().fit(d, y)
print(m.feature_names_in_, m.score(d, y))
m = SparseClassifier().fit(d, y.to_numpy())
print(m.feature_names_in_, m.score(d, y))
