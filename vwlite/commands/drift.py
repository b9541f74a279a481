"""`vwlite drift`"""

import click

from vwlite.options.command import Command
from vwlite.options.diff import DriftOptions, drift_options


@click.command("drift", cls=Command, examples=[
    "vwlite drift -m days.model day1.vw day2.vw", "vwlite drift -m days.model day1.vw day2.vw --json",
])  # fmt: skip
@drift_options
def command(options: DriftOptions) -> int:
    """Show what differs between YESTERDAY and TODAY, two files of data, as a model sees them.

    The share of features that the model does not know, mean label, mean prediction, loss; of columns and namespaces, in
    how many lines they are, their unknown features, mean value, and how alike the features of both days are. A * is for
    what differs by more than a tenth and by more than chance: `vwlite help cron`.
    """
    from vwlite.runs.drift import drift

    return drift(options)
