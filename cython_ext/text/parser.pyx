"""The parser: converts a block of text to a batch.

Lines are VW text (vw.pxd) or libsvm (libsvm.pxd). The grammars are strict: an invalid line is a parse error
with a position and a reason, and adds nothing to the batch. The common rules:

- Blanks are space and TAB. A line ends with LF, CR LF or the block; a CR elsewhere is an error. A
  line of blanks only is BLANK, and so is a libsvm line with a comment only.
- With classes, the label is a word that is the name of one, whatever its form, or a number from 1 to K.
- Features that are zero, also by underflow or scale, are omitted. Repeated ones stay.

Performance: one pass, with few unpredictable branches. In VW text, a search
finds all delimiters of some kilobytes first; a loop over them copies names and values into columns;
and loops over the columns hash and parse them, many at a time (lines_fast.pyx). Lines with
tabs, scales, nameless features or errors take the slow path, one by one, as do all lines
of libsvm: a window of 32 bytes is searched at once for the end of the name and that of the value,
so that the position of the next feature is known long before this one is hashed and parsed, eight bytes
at a time. The slow path implements the whole grammar, the columns a subset of it.

Bytes after every line must be readable, so the last lines of a block are parsed in a padded copy;
other lines are followed by further lines. Each line ends with LF then, and no loop below checks
for the end of the text. A parse error has pointers; its message is created in vwlite/input/diagnostics.py
on demand.
"""

import re

from cpython.buffer cimport PyBUF_SIMPLE, PyObject_GetBuffer, PyBuffer_Release, Py_buffer
from libc.math cimport NAN
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

from vwlite.core.base.buffers cimport reserve
from vwlite.core.base.escapes cimport unescape
from vwlite.core.base.murmur cimport hash_strings, murmur
from vwlite.core.base.simd cimport PADDING, delimiters, delimiters_portable, likely, unlikely
from vwlite.core.data.batch cimport (
    BLANK, EXAMPLE, REJECTED, Arrays, Batch, LineStart, ParseError, Places, line_start, rewind,
)
from vwlite.core.data.class_names cimport ClassNames
from vwlite.core.text.libsvm cimport libsvm_line
from vwlite.core.text.lines_fast cimport FULL, MOST_DELIMITERS, FeatureColumns, compute, find_delimiters
from vwlite.core.text.tokens cimport (
    ANY, BINARY, LOG1P, NONNEGATIVE, POSITIVE, TERNARY, OUT_OF_MEMORY, VW_INCOMPATIBLE, TokenError, TokenSettings, close_line, hash_of,
    line_feed, name_length, space_before,
)
from vwlite.core.text.vw cimport plain_line, vw_line

# The names of the error codes of a line, in the order of Code: for vwlite/input/diagnostics.py.
CODES = (
    "out of memory", "no bar", "carriage return", "extra word",
    "label", "label too large", "label outside domain", "label not mapped",
    "importance", "importance too large", "importance negative", "initial", "initial too large",
    "namespace name", "scale", "scale too large", "value", "value too large", "value too large by scale",
    "pair", "query", "index", "index too small", "index too large", "index repeated", "index order",
    "class number", "class unknown", "class extra", "class third", "class or number",
    "read otherwise by Vowpal Wabbit",
)
assert len(CODES) == VW_INCOMPATIBLE + 1

cdef enum:
    PATIENCE = 64       # lines that are parsed one by one, at most, before the columns are tried again
    LARGEST_BLOCK = 1 << 30
    MOST_UNFIT = 3      # labels that cannot be used and are kept as text


