"""The loss of amounts for `--algorithm auto`: labels that are never negative, and skewed, if no loss is given.

Amounts are labels of at least 0 whose skewness, the third central moment over the third power of the standard
deviation, is at least LEAST_SKEWNESS; two values alone are none. Their columns often multiply, and their errors often
grow with their means. So the losses of MEANS learn a sample beside the squared loss: with the same folds and, in place
of stages, with curves of all numbers. The loss with the least squared error out of fold is taken, if it is better than
the squared loss by more than the standard error of the difference by row, of which copies are one. All rows are then
learned as if that loss had been given. Last, the squared loss learns the features of that model, with the same folds:
if that loss is not better there, too, the model is that of the squared loss after all. (Few rows decide a mean of
squared errors, and another fold with other features may show one of which the exponential is far off.)
"""

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import replace
from typing import Any

from vwlite.algorithms.losses import loss_function
from vwlite.algorithms.settings import Settings
from vwlite.core.auto.summary import DataSummary
from vwlite.core.base.elementary import each
from vwlite.core.data.batch import Batch
from vwlite.core.data.normalize import NORMALIZATIONS
from vwlite.errors import DataError
from vwlite.model.header import in_json
from vwlite.output.text import shown
from vwlite.records import record
from vwlite.training.auto.auto_data import AutoData, detached, with_derived
from vwlite.training.auto.data import Batches, DrawnExamples
from vwlite.training.auto.learning import stages_of
from vwlite.training.auto.race import Outcome, Race, Setup
from vwlite.training.auto.selection import Drawn
from vwlite.training.auto.trainer import AutoTrainer
from vwlite.training.trainer import Listener

LEAST_SKEWNESS = 0.5
FEWEST_LABELS = 3  # different ones
SAMPLE = 20_000  # rows by which losses are compared
SQUARED, LOG1P = "squared", "log1p"
# What is learned in place of the squared loss: settings, by name.
MEANS: Mapping[str, Mapping[str, Any]] = {
    LOG1P: {"label_transform": LOG1P}, "poisson": {"loss": "poisson"}, "gamma": {"loss": "gamma"},
}
_CALLED = {"poisson": "Poisson"}


@record(frozen=True)
class Compared:
    """The mean squared error of a loss on rows that were not learned; its difference to that of the squared loss, and
    the standard error of the difference."""

    mse: float
    difference: float = 0.0
    error: float = 0.0

    def facts(self) -> dict[str, float]:
        """For the report."""
        return {"mse": self.mse} | ({"difference": self.difference, "standard_error": self.error} if self.error else {})

    @property
    def is_better(self) -> bool:
        return self.difference < -self.error


def are_amounts(summary: DataSummary) -> bool:
    """Whether the labels are amounts."""
    if summary.least_label() < 0 or len(summary.distinct_labels(FEWEST_LABELS)) < FEWEST_LABELS:
        return False
    return bool(summary.skewness() >= LEAST_SKEWNESS)


def compared(errors: Mapping[str, Any], importances: Any, copies: Any) -> dict[str, Compared]:
    """Compare losses by the squared errors of each row. copies: for each row, the row that it is a copy of, or itself.
    """
    from vwlite.core.auto.screening import difference_of

    found = {}
    for name, own in errors.items():
        before, difference, error = difference_of(own, errors[SQUARED], importances, copies)
        found[name] = Compared(before) if name == SQUARED else Compared(before + difference, difference, error)
    return found


def best_of(found: Mapping[str, Compared]) -> str:
    """The name of the loss with the least squared error; the squared loss, if that is not better than it."""
    best = min(found, key=lambda name: found[name].mse)
    return best if found[best].is_better else SQUARED


