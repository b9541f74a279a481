"""A model in memory that predicts bodies of text or JSON, with the parser and the writer of `vwlite predict`."""

import math
import threading
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from vwlite.algorithms.predicted import ScoredRows, predicted_by
from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Reason
from vwlite.core.learn.output import number_text
from vwlite.core.learn.recorder import FIELDS, Recorder
from vwlite.core.learn.scorer import Scorer
from vwlite.errors import DataError
from vwlite.evaluation.explain import MOST, Explainer
from vwlite.evaluation.terms import View
from vwlite.input.diagnostics import BadLine, not_finite
from vwlite.input.formats import FORMATS
from vwlite.input.parsing import EXAMPLE, REJECTED, LineParsing, Parsed, ParseOptions, SourceBlocks, Task
from vwlite.input.pipeline import Parsing, format_of
from vwlite.input.reader import Block
from vwlite.input.schema import Schema
from vwlite.input.sources import UnreadableInput
from vwlite.input.strangers import KnownColumns, bare_rows, keys_of
from vwlite.input.tables import Layout, TableReader, json_layout
from vwlite.model.absent import known_columns
from vwlite.prediction.commands import PredictOptions
from vwlite.prediction.predict import written
from vwlite.runs.opened import opened
from vwlite.runs.run import feed

PIECE = 256 << 10  # bytes that are predicted before another thread has its turn
LABEL, SHOWN, LOSS = map(FIELDS.index, ("label", "shown", "loss"))


class Records(NamedTuple):
    """Numbers of each example of a batch. NaN: no label, or a prediction that is not finite."""

    label: list[float]
    shown: list[float]
    loss: list[float]


def as_written(x: float, form: str = "shortest") -> float | int | None:
    """A number as predictions are written, which JSON writes likewise; None for one that is not finite."""
    if not math.isfinite(x):
        return None
    found = float(number_text(x, form))
    return int(found) if found.is_integer() else found


class Busy(Exception):
    """Another thread uses the model, and the asker does not wait."""


class Gone(Exception):
    """The asker does not wait for the answer any more."""


@dataclass
class Asker:
    """Who asks for predictions. waits: while another thread uses the model. gone: no longer wants the answer."""

    waits: bool = True
    gone: bool = False


class BadBody(DataError):
    """A line of a body that cannot be predicted."""

    def __init__(self, bad: BadLine) -> None:
        super().__init__(bad.message)
        self.line, self.column = bad.line, bad.column


@dataclass
class Counts:
    """What was predicted. predictions: of models that have numbers, through the link. labels, losses: of lines that
    have a label."""

    lines: int = 0
    bad: int = 0
    features: int = 0
    unknown: int = 0
    absent: int = 0  # cells of tables
    predictions: list[float] = field(default_factory=list)
    labels: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)


@dataclass
class Columns(TableReader):
    """Those of a model. new: names of columns that it does not have."""

    new: list[str] = field(default_factory=list)

    def ignore(self, source: str, keys: list[str]) -> None:
        self.new += keys


PATIENT = Asker()


class Queue:
    """A lock that threads get in the order of their requests: a thread that locks for each piece of a large body lets
    others in between the pieces."""

    def __init__(self) -> None:
        self._next, self._held = threading.Lock(), threading.Lock()

    def take(self, asker: Asker) -> None:
        """Take the lock, up to `give`. Busy if it is not free, unless the asker waits; Gone."""
        if not self._next.acquire(blocking=asker.waits):
            raise Busy
        try:
            taken = self._held.acquire(blocking=asker.waits)
        finally:
            self._next.release()
        if not taken:
            raise Busy
        if asker.gone:
            self.give()
            raise Gone

    def give(self) -> None:
        self._held.release()


