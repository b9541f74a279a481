"""Columns of a frame that `fit` reads as times, as `vwlite train` does with those of a file."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from vwlite.algorithms.settings import Settings
from vwlite.core.data.batch import Batch
from vwlite.errors import DataError
from vwlite.estimators.sources import RowsOf, RowSource, name_classes
from vwlite.input.parsing import Parsed
from vwlite.input.schema import Schema
from vwlite.training.auto.reading import learnable
from vwlite.training.auto.times import COMPARED, FoundWords, Judged, chosen_times, comparison, drawn_rows
from vwlite.training.dates import learns_in_passes
from vwlite.training.trainer import Job


class SomeRows(RowSource):
    """Those of a mask; None: all."""

    mask: Any = None

    @contextmanager
    def batches(self, stop: Callable[[], bool]) -> Iterator[Iterator[Parsed]]:
        with super().batches(stop) as found:
            yield map(self._part, found)

    def _part(self, parsed: Parsed) -> Parsed:
        parsed.batch = self._chosen(parsed.batch, parsed.done)
        return parsed

    def batch(self, number: int) -> Batch:
        return self._chosen(super().batch(number), self._ends[number + 1])

    def _chosen(self, batch: Batch, end: int) -> Batch:
        return batch if self.mask is None else batch.chosen(self.mask[end - len(batch) : end])


def with_times(
    schema: Schema, typed: Collection[str], rows_of: Callable[[Settings], RowsOf], job: Job, names: list[bytes],
    groups: Sequence[bytes] | None,
) -> Schema:
    """The columns of a frame, some of them as times. typed: columns whose role a parameter names. names: of classes.
    Others as of `learn`."""
    formats = {name: schema.time_format for name, role in schema.roles.items()
               if role == "categorical" and name not in typed}
    if not formats or not learns_in_passes(job):
        return schema
    settings = job.resolved.settings

    def source(times: list[str]) -> SomeRows:
        columns = schema.with_roles(dict.fromkeys(times, "time")).stored()
        return SomeRows(columns, rows_of(settings), None, groups)

    def judged(times: list[str]) -> Judged:
        own, found = comparison(job), source(times)
        name_classes(own.learner, names)
        found.mask = mask
        return Judged(own, found)

    different, used = _read(source([]), formats, schema.missing, settings.hash == "all")
    if not different:
        return schema
    rows = int(used.sum())
    mask = None if rows <= COMPARED else drawn_rows(used)
    try:
        found, _ = chosen_times(different, rows, judged, lambda: False)
        if found:
            source(found).open()  # ValueError if a cell is no time
    except (DataError, ValueError):
        return schema
    return schema.with_roles(dict.fromkeys(found, "time"))


def _read(
    source: RowSource, formats: dict[str, str], missing: Collection[str], hash_all: bool
) -> tuple[dict[str, int], Any]:
    """The columns whose words are all times, with the number of different ones; which rows can be learned."""
    words, used = FoundWords(hash_all), list[Any]()
    source.logs = True
    source.open()
    with source.batches(lambda: False) as batches:
        for parsed in batches:
            words.take(parsed.log)
            if not used:
                formats = {name: formats[name] for name in words.times(formats, missing)}
            if not formats:
                break
            used.append(learnable(parsed.batch))
    return words.times(formats, missing), np.concatenate(used) if used else np.zeros(0, bool)
