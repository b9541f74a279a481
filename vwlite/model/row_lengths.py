"""Rows that --normalize has divided by their length, in effects of columns.

    score = intercept + S / L,    S = sum of s_c,    L^2 = sum of q_c

s_c: the sum of weights times values of a column, q_c: that of the squares of its values. A column adds s_c, and changes
the length L of the row. With the means m_c of q_c over the training data, and L0^2 = sum of m_c, it contributes

    s_c / L0  -  (S / L) (q_c - m_c) / (L0 (L0 + L))

The second term is its part of S / L - S / L0, in proportion to how far its squares are from their mean; the sum over
all columns is S / L.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite.model.effects import Effects, Numbers, logarithms, value_of_word
from vwlite.records import record


@record(frozen=True)
class Normalized:
    """The features of rows, where those of equal keys are one. at: the places of the first of each; value: as they are
    learned; square: of their values before they are divided; lengths: of the rows."""

    at: Numbers
    value: Numbers
    square: Numbers
    lengths: Numbers


def normalized(row: Numbers, keys: Numbers, value: Numbers, rows: int, kind: str) -> Normalized:
    """kind: l2 or log."""
    both = row.astype(np.uint64) << np.uint64(32) | keys.astype(np.uint64)
    _, at, which = np.unique(both, return_index=True, return_inverse=True)
    value = np.bincount(which, value, len(at)).astype(np.float32).astype(float)
    if kind == "log":
        value = logarithms(value)
    square = value * value
    lengths = np.sqrt(np.bincount(row[at], square, rows))
    lengths[lengths == 0] = 1.0
    return Normalized(at, (value / lengths[row[at]]).astype(np.float32).astype(float), square, lengths)


def contributions(of_columns: Numbers, squares: Numbers, lengths: Numbers, means: Numbers) -> Numbers:
    """What columns contribute: [rows, columns, classes]. of_columns: s_c / L; squares: q_c, [rows, columns]; means:
    m_c."""
    usual = np.sqrt(means.sum())
    if not usual > 0:
        return of_columns
    scores = of_columns.sum(axis=1, keepdims=True)
    part = (squares - means) / (usual * (usual + lengths))[:, None]
    found = of_columns * (lengths / usual)[:, None, None] - scores * part[:, :, None]
    rounding = scores[:, 0] - found.sum(axis=1)  # in a row whose length is far from the usual one
    found[np.arange(len(found)), np.argmax(squares, axis=1)] += rounding
    return np.asarray(found)


def of_usual_length(effects: Effects, squares: Mapping[str, float], means: Mapping[str, Any]) -> Effects:
    """The effects in a row of the length L0. squares: m_c of all columns; means: of what the effects contribute."""
    usual = float(np.sqrt(sum(squares.values()))) or 1.0
    one = value_of_word(effects.normalize)
    found = [
        replace(
            effect, values=effect.values * (one / usual), slope=None if effect.slope is None else effect.slope / usual,
            words={word: weight * (one / usual) for word, weight in effect.words.items()},
            mean=np.array(means.get(effect.name, effect.mean), float), is_log=effects.normalize == "log",
        )
        for effect in effects
    ]
    return replace(effects, effects=tuple(found), length=usual, squares=squares)
