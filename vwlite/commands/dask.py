"""`vwlite dask`"""

import click

from vwlite.options.command import Command
from vwlite.options.dask import (
    DaskPredictOptions,
    DaskSumsOptions,
    DaskTrainOptions,
    Remembering,
    predict_options,
    sums_options,
    train_options,
)
from vwlite.program import Commands


@click.group("dask", cls=Commands)
def command() -> None:
    """Train and predict on many machines with Dask.

    Needs `pip install 'vwlite[dask]'`, here and on every worker. `vwlite help dask` explains how to use it, and when
    not to.
    """


@command.command(
    "train", cls=Remembering,
    usual=("--scheduler", "--model", "--rounds", "--loss", "--algorithm", "--l1", "--exact", "--resume"),
    examples=(
        "vwlite dask train 'day*.vw' --scheduler local:2 --loss logistic -m all.model",
        "vwlite dask train 'day*.vw' --scheduler local:2 --exact --loss logistic --l1 1e-3 -m exact.model",
    ),
)  # fmt: skip
@train_options
def train(options: DaskTrainOptions) -> int:
    """Train on all files of URL, in rounds: one model for each shard, then their best merge.

    URL are files, patterns such as 'logs/*.vw.gz', or URLs that fsspec supports (s3://, gs://, hdfs://). Other options
    are those of `vwlite train`. The model does not depend on the number of workers.
    """
    from vwlite.dask.train import train

    return train(options)


@command.command(
    "predict", cls=Remembering,
    usual=("--scheduler", "--model", "--output", "--link", "--on-error", "--retries"),
    examples=(
        "vwlite dask predict 'day*.vw' --scheduler local:2 -m all.model -o predictions",
        "vwlite dask predict 'day*.vw' --scheduler local:2 -m exact.model --link logistic -o probabilities",
    ),
)  # fmt: skip
@predict_options
def predict(options: DaskPredictOptions) -> int:
    """Predict all files of URL, with one output file for each shard.

    The workers write into the output folder, so it must be a shared folder or a URL.
    """
    from vwlite.dask.predict import predict

    return predict(options)


@command.command("sums", cls=Command, hidden=True)
@sums_options
def sums(options: DaskSumsOptions) -> int:
    """For workers: sums over the shard on standard input, in a round of vwlite dask train --exact."""
    from vwlite.dask.sums import sums

    return sums(options)
