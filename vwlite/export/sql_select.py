"""`vwlite export --to sql --table`: the SELECT over a table, whose name may be a reference of dbt."""

import csv
import re
from collections.abc import Iterator

from vwlite.errors import DataError, UsageError
from vwlite.export import Request
from vwlite.export.columns import NotByColumns, columns_of
from vwlite.export.sql_arrays import ArrayQuery
from vwlite.export.sql_cells import DIALECTS
from vwlite.export.sql_effects import Query
from vwlite.export.sql_text import REFERENCE, identifier
from vwlite.output.text import printable


def select(request: Request) -> Iterator[str]:
    """The query. DataError if SQL cannot evaluate the model; UsageError for an invalid name."""
    assert request.table is not None
    try:
        columns = columns_of(request.linear, request.path)
    except NotByColumns as e:
        raise DataError(f"{request.path}: cannot be a SELECT over a table, because {e}; {_instead(request)}") from None
    table, id = request.table
    dialect = DIALECTS[request.dialect]
    query = (ArrayQuery if dialect.has_arrays else Query)(columns, dialect, table_name(table), id)
    yield from map(_with_reference, query.lines()) if _is_reference(table) else query.lines()


def _instead(request: Request) -> str:
    return "omit --table" if not request.model.columns else "use --to c or --to python"


def table_name(name: str) -> str:
    """The name of a table in SQL: `schema.table` by its parts, of which one in double quotes may have a dot; or, as it
    is, what dbt replaces: {{ ref('customers') }}. UsageError if no database accepts it."""
    if _is_reference(name):
        return REFERENCE + name + REFERENCE
    try:
        return ".".join(map(identifier, next(csv.reader([name], delimiter=".", strict=True))))
    except (csv.Error, StopIteration):
        raise UsageError(f"--table {printable(name)}: expected a name, or names with dots between them") from None


def _is_reference(name: str) -> bool:
    """Whether it is one of dbt, which makes the query a template of Jinja."""
    return re.fullmatch(r"\{\{.*\}\}", name) is not None


def _with_reference(text: str) -> str:
    """A template that renders to the text, with the references between REFERENCE as they are. In levels and names,
    which are data, `{{`, `{%` and `{#` would be Jinja's, and it changes line ends."""
    parts = text.split(REFERENCE)
    parts[::2] = [re.sub(r"\{(?=[{%#\r])|\r", lambda found: f"{{{{ {found[0]!r} }}}}", part) for part in parts[::2]]
    return "".join(parts)
