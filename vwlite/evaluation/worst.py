"""The examples with the largest loss, and the features that moved the score away from the label."""

import sys
from typing import Any, NamedTuple

import numpy as np

from vwlite.core.learn.recorder import Recorder
from vwlite.errors import DataError, UsageError
from vwlite.evaluation.commands import WorstOptions
from vwlite.evaluation.explain import (
    Explainer,
    Explanation,
    View,
    heading,
    number_text,
    place_of,
    records_of,
    term_lines,
)
from vwlite.output.json_text import json_text
from vwlite.output.stdio import plain, say
from vwlite.prediction.scoring import Scoring
from vwlite.runs.frame import RunFrame
from vwlite.runs.opened import Opened
from vwlite.runs.options import ModelOptions


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

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        explained = self.explanation.as_dict()
        found = {name: value for name, value in self._asdict().items() if name not in ("rival", "explanation")}
        return found | ({"rival": self.rival, "margin": explained} if self.rival else explained)


def worst_rows(o: ModelOptions, opened: Opened, frame: RunFrame, top: int = 10, listed: int = 3) -> list[WorstRow]:
    """The lines of DATA with the largest loss, the first of equal ones; of a part of them after a signal.
    listed: how many contributions of each. DataError if no line has a label."""
    if not opened.settings.loss:
        raise UsageError(f"{opened.path} does not store its loss: give --loss")
    explainer, recorder = Explainer(opened, listed), Recorder(opened.learner)
    run, labelled = Scoring(o, opened, frame, recorder), 0
    kept: list[tuple[float, float, WorstRow]] = []  # loss, and the margin of classes without probabilities
    for parsed in run.batches():
        rows, records = records_of(recorder, parsed.batch)
        counted = (np.asarray(parsed.batch.importance)[rows] > 0) & ~np.isnan(records["loss"])
        labelled += int(counted.sum())
        counted &= records["loss"] > 0
        rows, records = rows[counted], records[counted]
        margin = records["slope"] if run.settings.oaa else np.zeros(len(records))
        order = np.lexsort((-margin, -records["loss"]))[:top].tolist()
        if len(kept) == top:
            order = [i for i in order if (records["loss"][i], margin[i]) > kept[-1][:2]]
        views = [View(max(int(r["rival"]) - 1, 0), int(r["label"]) - 1, 1) if run.settings.oaa
                 else View(sign=1 if r["slope"] > 0 else -1) for r in records[order]]
        found = explainer.explain(parsed, [(int(rows[i]), [view]) for i, view in zip(order, views, strict=True)])
        for i, (explanation,) in zip(order, found, strict=True):
            loss, label, shown, rival = (float(records[name][i]) for name in ("loss", "label", "shown", "rival"))
            names = run.shown_label(label), run.shown(shown), str(run.shown(rival)) if run.settings.oaa else None
            row = WorstRow(loss, *place_of(parsed.batch, int(rows[i])), *names, explanation)
            kept.append((loss, float(margin[i]), row))
        kept.sort(key=lambda one: (-one[0], -one[1]))  # stable: the first of equal ones stay first
        del kept[top:]
    run.bad.finish()
    labels, wrong = run.about_labels()
    if frame.signal is None and (wrong or not labelled):
        raise DataError(wrong or "no example of the data has a label: the loss of a prediction needs one")
    for note in labels[1] if not o.quiet else ():
        say(f"note: {note}")
    return [row for _, _, row in kept]


def worst(o: WorstOptions) -> int:
    """Run `vwlite worst`; the exit code."""
    opened = Opened(o)
    with RunFrame("worst", o) as frame:
        rows = worst_rows(o, opened, frame, o.top, o.contributions)
        if frame.signal is not None:
            return frame.code()
        if o.json:
            sys.stdout.write("".join(json_text(row.as_dict()) + "\n" for row in rows))
        else:
            sys.stdout.write(plain("\n".join(_text(opened, i, row) for i, row in enumerate(rows, 1))))
        if not rows and not o.quiet:
            say("no example has a loss above 0")
        frame.report(options=frame.reported_options(opened.settings, "data", "model"), signal=frame.signal,
                     results={"worst": [row.as_dict() for row in rows]})
        return frame.code()


def _text(opened: Opened, number: int, row: WorstRow) -> str:
    what = [f"loss {row.loss:.6g}", f"label {number_text(row.label)}", f"predicted {number_text(row.prediction)}"]
    if row.rival:
        what.append(f"{number_text(row.rival)} ahead by {row.explanation.score:.6g}")
    return heading(row.file, row.line, row.tag, what, f"{number}. ") + term_lines(opened.settings, row.explanation)
