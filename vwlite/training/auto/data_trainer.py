"""The base class of trainers that learn `AutoData`."""

from abc import abstractmethod
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vwlite.algorithms.settings import Resolved
from vwlite.core.auto.given import GivenPredictions, by_line
from vwlite.core.data.batch import Batch
from vwlite.core.data.namespaces import Namespaces
from vwlite.core.learn.tally import Tally
from vwlite.output.results import Result
from vwlite.runs.notes import Notes, together
from vwlite.training.auto.auto_data import AutoData
from vwlite.training.auto.loader import without_empty
from vwlite.training.auto.reading import DataReader, Learning
from vwlite.training.auto.selection import FOLDS
from vwlite.training.trainer import Job, Trainer
from vwlite.training.verdict import about_near_0

if TYPE_CHECKING:
    from vwlite.model import Model

FEW = 300  # examples; below, the loss is uncertain


class DataTrainer(Trainer, Learning):
    """A trainer that tries several learners. `learner` has the chosen model, and counts the examples."""

    shows_rows = False
    chooses_passes = True
    learner: GivenPredictions
    drawn: Callable[[], Iterable[Batch]] | None = None  # examples in drawn order

    def __init__(self, job: Job, data: AutoData) -> None:
        super().__init__(job, data.source, data.listener)
        self.data, self.chooses_loss = data, data.choice.chooses_loss
        self.reader = DataReader(data)

    @property
    def labels_in_batches(self) -> tuple[float, float] | None:  # type: ignore[override]
        return self.data.choice.in_batches

    @property
    def resolved(self) -> Resolved:
        return replace(self.job.resolved, settings=self.data.settings)

    def run(self) -> None:
        self.reader.read(self)
        if self.learner is self.job.learner:  # nothing was learned
            self.settings = without_empty(self.data.settings)

    @abstractmethod
    def chosen(self) -> dict[str, Any]:
        """The choice and its losses, for the header of the model and the report."""

    def _snapshot(self, interrupted: bool) -> "Model":
        model = replace(super()._snapshot(interrupted), chosen=self.chosen())
        if not model.columns:
            return model
        from vwlite.input.schema import Schema  # not at the top: only tables need it
        from vwlite.training.auto.readable import with_levels

        derived = self.data.settings.derived
        if derived is not None and not derived.texts and self.source.tries_ngrams:
            model = replace(model, columns=Schema.restored(model.columns).without_ngrams().stored())
        if self.data.column_names is not None and self.names is None:
            model = with_levels(model, self.data.column_names)
        return model

    def _of_table(self, model: "Model", interrupted: bool) -> "Model":
        from vwlite.training.auto.readable import with_record

        model = super()._of_table(model, interrupted)
        return model if interrupted or self.drawn is None else with_record(model, self.drawn, self._models_of_folds())

    def _models_of_folds(self) -> Any:
        """Keys, and for each fold the weights of the model that has not learned it; None without folds."""
        return None

    def _feed_given(self, learner: GivenPredictions, batches: Iterable[Batch], scores: Any) -> None:
        """Count the examples of batches, which have these predictions; if `scores` is empty, the rule predicts."""
        self.learner, at = learner, 0
        for batch in batches:
            lines = array("d", bytes(8 * len(batch) * self.data.width))
            at = by_line(batch, scores, at, lines, self.data.width)
            learner.give(batch, lines)
            self.feed(batch)

    @property
    def is_progressive(self) -> bool:
        return self.has_begun

    def measures(self, tally: Tally) -> dict[str, Result]:
        """For files, the baseline of a loss whose best constant is no mean is of all labels; the tally has a sample."""
        data = self.data
        found = super().measures(tally)
        own = found.get("average_loss")
        of_all = not (self.has_begun or self.held is not None or data.summary.has_initial)
        if own and own.baseline is not None and data.learned_loss().keeps_labels and data.settings.constant and of_all:
            baseline = data.constant_loss_of(data.summary) * data.labels_as.loss_scale
            found["average_loss"] = own._replace(baseline=baseline)
        return found

    def notes(self, namespaces: Namespaces) -> Notes:
        return together(super().notes(namespaces), ({}, [*self.data.hints, *self._doubts()]))

    def _doubts(self) -> Iterator[str]:
        """Reasons why the loss of new examples may differ from that of the summary."""
        n = self.data.examples
        if 0 < n < FEW and self.data.validation is None:
            yield f"only {n} example{'s' * (n > 1)}: the loss on new data may be far from the one above"
        elif near_0 := about_near_0(self.settings, self.measures(self.held_tally or self.learner.progressive)):
            yield near_0
        if self.options.group is not None and n:
            sizes = Counter(self.data.summary.contents)
            largest = max(sizes.values())
            if self.has_begun or 2 * largest > n or len(sizes) < FOLDS:
                why = ("too few examples for folds" if self.has_begun else f"there are only {len(sizes)} groups"
                       if len(sizes) < FOLDS else f"one group has {largest:,} of {n:,} examples")
                yield f"--group: {why}, so that the loss may not be that of new groups"
