"""From a block of text to a batch: VW text and libsvm.

A pure function of the bytes and a few settings. Inside, without the GIL, a line is read once from left to
right; names and numbers are taken eight bytes at a time where the block has eight more. Nothing is
allocated per line once the batch is warm, nothing is raised: a bad line is a code and a place, and becomes a
sentence only when Python asks. Each line gives one entry of the batch, so the number of a line is that of
its entry.

    VW text   [label [importance [initial]]] ['tag]|namespace[:weight] name[:value] ... |...
    libsvm    [label] index:value ... [# comment]
"""

from libc.math cimport NAN, isinf, isnan
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy, memset

from vwlite.core.batch cimport BLANK, EXAMPLE, REJECTED, Batch, Fault
from vwlite.core.murmur cimport hash_name, murmur, murmur_short
from vwlite.core.numbers cimport count_trailing_zeros, exact_number, load_word, scan_number, settles_as_float

import sys
from typing import NamedTuple

if sys.byteorder != "little":
    raise ImportError("vwlite needs a little-endian machine")

cdef enum Domain:
    ANY
    BINARY
    NONNEGATIVE

cdef enum Code:
    FINE = 0
    BLANK_LINE = -1
    NO_MEMORY = -2
    LABEL_NUMBER = 1
    LABEL_BINARY
    LABEL_NONNEGATIVE
    LABEL_UNMAPPED
    IMPORTANCE_NUMBER
    IMPORTANCE_NEGATIVE
    INITIAL_NUMBER
    HEADER_WORDS
    NO_BAR
    NAMESPACE_NAME
    SCALE_NUMBER
    VALUE_MISSING
    VALUE_NUMBER
    VALUE_RANGE
    CARRIAGE_RETURN
    INDEX_VALUE
    INDEX_NUMBER
    INDEX_ZERO
    INDEX_ORDER
    INDEX_REPEATED
    INDEX_LARGE
    QUERY

MESSAGES = {
    LABEL_NUMBER: "label '{0}' is not a {finite}number",
    LABEL_BINARY: "label {0}: {loss} needs -1 or 1; for 0/1 labels add --labels 0,1",
    LABEL_NONNEGATIVE: "label {0}: {loss} needs a label of 0 or more",
    LABEL_UNMAPPED: "label {0}: expected {negative} or {positive}, as --labels says",
    IMPORTANCE_NUMBER: "importance '{0}' is not a {finite}number",
    IMPORTANCE_NEGATIVE: "importance {0} is negative; 0 keeps an example from being learned",
    INITIAL_NUMBER: "initial prediction '{0}' is not a {finite}number",
    HEADER_WORDS: "'{0}' is too much: before the '|' stand a label, an importance, an initial prediction and a tag",
    NO_BAR: "no '|' before the features",
    NAMESPACE_NAME: "the name of the namespace is missing between '|' and ':'",
    SCALE_NUMBER: "namespace weight '{0}' is not a {finite}number",
    VALUE_MISSING: "expected a number after ':'",
    VALUE_NUMBER: "feature value '{0}' is not a {finite}number",
    VALUE_RANGE: "feature value '{0}' is too large",
    CARRIAGE_RETURN: "a carriage return inside the line",
    INDEX_VALUE: "'{0}': expected index:value",
    INDEX_NUMBER: "index '{0}' is not a whole number",
    INDEX_ZERO: "index {0}: the first index is 1",
    INDEX_ORDER: "index {0} comes after a larger one; indices must ascend",
    INDEX_REPEATED: "index {0} is repeated",
    INDEX_LARGE: "index {0} is above 4294967295",
    QUERY: "'{0}': queries (qid) are for ranking, which is not supported; remove them",
}

SHOWN = 40      # bytes of a token in a message


class BadLine(NamedTuple):
    """What is wrong with a line of a block."""

    line: int           # from 0, within the block
    column: int         # in bytes, from 1
    message: str
    line_begin: int     # offsets into the block
    line_end: int


cdef inline bint is_space(char c) noexcept nogil:
    return c == 32 or c == 9


