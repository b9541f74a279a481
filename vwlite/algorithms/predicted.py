"""Rows of predictions as JSON, columns of a table and tensors; and the checks of options that need them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vwlite.algorithms.losses import usual_threshold
from vwlite.algorithms.outputs import Outputs
from vwlite.algorithms.settings import Settings
from vwlite.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

Row = tuple[Any, dict[str, Any]]  # a prediction, and the columns beside it
Tensor = tuple[str, str, list[int]]  # name, datatype and shape; -1: of any number of rows


class ScoredRows(NamedTuple):
    """Predictions of some rows. shown: clipped, or the number of the class, from 1; 0: there is none. scores, shares:
    lists of each row, of classes and quantiles; shares are probabilities, or all predictions. names: of the classes."""

    shown: list[float]
    scores: Sequence[list[float]] = ()
    shares: Sequence[list[float]] = ()
    names: Sequence[str | int] = ()


class Predicted:
    """A number, the score through the link; or one of two labels, the negative one below a threshold."""

    def __init__(self, settings: Settings, outputs: Outputs) -> None:
        self.settings, self.outputs = settings, outputs

    def label_in(self, y: float, names: Sequence[str | int]) -> float | str:
        """A label of the learner as it is in the data; of a class by the names that are known."""
        return self.outputs.label_of(y)

    def predictions(self, shown: "Array", shares: "Array | None", names: Sequence[str]) -> "Array":
        """Of rows, as `ScoredRows` has them: numbers, [rows, quantiles], or names of classes."""
        return linked(shown, self.settings.link)

    def answers(self, shown: "Array", shares: "Array | None", names: Sequence[str]) -> list[Any]:
        """The prediction of each row, or its shares by the names of classes or quantiles."""
        if shares is not None:
            return [dict(zip(names, row, strict=False)) for row in shares.tolist()]
        found: list[Any] = self.predictions(shown, shares, names).tolist()
        return found

    def rows(self, found: ScoredRows, written: Callable[[float], Any]) -> Iterator[Row]:
        """The prediction of each row, and the other columns of `--output-format json`. written: a number as it is
        written."""
        columns = {"score": [*map(written, found.shown)]}
        if self.outputs.has_probabilities:
            columns["probability"] = [*map(written, linked(found.shown, "logistic").tolist())]
        known = {"identity": columns["score"], "logistic": columns.get("probability")}  # nothing is written twice
        predictions = known.get(self.settings.link) or map(written, linked(found.shown, self.settings.link).tolist())
        for p, *row in zip(predictions, *columns.values(), strict=True):
            yield p, dict(zip(columns, row, strict=True))

    def tensors(self, names: Sequence[str | int]) -> list[Tensor]:
        """What a server of the Open Inference Protocol gives. names: of the classes."""
        found = ["prediction", "probability"] if self.outputs.has_probabilities else ["prediction"]
        return [(name, "FP64", [-1]) for name in found]

    def data_of(self, rows: Sequence[Mapping[str, Any]], names: Sequence[str | int]) -> dict[str, list[Any]]:
        """The elements of the tensors. rows: as the server answers them."""
        return {name: [row.get(name) for row in rows] for name in ("prediction", "probability")}

    def prediction_column(self, columns: Collection[str]) -> str:
        """Which column of a row is the prediction, if none has that name."""
        return "class" if "class" in columns else "probability" if self.settings.link == "logistic" else "score"

    def appended(self, columns: Collection[str]) -> list[str]:
        """The columns of a row that come first in a table, unless others are typed."""
        return [name for name in ("prediction", "probability") if name in columns]

    def arrow_type(self, column: str) -> str:
        is_label = column in ("class", "prediction") or column.startswith("class_")
        labels = self.settings.labels
        return "string" if is_label and labels and isinstance(labels[0], str) else "double"

    def refuse_link(self, link: str, model: str, instead: str) -> None:
        """UsageError for a link that was typed, where there is no score for it. instead: what to do."""

    def check_probabilities(self, model: str) -> None:
        """UsageError unless there are probabilities of classes."""
        is_probability = self.prediction_column(()) == "probability"
        instead = "its predictions are probabilities" if is_probability else "use --link logistic"
        raise UsageError(f"--probabilities is for classes, and {model} has none: {instead}")

    @property
    def label_names(self) -> tuple[str, ...]:
        """The positive and the negative one of two labels whose probabilities are known, else ()."""
        if self.threshold is None or not self.outputs.has_probabilities:
            return ()
        return tuple(x if isinstance(x, str) else f"{x:.15g}" for x in reversed(self.settings.labels or (-1, 1)))

    def check_top(self, model: str) -> None:
        """UsageError unless classes can be ordered by probability."""
        if not self.outputs.shares and not self.label_names:
            raise UsageError(f"--top is for models of classes that have probabilities, and {model} is not one")

    def check_threshold(self, threshold: float, model: str) -> None:
        """UsageError unless it is a threshold between two labels."""
        if self.outputs.records > 1 or not (self.outputs.is_binary or self.outputs.has_probabilities):
            raise UsageError(f"--threshold is for models of two labels, and {model} is not one")
        if self.outputs.has_probabilities and not 0 <= threshold <= 1:
            raise UsageError(f"--threshold {threshold:g} is no probability, which {model} predicts: use 0 to 1")

    @property
    def threshold(self) -> float | None:
        """The default threshold between two labels; None if there are not two."""
        is_label = self.outputs.is_binary and self.outputs.records == 1
        return usual_threshold(probable=self.outputs.has_probabilities) if is_label else None


class PredictedQuantiles(Predicted):
    """Several quantiles, of which the middle one is the prediction."""

    def predictions(self, shown: "Array", shares: "Array | None", names: Sequence[str]) -> "Array":
        assert shares is not None
        return shares

    def rows(self, found: ScoredRows, written: Callable[[float], Any]) -> Iterator[Row]:
        for p, each in zip(linked(found.shown, self.settings.link).tolist(), found.shares, strict=True):
            yield written(p), {"quantiles": dict(zip(self.outputs.tau_names, map(written, each), strict=True))}

    def tensors(self, names: Sequence[str | int]) -> list[Tensor]:
        return [(name, "FP64", [-1]) for name in ("prediction", *self.outputs.columns)]

    def data_of(self, rows: Sequence[Mapping[str, Any]], names: Sequence[str | int]) -> dict[str, list[Any]]:
        named = zip(self.outputs.columns, self.outputs.tau_names, strict=True)
        each = {name: [row["quantiles"][tau] for row in rows] for name, tau in named}
        return {"prediction": [row["prediction"] for row in rows], **each}

    def prediction_column(self, columns: Collection[str]) -> str:
        return self.outputs.columns[self.outputs.middle]

    def appended(self, columns: Collection[str]) -> list[str]:
        return []


class PredictedClass(Predicted):
    """The class with the largest score, the first one of equals."""

    def label_in(self, y: float, names: Sequence[str | int]) -> float | str:
        return names[int(y) - 1]

    def predictions(self, shown: "Array", shares: "Array | None", names: Sequence[str]) -> "Array":
        import numpy as np

        return np.array([*names, "?"])[shown.astype(np.intp) - 1]

    def rows(self, found: ScoredRows, written: Callable[[float], Any]) -> Iterator[Row]:
        shared = [*map(str, found.names)]
        for p, scores, shares in zip(found.shown, found.scores, found.shares, strict=True):
            if not p >= 1:  # there is no class, or no prediction
                yield None, {}
                continue
            more = {"score": written(scores[int(p) - 1])}
            if self.outputs.has_probabilities:
                more["probability"] = written(shares[int(p) - 1])
                more["probabilities"] = dict(zip(shared, map(written, shares), strict=False))
            yield found.names[int(p) - 1], more

    def tensors(self, names: Sequence[str | int]) -> list[Tensor]:
        kind = "BYTES" if self.settings.classes else "INT64"
        shares = [("probability", "FP64", [-1, len(names)]), ("classes", "BYTES", [len(names)])]
        return [("prediction", kind, [-1]), *(shares if self.outputs.has_probabilities else [])]

    def data_of(self, rows: Sequence[Mapping[str, Any]], names: Sequence[str | int]) -> dict[str, list[Any]]:
        shares = [share for row in rows for share in row.get("probabilities", {}).values()]
        return {"prediction": [row["prediction"] for row in rows], "probability": shares, "classes": [*map(str, names)]}

    def prediction_column(self, columns: Collection[str]) -> str:
        return "class" if "class" in columns else "score"

    def arrow_type(self, column: str) -> str:
        if column in ("class", "prediction") or column.startswith("class_"):
            return "string" if self.settings.classes else "int64"
        return "double"

    def refuse_link(self, link: str, model: str, instead: str) -> None:
        raise UsageError(f"--link {link} is for one score, but {model} has one for each class: {instead}")

    def check_probabilities(self, model: str) -> None:
        if not self.outputs.has_probabilities:
            raise UsageError(
                f"--probabilities needs a model of --loss logistic or --softmax: {model} was trained with "
                f"--loss {self.settings.loss}, whose scores are not probabilities"
            )


_KINDS = {"number": Predicted, "two labels": Predicted, "quantiles": PredictedQuantiles, "classes": PredictedClass}


def predicted_by(settings: Settings) -> Predicted:
    """The rows of predictions of a model with these settings."""
    outputs = settings.outputs
    return _KINDS[outputs.task](settings, outputs)


def linked(numbers: Any, link: str) -> "Array":
    """A new array of numbers that went through a link."""
    import numpy as np

    from vwlite.core.learn.scorer import link_all

    found = np.array(numbers, dtype=np.float64)
    link_all(found, link)
    return found
