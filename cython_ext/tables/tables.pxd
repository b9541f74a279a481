"""Tables as text: delimited records and JSON lines. See tables.pyx."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint32_t, uint64_t

from vwlite.core.data.batch cimport Batch, LineStart
from vwlite.core.tables.cells cimport Cells, Column, Role
from vwlite.core.tables.csv cimport Cell, Dialect, Record
from vwlite.core.text.parser cimport Parser
from vwlite.core.text.tokens cimport TokenError


# A key of JSON lines: of the line's object, or of one in it.
cdef struct Key:
    Column column
    char* raw             # owned; the key, then `name=`
    uint32_t raw_size
    uint32_t parent       # 1 + the key of the object that it is in; 0: the line's
    uint32_t next         # 1 + the key that followed it the last time
    uint32_t schema       # 1 + its column; 0: not a column
    uint64_t stamp        # the last line with it
    uint64_t numbers, words     # values by their own type since the last `take_kinds`


# All sizes before a record, which `go_back` restores if the record is bad.
cdef struct RecordStart:
    LineStart batch
    uint32_t names        # of classes
    size_t text


# Owned by a list of bytes.
cdef struct Name:
    const char* begin
    size_t size


cdef class TableParser(Parser):
    cdef Cells table             # the columns
    cdef int32_t* position       # owned; the position of each column in a record, -1: absent
    cdef Cell* cells             # owned; of the record that is being read
    cdef size_t cell_room
    cdef readonly size_t width   # cells of a record
    cdef Dialect dialect
    cdef list header             # the names of the cells of the header; empty: they are not looked for
    cdef Name* header_at         # owned; their bytes
    cdef size_t header_count
    cdef uint32_t* delimiters_at  # owned; positions of quotes, line ends and delimiters
    cdef size_t delimiter_room
    cdef bint is_json, open      # open: keys that are not columns are features
    cdef bint is_lines           # of text, with these columns
    cdef int line_label, line_column
    cdef Key* keys               # owned
    cdef size_t key_count, key_room, fixed    # the first `fixed` are the columns
    cdef uint32_t* key_places    # owned; [1 << key_bits] 1 + the key that is there
    cdef int key_bits
    cdef uint32_t first_key      # 1 + the first key of the last line
    cdef uint64_t stamp          # of the line
    cdef bint is_zero            # the value has a number 0
    cdef list unknown_keys
    cdef char* heads[3]          # owned; label, importance and tag as text
    cdef size_t[3] head_size, head_room
    cdef char* unquoted          # owned; a cell without its doubled quotes and escapes
    cdef size_t unquoted_size
    cdef size_t line_text        # where the line that is being made begins in the VW text
    cdef uint32_t* breaks        # owned; pairs: a line of the last batch, and how many line ends its record has in it
    cdef size_t break_count, break_room
    cdef uint32_t column         # 1 + the column of the error; 0: none
    cdef uint32_t* fault_columns  # owned; of the errors of the last batch
    cdef size_t fault_room

    cdef int records(self, const char* p, const char* end, size_t offset, Batch batch, bint last, const char** reached) noexcept nogil
    cdef int add_fault(self, const char* p, const char* end, size_t offset, Batch batch, TokenError* error) noexcept nogil
    cdef bint is_header(self, const Cell* cells) noexcept nogil
    cdef int take(self, const Record* record, Batch batch, TokenError* error) noexcept nogil
    cdef int add_break(self, size_t line, size_t count) noexcept nogil
    cdef int begin_line(self, Batch batch, TokenError* error) noexcept nogil
    cdef int take_head(self, const Column* c, const char* p, const char* end, bint doubled, Batch batch, TokenError* error) noexcept nogil
    cdef int check_head(self, Role role, const char* p, const char* end, Batch batch, TokenError* error) noexcept nogil
    cdef int unquote(self, const char** p, const char** end, TokenError* error) noexcept nogil
    cdef bint fit_word(self, const char** p, size_t* n, bint is_label) noexcept nogil
    cdef int write_word(self, const char* before, const char* p, size_t n, TokenError* error) noexcept nogil
    cdef int end_text(self, bint has_bar, TokenError* error) noexcept nogil
    cdef const char* text_line(self, const char* p, Batch batch, TokenError* error) noexcept nogil
    cdef const char* json_line(self, const char* p, Batch batch, TokenError* error) noexcept nogil
    cdef uint32_t find_key(self, const char* p, size_t n, uint32_t parent, uint32_t last) noexcept nogil
    cdef uint32_t add_key(self, const char* p, size_t n, uint32_t parent, int role) noexcept nogil
    cdef int enter_key(self, uint32_t key) noexcept nogil
    cdef void forget_keys(self) noexcept nogil
    cdef tuple path_of(self, const Key* k)
    cdef int add_missing_keys(self, Batch batch) noexcept nogil
    cdef const char* json_object(self, const char* p, uint32_t parent, Batch batch, TokenError* error) noexcept nogil
    cdef const char* json_value(self, uint32_t key, const char* p, Batch batch, TokenError* error) noexcept nogil
    cdef const char* json_array(self, uint32_t key, const char* p, Batch batch, TokenError* error) noexcept nogil
    cdef const char* json_scalar(self, uint32_t key, const char* p, int index, int* kind, Batch batch, TokenError* error) noexcept nogil
    cdef int json_head(self, const Column* c, const char* p, const char* end, Batch batch, TokenError* error) noexcept nogil
    cdef int json_text(self, const char** p, const char** end, TokenError* error) noexcept nogil
    cdef int end_json(self, Batch batch, TokenError* error) noexcept nogil
