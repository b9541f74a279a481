"""`vwlite dask`"""

import click

from vwlite.options.dask import (
    DaskPredictOptions,
    DaskSumsOptions,
    DaskTrainOptions,
    Remembering,
    predict_options,
    sums_options,
    train_options,
)
from vwlite.options.groups import Command
from vwlite.program import Commands


@click.group("dask", cls=Commands)
def command() -> None:
    """Train and predict on many machines with Dask.

    Needs `pip install 'vwlite[dask]'`, here and on every worker. `vwlite help dask` says how it goes, and when not
    to.
    """


@command.command("train", cls=Remembering)
@train_options
def train(options: DaskTrainOptions) -> int:
    """Learn a model from all files of URL, in rounds: each shard by itself, then the best merge of all.

    URL are files, patterns such as 'logs/*.vw.gz', or URLs of what fsspec knows (s3://, gs://, hdfs://). Other options
    are those of `vwlite train`. The number of workers makes no difference to the model.
    """
    from vwlite.dask.train import train

    return train(options)


@command.command("predict", cls=Remembering)
@predict_options
def predict(options: DaskPredictOptions) -> int:
    """Predict for all files of URL, with one output for each shard.

    The workers write into the folder, so it must be one that all of them see, or a URL.
    """
    from vwlite.dask.predict import predict

    return predict(options)


@command.command("sums", cls=Command, hidden=True)
@sums_options
def sums(options: DaskSumsOptions) -> int:
    """For workers: sums over the shard on standard input, in a round of vwlite dask train --exact."""
    from vwlite.dask.sums import sums

    return sums(options)
