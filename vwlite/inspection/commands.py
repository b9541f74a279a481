"""The commands that look at data and models: options and help."""

from dataclasses import replace

import click

from vwlite.algorithms.settings import SPECS
from vwlite.errors import UsageError
from vwlite.options.declaring import OWN, command
from vwlite.options.spec import IN, OTHERS, OUT, TABLES, argument, option, option_of, specs_of
from vwlite.options.types import PATH, Choice, Number, Whole
from vwlite.records import record
from vwlite.runs.options import AS_WRITTEN, DATA, MOST_NAMES, READING, InputOptions, ModelOptions

TOP = 20


@command(
    "check", "vwlite.inspection.check:check",
    replace(DATA, metavar="FILE...", required=True), *specs_of(InputOptions, "format", TABLES),
    *(SPECS[name] for name in ("labels", "loss", "oaa", "classes")),
    usual=("--format", "--label", "--labels", "--loss"),
    examples=("vwlite check days.model day1.vw day2.vw",
              "vwlite check clicks.csv --label clicked --labels 0,1"),
)
@record(frozen=True)
class CheckOptions(InputOptions):
    """Check that each FILE - a model, a cache or data - is complete and valid.

    - is standard input, which must be data. A label is valid if `vwlite train` accepts it with the same
    options. --classes auto counts the classes of all FILEs together.

    Exit code 0: all are valid. 1: some are not; the output says why.
    """


@command(
    "info", "vwlite.inspection.info:info",
    examples=("vwlite info days.model",
              "vwlite info days.model --json"),
)
@record(frozen=True)
class InfoOptions:
    """Show the options, counters, state and size of MODEL."""

    model: str = argument("", "model", type=PATH, required=True, reads="the input model")
    json: bool = option(False, "--json", help="As JSON, for programs.")
    report_version: str = option_of(InputOptions, "report_version", group=OTHERS)


OF_DATA = tuple(specs_of(InputOptions, "format", *AS_WRITTEN, "report_version", *READING[1:], "threads"))


@command(
    "weights", "vwlite.inspection.weights:weights", "model", DATA, *OF_DATA, OWN,
    examples=("vwlite weights days.model --top 20",
              "vwlite weights days.model day1.vw day2.vw"),
)
@record(frozen=True)
class WeightsOptions(ModelOptions):
    """Show the weights of MODEL, the largest |weight| first.

    A line is index, TAB, weight, and, if the model has names, TAB and the name; several names are features with the
    same index. With classes: index, class, weight. `vwlite train --names` stores names, `vwlite names` adds them.

    With DATA: also how many examples have the feature, and weight x spread, the largest first; the spread is the
    standard deviation of the feature's value in all examples. Then the sums of |weight x spread| by column or
    namespace; of a table that the default learned, the importance of each column: the mean |contribution| to the rows
    of training of all that it takes part in. Names are those of DATA, too.
    """

    model: str = argument("", "model", type=PATH, required=True, reads="the input model")
    top: int | None = option(None, "--top", type=Whole(1), metavar="N", shown=str(TOP), help="Only the N largest.")
    everything: bool = option(False, "--all", "everything", help="All weights, including zeros.")
    features: tuple[str, ...] = option(
        (), "--feature", "features", type=click.STRING, multiple=True, metavar="NAMESPACE^NAME",
        help="Only the features of this name. NAME alone: without a namespace. The name is the last column. May be "
             "repeated.",
    )
    contains: str | None = option(
        None, "--contains", type=click.STRING, metavar="TEXT", help="Only features whose name contains TEXT."
    )
    by_class: bool = option(False, "--by-class", help="The N largest of each class, by class.")
    json: bool = option(False, "--json", help="As JSON, for programs.")


@command(
    "convert", "vwlite.inspection.convert:convert",
    DATA, *specs_of(InputOptions, IN, TABLES), OWN, *specs_of(InputOptions, "quiet", "threads"),
    usual=("--label", "--text", "--categorical", "--numeric", "--drop", "--tag", "--on-error", "--quiet"),
    examples=("vwlite convert clicks.csv --label clicked > clicks.vw",
              "vwlite convert clicks.csv -m clicks.model > derived.vw"),
)
@record(frozen=True)
class ConvertOptions(InputOptions):
    """Convert DATA to VW text on standard output: the text that training on a table uses.

    Training on it gives the same weights as training on DATA with the same options, except of words that VW text cannot
    hold: in these a blank is %20, ':' is %3A, '|' is %7C, '%' is %25. VW text is copied unchanged.

    With --model, other programs can learn the features that a model derives, such as `age~64@38:0.25` of a curve.
    """

    model: str | None = option(
        None, "-m", "--model", group=OUT, type=PATH, metavar="MODEL", reads="the input model",
        help="Also write the features that this model derives. They are curves and products of columns (`vwlite help "
             "training`); columns have their roles in the model.",
    )


