"""`vwlite vw`: a run of Vowpal Wabbit's command line, from the arguments to the summary."""

import os
import sys
from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import IO, Any

from vwlite.core.data.batch import Batch
from vwlite.core.vw.stepper import Stopped
from vwlite.errors import UsageError, VwliteError, WriteError
from vwlite.output.atomic import AtomicFile, check_apart
from vwlite.runs.signals import StopSignal
from vwlite.vw.arguments import OPTIONS, Arguments, letters, parse, split, usage
from vwlite.vw.build import build
from vwlite.vw.engine import EngineLoop, is_plain
from vwlite.vw.layers.base import Current, Layer, Named, counts_of, keep_lines
from vwlite.vw.layers.scorer import Scorer
from vwlite.vw.layers.stack import check
from vwlite.vw.messages import HEADER, VERSION, Critical, Refused, Streams, Words, short
from vwlite.vw.models.binary import (
    Header,
    Layout,
    Model,
    read_regularizer,
    woven,
    write_binary,
    write_regularizer,
    write_regularizer_text,
    write_text,
)
from vwlite.vw.plan import UPDATE_OPTIONS, load_model, make_features, make_plan, merge_bits_of_mask, merge_options
from vwlite.vw.random import Random
from vwlite.vw.setup import Setup
from vwlite.vw.squares import Squares
from vwlite.vw.statistics import Statistics
from vwlite.vw.text.examples import BLANK, REJECTED, Names, Source
from vwlite.vw.text.labels import LABELS
from vwlite.vw.text.parser import to_float

OUTPUTS = (
    "final_regressor", "predictions", "raw_predictions", "readable_model", "invert_hash", "audit_regressor",
    "output_feature_regularizer_binary", "output_feature_regularizer_text",
)  # fmt: skip
STANDARD = ("stdout", "/dev/stdout")  # they may have several


def main(arguments: list[str]) -> int:
    """Run `vwlite vw`; the exit code."""
    streams = Streams()
    try:
        a = parse(split(arguments))
        if a.flag("version"):
            print(VERSION)
            return 0
        if a.flag("help"):
            print(usage())
            return 0
        set_streams(a, streams)
        with StopSignal() as signals:
            run = Run(a, streams)
            signals.then(run.stop)
            run.run()
    except Critical as e:
        if e.example is not None:  # the thread that reads has words of its own
            streams.error(f"vw example #{e.example}({e.place}): {e}")
        streams.flush()
        sys.stdout.write(f"[critical] vw ({e.place}): {e}\n")
        sys.stdout.flush()
        return e.exit_code
    except VwliteError as e:
        streams.flush()
        print(e, file=sys.stderr)
        return e.exit_code if isinstance(e, Refused | UsageError) else 1
    except OSError as e:
        streams.flush()
        print(f"{e.filename or 'vwlite vw'}: {e.strerror}", file=sys.stderr)
        return 1
    streams.flush()
    if signals.number is None:
        return 0
    path = a.get("final_regressor")
    kept = f"the model as of then is {path}" if run.saved and path else "no model was written"
    print(f"interrupted by signal {signals.number}; {kept}", file=sys.stderr)
    return 128 + signals.number


def set_streams(a: Arguments, streams: Streams) -> None:
    """Where the words of this run go."""
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


class Predictions:
    """A file of predictions."""

    def __init__(self, path: str) -> None:
        self._own = path not in ("stdout", "/dev/stdout")
        try:
            self.file: IO[str] = open(path, "w", errors="surrogateescape") if self._own else sys.stdout
        except OSError as e:
            raise Critical(f"Error opening the predictions file: {path}, {e.strerror}", "parse_args.cc", 1500) from None

    def write(self, text: str) -> None:
        try:
            self.file.write(text)
        except OSError as e:
            raise self._failed(e) from e

    def close(self) -> None:
        if not self._own:
            return
        try:
            self.file.close()
        except OSError as e:
            raise self._failed(e) from e

    def _failed(self, e: OSError) -> Exception:
        """What becomes of an error of the file. That of standard output is told by others."""
        return WriteError(f"{self.file.name}: cannot be written: {e.strerror}") if self._own else e


