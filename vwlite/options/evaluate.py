"""The options of `vwlite evaluate`."""

import operator
import re
from typing import Any, NamedTuple

import click

from vwlite.options.run_options import LOSS_OF_OTHERS, OF_MODEL, InputOptions, ModelOptions, takes
from vwlite.options.spec import OUT, RUN, option, specs_of
from vwlite.options.types import PATH, Number
from vwlite.records import record

_COMPARED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class Condition(NamedTuple):
    """A condition on a measure, such as auc<0.9."""

    measure: str
    sign: str
    limit: float

    def holds(self, value: float) -> bool:
        return bool(_COMPARED[self.sign](value, self.limit))

    def __str__(self) -> str:
        return f"{self.measure}{self.sign}{self.limit:g}"


class ConditionType(click.ParamType):
    name = "condition"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "CONDITION"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Condition:
        found = re.fullmatch(r"\s*([A-Za-z][\w ]*?)\s*(<=|>=|<|>)\s*([-+.\deE]+)\s*", str(value))
        try:
            return Condition(found[1].lower().replace(" ", "_"), found[2], float(found[3]))  # type: ignore[index]
        except (TypeError, ValueError):
            self.fail(f"{value!r} is not a measure, <, <=, > or >=, and a number, such as 'auc<0.9'", param, ctx)


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
    json: bool = option(False, "--json", group=OUT, help="Write the measures as JSON, for programs.")


_EVALUATE = (
    *specs_of(ModelOptions), *specs_of(EvaluateOptions), *LOSS_OF_OTHERS, *OF_MODEL,
    *(spec for spec in specs_of(InputOptions, OUT, RUN) if spec.name != "raw_predictions"),
)  # fmt: skip
evaluate_options = takes(EvaluateOptions, _EVALUATE)
