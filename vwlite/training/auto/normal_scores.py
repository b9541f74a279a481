"""Normal scores of columns with heavy tails.

The normal score of a knot is the normal quantile of its rank in the sample; between two knots it is linear, and beyond
all of them it is that of the nearest one. So it is a sum of hats of the curve: a weight w of the normal score means w
times the score of its knot for each hat. Models have no feature for it. While they are learned, one weight does what
many hats would do, of which each has few rows. z of such a column is nearly constant: a few values decide the standard
deviation.
"""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

from vwlite.algorithms.settings import Settings
from vwlite.derived import CURVE, Derived, NumberColumn
from vwlite.hashing import feature_hash
from vwlite.training.auto.selection import COLUMNS, STATE, GridCandidate, PassState

HEAVY = 8.0  # interquartile ranges between the median and an end
FEWEST_KNOTS = 20  # of the curve
DIGITS = 6  # of a score, with the same ones everywhere


def has_heavy_tails(values: Any) -> bool:
    """Whether an end of these numbers is far from the median. NaN: no number."""
    x = np.asarray(values, np.float32)
    x = x[~np.isnan(x)]
    if not len(x):
        return False
    first, middle, third = np.quantile(x, [0.25, 0.5, 0.75], method="inverted_cdf").astype(float).tolist()
    return bool(third > first and max(x.max() - middle, middle - x.min()) > HEAVY * (third - first))


def scores_of_knots(values: Any, knots: Iterable[float]) -> dict[float, float]:
    """The normal score of each knot: that of its rank r among n values, of which equal ones share the mean rank, is the
    normal quantile of r / n, from 1 / 2n to 1 - 1 / 2n."""
    x = np.asarray(values, np.float32)
    x = np.sort(x[~np.isnan(x)])
    at = sorted({*knots})
    found, n = np.array(at, np.float32), len(x)
    ranks = (np.searchsorted(x, found, "left") + np.searchsorted(x, found, "right")) / (2 * n)
    quantile = NormalDist().inv_cdf
    return {knot: round(quantile(p), DIGITS)
            for knot, p in zip(at, np.clip(ranks, 0.5 / n, 1 - 0.5 / n).tolist(), strict=True)}


def with_normal_scores(column: NumberColumn, scores: Mapping[float, float]) -> NumberColumn:
    """A column with these scores of the knots of its curve; without any, or with few knots, the column as it is."""
    at = column.knots[CURVE]
    return replace(column, normal_scores=tuple(scores[knot] for knot in at) if scores else ())


def without_normal_scores(settings: Settings) -> Settings:
    """The settings of a model: those of learning, without normal scores, and with all hats."""
    derived = settings.derived
    if derived is None or not _columns(derived):
        return settings
    columns = tuple(replace(c, normal_scores=(), hats=True) if isinstance(c, NumberColumn) else c
                    for c in derived.columns)
    return replace(settings, derived=replace(derived, columns=columns))


def without_shared_keys(derived: Derived, settings: Settings, keys: Iterable[int]) -> Derived:
    """These features, without the normal scores whose key would be that of another feature. keys: those of features
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
    columns = tuple(replace(c, normal_scores=()) if isinstance(c, NumberColumn) and c.name in shared else c
                    for c in derived.columns)
    return replace(derived, columns=columns)


def key_of(column: NumberColumn, hash_all: bool) -> int:
    """The hash of the feature of a normal score."""
    return feature_hash(_bytes(column.normal_name), _bytes(column.name), hash_all)


def with_scores_in_hats(c: GridCandidate, settings: Settings) -> GridCandidate:
    """A candidate whose weights of normal scores are in those of the hats."""
    derived, kept = settings.derived, c.kept
    columns = _columns(derived) if derived is not None else []
    if kept is None or not columns:
        return c
    hash_all, mask = settings.hash == "all", (1 << settings.bits) - 1
    hats = [_keys_of_hats(column, hash_all, mask) for column in columns]
    scores = [key_of(column, hash_all) & mask for column in columns]
    state, place = _with_keys(kept, {key for keys in hats for key in keys}, scores)
    numbers = np.asarray(state.columns).reshape(-1, len(state.keys), STATE)
    by_fold = None if state.by_fold is None else np.asarray(state.by_fold).reshape(len(state.keys), -1)
    for column, of_column, key in zip(columns, hats, scores, strict=True):
        for hat, score in zip(of_column, column.normal_scores, strict=True):
            if key in place:
                numbers[:, place[hat], :COLUMNS] += numbers[:, place[key], :COLUMNS] * np.float32(score)
                if by_fold is not None:
                    by_fold[place[hat]] += by_fold[place[key]] * score
    stays = ~np.isin(state.keys, scores)
    return replace(c, kept=PassState(
        array("I", np.asarray(state.keys)[stays].tobytes()), array("f", numbers[:, stays].tobytes()), kept.scalars,
        None if by_fold is None else array("d", by_fold[stays].tobytes()),
    ))


def _with_keys(kept: PassState, hats: set[int], scores: list[int]) -> tuple[PassState, dict[int, int]]:
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
    some = np.flatnonzero(np.isin(keys, [*scores, *hats]))
    state = PassState(keys, np.concatenate([numbers, added], axis=1), kept.scalars, by_fold)
    return state, dict(zip(keys[some].tolist(), some.tolist(), strict=True))


def _keys_of_hats(column: NumberColumn, hash_all: bool, mask: int) -> list[int]:
    space = _bytes(column.name)
    return [feature_hash(_bytes(name), space, hash_all) & mask for name in column.names(CURVE)[:-1]]


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _columns(derived: Derived) -> list[NumberColumn]:
    """Those with a normal score."""
    return [c for c in derived.columns if isinstance(c, NumberColumn) and c.normal_scores]
