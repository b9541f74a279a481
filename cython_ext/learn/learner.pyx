"""The learning loop: for each example, find the slots of its features, predict, evaluate, count, write, learn.

The learner runs over a batch without the GIL and returns early when Python has something to do: print a progress
row, write a checkpoint, handle a number that is not finite, handle a signal. It has no access to files or options;
prediction lines are formatted by the writer (learn/output.pyx), and a rule receives only features and outcomes
(prediction, label, importance, loss and its derivative). As in Vowpal Wabbit, the range that predictions of `gd` are
clipped to includes the label of the same line.

With classes (multiclass.pyx), labels and predictions are class numbers, and the loss is 0 or 1. With several quantiles,
`shown` is the prediction in the middle, and the loss the mean of those of all.
"""

from libc.math cimport INFINITY, isnan
from libc.stdint cimport uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

from vwlite.core.base.buffers cimport reserve
from vwlite.core.base.elementary cimport log
from vwlite.core.base.prefetch cimport prefetch_write
from vwlite.core.data.batch cimport BLANK, EXAMPLE, REJECTED, Arrays, Batch, is_unfit
from vwlite.core.data.class_names cimport ClassNames
from vwlite.core.data.expand cimport CONSTANT, NO_SPACE, TOO_LARGE, WHOLE, Expander, Expansion, Features
from vwlite.core.learn.chunks cimport ChunkMaker, vwlite_load, vwlite_store
from vwlite.core.learn.folded cimport fold
from vwlite.core.learn.losses cimport Loss
from vwlite.core.learn.multiclass cimport Classifier, Quantiles
from vwlite.core.learn.output cimport Link, PredictionWriter, linked
from vwlite.core.learn.rule cimport Example, Outcome, Rule
from vwlite.core.learn.table cimport prefetch
from vwlite.core.learn.tally cimport Tally

cdef enum:
    LARGEST = 700       # a calibrated score: exp(700) is finite
    NEAR = 1 << 21      # bytes of a table that fits in the cache: prefetching is not needed


