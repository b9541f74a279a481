"""A part of the rows of DATA, such as a fold: which lines of each source are read, and where these are in it."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import compress
from typing import Any

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.input.reader import BLOCK_SIZE, Block
from vwlite.input.sources import UnreadableInput


class Part:
    """lines: by source, as messages name it, a byte for each line, or row of a binary format: 1 if it is read.

    What is read has numbers as if there were nothing else, until `place` gives batches and bad lines those in their
    source.
    """

    def __init__(self, lines: Mapping[str, bytes]) -> None:
        self._lines = lines
        self._numbers = {source: np.flatnonzero(np.frombuffer(some, bool)) + 1 for source, some in lines.items()}

    def blocks(self, found: Iterable[Block | UnreadableInput]) -> Iterator[Block | UnreadableInput]:
        """The blocks of files that have only the lines that are read: cut at the same bytes, so that sums over batches
        are the same."""
        last, text, at, end, number = None, b"", 0, BLOCK_SIZE, 1  # of the source: its lines from byte `at` on
        for block in found:
            if isinstance(block, UnreadableInput):
                yield block
                continue
            if last is not None and block.source_index != last.source_index:
                yield last.with_data(text, number)
                text, at, end, number = b"", 0, BLOCK_SIZE, 1
            last, text = block.with_data(b"", 1), text + self._cut(block)
            while len(text) >= end - at:
                if size := text.rfind(b"\n", 0, end - at) + 1:
                    yield block.with_data(text[:size], number)
                    number, text, at = number + text.count(b"\n", 0, size), text[size:], at + size
                end += BLOCK_SIZE
        if last is not None:
            yield last.with_data(text, number)

    def _cut(self, block: Block) -> bytes:
        """The lines of a block that are read."""
        lines = bytes(block.data).split(b"\n")
        block.release()
        end = b"\n" if not lines[-1] else b""
        if end:
            lines.pop()
        first = block.first_line - 1
        kept = [*compress(lines, self._lines.get(block.source, b"")[first : first + len(lines)])]
        return b"\n".join(kept) + end * bool(kept)

    def rows(self, source: str, batch: Any, row: int) -> Any:
        """The rows of a pyarrow.RecordBatch that are read. row: the number of its first one."""
        some = np.frombuffer(self._lines.get(source, b""), bool)[row - 1 : row - 1 + batch.num_rows]
        return batch.take(np.flatnonzero(some))

    def line(self, source: str, number: int) -> int:
        """Where the line of this number is in its source."""
        numbers = self._numbers.get(source, ())
        return int(numbers[number - 1]) if number <= len(numbers) else number

    def place(self, batch: Batch) -> None:
        """Give a batch the numbers of its lines in their source."""
        if not len(batch):
            return
        lines = self._numbers[batch.source][numbers_of_lines(batch) - 1]
        more = np.diff(lines) - 1
        at = np.flatnonzero(more)
        batch.first_line, batch.breaks = int(lines[0]), [*zip(at.tolist(), more[at].tolist(), strict=True)]


def numbers_of_lines(batch: Batch) -> Any:
    """The number of each line of a batch in its source, from 1: what `Batch.line_number` says of it."""
    more = np.zeros(len(batch) + 1, np.int64)  # line ends in records before each line
    for at, count in batch.breaks:
        more[at + 1] += count
    return batch.first_line + np.arange(len(batch)) + more.cumsum()[: len(batch)]
