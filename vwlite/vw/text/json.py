"""JSON lines, as Vowpal Wabbit reads them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vwlite.vw.text.parser import MASK, FeatureHashing, Namespace, ParsedExample, read_number, to_float

_ESCAPED = bytes.maketrans(b" \t|:", b"____")
_ESCAPED_IN_TEXT = bytes.maketrans(b"|:", b"__")
_BANDIT_KEYS = ("_multi", "_slots", "_slot_id", "_original_label_cost", "__aid")
_BANDIT_ARRAYS = ("_inc", "_a", "_p")
_LABEL_PARTS = ("label", "weight", "initial")
_BANDIT_LABELS = ("action", "cost", "probability", "pdf_value")
_NAN = float("nan")


class JsonError(Exception):
    """A line that is not an example; `at`: the position, if it is not JSON."""

    def __init__(self, message: str, at: int | None = None) -> None:
        super().__init__(message)
        self.at = at


class _Object(list[tuple[str, Any]]):
    """The keys and values of an object, in order; a key may occur twice."""


class _NotJson:
    """A number that Python's parser takes, but JSON does not have: NaN and Infinity."""

    def __init__(self, name: str) -> None:
        self.name = name


_decode = json.JSONDecoder(object_pairs_hook=_Object, parse_constant=_NotJson).decode


@dataclass
class _Space:
    """A namespace that is being read; count: of the features that it has added to those of its first letter."""

    name: bytes
    hash: int
    features: Namespace
    count: int = 0

    def add(self, hash: int, value: float, name: bytes) -> None:
        if value == 0:
            return
        self.features.hashes.append(hash)
        self.features.values.append(value)
        self.features.names.append(self.name + b"^" + name if self.name.strip() else name)
        self.count += 1


class JsonParser:
    """Objects become examples, one for each line; see the README for the keys.

    labels: the kind of the labels. names: those of the classes, if they have names.
    """

    def __init__(self, features: FeatureHashing, chain_hash: bool, labels: str, names: list[str]) -> None:
        self.features, self.chain_hash, self.labels, self.names = features, chain_hash, labels, names

    def line(self, line: bytes) -> ParsedExample:
        """The example of a line. JsonError if it is invalid."""
        line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.strip(b" \t\r\n"):
            raise JsonError("The document is empty.", len(line))
        try:
            try:
                text, errors = line.decode(), "surrogatepass"
            except UnicodeDecodeError:
                text, errors = line.decode("utf-8", "surrogateescape"), "surrogateescape"
            found = _decode(text)
            if not isinstance(found, _Object):
                raise JsonError("expected an object")
            return _Line(self, lambda text: text.encode("utf-8", errors)).read(found)
        except ValueError as e:
            raise JsonError(str(e), getattr(e, "pos", 0)) from None
        except RecursionError:
            raise JsonError("objects are nested too deeply") from None


