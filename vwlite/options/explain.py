"""The options of `vwlite explain` and `vwlite worst`."""


import click

from vwlite.options.run_options import LOSS_OF_OTHERS, OF_MODEL, InputOptions, ModelOptions
from vwlite.options.spec import OUT, RUN, option, specs_of
from vwlite.options.taking import takes
from vwlite.options.types import Whole
from vwlite.records import record


@record(frozen=True)
class ExplainOptions(ModelOptions):
    """The options of `vwlite explain`, as typed."""

    top: int = option(
        5, "--top", group=OUT, type=Whole(1), metavar="N", help="How many contributions to list, the largest first."
    )
    of_class: str | None = option(
        None, "--class", "of_class", group=OUT, type=click.STRING, metavar="NAME", shown="the predicted class",
        help="Explain the score of this class.",
    )  # fmt: skip
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


_OF_EXAMPLES = (
    *LOSS_OF_OTHERS, *OF_MODEL,
    *(spec for spec in specs_of(InputOptions, OUT, RUN) if spec.name != "raw_predictions"),
)  # fmt: skip
explain_options = takes(ExplainOptions, (*specs_of(ModelOptions), *specs_of(ExplainOptions), *_OF_EXAMPLES))
worst_options = takes(WorstOptions, (*specs_of(ModelOptions), *specs_of(WorstOptions), *_OF_EXAMPLES))
