"""Drawn batch problems as text for the command line, and what a model says of their weights."""

import numpy as np
from batch import LOSSES
from streams import CONSTANT

from vwlite.model import read_model

SMOOTH = [loss for loss in LOSSES if loss != "hinge"]


class Data:
    """Drawn examples with features 1 to d, as a matrix and as text."""

    def __init__(self, seed: int, loss: str, n: int = 60, d: int = 7) -> None:
        rng = np.random.default_rng(seed)
        self.x = np.round(rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6), 3).astype(np.float32).astype(float)
        score = self.x @ rng.normal(size=d) + rng.normal(size=n)
        self.y = np.where(score > 0.3, 1.0, -1.0)
        if loss == "squared":
            self.y = np.round(score, 2)
        if loss == "poisson":
            self.y = rng.poisson(np.exp(np.clip(score / 3, -3, 2))).astype(float)
        self.h = rng.choice([0.5, 1.0, 2.0], n)

    def text(self) -> str:
        lines = []
        for x, y, h in zip(self.x, self.y, self.h, strict=True):
            features = " ".join(f"{j + 1}:{v:.9g}" for j, v in enumerate(x) if v)
            lines.append(f"{y:g} {h:g} | {features}\n")
        return "".join(lines)

    def gradient(self, loss: str, w: np.ndarray, b: float) -> tuple[np.ndarray, float]:
        """Of the mean loss, by the weights and by the constant."""
        r = self.h / self.h.sum() * LOSSES[loss].dloss(self.x @ w + b, self.y)
        return self.x.T @ r, float(r.sum())

    def mean_loss(self, loss: str, w: np.ndarray, b: float) -> float:
        return float(self.h @ LOSSES[loss].value(self.x @ w + b, self.y) / self.h.sum())


def weights_of(path: object, d: int = 7) -> tuple[np.ndarray, float]:
    """The weights of the features 1 to d of a model, and its constant."""
    model = read_model(str(path))
    found = dict(zip(model.keys.tolist(), model.weights.tolist(), strict=True))
    return np.array([found.get(j + 1, 0.0) for j in range(d)]), found.get(CONSTANT, 0.0)
