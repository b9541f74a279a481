"""`vwlite train`"""

import click

from vwlite.options.command import Command
from vwlite.options.run_options import TrainOptions, train_options


@click.command(
    "train", cls=Command,
    usual=(
        "--model", "--initial", "--loss", "--algorithm", "--passes", "--cache", "--l1", "--learning-rate",
        "--label", "--quadratic", "--predictions", "--holdout-off", "--names", "--quiet",
    ),
    examples=(
        "vwlite train clicks.csv --label clicked -m clicks.model",
        "vwlite train day1.vw day2.vw --algorithm gd --loss logistic --passes 10 -c -m days.model",
    ),
)  # fmt: skip
@train_options
def command(options: TrainOptions) -> int:
    """Train a model on DATA. Without options it chooses the loss, the rates and the number of passes.

    DATA are files of VW text or libsvm, or tables (`vwlite help tables`), plain or compressed (gzip, bzip2, xz,
    zstd); none, or -, is standard input.
    """
    from vwlite.runs.start import train

    return train(options)
