"""A run of `vwlite tune`: successive halving over settings of `vwlite train`, judged out of fold.

Many settings learn a part of the examples; the best of them, and points near them, learn more; those that are left
learn all. Decisions are made only at the end of such a rung, so that they do not depend on the number of threads.
"""

import hashlib
import json
import math
import os
import shlex
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from vwlite.algorithms.losses import called
from vwlite.algorithms.memory import available_memory, table_needs
from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import AUTO
from vwlite.core.auto.folds import folds_of
from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Learner, Reason
from vwlite.core.learn.tally import Tally
from vwlite.errors import CannotCreateError, DataError, UsageError
from vwlite.input.reader import check_file
from vwlite.input.sources import check_sources, is_read_once
from vwlite.model.learners import make_expander, make_loss, new_learner, restore
from vwlite.model.snapshot import snapshot
from vwlite.names import names_text
from vwlite.output.atomic import AtomicFile
from vwlite.output.json_text import json_text, with_schema
from vwlite.output.progress import LiveLine
from vwlite.output.shell_words import joined, quoted
from vwlite.output.stdio import plain
from vwlite.runs.counted import with_counted_classes
from vwlite.runs.frame import RunFrame
from vwlite.runs.options import TrainOptions
from vwlite.runs.plan import planned
from vwlite.runs.resolve import resolve
from vwlite.runs.run import BadLines, say
from vwlite.runs.source import Source
from vwlite.training.auto.data import Batches, DrawnExamples
from vwlite.training.auto.final_choice import loss_of
from vwlite.training.auto.reading import is_large, learnable, with_label_words
from vwlite.training.auto.selection import deal_groups
from vwlite.training.auto.space import Point, Scale, Setting, Space, Value, words_of
from vwlite.training.auto.sparse import JudgedLearner, LearnerMaker, grid_of, learn_all
from vwlite.training.auto.sparse_trainer import DECIDING, FEATURE, first_lines
from vwlite.training.auto.trainer import AutoTrainer
from vwlite.training.dates import with_times
from vwlite.training.front import front_of
from vwlite.training.progress import Progress
from vwlite.training.trainer import Job, prepared
from vwlite.training.trainers import trainer_of
from vwlite.tuning.commands import TuneOptions

KEPT_BYTES = 1 << 28  # of examples that are kept in memory
FEWEST = (4000, 12000)  # examples of the first rungs, at least
FINALISTS = 10
LEAST_GAIN = 1e-3  # in loss, relative, for which learning goes on for twice as many passes
BLOCK = 64  # lines that are in a part of the examples together
UNUSED = 255  # the fold of a line that is not learned
FRONT = 0.85  # of the gain, that small models in the search keep
SHARE = 0.95  # of the gain, that the smallest model keeps


class Judged(NamedTuple):
    """A setting after its best number of passes."""

    loss: float
    nonzeros: int
    passes: int = 1


class TunedModel(NamedTuple):
    """What the front is made of. validate: the file by which it is chosen among passes."""

    judged: Judged
    setting: Setting
    validate: str | None = None

    @property
    def words(self) -> list[str]:
        """The options of `vwlite train`, as typed."""
        passes = ["--passes", str(self.judged.passes)] if self.judged.passes > 1 else []
        if self.setting["algorithm"].value != AUTO.name:
            return [*words_of(self.setting), *passes, *["--holdout-off"] * bool(passes)]
        return [*words_of(self.setting), *passes, *(["--validate", self.validate] if self.validate is not None else [])]


class Rung(NamedTuple):
    """share: of the examples that are learned. folds: that are judged. passes: after which they are."""

    number: int
    share: float
    folds: Sequence[int]
    passes: Sequence[int]
    is_last: bool = False


class SearchEnded(Exception):
    """The run is stopped, or its time is over."""


