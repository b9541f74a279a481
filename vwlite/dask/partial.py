"""Sums over all shards, of a range of the features: a merge that no machine has all of.

All ways but means of means are made of sums over shards (sums.pyx). They are laid out as a model: the weights are the
sum of the changes, the state the other sums, the numbers of the rule what the shards have added to them. (Of `gd`, the
terms of `path` hold for the features' sizes that these shards have seen.)
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwlite import __version__
from vwlite.core.merge.directions import NEEDS
from vwlite.core.merge.sums import Sums
from vwlite.merging.merge import Merge, flat, number_of
from vwlite.merging.search import Candidate
from vwlite.merging.shards import Shard
from vwlite.merging.table import ADDED, JUDGED, LARGEST, LEAST, TIME
from vwlite.model import Model
from vwlite.model.header import COUNTERS
from vwlite.model.slots import copied

PENALTY = "penalty"  # a number of the rule: what the shards would have shrunk weights by


def sums_of(run: Merge) -> Model:
    """The sums over the shards of a merge that has added up every sum, of an algorithm whose merge is one."""
    s, start = run.settings, run.shards.start.model if run.shards.start else None
    classes, rule = range(run.records), {}
    for name in _summed(run):
        how = run.row.scalars[name]
        rule[name] = [run.gained(name, c) if how in (ADDED, TIME) else run.scalars[name][c] for c in classes]
    if run.row.penalty:
        rule[PENALTY] = [run.penalty(c) for c in classes]
    before = {name: start.counters.get(name, 0) if start else 0 for name in COUNTERS}
    return Model(
        algorithm=s.algorithm, loss=s.loss, options=s.stored(), range=run.range, keys=run.sums.keys,
        counters={name: count - before[name] for name, count in run.counters().items()},
        rule={name: numbers if s.oaa else numbers[0] for name, numbers in rule.items()},
        weights=run.sums["delta"], state={name: run.sums[name] for name in _columns(run)}, classes=run.shards.classes,
        columns=run.shards.columns,
        base=start.digest if start else "", program=f"vwlite {__version__}",
        merged={"shards": run.count, "digest": run.shards.digest, "rule": "sums", "step": 0.0, "state": "sum"},
    )  # fmt: skip


def _columns(run: Merge) -> list[str]:
    """The sums that are kept as state."""
    row = run.row
    wanted = {name for way in row.ways for name in NEEDS[way]} - {"delta", "shared", "start_evidence"}
    there = {"extra": row.extra[0] in run.first_fields, "evidence": row.evidence, "absent": row.penalty}
    return sorted(wanted | {name for name, is_there in there.items() if is_there})


def _summed(run: Merge) -> list[str]:
    """The numbers of the rule that are kept."""
    return [n for n in run.numbers if run.row.scalars.get(n) in (ADDED, TIME, LARGEST, LEAST)]


class MergeOfSums(Merge):
    """A merge of sums over all shards, which are `shards.each[0]`. No shard's own model is a candidate."""

    @property
    def sum(self) -> Shard:
        return self.shards.each[0]

    @property
    def count(self) -> int:
        return int(self.sum.model.merged["shards"])

    @property
    def numbers(self) -> list[str]:
        return [*self.first.scalars(), *(x for x in self.sum.model.rule if x in ("min_label", "max_label"))]

    def _check_states(self) -> None:
        """It is what `sums_of` has made."""

    def gained(self, name: str, c: int) -> Any:
        return number_of(self.sum, name, c)

    def counters(self) -> dict[str, int]:
        start = self.shards.start.model.counters if self.shards.start else {}
        return {name: start.get(name, 0) + self.sum.model.counters.get(name, 0) for name in COUNTERS}

    def penalty(self, c: int) -> float:
        return float(number_of(self.sum, PENALTY, c))

    def _own(self) -> list[Candidate]:
        return [Candidate("start", 0.0)]

    def _unseen(self, c: Candidate) -> list[float]:
        return [0.0] * self.records

    def add_up(self) -> None:
        """Take the sums as they are."""
        model = self.sum.model
        keys = np.asarray(copied(model.keys))
        shape = (len(keys), self.records)
        columns = {"delta": model.weights, **model.state}
        found = {name: self.sum.rows(numbers) + 0.0 for name, numbers in columns.items()}
        start = np.zeros(shape)
        self._start_stream(self._start_weights()).aligned(keys, start.reshape(-1))
        found |= {"start": start, "shared": found["delta"] / self.count}
        known: dict[str, Any] = {}
        if self.row.evidence is not None:
            known = self._known()
            found["start_evidence"] = self.row.evidence.of(self._evidence_at_start(keys))
        self.sums = Sums.restored(keys, {n: flat(x) for n, x in found.items()}, self.records, c=JUDGED, **known)

    def _evidence_at_start(self, keys: NDArray[np.uint32]) -> NDArray[np.float64]:
        """The evidence of the start, for all keys."""
        out = np.full((len(keys), self.records), self._blanks()["blank_evidence"])
        start = self.shards.start
        numbers = self._state(start.model)[0] if start is not None else None
        if start is not None and numbers is not None:
            out[np.searchsorted(keys, np.asarray(copied(start.model.keys)))] = start.rows(numbers)
        return out
