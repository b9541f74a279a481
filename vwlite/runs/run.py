"""Code shared by training and prediction: the stream through the learner, bad lines, output files."""

import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack

from vwlite.algorithms.memory import TOO_LONG, table_needs
from vwlite.algorithms.settings import Settings
from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Learner, Reason
from vwlite.core.learn.tally import Tally
from vwlite.errors import ClosedPipe, DataError
from vwlite.input.diagnostics import BadLine
from vwlite.output.atomic import AtomicFile
from vwlite.output.results import Result
from vwlite.output.stdio import say as say  # for all that runs
from vwlite.runs.baseline import baseline_of
from vwlite.runs.frame import RunFrame
from vwlite.runs.notes import smaller_steps

SHOWN = 5  # bad lines whose message is printed


class Sink:
    """An output for lines: standard output, or a file that is complete or absent."""

    def __init__(self, path: str, stack: ExitStack) -> None:
        self.closed = False  # it is a pipe, and its reader has gone
        self._file = None if path == "-" else stack.enter_context(AtomicFile(path))

    def write(self, data: bytes) -> None:
        if not data or self.closed:
            return
        try:
            if self._file is None:
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
            else:
                self._file.write(data)
        except ClosedPipe:
            self.closed = True
            raise

    def commit(self) -> None:
        if self._file is not None:
            self._file.commit()


class BadLines:
    """Counts bad lines, prints the first few, keeps them in a file; raises when there are too many.

    skip: without it, the first one is a DataError. most: that may be skipped; None: any number. rejects: the file.
    """

    def __init__(self, stack: ExitStack, *, skip: bool, most: int | None = None, rejects: str | None = None) -> None:
        self.count = 0
        self._skip, self._most = skip, most
        self._rejects, self._is_whole = Sink(rejects, stack) if rejects else None, False
        if rejects:
            assert isinstance(stack, RunFrame)
            stack.at_end(self._commit)

    def take(self, bad: list[BadLine]) -> None:
        for b in bad:
            if not self._skip:
                raise b.error()
            self.count += 1
            if self.count <= SHOWN:
                say(f"{b} (skipped)")
            if self._rejects is not None and b.text:  # a truncated stream has no line
                self._rejects.write(b.text.rstrip(b"\n") + b"\n")
            if self._most is not None and self.count > self._most:
                raise b.error(f"; that is bad line {self.count}, --max-errors allows {self._most}")

    def finish_from(self, cache: str, count: int) -> None:
        """Report the bad lines that a cache leaves out. It does not have their text."""
        if count:
            say(f"{count} bad line{'s' * (count > 1)} skipped when {cache} was made")
            self.count = count
        else:
            self.finish()

    def finish(self) -> None:
        """Report the count; called when the stream is at its end."""
        if self.count > SHOWN:
            say(f"... and {self.count - SHOWN} more bad lines")
        if self.count:
            say(f"{self.count} bad line{'s' * (self.count > 1)} skipped")
        self._is_whole = True

    def _commit(self) -> None:
        if self._rejects is not None and self._is_whole:
            self._rejects.commit()


class PredictionFiles:
    """The outputs for the predictions of a learner. paths: by what the learner calls them. others: whether the run has
    other outputs: then a closed pipe does not end it. through: converts the text for the file of predictions."""

    through: Callable[[bytes], bytes] = staticmethod(lambda rows: rows)

    def __init__(self, paths: Mapping[str, str | None], stack: ExitStack, *, others: bool) -> None:
        self._others = others
        self._sinks = {name: Sink(path, stack) for name, path in paths.items() if path is not None}

    def write(self, learner: Learner) -> None:
        """Write the predictions so far. ClosedPipe if their reader has gone and the run has no other output."""
        for name, sink in self._sinks.items():
            try:
                text = getattr(learner, name).take()
                sink.write(self.through(text) if name == "predictions" else text)
            except ClosedPipe:
                if not self._others and all(sink.closed for sink in self._sinks.values()):
                    raise

    def commit(self) -> None:
        """Put the files in their places."""
        for sink in self._sinks.values():
            sink.commit()


def feed(
    learner: Learner,
    batch: Batch,
    settings: Settings,
    *,
    paused: Callable[[Reason], None] = lambda reason: None,
    diverged: Callable[[Batch, int], None] | None = None,
    written: Callable[[Learner], None] = lambda learner: None,
) -> None:
    """Send a batch through a learner. DataError, MemoryError.

    paused: called when it comes back for a report or a checkpoint. diverged: called with a line of the batch whose
    prediction, or loss, is not finite; without, that is an error. written: called at the end, when the learner may have
    written predictions.
    """
    at = 0
    while True:
        at = learner.run(batch, at)
        reason = learner.reason
        if reason in (Reason.DONE, Reason.STOPPED):
            break
        where = batch.source, batch.line_number(at), 1
        if reason == Reason.DIVERGED:
            if diverged is None:
                written(learner)
                why = f"the prediction is not finite: learning has diverged; {smaller_steps(settings)}"
                raise DataError(why, *where)
            diverged(batch, at)
            at += 1
        elif reason == Reason.NO_MEMORY:
            raise MemoryError(table_needs(learner.oversized, f"{where[0]}:{where[1]}"))
        elif reason == Reason.TOO_LONG:
            raise DataError(TOO_LONG, *where)
        elif reason == Reason.TOO_MANY:
            most = learner.rule.MOST_FEATURES
            why = "the data have more features than --features: increase it, or leave it out"
            if most is not None:
                diagonal = settings.algorithm.removesuffix("-full")
                why = f"more than {most} features, too many for a matrix: use --algorithm {diagonal}, or fewer --bits"
            raise DataError(why, *where)
        else:
            paused(reason)
    written(learner)


def measures_of(settings: Settings, learner: Learner, tally: Tally) -> dict[str, Result]:
    """The measures of predictions, by key: those of numbers, the log loss of classes that have probabilities, and which
    class is taken for which."""
    found = {"average_loss": tally.average, "accuracy": tally.accuracy, "auc": tally.auc}
    if not settings.loss:
        del found["average_loss"]
    found |= zip(settings.outputs.facts, tally.means_of_facts, strict=False)
    if tally.probable:
        found["log_loss"] = tally.log_loss
    constant, baseline = dict[str, float | None](), baseline_of(settings, learner, tally)
    if baseline is not None:
        constant = {"average_loss": baseline.loss, "accuracy": baseline.accuracy, "log_loss": baseline.log_loss}
    measures = {key: Result(key, value, constant.get(key)) for key, value in found.items()}
    if learner.class_names is not None:
        rows = tally.matrix(learner.named)
        if rows is not None:
            classes = learner.class_names.first(learner.named)
            measures["confusion_matrix"] = Result("confusion_matrix", {"classes": classes, "rows": rows})
    return measures
