"""The stream of examples that a model is applied to, without learning: what `vwlite predict`, `evaluate` and others of
their kind have in common."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from vwlite.algorithms.checks import check_link
from vwlite.algorithms.losses import LOSS_OPTIONS, usual_threshold
from vwlite.algorithms.settings import Settings
from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Learner
from vwlite.errors import DataError, UsageError
from vwlite.input.diagnostics import BadLine, not_finite
from vwlite.input.parsing import Parsed, ParseOptions
from vwlite.input.pipeline import parsed_batches
from vwlite.input.sources import check_sources
from vwlite.model import Model, read_model
from vwlite.model.learners import restore
from vwlite.options.resolve import OF_LOSS, check_run
from vwlite.options.run_options import ModelOptions
from vwlite.options.spec import option_name
from vwlite.output.progress import LiveLine
from vwlite.runs.common import SHOWN, Run
from vwlite.runs.frame import RunFrame
from vwlite.runs.notes import Kept, Notes, about_features, about_unfit, together
from vwlite.runs.source import parse_with
from vwlite.runs.unseen import Unseen


class Opened:
    """A model that was read, its settings with what was typed, and how it reads text.

    written: how predictions are written, as PredictionWriter takes it, by the settings. whole: as `read_model` has it.
    """

    def __init__(
        self, o: ModelOptions, written: Callable[[Settings], dict[str, Any]] = lambda settings: {}, *,
        whole: bool = False, **text: Any,
    ) -> None:  # fmt: skip
        assert o.model is not None
        check_run(o)
        check_sources(o.data, quiet=o.quiet)
        self.path = o.model
        self.model: Model = read_model(o.model, whole=whole)
        self.settings = _settings(o, self.model)
        self.learner = restore(self.model, self.settings, o.model, learn=False, **written(self.settings))
        parse = parse_with(o, self.settings, self.model, o.model, self.learner.class_names)
        self.parse: ParseOptions = replace(parse, **{"keeps_text": o.rejects is not None, **text})
        self.kept = Kept.of(self.model)


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


def _settings(o: ModelOptions, model: Model) -> Settings:
    """Those of the model, with what was typed. UsageError for options that mean nothing to the model."""
    settings, probabilities = model.settings, getattr(o, "probabilities", False)
    typed, link = {name: o.typed[name] for name in OF_LOSS if name in o.typed}, o.typed.get("link")
    for name, value in typed.items():
        old = getattr(settings, name)
        if settings.loss and value != old:
            raise UsageError(
                f"{option_name(name)} {value} contradicts the model {o.model}, which was trained with {old}: leave the "
                "option out"
            )
    for name, loss in LOSS_OPTIONS.items():
        if name in typed and (typed.get("loss") or settings.loss) != loss:
            raise UsageError(f"{option_name(name)} needs --loss {loss}")
    settings = replace(settings, **typed)
    if settings.oaa is None:
        if probabilities:
            raise UsageError(f"--probabilities is for classes, and {o.model} has none: use --link logistic")
        settings = replace(settings, link=link or settings.link)
        check_link(settings)
        return settings
    if link not in (None, "identity"):
        raise UsageError(f"--link {link} is for one score, but {o.model} has one for each class: use --probabilities")
    if probabilities and settings.loss != "logistic":
        raise UsageError(
            f"--probabilities needs a model of --loss logistic or --softmax: {o.model} was trained with "
            f"--loss {settings.loss}, whose scores are not probabilities"
        )
    return settings
