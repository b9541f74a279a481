"""The mean label of an id in place of the id: --marginal.

The features of a marked namespace come in pairs: a feature, and an id. Each pair becomes one feature, whose value is
the decayed mean of the labels of earlier examples with this id. With --compete these means are also experts, as the
linear model is, by AdaNormalHedge (Luo, Schapire. Achieving All with No Parameters, COLT 2015).
"""

import struct
from dataclasses import dataclass, field
from math import exp, nan
from typing import Any

from vwlite.core.data.batch import Batch
from vwlite.vw.arguments import unescaped
from vwlite.vw.layers.base import Current, Layer, Symmetric, evaluated_loss
from vwlite.vw.messages import Critical, short
from vwlite.vw.setup import Setup
from vwlite.vw.text.examples import example_of
from vwlite.vw.text.parser import to_float


@dataclass
class Expert:
    """The weight of an expert, and the sums that decide it."""

    regret: float = 0.0
    size: float = 0.0  # sum of squared regrets
    weight: float = 1.0

    def add(self, regret: float, importance: float) -> None:
        self.regret = to_float(self.regret + regret * importance)
        self.size = to_float(self.size + regret * regret * importance)
        positive = self.regret if self.regret > 0 else 0.0
        self.weight = 0.0
        if self.size != 0 and positive != 0:
            power = min(positive * positive / (3 * self.size), 700.0)
            self.weight = to_float(2 * positive * exp(power) / (3 * self.size))


@dataclass
class Pair:
    """The experts of an id: its mean, and the linear model."""

    mean: Expert = field(default_factory=Expert)
    features: Expert = field(default_factory=Expert)


