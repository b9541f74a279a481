"""Sums over shards that workers read, in a fixed order: of the digests of the shards."""

from collections.abc import Sequence
from typing import Any

from vwlite.dask.cluster import Cluster
from vwlite.dask.parts import FilePart
from vwlite.dask.work import ShardJob, answer, called, is_done, same
from vwlite.solving.rounds.sums import FeaturesOfShards, sum_of_arrays
from vwlite.training.shards.asked import FACTS, PROJECTED, SLOPES, Asked, Facts
from vwlite.training.shards.rows import Point, Unit


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
        self.more: Any = None  # a `Projected` of rows that are here: those of --validate
        self.rows_here: Any = None

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
        self._features = FeaturesOfShards.of([one.keys for one in found])
        self.up += sum(one.keys.nbytes for one in found)
        return found

    def sum(self, parts: Sequence[Any]) -> Any:
        """The sum of arrays of the shards, which have a row for each of their features and perhaps the intercept."""
        self.up += sum(part.nbytes for part in parts)
        return self._features.sum(parts)

    def slopes(self, w: Any) -> tuple[Any, Any]:
        found = self._answers(Asked(SLOPES, self._unit, self.keys, w))
        return self.sum([g for g, _ in found]), self.sum([c for _, c in found])

    def project(self, w: Any, directions: Sequence[Any]) -> None:
        self._answers(Asked(PROJECTED, self._unit, self.keys, w, directions), stays=True)
        if self.rows_here is not None:
            self.more = self.rows_here.projected(w, directions)

    def _called(self, method: str, *arguments: Any) -> list[Any]:
        """The results of a method of all that was projected."""

        def make(i: int, avoid: str | None) -> Any:
            if avoid is not None:  # perhaps it is lost
                self._again(i, avoid)
            return self._cluster.put(called, self._projected[i], method, *arguments, avoid=avoid)

        found = self._cluster.each(len(self._parts), make, self._named)
        self.up += sum(x.nbytes for one in found for x in (one if isinstance(one, list) else [one]))
        return found if self.more is None else [*found, getattr(self.more, method)(*arguments)]

    def sums(self, points: Sequence[Point]) -> list[Any]:
        return [*map(sum_of_arrays, zip(*self._called("sums", points), strict=True))]

    def losses_apart(self, points: Sequence[Point]) -> Any:
        return sum_of_arrays(self._called("losses_apart", points))

    def smearing(self, point: Point, deviation: float) -> Any:
        return sum_of_arrays(self._called("smearing", point, deviation))
