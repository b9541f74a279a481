"""A fitted model in memory: learn from the batches of a matrix, continue, predict, save.

A run is that of `vwlite train`, with a matrix in place of files: the same passes, holdout, averages and results.
"""

import io
import os
import threading
import warnings
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vwlite.algorithms.memory import TOO_LONG
from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import AUTO
from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Reason
from vwlite.core.learn.scorer import Scorer
from vwlite.core.tables.matrix import column_hashes
from vwlite.core.text.feature_names import NameStore
from vwlite.errors import DataError, UsageError
from vwlite.estimators.errors import SOURCE, as_python
from vwlite.estimators.sources import NAME, BatchSource, RowsAnew, RowsOf, RowSource, batches_of, name_classes, names_in
from vwlite.input.diagnostics import not_finite
from vwlite.input.schema import OPTIONAL
from vwlite.model.absent import absent_cells, applied_schema
from vwlite.model.feature_names import FeatureNames
from vwlite.model.file import Model, inconsistency, read_own, to_bytes, write_model
from vwlite.model.learners import make_finder, restore
from vwlite.model.read import read_model
from vwlite.output.atomic import AtomicFile
from vwlite.output.results import Result
from vwlite.runs.options import TrainOptions
from vwlite.training.fit import FitProgress, settled
from vwlite.training.trainer import PassTrainer, Trainer, prepared
from vwlite.training.trainers import check_options, trainer_of

if TYPE_CHECKING:
    from vwlite.model.kept_rows import KeptRows

ONE_PASS: dict[str, Any] = {"passes": 1, "holdout_period": None, "early_terminate": None}  # options of each `update`
GROUPS = "groups"  # the parameter of `fit`
MIN_JOURNAL = 1 << 16  # features between checkpoints of the state
Array = Any  # of NumPy


@dataclass
class Report:
    """The results of a run, and its number of passes."""

    results: list[Result]
    passes: int


def learn(
    rows_of: Callable[[Settings], RowsOf], o: TrainOptions, names: list[bytes], columns: dict[str, Any],
    groups: Sequence[bytes] | None = None,
) -> tuple["FittedState", Report]:
    """Learn from a matrix, from the start.

    rows_of: makes the rows, for these settings. names: of the classes found in the data. columns: of a frame, as a
    model stores them. groups: the group of each row, which shares a fold with the others of its group.
    """
    if groups is not None:
        o = replace(o, group=GROUPS)
    replace(o, names=None).check()  # names are not written to a file here
    model = read_model(o.initial, uncalibrated=True) if o.initial else None
    job = prepared(o, model, in_place=False)
    settings, store = job.resolved.settings, job.known.features
    if groups is not None and settings.algorithm != AUTO.name:
        raise UsageError(f"{GROUPS} is for folds of algorithm='auto', and not {settings.algorithm}: leave it out; "
                         "GroupKFold of scikit-learn makes test sets of new groups")
    check_options(job)
    if not columns and "derive" in o.given and o.derive != "none":
        raise UsageError("--derive is for columns of frames, and X is a matrix: pass a frame, such as a DataFrame of "
                         "pandas, or leave it out")
    if model is not None and _features(model.columns, columns) != _features(columns, model.columns):
        raise DataError(f"X does not have the columns of {o.initial}")
    name_classes(job.learner, names)
    finder = make_finder(settings, store) if store is not None else None
    progress = FitProgress(o)
    trainer = trainer_of(job, RowSource(columns, rows_of(settings), finder, groups), progress)
    progress.begin(trainer)
    trainer.run()
    found = FittedState(progress.model_of(trainer))
    if o.keep_rows:
        from vwlite.estimators.nights import kept_after_fit  # not at the top: few fits keep rows

        if groups is not None:
            raise UsageError(f"keep_rows cannot be used with {GROUPS}: leave one of them out")
        found.rows = kept_after_fit(trainer, o.keep_rows)
    return found, Report(trainer.results(), trainer.pass_number)


def _features(columns: dict[str, Any], others: dict[str, Any]) -> list[tuple[str, str]]:
    """The columns that make features, each with its role; that of others, if it had no value so far."""
    roles = dict(others.get("roles", []))
    found = ((name, roles.get(name, role) if role == "auto" else role) for name, role in columns.get("roles", []))
    return sorted(pair for pair in found if pair[1] not in OPTIONAL)


