"""What MLflow calls for a folder of `vwlite export --to mlflow`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwlite.estimators.loaded import LoadedModel, load_model


class Predictor:
    """Predicts frames of pandas: rows of columns, or for a model of text one column of lines."""

    def __init__(self, model: LoadedModel) -> None:
        self._model = model

    def predict(self, data: Any, params: dict[str, Any] | None = None) -> NDArray[Any]:
        """The predictions of `vwlite predict`."""
        if self._model.is_of_table:
            return self._model.predict(data)
        return np.array([*self._model.predict_lines(data.iloc[:, 0])])


def _load_pyfunc(path: str) -> Predictor:
    return Predictor(load_model(path))
