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
from vwlite.evaluation.influence import Influence
from vwlite.evaluation.kinds import Binary, Classes, Kind, Regression
from vwlite.evaluation.page import pictures, sections
from vwlite.evaluation.page.charts import Bar, compact
from vwlite.evaluation.page.markup import Markup, columns, joined, name, page, paragraph, section, today
from vwlite.evaluation.page.nights import of_nights
from vwlite.evaluation.page.origin import command_of
from vwlite.evaluation.page.sections import Label, label_of
from vwlite.evaluation.page.units import unit_of
from vwlite.evaluation.sampling import Sampling
from vwlite.evaluation.word_sums import WordSums
from vwlite.evaluation.worst import Worst, WorstRow
from vwlite.input.parsing import Parsed
from vwlite.input.schema import RoleOptions
from vwlite.input.sources import display_name
from vwlite.input.tables import TableReader
from vwlite.inspection.describe import Description
from vwlite.inspection.weights_of_data import WeightRow, WeightsOfData
from vwlite.model.effects import BY_LENGTH
from vwlite.model.header import in_json
from vwlite.model.nights import nights_of
from vwlite.model.weights import largest
from vwlite.names import namespace_of
from vwlite.output.json_text import json_text, with_schema
from vwlite.runs.frame import RunFrame
from vwlite.runs.run import feed, say

WORST, LISTED, WEIGHTS = 10, 3, 30  # rows, contributions of each, weights
WORDS, PICTURES_OF_TWO = 16, 12  # of a column of text; of each of two models


