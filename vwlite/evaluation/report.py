"""A run that makes a page about a model and labelled data."""

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from vwlite import __version__
from vwlite.errors import DataError, NoInputError, UsageError
from vwlite.evaluation.commands import ReportOptions
from vwlite.evaluation.evaluate import Evaluation
from vwlite.evaluation.kinds import Binary, Classes, Regression
from vwlite.evaluation.page import sections
from vwlite.evaluation.page.markup import Markup, columns, joined, page, paragraph, section, text
from vwlite.evaluation.page.origin import command_of
from vwlite.evaluation.worst import WorstRow, worst_rows
from vwlite.inspection.describe import notes_on
from vwlite.inspection.weights_of_data import WeightsOfData, weights_of_data
from vwlite.model.weights import largest
from vwlite.output.json_text import json_text
from vwlite.runs.frame import RunFrame
from vwlite.runs.opened import Opened
from vwlite.runs.run import say

WORST, WEIGHTS = 10, 30  # rows


def report(o: ReportOptions) -> int:
    """Run `vwlite report`; the exit code."""
    if not o.data or "-" in o.data:
        raise UsageError("the data are read several times, and standard input is read only once: name DATA files")
    front = _front_of(o.front)
    with RunFrame("report", o) as frame:
        out = frame.file(o.output) if o.output != "-" else None
        evaluation = Evaluation(o, frame)
        evaluation.run()
        if frame.signal is not None:
            return frame.code("; no page was written")
        _, notes = evaluation.finish()
        quiet = replace(o, quiet=True, rejects=None, report=None)
        parts = [Part(quiet, frame)] + ([Part(replace(quiet, model=o.against), frame)] if o.against else [])
        notes += notes_on(quiet, evaluation.first.opened.model.columns)
        data = [(path, _digest(path)) for path in o.data]
        if frame.signal is not None:
            return frame.code("; no page was written")
        facts = {"measures": evaluation.as_dict(), "notes": notes, "models": [p.as_dict() for p in parts],
                 "front": front, "data": dict(data)}
        if o.json:
            written = json_text(facts, indent=2, ensure_ascii=False) + "\n"
        else:
            written = _page(o, evaluation, parts, notes, data, front)
        if out is None:
            sys.stdout.write(written)
        else:
            out.write(written.encode("utf-8", "replace"))
            out.commit()
            if not o.quiet:
                say(f"the page is in {o.output}")
        frame.report(options=frame.reported_options(evaluation.first.opened.settings, "data", "model"),
                     signal=frame.signal, results=facts, notes=notes)
        return frame.code()


class Part:
    """What the page says of one model: its weights beside the data, and its worst rows."""

    def __init__(self, o: ReportOptions, frame: RunFrame) -> None:
        assert o.model is not None
        self.path = o.model
        self.worst: list[WorstRow] = worst_rows(o, Opened(o), frame, WORST)
        opened = Opened(o)
        self.model = opened.model
        self.weights: WeightsOfData | None = weights_of_data(o, opened, frame)

    def rows(self) -> list[Any]:
        """Of the largest weights."""
        if self.weights is None:
            return []
        selected = largest(self.weights.model, WEIGHTS, False, None, False, self.weights.effects)
        return list(islice(self.weights.rows(selected), WEIGHTS))

    def as_dict(self) -> dict[str, Any]:
        groups = self.weights.groups() if self.weights else []
        return {
            "model": self.path, "digest": self.model.digest, "command": command_of(self.model),
            "passes": self.model.passes, "worst": [row.as_dict() for row in self.worst],
            "groups": [g._asdict() for g in groups], "weights": [row._asdict() for row in self.rows()],
        }


def _page(
    o: ReportOptions, evaluation: Evaluation, parts: list[Part], notes: list[str], data: list[tuple[str, str]],
    front: Sequence[dict[str, Any]],
) -> str:
    whole, against, names = evaluation.whole, evaluation.against, [part.path for part in parts]
    said = sections.verdict(whole, evaluation.values, evaluation.first.positive)

    def of_each(found: list[Markup]) -> Markup:
        if len(parts) == 1:
            return found[0]
        return columns([joined([Markup(f"<h3>{text(n)}</h3>"), f]) for n, f in zip(names, found, strict=True)])

    kinds = [whole.kind, *([against.other.kind] if against else [])]
    if isinstance(whole.kind, Binary):
        pairs = [(n, e) for n, e in zip(names, kinds, strict=True) if isinstance(e, Binary)]
        order, title = sections.of_order(pairs), "ROC, precision and recall, calibration"
    elif isinstance(whole.kind, Classes):
        classes = evaluation.first.class_names
        order = of_each([sections.of_classes(e, classes) for e in kinds if isinstance(e, Classes)])
        title = "Classes"
    else:
        order = of_each([sections.of_numbers(e) for e in kinds if isinstance(e, Regression)])
        title = "Predictions and labels"
    body = [
        Markup(f'<p class="verdict">{text(said, None)}</p>'),
        section("Measures", sections.of_measures(evaluation.values, against, names)),
        section("Training", of_each([sections.of_training(part.model.passes) for part in parts])),
        section(title, order),
        section("Weights", of_each([
            sections.of_weights(part.weights.groups(), part.rows(), part.weights.examples)
            if part.weights else paragraph("-") for part in parts
        ])),
        section("Worst rows", of_each([sections.of_worst(part.worst) for part in parts])),
        section("Notes on the data", sections.of_notes(notes)),
        section("Loss and nonzero weights", sections.of_front(front)),
        section("How to make it again", sections.of_origin([(p.path, p.model) for p in parts], data,
                                                           f"vwlite {__version__}")),
    ]
    files = [", ".join(map(os.path.basename, paths)) for paths in (names, o.data)]
    return page(" on ".join(files), joined(body))


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else _old_digest(file)


def _old_digest(file: Any) -> str:
    found = hashlib.sha256()
    while piece := file.read(1 << 20):
        found.update(piece)
    return found.hexdigest()


def _front_of(path: str | None) -> list[dict[str, Any]]:
    """What `vwlite tune --json` wrote. DataError if it is something else."""
    if path is None:
        return []
    try:
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)["front"]
        return [{"nonzero weights": int(row["nonzero weights"]), "loss": float(row["loss"])} for row in rows]
    except OSError as e:
        raise NoInputError(f"{path}: {e.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{path}: not what vwlite tune --json writes") from None
