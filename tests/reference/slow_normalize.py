"""`--normalize` straight from its definition, in NumPy: equal keys added up, values as floats, lengths as doubles."""

from collections.abc import Mapping, Sequence

import numpy as np

Features = tuple[list[int], list[float]]
MOST_DENSE = 300


def added_up(keys: Sequence[int], values: Sequence[float]) -> Features:
    """One feature for each key, where its first one was. Without those of 0."""
    sums: dict[int, np.float32] = {}
    with np.errstate(over="ignore"):
        for key, x in zip(keys, values, strict=True):
            sums[key] = np.float32(sums[key] + np.float32(x)) if key in sums else np.float32(x)
    sums = {key: x for key, x in sums.items() if x != 0}
    return list(sums), [float(x) for x in sums.values()]


def unit_length(values: Sequence[float]) -> list[float]:
    square = 0.0
    for x in values:
        square += x * x
    length = float(np.sqrt(square))
    return [float(np.float32(x / length)) for x in values] if length > 0 else list(values)


def logarithms(values: Sequence[float]) -> list[float]:
    return [float(np.float32(np.sign(x) * np.log1p(abs(x)))) for x in values]


def normalized(keys: Sequence[int], values: Sequence[float], name: str) -> Features:
    """The features of an example without its intercept, after interactions."""
    if name == "none":
        return list(keys), list(values)
    keys, values = added_up(keys, values)
    if name == "log":
        values = logarithms(values)
    return keys, unit_length(values)


def centered(keys: Sequence[int], values: Sequence[float], dense: Mapping[int, tuple[float, bool]]) -> Features:
    """dense: of each such column its mean, and whether all of its values are equal."""
    assert len(dense) <= MOST_DENSE
    found = dict(zip(*added_up(keys, values), strict=True))
    shifted = {key: float(np.float32(found.pop(key, 0.0) - mean)) for key, (mean, _) in dense.items()}
    found |= {key: x for key, x in shifted.items() if x != 0 and not dense[key][1]}
    return list(found), list(found.values())
