"""`vwlite explain`"""

import click

from vwlite.options.command import Command
from vwlite.options.explain import ExplainOptions, explain_options


@click.command(
    "explain", cls=Command,
    examples=(
        "vwlite explain -m clicks.model clicks.csv --top 3",
        "head -1 day2.vw | vwlite explain -m days.model --json",
    ),
)  # fmt: skip
@explain_options
def command(options: ExplainOptions) -> int:
    """Explain the score of each example of DATA: what each feature contributes.

    A contribution is weight times value; all of them, the intercept and the base of the line add up to the score. The
    largest are listed by the names in the line, the sum of the others is one number. With classes: those to the score
    of the predicted class, or of --class; --json has all classes.
    """
    from vwlite.runs.explain import explain

    return explain(options)
