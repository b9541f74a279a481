"""The model of `--algorithm auto`: one weight vector, with the state from which `gd` continues it."""

import math
from array import array
from dataclasses import replace
from typing import Any

from vwlite.algorithms.settings import Settings
from vwlite.core.auto.stack import column_of, combined_weights
from vwlite.core.base.arrays import narrowed
from vwlite.core.learn.learner import Learner
from vwlite.errors import DataError
from vwlite.model.centered import LARGEST, NOTHING_PENDING, Dense
from vwlite.model.learners import slots_of
from vwlite.records import record
from vwlite.training.auto.selection import (
    CENTERED,
    COLUMNS,
    KINDS,
    RIDGE,
    GridCandidate,
    PassResult,
    kinds_of,
)

INTERCEPT = "the intercept alone: nothing predicts better than a constant"
STACKED = 0.1  # a kind of lane is named if it has this share of the sum of |u|
ADAPTIVE = 2  # the first kinds of lanes are gd
N_COLUMN, G_COLUMN = COLUMNS, COLUMNS + 1
STATE = G_COLUMN + ADAPTIVE


@record(frozen=True)
class WeightScale:
    """How weights for scaled labels become weights for the labels: w * scale, and the intercept + shift. Derivatives of
    the loss are multiplied by slope."""

    scale: float = 1.0
    shift: float = 0.0
    slope: float = 1.0


def gd_settings(settings: Settings, rate: float, normalize: str) -> Settings:
    """The settings of the model, of `gd`, with the rate of its best lane."""
    kept = {name: getattr(settings, name) for name in vars(settings) if name not in ("algorithm", "learning_rate")}
    usual = Settings.of("gd")
    return replace(usual, **kept | {"learning_rate": rate, "normalize": "none" if normalize in CENTERED else normalize})


def best_kind(result: PassResult) -> int:
    """The kind of gd with the least loss."""
    return min(range(ADAPTIVE), key=lambda k: min(result.losses[k], result.losses[k + KINDS]))


@record(frozen=True)
class ScoreState:
    """The state of `gd` for one score: the fields of its slots by name, the numbers that are not per feature, and the
    intercept in double precision (the fields are 32-bit); None without one."""

    fields: dict[str, Any]
    state: dict[str, float]
    intercept: float | None


def load(learner: Learner, c: GridCandidate, fold: WeightScale, dense: Dense, examples: int) -> float | None:
    """Load the weights of a candidate's best pass into a learner of `gd`. dense: the columns of `center`, else empty.
    examples: their number in a pass. Returns the intercept."""
    assert c.kept is not None
    part = score_state_of(c, 0, fold, dense, examples, learner.expander.constant_key)
    learner.rule.load(part.state, slots_of(learner.rule, c.kept.keys, part.fields))
    return part.intercept


def score_state_of(
    c: GridCandidate, k: int, fold: WeightScale, dense: Dense, examples: int, constant_key: int | None
) -> ScoreState:
    """The weights and the state of a candidate's best pass. k: the class, from 0. Other arguments as in `load`."""
    assert c.best is not None and c.kept is not None
    kept, kind = c.kept, best_kind(c.best)
    columns = memoryview(kept.columns)[k * STATE * len(kept.keys) : (k + 1) * STATE * len(kept.keys)]
    weights = array("d", bytes(8 * len(kept.keys)))
    combined_weights(columns, c.best.u, weights, fold.scale)
    w = narrowed(weights)
    _check_finite(w)
    scalars = kept.scalars[ADAPTIVE * k + kind]
    passes = c.best.number
    # A lane learned a part of the examples of each pass: scale the sum to all examples of all passes.
    squares = fold.slope**2 * examples * passes / scalars["learned"] if scalars["learned"] else 1.0
    N, G = (memoryview(array("f", bytes(4 * len(kept.keys)))) for _ in range(2))
    column_of(columns, N_COLUMN, N)
    column_of(columns, G_COLUMN + kind, G, squares)
    at, intercept = _place_of(constant_key, kept.keys), None
    if at is not None:
        w[at] = intercept = weights[at] + fold.shift - _moved(w, N, kept.keys, dense)
        _check_finite(w[at : at + 1])
    state = {"t": float(examples * passes), "norm_sum": scalars["S"], "weight_sum": scalars["t"], **NOTHING_PENDING}
    return ScoreState({"w": w, "G": G, "N": N}, state, intercept)


def _place_of(key: int | None, keys: Any) -> int | None:
    try:
        found: int = keys.index(key)
        return found
    except ValueError:
        return None


def _moved(w: Any, N: Any, keys: Any, dense: Dense) -> float:
    """The sum of w m over the centered columns, with means m; their scales become those of the values before centering.
    """
    terms = []
    for key, mean, _ in dense:
        at = _place_of(key, keys)  # found soon: at least half of the examples have the key
        if at is not None:
            terms.append(w[at] * mean)
            N[at] = min(N[at] + abs(mean), LARGEST)
    return math.fsum(terms)


def _check_finite(w: Any) -> None:
    if not all(map(math.isfinite, w)):
        raise DataError("the model would have weights that are too large for a 32-bit float: scale the labels or the "
                        "values")


def load_intercept(learner: Learner, value: float, examples: int) -> float:
    """Load an intercept and nothing else into a learner of `gd`. Returns the intercept."""
    keys = constant_keys(learner)
    part = constant_score_state(value, len(keys), examples)
    learner.rule.load(part.state, slots_of(learner.rule, keys, part.fields))
    return value


def constant_keys(learner: Learner) -> memoryview:
    """The key of the constant as an array; empty without a constant."""
    key = learner.expander.constant_key
    return memoryview(array("I", [] if key is None else [key]))


def constant_score_state(intercept: float, keys: int, examples: int) -> ScoreState:
    """The state of a model that is an intercept and nothing else. keys: their number: 1, or 0 without a constant."""
    fields = {name: memoryview(array("f", [x] * keys)) for name, x in (("w", intercept), ("G", 1.0), ("N", 1.0))}
    state = {**dict.fromkeys(("t", "norm_sum", "weight_sum"), float(examples)), **NOTHING_PENDING}
    return ScoreState(fields, state, intercept if keys else None)


def update_of(c: GridCandidate) -> str:
    """The updates that learned the model, as a part of a sentence."""
    assert c.best is not None
    if c.name == RIDGE:
        least = STACKED * sum(map(abs, c.best.u))
        strengths = [f"{s:g}" for s, x in zip(c.rates, c.best.u, strict=True) if abs(x) >= least]
        return f"{'strength' if len(strengths) == 1 else 'stacked strengths'} {', '.join(strengths)}"
    if c.best.is_stacked:
        return f"stacked updates {', '.join(members(c))}"
    kind = kinds_of(c.rates)[c.best.best % KINDS]
    averaged = ", averaged" if c.best.best >= KINDS else ""
    return f"update {kind.replace('(', ' with learning rate ').rstrip(')')}{averaged}"


def members(c: GridCandidate) -> list[str]:
    """The kinds of lanes that the stack of a candidate uses."""
    assert c.best is not None
    u = c.best.u
    sizes = [sum(abs(x) for x in (*u[k::COLUMNS], *u[k + KINDS :: COLUMNS])) for k in range(KINDS)]  # of each quantile
    total = sum(sizes)
    return [kind for kind, size in zip(kinds_of(c.rates), sizes, strict=True) if kind and size >= STACKED * total]
