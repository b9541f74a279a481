"""The race of the candidates of `--algorithm auto`: passes over examples in drawn order, until the best is known."""

import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from itertools import compress, cycle
from typing import TYPE_CHECKING, Any

from vwlite.algorithms.memory import LOCATED, available_memory
from vwlite.algorithms.settings import Settings
from vwlite.core.auto.given import scattered
from vwlite.core.auto.summary import DataSummary
from vwlite.core.data.normalize import NORMALIZATIONS
from vwlite.model.centered import Dense
from vwlite.output.progress import pass_text
from vwlite.output.text import shown
from vwlite.records import record
from vwlite.runs.options import TrainOptions
from vwlite.runs.run import feed
from vwlite.training.auto.auto_data import AutoData, detached, with_derived
from vwlite.training.auto.data import DrawnExamples
from vwlite.training.auto.final_choice import FinalChoice
from vwlite.training.auto.grid import FEW_FOR_STAGES, Grid, NewLanes
from vwlite.training.auto.loader import ModelLoader
from vwlite.training.auto.selection import (
    RIDGE,
    SAMPLE_PASSES,
    Drawn,
    GridCandidate,
    Selection,
    best_of,
    close_ones,
    columns_of,
    has_sample,
)
from vwlite.training.trainer import Listener, PassRow

if TYPE_CHECKING:
    from vwlite.derived import Derived

FEW_PASSES = 3  # after these, stages are compared
SAMPLED = 10_000  # examples whose values give the first scales of rare features


@record(frozen=True)
class Features:
    """Features that were derived from columns: what was tried, and what they gain."""

    tried: Sequence[str] = ()  # kinds: n-grams, curves, pairs
    notes: Sequence[str] = ()  # on the columns
    without: float | None = None  # the loss without derived features; None: the model has none
    with_first: float | None = None  # the loss with derived features on a sample; None: there was no sample
    derived_by: int = 0  # the number of rows of the sample
    mean: Mapping[str, float] = field(default_factory=dict)  # the weights of models by their features; empty: one model


@record(frozen=True)
class Outcome:
    """The outcome of training. normalizations, settings, summary: of the race."""

    best: GridCandidate | None = None  # None: the model is the intercept alone
    passes_used: int = 0
    selection: Selection | None = None  # that chose the model; None: for a stream, or if nothing was learned
    candidates: Sequence[GridCandidate] = ()  # empty for a stream
    dense: list[tuple[int, float, bool]] = field(default_factory=list)  # as in `Grid`
    normalizations: Sequence[str] = NORMALIZATIONS
    settings: Settings | None = None
    summary: DataSummary | None = None
    on_sample: dict[str, Any] = field(default_factory=dict)  # the race on the first examples, for the report
    features: Features = Features()
    places: Any = None  # the places in the file of the examples; None: they are all examples of the file, in order
    is_fed_again: bool = False  # the examples were counted again after the model was chosen: measures are of the model

    @property
    def centered(self) -> Dense:
        """The columns that the model has centered."""
        return self.dense if self.best is not None and self.best.centers else ()


@record(frozen=True)
class Setup:
    """What all races of a run have in common.

    keeps_folds: use folds even for many examples, because each example needs a prediction. checkpoint: a weak reference
    (races do not keep their trainer alive) to a function that is called when a checkpoint is due, with the data, the
    outcome at this time, and the number of the pass.
    """

    listener: Listener
    grid: type[Grid]
    loader: type[ModelLoader]
    keeps_folds: bool = False
    checkpoint: Callable[[], Callable[[AutoData, Outcome, int], None] | None] = lambda: None
    started_at: float = field(default_factory=time.monotonic)


