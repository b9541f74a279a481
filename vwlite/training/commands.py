"""`vwlite train`: options and help."""

from typing import TYPE_CHECKING

import click

from vwlite.algorithms.settings import SPECS, Settings
from vwlite.options.command import Command, run
from vwlite.options.spec import CLASSES, FEATURES, IN, LEARN, OUT, RUN, TABLES, specs_of
from vwlite.options.taking import takes
from vwlite.runs.options import CacheOptions, InputOptions, TrainOptions

if TYPE_CHECKING:
    pass

PASSES = next(spec for spec in specs_of(TrainOptions) if spec.name == "passes")

# In the order of the help.
TRAIN = (
    *specs_of(InputOptions, IN), *specs_of(Settings, IN), *specs_of(InputOptions, TABLES),
    *specs_of(Settings, FEATURES, LEARN, CLASSES),
    PASSES, *specs_of(CacheOptions), *(spec for spec in specs_of(TrainOptions) if spec is not PASSES),
    SPECS["link"], *specs_of(InputOptions, OUT, RUN),
)
train_options = takes(TrainOptions, TRAIN)


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
)
@train_options
def train_command(options: TrainOptions) -> int:
    """Train a model on DATA. Without options it chooses the loss, the rates and the number of passes.

    DATA are files of VW text or libsvm, or tables (`vwlite help tables`), plain or compressed (gzip, bzip2, xz,
    zstd); none, or -, is standard input.
    """
    return run("vwlite.training.train:train", options)
