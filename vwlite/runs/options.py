"""The options of runs, as typed: records whose fields are the rows of options that several commands have.

`command` (`vwlite/options/declaring.py`) makes a command from its record. What the options mean is decided in
`vwlite/runs/resolve.py`.
"""

import os
from dataclasses import field, fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from vwlite.algorithms.losses import LOSS_OPTIONS
from vwlite.algorithms.settings import SPECS
from vwlite.errors import UsageError
from vwlite.input import MISSING, MOST_WORDS, cache_name
from vwlite.input.formats import FORMATS
from vwlite.options.spec import IN, LEARN, OUT, PASSES, RUN, TABLES, Spec, check_rows, option, specs_of
from vwlite.options.types import (
    PATH,
    Bytes,
    Choice,
    ClassWeight,
    Condition,
    ConditionType,
    Delimiter,
    Escape,
    IntervalType,
    NamesType,
    Number,
    ProgressType,
    TimeFormat,
    Whole,
)
from vwlite.records import record

if TYPE_CHECKING:
    from vwlite.input.part import Part
    from vwlite.input.schema import RoleOptions


HOLDOUT_PERIOD = 10
WRITTEN_PERIOD = 50  # of --holdout-to
EARLY_TERMINATE = 3
MOST_NAMES = 1_000_000
KEPT_GAIN = 0.95  # of --sparse
PAIRS = 40  # of columns that are taken at most, if --pairs does not say it


def on_unknown(**spec: Any) -> Any:
    """The field of the option --on-unknown, which commands have that apply or continue a model."""
    return option(
        "note", "--on-unknown", group=IN, reported=True, type=Choice(["note", "error"]), **spec,
        help="What to do about columns without a known word. Or namespaces: of which the model has no feature. note: "
             "end with a note; error: fail with exit code 65.",
    )


