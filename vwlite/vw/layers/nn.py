"""A neural network with one hidden layer, whose units are linear models: nn."""

import struct
from math import sqrt

from vwlite.core.data.expand import CONSTANT_HASH
from vwlite.core.learn.losses import Squared
from vwlite.core.vw.stepper import Stepper
from vwlite.vw.arguments import Arguments
from vwlite.vw.layers.base import Current, Layer, Symmetric
from vwlite.vw.messages import short
from vwlite.vw.random import Random
from vwlite.vw.setup import Setup
from vwlite.vw.text.labels import tagged
from vwlite.vw.text.parser import to_float

OUTPUT = 533357803  # the hash of the first weight behind the hidden layer
HIDDEN = (-3.0, 3.0)  # the range of the predictions of hidden units
WEIGHTS = (-1.0, 1.0)


def fast_exp(x: float) -> float:
    """An approximation of exp(x), by the bits of a float (Mineiro's fastapprox); that of Vowpal Wabbit."""
    p = to_float(max(1.442695040 * x, -126.0))
    z = p - int(p) + (1.0 if p < 0 else 0.0)
    power = to_float(to_float(p + 121.2740575) + 27.7280233 / (4.84252568 - z))
    bits = int((1 << 23) * to_float(power - 1.49012907 * z))
    return struct.unpack("<f", struct.pack("<I", bits))[0]  # type: ignore[no-any-return]


def fast_tanh(x: float) -> float:
    return 2 / (1 + fast_exp(-2 * x)) - 1


