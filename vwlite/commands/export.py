"""`vwlite export`"""

import click

from vwlite.options.groups import Command, Option
from vwlite.options.types import PATH


@click.command("export", cls=Command)
@click.argument("model", type=PATH)
@click.option("--to", "kind", cls=Option, type=click.Choice(["vw"]), required=True, help="The format to write.")
@click.option("-o", "--output", cls=Option, type=PATH, required=True, help="The file to write.")
def command(model: str, kind: str, output: str) -> int:
    """Write MODEL as a file of another program: Vowpal Wabbit."""
    from vwlite.model import read_model
    from vwlite.model.snapshot import restore
    from vwlite.output.atomic import AtomicFile, check_apart
    from vwlite.runs.signals import StopSignal
    from vwlite.vw.models.convert import to_vw

    check_apart({"--output": output}, [(model, "the model that is read")])
    found = read_model(model)
    restore(found, found.settings, model, learn=False)  # so that nothing is written that does not predict here
    data = to_vw(model, found)
    with StopSignal() as signals, AtomicFile(output) as file:
        file.write(data)
        if signals.number is not None:
            return 128 + signals.number
        file.commit()
    return 0