cdef class Learner:
    """Learns or predicts the examples of batches.

    learn: whether to learn at all. holdout_period: one line of every `holdout_period` is only predicted; 0: no holdout.
    predictions, raw_predictions, link, probabilities: see PredictionWriter.
    class_names: required if the rule is a Classifier.
    """

    def __init__(self, Rule rule not None, Loss loss not None, Expander expander not None, *, bint learn=True,
                 size_t holdout_period=0, ClassNames class_names=None, **written):
        self.rule, self.loss, self.expander = rule, loss, expander
        self.table = rule.table
        self.maker = ChunkMaker(expander, self.table)
        if learn and expander.derivation is not None:
            expander.derivation.find_units(expander.mask)
        self.maker.stopping = &self.stopping
        self.learning, self.clips, self.holdout_period = learn, rule.CLIPS, holdout_period
        if isinstance(rule, Classifier):
            self.classifier = rule
        if isinstance(rule, Quantiles):
            self.quantiles = rule
        names = class_names if self.quantiles is None else self.quantiles.names
        self.writer = PredictionWriter(class_names=names, quantiles=self.quantiles is not None, **written)
        self.writer.of_log = loss.of_log
        self.multiclass = self.classifier is not None and self.quantiles is None
        if self.multiclass:
            if class_names is None or class_names.limit != rule.classes:
                raise ValueError("there are not as many names as classes")
            self.class_names, self.named = class_names, class_names.count
            free(self.class_probabilities)
            self.class_probabilities = <double*>calloc(self.classifier.classes, sizeof(double))
            if self.class_probabilities == NULL:
                raise MemoryError("no memory for the probabilities")
        self.progressive, self.holdout = self._new_tally(), self._new_tally()
        self.report_at = INFINITY
        self.checkpoint_at = <uint64_t>-1

    def __dealloc__(self):
        free(self.slots[0])
        free(self.slots[1])
        free(self.dictionary_slots)
        free(self.dictionary_keys)
        free(self.class_probabilities)

    def _new_tally(self):
        if not self.multiclass:
            facts = 0 if self.quantiles is None else self.quantiles.facts_count
            return Tally(power=self.loss.power, keeps_labels=self.loss.keeps_labels, facts=facts,
                         of_log=self.loss.of_log)
        return Tally(self.classifier.classes, probable=self.classifier.probable)

    def calibrate(self, double slope, const double[::1] scores, const double[::1] values):
        """Map clipped scores: linearly between these points, and beyond them with this slope; None: not at all."""
        self.points = 0 if scores is None else scores.shape[0]
        if self.points and (values is None or <size_t>values.shape[0] != self.points):
            raise ValueError("as many values as scores")
        self.outer_slope, self.point_scores, self.point_values = slope, scores, values

    cdef predict_as(self, Learner other):
        """Clip and map scores as another learner does."""
        self.clips, self.named, self.min_label, self.max_label = other.clips, other.named, other.min_label, other.max_label
        self.points, self.outer_slope, self.offset = other.points, other.outer_slope, other.offset
        self.point_scores, self.point_values = other.point_scores, other.point_values
        self.folded = other.folded

    def fold(self):
        """Keep derived features with their weights in tables, if that is possible. The learner does not learn, and the
        weights stay as they are now."""
        self.folded = fold(self.expander, self.rule)

    @property
    def predictions(self):
        """Output lines that have not been taken yet."""
        return self.writer.predictions

    @property
    def raw_predictions(self):
        """Output lines that have not been taken yet."""
        return self.writer.raw_predictions

    def linked(self, double p):
        """A prediction in the form of the output."""
        return self.writer.linked(p)

    def stop(self):
        """Let `run` return after the current example, or before or within it if the example is oversized (then it is
        not learned, or learned in part). May be called from any thread."""
        vwlite_store(self.stopping, 1)

    def reject(self):
        """Answer the line where `run` returned DIVERGED as an invalid line."""
        self.lines -= 1
        if self.writer.blank_line():
            raise MemoryError("no memory for a prediction")

    def begin_pass(self):
        """Reset the counters of lines and of held out examples."""
        self.lines = 0
        self.holdout = self._new_tally()

    def run(self, Batch batch not None, size_t begin=0, end=None):
        """Process the lines of a batch from `begin` to `end`. Returns the line after the last one processed.

        `reason` says why it returned. After DIVERGED, NO_MEMORY, TOO_MANY, TOO_LONG and STOPPED within an oversized
        line, the returned line is the one that it concerns, which is not learned. After DIVERGED, `prediction` is its
        prediction, which is finite if only the loss is not.
        """
        cdef size_t line, last = batch.a.lines if end is None else end
        if not begin <= last <= batch.a.lines:
            raise IndexError(begin)
        self.encoded = self.expander.takes_numbers(&batch.a) and not self.rule.no_preallocation
        if not self.encoded and batch.decode():
            raise MemoryError("no memory for the hashes of a batch")
        with nogil:
            self.expander.derived.is_folded = self.folded is not None
            line = self.loop(&batch.a, begin, last)
            self.expander.derived.is_folded = False     # other users of it need all features
        self.maker.raise_error()
        return line

    cdef size_t loop(self, const Arrays* a, size_t begin, size_t end) noexcept nogil:
        cdef size_t line
        self.reason = Reason.DONE
        self.expanded = self.located = <size_t>-1
        self.oversized = 0
        if self.encoded and locate_dictionary(self, a):
            self.reason = Reason.NO_MEMORY
            return begin
        for line in range(begin, end):
            if vwlite_load(self.stopping):
                self.reason = Reason.STOPPED
                return line
            if a.kind[line] != EXAMPLE:
                self.lines += a.kind[line] == BLANK
                if (a.kind[line] == REJECTED or self.answers_blank_lines) and self.writer.blank_line():
                    self.reason = Reason.NO_MEMORY
                    return line
                continue
            self.reason = one(self, a, line)
            if self.oversized:
                self.maker.end()
            if self.reason != Reason.DONE:
                return line
            if self.oversized:
                self.oversized = 0
                if self.maker.stopped:
                    self.reason = Reason.STOPPED
                    return line + 1
            self.reason = self.pause()
            if self.reason != Reason.DONE:
                return line + 1
        return end

    cdef bint holds_out(self, bint labelled) noexcept nogil:
        """Whether this line is held out."""
        return self.holdout_period and self.lines % self.holdout_period == 0

    cdef Reason predict(self, Turn* turn) noexcept nogil:
        """Set the prediction: `raw`, then `o.p` and `shown` (clipped, or the number of a class)."""
        cdef double raw
        if turn.learns:
            raw = self.rule.predict_to_learn(&turn.e)
        else:
            raw = self.rule.predict(&turn.e)
            if self.folded is not None:
                raw = add_folded(self, raw, self.folded.sums[turn.line & 1])
        if turn.e.chunks != NULL and self.maker.stopped:     # the state is as before this example
            self.lines -= 1
            return Reason.STOPPED
        if raw - raw != 0:
            self.prediction = raw
            return Reason.DIVERGED
        turn.raw = raw
        if turn.learns and self.clips:
            self.widen_range(turn.o.label)
        if self.classifier is None:
            turn.o.p = turn.shown = calibrated(self, clipped(self, raw)) if self.points else clipped(self, raw)
            if self.offset != 0:
                turn.shown += self.offset
            return Reason.DONE
        if self.classifier.out_of_memory:
            return Reason.NO_MEMORY
        if self.quantiles is not None:
            turn.o.p = turn.shown = arranged(self)
            return Reason.DONE
        if turn.labelled and turn.o.label > self.named:
            self.named = <size_t>turn.o.label
        turn.o.p = turn.shown = self.classifier.best(self.named)
        return Reason.DONE

    cdef void widen_range(self, double label) noexcept nogil:
        """Extend the range of predictions to include a label that is learned; its logarithm, if a prediction is that of a mean.
        """
        if self.loss.power > 0:
            if label <= 0:
                return
            label = log(label)
        self.min_label, self.max_label = min(self.min_label, label), max(self.max_label, label)

    cdef Reason count(self, const Turn* turn) noexcept nogil:
        """Count the example."""
        cdef const Outcome* o = &turn.o
        if self.writer.link >= Link.POISSON and self.writer.writes and not (self.learning or self.multiclass):
            self.prediction = linked(turn.shown, self.writer.link)
            if self.prediction - self.prediction != 0:
                return Reason.DIVERGED
        self.features += turn.e.size
        self.size, self.label, self.prediction = turn.e.size, o.label, turn.shown
        if turn.labelled and not self.multiclass:
            count_label(&self.distinct_labels, &self.first_label, &self.second_label, o.label)
        if turn.labelled and self.quantiles is not None and turn.held:
            self.holdout.add_facts(self.quantiles.facts, o.importance)
        elif turn.labelled and self.quantiles is not None:
            self.progressive.add_facts(self.quantiles.facts, o.importance)
        if turn.held:
            if turn.labelled and self.holdout.add(o.p, o.label, o.importance, o.loss, turn.log_loss):
                return Reason.NO_MEMORY
            return Reason.DONE
        if turn.labelled and self.progressive.add(o.p, o.label, o.importance, o.loss, turn.log_loss):
            return Reason.NO_MEMORY
        self.examples += 1
        if not turn.labelled:
            self.unlabelled += 1
            self.unfit += is_unfit(o.label)
            self.unlabelled_weight += o.importance
        return Reason.DONE

    cdef Reason pause(self) noexcept nogil:
        """Whether to return after this example, and the reason."""
        if self.progressive.weight + self.unlabelled_weight >= self.report_at:
            return Reason.REPORT
        return Reason.CHECKPOINT if self.examples >= self.checkpoint_at else Reason.DONE


