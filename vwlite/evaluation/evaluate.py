"""A run that evaluates a model on labelled data."""

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np

from vwlite.core.learn.evaluator import Evaluator
from vwlite.errors import DataError, UsageError
from vwlite.evaluation import screen
from vwlite.evaluation.commands import EvaluateOptions
from vwlite.evaluation.kinds import KINDS, Binary, Classes, Kind, Rows
from vwlite.evaluation.measures import Against, StreamMeasures, Value
from vwlite.evaluation.slices import Slices
from vwlite.evaluation.sums import MOST_KEPT, Floats
from vwlite.input.parsing import Parsed
from vwlite.input.sources import display_name
from vwlite.output.json_text import json_text, with_schema
from vwlite.output.stdio import plain
from vwlite.output.text import printable
from vwlite.runs.baseline import baseline_of
from vwlite.runs.conditions import check_names, failures
from vwlite.runs.frame import RunFrame
from vwlite.runs.opened import Opened, opened
from vwlite.runs.run import say
from vwlite.runs.scoring import Reading, Scoring, TakeBad, refuse

MOST_OF_SLICE = 20_000  # scores that are kept of each


class Evaluating:
    """The labelled examples of batches, as a model predicts them. everything: so do examples without a label."""

    def __init__(self, opened: Opened, take_bad: TakeBad = refuse, *, everything: bool = False) -> None:
        self.opened = opened
        self.learner = Evaluator(opened.learner, everything=everything)
        self.scoring = Scoring(opened, self.learner, take_bad)
        self._rows = np.empty((0, self.learner.width))

    def over(self, batches: Iterable[Parsed]) -> Iterator[tuple[Parsed, Rows, Floats]]:
        """The batches, with their rows, and the line of each in the batch."""
        for parsed in batches:
            if len(self._rows) < len(parsed.batch):
                self._rows = np.empty((len(parsed.batch), self.learner.width))
            self.learner.into(self._rows)
            self.scoring.take(parsed)
            line, *rows = self._rows[: self.learner.filled].T.copy()
            found = Rows.of(np.array(rows))
            yield parsed, found._replace(label=self.opened.settings.outputs.transform.labels(found.label)), line

    def finish(
        self, data: str, on_unknown: str = "note", *, needs_labels: bool = True
    ) -> tuple[dict[str, Any], list[str]]:
        """Numbers and notes. data: their name in messages. DataError if there is nothing to evaluate."""
        labels, wrong = self.scoring.about_labels()
        if wrong:
            raise DataError(f"{wrong}: change the labels")
        if not self.learner.examples:
            raise DataError(f"{data}: no examples: nothing to evaluate")
        has_none = self.learner.unlabelled == self.learner.examples
        if not self.learner.progressive.weight and (needs_labels or not has_none):
            lines = "no example has a label" if self.learner.unlabelled else "all importance weights are 0"
            raise DataError(f"{data}: {lines}: nothing to evaluate; --label NAME names the label's column of a table")
        if not math.isfinite(4 * self.learner.progressive.weight):
            raise DataError(f"{data}: the sum of the importance weights is beyond the range of numbers: divide them by "
                            "a large number")
        numbers, notes = self.scoring.notes(labels, on_unknown)
        if has_none:
            notes.insert(0, f"{data}: no example has a label, so labels and losses are not compared")
        elif self.learner.unlabelled:
            notes.insert(0, f"{self.learner.unlabelled:,} examples without a label are not evaluated")
        return {"number_of_examples": self.learner.examples} | numbers, notes

    def kind(self, threshold: float | None = None, most: int = MOST_KEPT, *, top: int = 0) -> Kind:
        """The counter of examples for the task of this model."""
        s = self.opened.settings
        found: Kind = KINDS[s.outputs.task].of(s, self.learner, threshold=threshold, most=most, top=top)
        return found

    @property
    def positive(self) -> str:
        """What the positive label is called."""
        labels, roles = self.opened.settings.labels, self.opened.model.columns.get("roles", ())
        if labels and isinstance(labels[1], str):
            return printable(labels[1])
        return next((printable(name) for name, role in roles if role == "label"), "positive")

    @property
    def class_names(self) -> list[str]:
        names = self.learner.class_names
        return [] if names is None else list(names.first(self.learner.named))


