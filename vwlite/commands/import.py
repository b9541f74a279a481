"""`vwlite import`"""

import click

from vwlite.algorithms.losses import LOSSES
from vwlite.options.command import Command, Option
from vwlite.options.types import PATH, Choice


@click.command(
    "import", cls=Command,
    examples=(
        "vwlite import weights.tsv -m small.model",
        "vwlite import model-of-vw.tsv --loss logistic -m small.model",
    ),
)  # fmt: skip
@click.argument("table", type=PATH, metavar="TABLE")
@click.option("-m", "-o", "--model", "model", cls=Option, type=PATH, required=True, metavar="FILE",
              help="Write the model to this file.")  # fmt: skip
@click.option("--loss", cls=Option, type=Choice(list(LOSSES)),
              help="The loss, for a table of a model of Vowpal Wabbit. Such models do not store it.")  # fmt: skip
def command(table: str, model: str, loss: str | None) -> int:
    """Create a model from TABLE, a file of `vwlite export --to tsv` or `--to json`.

    Weights and names may have been edited, and lines added or removed. The model predicts, but cannot be continued.
    """
    from vwlite.export.tables import read_table
    from vwlite.model import write_model
    from vwlite.model.learners import restore
    from vwlite.output.atomic import check_apart
    from vwlite.runs.frame import RunFrame

    check_apart({"--model": model}, [(table, "the input table")])
    found = read_table(table, loss)
    restore(found, found.settings, table, learn=False)  # so that nothing is written that does not predict
    with RunFrame("import") as frame:
        file = frame.file(model)
        write_model(file, found)
        if frame.signal is None:
            file.commit()
        return frame.code()
