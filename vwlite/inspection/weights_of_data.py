"""The weights of a model beside data: how often each feature occurs, and its weight times the spread of its value.

The spread is the standard deviation over all examples, where a missing feature is 0; so weight x spread is how much the
score varies with the feature.
"""

import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from vwlite.algorithms.memory import TOO_LONG
from vwlite.algorithms.settings import Settings
from vwlite.core.data.batch import Batch
from vwlite.core.learn.spread import Spread
from vwlite.core.text.feature_names import NameStore
from vwlite.errors import DataError
from vwlite.input.pipeline import parsed_batches
from vwlite.inspection.commands import TOP, WeightsOptions
from vwlite.model.feature_names import FeatureNames, escaped, indices_of
from vwlite.model.file import Model
from vwlite.model.importances import Importances
from vwlite.model.learners import make_expander, make_finder
from vwlite.model.readable import readable_effects
from vwlite.model.weights import Row, has_weight, intercept_key
from vwlite.output.json_text import json_text, with_schema
from vwlite.output.text import cut, printable
from vwlite.runs.frame import RunFrame
from vwlite.runs.opened import Opened, opened
from vwlite.runs.options import MOST_NAMES
from vwlite.runs.run import BadLines


class WeightRow(NamedTuple):
    """A weight beside data. examples: how many have the feature; effect: weight x spread."""

    key: int
    names: list[str]
    of_class: str | None
    weight: float | None
    examples: int
    spread: float
    effect: float


class Group(NamedTuple):
    """The features of a column, of a namespace, or of crosses of these. effect: the sum of |weight x spread|; share: of
    that of all features; size: how many features."""

    name: str
    effect: float
    share: float
    size: int


class WeightsOfData:
    """The weights of a model beside the batches that it takes. finder: what must look for names in these. After
    `finish`, model: with the names of the data too; effects: weight x spread, in the order of the model's array of
    weights."""

    effects: np.ndarray[Any, Any]

    def __init__(self, opened: Opened) -> None:
        model, settings, known = opened.model, opened.settings, opened.model.shown_names
        self.model, self.examples = model, 0
        self._spread = Spread(make_expander(settings), np.array(model.keys, np.uint32))
        self._names = NameStore(max(MOST_NAMES, len(known)), known.arrays if len(known) else None)
        nonzero = np.asarray(model.keys)[has_weight(model)].tolist()
        self.finder = partial(make_finder, settings, self._names, nonzero)
        self._counts, self._spreads = np.zeros(len(model.keys), np.uint64), np.zeros(len(model.keys))

    def take(self, batch: Batch, names: Any) -> None:
        """Count a batch. names: those that the finder has found in it."""
        self._names.take(names)
        try:
            self._spread.take(batch)
        except OverflowError:
            raise DataError(f"{batch.source}: {TOO_LONG}") from None

    def finish(self) -> None:
        """DataError if there was no example."""
        self.examples = int(self._spread.examples)
        if not self.examples:
            raise DataError("there is no example in the data")
        self._spread.results(self._counts, self._spreads)
        self.effects = np.asarray(self.model.weights) * np.repeat(self._spreads, self.model.records)
        model = self.model
        names = FeatureNames.kept(self._names, model.keys, model.weights, model.settings.bits)
        self.model = replace(model, names=names)  # the model itself has those of its training only

    def rows(self, selected: Iterable[Row]) -> Iterator[WeightRow]:
        """Of weights that were selected."""
        classes = self.model.class_names()
        for index, k, weight, names in selected:
            of_class, at, found = classes[k] if classes else None, bisect_left(self.model.keys, index), (0, 0.0, 0.0)
            if at < len(self.model.keys) and self.model.keys[at] == index:
                effect = float(self.effects[at * self.model.records + k])
                found = int(self._counts[at]), float(self._spreads[at]), effect
            yield WeightRow(index, names, of_class, weight, *found)

    def groups(self) -> list[Group]:
        """Without the intercept; the largest sum first."""
        model, settings, sums = self.model, self.model.settings, dict[str, list[float]]()
        names, intercept = model.names.by_key, intercept_key(settings)
        each = np.abs(self.effects).reshape(-1, model.records).sum(axis=1)
        for at in np.flatnonzero(has_weight(model)).tolist():
            key = model.keys[at]
            if key != intercept:
                name = _namespace_of(settings, key, names[key][0]) if key in names else "(no name)"
                if key in model.derived_names:
                    name = model.derived_names[key][1]
                sums.setdefault(name, []).append(float(each[at]))
        total = sum(map(sum, sums.values()))
        found = [Group(name, sum(of), sum(of) / total if total else 0.0, len(of)) for name, of in sums.items()]
        return sorted(found, key=lambda group: (-group.effect, group.name))