cdef double calibrated(Learner self, double score) noexcept nogil:
    """A score after the map, in the range where a probability is neither 0 nor 1 by far."""
    cdef const double[::1] x = self.point_scores
    cdef const double[::1] y = self.point_values
    cdef size_t low = 0, high = self.points - 1, middle
    if score <= x[low] or score >= x[high]:
        low = low if score <= x[low] else high
        return min(max(y[low] + self.outer_slope * (score - x[low]), -LARGEST), LARGEST)
    while high - low > 1:
        middle = (low + high) // 2
        if x[middle] <= score:
            low = middle
        else:
            high = middle
    return y[low] + (y[high] - y[low]) * ((score - x[low]) / (x[high] - x[low]))


# --- one example, step by step ---------------------------------------------------------------

cdef inline Reason one(Learner self, const Arrays* a, size_t line) noexcept nogil:
    cdef Turn turn
    cdef Reason reason
    start_turn(self, a, line, &turn)
    reason = locate(self, a, line, &turn)
    if reason == Reason.DONE:
        reason = self.predict(&turn)
    if reason == Reason.DONE:
        reason = evaluate(self, &turn)
    if reason == Reason.DONE:
        reason = self.count(&turn)
    if reason == Reason.DONE:
        reason = write(self, a, line, &turn)
    if reason == Reason.DONE and turn.learns:
        reason = update(self, &turn)
    return reason


