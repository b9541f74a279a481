"""A slow, obvious parser, written from the grammar: the reference of the compiled one.

It works on one line at a time, with Python's own float and mmh3, and knows the complaints only by
their kind and place.
"""

import math
import re
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vwlite.hashing import name_hash, namespace_hash

NUMBER = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
WHOLE = re.compile(rb"\A(-?(?:0|[1-9]\d*))\.0+\Z")  # a name of a class that is a whole number loses the point and zeros
EXAMPLE, BLANK, REJECTED = 0, 1, 2
(UNFIT,) = struct.unpack("d", struct.pack("Q", 0x7FF8000000000001))  # a label that cannot be used: a NaN of its own


class Bad(Exception):
    """The complaint about a line, and the offending bytes [begin, end) in it."""

    def __init__(self, code: str, begin: int, end: int) -> None:
        super().__init__(code, begin, end)
        self.code, self.begin, self.end = code, begin, end


@dataclass
class Example:
    kind: int = EXAMPLE
    label: float = math.nan
    importance: float = 1.0
    initial: float = 0.0
    tag: bytes = b""
    spans: list[tuple[int, list[tuple[int, np.float32]]]] = field(default_factory=list)


@dataclass
class SlowParser:
    format: str = "vw"
    hash_all: bool = False
    hash_seed: int = 0
    label_domain: str = "any"
    labels: tuple[float, float] | None = None
    lenient_labels: bool = False
    stop_at_fault: bool = True
    classes: dict[str, Any] | None = None  # arguments of ClassNames: limit, names, grows, numbers
    names: list[bytes] = field(default_factory=list)  # of classes so far

    def __post_init__(self) -> None:
        if self.classes is not None:
            self.names = [name.encode() for name in self.classes.get("names", ())]

    def parse(self, block: bytes, first_line: int = 1) -> tuple[list[Example], list[tuple[int, Bad]]]:
        """All lines of the block, and the bad ones with their numbers."""
        examples: list[Example] = []
        faults: list[tuple[int, Bad]] = []
        lines = block.split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        for i, line in enumerate(lines):
            skip = 3 if i == 0 and first_line == 1 and line.startswith(b"\xef\xbb\xbf") else 0
            named = len(self.names)
            try:
                examples.append(self.line(line.removesuffix(b"\r")[skip:]))
            except Bad as bad:
                del self.names[named:]  # a bad line names no class
                bad.begin += skip
                bad.end += skip
                faults.append((len(examples), bad))
                if self.stop_at_fault:
                    break
                examples.append(Example(kind=REJECTED))
        return examples, faults

    def line(self, line: bytes) -> Example:
        if self.format == "libsvm":
            return self.libsvm(line)
        if not line.strip(b" \t"):
            return Example(kind=BLANK)
        # A carriage return counts where the reading, from left to right, meets it.
        header, bar, _ = line.partition(b"|")
        if b"\r" in header:
            at = header.index(b"\r")
            raise Bad("carriage return", at, at + 1)
        if not bar:
            raise Bad("no bar", len(line) - len(line.lstrip(b" \t")), len(line))
        example = self.header(header)
        at = len(header)
        while at < len(line):
            assert line[at] == ord("|")
            at = self.namespace(line, at + 1, example)
        return example

    def header(self, header: bytes) -> Example:
        example = Example()
        words = [(m.start(), m.group()) for m in re.finditer(rb"[^ \t]+", header)]
        if words:
            begin, last = words[-1]
            touches = begin + len(last) == len(header)
            if touches or last.startswith(b"'"):
                example.tag = last.removeprefix(b"'")
                words.pop()
        for i, (begin, word) in enumerate(words):
            end = begin + len(word)
            if i == 0:
                example.label = self.label(word, begin)
            elif i == 1:
                if not NUMBER.fullmatch(word):
                    raise Bad("importance", begin, end)
                example.importance = float(word)
                if example.importance < 0:
                    raise Bad("importance negative", begin, end)
                if math.isinf(example.importance):
                    raise Bad("importance too large", begin, end)
            elif i == 2:
                if not NUMBER.fullmatch(word):
                    raise Bad("initial", begin, end)
                example.initial = float(word)
                if math.isinf(example.initial):
                    raise Bad("initial too large", begin, end)
            else:
                raise Bad("extra word", begin, end)
        return example

    def label(self, word: bytes, begin: int) -> float:
        end = begin + len(word)
        if self.classes is not None:
            return self.class_of(word, begin)
        if not NUMBER.fullmatch(word):
            raise Bad("label", begin, end)
        y = float(word)
        if math.isinf(y):
            raise Bad("label too large", begin, end)
        if self.labels is not None:
            if y not in self.labels:
                if self.lenient_labels:
                    return UNFIT
                raise Bad("label not mapped", begin, end)
            y = -1.0 if y == self.labels[0] else 1.0
        usable = {"any": True, "binary": y in (-1, 1), "nonnegative": y >= 0, "positive": y > 0}[self.label_domain]
        if not usable and not self.lenient_labels:
            raise Bad("label outside domain", begin, end)
        return y if usable else UNFIT

    def class_of(self, word: bytes, begin: int) -> float:
        """The number of the class that a label names."""
        assert self.classes is not None
        room, code = self.classes["limit"], "class unknown"
        if self.classes.get("numbers"):
            code = "class number"
            if NUMBER.fullmatch(word) and float(word) in range(1, room + 1):
                return float(word)
        else:
            name = WHOLE.sub(rb"\1", word)
            if self.classes.get("grows"):
                code = "class extra"
                if name not in self.names and len(self.names) < room:
                    self.names.append(name)
            if name in self.names:
                return self.names.index(name) + 1.0
        if self.lenient_labels:
            return UNFIT
        raise Bad(code, begin, begin + len(word))

    def namespace(self, line: bytes, at: int, example: Example) -> int:
        """One occurrence, from behind its bar. Returns where the next bar or the end is."""
        begin = at
        while at < len(line) and line[at] not in b" \t:|\r":
            at += 1
        name = line[begin:at]
        scale = np.float32(1)
        if at < len(line) and line[at] == ord(":"):
            end = re.compile(rb"[^ \t|\r]*").match(line, at).end()
            if not name:
                raise Bad("namespace name", at, end)
            if not NUMBER.fullmatch(line, at + 1, end):
                raise Bad("scale", at + 1, end)
            scale = float32(line[at + 1 : end])
            if np.isinf(scale):
                raise Bad("scale too large", at + 1, end)
            at = end
        seed = namespace_hash(name, self.hash_all, self.hash_seed)
        features = []
        nameless = 0
        while at < len(line) and line[at] != ord("|"):
            if line[at] in b" \t":
                at += 1
                continue
            if line[at] == ord("\r"):
                raise Bad("carriage return", at, at + 1)
            begin = at
            while at < len(line) and line[at] not in b" \t:|\r":
                at += 1
            if at > begin:
                key = name_hash(line[begin:at], seed, self.hash_all)
            else:
                key = (seed + nameless) % 2**32
                nameless += 1
            value = np.float32(1)
            if at < len(line) and line[at] == ord(":"):
                end = re.compile(rb"[^ \t|\r]*").match(line, at).end()
                if not NUMBER.fullmatch(line, at + 1, end):
                    raise Bad("value", at + 1, end)
                value = float32(line[at + 1 : end])
                if np.isinf(value):
                    raise Bad("value too large", at + 1, end)
                if np.isinf(product(value, scale)):
                    raise Bad("value too large by scale", at + 1, end)
                at = end
            if product(value, scale) != 0:
                features.append((key, product(value, scale)))
        if features:
            example.spans.append((name[0] if name else ord(" "), features))
        return at

    def libsvm(self, line: bytes) -> Example:
        text = line.partition(b"#")[0]
        if not text.strip(b" \t") and b"\r" not in text:
            return Example(kind=BLANK)
        example = Example()
        features: list[tuple[int, np.float32]] = []
        last = -1
        for i, m in enumerate(re.finditer(rb"[^ \t\r]+|\r", text)):
            begin, end, word = m.start(), m.end(), m.group()
            index, colon, value = word.partition(b":")
            if word == b"\r":
                raise Bad("carriage return", begin, end)
            if i == 0 and not colon:
                example.label = self.label(word, begin)
                continue
            if not colon:
                raise Bad("pair", begin, end)
            if index == b"qid":
                raise Bad("query", begin, end)
            end = begin + len(index)
            if not re.fullmatch(rb"-?[0-9]+", index):
                raise Bad("index", begin, end)
            number = int(index) if len(index) < 4000 else 2**32
            if index.startswith(b"-"):
                raise Bad("index too small", begin, end)
            if number >= 2**32:
                raise Bad("index too large", begin, end)
            if number <= last:
                raise Bad("index repeated" if number == last else "index order", begin, end)
            last = number
            begin, end = end + 1, m.end()
            if not NUMBER.fullmatch(value):
                raise Bad("value", begin, end)
            x = float32(value)
            if np.isinf(x):
                raise Bad("value too large", begin, end)
            if x != 0:
                seed = namespace_hash(b"", self.hash_all, self.hash_seed)
                features.append((name_hash(b"%d" % number, seed, self.hash_all), x))
        if features:
            example.spans.append((ord(" "), features))
        return example


def float32(token: bytes) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(float(token))


def product(x: np.float32, y: np.float32) -> np.float32:
    with np.errstate(over="ignore"):
        return x * y
