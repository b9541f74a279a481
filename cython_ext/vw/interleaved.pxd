"""One against all as Vowpal Wabbit has it. See interleaved.pyx."""

from vwlite.core.learn.multiclass cimport Classifier


cdef class Interleaved(Classifier):
    cdef readonly int shift
    cdef public double low, high      # scores are clipped to this range
    cdef double importance            # of the example that is predicted to be learned, for rules that are Coins
    cdef bint raw
    cdef bint flagged, betting        # the rules are GdWithFlags; they are Coins
    cdef bint has_warning             # one of them has one, until the caller resets it
    cdef list strays                  # records of a loaded model that are of no class, by rising key

    cdef double clipped(self, double score) noexcept nogil
    cdef load_records(self, const unsigned char[::1] records)
    cdef bytearray merged(self, bytearray records)