cdef inline void start_turn(Learner self, const Arrays* a, size_t line, Turn* turn) noexcept nogil:
    """Read label and importance of the line, and decide whether the example is learned."""
    cdef double label = a.label[line], importance = a.importance[line]
    self.lines += 1
    turn.line = line
    turn.labelled = 1 <= label <= self.classifier.classes if self.multiclass else not isnan(label)
    turn.held = self.holds_out(turn.labelled)
    turn.learns = self.learning and turn.labelled and not turn.held and importance > 0
    turn.low, turn.high, turn.log_loss = self.min_label, self.max_label, 0
    turn.o.label = label
    turn.o.importance = importance
    turn.e.initial, turn.e.chunks = a.initial[line], NULL


cdef inline Reason locate(Learner self, const Arrays* a, size_t line, Turn* turn) noexcept nogil:
    """Expand the example, and find the slots of its features."""
    cdef Expansion expansion = WHOLE
    # The next example is expanded before this one is learned, so that its slots are prefetched meanwhile.
    if self.expanded != line:
        expansion = expand(self, a, line)
    if expansion == TOO_LARGE:
        return Reason.TOO_LONG
    if expansion != WHOLE:
        if expansion == NO_SPACE or locate_chunks(self, a, line, &turn.e, turn.learns):
            return Reason.NO_MEMORY
    elif locate_whole(self, a, line, &turn.e, turn.learns):
        return Reason.NO_MEMORY
    return Reason.DONE


cdef inline Expansion expand(Learner self, const Arrays* a, size_t line) noexcept nogil:
    """Expand a line, and sum its folded part."""
    cdef Expansion expansion = self.expander.expand(a, line, line & 1, self.encoded)
    if self.folded is not None and expansion != NO_SPACE:
        self.folded.sum(&self.expander.derived, line & 1)
    return expansion


cdef inline double add_folded(Learner self, double raw, const double* sums) noexcept nogil:
    """A prediction of the rule together with what is folded; of classes, the scores, as the rule does it."""
    cdef double* scores
    cdef size_t k
    if self.classifier is None:
        return raw + sums[0]
    scores = self.classifier.scores
    for k in range(self.classifier.classes):
        scores[k] += sums[k]
        raw += scores[k] - scores[k]
    return raw


cdef inline Reason evaluate(Learner self, Turn* turn) noexcept nogil:
    """The loss of the prediction, and its derivative."""
    cdef Outcome* o = &turn.o
    if self.multiclass:
        o.loss = o.p != o.label
        if turn.labelled and self.classifier.probable:
            turn.log_loss = self.classifier.log_loss(<size_t>o.label, self.named)
        if turn.learns and not self.classifier.evaluate(<size_t>o.label, o.importance, self.named):
            return Reason.DIVERGED
    elif turn.labelled:
        if self.quantiles is not None:
            self.quantiles.judge(o)
        else:
            o.loss = self.loss.evaluate(o.p, o.label, &o.dloss)
        if o.loss - o.loss != 0:
            self.min_label, self.max_label = turn.low, turn.high
            self.prediction = turn.shown
            return Reason.DIVERGED
    return Reason.DONE


