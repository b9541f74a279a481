"""Columns of times that no option names. `--algorithm auto` reads a column of words as a time if all of its cells are
times, and its words are not better on rows not learned. The options then name it, as if `--time` had been
typed, so that the model is the same."""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.errors import DataError
from vwlite.input.dates import reader_of
from vwlite.input.part import Part
from vwlite.names import namespace_of
from vwlite.runs.plan import NO_FILES, DataPlan
from vwlite.runs.run import BadLines
from vwlite.training.auto.data import Batches, DrawnExamples
from vwlite.training.auto.derive import LEAST_BETTER
from vwlite.training.auto.race import FEW_PASSES
from vwlite.training.auto.readable import ColumnNames
from vwlite.training.auto.reading import DataReader, LearningInPasses, is_large, learnable
from vwlite.training.auto.trainer import AutoTrainer
from vwlite.training.trainer import Examples, Job, Listener, prepared
from vwlite.training.trainers import checked, source_of, trainer_of

COMPARED = 8_000  # rows by which times and words are compared
MOSTLY = 0.5  # a share of the rows: with more different values, most new values are words that were never learned
NORMALIZATION = ("none",)
# Options that a comparison does not need: outputs, and what reads DATA in another way
_WITHOUT: dict[str, Any] = {
    "model": None, "predictions": None, "raw_predictions": None, "holdout_to": None, "rejects": None, "report": None,
    "cache": False, "cache_file": None, "kill_cache": False, "names": None, "checkpoint_every": None, "max_size": None,
    "sparse": None, "pairs": None, "fail_if": (), "min_examples": None, "max_errors": None,
}


def comparison(job: Job, data: DataPlan = NO_FILES) -> Job:
    """The job of a comparison, with these data: without derived features, and without outputs."""
    o = job.options
    given = o.given - {*_WITHOUT, "derive"}
    o = replace(o, **_WITHOUT, quiet=True, derive="none", on_error="skip", given=given)
    return prepared(o, None, data, in_place=False)


def drawn_rows(used: Any) -> Any:
    """A mask of COMPARED rows, drawn among more rows that can be learned. used: their mask."""
    found, rows = np.zeros(len(used), bool), np.flatnonzero(used)
    found[np.random.default_rng(0).choice(rows, COMPARED, replace=False)] = True
    return found


class FoundWords:
    """The words of columns that may be times, from the log of the parser."""

    def __init__(self, hash_all: bool) -> None:
        self._hash_all, self._names = hash_all, ColumnNames()

    def take(self, log: Iterable[tuple[int, int, int, bytes]]) -> None:
        self._names.take(log, self._hash_all)

    def times(self, formats: Mapping[str, str], missing: Collection[str]) -> dict[str, int]:
        """The columns whose words are all times, each with the number of different ones. formats: of the columns that
        may be, "": ISO 8601. missing: words that mean a missing time."""
        spaces = {name: space for space, (name, _) in self._names.columns.items()}
        words: dict[int, list[bytes]] = {}
        for (space, _), word in self._names.words.items():
            if word not in missing:
                words.setdefault(space, []).append(word.encode("utf-8", "surrogateescape"))
        found = {name: words.get(spaces.get(namespace_of(name), -1), []) for name in formats}
        return {name: len(some) for name, some in found.items() if some and all(map(reader_of(formats[name]), some))}


def chosen_times(
    different: Mapping[str, int], rows: int, judged: "Callable[[list[str]], Judged]", stop: Callable[[], bool]
) -> tuple[list[str], list[str]]:
    """The columns that are read as times, and those whose words predict better, in order. different: the number of
    different words of each. rows: that can be learned. judged: learns with some columns as times."""
    found = [name for name, n in different.items() if n > MOSTLY * rows]
    best, words = None, []
    for name in different:
        if name in found or stop():
            continue
        best = best or judged(found)
        other = judged([*found, name])
        if best.is_not_better(other):
            best = other
            found.append(name)
        elif best.loss is not None and other.loss is not None:
            words.append(name)
    return [name for name in different if name in found], words


