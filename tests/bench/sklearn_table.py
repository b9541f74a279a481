"""Learn from the CSV of the benchmark as one would with pandas and scikit-learn: one-hot words, numbers as they are."""

import sys

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

table = pd.read_csv(sys.argv[1])
words = table.select_dtypes(exclude="number").columns
numbers = table.columns.difference([*words, "clicked"])
encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), words), (StandardScaler(), numbers))
model = make_pipeline(encode, SGDClassifier(loss="log_loss", max_iter=1, tol=None))
model.fit(table, table["clicked"])
