"""The order in which examples of files are learned.

Files are often sorted. So examples are read from cursors spread evenly over the data, the next one from a cursor
that is drawn in proportion to what it has left. The order is drawn once, and is that of every pass.
"""

from libc.stdint cimport uint32_t, uint64_t

from vwlite.core.base.random cimport SEED, below
from vwlite.core.data.batch cimport Batch

cdef enum:
    CURSORS = 64


cdef class DrawnOrder:
    """The examples of a file in drawn order, as batches. n: examples that can be learned."""

    cdef size_t left[CURSORS]         # examples of each cursor that are not read yet
    cdef size_t end[CURSORS]          # the example after its last one
    cdef size_t line[CURSORS]         # the next line of its batch
    cdef list batches                 # or None: its next batch has not been given yet
    cdef size_t rest                  # examples that are not read yet
    cdef int drawn                    # the cursor whose turn it is; -1: not drawn yet
    cdef uint64_t random

    def __init__(self, size_t n):
        cdef size_t k, begin = 0
        self.rest, self.drawn, self.random = n, -1, SEED
        self.batches = [None] * CURSORS
        for k in range(CURSORS):
            self.end[k] = (k + 1) * n // CURSORS
            self.left[k] = self.end[k] - begin
            begin = self.end[k]

    def first(self, size_t cursor):
        """The number of the next example of a cursor."""
        return self.end[cursor] - self.left[cursor]

    def give(self, size_t cursor, Batch batch not None, size_t skip=0):
        """The batch that a cursor reads next; skip: so many examples of it, which are those of another cursor."""
        cdef size_t line = 0
        while True:
            while line < batch.a.lines and not is_used(&batch.a, line):
                line += 1
            if skip == 0 or line == batch.a.lines:
                break
            skip -= 1
            line += 1
        self.batches[cursor], self.line[cursor] = batch, line

    def fill(self, Batch out not None, uint32_t[::1] order not None, size_t at, size_t most_features):
        """Add examples to a batch until it has so many features, and write their numbers into `order` from `at` on.

        Returns the cursor that needs another batch before it goes on, or -1. MemoryError.
        """
        cdef Batch batch
        cdef size_t k
        while self.rest and out.a.features < most_features:
            if self.drawn < 0:
                self.drawn = self.draw()
            k = self.drawn
            batch = self.batches[k]
            if batch is None or self.line[k] == batch.a.lines:
                self.batches[k] = None
                return self.drawn
            if out.a.lines == 0 and out.keep_spaces(batch.a.space != NULL):
                raise MemoryError("no memory for a batch")
            out.check_like(batch)
            if out.copy_lines(&batch.a, self.line[k], self.line[k] + 1):
                raise MemoryError("no memory for a batch")
            order[at + out.a.lines - 1] = <uint32_t>(self.end[k] - self.left[k])
            self.left[k] -= 1
            self.rest -= 1
            self.drawn = -1
            self.line[k] += 1
            while self.line[k] < batch.a.lines and not is_used(&batch.a, self.line[k]):
                self.line[k] += 1
            if self.left[k] == 0:
                self.batches[k] = None
        return -1

    cdef int draw(self):
        cdef uint64_t number = below(&self.random, self.rest)
        cdef int k = 0
        while number >= self.left[k]:
            number -= self.left[k]
            k += 1
        return k
