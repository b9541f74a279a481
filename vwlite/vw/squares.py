"""Vowpal Wabbit's sum of the squares of an example's features, where it is not that of the features that are learned.

It adds up what each namespace has noted of its own: those of --ignore_linear too, and of --sort_features and
--feature_limit some of what was left out. The squares of interactions are made of these sums.
"""

from collections.abc import Callable
from itertools import groupby

from vwlite.core.data.expand import Expander
from vwlite.vw.layers.base import Current
from vwlite.vw.text.examples import spans_of


class Squares:
    """The excess of the sum over the squares of the features that are learned.

    dropped: namespaces that are not there at all; not_linear: those only of interactions.
    """

    def __init__(
        self, expander: Expander, dropped: Callable[[int], bool], not_linear: bytes, permutations: bool
    ) -> None:
        self.expander, self.dropped, self.not_linear = expander, dropped, not_linear
        self.permutations = permutations

    def more(self, e: Current) -> float:
        values: dict[int, list[float]] = {}
        for letter, begin, end in spans_of(e.batch, e.line):
            if not self.dropped(letter):
                values.setdefault(letter, []).extend(e.batch.value[begin:end])
        true = {letter: sum(x * x for x in own) for letter, own in values.items()}
        noted = {letter: square + e.excess.get(letter, 0.0) for letter, square in true.items()}
        more = sum(noted[letter] - (0.0 if letter in self.not_linear else true[letter]) for letter in values)
        if e.excess:
            for term in self.expander.terms:
                more += self._crossed(term, values, noted) - self._crossed(term, values, true)
        return more

    def _crossed(self, term: bytes, values: dict[int, list[float]], squares: dict[int, float]) -> float:
        """The sum of squares of an interaction. A namespace that occurs in it more than once needs the values."""
        product = 1.0
        for letter, run in groupby(term):
            times = len(list(run))
            if times == 1 or self.permutations:
                product *= squares.get(letter, 0.0) ** times
            else:
                product *= _combined(values.get(letter, []), times)
        return product


def _combined(values: list[float], times: int) -> float:
    """The sum of the squares of all products of `n` values, with repetition."""
    sums = [1.0] + [0.0] * times
    for x in values:
        for i in range(times):
            sums[i + 1] += sums[i] * x * x
    return sums[times]
