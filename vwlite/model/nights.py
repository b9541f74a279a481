"""The last nights of a model that is continued with kept rows, as its header has them."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from vwlite.output.text import shown
from vwlite.records import record

MOST = 30


@record(frozen=True)
class Night:
    """A run. rows: examples that were new. loss: of these before they were learned, with its standard error; in the
    first run out of fold. past: the factor of the importances of kept rows. pairs: of columns, and words, that the run
    before did not have."""

    rows: int
    loss: float | None
    error: float | None = None
    past: float = 1.0
    pairs: int = 0
    words: int = 0

    def stored(self) -> dict[str, Any]:
        return {**vars(self)}

    def __str__(self) -> str:
        """For people."""
        found = [f"{self.rows:,} new rows"]
        if self.loss is not None:
            found.append(f"loss {shown(self.loss)}" + ("" if self.error is None else f" +- {shown(self.error)}"))
        if self.past != 1:
            found.append(f"kept rows count {self.past:g} times as much")
        new = (self.pairs, "pair"), (self.words, "word")
        return ", ".join([*found, *(f"{n:,} new {what}{'s' * (n > 1)}" for n, what in new if n)])


def restored(found: Any) -> list[Night]:
    """ValueError for what is no list of nights."""
    try:
        nights = [Night(**night) for night in found]
    except TypeError:
        raise ValueError("what it has of the last nights is not a list of their numbers") from None
    for night in nights:
        counts = (night.rows, night.pairs, night.words)
        numbers = (night.loss or 0.0, night.error or 0.0, night.past)
        if not all(type(x) is int and x >= 0 for x in counts) or not all(type(x) is float for x in numbers):
            raise ValueError("a night that it has is not valid")
        if not all(map(isfinite, numbers)) or not 0 <= night.past <= 1:
            raise ValueError("a night that it has is not valid")
    if type(found) is not list or len(nights) > MOST:
        raise ValueError("what it has of the last nights is too much")
    return nights


def nights_of(continued: Mapping[str, Any]) -> Sequence[Night]:
    """Those of the header of a model, which was checked."""
    return restored(continued.get("nights", []))
