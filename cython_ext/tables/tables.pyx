"""Converts tables as text to a batch, or to equivalent VW text: delimited records (csv.pxd), JSON lines (json.pxd).

Delimiters, quotes and line ends are found 64 bytes at a time, as for VW text; a loop over them gives the cells of a
record, and cells.pxd converts them to features, in the order of the schema, independent of the order in the file.

Features of JSON lines are in the order of the line. A key of the line's object is a column. An object in it is a
namespace of its own, whose keys are features; an array has a feature for each word, or for each number by its index.
Deeper nesting is an error. The keys that were seen are stored, each with the fixed
parts of its hashes, and with the key that followed it the last time, as lines are similar.

The header of a file is not parsed here: the caller parses it, and passes the position of each column.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer, Py_buffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.math cimport NAN, isfinite
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp, memcpy, memmove, memset, strlen

from vwlite.core.base.buffers cimport reserve, resize
from vwlite.core.base.decimal cimport write_unsigned
from vwlite.core.base.escapes cimport escape, fits_byte, needs_escape
from vwlite.core.base.murmur cimport murmur
from vwlite.core.base.simd cimport PADDING, likely, load64, unlikely
from vwlite.core.base.utf8 cimport character, write_character
from vwlite.core.data.batch cimport BLANK, EXAMPLE, REJECTED, ParseError, line_start, rewind
from vwlite.core.data.class_names cimport ClassNames
from vwlite.core.tables.cells cimport (
    BY_VALUE, CATEGORICAL, DROPPED, IS_IMPORTANCE, IS_LABEL, IS_TAG, NUMERIC, TEXT, TIME, Role,
    CellSink, add_number, add_padded_word, add_text, add_time, can_be_absent, end_cell, is_empty, is_missing,
    is_missing_number, missing_cell, name_hash, open_space, put, read_time, set_column, write,
)
from vwlite.core.tables.csv cimport (
    BAD, CELL, CELL_LARGE, CELL_TIME, COMPLETE, CUT, HEADER_AGAIN, LABEL_CONTROL, LATE_LABEL, NOT_UTF8, QUOTE_OPEN,
    RAGGED, SECOND_LABEL, ScanResult, csv_record, csv_window, csv_window_portable, find_csv_delimiters, is_between,
    is_escaped, mark_of, write_cell,
)
from vwlite.core.tables.json cimport (
    BRACE, BRACKET, END_BRACE, END_BRACKET,
    JSON_AFTER, JSON_COMMA, JSON_DEEP, JSON_ESCAPE, JSON_KEY, JSON_KIND, JSON_MIXED, JSON_OBJECT, JSON_TWICE,
    is_digit, json_blanks, json_key, json_no_value, json_number, json_skip, json_stop, json_stop_portable, json_string,
    json_unit, json_word,
)
from vwlite.core.tables.notation cimport LONGEST_PLAIN, plain_number
from vwlite.core.tables.times cimport Moment
from vwlite.core.text.numbers cimport Double, Float, read_double, read_float
from vwlite.core.text.parser import CODES as LINE_CODES
from vwlite.core.text.tokens cimport (
    IMPORTANCE, IMPORTANCE_LARGE, IMPORTANCE_NEGATIVE, OUT_OF_MEMORY, close_line, line_feed, take_label, take_unfit,
    error_at,
)

# The names of the error codes of a record, in the order of TableCode.
TABLE_CODES = (
    "ragged", "quote inside", "quote text", "quote open", "escape open", "not UTF-8", "cell", "cell too large", "time",
    "label control", "second label", "late label", "header again",
)

# And of JsonCode.
JSON_CODES = (
    "JSON object", "JSON value", "JSON string", "JSON escape", "JSON number", "JSON key", "JSON colon", "JSON comma",
    "JSON after", "JSON twice", "JSON deep", "JSON mixed", "JSON kind",
)

cdef enum:
    FIRST_DELIMITERS = 1 << 12
    LABEL_SIZE = 9            # of `__label__`
    MOST_KEYS = 1 << 18       # of JSON lines that are remembered


cdef inline bint is_blank(char c) noexcept nogil:
    return c == c' ' or c == c'\t' or c == c'\r' or c == c'\n'


cdef inline bint has_control(const char* p, const char* end) noexcept nogil:
    """Whether a character is a control character of ASCII, which no class has in its name."""
    while p < end:
        if <uint8_t>p[0] < 0x20:
            return True
        p += 1
    return False


cdef const char* label_end(const char* p) noexcept nogil:
    """The end of the word at p if it is a label of fastText, else p. PADDING bytes behind the line are readable."""
    if memcmp(p, b"__label__", LABEL_SIZE) == 0:
        while not is_blank(p[0]):
            p += 1
    return p


cdef const char* label_within(const char* p, const char* end) noexcept nogil:
    """The first `__label__` of [p, end); NULL if there is none."""
    while end - p >= LABEL_SIZE:
        p = <const char*>memchr(p, c'_', end - p - LABEL_SIZE + 1)
        if p == NULL or memcmp(p, b"__label__", LABEL_SIZE) == 0:
            return p
        p += 1
    return NULL


cdef size_t line_ends(const char* p, const char* end) noexcept nogil:
    cdef size_t n = 0
    while p < end:
        n += p[0] == c'\n'
        p += 1
    return n


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


cdef int take_plain(CellSink* sink, const Column* c, const char* p, const char* end, Batch batch, TokenError* error) noexcept nogil:
    """The feature of a number that is written as people do; -1: it is bad."""
    cdef char[LONGEST_PLAIN + PADDING] plain
    cdef size_t size = plain_number(sink.written, p, end - p, plain)
    if size == 0:
        error_at(error, CELL, p, end)
        return -1
    memset(plain + size, 0, PADDING)
    return take_number(sink, c, plain, plain + size, batch, error)


cdef int take_time(CellSink* sink, const Column* c, const char* p, const char* end, Batch batch, TokenError* error) noexcept nogil:
    """The features of a time; -1: it is bad."""
    cdef Moment time
    cdef bint missing = is_missing(&sink.missing, p, end - p)
    if not missing and not read_time(sink, p, end - p, &time):
        error_at(error, CELL_TIME, p, end)
        return -1
    if (not missing and add_time(sink, c, batch, &time)) or end_cell(sink, c, batch, missing):
        error_at(error, OUT_OF_MEMORY, NULL, NULL)
        return -1
    return 0


cdef inline int take_number(CellSink* sink, const Column* c, const char* p, const char* end, Batch batch, TokenError* error) noexcept nogil:
    """The feature of a number, or of a word if the column takes them; -1: it is bad."""
    cdef Float number = read_float(p, end)
    cdef int failed = 0
    cdef bint missing = False
    if likely(number.end == end):
        if unlikely(not isfinite(number.value)):
            error_at(error, CELL_LARGE, p, end)
            return -1
        missing = unlikely(sink.missing.number_count != 0) and is_missing_number(&sink.missing, number.value)
        if likely(not missing):
            failed = add_number(sink, c, batch, number.value, p, end - p)
    elif c.role == BY_VALUE:
        failed = add_padded_word(sink, c, batch, p, end - p)
        missing = is_empty(sink, c, batch)
    elif is_missing(&sink.missing, p, end - p):
        missing = True
    else:
        error_at(error, CELL, p, end)
        return -1
    if unlikely(failed or end_cell(sink, c, batch, missing)):
        error_at(error, OUT_OF_MEMORY, NULL, NULL)
        return -1
    return 0


cdef inline int take_cell(CellSink* sink, const Column* c, const char* p, const char* end, Batch batch, TokenError* error) noexcept nogil:
    """The features of a cell; -1: it is bad. PADDING bytes behind it are readable."""
    cdef int failed
    while p < end and is_blank(p[0]):
        p += 1
    if p == end:
        if unlikely(missing_cell(sink, c, batch)):
            error_at(error, OUT_OF_MEMORY, NULL, NULL)
            return -1
        return 0
    while is_blank((end - 1)[0]):
        end -= 1
    if open_space(sink, batch, c.name, c.size):
        error_at(error, OUT_OF_MEMORY, NULL, NULL)
        return -1
    if c.role == CATEGORICAL:
        failed = add_padded_word(sink, c, batch, p, end - p)
    elif c.role == TEXT:
        failed = add_text(sink, c, batch, p, end - p)
    elif c.role == TIME:
        return take_time(sink, c, p, end, batch, error)
    elif unlikely(sink.written != NULL) and c.role == NUMERIC and not is_missing(&sink.missing, p, end - p):
        return take_plain(sink, c, p, end, batch, error)
    else:
        return take_number(sink, c, p, end, batch, error)
    if unlikely(failed or end_cell(sink, c, batch, is_empty(sink, c, batch))):
        error_at(error, OUT_OF_MEMORY, NULL, NULL)
        return -1
    return 0


cdef inline bint is_name(const Cell* cell, const Name* name, size_t names) noexcept nogil:
    """Whether a cell without the blanks at its ends, or a byte order mark before it, is the first of some names."""
    cdef const char* p = cell.begin
    cdef const char* end = cell.end
    if names == 0 or <size_t>(end - p) < name.size:
        return False
    if end - p >= 3 and memcmp(p, b"\xef\xbb\xbf", 3) == 0:
        p += 3
    while p < end and is_blank(p[0]):
        p += 1
    while p < end and is_blank((end - 1)[0]):
        end -= 1
    return <size_t>(end - p) == name.size and memcmp(p, name.begin, name.size) == 0


cdef inline RecordStart record_start(TableParser parser, Batch batch) noexcept nogil:
    """The sizes of all arrays before a record is read."""
    cdef RecordStart before
    before.batch, before.names, before.text = line_start(&batch.a), parser.names_so_far(), parser.table.sink.text.size
    parser.column = 0
    return before


cdef inline void go_back(TableParser parser, Batch batch, const RecordStart* before) noexcept nogil:
    """Roll back the record: it is invalid."""
    rewind(&batch.a, &before.batch)
    parser.forget_names(before.names)
    parser.table.sink.text.size = before.text


cdef class TableParser(Parser):
    """Blocks of whole records become batches. Built as Parser is, with format "csv".

    `set_table` comes before the first block, and again whenever a file has its columns in other places. A block begins
    with a record; it has neither a header nor a byte order mark.
    """

    def __cinit__(self, *args, **kwargs):
        self.delimiter_room, self.unknown_keys = FIRST_DELIMITERS, []
        self.delimiters_at = <uint32_t*>malloc(FIRST_DELIMITERS * sizeof(uint32_t))
        if self.delimiters_at == NULL:
            raise MemoryError("no memory for a parser")

    def __dealloc__(self):
        cdef int i
        free(self.delimiters_at)
        free(self.position)
        free(self.header_at)
        free(self.cells)
        self.fixed = 0
        self.forget_keys()
        free(self.keys)
        free(self.key_places)
        for i in range(3):
            free(self.heads[i])
        free(self.unquoted)
        free(self.fault_columns)
        free(self.breaks)

    def set_table(self, Cells table not None, positions, size_t width, str delimiter, bint quoted=True, str escape="",
                  *, header=()):
        """The columns; the position of each of them in the `width` cells of a record, -1 if it is absent. quoted: quotes
        are not ordinary characters. escape: the character that makes one that follows it ordinary, if there is one.
        header: the names of the cells, which are an error among the records; empty: they are not looked for."""
        cdef size_t i
        if len(positions) != table.count or not all(-1 <= p < <int32_t>width for p in positions):
            raise ValueError("every column has a place among the cells of a record, or -1")
        self.table, self.width, self.dialect = table, width, dialect_of(delimiter, quoted, escape)
        self.header = [name.encode("utf-8", "surrogateescape") for name in header]
        if resize(<void**>&self.header_at, len(header) + 1, sizeof(Name)):
            raise MemoryError("no memory for columns")
        for i, name in enumerate(self.header):
            self.header_at[i].begin, self.header_at[i].size = name, len(name)
        self.header_count = len(header)
        self.cell_room = width + 1
        if (resize(<void**>&self.position, table.count + 1, sizeof(int32_t))
                or resize(<void**>&self.cells, self.cell_room, sizeof(Cell))):
            raise MemoryError("no memory for columns")
        for i in range(table.count):
            self.position[i] = positions[i]

    def set_keys(self, Cells table not None, keys, bint open):
        """The columns of JSON lines: their keys as text, in the order of the table. open: other keys are features."""
        cdef bytes raw
        cdef int i
        self.table, self.open, self.is_json = table, open, True
        self.fixed = 0
        self.forget_keys()
        self.unknown_keys = []
        for i, key in enumerate(keys):
            raw = key.encode("utf-8", "surrogateescape")
            if self.add_key(raw, len(raw), 0, table.columns[i].role) == 0:
                raise MemoryError("no memory for columns")
            self.keys[self.key_count - 1].schema = i + 1
            self.keys[self.key_count - 1].column.unspaced = table.columns[i].unspaced
        self.fixed = self.key_count

    def set_lines(self, Cells table not None, int label, int text):
        """Lines of text, as fastText has them. label, text: the columns that a line has; a label of -1: none."""
        self.table, self.is_lines, self.line_label, self.line_column = table, True, label, text

    def take_text(self):
        """The VW text of all records since the last call, as bytes."""
        found = PyBytes_FromStringAndSize(self.table.sink.text.data, self.table.sink.text.size)
        self.table.sink.text.size = 0
        return found

    def as_vw(self, block, Batch batch not None):
        return self.take_text()

    def take_escaped(self):
        """How many names, labels and tags were escaped in the VW text since the last call."""
        found, self.table.sink.escaped = self.table.sink.escaped, 0
        return found

    cdef int fill(self, const char* data, size_t size, Batch batch, bint first) noexcept nogil:
        cdef const char* reached = data
        cdef size_t rest
        cdef int state = 0
        self.break_count = 0
        if self.is_json or self.is_lines:
            return Parser.fill(self, data, size, batch, first)
        batch.clear()
        if batch.keep_spaces(self.settings.spaces) or batch.reserve(1, 1, 64, 0):
            return -1
        batch.a.tag_begin[0] = batch.a.span_begin[0] = batch.a.feature_begin[0] = 0
        # Records that end PADDING bytes before the end are parsed in place, the rest in a copy that has the padding.
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
        """The complete records in [p, end); if `last`, all. offset: of p in the block. -1 without memory,
        1 if it stopped at an error."""
        cdef const char* base = p
        cdef const char* seen = p
        cdef const char* next
        cdef const uint32_t* m = self.delimiters_at
        cdef uint32_t* behind = self.delimiters_at    # behind the last position
        cdef uint64_t high = 0
        cdef size_t found
        cdef Record record
        cdef TokenError error
        cdef ScanResult outcome
        cdef RecordStart before
        while p < end:
            outcome = csv_record(base, p, &self.dialect, &m, behind, self.cells, self.cell_room, &record, &error)
            if unlikely(outcome == CUT and seen < end):
                if m == self.delimiters_at and behind + 66 > self.delimiters_at + self.delimiter_room:
                    found = behind - self.delimiters_at
                    if resize(<void**>&self.delimiters_at, 2 * self.delimiter_room, sizeof(uint32_t)):
                        return -1
                    self.delimiter_room *= 2
                    m, behind = self.delimiters_at, self.delimiters_at + found
                memmove(self.delimiters_at, m, (behind - m) * sizeof(uint32_t))
                behind = self.delimiters_at + (behind - m)
                m = self.delimiters_at
                if m == behind:
                    high = 0
                    if seen < p:
                        seen = p
                behind += find_csv_delimiters(base, seen, end, self.dialect.delimiter, mark_of(&self.dialect), behind,
                                              self.delimiter_room - (behind - self.delimiters_at), &seen, &high)
                continue
            if outcome == CUT and not last:
                break
            if unlikely(outcome != COMPLETE):
                self.column = 0
                next = <const char*>memchr(error.end, c'\n', end - error.end)
                if next == NULL:       # not the last part: that comes again with the rest
                    break
                found = line_ends(p, next)
                if found and self.add_break(batch.a.lines, found):
                    return -1
            else:
                next = record.end
                if unlikely(record.breaks != 0) and self.add_break(batch.a.lines, record.breaks):
                    return -1
                if unlikely(batch.a.lines + 1 >= batch.line_capacity) and batch.reserve(1, 0, 0, 0):
                    return -1
                before = record_start(self, batch)
                if unlikely(high != 0):
                    error.begin = not_utf8(p, next)
                    if error.begin != NULL:
                        error_at(&error, NOT_UTF8, error.begin, error.begin + 1)
                        outcome = BAD
                if likely(outcome == COMPLETE):
                    if likely(self.take(&record, batch, &error) == 0):
                        p = next + 1
                        continue
                go_back(self, batch, &before)
                if error.code == OUT_OF_MEMORY:
                    return -1
            if self.add_fault(p, next, offset + (p - base), batch, &error):
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

    cdef int lines(self, const char* p, const char* end, size_t offset, size_t skip, Batch batch) noexcept nogil:
        """The lines of JSON or text in [p, end), the last byte of which is LF. As Parser.lines."""
        cdef const char* base = p
        cdef const char* next
        cdef TokenError error
        cdef RecordStart before
        while p < end:
            before = record_start(self, batch)
            next = self.text_line(p + skip, batch, &error) if self.is_lines else self.json_line(p + skip, batch, &error)
            if likely(next != NULL):
                p, skip = next + 1, 0
                continue
            go_back(self, batch, &before)
            if error.code == OUT_OF_MEMORY:
                return -1
            next = line_feed(p)
            if self.add_fault(p, next, offset + (p - base), batch, &error):
                return -1
            if self.settings.stop:
                return 1
            p, skip = close_line(batch, REJECTED, next), 0
        return 0

    cdef const char* text_line(self, const char* p, Batch batch, TokenError* error) noexcept nogil:
        """A line of text becomes one of the batch, behind `__label__x` if that is there. Returns its LF, or NULL."""
        cdef const char* end = line_feed(p)
        cdef const char* q = not_utf8(p, end)
        cdef const char* late = NULL
        self.column = 0
        if self.begin_line(batch, error):
            return NULL
        if q != NULL:
            return error_at(error, NOT_UTF8, q, q + 1)
        p = json_blanks(p)
        if p == end:
            close_line(batch, BLANK, end)
            return end if self.end_text(False, error) == 0 else NULL
        q = label_end(p)
        if self.line_label >= 0:
            late = label_within(p + LABEL_SIZE if q != p else p, end)
            if late != NULL:
                return error_at(error, SECOND_LABEL if q != p else LATE_LABEL, late, label_end(late))
        if self.line_label >= 0 and q != p:
            self.column = self.line_label + 1
            if self.take_head(&self.table.columns[self.line_label], p + LABEL_SIZE, q, False, batch, error):
                return NULL
            p = json_blanks(q)
        self.column = self.line_column + 1
        if take_cell(&self.table.sink, &self.table.columns[self.line_column], p, end, batch, error):
            return NULL
        close_line(batch, EXAMPLE, end)
        return end if self.end_text(True, error) == 0 else NULL

    cdef const char* json_line(self, const char* p, Batch batch, TokenError* error) noexcept nogil:
        """A line becomes one of the batch. Returns its LF, or NULL."""
        cdef const char* end
        cdef const char* q
        cdef int i
        if self.begin_line(batch, error):
            return NULL
        p = json_blanks(p)
        if p[0] == c'\n':
            close_line(batch, BLANK, p)
            return p if self.end_text(False, error) == 0 else NULL
        if p[0] != BRACE:
            return error_at(error, JSON_OBJECT, p, p + 1)
        end = line_feed(p)
        q = not_utf8(p, end)
        if q != NULL:
            return error_at(error, NOT_UTF8, q, q + 1)
        if unlikely(self.key_count > MOST_KEYS):
            self.forget_keys()
        self.stamp += 1
        for i in range(3):
            self.head_size[i] = 0
        p = self.json_object(p, 0, batch, error)
        if p == NULL:
            return NULL
        p = json_blanks(p)
        if p != end:
            return error_at(error, JSON_AFTER, p, p + 1)
        self.column = 0
        if self.table.sink.absents and self.add_missing_keys(batch):
            return error_at(error, OUT_OF_MEMORY, p, p)
        if self.end_json(batch, error):
            return NULL
        close_line(batch, EXAMPLE, end)
        return end

    cdef int add_missing_keys(self, Batch batch) noexcept nogil:
        """The features of columns that are no keys of the line; -1: no memory."""
        cdef size_t i
        for i in range(self.fixed):
            if self.keys[i].stamp != self.stamp and missing_cell(&self.table.sink, &self.table.columns[i], batch):
                return -1
        return 0

    cdef const char* json_object(self, const char* p, uint32_t parent, Batch batch, TokenError* error) noexcept nogil:
        """The members of the object at p. Returns the position after it, or NULL."""
        cdef const char* begin
        cdef const char* end
        cdef uint32_t key, last = 0
        cdef bint escaped
        p = json_blanks(p + 1)
        if p[0] == END_BRACE:
            return p + 1
        while True:
            begin = p + 1
            p = json_key(p, &escaped, error)
            if p == NULL:
                return NULL
            end = p - 1
            while end[0] != c'"':
                end -= 1
            if unlikely(escaped) and self.json_text(&begin, &end, error):
                return NULL
            if unlikely(begin == end):
                return error_at(error, JSON_KEY, p - 1, p)
            key = self.find_key(begin, end - begin, parent, last)
            if key == 0:
                return error_at(error, OUT_OF_MEMORY, p, p)
            if self.keys[key - 1].stamp == self.stamp:
                return error_at(error, JSON_TWICE, p - 1, p)
            self.keys[key - 1].stamp = self.stamp
            if parent == 0:
                self.column = self.keys[key - 1].schema
            p = self.json_value(key, json_blanks(p), batch, error)
            if p == NULL:
                return NULL
            last = key
            p = json_blanks(p)
            if p[0] == END_BRACE:
                return p + 1
            if p[0] != c',':
                return error_at(error, JSON_COMMA, p, p + (p[0] != c'\n'))
            p = json_blanks(p + 1)

    cdef const char* json_value(self, uint32_t key, const char* p, Batch batch, TokenError* error) noexcept nogil:
        """The value at p of a key. Returns the position after it, or NULL."""
        cdef Key* k = &self.keys[key - 1]
        cdef Role role = k.column.role
        cdef int kind = 0
        cdef bint missing
        cdef const char* end
        if k.parent == 0:
            self.is_zero = False
        if role == DROPPED:
            return json_skip(p, error)
        if p[0] == BRACE or p[0] == BRACKET:
            if TIME <= role <= IS_TAG:
                return error_at(error, JSON_KIND, p, p + 1)
        if p[0] == BRACE:
            if k.parent != 0:
                return error_at(error, JSON_DEEP, p, p + 1)
            if open_space(&self.table.sink, batch, k.column.name, k.column.size):
                return error_at(error, OUT_OF_MEMORY, p, p)
            end = self.json_object(p, key, batch, error)
        else:
            if k.parent == 0 and open_space(&self.table.sink, batch, k.column.name, k.column.size):
                return error_at(error, OUT_OF_MEMORY, p, p)
            if p[0] == BRACKET:
                end = self.json_array(key, p, batch, error)
            else:
                end = self.json_scalar(key, p, -1, &kind, batch, error)
        if end == NULL:
            return NULL
        k = &self.keys[key - 1]     # there may be more of them now
        if k.parent == 0:
            missing = is_empty(&self.table.sink, &k.column, batch) and not self.is_zero
            if end_cell(&self.table.sink, &self.table.columns[k.schema - 1] if k.schema else &k.column, batch, missing):
                return error_at(error, OUT_OF_MEMORY, p, p)
        return end

    cdef const char* json_array(self, uint32_t key, const char* p, Batch batch, TokenError* error) noexcept nogil:
        """The array at p: a number is a feature named by its index, from 0; a word is a feature as without an array."""
        cdef int kind = 0, index = 0
        p = json_blanks(p + 1)
        if p[0] == END_BRACKET:
            return p + 1
        while True:
            if p[0] == BRACE or p[0] == BRACKET:
                return error_at(error, JSON_DEEP, p, p + 1)
            p = self.json_scalar(key, p, index, &kind, batch, error)
            if p == NULL:
                return NULL
            index += 1
            p = json_blanks(p)
            if p[0] == END_BRACKET:
                return p + 1
            if p[0] != c',':
                return error_at(error, JSON_COMMA, p, p + (p[0] != c'\n'))
            p = json_blanks(p + 1)

    cdef const char* json_scalar(self, uint32_t key, const char* p, int index, int* kind, Batch batch,
                                 TokenError* error) noexcept nogil:
        """A string, number, true, false or null. index: its place in an array, -1: it is in none. kind: 1 if numbers
        came before in this array, 2 if words did."""
        cdef const Column* c = &self.keys[key - 1].column
        cdef CellSink* sink = &self.table.sink
        cdef const char* begin = p
        cdef const char* text = p
        cdef const char* end
        cdef char[LONGEST_PLAIN + PADDING] plain
        cdef Float number
        cdef Moment time
        cdef bint escaped = False, is_number = False, failed
        cdef char[12] digits
        cdef int size
        cdef size_t n
        if p[0] == c'"':
            p = json_string(p, &escaped, error)
            if p == NULL:
                return NULL
            text, end = begin + 1, p - 1
            if unlikely(escaped) and self.json_text(&text, &end, error):
                return NULL
        elif p[0] == c'-' or is_digit(p[0]):
            p = json_number(p, error)
            if p == NULL:
                return NULL
            end, is_number = p, True
        else:
            n = json_word(p)
            if n == 0:
                return json_no_value(p, error)
            if p[0] == c'n' or p[0] == c'N':
                return p + n
            p += n
            end = p
            if c.role == IS_LABEL and not (self.settings.mapped and self.settings.names != NULL):
                text = b"1" if begin[0] == c't' else b"0"
                end = text + 1
            elif c.role == NUMERIC:
                return error_at(error, CELL, begin, p)
        while text < end and is_blank(text[0]):
            text += 1
        if text == end:
            return p
        while is_blank((end - 1)[0]):
            end -= 1
        if c.role != CATEGORICAL and c.role != TEXT and c.role != BY_VALUE and c.role != IS_TAG and not is_number \
                and is_missing(&sink.missing, text, end - text):
            return p
        if IS_LABEL <= c.role <= IS_TAG:
            if self.json_head(c, text, end, batch, error):
                if error.code != OUT_OF_MEMORY:
                    error.begin, error.end = begin, p
                return NULL
            return p
        if c.role == NUMERIC or (is_number and c.role == BY_VALUE):
            if sink.written != NULL and not is_number:
                size = plain_number(sink.written, text, end - text, plain)
                if size == 0:
                    return error_at(error, CELL, begin, p)
                memset(plain + size, 0, PADDING)
                text, end = plain, plain + size
            number = read_float(text, end)
            if number.end != end or not isfinite(number.value):
                return error_at(error, CELL if number.end != end else CELL_LARGE, begin, p)
            if is_missing_number(&sink.missing, number.value):
                return p
            self.keys[key - 1].numbers += index < 0 and c.role == BY_VALUE
            self.is_zero |= number.value == 0
            sink.some_known |= index >= 0 and sink.as_text    # the keys of arrays are not looked up
            if index < 0:
                failed = add_number(sink, c, batch, number.value, text, end - text)
            else:
                if kind[0] == 2:
                    return error_at(error, JSON_MIXED, begin, p)
                if self.keys[key - 1].parent != 0:
                    return error_at(error, JSON_DEEP, begin, p)
                kind[0] = 1
                size = write_unsigned(digits, index)
                if sink.as_text:
                    failed = (write(sink, b" ", 1) or write(sink, digits, size) or write(sink, b":", 1)
                              or write(sink, text, end - text))
                else:
                    failed = put(batch, name_hash(sink, digits, size, c.space), number.value)
        else:
            if index >= 0:
                if kind[0] == 1:
                    return error_at(error, JSON_MIXED, begin, p)
                kind[0] = 2
            elif c.role == BY_VALUE:
                self.keys[key - 1].words += not is_missing(&sink.missing, text, end - text)
            if c.role == TEXT:
                failed = add_text(sink, c, batch, text, end - text)
            elif c.role == TIME:
                if not read_time(sink, text, end - text, &time):
                    return error_at(error, CELL_TIME, begin, p)
                failed = add_time(sink, c, batch, &time)
            else:
                failed = add_padded_word(sink, c, batch, text, end - text)
        return p if not failed else error_at(error, OUT_OF_MEMORY, begin, p)

    cdef int json_head(self, const Column* c, const char* p, const char* end, Batch batch, TokenError* error) noexcept nogil:
        """Keep the text of a label, importance or tag for the end of the line."""
        cdef int i = c.role - IS_LABEL
        cdef size_t n = end - p
        if c.role != IS_IMPORTANCE and not self.fit_word(&p, &n, c.role == IS_LABEL):
            error_at(error, OUT_OF_MEMORY, NULL, NULL)
            return -1
        if reserve(<void**>&self.heads[i], &self.head_room[i], n + PADDING, 1):
            error_at(error, OUT_OF_MEMORY, NULL, NULL)
            return -1
        memcpy(self.heads[i], p, n)
        memset(self.heads[i] + n, 0, PADDING)
        self.head_size[i] = n
        return self.check_head(c.role, self.heads[i], self.heads[i] + n, batch, error)

    cdef int end_json(self, Batch batch, TokenError* error) noexcept nogil:
        """Set label, importance and tag of a line from the stored values."""
        cdef CellSink* sink = &self.table.sink
        cdef size_t i, n, features
        cdef char* line
        if likely(not sink.as_text):
            n = self.head_size[2]
            if n:
                if batch.reserve(0, 0, 0, n):
                    error_at(error, OUT_OF_MEMORY, NULL, NULL)
                    return -1
                memcpy(batch.a.tags + batch.a.tag_bytes, self.heads[2], n)
                batch.a.tag_bytes += n
            return 0
        # They precede the features.
        if self.head_size[0] == 0:
            self.head_size[1] = 0
        features = sink.text.size - self.line_text
        n = self.head_size[0] + self.head_size[1] + self.head_size[2] + 3
        if reserve(<void**>&sink.text.data, &sink.text.capacity, sink.text.size + n, 1):
            error_at(error, OUT_OF_MEMORY, NULL, NULL)
            return -1
        line = sink.text.data + self.line_text
        memmove(line + n, line, features)
        n = 0
        for i in range(3):
            if self.head_size[i]:
                if n:
                    line[n] = c' '
                    n += 1
                if i == 2:
                    line[n] = c"'"
                    n += 1
                memcpy(line + n, self.heads[i], self.head_size[i])
                n += self.head_size[i]
        memmove(line + n, line + self.head_size[0] + self.head_size[1] + self.head_size[2] + 3, features)
        sink.text.size += n
        return self.end_text(True, error)

    cdef int json_text(self, const char** p, const char** end, TokenError* error) noexcept nogil:
        """A string without its escapes, in a copy."""
        cdef const char* q = p[0]
        cdef char* to
        cdef int unit, second
        cdef char c
        if reserve(<void**>&self.unquoted, &self.unquoted_size, end[0] - q + PADDING, 1):
            error_at(error, OUT_OF_MEMORY, NULL, NULL)
            return -1
        to = self.unquoted
        while q < end[0]:
            if q[0] != c'\\':
                to[0] = q[0]
                to += 1
                q += 1
                continue
            c = q[1]
            q += 2
            if c == c'u':
                unit = json_unit(q)
                q += 4
                if 0xD800 <= unit < 0xDC00 and q[0] == c'\\' and q[1] == c'u':
                    second = json_unit(q + 2)
                    if 0xDC00 <= second < 0xE000:
                        unit = 0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00)
                        q += 6
                if unit < 0 or 0xD800 <= unit < 0xE000 or q > end[0]:
                    error_at(error, JSON_ESCAPE, p[0], end[0])
                    return -1
                to += write_character(to, unit)
                continue
            if c == c'b' or c == c'f' or c == c'n' or c == c'r' or c == c't':
                if c == c'n' or c == c'r' or c == c't':
                    c = c'\n' if c == c'n' else c'\r' if c == c'r' else c'\t'
                elif self.table.sink.keeps:
                    c = c'\b' if c == c'b' else c'\f'
                else:       # models of 0.2.0 know them as blanks
                    c = c' '
            elif c != c'"' and c != c'\\' and c != c'/':
                error_at(error, JSON_ESCAPE, p[0], end[0])
                return -1
            to[0] = c
            to += 1
        memset(to, 0, PADDING)
        p[0], end[0] = self.unquoted, to
        return 0

    cdef uint32_t find_key(self, const char* p, size_t n, uint32_t parent, uint32_t last) noexcept nogil:
        """1 + the index of a key, which is added if it is new; 0: no memory. last: the key before it in its object, if
        there is one: the key that followed it the last time is likely to follow it again."""
        cdef Key* k
        cdef uint32_t at, found, hash
        cdef int role
        found = self.keys[last - 1].next if last else self.first_key if parent == 0 else 0
        if found:
            k = &self.keys[found - 1]
            if likely(k.raw_size == n and k.parent == parent and memcmp(k.raw, p, n) == 0):
                return found
        if self.key_places != NULL:
            hash = murmur(p, n, parent)
            at = hash & ((<uint32_t>1 << self.key_bits) - 1)
            while True:
                found = self.key_places[at]
                if found == 0:
                    break
                k = &self.keys[found - 1]
                if k.raw_size == n and k.parent == parent and memcmp(k.raw, p, n) == 0:
                    if last:
                        self.keys[last - 1].next = found
                    elif parent == 0:
                        self.first_key = found
                    return found
                at = (at + 1) & ((<uint32_t>1 << self.key_bits) - 1)
        if parent != 0:
            role = self.keys[parent - 1].column.role
        else:
            role = BY_VALUE if self.open else DROPPED
            if not self.open:
                with gil:
                    self.unknown_keys.append(p[:n].decode("utf-8", "replace"))
        return self.add_key(p, n, parent, role)

    cdef uint32_t add_key(self, const char* p, size_t n, uint32_t parent, int role) noexcept nogil:
        """Add a new key; returns 1 + its index, or 0 without memory."""
        cdef Key* k
        cdef Key* top
        cdef CellSink* sink = &self.table.sink
        cdef char* raw
        cdef char* name
        cdef size_t i, size
        cdef bint is_escaped
        cdef uint32_t space
        if reserve(<void**>&self.keys, &self.key_room, self.key_count + 1, sizeof(Key)):
            return 0
        raw = <char*>malloc(4 * n + 2)
        if raw == NULL:
            return 0
        memcpy(raw, p, n)
        name, size = raw + n, n
        # A namespace is called as VW text can hold it; a key in an object is a feature, as a word is.
        while parent != 0 and sink.keeps and size > 0 and <uint8_t>p[0] <= 0x20:
            p += 1
            size -= 1
        while parent != 0 and sink.keeps and size > 0 and <uint8_t>p[size - 1] <= 0x20:
            size -= 1
        is_escaped = parent != 0 and sink.keeps and size > 0 and needs_escape(p, size, True)
        if size == 0:       # blanks alone
            p, size = raw, n
        if is_escaped and sink.as_text:
            size = escape(name, p, size, True)
        else:
            for i in range(size):
                name[i] = p[i] if is_escaped or fits_byte(<uint8_t>p[i]) else c'_'
        name[size] = c'='
        k = &self.keys[self.key_count]
        memset(k, 0, sizeof(Key))
        k.raw, k.raw_size, k.parent = raw, <uint32_t>n, parent
        if parent == 0:
            space = name_hash(sink, name, size, sink.seed)
            set_column(&k.column, name, size + 1, <Role>role, space, sink.strings, name[0] if n else c' ')
            k.column.has_absent = can_be_absent(sink, &k.column)
        else:
            top = &self.keys[parent - 1]
            set_column(&k.column, name, size + 1, <Role>role, top.column.space, sink.strings, top.column.letter)
            k.column.escaped, k.column.unspaced = is_escaped, top.column.unspaced
        self.key_count += 1
        if self.enter_key(<uint32_t>self.key_count):
            return 0
        return <uint32_t>self.key_count

    cdef int enter_key(self, uint32_t key) noexcept nogil:
        """Insert a key into the hash table. key: 1 + its index. -1: no memory."""
        cdef uint32_t at, i, first = key
        cdef int bits = self.key_bits
        if self.key_places == NULL or 2 * self.key_count > <size_t>1 << bits:
            bits = max(bits, 5) + 1
            if resize(<void**>&self.key_places, <size_t>1 << bits, sizeof(uint32_t)):
                return -1
            memset(self.key_places, 0, sizeof(uint32_t) << bits)
            self.key_bits, first = bits, 1
        for i in range(first, key + 1):
            at = murmur(self.keys[i - 1].raw, self.keys[i - 1].raw_size, self.keys[i - 1].parent) & ((<uint32_t>1 << bits) - 1)
            while self.key_places[at] != 0:
                at = (at + 1) & ((<uint32_t>1 << bits) - 1)
            self.key_places[at] = i
        return 0

    cdef void forget_keys(self) noexcept nogil:
        """All but the columns."""
        cdef size_t i
        for i in range(self.fixed, self.key_count):
            free(self.keys[i].raw)
        self.key_count = self.fixed
        for i in range(self.fixed):
            self.keys[i].next = 0
        self.first_key = 0
        if self.key_places != NULL:
            memset(self.key_places, 0, sizeof(uint32_t) << self.key_bits)
            for i in range(self.fixed):
                self.enter_key(<uint32_t>i + 1)

    cdef int add_break(self, size_t line, size_t count) noexcept nogil:
        """Record that the record of a line contains `count` line ends; -1: no memory."""
        if reserve(<void**>&self.breaks, &self.break_room, 2 * self.break_count + 2, sizeof(uint32_t)):
            return -1
        self.breaks[2 * self.break_count] = <uint32_t>line
        self.breaks[2 * self.break_count + 1] = <uint32_t>count
        self.break_count += 1
        return 0

    cdef int add_fault(self, const char* p, const char* end, size_t offset, Batch batch, TokenError* error) noexcept nogil:
        """The record [p, end] is bad; offset: of p in the block. It has its place among the lines."""
        cdef ParseError fault
        cdef size_t i = batch.a.lines
        fault.line, fault.code = <uint32_t>i, error.code
        fault.begin, fault.end = offset + (error.begin - p), offset + (error.end - p)
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

    cdef int begin_line(self, Batch batch, TokenError* error) noexcept nogil:
        cdef size_t i = batch.a.lines
        if batch.reserve(1, 1, 64, 0):
            error_at(error, OUT_OF_MEMORY, NULL, NULL)
            return -1
        batch.a.label[i], batch.a.importance[i], batch.a.initial[i] = NAN, 1, 0
        self.line_text = self.table.sink.text.size
        return 0

    cdef bint is_header(self, const Cell* cells) noexcept nogil:
        """Whether the cells of a record are the names of the header."""
        cdef size_t k
        for k in range(self.header_count):
            if not is_name(&cells[k], &self.header_at[k], 1):
                return False
        return True

    cdef int take(self, const Record* record, Batch batch, TokenError* error) noexcept nogil:
        """Convert a record to a line; -1: it is invalid, with the error."""
        cdef size_t k
        cdef Cell* cell = self.cells
        cdef int32_t at
        cdef const Column* columns = self.table.columns
        cdef CellSink* sink = &self.table.sink
        cdef const char* p
        cdef const char* end
        if self.begin_line(batch, error):
            return -1
        if unlikely(record.cells == 1 and not cell.quoted):
            p = cell.begin
            while p < cell.end and is_blank(p[0]):
                p += 1
            if p == cell.end:
                close_line(batch, BLANK, record.end)
                return self.end_text(False, error)
        if unlikely(record.cells != self.width):
            p = cell.begin - cell.quoted
            error_at(error, RAGGED, p, p)
            return -1
        if unlikely(is_name(cell, self.header_at, self.header_count)) and self.is_header(cell):
            error_at(error, HEADER_AGAIN, cell.begin - cell.quoted, cell.begin - cell.quoted)
            return -1
        for k in range(self.table.heads):
            at = self.position[self.table.head[k]]
            if at >= 0:
                self.column = self.table.head[k] + 1
                if self.take_head(&columns[self.column - 1], cell[at].begin, cell[at].end, cell[at].doubled, batch, error):
                    return -1
        for k in range(self.table.count):
            at = self.position[k]
            if columns[k].role >= IS_LABEL and columns[k].role <= DROPPED:
                continue
            if unlikely(at < 0):    # a key of JSON lines that this table does not have
                if missing_cell(sink, &columns[k], batch):
                    error_at(error, OUT_OF_MEMORY, NULL, NULL)
                    return -1
                continue
            p, end = cell[at].begin, cell[at].end
            if unlikely(cell[at].doubled):
                self.column = <uint32_t>k + 1
                if self.unquote(&p, &end, error):
                    return -1
            if unlikely(take_cell(sink, &columns[k], p, end, batch, error)):
                self.column = <uint32_t>k + 1
                if cell[at].doubled:
                    error.begin, error.end = cell[at].begin, cell[at].end
                return -1
        close_line(batch, EXAMPLE, record.end)
        return self.end_text(True, error)

    cdef int unquote(self, const char** p, const char** end, TokenError* error) noexcept nogil:
        """A cell with one quote for two, and without escapes."""
        cdef size_t n
        if reserve(<void**>&self.unquoted, &self.unquoted_size, end[0] - p[0] + PADDING, 1):
            error_at(error, OUT_OF_MEMORY, NULL, NULL)
            return -1
        n = write_cell(self.unquoted, p[0], end[0], &self.dialect)
        memset(self.unquoted + n, 0, PADDING)
        p[0], end[0] = self.unquoted, self.unquoted + n
        return 0

    cdef int take_head(self, const Column* c, const char* p, const char* end, bint doubled, Batch batch,
                       TokenError* error) noexcept nogil:
        """The label, importance or tag of a line; -1: it is bad."""
        cdef const char* begin
        cdef const char* last
        cdef char[LONGEST_PLAIN + PADDING] plain
        cdef size_t n
        cdef bint some
        while p < end and is_blank(p[0]):
            p += 1
        while p < end and is_blank((end - 1)[0]):
            end -= 1
        if p == end:
            return 0
        if c.role != IS_TAG and is_missing(&self.table.sink.missing, p, end - p):
            return 0
        begin, last = p, end
        if unlikely(doubled) and self.unquote(&p, &end, error):
            return -1
        n = end - p
        if unlikely(self.table.sink.written != NULL) and c.role != IS_TAG and not (
                c.role == IS_LABEL and self.settings.names != NULL and not self.settings.or_numbers
                and not self.table.sink.as_text):  # names of classes are as written
            n = plain_number(self.table.sink.written, p, n, plain)
            if n:
                memset(plain + n, 0, PADDING)
                p, end = plain, plain + n
            n = end - p
        if c.role != IS_IMPORTANCE and not self.fit_word(&p, &n, c.role == IS_LABEL):
            error_at(error, OUT_OF_MEMORY, NULL, NULL)
            return -1
        if self.check_head(c.role, p, p + n, batch, error):
            if error.code != OUT_OF_MEMORY:
                error.begin, error.end = begin, last
            return -1
        if unlikely(self.table.sink.as_text):
            some = self.table.sink.text.size > self.line_text
            if c.role == IS_IMPORTANCE:
                # VW text has no place for it without a label, and the line is not learned.
                return self.write_word(b" ", p, n, error) if some else 0
            return self.write_word(b"" if c.role == IS_LABEL else b" '" if some else b"'", p, n, error)
        if c.role == IS_TAG:
            if batch.reserve(0, 0, 0, n):
                error_at(error, OUT_OF_MEMORY, NULL, NULL)
                return -1
            memcpy(batch.a.tags + batch.a.tag_bytes, p, n)
            batch.a.tag_bytes += n
        return 0

    cdef int check_head(self, Role role, const char* p, const char* end, Batch batch, TokenError* error) noexcept nogil:
        """Set the label or importance of a line to [p, end); -1: it is invalid."""
        cdef size_t i = batch.a.lines
        cdef Double number
        if role == IS_LABEL and not self.table.sink.as_text:
            if unlikely(self.settings.names != NULL and (<ClassNames>self.settings.names).grows and has_control(p, end)):
                return 0 if take_unfit(&self.settings, p, end, LABEL_CONTROL, &batch.a.label[i], error) else -1
            return 0 if take_label(&self.settings, p, end, &batch.a.label[i], error) else -1
        if role != IS_IMPORTANCE:
            return 0
        number = read_double(p)
        if number.end != end:
            error_at(error, IMPORTANCE, p, end)
        elif number.value < 0:
            error_at(error, IMPORTANCE_NEGATIVE, p, end)
        elif not isfinite(number.value):
            error_at(error, IMPORTANCE_LARGE, p, end)
        else:
            batch.a.importance[i] = number.value
            return 0
        return -1

    cdef bint fit_word(self, const char** p, size_t* n, bint is_label) noexcept nogil:
        """A label or tag, copied if it changes: in VW text what is not valid before the first bar is escaped, and in labels
        it is `_` unless names are kept; false: no memory."""
        cdef CellSink* sink = &self.table.sink
        cdef const char* q = p[0]
        cdef size_t i, size = n[0]
        cdef bint is_quoted = is_label and q[0] == c"'"     # a tag, in VW text
        cdef bint escapes, fits = not is_quoted
        if likely(not sink.as_text and (sink.keeps or not is_label)):
            return True
        escapes = sink.keeps or not is_label
        if escapes:
            fits = fits and not needs_escape(q, size, False)
        for i in range(0 if escapes else size):
            fits = fits and <uint8_t>q[i] > 0x20 and q[i] != c'|'
        if likely(fits):
            return True
        if reserve(<void**>&sink.scratch, &sink.scratch_size, 3 * size + PADDING, 1):
            return False
        if escapes:
            if is_quoted:
                memcpy(sink.scratch, b"%27", 3)
            n[0] = 3 * is_quoted + escape(sink.scratch + 3 * is_quoted, q + is_quoted, size - is_quoted, False)
            sink.escaped += 1
        else:
            for i in range(size):
                sink.scratch[i] = q[i] if <uint8_t>q[i] > 0x20 and q[i] != c'|' else c'_'
            if is_quoted:
                sink.scratch[0] = c'_'
        memset(sink.scratch + n[0], 0, PADDING)
        p[0] = sink.scratch
        return True

    cdef int write_word(self, const char* before, const char* p, size_t n, TokenError* error) noexcept nogil:
        if write(&self.table.sink, before, strlen(before)) or write(&self.table.sink, p, n):
            error_at(error, OUT_OF_MEMORY, NULL, NULL)
            return -1
        return 0

    cdef int end_text(self, bint has_bar, TokenError* error) noexcept nogil:
        """End a line of VW text, if text is written; has_bar: it is not a blank line."""
        cdef CellSink* sink = &self.table.sink
        cdef size_t n
        if likely(not sink.as_text):
            return 0
        n = sink.text.size - self.line_text
        if has_bar and (n == 0 or memchr(sink.text.data + self.line_text, c'|', n) == NULL) \
                and self.write_word(b" |", NULL, 0, error):
            return -1
        n = sink.text.size - self.line_text
        if n and sink.text.data[self.line_text] == c' ':
            memmove(sink.text.data + self.line_text, sink.text.data + self.line_text + 1, n - 1)
            sink.text.size -= 1
        return self.write_word(b"\n", NULL, 0, error)

    def take_log(self):
        """As of Cells."""
        return self.table.take_log()

    def take_absents(self):
        """As of Cells."""
        return self.table.take_absents()

    @property
    def table_names(self):
        """The names of the columns, each with `=` behind it."""
        return self.table.names

    @property
    def time_format(self):
        """As of Cells."""
        return self.table.format.decode()

    def cells_of(self, bytes record):
        """The number of cells of a record."""
        cdef Dialect d = self.dialect
        return len(split(record, chr(d.delimiter), d.quoted, chr(d.escape) if d.escape else "")[0][0])

    def breaks_of_lines(self):
        """The lines of the last batch whose records contain line ends, and the numbers of line ends."""
        return [(self.breaks[2 * i], self.breaks[2 * i + 1]) for i in range(self.break_count)]

    def take_unknown(self):
        """The keys that are no columns, and were skipped since the last call."""
        found, self.unknown_keys = self.unknown_keys, []
        return found

    def take_kinds(self, size_t most):
        """The keys whose values are read by their own type: the path of each as a tuple of text, and how many numbers and
        words it had since the last call, without words for missing values. Of the first `most` keys."""
        cdef size_t i
        cdef Key* k
        found = []
        for i in range(min(self.key_count, most)):
            k = &self.keys[i]
            if k.numbers or k.words:
                found.append((self.path_of(k), k.numbers, k.words))
            k.numbers = k.words = 0
        return found

    cdef tuple path_of(self, const Key* k):
        own = (k.raw[:k.raw_size].decode("utf-8", "surrogateescape"),)
        return (*self.path_of(&self.keys[k.parent - 1]), *own) if k.parent else own

    def keys_seen(self, size_t most):
        """The keys of the objects so far, in valid or invalid lines, as text: all columns, and some of the others, so
        that there are at most `most`."""
        cdef size_t i
        found = []
        for i in range(self.key_count):
            if self.keys[i].parent == 0 and self.keys[i].stamp and (i < self.fixed or <size_t>len(found) < most):
                found.append(self.keys[i].raw[:self.keys[i].raw_size].decode("utf-8", "surrogateescape"))
        return found

    def fault_columns_of(self, Batch batch not None):
        """For each error of the last batch, the index of its column in the schema; None: not in a column."""
        return [self.fault_columns[i] - 1 if self.fault_columns[i] else None for i in range(batch.fault_count)]

    @staticmethod
    def faults(Batch batch not None):
        """As Parser.faults, with the codes of tables."""
        cdef size_t i
        cdef ParseError* f = batch.faults
        return [(name_of(f[i].code), f[i].line, f[i].line_begin, f[i].line_end, f[i].begin, f[i].end)
                for i in range(batch.fault_count)]


cdef object name_of(uint32_t code):
    """The name of an error code."""
    if code >= JSON_OBJECT:
        return JSON_CODES[code - JSON_OBJECT]
    return TABLE_CODES[code - RAGGED] if code >= RAGGED else LINE_CODES[code]


cdef Dialect dialect_of(str delimiter, bint quoted, str escape) except *:
    cdef Dialect d
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise ValueError(f"{delimiter!r} cannot be a delimiter")
    if len(escape) > 1 or not escape.isascii() or escape in ('"', "\r", "\n", "\0", delimiter):
        raise ValueError(f"{escape!r} cannot be an escape character")
    d.delimiter, d.quoted, d.escape = <char>ord(delimiter), quoted, <char>ord(escape) if escape else 0
    return d


def split(block, str delimiter, bint quoted=True, str escape="", size_t most=1, bint skip_blank=False, places=(),
          missing=(), size_t width=0):
    """The cells of the first records of a block as bytes, for callers that need few of them: at most `most` records,
    each as its cells, its begin and its end (after its line end). For an invalid record, cells is None, and for the end
    its error code; it ends the list if no line end follows. The last one may lack its line end. delimiter, quoted,
    escape: as set_table has them. skip_blank: records of one blank cell before the first other one do not count. places:
    if there are some, only records of `width` cells with one there that is neither blank nor one of `missing`, which
    are bytes."""
    cdef bytes text = bytes(block)
    cdef bytes cell
    cdef Dialect d = dialect_of(delimiter, quoted, escape)
    cdef size_t n, capacity = 64, found, i
    cdef const char* base
    cdef const char* p
    cdef const char* q
    cdef const char* reached = NULL
    cdef const uint32_t* m
    cdef uint64_t high = 0
    cdef uint32_t* positions = NULL
    cdef Cell* cells = NULL
    cdef Record record
    cdef TokenError error
    cdef ScanResult outcome
    if not text.endswith(b"\n"):
        text += b"\n"
    n = len(text)
    text += bytes(PADDING)
    base = p = error.end = text
    error.code = QUOTE_OPEN
    records = []
    positions = <uint32_t*>malloc((n + 128) * sizeof(uint32_t))
    cells = <Cell*>malloc(capacity * sizeof(Cell))
    try:
        if positions == NULL or cells == NULL:
            raise MemoryError
        found = find_csv_delimiters(base, base, base + n, d.delimiter, mark_of(&d), positions, n + 128, &reached, &high)
        m = positions
        while p < base + n and len(records) < most:
            outcome = csv_record(base, p, &d, &m, positions + found, cells, capacity, &record, &error)
            if outcome == COMPLETE and record.cells > capacity:
                capacity = record.cells
                if resize(<void**>&cells, capacity, sizeof(Cell)):
                    raise MemoryError
                m = positions
                while base + m[0] < p:
                    m += 1
                continue
            if outcome != COMPLETE:
                if not places:
                    records.append((None, p - base, TABLE_CODES[error.code - RAGGED]))
                p = <const char*>memchr(error.end, c'\n', base + n - error.end)
                if p == NULL:
                    break
                p += 1
                while m < positions + found and base + m[0] < p:
                    m += 1
                continue
            if skip_blank and not records and record.cells == 1:
                q = cells[0].begin
                while q < cells[0].end and is_blank(q[0]):
                    q += 1
                if q == cells[0].end:
                    p = record.end + 1
                    continue
            if places and (record.cells != width or not has_value(cells, places, missing)):
                p = record.end + 1
                continue
            row = []
            for i in range(record.cells):
                cell = cells[i].begin[:cells[i].end - cells[i].begin]
                if cells[i].doubled:
                    cell = PyBytes_FromStringAndSize(NULL, len(cell))
                    cell = cell[:write_cell(<char*>cell, cells[i].begin, cells[i].end, &d)]
                row.append(cell)
            records.append((row, p - base, record.end + 1 - base))
            p = record.end + 1
        return records
    finally:
        free(positions)
        free(cells)


cdef bint has_value(const Cell* cells, places, missing) except -1:
    """Whether a cell of a record at one of these places is neither blank nor one of `missing`."""
    cdef const char* p
    cdef const char* end
    cdef size_t place
    for place in places:
        p, end = cells[place].begin, cells[place].end
        while p < end and is_blank(p[0]):
            p += 1
        while p < end and is_blank((end - 1)[0]):
            end -= 1
        if p < end and p[:end - p] not in missing:
            return True
    return False


def whole(block, str delimiter, bint quoted=True, str escape=""):
    """The number of bytes of whole records at the beginning of a block."""
    cdef Py_buffer info
    cdef size_t end
    cdef Dialect d = dialect_of(delimiter, quoted, escape)
    PyObject_GetBuffer(block, &info, PyBUF_SIMPLE)
    try:
        with nogil:
            end = whole_records(<const char*>info.buf, info.len, &d)
        return end
    finally:
        PyBuffer_Release(&info)


cdef size_t whole_records(const char* data, size_t size, const Dialect* d) noexcept nogil:
    """The end of the last record that ends in [data, data + size). An invalid record ends as in csv.pxd; without
    quotes and escapes, records are lines."""
    cdef const char* p = data
    cdef const char* end = data + size
    cdef const char* q
    cdef const char* begin
    cdef const char* last
    if not d.escape and (not d.quoted or memchr(data, c'"', size) == NULL):
        while end > data and (end - 1)[0] != c'\n':
            end -= 1
        return end - data
    last = data
    while True:
        # p is where a record begins, or a cell behind a delimiter.
        begin = p
        while p < end and is_between(p[0], d):
            p += 1
        if p == end:
            return last - data
        if p[0] == c'"' and d.quoted:
            p += 1
            begin = p
            while True:
                q = <const char*>memchr(p, c'"', end - p)
                if q == NULL or q + 1 == end:     # the character after the quote is not read yet
                    return last - data
                p = q + 1
                if d.escape and is_escaped(q, begin, d):
                    continue
                if p[0] != c'"':
                    break
                p += 1
            # Behind the closing quote: a delimiter, a line end, or something bad, and then the line ends the record.
            while p < end and is_between(p[0], d):
                p += 1
            if p < end and p[0] == d.delimiter:
                p += 1
                continue
            q = <const char*>memchr(p, c'\n', end - p)
            if q == NULL:
                return last - data
            p = last = q + 1
            continue
        # Up to the next quote that begins a cell, or the end of the line.
        p = begin
        while p < end and p[0] != d.delimiter and p[0] != c'\n' and (p[0] != c'"' or not d.quoted):
            p += 2 if d.escape and p[0] == d.escape else 1
        if p >= end:
            return last - data
        if p[0] == d.delimiter:
            p += 1
            continue
        if p[0] == c'"':
            p = <const char*>memchr(p, c'\n', end - p)
            if p == NULL:
                return last - data
        p += 1
        last = p


def json_end(bytes text, size_t at):
    """The position after the object or array that begins at `at`, where as many brackets are closed as were opened; 0: it
    does not end. And the position of its string that does not end on its line, -1 if there is none."""
    cdef const char* begin = text
    cdef const char* end = begin + len(text)
    cdef const char* p = begin + at
    cdef const char* quote
    cdef size_t depth = 0
    while p < end:
        if p[0] == BRACE or p[0] == BRACKET:
            depth += 1
        elif p[0] == END_BRACE or p[0] == END_BRACKET:
            depth -= 1
            if depth == 0:
                return p + 1 - begin, -1
        elif p[0] == c'"':
            quote = p
            p += 1
            while p[0] != c'"':
                if p[0] == c'\\':
                    p += 1
                if p >= end or p[0] == c'\n':
                    return 0, quote - begin
                p += 1
        p += 1
    return 0, -1


# --- for tests -----------------------------------------------------------------------------------

def delimiters_of_cells(bytes text, str delimiter, bint portable=False):
    """The quotes, line ends and delimiters among the first 64 bytes of a text, as bits; whether all of them are ASCII."""
    cdef bytes padded = text + bytes(PADDING)
    cdef char between = <char>ord(delimiter)
    cdef uint64_t high = 0
    cdef uint64_t found
    if portable:
        found = csv_window_portable(padded, between, c'"', &high)
    else:
        found = csv_window(padded, between, c'"', &high)
    return found, high == 0


def json_stop_of(bytes text, bint portable=False):
    """The position of the first quote, backslash or control byte of a text; its length without one."""
    cdef bytes padded = text + bytes(PADDING)
    cdef const char* p = padded
    return (json_stop_portable(p) if portable else json_stop(p)) - p
