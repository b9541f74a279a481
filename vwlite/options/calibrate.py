"""The options of `vwlite calibrate`."""


from vwlite.options.run_options import OF_MODEL, InputOptions, ModelOptions
from vwlite.options.spec import LEARN, OUT, RUN, option, specs_of
from vwlite.options.taking import takes
from vwlite.options.types import PATH, Choice
from vwlite.records import record


@record(frozen=True)
class CalibrateOptions(ModelOptions):
    """The options of `vwlite calibrate`, as typed."""

    method: str = option(
        "platt", "--method", group=LEARN, type=Choice(["platt", "isotonic"]),
        help="The map of scores. platt: a line. isotonic: steps, for many examples.",
    )  # fmt: skip
    output: str = option(
        "", "-o", "--output", group=OUT, type=PATH, required=True, metavar="FILE", writes=True,
        help="Write the calibrated model to this file.",
    )  # fmt: skip
    json: bool = option(False, "--json", group=OUT, help="Print the results to standard output, as JSON.")


_CALIBRATE = (
    *specs_of(ModelOptions), *specs_of(CalibrateOptions), *OF_MODEL,
    *(spec for spec in specs_of(InputOptions, OUT, RUN) if spec.name != "raw_predictions"),
)  # fmt: skip
calibrate_options = takes(CalibrateOptions, _CALIBRATE)