# No __repr__ and __eq__: to make them takes a millisecond for each class of options, at every start.
@record(frozen=True, eq=False)
class InputOptions:
    """What every command that reads data takes."""

    data: tuple[str, ...] = option(
        (), "-d", "--data", "data_options", group=IN, multiple=True, type=PATH, metavar="FILE",
        help="A file of DATA. May be repeated.",
    )
    format: str = option(
        "auto", "--format", group=IN, reported=True, type=Choice(["auto", *FORMATS]),
        help="Format of DATA. auto: by the first lines of each file, for tables by its name.",
    )
    label: str | None = option(
        None, "--label", group=TABLES, type=click.STRING, metavar="NAME",
        help="The label's column, or key of JSON lines. DATA are tables then.",
    )
    text: tuple[tuple[str, ...], ...] = option(
        (), "--text", group=TABLES, type=NamesType(), metavar="NAMES", multiple=True,
        help="Text columns: each word, in lower case, is a feature.",
    )
    categorical: tuple[tuple[str, ...], ...] = option(
        (), "--categorical", group=TABLES, type=NamesType(), metavar="NAMES", multiple=True,
        help="Categorical columns, even if their cells are numbers.",
    )
    numeric: tuple[tuple[str, ...], ...] = option(
        (), "--numeric", group=TABLES, type=NamesType(), metavar="NAMES", multiple=True,
        help="Numeric columns. Columns without a role are numeric if their first 1000 rows are numbers, else "
             "categorical, or times (see --time); without a value there, by the first rows that have one.",
    )
    time: tuple[tuple[str, ...], ...] = option(
        (), "--time", group=TABLES, type=NamesType(), metavar="NAMES", multiple=True,
        help="Columns of dates or times. ISO 8601, seconds or milliseconds since 1970, or as --time-format says; hour, "
             "weekday and month become features. Without it, --algorithm auto finds columns of dates in files.",
    )
    drop: tuple[tuple[str, ...], ...] = option(
        (), "--drop", group=TABLES, type=NamesType(), metavar="NAMES", multiple=True, help="Columns to ignore."
    )
    tag: str | None = option(
        None, "--tag", group=TABLES, type=click.STRING, metavar="NAME",
        help="Column that is printed with each prediction.",
    )
    importance: str | None = option(
        None, "--importance", group=TABLES, type=click.STRING, metavar="NAME",
        help="Column of the importance weights of examples.",
    )
    ngram: int = option(
        1, "--ngram", group=TABLES, type=Whole(1, MOST_WORDS), metavar="N",
        help="Use up to N consecutive words of a text as one feature.",
    )
    delimiter: str = option(
        "", "--delimiter", group=TABLES, type=Delimiter(), metavar="C",
        help="Cell delimiter. By default a comma, or a tab or ; if the header has that and no comma.",
    )
    quote: str = option(
        "", "--quote", group=TABLES, type=click.Choice(['"', "none"]), metavar="C",
        help="The quote around cells. By default \"; none: quotes are ordinary characters, and a cell ends at the next "
             "delimiter or line end.",
    )
    escape: str = option(
        "", "--escape", group=TABLES, type=Escape(), metavar="C",
        help="Escape character of delimited text, such as '\\'. A quote, delimiter or line end after it is ordinary.",
    )
    columns: tuple[tuple[str, ...], ...] = option(
        (), "--columns", group=TABLES, type=NamesType(), metavar="NAMES", multiple=True,
        help="Names of all columns, for files without a header.",
    )
    no_header: bool = option(
        False, "--no-header", group=TABLES, help="Files have no header. Their columns are named c1, c2, ..."
    )
    missing: tuple[tuple[str, ...], ...] = option(
        (), "--missing", group=TABLES, type=NamesType(), metavar="WORDS", multiple=True, shown=",".join(MISSING),
        help="Words that mean a missing value, as an empty cell does. In numeric and time columns, the label and the "
             "importance.",
    )
    decimal: str = option(
        "", "--decimal", group=TABLES, type=Choice([".", ","]), metavar="C",
        help="Decimal point of numeric cells. With this, --thousands or --units, $ and other signs of money, and %, "
             "are left out of numbers, and 5- and (5) are -5.",
    )
    thousands: str = option(
        "", "--thousands", group=TABLES, type=Choice([",", ".", " ", "'", "_"]), metavar="C",
        help="Separator of thousands in numeric cells, as in 1,026.",
    )
    units: tuple[tuple[str, ...], ...] = option(
        (), "--units", group=TABLES, type=NamesType(), metavar="WORDS", multiple=True,
        help="Words that are left out beside numbers, as in 12 kg. In numeric columns, the label and the "
             "importance.",
    )
    time_format: str = option(
        "", "--time-format", group=TABLES, type=TimeFormat(), metavar="FORMAT",
        help="How times are written, such as '%d.%m.%Y %H:%M'. Letters are those of strptime: %d %m %b %B %Y %y %H %I "
             "%p %M %S %f %z %%. By default ISO 8601, or what reads the first rows.",
    )
    group: str | None = None
    unspaced: tuple[str, ...] | None = None  # as of RoleOptions
    predictions: str | None = None
    raw_predictions: str | None = option(
        None, "-r", "--raw-predictions", group=OUT, vw=("--raw_predictions",), type=PATH, metavar="FILE",
        writes=True, stdout=True, help="Write raw scores, neither clipped nor linked, to this file.",
    )
    quiet: bool = option(False, "--quiet", group=OUT, help="Print nothing but errors.")
    report: str | None = option(
        None, "--report", group=OUT, type=PATH, metavar="FILE", writes=True,
        help="Write options and results to this file, as JSON. Also if the run fails: then with the error.",
    )
    report_version: str = option(
        "2", "--report-version", group=OUT,
        type=Choice(["2"], ended={"1": "version 1 ended with vwlite 0.2: use 2, whose keys `vwlite help json` lists"}),
        help="Version of the keys of JSON. There is one, that of `vwlite help json`.",
    )
    on_error: str = option(
        "stop", "--on-error", group=IN, reported=True, type=Choice(["stop", "skip"]),
        help="Stop at the first bad line, or skip bad lines.",
    )
    max_errors: int | None = option(
        None, "--max-errors", group=IN, reported=True, type=Whole(0), metavar="N", shown="no limit",
        needs=("--on-error skip",), help="With --on-error skip: stop after more than N bad lines.",
    )
    rejects: str | None = option(
        None, "--rejects", group=IN, type=PATH, metavar="FILE", needs=("--on-error skip",), writes=True,
        help="With --on-error skip: write bad lines to this file.",
    )
    threads: int = option(
        2, "--threads", group=RUN, reported=True, type=Whole(1, 64), metavar="N",
        help="Number of threads. One learns or predicts; the others read ahead and parse, or read the cache. The "
             "result does not depend on it.",
    )
    typed: dict[str, Any] = field(default_factory=dict)  # the options of Settings, under their names in SPECS
    given: frozenset[str] = field(default=frozenset(), compare=False)  # which of its own options were typed

    @property
    def of_predictions(self) -> dict[str, str | None]:
        """The files of predictions."""
        return {"predictions": self.predictions, "raw_predictions": self.raw_predictions}

    @property
    def of_bad_lines(self) -> dict[str, Any]:
        """What BadLines takes."""
        return {"skip": self.on_error == "skip", "most": self.max_errors, "rejects": self.rejects}

    @property
    def of_outputs(self) -> dict[str, str]:
        """The files that are written, by the option that names them; - is standard output."""
        written = [(spec, value) for spec, value in self._rows() if spec.writes and value]
        outputs = {spec.long: value for spec, value in written if not spec.multiple}
        several = [(spec.long, value) for spec, value in written if spec.multiple]
        return outputs | {f"{name} ({k})": path for name, paths in several for k, path in enumerate(paths, 1)}

    def _rows(self) -> list[tuple[Spec, Any]]:
        """All options, with their values."""
        found = [(spec, getattr(self, f.name)) for f in fields(self) for spec in f.metadata.get("specs", ())]
        return found + [(SPECS[name], value) for name, value in self.typed.items()]

    def check(self) -> None:
        """UsageError for options of a run that cannot be used together, and for files that would be overwritten."""
        from vwlite.output.atomic import check_apart  # not at the top: the help needs no files

        check_rows(self)
        inputs = [(path, "one of the DATA files") for path in self.data or ["-"]]
        for spec, value in self._rows():
            if spec.writes and value == "-" and not spec.stdout:
                raise UsageError(f"{spec.long} -: standard output has the results; name a file")
            if spec.reads and value:
                inputs += [(path, spec.reads) for path in (value if spec.multiple else [value])]
        inputs += self._beside_files()
        check_apart(self.of_outputs, inputs, ("--model", getattr(self, "initial", None)))

    def _beside_files(self) -> list[tuple[str, str]]:
        """Paths of files that no option names and no output may overwrite, and what they are."""
        return []

    @property
    def names_columns(self) -> bool:
        """Whether anything was typed that only tables have."""
        names = ["group", *(spec.name for spec in specs_of(InputOptions, TABLES))]
        return any(getattr(self, name) != getattr(InputOptions, name) for name in names)

    @property
    def roles(self) -> "RoleOptions":
        """Those of columns, and what else is said of tables."""
        from vwlite.input.schema import RoleOptions

        several = ("numeric", "categorical", "text", "time", "drop")
        named: dict[str, Any] = {name: tuple(chain(*getattr(self, name))) for name in several}
        missing = tuple(filter(None, chain(*self.missing))) if self.missing else None  # --missing '': no word
        return RoleOptions(
            label=self.label, importance=self.importance, tag=self.tag, group=self.group, ngram=self.ngram,
            delimiter=self.delimiter, names=tuple(chain(*self.columns)), no_header=self.no_header, missing=missing,
            decimal=self.decimal, thousands=self.thousands, units=tuple(filter(None, chain(*self.units))),
            quote=self.quote, escape=self.escape, time_format=self.time_format, unspaced=self.unspaced,
            **named,
        )


