"""Numbers that are learned in another scale, too, where their standardized value z says little: those with heavy tails,
as a few values decide their standard deviation, and those with a sentinel, a value that stands for a missing one.

    heavy tails     the normal score: of a knot the normal quantile of its rank
    a sentinel      z of the other numbers, or their normal score if they have heavy tails; 0 at the sentinel

Between two knots such a value is linear, and beyond all of them it is that of the nearest one. So it is a sum of hats
of the curve: a weight w means w times the value of its knot for each hat, and models have no feature for it. While they
are learned, one weight does what many hats would do, of which each has few rows.
"""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

from vwlite.algorithms.settings import Settings
from vwlite.derived import CURVE, MOST_Z, Derived, NumberColumn
from vwlite.hashing import feature_hash
from vwlite.training.auto.selection import COLUMNS, STATE, GridCandidate, PassState

HEAVY = 8.0  # interquartile ranges between the median and an end
SENTINEL = 0.03  # of the numbers, at least
FEWEST = 20  # different numbers; columns with at most so many are as they are
DIGITS = 6  # of a rescaled value, so that they are the same everywhere


class Scale:
    """The scale in which the numbers of a column are learned, too. sentinel: the number that stands for a missing one.
    share: of the numbers that are the sentinel."""

    sentinel: float | None = None
    share = 0.0

    def __init__(self, values: Any) -> None:
        """values: of a sample. NaN: no number."""
        x = np.asarray(values, np.float32)
        x = np.sort(x[~np.isnan(x)])
        begins = np.flatnonzero(np.append(True, x[1:] != x[:-1])[: len(x)])
        different, counts = x[begins], np.diff(begins, append=len(x))
        if len(different) <= FEWEST:
            self._is_heavy, self._x = False, x
            return
        most = int(counts.argmax())
        if counts[most] >= SENTINEL * len(x) and _is_beyond(different, most):
            self.sentinel, self.share = float(different[most]), float(counts[most] / len(x))
            x = x[x != different[most]]
        self._x, self._is_heavy = x, has_heavy_tails(x)

    def of_knots(self, knots: Iterable[float]) -> dict[float, float]:
        """The rescaled value of each knot; empty if the column needs no other scale."""
        if self.sentinel is None and not self._is_heavy:
            return {}
        at = sorted({*knots})
        found = self._normal_scores(at) if self._is_heavy else self._standardized(at)
        if self.sentinel is not None:
            found[self.sentinel] = 0.0
        return {knot: round(value, DIGITS) for knot, value in found.items()}

    def _normal_scores(self, knots: list[float]) -> dict[float, float]:
        """The normal quantile of r / n, r the rank among n numbers; equal ones share the mean rank. At least of 1 / 2n,
        and at most of 1 - 1 / 2n."""
        at, n = np.array(knots, np.float32), len(self._x)
        ranks = (np.searchsorted(self._x, at, "left") + np.searchsorted(self._x, at, "right")) / (2 * n)
        quantile = NormalDist().inv_cdf
        return dict(zip(knots, map(quantile, np.clip(ranks, 0.5 / n, 1 - 0.5 / n).tolist()), strict=True))

    def _standardized(self, knots: list[float]) -> dict[float, float]:
        x = self._x.astype(float)
        z = (np.array(knots) - x.mean()) / x.std()
        return dict(zip(knots, np.clip(z, -MOST_Z, MOST_Z).tolist(), strict=True))


def _is_beyond(different: Any, i: int) -> bool:
    """Whether the i-th of these rising numbers is beyond the others by more than their range."""
    x = different.astype(float)
    if i == 0:
        return bool(x[1] - x[0] > x[-1] - x[1])
    return i == len(x) - 1 and bool(x[-1] - x[-2] > x[-2] - x[0])


def has_heavy_tails(x: Any) -> bool:
    """Whether an end of these rising numbers is far from the median."""
    x = x.astype(float)
    first, middle, third = np.quantile(x, [0.25, 0.5, 0.75], method="inverted_cdf").tolist()
    return bool(third > first and max(x[-1] - middle, middle - x[0]) > HEAVY * (third - first))


def with_rescaled(column: NumberColumn, values: Mapping[float, float]) -> NumberColumn:
    """A column with these rescaled values of the knots of its curve; empty: with none."""
    return replace(column, rescaled=tuple(values[knot] for knot in column.knots[CURVE]) if values else ())


