"""`vwlite evaluate`"""

import click

from vwlite.options.command import Command
from vwlite.options.evaluate import EvaluateOptions, evaluate_options


@click.command(
    "evaluate", cls=Command,
    usual=("--model", "--against", "--by", "--threshold", "--fail-if", "--json", "--on-error", "--quiet"),
    examples=(
        "vwlite evaluate -m clicks.model clicks.csv --by device",
        "vwlite evaluate -m days.model day2.vw --fail-if 'log_loss>0.7'",
    ),
)  # fmt: skip
@evaluate_options
def command(options: EvaluateOptions) -> int:
    """Show how good a model's predictions of labelled DATA are.

    Each measure is beside that of the best constant prediction, with a 95 % interval. Two labels: log loss (or the loss
    of the model), AUC, average precision, Brier score, accuracy, what a threshold finds, and a line of predicted above
    observed probabilities. Numbers: MSE, MAE, R^2, and the loss. Classes: accuracy, log loss, macro averages, each
    class, the confusion matrix. Examples that were trained on flatter a model: use others.
    """
    from vwlite.runs.evaluate import evaluate

    return evaluate(options)
