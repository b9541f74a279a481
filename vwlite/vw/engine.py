"""The fast path: many examples at a time in the engine's loop, with the same results as one by one.

It is used for one linear model with simple labels, or one for each class (`--oaa`), without audit. The engine returns
when there is something to print: a row, a warning. Unusual examples (an invalid label, a prediction that is not finite)
are processed on the slow path of all other runs, one at a time.
"""

from typing import Any

from vwlite.algorithms.memory import table_needs
from vwlite.core.data.batch import Batch
from vwlite.core.data.class_names import ClassNames
from vwlite.core.learn.learner import Reason
from vwlite.core.rules.ftrl import Ftrl
from vwlite.core.vw.coin import Coin
from vwlite.core.vw.freegrad import FreeGrad
from vwlite.core.vw.gd_flags import GdWithFlags
from vwlite.core.vw.interleaved import Interleaved
from vwlite.core.vw.labels import ExpectedLabels
from vwlite.core.vw.learner import VwLearner
from vwlite.core.vw.pistol import Pistol
from vwlite.vw.layers.base import LinearLayer, NamedLayer
from vwlite.vw.layers.scorer import ScorerLayer
from vwlite.vw.plan import make_expander
from vwlite.vw.text.examples import Names

RULES = (GdWithFlags, Ftrl, Coin, Pistol, FreeGrad)


def is_plain(run: Any) -> bool:
    """Whether the engine's loop can do this run."""
    s, layer = run.setup.plan, run.learner
    classes = layer.option == "oaa"
    if classes:
        if run.arguments.get("link", "identity") != "identity":  # it is applied before scores are compared
            return False
        if layer.bottom.predicts_first and (layer.probabilities or layer.scores):  # the engine keeps scores of learning
            return False
        layer = layer.base
    while type(layer) is ScorerLayer or (isinstance(layer, NamedLayer) and layer.name == "count_label"):
        layer = layer.base
    if type(layer) is not LinearLayer or type(layer.stepper.rule) not in ((Interleaved,) if classes else RULES):
        return False
    if classes and s.names and len(set(s.names)) != len(s.names):
        return False
    return (classes or (run.learner.kind == "SIMPLE" and not layer.stepper.shift)) and not (
        run.namer or s.not_linear or layer.more_squares or any(b":" in pattern for pattern in s.interactions)
    )


