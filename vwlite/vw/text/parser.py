"""Vowpal Wabbit's text, parsed as Vowpal Wabbit does: never rejected, with its warnings, and with names.

The engine's parser is fast, and reads valid lines. This one is for the others, and for runs that need the names of
features, or features derived from names (affixes, spellings, dictionaries).
"""

import re
import struct
from dataclasses import dataclass, field

from vwlite.core.text.parser import name_hash
from vwlite.vw.messages import Critical, Streams

AFFIX, SPELLING, DICTIONARY = 132, 133, 135  # letters of the namespaces that the parser makes
AFFIX_PRIME, PRIME = 13903957, 27942141
MASK = 0xFFFFFFFF

_NUMBER = re.compile(rb" *-?\d*(?:\.\d*)?(?:[eE]-?\d*)?")
_STRTOF = re.compile(
    rb"[ \t\n\v\f\r]*([-+]?(?:0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][-+]?\d+)?"
    rb"|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf(?:inity)?|nan))",
    re.IGNORECASE,
)


def to_float(x: float) -> float:
    """As a 32-bit float holds it."""
    try:
        return struct.unpack("f", struct.pack("f", x))[0]  # type: ignore[no-any-return]
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def read_number(text: bytes) -> tuple[float, int]:
    """The number that the text begins with, and its length in bytes; length 0: no number."""
    if not text:
        return 0.0, 0
    match = _NUMBER.match(text)
    assert match is not None
    end = match.end()
    if end == len(text) or text[end] in b" \t\n":
        digits = match.group().strip(b" ")
        mantissa, _, exponent = digits.lower().partition(b"e")
        try:
            whole = float(mantissa) if mantissa.strip(b"-.") else 0.0
            return to_float(whole * 10.0 ** int(exponent[:20] if exponent.strip(b"-") else 0)), end
        except OverflowError:
            return float("-inf") if digits.startswith(b"-") else float("inf"), end
    match = _STRTOF.match(text)
    if match is None:
        return 0.0, 0
    word = match.group(1).decode().lower()
    try:
        value = float.fromhex(word) if "x" in word else float(word)
    except OverflowError:
        value = float("-inf") if word.startswith("-") else float("inf")
    return to_float(value), match.end()


@dataclass
class Namespace:
    """The features of a namespace: hashes, values, and how each is called.

    excess: what Vowpal Wabbit has too much in its sum of the squares of the values.
    """

    hashes: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    names: list[bytes] = field(default_factory=list)
    excess: float = 0.0


@dataclass
class ParsedExample:
    """A line that was read: the words of its label, its tag, its namespaces by letter in order.

    simple: label (NaN: none), importance and initial prediction, if they are numbers already.
    """

    blank: bool = False
    words: list[bytes] = field(default_factory=list)
    simple: list[float] | None = None
    tag: bytes = b""
    spaces: dict[int, Namespace] = field(default_factory=dict)

    def space(self, letter: int) -> Namespace:
        found = self.spaces.get(letter)
        if found is None:
            found = self.spaces[letter] = Namespace()
        return found

    def drop_empty(self) -> None:
        self.spaces = {letter: space for letter, space in self.spaces.items() if space.hashes}


@dataclass
class FeatureHashing:
    """What the parser makes of names, by the letter of the namespace. mask: what an audit shows of a dictionary."""

    hash_all: bool = False
    hash_seed: int = 0
    mask: int = MASK
    affixes: dict[int, list[int]] = field(default_factory=dict)  # codes (length << 1 | is prefix), in order
    spelling: set[int] = field(default_factory=set)
    dictionaries: dict[int, list[dict[bytes, Namespace]]] = field(default_factory=dict)
    redefined: dict[int, int] = field(default_factory=dict)

    @property
    def plain(self) -> bool:
        """Whether the names need no treatment, so that the engine's parser suffices."""
        return not (self.affixes or self.spelling or self.dictionaries or self.redefined)

    def hash(self, name: bytes, seed: int) -> int:
        return int(name_hash(name, seed, self.hash_all))


