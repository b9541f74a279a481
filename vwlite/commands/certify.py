"""`vwlite certify`"""

import click

from vwlite.options.command import Command
from vwlite.options.solve import CertifyOptions, certify_options


@click.command(
    "certify", cls=Command,
    usual=("--model", "--l1", "--radius", "--l2", "--against", "--quiet",),
    examples=(
        "vwlite certify -m sparse.model day1.vw day2.vw",
        "vwlite certify -m days.model day1.vw day2.vw --l1 1e-3 --against sparse.model",
    ),
)  # fmt: skip
@certify_options
def command(options: CertifyOptions) -> int:
    """Bound a model's suboptimality on DATA (duality gap): its objective, and a lower bound.

    Any linear model can be tested, also one of Vowpal Wabbit. No model with the same penalty, or in the same ball, has
    an objective below the bound. The bound is tight at the optimum and loose far from it; --against a solution of
    `vwlite solve` makes it nearly exact everywhere. `vwlite help solve` shows how to convert regularization strengths.
    """
    from vwlite.runs.certify import certify

    return certify(options)