class AmountTrainer(AutoTrainer):
    """Learns numbers; if they are amounts, with the loss that is best for them."""

    compared: Mapping[str, Compared] = {}  # by loss; empty if labels are no amounts, or the loss was given
    _has_curves = False  # in the comparison
    checked: Mapping[str, Compared] = {}  # the same with the features of the model, unless its loss is the squared one

    def _learned(self, examples: DrawnExamples) -> DrawnExamples:
        data, race, batches = self.data, self.race, self.batches
        if not self._may_compare() or not are_amounts(data.summary):
            return super()._learned(examples)
        with self.listener.ticking(_comparing):
            comparison = LossComparison(race, examples)
            self.compared, self._has_curves = comparison.compared(), comparison.has_curves
        name = best_of(self.compared) if self.compared else SQUARED
        if name == SQUARED:
            return super()._learned(examples)
        settings, hints, labels = data.settings, [*data.hints], array("d", data.summary.labels)
        found = self._begin_with(name, examples)
        super()._learned(found)
        if not race.passes_used or race.stopped or data.is_large or data.validation is not None:
            return found
        with self.listener.ticking(_comparing):
            self.checked = LossCheck(race, self.outcome, examples, labels).compared(name, settings)
        if not self.checked or self.checked[name].is_better:
            return found
        self.listener.say(f"loss = squared after all, as {_CALLED.get(name, name)} is not better by a standard error "
                          "with the features of its model")
        data.settings, data.hints, self.batches = settings, hints, batches
        data.summary.set_labels(labels)
        set_loss(data)
        self.race = race.new_race(data, NORMALIZATIONS)
        return super()._learned(examples)

    def _may_compare(self) -> bool:
        """Whether nothing that was given decides the loss, or depends on it. A score of another loss is a logarithm, to
        which initial predictions are added; and a model that is continued must learn any label."""
        data, o = self.data, self.options
        is_open = data.settings.loss == SQUARED and data.choice.chooses_loss and self.compares_losses
        is_continued = "continued" in o.given or bool(o.keep_rows)
        depends = bool(o.fail_if) or is_continued or "link" in o.typed or not data.settings.constant
        judged = [data.summary] + ([] if data.validation is None else [data.validation.summary])
        return is_open and not depends and not any(s.has_initial or s.least_label() < 0 for s in judged)

    def _begin_with(self, name: str, examples: DrawnExamples) -> DrawnExamples:
        """Change the data as if this loss had been given. Returns the examples with the labels that it learns."""
        data = self.data
        data.settings = with_means(data.settings, name)
        option = "label transform" if name == LOG1P else "loss"
        why = "as its squared error on rows not learned is the least"
        self.listener.say(f"{option} = {name} in place of the squared loss, {why}")
        if name == "poisson":
            note, on_counts = data.choice.notes
            hints = (on_counts if hint == note else hint for hint in data.hints)
            data.hints = [hint for hint in hints if hint]
        if name == LOG1P:
            examples = self._of_logarithms(data)
        set_loss(data)
        return examples

    def _of_logarithms(self, data: AutoData) -> DrawnExamples:
        """Make logarithms of all labels. Returns the examples with these."""
        load = self.batches.load
        self.batches = Batches(self.batches.counts, lambda number: with_logarithms(load(number)))
        data.summary.set_labels(logarithms(data.summary.labels))
        if data.validation is not None:
            summary, found = data.validation.summary, [*map(with_logarithms, data.validation_batches)]
            summary.set_labels(logarithms(summary.labels))
            counts = [int(data.summary_of([batch]).examples) for batch in found]
            data.validation = Drawn(summary, DrawnExamples.of(summary, Batches(counts, found.__getitem__)))
            data.validation_batches = found
        return DrawnExamples.of(data.summary, self.batches)

    # --- what is said of it ------------------------------------------------------------------

    def chosen(self) -> dict[str, Any]:
        return super().chosen() | self._losses()

    def more_for_report(self) -> dict[str, Any]:
        return super().more_for_report() | {"chosen": in_json(self.chosen())}

    def _losses(self) -> dict[str, Any]:
        found = {"losses": self.compared, "losses with features of model": self.checked}
        return {what: {name: x.facts() for name, x in each.items()} for what, each in found.items() if each}

    def about_model(self) -> Iterator[str]:
        if self.compared:
            yield in_words(self.compared, self.checked, ", compared with curves only" if self._has_curves else "")
        yield from super().about_model()


