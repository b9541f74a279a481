"""`vwlite solve`"""

import click

from vwlite.options.command import Command
from vwlite.options.solve import SolveOptions, solve_options


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
)  # fmt: skip
@solve_options
def command(options: SolveOptions) -> int:
    """Solve an l1/l2-regularized problem on DATA exactly, with a duality gap.

    The objective is the mean loss (weighted by importance) plus l1 times the sum of |weights|; or the mean loss alone,
    for models whose sum of |weights| is at most --radius. All examples are held in memory. The gap between the
    objective and a lower bound shows how far the model can be from the optimum.

    DATA are files of VW text or libsvm, plain or compressed (gzip, bzip2, xz, zstd); none, or -, is
    standard input. `vwlite help solve` explains the printed table, regularization strengths, and when it stops.
    """
    from vwlite.runs.solve import solve

    return solve(options)
