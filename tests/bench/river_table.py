"""Learn from the CSV of the benchmark as one would with river: one-hot words, scaled numbers, row by row."""

import sys
from numbers import Number

from river import linear_model, optim, stream
from river.compose import SelectType
from river.preprocessing import OneHotEncoder, StandardScaler

numbers = dict.fromkeys(("clicked", "age", "hour", "price", "score", "visits"), float)
encode = (SelectType(str) | OneHotEncoder(drop_zeros=True)) + (SelectType(Number) | StandardScaler())
model = encode | linear_model.LogisticRegression(optim.SGD(0.01))
for row, clicked in stream.iter_csv(sys.argv[1], target="clicked", converters=numbers):
    model.learn_one(row, clicked == 1)
