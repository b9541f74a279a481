"""How sure a prediction is: confidence."""

from vwlite.core.vw.gd_flags import GdWithFlags
from vwlite.vw.layers.base import Current, Layer, LinearLayer, Symmetric
from vwlite.vw.messages import Critical
from vwlite.vw.setup import Setup

NO_LABEL = 3.4028234663852886e38  # Vowpal Wabbit's number for a missing label


class Confidence(Symmetric):
    """The confidence of a prediction: its distance from 0, divided by how far one example could move it."""

    option = name = "confidence"
    predicts_first = False

    @classmethod
    def over(cls, base: Layer, s: Setup) -> Layer:
        if not s.arguments.flag("testonly"):
            return cls(base, s)
        s.streams.warn(
            "Confidence does not work in test mode because learning algorithm state is needed.  Do not use "
            "--predict_only_model when saving the model and avoid --test_only"
        )
        return base

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        a = s.arguments
        self.afterwards = a.flag("confidence_after_training")
        self.stale = [0.0] * a.get("example_queue_limit", a.get("ring_size", 256))
        self.last: Current | None = None

    def _before(self, e: Current) -> float:
        """The prediction that an example shows before its own: that of the earlier example at its place in the pool."""
        if self.last is not None:
            self.stale[self.last.counter % len(self.stale)] = self.last.prediction
        self.last = e
        return self.stale[e.counter % len(self.stale)]

    def run(self, e: Current, learns: bool) -> None:
        found = self._before(e)
        target = e.label
        if not e.labelled:
            self.base.predict(e)
            found = e.prediction
            target = -1.0 if found > 0 else 1.0
        if not self.afterwards:
            moves = sensitivity(self.bottom, e, target, found)
        self.pass_on(e, learns)
        if self.afterwards:
            moves = sensitivity(self.bottom, e, e.label if e.labelled else NO_LABEL, e.prediction)
        e.confidence = abs(e.prediction) / moves if moves else float("inf")


def sensitivity(bottom: LinearLayer, e: Current, label: float, p: float) -> float:
    """The change of the prediction per unit of dloss at p, if the example were learned with the label."""
    stepper = bottom.stepper
    rule = stepper.rule
    if not isinstance(rule, GdWithFlags):
        raise Critical("a sensitivity is needed, which only the gradient descent learner has", "learner.h", 400)
    stepper.select(e.model)
    slots = stepper.slots_of(stepper.keys_of(e.model))
    return float(rule.sensitivity(slots, stepper.features()[1], p, label, e.weight))