def tune(o: TuneOptions) -> int:
    """Run `vwlite tune`; the exit code."""
    o.check()
    if is_read_once(o.data):
        raise UsageError("vwlite tune reads DATA several times: name files, no pipe and no standard input")
    check_sources(o.data, quiet=o.quiet)
    data, words = planned(o), o.words
    o = replace(o, typed=with_counted_classes(o.typed, data, lambda: False))
    counted = [] if "--classes" in words or "classes" not in o.typed else ["--classes", o.typed["classes"]]
    if "oaa" in o.typed and "--oaa" not in words:
        words = [*words, *counted, "--oaa", str(o.typed["oaa"])]
    job, notes = with_times(prepared(o.of_train, None, replace(data, quiet=True), in_place=False), lambda: False)
    if notes:
        o = replace(o, time=job.options.time)
        words = [*words, "--time", names_text(o.time[-1])]
    for note in notes if not o.quiet else ():
        say(f"note: {note}")
    settings = job.resolved.settings
    settings.outputs.check_one("vwlite tune")
    settings.outputs.transform.refuse("vwlite tune")
    if settings.algorithm != AUTO.name:
        raise UsageError(f"vwlite tune is for what --algorithm auto can learn, but it would be "
                         f"{settings.algorithm}, {job.resolved.why}: leave that out")
    with RunFrame("tune", o) as frame:
        run = Tuner(job, frame, words, o)
        frame.stop_with(run.stop)
        run.run()
        best = run.finish_tuning()
        code = frame.code("" if best else "; nothing was compared yet")
    if best is None or o.model is None:
        return code
    from vwlite.training.train import train

    failed = train(run.training(best))
    if not failed:
        run.journal.remove()
    return failed or code


class Journal(dict[str, Any]):
    """The results so far in a file beside the model, for a run that continues after a kill. path: None: nowhere."""

    def __init__(self, path: str | None, key: str, stack: ExitStack) -> None:
        super().__init__()
        self._path, self._key, self._lock, self._written_at = path, key, threading.Lock(), 0.0
        if path is not None:
            check_file(path)
        self._file = stack.enter_context(AtomicFile(path)) if path is not None else None
        if path is None or not os.path.exists(path):
            return
        try:
            with open(path, "rb") as f:
                kept = json.loads(f.read(1 << 28))
            known, results = kept["vwlite tune"], dict(kept["results"])
        except (OSError, ValueError, KeyError, TypeError):
            raise CannotCreateError(f"{path}: not a record of vwlite tune, which would replace it: remove it, or "
                                    "give the model another name") from None
        if known == key:
            self.update(results)
        else:
            say(f"{path} is of other data, options or a newer program: the search begins again")

    def put(self, name: str, value: Any) -> None:
        with self._lock:
            self[name] = value
            if self._file is not None and time.monotonic() - self._written_at >= 1:
                self._file.write(json.dumps({"vwlite tune": self._key, "results": self}).encode())
                self._file.commit()
                self._file.new_version()
                self._written_at = time.monotonic()

    def remove(self) -> None:
        if self._path is not None and os.path.exists(self._path):
            os.unlink(self._path)