class ModelPart:
    """What the page says of one model besides its measures: its effects or weights beside the data, and its worst rows.

    description: of the data, if this part is to make it.
    """

    def __init__(self, model: Evaluating, description: Description | None = None) -> None:
        self._worst, self.weights = Worst(model.opened, WORST, LISTED, by_columns=True), WeightsOfData(model.opened)
        self.recorder, self._settings = self._worst.recorder, model.opened.settings
        self.path, self.model, self._description = model.opened.path, model.opened.model, description
        parse = replace(model.scoring.parse, finder=partial(Finders, self._worst.finder, self.weights.finder))
        self.parse = self._worst.reading(parse)
        if description is not None:
            self.parse = replace(self.parse, spaces=True, keeps_text=True)
        self.influence, self.sampling = Influence.of(model.opened, self.parse), Sampling()
        self._words = WordSums(model.opened, self._worst.terms) if self._worst.terms is not None else None

    def over(self, batches: Iterable[Parsed]) -> Iterator[Parsed]:
        """The batches, which this takes after somebody has evaluated them, without bad lines."""
        for parsed in batches:
            yield parsed
            feed(self.recorder, parsed.batch, self._settings, diverged=lambda batch, row: self.recorder.reject())
            parsed.names, names = parsed.names or (None, None)
            rows, records = self._worst.take(parsed)
            if self._words is not None:
                classes = self._settings.outputs.tau_names or self.recorder.class_names
                self._words.take(parsed, rows, records["shown"], classes)
            self.weights.take(parsed.batch, names)
            if self.influence is not None:
                self.influence.take(parsed.batch, self.sampling.of(parsed))
            if self._description is not None:
                self._description.take(parsed)

    def finish(self) -> None:
        self.weights.finish()
        if self.influence is not None:
            self.influence.finish()

    @property
    def worst(self) -> list[WorstRow]:
        return self._worst.rows()

    def rows(self) -> list[WeightRow]:
        """Of the largest weights."""
        selected = largest(self.weights.model, WEIGHTS, False, None, False, self.weights.effects)
        return list(islice(self.weights.rows(selected), WEIGHTS))

    def words(self, column: str, value: float) -> list[Bar]:
        """Those of a column of text that move scores most; its features, if the texts are not known. value: of each of
        these."""
        found = self._words.of(column, WORDS) if self._words is not None else []
        if found:
            return [Bar(of.word + (f" (for {of.of_class})" if of.of_class else ""), of.mean, compact(of.mean),
                        f"{of.rows:,}") for of in found]
        space = f"{namespace_of(column)}^"
        selected = largest(self.weights.model, None, False, space, False, self.weights.effects)
        rows = (row for row in self.weights.rows(selected) if row.names[0].startswith(space))
        return sections.word_bars(rows, WORDS, space, value)

    def effects(self, kind: Kind, label: Label, most: int) -> Markup:
        """What moves scores: effects, or features if the model has no columns."""
        seen = self.influence
        is_mapped = "slope" in self.model.calibration  # then effects are those of scores before the map
        unit = unit_of(kind, label.column, label.positive, seen.effects if seen is not None and not is_mapped else None)
        if seen is None or not seen.ordered():
            return sections.of_weights(self.weights.groups(), self.rows(), unit.name)
        about = (f"A score is the sum of these effects and {sections.base_of(seen.effects)}. {unit.meaning} The number "
                 "beside the name of an effect is its mean contribution; what is below a tenth of the largest is grey. "
                 "All curves and levels have one scale, at whose ends they are cut; products have another."
                 f"{self._of_sample} Pictures of numbers leave out 1 % of the rows on either side; empty cells have no "
                 "rows.")
        if seen.effects.normalize in BY_LENGTH:
            about += (f" Rows are scaled (--normalize {seen.effects.normalize}): pictures are for a row of usual "
                      "length; a column also moves scores as it changes the length.")
        if any(effect.band is not None for effect in seen.effects):
            about += " Light bands: how far the curves of models differ that each did not learn a part of the data."
        words = {effect.name: self.words(effect.name, seen.one) for effect in seen.effects if not effect.axes}
        if words and self._words is not None:
            about += (f" Words are those of the first {self._words.rows:,} rows, with their mean contribution to the "
                      "score there; what several words in a row and letters of words contribute is given to the words "
                      "whose letters they cover.")
        return joined([pictures.of_columns(seen, unit), paragraph(about), pictures.of_effects(seen, unit, words, most)])

    @property
    def _of_sample(self) -> str:
        """A sentence, if effects are those of a sample."""
        taken, rows = self.sampling.taken, self.sampling.rows
        return f" All this is of a sample of {taken:,} of the {rows:,} rows." if taken < rows else ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "model": self.path, "digest": self.model.digest, "command": command_of(self.model),
            "passes": [*map(in_json, self.model.passes)], "worst": [row.as_dict() for row in self.worst],
            "groups": [g._asdict() for g in self.weights.groups()], "weights": [row._asdict() for row in self.rows()],
            "effects": self.influence.as_dict() if self.influence is not None else [],
            "columns": self.influence.importances.as_dicts() if self.influence is not None else [],
            "rows_of_effects": self.sampling.taken,
            "nights": [night.stored() for night in nights_of(self.model.continued)],
        }


class Finders:
    """Looks for names of features for several, each with a finder of its own."""

    def __init__(self, *make: Callable[[], Any]) -> None:
        self._finders = [one() for one in make]

    def find(self, block: Any, batch: Batch, *, convert: Any = None) -> list[Any]:
        return [finder.find(block, batch, convert=convert) for finder in self._finders]


