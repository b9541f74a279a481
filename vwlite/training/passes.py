"""A training run: passes over the stream, holdout, progress, checkpoints, the model at the end."""

import math
import os
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from vwlite.algorithms.settings import Resolved
from vwlite.algorithms.table import ALGORITHMS, algorithm_of
from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Learner, Reason
from vwlite.core.learn.tally import Tally
from vwlite.errors import DataError
from vwlite.model.feature_names import NONE
from vwlite.model.learners import new_learner, resume
from vwlite.model.snapshot import FROM_NOTHING, Provenance, snapshot
from vwlite.options.spec import specs_of
from vwlite.output.atomic import AtomicFile, Draft
from vwlite.output.progress import HEADER, Interval, LiveLine, ProgressRow, format_row
from vwlite.runs.frame import RunFrame
from vwlite.runs.notes import Notes, about_labels, about_loss, about_names, about_options, namespaces_of, together
from vwlite.runs.options import EARLY_TERMINATE, InputOptions, TrainOptions
from vwlite.runs.resolve import resolve
from vwlite.runs.run import Run, say, summary
from vwlite.runs.source import DataNames, Source, name_store
from vwlite.training.verdict import count_of_passes, normalization, result, update
from vwlite.training.words_of_run import words_of_run

if TYPE_CHECKING:
    from vwlite.core.text.feature_names import NameStore
    from vwlite.model import Model
    from vwlite.runs.unseen import Unseen
    from vwlite.training.continued import Continuing
    from vwlite.training.held_out import HoldoutWriter

SMALL_TABLE = 1 << 22  # bytes of a weight table whose nonzero weights are counted for every row


class Job(NamedTuple):
    """What a training run begins with, resolved from its options and the model that is continued, if there is one."""

    learner: Learner
    resolved: Resolved
    before: dict[str, int]  # the counters of that model
    provenance: Provenance
    known: DataNames
    continuing: "Continuing | None" = None  # of --continue
    unseen: "Unseen | None" = None  # what the model does not know of the data


def prepared(o: TrainOptions, model: "Model | None", *, in_place: bool, names: "NameStore | None" = None) -> Job:
    """in_place: as of `Provenance.of`. names: where those of features go, if that is there already."""
    base = model.settings if model else None
    resolved = resolve(o.typed, base, o.initial, given=o.given, passes=o.passes)
    options: dict[str, Any] = {
        "holdout_period": o.held_out,
        "predictions": o.predictions is not None,
        "raw_predictions": o.raw_predictions is not None,
    }
    if names is None:
        names = name_store(o.names, model.names if model else NONE)
    if model is None or o.initial is None:
        learner = new_learner(resolved.settings, o.typed.get("feature_weights"), **options)
        return Job(learner, resolved, {}, FROM_NOTHING, DataNames(learner.class_names, features=names))
    learner = resume(model, resolved, o.initial, **options)
    known = DataNames(learner.class_names, columns=model.columns, features=names)
    return Job(learner, resolved, model.counters, Provenance.of(model, in_place=in_place), known)


def _holdout_writer(o: TrainOptions, stack: ExitStack) -> "HoldoutWriter | None":
    """The writer of held-out lines, if requested."""
    if o.holdout_to is None:
        return None
    from vwlite.training.held_out import HoldoutWriter

    return HoldoutWriter(o.holdout_to, o.held_out, stack)


