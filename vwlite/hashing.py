"""From the name of a feature to its hash, in Python: the reference for the compiled parser."""

import re

import mmh3

_DIGITS = re.compile(rb"[0-9]*")
_STRIPPED = bytes(range(0x21))


def hash_string(text: bytes, seed: int, hash_all: bool = False) -> int:
    """Vowpal Wabbit's hash of a name: a run of digits counts as its number, all else is murmured.

    With hash_all digits are murmured too.
    """
    if not hash_all:
        text = text.strip(_STRIPPED)
        if _DIGITS.fullmatch(text):
            return (int(text or b"0") + seed) % 2**32
    return mmh3.hash(text, seed, signed=False)


def feature_hash(name: bytes, namespace: bytes = b"", hash_all: bool = False, seed: int = 0) -> int:
    """The 32-bit hash of a feature in a namespace; b"" is the anonymous one."""
    space = hash_string(namespace, seed, hash_all) if namespace else mmh3.hash(b"", seed, signed=False)
    return hash_string(name, space, hash_all)
