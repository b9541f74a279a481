"""`vwlite convert`"""

import click

from vwlite.options.groups import Command, InputOptions, convert_options


@click.command("convert", cls=Command)
@convert_options
def command(options: InputOptions) -> int:
    """Convert DATA to VW text on standard output: the text that training on a table uses.

    Training on it gives the same weights as training on DATA with the same options. VW text comes out as it is.
    """
    from vwlite.runs.convert import convert

    return convert(options)
