"""What each feature contributes to the score of an example: its weight times its value.

    score = base of the line + intercept + sum of w_i x_i

The weights are those in the model's file, with which every algorithm predicts; `gd` with --l2 shrinks the base, too.
Features of a line that share an index share a weight, and are one here, with all their names.
"""

import copy
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

from vwlite.algorithms.settings import Settings
from vwlite.core.data.batch import Batch
from vwlite.core.data.expand import CONSTANT_HASH, Expander
from vwlite.core.learn.recorder import FIELDS, Recorder
from vwlite.core.text.feature_names import NameFinder, NameStore
from vwlite.errors import DataError, UsageError
from vwlite.evaluation.commands import ExplainOptions
from vwlite.evaluation.terms import ColumnTerms, Terms, View
from vwlite.evaluation.words import WordText
from vwlite.input.parsing import EXAMPLE, Parsed
from vwlite.model.feature_names import FeatureNames, escaped
from vwlite.model.learners import make_expander, make_finder
from vwlite.output.json_text import json_text
from vwlite.output.stdio import plain
from vwlite.output.text import cut, line_width, printable
from vwlite.runs.frame import RunFrame
from vwlite.runs.opened import Opened, opened
from vwlite.runs.options import MOST_NAMES
from vwlite.runs.run import say
from vwlite.runs.scoring import Reading, Scoring, TakeBad, refuse

MARKED = 0.25  # of the largest contribution of a word of a text: words with less are not marked
LONGEST, INDENT = 2000, "      "  # of a text that is shown
MOST = 1 << 20  # features of a line, with those of interactions
Numbers = np.ndarray[Any, Any]


class Contribution(NamedTuple):
    """key: the index of the weight in the model."""

    name: str
    key: int
    weight: float
    value: float
    contribution: float

    def as_dict(self) -> dict[str, Any]:
        return {"index" if name == "key" else name: value for name, value in self._asdict().items()}


class Explanation(NamedTuple):
    """The terms of a score. others: the sum of the contributions that are not listed, of `features` features."""

    score: float
    base: float
    intercept: float
    contributions: list[Contribution]
    others: float
    features: int

    def as_dict(self) -> dict[str, Any]:
        found = {"score": self.score, "base": self.base, "intercept": self.intercept}
        others = {"features": self.features, "contribution": self.others}
        return {**found, "contributions": [c.as_dict() for c in self.contributions], "others": others}


class BlockNames(NamedTuple):
    """Finds the names of all features of each block. settings: without crosses."""

    settings: Settings

    def find(self, block: Any, batch: Batch, *, convert: Any = None) -> Any:
        return make_finder(self.settings, NameStore(MOST_NAMES)).find(block, batch, convert=convert)


