"""The training of a night: the model that is continued predicts the new rows, and `--algorithm auto` learns these and
the rows that were kept, which count as much as the new rows say; or the model that is continued learns the new ones."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from vwlite.core.base.arrays import total
from vwlite.core.base.dense import dot
from vwlite.core.data.namespaces import Namespaces
from vwlite.core.learn.tally import Tally
from vwlite.errors import DataError
from vwlite.input.diagnostics import BadLine
from vwlite.input.parsing import Parsed
from vwlite.model.header import COUNTERS
from vwlite.model.rows_beside import SUFFIX
from vwlite.model.shifted import shifted
from vwlite.output.results import Result
from vwlite.output.text import shown
from vwlite.runs.notes import Notes, together
from vwlite.runs.run import BadLines
from vwlite.training.nights.design import settings_for
from vwlite.training.nights.forgetting import (
    FEWEST,
    Evidence,
    PastExamples,
    choose_past,
    confirmed,
    level_of,
)
from vwlite.training.nights.keeping import RowKeeping
from vwlite.training.nights.new_rows import NewRows, halves
from vwlite.training.nights.new_rows_only import Way, best_way, evidence, ways_of
from vwlite.training.nights.source import RowSource
from vwlite.training.trainer import Job, Listener, PassRow, Trainer
from vwlite.training.trainers import source_of_kind, trainer_of

if TYPE_CHECKING:
    from vwlite.derived import Derived
    from vwlite.model import Model

LEARNED = ("passes_used", "derived", "loss_without_derived_features", "chosen", "features_in_the_table")


class _Forwarding(Listener):
    """Tells the listener of a night what concerns it of the learning of all rows."""

    def __init__(self, to: Listener) -> None:
        self._to = to

    @property
    def bad_lines(self) -> int:  # type: ignore[override]
        return self._to.bad_lines

    def say(self, line: str) -> None:
        self._to.say(line)

    def on_bad(self, bad: list[BadLine]) -> None:
        self._to.on_bad(bad)

    def on_end_of_data(self) -> None:
        self._to.on_end_of_data()

    def on_pass(self, row: PassRow) -> None:
        self._to.on_pass(row)

    def on_last_pass(self) -> None:
        self._to.on_last_pass()

    def ticking(self, text_at: Callable[[float], str]) -> AbstractContextManager[None]:
        return self._to.ticking(text_at)


class NightTrainer(Trainer):
    """`learner` has the model that is continued, which predicts the new rows: the measures are of these predictions.
    `learning` trains the new model."""

    shows_rows = False
    chooses_passes = True
    source: RowSource
    _carried, _shift = 0.0, tuple[float, ...]()
    _way: Way | None = None  # how the new rows only are learned, if they are
    _other: Trainer | None = None  # of a model that another one is compared with

    def __init__(
        self, job: Job, learning: Job, make_continued: Callable[[], Job], source: RowSource, new: NewRows,
        listener: Listener, keeping: RowKeeping, model: "Model",
    ) -> None:
        """job: with the options of the run. learning: of all rows. make_continued: makes that of the new rows only.
        source: of kept and new rows. new: the latter. model: that is continued."""
        super().__init__(job, source, listener)
        assert job.options.initial is not None
        self._model, self._path, self._keeping = model, job.options.initial, keeping
        self._make_continued, self._new = make_continued, new
        writes = {name: path is not None for name, path in job.options.of_predictions.items()}
        self._predicting = new.predicting(model, writes)
        self.learner = self._predicting.learner
        self._notes: Notes = ({}, [])
        source.is_read_again = bool(keeping.bound) or not keeping.only_continues
        if keeping.kept is not None:
            source.begin_with(keeping.kept, keeping.parts)
        self._learning = learning
        self.learning = trainer_of(learning, source, _Forwarding(listener))

    def stop(self) -> None:
        super().stop()
        self.learning.stop()
        if self._other is not None:
            self._other.stop()

    def run(self) -> None:
        self._predict()
        self._keeping.again()
        self.source.read(self._take, lambda: self.stopped)
        if self.stopped or not (self.has_learned or self.options.allow_empty):
            return
        if not self._keeping.only_continues:
            self._confirm()
            self._choose_past()
        if self.stopped:
            return
        way = self._new_rows_only()
        if self.stopped:
            return
        if way is not None:
            self.learning, self._way = way.trainer(), way
            if self._keeping.past < 1:
                self._remember()
        self._keeping.found_features(None if way is not None else self.source.examples)
        self.learning.run()
        self._shift_level()
        self.settings, self.pass_number = self.learning.settings, 1
        before, now = _products(self._model.settings.derived), _products(self.settings.derived)
        self._keeping.pairs, self._keeping.words = len(now - before), self.source.new_words()

    def _predict(self) -> None:
        """Predict the new rows. DataError for columns that the model does not know, if it is to be."""
        for parsed in self._new.parsed(self._predicting, lambda: self.stopped):
            self._predicting.take(parsed)
            self.listener.on_written(self.learner)
        labels, _ = self._predicting.about_labels()
        self._notes = self._predicting.notes(labels, self.options.on_unknown)

    def _take(self, parsed: Parsed) -> None:
        """New rows were read to be learned."""
        if self.names is not None and parsed.names is not None:
            self.names.take(parsed.names)
        self.listener.on_read(parsed, self.learner.examples)

    # --- what the past counts ----------------------------------------------------------------

    def _confirm(self) -> None:
        """If the run before has let the past count less, and there are enough new rows: the model without that goes on
        if it predicts the new rows better, by a standard error."""
        keeping = self._keeping
        if not keeping.is_to_confirm or self.source.examples < FEWEST:
            return
        assert keeping.kept is not None
        with self.listener.ticking(lambda seconds: f"comparing with the model that has not forgotten, {seconds:.0f} s"):
            source = source_of_kind(RowSource, self.job, BadLines(ExitStack(), skip=True)).with_data([], [])
            source.begin_with(keeping.kept, [replace(part, counts=part.if_undone) for part in keeping.parts])
            self._other = trainer_of(self._learning, source, Listener())
            if self.stopped:  # before it could be told
                return
            self._other.run()
            if self.stopped:
                return
            shift = _restored(keeping.evidence, self._path).shift
            with _as_data_error(self._path):
                models = shifted(self._other.model(), shift), self._model
                other, mine = (self._judged(model).prod(axis=1) for model in models)
            d = other - mine
        is_undone = total(d) < -sqrt(dot(d, d))
        keeping.confirm(is_undone=is_undone)
        evidence = _restored(keeping.if_undone if is_undone else keeping.evidence, self._path)
        keeping.evidence = replace(confirmed(evidence, is_undone), shift=shift).stored()

    def _judged(self, model: "Model", n: int = 0) -> Any:
        """The importance and the loss of each new row but the first n."""
        return self._new.judged(model, lambda: self.stopped, n)

    def _choose_past(self) -> None:
        """Let the past count what the new rows say, or what was typed."""
        keeping, model, source, past = self._keeping, self._model, self.source, self.options.past
        assert keeping.kept is not None
        if past is None:
            source.begin_with(keeping.kept, keeping.parts)
            evidence = _restored(keeping.evidence, self._path)
            with _as_data_error(self._path):
                rows = PastExamples(settings_for(model, source.derives), model.keys, model.weights, source.kept_batches,
                                    source.new_batches, evidence.shift)
            choice = choose_past(rows, evidence)
            self._carried, self._shift = choice.carried, choice.evidence.shift
            if choice.past < 1:
                keeping.if_undone = keeping.evidence
            keeping.evidence, keeping.nats, keeping.error = choice.evidence.stored(), choice.nats, choice.error
            keeping.forget(choice.past)
        else:
            keeping.forget(past, is_given=True)
            keeping.evidence = replace(_restored(keeping.evidence, self._path), shift=()).stored()
        source.begin_with(keeping.kept, keeping.parts)

    def _remember(self) -> None:
        """Undo what the past counts less: with that, the new rows are not predicted better than by the model that knows
        more than the rows that are kept."""
        keeping = self._keeping
        before, now = (_restored(of, self._path) for of in (keeping.if_undone, keeping.evidence))
        keeping.confirm(is_undone=True)
        keeping.past, keeping.evidence = 1.0, confirmed(replace(now, caution=before.caution), undone=True).stored()

    # --- a model that knows more than the rows that are kept ---------------------------------

    def _new_rows_only(self) -> Way | None:
        """How the model that is continued learns the new rows only, if it does: `new_rows_only.py`. Few rows do not
        decide; then it does if most rows that it has learned are not kept, and none are forgotten."""
        keeping, n = self._keeping, self.source.examples // 2
        if not keeping.knows_more or (keeping.past < 1 and (n < FEWEST or self.options.past is not None)):
            return None
        if not keeping.only_continues and keeping.has_more_for_features(self.source.examples):
            return None
        ways = ways_of(self._new, self._make_continued, keeping.rows_learned)
        if n < FEWEST:
            return ways[0] if keeping.before + keeping.beyond > keeping.lines else None
        with self.listener.ticking(lambda seconds: f"comparing how the new rows are learned, {seconds:.0f} s"):
            again = None if keeping.only_continues else self._of_second_half(self._trained_again(n), n)
            found = []
            for way in ways:
                if self.stopped:
                    return None
                try:
                    found.append((way, self._of_second_half(way.trainer(n), n)))
                except DataError:  # it diverges
                    continue
        if self.stopped:
            return None
        keeping.fit_minus_steps = evidence(found, keeping.fit_minus_steps)
        if not found and again is None:
            return ways[0]
        return best_way(found, again, keeping.errors if keeping.past == 1 else 0.0, keeping.fit_minus_steps)

    def _trained_again(self, n: int) -> Trainer:
        """From the kept rows and the first n new ones."""
        assert self._keeping.kept is not None
        half = source_of_kind(RowSource, self.job, BadLines(ExitStack(), skip=True))
        half.with_data((first for first, _ in halves(self.source.new_batches(), n)), self.source.new.log)
        half.begin_with(self._keeping.kept, self._keeping.parts)
        return trainer_of(self._learning, half, Listener())

    def _of_second_half(self, trainer: Trainer, n: int) -> Any:
        """What `judged` has of the new rows behind the first n, which this trainer learns."""
        self._other = trainer
        if not self.stopped:  # before it could be told
            trainer.run()
        return self._judged(trainer.model(), n) if not self.stopped else np.zeros((0, 2))

    def _shift_level(self) -> None:
        """Where levels last: move the intercept of the new model to that of the new rows, as far as they do."""
        if self._carried and not self.stopped:
            model = self.learning.model()
            settings = settings_for(model, self.source.derives)
            level = level_of(settings, model.keys, model.weights, self.source.new_batches)
            self._shift = tuple(self._carried * x for x in level)
            self._keeping.evidence = self._keeping.evidence | {"shift": [*self._shift]}

    # --- the model ---------------------------------------------------------------------------

    def _counted(self, interrupted: bool = False) -> tuple[int, float | None]:
        return self.learning._counted(interrupted)

    def model(self, *, interrupted: bool = False) -> "Model":
        before = self.job.before
        counters = {name: before.get(name, 0) + getattr(self.learner, name) for name in COUNTERS}
        return replace(shifted(self.learning.model(interrupted=interrupted), self._shift), counters=counters)

    @property
    def has_learned(self) -> bool:
        return self.source.examples > 0

    # --- what is said of it ------------------------------------------------------------------

    @property
    def held_tally(self) -> Tally | None:
        return None

    def results(self) -> list[Result]:
        found, keeping = {r.key: r for r in self.learning.results()}, self._keeping
        own = {r.key: r for r in super().results()}
        rows = [Result("rows_before", keeping.lines), Result("past", keeping.past)] if keeping.kept is not None else []
        return [*(own | {key: found[key] for key in LEARNED if key in found}).values(), *rows]

    def more_for_report(self) -> dict[str, Any]:
        return self.learning.more_for_report()

    def judged_on(self) -> str:
        return "on new rows before they were learned"

    def about_model(self) -> Iterator[str]:
        keeping = self._keeping
        loss = keeping.nights[-2].loss if len(keeping.nights) > 1 else None
        if loss is not None:
            yield f"average loss of the last run: {shown(loss)}"
        if keeping.past < 1 and self.options.past is None:
            yield (f"kept rows count {keeping.past:g} times as much as in the last run: so the new rows are predicted "
                   f"better (by {keeping.nats:,.0f} +- {keeping.error:,.0f} nats)")
        if self._shift:
            yield "the mean of the labels moves from run to run: the intercept was moved towards the new rows"
        new_rows = f"{self.source.examples:,} new row{'s' * (self.source.examples != 1)}"
        if self._way is not None:
            yield f"learned only the {new_rows}, {self._way}, as the model knows rows that are not kept"
            return
        found = (keeping.pairs, "pair"), (keeping.words, "word")
        new = [f"{n:,} new {what}{'s' * (n > 1)}" for n, what in found if n]
        counts = "" if keeping.weight == keeping.lines else f", which count as {keeping.weight:,.0f}"
        both = f"{keeping.lines:,} kept rows{counts}, and {new_rows}"
        yield f"trained again from {both}{': ' * bool(new)}{', '.join(new)}"
        yield from self.learning.about_model()

    def notes(self, namespaces: Namespaces) -> Notes:
        return together(self._notes, self.learning.notes(namespaces))


def _restored(evidence: dict[str, Any], path: str) -> Evidence:
    """DataError for what is not valid in the rows of the model at this path."""
    with _as_data_error(path):
        return Evidence.restored(evidence) if evidence else Evidence()


@contextmanager
def _as_data_error(path: str) -> Iterator[None]:
    """DataError for a ValueError about the rows of the model at this path."""
    try:
        yield
    except ValueError as e:
        raise DataError(f"{path}{SUFFIX}: not valid rows: {e}; remove the file, or add --keep-rows 0") from e


def _products(derived: "Derived | None") -> set[frozenset[str]]:
    """The columns of each pair and triple."""
    if derived is None:
        return set()
    return {frozenset(derived.columns[c].full_name for c, _ in product) for product in derived.products}
