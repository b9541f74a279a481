"""The interface of an update rule: the struct of a slot, how to predict from it, and how to learn.

Calls are virtual once per example (`predict`, `update`); the loops over features are inside and are compiled
statically. Only the rule interprets the contents of a slot; table, learner and model file call its methods.

To add a rule, write a file like those in `rules/`: the slot struct (first field `uint32_t mark`),
`SLOT` with its fields in NumPy notation, `SLOT_BYTES` with its size, `SCALARS` with the names of the state that
is not per feature, the methods `predict`, `update`, `weight` and `is_default`, and `state_of` if no field is the
weight itself. When a model is read, its weights are compared with those that `weight` computes from its state: without
a table where the rule says `WEIGHS_ALONE`. Then a row in
`vwlite/algorithms/table.py`, a page in `vwlite/algorithms/pages/`, and its eager reference implementation in
`tests/reference/slow_rules.py`.

An example with millions of features, created by interactions, is delivered in chunks (chunks.pyx): a rule iterates
over them as often as it needs to (`iterate`), and stores nothing per position. What it stores per feature belongs to
the table and its size. The sums are those of the whole example, in the same order.
"""

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport uint32_t

from vwlite.core.base.elementary cimport pow
from vwlite.core.learn.table cimport Head, next_slot


cdef double learning_rate(const Schedule* s, double t) noexcept nogil:
    """eta_t for the t-th example, t counted from 1."""
    cdef double time = t + s.initial_t
    if s.power_t == 0.5:
        return s.rate * s.decay / sqrt(time)
    if s.power_t == 0:
        return s.rate * s.decay
    return s.rate * s.decay * pow(time, -s.power_t)


cdef double positive(double x, str name) except -1:
    """A number of a model; ValueError if it is not positive and finite."""
    if not 0 < x < INFINITY:
        raise ValueError(f"the {name} is not a positive number")
    return x


cdef bint slot_is_default(void* rule, const char* slot) noexcept nogil:
    return (<Rule>rule).is_default(slot)


