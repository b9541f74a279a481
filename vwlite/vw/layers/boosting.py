"""Online boosting: Beygelzimer, Kale, Luo. Optimal and Adaptive Algorithms for Online Boosting, ICML 2015."""

import struct
from math import comb, exp, floor, isfinite, sqrt
from typing import Any

from vwlite.vw.arguments import Arguments
from vwlite.vw.layers.base import Current, Layer
from vwlite.vw.messages import short
from vwlite.vw.models.binary import damaged
from vwlite.vw.setup import Setup
from vwlite.vw.text.parser import to_float


class Boosting(Layer):
    """Online boosting: BBM, logistic or adaptive."""

    option = "boosting"
    ensemble = True
    predicts_first = True

    @classmethod
    def models(cls, a: Arguments) -> int:
        return int(a["boosting"])

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        a, rounds = s.arguments, self.width
        self.variant, self.gamma, self.random = a.get("alg", "BBM"), to_float(a.get("gamma", 0.1)), s.random
        self.name = "boosting" if self.variant == "BBM" else f"boosting-{self.variant}"
        self.statistics, self.quiet = s.statistics, a.flag("quiet")
        self.alpha = [0.0] * rounds
        self.v = [1.0] * rounds
        self.t = 0
        self.streams.info(f"Number of weak learners = {rounds}")
        self.streams.info(f"Gamma = {shortest(self.gamma)}")

    def predict(self, e: Current) -> None:
        total, passed = 0.0, 0.0
        stop = self.random.next() if self.variant == "adaptive" else float("inf")
        for i in range(self.width):
            self.predict_with(e, i)
            if passed > stop:
                break
            total += e.prediction * (1.0 if self.variant == "BBM" else self.alpha[i])
            passed += self.v[i]
        e.prediction = to_float(total)

    def learn(self, e: Current) -> None:
        weight, s, total = e.weight, 0.0, 0.0
        self.t += 1
        eta = 4 / sqrt(self.t)
        adaptive = self.variant == "adaptive"
        stop = self.random.next() if adaptive else float("inf")
        passed = partial = norm = 0.0
        for i in range(self.width):
            e.weight = weight * (self._bbm(i, s) if self.variant == "BBM" else 1 / (1 + _safe_exp(s)))
            self.predict_with(e, i)
            z = e.label * e.prediction
            if self.variant == "BBM":
                s += z
                total += e.prediction
            else:
                s += z * self.alpha[i]
                if passed <= stop:
                    total += e.prediction * self.alpha[i]
                if adaptive:
                    partial += e.prediction * self.alpha[i]
                    passed += self.v[i]
                    if e.label * partial < 0:
                        self.v[i] = to_float(self.v[i] * 0.36788)
                    norm += self.v[i]
                self.alpha[i] = to_float(min(max(self.alpha[i] + eta * z / (1 + _safe_exp(s)), -2.0), 2.0))
            self.learn_with(e, i)
        if adaptive and norm:
            self.v = [to_float(v / norm) for v in self.v]
        e.weight = weight
        e.prediction = to_float(total)

    def _bbm(self, i: int, s: float) -> float:
        left = self.width - (i + 1)
        if not isfinite(s):
            return 0.0
        k = floor((self.width - i - s) / 2)
        if k > left or k < 0:
            return 0.0
        return float(comb(left, k) * (0.5 + self.gamma) ** k * (0.5 - self.gamma) ** (left - k))

    # --- models: BBM keeps nothing ---------------------------------------------------------

    def _kept(self) -> list[tuple[str, float]]:
        kept = [("alpha", x) for x in self.alpha] if self.variant != "BBM" else []
        return kept + [("v", x) for x in self.v] if self.variant == "adaptive" else kept

    def _tell(self, what: str) -> None:
        """Print the stored values, as Vowpal Wabbit does whenever it reads or writes a model."""
        if self.variant == "adaptive":
            rows = [f"{shortest(alpha)} {shortest(v)}" for alpha, v in zip(self.alpha, self.v, strict=True)]
            self.streams.info("\n".join([what.format("alpha and v"), *rows, ""]))
        elif self.variant == "logistic" and not self.quiet:
            self.streams.info("\n".join([what.format("alpha"), *map(shortest, self.alpha), ""]))

    def _tell_saved(self) -> None:
        self._tell(f"Saving {{}}, current weighted_examples = {shortest(self.statistics.weight)}")

    def saved_text(self) -> str:
        kept = self._kept()
        self._tell_saved()
        lines = [f"boosts {self.width}\n"] if kept else []
        return "".join(lines + [f"{name} {short(x)}\n" for name, x in kept]) + super().saved_text()

    def saved_bytes(self) -> bytes:
        kept = self._kept()
        self._tell_saved()
        head = struct.pack("<i", self.width) if kept else b""
        return head + b"".join(struct.pack("<f", x) for _, x in kept) + super().saved_bytes()

    def load(self, source: Any) -> None:
        if self.variant != "BBM":
            if source.unpack("<i") != self.width:
                raise damaged(source.path, "it has another number of weak learners")
            self.alpha = [source.unpack("<f") for _ in range(self.width)]
            if self.variant == "adaptive":
                self.v = [source.unpack("<f") for _ in range(self.width)]
            self._tell("Loading {}: ")
        super().load(source)


def shortest(x: float) -> str:
    """The shortest digits that give the same 32-bit float, as Vowpal Wabbit's log shows numbers."""
    for digits in range(1, 10):
        text = f"{x:.{digits}g}"
        if to_float(float(text)) == to_float(x):
            break
    return text


def _safe_exp(x: float) -> float:
    return exp(min(x, 700.0))