def without_rescaled(settings: Settings) -> Settings:
    """The settings of a model: those of learning, without rescaled values, and with all hats."""
    derived = settings.derived
    assert derived is not None
    columns = tuple(replace(c, rescaled=(), hats=True) if isinstance(c, NumberColumn) else c for c in derived.columns)
    return replace(settings, derived=replace(derived, columns=columns))


def without_shared_keys(derived: Derived, settings: Settings, keys: Iterable[int]) -> Derived:
    """These features, without the rescaled values whose key would be that of another feature. keys: those of features
    that are not derived."""
    hash_all, mask = settings.hash == "all", (1 << settings.bits) - 1
    own = {key_of(c, hash_all) & mask: c.name for c in _columns(derived)}
    if not own:
        return derived
    used = {*keys, *(hash & mask for hash, _, _, _ in replace(derived, products=()).hashed(hash_all))}
    shared = {name for key, name in own.items() if key in used}
    of_products = derived.derivation(hash_all).cells_of(memoryview(array("I", sorted(own))), mask)
    if of_products or len(own) < len(_columns(derived)):
        shared = {*own.values()}  # which of them is not worth a search
    if not shared:
        return derived
    columns = tuple(replace(c, rescaled=()) if isinstance(c, NumberColumn) and c.name in shared else c
                    for c in derived.columns)
    return replace(derived, columns=columns)


def key_of(column: NumberColumn, hash_all: bool) -> int:
    """The hash of the feature of a rescaled value."""
    return feature_hash(_bytes(column.rescaled_name), _bytes(column.name), hash_all)


def with_rescaled_in_hats(c: GridCandidate, settings: Settings) -> GridCandidate:
    """A candidate whose weights of rescaled values are in those of the hats."""
    derived, kept = settings.derived, c.kept
    columns = _columns(derived) if derived is not None else []
    if kept is None or not columns:
        return c
    hash_all, mask = settings.hash == "all", (1 << settings.bits) - 1
    hats = [_keys_of_hats(column, hash_all, mask) for column in columns]
    own = [key_of(column, hash_all) & mask for column in columns]
    state, place = _with_keys(kept, {key for keys in hats for key in keys}, own)
    numbers = np.asarray(state.columns).reshape(-1, len(state.keys), STATE)
    by_fold = None if state.by_fold is None else np.asarray(state.by_fold).reshape(len(state.keys), -1)
    for column, of_column, key in zip(columns, hats, own, strict=True):
        for hat, value in zip(of_column, column.rescaled, strict=True):
            if key in place:
                numbers[:, place[hat], :COLUMNS] += numbers[:, place[key], :COLUMNS] * np.float32(value)
                if by_fold is not None:
                    by_fold[place[hat]] += by_fold[place[key]] * value
    stays = ~np.isin(state.keys, own)
    return replace(c, kept=PassState(
        array("I", np.asarray(state.keys)[stays].tobytes()), array("f", numbers[:, stays].tobytes()), kept.scalars,
        None if by_fold is None else array("d", by_fold[stays].tobytes()),
    ))


def _with_keys(kept: PassState, hats: set[int], others: list[int]) -> tuple[PassState, dict[int, int]]:
    """A copy of a state with these hats; those that were not learned have the weight 0 and the state of a feature that
    was seen once. Also the places of these keys in it."""
    keys = np.asarray(kept.keys)
    n = len(keys)
    new = np.array(sorted(hats - {*keys[np.isin(keys, [*hats])].tolist()}), np.uint32)
    numbers = np.array(kept.columns, np.float32).reshape(-1, n, STATE)
    added = np.zeros((len(numbers), len(new), STATE), np.float32)
    added[:, :, COLUMNS:] = 1
    by_fold = None
    if kept.by_fold is not None:
        folds = np.array(kept.by_fold).reshape(n, -1)
        by_fold = np.concatenate([folds, np.zeros((len(new), folds.shape[1]))])
    keys = np.concatenate([keys, new])
    some = np.flatnonzero(np.isin(keys, [*others, *hats]))
    state = PassState(keys, np.concatenate([numbers, added], axis=1), kept.scalars, by_fold)
    return state, dict(zip(keys[some].tolist(), some.tolist(), strict=True))


def _keys_of_hats(column: NumberColumn, hash_all: bool, mask: int) -> list[int]:
    space = _bytes(column.name)
    return [feature_hash(_bytes(name), space, hash_all) & mask for name in column.names(CURVE)[:-1]]


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _columns(derived: Derived) -> list[NumberColumn]:
    """Those with a rescaled value."""
    return [c for c in derived.columns if isinstance(c, NumberColumn) and c.rescaled]
