"""The mean of the models of stages between which the losses of few rows do not decide, as one model.

If rows are few, the out-of-fold losses of stages differ by little more than chance, and the same rows in another order
would choose another stage. So the model of stage k has a weight in proportion to exp(-d_k / 2), where d_k is the sum of
its losses less that of the best one: of log losses as they are, of others, whose unit is arbitrary, n / 2 times the
logarithm of their ratio. (Yao, Vehtari, Simpson, Gelman. Using Stacking to Average Bayesian Predictive Distributions.
Bayesian Analysis 2018.)

Models are linear in hats and in cells of products. The mean has the features of them all; of each column the knots of
all curves: between these each curve is linear, and a number without a curve is, too.
"""

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vwlite.core.auto.given import scattered
from vwlite.core.auto.screening import difference_of
from vwlite.core.auto.stack import combined_weights
from vwlite.core.base.arrays import total
from vwlite.core.base.dense import dot
from vwlite.core.base.elementary import each
from vwlite.derived import CURVE, MOST_CELLS, MOST_CODES, Column, Derived, NumberColumn
from vwlite.hashing import absent_hash, feature_hash
from vwlite.model.learners import make_expander
from vwlite.records import record
from vwlite.training.auto.grid import FEW_FOR_STAGES
from vwlite.training.auto.loader import settings_of_model, weights_of_model
from vwlite.training.auto.race import Outcome, Race
from vwlite.training.auto.selection import CENTERED, COLUMNS, FOLDS, STATE, GridCandidate, PassState, best_of

if TYPE_CHECKING:
    from vwlite.training.auto.screened_rows import ScreenedRows

AHEAD = 4.0  # nats that the sum of losses of a model with no more features than the columns counts less
LEAST_WEIGHT = 0.1  # models with less are left out
LINEAR = ("none", *CENTERED)  # normalizations with which a score is linear in the values: others cannot be in a mean
SMALLEST = 1e-300
NONE = "no derived features"
KEY_BITS = 32  # with fewer, features share keys


@record(frozen=True)
class Member:
    """A model of the mean. candidate: of the race; None: the intercept alone. losses: of each row, by which it is
    weighted."""

    race: Race
    candidate: GridCandidate | None
    losses: Any
    weight: float = 1.0

    @staticmethod
    def of(race: Race, candidate: GridCandidate | None, rows: "ScreenedRows") -> "Member":
        """Losses are by the pass and the stack that all rows chose: nested choices are the noisier ones."""
        same = [c for c in race.candidates if candidate is not None and c.name == candidate.name]
        found = Member(race, next(iter(same), None), None)
        return Member(race, candidate, np.asarray(race.data.row_losses(found.scores, rows.labels)))

    @property
    def is_simple(self) -> bool:
        """Whether it has neither hats nor products."""
        derived = self.race.data.settings.derived or Derived()
        return not (derived.products or any(isinstance(c, NumberColumn) and c.hats for c in derived.columns))

    @property
    def scores(self) -> Any:
        """Those out of fold, in the order of the file."""
        data, c = self.race.data, self.candidate
        if c is None:
            return array("d", data.constant_scores(data.judged.initials, learned=True))
        assert self.race.selection is not None
        found = array("d", bytes(8 * int(data.judged.examples)))
        scattered(c.predictions, self.race.selection.order, found)
        return found


def can_be_mean(race: Race) -> bool:
    """Whether the model after a race may be a mean: there are few rows, each has one score and a fold, a feature has a
    key of its own, and all that is not derived is as the columns have it."""
    data, s, selection = race.data, race.data.settings, race.selection
    is_judged_by_folds = selection is not None and not selection.holds_out and data.validation is None
    is_plain = s.constant and s.bits == KEY_BITS and not (s.crosses or s.interactions)
    is_plain = is_plain and data.options.typed.get("normalize", "none") == "none"
    return is_judged_by_folds and is_plain and data.width == 1 and data.summary.examples < FEW_FOR_STAGES


def members_of(base: Race, stages: Sequence[Race], rows: "ScreenedRows") -> list[Member]:
    """The models of the mean, with their weights. base: without derived features. One: it is the model."""
    plain = (race for race in stages if race.best is not None and race.best.name == "none")
    learned = [Member.of(race, race.best, rows) for race in plain]
    without, first = Member.of(base, base.best, rows), []
    if not any(_large([without, *learned], rows)[1:]):
        return [without]
    if base.best is None or base.best.name in LINEAR:
        first = [without]
    elif found := [c for c in base.candidates if c.name in LINEAR and c.best is not None and c.kept is not None]:
        c = best_of(found)
        assert c is not None and c.best is not None and base.selection is not None
        is_better = c.best.loss < base.data.baseline
        first = [Member.of(base, base.selection.reported([c], c) if is_better else None, rows)]
    members = [*first, *learned]
    return [replace(m, weight=x) for m, x in zip(members, _large(members, rows), strict=True) if x]


