"""What effects add to, in words, and what an effect does to the average row in numbers that people know."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vwlite.evaluation.kinds import Binary, Classes, Kind, Quantiles, Regression
from vwlite.model.effects import Effects


class Unit(NamedTuple):
    """name: what effects add to. meaning: a sentence about the numbers beside; empty if there are none. head: of a
    column of these. beside: the number of an effect as text; None: effects have the unit of the label. usual: that of
    the average row, if it is not one of the effect alone."""

    name: str
    meaning: str = ""
    head: str = ""
    beside: Callable[[float], str] | None = None
    usual: str = ""

    def change(self, effect: float) -> str:
        """What an effect changes for the average row."""
        return f"{self.usual} \N{RIGHTWARDS ARROW} {self.said(effect)}" if self.usual else self.said(effect)

    def said(self, effect: float) -> str:
        return self.beside(effect) if self.beside is not None else ""


def unit_of(kind: Kind, label: str, row: str, effects: Effects | None) -> Unit:
    """label: the column that is predicted; row: what a positive row is called. effects: with the average row."""
    if isinstance(kind, Binary) and kind.probable:
        if effects is None or not effects.rows:
            return Unit("log-odds", "A sum of +0.7 doubles the odds, and -0.7 halves them.")
        base = float(effects.base[0])
        usual = of_100(_probability(kind, base))
        meaning = (f"Beside log-odds: how many of 100 rows are expected to be {row}, if all else is as in the average "
                   f"row ({usual} of 100).")
        return Unit("log-odds", meaning, "of 100", lambda x: of_100(_probability(kind, base + x)), usual)
    if isinstance(kind, Regression) and (kind.offset is not None or kind.power):
        what = f"1 + {label}" if kind.offset is not None else label
        return Unit(f"log of {what}", f"Beside logarithms: the factor by which {what} is multiplied.", "factor", factor)
    if isinstance(kind, Regression | Quantiles):
        return Unit(label)
    return Unit("the score", "The class with the largest score is predicted." if isinstance(kind, Classes) else "")


def _probability(kind: Binary, score: float) -> float:
    return float(kind.predicted(np.array([score]))[0])


def of_100(probability: float) -> str:
    """How many of 100 rows: `12`, `0.4`, `99.7`."""
    x = 100 * probability
    digits = 0 if 9.5 <= x < 90.5 else 1 if 0.95 <= x < 99.05 else 2
    return f"{x:.{digits}f}"


def factor(x: float) -> str:
    """exp(x)"""
    found = float(np.exp(min(x, 700.0)))
    written = f"{found:.2f}" if 0.095 <= found < 99.5 else f"{found:,.0f}" if 1 <= found < 1e6 else f"{found:.2g}"
    return f"\N{MULTIPLICATION SIGN}{written}"
