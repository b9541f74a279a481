"""One model per class: oaa."""

from math import exp

from vwlite.vw.arguments import Arguments
from vwlite.vw.layers.base import Current, Layer
from vwlite.vw.layers.classes import Indexing, choose_link
from vwlite.vw.messages import Critical
from vwlite.vw.setup import Setup


class Oaa(Layer):
    """One against all."""

    option = "oaa"
    kind = output = "MULTICLASS"
    compatible_with = ("batches", "classes")
    predicts_first = False
    ensemble = True

    @classmethod
    def models(cls, a: Arguments) -> int:
        return int(a["oaa"])

    @classmethod
    def prepare(cls, s: Setup) -> None:
        choose_link(s)

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        a, k, names = s.arguments, self.width, s.plan.names
        if names and len(names) != k:
            raise Critical(f"There are {len(names)} named labels. Use that as the argument to oaa.", "oaa.cc", 260)
        self.k, self.indexing = k, Indexing(k, s)
        self.probabilities, self.scores = a.flag("probabilities"), a.flag("scores")
        self.subsample = a.get("oaa_subsample", 0) if a.get("oaa_subsample", 0) < k else 0
        self.name = "oaa-prob" if self.probabilities else "oaa-scores" if self.scores else "oaa"
        if self.probabilities or self.scores:
            self.output = "SCALARS"
        if "raw_predictions" in a:
            self.name += "-raw"
        self.random = s.random
        self.order: list[int] = []
        self.next = 0
        self.best = 0  # the place of the class that was predicted last

    def predict(self, e: Current) -> None:
        label, weight = e.label, e.weight
        e.label = float("nan")
        found, raw = [], []
        for i in range(self.k):
            self.predict_with(e, i)
            found.append(e.partial if self.subsample else e.prediction)
            raw.append(e.prediction)
        e.label, e.weight = label, weight
        best = self.best = max(range(self.k), key=lambda i: (found[i], -i))
        if not (self.probabilities or self.scores):
            # Of classes from 0, Vowpal Wabbit prints the last one first.
            order = raw if self.indexing.first != 0 else [raw[-1], *raw[:-1]]
            e.raw_scores = list(enumerate(order, 0 if self.indexing.first == 0 else 1))
        e.prediction = self.indexing.label(best)
        e.scores = None  # type: ignore[attr-defined]
        if self.probabilities:
            odds = [1 / (1 + exp(-min(max(p, -500.0), 500.0))) for p in found]
            total = sum(odds)
            e.scores = [p / total for p in odds] if total else [1 / self.k] * self.k  # type: ignore[attr-defined]
        elif self.scores:
            e.scores = found  # type: ignore[attr-defined]

    def learn(self, e: Current) -> None:
        label = e.target
        self.predict(e)
        if label is None:
            return
        self.indexing.check(label)
        if self.probabilities or self.scores:  # the class is found where they are shown
            e.prediction = self.indexing.label(self.best)
        shown, kept, scores = e.prediction, e.partial, e.scores  # type: ignore[attr-defined]
        if self.subsample:
            self._learn_some(e, label)
        else:
            audit, self.bottom.audit = self.bottom.audit, None  # it has shown what was predicted
            # What each learns from is its score in the prediction, clipped to the labels of the examples before.
            stepper = self.bottom.stepper
            widens, stepper.widens = stepper.widens, False
            labels = [1.0 if label == self.indexing.label(i) else -1.0 for i in range(self.k)]
            for i, e.label in enumerate(labels):
                self.learn_with(e, i)
            stepper.widens = widens
            if widens:
                stepper.min_label = min(stepper.min_label, *labels)
                stepper.max_label = max(stepper.max_label, *labels)
            self.bottom.audit = audit
        e.label = float("nan")
        e.prediction, e.partial, e.scores = shown, kept, scores  # type: ignore[attr-defined]

    def _learn_some(self, e: Current, label: int) -> None:
        """Learn the class of the label and `subsample` others, in the turn of a random order."""
        if not self.order:
            self.order = list(range(self.k))
            for i in range(self.k):
                j = i + int(self.random.next() * (self.k - i))
                self.order[i], self.order[j] = self.order[j], self.order[i]
        weight = e.weight
        e.label = 1.0
        self.learn_with(e, label - 1 if self.indexing.first != 0 else label)
        e.weight = weight * self.k / self.subsample
        e.label = -1.0
        count, begin = 0, self.next
        while count < self.subsample:
            i = self.order[self.next]
            self.next = (self.next + 1) % self.k
            if self.indexing.label(i) == label:
                continue
            self.learn_with(e, i)
            count += 1
            if self.next == begin:
                break
        e.weight = weight