@record(frozen=True, eq=False)
class ModelOptions(InputOptions):
    """What every command takes that applies a model to data."""

    model: str | None = option(
        None, "-m", "-i", "--model", group=IN, vw=("--initial_regressor",), type=PATH, required=True, metavar="FILE",
        reads="the input model", help="The model file.",
    )


@record(frozen=True)
class SourceOptions:
    """How `Source` reads DATA, beside what every command takes."""

    cache: str | None = None  # the file of the cache, if there is to be one
    rebuild: bool = False  # it, whatever it holds
    keeps_batches: bool = False  # after the first pass, in a cache
    holds_out: bool = False  # lines, for a file: only the text has them
    may_lack: bool = False  # all JSON lines may lack a key that an option names
    part: "Part | None" = None  # of the rows, that is read alone
    needs_bad: str = ""  # the option that needs bad lines, which a cache does not have


@record(frozen=True, eq=False)
class CacheOptions(InputOptions):
    """What every command takes that can cache parsed data."""

    def _check_cached(self) -> None:
        """Refuse to cache what has no size and no time of change."""
        name = "--cache" if self.cache else "--cache-file"
        if not self.data or "-" in self.data:
            raise UsageError(f"{name} cannot detect a change of standard input: name DATA files")
        for path in self.data:
            if os.path.exists(path) and not os.path.isfile(path):
                raise UsageError(f"{name} cannot detect a change of {path}, which is not a file: leave it out")

    cache: bool = option(
        False, "-c", "--cache", group=PASSES, check=_check_cached, writes=True,
        excludes={"--cache-file": "one cache is enough"},
        help="Cache the parsed data for later passes and runs. The cache is FILE.vwlite-cache beside the first FILE "
             "of DATA.",
    )
    cache_file: str | None = option(
        None, "--cache-file", group=PASSES, vw=("--cache_file",), type=PATH, metavar="FILE", check=_check_cached,
        writes=True, help="Like --cache, with this file as the cache.",
    )
    kill_cache: bool = option(
        False, "-k", "--kill-cache", group=PASSES, vw=("--kill_cache",), needs=("--cache", "--cache-file"),
        help="Rebuild the cache.",
    )

    @property
    def cache_path(self) -> str | None:
        """The file of the cache, if there is to be one."""
        return self.cache_file or (cache_name(self.data[0]) if self.cache else None)

    @property
    def of_outputs(self) -> dict[str, str]:
        cache = {"--cache" if self.cache else "--cache-file": self.cache_path} if self.cache_path else {}
        return super().of_outputs | cache

    @property
    def of_source(self) -> SourceOptions:
        """Those of them that are for a Source."""
        needs_bad = "--rejects" if self.rejects else "--max-errors" if self.max_errors is not None else ""
        return SourceOptions(self.cache_path, self.kill_cache, needs_bad=needs_bad)