class Fitted(ABC):
    """What an estimator has learned."""

    rows: "KeptRows | None" = None  # that `fit` kept, and later calls
    pickles_rows = False
    _kept: Any  # the state to restore after an interruption: one attribute, so a fork never copies half of a change
    _run: Any  # a run that has learned all of it

    def __init__(self) -> None:
        self._names: NameStore | None = None  # names of features found so far
        self._scorer: Scorer | None = None
        self.lock = threading.Lock()  # held by a thread that predicts or learns
        _ALL.add(self)

    def forked(self) -> None:
        """In the child of a fork: discard the unfinished changes of another thread."""
        if self.lock.locked():
            self.lock, self._run, self._scorer, self._names = threading.Lock(), None, None, None

    @property
    @abstractmethod
    def settings(self) -> Settings:
        """The current settings of the model, for reading rows."""

    @abstractmethod
    def _update(
        self, rows: BatchSource, o: TrainOptions, names: list[bytes], reader: RowsAnew | None
    ) -> None: ...

    @abstractmethod
    def _settled(self) -> Model:
        """The current model. The caller must hold the lock."""

    def update(
        self, rows: BatchSource, o: TrainOptions, names: list[bytes], reader: RowsAnew | None
    ) -> None:
        """Learn from more rows. names: of new classes. reader: makes the rows anew, as they are
        learned or as they are predicted, for a model `of_auto` that predicts them first. After an exception the state
        is unchanged."""
        with self.lock:
            self._update(rows, o, names, reader)

    @property
    def of_auto(self) -> Model | None:
        """A model that began with algorithm="auto", in several passes: that of the last checkpoint."""
        return None

    @abstractmethod
    def take_columns(self, columns: dict[str, Any]) -> None:
        """These are the columns from now on, as a model stores them: some have roles that had no value before."""

    def model(self) -> Model:
        """The current model. ValueError if it is not valid: learning has diverged."""
        with as_python(), self.lock:
            return self._settled()

    def scorer(self) -> Scorer:
        """The scorer. The caller must hold the lock while it is used."""
        if self._scorer is None:
            model = self._settled()
            self._scorer = Scorer(restore(model, model.settings, NAME, learn=False))
        return self._scorer


_ALL: "weakref.WeakSet[Fitted]" = weakref.WeakSet()


def _forked() -> None:
    for learned in list(_ALL):
        learned.forked()


os.register_at_fork(after_in_child=_forked)


class FittedState(Fitted):
    """A model, and the rows learned since its last checkpoint. Pickled as the bytes of its file.

    Each `update` is one pass. A checkpoint of the state is made when as many features were learned as the state has.
    The batches since then are kept (the journal), so that the state before an interrupted pass can be restored.
    """

    def __init__(self, model: Model) -> None:
        super().__init__()
        # The checkpoint and the journal.
        self._kept: tuple[Model, list[tuple[list[bytes], list[tuple[Batch, Any]]]]] = model, []
        self._run: Trainer | None = None  # a run that has learned the journal too
        self._options = TrainOptions(quiet=True)  # of that run
        self._size = 0  # features of the journal

    def _update(
        self, rows: BatchSource, o: TrainOptions, names: list[bytes], reader: RowsAnew | None
    ) -> None:
        passes, known = o.passes, tuple[str, ...]()  # what the model of `fit` says
        if o.typed.get("algorithm") == AUTO.name:
            known = ("algorithm", "normalize")
        elif o.typed.get("normalize") == "center":
            known = ("normalize",)
        o = replace(o, initial=NAME, typed={name: x for name, x in o.typed.items() if name not in known}, **ONE_PASS)
        replace(o, names=None).check()
        if reader is not None:
            from vwlite.estimators import nights  # not at the top: few models are continued

            before = self._settled()
            model, rows_after = nights.continued(
                before, lambda: prepared(o, before, in_place=True), reader, names, self.rows, passes)
            self.rows = rows_after
            self._kept, self._size, self._run, self._scorer, self._names = (model, []), 0, None, None, None
            return
        run = self._run
        if run is None or run.options.typed != o.typed:
            if self._kept[1]:
                self._settled()  # with the options of its run
            run = self._resumed(o)
        self._run, self._scorer = None, None
        learned: list[tuple[Batch, Any]] = []
        name_classes(run.learner, names)
        run.learner.begin_pass()
        finder = make_finder(run.settings, run.names) if run.names is not None else None
        with closing(batches_of(rows, fresh=True)) as batches:
            for batch, row in batches:
                found = names_in(rows, batch, row, finder)
                if run.names is not None:
                    run.names.take(found)
                run.source.sample.take(batch)
                run.feed(batch)
                learned.append((batch, found))
        size = self._size + sum(len(batch.value) for batch, _ in learned)
        if size > max(MIN_JOURNAL, len(run.learner.rule)):
            model = self._after(run)
            self._kept, self._size = (model, []), 0
            return
        self._run, self._options, self._size = run, o, size
        self._kept[1].append((names, learned))

    @property
    def of_auto(self) -> Model | None:
        model = self._kept[0]
        return model if model.chosen or "nights" in model.continued else None

    def _resumed(self, o: TrainOptions) -> Trainer:
        """A run that continues from the checkpoint, after it has learned the journal."""
        model, journal = self._kept
        job = prepared(o, model, in_place=True, names=self._names)
        if self._names is None:
            self._names = store = job.known.features
            if store is not None:
                for found in (found for _, batches in journal for _, found in batches):
                    store.take(found)
        progress = FitProgress(o)
        run = PassTrainer(job, RowSource(model.columns), progress)
        progress.begin(run)
        progress.on_begin(run)
        for names, batches in journal:
            name_classes(job.learner, names)
            job.learner.begin_pass()
            for batch, _ in batches:
                run.source.sample.take(batch)
                run.feed(batch)
        return run

    def take_columns(self, columns: dict[str, Any]) -> None:
        with self.lock:
            self._kept, self._run = (replace(self._settled(), columns=columns), []), None

    @property
    def settings(self) -> Settings:
        """The current settings of the model."""
        return self._run.settings if self._run is not None else self._kept[0].settings

    def _settled(self) -> Model:
        if self._kept[1]:
            run = self._run or self._resumed(self._options)
            self._kept, self._size, self._run = (self._after(run), []), 0, None
        return self._kept[0]

    def _after(self, run: Trainer) -> Model:
        """The model of a run, which remembers whether it began with algorithm="auto"."""
        before, found = self.of_auto, settled(run)
        if before is not None:
            found = replace(found, continued={"nights": [], **before.continued})
        return found

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = {"file": to_bytes(self.model(), NAME)}
        if self.rows is not None and self.pickles_rows:
            from vwlite.estimators.nights import packed

            state["rows"] = packed(self.rows)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(from_bytes(state["file"]))  # type: ignore[misc]
        if "rows" in state:
            from vwlite.estimators.nights import unpacked

            self.rows, self.pickles_rows = unpacked(state["rows"]), True


