"""The hash of a feature by its name, on the Python side. The parser has its own, which agrees."""


import mmh3

from vwlite.names import absent_name
from vwlite.patterns import pattern

_DIGITS = pattern(rb"[0-9]*")
_BLANKS = bytes(range(0x21))


def name_hash(name: bytes, seed: int, hash_all: bool = False) -> int:
    """Vowpal Wabbit's `--hash strings`, or `--hash all`."""
    if hash_all:
        return mmh3.hash(name, seed, signed=False)
    name = name.strip(_BLANKS)
    if _DIGITS.fullmatch(name):
        # Horner's rule mod 2^32 instead of int(), which is slow and limited for long names.
        number = 0
        for digit in name:
            number = (number * 10 + digit - 0x30) & 0xFFFFFFFF
        return (number + seed) & 0xFFFFFFFF
    return mmh3.hash(name, seed, signed=False)


def namespace_hash(namespace: bytes, hash_all: bool = False, seed: int = 0) -> int:
    """The seed for the names in a namespace; one without a name is `b""`."""
    if not namespace:
        return mmh3.hash(b"", seed, signed=False)
    return name_hash(namespace, seed, hash_all)


def absent_hash(namespace: str, hash_all: bool = False) -> int:
    """The hash of the feature of an absent cell of a column: `vwlite/model/absent.py`."""
    name, space = (x.encode("utf-8", "surrogateescape") for x in (absent_name(namespace), namespace))
    return feature_hash(name, space, hash_all)


def feature_hash(name: bytes, namespace: bytes, hash_all: bool = False, seed: int = 0) -> int:
    """All 32 bits of a feature's hash; its key in a model is `hash & (2**bits - 1)`."""
    return name_hash(name, namespace_hash(namespace, hash_all, seed), hash_all)
