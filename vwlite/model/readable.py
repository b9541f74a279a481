"""The readable form of a model of a table: its effects, purified and with their sizes, and the record of these that it
keeps in its header (`means`)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vwlite.model.contributions import Contributions
from vwlite.model.effects import Effects, Numbers, effects_of
from vwlite.model.purified import Cells, Plan
from vwlite.model.row_lengths import of_usual_length

if TYPE_CHECKING:
    from vwlite.core.data.batch import Batch
    from vwlite.model.file import Model

MOST_BANDED = 200  # places on an axis with a band: knots of a curve, levels
MOST_CELLS = 2_000_000  # of rows, effects and scores, that sizes are measured on
OUTER = 0.01  # of rows on either side of a range
Batches = Callable[[], Iterable["Batch"]]  # may be read several times


def readable_effects(model: "Model", path: str = "the model") -> Effects:
    """The effects of a model, purified, the largest first; as they were learned, if it has no record of them.

    DataError as of `effects_of`."""
    record, effects = model.means, effects_of(model, path)
    if "squares" in record:
        effects = of_usual_length(effects, record["squares"], record["scaled"])
    plan = Plan(effects)
    return plan.moved(effects, plan.restored(record.get("moved", {}), model.records)).with_record(record)


def record_of(model: "Model", batches: Batches, of_folds: Sequence["Model"] = ()) -> dict[str, Any]:
    """The record over training data. {}: there are no rows. of_folds: models that have learned a part of the data each.
    DataError if the model has no effects of columns.

    rows, length: how many rows there are, and their mean length. effects: the mean of each effect as it was learned.
    moved: what products move into other effects (vwlite.model.purified). sizes: the mean absolute value of each
    purified effect, less its mean. columns: the importance of each column, alone and in products
    (vwlite.model.importances). bands: of one score, in which the purified effects of `of_folds` are, less their means.
    squares, scaled: of models of --normalize, the mean squares of columns, and the means of what these contribute
    (vwlite.model.row_lengths). ranges: of numbers without a curve, between which all but few rows are.
    """
    effects, others = effects_of(model), [effects_of(other) for other in of_folds]
    plan, lines = Plan(effects), {effect.name for effect in effects if effect.kind == "line"}
    banded = [name for name, axes in plan.axes.items()
              if len(axes) == 1 and name not in lines and axes[0].size <= MOST_BANDED] if others else []
    cells = Cells({name: plan.axes[name] for name in (*plan.names, *banded)})
    contributions, rows, length = Contributions(model, effects), 0, 0.0
    of_lines: dict[str, list[Numbers]] = {name: [] for name in lines}
    sums, squares = np.zeros((len(contributions.names), model.records)), np.zeros(len(contributions.names))
    for batch in batches():
        found = contributions.of(batch)
        rows += len(found.rows)
        sums += found.effects.sum(axis=0)
        length += float(found.lengths.sum())
        squares += 0.0 if found.squares is None else found.squares.sum(axis=0)
        cells.take(found)
        for name, numbers in of_lines.items():
            numbers.append(found.numbers[name][~np.isnan(found.numbers[name])])
    if not rows:
        return {}
    means = dict(zip(contributions.names, sums / rows, strict=True))
    record = {"rows": rows, "length": short(length / rows), "effects": _stored(means, effects)}
    if squares.any():
        of_columns = dict(zip(contributions.names, map(short, (squares / rows).tolist()), strict=True))
        effects = of_usual_length(effects, of_columns, {})
        means = _means(model, effects, batches())
        record |= {"squares": of_columns, "scaled": _stored(means, effects)}
    purified, moved = plan.purified(effects, counts := cells.counts)
    record |= _sizes(model, purified, means, batches())
    there = {name: every for name, parts in of_lines.items() if len(every := np.concatenate(parts))}
    if there:
        of_each = {name: np.quantile(every, [OUTER, 1 - OUTER]).tolist() for name, every in there.items()}
        record["ranges"] = {name: [*map(short, ends)] for name, ends in of_each.items()}
    if moved:
        record["moved"] = {name: [table.ravel().tolist() for table in tables] for name, tables in moved.items()}
    if banded:
        record["bands"] = _bands([plan.purified(other, counts)[0] for other in others], {n: counts[n] for n in banded})
    return record


def _contributions(model: "Model", effects: Effects, batches: Iterable["Batch"]) -> Iterator[Numbers]:
    """What effects contribute to the rows of batches; of the first rows, if there are many effects."""
    contributions, most = Contributions(model, effects), MOST_CELLS // max(len(effects) * model.records, 1)
    for batch in batches:
        found = contributions.of(batch).effects
        yield found
        most -= len(found)
        if most <= 0:
            return


def _means(model: "Model", effects: Effects, batches: Iterable["Batch"]) -> dict[str, Numbers]:
    rows, sums = 0, np.zeros(model.records)
    for found in _contributions(model, effects, batches):
        rows += len(found)
        sums = sums + found.sum(axis=0)
    return {effect.name: mean for effect, mean in zip(effects, sums / rows, strict=False)}


def _stored(of_each: Mapping[str, Numbers], effects: Effects) -> dict[str, list[float]]:
    return {effect.name: [*map(short, of_each[effect.name].tolist())] for effect in effects}


def _sizes(
    model: "Model", effects: Effects, means: Mapping[str, Numbers], batches: Iterable["Batch"]
) -> dict[str, Any]:
    """Those of effects less their means, and the importances of columns."""
    less = replace(effects, effects=tuple(replace(e, mean=means.get(e.name, e.mean)) for e in effects))
    shares = less.shares()
    for found in _contributions(model, less, batches):
        shares.take(found)
    sizes = dict(zip((effect.name for effect in less), shares.sizes / shares.rows, strict=True))
    columns = {c.column: [[*map(short, c.alone)], [*map(short, c.in_products)]] for c in shares.importances()}
    return {"sizes": _stored(sizes, less), "columns": columns}


def _bands(others: Sequence[Effects], counts: Mapping[str, Numbers]) -> dict[str, list[list[float]]]:
    """The least and the largest value at each place, of effects less their means over the rows at the places."""
    found = {}
    for name, at in counts.items():
        values = [other[name].values[:, 0] for other in others]
        shown = [v - (v * at).sum() / at.sum() for v in values]
        edges = np.min(shown, axis=0), np.max(shown, axis=0)
        found[name] = [[short(x, 3) for x in edge.tolist()] for edge in edges]
    return found


def short(x: float, digits: int = 6) -> float:
    """A number of the record. Its digits do not depend on the order of a sum, so models have the same bytes."""
    return float(f"{x:.{digits}g}")
