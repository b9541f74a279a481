"""The file of --feature-weights: the factor of each feature in the norm.

Lines of `NAMESPACE^NAME WEIGHT` (a name alone: no namespace), as `vwlite weights --feature` takes names. Blank lines
are skipped. Features that are not in the file have the weight 1; those of weight 0 are not part of the norm.
"""

import array

from vwlite.errors import DataError, NoInputError
from vwlite.hashing import feature_hash
from vwlite.input.diagnostics import IS_NUMBER, shown
from vwlite.input.reader import check_file

SMALLEST, LARGEST = 1e-3, 1e3  # so that sums of squares are exact


def read_feature_weights(
    path: str, *, bits: int, hash_all: bool, no_zeros: str = ""
) -> tuple["array.array[int]", "array.array[float]"]:
    """The keys and weights of a file: NoInputError, or DataError with file and line. no_zeros: why none may be 0."""
    check_file(path)
    try:
        with open(path, "rb") as f:
            lines = f.read().split(b"\n")
    except OSError as e:
        raise NoInputError(f"{path}: {e.strerror}") from e
    found: dict[int, tuple[float, int]] = {}
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words:
            continue
        try:
            name, weight = _parsed(words)
            namespace, _, feature = name.rpartition(b"^")
            if weight == 0 and no_zeros:
                raise ValueError(no_zeros)
            key = feature_hash(feature, namespace, hash_all) & ((1 << bits) - 1)
            before, where = found.setdefault(key, (weight, number))
            if before != weight:
                raise ValueError(f"the same feature, or one with the same index, has another weight in line {where}")
        except ValueError as e:
            raise DataError(f"{path}:{number}: {e}") from None
    return array.array("I", found), array.array("d", [weight for weight, _ in found.values()])


def _parsed(words: list[bytes]) -> tuple[bytes, float]:
    """A feature's name and weight; ValueError says what is wrong."""
    if len(words) != 2:
        raise ValueError("expected a feature and its weight, with a space between them")
    name, text = words
    if not IS_NUMBER.fullmatch(text) or (float(text) != 0 and not SMALLEST <= float(text) <= LARGEST):
        raise ValueError(f"the weight '{shown(text)}' is not 0 or a number from {SMALLEST:g} to {LARGEST:g}")
    return name, float(text)
