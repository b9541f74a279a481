"""A sample of the rows of a table, for what a model keeps of them."""

from typing import TYPE_CHECKING, Any

from vwlite.input.parsing import REJECTED

if TYPE_CHECKING:
    from vwlite.core.data.batch import Batch

MOST_ROWS = 20_000
ENOUGH = 10  # missing cells whose weight counts as much as the mean
MOST_FEATURES = 1 << 22
TOGETHER = 64  # rows in a row that are taken


class RowSample:
    """At most MOST_ROWS rows of a table, spread evenly over the data however these are cut into batches: of runs of
    TOGETHER rows each, each second, each fourth, ..."""

    def __init__(self) -> None:
        self._runs: list[tuple[int, int, Batch]] = []  # and how many lines a learner counts before them
        self._step, self._at, self._rows, self._features = 1, 0, 0, 0
        self._rejected = 0  # lines, of those before

    def take(self, batch: "Batch") -> None:
        """Look at the next rows. Those without the hashes of namespaces are not of a table."""
        begin, end = self._at, self._at + len(batch)
        self._at = end
        kinds, rejected = bytes(batch.kind), self._rejected
        self._rejected += kinds.count(REJECTED)
        if not len(batch.space):
            return
        at = begin
        while at < end:
            run = at // TOGETHER
            last = min((run + 1) * TOGETHER, end)
            if run % self._step == 0:
                self._keep(run, at - rejected, batch.part(at - begin, last - begin))
                next_ = last
            else:
                next_ = (run // self._step + 1) * self._step * TOGETHER
            rejected += kinds.count(REJECTED, at - begin, next_ - begin)
            at = next_

    def _keep(self, run: int, before: int, part: "Batch") -> None:
        self._runs.append((run, before, part))
        self._rows, self._features = self._rows + len(part), self._features + len(part.value)
        while (self._rows > MOST_ROWS or self._features > MOST_FEATURES) and len(self._runs) > 1:
            self._step *= 2
            self._runs = [kept for kept in self._runs if kept[0] % self._step == 0]
            self._rows = sum(len(part) for *_, part in self._runs)
            self._features = sum(len(part.value) for *_, part in self._runs)

    def state(self) -> dict[str, Any]:
        """All of it, which `load` restores, for a pickle."""
        return vars(self) | {"_runs": [(*lead, b"".join(part.dump())) for *lead, part in self._runs]}

    def load(self, state: dict[str, Any]) -> None:
        from vwlite.core.data.batch import Batch

        runs = [(*lead, Batch.view(data, 0, len(data))) for *lead, data in state["_runs"]]
        vars(self).update(state | {"_runs": runs})

    @property
    def batches(self) -> "list[Batch]":
        return [part for *_, part in self._runs]

    def learned(self, held_out: int, lines: int | None = None) -> "list[Batch]":
        """The batches up to the last of so many lines as a learner counts them; each line that is held out, one of so
        many, has the importance 0."""
        if not held_out and lines is None:
            return self.batches
        import numpy as np

        found = []
        for _, before, part in self._runs:
            counted = before + np.cumsum(np.asarray(part.kind) != REJECTED)
            if held_out:
                part.set_importance(np.where(counted % held_out, np.asarray(part.importance, float), 0.0))
            found.append(part if lines is None else part.part(0, int(np.searchsorted(counted, lines, "right"))))
        return found
