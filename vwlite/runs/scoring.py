"""A model that is applied to batches of examples: the common part of `vwlite predict`, `evaluate` and other commands.
`Scoring` knows no files and prints nothing; `Reading` reads the data of a command for it."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from vwlite.algorithms.losses import usual_threshold
from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Learner
from vwlite.input.diagnostics import BadLine, not_finite
from vwlite.input.parsing import Parsed, ParseOptions
from vwlite.input.pipeline import parsed_batches
from vwlite.runs.frame import RunFrame
from vwlite.runs.notes import Notes, about_features, about_unfit, together
from vwlite.runs.opened import Opened
from vwlite.runs.run import SHOWN, BadLines, feed
from vwlite.runs.unseen import Unseen

TakeBad = Callable[[list[BadLine]], None]


def refuse(bad: list[BadLine]) -> None:
    """DataError for a bad line."""
    if bad:
        raise bad[0].error()


class Scoring:
    """A model that predicts batches. A line without a finite prediction is a bad line.

    learner: the opened one, or one made of it. take_bad: gets the bad lines of each batch. parse: how text is read for
    it. infinite: rows of the last batch without a finite prediction. unfit: labels that the model cannot use, the first
    few, and where they are first.
    """

    def __init__(self, opened: Opened, learner: Learner | None = None, take_bad: TakeBad = refuse) -> None:
        self.path, self.settings, self._kept = opened.path, opened.settings, opened.kept
        self._outputs = opened.settings.outputs
        self.learner, self._model = learner or opened.learner, opened.model
        self.learner.answers_blank_lines = True  # so that each line of a pipe gets an answer
        self.parse = opened.parse
        self._take_bad = take_bad
        self._unseen = Unseen(opened.model, opened.settings, opened.kept)
        if self._unseen.is_asked:
            self.parse = replace(self.parse, spaces=True, names_spaces=not self._unseen.has_columns)
        tally = self.learner.progressive
        tally.logistic = opened.settings.loss == "logistic"
        tally.positive_from = usual_threshold(probable=tally.logistic)
        self.infinite: list[int] = []
        self.unfit: dict[str, str] = {}

    def take(self, parsed: Parsed) -> None:
        """Predict the examples of a batch."""
        bad: list[BadLine] = []
        self.infinite = []

        def diverged(batch: Batch, row: int) -> None:
            found = BadLine(batch.source, batch.line_number(row), 1, not_finite(self.learner.prediction))
            if not self.parse.skip:
                self._take_bad([found])
            self.learner.reject()
            self.infinite.append(row)
            bad.append(found)

        feed(self.learner, parsed.batch, self.settings, diverged=diverged)
        for label, place in parsed.unfit.items() if len(self.unfit) < SHOWN else ():
            self.unfit.setdefault(label, place)
        if bad and parsed.source is not None:
            texts = parsed.source.lines_of(parsed.batch, self.infinite)
            bad = [b._replace(text=text) for b, text in zip(bad, texts, strict=True)]
        self._take_bad(sorted([*parsed.bad, *bad], key=lambda b: b.line) if bad else parsed.bad)
        self._unseen.look(parsed)

    def shown(self, p: float) -> float | str:
        """A prediction as it is written."""
        return self._outputs.shown(p, self.learner)

    def shown_label(self, y: float) -> float | str:
        """A label as it is in the data."""
        return self._outputs.shown_label(y, self.learner)

    def about_labels(self) -> tuple[Notes, str]:
        """Notes on labels that the model cannot use; and why nothing can be measured, "" if it can."""
        return about_unfit(self.settings, self.learner, self.unfit, self.path)

    def notes(self, labels: Notes, on_unknown: str = "note") -> Notes:
        """Those of labels, and of features that the model does not know. on_unknown: see Unseen.notes."""
        features = about_features(self.settings, self.learner, self.path, self._kept)
        found = together(labels, features, self._unseen.notes(on_unknown))
        if self.parse.table is None:
            return found
        from vwlite.model.absent import absent_cells  # not at the top: only tables need it

        noted = self._unseen.columns()
        cells = {name: (missing, 0 if name in noted else unknown)
                 for name, (missing, unknown) in self.parse.table.absents.items()}
        absent = [*absent_cells(self._model, cells, self.learner.examples)]
        return together(found, ({"columns_with_absent_cells": len(absent)}, absent))


class Reading:
    """The DATA of a command that applies a model: progress, bad lines, signals.

    data: in place of all of them. beside: what reads the same data for another model.
    """

    def __init__(
        self, frame: RunFrame, data: tuple[str, ...] | None = None, beside: "Reading | None" = None
    ) -> None:
        o, self._frame = frame.options, frame
        self.data = o.data if data is None else data
        rejects = o.rejects if beside is None else None
        self.bad = BadLines(frame, skip=o.on_error == "skip", most=o.max_errors, rejects=rejects)
        self._live = frame.live_line(o.predictions, o.raw_predictions)
        self._learners: list[Learner] = beside._learners if beside is not None else []

    def take_bad(self, bad: list[BadLine]) -> None:
        """For Scoring."""
        if bad:
            self._live.clear()
        self.bad.take(bad)

    @property
    def interrupted(self) -> bool:
        """Whether a signal came."""
        return self._frame.signal is not None

    def _stop(self) -> None:
        for learner in self._learners:
            learner.stop()

    def batches(self, parse: ParseOptions, *learners: Learner) -> Iterator[Parsed]:
        """The batches. learners: those that predict them, and end with a signal."""
        self._learners += learners
        self._frame.stop_with(self._stop)
        frame = self._frame
        batches = parsed_batches(self.data, parse, stop=frame.stopped, threads=frame.options.threads)
        for parsed in frame.enter_context(batches):
            yield parsed
            if learners:
                self._live.update(learners[0].examples, parsed.done, parsed.total)
            if frame.signal is not None:
                break
        self._live.clear()
