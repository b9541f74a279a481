"""The terms of a score by columns, in the units of the data: `+0.42 tenure = 2`, against the average row.

    score = average + sum of what each column and each product of columns adds

A text is listed by its words: what n-grams and pieces of words contribute is given to the words whose letters they
cover (`words.py`). What the words of an average row add is taken off in a term of its own.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from vwlite.errors import UsageError
from vwlite.evaluation.slices import Slices
from vwlite.evaluation.words import WordText, words_of
from vwlite.input.formats import OF_TEXT, TEXT
from vwlite.input.labelled_text import columns_of
from vwlite.input.parsing import Parsed, ParseOptions
from vwlite.model.contributions import Contributions, Found
from vwlite.model.effects import Effect, LevelAxis, Numbers
from vwlite.model.readable import readable_effects
from vwlite.names import namespace_of
from vwlite.output.text import printable
from vwlite.runs.opened import Opened

Features = dict[int, list[tuple[str, float]]]  # by effect: names of features of a text, and what they contribute


class View(NamedTuple):
    """The score of a class (from 0), minus that of another; listed are contributions of this sign (0: of both)."""

    of_class: int = 0
    minus: int | None = None
    sign: int = 0


class FeatureTerms(Protocol):
    """Explains scores by features: `vwlite.evaluation.explain.Explainer`."""

    def explain(self, parsed: Parsed, wanted: Sequence[tuple[int, Sequence[View]]]) -> list[list[Any]]: ...

    def names_of(self, parsed: Parsed, hashes: Numbers) -> dict[int, list[bytes]]: ...


class Terms(NamedTuple):
    """Of a score. base: the score of the average row; without means in the model, the intercept. listed: the largest,
    each with words. others: the sum of the terms that are not listed; left_out: how many these are. texts: those of the
    row, with their words."""

    base: float
    is_average: bool
    listed: list[tuple[float, str]]
    others: float
    left_out: int
    texts: tuple[WordText, ...] = ()

    @property
    def score(self) -> float:
        return math.fsum([self.base, self.others, *(x for x, _ in self.listed)])


class _Texts:
    """The texts of a row. features: by effect, their names and what they contribute; texts: by effect."""

    def __init__(self, features: Features, texts: Mapping[int, str]) -> None:
        self._features = features
        self.marked = {i: words_of(text, features.get(i, ())) for i, text in texts.items()}

    def words(self, effect: int) -> list[tuple[str, float]]:
        """Its words, and what they contribute; its features if the text is not known."""
        if effect not in self.marked:
            return [*self._features.get(effect, ())]
        of = self.marked[effect]
        return [*of.by_word().items(), *([("signs", of.rest)] if of.rest else [])]


class ColumnTerms:
    """Of rows of batches that were parsed by `reading`. names: finds the names of features. words: lists all features
    of a row. DataError if the model has no effects of columns."""

    def __init__(self, opened: Opened, names: FeatureTerms, words: FeatureTerms, top: int) -> None:
        self._effects = readable_effects(opened.model, opened.path)
        self._contributions = Contributions(opened.model, self._effects, opened.path)
        self._explainer, self._words, self._top = names, words, top
        shrunk = np.asarray(opened.model.rule.get("contraction", 1.0), float)
        self._of_base = np.broadcast_to(shrunk, opened.model.records)
        self._texts = [i for i, effect in enumerate(self._effects) if not effect.axes]
        self._columns = [name for name, _ in opened.model.columns.get("roles", ())]

    def reading(self, parse: ParseOptions) -> ParseOptions:
        """Batches with the hashes of namespaces, and numbers that are 0; with texts, only where they are derived from,
        as n-grams then have no value yet."""
        return replace(parse, spaces=True, derives=parse.derives or not self._texts,
                       keeps_text=parse.keeps_text or bool(self._texts))

    def of(self, parsed: Parsed, wanted: Sequence[tuple[int, View]]) -> list[Terms]:
        """Of rows of a batch."""
        if not wanted:
            return []
        lines = np.zeros(len(parsed.batch), bool)
        lines[[row for row, _ in wanted]] = True
        found = self._contributions.of(parsed.batch, lines)
        place = {row: i for i, row in enumerate(found.rows.tolist())}
        words, cells = self._explained(parsed, wanted), self._cells(parsed, [row for row, _ in wanted])
        names = self._names(parsed, found, [place[row] for row, _ in wanted])
        initial, of = parsed.batch.initial, zip(wanted, words, cells, strict=True)
        return [self._terms(found, place[row], view, names, _Texts(features, texts), float(initial[row]))
                for (row, view), features, texts in of]

    def texts_of(self, parsed: Parsed, wanted: Sequence[tuple[int, View]]) -> list[list[tuple[str, WordText]]]:
        """The texts of rows, each with the name of its column."""
        pairs = zip(self._explained(parsed, wanted), self._cells(parsed, [row for row, _ in wanted]), strict=True)
        return [[(self._effects.effects[i].name, text) for i, text in _Texts(features, texts).marked.items()]
                for features, texts in pairs]

    def _cells(self, parsed: Parsed, rows: Sequence[int]) -> list[dict[int, str]]:
        """The texts of rows, by effect; none where they are not in the source."""
        found: list[dict[int, str]] = [{} for _ in rows]
        if parsed.source is not None and parsed.source.format in OF_TEXT and len(self._texts) == 1:
            lines = parsed.source.lines_of(parsed.batch, rows)
            bare = (b"".join(columns_of([line]).get(TEXT, ())) for line in lines)
            return [{self._texts[0]: text.decode("utf-8", "replace")} for text in bare]
        for i in self._texts:
            with suppress(UsageError):
                texts = Slices(self._effects.effects[i].name).cells(parsed, rows, self._columns)
                for of_row, text in zip(found, texts, strict=True):
                    of_row[i] = text
        return found

    def _explained(self, parsed: Parsed, wanted: Sequence[tuple[int, View]]) -> list[Features]:
        """By effect, the names of the features of the texts of each row, and what they contribute."""
        spaces = {namespace_of(self._effects.effects[i].name): i for i in self._texts}
        found: list[Features] = [{} for _ in wanted]
        views = [(row, [view._replace(sign=0)]) for row, view in wanted] if spaces else []
        explained = self._words.explain(parsed, views) if views else ()
        for of_row, (explanation,) in zip(found, explained, strict=False):
            for c in explanation.contributions:
                space, _, name = c.name.partition("^")
                if space in spaces:
                    of_row.setdefault(spaces[space], []).append((name, c.contribution))
        return found

    def _names(self, parsed: Parsed, found: Found, rows: Sequence[int]) -> dict[int, str]:
        """The words of columns in these rows, by their hashes."""
        hashes = np.unique([first[[*rows]] for first in found.words.values()]) if found.words else np.zeros(0, np.int64)
        known = self._explainer.names_of(parsed, hashes[hashes >= 0].astype(np.uint32))
        return {hash: names[0].decode("utf-8", "replace").partition("=")[2] for hash, names in known.items() if names}

    def _terms(
        self, found: Found, at: int, view: View, names: dict[int, str], texts: "_Texts", initial: float,
    ) -> Terms:
        def of(values: Numbers) -> Numbers:
            return values[..., view.of_class] - (0.0 if view.minus is None else values[..., view.minus])

        each = of(found.effects[at]).tolist()
        terms = [(initial * float(of(self._of_base)), "base of the line")] if initial else []
        for i, x in enumerate(each):
            if i in self._texts:
                text, mine = printable(self._effects.effects[i].name), texts.words(i)
                terms += [(y, f"{text}: {printable(word)}") for word, y in mine]
                rest = math.fsum([x, *(-y for _, y in mine)])
                terms.append((rest, f"{text}: instead of the words of an average row"))
            elif i < len(self._effects):
                terms.append((x, self._said(found, at, self._effects.effects[i], names)))
            else:
                terms.append((x, self._contributions.names[i]))
        order = sorted((i for i, (x, _) in enumerate(terms) if (x * view.sign > 0 if view.sign else x != 0)),
                       key=lambda i: -abs(terms[i][0]))[: self._top]
        others = [x for i, (x, _) in enumerate(terms) if i not in {*order} and x]
        base, listed = float(of(self._effects.base)), [terms[i] for i in order]
        return Terms(base, self._effects.rows > 0, listed, math.fsum(others), len(others), tuple(texts.marked.values()))

    def _said(self, found: Found, at: int, effect: Effect, names: dict[int, str]) -> str:
        """`tenure = 2 and contract = monthly`"""
        parts = []
        for axis in effect.axes:
            if isinstance(axis, LevelAxis):
                place = found.places[effect.name, axis.full_name][at]
                hash = int(found.words[axis.column][at])
                value = axis.levels[place] if place < len(axis.levels) else names.get(hash) if hash >= 0 else None
                if hash >= 0 and value is None and place == len(axis.levels):
                    value = "(a word without a name)"
            else:
                number = found.numbers[axis.column][at]
                value = None if np.isnan(number) else f"{number:.7g}"
            name = printable(axis.full_name)
            parts.append(f"{name} is missing" if value is None else f"{name} = {printable(value)}")
        return " and ".join(parts)
