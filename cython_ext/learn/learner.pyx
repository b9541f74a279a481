"""The order of events: an example is expanded, predicted, scored, learned; one after the other.

The learner runs over a batch without the GIL and comes back early when Python has something to do:
a row of progress to print, a checkpoint to write, a number that is not finite, a signal. It is told
nothing about text, files or options, and it tells no rule anything but features and outcomes.

With classes (classifier.pyx), labels and predictions are their numbers, and the loss is 0 or 1. Labels may be words
still, the names of classes: then they and importances stand before a NUL in the tags of a batch.
"""

from libc.math cimport INFINITY, NAN, isnan
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memchr

from vwlite.core.data.batch cimport BLANK, EXAMPLE, MOST_DISTINCT, REJECTED, Arrays, Batch
from vwlite.core.learn.multiclass cimport Classifier
from vwlite.core.data.expand cimport CONSTANT, ENORMOUS, NO_ROOM, WHOLE, Expander, Expansion, Features
from vwlite.core.learn.losses cimport Loss
from vwlite.core.data.class_names cimport Names
from vwlite.core.data.pieces cimport PieceMaker, vwlite_load, vwlite_store
from vwlite.core.learn.rule cimport Example, Outcome, Rule
from vwlite.core.learn.table cimport Table, prefetch, prefetch_line
from vwlite.core.learn.tally cimport Tally
from vwlite.core.text.output cimport PredictionWriter

# Why `run` came back.
cpdef enum Reason:
    DONE = 0         # the batch is learned
    REPORT = 1       # the weight of examples has reached `report_at`
    CHECKPOINT = 2   # the number of examples has reached `checkpoint_at`
    DIVERGED = 3     # the prediction or the loss of the line is not finite
    STOPPED = 4      # `stop` was called
    NO_MEMORY = 5
    TOO_MANY = 6     # the rule was made for fewer features
    NOTED = 7        # the rule has something to tell of the last example
    UNUSUAL = 8      # the label or the importance of the line is none of `usual`

cdef enum:
    NEAR = 1 << 21      # bytes of a table that is in the cache anyway: nothing to prefetch


cdef double plain_number(const char* p, const char* end) noexcept nogil:
    """A number in at most 15 bytes, digits and perhaps a point between them, in single precision; else NaN."""
    cdef double whole = 0, unit = 1
    cdef bint point = False
    cdef const char* at = p
    if p == end or end - p > 15 or end[-1] == c'.' or p[0] == c'.':
        return NAN
    while at < end:
        if at[0] == c'.' and not point:
            point = True
        elif c'0' <= at[0] <= c'9':
            whole = 10 * whole + (at[0] - c'0')
            unit = 10 * unit if point else unit
        else:
            return NAN
        at += 1
    return <float>(whole / unit)


