"""Base learners without a model: noop, print."""

from vwlite.core.data.expand import CONSTANT_HASH
from vwlite.vw.layers.base import Current, LinearLayer
from vwlite.vw.messages import short
from vwlite.vw.setup import Setup


class Noop(LinearLayer):
    """A base learner that learns nothing and predicts 0."""

    option = name = "noop"

    def __init__(self, base: LinearLayer, s: Setup) -> None:
        super().__init__(self.name, base.stepper, s.streams)

    def predict(self, e: Current) -> None:
        e.prediction = e.partial = 0.0

    def learn(self, e: Current) -> None:
        e.prediction = e.partial = 0.0


class Print(Noop):
    """A base learner that prints examples: label, importance, tag, and the features, as number and value."""

    option = name = "print"
    excludes = ("quadratic", "cubic", "interactions", "svrg", "bfgs", "conjugate_gradient", "ngram")
    compatible_with = ("lines", "classes")

    def __init__(self, base: LinearLayer, s: Setup) -> None:
        super().__init__(base, s)
        self.predicts_first = True

    def predict(self, e: Current) -> None:
        super().predict(e)
        words = [short(e.label)] if e.labelled else []
        if e.labelled and (e.weight != 1 or e.initial != 0):
            words += [short(e.weight)] + ([short(e.initial)] if e.initial != 0 else [])
        tag = "'" + e.tag.decode("utf-8", "surrogateescape") if e.tag else ""
        hashes, values = self.stepper.features()
        features = [
            f"{key if hash != CONSTANT_HASH else hash}{'' if x == 1 else f':{short(x)}'} "
            for hash, key, x in zip(hashes, self.stepper.keys_of(), values, strict=True)
        ]
        self.streams.say(f"{' '.join([*words, tag])}| {''.join(features)}")

    def learn(self, e: Current) -> None:
        self.predict(e)