class Reader:
    """Parses bodies in one way. For one thread, as its batch is."""

    def __init__(self, parse: ParseOptions, known: KnownColumns | None) -> None:
        """known: columns that a row must have one of."""
        table = parse.table
        self._known, self._json = known, False
        self._width = 0  # columns of delimited text that the model does not have
        self.columns = Columns(schema=table.schema if table else None, model=parse.model)
        self._options = replace(parse, table=self.columns if table else None, keeps_text=table is not None)
        self._parsing, self._batch, self._lines = Parsing(self._options), Batch(), LineParsing("vw", self._options)
        self._layout: Layout | None = None

    def plain(self, lines: bytes) -> Batch | None:
        """The batch of a few lines of VW text. None if one is bad: `parsed` tells why."""
        return self._batch if self._lines.is_plain(lines, self._batch) else None

    def forget_new(self) -> None:
        """A parser notes a column only once, so after new columns the next body gets a new parser."""
        if self.columns.new:
            self.columns.new, self._layout = [], None

    def parsed(self, body: bytes, format: str) -> Iterator[Parsed]:
        """The batches of a body. DataError if it has no format; BadBody for a bad line, unless those are skipped."""
        end = first = 0
        self.forget_new()
        self.columns.absents.clear()  # of a body that was refused
        blocks: SourceBlocks | None = None
        while end < len(body):
            begin, end = end, len(body)
            if end - begin > PIECE:
                end = body.find(b"\n", begin + PIECE) + 1 or end
            piece = body if end - begin == len(body) else body[begin:end]
            block = Block(piece, "body", 0, first + 1)
            first += piece.count(b"\n") if end < len(body) else 0
            if blocks is None:
                kind = format or (self._format_of(block) if piece.strip() else "vw")
                if FORMATS[kind].is_table and self._options.model:
                    raise DataError("this is a table, and the model was trained on text without columns: send VW text "
                                    "or libsvm")
                self._json = kind == "jsonl"
                if self._json:  # shared by all bodies: to create one takes as long as a prediction
                    self._layout = self._layout or json_layout("body", self._options.columns())
                    blocks = SourceBlocks(kind, self._layout)
                else:
                    blocks = self._options.blocks_of(kind, "body")
            for task in blocks.feed(block):
                yield self._checked(task)
        for task in blocks.end() if blocks else ():
            yield self._checked(task)

    def _format_of(self, block: Block) -> str:
        try:
            return format_of(block, self._options)
        except DataError:
            why = "neither VW text (label |namespace feature ...) nor libsvm (label index:value ...): "
            raise BadBody(BadLine("body", 1, 1, why + "Content-Type names other formats, such as text/csv")) from None

    def _checked(self, task: Task | UnreadableInput) -> Parsed:
        found = self._parsing.parse(task, self._batch)
        layout = task.context if isinstance(task, Task) else None
        self._width = layout.width - sum(at >= 0 for at in layout.positions) if isinstance(layout, Layout) else 0
        if self._json and self._known:
            self._refuse_strangers(found, self._known)
        if found.bad and not self._options.skip:
            raise BadBody(found.bad[0])
        return found

    def _refuse_strangers(self, found: Parsed, known: KnownColumns) -> None:
        """Rows without any known column are bad lines."""
        batch, rows = found.batch, bare_rows(found.batch, known.absent)
        for row, line in zip(rows, found.source.lines_of(batch, rows) if found.source else [], strict=True):
            if why := known.wrong(keys_of(line)):
                batch.reject(row)
                found.bad.append(BadLine("body", batch.line_number(row), 1, why))
        found.bad.sort(key=lambda bad: bad.line)

    def unknown_of(self, found: Parsed) -> list[list[str]]:
        """The columns of each example of a batch that the model does not have; [] if there are none."""
        if not (self._json and self.columns.new and found.source):
            return []
        rows = [row for row, kind in enumerate(found.batch.kind.tobytes()) if kind == EXAMPLE]
        new = dict.fromkeys(self.columns.new)
        return [[key for key in keys_of(line) if key in new] for line in found.source.lines_of(found.batch, rows)]

    def count_unknown(self, found: Parsed, counts: Counts) -> list[list[str]]:
        """Count the columns that the model does not have as unknown features; returns those of each example."""
        each = self.unknown_of(found)
        if each or self._width:
            n = sum(map(len, each)) or self._width * found.batch.kind.tobytes().count(EXAMPLE)
            counts.features += n
            counts.unknown += n
        if self.columns.absents:
            counts.absent += sum(map(sum, self.columns.absents.values()))
            self.columns.absents.clear()
        return each


