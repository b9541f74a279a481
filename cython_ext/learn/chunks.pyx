"""The features of an oversized example, in chunks: rules can iterate over them as often as they need to.

A line of 10,000 features has 50 million products of two. Each iteration expands them and looks up their slots again, so
that no memory holds them all, and the memory for an example is a fraction of the table. That is done only for lines
with more features than the expander's bound; all others are in memory as a whole.

During an iteration, a stop may be requested: then that iteration and all later ones end at once, as if the example had
no more features. Python's signal handlers run meanwhile too.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdlib cimport free
from libc.stdint cimport uint32_t

from vwlite.core.base.buffers cimport reserve
from vwlite.core.data.expand cimport CONSTANT, ENDED
from vwlite.core.learn.table cimport IsDefault, prefetch

from vwlite.core.base.memory import available

cdef enum:
    CHECK_EVERY = 1000000          # number of features between checks for a stop
    NEAR = 1 << 21          # bytes of a table that is in the cache anyway
    LARGE = 1 << 28         # bytes of a table that is not made without asking how much memory there is


cdef bint next_of(ChunkSource* chunks, Example* part) noexcept nogil:
    return (<ChunkMaker>chunks.maker).next(part)


cdef class ChunkMaker:
    """Iterates over the features of one line of a batch at a time.

    The key of a feature is its key in the expander, unless `set_keys` sets others.
    """

    def __cinit__(self, Expander expander not None, Table table not None):
        self.expander, self.table = expander, table
        self.chunks.next, self.chunks.maker = next_of, <void*>self

    def __dealloc__(self):
        free(self.slots)

    cdef void set_keys(self, int shift, uint32_t model, uint32_t mask, int less) noexcept nogil:
        """A key is ((hash << shift) + model & mask) >> less."""
        self.shift, self.model, self.mask, self.less, self.cuts = shift, model, mask, less, True

    cdef int start_line(self, const Arrays* a, size_t line) noexcept nogil:
        """Start to iterate over this line, until `end`; -1: no memory."""
        self.stopped, self.since, self.chunks.offset = False, 0, 0
        if (self.expander.begin_chunks(a, line)
                or reserve(<void**>&self.slots, &self.capacity, self.expander.chunk, sizeof(char*))):
            return -1
        self.size = self.expander.count(a, line)
        self.find_constant()
        return 0

    cdef int make_slots(self) noexcept nogil:
        """Create a slot for every feature; the slots do not move until the next example; -1: no memory.

        Until then the table must not forget idle slots, as it may when it grows.
        """
        cdef IsDefault is_default = self.table.is_default
        cdef size_t n, bytes
        cdef int failed = 0
        self.table.is_default = NULL
        self.expander.rewind()
        while not failed and self.fill():
            n, bytes = self.expander.part.size, 2 * self.table.capacity * self.table.stride
            if self.table.used + n > self.table.limit and bytes > LARGE and not there_is(bytes):
                failed = -1
            else:
                failed = self.table.resolve(self.expander.part.keys, n, self.slots)
        self.table.is_default = is_default
        self.find_constant()
        return failed

    cdef void find_constant(self) noexcept nogil:
        cdef uint32_t key = ((<uint32_t>CONSTANT & self.expander.mask) << self.shift) + self.model
        if self.cuts:
            key = (key & self.mask) >> self.less
        self.table.lookup(&key, 1, &self.chunks.constant_slot)

    cdef bint next(self, Example* part) noexcept nogil:
        """Create the next chunk; the first one, if the iteration has not started."""
        cdef size_t i, n
        cdef size_t offset = self.chunks.offset
        cdef const uint32_t* keys
        if not part.started:
            self.expander.rewind()
            part.started = True
        if not self.fill():
            return False
        keys, n = self.expander.part.keys, self.expander.part.size
        if self.table.capacity * self.table.stride > NEAR:
            prefetch(self.table, keys, n)
        self.table.lookup(keys, n, self.slots)
        for i in range(n):
            self.slots[i] += offset
        part.size, part.slots, part.x = n, self.slots, self.expander.part.values
        part.ends = self.expander.stage == ENDED
        return True

    cdef bint fill(self) noexcept nogil:
        """Expand the next chunk and compute its keys; returns whether there is one."""
        cdef size_t i
        cdef uint32_t* keys
        if not self.expander.next_chunk() or not self.continues(self.expander.part.size):
            return False
        if self.cuts:
            keys = self.expander.part.keys
            for i in range(self.expander.part.size):
                keys[i] = ((keys[i] << self.shift) + self.model & self.mask) >> self.less
        return True

    cdef bint continues(self, size_t features) noexcept nogil:
        """Whether no stop was requested."""
        self.since += features
        if self.since >= CHECK_EVERY and not self.stopped:
            self.since = 0
            if self.stopping != NULL and vwlite_load(self.stopping[0]):
                self.stopped = True
            else:
                with gil:
                    try:
                        PyErr_CheckSignals()
                    except BaseException as error:
                        self.error, self.stopped = error, True
        return not self.stopped

    cdef void end(self) noexcept nogil:
        self.expander.end_chunks()

    def raise_error(self):
        """Raise the exception that a signal handler raised meanwhile."""
        error, self.error = self.error, None
        if error is not None:
            raise error


cdef bint there_is(size_t bytes) noexcept nogil:
    """Whether so much memory is free, as far as known. The system would grant more, and then kill some program."""
    with gil:
        free_bytes = available()
        return free_bytes is None or bytes <= free_bytes