class Evaluation:
    """A model on its data: the measures, those of parts of the data, and the comparison with another model.

    first, second: the model, and the other one, if there is one. threshold: from which the positive label is predicted.
    by: the column or namespace whose values are the parts; then batches come with their text. top: of classes that are
    given to an example, for precision and recall. After `finish`, values:
    of the measures.
    """

    values: list[Value]

    def __init__(
        self, first: Evaluating, second: Evaluating | None = None, *, threshold: float | None = None,
        by: str | None = None, top: int = 0,
    ) -> None:
        path = first.opened.path
        if not first.opened.settings.loss:
            raise UsageError(f"{path} does not store its loss: give --loss")
        self.first, self.second, self._threshold = first, second, threshold
        self.whole, self._top = StreamMeasures(first.kind(threshold, top=top)), top
        if top and not isinstance(self.whole.kind, Classes):
            same = "; of two labels, precision at 1 is the accuracy" if isinstance(self.whole.kind, Binary) else ""
            raise UsageError(f"--top is for models of classes, and {path} has none{same}")
        if threshold is not None and not isinstance(self.whole.kind, Binary):
            raise UsageError(f"--threshold is for models of two labels, and {path} has not two")
        self._slices = Slices(by) if by is not None else None
        self._parts: list[StreamMeasures] = []
        self.against: Against | None = None
        if second is not None:
            kind = second.kind(threshold, top=top)
            if type(kind) is not type(self.whole.kind):
                raise UsageError(f"--against: {second.opened.path} and {path} are models of different tasks: their "
                                 "measures differ")
            self.against = Against(self.whole, StreamMeasures(kind))

    def read(self, batches: Iterable[Parsed], others: Iterable[Parsed] = ()) -> None:
        """Take all batches. others: of the same data, for the second model."""
        slices = self._slices
        columns = [name for name, _ in self.first.opened.model.columns.get("roles", ())]
        for parsed, rows, lines in self._paired(batches, others):
            self.whole.add(rows)
            if slices is None:
                continue
            numbers = slices.of(parsed, lines.astype(int).tolist(), columns)
            new = range(len(slices.names) - len(self._parts))
            self._parts += [StreamMeasures(self.first.kind(self._threshold, MOST_OF_SLICE, top=self._top)) for _ in new]
            for k in np.unique(numbers).tolist():
                self._parts[k].add(rows.where(numbers == k))

    def _paired(self, batches: Iterable[Parsed], others: Iterable[Parsed]) -> Iterator[tuple[Parsed, Rows, Floats]]:
        """The batches of the first model; each is compared with the same examples of the second."""
        if self.second is None or self.against is None:
            yield from self.first.over(batches)
            return
        # Rows that wait for those of the other model.
        ahead = [np.empty((one.learner.width - 1, 0)) for one in (self.first, self.second)]
        for one, other in zip_longest(self.first.over(batches), self.second.over(others)):
            for k, found in enumerate((one, other)):
                if found is not None:
                    ahead[k] = np.hstack([ahead[k], np.vstack(found[1])])
            n = min(part.shape[1] for part in ahead)
            a, b = (Rows.of(part[:, :n]) for part in ahead)
            if not np.array_equal(a.weight, b.weight):
                break
            self.against.add(a, b)
            ahead = [part[:, n:] for part in ahead]
            if one is not None:
                yield one
        if any(part.size for part in ahead):
            raise DataError("--against: the models do not evaluate the same examples of the data")

    def finish(self, data: str, on_unknown: str = "note") -> tuple[dict[str, Any], list[str]]:
        """Numbers and notes: see `Evaluating.finish`."""
        found, notes = self.first.finish(data, on_unknown)
        for part in (self.whole, *self._parts, *([self.against.other] if self.against else [])):
            part.finish()
        if self._slices is not None:
            self._slices.check()
        kind, learner = self.whole.kind, self.first.learner
        if isinstance(kind, Binary) and not kind.probable:
            baseline = baseline_of(self.first.opened.settings, learner, learner.progressive)
            kind.constant = baseline and baseline.loss
        self.values = self.whole.values()
        return found, notes

    @property
    def slices(self) -> list[tuple[str, StreamMeasures]]:
        return list(zip(self._slices.names, self._parts, strict=True)) if self._slices is not None else []

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        result = {
            "rows": self.whole.rows,
            "weight": self.whole.kind.weight,
            "measures": {m.key: m.as_dict() for m in self.values},
            **self.whole.kind.details(),
            **_of_classes(self.whole.kind, self.first.class_names),
        }
        if self.slices:
            result["by"] = {name: _part(part) for name, part in self.slices if part.kind.weight}
        if self.against is not None:
            result["difference"] = {m.key: m.as_dict() for m in self.against.values()}
        return result


