"""The tables of DATA with columns of predictions appended, in their format: `vwlite predict --append`."""

import csv
import json
from collections.abc import Collection, Sequence
from importlib import import_module
from io import BytesIO
from typing import Any, NamedTuple

from vwlite.algorithms.predicted import predicted_by
from vwlite.algorithms.settings import Settings
from vwlite.core.learn.appended import RowJoiner
from vwlite.core.tables.tables import split
from vwlite.errors import DataError, UsageError
from vwlite.input.diagnostics import shown
from vwlite.input.formats import ARROW_FILE, BOM, FORMATS, OF_TEXT, check_name
from vwlite.input.parsing import Parsed, SourceText
from vwlite.input.schema import listed
from vwlite.input.sources import display_name
from vwlite.names import names_text

ROW_GROUP = 64 << 20  # bytes of the rows of Parquet that are written together
LEADS = ("tag", "label")  # columns of rows of predictions that are in DATA
USUAL = ("class", "score", "probability", "prediction")


class Column(NamedTuple):
    """A column that is appended. known: its name before it was renamed. place: in rows of predictions. type: as Arrow
    calls it."""

    known: str
    name: str
    place: int
    type: str


def chosen(known: list[str], typed: Sequence[str], settings: Settings, path: str) -> list[Column]:
    """The columns that were typed, or what the model of this path has. known: those of rows of predictions. UsageError
    for one that is not there."""
    places = {name: k for k, name in enumerate(known) if name not in LEADS}
    others, predicted, found = [name for name in places if name not in USUAL], predicted_by(settings), []
    places.setdefault("prediction", places[predicted.prediction_column(places)])
    for text in typed or [*predicted.appended(places), *others]:
        name, _, called = (text, "", text) if text in places else text.rpartition("=")
        if name not in places or not called:
            raise UsageError(f"--append-columns {text}: {path} has the columns {listed([*places])}; NAME=AS calls one "
                             "AS")
        found.append(Column(name, called, places[name], predicted.arrow_type(name)))
    names = [column.name for column in found]
    if len({*names}) < len(names):
        raise UsageError(f"--append-columns: two columns would be called {max(names, key=names.count)}: NAME=AS calls "
                         "one AS")
    return found


class AppendedTable:
    """Makes rows of a table of rows of predictions and the batches that they are of.

    header: of the rows of predictions. typed: names of columns. path: of the model. output: the file of the rows.
    decimal: the point of numbers in text, which those of predictions get, too.
    """

    def __init__(
        self, header: bytes, settings: Settings, typed: Sequence[str], path: str, output: str, decimal: str = "."
    ) -> None:
        self._output, self._decimal = output, decimal
        self._known = next(csv.reader([header.decode("utf-8", "surrogateescape")]))
        self._columns = chosen(self._known, typed, settings, path)
        self._keys = [json.dumps(column.name, ensure_ascii=False).encode() for column in self._columns]
        self._parsed: Parsed | None = None  # the batch that is predicted next
        self._first: tuple[Any, str] | None = None  # the layout that all batches must have, and the source of the first
        self._header = b""  # the last that was compared
        self._joiner: RowJoiner | None = None
        self._arrow: _ArrowWriter | None = None
        self._blank = b""  # blank lines before the format is known
        self._out: list[bytes] = []

    def take(self, parsed: Parsed) -> None:
        """A batch that is predicted next. UsageError if it is not of a table; DataError if it does not go with those
        before, has a column already, or stands for rows that cannot be read."""
        self._parsed = parsed
        if parsed.rows is not None:
            check_name(self._output, parsed.format)
            self._begin_arrow(parsed)
        elif parsed.source is not None:
            self._begin_text(parsed, parsed.source)
        elif parsed.bad:  # an error of reading, not a line
            raise parsed.bad[0].error(": rows would be missing in the table, also with --on-error skip")

    def _is_first(self, parsed: Parsed, kind: Any) -> bool:
        before, self._first = self._first, self._first or (kind, parsed.batch.source)
        if kind != self._first[0]:
            raise DataError(f"its columns or its format differ from those of {self._first[1]}, so one table cannot "
                            "have both: predict each by itself", parsed.batch.source)
        return before is None

    def _begin_text(self, parsed: Parsed, source: SourceText) -> None:
        if source.format in OF_TEXT:  # lines without a header: predictions are behind tabs
            if self._is_first(parsed, source.format):
                check_name(self._output, source.format)
                self._joiner = self._joined(delimiter="\t", quoted=True)
                self._out.append(self._blank)
            return
        if not FORMATS[source.format].is_table:
            if source.text.strip():
                kind = "VW text" if source.format == "vw" else source.format
                raise UsageError(f"--append is for tables, and this is {kind}: leave it out", parsed.batch.source)
            self._blank += source.text
            self._parsed = None
            return
        check_name(self._output, source.format, source.dialect.delimiter)
        if source.format == "jsonl":
            if self._is_first(parsed, source.format):
                keys = [key + b": " for key in self._keys]
                self._joiner = self._joined(delimiter=",", keys=keys)
                self._out.append(self._blank)
            elif source.text.startswith(BOM):
                parsed.source = source = SourceText(source.text.removeprefix(BOM), source.format)
            self._check_keys(parsed, source)
            return
        if self._first is not None and source.header == self._header and source.dialect == self._first[0][0]:
            return
        cells = split(source.header, *source.dialect)[0][0] if source.header else []
        names = [cell.strip().decode() for cell in cells]
        if self._is_first(parsed, (source.dialect, names)):
            self._check_names(names, parsed.batch.source, 1)
            form: dict[str, Any] = {"delimiter": source.dialect.delimiter, "quoted": source.dialect.quoted}
            can_be_written = source.dialect.quoted or self._decimal != source.dialect.delimiter
            self._joiner = self._joined(**form, decimal=self._decimal if can_be_written else ".")
            header = RowJoiner(range(len(self._columns)), [True] * len(self._columns), **form)
            row = (names_text([column.name for column in self._columns]) + "\n").encode("utf-8", "surrogateescape")
            inside = source.header.rstrip(b"\r\n").count(b"\n")
            self._out += [source.mark, header.join(source.header, b"\0", [(0, inside)], row)]
        self._header = source.header

    def _joined(self, **form: Any) -> RowJoiner:
        return RowJoiner([c.place for c in self._columns], [c.type == "string" for c in self._columns], **form)

    def _check_names(self, names: Collection[str], source: str, line: int) -> None:
        """DataError for a column of the table that is called as one that is appended."""
        for column in self._columns:
            if column.name in names:
                raise DataError(f"there is a column {column.name} already: call the new one otherwise, as with "
                                f"--append-columns {column.known}={column.name}_new", source, line, 1)

    def _check_keys(self, parsed: Parsed, source: SourceText) -> None:
        if not any(key in source.text for key in self._keys):
            return
        for number, line in enumerate(source.text.split(b"\n"), parsed.batch.first_line):
            if any(key in line for key in self._keys):
                try:
                    keys = json.loads(line)
                except ValueError:
                    continue  # a bad line
                self._check_names(keys if isinstance(keys, dict) else (), parsed.batch.source, number)

    def _begin_arrow(self, parsed: Parsed) -> None:
        schema, source = parsed.rows.schema, parsed.batch.source
        if self._is_first(parsed, (parsed.format, schema)):
            self._check_names(schema.names, source, 1)
            self._arrow = _ArrowWriter(parsed.format, source, schema, self._columns)

    def rows(self, predictions: bytes) -> bytes:
        """The rows of the table that have these predictions, of the batch that was taken last."""
        parsed, self._parsed = self._parsed, None
        if parsed is not None and self._arrow is not None and parsed.rows is not None:
            self._arrow.write(parsed.rows, predictions, len(self._known))
        elif parsed is not None and self._joiner is not None and parsed.source is not None:
            kinds, breaks = parsed.batch.kind.tobytes(), parsed.batch.breaks
            self._out.append(self._joiner.join(parsed.source.text, kinds, breaks, predictions))
        found, self._out = self._out, []
        return b"".join(found) + (self._arrow.taken() if self._arrow is not None else b"")

    def end(self) -> None:
        """After the last batch: the next call of `rows` returns the rest."""
        self._parsed = None
        if self._arrow is not None:
            self._arrow.end()


