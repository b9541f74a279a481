"""Counters in memory that the processes of a server share, and their text for Prometheus."""

import mmap
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from vwlite.serve.request import REASONS
from vwlite.serve.served import Counts

STATUSES = tuple(REASONS)
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
OPEN, SECONDS, _STATUS = 0, 1, 2
_BUCKET = _STATUS + len(STATUSES)  # the last one is for what takes longer
_MODELS = _BUCKET + len(BUCKETS) + 1
# Of each model: numbers of things, and sums that may fall.
SUMS = ("prediction_sum", "label_sum", "loss_sum")
OF_MODEL = ("lines", "errors", "features", "unknown_features", "predictions", "labels", "losses", *SUMS,
            "models_taken", "models_refused")


class Metrics:
    """The counters of all processes. To be created before they fork; `at` is the number of this one."""

    def __init__(self, models: Sequence[str], processes: int) -> None:
        self.at, self._models = 0, list(models)
        self._width = _MODELS + len(OF_MODEL) * len(self._models)
        self._all = memoryview(mmap.mmap(-1, 8 * self._width * processes)).cast("d")

    def add(self, counter: int, x: float = 1) -> None:
        self._all[self.at * self._width + counter] += x

    def reset(self) -> None:
        """A process that takes the place of one that has ended has no connections."""
        self._all[self.at * self._width + OPEN] = 0

    def request(self, status: int, seconds: float) -> None:
        all, first = self._all, self.at * self._width
        all[first + _STATUS + STATUSES.index(status)] += 1
        all[first + SECONDS] += seconds
        all[first + _BUCKET + bisect_left(BUCKETS, seconds)] += 1

    def of_model(self, model: str, counter: str) -> int:
        return _MODELS + len(OF_MODEL) * self._models.index(model) + OF_MODEL.index(counter)

    def predicted(self, model: str, counts: Counts) -> None:
        first = self.of_model(model, "lines")
        values = (counts.predictions, counts.labels, counts.losses)
        found = (counts.lines, counts.bad, counts.features, counts.unknown, *map(len, values), *map(sum, values))
        for i, x in enumerate(found):
            self.add(first + i, x)

    def _sum(self, counter: int) -> float:
        return sum(self._all[counter :: self._width].tolist())

    def text(self, models: dict[str, tuple[str, float]]) -> str:
        """What /metrics answers. models: digest and age of each."""
        return "".join(f"{line}\n" for line in self._text(models))

    def _text(self, models: dict[str, tuple[str, float]]) -> Iterator[str]:
        yield "# TYPE vwlite_requests_total counter"
        for i, status in enumerate(STATUSES):
            yield f'vwlite_requests_total{{code="{status}"}} {self._sum(_STATUS + i):.0f}'
        yield "# TYPE vwlite_request_seconds histogram"
        below = 0.0
        for i, most in enumerate((*BUCKETS, "+Inf")):
            below += self._sum(_BUCKET + i)
            yield f'vwlite_request_seconds_bucket{{le="{most}"}} {below:.0f}'
        yield f"vwlite_request_seconds_sum {self._sum(SECONDS):.6f}"
        yield f"vwlite_request_seconds_count {below:.0f}"
        yield from ("# TYPE vwlite_connections gauge", f"vwlite_connections {self._sum(OPEN):.0f}")
        for name in OF_MODEL:
            is_sum = name in SUMS
            yield f"# TYPE vwlite_{name}{' gauge' if is_sum else '_total counter'}"
            for model in models:
                x = self._sum(self.of_model(model, name))
                yield f'vwlite_{name}{"" if is_sum else "_total"}{{model="{model}"}} {x:.{6 * is_sum}f}'
        yield "# TYPE vwlite_model_age_seconds gauge"
        for model, (digest, age) in models.items():
            yield f'vwlite_model_age_seconds{{model="{model}",digest="{digest}"}} {age}'
