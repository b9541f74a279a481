"""A run of `vwlite train`: what is read, printed and written around training."""

import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vwlite.algorithms.table import AUTO
from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Learner, Reason
from vwlite.errors import DataError
from vwlite.input.parsing import Parsed
from vwlite.options.spec import specs_of
from vwlite.output.atomic import AtomicFile, Draft
from vwlite.output.results import summary, values
from vwlite.output.stdio import say
from vwlite.runs.frame import RunFrame
from vwlite.runs.notes import Notes, namespaces_of, together
from vwlite.runs.options import InputOptions, TrainOptions
from vwlite.runs.run import BadLines, PredictionFiles
from vwlite.runs.source import Source
from vwlite.training.progress import Progress
from vwlite.training.trainer import Job, Trainer
from vwlite.training.trainers import source_of_kind

if TYPE_CHECKING:
    from vwlite.model import Model
    from vwlite.runs.unseen import Unseen
    from vwlite.training.continued import Continuing
    from vwlite.training.held_out import HoldoutWriter
    from vwlite.training.max_size import TooLarge
    from vwlite.training.nights.keeping import RowKeeping


class TrainRun(Progress):
    """Reads the data, prints, and writes the files of one run. continuing: of --continue. unseen: what the model that
    is continued does not know of the data. keeping: what it does about rows. notes: of what was decided before."""

    notes: Sequence[str] = ()

    def __init__(
        self, job: Job, stack: ExitStack, continuing: "Continuing | None", unseen: "Unseen | None",
        keeping: "RowKeeping | None" = None,
    ) -> None:
        o, bad = job.options, BadLines(stack, **job.options.of_bad_lines)
        super().__init__(o, bad)
        self.continuing, self.keeping = continuing, keeping
        self._drafts = stack.enter_context(ExitStack())
        others = bool(o.model or o.cache_path or o.report or o.rejects)
        self.files = PredictionFiles(o.of_predictions, stack, others=others)
        self.source = source_of_kind(self._kind_of_source(job), job, bad)
        self.file: AtomicFile | None = None
        if o.model:
            from vwlite.model import write_model  # before the run: the program's files may be others at its end

            self._put = write_model
            self.file = continuing.file if continuing else stack.enter_context(AtomicFile(o.model))
        if continuing is not None:
            self.source.tap = continuing.take
        self.unseen = unseen if self.source.path is None else None
        if self.unseen is not None and self.unseen.is_asked:
            self.source.spaces, self.source.names_spaces = True, not self.unseen.has_columns
        self.wrote = False  # the model, at the end
        self._digest = ""  # of the model that was written last
        self.too_large: TooLarge | None = None  # the model, for --max-size
        self.left_out = ""  # what of it is, for --max-size
        self.holdout_writer: HoldoutWriter | None = None
        if o.holdout_to is not None:
            from vwlite.training.held_out import HoldoutWriter as Writer

            self.holdout_writer = Writer(o.holdout_to, o.held_out, stack)
        self.namespaces = namespaces_of(job.resolved.settings)
        self._draft: Draft | None = None  # the model of the best pass
        self._every, self._seconds = o.checkpoint_every or (None, None)
        self._checkpoint_time = time.monotonic() + self._seconds if self._seconds else math.inf

    def _kind_of_source(self, job: Job) -> type[Source]:
        if self.keeping is None or job.resolved.settings.algorithm != AUTO.name:
            return Source
        from vwlite.training.nights.source import RowSource

        return RowSource

    def begin(self, trainer: Trainer) -> None:
        self.checks = None
        o = self.options
        if o.fail_if or o.min_examples:
            from vwlite.training.continued import Checks

            self.checks = Checks(
                o.fail_if, o.min_examples, trainer.settings, trainer.chooses_loss, self.continuing)
        is_night = self.keeping is not None and self.keeping.is_night
        self.is_whole = bool(self.continuing or self.checks or is_night)  # no model is written of a part of the input
        super().begin(trainer)

    # --- on the way --------------------------------------------------------------------------

    def on_read(self, parsed: Parsed, lines: int) -> None:
        self.namespaces.look(parsed.batch)
        super().on_read(parsed, lines)

    def on_begin(self, trainer: Trainer) -> None:
        super().on_begin(trainer)
        if self._every and trainer.shows_rows:
            trainer.learner.checkpoint_at = self._every

    def on_feed(self, trainer: Trainer, batch: Batch) -> None:
        self.namespaces.look(batch)
        if self.continuing is not None:
            trainer.learner.progressive.logistic = trainer.settings.loss == "logistic"

    def on_pause(self, trainer: Trainer, reason: Reason) -> None:
        super().on_pause(trainer, reason)
        if reason == Reason.CHECKPOINT and self._every:
            trainer.lines_learned = trainer.learner.lines if trainer.pass_number == 1 else None
            self.on_checkpoint(trainer)
            trainer.lines_learned = None
            trainer.learner.checkpoint_at = trainer.learner.examples + self._every

    def on_written(self, learner: Learner) -> None:
        self.files.write(learner)

    def on_batch(self, trainer: Trainer, parsed: Parsed, before: int) -> None:
        if self.holdout_writer is not None and parsed.source is not None:
            self.holdout_writer.take(parsed.batch, parsed.source, before, trainer.learner.lines)
        super().on_batch(trainer, parsed, before)
        if self.unseen is not None and trainer.pass_number == 1:
            self.unseen.look(parsed)
        if time.monotonic() >= self._checkpoint_time:
            self.on_checkpoint(trainer)

    def on_best_pass(self, trainer: Trainer) -> None:
        """Keep the model in a draft, which checkpoints of later passes do not change."""
        if self.file is not None:
            if self._draft is None:
                self._draft = self._drafts.enter_context(self.file.draft())
            self._write(self._draft, trainer, trainer.model())

    # --- checkpoints -------------------------------------------------------------------------

    def next_checkpoint(self, examples: int) -> int | None:
        return self._every - examples % self._every if self._every is not None else None

    def is_checkpoint_due(self, examples: int) -> bool:
        by_examples = self._every is not None and examples >= self._every
        return by_examples or time.monotonic() >= self._checkpoint_time

    def on_checkpoint(self, trainer: Trainer) -> None:
        if self.file is not None and self._may_write(trainer):
            self._write(self.file, trainer, trainer.model(interrupted=True))
            self.file.commit()
            self.file.new_version()
        if self._seconds:
            self._checkpoint_time = time.monotonic() + self._seconds

    def _may_write(self, trainer: Trainer) -> bool:
        """Whether the file of a model may be replaced: empty input must not destroy an older model."""
        if trainer.stopped and self.is_whole:
            return False
        return trainer.has_learned or self.options.allow_empty

    def _write(self, file: AtomicFile | Draft, trainer: Trainer, model: "Model") -> None:
        """Write a model; the file is replaced only by `commit`."""
        continued = dict[str, Any]()
        if self.keeping is not None and (self.keeping.nights or self.keeping.bound):
            continued |= self.keeping.stored()
        if self.continuing is not None:
            continued |= self.continuing.stored(trainer.learner, len(trainer.losses) or 1)
        model = replace(model, continued=continued)
        if self.options.max_size is not None:
            from vwlite.training.max_size import TooLarge, fitted

            found, self.left_out = fitted(model, self.options.max_size)
            self.too_large = found if isinstance(found, TooLarge) else None
            if isinstance(found, TooLarge):
                return
            model = found
        file.new_version()
        self._digest = self._put(file, model)

    # --- the end -----------------------------------------------------------------------------

    def finish(self, frame: RunFrame, trainer: Trainer) -> "TooLarge | None":
        """Save the model, print the summary, write the report. DataError if nothing was learned that a model needs.

        A model that is too large for --max-size is returned, and nothing is written.
        """
        learner, o = trainer.learner, self.options
        self.live.clear()
        if not trainer.has_learned and frame.signal is None:
            if self.file is not None and not self._may_write(trainer) and o.min_examples is None:
                unwritten = f"{self._unwritten()} (--allow-empty writes it anyway)"
                raise DataError(f"{trainer.nothing_learned()}; {unwritten}")
            say(f"warning: {trainer.nothing_learned()}")
        if self.continuing is not None:
            self.continuing.check()
        if self.keeping is not None and frame.signal is None:
            self.keeping.record(trainer)
        unseen: Notes = self.unseen.notes(o.on_unknown) if self.unseen is not None else ({}, [])
        self._write_result(trainer, interrupted=frame.signal is not None)
        if self.too_large is not None and frame.signal is None:
            return self.too_large
        failed = None
        if self.checks is not None and frame.signal is None:
            labelled = (learner.examples - learner.unlabelled) // (len(trainer.losses) or 1)
            measures = trainer.measures(trainer.held_tally or learner.progressive)
            failed = self.checks.failed(trainer.settings, measures, labelled, self._unwritten() if self.file else "")
        if failed is None:
            model = [self.file.commit] if self.file is not None and self._may_write(trainer) else []
            held = [self.holdout_writer.commit] if self.holdout_writer is not None else []
            rows = [self._written_rows(trainer, frame)] if model and self.keeping is not None else []
            if not frame.commit(*model, *rows, *held, self.files.commit):
                model = model if self._may_write(trainer) else []
                for commit in model:
                    commit()  # it says that it is a part
            self.wrote = bool(model)
        results = trainer.results()
        numbers, notes = together(({}, [*self.notes]), trainer.notes(self.namespaces), unseen)
        if o.class_weight is not None:
            from vwlite.training.class_weight import about_weights

            notes.append(about_weights(trainer.settings))
        if self.continuing is not None:
            notes += self.continuing.notes()
        if self.keeping is not None and self.wrote and failed is None:
            notes += self.keeping.notes()
        if self.left_out:
            notes.append(f"for --max-size, the model is without {self.left_out}")
        text = "\n".join([*trainer.verdict(), summary(results)])
        if trainer.settings.nonzeros and learner.rule.slack:
            text += (f"\n--nonzeros {trainer.settings.nonzeros} allows more weights than the data needs: none was "
                     "shrunk")
        frame.show(text, notes, ended=True, results=results)
        names = [spec.name for kind in (InputOptions, TrainOptions) for spec in specs_of(kind) if spec.reported]
        own = {"holdout_period": o.held_out or None, "cache": self.source.path}
        frame.report(
            options=frame.reported_options(trainer.resolved.settings, "data", *names, **own),
            changed={k: {"model": a, "now": b} for k, (a, b) in trainer.resolved.changed.items()},
            signal=frame.signal,
            passes=trainer.losses,
            results={**values(results), **numbers},
            notes=notes,
            **trainer.more_for_report(),
            **({"exit_code": failed.exit_code, "error": str(failed)} if failed else {}),
        )
        if failed is not None:
            raise failed
        return None

    def _written_rows(self, trainer: Trainer, frame: RunFrame) -> Callable[[], None]:
        """Write the rows that are kept; what gives them their name, once the model has its own."""
        keeping = self.keeping
        assert keeping is not None
        if not keeping.bound or self.options.save_weights_only or frame.signal is not None:
            return keeping.remove if frame.signal is None else lambda: None
        return keeping.write(keeping.rows_of(self.source, frame), self._digest, trainer)

    def _write_result(self, trainer: Trainer, interrupted: bool) -> None:
        if not trainer.best_is_kept:
            trainer.count(interrupted=interrupted)
            if self.file is not None:
                self._write(self.file, trainer, trainer.model(interrupted=interrupted))
        elif self.file is not None and self._draft is not None and self.too_large is None:
            self._draft.copy_to(self.file)

    def kept(self, trainer: Trainer) -> str:
        """What became of the model of an interrupted run, as the end of a sentence."""
        cut = trainer.learner.cut
        part = f"; of the last example, only a part of its {cut:,} features is learned" if cut else ""
        o, others = self.options, ""
        if {o.predictions, o.raw_predictions, o.holdout_to, o.rejects} - {None, "-"}:
            others = "; no other file was written"
        if self.file is None:
            return part + "; no --model was given"
        if not self.wrote:
            why = "the input is learned whole or not at all" if self.is_whole else "no example was learned"
            return f"; {why}, {self._unwritten()}"
        saved = f"; the model so far was saved to {self.file.name}{', -i continues it' * trainer.continues}"
        return part + saved + others

    def _unwritten(self) -> str:
        """What becomes of the model's file when it is not written."""
        assert self.file is not None
        return f"{self.file.name} is {'unchanged' if os.path.exists(self.file.name) else 'not written'}"
