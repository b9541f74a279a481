"""The weights of the candidates of a merge, computed from sums over shards, and the state of the rule for them."""

from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwlite.core.merge.sums import Sums
from vwlite.merging.holdout import OWN, START, Candidate, Vector
from vwlite.merging.shards import Shards, in_order
from vwlite.merging.states import Merged, Weights, flat
from vwlite.merging.streams import before_averaging
from vwlite.model.slots import Array


class CandidateWeights:
    """The weights and states of candidates. numbers: of the merged rule. state: as in `MergeRequest`. learned: with
    --average, the sums of the weights from which learning continues."""

    def __init__(
        self, shards: Shards, numbers: dict[str, list[Any]], state: str, sums: Sums, learned: Sums | None = None
    ) -> None:
        self._shards, self._numbers, self._state, self.sums, self._learned = shards, numbers, state, sums, learned

    def vector(self, c: Candidate) -> Vector:
        """The weights with which a candidate predicts."""
        if c.way == "shard":
            return self._of_shard(c, self._shards.each[c.shard].model.weights)
        weights = self._largest(self._restricted(self.sums, c), c)
        return Vector(self.sums.keys, flat(weights), range(self._shards.records), self.unseen(c))

    def both(self, c: Candidate) -> tuple[Weights, Weights]:
        """The weights with which a candidate predicts, and those from which learning would continue."""
        w = self._restricted(self.sums, c)
        return self._largest(w, c), w if self._learned is None else self._restricted(self._learned, c)

    def _of_shard(self, c: Candidate, weights: Array) -> Vector:
        """A vector of weights of a shard: those of its model, or those before averaging."""
        shard = self._shards.each[c.shard]
        return Vector(shard.model.keys, weights, shard.columns, self.unseen(c))

    def unseen(self, c: Candidate) -> list[float]:
        """For each class, the weight of keys that are in no model."""
        shards, classes = self._shards, range(self._shards.records)
        if c.parts:
            parts = [[u * x for x in self.unseen(part)] for part, u in c.parts]
            return [in_order(column) for column in zip(*parts, strict=True)]
        if c.way == "start":
            return [shards.at_start("unseen", k) for k in classes]
        if c.way == "shard":
            return [shards.each[c.shard].number("unseen", k) for k in classes]
        return [in_order(shard.number("unseen", k) for shard in shards.each) / len(shards.each) for k in classes]

    def _rows(self, sums: Sums, name: str) -> Weights:
        """A column of the sums, with a row for each key; zeros if it is missing."""
        if name not in sums:
            return np.zeros((len(sums), self._shards.records))
        return np.asarray(sums[name]).reshape(len(sums), self._shards.records)

    def _candidate(self, sums: Sums, c: Candidate) -> Weights:
        """The weights of a candidate before they are made sparse."""
        if c.way == "shard":
            shard = self._shards.each[c.shard]
            weights = before_averaging(self._shards, shard) if sums is self._learned else shard.model.weights
            return self._of_shard(c, weights).at(sums.keys)
        w, start = self._rows(sums, c.way), self._rows(sums, "start")
        if c.way != "start" and (self._shards.start is not None or any(self.unseen(START))):
            w = start + w
            w[np.abs(w) <= 1e-14 * np.abs(start)] = 0  # all shards have made it zero, and rounding errors remain
        return w

    def _restricted(self, sums: Sums, c: Candidate) -> Weights:
        """The weights of a candidate, made sparse if the algorithm does that."""
        sparse = self._shards.restricted
        if not c.parts:
            w = self._candidate(sums, c)
            return w if c.way in OWN or sparse is None else sparse(self.merged(w), w)
        w = np.zeros((len(sums), self._shards.records))
        for part, u in c.parts:
            w += u * self._restricted(sums, part)
        if sparse is None:
            return w
        w[self._restricted(sums, c.parts[0][0]) == 0] = 0
        return w if self._shards.rule.shrunk_since else sparse(self.merged(w), w)

    def _largest(self, w: Weights, c: Candidate) -> Weights:
        """With --nonzeros N, the N largest weights (of equal ones, those with the smaller keys); else all."""
        if not self._shards.limited or c.way in OWN:
            return w
        merged = self.merged(w)
        order = np.argsort(np.where(merged.free, -np.abs(w), inf)[:, 0], kind="stable")
        out = np.zeros_like(w)
        for kept in (order[: self._shards.settings.nonzeros], merged.constant_row):
            if kept is not None:
                out[kept] = w[kept]
        return out

    def merged(self, w: Weights, unseen: list[float] | None = None) -> Merged:
        """These weights with the evidence and the extra numbers of the sums."""
        sums, s, constant_key = self.sums, self._shards.settings, self._shards.constant_key
        gained, keys = self._rows(sums, "evidence"), np.asarray(sums.keys)
        gained = gained / len(self._shards.each) if self._state == "mean" else gained
        at = np.searchsorted(keys, np.uint32(constant_key)) if constant_key is not None else len(keys)
        return Merged(
            settings=s, scalars=dict(self._numbers), keys=keys, w=w,
            constant_row=int(at) if at < len(keys) and keys[at] == constant_key else None,
            S=self._rows(sums, "start_evidence") + gained, extra=self._rows(sums, "extra"),
            absent=self._rows(sums, "absent"), unseen=unseen or [0.0] * self._shards.records,
            features=s.features or (1 << s.bits) - s.constant,
        )

    def state(self, merged: Merged, weights: Weights) -> tuple[dict[str, NDArray[Any]], dict[str, list[Any]]]:
        """The fields of the slots and the numbers of the rule. A field that `state_of` leaves out is the same in all
        slots: the number of the rule of that name, or t. weights: those with which the model predicts."""
        shards, t = self._shards, merged.scalars["t"]
        found = {name: np.empty(weights.shape, dtype=code) for name, code in shards.fields.items()}
        for rows, part in [(slice(None), merged)] if shards.algorithm.sums_up else merged.parts():
            state = shards.rule.state_of(part)
            if shards.settings.average:
                state["sum"] = weights[rows] * np.asarray(t)
            with np.errstate(over="ignore"):  # numbers that are too large for a slot become infinite, and are refused
                for name, numbers in found.items():
                    of_rule = "t" if name in ("last", "since") else name
                    numbers[rows] = state[name] if name in state else merged.scalars[of_rule]
        kept = [name for name in shards.each[0].model.rule if name in merged.scalars]  # no rule reads the others
        return found, {name: merged.scalars[name] for name in kept}