def from_bytes(data: bytes) -> Model:
    """A model from the bytes of its file. ValueError if they are not a model."""
    with as_python():
        model = read_own(NAME, io.BytesIO(data), data)
        error = inconsistency(model)
        if error:
            raise DataError(f"{NAME}: not a valid model: {error}")
    return model


def with_columns_named(model: Model, names: Sequence[str]) -> Model:
    """A model of a matrix with the names of those columns that have nonzero weights."""
    settings = model.settings
    hashes = np.empty(len(names), dtype=np.uint32)
    column_hashes(hashes, hash_all=settings.hash == "all")
    keys = hashes & np.uint32((1 << settings.bits) - 1)
    weights = np.asarray(model.weights).reshape(-1, model.records)
    known = np.isin(keys, np.asarray(model.keys)[(weights != 0).any(axis=1)])
    found = zip(keys[known].tolist(), (name for name, has in zip(names, known, strict=True) if has), strict=True)
    pairs = ((key, name.encode("utf-8", "surrogateescape")) for key, name in found)
    return replace(model, names=FeatureNames.of([*model.names, *pairs]))


def save(model: Model, path: str, weights_only: bool = False) -> None:
    """Write a model into a file atomically."""
    with as_python():
        if weights_only and not model.weights_only:
            unseen = model.rule.get("unseen", 0.0)
            some = any(unseen) if isinstance(unseen, list) else unseen
            model = replace(model, rule={"unseen": unseen} if some else {}, state={}, more={}, weights_only=True)
        with AtomicFile(path) as file:
            file.new_version()
            write_model(file, model)
            file.commit()


# --- numbers of predictions ------------------------------------------------------------------


@dataclass
class Scores:
    """The predictions of some rows: raw scores [rows, classes or 1], predictions (a clipped number, or the number of a
    class), and the probabilities of classes, or all predictions of several quantiles."""

    raw: Array
    predicted: Array
    probabilities: Array | None


def score(learned: Fitted, rows: BatchSource, probabilities: bool = False) -> Scores:
    """Predict all rows. ValueError for a row whose prediction is not finite."""
    with learned.lock, closing(batches_of(rows)) as batches:
        return scores_of(learned.scorer(), (batch for batch, _ in batches), rows.rows, probabilities)


def scores_of(scorer: Scorer, batches: Iterable[Batch], n: int, probabilities: bool) -> Scores:
    """Predict batches with at most n examples in total."""
    k = scorer.width
    found = Scores(np.zeros((n, k)), np.zeros(n), np.zeros((n, k)) if probabilities else None)
    scorer.into(found.raw, found.predicted, found.probabilities)
    try:
        for batch in batches:
            at = scorer.run(batch)
            if scorer.reason == Reason.NO_MEMORY:
                raise MemoryError("no memory for a prediction")
            if scorer.reason != Reason.DONE:
                where = f"{'row' if batch.source == SOURCE else batch.source} {batch.first_line + at}"
                why = TOO_LONG if scorer.reason == Reason.TOO_LONG else not_finite(scorer.prediction)
                raise ValueError(f"{where}: {why}")
    finally:
        scorer.release()
    return found


def warn_of_absent(learned: Fitted, found: Sequence[tuple[int, int]], rows: int) -> None:
    """Warn the caller of the method that called this one's caller of columns whose cells are absent as none was in
    training. found: as of `Cells.take_absents`."""
    if any(map(any, found)):
        model = learned.model()
        columns = dict(zip(applied_schema(model).roles, found, strict=False))
        for note in absent_cells(model, columns, rows):
            warnings.warn(note, stacklevel=4)
