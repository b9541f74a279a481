"""With which scales features begin. See starts.pyx."""

from libc.stdint cimport uint16_t, uint32_t

from vwlite.core.data.expand cimport Expander
from vwlite.core.learn.table cimport Table

cdef enum:
    NAMESPACES = 257        # by the first byte of their names; and products, which come first


# What is known of a feature after the data were read once.
cdef struct ColumnCount:
    uint32_t mark
    uint32_t count          # examples that have the feature
    double sum              # of its values
    float first
    uint16_t differs        # whether there is a value other than the first
    uint16_t namespace      # 1 + the first byte of its name; 0: a product


cdef class Starts:
    cdef Table columns
    cdef size_t examples    # that the columns are of
    cdef float[NAMESPACES] start

    cdef float of(self, uint32_t key) noexcept nogil


cdef Starts find_starts(Table columns, size_t examples, Expander expander, batches)
