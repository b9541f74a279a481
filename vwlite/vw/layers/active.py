"""Active learning: Beygelzimer, Hsu, Langford, Zhang. Agnostic Active Learning Without Constraints, NIPS 2010."""

from math import log, sqrt

from vwlite.vw.layers.base import Current, Layer
from vwlite.vw.layers.confidence import sensitivity
from vwlite.vw.setup import Setup


class Active(Layer):
    """Asks for the labels that matter. In a simulation the data have all labels, and the others are ignored."""

    option = "active"

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        a = s.arguments
        self.setup, self.c0 = s, a.get("mellowness", 1.0)
        self.simulation = a.flag("simulation")
        self.direct = a.flag("direct") and not self.simulation
        self.name = "active-simulation" if self.simulation else "active"
        if self.simulation:
            self.predicts_first = False
        self.low, self.high = 0.0, 1.0  # the labels seen, widened from these
        self.queries = 0

    def predict(self, e: Current) -> None:
        self.base.predict(e)
        if not self.simulation:
            self._ask(e)

    def learn(self, e: Current) -> None:
        if self.simulation:
            self._simulate(e)
        else:
            self.base.learn(e)
            self._ask(e)

    def _ask(self, e: Current) -> None:
        """How much the other label would change the prediction of an example without a label."""
        if e.labelled:
            self.low, self.high = min(self.low, e.label), max(self.high, e.label)
            return
        if self.direct and not e.tag.startswith(b"query?"):
            return
        stepper = self.bottom.stepper
        threshold = (stepper.max_label + stepper.min_label) / 2
        found = sensitivity(self.bottom, e, self.low if e.prediction >= threshold else self.high, e.prediction)
        e.confidence = abs(e.prediction - threshold) / found if found else float("inf")
        if self.direct:
            e.prediction = self.decide(e.confidence, self.setup.statistics.weighted_unlabeled_examples)

    def _simulate(self, e: Current) -> None:
        self.base.predict(e)
        found = sensitivity(self.bottom, e, e.label, e.prediction)
        e.confidence = abs(e.prediction) / found if found else float("inf")
        importance = self.decide(e.confidence, self.setup.statistics.t)
        if importance > 0:
            self.queries += 1
            e.weight *= importance
            self.base.learn(e)
        else:
            self.setup.statistics.see_label(e.label)
            e.label, e.weight = float("nan"), 0.0

    def decide(self, revert: float, count: float) -> float:
        """The importance of an example whose label is queried at random; -1 if it is not queried. revert: the updates
        that would change the sign of the prediction; count: examples so far."""
        bias = 1.0
        if count > 1:
            average = min(max(self.setup.statistics.sum_loss / count, 0.0), 1.0)
            bias = self._bias(count, average, revert / count)
        return 1 / bias if self.setup.random.next() < bias else -1.0

    def _bias(self, count: float, average: float, gap: float) -> float:
        b = self.c0 * (log(count + 1) + 0.0001) / (count + 0.0001)
        if gap <= sqrt(b) * min(1.0, sqrt(average + gap)) + b:
            return 1.0
        root = (sqrt(b) + sqrt(b + 4 * gap * b)) / 2 * gap
        return root * root
