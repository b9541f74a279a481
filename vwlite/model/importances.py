"""How important each column of a table is for the scores of a model.

    importance of c = mean over rows of |sum over effects that c takes part in of the effect / its number of columns|

of purified effects less their means: the mean absolute contribution of a column, of which products of columns are
shared equally. It is divided into what the column does alone and in products, in proportion to the mean absolute
contributions of these. With several scores, as of classes, it is the mean over these.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vwlite.output.text import shown

if TYPE_CHECKING:
    from pandas import DataFrame

    from vwlite.model.effects import Effects

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
    """Adds up what the columns of effects contribute to rows. sizes: the sum of the absolute values of each effect,
    [effects, classes]."""

    def __init__(self, effects: "Effects") -> None:
        self._columns = [*dict.fromkeys(column for effect in effects for column in effect.columns)]
        place = {column: k for k, column in enumerate(self._columns)}
        self._alone, self._in_products = np.zeros((2, len(self._columns), len(effects)))
        for k, effect in enumerate(effects):
            for column in effect.columns:
                part = self._alone if len(effect.axes) < 2 else self._in_products
                part[place[column], k] += 1 / len(effect.columns)
        self.rows, self.sizes = 0, np.zeros((len(effects), len(effects.intercept)))
        self._sums = np.zeros((3, len(self._columns), len(effects.intercept)))  # of the whole, alone, in products

    def take(self, contributions: Numbers) -> None:
        """Of rows: [rows, effects or more, classes]."""
        found = contributions[:, : len(self.sizes)]
        self.rows += len(found)
        self.sizes += np.abs(found).sum(axis=0)
        for k in range(found.shape[2]):
            alone, in_products = (np.einsum("re,ce->rc", found[:, :, k], of) for of in (self._alone, self._in_products))
            self._sums[:, :, k] += [np.abs(x).sum(axis=0) for x in (alone + in_products, alone, in_products)]

    def importances(self) -> list[Importance]:
        """Of all columns."""
        whole, alone, in_products = self._sums / max(self.rows, 1)
        both = alone + in_products
        shared = whole * np.divide(in_products, both, out=np.zeros_like(both), where=both > 0)
        rows = zip(self._columns, (whole - shared).tolist(), shared.tolist(), strict=True)
        return [Importance(column, tuple(alone), tuple(of)) for column, alone, of in rows]
