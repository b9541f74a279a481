"""`partial_fit` with algorithm="auto": the one pass of `vwlite train --algorithm auto --passes 1`, call by call."""

import sys
from array import array
from contextlib import closing
from dataclasses import replace
from typing import Any

import vwlite.runs.options
from vwlite.algorithms.settings import Settings
from vwlite.core.data.batch import Batch
from vwlite.errors import DataError, UsageError
from vwlite.estimators.learned import MIN_JOURNAL, Fitted
from vwlite.estimators.sources import BatchSource, RowsAnew, RowSource, batches_of, names_in
from vwlite.model.file import Model
from vwlite.model.header import COUNTERS
from vwlite.model.learners import make_finder
from vwlite.runs.options import TrainOptions
from vwlite.training.auto.auto_data import AutoData
from vwlite.training.auto.stream import packed, unpacked
from vwlite.training.auto.trainer import AutoTrainer
from vwlite.training.fit import settled
from vwlite.training.progress import Progress
from vwlite.training.trainer import prepared

# Pickles of 0.2.0 have a TrainOptions, and name its module as it was; this one is imported before it.
sys.modules.setdefault("vwlite.options.run_options", vwlite.runs.options)

State = dict[str, Any]
NOT_SEVERAL = "partial_fit with algorithm='auto' is for two classes: use fit, or algorithm='gd'"
NOT_DERIVED = "partial_fit learns columns as they are: use fit with --derive, or leave it out"
CHANGED = "partial_fit with algorithm='auto' continues with the parameters of its first call: use fit for other ones"


class OnePass:
    """The state of the pass so far."""

    def __init__(self, o: TrainOptions, columns: dict[str, Any]) -> None:
        if {"oaa", "classes", "softmax"} & set(o.typed):
            raise UsageError(NOT_SEVERAL)
        if "pairs" in o.given or ("derive" in o.given and o.derive != "none"):
            raise UsageError(NOT_DERIVED)
        Settings(quantile_tau=o.typed.get("quantile_tau", 0.5)).outputs.check_one("partial_fit with algorithm='auto'")
        Settings(label_transform=o.typed.get("label_transform", "none")).outputs.transform.refuse("partial_fit of auto")
        job, progress, source = prepared(o, None, in_place=False), Progress(o), RowSource(columns)
        source.may_be_table = False  # nothing is derived
        self.sample = source.sample
        self.trainer = AutoTrainer(job, AutoData(job, source, progress))
        self.data, self.names = self.trainer.data, self.trainer.names
        progress.begin(self.trainer)
        self.finder = make_finder(self.trainer.settings, self.names) if self.names is not None else None
        self.found: list[Any] = []  # the names of features, as they were found

    @property
    def size(self) -> int:
        """Features of its state."""
        if self.data.stream is None:
            return sum(len(batch.value) for batch in self.data.first_batches)
        return sum(len(c.learner.lanes) for c in self.data.stream.candidates)

    @property
    def is_empty(self) -> bool:
        return not self.data.examples

    def take(self, batch: Batch, names: Any) -> None:
        self.take_names(names)
        self.sample.take(batch)
        try:
            self.trainer.reader.take(batch, self.trainer)
        except OverflowError as e:
            raise DataError(str(e)) from None

    def take_names(self, names: Any) -> None:
        if self.names is not None and names is not None:
            self.names.take(names)
            self.found.append(names)

    def state(self) -> State:
        """All that was learned, which `load` restores."""
        data, learner = self.data, self.trainer.learner
        found: State = {"names": list(self.found)}
        if data.stream is None:
            return found | {"kept": list(map(packed, data.first_batches))}
        s, before = data.summary, self.trainer.job.before
        return found | {
            "labels": [bytes(x) for x in (s.labels, s.importances, s.initials)],
            "rows": self.sample.state(),
            "dense": self.trainer.race.grid.dense,
            "stream": data.stream.state(),
            "counters": {name: before.get(name, 0) + getattr(learner, name) for name in COUNTERS},
            "range": (learner.min_label, learner.max_label),
        }

    def load(self, state: State) -> None:
        """Restore the state of another trainer in a new one."""
        for names in state["names"]:
            self.take_names(names)
        if "stream" not in state:
            for batch in state["kept"]:
                self.take(unpacked(batch), None)
            return
        if "rows" in state:  # not of 0.2.0
            self.sample.load(state["rows"])
        self.data.summary.take_labels(*(array("d", x) for x in state["labels"]))
        self.trainer.restore(state["dense"], state["stream"], state["counters"], state["range"])

    def model(self) -> Model:
        """That of all that was learned. DataError if it is not valid."""
        return settled(self.trainer.so_far())


class FittedStream(Fitted):
    """The state of the pass after some calls, and the rows of the calls since then.

    The state is taken when as many features were learned as it has; with the rows, an interrupted call is undone.
    """

    def __init__(self, o: TrainOptions, columns: dict[str, Any], state: State | None = None) -> None:
        super().__init__()
        self._options = replace(o, passes=1, given=o.given | {"passes"})
        replace(self._options, names=None).check()
        self._columns = columns
        self._kept: tuple[State | None, list[list[tuple[Batch, Any]]]] = state, []
        self._size = 0  # features of these rows
        self._run: OnePass | None = self._resumed()
        self._settings = self._run.trainer.settings
        self._model: Model | None = None

    def forked(self) -> None:
        if self.lock.locked():
            self._model = None
        super().forked()

    @property
    def settings(self) -> Settings:
        return self._settings

    def _learner_run(self) -> OnePass:
        """The caller must hold the lock."""
        if self._run is None:
            self._run = self._resumed()
        return self._run

    def _resumed(self) -> OnePass:
        state, calls = self._kept
        run = OnePass(self._options, self._columns)
        if state is not None:
            run.load(state)
        for batches in calls:
            for batch, names in batches:
                run.take(batch, names)
        return run

    def _update(
        self, rows: BatchSource, o: TrainOptions, names: list[bytes], reader: RowsAnew | None
    ) -> None:
        if o.typed != self._options.typed:
            raise UsageError(CHANGED)
        run = self._learner_run()
        self._run, self._scorer, self._model = None, None, None
        learned: list[tuple[Batch, Any]] = []
        with closing(batches_of(rows, fresh=True)) as batches:
            for batch, row in batches:
                found = names_in(rows, batch, row, run.finder)
                run.take(batch, found)
                learned.append((batch, found))
        if run.is_empty:
            raise DataError("no example was learned: the weight of every row is 0")
        size = self._size + sum(len(batch.value) for batch, _ in learned)
        if size > max(MIN_JOURNAL, run.size):
            self._kept, self._size = (run.state(), []), 0
        else:
            self._kept[1].append(learned)
            self._size = size
        self._run = run

    def take_columns(self, columns: dict[str, Any]) -> None:
        with self.lock:
            self._columns = self._learner_run().trainer.source.columns = columns  # type: ignore[misc]

    def _settled(self) -> Model:
        if self._model is None:
            self._model = self._learner_run().model()
        return self._model

    def __getstate__(self) -> State:
        with self.lock:
            return {"options": vars(self._options), "columns": self._columns, "state": self._learner_run().state()}

    def __setstate__(self, state: State) -> None:
        options = state["options"]
        o = TrainOptions(**options) if isinstance(options, dict) else options
        self.__init__(o, state["columns"], state["state"])  # type: ignore[misc]
