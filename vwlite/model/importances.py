"""How important each column of a table is for the scores of a model.

    importance of c = mean over rows of |sum over effects that c takes part in of the effect / its number of columns|

of purified effects less their means: the mean absolute contribution of a column, of which products of columns are
shared equally. It is divided into what the column does alone and in products, in proportion to the mean absolute
contributions of these. With several scores, as of classes, it is the mean over these.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vwlite.output.text import shown

if TYPE_CHECKING:
    from pandas import DataFrame

Numbers = np.ndarray[Any, Any]


class Importance(NamedTuple):
    """Of a column. alone, in_products: for each score."""

    column: str
    alone: tuple[float, ...]
    in_products: tuple[float, ...]

    @property
    def whole(self) -> float:
        return float(np.mean(self.alone) + np.mean(self.in_products))

    @property
    def shared(self) -> float:
        """What it does in products."""
        return float(np.mean(self.in_products))


class Importances(Mapping[str, float]):
    """The importance by column, the largest first."""

    def __init__(self, found: Iterable[Importance]) -> None:
        self._of = {one.column: one for one in sorted(found, key=lambda one: -one.whole)}

    def __getitem__(self, column: str) -> float:
        return self._of[column].whole

    def __iter__(self) -> Iterator[str]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)

    @property
    def parts(self) -> list[Importance]:
        """With what columns do alone and in products."""
        return [*self._of.values()]

    def as_dicts(self) -> list[dict[str, Any]]:
        """For JSON."""
        return [{"name": one.column, "importance": one.whole, "in_products": one.shared} for one in self.parts]

    def __repr__(self) -> str:
        wide = max(map(len, self), default=0)
        lines = [f"  {one.column:<{wide}}  {shown(one.whole):>8}"
                 + (f"  {shown(one.shared)} of it in products" if one.shared else "") for one in self.parts]
        return "\n".join([f"<the importances of {len(self)} columns", *lines]) + ">"

    def to_frame(self) -> "DataFrame":
        """A pandas.DataFrame with a row for each column: importance, alone, in_products. ImportError without pandas."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise ImportError("to_frame needs pandas: pip install pandas") from None

        rows = [(one.column, one.whole, one.whole - one.shared, one.shared) for one in self.parts]
        return DataFrame(rows, columns=["column", "importance", "alone", "in_products"])


class Shares:
    """Adds up what the columns of effects contribute to rows. effects: of each its columns, and whether it is a
    product; scores: how many a row has. sizes: the sum of the absolute values of each effect, [effects, scores]."""

    def __init__(self, effects: Sequence[tuple[tuple[str, ...], bool]], scores: int) -> None:
        self._columns = [*dict.fromkeys(column for columns, _ in effects for column in columns)]
        self._alone, self._in_products = (
            _Parts([(column, k, 1 / len(columns)) for k, (columns, is_product) in enumerate(effects)
                    for column in columns if is_product is wanted], self._columns)
            for wanted in (False, True)
        )
        self.rows, self.sizes = 0, np.zeros((len(effects), scores))
        self._sums = np.zeros((3, len(self._columns), scores))  # of the whole, alone, in products

    def take(self, contributions: Numbers) -> None:
        """Of rows: [rows, effects or more, classes]."""
        found = contributions[:, : len(self.sizes)]
        self.rows += len(found)
        self.sizes += np.abs(found).sum(axis=0)
        alone, in_products = self._alone.of(found), self._in_products.of(found)
        self._sums += [np.abs(x).sum(axis=0) for x in (alone + in_products, alone, in_products)]

    def importances(self) -> list[Importance]:
        """Of all columns."""
        whole, alone, in_products = self._sums / max(self.rows, 1)
        both = alone + in_products
        shared = whole * np.divide(in_products, both, out=np.zeros_like(both), where=both > 0)
        rows = zip(self._columns, (whole - shared).tolist(), shared.tolist(), strict=True)
        return [Importance(column, tuple(alone), tuple(of)) for column, alone, of in rows]


class _Parts:
    """The parts of effects that are of columns: of each the column, the effect and its share."""

    def __init__(self, parts: Sequence[tuple[str, int, float]], columns: Sequence[str]) -> None:
        place = {column: k for k, column in enumerate(columns)}
        ordered = sorted((place[column], effect, share) for column, effect, share in parts)
        self._effects = np.array([effect for _, effect, _ in ordered], int)
        self._shares = np.array([share for *_, share in ordered])[:, None]
        self._places, self._begins = np.unique([at for at, *_ in ordered], return_index=True)
        self._size = len(columns)

    def of(self, found: Numbers) -> Numbers:
        """[rows, columns, classes]"""
        sums = np.zeros((len(found), self._size, found.shape[2]))
        if len(self._effects):
            each = found[:, self._effects] * self._shares
            sums[:, self._places.astype(int)] = np.add.reduceat(each, self._begins, axis=1)
        return sums
