"""A run that evaluates a model on labelled data."""

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.core.learn.evaluator import WIDTH, Evaluator
from vwlite.errors import DataError, UsageError
from vwlite.evaluation import screen
from vwlite.evaluation.commands import EvaluateOptions
from vwlite.evaluation.kinds import Binary, Classes, Kind, Regression, Rows
from vwlite.evaluation.measures import Against, Measured
from vwlite.evaluation.slices import Slices
from vwlite.evaluation.sums import MOST_KEPT, Floats
from vwlite.input.parsing import Parsed
from vwlite.input.sources import display_name
from vwlite.output.json_text import json_text
from vwlite.output.stdio import plain
from vwlite.output.text import printable
from vwlite.prediction.scoring import Scoring
from vwlite.runs.baseline import baseline_of
from vwlite.runs.conditions import check_names, failures
from vwlite.runs.frame import RunFrame
from vwlite.runs.opened import Opened
from vwlite.runs.options import ModelOptions
from vwlite.runs.run import say

MOST_OF_SLICE = 20_000  # scores that are kept of each


class Evaluating:
    """The labelled examples of a stream, as a model predicts them."""

    def __init__(
        self, o: ModelOptions, frame: RunFrame, *, keeps_text: bool = False, everything: bool = False, **text: Any
    ) -> None:
        self.opened = Opened(o, keeps_text=o.rejects is not None or keeps_text, **text)
        self.learner = Evaluator(self.opened.learner, everything=everything)
        self._run = Scoring(o, self.opened, frame, self.learner)
        self._rows = np.empty((0, WIDTH))
        self._names = ", ".join(display_name(path) for path in o.data or ("-",))

    def batches(self) -> Iterator[tuple[Parsed, Rows, Floats]]:
        """The batches, with their rows, and the line of each in the batch."""
        for parsed in self._run.batches(self._make_room):
            line, *rows = self._rows[: self.learner.filled].T.copy()
            yield parsed, Rows(*rows), line

    def _make_room(self, batch: Batch) -> None:
        if len(self._rows) < len(batch):
            self._rows = np.empty((len(batch), WIDTH))
        self.learner.into(self._rows)

    def finish(self) -> tuple[dict[str, Any], list[str]]:
        """Numbers and notes. DataError if there is nothing to evaluate."""
        self._run.bad.finish()
        labels, wrong = self._run.about_labels()
        if wrong:
            raise DataError(f"{wrong}: change the labels")
        if not self.learner.examples:
            raise DataError(f"{self._names}: no examples: nothing to evaluate")
        if not self.learner.progressive.weight:
            lines = "no example has a label" if self.learner.unlabelled else "all importance weights are 0"
            raise DataError(f"{self._names}: {lines}: nothing to evaluate; --label NAME names the label's column of a "
                            "table")
        if not math.isfinite(4 * self.learner.progressive.weight):
            raise DataError(f"{self._names}: the sum of the importance weights is beyond the range of numbers: divide "
                            "them by a large number")
        numbers, notes = self._run.notes(labels)
        if self.learner.unlabelled:
            notes.insert(0, f"{self.learner.unlabelled:,} examples without a label are not evaluated")
        return {"number of examples": self.learner.examples} | numbers, notes

    def kind(self, threshold: float | None, most: int = MOST_KEPT) -> Kind:
        """What counts examples of this model."""
        settings, learner = self.opened.settings, self.learner
        if learner.class_names is not None:
            return Classes(limit=learner.class_names.limit, probable=learner.classifier.probable, most=most)
        if settings.binary:
            return Binary(probable=settings.loss == "logistic", loss=settings.loss, threshold=threshold, most=most)
        tau, delta = settings.quantile_tau, settings.huber_delta
        return Regression(loss=settings.loss, tau=tau, delta=delta, most=most)

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
    """A model on its data: the evaluation, its parts by --by, and the comparison with another model."""

    def __init__(self, o: EvaluateOptions, frame: RunFrame) -> None:
        if o.against and (not o.data or "-" in o.data):
            raise UsageError("--against reads the data once for each model, and standard input is read only once: "
                             "name DATA files")
        self._o = o
        self.first = Evaluating(o, frame, keeps_text=o.by is not None)
        if not self.first.opened.settings.loss:
            raise UsageError(f"{o.model} does not store its loss: give --loss")
        self.whole = Measured(self.first.kind(o.threshold))
        if o.threshold is not None and not isinstance(self.whole.kind, Binary):
            raise UsageError(f"--threshold is for models of two labels, and {o.model} has not two")
        self._slices = Slices(o.by) if o.by is not None else None
        self._parts: list[Measured] = []
        self.second = self.against = None
        if o.against is not None:
            other = replace(o, model=o.against, against=None, by=None, report=None, rejects=None)
            self.second = Evaluating(other, frame)
            self.against = Against(self.whole, _same_kind(o, self.second, self.whole))

    def run(self) -> None:
        """Read the data. Then, unless a signal ended it before the first example, call `finish`."""
        slices = self._slices
        columns = [name for name, _ in self.first.opened.model.columns.get("roles", ())]
        for parsed, rows, lines in _paired(self.first, self.second, self.against):
            self.whole.add(rows)
            if slices is None:
                continue
            numbers = slices.of(parsed, lines.astype(int).tolist(), columns)
            new = range(len(slices.names) - len(self._parts))
            self._parts += [Measured(self.first.kind(self._o.threshold, MOST_OF_SLICE)) for _ in new]
            for k in np.unique(numbers).tolist():
                self._parts[k].add(rows.where(numbers == k))

    def finish(self) -> tuple[dict[str, Any], list[str]]:
        """Numbers and notes; then there are `values`."""
        found, notes = self.first.finish()
        for part in (self.whole, *self._parts, *([self.against.other] if self.against else [])):
            part.finish()
        if self._slices is not None:
            self._slices.check()
        kind = self.whole.kind
        if isinstance(kind, Binary) and not kind.probable:
            learner = self.first.learner
            baseline = baseline_of(self.first.opened.settings, learner, learner.progressive)
            kind.constant = baseline and baseline.loss
        self.values = self.whole.values()
        return found, notes

    @property
    def slices(self) -> list[tuple[str, Measured]]:
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


