"""Several learners of one kind side by side. See lanes.pyx."""

from libc.stdint cimport uint8_t, uint32_t

from vwlite.core.auto.starts cimport Starts
from vwlite.core.data.batch cimport Arrays, Batch
from vwlite.core.data.expand cimport Expander
from vwlite.core.learn.losses cimport Loss
from vwlite.core.learn.table cimport Table

cdef enum:
    ADAPTIVE = 2            # lanes of gd in a fold,
    PLAIN = 2               # ... and of nsgd
    KINDS = ADAPTIVE + PLAIN
    COLUMNS = 2 * KINDS     # scores of an example: by the last weights of each kind of lane, then by their means
    STATE = COLUMNS + 1 + ADAPTIVE  # numbers of a feature at the end of a pass
    MOST_FOLDS = 4
    MOST_LANES = KINDS * MOST_FOLDS
    TOO_MANY = 1            # reasons of `raise_failure`
    NOT_FINITE = 2


cdef struct Slot:
    uint32_t mark
    uint32_t record           # its number, from 1


# What an example is learned for.
cdef struct Target:
    double label
    double importance
    double initial            # added to predictions
    size_t fold               # that does not learn it; with one fold, or another number, all do


# The features of an example where the lanes need them.
cdef struct Located:
    char** records
    const float* x
    size_t size
    char** own                # owned, [capacity]; where records are, unless they are those of a batch
    size_t capacity


cdef raise_failure(int failed, Batch batch, size_t line)


# The same of all lines of a batch.
cdef class LocatedBatch:
    cdef size_t* begin                # owned, [lines + 1]
    cdef char** records               # owned
    cdef float* x                     # owned
    cdef size_t begin_capacity, record_capacity, x_capacity
    cdef size_t lines                 # that are noted
    cdef bint ends                    # it is not to be kept

    cdef int note(self, const Located* e) noexcept nogil


cdef class Lanes:
    cdef readonly Expander expander
    cdef Loss loss
    cdef Starts starts                # or None
    cdef list quantiles               # keeps the losses of:
    cdef bint has_quantiles
    cdef void** loss_of               # owned, [classes]; the loss of each as a borrowed pointer,
    cdef double* minus                # owned, [classes]; ... and what is subtracted from its labels
    cdef Table places                 # from the key of a feature to its record
    cdef char** parts                 # owned; of the records of 2^part_bits features each, which never move
    cdef size_t part_count, part_bits
    cdef size_t width                 # numbers of a class in a record
    cdef size_t record, stride        # bytes of a record; from one to the next
    cdef size_t count                 # features
    cdef readonly size_t folds, classes
    cdef size_t each                  # kinds of gd, and of nsgd: 2, or 1
    cdef size_t kind[KINDS]           # their numbers
    cdef size_t adaptive, lanes       # lanes of gd, and all
    cdef double rate[MOST_LANES]
    cdef readonly double t            # sum of importances
    # Of each class, [classes * lanes]:
    cdef double* S                    # owned; sum of importance * sum of (x / N)^2: of each lane of gd, as it rounds; of nsgd
    cdef double* T                    # owned; examples that a lane has learned
    cdef Located here[2]              # the example that is learned, and the next one
    cdef float* visits                # owned; rates of its features in the lanes of gd, and what classes share
    cdef size_t visit_capacity
    cdef dict located                 # batches, and what is known of them
    cdef size_t features_located
    cdef public size_t most_located   # features of batches that are kept
    cdef LocatedBatch known           # of the batch at work, from an earlier pass, or None;
    cdef LocatedBatch noted           # ... or what is noted for later ones

    cdef begin(self, Batch batch, bint keep)
    cdef end(self, Batch batch, int failed)
    cdef int find(self, const Arrays* a, size_t line, bint learns) noexcept nogil
    cdef check(self, Batch batch, const uint8_t[::1] folds, float[::1] scores)
    cdef int add_record(self, uint32_t key, Slot* slot) noexcept nogil
    cdef int add_part(self) noexcept nogil
    cdef int locate(self, const Arrays* a, size_t line, bint learns) noexcept nogil
    cdef int learn_one(self, Located* e, const Target* y, float* scores) noexcept nogil
    cdef void learn_class(self, const Located* e, const Target* y, size_t k, const float* shared, double plain,
                          float* scores) noexcept nogil
    cdef void score_one(self, Located* e, size_t fold, float* scores) noexcept nogil
    cdef void score_class(self, const Located* e, size_t fold, size_t number, float* scores) noexcept nogil