cdef inline Reason write(Learner self, const Arrays* a, size_t line, const Turn* turn) noexcept nogil:
    """Write the prediction lines, with the tag of the example."""
    cdef const char* tag = a.tags + a.tag_begin[line]
    cdef size_t tag_size = a.tag_begin[line + 1] - a.tag_begin[line]
    cdef int failed
    if not (self.writer.writes or self.writer.writes_raw):
        return Reason.DONE
    if self.multiclass:
        if self.writer.needs_probabilities and self.named > 0:
            self.classifier.probabilities(self.named, self.class_probabilities)
        failed = self.writer.class_line(
            <size_t>turn.o.p, self.named, self.class_probabilities, self.classifier.scores,
            <size_t>turn.o.label if turn.labelled else 0, tag, tag_size)
    elif self.quantiles is not None:
        failed = self.writer.quantile_line(self.quantiles.sorted, self.quantiles.scores, turn.o.label, tag, tag_size)
    else:
        failed = self.writer.score_line(turn.shown, turn.raw, turn.o.label, tag, tag_size)
    return Reason.NO_MEMORY if failed else Reason.DONE


cdef inline Reason update(Learner self, Turn* turn) noexcept nogil:
    """Let the rule learn the example."""
    self.rule.update(&turn.e, &turn.o)
    if turn.e.chunks != NULL and self.maker.stopped:
        self.cut = self.maker.size
    if self.rule.out_of_memory:
        return Reason.NO_MEMORY
    return Reason.TOO_MANY if self.rule.too_many else Reason.DONE


# --- where the features of an example are ----------------------------------------------------

cdef int locate_dictionary(Learner self, const Arrays* a) noexcept nogil:
    """Find the slots of all features of a batch. They stay valid until the next batch. -1: no memory.

    A feature that occurs only in examples that are not learned gets a slot too, which is idle. If the dictionary is the
    same as before, only its new hashes are looked up, unless slots have moved, or a model that does not learn has got
    more slots.
    """
    cdef size_t known = 0, n = a.distinct
    cdef uint64_t moves = self.table.moves
    if (a.dictionary != 0 and a.dictionary == self.dictionary and moves == self.dictionary_moves
            and (self.learning or self.table.used + self.table.has_last == self.dictionary_used)):
        if n == self.dictionary_size:
            return 0
        if n > self.dictionary_size:
            known = self.dictionary_size
    self.dictionary = 0
    if (reserve(<void**>&self.dictionary_slots, &self.dictionary_slot_capacity, n + 1, sizeof(char*))
            or reserve(<void**>&self.dictionary_keys, &self.dictionary_key_capacity, n + 1, sizeof(uint32_t))):
        return -1
    self.table.asked += known
    if locate_hashes(self, a, known) or (self.table.moves != moves and known and locate_hashes(self, a, 0)):
        return -1
    self.dictionary, self.dictionary_size, self.dictionary_moves = a.dictionary, n, self.table.moves
    self.dictionary_used = self.table.used + self.table.has_last
    return 0


cdef int locate_hashes(Learner self, const Arrays* a, size_t first) noexcept nogil:
    """Find the slots of the distinct hashes from index `first` on, and of the intercept; -1: no memory."""
    cdef size_t i, n = a.distinct
    for i in range(first, n):
        self.dictionary_keys[i] = a.distinct_hash[i] & self.expander.mask
    self.dictionary_keys[n] = CONSTANT & self.expander.mask
    n += self.expander.constant
    if self.learning:
        return self.table.resolve_all(self.dictionary_keys + first, n - first, self.dictionary_slots + first)
    self.table.lookup(self.dictionary_keys + first, n - first, self.dictionary_slots + first)
    return 0


