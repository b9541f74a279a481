"""The sums over shards from which every merge rule is computed. See sums.pyx."""

from libc.stdint cimport uint32_t, uint64_t

from vwlite.core.merge.formulas cimport EvidenceKind


# An array with one number for each key and class of a model, at any address.
cdef struct Numbers:
    const char* at          # NULL: there are none, all are blank
    bint wide               # doubles, not floats
    double blank            # that of a key that is not there


# A model during the scan. Its arrays are borrowed.
cdef struct ModelArrays:
    const char* keys
    size_t n, records
    const char* w
    Numbers evidence, extra
    uint32_t* column            # [records] position of a class in a row of the arrays
    double* unseen              # [records] the weight of a key that is not there
    double* penalty             # [records]
    double share


cdef class ModelStream:
    cdef object owners          # of the arrays
    cdef ModelArrays a               # column, unseen and penalty are owned

    cdef Numbers numbers(self, array, double blank) except *


cdef struct Present:
    # What a shard has of the key and class that are being summed up.
    double w, S, extra


cdef struct Scan:
    # Owned.
    ModelArrays* sources         # [shards + 1] the start is the first
    size_t* at              # [shards + 1] the place in each
    uint64_t* items         # [(shards + 1) most] keys of all streams, less `least`: key << 32 | stream
    uint64_t* spare         # as long
    uint32_t* found         # [shards + 1] the streams that have the key
    Present* present        # [shards + 1]
    double* totals          # [4 records] over all shards, of share, share * unseen, unseen, penalty
    double* steps           # [7 step_capacity] of `path`: root, gained, later, rate, delta, progress, where it is added
    size_t shards, step_capacity, count
    size_t most             # keys of a stream at a time
    uint64_t least


cdef class Sums:
    cdef readonly size_t size, records
    cdef size_t capacity
    cdef EvidenceKind kind
    cdef double beta
    cdef uint32_t* key                  # owned, [capacity]; the others [capacity * records]
    cdef double* column[13]             # owned; NULL: not requested
    cdef double* rate                   # owned, [records]: eta

    cdef list wanted
    cdef bint[13] wants
    cdef bint by_extra, uses_path

    cdef allocate(self, size_t records, wanted, str evidence, double beta, rates, bint by_extra)
    cdef int grow(self, size_t want) noexcept nogil
    cdef sum_up(self, ModelStream start, list shards, int extra)
    cdef int scan(self, Scan* s, int extra) noexcept nogil
    cdef void add_paths(self, Scan* s) noexcept nogil
    cdef int add_up(self, Scan* s, size_t n, size_t c, int extra) noexcept nogil
