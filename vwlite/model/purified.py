"""Purified effects: what a product of columns adds by fewer of these columns is moved into the effects of these.

    f(a, b) = mean + f_a(a) + f_b(b) + rest(a, b),    sum over b of w(a, b) rest(a, b) = 0 for each a, and so for each b

w(a, b): how many rows of the training data are at the place a of one axis and b of the other; a number between two
knots counts at both, by its distances. A product of three columns is first reduced to products of two in the same way.
This is the functional ANOVA: scores stay what they are, and the effects are unique, whichever of the many equal sums of
effects training has found. (Lengerich, Tan, Chang, Hooker, Caruana. Purifying Interaction Effects with the Functional
ANOVA. AISTATS 2020.)

The paper moves means of slices until none is left. Here they are the solution of the least squares problem

    minimize sum of w (f - mean - f_a - f_b)^2,    of all solutions the one with the least sum of w f_a^2 + w f_b^2

by conjugate gradients, which does not depend on an order of axes. A model keeps the solution (`moved` in its record of
means), as its file has no rows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from vwlite.model.effects import (
    Axis,
    Effect,
    Effects,
    LevelAxis,
    NumberAxis,
    Numbers,
    Place,
    place_on,
    product_name,
    resampled,
)

if TYPE_CHECKING:
    from vwlite.model.contributions import Found

DIGITS = 6  # of what is moved, relative to the largest number of a table
ENOUGH = 1e-24  # the square of the residual of a solution, relative to that of the problem
STEP = 2.0**-20  # rows: counts are multiples of it, so that they do not depend on the order of a sum
Tables = Sequence[Numbers]
Moved = Mapping[str, Tables]  # by the name of a product: tables for all but one of its axes, [*sizes, classes]


class Plan:
    """Which effects a model has after products are purified: those of all columns of products, and of all pairs of
    columns of products of three. axes: of each effect, with all knots that it needs."""

    def __init__(self, effects: Effects) -> None:
        self.products = sorted((e for e in effects if len(e.axes) > 1), key=lambda e: -len(e.axes))
        self.axes: dict[str, tuple[Axis, ...]] = {effect.name: effect.axes for effect in effects}
        self._names = {_key(effect.axes): effect.name for effect in effects if effect.axes}
        for of in (3, 2):
            for axes in [axes for axes in self.axes.values() if len(axes) == of]:
                for part in combinations(axes, of - 1):
                    self._add(part)

    def _add(self, axes: tuple[Axis, ...]) -> None:
        """An effect of these columns that has these knots, too."""
        key = _key(axes)
        if key not in self._names:
            self._names[key] = product_name(axes, self.axes) if len(axes) > 1 else axes[0].full_name
        name = self._names[key]
        mine, own = {axis.full_name: axis for axis in axes}, self.axes.get(name, axes)
        self.axes[name] = tuple(_joined(axis, mine[axis.full_name]) for axis in own)

    @property
    def names(self) -> list[str]:
        """Of products, those of three columns first."""
        return sorted((name for name, axes in self.axes.items() if len(axes) > 1), key=lambda n: -len(self.axes[n]))

    def targets(self, name: str) -> list[tuple[str, tuple[int, ...]]]:
        """The effects into which a product moves what it adds by fewer columns, and their axes as its own."""
        axes = self.axes[name]
        parts = combinations(range(len(axes)), len(axes) - 1)
        return [(self._names[_key([axes[k] for k in part])], part) for part in parts]

    def restored(self, stored: Mapping[str, Any], classes: int) -> dict[str, Tables]:
        """The tables that `stored` gave; without those that do not fit."""
        found: dict[str, Tables] = {}
        for name in self.names:
            sizes = [axis.size for axis in self.axes[name]]
            shapes = [[*(sizes[k] for k in part), classes] for _, part in self.targets(name)]
            tables = stored.get(name, ())
            if len(tables) == len(shapes) and all(len(t) == np.prod(s) for t, s in zip(tables, shapes, strict=True)):
                found[name] = [np.array(t, float).reshape(s) for t, s in zip(tables, shapes, strict=True)]
        return found

    def moved(self, effects: Effects, tables: Moved) -> Effects:
        """Effects with the same sum, of which products are without these tables."""
        work = _Moving(self, effects)
        for name in self.names:
            if name in tables:
                work.move(name, tables[name])
        return work.effects()

    def purified(self, effects: Effects, weights: Mapping[str, Numbers]) -> tuple[Effects, dict[str, Tables]]:
        """Purified effects, and what was moved. weights: of the cells of each product, as of `Cells`."""
        work, tables = _Moving(self, effects), dict[str, Tables]()
        for name in self.names:
            if weights[name].any():
                kept = [part for _, part in self.targets(name)]
                tables[name] = [_rounded(t) for t in slices(work.values[name], weights[name], kept)]
                work.move(name, tables[name])
        return work.effects(), tables


def _key(axes: Iterable[Axis]) -> frozenset[str]:
    return frozenset(axis.full_name for axis in axes)


def _joined(axis: Axis, other: Axis) -> Axis:
    """An axis with the knots of both. Words: the first one, which has the levels of the column itself."""
    if not isinstance(axis, NumberAxis) or not isinstance(other, NumberAxis) or axis is other:
        return axis
    knots = np.union1d(axis.knots, other.knots)
    return axis if len(knots) == len(axis.knots) else replace(axis, knots=knots)


class _Moving:
    """Effects whose products are being purified. values: of products, on the axes of the plan."""

    def __init__(self, plan: Plan, effects: Effects) -> None:
        self._plan, self._effects, self._before = plan, effects, {effect.name: effect for effect in effects}
        self._zero = np.zeros_like(effects.intercept)
        self.values = {name: self._at_first(name) for name in plan.names}
        self._added: dict[str, list[tuple[Axis, Numbers]]] = {}  # to effects of one column

    def _at_first(self, name: str) -> Numbers:
        axes, effect = self._plan.axes[name], self._before.get(name)
        if effect is None:
            return np.zeros((*(axis.size for axis in axes), len(self._zero)))
        return resampled(effect.values, effect.axes, axes)

    def move(self, name: str, tables: Tables) -> None:
        axes = self._plan.axes[name]
        for (target, part), table in zip(self._plan.targets(name), tables, strict=True):
            other = tuple(k for k in range(len(axes)) if k not in part)
            self.values[name] = self.values[name] - np.expand_dims(table, other)
            if len(part) == 1:
                self._added.setdefault(target, []).append((axes[part[0]], table))
                continue
            own = [axis.full_name for axis in self._plan.axes[target]]
            order = sorted(range(len(part)), key=lambda k: own.index(axes[part[k]].full_name))
            table = np.transpose(table, (*order, len(part)))
            mine = [axes[part[k]] for k in order]
            self.values[target] = self.values[target] + resampled(table, mine, self._plan.axes[target])

    def effects(self) -> Effects:
        found = [self._product(e.name) if e.name in self.values else self._alone(e) for e in self._effects]
        for name in self._plan.axes:
            if name not in self._before and name in self.values:
                found.append(self._product(name))
            elif name not in self._before:
                axes = self._plan.axes[name]
                found.append(self._alone(Effect(name, axes, np.zeros((axes[0].size, len(self._zero))), self._zero)))
        return replace(self._effects, effects=tuple(found))

    def _product(self, name: str) -> Effect:
        mean = self._before[name].mean if name in self._before else self._zero
        return Effect(name, self._plan.axes[name], self.values[name], mean)

    def _alone(self, effect: Effect) -> Effect:
        """Of one column."""
        added = self._added.get(effect.name)
        if not added:
            return effect
        (axis,) = self._plan.axes[effect.name]
        if isinstance(axis, NumberAxis):
            values = effect.number(np.append(axis.knots, np.nan))
            values = values + sum(resampled(table, (of,), (axis,)) for of, table in added)
            return replace(effect, axes=(axis,), values=values, band=None)
        of, _ = added[0]
        assert isinstance(of, LevelAxis)
        table = np.sum([table for _, table in added], axis=0)
        places, unknown, n = of.places, of.place_of_unknown, len(of.levels)
        at = [*(places.get(level, unknown) for level in axis.levels), unknown, n + 1]
        return replace(effect, values=effect.values + table[at], moved=(of, table), band=None)


# --- the rows at cells, and the means of slices -----------------------------------------------------


class Cells:
    """Counts the rows of training data at the cells of effects: [*sizes of the axes]."""

    def __init__(self, axes: Mapping[str, tuple[Axis, ...]]) -> None:
        self._axes = axes
        self._counts = {name: np.zeros(tuple(axis.size for axis in of)) for name, of in axes.items()}

    def take(self, found: "Found") -> None:
        alone, of_products = found.levels, found.levels_of_products
        for name, axes in self._axes.items():
            of = of_products if len(axes) > 1 else alone
            places = [place_on(axis.knots, found.numbers[axis.column]) if isinstance(axis, NumberAxis)
                      else Place(of[axis.full_name], np.zeros(len(found.rows))) for axis in axes]
            counts = self._counts[name]
            for at, share in corners(places, counts.shape):
                counts += np.bincount(np.ravel_multi_index(at, counts.shape), share, counts.size).reshape(counts.shape)

    @property
    def counts(self) -> dict[str, Numbers]:
        return {name: np.round(counts / STEP) * STEP for name, counts in self._counts.items()}


def corners(places: Sequence[Place], sizes: Sequence[int]) -> Iterator[tuple[tuple[Numbers, ...], Numbers]]:
    """The corners of the cells of rows, and how much of a row is at each."""
    sides = [[(place.low, 1 - place.behind), (np.minimum(place.low + 1, size - 1), place.behind)]
             if place.behind.any() else [(place.low, 1 - place.behind)]
             for place, size in zip(places, sizes, strict=True)]
    for corner in product(*sides):
        yield tuple(at for at, _ in corner), np.prod([share for _, share in corner], axis=0)


def slices(values: Numbers, weights: Numbers, kept: Sequence[tuple[int, ...]]) -> list[Numbers]:
    """The tables over some axes each, [*sizes, classes], without which all weighted means of slices of `values` are
    those of the whole. kept: the axes of each table. A slice without rows of one axis has the weights of all rows."""
    axes, w = range(weights.ndim), weights[..., None]
    others = [tuple(k for k in axes if k not in part) for part in kept]

    def whole(tables: Tables) -> Numbers:
        return np.asarray(sum(np.expand_dims(t, other) for t, other in zip(tables, others, strict=True)))

    def sums(grid: Numbers) -> list[Numbers]:
        return [(w * grid).sum(axis=other) for other in others]

    mean = (w * values).sum(axis=tuple(axes)) / weights.sum()
    sizes = [w.sum(axis=other) for other in others]
    scales = [np.divide(1.0, np.sqrt(size), out=np.zeros_like(size), where=size > 0) for size in sizes]

    def scaled(tables: Tables) -> list[Numbers]:
        return [scale * t for scale, t in zip(scales, tables, strict=True)]

    solved = scaled(_conjugate_gradients(lambda x: scaled(sums(whole(scaled(x)))), scaled(sums(values - mean))))
    for k, (other, size) in enumerate(zip(others, sizes, strict=True)):
        if size.ndim == 2 and not size.all():
            of_rest = weights.sum(axis=kept[k])[..., None]
            rest = values - mean - whole([np.zeros_like(t) if i == k else t for i, t in enumerate(solved)])
            filled = (np.expand_dims(of_rest, kept[k]) * rest).sum(axis=other) / weights.sum()
            solved[k] = np.where(size > 0, solved[k], filled)
    return solved


def _conjugate_gradients(apply: Any, b: Tables) -> list[Numbers]:
    """The solution x of apply(x) = b with the least norm, of a symmetric positive semidefinite map; each class is a
    problem of its own. (Hestenes, Stiefel 1952)"""

    def dot(x: Tables, y: Tables) -> Numbers:
        sums = [(a * c).reshape(-1, a.shape[-1]).sum(axis=0) for a, c in zip(x, y, strict=True)]
        return np.asarray(np.sum(sums, axis=0))

    def ratio(a: Numbers, c: Numbers) -> Numbers:
        return np.divide(a, c, out=np.zeros_like(a), where=c > 0)

    x, r, p = [np.zeros_like(t) for t in b], list(b), list(b)
    now = first = dot(r, r)
    for _ in range(10 * sum(t[..., 0].size for t in b)):
        if (now <= ENOUGH * first).all():
            break
        q = apply(p)
        step = ratio(now, dot(p, q))
        x = [a + step * c for a, c in zip(x, p, strict=True)]
        r = [a - step * c for a, c in zip(r, q, strict=True)]
        before, now = now, dot(r, r)
        beta = ratio(now, before)
        p = [a + beta * c for a, c in zip(r, p, strict=True)]
    return x


def _rounded(table: Numbers) -> Numbers:
    """With digits that do not depend on rounding in the solution."""
    most = float(np.abs(table).max(initial=0.0))
    return np.round(table, DIGITS - 1 - int(np.floor(np.log10(most)))) + 0.0 if most > 0 else table