cdef class Rule:
    """The base class of the rules.

    loss: for its invariant step and for several classes; derivatives come with each `Outcome`. rate, power_t,
    initial_t: the schedule, eta_t = rate * decay * (t + initial_t)^-power_t. constant_key: the key of the intercept,
    which is never shrunk, truncated or projected; None without an intercept.
    """

    SLOT = [("mark", "<u4")]    # the fields of the slot struct
    SLOT_BYTES = sizeof(Head)   # of that struct: `SLOT` must match the layout of the C struct
    SCALARS = ["t"]             # attributes with the rest of the state
    MOST_FEATURES = None        # the maximal number of features
    CLIPS = False               # whether predictions are clipped to the range of labels seen
    WEIGHS_ALONE = False        # whether the weight of a slot depends on no other one: on it and the scalars
    UNSEEN_WEIGHS = False       # whether a feature without a slot has a weight; then the intercept always has a slot

    def __init__(self, Loss loss not None, *, double rate=0.5, double power_t=0.5, double initial_t=0,
                 constant_key=None):
        self.loss = loss
        self.schedule.rate, self.schedule.power_t, self.schedule.initial_t = rate, power_t, initial_t
        self.schedule.decay = 1
        self.has_constant = constant_key is not None
        self.constant_mark = 1 << 32 if constant_key is None else (constant_key + 1) & 0xFFFFFFFF
        assert self.slot_size() == self.SLOT_BYTES, f"the struct of a slot has {self.SLOT_BYTES} bytes, SLOT does not"
        self.make_table(self.slot_size(), self.blank(), 1)

    cdef make_table(self, size_t record, bytes blank, size_t records):
        """An empty table whose slots have `records` records."""
        cdef uint32_t constant_key = <uint32_t>(self.constant_mark - 1)
        cdef char* slot
        self.table = Table(record, blank, records)
        self.table.rule = <void*>self
        self.table.is_default = slot_is_default
        # Without a slot it would be handled as an unseen feature, as would a feature with its key.
        if self.UNSEEN_WEIGHS and self.has_constant and self.table.resolve(&constant_key, 1, &slot):
            raise MemoryError("no memory for the weight table")

    @classmethod
    def slot_size(cls):
        """Bytes of a slot with the padding of C: each field at a multiple of its size."""
        at = 0
        sizes = [int(code[2:]) for _, code in cls.SLOT]
        for size in sizes:
            at += -at % size + size
        return at + -at % max(sizes)

    def blank(self):
        """The initial slot as bytes; None: all zeros."""
        return None

    cdef double predict(self, const Example* e) noexcept nogil:
        """initial + <w, x>, with the weights w of the model, for an example that is not learned. Changes no weight.

        This generic version calls `weight`; a rule whose predictions should be fast has a loop of its own.
        """
        cdef size_t i
        cdef double sum = 0
        cdef Example part = iterate(e)
        while next_chunk(&part):
            for i in range(part.size):
                sum += self.weight(part.slots[i]) * part.x[i]
        return e.initial + sum

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        """The prediction of an example that `update` learns next; a rule may store its features already."""
        return self.predict(e)

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        """Learn from an example whose importance is positive."""
        pass

    cdef void begin_unit(self, char* slot) noexcept nogil:
        """The feature of a slot, which may be new, has values from 0 to 1: hats and products of `--derive`."""
        pass

    cdef double weight(self, const char* slot) noexcept nogil:
        """The current weight, including pending lazy updates."""
        return 0

    cdef bint is_default(self, const char* slot) noexcept nogil:
        """Whether the slot can be dropped without any effect."""
        return False

    cdef void normalize(self, char* slot) noexcept nogil:
        """Update the copy of a slot for a model, if some fields have other values there."""
        pass

    def flush(self):
        """Called before slots go into a model: do deferred work that the model could not do later."""

    def on_load(self, slots):
        """Fill the table from the beginning with slots of a model that must not be dropped."""
        return slots

    @property
    def pass_decay(self):
        """rho^(pass - 1)."""
        return self.schedule.decay

    @pass_decay.setter
    def pass_decay(self, double decay):
        self.schedule.decay = decay

    def __len__(self):
        """Features in the table."""
        return len(self.table)

    @property
    def records(self):
        """Number of weights per feature: one, or one per class."""
        return self.table.stride // self.table.record

    @property
    def table_bytes(self):
        return self.table.nbytes

    # --- state, for the model file -----------------------------------------------------------

    def scalars(self):
        """The state that is not per feature, by name."""
        return {name: getattr(self, name) for name in self.SCALARS}

    def set_scalars(self, scalars):
        for name in self.SCALARS:
            setattr(self, name, scalars[name])

    def slots(self):
        """The live slots as one bytearray, `slot_size()` bytes each, by rising key."""
        self.flush()
        out = self.table.slots_in_order()
        cdef char* data = out
        cdef size_t i, n = len(out) // self.table.stride
        for i in range(n):
            self.normalize(data + i * self.table.stride)
        return out

    def load(self, scalars, slots):
        """Continue from `scalars()` and `slots()`."""
        self.set_scalars(scalars)
        self.table.load(self.on_load(slots))

    # --- merges of models: m is a `Merged` of vwlite/merging, whose arrays have, for each key, a row of all classes

    restricted = None       # a method of (m, w): restricts merged weights to what the algorithm allows
    shrunk_since = None     # a method of (now, before): the shrinkage of the weights that a shard does not have

    def state_of(self, m):
        """The fields of slots, by name, for weights m.w and precisions m.S, such that the next step is that of
        a learner that reached them by itself; it adds numbers of the rule to `m.scalars`. Missing fields are set from
        a current number of the rule."""
        return {"w": m.w}

    def radius_changed(self):
        """Continue from a loaded state with another radius."""

    def weights(self, const unsigned char[::1] slots, double[::1] out):
        """The current weights of slots as returned by `slots()`."""
        cdef size_t i, stride = self.table.stride
        for i in range(<size_t>out.shape[0]):
            out[i] = self.weight(<const char*>&slots[i * stride])

    def weights_of_state(self, const unsigned char[::1] slots, double[::1] out):
        """The weights of slots of a model whose state was set: by `set_scalars`, if they weigh alone, else by `load`."""
        self.weights(self.on_load(slots), out)

    def count_nonzero(self):
        """Features with a nonzero weight, without the intercept. O(size of the table)."""
        cdef size_t n = 0
        cdef char* slot = NULL
        with nogil:
            while next_slot(self.table, &slot):
                if (<Head*>slot).mark != self.constant_mark:
                    n += self.weight(slot) != 0
        return n
