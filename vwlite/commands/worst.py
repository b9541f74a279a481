"""`vwlite worst`"""

import click

from vwlite.options.command import Command
from vwlite.options.explain import WorstOptions, worst_options


@click.command(
    "worst", cls=Command,
    examples=(
        "vwlite worst -m clicks.model clicks.csv",
        "cat day2.vw | vwlite worst -m days.model --top 50 --json",
    ),
)  # fmt: skip
@worst_options
def command(options: WorstOptions) -> int:
    """Show the examples of DATA with the largest loss, and what spoke for the mistake.

    A feature spoke for it if its contribution, weight times value, moved the score away from the label; with classes,
    if it preferred the class with the largest score among the others to that of the label. DATA need labels.
    """
    from vwlite.runs.worst import worst

    return worst(options)
