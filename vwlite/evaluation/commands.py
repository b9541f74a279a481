"""The commands that evaluate and explain: options and help."""

from dataclasses import replace

import click

from vwlite.options.declaring import OWN, command
from vwlite.options.spec import OUT, argument, option, specs_of
from vwlite.options.types import PATH, Condition, ConditionType, Number, Whole
from vwlite.records import record
from vwlite.runs.options import (
    AS_WRITTEN,
    DATA,
    LOSS_OF_OTHERS,
    OF_MODEL,
    OF_RUN,
    InputOptions,
    ModelOptions,
    on_unknown,
)

_OF_EXAMPLES = (*LOSS_OF_OTHERS, *OF_MODEL, *OF_RUN)
_OF_TWO = specs_of(
    InputOptions, "data", "format", "on_error", "max_errors", "tag", *AS_WRITTEN, "quiet", "report_version", "threads",
)


@command(
    "evaluate", "vwlite.evaluation.evaluate:evaluate", DATA, *specs_of(ModelOptions), OWN, *_OF_EXAMPLES,
    usual=("--model", "--against", "--by", "--threshold", "--fail-if", "--json", "--on-error", "--quiet"),
    examples=("vwlite evaluate -m clicks.model clicks.csv --by device",
              "vwlite evaluate -m days.model day2.vw --fail-if 'log_loss>0.7'"),
)
@record(frozen=True)
class EvaluateOptions(ModelOptions):
    """Show how good a model's predictions of labelled DATA are.

    Each measure is beside that of the best constant prediction, with a 95 % interval. Two labels: log loss (or the loss
    of the model), AUC, average precision, Brier score, accuracy, what a threshold finds, and a line of predicted above
    observed probabilities. Numbers: MSE, RMSE, MAE, MAPE, R^2, and the loss. Several quantiles: pinball loss, coverage,
    width. Classes: accuracy, log loss, macro averages, each class, the confusion matrix. Examples that were trained on
    flatter a model: use others.
    """

    against: str | None = option(
        None, "--against", group=OUT, type=PATH, metavar="MODEL", reads="the model of --against",
        help="Compare with this model. On the same examples: the differences, with their intervals.",
    )
    by: str | None = option(
        None, "--by", group=OUT, type=click.STRING, metavar="NAME",
        help="Evaluate parts of the data too. NAME is a column, a key of JSON lines or a namespace; each of its values "
             "is a part.",
    )
    threshold: float | None = option(
        None, "--threshold", group=OUT, type=Number(), shown="0.5 of probabilities, 0 of scores",
        help="Predict the positive label from this on. A probability, or a score if the model has no probabilities.",
    )
    top: int | None = option(
        None, "--top", group=OUT, type=Whole(1), metavar="K",
        help="Print precision and recall at K, for classes. A label is found if it is among the K best classes.",
    )
    fail_if: tuple[Condition, ...] = option(
        (), "--fail-if", group=OUT, type=ConditionType(), multiple=True,
        help="Exit with code 1 if this holds. For example 'auc<0.9'; measures are named as in --json. May be repeated.",
    )
    on_unknown: str = on_unknown()
    json: bool = option(False, "--json", group=OUT, help="Write the measures as JSON, for programs.")


@command(
    "diff", "vwlite.evaluation.diff:diff", "model", "other", DATA, OWN, *_OF_TWO,
    examples=("vwlite diff shard1.model shard2.model",
              "vwlite diff days.model sparse.model day2.vw --top 20"),
)
@record(frozen=True)
class DiffOptions(ModelOptions):
    """Show what differs between the models A and B.

    Options; weights that came, went and changed, the largest changes first; with DATA, the lines that the models
    predict differently. Exit code 65 means that nothing can be compared.
    """

    model: str = argument("", "model", type=PATH, metavar="A", required=True, reads="the input model")
    other: str = argument("", "other", type=PATH, metavar="B", required=True, reads="the other model")
    top: int = option(10, "--top", group=OUT, type=Whole(0), metavar="N", help="Number of weights and lines to show.")
    json: bool = option(False, "--json", group=OUT, help="Write the differences as JSON, for programs.")


