"""Random streams of examples, and the eager walk of a reference over them."""

from functools import lru_cache
from math import inf, isnan, nan

import numpy as np
from batches import Line

from vwlite.algorithms.losses import LOSSES

CONSTANT = 11650396  # the hash of the constant feature

LABELS = {  # of a loss, or of all that have labels of a kind
    "squared": lambda rng, score: score + rng.normal(0, 0.3),
    "logistic": lambda rng, score: 1.0 if score + rng.logistic(0, 0.3) > 0 else -1.0,
    "any": lambda rng, score: score + rng.normal(0, 0.5),
    "binary": lambda rng, score: 1.0 if score + rng.normal(0, 0.3) > 0 else -1.0,
    "tweedie": lambda rng, score: float(sum(rng.gamma(2, 1, rng.poisson(np.exp(np.clip(score, -4, 2)))))),
    "positive": lambda rng, score: float(rng.gamma(2, np.exp(np.clip(score, -4, 2)))),
    "nonnegative": lambda rng, score: float(rng.poisson(np.exp(np.clip(score, -4, 2)))),
}


def random_stream(seed: int, lines: int, *, loss: str, **options: object) -> list[Line]:
    """Examples of a planted linear model; `_draw` says which options there are.

    Each stream is drawn once, as many tests ask for the same one. The list is the caller's own; the lines are shared,
    and cannot be changed.
    """
    return list(_draw(seed, lines, loss=loss, **options))


@lru_cache(maxsize=64)
def _draw(
    seed: int,
    lines: int,
    *,
    loss: str,
    keys: int = 300,
    width: int = 12,
    repeats: bool = True,
    rare: bool = True,
    scales: bool = True,
) -> tuple[Line, ...]:
    """Over `keys` features, some common, most rare.

    repeats: features that occur twice in an example. rare: unlabelled examples, zero and other importance,
    initial predictions, blank lines, empty examples. scales: features of sizes from 1/30 to 30.
    """
    rng = np.random.default_rng(seed)
    hashes = rng.integers(0, 2**32, keys, dtype=np.uint64)
    truth = rng.normal(0, 1, keys) * (rng.random(keys) < 0.3)
    scale = np.exp(rng.uniform(-3.4, 3.4, keys)) if scales else np.ones(keys)
    popularity = 1 / np.arange(1, keys + 1)
    popularity /= popularity.sum()
    label_of = LABELS.get(loss) or LABELS[LOSSES[loss].labels]
    stream = []
    for _ in range(lines):
        if rare and rng.random() < 0.02:
            stream.append(Line(nan, (), kind=1))
            continue
        size = int(rng.integers(1, width + 1))
        which = rng.choice(keys, min(size, keys), replace=False, p=popularity)
        if repeats and rng.random() < 0.3:
            which = np.append(which, rng.choice(which, 2))
        unit = rng.normal(0, 1, len(which))
        x = (unit * scale[which]).astype(np.float32)
        label = label_of(rng, float(truth[which] @ unit))
        importance, initial = 1.0, 0.0
        if rare:
            label = nan if rng.random() < 0.05 else label
            importance = float(rng.choice([1, 1, 1, 1, 0, 0.3, 2.5]))
            initial = float(rng.choice([0, 0, 0, 0.5, -0.25]))
            if rng.random() < 0.01:
                which = which[:0]
        features = tuple((int(hashes[k]), float(v)) for k, v in zip(which, x, strict=False))
        stream.append(Line(label, features, importance, initial))
    return tuple(stream)


class Walk:
    """A reference that goes through a stream as the learner must: predict, score, learn, in order."""

    def __init__(self, reference, *, bits, constant=True, holdout_period=0, range_of_labels=(0.0, 0.0), largest_p=inf):
        self.reference, self.mask = reference, (1 << bits) - 1
        self.constant, self.holdout_period = constant, holdout_period
        self.low, self.high = range_of_labels
        self.largest_p = largest_p
        self.predictions: list[float] = []

    def run(self, stream: list[Line]) -> None:
        """One pass."""
        counted = 0
        for line in stream:
            counted += 1
            if line.kind != 0:
                continue
            held_out = self.holdout_period and counted % self.holdout_period == 0
            learns = not isnan(line.label) and line.importance > 0 and not held_out
            keys = [h & self.mask for h, _ in line.features]
            values = [x for _, x in line.features]
            if self.constant:
                keys, values = [*keys, CONSTANT & self.mask], [*values, 1.0]
            self.reference.importance = line.importance
            predict = self.reference.predict if learns else getattr(self.reference, "answer", self.reference.predict)
            p = predict(keys, values, line.initial)
            if self.reference.clips:
                if learns:
                    self.low, self.high = min(self.low, line.label), max(self.high, line.label)
                p = min(max(p, self.low, -self.largest_p), self.high, self.largest_p)
            self.predictions.append(p)
            if learns:
                self.reference.learn(keys, values, p, line.label, line.importance)
