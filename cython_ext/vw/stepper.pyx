"""One example at a time, controlled by Python: for learners that consist of several linear models.

A stepper holds the features of the current example. It has 2^shift models in one table: the key of a feature in
model k is its hash times 2^shift, plus k, cut to `bits` bits. Or the rule is a Classifier, which has the records of
these models side by side, under the hash cut to `bits - shift` bits.
"""

from libc.math cimport isnan
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from vwlite.core.base.buffers cimport ample, copy, resize
from vwlite.core.data.batch cimport Batch
from vwlite.core.data.expand cimport OVERSIZED, NO_SPACE, Expander, Expansion
from vwlite.core.learn.chunks cimport ChunkMaker, vwlite_store
from vwlite.core.learn.losses cimport Loss
from vwlite.core.learn.multiclass cimport Classifier
from vwlite.core.learn.rule cimport Example, Outcome, Rule
from vwlite.core.vw.coin cimport Coin
from vwlite.core.vw.gd_flags cimport GdWithFlags

from vwlite.core.base.memory import available

cdef enum:
    LISTED = 128        # bytes of a feature in the lists of `features`


class Stopped(Exception):
    """`stop` was called: an oversized example is left as it is, not predicted, and learned by some models at most."""


class TableFull(MemoryError):
    """No memory for the slots of an oversized example."""


