"""A model whose scores are mapped by a line, or one of each class: weights times a scale, and an offset of the
intercept."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vwlite.model.slots import array_of

if TYPE_CHECKING:
    from vwlite.model.file import Model

Floats = NDArray[np.float64]


def with_map(model: "Model") -> "Model | None":
    """A calibrated model of two labels with its map of scores in its weights. None if that is no line, or the model
    has no intercept, or is not of a table: then examples may have initial predictions, which would not be mapped."""
    found = model.calibration
    if found["method"] != "platt" or not model.settings.constant or not model.columns:
        return None
    scale, (at,), (value,) = found["slope"], found["scores"], found["values"]
    return scaled(model, np.array([scale]), np.array([value - scale * at]), {})


def scaled(model: "Model", scales: Floats, offsets: Floats, calibration: dict[str, Any]) -> "Model":
    """A model with the scores scales * score + offsets; with classes, their softmax are its probabilities. It has no
    state, so it cannot be continued. offsets: of [classes]; 0 if it has no intercept. calibration: what the file says
    of it."""
    from vwlite.model.centered import with_key
    from vwlite.model.weights import intercept_key

    key = intercept_key(model.settings)
    if key is not None:
        model = with_key(model, key)
    weights = np.array(model.weights, np.float64).reshape(-1, model.records) * scales
    if key is not None:
        weights[np.searchsorted(np.asarray(model.keys), key)] += offsets
    of_each = (np.broadcast_to(model.rule.get("unseen", 0.0), scales.shape) * scales).tolist()
    unseen = model.settings.outputs.stored(of_each)
    means = _of_scaled(model.means, scales)
    is_softmax = model.settings.softmax or model.settings.oaa is None
    options = model.options if is_softmax else model.options | {"softmax_probabilities": True}
    return replace(
        model, weights=array_of(weights.tobytes(), "d"), options=options, means=means, weights_only=True, state={},
        more={}, rule={"unseen": unseen} if any(of_each) else {}, range=None, calibration=calibration,
    )


def _of_scaled(means: dict[str, Any], scales: Floats) -> dict[str, Any]:
    """The record of effects, where effects are multiplied; without bands."""
    found: dict[str, Any] = {name: means[name] for name in ("rows", "length", "squares", "ranges") if name in means}
    for name, by in (("effects", scales), ("scaled", scales), ("sizes", np.abs(scales))):
        if name in means:
            found[name] = {effect: (np.array(of) * by).tolist() for effect, of in means[name].items()}
    if "moved" in means:
        found["moved"] = {
            name: [(np.reshape(table, (-1, len(scales))) * scales).ravel().tolist() for table in tables]
            for name, tables in means["moved"].items()
        }
    if "columns" in means:
        found["columns"] = {
            name: [(np.array(of) * np.abs(scales)).tolist() for of in pair] for name, pair in means["columns"].items()
        }
    return found
