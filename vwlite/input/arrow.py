"""Parquet and Arrow files among the sources: read with pyarrow, batch by batch, never the whole file.

A row is a line; errors name the row and the number of the column, both from 1. Labels are what their text
would be in VW text: the parser reads the distinct ones of each batch.
"""

import io
import math
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.core.tables.arrow import Frame
from vwlite.core.tables.cells import Cells, parts_of_time
from vwlite.core.tables.tables import TableParser
from vwlite.errors import DataError, NoInputError, VwliteError
from vwlite.input.diagnostics import IS_NUMBER, BadLine, a_time, about_time, shown
from vwlite.input.formats import ARROW_FILE
from vwlite.input.labels import LabelParser
from vwlite.input.parsing import REJECTED, Parsed, ParseOptions, Task, Tasks
from vwlite.input.reader import Block
from vwlite.input.schema import (
    GROUP,
    NAMES,
    SAMPLE,
    Schema,
    SchemaError,
    category_columns,
    index_columns,
    label_of,
    role_of,
    times_of,
)
from vwlite.input.sources import display_name
from vwlite.input.tables import Layout, TableReader, as_rows, lay_out
from vwlite.output.text import printable

if TYPE_CHECKING:
    from vwlite.input.part import Part

ROWS = 4096  # of a batch, if rows have many features each
FEATURES = 1 << 18  # of a batch, if each column has one
DICTIONARY, NUMBER = 1 << 20, 2.5  # bytes of the largest dictionary of a row group, and of a number of its words
WORDS = ("categorical", "label", "tag", GROUP)  # roles of columns whose numbers are words
EXACT = 1 << 53  # whole numbers up to here are what they were, as float64

# What a process reads as Parquet in place of standard input: a file that can be searched, these row groups of it, and
# these columns, or all.
row_groups: tuple[Any, Sequence[int], Sequence[str] | None] | None = None


@dataclass(slots=True)
class ArrowRows:
    """Some rows of a file, on the way to a batch."""

    batch: Any  # a pyarrow.RecordBatch
    layout: Layout


