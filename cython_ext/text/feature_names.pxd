"""Names of features, collected while text is parsed. See feature_names.pyx."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from vwlite.core.base.buffers cimport Buffer
from vwlite.core.data.batch cimport Arrays, Batch
from vwlite.core.data.expand cimport MOST_TERMS, Expander
from vwlite.core.text.parser cimport Parser


# A set of hashes: open addressing, half full at most.
cdef struct HashSet:
    uint32_t* slots     # owned; [capacity], 0 where none is
    size_t capacity, count
    int shift
    bint has_zero


# A name that was found; its text follows that of the previous one.
cdef struct Found:
    uint32_t hash
    uint32_t size
    uint32_t component  # whether it is part of crosses only, and no feature by itself


# A key and its name.
cdef struct Named:
    uint32_t key
    uint32_t size
    const char* text


# The arrays of FeatureNames.
cdef struct KnownNames:
    const uint32_t* keys
    const uint32_t* ends
    const char* text


# What `NameStore.of` makes on its way.
cdef struct Gathered:
    uint64_t* items         # owned; a key and a number each, with space for twice the number of entries
    Named* names            # owned
    size_t count
    Buffer made             # text of crosses


cdef class NameStore:
    cdef readonly size_t most
    cdef readonly bint full, crosses_full
    cdef size_t most_text
    cdef Found* names           # owned
    cdef uint64_t* ends         # owned; where the text of each ends
    cdef size_t count, name_capacity, end_capacity
    cdef uint32_t* places       # owned; [place_capacity] 1 + the number of the name that has the hash, 0: none;
                                # at most half of them are taken
    cdef size_t place_capacity
    cdef int shift
    cdef Buffer text
    cdef Buffer crosses         # of uint32: hash, number of components, their hashes
    cdef uint64_t* cross_at     # owned; where each begins there
    cdef size_t cross_count, cross_capacity
    cdef HashSet crossed        # the hashes of crosses
    cdef object known           # names that were there before, by key: (keys, ends, text)
    cdef size_t known_count

    cdef int place(self, uint32_t hash, size_t* at) noexcept nogil
    cdef int number_names(self) noexcept nogil
    cdef int add(self, const Found* found, const char* text) noexcept nogil
    cdef int add_cross(self, const uint32_t* record) noexcept nogil
    cdef int gather(self, const uint32_t* keys, size_t n, const double* weights, size_t records, int bits,
                    const KnownNames* known, Gathered* g) noexcept nogil
    cdef int compose(self, const uint32_t* record, Buffer* out) noexcept nogil


cdef class NameFinder:
    cdef readonly NameStore store
    cdef Expander expander
    cdef Parser parser              # of VW text that is converted from other formats ...
    cdef Batch converted            # ... and what it found
    cdef bint crossing
    cdef bint all_alive             # no namespace is left out
    cdef uint32_t mask
    cdef HashSet wanted
    cdef HashSet met                # hashes that are known already
    cdef uint32_t* recent           # owned; hashes that were met lately, each at its home
    cdef uint32_t* recent_crosses   # behind them; the same of crosses
    cdef HashSet crossed            # crosses that were passed on
    cdef bint selects               # only names of keys in `wanted` are searched
    cdef uint32_t* news             # owned; places of new features in the arrays of the batch
    cdef size_t news_count, news_capacity
    cdef Buffer found, text, crosses
    cdef char* unescaped            # owned; a name of VW text without its escapes
    cdef size_t unescaped_size
    # of the cross that is being made
    cdef uint32_t[MOST_TERMS] components

    cdef int look(self, const Arrays* a) noexcept nogil
    cdef size_t not_recent(self, const uint32_t* hash, size_t begin, size_t end, size_t n) noexcept nogil
    cdef int copy_names(self, const char* text, size_t size, const Arrays* a, Batch named,
                        Batch kinds) noexcept nogil
    cdef int cross(self, const Arrays* a) noexcept nogil
    cdef int combine(self, const uint16_t* letters, size_t order, size_t depth, size_t begin, uint64_t hash) noexcept nogil
