"""Counters in memory that the processes of a server share, and their text for Prometheus."""

import mmap
from bisect import bisect_left
from collections.abc import Iterator, Sequence

import numpy as np

from vwlite.serve.request import REASONS
from vwlite.serve.served import Counts

STATUSES = tuple(REASONS)
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
OPEN, SECONDS, _STATUS = 0, 1, 2
_BUCKET = _STATUS + len(STATUSES)  # the last one is for longer times
_MODELS = _BUCKET + len(BUCKETS) + 1
# Of each model: numbers of things, and sums that may fall.
COUNTS = {
    "lines": "Lines that were predicted, and bad ones", "errors": "Lines that were bad",
    "features": "Features of lines", "unknown_features": "Features that the model does not have",
    "absent_cells": "Cells of tables that are missing, or have only words that the model does not know",
    "predictions": "Predictions that are numbers", "labels": "Lines with a label", "losses": "Lines with a loss",
    "models_taken": "Newer model files that were taken", "models_refused": "Newer model files that were refused",
}
SUMS = {"label_sum": "Sum of the labels", "loss_sum": "Sum of the losses"}
OF_MODEL = ("lines", "errors", "features", "unknown_features", "absent_cells", "predictions", "labels", "losses",
            "prediction_sum", *SUMS, "models_taken", "models_refused")
# Of predictions, for all models, as another one may be taken: probabilities in steps of .05, and any other numbers.
VALUES = (-1000.0, -100.0, -10.0, -1.0, 0.0, *(round(0.05 * i, 2) for i in range(1, 21)), 2.0, 5.0, 10.0, 20.0, 50.0,
          100.0, 200.0, 500.0, 1000.0, 10000.0, 100000.0, 1000000.0)
_OF_EACH = len(OF_MODEL) + len(VALUES) + 1  # the last one is for larger predictions


class Metrics:
    """The counters of all processes. To be created before they fork; `at` is the number of this one."""

    def __init__(self, models: Sequence[str], processes: int) -> None:
        self.at, self._models = 0, list(models)
        self._width = _MODELS + _OF_EACH * len(self._models)
        self._all = memoryview(mmap.mmap(-1, 8 * self._width * processes)).cast("d")

    def add(self, counter: int, x: float = 1) -> None:
        self._all[self.at * self._width + counter] += x

    def reset(self) -> None:
        """Set the connections of a process to 0: it replaces one that has ended."""
        self._all[self.at * self._width + OPEN] = 0

    def request(self, status: int, seconds: float) -> None:
        all, first = self._all, self.at * self._width
        all[first + _STATUS + STATUSES.index(status)] += 1
        all[first + SECONDS] += seconds
        all[first + _BUCKET + bisect_left(BUCKETS, seconds)] += 1

    def of_model(self, model: str, counter: str) -> int:
        return _MODELS + _OF_EACH * self._models.index(model) + OF_MODEL.index(counter)

    def predicted(self, model: str, counts: Counts) -> None:
        all, first = self._all, self.at * self._width + self.of_model(model, "lines")
        values = (counts.predictions, counts.labels, counts.losses)
        found = (counts.lines, counts.bad, counts.features, counts.unknown, counts.absent)
        for i, x in enumerate((*found, *map(len, values), *map(sum, values))):
            all[first + i] += x
        first += len(OF_MODEL)
        if len(counts.predictions) < 50:
            for x in counts.predictions:
                all[first + bisect_left(VALUES, x)] += 1
            return
        for i, n in enumerate(np.bincount(np.searchsorted(VALUES, counts.predictions)).tolist()):
            all[first + i] += n

    def _sum(self, counter: int) -> float:
        return sum(self._all[counter :: self._width].tolist())

    def text(self, models: dict[str, tuple[str, float]]) -> str:
        """The answer of /metrics. models: digest and age of each."""
        return "".join(f"{line}\n" for line in self._text(models))

    def _text(self, models: dict[str, tuple[str, float]]) -> Iterator[str]:
        yield from _about("requests_total", "counter", "Requests by status")
        for i, status in enumerate(STATUSES):
            yield f'vwlite_requests_total{{code="{status}"}} {self._sum(_STATUS + i):.0f}'
        yield from _about("request_seconds", "histogram", "Seconds from a whole request to its answer")
        yield from self._histogram("request_seconds", "", BUCKETS, _BUCKET, SECONDS)
        yield from _about("connections", "gauge", "Open connections")
        yield f"vwlite_connections {self._sum(OPEN):.0f}"
        for name, help in COUNTS.items():
            yield from _about(f"{name}_total", "counter", help)
            for model in models:
                yield f'vwlite_{name}_total{{model="{model}"}} {self._sum(self.of_model(model, name)):.0f}'
        yield from _about("prediction", "histogram", "Predictions that are numbers")
        for model in models:
            first = self.of_model(model, OF_MODEL[0]) + len(OF_MODEL)
            yield from self._histogram("prediction", f'model="{model}"', VALUES, first,
                                       self.of_model(model, "prediction_sum"))
        for name, help in SUMS.items():
            yield from _about(name, "gauge", help)
            for model in models:
                yield f'vwlite_{name}{{model="{model}"}} {self._sum(self.of_model(model, name)):.15g}'
        yield from _about("model_age_seconds", "gauge", "Seconds since the model file was written")
        for model, (digest, age) in models.items():
            yield f'vwlite_model_age_seconds{{model="{model}",digest="{digest}"}} {age}'

    def _histogram(self, name: str, label: str, bounds: Sequence[float], first: int, total: int) -> Iterator[str]:
        """first: the counter of the first bucket. total: that of the sum."""
        below, labels = 0.0, f"{{{label}}}" if label else ""
        for i, most in enumerate((*bounds, "+Inf")):
            below += self._sum(first + i)
            yield f'vwlite_{name}_bucket{{{label}{"," * bool(label)}le="{most}"}} {below:.0f}'
        yield f"vwlite_{name}_sum{labels} {self._sum(total):.15g}"
        yield f"vwlite_{name}_count{labels} {below:.0f}"


def _about(name: str, kind: str, help: str) -> tuple[str, str]:
    return f"# HELP vwlite_{name} {help}.", f"# TYPE vwlite_{name} {kind}"
