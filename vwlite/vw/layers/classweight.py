"""Importances by class: classweight."""

import re
from math import isfinite

from vwlite.vw.layers.base import Current, Layer, Symmetric
from vwlite.vw.messages import Critical, Streams
from vwlite.vw.setup import Setup
from vwlite.vw.text.parser import read_number, to_float


class ClassWeight(Symmetric):
    """Multiplies the importance by the weight of the class, which is a label; or, over --oaa and --ect, the target."""

    option = "classweight"
    compatible_with = ("batches", "lines")
    predicts_first: bool | None = True
    of_classes = False

    @classmethod
    def over(cls, base: Layer, s: Setup) -> Layer:
        of_classes = s.arguments.on("oaa") or s.arguments.on("ect")
        return cls(base, s) if of_classes == cls.of_classes else base

    @classmethod
    def prepare(cls, s: Setup) -> None:
        a = s.arguments
        s.class_weights = _class_weights(a["classweight"], s.streams)
        if a.on("oaa") and (a.flag("probabilities") or a.flag("scores")):
            raise Critical("--classweight not implemented for this type of prediction", "classweight.cc", 180)

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        self.weights = s.class_weights
        self.name = f"classweight-{'multi' if self.of_classes else 'scalar'}"

    def run(self, e: Current, learns: bool) -> None:
        if not self.of_classes:
            if isfinite(e.label):
                e.weight *= self.weights.get(int(e.label), 1.0)
        elif e.target is not None:
            e.weight *= self.weights.get(int(e.target), 1.0)
        self.pass_on(e, learns)


class MulticlassWeight(ClassWeight):
    """The same above a learner of classes, whose predictions it passes on."""

    of_classes = True
    predicts_first = None

    @classmethod
    def prepare(cls, s: Setup) -> None:
        """They are read already."""


def _class_weights(values: list[str], streams: Streams) -> dict[int, float]:
    """Weights by class. Text behind a number is ignored, as in Vowpal Wabbit."""
    found: dict[int, float] = {}
    for value in values:
        for pair in value.split(",") if value else []:
            parts = re.match(r"\s*([-+]?[0-9]{1,10}(?![0-9]))[^:]*:(.*)", pair, re.DOTALL)
            weight, end = read_number(parts[2].strip().encode("utf-8", "surrogateescape")) if parts else (0.0, 0)
            if parts is None or not end or abs(to_float(weight)) == float("inf"):
                raise Critical("error while parsing --classweight " + value, "classweight.cc", 30)
            found[int(parts[1])] = weight
    streams.info(f"parsed {len(found)} class weights")
    return found
