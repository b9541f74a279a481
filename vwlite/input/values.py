"""The values of a column, or the features of a namespace: how often each occurs, in bounded memory.

Counts are those of all values until there are too many. From then on only values are counted whose hash ends with
`level` zeros, which are about one of 2^level (Flajolet, On adaptive sampling, Computing 34, 1990). A value that is
counted was counted from its first time on. The value that was the most frequent so far always stays.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from math import inf, isfinite
from struct import pack

import mmh3

from vwlite.core.text.numbers import whole
from vwlite.input.diagnostics import IS_NUMBER

Value = bytes | float


class Values:
    """How often values occur, of at most `most` different ones; the extremes and the sum of those that are numbers."""

    def __init__(self, most: int) -> None:
        self.level = self.total = self.words = 0  # words: how many of the total are
        self.lines = 0  # that have the namespace
        self.padded = False  # whether a number has a zero before its other digits, as 007
        self.low, self.high, self.sum = inf, -inf, 0.0
        self._most = max(most, 8)
        self._kept: dict[Value, int] = {}
        self._top: Value | None = None

    def count(self, found: Mapping[Value, int]) -> None:
        self.total += sum(found.values())
        kept = self._kept
        for value, n in found.items():
            if not self.level or self._keeps(value):
                kept[value] = kept.get(value, 0) + n
        while len(self._kept) > self._most:
            self.level += 1
            self._top = max(self._kept, key=self._kept.__getitem__)
            self._kept = {value: n for value, n in self._kept.items() if self._keeps(value)}

    def _keeps(self, value: Value) -> bool:
        hash = mmh3.hash(value if isinstance(value, bytes) else pack("d", value), signed=False)
        return not hash & ((1 << self.level) - 1) or value == self._top

    def add(self, cells: Iterable[Value | None], missing: Collection[Value], *, as_words: bool) -> None:
        """missing: what is no value. as_words: bytes are no numbers, even if they look so."""
        found: Counter[Value] = Counter()
        for cell, n in Counter(cells).items():
            value = cell.strip(b" \t\r\n") if isinstance(cell, bytes) else cell
            if isinstance(value, bytes) and as_words:
                value = whole(value)
            elif isinstance(value, bytes) and IS_NUMBER.fullmatch(value):
                self.padded = self.padded or (value[:1] == b"0" and value[1:2].isdigit())
                value = float(value) if isfinite(float(value)) else value
            if value is not None and value == value and value != b"" and value not in missing:
                found[value] += n
        self.count(found)
        numbers = {x: n for x, n in found.items() if not isinstance(x, bytes)}
        self.words += sum(found.values()) - sum(numbers.values())
        if numbers:
            self.widen(min(numbers), max(numbers), sum(x * n for x, n in numbers.items()))

    def widen(self, low: float, high: float, total: float) -> None:
        """Take the extremes and the sum of more numbers."""
        self.low, self.high, self.sum = min(self.low, float(low)), max(self.high, float(high)), self.sum + total

    @property
    def distinct(self) -> int:
        """The number of different values, an estimate if there is a level: at most as if all that are not counted were
        different."""
        top = self._top is not None
        most = self.total - sum(self._kept.values()) + len(self._kept)
        return min((len(self._kept) - top << self.level) + top, most)

    @property
    def repeated(self) -> int:
        """How many occurred before, an estimate if there is a level."""
        of_top = self._kept[self._top] if self._top is not None else 0
        counted, different = sum(self._kept.values()) - of_top, len(self._kept) - (of_top > 0)
        return round((1 - different / max(counted, 1)) * (self.total - of_top)) + max(of_top - 1, 0)

    def items(self) -> list[tuple[Value, int]]:
        """Those that are counted, the most frequent first."""
        return sorted(self._kept.items(), key=lambda item: -item[1])
