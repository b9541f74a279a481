"""The model of the sample with other weights: those of the fit over all shards."""

from array import array
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite.model import Model
from vwlite.model.header import COUNTERS
from vwlite.model.learners import make_expander
from vwlite.model.slots import array_of
from vwlite.training.shards.rows import Unit

LEAST_STATE = 1e-19  # of the sums of squares and the largest values that gd goes on with


def weights_of(model: Model, keys: Any, unit: Unit) -> Any:
    """The weights of a model as the fit has them: of these features and the intercept, in the unit."""
    return unit.unfold(aligned(model, keys, np.asarray(model.weights)))


def aligned(model: Model, keys: Any, values: Any) -> Any:
    """The numbers that a model has of its keys, of these features and of the intercept; 0 where it has none."""
    known = np.asarray(model.keys)
    constant_key = make_expander(model.settings).constant_key
    wanted = np.append(keys, keys[:1] if constant_key is None else constant_key).astype(np.uint32)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    found = np.where((known[at] == wanted)[:, None], values.reshape(len(known), -1)[at], 0.0)
    if constant_key is None:
        found[-1] = 0.0
    return found


def products_of(model: Model, keys: Any) -> Any:
    """A mask of the features that are cells of products."""
    settings = model.settings
    if settings.derived is None or not settings.derived.products:
        return np.zeros(len(keys), bool)
    mask = (1 << settings.bits) - 1
    named = settings.derived.named(settings.hash == "all", memoryview(array("I", keys.tolist())), mask)
    return np.isin(keys, [hash & mask for hash, (_, of) in named.items() if "*" in of])


def with_weights(
    model: Model, keys: Any, w: Any, unit: Unit, squares: Any, largest: Any, **more: Any
) -> Model:
    """The model of the sample with weights w of these features. squares, largest: the sums of squared gradients and the
    largest |x_j|, with which gd goes on. more: other fields of the model."""
    constant_key = make_expander(model.settings).constant_key
    has_it = constant_key is not None
    every = np.append(keys, [constant_key] if has_it else []).astype(np.uint32)
    order, whole = np.argsort(every, kind="stable"), unit.fold(w)[: len(every)]
    values = whole.astype(np.float32)
    state = {
        "w": values, "G": np.maximum(squares[: len(every)], LEAST_STATE),
        "N": np.broadcast_to(np.append(np.maximum(largest, LEAST_STATE), [1.0] * has_it)[:, None], values.shape),
    }
    exact = values.astype(np.float64)
    if has_it:
        exact[-1] = whole[-1]  # as `auto` has it
    return replace(
        model, keys=array_of(every[order].tobytes(), "I"), weights=array_of(exact[order].tobytes(), "d"), absent={},
        state={name: array_of(np.ascontiguousarray(x[order], np.float32).tobytes(), "f") for name, x in state.items()},
        **more,
    )


def counters_of(rows: Any) -> dict[str, int]:
    """Those of a model, of rows."""
    return dict(zip(COUNTERS, (len(rows) + rows.unlabelled, rows.unlabelled, rows.nonzeros), strict=True))
