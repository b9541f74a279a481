"""A model of a table in a form to read: an effect for each column and for each product of columns, as in EBM.

    score = base + the sum of the effects;    base = intercept + the means of the effects

A number has a curve that is linear between knots, a column of words a value for each level, a product of columns a
grid, linear in each number between knots. (Lou, Caruana, Gehrke, Hooker. Accurate Intelligible Models with Pairwise
Interactions. KDD 2013.) An effect is shown minus its mean over the training data, if the model has a record of the
means (`means` in its header). All code that shows or exports a model by columns uses this form.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import groupby, product
from typing import Any

import numpy as np

from vwlite.core.base.elementary import each
from vwlite.derived import CURVE, MOST_Z, PARTS_OF_TIME, Derived, NumberColumn, WordColumn
from vwlite.errors import DataError
from vwlite.hashing import feature_hash
from vwlite.input.schema import OPTIONAL, Schema
from vwlite.model.file import Model
from vwlite.model.importances import Importance, Importances, Shares
from vwlite.model.weights import intercept_key
from vwlite.names import absent_name, namespace_of
from vwlite.output.text import shown
from vwlite.records import record

Numbers = np.ndarray[Any, Any]
BY_LENGTH = ("l2", "log")  # kinds of --normalize that divide a row by its length


def logarithms(x: Numbers) -> Numbers:
    """sign(x) ln(1 + |x|) as a 32-bit float, as in `cython_ext/data/normalize.pyx`."""
    size = np.abs(x)
    whole, found = 1 + size, np.empty(len(x))
    each("log", np.ascontiguousarray(whole), found)
    return np.asarray(np.copysign((found + (size - (whole - 1)) / whole).astype(np.float32).astype(float), x))


def value_of_word(normalize: str) -> float:
    """The value of the feature of a word, before a row is divided by its length."""
    return float(logarithms(np.ones(1))[0]) if normalize == "log" else 1.0


@record(frozen=True)
class NumberAxis:
    """A number, linear between knots and constant outside of them. The place behind the last knot is that of a missing
    number.

    low, high: the numbers between which the training data lie, except for few rows; None if the model has no record.
    """

    column: str
    knots: Numbers
    low: float | None = None
    high: float | None = None

    @property
    def full_name(self) -> str:
        return self.column

    @property
    def size(self) -> int:
        return len(self.knots) + 1

    @property
    def names(self) -> list[Any]:
        """Of the places: the knots, and NaN for a missing number."""
        return [*self.knots.tolist(), np.nan]


@record(frozen=True)
class LevelAxis:
    """A column of words, or a part of a column of times (hour, weekday, month). The place behind the levels is that of
    other words, and the next one that of a missing word. others: the only words that count as other words, the rest as
    missing ones; None: all count as other words.
    """

    column: str
    levels: tuple[str, ...]
    part: str = ""
    others: tuple[str, ...] | None = None

    @property
    def places(self) -> dict[str, int]:
        """The place of each word."""
        found = {level: i for i, level in enumerate(self.levels)}
        return found | dict.fromkeys(self.others or (), len(self.levels))

    @property
    def place_of_unknown(self) -> int:
        """The place of a word that is neither a level nor one of the others."""
        return len(self.levels) + (self.others is not None)

    @property
    def size(self) -> int:
        return len(self.levels) + 2

    @property
    def names(self) -> list[Any]:
        """Of the places: the levels, other words, and None for a missing word."""
        return [*self.levels, "other", None]

    @property
    def full_name(self) -> str:
        return f"{self.column}.{self.part}" if self.part else self.column


Axis = NumberAxis | LevelAxis


@record(frozen=True)
class Standardized:
    """The feature z = (x - mean) / deviation of a number that has a curve, clipped, and its weight for each class."""

    mean: float
    deviation: float
    weight: Numbers

    def effect(self, x: Numbers) -> Numbers:
        """[len(x), classes]; as the feature is a 32-bit float."""
        z = np.clip(((x - self.mean) / self.deviation).astype(np.float32), -MOST_Z, MOST_Z)
        return z.astype(float)[:, None] * self.weight


@record(frozen=True)
class Effect:
    """What columns add to a score.

    name: that of the column, or those of a product with * between them. values: by the places on each axis, and for
    each class; their mean is still in them. mean: [classes], over training data; 0 if the model has no record. slope:
    of a number without a curve, what is added for each unit, [classes]; then it has no knots, and the value is that of
    a missing one. words: of a text, the
    weights of its words and n-grams that have a name, [classes] each; it has no axes. standardized: the part of a curve
    that is linear. band: of one score, the least and the largest values less their means, of models that have each
    learned all but a part of the data; None if the model has no record. moved: what purifying has moved from products
    into an effect of levels, by the places on their axis: it is in `values`. size: the mean absolute value over the
    training data, [classes]; None if the model has no record. is_log: slope is of sign(x) ln(1 + |x|).
    """

    name: str
    axes: tuple[Axis, ...]
    values: Numbers
    mean: Numbers
    slope: Numbers | None = None
    words: Mapping[str, Numbers] = field(default_factory=dict)
    standardized: Standardized | None = None
    band: tuple[Numbers, Numbers] | None = None
    moved: tuple[LevelAxis, Numbers] | None = None
    size: Numbers | None = None
    is_log: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(axis.column for axis in self.axes) or (self.name,)

    @property
    def kind(self) -> str:
        if len(self.axes) > 1:
            return "grid"
        if not self.axes:
            return "words"
        return "levels" if isinstance(self.axes[0], LevelAxis) else "curve" if self.slope is None else "line"

    def rows(self) -> Iterator[tuple[tuple[Any, ...], Numbers]]:
        """What is added at each place less the mean, [classes]; a line has the places 0 and 1. Of a text, what each of
        its words adds."""
        yield from (((word,), weight) for word, weight in self.words.items())
        if self.slope is not None:
            yield from (((x,), self.number(np.array([x]))[0] - self.mean) for x in (0.0, 1.0))
        added = (self.values - self.mean).reshape(-1, len(self.mean))
        yield from zip(product(*(axis.names for axis in self.axes)), added, strict=bool(self.axes))

    def __repr__(self) -> str:
        found = np.array([value for _, value in self.rows()] or [self.mean])
        size = len(self.words) or (2 if self.slope is not None else " x ".join(str(len(a.names)) for a in self.axes))
        what = {"line": "line", "words": f"{size} words", "grid": f"grid of {size}"}.get(
            self.kind, f"{self.kind} of {size} places")
        size = f", {shown(float(np.mean(self.size)))} on average" if self.size is not None else ""
        return f"{self.name}: {what}{size}, {shown(float(found.min()))} to {shown(float(found.max()))}"

    def number(self, x: Numbers) -> Numbers:
        """The effect of values of the one column, a number, of which NaN is a missing one: [len(x), classes]."""
        (axis,) = self.axes
        assert isinstance(axis, NumberAxis)
        missing = np.isnan(x)
        if self.slope is not None:
            x = np.where(missing, 0.0, logarithms(x) if self.is_log else x)
            return np.where(missing[:, None], self.values[-1], x[:, None] * self.slope)
        values, place = self.values, place_on(axis.knots, x)
        if self.standardized is None:
            return between(values, place)
        values = values.copy()
        values[:-1] -= self.standardized.effect(axis.knots)
        found = between(values, place)
        found[~missing] += self.standardized.effect(x[~missing])
        return found


@record(frozen=True)
class Place:
    """Places on an axis: the one below, and how far the next one is behind it, from 0 to 1."""

    low: Numbers
    behind: Numbers


def place_on(knots: Numbers, x: Numbers) -> Place:
    """The places of numbers among knots. NaN: missing, the place behind the last knot."""
    low = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 1)
    after, missing = np.minimum(low + 1, len(knots) - 1), np.isnan(x)
    inside = (x >= knots[0]) & (after > low)
    behind = np.where(inside, (x - knots[low]) / np.where(after > low, knots[after] - knots[low], 1.0), 0.0)
    return Place(np.where(missing, len(knots), low), np.where(missing, 0.0, behind))


def between(values: Numbers, place: Place) -> Numbers:
    """The values at these places on the first axis, interpolated."""
    low, high = values[place.low], values[np.minimum(place.low + 1, len(values) - 1)]
    behind = place.behind.reshape(-1, *[1] * (values.ndim - 1))
    return np.where(behind > 0, low + behind * (high - low), low)


def product_name(axes: Sequence[Axis], taken: Collection[str]) -> str:
    """The name of the effect of a product of columns, which none of `taken` is."""
    names, sign = [axis.full_name for axis in axes], "*"
    while sign.join(names) in taken:
        sign = f" {sign} "
    return sign.join(names)


def resampled(values: Numbers, axes: Sequence[Axis], onto: Sequence[Axis]) -> Numbers:
    """The same effect on other axes, of the same columns, whose knots include those of `axes`."""
    for k, (axis, other) in enumerate(zip(axes, onto, strict=True)):
        if isinstance(axis, NumberAxis) and isinstance(other, NumberAxis) and axis is not other:
            place = place_on(axis.knots, np.append(other.knots, np.nan))
            values = np.moveaxis(between(np.moveaxis(values, k, 0), place), 0, k)
    return values


@record(frozen=True)
class Effects:
    """The effects of a model. intercept: [classes], without the means. rows: of the record of means; 0: there is none,
    and the means are 0.

    Models of --normalize divide the values of each row by its length, with `log` after x became sign(x) ln(1 + |x|). If
    the model has the means of squares (`squares`), effects are those in a row of the usual length `length`:
    vwlite.model.row_lengths. Else values and slopes are without this division, and `length` is the mean length of the
    training rows. of_columns: importances; none if the model has no record.
    """

    intercept: Numbers
    effects: tuple[Effect, ...]
    classes: tuple[str, ...] = ()
    rows: int = 0
    normalize: str = "none"
    length: float = 1.0
    squares: Mapping[str, float] | None = None
    of_columns: tuple[Importance, ...] = ()

    def __iter__(self) -> Iterator[Effect]:
        return iter(self.effects)

    def __len__(self) -> int:
        return len(self.effects)

    def __getitem__(self, name: str) -> Effect:
        return self._by_name[name]

    def __repr__(self) -> str:
        of = f" of the classes {', '.join(self.classes)}" if self.classes else ""
        base = ", ".join(shown(x) for x in self.base.tolist())
        return "\n  ".join([f"<{len(self)} effects{of}, base {base}", *map(repr, self)]) + ">"

    def to_frame(self) -> Any:
        """A pandas.DataFrame with a row for each place of each effect, and each class: effect, kind (curve, line,
        levels, words, grid), class if there are several, the place (at; of products at_2 and at_3 too), the size of the
        effect, and what is added to the score there, less the mean. ImportError without pandas."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise ImportError("to_frame needs pandas: pip install pandas") from None
        found = []
        for effect in self:
            sizes = [None] * len(self.intercept) if effect.size is None else effect.size.tolist()
            for place, added in effect.rows():
                at = {f"at_{i}" if i > 1 else "at": name for i, name in enumerate(place, 1)}
                for name, size, score in zip(self.classes or [None], sizes, added.tolist(), strict=True):
                    found.append({"effect": effect.name, "kind": effect.kind, "class": name, **at, "size": size,
                                  "score": score})
        most = max((len(effect.axes) for effect in self), default=1)
        names = ["effect", "kind", *["class"] * bool(self.classes), "at", *(f"at_{i}" for i in range(2, most + 1))]
        return DataFrame(found, columns=[*names, "size", "score"])

    def with_record(self, means: Mapping[str, Any]) -> "Effects":
        """With the bands, sizes and importances of a record; then the largest effect is the first."""
        bands, sizes, found = means.get("bands", {}), means.get("sizes", {}), []
        for effect in self.effects:
            band = bands.get(effect.name)
            if band is not None and len(band[0]) == len(effect.values):
                effect = replace(effect, band=(np.array(band[0], float), np.array(band[1], float)))
            if effect.name in sizes:
                effect = replace(effect, size=np.array(sizes[effect.name], float))
            if effect.name in means.get("ranges", {}) and effect.kind == "line":
                low, high = means["ranges"][effect.name]
                effect = replace(effect, axes=(NumberAxis(effect.name, np.zeros(0), low, high),))
            found.append(effect)
        if all(effect.name in sizes for effect in found):
            found.sort(key=lambda effect: -np.mean(sizes[effect.name]))
        columns = (Importance(name, tuple(alone), tuple(shared)) for name, (alone, shared)
                   in means.get("columns", {}).items())
        return replace(self, effects=tuple(found), of_columns=tuple(columns))

    def shares(self) -> Shares:
        """Adds up what the columns contribute to rows."""
        return Shares([(effect.columns, len(effect.axes) > 1) for effect in self], len(self.intercept))

    @property
    def importances(self) -> Importances:
        """How important each column is. DataError if the model has no record of it."""
        if not self.of_columns:
            raise DataError("the model has no record of how much its columns add to scores: only the default algorithm "
                            "keeps it, when it learns a table; vwlite report measures it on data")
        return Importances(self.of_columns)

    @cached_property
    def _by_name(self) -> dict[str, Effect]:
        return {effect.name: effect for effect in self.effects}

    @property
    def base(self) -> Numbers:
        """The mean score of the training data: the intercept, and the means of all effects."""
        return self.intercept + sum((effect.mean for effect in self.effects), np.zeros_like(self.intercept))