class Run:
    """One run."""

    def __init__(self, a: Arguments, streams: Streams) -> None:
        self.arguments, self.streams = a, streams
        self.stopped = self.saved = False
        self.statistics = Statistics()
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
        self.idle = a.drop_idle()  # which the model keeps nevertheless
        self.path = a.get("data") or (a.positional[0] if a.positional else None)
        self._check_files()
        self.random = Random(a.get("random_seed", 0))
        self._progress()
        words = Words()
        try:
            plan = self.plan = make_plan(a, head and head[0], undone, words)
        finally:
            words.tell(streams)
        s = self.setup = Setup(plan, streams, self.random, self.statistics, head, initial_t=plan.initial_t)
        self.passes, self.testing, self.holdout, self.shape = plan.passes, plan.testing, plan.holdout, plan.shape
        self.namer: Any = None
        if "input_feature_regularizer" in a and head is not None:
            header, source = head
            s.head = None
            s.regularizer = slots, floats = read_regularizer(header, source)
            pulls = [(slot >> 1, x) for slot, x in zip(slots, floats, strict=True) if slot & 1]
            s.model = Model(header, None, 1, array("I", [j for j, _ in pulls]), array("f", [x for _, x in pulls]))
        self.writes_regularizer = False
        self.counts: dict[str, float] = {}  # of a pass
        self.repeats = False  # the next pass will have the same
        self.engine: EngineLoop | None = None  # examples go through the engine's loop
        self.learner: Layer = build(s)
        for option in map(OPTIONS.__getitem__, self.idle):
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
        self.kind, self.of_lines = self.learner.kind, self.learner.of_lines
        self.batch: Any = self.learner.bottom if self.learner.bottom.in_batches else None
        self.table = self.batch is None and "audit_regressor" not in a  # rows and their head
        self.labels = LABELS["LINES" if self.of_lines and self.kind == "CS" else self.kind](self)
        self.source = self._source()
        if plan.sums_squares and (plan.not_linear or self.shape.limits or self.source.sort):
            bottom = self.learner.bottom
            bottom.more_squares = Squares(
                bottom.stepper.expander, self.shape.dropped, plan.not_linear, a.flag("permutations")
            ).more
        if self.of_lines and not a.flag("noconstant"):
            self.learner.bottom.constant_places = self._constant_places
        self.predictions = Predictions(a["predictions"]) if "predictions" in a else None
        self.raw = Predictions(a["raw_predictions"]) if "raw_predictions" in a else None
        s.raw = self.raw
        self._say_learning()
        # Which lines are held out: all after so many, or every so many; 0: none for that.
        self.holdout_after: int = a.get("holdout_after", 0) if self.holdout else 0
        self.holdout_period: int = a.get("holdout_period", 10) if self.holdout and not self.holdout_after else 0
        self.quiet = a.flag("quiet")
        self.lines = 0  # in this pass, blank ones too
        self.earlier = 0  # lines of the passes before, and an end for each

    def stop(self) -> None:
        """End the run after the example that it is at. Called from the thread of the signals."""
        self.stopped = True
        self.learner.bottom.stepper.stop()
        if self.engine is not None:
            self.engine.stop()

    def _check_files(self) -> None:
        """Refuse outputs that would overwrite each other or what is read; Vowpal Wabbit destroys them."""
        a = self.arguments
        outputs = {f"--{name}": a[name] for name in OUTPUTS if name in a and a[name] not in STANDARD}
        if "final_regressor" in a and a.flag("save_per_pass"):
            for n in range(a.get("passes", 1) + 1):
                outputs[f"--save_per_pass in pass {n}"] = f"{a['final_regressor']}.{n}"
        if "cache_file" in a:
            outputs["--cache_file"] = a["cache_file"][0]
        elif a.flag("cache") and self.path is not None:
            outputs["--cache"] = f"{self.path}.cache"
        inputs = [] if self.path is None and a.flag("no_stdin") else [(self.path or "-", "the data")]
        inputs += [(path, "a model that is read") for path in a.get("initial_regressor", [])]
        for name in ("input_feature_regularizer", "feature_mask"):
            if name in a:
                inputs.append((a[name], f"the file of --{name}"))
        continued = a["initial_regressor"][0] if "initial_regressor" in a else None
        check_apart(outputs, inputs, ("--final_regressor", continued))

    # --- the header --------------------------------------------------------------------------

    def _progress(self) -> None:
        self.factor, self.step = 2.0, None
        value = self.arguments.get("progress")
        if value is None:
            return
        if "." in value or not value.lstrip("-").isdigit():
            try:
                self.factor = float(value)
            except ValueError:
                raise Critical(f"Failed to convert {value} to f") from None
            if self.factor <= 1:
                self.streams.warn(f"Multiplicative --progress <float> '{value}' is <= 1.0: adding 1.0")
                self.factor += 1
        else:
            self.step = float(value)
            if self.step < 1:
                self.streams.warn(f"Additive --progress <int> '{value}' is < 1: forcing to 1")
                self.step = 1.0
            self.statistics.dump_interval = self.step

    def _source(self) -> Source:
        a, s = self.arguments, self.setup
        path = self.path
        self.data_name = path or ("none" if a.flag("no_stdin") else "stdin")
        cache = a["cache_file"][0] if "cache_file" in a else None
        if cache is None and a.flag("cache"):
            if path is None:
                raise Critical("need a data file to make a cache of", "parser.cc", 300)
            cache = f"{path}.cache"
        features = make_features(a, self.streams, s.header_lines)
        make = None
        wants_names = a.flag("audit") or "invert_hash" in a or "audit_regressor" in a
        if a.flag("json"):  # imported where they are wanted, as few are: each start is faster for it
            from vwlite.vw.text.json import JsonParser

            make = JsonParser(features, a.flag("chain_hash")).line
        elif a.flag("csv"):
            from vwlite.vw.text.csv import CsvParser

            make = CsvParser(
                features, separator=a.get("csv_separator", ","), has_head=not a.flag("csv_no_file_header"),
                head=a.get("csv_header"), scales=a.get("csv_ns_value", ""),
            ).line  # fmt: skip
        if "invert_hash" in a and cache is not None:
            raise Critical("invert_hash is incompatible with a cache file.  Use it in single pass mode only.")
        return Source(
            paths=[path or "-"], features=features, streams=self.streams, simple=self.kind == "SIMPLE",
            wants_names=wants_names, strict=a.flag("strict_parse"), sort=a.flag("sort_features"), make=make,
            cache=cache, kill_cache=a.flag("kill_cache"), bits=self.plan.bits, shape=self.shape,
            examples=a["examples"] if a.get("examples", -1) >= 0 else None, by_turns=a.flag("onethread"),
            stop=lambda: self.stopped,
        )  # fmt: skip

    def _say_learning(self) -> None:
        a, s, plan, source = self.arguments, self.setup, self.plan, self.source
        for line in s.header_lines:
            if not line.startswith(("scanned dictionary", "dictionary ")):
                self.streams.say(line)
        if self.batch is not None:
            s.streams.info(f"m = {self.batch.solver.m}, allocated {self.batch.megabytes}M for weights and mem")
            self.streams.say(self.batch.solver.HEAD)
            self.writes_regularizer = any(f"output_feature_regularizer_{form}" in a for form in ("binary", "text"))
            if self.writes_regularizer and self.holdout:
                self.streams.say("Making holdout_set_off=true since output regularizer specified")
                self.holdout = False
        reads = self.data_name != "none"
        if source.find_cache():
            self.streams.say(f"using cache_file = {source.cache}")
            self.streams.say("ignoring text input in favor of cache input")
        elif source.cache is not None:
            self.streams.say(f"creating cache_file = {source.cache}")
            self.streams.say(f"Reading datafile = {self.data_name}")
        else:
            self.streams.say("using no cache")
            if reads and self.data_name != "stdin" and not os.path.exists(self.data_name):
                raise Critical(
                    f"Failed to open input data file '{self.data_name}'. Inner error: can't open: {self.data_name}, "
                    "errno = No such file or directory", "parser.cc", 560,
                )  # fmt: skip
            self.streams.say(f"Reading datafile = {self.data_name}")
        if self.passes > 1 and source.cache is None:
            raise Critical(
                "need a cache file for multiple passes : try using  --cache or --cache_file <name>", "parser.cc", 590
            )
        self.streams.say(f"num sources = {int(reads)}")
        self.streams.say(f"Num weight bits = {plan.bits}")
        self.streams.say(f"learning rate = {short(plan.learning_rate)}")
        self.streams.say(f"initial_t = {short(s.initial_t)}")
        self.streams.say(f"power_t = {short(plan.power_t)}")
        if self.passes > 1:
            self.streams.say(f"decay_learning_rate = {short(a.get('decay_learning_rate', 1.0))}")
        for line in s.header_lines:
            if line.startswith(("scanned dictionary", "dictionary ")):
                self.streams.say(line)
        if "audit_regressor" not in a:
            self.streams.say(f"Enabled learners: {', '.join(self.learner.names)}")
        self.streams.say(f"Input label = {self.kind}")
        self.streams.say(f"Output pred = {self.learner.output}")
        if self.table:
            self.streams.say(HEADER)

    # --- the passes --------------------------------------------------------------------------

    def run(self) -> None:
        a = self.arguments
        bottom = self.learner.bottom
        if a.flag("audit") or "invert_hash" in a or "audit_regressor" in a:
            from vwlite.vw.audit import Namer, RegressorAudit

            self.namer = self.setup.namer = Namer(self)
        if a.flag("audit") or "invert_hash" in a:
            if a.flag("audit"):
                bottom.audit = self.namer.audit
            if "invert_hash" in a:
                bottom.collect = self.namer.collect
        if "audit_regressor" in a:
            RegressorAudit(self).go()
            return
        if is_plain(self):
            self.engine = EngineLoop(self)
        try:
            self._learn_and_save()
        finally:
            for file in (self.predictions, self.raw):
                if file is not None:
                    file.close()
        self.statistics.summary(self.streams, self.holdout, self.loss_words, self._more_words())
        active = self.learner.layer("active")
        if active is not None and active.simulation:
            self.streams.say(f"total queries = {active.queries}")

    def _learn_and_save(self) -> None:
        """Go through the passes, and save the models after the last one."""
        early = cut = False
        for number in range(0 if self.arguments.flag("dry_run") else self.passes):
            if number and self.stopped:
                break
            if number and self.repeats:
                self.statistics.repeat(self.counts, *self.batch.repeat())
            elif self.data_name != "none":
                before, words = replace(self.statistics), self.streams.count
                with suppress(Stopped):
                    self.one_pass()
                self.counts = self.statistics - before
                self.repeats = self.streams.count == words and self._repeatable()
            cut = self.stopped
            if cut:
                break
            early = self.end_pass()
            if early:
                break
        if cut:
            self._save_cut()
        elif not early:
            self.save()

    def _save_cut(self) -> None:
        """Save the models as of now, in the middle of a pass, as if the data ended here. If nothing was learned, what
        was there before stays."""
        if self.batch is not None:
            if self.batch.weights is not None:
                self.save()
        elif (self.lines or self.earlier) and not self.end_pass():
            self.save()

    def _repeatable(self) -> bool:
        """Whether later passes need not go through the examples one by one."""
        if self.batch is None or self.testing or not (self.predictions is self.raw is self.namer is None):
            return False
        layer = self.learner
        while isinstance(layer, Scorer | Named):
            layer = layer.base
        return layer is self.batch

    def _more_words(self) -> list[str]:
        """Lines of the summary that only some learners have."""
        if not (self.arguments.flag("probabilities") and self.kind in ("MULTICLASS", "CS")):
            return []
        total = self.labels.held_log_loss if self.holdout else self.labels.log_loss
        weight = self.statistics.weighted_labeled_examples
        if weight:
            shown = f"{total / weight:.6f}"
        else:
            shown = "inf" if total > 0 else "-nan"
        return [f"average multiclass log loss = {shown}{' h' if self.holdout else ''}"]

    @property
    def loss_words(self) -> Any:
        shown = self.kind == "SIMPLE" and not self.arguments.flag("dont_output_best_constant")
        return self.setup.loss_words if shown else None

    def one_pass(self) -> None:
        self.earlier += self.lines + 1 if self.lines else 0
        self.lines = 0
        if self.of_lines is not None:
            for group in self._groups():
                self.of_lines.group(self, group)
                if self.stopped:
                    break
            return
        feed = self.engine.feed if self.engine is not None else self.feed
        for batch, names in self._batches():
            self.labels.begin_batch(batch)
            feed(batch, names)
            if self.stopped:
                break

    def _batches(self) -> Iterator[tuple[Batch, Names | None]]:
        """The batches of a pass. An error of reading them tells at which example."""
        try:
            yield from self.source.passes()
        except Critical as e:
            e.example = self._read_apart(self.lines)
            raise

    def _read_apart(self, number: int) -> int | None:
        """The number of an example, from 0, if lines are read by a thread of its own in Vowpal Wabbit."""
        return None if self.arguments.flag("onethread") else number

    def examples(self) -> Iterator[Current | None]:
        """The examples of a pass, one by one; None for a blank line. Each is valid until the next batch comes."""
        for batch, names in self._batches():
            yield from self._examples(batch, names)
            if self.stopped:
                return

    def _examples(self, batch: Batch, names: Names | None) -> Iterator[Current | None]:
        kinds = batch.kind
        for line in range(len(batch)):
            if self.stopped:
                return
            self.lines += 1
            if kinds[line] == BLANK:
                yield None
            elif kinds[line] != REJECTED:
                yield self.current(batch, line, names)

    def _constant_places(self, e: Current) -> tuple[int, int]:
        """Where the engine has the constant, and where Vowpal Wabbit: before the features of a shared line."""
        counts = counts_of(e, self.shape.dropped)
        linear = [(letter, n) for letter, n in counts.items() if letter not in self.plan.not_linear]
        return sum(n for _, n in linear), sum(n for letter, n in linear if letter in (e.own or ()))

    def _groups(self) -> Iterator[list[Current]]:
        group: list[Current] = []
        for batch, names in self._batches():
            for e in self._examples(batch, names):
                if e is not None:
                    group.append(e)
                elif group:
                    yield group
                    group = []
            keep_lines(group, batch)
        if group and not self.stopped:  # else its end may be missing
            yield group

    def feed(self, batch: Batch, names: Names | None, begin: int = 0, end: int | None = None) -> None:
        """Go through the examples of a batch, or some of them."""
        kinds = batch.kind
        for line in range(begin, len(batch) if end is None else end):
            if self.stopped:
                break
            self.lines += 1
            if kinds[line] == BLANK or kinds[line] == REJECTED:
                continue
            self.one(self.current(batch, line, names))

    def current(self, batch: Batch, line: int, names: Names | None) -> Current:
        """A line of a batch as an example."""
        e = Current(
            batch.label[line], batch.importance[line], batch.initial[line], batch.tag(line), batch=batch, line=line,
            names=names[line] if names else None, excess=self.source.excess.get(line, {}),
            counter=self.earlier + self.lines - 1,
        )  # fmt: skip
        if self.holdout_after:
            e.held = self.lines > self.holdout_after
        elif self.holdout_period:
            e.held = self.lines % self.holdout_period == 0
        # Examples of several lines are learned in any case, as Vowpal Wabbit does.
        e.test = self.testing or (e.held and self.of_lines is None)
        try:
            self.labels.read(e)
            self._check_weight(e)
        except Critical as error:
            error.example = self._read_apart(self.lines - 1)
            raise
        return e

    def _check_weight(self, e: Current) -> None:
        if e.weight < 0 or e.weight != e.weight:
            words = (
                f"Example has an invalid importance weight ({short(e.weight)}); importance weights must be "
                "non-negative. Use 0 to hold an example out of training."
            )
            if self.arguments.flag("strict_parse"):
                raise Critical(words, "parser.cc", 800)
            self.streams.warn(words)

    def one(self, e: Current) -> None:
        """Predict and learn an example, count it, and tell of it."""
        self.learn(e)
        self.finish(e)

    def learn(self, e: Current) -> None:
        """Predict and learn an example."""
        learner, bottom = self.learner, self.learner.bottom
        bottom.take(e)
        if self.batch is not None and self.plan.interactions:
            e.features = self._uncrossed(e)
        bottom.example_number = self.statistics.example_number
        self._set_time()
        if e.test or not self.labels.known(e):
            learner.predict(e)
        elif learner.predicts_apart:
            weight = e.weight
            learner.predict(e)
            shown, e.weight = e.prediction, weight
            learner.learn(e)
            e.prediction = shown
        else:
            learner.learn(e)
        learner.end_example()

    def _set_time(self) -> None:
        """Tell the rule how much it has learned."""
        rule, s = self.learner.bottom.stepper.rule, self.statistics
        if hasattr(rule, "elapsed"):
            rule.elapsed = s.t - s.holdout_weight - s.weighted_unlabeled_examples

    def _uncrossed(self, e: Current) -> int:
        """The number of features without those of interactions, which batch solvers do not count."""
        batch = e.batch
        count = 0 if self.arguments.flag("noconstant") else 1
        for span in range(batch.span_begin[e.line], batch.span_begin[e.line + 1]):
            if not self.shape.dropped(batch.letter[span]):
                count += batch.feature_begin[span + 1] - batch.feature_begin[span]
        return count

    def finish(self, e: Current) -> None:
        """Count an example, write its predictions, and print a row if one is due."""
        self.labels.count(e)
        if self.raw is not None:
            self.raw.write(self.labels.raw_text(e))
        if self.predictions is not None:
            self.predictions.write(self.labels.text(e))
        statistics = self.statistics
        if self.table and statistics.weight >= statistics.dump_interval and not self.quiet:
            self.streams.say(
                statistics.row(self.labels.shown_label(e), self.labels.shown(e), self.labels.size(e), self.holdout)
            )
            statistics.advance(self.step, self.factor)

    def end_pass(self) -> bool:
        """What follows a pass; whether it was the last one, for want of progress."""
        a, statistics = self.arguments, self.statistics
        rule = self.learner.bottom.stepper.rule
        statistics.current_pass += 1
        if self.batch is not None:
            return self._end_batch_pass()
        self._set_time()
        self.learner.end_pass()
        rule.pass_decay = rule.pass_decay * a.get("decay_learning_rate", 1.0)
        if a.flag("predict_only_model") and hasattr(rule, "gravity"):
            rule.gravity, self.setup.owed = rule.gravity + self.setup.owed, 0.0
            rule.fold_weights()
        if a.flag("save_per_pass") and "final_regressor" in a:
            self.save_binary(f"{a['final_regressor']}.{statistics.current_pass - 1}")
        if not self.holdout:
            return False
        if statistics.best_so_far():
            self.save()
        return bool(statistics.without_gain == a.get("early_terminate", 3))

    def _end_batch_pass(self) -> bool:
        """What follows a pass of a batch solver; whether it was the last one."""
        a, statistics, batch = self.arguments, self.statistics, self.batch
        if self.data_name == "none":
            return False
        batch.finish_pass(statistics.holdout_of_pass if self.holdout and statistics.current_pass > 1 else None)
        last = statistics.current_pass == self.passes
        if a.flag("save_per_pass") and "final_regressor" in a:
            self.save_binary(f"{a['final_regressor']}.{statistics.current_pass}")
        if last:
            self.streams.put("Maximum number of passes reached. ")
            if self.writes_regularizer:
                self.streams.say(
                    "\nRegular model file has been created. Output feature regularizer file is created only when the "
                    "convergence is reached. Try increasing the number of passes for convergence"
                )
                self.writes_regularizer = False
            else:
                self.streams.say("To optimize further, increase the number of passes")
        stops: bool = last or batch.solver.converged
        if self.holdout:
            if statistics.best_so_far():
                self.save()
            if statistics.without_gain == a.get("early_terminate", 3):
                self.streams.put("Early termination reached w.r.t. holdout set error")
                return True
        if stops:
            self.save()
        return stops

    # --- models ------------------------------------------------------------------------------

    def header(self) -> Header:
        """The head of the model as of now."""
        a, stepper = self.arguments, self.learner.bottom.stepper
        return Header(
            a.get("id", ""), stepper.min_label, stepper.max_label, self.plan.bits, list(a.get("ngram", [])),
            list(a.get("skips", [])), self.options(a.flag("predict_only_model")),
        )  # fmt: skip

    def model(self) -> Model:
        """The model as of now."""
        a, s = self.arguments, self.setup
        stepper = self.learner.bottom.stepper
        stepper.select(0)
        rule = stepper.rule
        predict_only = a.flag("predict_only_model")
        header = self.header()
        state = None
        if self.batch is not None:
            self.batch.store()
        if not predict_only:
            t = self.statistics
            state = {
                "initial_t": self.plan.initial_t, "norm normalizer": getattr(rule, "norm_sum", 0.0), "t": t.t,
                "sum_loss": t.sum_loss, "sum_loss_since_last_dump": t.sum_loss_since_last_dump,
                "dump_interval": t.dump_interval, "min_label": stepper.min_label, "max_label": stepper.max_label,
                "weighted_labeled_examples": t.weighted_labeled_examples, "weighted_labels": t.weighted_labels,
                "weighted_unlabeled_examples": t.weighted_unlabeled_examples, "example_number": t.example_number,
                "total_features": t.total_features, "total_weight": getattr(rule, "weight_sum", 0.0),
                "sd::oec.weighted_labeled_examples": t.old_weighted_labeled_examples,
                "current_pass": t.current_pass, "l1_state": getattr(rule, "gravity", 0.0) + s.owed,
                "l2_state": getattr(rule, "contraction", 1.0),
            }  # fmt: skip
        slots, columns = Layout(rule, self.plan.fields).columns()
        return Model(header, state, len(columns), slots, woven(columns))

    def options(self, predict_only: bool) -> str:
        """The options that the model keeps."""
        out = []
        a = self.arguments
        values = {**a.values, **self.idle}
        for name in sorted(values):
            option = OPTIONS[name]
            if not option.keep or name in ("ignore", "ignore_linear", "keep"):
                continue
            if predict_only and name in UPDATE_OPTIONS:
                continue
            value = values[name]
            if option.type == "bool":
                out.append(f" --{name}" if value else "")
            elif option.type == "list[str]":
                out += [f" --{name} {item}" for item in value]
            elif option.type == "float":
                out.append(f" --{name} {to_float(value):.15g}")
            else:
                out.append(f" --{name} {value}")
        for name in ("ignore", "ignore_linear", "keep"):
            if name in a:
                merged = bytes(sorted(set(letters(a[name])))).decode("utf-8", "surrogateescape")
                out.append(f" --{name} {merged}")
        if self.random.state:
            out.append(f" --random_seed {self.random.state}")
        return "".join(out)

    def save(self) -> None:
        """Write every model that was asked for."""
        a = self.arguments
        self.saved = True
        binary = a.get("output_feature_regularizer_binary", a.get("final_regressor"))
        if binary is not None:
            self.save_binary(binary)
        if "output_feature_regularizer_text" in a:
            self._write(a["output_feature_regularizer_text"], self.text(None).encode("utf-8", "surrogateescape"))
            return
        for name in ("readable_model", "invert_hash"):
            if name in a:
                names = self.namer.found if name == "invert_hash" else None
                self._write(a[name], self.text(names).encode("utf-8", "surrogateescape"))

    def text(self, names: dict[int, bytes] | None) -> str:
        """The readable model, with names the inverted one; or the regularizer, if that is to be written."""
        hexfloat = self.arguments.flag("hexfloat_weights")
        if self.writes_regularizer:
            slots, floats = self.batch.next_regularizer()
            return write_regularizer_text(self.header(), slots, floats, hexfloat)
        return write_text(self.model(), self.learner.saved_text(), names, hexfloat)

    def save_binary(self, path: str) -> None:
        if self.writes_regularizer:
            data = write_regularizer(self.header(), *self.batch.next_regularizer())
        else:
            data = write_binary(self.model(), self.learner.saved_bytes())
        self._write(path, data)

    @staticmethod
    def _write(path: str, data: bytes) -> None:
        if path == "/dev/stdout":
            sys.stdout.write(data.decode("utf-8", "surrogateescape"))
            return
        with AtomicFile(path) as file:
            file.write(data)
            file.commit()

