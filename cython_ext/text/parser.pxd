"""The parser: a block of text becomes a batch. See parser.pyx."""

from libc.stddef cimport size_t
from libc.stdint cimport uint32_t

from vwlite.core.data.batch cimport Arrays, Batch, Places
from vwlite.core.data.class_names cimport ClassNames
from vwlite.core.text.lines_fast cimport FeatureColumns
from vwlite.core.text.tokens cimport TokenError, TokenSettings
from vwlite.core.text.vw cimport PLACES, NamespaceHead


cdef class Parser:
    cdef TokenSettings settings
    cdef bint is_libsvm
    cdef char* scratch           # the last lines of a block, with PADDING behind them
    cdef size_t scratch_size
    cdef FeatureColumns* columns        # owned; NULL: lines one by one
    cdef NamespaceHead[PLACES] spaces    # the namespaces of the last lines, by their place in the line
    cdef Places places           # of the names of features, or None
    cdef readonly ClassNames names    # of classes, or None
    cdef uint32_t named          # classes that had a name where the columns begin
    cdef readonly str format
    cdef readonly str loss_name
    cdef readonly tuple labels
    cdef char* unescaped         # owned; a name without its escapes
    cdef size_t unescaped_size
    cdef ClassNames words             # the two label words, or None
    cdef ClassNames unfit             # labels that cannot be used, or None where they are parse errors

    cdef uint32_t names_so_far(self) noexcept nogil
    cdef void forget_names(self, uint32_t count) noexcept nogil
    cdef int fill(self, const char* data, size_t size, Batch batch, bint first) noexcept nogil
    cdef int rehash(self, const char* text, size_t size, Batch batch) noexcept nogil
    cdef int lines(self, const char* p, const char* end, size_t offset, size_t skip, Batch batch) noexcept nogil
    cdef int one_by_one(self, const char* p, const char* end, size_t offset, size_t skip, Batch batch) noexcept nogil
    cdef const char* line(self, const char* p, Batch batch, TokenError* error) noexcept nogil
    cdef int by_columns(self, const char* p, const char* end, size_t offset, size_t skip, Batch batch) noexcept nogil
    cdef int take_columns(self, const char* p, const char* end, size_t offset, Batch batch, const Arrays* start) noexcept nogil
