"""`--algorithm auto` with several quantiles (`--quantile-tau`). Each has its own lanes and stack. Normalization, passes
and derived features are those with the least mean loss of all quantiles.

If a value c has the probability m in each row, as 0 has where most labels are 0, then the quantile tau of a row is
exactly c for P(y < c) < tau <= P(y <= c). Beside it, c + e loses at most |e| more; but for one sign of e all labels c
are outside of an interval that should end at c. A sum of weights is hardly ever exactly c. So a quantile whose best
constant is such a value stays constant, unless the gain of its stack is larger than the standard error of this gain.
"""

from array import array
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from vwlite.core.auto.given import GivenPredictions
from vwlite.core.auto.lanes import Lanes
from vwlite.core.auto.screening import difference_of, residuals, row_losses
from vwlite.core.auto.stack import Scored
from vwlite.core.auto.summary import DataSummary
from vwlite.core.learn.labels import best_constant
from vwlite.core.learn.losses import Loss
from vwlite.errors import UsageError
from vwlite.model.centered import Dense
from vwlite.model.learners import make_losses
from vwlite.training.auto.auto_data import AutoData
from vwlite.training.auto.classes import load_score_states
from vwlite.training.auto.grid import Grid
from vwlite.training.auto.loader import ModelLoader
from vwlite.training.auto.model import constant_keys, constant_score_state, score_state_of
from vwlite.training.auto.selection import COLUMNS, Drawn, GridCandidate, PassResult, Selection
from vwlite.training.auto.trainer import AutoTrainer
from vwlite.training.trainer import Examples, Job, Listener

OF_A_VALUE = 0.05  # a share of labels that have the same value
EQUAL = 1e-6  # relative difference of equal labels, which are scaled


def of_quantile(u: Sequence[float], k: int) -> list[float]:
    """The stack of quantile k. u: the stacks of all quantiles, one after the other, or one stack for all."""
    return [*(u if len(u) == COLUMNS else u[k * COLUMNS : (k + 1) * COLUMNS])]


def columns(numbers: Any, width: int) -> list[Any]:
    """Copies of the columns of a table. width: their number."""
    return [*np.array(np.asarray(numbers).reshape(-1, width).T, order="C")]


class QuantileScored:
    """Examples with the scores of each quantile, as of `Scored`."""

    def __init__(self, data: "QuantileData", scores: Any, labels: Any, importances: Any, initials: Any) -> None:
        by_quantile = np.asarray(scores)[: len(labels) * data.width * COLUMNS].reshape(-1, data.width, COLUMNS)
        self.each = [
            Scored(loss, by_quantile[:, k].ravel(), labels, importances, np.asarray(initials) + data.as_learned(c))
            for k, (loss, c) in enumerate(zip(data.losses, data.best_constants, strict=True))
        ]

    def loss_of(self, u: Sequence[float], rows: Any = None) -> float:
        return sum(one.loss_of(of_quantile(u, k), rows) for k, one in enumerate(self.each)) / len(self.each)

    def predictions(self, u: Sequence[float], out: Any, rows: Any = None) -> None:
        found = np.asarray(out).reshape(-1, len(self.each))
        for k, (one, column) in enumerate(zip(self.each, columns(out, len(self.each)), strict=True)):
            one.predictions(of_quantile(u, k), column, rows)
            found[:, k] = column


class QuantileData(AutoData):
    """Data with several quantiles. They are always learned in passes, so standard input is cached."""

    is_scarce = False  # folds are good however few examples there are
    in_passes = True

    def __init__(self, job: Job, source: Examples, listener: Listener) -> None:
        super().__init__(job, source, listener)
        self.losses: list[Loss] = make_losses(self.settings)
        self.width = len(self.losses)

    @cached_property
    def best_constants(self) -> Sequence[float]:  # type: ignore[override]
        if not (self.settings.constant and self.summary.examples):
            return [0.0] * self.width
        labels, importances = self.summary.residuals(), self.summary.importances
        return [float(best_constant(loss, labels, importances)) for loss in self.losses]

    def constant_loss_of(self, summary: DataSummary) -> float:
        labels, each = self.labels_as, zip(self.losses, map(self.as_learned, self.best_constants), strict=True)
        how = labels.mean, labels.scale, labels.initial_scale
        return float(sum(summary.constant_loss(loss, c, *how)[0] for loss, c in each)) / self.width

    def row_losses(self, scores: Any, labels: Any) -> Any:
        each = zip(self.losses, columns(scores, self.width), strict=True)
        return np.mean([row_losses(loss, p, labels) for loss, p in each], axis=0)

    def derivatives(self, scores: Any, labels: Any, weights: Any, unit: float = 0.0) -> tuple[Any, Any, float]:
        """The unit of a quantile is the standard deviation of the derivative at the true quantile."""
        each = [
            residuals(loss, "quantile", p, labels, weights, sqrt(tau - tau * tau))[:2]
            for loss, tau, p in zip(self.losses, self.settings.outputs.taus, columns(scores, self.width), strict=True)
        ]
        first, second = (np.column_stack(found).ravel() for found in zip(*each, strict=True))
        return first, second, 1.0