def rows_of(
    source: str, format: str, index: int, table: TableReader, stop: Callable[[], bool], *, whole: bool = False,
    part: "Part | None" = None,
) -> Tasks:
    """The rows of a file, some at a time. DataError for a file that is not whole, or whose columns do not fit. whole:
    with all columns, as they are. part: those of it alone."""
    pa = library(source, format)
    name, row, read = display_name(source), 1, 0
    try:
        all_columns = whole or table.as_rows
        columns, batches = _opened(pa, source, format, all_columns)
        layout = _layout(name, Frame(pa.RecordBatchReader.from_batches(columns, []).__arrow_c_stream__()), table)
        needed = columns.names if all_columns else _needed(columns.names, layout)
        size = ROWS if "text" in layout.schema.roles.values() else max(1, FEATURES // max(1, len(needed)))
        for batch in batches(needed, size):
            batch.validate(full=True)  # offsets are used as they are from here on
            if part is not None:
                read, batch = read + batch.num_rows, part.rows(name, batch, read + 1)
            texts = {name for name, role in layout.schema.roles.items() if role == "text"}
            table.look_at_values(partial(_values_of, batch, category_columns(columns.metadata or {}), texts))
            layout = layout.by_first_rows()
            for begin in range(0, batch.num_rows, size):
                if stop():
                    return
                block = Block(b"", name, index, row)
                moved = _moved(layout, columns.names, batch.schema.names)
                yield Task(block, format, ArrowRows(batch.slice(begin, size), moved))
                row += min(size, batch.num_rows - begin)
        if whole and row == 1:
            empty = pa.RecordBatch.from_arrays([pa.array([], kind) for kind in columns.types], schema=columns)
            yield Task(Block(b"", name, index, row), format, ArrowRows(empty, layout))
    except broken(pa) as e:
        raise incomplete(name, format, e, row) from e


def broken(pa: Any) -> tuple[type[Exception], ...]:
    """What reading a damaged file raises."""
    return pa.ArrowException, ValueError, EOFError, OSError, OverflowError, MemoryError


def incomplete(name: str, format: str, e: Exception, row: int = 1) -> VwliteError:
    """What to raise for one of these. name: of the file."""
    if isinstance(e, OSError) and e.errno:
        return NoInputError(f"{name}: {e.strerror}")
    why = str(e) or "a part is larger than memory"
    return DataError(f"not a complete file of {format.capitalize()}: {shown(why.encode())}", name, row, 1)


def library(source: str, format: str) -> Any:
    """pyarrow. DataError if it is not there. source: what it is to read."""
    try:
        return import_module("pyarrow")
    except ImportError:
        why = f"a file of {format}: pip install 'vwlite[arrow]', or write it as CSV"
        raise DataError(why, display_name(source), 1, 1) from None


def _opened(pa: Any, source: str, format: str, whole: bool) -> tuple[Any, Callable[[list[str], int], Iterator[Any]]]:
    """The columns of a file, and its batches with the required ones, of this many rows unless it has batches
    of its own. whole: all are required, with the types that they have."""
    if format == "parquet":
        stored, groups, names = row_groups if source == "-" and row_groups else (source, None, None)
        if stored == "-" or (stored == source and not stat.S_ISREG(os.stat(source).st_mode)):
            raise DataError(f"{display_name(source)}: Parquet is read from its end, so it cannot come from a pipe")
        file = parquet_file(stored, whole=whole)
        columns = file.schema_arrow
        if names is not None:
            columns = pa.schema([field for field in columns if field.name in names], columns.metadata)
        return columns, lambda needed, rows: file.iter_batches(rows, groups, needed)
    ipc = import_module("pyarrow.ipc")
    if source == "-":
        reader = ipc.open_stream(pa.PythonFile(open(0, "rb", closefd=False)))
        return reader.schema, lambda needed, rows: (batch.select(needed) for batch in reader)
    stream = pa.OSFile(source)  # not a memory map: a file that becomes shorter would end the process by SIGBUS
    is_file = stream.read(8).startswith(ARROW_FILE)
    open_reader = ipc.open_file if is_file else ipc.open_stream
    stream.seek(0)
    reader = open_reader(stream)

    def batches(needed: list[str], rows: int) -> Iterator[Any]:
        fields = [i for i, name in enumerate(reader.schema.names) if name in needed]
        stream.seek(0)
        found = open_reader(stream, options=ipc.IpcReadOptions(included_fields=fields))
        for batch in map(found.get_batch, range(found.num_record_batches)) if is_file else found:
            yield batch.select(needed)

    return reader.schema, batches


def parquet_file(stored: Any, *, whole: bool) -> Any:
    """A pyarrow.parquet.ParquetFile. stored: a path, or a file that can be searched. whole: as of `_opened`."""
    parquet = import_module("pyarrow.parquet")
    file = parquet.ParquetFile(stored)
    size = os.stat(stored).st_size if isinstance(stored, str) else stored.seek(0, os.SEEK_END)
    _check_chunks(parquet, size, file.metadata)
    coded = [] if whole else _dictionaries(file)
    return parquet.ParquetFile(stored, metadata=file.metadata, read_dictionary=coded, page_checksum_verification=True)


class _Unread(io.BytesIO):
    """A file of this size. Reading raises EOFError."""

    def __init__(self, size: int) -> None:
        self._size = size

    def seek(self, at: int, whence: int = os.SEEK_SET) -> int:
        return at + self._size * (whence == os.SEEK_END)

    def tell(self) -> int:
        return self._size

    def read(self, size: int | None = -1) -> bytes:
        raise EOFError


def _check_chunks(parquet: Any, size: int, metadata: Any) -> None:
    """ArrowException if the metadata of a column is damaged. To look at it from Python would end the process then, as
    pyarrow does not catch what its C++ library throws there; a reader does, when it plans what to read."""
    with suppress(EOFError), _Unread(size) as unread:
        next(parquet.ParquetFile(unread, metadata=metadata, pre_buffer=True).iter_batches(batch_size=1), None)


def _dictionaries(file: Any) -> list[str]:
    """The columns of a Parquet file that are dictionary-encoded in all row groups: their pages are small."""
    meta = file.metadata
    words = {field.name for field in file.schema_arrow if str(field.type) in ("string", "large_string")}
    small = set(words)
    for group in map(meta.row_group, range(meta.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            size = column.total_uncompressed_size - DICTIONARY
            if not column.has_dictionary_page or size > NUMBER * column.num_values:
                small.discard(column.path_in_schema)
    return [name for name in file.schema_arrow.names if name in small]


def _layout(source: str, frame: Frame, table: TableReader) -> Layout:
    if table.as_rows:
        return as_rows(table, source, frame.names)
    where, index = (source, 1, 1), index_columns(frame.names, frame.metadata)
    if table.schema is None:
        try:
            schema = table.options.decide(
                frame.names, frame.numeric, index, category_columns(frame.metadata), times_of(frame))
        except SchemaError as e:
            raise DataError(str(e), *where) from None
        table.decide(schema, where)
    elif undecided := {*table.undecided}:
        categories = category_columns(frame.metadata)
        times = times_of(frame)
        table.take_roles({name: "time" if name in times else role_of(is_number and name not in categories)
                          for name, is_number in zip(frame.names, frame.numeric, strict=True)
                          if name in undecided and is_number is not None}, source)
    return lay_out(table, source, where, frame.names, index=index)


def _values_of(batch: Any, categories: set[str], texts: set[str]) -> dict[str, list[Any]]:
    """The first values of columns of large numbers, of words that are not categories, and of texts."""
    words = ("string", "large_string", "dictionary<values=string, indices=int32, ordered=0>")
    kinds = ("int64", "uint64", "double", *words)
    return {name: column[:SAMPLE].to_pylist() for name, column in zip(batch.schema.names, batch.columns, strict=True)
            if name in texts or (str(column.type) in kinds and name not in categories)}


def _needed(names: list[str], layout: Layout) -> list[str]:
    """The columns of a file that the layout needs."""
    roles = list(layout.schema.roles.values())
    return [names[i] for i, role in zip(layout.positions, roles, strict=True) if i >= 0 and role != "drop"]


def _moved(layout: Layout, names: list[str], read: list[str]) -> Layout:
    """The layout among the columns that were read."""
    at = {name: i for i, name in enumerate(read)}
    positions = tuple(at.get(names[i], -1) if i >= 0 else -1 for i in layout.positions)
    return replace(layout, positions=positions, width=len(read))


class ArrowParsing:
    """Makes batches of rows, as LineParsing does of lines. For one thread."""

    def __init__(self, format: str, options: ParseOptions) -> None:
        self._format, self._options = format, options
        self._labels: LabelParser | None = None
        self._unfit: dict[str, str] = {}  # labels of the last block that the model cannot use, and where they are first
        self._cells: tuple[Any, Cells] | None = None
        self._kept: tuple[Any, Layout] | None = None  # the rows of the last batch: a pyarrow.RecordBatch or Table

    rows_of = staticmethod(rows_of)

    def parse(self, task: Task, batch: Batch) -> Parsed:
        """Fill the batch, or create VW text if required. A bad row keeps its place in the batch, but not in the text;
        if they are not skipped, the first ends both."""
        block, o, layout = task.block, self._options, task.context.layout
        found, rejected, as_text = task.context.batch, None, layout.table.as_text
        parsed = Parsed(batch, [], block.done, block.total, rows=found if o.keeps_text else None, format=self._format)
        frame = Frame(found.__arrow_c_stream__())
        labels, bad = (None, {}) if as_text else self._labels_of(block, frame, found, layout)
        importance, worse = self._importance_of(block, frame, found, layout)
        cells, places = self._cells_of(layout), layout.positions
        columns: dict[str, Any] = {"tag": max(map(layout.place_of, ("tag", GROUP))),
                                   "spaces": o.spaces or o.derives or o.samples}
        try:
            frame.prepare(cells, places, label=labels, importance=importance, **columns)
            wrong = {**self._not_finite(block, found, layout), **self._bad_words(block, frame, found, layout)} \
                if frame.check() else {}
            faults = {**wrong, **worse, **bad}
            parsed.bad = [faults[i] for i in sorted(faults)]
            if faults:
                end = len(frame) if o.skip else min(faults)
                parsed.bad, found = parsed.bad if o.skip else parsed.bad[:1], found.slice(0, end)
                labels, importance = (None if x is None else x[:end] for x in (labels, importance))
                rejected = np.zeros(end, dtype=bool)
                rejected[[i for i in faults if i < end]] = True
                frame = Frame(found.__arrow_c_stream__())
                frame.prepare(cells, places, label=labels, importance=importance, rejected=rejected, **columns)
        except ValueError as e:
            said = str(e).replace("with drop", "with --drop").replace("with time", "with --time")
            raise DataError(said, block.source, 1, 1) from None
        if as_text:
            if rejected is not None:
                plain = [as_plain(column) for column in found.columns]  # pyarrow cannot filter views
                found = import_module("pyarrow").table(plain, names=found.schema.names).filter((~rejected).tolist())
            parsed.text, lines, parsed.escaped = self._as_text(found, layout)
            assert REJECTED not in bytes(lines.kind), "a row has no text"
            return parsed
        frame.fill(batch, 0, whole=True)
        parsed.log = cells.take_log()
        layout.table.count_absents(layout.schema, cells.take_absents())
        self._kept = found, layout
        parsed.unfit = self._unfit
        return parsed

    def converter(self, task: Task) -> Callable[[], tuple[bytes, Batch]]:
        """VW text of the last batch, and the kinds of its lines: bad ones are not in the text."""
        assert self._kept is not None
        kept = self._kept
        return lambda: self._as_text(*kept)[:2]

    def _cells_of(self, layout: Layout) -> Cells:
        if self._cells is None or self._cells[0] is not layout.schema:
            schema = layout.schema
            cells = Cells(schema.cells, missing=schema.missing, hash_all=self._options.hash_all,
                          notation=schema.notation, zeros=self._options.derives, logs=self._options.logs,
                          **schema.names_of_cells)
            self._cells = (schema, cells)
        return self._cells[1]

    def _labels_of(self, block: Block, frame: Frame, found: Any, layout: Layout) -> tuple[Any, dict[int, BadLine]]:
        """The label of each row, NaN where it is missing; rows whose label is invalid."""
        at, self._unfit = layout.place_of("label"), {}
        if at < 0:
            return None, {}
        name, pa = layout.schema.name_of("label"), import_module("pyarrow")
        missing = _missing_words(layout)
        try:
            texts, indices = _distinct(frame, found, at, layout.schema)
            texts = [b"" if text in missing else text for text in texts]
        except pa.ArrowException:
            raise DataError(
                f"column {name}: a label is a number or a word, not {_kind_of(found.column(at))}: convert it, or "
                "choose another --label", block.source, block.first_line, at + 1,
            ) from None
        self._labels = self._labels or LabelParser(self._options)
        values, said = self._labels.parse(texts, str(name))
        as_text = [text.decode("utf-8", "surrogateescape") for text in texts]
        rows = {label: int(np.argmax(indices == as_text.index(label))) for label in self._labels.unfit}
        self._unfit = {label: f"{block.source}:{self._options.line(block.source, block.first_line + row)}"
                       for label, row in rows.items()}
        faults = {
            int(i): BadLine(block.source, block.first_line + int(i), at + 1, said[indices[i]])
            for i in np.flatnonzero(np.isin(indices, list(said)))
        }
        return values[indices], faults

    def _importance_of(self, block: Block, frame: Frame, found: Any, layout: Layout) -> tuple[Any, dict[int, BadLine]]:
        at = layout.place_of("importance")
        if at < 0:
            return None, {}
        name, missing = layout.schema.name_of("importance"), _missing_words(layout)
        words: list[str] = []
        places = np.empty(len(frame), dtype=np.int64)
        known = frame.distinct(at, places)
        if known is not None and all(isinstance(x, float) or (isinstance(x, int) and abs(x) <= EXACT) for x in known):
            values = np.array([*known, 1.0], dtype=np.float64)
            if b"nan" in missing:
                values[np.isnan(values)] = 1.0
            values = values[places]
        else:
            pa = import_module("pyarrow")
            column = as_plain(found.column(at))
            words = column.to_pylist() if pa.types.is_string(column.type) else []
            try:
                f64 = pa.float64()
                numbers = pa.array((_number(w, missing) for w in words), f64) if words else column.cast(f64, safe=False)
            except pa.ArrowException:
                raise DataError(
                    f"column {name}: an importance is a number, not {_kind_of(column)}: convert it, or leave "
                    "--importance out", block.source, block.first_line, at + 1,
                ) from None
            values = numbers.fill_null(1.0).to_numpy(zero_copy_only=False)
        faults = {}
        for i in np.flatnonzero(~(np.isfinite(values) & (values >= 0))).tolist():
            said = f"'{shown(words[i].encode())}'" if words else f"{values[i]:g}"
            why = f"column {name}: importance {said} is negative or not finite"
            faults[i] = BadLine(block.source, block.first_line + i, at + 1, why)
        return np.ascontiguousarray(values), faults

    def _not_finite(self, block: Block, found: Any, layout: Layout) -> dict[int, BadLine]:
        """Rows with a number that no feature can have."""
        pa, without_nan = import_module("pyarrow"), "nan" in layout.schema.missing_typed
        faults = {}
        for (name, role), at in zip(layout.schema.roles.items(), layout.positions, strict=True):
            if at < 0 or role not in ("numeric", "auto") or not pa.types.is_floating(found.column(at).type):
                continue
            with np.errstate(over="ignore"):
                values = found.column(at).cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
                bad = np.flatnonzero(~np.isfinite(values.astype(np.float32)) & ~(np.isnan(values) & without_nan))
            for i in bad:
                large = np.isfinite(values[i])
                why = "is too large for a 32-bit float" if large else "is not a number; use null for missing values"
                words = f"column {name}: '{values[i]:g}' {why}"
                faults[int(i)] = BadLine(block.source, block.first_line + int(i), at + 1, words)
        return faults

    def _bad_words(self, block: Block, frame: Frame, found: Any, layout: Layout) -> dict[int, BadLine]:
        """Rows with an invalid time in a time column, or a word in a numeric one."""
        faults = {}
        for (name, role), at in zip(layout.schema.roles.items(), layout.positions, strict=True):
            looked_at = at >= 0 and role in ("time", "numeric")
            for i in frame.bad_cells(at, times=role == "time") if looked_at else ():
                value = found.column(at)[i]
                while hasattr(value, "value"):  # of a dictionary; or the number that a date is, as its year may be any
                    value = value.value
                cell, format = str(value).encode(), layout.schema.time_format
                why = f"is not a time: expected {a_time(format)}" if role == "time" else "is not a number of 32 bits"
                advice = about_time(cell, format) if role == "time" else ""
                words = f"column {name}: '{shown(cell)}' {why}"
                faults[i] = BadLine(block.source, block.first_line + i, at + 1, words, advice=advice)
        return faults

    def _as_text(self, found: Any, layout: Layout) -> tuple[bytes, Batch, int]:
        """VW text, made from the batch as CSV, the kinds of its lines, and how many names are escaped."""
        pa, csv = import_module("pyarrow"), import_module("pyarrow.csv")
        plain = [as_plain(column) for column in found.columns]
        for at, role in zip(layout.positions, layout.schema.roles.values(), strict=True):
            is_word = at >= 0 and (role in WORDS or pa.types.is_dictionary(found.column(at).type))
            if is_word and (pa.types.is_floating(plain[at].type) or pa.types.is_decimal(plain[at].type)):
                plain[at] = _as_words(pa, plain[at], layout.schema)
        for at, role in zip(layout.positions, layout.schema.roles.values(), strict=True):
            if at < 0 or role != "time":
                continue
            if getattr(found.column(at).type, "tz", None) and layout.schema.has_wide_times:
                plain[at] = self._local_times(found, at, layout)
            if layout.schema.time_format and not pa.types.is_temporal(plain[at].type):
                plain[at] = _as_iso(pa, plain[at], layout.schema)
        for at in (layout.place_of("label"), layout.place_of("importance")):
            if at >= 0 and pa.types.is_boolean(plain[at].type):
                plain[at] = plain[at].cast(pa.int8())  # true as a number, which it is elsewhere
        out = pa.BufferOutputStream()
        try:
            csv.write_csv(
                pa.table(plain, names=found.schema.names), out, csv.WriteOptions(include_header=False)
            )
        except pa.ArrowException as e:
            raise DataError(shown(str(e).encode()), layout.source, 1, 1) from e
        parser = TableParser("csv", stop_at_fault=not self._options.skip)
        schema = layout.schema
        kinds = found.schema.types
        coded = {name for name, at in zip(schema.roles, layout.positions, strict=True)
                 if at >= 0 and pa.types.is_dictionary(kinds[at])}
        roles = {name: "categorical" if role == "auto" and name in coded else role
                 for name, role in schema.roles.items()}
        cells = Cells(
            replace(schema, roles=roles).cells, missing=schema.missing_typed, as_text=True,
            **{**schema.names_of_cells, "time_format": ""},
        )
        parser.set_table(cells, layout.positions, layout.width, ",")
        lines = Batch()
        parser.parse(memoryview(out.getvalue()), lines)
        return bytes(parser.take_text()), lines, int(parser.take_escaped())


    def _local_times(self, found: Any, at: int, layout: Layout) -> Any:
        """A column of times whose type has a zone, as its clocks show them."""
        pa, column = import_module("pyarrow"), found.column(at)
        frame = Frame(found.__arrow_c_stream__())
        frame.prepare(self._cells_of(layout), layout.positions)
        ticks = np.empty(len(frame), np.int64)
        frame.local_ticks(at, ticks)
        mask = np.asarray(column.is_null())
        return pa.array(ticks, mask=mask).cast(pa.timestamp(column.type.unit))


def as_plain(column: Any) -> Any:
    """The column in a type that all functions of pyarrow take: not a dictionary, views or floats of 16 bits."""
    pa = import_module("pyarrow")

    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        if "view" in str(kind):
            column = pa.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(pa.string()))
    is_words = "string_view" in str(kind) or pa.types.is_large_string(kind)
    kind = pa.string() if is_words else pa.float32() if pa.types.is_float16(kind) else kind
    if pa.types.is_timestamp(kind) or pa.types.is_date64(kind):  # in UTC, and a date without a time
        kind = pa.date32() if pa.types.is_date64(kind) else pa.timestamp(kind.unit)
    return column.cast(kind)


def _as_words(pa: Any, column: Any, schema: Schema) -> Any:
    """A column of numbers as words, which are missing where the numbers are."""
    coded = (column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column).dictionary_encode()
    large, narrow = _large(schema), column.type == pa.float32()
    words = [None if x != x and "nan" in schema.missing_typed else text_of(x, narrow, large).decode()
             for x in map(float, coded.dictionary.to_pylist())]
    return pa.array(words, pa.string()).take(coded.indices)


def _as_iso(pa: Any, column: Any, schema: Schema) -> Any:
    """A column of times in the format of a schema, in ISO 8601. Other words stay."""
    format, found = schema.time_format.encode(), list[str | None]()
    for x in column.to_pylist():
        word = None if x is None else text_of(x, False, 16).decode() if isinstance(x, float) else str(x).strip()
        parts = parts_of_time(word.encode("utf-8", "surrogatepass"), format) if word else None
        if parts:
            year, month, day, hour, _ = parts
            word = f"{year:04}-{month:02}" + (f"-{day:02}" if day else "") + ("" if hour is None else f"T{hour:02}")
        found.append(word)
    return pa.array(found, pa.string())


def _kind_of(column: Any) -> str:
    return f"a value of the Arrow type {printable(str(column.type))}"


def _missing_words(layout: Layout) -> set[bytes]:
    """The words that mean a missing label or importance."""
    words = (word.encode("utf-8", "surrogateescape") for word in layout.schema.missing_typed)
    return {word for word in words if not IS_NUMBER.fullmatch(word)}


def _number(word: str | None, missing: set[bytes]) -> float | None:
    """An importance; None if missing; NaN if invalid."""
    word = (word or "").strip(" \t\r\n")
    if word.encode() in missing:
        return None
    try:
        return float(word if word.isascii() and "_" not in word else "nan") if word else None
    except ValueError:
        return math.nan


def _distinct(frame: Frame, found: Any, place: int, schema: Schema) -> tuple[Sequence[bytes], Any]:
    """The distinct values of the labels as they are in text, and which of them each row has; nothing for null."""
    numbers = np.empty(len(frame), dtype=np.int64)
    values = frame.distinct(place, numbers)
    if values is None:  # of a type that only pyarrow knows
        dictionary = found.column(place).dictionary_encode()
        pa = import_module("pyarrow")
        texts = [_word(text or "", schema) for text in dictionary.dictionary.cast(pa.string()).to_pylist()]
        return [*texts, b""], dictionary.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    narrow, large = str(found.schema.field(place).type) in ("float", "halffloat"), _large(schema)
    # The last one is for null, whose index is -1.
    words = (_word(x.decode("utf-8", "surrogateescape"), schema) if isinstance(x, bytes)
             else text_of(x, narrow, large) for x in values)
    return [*words, b""], numbers


def _large(schema: Schema) -> int:
    """The power of ten from which on a number has an exponent as a word, as in cython_ext/tables/arrow.pyx."""
    return 16 if schema.has_wholes else 10


def text_of(value: float, narrow: bool, large: int) -> bytes:
    """A word or a label that is a number, with an exponent from 10^large on; if that is 10, as pyarrow writes it into
    CSV. narrow: of a float of 32 bits."""
    if isinstance(value, int) or (value.is_integer() and 0 < abs(value) < (1 << 24 if narrow else 10**large)):
        return b"%d" % value
    text = str(np.float32(value)) if narrow else repr(value)
    if not math.isfinite(value) or ("e" not in text and abs(value) < 10**large and not value.is_integer()):
        return text.encode()
    from decimal import Decimal  # not at the top: few labels are fractions

    number = Decimal(text).normalize()
    return format(number, "f" if -7 < number.adjusted() < large else "e").encode()


def _word(text: str, schema: Schema) -> bytes:
    """A label that is a word."""
    text = text.strip(" \t\r\n")
    return (label_of(text) if schema.names == NAMES[0] else text).encode("utf-8", "surrogateescape")