class Report:
    """What the page says. The data are read once for each model: read `batches` with the `parse` of its part.

    models: the model, and another one to compare it with. roles: of columns, as typed. front: as `vwlite tune` writes
    it.
    """

    def __init__(
        self, models: Sequence[Evaluating], roles: RoleOptions, *, threshold: float | None = None,
        front: Sequence[dict[str, Any]] = (),
    ) -> None:
        first = models[0]
        self.evaluation, self._front = Evaluation(*models, threshold=threshold), front
        self._description = Description(roles, first.opened.parse.table or TableReader(), first.scoring.shown_label)
        self.parts = [ModelPart(model, None if k else self._description) for k, model in enumerate(models)]

    def read(self, *batches: Iterable[Parsed]) -> None:
        """Take the batches for each model."""
        self.evaluation.read(*(part.over(of) for part, of in zip(self.parts, batches, strict=True)))

    def finish(self, data: Sequence[tuple[str, str]], on_unknown: str = "note") -> None:
        """data: names of files, and their digests. DataError if there is nothing to evaluate."""
        self._data = data
        _, self.notes = self.evaluation.finish(", ".join(of for of, _ in data), on_unknown)
        for part in self.parts:
            part.finish()
        self.notes += self._description.notes()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"measures": self.evaluation.as_dict(), "notes": self.notes, "models": [p.as_dict() for p in self.parts],
                "front": self._front, "data": dict(self._data)}

    def page(self) -> str:
        """As HTML."""
        evaluation, parts, names = self.evaluation, self.parts, [part.path for part in self.parts]
        whole, against, kind = evaluation.whole, evaluation.against, evaluation.whole.kind
        values, label = evaluation.values, label_of(evaluation.first)

        def of_each(found: list[Markup], beside: bool = True) -> Markup:
            if len(parts) == 1:
                return found[0]
            each = [joined([Markup(f"<h3>{name(n)}</h3>"), f]) for n, f in zip(names, found, strict=True)]
            return columns(each) if beside else joined(each)

        kinds = [kind, *([against.other.kind] if against else [])]
        if isinstance(kind, Binary):
            pairs = [(n, k) for n, k in zip(names, kinds, strict=True) if isinstance(k, Binary)]
            result, title = sections.gains(pairs, label), "What the scores are good for"
        elif isinstance(kind, Classes):
            classes = evaluation.first.class_names
            result = of_each([sections.of_classes(k, classes) for k in kinds if isinstance(k, Classes)])
            title = "Classes"
        else:
            found = [sections.of_numbers(k, label) for k in kinds if isinstance(k, Regression)]
            result, title = of_each(found) if found else Markup(), "Errors"
        most = pictures.MOST_PICTURES if len(parts) == 1 else PICTURES_OF_TWO
        body = [
            section("How good is it?", sections.answer(whole, values, label),
                    sections.tiles(kind, values, parts[0].model) if against is None else Markup(),
                    sections.of_measures(values, against, names)),
            section(title, result),
            section("What moves the score", of_each([part.effects(k, label, most) for part, k in
                                                     zip(parts, kinds, strict=True)], beside=False)),
            section("Worst rows", of_each([sections.of_worst(part.worst) for part in parts], beside=False)),
            section("Notes on the data", sections.of_notes(self.notes)),
            *(of_nights(nights_of(part.model.continued), part.path if len(parts) > 1 else "") for part in parts),
            section("Loss and nonzero weights", sections.of_front(self._front)),
            section("How it was made", sections.of_origin([(p.path, p.model) for p in parts], self._data,
                                                          f"vwlite {__version__}", today())),
        ]
        files = [", ".join(map(os.path.basename, paths)) for paths in (names, [of for of, _ in self._data])]
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
        """The name of a source, and its digest. Files of formats that are not read from begin to end are read here."""
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
        made = Report([model for model, _ in models], o.roles, threshold=o.threshold, front=front)
        made.parts[0].parse = replace(made.parts[0].parse, tap=digests.take)
        made.read(*(reading.batches(part.parse, model.learner, part.recorder)
                    for part, (model, reading) in zip(made.parts, models, strict=True)))
        if frame.signal is not None:
            return frame.code()
        made.finish([*map(digests.of, o.data or ["-"])], o.on_unknown)
        facts = made.as_dict()
        if o.json:
            written = json_text(with_schema(facts), indent=2, ensure_ascii=False) + "\n"
        else:
            written = made.page()
        models[0][1].bad.finish()
        if out is None:
            sys.stdout.write(written)
        else:
            out.write(written.encode("utf-8", "replace"))
            if frame.commit(out.commit) and not o.quiet:
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
        counts = [row.get("nonzero_weights", row.get("nonzero weights")) for row in rows]  # those of vwlite 0.2, too
        return [{"nonzero_weights": int(n), "loss": float(row["loss"])} for n, row in zip(counts, rows, strict=True)]
    except OSError as e:
        raise NoInputError(f"{path}: {e.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{path}: not what vwlite tune --json writes") from None