cdef inline int locate_whole(Learner self, const Arrays* a, size_t line, Example* e, bint learns) noexcept nogil:
    """Find the slots of an expanded example; -1: no memory."""
    cdef Features* f
    cdef char** slots
    cdef size_t here = line & 1
    if (line + 1 < a.lines and a.kind[line + 1] == EXAMPLE
            and expand(self, a, line + 1) == WHOLE):
        self.expanded = line + 1
    f = &self.expander.buffers[here]
    e.size, e.x = f.size, f.values
    if self.encoded:    # the slots do not move: those of the next example are looked up before this one is learned
        if self.located != line and locate_numbers(self, a, here):
            return -1
        if self.expanded == line + 1:
            if locate_numbers(self, a, 1 - here):
                return -1
            self.located = line + 1
        e.slots = self.slots[here]
        if not self.learning:
            count_unknown(self, a, line, f.size, e.slots)
        return 0
    if self.expanded == line + 1 and self.table.capacity * self.table.stride > NEAR:
        prefetch(self.table, self.expander.buffers[1 - here].keys, self.expander.buffers[1 - here].size)
    if reserve(<void**>&self.slots[here], &self.slot_capacity[here], e.size, sizeof(char*)):
        return -1
    e.slots = slots = self.slots[here]
    if learns:
        if self.table.resolve(f.keys, e.size, slots):
            return -1
        if self.expander.derivation is not None:
            begin_units(self, f, slots)
        return 0
    self.table.lookup(f.keys, e.size, slots)
    if not self.learning:
        count_unknown(self, a, line, f.size, slots)
    return 0


cdef void begin_units(Learner self, const Features* f, char** slots) noexcept nogil:
    """Tell the rule which features have values from 0 to 1."""
    cdef size_t i
    for i in range(f.size):
        if self.expander.derivation.is_unit(f.keys[i]):
            self.rule.begin_unit(slots[i])


cdef inline int locate_numbers(Learner self, const Arrays* a, size_t which) noexcept nogil:
    """Copy the slots of an expanded example from those of the dictionary, and prefetch them; -1: no memory."""
    cdef Features* f = &self.expander.buffers[which]
    cdef char** slots
    cdef char** known = self.dictionary_slots
    cdef const uint16_t* hash_numbers = f.hash_numbers
    cdef size_t i, n = f.size - self.expander.constant
    cdef char* slot
    if reserve(<void**>&self.slots[which], &self.slot_capacity[which], f.size, sizeof(char*)):
        return -1
    slots = self.slots[which]
    for i in range(n):
        slot = known[hash_numbers[i]]
        slots[i] = slot
        prefetch_write(slot)
    if self.expander.constant:
        slots[n] = known[a.distinct]
    return 0


cdef int locate_chunks(Learner self, const Arrays* a, size_t line, Example* e, bint learns) noexcept nogil:
    """Deliver the features of an example in chunks; -1: no memory."""
    if self.maker.start_line(a, line):
        return -1
    self.oversized = e.size = self.maker.size
    e.slots, e.x, e.chunks = NULL, NULL, &self.maker.chunks
    return self.maker.make_slots() if learns else 0


cdef inline void count_unknown(Learner self, const Arrays* a, size_t line, size_t size, char** slots) noexcept nogil:
    """Count the features of the line that are not in the model; they precede the interactions. Of a number that is
    folded, no feature is in the model."""
    cdef size_t n = a.feature_begin[a.span_begin[line + 1]] - a.feature_begin[a.span_begin[line]]
    cdef size_t i, unknown = 0
    cdef const char* blank = self.table.blank
    n = min(n, size - self.expander.constant)
    for i in range(n):
        unknown += slots[i] == blank
    if self.folded is not None:
        n += self.folded.present[line & 1]
        unknown += self.folded.unknown[line & 1]
    self.looked_up += n
    self.unknown += unknown
    self.unknown_examples += 0 < unknown == n