def _large(members: Sequence[Member], rows: "ScreenedRows") -> list[float]:
    """The weights, without small ones."""
    found = weights_of(members, rows, np.ones(len(rows.labels)))
    found[found < LEAST_WEIGHT] = 0
    return list(map(float, found / found.sum()))


def weights_of(members: Sequence[Member], rows: "ScreenedRows", which: Any) -> Any:
    """The weights of models by their losses in some rows. which: 1 of these, else 0."""
    h, data = np.asarray(rows.importances) * which, members[0].race.data
    n = len(np.unique(np.asarray(rows.copies)[which > 0]))  # copies are one row
    means = np.array([dot(m.losses, h) for m in members]) / max(total(h), SMALLEST)
    if data.settings.loss != "logistic":
        each("log", np.maximum(means, SMALLEST), means)
        means /= 2
    found = (AHEAD * np.array([m.is_simple for m in members]) - n * (means - means.min())) / 2
    found -= found.max()
    each("exp", found, found)
    return found / total(found)


class MeanModel:
    """The mean of several models, of which one at least has derived features."""

    def __init__(self, members: Sequence[Member], rows: "ScreenedRows", order: Mapping[str, int]) -> None:
        """order: the places of columns, by full name."""
        self.members, self._rows, self._order = members, rows, order
        stages = [m for m in members if _has_columns(m)]
        self.main = max(stages, key=lambda m: m.weight).race
        self.derived = united([_derived(m) for m in stages], order)

    @property
    def weights(self) -> dict[str, float]:
        """The weight of models with the same kinds of features."""
        found: dict[str, float] = {}
        for m in sorted(self.members, key=lambda m: -m.weight):
            name = _derived(m).summary() or NONE
            found[name] = found.get(name, 0.0) + m.weight
        return found

    def outcome(self) -> Outcome | None:
        """The outcome of the main race, with the mean as its model; None if one vector of weights cannot be the mean.
        """
        found = self.main.outcome()
        members = [replace(m, candidate=m.race.best) if _has_columns(m) else m for m in self.members]
        if self.derived is None or any(m.candidate is None and _has_columns(m) for m in members):
            return None
        best = self.main.best
        assert best is not None and best.best is not None and found.settings is not None
        kept = self._kept(members, best)
        if kept is None:
            return None
        loss, predictions = self._judged(members)
        best = replace(best, kept=kept, predictions=predictions, of_best_column=predictions,
                       best=replace(best.best, loss=loss))
        return replace(found, best=best, settings=replace(found.settings, derived=self.derived))

    def _judged(self, members: Sequence[Member]) -> tuple[float, Any]:
        """The loss out of fold, and the predictions in drawn order: those of each fold with weights by the others."""
        selection, data, rows = self.main.selection, self.main.data, self._rows
        assert selection is not None
        scores = [np.asarray(m.scores) for m in members]
        folds, found = np.frombuffer(selection.folds_in_file, np.uint8), np.zeros(len(scores[0]))
        for fold in range(FOLDS):
            own = folds == fold
            for of_model, weight in zip(scores, weights_of(members, rows, np.where(own, 0.0, 1.0)), strict=True):
                found[own] += weight * of_model[own]
        of_rows = data.row_losses(found, rows.labels)
        loss = difference_of(of_rows, of_rows, rows.importances, rows.copies)[0]
        return float(loss), array("d", found[np.asarray(selection.order)].tobytes())

    # --- weights --------------------------------------------------------------------------------

    def _kept(self, members: Sequence[Member], best: GridCandidate) -> PassState | None:
        """The state of the mean. None if two features share a key."""
        assert self.derived is not None and best.best is not None and best.kept is not None
        settings = self.main.data.settings
        curves = [c for c in self.derived.columns if isinstance(c, NumberColumn)]
        hash_all = settings.hash == "all"
        hats = [_keys_of_hats(c, hash_all) for c in curves]
        every = [key for keys in hats for key in keys]
        if len({*every}) < len(every) or self.derived.derivation(hash_all).cells_of(
                memoryview(array("I", sorted(every))), (1 << KEY_BITS) - 1):
            return None
        constant_key = make_expander(settings).constant_key
        parts = [_Weights.of(m, constant_key) for m in sorted(members, key=lambda m: m.race is not self.main)]
        for part in parts:
            if not part.moved_into(curves, hats, hash_all, constant_key):
                return None
        return _added(parts, best)


