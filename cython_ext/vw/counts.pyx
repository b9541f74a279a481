"""Counters over the examples of a run: Vowpal Wabbit's `shared_data`.

The engine's loop counts here and so does Python, one example at a time. The field names are those of the readable
model. Losses are sums, times the weights of the examples.
"""

from libc.stdint cimport uint64_t

from vwlite.core.learn.learner cimport count_label


cdef class Counts:
    """Sums over examples; those of held out examples are separate."""

    def __init__(self):
        self.dump_interval = 1

    cdef void add(self, bint held, bint labelled, double loss, double weight, uint64_t features) noexcept nogil:
        self.t += weight
        if held and labelled:
            self.holdout_weight += weight
            self.holdout_loss += loss
            self.holdout_weight_since_dump += weight
            self.holdout_loss_since_dump += loss
            self.holdout_weight_since_pass += weight
            self.holdout_loss_since_pass += loss
            return
        if labelled:
            self.weighted_labeled_examples += weight
        else:
            self.weighted_unlabeled_examples += weight
        self.sum_loss += loss
        self.sum_loss_since_last_dump += loss
        self.total_features += features
        self.example_number += 1

    cdef void add_label(self, bint held, double label, double weight) noexcept nogil:
        if not held:
            self.weighted_labels += label * weight
        count_label(&self.distinct_labels, &self.first_label, &self.second_label, label)

    cdef void add_log_loss(self, bint held, double loss) noexcept nogil:
        if held:
            self.held_log_loss += loss
        else:
            self.log_loss += loss

    cdef double examples(self) noexcept nogil:
        return self.weighted_labeled_examples + self.weighted_unlabeled_examples

    @property
    def weight(self):
        """The weight of the examples that were not held out."""
        return self.examples()

    def update(self, bint held, bint labelled, double loss, double weight, uint64_t features):
        """Count one example. held: it was held out."""
        self.add(held, labelled, loss, weight, features)

    def count_label(self, bint held, double label, double weight):
        """Count its label, which is a number: for the best constant prediction."""
        self.add_label(held, label, weight)

    def see_label(self, double label):
        """Add it to the different labels, without counting the example."""
        count_label(&self.distinct_labels, &self.first_label, &self.second_label, label)

    def count_log_loss(self, bint held, double loss):
        """Count what its class's probability says."""
        self.add_log_loss(held, loss)
