"""Lines of predictions: a number, the name of a class, or a number for each class; and the tag of the example.

A prediction goes through a link before it is written:

    identity    p
    logistic    1 / (1 + exp(-p))
    glf1        2 / (1 + exp(-p)) - 1
    poisson     exp(p)
"""

from libc.math cimport exp
from libc.stdlib cimport free
from libc.string cimport memcpy

from vwlite.core.base.buffers cimport copy, reserve
from vwlite.core.base.elementary cimport sigmoid
from vwlite.core.data.class_names cimport Names
from vwlite.core.text.decimal cimport LONGEST_NUMBER, write_number, write_short


cdef double linked(double p, Link link) noexcept nogil:
    if link == Link.LOGISTIC:
        return sigmoid(p)
    if link == Link.GLF1:
        return 2 * sigmoid(p) - 1
    if link == Link.POISSON:
        return exp(p)
    return p


cdef class Text:
    """Lines of output, waiting to be taken by Python. Whatever appends says -1 if there is no memory."""

    def __dealloc__(self):
        free(self.data)

    cdef int number_line(self, double number, const char* tag, size_t tag_size) noexcept nogil:
        """Append a number, the tag after a space if there is one, and a newline."""
        if self.reserve(LONGEST_NUMBER + tag_size + 2):
            return -1
        self.size += write_number(self.data + self.size, number)
        return self.end_line(tag, tag_size)

    cdef int empty_line(self) noexcept nogil:
        return self.end_line(NULL, 0)

    cdef int end_line(self, const char* tag, size_t tag_size) noexcept nogil:
        """Append the tag after a space if there is one, and a newline."""
        if self.reserve(tag_size + 2):
            return -1
        if tag_size:
            self.data[self.size] = c' '
            copy(self.data + self.size + 1, tag, tag_size)
            self.size += tag_size + 1
        self.data[self.size] = c'\n'
        self.size += 1
        return 0

    cdef int write(self, const char* text, size_t size) noexcept nogil:
        if self.reserve(size):
            return -1
        memcpy(self.data + self.size, text, size)
        self.size += size
        return 0

    cdef int write_number(self, double number, bint short) noexcept nogil:
        """Append a number as predictions are written; short: with at most six digits."""
        if self.reserve(LONGEST_NUMBER):
            return -1
        if short:
            self.size += write_short(self.data + self.size, number)
        else:
            self.size += write_number(self.data + self.size, number)
        return 0

    cdef int reserve(self, size_t n) noexcept nogil:
        return reserve(<void**>&self.data, &self.capacity, self.size + n, 1)

    def take(self):
        """What was written since the last call, as bytes."""
        taken = self.data[:self.size] if self.size else b""
        self.size = 0
        return taken


cdef class PredictionWriter:
    """Writes the lines of an example: its prediction, and what it was before clipping and link (`raw_predictions`).

    predictions, raw_predictions: whether these are wanted; the lines wait in attributes of these names.
    link: of predictions that are numbers. KeyError for another one.
    names: of the classes, if there are such. probabilities: write those of all classes, not the one that is predicted.
    """

    def __init__(self, *, bint predictions=False, bint raw_predictions=False, link="identity", Names names=None,
                 bint probabilities=False):
        self.writes, self.writes_raw = predictions, raw_predictions
        self.predictions, self.raw_predictions = Text(), Text()
        self.link, self.names, self.probabilities = Link[link.upper()], names, probabilities

    def linked(self, double p):
        """A prediction as it is written."""
        return linked(p, self.link)

    cdef int blank_line(self) noexcept nogil:
        """The line for what is no example."""
        if self.writes and self.predictions.empty_line():
            return -1
        return self.raw_predictions.empty_line() if self.writes_raw else 0

    cdef int score_line(self, double shown, double raw, const char* tag, size_t tag_size) noexcept nogil:
        """The line of a prediction that is a number."""
        if self.writes and self.predictions.number_line(linked(shown, self.link), tag, tag_size):
            return -1
        return self.raw_predictions.number_line(raw, tag, tag_size) if self.writes_raw else 0

    cdef int class_line(self, size_t number, size_t named, const double* class_probabilities, const double* scores,
                        const char* tag, size_t tag_size) noexcept nogil:
        """The name of the class that is predicted or all probabilities; and all scores.

        named: how many classes have a name. class_probabilities, scores: [named]; the first if they are wanted.
        """
        if self.writes:
            if self.probabilities:
                if self.write_all(self.predictions, named, class_probabilities):
                    return -1
            elif self.write_name(self.predictions, number):
                return -1
            if self.predictions.end_line(tag, tag_size):
                return -1
        if self.writes_raw:
            if self.write_all(self.raw_predictions, named, scores):
                return -1
            return self.raw_predictions.end_line(tag, tag_size)
        return 0

    cdef int write_name(self, Text text, size_t number) noexcept nogil:
        if number == 0:
            return text.write(b"?", 1)
        return text.write(self.names.names[number - 1].text, self.names.names[number - 1].size)

    cdef int write_all(self, Text text, size_t named, const double* numbers) noexcept nogil:
        """NAME:NUMBER for each class that has a name, with blanks between them."""
        cdef size_t k
        for k in range(named):
            if k > 0 and text.write(b" ", 1):
                return -1
            if self.write_name(text, k + 1) or text.write(b":", 1):
                return -1
            if text.write_number(numbers[k], self.short_numbers):
                return -1
        return 0
