"""`--class-weight`: importances times the weight of their label, as with class_weight of scikit-learn."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from vwlite.algorithms.settings import Settings
from vwlite.core.data.batch import Batch
from vwlite.core.data.class_names import ClassNames
from vwlite.errors import DataError, UsageError
from vwlite.input.parsing import EXAMPLE
from vwlite.output.text import label_text, printable

Typed = str | tuple[tuple[str, float], ...]


class ClassWeights:
    """The weights of labels, by their numbers in batches. typed: "balanced", or pairs of a label and its weight."""

    def __init__(self, typed: Typed, settings: Settings, names: ClassNames | None) -> None:
        if not (settings.outputs.is_binary or names is not None):
            raise UsageError(f"--class-weight needs labels that are classes, and --loss {settings.loss} predicts "
                             "numbers: use --loss logistic")
        self._typed = typed if isinstance(typed, tuple) else ()
        self._settings, self._names = settings, names
        self._balanced: dict[float, float] = {}
        self._seen: set[float] = set()
        self.needs_counts = typed == "balanced"

    def count(self, batches: Iterable[Batch]) -> None:
        """Set the balanced weights, by the numbers of examples."""
        counts: dict[float, int] = {}
        for batch in batches:
            for label, n in zip(*(x.tolist() for x in np.unique(_labels(batch), return_counts=True)), strict=True):
                counts[label] = counts.get(label, 0) + n
            if len(counts) > self._settings.outputs.most_labels:
                break  # they are no classes
        counts = {label: n for label, n in counts.items() if label == label}
        total = sum(counts.values())
        self._balanced = {label: total / (len(counts) * n) for label, n in counts.items()}
        self.needs_counts = False

    def apply(self, batch: Batch) -> Batch:
        """The batch, with its importances multiplied."""
        found, at = np.unique(_labels(batch), return_inverse=True)
        weights = self._by_label()
        self._seen.update(label for label in found.tolist() if label == label)
        with np.errstate(over="ignore"):
            importance = np.asarray(batch.importance) * np.array([weights.get(y, 1.0) for y in found.tolist()])[at]
        if not np.isfinite(importance).all():
            raise DataError(f"{batch.source}: an importance times its --class-weight is too large")
        batch.set_importance(importance)
        return batch

    def check(self) -> None:
        """DataError if a label that was named is not in the data, where others are: it may be misspelled."""
        rest = sorted(self._seen - self._by_label().keys())
        unseen = [label for label, _ in self._typed if self._number(label) not in self._seen]
        if rest and unseen and len(self._seen) <= self._settings.outputs.most_labels:
            what = f"{printable(unseen[0])}, which is no label of the data; one is {self._text(rest[0])}"
            raise DataError(f"--class-weight names {what}")

    def _by_label(self) -> dict[float, float]:
        return self._balanced or {number: w for label, w in self._typed if (number := self._number(label)) is not None}

    def _number(self, label: str) -> float | None:
        """A label as it is in batches; None for a word that is not a label (yet)."""
        labels = self._settings.labels
        if self._has_names:
            assert self._names is not None
            return float(self._names.number(label.encode("utf-8", "surrogateescape"))) or None
        try:
            found: float | str = label if labels is not None and isinstance(labels[0], str) else float(label)
        except ValueError:
            return None
        if labels is None:
            return float(found)
        return 2.0 * labels.index(found) - 1 if found in labels else None  # type: ignore[arg-type]

    @property
    def _has_names(self) -> bool:
        return self._names is not None and (self._settings.oaa is not None or len(self._names) > 0)

    def _text(self, number: float) -> str:
        if self._names is not None and self._has_names:
            return printable(self._names[int(number) - 1])
        return label_text(self._settings.outputs.label_of(number))


def _labels(batch: Batch) -> NDArray[np.float64]:
    """The labels of a batch; NaN for what is no example or has none."""
    found: NDArray[np.float64] = np.where(np.asarray(batch.kind) == EXAMPLE, np.asarray(batch.label), np.nan)
    return found


def about_weights(settings: Settings) -> str:
    """What weights of classes do to a model."""
    again = "-i does not take it from the model: type it again then"
    if settings.loss != "logistic":
        return f"--class-weight: {again}"
    return ("--class-weight: probabilities are not calibrated, as they are those of weighted data (vwlite calibrate "
            f"corrects that); {again}")
