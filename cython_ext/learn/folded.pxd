"""Derived features of a line with their weights, in tables. See folded.pyx."""

from libc.stddef cimport size_t
from libc.stdint cimport uint32_t

from vwlite.core.data.derivation cimport MOST_FACTORS, Derivation, DerivedLine, Product
from vwlite.core.data.expand cimport Expander
from vwlite.core.learn.multiclass cimport Classifier
from vwlite.core.learn.rule cimport Rule


cdef enum:
    WIDE = 8                # points that are compared at once, or a multiple of it


# A column of numbers. Its knots at all resolutions, `points`, cut its values into pieces: piece 0 is below all of them,
# piece i begins at the i-th, and piece `points` + 1 is that of a missing value.
cdef struct FoldedNumber:
    uint32_t column         # in the derivation
    double mean, deviation  # of z
    size_t points
    uint32_t compared       # points together with infinite ones, a multiple of WIDE
    size_t first_point, first_piece, first_spot     # in the arrays of all columns
    size_t axes, first_axis


# A value x is (x - at) inverse behind the begin of a piece, from 0 to 1.
cdef struct Piece:
    double at, inverse
    bint is_known           # the model has a weight of z or of a hat here


# The same on an axis, by the piece of its column: behind the corner `code`.
cdef struct Spot:
    double at, inverse
    size_t code


cdef struct FoldedWord:
    uint32_t column
    size_t missing          # its code
    size_t axis


# Where a line is on an axis.
cdef struct AxisPlace:
    size_t code
    double weight           # of the next code


# Products of the same columns, at all their resolutions. Axes of numbers come first.
cdef struct Grid:
    size_t numbers, count   # axes
    size_t axis[MOST_FACTORS]
    size_t stride[MOST_FACTORS]     # in `corners`
    size_t first, size              # in `corners`


cdef class Weights:
    cdef Rule rule
    cdef Classifier classifier      # the rule, or None
    cdef uint32_t mask
    cdef readonly size_t classes

    cdef bint read(self, uint32_t hash, double* out) noexcept nogil


cdef class Folded:
    cdef Derivation derivation
    cdef readonly size_t classes
    cdef FoldedNumber* numbers      # owned, as are all arrays
    cdef size_t number_count
    cdef float* points              # of all columns
    cdef Piece* pieces
    cdef double* z_weight           # [numbers, classes]
    cdef double* value              # [pieces, classes] of a curve without z where the piece begins,
    cdef double* rise               # ... and the difference at its end
    cdef Spot* spots                # [by column: pieces, axes]
    cdef FoldedWord* words
    cdef size_t word_count
    cdef AxisPlace* places          # [axes] of the current line
    cdef Grid* grids
    cdef size_t grid_count
    cdef double* corners            # [corners of all grids, classes]
    # Of the current line and of the next one.
    cdef double* sums[2]            # [classes]
    cdef size_t present[2]          # numbers that it has,
    cdef size_t unknown[2]          # ... and those that the model does not know

    cdef object fold_number(self, Weights weights, FoldedNumber* f, list points, list axes)
    cdef object fold_grid(self, Weights weights, list products, list axes, list places)
    cdef double[::1] corners_of(self, Weights weights, const Product* p, bint is_first, list axes)
    cdef void sum(self, const DerivedLine* line, size_t which) noexcept nogil
    cdef void locate(self, const DerivedLine* line, size_t which) noexcept nogil


cpdef Folded fold(Expander expander, Rule rule)