def in_words(found: Mapping[str, Compared], checked: Mapping[str, Compared], features: str) -> str:
    """Which loss is best, and why, as a sentence of the summary. features: by which it is."""
    best = best_of(found)
    each = sorted(found, key=lambda name: (name != best, found[name].mse))
    first, *others = (f"{_CALLED.get(name, name)} {shown(math.sqrt(found[name].mse))}" for name in each)
    said = f"loss: {first}, {', '.join(others)} (RMSE on rows not learned{features})"
    if best == SQUARED and min(x.mse for x in found.values()) < found[best].mse:
        return f"{said}; the difference is within a standard error"
    if best in checked and not checked[best].is_better:
        own, other = (shown(math.sqrt(checked[name].mse)) for name in (best, SQUARED))
        own = f"with the features of its model {own}, squared {other}"
        return f"{said}; {own}: the difference is within a standard error"
    return said


def with_means(settings: Settings, name: str) -> Settings:
    """The settings as if this loss had been given. name: of MEANS."""
    found = replace(settings, **MEANS[name])
    return replace(found, link=found.outputs.usual_link)


def set_loss(data: AutoData) -> None:
    """Adapt the data to another loss, or other labels."""
    data.forget_labels()
    data.scale_labels()


def logarithms(labels: Any) -> Any:
    """log(1 + label)"""
    found = array("d", labels)
    each("log1p", found, found)
    return found


def with_logarithms(batch: Batch) -> Batch:
    """A copy of a batch with the logarithms of its labels."""
    found = batch.part(0, len(batch))
    found.set_labels(logarithms(batch.label))
    return found


def squared_errors(race: Race, labels: Any) -> Any:
    """The squared error of each row, by its prediction out of fold. labels: as they are in the data."""
    import numpy as np

    data, outputs = race.data, race.data.settings.outputs
    p = np.clip(np.asarray(data.of_labels(race.scores())), *data.range_of_scores())
    if outputs.smears:
        ratios = np.asarray(logarithms(labels)) - p
        each("exp", ratios, ratios)
        each("exp", p, p)
        p = p * np.average(ratios, weights=data.summary.importances) - 1
    elif loss_function(data.settings.loss).links:
        each("exp", p, p)
    return array("d", (p - labels) ** 2)


def _comparing(seconds: float) -> str:
    return f"comparing losses, {seconds:.0f} s"


def _silent(setup: Setup) -> Setup:
    return replace(setup, listener=Listener(), keeps_folds=True, checkpoint=lambda: None)