class Nn(Symmetric):
    """p = b + the sum over hidden units h of v_h tanh(w_h x), where every w_h, and (v, b) together, is a linear model.

    Each learns by gradient descent: (v, b) from the example's loss, and w_h by the squared loss, where its label is
    its own prediction minus its gradient. inpass: the features of the example are also features of the last
    model. dropout: learn twice, with half of the units off, then with the others. multitask: the hidden units are
    those of the first of several networks. testing: nothing is learned.
    """

    option = name = "nn"
    excludes = ("coin", "freegrad", "pistol", "active", "confidence", "replay_b")
    compatible_with = ("lines",)

    @classmethod
    def models(cls, a: Arguments) -> int:
        return 1 + int(a["nn"])

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        a = s.arguments
        self.setup, self.k = s, a["nn"]
        k, inpass, multitask = self.k, a.flag("inpass"), a.flag("multitask")
        dropout = a.flag("dropout") and not a.flag("meanfield")
        self.inpass, self.dropout, self.multitask = inpass, dropout, multitask
        self.testing = a.flag("testonly")
        self.drops = Random(s.random.state)
        self.squared = Squared()
        self.main = main = base.bottom.stepper
        self.loss = main.loss
        self.bias_key = CONSTANT_HASH // s.plan.stride
        # For examples of which the weights between and behind the units are features. Its keys are whole ones.
        self.side = Stepper(main.rule, main.loss, main.expander, bits=s.plan.bits)
        self.bias = Current(made_names=[b"HiddenBias"])
        self.weight = Current(made_names=[b"OutputWeight"])
        self.keys = [OUTPUT + i * self.increment for i in range(k + (not inpass))]
        self.names_behind = [b"OutputLayer%d" % i for i in range(k)] + ([] if inpass else [b"OutputLayerConst"])
        words = "testing" if self.testing else "training"
        for flag, called in (
            (multitask, "multitask sharing"), (a.flag("meanfield"), "mean field"), (dropout, "dropout"),
            (inpass, "input passthrough"),
        ):
            if flag:
                s.streams.info(f"using {called} for neural network {words}")

    def run(self, e: Current, learns: bool) -> None:
        main = self.main
        model, label = e.model, e.label
        low, high, widens = main.min_label, main.max_label, main.widens
        first = 0 if self.multitask else model
        hidden = self._hidden(e, first)
        drops = self.dropout and learns
        dropped = [drops and self.drops.next() < 0.5 for _ in hidden]
        text = " ".join(f"{i}:{short(h)},{short(fast_tanh(h))}" for i, h in enumerate(hidden))
        shown: tuple[float, float] | None = None
        for _ in range(2 if drops else 1):
            main.min_label, main.max_label, main.widens, e.model = low, high, widens, model
            sigmas = self._behind(e, hidden, dropped, 2.0 if drops else 1.0, learns)
            low, high = main.min_label, main.max_label
            text += f" {short(e.partial)}"
            if self.setup.raw is not None:
                self.setup.raw.write(tagged(text, e))
            shown = shown or (e.prediction, e.partial)
            if learns:
                self._learn_hidden(e, first, hidden, dropped, sigmas, 2.0 if drops else 1.0)
            e.label = label
            dropped = [not off for off in dropped]
        main.use(self.loss)
        main.min_label, main.max_label, main.widens, e.model = low, high, widens, model
        assert shown is not None
        e.prediction, e.partial = shown

    def _narrow(self, limits: tuple[float, float]) -> None:
        """Both steppers learn by the squared loss, and predict within fixed limits."""
        self.main.use(self.squared)
        self.side.loss = self.squared
        for stepper in (self.main, self.side):
            stepper.min_label, stepper.max_label = limits
            stepper.widens = False

    def _single(self, one: Current, key: int, model: int) -> float:
        """What a weight predicts by itself; the bottom stays with it, for learning."""
        self.side.set([key], [1.0])
        self.main.select(model)
        one.model = model
        self.bottom.stepper = self.side
        self.base.predict(one)
        return float(one.prediction)

    def _hidden(self, e: Current, first: int) -> list[float]:
        """The predictions of the hidden units. A unit whose bias is 0 gets a random one: 0 is a saddle point."""
        self._narrow(HIDDEN)
        models = [first + i * self.increment for i in range(self.k)]
        biases = [self._single(self.bias, self.bias_key, model) for model in models]
        for model, bias in zip(models, biases, strict=True):
            if bias == 0 and not self.testing:
                self.main.select(model)
                self.bias.model, self.bias.label = model, self.setup.random.next() - 0.5
                self.base.learn(self.bias)
        self.bottom.stepper = self.main
        found = []
        for e.model in models:
            self.base.predict(e)
            found.append(float(e.prediction))
        return found

    def _behind(self, e: Current, hidden: list[float], dropped: list[bool], scale: float, learns: bool) -> list[float]:
        """Predict and learn with the model above the hidden units; returns the outputs of the units."""
        main, side, k = self.main, self.side, self.k
        model = e.model + k * self.increment
        limits = main.min_label, main.max_label, main.widens
        self._narrow(WEIGHTS)
        sigmas = []
        for key, h, off in zip(self.keys[:k], hidden, dropped, strict=True):
            sigmas.append(0.0 if off else scale * fast_tanh(h))
            if self._single(self.weight, key, model) == 0 and not self.testing:
                self.weight.label = (self.setup.random.next() - 0.5) / sqrt(k)
                self.bottom.update(self.weight, 0.0)
        main.use(self.loss)
        side.loss = self.loss
        side.min_label, side.max_label, side.widens = limits
        keys, values = main.features() if self.inpass else ([], [])
        side.set(keys + self.keys, values + sigmas + [1.0] * (len(self.keys) - k))
        namer = self.setup.namer
        if namer is not None:
            self.bottom.stepper = main
            keys, values, names = namer.ordered(e) if self.inpass else ([], [], [])
            e.made_names = names + self.names_behind
            side.set(keys + self.keys, values + sigmas + [1.0] * (len(self.keys) - k))
        self.bottom.stepper = side
        main.select(model)
        e.model, tag = model, e.tag
        if not self.inpass:
            e.tag = b""  # an audit then shows the hidden units as an example of their own, without the tag
        self.pass_on(e, learns)
        e.made_names, e.tag = None, tag
        self.bottom.stepper = main
        main.min_label, main.max_label = side.min_label, side.max_label
        return sigmas

    def _learn_hidden(
        self, e: Current, first: int, hidden: list[float], dropped: list[bool], sigmas: list[float], scale: float
    ) -> None:
        dloss = self.loss.derivative(e.prediction, e.label)
        if dloss == 0:
            return
        model = e.model
        self._narrow(HIDDEN)
        for i, (h, off, value) in enumerate(zip(hidden, dropped, sigmas, strict=True)):
            if off:
                continue
            sigma = value / scale
            behind = self._single(self.weight, self.keys[i], model)
            self.bottom.stepper = self.main
            gradient = 0.5 * behind * dloss * scale * (1 - sigma * sigma)
            e.label = min(max(h - gradient, HIDDEN[0]), HIDDEN[1])
            if e.label != h:
                e.model = first + i * self.increment
                self.bottom.update(e, h)
