"""`vwlite vw`"""

import click

from vwlite.options.declaring import command
from vwlite.options.spec import argument
from vwlite.records import record


@command(
    "vw", "vwlite.vw.run:main", cls=click.Command,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": []},
)
@record(frozen=True)
class VwOptions:
    """Run Vowpal Wabbit's command lines, with its arguments and output: `alias vw='vwlite vw'`."""

    arguments: tuple[str, ...] = argument((), "arguments", type=click.UNPROCESSED, multiple=True)
