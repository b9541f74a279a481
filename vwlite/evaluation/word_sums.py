"""What words of texts contribute to the scores of rows, over the first rows of data."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from vwlite.evaluation.terms import ColumnTerms, View
from vwlite.input.parsing import Parsed
from vwlite.runs.opened import Opened

MOST_ROWS, MOST_LETTERS = 1000, 1_000_000
TOGETHER = 50  # rows between which letters are counted


class WordSum(NamedTuple):
    """Of a word in rows: its mean contribution there; to the score of a class, if rows are predicted as it."""

    word: str
    of_class: str
    rows: int
    mean: float


class WordSums:
    """terms: finds the words of texts."""

    def __init__(self, opened: Opened, terms: ColumnTerms) -> None:
        self._terms, self._outputs, self.rows, self._letters = terms, opened.settings.outputs, 0, 0
        self._sums: dict[str, dict[tuple[str, str], Any]] = {}  # by column: rows, contributions, absolute ones

    def take(self, parsed: Parsed, rows: Any, shown: Any, names: Any) -> None:
        """Look at the rows of a batch, unless there were enough. shown: their predictions; names: of classes."""
        rows, shown = rows[: MOST_ROWS - self.rows].tolist(), shown[: MOST_ROWS - self.rows].tolist()
        for begin in range(0, len(rows), TOGETHER):
            if self._letters < MOST_LETTERS:
                self._take(parsed, rows[begin : begin + TOGETHER], shown[begin : begin + TOGETHER], names)

    def _take(self, parsed: Parsed, rows: Sequence[int], shown: Sequence[Any], names: Any) -> None:
        self.rows += len(rows)
        named = len(names) if names is not None else 0
        wanted = [(row, View(next(iter(self._outputs.explained(x, None, named)), 0)))
                  for row, x in zip(rows, shown, strict=True)]
        for (_, view), texts in zip(wanted, self._terms.texts_of(parsed, wanted), strict=True):
            of_class = str(names[view.of_class]) if names is not None else ""
            for column, text in texts:
                sums = self._sums.setdefault(column, {})
                self._letters += len(text.text)
                for word, x in text.by_word().items():
                    sums.setdefault((word, of_class), np.zeros(3))[:] += 1, x, abs(x)

    def of(self, column: str, most: int) -> list[WordSum]:
        """Those that moved scores most."""
        found = sorted(self._sums.get(column, {}).items(), key=lambda item: (-item[1][2], item[0]))
        return [WordSum(word, of_class, int(n), float(x / n)) for (word, of_class), (n, x, _) in found[:most]]
