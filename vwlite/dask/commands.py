"""`vwlite dask`: options and help."""

import re
from dataclasses import field, replace
from typing import Any

import click

from vwlite.algorithms.settings import SPECS, Settings
from vwlite.errors import UsageError
from vwlite.input.formats import BINARY
from vwlite.merging.commands import MergeOptions
from vwlite.options.command import Command, Commands, run
from vwlite.options.spec import CLASSES, FEATURES, IN, LEARN, OUT, RUN, TABLES, option, option_of, specs_of
from vwlite.options.taking import takes
from vwlite.options.types import PATH, Bytes, Number, Whole
from vwlite.prediction.commands import PREDICT, PredictOptions
from vwlite.records import record
from vwlite.runs.options import InputOptions, TrainOptions
from vwlite.runs.resolve import check_run

CLUSTER = "Cluster"
HOLDOUT_PERIOD = 50
BLOCK_SIZE = 256 << 20


class Scheduler(click.ParamType):
    """tcp://HOST:PORT, or local:N for N processes on this machine."""

    name = "scheduler"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if text.startswith("local:"):
            Whole(1, 1024).convert(text.removeprefix("local:"), param, ctx)
        elif not re.fullmatch(r"[a-z]+://[^\s/]+", text):
            self.fail(f"{text!r} is neither the address of a scheduler such as tcp://host:8786 nor local:N", param, ctx)
        return text


@record(frozen=True)
class ClusterOptions:
    """What both commands take."""

    scheduler: str = option(
        "", "--scheduler", group=CLUSTER, type=Scheduler(), required=True, metavar="ADDRESS",
        help="Address of the Dask scheduler. Such as tcp://host:8786, or local:N for N processes on this machine.",
    )
    retries: int = option(
        3, "--retries", group=CLUSTER, type=Whole(1, 1000), metavar="N",
        help="Number of attempts for a shard before the run ends.",
    )
    block_size: int = option(
        BLOCK_SIZE, "--block-size", group=CLUSTER, type=Bytes(), shown="256M",
        help="Size of shards that plain files are cut into. They are cut at newlines; each compressed file is one "
             "shard.",
    )
    raw: dict[str, Any] = field(default_factory=dict)  # what was typed, as text


@record(frozen=True)
class DaskTrainOptions(InputOptions, ClusterOptions):
    """The options of `vwlite dask train`, as typed; DATA are files or URLs."""

    model: str | None = option(
        None, "-m", "-f", "--model", group=OUT, type=PATH, required=True, metavar="FILE", writes=True,
        help="Write the model to this file after each round.",
    )
    initial: str | None = option_of(TrainOptions, "initial")
    names: int | None = option_of(TrainOptions, "names")
    rounds: int | None = option(
        None, "--rounds", group=CLUSTER, type=Whole(1, 10_000), metavar="R", shown="1; --exact: no limit",
        help="Number of rounds. In each, all shards are learned, starting from the last merge, and merged.",
    )
    holdout_period: int | None = option(
        HOLDOUT_PERIOD, "--holdout-period", group=CLUSTER, type=Whole(2), metavar="K",
        help="Hold out every Kth line of each shard, to compare merges.",
    )
    exact: bool = option(
        False, "--exact", group=CLUSTER,
        help="Solve the problem of --l1, --l2 or --radius exactly. As vwlite solve does, in rounds of gradients: "
             "`vwlite help rounds`.",
    )
    tolerance: float = option(
        1e-3, "--tolerance", group=CLUSTER, type=Number(0),
        help="Relative duality gap at which --exact stops.",
    )
    threads: int = option(
        1, "--threads", group=RUN, type=Whole(1, 64), metavar="N",
        help="Number of threads of each worker's command. The result does not depend on it.",
    )
    resume: bool = option(
        False, "--resume", group=CLUSTER,
        help="Continue after the last round of an interrupted run. Data and options must be the same.",
    )
    rule: str | None = option_of(MergeOptions, "rule", group=CLUSTER, shown="search", check=None)
    state: str = option_of(MergeOptions, "state", group=CLUSTER)


@record(frozen=True)
class DaskPredictOptions(PredictOptions, ClusterOptions):
    """The options of `vwlite dask predict`, as typed; DATA are files or URLs."""

    predictions: str | None = option(
        None, "-o", "--output", "predictions", group=OUT, type=PATH, required=True, metavar="FOLDER",
        writes=True, stdout=True, help="Write the predictions of each shard into this folder or URL.",
    )
    threads: int = 1


@record(frozen=True)
class DaskSumsOptions(InputOptions):
    """The options of `vwlite dask sums`, as typed."""

    initial: str | None = option(
        None, "-i", "--initial", group=OUT, type=PATH, required=True, metavar="FILE",
        help="The model at whose weights the sums are computed.",
    )
    output: str | None = option(
        None, "-o", "--output", group=OUT, type=PATH, required=True, metavar="FILE", help="Write the sums to this file."
    )


