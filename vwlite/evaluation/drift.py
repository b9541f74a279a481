"""A run of `vwlite drift`."""

import math
from dataclasses import replace
from textwrap import wrap
from typing import Any

import numpy as np

from vwlite.algorithms.predicted import linked
from vwlite.errors import UsageError
from vwlite.evaluation.columns import Columns, verdict
from vwlite.evaluation.commands import DriftOptions
from vwlite.evaluation.evaluate import Evaluating, names_of
from vwlite.evaluation.influence import Influence
from vwlite.evaluation.page.days import Day, of_days, shown_as
from vwlite.evaluation.sums import Sample
from vwlite.hashing import namespace_hash
from vwlite.input.parsing import EXAMPLE
from vwlite.input.sources import display_name
from vwlite.model.nights import nights_of
from vwlite.names import namespace_of
from vwlite.output.json_text import json_text, with_schema
from vwlite.output.text import printable
from vwlite.runs.frame import RunFrame
from vwlite.runs.opened import Opened, opened
from vwlite.runs.run import say
from vwlite.runs.scoring import Reading
from vwlite.runs.watched import Number, Watched, differs, mean, mean_of, watched

SHOWN = 30  # numbers of columns
WIDTH = 80  # of a line
UNKNOWN = Watched("unknown_features")


class FileStatistics:
    """A file, as the model sees it. pictured: for the page. before: the day that features are compared with, if the
    model has none."""

    def __init__(
        self, applied: Opened, reading: Reading, pictured: bool, before: "FileStatistics | None" = None
    ) -> None:
        model, run = applied.model, Evaluating(applied, reading.take_bad, everything=True)
        tally = run.learner.progressive
        has_features = applied.kept.features > 0
        keys = np.asarray(model.keys) if has_features else before.columns.keys if before is not None else None
        self.columns: Columns = Columns(keys, model.settings.bits, model.absent_hashes)
        self.kind, self.predictions, sums = run.kind(), Sample(), np.zeros(4)
        self.influence = Influence.of(applied, run.scoring.parse) if pictured else None
        self.names, self.nights = {0: "(no name)"}, nights_of(model.continued)
        for column, _ in model.columns.get("roles", ()):
            space = namespace_of(column).encode("utf-8", "surrogateescape")
            self.names.setdefault(namespace_hash(space), printable(column))
        for parsed, rows, _ in run.over(reading.batches(run.scoring.parse, run.learner)):
            self.columns.add(parsed.batch, np.asarray(parsed.batch.kind, np.uint8) == EXAMPLE)
            w, p = rows.weight, rows.prediction
            if tally.logistic:
                p = linked(p, "logistic")
            sums += [w @ p, w @ (p * p), w.sum(), w @ w]
            if pictured:
                self.predictions.add(rows.prediction)
                if self.influence is not None:
                    self.influence.take(parsed.batch)
            for hash, name in parsed.spaces.items() if not model.columns else ():
                self.names.setdefault(hash, printable(name))
        if not reading.interrupted:
            reading.bad.finish()
            _, self.notes = run.finish(names_of(reading.data), needs_labels=False)
        self.numbers, self.rows, self.classes = watched(run.learner), run.learner.examples, run.class_names
        if not (tally.weight or self.classes) and sums[2]:
            self.numbers[mean_of(run.learner, "prediction")] = mean(*sums.tolist())
        if not has_features and UNKNOWN in self.numbers:
            self.numbers[UNKNOWN] = self.columns.unknown()

    def day(self, path: str) -> Day:
        """For the page."""
        if self.influence is not None:
            self.influence.finish()
        return Day(display_name(path), self.rows, shown_as(self.kind, *self.predictions.columns()), self.influence)


def drift(o: DriftOptions) -> int:
    """Run `vwlite drift`; the exit code."""
    if len(o.data) != 2:
        raise UsageError("name two files, YESTERDAY and TODAY, such as day1.vw day2.vw")
    with RunFrame("drift", o) as frame:
        out = frame.file(o.page) if o.page else None
        def statistics(data: tuple[str, ...], before: FileStatistics | None = None) -> FileStatistics:
            applied = opened(replace(o, data=data), spaces=True, names_spaces=True)
            return FileStatistics(applied, Reading(frame, data), o.page is not None, before)

        a = statistics(o.data[:1])
        b = statistics(o.data[1:], a)
        if frame.signal is not None:
            return frame.code()
        pairs = {name: (x, b.numbers[name]) for name, x in a.numbers.items() if name in b.numbers}
        columns = a.columns.beside(b.columns, a.names | b.names)
        if out is not None:
            days = a.day(o.data[0]), b.day(o.data[1])
            notes = [*dict.fromkeys(a.notes + b.notes)]
            written = of_days(o.model or "", days, b.kind, b.classes, pairs, columns, notes, b.nights)
            out.write(written.encode("utf-8", "replace"))
            if frame.commit(out.commit) and not o.quiet:
                say(f"the page is in {o.page}")
        if o.json:
            facts: dict[str, Any] = {"numbers": {of.name: _fact(*pair) for of, pair in pairs.items()}, "columns": {}}
            for of, pair in columns.items():
                facts["columns"].setdefault(of.column, {})[of.key] = _fact(*pair)
            print(json_text(with_schema(facts), indent=2, ensure_ascii=False))
            return frame.code()
        found = {of: pair for of, pair in columns.items() if differs(*pair)}
        print(*wrap(printable(verdict(pairs, columns)), WIDTH, break_on_hyphens=False), "", sep="\n")
        print(f"{'':40}{'yesterday':>12}{'today':>12}", *(_row(of.text, *pair) for of, pair in pairs.items()), sep="\n")
        print(f"\n{len(found)} of {len(columns)} numbers of columns differ{'; --json has all' * (len(found) > SHOWN)}")
        for of in list(found)[:SHOWN]:
            print(_row(of.text, *found[of]))
        for note in () if o.quiet else dict.fromkeys(a.notes + b.notes):
            say(f"note: {note}")
        return frame.code()


def _fact(a: Number, b: Number) -> dict[str, float | None]:
    errors = [x.error if math.isfinite(x.error) else None for x in (a, b)]
    return {"yesterday": a.value, "yesterday_error": errors[0], "today": b.value, "today_error": errors[1],
            "differs": differs(a, b)}


def _row(name: str, a: Number, b: Number) -> str:
    shown = name if len(name) <= 39 else "..." + name[-36:]
    return f"{shown:<40}{a.value:>12.5g}{b.value:>12.5g}{' *' * differs(a, b)}"
