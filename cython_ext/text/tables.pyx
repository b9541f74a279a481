"""Tables as text: delimited records (csv.pxd) become a batch, or the VW text that means the same.

Delimiters, quotes and line ends are found 64 bytes at a time, as for VW text; a walk over them gives the cells of a
record, and cells.pxd makes features of them, in the order of the schema, whatever that of the file is.

The header of a file is none of this: whoever reads the file knows it, and says where each column stands.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer, Py_buffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.math cimport NAN, isfinite
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcpy, memmove, memset, strlen

from vwlite.core.base.buffers cimport reserve, resize
from vwlite.core.base.simd cimport PADDING, likely, load64, unlikely
from vwlite.core.data.batch cimport BLANK, EXAMPLE, REJECTED, Arrays, Fault
from vwlite.core.text.cells cimport (
    BY_VALUE, CATEGORICAL, DROPPED, IS_IMPORTANCE, IS_LABEL, IS_TAG, NUMERIC, TEXT, Sink, add_number, add_text, add_word,
    character, close_space, open_space, write,
)
from vwlite.core.text.csv cimport (
    BAD, CELL, CELL_LARGE, COMPLETE, CUT, NOT_UTF8, QUOTE_OPEN, RAGGED, Outcome, csv_marks, csv_record,
)
from vwlite.core.text.numbers cimport Double, Float, read_double, read_float
from vwlite.core.text.parser import CODES as LINE_CODES
from vwlite.core.text.tokens cimport (
    IMPORTANCE, IMPORTANCE_LARGE, IMPORTANCE_NEGATIVE, OUT_OF_MEMORY, close_line, line_feed, take_label, trouble_at,
)

# The names of what can be wrong with a record, in the order of TableCode.
CODES = (
    "ragged", "quote inside", "quote text", "quote open", "not UTF-8", "cell", "cell too large",
)

cdef enum:
    FIRST_MARKS = 1 << 12


cdef inline bint is_blank(char c) noexcept nogil:
    return c == c' ' or c == c'\t' or c == c'\r' or c == c'\n'


cdef const char* not_utf8(const char* p, const char* end) noexcept nogil:
    """The first byte that is not of UTF-8; NULL if all are."""
    cdef uint32_t c
    cdef size_t n
    while p < end:
        if end - p >= 8 and not load64(p) & <uint64_t>0x8080808080808080:
            p += 8
            continue
        n = character(<const uint8_t*>p, end - p, &c)
        if n == 0:
            return p
        p += n
    return NULL


cdef class TableParser(Parser):
    """Blocks of whole records become batches. Built as Parser is, with format "csv".

    `set_table` comes before the first block, and again whenever a file has its columns in other places. A block begins
    with a record; it has neither a header nor a byte order mark.
    """

    def __cinit__(self, *args, **kwargs):
        self.mark_room = FIRST_MARKS
        self.marks = <uint32_t*>malloc(FIRST_MARKS * sizeof(uint32_t))
        if self.marks == NULL:
            raise MemoryError("no memory for a parser")

    def __dealloc__(self):
        free(self.marks)
        free(self.position)
        free(self.cells)
        free(self.unquoted)
        free(self.fault_columns)

    def set_table(self, Cells table not None, positions, size_t width, str delimiter):
        """The columns; where each of them stands among the `width` cells of a record, -1 for one that does not."""
        cdef size_t i
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
            raise ValueError(f"{delimiter!r} cannot be a delimiter")
        if len(positions) != table.count or not all(-1 <= p < <int32_t>width for p in positions):
            raise ValueError("every column has a place among the cells of a record, or -1")
        self.table, self.width, self.delimiter = table, width, <char>ord(delimiter)
        self.cell_room = width + 1
        if (resize(<void**>&self.position, table.count + 1, sizeof(int32_t))
                or resize(<void**>&self.cells, self.cell_room, sizeof(Cell))):
            raise MemoryError("no memory for columns")
        for i in range(table.count):
            self.position[i] = positions[i]

    def take_text(self):
        """The VW text of all records since the last call, as bytes."""
        found = PyBytes_FromStringAndSize(self.table.sink.text, self.table.sink.text_size)
        self.table.sink.text_size = 0
        return found

    cdef int fill(self, const char* data, size_t size, Batch batch, bint first) noexcept nogil:
        cdef const char* reached = data
        cdef size_t rest
        cdef int state = 0
        batch.clear()
        if batch.reserve(1, 1, 64, 0):
            return -1
        batch.a.tag_begin[0] = batch.a.span_begin[0] = batch.a.feature_begin[0] = 0
        # In place: all records that end PADDING bytes before the end. The rest: in a copy with that behind it.
        if size > PADDING:
            state = self.records(data, data + size - PADDING, 0, batch, False, &reached)
            if state:
                return state if state < 0 else 0
        rest = size - (reached - data)
        if rest == 0:
            return 0
        if reserve(<void**>&self.scratch, &self.scratch_size, rest + 1 + PADDING, 1):
            return -1
        memcpy(self.scratch, reached, rest)
        memset(self.scratch + rest, 0, PADDING + 1)
        if self.scratch[rest - 1] != c'\n':
            self.scratch[rest] = c'\n'
            rest += 1
        state = self.records(self.scratch, self.scratch + rest, reached - data, batch, True, &reached)
        return state if state < 0 else 0

    cdef int records(self, const char* p, const char* end, size_t offset, Batch batch, bint last,
                     const char** reached) noexcept nogil:
        """The records in [p, end), as far as they are complete; if `last`, all. offset: of p in the block. -1 when memory
        is out, 1 if it stopped at a fault."""
        cdef const char* base = p
        cdef const char* seen = p
        cdef const char* next
        cdef const uint32_t* m = self.marks
        cdef uint32_t* behind = self.marks       # the last mark
        cdef uint32_t named
        cdef uint64_t high = 0
        cdef size_t found, text
        cdef Record record
        cdef Trouble trouble
        cdef Outcome outcome
        cdef Arrays before
        while p < end:
            outcome = csv_record(base, p, self.delimiter, &m, behind, self.cells, self.cell_room, &record, &trouble)
            if unlikely(outcome == CUT and seen < end):
                if m == self.marks and behind + 66 > self.marks + self.mark_room:
                    found = behind - self.marks
                    if resize(<void**>&self.marks, 2 * self.mark_room, sizeof(uint32_t)):
                        return -1
                    self.mark_room *= 2
                    m, behind = self.marks, self.marks + found
                memmove(self.marks, m, (behind - m) * sizeof(uint32_t))
                behind = self.marks + (behind - m)
                m = self.marks
                if m == behind:
                    high = 0
                    if seen < p:
                        seen = p
                behind += csv_marks(base, seen, end, self.delimiter, behind, self.mark_room - (behind - self.marks),
                                    &seen, &high)
                continue
            if outcome == CUT and not last:
                break
            if unlikely(outcome != COMPLETE):
                self.column = 0
                next = <const char*>memchr(trouble.end, c'\n', end - trouble.end)
                if next == NULL:       # not the last part: that comes again with the rest
                    break
            else:
                next = record.end
                if unlikely(batch.a.lines + 1 >= batch.line_capacity) and batch.reserve(1, 0, 0, 0):
                    return -1
                before.spans, before.features, before.tag_bytes = batch.a.spans, batch.a.features, batch.a.tag_bytes
                named, text = self.names_so_far(), self.table.sink.text_size
                self.column = 0
                if unlikely(high != 0):
                    trouble.begin = not_utf8(p, next)
                    if trouble.begin != NULL:
                        trouble_at(&trouble, NOT_UTF8, trouble.begin, trouble.begin + 1)
                        outcome = BAD
                if likely(outcome == COMPLETE):
                    if likely(self.take(&record, batch, &trouble) == 0):
                        p = next + 1
                        continue
                batch.a.spans, batch.a.features, batch.a.tag_bytes = before.spans, before.features, before.tag_bytes
                self.forget_names(named)
                self.table.sink.text_size = text
                if trouble.code == OUT_OF_MEMORY:
                    return -1
            if self.add_fault(p, next, offset + (p - base), batch, &trouble):
                return -1
            if self.settings.stop:
                return 1
            p = close_line(batch, REJECTED, next)
            while m < behind and base + m[0] < p:
                m += 1
            if seen < p:
                seen = p
        reached[0] = p
        return 0

    cdef int add_fault(self, const char* p, const char* end, size_t offset, Batch batch, Trouble* trouble) noexcept nogil:
        """The record [p, end] is bad; offset: of p in the block. It has its place among the lines."""
        cdef Fault fault
        cdef size_t i = batch.a.lines
        fault.line, fault.code = <uint32_t>i, trouble.code
        fault.begin, fault.end = offset + (trouble.begin - p), offset + (trouble.end - p)
        fault.line_begin, fault.line_end = offset, offset + (end - p)
        if batch.add_fault(&fault):
            return -1
        if reserve(<void**>&self.fault_columns, &self.fault_room, batch.fault_count, sizeof(uint32_t)):
            return -1
        self.fault_columns[batch.fault_count - 1] = self.column
        if batch.reserve(1, 0, 0, 0):
            return -1
        batch.a.label[i], batch.a.importance[i], batch.a.initial[i] = NAN, 1, 0
        return 0

    cdef int begin_line(self, Batch batch, Trouble* trouble) noexcept nogil:
        cdef size_t i = batch.a.lines
        if batch.reserve(1, 1, 64, 0):
            trouble_at(trouble, OUT_OF_MEMORY, NULL, NULL)
            return -1
        batch.a.label[i], batch.a.importance[i], batch.a.initial[i] = NAN, 1, 0
        self.line_text = self.table.sink.text_size
        return 0

    cdef int take(self, const Record* record, Batch batch, Trouble* trouble) noexcept nogil:
        """A record whose cells are known becomes a line; -1: it is bad, and what is wrong with it."""
        cdef size_t k
        cdef Cell* cell = self.cells
        cdef int32_t at
        cdef const Column* columns = self.table.columns
        cdef const char* p
        cdef const char* end
        if self.begin_line(batch, trouble):
            return -1
        if unlikely(record.cells == 1 and not cell.quoted):
            p = cell.begin
            while p < cell.end and is_blank(p[0]):
                p += 1
            if p == cell.end:
                close_line(batch, BLANK, record.end)
                return self.end_text(False, trouble)
        if unlikely(record.cells != self.width):
            p = cell.begin - cell.quoted
            trouble_at(trouble, RAGGED, p, p)
            return -1
        for k in range(self.table.heads):
            at = self.position[self.table.head[k]]
            if at >= 0:
                self.column = self.table.head[k] + 1
                if self.take_head(&columns[self.column - 1], cell[at].begin, cell[at].end, cell[at].doubled, batch, trouble):
                    return -1
        for k in range(self.table.count):
            at = self.position[k]
            if at < 0 or columns[k].role >= IS_LABEL and columns[k].role <= DROPPED:
                continue
            p, end = cell[at].begin, cell[at].end
            if unlikely(cell[at].doubled):
                self.column = <uint32_t>k + 1
                if self.unquote(&p, &end, trouble):
                    return -1
            if unlikely(self.take_cell(&columns[k], p, end, batch, trouble)):
                self.column = <uint32_t>k + 1
                if trouble.code != OUT_OF_MEMORY:
                    trouble.begin, trouble.end = cell[at].begin, cell[at].end
                return -1
        close_line(batch, EXAMPLE, record.end)
        return self.end_text(True, trouble)

    cdef int unquote(self, const char** p, const char** end, Trouble* trouble) noexcept nogil:
        """A cell with one quote for two."""
        cdef const char* q = p[0]
        cdef size_t n = 0
        if reserve(<void**>&self.unquoted, &self.unquoted_size, end[0] - q + PADDING, 1):
            trouble_at(trouble, OUT_OF_MEMORY, NULL, NULL)
            return -1
        while q < end[0]:
            self.unquoted[n] = q[0]
            n += 1
            q += 2 if q[0] == c'"' else 1
        memset(self.unquoted + n, 0, PADDING)
        p[0], end[0] = self.unquoted, self.unquoted + n
        return 0

    cdef int take_cell(self, const Column* c, const char* p, const char* end, Batch batch, Trouble* trouble) noexcept nogil:
        """The features of a cell; -1: it is bad. PADDING bytes behind it are readable."""
        cdef Float number
        cdef int failed
        while p < end and is_blank(p[0]):
            p += 1
        if p == end:
            return 0
        while is_blank((end - 1)[0]):
            end -= 1
        if open_space(&self.table.sink, batch, c.name, c.size):
            trouble_at(trouble, OUT_OF_MEMORY, NULL, NULL)
            return -1
        if c.role == CATEGORICAL:
            failed = add_word(&self.table.sink, c, batch, p, end - p)
        elif c.role == TEXT:
            failed = add_text(&self.table.sink, c.space, batch, p, end - p)
        else:
            number = read_float(p, end)
            if likely(number.end == end):
                if unlikely(not isfinite(number.value)):
                    trouble_at(trouble, CELL_LARGE, p, end)
                    return -1
                failed = add_number(&self.table.sink, c, batch, number.value, p, end - p)
            elif c.role == BY_VALUE:
                failed = add_word(&self.table.sink, c, batch, p, end - p)
            else:
                trouble_at(trouble, CELL, p, end)
                return -1
        if unlikely(failed or close_space(&self.table.sink, batch, c.letter, c.size)):
            trouble_at(trouble, OUT_OF_MEMORY, NULL, NULL)
            return -1
        return 0

    cdef int take_head(self, const Column* c, const char* p, const char* end, bint doubled, Batch batch,
                       Trouble* trouble) noexcept nogil:
        """The label, importance or tag of a line; -1: it is bad."""
        cdef const char* begin = p
        cdef const char* last = end
        cdef size_t i = batch.a.lines, n
        cdef Double number
        while p < end and is_blank(p[0]):
            p += 1
        while p < end and is_blank((end - 1)[0]):
            end -= 1
        if p == end:
            return 0
        if unlikely(doubled) and self.unquote(&p, &end, trouble):
            return -1
        n = end - p
        if c.role == IS_IMPORTANCE:
            number = read_double(p)
            if number.end != end:
                trouble_at(trouble, IMPORTANCE, begin, last)
            elif number.value < 0:
                trouble_at(trouble, IMPORTANCE_NEGATIVE, begin, last)
            elif not isfinite(number.value):
                trouble_at(trouble, IMPORTANCE_LARGE, begin, last)
            else:
                batch.a.importance[i] = number.value
                # Without a label there is no place for it in VW text, and nobody learns from the line.
                if self.table.sink.as_text and self.table.sink.text_size > self.line_text:
                    return self.write_word(b" ", p, n, trouble)
                return 0
            return -1
        if unlikely(not self.fit_word(&p, n, c.role == IS_LABEL)):
            trouble_at(trouble, OUT_OF_MEMORY, NULL, NULL)
            return -1
        if unlikely(self.table.sink.as_text):
            if c.role == IS_LABEL:
                return self.write_word(b"", p, n, trouble)
            return self.write_word(b" '" if self.table.sink.text_size > self.line_text else b"'", p, n, trouble)
        if c.role == IS_TAG:
            if batch.reserve(0, 0, 0, n):
                trouble_at(trouble, OUT_OF_MEMORY, NULL, NULL)
                return -1
            memcpy(batch.a.tags + batch.a.tag_bytes, p, n)
            batch.a.tag_bytes += n
            return 0
        if not take_label(&self.settings, p, p + n, &batch.a.label[i], trouble):
            if trouble.code != OUT_OF_MEMORY:
                trouble.begin, trouble.end = begin, last
            return -1
        return 0

    cdef bint fit_word(self, const char** p, size_t n, bint is_label) noexcept nogil:
        """Have `_` for what a word before the first bar of VW text cannot hold, in a copy; false: no memory."""
        cdef const char* q = p[0]
        cdef size_t i
        cdef bint fits = not (is_label and q[0] == c"'")
        for i in range(n):
            fits = fits and <uint8_t>q[i] > 0x20 and q[i] != c'|'
        if likely(fits):
            return True
        if reserve(<void**>&self.unquoted, &self.unquoted_size, n + PADDING, 1):
            return False
        for i in range(n):
            self.unquoted[i] = q[i] if <uint8_t>q[i] > 0x20 and q[i] != c'|' else c'_'
        if is_label and q[0] == c"'":
            self.unquoted[0] = c'_'
        memset(self.unquoted + n, 0, PADDING)
        p[0] = self.unquoted
        return True

    cdef int write_word(self, const char* before, const char* p, size_t n, Trouble* trouble) noexcept nogil:
        if write(&self.table.sink, before, strlen(before)) or write(&self.table.sink, p, n):
            trouble_at(trouble, OUT_OF_MEMORY, NULL, NULL)
            return -1
        return 0

    cdef int end_text(self, bint has_bar, Trouble* trouble) noexcept nogil:
        """A line of VW text ends, if such is made; has_bar: it is no blank one."""
        cdef Sink* sink = &self.table.sink
        cdef size_t n
        if likely(not sink.as_text):
            return 0
        if has_bar and memchr(sink.text + self.line_text, c'|', sink.text_size - self.line_text) == NULL \
                and self.write_word(b" |", NULL, 0, trouble):
            return -1
        n = sink.text_size - self.line_text
        if n and sink.text[self.line_text] == c' ':
            memmove(sink.text + self.line_text, sink.text + self.line_text + 1, n - 1)
            sink.text_size -= 1
        return self.write_word(b"\n", NULL, 0, trouble)

    @property
    def table_names(self):
        """The names of the columns, each with `=` behind it."""
        return self.table.names

    def cells_of(self, bytes record):
        """How many cells a record has."""
        return len(split(record, chr(self.delimiter))[0][0])

    def fault_columns_of(self, Batch batch not None):
        """For each fault of the batch that was filled last, the place of its column in the schema; None: no column's."""
        return [self.fault_columns[i] - 1 if self.fault_columns[i] else None for i in range(batch.fault_count)]

    @staticmethod
    def faults(Batch batch not None):
        """As Parser.faults, with the codes of tables."""
        cdef size_t i
        cdef Fault* f = batch.faults
        names = [(CODES[f[i].code - RAGGED] if f[i].code >= RAGGED else LINE_CODES[f[i].code]) for i in range(batch.fault_count)]
        return [(names[i], f[i].line, f[i].line_begin, f[i].line_end, f[i].begin, f[i].end)
                for i in range(batch.fault_count)]


