"""Which namespaces occur in the data, alone and together: detects options whose namespaces never occur.

Once all of them have been seen, `look` costs nothing.
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from vwlite.core.data.batch cimport EXAMPLE, Batch


# A set of first letters, a bit for each byte.
cdef struct LetterSet:
    uint64_t words[4]


cdef inline void add(LetterSet* letters, uint8_t letter) noexcept nogil:
    letters.words[letter >> 6] |= <uint64_t>1 << (letter & 63)


cdef inline bint lies_in(const LetterSet* some, const LetterSet* all) noexcept nogil:
    cdef uint64_t outside = 0
    for i in range(4):
        outside |= some.words[i] & ~all.words[i]
    return outside == 0


cdef class Namespaces:
    """Looks for namespaces that begin with one of `letters`, and for examples that have all those of a group."""

    cdef readonly bytes letters
    cdef readonly list groups
    cdef LetterSet expected, seen
    cdef LetterSet* of_group      # owned; [groups]
    cdef uint8_t* met           # owned; [groups] whether an example had them all
    cdef size_t count, missing  # of groups; of those that were not met

    def __init__(self, bytes letters=b"", groups=()):
        cdef size_t i
        cdef int c
        self.letters, self.groups = bytes(sorted(set(letters))), list(groups)
        self.count = self.missing = len(self.groups)
        for c in list(self.letters):
            add(&self.expected, c)
        free(self.of_group)
        free(self.met)
        self.of_group = <LetterSet*>calloc(self.count + 1, sizeof(LetterSet))
        self.met = <uint8_t*>calloc(self.count + 1, 1)
        if self.of_group == NULL or self.met == NULL:
            raise MemoryError
        for i in range(self.count):
            for c in list(self.groups[i]):
                add(&self.of_group[i], c)

    def __dealloc__(self):
        free(self.of_group)
        free(self.met)

    def look(self, Batch batch not None):
        """Scan the examples of a batch, if some namespaces have not been seen yet."""
        cdef size_t line, span, i
        cdef LetterSet here
        if self.missing == 0 and lies_in(&self.expected, &self.seen):
            return
        with nogil:
            for line in range(batch.a.lines):
                if batch.a.kind[line] != EXAMPLE:
                    continue
                memset(&here, 0, sizeof(here))
                for span in range(batch.a.span_begin[line], batch.a.span_begin[line + 1]):
                    if batch.a.feature_begin[span] < batch.a.feature_begin[span + 1]:
                        add(&here, batch.a.letter[span])
                for i in range(4):
                    self.seen.words[i] |= here.words[i]
                for i in range(self.count):
                    if not self.met[i] and lies_in(&self.of_group[i], &here):
                        self.met[i] = True
                        self.missing -= 1

    def unseen_letters(self):
        """The `letters` that are not the first letter of any namespace with features, as bytes."""
        return bytes([c for c in self.letters if not self.seen.words[c >> 6] >> (c & 63) & 1])

    def unmet_groups(self):
        """The `groups` that never occurred completely in one example."""
        return [group for i, group in enumerate(self.groups) if not self.met[i]]
