"""The base class of rules with a matrix of the features seen so far, in the order of appearance.

A step costs at least O(n^2) for n features: it is for few features, and raises an error if there are more.
"""

from libc.stdint cimport uint32_t

from vwlite.core.base.dense import times
from vwlite.core.learn.rule cimport Example, Outcome, Rule, iterate, next_chunk
from vwlite.core.learn.table cimport next_slot

cdef enum:
    MOST = 4096
    OVERSIZED = 1 << 20      # features of an example: above this, more than MOST of them count

np = None


def import_numpy():
    """Import on first use: the other rules start faster without it."""
    global np
    import numpy
    np = numpy
    return numpy


cdef class FullMatrix(Rule):
    """A rule implements `learn`, and `arrays`, `put` and `grow` of its arrays"""

    SLOT = [("mark", "<u4"), ("place", "<u4")]
    SLOT_BYTES = sizeof(Slot)
    MOST_FEATURES = MOST
    ARRAYS = {"w": 1}       # the arrays, and their dimensions

    def __init__(self, loss, **schedule):
        import_numpy()
        super().__init__(loss, **schedule)
        self.put({name: np.zeros((0,) * dimensions) for name, dimensions in self.ARRAYS.items()})
        self.penalized = np.zeros(0)

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef Slot** slots
        cdef double sum = 0
        cdef Example part = iterate(e)
        while next_chunk(&part):
            slots = <Slot**>part.slots
            for i in range(part.size):
                if slots[i].place:
                    sum += self.now[slots[i].place - 1] * part.x[i]
        return e.initial + sum

    cdef double weight(self, const char* slot) noexcept nogil:
        cdef uint32_t place = (<const Slot*>slot).place
        return self.now[place - 1] if place else 0

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).place == 0

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        self.t += 1
        with gil:
            try:
                self.learn(e, o)
            except MemoryError:
                self.out_of_memory = True
            except BaseException as fault:  # a matrix is not finite, or a bug, which is printed: both end the run
                self.w[:] = np.nan
                if not isinstance(fault, ArithmeticError):
                    raise

    cdef learn(self, const Example* e, const Outcome* o):
        """Learn from an example; t counts it already."""

    cdef vector(self, const Example* e, double factor):
        """The features of an example, times a factor; new ones get a place if that is not zero. None: too many."""
        cdef size_t i
        cdef Slot* s
        cdef size_t before = self.n
        cdef Example part = iterate(e)
        sums = {}
        while (factor != 0 or e.chunks == NULL) and next_chunk(&part):
            for i in range(part.size):
                key = <size_t>part.slots[i]
                sums[key] = sums.get(key, 0.0) + factor * part.x[i]
            if e.chunks != NULL and len(sums) > OVERSIZED:
                self.too_many = True
                return None
        for key, x in sums.items():
            s = <Slot*><size_t>key
            if s.place == 0 and x != 0:
                if self.n == MOST:
                    self.too_many = True
                    return None
                self.n += 1
                s.place = <uint32_t>self.n
                self.penalized = np.append(self.penalized, 0.0 if s.mark == self.constant_mark else 1.0)
        if self.n > before:
            self.grow(self.n - before)
        found = np.zeros(self.n)
        for key, x in sums.items():
            if (<Slot*><size_t>key).place:
                found[(<Slot*><size_t>key).place - 1] = x
        return found

    # --- state -------------------------------------------------------------------------------

    cdef arrays(self):
        """By the names in ARRAYS, in that order."""

    cdef put(self, arrays):
        """Replace them."""
        self.now = self.w = arrays["w"]

    cdef grow(self, size_t more):
        """Enlarge them by new features at the end."""

    def scalars(self):
        return super().scalars() | {name: memoryview(array.flatten()) for name, array in self.arrays().items()}

    def load(self, scalars, slots):
        cdef char* slot = NULL
        cdef Slot* s
        found = {}
        for name, dimensions in self.ARRAYS.items():
            flat = np.array(scalars[name], np.float64)
            found[name] = flat.reshape((round(flat.size ** (1 / dimensions)),) * dimensions)
        super().load(scalars, slots)
        self.put(found)
        self.n = found["w"].size
        self.penalized = np.full(self.n, np.nan)
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if s.place:
                if s.place > self.n:
                    raise ValueError("a feature is not in the arrays")
                self.penalized[s.place - 1] = 0.0 if s.mark == self.constant_mark else 1.0
        if np.isnan(self.penalized).any():
            raise ValueError("the arrays have more features than there are")


def product(A, x):
    """A x"""
    out = np.empty(len(A))
    times(A, x, out)
    return out
