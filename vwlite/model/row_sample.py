"""A sample of the rows of a table, for what a model keeps of them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vwlite.core.data.batch import Batch

MOST_ROWS = 20_000
MOST_FEATURES = 1 << 22
TOGETHER = 64  # rows in a row that are taken


class RowSample:
    """At most MOST_ROWS rows of a table, spread evenly over the data however these are cut into batches: of runs of
    TOGETHER rows each, each second, each fourth, ..."""

    def __init__(self) -> None:
        self._runs: list[tuple[int, Batch]] = []
        self._step, self._at, self._rows, self._features = 1, 0, 0, 0

    def take(self, batch: "Batch") -> None:
        """Look at the next rows. Those without the hashes of namespaces are not of a table."""
        begin, end = self._at, self._at + len(batch)
        self._at = end
        if not len(batch.space):
            return
        at = begin
        while at < end:
            run = at // TOGETHER
            last = min((run + 1) * TOGETHER, end)
            if run % self._step == 0:
                self._keep(run, batch.part(at - begin, last - begin))
                at = last
            else:
                at = (run // self._step + 1) * self._step * TOGETHER

    def _keep(self, run: int, part: "Batch") -> None:
        self._runs.append((run, part))
        self._rows, self._features = self._rows + len(part), self._features + len(part.value)
        while (self._rows > MOST_ROWS or self._features > MOST_FEATURES) and len(self._runs) > 1:
            self._step *= 2
            self._runs = [(run, part) for run, part in self._runs if run % self._step == 0]
            self._rows = sum(len(part) for _, part in self._runs)
            self._features = sum(len(part.value) for _, part in self._runs)

    @property
    def batches(self) -> "list[Batch]":
        return [part for _, part in self._runs]