@command(
    "split", "vwlite.inspection.split:split",
    DATA, OWN, *specs_of(InputOptions, "data", "format", "label", *AS_WRITTEN, "no_header", "quiet"),
    usual=("--test", "--output", "--group", "--time", "--stratify", "--label"),
    examples=("vwlite split clicks.csv --test 0.2 --seed 1 -o train.csv -o test.csv",
              "vwlite split clicks.csv --test 0.5 --stratify --label clicked -o train.csv -o test.csv"),
)
@record(frozen=True)
class SplitOptions(InputOptions):
    """Split DATA into the files TRAIN and TEST, in the format of DATA, with all bytes of rows as they are.

    A row goes to TEST if the hash of its bytes without line end (MurmurHash3_x64_128 with the seed, its first 64 bits
    over 2^64) is below SHARE; with --group, that of its group. So it stays there when rows are added or come in another
    order, and equal rows are together; of few different rows, whole kinds are then in one file, which a note says.
    --copies apart hashes, for the k-th copy of a row, k > 1, its bytes, a line end and k: so the order among equal rows
    does not matter. --stratify takes, of the n rows of a label, the SHARE n with the smallest hashes; --time those from
    the latest time on from which they are SHARE of all. Both read files twice. Times are dates of ISO 8601, also months
    (2025-01) and weeks (2025-W09); numbers; or as --time-format says.
    """

    def _check_timed(self) -> None:
        if self.by_time is None:
            raise UsageError("--time-format needs --time")

    test: float = option(
        0.2, "--test", group=OUT, type=Number(0, 1, open_low=True, open_high=True), metavar="SHARE",
        help="The share of rows, or groups, in TEST.",
    )
    outputs: tuple[str, ...] = option(
        (), "-o", "--output", "outputs", group=OUT, type=PATH, metavar="FILE", multiple=True, required=True,
        writes=True, stdout=True, help="TRAIN, then TEST; - is standard output. Files with .gz are compressed.",
    )
    group: str | None = option(
        None, "--group", group=OUT, type=click.STRING, metavar="NAME",
        help="Column of groups. All rows of a group are in one file.",
    )
    by_time: str | None = option(
        None, "--time", "by_time", group=OUT, type=click.STRING, metavar="NAME",
        excludes={"--group": "", "--stratify": "", "--copies": ""},
        help="Column of times, dates or numbers. TEST has the last rows.",
    )
    time_format: str = option_of(InputOptions, "time_format", group=OUT, check=_check_timed)
    stratify: bool = option(
        False, "--stratify", group=OUT, excludes={"--group": ""}, help="Equal shares of each label.",
    )
    copies: str = option(
        "together", "--copies", group=OUT, type=Choice(["together", "apart"]),
        excludes={"--group": ""},
        help="Where equal rows go. together: into one file; apart: each by a hash of its own.",
    )
    seed: int = option(0, "--seed", group=OUT, type=Whole(0, (1 << 32) - 1), metavar="N", help="Of the hashes.")


@command(
    "describe", "vwlite.inspection.describe:describe",
    DATA, *specs_of(InputOptions, "data", "format", TABLES), OWN,
    *specs_of(InputOptions, "quiet", "report_version", "threads"),
    usual=("--label", "--drop", "--missing", "--format", "--all", "--json"),
    examples=("vwlite describe clicks.csv --label clicked",
              "cat day1.vw | vwlite describe --json"),
)
@record(frozen=True)
class DescribeOptions(InputOptions):
    """Look at DATA before learning: columns, labels, likely mistakes.

    Prints a row for each column with the role that `vwlite train` would give it (for VW text and libsvm: for each
    namespace), the balance of the labels, notes, and the command to type next. Bad lines are counted. Numbers with ~
    are estimates.
    """

    all: bool = option(False, "--all", group=OUT, help="Print all columns and notes.")
    json: bool = option(False, "--json", group=OUT, help="Write all columns and notes as JSON, for programs.")


@command(
    "names", "vwlite.inspection.names:names",
    "model", replace(DATA, metavar="DATA...", required=True), *specs_of(InputOptions, *READING, "threads"), OWN,
    *specs_of(InputOptions, "quiet"),
    examples=("vwlite names days.model day1.vw day2.vw",
              "vwlite names days.model day1.vw -o named.model"),
)
@record(frozen=True)
class NamesOptions(InputOptions):
    """Add feature names to MODEL: the names in DATA that have a weight in MODEL.

    DATA are read once, without learning. Names that MODEL already has are kept; weights and state do not change.
    """

    model: str = argument("", "model", type=PATH, required=True, reads="the input model")
    output: str | None = option(
        None, "-o", "--output", group=OUT, type=PATH, metavar="FILE",
        help="Write the model to this file, and keep MODEL unchanged.",
    )
    most: int = option(
        MOST_NAMES, "--most", group=OUT, type=Whole(1), metavar="N",
        help="Store at most N names of features, and N of crosses.",
    )
