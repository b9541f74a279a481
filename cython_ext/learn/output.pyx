"""Prediction lines: a number, several quantiles, the name of a class, or a number per class; and the tag of the example. A
name or tag with blanks is escaped there, as in VW text.

A prediction goes through a link before it is written:

    identity    p
    logistic    1 / (1 + exp(-p))
    glf1        2 / (1 + exp(-p)) - 1
    poisson     exp(p)
    log         exp(p)
    expm1       exp(p) - 1

Numbers have as few digits as tell them from other 32-bit floats.

With format `csv` or `json`, a line is a row of columns instead; a row for an invalid line has empty cells, or nulls:

    tag, label, score               the score is p; a missing label or tag is an empty cell
    tag, label, class, score        with classes: the predicted one
    probability                     of label 1, or of the class, if the model gives probabilities
    prediction                      p through a link other than identity and logistic; with a threshold, a label
    probability_CLASS ...           of each class; in JSON `probabilities`, an object
    class_1, probability_1 ...      the most probable classes; in JSON `top`, a list of objects
    quantile_TAU ...                in place of the score, of each quantile; in JSON `quantiles`, an object
"""

from libc.math cimport NAN, isnan
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, strlen

from vwlite.core.base.buffers cimport copy, reserve
from vwlite.core.base.decimal cimport LONGEST_NUMBER, write_label, write_number, write_short, write_shortest
from vwlite.core.base.elementary cimport exp, expm1, sigmoid
from vwlite.core.base.escapes cimport escape
from vwlite.core.base.utf8 cimport character
from vwlite.core.data.class_names cimport ClassName, ClassNames


cdef double linked(double p, Link link) noexcept nogil:
    if link == Link.LOGISTIC:
        return sigmoid(p)
    if link == Link.GLF1:
        return 2 * sigmoid(p) - 1
    if link == Link.POISSON or link == Link.LOG:
        return exp(p)
    return expm1(p) if link == Link.EXPM1 else p


cdef extern from *:
    """
    /* The text before the value of each column of JSON, in the order of Field; CSV has a comma. */
    static const char *const vwlite_leads[] = {
        "{\\"tag\\": ", ", \\"label\\": ", ", \\"class\\": ", ", \\"score\\": ", ", \\"probability\\": ",
        ", \\"prediction\\": ", ", \\"probabilities\\": ", ", \\"top\\": ", ", \\"quantiles\\": "};
    static const char vwlite_hex[] = "0123456789abcdef";
    """
    const char** LEADS "vwlite_leads"
    const char* HEX "vwlite_hex"


cdef int write_form(char* out, double number, Form form) noexcept nogil:
    if form == Form.SHORTEST:
        return write_shortest(out, number)
    if form == Form.LABEL:
        return write_label(out, number)
    return write_number(out, number) if form == Form.SIX_DECIMALS else write_short(out, number)


def number_text(double number, form="shortest"):
    """A number in this form, as text."""
    cdef char text[LONGEST_NUMBER]
    return text[:write_form(text, number, Form[form.upper()])].decode()


