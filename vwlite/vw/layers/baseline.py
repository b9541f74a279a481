"""A constant that is learned first, and fast; the other weights learn the remaining error: baseline."""

from vwlite.core.data.expand import CONSTANT_HASH
from vwlite.vw.layers.base import Current, Layer
from vwlite.vw.setup import Setup

LARGEST = 1000.0  # a multiplier by itself is at most this


class Baseline(Layer):
    """p = c + f(x), where c learns from the label, and f from the label minus c.

    multiplier: of the learning rate of c; 0: the largest label so far; none for logistic loss. separate: c is a
    weight of its own (`--global_only`), not that of the constant.
    """

    option = name = "baseline"
    excludes = ("nn", "bootstrap", "boosting", "active", "confidence")
    compatible_with = ("lines",)
    predicts_first = True

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        a = s.arguments
        self.setup, self.multiplier, self.separate = s, a.get("lr_multiplier"), a.flag("global_only")
        self.scales = self.multiplier is not None and a.get("loss_function") != "logistic"
        self.key = (CONSTANT_HASH - 17) << base.bottom.stepper.shift

    def predict(self, e: Current) -> None:
        if not self.separate:
            self.base.predict(e)
            return
        stepper = self.bottom.stepper
        keys, values = stepper.features()
        initial = e.initial
        e.initial = 0.0
        stepper.set([self.key], [1.0])
        self.base.predict(e)
        stepper.set(keys, values)
        e.initial = e.prediction
        self.base.predict(e)
        e.initial = initial

    def learn(self, e: Current) -> None:
        self.predict(e)
        shown = e.prediction, e.partial
        stepper = self.bottom.stepper
        keys, values = stepper.features()
        initial = e.initial
        at = None if self.separate else self._constant(keys)
        one = [] if at is None else [at]
        rest = [i for i in range(len(keys)) if i != at]
        names = self.setup.namer.names(e) if self.setup.namer is not None else None
        e.initial = 0.0
        e.made_names = names and ([b""] if self.separate else [names[i] for i in one])
        if self.separate:
            stepper.set([self.key], [1.0])
        else:
            stepper.set([keys[i] for i in one], [values[i] for i in one])
        rule = stepper.rule
        decay = rule.pass_decay
        if self.scales:
            rule.pass_decay = decay * (self.multiplier or self._scale())
        self.base.learn(e)
        rule.pass_decay = decay
        stepper.set([keys[i] for i in rest], [values[i] for i in rest])
        e.initial = e.prediction
        e.made_names = names and [names[i] for i in rest]
        self.base.learn(e)
        e.initial, e.made_names = initial, None
        stepper.set(keys, values)
        e.prediction, e.partial = shown

    def _constant(self, keys: list[int]) -> int | None:
        """The position of the constant; None if there is none. Layers above may have added features after it."""
        stepper = self.bottom.stepper
        if stepper.expander.constant_key is None:
            return None
        key = (stepper.expander.constant_key << stepper.shift) & 0xFFFFFFFF
        return max((i for i, other in enumerate(keys) if other == key), default=None)

    def _scale(self) -> float:
        stepper = self.bottom.stepper
        return float(min(max(0.0001, abs(stepper.min_label), abs(stepper.max_label)), LARGEST))
