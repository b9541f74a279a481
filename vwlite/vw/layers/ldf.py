"""Examples of several lines, a line for each class that may be chosen: csoaa_ldf and wap_ldf.

A line with the label `shared` comes first, and its features belong to all lines that follow.
"""

from dataclasses import dataclass, field
from math import exp, log
from typing import Any

from vwlite.core.data.batch import Batch
from vwlite.vw.arguments import OPTIONS
from vwlite.vw.layers.base import Current, Layer
from vwlite.vw.layers.classes import choose_link
from vwlite.vw.messages import Critical, prediction
from vwlite.vw.setup import Setup
from vwlite.vw.text.examples import spans_of
from vwlite.vw.text.labels import UNKNOWN_COST, tagged
from vwlite.vw.text.parser import to_float


@dataclass
class Group:
    """The lines of one example. chosen: the class that is predicted. ranked: the lines, the best one first."""

    lines: list[Current]
    shared: Current | None
    features: int = 0
    chosen: int | None = None
    scores: list[float] = field(default_factory=list)
    ranked: list[int] = field(default_factory=list)
    odds: list[float] = field(default_factory=list)


class Ldf(Layer):
    """A regression of the cost, or a classifier of pairs (wap), over the features of each class."""

    option = "csoaa_ldf"
    excludes = ("csv", "json", "named_labels")
    requires = "lines"
    compatible_with = ("lines",)
    kind = "CS"

    @classmethod
    def prepare(cls, s: Setup) -> None:
        choose_link(s)

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        a = s.arguments
        form = a.get("ldf_override") or a[self.option]
        if form not in OPTIONS["csoaa_ldf"].choices:
            raise Critical("ldf requires either m/multiline or mc/multiline-classifier", "csoaa.cc", 910)
        self.classifier = form in ("mc", "multiline-classifier")
        self.rank, self.probabilities = a.flag("csoaa_rank"), a.flag("probabilities")
        if self.probabilities and not self.classifier:
            s.streams.warn("--probabilities should be used with --csoaa_ldf=mc (or --oaa, --multilabel_oaa)")
        self.of_lines, self.wap = self, self.option == "wap_ldf"
        self.output = "ACTION_SCORES" if self.rank else "SCALARS" if self.probabilities else "MULTICLASS"
        self.name = "csoaa_ldf" + ("-rank" if self.rank else "-prob" if self.probabilities else "")

    def group(self, run: Any, lines: list[Current]) -> None:
        """Predict and learn one example, count it, and print the result."""
        statistics = run.statistics
        shared = lines[0] if lines[0].shared else None
        group = Group(lines[1:] if shared else lines, shared)
        if not all(e.target for e in group.lines):
            raise Critical("a line of a multiline example has no class", "csoaa.cc", 270)
        if shared is not None:
            _share(group.lines, shared)
        self.bottom.example_number = statistics.example_number
        if group.lines:
            self._predict(run, group)
            tests = self._tests(group)
            if not run.testing and not self._tests(group):
                self._learn(run, group)
        else:
            tests = False
        self._count(run, group, tests)
        self._tell(run, group)

    # --- predicting and learning -------------------------------------------------------------

    def _take(self, run: Any, e: Current) -> None:
        """Pass the features of a line to the stepper."""
        bottom = self.bottom
        bottom.take(e)
        rule = bottom.stepper.rule
        if hasattr(rule, "elapsed"):
            # The lines of such an example do not move Vowpal Wabbit's time.
            rule.elapsed = run.statistics.t - run.statistics.weighted_unlabeled_examples

    def _predict(self, run: Any, group: Group) -> None:
        for e in group.lines:
            self._take(run, e)
            e.label, weight, e.weight = float("nan"), e.weight, 1.0
            self.base.predict(e)
            e.weight = weight
            group.scores.append(e.partial)
            group.features += e.features
        order = range(len(group.lines))
        best = min(order, key=lambda i: group.scores[i])
        if self.probabilities and group.shared is not None:
            best -= 1  # as Vowpal Wabbit counts it: the shared line is the first one
        if best >= 0:
            group.chosen = group.lines[best].target[0][0]
        if self.rank:
            group.ranked = sorted(order, key=lambda i: (group.scores[i], group.lines[i].target[0][0]))
        if self.probabilities:
            odds = [1 / (1 + exp(min(score, 700.0))) for score in group.scores]
            group.odds = [x / sum(odds) for x in odds]

    def _tests(self, group: Group) -> bool:
        """Whether there is nothing to learn from the example; warns if it is not clear."""
        tests = _cost(group.lines[0]) == UNKNOWN_COST
        for e in group.lines:
            if len(e.target) != 1:
                self.streams.warn(
                    f"ldf example has {len(e.target)} costs, expected exactly 1. Treating as test. "
                    "This may indicate a data format issue."
                )
                return True
            if (_cost(e) == UNKNOWN_COST) != tests:
                self.streams.warn("ldf example has mix of train/test data; assuming test")
                return True
        return tests

    def _learn(self, run: Any, group: Group) -> None:
        if self.wap:
            self._learn_pairs(run, group.lines)
            return
        costs = [_cost(e) for e in group.lines]
        low, high = min(costs), max(costs)
        for e, cost in zip(group.lines, costs, strict=True):
            weight = e.weight
            e.label = cost
            if self.classifier:
                e.label = -1.0 if cost <= low else 1.0
                e.weight = weight * (high - low if cost <= low else cost - low)
            self._take(run, e)
            self._learn_one(e)
            e.weight = weight

    def _learn_pairs(self, run: Any, lines: list[Current]) -> None:
        """Learn the differences of any two lines, weighted by how much the choice between them matters."""
        stepper = self.bottom.stepper
        values = _wap_values([_cost(e) for e in lines])
        for i, one in enumerate(lines):
            weight = one.weight
            for j in range(i + 1, len(lines)):
                gap = abs(values[j] - values[i])
                if gap < 1e-6:
                    continue
                other = lines[j]
                self._take(run, other)
                other_keys, other_values = self._features(run, other)
                one.weight = gap
                self._take(run, one)
                keys, found = self._features(run, one)
                if self.bottom.audit is not None:
                    one.made_names = (one.made_names or []) + [b""] * len(other_keys)
                stepper.set(keys + other_keys, found + [-x for x in other_values])
                one.label = -1.0 if _cost(one) < _cost(other) else 1.0
                self._learn_one(one)
                one.weight = weight
                one.made_names = None

    def _learn_one(self, e: Current) -> None:
        self.base.learn(e)
        self.end_example()

    def _features(self, run: Any, e: Current) -> tuple[list[int], list[float]]:
        """Keys and values of the features of a line that was taken; for an audit as Vowpal Wabbit orders them."""
        if self.bottom.audit is not None:
            keys, values, e.made_names = run.namer.ordered(e)
        else:
            keys, values = self.bottom.stepper.features()
        return keys, values

    # --- counting and printing ---------------------------------------------------------------

    def _count(self, run: Any, group: Group, tests: bool) -> None:
        s = run.statistics
        first = group.shared or group.lines[0]
        if tests:
            s.weighted_unlabeled_examples += first.weight
        else:
            s.weighted_labeled_examples += first.weight
        s.example_number += 1
        s.total_features += group.features
        loss = next((cost for e in group.lines for label, cost in e.target if label == group.chosen), 0.0)
        if self.rank and group.ranked:
            loss = _cost(group.lines[group.ranked[0]])
        s.sum_loss += loss
        s.sum_loss_since_last_dump += loss
        if self.probabilities and group.lines:
            costs = [_cost(e) for e in group.lines]
            # The first line counts for a shared one, whose cost Vowpal Wabbit takes for the least.
            odds = group.odds[0 if group.shared is not None else costs.index(min(costs))]
            if min(costs) < UNKNOWN_COST:
                s.log_loss += -log(odds) if odds > 0 else 999.0

    def _tell(self, run: Any, group: Group) -> None:
        if run.raw is not None:
            if group.shared is not None:
                run.raw.write(_raw_text(group.shared, 0.0))
            for e, score in zip(group.lines, group.scores, strict=True):
                run.raw.write(_raw_text(e, score))
        if run.predictions is not None:
            head = group.shared or group.lines[0]
            if self.rank:
                pairs = [f"{group.lines[i].target[0][0]}:{_decimals(group.scores[i])}" for i in group.ranked]
                run.predictions.write(tagged(",".join(pairs), head))
            else:
                for i, e in enumerate(group.lines):
                    label = e.target[0][0]
                    shown = group.odds[i] if self.probabilities else label if label == group.chosen else 0
                    run.predictions.write(tagged(prediction(to_float(shown)), head if self.probabilities else e))
            run.predictions.write("\n")
        if run.progress.due:
            known, shown = ("unknown", "0") if group.chosen is None else ("known", str(group.chosen))
            if self.rank:
                shown = f"{group.lines[group.ranked[0]].target[0][0]}....." if group.ranked else "....."
            run.progress.tell(known, shown, group.features, run.holdout)


