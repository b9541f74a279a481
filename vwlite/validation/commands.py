"""`vwlite cv`: options and help."""

import click

from vwlite.inspection.commands import SplitOptions
from vwlite.options.command import Command, run
from vwlite.options.spec import OUT, PASSES, option, option_of, specs_of
from vwlite.options.taking import takes
from vwlite.options.types import Whole
from vwlite.records import record
from vwlite.runs.options import TrainOptions
from vwlite.training.commands import TRAIN

_OF_ONE = ("cache", "cache_file", "kill_cache", "validate", "on_unknown", "rejects", "checkpoint_every", "max_size")


@record(frozen=True, eq=False)
class CvOptions(TrainOptions):
    """The options of `vwlite cv`, as typed."""

    folds: int = option(5, "--folds", group=PASSES, type=Whole(2, 20), metavar="K", help="The number of folds.")
    stratify: bool = option_of(SplitOptions, "stratify")
    seed: int = option_of(SplitOptions, "seed")
    json: bool = option(False, "--json", group=OUT, help="Write the measures as JSON, for programs.")


_OF_TRAIN = [s for s in TRAIN if s.name == "report_version" or (s.group != OUT and s.name not in _OF_ONE)]


@click.command(
    "cv", cls=Command,
    usual=("--folds", "--group", "--stratify", "--label", "--algorithm", "--json"),
    examples=("vwlite cv clicks.csv --label clicked --folds 2 --stratify",
              "vwlite cv clicks.csv --label clicked --folds 2 --stratify --algorithm gd --json"),
)
@takes(CvOptions, (*specs_of(CvOptions), *_OF_TRAIN))
def cv_command(options: CvOptions) -> int:
    """Cross-validate: train on all folds but one, evaluate on that one, for each of them.

    Prints the measures of `vwlite evaluate`: mean, standard deviation over the folds, and the value of each fold. Folds
    are those of --algorithm auto, by the contents of rows without their label: copies of a row are in one fold; where
    there are few different rows, each is in all folds evenly. With --group NAME, a group with hash h (`vwlite split`)
    is in fold floor(K h). The options are those of `vwlite train`. DATA are files; parts of them are in the folder for
    temporary files meanwhile.
    """
    return run("vwlite.validation.cv:cv", options)
