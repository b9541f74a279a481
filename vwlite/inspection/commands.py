"""The commands that look at data and models: options and help."""

import functools
from collections.abc import Callable
from typing import Any

import click

from vwlite.algorithms.settings import SPECS
from vwlite.options.command import Command, Option, run
from vwlite.options.spec import IN, OUT, RUN, TABLES, option, specs_of
from vwlite.options.taking import collected, takes, with_options
from vwlite.options.types import PATH, Choice, Number, Whole
from vwlite.records import record
from vwlite.runs.options import AS_WRITTEN, MOST_NAMES, InputOptions, reading_options


@record(frozen=True)
class DescribeOptions(InputOptions):
    """The options of `vwlite describe`, as typed."""

    all: bool = option(False, "--all", group=OUT, help="Print all columns and notes.")
    json: bool = option(False, "--json", group=OUT, help="Write all columns and notes as JSON, for programs.")


_VERSION = next(spec for spec in specs_of(InputOptions) if spec.name == "report_version")
_NOT_ITS_OWN = ("on_error", "max_errors", "rejects", "predictions", "raw_predictions", "report")
_DESCRIBE = (
    *specs_of(InputOptions, IN, TABLES), *specs_of(DescribeOptions), *specs_of(InputOptions, OUT, RUN),
)
describe_options = takes(DescribeOptions, [spec for spec in _DESCRIBE if spec.name not in _NOT_ITS_OWN])
_CHECK = (
    *(spec for spec in specs_of(InputOptions) if spec.name == "format"), *specs_of(InputOptions, TABLES),
    *(SPECS[name] for name in ("labels", "loss", "oaa", "classes")),
)


@record(frozen=True)
class ConvertOptions(InputOptions):
    """The options of `vwlite convert`, as typed."""

    model: str | None = option(
        None, "-m", "--model", group=OUT, type=PATH, metavar="MODEL", reads="the input model",
        help="Also write the features that this model derives. They are curves and products of columns (`vwlite help "
             "training`); columns have their roles in the model.",
    )


_CONVERT = (
    *specs_of(InputOptions, IN, TABLES), *specs_of(ConvertOptions), *(spec for spec in specs_of(InputOptions, OUT, RUN)
                                           if spec.name in ("quiet", "threads")),
)
convert_options = takes(ConvertOptions, _CONVERT)


@record(frozen=True)
class SplitOptions(InputOptions):
    """The options of `vwlite split`, as typed."""

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
    stratify: bool = option(
        False, "--stratify", group=OUT, excludes={"--group": ""}, help="Equal shares of each label.",
    )
    copies: str = option(
        "together", "--copies", group=OUT, type=Choice(["together", "apart"]),
        excludes={"--group": ""},
        help="Where equal rows go. together: into one file; apart: each by a hash of its own.",
    )
    seed: int = option(0, "--seed", group=OUT, type=Whole(0, (1 << 32) - 1), metavar="N", help="Of the hashes.")


_SPLIT = (
    *specs_of(SplitOptions),
    *(spec for spec in specs_of(InputOptions)
      if spec.name in ("data_options", "format", "label", *AS_WRITTEN, "no_header", "quiet")),
)


def check_options(f: Callable[..., int]) -> Callable[..., int]:
    """What decides which labels are valid. The function gets `files` and InputOptions for the rest."""

    @functools.wraps(f)
    def command(files: tuple[str, ...], **typed: Any) -> int:
        return f(files, collected(InputOptions, typed | {"on_error": "skip"}))

    return with_options(_CHECK, command)


@click.command(
    "check", cls=Command,
    usual=("--format", "--label", "--labels", "--loss",),
    examples=(
        "vwlite check days.model day1.vw day2.vw",
        "vwlite check clicks.csv --label clicked --labels 0,1",
    ),
)
@click.argument("files", nargs=-1, required=True, type=PATH, metavar="FILE...")
@check_options
def check_command(files: tuple[str, ...], options: InputOptions) -> int:
    """Check that each FILE - a model, a cache or data - is complete and valid.

    - is standard input, which must be data. A label is valid if `vwlite train` accepts it with the same
    options. --classes auto counts the classes of all FILEs together.

    Exit code 0: all are valid. 1: some are not; the output says why.
    """
    return run("vwlite.inspection.check:check", files, options)


@click.command(
    "info", cls=Command,
    examples=(
        "vwlite info days.model",
        "vwlite info days.model --json --report-version 2",
    ),
)
@click.argument("model", type=PATH)
@click.option("--json", "as_json", cls=Option, is_flag=True, help="As JSON, for programs.")
@click.option("--report-version", cls=Option, type=_VERSION.type, default="1", help=_VERSION.text())
def info_command(model: str, as_json: bool, report_version: str) -> int:
    """Show the options, counters, state and size of MODEL."""
    return run("vwlite.inspection.info:info", model, as_json, report_version)


TOP = 20


