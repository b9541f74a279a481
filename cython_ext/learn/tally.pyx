"""Running evaluation of predictions: loss; accuracy and AUC for labels of -1 and 1; the confusion matrix for
classes.

The area under the ROC curve needs the order of all scores. They are counted in bins by the top
bits of their single-precision pattern (which have the same order as the numbers), so memory does not grow
with the stream; scores in one bin are within 0.2 % of each other and count as ties. Most scores have similar
magnitudes: memory for bins is allocated in chunks, at the first score of each.
"""

from libc.math cimport NAN, isnan
from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from vwlite.core.base.elementary cimport exp, log, pow, sigmoid

cdef enum:
    DROPPED_BITS = 14
    CHUNKS = 1 << (32 - DROPPED_BITS - CHUNK_BITS)
    LAST_OF_CHUNK = (1 << CHUNK_BITS) - 1
    MOST_CLASSES = 1000     # above this, no confusion matrix is stored
    LARGEST = 700           # exp(700) is finite


cdef inline uint32_t bin_of(double score) noexcept nogil:
    cdef float f = <float>score
    cdef uint32_t bits
    f += 0      # no negative zero
    memcpy(&bits, &f, 4)
    return (~bits if bits >> 31 else bits | (<uint32_t>1 << 31)) >> DROPPED_BITS


cdef inline Bins* chunk_of(Tally self, uint32_t bin) noexcept nogil:
    """The chunk of a bin; NULL: no memory."""
    if self.chunks == NULL:
        self.chunks = <Bins**>calloc(CHUNKS, sizeof(Bins*))
        if self.chunks == NULL:
            return NULL
    if self.chunks[bin >> CHUNK_BITS] == NULL:
        self.chunks[bin >> CHUNK_BITS] = <Bins*>calloc(1, sizeof(Bins))
    return self.chunks[bin >> CHUNK_BITS]