class _Line:
    """The example of a line, while it is read."""

    def __init__(self, parser: JsonParser, encoded: Callable[[str], bytes]) -> None:
        self.parser, self.encoded = parser, encoded
        self.features = parser.features
        self.example = ParsedExample()
        self.spaces: dict[int, Namespace] = {}
        self.place = 0  # the hash of the next number in an array: Vowpal Wabbit has one for all arrays of a line

    def read(self, pairs: _Object) -> ParsedExample:
        if self.parser.labels == "SIMPLE":
            self.example.simple = [_NAN, 1.0, 0.0]
        self._object(pairs, b" ")
        return self.example

    def _bytes(self, text: str) -> bytes:
        if any("\ud800" <= c <= "\udbff" for c in text):
            raise JsonError("The surrogate pair in string is invalid.")
        return self.encoded(text)

    def _open(self, name: bytes) -> _Space:
        letter = name[0] if name else 0
        features = self.spaces.setdefault(letter, Namespace())
        return _Space(name, self.features.hash(name, self.features.hash_seed), features)

    def _close(self, space: _Space) -> None:
        """Namespaces are in the order in which they end."""
        if space.count:
            self.example.spaces.setdefault(space.name[0] if space.name else 0, space.features)

    def _object(self, pairs: _Object, name: bytes) -> None:
        """The features of an object."""
        f, space = self.features, self._open(name)
        for key, value in pairs:
            if key.startswith("_"):
                self._special(space, key, value)
                continue
            k = _until_nul(self._bytes(key))
            if isinstance(value, bool):
                if value:
                    space.add(f.hash(k, space.hash), 1.0, k)
            elif isinstance(value, str):
                self._string(space, self._bytes(key), self._bytes(value))
            elif isinstance(value, _Object):
                self._object(value, k)
            elif isinstance(value, list):
                self._array(value, k)
            elif value is not None:
                space.add(f.hash(k, space.hash), _number(value), k)
        self._close(space)

    def _string(self, space: _Space, key: bytes, value: bytes) -> None:
        f, value = self.features, value.translate(_ESCAPED)
        if self.parser.chain_hash:
            key, value = _until_nul(key), _until_nul(value)
            space.add(f.hash(value, f.hash(key, space.hash)), 1.0, key + b"^" + value if value else key)
        else:
            word = _until_nul(key + value)
            space.add(f.hash(word, space.hash), 1.0, word)

    def _array(self, values: list[Any], name: bytes) -> None:
        """Numbers by place, or objects in the same namespace."""
        space = self._open(name)
        self.place = space.hash
        for value in values:
            if isinstance(value, _Object):
                self._object(value, name)
            elif isinstance(value, bool | str | list):
                raise JsonError("an array must have numbers or objects")
            elif value is not None:
                space.add(self.place & MASK, _number(value), b"[%d]" % ((self.place - space.hash) % (1 << 64)))
                self.place += 1
        self._close(space)

    def _special(self, space: _Space, key: str, value: Any) -> None:
        """Text, labels, tags; others that begin with _ are left out."""
        if key == "_text":
            if value is not None:
                for word in self._word_of(key, value).translate(_ESCAPED_IN_TEXT).replace(b"\t", b" ").split(b" "):
                    if word:
                        word = _until_nul(word)
                        space.add(self.features.hash(word, space.hash), 1.0, word)
        elif key.lower() == "_tag":
            if value is not None:
                self.example.tag += self._word_of(key, value)
        elif key == "_label":
            self._label(value)
        elif key.startswith("_label_"):
            if isinstance(value, _Object):
                self._label(value)
            else:
                self._label_part(key.removeprefix("_label_"), value)
        elif key.lower() == "_labelindex":
            if value is not None:
                raise JsonError("_labelIndex must be smaller than number of actions: there are none")
        elif key.startswith("_label"):
            raise JsonError(f"Unsupported key '{key}'")
        elif key in _BANDIT_KEYS:
            raise JsonError(f"'{key}' is for labels that vwlite vw does not have")
        elif key in _BANDIT_ARRAYS:
            for item in value if isinstance(value, list) else [value]:
                if item is not None and not (isinstance(item, str) and item.lower() == "nan"):
                    _number(item)

    def _word_of(self, key: str, value: Any) -> bytes:
        if not isinstance(value, str):
            raise JsonError(f"{key} must be a string")
        return self._bytes(value)

    def _label(self, value: Any) -> None:
        example, simple = self.example, self.example.simple
        if isinstance(value, _Object):
            example.words = []
            if simple is not None:
                simple[0] = _NAN
            for key, part in value:
                if isinstance(part, _Object):
                    raise JsonError("invalid label object. nested objected.")
                self._label_part(key, part)
        elif isinstance(value, str):
            words = [word for word in self._bytes(value).split(b" ") if word]
            if simple is None:
                example.words = words
            elif len(words) <= 3:
                simple[: len(words)] = map(_float_of, words)
        elif value is not None:
            number = _number(value)
            if simple is not None:
                simple[0] = number
            elif self.parser.labels == "MULTICLASS":
                example.words = [self._class(int(number))]
            else:
                raise JsonError("Numeric _label is not supported for labels of several classes or costs")

    def _class(self, number: int) -> bytes:
        names = self.parser.names
        return names[number - 1].encode("utf-8", "surrogateescape") if 1 <= number <= len(names) else b"%d" % number

    def _label_part(self, key: str, value: Any) -> None:
        """A part of a label object, which only simple labels have."""
        part = key.lower()
        if value is None:
            return
        if isinstance(value, str):
            if value.lower() != "nan":
                raise JsonError(f"Unsupported label property: '{key}'. The only string is NaN")
            number = _NAN
        else:
            number = _number(value)
        if part in _LABEL_PARTS:
            if self.example.simple is not None:
                self.example.simple[_LABEL_PARTS.index(part)] = number
        elif part not in _BANDIT_LABELS and not part.startswith("ca"):
            raise JsonError(f"Unsupported label property: '{key}'")


def _number(value: Any) -> float:
    """A number as a 32-bit float. JsonError if it is not a number, or too large for 64 bits."""
    if isinstance(value, _NotJson):
        raise JsonError(f"Invalid value: {value.name} is not JSON")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise JsonError("expected a number")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if number in (float("inf"), float("-inf")):
        raise JsonError("Number too big to be stored in double.")
    return to_float(number)


def _float_of(word: bytes) -> float:
    """A number of a label; one that is not a number is 0, without a warning in JSON."""
    value, end = read_number(word)
    return value if end and value == value else 0.0


def _until_nul(text: bytes) -> bytes:
    """What a string of C holds of it."""
    return text.partition(b"\0")[0]