class Explainer:
    """Explains scores of lines of a batch, after they were predicted.

    top: how many contributions are listed, the largest first. finder: what must look for names in the batches.
    """

    def __init__(self, opened: Opened, top: int) -> None:
        model, self._settings, self.top = opened.model, opened.settings, top
        self._keys = np.asarray(model.keys)
        self._weights = np.asarray(model.weights).reshape(-1, model.records)
        self._unseen = np.broadcast_to(np.asarray(model.rule.get("unseen", 0.0), float), (model.records,))
        self._of_base = np.broadcast_to(np.asarray(model.rule.get("contraction", 1.0), float), (model.records,))
        self._mask = np.uint32((1 << self._settings.bits) - 1)
        derived, self._derived = self._settings.derived, model.derived_hashes
        numbers = derived.number_hashes(self._settings.hash == "all") if derived is not None else []
        self._numbers = np.array(numbers, np.uint32)
        self._takes_open = derived is None or derived.texts > 0  # n-grams that may be left out have the value infinity
        self._linear = _linear_letters(self._settings)
        self._make_expanders()
        uncrossed = replace(self._settings, interactions=(), crosses=())
        self.finder: Any = partial(BlockNames, uncrossed)

    def _make_expanders(self) -> None:
        self._expander = make_expander(self._settings)
        self._whole = make_expander(replace(self._settings, bits=32, normalize="none"))

    def twin(self) -> "Explainer":
        """Another one, for another thread. They share the model."""
        found = copy.copy(self)
        found._make_expanders()
        return found

    def explain(self, parsed: Parsed, wanted: Sequence[tuple[int, Sequence[View]]]) -> list[list[Explanation]]:
        """Of rows of a batch, some scores each."""
        lines, hashes = [], []
        for row, views in wanted:
            keys, values = self._features(self._expander, parsed.batch, row)
            each, first, which = np.unique(keys, return_index=True, return_inverse=True)
            order = np.argsort(first)  # as in the line
            values = np.bincount(which, values, len(each))[order]
            base = float(parsed.batch.initial[row])
            lines.append([self._terms(base, view, each[order], values) for view in views])
            listed = [c.key for e in lines[-1] for c in e.contributions]
            whole, _ = self._features(self._whole, parsed.batch, row)
            hashes.append(np.unique(whole[np.isin(whole & self._mask, np.array(listed, np.uint32))]))
        names = self.names_of(parsed, np.unique(np.concatenate([np.zeros(0, np.uint32), *hashes])))
        return [[self._named(e, of_line, names) for e in found] for found, of_line in zip(lines, hashes, strict=True)]

    def unknown(self, parsed: Parsed, rows: Sequence[int]) -> list[list[str]]:
        """Of rows of a batch, the names of the features that the model does not have."""
        lines, hashes = self.lacking(parsed.batch)
        names = self.names_of(parsed, np.unique(hashes), crosses=False)
        begins, ends = (np.searchsorted(lines, rows, side).tolist() for side in ("left", "right"))
        return [[name.decode("utf-8", "replace") for hash in dict.fromkeys(hashes[begin:end].tolist())
                 for name in names.get(hash, [])] for begin, end in zip(begins, ends, strict=True)]

    def lacking(self, batch: Batch) -> tuple[Numbers, Numbers]:
        """The features of a batch that the model does not have: the line of each, and its hash. Features are those of
        the text: products, as of interactions, are of what a model has, and may be new in every line. Of numbers from
        which features are derived, the model has each."""
        hashes = np.asarray(batch.hash)
        at = np.flatnonzero(~self._look_up(hashes & self._mask)[1])
        if len(at):
            at = at[~np.isin(hashes[at], self._numbers)]
        if not len(at):
            return at, hashes[at]
        spans = np.searchsorted(np.asarray(batch.feature_begin), at, "right") - 1
        counts = self._linear[np.asarray(batch.letter)[spans]]
        counts &= self._takes_open | np.isfinite(np.asarray(batch.value)[at])
        lines = np.searchsorted(np.asarray(batch.span_begin), spans, "right") - 1
        return lines[counts], hashes[at[counts]]

    def _features(self, expander: Expander, batch: Batch, row: int) -> tuple[Numbers, Numbers]:
        """Keys and values of a line without the intercept, which is the last one. DataError: there are too many."""
        try:
            keys, values = expander.features(batch, row, MOST)
        except OverflowError:
            where = f"{batch.source}:{batch.line_number(row)}:1"
            raise DataError(f"{where}: the line has more than {MOST:,} features, too many to explain") from None
        end = len(keys) - self._settings.constant
        return np.array(keys[:end], np.uint32), np.array(values[:end])

    def _terms(self, base: float, view: View, keys: Numbers, values: Numbers) -> Explanation:
        """A score, whose contributions have no names yet."""
        weights = self._weights_of(view, keys)
        found = weights * values
        order = np.argsort(-np.abs(found), kind="stable")
        chosen = order[(found * view.sign > 0 if view.sign else found != 0)[order]][: self.top]
        columns = [x[chosen].tolist() for x in (keys, weights, values, found)]
        listed = [Contribution("", *one) for one in zip(*columns, strict=True)]
        found[chosen] = 0
        others, intercept = math.fsum(found), self._intercept(view)
        base *= float(self._of_base[view.of_class] - (0 if view.minus is None else self._of_base[view.minus]))
        score = math.fsum([base, intercept, others, *columns[-1]])
        return Explanation(score, base, intercept, listed, others, len(keys) - len(listed))

    def _look_up(self, keys: Numbers) -> tuple[Numbers, Numbers]:
        """The places of keys in the model, and which keys it has."""
        at = np.searchsorted(self._keys, keys)
        at[at == len(self._keys)] = 0
        return at, self._keys[at] == keys if len(self._keys) else np.zeros(len(keys), bool)

    def _weights_of(self, view: View, keys: Numbers) -> Numbers:
        at, known = self._look_up(keys)
        found = np.full(len(keys), self._unseen[view.of_class])
        found[known] = self._weights[at[known], view.of_class]
        return found if view.minus is None else found - self._weights_of(View(view.minus), keys)

    def _intercept(self, view: View) -> float:
        key = np.array([CONSTANT_HASH], np.uint32) & self._mask
        exists = self._settings.constant and self._look_up(key)[1][0]  # else not even the weight of unseen features
        return float(self._weights_of(view, key)[0]) if exists else 0.0

    def names_of(self, parsed: Parsed, hashes: Numbers, *, crosses: bool = True) -> dict[int, list[bytes]]:
        """The names of these whole hashes of features of a batch. crosses: also of those of interactions."""
        store = NameStore(MOST_NAMES)
        store.take(parsed.names)
        if crosses and (self._settings.interactions or self._settings.crosses):
            finder = NameFinder(store, self._whole, hash_all=self._settings.hash == "all", wanted=hashes.tolist())
            store.take(finder.find_crosses(parsed.batch))
        found = FeatureNames.kept(store, hashes, np.ones(len(hashes)), 32).by_key  # type: ignore[arg-type]
        return found | {hash: [self._derived[hash][0]] for hash in hashes.tolist() if hash in self._derived}

    def _named(self, e: Explanation, hashes: Numbers, names: dict[int, list[bytes]]) -> Explanation:
        """hashes: those of the listed features of the line."""
        found: dict[int, list[str]] = {}
        for hash in hashes.tolist():
            texts = [name.decode("utf-8", "surrogateescape") for name in names.get(hash, [])]
            found.setdefault(hash & int(self._mask), []).extend(texts)
        return e._replace(contributions=[
            c._replace(name=" + ".join(found.get(c.key, [])) or f"#{c.key}") for c in e.contributions
        ])


