"""Several classes: one rule of the same kind per class, in one table.

A slot has K records, so one lookup finds a feature for all classes. Each rule has a table that is a view of its
record of every slot (table.pyx), and learns as it would alone. Only the outcome that it receives differs:

    one against all     y = 1 for the rule of the label's class, -1 for the others; each rule has the loss of its own
                        score. So the result is, bit by bit, that of K rules that learn K streams with two
                        labels.
    softmax             the multinomial logistic loss of all scores together, log(1 + sum over r != y of
                        exp(s_r - s_y)): the dloss for class r is P(r) - [r = y], P(r) = exp(s_r) / sum of exp(s).
                        Duchi, Shalev-Shwartz, Singer, Chandra. Efficient Projections onto the l1-Ball. ICML 2008;
                        eq. 12. With a rule that projects, each class has a ball of its own.
    quantiles           not classes: y is the label for all rules, each of which has the loss of its own quantile.
                        Predictions are the clipped scores in ascending order, so that they do not cross; in all, their
                        losses are never larger. Chernozhukov, Fernandez-Val, Galichon. Quantile and Probability
                        Curves without Crossing. Econometrica 2010.

Classes are numbered from 1. If class names are learned as they appear, the first `named` classes have one. The
prediction is the class with the largest score among these, the first one in case of a tie; classes without a name are
never predicted. In one against all they learn from the beginning (every example is a negative one for them); in
softmax they take no part until they have a name.
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from vwlite.core.base.buffers cimport reserve
from vwlite.core.base.elementary cimport exp, expm1, log, log1p, sigmoid
from vwlite.core.data.class_names cimport ClassNames
from vwlite.core.learn.losses import Logistic
from vwlite.core.learn.rule cimport Example, Outcome, Rule


cdef class Classifier(Rule):
    """The base class: K rules in one table. Where the state of a rule has a number, this one has a list of K.

    rules: one per class, of the same kind and settings, untrained.
    """

    def __cinit__(self, list rules not None, *arguments, **options):
        cdef size_t k, n = len(rules)
        self.classes = n
        self.each = <void**>calloc(n, sizeof(void*))
        self.scores = <double*>calloc(n, sizeof(double))
        self.outcomes = <Outcome*>calloc(n, sizeof(Outcome))
        if self.each == NULL or self.scores == NULL or self.outcomes == NULL:
            raise MemoryError("no memory for the classes")

    def __init__(self, list rules not None):
        cdef Rule rule = rules[0]
        cdef size_t k
        self.rules = rules
        self.loss = rule.loss
        self.has_constant, self.constant_mark = rule.has_constant, rule.constant_mark
        self.no_preallocation = rule.no_preallocation
        self.record = rule.slot_size()
        self.make_table(self.record, rule.blank(), self.classes)
        for k, rule in enumerate(rules):
            self.each[k] = <void*>rule
            rule.table.view(self.table, k * self.record)

    def __dealloc__(self):
        free(self.each)
        free(self.scores)
        free(self.outcomes)
        free(self.slots_of_class)

    @property
    def SLOT(self):
        return self.rules[0].SLOT

    @property
    def MOST_FEATURES(self):
        return self.rules[0].MOST_FEATURES

    @property
    def UNSEEN_WEIGHS(self):
        return self.rules[0].UNSEEN_WEIGHS

    def slot_size(self):
        """Bytes of a record."""
        return self.record

    # --- learning ----------------------------------------------------------------------------

    cdef int start_classes(self, Example* part, const Example* e) noexcept nogil:
        """The example for the first class; -1: no memory."""
        cdef size_t i
        part[0] = e[0]
        if e.chunks != NULL:
            e.chunks.offset = 0
            return 0
        if reserve(<void**>&self.slots_of_class, &self.capacity, e.size, sizeof(char*)):
            self.out_of_memory = True
            return -1
        part.slots = self.slots_of_class
        for i in range(e.size):
            part.slots[i] = e.slots[i]
        return 0

    cdef inline void go_on(self, Example* part) noexcept nogil:
        """The example for the next class."""
        cdef size_t i
        if part.chunks != NULL:
            part.chunks.offset += self.record
            return
        for i in range(part.size):
            part.slots[i] += self.record

    cdef void begin_unit(self, char* slot) noexcept nogil:
        cdef size_t k
        for k in range(self.classes):
            (<Rule>self.each[k]).begin_unit(slot + k * self.record)

    cdef double predict(self, const Example* e) noexcept nogil:
        return self.score(e, False)

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        return self.score(e, True)

    cdef double score(self, const Example* e, bint learns) noexcept nogil:
        """Fill `scores` with the predictions of the rules; 0, or NaN if one of them is not finite."""
        cdef size_t k
        cdef Example part
        cdef double finite = 0
        if self.start_classes(&part, e):
            return 0
        for k in range(self.classes):
            (<Rule>self.each[k]).table.sync_view()
            if learns:
                self.scores[k] = (<Rule>self.each[k]).predict_to_learn(&part)
            else:
                self.scores[k] = (<Rule>self.each[k]).predict(&part)
            finite += self.scores[k] - self.scores[k]
            self.go_on(&part)
        return finite

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        """Learn from an example that was predicted and evaluated."""
        cdef size_t k
        cdef Example part
        self.t += 1
        if self.start_classes(&part, e):
            return
        for k in range(self.classes):
            (<Rule>self.each[k]).update(&part, &self.outcomes[k])
            self.out_of_memory |= (<Rule>self.each[k]).out_of_memory
            self.too_many |= (<Rule>self.each[k]).too_many
            self.go_on(&part)

    cdef size_t best(self, size_t named) noexcept nogil:
        """The class with the largest score, 0 if none has a name."""
        cdef size_t k, found = 0
        for k in range(1, named):
            if self.scores[k] > self.scores[found]:
                found = k
        return found + 1 if named > 0 else 0

    cdef bint evaluate(self, size_t label, double importance, size_t named) noexcept nogil:
        """Fill `outcomes` before an example is learned; false if a loss is not finite."""
        return False

    cdef void probabilities(self, size_t named, double* out) noexcept nogil:
        """Probabilities of the classes that have a name; their sum is 1."""
        pass

    cdef double log_loss(self, size_t label, size_t named) noexcept nogil:
        """-log of the probability of a class that has a name; finite also where the probability underflows to 0."""
        return 0

    # --- Python interface -----------------------------------------------------------------

    cdef bint is_default(self, const char* slot) noexcept nogil:
        cdef size_t k
        for k in range(self.classes):
            if not (<Rule>self.each[k]).is_default(slot + k * self.record):
                return False
        return True

    cdef void normalize(self, char* slot) noexcept nogil:
        """Clear idle records: they may be of any age, and a learner that dropped the slot does not have them."""
        cdef size_t k
        cdef char* record
        for k in range(self.classes):
            record = slot + k * self.record
            if (<Rule>self.each[k]).is_default(record):
                memcpy(record + sizeof(uint32_t), self.table.blank + k * self.record + sizeof(uint32_t),
                       self.record - sizeof(uint32_t))
            (<Rule>self.each[k]).normalize(record)

    cdef void prepare_all(self):
        """Prepare the rules before all slots are read or written."""
        cdef Rule rule
        for rule in self.rules:
            rule.final = self.final
            rule.table.sync_view()

    @property
    def pass_decay(self):
        return self.rules[0].pass_decay

    @pass_decay.setter
    def pass_decay(self, double decay):
        self.prepare_all()
        for rule in self.rules:
            rule.pass_decay = decay

    def scalars(self):
        """By name, a list of K numbers; arrays of class k are named NAME_k."""
        each = [rule.scalars() for rule in self.rules]
        found = {}
        for name, first in each[0].items():
            if isinstance(first, memoryview):
                found.update((f"{name}_{k + 1}", one[name]) for k, one in enumerate(each))
            else:
                found[name] = [one[name] for one in each]
        return found

    def _scalars_of(self, scalars, size_t k):
        """The scalars of class k, counted from 0, in the form that its rule uses."""
        return {
            name: scalars[f"{name}_{k + 1}"] if isinstance(own, memoryview) else scalars[name][k]
            for name, own in self.rules[k].scalars().items()
            if name in scalars or isinstance(own, memoryview)
        }

    def load(self, scalars, slots):
        """Continue from `scalars()` and `slots()`."""
        cdef size_t k
        for values in scalars.values():
            if not isinstance(values, memoryview) and len(values) != self.classes:
                raise ValueError(f"there are {len(values)} numbers for {self.classes} classes")
        each = [self._scalars_of(scalars, k) for k in range(self.classes)]
        for k in range(self.classes):
            self.rules[k].set_scalars(each[k])
        self.table.load(self.on_load(slots))
        self.prepare_all()
        for k in range(self.classes):
            self.rules[k].load(each[k], b"")
        self.t = self.rules[0].t

    def on_load(self, slots):
        return self.rules[0].on_load(slots)

    def slots(self):
        """The live slots as one bytearray, K records of `slot_size()` bytes each, by rising key."""
        self.prepare_all()
        return super().slots()

    def flush(self):
        for rule in self.rules:
            rule.flush()

    def radius_changed(self):
        """Continue from a loaded state with another radius."""
        self.prepare_all()
        for rule in self.rules:
            rule.radius_changed()

    def set_weights(self, const uint32_t[::1] keys, const double[::1] weights):
        """See WeightedL1Ball."""
        cdef Py_ssize_t i
        cdef char* slot
        for i in range(keys.shape[0]):
            if self.table.resolve(&keys[i], 1, &slot):
                raise MemoryError("no memory for the weights of features")
        self.prepare_all()
        for rule in self.rules:
            rule.set_weights(keys, weights)

    def weights(self, const unsigned char[::1] slots, double[::1] out):
        """The current weights of slots as returned by `slots()`: K per slot, one after the other."""
        cdef size_t i
        self.prepare_all()
        for i in range(<size_t>out.shape[0]):
            out[i] = (<Rule>self.each[i % self.classes]).weight(<const char*>&slots[i * self.record])

    def count_nonzero(self):
        """Number of nonzero weights without those of the intercept. O(size of the table)."""
        self.prepare_all()
        return sum(rule.count_nonzero() for rule in self.rules)


cdef void softmax_of(const double* scores, size_t n, double largest, double* out) noexcept nogil:
    """exp(s) / sum of exp(s). largest: of the scores."""
    cdef size_t k
    cdef double sum = 0
    for k in range(n):
        out[k] = exp(scores[k] - largest)
        sum += out[k]
    for k in range(n):
        out[k] /= sum


cdef double log_loss_of_softmax(const double* scores, size_t n, double largest, size_t label) noexcept nogil:
    """-log of the probability of a label, from 1 to n."""
    cdef size_t k
    cdef double total = 0
    for k in range(n):
        total += exp(scores[k] - largest)
    return log(total) - (scores[label - 1] - largest)


cdef class OneAgainstAll(Classifier):
    """Each rule learns whether an example is of its class, from labels 1 and -1.

    first_range: the range to which scores are clipped before the first label, if the rules clip. softmax: probabilities are
    the softmax of the scores, else their sigmoids, normalized to sum 1.
    """

    cdef bint clips, softmax
    cdef double* low                  # owned, [K]: corresponds to `min_label` of a learner with two labels
    cdef double* high                 # owned, [K]

    def __cinit__(self, list rules not None, *, first_range=(0.0, 0.0), bint softmax=False):
        self.softmax = softmax
        self.low = <double*>calloc(self.classes, sizeof(double))
        self.high = <double*>calloc(self.classes, sizeof(double))
        if self.low == NULL or self.high == NULL:
            raise MemoryError("no memory for the classes")

    def __init__(self, list rules not None, *, first_range=(0.0, 0.0), bint softmax=False):
        super().__init__(rules)
        self.clips = rules[0].CLIPS
        self.probable = isinstance(self.loss, Logistic)
        for k in range(self.classes):
            self.low[k], self.high[k] = first_range

    def __dealloc__(self):
        free(self.low)
        free(self.high)

    cdef bint evaluate(self, size_t label, double importance, size_t named) noexcept nogil:
        cdef size_t k
        cdef Outcome* o
        cdef double largest = self.loss.largest_p
        for k in range(self.classes):
            o = &self.outcomes[k]
            o.importance = importance
            o.label = 1 if k + 1 == label else -1
            o.p = self.scores[k]
            if self.clips:
                self.low[k], self.high[k] = min(self.low[k], o.label), max(self.high[k], o.label)
                o.p = min(max(o.p, max(self.low[k], -largest)), min(self.high[k], largest))
            o.loss = self.loss.evaluate(o.p, o.label, &o.dloss)
            if o.loss - o.loss != 0:
                return False
        return True

    cdef void probabilities(self, size_t named, double* out) noexcept nogil:
        """The sigmoids of the scores, normalized to sum 1. (If all of them are 0, relative to the largest.)"""
        cdef size_t k
        cdef double sum = 0, largest = self.scores[self.best(named) - 1]
        cdef double far = largest if largest < -700 else 0
        if self.softmax:
            softmax_of(self.scores, named, largest, out)
            return
        for k in range(named):
            # Far below 0 the sigmoid is e^s, so that only the ratios matter.
            out[k] = exp(self.scores[k] - far) if far != 0 else sigmoid(self.scores[k])
            sum += out[k]
        for k in range(named):
            out[k] /= sum

    cdef double log_loss(self, size_t label, size_t named) noexcept nogil:
        cdef size_t k
        cdef double sum = 0, score = self.scores[label - 1], largest = self.scores[self.best(named) - 1]
        cdef double far = largest if largest < -700 else 0
        if self.softmax:
            return log_loss_of_softmax(self.scores, named, largest, label)
        for k in range(named):
            sum += exp(self.scores[k] - far) if far != 0 else sigmoid(self.scores[k])
        # far cancels: where it is not 0, log1p(exp(score)) is.
        return log(sum) + far - score + log1p(exp(score)) if score < 0 else log(sum) + log1p(exp(-score))

    def scalars(self):
        found = super().scalars()
        if self.clips:
            found["min_label"] = [self.low[k] for k in range(self.classes)]
            found["max_label"] = [self.high[k] for k in range(self.classes)]
        return found

    def load(self, scalars, slots):
        super().load(scalars, slots)
        if self.clips:
            for k in range(self.classes):
                self.low[k], self.high[k] = scalars["min_label"][k], scalars["max_label"][k]


cdef class Softmax(Classifier):
    """The multinomial logistic loss. For rules that learn from the derivative of the loss alone."""

    def __init__(self, list rules not None):
        super().__init__(rules)
        self.probable = True

    cdef bint evaluate(self, size_t label, double importance, size_t named) noexcept nogil:
        cdef size_t k, y = label - 1
        cdef Outcome* o
        cdef double largest = self.scores[self.best(named) - 1]
        cdef double total = 0, others = 0, part, loss
        for k in range(named):
            part = exp(self.scores[k] - largest)
            self.outcomes[k].dloss = part
            total += part
            if k != y:
                others += part
        loss = log(total) - (self.scores[y] - largest)
        for k in range(self.classes):
            o = &self.outcomes[k]
            o.p, o.importance, o.loss = self.scores[k], importance, loss
            if k < named:
                o.label, o.dloss = 1 if k == y else -1, (-others if k == y else o.dloss) / total
            else:
                o.label, o.dloss = -1, 0
        return True

    cdef void probabilities(self, size_t named, double* out) noexcept nogil:
        softmax_of(self.scores, named, self.scores[self.best(named) - 1], out)

    cdef double log_loss(self, size_t label, size_t named) noexcept nogil:
        """The loss of `evaluate`."""
        return log_loss_of_softmax(self.scores, named, self.scores[self.best(named) - 1], label)


cdef class Quantiles(Classifier):
    """Each rule learns its quantile of the labels. names: the quantiles as text."""

    def __cinit__(self, list rules not None, ClassNames names not None):
        self.facts_count = self.classes + 2 * (self.classes // 2)
        self.sorted = <double*>calloc(self.classes, sizeof(double))
        self.facts = <double*>calloc(self.facts_count, sizeof(double))
        if self.sorted == NULL or self.facts == NULL:
            raise MemoryError("no memory for the quantiles")

    def __init__(self, list rules not None, ClassNames names not None):
        super().__init__(rules)
        self.names = names

    def __dealloc__(self):
        free(self.sorted)
        free(self.facts)

    @property
    def CLIPS(self):
        return self.rules[0].CLIPS

    cdef double arrange(self, double low, double high) noexcept nogil:
        """Fill in the predictions: the scores within a range, in ascending order. Returns the one in the middle."""
        cdef size_t k, at
        cdef double p
        for k in range(self.classes):
            p = self.outcomes[k].p = min(max(self.scores[k], low), high)
            at = k
            while at > 0 and self.sorted[at - 1] > p:
                self.sorted[at] = self.sorted[at - 1]
                at -= 1
            self.sorted[at] = p
        return self.sorted[self.classes // 2]

    cdef void judge(self, Outcome* whole) noexcept nogil:
        """Fill in `facts`; the outcome of each rule, by its own score; and of the whole the mean loss of the predictions, and
        the derivative in the middle."""
        cdef size_t k, n = self.classes
        cdef double* fact = self.facts + n
        cdef Outcome* o
        whole.loss = 0
        for k in range(n):
            o = &self.outcomes[k]
            o.label, o.importance = whole.label, whole.importance
            o.loss = (<Rule>self.each[k]).loss.evaluate(o.p, o.label, &o.dloss)
            self.facts[k] = (<Rule>self.each[k]).loss.value(self.sorted[k], whole.label)
            whole.loss += self.facts[k] / n
            if (<Rule>self.each[k]).loss.of_log:    # facts are in the unit of labels
                self.facts[k] = (<Rule>self.each[k]).loss.value(expm1(self.sorted[k]), expm1(whole.label))
        for k in range(n // 2):
            fact[2 * k] = self.sorted[k] <= whole.label <= self.sorted[n - 1 - k]
            fact[2 * k + 1] = self.sorted[n - 1 - k] - self.sorted[k]
            if (<Rule>self.each[k]).loss.of_log:
                fact[2 * k + 1] = expm1(self.sorted[n - 1 - k]) - expm1(self.sorted[k])
        whole.dloss = (<Rule>self.each[n // 2]).loss.dloss(self.sorted[n // 2], whole.label)
