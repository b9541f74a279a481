import warnings

import pandas as pd

from vwlite import SparseClassifier, load_model

warnings.simplefilter("always")
X = pd.DataFrame({"w": ["a", "b", "c"] * 100})
y = ["not good", "fine", "bad"] * 100
m = SparseClassifier().fit(X, y)
m.save("m")
loaded = load_model("m")
print(*(list(map(str, names)) for names in (m.predict(X[:3]), loaded.predict(X[:3]), loaded.classes)))