class _ArrowWriter:
    """Writes batches of rows with their predictions as a file of Parquet or Arrow, into memory that `taken` empties."""

    def __init__(self, format: str, source: str, schema: Any, columns: Sequence[Column]) -> None:
        self._pa, self._csv = import_module("pyarrow"), import_module("pyarrow.csv")
        self._columns, self._file, self._waiting = columns, _Taken(), list[Any]()
        self._types = {str(c.place): self._pa.type_for_alias(c.type) for c in columns}
        fields = [self._pa.field(c.name, self._types[str(c.place)]) for c in columns]
        self._schema = self._pa.schema([*schema, *fields], metadata=schema.metadata)
        self._is_parquet = format == "parquet"
        if self._is_parquet:
            self._writer = import_module("pyarrow.parquet").ParquetWriter(self._file, self._schema)
        else:
            ipc = import_module("pyarrow.ipc")
            self._writer = (ipc.new_file if _is_file(source) else ipc.new_stream)(self._file, self._schema)

    def write(self, rows: Any, predictions: bytes, width: int) -> None:
        """The first of the rows, as many as have a prediction, in a row of `width` cells of CSV."""
        if not predictions:
            return
        csv = self._csv
        read = csv.ReadOptions(column_names=[str(k) for k in range(width)], use_threads=False)
        convert = csv.ConvertOptions(
            include_columns=[*self._types], column_types=self._types, null_values=[""], strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        found = csv.read_csv(BytesIO(predictions), read, csv.ParseOptions(newlines_in_values=True), convert)
        cells = [self._pa.concat_arrays(found[str(c.place)].chunks) for c in self._columns]
        try:
            arrays = [*rows.slice(0, len(found)).columns, *cells]
            self._waiting.append(self._pa.RecordBatch.from_arrays(arrays, schema=self._schema))
            if not self._is_parquet or sum(batch.nbytes for batch in self._waiting) >= ROW_GROUP:
                self._flush()
        except self._pa.ArrowException as e:
            raise DataError(f"--append: the table cannot be written: {shown(str(e).encode())}") from e

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_table(self._pa.Table.from_batches(self._waiting))
        self._waiting = []

    def taken(self) -> bytes:
        """What was written since the last call."""
        return self._file.take()

    def end(self) -> None:
        self._flush()
        self._writer.close()


class _Taken(BytesIO):
    """A file object for pyarrow, whose content is read while it is written."""

    _before = 0  # bytes that were taken

    def tell(self) -> int:
        return self._before + super().tell()

    def take(self) -> bytes:
        found = self.getvalue()
        self._before += len(found)
        self.seek(0)
        self.truncate()
        return found


def _is_file(source: str) -> bool:
    """Whether Arrow data are a file, not a stream."""
    if source == display_name("-"):
        return False
    with open(source, "rb") as file:
        return file.read(8).startswith(ARROW_FILE)