class WapLdf(Ldf):
    """The classifier of pairs of classes."""

    option = "wap_ldf"


def _cost(e: Current) -> float:
    return float(e.target[0][1])


def _share(lines: list[Current], shared: Current) -> None:
    """Append the features of the shared line to those of each other line."""
    more = _spans(shared)
    batch = Batch()
    for i, e in enumerate(lines):
        own = _spans(e)
        e.own = {letter for letter, _, _ in own}
        batch.append(0, float("nan"), 1.0, 0.0, b"", own + more)
        if e.names is not None:
            names = dict(e.names)
            for letter, called in (shared.names or {}).items():
                names[letter] = names.get(letter, []) + called
            e.names = names
        for letter, excess in shared.excess.items():
            e.excess[letter] = e.excess.get(letter, 0.0) + excess
        e.batch, e.line = batch, i
    batch.gather()


def _spans(e: Current) -> list[tuple[int, Any, Any]]:
    return [
        (letter, e.batch.hash[begin:end].tolist(), e.batch.value[begin:end].tolist())
        for letter, begin, end in spans_of(e.batch, e.line)
    ]


def _wap_values(costs: list[float]) -> list[float]:
    """The weights of the costs in all pairs: the sum over steps between neighbours, each divided by the number of
    classes below it.

    Beygelzimer, Langford, Ravikumar. Error-Correcting Tournaments. ALT 2009 (weighted all pairs).
    """
    order = sorted(range(len(costs)), key=costs.__getitem__)
    values = [0.0] * len(costs)
    for n in range(1, len(order)):
        values[order[n]] = values[order[n - 1]] + (costs[order[n]] - costs[order[n - 1]]) / n
    return values


def _decimals(x: float) -> str:
    return f"{x:.6f}".rstrip("0").rstrip(".")


def _raw_text(e: Current, partial: float) -> str:
    costs = e.target if e.target else [(0, 0.0)]
    return tagged(" ".join(f"{c}:{partial if i == 0 else 0:g}" for i, (c, _) in enumerate(costs)), e)
