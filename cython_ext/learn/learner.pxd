"""The learning loop: predict, evaluate, count, write, learn. See learner.pyx."""

from libc.math cimport INFINITY
from libc.stdint cimport uint32_t, uint64_t

from vwlite.core.data.batch cimport Arrays
from vwlite.core.data.class_names cimport ClassNames
from vwlite.core.data.expand cimport Expander
from vwlite.core.learn.chunks cimport ChunkMaker
from vwlite.core.learn.folded cimport Folded
from vwlite.core.learn.losses cimport Loss
from vwlite.core.learn.multiclass cimport Classifier, Quantiles
from vwlite.core.learn.output cimport PredictionWriter
from vwlite.core.learn.rule cimport Example, Outcome, Rule
from vwlite.core.learn.table cimport Table
from vwlite.core.learn.tally cimport Tally

# Why `run` returned.
cpdef enum Reason:
    DONE = 0         # the lines are learned
    REPORT = 1       # the total importance of examples reached `report_at`
    CHECKPOINT = 2   # the number of examples reached `checkpoint_at`
    DIVERGED = 3     # the prediction or the loss of the line is not finite
    STOPPED = 4      # `stop` was called
    NO_MEMORY = 5
    TOO_MANY = 6     # more features than the rule was created for
    WARNING = 7      # a subclass has a warning about the last example
    TOO_LONG = 8     # the line has more features than can be normalized


# The state of one example, from parsing its line to writing its prediction.
cdef struct Turn:
    size_t line           # of the batch
    bint labelled
    bint held             # out: predicted only
    bint learns
    Example e             # filled in by `locate`
    double raw            # filled in by `predict`: the prediction;
    double shown          # ... as it is reported and written: clipped, or the number of the class;
    double low, high      # ... the range of labels before this example
    Outcome o             # label and importance of the line, p from `predict`, the rest from `evaluate`;
    double log_loss       # ... -log of the probability of the label's class, if there are probabilities


cdef class Learner:
    cdef readonly Rule rule
    cdef readonly Expander expander
    cdef readonly PredictionWriter writer
    cdef Loss loss
    cdef Table table
    cdef bint learning
    cdef size_t holdout_period
    cdef readonly Folded folded            # of a learner that does not learn: derived features with their weights, or None
    cdef public bint answers_blank_lines   # write an empty line for a blank line, as for invalid lines
    # Classes.
    cdef readonly Classifier classifier    # the rule, or None
    cdef readonly Quantiles quantiles      # the same rule if it predicts several quantiles, or None
    cdef bint multiclass                   # labels are classes
    cdef readonly ClassNames class_names
    cdef public size_t named               # classes that have a name so far, in the model or in this stream
    cdef double* class_probabilities       # owned; [classes]
    # The range to which predictions are clipped.
    cdef public bint clips
    cdef public double min_label, max_label
    # The map of clipped scores to calibrated ones: points, and the slope outside of them. 0 points: there is none.
    cdef size_t points
    cdef const double[::1] point_scores, point_values
    cdef double outer_slope
    cdef public double offset              # is added to a clipped score before the link: see `Tally.offset`
    # Where the features of an example are.
    cdef char** slots[2]                   # owned; of an example, and of the next one
    cdef size_t slot_capacity[2]
    cdef bint encoded                      # the features of the batch are indices into its dictionary, whose slots are:
    cdef char** dictionary_slots           # owned; [distinct, and one more for the intercept]
    cdef uint32_t* dictionary_keys         # owned
    cdef size_t dictionary_slot_capacity, dictionary_key_capacity
    cdef uint64_t dictionary               # its identity, size, and table state when the slots were found
    cdef size_t dictionary_size
    cdef uint64_t dictionary_moves
    cdef size_t dictionary_used
    cdef size_t expanded                   # the line of the batch that was expanded in advance,
    cdef size_t located                    # ... and the line whose slots were found in advance
    cdef ChunkMaker maker                  # splits the features of an oversized line into chunks
    cdef readonly uint64_t oversized        # features of the line where `run` returned, if they come in chunks; else 0
    # When to return.
    cdef int stopping
    cdef readonly Reason reason
    cdef public double report_at           # total importance of examples (without holdout) at which to return
    cdef public uint64_t checkpoint_at     # number of examples at which to return
    # Counters.
    cdef readonly Tally progressive        # examples that are learned, predicted before learning
    cdef readonly Tally holdout            # held out examples of this pass
    cdef public uint64_t lines             # in this pass, including blank lines
    cdef public uint64_t examples          # not held out, over all passes
    cdef readonly uint64_t unlabelled
    cdef readonly uint64_t unfit             # ... because their label is not valid for the model
    cdef public double unlabelled_weight
    cdef readonly uint64_t features        # of all examples, including held out ones; not those that are folded
    cdef readonly int distinct_labels      # number of different labels; 3: or more
    cdef readonly double first_label, second_label
    cdef readonly uint64_t cut             # features of the example whose learning was interrupted by `stop`; 0: none
    # ... of examples that are only predicted, without interactions:
    cdef readonly uint64_t looked_up         # features
    cdef readonly uint64_t unknown           # ... that are not in the model
    cdef readonly uint64_t unknown_examples  # examples without any feature that is in the model
    # Of the last example.
    cdef readonly double label, prediction
    cdef readonly size_t size

    cdef predict_as(self, Learner other)
    cdef size_t loop(self, const Arrays* a, size_t begin, size_t end) noexcept nogil

    # Methods that a subclass may override; each is called once per example.
    cdef bint holds_out(self, bint labelled) noexcept nogil
    cdef Reason predict(self, Turn* turn) noexcept nogil
    cdef void widen_range(self, double label) noexcept nogil
    cdef Reason count(self, const Turn* turn) noexcept nogil
    cdef Reason pause(self) noexcept nogil


cdef inline void count_label(int* distinct, double* first, double* second, double label) noexcept nogil:
    """Update the number of different labels, which saturates at 3."""
    if distinct[0] > 2:
        return
    if distinct[0] == 0:
        first[0] = label
    elif label == first[0]:
        return
    elif distinct[0] == 1:
        second[0] = label
    elif label == second[0]:
        return
    distinct[0] += 1


cdef inline double clipped(Learner self, double p) noexcept nogil:
    """A prediction clipped to the range of labels and of the loss."""
    if not self.clips:
        return p
    return min(max(p, max(self.min_label, -self.loss.largest_p)), min(self.max_label, self.loss.largest_p))


cdef inline double arranged(Learner self) noexcept nogil:
    """Have the predictions of several quantiles, by their scores. Returns the one in the middle."""
    return self.quantiles.arrange(self.min_label if self.clips else -INFINITY, self.max_label if self.clips else INFINITY)
