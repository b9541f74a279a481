"""One against all as Vowpal Wabbit has it: K linear models whose keys interleave.

Outside, in models, the weight of a feature for class k, counted from 0, has the key (key of the feature) * 2^shift + k.
Inside, the K records of a feature lie side by side (multiclass.pyx), so that it is looked up once for all classes.

Scores are clipped before the largest is looked for, all of them to one range, whose owner is the front: it knows which
labels there were.
"""

from libc.math cimport log
from libc.stdint cimport uint32_t
from libc.string cimport memcpy

from vwlite.core.base.elementary cimport sigmoid
from vwlite.core.learn.multiclass cimport Classifier
from vwlite.core.learn.rule cimport Example, Outcome, Rule
from vwlite.core.learn.table cimport Head
from vwlite.core.vw.coin cimport Coin
from vwlite.core.vw.gd_flags cimport GdWithFlags


cdef inline double positive_sigmoid(double score) noexcept nogil:
    """Positive, so that the sum over the classes is."""
    return sigmoid(min(max(score, -500.0), 500.0))


def of_each(name):
    """An attribute that the rules of all classes have alike."""
    def put(self, value):
        for rule in self.rules:
            setattr(rule, name, value)

    return property(lambda self: getattr(self.rules[0], name), put)


def of_first(name):
    """A sum over features, of each class. Features outside of the table are those of the first one."""
    def put(self, value):
        for k, rule in enumerate(self.rules):
            setattr(rule, name, 0.0 if k else value)

    return property(lambda self: getattr(self.rules[0], name), put)


cdef class Interleaved(Classifier):
    """rules: one for each class, of the same kind, untrained. shift: K is at most 2^shift.
    probable: the log loss is requested. raw: the clipped scores replace probabilities.

    `slots` and `load_slots` use single records, of `slot_size()` bytes, with the original keys.
    """

    def __cinit__(self, list rules not None, *, int shift, bint probable=False, bint raw=False):
        if not 0 <= shift < 32 or self.classes > <size_t>1 << shift:
            raise ValueError(f"{self.classes} classes, and keys for 2^{shift}")
        self.shift = shift
        self.strays = []

    def __init__(self, list rules not None, *, int shift, bint probable=False, bint raw=False):
        super().__init__(rules)
        self.probable, self.raw = probable, raw
        self.flagged, self.betting = isinstance(rules[0], GdWithFlags), isinstance(rules[0], Coin)

    # --- learning ----------------------------------------------------------------------------

    cdef inline double clipped(self, double score) noexcept nogil:
        return min(max(score, self.low), self.high)

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        cdef size_t k
        if self.betting:
            for k in range(self.classes):
                (<Coin>self.each[k]).importance = self.importance
        return Classifier.predict_to_learn(self, e)

    cdef size_t best(self, size_t named) noexcept nogil:
        cdef size_t k, found = 0
        for k in range(1, named):
            if self.clipped(self.scores[k]) > self.clipped(self.scores[found]):
                found = k
        return found + 1

    cdef bint evaluate(self, size_t label, double importance, size_t named) noexcept nogil:
        cdef size_t k
        cdef Outcome* o
        for k in range(self.classes):
            o = &self.outcomes[k]
            o.importance = importance
            o.label = 1 if k + 1 == label else -1
            o.p = self.clipped(self.scores[k])
            o.loss = self.loss.evaluate(o.p, o.label, &o.dloss)
            if o.loss - o.loss != 0:
                return False
        return True

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t k
        Classifier.update(self, e, o)
        for k in range(self.classes):
            if self.flagged:
                self.has_warning |= (<GdWithFlags>self.each[k]).has_warning

    cdef void probabilities(self, size_t named, double* out) noexcept nogil:
        """The sigmoids of the clipped scores, made to add up to 1; or these scores themselves."""
        cdef size_t k
        cdef double sum = 0
        for k in range(named):
            out[k] = self.clipped(self.scores[k])
            if not self.raw:
                out[k] = positive_sigmoid(out[k])
                sum += out[k]
        if not self.raw:
            for k in range(named):
                out[k] /= sum

    cdef double log_loss(self, size_t label, size_t named) noexcept nogil:
        cdef size_t k
        cdef double sum = 0
        for k in range(named):
            sum += positive_sigmoid(self.clipped(self.scores[k]))
        return -log(max(positive_sigmoid(self.clipped(self.scores[label - 1])) / sum, 1e-45))

    # --- state -------------------------------------------------------------------------------

    def slots(self):
        cdef bytearray whole = Classifier.slots(self)
        cdef size_t n = len(whole) // self.table.stride
        cdef bytearray out = bytearray(n * self.classes * self.record)
        cdef char* source = whole
        cdef char* target = out
        cdef size_t i, k, size = 0
        cdef uint32_t key
        for i in range(n):
            key = (<Head*>source).mark - 1
            for k in range(self.classes):
                if not (<Rule>self.each[k]).is_default(source):
                    memcpy(target + size, source, self.record)
                    (<Head*>(target + size)).mark = ((key << self.shift) | <uint32_t>k) + 1
                    size += self.record
                source += self.record
        del out[size:]
        return self.merged(out) if self.strays else out

    cdef bytearray merged(self, bytearray records):
        """Records by rising key, and the strays among them."""
        cdef size_t record = self.record
        found = [bytes(records[at : at + record]) for at in range(0, len(records), record)]
        return bytearray(b"".join(sorted(found + self.strays, key=key_of)))

    cdef load_records(self, const unsigned char[::1] records):
        cdef size_t i, n = records.shape[0] // self.record
        cdef const char* given
        cdef char* slot
        cdef uint32_t key, k, mark
        for i in range(n):
            given = <const char*>&records[i * self.record]
            key = (<const Head*>given).mark - 1
            k = key & ((<uint32_t>1 << self.shift) - 1)
            if k >= self.classes:
                self.strays.append(given[:self.record])
                continue
            key >>= self.shift
            if self.table.resolve(&key, 1, &slot):
                raise MemoryError("no memory for the weight table")
            slot += k * self.record
            mark = (<Head*>slot).mark
            memcpy(slot, given, self.record)
            (<Head*>slot).mark = mark
        self.strays.sort(key=key_of)

    # What the front asks of a rule.
    norm_sum = of_first("norm_sum")
    weight_sum = of_first("weight_sum")
    gravity = of_each("gravity")
    contraction = of_each("contraction")
    elapsed = of_each("elapsed")
    external_clock = of_each("external_clock")

    def fold_weights(self):
        self.prepare_all()
        for rule in self.rules:
            rule.fold_weights()


def load_slots(Rule rule not None, slots):
    """Insert slots as returned by `slots()` into a rule, without the rest of its state."""
    if isinstance(rule, Interleaved):
        (<Interleaved>rule).load_records(slots)
    else:
        rule.table.load(slots)


def key_of(bytes record):
    """The key of a record."""
    return <uint32_t>((<const Head*><const char*>record).mark - 1)
