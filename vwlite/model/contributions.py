"""What each effect of a model contributes to the scores of the rows of a batch."""

from typing import TYPE_CHECKING

import numpy as np

from vwlite.errors import DataError
from vwlite.hashing import feature_hash, namespace_hash
from vwlite.input.parsing import EXAMPLE
from vwlite.model.effects import (
    BY_LENGTH,
    Effects,
    LevelAxis,
    NumberAxis,
    Numbers,
    Place,
    Weights,
    as_bytes,
    between,
    place_on,
)
from vwlite.model.row_lengths import contributions, normalized
from vwlite.names import absent_name, namespace_of
from vwlite.records import record

if TYPE_CHECKING:
    from vwlite.core.data.batch import Batch
    from vwlite.model.file import Model

OTHER = "other features"


@record(frozen=True)
class Found:
    """rows: places in the batch of its examples. effects: [rows, effects, classes], less their means, in the order of
    `Contributions.names`. numbers: by column; NaN is missing. words: by column, the hash of the first word; -1 is
    missing. places: by effect and axis, the places of words on the axis. Of models of --normalize: lengths: of each
    row; squares: [rows, effects], the sums of squares of values."""

    rows: Numbers
    effects: Numbers
    numbers: dict[str, Numbers]
    words: dict[str, Numbers]
    places: dict[tuple[str, str], Numbers]
    lengths: Numbers
    squares: Numbers | None = None

    @property
    def levels(self) -> dict[str, Numbers]:
        """The places of words in the effects of their own columns."""
        return {axis: low for (effect, axis), low in self.places.items() if effect == axis}

    @property
    def levels_of_products(self) -> dict[str, Numbers]:
        """The places of words on the axes of products, which are the same in all of these."""
        return {axis: low for (effect, axis), low in self.places.items() if effect != axis}


