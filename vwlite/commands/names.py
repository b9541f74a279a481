"""`vwlite names`"""

from typing import Any

import click

from vwlite.options.command import Command, Option
from vwlite.options.run_options import MOST_NAMES, InputOptions, reading_options
from vwlite.options.spec import OUT
from vwlite.options.types import PATH, Whole


@click.command(
    "names", cls=Command,
    examples=(
        "vwlite names days.model day1.vw day2.vw",
        "vwlite names days.model day1.vw -o named.model",
    ),
)  # fmt: skip
@click.argument("model", type=PATH)
@click.argument("data", nargs=-1, required=True, type=PATH, metavar="DATA...")
@reading_options()
@click.option("-o", "--output", cls=Option, group=OUT, type=PATH, metavar="FILE",
              help="Write the model to this file, and keep MODEL unchanged.")  # fmt: skip
@click.option("--most", cls=Option, group=OUT, type=Whole(1), metavar="N", default=MOST_NAMES,
              help=f"Store at most N names of features, and N of crosses.  [default: {MOST_NAMES}]")  # fmt: skip
@click.option("--quiet", cls=Option, group=OUT, is_flag=True, help="Print nothing but errors.")
def command(model: str, data: tuple[str, ...], output: str | None, most: int, quiet: bool, **typed: Any) -> int:
    """Add feature names to MODEL: the names in DATA that have a weight in MODEL.

    DATA are read once, without learning. Names that MODEL already has are kept; weights and state do not change.
    """
    from vwlite.runs.names import add_names

    given = {name: value for name, value in typed.items() if value is not None}
    return add_names(model, output or model, most, InputOptions(data=data, quiet=quiet, **given))
