"""A run of `vwlite dask train`: rounds, each of which learns all shards from one start and merges what they learned.

The sums of a merge have a fixed order of the shards, and shards do not depend on the workers: so the bytes of the
model do not, either, whichever worker ran a task, and however often.
"""

import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import AUTO, algorithm_of
from vwlite.dask import ranges
from vwlite.dask.child import HELD, MODEL, WEIGHTS
from vwlite.dask.cluster import Cluster, Interrupted
from vwlite.dask.commands import DaskTrainOptions
from vwlite.dask.default import DefaultRounds
from vwlite.dask.exact import ExactRounds, settings_of
from vwlite.dask.parts import FilePart, content, listed
from vwlite.dask.rounds import DaskRounds, digest
from vwlite.dask.state import remove_state
from vwlite.dask.tables import with_roles
from vwlite.dask.work import (
    Question,
    ShardJob,
    ShardResult,
    evaluate,
    joined_scores,
    learn,
    model_of,
    own_folder,
    same,
)
from vwlite.errors import DataError, NoInputError, UsageError
from vwlite.merging.holdout import Candidate, HoldoutScores, VectorOf
from vwlite.merging.merge import FEW
from vwlite.merging.merged import Merge, MergeRequest
from vwlite.merging.shards import ShardModel, checked_shards
from vwlite.model import Model, read_model
from vwlite.model.file import to_bytes
from vwlite.model.read import map_model
from vwlite.model.slots import array_of
from vwlite.output.atomic import AtomicFile
from vwlite.output.progress import LiveLine, format_number
from vwlite.output.results import Result, summary, values
from vwlite.runs.counted import FEWEST
from vwlite.runs.frame import RunFrame
from vwlite.runs.options import InputOptions, TrainOptions
from vwlite.runs.resolve import resolve
from vwlite.runs.run import say
from vwlite.training.train import trained

# More shards or larger models than these are merged on the workers, in ranges of this many keys of all shards.
MANY_SHARDS, MANY_KEYS, RANGE_KEYS, MOST_RANGES = 100, 1_000_000, 8_000_000, 64

MOST_SCORED = 200_000  # held-out lines of all shards

HEAD = "round  shards       examples     rows/s  holdout loss  rule           seconds"


def train(o: DaskTrainOptions) -> int:
    """Run `vwlite dask train`; the exit code."""
    o.check()
    assert o.model is not None
    start = read_model(o.initial, uncalibrated=True) if o.initial else None
    settings = settings_of(o, start) if o.exact else _settings(o.typed, start, o.initial, o.given)
    is_default = settings.algorithm == AUTO.name
    with RunFrame("dask train", o) as frame:
        of_model = frame.enter_context(ExitStack())
        file = of_model.enter_context(AtomicFile(o.model))
        listing = listed(o.data, o.block_size)
        job = with_roles(_job(o, is_default=is_default), o, listing.parts, start.columns if start else {})
        cluster = Cluster(o.scheduler, o.retries)
        kind = ExactRounds if o.exact else DefaultRounds if is_default else MergedRounds
        run = kind(o, listing, job, cluster, file)
        frame.stop_with(run.stop)
        run.prepare(settings, start)
        try:
            frame.enter_context(cluster)
            run.all()
        except Interrupted:
            return frame.code(run.kept())
        if run.files:
            of_model.close()
            data = local_copies(run.files, Path(frame.enter_context(own_folder())))
            frame.options = o.of_shards(TrainOptions, data=data, quiet=o.quiet, holdout_period=None)
            learning, trainer = trained(frame.options, frame)
            learning.finish(frame, trainer)
            return frame.code(learning.kept(trainer))
        results, notes = run.results(), run.notes()
        frame.show(summary(results), notes)
        names = (
            "data", "scheduler", "rounds", "holdout_period", "block_size", "exact", "tolerance", "rule", "state",
            "retries", "initial", "model",
        )
        frame.report(
            options=frame.reported_options(settings, *names),
            results=values(results),
            rounds=run.done,
            shards=[part.name for part in listing.parts],
            notes=notes,
        )
    return 0


