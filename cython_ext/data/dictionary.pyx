"""One numbering of features for many batches.

Each batch of a cache numbers its own distinct hashes, as it was parsed separately. Most of them are those of the batch
before. A dictionary gives them numbers that are valid for successive batches, so that the learner looks up only the
new ones; the thread that reads ahead does the numbering, while another thread learns.
"""

from libc.stdint cimport uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from vwlite.core.base.fibonacci cimport place_of, shift_of
from vwlite.core.data.batch cimport MOST_DISTINCT, Batch, new_dictionary

cdef enum:
    PLACES = 2 * MOST_DISTINCT


cdef class Dictionary:
    """Hashes, each with its number: which one it was of those that came, at most 2^16. It grows, and what is there
    stays. MemoryError."""

    cdef uint32_t* hashes       # owned, [2^16]
    cdef uint64_t* places       # owned, [PLACES] the hash that is there * 2^32 + 1 + its number; 0: none
    cdef uint16_t* translated   # owned, [2^16] the numbers of a batch's own
    cdef size_t count
    cdef uint64_t id

    def __cinit__(self):
        self.hashes = <uint32_t*>malloc(MOST_DISTINCT * sizeof(uint32_t))
        self.places = <uint64_t*>calloc(PLACES, sizeof(uint64_t))
        self.translated = <uint16_t*>malloc(MOST_DISTINCT * sizeof(uint16_t))
        if self.hashes == NULL or self.places == NULL or self.translated == NULL:
            raise MemoryError("no memory for a dictionary of features")
        self.id = new_dictionary()

    def __dealloc__(self):
        free(self.hashes)
        free(self.places)
        free(self.translated)

    def __len__(self):
        return self.count

    def renumber(self, Batch batch not None):
        """Let a view of a numbered batch use these numbers; its own are overwritten in place. The dictionary lives
        as long as the batch.

        False, with the batch unchanged: the capacity is exceeded; the dictionary cannot be used for
        further ones. ValueError if the batch is not a view, or its memory is read-only.
        """
        cdef bint done
        if batch.owner is None or batch.owner.readonly:
            raise ValueError("only a view of memory that may be written can be renumbered")
        if batch.a.distinct == 0:
            return True
        with nogil:
            done = translate(self, batch)
        if done:
            batch.a.distinct_hash, batch.a.distinct, batch.a.dictionary = self.hashes, self.count, self.id
            batch.shared.append(self)
        return done


cdef bint translate(Dictionary self, Batch batch) noexcept nogil:
    """Give the hashes of a batch numbers, and write these in place of its own. False: the capacity is exceeded."""
    cdef size_t i, at
    cdef int shift = shift_of(PLACES)
    cdef uint32_t hash
    cdef uint64_t found
    cdef uint16_t* hash_number = batch.a.hash_number
    for i in range(batch.a.distinct):
        hash = batch.a.distinct_hash[i]
        at = place_of(hash, shift)
        while True:
            found = self.places[at]
            if found == 0:
                if self.count == MOST_DISTINCT:
                    return False
                self.hashes[self.count] = hash
                self.count += 1
                self.places[at] = found = <uint64_t>hash << 32 | self.count
                break
            if found >> 32 == hash:
                break
            at = (at + 1) & (PLACES - 1)
        self.translated[i] = <uint16_t>(<uint32_t>found - 1)
    for i in range(batch.a.features):
        hash_number[i] = self.translated[hash_number[i]]
    return True