def _namespace_of(settings: Settings, key: int, name: bytes) -> str:
    """The namespace or column of a feature, or those of a cross with * between them."""
    parts = [name] if b"*" not in name or indices_of(settings, name)[0] == key else name.split(b"*")
    spaces = [part.partition(b"^")[0] if b"^" in part else b"(no namespace)" for part in parts]
    return b"*".join(spaces).decode("utf-8", "surrogateescape")


def beside_data(o: WeightsOptions, rows: Callable[..., Iterable[Row]]) -> int:
    """Run `vwlite weights MODEL DATA`; the exit code. rows: those of a model, by falling size."""
    model = opened(o)
    found = WeightsOfData(model)
    with RunFrame("weights", o) as frame:
        bad, parse = BadLines(frame, **o.of_bad_lines), replace(model.parse, finder=found.finder)
        batches = parsed_batches(o.data, parse, stop=frame.stopped, threads=o.threads)
        for parsed in frame.enter_context(batches):
            bad.take(parsed.bad)
            found.take(parsed.batch, parsed.names)
        if frame.signal is None:
            bad.finish()
            found.finish()
            write(found, found.rows(rows(found.model, found.effects)), importances_of(model.model, model.path), o.json,
                  None if o.everything else TOP)
        return frame.code()


def importances_of(model: Model, path: str) -> Importances | None:
    """Those of the columns of a model; None if it has no record of them."""
    try:
        return readable_effects(model, path).importances
    except DataError:
        return None


def write(
    data: WeightsOfData, rows: Iterable[WeightRow], columns: Importances | None, as_json: bool, top: int | None
) -> None:
    """Both tables to standard output, as JSON or text: weights, and columns if their importances are known, else
    groups. top: how many columns or groups are shown."""
    groups = data.groups()
    if as_json:
        weights = [
            {"index": r.key, **({} if r.of_class is None else {"class": r.of_class}), "weight": r.weight,
             "names": r.names, "examples": r.examples, "spread": r.spread, "effect": r.effect}
            for r in rows
        ]
        sums = [{"name": g.name, "effect": g.effect, "share": g.share, "features": g.size} for g in groups]
        found = with_schema({"examples": data.examples, "weights": weights, "groups": sums,
                             "columns": columns.as_dicts() if columns is not None else []})
        sys.stdout.write(json_text(found, indent=1) + "\n")
        return
    column = f" {'class':<10}" if data.model.class_names() else ""
    lines = [f"{data.examples:,} examples", ""]
    lines += [f"{'weight':>12}{column} {'examples':>11} {'share':>7} {'weight x spread':>16}  feature"]
    for r in rows:
        column = "" if r.of_class is None else f" {cut(printable(r.of_class), 10):<10}"
        names = ", ".join(escaped(name.encode("utf-8", "surrogateescape")) for name in r.names) or f"#{r.key}"
        weight, share = "unknown" if r.weight is None else f"{r.weight:.6g}", r.examples / data.examples
        lines.append(cut(f"{weight:>12}{column} {r.examples:11,} {share:7.1%} {r.effect:16.6g}  {names}"))
    lines += ["", *(of_columns(columns, top) if columns is not None else of_groups(groups, top))]
    sys.stdout.write("\n".join(lines) + "\n")


def of_columns(columns: Importances, top: int | None) -> Iterator[str]:
    """A table of importances."""
    whole = sum(columns.values()) or 1.0
    yield f"{'mean |contribution|':>24} {'share':>7} {'in products':>11}  column"
    for one in columns.parts[:top]:
        shared = f"{one.shared:.6g}" if one.shared else ""
        yield cut(f"{one.whole:24.6g} {one.whole / whole:7.1%} {shared:>11}  {printable(one.column)}")
    yield from more_than(len(columns), top)


def of_groups(groups: Sequence[Group], top: int | None) -> Iterator[str]:
    yield f"{'sum of |weight x spread|':>24} {'share':>7} {'features':>11}  namespace or column"
    for g in groups[:top]:
        yield cut(f"{g.effect:24.6g} {g.share:7.1%} {g.size:11,}  {printable(g.name)}")
    yield from more_than(len(groups), top)


def more_than(n: int, top: int | None) -> Iterator[str]:
    if top is not None and n > top:
        yield f"... and {n - top:,} more: --all shows them"