class Served:
    """A model. Threads may share it: they take turns at its learner, for a piece of a body at a time.

    typed: options of `Settings`, as link. refuses_unknown: rows of JSON that have none of its columns, and requests of
    the Open Inference Protocol without some of its inputs.
    """

    def __init__(
        self, path: str, typed: dict[str, Any] | None = None, *, probabilities: bool = False,
        refuses_unknown: bool = True,
    ) -> None:
        p = PredictOptions(model=path, quiet=True, predictions=None, probabilities=probabilities, typed=typed or {})
        model = opened(p, whole=True)
        self.settings, self.digest, self.outputs = model.settings, model.model.digest, model.settings.outputs
        self.predicted = predicted_by(self.settings)
        self.classes = self.outputs.classes(model.model.class_names())
        self._text = Recorder(model.learner, link=self.settings.link, **written(p, self.settings))
        self._text.answers_blank_lines = True
        self._json, self._scorer = Recorder(model.learner), Scorer(model.learner)
        schema = Schema.restored(model.model.columns) if model.model.columns else Schema({})
        self.roles, self.is_open, self.refuses_unknown = schema.roles, schema.open, refuses_unknown
        self.is_of_table, self.format = bool(model.model.columns), model.model.columns.get("format", "")
        self._crosses = bool(self.settings.interactions or self.settings.crosses)
        self._expander = model.learner.expander
        self._parse = model.parse
        self._known = known_columns(model.model, model.kept.features) if refuses_unknown else None
        self._explainer = Explainer(model, 0)
        self._named = replace(self._parse, finder=self._explainer.finder)
        self._queue, self._own = Queue(), threading.local()

    def _reader(self, skip: bool, named: bool = False) -> Reader:
        """That of this thread."""
        key = f"skip {skip} named {named}"
        found: Reader | None = getattr(self._own, key, None)
        if found is None:
            found = Reader(replace(self._named if named else self._parse, skip=skip), self._known)
            setattr(self._own, key, found)
        return found

    def text(
        self, body: bytes, format: str = "", *, skip: bool = False, tags: bool = False, asker: Asker = PATIENT
    ) -> tuple[bytes, Counts]:
        """The lines of `vwlite predict`. DataError for a body that cannot be predicted; Busy if another thread predicts
        and the asker does not wait; Gone if the asker has gone."""
        out, counts, reader = [], Counts(), self._reader(skip)
        for parsed in reader.parsed(body, format):
            self._queue.take(asker)
            try:
                out.append(self._predicted(self._text, parsed, skip, counts, tags)[0])
            finally:
                self._queue.give()
            reader.count_unknown(parsed, counts)
        return b"".join(out), counts

    def rows_of_text(self, lines: bytes, asker: Asker) -> tuple[list[bytes], Counts]:
        """As `text`, for lines of VW text without the work that large bodies and bad lines need. Nothing if a line is
        bad, or cannot be predicted."""
        learner, counts = self._text, Counts()
        batch = self._reader(False).plain(lines)
        if batch is None or (self._crosses and self._expander.largest(batch) > MOST):
            return [], counts
        self._queue.take(asker)
        try:
            text, _ = self._taken(learner, partial(learner.run, batch), counts)
            done = learner.reason == Reason.DONE
        finally:
            self._queue.give()
        counts.lines += len(batch)
        return [line + b"\n" for line in text.split(b"\n")[:-1]] if done else [], counts

    def _taken(self, learner: Recorder, predict: Callable[[], object], counts: Counts) -> tuple[bytes, Records]:
        """The text that the learner writes, and the label, the prediction and the loss of each example."""
        before = learner.looked_up, learner.unknown
        try:
            predict()
        finally:
            text, taken = learner.predictions.take(), array("d", learner.take()).tolist()
        records = Records(*[taken[i :: len(FIELDS)] for i in (LABEL, SHOWN, LOSS)])
        finite = [x for x in records.shown if x == x]
        counts.bad += len(records.shown) - len(finite)
        counts.features += learner.looked_up - before[0]
        counts.unknown += learner.unknown - before[1]
        counts.losses += [x for x in records.loss if x == x]
        if self.classes is None:
            counts.predictions += map(learner.linked, finite)
            counts.labels += map(self.outputs.transform.inverse, [x for x in records.label if x == x])
        return text, records

    def _predicted(
        self, learner: Recorder, parsed: Parsed, skip: bool, counts: Counts, tags: bool
    ) -> tuple[bytes, Records]:
        """The text that the learner wrote for a batch, and the label, the prediction and the loss of each example."""
        batch = parsed.batch
        if self._crosses and self._expander.largest(batch) > MOST:
            raise DataError(f"a line has more than {MOST:,} features with those of interactions: make it shorter")

        def diverged(batch: Batch, row: int) -> None:
            if not skip:
                raise BadBody(BadLine("body", batch.line_number(row), 1, not_finite(learner.prediction)))
            learner.reject()

        run = partial(feed, learner, batch, self.settings, diverged=diverged)
        text, records = self._taken(learner, run, counts)
        counts.lines += len(batch)
        counts.bad += len(parsed.bad)
        if tags:
            counts.tags += [batch.tag(row).decode("utf-8", "replace") for row in range(len(batch))]
        return text, records

    def _columns(self, batch: Batch, records: Records) -> list[dict[str, Any]]:
        """The prediction of each example, and the other columns of `--output-format json`, as numbers; nothing for one
        whose prediction is not finite. For the thread that holds the model."""
        rows = [row for row, kind in enumerate(batch.kind.tobytes()) if kind == EXAMPLE]
        names = self.names()
        leads = [self._tag(batch.tag(row)) | self._label(y, names) for row, y in zip(rows, records.label, strict=True)]
        scores, shares = self._scores(batch, len(rows))
        found = ScoredRows(records.shown, scores, shares, names)
        predicted = zip(records.shown, leads, self.predicted.rows(found, as_written), strict=True)
        return [{"prediction": answer, **lead, **more} if p == p else {} for p, lead, (answer, more) in predicted]

    def _scores(self, batch: Batch, rows: int) -> tuple[Sequence[list[float]], Sequence[list[float]]]:
        """Those of each example, and the probabilities or all quantiles, if there are several."""
        if self.outputs.records == 1:
            return (), ()
        scorer = self._scorer
        scores, shares = np.empty((rows, scorer.width)), np.zeros((rows, scorer.width))
        scorer.into(scores, np.empty(rows), shares)

        def diverged(batch: Batch, row: int) -> None:
            scorer.at += 1

        feed(scorer, batch, self.settings, diverged=diverged)
        scorer.release()
        return scores.tolist(), shares.tolist()

    def names(self) -> Sequence[str | int]:
        """Those of the classes that have one: numbers, if they have no others."""
        names = self._json.class_names
        if names is None:
            return ()
        return range(1, self._json.named + 1) if names.numbers else names.first(self._json.named)

    def _tag(self, tag: bytes) -> dict[str, Any]:
        return {"tag": tag.decode("utf-8", "surrogateescape")} if tag else {}

    def _label(self, y: float, names: Sequence[str | int]) -> dict[str, Any]:
        """The label of an example, if it has one, as it is in the data."""
        if y != y:
            return {}
        label = self.predicted.label_in(y, names)
        return {"label": as_written(label, "label") if isinstance(label, float) else label}

    def rows(
        self, lines: bytes, format: str = "jsonl", *, explain: int = 0, names: bool = True, skip: bool = False,
        tags: bool = False, asker: Asker = PATIENT
    ) -> tuple[list[dict[str, Any]], Counts]:
        """An object for each line of JSON lines: the columns of `--output-format json`, the prediction, the names of
        columns and features that the model does not have, and the largest contributions to the score. Lines of
        another format have no names. Busy, Gone: see `text`."""
        answers: list[dict[str, Any]] = []
        counts, reader, explainer = Counts(), self._reader(skip), self._own_explainer()
        named = bool(explain)
        for parsed in reader.parsed(lines, format):
            self._queue.take(asker)
            try:
                _, records = self._predicted(self._json, parsed, skip, counts, tags)
                columns = self._columns(parsed.batch, records)
            finally:
                self._queue.give()
            here = self._answers(parsed, columns)
            named = named or (names and len(explainer.lacking(parsed.batch)[0]) > 0)
            examples = (a for a, kind in zip(here, parsed.batch.kind.tobytes(), strict=True) if kind == EXAMPLE)
            for answer, keys in zip(examples, reader.count_unknown(parsed, counts), strict=False):
                answer["unknown"] += [] if "error" in answer else keys
            answers += here
        if named:
            self._explain(answers, lines, explain, skip, asker)
        return answers, counts

    def _answers(self, parsed: Parsed, columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """An answer for each line. columns: of the examples; none where the prediction is not finite."""
        found: list[dict[str, Any]] = []
        examples, bad = iter(columns), iter(parsed.bad)
        for kind in parsed.batch.kind.tobytes():
            if kind == EXAMPLE and (row := next(examples)):
                found.append({**row, "unknown": []})
                continue
            why = not_finite(math.nan) if kind == EXAMPLE else next(bad).message if kind == REJECTED else "a blank line"
            found.append({"prediction": None, "error": why, "unknown": []})
        return found

    def _own_explainer(self) -> Explainer:
        """That of this thread."""
        if not hasattr(self._own, "explainer"):
            self._own.explainer = self._explainer.twin()
        found: Explainer = self._own.explainer
        return found

    def _explain(self, answers: list[dict[str, Any]], lines: bytes, top: int, skip: bool, asker: Asker) -> None:
        """Add the fields that need names of features, which are found by parsing the lines again."""
        at, explainer = 0, self._own_explainer()
        explainer.top = top
        for parsed in self._reader(skip, True).parsed(lines, "jsonl"):
            if asker.gone:
                raise Gone
            here = answers[at : at + len(parsed.batch)]
            at += len(here)
            rows = [row for row, answer in enumerate(here) if "error" not in answer]
            for row, unknown in zip(rows, explainer.unknown(parsed, rows), strict=True):
                here[row]["unknown"] += unknown
            if top:
                numbers = {name: k for k, name in enumerate(self.names())}
                wanted = [(row, [View(numbers.get(here[row]["prediction"], self.outputs.middle))]) for row in rows]
                for row, (found,) in zip(rows, explainer.explain(parsed, wanted), strict=True):
                    here[row] |= found.as_dict()
