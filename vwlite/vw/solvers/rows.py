"""The examples of a batch solver: a sparse matrix, and the targets of each row."""

from array import array
from dataclasses import dataclass
from math import copysign, isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from vwlite.core.learn.losses import Loss
from vwlite.vw.layers.base import Current

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]


def dot(*factors: npt.NDArray[Any]) -> float:
    """The sum of the products, in double precision."""
    product = factors[0].astype(np.float64)
    for factor in factors[1:]:
        product *= factor
    return float(product.sum())


def ratio(a: float, b: float) -> float:
    """a / b, also where b is 0; 0 / 0 is -NaN, as processors have it."""
    if b or isnan(a):
        return a / b if b else a
    return copysign(float("inf"), a) * copysign(1.0, b) if a else -float("nan")


class ExampleMatrix:
    """Examples as a sparse matrix, one row for each time that the model was asked."""

    def __init__(self) -> None:
        self._keys, self._values = array("I"), array("f")
        self._sizes, self._initial = array("I"), array("f")
        self.columns = np.zeros(0, np.intp)

    def __len__(self) -> int:
        return len(self._sizes)

    def add(self, keys: list[int], values: list[float], initial: float) -> None:
        """Another row."""
        self._keys.extend(keys)
        self._values.extend(values)
        self._sizes.append(len(keys))
        self._initial.append(initial)

    def freeze(self, more: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """End the rows. Returns the keys of the columns, ascending: those of the rows and some more."""
        keys = np.asarray(self._keys, np.uint32)
        found: npt.NDArray[np.uint32] = np.union1d(keys, more)
        self.columns = np.searchsorted(found, keys)
        self.values = np.asarray(self._values, np.float32)
        self.initial = np.asarray(self._initial, np.float32)
        self.rows = np.repeat(np.arange(len(self)), np.asarray(self._sizes, np.intp))
        self._keys = array("I")
        return found

    def times(self, v: Floats) -> Floats:
        """For each row x with the initial prediction b, <v, x> + b."""
        p: Floats = self.initial.copy()
        np.add.at(p, self.rows, v[self.columns] * self.values)
        return p

    def add_to(self, v: Floats, factors: Floats, power: int = 1) -> None:
        """Add to v each row, or its squares, times its factor."""
        terms = factors[self.rows] * self.values
        if power == 2:
            terms *= self.values
        np.add.at(v, self.columns, terms)


@dataclass
class Responses:
    """The targets that the layers above set for the rows in a pass."""

    labels: "array[float]"
    weights: "array[float]"
    learned: "array[int]"  # 1: to be learned
    held: "array[int]"  # 1: held out

    @classmethod
    def none(cls) -> "Responses":
        return cls(array("f"), array("f"), array("b"), array("b"))

    def add(self, e: Current, learned: bool) -> None:
        self.labels.append(e.label)
        self.weights.append(e.weight)
        self.learned.append(learned)
        self.held.append(e.held)

    def evaluate(self, loss: Loss, p: Floats) -> Doubles:
        """The loss of each prediction and its first two derivatives, not weighted: three rows."""
        found = np.empty((3, len(p)))
        loss.evaluate_each(p.astype(np.float64), np.asarray(self.labels, np.float32).astype(np.float64), *found)
        return found
