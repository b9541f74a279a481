"""`vwlite step`"""

import click

from vwlite.options.groups import Command
from vwlite.options.rounds import StepOptions, step_options


@click.command("step", cls=Command)
@step_options
def command(options: StepOptions) -> int:
    """Go a step towards the best model of a penalty, by the GRADIENTs of all shards of the data.

    Prints one word on standard output: `continue` (make the gradients of the new model, and call again),
    `converged`, or `stopped` (no step lowers the objective any more). The order of the GRADIENTs makes no difference.
    Without any, the model is written once more. `vwlite help rounds` has the loop.
    """
    from vwlite.runs.step import step

    return step(options)
