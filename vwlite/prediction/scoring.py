"""The stream of examples that a model is applied to, without learning: what `vwlite predict`, `evaluate` and others of
their kind have in common."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from vwlite.algorithms.losses import usual_threshold
from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Learner
from vwlite.errors import DataError
from vwlite.input.diagnostics import BadLine, not_finite
from vwlite.input.parsing import Parsed
from vwlite.input.pipeline import parsed_batches
from vwlite.output.progress import LiveLine
from vwlite.runs.frame import RunFrame
from vwlite.runs.notes import Notes, about_features, about_unfit, together
from vwlite.runs.opened import Opened
from vwlite.runs.options import ModelOptions
from vwlite.runs.run import SHOWN, Run
from vwlite.runs.unseen import Unseen


class Scoring(Run):
    """A run that applies a model to a stream. A line without a finite prediction is a bad line.

    learner: the opened one, or one made of it.
    """

    options: ModelOptions

    def __init__(self, o: ModelOptions, opened: Opened, frame: RunFrame, learner: Learner | None = None) -> None:
        super().__init__(o, learner or opened.learner, opened.settings, frame)
        self._path, self._parse, self._kept, self._frame = opened.path, opened.parse, opened.kept, frame
        self._unseen = Unseen(opened.model, opened.settings, opened.kept)
        if self._unseen.is_asked:
            names = not opened.model.columns  # of namespaces, which are in the text
            self._parse = replace(self._parse, spaces=True, keeps_text=self._parse.keeps_text or names)
        self._infinite: list[tuple[int, BadLine]] = []  # of the batch: the row and the error
        tally = self.learner.progressive
        tally.logistic = opened.settings.loss == "logistic"
        tally.positive_from = usual_threshold(probable=tally.logistic)
        self.unfit: dict[str, str] = {}  # labels that the model cannot use, the first few, and where they are first
        frame.stop_with(self.stop)

    def batches(self, before: Callable[[Batch], None] = lambda batch: None) -> Iterator[Parsed]:
        """The batches, each after its examples were predicted. before: called with each, before that."""
        o = self.options
        live = LiveLine(quiet=o.quiet or "-" in (o.predictions, o.raw_predictions))
        self._frame.callback(live.clear)  # also before the message of an error
        batches = parsed_batches(o.data, self._parse, stop=lambda: self.stopped, threads=o.threads)
        for parsed in self._frame.enter_context(batches):
            before(parsed.batch)
            self.feed(parsed.batch)
            if len(self.unfit) < SHOWN:
                for label, place in parsed.unfit.items():
                    self.unfit.setdefault(label, place)
            bad = self._with_infinite(parsed)
            if bad:
                live.clear()
            self.bad.take(bad)
            self._unseen.look(parsed)
            live.update(self.learner.examples, parsed.done, parsed.total)
            yield parsed
            if self.stopped:
                break
        live.clear()

    def diverged(self, batch: Batch, line: int) -> None:
        bad = BadLine(batch.source, batch.line_number(line), 1, not_finite(self.learner.prediction))
        if self.options.on_error != "skip":
            self.flush()
            raise DataError(str(bad))
        self.learner.reject()
        self._infinite.append((line, bad))

    def _with_infinite(self, parsed: Parsed) -> list[BadLine]:
        """The bad lines of a batch that was predicted, in their order."""
        if not self._infinite:
            return parsed.bad
        found, self._infinite = self._infinite, []
        bad = [b for _, b in found]
        if parsed.source is not None:
            texts = parsed.source.lines_of(parsed.batch, [row for row, _ in found])
            bad = [b._replace(text=text) for b, text in zip(bad, texts, strict=True)]
        return sorted([*parsed.bad, *bad], key=lambda b: b.line)

    def about_labels(self) -> tuple[Notes, str]:
        """What is to be said of labels that the model cannot use; why nothing can be measured, "" if it can."""
        return about_unfit(self.settings, self.learner, self.unfit, self._path)

    def notes(self, labels: Notes) -> Notes:
        """Those of labels, and of features that the model does not know."""
        unseen = self._unseen.notes(getattr(self.options, "on_unknown", "note"))
        return together(labels, about_features(self.settings, self.learner, self._path, self._kept), unseen)
