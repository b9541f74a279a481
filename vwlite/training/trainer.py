"""Training: a learner, its source, the passes over it, and the holdout.

Nothing is printed or written here: a `Listener` is told what happens. The command `vwlite train`, the estimators and
`vwlite tune` train by these classes.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from math import exp, isfinite, log
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from vwlite.algorithms.settings import Resolved
from vwlite.algorithms.table import ALGORITHMS
from vwlite.core.data.batch import Batch
from vwlite.core.data.namespaces import Namespaces
from vwlite.core.learn.learner import Learner, Reason
from vwlite.core.learn.tally import Tally
from vwlite.input.diagnostics import BadLine
from vwlite.input.parsing import Parsed
from vwlite.model.feature_names import NONE
from vwlite.model.header import SMEARING
from vwlite.model.learners import new_learner, resume
from vwlite.model.snapshot import FROM_NOTHING, Provenance, snapshot
from vwlite.output.results import Result
from vwlite.runs.notes import Notes, about_labels, about_loss, about_names, about_options, together
from vwlite.runs.options import EARLY_TERMINATE, TrainOptions
from vwlite.runs.plan import NO_FILES, DataPlan
from vwlite.runs.resolve import resolve
from vwlite.runs.run import feed, measures_of
from vwlite.runs.source import DataNames, name_store
from vwlite.training.verdict import count_of_passes, normalization, result, update
from vwlite.training.words_of_run import words_of_run

if TYPE_CHECKING:
    from vwlite.core.text.feature_names import NameStore
    from vwlite.model import Model
    from vwlite.model.row_sample import RowSample

FEWEST = 64  # rows whose errors tell something of those of a learner that begins
SMALL_TABLE = 1 << 22  # bytes of a weight table whose nonzero weights are counted for every row


def finite(loss: float | None) -> float | None:
    """A loss; None if it is infinite or NaN, as JSON has no such number."""
    return loss if loss is not None and isfinite(loss) else None


class Job(NamedTuple):
    """What training begins with, resolved from its options and the model that is continued, if there is one."""

    options: TrainOptions
    learner: Learner
    resolved: Resolved
    before: dict[str, int]  # the counters of that model
    provenance: Provenance
    known: DataNames
    data: DataPlan
    calibration: dict[str, Any] | None = None  # of that model
    absent: dict[str, Any] | None = None  # of that model


def prepared(
    o: TrainOptions, model: "Model | None", data: DataPlan = NO_FILES, *, in_place: bool,
    names: "NameStore | None" = None,
) -> Job:
    """in_place: as of `Provenance.of`. names: where those of features go, if that is there already."""
    base = model.settings if model else None
    resolved = resolve(o.typed, base, o.initial, given=o.given, passes=o.passes)
    options: dict[str, Any] = {name: path is not None for name, path in o.of_predictions.items()}
    options["holdout_period"] = o.held_out
    if names is None:
        names = name_store(o.names, model.names if model else NONE)
    if model is None or o.initial is None:
        learner = new_learner(resolved.settings, o.typed.get("feature_weights"), **options)
        return Job(o, learner, resolved, {}, FROM_NOTHING, DataNames(learner.class_names, features=names), data)
    learner = resume(model, resolved, o.initial, **options)
    known = DataNames(learner.class_names, columns=model.columns, features=names)
    provenance = Provenance.of(model, in_place=in_place)
    return Job(o, learner, resolved, model.counters, provenance, known, data, model.calibration, model.absent)


class Examples(Protocol):
    """Where the examples come from: files, or rows in memory."""

    keeps_batches: bool  # after the first pass
    keeps_text: bool  # of lines
    derives: bool  # batches are as derived features need them: with the hashes of namespaces, and zeros
    logs: bool  # names of columns and words come with the batches, which have the hashes of namespaces
    tries_ngrams: bool  # texts have features that a model may do without: `RoleOptions.tries_ngrams`
    reads_more: bool  # bad lines of other files follow, before `end`

    @property
    def can_be_read_again(self) -> bool: ...

    @property
    def may_be_table(self) -> bool: ...

    @property
    def columns(self) -> dict[str, Any]: ...

    @property
    def keys(self) -> list[str]: ...  # of JSON lines

    @property
    def sample(self) -> "RowSample": ...  # of the rows of tables

    def open(self) -> None: ...

    def end(self) -> None: ...

    def batches(self, stop: Callable[[], bool]) -> AbstractContextManager[Iterator[Parsed]]: ...

    def batch(self, number: int) -> Batch: ...

    def batches_of(
        self, paths: tuple[str, ...], stop: Callable[[], bool]
    ) -> AbstractContextManager[Iterator[Parsed]]: ...


class PassRow(NamedTuple):
    """The best candidate of a pass of --algorithm auto: its normalization, its best single learner, the loss of that,
    and the loss of the stack."""

    number: int
    normalize: str
    learner: str
    loss: float
    stacked: float
    features: int
    seconds: float


class Listener:
    """What a trainer calls on its way. Here nothing happens. It does not keep the trainer, which keeps it: memory and
    files are freed as soon as neither is used."""

    bad_lines = 0  # so far

    def say(self, line: str) -> None:
        """Something was decided by the data."""

    def on_bad(self, bad: list[BadLine]) -> None:
        """Lines could not be read. DataError if that ends training."""

    def on_read(self, parsed: Parsed, lines: int) -> None:
        """A batch was read before learning, up to so many lines. DataError as for `on_bad`."""

    def on_begin(self, trainer: "Trainer") -> None:
        """The learner begins to learn as examples come."""

    def on_feed(self, trainer: "Trainer", batch: Batch) -> None:
        """A batch will be sent through the learner."""

    def on_pause(self, trainer: "Trainer", reason: Reason) -> None:
        """The learner came back for a report or a checkpoint."""

    def on_written(self, learner: Learner) -> None:
        """The learner may have written predictions."""

    def on_batch(self, trainer: "Trainer", parsed: Parsed, before: int) -> None:
        """A batch was learned. before: the lines that were learned before it. DataError as for `on_bad`."""

    def on_end_of_data(self) -> None:
        """All batches of a pass were read."""

    def on_best_pass(self, trainer: "Trainer") -> None:
        """No pass so far is better than the last one, and there will be another one."""

    # Of --algorithm auto:

    def on_pass(self, row: PassRow) -> None:
        """Candidates have learned all examples once more."""

    def on_last_pass(self) -> None:
        """No more passes come, unless there is another race."""

    def ticking(self, text_at: Callable[[float], str]) -> AbstractContextManager[None]:
        """What goes on while the block works. text_at: of the seconds since the beginning."""
        return nullcontext()

    def next_checkpoint(self, examples: int) -> int | None:
        """After how many more examples, of which so many were learned, there is a checkpoint; None: by time only."""
        return None

    def is_checkpoint_due(self, examples: int) -> bool:
        """examples: that were learned since the last one."""
        return False

    def on_checkpoint(self, trainer: "Trainer") -> None:
        """A trainer has the model as of now."""


class Trainer:
    """What all kinds of training have in common: the state, the model, and what is said of it."""

    chooses_loss = False  # by the labels
    chooses_passes = False
    continues = True  # the model has the state of its algorithm
    shows_rows = True  # of progress, from the start on
    labels_in_batches: tuple[float, float] | None = None  # the negative and the positive one, if they are mapped
    lines_learned: int | None = None  # of those that were read, for a checkpoint in the first pass; None: all
    counted: Tally | None = None  # in place of that of the learner

    def __init__(self, job: Job, source: Examples, listener: Listener) -> None:
        self.options, self.job, self.source, self.listener = job.options, job, source, listener
        self.learner, self.settings, self.names = job.learner, job.resolved.settings, job.known.features
        self.learner.answers_blank_lines = True  # so that each line of a pipe gets an answer
        self.started_at = time.monotonic()
        self.stopped = False
        self.pass_number = 0
        self.losses: list[dict[str, float | None]] = []  # of each pass
        self.held: Tally | None = None  # of the examples by which the model was chosen
        self.best_pass = 0
        self.best_is_kept = False  # the model of the best pass is the result
        self.nonzeros = 0
        self.strength: float | None = None  # found by --nonzeros

    @property
    def resolved(self) -> Resolved:
        return self.job.resolved

    def stop(self) -> None:
        """End after the current example. Called from the thread of the signals."""
        self.stopped = True
        self.learner.stop()

    def run(self) -> None:
        """Read and learn everything. DataError, MemoryError."""
        raise NotImplementedError

    def feed(self, batch: Batch) -> None:
        """Send a batch through the learner."""
        listener = self.listener
        listener.on_feed(self, batch)
        paused = partial(listener.on_pause, self)
        feed(self.learner, batch, self.settings, paused=paused, written=listener.on_written)

    # --- the model ---------------------------------------------------------------------------

    @contextmanager
    def _final(self, is_final: bool) -> Iterator[None]:
        """The weights are those of the model at the end; or as they are."""
        self.learner.rule.final = is_final
        yield
        self.learner.rule.final = False

    def count(self, *, interrupted: bool = False) -> None:
        """Count the nonzero weights that the model has now."""
        self.nonzeros, self.strength = self._counted(interrupted)

    def _counted(self, interrupted: bool = False) -> tuple[int, float | None]:
        with self._final(not interrupted):
            found = self.learner.rule.strength if self.settings.nonzeros else None
            return self.learner.rule.count_nonzero(), found

    def model(self, *, interrupted: bool = False) -> "Model":
        """The model as of now."""
        with self._final(not interrupted):
            found = self._snapshot(interrupted)
        return self._of_table(found, interrupted) if found.columns else found

    def _of_table(self, model: "Model", interrupted: bool) -> "Model":
        """The model of a table with what it has besides: the weights of absent cells."""
        from vwlite.model.absent import with_absent  # not at the top: only tables need it, and NumPy

        rows = self.source.sample.learned(self.options.held_out, self.lines_learned)
        return with_absent(model, rows, self.source.keys, self.job.absent)

    def _snapshot(self, interrupted: bool) -> "Model":
        return snapshot(
            self.learner,
            self.settings,
            self.job.before,
            interrupted=interrupted,
            weights_only=self.options.save_weights_only,
            columns=self.source.columns,
            names=self.names,
            provenance=self.job.provenance,
            passes=self.losses,
            typed=[*words_of_run(self.options, self.chooses_passes or len(self.losses) < 2)],
            calibration=self._smearing() if self.settings.outputs.smears else None,
        )

    @property
    def is_progressive(self) -> bool:
        """Whether the measures are of predictions that the learner made before it learned each row."""
        return self.held_tally is None

    def _smearing(self) -> dict[str, Any]:
        """What makes means of predictions of logarithms, by rows that were not learned: with those of the model that is
        continued, if there is one; {} if they are too few."""
        before, tally = self.job.calibration or {}, self.held_tally or self.counted or self.learner.progressive
        begins = self.is_progressive and self.job.before.get("examples", 0) < FEWEST
        found = None if begins and self.learner.examples < FEWEST else tally.offset(begins)
        if found is None:
            return before
        offset, weight = found
        if before:
            whole = weight + before["weight"]
            s = (weight * exp(offset) + before["weight"] * exp(before["offset"])) / whole
            offset, weight = log(s), whole
        return {"method": SMEARING, "offset": offset, "weight": weight}

    @property
    def has_learned(self) -> bool:
        """Whether it has learned any example."""
        return bool(self.learner.progressive.weight > 0)

    def nothing_learned(self) -> str:
        """Why no example was learned."""
        learner, bad, passes = self.learner, self.listener.bad_lines, max(self.pass_number, 1)
        counts = {
            "bad": bad,
            "without a label": learner.unlabelled // passes,
            "of importance 0": (learner.examples - learner.unlabelled) // passes,
        }
        found = [f"{n} {what}" for what, n in counts.items() if n]
        if learner.holdout.weight:
            found.append("every one with a label is held out")
        why = f"of {learner.lines + bad} lines, {', '.join(found)}" if found else "the input has no examples"
        return f"no example was learned: {why}"

    # --- what is said of it ------------------------------------------------------------------

    @property
    def held_tally(self) -> Tally | None:
        """The tally of the held-out examples, if there are any: its measures are shown instead of those of training."""
        return self.held or (self.learner.holdout if self.learner.holdout.weight else None)

    @property
    def where(self) -> str:
        """Which predictions the measures are of, as of `Result`."""
        return "holdout" if self.held_tally is not None else ""

    def measures(self, tally: Tally) -> dict[str, Result]:
        return measures_of(self.settings, self.learner, tally)

    def results(self) -> list[Result]:
        """What the summary and the report say."""
        tally, learner, held = self.learner.progressive, self.learner, self.held_tally
        found = [Result("number_of_examples", learner.examples)]
        if self.options.passes > 1:
            found.append(Result("passes_used", len(self.losses) or self.pass_number))
            if self.best_is_kept:
                found.append(Result("best_pass", self.best_pass))
        found.append(Result("weighted_example_sum", tally.weight + learner.unlabelled_weight))
        if learner.unlabelled:
            found.append(Result("unlabelled_examples", learner.unlabelled))
        if self.listener.bad_lines:
            found.append(Result("bad_lines_skipped", self.listener.bad_lines))
        measures = self.measures(held or tally).values()
        found += [m._replace(where=self.where) for m in measures if m.value is not None or not held]
        found += [Result("total_feature_number", learner.features), Result("nonzero_weights", self.nonzeros)]
        if self.strength is not None:
            found.append(Result(f"{ALGORITHMS[self.settings.algorithm].strength}_found", self.strength))
        found.append(Result("features_in_the_table", len(learner.rule)))
        return [*found, Result("seconds", round(time.monotonic() - self.started_at, 3))]

    def more_for_report(self) -> dict[str, Any]:
        """What the report has beside the options and results."""
        return {}

    def verdict(self) -> list[str]:
        """The first sentences of the summary: how good the model is, and how it came about."""
        measures = self.measures(self.held_tally or self.learner.progressive)
        measured = result(self.settings, measures, self.judged_on())
        return [measured, *self.about_model()] if measured else []

    def about_model(self) -> Iterator[str]:
        """How the model was learned."""
        yield ", ".join(self.how())

    def judged_on(self) -> str:
        """Which examples the measures are of."""
        if self.held_tally is not None:
            return "on rows held out"
        return "on rows before they were learned" if self.pass_number < 2 else "on rows that earlier passes learned"

    def how(self) -> list[str]:
        """How the model was learned, in the words of options."""
        used, best = len(self.losses) or self.pass_number, self.best_pass if self.best_is_kept else None
        return [normalization(self.settings.normalize), count_of_passes(used, best), update(self.settings)]

    def notes(self, namespaces: Namespaces) -> Notes:
        """Hints from the data about the options. namespaces: that were found in them."""
        return together(
            about_options(self.settings, namespaces, self.learner.expander.unseen),
            about_labels(self.settings, self.learner, loss_typed="loss" in self.options.typed),
            self.notes_of_model(),
        )

    def notes_of_model(self) -> Notes:
        """Those that are also of interest if the model was continued: the others were printed in its first run."""
        return about_names(self.names) if self.names is not None else ({}, [])

    def weights_now(self) -> tuple[int, bool]:
        """The number of nonzero weights for a row of progress, and whether it is that of an earlier row."""
        raise NotImplementedError


class PassTrainer(Trainer):
    """One learner, which learns the examples in one pass or several; with several, lines that are held out decide
    which of them is the model."""

    _counted_at = -(1 << 62)  # features learned when the nonzero weights were counted last

    def run(self) -> None:
        self.source.open()
        self._learn()

    def _learn(self) -> None:
        o, without_gain = self.options, 0
        counts: tuple[int, float | None] = (0, None)  # of the best pass
        self.listener.on_begin(self)
        for self.pass_number in range(1, o.passes + 1):
            if self.pass_number > 1:  # not after the last one: a continued model starts from its rate
                self.learner.rule.pass_decay *= self.settings.decay_learning_rate
            self.learner.begin_pass()
            self._one_pass()
            if self.stopped:
                return
            held = self.learner.holdout
            losses = {"average": self.learner.progressive.average, "holdout": held.average}
            self.losses.append({name: finite(loss) for name, loss in losses.items()})
            if held.average is None:
                continue
            if self.held is None or self.held.average is None or held.average < self.held.average:
                self.held, self.best_pass, without_gain = held, self.pass_number, 0
                if o.passes > self.pass_number:
                    counts = self._counted()
                    self.listener.on_best_pass(self)
            else:
                without_gain += 1
                if without_gain == (o.early_terminate or EARLY_TERMINATE) and self.pass_number < o.passes:
                    self.best_is_kept = True
                    self.nonzeros, self.strength = counts
                    return

    def _one_pass(self) -> None:
        with self.source.batches(lambda: self.stopped) as batches:
            for parsed in batches:
                if self.names is not None:
                    self.names.take(parsed.names)
                before = self.learner.lines
                self.feed(parsed.batch)
                self.listener.on_batch(self, parsed, before)
                if self.stopped:
                    break
            self.listener.on_end_of_data()

    def notes(self, namespaces: Namespaces) -> Notes:
        return self.notes_of_model() if self.options.initial else super().notes(namespaces)

    def notes_of_model(self) -> Notes:
        tally, is_new = self.held_tally or self.learner.progressive, not self.options.initial
        loss = about_loss(self.settings, self.learner, tally, is_new=is_new)
        return together(loss, super().notes_of_model())

    def weights_now(self) -> tuple[int, bool]:
        """As counting again would take longer than what was learned since, rows of large tables have an older one."""
        rule, features = self.learner.rule, self.learner.features
        if rule.table_bytes > SMALL_TABLE and features - self._counted_at < rule.table_bytes // 64:
            return self.nonzeros, True
        self.nonzeros, self._counted_at = rule.count_nonzero(), features
        return self.nonzeros, False
