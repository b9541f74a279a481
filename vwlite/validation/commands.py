"""`vwlite cv`: options and help."""

import click

from vwlite.options.command import Command, run
from vwlite.options.spec import OUT, option, specs_of
from vwlite.options.taking import takes
from vwlite.options.types import Whole
from vwlite.records import record
from vwlite.runs.options import TrainOptions
from vwlite.training.commands import TRAIN

FOLDS = "Folds"
_NOT_OF_FOLDS = {
    "cache", "cache_file", "kill_cache", "validate", "model", "initial", "continued", "again", "on_unknown", "fail_if",
    "min_examples", "log_format", "names", "save_weights_only", "allow_empty", "predictions", "raw_predictions",
    "report", "rejects", "holdout_to", "progress", "checkpoint_every",
}


@record(frozen=True, eq=False)
class CvOptions(TrainOptions):
    """The options of `vwlite cv`, as typed."""

    folds: int = option(5, "--folds", group=FOLDS, type=Whole(2, 20), metavar="K", help="The number of folds.")
    stratify: bool = option(
        False, "--stratify", group=FOLDS, excludes={"--group": ""}, help="Folds have equal shares of each label.",
    )
    seed: int = option(0, "--seed", group=FOLDS, type=Whole(0, (1 << 32) - 1), metavar="N", help="Draw other folds.")
    json: bool = option(False, "--json", group=OUT, help="Write the measures as JSON, for programs.")


@click.command(
    "cv", cls=Command,
    usual=("--folds", "--group", "--stratify", "--label", "--algorithm", "--json"),
    examples=("vwlite cv day2.vw", "vwlite cv day2.vw --folds 3 --algorithm gd --loss logistic"),
)
@takes(CvOptions, (*specs_of(CvOptions), *(spec for spec in TRAIN if spec.name not in _NOT_OF_FOLDS)))
def cv_command(options: CvOptions) -> int:
    """Cross-validate: train on all folds but one, evaluate on that one, for each of them.

    Prints the measures of `vwlite evaluate`: mean, standard deviation over the folds, and the value of each fold. A row
    is in fold floor(K h), with h its hash, or that of its group, as in `vwlite split`: equal rows are together. The
    options are those of `vwlite train`. DATA are files; parts of them are in the folder for temporary files meanwhile.
    """
    return run("vwlite.validation.cv:cv", options)