@command(
    "drift", "vwlite.evaluation.drift:drift",
    replace(DATA, metavar="YESTERDAY TODAY"), *specs_of(ModelOptions), OWN, *_OF_TWO,
    examples=("vwlite drift -m days.model day1.vw day2.vw --json",
              "vwlite drift -m days.model day1.vw day2.vw --page drift.html"),
)
@record(frozen=True)
class DriftOptions(ModelOptions):
    """Show what differs between YESTERDAY and TODAY, two files of data, as a model sees them.

    The share of features that the model does not know, mean label, mean prediction, loss; of columns and namespaces, in
    how many lines they are, their unknown features, mean value, and how alike the features of both days are. A * is for
    what differs by more than a tenth and by more than chance: `vwlite help cron`.
    """

    page: str | None = option(
        None, "--page", group=OUT, type=PATH, metavar="FILE", writes=True,
        help="Write a page to this file, too. It has what differs, and histograms of both days.",
    )
    json: bool = option(False, "--json", group=OUT, help="Write all numbers as JSON, for programs.")


@command(
    "explain", "vwlite.evaluation.explain:explain", DATA, *specs_of(ModelOptions), OWN, *_OF_EXAMPLES,
    examples=("vwlite explain -m clicks.model clicks.csv --top 3",
              "head -1 day2.vw | vwlite explain -m days.model --json"),
)
@record(frozen=True)
class ExplainOptions(ModelOptions):
    """Explain the score of each example of DATA: what each feature contributes.

    A contribution is weight times value; all of them, the intercept and the base of the line add up to the score. The
    largest are listed by the names in the line, the sum of the others is one number. With classes: those to the score
    of the predicted class, or of --class; --json has all classes. Of a table, they are those of columns; a text is
    shown with the contributions of its words, to which those of n-grams are given by the letters that they cover.
    """

    top: int = option(
        5, "--top", group=OUT, type=Whole(1), metavar="N", help="How many contributions to list, the largest first."
    )
    of_class: str | None = option(
        None, "--class", "of_class", group=OUT, type=click.STRING, metavar="NAME", shown="the predicted class",
        help="Explain the score of this class.",
    )
    json: bool = option(False, "--json", group=OUT, help="As JSON lines, for programs.")
    predictions: str | None = "-"  # which takes standard output, as those of `vwlite predict` do


@command(
    "worst", "vwlite.evaluation.worst:worst", DATA, *specs_of(ModelOptions), OWN, *_OF_EXAMPLES,
    examples=("vwlite worst -m clicks.model clicks.csv",
              "cat day2.vw | vwlite worst -m days.model --top 50 --json"),
)
@record(frozen=True)
class WorstOptions(ModelOptions):
    """Show the examples of DATA with the largest loss, and the features that moved the score away from the label.

    A feature does if its contribution, weight times value, has the wrong sign; with classes, if it prefers the class
    with the largest score among the others to that of the label. DATA need labels. Below an example is its line, or its
    text, as far as the terminal has room.
    """

    top: int = option(10, "--top", group=OUT, type=Whole(1), metavar="N", help="How many examples to show.")
    contributions: int = option(
        3, "--contributions", group=OUT, type=Whole(1), metavar="N", help="How many contributions to list for each."
    )
    json: bool = option(False, "--json", group=OUT, help="As JSON lines, for programs.")


@command(
    "report", "vwlite.evaluation.report:report",
    DATA, *specs_of(ModelOptions), OWN, *LOSS_OF_OTHERS, *OF_MODEL,
    *specs_of(EvaluateOptions, "against", "threshold"), *OF_RUN,
    usual=("--model", "--output", "--against", "--threshold", "--json", "--on-error", "--quiet"),
    examples=("vwlite report -m clicks.model clicks.csv -o report.html",
              "vwlite report -m days.model --against sparse.model day2.vw -o both.html"),
)
@record(frozen=True)
class ReportOptions(EvaluateOptions):
    """Make a page about a model and labelled DATA.

    One HTML file without scripts, that loads nothing: how good the model is, beside the best constant prediction; what
    the rows with the highest scores hold, and what a threshold gives and costs; or the worst classes and the most
    confused pairs; or errors in the unit of the label. For models of tables, what each column and product of columns
    adds to the score, as curves, bars and maps, with how many rows are where; for others, the features that move scores
    most. The worst predictions, notes on the data, how the model was made. Effects of columns are measured on a sample
    of about 100,000 rows of larger files.
    """

    output: str = option(
        "-", "--output", "-o", group=OUT, type=PATH, metavar="FILE", writes=True, stdout=True,
        help="Write the page to this file. By default to standard output.",
    )
    front: str | None = option(
        None, "--front", group=OUT, type=PATH, metavar="FILE", reads="the file of --front",
        help="Draw the losses over nonzero weights in this file. It is what vwlite tune --json writes.",
    )
    json: bool = option(False, "--json", group=OUT, help="Write what the page shows as JSON, for programs.")
