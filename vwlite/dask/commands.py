"""`vwlite dask`: options and help."""

import re
from dataclasses import fields, replace
from typing import Any, TypeVar

import click

from vwlite.algorithms.settings import SPECS, Settings
from vwlite.errors import UsageError
from vwlite.options.declaring import command, group
from vwlite.options.spec import CLASSES, FEATURES, IN, LEARN, OUT, RUN, TABLES, option, option_of, specs_of
from vwlite.options.types import PATH, Bytes, Number, Whole
from vwlite.prediction.commands import PredictOptions
from vwlite.records import record
from vwlite.runs.options import (
    AS_WRITTEN,
    DATA,
    LINK_OF_MODEL,
    LOSS_OF_OTHERS,
    InputOptions,
    ModelOptions,
    TrainOptions,
)

CLUSTER = "Cluster"
PERIOD = 20
BLOCK_SIZE = 256 << 20
_Options = TypeVar("_Options", bound=InputOptions)


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
class ClusterOptions(InputOptions):
    """What both commands take."""

    def check(self) -> None:
        """UsageError for options that mean nothing together."""
        if not self.data:
            raise UsageError("there is no data: name files or URLs, as in vwlite dask train "
                             "'s3://bucket/day=*/*.vw.gz'")
        if "-" in self.data:
            raise UsageError("-: the workers cannot read standard input: name files or URLs")
        if self.format == "arrow":
            raise UsageError("--format arrow: workers read Parquet and text: write it as one of them")
        super().check()

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
        help="Size of shards that plain files are cut into. They are cut at newlines, and Parquet at row groups (by "
             "their uncompressed size); each compressed file is one shard.",
    )

    def of_shards(self, kind: type[_Options], **others: Any) -> _Options:
        """The options of a shard, which is read from standard input. others: those that differ from the run's."""
        found = {f.name: getattr(self, f.name) for f in fields(kind) if hasattr(self, f.name)}  # type: ignore[arg-type]
        return kind(**found | {"data": (), "quiet": True, "report": None} | others)


_CHANGED = {
    "algorithm": replace(SPECS["algorithm"], help="Only auto. For others, `vwlite help clusters`."),
    "loss": replace(SPECS["loss"], help="The loss function to minimize."),
}
_OF_RULES = ("learning_rate", "power_t", "initial_t", "decay_learning_rate", "threshold", "softmax")
_LEARNING = (
    *specs_of(InputOptions, "format", "on_error", "max_errors"), *specs_of(Settings, IN),
    *specs_of(InputOptions, TABLES),
    *(_CHANGED.get(spec.name, spec) for spec in specs_of(Settings, FEATURES, LEARN, CLASSES)
      if not (spec.for_some or spec.name in _OF_RULES)),
)
_URL = replace(DATA, metavar="URL...")
_SHOWN = specs_of(InputOptions, "quiet", "report", "report_version")

group("dask", """\
Train and predict on many machines with Dask.

Needs `pip install 'vwlite[dask]'`, here and on every worker. `vwlite help dask` explains how to use it, and when
not to.
""")


@command(
    "dask train", "vwlite.dask.train:train",
    _URL, *specs_of(ClusterOptions), CLUSTER, *_LEARNING, OUT, SPECS["link"], *_SHOWN, RUN,
    usual=("--scheduler", "--model", "--rounds", "--loss", "--label", "--l1", "--exact", "--resume"),
    examples=("vwlite dask train 'day*.vw' --scheduler local:2 -m all.model",
              "vwlite dask train 'day*.vw' --scheduler local:2 --exact --loss logistic --l1 1e-3 -m exact.model"),
)
@record(frozen=True)
class DaskTrainOptions(ClusterOptions):
    """Train on all files of URL, in rounds of sums over shards.

    Without options, features, loss and normalization are those of `vwlite train` on a sample of 40,000 rows, and
    weights are fitted to all rows.

    URL are files, patterns such as 'logs/*.vw.gz', or URLs that fsspec supports (s3://, gs://, hdfs://). Other options
    are those of `vwlite train`. The model does not depend on the number of workers.
    """

    def check(self) -> None:
        super().check()
        if "tolerance" in self.given and not self.exact:
            raise UsageError("--tolerance needs --exact: rounds of the default do not use it")

    model: str | None = option(
        None, "-m", "-f", "--model", group=OUT, type=PATH, required=True, metavar="FILE", writes=True,
        help="Write the model to this file after each round.",
    )
    initial: str | None = option_of(TrainOptions, "initial")
    names: int | None = option_of(TrainOptions, "names")
    validate: str | None = option_of(
        TrainOptions, "validate", group=CLUSTER, excludes={}, check=None,
        help="Choose strengths by the rows of FILE. No other rows are held out then.",
    )
    group: str | None = option_of(
        TrainOptions, "group", group=CLUSTER, excludes={}, check=None,
        help="Column of groups, such as customers. All rows of a group are held out, or none, and are in one fold.",
    )
    derive: str = option_of(TrainOptions, "derive", group=CLUSTER, excludes={}, check=None)
    pairs: int | None = option_of(TrainOptions, "pairs", group=CLUSTER, excludes={}, check=None)
    rounds: int | None = option(
        None, "--rounds", group=CLUSTER, type=Whole(1, 10_000), metavar="R",
        shown="3; --exact: no limit", help="Number of rounds. In each, sums over all shards are computed.",
    )
    holdout_period: int | None = option(
        PERIOD, "--holdout-period", group=CLUSTER, type=Whole(2), metavar="K",
        help="Hold out one row in K, to compare strengths.",
    )
    exact: bool = option(
        False, "--exact", group=CLUSTER,
        help="Solve the problem of --l1, --l2 or --radius exactly. As vwlite solve does, in rounds of gradients: "
             "`vwlite help rounds`.",
    )
    tolerance: float = option(
        1e-3, "--tolerance", group=CLUSTER, type=Number(0), help="Relative duality gap at which --exact stops.",
    )
    threads: int = option(
        1, "--threads", group=RUN, type=Whole(1, 64), metavar="N",
        help="Number of threads for each shard. The result does not depend on it.",
    )
    resume: bool = option(
        False, "--resume", group=CLUSTER,
        help="Continue after the last round of an interrupted run. Data and options must be the same.",
    )


@command(
    "dask predict", "vwlite.dask.predict:predict",
    _URL, *specs_of(ClusterOptions), *specs_of(ModelOptions), OUT,
    *specs_of(PredictOptions, "probabilities", "top", "threshold", "append", "append_columns", "on_unknown"),
    LINK_OF_MODEL, *LOSS_OF_OTHERS, *specs_of(InputOptions, "format", "on_error", "max_errors", "tag", *AS_WRITTEN),
    *_SHOWN, *specs_of(DaskTrainOptions, "threads"),
    usual=("--scheduler", "--model", "--output", "--link", "--on-error", "--retries"),
    examples=("vwlite dask predict 'day*.vw' --scheduler local:2 -m all.model -o predictions",
              "vwlite dask predict 'day*.vw' --scheduler local:2 -m exact.model --link logistic -o probabilities"),
)
@record(frozen=True)
class DaskPredictOptions(PredictOptions, ClusterOptions):
    """Predict all files of URL, with one output file for each shard.

    The workers write into the output folder, so it must be a shared folder or a URL.
    """

    predictions: str | None = option(
        None, "-o", "--output", "predictions", group=OUT, type=PATH, required=True, metavar="FOLDER",
        writes=True, stdout=True, help="Write the predictions of each shard into this folder or URL.",
    )
    threads: int = 1
