"""How much each effect of a model of a table moves the scores of data, and where the rows are."""

from typing import Any

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.errors import DataError
from vwlite.evaluation.sums import Floats, Sample
from vwlite.input.parsing import ParseOptions
from vwlite.model import Model
from vwlite.model.contributions import Contributions
from vwlite.model.effects import BY_LENGTH, Axis, Effect, Effects, LevelAxis, NumberAxis, value_of_word
from vwlite.model.importances import Importances
from vwlite.model.readable import readable_effects
from vwlite.model.row_lengths import of_usual_length
from vwlite.runs.opened import Opened

MOST_ROWS, MOST_CELLS = 20_000, 4_000_000  # of the sample


class Influence:
    """Takes batches, which have the hashes of namespaces. zeros: they have numbers of value 0, too; else a number that
    is not there is 0 where that is what its effect takes it for.

    The sizes of effects and the importances of columns are those that the model has a record of; without one, those
    over the rows of these batches."""

    def __init__(self, model: Model, effects: Effects, *, zeros: bool) -> None:
        self.effects, self.rows, self.of_quantiles = effects, 0, bool(model.settings.outputs.tau_names)
        self._found = Contributions(model, effects)
        # Without a record: what effects contribute to a sample of rows, as their means are known at the end
        size = MOST_CELLS // max(len(effects) * model.records, 1)
        self._contributions = None if effects.of_columns else Sample(min(MOST_ROWS, max(size, 500)))
        self._sums = np.zeros((2, len(effects), model.records))  # of the effects, and of their squares
        self._squares = np.zeros(len(self._found.names))  # of values, with --normalize
        self._place = {effect.name: k for k, effect in enumerate(effects)}
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
        self._squares += 0.0 if found.squares is None else found.squares.sum(axis=0)
        moved = found.effects[:, : len(self.effects)]
        if self._contributions is not None and len(self.effects):
            self._contributions.add(*moved.reshape(len(moved), -1).T)
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
        if self.effects.squares is None and self._squares.any():
            squares = dict(zip(self._found.names, (self._squares / n).tolist(), strict=True))
            self.effects = of_usual_length(self.effects, squares, {})
        self._set_sizes()

    def _set_sizes(self) -> None:
        """Sizes of effects [effects, classes], and importances."""
        shares, of_columns = self.effects.shares(), self.effects.of_columns
        if self._contributions is not None and self.rows and len(self.effects):
            found = np.array(self._contributions.columns()).T.reshape(-1, *self.mean.shape)
            shares.take(found - found.mean(axis=0))
            of_columns = tuple(shares.importances())
        own = shares.sizes / max(shares.rows, 1)
        sizes = [own[k] if effect.size is None else effect.size for k, effect in enumerate(self.effects)]
        self.sizes: Floats = np.array(sizes).reshape(own.shape)
        self.importances = Importances(of_columns)

    @property
    def has_record(self) -> bool:
        """Whether sizes and importances are over the rows of training."""
        return bool(self.effects.of_columns)

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
        return np.asarray(effect.mean + self.mean[self._place[effect.name]])

    def at(self, effect: Effect, x: Floats) -> Floats:
        """An effect of one number, centred: [len(x), classes]; of --normalize in a row of usual length."""
        return np.asarray(effect.number(x) - self.centre(effect))

    def values(self, effect: Effect) -> Floats:
        """The values of an effect of levels, centred; of --normalize in a row of usual length."""
        return np.asarray(effect.values - self.centre(effect))

    @property
    def one(self) -> float:
        """The value of a word, in a row of usual length."""
        kind = self.effects.normalize
        return value_of_word(kind) / (self.effects.length if kind in BY_LENGTH else 1.0)

    def ordered(self) -> list[tuple[Effect, Floats]]:
        """The effects that move scores, with their sizes for each class; the largest first."""
        whole = self.sizes.mean(axis=1)
        order = np.argsort(-whole, kind="stable").tolist()
        return [(self.effects.effects[k], self.sizes[k]) for k in order if whole[k] > 0]

    def counts(self, axis: LevelAxis) -> Floats:
        """The share of rows with each place of a level axis."""
        places = self.where(axis).astype(int)
        return np.bincount(places, minlength=axis.size) / max(len(places), 1)

    def as_dict(self) -> list[dict[str, Any]]:
        """For JSON: the size of each effect, and its standard deviation over the rows; with classes those of each."""
        classes = self.effects.classes

        def stored(of: Floats) -> Any:
            return of.tolist() if classes else float(of[0])

        return [{"name": effect.name, "size": stored(size),
                 "deviation": stored(self.deviations[self._place[effect.name]])} for effect, size in self.ordered()]
