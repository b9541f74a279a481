"""Parts of the data: examples by the value of a column, or by the text of a namespace."""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from vwlite.core.tables.tables import split
from vwlite.core.text.numbers import whole
from vwlite.errors import DataError, UsageError
from vwlite.input.json_text import loads
from vwlite.input.parsing import FrameRows, Parsed, SourceText

MOST = 200  # slices; all later values share one more
LONGEST = 60  # characters of a name
NONE, OTHERS = "(none)", "(others)"


def _text(cell: bytes) -> str:
    return cell.strip().decode("utf-8", "replace")


class Slices:
    """Numbers the slices in the order of the data."""

    def __init__(self, by: str) -> None:
        self._by, self._found = by, False
        self._numbers: dict[str, int] = {}
        self._namespace = re.compile(rb"\|" + re.escape(by.encode()) + rb"(?::\S+)?(?: ([^|]*)|(?=\||$))")

    @property
    def names(self) -> list[str]:
        return list(self._numbers)

    def of(self, parsed: Parsed, rows: Sequence[int], columns: Sequence[str]) -> npt.NDArray[np.int64]:
        """The number of the slice of each row. columns: of tables without a header."""
        return np.array([*map(self._number, self.cells(parsed, rows, columns))], dtype=np.int64)

    def cells(self, parsed: Parsed, rows: Sequence[int], columns: Sequence[str]) -> list[str]:
        """The text of the cells of rows. UsageError if there is none."""
        if isinstance(parsed.rows, FrameRows):
            self._found = True
            return parsed.rows.texts(self._by, rows)
        if parsed.rows is not None:
            return self._of_arrow(parsed.rows, rows)
        if parsed.source is None:
            raise UsageError("--by needs lines of text: convert these data with vwlite convert")
        return self._values(parsed.source, parsed.source.lines_of(parsed.batch, rows), columns)

    def check(self) -> None:
        """DataError if no line had the column or namespace of the slices."""
        if not self._found:
            raise DataError(f"--by {self._by}: no line has a column, key or namespace of that name")

    def _number(self, value: str) -> int:
        word = whole(" ".join(value.split()).encode("utf-8", "surrogatepass"))
        value = word.decode("utf-8", "surrogatepass")[:LONGEST] or NONE
        if value not in self._numbers and len(self._numbers) >= MOST:
            value = OTHERS
        return self._numbers.setdefault(value, len(self._numbers))

    def _values(self, source: SourceText, lines: Sequence[bytes], columns: Sequence[str]) -> list[str]:
        if source.dialect.delimiter:
            names = [_text(cell) for cell in split(source.header, *source.dialect)[0][0]] if source.header else columns
            at = self._place(names)
            records = split(b"\n".join(lines), *source.dialect, most=len(lines))
            return [_text(row[at]) for row, _, _ in records]
        if source.format == "jsonl":
            return [self._of_json(loads(line.decode("utf-8", "replace"))) for line in lines]
        if source.format != "vw":
            raise UsageError(f"--by: {source.format} has neither columns nor namespaces")
        return [self._of_namespaces(line) for line in lines]

    def _place(self, names: Sequence[str]) -> int:
        if self._by not in names:
            raise UsageError(f"--by {self._by}: there is no such column; there are {', '.join(names[:20])}")
        self._found = True
        return list(names).index(self._by)

    def _of_arrow(self, batch: Any, rows: Sequence[int]) -> list[str]:
        column = batch.column(self._place(batch.schema.names))
        try:
            cells = column.cast("string").to_pylist()
        except (NotImplementedError, ValueError):
            raise UsageError(f"--by {self._by}: a column of {column.type}, whose cells are no words") from None
        return [cells[row] or "" for row in rows]

    def _of_json(self, row: dict[str, Any]) -> str:
        if self._by not in row or row[self._by] is None:
            return ""
        self._found = True
        value = row[self._by]
        return value if isinstance(value, str) else json.dumps(value)

    def _of_namespaces(self, line: bytes) -> str:
        found = self._namespace.search(line)
        if found is None:
            return ""
        self._found = True
        return (found[1] or b"").decode("utf-8", "replace")
