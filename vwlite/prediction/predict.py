"""A prediction run: the predictions of a model for every example of a stream."""

import json
from itertools import chain
from typing import Any

from vwlite.algorithms.predicted import predicted_by
from vwlite.algorithms.settings import Settings
from vwlite.core.data.class_names import ClassNames
from vwlite.errors import DataError, UsageError
from vwlite.input.diagnostics import BadLine
from vwlite.input.formats import COMPRESSED
from vwlite.names import names_text
from vwlite.output.results import Result, summary, values
from vwlite.prediction.commands import PredictOptions
from vwlite.runs.frame import RunFrame
from vwlite.runs.opened import opened
from vwlite.runs.run import PredictionFiles, measures_of, say
from vwlite.runs.scoring import Reading, Scoring


def predict(o: PredictOptions) -> int:
    """Run `vwlite predict`; the exit code."""
    if o.append and (o.predictions or "").lower().endswith(COMPRESSED):
        raise UsageError(f"-p {o.predictions}: tables are not compressed here: use -p - and a pipe, as in `| gzip`")
    as_read = {"keeps_text": True, "whole_rows": True} if o.append else {}
    model = opened(o, lambda settings: written(o, settings), **as_read)
    with RunFrame("predict", o) as frame:
        settings, learner = model.settings, model.learner
        files = PredictionFiles(o.of_predictions, frame, others=bool(o.report or o.rejects))
        reading, table = Reading(frame), None
        if o.append:
            from vwlite.prediction.append import AppendedTable

            columns, output = list(chain(*o.append_columns)), o.predictions or "-"
            decimal = model.model.columns.get("decimal") or "."
            table = AppendedTable(learner.predictions.take(), settings, columns, str(o.model), output, decimal)
            files.through = table.rows

        def take_bad(bad: list[BadLine]) -> None:
            files.write(learner)
            reading.take_bad(bad)

        scoring = Scoring(model, take_bad=take_bad)
        del model  # it is needed no more
        for parsed in reading.batches(scoring.parse, learner):
            if table is not None:
                table.take(parsed)
            scoring.take(parsed)
        if table is not None:
            table.end()
        files.write(learner)  # the header of rows, if there was no example
        if frame.signal is not None and (o.predictions != "-" or not learner.examples):
            return frame.code()
        reading.bad.finish()
        results = [Result("number_of_examples", learner.examples)]
        if learner.unlabelled:
            results.append(Result("unlabelled_examples", learner.unlabelled))
        labels, wrong = scoring.about_labels()
        if wrong and o.on_error == "stop" and frame.signal is None:
            raise DataError(f"{wrong}: change the labels, or remove them; --on-error skip predicts without evaluating")
        measures = dict[str, Result]()
        if learner.progressive.weight and not wrong:
            measures = measures_of(settings, learner, learner.progressive)
        if o.threshold is not None:  # the accuracy would be that of another one
            measures["accuracy"] = measures.get("accuracy", Result("accuracy", None))._replace(value=None)
        results += measures.values()
        results.append(Result("seconds", frame.seconds()))
        numbers, notes = scoring.notes(labels, o.on_unknown)
        frame.commit(files.commit)
        frame.show(summary(results), notes)
        if not o.quiet and not settings.loss and learner.progressive.weight:
            say(f"no average loss: {o.model} does not store its loss; give --loss")
        frame.report(
            options=frame.reported_options(settings, "data", "model"), signal=frame.signal,
            results={**values(results), **numbers}, notes=notes,
        )
        return frame.code()


def written(o: PredictOptions, settings: Settings) -> dict[str, Any]:
    """How the lines of predictions are written, as PredictionWriter takes it."""
    found: dict[str, Any] = {"predictions": True, "raw_predictions": bool(o.raw_predictions), "top": o.top or 0}
    predicted, path = predicted_by(settings), str(o.model)
    if o.top:
        predicted.check_top(path)
        names = [name.encode("utf-8", "surrogateescape") for name in predicted.label_names]
        found["label_names"] = ClassNames(2, names) if names else None
    if o.threshold is not None:
        predicted.check_threshold(o.threshold, path)
        found["threshold"] = o.threshold
    elif o.append and not o.top and predicted.threshold is not None:
        found["threshold"] = predicted.threshold
    elif o.output_format == "text" and not o.append:
        return found | ({"probabilities": True} if o.probabilities else {})
    kind = "csv" if o.append else o.output_format
    each = predicted.outputs.task == "classes" and not o.top and "probability_" in " ".join(chain(*o.append_columns))
    labels = settings.labels and tuple(_cell(label, kind) for label in settings.labels)
    return found | {"probabilities": o.probabilities or each, "format": kind, "labels": labels,
                    "probable": predicted.outputs.has_probabilities}


def _cell(label: float | str, kind: str) -> bytes:
    """A label of `--labels` as text, a cell of CSV or a value of JSON."""
    if not isinstance(label, str):
        return f"{label:.15g}".encode()
    if kind == "json":
        return json.dumps(label, ensure_ascii=False).encode("utf-8", "surrogateescape")
    return (names_text([label]) if kind == "csv" else label).encode("utf-8", "surrogateescape")
