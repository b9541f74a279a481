"""Vowpal Wabbit's random numbers, and random weights."""

import struct
from array import array
from math import log, remainder, sqrt

MASK = 0xFFFFFFFFFFFFFFFF


class Random:
    """Its generator: 64 bits of state, 23 of which make a float in [0, 1)."""

    def __init__(self, seed: int = 0) -> None:
        self.state = seed

    def next(self) -> float:
        """The next number."""
        self.state = (self.state * 0xEECE66D5DEECE66D + 2147483647) & MASK
        return uniform(self.state)


def uniform(state: int) -> float:
    """The float in a state."""
    bits = ((state >> 25) & 0x7FFFFF) | 0x3F800000
    return struct.unpack("<f", struct.pack("<I", bits))[0] - 1.0  # type: ignore[no-any-return]


def normal(seed: int) -> float:
    """A normal number by Box and Muller, from a state that is the seed."""
    random = Random(seed)
    while True:
        x, y = 2 * random.next() - 1, 2 * random.next() - 1
        q = x * x + y * y
        if 0 < q < 1:
            return x * sqrt(-2 * log(q) / q)


def uniform_weights(slots: int, random: Random) -> "array[float]":
    return array("f", (random.next() - 0.5 for _ in range(slots)))


def normal_weights(slots: int, stride: int, truncated: bool) -> "array[float]":
    """Normal weights; truncated: those beyond two standard deviations are folded back."""
    weights = array("f", (normal(slot * stride) for slot in range(slots)))
    if truncated:
        deviation = sqrt(sum(w * w for w in weights) / slots)
        edge = 2 * deviation
        for i, w in enumerate(weights):
            if abs(w) > edge:
                weights[i] = remainder(w, edge)
    return weights
