"""Derived features of a line of a table. See derivation.pyx."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from vwlite.core.data.batch cimport Arrays

cdef extern from "<math.h>":
    float OPEN "INFINITY"   # the value of a feature that a derivation may use: then it is 1, else 0

cdef enum:
    MOST_FACTORS = 3        # columns of a product
    CORNERS = 8             # 2^MOST_FACTORS: cells that an example can be in
    MOST_KNOTS = 1000       # of a column at one resolution: where whole numbers are codes, as many as there are
    MOST_Z = 4              # standard deviations


# The knots of a column at one resolution, and the hashes of its hats; NULL: its hats are not features.
cdef struct Knots:
    float* at               # owned; [count], rising
    uint32_t count
    uint32_t* hash          # owned; [count]


# A column. Codes of words: of each level, then `rest`, then of a missing one; of numbers, the hats, then missing.
cdef struct Column:
    bint is_number
    uint32_t space          # the hash of its namespace
    uint8_t letter
    uint32_t hash           # of its number as a feature
    double mean, deviation  # of z; deviation 0: there is no curve
    uint32_t missing        # the hash of the feature of a missing cell; 0: none
    size_t first_knots, resolutions     # in `knots`; the first one is that of its curve
    uint32_t rescaled_hash  # of the feature of its rescaled value
    float* rescaled         # owned; [knots of its curve] these in another scale; NULL: it has none
    size_t levels           # of words
    bint is_part            # each word is one of the levels; other words of the namespace are those of other columns
    size_t first_level      # in `level_hash`


# A column at a resolution, in a product.
cdef struct Factor:
    uint32_t column
    uint32_t knots          # in `knots`; of a number
    uint32_t size           # codes


cdef struct Product:
    Factor factors[MOST_FACTORS]
    uint32_t count
    uint8_t letter          # of the namespace of the first column
    uint32_t space
    bint repeats            # the product before it has the same columns at other resolutions
    size_t first_hash       # in `hashes`: those of all cells, the last factor's code running fastest


# A column in the current line: codes and weights at each resolution.
cdef struct Place:
    uint32_t code           # of the first hat, or of the word
    float weight            # of the hat behind it


# The features of one line, derived, as a batch of a single line.
cdef struct DerivedLine:
    Arrays a
    uint32_t[2] span_begin
    size_t span_capacity, space_capacity, letter_capacity, hash_capacity, value_capacity
    size_t copied           # features, the first ones, that are as they were
    bint is_folded          # columns are noted, but neither curves nor products become features: see learn/folded.pyx
    size_t crossed          # spans, the first ones, that interactions see: not those of products
    float* number           # owned; [columns]
    uint16_t* code          # owned; [columns] of a word
    uint8_t* present        # owned; [columns]
    Place* places           # owned; [knots]


cdef void* allocated(size_t items, size_t size) except NULL
cdef int prepare(DerivedLine* line, Derivation derivation) except -1
cdef void release(DerivedLine* line) noexcept nogil


cdef inline size_t last_knot(const float* at, size_t count, float x) noexcept nogil:
    """The last knot that is not above x, without branches; of a value below all of them the first."""
    cdef size_t low = 0, half
    while count > 1:
        half = count >> 1
        low += half * (at[low + half] <= x)
        count -= half
    return low


cdef inline float standardized(float x, double mean, double deviation) noexcept nogil:
    """z, clipped."""
    cdef float z = <float>((<double>x - mean) / deviation)
    return min(max(z, -<float>MOST_Z), <float>MOST_Z)


cdef class Derivation:
    cdef Column* columns        # owned
    cdef size_t count
    cdef Knots* knots           # owned
    cdef size_t knot_count
    cdef uint32_t* level_hash   # owned
    cdef Product* products      # owned
    cdef size_t product_count
    cdef uint32_t* hashes       # owned; of the cells of products
    cdef size_t cells
    cdef uint32_t* spaces       # owned; [1 << space_bits] 1 + the first column of a namespace
    cdef uint32_t* space_of     # owned; the hash of the namespace there
    cdef int space_bits
    cdef size_t most_products   # features that all products have together, at most
    cdef uint32_t* units        # owned; [1 << unit_bits] 1 + key, 0: free
    cdef float open_value       # the value, 1 or 0, of features whose value is OPEN
    cdef bint has_key_max       # whether the key 2^32 - 1 is one of them
    cdef int unit_bits

    cdef object set_rescaled(self, Column* c, hash, values)
    cdef object find_spaces(self)
    cdef object set_products(self, columns, products, at)
    cdef void add_unit(self, uint32_t key) noexcept nogil
    cdef void take_span(self, const Arrays* a, size_t span, DerivedLine* out) noexcept nogil
    cdef void note_word(self, size_t i, uint32_t hash, DerivedLine* out) noexcept nogil
    cdef void locate(self, size_t i, DerivedLine* out) noexcept nogil
    cdef void add_curve(self, size_t i, DerivedLine* out) noexcept nogil
    cdef void add_product(self, const Product* p, DerivedLine* out) noexcept nogil
    cdef int derive(self, const Arrays* a, size_t line, DerivedLine* out) noexcept nogil
    cdef bint is_unit(self, uint32_t key) noexcept nogil
