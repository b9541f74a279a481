"""The solvers: a row for each, of which help texts, pages, checks and tests are made.

Data only. What else there is to say about a solver is in `pages/NAME.txt` beside this file.
"""

from dataclasses import dataclass

SMOOTH = ("squared", "logistic", "squared-hinge", "poisson")

# What a problem may have beside its loss.
PENALTY = ("l1", "l2", "nonnegative", "feature_weights")


@dataclass(frozen=True)
class Row:
    """One row of the table of solvers."""

    name: str
    kind: str  # its class, as MODULE:CLASS in vwlite.core.solve
    summary: str
    formula: str
    takes: tuple[str, ...]  # of the problem, by the options' names
    paper: str
    losses: tuple[str, ...] = SMOOTH
    on_ball: str = ""  # its class for --radius, if another
    to_count: str = ""  # and for --nonzeros


SOLVERS = {
    row.name: row
    for row in (
        Row(
            "newton",
            "newton:Newton",
            "proximal Newton: coordinate descent on the loss's second order model, over a working set of columns",
            "w <- w + t D, D = argmin <g, D> + sum of l''_i (<x_i, D> + d)^2 / 2 + l1 ||w + D||_1",
            (*PENALTY, "radius", "nonzeros"),
            "Friedman, Hastie, Tibshirani 2010; Yuan, Ho, Lin 2012; Johnson, Guestrin 2015",
            on_ball="path:NewtonOnBall",
            to_count="path:NewtonToCount",
        ),
        Row(
            "cd",
            "coordinate:CoordinateDescent",
            "coordinate descent in random orders, leaving out columns that stay zero",
            "w_j <- soft(w_j - g_j / B_j, l1 / B_j), B_j a bound on the curvature there",
            PENALTY,
            "Friedman, Hastie, Tibshirani 2010; Yuan, Ho, Lin 2012",
        ),
    )
}


def best_solver(loss: str, strength: str) -> str:
    """What `--solver auto` is for a problem. strength: l1, radius or nonzeros."""
    return "cd" if loss == "squared" and strength == "l1" else "newton"
