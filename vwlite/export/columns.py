"""The form of a model of a table for programs by columns: inputs by names of columns, and effects as arrays over axes.

    score = intercept + the sum of slope times number + the sum of effects

An effect has values by the places on its axes, and is linear between the knots of a number. Effects are those of
`vwlite/model/effects.py`.
"""

import re
from dataclasses import dataclass, replace

import numpy as np

from vwlite.derived import PARTS_OF_TIME
from vwlite.export.linear import Linear
from vwlite.hashing import feature_hash
from vwlite.input.schema import NAMES, Schema
from vwlite.model.effects import BY_LENGTH, Axis, Effect, Effects, LevelAxis, NumberAxis, Numbers, as_bytes, effects_of
from vwlite.model.weights import intercept_key
from vwlite.names import absent_name, namespace_of
from vwlite.output.text import printable

MOST_SHARED = 1e-3  # of the indices of a model that may be used: that of an unknown word is one of these by chance
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class NotByColumns(ValueError):
    """Why a model of a table cannot be a program by columns, as part of a sentence."""


@dataclass(frozen=True)
class Slope:
    """A number without a curve: its weight for each class."""

    name: str
    number: int  # its place among the numbers
    weight: Numbers
    mean: Numbers


@dataclass(frozen=True)
class Grid:
    """An effect. axes: places among the axes of the model. values: [*sizes of the axes, classes]."""

    name: str
    axes: tuple[int, ...]
    values: Numbers
    mean: Numbers


@dataclass(frozen=True)
class Columns:
    """The model. numbers: columns. words: columns, and the part of a time or "". Levels of axes are sorted by bytes."""

    linear: Linear
    schema: Schema
    intercept: Numbers
    numbers: list[str]
    words: list[tuple[str, str]]
    axes: list[Axis]
    slopes: list[Slope]
    grids: list[Grid]

    @property
    def base(self) -> Numbers:
        """The mean score of the training data."""
        means = [slope.mean for slope in self.slopes] + [grid.mean for grid in self.grids]
        return self.intercept + sum(means, np.zeros_like(self.intercept))

    def input_of(self, axis: Axis) -> int:
        """The place of its column among the numbers or words."""
        return self.numbers.index(axis.column) if isinstance(axis, NumberAxis) else self.words.index(
            (axis.column, axis.part))

    def units(self, axis: Axis) -> tuple[int, int, int]:
        """The number of features of value 1, which count in the length of a row: for a place on the axis, for another
        word, and for a missing value."""
        if isinstance(axis, NumberAxis):
            return 0, 0, 1
        absents = self.schema.absents and (not axis.part or axis.part == [*PARTS_OF_TIME][-1])
        return 1, 1 + (absents and not axis.part and self.linear.model.keeps_words), int(absents)

    @property
    def missing_numbers(self) -> list[float]:
        """The numbers that mean a missing value, as 32-bit floats have them."""
        found = [np.float32(word) for word in self.schema.missing if _NUMBER.fullmatch(word)]
        return [x.item() for x in found if np.isfinite(x)]

    @property
    def missing_words(self) -> list[str]:
        """The words that mean a missing value where a number is expected."""
        return [word for word in self.schema.missing if not _NUMBER.fullmatch(word)]


def columns_of(linear: Linear, path: str) -> Columns:
    """NotByColumns if a model cannot be evaluated by columns alone."""
    model = linear.model
    if not model.columns:
        raise NotByColumns("it was not learned from a table")
    schema = Schema.restored(model.columns)
    schema = schema.with_roles(dict.fromkeys(schema.undecided, "categorical"))  # without a word that it knows
    reason = _reason(linear, schema)
    if reason:
        raise NotByColumns(reason)
    effects = effects_of(model, path)
    if any("\0" in level for effect in effects for axis in effect.axes if isinstance(axis, LevelAxis)
           for level in (*axis.levels, *(axis.others or ()))):
        raise NotByColumns("a word has the character NUL in it")
    without = _without_names(linear, schema, effects)
    if without:
        raise NotByColumns(f"{without} of its features have a weight but no name: train with --names, or add names "
                           f"by vwlite names {path} DATA")
    return _Maker(linear, schema, effects).made