class Training(Run):
    """The state of one training run."""

    options: TrainOptions
    chooses_loss = False  # by the labels
    chooses_passes = False
    continues = True  # the model has the state of its algorithm

    def __init__(self, o: TrainOptions, job: Job, stack: ExitStack, source: Source | None = None) -> None:
        learner, settings = job.learner, job.resolved.settings
        super().__init__(o, learner, settings, stack)
        self.job, self.feature_names = job, job.known.features
        self.source = source or Source(o, settings, job.known, self.bad, o.of_source)
        self.source.share_numbers = learner.expander.unchanged
        if o.class_weight is not None:
            from vwlite.training.class_weight import ClassWeights

            self.source.weights = ClassWeights(o.class_weight, settings, job.known.classes)
        self.file: AtomicFile | None = None
        if o.model:
            from vwlite.model import write_model  # before the run: the program's files may be others at its end

            self._put = write_model
            self.file = job.continuing.file if job.continuing else stack.enter_context(AtomicFile(o.model))
        self.continuing, self.checks = job.continuing, None
        if o.fail_if or o.min_examples:
            from vwlite.training.continued import Checks

            self.checks = Checks(o, settings, self.chooses_loss)
        if self.continuing is not None:
            self.source.tap = self.continuing.take
        self.unseen = job.unseen if self.source.path is None else None
        if self.unseen is not None and self.unseen.is_asked:
            self.source.spaces = True
            self.source.keeps_text |= not self.unseen.has_columns
        self.is_whole = bool(self.continuing or self.checks)  # write the model only if all of the input was learned
        self.wrote = False  # the model, at the end
        self.holdout_writer = _holdout_writer(o, stack)
        self.namespaces = namespaces_of(settings)
        self.titled = False  # the head of the progress table is printed, after the messages about columns
        self.interval = Interval(*o.progress)
        self.live = LiveLine(quiet=o.quiet or o.log_format != "text")
        self.pass_number = 0
        self.held: Tally | None = None  # of the pass with the best holdout loss
        self.nonzeros = 0
        self._counted_at = -(1 << 62)  # features learned when the nonzero weights were counted last
        self.losses: list[dict[str, float | None]] = []  # of each pass
        self.best_pass = 0
        self.best_is_kept = False  # the model of the best pass is the result
        self._best_model: Draft | None = None
        self._best_nonzeros = 0
        self.strength: float | None = None  # found by --nonzeros
        self._best_strength: float | None = None
        self._checkpoint_time = math.inf
        examples, seconds = o.checkpoint_every or (None, None)
        self._every = examples
        self._seconds = seconds
        if examples:
            learner.checkpoint_at = examples
        if seconds:
            self._checkpoint_time = time.monotonic() + seconds
        if not o.quiet:
            learner.report_at = self.interval.at
            self._print_head()

    # --- the passes --------------------------------------------------------------------------

    def passes(self, stack: ExitStack) -> None:
        """All passes, or as many as it takes."""
        self.source.open()
        self.learn(stack)

    def learn(self, stack: ExitStack) -> None:
        """The passes over what is open."""
        o = self.options
        without_gain = 0
        for self.pass_number in range(1, o.passes + 1):
            if self.pass_number > 1:  # not after the last one: a continued model starts from its rate
                self.learner.rule.pass_decay *= self.settings.decay_learning_rate
            self.learner.begin_pass()
            self._one_pass()
            if self.stopped:
                return
            held = self.learner.holdout
            self.losses.append({"average": self.learner.progressive.average, "holdout": held.average})
            if held.average is None:
                continue
            if self.held is None or self.held.average is None or held.average < self.held.average:
                self.held, self.best_pass, without_gain = held, self.pass_number, 0
                if o.passes > self.pass_number:
                    self._keep_model(stack)
            else:
                without_gain += 1
                if without_gain == (o.early_terminate or EARLY_TERMINATE) and self.pass_number < o.passes:
                    self.best_is_kept = True
                    return

    def _one_pass(self) -> None:
        """One pass over the cache or the text."""
        with self.source.batches(lambda: self.stopped) as batches:
            for parsed in batches:
                if self.feature_names is not None:
                    self.feature_names.take(parsed.names)
                before = self.learner.lines
                self.feed(parsed.batch)
                if self.holdout_writer is not None and parsed.source is not None:
                    self.holdout_writer.take(parsed.batch, parsed.source, before, self.learner.lines)
                if parsed.bad:
                    self.live.clear()
                self.bad.take(parsed.bad)
                if self.unseen is not None and self.pass_number == 1:
                    self.unseen.look(parsed)
                self._after_batch(parsed.done, parsed.total)
                if self.stopped:
                    break
            self.live.clear()

    # --- on the way --------------------------------------------------------------------------

    def feed(self, batch: Batch) -> None:
        self.namespaces.look(batch)
        if self.continuing is not None:
            self.learner.progressive.logistic = self.settings.loss == "logistic"
        super().feed(batch)

    def paused(self, reason: Reason) -> None:
        if reason == Reason.CHECKPOINT and self._every:
            self._checkpoint()
            self.learner.checkpoint_at = self.learner.examples + self._every
        elif reason == Reason.REPORT:
            self._print_row()

    def _after_batch(self, done: int, total: int | None) -> None:
        if time.monotonic() >= self._checkpoint_time and self._seconds:
            self._checkpoint()
            self._checkpoint_time = time.monotonic() + self._seconds
        self.live.update(self.learner.examples, done, total, self.pass_number, self.options.passes)

    def _may_write(self) -> bool:
        """Whether the file of a model may be replaced: empty input must not destroy an older model."""
        if self.stopped and self.is_whole:
            return False
        return self.learner.progressive.weight > 0 or self.options.allow_empty

    def _nothing_learned(self) -> str:
        """Why no example was learned, and what becomes of the model."""
        learner, bad, passes = self.learner, self.bad.count, max(self.pass_number, 1)
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

    def _checkpoint(self) -> None:
        if self.file is not None and self._may_write():
            self._write_model(interrupted=True)
            self.file.commit()
            self.file.new_version()

    def _write_model(self, interrupted: bool) -> None:
        """Write the model as of now; the file is replaced only by `commit`."""
        rule = self.learner.rule
        rule.final = not interrupted
        self.nonzeros, self.strength = rule.count_nonzero(), self._found()
        if self.file is not None:
            self.file.new_version()
            self._put(self.file, self._snapshot(interrupted))
        rule.final = False

    def _keep_model(self, stack: ExitStack) -> None:
        """Keep the current model: no later pass may be better. Checkpoints of later passes do not change it."""
        rule = self.learner.rule
        rule.final = True
        self._best_nonzeros, self._best_strength = rule.count_nonzero(), self._found()
        if self.file is not None:
            if self._best_model is None:
                self._best_model = stack.enter_context(self.file.draft())
            self._best_model.new_version()
            self._put(self._best_model, self._snapshot(interrupted=False))
        rule.final = False

    def _found(self) -> float | None:
        """The strength that --nonzeros has found so far."""
        return self.learner.rule.strength if self.settings.nonzeros else None

    def _snapshot(self, interrupted: bool) -> "Model":
        return snapshot(
            self.learner,
            self.settings,
            self.job.before,
            interrupted=interrupted,
            weights_only=self.options.save_weights_only,
            columns=self.source.columns,
            names=self.feature_names,
            provenance=self.job.provenance,
            passes=self.losses,
            continued=self.continuing.stored(self.learner, len(self.losses) or 1) if self.continuing else None,
            typed=words_of_run(self.options, self.chooses_passes or len(self.losses) < 2),
        )

    # --- the end -----------------------------------------------------------------------------

    def finish(self, frame: RunFrame) -> None:
        """Save the model, print the summary, write the report. DataError if nothing was learned that a model needs."""
        self.live.clear()
        learned = self.learner.progressive.weight > 0
        if not learned and frame.signal is None:
            if self.file is not None and not self._may_write() and self.options.min_examples is None:
                unwritten = f"{self._unwritten()} (--allow-empty writes it anyway)"
                raise DataError(f"{self._nothing_learned()}; {unwritten}")
            say(f"warning: {self._nothing_learned()}")
        if self.continuing is not None:
            self.continuing.check()
        unseen: Notes = ({}, [])
        if self.unseen is not None:
            unseen = self.unseen.notes(self.options.on_unknown)
        if not self.best_is_kept:
            self._write_model(interrupted=frame.signal is not None)
        else:
            self.nonzeros, self.strength = self._best_nonzeros, self._best_strength
            if self.file is not None and self._best_model is not None:
                self._best_model.copy_to(self.file)
        failed = None
        if self.checks is not None and frame.signal is None:
            labelled = (self.learner.examples - self.learner.unlabelled) // (len(self.losses) or 1)
            measures = self.measures(self._held_tally or self.learner.progressive)
            failed = self.checks.failed(self.settings, measures, labelled, self._unwritten() if self.file else "")
        if self.file is not None and self._may_write() and failed is None:
            self.file.commit()
            self.wrote = True
        if self.holdout_writer is not None and failed is None:
            self.holdout_writer.commit()
        results = self.results()
        numbers, notes = together(self.notes(), unseen)
        if self.options.class_weight is not None:
            from vwlite.training.class_weight import about_weights

            notes.append(about_weights(self.settings))
        if self.continuing is not None:
            notes += self.continuing.notes()
        text = "\n".join([*self.verdict(), summary(results)])
        if self.settings.nonzeros and self.learner.rule.slack:
            text += f"\n--nonzeros {self.settings.nonzeros} allows more weights than the data needs: none was shrunk"
        frame.show(text, notes, ended=True, results=results)
        if failed is None:
            self.commit()
        names = [spec.name for kind in (InputOptions, TrainOptions) for spec in specs_of(kind) if spec.reported]
        own = {"holdout_period": self.options.held_out or None, "cache": self.source.path}
        frame.report(
            options=frame.reported_options(self.job.resolved.settings, "data", *names, **own),
            changed={k: {"model": a, "now": b} for k, (a, b) in self.job.resolved.changed.items()},
            signal=frame.signal,
            passes=self.losses,
            results={**results, **numbers},
            notes=notes,
            **self.more_for_report(),
            **({"exit_code": failed.exit_code, "error": str(failed)} if failed else {}),
        )
        if failed is not None:
            raise failed

    def more_for_report(self) -> dict[str, Any]:
        """What the report has beside the options and results."""
        return {}

    def has_output(self) -> bool:
        return bool(self.options.model or self.source.path) or super().has_output()

    def kept(self) -> str:
        """What became of the model of an interrupted run, as the end of a sentence."""
        cut = self.learner.cut
        part = f"; of the last example, only a part of its {cut:,} features is learned" if cut else ""
        if self.file is None:
            return part + "; no --model was given"
        if not self.wrote:
            why = "the input is learned whole or not at all" if self.is_whole else "no example was learned"
            return f"; {why}, {self._unwritten()}"
        return part + f"; the model so far was saved to {self.file.name}{', -i continues it' * self.continues}"

    def _unwritten(self) -> str:
        """What becomes of the model's file when it is not written."""
        assert self.file is not None
        return f"{self.file.name} is {'unchanged' if os.path.exists(self.file.name) else 'not written'}"

    def results(self) -> dict[str, Any]:
        """What the summary and the report say, by name."""
        tally, learner = self.learner.progressive, self.learner
        held = self._held_tally
        lines: dict[str, Any] = {"number of examples": learner.examples}
        if self.options.passes > 1:
            lines["passes used"] = len(self.losses) or self.pass_number
            if self.best_is_kept:
                lines["best pass, kept"] = self.best_pass
        lines["weighted example sum"] = tally.weight + learner.unlabelled_weight
        if learner.unlabelled:
            lines["unlabelled examples"] = learner.unlabelled
        if self.bad.count:
            lines["bad lines skipped"] = self.bad.count
        measures = self.measures(held or tally)
        lines.update({f"holdout {k}" if held else k: v for k, v in measures.items() if v is not None or not held})
        lines["total feature number"] = learner.features
        lines["nonzero weights"] = self.nonzeros
        if self.strength is not None:
            lines[f"{ALGORITHMS[self.settings.algorithm].strength} found"] = self.strength
        lines["features in the table"] = len(learner.rule)
        lines["seconds"] = round(self.seconds(), 3)
        return lines

    def verdict(self) -> list[str]:
        """The first sentences of the summary: how good the model is, and how it came about."""
        measures = self.measures(self._held_tally or self.learner.progressive)
        measured = result(self.settings, measures, self._judged_on())
        return [measured, ", ".join(self._how())] if measured else []

    def _judged_on(self) -> str:
        """Which examples the measures are of."""
        if self._held_tally is not None:
            return "on rows held out"
        return "on rows before they were learned" if self.pass_number < 2 else "on rows that earlier passes learned"

    def _how(self) -> list[str]:
        """How the model was learned, in the words of options."""
        used, best = len(self.losses) or self.pass_number, self.best_pass if self.best_is_kept else None
        return [normalization(self.settings.normalize), count_of_passes(used, best), update(self.settings)]

    @property
    def _held_tally(self) -> Tally | None:
        """The tally of the held-out examples, if there are any: its measures are shown instead of those of training."""
        return self.held or (self.learner.holdout if self.learner.holdout.weight else None)

    def notes(self) -> Notes:
        """Hints from the data about the options. For a continued model they were printed in its first run."""
        named = about_names(self.feature_names) if self.feature_names is not None else ({}, [])
        tally, is_new = self._held_tally or self.learner.progressive, not self.options.initial
        loss = about_loss(self.settings, self.learner, tally, is_new=is_new)
        if self.options.initial:
            return together(loss, named)
        typed = "loss" in self.options.typed
        return together(
            about_options(self.settings, self.namespaces, self.learner.expander.unseen),
            about_labels(self.settings, self.learner, loss_typed=typed),
            loss,
            named,
        )

    # --- what is printed ---------------------------------------------------------------------

    def _print_head(self) -> None:
        s = self.settings
        rate = algorithm_of(s.algorithm).rate
        step = f"{rate.replace('_', ' ')} = {getattr(s, rate):g}, " if rate else ""
        loss = "softmax" if s.softmax else s.loss
        classes = f"{s.oaa} classes, " if s.oaa else ""
        link = f", link = {s.link}" if s.link != "identity" else ""
        why = f" ({self.job.resolved.why})" if self.job.resolved.why else ""
        loss = "" if self.chooses_loss else f"loss = {loss}, "
        say(f"algorithm = {s.algorithm}{why}, {loss}{classes}{step}bits = {s.bits}{link}")
        for name, (old, new) in self.job.resolved.changed.items():
            say(f"{name.replace('_', ' ')} = {new}, changed from {old}")
        if self.options.initial:
            say(f"continuing {self.options.initial} after {self.job.before.get('examples', 0)} examples")
        if self.options.model:
            say(f"model = {self.options.model}")
        else:
            say("no model is written: -m FILE writes it")
        if not self.source.may_be_table:
            self._print_title()

    def _print_title(self) -> None:
        if not self.titled:
            say(HEADER.rstrip("\n"), "")
            self.titled = True

    def _print_row(self) -> None:
        learner, tally = self.learner, self.learner.progressive
        held = self.pass_number > 1 and bool(self.options.held_out)
        shown = learner.holdout if held else tally
        self.live.clear()
        self._print_title()
        nonzeros, is_old = self._nonzeros_for_row()
        row = ProgressRow(
            average=shown.average,
            recent=shown.take_recent(),
            examples=learner.examples,
            weight=tally.weight + learner.unlabelled_weight,
            label=None if math.isnan(learner.label) else self.shown_label(learner.label),
            prediction=self.shown(learner.prediction),
            features=learner.size,
            nonzeros=nonzeros,
            nonzeros_of_earlier=is_old,
            holdout=held,
        )
        say(format_row(row), "progress", **vars(row))
        learner.report_at = self.interval.advance(tally.weight + learner.unlabelled_weight)

    def _nonzeros_for_row(self) -> tuple[int, bool]:
        """The number of nonzero weights, and whether it is that of an earlier row, as counting again would take longer
        than what was learned since."""
        rule, features = self.learner.rule, self.learner.features
        if rule.table_bytes > SMALL_TABLE and features - self._counted_at < rule.table_bytes // 64:
            return self.nonzeros, True
        self.nonzeros, self._counted_at = rule.count_nonzero(), features
        return self.nonzeros, False