class _Weights(NamedTuple):
    """The weights of a model. numbers: by key: of the model, then, if all models have them, of each fold. state: by
    key, of gd."""

    member: Member
    numbers: dict[int, Any]
    state: dict[int, Any]

    @staticmethod
    def of(m: Member, constant_key: int) -> "_Weights":
        if m.candidate is None:
            data = m.race.data
            return _Weights(m, {constant_key: np.full(1 + FOLDS, data.as_learned(data.constant()))}, {})
        c = weights_of_model(m.candidate, m.race.data.settings)
        assert c.best is not None and c.kept is not None
        keys, columns = list(c.kept.keys), np.asarray(c.kept.columns).reshape(-1, STATE)
        numbers = np.full((len(keys), 1 + FOLDS), math.nan)
        w = array("d", bytes(8 * len(keys)))
        combined_weights(c.kept.columns, c.best.u, w)
        numbers[:, 0] = w
        if c.kept.by_fold is not None:
            numbers[:, 1:] = np.asarray(c.kept.by_fold).reshape(len(keys), -1)
        found = _Weights(m, dict(zip(keys, numbers, strict=True)),
                         dict(zip(keys, columns[:, COLUMNS:], strict=True)))
        for key, mean, _ in m.race.grid.dense if c.centers else ():
            if key in found.numbers:
                found.numbers[constant_key] -= mean * found.numbers[key]
        return found

    def moved_into(self, curves: Sequence[NumberColumn], hats: Sequence[list[int]], hash_all: bool,
                   constant_key: int) -> bool:
        """Make the weights those of the hats of these curves. False if another feature has the key of a hat."""
        own = {c.name: c for c in _derived(self.member).columns if isinstance(c, NumberColumn)}
        values = [self._curve(own.get(c.name), c, hash_all, constant_key) for c in curves]
        if any(key in self.numbers for keys in hats for key in keys):
            return False
        for keys, of_knots in zip(hats, values, strict=True):
            self.numbers.update(zip(keys, of_knots, strict=True))
        return True

    def _curve(self, own: NumberColumn | None, c: NumberColumn, hash_all: bool, constant_key: int) -> Any:
        """What a column adds to the score at the knots of a curve; its weights are removed. own: the column of the
        model; None: the model has its values as they are."""
        at, numbers, zero = np.array(c.knots[CURVE]), self.numbers, np.zeros(1 + FOLDS)
        if own is not None:
            values = np.array([numbers.pop(key, zero) for key in _keys_of_hats(own, hash_all)])
            return np.column_stack([np.interp(at, own.knots[CURVE], of) for of in values.T])
        space = _bytes(c.name)
        slope = numbers.pop(feature_hash(space, space, hash_all), zero)
        numbers[constant_key] = numbers[constant_key] + c.mean * slope
        absent = absent_hash(c.name, hash_all)
        if absent in numbers:
            numbers[absent] = numbers[absent] - c.mean * slope
        return np.outer(at - c.mean, slope)


def _added(parts: Sequence[_Weights], best: GridCandidate) -> PassState:
    """The sum of weights, in the column of the main model that counts most. State is that of the first that has it."""
    assert best.best is not None and best.kept is not None
    sums: dict[int, Any] = {}
    for part in parts:
        for key, numbers in part.numbers.items():
            sums[key] = sums.get(key, 0.0) + part.member.weight * numbers
    keys = sorted(sums)
    numbers = np.array([sums[key] for key in keys])
    columns = np.zeros((len(keys), STATE), np.float32)
    u = best.best.u
    most = max(range(COLUMNS), key=lambda k: abs(u[k]))
    columns[:, most] = numbers[:, 0] / u[most]
    unseen = np.ones(STATE - COLUMNS, np.float32)
    columns[:, COLUMNS:] = [next((p.state[key] for p in parts if key in p.state), unseen) for key in keys]
    by_fold = None if np.isnan(numbers).any() else array("d", np.ascontiguousarray(numbers[:, 1:]).tobytes())
    return PassState(array("I", keys), array("f", columns.tobytes()), best.kept.scalars, by_fold)


def united(several: Sequence[Derived], order: Mapping[str, int]) -> Derived | None:
    """The features of all of these; None if they are more than a model may have."""
    columns: dict[str, Column] = {}
    for c in (c for derived in several for c in derived.columns):
        before = columns.setdefault(c.full_name, c)
        if isinstance(c, NumberColumn) and isinstance(before, NumberColumn):
            knots = {k: tuple(sorted({*before.knots.get(k, ()), *c.knots.get(k, ())}))
                     for k in sorted({*before.knots, *c.knots})}
            columns[c.full_name] = replace(before, knots=knots)
    found = tuple(columns[name] for name in sorted(columns, key=order.__getitem__))
    place = {c.full_name: i for i, c in enumerate(found)}
    products = {tuple(sorted((place[d.columns[i].full_name], k) for i, k in product))
                for d in several for product in d.products}
    in_order = sorted(products, key=lambda product: [*zip(*product, strict=True)])  # those of the same columns together
    united = Derived(found, tuple(in_order))
    curves = (c for c in found if isinstance(c, NumberColumn))
    return united if united.cells <= MOST_CELLS and all(len(c.knots[CURVE]) <= MOST_CODES for c in curves) else None


def _has_columns(m: Member) -> bool:
    return bool(_derived(m).columns)


def _derived(m: Member) -> Derived:
    """Its features, as models have them."""
    return settings_of_model(m.race.data.settings).derived or Derived()


def _keys_of_hats(column: NumberColumn, hash_all: bool) -> list[int]:
    space = _bytes(column.name)
    return [feature_hash(_bytes(name), space, hash_all) for name in column.names(CURVE)[:-1]]


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
