"""`vwlite predict`"""

import click

from vwlite.options.command import Command
from vwlite.options.run_options import PredictOptions, predict_options


@click.command(
    "predict", cls=Command,
    usual=(
        "--model", "--predictions", "--output-format", "--link", "--probabilities", "--on-error", "--tag",
        "--quiet",
    ),
    examples=(
        "vwlite predict -m clicks.model clicks.csv -o predictions.txt",
        "cat day2.vw | vwlite predict -m days.model --link logistic > probabilities.txt",
    ),
)  # fmt: skip
@predict_options
def command(options: PredictOptions) -> int:
    """Predict each example of DATA with a model.

    Prints one line for each example: the prediction, and the tag if there is one; for a blank line, an empty line. DATA
    need no labels; if there are any, the summary shows loss, accuracy and AUC.
    """
    from vwlite.runs.predict import predict

    return predict(options)
