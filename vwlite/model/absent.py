"""Absent cells of tables: missing ones, and cells of words of which a model knows none.

Each column has a feature `name?` for them. A missing cell of the training data has it too, so that its weight is learned
as any other one. At the end of training its weight becomes, with n the number of missing cells of the column there,

    n / (n + 10) (the learned weight) + 10 / (n + 10) (the mean effect of the column)

where the mean is over the rows of training that have a value, by importance. So a cell that nothing is known about
counts as an average one. The same holds for the cells of a product of which a column is absent: their mean is over the
distribution of that column where the others are as they are; with hats h_i and h_j of the rows, and weights W,

    mean_j = sum_i M_ij W_ij / sum_i M_ij,    M_ij = sum over rows of (importance) h_i h_j

Products of the same columns at several resolutions share the features of cells without a number, which then have the
sum of their means. Means are over a sample of the rows (`RowSample`). Where features are normalized, a mean is of
effects as they are in rows, and the weight is that mean over the mean of what `name?` is there.

The header of a model keeps n, the mean, and whether the feature was learned, for each column: a model that is continued
begins without features that were not, and combines its means with those of its new rows.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, groupby
from typing import TYPE_CHECKING, Any

from vwlite.derived import CURVE, NumberColumn, WordColumn
from vwlite.hashing import absent_hash, feature_hash, name_hash, namespace_hash
from vwlite.input.schema import OPTIONAL, Schema
from vwlite.model.feature_names import FeatureNames
from vwlite.model.slots import array_of
from vwlite.names import namespace_of
from vwlite.records import record

if TYPE_CHECKING:
    from vwlite.core.data.batch import Batch
    from vwlite.model.file import Model

ENOUGH = 10  # missing cells whose weight counts as much as the mean
MOST_ROWS = 20_000  # of a sample
MOST_FEATURES = 1 << 22  # of a sample
TOGETHER = 64  # rows in a row that are taken


class RowSample:
    """At most MOST_ROWS rows of a table, spread evenly over the data however these are cut into batches: of runs of
    TOGETHER rows each, each second, each fourth, ..."""

    def __init__(self) -> None:
        self._runs: list[tuple[int, Batch]] = []
        self._step, self._at, self._rows, self._features = 1, 0, 0, 0

    def take(self, batch: "Batch") -> None:
        """Look at the next rows. Those without the hashes of namespaces are not of a table."""
        begin, end = self._at, self._at + len(batch)
        self._at = end
        if not len(batch.space):
            return
        at = begin
        while at < end:
            run = at // TOGETHER
            last = min((run + 1) * TOGETHER, end)
            if run % self._step == 0:
                self._keep(run, batch.part(at - begin, last - begin))
                at = last
            else:
                at = (run // self._step + 1) * self._step * TOGETHER

    def _keep(self, run: int, part: "Batch") -> None:
        self._runs.append((run, part))
        self._rows, self._features = self._rows + len(part), self._features + len(part.value)
        while (self._rows > MOST_ROWS or self._features > MOST_FEATURES) and len(self._runs) > 1:
            self._step *= 2
            self._runs = [(run, part) for run, part in self._runs if run % self._step == 0]
            self._rows = sum(len(part) for _, part in self._runs)
            self._features = sum(len(part.value) for _, part in self._runs)

    @property
    def batches(self) -> "list[Batch]":
        return [part for _, part in self._runs]


def absent_name(space: str) -> str:
    """The name of the feature of an absent cell of the column of this namespace."""
    return f"{space}?"


def applied_schema(model: "Model") -> Schema:
    """The columns of a model that is applied. Keys of JSON lines whose means it has are columns by value, and words
    that it did not learn are absent, if it can tell: one that dropped features cannot."""
    schema = Schema.restored(model.columns)
    if not schema.absents:
        return schema
    if not model.absent:
        return replace(schema, absents=False)
    keys = dict.fromkeys(model.absent["columns"], "auto") if schema.open else {}
    known = (model.keys, model.settings.bits) if model.keeps_words else None
    return replace(schema, roles=keys | dict(schema.roles) if keys else schema.roles, known=known)


def learned(model: "Model") -> "Model":
    """The model as it was learned: without features of absent cells that it has not learned."""
    added = [name for name, found in model.absent.get("columns", {}).items() if not found["learned"]]
    if not added:
        return model
    import numpy as np

    keys, k = np.asarray(model.keys), model.records
    kept = ~np.isin(keys, np.array([_key(model, namespace_of(name)) for name in added], np.uint32))
    return replace(
        model, keys=array_of(keys[kept].tobytes(), "I"),
        weights=array_of(np.asarray(model.weights).reshape(-1, k)[kept].tobytes(), "d"),
        state={name: array_of(np.asarray(x).reshape(-1, k)[kept].tobytes(), x.format)
               for name, x in model.state.items()},
    )


def _key(model: "Model", space: str) -> int:
    settings = model.settings
    return absent_hash(space, settings.hash == "all") & ((1 << settings.bits) - 1)


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


@record(frozen=True)
class _Column:
    """What the rows of the sample say of a column: missing cells, the mean effect, and the rows that have one, by
    importance; and the mean of what the feature of an absent cell is in a row."""

    missing: float
    rows: float
    mean: Any
    unit: float = 1.0


def with_absent(model: "Model", rows: "Sequence[Batch]", keys: Iterable[str] = (), before: Any = None) -> "Model":
    """A model of a table with the weights of absent cells. rows: of training. keys: those of JSON lines that were seen.
    before: the record of the model that was continued."""
    schema = Schema.restored(model.columns) if model.columns else None
    if schema is None or not schema.absents or not (rows or before):
        return model
    columns = [name for name, role in schema.roles.items() if role not in OPTIONAL]
    columns += [name for name in keys if schema.open and name not in schema.roles]
    means = _Means(model, rows)
    found = {name: means.of(name, is_key=name not in schema.roles) for name in columns}
    model = with_record(model, _combined(found, means.rows, before, model.records))
    if model.chosen and model.settings.derived is not None and model.settings.normalize == "none":
        model = _inserted(model, means.of_products(model, (before or {}).get("rows", 0)))
    return model


def _combined(found: "dict[str, _Column]", rows: int, before: Any, records: int) -> dict[str, Any]:
    old = (before or {}).get("columns", {})
    columns: dict[str, Any] = {}
    for name, column in found.items():
        past = old.get(name)
        missing, mean = column.missing, column.mean / column.unit
        if past is not None:
            weight = min(before["rows"], MOST_ROWS) if column.rows else 1.0
            mean = (weight * _array(past["mean"]) + column.rows * mean) / (weight + column.rows)
            missing += past["missing"]
        if column.rows or past is not None:
            columns[name] = {"missing": round(missing), "mean": [float(f"{x:.9g}") for x in mean.tolist()]}
    for name in old.keys() - columns.keys():
        columns[name] = {key: value for key, value in old[name].items() if key != "learned"}
    return {"rows": rows + (before or {}).get("rows", 0), "columns": columns}


def _array(values: Any) -> Any:
    import numpy as np

    return np.array(values, float)


def with_record(model: "Model", found: dict[str, Any]) -> "Model":
    """The model with the weights of absent cells that follow from its learned ones and these means."""
    weights: dict[int, Any] = {}
    columns = {}
    for name, column in found["columns"].items():
        key = _key(model, namespace_of(name))
        at = bisect_left(model.keys, key)
        is_learned = at < len(model.keys) and model.keys[at] == key
        own = _array(model.weights[at * model.records : (at + 1) * model.records]) if is_learned else 0.0
        n, mean = column["missing"], _array(column["mean"])
        weights[key] = (n * own + ENOUGH * mean) / (n + ENOUGH)
        # Models of `auto` go on from the weights that they have.
        columns[name] = column | {"learned": is_learned or bool(model.chosen)}
    model = _named(model, columns) if len(model.names) else model
    return _inserted(replace(model, absent={"rows": found["rows"], "columns": columns}), weights)


def _named(model: "Model", columns: Iterable[str]) -> "Model":
    pairs = []
    for name in columns:
        space = namespace_of(name)
        pairs.append((_key(model, space), _bytes(f"{space}^{absent_name(space)}")))
    return replace(model, names=FeatureNames.of([*model.names, *pairs]))


def _inserted(model: "Model", weights: dict[int, Any]) -> "Model":
    """The model with these weights by key; the state of new ones is that of features without an example, or of `auto`
    their weight."""
    import numpy as np

    if not weights:
        return model
    k = model.records
    keys = np.asarray(model.keys)
    new = np.array(sorted({*weights} - {*keys[np.isin(keys, [*weights])].tolist()}), np.uint32)
    every = np.concatenate([keys, new])
    order = np.argsort(every, kind="stable")
    every = every[order]

    def merged(numbers: Any) -> Any:
        values = np.asarray(numbers).reshape(-1, k)
        return np.concatenate([values, np.zeros((len(new), k), values.dtype)])[order]

    values, state = merged(model.weights), {name: merged(x) for name, x in model.state.items()}
    places = np.searchsorted(every, np.array([*weights], np.uint32))
    given = np.array([np.broadcast_to(x, (k,)) for x in weights.values()], float)
    values[places] = given
    if model.chosen and "w" in state:
        state["w"][places] = given
        added = np.isin(every, new)
        for name in state.keys() - {"w"}:
            state[name][added] = 1
        values[places] = state["w"][places]
    return replace(
        model, keys=array_of(every.tobytes(), "I"), weights=array_of(values.tobytes(), "d"),
        state={name: array_of(x.tobytes(), model.state[name].format) for name, x in state.items()},
    )


class _Means:
    """Mean effects of columns over rows."""

    def __init__(self, model: "Model", rows: "Sequence[Batch]") -> None:
        import numpy as np

        from vwlite.input.parsing import EXAMPLE
        from vwlite.model.effects import Weights

        self._model, self._weights = model, Weights(model)
        self._derived = {c.name: c for c in (model.settings.derived.columns if model.settings.derived else ())
                         if isinstance(c, NumberColumn)}
        parts = [(np.asarray(b.kind), np.asarray(b.importance), np.asarray(b.space), np.asarray(b.hash),
                  np.asarray(b.value).astype(float), np.diff(np.asarray(b.span_begin, np.int64)),
                  np.diff(np.asarray(b.feature_begin, np.int64))) for b in rows]
        empty = [np.zeros(0, kind) for kind in (np.uint8, float, np.uint32, np.uint32, float, np.int64, np.int64)]
        joined = [np.concatenate(x) for x in zip(*parts, strict=True)] if parts else empty
        kind, importance, self._space, self._hash, value, spans, self._sizes = joined
        used = (kind == EXAMPLE) & (importance > 0)
        self.rows = int(used.sum())
        row = np.where(used, np.cumsum(used) - 1, -1)
        self._importance = importance[used]
        self._row = np.repeat(row, spans)  # of each namespace
        # n-grams that are there to be tried count if the model has them
        self._value = np.where(np.isinf(value), float(bool(model.columns.get("characters"))), value)
        self._begin = np.concatenate([[0], np.cumsum(self._sizes)[:-1]]).astype(np.int64)
        self._scaled, self._unit = self._normalized()

    def _normalized(self) -> tuple[Any, Any]:
        """The values of features as they are in normalized rows, and what a feature of value 1 is in each row."""
        import numpy as np

        from vwlite.model.contributions import logarithms

        kind = self._model.settings.normalize
        if kind == "none" or self._derived:
            return self._value, np.ones(self.rows)
        value = logarithms(self._value) if kind == "log" else self._value
        row = np.repeat(self._row, self._sizes)
        squares = np.bincount(row[row >= 0], (value * value)[row >= 0], self.rows)
        length = np.sqrt(np.where(squares > 0, squares, 1.0))
        one = float(logarithms(np.ones(1))[0]) if kind == "log" else 1.0
        return np.where(row >= 0, value / length[row], 0.0), one / length

    def of(self, name: str, *, is_key: bool) -> _Column:
        """Those of a column. is_key: of JSON lines, a row without it has no value."""
        import numpy as np

        space, k = namespace_of(name), self._model.records
        hash_all = self._weights.hash_all
        mine = np.flatnonzero((self._space == namespace_hash(_bytes(space), hash_all)) & (self._row >= 0))
        absent = absent_hash(space, hash_all)
        begin, size = self._begin[mine], self._sizes[mine]
        some = size > 0
        mine, begin, size = mine[some], begin[some], size[some]
        missing = self._hash[begin + size - 1] == absent if len(mine) else np.zeros(0, bool)
        has_value = np.ones(self.rows, bool)
        if is_key:
            has_value[:] = False
            has_value[self._row[mine]] = True
        has_value[self._row[mine[missing]]] = False
        present = mine[~missing]
        weight = float(self._importance[has_value].sum())
        if not weight:
            return _Column(float(self.rows), 0.0, np.zeros(k))
        effects = np.zeros((self.rows, k))
        if space in self._derived:
            x = np.full(self.rows, np.nan)
            x[self._row[present]] = self._value[self._begin[present]]
            effects[has_value] = self._curve(self._derived[space], x[has_value])
        else:
            at = np.repeat(self._begin[present], self._sizes[present]) + _ranges(self._sizes[present])
            row = np.repeat(self._row[present], self._sizes[present])
            of_each = self._weights.of(self._hash[at]) * self._scaled[at][:, None]
            for i in range(k):
                effects[:, i] = np.bincount(row, of_each[:, i], self.rows)
        mean = (self._importance[has_value, None] * effects[has_value]).sum(axis=0) / weight
        unit = float((self._importance * self._unit)[has_value].sum() / weight)
        return _Column(float(self.rows - has_value.sum()), weight, mean, unit or 1.0)

    def _curve(self, c: NumberColumn, x: Any) -> Any:
        """The effect of a number with a curve, of which NaN is a number 0 that has no feature."""
        import numpy as np

        from vwlite.model.effects import Standardized, between, place_on

        at = np.array(c.knots[CURVE], np.float32).astype(float)
        if not c.deviation > 0:
            return np.zeros((len(x), self._model.records))
        x = np.where(np.isnan(x), 0.0, x)
        hats = self._weights.named(c.name, c.names(CURVE)[: len(at)])
        linear = Standardized(c.mean, c.deviation, self._weights.named(c.name, [c.name])[0])
        return between(np.concatenate([hats, np.zeros((1, hats.shape[1]))]), place_on(at, x)) + linear.effect(x)

    # --- products --------------------------------------------------------------------------------

    def of_products(self, model: "Model", before: int) -> dict[int, Any]:
        """By key, the weights of cells of products of which a column is absent. before: rows of earlier training."""
        derived = model.settings.derived
        assert derived is not None
        found: dict[int, Any] = {}
        for which, run in groupby(derived.products, lambda product: tuple(c for c, _ in product)):
            columns = [derived.columns[c] for c in which]
            self._of_run(columns, [[k for _, k in product] for product in run], min(before, MOST_ROWS), found)
        return found

    def _of_run(
        self, columns: Sequence[Any], resolutions: Sequence[Sequence[int]], before: int, found: dict[int, Any]
    ) -> None:
        """Those of the products of the same columns."""
        import numpy as np

        shared: dict[int, list[Any]] = {}  # cells without a number: the mean at each resolution, and rows that have it
        for number, at in enumerate(resolutions):
            factors = [c.factors(k) for c, k in zip(columns, at, strict=True)]
            sizes = [len(f) for f in factors]
            hashes = self._hashes(columns[0].name, factors)
            W = self._weights.of(hashes).reshape(*sizes, -1)
            M = self._mass(columns, at, sizes)
            keys = (hashes & np.uint32(self._weights.mask)).reshape(sizes)
            whole = tuple(slice(0, s - 1) for s in sizes)
            total = M[whole].sum()
            overall = (M[whole][..., None] * W[whole]).reshape(-1, W.shape[-1]).sum(axis=0) / (total or 1.0)
            for size in range(1, len(columns) + 1):
                for absent in combinations(range(len(columns)), size):
                    cells = tuple(sizes[i] - 1 if i in absent else slice(0, sizes[i] - 1) for i in range(len(columns)))
                    mass = M[whole].sum(axis=absent)
                    sums = (M[whole][..., None] * W[whole]).sum(axis=absent)
                    mean = np.where(mass[..., None] > 0, sums / np.where(mass > 0, mass, 1.0)[..., None], overall)
                    some_number = any(isinstance(columns[i], NumberColumn) for i in range(len(columns))
                                      if i not in absent)
                    own = zip(np.ravel(keys[cells]).tolist(), mean.reshape(-1, mean.shape[-1]),
                              W[cells].reshape(-1, W.shape[-1]), np.ravel(M[cells]).tolist(),
                              np.ravel(mass).tolist(), strict=True)
                    for key, m, w, n, rows in own:
                        if some_number:
                            found[key] = _shrunk(n, w, m, rows, before)
                        elif number == 0:
                            shared[key] = [m, w, n, rows]
                        else:
                            shared[key][0] = shared[key][0] + m
        for key, (m, w, n, rows) in shared.items():
            found[key] = _shrunk(n, w, m, rows, before)

    def _hashes(self, space: str, factors: Sequence[Sequence[str]]) -> Any:
        import numpy as np

        names = [""]
        for i, factor in enumerate(factors):
            names = [f"{first}^{name}" if i else name for first in names for name in factor]
        seed, hash_all = namespace_hash(_bytes(space), self._weights.hash_all), self._weights.hash_all
        return np.array([name_hash(_bytes(name), seed, hash_all) for name in names], np.uint32)

    def _mass(self, columns: Sequence[Any], resolutions: Sequence[int], sizes: Sequence[int]) -> Any:
        """The importance of rows in each cell."""
        import numpy as np

        places = [(np.zeros(self.rows, np.int64), self._importance)]
        for c, k, size in zip(columns, resolutions, sizes, strict=True):
            low, behind = self._places(c, k)
            places = [
                (at * size + np.minimum(low + step, size - 1), weight * part)
                for at, weight in places for step, part in ((0, 1 - behind), (1, behind)) if step == 0 or part.any()
            ]
        found = np.zeros(int(np.prod(sizes)))
        for at, weight in places:
            found += np.bincount(at, weight, len(found))
        return found.reshape(sizes)

    def _places(self, c: Any, resolution: int) -> tuple[Any, Any]:
        """The code of a column in each row, and how far it is on the way to the next one."""
        import numpy as np

        from vwlite.model.effects import place_on

        hash_all = self._weights.hash_all
        space = namespace_hash(_bytes(c.name), hash_all)
        mine = np.flatnonzero((self._space == space) & (self._row >= 0) & (self._sizes > 0))
        rows, first = self._row[mine], self._hash[self._begin[mine]]
        absent = absent_hash(c.name, hash_all)
        if isinstance(c, NumberColumn):
            x = np.full(self.rows, np.nan)
            number = first == feature_hash(_bytes(c.name), _bytes(c.name), hash_all=hash_all)
            x[rows[number]] = self._value[self._begin[mine]][number]
            place = place_on(np.array(c.knots[resolution], np.float32).astype(float), x)
            return place.low, place.behind
        assert isinstance(c, WordColumn)
        levels = np.array(c.hashes(hash_all), np.int64)
        code = np.full(self.rows, len(levels) + 1)
        order = np.argsort(levels, kind="stable")
        if c.part:
            at = np.repeat(self._begin[mine], self._sizes[mine]) + _ranges(self._sizes[mine])
            rows, first = np.repeat(rows, self._sizes[mine]), self._hash[at]
        place = np.minimum(np.searchsorted(levels[order], first), max(len(levels) - 1, 0))
        known = (levels[order][place] == first) if len(levels) else np.zeros(len(first), bool)
        if c.part:
            code[rows[known]] = order[place[known]]
        else:
            is_absent = self._hash[self._begin[mine] + self._sizes[mine] - 1] == absent
            found = np.where(known, order[place] if len(levels) else 0, len(levels))
            code[rows] = np.where(is_absent, len(levels) + 1, found)
        return code, np.zeros(self.rows)


def _shrunk(n: float, own: Any, mean: Any, rows: float, before: int) -> Any:
    """The weight of a cell: of a model that was continued, its old one is the mean of as many rows as it had."""
    if before:
        mean = (before * own + rows * mean) / (before + rows)
    return (n * own + ENOUGH * mean) / (n + ENOUGH)


def _ranges(sizes: Any) -> Any:
    """0, 1, ..., size - 1 for each size."""
    import numpy as np

    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if len(sizes) else 0) - np.repeat(ends - sizes, sizes)


def missing_never_seen(model: "Model") -> Iterator[str]:
    """The columns of which training had no missing cell."""
    for name, found in model.absent.get("columns", {}).items():
        if not found["missing"]:
            yield name
