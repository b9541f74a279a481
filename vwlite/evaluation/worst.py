"""The examples with the largest loss, and the features that moved the score away from the label."""

import sys
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from vwlite.algorithms.settings import Settings
from vwlite.core.learn.recorder import Recorder
from vwlite.errors import DataError, UsageError
from vwlite.evaluation.commands import WorstOptions
from vwlite.evaluation.explain import (
    INDENT,
    Explainer,
    Explanation,
    column_lines,
    column_terms,
    heading,
    number_text,
    place_of,
    records_of,
    term_lines,
)
from vwlite.evaluation.terms import Terms, View
from vwlite.input.parsing import Parsed, ParseOptions
from vwlite.output.json_text import json_text
from vwlite.output.stdio import plain, say
from vwlite.output.text import cut, printable
from vwlite.runs.frame import RunFrame
from vwlite.runs.opened import Opened, opened
from vwlite.runs.scoring import Reading, Scoring

NOT_IN_JSON = ("rival", "explanation", "terms", "source")


class WorstRow(NamedTuple):
    """A line with a large loss. label, prediction: as in the data and as `vwlite predict` writes it.

    explanation: of the score, or, with classes, of how far the score of `rival` is above that of the label; listed are
    only contributions that moved the score away from the label.
    """

    loss: float
    file: str
    line: int
    tag: str
    label: float | str
    prediction: float | str
    rival: str | None
    explanation: Explanation
    terms: Terms | None = None  # of the same score, by columns
    source: str = ""  # the line itself, if it is one of text

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        explained = self.explanation.as_dict()
        found = {name: value for name, value in self._asdict().items() if name not in NOT_IN_JSON}
        return found | ({"rival": self.rival, "margin": explained} if self.rival else explained)


class Worst:
    """The examples of batches with the largest loss, the first of equal ones.

    listed: how many contributions of each. by_columns: in terms of columns, too; batches are then parsed by `reading`.
    recorder: has predicted each batch before it is taken. UsageError if the
    model has no loss.
    """

    def __init__(self, opened: Opened, top: int, listed: int, *, by_columns: bool = False) -> None:
        if not opened.settings.loss:
            raise UsageError(f"{opened.path} does not store its loss: give --loss")
        self._top, self._outputs, self.labelled = top, opened.settings.outputs, 0
        self._explainer, self.recorder = Explainer(opened, listed), Recorder(opened.learner)
        self.finder = self._explainer.finder
        self.terms = column_terms(opened, self._explainer, listed) if by_columns else None
        self._kept: list[tuple[float, float, WorstRow]] = []  # loss, and the margin of classes without probabilities

    def take(self, parsed: Parsed) -> tuple[Any, Any]:
        """Look at a batch. The rows that were predicted, and what the recorder has of them."""
        rows, records = every = records_of(self.recorder, parsed.batch)
        counted = (np.asarray(parsed.batch.importance)[rows] > 0) & ~np.isnan(records["loss"])
        self.labelled += int(counted.sum())
        counted &= records["loss"] > 0
        rows, records = rows[counted], records[counted]
        margin = self._outputs.margins(records["slope"])
        order = np.lexsort((-margin, -records["loss"]))[: self._top].tolist()
        if len(self._kept) == self._top:
            order = [i for i in order if (records["loss"][i], margin[i]) > self._kept[-1][:2]]
        wanted = [(int(rows[i]), [self._view(records[i])]) for i in order]
        pairs = [(row, view) for row, (view,) in wanted]
        terms = self.terms.of(parsed, pairs) if self.terms is not None else [None] * len(order)
        lines = [""] * len(order)
        if parsed.source is not None:
            found = parsed.source.lines_of(parsed.batch, [row for row, _ in wanted])
            lines = [line.decode("utf-8", "replace") for line in found]
        explained = self._explainer.explain(parsed, wanted)
        for i, (explanation,), each, line in zip(order, explained, terms, lines, strict=True):
            row = self._row(place_of(parsed.batch, int(rows[i])), records[i], explanation)
            row = row._replace(terms=each, source=line)
            self._kept.append((row.loss, float(margin[i]), row))
        self._kept.sort(key=lambda one: (-one[0], -one[1]))  # stable: the first of equal ones stay first
        del self._kept[self._top :]
        return every

    def reading(self, parse: ParseOptions) -> ParseOptions:
        parse = replace(parse, keeps_text=True)
        return parse if self.terms is None else self.terms.reading(parse)

    def _view(self, record: Any) -> View:
        return View(*self._outputs.wrong(*(float(record[name]) for name in ("label", "rival", "slope"))))

    def _row(self, place: tuple[str, int, str], record: Any, explanation: Explanation) -> WorstRow:
        loss, label, prediction, rival = (float(record[name]) for name in ("loss", "label", "shown", "rival"))
        outputs, learner = self._outputs, self.recorder
        names = (outputs.shown_label(label, learner), outputs.shown(prediction, learner),
                 None if self._view(record).minus is None else str(outputs.shown(rival, learner)))
        return WorstRow(loss, *place, *names, explanation)

    def rows(self) -> list[WorstRow]:
        """Those of all batches so far."""
        return [row for _, _, row in self._kept]


def worst(o: WorstOptions) -> int:
    """Run `vwlite worst`; the exit code."""
    model = opened(o)
    with RunFrame("worst", o) as frame:
        reading, found = Reading(frame), Worst(model, o.top, o.contributions, by_columns=not o.json)
        scoring = Scoring(model, found.recorder, reading.take_bad)
        for parsed in reading.batches(found.reading(replace(scoring.parse, finder=found.finder)), found.recorder):
            scoring.take(parsed)
            found.take(parsed)
        reading.bad.finish()
        if frame.signal is not None:
            return frame.code()
        labels, wrong = scoring.about_labels()
        if wrong or not found.labelled:
            raise DataError(wrong or "no example of the data has a label: the loss of a prediction needs one")
        notes = [*labels[1], *model.settings.outputs.transform.notes("losses and contributions")]
        for note in notes if not o.quiet else ():
            say(f"note: {note}")
        rows = found.rows()
        if o.json:
            sys.stdout.write("".join(json_text(row.as_dict()) + "\n" for row in rows))
        else:
            sys.stdout.write(plain("\n".join(_text(model.settings, i, row) for i, row in enumerate(rows, 1))))
        if not rows and not o.quiet:
            say("no example has a loss above 0")
        frame.report(options=frame.reported_options(model.settings, "data", "model"), signal=frame.signal,
                     results={"worst": [row.as_dict() for row in rows]})
        return frame.code()


def _text(settings: Settings, number: int, row: WorstRow) -> str:
    what = [f"loss {row.loss:.6g}", f"label {number_text(row.label)}", f"predicted {number_text(row.prediction)}"]
    if row.rival:
        margin = row.explanation.score
        what.append(f"{number_text(row.rival)} {'behind' if margin < 0 else 'ahead'} by {abs(margin):.6g}")
    lines = column_lines(row.terms) if row.terms is not None else term_lines(settings, row.explanation)
    is_shown = row.terms is not None and row.terms.texts
    line = "" if is_shown or not row.source else f"{cut(INDENT + printable(row.source))}\n"
    return heading(row.file, row.line, row.tag, what, f"{number}. ") + line + lines
