"""How much each effect of a model of a table moves the scores of data, and where the rows are."""

from typing import Any

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.errors import DataError
from vwlite.evaluation.sums import Floats, Sample
from vwlite.input.parsing import ParseOptions
from vwlite.model import Model
from vwlite.model.contributions import Contributions
from vwlite.model.effects import Axis, Effect, Effects, LevelAxis, NumberAxis
from vwlite.model.readable import readable_effects
from vwlite.runs.opened import Opened

MOST_ROWS, MOST_CELLS = 20_000, 4_000_000  # of the sample


class Influence:
    """Takes batches, which have the hashes of namespaces. zeros: they have numbers of value 0, too; else a number that
    is not there is 0 where that is what its effect takes it for."""

    def __init__(self, model: Model, effects: Effects, *, zeros: bool) -> None:
        self.effects, self.rows = effects, 0
        self._found = Contributions(model, effects)
        self._length = 0.0
        self._sums = np.zeros((2, len(effects), model.records))  # of the effects, and of their squares
        self._axes = [*dict.fromkeys(axis.full_name for effect in effects for axis in effect.axes)]
        self._levels = {axis.full_name: axis.levels for effect in effects if len(effect.axes) == 1
                        for axis in effect.axes if isinstance(axis, LevelAxis)}
        self._fill = [] if zeros else [effect.name for effect in effects if effect.slope is not None]
        self._sample = Sample(min(MOST_ROWS, max(MOST_CELLS // max(len(self._axes), 1), 500)))

    @classmethod
    def of(cls, opened: Opened, parse: ParseOptions) -> "Influence | None":
        """For a model with effects of columns; else None. parse: how its data are parsed."""
        try:
            return cls(opened.model, readable_effects(opened.model, opened.path), zeros=parse.derives)
        except DataError:
            return None

    def take(self, batch: Batch, lines: Any = None) -> None:
        """lines: a mask of the examples that are looked at; None: all."""
        found = self._found.of(batch, lines)
        if not len(found.rows):
            return
        self.rows += len(found.rows)
        self._length += float(found.lengths.sum())
        moved = found.effects[:, : len(self.effects)]
        self._sums += moved.sum(axis=0), (moved**2).sum(axis=0)
        of = found.numbers | found.levels
        columns = [np.asarray(of[axis], float) for axis in self._axes]
        columns = [np.nan_to_num(x) if axis in self._fill else x for axis, x in zip(self._axes, columns, strict=True)]
        if columns:
            self._sample.add(*columns)

    def finish(self) -> None:
        n = max(self.rows, 1)
        self.mean = self._sums[0] / n
        self.deviations: Floats = np.sqrt(np.maximum(self._sums[1] / n - self.mean**2, 0.0))  # [effects, classes]
        self._of_axis: dict[str, Floats] = dict(zip(self._axes, self._sample.columns(), strict=False))

    def where(self, axis: Axis) -> Floats:
        """The values of a sample of rows: numbers, of which NaN is a missing one, or places of levels."""
        found = self._of_axis.get(axis.full_name, np.empty(0))
        if isinstance(axis, NumberAxis) or not found.size:
            return found
        # The axis of a product has only some of the levels that the column's own axis has, in another order
        own, at = self._levels[axis.full_name], {level: k for k, level in enumerate(axis.levels)}
        n = len(axis.levels)
        return np.asarray(np.array([*(at.get(level, n) for level in own), n, n + 1], float)[found.astype(int)])

    def centre(self, effect: Effect) -> Floats:
        """The mean of an effect that the page subtracts: over the training data, or over these data if the model has
        none."""
        if self.effects.rows:
            return np.asarray(effect.mean)
        return np.asarray(effect.mean + self.mean[self.effects.effects.index(effect)])

    def at(self, effect: Effect, x: Floats) -> Floats:
        """An effect of one number, centred: [len(x), classes]; of --normalize in a row of mean length."""
        return np.asarray(effect.number(self._scaled(x)) - self.centre(effect))

    def values(self, effect: Effect) -> Floats:
        """The values of an effect of levels, centred; of --normalize in a row of mean length."""
        return np.asarray(effect.values * self.one - self.centre(effect))

    @property
    def one(self) -> float:
        """The value of a word."""
        return float(self._scaled(np.ones(1))[0])

    def _scaled(self, x: Floats) -> Floats:
        if self.effects.normalize == "log":
            x = np.asarray(np.copysign(np.log1p(np.abs(x)), x))
        return np.asarray(x / self._length * self.rows) if self.effects.normalize in ("l2", "log") else x

    def ordered(self) -> list[tuple[Effect, Floats]]:
        """The effects that move scores, with their deviations over the rows for each class; the largest first."""
        sizes = np.sqrt((self.deviations**2).mean(axis=1))
        order = np.argsort(-sizes, kind="stable").tolist()
        return [(self.effects.effects[k], self.deviations[k]) for k in order if sizes[k] > 0]

    def counts(self, axis: LevelAxis) -> Floats:
        """The share of rows with each place of a level axis."""
        places = self.where(axis).astype(int)
        return np.bincount(places, minlength=axis.size) / max(len(places), 1)

    def as_dict(self) -> list[dict[str, Any]]:
        """For JSON: the standard deviation of each effect over the rows, with classes that of each."""
        classes = self.effects.classes
        return [{"name": effect.name, "deviation": deviation.tolist() if classes else float(deviation[0])}
                for effect, deviation in self.ordered()]
