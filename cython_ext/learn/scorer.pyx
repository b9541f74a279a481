"""A learner that only predicts, and stores predictions as numbers in arrays instead of lines of text."""

from vwlite.core.learn.learner cimport Learner, Reason, Turn
from vwlite.core.learn.output cimport Link, linked

from vwlite.core.learn.output import Link as LINKS


cdef class Scorer(Learner):
    """Predicts with the weights of another learner that does not learn either.

    After `into`, `run` fills the arrays, starting at row `at`, one row per example; `release` drops the references.
    """

    cdef public size_t at             # the next row
    cdef readonly size_t width        # scores per example: one per class or quantile, or one
    cdef double[:, ::1] scores
    cdef double[::1] predicted
    cdef double[:, ::1] shares
    cdef bint gives_probabilities

    def __init__(self, Learner learner not None):
        super().__init__(learner.rule, learner.loss, learner.expander, learn=False, class_names=learner.class_names)
        self.writer.link = learner.writer.link
        self.predict_as(learner)
        self.width = 1 if self.classifier is None else self.classifier.classes

    def into(self, double[:, ::1] scores not None, double[::1] predicted not None, double[:, ::1] probabilities=None):
        """Set the arrays to fill, from their first row on, with one row per example.

        scores: [examples, width], neither clipped nor linked. predicted: clipped, or the number of the class.
        probabilities: of the classes, if the model gives any; those of classes without a name are left unchanged. Of
        several quantiles, all predictions, linked.
        """
        self.scores, self.predicted, self.at = scores, predicted, 0
        self.gives_probabilities = probabilities is not None and self.multiclass and self.classifier.probable
        self.shares = probabilities

    def release(self):
        self.scores, self.predicted, self.shares = None, None, None
        self.gives_probabilities = False

    cdef Reason count(self, const Turn* turn) noexcept nogil:
        cdef size_t k
        if self.scores is None or self.at >= <size_t>self.scores.shape[0]:
            return Reason.STOPPED
        self.predicted[self.at] = turn.shown
        if self.classifier is None:
            self.scores[self.at, 0] = turn.raw
        for k in range(0 if self.classifier is None else self.width):
            self.scores[self.at, k] = self.classifier.scores[k]
            if self.quantiles is not None and self.shares is not None:
                self.shares[self.at, k] = linked(self.quantiles.sorted[k], self.writer.link)
        if self.gives_probabilities and self.named > 0:
            self.classifier.probabilities(self.named, &self.shares[self.at, 0])
        self.at += 1
        return Reason.DONE


def link_all(double[::1] numbers not None, str link):
    """Apply the link to each number, in place."""
    cdef Py_ssize_t i
    cdef Link how = LINKS[link.upper()]
    for i in range(numbers.shape[0]):
        numbers[i] = linked(numbers[i], how)