cdef class Tally:
    """The running count. Every sum is weighted by importance.

    classes: labels and predictions are numbers of classes, from 1 to this. 0: they are arbitrary numbers.
    facts: their number for each prediction.
    probable: each prediction comes with the probability that the label's class had.
    power: that of the loss, for `entropy`. keeps_labels: a sample of them, for losses whose best constant no sums tell.
    of_log: labels are logarithms, for `offset`.

    While a model learns, a score of 0 says that nothing is known, and counts as a negative prediction, as in Vowpal
    Wabbit. What applies a model sets `positive_from`, so that a probability of 0.5 is a positive one.
    """

    def __init__(self, size_t classes=0, *, size_t facts=0, bint probable=False, double power=0, bint keeps_labels=False,
                 bint of_log=False):
        self.probable, self.power, self.of_log = probable, power, of_log
        self.sample = LabelSample() if keeps_labels else None
        self.signs = True
        self.positive_from = NAN
        self.classes, self.facts_count = classes, facts
        self.facts = <double*>calloc(facts + 1, sizeof(double))
        if self.facts == NULL:
            raise MemoryError("no memory for a tally")
        if 0 < classes <= MOST_CLASSES:
            self.confusion = <double*>calloc(classes * classes, sizeof(double))
            if self.confusion == NULL:
                raise MemoryError("no memory for the confusion matrix")

    def __dealloc__(self):
        cdef size_t i
        free(self.confusion)
        free(self.facts)
        for i in range(CHUNKS if self.chunks != NULL else 0):
            free(self.chunks[i])
        free(self.chunks)

    cdef int add(self, double p, double label, double importance, double loss, double log_loss) noexcept nogil:
        """Count one labelled prediction; -1: no memory. log_loss: -log of the label's probability, if it is known."""
        cdef uint32_t bin
        cdef Bins* bins
        cdef double shown
        cdef bint found
        if self.weight == 0:
            self.min_label = self.max_label = label
        self.min_label = min(self.min_label, label)
        self.max_label = max(self.max_label, label)
        self.loss += importance * loss
        self.log_loss_sum += importance * log_loss
        self.weight += importance
        self.labels += importance * label
        self.squares += importance * label * label
        if self.power > 0 and label > 0:
            self.entropy += importance * (label * log(label) if self.power == 1 else log(label) if self.power == 2
                                          else pow(label, 2 - self.power))
        if self.of_log:
            self.add_ratio(exp(min(label - p, LARGEST)), importance)
        if self.sample is not None and self.sample.add(label, importance):
            return -1
        self.weight2 += importance * importance
        self.loss_squares += importance * loss * loss
        shown = sigmoid(p) if self.logistic else p
        self.predictions += importance * shown
        self.prediction_squares += importance * shown * shown
        self.recent_loss += importance * loss
        self.recent_weight += importance
        if self.classes:
            self.correct += importance * (p == label)
            if self.confusion != NULL and p > 0:
                self.confusion[(<size_t>label - 1) * self.classes + <size_t>p - 1] += importance
            return 0
        if not self.signs:
            return 0
        if label != 1 and label != -1:
            self.signs = False
            return 0
        bin = bin_of(p)
        bins = chunk_of(self, bin)
        if bins == NULL:
            return -1
        found = p > 0 if isnan(self.positive_from) else shown >= self.positive_from
        self.correct += importance * (found == (label > 0))
        if label > 0:
            bins.positive[bin & LAST_OF_CHUNK] += importance
        else:
            bins.negative[bin & LAST_OF_CHUNK] += importance
        return 0

    cdef void add_ratio(self, double ratio, double importance) noexcept nogil:
        cdef size_t k
        self.rows += 1
        if self.rows & (self.rows - 1) == 0:
            self.ratios[2], self.ratio_weights[2] = self.ratios[1], self.ratio_weights[1]
            self.ratios[1] = self.ratio_weights[1] = 0
        for k in range(2):
            self.ratios[k] += importance * ratio
            self.ratio_weights[k] += importance

    def offset(self, bint learning):
        """log s and the weight of its rows, where s is the weighted mean of exp(label - prediction): if labels are logarithms,
        exp(p) s is the mean (smearing; Duan 1983). learning: predictions are those of a new learner before it learned each
        row: s is of the rows without the first quarter of them, or up to half. None without rows."""
        cdef double sum = self.ratios[1] + self.ratios[2] if learning else self.ratios[0]
        cdef double weight = self.ratio_weights[1] + self.ratio_weights[2] if learning else self.ratio_weights[0]
        if not weight or not sum:
            return None
        return min(log(sum / weight), LARGEST), weight

    cdef void add_facts(self, const double* facts, double importance) noexcept nogil:
        """Count other numbers of a prediction that is counted."""
        cdef size_t k
        for k in range(self.facts_count):
            self.facts[k] += importance * facts[k]

    @property
    def means_of_facts(self):
        return [self.facts[k] / self.weight for k in range(self.facts_count if self.weight else 0)]

    def count(self, double p, double label, double importance=1, double loss=0, double log_loss=0):
        """Count one labelled prediction. ValueError for an invalid class."""
        if self.classes and not (1 <= label <= self.classes and 0 <= p <= self.classes):
            raise ValueError(f"{p} for {label} with {self.classes} classes")
        if self.add(p, label, importance, loss, log_loss):
            raise MemoryError

    @property
    def average(self):
        """The average loss; None without examples."""
        return self.loss / self.weight if self.weight else None

    @property
    def log_loss(self):
        """The average of -log of the probability that the label's class had; None without probabilities."""
        return self.log_loss_sum / self.weight if self.probable and self.weight else None

    def take_recent(self):
        """The average loss since the last call; None without examples."""
        average = self.recent_loss / self.recent_weight if self.recent_weight else None
        self.recent_loss = self.recent_weight = 0
        return average

    @property
    def accuracy(self):
        """The fraction of correct classes or signs; None unless all labels
        are classes, or -1 or 1."""
        return self.correct / self.weight if self.signs and self.weight else None

    @property
    def auc(self):
        """The probability that a positive example scores above a negative one; None without both kinds."""
        cdef double area = 0, below = 0, positives = 0
        cdef size_t i, chunk
        cdef Bins* bins
        if self.classes or not self.signs or self.chunks == NULL:
            return None
        for chunk in range(CHUNKS):
            bins = self.chunks[chunk]
            for i in range(1 << CHUNK_BITS if bins != NULL else 0):
                area += bins.positive[i] * (below + bins.negative[i] / 2)
                below += bins.negative[i]
                positives += bins.positive[i]
        return area / (below * positives) if below and positives else None

    def matrix(self, size_t n):
        """The importance of examples by label (rows) and prediction, for the first n classes, as lists; None if there
        are too many classes, or no classes."""
        cdef size_t i, j
        if self.confusion == NULL or n > self.classes:
            return None
        return [[self.confusion[i * self.classes + j] for j in range(n)] for i in range(n)]
