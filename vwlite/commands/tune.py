"""`vwlite tune`"""

import click

from vwlite.options.tune import TuneCommand, TuneOptions, tune_options, typed_words


@click.command(
    "tune", cls=TuneCommand,
    usual=("--model", "--try", "--seconds", "--jobs", "--validate", "--label", "--loss", "--quadratic", "--json",
           "--quiet"),
    examples=(
        "vwlite tune day1.vw -m best.model",
        "vwlite tune day1.vw --try l1=1e-6..1e-2:log --seconds 60",
    ),
)  # fmt: skip
@tune_options
def command(options: TuneOptions) -> int:
    """Find the best options for DATA, and smaller models that are nearly as good.

    Prints the front of loss and nonzero weights, each model with the command that trains it. Losses are out of fold, or
    those of --validate. Algorithms, rates, strengths, normalizations and numbers of passes are tried, many of them on a
    part of DATA, and the best on all of it; auto is one of them. DATA are files, as they are read several times.
    """
    from vwlite.runs.tune import tune

    return tune(options, typed_words())
