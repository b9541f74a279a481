"""What MLflow calls for a folder of `vwlite export --to mlflow`."""

from typing import Any

import numpy as np

from vwlite.estimators.loaded import LoadedModel, load_model


class Predictor:
    """Predicts frames of pandas: rows of columns, or for a model of text one column of lines."""

    def __init__(self, model: LoadedModel) -> None:
        self._model = model

    def predict(self, data: Any, params: dict[str, Any] | None = None) -> Any:
        """The predictions of `vwlite predict`, an array; of several quantiles a frame with a column for each."""
        if self._model.is_of_table:
            found = self._model.predict(data)
        else:
            lines = [*self._model.predict_lines(data.iloc[:, 0])]
            found = np.array([[*line.values()] if isinstance(line, dict) else line for line in lines])
        if self._model.prediction_columns == ["prediction"]:
            return found
        import pandas  # it is there: MLflow's inputs are its frames

        return pandas.DataFrame(found.reshape(len(data), -1), columns=self._model.prediction_columns)


def _load_pyfunc(path: str) -> Predictor:
    return Predictor(load_model(path))
