"""Rules for several classes. See multiclass.pyx."""

from vwlite.core.data.class_names cimport ClassNames
from vwlite.core.learn.rule cimport Example, Outcome, Rule


cdef class Classifier(Rule):
    cdef readonly list rules          # one for each class
    cdef void** each                  # owned; the same rules as borrowed pointers
    cdef readonly size_t classes      # K
    cdef readonly bint probable       # whether the scores give probabilities
    cdef size_t record                # bytes from the record of one class to that of the next class in a slot
    cdef double* scores               # owned, [K]; of the last predicted example
    cdef Outcome* outcomes            # owned, [K]; set by `evaluate`
    cdef char** slots_of_class        # owned, [capacity]
    cdef size_t capacity

    cdef void prepare_all(self)
    cdef int start_classes(self, Example* part, const Example* e) noexcept nogil
    cdef void go_on(self, Example* part) noexcept nogil
    cdef double score(self, const Example* e, bint learns) noexcept nogil
    cdef size_t best(self, size_t named) noexcept nogil
    cdef bint evaluate(self, size_t label, double importance, size_t named) noexcept nogil
    cdef void probabilities(self, size_t named, double* out) noexcept nogil
    cdef double log_loss(self, size_t label, size_t named) noexcept nogil


cdef class Quantiles(Classifier):
    cdef readonly ClassNames names
    cdef double* sorted               # owned, [K]; the predictions for the last example
    cdef double* facts                # owned; the loss of each; then of each pair, outermost first, whether the label lies
    cdef readonly size_t facts_count  # ... between them, and how far they are apart

    cdef double arrange(self, double low, double high) noexcept nogil
    cdef void judge(self, Outcome* whole) noexcept nogil
