"""`vwlite vw`: a run of Vowpal Wabbit's command line, from the arguments to the summary."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from vwlite.core.vw.stepper import Stopped
from vwlite.errors import UsageError, VwliteError
from vwlite.output.signals import StopSignal
from vwlite.output.stdio import plain
from vwlite.vw.arguments import OPTIONS, Arguments, parse, split, usage
from vwlite.vw.build import build
from vwlite.vw.driver_output import Progress, say_lines, say_settings, say_summary
from vwlite.vw.engine import EngineLoop, is_plain
from vwlite.vw.input import data_path, open_source
from vwlite.vw.layers.base import Layer, NamedLayer
from vwlite.vw.layers.scorer import ScorerLayer
from vwlite.vw.layers.stack import check
from vwlite.vw.loop import LearningLoop
from vwlite.vw.messages import VERSION, Critical, Messages, Refused, Streams
from vwlite.vw.models.save import ModelWriter
from vwlite.vw.outputs import check_files
from vwlite.vw.plan import load_model, make_plan, merge_bits_of_mask, merge_options
from vwlite.vw.random import Random
from vwlite.vw.setup import Setup
from vwlite.vw.statistics import Statistics


def main(arguments: Sequence[str]) -> int:
    """Run `vwlite vw`; the exit code."""
    streams = Streams()
    try:
        a = parse(split([*arguments]))
        if a.flag("version"):
            print(VERSION)
            return 0
        if a.flag("help"):
            print(usage())
            return 0
        set_streams(a, streams)
        if any(name in a for name in ("daemon", "port", "pid_file")):
            from vwlite.vw.daemon import serve  # imported here for a faster start

            return serve(a, lambda: VwRun(a, streams))
        with StopSignal() as signals:
            run = VwRun(a, streams)
            signals.then(run.stop)
            run.run()
    except Critical as e:
        if e.example is not None:  # the reader thread has its own messages
            streams.error(f"vw example #{e.example}({e.place}): {e}")
        streams.flush()
        sys.stdout.write(plain(f"[critical] vw ({e.place}): {e}\n"))
        sys.stdout.flush()
        return e.exit_code
    except VwliteError as e:
        streams.flush()
        print(plain(str(e)), file=sys.stderr)
        return e.exit_code if isinstance(e, Refused | UsageError) else 1
    except OSError as e:
        streams.flush()
        print(plain(f"{e.filename or 'vwlite vw'}: {e.strerror}"), file=sys.stderr)
        return 1
    streams.flush()
    if signals.number is None:
        return 0
    path = a.get("final_regressor")
    kept = f"the model so far was saved to {path}" if run.models.saved and path else "no model was written"
    print(plain(f"interrupted by signal {signals.number}; {kept}"), file=sys.stderr)
    return 128 + signals.number


def set_streams(a: Arguments, streams: Streams) -> None:
    """The output streams of this run."""
    if a.get("driver_output") == "stdout":
        streams.driver = sys.stdout
    if a.flag("driver_output_off") or a.flag("quiet"):
        streams.driver = None
    if a.get("log_output") == "stderr":
        streams.log = sys.stderr
    if a.flag("quiet") and "log_level" not in a:
        streams.level = "off"
    if "log_level" in a:
        streams.level = a["log_level"].replace("warn", "warning")
    streams.limit = a.get("limit_output", 0)


def _warn_of_idle(a: Arguments, idle: dict[str, Any], streams: Streams) -> None:
    """Warn of options that have no effect."""
    for option in map(OPTIONS.__getitem__, idle):
        if option.without == "warned of":
            streams.warn(
                f"Option '{option.name}' depends on another option (or combination of options) which was not "
                "supplied. Possible combinations of options which would enable this option are:\n"
                + "".join(f"\t{parent}\n" for parent in option.needs)
            )
    if "cb_to_cbadf" in a:
        streams.warn(
            "The flag --cb_to_cbadf has no effect and should not be supplied. The cb_to_cbadf reduction is "
            "automatically enabled if cb, cb_explore or cbify are used. The cb_to_cbadf reduction can be force "
            "disabled with --cb_force_legacy. This flag will be removed in a future release but not the "
            "functionality."
        )


class VwRun:
    """One run: the passes, what follows each of them, and the end.

    data: as the header calls them. counts: of a pass. repeats: the next pass will have the same.
    """

    def __init__(self, a: Arguments, streams: Streams) -> None:
        self.arguments, self.streams, self.statistics = a, streams, Statistics()
        self.engine: EngineLoop | None = None  # examples go through the engine's loop
        self.counts: dict[str, float] = {}
        self.repeats = False
        check(a)
        if len(a.positional) > 1:
            streams.warn(
                "Multiple data files passed as positional parameters, only the first one will be read and the rest "
                "will be ignored."
            )
        head, undone = None, False
        before = a["initial_regressor"][0] if "initial_regressor" in a else a.get("input_feature_regularizer")
        if before is not None:
            head = load_model(before)
            undone = merge_options(a, head[0])
            check(a)
        merge_bits_of_mask(a)
        idle = a.drop_idle()
        path = data_path(a)
        self.data = path or ("none" if a.flag("no_stdin") else "stdin")
        check_files(a, path)
        random, progress = Random(a.get("random_seed", 0)), Progress(a, streams, self.statistics)
        words = Messages()
        try:
            plan = make_plan(a, head and head[0], undone, words)
        finally:
            words.tell(streams)
        self.setup = Setup(plan, streams, random, self.statistics, head, initial_t=plan.initial_t)
        self.learner: Layer = build(self.setup)
        _warn_of_idle(a, idle, streams)
        self.passes = plan.passes
        self.loop = LearningLoop(self.setup, self.learner, progress)
        self.models = ModelWriter(self.setup, self.learner, idle)
        self.batch: Any = self.loop.batch
        self._say_start()

    def _say_start(self) -> None:
        """Print the lines before the examples."""
        a, s = self.arguments, self.setup
        say_lines(s, of_dictionaries=False)
        if self.batch is not None:
            self.streams.info(f"m = {self.batch.solver.m}, allocated {self.batch.megabytes}M for weights and mem")
            self.streams.say(self.batch.solver.HEAD)
            if any(f"output_feature_regularizer_{form}" in a for form in ("binary", "text")):
                self.models.writes_regularizer = True
                if self.loop.holdout:
                    self.streams.say("Making holdout_set_off=true since output regularizer specified")
                    self.loop.hold_out(False)
        open_source(self.loop.source, self.data, self.passes, self.streams)
        say_settings(
            s, self.learner, sources=int(self.data != "none"), names="audit_regressor" not in a, table=self.loop.table
        )

    def stop(self) -> None:
        """Stop the run after the current example. Called from the signal thread."""
        self.loop.stop()
        if self.engine is not None:
            self.engine.stop()

    # --- the passes --------------------------------------------------------------------------

    def run(self) -> None:
        """Process the data, and write the outputs."""
        a, loop = self.arguments, self.loop
        if self._name_features():
            return
        if is_plain(loop):
            self.engine = EngineLoop(loop)
            loop.feed = self.engine.feed
        try:
            self._learn_and_save()
        finally:
            loop.close()
        shows_constant = loop.kind == "SIMPLE" and not a.flag("dont_output_best_constant")
        loss, stepper = self.setup.loss_words if shows_constant else None, self.learner.bottom.stepper
        if loss is not None:
            loss = replace(loss, least=stepper.min_label, most=stepper.max_label)
        say_summary(self.statistics, self.streams, loop.holdout, loss, self._more_words())
        active = self.learner.layer("active")
        if active is not None and active.simulation:
            self.streams.say(f"total queries = {active.queries}")

    def _learn_and_save(self) -> None:
        """Make the passes, and save the models after the last one."""
        loop = self.loop
        early = cut = False
        for number in range(0 if self.arguments.flag("dry_run") else self.passes):
            if number and loop.stopped:
                break
            if number and self.repeats:
                self.statistics.repeat(self.counts, *self.batch.repeat())
            elif self.data != "none":
                before, words = self.statistics.counts(), self.streams.count
                with suppress(Stopped):
                    loop.one_pass()
                self.counts = self.statistics.counts_since(before)
                self.repeats = self.streams.count == words and self._repeatable()
            cut = loop.stopped
            if cut:
                break
            early = self.end_pass()
            if early:
                break
        if cut:
            self._save_cut()
        elif not early:
            self.models.save()

    def _name_features(self) -> bool:
        """Collect the names of features if they are needed; returns whether the run does nothing else."""
        a, bottom = self.arguments, self.learner.bottom
        if not (a.flag("audit") or "invert_hash" in a or "audit_regressor" in a):
            return False
        from vwlite.vw.audit import Namer, RegressorAudit  # imported here for a faster start

        namer = self.setup.namer = Namer(self.loop)
        if a.flag("audit"):
            bottom.audit = namer.audit
        if "invert_hash" in a:
            bottom.collect = namer.collect
        if "audit_regressor" not in a:
            return False
        RegressorAudit(self.loop).go()
        return True

    def _save_cut(self) -> None:
        """Save the current models in the middle of a pass, as if the data ended here. If nothing was learned, existing
        files are unchanged."""
        if self.batch is not None:
            if self.batch.weights is not None:
                self.models.save()
        elif (self.loop.lines or self.loop.earlier) and not self.end_pass():
            self.models.save()

    def _repeatable(self) -> bool:
        """Whether later passes need not go through the examples one by one."""
        loop = self.loop
        if self.batch is None or loop.testing or not (loop.predictions is loop.raw is loop.namer is None):
            return False
        layer = self.learner
        while isinstance(layer, ScorerLayer | NamedLayer):
            layer = layer.base
        return layer is self.batch

    def _more_words(self) -> list[str]:
        """Lines of the summary that only some learners have."""
        if not (self.arguments.flag("probabilities") and self.loop.kind in ("MULTICLASS", "CS")):
            return []
        s, held = self.statistics, self.loop.holdout
        total, weight = s.held_log_loss if held else s.log_loss, s.weighted_labeled_examples
        if weight:
            shown = f"{total / weight:.6f}"
        else:
            shown = "inf" if total > 0 else "-nan"
        return [f"average multiclass log loss = {shown}{' h' if held else ''}"]

    def end_pass(self) -> bool:
        """End a pass; returns whether to stop because of no improvement."""
        a, statistics = self.arguments, self.statistics
        rule = self.learner.bottom.stepper.rule
        statistics.current_pass += 1
        if self.batch is not None:
            return self._end_batch_pass()
        self.loop.set_time()
        self.learner.end_pass()
        rule.pass_decay = rule.pass_decay * a.get("decay_learning_rate", 1.0)
        if a.flag("predict_only_model") and hasattr(rule, "gravity"):
            rule.gravity, self.setup.owed = rule.gravity + self.setup.owed, 0.0
            rule.fold_weights()
        if a.flag("save_per_pass") and "final_regressor" in a:
            self.models.save_binary(f"{a['final_regressor']}.{statistics.current_pass - 1}")
        if not self.loop.holdout:
            return False
        if statistics.best_so_far():
            self.models.save()
        return bool(statistics.without_gain == a.get("early_terminate", 3))

    def _end_batch_pass(self) -> bool:
        """End a pass of a batch solver; returns whether it was the last one."""
        a, statistics, batch = self.arguments, self.statistics, self.batch
        if self.data == "none":
            return False
        batch.finish_pass(statistics.holdout_of_pass if self.loop.holdout and statistics.current_pass > 1 else None)
        last = statistics.current_pass == self.passes
        if a.flag("save_per_pass") and "final_regressor" in a:
            self.models.save_binary(f"{a['final_regressor']}.{statistics.current_pass}")
        if last:
            self.streams.put("Maximum number of passes reached. ")
            if self.models.writes_regularizer:
                self.streams.say(
                    "\nRegular model file has been created. Output feature regularizer file is created only when the "
                    "convergence is reached. Try increasing the number of passes for convergence"
                )
                self.models.writes_regularizer = False
            else:
                self.streams.say("To optimize further, increase the number of passes")
        stops: bool = last or batch.solver.converged
        if self.loop.holdout:
            if statistics.best_so_far():
                self.models.save()
            if statistics.without_gain == a.get("early_terminate", 3):
                self.streams.put("Early termination reached w.r.t. holdout set error")
                return True
        if stops:
            self.models.save()
        return stops
