"""`--algorithm auto` with several classes (`--oaa`)."""

from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from vwlite.algorithms.losses import loss_function
from vwlite.algorithms.memory import KEPT, lanes_need
from vwlite.algorithms.settings import Settings
from vwlite.core.auto.given import GivenPredictions
from vwlite.core.auto.lanes import Lanes
from vwlite.core.auto.summary import DataSummary
from vwlite.errors import UsageError
from vwlite.model.learners import make_expander, make_loss, make_rule
from vwlite.output.results import Result
from vwlite.runs.baseline import LARGEST_SCORE
from vwlite.runs.options import TrainOptions
from vwlite.training.auto.classes import (
    FOLDS,
    RATES_OF_MANY,
    SHORT_RACE_FROM,
    ClassSelection,
    are_many_classes,
    constant_score_state,
    load_score_states,
)
from vwlite.training.auto.model import WeightScale, score_state_of
from vwlite.training.auto.reading import ClassData
from vwlite.training.auto.selection import Drawn, Selection
from vwlite.training.auto.trainer import AutoTrainer, without_empty
from vwlite.training.trainer import Job


class ClassTrainer(AutoTrainer):
    """Everything is learned in passes."""

    data: ClassData

    def __init__(self, o: TrainOptions, job: Job, data: ClassData) -> None:
        if "passes" in o.given and o.passes == 1:
            raise UsageError("--algorithm auto learns classes in several passes, also from standard input: leave "
                             "--passes 1 out, or use --algorithm gd")
        super().__init__(o, job, data)
        self.class_names, self._records = self.learner.class_names, int(self.learner.rule.records)

    @property
    def _lane_classes(self) -> int:
        """Those with a name, and one for all without."""
        return min(self.data.width + 1, self._records)

    @property
    def _has_many_classes(self) -> bool:
        return are_many_classes(self.data.width, self.data.summary.examples)

    @property
    def rates(self) -> Sequence[float]:
        return RATES_OF_MANY if self._has_many_classes else super().rates

    @property
    def ends_early(self) -> bool:
        return bool(self.data.summary.examples >= SHORT_RACE_FROM)

    @property
    def folds(self) -> int:
        return FOLDS if self.data.validation is None else 1

    @property
    def _bytes_needed(self) -> int:
        """By the lanes of a candidate, its predictions, and what is kept of two passes."""
        data = self.data
        predicted = 2 * 8 * data.width * (data.validation or data).summary.examples
        kept = KEPT * data.summary.features * self._lane_classes  # of the pass that takes the place of the best
        halved = self._has_many_classes
        lanes = lanes_need(data.summary.features, self.folds, self._lane_classes, halved=halved)
        return lanes + predicted + kept

    # --- learning ----------------------------------------------------------------------------

    def _selection(self, drawn: Drawn) -> Selection:
        data = self.data
        return ClassSelection(
            make_loss(data.settings), drawn, data.validation, classes=self._lane_classes, named=data.width,
            has_offsets=data.settings.constant, is_large=self._is_large, holds_out=self.holds_out,
            ends_early=self.ends_early,
        )

    def lanes(self, name: str, folds: int) -> Lanes:
        settings = self.data.settings
        loss, expander, classes = make_loss(settings), self._expander(name), self._lane_classes
        return Lanes(loss, expander, self.rates, folds, classes, starts=self.starts(name))

    @property
    def constants(self) -> Sequence[float]:
        return tuple(self.data.constants)

    def constant_scores(self) -> Any:
        return self.data.constants * self.data.judged.examples

    def _file_order(self, summary: DataSummary) -> Any:
        if self.best is None or self.selection is None:
            return self.data.constants * (summary.examples if self._places is None else 0)
        return self._in_file(self.best.predictions, summary, self.selection)

    # --- the model ---------------------------------------------------------------------------

    def _given(self, settings: Settings, fold: WeightScale) -> GivenPredictions:
        loss, expander = make_loss(settings), make_expander(settings)
        rule = make_rule(settings, loss, expander.constant_key)
        learner = GivenPredictions(rule, loss, expander, class_names=self.class_names, **self._writes)
        learner.answers_blank_lines = True
        return learner

    def _model_settings(self) -> Settings:
        return replace(super()._model_settings(), softmax_probabilities=True)

    def _load_model(self, learner: GivenPredictions | None = None) -> GivenPredictions:
        best, data, settings = self.best, self.data, self._model_settings()
        self.settings = without_empty(settings)
        learner = learner or self._given(settings, WeightScale())
        key, classes = learner.expander.constant_key, self._lane_classes
        if best is None or best.kept is None or best.best is None:
            keys = memoryview(array("I", [] if key is None else [key]))
            constants = [*data.constants, *[-LARGEST_SCORE] * (classes - data.width)]
            parts = [constant_score_state(x, key is not None, data.examples) for x in constants]
        else:
            keys = best.kept.keys
            offsets = [*(best.best.offsets or [0.0] * data.width), 0.0]  # the last one: of classes without a name
            dense = self.dense if best.name == "center" else ()
            parts = [
                score_state_of(best, k, WeightScale(shift=offsets[k]), dense, data.examples, key)
                for k in range(classes)
            ]
        low, high = loss_function(self.settings.loss).first_range
        self.intercepts = load_score_states(learner, keys, parts, low, high)
        self.learner = learner
        return learner

    def results(self) -> list[Result]:
        return [r for r in super().results() if r.key != "auc"]

    def chosen(self) -> dict[str, Any]:
        found = super().chosen()
        if self.best is not None and self.best.best is not None and self.best.best.offsets:
            found["offsets"] = list(self.best.best.offsets)
        return found
