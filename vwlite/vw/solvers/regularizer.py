"""The regularizer of a batch solver, and its files."""

from array import array

import numpy as np
import numpy.typing as npt

from vwlite.vw.solvers.rows import Floats
from vwlite.vw.solvers.weights import Weights


class Regularizer:
    """sum_j r_j (w_j - u_j)^2 / 2. By slot if a file says so; else all r_j are l2, and the u_j are 0."""

    def __init__(self, l2: float) -> None:
        self.l2 = l2
        self.given = False  # by a file
        self.keys = np.zeros(0, np.uint32)  # the slots in the file
        self.r = self.u = np.zeros(0, np.float32)
        self.written = 0  # files

    def take(self, slots: "array[int]", floats: "array[float]") -> None:
        """Slots and floats as a file has them: r at 2 j, u at 2 j + 1."""
        self.given = True
        found = np.asarray(slots, np.int64)
        self.keys = np.unique(found >> 1).astype(np.uint32)
        both = np.zeros((len(self.keys), 2), np.float32)
        both[np.searchsorted(self.keys, found >> 1), found & 1] = np.asarray(floats, np.float32)
        self.r, self.u = both[:, 0].copy(), both[:, 1].copy()

    def over(self, keys: npt.NDArray[np.uint32]) -> tuple[Floats, Floats]:
        """r and u for these slots, which are all that the file has or more."""
        r = np.full(len(keys), 0 if self.given else self.l2, np.float32)
        u = np.zeros(len(keys), np.float32)
        at = np.searchsorted(keys, self.keys)
        r[at], u[at] = self.r, self.u
        return r, u

    def following(
        self, weights: Weights, keys: npt.NDArray[np.uint32], bits: int
    ) -> tuple["array[int]", "array[float]"]:
        """Slots and floats for a file: u is w; r grows by the inverse preconditioner, again with every file written."""
        self.written += 1
        more = np.zeros_like(weights.h)
        np.divide(1, weights.h, out=more, where=weights.h > 0)
        if not self.given:  # slots that no example has are regularized as well
            slots = np.arange(1 << bits)
            both = np.zeros((len(slots), 2), np.float32)
            both[:, 0] = self.l2 * (1 + self.written)
            both[keys] = np.stack([weights.r + self.written * more, weights.w], axis=1)
        else:
            slots = keys.astype(np.int64)
            both = np.stack([weights.r + self.written * more, weights.w], axis=1).astype(np.float32)
        places = np.stack([2 * slots, 2 * slots + 1], axis=1)
        kept = both != 0
        return array("Q", places[kept].astype(np.uint64).tobytes()), array("f", both[kept].tobytes())
