"""The commands that evaluate and explain: options and help."""

import click

from vwlite.options.command import Command, run
from vwlite.options.spec import OUT, RUN, option, specs_of
from vwlite.options.taking import takes
from vwlite.options.types import PATH, Condition, ConditionType, Number, Whole
from vwlite.records import record
from vwlite.runs.options import LOSS_OF_OTHERS, OF_MODEL, OF_RUN, InputOptions, ModelOptions, on_unknown


@record(frozen=True)
class EvaluateOptions(ModelOptions):
    """The options of `vwlite evaluate`, as typed."""

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


_EVALUATE = (*specs_of(ModelOptions), *specs_of(EvaluateOptions), *LOSS_OF_OTHERS, *OF_MODEL, *OF_RUN)
evaluate_options = takes(EvaluateOptions, _EVALUATE)


@record(frozen=True)
class DiffOptions(ModelOptions):
    """The options of `vwlite diff`, as typed. Its first model is `model`."""

    other: str = ""  # the second model
    top: int = option(10, "--top", group=OUT, type=Whole(0), metavar="N", help="Number of weights and lines to show.")
    json: bool = option(False, "--json", group=OUT, help="Write the differences as JSON, for programs.")


_SPECS = (*specs_of(DiffOptions), *OF_MODEL, *specs_of(InputOptions, OUT, RUN))
_LEFT_OUT = ("raw_predictions", "report", "rejects")
diff_options = takes(DiffOptions, [s for s in _SPECS if s.name not in _LEFT_OUT])


@record(frozen=True)
class DriftOptions(ModelOptions):
    """The options of `vwlite drift`, as typed. Its DATA are two files."""

    page: str | None = option(
        None, "--page", group=OUT, type=PATH, metavar="FILE", writes=True,
        help="Write a page to this file, too. It has what differs, and histograms of both days.",
    )
    json: bool = option(False, "--json", group=OUT, help="Write all numbers as JSON, for programs.")


_DRIFT = (*specs_of(ModelOptions), *specs_of(DriftOptions), *OF_MODEL, *specs_of(InputOptions, OUT, RUN))
drift_options = takes(DriftOptions, [s for s in _DRIFT if s.name not in _LEFT_OUT], "YESTERDAY TODAY")


@record(frozen=True)
class ExplainOptions(ModelOptions):
    """The options of `vwlite explain`, as typed."""

    top: int = option(
        5, "--top", group=OUT, type=Whole(1), metavar="N", help="How many contributions to list, the largest first."
    )
    of_class: str | None = option(
        None, "--class", "of_class", group=OUT, type=click.STRING, metavar="NAME", shown="the predicted class",
        help="Explain the score of this class.",
    )
    json: bool = option(False, "--json", group=OUT, help="As JSON lines, for programs.")
    predictions: str | None = "-"  # which takes standard output, as those of `vwlite predict` do


@record(frozen=True)
class WorstOptions(ModelOptions):
    """The options of `vwlite worst`, as typed."""

    top: int = option(10, "--top", group=OUT, type=Whole(1), metavar="N", help="How many examples to show.")
    contributions: int = option(
        3, "--contributions", group=OUT, type=Whole(1), metavar="N", help="How many contributions to list for each."
    )
    json: bool = option(False, "--json", group=OUT, help="As JSON lines, for programs.")


_OF_EXAMPLES = (*LOSS_OF_OTHERS, *OF_MODEL, *OF_RUN)
explain_options = takes(ExplainOptions, (*specs_of(ModelOptions), *specs_of(ExplainOptions), *_OF_EXAMPLES))
worst_options = takes(WorstOptions, (*specs_of(ModelOptions), *specs_of(WorstOptions), *_OF_EXAMPLES))


@record(frozen=True)
class ReportOptions(EvaluateOptions):
    """The options of `vwlite report`, as typed."""

    output: str = option(
        "-", "--output", "-o", group=OUT, type=PATH, metavar="FILE", writes=True, stdout=True,
        help="Write the page to this file. By default to standard output.",
    )
    front: str | None = option(
        None, "--front", group=OUT, type=PATH, metavar="FILE", reads="the file of --front",
        help="Draw the losses over nonzero weights in this file. It is what vwlite tune --json writes.",
    )
    json: bool = option(False, "--json", group=OUT, help="Write what the page shows as JSON, for programs.")


_REPORT = (
    *specs_of(ModelOptions), *specs_of(ReportOptions), *LOSS_OF_OTHERS, *OF_MODEL,
    *(spec for spec in specs_of(EvaluateOptions) if spec.name in ("against", "threshold")), *OF_RUN,
)
report_options = takes(ReportOptions, _REPORT)


