"""`vwlite merge`"""

import click

from vwlite.options.command import Command
from vwlite.options.merge import MergeOptions, merge_options


@click.command(
    "merge", cls=Command,
    usual=("--model", "--start", "--rule", "--state", "--holdout", "--allow-missing", "--quiet",),
    examples=(
        "vwlite merge shard1.model shard2.model -o all.model",
        "vwlite merge shard1.model shard2.model --holdout held.vw --state mean -o round1.model",
    ),
)  # fmt: skip
@merge_options
def command(options: MergeOptions) -> int:
    """Merge SHARDs: models with the same options, each trained on one shard of the data.

    With --holdout, the result is an average of several merge rules and of the SHARDs, weighted by their losses there.
    It does not depend on the order of the SHARDs. `vwlite help merge` says when not to merge.
    """
    from vwlite.runs.merge import merge

    return merge(options)
