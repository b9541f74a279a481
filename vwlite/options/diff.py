"""The options of `vwlite diff` and `vwlite drift`."""


from vwlite.options.run_options import OF_MODEL, InputOptions, ModelOptions
from vwlite.options.spec import OUT, RUN, option, specs_of
from vwlite.options.taking import takes
from vwlite.options.types import Whole
from vwlite.records import record


@record(frozen=True)
class DiffOptions(ModelOptions):
    """The options of `vwlite diff`, as typed. Its first model is `model`."""

    other: str = ""  # the second model
    top: int = option(10, "--top", group=OUT, type=Whole(0), metavar="N", help="Number of weights and lines to show.")
    json: bool = option(False, "--json", group=OUT, help="Write the differences as JSON, for programs.")


_SPECS = (*specs_of(DiffOptions), *OF_MODEL, *specs_of(InputOptions, OUT, RUN))
_LEFT_OUT = ("raw_predictions", "report", "rejects")
diff_options = takes(DiffOptions, [s for s in _SPECS if s.name not in _LEFT_OUT])


@record(frozen=True)
class DriftOptions(ModelOptions):
    """The options of `vwlite drift`, as typed. Its DATA are two files."""

    json: bool = option(False, "--json", group=OUT, help="Write all numbers as JSON, for programs.")


_DRIFT = (*specs_of(ModelOptions), *specs_of(DriftOptions), *OF_MODEL, *specs_of(InputOptions, OUT, RUN))
drift_options = takes(DriftOptions, [s for s in _DRIFT if s.name not in _LEFT_OUT], "YESTERDAY TODAY")
