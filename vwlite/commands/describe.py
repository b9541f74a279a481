"""`vwlite describe`"""

import click

from vwlite.options.command import Command
from vwlite.options.describe import DescribeOptions, describe_options


@click.command(
    "describe", cls=Command,
    usual=("--label", "--drop", "--missing", "--format", "--all", "--json",),
    examples=(
        "vwlite describe clicks.csv --label clicked",
        "cat day1.vw | vwlite describe --json",
    ),
)  # fmt: skip
@describe_options
def command(options: DescribeOptions) -> int:
    """Look at DATA before learning: columns, labels, likely mistakes.

    Prints a row for each column with the role that `vwlite train` would give it (for VW text and libsvm: for each
    namespace), the balance of the labels, notes, and the command to type next. Bad lines are counted. Numbers with ~
    are estimates.
    """
    from vwlite.runs.describe import describe

    return describe(options)
