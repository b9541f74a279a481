"""Directions and steps: the candidates of a merge, evaluated on holdout examples."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Protocol

from vwlite.algorithms.build import make_expander, make_loss, make_names
from vwlite.core.data.batch import Batch
from vwlite.core.merge.holdout import products, sum_of_losses
from vwlite.core.merge.sums import ModelStream
from vwlite.core.solve.rows import Rows
from vwlite.errors import DataError
from vwlite.input.cache import MAGIC, CacheUnusable, made_by, open_cache
from vwlite.input.pipeline import parsed_batches
from vwlite.model.slots import Array
from vwlite.options.run_options import TrainOptions
from vwlite.options.settings import Settings
from vwlite.runs.common import BadLines
from vwlite.runs.source import parse_options, shaping_of, table_of

OWN = ("start", "shard")  # candidates that are models as they are


@dataclass(frozen=True)
class Candidate:
    """Weights that a merge may have: those of a way and a step along it, or those of the start or of a shard."""

    way: str
    step: float
    shard: int = -1
    loss: float = inf


@dataclass(frozen=True)
class Vector:
    """Weights, or a change of them, as predictions are made of it: a row of numbers for each of the keys, which ascend.

    columns: the column of each class. unseen: the number of each class for missing keys.
    """

    keys: Array
    rows: Array
    columns: Sequence[int]
    unseen: list[float]

    def stream(self) -> ModelStream:
        return ModelStream(self.keys, self.rows, None, None, self.columns, self.unseen, [0.0] * len(self.columns))


# The vector of a candidate: the change that it is a part of, or all of its weights.
VectorOf = Callable[[Candidate], Vector]


class Evaluator(Protocol):
    """What says how good candidates are."""

    def __len__(self) -> int:
        """The number of examples."""

    @property
    def keys(self) -> Any:
        """Of all features that matter, and of the constant, ascending; None: not known here."""

    def losses(self, candidates: list[Candidate], vector_of: VectorOf, whole: bool = False) -> list[float]:
        """The mean loss of each candidate; infinity if it is not finite. whole: as of `Holdout.sums`."""


class Holdout:
    """Examples in memory. columns: of tables, as the models have them. clip: the range of predictions, if they are
    clipped. stop: whether to read no further. NoInputError, DataError."""

    def __init__(
        self, o: TrainOptions, paths: tuple[str, ...], settings: Settings, classes: list[str], columns: dict[str, Any],
        clip: tuple[float, float] | None, stack: ExitStack, stop: Callable[[], bool],
    ) -> None:  # fmt: skip
        self._options, self._settings, self._classes, self._columns = o, settings, classes, columns
        self._bad, self._stop = BadLines(o, stack), stop
        self._names = make_names(settings, classes) if settings.oaa is not None else None
        self.named = (len(classes) if settings.classes == "auto" else settings.oaa) if settings.oaa else 0
        self._loss = make_loss(settings)
        self._clip = {"low": clip[0], "high": clip[1]} if clip is not None else {}
        rows = Rows(make_expander(replace(settings, constant=False)))
        self._constant_key = make_expander(settings).constant_key
        for batch in self._batches(paths):
            rows.add(batch)
        rows.finish()
        begin, index, value = rows.entries
        self._entries = begin.cast("B").cast("L"), index, value
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def _batches(self, paths: tuple[str, ...]) -> Iterator[Batch]:
        table = table_of(self._options, self._columns, needs_label=True)
        parse = parse_options(self._options, self._settings, self._names, table)
        texts = []
        for path in paths:
            if not _is_cache(path):
                texts.append(path)
                continue
            try:
                if self._settings.classes == "auto":
                    raise CacheUnusable("with --classes auto a cache has class numbers of its own: give the text")
                shaping = shaping_of(self._options, self._settings, [], self._columns)
                yield from (batch for batch, _ in open_cache(path, made_by("train") | {"options": shaping}).batches())
            except CacheUnusable as e:
                raise DataError(f"{path}: a cache that cannot be the holdout of these models: {e}") from None
        if texts:
            with parsed_batches(tuple(texts), parse, stop=self._stop, threads=self._options.threads) as found:
                for parsed in found:
                    yield parsed.batch
                    self._bad.take(parsed.bad)
        if not self._stop():
            self._bad.finish()

    @property
    def keys(self) -> Any:
        """Of all features in it, and of the constant, ascending."""
        found = set(self._rows.keys) | ({self._constant_key} if self._constant_key is not None else set())
        return memoryview(array("I", sorted(found)))

    def losses(self, candidates: list[Candidate], vector_of: VectorOf, whole: bool = False) -> list[float]:
        """The mean loss of each candidate; infinity if it is not finite. whole: as of `sums`."""
        return [mean(*sums) for sums in self.sums(candidates, vector_of, whole)]

    def sums(self, candidates: list[Candidate], vector_of: VectorOf, whole: bool = False) -> list[tuple[float, float]]:
        """For each candidate the sum of the losses, and that of the importances.

        whole: the vector of each is all of its weights; else it is that only of the start and of shards, and of others
        the change of a step of 1 from the start.
        """
        lines: dict[str, Any] = {}  # predictions are linear in the step: one product for each way
        found = []
        for c in candidates:
            if whole or c.way == "shard":
                scores = self._scores(vector_of(c))
                found.append(self._losses(scores, scores, 0.0))
                continue
            for way in ("start", c.way):
                if way not in lines:
                    lines[way] = self._scores(vector_of(replace(c, way=way)))
            found.append(self._losses(lines["start"], lines[c.way], c.step))
        return found

    def _scores(self, vector: Vector) -> Any:
        """What a vector adds to the predictions: for each example, for each class."""
        keys, records, model = self._rows.keys, len(vector.columns), vector.stream()
        weights, constants = array("d", bytes(8 * len(keys) * records)), array("d", bytes(8 * records))
        model.aligned(keys, weights)
        if self._constant_key is not None:
            model.aligned(array("I", [self._constant_key]), constants)
        return products(*self._entries, weights, constants)

    def _losses(self, start: Any, change: Any, step: float) -> tuple[float, float]:
        """The sum of the losses of scores start + step * change, and that of the importances."""
        rows = self._rows
        found: tuple[float, float] = sum_of_losses(
            self._loss, start, change, step, rows.labels, rows.importance, rows.initial, classes=self.named,
            softmax=self._settings.probable == "softmax", **self._clip,
        )  # fmt: skip
        return found


def mean(losses: float, importances: float) -> float:
    """The mean loss; infinity without examples."""
    return losses / importances if importances > 0 else inf


def _is_cache(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)).startswith(MAGIC[:-2])
    except OSError:
        return False  # the parser says what is wrong


def search(
    candidates: list[Candidate],
    losses_of: Callable[[list[Candidate]], list[float]],
    as_learned: Callable[[list[Candidate]], list[float]] | None,
    finalists: int = 3,
) -> tuple[Candidate, list[Candidate]]:
    """The best candidate, and all with their losses. Of equal ones the first is the best.

    losses_of: the losses of candidates. as_learned: those of candidates as the algorithm would have them, shrunk or
    projected, which costs more: for the best few only; None: they are the same. The start and the shards are as they
    are.
    """
    found = with_losses(candidates, losses_of)
    order = sorted(range(len(found)), key=lambda i: found[i].loss)
    if as_learned is not None:
        tried = [i for i in order[:finalists] if found[i].way not in OWN]
        for i, c in zip(tried, with_losses([found[i] for i in tried], as_learned), strict=True):
            found[i] = c
        order = sorted({*tried, *(i for i in order if found[i].way in OWN)}, key=lambda i: (found[i].loss, i))
    return found[order[0]], found


def with_losses(candidates: list[Candidate], losses_of: Callable[[list[Candidate]], list[float]]) -> list[Candidate]:
    return [replace(c, loss=loss) for c, loss in zip(candidates, losses_of(candidates), strict=True)]
