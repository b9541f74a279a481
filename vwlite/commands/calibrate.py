"""`vwlite calibrate`"""

import click

from vwlite.options.calibrate import CalibrateOptions, calibrate_options
from vwlite.options.command import Command


@click.command(
    "calibrate", cls=Command,
    examples=(
        "vwlite calibrate -m clicks.model clicks.csv -o calibrated.model",
        "vwlite calibrate -m clicks.model clicks.csv -o calibrated.model --method isotonic",
    ),
)  # fmt: skip
@calibrate_options
def command(options: CalibrateOptions) -> int:
    """Fit a map from scores to calibrated ones on DATA that the model has not learned from.

    For models of two labels and --loss logistic. The new model predicts mapped scores, whose sigmoid is the calibrated
    probability; raw predictions and weights are as before, and it cannot be continued or merged. Prints log loss and
    Brier score (mean squared error of probabilities), and in seven bins of scores what is predicted and observed.
    """
    from vwlite.runs.calibrate import calibrate

    return calibrate(options)
