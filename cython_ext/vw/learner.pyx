"""The order of events where Vowpal Wabbit's is another one."""

from vwlite.core.data.batch cimport Arrays
from vwlite.core.learn.learner cimport Learner, Reason, Turn, clipped
from vwlite.core.learn.output cimport Form
from vwlite.core.learn.rule cimport Outcome
from vwlite.core.vw.counts cimport Counts
from vwlite.core.vw.coin cimport Coin
from vwlite.core.vw.gd_flags cimport GdWithFlags
from vwlite.core.vw.interleaved cimport Interleaved
from vwlite.core.vw.labels cimport ExpectedLabels


cdef class VwLearner(Learner):
    """A learner whose holdout, clipping and counts are Vowpal Wabbit's.

    counts: counters of examples, instead of the tallies of a Learner. reports: return when a progress row is due.
    labels: of the batch that it processes; lines before which it must stop are handled separately. holdout_after: lines
    of a pass after this number are held out; 0: see Learner. Examples without a label are never held out. widens:
    labels that are learned widen the range to which predictions are clipped. predict_first: the written and reported
    prediction of a learned example is computed separately before the update.
    """

    cdef Counts counts
    cdef ExpectedLabels labels
    cdef bint* has_warning                # of the rule, which has it; NULL: it never has one
    cdef double* importance               # of the rule, which is to know that of each example; or NULL
    cdef size_t holdout_after
    cdef bint reports, widens, predict_first

    def __init__(self, rule, loss, expander, ExpectedLabels labels not None, Counts counts not None, *,
                 bint reports=False, size_t holdout_after=0, bint widens=True, bint predict_first=False, **options):
        super().__init__(rule, loss, expander, **options)
        self.labels, self.counts, self.reports = labels, counts, reports
        self.holdout_after, self.widens, self.predict_first = holdout_after, widens, predict_first
        self.writer.form, self.writer.form_of_each = Form.SIX_DECIMALS, Form.SIX_DIGITS
        if isinstance(rule, GdWithFlags):
            self.has_warning = &(<GdWithFlags>rule).has_warning
        elif isinstance(rule, Interleaved):
            self.has_warning, self.importance = &(<Interleaved>rule).has_warning, &(<Interleaved>rule).importance
        elif isinstance(rule, Coin):
            self.importance = &(<Coin>rule).importance

    def probabilities_of_classes(self):
        """The scores of the last example, as a list."""
        self.classifier.probabilities(self.named, self.class_probabilities)
        return [self.class_probabilities[k] for k in range(self.named)]

    cdef size_t loop(self, const Arrays* a, size_t begin, size_t end) noexcept nogil:
        cdef Arrays decoded = a[0]
        self.labels.show(&decoded)
        return Learner.loop(self, &decoded, begin, end)

    cdef bint holds_out(self, bint labelled) noexcept nogil:
        if not labelled:
            return False
        return self.lines > self.holdout_after if self.holdout_after else Learner.holds_out(self, labelled)

    cdef Reason predict(self, Turn* turn) noexcept nogil:
        cdef double first
        cdef Reason reason
        if self.importance != NULL:
            self.importance[0] = turn.o.importance
        if not (self.predict_first and turn.learns):
            return Learner.predict(self, turn)
        first = self.rule.predict(&turn.e)
        if first - first != 0:
            return Reason.DIVERGED
        first = self.classifier.best(self.named) if self.multiclass else clipped(self, first)
        reason = Learner.predict(self, turn)
        turn.shown = first
        if self.multiclass:
            turn.o.p = first
        return reason

    cdef void widen_range(self, double label) noexcept nogil:
        if self.widens:
            self.min_label, self.max_label = min(self.min_label, label), max(self.max_label, label)

    cdef Reason count(self, const Turn* turn) noexcept nogil:
        cdef const Outcome* o = &turn.o
        # Among classes with probabilities, no prediction is that of an example without a label.
        cdef double loss = o.importance * o.loss if turn.labelled or self.writer.probabilities else 0
        self.size, self.label, self.prediction = turn.e.size, o.label, turn.shown
        self.counts.add(turn.held, turn.labelled, loss, o.importance, turn.e.size)
        if turn.labelled and self.multiclass:
            self.counts.add_log_loss(turn.held, o.importance * turn.log_loss)
        elif turn.labelled:
            self.counts.add_label(turn.held, o.label, o.importance)
        return Reason.DONE

    cdef Reason pause(self) noexcept nogil:
        cdef bint due
        if self.has_warning != NULL and self.has_warning[0]:
            self.has_warning[0] = False
            return Reason.WARNING
        due = self.reports and self.counts.examples() >= self.counts.dump_interval
        return Reason.REPORT if due else Reason.DONE
