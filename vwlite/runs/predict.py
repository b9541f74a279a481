"""A prediction run: the predictions of a model for every example of a stream."""

import json
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from vwlite.algorithms.losses import LOSS_OPTIONS
from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Learner
from vwlite.errors import DataError, UsageError
from vwlite.input.diagnostics import BadLine, not_finite
from vwlite.input.parsing import Parsed
from vwlite.input.pipeline import parsed_batches
from vwlite.input.reader import check_sources
from vwlite.model import Model, read_model
from vwlite.model.snapshot import restore
from vwlite.options.resolve import OF_LOSS, check_link, check_run, option_name
from vwlite.options.run_options import PredictOptions
from vwlite.options.settings import Settings
from vwlite.runs.common import SHOWN, Run, say, summary
from vwlite.runs.frame import RunFrame
from vwlite.runs.notes import Kept, about_features, about_unfit, together
from vwlite.runs.progress import LiveLine
from vwlite.runs.source import parse_with


def predict(o: PredictOptions) -> int:
    """Run `vwlite predict`; the exit code."""
    assert o.model is not None
    check_run(o)
    check_sources(o.data, quiet=o.quiet)
    model = read_model(o.model)
    settings = _settings(o, model)
    learner = restore(
        model, settings, o.model, learn=False, predictions=True, raw_predictions=bool(o.raw_predictions),
        **_written(o, settings),
    )  # fmt: skip
    parse = replace(parse_with(o, settings, model, o.model, learner.class_names), keeps_text=o.rejects is not None)
    kept = Kept.of(model)
    del model
    with RunFrame("predict", o) as frame:
        run = Predicting(o, learner, settings, frame)
        frame.stop_with(run.stop)
        batches = parsed_batches(o.data, parse, stop=lambda: run.stopped, threads=o.threads)
        live = _live_line(o, frame)
        unfit: dict[str, None] = {}  # labels that the model cannot use, the first few
        for parsed in frame.enter_context(batches):
            run.feed(parsed.batch)
            if len(unfit) < SHOWN:
                unfit.update(dict.fromkeys(parsed.unfit))
            bad = run.with_infinite(parsed)
            if bad:
                live.clear()
            run.bad.take(bad)
            live.update(learner.examples, parsed.done, parsed.total)
            if run.stopped:
                break
        live.clear()
        run.flush()  # the header of rows, if there was no example
        if frame.signal is not None and not learner.examples:
            return frame.code()
        run.bad.finish()
        results: dict[str, Any] = {"number of examples": learner.examples}
        if learner.unlabelled:
            results["unlabelled examples"] = learner.unlabelled
        labels, wrong = about_unfit(settings, learner, [*unfit], o.model)
        if wrong and o.on_error == "stop" and frame.signal is None:
            raise DataError(f"{wrong}: change the labels, or remove them; --on-error skip predicts without evaluating")
        if learner.progressive.weight and not wrong:
            results.update(run.measures(learner.progressive))
        results["seconds"] = round(run.seconds(), 3)
        numbers, notes = together(labels, about_features(settings, learner, o.model, kept))
        frame.show(summary(results), notes)
        if not o.quiet and not settings.loss and learner.progressive.weight:
            say(f"no average loss: {o.model} does not store its loss; give --loss")
        run.commit()
        frame.report(
            options=frame.reported_options(settings, "data", "model"), signal=frame.signal,
            results={**results, **numbers}, notes=notes,
        )  # fmt: skip
        return frame.code()


def _written(o: PredictOptions, settings: Settings) -> dict[str, Any]:
    """How the lines of predictions are written, as PredictionWriter takes it."""
    if o.output_format == "text":
        return {"probabilities": True} if o.probabilities else {}
    probable = settings.loss == "logistic" or settings.link == "logistic"
    labels = settings.labels and tuple(_cell(label, o.output_format) for label in settings.labels)
    return {"probabilities": o.probabilities, "format": o.output_format, "probable": probable, "labels": labels}


def _cell(label: float | str, kind: str) -> bytes:
    """A label of `--labels` as a cell of CSV or a value of JSON."""
    if not isinstance(label, str):
        return f"{label:.15g}".encode()
    if kind == "json":
        return json.dumps(label, ensure_ascii=False).encode("utf-8", "surrogateescape")
    return ('"' + label.replace('"', '""') + '"' if '"' in label else label).encode("utf-8", "surrogateescape")


def _live_line(o: PredictOptions, stack: ExitStack) -> LiveLine:
    """The line of progress: not when predictions go to standard output, which may be the same terminal."""
    live = LiveLine(quiet=o.quiet or "-" in (o.predictions, o.raw_predictions))
    stack.callback(live.clear)  # also before the message of an error
    return live


class Predicting(Run):
    """A run in which a line without a finite prediction is a bad line."""

    def __init__(self, o: PredictOptions, learner: Learner, settings: Settings, stack: ExitStack) -> None:
        super().__init__(o, learner, settings, stack)
        self._infinite: list[tuple[int, BadLine]] = []  # of the batch: the row and the error

    def diverged(self, batch: Batch, line: int) -> None:
        bad = BadLine(batch.source, batch.line_number(line), 1, not_finite(self.learner.prediction))
        if self.options.on_error != "skip":
            self.flush()
            raise DataError(str(bad))
        self.learner.reject()
        self._infinite.append((line, bad))

    def with_infinite(self, parsed: Parsed) -> list[BadLine]:
        """The bad lines of a batch that was predicted, in their order."""
        if not self._infinite:
            return parsed.bad
        found, self._infinite = self._infinite, []
        bad = [b for _, b in found]
        if parsed.source is not None:
            texts = parsed.source.lines_of(parsed.batch, [row for row, _ in found])
            bad = [b._replace(text=text) for b, text in zip(bad, texts, strict=True)]
        return sorted([*parsed.bad, *bad], key=lambda b: b.line)


def _settings(o: PredictOptions, model: Model) -> Settings:
    """Those of the model, with what was typed. UsageError for options that mean nothing to the model."""
    settings = model.settings
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
        if o.probabilities:
            raise UsageError(f"--probabilities is for classes, and {o.model} has none: use --link logistic")
        settings = replace(settings, link=link or settings.link)
        check_link(settings)
        return settings
    if link not in (None, "identity"):
        raise UsageError(f"--link {link} is for one score, but {o.model} has one for each class: use --probabilities")
    if o.probabilities and settings.loss != "logistic":
        raise UsageError(
            f"--probabilities needs a model of --loss logistic or --softmax: {o.model} was trained with "
            f"--loss {settings.loss}, whose scores are not probabilities"
        )
    return settings
