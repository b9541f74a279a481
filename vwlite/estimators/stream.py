"""`partial_fit` with algorithm="auto": the one pass of `vwlite train --algorithm auto --passes 1`, call by call."""

import sys
from array import array
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

import vwlite.runs.options
from vwlite.algorithms.settings import Settings
from vwlite.core.auto.summary import DataSummary
from vwlite.core.data.batch import Batch
from vwlite.core.data.normalize import Normalizer
from vwlite.errors import DataError, UsageError
from vwlite.estimators.learned import MIN_JOURNAL, AutoFitting, BatchSource, Fitted, RowSource, batches_of, names_in
from vwlite.model.file import Model
from vwlite.model.header import COUNTERS
from vwlite.model.learners import make_expander, make_finder
from vwlite.runs.options import TrainOptions
from vwlite.runs.resolve import check_run
from vwlite.training.auto.stream import Stream, packed, unpacked
from vwlite.training.passes import prepared

# Pickles of 0.2.0 have a TrainOptions, and name its module as it was; this one is imported before it.
sys.modules.setdefault("vwlite.options.run_options", vwlite.runs.options)

State = dict[str, Any]
NOT_SEVERAL = "partial_fit with algorithm='auto' is for two classes: use fit, or algorithm='gd'"
CHANGED = "partial_fit with algorithm='auto' continues with the parameters of its first call: use fit for other ones"


class StreamFitting(AutoFitting):
    """The pass as far as it has come."""

    def __init__(self, o: TrainOptions, columns: dict[str, Any]) -> None:
        if {"oaa", "classes", "softmax"} & set(o.typed):
            raise UsageError(NOT_SEVERAL)
        job = prepared(o, None, in_place=False)
        with ExitStack() as stack:
            super().__init__(o, job, stack, RowSource(None, columns))
        self.summary = DataSummary(make_expander(self.settings, Normalizer()))
        self.finder = make_finder(self.settings, self.feature_names) if self.feature_names is not None else None
        self.found: list[Any] = []  # the names of features, as they were found

    @property
    def size(self) -> int:
        """Features of its state."""
        if self.stream is None:
            return sum(len(batch.value) for batch in self.first_batches)
        return sum(len(c.learner.lanes) for c in self.stream.candidates)

    @property
    def is_empty(self) -> bool:
        return not (self.summary.examples if self.stream is None else self.stream.examples)

    def take(self, batch: Batch, names: Any) -> None:
        self.take_names(names)
        try:
            self.take_of_stream(batch)
        except OverflowError as e:
            raise DataError(str(e)) from None

    def take_names(self, names: Any) -> None:
        if self.feature_names is not None and names is not None:
            self.feature_names.take(names)
            self.found.append(names)

    def state(self) -> State:
        """All that was learned, which `load` restores."""
        found: State = {"names": list(self.found)}
        if self.stream is None:
            return found | {"kept": list(map(packed, self.first_batches))}
        s = self.summary
        return found | {
            "labels": [bytes(x) for x in (s.labels, s.importances, s.initials)],
            "dense": self.dense,
            "stream": self.stream.state(),
            "counters": {name: self.job.before.get(name, 0) + getattr(self.learner, name) for name in COUNTERS},
            "range": (self.learner.min_label, self.learner.max_label),
        }

    def load(self, state: State) -> None:
        """Restore what another run has learned, in a new one."""
        for names in state["names"]:
            self.take_names(names)
        if "stream" not in state:
            for data in state["kept"]:
                self.take(unpacked(data), None)
            return
        self.summary.take_labels(*(array("d", x) for x in state["labels"]))
        self.dense = state["dense"]
        self._learn_labels_as()
        lanes = [(name, self._lanes(name, 1)) for name in state["stream"]["candidates"]]
        self.stream = Stream(self._learned_loss(), self.labels_as, lanes)
        self.stream.load(state["stream"])
        self.job = self.job._replace(before=state["counters"])
        self.learner = self._given(self.settings, self.weights_as)
        self.learner.min_label, self.learner.max_label = state["range"]


class FittedStream(Fitted):
    """The state of the pass after some calls, and the rows of the calls since then.

    The state is taken when as many features were learned as it has; with the rows, an interrupted call is undone.
    """

    def __init__(self, o: TrainOptions, columns: dict[str, Any], state: State | None = None) -> None:
        super().__init__()
        self._options = replace(o, passes=1, given=o.given | {"passes"})
        check_run(replace(self._options, names=None))
        self._columns = columns
        self._kept: tuple[State | None, list[list[tuple[Batch, Any]]]] = state, []
        self._size = 0  # features of these rows
        self._run: StreamFitting | None = self._resumed()
        self._settings = self._run.settings
        self._model: Model | None = None

    def forked(self) -> None:
        if self.lock.locked():
            self._model = None
        super().forked()

    @property
    def settings(self) -> Settings:
        return self._settings

    def _learner_run(self) -> StreamFitting:
        """The caller must hold the lock."""
        if self._run is None:
            self._run = self._resumed()
        return self._run

    def _resumed(self) -> StreamFitting:
        state, calls = self._kept
        run = StreamFitting(self._options, self._columns)
        if state is not None:
            run.load(state)
        for batches in calls:
            for batch, names in batches:
                run.take(batch, names)
        return run

    def _update(self, rows: BatchSource, o: TrainOptions, names: list[bytes]) -> None:
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

    def _settled(self) -> Model:
        if self._model is None:
            self._model = self._learner_run().so_far().settled()
        return self._model

    def __getstate__(self) -> State:
        with self.lock:
            return {"options": vars(self._options), "columns": self._columns, "state": self._learner_run().state()}

    def __setstate__(self, state: State) -> None:
        options = state["options"]
        o = TrainOptions(**options) if isinstance(options, dict) else options
        self.__init__(o, state["columns"], state["state"])  # type: ignore[misc]
