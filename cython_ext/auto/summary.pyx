"""What is known of the data after they were read once, before anything is learned."""

from array import array
from collections import Counter

from libc.float cimport DBL_MAX
from libc.math cimport fabs, isfinite, sqrt
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from vwlite.core.auto.lanes cimport NOT_FINITE, TOO_MANY, raise_failure
from vwlite.core.auto.order cimport is_used
from vwlite.core.auto.starts cimport ColumnCount, find_starts
from vwlite.core.base.murmur cimport murmur
from vwlite.core.base.random cimport mixed
from vwlite.core.base.arrays cimport view_of
from vwlite.core.base.buffers cimport reserve
from vwlite.core.base.elementary cimport exp
from vwlite.core.data.batch cimport Arrays, Batch
from vwlite.core.data.derivation cimport OPEN
from vwlite.core.data.expand cimport WHOLE, Expander
from vwlite.core.data.normalize cimport Normalizer
from vwlite.core.learn.losses cimport Loss, bounded
from vwlite.core.learn.table cimport Table, find, next_slot
from vwlite.core.text.numbers cimport whole_size


cdef enum:
    PER_EXAMPLE = 40        # bytes in a batch
    PER_FEATURE = 8
    MOST_UNMERGED = 1 << 16 # features of an example, of which an expander without a normalizer gives all at once


cdef double LARGEST_EXPONENT = 44      # Poisson.largest_p


