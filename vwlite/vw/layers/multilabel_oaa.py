"""One against all, where several classes may be right: multilabel_oaa."""

from vwlite.vw.arguments import Arguments
from vwlite.vw.layers.base import Current, Layer, Symmetric
from vwlite.vw.layers.classes import choose_link
from vwlite.vw.setup import Setup


class MultilabelOaa(Symmetric):
    """One against all, where several classes may be right."""

    option = "multilabel_oaa"
    kind, output = "MULTILABEL", "MULTILABELS"
    compatible_with = ("batches",)
    ensemble = True
    predicts_first = False

    @classmethod
    def models(cls, a: Arguments) -> int:
        return int(a["multilabel_oaa"])

    @classmethod
    def prepare(cls, s: Setup) -> None:
        choose_link(s)

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        self.k, self.limit = self.width, 0.5 if s.link == "logistic" else 0.0
        self.probabilities, self.name = s.arguments.flag("probabilities"), "multilabel_oaa"
        if self.probabilities:
            self.name, self.output = "multilabel_oaa-prob", "SCALARS"

    def run(self, e: Current, learns: bool) -> None:
        labels, weight = e.target, e.weight
        found, scores = [], []
        seen = 0  # of the labels, which count in their order only
        for i in range(self.k):
            if learns:
                right = seen < len(labels) and labels[seen] == i
                seen += right
                e.label = 1.0 if right else -1.0
                self.learn_with(e, i)
            else:
                e.label = float("nan")
                self.predict_with(e, i)
            scores.append(e.prediction)
            if e.prediction > self.limit:
                found.append(i)
        if learns and seen < len(labels):
            self.streams.error(f"label {labels[seen]} is not in {{0,{self.k - 1}}} This won't work right.")
        e.label, e.weight = float("nan"), weight
        e.prediction = [] if self.probabilities else found
        e.scores = scores if self.probabilities else None  # type: ignore[attr-defined]