cdef class Text:
    """Lines of output until Python takes them. Methods that append return -1 without memory."""

    def __dealloc__(self):
        free(self.data)

    cdef int empty_line(self) noexcept nogil:
        return self.end_line(NULL, 0)

    cdef int end_line(self, const char* tag, size_t tag_size) noexcept nogil:
        """Append the tag after a space if there is one, and a newline."""
        if tag_size and (self.write(b" ", 1) or self.word(tag, tag_size)):
            return -1
        return self.write(b"\n", 1)

    cdef int write(self, const char* text, size_t size) noexcept nogil:
        if self.reserve(size):
            return -1
        memcpy(self.data + self.size, text, size)
        self.size += size
        return 0

    cdef int word(self, const char* text, size_t size) noexcept nogil:
        """Append a name or a tag as one word: with blanks or control characters it is escaped."""
        cdef size_t i
        for i in range(size):
            if <uint8_t>text[i] <= 0x20:
                break
        else:
            return self.write(text, size)
        if self.reserve(3 * size):
            return -1
        self.size += escape(self.data + self.size, text, size, False)
        return 0

    cdef int number(self, double number, Form form) noexcept nogil:
        if self.reserve(LONGEST_NUMBER):
            return -1
        self.size += write_form(self.data + self.size, number, form)
        return 0

    cdef int reserve(self, size_t n) noexcept nogil:
        return reserve(<void**>&self.data, &self.capacity, self.size + n, 1)

    cdef int csv_cell(self, const char* text, size_t size, char delimiter=c',') noexcept nogil:
        """Append a cell, in quotes if it has the delimiter, a quote or a line end."""
        cdef size_t i
        cdef bint unquoted = True
        if self.reserve(2 * size + 2):
            return -1
        for i in range(size):
            if text[i] == delimiter or text[i] == c'"' or text[i] == c'\n' or text[i] == c'\r':
                unquoted = False
                break
        if unquoted:
            copy(self.data + self.size, text, size)
            self.size += size
            return 0
        self.put(c'"')
        for i in range(size):
            if text[i] == c'"':
                self.put(c'"')
            self.put(text[i])
        self.put(c'"')
        return 0

    cdef int json_string(self, const char* text, size_t size) noexcept nogil:
        """Append a string of JSON. Bytes that are not UTF-8 are U+DC80 to U+DCFF, as in Python."""
        cdef size_t i = 0, n
        cdef uint32_t c
        if self.reserve(6 * size + 2):
            return -1
        self.put(c'"')
        while i < size:
            n = character(<const uint8_t*>text + i, size - i, &c)
            if n == 0:
                c, n = 0xDC00 + <uint8_t>text[i], 1
            elif c >= 0x20 and c != c'"' and c != c'\\' and c != 0x7F:
                copy(self.data + self.size, text + i, n)
                self.size += n
                i += n
                continue
            i += n
            self.put(c'\\')
            if c == c'"' or c == c'\\':
                self.put(<char>c)
                continue
            self.put(c'u')
            for n in range(4):
                self.put(HEX[c >> (12 - 4 * n) & 15])
        self.put(c'"')
        return 0

    cdef inline void put(self, char c) noexcept nogil:
        """Append a byte; capacity must have been reserved."""
        self.data[self.size] = c
        self.size += 1

    def take(self):
        """The text since the last call, as bytes."""
        taken = self.data[:self.size] if self.size else b""
        self.size = 0
        return taken


