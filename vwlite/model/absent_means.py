"""Mean effects of columns and of products of columns over rows of a table: see vwlite/model/absent.py."""

from collections.abc import Sequence
from itertools import combinations, groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from vwlite.derived import CURVE, NumberColumn, WordColumn
from vwlite.hashing import absent_hash, feature_hash, name_hash, namespace_hash
from vwlite.input.parsing import EXAMPLE
from vwlite.model.effects import Standardized, Weights, as_bytes, between, place_on, value_of_word
from vwlite.model.row_lengths import normalized
from vwlite.model.row_sample import ENOUGH, MOST_ROWS
from vwlite.names import namespace_of
from vwlite.records import record

if TYPE_CHECKING:
    from vwlite.core.data.batch import Batch
    from vwlite.model.file import Model


@record(frozen=True)
class ColumnMean:
    """A column in the rows of the sample: missing cells, the mean effect, the rows with an effect (all weighted by
    importance), and the mean value of the feature of an absent cell."""

    missing: float
    rows: float
    mean: Any
    unit: float = 1.0


class Means:
    """Mean effects of columns over rows."""

    def __init__(self, model: "Model", rows: "Sequence[Batch]") -> None:
        self._model, self._weights = model, Weights(model)
        self._derived = {c.name: c for c in (model.settings.derived.columns if model.settings.derived else ())
                         if isinstance(c, NumberColumn)}
        parts = [(np.asarray(b.kind), np.asarray(b.importance), np.asarray(b.space), np.asarray(b.hash),
                  np.asarray(b.value).astype(float), np.diff(np.asarray(b.span_begin, np.int64)),
                  np.diff(np.asarray(b.feature_begin, np.int64))) for b in rows]
        empty = [np.zeros(0, kind) for kind in (np.uint8, float, np.uint32, np.uint32, float, np.int64, np.int64)]
        joined: list[Any] = [np.concatenate(x) for x in zip(*parts, strict=True)] if parts else empty
        kind, importance, self._space, self._hash, value, spans, self._sizes = joined
        used = (kind == EXAMPLE) & (importance > 0)
        self.rows = int(used.sum())
        row = np.where(used, np.cumsum(used) - 1, -1)
        self._importance = importance[used]
        self._row = np.repeat(row, spans)  # of each namespace
        # n-grams that are there to be tried count if the model has them
        self._value = np.where(np.isinf(value), float(bool(model.columns.get("characters"))), value)
        self._begin = np.concatenate([[0], np.cumsum(self._sizes)[:-1]]).astype(np.int64)
        self._unit = np.ones(self.rows)  # the normalized value of a feature of value 1, for each row
        self._plain = self._as_learned()
        # By namespace, as each column looks for its own.
        self._by_space = np.argsort(self._space, kind="stable")
        self._spaces = self._space[self._by_space]
        order = np.argsort(self._plain[1], kind="stable")
        self._plain = tuple(x[order] for x in self._plain)

    def _as_learned(self) -> tuple[Any, Any, Any, Any]:
        """Features that are not derived, in the rows of the sample: row, namespace, hash, and value."""
        row, space = (np.repeat(x, self._sizes) for x in (self._row, self._space))
        used = row >= 0
        row, space, hash, value = row[used], space[used], self._hash[used], self._value[used]
        kind = self._model.settings.normalize
        if kind == "none" or self._derived:
            return row, space, hash, value
        of = normalized(row, hash & np.uint32(self._weights.mask), value, self.rows, kind)
        self._unit = value_of_word(kind) / of.lengths
        return row[of.at], space[of.at], hash[of.at], of.value

    def _spans_of(self, space: int) -> Any:
        """The namespaces with this hash, in the rows of the sample."""
        found = self._by_space[_where(self._spaces, space)]
        return found[self._row[found] >= 0]

    def all_known(self) -> bool:
        """Whether the model has a key for each word."""
        numbers = [namespace_hash(as_bytes(name), self._weights.hash_all) for name in self._derived]
        _, space, hash, _ = self._plain
        keys = np.unique(hash[~np.isin(space, np.array(numbers, np.uint32))] & np.uint32(self._weights.mask))
        return bool(np.isin(keys, np.asarray(self._model.keys)).all())

    def of_other_features(self, keys: dict[str, int]) -> set[str]:
        """The columns with the key of a feature that is none of an absent cell: a word, a number, or what is derived.
        keys: those of absent cells, by column."""
        if self._model.settings.bits == 32:
            return set()
        hash_all, mask = self._weights.hash_all, np.uint32(self._weights.mask)
        absent = np.array([absent_hash(namespace_of(name), hash_all) for name in keys], np.uint32)
        every = np.unique(np.concatenate([self._hash, np.array([*self._model.derived_hashes], np.uint32)]))
        others = every[~np.isin(every, absent)] & mask
        shared = {*np.intersect1d(absent & mask, others).tolist()}
        return {name for name, key in keys.items() if key in shared}

    def of(self, name: str, *, is_key: bool) -> ColumnMean:
        """Those of a column. is_key: of JSON lines, a row without it has no value."""
        space, k = namespace_of(name), self._model.records
        hash_all = self._weights.hash_all
        of = namespace_hash(as_bytes(space), hash_all)
        mine, absent = self._spans_of(of), absent_hash(space, hash_all)
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
            return ColumnMean(float(self.rows), 0.0, np.zeros(k))
        effects = np.zeros((self.rows, k))
        if space in self._derived:
            x = np.full(self.rows, np.nan)
            x[self._row[present]] = self._value[self._begin[present]]
            effects[has_value] = self._curve(self._derived[space], x[has_value])
        else:
            here = _where(self._plain[1], of)
            row, _, hash, value = (x[here] for x in self._plain)
            mine = has_value[row]
            row, of_each = row[mine], self._weights.of(hash[mine]) * value[mine, None]
            for i in range(k):
                effects[:, i] = np.bincount(row, of_each[:, i], self.rows)
        mean = (self._importance[has_value, None] * effects[has_value]).sum(axis=0) / weight
        unit = float((self._importance * self._unit)[has_value].sum() / weight)
        return ColumnMean(float(self.rows - has_value.sum()), weight, mean, unit or 1.0)

    def _curve(self, c: NumberColumn, x: Any) -> Any:
        """The effect of a number with a curve. NaN: the number 0, which has no feature."""
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
                            found[key] = shrunk(n, w, m, rows, before)
                        elif number == 0:
                            shared[key] = [m, w, n, rows]
                        else:
                            shared[key][0] = shared[key][0] + m
        for key, (m, w, n, rows) in shared.items():
            found[key] = shrunk(n, w, m, rows, before)

    def _hashes(self, space: str, factors: Sequence[Sequence[str]]) -> Any:
        names = [""]
        for i, factor in enumerate(factors):
            names = [f"{first}^{name}" if i else name for first in names for name in factor]
        seed, hash_all = namespace_hash(as_bytes(space), self._weights.hash_all), self._weights.hash_all
        return np.array([name_hash(as_bytes(name), seed, hash_all) for name in names], np.uint32)

    def _mass(self, columns: Sequence[Any], resolutions: Sequence[int], sizes: Sequence[int]) -> Any:
        """The importance of rows in each cell."""
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
        """The code of a column in each row, and its distance to the next code, from 0 to 1."""
        hash_all = self._weights.hash_all
        mine = self._spans_of(namespace_hash(as_bytes(c.name), hash_all))
        mine = mine[self._sizes[mine] > 0]
        rows, first = self._row[mine], self._hash[self._begin[mine]]
        absent = absent_hash(c.name, hash_all)
        if isinstance(c, NumberColumn):
            x = np.full(self.rows, np.nan)
            number = first == feature_hash(as_bytes(c.name), as_bytes(c.name), hash_all=hash_all)
            x[rows[number]] = self._value[self._begin[mine]][number]
            on = place_on(np.array(c.knots[resolution], np.float32).astype(float), x)
            return on.low, on.behind
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


def _where(spaces: Any, space: int) -> slice:
    """The places of this hash in ascending hashes."""
    return slice(*(int(np.searchsorted(spaces, np.uint32(space), side)) for side in ("left", "right")))


def _ranges(sizes: Any) -> Any:
    """0, 1, ..., size - 1 for each size."""
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if len(sizes) else 0) - np.repeat(ends - sizes, sizes)


def shrunk(n: float, own: Any, mean: Any, rows: float, before: int) -> Any:
    """The weight of a cell. If a model was continued, its old weight counts as the mean of its former rows."""
    if before:
        mean = (before * own + rows * mean) / (before + rows)
    return (n * own + ENOUGH * mean) / (n + ENOUGH)