cdef class DataSummary:
    """expander: one whose normalizer is `none`; the summary is of features after crossing. keeps: what is known of each
    example, its label, importance and initial prediction and a hash of its content; without, it is of columns only. grouped:
    in place of the content, a hash of its tag, which is a group.

    Examples are counted that can be learned: with a label and an importance above 0.
    """

    cdef Expander expander
    cdef Normalizer merger            # of the features as they are read
    cdef Table columns
    cdef char** slots                 # owned, [slot_capacity]; of the example at work
    cdef size_t slot_capacity
    cdef uint32_t* keys               # owned, [key_capacity]
    cdef float* values                # owned, [value_capacity]
    cdef size_t key_capacity, value_capacity
    # Of each example: owned, [capacity].
    cdef double* label
    cdef double* importance
    cdef double* initial
    cdef uint64_t* content            # a hash of its keys and values
    cdef uint32_t* feature_count      # as they are read; where features are derived, a number may become several ones
    cdef readonly bint needs_merging  # whether an example has a feature twice, or very many
    cdef size_t label_capacity, importance_capacity, initial_capacity, content_capacity, feature_count_capacity
    cdef bint keeps
    cdef readonly bint grouped
    cdef readonly size_t examples
    cdef readonly size_t bytes        # that they and the other lines take in memory as batches, about
    cdef readonly bint has_initial    # one of them has an initial prediction

    def __cinit__(self, Expander expander not None, *, bint keeps=True, bint grouped=False):
        self.expander, self.keeps, self.grouped = expander, keeps, grouped
        self.merger = Normalizer()
        self.columns = Table(sizeof(ColumnCount))

    def __dealloc__(self):
        free(self.slots)
        free(self.keys)
        free(self.values)
        free(self.label)
        free(self.importance)
        free(self.initial)
        free(self.content)
        free(self.feature_count)

    def take(self, Batch batch not None, size_t begin=0, size_t most_examples=<size_t>-1, size_t most_bytes=<size_t>-1):
        """Count the examples of a batch from a line on, up to so many examples, or so many bytes of memory, in all.
        Returns the line after the last one counted. MemoryError; OverflowError for an example that cannot be learned."""
        cdef size_t line = begin
        cdef int failed = 0
        if batch.decode():
            raise MemoryError("no memory for the hashes of a batch")
        with nogil:
            while line < batch.a.lines and self.examples < most_examples and self.bytes < most_bytes:
                if is_used(&batch.a, line):
                    failed = self.take_one(&batch.a, line)
                    if failed:
                        break
                self.bytes += bytes_of(&batch.a, line)
                line += 1
        raise_failure(failed, batch, line)
        return line

    cdef int take_one(self, const Arrays* a, size_t line) noexcept nogil:
        """-1: no memory, or another reason of `raise_failure`."""
        cdef size_t i, size, n = self.examples
        cdef ColumnCount* column
        cdef float* values
        cdef int said = self.expander.expand(a, line, 0, False)
        if said != WHOLE:
            return -1 if said < 0 else TOO_MANY
        if (reserve(<void**>&self.slots, &self.slot_capacity, self.expander.buffers[0].size, sizeof(char*))
                or self.columns.resolve(self.expander.buffers[0].keys, self.expander.buffers[0].size, self.slots)):
            return -1
        if self.keeps and (self.reserve_examples(n + 1) or self.hash_of(a, line, &self.content[n])):
            return -1
        values = self.expander.buffers[0].values
        for i in range(self.expander.buffers[0].size):
            if not isfinite(values[i]):
                return NOT_FINITE
        for i in range(self.expander.buffers[0].size):
            column = <ColumnCount*>self.slots[i]
            if column.count == 0:
                column.first = values[i]
            column.differs |= values[i] != column.first
            column.count += 1
            column.sum += values[i]
        if self.expander.derivation is None:
            self.note_namespaces(a, line)
        if self.keeps:
            self.label[n], self.importance[n], self.initial[n] = a.label[line], a.importance[line], a.initial[line]
            if self.grouped:
                i = a.tag_begin[line]
                size = whole_size(a.tags + i, a.tag_begin[line + 1] - i)
                self.content[n] = <uint64_t>murmur(a.tags + i, size, 0) << 32 | murmur(a.tags + i, size, 1)
            self.feature_count[n] = <uint32_t>counted_of(a, line, 1 + (self.expander.derivation is not None))
        self.has_initial |= a.initial[line] != 0
        self.examples += 1
        return 0

    cdef void note_namespaces(self, const Arrays* a, size_t line) noexcept nogil:
        """Note of which namespaces the features of the example at work are."""
        cdef size_t span, i, at = 0, size = self.expander.buffers[0].size
        cdef const uint32_t* keys = self.expander.buffers[0].keys
        cdef ColumnCount* column
        for span in range(a.span_begin[line], a.span_begin[line + 1]):
            if not (self.expander.linear[a.letter[span]] and self.expander.alive[a.letter[span]]):
                continue
            for i in range(a.feature_begin[span], a.feature_begin[span + 1]):
                if at < size and keys[at] == a.hash[i] & self.expander.mask:
                    column = <ColumnCount*>self.slots[at]
                    at += 1
                else:               # it was added to an equal one, or it is 0
                    column = <ColumnCount*>find(self.columns, a.hash[i] & self.expander.mask)
                if column != NULL and column.namespace == 0:
                    column.namespace = 1 + a.letter[span]

    cdef int reserve_examples(self, size_t n) noexcept nogil:
        """Make room for n examples; -1: no memory."""
        return -(reserve(<void**>&self.label, &self.label_capacity, n, sizeof(double))
                 or reserve(<void**>&self.importance, &self.importance_capacity, n, sizeof(double))
                 or reserve(<void**>&self.initial, &self.initial_capacity, n, sizeof(double))
                 or reserve(<void**>&self.content, &self.content_capacity, n, sizeof(uint64_t))
                 or reserve(<void**>&self.feature_count, &self.feature_count_capacity, n, sizeof(uint32_t)))

    cdef int hash_of(self, const Arrays* a, size_t line, uint64_t* out) noexcept nogil:
        """A hash of the features as they are read, in any order, after those with equal keys are added. N-grams that are only
        tried do not count."""
        cdef size_t i, first = a.feature_begin[a.span_begin[line]]
        cdef size_t n = features_of(a, line)
        cdef uint64_t sum = 0
        cdef uint32_t bits
        if (reserve(<void**>&self.keys, &self.key_capacity, n, sizeof(uint32_t))
                or reserve(<void**>&self.values, &self.value_capacity, n, sizeof(float))):
            return -1
        if n:
            memcpy(self.keys, a.hash + first, n * sizeof(uint32_t))
            memcpy(self.values, a.value + first, n * sizeof(float))
        if self.merger.apply(self.keys, self.values, &n):
            return -1
        self.needs_merging |= n != nonzeros_of(a, line) or n > MOST_UNMERGED
        for i in range(n):
            if self.values[i] == OPEN:
                continue
            memcpy(&bits, &self.values[i], sizeof(uint32_t))
            sum += mixed(<uint64_t>self.keys[i] << 32 | bits)
        out[0] = mixed(sum)
        return 0

    def take_labels(self, const double[::1] labels not None, const double[::1] importances not None,
                    const double[::1] initials not None):
        """Count examples of which nothing else is known; for `dense` and `features`, they do not count."""
        cdef size_t i, n = labels.shape[0]
        if not <size_t>importances.shape[0] == <size_t>initials.shape[0] == n:
            raise ValueError("arrays of different lengths")
        if self.reserve_examples(self.examples + n):
            raise MemoryError("no memory for labels")
        for i in range(n):
            self.label[self.examples], self.importance[self.examples] = labels[i], importances[i]
            self.initial[self.examples] = initials[i]
            self.content[self.examples] = self.feature_count[self.examples] = 0
            self.has_initial |= initials[i] != 0
            self.examples += 1

    def map_labels(self, double negative):
        """Make the label `negative` -1, and each other one 1."""
        cdef size_t i
        for i in range(self.examples):
            self.label[i] = -1 if self.label[i] == negative else 1

    def set_labels(self, const double[::1] labels not None):
        """Replace the label of each example."""
        cdef size_t i
        if <size_t>labels.shape[0] != self.known():
            raise IndexError(labels.shape[0])
        for i in range(self.examples):
            self.label[i] = labels[i]

    def rarer(self, const uint8_t[::1] folds=None):
        """How many examples have another label than more than half of all; at least half of them, if there is none such.
        folds: only those in fold 0 are counted."""
        cdef size_t i, n = self.known(), ahead = 0, found = 0
        cdef double usual = 0
        for i in range(n):      # the only label that can be that of more than half
            if ahead == 0:
                usual = self.label[i]
            ahead = ahead + 1 if self.label[i] == usual else ahead - 1
        if folds is not None and <size_t>folds.shape[0] != n:
            raise ValueError("arrays of different lengths")
        for i in range(n):
            found += self.label[i] != usual and (folds is None or folds[i] == 0)
        return found

    def is_sorted(self):
        """Whether the data are in the order of the labels: they hardly ever rise, or hardly ever fall, from one example to the
        next, or change a tenth as often as those of any two."""
        cdef size_t i, n = self.known(), up = 0, down = 0
        cdef double equal = 0
        for i in range(1, n):
            up += self.label[i] > self.label[i - 1]
            down += self.label[i] < self.label[i - 1]
        if 20 * min(up, down) < max(up, down):
            return True
        for count in Counter(self.labels).values():
            equal += (<double>count / n) ** 2
        return up + down < 0.1 * n * (1 - equal)

    def distinct_labels(self, size_t most):
        """The different labels, at most so many of them, by size."""
        cdef size_t i
        found = set()
        for i in range(self.examples):
            if i == 0 or self.label[i] != self.label[i - 1]:
                found.add(self.label[i])
                if len(found) == most:
                    break
        return sorted(found)

    # --- what is found -----------------------------------------------------------------------

    cdef size_t known(self):
        """Examples whose labels are kept."""
        return self.examples if self.keeps else 0

    @property
    def labels(self):
        return view_of(self, self.label, self.known(), 8, "d")

    @property
    def importances(self):
        return view_of(self, self.importance, self.known(), 8, "d")

    @property
    def initials(self):
        return view_of(self, self.initial, self.known(), 8, "d")

    @property
    def contents(self):
        return view_of(self, self.content, self.known(), 8, "Q")

    @property
    def feature_counts(self):
        """How many features each example has, as it is read."""
        return view_of(self, self.feature_count, self.known(), 4, "I")

    @property
    def features(self):
        """Different features, with the intercept."""
        return len(self.columns)

    def moments(self):
        """The mean and the standard deviation of labels minus initial predictions, weighted by importance."""
        cdef size_t i
        cdef double total = 0, sum = 0, square = 0, mean, first
        if self.known() == 0:
            return 0.0, 0.0
        first = self.label[0] - self.initial[0]     # so that the mean of equal labels is exact
        for i in range(self.known()):
            total += self.importance[i]
            sum += self.importance[i] * (self.label[i] - self.initial[i] - first)
        mean = first + sum / total
        for i in range(self.known()):
            first = self.label[i] - self.initial[i] - mean
            square += self.importance[i] * first * first
        return mean, sqrt(square / total)

    def least_label(self):
        """The least label; 0 if there is none."""
        cdef size_t i
        cdef double found = self.label[0] if self.known() else 0
        for i in range(1, self.known()):
            found = min(found, self.label[i])
        return found

    def skewness(self):
        """The third central moment of the labels over the third power of their standard deviation, weighted by importance; 0 if
        all labels are equal."""
        cdef size_t i
        cdef double total = 0, sum = 0, square = 0, cube = 0, mean, d, largest = 0
        if self.known() == 0:
            return 0.0
        for i in range(self.known()):
            total += self.importance[i]
            sum += self.importance[i] * (self.label[i] - self.label[0])
        mean = self.label[0] + sum / total
        for i in range(self.known()):
            largest = max(largest, fabs(self.label[i] - mean))
        if not 0 < largest <= DBL_MAX:
            return 0.0
        for i in range(self.known()):
            d = (self.label[i] - mean) / largest      # so that no cube overflows
            square += self.importance[i] * d * d
            cube += self.importance[i] * d * d * d
        return cube / total / (square / total) ** 1.5

    def residuals(self, double center=0, *, bint absolute=False):
        """Labels minus initial predictions and a constant, or their absolute values, as an array."""
        cdef size_t i, n = self.known()
        found = array("d", bytes(8 * n))
        cdef double[::1] out = found
        for i in range(n):
            out[i] = self.label[i] - self.initial[i] - center
            if absolute:
                out[i] = fabs(out[i])
        return found

    def rate(self, double power=1):
        """By which factor exp(initial prediction) is the mean with the least loss of this power. Of 1 it is the sum of the
        labels over that of exp(initial prediction): a count of each unit of exposure. Without initial predictions, the mean
        of the labels."""
        cdef size_t i
        cdef double sum = 0, exposure = 0, p
        for i in range(self.known()):
            p = min(self.initial[i], LARGEST_EXPONENT)
            sum += self.importance[i] * (self.label[i] * exp((1 - power) * p))
            exposure += self.importance[i] * exp((2 - power) * p)
        return sum / exposure if exposure > 0 else 0.0

    def constant_loss(self, Loss loss not None, double score, double mean, double scale, double initial_scale=1):
        """The mean loss of a constant score, weighted by importance, and its derivative. Labels are (y - mean) / scale, and
        initial predictions, which are added to the score, are divided by `initial_scale`."""
        cdef size_t i
        cdef double total = 0, sum = 0, slope = 0, dloss, p
        for i in range(self.known()):
            total += self.importance[i]
            p = bounded(loss, score + self.initial[i] / initial_scale)
            sum += self.importance[i] * loss.evaluate(p, (self.label[i] - mean) / scale, &dloss)
            slope += self.importance[i] * dloss
        return (sum / total, slope / total) if total else (0.0, 0.0)

    def starts(self, Expander expander not None, batches):
        """With which scales rare features begin that have values (starts.pyx); None if there are none. expander: with the
        normalization of the values. batches: a sample of the examples. MemoryError."""
        return find_starts(self.columns, self.examples, expander, batches)

    def dense(self, constant):
        """The columns that at least half of the examples have: key, mean, whether all values are equal; by increasing key.
        constant: the key of the intercept, which is none of them, or None."""
        cdef char* slot = NULL
        cdef ColumnCount* c
        found = []
        while next_slot(self.columns, &slot):
            c = <ColumnCount*>slot
            if 2 * <size_t>c.count >= self.examples and c.mark - 1 != constant:
                found.append(((c.mark - 1) & 0xFFFFFFFF, c.sum / self.examples,
                              c.count == self.examples and not c.differs))
        return sorted(found)


cdef inline size_t features_of(const Arrays* a, size_t line) noexcept nogil:
    return a.feature_begin[a.span_begin[line + 1]] - a.feature_begin[a.span_begin[line]]


cdef inline size_t counted_of(const Arrays* a, size_t line, size_t of_number) noexcept nogil:
    """Features, without n-grams that are only tried. A number, whose value is not 1 as that of a word is, counts as
    `of_number`."""
    cdef size_t i, found = 0
    for i in range(a.feature_begin[a.span_begin[line]], a.feature_begin[a.span_begin[line + 1]]):
        if a.value[i] != 0 and a.value[i] != OPEN:
            found += 1 if a.value[i] == 1 else of_number
    return found


cdef inline size_t nonzeros_of(const Arrays* a, size_t line) noexcept nogil:
    cdef size_t i, found = 0
    for i in range(a.feature_begin[a.span_begin[line]], a.feature_begin[a.span_begin[line + 1]]):
        found += a.value[i] != 0
    return found


cdef inline size_t bytes_of(const Arrays* a, size_t line) noexcept nogil:
    return PER_EXAMPLE + PER_FEATURE * nonzeros_of(a, line)
