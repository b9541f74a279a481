"""What a model knows, for a fit over shards that continues it: the rows that are kept beside it are a shard, and those
that are not are a summary (`vwlite/training/nights/summary.py`), a shard without rows:

    1/2 sum of P_j (w_j - w'_j)^2, P = kappa share D

w' are the weights of the model; share: of the rows that it has learned, as they count now, those that are not kept. D
is r G. The fit keeps the features of the model, or uses new ones if there are many new rows (`Past.begin`). With new
features, only the kept rows are in it.

w' minimizes a loss plus a ridge penalty, so the gradient of the loss at w' is -L w'. Rows that are not kept are assumed
to have the part `share` of it. Up to a constant, the summary and the penalty are then

    1/2 sum of P_j (w_j - w'_j)^2 + L_j (w_j - share w'_j)^2

so a model that knows all by its summary stays as it is if there are no new rows.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from vwlite.conjugate_gradients import TINY, inner
from vwlite.core.learn.losses import Squared
from vwlite.core.solve.rows import Rows
from vwlite.errors import UsageError
from vwlite.model import Model
from vwlite.model.feature_names import FeatureNames
from vwlite.model.header import COUNTERS
from vwlite.model.learners import make_loss
from vwlite.model.nights import MOST, Night
from vwlite.model.rows_beside import SUFFIX
from vwlite.model.slots import array_of
from vwlite.model.snapshot import Provenance
from vwlite.records import record
from vwlite.runs.plan import DataPlan
from vwlite.runs.run import BadLines
from vwlite.runs.source import name_store
from vwlite.training.nights.design import rows_of, settings_for
from vwlite.training.nights.keeping import keeping_of, options_of_run
from vwlite.training.nights.new_rows import FileRows
from vwlite.training.nights.new_rows_only import loss_with_error
from vwlite.training.nights.source import RowSource
from vwlite.training.nights.summary import KAPPA
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
    """The model that is continued. path: its file; is_replaced: the new model has its name. group: the column of
    groups. names: of features, as for `name_store`."""

    def __init__(
        self, path: str, model: Model, *, is_replaced: bool, group: str | None = None, names: int | None = None
    ) -> None:
        """UsageError for a model that cannot be continued over shards."""
        keeping = keeping_of(model, initial=path, output=path if is_replaced else None, keep_rows=None,
                             is_continued=False, as_it_comes=False, without="move it away")
        if keeping is None or not keeping.is_night or "G" not in model.state:
            raise UsageError(f"--initial {path}: it is not a model of --algorithm auto with its state: vwlite train -i "
                             "continues it on one machine")
        if keeping.kept is not None:
            keeping.check_group(path, group)
        self.path, self.model, self.keeping, self._is_replaced = path, model, keeping, is_replaced
        self.has_features = True  # the fit has those of the model
        self.names = name_store(names, model.names)
        self._rows: Rows | None = None
        self._new, self._loss = 0, (0.0, 0.0)

    def begin(self, new: int, sample: int) -> None:
        """new: the rows of all shards; sample: those of which features are found, if they are."""
        self._new, self.has_features = new, not self.keeping.has_more_for_features(new, sample)

    def options(self, given: Collection[str]) -> dict[str, Any]:
        """As of `options_of_run`. UsageError for what runs over shards do not have."""
        found = options_of_run(self.model, given)
        if "class_weight" in found:
            raise UsageError(f"--initial {self.path}: it has --class-weight, which runs over shards do not have: "
                             "vwlite train -i continues it on one machine")
        return found

    def about(self) -> Iterator[str]:
        """What is said before the first round."""
        if self.keeping.missing:
            yield self.keeping.missing
        how = "with its features" if self.has_features else "with new features"
        yield f"continuing {self.path} ({self.model.counters['examples']:,} examples) {how}"

    def judge(self, data: DataPlan, stop: Callable[[], bool]) -> None:
        """Measure the loss of new rows by the model, for its record of nights."""
        self._loss = loss_with_error(FileRows(data, self.path, lambda: None).judged(self.model, stop, 0))

    @property
    def share(self) -> float:
        """Of the rows that the fit knows by a summary."""
        keeping = self.keeping
        return (keeping.before + keeping.beyond) / max(keeping.rows_learned, 1.0) if self.has_features else 0.0

    # --- the shards --------------------------------------------------------------------------

    def rows(self, model: Model, job: Job, unit: Unit) -> ShardRows:
        """Those that are kept, if there are some, with the features of the fit, which this model has. job: of new rows.
        """
        keeping = self.keeping
        assert keeping.kept is not None
        source = source_of_kind(RowSource, job, BadLines(ExitStack(), skip=True))
        source.begin_with(keeping.kept, keeping.parts)
        rows = rows_of(settings_for(model, bool(keeping.kept.shape["derives"])), source.kept_batches())
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

    def largest(self, keys: Any, found: Any) -> Any:
        """The largest |x_j| of all rows, of those of the shards."""
        if not self.has_features:
            return found
        return np.maximum(found, aligned(self.model, keys, np.array(self.model.state["N"], float))[:-1].max(axis=1))

    def continued(self, found: Model, sample: int, gradients: Any) -> Model:
        """The new model with the features of the old one that no new row has, and with what it keeps of this night.
        sample: the rows of which new features are. gradients: the sum of squared gradients over C, of each score."""
        old, loss, keeping = self.model, self._loss, self.keeping
        night = Night(self._new, *loss) if all(map(isfinite, loss)) else Night(self._new, None)
        provenance = Provenance.of(old, in_place=self._is_replaced)
        features_from = sample
        counters = dict.fromkeys(COUNTERS, 0) if self._rows is None else counters_of(self._rows)
        if self.has_features:
            found = with_names(with_others(found, old, self._ratio * gradients), self.names)
            features_from, counters = keeping.features_from or round(keeping.rows_learned), old.counters
        nights = [one.stored() for one in [*keeping.nights, night][-MOST:]]
        return replace(
            found, continued={"nights": nights, "features_from": features_from},
            counters={name: found.counters[name] + counters.get(name, 0) for name in found.counters},
            base=provenance.base, resumed=provenance.resumed,
        )

    def finish(self) -> None:
        """The new model is in its place."""
        if self._is_replaced:
            self.keeping.remove()

    def notes(self) -> Iterator[str]:
        keeping = self.keeping
        lost = round(keeping.before + keeping.beyond)
        if not self.has_features and lost:
            yield (f"{lost:,} of the rows that {self.path} has learned are not kept beside it, so the new model does "
                   "not know them: its new features were found from more rows")
        if keeping.kept is not None and self._is_replaced:
            yield (f"{self.path}{SUFFIX} is removed, as runs over shards keep no rows: the new model has a summary of "
                   "them")


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
