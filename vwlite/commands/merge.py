"""`vwlite merge`"""

import click

from vwlite.options.groups import Command
from vwlite.options.merge import MergeOptions, merge_options


@click.command("merge", cls=Command)
@merge_options
def command(options: MergeOptions) -> int:
    """Merge SHARDs: models with the same options, each trained on one shard of the data.

    With --holdout, the best of several ways, of steps along them, of the start and of each shard alone. The order of
    the SHARDs makes no difference. `vwlite help merge` says when not to.
    """
    from vwlite.runs.merge import merge

    return merge(options)
