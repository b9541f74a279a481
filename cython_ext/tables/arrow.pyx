"""Creates batches from a data frame in memory: pandas, polars, pyarrow or duckdb, by the Arrow C data interface.

An object with `__arrow_c_stream__` gives a stream of chunks; its library is not imported, and its memory is
read in place. The roles of columns are defined in vwlite/input/schema.py and implemented in tables/cells.pxd: a column is
a namespace, a number is `name:value`, a word `name=word`, a null is absent.

Apache Arrow. The Arrow C Data Interface, The Arrow C Stream Interface. Columnar format 1.5.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyObject_GetBuffer, PyBuffer_Release, Py_buffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport NAN, isfinite, isnan, ldexp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset, strcmp

from vwlite.core.base.buffers cimport copy, reserve, resize
from vwlite.core.base.decimal cimport LONGEST_NUMBER, write_exact, write_unsigned
from vwlite.core.base.simd cimport PADDING
from vwlite.core.data.batch cimport EXAMPLE, MOST_DISTINCT, REJECTED, Batch, new_dictionary
from vwlite.core.tables.cells cimport (
    BY_VALUE, CATEGORICAL, DROPPED, NUMERIC, TEXT, TIME, Cells, Column, Missing, Role, CellSink, add_number,
    add_text, add_time, add_word, begun_hash, end_cell, fitting, is_empty, is_missing, is_missing_number, log_name,
    missing_cell, open_space, read_time, word_size, write,
)
from vwlite.core.tables.notation cimport LONGEST_PLAIN, plain_number
from vwlite.core.tables.times cimport Moment, moment_of_day, moment_of_number, moment_of_ticks
from vwlite.core.tables.zones cimport Zone, local_second
from vwlite.core.text.numbers cimport Float, read_float
from vwlite.core.text.tokens cimport close_line

cdef extern from *:
    """
    #include <stdint.h>

    struct ArrowSchema {
        const char *format, *name, *metadata;
        int64_t flags, n_children;
        struct ArrowSchema **children, *dictionary;
        void (*release)(struct ArrowSchema *);
        void *private_data;
    };

    struct ArrowArray {
        int64_t length, null_count, offset, n_buffers, n_children;
        const void **buffers;
        struct ArrowArray **children, *dictionary;
        void (*release)(struct ArrowArray *);
        void *private_data;
    };

    struct ArrowArrayStream {
        int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
        int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
        const char *(*get_last_error)(struct ArrowArrayStream *);
        void (*release)(struct ArrowArrayStream *);
        void *private_data;
    };
    """
    struct ArrowSchema:
        const char* format
        const char* name
        const char* metadata
        int64_t n_children
        ArrowSchema** children
        ArrowSchema* dictionary
        void (*release)(ArrowSchema*)

    struct ArrowArray:
        int64_t length, null_count, offset, n_buffers, n_children
        const void** buffers
        ArrowArray** children
        ArrowArray* dictionary
        void (*release)(ArrowArray*)

    struct ArrowArrayStream:
        int (*get_schema)(ArrowArrayStream*, ArrowSchema* out)
        int (*get_next)(ArrowArrayStream*, ArrowArray* out)
        const char* (*get_last_error)(ArrowArrayStream*)
        void (*release)(ArrowArrayStream*)

cdef enum:
    FULL = 1 << 16          # features of a batch, from where on it takes no further row
    MOST_LINES = 1 << 13
    INLINE = 12             # bytes of a string that its view holds itself
    LONGEST_WRITTEN = 320   # bytes of a word that is read as a number
    RECENT = 8              # values of a column that are known again without asking Python

cdef enum Type:
    NO_TYPE = 0
    NULLS
    BOOLS
    INT8
    UINT8
    INT16
    UINT16
    INT32
    UINT32
    INT64
    UINT64
    DECIMALS                # whole numbers of 128 bits; DECIMALS + k: times 10^-k
    LAST_DECIMALS = DECIMALS + 38
    HALVES
    FLOATS
    DOUBLES
    DAYS                # dates, and times since 1970: for the role `time` alone
    MILLISECOND_DAYS
    SECONDS
    MILLISECONDS
    MICROSECONDS
    NANOSECONDS
    STRINGS
    LARGE_STRINGS
    VIEWS

cdef double[39] POWERS      # of ten
POWERS[:] = [float(f"1e{power}") for power in range(39)]

# By the format in a schema.
TYPES = {
    "n": NULLS, "b": BOOLS, "c": INT8, "C": UINT8, "s": INT16, "S": UINT16, "i": INT32, "I": UINT32, "l": INT64,
    "L": UINT64, "e": HALVES, "f": FLOATS, "g": DOUBLES, "u": STRINGS, "U": LARGE_STRINGS, "vu": VIEWS,
    "tdD": DAYS, "tdm": MILLISECOND_DAYS, "tss": SECONDS, "tsm": MILLISECONDS, "tsu": MICROSECONDS, "tsn": NANOSECONDS,
}
# What there is besides, by the begin of its format: no feature comes of it.
OTHERS = {
    "+l": "a list", "+L": "a list", "+vl": "a list", "+vL": "a list", "+w": "a list", "+s": "a struct", "+m": "a map",
    "+u": "a union", "+r": "a run-end encoded array", "tdD": "a date", "tdm": "a date", "tts": "a time", "ts": "a timestamp",
    "tD": "a duration", "ti": "an interval", "t": "a time", "d": "a decimal", "z": "bytes", "Z": "bytes", "vz": "bytes",
    "w": "bytes",
}


# The type of a column in the chunks. dictionary: the type of the words that its numbers refer to; NO_TYPE: none.
cdef struct ArrowKind:
    Type type
    Type dictionary
    void* zone      # the Zone of its times, of the cells; NULL: UTC, or none


cdef struct Word:
    const char* begin
    size_t size


cdef inline bint is_valid(const ArrowArray* a, int64_t i) noexcept nogil:
    """Whether the i-th value, the offset counted in, is not null."""
    cdef const uint8_t* bits = <const uint8_t*>a.buffers[0]
    return bits == NULL or (bits[i >> 3] >> (i & 7)) & 1


# The location of a value: itself, or the dictionary entry that it refers to. NULLS: null.
cdef struct ArrowCell:
    Type type
    const ArrowArray* array
    int64_t at


cdef inline ArrowCell cell_at(const ArrowKind* kind, const ArrowArray* a, int64_t i) noexcept nogil:
    """The value of row i of a column."""
    cdef ArrowCell none = ArrowCell(NULLS, NULL, 0)
    i += a.offset
    if kind.type == NULLS or not is_valid(a, i):
        return none
    if kind.dictionary == NO_TYPE:
        return ArrowCell(kind.type, a, i)
    i = whole_at(kind.type, a, i)
    a = a.dictionary
    if i < 0 or i >= a.length or kind.dictionary == NULLS or not is_valid(a, i + a.offset):
        return none
    return ArrowCell(kind.dictionary, a, i + a.offset)


cdef bint has_nulls(const ArrowArray* a) noexcept nogil:
    """Whether a value is null, also if the null count is unknown."""
    cdef int64_t i
    if a.null_count == 0 or a.buffers[0] == NULL:
        return False
    for i in range(a.offset, a.offset + a.length):
        if not is_valid(a, i):
            return True
    return False


cdef inline double half_of(uint16_t x) noexcept nogil:
    """A number of 16 bits."""
    cdef int exponent = (x >> 10) & 31
    cdef double part = x & 1023
    if exponent == 31:
        part = NAN if part != 0 else ldexp(1, 1023) * 2
    else:
        part = ldexp(part + 1024, exponent - 25) if exponent else ldexp(part, -24)
    return -part if x >> 15 else part


cdef inline double number_at(Type type, const ArrowArray* a, int64_t i) noexcept nogil:
    cdef const void* data = a.buffers[1]
    cdef const int64_t* halves
    if type == DOUBLES:
        return (<const double*>data)[i]
    if type == INT64:
        return <double>(<const int64_t*>data)[i]
    if type == FLOATS:
        return (<const float*>data)[i]
    if type == HALVES:
        return half_of((<const uint16_t*>data)[i])
    if type == UINT64:
        return <double>(<const uint64_t*>data)[i]
    if DECIMALS <= type <= LAST_DECIMALS:
        halves = <const int64_t*>data + 2 * i
        if halves[1] == halves[0] >> 63:
            return <double>halves[0] / POWERS[<int>type - <int>DECIMALS]
        return (ldexp(<double>halves[1], 64) + <double><uint64_t>halves[0]) / POWERS[<int>type - <int>DECIMALS]
    return <double>whole_at(type, a, i)


cdef inline int64_t whole_at(Type type, const ArrowArray* a, int64_t i) noexcept nogil:
    """A whole number of at most 64 bits with a sign, or whether it is true."""
    cdef const void* data = a.buffers[1]
    if type == INT32 or type == DAYS:
        return (<const int32_t*>data)[i]
    if type == INT64 or type == UINT64 or DAYS < type <= NANOSECONDS:
        return (<const int64_t*>data)[i]
    if type == BOOLS:
        return ((<const uint8_t*>data)[i >> 3] >> (i & 7)) & 1
    if type == INT8:
        return (<const int8_t*>data)[i]
    if type == UINT8:
        return (<const uint8_t*>data)[i]
    if type == INT16:
        return (<const int16_t*>data)[i]
    if type == UINT16:
        return (<const uint16_t*>data)[i]
    return (<const uint32_t*>data)[i]


cdef inline Word string_at(Type type, const ArrowArray* a, int64_t i) noexcept nogil:
    cdef const int32_t* view
    if type == STRINGS:
        return Word(<const char*>a.buffers[2] + (<const int32_t*>a.buffers[1])[i],
                    (<const int32_t*>a.buffers[1])[i + 1] - (<const int32_t*>a.buffers[1])[i])
    if type == LARGE_STRINGS:
        return Word(<const char*>a.buffers[2] + (<const int64_t*>a.buffers[1])[i],
                    (<const int64_t*>a.buffers[1])[i + 1] - (<const int64_t*>a.buffers[1])[i])
    view = <const int32_t*>a.buffers[1] + 4 * i
    if view[0] <= INLINE:
        return Word(<const char*>(view + 1), view[0])
    return Word(<const char*>a.buffers[2 + view[2]] + view[3], view[0])


cdef inline Word word_at(Type type, const ArrowArray* a, int64_t i, char* digits, bint wholes) noexcept nogil:
    """The value as a word, without blanks at its ends. digits: a buffer for numbers. wholes: numbers below 1e16 have no
    exponent, as Python writes them."""
    cdef Word word
    cdef int64_t whole
    cdef uint64_t size
    if type >= STRINGS:
        word = string_at(type, a, i)
        while word.size and is_blank(word.begin[0]):
            word.begin += 1
            word.size -= 1
        while word.size and is_blank(word.begin[word.size - 1]):
            word.size -= 1
        return word
    if DECIMALS <= type <= DOUBLES:
        return Word(digits, write_exact(digits, number_at(type, a, i), type == HALVES or type == FLOATS, 16 if wholes else 10))
    whole = whole_at(type, a, i)
    if type == BOOLS:
        return Word(b"true", 4) if whole else Word(b"false", 5)
    size = <uint64_t>whole
    if whole < 0 and type != UINT64:
        digits[0], size = c'-', 0 - size
        return Word(digits, 1 + write_unsigned(digits + 1, size))
    return Word(digits, write_unsigned(digits, size))


cdef inline bint is_missing_nan(const Missing* missing, Type type, const ArrowArray* a, int64_t i) noexcept nogil:
    """Whether a value is NaN where that is missing."""
    return HALVES <= type <= DOUBLES and missing.nan and isnan(number_at(type, a, i))


cdef int number_in(const CellSink* sink, ArrowCell cell, float* x) noexcept nogil:
    """Read the words of a cell as a number: 1; 0 if it is missing, -1 if it is not a number."""
    cdef char[LONGEST_WRITTEN + LONGEST_PLAIN + PADDING] copy
    cdef Word word = word_at(cell.type, cell.array, cell.at, copy, True)
    cdef size_t size = word.size
    cdef Float number
    if size == 0 or is_missing(&sink.missing, word.begin, size):
        return 0
    if size > LONGEST_WRITTEN:
        return -1
    if sink.written != NULL:
        size = plain_number(sink.written, word.begin, size, copy)
    else:
        memcpy(copy, word.begin, size)
    memset(copy + size, 0, PADDING)
    number = read_float(copy, copy + size)
    x[0] = number.value
    if size == 0 or number.end != copy + size:
        return -1
    return not is_missing_number(&sink.missing, x[0])


cdef inline int64_t ticks_of(Type type) noexcept nogil:
    """How many ticks of a type are a second."""
    return 1 if type == SECONDS else 1000 if type == MILLISECONDS else 1000000 if type == MICROSECONDS else 1000000000


cdef int time_at(const CellSink* sink, void* zone, ArrowCell cell, Moment* time) noexcept nogil:
    """The time of a cell: 1; 0 if it is missing, -1 if it is not a time. zone: as of ArrowKind."""
    cdef const Missing* missing = &sink.missing
    cdef char[LONGEST_NUMBER] digits
    cdef Word word
    cdef int64_t x = 0, per_second
    cdef bint found
    if cell.type >= STRINGS or (sink.format != NULL and NULLS < cell.type <= DOUBLES):
        if is_missing_nan(missing, cell.type, cell.array, cell.at):
            return 0
        word = word_at(cell.type, cell.array, cell.at, digits, True)
        if word.size == 0 or is_missing(missing, word.begin, word.size):
            return 0
        found = read_time(sink, word.begin, word.size, time)
    elif cell.type <= DOUBLES:
        if cell.type == NULLS or (isnan(number_at(cell.type, cell.array, cell.at)) and missing.nan):
            return 0
        found = moment_of_number(number_at(cell.type, cell.array, cell.at), sink.wide_times, time)
    else:
        x = whole_at(cell.type, cell.array, cell.at)
        if cell.type == DAYS:
            found = moment_of_day(x, -1, time)
        elif cell.type == MILLISECOND_DAYS:
            found = moment_of_ticks(x, 1000, time)
            time.hour = -1
        elif zone != NULL:
            per_second = ticks_of(cell.type)
            found = moment_of_ticks(local_second(<Zone>zone, x // per_second - (x % per_second < 0)), 1, time)
        else:
            found = moment_of_ticks(x, ticks_of(cell.type), time)
    return 1 if found else -1


cdef inline bint is_blank(char c) noexcept nogil:
    return c == c' ' or c == c'\t' or c == c'\r' or c == c'\n'


# The features of a column with few distinct values: a range of the features of the frame. size: 0: the column has no
# such range.
cdef struct Codes:
    uint32_t first
    uint32_t size


# A value of a column, and which of the distinct ones it is.
cdef struct Recent:
    uint64_t bits             # of a number
    Word word
    int64_t index


cdef class Frame:
    """A data frame, with all of its chunks.

    stream: the result of its `__arrow_c_stream__`. ValueError for an object that is not a frame, or for a column of an
    unsupported type, which is named.
    """

    cdef readonly list names          # of its columns
    cdef readonly list numeric        # of each, whether it has numbers, which of a dictionary are categories; None: its
                                      # type has no values
    cdef readonly dict metadata       # of the schema: bytes by bytes
    cdef list refused                 # of each, why no feature comes of it; None: one does
    cdef readonly list words          # of each, whether it has words that are not those of a dictionary
    cdef readonly list temporal       # of each, whether its type is that of a date or a timestamp
    cdef list zones                   # of each, the name of the time zone of its type, or nothing
    cdef readonly Py_ssize_t rows
    cdef ArrowKind* kinds                  # owned; [columns]
    cdef ArrowArray* chunks           # owned, and released
    cdef size_t count, capacity
    cdef Cells cells                  # the conversion of the columns, in its order
    cdef Cells writer                 # the same for text; None: not requested
    cdef int64_t* places              # owned; [cells] the position of each in the frame
    cdef Role* roles                  # owned; [cells] what each is: NUMERIC, CATEGORICAL, TEXT or DROPPED
    cdef Py_buffer label, importance
    cdef const uint8_t[::1] rejected  # of each row, whether it is bad; None: all are good
    cdef bint has_label, has_importance, spaces
    cdef int64_t tag                  # the column of tags; -1: none
    # Features of columns of few values, if there is one chunk: for each value, and one for each column of numbers.
    cdef Codes* codes                 # owned; [cells]
    cdef uint32_t* hashes             # owned; [coded]
    cdef uint8_t* present             # owned; [coded] whether the value makes a feature
    cdef size_t coded
    cdef uint64_t dictionary          # the number of `hashes`, if the features of batches can be numbered; else 0

    def __init__(self, stream):
        cdef ArrowArrayStream* theirs = <ArrowArrayStream*>PyCapsule_GetPointer(stream, "arrow_array_stream")
        cdef ArrowArrayStream own
        cdef ArrowSchema schema
        cdef ArrowArray chunk
        cdef int64_t i
        if theirs.release == NULL:
            raise ValueError("the stream of the frame was read already")
        own = theirs[0]
        theirs.release = NULL   # it is ours now
        try:
            if own.get_schema(&own, &schema):
                raise ValueError(f"the frame cannot be read: {last_error(&own)}")
            try:
                self.read_schema(&schema)
            finally:
                if schema.release != NULL:
                    schema.release(&schema)
            while True:
                if own.get_next(&own, &chunk):
                    raise ValueError(f"the frame cannot be read: {last_error(&own)}")
                if chunk.release == NULL:
                    break
                if reserve(<void**>&self.chunks, &self.capacity, self.count + 1, sizeof(ArrowArray)):
                    chunk.release(&chunk)
                    raise MemoryError("no memory for the chunks of a frame")
                self.chunks[self.count] = chunk
                self.count += 1
                self.rows += chunk.length
                if chunk.n_children != len(self.names) or has_nulls(&chunk):
                    raise ValueError("a row of the frame is null, or has other columns")
                for i in range(chunk.n_children):
                    if not has_values(&self.kinds[i], chunk.children[i], chunk.offset + chunk.length):
                        raise ValueError(damage(self.names[i]))
        finally:
            if own.release != NULL:
                own.release(&own)

    def __dealloc__(self):
        cdef size_t i
        for i in range(self.count):
            if self.chunks[i].release != NULL:
                self.chunks[i].release(&self.chunks[i])
        free(self.chunks)
        free(self.kinds)
        free(self.places)
        free(self.roles)
        free(self.codes)
        free(self.hashes)
        free(self.present)
        self.release_labels()

    cdef void release_labels(self):
        if self.has_label:
            PyBuffer_Release(&self.label)
        if self.has_importance:
            PyBuffer_Release(&self.importance)
        self.has_label = self.has_importance = False

    def __len__(self):
        return self.rows

    cdef read_schema(self, ArrowSchema* schema):
        cdef ArrowSchema* column
        cdef ArrowSchema* last
        cdef Type type
        cdef int64_t i
        if strcmp(schema.format, b"+s") != 0:
            raise ValueError("X is not a frame: it has no columns; a Series becomes a frame with to_frame()")
        self.names, self.numeric, self.refused, self.metadata = [], [], [], metadata_of(schema.metadata)
        self.words, self.temporal, self.zones = [], [], []
        self.kinds = <ArrowKind*>calloc(schema.n_children + 1, sizeof(ArrowKind))
        if self.kinds == NULL:
            raise MemoryError("no memory for the columns of a frame")
        for i in range(schema.n_children):
            column = schema.children[i]
            name = column.name.decode("utf-8", "surrogateescape") if column.name != NULL else ""
            last = column if column.dictionary == NULL else column.dictionary
            self.kinds[i].type = type_of(column.format.decode())
            type = type_of(last.format.decode())
            if column.dictionary != NULL:
                self.kinds[i].dictionary = type
            self.names.append(name)
            self.numeric.append(None if type == NULLS else INT8 <= type <= DOUBLES and column.dictionary == NULL)
            self.words.append(type >= STRINGS and column.dictionary == NULL)
            self.temporal.append(DAYS <= type <= NANOSECONDS)
            self.zones.append(last.format.decode()[4:] if SECONDS <= type <= NANOSECONDS else "")
            usable = type and not DAYS <= type <= NANOSECONDS and last.dictionary == NULL
            made_by = metadata_of(last.metadata).get(b"ARROW:extension:name")
            self.refused.append(None if usable else refusal(name, last.format.decode(), made_by))

    def prepare(self, Cells cells not None, places, *, label=None, importance=None, rejected=None, int64_t tag=-1,
                bint spaces=False):
        """Set the conversion of the columns, before `check` and `fill`.

        places: the position of each column of the cells in the frame; -1: absent. label, importance, spaces: as for
        Matrix.
        rejected: bool for each row, whether it is invalid and only counts as a line. tag: the position of the column
        of words that are returned with predictions; -1: none.
        ValueError for a column whose role is not valid for its type.
        """
        cdef size_t i
        cdef Type type
        free(self.places)
        free(self.roles)
        self.cells = self.writer = None
        self.places = <int64_t*>calloc(cells.count + 1, sizeof(int64_t))
        self.roles = <Role*>calloc(cells.count + 1, sizeof(Role))
        if self.places == NULL or self.roles == NULL:
            raise MemoryError("no memory for the columns of a frame")
        for i in range(cells.count):
            self.places[i] = places[i]
            role, self.roles[i] = cells.columns[i].role, DROPPED
            if places[i] < 0 or role not in (NUMERIC, CATEGORICAL, TEXT, TIME, BY_VALUE):
                continue
            type = self.kinds[places[i]].dictionary or self.kinds[places[i]].type
            if role != TIME or not DAYS <= type <= NANOSECONDS:
                self.check_words(places[i])
            name = self.names[places[i]]
            if role == BY_VALUE:
                role = NUMERIC if self.numeric[places[i]] else CATEGORICAL
            self.roles[i] = role
            self.kinds[places[i]].zone = NULL
            if role == TIME and self.zones[places[i]] and cells.sink.wide_times:
                zone = cells.zone(self.zones[places[i]], name)
                self.kinds[places[i]].zone = NULL if zone is None else <void*>zone    # which the cells own
            if role == TIME and type == BOOLS:
                raise ValueError(f"column {name!r} is true or false, so it cannot be a time")
            if role == TEXT and NULLS < type < STRINGS:
                raise ValueError(f"column {name!r} has no words, so it cannot be text")
        self.release_labels()
        for array in (label, importance):
            if array is not None and (array.ndim != 1 or len(array) != self.rows or array.dtype.char != "d"):
                raise ValueError("labels and importances are not one float64 for each row")
        if label is not None:
            PyObject_GetBuffer(label, &self.label, PyBUF_FORMAT)
            self.has_label = True
        if importance is not None:
            PyObject_GetBuffer(importance, &self.importance, PyBUF_FORMAT)
            self.has_importance = True
        self.rejected = None if rejected is None else rejected.view("uint8")
        if rejected is not None and len(rejected) != self.rows:
            raise ValueError("what is rejected is not one bool for each row")
        if not -1 <= tag < len(self.names):
            raise IndexError(tag)
        if tag >= 0:
            self.check_words(tag)
        self.cells, self.spaces, self.tag = cells, spaces, tag
        if self.find_codes():
            raise MemoryError("no memory for the columns of a frame")
        if self.dictionary:
            self.dictionary = new_dictionary()

    cdef check_words(self, int64_t place):
        """ValueError for a column without features, or with words outside of its buffer."""
        cdef size_t k
        cdef bint good = True
        if self.refused[place] is not None:
            raise ValueError(self.refused[place])
        with nogil:
            for k in range(self.count):
                good = good and words_are_there(&self.kinds[place], self.chunks[k].children[place])
        if not good:
            raise ValueError(damage(self.names[place]))

    cdef int find_codes(self) noexcept:
        """Hash the values of columns that have few; -1: no memory."""
        cdef size_t i, total = 0
        cdef int64_t j, size
        cdef bint all_coded = True
        cdef const ArrowKind* kind
        cdef const ArrowArray* a
        free(self.codes)
        self.codes = <Codes*>calloc(self.cells.count + 1, sizeof(Codes))
        self.coded = self.dictionary = 0
        if self.codes == NULL:
            return -1
        if self.count != 1 or self.cells.sink.as_text:
            return 0
        for i in range(self.cells.count):
            if self.roles[i] == DROPPED:
                continue
            kind, a = &self.kinds[self.places[i]], self.chunks[0].children[self.places[i]]
            if self.roles[i] == NUMERIC:
                size = 1
            elif self.roles[i] == CATEGORICAL and kind.dictionary != NO_TYPE and kind.dictionary != NULLS:
                size = a.dictionary.length
            elif self.roles[i] == CATEGORICAL and kind.type == BOOLS:
                size = 2
            else:
                size = 0
            if size == 0 or size > self.rows or total + size > MOST_DISTINCT:
                all_coded = False
                continue
            self.codes[i] = Codes(<uint32_t>total, <uint32_t>size)
            total += size
        if resize(<void**>&self.hashes, total + 1, 4) or resize(<void**>&self.present, total + 1, 1):
            return -1
        for i in range(self.cells.count):
            kind = &self.kinds[self.places[i]]
            for j in range(self.codes[i].size):
                if hash_code(self.cells, i, self.roles[i], kind, self.chunks[0].children[self.places[i]], j,
                             &self.hashes[self.codes[i].first + j], &self.present[self.codes[i].first + j]):
                    return -1
        self.coded = total
        self.dictionary = all_coded and 0 < 2 * total <= self.rows * self.cells.count
        return 0

    def check(self):
        """The first invalid number, as for Matrix, word of a column of numbers, or time: ("NaN", "infinity", "word" or
        "time", row, column); None without errors."""
        cdef int64_t row, place
        cdef size_t i, k
        cdef const ArrowArray* chunk
        cdef ArrowCell value
        cdef Py_ssize_t before = 0
        cdef double x = 0
        cdef float number = 0
        cdef bint bad = False, is_time = False, is_word = False
        cdef Moment time
        with nogil:
            for k in range(self.count):
                chunk = &self.chunks[k]
                for i in range(self.cells.count):
                    place = self.places[i]
                    is_time = self.roles[i] == TIME
                    if self.roles[i] != NUMERIC and not is_time:
                        continue
                    for row in range(chunk.length):
                        value = cell_at(&self.kinds[place], chunk.children[place], chunk.offset + row)
                        if is_time:
                            bad = time_at(&self.cells.sink, self.kinds[place].zone, value, &time) < 0
                            if bad:
                                break
                        elif value.type >= STRINGS:
                            is_word = number_in(&self.cells.sink, value, &number) < 0
                            bad, x = is_word or not isfinite(number), number
                            if bad:
                                break
                        elif value.type != NULLS:
                            x = number_at(value.type, value.array, value.at)
                            if not isfinite(<float>x) and not (isnan(x) and self.cells.sink.missing.nan):
                                bad = True
                                break
                    if bad:
                        break
                if bad:
                    break
                before += chunk.length
        if not bad:
            return None
        return ("time" if is_time else "word" if is_word else "NaN" if isnan(x) else "infinity"), before + row, place

    def has_numbers(self, int64_t place, Cells cells not None):
        """Whether all cells of a column of words are numbers, except those that are missing; None: all are. cells: which
        words mean a missing value, and how numbers are written."""
        cdef size_t k
        cdef int64_t row
        cdef int found = 0
        cdef bint some = False
        cdef float x = 0
        cdef ArrowCell value
        self.check_words(place)
        for k in range(self.count):
            for row in range(self.chunks[k].length):
                value = cell_at(&self.kinds[place], self.chunks[k].children[place], self.chunks[k].offset + row)
                found = number_in(&cells.sink, value, &x) if value.type != NULLS else 0
                if found < 0:
                    return False
                some = some or found > 0
        return True if some else None

    def first_words(self, int64_t place, int64_t most):
        """The words of a column in its first rows, as bytes; none of a column of another type."""
        cdef size_t k
        cdef int64_t row
        cdef Word word
        cdef ArrowCell value
        found = []
        if self.refused[place] is not None:
            return found
        self.check_words(place)
        for k in range(self.count):
            for row in range(min(most, self.chunks[k].length)):
                value = cell_at(&self.kinds[place], self.chunks[k].children[place], self.chunks[k].offset + row)
                if value.type >= STRINGS:
                    word = string_at(value.type, value.array, value.at)
                    found.append(PyBytes_FromStringAndSize(word.begin, word.size))
            most -= min(most, self.chunks[k].length)
        return found

    def local_ticks(self, int64_t place, int64_t[::1] to not None):
        """Fill in the times of a column whose type has a zone, as its clocks show them; what null has is undefined."""
        cdef size_t k
        cdef int64_t row, x, second, at = 0, per_second = ticks_of(self.kinds[place].type)
        cdef const ArrowArray* a
        for k in range(self.count):
            a = self.chunks[k].children[place]
            for row in range(self.chunks[k].offset + a.offset, self.chunks[k].offset + a.offset + self.chunks[k].length):
                x = whole_at(self.kinds[place].type, a, row)
                second = x // per_second - (x % per_second < 0)
                if self.kinds[place].zone != NULL and is_valid(a, row):
                    x += per_second * (local_second(<Zone>self.kinds[place].zone, second) - second)
                to[at] = x
                at += 1

    def bad_cells(self, int64_t place, *, bint times):
        """The rows of a column whose cells are not times; else whose words are not numbers, or too large."""
        cdef size_t k
        cdef int64_t row
        cdef Py_ssize_t before = 0
        cdef Moment time
        cdef float x
        cdef ArrowCell value
        cdef bint bad
        found = []
        for k in range(self.count):
            for row in range(self.chunks[k].length):
                value = cell_at(&self.kinds[place], self.chunks[k].children[place], self.chunks[k].offset + row)
                x = 0
                if times:
                    bad = time_at(&self.cells.sink, self.kinds[place].zone, value, &time) < 0
                else:
                    bad = value.type >= STRINGS and (number_in(&self.cells.sink, value, &x) < 0 or not isfinite(x))
                if bad:
                    found.append(before + row)
            before += self.chunks[k].length
        return found

    def distinct(self, int64_t place, int64_t[::1] indices not None):
        """The distinct values of a column, in the order in which they first occur; `indices` receives the index of the
        value of each row, -1 for null.

        Words are bytes, numbers int or float, and booleans 0 and 1. None for a column of another type."""
        cdef const ArrowKind* kind = &self.kinds[place]
        cdef Type type = kind.dictionary or kind.type
        cdef Recent recent[RECENT]
        cdef Recent now
        cdef size_t i, k, seen = 0
        cdef int64_t row
        cdef Py_ssize_t at = 0
        cdef const ArrowArray* chunk
        cdef ArrowCell value
        cdef double x
        cdef dict known = {}
        if kind.type == NO_TYPE or DECIMALS <= type <= LAST_DECIMALS or self.refused[place] is not None:
            return None
        self.check_words(place)
        if indices.shape[0] < self.rows:
            raise ValueError("there are more rows than indices")
        for k in range(self.count):
            chunk = &self.chunks[k]
            for row in range(chunk.length):
                value = cell_at(kind, chunk.children[place], chunk.offset + row)
                now.index = -1
                if value.type >= STRINGS:
                    now.word = string_at(value.type, value.array, value.at)
                elif HALVES <= value.type <= DOUBLES:
                    x = number_at(value.type, value.array, value.at)
                    memcpy(&now.bits, &x, 8)
                elif value.type != NULLS:
                    now.bits = <uint64_t>whole_at(value.type, value.array, value.at)
                for i in range(min(seen, <size_t>RECENT) if value.type != NULLS else 0):
                    if (recent[i].word.size == now.word.size and memcmp(recent[i].word.begin, now.word.begin, now.word.size) == 0
                            if value.type >= STRINGS else recent[i].bits == now.bits):
                        now.index = recent[i].index
                        break
                if now.index < 0 and value.type != NULLS:
                    key = (PyBytes_FromStringAndSize(now.word.begin, now.word.size) if value.type >= STRINGS else now.bits)
                    now.index = known.setdefault(key, len(known))
                    recent[seen % RECENT] = now
                    seen += 1
                indices[at] = now.index
                at += 1
        return list(known) if type >= STRINGS else [number_of(type, bits) for bits in known]

    def fill(self, Batch batch not None, Py_ssize_t row, *, bint whole=False):
        """Clear the batch and fill it with rows from this one on, some ten thousand features, or all; the row after them."""
        cdef Py_ssize_t next = row
        cdef uint64_t before
        cdef int failed = 0
        if not 0 <= row <= self.rows or self.cells is None:
            raise IndexError(row)
        if batch.owner is not None:
            raise ValueError("this batch looks at foreign memory: it cannot be filled")
        with nogil:
            batch.clear()
            failed = batch.keep_spaces(self.spaces) or batch.reserve(1, 1, 64, 0)
            if not failed:
                batch.a.tag_begin[0] = batch.a.span_begin[0] = batch.a.feature_begin[0] = 0
                failed = self.number_features(batch)
                before = self.absent_cells()
                failed = failed or self.rows_from(batch, &next, whole)
                if self.absent_cells() != before:
                    batch.a.distinct = 0    # their features have no number
        if failed:
            raise MemoryError("no memory for a batch")
        return next

    cdef uint64_t absent_cells(self) noexcept nogil:
        """How many cells so far had the feature of an absent one."""
        cdef size_t i
        cdef uint64_t found = 0
        for i in range(self.cells.count):
            found += self.cells.columns[i].missing + self.cells.columns[i].unknown
        return found

    def take_absents(self):
        """As of the cells."""
        return self.cells.take_absents()

    def take_log(self):
        """As of the cells: the names in the rows that were filled in."""
        return self.cells.take_log()

    def text(self, Py_ssize_t begin, Py_ssize_t end, const uint8_t[::1] requested not None):
        """The VW text of the rows [begin, end), to find names: without labels and tags, with 1 for every
        number but 0, and only a line end for a row that is not requested."""
        cdef Batch nothing = Batch()
        cdef int failed
        if not 0 <= begin <= end <= self.rows or self.cells is None or requested.shape[0] != end - begin:
            raise IndexError(begin)
        if self.writer is None:
            self.writer = self.cells.writing()
        self.writer.sink.text.size = 0
        with nogil:
            failed = self.write_rows(&self.writer.sink, nothing, begin, end, requested)
        if failed:
            raise MemoryError("no memory for the text of a frame")
        return PyBytes_FromStringAndSize(self.writer.sink.text.data, self.writer.sink.text.size)

    cdef int write_rows(self, CellSink* sink, Batch nothing, Py_ssize_t begin, Py_ssize_t end,
                        const uint8_t[::1] requested) noexcept nogil:
        """`text` without Python; -1: no memory."""
        cdef size_t k, i
        cdef Py_ssize_t before = 0, row
        cdef const ArrowArray* chunk
        for k in range(self.count):
            chunk = &self.chunks[k]
            for row in range(max(begin - before, 0), min(end - before, <Py_ssize_t>chunk.length)):
                for i in range(self.cells.count if requested[before + row - begin] else 0):
                    if self.roles[i] != DROPPED and cell(
                            sink, &self.writer.columns[i], self.roles[i], nothing, &self.kinds[self.places[i]],
                            chunk.children[self.places[i]], chunk.offset + row):
                        return -1
                if write(sink, b"\n", 1):
                    return -1
            before += chunk.length
        return 0

    cdef int number_features(self, Batch batch) noexcept nogil:
        """Use the numbering of the frame for the features, if all have a number; -1: no memory."""
        if self.dictionary == 0:
            return 0
        if batch.a.distinct_hash == NULL and resize(<void**>&batch.a.distinct_hash, MOST_DISTINCT, 4):
            return -1
        if batch.a.dictionary != self.dictionary:
            copy(batch.a.distinct_hash, self.hashes, 4 * self.coded)
            batch.a.dictionary = self.dictionary
        batch.a.distinct = self.coded
        return 0

    cdef int rows_from(self, Batch batch, Py_ssize_t* row, bint whole) noexcept nogil:
        """`fill` without Python; -1: no memory."""
        cdef size_t k, i, n, line
        cdef Py_ssize_t at = row[0]
        cdef const ArrowArray* chunk
        for k in range(self.count):
            chunk = &self.chunks[k]
            if at >= chunk.length:
                at -= chunk.length
                continue
            while at < chunk.length:
                if not whole and (batch.a.features >= FULL or batch.a.lines >= MOST_LINES):
                    return 0
                if batch.reserve(1, 1, 2 * self.cells.count, 0):
                    return -1
                if batch.a.distinct and batch.number_capacity < batch.feature_capacity:
                    if resize(<void**>&batch.a.hash_number, batch.feature_capacity, 2):
                        return -1
                    batch.number_capacity = batch.feature_capacity
                line = batch.a.lines
                if self.rejected is not None and self.rejected[row[0]]:
                    batch.a.label[line], batch.a.importance[line], batch.a.initial[line] = NAN, 1, 0
                    close_line(batch, REJECTED, NULL)
                    row[0] += 1
                    at += 1
                    continue
                for i in range(self.cells.count):
                    if self.codes[i].size and self.roles[i] == CATEGORICAL:
                        if self.coded_cell(batch, i, chunk.children[self.places[i]], chunk.offset + at):
                            return -1
                        continue
                    n = batch.a.features
                    if self.roles[i] != DROPPED and cell(
                            &self.cells.sink, &self.cells.columns[i], self.roles[i], batch, &self.kinds[self.places[i]],
                            chunk.children[self.places[i]], chunk.offset + at):
                        return -1
                    if batch.a.distinct:
                        batch.a.hash_number[n] = <uint16_t>self.codes[i].first
                batch.a.label[line] = (<double*>self.label.buf)[row[0]] if self.has_label else NAN
                batch.a.importance[line] = (<double*>self.importance.buf)[row[0]] if self.has_importance else 1
                batch.a.initial[line] = 0
                if self.tag >= 0 and add_tag(batch, &self.kinds[self.tag], chunk.children[self.tag], chunk.offset + at):
                    return -1
                close_line(batch, EXAMPLE, NULL)
                row[0] += 1
                at += 1
            at = 0
        return 0


    cdef inline int coded_cell(self, Batch batch, size_t i, const ArrowArray* a, int64_t row) noexcept nogil:
        """Add the feature of a cell of a column of few values; -1: no memory."""
        cdef const Column* column = &self.cells.columns[i]
        cdef size_t n = batch.a.features
        cdef int64_t value
        row += a.offset
        if not is_valid(a, row):
            return missing_cell(&self.cells.sink, column, batch)
        value = whole_at(self.kinds[self.places[i]].type, a, row)
        if value < 0 or value >= self.codes[i].size:
            return missing_cell(&self.cells.sink, column, batch)
        value += self.codes[i].first
        if not self.present[value]:
            return missing_cell(&self.cells.sink, column, batch)
        open_space(&self.cells.sink, batch, column.name, column.size)
        batch.a.hash[n], batch.a.value[n] = self.hashes[value], 1
        if batch.a.distinct:
            batch.a.hash_number[n] = <uint16_t>value
        batch.a.features = n + 1
        return end_cell(&self.cells.sink, column, batch, False)


cdef int hash_code(Cells cells, size_t i, Role role, const ArrowKind* kind, const ArrowArray* a, int64_t value, uint32_t* hash,
                   uint8_t* present) noexcept nogil:
    """The feature of a column that one of its values makes, and whether it does; -1: no memory."""
    cdef char[LONGEST_NUMBER] digits
    cdef const Column* column = &cells.columns[i]
    cdef Word word
    cdef const char* name
    present[0], hash[0] = True, column.numeric_hash
    if role == NUMERIC:
        return 0
    if kind.dictionary == NO_TYPE:
        word = Word(b"true", 4) if value else Word(b"false", 5)
    else:
        a = a.dictionary
        word = Word(NULL, 0)
        if is_valid(a, value + a.offset) and not is_missing_nan(&cells.sink.missing, kind.dictionary, a, value + a.offset):
            word = word_at(kind.dictionary, a, value + a.offset, digits, cells.sink.wholes)
    word.size = word_size(&cells.sink, word.begin, word.size)
    present[0] = word.size > 0
    if word.size:
        name = fitting(&cells.sink, word.begin, word.size)
        if name == NULL:
            return -1
        hash[0] = begun_hash(column, name, word.size)
        if cells.sink.logs and log_name(&cells.sink, column, hash[0], name, word.size):
            return -1
    return 0


cdef int add_tag(Batch batch, const ArrowKind* kind, const ArrowArray* a, int64_t i) noexcept nogil:
    """Add a cell as the tag of a line; -1: no memory."""
    cdef char[LONGEST_NUMBER] digits
    cdef ArrowCell value = cell_at(kind, a, i)
    cdef Word word
    if value.type == NULLS:
        return 0
    word = word_at(value.type, value.array, value.at, digits, True)
    if batch.reserve(0, 0, 0, word.size):
        return -1
    copy(batch.a.tags + batch.a.tag_bytes, word.begin, word.size)
    batch.a.tag_bytes += word.size
    return 0


cdef inline int cell(CellSink* sink, const Column* column, Role role, Batch batch, const ArrowKind* kind, const ArrowArray* a,
                     int64_t i) noexcept nogil:
    """Add the features of a cell; -1: no memory. In text, numbers are 0 or 1."""
    cdef char[LONGEST_NUMBER] digits
    cdef ArrowCell value
    cdef Word word
    cdef Moment time
    cdef float x = 0
    cdef int failed = 0
    cdef bint missing
    value = cell_at(kind, a, i)
    if value.type == NULLS:
        return missing_cell(sink, column, batch)
    if open_space(sink, batch, column.name, column.size):
        return -1
    if role == NUMERIC:
        if value.type >= STRINGS:
            missing = number_in(sink, value, &x) <= 0
        else:
            x = <float>number_at(value.type, value.array, value.at)
            missing = is_missing_number(&sink.missing, x)
        if not missing:
            failed = add_number(sink, column, batch, x, b"1" if x != 0 else b"0", 1)
    elif role == TEXT:
        word = string_at(value.type, value.array, value.at)
        failed = add_text(sink, column, batch, word.begin, word.size)
    elif role == TIME:
        if time_at(sink, kind.zone, value, &time) > 0:
            failed = add_time(sink, column, batch, &time)
    elif not is_missing_nan(&sink.missing, value.type, value.array, value.at):
        word = word_at(value.type, value.array, value.at, digits, sink.wholes)
        if word.size:
            failed = add_word(sink, column, batch, word.begin, word.size)
    if role != NUMERIC:
        missing = is_empty(sink, column, batch)
    return -1 if failed or end_cell(sink, column, batch, missing) else 0


cdef object number_of(Type type, uint64_t bits):
    """A number, from the 64 bits of a double or of a whole number."""
    cdef double x
    if HALVES <= type <= DOUBLES:
        memcpy(&x, &bits, 8)
        return x
    return bits if type == UINT64 else <int64_t>bits


cdef Type type_of(str format):
    """The type of a format in a schema. That of a timestamp ends with its zone, that of a decimal with its digits."""
    cdef int digits
    if format.startswith("d:"):
        _, digits, *bits = [int(size) for size in format[2:].split(",")]
        return <Type>(<int>DECIMALS + digits) if 0 <= digits <= 38 and bits in ([], [128]) else NO_TYPE
    return TYPES.get(format[:3] if format.startswith("ts") else format, NO_TYPE)


cdef str refusal(str name, str format, bytes made_by):
    """Why a column has no features. made_by: the extension type that pandas names."""
    if made_by == b"pandas.interval":
        return (f"column {name!r} has intervals, as pandas.cut makes them: make them words with "
                f"X[{name!r}].astype(str).astype('category'), or pass labels=False to pandas.cut, or leave it out with drop")
    if type_of(format):
        return (f"column {name!r} is {OTHERS[format[:3] if format.startswith('td') else 'ts']}: read it with time, as hour, "
                "weekday and month, or leave it out with drop")
    for begin in sorted(OTHERS, key=len, reverse=True):
        if format.startswith(begin):
            return (f"column {name!r} is {OTHERS[begin]}, of which no feature comes: make it a number or a word, or leave "
                    "it out with drop")
    return f"column {name!r} is of the Arrow type {format!r}, of which no feature comes: leave it out with drop"


cdef bint has_values(const ArrowKind* kind, const ArrowArray* a, int64_t rows) noexcept nogil:
    """Whether an array has `rows` values, and the buffers that are read."""
    cdef int64_t buffers = 3 if kind.type >= STRINGS else 2
    cdef ArrowKind words = ArrowKind(kind.dictionary, NO_TYPE, NULL)
    if a.offset < 0 or a.length < rows or rows < 0:
        return False
    if kind.type <= NULLS:
        return True
    if a.n_buffers < buffers or (a.buffers[1] == NULL and a.length):
        return False
    if kind.dictionary == NO_TYPE:
        return True
    return a.dictionary != NULL and has_values(&words, a.dictionary, a.dictionary.length)


cdef bint words_are_there(const ArrowKind* kind, const ArrowArray* a) noexcept nogil:
    """Whether words follow each other, none with a negative size, as all that reads them trusts. How long the buffer is
    in which they lie is only known of views."""
    cdef Type type = kind.type
    cdef int64_t i, end
    cdef bint good = True
    cdef const int32_t* short_ends
    cdef const int64_t* long_ends
    cdef const int32_t* view
    if kind.dictionary != NO_TYPE:
        type, a = kind.dictionary, a.dictionary
    end = a.offset + a.length
    if type < STRINGS or a.length == 0:
        return True
    if type == STRINGS:
        short_ends = <const int32_t*>a.buffers[1]
        for i in range(a.offset, end):
            good &= short_ends[i] <= short_ends[i + 1]
        return good and short_ends[a.offset] >= 0
    if type == LARGE_STRINGS:
        long_ends = <const int64_t*>a.buffers[1]
        for i in range(a.offset, end):
            good &= long_ends[i] <= long_ends[i + 1]
        return good and long_ends[a.offset] >= 0
    long_ends = <const int64_t*>a.buffers[a.n_buffers - 1]  # the sizes of the buffers between this and the views
    for i in range(a.offset, end):
        view = <const int32_t*>a.buffers[1] + 4 * i
        if not is_valid(a, i) or 0 <= view[0] <= INLINE:
            continue
        if view[0] < 0 or not 0 <= view[2] < a.n_buffers - 3 or view[3] < 0 or view[3] + <int64_t>view[0] > long_ends[view[2]]:
            return False
    return True


cdef str damage(str name):
    return f"column {name!r} is damaged: its values do not lie where its buffers say"


cdef dict metadata_of(const char* data):
    """The metadata of a schema: the count of pairs, then each key and value after its size, all sizes int32."""
    cdef int32_t size
    words, left = [], 0
    if data != NULL:
        memcpy(&size, data, 4)
        data, left = data + 4, 2 * size
    while len(words) < left:
        memcpy(&size, data, 4)
        words.append(data[4:4 + size])
        data += 4 + size
    return dict(zip(words[::2], words[1::2], strict=True))


cdef str last_error(ArrowArrayStream* stream):
    cdef const char* text = stream.get_last_error(stream)
    return text.decode("utf-8", "replace") if text != NULL else "its stream fails"


def number_hashes(uint32_t[::1] out, Cells cells not None):
    """Fill in the hashes of the features that numeric columns have."""
    cdef size_t i
    for i in range(min(cells.count, <size_t>out.shape[0])):
        out[i] = cells.columns[i].numeric_hash
