"""`vwlite train`: the order of its options, and its examples."""

from vwlite.algorithms.settings import SPECS, Settings
from vwlite.options.declaring import OWN, command
from vwlite.options.spec import CLASSES, FEATURES, IN, LEARN, OUT, RUN, TABLES, specs_of
from vwlite.runs.options import DATA, CacheOptions, InputOptions, TrainOptions

command(
    "train", "vwlite.dask.large:train",
    DATA, *specs_of(InputOptions, IN), *specs_of(Settings, IN), *specs_of(InputOptions, TABLES),
    *specs_of(Settings, FEATURES, LEARN, CLASSES), "passes", *specs_of(CacheOptions),
    OWN, SPECS["link"], *specs_of(InputOptions, OUT, RUN),
    usual=(
        "--model", "--initial", "--loss", "--algorithm", "--passes", "--cache", "--l1", "--learning-rate",
        "--label", "--quadratic", "--predictions", "--holdout-off", "--names", "--quiet",
    ),
    examples=("vwlite train clicks.csv --label clicked -m clicks.model",
              "vwlite train day1.vw day2.vw --algorithm gd --loss logistic --passes 10 -c -m days.model"),
)(TrainOptions)