class LossComparison:
    """Compares losses by a sample of the examples. race: of all examples, with the squared loss."""

    def __init__(self, race: Race, examples: DrawnExamples) -> None:
        self._race, self._setup = race, _silent(race.setup)
        self._first = [batch.part(0, len(batch)) for batch in examples.first(SAMPLE).batches()]
        self._data = detached(race.data)
        self._data.validation, self._data.validation_batches = None, ()
        self._data.summary = self._data.summary_of(self._first)

    @property
    def has_curves(self) -> bool:
        derived = self._data.settings.derived
        return derived is not None and bool(derived.columns)

    def compared(self) -> dict[str, Compared]:
        """The losses by name; none if a signal came."""
        normalizations = self._derive()
        data = self._data
        set_loss(data)
        labels, errors = array("d", data.summary.labels), {}
        learned = self._learned(data, normalizations)
        if learned.selection is None or self._race.stopped:
            return {}
        errors[SQUARED] = squared_errors(learned, labels)
        if learned.best is not None:
            normalizations = [learned.best.name]
        for name in MEANS:
            if name == "gamma" and data.summary.least_label() <= 0:
                continue
            with suppress(DataError), self._labels_of(name, labels):  # weights that are too large for 32 bits
                other = copy(data)
                other.settings = with_means(data.settings, name)
                set_loss(other)
                errors[name] = squared_errors(self._learned(other, normalizations), labels)
            if self._race.stopped:
                return {}
        return compared(errors, data.summary.importances, copies_of(learned))

    def _derive(self) -> Sequence[str]:
        """Derive curves, if features are derived. Returns the normalizations to try."""
        data, batches = self._data, Batches([len(batch) for batch in self._first], self._first.__getitem__)
        derived = stages_of(Race(self._setup, data), batches).curves() if data.derives else None
        if derived is None:
            return NORMALIZATIONS
        self._data = with_derived(data, derived)
        self._data.summary = self._data.summary_of(self._first)
        return ("none",)

    def _learned(self, data: AutoData, normalizations: Sequence[str]) -> Race:
        """A race of the sample, without its state."""
        race = self._race.new_race(data, normalizations, setup=self._setup)
        with self._race.stopping(race):
            race.learn(DrawnExamples.in_order(self._first), race.passes_before_stages)
        for c in race.candidates:
            c.lanes = c.kept = None
        return race

    @contextmanager
    def _labels_of(self, name: str, labels: Any) -> Iterator[None]:
        """The sample has the labels that a loss learns."""
        if name == LOG1P:
            self._set_labels(logarithms(labels))
        try:
            yield
        finally:
            if name == LOG1P:
                self._set_labels(labels)

    def _set_labels(self, labels: Any) -> None:
        at = 0
        self._data.summary.set_labels(labels)
        for batch in self._first:
            batch.set_labels(labels[at : at + len(batch)])
            at += len(batch)


class LossCheck:
    """Compares the loss of a model with the squared loss, which learns the same features. race: of the model's loss.
    outcome: of all stages. examples, labels: as they are in the data."""

    def __init__(self, race: Race, outcome: Outcome, examples: DrawnExamples, labels: Any) -> None:
        self._race, self._outcome, self._examples, self._labels = race, outcome, examples, labels

    def compared(self, name: str, squared: Settings) -> dict[str, Compared]:
        """The two losses by name; none if a signal came. squared: the settings without derived features."""
        outcome = self._outcome
        assert outcome.settings is not None and outcome.summary is not None
        of_model = self._of_model(outcome)
        errors, learned = {name: squared_errors(of_model, self._labels)}, array("d", outcome.summary.labels)
        outcome.summary.set_labels(self._labels)
        data = detached(of_model.data)
        data.settings = replace(squared, derived=outcome.settings.derived)
        try:
            set_loss(data)
            errors[SQUARED] = squared_errors(self._learned(data, outcome), self._labels)
        except DataError:  # weights that are too large for 32 bits
            return {}
        finally:
            outcome.summary.set_labels(learned)
        return {} if self._race.stopped else compared(errors, outcome.summary.importances, copies_of(of_model))

    def _learned(self, data: AutoData, outcome: Outcome) -> Race:
        names = NORMALIZATIONS if outcome.best is None else [outcome.best.name]
        race = self._race.new_race(data, names, setup=_silent(self._race.setup))
        with self._race.stopping(race):
            race.learn(self._examples)
        return race

    def _of_model(self, outcome: Outcome) -> Race:
        """A race that has this outcome."""
        assert outcome.settings is not None and outcome.summary is not None
        data = copy(self._race.data)
        data.settings, data.summary = outcome.settings, outcome.summary
        found = Race(self._race.setup, data)
        found.best, found.selection = outcome.best, outcome.selection
        return found


def copies_of(race: Race) -> Any:
    """For each row of a race, the row that it is a copy of, or itself."""
    from vwlite.core.auto import folds

    assert race.selection is not None
    return folds.copies_of(race.data.summary.contents, race.selection.folds_in_file)
