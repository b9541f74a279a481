"""The copy of the rows by columns. See columns.pyx."""

from libc.stdint cimport uint8_t, uint32_t

from vwlite.core.solve.rows cimport Rows, Sparse

cdef enum:
    NOT_KEPT = 0xFFFFFFFF


cdef class Columns:
    cdef readonly Rows rows
    cdef readonly size_t nonzeros
    # Owned.
    cdef Sparse a               # the columns kept; index: rows, ascending
    cdef uint32_t* number       # [size] which column of the rows it is; ascending
    cdef uint32_t* position     # [columns of the rows] where it is kept, or NOT_KEPT

    cdef int fill(self, const uint8_t* keep) noexcept nogil


cdef Columns kept_columns(Rows rows, const uint8_t* keep)
