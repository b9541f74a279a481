"""The candidates of a merge, and their scores on holdout examples."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwlite.algorithms.settings import Settings
from vwlite.core.data.batch import Batch
from vwlite.core.merge.holdout import products
from vwlite.core.solve.rows import Rows
from vwlite.core.solve.weights import aligned
from vwlite.errors import DataError
from vwlite.input.cache import MAGIC, CacheUnusable, made_by, open_cache
from vwlite.input.pipeline import parsed_batches
from vwlite.model.learners import make_expander
from vwlite.model.slots import Array, copied
from vwlite.runs.plan import DataPlan
from vwlite.runs.run import BadLines

OWN = ("start", "shard")  # ways of candidates that are existing models


@dataclass(frozen=True)
class Candidate:
    """A candidate for the weights of a merge: those of a way of merging, of the start, of a shard, or of a stack.

    parts: of a stack: the candidates in its sum, each with its coefficient. Weights that are zero in the first part are
    zero in a sparse stack.
    """

    way: str
    shard: int = -1
    loss: float = inf
    error: float = 0.0  # the standard error of the loss
    parts: "tuple[tuple[Candidate, float], ...]" = ()


START = Candidate("start")


@dataclass(frozen=True)
class Vector:
    """Weights for predictions: a row of numbers for each key, in ascending order of the keys.

    columns: the column of each class. unseen: for each class, the weight of missing keys.
    """

    keys: Array
    rows: Array
    columns: Sequence[int]
    unseen: list[float]

    def at(self, keys: Array) -> NDArray[np.float64]:
        """The weights of all classes for each of these ascending keys: [keys, classes]."""
        mine, rows, records = copied(self.keys), copied(self.rows), len(self.columns)
        places = zip(self.columns, self.unseen, strict=True)
        return np.transpose([aligned(keys, mine, rows, records, column, unseen) for column, unseen in places])


@dataclass(frozen=True)
class HoldoutScores:
    """Predictions of several vectors without the initial ones, [vectors, examples, classes], with labels, importances
    and initial predictions of the examples."""

    each: NDArray[np.float64]
    labels: NDArray[np.float64]
    importance: NDArray[np.float64]
    initial: NDArray[np.float64]


class Holdout:
    """The holdout examples, in memory. columns: of tables, as in the models. stop: whether to stop reading.
    NoInputError, DataError."""

    def __init__(
        self, data: DataPlan, bad: BadLines, settings: Settings, classes: list[str], columns: dict[str, Any],
        stop: Callable[[], bool],
    ) -> None:
        self._plan, self._settings, self._columns = data, settings, columns
        self._bad, self._stop = bad, stop
        self._names = settings.outputs.class_names(classes)
        rows = Rows(make_expander(replace(settings, constant=False)))
        constant_key = make_expander(settings).constant_key
        for batch in self._batches():
            rows.add(batch)
        rows.finish()
        begin, index, value = rows.entries
        self._entries = begin.cast("B").cast("L"), index, value
        self._rows = rows
        self._constant = np.array([] if constant_key is None else [constant_key], dtype=np.uint32)
        self._keys: NDArray[np.uint32] = np.union1d(np.asarray(rows.keys), self._constant)

    @property
    def labels(self) -> NDArray[np.float64]:
        """The labels of the examples."""
        return np.array(self._rows.labels)

    def _batches(self) -> Iterator[Batch]:
        table = self._plan.table(self._columns, needs_label=True)
        parse = self._plan.parsing(self._settings, self._names, table)
        texts = []
        for path in self._plan.files:
            if not _is_cache(path):
                texts.append(path)
                continue
            try:
                if self._settings.classes == "auto":
                    raise CacheUnusable("with --classes auto a cache has class numbers of its own: give the text")
                shaping = self._plan.shaping(self._settings, [], self._columns)
                yield from (batch for batch, _ in open_cache(path, made_by("train") | {"options": shaping}).batches())
            except CacheUnusable as e:
                raise DataError(f"{path}: a cache that cannot be the holdout of these models: {e}") from None
        if texts:
            with parsed_batches(tuple(texts), parse, stop=self._stop, threads=self._plan.threads) as found:
                for parsed in found:
                    yield parsed.batch
                    self._bad.take(parsed.bad)
        if not self._stop():
            self._bad.finish()

    def scores(self, vectors: Iterable[Vector]) -> HoldoutScores:
        rows = self._rows
        each = np.array([np.asarray(self._scores(vector)).reshape(len(rows), -1) for vector in vectors])
        return HoldoutScores(each, self.labels, np.array(rows.importance), np.array(rows.initial))

    def _scores(self, vector: Vector) -> Any:
        """The predictions of a vector without the initial ones: of each example, for each class."""
        found = vector.at(self._keys.data)
        constants = found[np.searchsorted(self._keys, self._constant)].sum(axis=0)  # one or none
        return products(*self._entries, found[np.searchsorted(self._keys, self._rows.keys)].reshape(-1), constants)


def _is_cache(path: str) -> bool:
    if not os.path.isfile(path):  # bytes that are read from a pipe are lost
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)).startswith(MAGIC[:-2])
    except OSError:
        return False  # the parser reports the error