cdef class Parser:
    """Converts blocks of text to batches.

    format: "vw" or "libsvm"; a subclass is for another one, such as vwlite.core.tables.tables.TableParser.
    hash_all, hash_seed: how names are hashed, see murmur.pxd.
    label_domain: "any", "binary" (-1 or 1), "nonnegative", "positive", "ternary" (-1, 0 or 1) or "log1p" (above -1, and mapped); `loss_name` is named in its errors.
    labels: a pair of numbers or words that are mapped to -1 and 1; no other label is valid then.
    names: of classes; labels are replaced by the numbers of their classes. Several parsers may share names that grow,
        as long as they parse one after the other in the order of the stream.
    or_numbers: all labels are names, or all of them are numbers, whichever comes first.
    lenient_labels: a label outside of these makes the example unlabelled, without an error; see `unfit_labels`.
    stop_at_fault: the batch ends before the first invalid line; otherwise, an invalid line is REJECTED and the
        next is parsed.

    labels_in_tags: the words before a tag (label, importance, initial prediction) are not parsed, and the tag
        of a line becomes those words, a NUL, and the tag.
    vw_compatible_only: VW text that Vowpal Wabbit parses differently, or with a warning, is an error too: a line of
        blanks alone, a TAB before the first bar, a namespace's scale before the end of the line.

    spaces: the batch stores the hash of each namespace, for interactions by namespace name.
    places: record where the names of features start in the block, until the next block: for a NameFinder, and for
        `unescapes`: names and labels of VW text have the escapes of escapes.pxd, and are those of a table.

    columns: parse simple lines of VW text by columns; faster, with the same result.

    One parser serves one thread at a time.
    """

    def __cinit__(self, str format="vw", *, bint hash_all=False, uint32_t hash_seed=0, str label_domain="any",
                  labels=None, ClassNames names=None, bint or_numbers=False, bint lenient_labels=False,
                  bint stop_at_fault=True, str loss_name="this loss",
                  bint columns=True, bint labels_in_tags=False, bint vw_compatible_only=False, bint spaces=False,
                  bint places=False):
        if type(self) is Parser and format not in ("vw", "libsvm"):
            raise ValueError(f"no such format: {format}")
        domains = {"any": ANY, "binary": BINARY, "nonnegative": NONNEGATIVE, "positive": POSITIVE, "ternary": TERNARY,
                   "log1p": LOG1P}
        if label_domain not in domains:
            raise ValueError(f"unknown domain of labels: {label_domain}")
        self.format, self.loss_name = format, loss_name
        self.is_libsvm = format == "libsvm"
        self.settings.strings = not hash_all
        self.settings.seed = hash_seed
        self.settings.unnamed = murmur(b"", 0, hash_seed)
        self.settings.domain = domains[label_domain]
        self.names = names
        self.settings.names = NULL if names is None else <void*>names
        self.settings.or_numbers = or_numbers and names is not None
        self.unfit = ClassNames(MOST_UNFIT, grows=True) if lenient_labels else None
        self.settings.unfit = <void*>self.unfit if lenient_labels else NULL
        self.settings.stop = stop_at_fault
        self.settings.labels_in_tags = labels_in_tags
        self.settings.vw_compatible_only = vw_compatible_only
        self.settings.spaces = spaces
        self.places = Places() if places else None
        if labels is not None:
            self.labels, self.settings.mapped = tuple(labels), True
            if isinstance(self.labels[0], str):
                if names is not None:
                    raise ValueError("labels are classes or two words")
                self.words = ClassNames(2, [word.encode("utf-8", "surrogateescape") for word in self.labels])
                self.settings.names = <void*>self.words
            else:
                self.settings.negative, self.settings.positive = self.labels

        if columns and format == "vw":
            self.columns = <FeatureColumns*>malloc(sizeof(FeatureColumns))
            if self.columns == NULL:
                raise MemoryError("no memory for a parser")

    def __dealloc__(self):
        free(self.scratch)
        free(self.unescaped)
        free(self.columns)

    def parse(self, block, Batch batch):
        """Clear the batch and fill it with the lines of the block. Returns the number of parse errors.

        A block is any buffer that begins with a line; its last line may lack the LF. Where
        batch.first_line is 1, a byte order mark before it is skipped.
        """
        cdef Py_buffer info
        cdef bint first = batch.first_line == 1
        cdef int failed
        if self.unfit is not None:
            self.unfit.forget(0)
        if batch.owner is not None:
            raise ValueError("this batch looks at foreign memory: it cannot be filled")
        batch.name_places = self.places
        PyObject_GetBuffer(block, &info, PyBUF_SIMPLE)
        try:
            if info.len > LARGEST_BLOCK:
                raise ValueError("a block has at most 2^30 bytes")
            with nogil:
                failed = self.fill(<const char*>info.buf, info.len, batch, first)
                if not failed and self.settings.unescapes:
                    failed = self.rehash(<const char*>info.buf, info.len, batch)
        finally:
            PyBuffer_Release(&info)
        if failed:
            raise MemoryError("no memory for a batch")
        return batch.fault_count

    cdef int fill(self, const char* data, size_t size, Batch batch, bint first) noexcept nogil:
        """`parse` without Python; -1 when memory is out."""
        cdef size_t whole = size, skip = 0, rest
        cdef int state
        batch.clear()
        if self.places is not None and batch.keep_places():
            return -1
        if batch.keep_spaces(self.settings.spaces) or batch.reserve(1, 1, 64, 0):
            return -1
        batch.a.tag_begin[0] = batch.a.span_begin[0] = batch.a.feature_begin[0] = 0
        if first and size >= 3 and memcmp(data, b"\xef\xbb\xbf", 3) == 0:
            skip = 3
        # In place: all lines that have PADDING readable bytes behind them.
        whole = size - PADDING if size > PADDING else 0
        while whole > 0 and data[whole - 1] != c'\n':
            whole -= 1
        if whole:
            state = self.lines(data, data + whole, 0, skip, batch)
            if state:
                return state if state < 0 else 0
            skip = 0
        # The rest: in a copy, with the LF that the last line may lack.
        rest = size - whole
        if rest == 0:
            return 0
        if reserve(<void**>&self.scratch, &self.scratch_size, rest + 1 + PADDING, 1):
            return -1
        memcpy(self.scratch, data + whole, rest)
        memset(self.scratch + rest, 0, PADDING + 1)
        if data[size - 1] != c'\n':
            self.scratch[rest] = c'\n'
            rest += 1
        state = self.lines(self.scratch, self.scratch + rest, whole, skip, batch)
        return state if state < 0 else 0

    cdef int rehash(self, const char* text, size_t size, Batch batch) noexcept nogil:
        """Hash the names with escapes without the escapes; -1: no memory."""
        cdef const TokenSettings* s = &self.settings
        cdef const Arrays* a = &batch.a
        cdef const char* end = text + size
        cdef const char* name
        cdef const char* space
        cdef size_t span, i, n
        cdef uint32_t seed
        cdef bint known
        if batch.name_begin == NULL or size == 0 or memchr(text, c'%', size) == NULL:
            return 0
        for span in range(a.spans):
            known, seed = False, s.unnamed
            for i in range(a.feature_begin[span], a.feature_begin[span + 1]):
                name = text + batch.name_begin[i]
                n = name_length(name, end)
                if n == 0 or memchr(name, c'%', n) == NULL:
                    continue
                if not known and a.letter[span] != c' ':
                    space = space_before(text, name)
                    seed = hash_of(s, space, name_length(space, end), s.seed)
                known = True
                if reserve(<void**>&self.unescaped, &self.unescaped_size, n, 1):
                    return -1
                a.hash[i] = hash_of(s, self.unescaped, unescape(self.unescaped, name, n), seed)
        return 0

    @property
    def zeros(self):
        return self.settings.zeros

    @zeros.setter
    def zeros(self, bint value):
        self.settings.zeros = value

    @property
    def unescapes(self):
        return self.settings.unescapes

    @unescapes.setter
    def unescapes(self, bint value):
        if value and self.places is None:
            raise ValueError("the parser does not note the places of names")
        self.settings.unescapes = value

    cdef inline uint32_t names_so_far(self) noexcept nogil:
        return (<ClassNames>self.settings.names).count if self.settings.names != NULL else 0

    cdef inline void forget_names(self, uint32_t count) noexcept nogil:
        """Remove names after the first `count`: they belong to lines that are dropped, or parsed again."""
        if self.settings.names != NULL:
            (<ClassNames>self.settings.names).forget(count)

    cdef int lines(self, const char* p, const char* end, size_t offset, size_t skip, Batch batch) noexcept nogil:
        """The lines in [p, end), the last byte of which is LF. `offset`: of p in the block. The first
        line begins with `skip` bytes to skip. -1 when memory is out, 1 if it stopped at an error."""
        batch.text = <size_t>p - offset
        if self.columns == NULL:
            return self.one_by_one(p, end, offset, skip, batch)
        return self.by_columns(p, end, offset, skip, batch)

    cdef int by_columns(self, const char* p, const char* end, size_t offset, size_t skip, Batch batch) noexcept nogil:
        """`lines` of VW text: simple lines by columns, the others one by one."""
        cdef FeatureColumns* c = self.columns
        cdef const char* base = p
        cdef const char* seen = p                # how far the delimiters are known
        cdef const uint32_t* m = c.positions     # those from p on, up to `last`
        cdef uint32_t* last = c.positions
        cdef Arrays start = batch.a              # the batch at the line where the columns start:
        cdef const char* begin = p
        cdef const char* next
        cdef Arrays before
        cdef size_t odd, lines, patience = 1
        cdef uint32_t named
        cdef int state
        c.size = c.slow_count = 0
        self.named = self.names_so_far()
        while p < end:
            if batch.reserve(1, MOST_DELIMITERS, MOST_DELIMITERS, 0):
                return -1
            before.spans, before.tag_bytes, odd = batch.a.spans, batch.a.tag_bytes, c.slow_count
            named = self.names_so_far()
            next = plain_line(&self.settings, batch, c, self.spaces, base, p, &m, last) if not skip else NULL
            if likely(next != NULL and next != p):
                p, patience = next, 1
                if c.size >= FULL or p == end:
                    state = self.take_columns(begin, p, offset + (begin - base), batch, &start)
                    if state:
                        return state
                    start, begin, self.named = batch.a, p, self.names_so_far()
                continue
            batch.a.spans, batch.a.tag_bytes, c.slow_count = before.spans, before.tag_bytes, odd
            self.forget_names(named)
            if next == p and seen < end:
                memmove(c.positions, m, (last - m) * sizeof(uint32_t))
                last = c.positions + (last - m)
                m = c.positions
                odd = find_delimiters(base, seen, end, last, MOST_DELIMITERS - (last - m), &seen)
                last += odd
                if odd:
                    continue
            # Not a simple line. The next ones are often like it: parse several lines one by one.
            if begin != p:
                state = self.take_columns(begin, p, offset + (begin - base), batch, &start)
                if state:
                    return state
            next = p
            for lines in range(patience):
                if next < end:
                    next = line_feed(next) + 1
            patience = min(2 * patience, <size_t>PATIENCE)
            state = self.one_by_one(p, next, offset + (p - base), skip, batch)
            if state:
                return state
            skip = 0
            p = next
            while m < last and base + m[0] < p:
                m += 1
            if seen < p:
                seen = p
            start, begin, self.named = batch.a, p, self.names_so_far()
        return 0

    cdef int take_columns(self, const char* p, const char* end, size_t offset, Batch batch, const Arrays* start) noexcept nogil:
        """Finish the lines [p, end), whose features are in the columns. start: the batch before them."""
        cdef FeatureColumns* c = self.columns
        cdef size_t i, text, first = batch.a.features - c.size
        cdef uint32_t* name_begin
        cdef long zeros = compute(c, self.settings.strings, batch.a.hash + first, batch.a.value + first)
        if unlikely(batch.name_begin != NULL):
            name_begin, text = batch.name_begin + first, batch.text
            for i in range(c.size):
                name_begin[i] = <uint32_t>(<size_t>c.name[i] - text)
        c.size = c.slow_count = 0
        if likely(zeros == 0) or (zeros > 0 and self.settings.zeros):
            return 0
        # A bad line, or features of value zero: parse the lines again, one by one.
        batch.a.lines, batch.a.spans = start.lines, start.spans
        batch.a.features, batch.a.tag_bytes = start.features, start.tag_bytes
        self.forget_names(self.named)
        return self.one_by_one(p, end, offset, 0, batch)

    cdef int one_by_one(self, const char* p, const char* end, size_t offset, size_t skip, Batch batch) noexcept nogil:
        """`lines`, one by one: for lines of any form."""
        cdef const char* base = p
        cdef const char* next
        cdef LineStart before
        cdef TokenError error
        cdef ParseError fault
        cdef uint32_t named
        while p < end:
            if unlikely(batch.a.lines + 1 >= batch.line_capacity) and batch.reserve(1, 0, 0, 0):
                return -1
            before = line_start(&batch.a)
            named = self.names_so_far()
            next = self.line(p + skip, batch, &error)
            skip = 0
            if likely(next != NULL):
                p = next
                continue
            rewind(&batch.a, &before)
            self.forget_names(named)
            if error.code == OUT_OF_MEMORY:
                return -1
            next = line_feed(error.end)
            fault.line, fault.code = <uint32_t>batch.a.lines, error.code
            fault.begin, fault.end = offset + (error.begin - base), offset + (error.end - base)
            fault.line_begin, fault.line_end = offset + (p - base), offset + (next - base)
            if batch.add_fault(&fault):
                return -1
            if self.settings.stop:
                return 1
            batch.a.label[batch.a.lines], batch.a.importance[batch.a.lines] = NAN, 1
            batch.a.initial[batch.a.lines] = 0
            p = close_line(batch, REJECTED, next)
        return 0

    cdef const char* line(self, const char* p, Batch batch, TokenError* error) noexcept nogil:
        """Parse a line into the batch; returns what follows it, NULL if it is invalid. Another grammar overrides this."""
        if self.is_libsvm:
            return libsvm_line(&self.settings, batch, p, error)
        return vw_line(&self.settings, batch, p, error)

    def as_vw(self, block, Batch batch not None):
        """The lines of the block that is in the batch as VW text, without invalid ones."""
        lines = bytes(block).removeprefix(b"\xef\xbb\xbf" if batch.first_line == 1 else b"").split(b"\n")
        found = []
        for kind, line in zip(batch.kind, lines):
            if kind == BLANK:
                found.append(b"\n")
            elif kind == EXAMPLE:
                found.append(self.line_as_vw(line) + b"\n")
        return b"".join(found)

    def line_as_vw(self, bytes line not None):
        """A valid line as VW text. Another grammar overrides this."""
        if not self.is_libsvm:
            return line
        words = line.partition(b"#")[0].split()
        label = words.pop(0) + b" " if words and b":" not in words[0] else b""
        return b" ".join([label + b"|", *words])

    @property
    def unfit_labels(self):
        """The first few different labels of the last block that cannot be used."""
        return self.unfit.first(self.unfit.count) if self.unfit is not None else []

    @staticmethod
    def faults(Batch batch not None):
        """The parse errors of the last `parse`, in order: the code, the number of the line in the batch, and as offsets
        into the block the begin and the end of the line and those of the invalid token."""
        cdef size_t i
        cdef ParseError* f = batch.faults
        return [(CODES[f[i].code], f[i].line, f[i].line_begin, f[i].line_end, f[i].begin, f[i].end)
                for i in range(batch.fault_count)]


