"""Lines of predictions. See output.pyx."""

from vwlite.core.data.class_names cimport Names

cpdef enum Link:
    IDENTITY = 0
    LOGISTIC = 1
    GLF1 = 2
    POISSON = 3


cdef double linked(double p, Link link) noexcept nogil


cdef class Text:
    cdef char* data       # owned
    cdef size_t size, capacity

    cdef int number_line(self, double number, const char* tag, size_t tag_size) noexcept nogil
    cdef int empty_line(self) noexcept nogil
    cdef int end_line(self, const char* tag, size_t tag_size) noexcept nogil
    cdef int write(self, const char* text, size_t size) noexcept nogil
    cdef int write_number(self, double number, bint short) noexcept nogil
    cdef int reserve(self, size_t n) noexcept nogil


cdef class PredictionWriter:
    cdef readonly Text predictions, raw_predictions
    cdef readonly bint writes, writes_raw     # whether these two are wanted
    cdef readonly bint probabilities
    cdef public bint short_numbers            # those of classes have at most six digits
    cdef Link link
    cdef Names names

    cdef int blank_line(self) noexcept nogil
    cdef int score_line(self, double shown, double raw, const char* tag, size_t tag_size) noexcept nogil
    cdef int class_line(self, size_t number, size_t named, const double* class_probabilities, const double* scores,
                        const char* tag, size_t tag_size) noexcept nogil
    cdef int write_name(self, Text text, size_t number) noexcept nogil
    cdef int write_all(self, Text text, size_t named, const double* numbers) noexcept nogil