def _linear_letters(settings: Settings) -> Numbers:
    """By the first letter of a namespace, whether its features count by themselves."""
    found = np.full(256, not settings.keep)
    for letters, counts in ((settings.keep, True), (settings.ignore, False), (settings.ignore_linear, False)):
        found[[*letters.encode("latin-1")]] = counts
    return found


def records_of(recorder: Recorder, batch: Batch) -> tuple[Numbers, Numbers]:
    """The rows of a batch that were predicted, and a record of each."""
    records = np.frombuffer(recorder.take(), [(name, float) for name in FIELDS])
    rows = np.flatnonzero(np.asarray(batch.kind) == EXAMPLE)[: len(records)]  # fewer after a signal
    finite = ~np.isnan(records["shown"])  # not of the bad lines
    return rows[finite], records[finite]


def place_of(batch: Batch, row: int) -> tuple[str, int, str]:
    """File, line and tag."""
    return str(batch.source), batch.line_number(row), batch.tag(row).decode("utf-8", "surrogateescape")


class Explained(NamedTuple):
    """An example with its scores. label: None if there is none. classes: whose scores are explained, or quantiles;
    [""]: it has one score. kind: class or quantile."""

    file: str
    line: int
    tag: str
    label: float | str | None
    prediction: float | str
    classes: list[str]
    scores: list[Explanation]
    terms: list[Terms]  # of the same scores by columns; empty if the model has no effects of columns
    kind: str

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        found = {name: getattr(self, name) for name in ("file", "line", "tag", "label", "prediction")}
        if self.classes == [""]:
            return found | self.scores[0].as_dict()
        pairs = zip(self.classes, self.scores, strict=True)
        each = [{self.kind: name, **e.as_dict()} for name, e in pairs]
        return found | {"classes" if self.kind == "class" else "quantiles": each}


class Explaining:
    """Explains the examples of batches. classes: those whose scores are explained, from 0; None: the predicted one. Of
    several quantiles these, and that in the middle.
    by_columns: in terms of columns, too."""

    def __init__(
        self, opened: Opened, top: int, classes: Sequence[int] | None, take_bad: TakeBad = refuse, *,
        by_columns: bool = False,
    ) -> None:
        self.recorder = Recorder(opened.learner)
        self._explainer, self._scoring = Explainer(opened, top), Scoring(opened, self.recorder, take_bad)
        self._classes, self._outputs = classes, opened.settings.outputs
        self.parse = replace(self._scoring.parse, finder=self._explainer.finder)
        self._terms = column_terms(opened, self._explainer, top) if by_columns else None
        if self._terms is not None:
            self.parse = self._terms.reading(self.parse)

    def over(self, batches: Iterable[Parsed]) -> Iterator[list[Explained]]:
        """The examples of each batch."""
        for parsed in batches:
            self._scoring.take(parsed)
            rows, records = records_of(self.recorder, parsed.batch)
            wanted = [(int(row), self._views(record)) for row, record in zip(rows, records, strict=True)]
            found = self._explainer.explain(parsed, wanted)
            pairs = [(row, view) for row, views in wanted for view in views]
            terms = iter(self._terms.of(parsed, pairs) if self._terms is not None else ())
            yield [
                self._explained(place_of(parsed.batch, row), record, views, each, [*islice(terms, len(views))])
                for (row, views), record, each in zip(wanted, records, found, strict=True)
            ]

    def _views(self, record: Any) -> list[View]:
        scores = self._outputs.explained(float(record["shown"]), self._classes, self.recorder.named)
        return [View(k) for k in scores]

    def _explained(
        self, place: tuple[str, int, str], record: Any, views: list[View], scores: list[Explanation],
        terms: list[Terms],
    ) -> Explained:
        names = self._outputs.tau_names or self.recorder.class_names
        label = None if math.isnan(record["label"]) else self._scoring.shown_label(float(record["label"]))
        classes = [""] if names is None else [str(names[view.of_class]) for view in views]
        return Explained(*place, label, self._scoring.shown(float(record["shown"])), classes, scores, terms,
                         "quantile" if self._outputs.tau_names else "class")


