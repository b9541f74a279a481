"""`vwlite diff`"""

import click

from vwlite.options.command import Command
from vwlite.options.diff import DiffOptions, diff_options
from vwlite.options.types import PATH


@click.command(
    "diff", cls=Command,
    examples=(
        "vwlite diff shard1.model shard2.model",
        "vwlite diff days.model sparse.model day2.vw --top 20",
    ),
)  # fmt: skip
@click.argument("model", type=PATH, metavar="A")
@click.argument("other", type=PATH, metavar="B")
@diff_options
def command(options: DiffOptions) -> int:
    """Show what differs between the models A and B.

    Options; weights that came, went and changed, the largest changes first; with DATA, the lines that the models
    predict differently. Exit code 65 means that nothing can be compared.
    """
    from vwlite.runs.diff import diff

    return diff(options)
