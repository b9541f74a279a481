"""Rows of a night as a matrix, and their labels, for Newton's method."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vwlite.algorithms.settings import Settings
from vwlite.conjugate_gradients import TINY
from vwlite.core.base.dense import dot
from vwlite.core.data.batch import Batch
from vwlite.core.learn.losses import Logistic, Loss, Poisson
from vwlite.core.solve.products import Products
from vwlite.core.solve.rows import Rows
from vwlite.derived import Derived
from vwlite.errors import DataError
from vwlite.model.learners import make_expander, make_loss
from vwlite.training.newton import Classes, Numbers, Targets

if TYPE_CHECKING:
    from vwlite.model import Model


class Design:
    """Rows as a matrix, whose last column is the intercept; arrays of weights are [columns + 1, classes]."""

    def __init__(self, rows: Rows) -> None:
        self._matrix, self._rows, self._columns = Products(rows), len(rows), len(rows.keys)

    def extremes(self) -> tuple[Any, Any, Any]:
        """The least and the largest value of each column that are not 0, and how many they are."""
        found = np.zeros((3, self._columns))
        self._matrix.extremes(*found)
        return found[0], found[1], found[2]

    def scores(self, w: Any, first: int) -> Any:
        """Of the rows from `first` on."""
        return self._products(w[:-1], first) + w[-1]

    def gradients(self, r: Any, first: int) -> Any:
        """sum of r_ik x_ij over these rows"""
        return np.vstack([self._sums(r, first), r.sum(axis=0)])

    def squares(self, r: Any, first: int) -> Any:
        """sum of r_ik x_ij^2 over these rows"""
        return np.vstack([self._sums(r, first, True), r.sum(axis=0)])

    def _products(self, w: Any, first: int) -> Any:
        out = np.zeros((self._rows - first, w.shape[1]))
        self._matrix.scores(w, out, first)
        return out

    def _sums(self, r: Any, first: int, squares: bool = False) -> Any:
        out = np.zeros((self._columns, r.shape[1]))
        self._matrix.gradients(r, out, first, squares)
        return out


def targets_of(settings: Settings, rows: Rows, classes: int = 0) -> tuple[Targets, Any]:
    """The labels of rows, and which scores of a model they use. classes: how many have scores; 0: those that rows have.
    """
    y = np.array(rows.labels)
    if settings.outputs.task != "classes":
        return Numbers(make_loss(settings), y, np.array(rows.initial)), np.zeros(1, int)
    if classes:
        return Classes(y - 1), np.arange(classes)
    found, numbers = np.unique(y, return_inverse=True)
    return Classes(numbers), found.astype(int) - 1


def rows_of(settings: Settings, batches: Iterable[Batch]) -> Rows:
    """The rows of batches, without the intercept. DataError for those that the model cannot have."""
    rows = Rows(make_expander(replace(settings, constant=False)))
    try:
        for batch in batches:
            rows.add(batch)
        rows.finish()
    except OverflowError as e:
        raise DataError(str(e)) from None
    return rows


def settings_for(model: "Model", derives: bool) -> Settings:
    """The settings of a model for rows that may have n-grams to try (derives), which it has or leaves out."""
    settings = model.settings
    if settings.derived is not None or not derives:
        return settings
    return replace(settings, derived=Derived(texts=int(bool(model.columns.get("characters")))))


def variance_of(loss: Loss, y: Any) -> float | None:
    """That of the labels, for losses whose scores have their unit; 1 for others; None for likelihoods, as the loss of
    classes is."""
    if isinstance(loss, Logistic | Poisson):
        return None
    return max(float(np.var(y)), TINY) if loss.power == 0 else 1.0


def aligned(settings: Settings, rows: Rows, keys: Any, weights: Any) -> Any:
    """The weights of the columns of rows, and of the intercept, which is 0 if there is none."""
    constant = make_expander(settings).constant_key
    wanted, known = np.append(rows.keys, constant if constant is not None else 0).astype(np.uint32), np.asarray(keys)
    found = np.zeros((len(wanted), weights.shape[1]))
    if len(known):
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        found = np.where((known[at] == wanted)[:, None], weights[at], 0.0)
    if constant is None:
        found[-1] = 0
    return found


def products_of(x: Any, w: Any) -> Any:
    """<x, w_k> of each class."""
    return np.array([dot(x, np.ascontiguousarray(column)) for column in w.T])
