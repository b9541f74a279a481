"""`vwlite drift`"""

import click

from vwlite.options.command import Command
from vwlite.options.diff import DriftOptions, drift_options


@click.command("drift", cls=Command, examples=("vwlite drift -m days.model day1.vw day2.vw",))
@drift_options
def command(options: DriftOptions) -> int:
    """Show what differs between YESTERDAY and TODAY, two files of data, as a model sees them.

    The share of features that the model does not know, mean label, mean prediction and loss; of each column or
    namespace, in how many lines it is, how many of its features are unknown, the mean of its values, and how alike its
    features are. A * marks what differs by more than a tenth and by more than chance: `vwlite help cron`.
    """
    from vwlite.runs.drift import drift

    return drift(options)