class TextParser:
    """Reads lines. `examples` counts them, from 0, for the warnings."""

    def __init__(self, features: FeatureHashing, streams: Streams, strict: bool = False) -> None:
        self.features, self.streams, self.strict = features, streams, strict
        self.examples = 0
        self._unnamed = int(name_hash(b"", features.hash_seed, True)) if features.hash_seed else 0

    def line(self, line: bytes) -> ParsedExample:
        """Read one line, with or without its line feed."""
        line = line.removesuffix(b"\n").removesuffix(b"\r").removeprefix(b"\xef\xbb\xbf")
        example = ParsedExample()
        if not line:
            example.blank = True
            self.examples += 1
            return example
        head, bar, _ = line.partition(b"|")
        begin = len(head)
        if b"\t" in head:
            head = head.partition(b"\t")[2]
        words = [word for word in head.split(b" ") if word]
        if words and (not head.endswith(b" ") or words[-1].startswith(b"'")):
            example.tag = words.pop().removeprefix(b"'")
        example.words = words
        if bar:
            _Line(self, example, line[begin:]).run()
        example.drop_empty()
        self.examples += 1
        return example

    def complain(self, text: str) -> None:
        if self.strict:
            raise Critical(text + "\n", "parse_example_text.cc", 67)  # the end of the line is its own
        self.streams.warn(text)


class _Line:
    """The part of a line from its first bar on, while it is read."""

    def __init__(self, parser: TextParser, example: ParsedExample, line: bytes) -> None:
        self.parser, self.example, self.line = parser, example, line
        self.features = parser.features
        self.at = 0

    def run(self) -> None:
        # After a namespace comes a bar, or the end of the line.
        line = self.line
        while self.at < len(line) and line[self.at] == 124:
            self.at += 1
            self._namespace()
        if self.at < len(line) and line[self.at] != 13:
            self._syntax("'|' or EOL expected after : ")

    def _ends(self, ends: bytes) -> bool:
        return self.at >= len(self.line) or self.line[self.at] in ends

    def _where(self) -> str:
        return f'in Example #{self.parser.examples}: "{_shown(self.line)}"'

    def _syntax(self, what: str) -> None:
        self.parser.complain(f'malformed example! {what}"{_shown(self.line[: self.at])}"{self._where()}')

    def _name(self) -> bytes:
        begin = self.at
        while not self._ends(b" :\t|\r"):
            self.at += 1
        return self.line[begin : self.at]

    def _namespace(self) -> None:
        self.scale, self.unnamed = 1.0, 0
        if self._ends(b" \t|\r"):
            self.letter, self.hash, self.name = 32, self.parser._unnamed, b""
        elif self.line[self.at] == 58:
            self._syntax("'|',String,space, or EOL expected after : ")
            return
        else:
            first = self.line[self.at]
            self.letter = self.features.redefined.get(first, first)
            self.name = self._name()
            self.hash = self.features.hash(self.name, self.features.hash_seed)
            if not self._ends(b" \t|\r") and self.line[self.at] == 58:
                self.at += 1
                value, size = read_number(self.line[self.at :])
                if self.at + size >= len(self.line):
                    self._syntax("Float expected after : ")
                if value != value:
                    rest = _shown(self.line[self.at :])
                    self.parser.complain(
                        f'Invalid namespace value:"{rest}" read as NaN. Replacing with 1.{self._where()}'
                    )
                    value = 1.0
                self.at += size
                self.scale = value if size else 0.0
        self.found = self.example.spaces.get(self.letter)
        while not self._ends(b"|\r") and self.line[self.at] in b" \t":
            self.at += 1
            self._feature()
        if not self._ends(b"|\r"):
            self._syntax("'|',space, or EOL expected after : ")

    def _feature(self) -> None:
        if self._ends(b" \t|\r"):
            return
        f, line = self.features, self.line
        name = self._name()
        text, value, scale = b"", 1.0, self.scale
        if not self._ends(b" \t|\r"):
            self.at += 1
            value, size = read_number(line[self.at :])
            if size:
                if value != value:
                    rest = _shown(line[self.at :])
                    self.parser.complain(
                        f'Invalid feature value:"{rest}" read as NaN. Replacing with 0.{self._where()}'
                    )
                    value = 0.0
                self.at += size
            else:
                after = line[self.at :]
                begin = len(after) - len(after.lstrip(b" \t\r\n"))
                end = begin
                while end < len(after) and after[end] not in b" \t\r\n":
                    end += 1
                text = after[begin:end]
                self.at += end if text else 0
                value = scale = 1.0  # of `name:text`, and of `name:` without a value
        if text:
            hash = f.hash(text, f.hash(name, self.hash))
            called = name + b"^" + text
        else:
            value = to_float(scale * value)
            if value == 0:
                return
            if name:
                hash, called = f.hash(name, self.hash), name
            else:
                hash, called = (self.hash + self.unnamed) & MASK, b""
                self.unnamed += 1
        if not f.plain and (name or text):
            self._more(name or text, value)
        if self.found is None:
            self.found = self.example.space(self.letter)
        self.found.hashes.append(hash)
        self.found.values.append(value)
        self.found.names.append(self.name + b"^" + called if self.name else called)

    def _more(self, name: bytes, value: float) -> None:
        """The features made of a name."""
        f = self.features
        shown = bytes([self.letter]) if self.letter != 32 else b""
        for code in f.affixes.get(self.letter, ()):
            size = code >> 1
            piece = name[:size] if code & 1 else name[-size:]
            space = self.example.space(AFFIX)
            space.hashes.append(f.hash(piece, self.hash) * (AFFIX_PRIME + code * PRIME) & MASK)
            space.values.append(value)
            space.names.append(b"affix^" + shown + (b"+" if code & 1 else b"-") + b"%d=" % size + piece)
        if self.letter in f.spelling:
            mapped = bytes(map(_spelled, name))
            space = self.example.space(SPELLING)
            space.hashes.append(name_hash(mapped, self.hash, False))
            space.values.append(value)
            space.names.append(b"spelling^" + (shown + b"_" if shown else b"") + mapped)
        for dictionary in f.dictionaries.get(self.letter, ()):
            entry = dictionary.get(name)
            if entry is not None:
                space = self.example.space(DICTIONARY)
                space.hashes += entry.hashes
                space.values += entry.values
                head = b"dictionary^" + bytes([self.letter]) + b"_" + name
                space.names += [head + b"=%d" % (h & f.mask) for h in entry.hashes]