@click.command(
    "diff", cls=Command,
    examples=(
        "vwlite diff shard1.model shard2.model",
        "vwlite diff days.model sparse.model day2.vw --top 20",
    ),
)
@click.argument("model", type=PATH, metavar="A")
@click.argument("other", type=PATH, metavar="B")
@diff_options
def diff_command(options: DiffOptions) -> int:
    """Show what differs between the models A and B.

    Options; weights that came, went and changed, the largest changes first; with DATA, the lines that the models
    predict differently. Exit code 65 means that nothing can be compared.
    """
    return run("vwlite.evaluation.diff:diff", options)


@click.command("drift", cls=Command, examples=[
    "vwlite drift -m days.model day1.vw day2.vw --json", "vwlite drift -m days.model day1.vw day2.vw --page drift.html",
])
@drift_options
def drift_command(options: DriftOptions) -> int:
    """Show what differs between YESTERDAY and TODAY, two files of data, as a model sees them.

    The share of features that the model does not know, mean label, mean prediction, loss; of columns and namespaces, in
    how many lines they are, their unknown features, mean value, and how alike the features of both days are. A * is for
    what differs by more than a tenth and by more than chance: `vwlite help cron`.
    """
    return run("vwlite.evaluation.drift:drift", options)


@click.command(
    "evaluate", cls=Command,
    usual=("--model", "--against", "--by", "--threshold", "--fail-if", "--json", "--on-error", "--quiet"),
    examples=(
        "vwlite evaluate -m clicks.model clicks.csv --by device",
        "vwlite evaluate -m days.model day2.vw --fail-if 'log_loss>0.7'",
    ),
)
@evaluate_options
def evaluate_command(options: EvaluateOptions) -> int:
    """Show how good a model's predictions of labelled DATA are.

    Each measure is beside that of the best constant prediction, with a 95 % interval. Two labels: log loss (or the loss
    of the model), AUC, average precision, Brier score, accuracy, what a threshold finds, and a line of predicted above
    observed probabilities. Numbers: MSE, RMSE, MAE, MAPE, R^2, and the loss. Several quantiles: pinball loss, coverage,
    width. Classes: accuracy, log loss, macro averages, each class, the confusion matrix. Examples that were trained on
    flatter a model: use others.
    """
    return run("vwlite.evaluation.evaluate:evaluate", options)


@click.command(
    "explain", cls=Command,
    examples=(
        "vwlite explain -m clicks.model clicks.csv --top 3",
        "head -1 day2.vw | vwlite explain -m days.model --json",
    ),
)
@explain_options
def explain_command(options: ExplainOptions) -> int:
    """Explain the score of each example of DATA: what each feature contributes.

    A contribution is weight times value; all of them, the intercept and the base of the line add up to the score. The
    largest are listed by the names in the line, the sum of the others is one number. With classes: those to the score
    of the predicted class, or of --class; --json has all classes.
    """
    return run("vwlite.evaluation.explain:explain", options)


@click.command(
    "report", cls=Command,
    usual=("--model", "--output", "--against", "--threshold", "--json", "--on-error", "--quiet"),
    examples=(
        "vwlite report -m clicks.model clicks.csv -o report.html",
        "vwlite report -m days.model --against sparse.model day2.vw -o both.html",
    ),
)
@report_options
def report_command(options: ReportOptions) -> int:
    """Make a page about a model and labelled DATA.

    One HTML file without scripts, that loads nothing: how good the model is, beside the best constant prediction; what
    the rows with the highest scores hold, and what a threshold gives and costs; or the worst classes and the most
    confused pairs; or errors in the unit of the label. For models of tables, what each column and product of columns
    adds to the score, as curves, bars and maps, with how many rows are where; for others, the features that move scores
    most. The worst predictions, notes on the data, how the model was made.
    """
    return run("vwlite.evaluation.report:report", options)


@click.command(
    "worst", cls=Command,
    examples=(
        "vwlite worst -m clicks.model clicks.csv",
        "cat day2.vw | vwlite worst -m days.model --top 50 --json",
    ),
)
@worst_options
def worst_command(options: WorstOptions) -> int:
    """Show the examples of DATA with the largest loss, and the features that moved the score away from the label.

    A feature does if its contribution, weight times value, has the wrong sign; with classes, if it prefers the class
    with the largest score among the others to that of the label. DATA need labels.
    """
    return run("vwlite.evaluation.worst:worst", options)
