"""`vwlite certify`"""

import click

from vwlite.options.groups import Command
from vwlite.options.solve import CertifyOptions, certify_options


@click.command("certify", cls=Command)
@certify_options
def command(options: CertifyOptions) -> int:
    """Bound a model's suboptimality on DATA (duality gap): its objective, and a lower bound.

    The model may be of any command, or of Vowpal Wabbit, if it is linear. No model at all with that penalty, or in that
    ball, has a smaller objective than the lower bound. It is exact for the optimum, and loose far from it; --against a
    model of `vwlite solve` makes it nearly exact everywhere. `vwlite help solve` has the conversions of strengths.
    """
    from vwlite.runs.certify import certify

    return certify(options)