cdef class Learner:
    """Learns or predicts the examples of batches.

    learn: whether to learn at all. holdout_period: every so many lines one is only predicted; 0: none.
    predictions, raw_predictions: whether to write lines into `predictions` and `raw_predictions`.
    link: what the written predictions go through.
    holdout_after: all lines of a pass after so many are held out. holdout_labelled: examples without a label are not.
    widens: labels that are learned widen the range to which predictions are clipped.
    apart: what is written and shown of an example that is learned is predicted on its own before, as if it were not.
    usual: the least and the largest label, and whether only these two are usual. With it the learner comes back before
    a line with another label or an importance that is not positive. None: everything is usual.
    packed: labels are words in the tags; what is not the name of a class, and perhaps a plain number, is not usual.
    names: of the classes, if the rule is a Classifier. probabilities: whether to write those of all classes, instead of
    the class that is predicted. short: these numbers have at most six digits.
    """

    cdef readonly Rule rule
    cdef readonly Expander expander
    cdef Loss loss
    cdef Table table
    cdef readonly Classifier classifier    # the rule, or None
    cdef readonly Names names
    cdef public size_t named     # classes that have a name so far, as this stream and the model say
    cdef double* shares          # owned; [classes]
    cdef bint several            # there are classes
    cdef bint learning
    cdef readonly PredictionWriter writer
    cdef public bint answers_blank_lines   # with an empty line, as it does bad ones
    cdef public bint clips       # whether predictions are clipped
    cdef size_t holdout_period, holdout_after
    cdef bint holdout_labelled, widens, apart
    cdef bint careful, only_ends, packed
    cdef double usual_low, usual_high
    cdef public bint needs_label            # a line without a label is not usual
    cdef char** slots            # owned; of an example
    cdef size_t slot_capacity
    cdef bint numbered           # the features of the batch are numbered, and this is where they are:
    cdef char** known            # owned; [distinct, and one more for the constant]
    cdef uint32_t* known_keys    # owned
    cdef size_t expanded         # the line of the batch that was expanded ahead
    cdef PieceMaker maker        # of the features of an enormous line
    cdef int stopping
    cdef readonly Tally progressive    # what is learned, predicted before
    cdef readonly Tally holdout        # what is held out, in this pass
    cdef public double min_label, max_label    # the range to which predictions are clipped
    cdef public double report_at       # weight of examples (held out ones left out) at which to come back
    cdef public uint64_t checkpoint_at  # number of examples at which to come back
    cdef readonly Reason reason
    cdef public uint64_t examples      # not held out, over all passes
    cdef readonly uint64_t unlabelled
    cdef public double unlabelled_weight
    cdef public double time            # weight of all examples, held out ones too
    cdef readonly uint64_t features    # of all examples, held out ones too
    cdef public uint64_t held_features
    # of those that are only predicted, interactions left out:
    cdef readonly uint64_t looked_up         # features
    cdef readonly uint64_t unknown           # ... that the model does not know
    cdef readonly uint64_t unknown_examples  # examples of which it knows no feature
    cdef public uint64_t lines         # in this pass, blank ones too
    cdef readonly int distinct_labels  # how many different labels there were; 3: or more
    cdef readonly double first_label, second_label
    cdef readonly uint64_t cut         # features of the example that was cut short in learning, by `stop`; 0: none
    # of the last example
    cdef readonly double label, prediction
    cdef readonly size_t size
    cdef readonly uint64_t enormous    # features of the line where `run` came back, if they come in pieces; else 0

    def __init__(self, Rule rule not None, Loss loss not None, Expander expander not None, *, bint learn=True,
                 size_t holdout_period=0, size_t holdout_after=0, bint holdout_labelled=False, bint widens=True,
                 bint apart=False, usual=None, bint packed=False, bint predictions=False, bint raw_predictions=False,
                 link="identity", Names names=None, bint probabilities=False, bint short=False):
        self.rule, self.loss, self.expander = rule, loss, expander
        self.table = rule.table
        self.maker = PieceMaker(expander, self.table)
        self.maker.stopping = &self.stopping
        self.learning, self.clips, self.holdout_period = learn, rule.CLIPS, holdout_period
        self.holdout_after, self.holdout_labelled, self.widens = holdout_after, holdout_labelled, widens
        self.apart, self.packed = apart, packed
        self.careful = usual is not None
        if usual is not None:
            self.usual_low, self.usual_high, self.only_ends = usual
        self.writer = PredictionWriter(
            predictions=predictions, raw_predictions=raw_predictions, link=link, names=names,
            probabilities=probabilities)
        self.writer.short_numbers = short
        self.several = isinstance(rule, Classifier)
        if self.several:
            if names is None or names.room != rule.classes:
                raise ValueError("there are not as many names as classes")
            if packed and usual is None:
                raise ValueError("labels that are words need to know which are usual")
            self.classifier, self.names, self.named = rule, names, names.count
            free(self.shares)
            self.shares = <double*>calloc(self.classifier.classes, sizeof(double))
            if self.shares == NULL:
                raise MemoryError("no memory for the probabilities")
        self.progressive, self.holdout = self.new_tally(), self.new_tally()
        self.report_at = INFINITY
        self.checkpoint_at = <uint64_t>-1

    def __dealloc__(self):
        free(self.slots)
        free(self.known)
        free(self.known_keys)
        free(self.shares)

    cdef new_tally(self):
        if not self.several:
            return Tally()
        return Tally(self.classifier.classes, probable=self.classifier.probable)

    def stop(self):
        """Have `run` come back after the example that it is at; before it, or with it learned in part, if it is an
        enormous one. May be called from any thread."""
        vwlite_store(self.stopping, 1)

    def begin_pass(self):
        """Count lines anew, and what is held out."""
        self.lines = 0
        self.holdout = self.new_tally()

    @property
    def predictions(self):
        """Lines that wait to be taken."""
        return self.writer.predictions

    @property
    def raw_predictions(self):
        """Lines that wait to be taken."""
        return self.writer.raw_predictions

    def linked(self, double p):
        """A prediction as it is written."""
        return self.writer.linked(p)

    def shares_of_classes(self):
        """What `probabilities` are after the last example: a list."""
        self.classifier.probabilities(self.named, self.shares)
        return [self.shares[k] for k in range(self.named)]

    def see_label(self, double label):
        """Count a label among the different ones."""
        self.note_label(label)

    cdef inline void note_label(self, double label) noexcept nogil:
        if self.distinct_labels == 0:
            self.first_label = label
        elif label == self.first_label:
            return
        elif self.distinct_labels == 1:
            self.second_label = label
        elif label == self.second_label:
            return
        self.distinct_labels += 1

    def run(self, Batch batch not None, size_t begin=0, end=None):
        """Go through the lines of a batch from `begin` to `end`; the line after the last one done.

        `reason` says why it came back. After DIVERGED and UNUSUAL the line returned is the culprit, not learned.
        """
        cdef size_t line, last = batch.a.lines if end is None else end
        if not begin <= last <= batch.a.lines:
            raise IndexError(begin)
        self.numbered = self.expander.takes_numbers(&batch.a) and not self.rule.counts_slots
        if not self.numbered and batch.spell_out():
            raise MemoryError("no memory for the hashes of a batch")
        with nogil:
            line = self.loop(&batch.a, begin, last)
        self.maker.raise_error()
        return line

    cdef size_t loop(self, const Arrays* a, size_t begin, size_t end) noexcept nogil:
        cdef size_t line
        cdef double weight, label, importance
        self.reason = Reason.DONE
        self.expanded = <size_t>-1
        self.enormous = 0
        if self.numbered and self.know(a):
            self.reason = Reason.NO_MEMORY
            return begin
        for line in range(begin, end):
            if vwlite_load(self.stopping):
                self.reason = Reason.STOPPED
                return line
            if a.kind[line] != EXAMPLE:
                self.lines += a.kind[line] == BLANK
                if a.kind[line] == REJECTED or self.answers_blank_lines:
                    if self.writer.blank_line():
                        self.reason = Reason.NO_MEMORY
                        return line
                continue
            label, importance = a.label[line], a.importance[line]
            if self.packed:
                self.unpack(a, line, &label, &importance)
            if self.careful and self.unusual(label, importance):
                self.reason = Reason.UNUSUAL
                return line
            self.reason = self.one(a, line, label, importance)
            if self.enormous:
                self.maker.end()
            if self.reason != Reason.DONE:
                return line
            if self.enormous:
                self.enormous = 0
                if self.maker.stopped:
                    self.reason = Reason.STOPPED
                    return line + 1
            if self.examples >= self.checkpoint_at:
                self.reason = Reason.CHECKPOINT
            weight = self.progressive.weight + self.unlabelled_weight
            if weight >= self.report_at:
                self.reason = Reason.REPORT
            if self.rule.noted:
                self.rule.noted = False
                self.reason = Reason.NOTED
            if self.reason != Reason.DONE:
                return line + 1
        return end

    cdef inline bint unusual(self, double label, double importance) noexcept nogil:
        if not importance > 0:
            return True
        if isnan(label):
            return self.needs_label
        if self.only_ends:
            return label != self.usual_low and label != self.usual_high
        return not self.usual_low <= label <= self.usual_high

    cdef void unpack(self, const Arrays* a, size_t line, double* label, double* importance) noexcept nogil:
        """The label and the importance of a line whose tag begins with them. An importance of NaN: they are not usual."""
        cdef const char* p = a.tags + a.tag_begin[line]
        cdef const char* end = <const char*>memchr(p, 0, a.tag_begin[line + 1] - a.tag_begin[line])
        cdef const char* word = p
        cdef uint32_t number
        label[0], importance[0] = NAN, NAN
        if end == NULL:
            return
        if p == end:
            importance[0] = 1
            return
        while p < end and p[0] != 32:
            p += 1
        number = self.names.find(word, p - word)
        if number == 0:
            return
        label[0] = number
        if p == end:
            importance[0] = 1
        else:
            importance[0] = plain_number(p + 1, end)

    cdef int know(self, const Arrays* a) noexcept nogil:
        """Find the slots of all features of a batch. They stay where they are until the next one; -1: no memory.

        A feature that is only in examples that are not learned gets a slot too, which is idle.
        """
        cdef size_t i, n = a.distinct
        if self.known == NULL:
            self.known = <char**>malloc((MOST_DISTINCT + 1) * sizeof(char*))
            self.known_keys = <uint32_t*>malloc((MOST_DISTINCT + 1) * sizeof(uint32_t))
        if self.known == NULL or self.known_keys == NULL:
            return -1
        for i in range(n):
            self.known_keys[i] = a.distinct_hash[i] & self.expander.mask
        self.known_keys[n] = CONSTANT & self.expander.mask
        n += self.expander.constant
        if self.learning:
            return self.table.resolve_all(self.known_keys, n, self.known)
        self.table.lookup(self.known_keys, n, self.known)
        return 0

    cdef inline Reason one(self, const Arrays* a, size_t line, double label, double importance) noexcept nogil:
        """One example: expand, predict, score, learn."""
        cdef Example e
        cdef Outcome o
        cdef double raw, shown = 0, low = self.min_label, high = self.max_label, surprise = 0
        cdef bint labelled, held, learns
        cdef const char* tag = a.tags + a.tag_begin[line]
        cdef size_t tag_size = a.tag_begin[line + 1] - a.tag_begin[line]
        cdef size_t i
        cdef Expansion expansion = WHOLE
        self.lines += 1
        o.label, o.importance = label, importance
        labelled = not isnan(o.label)
        if self.several:
            labelled = 1 <= o.label <= self.classifier.classes
        held = self.lines > self.holdout_after if self.holdout_after else (
            self.holdout_period and self.lines % self.holdout_period == 0)
        if not labelled and self.holdout_labelled:
            held = False
        learns = self.learning and labelled and not held and o.importance > 0

        # The next example is expanded before this one is learned, so that its slots are on their way meanwhile.
        if self.expanded != line:
            expansion = self.expander.expand(a, line, line & 1, self.numbered)
        e.initial, e.importance, e.pieces = a.initial[line], o.importance, NULL
        if expansion != WHOLE:
            if expansion == NO_ROOM or self.take_pieces(a, line, &e, learns):
                return Reason.NO_MEMORY
        elif self.take_whole(a, line, &e, learns):
            return Reason.NO_MEMORY

        if self.apart and learns:
            shown = self.rule.predict(&e)
            if shown - shown != 0:
                return Reason.DIVERGED
            shown = self.clipped(shown) if not self.several else self.classifier.best(self.named)
        raw = self.rule.predict_to_learn(&e) if learns else self.rule.predict(&e)
        if e.pieces != NULL and self.maker.stopped:     # all is as before this example
            self.lines -= 1
            return Reason.STOPPED
        if raw - raw != 0:
            return Reason.DIVERGED
        if learns and self.clips and self.widens:
            self.min_label, self.max_label = min(self.min_label, o.label), max(self.max_label, o.label)
        o.p = self.clipped(raw)
        if self.several:
            if self.classifier.out_of_memory:
                return Reason.NO_MEMORY
            if labelled and o.label > self.named:
                self.named = <size_t>o.label
            o.p = shown if self.apart and learns else self.classifier.best(self.named)
            o.loss = o.p != o.label
            if labelled and self.classifier.probable:
                surprise = self.classifier.surprise(<size_t>o.label, self.named)
            if learns and not self.classifier.judge(<size_t>o.label, o.importance, self.named):
                return Reason.DIVERGED
        elif labelled:
            o.loss = self.loss.judge(o.p, o.label, &o.slope)
            if o.loss - o.loss != 0:
                self.min_label, self.max_label = low, high
                return Reason.DIVERGED
        if not (self.apart and learns):
            shown = o.p

        # From here on the example counts.
        self.features += e.size
        self.size, self.label, self.prediction = e.size, o.label, shown
        self.time += o.importance
        if held:
            self.held_features += e.size
        if labelled and self.distinct_labels < 3 and not self.several:
            self.note_label(o.label)
        if labelled and held and self.holdout.add(o.p, o.label, o.importance, o.loss, surprise):
            return Reason.NO_MEMORY
        if labelled and not held and self.progressive.add(o.p, o.label, o.importance, o.loss, surprise):
            return Reason.NO_MEMORY
        if not held:
            self.examples += 1
            if not labelled:
                self.unlabelled += 1
                self.unlabelled_weight += o.importance
        if self.writer.writes or self.writer.writes_raw:
            if self.packed:
                i = <const char*>memchr(tag, 0, tag_size) + 1 - tag
                tag, tag_size = tag + i, tag_size - i
            if self.several:
                if self.writer.probabilities and self.named > 0:
                    self.classifier.probabilities(self.named, self.shares)
                i = self.writer.class_line(
                    <size_t>o.p, self.named, self.shares, self.classifier.scores, tag, tag_size)
            else:
                i = self.writer.score_line(shown, raw, tag, tag_size)
            if i:
                return Reason.NO_MEMORY
        if learns:
            self.rule.update(&e, &o)
            if e.pieces != NULL and self.maker.stopped:
                self.cut = self.maker.size
            if self.rule.out_of_memory:
                return Reason.NO_MEMORY
            if self.rule.too_many:
                return Reason.TOO_MANY
        return Reason.DONE

    cdef inline int take_whole(self, const Arrays* a, size_t line, Example* e, bint learns) noexcept nogil:
        """Find the slots of an example that is expanded; -1: no memory."""
        cdef Features* f
        cdef void* grown
        cdef size_t i
        if (line + 1 < a.lines and a.kind[line + 1] == EXAMPLE
                and self.expander.expand(a, line + 1, (line + 1) & 1, self.numbered) == WHOLE):
            self.expanded = line + 1
            if self.table.capacity * self.table.stride > NEAR:
                f = &self.expander.buffers[(line + 1) & 1]
                if self.numbered:
                    for i in range(f.size - self.expander.constant):
                        prefetch_line(self.known[f.numbers[i]])
                else:
                    prefetch(self.table, f.keys, f.size)
        f = &self.expander.buffers[line & 1]
        e.size, e.x = f.size, f.values
        if e.size > self.slot_capacity:
            grown = realloc(self.slots, 2 * e.size * sizeof(char*))
            if grown == NULL:
                return -1
            self.slots = <char**>grown
            self.slot_capacity = 2 * e.size
        e.slots = self.slots
        if self.numbered:
            for i in range(f.size - self.expander.constant):
                self.slots[i] = self.known[f.numbers[i]]
            if self.expander.constant:
                self.slots[f.size - 1] = self.known[a.distinct]
        elif learns:
            return self.table.resolve(f.keys, e.size, self.slots)
        else:
            self.table.lookup(f.keys, e.size, self.slots)
        if not self.learning:
            self.count_unknown(a, line, f.size)
        return 0

    cdef int take_pieces(self, const Arrays* a, size_t line, Example* e, bint learns) noexcept nogil:
        """Have an example's features come in pieces; -1: no memory."""
        if self.maker.begin(a, line):
            return -1
        self.enormous = e.size = self.maker.size
        e.slots, e.x, e.pieces = NULL, NULL, &self.maker.pieces
        return self.maker.make_slots() if learns else 0

    cdef inline void count_unknown(self, const Arrays* a, size_t line, size_t size) noexcept nogil:
        """Count the features of the line that the model does not know; they come before the interactions."""
        cdef size_t n = a.feature_begin[a.span_begin[line + 1]] - a.feature_begin[a.span_begin[line]]
        cdef size_t i, unknown = 0
        cdef const char* blank = self.table.blank
        n = min(n, size - self.expander.constant)
        for i in range(n):
            unknown += self.slots[i] == blank
        self.looked_up += n
        self.unknown += unknown
        self.unknown_examples += 0 < unknown == n

    cdef inline double clipped(self, double p) noexcept nogil:
        if not self.clips:
            return p
        return min(max(p, max(self.min_label, -self.loss.largest_p)), min(self.max_label, self.loss.largest_p))