def _spelled(c: int) -> int:
    if 48 <= c <= 57:
        return 48
    if 97 <= c <= 122:
        return 97
    if 65 <= c <= 90:
        return 65
    return c if c == 46 else 35


def _shown(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def read_dictionary(lines: list[bytes], parser: TextParser) -> dict[bytes, Namespace]:
    """A dictionary: a word a line, and its features. The first line of a word is used."""
    entries: dict[bytes, Namespace] = {}
    for line in lines:
        line = line.strip(b" \t\r\n")
        word, _, features = line.replace(b"\t", b" ", 1).partition(b" ")
        if not word or word in entries or not features.strip():
            continue
        example = parser.line(b"| " + features.strip())
        entries[word] = example.spaces.get(32, Namespace())
    return entries


def parse_affixes(text: str) -> dict[int, list[int]]:
    """`+2a,-3b,+1`: prefixes and suffixes by namespace. Later ones of a namespace come first."""
    found: dict[int, list[int]] = {}
    for word in text.split(","):
        is_prefix = 0 if word.startswith("-") else 1
        word = word[1:] if word[:1] in ("+", "-") else word
        if not word or not "1" <= word[0] <= "7":
            raise Critical(f"malformed affix argument (length must be 1..7): {word}", "parse_args.cc", 230)
        if len(word) > 2:
            raise Critical(f"malformed affix argument (too long): {word}", "parse_args.cc", 236)
        letter = ord(word[1]) if len(word) == 2 else 32
        found.setdefault(letter, []).insert(0, (int(word[0]) << 1) | is_prefix)
    return found
