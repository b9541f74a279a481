"""The order of events. See learner.pyx."""

from libc.stdint cimport uint32_t, uint64_t

from vwlite.core.data.batch cimport Arrays
from vwlite.core.data.class_names cimport ClassNames
from vwlite.core.data.expand cimport Expander
from vwlite.core.data.pieces cimport PieceMaker
from vwlite.core.learn.losses cimport Loss
from vwlite.core.learn.multiclass cimport Classifier
from vwlite.core.learn.rule cimport Example, Outcome, Rule
from vwlite.core.learn.table cimport Table
from vwlite.core.learn.tally cimport Tally
from vwlite.core.text.output cimport PredictionWriter

# Why `run` came back.
cpdef enum Reason:
    DONE = 0         # the lines are learned
    REPORT = 1       # the weight of examples has reached `report_at`
    CHECKPOINT = 2   # the number of examples has reached `checkpoint_at`
    DIVERGED = 3     # the prediction or the loss of the line is not finite
    STOPPED = 4      # `stop` was called
    NO_MEMORY = 5
    TOO_MANY = 6     # the rule was made for fewer features
    WARNING = 7      # a subclass has something to tell of the last example


# One example, from its line to what is written of it.
cdef struct Turn:
    bint labelled
    bint held             # out: it is only predicted
    bint learns
    Example e             # as `locate` finds it
    double raw            # as `predict` fills them in: the prediction;
    double shown          # ... as it is told and written: clipped, or the number of the class;
    double low, high      # ... the range of labels before this one
    Outcome o             # label and importance are those of the line, p of `predict`, the rest of `evaluate`;
    double log_loss       # ... -log of the probability of the label's class, if there are probabilities


cdef class Learner:
    cdef readonly Rule rule
    cdef readonly Expander expander
    cdef readonly PredictionWriter writer
    cdef Loss loss
    cdef Table table
    cdef bint learning
    cdef size_t holdout_period
    cdef public bint answers_blank_lines   # with an empty line, as it does bad ones
    # Classes.
    cdef readonly Classifier classifier    # the rule, or None
    cdef bint multiclass                   # it is not None
    cdef readonly ClassNames names
    cdef public size_t named               # classes that have a name so far, as this stream and the model say
    cdef double* class_probabilities       # owned; [classes]
    # The range to which predictions are clipped.
    cdef public bint clips
    cdef public double min_label, max_label
    # Where the features of an example are.
    cdef char** slots[2]                   # owned; of an example, and of the next one
    cdef size_t slot_capacity[2]
    cdef bint encoded                      # the features of the batch are numbers in its dictionary, whose slots are:
    cdef char** dictionary_slots           # owned; [distinct, and one more for the constant]
    cdef uint32_t* dictionary_keys         # owned
    cdef size_t dictionary_slot_capacity, dictionary_key_capacity
    cdef uint64_t dictionary               # which it is, its hashes, and what the table was when their slots were found
    cdef size_t dictionary_size
    cdef uint64_t dictionary_moves
    cdef size_t dictionary_used
    cdef size_t expanded                   # the line of the batch that was expanded ahead,
    cdef size_t located                    # ... and the one whose slots were found ahead
    cdef PieceMaker maker                  # of the features of an enormous line
    cdef readonly uint64_t enormous        # features of the line where `run` came back, if they come in pieces; else 0
    # When to come back.
    cdef int stopping
    cdef readonly Reason reason
    cdef public double report_at           # weight of examples (held out ones left out) at which to come back
    cdef public uint64_t checkpoint_at     # number of examples at which to come back
    # What is counted.
    cdef readonly Tally progressive        # what is learned, predicted before
    cdef readonly Tally holdout            # what is held out, in this pass
    cdef public uint64_t lines             # in this pass, blank ones too
    cdef public uint64_t examples          # not held out, over all passes
    cdef readonly uint64_t unlabelled
    cdef readonly uint64_t unfit             # ... as their label is none that the model can use
    cdef public double unlabelled_weight
    cdef readonly uint64_t features        # of all examples, held out ones too
    cdef readonly int distinct_labels      # how many different labels there were; 3: or more
    cdef readonly double first_label, second_label
    cdef readonly uint64_t cut             # features of the example that was cut short in learning, by `stop`; 0: none
    # ... of those that are only predicted, interactions left out:
    cdef readonly uint64_t looked_up         # features
    cdef readonly uint64_t unknown           # ... that the model does not know
    cdef readonly uint64_t unknown_examples  # examples of which it knows no feature
    # Of the last example.
    cdef readonly double label, prediction
    cdef readonly size_t size

    cdef size_t loop(self, const Arrays* a, size_t begin, size_t end) noexcept nogil

    # What a subclass may do otherwise; each is called once for an example.
    cdef bint holds_out(self, bint labelled) noexcept nogil
    cdef Reason predict(self, Turn* turn) noexcept nogil
    cdef void widen_range(self, double label) noexcept nogil
    cdef Reason count(self, const Turn* turn) noexcept nogil
    cdef Reason pause(self) noexcept nogil


cdef inline void count_label(int* distinct, double* first, double* second, double label) noexcept nogil:
    """Count a label among the different ones, as far as three."""
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
    """A prediction as the range of labels and the loss allow it."""
    if not self.clips:
        return p
    return min(max(p, max(self.min_label, -self.loss.largest_p)), min(self.max_label, self.loss.largest_p))