class Race:
    """The candidates and their passes. groups: the group of each example, whose examples share a fold; None: no groups,
    or those of the summary."""

    best: GridCandidate | None = None  # None: the model is the intercept alone
    selection: Selection | None = None
    passes_used = 0

    def __init__(
        self, setup: Setup, data: AutoData, normalizations: Sequence[str] = NORMALIZATIONS, groups: Any = None
    ) -> None:
        self.setup, self.data, self._groups = setup, data, groups
        self.options: TrainOptions = data.options
        self.grid, self.loader = setup.grid(data, normalizations), setup.loader(data)
        self.candidates: list[GridCandidate] = []
        self.stages: list[Race] = []  # races with derived features; `stop` stops them, too
        self.on_sample: dict[str, Any] = {}
        self.stopped = False
        self.pass_number = self._since_checkpoint = 0  # the pass; the examples learned since the last checkpoint
        self._pass_begun = (0, 0.0)  # for the live line: a pass, and the time of its beginning

    def stop(self) -> None:
        self.stopped = True
        if self.selection is not None:
            self.selection.stopped = True
        for stage in self.stages:
            stage.stop()

    def new_race(
        self, data: AutoData, normalizations: Sequence[str], groups: Any = None, setup: Setup | None = None
    ) -> "Race":
        """A new race; it is stopped if this one is, and continues the count of passes and examples for checkpoints."""
        found = Race(setup or self.setup, data, normalizations, groups if groups is not None else self._groups)
        found.stopped, found.pass_number, found._pass_begun = self.stopped, self.pass_number, self._pass_begun
        found._since_checkpoint = self._since_checkpoint
        return found

    @contextmanager
    def stopping(self, race: "Race") -> Iterator[None]:
        """Meanwhile `stop` stops this race, too."""
        self.stages.append(race)
        try:
            yield
        finally:
            self.stages.remove(race)

    def with_derived(self, derived: "Derived") -> "Race":
        """A new race of the same data with these features. Its summary is empty."""
        names = self.grid.normalizations
        if derived.columns:
            names = ("none",)  # so a score is a sum of curves and cells
        elif self.passes_before_stages:
            names = close_ones(self.candidates)
        return self.new_race(with_derived(self.data, derived), names)

    # --- learning ----------------------------------------------------------------------------

    def learn(self, examples: DrawnExamples, most: int | None = None) -> None:
        """Find the best candidate in at most `most` passes over the examples. `best` is None if a signal comes before
        the first pass ends."""
        drawn = Drawn(self.data.summary, examples, self._groups)
        self.selection = self.grid.selection(drawn, holds_out=self.holds_out)
        self.selection.stopped = self.stopped
        self.grid.begin(examples.first(SAMPLED).batches)
        most = min(self._most_passes(), most or self._most_passes())
        grid = self.grid.candidates(self.folds, tries_ridge=True)
        self.candidates = self._new_candidates(grid)
        if self.selection.is_large and len(grid) > 1 and has_sample(self.data.summary.examples, self.data.rarer):
            sample, best = self._race_on_sample(self.selection)
            if not self.stopped:
                going_on = close_ones(self.candidates)
                self.candidates = self._new_candidates([x for x in grid if x[0] in going_on])
                self.best = self._race(most)
            if self.best is None and best is not None:
                self.selection, self.best, self.candidates = sample, best, [best]
        else:
            self.best = self._race(most)
        if self.best is not None:
            self._choose_finally()

    def learn_more(self) -> None:
        """Continue with the passes after the `most` of `learn`."""
        if not self.stopped and (best := self._race(self._most_passes(), first=self.passes_used + 1)) is not None:
            self.best = best
            self._choose_finally()

    def _new_candidates(self, grid: Sequence[tuple[str, NewLanes]]) -> list[GridCandidate]:
        return [GridCandidate(name, new_lanes, rates=self.grid.strengths if name == RIDGE else self.grid.rates)
                for name, new_lanes in grid]

    def _race_on_sample(self, selection: Selection) -> tuple[Selection, GridCandidate | None]:
        """Run the race on the first examples. Returns its selection and its best candidate: the model is made of these
        if a signal comes before the first pass over all examples ends."""
        self.selection = sample = selection.of_sample()
        sample.stopped = self.stopped
        best = self._race(SAMPLE_PASSES, tells=False)
        best = best and replace(best, lanes=None)  # these are large
        self.selection = selection
        selection.stopped = self.stopped
        if self.stopped:
            return sample, best
        found = [(c.best.loss * self.data.labels_as.loss_scale, c.name) for c in self.candidates if c.best is not None]
        losses = ", ".join(f"{name} {shown(loss)}" for loss, name in sorted(found))
        scored, learned = (len(examples.order) for examples in (sample.judge.examples, sample.examples))
        candidates = [{"normalize": name, "loss": loss} for loss, name in found]
        self.on_sample = {"learned": learned, "scored": scored, "candidates": candidates}
        self.setup.listener.say(
            f"normalizations = {losses}: losses on {scored:,} examples not learned, after the first {learned:,}"
        )
        return sample, best

    def _race(self, passes: int, first: int = 1, *, tells: bool = True) -> GridCandidate | None:
        """The best candidate. Candidates learn at the same time, or one after the other if memory does not hold all.
        first: the number of the first pass; candidates have finished the passes before. tells: report passes to the
        listener."""
        assert self.selection is not None
        one, room = self.bytes_needed, available_memory()
        if room is not None and one > room:
            raise MemoryError(
                f"the learning-rate grid of {self.data.summary.features:,} features needs {one >> 20:,} MB, and there "
                f"are {room >> 20:,}: use --algorithm gd, or fewer --bits"
            )
        self.selection.keeps = room is None or (one + LOCATED) * len(self.candidates) <= room
        after = self._after_pass if tells else lambda number, ran: None
        with self.setup.listener.ticking(self._live_text):
            have_lanes = first == 1 or all(c.lanes is not None for c in self.candidates if not c.ended)
            if have_lanes and (room is None or one * len(self.candidates) <= room):
                return self.selection.run(self.candidates, passes, self.options.threads, after, first)
            return self.selection.run_in_turn(self.candidates, passes, after)

    def _choose_finally(self) -> None:
        assert self.selection is not None
        self.passes_used = max(len(c.passes) for c in self.candidates)
        self.best = FinalChoice(self.loader, self.selection, self.grid.dense).chosen(self.candidates, self.best)

    @property
    def holds_out(self) -> bool:
        """Whether a tenth of the examples is held out in place of folds: if they are many, and not all need a
        prediction."""
        if self.selection is not None:
            return self.selection.holds_out
        return self.data.validation is None and self.data.is_large and not self.setup.keeps_folds

    @property
    def folds(self) -> int:
        return self.grid.folds(self.holds_out)

    @property
    def bytes_needed(self) -> int:
        """Memory of a candidate."""
        return self.grid.bytes_needed(self.folds)

    @property
    def passes_before_stages(self) -> int | None:
        """The number of passes before stages with derived features are compared with this race; None: all."""
        return FEW_PASSES if self.data.summary.examples >= FEW_FOR_STAGES else None

    def _most_passes(self) -> int:
        most, typed = self.grid.most_passes, self.options.passes
        if typed > 1:
            return typed if self.data.is_large else min(most, typed)
        return most

    # --- progress and checkpoints ------------------------------------------------------------

    def _live_text(self, seconds: float) -> str:
        found = self.selection
        assert found is not None
        if found.number != self._pass_begun[0]:
            self._pass_begun = (found.number, seconds)
        losses = [c.best.loss * self.data.labels_as.loss_scale for c in self.candidates if c.best is not None]
        in_turn = found.racing < sum(not c.ended for c in self.candidates)  # then the number of passes is not known
        most = None if in_turn else self._most_passes()
        return pass_text(found.number, most, found.share, seconds - self._pass_begun[1], min(losses, default=None))

    def _after_pass(self, number_of_pass: int, ran: list[GridCandidate]) -> None:
        self.pass_number = number_of_pass
        self.setup.listener.on_pass(self._row(number_of_pass, ran))
        self._since_checkpoint += int(self.data.summary.examples)
        best = best_of(self.candidates)
        if best is None or not self.setup.listener.is_checkpoint_due(self._since_checkpoint):
            return
        self._since_checkpoint = 0
        if self.selection is not None and (checkpoint := self.setup.checkpoint()) is not None:
            data, passes = detached(self.data), max(len(c.passes) for c in self.candidates)
            choice = FinalChoice(self.setup.loader(data), self.selection, self.grid.dense)
            outcome = replace(self.outcome(), best=choice.chosen(self.candidates, best), passes_used=passes)
            checkpoint(data, outcome, number_of_pass)

    def _row(self, number_of_pass: int, ran: list[GridCandidate]) -> PassRow:
        c, scale = min(ran, key=lambda c: c.passes[-1].loss), self.data.labels_as.loss_scale
        last = c.passes[-1]
        loss, seconds = last.losses[last.best] * scale, time.monotonic() - self.setup.started_at
        features = self.data.summary.features
        learner = columns_of(c.rates)[last.best]
        return PassRow(number_of_pass, c.name, learner, loss, last.stacked * scale, features, seconds)

    # --- the outcome -------------------------------------------------------------------------

    def outcome(self) -> Outcome:
        """The outcome so far."""
        return Outcome(
            self.best, self.passes_used, self.selection, self.candidates, self.grid.dense, self.grid.normalizations,
            self.data.settings, self.data.summary, self.on_sample,
        )

    def shown_loss(self, best: GridCandidate | None) -> float:
        """The loss of a candidate in the unit of the labels; None: of the best constant."""
        loss = best.best.loss if best is not None and best.best is not None else self.data.baseline
        return loss * self.data.labels_as.loss_scale

    def scores(self) -> Any:
        """The out-of-fold scores of the best candidate, for scaled labels, in the order of the data."""
        data, width = self.data, self.data.width
        if self.best is None or self.selection is None:
            return data.constant_scores(data.judged.initials, learned=True)
        found = array("d", bytes(8 * int(data.judged.examples) * width))
        scattered(self.best.predictions, self.selection.order, found, width)
        return found

    def scores_learned(self, sampled: Any) -> Any:
        """The scores of the model for a sample of the examples that it has learned, for scaled labels."""
        from vwlite.core.auto.screening import rows_of_sample
        from vwlite.core.learn.scorer import Scorer

        assert self.selection is not None
        learner, settings, _ = self.loader.loaded(self.best, self.grid.dense)
        scorer, examples, at = Scorer(learner), self.selection.examples, 0
        width = scorer.width
        drawn = memoryview(array("d", bytes(8 * len(examples.order) * width)))
        for batch in examples.batches():
            end = at + len(batch) * width
            scorer.into(drawn[at:end].cast("B").cast("d", (len(batch), width)), array("d", bytes(8 * len(batch))))
            feed(scorer, batch, settings)
            at = end
        scattered(drawn, examples.order, found := array("d", bytes(8 * len(drawn))), width)
        of_sample = rows_of_sample(found, sampled, width)
        named = compress(of_sample, cycle(k < self.data.width for k in range(width)))
        return array("d", map(self.data.as_learned, named))
