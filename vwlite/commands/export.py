"""`vwlite export`"""

import click

from vwlite.options import PATH, Command, Option


@click.command("export", cls=Command)
@click.argument("model", type=PATH)
@click.option("--to", "kind", cls=Option, type=click.Choice(["vw"]), required=True, help="The format to write.")
@click.option("-o", "--output", cls=Option, type=PATH, required=True, help="The file to write.")
def command(model: str, kind: str, output: str) -> int:
    """Write MODEL as a file of another program: Vowpal Wabbit."""
    from vwlite.model import read_model
    from vwlite.output import AtomicFile
    from vwlite.state import restore
    from vwlite.vw.convert import to_vw

    found = read_model(model)
    restore(found, found.settings, model, learn=False)  # so that nothing is written that does not predict here
    data = to_vw(model, found)
    with AtomicFile(output) as file:
        file.begin()
        file.write(data)
        file.commit()
    return 0