class Marginal(Symmetric):
    """Learns over means in place of ids."""

    option = name = "marginal"
    predicts_first = False

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        a = s.arguments
        self.dropped, self.mask = s.plan.shape.dropped, (1 << s.plan.bits) - 1
        self.stepper = self.bottom.stepper
        self.loss = self.stepper.loss
        text = unescaped(a["marginal"])
        if ":" in text:
            raise Critical("Cannot use wildcard with marginal.", "marginal.cc", 413)
        self.letters = set(text.encode("utf-8", "surrogateescape"))
        self.initial = to_float(a.get("initial_numerator", 0.5)), to_float(a.get("initial_denominator", 1.0))
        self.keeps = to_float(1 - to_float(a.get("decay", 0.0)))
        self.early, self.unweighted = a.flag("update_before_learn"), a.flag("unweighted_marginals")
        self.competes = a.flag("compete")
        self.has_ids = not any(layer.option == "stage_poly" for layer in s.layers)  # its monomials have no namespaces
        self.called: dict[int, str] | None = {} if "invert_hash" in a else None
        self.marginals: dict[int, tuple[float, float]] = {}
        self.experts: dict[int, Pair] = {}

    # --- the example with means --------------------------------------------------------------

    def _substitute(self, e: Current) -> tuple[list[int], int]:
        """Put means into the example; returns the ids of the pairs in order, and the number of features to count."""
        example = example_of(e.batch, e.line, e.names)
        ids: list[int] = []
        swapped: list[int] = []
        shorter = 0
        self.good: list[int] = []  # the pairs that made a feature
        for letter, space in example.spaces.items():
            if letter not in self.letters or self.dropped(letter):
                continue
            hashes, values, names = space.hashes, space.values, space.names
            space.hashes, space.values, space.names = [], [], []
            unseen = 0
            for i in range(0, len(hashes) - 1, 2):
                key = self.stepper.key(hashes[i + 1]) + e.model
                ids.append(key)
                if values[i] != 1 or values[i + 1] != 1:
                    self.streams.warn("Bad id features, must have value 1.")
                    continue
                if key not in self.marginals:
                    self.marginals[key] = self.initial
                    if self.competes:
                        self.experts[key] = Pair()
                    if self.called is not None:
                        self.called[key] = _name(letter, names[unseen], names[unseen + 1])
                        unseen += 2
                self.good.append(key)
                space.hashes.append(hashes[i])
                space.values.append(to_float(self._mean(key)))
                space.names.append(names[2 * len(space.names)])
            if len(hashes) % 2:
                self.streams.warn(f"marginal feature namespace has {len(hashes)} features. Should be a multiple of 2")
            swapped += [self.stepper.key(h) + e.model for h in space.hashes[1::2]]
            shorter += len(hashes) - len(space.hashes)
        batch = Batch()
        spans = [(letter, space.hashes, space.values) for letter, space in example.spaces.items()]
        batch.append(0, nan, 1.0, 0.0, b"", spans)
        named = {letter: space.names for letter, space in example.spaces.items()} if e.names is not None else None
        e.batch, e.line, e.names = batch, 0, named
        count = self.stepper.take(batch, 0) + self.stepper.expander.hidden + shorter
        # With --update_before_learn Vowpal Wabbit takes the features it has made for the pairs.
        return swapped if self.early else ids, count

    def _mean(self, key: int) -> float:
        above, below = self.marginals[key]
        return above / below if below else nan

    def run(self, e: Current, learns: bool) -> None:
        if not self.has_ids:
            (self.base.learn if learns else self.base.predict)(e)
            return
        before = e.batch, e.line, e.names
        ids, e.features = self._substitute(e)
        if not learns:
            self.base.predict(e)
            if self.competes:
                self._compete(e, e.prediction, False)
        elif self.early:
            self.base.predict(e)
            shown = e.prediction
            if self.competes:
                self._compete(e, shown, True)
            self._update(e, ids, shown)
            e.batch, e.line, e.names = before
            self._substitute(e)
            self.base.learn(e)
            e.prediction = shown
        else:
            self.base.learn(e)
            found = e.prediction
            if self.competes:
                self._compete(e, found, True)
            self._update(e, ids, found)
        e.batch, e.line, e.names = before
        self.stepper.take(e.batch, e.line)

    # --- learning ----------------------------------------------------------------------------

    def _judge(self, p: float, y: float) -> float:
        return evaluated_loss(self.loss, p, y, self.stepper)

    def _compete(self, e: Current, found: float, learns: bool) -> None:
        """Mix the predictions of the experts, one of which is the linear model; keep the loss of the mixture."""
        total = weight = vote = lost = 0.0
        for key in self.good:
            pair, mean = self.experts[key], to_float(self._mean(key))
            vote += pair.mean.weight * mean
            total += pair.mean.weight
            weight += pair.features.weight
            if learns:
                lost += pair.mean.weight * self._judge(mean, e.label)
        if total + weight > 0:
            vote += weight * found
        else:
            weight, vote = 1.0, found
        e.prediction = e.partial = to_float(vote / (total + weight))
        if learns:
            self.lost = to_float((lost + weight * self._judge(found, e.label)) / (total + weight))

    def _update(self, e: Current, ids: list[int], found: float) -> None:
        """Add the label to the means of the ids."""
        importance = 1.0 if self.unweighted else e.weight
        for key in ids:
            above, below = self.marginals.setdefault(key, (0.0, 0.0))
            if self.competes:
                pair = self.experts.setdefault(key, Pair())
                pair.mean.add(to_float(self.lost - self._judge(to_float(self._mean(key)), e.label)), importance)
                pair.features.add(to_float(self.lost - self._judge(found, e.label)), importance)
            self.marginals[key] = (above * self.keeps + to_float(e.label * importance), below * self.keeps + importance)

    # --- models ------------------------------------------------------------------------------

    def saved_text(self) -> str:
        out = [f"marginals size = {len(self.marginals)}\n"]
        for key, (above, below) in sorted(self.marginals.items()):
            name = str(key) if self.called is None else self.called.get(key, "")
            out.append(f"{name}:{short(above)}:{short(below)}\n")
        if self.competes:
            out.append(f"expert_state size = {len(self.experts)}\n")
            for key, pair in self.experts.items():
                numbers = [x for one in (pair.mean, pair.features) for x in (one.regret, one.size, one.weight)]
                out.append(f"{key}:{':'.join(map(short, numbers))}:")
        return "".join(out) + super().saved_text()

    def saved_bytes(self) -> bytes:
        out = [struct.pack("<Q", len(self.marginals))]
        out += [struct.pack("<Qdd", key, *both) for key, both in sorted(self.marginals.items())]
        if self.competes:
            out.append(struct.pack("<Q", len(self.experts)))
            for key, pair in self.experts.items():
                one, other = pair.mean, pair.features
                out.append(
                    struct.pack(
                        "<Q6f", key, one.regret, one.size, one.weight, other.regret, other.size, other.weight
                    )
                )
        return b"".join(out) + super().saved_bytes()

    def load(self, source: Any) -> None:
        for _ in range(source.unpack("<Q")):
            key = source.unpack("<Q")
            self.marginals[key] = source.unpack("<d"), source.unpack("<d")
        if self.competes:
            for _ in range(source.unpack("<Q")):
                key = source.unpack("<Q")
                numbers = [source.unpack("<f") for _ in range(6)]
                self.experts[key] = Pair(Expert(*numbers[:3]), Expert(*numbers[3:]))
        super().load(source)


def _name(letter: int, first: bytes, second: bytes) -> str:
    """The name of an id in a readable model: namespace^feature*id."""
    whole = first if letter != 32 else b"^" + first
    return (whole + b"*" + (second.partition(b"^")[2] if letter != 32 else second)).decode("utf-8", "surrogateescape")
