"""Counters in memory that the processes of a server share, and their text for Prometheus."""

import mmap
import time
from collections.abc import Iterator, Sequence

from vwlite.serve.served import Counts

STATUSES = (200, 400, 404, 405, 408, 413, 415, 417, 422, 429, 431, 500, 501, 503, 505)
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
# Of the process; then of each model.
OPEN, REFUSED, SECONDS, TIMED = 0, 1, 2, 3
_STATUS, _BUCKET = 4, 4 + len(STATUSES)
_SIZE = _BUCKET + len(BUCKETS)
LINES, BAD, FEATURES, UNKNOWN, SUM, COUNT, TAKEN, DAMAGED, MINUTE, NOW_SUM, NOW_COUNT, LAST_SUM, LAST_COUNT = range(13)
_OF_MODEL = 13


class Metrics:
    """The counters of all processes. To be created before they fork; `at` is the number of this one."""

    def __init__(self, models: Sequence[str], processes: int) -> None:
        self.at, self._models, self._processes = 0, list(models), processes
        self._width = _SIZE + _OF_MODEL * len(self._models)
        self._all = memoryview(mmap.mmap(-1, 8 * self._width * processes)).cast("d")

    def add(self, counter: int, x: float = 1) -> None:
        self._all[self.at * self._width + counter] += x

    def reset(self) -> None:
        """A process that takes the place of one that has ended has no connections."""
        self._all[self.at * self._width + OPEN] = 0

    def request(self, status: int, seconds: float) -> None:
        self.add(_STATUS + STATUSES.index(status))
        self.add(SECONDS, seconds)
        self.add(TIMED)
        bucket = next((i for i, most in enumerate(BUCKETS) if seconds <= most), None)
        if bucket is not None:
            self.add(_BUCKET + bucket)

    def of_model(self, name: str, counter: int, x: float = 1) -> None:
        self.add(_SIZE + _OF_MODEL * self._models.index(name) + counter, x)

    def predicted(self, name: str, counts: Counts) -> None:
        base = self.at * self._width + _SIZE + _OF_MODEL * self._models.index(name)
        m, total, n = self._all, sum(counts.predictions), len(counts.predictions)
        minute = time.time() // 60
        if m[base + MINUTE] != minute:
            follows = m[base + MINUTE] == minute - 1
            for last, now in ((LAST_SUM, NOW_SUM), (LAST_COUNT, NOW_COUNT)):
                m[base + last], m[base + now] = m[base + now] if follows else 0, 0
            m[base + MINUTE] = minute
        for counter, x in ((LINES, counts.lines), (BAD, counts.bad), (FEATURES, counts.features),
                           (UNKNOWN, counts.unknown), (SUM, total), (COUNT, n), (NOW_SUM, total), (NOW_COUNT, n)):
            m[base + counter] += x  # fmt: skip

    def _sum(self, counter: int) -> float:
        return sum(self._all[counter :: self._width].tolist())

    def _last_minute(self, base: int) -> tuple[float, float]:
        """Sum and number of the predictions of the last whole minute."""
        found, before = [0.0, 0.0], time.time() // 60 - 1
        for i in range(self._processes):
            m = self._all[i * self._width + base :][:_OF_MODEL]
            pair = {before: (NOW_SUM, NOW_COUNT), before + 1: (LAST_SUM, LAST_COUNT)}.get(m[MINUTE])
            found = [x + m[counter] for x, counter in zip(found, pair, strict=True)] if pair else found
        return found[0], found[1]

    def text(self, models: dict[str, tuple[str, float]]) -> str:
        """What /metrics answers. models: digest and age of each."""
        return "".join(f"{line}\n" for line in self._text(models))

    def _text(self, models: dict[str, tuple[str, float]]) -> Iterator[str]:
        yield "# TYPE vwlite_requests_total counter"
        for i, status in enumerate(STATUSES):
            if n := self._sum(_STATUS + i):
                yield f'vwlite_requests_total{{code="{status}"}} {n:.0f}'
        yield "# TYPE vwlite_request_seconds histogram"
        below = 0.0
        for i, most in enumerate(BUCKETS):
            below += self._sum(_BUCKET + i)
            yield f'vwlite_request_seconds_bucket{{le="{most:g}"}} {below:.0f}'
        yield f'vwlite_request_seconds_bucket{{le="+Inf"}} {self._sum(TIMED):.0f}'
        yield f"vwlite_request_seconds_sum {self._sum(SECONDS):.6f}"
        yield f"vwlite_request_seconds_count {self._sum(TIMED):.0f}"
        yield from ("# TYPE vwlite_connections gauge", f"vwlite_connections {self._sum(OPEN):.0f}")
        yield "# TYPE vwlite_connections_refused_total counter"
        yield f"vwlite_connections_refused_total {self._sum(REFUSED):.0f}"
        for name, counter in (
            ("lines", LINES), ("errors", BAD), ("features", FEATURES), ("unknown_features", UNKNOWN),
            ("predictions", COUNT), ("models_taken", TAKEN), ("models_refused", DAMAGED),
        ):  # fmt: skip
            yield f"# TYPE vwlite_{name}_total counter"
            for i, model in enumerate(self._models):
                yield f'vwlite_{name}_total{{model="{model}"}} {self._sum(_SIZE + _OF_MODEL * i + counter):.0f}'
        rows: dict[str, list[tuple[str, float]]] = {}
        for i, model in enumerate(self._models):
            base = _SIZE + _OF_MODEL * i
            digest, age = models[model]
            total, n = self._last_minute(base)
            features = self._sum(base + FEATURES)
            rows.setdefault("prediction_sum", []).append((model, self._sum(base + SUM)))
            rows.setdefault("model_age_seconds", []).append((model, age))
            rows.setdefault("model_info", []).append((f'{model}",digest="{digest}', 1))
            if features:
                share = self._sum(base + UNKNOWN) / features
                rows.setdefault("unknown_features_share", []).append((model, share))
            if n:
                rows.setdefault("prediction_mean_of_last_minute", []).append((model, total / n))
        for name, values in rows.items():
            yield f"# TYPE vwlite_{name} gauge"
            yield from (f'vwlite_{name}{{model="{model}"}} {x!r}' for model, x in values)
