"""The new rows of a night, which are read several times: predicted by models, and learned."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.core.learn.evaluator import Evaluator
from vwlite.core.learn.learner import Learner
from vwlite.input.parsing import Parsed
from vwlite.input.pipeline import parsed_batches
from vwlite.runs.notes import Notes
from vwlite.runs.opened import applied
from vwlite.runs.plan import DataPlan
from vwlite.runs.run import BadLines
from vwlite.runs.scoring import Scoring
from vwlite.runs.source import Source
from vwlite.training.auto.reading import learnable
from vwlite.training.trainer import Examples, Job
from vwlite.training.trainers import source_of_kind

if TYPE_CHECKING:
    from vwlite.model import Model

IMPORTANCE, LOSS, LOG_LOSS = 2, 4, 5  # columns of Evaluator


class Predicting(Protocol):
    """A model that predicts the rows; see `Scoring`."""

    learner: Learner

    def take(self, parsed: Parsed) -> None: ...

    def about_labels(self) -> tuple[Notes, str]: ...

    def notes(self, labels: Notes, on_unknown: str) -> Notes: ...


class NewRows(ABC):
    """The rows of DATA, or of a matrix or frame."""

    @abstractmethod
    def predicting(self, model: "Model", written: Mapping[str, Any]) -> Predicting:
        """A model that predicts the rows. written: how its learner writes predictions."""

    @abstractmethod
    def parsed(self, by: Predicting, stop: Callable[[], bool]) -> Iterator[Parsed]:
        """The rows as this model reads them, without bad lines."""

    @abstractmethod
    def source(self, job: Job, most: int | None = None) -> Examples:
        """The rows as this job learns them, or the first of them that can be learned."""

    def judged(self, model: "Model", stop: Callable[[], bool], begin: int) -> Any:
        """The importance and the loss by which models are judged, of each row from `begin` on of those that can be
        learned."""
        by, found = self.predicting(model, {}), [np.zeros((0, 2))]
        by.learner = evaluator = Evaluator(by.learner)
        loss = LOG_LOSS if model.settings.outputs.task == "classes" else LOSS
        for parsed in self.parsed(by, stop):
            rows = np.empty((len(parsed.batch), evaluator.width))
            evaluator.into(rows)
            by.take(parsed)
            rows = rows[: evaluator.filled]
            found.append(rows[rows[:, IMPORTANCE] > 0][:, [IMPORTANCE, loss]])
        return np.concatenate(found)[begin:]


class FileRows(NewRows):
    """Those of files. path: of the model that is continued. again: is called before they are read."""

    def __init__(self, data: DataPlan, path: str, again: Callable[[], None]) -> None:
        self._data, self._path, self._again = replace(data, quiet=True), path, again

    def predicting(self, model: "Model", written: Mapping[str, Any]) -> Scoring:
        return Scoring(applied(model, self._path, self._data, written=written), take_bad=lambda bad: None)

    def parsed(self, by: Predicting, stop: Callable[[], bool]) -> Iterator[Parsed]:
        assert isinstance(by, Scoring)
        self._again()
        data, parse = self._data, replace(by.parse, skip=True)
        with parsed_batches(data.files, parse, stop=stop, threads=data.threads) as batches:
            yield from batches

    def source(self, job: Job, most: int | None = None) -> Examples:
        self._again()
        found = source_of_kind(_Begin, job, BadLines(ExitStack(), skip=True))
        found.most = most
        return found


class _Begin(Source):
    """The first rows of DATA that can be learned, or all of them."""

    most: int | None = None

    @contextmanager
    def _unweighted(self, stop: Callable[[], bool]) -> Iterator[Iterator[Parsed]]:
        with super()._unweighted(stop) as batches:
            yield batches if self.most is None else first_of(batches, self.most)


def first_of(batches: Iterator[Parsed], n: int) -> Iterator[Parsed]:
    """Up to the n-th line that can be learned."""
    for parsed in batches:
        first, second = next(halves([parsed.batch], n))
        yield replace(parsed, batch=first)
        if len(second):
            return
        n -= int(learnable(first).sum())


def halves(batches: Iterable[Batch], n: int) -> Iterator[tuple[Batch, Batch]]:
    """Each batch in two parts: up to the n-th line of all that can be learned, and behind it."""
    for batch in batches:
        usable = np.cumsum(learnable(batch))
        lines = int(np.searchsorted(usable, n))
        lines = min(lines + 1, len(batch)) if n > 0 else 0
        n -= int(usable[lines - 1]) if lines else 0
        yield batch.part(0, lines), batch.part(lines, len(batch))
