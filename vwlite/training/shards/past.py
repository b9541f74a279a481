"""What a model knows, for a fit over shards that continues it: the rows that are kept beside it are a shard, and those
that are not are a summary (`vwlite/training/nights/summary.py`), a shard without rows:

    1/2 sum of P_j (w_j - w'_j)^2, P = kappa share D

w' are the weights of the model; share: of the rows that it has learned, as they count now, those that are not kept. D
is r G. By `features_from` of the nights, the fit has the features of the model, or, where there are many new rows, new
ones: then only the rows that are kept are in it.

w' was the least of a loss and a ridge, so the gradient of the loss is there the opposite of that of the ridge, L w'. Of
the rows that are not kept it is taken to be their share. Without what is constant, both are then

    1/2 sum of P_j (w_j - w'_j)^2 + L_j (w_j - share w'_j)^2

so a model that knows all by its summary stays as it is if there are no new rows.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vwlite.conjugate_gradients import TINY, inner
from vwlite.core.learn.losses import Squared
from vwlite.core.solve.rows import Rows
from vwlite.errors import UsageError
from vwlite.model import Model
from vwlite.model.feature_names import FeatureNames
from vwlite.model.header import COUNTERS
from vwlite.model.learners import make_expander, make_loss
from vwlite.model.nights import MOST, Night
from vwlite.model.rows_beside import SUFFIX
from vwlite.model.slots import array_of
from vwlite.records import record
from vwlite.runs.plan import DataPlan
from vwlite.runs.run import BadLines
from vwlite.runs.source import name_store
from vwlite.training.nights.design import settings_for
from vwlite.training.nights.keeping import MORE, keeping_of
from vwlite.training.nights.new_rows import FileRows
from vwlite.training.nights.new_rows_only import mean_loss
from vwlite.training.nights.source import RowSource
from vwlite.training.nights.summary import KAPPA, grown
from vwlite.training.shards.rows import Point, ShardRows, Unit
from vwlite.training.shards.weights import aligned, counters_of, weights_of
from vwlite.training.trainer import Job
from vwlite.training.trainers import source_of_kind

if TYPE_CHECKING:
    from vwlite.core.text.feature_names import NameStore


@record(frozen=True)
class Summary:
    """precision: P. center: w'. It has the sums that `ShardRows` have."""

    precision: Any
    center: Any

    def slopes(self, w: Any) -> tuple[Any, Any]:
        return self.precision * (w - self.center), self.precision

    def projected(self, w: Any, directions: Sequence[Any]) -> "ProjectedSummary":
        return ProjectedSummary(self.precision, w - self.center, directions)


@record(frozen=True)
class ProjectedSummary:
    """moved: w - w'. It has the methods of `Projected`."""

    precision: Any
    moved: Any
    along: Sequence[Any]

    def sums(self, points: Sequence[Point]) -> list[Any]:
        return [self._sums(point) for point in points]

    def _sums(self, point: Point) -> Any:
        moved = self.moved
        for a, s in zip(point.at, self.along, strict=True):
            if a:
                moved = moved + a * s
        along = [self.along[k] for k in point.places]
        curved = [self.precision * s for s in along]
        value, first = inner(self.precision * moved, moved) / 2, [inner(h, moved) for h in curved]
        return np.array([value, *first, *(inner(h, s) for h in curved for s in along)])

    def losses_apart(self, points: Sequence[Point]) -> Any:
        return np.zeros((len(points), 3))

    def smearing(self, point: Point, deviation: float) -> Any:
        return np.zeros(2)


