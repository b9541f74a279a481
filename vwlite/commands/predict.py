"""`vwlite predict`"""

import click

from vwlite.options.groups import Command, PredictOptions, predict_options


@click.command("predict", cls=Command)
@predict_options
def command(options: PredictOptions) -> int:
    """Predict each example of DATA with a model.

    One line for each: the prediction, and the example's tag if it has one; an empty one for a blank line. Labels in
    DATA are not needed; if there are some, the summary says how good the predictions are.
    """
    from vwlite.runs.predict import predict

    return predict(options)
