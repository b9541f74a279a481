"""Drawn batch problems: rows for the compiled core, and the same as a dense reference."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import batch
import numpy as np
from batches import Line, batch_of

from vwlite.core.data.expand import Expander
from vwlite.core.solve.problem import Problem
from vwlite.core.solve.rows import Rows

LOSSES = ("squared", "logistic", "squared-hinge", "poisson")
BITS = 5
PENALTIES = {
    "l1": {},
    "elastic": {"l2": 0.05},
    "weighted": {"c": True},
    "nonnegative": {"nonnegative": True},
    "box": {"box": 0.4},
    "all": {"l2": 0.02, "c": True, "nonnegative": True, "box": 0.6},
}


@dataclass
class Drawn:
    """Lines, the rows made of them, and the dense reference with the columns of these rows."""

    loss: str
    lines: list[Line]
    rows: Rows
    options: dict[str, Any] = field(default_factory=dict)

    def reference(self, **options: Any) -> batch.Problem:
        """The dense problem; a key's values in a line are summed as floats, in order."""
        columns = {key: j for j, key in enumerate(self.rows.keys)}
        used = [line for line in self.lines if line.kind == 0 and line.label == line.label and line.importance > 0]
        x = np.zeros((len(used), len(columns)), np.float32)
        for i, line in enumerate(used):
            for key, value in line.features:
                x[i, columns[key % (1 << BITS)]] += np.float32(value)
        return batch.Problem(
            x.astype(float),
            np.array([line.label for line in used]),
            self.loss,
            importance=np.array([line.importance for line in used]),
            initial=np.array([line.initial for line in used]),
            **(self.options | options),
        )

    def problem(self, **options: Any) -> Problem:
        """The compiled problem of the same strengths."""
        known = self.options | options
        if known.get("c") is not None:
            known["penalty_weights"] = known["c"]
        known.pop("c", None)
        if np.isinf(known.get("box", 0.0)):
            known.pop("box")
        return Problem(self.rows, self.loss, **known)


def rows_of(lines: list[Line], *, blocks: int = 1, bits: int = BITS, numbered: bool = False) -> Rows:
    rows = Rows(Expander(bits=bits, constant=False))
    cuts = np.linspace(0, len(lines), blocks + 1).astype(int)
    for first, last in pairwise(cuts):
        rows.add(batch_of(lines[first:last], numbered=numbered))
    rows.finish()
    return rows


def draw(seed: int, loss: str, *, weighted: bool = True, one_class: bool = False, n: int = 30) -> Drawn:
    """Few examples of a planted model: features repeated in a line, keys that collide, one that is always there, one
    whose values cancel, examples without features, offsets."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, 7)
    lines = []
    for i in range(n):
        x = np.where(rng.random(7) < 0.6, rng.normal(0, 1, 7), 0).astype(np.float32)
        features = [(j, float(v)) for j, v in enumerate(x) if v] if i % 9 else []
        if rng.random() < 0.3 and features:
            features.append(features[0])
        if rng.random() < 0.3:
            features.append((3 + (1 << BITS), 0.5))  # collides with 3
        features += [(20, 1.0), (21, 0.25), (21, -0.25)] if i % 9 else []
        score = float(truth @ x)
        if loss == "squared":
            label = score + rng.normal(0, 1)
        elif loss == "poisson":
            label = float(rng.poisson(np.exp(np.clip(score / 2, -3, 2))))
        else:
            label = 1.0 if score + 2 * rng.logistic() > 0 else -1.0
        if one_class:
            label = 0.0 if loss == "poisson" else abs(label) or 1.0
        importance = float(rng.choice([1, 1, 0, 0.3, 2.5])) if weighted else 1.0
        initial = float(rng.choice([0, 0, 0.5])) if weighted else 0.0
        lines.append(Line(label, features, importance, initial))
    return Drawn(loss, lines, rows_of(lines))


def penalty_of(drawn: Drawn, name: str) -> dict[str, Any]:
    """The options of a penalty, with weights for each column if it has any."""
    options = dict(PENALTIES[name])
    if options.get("c"):
        options["c"] = np.random.default_rng(5).uniform(0.3, 3, len(drawn.rows.keys))
    return options
