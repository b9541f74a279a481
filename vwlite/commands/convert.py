"""`vwlite convert`"""

import click

from vwlite.options.command import Command
from vwlite.options.run_options import InputOptions, convert_options


@click.command(
    "convert", cls=Command,
    usual=("--label", "--text", "--categorical", "--numeric", "--drop", "--tag", "--on-error", "--quiet",),
    examples=(
        "vwlite convert clicks.csv --label clicked > clicks.vw",
        "vwlite convert clicks.csv --label clicked --drop id | vwlite train -m converted.model",
    ),
)  # fmt: skip
@convert_options
def command(options: InputOptions) -> int:
    """Convert DATA to VW text on standard output: the text that training on a table uses.

    Training on it gives the same weights as training on DATA with the same options, except of words that VW text cannot
    hold: in these a blank is %20, ':' is %3A, '|' is %7C, '%' is %25. VW text is copied unchanged.
    """
    from vwlite.runs.convert import convert

    return convert(options)
