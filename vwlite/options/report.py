"""The options of `vwlite report`."""


from vwlite.options.evaluate import EvaluateOptions
from vwlite.options.run_options import LOSS_OF_OTHERS, OF_MODEL, InputOptions, ModelOptions
from vwlite.options.spec import OUT, RUN, option, specs_of
from vwlite.options.taking import takes
from vwlite.options.types import PATH
from vwlite.records import record


@record(frozen=True)
class ReportOptions(EvaluateOptions):
    """The options of `vwlite report`, as typed."""

    output: str = option(
        "-", "--output", "-o", group=OUT, type=PATH, metavar="FILE", writes=True, stdout=True,
        help="Write the page to this file. By default to standard output.",
    )  # fmt: skip
    front: str | None = option(
        None, "--front", group=OUT, type=PATH, metavar="FILE", reads="the file of --front",
        help="Draw the losses over nonzero weights in this file. It is what vwlite tune --json writes.",
    )  # fmt: skip
    json: bool = option(False, "--json", group=OUT, help="Write what the page shows as JSON, for programs.")


_REPORT = (
    *specs_of(ModelOptions), *specs_of(ReportOptions), *LOSS_OF_OTHERS, *OF_MODEL,
    *(spec for spec in specs_of(EvaluateOptions) if spec.name in ("against", "threshold")),
    *(spec for spec in specs_of(InputOptions, OUT, RUN) if spec.name != "raw_predictions"),
)  # fmt: skip
report_options = takes(ReportOptions, _REPORT)