def _reason(linear: Linear, schema: Schema) -> str:
    s = linear.settings
    if schema.open:
        return "a model of JSON lines has no fixed columns"
    if schema.names == NAMES[0] and "categorical" in schema.roles.values():
        return "it is of vwlite 0.2.0, which changed words"
    if s.interactions or s.crosses:
        return "it crosses columns (--quadratic, --interactions)"
    if s.keep or s.ignore or s.ignore_linear:
        return "it leaves out columns by their first letters (--keep, --ignore)"
    texts = [name for name, role in schema.roles.items() if role == "text"]
    if texts:
        return f"column {printable(texts[0])} is of text"
    words = {"categorical", "time"} & {*schema.roles.values()}
    if words and len(linear.model.keys) > MOST_SHARED * (1 << s.bits):
        return f"in vwlite predict, words that it does not know have weights of others (--bits {s.bits})"
    if s.normalize in BY_LENGTH and s.derived is not None and s.derived.columns:
        return "it normalizes features that are derived from several columns"
    if s.normalize in BY_LENGTH and _share_keys(linear, schema):
        return f"columns share a weight (--bits {s.bits}), and their values are added before they are normalized"
    return ""


def _share_keys(linear: Linear, schema: Schema) -> bool:
    """Whether the features of two columns of numbers have one key."""
    spaces = [namespace_of(name) for name, role in schema.roles.items() if role == "numeric"]
    names = [(name, space) for space in spaces for name in (space, absent_name(space))]
    hash_all = linear.settings.hash == "all"
    keys = {feature_hash(as_bytes(name), as_bytes(space), hash_all=hash_all) & linear.mask for name, space in names}
    return len(keys) < len(names)


def _without_names(linear: Linear, schema: Schema, effects: Effects) -> int:
    """The number of features whose weight is in none of the effects."""
    model, settings = linear.model, linear.settings
    hash_all = settings.hash == "all"
    known = {intercept_key(settings)}
    spaces = {name: namespace_of(name) for name in schema.roles}
    for effect in effects:
        if len(effect.axes) != 1:
            continue
        axis, space = effect.axes[0], spaces[effect.columns[0]]
        names = [space] if isinstance(axis, NumberAxis) else [f"{axis.part or space}={word}" for word in axis.levels]
        names.append(absent_name(space))
        known.update(feature_hash(as_bytes(name), as_bytes(space), hash_all=hash_all) & linear.mask for name in names)
    if settings.derived is not None:
        known.update(hash & linear.mask for hash, *_ in settings.derived.hashed(hash_all))
    weights = np.asarray(model.weights, float).reshape(-1, linear.records)
    keys = np.asarray(model.keys, np.uint32)[(weights != np.array(linear.unseen)).any(axis=1)]
    return len(set(keys.tolist()) - known)


class _Maker:
    def __init__(self, linear: Linear, schema: Schema, effects: Effects) -> None:
        self._axes: dict[tuple, int] = {}
        self.made = Columns(linear, schema, effects.intercept, [], [], [], [], [])
        for effect in effects:
            if effect.slope is not None:
                number = self._place(self.made.numbers, effect.name)
                self.made.slopes.append(Slope(effect.name, number, effect.slope, effect.mean))
                if effect.values.any() or (schema.absents and linear.settings.normalize != "none"):
                    self._add_missing(effect)
                continue
            values = effect.values
            places = []
            for k, axis in enumerate(effect.axes):
                if isinstance(axis, LevelAxis):
                    order = sorted(range(len(axis.levels)), key=[as_bytes(x) for x in axis.levels].__getitem__)
                    axis = replace(axis, levels=tuple(axis.levels[i] for i in order))
                    values = np.take(values, [*order, len(order), len(order) + 1], axis=k)
                places.append(self._add(axis))
            self.made.grids.append(Grid(effect.name, tuple(places), values, effect.mean))

    def _add_missing(self, effect: Effect) -> None:
        """The contribution of a missing number without a curve, as an effect that is 0 for all numbers."""
        axis = self._add(NumberAxis(effect.name, np.zeros(1), 0.0, 0.0))
        values = np.concatenate([np.zeros_like(effect.values), effect.values])
        self.made.grids.append(Grid(effect.name, (axis,), values, np.zeros_like(effect.mean)))

    def _add(self, axis: Axis) -> int:
        if isinstance(axis, NumberAxis):
            self._place(self.made.numbers, axis.column)
            key: tuple = (axis.column, *axis.knots.tolist())
        else:
            self._place(self.made.words, (axis.column, axis.part))
            key = (axis.column, axis.part, axis.others, *axis.levels)
        if key not in self._axes:
            self._axes[key] = len(self.made.axes)
            self.made.axes.append(axis)
        return self._axes[key]

    @staticmethod
    def _place(among: list, name: object) -> int:
        if name not in among:
            among.append(name)
        return among.index(name)
