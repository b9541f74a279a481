"""Many features at a time: from their text to hashes and values. See lines_fast.pyx."""

from libc.stddef cimport size_t
from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    MOST_DELIMITERS = 2048     # delimiters that are looked at together
    FULL = 256                 # features that are worth a call of `compute`
    MOST_FEATURES = MOST_DELIMITERS + FULL


# Features whose text was found but not parsed: name, value, and the hash of the namespace.
cdef struct FeatureColumns:
    size_t size
    size_t slow_count
    const char* name[MOST_FEATURES]
    uint64_t head[MOST_FEATURES]          # bytes 0 to 7 of the name, then any bytes
    uint64_t more[MOST_FEATURES]          # bytes 8 to 15
    uint64_t value[MOST_FEATURES]         # bytes 0 to 7 of the value's text
    uint64_t value_more[MOST_FEATURES]    # bytes 8 to 15
    uint32_t length[MOST_FEATURES]        # of the name, at least 1
    uint32_t value_length[MOST_FEATURES]  # 0: the feature has no value, and counts 1
    uint32_t seed[MOST_FEATURES]
    uint32_t slow[MOST_FEATURES]           # features whose names are too long for the columns
    uint32_t positions[MOST_DELIMITERS]  # where the delimiters are, from the beginning of the text


cdef size_t find_delimiters(const char* base, const char* begin, const char* end, uint32_t* positions, size_t capacity,
                       const char** reached) noexcept nogil

cdef enum:
    NOT_PLAIN = -1

cdef long compute(FeatureColumns* c, bint strings, uint32_t* hash, float* value) noexcept nogil


cdef inline bint is_odd(const char* name, size_t length) noexcept nogil:
    """Whether the hash of a name differs from the result of `compute` for its first 16 bytes."""
    return length > 15 or (length > 8 and c'0' <= name[0] <= c'9')
