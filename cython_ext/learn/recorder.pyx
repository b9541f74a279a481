"""A learner that only predicts, and records the prediction and the loss of each example."""

from libc.math cimport NAN
from libc.stdlib cimport free

from vwlite.core.base.buffers cimport Buffer, append
from vwlite.core.learn.learner cimport Learner, Reason, Turn

from cpython.bytes cimport PyBytes_FromStringAndSize

FIELDS = ("label", "shown", "loss", "slope", "rival")     # of a record, each a double


cdef struct Record:
    double label            # NaN: missing
    double shown            # the prediction: clipped, or the number of the class
    double loss             # of an example with a label; of classes with probabilities the log loss
    double slope            # dl/dp; of classes: how far the score of the rival is above that of the label
    double rival            # the class with the largest score except the label; 0: none


cdef class Recorder(Learner):
    """Predicts with the weights of another learner that does not learn either. An example that was rejected has a
    record too, of NaN.

    written: as PredictionWriter takes it.
    """

    cdef Buffer records

    def __init__(self, Learner learner not None, **written):
        super().__init__(
            learner.rule, learner.loss, learner.expander, learn=False, class_names=learner.class_names, **written)
        self.writer.link = learner.writer.link
        self.predict_as(learner)

    def __dealloc__(self):
        free(self.records.data)

    def take(self):
        """The records since the last call, as bytes."""
        size, self.records.size = self.records.size, 0
        return PyBytes_FromStringAndSize(self.records.data, size)

    def reject(self):
        cdef Record r = Record(NAN, NAN, NAN, NAN, NAN)
        Learner.reject(self)
        if append(&self.records, &r, sizeof(r)):
            raise MemoryError("no memory for the record of an example")

    cdef Reason count(self, const Turn* turn) noexcept nogil:
        cdef Reason reason = Learner.count(self, turn)
        cdef Record r = Record(NAN, turn.shown, NAN, NAN, 0)
        cdef size_t k, label = <size_t>turn.o.label if self.multiclass and turn.labelled else 0
        cdef const double* scores = self.classifier.scores if self.multiclass else NULL
        if reason != Reason.DONE:
            return reason
        if turn.labelled:
            r.label, r.loss, r.slope = turn.o.label, turn.o.loss, turn.o.dloss
        for k in range(1, self.named + 1 if self.multiclass else 0):
            if k != label and (r.rival == 0 or scores[k - 1] > scores[<size_t>r.rival - 1]):
                r.rival = k
        if label and r.rival:
            r.slope = scores[<size_t>r.rival - 1] - scores[label - 1]
        if label and self.classifier.probable:
            r.loss = turn.log_loss
        return Reason.DONE if append(&self.records, &r, sizeof(r)) == 0 else Reason.NO_MEMORY
