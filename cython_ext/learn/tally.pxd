"""Running evaluation of predictions. See tally.pyx."""

from vwlite.core.learn.labels cimport LabelSample

cdef enum:
    CHUNK_BITS = 8


# The importance of the examples whose score is in one chunk of neighbouring bins, by sign of the label.
cdef struct Bins:
    double negative[1 << CHUNK_BITS]
    double positive[1 << CHUNK_BITS]


cdef class Tally:
    cdef readonly double loss             # sum of importance * loss
    cdef readonly double weight           # sum of importance of the labelled
    cdef readonly double labels           # sum of importance * label
    cdef readonly double squares          # sum of importance * label^2
    cdef readonly double entropy          # of importance * `own_part` of the label (evaluation/kinds.py)
    cdef double power                     # that of the loss: see losses.pxd
    cdef bint of_log                      # labels are logarithms
    # ... sums of importance * exp(label - prediction), and of importance: of all, of the rows since their number was a
    # power of two, and of those between this and the power of two before
    cdef double ratios[3]
    cdef double ratio_weights[3]
    cdef size_t rows
    cdef readonly LabelSample sample      # of the labels; None: none is kept
    cdef readonly double weight2          # sum of importance^2
    cdef readonly double loss_squares     # sum of importance * loss^2
    cdef readonly double predictions      # sum of importance * prediction, as a probability if `logistic`
    cdef readonly double prediction_squares
    cdef public bint logistic             # predictions are of the logistic loss
    cdef public double positive_from      # the least prediction (as above) of the positive label; NaN: scores above 0
    cdef readonly double correct          # importance of those with the right sign
    cdef readonly bint signs              # every label so far was -1 or 1
    cdef readonly double min_label, max_label
    cdef double recent_loss, recent_weight   # since `take_recent`
    cdef readonly size_t classes          # number of classes; 0: labels are numbers
    cdef size_t facts_count
    cdef double* facts                    # owned; [facts_count] sums of importance * fact
    cdef readonly bint probable           # they have probabilities
    cdef double log_loss_sum              # sum of importance * -log of the probability that the label's class had
    cdef double* confusion                # owned; [classes, classes] of importance by label and prediction, or NULL
    cdef Bins** chunks                    # owned; importance by score; allocated on demand

    cdef int add(self, double p, double label, double importance, double loss, double log_loss) noexcept nogil
    cdef void add_ratio(self, double ratio, double importance) noexcept nogil
    cdef void add_facts(self, const double* facts, double importance) noexcept nogil
