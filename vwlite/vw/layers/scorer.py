"""The loss and the link: scorer."""

from collections.abc import Callable
from math import exp

from vwlite.vw.layers.base import Current, Layer, evaluated_loss
from vwlite.vw.setup import Setup

LINKS: dict[str, Callable[[float], float]] = {
    "identity": lambda p: p,
    "logistic": lambda p: 1 / (1 + _exp(-p)),
    "glf1": lambda p: 2 / (1 + _exp(-p)) - 1,
    "poisson": lambda p: _exp(p),
}


def _exp(x: float) -> float:
    return exp(x) if x < 709 else float("inf")


class ScorerLayer(Layer):
    """Learns if the example has a label, computes the loss, and applies the link."""

    compatible_with = ("batches", "lines", "classes")

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        self.name = f"scorer-{s.link}"
        self.link = None if s.link == "identity" else LINKS[s.link]
        self.loss = base.bottom.stepper.loss

    def predict(self, e: Current) -> None:
        self.base.predict(e)
        self._finish(e)

    def learn(self, e: Current) -> None:
        stepper = self.bottom.stepper
        if e.label == e.label and stepper.widens:
            stepper.min_label, stepper.max_label = min(stepper.min_label, e.label), max(stepper.max_label, e.label)
        if e.weight > 0 and e.label == e.label:
            self.base.learn(e)
        else:
            self.base.predict(e)
        self._finish(e)

    def _finish(self, e: Current) -> None:
        if e.weight > 0 and e.label == e.label:
            e.loss = evaluated_loss(self.loss, e.prediction, e.label, self.bottom.stepper) * e.weight
        if self.link is not None:
            e.prediction = self.link(e.prediction)
