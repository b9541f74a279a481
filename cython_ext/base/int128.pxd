"""Integers of 128 bits."""

cdef extern from *:
    """
    typedef __int128 vwlite_int128;
    """
    ctypedef int int128 "vwlite_int128"
