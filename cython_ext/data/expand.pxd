"""From a line of a batch to the features of an example. See expand.pyx."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from vwlite.core.data.batch cimport Arrays
from vwlite.core.data.derivation cimport Derivation, DerivedLine
from vwlite.core.data.normalize cimport Normalizer


cdef enum:
    CONSTANT = 11650396     # the hash of the intercept
    MOST_TERMS = 64         # letters of an interaction
    MOST_NAMED = 256        # namespaces that are crossed by name


# Results of `expand`.
cdef enum Expansion:
    NO_SPACE = -1            # no memory
    WHOLE = 0
    OVERSIZED = 1            # the line has too many features for one call: `begin_chunks`
    TOO_LARGE = 2            # ... and there is a normalizer, which needs them all at once


cdef struct FeatureRun:
    const uint32_t* hash
    const float* value
    size_t size


# The features of an example: keys and values. If they are numbered, the only key is that of the intercept.
cdef struct Features:
    uint32_t* keys            # owned by the expander, as is `values`
    const uint16_t* hash_numbers  # of the batch; NULL: not numbered
    float* values
    size_t size, capacity


# The position in the product of the namespaces of an interaction.
cdef struct Odometer:
    size_t depth
    size_t at[MOST_TERMS]       # the feature of each namespace but the last one
    uint64_t hash[MOST_TERMS]   # of the terms up to and including this one, times P
    float value[MOST_TERMS]
    size_t inner                # the feature of the last namespace ...
    bint within                 # ... if some of its features came before


cdef enum Stage:
    LINEAR = 0
    EARLY_CONSTANT = 1
    TERMS = 2
    LATE_CONSTANT = 3
    ENDED = 4


cdef class Expander:
    cdef Features buffers[2]  # so that one example can be expanded while another is learned
    cdef Features* f          # the one that is being filled
    cdef uint32_t mask
    cdef readonly Normalizer normalizer    # or None
    cdef readonly Derivation derivation    # or None
    cdef DerivedLine derived  # the current line with them
    cdef readonly bint unchanged  # a line's features are those of the batch, so that their numbers suffice
    cdef readonly bint only_derives    # ... but for what is derived; then that needs not be features
    cdef bint constant, filters, leave_duplicates, permutations, constant_early
    cdef uint8_t linear[256]  # whether the features of a namespace count by themselves
    cdef uint8_t alive[256]   # whether a namespace counts at all
    cdef uint8_t crossed[256]  # whether some interaction asks for the namespace
    cdef uint8_t asked[256]   # those letters, one after the other
    cdef size_t asked_size
    cdef uint8_t seen[256]    # letters that occurred, for wildcards
    cdef bint wild, news
    cdef readonly size_t hidden   # features of the last line that --ignore-linear left out
    cdef uint16_t* terms      # owned; the interactions, each as its length and its letters; 256 and more: by name
    cdef size_t terms_size
    cdef FeatureRun runs[256 + MOST_NAMED]
    cdef uint32_t named[MOST_NAMED]   # the hashes of the namespaces that are crossed by name
    cdef size_t named_count
    cdef uint8_t named_seen[MOST_NAMED]   # whether some example had features of it
    cdef list named_terms
    cdef uint32_t* gathered_hash   # owned; features of namespaces that occur more than once
    cdef float* gathered_value
    cdef size_t gathered, gathered_capacity
    cdef object patterns, concrete
    cdef size_t bound         # a line with more features comes in chunks
    cdef readonly size_t chunk    # features of a chunk; even
    # of the line that comes in chunks
    cdef const Arrays* a
    cdef size_t line
    cdef Stage stage
    cdef size_t at            # in the features of the batch, or in `terms`
    cdef size_t span
    cdef Odometer odometer
    cdef Features part

    cdef bint takes_numbers(self, const Arrays* a) noexcept nogil
    cdef Expansion expand(self, const Arrays* a, size_t line, int buffer, bint numbered) noexcept nogil
    cdef uint64_t count(self, const Arrays* a, size_t line) noexcept nogil
    cdef uint64_t count_all(self, const Arrays* a, size_t line) except? 0
    cdef int begin_chunks(self, const Arrays* a, size_t line) noexcept nogil
    cdef void rewind(self) noexcept nogil
    cdef const Arrays* derive(self, const Arrays* a, size_t* line) noexcept nogil
    cdef bint next_chunk(self) noexcept nogil
    cdef void add_linear(self) noexcept nogil
    cdef void end_chunks(self) noexcept nogil
    cdef void filter(self, const Arrays* a, size_t first, size_t last) noexcept nogil
    cdef int add_constant(self) noexcept nogil
    cdef int reserve(self, size_t n) noexcept nogil
    cdef Expansion cross(self, const Arrays* a, size_t line) noexcept nogil
    cdef int begin_crossing(self, const Arrays* a, size_t line) noexcept nogil
    cdef void end_crossing(self) noexcept nogil
    cdef uint64_t count_crossed(self) noexcept nogil
    cdef void gather(self, const Arrays* a, uint8_t letter, size_t first, size_t last) noexcept nogil
    cdef void gather_named(self, const Arrays* a, size_t first, size_t last) noexcept nogil
    cdef int combine(self, const uint16_t* letters, size_t order, Odometer* o, size_t most) noexcept nogil
    cdef object set_terms(self)


cdef inline bint is_gathered(Expander self, const FeatureRun* run) noexcept nogil:
    """Whether a run is one of copies."""
    return self.gathered_hash <= run.hash < self.gathered_hash + self.gathered
