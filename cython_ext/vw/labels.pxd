"""The labels of a batch that the engine's loop can take. See labels.pyx."""

from libc.stdint cimport uint32_t

from vwlite.core.data.batch cimport Arrays, Batch
from vwlite.core.data.class_names cimport ClassNames


cdef class ExpectedLabels:
    cdef double low, high
    cdef bint only_ends, needed
    cdef ClassNames class_names        # None: labels are the numbers of the batch
    cdef Batch batch
    # What stood in the tags, and what is left of them; owned, as in Arrays.
    cdef double* label
    cdef double* importance
    cdef uint32_t* tag_begin
    cdef char* tags
    cdef size_t label_capacity, importance_capacity, tag_begin_capacity, tag_capacity

    cdef void decode(self, const Arrays* a) noexcept nogil
    cdef void decode_words(self, size_t line, const char* p, const char* end) noexcept nogil
    cdef void show(self, Arrays* a) noexcept nogil
    cdef bint expects(self, double label, double importance) noexcept nogil
