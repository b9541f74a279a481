"""`vwlite solve` and `vwlite certify`: help."""

import click

from vwlite.options.command import Command, run
from vwlite.solving.options import CertifyOptions, SolveOptions, certify_options, solve_options


@click.command(
    "solve", cls=Command,
    usual=(
        "--model", "--initial", "--loss", "--l1", "--l1-of-max", "--l1-path", "--radius", "--nonzeros",
        "--l2", "--tolerance", "--label", "--quadratic", "--shards", "--quiet",
    ),
    examples=(
        "vwlite solve day1.vw day2.vw --l1-of-max 0.1 -m sparse.model",
        "vwlite solve clicks.csv --label clicked --labels 0,1 --l1-path 5 -m path%d.model",
    ),
)
@solve_options
def solve_command(options: SolveOptions) -> int:
    """Solve an l1/l2-regularized problem on DATA exactly, with a duality gap.

    The objective is the mean loss (weighted by importance) plus l1 times the sum of |weights|; or the mean loss alone,
    for models whose sum of |weights| is at most --radius. All examples are held in memory. The gap between the
    objective and a lower bound shows how far the model can be from the optimum.

    DATA are files of VW text or libsvm, plain or compressed (gzip, bzip2, xz, zstd); none, or -, is
    standard input. `vwlite help solve` explains the printed table, regularization strengths, and when it stops.
    """
    return run("vwlite.solving.solve:solve", options)


@click.command(
    "certify", cls=Command,
    usual=("--model", "--l1", "--radius", "--l2", "--against", "--quiet",),
    examples=(
        "vwlite certify -m sparse.model day1.vw day2.vw",
        "vwlite certify -m days.model day1.vw day2.vw --l1 1e-3 --against sparse.model",
    ),
)
@certify_options
def certify_command(options: CertifyOptions) -> int:
    """Bound a model's suboptimality on DATA (duality gap): its objective, and a lower bound.

    Any linear model can be tested, also one of Vowpal Wabbit. No model with the same penalty, or in the same ball, has
    an objective below the bound. The bound is tight at the optimum and loose far from it; --against a solution of
    `vwlite solve` makes it nearly exact everywhere. `vwlite help solve` shows how to convert regularization strengths.
    """
    return run("vwlite.solving.certify:certify", options)
