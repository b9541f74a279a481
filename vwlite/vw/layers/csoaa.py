"""A regression of the cost of each class: csoaa."""

from vwlite.vw.arguments import Arguments
from vwlite.vw.layers.base import Current, Layer, Symmetric
from vwlite.vw.layers.classes import Indexing
from vwlite.vw.messages import Critical
from vwlite.vw.setup import Setup


class Csoaa(Symmetric):
    """A regression of the cost for each class; the cheapest is predicted."""

    option = name = "csoaa"
    kind, output = "CS", "MULTICLASS"
    compatible_with = ("batches",)
    ensemble = True
    predicts_first = False

    @classmethod
    def models(cls, a: Arguments) -> int:
        return int(a["csoaa"])

    @classmethod
    def check(cls, a: Arguments) -> None:
        if "probabilities" in a:
            words = "csoaa does not support probabilities flag, please use oaa or multilabel_oaa"
            raise Critical(words, "csoaa.cc", 200)

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        self.k, self.indexing = self.width, Indexing(self.width, s)

    def _one(self, e: Current, place: int, cost: float | None, learns: bool) -> None:
        model = e.model
        e.model = (model + place * self.increment) % (1 << 32)  # an invalid class uses the model of another one
        if learns:
            e.label = 0.0 if cost is None else cost
            e.weight = 0.0 if cost is None else 1.0
            self.base.learn(e)
        else:
            e.label = float("nan")
            self.base.predict(e)
        e.model = model

    def run(self, e: Current, learns: bool) -> None:
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
            e.weight = weight  # else the weight of the last class remains, as in Vowpal Wabbit
        e.label = float("nan")
        e.prediction, e.partial = best, score
