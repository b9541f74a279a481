"""One model per class: oaa, csoaa, multilabel_oaa."""

from collections.abc import Callable
from math import exp

from vwlite.vw.layers.base import Current, Layer
from vwlite.vw.messages import Critical
from vwlite.vw.plan import Setup


class Indexing:
    """Whether classes are counted from 0 or from 1: as said, or as the first label at an end of the range tells."""

    def __init__(self, k: int, given: int | None, s: Setup) -> None:
        self.k, self.first, self.streams = k, given, s.streams
        self.before_words: Callable[[], None] = lambda: None

    def check(self, label: int) -> int:
        """Look at a label; the one that counts instead if it is out of range."""
        if not (1 if self.first is None else self.first) <= label < self.k + (self.first or 0):
            self.before_words()
        if self.first is None and label in (0, self.k):
            self.first = 0 if label == 0 else 1
            self.streams.info(f"label {label} found -- labels are now considered {self.first}-indexed.")
        if self.first == 0 and not 0 <= label < self.k:
            self.streams.warn(f"label {label} is not in {{0,{self.k - 1}}}. This won't work for 0-indexed actions.")
            return 0
        if self.first == 1 and not 1 <= label <= self.k:
            self.streams.warn(f"label {label} is not in {{1,{self.k}}}. This won't work for 1-indexed actions.")
            return self.k
        return label

    def label(self, place: int) -> int:
        """The label of the place-th class, from 0. Counted from 1 as long as it is not known."""
        return place if self.first == 0 else place + 1


class Oaa(Layer):
    """One against all."""

    def __init__(self, base: Layer, k: int, s: Setup, *, indexing: int | None, probabilities: bool, scores: bool,
                 subsample: int = 0) -> None:  # fmt: skip
        super().__init__(base)
        if s.names and len(s.names) != k:
            raise Critical(f"There are {len(s.names)} named labels. Use that as the argument to oaa.", "oaa.cc", 260)
        self.k, self.width, self.predicts_apart = k, k, False
        self.indexing = Indexing(k, indexing, s)
        self.probabilities, self.scores = probabilities, scores
        self.subsample = subsample if subsample < k else 0
        self.name = "oaa-prob" if probabilities else "oaa-scores" if scores else "oaa"
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
        """Learn the class itself and `subsample` others, which come round in a random order."""
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


class Csoaa(Layer):
    """A regression of the cost for each class; the cheapest is predicted."""

    name = "csoaa"

    def __init__(self, base: Layer, k: int, s: Setup, indexing: int | None) -> None:
        super().__init__(base)
        self.k, self.width, self.predicts_apart = k, k, False
        self.indexing = Indexing(k, indexing, s)

    def _one(self, e: Current, place: int, cost: float | None, learns: bool) -> None:
        model = e.model
        e.model = (model + place * self.increment) % (1 << 32)  # classes that are none have models of others
        if learns:
            e.label = 0.0 if cost is None else cost
            e.weight = 0.0 if cost is None else 1.0
            self.base.learn(e)
        else:
            e.label = float("nan")
            self.base.predict(e)
        e.model = model

    def _all(self, e: Current, learns: bool) -> None:
        costs: list[tuple[int, float | None]] = [(self.indexing.check(label), cost) for label, cost in e.target or []]
        e.target = costs
        first = 0 if self.indexing.first == 0 else 1
        weight = e.weight
        e.raw_scores = []
        best, score = first, float("inf")
        for label, cost in costs or [(i + first, None) for i in range(self.k)]:
            self._one(e, label - first, cost, learns and bool(costs))
            if costs:
                e.raw_scores.append((label, e.partial))
            if e.partial < score or (e.partial == score and label < best):
                best, score = label, e.partial
        if not learns:
            e.weight = weight  # else that of the last class counts, as in Vowpal Wabbit
        e.label = float("nan")
        e.prediction, e.partial = best, score

    def predict(self, e: Current) -> None:
        self._all(e, False)

    def learn(self, e: Current) -> None:
        self._all(e, True)


class MultilabelOaa(Layer):
    """One against all, where several classes may be right."""

    def __init__(self, base: Layer, k: int, s: Setup, probabilities: bool, link: str) -> None:
        super().__init__(base)
        self.k, self.width, self.streams, self.predicts_apart = k, k, s.streams, False
        self.probabilities, self.limit = probabilities, 0.5 if link == "logistic" else 0.0
        self.name = "multilabel_oaa-prob" if probabilities else "multilabel_oaa"

    def _all(self, e: Current, learns: bool) -> None:
        labels, weight = e.target or [], e.weight
        found, scores = [], []
        for i in range(self.k):
            if learns:
                e.label = 1.0 if i in labels else -1.0
                self.learn_with(e, i)
            else:
                e.label = float("nan")
                self.predict_with(e, i)
            scores.append(e.prediction)
            if e.prediction > self.limit:
                found.append(i)
        for label in labels:
            if learns and label >= self.k:
                self.streams.error(f"label {label} is not in {{0,{self.k - 1}}} This won't work right.")
        e.label, e.weight = float("nan"), weight
        e.prediction = [] if self.probabilities else found
        e.scores = scores if self.probabilities else None  # type: ignore[attr-defined]

    def predict(self, e: Current) -> None:
        self._all(e, False)

    def learn(self, e: Current) -> None:
        self._all(e, True)
