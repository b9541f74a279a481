"""The loop over examples: each is predicted, learned, counted and printed, in Vowpal Wabbit's order."""

from collections.abc import Callable, Iterator
from typing import Any

from vwlite.core.data.batch import Batch
from vwlite.vw.driver_output import Progress
from vwlite.vw.input import make_source
from vwlite.vw.layers.base import Current, Layer, counts_of, keep_lines
from vwlite.vw.messages import Critical, short
from vwlite.vw.outputs import Predictions
from vwlite.vw.setup import Setup
from vwlite.vw.squares import Squares
from vwlite.vw.text.examples import BLANK, REJECTED, Names
from vwlite.vw.text.labels import LABELS


class LearningLoop:
    """Passes over the examples. Layers of examples of several lines, and labels, know the run as this.

    batch: the bottom, if its weights change between passes only. table: rows are printed of it. lines: in this pass,
    blank ones too. earlier: lines of the passes before, and an end for each. feed: what a batch goes through.
    """

    def __init__(self, s: Setup, learner: Layer, progress: Progress) -> None:
        a = s.arguments
        self.setup, self.plan, self.arguments = s, s.plan, a
        self.streams, self.statistics, self.progress = s.streams, s.statistics, progress
        self.learner, self.kind, self.of_lines = learner, learner.kind, learner.of_lines
        self.batch: Any = learner.bottom if learner.bottom.in_batches else None
        self.table = self.batch is None and "audit_regressor" not in a
        self.testing, self.quiet, self.stopped = s.plan.testing, progress.quiet, False
        self.lines = self.earlier = 0
        self.feed: Callable[[Batch, Names | None], None] = self.one_by_one
        self.labels = LABELS["LINES" if self.of_lines and self.kind == "CS" else self.kind](self)
        self.source = make_source(s.plan, s.streams, s.header_lines, labels=self.kind, stop=lambda: self.stopped)
        self._prepare_bottom()
        self.predictions = Predictions(a["predictions"]) if "predictions" in a else None
        self.raw = s.raw = Predictions(a["raw_predictions"]) if "raw_predictions" in a else None
        self.hold_out(s.plan.holdout)

    def _prepare_bottom(self) -> None:
        """Give the linear model what Vowpal Wabbit's has, beyond the features of an example."""
        plan, bottom = self.plan, self.learner.bottom
        if plan.sums_squares and (plan.not_linear or plan.shape.limits or self.source.sort):
            bottom.more_squares = Squares(
                bottom.stepper.expander, plan.shape.dropped, plan.not_linear, self.arguments.flag("permutations")
            ).more
        if self.of_lines and not self.arguments.flag("noconstant"):
            bottom.constant_places = self._constant_places

    def hold_out(self, some: bool) -> None:
        """Whether examples are held out: all after line N, or every Nth."""
        a, self.holdout = self.arguments, some
        self.holdout_after: int = a.get("holdout_after", 0) if some else 0  # 0: none for that
        self.holdout_period: int = a.get("holdout_period", 10) if some and not self.holdout_after else 0

    @property
    def namer(self) -> Any:
        """The names of features, if they are needed."""
        return self.setup.namer

    def stop(self) -> None:
        """Stop after the current example. Called from the signal thread."""
        self.stopped = True
        self.learner.bottom.stepper.stop()

    def close(self) -> None:
        """Close the files of predictions."""
        for file in (self.predictions, self.raw):
            if file is not None:
                file.close()

    def one_pass(self) -> None:
        """Make one pass over the examples."""
        self.earlier += self.lines + 1 if self.lines else 0
        self.lines = 0
        if self.of_lines is not None:
            for group in self._groups():
                self.of_lines.group(self, group)
                if self.stopped:
                    break
            return
        for batch, names in self._batches():
            self.labels.begin_batch(batch)
            self.feed(batch, names)
            if self.stopped:
                break

    def _batches(self) -> Iterator[tuple[Batch, Names | None]]:
        """The batches of a pass. A read error has the number of the example."""
        try:
            yield from self.source.passes()
        except Critical as e:
            e.example = self._reader_number(self.lines)
            raise

    def _reader_number(self, number: int) -> int | None:
        """The number of an example, from 0, if Vowpal Wabbit reads lines in a separate thread."""
        return None if self.arguments.flag("onethread") else number

    def examples(self) -> Iterator[Current | None]:
        """The examples of a pass, one by one; None for a blank line. Each is valid until the next batch comes."""
        for batch, names in self._batches():
            yield from self._examples(batch, names)
            if self.stopped:
                return

    def _examples(
        self, batch: Batch, names: Names | None, begin: int = 0, end: int | None = None
    ) -> Iterator[Current | None]:
        kinds = batch.kind
        for line in range(begin, len(batch) if end is None else end):
            if self.stopped:
                return
            self.lines += 1
            if kinds[line] == BLANK:
                yield None
            elif kinds[line] != REJECTED:
                yield self.current(batch, line, names)

    def _constant_places(self, e: Current) -> tuple[int, int]:
        """Where the engine has the constant, and where Vowpal Wabbit: before the features of a shared line."""
        counts = counts_of(e, self.plan.shape.dropped)
        linear = [(letter, n) for letter, n in counts.items() if letter not in self.plan.not_linear]
        return sum(n for _, n in linear), sum(n for letter, n in linear if letter in (e.own or ()))

    def _groups(self) -> Iterator[list[Current]]:
        group: list[Current] = []
        for batch, names in self._batches():
            for e in self._examples(batch, names):
                if e is not None:
                    group.append(e)
                elif group:
                    yield group
                    group = []
            keep_lines(group, batch)
        if group and not self.stopped:  # else its end may be missing
            yield group

    def one_by_one(self, batch: Batch, names: Names | None, begin: int = 0, end: int | None = None) -> None:
        """Process the examples of a batch, or some of them."""
        for e in self._examples(batch, names, begin, end):
            if e is not None:
                self.one(e)

    def current(self, batch: Batch, line: int, names: Names | None) -> Current:
        """A line of a batch as an example."""
        e = Current(
            batch.label[line], batch.importance[line], batch.initial[line], batch.tag(line), batch=batch, line=line,
            names=names[line] if names else None, excess=self.source.excess.get(line, {}),
            counter=self.earlier + self.lines - 1,
        )
        if self.holdout_after:
            e.held = self.lines > self.holdout_after
        elif self.holdout_period:
            e.held = self.lines % self.holdout_period == 0
        # Examples of several lines are learned in any case, as Vowpal Wabbit does.
        e.test = self.testing or (e.held and self.of_lines is None)
        try:
            self.labels.read(e)
            self._check_weight(e)
        except Critical as error:
            error.example = self._reader_number(self.lines - 1)
            raise
        return e

    def _check_weight(self, e: Current) -> None:
        if e.weight < 0 or e.weight != e.weight:
            words = (
                f"Example has an invalid importance weight ({short(e.weight)}); importance weights must be "
                "non-negative. Use 0 to hold an example out of training."
            )
            if self.arguments.flag("strict_parse"):
                raise Critical(words, "parser.cc", 800)
            self.streams.warn(words)

    def one(self, e: Current) -> None:
        """Predict and learn an example, count it, and print the result."""
        self.learn(e)
        self.finish(e)

    def learn(self, e: Current) -> None:
        """Predict and learn an example."""
        learner, bottom = self.learner, self.learner.bottom
        bottom.take(e)
        if self.batch is not None and self.plan.interactions:
            e.features = self._uncrossed(e)
        bottom.example_number = self.statistics.example_number
        self.set_time()
        if e.test or not self.labels.known(e):
            learner.predict(e)
        elif learner.predicts_first:
            weight = e.weight
            learner.predict(e)
            shown, e.weight = e.prediction, weight
            learner.learn(e)
            e.prediction = shown
        else:
            learner.learn(e)
        learner.end_example()

    def set_time(self) -> None:
        """Set the clock of the rule."""
        rule, s = self.learner.bottom.stepper.rule, self.statistics
        if hasattr(rule, "elapsed"):
            rule.elapsed = s.t - s.holdout_weight - s.weighted_unlabeled_examples

    def _uncrossed(self, e: Current) -> int:
        """The number of features without those of interactions, which batch solvers do not count."""
        return sum(counts_of(e, self.plan.shape.dropped).values()) + (not self.arguments.flag("noconstant"))

    def finish(self, e: Current) -> None:
        """Count an example, write its predictions, and print a row if one is due."""
        self.labels.count(e)
        if self.raw is not None:
            self.raw.write(self.labels.raw_text(e))
        if self.predictions is not None:
            self.predictions.write(self.labels.text(e))
        if self.table and self.progress.due:
            labels = self.labels
            self.progress.tell(labels.shown_label(e), labels.shown(e), labels.size(e), self.holdout)