class EngineLoop:
    """The engine's loop as a part of a `LearningLoop`."""

    def __init__(self, run: Any) -> None:
        self.run, self.statistics = run, run.statistics
        self.stepper = run.learner.bottom.stepper
        self.rule = self.stepper.rule
        self.classes = self.rule if isinstance(self.rule, Interleaved) else None
        self.probable = self.classes is not None and (run.learner.probabilities or run.learner.scores)
        self.timed = hasattr(self.rule, "elapsed")  # its clock continues that of the model
        if self.timed:
            self.rule.external_clock = False
        self._create_learner()

    def _create_learner(self) -> None:
        """Make the engine's learner."""
        run, names = self.run, None
        a, s = run.arguments, run.setup.plan
        if self.classes is not None:
            self.indexed = run.labels.indexing.first
            names = ClassNames(self.classes.classes, run.labels.class_names())
        # The probability of its class counts among those that were held out, if there are such.
        needed = self.probable and run.learner.probabilities and run.holdout
        self.labels = ExpectedLabels(*run.labels.expected, needed=needed, class_names=names)
        self.learner = VwLearner(
            self.rule, self.stepper.loss, make_expander(s, s.bits - self.stepper.shift), self.labels,
            self.statistics, reports=not run.quiet, learn=not run.testing, holdout_after=run.holdout_after,
            holdout_period=run.holdout_period, widens=self.stepper.widens,
            predict_first=run.learner.bottom.predicts_first, predictions=run.predictions is not None,
            raw_predictions=run.raw is not None, link=a.get("link", "identity"), class_names=names,
            probabilities=self.probable,
        )
        self.learner.clips = self.classes is None

    def feed(self, batch: Batch, names: Names | None) -> None:
        """Process the examples of a batch."""
        run = self.run
        at = end = 0  # the next line, and the next one for the slow path
        self.labels.take(batch)
        while at < len(batch) and not run.stopped:
            if self._count_classes_anew():
                self.labels.take(batch)
                end = at
            if end <= at:
                end = self.labels.next_unexpected(at)
            if at == end or self._goes_alone():
                run.one_by_one(batch, names, at, at + 1)
                at += 1
                continue
            self._enter()
            at = self.learner.run(batch, at, end)
            self._leave()
            reason = self.learner.reason
            if reason == Reason.NO_MEMORY:
                raise MemoryError(table_needs(self.learner.oversized))
            self._write(warns=reason == Reason.WARNING)
            if reason == Reason.DIVERGED:
                run.one(run.current(batch, at, None))  # its line is counted already
                at += 1
            elif reason != Reason.DONE:
                self._report()

    def stop(self) -> None:
        """Return after the current example. Called from another thread."""
        self.learner.stop()

    def _goes_alone(self) -> bool:
        """Whether the next example needs the slow path, whatever it is.

        Scores of classes are clipped to the range of labels so far, which may still be different ones in one example.
        Named labels that count from 0 are shown like numbers.
        """
        if self.classes is None:
            return False
        narrow = self.stepper.min_label > -1 or self.stepper.max_label < 1
        return (self.stepper.widens and narrow) or bool(self.run.labels.names and self.run.labels.indexing.first == 0)

    def _count_classes_anew(self) -> bool:
        """Create the engine's learner again when the number of the first class is known; whether it was created."""
        if self.classes is None or self.indexed == self.run.labels.indexing.first:
            return False
        self._create_learner()
        return True

    def _enter(self) -> None:
        """Copy the state of the run to the engine."""
        s, learner = self.statistics, self.learner
        learner.lines = self.run.lines
        learner.min_label, learner.max_label = self.stepper.min_label, self.stepper.max_label
        if self.classes is not None:
            self.classes.low, self.classes.high = self.stepper.min_label, self.stepper.max_label
        if self.timed:
            self.rule.elapsed = s.t - s.holdout_weight - s.weighted_unlabeled_examples

    def _leave(self) -> None:
        """Copy the state of the engine to the run."""
        self.run.lines = self.learner.lines
        if self.classes is None:  # labels of classes are not numbers
            self.stepper.min_label, self.stepper.max_label = self.learner.min_label, self.learner.max_label

    def _write(self, warns: bool = False) -> None:
        """Write the predictions so far; warns: with the warnings of the last example before its own ones."""
        pairs = [(self.run.raw, self.learner.raw_predictions), (self.run.predictions, self.learner.predictions)]
        found = [(file, text.take().decode("utf-8", "surrogateescape")) for file, text in pairs if file is not None]
        if not warns:
            for file, text in found:
                file.write(text)
            return
        starts = [text.rfind("\n", 0, -1) + 1 for _, text in found]
        for (file, text), start in zip(found, starts, strict=True):
            file.write(text[:start])
        for rule in self.classes.rules if self.classes is not None else [self.rule]:
            self.run.learner.bottom.warn_of_update(rule)
        for (file, text), start in zip(found, starts, strict=True):
            file.write(text[start:])

    def _report(self) -> None:
        """Print a row, if one is due."""
        learner, run = self.learner, self.run
        if not run.progress.due:
            return
        named = run.setup.plan.names
        unlabelled = "4294967295" if self.probable and not named else "unknown"
        label = self._words(learner.label) if learner.label == learner.label else unlabelled
        shown = self._words(learner.linked(learner.prediction)) if not (self.probable and named) else "unknown"
        if self.classes is not None and self.classes.probable and not named:
            shown += f"({learner.probabilities_of_classes()[int(learner.prediction) - 1] * 100:.0f}%)"
        run.progress.tell(label, shown, learner.size, run.holdout)

    def _words(self, label: float) -> str:
        """A label or a prediction as a row shows it."""
        return f"{label:.4f}" if self.classes is None else self.learner.class_names[int(label) - 1]