# The options that the commands get which the workers run, and those of our own.
_OF_LINES = tuple(spec for spec in specs_of(InputOptions, IN) if spec.name not in ("data_options", "rejects"))
_LEARN = {
    "algorithm": replace(SPECS["algorithm"], shown="gd", help="The update rule; see `vwlite algorithms`."),
    "loss": replace(SPECS["loss"], help="The loss function to minimize."),
}
TRAINING = (
    *_OF_LINES, *specs_of(Settings, IN), *specs_of(InputOptions, TABLES),
    *(_LEARN.get(spec.name, spec) for spec in specs_of(Settings, FEATURES, LEARN, CLASSES)),
    SPECS["link"], *(spec for spec in specs_of(DaskTrainOptions, OUT) if spec.name == "names"),
)
READING = (*_OF_LINES, *specs_of(InputOptions, TABLES))
PREDICTING = tuple(
    spec for spec in PREDICT if spec.group in (OUT, IN, TABLES)
    and spec.name not in ("data_options", "rejects", "model", "predictions", "raw_predictions", "output_format",
                          "quiet", "report", "report_version")
)
_RUN = tuple(spec for spec in specs_of(InputOptions, OUT) if spec.name in ("quiet", "report", "report_version"))
_TRAIN = (
    *specs_of(ClusterOptions), *specs_of(DaskTrainOptions, CLUSTER), *(spec for spec in TRAINING if spec.group != OUT),
    *specs_of(DaskTrainOptions, OUT), SPECS["link"], *_RUN, *specs_of(DaskTrainOptions, RUN),
)
_SUMS = (
    *specs_of(DaskSumsOptions), *READING, *(spec for spec in specs_of(InputOptions, RUN) if spec.name == "threads"),
    *(spec for spec in _RUN if spec.name == "quiet"),
)
_PREDICT = (
    *specs_of(ClusterOptions), *(spec for spec in PREDICT if spec.name == "model"), *specs_of(DaskPredictOptions, OUT),
    *PREDICTING, *_RUN, *specs_of(DaskTrainOptions, RUN),
)
train_options = takes(DaskTrainOptions, _TRAIN, "URL...")
predict_options = takes(DaskPredictOptions, _PREDICT, "URL...")
sums_options = takes(DaskSumsOptions, _SUMS, "")


def check_urls(o: DaskTrainOptions | DaskPredictOptions) -> None:
    """Options of the run that mean nothing together: UsageError."""
    if not o.data:
        raise UsageError("there is no data: name files or URLs, as in vwlite dask train 's3://bucket/day=*/*.vw.gz'")
    if "-" in o.data:
        raise UsageError("-: the workers cannot read standard input: name files or URLs")
    if o.format in BINARY:
        raise UsageError(f"--format {o.format}: workers read lines of text; convert it with vwlite convert")
    if isinstance(o, DaskTrainOptions) and "tolerance" in o.raw and not o.exact:
        raise UsageError("--tolerance needs --exact: rounds of merges do not use it")
    check_run(o)


@click.group("dask", cls=Commands)
def dask_command() -> None:
    """Train and predict on many machines with Dask.

    Needs `pip install 'vwlite[dask]'`, here and on every worker. `vwlite help dask` explains how to use it, and when
    not to.
    """


@dask_command.command(
    "train", cls=Command, remembers=True,
    usual=("--scheduler", "--model", "--rounds", "--loss", "--algorithm", "--l1", "--exact", "--resume"),
    examples=(
        "vwlite dask train 'day*.vw' --scheduler local:2 --loss logistic -m all.model",
        "vwlite dask train 'day*.vw' --scheduler local:2 --exact --loss logistic --l1 1e-3 -m exact.model",
    ),
)
@train_options
def train(options: DaskTrainOptions) -> int:
    """Train on all files of URL, in rounds: one model for each shard, then their best merge.

    URL are files, patterns such as 'logs/*.vw.gz', or URLs that fsspec supports (s3://, gs://, hdfs://). Other options
    are those of `vwlite train`. The model does not depend on the number of workers.
    """
    return run("vwlite.dask.train:train", options)


@dask_command.command(
    "predict", cls=Command, remembers=True,
    usual=("--scheduler", "--model", "--output", "--link", "--on-error", "--retries"),
    examples=(
        "vwlite dask predict 'day*.vw' --scheduler local:2 -m all.model -o predictions",
        "vwlite dask predict 'day*.vw' --scheduler local:2 -m exact.model --link logistic -o probabilities",
    ),
)
@predict_options
def predict(options: DaskPredictOptions) -> int:
    """Predict all files of URL, with one output file for each shard.

    The workers write into the output folder, so it must be a shared folder or a URL.
    """
    return run("vwlite.dask.predict:predict", options)


@dask_command.command("sums", cls=Command, hidden=True)
@sums_options
def sums(options: DaskSumsOptions) -> int:
    """For workers: sums over the shard on standard input, in a round of vwlite dask train --exact."""
    return run("vwlite.dask.sums:sums", options)
