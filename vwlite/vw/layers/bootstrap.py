"""Several models, each with random importances: bootstrap."""

from itertools import groupby
from math import floor, isfinite

from vwlite.vw.arguments import Arguments
from vwlite.vw.layers.base import Current, Layer, Symmetric
from vwlite.vw.setup import Setup
from vwlite.vw.text.labels import tagged

POISSON = (
    0.3678794411714423, 0.7357588823428847, 0.9196986029286058, 0.9810118431238462, 0.9963401531726563,
    0.9994058151824183, 0.9999167588507119, 0.9999897508033253, 0.9999988747974020, 0.9999998885745217,
    0.9999999899522336, 0.9999999991683893, 0.9999999999364022, 0.9999999999954802,
)


class Bootstrap(Symmetric):
    """Several models, each with its own random importances; their mean or vote is predicted."""

    option = name = "bootstrap"
    ensemble = True
    predicts_first = False

    @classmethod
    def models(cls, a: Arguments) -> int:
        return int(a["bootstrap"])

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        self.votes = s.arguments.get("bs_type") == "vote"
        self.setup, self.random, self.loss = s, s.random, self.bottom.stepper.loss

    def _draw(self) -> float:
        x = self.random.next()
        return float(next((i for i, edge in enumerate(POISSON) if x <= edge), 20))

    def run(self, e: Current, learns: bool) -> None:
        weight, found, raw = e.weight, [], []
        for i in range(self.width):
            e.weight = weight * self._draw()
            if learns:
                self.learn_with(e, i)
            else:
                self.predict_with(e, i)
            found.append(e.prediction)
            raw.append(f"{i + 1}:{e.partial:g}")
        e.weight = weight
        e.range = (min(found), max(found))  # type: ignore[attr-defined]
        if self.votes:
            e.prediction = majority(found)
            e.loss = 0.0 if e.prediction == e.label else e.weight  # also without a label
        else:
            e.prediction = sum(found) / len(found)
            if e.weight > 0 and e.labelled:
                e.loss = self.loss(e.prediction, e.label) * e.weight
        if self.setup.raw is not None:
            self.setup.raw.write(tagged(" ".join(raw), e))


def majority(found: list[float]) -> float:
    """The whole number that most of the predictions round to, as Vowpal Wabbit finds it.

    It is the vote that remains when different votes cancel each other (Boyer, Moore); of three or more different ones
    without a majority, the most frequent one, the smallest of several. There the largest vote does not count, as if the
    list ended before it.
    """
    votes = [floor(p + 0.5) if isfinite(p) else p for p in found]
    first = kept = votes[0]
    ahead, several = 0, False
    for vote in votes:
        several = several or len({first, kept, vote}) == 3
        if ahead == 0:
            kept = vote
        ahead += 1 if vote == kept else -1
    if several and not (ahead and 2 * votes.count(kept) > len(votes)):
        runs = [(len(list(run)), vote) for vote, run in groupby(sorted(votes))]
        most = max((size for size, _ in runs[:-1]), default=1)
        if most > 1:
            kept = next(vote for size, vote in runs if size == most)
    return float(kept)