def explain(o: ExplainOptions) -> int:
    """Run `vwlite explain`; the exit code."""
    model = opened(o)
    chosen = None if o.of_class is None else _class_of(model, o.of_class)
    with RunFrame("explain", o) as frame:
        reading = Reading(frame)
        every = range(len(model.model.class_names())) if o.json else None
        classes = every if chosen is None else [chosen]
        explaining = Explaining(model, o.top, classes, reading.take_bad, by_columns=not o.json)
        for examples in explaining.over(reading.batches(explaining.parse, explaining.recorder)):
            for example in examples:
                as_text = partial(_as_text, model.settings)
                sys.stdout.write(json_text(example.as_dict()) + "\n" if o.json else plain(as_text(example)))
            sys.stdout.flush()
        reading.bad.finish()
        if frame.signal is None and not explaining.recorder.examples:
            raise DataError("there is no example in the data to explain")
        if "slope" in model.model.calibration and not o.quiet:
            say("note: scores and contributions are those before their map by vwlite calibrate")
        for note in () if o.quiet else model.settings.outputs.transform.notes("scores and contributions"):
            say(f"note: {note}")
        frame.report(options=frame.reported_options(model.settings, "data", "model"), signal=frame.signal,
                     results={"number_of_examples": explaining.recorder.examples})
        return frame.code()


def _class_of(opened: Opened, name: str) -> int:
    """The class of --class, from 0."""
    names = opened.model.class_names()
    if name not in names:
        some = ", ".join(map(printable, names[:9])) or "no classes"
        raise UsageError(f"--class {printable(name)}: {opened.path} has no such class; it has {some}")
    return names.index(name)


def _as_text(settings: Settings, example: Explained) -> str:
    if not example.scores:  # a model without any class
        return heading(example.file, example.line, example.tag, ["predicted none"])
    (name,), (e,) = example.classes, example.scores
    what = [f"{example.kind} {printable(name)}"] if name else []
    what += [f"score {e.score:.6g}", f"predicted {number_text(example.prediction)}"]
    if example.label is not None:
        what.append(f"label {number_text(example.label)}")
    lines = column_lines(example.terms[0]) if example.terms else term_lines(settings, e)
    return heading(example.file, example.line, example.tag, what) + lines + "\n"


def number_text(x: float | str) -> str:
    """A number, or a name from data."""
    return printable(x) if isinstance(x, str) else f"{x:.6g}"


def heading(file: str, line: int, tag: str, what: list[str], number: str = "") -> str:
    """In one line, or two where it is long."""
    place, text = f"{number}{printable(file)}:{line} {printable(tag)}".rstrip(), ", ".join(what)
    return f"{place}  {text}\n" if len(place) + len(text) + 2 <= line_width() else f"{cut(place)}\n{cut('  ' + text)}\n"


def term_lines(settings: Settings, e: Explanation) -> str:
    """The terms of a score as lines of text."""
    found = []
    for c in e.contributions:
        name = escaped(c.name.encode("utf-8", "surrogateescape"))
        found.append(cut(f"{c.contribution:+14.6g} = {c.weight:12.6g} x {c.value:<11.6g} {name}"))
    rest = [(e.intercept, "intercept")] if settings.constant else []
    rest += [(e.base, "base of the line")] if e.base else []
    rest += [(e.others, f"others, {e.features:,} feature{'s' * (e.features != 1)}")] if e.features else []
    return "\n".join([*found, *(f"{x:+14.6g}{'':29} {name}" for x, name in rest), ""])


def column_lines(terms: Terms) -> str:
    """The terms of a score by columns as lines of text."""
    n = terms.left_out
    rest = [(terms.others, f"{n:,} other{'s' * (n != 1)}")] if n else []
    rest.append((terms.base, "the average row, against which these are" if terms.is_average else "intercept"))
    lines = [line for text in terms.texts for line in marked_lines(text)]
    return "\n".join([*lines, *(cut(f"{x:+14.6g}  {words}") for x, words in [*terms.listed, *rest]), ""])


def marked_lines(of: WordText) -> list[str]:
    """A text, with what its words contribute behind those that contribute much."""
    least = MARKED * max((abs(word.contribution) for word in of.words), default=0.0)
    parts = (f"{piece}({x:+.2g})" if x and abs(x) >= least else piece for piece, x in of.pieces())
    text = printable(" ".join("".join(parts).split()))
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return wrap(text, line_width(), initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False)


def column_terms(opened: Opened, explainer: Explainer, top: int) -> ColumnTerms | None:
    """What finds the terms of scores by columns; None if the model has no effects of columns."""
    try:
        return ColumnTerms(opened, explainer, Explainer(opened, MOST), top)
    except DataError:
        return None
