"""A page about a model and labelled data."""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from vwlite import __version__
from vwlite.core.data.batch import Batch
from vwlite.errors import DataError, NoInputError
from vwlite.evaluation.commands import ReportOptions
from vwlite.evaluation.evaluate import Evaluating, Evaluation, models_of
from vwlite.evaluation.kinds import Binary, Classes, Regression
from vwlite.evaluation.page import sections
from vwlite.evaluation.page.markup import Markup, columns, joined, page, section, text
from vwlite.evaluation.page.origin import command_of
from vwlite.evaluation.worst import Worst, WorstRow
from vwlite.input.parsing import Parsed
from vwlite.input.sources import display_name
from vwlite.input.tables import TableReader
from vwlite.inspection.describe import Description
from vwlite.inspection.weights_of_data import WeightRow, WeightsOfData
from vwlite.model.weights import largest
from vwlite.output.json_text import json_text
from vwlite.runs.frame import RunFrame
from vwlite.runs.options import InputOptions
from vwlite.runs.run import feed, say

WORST, LISTED, WEIGHTS = 10, 3, 30  # rows, contributions of each, weights


class ModelPart:
    """What the page says of one model besides its measures: its weights beside the data, and its worst rows.

    description: of the data, if this part is to make it.
    """

    def __init__(self, model: Evaluating, description: Description | None = None) -> None:
        self._worst, self.weights = Worst(model.opened, WORST, LISTED), WeightsOfData(model.opened)
        self.recorder, self._settings = self._worst.recorder, model.opened.settings
        self.path, self.model, self._description = model.opened.path, model.opened.model, description
        parse = replace(model.scoring.parse, finder=partial(Finders, self._worst.finder, self.weights.finder))
        self.parse = parse if description is None else replace(parse, spaces=True, keeps_text=True)

    def over(self, batches: Iterable[Parsed]) -> Iterator[Parsed]:
        """The batches, which this takes after somebody has evaluated them, without bad lines."""
        for parsed in batches:
            yield parsed
            feed(self.recorder, parsed.batch, self._settings, diverged=lambda batch, row: self.recorder.reject())
            parsed.names, names = parsed.names or (None, None)
            self._worst.take(parsed)
            self.weights.take(parsed.batch, names)
            if self._description is not None:
                self._description.take(parsed)

    @property
    def worst(self) -> list[WorstRow]:
        return self._worst.rows()

    def rows(self) -> list[WeightRow]:
        """Of the largest weights."""
        selected = largest(self.weights.model, WEIGHTS, False, None, False, self.weights.effects)
        return list(islice(self.weights.rows(selected), WEIGHTS))

    def as_dict(self) -> dict[str, Any]:
        return {
            "model": self.path, "digest": self.model.digest, "command": command_of(self.model),
            "passes": self.model.passes, "worst": [row.as_dict() for row in self.worst],
            "groups": [g._asdict() for g in self.weights.groups()], "weights": [row._asdict() for row in self.rows()],
        }


class Finders:
    """Looks for names of features for several, each with a finder of its own."""

    def __init__(self, *make: Callable[[], Any]) -> None:
        self._finders = [one() for one in make]

    def find(self, block: Any, batch: Batch, *, convert: Any = None) -> list[Any]:
        return [finder.find(block, batch, convert=convert) for finder in self._finders]