class Tuner:
    """The search. Data and labels are read like those of `--algorithm auto`, which is a candidate."""

    journal: Journal
    models: Sequence[TunedModel] = ()  # that were judged with all examples
    baseline_loss = math.nan
    tried = 0

    def __init__(self, job: Job, stack: ExitStack, words: list[str], typed: TuneOptions) -> None:
        self.job, self.stack, self.words, self.typed = job, stack, words, typed
        self.options = o = job.options
        self.live = LiveLine(quiet=typed.quiet)
        job, bad = with_label_words(job), BadLines(stack, **o.of_bad_lines)
        source = Source(job.data, job.resolved.settings, job.known, bad, o.of_source)
        trainer = trainer_of(job, source, Progress(o, bad, self.live))
        assert isinstance(trainer, AutoTrainer)
        self.auto, self.data = trainer, trainer.data
        trainer.compares_losses = False  # all settings have one loss
        self.stopped, self.began = False, time.monotonic()
        self.jobs = typed.jobs or len(os.sched_getaffinity(0))
        self.space = Space(dict(typed.tries), o.typed.get("loss", "logistic"))
        self._until = math.inf  # when settings are no longer tried
        self._passes: dict[Point, int] = {}  # that were best in the last rung
        self._folds_of_lines: list[Any] = []  # of each batch
        for algorithm in self.space.algorithms():  # nonsense is refused before data are read
            self._resolved(self.space.setting(Point(algorithm, (0.5,) * len(self.space.points(algorithm)[0].at))))

    def stop(self) -> None:
        """Called from the thread of the signals."""
        self.stopped = True
        self.auto.stop()

    def _say(self, line: str) -> None:
        if not self.typed.quiet:
            with self.live.cleared():
                say(line)

    # --- the order of events -----------------------------------------------------------------

    def run(self) -> None:
        """Read the data, and judge settings."""
        self.auto.reader.read_files(self)

    def learn_in_passes(self, batches: Batches) -> None:
        """Judge settings by the data."""
        data, summary = self.data, self.data.summary
        self._batches = batches
        data.scale_labels()
        self.space = replace(self.space, loss=data.settings.loss)
        if not summary.examples or not data.baseline or data.is_scarce:
            why = "fewer than 8 examples of a class" if summary.examples and data.baseline else "one label only"
            raise DataError(f"there is nothing to tune: {why if summary.examples else 'no example has a label'}")
        self.baseline_loss = data.baseline * data.labels_as.loss_scale
        if summary.bytes <= KEPT_BYTES:
            self._batches = Batches(batches.counts, [*batches].__getitem__)
        path = None if self.typed.model is None else f"{self.typed.model}.tune"
        self.journal = Journal(path, self._key(), self.stack)
        if len(self.journal):
            self._say(f"continuing with {len(self.journal)} results of {path}")
        self.models = []
        settings, summary = data.settings, data.summary
        if self.space.has_auto:
            self._try_auto()
        data.settings, data.summary = settings, summary  # without the features that auto derives
        if not self.stopped:
            self._search()

    def _key(self) -> str:
        """A digest of the data and of all that decides the results."""
        s, found = self.data.summary, hashlib.sha256()
        for array in (s.contents, s.labels, s.importances, s.initials):
            found.update(memoryview(array).cast("B"))
        for batch in self._batches if s.grouped else ():  # the summary has groups in place of contents
            for array in (batch.hash, batch.value):
                found.update(memoryview(array).cast("B"))
        o, settings = self.typed, self.data.settings.stored()
        found.update(repr((self.words, o.data, o.tries, o.validate, sorted(settings.items()), VERSION)).encode())
        validation = self.data.validation
        if validation is not None:
            found.update(memoryview(validation.summary.contents).cast("B"))
            found.update(memoryview(validation.summary.labels).cast("B"))
        return found.hexdigest()

    def _try_auto(self) -> None:
        known = self.journal.get(AUTO.name)
        if known is None:
            self._say("auto: its own grid")
            auto = self.auto
            auto.learn_in_passes(self._batches)
            if self.stopped:
                return
            known = (loss_of(auto.held or auto.learner.progressive), auto.learner.rule.count_nonzero())
            self.journal.put(AUTO.name, known)
        judged = Judged(known[0], known[1], 8 if is_large(self.options.data) else 1)
        setting = {"algorithm": Value(AUTO.name, AUTO.name)}
        if self.data.settings.loss == "squared" and "loss" not in self.options.typed:
            setting["loss"] = Value("squared", "squared")  # else it may learn amounts by another one
        self.models = [TunedModel(judged, setting, self.options.validate)]

    # --- the search --------------------------------------------------------------------------

    def _search(self) -> None:
        algorithms = self.space.algorithms()
        if not algorithms:
            return
        with ThreadPoolExecutor(self._fit()) as pool:
            self.space = replace(self.space, scales=self._scales(pool))
            rungs = self._rungs()
            points = [p for algorithm in algorithms for p in self.space.points(algorithm)]
            for rung in rungs:
                limit = self.typed.limit or math.inf
                self._until = self.began + (limit if rung.is_last else limit / 2)
                found = self._climbed(rung, points, pool)
                if self.stopped:
                    break
                most = FINALISTS if rungs[-2:][0] is rung else len(found) // 4 or len(found)
                points = survivors(found, self.baseline_loss, most)
                if not rung.is_last and rungs[-2:][0] is not rung:
                    points += [self.space.near(p, k + 1) for k, p in enumerate(points)]

    def _climbed(self, rung: Rung, points: Iterable[Point], pool: ThreadPoolExecutor) -> list[tuple[Judged, Point]]:
        """The points that could be learned in a rung, judged."""
        tasks: dict[str, Point] = {}
        for p in points:
            tasks.setdefault(shlex.join(words_of(self.space.setting(p, rung.share))), p)
        n = round(rung.share * self.data.summary.examples)
        self._say(f"rung {rung.number}: {len(tasks)} settings learn {n:,} of {self.data.summary.examples:,} examples")
        before = {p: self._passes.get(p, 0) for p in tasks.values()}
        found = pool.map(lambda words, p: self._one_setting(words, p, rung, before[p]), tasks, tasks.values())
        both = [(judged, p) for judged, p in zip(found, tasks.values(), strict=True) if judged is not None]
        self._passes = {p: judged.passes for judged, p in both}
        if rung.is_last:
            new = (TunedModel(j, self._with_labels(self.space.setting(p))) for j, p in both)
            self.models = [*self.models, *new]
        self.tried += len(tasks) if rung.number == 1 else 0
        return both

    def _one_setting(self, words: str, point: Point, rung: Rung, before: int) -> Judged | None:
        """A setting in a rung; None if it cannot be learned, or there is no time. words: in the journal. before: passes
        in the last rung."""
        if rung.is_last and before in POWERS:
            most = rung.passes[-1] if self.data.summary.examples < FEWEST[1] else 8 if before == 4 else before
            rung = rung._replace(passes=[p for p in rung.passes if before <= p <= most])
        name = f"{rung.number} {words}"
        known = self.journal.get(name)
        if known is None:
            try:
                known = self._judge(self.space.setting(point, rung.share), rung) or (None,)
            except SearchEnded:
                return None
            self.journal.put(name, known)
        return Judged(*known) if known[0] is not None else None

    def _with_labels(self, setting: Setting) -> Setting:
        """A setting with what the labels need, and without what was typed."""
        labels = self.data.settings.labels
        if labels is not None and "labels" not in self.options.typed:
            a, b = (x if isinstance(x, str) else f"{x:.17g}" for x in labels)
            setting = {**setting, "labels": Value(names_text([a, b]), labels)}
        return {name: value for name, value in setting.items() if name != "loss" or name not in self.options.typed}

    def command(self, model: TunedModel) -> list[str]:
        """The complete command that trains a model, without the program."""
        data = [path if not path.startswith("-") else f"./{path}" for path in self.options.data]
        out = ["-m", self.typed.model] if self.typed.model is not None else []
        name = self.options.group
        group = [] if name is None else ["--drop" if self._dropped(model) else "--group", name]
        return ["train", *data, *self.words, *group, *model.words, *out]

    def _dropped(self, model: TunedModel) -> str | None:
        """The column of groups, if what trains the model has no folds: there it is only dropped."""
        return self.options.group if model.setting["algorithm"].value != AUTO.name else None

    def training(self, model: TunedModel) -> TrainOptions:
        """What trains a model."""
        passes, validate = model.judged.passes, model.validate
        several = {"passes", "holdout_off"} if model.setting["algorithm"].value != AUTO.name else {"passes"}
        given = (self.options.given - {"validate"}) | ({"validate"} if validate is not None else set())
        o, dropped = self.options, self._dropped(model)
        if dropped is not None:
            o = replace(o, group=None, drop=(*o.drop, (dropped,)))
        return replace(
            o, typed=self._typed(model.setting), given=given | (several if passes > 1 else set()), passes=passes,
            holdout_off=passes > 1 and "holdout_off" in several, validate=validate, model=self.typed.model,
        )

    def _typed(self, setting: Setting) -> dict[str, Any]:
        """The options of settings: those that were typed, and those of a setting."""
        return self.options.typed | {name: value for name, (_, value) in self._with_labels(setting).items()}

    def _resolved(self, setting: Setting) -> Settings:
        """The settings that a setting leads to. UsageError."""
        try:
            return resolve(self._typed(setting), given=self.options.given).settings
        except UsageError as e:
            raise UsageError(f"--try leads to --algorithm {setting['algorithm'].text}: {e}") from None

    # --- the data ----------------------------------------------------------------------------

    def _rungs(self) -> list[Rung]:
        summary, n = self.data.summary, int(self.data.summary.examples)
        folds = bytearray(n)
        if summary.grouped:
            deal_groups(summary.contents, folds, self.auto.race.folds)
        else:
            folds_of(summary.contents, summary.feature_counts, summary.labels, folds, self.auto.race.folds)
        self._set_folds(np.frombuffer(folds, np.uint8))
        named = self.space.narrowed.get("passes")
        most = POWERS[-1] if n < FEWEST[1] else 8
        found: list[Rung] = []
        for number, (part, passes) in enumerate(((n / 9, 2), (n / 3, 4), (n, most)), 1):
            size = n if part == n else min(max(part, FEWEST[number - 1]), n)
            some = [0] if size >= FEWEST[0] and part < n else sorted({*folds})
            after = sorted(named.meant) if named is not None else [p for p in POWERS if p <= passes]  # type: ignore
            found.append(Rung(number, size / n, some, after, part == n))
        return found

    def _set_folds(self, folds: Any) -> None:
        """Find the folds of lines by those of the examples that can be learned."""
        at = 0
        for number in range(len(self._batches.counts)):
            batch = self._batches.load(number)
            used = learnable(batch)
            of_lines = np.full(len(batch), UNUSED, np.uint8)
            count = int(used.sum())
            of_lines[used] = folds[at : at + count]
            self._folds_of_lines.append(of_lines)
            at += count

    def _parts(self, rung: Rung, wanted: Callable[[Any], Any]) -> Iterator[tuple[Batch, int, int]]:
        """The lines of a rung whose folds are wanted: batches, each with where some lines begin and end.
        SearchEnded."""
        first = 0
        for number, folds in enumerate(self._folds_of_lines):
            if self.stopped or time.monotonic() > self._until:
                raise SearchEnded
            mask = wanted(folds) & (folds != UNUSED)
            if rung.share < 1:
                blocks = (np.arange(first, first + len(folds)) // BLOCK).astype(float)
                mask &= (blocks * GOLDEN) % 1 < rung.share
            first += len(folds)
            ends = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False]))))
            batch = self._batches.load(number) if len(ends) else None
            for begin, end in ends.reshape(-1, 2).tolist():
                yield batch, begin, end  # type: ignore[misc]

    def _scales(self, pool: ThreadPoolExecutor) -> dict[str, Scale]:
        """What rates and strengths are relative to, by the first examples in drawn order."""
        data = self.data
        settings, deviation, constant = data.settings, data.weights_as.scale, data.constant()
        factor = 1.0
        if settings.oaa is not None:  # as if classes were numbers; a class differs less from the others together
            settings = replace(settings, oaa=None, classes="", loss="squared", link="identity")
            constant, of_numbers = self.data.summary.moments()
            factor = 0.3 / (of_numbers or 1.0)
        examples = DrawnExamples.of(data.summary, self._batches)
        maker = LearnerMaker(settings, self.data.weights_as)
        found = {}
        names = self.space.normalizations.meant
        empty = [JudgedLearner(maker.with_settings(normalize=name).empty(constant)) for name in names]
        learn_all(empty, first_lines(examples.batches(), DECIDING), pool)
        for name, learner in zip(names, empty, strict=True):
            grid = grid_of(name, learner.learner, deviation)
            length = deviation / grid.step if grid.step else 1.0
            found[name] = Scale(grid.largest * factor or 1.0, length, deviation, float(self.data.summary.examples))
        return found

    def _fit(self) -> int:
        """How many settings are tried at the same time: as many as memory has room for."""
        classes = max(self.data.width, 1)
        one = FEATURE * self.data.summary.features * classes * (self.auto.race.folds + 1)
        room = available_memory()
        return self.jobs if room is None else max(min(self.jobs, room // max(one, 1)), 1)

    # --- one setting -------------------------------------------------------------------------

    def _judge(self, setting: Setting, rung: Rung) -> Judged | None:
        """The loss of a setting, after its best number of passes. None if it diverges."""
        # Batches may have what auto only tries, zeros of numbers and n-grams: other settings do not learn these.
        settings = replace(self._resolved(setting), derived=self.data.settings.derived)
        weights = self.options.typed.get("feature_weights")
        folds = [*rung.folds, *([None] if rung.is_last and self.data.validation is None else [])]  # None: all examples
        names = () if self.auto.learner.class_names is None else self._class_names()
        learners = [new_learner(settings, weights, class_names=names) for _ in folds]
        best: Judged | None = None
        for number in range(1, rung.passes[-1] + 1):
            for fold, learner in zip(folds, learners, strict=True):
                if number > 1:
                    learner.rule.pass_decay *= settings.decay_learning_rate
                learner.begin_pass()
                if not self._learn(learner, fold, rung):
                    return best
            if number not in rung.passes:
                continue
            loss = weight = 0.0
            for fold, learner in zip(rung.folds, learners, strict=False):
                tally = self._tally(learner, settings, fold, rung)
                if tally is None:
                    return best
                if tally.weight:  # a fold may have no example
                    loss, weight = loss + loss_of(tally) * tally.weight, weight + tally.weight
            if not weight:
                return best
            counted = learners[len(rung.folds) :] or learners
            nonzeros = round(sum(map(_nonzeros, counted)) / len(counted))
            judged = Judged(loss / weight, nonzeros, number)
            if not math.isfinite(judged.loss):
                return best
            if best is not None and not judged.loss < best.loss * (1 - LEAST_GAIN):
                return best
            best = judged
        return best

    def _class_names(self) -> list[str]:
        names = self.auto.learner.class_names
        return names.first(len(names)) if self.data.settings.classes == "auto" else []

    def _learn(self, learner: Learner, fold: int | None, rung: Rung) -> bool:
        """One pass over the examples that are not in the fold; whether that was possible."""
        everything = fold is None or self.data.validation is not None
        return all(_ran(learner, *part) for part in self._parts(rung, lambda folds: everything | (folds != fold)))

    def _tally(self, learner: Learner, settings: Any, fold: int, rung: Rung) -> Tally | None:
        """The predictions of the examples of the fold."""
        if settings.average or settings.round_at_end or settings.nonzeros:  # the model has other weights
            learner.rule.final = True
            model = snapshot(learner, settings, {})
            learner.rule.final = False
            judge = restore(model, settings, "", learn=False)
        else:
            judge = Learner(
                learner.rule, make_loss(settings), make_expander(settings), learn=False, class_names=learner.class_names
            )
            judge.min_label, judge.max_label = learner.min_label, learner.max_label
        parts: Iterable[tuple[Batch, int, int]] = ((batch, 0, len(batch)) for batch in self.data.validation_batches)
        if self.data.validation is None:
            parts = self._parts(rung, lambda folds: folds == fold)
        return judge.progressive if all(_ran(judge, *part) for part in parts) else None

    # --- the end -----------------------------------------------------------------------------

    def finish_tuning(self) -> TunedModel | None:
        """Print the front; the best model, or None."""
        self.live.clear()
        front = front_of(self.models, lambda m: (m.judged.nonzeros, m.judged.loss))
        if not front:
            if not self.stopped:
                raise DataError("no setting could be learned: each of them diverges")
            return None
        best, kept = front[-1], self.baseline_loss - front[-1].judged.loss
        small = next(m for m in front if m.judged.loss <= best.judged.loss + (1 - SHARE) * max(kept, 0))
        name = called(self.data.settings.loss)
        rows = []
        for m in front:
            rows.append({
                "loss": m.judged.loss, "nonzero_weights": m.judged.nonzeros,
                "gain": (self.baseline_loss - m.judged.loss) / kept if kept > 0 else None, "best": m is best,
                "smallest": m is small, "command": joined(["vwlite", *self.command(m)]),
            })
        if self.typed.json:
            kind = "out-of-fold" if self.data.validation is None else "validation"
            about = {"loss_is": f"{kind} {name}", "baseline": self.baseline_loss, "settings": self.tried}
            print(json_text(with_schema({**about, "front": rows}), indent=2))
        else:
            print(f"{name:<10}  nonzero weights    gain")
            for row, m in zip(rows, front, strict=True):
                marks = ", ".join(mark for mark in ("best", "smallest") if row[mark])
                gain = "n.a." if row["gain"] is None else f"{100 * row['gain']:.1f} %"
                print(f"{m.judged.loss:<10.6g}  {m.judged.nonzeros:>15,}  {gain:>7}  {marks}".rstrip())
                print(plain(folded(["vwlite", *self.command(m)])))
        return best


POWERS = (1, 2, 4, 8, 16, 32)
GOLDEN = 0.6180339887498949
VERSION = 2  # of the search: results of another one are not continued


def _ran(learner: Learner, batch: Batch, begin: int, end: int) -> bool:
    """Send lines through a learner; whether that was possible. MemoryError."""
    learner.run(batch, begin, end)
    if learner.reason == Reason.NO_MEMORY:
        raise MemoryError(table_needs())
    return bool(learner.reason == Reason.DONE)


def _nonzeros(learner: Learner) -> int:
    """The nonzero weights that its model would have."""
    learner.rule.final = True
    found = learner.rule.count_nonzero()
    learner.rule.final = False
    return int(found)


def survivors(found: Sequence[tuple[Judged, Point]], baseline: float, most: int) -> list[Point]:
    """The best points: half of them by their loss, the others by the fronts of loss and nonzero weights, one after the
    other, of those that keep most of the best's gain."""
    by_loss = sorted(range(len(found)), key=lambda k: (found[k][0].loss, k))
    chosen = by_loss[: (most + 1) // 2]
    if not by_loss:
        return []
    best = found[by_loss[0]][0].loss
    worst = best + (1 - FRONT) * abs(baseline - best)
    rest = [k for k in sorted(by_loss, key=lambda k: (found[k][0].nonzeros, found[k][0].loss, k))
            if found[k][0].loss <= worst]
    while rest and len(chosen) < most:
        layer: list[int] = []
        for k in rest:
            if not layer or found[k][0].loss < found[layer[-1]][0].loss:
                layer.append(k)
        rest = [k for k in rest if k not in layer]
        new = [k for k in layer if k not in chosen]
        places = min(most - len(chosen), len(new))
        chosen += [new[k * len(new) // places] for k in range(places)]  # evenly, from the smallest on
    return [found[k][1] for k in chosen]


def folded(words: Sequence[str], width: int = 80) -> str:
    """A command over lines that a shell joins."""
    lines = [""]
    for word in map(quoted, words):
        if lines[-1] and len(lines[-1]) + len(word) + 6 > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return " \\\n".join(f"{'    ' if k else '  '}{line}" for k, line in enumerate(lines))
