"""A batch: one block of text, parsed into flat arrays. See batch.pyx."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from *:
    """
    #include <string.h>
    #define VWLITE_UNFIT UINT64_C(0x7FF8000000000001)
    static inline double vwlite_unfit(void) {
        uint64_t bits = VWLITE_UNFIT;
        double x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    static inline int vwlite_is_unfit(double x) {
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        return bits == VWLITE_UNFIT;
    }
    """
    # A label that the model cannot use, where such labels count as missing: a NaN that differs from that of no label.
    double unfit "vwlite_unfit"() noexcept nogil
    bint is_unfit "vwlite_is_unfit"(double label) noexcept nogil

cdef enum:
    MOST_DISTINCT = 1 << 16     # hashes that are numbered, so that a number has two bytes


cdef enum LineKind:
    EXAMPLE = 0   # a line to learn from or to predict
    BLANK = 1     # an empty line: counts for the holdout, and for nothing else
    REJECTED = 2  # a bad line, skipped; it has no features, spans or tag


# The arrays of a batch, in the order in which they lie in memory and in the cache.
# Ranges are half open and stored as begins, with one entry more than there are items:
# the spans of line i are [span_begin[i], span_begin[i + 1]), and likewise below.
cdef struct Arrays:
    size_t lines
    size_t spans
    size_t features
    size_t tag_bytes
    size_t distinct         # hashes, if they are numbered; else 0
    double* label           # [lines] NaN for a missing label, `unfit()` for one that cannot be used
    double* importance      # [lines] >= 0, 1 if missing
    double* initial         # [lines] added to the prediction
    uint32_t* tag_begin     # [lines + 1] into tags
    uint32_t* span_begin    # [lines + 1] into letter, feature_begin
    uint32_t* feature_begin  # [spans + 1] into hash, value
    uint32_t* hash          # [features] 32 bits, not masked; NULL in a view of a numbered batch
    uint16_t* hash_number   # [features] which of the distinct hashes it is, if they are numbered
    uint32_t* distinct_hash  # [distinct]
    uint64_t dictionary     # which hashes these are: of the same one, the more begin with the fewer; 0: not known
    float* value            # [features] finite, and not zero but for numbers from which features are derived
    uint8_t* kind           # [lines] LineKind
    uint8_t* letter         # [spans] first byte of the namespace's name, ' ' without a name
    char* tags              # [tag_bytes] all tags, one after the other
    uint32_t* space         # [spans] the hash of the namespace; NULL unless namespaces are crossed by name


# The sizes of the arrays before a line, which `rewind` restores if the line is bad.
cdef struct LineStart:
    size_t spans
    size_t features
    size_t tag_bytes


cdef inline LineStart line_start(const Arrays* a) noexcept nogil:
    cdef LineStart start
    start.spans, start.features, start.tag_bytes = a.spans, a.features, a.tag_bytes
    return start


cdef inline void rewind(Arrays* a, const LineStart* start) noexcept nogil:
    a.spans, a.features, a.tag_bytes = start.spans, start.features, start.tag_bytes


# Where the names of the features of a batch begin in the text of its block. Owned by a parser, which has it for one
# batch after the other: it is right until the parser fills the next one.
cdef class Places:
    cdef uint32_t* begin    # owned
    cdef size_t capacity


# A parse error: the code and the position.
cdef struct ParseError:
    uint32_t line      # counted from 0 within the batch
    uint32_t code      # the parser's; its text is the parser's business
    uint64_t begin     # the offending token, as offsets into the block
    uint64_t end
    uint64_t line_begin
    uint64_t line_end


cdef uint64_t new_dictionary()


cdef class Batch:
    cdef Arrays a
    cdef size_t line_capacity, span_capacity, feature_capacity, tag_capacity
    cdef size_t number_capacity
    cdef bint coded            # the numbers are there, the hashes not
    cdef uint32_t* places      # owned, [2 * MOST_DISTINCT]; for numbering: 1 + the number of the hash that is there
    cdef uint32_t* decoded     # owned; the hashes of a view of a numbered batch
    cdef Places name_places    # or None
    cdef uint32_t* name_begin  # its; [features]; or NULL
    cdef size_t text           # the address of the block's text, or that it would have, while it is read
    cdef ParseError* faults
    cdef size_t fault_count, fault_capacity
    cdef object owner          # the owner of the memory of a view; None: this batch
    cdef public object source  # name of the file, for messages
    cdef public object first_line  # number of the first line in that file, from 1
    cdef public object breaks      # of records with line ends in them: which line of the batch, and how many

    cdef list shared           # the owners of the other memory of a view
    cdef int share(self, uint64_t form) except -1
    cdef object _view(self, void* data, size_t items, size_t size, str code)
    cdef void clear(self) noexcept nogil
    cdef int keep_spaces(self, bint keep) noexcept nogil
    cdef int keep_places(self) noexcept nogil
    cdef int reserve(self, size_t lines, size_t spans, size_t features, size_t tag_bytes) noexcept nogil
    cdef int gather_line(self, size_t line) noexcept nogil
    cdef int add_fault(self, const ParseError* fault) noexcept nogil
    cdef int assign_hash_numbers(self) noexcept nogil
    cdef int decode(self) noexcept nogil
    cdef check_like(self, Batch other)
    cdef int copy_lines(self, const Arrays* a, size_t begin, size_t end) noexcept nogil
