"""The held-out lines of training in a file of their own: the holdout of `vwlite merge`."""

from contextlib import ExitStack

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.errors import DataError
from vwlite.input.formats import Dialect
from vwlite.input.parsing import EXAMPLE, REJECTED, SourceText
from vwlite.output.atomic import AtomicFile


class HoldoutWriter:
    """Writes every Nth line as it is in the data, with the same count as the learner, which holds out the same lines.

    Behind the header of a table, if there is one. DataError for lines of several kinds, which no file can have.
    """

    def __init__(self, path: str, period: int, stack: ExitStack) -> None:
        self._file = stack.enter_context(AtomicFile(path))
        self._path, self._period = path, period
        self._kind: tuple[str, Dialect] | None = None
        self._header = b""
        self._first = ""

    def take(self, batch: Batch, source: SourceText, before: int, after: int) -> None:
        """The lines of a batch. before, after: how many the learner had counted before it, and has now."""
        if not len(batch):
            return
        kinds = np.asarray(batch.kind)
        counted = np.cumsum(kinds != REJECTED) + before
        held = np.flatnonzero((kinds == EXAMPLE) & (counted % self._period == 0) & (counted <= after))
        self._write_header(batch, source)
        if not len(held):
            return
        for line in source.lines_of(batch, held.tolist()):
            self._file.write(line + b"\n")

    def _write_header(self, batch: Batch, source: SourceText) -> None:
        """Write the header, if there is one. DataError for lines that do not go with those before."""
        kind = (source.format, source.dialect)
        if self._kind is None:
            self._kind, self._header, self._first = kind, source.header, batch.source
            self._file.write(source.header)
        if kind != self._kind or source.header.strip() != self._header.strip():
            raise DataError(f"{batch.source}: its format differs from that of {self._first}, so "
                            f"{self._path} cannot have both: train on each by itself")

    def commit(self) -> None:
        self._file.commit()
