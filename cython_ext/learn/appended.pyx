"""Rows of a table with cells of predictions appended.

The predictions are rows of CSV as PredictionWriter writes them, one for each line of a batch.
"""

from decimal import Decimal

from libc.stdlib cimport free, malloc
from libc.string cimport memchr

from vwlite.core.data.batch cimport BLANK
from vwlite.core.learn.output cimport Text


cdef struct Piece:
    const char* begin
    const char* end


cdef class RowJoiner:
    """Appends cells of predictions to rows of text, whose own bytes are unchanged.

    places: of these cells in a row of predictions. words: which of them are words; the others are numbers. keys: of
    JSON lines, each with quotes and a colon; None: the text is delimited. quoted: words may be in quotes there. decimal:
    the point of its numbers.
    """

    cdef list places, words, keys
    cdef char delimiter
    cdef bint quoted
    cdef str decimal
    cdef Piece* cells          # owned; of a row of predictions
    cdef size_t width
    cdef Text out, word
    cdef bytes line_end        # of the last row that has one

    def __cinit__(self, places, words, *, str delimiter, bint quoted=True, keys=None, str decimal="."):
        self.places, self.words, self.keys = list(places), list(words), keys
        self.delimiter, self.quoted, self.decimal = ord(delimiter), quoted, decimal
        self.width = max(self.places) + 1
        self.cells = <Piece*>malloc(self.width * sizeof(Piece))
        if self.cells == NULL:
            raise MemoryError("no memory for cells")
        self.out, self.word, self.line_end = Text(), Text(), b"\n"

    def __dealloc__(self):
        free(self.cells)

    def join(self, bytes text not None, bytes kinds not None, breaks, bytes predictions not None):
        """The rows of a block, up to the last that has a prediction. kinds: of the lines of its batch. breaks: of each
        line with line ends inside of cells, their number. Blank lines stay blank."""
        cdef const char* p = text
        cdef const char* end = p + len(text)
        cdef const char* q = predictions
        cdef const char* q_end = q + len(predictions)
        cdef const char* last
        cdef const char* next
        cdef size_t i, k
        cdef dict inside = dict(breaks)
        for i in range(len(kinds)):
            if p == end or q == q_end:
                break
            q = self.split(q)
            next = p
            for k in range(1 + <size_t>(inside.get(i, 0) if inside else 0)):
                next = <const char*>memchr(next, c'\n', end - next) if next < end else NULL
                next = end if next == NULL else next + 1
            last = next - (next > p and (next - 1)[0] == c'\n')
            last -= last > p and (last - 1)[0] == c'\r'
            if (next - 1)[0] == c'\n' and next - last != <Py_ssize_t>len(self.line_end):
                self.line_end = last[:next - last]
            if kinds[i] == BLANK:
                self.write(p, last)
            elif self.keys is not None:
                self.add_keys(p, last)
            else:
                self.write(p, last)
                for k in range(len(self.places)):
                    self.write(&self.delimiter, &self.delimiter + 1)
                    self.add_cell(k)
            self.add(self.line_end)
            p = next
        return self.out.take()

    cdef const char* split(self, const char* p) except NULL:
        """Find the cells of the row at p. Returns the place behind it."""
        cdef size_t k = 0
        cdef const char* begin
        while True:
            begin = p
            if p[0] == c'"':
                p += 1
                while p[0] != c'"' or p[1] == c'"':
                    p += 1 + (p[0] == c'"')
            while p[0] != c',' and p[0] != c'\n':
                p += 1
            if k < self.width:
                self.cells[k].begin, self.cells[k].end = begin, p
            k += 1
            p += 1
            if (p - 1)[0] == c'\n':
                return p

    cdef int add_keys(self, const char* p, const char* end) except -1:
        """A line of JSON with the keys at the end of its object; a line without an object is unchanged."""
        cdef const char* last = end
        cdef const char* before
        cdef size_t k
        while last > p and (last - 1)[0] in (c' ', c'\t', c'\r'):
            last -= 1
        if last == p or (last - 1)[0] != c'}':
            return self.write(p, end)
        before = last - 1
        while before > p and (before - 1)[0] in (c' ', c'\t'):
            before -= 1
        self.write(p, before)
        for k in range(len(self.places)):
            if k > 0 or before == p or (before - 1)[0] != c'{':
                self.add(b", ")
            self.add(self.keys[k])
            self.add_cell(k)
        return self.write(before, end)

    cdef int add_plain(self, bytes number) except -1:
        """A number with the point of the table, and without an exponent, which such numbers do not have."""
        cdef str text = number.decode()
        cdef bytes found
        if "e" in text:
            text = format(Decimal(text), "f")
        found = text.replace(".", self.decimal).encode()
        if self.quoted:
            return check(self.out.csv_cell(found, len(found), self.delimiter))
        return self.add(found)

    cdef int add_cell(self, size_t k) except -1:
        """The value of a cell of predictions, as the table has it."""
        cdef Piece cell = self.cells[<size_t>self.places[k]]
        cdef bint is_word = self.words[k]
        if self.keys is not None and cell.begin == cell.end:
            return self.add(b"null")
        if not is_word and self.decimal != "." and cell.begin != cell.end:
            return self.add_plain(cell.begin[:cell.end - cell.begin])
        if not is_word or (self.keys is None and self.quoted and self.delimiter == c','):
            return self.write(cell.begin, cell.end)
        self.word.size = 0
        if cell.begin < cell.end and cell.begin[0] == c'"':
            cell.begin += 1
            cell.end -= 1
            while cell.begin < cell.end:
                check(self.word.write(cell.begin, 1))
                cell.begin += 1 + (cell.begin[0] == c'"')
            cell.begin, cell.end = self.word.data, self.word.data + self.word.size
        if self.keys is not None:
            return check(self.out.json_string(cell.begin, cell.end - cell.begin))
        if not self.quoted:
            return self.write(cell.begin, cell.end)
        return check(self.out.csv_cell(cell.begin, cell.end - cell.begin, self.delimiter))

    cdef int add(self, bytes text) except -1:
        cdef const char* p = text
        return self.write(p, p + len(text))

    cdef int write(self, const char* p, const char* end) except -1:
        return check(self.out.write(p, end - p))


cdef int check(int failed) except -1:
    if failed:
        raise MemoryError("no memory for a row")
    return 0