class QuantileSelection(Selection):
    """The race of the candidates. A prediction is a row of scores, one for each quantile."""

    def __init__(self, data: QuantileData, drawn: Drawn, **how: bool) -> None:
        self._data, self.classes = data, data.width
        super().__init__(data.losses[0], data.labels_as, drawn, data.validation, **how)

    def _scored(self, c: GridCandidate) -> QuantileScored:
        assert c.lanes is not None
        scores, _ = next(self._scores(c.lanes, len(self._y)))
        return QuantileScored(self._data, scores, self._y, self._h, self._initial)

    def _stacked(self, scored: QuantileScored, number: int, rows: Any, halves: tuple[Any, Any]) -> PassResult:
        each = [self._or_constant(k, one, Selection._stacked(self, one, number, rows, halves), rows, halves)
                for k, one in enumerate(scored.each)]
        loss, stacked = (sum(getattr(r, name) for r in each) / self.width for name in ("loss", "stacked"))
        losses = [sum(x) / self.width for x in zip(*(r.losses for r in each), strict=True)]
        of_halves = None
        if any(r.halves for r in each):
            one, other = ([x for r in each for x in (r.halves[i] if r.halves else r.u)] for i in (0, 1))
            of_halves = one, other
        best = min(range(COLUMNS), key=losses.__getitem__)
        return PassResult(number, loss, best, losses, stacked, [x for r in each for x in r.u], of_halves)

    def _or_constant(
        self, k: int, scored: Scored, result: PassResult, rows: Any, halves: tuple[Any, Any]
    ) -> PassResult:
        """The result of quantile k; without weights, if its best constant is a value that many labels have, and hardly
        worse."""
        loss, flat = self._data.losses[k], [0.0] * COLUMNS
        constants, p = (array("d", bytes(8 * len(self._y))) for _ in range(2))
        scored.predictions(flat, constants)
        counted = np.asarray(self._h) * (1 if rows is None else np.frombuffer(rows, np.uint8) != 0)
        close = np.abs(np.asarray(constants) - self._y) <= EQUAL * np.maximum(np.abs(self._y), 1)
        if counted[close].sum() < OF_A_VALUE * counted.sum():
            return result
        for u, half in zip(reversed(result.halves or (result.u, result.u)), halves, strict=True):
            scored.predictions(u, p, half)
        losses, others = row_losses(loss, p, self._y), row_losses(loss, constants, self._y)
        total, gain, error = difference_of(losses, others, counted, array("I", range(len(p))))
        return result if gain < -error else PassResult(result.number, total, result.best, result.losses, total, flat)

    def _losses_of(self, predictions: Any) -> Any:
        return self._data.row_losses(predictions, self._y)

    def _predict(self, scores: Any, u: Sequence[float], at: int, out: Any) -> None:
        n = len(out) // self.width
        ones = array("d", [1.0]) * n
        QuantileScored(self._data, scores, ones, ones, self._all_initial[at : at + n]).predictions(u, out)


class QuantileGrid(Grid):
    """Lanes for each quantile."""

    data: QuantileData

    def _selection(self, drawn: Drawn, **how: bool) -> Selection:
        return QuantileSelection(self.data, drawn, **how)

    def lanes(self, name: str, folds: int) -> Lanes:
        losses = self.data.losses
        quantiles = [*zip(losses, self.data.constants, strict=True)]
        starts = self.starts(name)
        return Lanes(losses[0], self._expander(name), self.rates, folds, quantiles=quantiles, starts=starts)


class QuantileLoader(ModelLoader):
    """Learners with the scores of all quantiles."""

    data: QuantileData

    def _load(self, learner: GivenPredictions, best: GridCandidate | None, dense: Dense) -> Sequence[float]:
        data, key, shifts = self.data, learner.expander.constant_key, self.data.best_constants
        if best is None or best.best is None or best.kept is None:
            keys = constant_keys(learner)
            parts = [constant_score_state(x, len(keys), data.examples) for x in shifts]
        else:
            keys = best.kept.keys
            parts = [
                score_state_of(replace(best, best=replace(best.best, u=of_quantile(best.best.u, k))), k,
                               replace(data.weights_as, shift=shift), dense, data.examples, key)
                for k, shift in enumerate(shifts)
            ]
        return load_score_states(learner, keys, parts, learner.min_label, learner.max_label)


class QuantileTrainer(AutoTrainer):
    """Learns in passes, also from standard input."""

    grid, loader = QuantileGrid, QuantileLoader

    def __init__(self, job: Job, data: QuantileData) -> None:
        if "passes" in job.options.given and job.options.passes == 1:
            raise UsageError("--algorithm auto learns quantiles in several passes: leave --passes 1 out, or use "
                             "--algorithm gd")
        super().__init__(job, data)
