"""`vwlite cv`: options and help."""

from vwlite.algorithms.settings import Settings
from vwlite.inspection.commands import SplitOptions
from vwlite.options.declaring import OWN, command
from vwlite.options.spec import CLASSES, FEATURES, IN, LEARN, OUT, PASSES, TABLES, option, option_of, specs_of
from vwlite.options.types import Whole
from vwlite.records import record
from vwlite.runs.options import DATA, InputOptions, TrainOptions


@command(
    "cv", "vwlite.validation.cv:cv",
    DATA, OWN, *specs_of(InputOptions, "data", "format", "on_error", "max_errors"), *specs_of(Settings, IN),
    *specs_of(InputOptions, TABLES), *specs_of(Settings, FEATURES, LEARN, CLASSES),
    *specs_of(TrainOptions, "passes", "holdout_period", "holdout_off", "early_terminate", "sparse", "class_weight",
              "group", "derive", "pairs"),
    *specs_of(InputOptions, "report_version", "threads"),
    usual=("--folds", "--group", "--stratify", "--label", "--algorithm", "--json"),
    examples=("vwlite cv clicks.csv --label clicked --folds 2 --stratify",
              "vwlite cv clicks.csv --label clicked --folds 2 --stratify --algorithm gd --json"),
)
@record(frozen=True, eq=False)
class CvOptions(TrainOptions):
    """Cross-validate: train on all folds but one, evaluate on that one, for each of them.

    Prints the measures of `vwlite evaluate`: mean, standard deviation over the folds, and the value of each fold. Folds
    are those of --algorithm auto, by the contents of rows without their label: copies of a row are in one fold; where
    there are few different rows, each is in all folds evenly. With --group NAME, a group with hash h (`vwlite split`)
    is in fold floor(K h); if that leaves a fold without groups, folds have equal numbers of them, by ascending h: with
    K groups, one each. The options are those of `vwlite train`. DATA are files.
    """

    folds: int = option(5, "--folds", group=PASSES, type=Whole(2, 20), metavar="K", help="The number of folds.")
    stratify: bool = option_of(SplitOptions, "stratify")
    seed: int = option_of(SplitOptions, "seed")
    json: bool = option(False, "--json", group=OUT, help="Write the measures as JSON, for programs.")
