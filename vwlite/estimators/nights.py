"""`partial_fit` of a fitted model of algorithm="auto": a run of `vwlite train -i`, with the rows that `fit` kept."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from typing import Any

from vwlite.algorithms.table import AUTO
from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Learner
from vwlite.core.tables.arrow import Frame
from vwlite.core.text.feature_names import NameFinder
from vwlite.errors import UsageError
from vwlite.estimators.sources import NAME, BatchSource, RowsAnew, RowSource, batches_of, name_classes
from vwlite.input.cache import NameOfLog
from vwlite.input.parsing import Parsed
from vwlite.model.file import Model
from vwlite.model.kept_rows import KeptRows, RowFacts, in_memory
from vwlite.model.learners import make_finder, restore
from vwlite.runs.notes import Notes
from vwlite.runs.plan import NO_FILES
from vwlite.runs.run import BadLines, feed
from vwlite.training.auto.reading import learnable
from vwlite.training.fit import FitProgress
from vwlite.training.nights.forgetting import FEWEST
from vwlite.training.nights.keeping import OF_STEPS, RowKeeping, learns_as_it_comes
from vwlite.training.nights.new_rows import NewRows, Predicting, halves
from vwlite.training.nights.source import RowSource as NightSource
from vwlite.training.nights.trainer import NightTrainer
from vwlite.training.trainer import Examples, Job, Trainer
from vwlite.training.trainers import source_of_kind


class _Source(NightSource):
    """Kept and new rows. frame: the columns."""

    frame: dict[str, Any] = {}  # noqa: RUF012

    @property
    def columns(self) -> dict[str, Any]:
        return self.frame

    @property
    def may_be_table(self) -> bool:
        return bool(self.frame)


def _source(job: Job, rows: BatchSource, columns: dict[str, Any], logs: bool) -> _Source:
    found, log = source_of_kind(_Source, job, BadLines(ExitStack(), skip=True)), list[NameOfLog]()

    def filled(end: int) -> None:
        if logs and isinstance(rows, Frame):
            log.extend(rows.take_log())

    with closing(batches_of(rows, filled=filled)) as batches:
        found.with_data((batch for batch, _ in batches), log)
    found.frame = columns
    return found


def kept_after_fit(trainer: Trainer, bound: int) -> KeptRows:
    """The newest rows of a run of `fit`. bound: in bytes. UsageError if the run cannot keep some."""
    of_run, settings = trainer.source, trainer.job.resolved.settings
    if settings.algorithm != AUTO.name:
        raise UsageError(f"keep_rows is for algorithm='auto', and not {settings.algorithm}: leave it out")
    assert isinstance(of_run, RowSource)
    source = _source(trainer.job, of_run.read_again(), of_run.columns, of_run.logs)
    source.derives = of_run.derives
    return RowKeeping(None, None, bound).in_memory(source, trainer)


def is_night(model: Model, typed: Mapping[str, Any], given: Collection[str], rows: int) -> bool:
    """Whether so many rows are enough to choose how they are learned, for a model of algorithm="auto" and parameters
    that do not ask for another one. typed: options of settings; given: all options."""
    typed = {name: x for name, x in typed.items() if name not in ("algorithm", "normalize")}
    asked = learns_as_it_comes(typed, {*given}.difference(OF_STEPS) | {"continued"}, ())
    return rows >= 2 * FEWEST and not (asked or model.weights_only or model.merged)


def packed(kept: KeptRows) -> dict[str, Any]:
    """Kept rows for a pickle."""
    return {"batches": [b"".join(batch.dump()) for batch in kept.batches()], "log": [*kept.log], "shape": kept.shape,
            "classes": [*kept.classes], "keys": [*kept.keys], "facts": kept.facts.stored()}


def unpacked(state: dict[str, Any]) -> KeptRows:
    """What `packed` gave."""
    batches = (Batch.view(data, 0, len(data)) for data in state["batches"])
    facts = RowFacts.restored(state["facts"])
    return in_memory(batches, state["log"], state["classes"], state["keys"], state["shape"], facts)


def continued(
    model: Model, make_job: Callable[[], Job], rows_of: RowsAnew, names: list[bytes], kept: KeptRows | None,
    passes: int,
) -> tuple[Model, KeptRows | None]:
    """The model after these rows, and the rows that are kept. make_job: a job that continues it. names: of new classes.
    kept: the rows that were kept. passes: of training again. DataError if nothing can be learned."""
    n = model.counters.get("examples", 0)
    keeping = RowKeeping(None, kept, kept.facts.bound if kept else 0, kept.facts.before if kept else n)
    keeping.restore(model.continued)

    def job() -> Job:
        found = make_job()
        name_classes(found.learner, names)
        return found

    o = make_job().options
    learning = keeping.job(replace(o, passes=passes), model, NO_FILES, in_place=True)
    name_classes(learning.learner, names)
    if kept is not None:
        columns, logs = kept.facts.columns, bool(kept.facts.columns)
        rows = rows_of(True, derives=bool(kept.shape["derives"]), logs=logs, columns=columns)
        source = _source(learning, rows, columns, logs)
        source.derives = bool(kept.shape["derives"])
    else:
        source = _source(learning, rows_of(True), model.columns, logs=False)
    progress = FitProgress(o)
    new = _Rows(rows_of, model.columns)
    of_run = learning._replace(options=o, before=model.counters)
    trainer = NightTrainer(of_run, learning, job, source, new, progress, keeping, model)
    progress.begin(trainer)
    trainer.run()
    found = progress.model_of(trainer)
    keeping.record(trainer)
    rows_after = keeping.in_memory(source, trainer) if kept is not None else None
    return replace(found, continued=keeping.stored()), rows_after


class _Predicting:
    """A model that predicts rows in memory."""

    def __init__(self, model: Model, written: Mapping[str, Any]) -> None:
        self._settings = model.settings
        self.learner: Learner = restore(model, model.settings, NAME, learn=False, **written)
        self.learner.progressive.logistic = model.settings.loss == "logistic"

    def take(self, parsed: Parsed) -> None:
        feed(self.learner, parsed.batch, self._settings)

    def about_labels(self) -> tuple[Notes, str]:
        return ({}, []), ""

    def notes(self, labels: Notes, on_unknown: str) -> Notes:
        return labels


class _Rows(NewRows):
    def __init__(self, rows_of: RowsAnew, columns: dict[str, Any]) -> None:
        self._rows_of, self._columns = rows_of, columns

    def predicting(self, model: Model, written: Mapping[str, Any]) -> Predicting:
        return _Predicting(model, written)

    def parsed(self, by: Predicting, stop: Callable[[], bool]) -> Iterator[Parsed]:
        rows = self._rows_of(False)
        with closing(batches_of(rows)) as batches:
            for batch, row in batches:
                yield Parsed(batch, [], row, rows.rows)

    def source(self, job: Job, most: int | None = None) -> Examples:
        store = job.known.features
        finder = make_finder(job.resolved.settings, store) if store is not None else None
        found = _Begin(self._columns, lambda *how: self._rows_of(True), finder)
        found.most = most
        return found


class _Begin(RowSource):
    """The first rows that can be learned, or all of them."""

    most: int | None = None
    _left = 0

    @contextmanager
    def batches(self, stop: Callable[[], bool]) -> Iterator[Iterator[Parsed]]:
        self._left = self.most or 0
        with super().batches(stop) as found:
            yield found

    def _parsed(self, rows: BatchSource, batch: Batch, end: int, finder: NameFinder | None) -> Parsed:
        if self.most is None:
            return super()._parsed(rows, batch, end, finder)
        first, others = next(halves([batch], self._left))
        self._left -= int(learnable(first).sum())
        return super()._parsed(rows, first, end - len(others), finder)
