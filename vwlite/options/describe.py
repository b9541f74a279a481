"""The options of `vwlite describe`."""


from vwlite.options.run_options import InputOptions
from vwlite.options.spec import IN, OUT, RUN, TABLES, option, specs_of
from vwlite.options.taking import takes
from vwlite.records import record


@record(frozen=True)
class DescribeOptions(InputOptions):
    """The options of `vwlite describe`, as typed."""

    all: bool = option(False, "--all", group=OUT, help="Print all columns and notes.")
    json: bool = option(False, "--json", group=OUT, help="Write all columns and notes as JSON, for programs.")


_NOT_ITS_OWN = ("on_error", "max_errors", "rejects", "predictions", "raw_predictions", "report")
_DESCRIBE = (
    *specs_of(InputOptions, IN, TABLES), *specs_of(DescribeOptions), *specs_of(InputOptions, OUT, RUN),
)  # fmt: skip
describe_options = takes(DescribeOptions, [spec for spec in _DESCRIBE if spec.name not in _NOT_ITS_OWN])