cdef class Stepper:
    """rule, loss: what learns; a Classifier of 2^shift classes at most learns for each model on its own. expander: makes features of lines; its keys are whole hashes (bits=32).

    min_label, max_label: predictions are clipped to this range; `learn` widens it if `widens`. ValueError if there
    are more than 2^31 models, or keys of more than 32 bits.
    """

    cdef readonly Rule rule
    cdef Classifier classes        # the rule, if it is one; else None
    cdef readonly Expander expander
    cdef public Loss loss
    cdef public double min_label, max_label
    cdef public bint widens
    cdef uint32_t mask
    cdef readonly int shift
    cdef readonly size_t size      # features of the example
    cdef ChunkMaker maker          # of an oversized example ...
    cdef int stopping
    cdef Batch batch               # ... which is in this batch; else None
    cdef size_t capacity
    cdef uint32_t* bases           # keys in model 0, not cut; owned, as are the next three: [capacity]
    cdef uint32_t* keys
    cdef float* values
    cdef char** slots
    # of the last `predict` or `learn`
    cdef readonly double raw       # before it was clipped
    cdef readonly double value     # of the loss
    cdef readonly double dloss
    cdef uint32_t model            # the model whose sums the rule holds now
    cdef dict sums                 # the sums of the other models; None: the rule has no sums
    cdef readonly bint lost        # the raw prediction was not a number

    def __init__(self, Rule rule not None, Loss loss not None, Expander expander not None, *, int bits, int shift=0):
        if not (0 <= bits <= 32 and 0 <= shift < 32):
            raise ValueError(f"bits {bits} and shift {shift}: keys have 0 to 32 bits, and models fewer than 32")
        self.rule, self.loss, self.expander = rule, loss, expander
        if isinstance(rule, Classifier):
            self.classes = rule
        self.mask = <uint32_t>((<uint64_t>1 << bits) - 1)
        self.shift = shift
        self.widens = True
        self.maker = ChunkMaker(expander, rule.table)
        self.maker.stopping = &self.stopping
        if shift:
            self.share_sums()

    def __dealloc__(self):
        free(self.bases)
        free(self.keys)
        free(self.values)
        free(self.slots)

    cdef int reserve_for(self, size_t n) except -1:
        cdef size_t want = ample(n)
        if n <= self.capacity:
            return 0
        if (resize(<void**>&self.bases, want, sizeof(uint32_t)) or resize(<void**>&self.keys, want, sizeof(uint32_t))
                or resize(<void**>&self.values, want, sizeof(float)) or resize(<void**>&self.slots, want, sizeof(char*))):
            raise MemoryError("no memory for an example")
        self.capacity = want
        return 0

    def stop(self):
        """Let `predict` and `learn` raise Stopped instead of continuing with an oversized example. From any thread."""
        vwlite_store(self.stopping, 1)

    def share_sums(self):
        """Let model 0 start with the sums over scales that the rule holds, and the others with none, if they are
        separate."""
        if not isinstance(self.rule, GdWithFlags):
            return
        self.sums = {}
        self.model = 0

    def select(self, uint32_t model):
        """Load the sums of a model into the rule."""
        if self.sums is None or model == self.model:
            return
        self.sums[self.model] = (self.rule.norm_sum, self.rule.weight_sum)
        self.rule.norm_sum, self.rule.weight_sum = self.sums.get(model, (0.0, 0.0))
        self.model = model

    def take(self, Batch batch not None, size_t line):
        """Make a line of a batch the example at hand. Returns its number of features."""
        cdef size_t i
        cdef Expansion expansion
        if line >= batch.a.lines:
            raise IndexError(line)
        self.leave()
        if batch.decode():
            raise MemoryError("no memory for an example")
        expansion = self.expander.expand(&batch.a, line, 0, False)
        if expansion == NO_SPACE or (expansion == OVERSIZED and self.maker.start_line(&batch.a, line)):
            raise MemoryError("no memory for an example")
        if expansion == OVERSIZED:
            self.batch, self.size = batch, self.maker.size
            return self.size
        self.size = self.expander.f.size
        self.reserve_for(self.size)
        for i in range(self.size):
            self.bases[i] = self.expander.f.keys[i] << self.shift
        copy(self.values, self.expander.f.values, self.size * 4)
        return self.size

    cdef void leave(self):
        """The example at hand is needed no more."""
        if self.batch is not None:
            self.maker.end()
            self.batch = None

    def set(self, keys, values):
        """Make an example of keys in model 0 and values."""
        cdef size_t i = 0
        self.leave()
        self.reserve_for(len(keys))
        for key, x in zip(keys, values):
            self.bases[i], self.values[i] = <uint32_t>(<uint64_t>key), <float><double>x
            i += 1
        self.size = i
        return self.size

    def features(self):
        """The keys in model 0 and the values of the example, as lists; `set` takes them back."""
        cdef size_t i
        cdef Expander expander = self.expander
        if self.batch is not None:
            self.check_capacity()
            bases, values = [], []
            expander.rewind()
            while expander.next_chunk():
                bases += [expander.f.keys[i] << self.shift for i in range(expander.f.size)]
                values += [expander.f.values[i] for i in range(expander.f.size)]
            return bases, values
        return [self.bases[i] for i in range(self.size)], [self.values[i] for i in range(self.size)]

    cdef check_capacity(self):
        """MemoryError if an oversized example is too large to be listed."""
        free_bytes = available()
        if free_bytes is not None and LISTED * self.size > free_bytes:
            raise MemoryError(
                f"a line makes {self.size:,} features, and one of the options needs them all at once; try fewer interactions"
            )

    def key(self, uint32_t hash, uint32_t model=0):
        """The key of a hash in a model."""
        return ((hash << self.shift) + model) & self.mask

    def keys_of(self, uint32_t model=0):
        """The keys of the example's features in a model, as a list."""
        cdef size_t i
        if self.batch is not None:
            return [(<uint32_t>base + model) & self.mask for base in self.features()[0]]
        return [(self.bases[i] + model) & self.mask for i in range(self.size)]

    def weight(self, uint32_t key):
        """The weight of a key, cut to the bits that there are."""
        cdef Rule rule = self.rule_of(key & self.mask)
        return rule.weight(self.slot_of(key & self.mask))

    def set_weight(self, uint32_t key, float w):
        """Give a key a weight; the rest of its slot stays. TypeError if the rule makes its weights of other numbers."""
        cdef char* slot
        if self.rule.SLOT[1] != ("w", "<f4"):
            raise TypeError("the weights of this rule follow from other numbers")
        key &= self.mask
        if self.rule.table.resolve(&key, 1, &slot):
            raise MemoryError("no memory for the weight table")
        memcpy(slot + sizeof(uint32_t), &w, sizeof(float))

    def slots_of(self, keys):
        """The slots of these keys, as one bytes object; the blank slot for those that are not there."""
        cdef char* slot
        out = []
        for key in keys:
            slot = self.slot_of(<uint32_t>(<uint64_t>key))
            out.append(slot[:self.rule.table.record])
        return b"".join(out)

    cdef uint32_t class_of(self, uint32_t key) noexcept:
        """Which of the rules has a key, if there is one for each model; else 0."""
        cdef uint32_t k
        if self.classes is None:
            return 0
        k = key & ((<uint32_t>1 << self.shift) - 1)
        return k if k < self.classes.classes else 0

    cdef char* slot_of(self, uint32_t key) noexcept:
        cdef char* slot
        cdef uint32_t k = self.class_of(key)
        if self.classes is None:
            self.rule.table.lookup(&key, 1, &slot)
            return slot
        if k != key & ((<uint32_t>1 << self.shift) - 1):    # a class that there is not
            return self.rule.table.blank
        key >>= self.shift
        self.rule.table.lookup(&key, 1, &slot)
        return slot + k * self.classes.record

    cpdef Rule rule_of(self, uint32_t model):
        """The rule that learns for a model."""
        if self.classes is None:
            return self.rule
        return self.classes.rules[self.class_of(model)]

    cdef Rule locate(self, uint32_t model, bint learns):
        """Find the slots of the example in a model; the rule that learns for it, which holds the model's sums."""
        if self.batch is not None:
            return self.locate_chunks(model, learns)
        return self.locate_whole(model, learns)

    cdef Rule locate_chunks(self, uint32_t model, bint learns):
        cdef Rule rule = self.rule_of(model)
        cdef int failed = 0
        self.maker.set_keys(self.shift, model, self.mask, 0 if self.classes is None else self.shift)
        self.maker.find_constant()
        self.maker.chunks.offset = 0 if self.classes is None else model * self.classes.record
        if learns:
            self.select(model)
            with nogil:
                failed = self.maker.make_slots()
            self.maker.raise_error()
        if failed:
            raise TableFull
        if self.classes is not None:
            rule.table.sync_view()
        return rule

    cdef Example example(self, double initial):
        """The example at hand."""
        cdef Example e = Example(self.size, self.slots, self.values, initial, NULL, False, True)
        if self.batch is not None:
            e.chunks = &self.maker.chunks
        return e

    cdef double predicted(self, Rule rule, const Example* e) except? -1:
        """The prediction of a rule. Signals are handled meanwhile, if the example is oversized."""
        cdef double p
        if e.chunks == NULL:
            return rule.predict(e)
        with nogil:
            p = rule.predict(e)
        return self.unless_stopped(p)

    cdef double predicted_to_learn(self, Rule rule, const Example* e, double importance) except? -1:
        """The same of an example that is learned next."""
        cdef double p
        if isinstance(rule, Coin):
            (<Coin>rule).importance = importance
        if e.chunks == NULL:
            return rule.predict_to_learn(e)
        with nogil:
            p = rule.predict_to_learn(e)
        return self.unless_stopped(p)

    cdef double unless_stopped(self, double p) except? -1:
        self.maker.raise_error()
        if self.maker.stopped:
            raise Stopped
        return p

    cdef Rule locate_whole(self, uint32_t model, bint learns):
        cdef size_t i
        cdef Rule rule = self.rule_of(model)
        cdef int shift = 0 if self.classes is None else self.shift
        for i in range(self.size):
            self.keys[i] = ((self.bases[i] + model) & self.mask) >> shift
        if not learns:
            self.rule.table.lookup(self.keys, self.size, self.slots)
        else:
            if self.sums is not None and model != self.model:
                self.select(model)
            if self.rule.table.resolve(self.keys, self.size, self.slots):
                raise MemoryError("no memory for the weight table")
        if self.classes is not None:
            rule.table.sync_view()
            for i in range(self.size):
                self.slots[i] += model * self.classes.record
        return rule

    cdef inline double clipped(self, double p) noexcept nogil:
        if isnan(p):
            self.lost = True
            p = 0
        return min(max(p, self.min_label), self.max_label)

    def predict(self, uint32_t model=0, double initial=0):
        """The clipped prediction of a model."""
        cdef Rule rule = self.locate(model, False)
        cdef Example e = self.example(initial)
        self.lost = False
        self.raw = self.predicted(rule, &e)
        return self.clipped(self.raw)

    def learn(self, double label, double importance=1, uint32_t model=0, double initial=0):
        """Let a model learn the example; returns its clipped prediction before the update."""
        cdef Rule rule = self.locate(model, True)
        cdef Example e = self.example(initial)
        self.lost = False
        self.raw = self.predicted_to_learn(rule, &e, importance)
        if self.widens:
            self.min_label, self.max_label = min(self.min_label, label), max(self.max_label, label)
        return self.evaluate(rule, &e, self.clipped(self.raw), label, importance)

    def update(self, double p, double label, double importance=1, uint32_t model=0):
        """Let a model learn the example as if `p` were its prediction."""
        cdef Rule rule = self.locate(model, True)
        cdef Example e = self.example(0)
        self.predicted_to_learn(rule, &e, importance)    # what a rule notes on the way is needed
        return self.evaluate(rule, &e, p, label, importance)

    def use(self, Loss loss not None):
        """Set the loss."""
        cdef Rule rule
        self.loss = self.rule.loss = loss
        for rule in self.classes.rules if self.classes is not None else ():
            rule.loss = loss

    cdef double evaluate(self, Rule rule, Example* e, double p, double label, double importance) except? -1:
        """Let the rule learn from a prediction."""
        cdef Outcome o
        o.p, o.label, o.importance = p, label, importance
        o.loss = self.loss.evaluate(p, label, &o.dloss)
        self.value, self.dloss = o.loss, o.dloss
        if e.chunks == NULL:
            rule.update(e, &o)
        else:
            with nogil:
                rule.update(e, &o)
            self.maker.raise_error()
        if rule.out_of_memory:
            raise MemoryError("no memory for an example")
        return p
