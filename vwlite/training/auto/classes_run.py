"""A run of `vwlite train --algorithm auto` with several classes (`--oaa`)."""

from array import array
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from vwlite.algorithms.losses import loss_function
from vwlite.algorithms.memory import lanes_need
from vwlite.algorithms.settings import Settings
from vwlite.core.auto.given import GivenPredictions, scattered
from vwlite.core.auto.lanes import Lanes
from vwlite.core.auto.softmax_stack import constant_loss, importance_of_classes
from vwlite.core.auto.summary import DataSummary
from vwlite.core.data.normalize import Normalizer
from vwlite.errors import UsageError
from vwlite.model.learners import make_expander, make_loss, make_rule
from vwlite.runs.baseline import LARGEST_SCORE
from vwlite.runs.options import TrainOptions
from vwlite.runs.source import Source
from vwlite.training.auto.classes import FOLDS, ClassSelection, constant_part, load_parts
from vwlite.training.auto.model import WeightScale, best_kind, gd_settings, part_of
from vwlite.training.auto.run import AutoTraining, log
from vwlite.training.auto.selection import RATES, Drawn, Selection
from vwlite.training.passes import Job


class AutoClassTraining(AutoTraining):
    """The state of one run. Standard input is cached, as everything is learned in passes."""

    lane_classes = 1  # those with a name, and one for all without
    constants: Any = ()  # the best constant scores of the classes with a name

    def __init__(self, o: TrainOptions, job: Job, stack: ExitStack, source: Source | None = None) -> None:
        if "passes" in o.given and o.passes == 1:
            raise UsageError("--algorithm auto learns classes in several passes, also from standard input: leave "
                             "--passes 1 out, or use --algorithm gd")
        super().__init__(o, job, stack, source)
        self.class_names = self.learner.class_names

    @property
    def _is_stream(self) -> bool:
        return False

    @property
    def _is_scarce(self) -> bool:
        return False

    @property
    def _folds(self) -> int:
        return FOLDS if self.validation is None else 1

    @property
    def _bytes_needed(self) -> int:
        """By the lanes of a candidate, and by its predictions."""
        predicted = 8 * self.width * (self.validation or self).summary.examples
        return lanes_need(self.summary.features, self._folds, self.lane_classes) + predicted

    # --- labels ------------------------------------------------------------------------------

    def _learn_labels_as(self) -> None:
        """Find the classes and the best constant scores, and set the log loss of these."""
        self.width = len(self.class_names)
        self.lane_classes = min(self.width + 1, self.learner.rule.records)
        self.constants = array("d", bytes(8 * self.width))
        if not self.width:
            return
        weights = self._weights_of(self.summary)
        total = sum(weights)
        if self.settings.constant and total:
            self.constants = array("d", (log(x / total) if x else -LARGEST_SCORE for x in weights))
        judged = weights if self.validation is None else self._weights_of(self.validation.summary)
        is_one = total in weights and self.settings.constant
        if is_one and total:  # the others have (0 + 1/2) / (n + k / 2) of n examples of k classes
            self.constants = array("d", (log(self._examples + 0.5 if x else 0.5) for x in weights))
        self.baseline = 0.0 if is_one else constant_loss(self.constants, judged)

    def _weights_of(self, summary: DataSummary) -> Any:
        """The importance of each class."""
        return importance_of_classes(summary.labels, summary.importances, self.width)

    # --- learning ----------------------------------------------------------------------------

    def _selection(self, data: Drawn) -> Selection:
        return ClassSelection(
            make_loss(self.settings), data, self.validation, classes=self.lane_classes, named=self.width,
            has_offsets=self.settings.constant,
        )

    def _lanes(self, name: str, folds: int) -> Lanes:
        normalizer = Normalizer(name, self.dense if name == "center" else ())
        expander = make_expander(self.settings, normalizer)
        return Lanes(make_loss(self.settings), expander, RATES, folds, self.lane_classes)

    def _file_order(self, summary: DataSummary) -> Any:
        if self.best is None or self.selection is None:
            return self.constants * summary.examples
        found = array("d", bytes(8 * self.width * summary.examples))
        scattered(self.best.predictions, self.selection.order, found, self.width)
        return found

    # --- the model ---------------------------------------------------------------------------

    def _given(self, settings: Settings, fold: WeightScale) -> GivenPredictions:
        loss, expander = make_loss(settings), make_expander(settings)
        learner = GivenPredictions(
            make_rule(settings, loss, expander.constant_key), loss, expander, class_names=self.class_names,
            predictions=self.options.predictions is not None, raw_predictions=self.options.raw_predictions is not None,
        )
        learner.answers_blank_lines = True
        return learner

    def _load_model(self, learner: GivenPredictions | None = None) -> GivenPredictions:
        best, settings = self.best, self.settings
        rate = RATES[best_kind(best.best)] if best is not None and best.best is not None else settings.learning_rate
        settings = gd_settings(settings, rate, best.name if best is not None else "none")
        self.settings = replace(settings, softmax_probabilities=True)
        learner = learner or self._given(self.settings, WeightScale())
        key = learner.expander.constant_key
        if best is None or best.kept is None or best.best is None:
            keys = memoryview(array("I", [] if key is None else [key]))
            constants = [*self.constants, *[-LARGEST_SCORE] * (self.lane_classes - self.width)]
            parts = [constant_part(x, key is not None, self._examples) for x in constants]
        else:
            keys = best.kept.keys
            offsets = [*(best.best.offsets or [0.0] * self.width), 0.0]  # the last one: of classes without a name
            dense = self.dense if best.name == "center" else ()
            parts = [
                part_of(best, k, WeightScale(shift=offsets[k]), dense, self._examples, key)
                for k in range(self.lane_classes)
            ]
        low, high = loss_function(settings.loss).first_range
        self.intercepts = load_parts(learner, keys, parts, low, high)
        self.learner = learner
        return learner

    def results(self) -> dict[str, Any]:
        return {name: value for name, value in super().results().items() if not name.endswith("auc")}

    def chosen(self) -> dict[str, Any]:
        found = super().chosen()
        if self.best is not None and self.best.best is not None and self.best.best.offsets:
            found["offsets"] = list(self.best.best.offsets)
        return found