def detect(first_bytes) -> str | None:
    """The format of a text, "vw" or "libsvm", by the first line that shows one; None if that line is
    neither. Text without any such line (blank, labels, comments) is taken for libsvm if it has a
    label or a comment and for VW if not."""
    found = "vw"
    for line in bytes(first_bytes).removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        words = line.partition(b"#")[0].split()
        if b"|" in line and not line.startswith(b"#"):
            return "vw"
        if any(re.match(rb"(-?\d+|qid):", word) for word in words[:2]):
            return "libsvm"
        if len(words) > 1 or (words and not re.fullmatch(rb"[-+.\deE]+", words[0])):
            return None
        if words or line.startswith(b"#"):
            found = "libsvm"
    return found


# --- for tests -----------------------------------------------------------------------------------

def murmur3(bytes data, uint32_t seed):
    """MurmurHash3_x86_32."""
    cdef const char* p = data
    return murmur(p, len(data), seed)


def name_hash(bytes name, uint32_t seed, bint hash_all=False):
    """The hash of a name, as in murmur.pxd."""
    cdef const char* p = name
    return murmur(p, len(name), seed) if hash_all else hash_strings(p, len(name), seed)


def window(bytes text, str other, bint portable=False):
    """The delimiters among the first 32 bytes of the text, as bits."""
    cdef bytes padded = text + bytes(PADDING)
    cdef char third = <char>ord(other)
    return delimiters_portable(padded, third) if portable else delimiters(padded, third)