@click.command(
    "weights", cls=Command,
    examples=(
        "vwlite weights days.model --top 20",
        "vwlite weights days.model day1.vw day2.vw",
    ),
)
@click.argument("model", type=PATH)
@click.argument("data", nargs=-1, type=PATH, metavar="[DATA]...")
@reading_options(*AS_WRITTEN, "report_version")
@click.option("--top", cls=Option, type=Whole(1), metavar="N", help=f"Only the N largest.  [default: {TOP}]")
@click.option("--all", "everything", cls=Option, is_flag=True, help="All weights, including zeros.")
@click.option(
    "--feature", "features", cls=Option, multiple=True, metavar="NAMESPACE^NAME",
    help="Only the features of this name. NAME alone: without a namespace. The name is the last column. May be "
         "repeated.",
)
@click.option("--contains", cls=Option, metavar="TEXT", help="Only features whose name contains TEXT.")
@click.option("--by-class", cls=Option, is_flag=True, help="The N largest of each class, by class.")
@click.option("--json", "as_json", cls=Option, is_flag=True, help="As JSON, for programs.")
def weights_command(**options: Any) -> int:
    """Show the weights of MODEL, the largest |weight| first.

    A line is index, TAB, weight, and, if the model has names, TAB and the name; several names are features with the
    same index. With classes: index, class, weight. `vwlite train --names` stores names, `vwlite names` adds them.

    With DATA: also how many examples have the feature, and weight x spread, the largest first; the spread is the
    standard deviation of the feature's value in all examples. Then the sums of |weight x spread| by column or
    namespace. Names are those of DATA, too.
    """
    return run("vwlite.inspection.weights:weights", **options)


@click.command(
    "convert", cls=Command,
    usual=("--label", "--text", "--categorical", "--numeric", "--drop", "--tag", "--on-error", "--quiet",),
    examples=(
        "vwlite convert clicks.csv --label clicked > clicks.vw",
        "vwlite convert clicks.csv -m clicks.model > derived.vw",
    ),
)
@convert_options
def convert_command(options: ConvertOptions) -> int:
    """Convert DATA to VW text on standard output: the text that training on a table uses.

    Training on it gives the same weights as training on DATA with the same options, except of words that VW text cannot
    hold: in these a blank is %20, ':' is %3A, '|' is %7C, '%' is %25. VW text is copied unchanged.

    With --model, other programs can learn the features that a model derives, such as `age~64@38:0.25` of a curve.
    """
    return run("vwlite.inspection.convert:convert", options)


@click.command(
    "split", cls=Command,
    usual=("--test", "--output", "--group", "--time", "--stratify", "--label"),
    examples=(
        "vwlite split clicks.csv --test 0.2 --seed 1 -o train.csv -o test.csv",
        "vwlite split clicks.csv --test 0.5 --stratify --label clicked -o train.csv -o test.csv",
    ),
)
@takes(SplitOptions, _SPLIT)
def split_command(options: SplitOptions) -> int:
    """Split DATA into the files TRAIN and TEST, in the format of DATA, with all bytes of rows as they are.

    A row goes to TEST if the hash of its bytes without line end (MurmurHash3_x64_128 with the seed, its first 64 bits
    over 2^64) is below SHARE; with --group, that of its group. So it stays there when rows are added or come in another
    order, and equal rows are together; of few different rows, whole kinds are then in one file, which a note says.
    --copies apart hashes, for the k-th copy of a row, k > 1, its bytes, a line end and k: so the order among equal rows
    does not matter. --stratify takes, of the n rows of a label, the SHARE n with the smallest hashes; --time those from
    the latest time on from which they are SHARE of all. Both read files twice.
    """
    return run("vwlite.inspection.split:split", options)


@click.command(
    "describe", cls=Command,
    usual=("--label", "--drop", "--missing", "--format", "--all", "--json",),
    examples=(
        "vwlite describe clicks.csv --label clicked",
        "cat day1.vw | vwlite describe --json",
    ),
)
@describe_options
def describe_command(options: DescribeOptions) -> int:
    """Look at DATA before learning: columns, labels, likely mistakes.

    Prints a row for each column with the role that `vwlite train` would give it (for VW text and libsvm: for each
    namespace), the balance of the labels, notes, and the command to type next. Bad lines are counted. Numbers with ~
    are estimates.
    """
    return run("vwlite.inspection.describe:describe", options)


@click.command(
    "names", cls=Command,
    examples=(
        "vwlite names days.model day1.vw day2.vw",
        "vwlite names days.model day1.vw -o named.model",
    ),
)
@click.argument("model", type=PATH)
@click.argument("data", nargs=-1, required=True, type=PATH, metavar="DATA...")
@reading_options()
@click.option("-o", "--output", cls=Option, group=OUT, type=PATH, metavar="FILE",
              help="Write the model to this file, and keep MODEL unchanged.")
@click.option("--most", cls=Option, group=OUT, type=Whole(1), metavar="N", default=MOST_NAMES,
              help=f"Store at most N names of features, and N of crosses.  [default: {MOST_NAMES}]")
@click.option("--quiet", cls=Option, group=OUT, is_flag=True, help="Print nothing but errors.")
def names_command(model: str, data: tuple[str, ...], output: str | None, most: int, quiet: bool, **typed: Any) -> int:
    """Add feature names to MODEL: the names in DATA that have a weight in MODEL.

    DATA are read once, without learning. Names that MODEL already has are kept; weights and state do not change.
    """
    from vwlite.inspection.names import add_names

    given = {name: value for name, value in typed.items() if value is not None}
    return add_names(model, output or model, most, InputOptions(data=data, quiet=quiet, **given))
