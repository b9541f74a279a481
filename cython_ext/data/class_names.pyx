"""The names of classes, numbered from 1: looked up by number for output, by name in the parser.

With `grows`, names get their numbers as they appear. Parsers share one such object, one after the other, in the order
of the stream. The learner reads names meanwhile, but only those of lines that it has received; these never move or
change. """

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset

from vwlite.core.base.murmur cimport murmur


cdef class ClassNames:
    """At most `limit` names.

    names: the first of them. grows: whether more may be added. numbers: the names are the numbers from 1 to `limit`.
    """

    def __cinit__(self, uint32_t limit, names=(), *, bint grows=False, bint numbers=False):
        cdef uint32_t places = 4
        if numbers:
            names = [str(i).encode() for i in range(1, limit + 1)]
        if not len(names) <= limit:
            raise ValueError(f"{len(names)} names exceed the capacity of {limit}")
        while places < 2 * <size_t>limit:
            places *= 2
        self.limit, self.grows, self.numbers, self.mask = limit, grows, numbers, places - 1
        self.names = <ClassName*>calloc(max(limit, <uint32_t>1), sizeof(ClassName))
        self.places = <uint32_t*>calloc(places, sizeof(uint32_t))
        if self.names == NULL or self.places == NULL:
            raise MemoryError("no memory for the names of classes")
        self.extend(names)

    def __dealloc__(self):
        if self.names != NULL:
            self.forget(0)
        free(self.names)
        free(self.places)

    cdef uint32_t find(self, const char* text, size_t size) noexcept nogil:
        """The number of a name; 0: unknown."""
        cdef uint32_t at = murmur(text, size, 0) & self.mask
        cdef uint32_t number = self.places[at]
        while number != 0:
            if self.names[number - 1].size == size and memcmp(self.names[number - 1].text, text, size) == 0:
                return number
            at = (at + 1) & self.mask
            number = self.places[at]
        return 0

    cdef int take(self, const char* text, size_t size, uint32_t* number) noexcept nogil:
        """The number of a name, which it gets now if it is new and may have one; else 0. -1: no memory."""
        number[0] = self.find(text, size)
        if number[0] == 0 and self.grows and self.count < self.limit:
            if self.add(text, size):
                return -1
            number[0] = self.count
        return 0

    cdef int add(self, const char* text, size_t size) noexcept nogil:
        """Give a new name the next number; -1: no memory."""
        cdef char* copy = <char*>malloc(size + 1)
        if copy == NULL:
            return -1
        memcpy(copy, text, size)
        self.names[self.count] = ClassName(copy, size)
        self.count += 1
        self.enter(self.count)
        return 0

    cdef void enter(self, uint32_t number) noexcept nogil:
        cdef uint32_t at = murmur(self.names[number - 1].text, self.names[number - 1].size, 0) & self.mask
        while self.places[at] != 0:
            at = (at + 1) & self.mask
        self.places[at] = number

    cdef void forget(self, uint32_t count) noexcept nogil:
        """Keep the first `count` names: the others came from lines that do not count."""
        cdef uint32_t number
        if count == self.count:
            return
        for number in range(count, self.count):
            free(self.names[number].text)
        self.count = count
        memset(self.places, 0, (<size_t>self.mask + 1) * sizeof(uint32_t))
        for number in range(count):
            self.enter(number + 1)

    # --- Python interface -----------------------------------------------------------------

    def __len__(self):
        return self.count

    def __getitem__(self, size_t i):
        """The name of class i + 1, as text."""
        if i >= self.count:
            raise IndexError(i)
        return self.names[i].text[:self.names[i].size].decode("utf-8", "surrogateescape")

    def first(self, size_t count):
        """The first names, as texts."""
        return [self[i] for i in range(count)]

    def extend(self, names):
        """Add names, as bytes. ValueError for a duplicate name, or if the capacity is exceeded."""
        for name in names:
            if self.find(name, len(name)):
                raise ValueError(f"{name!r} names two classes")
            if self.count == self.limit:
                raise ValueError(f"more than {self.limit} names")
            if self.add(name, len(name)):
                raise MemoryError("no memory for the names of classes")

    def number(self, bytes name):
        """The number of a name, 0 if it is unknown."""
        return self.find(name, len(name))
