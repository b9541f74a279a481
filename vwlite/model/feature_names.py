"""Names of features: the names of a model's indices in its training data.

A name is NAMESPACE^NAME, or a name alone where there is no namespace; a cross is its components with `*` between them,
as in `user^anna*page^home`. Names are bytes, as text may hold any.
"""

import array
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from vwlite.model.slots import Array, array_of
from vwlite.patterns import pattern
from vwlite.records import record

if TYPE_CHECKING:
    from vwlite.algorithms.settings import Settings
    from vwlite.core.text.feature_names import NameStore

CONSTANT = b"Constant"  # what Vowpal Wabbit's audit calls it
PRIME = 16777619  # of the hashes of crosses: see cython_ext/data/expand.pyx

_PLAIN = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_ESCAPE = pattern(rb"\\(?:x([0-9a-fA-F]{2})|(.?))", re.DOTALL)
_MEANT = {b"\\": b"\\", b"t": b"\t", b"n": b"\n", b"r": b"\r"}


@record(frozen=True)
class FeatureNames:
    """Names by index, as they are in a model's file. Several of one index are all kept.

    keys: uint32 [n], ascending; names of the same key ascend too. ends: uint32 [n], where in `text` each name ends;
    it begins where the one before it ends. text: the bytes of all names.
    """

    keys: Array
    ends: Array
    text: Array

    @staticmethod
    def of(pairs: Iterable[tuple[int, bytes]]) -> "FeatureNames":
        """From pairs of index and name, in any order; what is there twice counts once."""
        keys, ends, text, size = array.array("I"), array.array("I"), bytearray(), 0
        for key, name in sorted(set(pairs)):
            size += len(name)
            keys.append(key)
            ends.append(size)
            text += name
        return FeatureNames(array_of(keys.tobytes(), "I"), array_of(ends.tobytes(), "I"), array_of(text, "B"))

    @staticmethod
    def kept(store: "NameStore", keys: Array, weights: Array, bits: int) -> "FeatureNames":
        """Those that a store has of the features of a model, as far as their weights are not zero."""
        found = store.of(keys, weights, len(weights) // max(len(keys), 1), bits)
        return FeatureNames(array_of(found[0], "I"), array_of(found[1], "I"), array_of(found[2], "B"))

    @staticmethod
    def united(each: Iterable["FeatureNames"], keys: Array, most: int) -> tuple["FeatureNames", bool]:
        """The names of these ascending keys in several models, those of earlier ones first: `most` names, and 100 bytes
        of text for each on average. Also whether all fitted."""
        from vwlite.core.text.feature_names import united

        found, whole = NONE, True
        for names in each:
            if len(names):
                *parts, fits = united(found.arrays, names.arrays, keys, most)
                found = FeatureNames(*(array_of(part, code) for part, code in zip(parts, "IIB", strict=True)))
                whole = whole and fits
        return found, whole

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        begin = 0
        for key, end in zip(self.keys, self.ends, strict=True):
            yield key, self.text[begin:end].tobytes()
            begin = end

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """Keys, ends and text."""
        return self.keys, self.ends, self.text

    @cached_property
    def by_key(self) -> dict[int, list[bytes]]:
        """The names of each index."""
        found: dict[int, list[bytes]] = {}
        for key, name in self:
            found.setdefault(key, []).append(name)
        return found

    def keys_of(self, name: bytes) -> list[int]:
        """The indices that have this name: none, or one, but for models that people made."""
        return [key for key, other in self if other == name]

    def inconsistency(self, keys: Array) -> str | None:
        """What is wrong with arrays that were read, for a model of these keys; None if nothing is."""
        if [array.format for array in (self.keys, self.ends, self.text)] != ["I", "I", "B"]:
            return "its names are not of uint8, or their ends and keys not of uint32"
        from vwlite.core.text.feature_names import disorder

        return disorder(self.keys, self.ends, self.text, keys)  # type: ignore[no-any-return,unused-ignore]


NONE = FeatureNames.of(())


def indices_of(settings: "Settings", name: bytes) -> list[int]:
    """The index that a name has; behind it that of a cross, if it is one of the model's."""
    from vwlite.hashing import feature_hash

    def hashed(name: bytes) -> int:
        namespace, _, feature = name.rpartition(b"^")
        return feature_hash(feature, namespace, hash_all=settings.hash == "all")

    found = [hashed(name)]
    if (settings.interactions or settings.crosses) and b"*" in name:
        cross = 0
        for part in name.split(b"*"):
            cross = (cross * PRIME ^ hashed(part)) & 0xFFFFFFFF
        found.append(cross)
    return [index & ((1 << settings.bits) - 1) for index in found]


def escaped(name: bytes) -> str:
    r"""A name as text of one line that cannot command a terminal: `\\`, `\t`, `\n`, `\r`, and `\xNN` for the bytes of
    other characters that are not printable, and for those that are not UTF-8."""
    shown = []
    for c in name.decode("utf-8", "surrogateescape"):
        if c in _PLAIN:
            shown.append(_PLAIN[c])
        elif c.isprintable():
            shown.append(c)
        else:
            shown += [f"\\x{byte:02x}" for byte in c.encode("utf-8", "surrogateescape")]
    return "".join(shown)


def unescaped(text: str) -> bytes:
    r"""The name that was `escaped`. ValueError for a `\` with something else behind it."""

    def meant(match: "re.Match[bytes]") -> bytes:
        if match[1] is not None:
            return bytes([int(match[1], 16)])
        if match[2] not in _MEANT:
            raise ValueError(f"{text!r} has a \\ without \\, t, n, r or xNN after it")
        return _MEANT[match[2]]

    return _ESCAPE.sub(meant, text.encode("utf-8", "surrogateescape"))
