"""Tables as text: delimited records and JSON lines. See tables.pyx."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint32_t, uint64_t

from vwlite.core.data.batch cimport Batch
from vwlite.core.text.cells cimport Cells, Column
from vwlite.core.text.csv cimport Cell, Record
from vwlite.core.text.parser cimport Parser
from vwlite.core.text.tokens cimport Trouble


cdef class TableParser(Parser):
    cdef Cells table             # the columns
    cdef int32_t* position       # owned; where each column stands in a record, -1: nowhere
    cdef Cell* cells             # owned; of the record that is being read
    cdef size_t cell_room
    cdef readonly size_t width   # cells of a record
    cdef char delimiter
    cdef uint32_t* marks         # owned
    cdef size_t mark_room
    cdef char* unquoted          # owned; a cell without its doubled quotes, or a label without what it cannot hold
    cdef size_t unquoted_size
    cdef size_t line_text        # where the line that is being made begins in the VW text
    cdef uint32_t column         # 1 + the column of the trouble; 0: none
    cdef uint32_t* fault_columns  # owned; of the faults of the last batch
    cdef size_t fault_room

    cdef int records(self, const char* p, const char* end, size_t offset, Batch batch, bint last, const char** reached) noexcept nogil
    cdef int add_fault(self, const char* p, const char* end, size_t offset, Batch batch, Trouble* trouble) noexcept nogil
    cdef int take(self, const Record* record, Batch batch, Trouble* trouble) noexcept nogil
    cdef int take_cell(self, const Column* c, const char* p, const char* end, Batch batch, Trouble* trouble) noexcept nogil
    cdef int begin_line(self, Batch batch, Trouble* trouble) noexcept nogil
    cdef int take_head(self, const Column* c, const char* p, const char* end, bint doubled, Batch batch, Trouble* trouble) noexcept nogil
    cdef int unquote(self, const char** p, const char** end, Trouble* trouble) noexcept nogil
    cdef bint fit_word(self, const char** p, size_t n, bint is_label) noexcept nogil
    cdef int write_word(self, const char* before, const char* p, size_t n, Trouble* trouble) noexcept nogil
    cdef int end_text(self, bint has_bar, Trouble* trouble) noexcept nogil
