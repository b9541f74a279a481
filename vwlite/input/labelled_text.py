"""Lines of text as fastText has them, `__label__x where is my card`; or the text alone, for a model of one text column.

They are parsed as rows of a table of a label and a text.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from vwlite.errors import DataError, Where
from vwlite.input.formats import LABEL, TEXT
from vwlite.input.parsing import Columns, SourceBlocks
from vwlite.input.schema import OPTIONAL, RoleOptions, listed
from vwlite.input.table_text import FirstLines, TableParsing
from vwlite.input.tables import Layout, TableReader

_CELLS = re.compile(rb"\s*(?:__label__(\S*)\s*)?(.*)", re.DOTALL)


def columns_of(lines: Iterable[bytes]) -> dict[str, Iterable[bytes]]:
    """The cells of lines."""
    cells = [match.groups(b"") for match in map(_CELLS.match, lines) if match]
    return dict(zip((LABEL, TEXT), zip(*cells, strict=True), strict=False))


class LabelledText(TableParsing):
    """Parses such lines."""

    @staticmethod
    def blocks_of(format: str, source: str, columns: Columns, *, named: bool, tells_empty: bool) -> SourceBlocks:
        table = columns()
        decides = table.schema is None and not table.as_rows
        return LabelledBlocks(format, _layout(format, (source, 1, 1), table), decides)


class LabelledBlocks(FirstLines):
    """The blocks of one source of such lines, of which the first decide how texts become words."""

    def _decided(self, lines: bytes) -> Layout:
        self._layout.table.look_at_values(lambda: _values_of(lines))
        return self._layout.by_first_rows()


def _values_of(lines: bytes) -> dict[str, list[bytes]]:
    """The texts of the first lines."""
    cells = columns_of(lines.split(b"\n"))
    return {TEXT: [*cells.get(TEXT, ())]}


def _layout(format: str, where: Where, table: TableReader) -> Layout:
    if table.schema is None:
        if format == "text" and not table.model:
            raise DataError("lines of --format text have no labels: learn from a table, or from lines that begin with "
                            "__label__x (--format fasttext)", *where)
        given = RoleOptions() if table.as_rows else table.options  # rows that are copied have no columns
        schema = replace(given, label=LABEL, text=(TEXT,)).decide([LABEL, TEXT], [False, False])
        table.decide(replace(schema, format="fasttext", missing=()), where)
    assert table.schema is not None
    used = [role for role in table.schema.roles.values() if role not in OPTIONAL]
    if used != ["text"] or table.schema.open:
        raise DataError("these lines are one text each, and the model was trained on tables with the columns "
                        f"{listed([*table.schema.roles])}: give it such tables", *where)
    return Layout(table, table.schema, lines=format)
