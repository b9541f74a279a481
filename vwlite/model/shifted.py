"""A model with another intercept."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vwlite.model.learners import make_expander
from vwlite.model.slots import array_of

if TYPE_CHECKING:
    from vwlite.model.file import Model


def shifted(model: "Model", shift: Sequence[float]) -> "Model":
    """The model of `--algorithm auto`, whose state has the weights themselves, with another intercept.

    shift: what is added to it, a number for each class; empty: nothing. ValueError: it is of other classes, or the
    model has no intercept.
    """
    if not shift:
        return model
    key, n = make_expander(model.settings).constant_key, model.records
    at = bisect_left(model.keys, key) if key is not None else len(model.keys)
    if len(shift) != n or at == len(model.keys) or model.keys[at] != key:
        raise ValueError("a shift has a number for the intercept of each class")
    weights, w = (array_of(bytearray(bytes(x)), x.format) for x in (model.weights, model.state["w"]))
    for k, x in enumerate(shift):
        weights[at * n + k] += x
        w[at * n + k] = weights[at * n + k]
    return replace(model, weights=weights, state=model.state | {"w": w})
