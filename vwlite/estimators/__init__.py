"""Learning and predicting in memory: estimators with the API of scikit-learn, and loaded models that only predict.

The public names are `vwlite.SparseClassifier`, `vwlite.SparseRegressor` and `vwlite.load_model`: `vwlite help python`.
"""
