"""Frames whose models have all kinds of effects, and where their rows are on the axes of these."""

import math

import numpy as np
import pandas as pd
from tables import bent_rows

from vwlite.model.effects import Axis, LevelAxis, NumberAxis


def frame_of(n: int = 700) -> pd.DataFrame:
    """Numbers with missing values, words with rare ones, times, and a label of a curve and a pair."""
    frame = pd.DataFrame(bent_rows(n), columns=["x", "z", "w", "y"])
    frame["x"], frame["z"] = pd.to_numeric(frame["x"]), pd.to_numeric(frame["z"])
    frame["at"] = pd.Timestamp("2026-03-01") + pd.to_timedelta(np.arange(n) * 5, unit="h")
    frame["p^w"] = frame["w"].where(frame["x"] > 0, "less")
    frame["rare"] = np.where(np.arange(n) % 97 == 0, "seldom " + (frame.index // 97).astype(str), "often")
    return frame


def corners(axis: Axis, cell: object) -> list[tuple[int, float]]:
    """The places of a cell of a row on an axis, with their shares."""
    return [(level_of(axis, cell), 1.0)] if isinstance(axis, LevelAxis) else around(axis, float(cell))


def level_of(axis: LevelAxis, cell: object) -> int:
    if axis.part and not pd.isna(cell):
        cell = {"hour": cell.hour, "weekday": cell.isoweekday(), "month": cell.month}[axis.part]
    if pd.isna(cell):
        return len(axis.levels) + 1
    if str(cell) in axis.levels:
        return axis.levels.index(str(cell))
    return len(axis.levels) + (axis.others is not None and str(cell) not in axis.others)


def around(axis: NumberAxis, x: float) -> list[tuple[int, float]]:
    """The knots around a number with their shares."""
    knots = axis.knots.tolist()
    if math.isnan(x):
        return [(len(knots), 1.0)]
    if x <= knots[0] or x >= knots[-1]:
        return [(0 if x <= knots[0] else len(knots) - 1, 1.0)]
    j = max(k for k, knot in enumerate(knots) if knot <= x)
    w = (x - knots[j]) / (knots[j + 1] - knots[j])
    return [(j, 1 - w), (j + 1, w)]
