"""The output of Vowpal Wabbit's driver: settings, progress table, summary."""

from vwlite.vw.arguments import Arguments
from vwlite.vw.layers.base import Layer
from vwlite.vw.messages import Critical, Streams, short
from vwlite.vw.setup import Setup
from vwlite.vw.statistics import UNKNOWN, ConstantLoss, Statistics

HEADER = """\
average  since         example        example        current        current  current
loss     last          counter         weight          label        predict features"""

OF_DICTIONARIES = ("scanned dictionary", "dictionary ")  # their lines are printed later than others


class Progress:
    """The table, and when its next row is due: `--progress`."""

    def __init__(self, a: Arguments, streams: Streams, statistics: Statistics) -> None:
        self.streams, self.statistics, self.quiet = streams, statistics, a.flag("quiet")
        self.factor = 2.0
        self.step: float | None = None  # None: rows come by the factor
        value = a.get("progress")
        if value is None:
            return
        if "." in value or not value.lstrip("-").isdigit():
            try:
                self.factor = float(value)
            except ValueError:
                raise Critical(f"Failed to convert {value} to f") from None
            if self.factor <= 1:
                streams.warn(f"Multiplicative --progress <float> '{value}' is <= 1.0: adding 1.0")
                self.factor += 1
        else:
            self.step = float(value)
            if self.step < 1:
                streams.warn(f"Additive --progress <int> '{value}' is < 1: forcing to 1")
                self.step = 1.0
            statistics.dump_interval = self.step

    @property
    def due(self) -> bool:
        """Whether a row is due."""
        return self.statistics.weight >= self.statistics.dump_interval and not self.quiet

    def tell(self, label: str, prediction: str, features: int, holdout: bool) -> None:
        """Print the current row. holdout: examples are held out in this run."""
        s = self.statistics
        if holdout and s.current_pass >= 1:
            average = _ratio(s.holdout_loss, s.holdout_weight, "unknown")
            recent = _ratio(s.holdout_loss_since_dump, s.holdout_weight_since_dump, "unknown")
            s.holdout_loss_since_dump = s.holdout_weight_since_dump = 0.0
            mark = " h"
        else:
            average = _ratio(s.sum_loss, s.weighted_labeled_examples, "n.a.")
            weight = s.weighted_labeled_examples - s.old_weighted_labeled_examples
            recent = _ratio(s.sum_loss_since_last_dump, weight, "n.a.")
            mark = ""
        self.streams.say(
            f"{average[:8]:<8} {recent[:8]:<8} {s.example_number:>12} {f'{s.weight:.1f}'[:14]:>14} "
            f"{_fitted(label):>14} {_fitted(prediction):>14} {features:>8}{mark}"
        )
        self.advance()

    def advance(self) -> None:
        """Compute when the next row is due."""
        s = self.statistics
        s.sum_loss_since_last_dump = 0.0
        s.old_weighted_labeled_examples = s.weighted_labeled_examples
        s.dump_interval = s.weight * self.factor if self.step is None else s.weight + self.step


def _fitted(text: str) -> str:
    """A label or prediction as its column of the table holds it."""
    return text if len(text) <= 14 else text[:11] + "..."


def say_lines(s: Setup, of_dictionaries: bool) -> None:
    """Print the messages collected while the learner was built: those about dictionaries, or all others."""
    for line in s.header_lines:
        if line.startswith(OF_DICTIONARIES) == of_dictionaries:
            s.streams.say(line)


def say_settings(s: Setup, learner: Layer, sources: int, names: bool, table: bool) -> None:
    """Print the settings, just before the examples.

    sources: how many there are. names: with those of the layers. table: with the head of the table.
    """
    say, plan, a = s.streams.say, s.plan, s.arguments
    say(f"num sources = {sources}")
    say(f"Num weight bits = {plan.bits}")
    say(f"learning rate = {short(plan.learning_rate)}")
    say(f"initial_t = {short(s.initial_t)}")
    say(f"power_t = {short(plan.power_t)}")
    if plan.passes > 1:
        say(f"decay_learning_rate = {short(a.get('decay_learning_rate', 1.0))}")
    say_lines(s, of_dictionaries=True)
    if names:
        say(f"Enabled learners: {', '.join(learner.names)}")
    say(f"Input label = {learner.kind}")
    say(f"Output pred = {learner.output}")
    if table:
        say(HEADER)


def say_summary(s: Statistics, streams: Streams, holdout: bool, loss: ConstantLoss | None, more: list[str]) -> None:
    """Print the lines at the end. loss: for the best constant; None if it is not requested. more: other lines."""
    say = streams.say
    say("\nfinished run")
    if s.current_pass <= 1:
        say(f"number of examples = {s.example_number}")
    else:
        say(f"number of examples per pass = {s.example_number // s.current_pass}")
        say(f"passes used = {s.current_pass}")
    say(f"weighted example sum = {s.weight:.6f}")
    say(f"weighted label sum = {s.weighted_labels:.6f}")
    if holdout:
        found = f"{s.best_holdout:.6f} h" if s.best_holdout < UNKNOWN else "undefined (no holdout)"
    else:
        found = _ratio(s.sum_loss, s.weighted_labeled_examples, "n.a.")
    say(f"average loss = {found}")
    for line in more:
        say(line)
    best = loss and loss.best(s)
    if best:
        constant, value = best
        say(f"best constant = {constant:.6f}")
        if value is not None:
            say(f"best constant's loss = {value:.6f}")
    say(f"total feature number = {s.total_features}")


def _ratio(loss: float, weight: float, missing: str) -> str:
    return f"{loss / weight:.6f}" if weight > 0 else missing
