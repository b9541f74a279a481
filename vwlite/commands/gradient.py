"""`vwlite gradient`"""

import click

from vwlite.options.groups import Command
from vwlite.options.rounds import GradientOptions, gradient_options


@click.command("gradient", cls=Command)
@gradient_options
def command(options: GradientOptions) -> int:
    """Write the loss of a model over DATA, and its gradient: what one shard says in a round of vwlite step.

    DATA are one shard: the same in each round, and no example in two shards. `vwlite help rounds` has the loop.
    """
    from vwlite.runs.gradient import gradient

    return gradient(options)