def _settings(typed: dict[str, Any], start: Model | None, path: str | None, given: Collection[str]) -> Settings:
    """Those of the default, or of a run of merges. UsageError for what cannot be learned or merged."""
    base = start.settings if start else None
    counted = {"oaa": FEWEST} if typed.get("classes") == "auto" and base is None else {}  # classes of the sample
    settings = resolve(counted | typed, base, path, given=given).settings
    if settings.algorithm != AUTO.name:
        settings = resolve(typed, base, path, given=given).settings
    if settings.normalize == "center":
        raise UsageError("--normalize center needs the means of all data: use vwlite train, or --normalize l2 or log")
    of_merges = ("rule", "state")
    unused = of_merges if settings.algorithm == AUTO.name else ("validate", "group", "derive", "pairs")
    for name in unused:
        if name in given:
            needs = "an algorithm whose models are merged: add --algorithm" if unused is of_merges else "the default"
            raise UsageError(f"--{name} needs {needs}")
    if settings.algorithm == AUTO.name:
        return settings
    settings.outputs.check_one("vwlite dask train")
    settings.outputs.transform.refuse("vwlite dask train")
    if refusal := algorithm_of(settings.algorithm).merging.refusal:
        raise UsageError(f"models of {settings.algorithm} cannot be merged: {refusal}")
    return settings


def _job(o: DaskTrainOptions, *, is_default: bool) -> ShardJob:
    if o.exact:
        return ShardJob(o.of_shards(InputOptions))
    if is_default:
        return ShardJob(o.of_shards(TrainOptions, model=None, holdout_period=None, given=o.given & {"group"}))
    path = o.typed.get("feature_weights")
    typed = o.typed | ({"feature_weights": WEIGHTS} if path else {})
    files = {"model": MODEL, "holdout_to": HELD, "initial": None}
    options = o.of_shards(TrainOptions, typed=typed, **files, allow_empty=True, given=frozenset({"holdout_to"}))
    return ShardJob(options, content_of(path) if path else b"")