def models_of(o: EvaluateOptions, frame: RunFrame) -> list[tuple[Evaluating, Reading]]:
    """The models of a command, each with a reader of the data."""
    if o.against and (not o.data or "-" in o.data):
        raise UsageError("--against reads the data once for each model, and standard input is read only once: name "
                         "DATA files")
    found: list[tuple[Evaluating, Reading]] = []
    for one in (o, *([replace(o, model=o.against, by=None, rejects=None)] if o.against else [])):
        model = opened(one, keeps_text=one.rejects is not None or one.by is not None, whole_rows=one.by is not None)
        reading = Reading(frame, beside=found[0][1] if found else None)
        found.append((Evaluating(model, reading.take_bad), reading))
    return found


def names_of(data: Sequence[str]) -> str:
    """The names of DATA in messages."""
    return ", ".join(map(display_name, data or ["-"]))


def evaluate(o: EvaluateOptions) -> int:
    """Run `vwlite evaluate`; the exit code."""
    with RunFrame("evaluate", o) as frame:
        models = models_of(o, frame)
        evaluation = Evaluation(*(model for model, _ in models), threshold=o.threshold, by=o.by, top=o.top or 0)
        (first, reading), whole = models[0], evaluation.whole
        check_names(o.fail_if, whole.keys())
        evaluation.read(*(reading.batches(model.scoring.parse, model.learner) for model, reading in models))
        if frame.signal is not None and not first.learner.examples:
            return frame.code()
        reading.bad.finish()
        found, notes = evaluation.finish(names_of(o.data), o.on_unknown)
        values, against, result = evaluation.values, evaluation.against, evaluation.as_dict()
        if o.json:
            sys.stdout.write(json_text(with_schema(result), indent=2, ensure_ascii=False) + "\n")
        else:
            lines = [screen.head(whole, first.positive), *screen.table(values)]
            if against is not None:
                lines += screen.differences(against.values(), o.against or "")
            lines += [*screen.body(whole.kind, values, first.class_names),
                      *screen.slices(o.by or "", evaluation.slices)]
            sys.stdout.write(plain("\n".join(lines)) + "\n")
        if any(m.about for m in values):
            notes.append(f"~: of more than {MOST_KEPT:,} rows, scores within 0.2 % of each other count as equal")
        for note in () if o.quiet else notes:
            say(f"note: {note}")
        failed = []
        if frame.signal is None:
            wanted = {condition.measure for condition in o.fail_if}
            failed = failures(o.fail_if, {m.key: m.value().value for m in whole.measures if m.key in wanted})
        for failure in failed:
            say(failure)
        code = frame.code() or int(bool(failed))
        frame.report(
            options=frame.reported_options(first.opened.settings, "data", "model"), signal=frame.signal,
            results={**found, **result}, notes=notes, exit_code=code,
        )
        return code


def _of_classes(kind: Kind, names: list[str]) -> dict[str, Any]:
    if not isinstance(kind, Classes):
        return {}
    columns = [column.tolist() for column in kind.of_each()]
    each = {
        name: dict(zip(("weight", "precision", "recall", "f1"), row, strict=True))
        for name, row in zip(names, zip(*columns, strict=True), strict=False)
    }
    k = len(names) + 1
    matrix = None if kind.confusion is None else kind.confusion[1:k, 1:k].tolist()
    return {"classes": each, "confusion_matrix": matrix}


def _part(part: StreamMeasures) -> dict[str, Any]:
    return {"rows": part.rows, "measures": {m.key: m.as_dict() for m in part.values()}}
