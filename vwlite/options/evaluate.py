"""The options of `vwlite evaluate`."""

import click

from vwlite.options.run_options import LOSS_OF_OTHERS, OF_MODEL, InputOptions, ModelOptions, on_unknown
from vwlite.options.spec import OUT, RUN, option, specs_of
from vwlite.options.taking import takes
from vwlite.options.types import PATH, Condition, ConditionType, Number
from vwlite.records import record


@record(frozen=True)
class EvaluateOptions(ModelOptions):
    """The options of `vwlite evaluate`, as typed."""

    against: str | None = option(
        None, "--against", group=OUT, type=PATH, metavar="MODEL", reads="the model of --against",
        help="Compare with this model. On the same examples: the differences, with their intervals.",
    )  # fmt: skip
    by: str | None = option(
        None, "--by", group=OUT, type=click.STRING, metavar="NAME",
        help="Evaluate parts of the data too. NAME is a column, a key of JSON lines or a namespace; each of its values "
             "is a part.",
    )  # fmt: skip
    threshold: float | None = option(
        None, "--threshold", group=OUT, type=Number(), shown="0.5 of probabilities, 0 of scores",
        help="Predict the positive label from this on. A probability, or a score if the model has no probabilities.",
    )  # fmt: skip
    fail_if: tuple[Condition, ...] = option(
        (), "--fail-if", group=OUT, type=ConditionType(), multiple=True,
        help="Exit with code 1 if this holds. For example 'auc<0.9'; measures are named as in --json. May be repeated.",
    )  # fmt: skip
    on_unknown: str = on_unknown()
    json: bool = option(False, "--json", group=OUT, help="Write the measures as JSON, for programs.")


_EVALUATE = (
    *specs_of(ModelOptions), *specs_of(EvaluateOptions), *LOSS_OF_OTHERS, *OF_MODEL,
    *(spec for spec in specs_of(InputOptions, OUT, RUN) if spec.name != "raw_predictions"),
)  # fmt: skip
evaluate_options = takes(EvaluateOptions, _EVALUATE)
