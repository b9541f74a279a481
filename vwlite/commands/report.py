"""`vwlite report`"""

import click

from vwlite.options.command import Command
from vwlite.options.report import ReportOptions, report_options


@click.command(
    "report", cls=Command,
    usual=("--model", "--output", "--against", "--threshold", "--json", "--on-error", "--quiet"),
    examples=(
        "vwlite report -m clicks.model clicks.csv -o report.html",
        "vwlite report -m days.model --against sparse.model day2.vw -o both.html",
    ),
)  # fmt: skip
@report_options
def command(options: ReportOptions) -> int:
    """Make a page about a model and labelled DATA.

    One HTML file without scripts, that loads nothing: how good the model is, beside the best constant and with
    intervals; the losses of its training; ROC, precision and recall, calibration; its weights by column or namespace,
    and the largest; the worst predictions, and what spoke for the mistake; notes on the data; how to make the model
    again. DATA are read several times: files, not a pipe.
    """
    from vwlite.runs.report import report

    return report(options)
