"""`vwlite train`"""

import click

from vwlite.options.groups import Command, TrainOptions, train_options


@click.command("train", cls=Command)
@train_options
def command(options: TrainOptions) -> int:
    """Train a model on DATA, in one or more passes.

    DATA are files of VW text or libsvm, or tables (`vwlite help tables`), plain or compressed (gzip, bzip2, xz,
    zstd); none, or -, is standard input.
    """
    from vwlite.runs.train import train

    return train(options)
