"""Matrices and frames, with labels or without, as the batches that a model is evaluated on."""

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cached_property, partial
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.core.tables.arrow import Frame
from vwlite.core.tables.matrix import column_hashes
from vwlite.errors import DataError, UsageError
from vwlite.estimators.errors import SOURCE
from vwlite.estimators.frames import frame_of, is_frame, prepared
from vwlite.estimators.rows import matrix_of
from vwlite.estimators.sources import BatchSource, batches_of
from vwlite.input.labels import LabelParser
from vwlite.input.parsing import FrameRows, Parsed, ParseOptions
from vwlite.model.absent import applied_schema
from vwlite.runs.opened import Opened


class InMemory:
    """Rows, as a model reads them. y: their labels; None: there are none."""

    def __init__(self, X: Any, y: Any, opened: Opened) -> None:
        self._X, self._settings, self._model = X, opened.settings, opened.model
        self._frame: Frame | None = None
        if is_frame(X):
            if not self._model.columns:
                raise UsageError("X is a frame, but the model was not trained on a table: it has no column names")
            self._frame = frame_of(X)
        self.rows = self._frame.rows if self._frame else X.shape[0] if hasattr(X, "shape") else len(X)
        self._words = None if y is None else words_of(y)
        if self._words is not None and len(self._words) != self.rows:
            raise UsageError("X and y have different numbers of rows")

    def batches(self, parse: ParseOptions) -> Iterator[Parsed]:
        """The batches, with names of features and cells if they are required. DataError for an invalid label."""
        label, unfit = self._labels(parse)
        rows = self._source(label, parse.spaces)
        finder, text = parse.finder() if parse.finder else None, self._text()
        with closing(batches_of(rows)) as found:
            for batch, end in found:
                parsed = Parsed(batch, [], end, self.rows, unfit=unfit)
                if parse.keeps_text and self._frame:
                    parsed.rows = Cells(self, slice(end - len(batch), end))
                if finder is not None:
                    parsed.names = finder.find(b"", batch, convert=partial(text, batch, end))
                yield parsed

    def _labels(self, parse: ParseOptions) -> tuple[Any, dict[str, str]]:
        """The label of each row, NaN where it is missing; labels that the model cannot use, and where they are."""
        if self._words is None:
            return None, {}
        first: dict[str, int] = {}  # where each label is first, in this order
        for row, word in enumerate(self._words):
            first.setdefault(word, row)
        parser, number = LabelParser(parse), {word: at for at, word in enumerate(first)}
        values, said = parser.parse([word.encode("utf-8", "surrogateescape") for word in first], "y")
        if said:
            place = min(said)
            raise DataError(f"{SOURCE}:{[*first.values()][place]}:1: {said[place]}")
        unfit = {label: f"row {first[label]}" for label in parser.unfit}
        return values[[number[word] for word in self._words]], unfit

    def _source(self, label: Any, spaces: bool) -> BatchSource:
        if self._frame is None:
            return matrix_of(self._X, self._settings, label=label, spaces=spaces)
        schema = applied_schema(self._model)
        importance = _importance(self._frame, schema.name_of("importance"))
        return prepared(self._frame, schema, self._settings, label=label, importance=importance, spaces=spaces)

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """The cells of a frame, of pandas, of polars, or of what pyarrow reads."""
        X = self._X
        if hasattr(X, "iloc"):
            return {str(name): X.iloc[:, place].to_list() for place, name in enumerate(X.columns)}
        if hasattr(X, "with_columns"):
            return dict(X.to_dict(as_series=False))
        return dict(import_module("pyarrow").table(X).to_pydict())

    def _text(self) -> Any:
        """Makes VW text of a batch that ends before a row, for names of features."""
        if (frame := self._frame) is not None:
            every = np.ones(self.rows, np.uint8)
            return lambda batch, end: (frame.text(end - len(batch), end, every[: len(batch)]), None)
        columns = ColumnNames(self._X.shape[1] if hasattr(self._X, "shape") else len(self._X[0]), self._settings.hash)
        return lambda batch, end: (columns.text(batch), None)


class ColumnNames:
    """The names of the columns of a matrix, 0, 1, ..., by their hashes."""

    def __init__(self, width: int, hash: str) -> None:
        hashes = np.empty(width, np.uint32)
        column_hashes(hashes, hash_all=hash == "all")
        self._column = np.argsort(hashes, kind="stable")
        self._hashes = hashes[self._column]

    def text(self, batch: Batch) -> bytes:
        """The names of the features of each line, as VW text."""
        names = self._column[np.searchsorted(self._hashes, np.asarray(batch.hash))].tolist()
        begin = np.asarray(batch.feature_begin)[np.asarray(batch.span_begin)].tolist()
        lines = (names[a:b] for a, b in pairwise(begin))
        return "".join(f"|{' '.join(['', *map(str, line)])}\n" for line in lines).encode()


class Cells(FrameRows):
    """Some rows of a frame."""

    def __init__(self, whole: InMemory, rows: slice) -> None:
        self._whole, self._rows = whole, rows

    def cells(self) -> dict[str, list[Any]]:
        return {name: column[self._rows] for name, column in self._whole.columns.items()}

    def texts(self, column: str, rows: Sequence[int]) -> list[str]:
        columns = self._whole.columns
        if column not in columns:
            raise UsageError(f"--by {column}: there is no such column; there are {', '.join([*columns][:20])}")
        cells = columns[column][self._rows]
        return [_text_of(cells[row]) for row in rows]


def _text_of(cell: Any) -> str:
    text = "" if _is_missing(cell) else str(cell)
    return text.lower() if isinstance(cell, bool) else text


def words_of(labels: Any) -> list[str]:
    """Labels as words of text; "" is a missing one."""
    return [_word(label) for label in (labels.tolist() if hasattr(labels, "tolist") else list(labels))]


def _word(label: Any) -> str:
    if _is_missing(label):
        return ""
    if isinstance(label, bytes):
        return label.decode("utf-8", "surrogateescape")
    if isinstance(label, bool) or (isinstance(label, float) and math.isfinite(label) and label == int(label)):
        return str(int(label))
    return str(label)


def groups_of(groups: Any, rows: int) -> list[bytes]:
    """The group of each row as a word. ValueError if one is missing, or there are not as many as rows."""
    words = words_of(groups)
    if len(words) != rows:
        raise ValueError(f"X has {rows} rows, but groups has {len(words)} values")
    if "" in words:
        raise ValueError(f"groups has no value at row {words.index('')}, and each row needs a group")
    return [word.encode("utf-8", "surrogateescape") for word in words]


def _is_missing(x: Any) -> bool:
    return x is None or (isinstance(x, float) and math.isnan(x)) or type(x).__name__ in ("NAType", "NaTType")


def _importance(frame: Frame, name: str | None) -> Any:
    """Those of the column of this name, if there is one; 1 where it is missing."""
    if name is None or name not in frame.names:
        return None
    places = np.empty(frame.rows, np.int64)
    values = frame.distinct(frame.names.index(name), places)
    if values is None or any(isinstance(value, bytes) for value in values):
        raise UsageError(f"the column {name!r} of X is the importance, but it has no numbers")
    return np.array([*map(float, values), 1.0])[places]
