"""Stochastic variance reduced gradient: svrg.

Johnson, Zhang. Accelerating Stochastic Gradient Descent using Predictive Variance Reduction. NIPS 2013.
"""

from vwlite.vw.layers.base import Current, LinearLayer
from vwlite.vw.models.binary import SlotLayout
from vwlite.vw.plan import BETTING, GD_FLAGS
from vwlite.vw.setup import Setup


class Svrg(LinearLayer):
    """One pass that sums the gradients at the current weights v, then `stage` passes of steps, repeated:

        w <- w - eta ((l'(w) - l'(v)) x + mean of the gradients at v).

    Models of Vowpal Wabbit hold w only, so a run begins with a pass of the first kind.
    """

    option = name = "svrg"
    excludes = (
        *GD_FLAGS, "adax", *BETTING, "noop", "l1", "l2", "sparse_l2", "feature_mask", "nn", "baseline", "active",
        "confidence",
    )

    def __init__(self, base: LinearLayer, s: Setup) -> None:
        super().__init__(self.name, base.stepper, s.streams)
        self.statistics, self.rate, self.stage = s.statistics, s.plan.learning_rate, s.arguments.get("stage_size", 1)
        self.last_pass = -1
        self.stable: dict[int, float] = {}
        self.gradient: dict[int, float] = {}
        self.count = 0

    def learn(self, e: Current) -> None:
        self.predict(e)
        number = self.statistics.current_pass
        fresh, self.last_pass = number != self.last_pass, number
        stepper = self.stepper
        keys, (_, values) = stepper.keys_of(e.model), stepper.features()
        if number % (self.stage + 1) == 0:
            if fresh:
                self.streams.say(f"svrg pass {number}: committing stable point")
                self.streams.say(f"svrg pass {number}: computing exact gradient")
                self.stable = {key: w for key, (w,) in SlotLayout(stepper.rule, ("w",)).read()}
                self.gradient, self.count = {}, 0
            dloss = self._stable_dloss(e, keys, values)
            for key, x in zip(keys, values, strict=True):
                self.gradient[key] = self.gradient.get(key, 0.0) + dloss * x
            self.count += 1
            return
        if fresh:
            self.streams.say(f"svrg pass {number}: taking steps")
        dloss = stepper.loss.derivative(e.prediction, e.label) * e.weight - self._stable_dloss(e, keys, values)
        rate = self.rate * stepper.rule.pass_decay
        for key, x in zip(keys, values, strict=True):
            step = dloss * x + self.gradient.get(key, 0.0) / max(self.count, 1)
            stepper.set_weight(key, stepper.weight(key) - rate * step)

    def _stable_dloss(self, e: Current, keys: list[int], values: list[float]) -> float:
        """The dloss of the loss at the prediction of the stable weights."""
        stable = self.stable
        p = e.initial + sum(stable.get(key, 0.0) * x for key, x in zip(keys, values, strict=True))
        p = min(max(p, self.stepper.min_label), self.stepper.max_label)
        return float(self.stepper.loss.derivative(p, e.label)) * e.weight
