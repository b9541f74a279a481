"""Sums over shards that workers read, in a fixed order: of the digests of the shards."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vwlite.dask.cluster import Cluster
from vwlite.dask.parts import FilePart
from vwlite.dask.work import ShardJob, answer, called, is_done, same
from vwlite.solving.rounds.sums import FeaturesOfShards, sum_of_arrays
from vwlite.training.shards.asked import FACTS, PROJECTED, SLOPES, Asked, Facts
from vwlite.training.shards.past import Summary
from vwlite.training.shards.rows import Point, ShardRows, Unit


class ShardsOnWorkers:
    """Implements `vwlite.training.shards.fit.Shards`. parts: in the order of their sums. held: futures of the lines of
    each that are held out. model: the bytes of that of the sample."""

    def __init__(
        self, cluster: Cluster, parts: Sequence[FilePart], held: Sequence[Any], job: ShardJob, model: bytes, unit: Unit
    ) -> None:
        self._cluster, self._parts, self._held, self._job, self._unit = cluster, parts, held, job, unit
        self._model = cluster.put(same, model)
        self._projected: list[Any] = []
        self._features = FeaturesOfShards.of([])
        self.up = self.down = self.readings = 0  # bytes of arrays that were sent, and readings of all rows
        self.validation: ShardRows | None = None  # rows that are here
        self.kept: ShardRows | None = None  # beside a model that is continued: one more shard, that is here
        self.summary: Summary | None = None  # of others that it has learned
        self._here: list[Any] = []  # what was projected of these

    @property
    def keys(self) -> Any:
        """Of all features."""
        return self._features.keys

    def _answers(self, asked: Asked, *, stays: bool = False) -> list[Any]:
        """The answers of all shards. stays: they stay on the workers, and are `_projected`."""
        sent, futures = self._cluster.put(same, asked), list[Any]([None] * len(self._parts))
        self.down += asked.size * len(self._parts)
        self.readings += 1

        def make(i: int, avoid: str | None) -> Any:
            futures[i] = self._cluster.put(
                answer, self._parts[i], self._model, self._job, sent, self._held[i], avoid=avoid)
            return self._cluster.put(is_done, futures[i]) if stays else futures[i]

        found = self._cluster.each(len(self._parts), make, self._named)
        if stays:
            self._projected = futures
            self._again = make
        return found

    def _named(self, i: int) -> str:
        return self._parts[i].name

    def facts(self) -> list[Facts]:
        """Of each shard. All features are known from then on."""
        found = self._answers(Asked(FACTS, self._unit))
        self.up += sum(one.keys.nbytes for one in found)
        if self.kept is not None:
            found.append(Facts.of(self.kept))
        self._features = FeaturesOfShards.of([one.keys for one in found])
        return found

    def _of_kept(self, x: Any) -> Any:
        """The rows of an array of all features that the kept rows have, and of the intercept."""
        return x[np.append(self._features.places[-1], len(self.keys))]

    def sum(self, parts: Sequence[Any]) -> Any:
        """The sum of arrays of the shards, which have a row for each of their features and perhaps the intercept."""
        self.up += sum(part.nbytes for part in parts[: len(self._parts)])
        return self._features.sum(parts)

    def largest(self, parts: Sequence[Any]) -> Any:
        """The largest numbers of all shards, of arrays as of `sum` without an intercept."""
        self.up += sum(part.nbytes for part in parts[: len(self._parts)])
        return self._features.largest(parts)

    def slopes(self, w: Any) -> tuple[Any, Any]:
        found = self._answers(Asked(SLOPES, self._unit, self.keys, w))
        if self.kept is not None:
            found.append(self.kept.slopes(self._of_kept(w)))
        g, curvature = self.sum([g for g, _ in found]), self.sum([c for _, c in found])
        if self.summary is not None:
            of_summary = self.summary.slopes(w)
            g, curvature = g + of_summary[0], curvature + of_summary[1]
        return g, curvature

    def project(self, w: Any, directions: Sequence[Any]) -> None:
        self._answers(Asked(PROJECTED, self._unit, self.keys, w, directions), stays=True)
        self._here = [x.projected(w, directions) for x in (self.validation, self.summary) if x is not None]
        if self.kept is not None:
            self._here.append(self.kept.projected(self._of_kept(w), [*map(self._of_kept, directions)]))

    def _called(self, method: str, *arguments: Any) -> list[Any]:
        """The results of a method of all that was projected."""

        def make(i: int, avoid: str | None) -> Any:
            if avoid is not None:  # perhaps it is lost
                self._again(i, avoid)
            return self._cluster.put(called, self._projected[i], method, *arguments, avoid=avoid)

        found = self._cluster.each(len(self._parts), make, self._named)
        self.up += sum(x.nbytes for one in found for x in (one if isinstance(one, list) else [one]))
        return [*found, *(getattr(one, method)(*arguments) for one in self._here)]

    def sums(self, points: Sequence[Point]) -> list[Any]:
        return [*map(sum_of_arrays, zip(*self._called("sums", points), strict=True))]

    def losses_apart(self, points: Sequence[Point]) -> Any:
        return sum_of_arrays(self._called("losses_apart", points))

    def smearing(self, point: Point, deviation: float) -> Any:
        return sum_of_arrays(self._called("smearing", point, deviation))
