"""Crosses of low rank with a vector for each pair of fields: lrqfa."""

from itertools import combinations
from math import sqrt

from vwlite.vw.arguments import Arguments, unescaped
from vwlite.vw.layers.base import Current, Layer
from vwlite.vw.layers.lrq import Lrq, Spaces
from vwlite.vw.messages import Critical
from vwlite.vw.setup import Setup


class Lrqfa(Lrq):
    """Low rank crosses with a vector for every pair of fields: a field-aware factorization."""

    option = name = "lrqfa"

    @classmethod
    def models(cls, a: Arguments) -> int:
        fields, rank = _fields(a)
        return 1 + rank * len(fields)

    def __init__(self, base: Layer, s: Setup) -> None:
        Layer.__init__(self, base, s)
        fields, self.rank = _fields(s.arguments)
        self.setup, self.fields = s, fields.encode()
        self.ids = {letter: i for i, letter in enumerate(self.fields)}
        # The second turn finds the keys of the first one before its own, because Vowpal Wabbit leaves them there.
        self.held: dict[int, list[int]] = {}

    def run(self, e: Current, learns: bool) -> None:
        self.held.clear()
        super().run(e, learns)

    def _products(self, e: Current, spaces: Spaces, second: int, learns: bool) -> list[tuple[int, float, bytes]]:
        found: dict[int, list[tuple[int, float, bytes]]] = {}
        rank, ids = self.rank, self.ids
        for one, other in combinations(self.fields, 2):
            left, right = (one, other) if second else (other, one)
            for base, x, _ in spaces.get(left, ()):
                for n in range(1, rank + 1):
                    # As in Vowpal Wabbit, this is the first model's weight even where others learn.
                    w = self._weight(base + ids[right] * rank + n, 0.5 / sqrt(rank), learns)
                    for key, y, name in spaces.get(right, ()):
                        product = key + ids[left] * rank + n, w * x * y, b"lrqfa^%c^%s^%d" % (right, name, n)
                        found.setdefault(right, []).append(product)
        out = []
        for right, products in found.items():
            keys = self.held.setdefault(right, [])
            keys += [key for key, _, _ in products]
            out += [(key, x, name) for key, (_, x, name) in zip(keys, products, strict=False)]
        return out


def _fields(a: Arguments) -> tuple[str, int]:
    text = unescaped(a["lrqfa"])
    if ":" in text:
        raise Critical("--lrqfa does not support wildcards ':'", "lrqfa.cc", 151)
    fields = text.rstrip("0123456789")
    if not fields or not 0 < len(text) - len(fields) < 10:
        raise Critical(f"lrqfa needs namespaces and a rank: {text}", "lrqfa.cc", 150)
    return fields, int(text[len(fields) :])
