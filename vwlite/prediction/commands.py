"""`vwlite predict` and `vwlite calibrate`: options and help."""

import click

from vwlite.options.declaring import OWN, command
from vwlite.options.spec import LEARN, OUT, RUN, option, specs_of
from vwlite.options.types import PATH, Choice, NamesType, Number, Whole
from vwlite.records import record
from vwlite.runs.options import (
    DATA,
    LINK_OF_MODEL,
    LOSS_OF_OTHERS,
    OF_MODEL,
    OF_RUN,
    InputOptions,
    ModelOptions,
    on_unknown,
)


@command(
    "calibrate", "vwlite.prediction.calibrate:calibrate",
    DATA, *specs_of(ModelOptions), OWN, *OF_MODEL, *OF_RUN,
    examples=("vwlite calibrate -m clicks.model clicks.csv -o calibrated.model",
              "vwlite calibrate -m clicks.model clicks.csv -o calibrated.model --method isotonic"),
)
@record(frozen=True)
class CalibrateOptions(ModelOptions):
    """Fit a map from scores to calibrated ones on DATA that the model has not learned from.

    For models with probabilities: of two labels and --loss logistic, and of classes. With two labels the new model
    predicts mapped scores, whose sigmoid is the calibrated probability; raw predictions and weights are as before.
    With classes its weights are mapped, and the softmax of the scores are the probabilities. It cannot be continued or
    merged. Prints log loss and Brier score (squared error of probabilities), and in seven bins of scores, or of the
    largest probability, what is predicted and observed.
    """

    method: str | None = option(
        None, "--method", group=LEARN, type=Choice(["platt", "isotonic", "temperature", "vector"]),
        shown="platt; of classes, by folds",
        help="The map of scores. platt: a line. isotonic: steps, for many examples. Of classes: temperature, the same "
             "factor for all, or vector, a line for each.",
    )
    output: str = option(
        "", "-o", "--output", group=OUT, type=PATH, required=True, metavar="FILE", writes=True,
        help="Write the calibrated model to this file.",
    )
    json: bool = option(False, "--json", group=OUT, help="Print the results to standard output, as JSON.")


@command(
    "predict", "vwlite.prediction.predict:predict",
    DATA, *specs_of(ModelOptions), OWN, LINK_OF_MODEL, *LOSS_OF_OTHERS, *OF_MODEL, *specs_of(InputOptions, OUT, RUN),
    usual=(
        "--model", "--predictions", "--output-format", "--link", "--probabilities", "--on-error", "--tag", "--quiet",
    ),
    examples=("vwlite predict -m clicks.model clicks.csv -o predictions.txt",
              "cat day2.vw | vwlite predict -m days.model --link logistic > probabilities.txt"),
)
@record(frozen=True, eq=False)
class PredictOptions(ModelOptions):
    """Predict each example of DATA with a model.

    Prints one line for each example: the prediction, and the tag if there is one; for a blank line, an empty line. DATA
    need no labels; if there are any, the summary shows loss, accuracy and AUC.
    """

    probabilities: bool = option(
        False, "--probabilities", group=OUT, help="Write the probabilities of all classes. The format is "
                                                  "CLASS:PROBABILITY ..."
    )
    top: int | None = option(
        None, "--top", group=OUT, type=Whole(1), metavar="K",
        excludes={"--probabilities": "use one of them", "--threshold": "use one of them"},
        help="Write the K most probable classes. As CLASS:PROBABILITY ...; rows of csv have them as class_1, "
             "probability_1, ..., and json as top.",
    )
    predictions: str | None = option(
        "-", "-p", "-o", "--predictions", "--output", group=OUT, type=PATH, metavar="FILE", writes=True, stdout=True,
        help="Write predictions to this file; - is standard output.",
    )
    output_format: str = option(
        "text", "--output-format", group=OUT, type=click.Choice(["text", "csv", "json"]),
        help="Format of predictions. text: prediction and tag, with %20 for a blank in them. csv, json: rows of tag, "
             "label, score and probability, or class; csv with a header, json as JSON lines.",
    )
    threshold: float | None = option(
        None, "--threshold", group=OUT, type=Number(), metavar="P",
        help="Write labels instead of numbers. The positive one from this probability on, or score, if the model has "
             "no probabilities. Rows of csv and json have it as prediction.",
    )
    append: bool = option(
        False, "--append", group=OUT,
        excludes={"--output-format": "the format is that of DATA", "--tag": "DATA come with all their columns"},
        help="Write the rows of DATA with predictions appended. The format is that of DATA, and the bytes of rows stay "
             "as they are; --append-columns names the columns. Lines of fastText and of text get them behind tabs.",
    )
    append_columns: tuple[tuple[str, ...], ...] = option(
        (), "--append-columns", group=OUT, type=NamesType(), metavar="NAMES", multiple=True, needs=("--append",),
        shown="prediction, and probability if there is one; or the quantiles",
        help="The columns of --append. Known are those of --output-format csv, and prediction: a number, or a label as "
             "in DATA; NAME=AS calls one AS.",
    )
    on_unknown: str = on_unknown()