class Past:
    """The model that is continued. path: its file; is_replaced: the new model has its name. names: of features, as for
    `name_store`."""

    def __init__(self, path: str, model: Model, is_replaced: bool, names: int | None) -> None:
        """UsageError for a model that `vwlite train -i` continues by steps."""
        keeping = keeping_of(model, initial=path, output=path if is_replaced else None, keep_rows=None,
                             is_continued=False, as_it_comes=False)
        is_of_auto = keeping is not None and keeping.is_night and "G" in model.state
        if keeping is None or not is_of_auto or model.chosen.get("normalize") == "center":
            why = "its columns are centered" if is_of_auto else "it is not a model of --algorithm auto with its state"
            raise UsageError(f"--initial {path}: {why}: vwlite train -i continues it on one machine")
        self.path, self.model, self.keeping, self._is_replaced = path, model, keeping, is_replaced
        self.has_features = True  # the fit has those of the model
        self.names = name_store(names, model.names)
        self._rows: Rows | None = None
        self._new, self._loss = 0, (0.0, 0.0)

    def begin(self, new: int, sample: int) -> None:
        """new: the rows of all shards; sample: those of which features are found, if they are."""
        keeping = self.keeping
        here, found_from = keeping.weight + new, keeping.features_from or keeping.rows_learned
        is_half = 2 * here >= keeping.rows_learned + new
        self._new, self.has_features = new, not (is_half and sample >= MORE * found_from)

    def judge(self, data: DataPlan) -> float:
        """The mean loss of new rows by the model."""
        found = FileRows(data, self.path, lambda: None).judged(self.model, lambda: False, 0)
        loss, n = mean_loss(found), max(len(found), 2)
        spread = float(np.sqrt(np.square(found[:, 1] - loss).sum() / (n * (n - 1)))) if len(found) else 0.0
        self._loss = loss, spread
        return loss

    @property
    def share(self) -> float:
        """Of the rows that the fit knows by a summary."""
        keeping = self.keeping
        return (keeping.before + keeping.beyond) / max(keeping.rows_learned, 1.0) if self.has_features else 0.0

    # --- the shards --------------------------------------------------------------------------

    def rows(self, model: Model, job: Job, unit: Unit) -> ShardRows | None:
        """Those that are kept, with the features of the fit, which this model has. job: of new rows."""
        keeping = self.keeping
        if keeping.kept is None:
            return None
        source = source_of_kind(RowSource, job, BadLines(ExitStack(), skip=True))
        source.begin_with(keeping.kept, keeping.parts)
        settings = settings_for(model, bool(keeping.kept.shape["derives"]))
        rows = Rows(make_expander(replace(settings, constant=False)))
        for batch in source.kept_batches():
            rows.add(batch)
        rows.finish()
        self._rows = rows
        return ShardRows(rows, model.settings, unit, np.zeros(len(rows), bool))

    def summary(self, keys: Any, unit: Unit, sample: ShardRows) -> Summary:
        """keys: of the features of all shards. sample: of new rows, which has them."""
        center = weights_of(self.model, keys, unit)
        _, _, curvatures = sample.targets.at(sample.scores(center), 0)
        n, model = self.keeping.rows_learned, self.model
        own = sample.squares(sample.v[:, None] * curvatures)
        G = aligned(model, keys, np.array(model.state["G"], float))
        if G[-1].any():
            self._ratio = n / len(sample) * own[-1] / np.maximum(G[-1], TINY)
        else:  # no intercept: by all features
            self._ratio = n / len(sample) * own.sum(axis=0) / np.maximum(G.sum(axis=0), TINY)
        self._kappa = 1.0 if isinstance(make_loss(model.settings), Squared) else KAPPA
        self._precision = self.share * self._kappa * self._ratio * G
        return Summary(self._precision, center)

    # --- the new model -----------------------------------------------------------------------

    def curvature(self, found: Any) -> Any:
        """The sum of v l'' x^2 over all rows, of that of the fit."""
        return found - self._precision * (1 - 1 / self._kappa) if self.has_features else found

    def continued(self, found: Model, sample: int) -> Model:
        """The new model with the features of the old one that no new row has, and with what it keeps of this night.
        sample: the rows of which new features are."""
        old, loss, keeping = self.model, self._loss, self.keeping
        night = Night(self._new, loss[0], loss[1])
        features_from = sample
        counters = dict.fromkeys(COUNTERS, 0) if self._rows is None else counters_of(self._rows)
        if self.has_features:
            found = with_names(with_others(found, old, self._ratio), self.names)
            factor = (keeping.rows_learned + self._new) / max(keeping.rows_learned, 1.0)
            found = replace(found, rule=grown(old.rule, factor))
            features_from, counters = keeping.features_from or round(keeping.rows_learned), old.counters
        nights = [one.stored() for one in [*keeping.nights, night][-MOST:]]
        return replace(
            found, continued={"nights": nights, "features_from": features_from},
            counters={name: found.counters[name] + counters.get(name, 0) for name in found.counters},
            base=old.base if self._is_replaced else old.digest,
        )

    def finish(self) -> None:
        """The new model is in its place."""
        if self.keeping.kept is not None and self._is_replaced:
            self.keeping.remove()

    def notes(self) -> Iterator[str]:
        keeping = self.keeping
        lost = round(keeping.before + keeping.beyond)
        if not self.has_features and lost:
            yield (f"of the rows that {self.path} has learned, {lost:,} are not kept beside it, and not in the new "
                   "model: its features are of many more rows")
        if keeping.kept is not None and self._is_replaced:
            yield (f"{self.path}{SUFFIX} is removed, as runs over shards keep no rows: the next run knows those so far "
                   "by a summary")


def with_names(model: Model, names: "NameStore | None") -> Model:
    """A model with the names of all its features."""
    if names is None:
        return model
    ones = array_of(np.ones(len(model.keys)).tobytes(), "d")
    return replace(model, names=FeatureNames.kept(names, model.keys, ones, model.settings.bits))


def with_others(found: Model, old: Model, ratio: Any) -> Model:
    """A model with the features that only the old one has. ratio: of its sums of squares."""
    k = found.records
    theirs = np.asarray(old.keys)
    others = ~np.isin(theirs, np.asarray(found.keys), assume_unique=True)
    keys = np.concatenate([np.asarray(found.keys), theirs[others]])
    order = np.argsort(keys, kind="stable")

    def united(mine: Any, other: Any, factor: Any = 1.0) -> Any:
        more = np.array(other, float).reshape(-1, k)[others] * factor
        return np.concatenate([np.array(mine, float).reshape(-1, k), more])[order]

    factors = {"G": ratio}
    state = {name: united(x, old.state[name], factors.get(name, 1.0)) for name, x in found.state.items()}
    return replace(
        found, keys=array_of(keys[order].tobytes(), "I"),
        weights=array_of(united(found.weights, old.weights).tobytes(), "d"),
        state={name: array_of(x.astype(np.float32).tobytes(), "f") for name, x in state.items()},
    )
