"""A learner that only predicts, and stores what its predictions are judged by as numbers in an array."""

from vwlite.core.learn.learner cimport Learner, Reason, Turn

cdef enum:
    WIDTH = 7   # columns of the array, without facts


cdef class Evaluator(Learner):
    """Predicts with the weights of another learner that does not learn either.

    Each labelled example becomes a row of the array that `into` was given: the line of the batch; label and importance;
    the prediction as the loss takes it, or the number of the class; the loss; and -log of the probability of the
    label's class, if classes have probabilities; and the rank of this class by score, from 1. Of several quantiles, their
    facts follow. everything: so do examples without a label.
    """

    cdef double[:, ::1] rows
    cdef readonly size_t filled     # rows of the array
    cdef readonly size_t width      # columns of it
    cdef bint everything

    def __init__(self, Learner learner not None, *, bint everything=False):
        super().__init__(learner.rule, learner.loss, learner.expander, learn=False, class_names=learner.class_names)
        self.predict_as(learner)
        self.everything = everything
        self.width = WIDTH + (0 if self.quantiles is None else self.quantiles.facts_count)

    def into(self, double[:, ::1] rows not None):
        """Set the array to fill, from its first row on: [labelled examples or more, width]."""
        if <size_t>rows.shape[1] != self.width:
            raise ValueError(f"the array needs {self.width} columns")
        self.rows, self.filled = rows, 0

    cdef Reason count(self, const Turn* turn) noexcept nogil:
        cdef double* row
        cdef size_t k, label
        cdef Reason reason = Learner.count(self, turn)
        if reason != Reason.DONE or not (turn.labelled or self.everything):
            return reason
        if self.rows is None or self.filled >= <size_t>self.rows.shape[0]:
            return Reason.STOPPED
        row = &self.rows[self.filled, 0]
        row[0], row[1], row[2], row[3] = <double>turn.line, turn.o.label, turn.o.importance, turn.o.p
        row[4], row[5], row[6] = turn.o.loss, turn.log_loss, 0
        if self.multiclass and self.quantiles is None and turn.labelled:
            label = <size_t>turn.o.label - 1
            for k in range(self.named):  # equal scores are in the order of classes
                row[6] += self.classifier.scores[k] > self.classifier.scores[label] or (
                    self.classifier.scores[k] == self.classifier.scores[label] and k <= label)
        for k in range(self.width - WIDTH):
            row[WIDTH + k] = self.quantiles.facts[k]
        self.filled += 1
        return reason
