"""The rows of DATA as they are, for commands that copy them."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from vwlite.core.tables.tables import split
from vwlite.errors import DataError
from vwlite.input.diagnostics import EXPLAINED
from vwlite.input.formats import BINARY, BOM, NO_TEXT, OF_TEXT, Dialect
from vwlite.input.parsing import ParseOptions, Task
from vwlite.input.pipeline import tasks
from vwlite.input.schema import RoleOptions, no_column
from vwlite.input.tables import TableReader

_BLANKS = b" \t\r\n"
_COSTS = re.compile(rb"^\s*(?:shared\s|[-+.\deE]+:)", re.M)  # in an example of several lines, which a blank one ends
_BLANK_LINES = re.compile(rb"(\n[ \t\r\n]*)\n")


@dataclass
class Rows:
    """Some rows of a source. texts: their bytes without the last line end. values: of the column that was asked for,
    without blanks at their ends. batch: in place of texts, a pyarrow.RecordBatch. data: all bytes, with blank lines,
    which are no rows."""

    source: str
    format: str
    first_line: int = 1
    data: bytes = b""
    column: str = ""
    place: int = -1  # of the column
    texts: list[bytes] = field(default_factory=list)
    values: list[bytes] = field(default_factory=list)
    header: bytes = b""
    dialect: Dialect = NO_TEXT
    batch: Any = None
    done: int = 0  # bytes of input read so far
    total: int | None = None  # bytes of all input, if known

    @property
    def keys(self) -> list[bytes]:
        """What of rows is hashed: their bytes, with LF as line ends; of binary formats, their values in Python."""
        if self.batch is not None:
            return [repr(row).encode() for row in zip(*map(_values_of, self.batch.columns), strict=True)]
        if b"\r" not in self.data:
            return self.texts
        return [text.replace(b"\r\n", b"\n").removesuffix(b"\r") for text in self.texts]

    @property
    def are_times(self) -> bool:
        """Whether the values have a type of times."""
        return self.batch is not None and import_module("pyarrow").types.is_temporal(self.batch.column(self.place).type)

    @property
    def lines(self) -> list[int]:
        """The first line of each row in its source."""
        if self.batch is not None:
            return [*range(self.first_line, self.first_line + self.batch.num_rows)]
        found, at, line = [], 0, self.first_line
        for text in self.texts:
            begin = max(self.data.find(text, at), at)
            line += self.data.count(10, at, begin)
            found.append(line)
            at = begin + len(text)
            line += text.count(10)
        return found

    def bad(self, row: int, why: str, *, value: bool = True) -> DataError:
        """The error about a value, or about the row."""
        if self.batch is not None:
            return DataError(f"{self.source}:{self.first_line + row}:{self.place + 1}: column {self.column}: {why}")
        text, at, begin = self.texts[row], 0, 0
        for other in self.texts[:row]:
            at = self.data.index(other, at) + len(other)
        at = self.data.index(text, at)
        if value and self.dialect.delimiter:
            ends = (end.end() for end in re.finditer(re.escape(self.dialect.delimiter.encode()), text))
            cells = ((end, split(text[: end - 1], *self.dialect)[0][0] or ()) for end in ends if self.place)
            begin = next((end for end, found in cells if len(found) == self.place), 0)
        before = self.data[: at + begin]
        where = f"{self.source}:{self.first_line + before.count(10)}:{len(before) - before.rfind(10)}"
        return DataError(f"{where}: " + f"column {self.column}: " * value + why)


def rows_of(
    data: Sequence[str], format: str, given: RoleOptions, option: str, column: str | None, stop: Callable[[], bool]
) -> Iterator[Rows]:
    """The rows of DATA, with the values of a column, if an option names one. DataError."""
    named = () if format in OF_TEXT else (*given.roles(), *filter(None, [column]))
    table = TableReader(RoleOptions(
        drop=named, names=given.names, no_header=given.no_header,
        delimiter=given.delimiter, quote=given.quote, escape=given.escape,
    ), as_rows=True)
    source, several, rest = -1, False, b""
    for task in tasks(data, ParseOptions(format=format, table=table), stop):
        if not isinstance(task, Task):
            raise DataError(task.message, task.source, task.line, 1)
        block, layout = task.block, task.context
        rows = Rows(block.source, task.format, block.first_line, bytes(block.data), column or "")
        rows.done, rows.total = block.done, block.total
        block.release()
        if task.format in BINARY:
            layout, rows.batch = layout.layout, layout.batch
        elif not rows.data.strip():
            continue
        if column and task.format != "jsonl":
            names = list(layout.schema.roles) if layout is not None and not layout.lines else []
            if column not in names:
                why = no_column(column, names, is_table=True) if names else f"{task.format} text has no columns"
                raise DataError(f"{rows.source}:1:1: {option} {column}: {why}")
            rows.place = layout.positions[names.index(column)]
        if rows.batch is not None:
            found = _values_of(rows.batch.column(rows.place)) if column else []
            rows.values = [b"" if x is None or x != x else str(x).strip().encode() for x in found]
        elif layout is not None and layout.dialect.delimiter:
            rows.header, rows.dialect = layout.header, layout.dialect
            _take_records(rows, layout.width)
        else:
            if block.source_index != source:
                yield from _last(rest)
                source, rest, rows.data = block.source_index, b"", rows.data.removeprefix(BOM)
                first = _BLANK_LINES.split(rows.data.lstrip(), maxsplit=1)[0]
                several = task.format == "vw" and _COSTS.search(first) is not None
            if several:
                *whole, rest = _BLANK_LINES.split(rest + rows.data)
                rows.texts = [a + b for a, b in zip(whole[::2], whole[1::2], strict=True)]
            else:
                rows.texts = [line for line in rows.data.split(b"\n") if line.strip()]
            rows.values = [_value_of_json(rows, row) for row in range(len(rows.texts))] if column else []
        yield rows
    yield from _last(rest)


def _last(rest: bytes) -> Iterator[Rows]:
    """An example of several lines at the end of a source."""
    if text := rest.strip():
        yield Rows("", "vw", data=text, texts=[text + b"\n"])


def _take_records(rows: Rows, width: int) -> None:
    """Cut a block into records, with the values of the column. DataError for one that has none."""
    d, data = rows.dialect, rows.data
    blanks, cells = _BLANKS.replace(d.delimiter.encode(), b""), list[list[bytes]]()
    lines = [line for line in data.split(b"\n") if line.strip(blanks)]
    # The first line of a record of several lines has an odd number of quotes.
    is_plain = b'"' not in data or (not rows.column and not any(line.count(b'"') % 2 for line in lines))
    if not d.escape and (is_plain or not d.quoted):
        rows.texts = lines
        cells = [line.split(d.delimiter.encode()) for line in lines] if rows.column else []
    else:
        found = split(data, *d, most=len(data))
        ends = [begin for _, begin, _ in found[1:]] + [len(data)]
        for (record, begin, why), end in zip(found, ends, strict=True):
            if (text := data[begin:end].removesuffix(b"\n")).strip(blanks):
                rows.texts.append(text)
                cells.append(record)
                if record is None and rows.column:
                    raise rows.bad(len(cells) - 1, EXPLAINED[why], value=False)
    header = rows.header.strip(_BLANKS)
    for row, text in enumerate(rows.texts if width > 1 and header and header in data else ()):
        if len(text) >= len(header) and text.removeprefix(BOM).strip(_BLANKS) == header:
            raise rows.bad(row, EXPLAINED["header again"], value=False)
    for row, record in enumerate(cells if rows.column else ()):
        if len(record) != width:
            raise rows.bad(row, f"a row of {len(record)} cells, but there are {width} columns", value=False)
        rows.values.append(record[rows.place].strip(_BLANKS))


def _value_of_json(rows: Rows, row: int) -> bytes:
    try:
        value = json.loads(rows.texts[row]).get(rows.column)
    except (ValueError, AttributeError, RecursionError):
        raise rows.bad(row, EXPLAINED["JSON object"], value=False) from None
    if isinstance(value, list | dict):
        raise rows.bad(row, EXPLAINED["JSON kind"])
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value)
    return text.strip().encode("utf-8", "surrogatepass")


def _values_of(column: Any) -> list[Any]:
    """Those of an Arrow array; times as text."""
    pa = import_module("pyarrow")
    return list((column.cast(pa.string()) if pa.types.is_temporal(column.type) else column).to_pylist())