class Weights:
    """Those of a model, by hash and by name."""

    def __init__(self, model: Model) -> None:
        settings = model.settings
        self.hash_all, self.mask = settings.hash == "all", (1 << settings.bits) - 1
        self._keys = np.asarray(model.keys, np.uint32)
        self._weights = np.asarray(model.weights, float).reshape(-1, model.records)
        self.unseen = np.broadcast_to(np.asarray(model.rule.get("unseen", 0.0), float), (model.records,))

    def of(self, hashes: Any) -> Numbers:
        """[len(hashes), classes]"""
        keys = np.asarray(hashes, np.uint32) & np.uint32(self.mask)
        if not len(self._keys):
            return np.tile(self.unseen, (len(keys), 1))
        at = np.searchsorted(self._keys, keys)
        at[at == len(self._keys)] = 0
        return np.where((self._keys[at] == keys)[:, None], self._weights[at], self.unseen)

    def knows(self, space: str, name: str) -> bool:
        return feature_hash(as_bytes(name), as_bytes(space), hash_all=self.hash_all) & self.mask in self._keys

    def named(self, space: str, names: Sequence[str]) -> Numbers:
        hashes = [feature_hash(as_bytes(name), as_bytes(space), hash_all=self.hash_all) for name in names]
        return self.of(hashes)


