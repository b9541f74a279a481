"""Crosses of low rank: lrq. Rendle. Factorization Machines, ICDM 2010."""

from vwlite.vw.arguments import Arguments, unescaped
from vwlite.vw.layers.base import Current, Layer, Symmetric
from vwlite.vw.messages import Critical, Refused
from vwlite.vw.random import Random, uniform
from vwlite.vw.setup import Setup
from vwlite.vw.text.examples import example_of

Spaces = dict[int, list[tuple[int, float, bytes]]]


def merand(x: int) -> float:
    """Vowpal Wabbit's number for a seed."""
    return uniform((x * 0xEECE66D5DEECE66D + 2147483647) & 0xFFFFFFFFFFFFFFFF)


def _pairs(a: Arguments) -> list[tuple[int, int, int]]:
    """The pairs of namespaces and their ranks, sorted, without duplicates."""
    pairs = []
    for text in sorted({unescaped(value) for value in a["lrq"]}):
        if ":" in text:
            raise Critical("--lrq does not support wildcards ':'", "lrq.cc", 184)
        if len(text) < 3 or not (text[2:].isdecimal() and len(text) < 12):
            raise Critical("Low-rank quadratic features must involve two sets and a rank: " + text, "lrq.cc", 209)
        pairs.append((ord(text[0]), ord(text[1]), int(text[2:])))
    return pairs


class Lrq(Symmetric):
    """Low rank quadratic features: each feature has vectors of weights, which multiply those of another namespace.

    An example is learned twice, once with each side of a pair fixed.
    """

    option = name = "lrq"

    @classmethod
    def models(cls, a: Arguments) -> int:
        return 1 + max(rank for _, _, rank in _pairs(a))

    @classmethod
    def check(cls, a: Arguments) -> None:
        if "ftrl" in a:
            raise Refused(f"--{cls.option} with --ftrl", "its weights are computed from sums, without random values")

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        self.setup = s
        self.pairs, self.dropout = pairs, dropout = _pairs(s.arguments), s.arguments.flag("lrqdropout")
        self.random = Random(s.random.state | 8675309)
        words = "".join(f"{chr(one)}{chr(other)}{rank} " for one, other, rank in pairs)
        s.header_lines.append(
            f"creating low rank quadratic features for pairs: {'(using dropout) ' if dropout else ''}{words}"
        )
        letters = [letter for one, other, _ in pairs for letter in (one, other)]
        for letter in sorted(set(letters)):
            if letters.count(letter) > 1:
                s.streams.warn(
                    f"Namespace '{chr(letter)}' appears in {letters.count(letter)} LRQ pairs. This may cause weight "
                    "collisions."
                )

    def run(self, e: Current, learns: bool) -> None:
        stepper = self.bottom.stepper
        keys, values = stepper.features()
        spaces = _bare_spaces(e, self.setup, stepper.shift)
        which = e.counter if learns else 0
        shown = loss = confidence = 0.0
        for turn in range(2 if learns else 1):
            more = self._products(e, spaces, (which + turn) % 2, learns)
            stepper.set(keys + [key for key, _, _ in more], values + [x for _, x, _ in more])
            e.more_names = [name for _, _, name in more]
            self.pass_on(e, learns)
            if turn == 0:
                shown, loss, confidence = e.prediction, e.loss, e.confidence
        stepper.set(keys, values)
        e.more_names = []
        e.prediction, e.loss, e.confidence = shown, loss, confidence

    def _products(self, e: Current, spaces: Spaces, second: int, learns: bool) -> list[tuple[int, float, bytes]]:
        """Key, value and name of the features that one of the two updates adds."""
        drops = self.dropout and learns
        scale = 0.5 if self.dropout and not drops else 1.0
        found = []
        for one, other, rank in self.pairs:
            left, right = (other, one) if second else (one, other)
            for base, x, _ in spaces.get(left, ()):
                for n in range(1, rank + 1):
                    if drops and self.random.next() <= 0.5:
                        continue
                    w = self._weight(base + e.model + n, 1.0, learns)
                    for key, y, name in spaces.get(right, ()):
                        found.append((key + n, scale * w * x * y, b"lrq^%c^%s^%d" % (right, name, n)))
        return found

    def _weight(self, place: int, size: float, learns: bool) -> float:
        """The weight at an index; nonzero once it has been learned."""
        stepper = self.bottom.stepper
        w = float(stepper.weight(place & 0xFFFFFFFF))
        if learns and w == 0:
            w = merand(place * self.setup.plan.stride) * size
            stepper.set_weight(place & 0xFFFFFFFF, w)
        return w


def _bare_spaces(e: Current, s: Setup, shift: int) -> Spaces:
    """Index in model 0, not cut to the table, value and bare name of the features of each namespace that is kept."""
    example = example_of(e.batch, e.line, e.names)
    mask = (1 << s.plan.bits) - 1
    return {
        letter: [
            ((h & mask) << shift, x, name if letter == 32 else name.partition(b"^")[2])
            for h, x, name in zip(space.hashes, space.values, space.names, strict=True)
        ]
        for letter, space in example.spaces.items() if not s.plan.shape.dropped(letter)
    }
