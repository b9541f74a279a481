"""Learning and predicting in memory: estimators with the manners of scikit-learn, and models that predict alone.

`vwlite.SparseClassifier`, `vwlite.SparseRegressor` and `vwlite.load_model` are what is public; `vwlite help python`.
"""
