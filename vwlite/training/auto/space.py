"""The search space of `vwlite tune`: options of `vwlite train`, in units that are the same for all algorithms and data.

A learning rate is relative to the step that suits the size of the examples; an l1 is relative to the smallest one that
leaves no weight. The points of an algorithm are those of Halton's sequence: evenly spread over all options, and always
the same.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from vwlite.algorithms.checks import refused
from vwlite.algorithms.settings import SPECS
from vwlite.algorithms.table import ALGORITHMS, AUTO, Algorithm
from vwlite.errors import UsageError
from vwlite.options.spec import option_name

USUAL = ("gd", "adagrad", "adagrad-rda", "ftrl")  # besides auto
NORMALIZATIONS = ("none", "l2", "log")
POINTS = 32  # of each algorithm
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)
NEAR = 0.1  # an option of a near point differs by at most this share of its range


class Scale(NamedTuple):
    """The units of rates and strengths, for a normalization of the data.

    largest: the smallest l1 that leaves no weight. length: of examples. deviation: of labels. examples: in a pass.
    """

    largest: float = 1.0
    length: float = 1.0
    deviation: float = 1.0
    examples: float = 1.0


class Value(NamedTuple):
    """A value of an option: the text on the command line, and the parsed value."""

    text: str
    value: Any


Setting = dict[str, Value]  # by option of `vwlite train`


@dataclass(frozen=True)
class Values:
    """Values to choose from."""

    values: tuple[Value, ...]

    @staticmethod
    def of(*words: str) -> "Values":
        """Values whose text is the value."""
        return Values(tuple(Value(word, word) for word in words))

    @property
    def meant(self) -> list[Any]:
        return [value for _, value in self.values]

    def at(self, u: float) -> Value:
        return self.values[min(int(u * len(self.values)), len(self.values) - 1)]


@dataclass(frozen=True)
class Range:
    """Numbers between two limits. zero: the share of the points that are 0."""

    low: float
    high: float
    log: bool = True
    whole: bool = False
    zero: float = 0.0

    def at(self, u: float) -> Value:
        """A value with few digits, as a user would type it. u: in [0, 1)."""
        if u < self.zero:
            return Value("0", 0.0)
        u = (u - self.zero) / (1 - self.zero)
        x = self.low * (self.high / self.low) ** u if self.log else self.low + u * (self.high - self.low)
        text = str(round(x)) if self.whole else f"{x:.3g}"
        return Value(text, int(text) if self.whole else float(text))

    def times(self, unit: float) -> "Range":
        return replace(self, low=self.low * unit, high=self.high * unit)


Dimension = Values | Range


class Point(NamedTuple):
    """A setting as a point of the unit cube: the place of each option in its range."""

    algorithm: str
    at: tuple[float, ...]


@dataclass(frozen=True)
class Space:
    """narrowed: the values of `--try`, by option. scales: by normalization; empty: not known yet."""

    narrowed: Mapping[str, Dimension]
    loss: str = "logistic"
    scales: Mapping[str, Scale] = ()  # type: ignore[assignment]

    @property
    def has_auto(self) -> bool:
        named = self.narrowed.get("algorithm")
        return not isinstance(named, Values) or AUTO.name in named.meant

    def algorithms(self) -> list[str]:
        """The algorithms to try besides auto. UsageError if --try leaves none."""
        options = [name for name in self.narrowed if name != "algorithm"]
        named = self.narrowed.get("algorithm")
        if isinstance(named, Values):
            for name in named.meant:
                for option in options:
                    if name != AUTO.name and option in refused(ALGORITHMS[name]):
                        why = refused(ALGORITHMS[name])[option]
                        raise UsageError(f"--try {option_name(option)[2:]} has no effect with --algorithm {name}: "
                                         f"{why}")
            return [name for name in named.meant if name != AUTO.name]
        fit = [a.name for a in ALGORITHMS.values() if self.loss in a.losses and not set(options) & set(refused(a))]
        found = [name for name in fit if name in USUAL] or fit
        if not found:
            listed = " and ".join(option_name(name)[2:] for name in options)
            raise UsageError(f"--try {listed}: no algorithm with --loss {self.loss} takes that")
        return found

    @property
    def normalizations(self) -> Values:
        named = self.narrowed.get("normalize")
        return named if isinstance(named, Values) else Values.of(*NORMALIZATIONS)

    def _dimensions(self, algorithm: str, scale: Scale) -> dict[str, Dimension]:
        """The options to try, with their values; the normalization is the first."""
        a = ALGORITHMS[algorithm]
        found: dict[str, Dimension] = {"normalize": self.normalizations}
        if a.rate:
            found[a.rate] = _rates(a, scale, bounded=self.loss in ("quantile", "huber"))
        if algorithm == "ftrl":
            found["ftrl_beta"] = Values((Value("0.1", 0.1), Value("1", 1.0)))
        if "l1" in a.options and "nonzeros" not in self.narrowed:
            sums = scale.examples if algorithm == "ftrl" else 1.0  # its l1 is for sums, that of others for means
            found["l1"] = Range(1e-4, 0.3, zero=0.25).times(scale.largest * sums)
        others = ("algorithm", "passes")
        return found | {name: x for name, x in self.narrowed.items() if name not in others}

    def points(self, algorithm: str) -> list[Point]:
        """The points with which the search begins: all, if they are few."""
        dimensions = self._dimensions(algorithm, Scale()).values()
        sizes = [len(x.values) if isinstance(x, Values) else POINTS + 1 for x in dimensions]
        if math.prod(sizes) <= POINTS:
            places = ([(k + 0.5) / size for k in range(size)] for size in sizes)
            return [Point(algorithm, at) for at in product(*places)]
        return [Point(algorithm, _halton(k, len(sizes))) for k in range(1, POINTS + 1)]

    def near(self, point: Point, number: int) -> Point:
        """A point near another: numbers differ a little, other values are the same."""
        dimensions = self._dimensions(point.algorithm, Scale()).values()
        moves = _halton(number, len(point.at))
        at = (
            u if isinstance(x, Values) else min(max(u + NEAR * (2 * move - 1), 0.0), 1.0)
            for x, u, move in zip(dimensions, point.at, moves, strict=True)
        )
        return Point(point.algorithm, tuple(at))

    def setting(self, point: Point, share: float = 1.0) -> Setting:
        """The options of a point. share: the share of the examples that is learned."""
        scale = Scale()
        if self.scales:
            scale = self.scales[self.normalizations.at(point.at[0]).value]
            scale = scale._replace(examples=scale.examples * share)
        found = {"algorithm": Value(point.algorithm, point.algorithm), "loss": Value(self.loss, self.loss)}
        for (name, x), u in zip(self._dimensions(point.algorithm, scale).items(), point.at, strict=True):
            if (value := x.at(u)).text != SPECS[name].default_text():
                found[name] = value
        return found


def words_of(setting: Setting) -> list[str]:
    """The words of a setting on the command line."""
    return [word for name, value in setting.items() for word in (SPECS[name].long, value.text)]


def _rates(a: Algorithm, scale: Scale, *, bounded: bool) -> Range:
    """The learning rates to try. bounded: the derivative of the loss does not grow with the labels."""
    if a.name == "gd":  # normalizes values by itself
        return Range(0.2, 20).times(scale.deviation)
    if a.rate == "ftrl_alpha" or a.name.startswith("adagrad"):
        return Range(0.1, 10).times(scale.deviation / scale.length)
    return Range(0.1, 100).times((scale.deviation if bounded else 1.0) / scale.length**2)


def _halton(number: int, size: int) -> tuple[float, ...]:
    """A point of Halton's sequence: its number with reversed digits, in another base for each dimension."""
    found = []
    for base in PRIMES[:size]:
        u, part, rest = 0.0, 1.0, number
        while rest:
            part /= base
            u += part * (rest % base)
            rest //= base
        found.append(u)
    return tuple(found)