class Contributions:
    """Of batches that have the hashes of namespaces, and numbers of value 0 where these are to be seen.

    A level that has no name, a word of a text and a key of JSON lines that is no column are found by their hashes, so
    that base + the sum of the contributions is the score of `predict` for every row. Keys of JSON lines that are no
    columns are "other features".

    Raises DataError if features are derived and normalized: these have no sum by columns.
    """

    def __init__(self, model: "Model", effects: Effects, path: str = "the model") -> None:
        settings = model.settings
        derived = settings.derived
        if settings.normalize != "none" and derived is not None and derived.columns:
            raise DataError(f"{path}: no effects of columns: its curves are of rows that are scaled to length 1 "
                            f"(--normalize {settings.normalize}), so that no column adds the same to every row: learn "
                            "it with --normalize none")
        self.effects = effects
        self.names = [effect.name for effect in effects]
        if model.columns.get("open"):
            self.names.append(OTHER)
        self._normalize = settings.normalize
        self._squares = None if effects.squares is None else np.array(
            [effects.squares.get(name, 0.0) for name in self.names])
        self._weights, self._classes = Weights(model), model.records
        # While a model is learned, n-grams of texts have the value infinity: 1 if it keeps them, else 0.
        self._open = float(bool(model.columns.get("characters")))
        self._mean = np.array([effect.mean for effect in effects] + [np.zeros(self._classes)] * (OTHER in self.names))
        self._spaces = {self._space(column): column for effect in effects for column in effect.columns}
        self._number = {column: self._hash(column, namespace_of(column)) for effect in effects for axis in effect.axes
                        if isinstance(axis, NumberAxis) for column in [axis.column]}
        self._of_space = {self._space(effect.columns[0]): i for i, effect in enumerate(effects)
                          if len(effect.columns) == 1}
        ordered = sorted(self._of_space.items())
        self._sorted_spaces = np.array([of for of, _ in ordered], np.uint32)
        self._sorted_owners = np.array([i for _, i in ordered], int)
        self._parts = {
            self._hash(axis.column, f"{axis.part}={level}"): i for i, effect in enumerate(effects)
            for axis in effect.axes if len(effect.axes) == 1 and isinstance(axis, LevelAxis) and axis.part
            for level in axis.levels
        }
        self._absent = {column: self._hash(column, absent_name(namespace_of(column))) for effect in effects
                        for column in effect.columns} if model.columns.get("absents") else {}
        self._curves = {effect.name for effect in effects if len(effect.axes) == 1 and effect.slope is None
                        and isinstance(effect.axes[0], NumberAxis)}

    def _space(self, column: str) -> int:
        return namespace_hash(as_bytes(namespace_of(column)), self._weights.hash_all)

    def _hash(self, column: str, name: str) -> int:
        space = as_bytes(namespace_of(column))
        return feature_hash(as_bytes(name), space, hash_all=self._weights.hash_all)

    def of(self, batch: "Batch", lines: Numbers | None = None) -> Found:
        """Those of the examples of a batch. lines: a mask, of those that are wanted; None: all."""
        rows = np.flatnonzero(np.asarray(batch.kind) == EXAMPLE if lines is None else lines)
        n, place = len(rows), np.full(len(batch), -1)
        place[rows] = np.arange(n)
        spans, sizes = sizes_of(batch)
        begin = np.asarray(batch.feature_begin, np.int64)[:-1]
        span_row, space = place[np.repeat(np.arange(len(batch)), spans)], np.asarray(batch.space)
        hash, value = np.asarray(batch.hash), np.asarray(batch.value).astype(float)
        value = np.where(np.isinf(value), self._open, value)
        is_plain = np.repeat(span_row >= 0, sizes)
        # By column: its number, and the hash of its first feature, also of one that the model does not know.
        numbers, first, words = {}, {}, {}
        used = np.flatnonzero((span_row >= 0) & (sizes > 0))
        used = used[np.argsort(space[used], kind="stable")]
        columns = np.array([*self._spaces], space.dtype)
        ends = (np.searchsorted(space[used], columns, side).tolist() for side in ("left", "right"))
        for column, begins, end in zip(self._spaces.values(), *ends, strict=True):
            mine = used[begins:end][::-1]  # the first one counts
            if column in self._absent and len(mine):
                absent = hash[(begin + sizes)[mine] - 1] == self._absent[column]
                if column in self._curves:  # a part of the curve
                    is_plain[begin[mine[absent]]] = False
                unknown, mine = mine[absent & (sizes[mine] > 1)], mine[~absent]
            else:
                unknown = mine[:0]
            at = begin[mine]
            if column in self._number:
                mine = mine[single := (sizes[mine] == 1) & (hash[at] == self._number[column])]
                at = at[single]
                numbers[column] = np.full(n, np.nan)
                numbers[column][span_row[mine]] = value[at]
                if column in self._curves:
                    is_plain[at] = False
            first[column] = np.full(n, -1)
            first[column][span_row[mine]] = hash[at]
            words[column] = first[column].copy()
            words[column][span_row[unknown]] = hash[begin[unknown]]
        found = np.zeros((n, len(self.names), self._classes))
        owner = self._owner(space)
        lengths, squares = self._add_plain(
            found, np.repeat(span_row, sizes)[is_plain], np.repeat(owner, sizes)[is_plain], hash[is_plain],
            value[is_plain])
        known: dict[tuple[str, str], Numbers] = {}
        for i, effect in enumerate(self.effects):
            places = []
            for axis in effect.axes:
                if isinstance(axis, LevelAxis):
                    low = self._levels(axis, (first if len(effect.axes) > 1 else words)[axis.column], batch, rows)
                    known[effect.name, axis.full_name] = low
                    places.append(Place(low, np.zeros(n)))
                elif len(effect.axes) > 1:
                    places.append(place_on(axis.knots, numbers[axis.column]))
            if effect.moved is not None:
                axis, values = effect.moved
                found[:, i] += values[self._levels(axis, first[axis.column], batch, rows)]
            if effect.name in self._curves:
                found[:, i] += effect.number(numbers[effect.columns[0]])
            elif len(places) > 1:
                found[:, i] += at_places(effect.values, places)
        return Found(rows, found - self._mean, numbers, first, known, lengths, squares)

    def _owner(self, space: Numbers) -> Numbers:
        """The effects of the columns that have these namespaces; behind all of them if there is none."""
        found = np.full(len(space), len(self.effects))
        if len(self._sorted_spaces):
            at = np.minimum(np.searchsorted(self._sorted_spaces, space), len(self._sorted_spaces) - 1)
            known = self._sorted_spaces[at] == space
            found[known] = self._sorted_owners[at[known]]
        return found

    def _add_plain(
        self, found: Numbers, row: Numbers, owner: Numbers, hash: Numbers, value: Numbers,
    ) -> tuple[Numbers, Numbers | None]:
        """Add features that are not derived, each to the effect of its column; the lengths of the rows, and squares."""
        if self._parts:
            owner = np.array([self._parts.get(h, of) for h, of in zip(hash.tolist(), owner.tolist(), strict=True)], int)
        keys, lengths, squares = hash & np.uint32(self._weights.mask), np.ones(len(found)), None
        of_effects, shape = found.shape[1], found.shape[:2]
        if self._normalize in BY_LENGTH:
            of = normalized(row, keys, value, len(found), self._normalize)
            row, owner, keys, value, lengths = row[of.at], owner[of.at], keys[of.at], of.value, of.lengths
            squares = np.bincount(row * of_effects + owner, of.square, found[:, :, 0].size).reshape(shape)
        weights, cell = self._weights.of(keys), row * of_effects + owner
        for k in range(self._classes):
            found[:, :, k] += np.bincount(cell, weights[:, k] * value, found[:, :, k].size).reshape(shape)
        if self._squares is not None and squares is not None:  # then it has nothing else
            found[:] = contributions(found, squares, lengths, self._squares)
        return lengths, squares

    def _levels(self, axis: LevelAxis, first: Numbers, batch: "Batch", rows: Numbers) -> Numbers:
        """The places of words on an axis, by the hashes of the first feature of each row; of a part of a time by those
        of all of its features."""
        names = [f"{axis.part or namespace_of(axis.column)}={level}" for level in axis.levels]
        hashes = np.array([self._hash(axis.column, name) for name in names] or [0], np.int64)
        order = np.argsort(hashes, kind="stable")
        if axis.part:
            return self._parts_of(axis, hashes[order], order, batch, rows)
        at = np.minimum(np.searchsorted(hashes[order], first), len(hashes) - 1)
        known = (hashes[order][at] == first) & (len(names) > 0)
        return np.where(first < 0, len(names) + 1, np.where(known, order[at], len(names)))

    def _parts_of(self, axis: LevelAxis, hashes: Numbers, order: Numbers, batch: "Batch", rows: Numbers) -> Numbers:
        found = np.full(len(batch), len(hashes) + 1)
        spans, sizes = sizes_of(batch)
        line = np.repeat(np.repeat(np.arange(len(batch)), spans), sizes)
        mine = np.repeat(np.asarray(batch.space), sizes) == self._space(axis.column)
        hash = np.asarray(batch.hash)[mine].astype(np.int64)
        at = np.minimum(np.searchsorted(hashes, hash), len(hashes) - 1)
        known = hashes[at] == hash
        found[line[mine][known][::-1]] = order[at[known]][::-1]
        return found[rows]


def sizes_of(batch: "Batch") -> tuple[Numbers, Numbers]:
    """How many namespaces each line has, and how many features each of these."""
    return np.diff(np.asarray(batch.span_begin, np.int64)), np.diff(np.asarray(batch.feature_begin, np.int64))


def at_places(values: Numbers, places: "list[Place]") -> Numbers:
    """What a grid is at places of rows on its axes: [rows, classes]."""
    found = between(values, places[0])  # [rows, the other axes..., classes]
    rows = np.arange(len(found))
    for place in places[1:]:
        low, high = found[rows, place.low], found[rows, np.minimum(place.low + 1, found.shape[1] - 1)]
        behind = place.behind.reshape(-1, *[1] * (low.ndim - 1))
        found = np.where(behind > 0, low + behind * (high - low), low)
    return found