def evaluate(o: EvaluateOptions) -> int:
    """Run `vwlite evaluate`; the exit code."""
    with RunFrame("evaluate", o) as frame:
        evaluation = Evaluation(o, frame)
        first, whole = evaluation.first, evaluation.whole
        check = _conditions(o, whole)
        evaluation.run()
        if frame.signal is not None and not first.learner.examples:
            return frame.code()
        found, notes = evaluation.finish()
        values, against, result = evaluation.values, evaluation.against, evaluation.as_dict()
        if o.json:
            sys.stdout.write(json_text(result, indent=2, ensure_ascii=False) + "\n")
        else:
            lines = [screen.head(whole, first.positive), *screen.table(values)]
            if against is not None:
                lines += screen.differences(against.values(), o.against or "")
            lines += [*screen.body(whole.kind, first.class_names), *screen.slices(o.by or "", evaluation.slices)]
            sys.stdout.write(plain("\n".join(lines)) + "\n")
        if any(m.about for m in values):
            notes.append(f"~: of more than {MOST_KEPT:,} rows, scores within 0.2 % of each other count as equal")
        for note in () if o.quiet else notes:
            say(f"note: {note}")
        code = frame.code() or check()
        frame.report(
            options=frame.reported_options(first.opened.settings, "data", "model"), signal=frame.signal,
            results={**found, **result}, notes=notes, exit_code=code,
        )
        return code


def _paired(
    first: Evaluating, second: Evaluating | None, against: Against | None
) -> Iterator[tuple[Parsed, Rows, Floats]]:
    """The batches of the first model; each is compared with the same examples of the second."""
    if second is None or against is None:
        yield from first.batches()
        return
    ahead = [np.empty((5, 0)), np.empty((5, 0))]  # rows that wait for those of the other model
    for one, other in zip_longest(first.batches(), second.batches()):
        for k, found in enumerate((one, other)):
            if found is not None:
                ahead[k] = np.hstack([ahead[k], np.array(found[1])])
        n = min(part.shape[1] for part in ahead)
        a, b = (Rows(*part[:, :n]) for part in ahead)
        if not np.array_equal(a.weight, b.weight):
            break
        against.add(a, b)
        ahead = [part[:, n:] for part in ahead]
        if one is not None:
            yield one
    if any(part.size for part in ahead):
        raise DataError("--against: the models do not evaluate the same examples of the data")


def _same_kind(o: EvaluateOptions, second: Evaluating, whole: Measured) -> Measured:
    kind = second.kind(o.threshold)
    if type(kind) is not type(whole.kind):
        raise UsageError(f"--against: {o.against} and {o.model} are models of different tasks: their measures differ")
    return Measured(kind)


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


def _part(part: Measured) -> dict[str, Any]:
    return {"rows": part.rows, "measures": {m.key: m.as_dict() for m in part.values()}}


def _conditions(o: EvaluateOptions, whole: Measured) -> Callable[[], int]:
    """Checks the conditions of --fail-if: the exit code. UsageError for a measure that there is not."""
    check_names(o.fail_if, whole.keys())

    def check() -> int:
        wanted = {condition.measure for condition in o.fail_if}
        failed = failures(o.fail_if, {m.key: m.value().value for m in whole.measures if m.key in wanted})
        for failure in failed:
            say(failure)
        return 1 if failed else 0

    return check
