"""JSON lines, as Vowpal Wabbit reads them."""

import json
from typing import Any

from vwlite.vw.text.parser import MASK, FeatureHashing, ParsedExample, to_float


class JsonError(Exception):
    """A line that is not an example; `at`: the position, if it is not JSON."""

    def __init__(self, message: str, at: int | None = None) -> None:
        super().__init__(message)
        self.at = at


class JsonParser:
    """Objects become examples, one for each line; see the README for the keys."""

    def __init__(self, features: FeatureHashing, chain_hash: bool) -> None:
        self.features, self.chain_hash = features, chain_hash

    def line(self, line: bytes) -> ParsedExample | None:
        """The example of a line; a blank one for a blank line. JsonError if it is invalid."""
        example = ParsedExample()
        if not line.strip():
            example.blank = True
            return example
        try:
            pairs = json.loads(line, object_pairs_hook=list)
            if pairs != [] and not _is_object(pairs):
                raise JsonError("expected an object")
            self._object(example, pairs, b"", top=True)
        except ValueError as e:
            raise JsonError(str(e), getattr(e, "pos", 0)) from None
        except RecursionError:
            raise JsonError("objects are nested too deeply") from None
        example.drop_empty()
        return example

    def _object(self, example: ParsedExample, pairs: list[tuple[str, Any]], name: bytes, top: bool) -> None:
        """The features of an object; what it holds comes before itself."""
        f = self.features
        own: list[tuple[int, float, bytes]] = []
        seed = f.hash(name, f.hash_seed) if name else 0
        letter = name[0] if name else 32
        prefix = name + b"^" if name else b""
        for key, value in pairs:
            k = _bytes(key)
            if key.startswith("_"):
                if top and self._special(example, key, value):
                    continue
                if key == "_text" and isinstance(value, str):
                    own += [(f.hash(word, seed), 1.0, prefix + word) for word in _bytes(value).split()]
                continue
            if isinstance(value, bool):
                if value:
                    own.append((f.hash(k, seed), 1.0, prefix + k))
            elif isinstance(value, int | float):
                if to_float(value) != 0:
                    own.append((f.hash(k, seed), to_float(value), prefix + k))
            elif isinstance(value, str):
                own.append(self._string(k, _bytes(value), seed, prefix))
            elif isinstance(value, list):
                if _is_object(value):
                    self._object(example, value, k, top=False)
                else:
                    self._array(example, value, k)
        space = example.space(letter)
        for hash, x, called in own:
            space.hashes.append(hash)
            space.values.append(x)
            space.names.append(called)
        if not own and not space.hashes:
            del example.spaces[letter]

    def _string(self, key: bytes, value: bytes, seed: int, prefix: bytes) -> tuple[int, float, bytes]:
        f = self.features
        if self.chain_hash:
            return f.hash(value, f.hash(key, seed)), 1.0, prefix + key + b"^" + value
        word = key + value.translate(bytes.maketrans(b" \t|:", b"____"))
        return f.hash(word, seed), 1.0, prefix + word

    def _array(self, example: ParsedExample, values: list[Any], name: bytes) -> None:
        """Numbers by place, or objects."""
        f = self.features
        seed = f.hash(name, f.hash_seed)
        space = None
        for i, value in enumerate(values):
            if value == [] or _is_object(value):
                self._object(example, value, name, top=False)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                if to_float(value) != 0:
                    space = space or example.space(name[0] if name else 32)
                    space.hashes.append((seed + i) & MASK)
                    space.values.append(to_float(value))
                    space.names.append(name + b"^[%d]" % i)
            elif value is not None:
                raise JsonError("an array must have numbers or objects")

    def _special(self, example: ParsedExample, key: str, value: Any) -> bool:
        """Labels and tags."""
        if key == "_label":
            if isinstance(value, list):
                if value and not _is_object(value):
                    raise JsonError("a label cannot be an array")
                parts = dict(value)
                words = [parts.get("Label"), parts.get("Weight"), parts.get("Initial")]
                example.words = [_word(word) for word in words if word is not None]
            elif isinstance(value, str):
                example.words = _bytes(value).split()
            elif value is not None:
                example.words = [_word(value)]
            return True
        if key.startswith("_label_"):
            place = {"_label_Label": 0, "_label_Weight": 1, "_label_Initial": 2}.get(key)
            if place is not None:
                while len(example.words) <= place:
                    example.words.append(b"0" if len(example.words) == 2 else b"1")
                example.words[place] = _word(value)
            return True
        if key == "_tag":
            example.tag = _bytes(str(value))
            return True
        return False


def _is_object(value: Any) -> bool:
    """Whether it was read from an object that is not empty: a list of pairs."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], tuple)


def _bytes(text: str) -> bytes:
    """In UTF-8; lone surrogates are kept unchanged."""
    return text.encode("utf-8", "surrogatepass")


def _word(value: Any) -> bytes:
    return repr(value).encode() if isinstance(value, float) else _bytes(str(value))
