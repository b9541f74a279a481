"""The names of classes. See class_names.pyx."""

from libc.stdint cimport uint32_t


cdef struct ClassName:
    char* text          # owned by ClassNames
    size_t size


cdef class ClassNames:
    cdef readonly uint32_t limit         # K: the maximal number
    cdef readonly uint32_t count        # how many there are
    cdef readonly bint numbers          # they are the numbers 1 to K, whatever the spelling
    cdef readonly bint grows            # a new name gets the next number
    cdef public bint numbered           # by a parser that takes names or numbers: a label was a number
    cdef ClassName* names                    # owned; [limit], never moves
    cdef uint32_t* places               # owned; a hash table of numbers, 0: free
    cdef uint32_t mask

    cdef uint32_t find(self, const char* text, size_t size) noexcept nogil
    cdef int take(self, const char* text, size_t size, uint32_t* number) noexcept nogil
    cdef int add(self, const char* text, size_t size) noexcept nogil
    cdef void enter(self, uint32_t number) noexcept nogil
    cdef void forget(self, uint32_t count) noexcept nogil