def split(block, str delimiter, size_t most=1):
    """The cells of the first records of a block as bytes, for those who need few of them: at most `most` records, each
    as its cells, its begin and its end (behind its line end). A bad record has None for cells, and for the end what is
    wrong with it; it ends the list if no line end follows. The last one may lack its line end."""
    cdef bytes text = bytes(block)
    cdef size_t n, room = 64, found, i
    cdef const char* base
    cdef const char* p
    cdef const char* reached = NULL
    cdef const uint32_t* m
    cdef uint64_t high = 0
    cdef uint32_t* marks = NULL
    cdef Cell* cells = NULL
    cdef Record record
    cdef Trouble trouble
    cdef Outcome outcome
    if not text.endswith(b"\n"):
        text += b"\n"
    n = len(text)
    text += bytes(PADDING)
    base = p = trouble.end = text
    trouble.code = QUOTE_OPEN
    records = []
    marks = <uint32_t*>malloc((n + 128) * sizeof(uint32_t))
    cells = <Cell*>malloc(room * sizeof(Cell))
    try:
        if marks == NULL or cells == NULL:
            raise MemoryError
        found = csv_marks(base, base, base + n, <char>ord(delimiter), marks, n + 128, &reached, &high)
        m = marks
        while p < base + n and len(records) < most:
            outcome = csv_record(base, p, <char>ord(delimiter), &m, marks + found, cells, room, &record, &trouble)
            if outcome == COMPLETE and record.cells > room:
                room = record.cells
                if resize(<void**>&cells, room, sizeof(Cell)):
                    raise MemoryError
                m = marks
                while base + m[0] < p:
                    m += 1
                continue
            if outcome != COMPLETE:
                records.append((None, p - base, CODES[trouble.code - RAGGED]))
                p = <const char*>memchr(trouble.end, c'\n', base + n - trouble.end)
                if p == NULL:
                    break
                p += 1
                while m < marks + found and base + m[0] < p:
                    m += 1
                continue
            row = [(cells[i].begin[:cells[i].end - cells[i].begin]) for i in range(record.cells)]
            row = [cell.replace(b'""', b'"') if cells[i].doubled else cell for i, cell in enumerate(row)]
            records.append((row, p - base, record.end + 1 - base))
            p = record.end + 1
        return records
    finally:
        free(marks)
        free(cells)