class Report:
    """What the page says. The data are read once for each model: read `batches` with the `parse` of its part.

    models: the model, and another one to compare it with. o: how the data are read. front: as `vwlite tune` writes it.
    """

    def __init__(
        self, models: Sequence[Evaluating], o: InputOptions, *, threshold: float | None = None,
        front: Sequence[dict[str, Any]] = (),
    ) -> None:
        first = models[0]
        self.evaluation, self._front = Evaluation(*models, threshold=threshold), front
        self._description = Description(o, first.opened.parse.table or TableReader(), first.scoring.shown_label)
        self.parts = [ModelPart(model, None if k else self._description) for k, model in enumerate(models)]

    def read(self, *batches: Iterable[Parsed]) -> None:
        """Take the batches for each model."""
        self.evaluation.read(*(part.over(of) for part, of in zip(self.parts, batches, strict=True)))

    def finish(self, data: Sequence[tuple[str, str]], on_unknown: str = "note") -> None:
        """data: names of files, and their digests. DataError if there is nothing to evaluate."""
        self._data = data
        _, self.notes = self.evaluation.finish(", ".join(name for name, _ in data), on_unknown)
        for part in self.parts:
            part.weights.finish()
        self.notes += self._description.notes()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"measures": self.evaluation.as_dict(), "notes": self.notes, "models": [p.as_dict() for p in self.parts],
                "front": self._front, "data": dict(self._data)}

    def page(self) -> str:
        """As HTML."""
        evaluation, parts, names = self.evaluation, self.parts, [part.path for part in self.parts]
        whole, against = evaluation.whole, evaluation.against
        said = sections.verdict(whole, evaluation.values, evaluation.first.positive)

        def of_each(found: list[Markup]) -> Markup:
            if len(parts) == 1:
                return found[0]
            return columns([joined([Markup(f"<h3>{text(n)}</h3>"), f]) for n, f in zip(names, found, strict=True)])

        kinds = [whole.kind, *([against.other.kind] if against else [])]
        if isinstance(whole.kind, Binary):
            pairs = [(n, kind) for n, kind in zip(names, kinds, strict=True) if isinstance(kind, Binary)]
            order, title = sections.of_order(pairs), "ROC, precision and recall, calibration"
        elif isinstance(whole.kind, Classes):
            classes = evaluation.first.class_names
            order = of_each([sections.of_classes(kind, classes) for kind in kinds if isinstance(kind, Classes)])
            title = "Classes"
        else:
            order = of_each([sections.of_numbers(kind) for kind in kinds if isinstance(kind, Regression)])
            title = "Predictions and labels"
        weights = [sections.of_weights(p.weights.groups(), p.rows(), p.weights.examples) for p in parts]
        body = [
            Markup(f'<p class="verdict">{text(said, None)}</p>'),
            section("Measures", sections.of_measures(evaluation.values, against, names)),
            section("Training", of_each([sections.of_training(part.model.passes) for part in parts])),
            section(title, order),
            section("Weights", of_each(weights)),
            section("Worst rows", of_each([sections.of_worst(part.worst) for part in parts])),
            section("Notes on the data", sections.of_notes(self.notes)),
            section("Loss and nonzero weights", sections.of_front(self._front)),
            section("How to make it again", sections.of_origin([(p.path, p.model) for p in parts], self._data,
                                                               f"vwlite {__version__}")),
        ]
        files = [", ".join(map(os.path.basename, paths)) for paths in (names, [name for name, _ in self._data])]
        return page(" on ".join(files), joined(body))


class Digests:
    """SHA-256 of files, of their bytes while they are read."""

    def __init__(self) -> None:
        self._open: dict[str, Any] = {}
        self._found: dict[str, str] = {}

    def take(self, name: str, data: Any) -> None:
        """The next bytes of a source; none at its end."""
        self._open.setdefault(name, hashlib.sha256()).update(data)
        if not len(data):
            self._found.setdefault(name, self._open.pop(name).hexdigest())

    def of(self, path: str) -> tuple[str, str]:
        """The name of a source, and its digest. Some formats are not read from begin to end: those files are, here."""
        name = display_name(path)
        if name not in self._found:
            self._open.pop(name, None)
            with open(path, "rb") as file:
                while piece := file.read(1 << 20):
                    self.take(name, piece)
                self.take(name, b"")
        return name, self._found[name]


def report(o: ReportOptions) -> int:
    """Run `vwlite report`; the exit code."""
    front = front_of(o.front)
    with RunFrame("report", o) as frame:
        out = frame.file(o.output) if o.output != "-" else None
        models, digests = models_of(o, frame), Digests()
        made = Report([model for model, _ in models], o, threshold=o.threshold, front=front)
        made.parts[0].parse = replace(made.parts[0].parse, tap=digests.take)
        made.read(*(reading.batches(part.parse, model.learner, part.recorder)
                    for part, (model, reading) in zip(made.parts, models, strict=True)))
        if frame.signal is not None:
            return frame.code("; no page was written")
        models[0][1].bad.finish()
        made.finish([*map(digests.of, o.data or ["-"])], o.on_unknown)
        facts = made.as_dict()
        written = json_text(facts, indent=2, ensure_ascii=False) + "\n" if o.json else made.page()
        if out is None:
            sys.stdout.write(written)
        else:
            out.write(written.encode("utf-8", "replace"))
            out.commit()
            if not o.quiet:
                say(f"the page is in {o.output}")
        settings = models[0][0].opened.settings
        frame.report(options=frame.reported_options(settings, "data", "model"), signal=frame.signal, results=facts,
                     notes=made.notes)
        return frame.code()


def front_of(path: str | None) -> list[dict[str, Any]]:
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
