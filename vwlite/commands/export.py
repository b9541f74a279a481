"""`vwlite export`"""

from typing import TYPE_CHECKING

import click

from vwlite.options.command import Command, Option
from vwlite.options.types import PATH, Choice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vwlite.export.linear import Linear

KINDS = ("vw", "tsv", "json", "sql", "c", "python")


@click.command(
    "export", cls=Command,
    examples=(
        "vwlite export days.model --to tsv -o weights.tsv",
        "vwlite export days.model --to python -o predict.py",
    ),
)  # fmt: skip
@click.argument("model", type=PATH)
@click.option("--to", "kind", cls=Option, type=Choice(KINDS), required=True, help="The format to write.")
@click.option("-o", "--output", cls=Option, type=PATH, required=True, help="The file to write; - is standard output.")
@click.option(
    "--table", cls=Option, metavar="NAME",
    help="sql: the table whose columns the model learned. The statements find its features.",
)
@click.option(
    "--id", "id_column", cls=Option, metavar="COLUMN", help="sql: the column of --table that identifies a row."
)
def command(model: str, kind: str, output: str, table: str | None, id_column: str | None) -> int:
    """Export MODEL to another format with the same predictions.

    \b
    vw      a model of Vowpal Wabbit
    tsv     a table of index, weight and names; `vwlite import` reads it
    json    the same as one object
    sql     tables, and queries over a table of features, or over --table
    c       a header without dependencies, for VW text, libsvm and arrays
    python  a program that reads lines and prints predictions, of the standard library alone

    Names of features are in all but the first, as far as MODEL has some. `vwlite help export` has examples.
    """
    from vwlite.errors import UsageError
    from vwlite.model import read_model
    from vwlite.model.snapshot import restore
    from vwlite.output.atomic import check_apart
    from vwlite.runs.frame import RunFrame

    if kind != "sql" and (table is not None or id_column is not None):
        raise UsageError(f"{'--table' if table is not None else '--id'} is for --to sql: leave it out")
    if (table is None) != (id_column is None):
        raise UsageError("--table and --id go together: a table, and the column that names its rows")
    output = "/dev/stdout" if output == "-" else output
    check_apart({"--output": output}, [(model, "the model that is read")])
    found = read_model(model)
    restore(found, found.settings, model, learn=False)  # so that nothing is written that does not predict here
    with RunFrame("export") as frame:
        file = frame.file(output)
        if kind == "vw":
            from vwlite.vw.models.convert import to_vw

            file.write(to_vw(model, found))
        else:
            from vwlite.export.linear import linear
            from vwlite.export.tables import write_all

            columns = (table, id_column) if table is not None and id_column is not None else None
            write_all(_pieces(kind, linear(model, found), model, output, columns), file)
        if frame.signal is None:
            file.commit()
        return frame.code()


def _pieces(
    kind: str, found: "Linear", model: str, output: str, table: tuple[str, str] | None
) -> "Iterator[str]":
    """The text of an export."""
    if kind in ("tsv", "json"):
        from vwlite.export.tables import json_text, tsv

        return tsv(found) if kind == "tsv" else json_text(found)
    if kind == "sql":
        from vwlite.export.sql import sql

        return sql(found, model, table)
    if kind == "c":
        from vwlite.export.c import c

        return c(found, model)
    from vwlite.export.python import python

    return python(found, output)