def local_copies(urls: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Files of this machine as they are, and copies of others."""
    found = []
    for number, url in enumerate(urls):
        part = FilePart(url)
        if not part.is_local:
            path = folder / str(number) / url.rpartition("/")[2]
            path.parent.mkdir()
            path.write_bytes(b"".join(content(part)))
        found.append(url if part.is_local else str(path))
    return tuple(found)


def _by_ranges(s: Settings) -> bool:
    """Whether the merge of such models is a sum, and that of a feature independent of others."""
    return not (algorithm_of(s.algorithm).sums_up or s.average or s.nonzeros)


def content_of(path: str) -> bytes:
    """The content of a file. NoInputError."""
    try:
        return Path(path).read_bytes()
    except OSError as e:
        raise NoInputError(f"{path}: {e.strerror}") from e


@dataclass
class RoundProgress:
    """Prints the progress of a round."""

    quiet: bool
    total: int
    live: LiveLine = field(default_factory=LiveLine)
    started_at: float = field(default_factory=time.monotonic)
    shards: int = 0
    lines: int = 0
    titled: bool = False

    LINES_EVERY = 30  # seconds, without a terminal

    def start(self, round_number: int) -> None:
        self.started_at = self.said = time.monotonic()
        self.round_number, self.shards, self.lines = round_number, 0, 0

    def one(self, lines: int) -> None:
        """Another shard is done."""
        self.shards += 1
        self.lines += lines
        if self.quiet:
            return
        self.live.show(lambda seconds: self._text())
        if not self.live.active and time.monotonic() - self.said > self.LINES_EVERY:
            self.said = time.monotonic()
            say(self._text())

    def _text(self) -> str:
        return f"round {self.round_number}: {self.shards} of {self.total} shards, {self.rate():,.0f} rows/s"

    def rate(self) -> float:
        """Lines a second."""
        return self.lines / max(time.monotonic() - self.started_at, 1e-9)

    def row(self, done: dict[str, Any]) -> None:
        """A row of the table: a round is done."""
        self.live.clear()
        if self.quiet:
            return
        if not self.titled:
            say(HEAD)
            self.titled = True
        loss = format_number(done["holdout_loss"])
        say(f"{done['round']:>5} {done['shards']:>7} {done['examples']:>14} {done['rows_a_second']:>10.0f} {loss:>13}  "
            f"{done['rule']:<11} {done['seconds']:>10.3f}")


class MergedRounds(DaskRounds):
    """The rounds of a run of merges."""

    model: Model

    def prepare(self, settings: Settings, start: Model | None) -> None:
        """From a model, or from nothing; with --resume, from the last round."""
        o = self.options
        self.by_ranges = _by_ranges(settings) and not o.names and not (start and len(start.names))  # merged so
        self.rounds = o.rounds or 1
        self.start = content_of(o.initial) if o.initial else b""
        self.without: list[str] = []  # shards without a line
        self.progress = RoundProgress(o.quiet, len(self.parts))
        self.identity |= {
            "--holdout-period": o.holdout_period,
            "--initial": digest(self.start) if self.start else "",
            "--feature-weights": digest(self.job.weights),
        }
        if (state := self.last_state()) is None:
            return
        if len(state.rounds) >= self.rounds:
            raise UsageError(f"--rounds {self.rounds}: {len(state.rounds)} are complete already: use a larger number")
        self.start = state.model
        self.go_on(state)

    def all(self) -> None:
        """Do the rounds that are to be done."""
        while len(self.done) < self.rounds:
            with tempfile.TemporaryDirectory(prefix="vwlite-", ignore_cleanup_errors=True) as folder:
                last = len(self.done) + 1 == self.rounds
                round = Round(self, Path(folder), self.options.state if last else "mean")
                self.model = round.merged()
                self.done.append(round.row())
                self.start = to_bytes(self.model, self.path)
                if not last:
                    self.keep(self.start)
                self.put(self.start)
            self.progress.row(self.done[-1])
        remove_state(self.path)

    def results(self) -> list[Result]:
        last = self.done[-1]
        own = {"start": "the start as it is", "shard": f"that of {last.get('shard')} alone"}
        rule = own.get(last["rule"], last["rule"])
        return [
            Result("rounds", len(self.done)), Result("shards", last["shards"]), Result("rule", rule),
            Result("holdout_examples", last["holdout_examples"]), Result("holdout_loss", last["holdout_loss"]),
            Result("number_of_examples", last["examples"]), Result("nonzero_weights", last["nonzero_weights"]),
            Result("features", last["features"]),
            Result("seconds", round(sum(x["seconds"] for x in self.done), 3)),
        ]

    def notes(self) -> list[str]:
        found = []
        without = [*self.listing.empty, *self.without]
        if without:
            more = f" and {len(without) - 3} more" if len(without) > 3 else ""
            found.append(f"empty shards are left out: {', '.join(without[:3])}{more}")
        held = self.done[-1]["holdout_examples"]
        if held < FEW:
            found.append(f"only {held} lines are held out, so the choice is partly random: {FEW} or more are better")
        return found


class Round:
    """One round: every shard from one start, then the merge."""

    merge: Merge

    def __init__(self, run: MergedRounds, folder: Path, state: str) -> None:
        self.run, self.folder, self.state = run, folder, state
        self.cluster, self.parts, self.job = run.cluster, run.parts, run.job
        self.round_number = len(run.done) + 1
        self.started_at = time.monotonic()
        self.start = self.cluster.put(same, run.start)
        self.learned: list[Any] = [None] * len(self.parts)

    def learn(self, i: int, avoid: str | None) -> Any:
        """Start to learn a shard; the future of its `Facts`. The model stays on the worker: `learned` has a future."""
        self.learned[i] = self.cluster.put(learn, self.parts[i], self.start, self.job, avoid=avoid)
        return self.cluster.put(ranges.facts_of, self.learned[i])

    def named(self, i: int) -> str:
        return self.parts[i].name

    def merged(self) -> Model:
        progress = self.run.progress
        progress.start(self.round_number)
        found: list[ranges.Facts] = self.cluster.each(
            len(self.parts), self.learn, self.named, lambda i, x: progress.one(x.lines)
        )
        self.rate = progress.rate()
        self.run.without = [part.name for part, x in zip(self.parts, found, strict=True) if not x.lines]
        self.used = [i for i, x in enumerate(found) if x.lines]
        if not self.used:
            raise DataError("all shards are empty: nothing to learn from")
        o = self.run.options
        request = MergeRequest(o.rule, self.state, o.typed.get("loss"), has_holdout=True)
        keys = [x.keys for x in found]
        if self.run.by_ranges and (len(self.used) > MANY_SHARDS or max(keys) > MANY_KEYS):
            return self._merged_by_ranges(request, min(max(2, -(-sum(keys) // RANGE_KEYS)), MOST_RANGES))
        return self._merged_here(request)

    def _merged_here(self, request: MergeRequest) -> Model:
        """The merge of all models."""

        def get(j: int, avoid: str | None) -> Any:
            return self.cluster.put(model_of, self.learned[self.used[j]], avoid=avoid)

        found: list[ShardResult] = self.cluster.each(len(self.used), get, self.named_used)
        shards = []
        for i, learned in zip(self.used, found, strict=True):
            path = self.folder / f"shard{i}"
            path.write_bytes(learned.model)
            shards.append(ShardModel(self.parts[i].name, map_model(str(path))))
        del found
        checked = checked_shards(shards, [], ranges.written(self.folder, self.run.start), request.loss)
        merge = self.merge = Merge(request, checked)
        merge.scores = Spread(self, merge).scores
        merge.add_up()
        merge.choose()
        merge.finish()
        self.nonzeros = merge.nonzeros
        return merge.with_absent_cells()

    def _merged_by_ranges(self, request: MergeRequest, count: int) -> Model:
        """The merge by ranges of features: no machine has all models at a time."""
        put, names = self.cluster.put, [self.parts[i].name for i in self.used]
        spans = [ranges.Range(number, count, request) for number in range(1, count + 1)]
        cuts = [put(ranges.pieces, self.learned[i], spans) for i in self.used]
        sums = []
        for r in spans:
            mine = [put(ranges.piece, found, r.number) for found in cuts]
            sums.append(put(ranges.add_up, mine, names, self.start, r))

        def named(p: int) -> str:
            return f"range {p + 1} of {count}"

        heads: list[dict[str, Model]] = self.cluster.each(count, lambda p, avoid: put(ranges.heads_of, sums[p]), named)
        merge = self.merge = ranges.merge_of(heads[0], ranges.written(self.folder, self.run.start), spans[0])
        merge.scores = SpreadRanges(self, merge, spans, sums).scores
        merge.choose()
        found: list[tuple[Model, int]] = self.cluster.each(
            count, lambda p, avoid: put(ranges.finished, sums[p], self.start, spans[p], merge.choice.chosen), named
        )
        self.nonzeros = sum(nonzeros for _, nonzeros in found)
        merge.model = ranges.joined([model for model, _ in found])
        return merge.with_absent_cells()

    def named_used(self, j: int) -> str:
        return self.named(self.used[j])

    def row(self) -> dict[str, Any]:
        """What the report says of the round."""
        merge, choice = self.merge, self.merge.choice
        c = choice.chosen
        own = {merge.shards.each[x.shard].path: shown(x.loss) for x in choice.candidates if x.way == "shard"}
        return {
            "round": self.round_number,
            "shards": len(self.used),
            "examples": merge.model.counters["examples"],
            "rows_a_second": round(self.rate, 1),
            "holdout_loss": shown(c.loss),
            "holdout_examples": choice.held,
            "rule": c.way,
            **({"shard": merge.shards.each[c.shard].path} if c.way == "shard" else {}),
            "nonzero_weights": self.nonzeros,
            "features": len(merge.model.keys),
            "candidates": [{"rule": x.way, "loss": shown(x.loss)} for x in choice.candidates if x.way != "shard"],
            "holdout_losses_of_shards": own,
            "seconds": round(time.monotonic() - self.started_at, 3),
        }


def shown(loss: float) -> float | None:
    return loss if loss < inf else None


class Spread:
    """The held-out lines, which stay on the workers: these send scores."""

    def __init__(self, round: Round, merge: Merge) -> None:
        self._round, self._merge = round, merge
        self._keys: bytes | None = None

    @property
    def keys(self) -> Any:
        """The keys of all features in these lines: weights of others are not sent."""
        if self._keys is None:
            round, sent = self._round, self._round.cluster.put(same, self._question(()))

            def ask(j: int, avoid: str | None) -> Any:
                i = round.used[j]
                return round.cluster.put(ranges.keys_of, round.learned[i], round.parts[i], round.job, sent, avoid=avoid)

            found = round.cluster.each(len(round.used), ask, round.named_used)
            each = [np.frombuffer(keys, dtype=np.uint32) for keys in found]
            self._keys = np.unique(np.concatenate(each)).tobytes()
        return array_of(self._keys, "I")

    def _question(self, candidates: tuple[Candidate, ...]) -> Question:
        shards, settings = self._merge.shards, self._merge.settings
        columns, most = tuple(shards.columns.items()), max(MOST_SCORED // len(self._round.used), 1)
        return Question(settings, tuple(shards.classes), candidates, {}, columns, most)

    def scores(self, candidates: list[Candidate], vector_of: VectorOf) -> HoldoutScores:
        round, question = self._round, self._question(tuple(candidates))
        ask = self._asking(question, vector_of)

        def again(j: int, avoid: str | None) -> Any:
            if avoid is not None:  # perhaps the lines are lost
                round.learn(round.used[j], avoid)
            return ask(round.used[j], avoid)

        answers: list[HoldoutScores | None] = round.cluster.each(len(round.used), again, round.named_used)
        found = [answer for answer in answers if answer is not None and len(answer.labels)]
        if not found:
            period = round.run.options.holdout_period
            raise DataError(f"none of the lines that are held out, every {period}th of each shard, has a label: try a "
                            "smaller --holdout-period")
        return joined_scores(found)

    def _asking(self, question: Question, vector_of: VectorOf) -> Callable[[int, str | None], Any]:
        """A function that asks for the scores of a shard: returns their future."""
        round, put = self._round, self._round.cluster.put
        keys = self.keys.tobytes()
        question.vectors.update({c: ranges.selected(vector_of(c), keys) for c in question.candidates})
        sent = put(same, question)
        return lambda i, avoid: put(evaluate, round.learned[i], round.parts[i], round.job, sent, avoid=avoid)


class SpreadRanges(Spread):
    """The held-out lines of a merge by ranges, whose vectors are on the workers, too."""

    def __init__(self, round: Round, merge: Merge, spans: list[ranges.Range], sums: list[Any]) -> None:
        super().__init__(round, merge)
        self._ranges, self._sums = spans, sums

    def _asking(self, question: Question, vector_of: VectorOf) -> Callable[[int, str | None], Any]:
        round, put = self._round, self._round.cluster.put
        sent = put(same, question)
        pairs = zip(self._ranges, self._sums, strict=True)
        found = [put(ranges.vectors, sums, round.start, r, sent) for r, sums in pairs]

        def ask(i: int, avoid: str | None) -> Any:
            what = round.learned[i], round.parts[i], round.job, sent
            keys = put(ranges.keys_of, *what)
            each = [put(ranges.all_selected, vectors, keys) for vectors in found]
            return put(ranges.judge_ranges, *what, each, avoid=avoid)

        return ask
