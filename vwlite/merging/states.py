"""The input from which a rule computes its state for the merged weights: see `Rule.state_of`.

Arrays have a row of all classes for each key.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vwlite.algorithms.settings import Settings
from vwlite.projection import project_l1

Weights: TypeAlias = NDArray[np.float64]

ROWS = 1 << 14  # that are worked on at a time


@dataclass
class Merged:
    """The result of a merge, except the weights."""

    settings: Settings
    scalars: dict[str, list[Any]]  # of the rule, for each class; the functions add to it what follows from the weights
    keys: NDArray[np.uint32]
    constant_row: int | None  # the row of the constant
    w: Weights  # from which learning continues
    S: Weights  # evidence
    extra: Weights
    absent: Weights  # what shards without the key would have shrunk it by
    unseen: list[float]  # the weight of a key that is not there, for each class
    features: int  # how many there can be

    def parts(self) -> Iterator[tuple[slice, "Merged"]]:
        """Some rows after the other, so that what is made of them stays in the cache; the scalars are those of all."""
        for begin in range(0, max(len(self.keys), 1), ROWS):
            rows = slice(begin, begin + ROWS)
            at = -1 if self.constant_row is None else self.constant_row - begin
            yield rows, replace(
                self, keys=self.keys[rows], constant_row=at if 0 <= at < ROWS else None,
                w=self.w[rows], S=self.S[rows], extra=self.extra[rows], absent=self.absent[rows],
            )

    @property
    def free(self) -> NDArray[np.bool_]:
        """Which rows the constant is not: it has no strength."""
        free = np.ones((len(self.keys), 1), dtype=bool)
        if self.constant_row is not None:
            free[self.constant_row] = False
        return free

    def of(self, name: str) -> Weights:
        """A number of the rule, for each class; 0 for the constant."""
        return np.asarray(self.scalars[name], dtype=float) * self.free

    def strengths(self, name: str) -> list[float]:
        """The strength of each class: what --nonzeros has found, or the setting."""
        return self.scalars.get("strength", [getattr(self.settings, name)] * self.w.shape[1])

    @property
    def l1(self) -> Weights:
        return np.asarray(self.strengths("l1"), dtype=float) * self.free

    @property
    def metric(self) -> Weights:
        """H"""
        return self.settings.delta + np.sqrt(self.S)

    def supported(self, w: Weights, bound: Weights) -> Weights:
        """Zero where the sum of the shards' z says so: |z| <= bound."""
        return np.where(self.free & (np.abs(self.extra) <= bound), 0, w) if np.any(self.l1) else w

    project_l1 = staticmethod(project_l1)
