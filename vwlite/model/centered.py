"""`--normalize center`: converts a model of centered values to a model of the original values.

    sum of w_i (x_i - m_i) + b_c = sum of w_i x_i + b,  b = b_c - sum of w_i m_i

with the stored weights. The intercept is kept in double precision.
"""

import math
from array import array as array_type
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vwlite.core.base.arrays import narrowed
from vwlite.errors import DataError
from vwlite.model.learners import blank_of, fresh_rule
from vwlite.model.slots import Array, array_of

if TYPE_CHECKING:
    from vwlite.model.file import Model

LARGEST = 3.4028234663852886e38  # float
NOTHING_PENDING = {"gravity": 0.0, "contraction": 1.0}  # of the lazy updates of `gd`

Dense = Sequence[tuple[int, float, bool]]  # of each centered column: key, mean, whether all values are equal


def folded(model: "Model", dense: Dense, constant_key: int) -> "Model":
    """Convert a model of centered values to the original values.

    If the slots store the weights themselves, the state is kept and `-i` continues the model; else it has no state.
    """
    model = with_key(model, constant_key)
    records, keys = model.records, model.keys
    at = bisect_left(keys, constant_key)
    unseen = model.rule.get("unseen", 0.0)
    weights = array_of(bytearray(bytes(model.weights)), "d")
    places = [(i if (i := bisect_left(keys, key)) < len(keys) and keys[i] == key else None) for key, _, _ in dense]
    for k in range(records):
        other = unseen[k] if isinstance(unseen, list) else unseen
        found = [other if i is None else weights[i * records + k] for i in places]
        moved = math.fsum(w * mean for w, (_, mean, _) in zip(found, dense, strict=True))
        weights[at * records + k] -= moved
        if not abs(weights[at * records + k]) <= LARGEST:
            raise DataError("the intercept would be too large for a 32-bit float: scale the values")
    found_model = replace(model, weights=weights, chosen={"normalize": "center", "columns": len(dense)})
    if not has_weights(model):
        some = any(unseen) if isinstance(unseen, list) else unseen
        kept = {"unseen": unseen} if some else {}
        return replace(found_model, rule=kept, state={}, more={}, weights_only=True)
    state = dict(model.state)
    if "N" in state:  # gd: scales of the values as they are, and no updates that are pending
        state |= {"w": narrowed(weights), "N": _scales(state["N"], places, dense, records)}
        pending = {name: [x] * records if records > 1 else x for name, x in NOTHING_PENDING.items()}
        return replace(found_model, rule=model.rule | pending, state=state)
    state["w"] = array_of(bytearray(bytes(state["w"])), state["w"].format)
    for k in range(records):
        state["w"][at * records + k] = weights[at * records + k]
    return replace(found_model, state=state)


def has_weights(model: "Model") -> bool:
    """Whether slots have the weights themselves, and the model has all of them."""
    return "w" in model.state and "sum" not in model.state and not model.settings.nonzeros


def _scales(scales: Array, places: "list[int | None]", dense: Dense, records: int) -> Array:
    found = array_of(bytearray(bytes(scales)), "f")
    for i, (_, mean, _) in zip(places, dense, strict=True):
        if i is not None:
            for j in range(i * records, (i + 1) * records):
                found[j] = min(found[j] + abs(mean), LARGEST)
    return found


def with_constant_columns(model: "Model", dense: Dense) -> "Model":
    """The model with keys, of weight 0, for the columns that have the same value in all rows. Centered, they are
    nothing, but they were seen in training: without a key they would be unknown features of the data. A rule that
    gives unseen features a weight gives it to these."""
    for key, _, is_constant in () if model.rule.get("unseen") else dense:
        model = with_key(model, key) if is_constant else model
    return model


def with_key(model: "Model", key: int) -> "Model":
    """The model with a slot for a key: a new slot, if there was none."""
    at, k = bisect_left(model.keys, key), model.records
    if at < len(model.keys) and model.keys[at] == key:
        return model

    def put(array: Array, value: Any, count: int) -> Array:
        items = array.tolist()
        items[at * count : at * count] = [value] * count
        return array_of(bytearray(array_type(array.format, items).tobytes()), array.format)

    rule = fresh_rule(model.settings)
    state = {name: put(array, blank_of(rule, name), k) for name, array in model.state.items()}
    return replace(model, keys=put(model.keys, key, 1), weights=put(model.weights, 0.0, k), state=state)