cdef inline uint64_t at_most_space(uint64_t word) noexcept nogil:
    """The high bit of each byte up to the space; right up to the first of them."""
    return (word - <uint64_t>0x2121212121212121) & ~word & <uint64_t>0x8080808080808080


cdef inline uint64_t equal_to(uint64_t word, uint64_t repeated) noexcept nogil:
    """The high bit of each byte that is the repeated one; right up to the first of them."""
    cdef uint64_t x = word ^ repeated
    return (x - <uint64_t>0x0101010101010101) & ~x & <uint64_t>0x8080808080808080


cdef inline const char* token_end(const char* p, const char* end) noexcept nogil:
    """The first space, tab or bar from p."""
    while p < end and not is_space(p[0]) and p[0] != 124:
        p += 1
    return p


cdef inline const char* name_end(const char* p, const char* end) noexcept nogil:
    """The first space, tab, colon, bar or carriage return from p, a byte at a time."""
    while p < end and not is_space(p[0]) and p[0] != 58 and p[0] != 124 and p[0] != 13:
        p += 1
    return p


cdef class Parser:
    """Parses blocks of one format.

    format: `vw` or `libsvm`. hash_all: murmur digits too. label_domain: `any`, `binary` (-1 or 1) or
    `nonnegative`; loss_name: whose domain that is, for messages. labels: the two labels that mean -1 and
    1. lenient_labels: what the loss cannot use counts as no label. stop_at_fault: end the batch before the first
    bad line; else bad lines have an entry of kind REJECTED.
    """

    def __init__(self, format="vw", *, bint hash_all=False, uint32_t hash_seed=0, label_domain="any",
                 loss_name="the loss", labels=None, bint lenient_labels=False, bint stop_at_fault=True):
        if format not in ("vw", "libsvm"):
            raise ValueError(f"unknown format {format!r}")
        self.format, self.libsvm = format, format == "libsvm"
        self.hash_all, self.hash_seed = hash_all, hash_seed
        self.domain = {"any": ANY, "binary": BINARY, "nonnegative": NONNEGATIVE}[label_domain]
        self.loss_name = loss_name
        self.mapped = labels is not None
        self.negative, self.positive = labels or (-1, 1)
        self.lenient_labels, self.stop_at_fault = lenient_labels, stop_at_fault

    def parse(self, const unsigned char[::1] block, Batch batch not None):
        """Fill the batch with the lines of a block; the number of bad lines.

        block: whole lines; the newline of the last one may be missing. If batch.first_line is 1, a byte
        order mark at its beginning is skipped.
        """
        cdef bint first = batch.first_line == 1
        cdef size_t size = block.shape[0]
        cdef const char* data = <const char*>&block[0] if size else NULL
        if batch.owner is not None:
            raise ValueError("this batch is a view")
        with nogil:
            batch.clear()
            self.lines(data, size, batch, first)
        if batch.fault_count and batch.faults[batch.fault_count - 1].code == <uint32_t>NO_MEMORY:
            raise MemoryError("no memory for a batch")
        return batch.fault_count

    def faults(self, const unsigned char[::1] block, Batch batch not None):
        """What was wrong with the lines of the block that was parsed into the batch."""
        cdef size_t i
        found = []
        for i in range(batch.fault_count):
            f = batch.faults[i]
            token = bytes(block[f.begin:min(f.end, f.begin + SHOWN + 1)])
            found.append(BadLine(f.line, f.begin - f.line_begin + 1, self._message(f.code, token),
                                 f.line_begin, f.line_end))
        return found

    def _message(self, code, token):
        """The sentence for a code."""
        bare = token.lstrip(b"+-").lower()
        finite = "finite " if bare in (b"nan", b"inf", b"infinity") else ""
        cut = token[:SHOWN]
        if len(token) > SHOWN:      # not within a character
            while cut and token[len(cut)] & 0xC0 == 0x80:
                cut = cut[:-1]
        shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut.decode("utf-8", "backslashreplace"))
        return MESSAGES[code].format(shown + "..." * (len(token) > SHOWN), finite=finite, loss=self.loss_name,
                                     negative=f"{self.negative:g}", positive=f"{self.positive:g}")

    cdef void lines(self, const char* data, size_t size, Batch batch, bint first) noexcept nogil:
        cdef const char* p = data
        cdef const char* limit = data + size
        cdef const char* end
        cdef const char* next_line
        cdef int code
        cdef size_t n, spans, features, tag_bytes
        cdef Fault fault
        if batch.reserve(1, 1, 0, 0):       # for the closing begins
            return
        if first and size >= 3 and memcmp3(p):
            p += 3
        while p < limit:
            end = <const char*>memchr(p, 10, limit - p)
            next_line = limit
            if end != NULL:
                next_line = end + 1
            else:
                end = limit
            if end > p and end[-1] == 13:
                end -= 1
            n = end - p
            if batch.reserve(1, n // 2 + 2, n // 2 + 2, n):
                memset(&fault, 0, sizeof(Fault))
                fault.code = <uint32_t>NO_MEMORY
                batch.add_fault(&fault)
                break
            n = batch.a.lines
            spans, features, tag_bytes = batch.a.spans, batch.a.features, batch.a.tag_bytes
            batch.a.span_begin[n] = <uint32_t>spans
            batch.a.tag_begin[n] = <uint32_t>tag_bytes
            batch.a.label[n] = NAN
            batch.a.importance[n] = 1
            batch.a.initial[n] = 0
            batch.a.kind[n] = EXAMPLE
            if self.libsvm:
                code = self.libsvm_line(p, end, limit, batch)
            else:
                code = self.vw_line(p, end, limit, batch)
            if code != FINE:
                batch.a.spans, batch.a.features, batch.a.tag_bytes = spans, features, tag_bytes
                batch.a.label[n] = NAN
                batch.a.importance[n] = 1
                batch.a.initial[n] = 0
                batch.a.kind[n] = BLANK if code == BLANK_LINE else REJECTED
            if code > FINE:
                fault.line, fault.code = <uint32_t>n, <uint32_t>code
                fault.begin, fault.end = self.fault_begin - data, self.fault_end - data
                fault.line_begin, fault.line_end = p - data, next_line - data
                if batch.add_fault(&fault):
                    fault.code = <uint32_t>NO_MEMORY
                if self.stop_at_fault:
                    break
            batch.a.lines += 1
            p = next_line
        batch.a.span_begin[batch.a.lines] = <uint32_t>batch.a.spans
        batch.a.tag_begin[batch.a.lines] = <uint32_t>batch.a.tag_bytes
        batch.a.feature_begin[batch.a.spans] = <uint32_t>batch.a.features

    cdef int fail(self, int code, const char* begin, const char* end) noexcept nogil:
        self.fault_begin, self.fault_end = begin, end
        return code

    cdef int number(self, const char* p, const char* end, double* out) noexcept nogil:
        """The finite number that [p, end) spells; nonzero if it does not."""
        cdef bint rough
        if scan_number(p, end, out, &rough) != end or p == end:
            return 1
        if rough and exact_number(p, end, out):
            return 1
        return isinf(out[0])

    cdef int label(self, const char* p, const char* end, double* out) noexcept nogil:
        """The label that [p, end) spells, as the loss wants it."""
        cdef double y = 0
        cdef int code = FINE
        if self.number(p, end, &y):
            return self.fail(LABEL_NUMBER, p, end)
        if self.mapped:
            if y == self.negative:
                y = -1
            elif y == self.positive:
                y = 1
            else:
                code = LABEL_UNMAPPED
        elif self.domain == BINARY and y != 1 and y != -1:
            code = LABEL_BINARY
        if self.domain == NONNEGATIVE and y < 0:
            code = LABEL_NONNEGATIVE
        if code != FINE:
            if not self.lenient_labels:
                return self.fail(code, p, end)
            y = NAN
        out[0] = y
        return FINE

    cdef inline int value(self, const char** p, const char* end, const char* limit, float* out) noexcept nogil:
        """The value at p, up to the next space, tab, bar or the end."""
        cdef const char* begin = p[0]
        cdef double v = 0
        cdef bint rough
        cdef const char* stop = scan_number(begin, end, &v, &rough)
        if stop == NULL or (stop != end and not is_space(stop[0]) and stop[0] != 124):
            stop = token_end(begin, end)
            return self.fail(VALUE_MISSING if stop == begin else VALUE_NUMBER, begin, stop)
        if rough and not settles_as_float(v) and exact_number(begin, stop, &v):
            return self.fail(VALUE_NUMBER, begin, stop)
        out[0] = <float>v
        if isinf(out[0]):
            return self.fail(VALUE_RANGE, begin, stop)
        p[0] = stop
        return FINE

    cdef int header(self, const char* p, const char* end, Batch batch) noexcept nogil:
        """What stands before the first bar: label, importance, initial prediction, tag."""
        cdef size_t line = batch.a.lines
        cdef const char* begins[4]
        cdef const char* ends[4]
        cdef const char* begin
        cdef size_t n, words = 0
        cdef int code
        while True:
            while p < end and is_space(p[0]):
                p += 1
            if p == end:
                break
            begin = p
            while p < end and not is_space(p[0]):
                if p[0] == 13:
                    return self.fail(CARRIAGE_RETURN, p, p + 1)
                p += 1
            if p == end or (begin[0] == 39 and only_space(p, end)):      # touches the bar, or 'tag
                begin += begin[0] == 39
                n = p - begin
                memcpy(batch.a.tags + batch.a.tag_bytes, begin, n)
                batch.a.tag_bytes += n
                break
            if words == 3:
                return self.fail(HEADER_WORDS, begin, p)
            begins[words], ends[words] = begin, p
            words += 1
        if words > 0:
            code = self.label(begins[0], ends[0], &batch.a.label[line])
            if code != FINE:
                return code
        if words > 1:
            if self.number(begins[1], ends[1], &batch.a.importance[line]):
                return self.fail(IMPORTANCE_NUMBER, begins[1], ends[1])
            if batch.a.importance[line] < 0:
                return self.fail(IMPORTANCE_NEGATIVE, begins[1], ends[1])
        if words > 2:
            if self.number(begins[2], ends[2], &batch.a.initial[line]):
                return self.fail(INITIAL_NUMBER, begins[2], ends[2])
        return FINE

    cdef int vw_line(self, const char* p, const char* end, const char* limit, Batch batch) noexcept nogil:
        cdef const char* bar = <const char*>memchr(p, 124, end - p)
        cdef const char* begin
        cdef const char* stop
        cdef uint32_t* hashes
        cdef float* values
        cdef size_t features
        cdef uint32_t space, h, unnamed
        cdef uint64_t word, stops
        cdef uint8_t letter
        cdef double weight
        cdef float scale, x
        cdef int code, size
        cdef bint hash_all = self.hash_all
        if bar == NULL:
            if only_space(p, end):
                return BLANK_LINE
            return self.fail(NO_BAR, p, end)
        code = self.header(p, bar, batch)
        if code != FINE:
            return code
        hashes, values, features = batch.a.hash, batch.a.value, batch.a.features
        p = bar
        while p < end:
            # A namespace; p is at its bar.
            p += 1
            scale = 1
            letter = 32
            space = self.hash_seed if self.hash_seed == 0 else murmur(p, 0, self.hash_seed)
            if p < end and not is_space(p[0]) and p[0] != 124:
                begin = p
                p = name_end(p, end)
                if p == begin and p[0] == 58:
                    return self.fail(NAMESPACE_NAME, p, p + 1)
                if p < end and p[0] == 13:
                    return self.fail(CARRIAGE_RETURN, p, p + 1)
                letter = <uint8_t>begin[0]
                if hash_all:
                    space = murmur(begin, p - begin, self.hash_seed)
                else:
                    space = hash_name(begin, p - begin, self.hash_seed)
                if p < end and p[0] == 58:
                    begin = p + 1
                    p = token_end(begin, end)
                    if self.number(begin, p, &weight) or isinf(<float>weight):
                        return self.fail(SCALE_NUMBER, begin, p)
                    scale = <float>weight
            batch.a.letter[batch.a.spans] = letter
            batch.a.feature_begin[batch.a.spans] = <uint32_t>features
            unnamed = 0
            while True:
                while p < end and is_space(p[0]):
                    p += 1
                if p == end or p[0] == 124:
                    break
                begin = p
                # The name. Its end is the first byte that is at most a space, a colon or a bar; one of them is at
                # `end` at the latest, unless the block ends there.
                word = load_word(p, limit)
                stops = (at_most_space(word) | equal_to(word, <uint64_t>0x3A3A3A3A3A3A3A3A)
                         | equal_to(word, <uint64_t>0x7C7C7C7C7C7C7C7C))
                if stops:
                    size = count_trailing_zeros(stops) >> 3
                    p += size
                    if p < end and p[0] <= 32 and p[0] >= 0 and not is_space(p[0]) and p[0] != 13:
                        p = name_end(p, end)        # a control character inside of a name
                        h = murmur(begin, p - begin, space) if hash_all else hash_name(begin, p - begin, space)
                    elif size and (hash_all or not 48 <= begin[0] <= 57):
                        h = murmur_short(word, size, space)
                    elif size:
                        h = hash_name(begin, size, space)
                    else:       # no name
                        h = space + unnamed
                        unnamed += 1
                else:
                    p = long_name_end(p + 8, end, limit)
                    if hash_all or not 48 <= begin[0] <= 57:
                        h = murmur(begin, p - begin, space)
                    else:
                        h = hash_name(begin, p - begin, space)
                x = scale
                if p < end:
                    if p[0] == 58:
                        p += 1
                        code = self.value(&p, end, limit, &x)
                        if code != FINE:
                            return code
                        x *= scale
                        if isinf(x):
                            return self.fail(VALUE_RANGE, begin, p)
                    elif p[0] == 13:
                        return self.fail(CARRIAGE_RETURN, p, p + 1)
                if x != 0:
                    hashes[features] = h
                    values[features] = x
                    features += 1
            if features > batch.a.features:
                batch.a.spans += 1
                batch.a.features = features
        return FINE

    cdef int libsvm_line(self, const char* p, const char* end, const char* limit, Batch batch) noexcept nogil:
        cdef size_t line = batch.a.lines
        cdef size_t first = batch.a.features
        cdef const char* begin
        cdef const char* stop
        cdef uint64_t index, last = 0
        cdef float x
        cdef int code
        stop = <const char*>memchr(p, 35, end - p)      # a comment
        if stop != NULL:
            end = stop
        while p < end and is_space(p[0]):
            p += 1
        if p == end:
            return BLANK_LINE
        stop = p
        while stop < end and not is_space(stop[0]) and stop[0] != 58:
            stop += 1
        if stop == end or stop[0] != 58:        # a label
            code = self.label(p, stop, &batch.a.label[line])
            if code != FINE:
                return code
            p = stop
        while True:
            while p < end and is_space(p[0]):
                p += 1
            if p == end:
                break
            begin = p
            index = 0
            while p < end and 48 <= p[0] <= 57:
                if index <= <uint64_t>0xFFFFFFFF:
                    index = index * 10 + <uint64_t>(p[0] - 48)
                p += 1
            if p == end or p[0] != 58 or p == begin:
                stop = space_end(begin, end)
                p = <const char*>memchr(begin, 58, stop - begin)
                if p == NULL:
                    return self.fail(INDEX_VALUE, begin, stop)
                if p - begin == 3 and begin[0] == 113 and begin[1] == 105 and begin[2] == 100:
                    return self.fail(QUERY, begin, stop)
                if begin[0] == 45 and all_digits(begin + 1, p):
                    return self.fail(INDEX_ZERO, begin, p)
                return self.fail(INDEX_NUMBER, begin, p)
            if index > <uint64_t>0xFFFFFFFF:
                return self.fail(INDEX_LARGE, begin, p)
            if index <= last:
                return self.fail(INDEX_ZERO if index == 0 else INDEX_REPEATED if index == last else INDEX_ORDER,
                                 begin, p)
            last = index
            p += 1
            begin = p
            code = self.value(&p, end, limit, &x)
            if code != FINE:
                return code
            if p < end and p[0] == 124:
                return self.fail(VALUE_NUMBER, begin, space_end(p, end))
            if x != 0:
                batch.a.hash[batch.a.features] = <uint32_t>index
                if self.hash_all:
                    batch.a.hash[batch.a.features] = decimal_hash(<uint32_t>index, self.hash_seed)
                batch.a.value[batch.a.features] = x
                batch.a.features += 1
        if batch.a.features > first:
            batch.a.letter[batch.a.spans] = 32
            batch.a.feature_begin[batch.a.spans] = <uint32_t>first
            batch.a.spans += 1
        return FINE


cdef inline bint memcmp3(const char* p) noexcept nogil:
    """Whether a byte order mark stands at p."""
    return <uint8_t>p[0] == 0xEF and <uint8_t>p[1] == 0xBB and <uint8_t>p[2] == 0xBF


cdef inline bint only_space(const char* p, const char* end) noexcept nogil:
    while p < end and is_space(p[0]):
        p += 1
    return p == end


cdef inline bint all_digits(const char* p, const char* end) noexcept nogil:
    while p < end and 48 <= p[0] <= 57:
        p += 1
    return p == end


cdef inline const char* space_end(const char* p, const char* end) noexcept nogil:
    while p < end and not is_space(p[0]):
        p += 1
    return p


cdef inline const char* long_name_end(const char* p, const char* end, const char* limit) noexcept nogil:
    """As name_end, eight bytes at a time."""
    cdef uint64_t word, stops
    while True:
        word = load_word(p, limit)
        stops = (at_most_space(word) | equal_to(word, <uint64_t>0x3A3A3A3A3A3A3A3A)
                 | equal_to(word, <uint64_t>0x7C7C7C7C7C7C7C7C))
        if stops:
            p += count_trailing_zeros(stops) >> 3
            if p >= end:
                return end
            if p[0] > 32 or is_space(p[0]) or p[0] == 13:
                return p
            return name_end(p, end)     # a control character inside of a name
        p += 8


cdef uint32_t decimal_hash(uint32_t n, uint32_t seed) noexcept nogil:
    """The murmur hash of a number's decimal digits."""
    cdef char digits[10]
    cdef int at = 10
    while True:
        at -= 1
        digits[at] = 48 + <char>(n % 10)
        n //= 10
        if n == 0:
            return murmur(digits + at, 10 - at, seed)


def detect(const unsigned char[::1] data):
    """The format of a text by its first lines: `vw`, `libsvm`, `auto` if all are blank, None if neither."""
    text = bytes(data[:1 << 16])
    lines = text.split(b"\n")
    if len(lines) > 1 and len(text) == 1 << 16:
        lines.pop()
    for line in lines[:100]:
        line = line.removeprefix(b"\xef\xbb\xbf").strip()
        if not line or line.startswith(b"#"):
            continue
        if b"|" in line:
            return "vw"
        words = line.split(b"#")[0].split()
        pairs = words if b":" in words[0] else words[1:]
        if (b":" in words[0] or _is_number(words[0])) and all(b":" in word for word in pairs):
            return "libsvm"
        return None
    return "auto"


def _is_number(word):
    try:
        float(word)
    except ValueError:
        return False
    return True


def hash_of(bytes name, uint32_t seed=0, bint hash_all=False):
    """The compiled hash of a name, for tests."""
    cdef const char* p = name
    return murmur(p, len(name), seed) if hash_all else hash_name(p, len(name), seed)


def short_hash_of(bytes name, uint32_t seed=0):
    """The compiled hash of a name of less than eight bytes by the way without loops, for tests."""
    cdef const char* p = name
    if len(name) >= 8:
        raise ValueError("seven bytes at most")
    return murmur_short(load_word(p, p + len(name)), len(name), seed)
