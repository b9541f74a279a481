"""The best constant prediction for losses where sums over labels do not suffice: quantile, expectile, Huber."""

from libc.math cimport INFINITY
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free

from vwlite.core.base.arrays cimport view_of
from vwlite.core.base.random cimport SEED, below
from vwlite.core.learn.losses cimport Loss, Quantile

cdef enum:
    MOST = 1 << 16


cdef class LabelSample:
    """The first labels, with their importances; of more than MOST, a sample in which each label is with the same probability
    (Vitter. Random Sampling with a Reservoir. 1985; algorithm R)."""

    def __cinit__(self):
        self.random = SEED

    def __dealloc__(self):
        free(self.label)
        free(self.importance)

    cdef int add(self, double label, double importance) noexcept nogil:
        """-1: no memory. A label without importance does not count."""
        cdef uint64_t place = self.seen
        if not importance > 0:
            return 0
        if self.label == NULL:
            self.label, self.importance = <double*>calloc(MOST, sizeof(double)), <double*>calloc(MOST, sizeof(double))
            if self.label == NULL or self.importance == NULL:
                return -1
        self.seen += 1
        if place >= MOST:
            place = below(&self.random, self.seen)
            if place >= MOST:
                return 0
        else:
            self.size += 1
        self.label[place], self.importance[place] = label, importance
        return 0

    @property
    def labels(self):
        return view_of(self, self.label, self.size, 8, "d")

    @property
    def importances(self):
        return view_of(self, self.importance, self.size, 8, "d")

    def state(self):
        """What is kept, which `load` restores."""
        return {"labels": bytes(self.labels), "importances": bytes(self.importances), "seen": self.seen,
                "random": self.random}

    def load(self, state):
        cdef const double[::1] labels = memoryview(state["labels"]).cast("d")
        cdef const double[::1] importances = memoryview(state["importances"]).cast("d")
        for i in range(labels.shape[0]):
            if self.add(labels[i], importances[i]):
                raise MemoryError("no memory for labels")
        self.seen, self.random = state["seen"], state["random"]


def best_constant(Loss loss not None, const double[::1] labels not None, const double[::1] importances not None):
    """The prediction for all examples that has the least mean loss, which is between the least and the largest label; the least
    one of several."""
    cdef double low = INFINITY, high = -INFINITY
    cdef Py_ssize_t i
    if labels.shape[0] != importances.shape[0]:
        raise ValueError("arrays of different lengths")
    for i in range(labels.shape[0]):
        low, high = min(low, labels[i]), max(high, labels[i])
    if not low <= high:
        return 0.0
    if isinstance(loss, Quantile):
        return quantile(labels, importances, (<Quantile>loss).tau, low, high)
    return root(loss, labels, importances, low, high)


def constant_loss(Loss loss not None, double score, const double[::1] labels not None,
                  const double[::1] importances not None):
    """The mean loss of a prediction for all examples."""
    cdef double sum = 0, total = 0
    cdef Py_ssize_t i
    if labels.shape[0] != importances.shape[0]:
        raise ValueError("arrays of different lengths")
    for i in range(labels.shape[0]):
        sum += importances[i] * loss.value(score, labels[i])
        total += importances[i]
    return sum / total if total else 0.0


cdef double quantile(const double[::1] labels, const double[::1] importances, double tau, double low, double high) noexcept:
    """The least label up to which there is a share of tau; low, high: the least and the largest. The interval between two
    labels is halved until they are the same."""
    cdef double total = 0, below, middle, last, next
    cdef Py_ssize_t i
    for i in range(importances.shape[0]):
        total += importances[i]
    while low < high:
        middle = low / 2 + high / 2
        if not low <= middle < high:
            middle = low
        below, last, next = 0, low, high
        for i in range(labels.shape[0]):
            if labels[i] <= middle:
                below += importances[i]
                last = max(last, labels[i])
            else:
                next = min(next, labels[i])
        if below >= tau * total:
            high = last
        else:
            low = next
    return low


cdef double root(Loss loss, const double[::1] labels, const double[::1] importances, double low, double high) noexcept:
    """Where the derivative of the mean loss changes its sign, by bisection."""
    cdef double middle, sum
    cdef Py_ssize_t i
    while True:
        middle = low / 2 + high / 2
        if not low < middle < high:
            return high
        sum = 0
        for i in range(labels.shape[0]):
            sum += importances[i] * loss.dloss(middle, labels[i])
        if sum >= 0:
            high = middle
        else:
            low = middle
