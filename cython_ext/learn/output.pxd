"""Lines of predictions. See output.pyx."""

from vwlite.core.data.class_names cimport ClassNames

cpdef enum Link:
    IDENTITY = 0
    LOGISTIC = 1
    GLF1 = 2
    POISSON = 3
    LOG = 4
    EXPM1 = 5


cpdef enum OutputFormat:
    TEXT = 0
    CSV = 1
    JSON = 2


# How numbers are written: see decimal.pxd.
cpdef enum Form:
    SHORTEST = 0
    LABEL = 1
    SIX_DECIMALS = 2
    SIX_DIGITS = 3


# The columns of a row.
cdef enum Field:
    IN_TAG
    IN_LABEL
    IN_CLASS
    IN_SCORE
    IN_PROBABILITY
    IN_PREDICTION
    IN_PROBABILITIES
    IN_TOP
    IN_QUANTILES


cdef double linked(double p, Link link) noexcept nogil


cdef class Text:
    cdef char* data       # owned
    cdef size_t size, capacity

    cdef int empty_line(self) noexcept nogil
    cdef int end_line(self, const char* tag, size_t tag_size) noexcept nogil
    cdef int write(self, const char* text, size_t size) noexcept nogil
    cdef int word(self, const char* text, size_t size) noexcept nogil
    cdef int number(self, double number, Form form) noexcept nogil
    cdef int reserve(self, size_t n) noexcept nogil
    cdef int csv_cell(self, const char* text, size_t size, char delimiter=*) noexcept nogil
    cdef int json_string(self, const char* text, size_t size) noexcept nogil
    cdef void put(self, char c) noexcept nogil


cdef class PredictionWriter:
    cdef readonly Text predictions, raw_predictions
    cdef readonly bint writes, writes_raw     # whether these outputs are requested
    cdef readonly bint probabilities
    cdef Form form                            # of numbers, and
    cdef Form form_of_each                    # of those of classes or quantiles in text
    cdef size_t top                           # the number of most probable classes that are written; 0: the prediction alone
    cdef size_t* best                         # owned; these, of a line
    cdef readonly bint needs_probabilities    # of classes, for a line
    cdef Link link
    cdef readonly bint of_log                 # labels are log(1 + y): see losses.pxd
    cdef ClassNames class_names
    cdef bint two_labels                      # ... are labels 1 and -1, whose probabilities a score has
    cdef bint quantiles                       # ... are those of quantiles
    cdef OutputFormat format
    cdef bint probable                        # rows have a probability
    cdef bint linked_too                      # ... and the prediction beside the score
    cdef double threshold                     # from which on the label 1 is written; NaN: there is none
    cdef Link decided_by                      # ... of what this link gives
    cdef object labels                        # owns these two:
    cdef const char* negative                 # labels -1 and 1 as they are written in rows; NULL: as numbers
    cdef const char* positive

    cdef int blank_line(self) noexcept nogil
    cdef int score_line(self, double shown, double raw, double label, const char* tag, size_t tag_size) noexcept nogil
    cdef int class_line(self, size_t number, size_t named, const double* class_probabilities, const double* scores,
                        size_t label, const char* tag, size_t tag_size) noexcept nogil
    cdef int quantile_line(self, const double* predictions, const double* scores, double label, const char* tag,
                           size_t tag_size) noexcept nogil
    cdef int write_name(self, Text text, size_t number) noexcept nogil
    cdef int write_all(self, Text text, size_t n, const double* numbers, const size_t* order=*, Link link=*) noexcept nogil

    cdef int header(self) except -1
    cdef int blank_row(self) noexcept nogil
    cdef int score_row(self, double p, double label, const char* tag, size_t tag_size) noexcept nogil
    cdef int label_classes(self, double p, double label, const char* tag, size_t tag_size) noexcept nogil
    cdef int quantile_row(self, const double* predictions, double label, const char* tag, size_t tag_size) noexcept nogil
    cdef int prediction_cell(self, double p) noexcept nogil
    cdef int class_row(self, size_t number, size_t named, const double* class_probabilities, const double* scores,
                       size_t label, const char* tag, size_t tag_size) noexcept nogil
    cdef int cells_by_name(self, Field field, size_t named, const double* numbers) noexcept nogil
    cdef size_t find_best(self, size_t named, const double* class_probabilities) noexcept nogil
    cdef int top_cells(self, size_t named, const double* class_probabilities) noexcept nogil
    cdef int lead(self, Field field) noexcept nogil
    cdef int end_row(self) noexcept nogil
    cdef int empty_cell(self) noexcept nogil
    cdef int text_cell(self, const char* text, size_t size) noexcept nogil
    cdef int tag_cell(self, const char* tag, size_t size) noexcept nogil
    cdef int number_cell(self, double number) noexcept nogil
    cdef int label_cell(self, double label) noexcept nogil
    cdef int class_cell(self, size_t number) noexcept nogil