def as_bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def effects_of(model: Model, path: str = "the model") -> Effects:
    """The effects as they were learned: programs that are exported have them. `readable_effects` has them purified.
    DataError if a model has no columns, or crosses them with -q and the like. path: of the model, for messages."""
    settings = model.settings
    if not model.columns:
        raise DataError(f"{path}: no effects of columns: it has no columns, as it was not learned from a table")
    if settings.interactions or settings.crosses:
        raise DataError(f"{path}: no effects of columns: it crosses columns (--quadratic, --interactions)")
    if settings.keep or settings.ignore or settings.ignore_linear:
        raise DataError(f"{path}: no effects of columns: it leaves columns out by their first letters (--keep, "
                        "--ignore, --ignore-linear): drop them with --drop instead")
    return _Maker(model).effects()


class _Maker:
    def __init__(self, model: Model) -> None:
        self._model, self._weights, self._schema = model, Weights(model), Schema.restored(model.columns)
        self._derived = model.settings.derived or Derived()
        self._means = model.means.get("effects", {})
        self._zeros = np.zeros(model.records)

    def effects(self) -> Effects:
        model = self._model
        key = intercept_key(model.settings)
        known = key is not None and key in np.asarray(model.keys)
        return Effects(
            self._weights.of([key])[0] if known else self._zeros,
            (*self._of_columns(), *self._of_products()),
            tuple(model.class_names()), model.means.get("rows", 0), model.settings.normalize,
            model.means.get("length", 1.0),
        )

    def _mean(self, name: str) -> Numbers:
        return np.array(self._means.get(name, self._zeros), float)

    def _of_columns(self) -> Iterator[Effect]:
        curves = {c.name: c for c in self._derived.columns if isinstance(c, NumberColumn)}
        for column, role in self._roles().items():
            if role in OPTIONAL:
                continue
            space = namespace_of(column)
            if space in curves:
                yield self._curve(column, curves[space])
            elif self._is_number(role, space):
                yield Effect(column, (NumberAxis(column, np.zeros(0)),), self._absent(space)[None], self._mean(column),
                             slope=self._weights.named(space, [space])[0])
            elif role == "text":
                found = self._named(space, "")
                words = dict(zip(found, self._weights.named(space, found), strict=True))
                yield Effect(column, (), np.zeros((0, len(self._zeros))), self._mean(column), words=words)
            elif role == "time":
                last = [*PARTS_OF_TIME][-1]  # a time that is missing is an effect of the last part
                for part, levels in PARTS_OF_TIME.items():
                    axis, absent = LevelAxis(column, levels, part), self._absent(space) if part == last else self._zeros
                    yield self._of_levels(axis, space, [f"{part}={level}" for level in levels], self._zeros, absent)
            else:
                axis, absent = LevelAxis(column, tuple(self._levels(space))), self._absent(space)
                unknown = absent if self._model.keeps_words else self._zeros
                yield self._of_levels(axis, space, [f"{space}={level}" for level in axis.levels], unknown, absent)

    def _roles(self) -> dict[str, str]:
        """Those of the columns. Keys of JSON lines are columns whose values have types, if the model names them."""
        found = dict(self._schema.roles)
        if self._schema.open:
            named = (name.partition(b"^")[0].decode("utf-8", "surrogateescape") for _, name in self._model.names)
            found = dict.fromkeys([*(c.name for c in self._derived.columns), *named], "auto") | found
        return found

    def _absent(self, space: str) -> Numbers:
        """The weight of an absent cell."""
        name = absent_name(space)
        has_it = self._schema.absents and self._weights.knows(space, name)
        return self._weights.named(space, [name])[0] if has_it else self._zeros

    def _of_levels(
        self, axis: LevelAxis, space: str, names: Sequence[str], unknown: Numbers, missing: Numbers
    ) -> Effect:
        """unknown, missing: the values of any other word, and of a missing one."""
        values = [self._weights.named(space, names), (self._weights.unseen + unknown)[None], missing[None]]
        return Effect(axis.full_name, (axis,), np.concatenate(values), self._mean(axis.full_name))

    def _is_number(self, role: str, space: str) -> bool:
        """A column whose values have types is numeric if the model knows a number of it, and no word."""
        return role == "numeric" or (role == "auto" and self._weights.knows(space, space) and not self._levels(space))

    def _levels(self, space: str) -> list[str]:
        """The words of a column that have names in the model."""
        known = {level for c in self._derived.columns if isinstance(c, WordColumn) and c.name == space and not c.part
                 for level in c.levels}
        return sorted(known.union(self._named(space, f"{space}=")))

    def _named(self, space: str, prefix: str) -> list[str]:
        """The names in a namespace that begin with this prefix, without the prefix."""
        return [name[len(prefix):] for name in self._names.get(as_bytes(space), []) if name.startswith(prefix)]

    @cached_property
    def _names(self) -> dict[bytes, list[str]]:
        """Of the features of each namespace; columns may have a ^ in their names."""
        found: dict[bytes, list[str]] = {as_bytes(namespace_of(column)): [] for column in self._roles()}
        for _, name in self._model.names:
            at = name.find(b"^")
            while at >= 0:
                if name[:at] in found:
                    found[name[:at]].append(name[at + 1 :].decode("utf-8", "surrogateescape"))
                at = name.find(b"^", at + 1)
        return found

    def _curve(self, column: str, c: NumberColumn) -> Effect:
        """The standardized value and all hats as one curve."""
        at = np.array(c.knots[CURVE], np.float32).astype(float)
        weights = self._weights.named(c.name, c.names(CURVE)) if c.missing else np.concatenate(
            [self._weights.named(c.name, c.names(CURVE)[:-1]), self._zeros[None]])
        if not c.deviation > 0:
            weights[:-1] = 0
            return Effect(column, (NumberAxis(column, at, at[0], at[-1]),), weights, self._mean(column))
        linear = Standardized(c.mean, c.deviation, self._weights.named(c.name, [c.name])[0])
        ends = [c.mean - MOST_Z * c.deviation, c.mean + MOST_Z * c.deviation]
        inside = [x for x in ends if not (np.abs(at - x) < 1e-6 * c.deviation).any()]
        knots = np.array(sorted({*at.tolist(), *inside}))
        values = np.concatenate([between(weights, place_on(at, knots)) + linear.effect(knots), weights[-1:]])
        axis = NumberAxis(column, knots, at[0], at[-1])
        return Effect(column, (axis,), values, self._mean(column), standardized=linear)

    def _of_products(self) -> Iterator[Effect]:
        """The products of the same columns at several resolutions as one grid."""
        columns = self._derived.columns
        for of, run in groupby(self._derived.products, lambda product: tuple(c for c, _ in product)):
            products = list(run)
            axes: list[Axis] = []
            for k, c in enumerate(of):
                column = columns[c]
                if isinstance(column, WordColumn):
                    axes.append(self._axis_of(column))
                else:
                    every = {np.float32(x).item() for product in products for x in column.knots[product[k][1]]}
                    knots = np.array(sorted(every))
                    axes.append(NumberAxis(self._column_of(column.name), knots, knots[0], knots[-1]))
            values = sum(self._grid(product, axes, n == 0) for n, product in enumerate(products))
            name = product_name(axes, {*self._roles()})
            yield Effect(name, tuple(axes), np.asarray(values), self._mean(name))

    def _axis_of(self, column: WordColumn) -> LevelAxis:
        """The axis in products: known words that are no levels share a place; unknown words are absent."""
        others = None
        if self._schema.absents and not column.part and self._model.keeps_words:
            others = tuple(sorted({*self._levels(column.name)} - {*column.levels}))
        return LevelAxis(self._column_of(column.name), column.levels, column.part, others)

    def _column_of(self, space: str) -> str:
        """The column that has this namespace."""
        return next((column for column in self._schema.roles if namespace_of(column) == space), space)

    def _grid(self, product: tuple[tuple[int, int], ...], axes: Sequence[Axis], is_first: bool) -> Numbers:
        """The sum of a product at all places of axes, which have all knots of products of these columns."""
        columns = [self._derived.columns[c] for c, _ in product]
        factors = [column.factors(k) for column, (_, k) in zip(columns, product, strict=True)]
        names = [""]
        for k, of in enumerate(factors):
            names = [before + "^" * (k > 0) + name for before in names for name in of]
        found = self._weights.named(columns[0].name, names).reshape(*map(len, factors), -1)
        if not is_first:  # without any number, products of the same columns have the same features: they count once
            found[tuple(slice(None) if isinstance(c, WordColumn) else -1 for c in columns)] = 0
        own = [
            NumberAxis(axis.column, np.array(column.knots[resolution], np.float32).astype(float))
            if isinstance(column, NumberColumn) else axis
            for axis, column, (_, resolution) in zip(axes, columns, product, strict=True)
        ]
        return resampled(found, own, axes)
