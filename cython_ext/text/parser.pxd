"""The parser: a block of text becomes a batch. See parser.pyx."""

from libc.stddef cimport size_t
from libc.stdint cimport uint32_t, uint64_t

from vwlite.core.data.batch cimport Arrays, Batch
from vwlite.core.text.lines_fast cimport Columns
from vwlite.core.data.class_names cimport Names


cdef enum Domain:
    ANY = 0
    BINARY = 1       # -1 or 1
    NONNEGATIVE = 2


# What a parser was told, as the loops want it.
cdef struct Settings:
    bint strings           # names of digits only are numbers, not hashed
    uint32_t seed          # hashes the names of namespaces
    uint32_t unnamed       # the hash of a namespace without a name
    Domain domain          # of labels
    bint mapped            # labels are `negative` or `positive`, and become -1 or 1
    double negative
    double positive
    void* names            # a Names: labels are classes, and become their numbers; NULL: they are numbers
    bint lenient           # a label outside of the domain is as good as none
    bint stop              # at the first bad line
    bint labels_in_tags            # the words before the first bar are kept with the tag, and none is read
    bint vw_compatible_only              # of lines that Vowpal Wabbit reads otherwise: they are faults


# The name of a namespace and its hash.
cdef struct Space:
    size_t length
    uint64_t head          # bytes 0 to 7, zeros behind
    uint64_t more          # bytes 8 to 14
    uint32_t hash


cdef enum:
    PLACES = 16


# Where in the text a line went wrong.
cdef struct Trouble:
    uint32_t code
    const char* begin
    const char* end


cdef class Parser:
    cdef Settings settings
    cdef bint is_libsvm
    cdef char* scratch           # the last lines of a block, with PADDING behind them
    cdef size_t scratch_size
    cdef Columns* columns        # owned; NULL: lines one by one
    cdef Space[PLACES] spaces    # the namespaces of the last lines, by their place in the line
    cdef readonly Names names    # of classes, or None
    cdef uint32_t named          # classes that had a name where the columns begin
    cdef readonly str format
    cdef readonly str loss_name
    cdef readonly tuple labels

    cdef uint32_t names_so_far(self) noexcept nogil
    cdef void forget_names(self, uint32_t count) noexcept nogil
    cdef int fill(self, const char* data, size_t size, Batch batch, bint first) noexcept nogil
    cdef int lines(self, const char* p, const char* end, size_t offset, size_t skip, Batch batch) noexcept nogil
    cdef int one_by_one(self, const char* p, const char* end, size_t offset, size_t skip, Batch batch) noexcept nogil
    cdef int by_columns(self, const char* p, const char* end, size_t offset, size_t skip, Batch batch) noexcept nogil
    cdef int take_columns(self, const char* p, const char* end, size_t offset, Batch batch, const Arrays* begun) noexcept nogil
