"""The merged numbers of a rule, and the input from which `Rule.state_of` computes the state for merged weights.

Arrays have a row for each key, with a number for each class.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import ADDED, LARGEST, LEAST, NUMBERS, SAME, TIME
from vwlite.core.base.elementary import power
from vwlite.errors import DataError
from vwlite.merging.shards import Shards
from vwlite.model.slots import Array, array_of
from vwlite.projection import project_l1

Weights: TypeAlias = NDArray[np.float64]

ROWS = 1 << 14  # of a part of the merge


@dataclass
class Merged:
    """Merged weights, with the numbers from which the state of the rule for them follows."""

    settings: Settings
    scalars: dict[str, list[Any]]  # of the rule, for each class; `state_of` adds those that depend on the weights
    keys: NDArray[np.uint32]
    constant_row: int | None  # the row of the constant
    w: Weights  # from which learning continues
    S: Weights  # evidence
    extra: Weights
    absent: Weights  # by how much shards without the key would have shrunk its weight
    unseen: list[float]  # the weight of a missing key, for each class
    features: int  # their largest number

    def parts(self) -> Iterator[tuple[slice, "Merged"]]:
        """Parts of ROWS rows, whose arrays stay in the cache of the processor; scalars are those of the whole."""
        for begin in range(0, max(len(self.keys), 1), ROWS):
            rows = slice(begin, begin + ROWS)
            at = -1 if self.constant_row is None else self.constant_row - begin
            yield rows, replace(
                self, keys=self.keys[rows], constant_row=at if 0 <= at < ROWS else None,
                w=self.w[rows], S=self.S[rows], extra=self.extra[rows], absent=self.absent[rows],
            )

    @property
    def free(self) -> NDArray[np.bool_]:
        """A mask of all rows but that of the constant, which is not regularized."""
        free = np.ones((len(self.keys), 1), dtype=bool)
        if self.constant_row is not None:
            free[self.constant_row] = False
        return free

    def of(self, name: str) -> Weights:
        """A number of the rule, for each class; 0 for the constant."""
        return np.asarray(self.scalars[name], dtype=float) * self.free

    def strengths(self, name: str) -> list[float]:
        """The strength of each class: that which --nonzeros has found, or the setting."""
        return self.scalars.get("strength", [getattr(self.settings, name)] * self.w.shape[1])

    @property
    def l1(self) -> Weights:
        return np.asarray(self.strengths("l1"), dtype=float) * self.free

    @property
    def metric(self) -> Weights:
        """H of AdaGrad."""
        return self.settings.delta + np.sqrt(self.S)

    def supported(self, w: Weights, bound: Weights) -> Weights:
        """w, with zeros where the sum of the z of the shards is within the bound: |z| <= bound."""
        return np.where(self.free & (np.abs(self.extra) <= bound), 0, w) if np.any(self.l1) else w

    project_l1 = staticmethod(project_l1)


def merged_numbers(shards: Shards, state: str) -> dict[str, list[Any]]:
    """The numbers of the rule that do not depend on the weights, for each class. state: whether times are the `sum` of
    those of the shards, or their `mean`."""
    found: dict[str, list[Any]] = {}
    if shards.weights_only:
        return found
    row, s = shards.algorithm.merging, shards.settings
    for name, how in ({**NUMBERS, **row.numbers}).items():
        if name in shards.each[0].model.rule:
            how = ADDED if how == TIME and state == "sum" else how
            found[name] = [_merged_number(shards, name, how, c) for c in range(shards.records)]
    if row.adds:
        eta = s.learning_rate
        found["scale"] = [eta * power(t + s.initial_t, -s.power_t) if s.power_t else eta for t in found["t"]]
    return found


def _merged_number(shards: Shards, name: str, how: Any, c: int) -> Any:
    each = [shard.number(name, c) for shard in shards.each]
    if how in (LARGEST, LEAST):
        return max(each) if how == LARGEST else min(each)
    if how == SAME:
        for shard, number in zip(shards.each, each, strict=True):
            if number != each[0]:
                raise DataError(f"{shard.path}: its weights shrink by the learning rate {number:g}, but those of "
                                f"{shards.each[0].path} by {each[0]:g}: train all shards from the same start")
        return each[0]
    if how == ADDED:
        return shards.at_start(name, c) + shards.gained(name, c)
    if how == TIME:
        found = shards.at_start(name, c) + shards.gained(name, c) / len(shards.each)
        return float(int(found)) if name == "t" else found  # t counts examples
    return how


def flat(numbers: NDArray[Any], code: str = "d") -> Array:
    """Numbers as a flat array of a model."""
    return array_of(np.ascontiguousarray(numbers).data.cast("B") if numbers.size else b"", code)
