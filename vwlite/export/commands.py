"""`vwlite export` and `vwlite import`: options and help."""

import click

from vwlite.algorithms.losses import LOSSES
from vwlite.export import DIALECTS, EXPORTS
from vwlite.options.declaring import command
from vwlite.options.spec import argument, option
from vwlite.options.types import PATH, Choice
from vwlite.records import record


@command(
    "export", "vwlite.export.export:export",
    examples=("vwlite export days.model --to tsv -o weights.tsv",
              "vwlite export days.model --to python -o predict.py"),
)
@record(frozen=True)
class ExportOptions:
    __doc__ = f"""Export MODEL to another format with the same predictions.

\b
{chr(10).join(f"{name:{max(map(len, EXPORTS))}}  {row.help}" for name, row in EXPORTS.items())}

Names of features are in all but the first, as far as MODEL has some. `vwlite help export` has examples.
"""

    model: str = argument("", "model", type=PATH, required=True, reads="the input model")
    kind: str = option("", "--to", "kind", type=Choice(list(EXPORTS)), required=True, help="The format to write.")
    output: str | None = option(
        None, "-o", "--output", type=PATH, writes=True, stdout=True,
        help="The file to write; for mlflow a folder, new or empty. Without it, texts are written to standard output.",
    )
    table: str | None = option(
        None, "--table", type=click.STRING, metavar="NAME",
        help="sql: the table of a database whose rows one SELECT predicts. It has the columns that the model learned.",
    )
    id_column: str | None = option(
        None, "--id", "id_column", type=click.STRING, metavar="COLUMN",
        help="sql: the column of --table that identifies a row.",
    )
    dialect: str | None = option(
        None, "--dialect", type=Choice(list(DIALECTS), other={"postgresql": "postgres"}),
        help="sql: the database that runs the SELECT over --table. Without it, it is for all of them.",
    )


@command(
    "import", "vwlite.export.importing:import_table",
    examples=("vwlite import weights.tsv -m small.model",
              "vwlite import model-of-vw.tsv --loss logistic -m small.model"),
)
@record(frozen=True)
class ImportOptions:
    """Create a model from TABLE, a file of `vwlite export --to tsv` or `--to json`.

    Weights and names may have been edited, and lines added or removed. The model predicts, but cannot be continued.
    """

    table: str = argument("", "table", type=PATH, metavar="TABLE", required=True, reads="the input table")
    model: str = option(
        "", "-m", "-o", "--model", type=PATH, required=True, metavar="FILE", writes=True,
        help="Write the model to this file.",
    )
    loss: str | None = option(
        None, "--loss", type=Choice(list(LOSSES)),
        help="The loss, for a table of a model of Vowpal Wabbit. Such models do not store it.",
    )
