"""From a block of text to a batch. See parser.pyx."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from vwlite.core.batch cimport Batch, Fault


cdef class Parser:
    cdef readonly str format
    cdef bint libsvm, hash_all, stop_at_fault, lenient_labels, mapped
    cdef uint32_t hash_seed
    cdef int domain              # a Domain
    cdef double negative, positive
    cdef object loss_name
    # where the fault of the present line is
    cdef const char* fault_begin
    cdef const char* fault_end

    cdef void lines(self, const char* data, size_t size, Batch batch, bint first) noexcept nogil
    cdef int vw_line(self, const char* p, const char* end, const char* limit, Batch batch) noexcept nogil
    cdef int header(self, const char* p, const char* end, Batch batch) noexcept nogil
    cdef int libsvm_line(self, const char* p, const char* end, const char* limit, Batch batch) noexcept nogil
    cdef int number(self, const char* p, const char* end, double* out) noexcept nogil
    cdef int label(self, const char* p, const char* end, double* out) noexcept nogil
    cdef int value(self, const char** p, const char* end, const char* limit, float* out) noexcept nogil
    cdef int fail(self, int code, const char* begin, const char* end) noexcept nogil
