"""`--algorithm auto` with several classes (`--oaa`)."""

from collections.abc import Sequence
from dataclasses import replace

from vwlite.algorithms.losses import loss_function
from vwlite.algorithms.memory import KEPT, lanes_need
from vwlite.algorithms.settings import Settings
from vwlite.core.auto.given import GivenPredictions
from vwlite.core.auto.lanes import Lanes
from vwlite.errors import UsageError
from vwlite.model.centered import Dense
from vwlite.model.learners import make_loss
from vwlite.output.results import Result
from vwlite.runs.baseline import LARGEST_SCORE
from vwlite.training.auto.auto_data import ClassData
from vwlite.training.auto.classes import (
    FEW_FOLDS,
    FEW_FOR_FEATURES,
    FEW_RATES,
    SHORT_RACE_FROM,
    ClassSelection,
    are_many_classes,
    load_score_states,
    most_passes_of_classes,
)
from vwlite.training.auto.grid import Grid
from vwlite.training.auto.loader import ModelLoader
from vwlite.training.auto.model import WeightScale, constant_keys, constant_score_state, score_state_of
from vwlite.training.auto.selection import FOLDS, Drawn, GridCandidate, Selection
from vwlite.training.auto.trainer import AutoTrainer
from vwlite.training.trainer import Job


class ClassGrid(Grid):
    """Lanes for each class."""

    data: ClassData

    @property
    def _has_many_classes(self) -> bool:
        return are_many_classes(self.data.width)

    @property
    def _is_wide(self) -> bool:
        """Whether a model of half of the examples is worse, as each feature has few of them. Those that were derived do
        not count: stages are compared with the same folds."""
        data, known = self.data, self.data.given or self.data.summary
        has_passes = data.validation is None and not data.is_large and not self._has_many_classes
        return has_passes and bool(known.features * FEW_FOR_FEATURES > known.examples)

    @property
    def _has_few_rates(self) -> bool:
        return self._has_many_classes or (self.ends_early and self._is_wide)

    @property
    def rates(self) -> Sequence[float]:
        return FEW_RATES if self._has_few_rates else super().rates

    @property
    def ends_early(self) -> bool:
        return bool(self.data.summary.examples >= SHORT_RACE_FROM)

    @property
    def most_passes(self) -> int:
        return most_passes_of_classes(int(self.data.summary.examples))

    def folds(self, holds_out: bool) -> int:
        if self.data.validation is not None:
            return 1
        return FOLDS if self._is_wide or not self.ends_early else FEW_FOLDS

    def bytes_needed(self, folds: int) -> int:
        """Memory of the lanes of a candidate, its predictions, and the state of two passes."""
        data, classes = self.data, self.data.lane_classes
        predicted = 2 * 8 * data.width * (data.validation or data).summary.examples
        kept = KEPT * data.summary.features * classes  # the state of a pass that replaces the best one
        return lanes_need(data.summary.features, folds, classes, halved=self._has_few_rates) + predicted + kept

    def _selection(self, drawn: Drawn, **how: bool) -> Selection:
        data = self.data
        return ClassSelection(
            make_loss(data.settings), drawn, data.validation, folds=self.folds(False), rates=self.rates,
            classes=data.lane_classes, named=data.width, has_offsets=data.settings.constant, **how,
        )

    def lanes(self, name: str, folds: int) -> Lanes:
        loss, classes = make_loss(self.data.settings), self.data.lane_classes
        return Lanes(loss, self._expander(name), self.rates, folds, classes, starts=self.starts(name))


class ClassLoader(ModelLoader):
    """Learners with the scores of all classes."""

    data: ClassData

    def learner(self, settings: Settings, fold: WeightScale = WeightScale()) -> GivenPredictions:  # noqa: B008
        return self._new(settings, class_names=self.data.class_names)

    def settings(self, best: GridCandidate | None) -> Settings:
        return replace(super().settings(best), softmax_probabilities=True)

    def _load(self, learner: GivenPredictions, best: GridCandidate | None, dense: Dense) -> Sequence[float]:
        data, key = self.data, learner.expander.constant_key
        if best is None or best.kept is None or best.best is None:
            keys = constant_keys(learner)
            constants = [*data.best_constants, *[-LARGEST_SCORE] * (data.lane_classes - data.width)]
            parts = [constant_score_state(x, len(keys), data.examples) for x in constants]
        else:
            keys = best.kept.keys
            offsets = [*(best.best.offsets or [0.0] * data.width), 0.0]  # the last one: of classes without a name
            parts = [
                score_state_of(best, k, WeightScale(shift=offsets[k]), dense, data.examples, key)
                for k in range(data.lane_classes)
            ]
        return load_score_states(learner, keys, parts, *loss_function(data.settings.loss).first_range)


class ClassTrainer(AutoTrainer):
    """Learns in passes, also from standard input."""

    grid, loader = ClassGrid, ClassLoader

    def __init__(self, job: Job, data: ClassData) -> None:
        if "passes" in job.options.given and job.options.passes == 1:
            raise UsageError("--algorithm auto learns classes in several passes, also from standard input: leave "
                             "--passes 1 out, or use --algorithm gd")
        super().__init__(job, data)

    def results(self) -> list[Result]:
        return [r for r in super().results() if r.key != "auc"]
