"""The values of a column, or the features of a namespace: how often each occurs, in bounded memory.

Counts are those of all values until there are too many. From then on only values are counted whose hash ends with
`level` zeros, which are about one of 2^level (Flajolet, On adaptive sampling, Computing 34, 1990). A value that is
counted was counted from its first time on. The value that was the most frequent so far always stays.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from math import inf, isfinite
from operator import mul
from struct import pack
from typing import Any

import mmh3
import numpy as np

from vwlite.core.text.numbers import whole
from vwlite.input.diagnostics import IS_NUMBER

Value = bytes | float

_IN_NUMBERS = b"0123456789+-.eE"
_PADDED = re.compile(rb"(?:^|\n)0[0-9]")
# A line that is a number, or has blanks at an end.
_NO_WORD = re.compile(rb"^[ \t\r]|[ \t\r]$|^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$", re.MULTILINE)


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
        for value in self._kept_of(found) if self.level else found:
            kept[value] = kept.get(value, 0) + found[value]
        while len(self._kept) > self._most:
            self.level += 1
            self._top = max(self._kept, key=self._kept.__getitem__)
            self._kept = {value: self._kept[value] for value in self._kept_of(self._kept)}

    def _kept_of(self, found: Mapping[Value, int]) -> list[Value]:
        """The values that are counted at this level, in their order."""
        values, mask, hash, top = list(found), (1 << self.level) - 1, mmh3.hash, self._top
        if set(map(type, values)) == {float}:
            are_kept = _hashes(np.array(values, float)) & np.uint32(mask) == 0
            if top in found:
                are_kept[values.index(top)] = True  # type: ignore[arg-type]  # it is in them
            return [values[i] for i in np.flatnonzero(are_kept).tolist()]
        return [value for value in values
                if not hash(value if isinstance(value, bytes) else pack("d", value), 0, False) & mask or value == top]

    def add(self, cells: Iterable[Value | None], missing: Collection[Value], *, as_words: bool) -> None:
        """missing: what is no value. as_words: bytes are no numbers, even if they look so."""
        counted = Counter(cells)
        if not as_words and self._add_alike(counted, missing):
            return
        found: Counter[Value] = Counter()
        for cell, n in counted.items():
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

    def _add_alike(self, counted: "Counter[Value | None]", missing: Collection[Value]) -> bool:
        """Add cells that are missing or, all others, texts of numbers, or words without blanks at their ends; False if
        they are not: nothing is added."""
        for cell in (b"", *missing):
            if isinstance(cell, bytes):
                counted.pop(cell, None)
        try:
            text = b"\n".join(counted)  # type: ignore[arg-type]  # a TypeError tells what is no text
            if text.translate(None, _IN_NUMBERS + b"\n"):
                if _NO_WORD.search(text):
                    return False
                self.words += counted.total()
                self.count(counted)  # type: ignore[arg-type]
                return True
            values = list(map(float, counted))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return False
        if not all(map(isfinite, values)):
            return False
        self.padded = self.padded or _PADDED.search(text) is not None
        found = dict(zip(values, counted.values(), strict=True))
        if len(found) < len(values):  # such as 1 and 1.0
            found = dict.fromkeys(found, 0)
            for x, n in zip(values, counted.values(), strict=True):
                found[x] += n
        for cell in missing:
            found.pop(cell, None)  # type: ignore[arg-type]
        self.count(found)  # type: ignore[arg-type]
        if found:
            self.widen(min(found), max(found), sum(map(mul, found, found.values())))
        return True

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


def _hashes(values: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """MurmurHash3_x86_32 of each 64-bit float, as `mmh3.hash` of its eight bytes."""
    hash = np.zeros(len(values), np.uint32)
    for half in values.view(np.uint32).reshape(-1, 2).T:
        k = half * np.uint32(0xCC9E2D51)
        hash ^= (k << np.uint32(15) | k >> np.uint32(17)) * np.uint32(0x1B873593)
        hash = (hash << np.uint32(13) | hash >> np.uint32(19)) * np.uint32(5) + np.uint32(0xE6546B64)
    hash ^= np.uint32(8)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hash = (hash ^ hash >> np.uint32(shift)) * np.uint32(factor)
    hash ^= hash >> np.uint32(16)
    return hash
