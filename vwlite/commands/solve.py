"""`vwlite solve`"""

import click

from vwlite.options.groups import Command
from vwlite.options.solve import SolveOptions, solve_options


@click.command("solve", cls=Command)
@solve_options
def command(options: SolveOptions) -> int:
    """Solve an l1/l2-regularized problem on DATA exactly, with a duality gap.

    The objective is the mean loss, by importance, plus l1 times the sum of |weights|; or the mean loss alone, for
    models whose sum of |weights| is at most --radius. All examples are held in memory. A lower bound that no model can
    be below comes with it: the model is as good as the gap between them is small.

    DATA are files of VW text or libsvm, plain or compressed (gzip, bzip2, xz, zstd); none, or -, is
    standard input. `vwlite help solve` explains the table, the strengths, and when it ends.
    """
    from vwlite.runs.solve import solve

    return solve(options)