cdef class PredictionWriter:
    """Writes the lines of an example: its prediction, and the value before clipping and link (`raw_predictions`).

    predictions, raw_predictions: whether these are requested; the lines are collected in attributes of these names.
    link: of predictions that are numbers. KeyError for an unknown one.
    class_names: if there are classes; label_names: of labels 1 and -1, for `top` of a score. probabilities: write those of all classes instead of the predicted class. quantiles:
    the names are those of quantiles.
    top: write so many classes with their probabilities, the most probable first; equal ones in the order of classes.
    format: text, csv or json. probable: csv and json rows have the probability. labels: how -1 and 1 are written
    there. threshold: write the label instead of a number, 1 from this probability on, or score if not probable.
    """

    def __init__(self, *, bint predictions=False, bint raw_predictions=False, link="identity",
                 ClassNames class_names=None, ClassNames label_names=None, bint quantiles=False, bint probabilities=False, size_t top=0, format="text",
                 bint probable=False, labels=None, double threshold=NAN):
        self.writes, self.writes_raw, self.two_labels = predictions, raw_predictions, label_names is not None
        class_names = label_names or class_names
        self.predictions, self.raw_predictions = Text(), Text()
        self.link, self.class_names, self.probabilities = Link[link.upper()], class_names, probabilities
        self.format, self.probable, self.labels = OutputFormat[format.upper()], probable, labels
        self.quantiles = quantiles
        if labels is not None:
            self.negative, self.positive = <bytes?>labels[0], <bytes?>labels[1]
        self.top = min(top, class_names.count) if top else 0
        self.best = <size_t*>malloc((self.top + 1) * sizeof(size_t))
        if self.best == NULL:
            raise MemoryError("no memory for classes")
        self.needs_probabilities = probabilities or top or (probable and self.format != OutputFormat.TEXT)
        self.threshold, self.decided_by = threshold, Link.LOGISTIC if probable else Link.IDENTITY
        self.linked_too = class_names is None and self.link != Link.IDENTITY and self.link != Link.LOGISTIC
        self.linked_too = self.linked_too or not isnan(threshold)
        if predictions and self.format == OutputFormat.CSV and self.header():
            raise MemoryError("no memory for a prediction")

    def __dealloc__(self):
        free(self.best)

    def linked(self, double p):
        """A prediction in the form of the output."""
        return linked(p, self.link)

    cdef int blank_line(self) noexcept nogil:
        """The line for an invalid or blank input line."""
        if self.writes and (self.predictions.empty_line() if self.format == OutputFormat.TEXT else self.blank_row()):
            return -1
        return self.raw_predictions.empty_line() if self.writes_raw else 0

    cdef int score_line(self, double shown, double raw, double label, const char* tag, size_t tag_size) noexcept nogil:
        """The line of a prediction that is a number. label: NaN if it is missing."""
        if self.writes and self.two_labels:
            if self.label_classes(shown, label, tag, tag_size):
                return -1
        elif self.writes and self.format != OutputFormat.TEXT:
            if self.score_row(shown, label, tag, tag_size):
                return -1
        elif self.writes and (self.prediction_cell(shown) or self.predictions.end_line(tag, tag_size)):
            return -1
        if self.writes_raw and (self.raw_predictions.number(raw, self.form)
                                or self.raw_predictions.end_line(tag, tag_size)):
            return -1
        return 0

    cdef int class_line(self, size_t number, size_t named, const double* class_probabilities, const double* scores,
                        size_t label, const char* tag, size_t tag_size) noexcept nogil:
        """The name of the predicted class or all probabilities; and all scores.

        named: how many classes have a name. class_probabilities, scores: [named]; the first if requested.
        label: the number of a class; 0: missing.
        """
        if self.writes and self.format != OutputFormat.TEXT:
            if self.class_row(number, named, class_probabilities, scores, label, tag, tag_size):
                return -1
        elif self.writes:
            if self.top:
                number = self.find_best(named, class_probabilities)
                if self.write_all(self.predictions, number, class_probabilities, self.best):
                    return -1
            elif self.probabilities:
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

    cdef int quantile_line(self, const double* predictions, const double* scores, double label, const char* tag,
                           size_t tag_size) noexcept nogil:
        """All predictions, in ascending order, and all scores."""
        cdef size_t n = self.class_names.count
        if self.writes and self.format != OutputFormat.TEXT:
            if self.quantile_row(predictions, label, tag, tag_size):
                return -1
        elif self.writes:
            if self.write_all(self.predictions, n, predictions, NULL, self.link) or self.predictions.end_line(tag, tag_size):
                return -1
        if self.writes_raw and self.write_all(self.raw_predictions, n, scores):
            return -1
        return self.raw_predictions.end_line(tag, tag_size) if self.writes_raw else 0

    cdef int write_name(self, Text text, size_t number) noexcept nogil:
        if number == 0:
            return text.write(b"?", 1)
        return text.word(self.class_names.names[number - 1].text, self.class_names.names[number - 1].size)

    cdef int write_all(self, Text text, size_t n, const double* numbers, const size_t* order=NULL,
                       Link link=Link.IDENTITY) noexcept nogil:
        """NAME:NUMBER for n classes, or numbers of quantiles, with blanks between them. order: these, from 0; NULL: the
        first ones."""
        cdef size_t i, k
        for i in range(n):
            k = i if order == NULL else order[i]
            if i > 0 and text.write(b" ", 1):
                return -1
            if not self.quantiles and (self.write_name(text, k + 1) or text.write(b":", 1)):
                return -1
            if text.number(linked(numbers[k], link), self.form_of_each):
                return -1
        return 0

    # --- rows of columns ---------------------------------------------------------------------

    cdef int header(self) except -1:
        """The names of the columns of CSV."""
        cdef bytes name
        cdef size_t k
        cdef bint classes = self.class_names is not None
        columns = [b"tag", b"label"] + ([] if self.quantiles else [b"class"] * classes + [b"score"])
        columns += [b"probability"] if self.probable else []
        columns += [b"prediction"] if self.linked_too else []
        name = b"quantile_" if self.quantiles else b"probability_"
        for k in range(self.class_names.count if self.probabilities or self.quantiles else 0):
            columns.append(name + self.class_names.names[k].text[:self.class_names.names[k].size])
        for k in range(self.top):
            columns += [b"class_%d" % (k + 1), b"probability_%d" % (k + 1)]
        for i, name in enumerate(columns):
            if (i > 0 and self.predictions.write(b",", 1)) or self.predictions.csv_cell(name, len(name)):
                return -1
        return self.predictions.end_line(NULL, 0)

    cdef int blank_row(self) noexcept nogil:
        if self.class_names is None:
            return self.score_row(NAN, NAN, NULL, 0)
        if self.quantiles:
            return self.quantile_row(NULL, NAN, NULL, 0)
        return self.class_row(0, self.class_names.count, NULL, NULL, 0, NULL, 0)

    cdef int score_row(self, double p, double label, const char* tag, size_t tag_size) noexcept nogil:
        """The columns of a prediction that is a number; NaN is an empty cell."""
        if self.lead(IN_TAG) or self.tag_cell(tag, tag_size) or self.lead(IN_LABEL) or self.label_cell(label):
            return -1
        if self.lead(IN_SCORE) or self.number_cell(p):
            return -1
        if self.probable and (self.lead(IN_PROBABILITY) or self.number_cell(linked(p, Link.LOGISTIC))):
            return -1
        if self.linked_too and (self.lead(IN_PREDICTION) or self.prediction_cell(p)):
            return -1
        return self.end_row()

    cdef int label_classes(self, double p, double label, const char* tag, size_t tag_size) noexcept nogil:
        """The line of a score as one of two classes, labels 1 and -1."""
        cdef double scores[2]
        cdef double[2] shares
        scores[0], scores[1] = p, -p
        shares[0], shares[1] = sigmoid(p), sigmoid(-p)
        if self.format != OutputFormat.TEXT:
            return self.class_row(1 if p >= 0 else 2, 2, shares, scores, 0 if isnan(label) else 1 if label > 0 else 2,
                                  tag, tag_size)
        if self.write_all(self.predictions, self.find_best(2, shares), shares, self.best):
            return -1
        return self.predictions.end_line(tag, tag_size)

    cdef int quantile_row(self, const double* predictions, double label, const char* tag, size_t tag_size) noexcept nogil:
        """The columns of several quantiles; NULL: empty cells."""
        if self.lead(IN_TAG) or self.tag_cell(tag, tag_size) or self.lead(IN_LABEL) or self.label_cell(label):
            return -1
        return -1 if self.cells_by_name(IN_QUANTILES, self.class_names.count, predictions) else self.end_row()

    cdef int prediction_cell(self, double p) noexcept nogil:
        """A prediction through the link, or its label; NaN is an empty cell."""
        if isnan(self.threshold) or isnan(p):
            return self.number_cell(linked(p, self.link))
        return self.label_cell(1 if linked(p, self.decided_by) >= self.threshold else -1)

    cdef int class_row(self, size_t number, size_t named, const double* class_probabilities, const double* scores,
                       size_t label, const char* tag, size_t tag_size) noexcept nogil:
        """The columns of a prediction that is a class; number 0: empty cells."""
        if self.lead(IN_TAG) or self.tag_cell(tag, tag_size) or self.lead(IN_LABEL) or self.class_cell(label):
            return -1
        if self.lead(IN_CLASS) or self.class_cell(number):
            return -1
        if self.lead(IN_SCORE) or self.number_cell(scores[number - 1] if number else NAN):
            return -1
        if self.probable:
            if self.lead(IN_PROBABILITY) or self.number_cell(class_probabilities[number - 1] if number else NAN):
                return -1
        if self.probabilities and self.cells_by_name(IN_PROBABILITIES, named, class_probabilities if number else NULL):
            return -1
        if self.top and self.top_cells(named, class_probabilities if number else NULL):
            return -1
        return self.end_row()

    cdef size_t find_best(self, size_t named, const double* class_probabilities) noexcept nogil:
        """Set `best` to the most probable classes, counted from 0; returns how many there are."""
        cdef size_t i, k, n = 0
        for k in range(named):
            i = n if n < self.top else self.top - 1
            if n == self.top and class_probabilities[k] <= class_probabilities[self.best[i]]:
                continue
            while i > 0 and class_probabilities[k] > class_probabilities[self.best[i - 1]]:
                self.best[i] = self.best[i - 1]
                i -= 1
            self.best[i] = k
            n += n < self.top
        return n

    cdef int top_cells(self, size_t named, const double* class_probabilities) noexcept nogil:
        """The most probable classes with their probabilities; NULL: empty cells."""
        cdef bint is_json = self.format == OutputFormat.JSON
        cdef size_t k, n = self.find_best(named, class_probabilities) if class_probabilities != NULL else 0
        if is_json and (self.lead(IN_TOP) or (n == 0 and self.empty_cell())):
            return -1
        for k in range(n if is_json else self.top):
            if is_json and self.predictions.write(b", {\"class\": " if k else b"[{\"class\": ", 12 - (k == 0)):
                return -1
            if (not is_json and self.lead(IN_CLASS)) or self.class_cell(self.best[k] + 1 if k < n else 0):
                return -1
            if self.lead(IN_PROBABILITY) or self.number_cell(class_probabilities[self.best[k]] if k < n else NAN):
                return -1
            if is_json and self.predictions.write(b"}]", 1 + (k + 1 == n)):
                return -1
        return 0

    cdef int cells_by_name(self, Field field, size_t named, const double* numbers) noexcept nogil:
        """The probabilities of all classes, or all quantiles; NULL: empty cells."""
        cdef const ClassName* name
        cdef size_t k
        if self.format == OutputFormat.JSON and self.lead(field):
            return -1
        if self.format == OutputFormat.JSON and numbers == NULL:
            return self.empty_cell()
        for k in range(named):
            name = &self.class_names.names[k]
            if self.format == OutputFormat.CSV:
                if self.predictions.write(b",", 1):
                    return -1
            elif (self.predictions.write(b", " if k else b"{", 2 if k else 1)
                    or self.predictions.json_string(name.text, name.size) or self.predictions.write(b": ", 2)):
                return -1
            if self.number_cell(NAN if numbers == NULL else linked(numbers[k], self.link)):
                return -1
        return self.predictions.write(b"}", 1) if self.format == OutputFormat.JSON else 0

    cdef int lead(self, Field field) noexcept nogil:
        """The text before the value of a column."""
        if self.format == OutputFormat.JSON:
            return self.predictions.write(LEADS[<int>field], strlen(LEADS[<int>field]))
        return self.predictions.write(b",", 1) if field != IN_TAG else 0

    cdef int end_row(self) noexcept nogil:
        if self.format == OutputFormat.JSON and self.predictions.write(b"}", 1):
            return -1
        return self.predictions.end_line(NULL, 0)

    cdef int empty_cell(self) noexcept nogil:
        return self.predictions.write(b"null", 4) if self.format == OutputFormat.JSON else 0

    cdef int text_cell(self, const char* text, size_t size) noexcept nogil:
        if self.format == OutputFormat.JSON:
            return self.predictions.json_string(text, size)
        return self.predictions.csv_cell(text, size)

    cdef int tag_cell(self, const char* tag, size_t size) noexcept nogil:
        return self.text_cell(tag, size) if size else self.empty_cell()

    cdef int number_cell(self, double number) noexcept nogil:
        return self.empty_cell() if isnan(number) else self.predictions.number(number, self.form)

    cdef int label_cell(self, double label) noexcept nogil:
        cdef const char* text = self.negative if label < 0 else self.positive
        if text != NULL and (label == -1 or label == 1):
            if self.format == OutputFormat.TEXT:
                return self.predictions.word(text, strlen(text))
            return self.predictions.write(text, strlen(text))
        if isnan(label):
            return self.empty_cell()
        return self.predictions.number(expm1(label) if self.of_log else label, Form.LABEL)

    cdef int class_cell(self, size_t number) noexcept nogil:
        if number == 0:
            return self.empty_cell()
        if self.class_names.numbers:
            return self.write_name(self.predictions, number)
        return self.text_cell(self.class_names.names[number - 1].text, self.class_names.names[number - 1].size)