class Dates:
    """The columns of DATA that may be times. part: of the rows of DATA. stop: whether to end early; then there are
    none."""

    def __init__(self, job: Job, stop: Callable[[], bool], part: Part | None = None) -> None:
        self._job, self._stop, self._part = job, stop, part

    def times(self) -> tuple[list[str], list[str]]:
        """As of `chosen_times`; none if DATA cannot be learned: the run says why."""
        if is_large(self._job.options.data):
            return [], []
        try:
            return self._times()
        except DataError:
            return [], []

    def _times(self) -> tuple[list[str], list[str]]:
        words = _Reading(self._with([]), self._part, self._stop)
        found = words.times()
        if not found or self._stop():
            return [], []
        sample = self._part if self._job.options.validate is not None else words.sample(self._part)

        def judged(times: list[str]) -> Judged:
            job = self._with(times)
            with ExitStack() as stack:
                return Judged(job, source_of(job, BadLines(stack, skip=True), sample))

        return chosen_times(found, words.rows, judged, self._stop)

    def _with(self, times: list[str]) -> Job:
        data = self._job.data
        assert data.roles is not None
        roles = replace(data.roles, time=(*data.roles.time, *times))
        return checked(comparison(self._job, replace(data, roles=roles, skip=True, quiet=True)))


class _Reading:
    """DATA, read once; it ends if no column may be a time. rows: that can be learned."""

    rows = 0

    def __init__(self, job: Job, part: Part | None, stop: Callable[[], bool]) -> None:
        self._lines: dict[str, list[Any]] = {}  # by source: the first line of each row, how many it has, whether used
        self._words = FoundWords(job.resolved.settings.hash == "all")
        with ExitStack() as stack:
            self._source = source = source_of(job, BadLines(stack, skip=True), part)
            source.logs = True
            for parsed in stack.enter_context(source.batches(stop)):
                if stop() or not source.dates:
                    break
                self._words.take(parsed.log)
                self._count(parsed.batch)

    def _count(self, batch: Batch) -> None:
        ends = np.zeros(len(batch), np.int64)
        for at, count in batch.breaks:
            ends[at] += count
        begins = batch.first_line + np.arange(len(batch)) + np.cumsum(ends) - ends
        used = learnable(batch)
        self._lines.setdefault(batch.source, []).append(np.stack((begins, 1 + ends, used)))
        self.rows += int(used.sum())

    def times(self) -> dict[str, int]:
        """As `FoundWords.times`."""
        return self._words.times(self._source.dates, self._source.columns.get("missing", ()))

    def sample(self, part: Part | None) -> Part | None:
        """COMPARED rows, drawn; all if there are no more. part: of which these are."""
        if self.rows <= COMPARED:
            return part
        of_sources = {source: np.concatenate(some, axis=1) for source, some in self._lines.items()}
        drawn = drawn_rows(np.concatenate([used for _, _, used in of_sources.values()]))
        found, first = {}, 0
        for source, (begins, counts, _) in of_sources.items():
            chosen = drawn[first : first + len(begins)]
            first += len(begins)
            lines = np.zeros(int(begins[-1] + counts[-1]) - 1, np.int8)
            lines[: begins[0] - 1] = 1  # before the first row: a header
            for begin, count in zip(begins[chosen].tolist(), counts[chosen].tolist(), strict=True):
                lines[begin - 1 : begin - 1 + count] = 1
            found[source] = lines.tobytes()
        return Part(found)


class Judged(LearningInPasses):
    """The loss of rows that were not learned, after FEW_PASSES, without derived features."""

    stopped = False
    loss: float | None = None  # None: it is not known

    def __init__(self, job: Job, source: Examples) -> None:
        trainer = trainer_of(job, source, Listener())
        assert isinstance(trainer, AutoTrainer)
        self._trainer, self._data = trainer, trainer.data
        DataReader(trainer.data).read_files(self)

    def learn_in_passes(self, batches: Batches) -> None:
        data = self._data
        data.scale_labels()
        if data.is_scarce or not data.summary.examples or not data.baseline:
            return
        race = self._trainer.race.new_race(data, NORMALIZATION)
        race.learn(DrawnExamples.of(data.summary, batches), FEW_PASSES)
        self.loss = race.best.best.loss if race.best is not None and race.best.best is not None else data.baseline

    def is_not_better(self, other: "Judged") -> bool:
        """Whether the mean loss is known, and not less than another one, as LEAST_BETTER has it."""
        return self.loss is not None and other.loss is not None and self.loss >= LEAST_BETTER * other.loss