def whole(block, str delimiter):
    """How many bytes of a block, which begins with a record, are whole records."""
    cdef Py_buffer info
    cdef size_t end
    cdef char between = <char>ord(delimiter)
    PyObject_GetBuffer(block, &info, PyBUF_SIMPLE)
    try:
        with nogil:
            end = whole_records(<const char*>info.buf, info.len, between)
        return end
    finally:
        PyBuffer_Release(&info)


cdef size_t whole_records(const char* data, size_t size, char delimiter) noexcept nogil:
    """Where the last record ends that ends in [data, data + size). A bad record ends as csv.pxd says; without a quote
    in them, records are lines."""
    cdef const char* p = data
    cdef const char* end = data + size
    cdef const char* q
    cdef const char* last
    if memchr(data, c'"', size) == NULL:
        while end > data and (end - 1)[0] != c'\n':
            end -= 1
        return end - data
    last = data
    while True:
        # p is where a record begins, or a cell behind a delimiter.
        if p == end:
            return last - data
        if p[0] == c'"':
            p += 1
            while True:
                q = <const char*>memchr(p, c'"', end - p)
                if q == NULL or q + 1 == end:     # what follows the quote is not there yet
                    return last - data
                p = q + 1
                if p[0] != c'"':
                    break
                p += 1
            # Behind the closing quote: a delimiter, a line end, or something bad, and then the line ends the record.
            if p[0] == delimiter:
                p += 1
                continue
            q = <const char*>memchr(p, c'\n', end - p)
            if q == NULL:
                return last - data
            p = last = q + 1
            continue
        # Up to the next quote that begins a cell, or the end of the line.
        while p < end and p[0] != delimiter and p[0] != c'\n' and p[0] != c'"':
            p += 1
        if p == end:
            return last - data
        if p[0] == delimiter:
            p += 1
            continue
        if p[0] == c'"':
            p = <const char*>memchr(p, c'\n', end - p)
            if p == NULL:
                return last - data
        p += 1
        last = p
