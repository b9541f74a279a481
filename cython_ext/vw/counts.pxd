"""What is counted over the examples of a run. See counts.pyx."""

from libc.stdint cimport uint64_t


cdef class Counts:
    cdef public double t                             # weight of all examples, held out ones too
    cdef public double sum_loss
    cdef public double sum_loss_since_last_dump
    cdef public double dump_interval                 # the weight of examples at which the next row is due
    cdef public double weighted_labeled_examples
    cdef public double weighted_labels
    cdef public double weighted_unlabeled_examples
    cdef public uint64_t example_number
    cdef public uint64_t total_features
    cdef public double log_loss, held_log_loss       # -log of the probabilities that the labels' classes had
    # Of the examples that are held out:
    cdef public double holdout_weight, holdout_loss
    cdef public double holdout_weight_since_dump, holdout_loss_since_dump
    cdef public double holdout_weight_since_pass, holdout_loss_since_pass
    # The different labels that there are:
    cdef readonly int distinct_labels                # how many; 3: or more
    cdef readonly double first_label, second_label

    cdef void add(self, bint held, bint labelled, double loss, double weight, uint64_t features) noexcept nogil
    cdef void add_label(self, bint held, double label, double weight) noexcept nogil
    cdef void add_log_loss(self, bint held, double loss) noexcept nogil
    cdef double examples(self) noexcept nogil