_CHECKED = "a checkpoint replaces the model before it is checked"


def _are_files(data: tuple[str, ...]) -> bool:
    return bool(data) and all(map(os.path.isfile, data))


DERIVED = ("none", "curves", "pairs", "auto")  # what --derive takes, and what it is unless it is typed
DEFAULT_DERIVED = "auto"


@record(frozen=True, eq=False)
class TrainOptions(CacheOptions):
    """Train a model on DATA. Without options it chooses the loss, the rates and the number of passes.

    DATA are files of VW text or libsvm, or tables (`vwlite help tables`), plain or compressed (gzip, bzip2, xz,
    zstd); none, or -, is standard input.
    """

    def _beside_files(self) -> list[tuple[str, str]]:
        if not (self.initial or self.keep_rows or "continued" in self.given):
            return []
        from vwlite.model.rows_beside import path_of  # not at the top: the help needs no files

        return [(path_of(path), f"where rows of {path} are kept") for path in (self.initial, self.model) if path]

    def _check_holdout_period(self) -> None:
        if self.passes == 1 and self.holdout_to is None:
            raise UsageError("--holdout-period needs --passes above 1: a single pass has no holdout")

    def _check_termination(self) -> None:
        if self.passes == 1:
            raise UsageError("--early-terminate needs --passes above 1: a single pass has no holdout")
        if self.holdout_off:
            raise UsageError("--early-terminate needs a holdout: leave --holdout-off out")

    def _check_known(self) -> None:
        if self.initial is None and "continued" not in self.given:
            raise UsageError("--on-unknown needs --initial or --continue: a new model knows nothing")

    def _check_files(self) -> None:
        if not _are_files(self.data):
            raise UsageError("--max-size may have to learn several times: name files, not standard input")

    def _check_counted(self) -> None:
        if self.class_weight == "balanced" and not _are_files(self.data):
            raise UsageError("--class-weight balanced counts the labels first, in files: name the weights, such as "
                             "--class-weight=-1:1,1:10")

    passes: int = option(
        1, "--passes", group=PASSES, reported=True, type=Whole(1), metavar="N",
        help="Number of passes over the data. With --algorithm auto it is the maximum, and the default stops "
             "when the loss no longer improves.",
    )
    holdout_period: int | None = option(
        None, "--holdout-period", group=PASSES, vw=("--holdout_period",), type=Whole(2), metavar="N",
        check=_check_holdout_period, shown=str(HOLDOUT_PERIOD),
        help="With several passes, hold out every Nth line. These lines are predicted, but not learned.",
    )
    holdout_off: bool = option(
        False, "--holdout-off", group=PASSES, vw=("--holdout_off",),
        excludes={"--holdout-period": "", "--holdout-to": ""}, help="Hold out no lines: learn from all.",
    )
    early_terminate: int | None = option(
        None, "--early-terminate", group=PASSES, reported=True, vw=("--early_terminate",), metavar="N", type=Whole(1),
        check=_check_termination, shown=str(EARLY_TERMINATE), help="Stop after N passes without a better holdout loss.",
    )
    sparse: float | None = option(
        None, "--sparse", group=LEARN, reported=True, type=Number(0, 1, open_low=True, open_high=True),
        metavar="[=SHARE]", bare=str(KEPT_GAIN),
        help="Find a small model. Of learners of adagrad-rda with many values of --l1 and rates, the one with the "
             "fewest weights that keeps SHARE (0.95) of the gain of --algorithm auto in loss over the best constant.",
    )
    max_size: int | None = option(
        None, "--max-size", group=LEARN, reported=True, type=Bytes(), needs=("--model",), check=_check_files,
        excludes={"--initial": "", "--checkpoint-every": "", "--holdout-to": "",
                  **dict.fromkeys(("--predictions", "--raw-predictions"), "predict with the model")},
        help="Write a model of at most so many bytes, such as 2M. What predictions do not need is left out first; then "
             "a smaller model is learned, by --sparse or with fewer --bits.",
    )
    most_weights: int | None = None  # of --sparse with --max-size
    class_weight: str | tuple[tuple[str, float], ...] | None = option(
        None, "--class-weight", group=LEARN, reported=True, type=ClassWeight(), metavar="WEIGHTS", check=_check_counted,
        help="Multiply importances by weights of labels. balanced: n / (k n_c) of k labels, counted first; or "
             "LABEL:WEIGHT,..., with 1 for the others.",
    )
    validate: str | None = option(
        None, "--validate", group=PASSES, reported=True, type=PATH, metavar="FILE", reads="the file of --validate",
        excludes={"--predictions": "nothing is out of fold"},
        help="Choose the model by the loss on this file. Of --algorithm auto, in place of folds: for data in the order "
             "of time.",
    )
    group: str | None = option(
        None, "--group", group=TABLES, reported=True, type=click.STRING, metavar="NAME",
        excludes={"--tag": "the group is the tag", "--validate": "there are no folds",
                  "--sparse": "it has no groups"},
        help="Column of groups, such as customers. All rows of a group are in one fold of --algorithm auto: losses and "
             "-p are those of new groups. It is not learned, and printed as a tag.",
    )
    derive: str = option(
        DEFAULT_DERIVED, "--derive", group=LEARN, reported=True, type=Choice(list(DERIVED)), metavar="KIND",
        help="What --algorithm auto derives from columns of tables. It is kept if it reduces the loss on rows not "
             "learned. curves: of numbers, and n-grams of texts; pairs: also products of two columns; auto: also of "
             "three.",
    )
    pairs: int | None = option(
        None, "--pairs", group=LEARN, reported=True, type=Whole(0, 1000), metavar="N", shown=str(PAIRS),
        help="Limit the pairs of --derive to N. 0: no pairs, and no triples.",
    )
    model: str | None = option(
        None, "-m", "-f", "--model", group=OUT, reported=True, vw=("--final_regressor",), type=PATH, metavar="FILE",
        writes=True, help="Write the model to this file.",
    )
    initial: str | None = option(
        None, "-i", "--initial", group=OUT, reported=True, vw=("--initial_regressor",), type=PATH, metavar="FILE",
        reads="the input model", help="Continue from this model, with its options.",
    )
    continued: str | None = option(
        None, "--continue", "continued", group=OUT, type=PATH, metavar="MODEL", writes=True,
        help="Continue MODEL and replace it. If it is not there, a new one is written. The input of its last run is "
             "refused; a run that is interrupted changes nothing: `vwlite help cron`.",
    )
    keep_rows: int | None = option(
        None, "--keep-rows", group=OUT, reported=True, type=Bytes(0), metavar="SIZE",
        excludes=dict.fromkeys(("--save-weights-only", "--max-size", "--checkpoint-every"), ""),
        help="Keep the newest training rows in MODEL.rows. At most SIZE, such as 64M: later runs with --continue or "
             "--initial train the model again from kept and new rows (`vwlite help nights`). 0: keep none. A new "
             "model of --continue keeps 64M.",
    )
    past: float | None = option(
        None, "--past", group=OUT, reported=True, type=Number(0, 1), metavar="SHARE", shown="found",
        help="Multiply the importances of all kept rows by SHARE. By default, the new rows decide; 1: forget nothing.",
    )
    again: bool = option(
        False, "--again", group=OUT, help="With --continue: learn the input of the last run again."
    )
    on_unknown: str = on_unknown(
        check=_check_known, excludes=dict.fromkeys(("--cache", "--cache-file"), "a cache has no names of columns"),
    )
    fail_if: tuple[Condition, ...] = option(
        (), "--fail-if", group=OUT, type=ConditionType(), multiple=True, excludes={"--checkpoint-every": _CHECKED},
        help="Write no model and exit with code 1 if this holds. For example 'auc<0.9'; measures are those of the "
             "summary, named as by vwlite evaluate. May be repeated.",
    )
    min_examples: int | None = option(
        None, "--min-examples", group=OUT, type=Whole(1), metavar="N", excludes={"--checkpoint-every": _CHECKED},
        help="Write no model if fewer examples were learned. The exit code is 1 then.",
    )
    log_format: str = option(
        "text", "--log-format", group=OUT, type=Choice(["text", "line", "json"]),
        help="Format of standard error. line: one line about the run, and warnings; json: each line is a JSON object.",
    )
    names: int | None = option(
        None, "--names", group=OUT, reported=True, type=Whole(1), metavar="[=N]", bare=str(MOST_NAMES),
        needs=("--model",), help="Store feature names in the model. At most N of features (1,000,000 without N) and N "
                                 "of crosses; typed as --names or --names=N.",
    )
    save_weights_only: bool = option(
        False, "--save-weights-only", group=OUT, reported=True, needs=("--model",),
        help="Save a smaller model that cannot be continued.",
    )
    allow_empty: bool = option(
        False, "--allow-empty", group=OUT,
        help="Write the model even if nothing was learned. Also if no JSON line has a key that an option names. "
             "Without it, both are errors, and an existing model is kept.",
    )
    predictions: str | None = option(
        None, "-p", "--predictions", group=OUT, type=PATH, metavar="FILE", writes=True, stdout=True,
        help="Write predictions to this file. They are made before learning, or out of fold (--algorithm auto); - is "
             "standard output.",
    )
    holdout_to: str | None = option(
        None, "--holdout-to", group=OUT, reported=True, type=PATH, metavar="FILE", writes=True,
        help=f"Hold out every {WRITTEN_PERIOD}th line and write it to this file. --holdout-period changes the "
             "number. The file is for the --holdout of vwlite merge.",
    )
    progress: tuple[float, float | None] = option(
        (2.0, None), "-P", "--progress", group=OUT, type=ProgressType(), shown="2.0",
        help="Print progress every N examples, or at growing intervals. An integer is N; a factor such as 2.0 "
             "multiplies the interval.",
    )
    checkpoint_every: tuple[int | None, int | None] | None = option(
        None, "--checkpoint-every", group=RUN, type=IntervalType(), needs=("--model",),
        help="Save the model at intervals: 1000000 (examples) or 60s. Of --algorithm auto with files: the best so far, "
             "after passes.",
    )

    @property
    def held_out(self) -> int:
        """Every how many lines one is held out; 0: none is."""
        if self.holdout_off or (self.passes == 1 and self.holdout_to is None):
            return 0
        return self.holdout_period or (HOLDOUT_PERIOD if self.holdout_to is None else WRITTEN_PERIOD)

    @property
    def of_source(self) -> SourceOptions:
        return replace(
            super().of_source, keeps_batches=self.passes > 1, holds_out=self.holdout_to is not None,
            may_lack=self.allow_empty,
        )


LOSS_OF_OTHERS = (
    replace(SPECS["loss"], group=OUT, default=None,
            help="The loss of a model of Vowpal Wabbit, for the summary. Such models do not store it."),
    *(replace(SPECS[name], group=OUT, default=None, help=f"The same for --loss {loss}.")
      for name, loss in LOSS_OPTIONS.items()),
)
AS_WRITTEN = ("delimiter", "quote", "escape", "columns")  # of tables: a file may have others than the model
READING = ("format", "on_error", "max_errors", "rejects")  # of a command that gets its DATA in its own way
OF_RUN = tuple(specs_of(InputOptions, "quiet", "report", "report_version", "threads"))
OF_MODEL = tuple(specs_of(InputOptions, IN, "tag", *AS_WRITTEN))
LINK_OF_MODEL = replace(SPECS["link"], default=None, shown="the model's")
DATA = Spec(("data",), "", type=PATH, multiple=True, metavar="[DATA]...")  # the argument
