"""Which lines of a batch have a label that the engine's loop can take, and what their labels are.

The others go alone, by way of Python, which has something to say of them, or to learn from them: labels that the loss
does not expect, importances that are not positive, words that name no class.
"""

from libc.math cimport NAN, isnan
from libc.stdint cimport uint32_t
from libc.stdlib cimport free
from libc.string cimport memchr

from vwlite.core.base.buffers cimport copy, reserve
from vwlite.core.data.batch cimport EXAMPLE, Arrays, Batch
from vwlite.core.data.class_names cimport ClassNames


cdef double plain_number(const char* p, const char* end) noexcept nogil:
    """A number in at most 15 bytes, digits and perhaps a point between them, in single precision; else NaN."""
    cdef double whole = 0, unit = 1
    cdef bint point = False
    cdef const char* at = p
    if p == end or end - p > 15 or (end - 1)[0] == c'.' or p[0] == c'.':
        return NAN
    while at < end:
        if at[0] == c'.' and not point:
            point = True
        elif c'0' <= at[0] <= c'9':
            whole = 10 * whole + (at[0] - c'0')
            unit = 10 * unit if point else unit
        else:
            return NAN
        at += 1
    return <float>(whole / unit)


cdef class ExpectedLabels:
    """The labels of a batch.

    low, high: the range of expected labels, or the only two, if `only_ends`. needed: a line without a label is
    not expected either. class_names: given if labels are words in front of the tags: the name of a class and perhaps
    an importance, then a NUL. Then labels are the numbers of classes.
    """

    def __init__(self, double low, double high, bint only_ends, *, bint needed=False, ClassNames class_names=None):
        self.low, self.high, self.only_ends, self.needed, self.class_names = low, high, only_ends, needed, class_names

    def __dealloc__(self):
        free(self.label)
        free(self.importance)
        free(self.tag_begin)
        free(self.tags)

    def take(self, Batch batch not None):
        """The labels are those of this batch from now on."""
        self.batch = batch
        if self.class_names is None:
            return
        if (reserve(<void**>&self.label, &self.label_capacity, batch.a.lines, sizeof(double))
                or reserve(<void**>&self.importance, &self.importance_capacity, batch.a.lines, sizeof(double))
                or reserve(<void**>&self.tag_begin, &self.tag_begin_capacity, batch.a.lines + 1, sizeof(uint32_t))
                or reserve(<void**>&self.tags, &self.tag_capacity, batch.a.tag_bytes + 1, 1)):
            raise MemoryError("no memory for the labels of a batch")
        with nogil:
            self.decode(&batch.a)

    cdef void decode(self, const Arrays* a) noexcept nogil:
        """Take the labels and importances out of the tags; an importance of NaN: the words are not expected."""
        cdef size_t line
        cdef const char* tag
        cdef const char* end
        cdef const char* bar
        self.tag_begin[0] = 0
        for line in range(a.lines):
            self.label[line] = self.importance[line] = NAN
            self.tag_begin[line + 1] = self.tag_begin[line]
            tag, end = a.tags + a.tag_begin[line], a.tags + a.tag_begin[line + 1]
            bar = <const char*>memchr(tag, 0, end - tag) if end > tag else NULL
            if bar == NULL:
                continue
            self.decode_words(line, tag, bar)
            copy(self.tags + self.tag_begin[line], bar + 1, end - bar - 1)
            self.tag_begin[line + 1] += <uint32_t>(end - bar - 1)

    cdef void decode_words(self, size_t line, const char* p, const char* end) noexcept nogil:
        cdef const char* word = p
        cdef uint32_t number
        if p == end:
            self.importance[line] = 1
            return
        while p < end and p[0] != c' ':
            p += 1
        number = self.class_names.find(word, p - word)
        if number == 0:
            return
        self.label[line] = number
        self.importance[line] = 1 if p == end else plain_number(p + 1, end)

    cdef void show(self, Arrays* a) noexcept nogil:
        """Set the arrays of the batch from the words in the tags."""
        if self.class_names is not None:
            a.label, a.importance, a.tag_begin, a.tags = self.label, self.importance, self.tag_begin, self.tags

    def next_unexpected(self, size_t begin):
        """The first line from there on whose label is not expected; the end of the batch, if all are expected."""
        cdef Arrays a = self.batch.a
        cdef size_t line
        self.show(&a)
        with nogil:
            for line in range(begin, a.lines):
                if a.kind[line] == EXAMPLE and not self.expects(a.label[line], a.importance[line]):
                    break
            else:
                line = a.lines
        return line

    cdef inline bint expects(self, double label, double importance) noexcept nogil:
        if not importance > 0:
            return False
        if isnan(label):
            return not self.needed
        if self.only_ends:
            return label == self.low or label == self.high
        return self.low <= label <= self.high
