"""Sums over some of the shards, as files: merges that are made in a tree, near where the shards are.

All ways but means of means are made of sums over shards (sums.pyx), and sums of sums are the same. A file of them is
laid out as a model: the weights are the sum of the changes, the state the other sums, the numbers of the rule what the
shards have added to them. (Of `gd`, the terms of `path` hold for the features' sizes that these shards have seen.)
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwlite import __version__
from vwlite.core.merge.directions import NEEDS
from vwlite.core.merge.sums import Sums
from vwlite.errors import DataError, UsageError
from vwlite.merging.merge import Merge, flat, in_order, number_of
from vwlite.merging.search import Candidate
from vwlite.merging.table import ADDED, JUDGED, LARGEST, LEAST, TIME
from vwlite.model import Model
from vwlite.model.header import COUNTERS
from vwlite.model.slots import copied

PENALTY = "penalty"  # a number of the rule: what the shards would have shrunk weights by


def sums_of(run: Merge) -> Model:
    """The sums over the shards of a merge whose sums are added up. UsageError for algorithms whose merge is no sum."""
    s, start = run.settings, run.shards.start.model if run.shards.start else None
    if what := _without_sums(run):
        raise UsageError(f"--sums means nothing to {what}: merge the shards at once")
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
        columns=run.shards.columns, names=run.shards.names(run.sums.keys, None)[0],
        base=start.digest if start else "", program=f"vwlite {__version__}",
        merged={"shards": run.count, "digest": run.shards.digest, "rule": "sums", "step": 0.0, "state": "sum",
                "sums": run.shards.digests},
    )  # fmt: skip


def _without_sums(run: Merge) -> str | None:
    """What it is whose merge is no sum, if it is one."""
    s = run.settings
    if run.shards.weights_only:
        return "weights alone"
    if s.average or s.nonzeros:
        return "--average" if s.average else "--nonzeros"
    return f"--algorithm {run.row.name}" if run.row.exact or run.row.extra[1] == "same" else None


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
    """A merge of sums over shards; what is in `shards.each` are these. No shard's own model is a candidate."""

    @property
    def count(self) -> int:
        return sum(part.model.merged["shards"] for part in self.shards.each)

    @property
    def numbers(self) -> list[str]:
        return [*self.first.scalars(), *(x for x in self.shards.each[0].model.rule if x in ("min_label", "max_label"))]

    def _check_states(self) -> None:
        """DataError for what `sums_of` has not made."""
        for part in self.shards.each:
            model = part.model
            names = {*_summed(self), *((PENALTY,) if self.row.penalty else ())}
            wrong = {name: x.format for name, x in model.state.items()} != dict.fromkeys(_columns(self), "d")
            if wrong or set(model.rule) != names or _without_sums(self) or len(model.merged["sums"]) < 1:
                raise DataError(f"{part.path}: not valid sums: they are not those of {self.row.name}")
            if model.merged["shards"] != len(model.merged["sums"]):
                raise DataError(f"{part.path}: not valid sums: they are not of as many shards as they say")

    def gained(self, name: str, c: int) -> Any:
        return in_order(number_of(part, name, c) for part in self.shards.each)

    def counters(self) -> dict[str, int]:
        start = self.shards.start
        return {name: (start.model.counters.get(name, 0) if start else 0)
                + sum(part.model.counters.get(name, 0) for part in self.shards.each) for name in COUNTERS}  # fmt: skip

    def penalty(self, c: int) -> float:
        return float(in_order(number_of(part, PENALTY, c) for part in self.shards.each))

    def _own(self) -> list[Candidate]:
        return [Candidate("start", 0.0)]

    def _unseen(self, c: Candidate) -> list[float]:
        return [0.0] * self.records

    def add_up(self) -> None:
        """The sums of the sums."""
        parts = self.shards.each
        each = [np.asarray(copied(part.model.keys)) for part in parts]
        keys = np.unique(np.concatenate(each))
        shape = (len(keys), self.records)
        columns = {"delta": np.zeros(shape), **{name: np.zeros(shape) for name in parts[0].model.state}}
        start = np.zeros(shape)
        self._start_stream(self._start_weights()).aligned(keys, start.reshape(-1))
        evidence, extra = (self._begun(keys, i) for i in (0, 1))
        if "extra" in columns and self.row.extra[1] == "added":
            columns["extra"] += extra
        for part, mine in zip(parts, each, strict=True):
            at = np.searchsorted(keys, mine)
            for name, column in columns.items():
                numbers = part.rows(part.model.weights if name == "delta" else part.model.state[name])
                if name != "extra":
                    column[at] += numbers
                elif self.row.extra[1] == "added":
                    column[at] += numbers - extra[at]
                else:
                    column[at] = np.maximum(column[at], numbers)
            if "absent" in columns:
                lacking = np.ones(len(keys), dtype=bool)
                lacking[at] = False
                columns["absent"][lacking] += [number_of(part, PENALTY, c) for c in range(self.records)]
        columns |= {"start": start, "shared": columns["delta"] / self.count}
        known: dict[str, Any] = {}
        if self.row.evidence is not None:
            known = self._known()
            columns["start_evidence"] = self.row.evidence.of(evidence)
        found = {name: flat(column) for name, column in columns.items()}
        self.sums = Sums.restored(keys, found, self.records, c=JUDGED, **known)

    def _begun(self, keys: NDArray[np.uint32], which: int) -> NDArray[np.float64]:
        """The evidence (0) or the extra number (1) of the start, for all keys."""
        out = np.full((len(keys), self.records), self._blanks()[("blank_evidence", "blank_extra")[which]])
        start = self.shards.start
        numbers = self._state(start.model)[which] if start is not None else None
        if start is not None and numbers is not None:
            out[np.searchsorted(keys, np.asarray(copied(start.model.keys)))] = start.rows(numbers)
        return out
