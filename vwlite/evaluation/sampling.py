"""A sample of the rows of data, for what is slower than predicting them."""

from typing import Any

import numpy as np

from vwlite.input.parsing import EXAMPLE, Parsed

MOST = 100_000  # rows, about
NEARLY_ALL = 0.8  # share from which all rows are taken
_GOLDEN = 0x9E3779B1  # 2^32 over the golden ratio, odd: multiples of it mod 2^32 are spread evenly


class Sampling:
    """Which rows are looked at: of about `most` rows or fewer all, else about so many, spread evenly over the data. How
    many rows there are is estimated by the bytes of the first batch; if these are not known, as of a pipe, all rows are
    looked at."""

    def __init__(self, most: int = MOST) -> None:
        self._most, self._below = most, 0
        self.rows = self.taken = 0

    def of(self, parsed: Parsed) -> Any:
        """A mask over the lines of the next batch; None: all."""
        examples = np.asarray(parsed.batch.kind) == EXAMPLE
        count = int(np.count_nonzero(examples))
        if not self._below and count:
            share = self._most * parsed.done / (count * parsed.total) if parsed.total and parsed.done else 1.0
            self._below = round(2**32 * share) if share < NEARLY_ALL else 2**32
        numbers = np.arange(self.rows, self.rows + count, dtype=np.uint64)
        chosen = (numbers * np.uint64(_GOLDEN) & np.uint64(2**32 - 1)) < np.uint64(self._below)
        self.rows += count
        self.taken += int(np.count_nonzero(chosen))
        if self._below == 2**32:
            return None
        examples[examples] = chosen
        return examples
