"""Weights by name, the largest ones, and which features have one."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from vwlite.algorithms.settings import Settings
    from vwlite.model.file import Model


CHUNK = 1 << 16  # lines written at a time
Row = tuple[int, int, float | None, list[str]]  # index, class from 0, weight (None: unknown), names


def intercept_key(settings: "Settings") -> int | None:
    """The index of the intercept; None without one."""
    from vwlite.core.data.expand import CONSTANT_HASH

    return CONSTANT_HASH & ((1 << settings.bits) - 1) if settings.constant else None


def has_weight(model: "Model") -> "np.ndarray[Any, Any]":
    """Whether each feature has a nonzero weight, of some class."""
    import numpy as np

    found: np.ndarray[Any, Any] = (np.asarray(model.weights).reshape(-1, model.records) != 0).any(axis=1)
    return found


def look_up(model: "Model", name: str) -> list[tuple[int, list[float], bool]]:
    """The index of a feature, its weight or those of all classes, and whether the model has it; one that it has not
    seen has a weight in some algorithms. Usually there is one; a name may have been given to several indices."""
    from bisect import bisect_left

    from vwlite.model.feature_names import indices_of

    key = name_bytes(name)
    found = []
    k = model.records
    for index in model.shown_names.keys_of(key) or indices_of(model.settings, key):
        at = bisect_left(model.keys, index)
        if at < len(model.keys) and model.keys[at] == index:
            found.append((index, [float(w) for w in model.weights[at * k : (at + 1) * k]], True))
    if found:
        return found
    unseen = model.rule.get("unseen", 0.0)
    return [(indices_of(model.settings, key)[0], unseen if isinstance(unseen, list) else [unseen] * k, False)]


def largest(
    model: "Model", top: int | None, zeros: bool, contains: str | None, by_class: bool,
    sizes: "np.ndarray[Any, Any] | None" = None,
) -> "Iterator[Row]":
    """The rows by falling |weight| or size, ties by index; those of each class separately, if requested."""
    import numpy as np

    keys, weights, k = np.asarray(model.keys), np.asarray(model.weights), model.records
    shown = np.ones(weights.size, bool) if zeros else weights != 0
    names = names_by_index(model)
    by = np.abs(weights if sizes is None else sizes)
    if contains is not None:
        text = name_bytes(contains)
        chosen = [key for key, name in model.shown_names if text in name]
        shown &= np.repeat(np.isin(keys, chosen), k)
    if not by_class:
        yield from _rows(keys, weights, k, np.flatnonzero(shown), by, top, names)
        return
    for one in range(k):
        places = np.arange(one, weights.size, k)
        yield from _rows(keys, weights, k, places[shown[places]], by, top, names)


def _rows(
    keys: "np.ndarray[Any, Any]", weights: "np.ndarray[Any, Any]", k: int, places: "np.ndarray[Any, Any]",
    by: "np.ndarray[Any, Any]", top: int | None, names: dict[int, list[str]],
) -> "Iterator[Row]":
    import numpy as np

    order = places[np.argsort(-by[places], kind="stable")][:top]
    for begin in range(0, order.size, CHUNK):
        chosen = order[begin : begin + CHUNK]
        features, classes = np.divmod(chosen, k)
        for index, c, weight in zip(keys[features].tolist(), classes.tolist(), weights[chosen].tolist(), strict=True):
            yield index, c, weight, names.get(index, [])


def names_by_index(model: "Model") -> dict[int, list[str]]:
    """The names of each index; of the constant too, if others are known."""
    from vwlite.model.feature_names import CONSTANT

    if not len(model.shown_names):
        return {}
    found = {key: [_text(name) for name in names] for key, names in model.shown_names.by_key.items()}
    if (key := intercept_key(model.settings)) is not None:
        found.setdefault(key, []).append(_text(CONSTANT))
    return found


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def name_bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
