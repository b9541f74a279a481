"""Vowpal Wabbit's model files: binary, and the text of `--readable_model` and `--invert_hash`."""

import re
import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from vwlite.core.base.arrays import largest, narrowed, records_of, shifted, widened
from vwlite.core.text.parser import murmur3
from vwlite.model.learners import field_of
from vwlite.model.slots import CODES, Array, array_of, copied
from vwlite.vw.messages import VERSION, Critical, short
from vwlite.vw.text.parser import to_float

WIDE = 31  # from this number of bits on, the number of a slot takes eight bytes in a file

Version = tuple[int, int, int]

# What files have from these versions on.
OLDEST: Version = (7, 6, 0)  # that are read; before 7.8.1 with the rank of a matrix factorization in the head
WITHOUT_RANK: Version = (7, 8, 1)
ALL_COUNTS: Version = (7, 10, 1)  # total_weight and the two that follow it
LONGER_CROSSINGS: Version = (7, 10, 2)  # interactions in the head, after pairs and triples
CROSSINGS_AMONG_OPTIONS: Version = (7, 10, 3)  # and no longer in the head
CHECKSUM: Version = (8, 0, 1)  # of the head's bytes
CHAINED_CHECKSUM: Version = (8, 0, 2)  # of its chunks, one after the other
WITH_ID: Version = (8, 0, 3)
NARROW_SLOTS: Version = (8, 5, 0)  # always below 31 bits; some versions before wrote eight bytes
WITH_PULLS: Version = (9, 0, 0)  # l1_state and l2_state; before they are among the options, or nowhere

# The fields of a rule's slot in the order of Vowpal Wabbit's floats.
LAYOUTS: dict[str, tuple[str, ...]] = {
    "ftrl": ("w", "z", "n"),
    "pistol": ("w", "z", "n", "m"),
    "coin": ("w", "z", "n", "m", "reward", "L"),
    "freegrad": ("w", "G", "V", "h1", "h", "S"),
}


def version_of(text: str) -> Version | None:
    """The numbers of a version; None if it is not a version."""
    match = re.match(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?!\d)", text, re.ASCII)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


THIS = version_of(VERSION) or OLDEST


@dataclass
class Header:
    """The head of a model: everything before the weights."""

    id: str = ""
    min_label: float = 0.0
    max_label: float = 0.0
    bits: int = 18
    ngrams: list[str] = field(default_factory=list)
    skips: list[str] = field(default_factory=list)
    options: str = ""
    version: Version = THIS
    crossings: list[str] = field(default_factory=list)  # interactions that are not among the options; of these
    longer: list[str] = field(default_factory=list)  # interactions not stored as pairs or triples, even if they are


# Name in the readable model, format in the binary one.
STATE = [
    ("initial_t", "<f"), ("norm normalizer", "<d"), ("t", "<d"), ("sum_loss", "<d"),
    ("sum_loss_since_last_dump", "<d"), ("dump_interval", "<f"), ("min_label", "<f"), ("max_label", "<f"),
    ("weighted_labeled_examples", "<d"), ("weighted_labels", "<d"), ("weighted_unlabeled_examples", "<d"),
    ("example_number", "<Q"), ("total_features", "<Q"), ("total_weight", "<d"),
    ("sd::oec.weighted_labeled_examples", "<d"), ("current_pass", "<Q"), ("l1_state", "<d"), ("l2_state", "<d"),
]


@dataclass
class VwModel:
    """A whole model. slots: by rising number, of format "I". floats: `width` of each slot, one slot after the other.
    state: None if it cannot be continued."""

    header: Header
    state: dict[str, float] | None
    width: int  # floats of a slot
    slots: "array[int] | Array"
    floats: "array[float]"
    version: str = VERSION


class _Checksum:
    """A running murmur hash over chunks."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, chunk: bytes) -> bytes:
        if chunk:
            self.value = murmur3(chunk, self.value)
        return chunk


def binary_head(h: Header) -> bytes:
    """The header as bytes, with its checksum."""
    version = VERSION.encode() + b"\0"
    out = [struct.pack("<I", len(version)), version]
    check = _Checksum()

    def put(*chunks: bytes) -> None:
        out.extend(check.add(chunk) for chunk in chunks)

    def text(s: str) -> None:
        data = s.encode("utf-8", "surrogateescape") + b"\0"
        put(struct.pack("<I", len(data)), data)

    text(h.id)
    put(b"m", _number("<f", h.min_label), _number("<f", h.max_label), struct.pack("<I", h.bits))
    put(struct.pack("<I", 0))
    for entries in (h.ngrams, h.skips):
        put(struct.pack("<I", len(entries)))
        for entry in entries:
            put(entry.encode("latin-1")[:2].ljust(3, b"\0"))
    text(h.options)
    return b"".join(out) + struct.pack("<II", 4, check.value)


def text_head(h: Header) -> str:
    """The header as the readable model begins."""
    check = _Checksum()
    lines = []

    def put(text: str) -> None:
        check.add(text.encode("utf-8", "surrogateescape"))
        lines.append(text)

    put(f"Id {h.id}\n")
    put(f"Min label:{short(h.min_label)}\n")
    put(f"Max label:{short(h.max_label)}\n")
    put(f"bits:{h.bits}\n")
    put("lda:0\n")
    for what, entries in (("ngram", h.ngrams), ("skip", h.skips)):
        put(f"{len(entries)} {what}:")
        for entry in entries:
            put(f"{entry} ")
        put("\n")
    put(f"options:{h.options}\n")
    return f"Version {VERSION}\n" + "".join(lines) + f"Checksum: {check.value}\n"


def write_binary(model: VwModel, extra: bytes = b"") -> bytes:
    """The whole file. extra: what reductions write before the state."""
    out = [binary_head(model.header), extra, struct.pack("<B", model.state is not None)]
    if model.state is not None:
        out += [_number(form, model.state[name]) for name, form in STATE]
    width, floats = model.width, model.floats
    if model.state is None:
        width, floats = 1, floats[::width]
    out.append(records_of(model.slots, floats, width, wide=model.header.bits >= WIDE))
    return b"".join(out)


def write_regularizer(h: Header, slots: "array[int]", floats: "array[float]") -> bytes:
    """A file for `--input_feature_regularizer`: at 2 j the strength for weight j, at 2 j + 1 its center."""
    entry = struct.Struct("<If")
    return binary_head(h) + b"\1" + b"".join(map(entry.pack, slots, floats))


def write_regularizer_text(h: Header, slots: "array[int]", floats: "array[float]", hexfloat: bool = False) -> str:
    """The same as text."""
    show: Callable[[float], str] = _hexfloat if hexfloat else short
    return text_head(h) + ":1\n" + "".join(f"{slot}:{show(x)}\n" for slot, x in zip(slots, floats, strict=True))


def _number(form: str, x: float) -> bytes:
    """A number as a model holds it: too large ones are infinite, and counts begin again."""
    return struct.pack(form, int(x) % (1 << 64) if form == "<Q" else to_float(x) if form == "<f" else x)


def write_text(model: VwModel, extra: str = "", names: dict[int, bytes] | None = None, hexfloat: bool = False) -> str:
    """The readable model; with names, the inverted one. extra: what reductions write before the state."""
    show: Callable[[float], str] = _hexfloat if hexfloat else short
    out = [text_head(model.header), extra]
    if model.state is None:
        out.append(":0\n")
        for i, slot in enumerate(model.slots):
            w = model.floats[i * model.width]
            if w != 0:
                out.append(f"{_called(slot, names, True)}{slot}:{show(w)}\n")
        return "".join(out)
    out.append(":1\n")
    for name, form in STATE:
        value = model.state[name]
        out.append(f"{name} {int(value) if form == '<Q' else short(value)}\n")
    for i, slot in enumerate(model.slots):
        values = model.floats[i * model.width : (i + 1) * model.width]
        if any(values):
            out.append(f"{_called(slot, names, False)}{slot}:{' '.join(show(v) for v in values)}\n")
    return "".join(out)


def _called(slot: int, names: dict[int, bytes] | None, predict_only: bool) -> str:
    if names is None:
        return ""
    name = names.get(slot)
    if name is not None:
        return name.decode("utf-8", "surrogateescape") + ":"
    return ":" if predict_only else ""


def _hexfloat(x: float) -> str:
    """As C++'s hexfloat prints it: without zeros at the end of the mantissa."""
    text = float(x).hex()
    head, p, power = text.partition("p")
    if "." in head:
        head = head.rstrip("0").rstrip(".")
    return head + p + power


# --- reading -------------------------------------------------------------------------------------


def damaged(path: str, why: str) -> Critical:
    return Critical(f"bad model file {path}: {why}", "parse_regressor.cc", 500)


class _Bytes:
    """The bytes of a file, taken one piece after the other."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path, self.data, self.at = path, data, 0
        self.check: _Checksum | None = None

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise damaged(self.path, "it is truncated, or has an invalid length")
        piece = self.data[self.at : self.at + size]
        self.at += size
        if self.check is not None:
            self.check.add(piece)
        return piece

    def unpack(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def text(self) -> str:
        size = self.unpack("<I")
        data = self.take(size)
        if not data.endswith(b"\0"):
            raise damaged(self.path, "a string in it has no end")
        return data[:-1].decode("utf-8", "surrogateescape")


def read_head(path: str, data: bytes) -> tuple[Header, _Bytes]:
    """The header of a binary model, and the bytes after it. Critical if the file is not a model or is damaged."""
    source = _Bytes(path, data)
    shown = source.text()
    version = version_of(shown)
    if version is None:
        raise damaged(path, "it does not begin with a version")
    if version < OLDEST:
        raise damaged(path, f"it has version {shown}; versions from {'.'.join(map(str, OLDEST))} on are supported")
    h = Header(version=version)
    source.check = check = _Checksum()
    if version >= WITH_ID:
        h.id = source.text()
    if source.take(1) != b"m":
        raise damaged(path, "it is not a model of Vowpal Wabbit")
    h.min_label, h.max_label, h.bits = source.unpack("<f"), source.unpack("<f"), source.unpack("<I")
    if h.bits > 32:
        raise damaged(path, f"it has {h.bits} bits; the maximum is 32")
    if version < CROSSINGS_AMONG_OPTIONS:
        for size in (2, 3):
            h.crossings += [source.take(size).decode("latin-1") for _ in range(source.unpack("<I"))]
        if version >= LONGER_CROSSINGS:
            h.longer = [source.take(source.unpack("<I")).decode("latin-1") for _ in range(source.unpack("<I"))]
            h.crossings += h.longer
    if version < WITHOUT_RANK and source.unpack("<I"):
        raise damaged(path, "it is a matrix factorization (--rank)")
    if source.unpack("<I"):
        raise damaged(path, "it is a topic model (--lda)")
    for entries in (h.ngrams, h.skips):
        for _ in range(source.unpack("<I")):
            entries.append(source.take(3).rstrip(b"\0").decode("latin-1"))
    h.options = source.text()
    source.check = None
    if version < CHECKSUM:
        return h, source
    expected = check.value if version >= CHAINED_CHECKSUM else murmur3(data[: source.at], 0)
    if source.unpack("<I") != 4 or source.unpack("<I") != expected:
        raise damaged(path, "its checksum does not match")
    return h, source


def read_rest(h: Header, source: _Bytes, width: int) -> VwModel:
    """The state and the weights, `width` floats to a slot if the model can be continued."""
    resume = source.unpack("<B")
    if resume not in (0, 1):
        raise damaged(source.path, "it is damaged after its header")
    if resume and {"--bfgs", "--conjugate_gradient"} & set(h.options.split()):
        raise damaged(source.path, "it is a regularizer: use --input_feature_regularizer")
    state = None
    if resume:
        state = {name: source.unpack(form) for name, form in STATE if _has(h.version, name)}
        state = {**LATER, **state}
    else:
        width = 1
    rest = source.data[source.at :]
    head = 2 if h.bits >= WIDE or (resume and _wide(h, rest, width)) else 1  # words of four bytes of a slot's number
    step = head + width
    if len(rest) % (4 * step):
        raise damaged(source.path, "it has missing or extra bytes at its end")
    words = array_of(rest, "I")
    if largest(words[::step]) >= 1 << h.bits or (head == 2 and largest(words[1::step])):
        entry = struct.Struct(f"<{'Q' if head == 2 else 'I'}{4 * width}x")
        slot = next(slot for (slot,) in entry.iter_unpack(rest) if slot >= 1 << h.bits)
        raise damaged(source.path, f"slot {slot} exceeds its {h.bits} bits")
    numbers = array_of(rest, "f")
    columns = [numbers[head + i :: step] for i in range(width)]
    return VwModel(h, state, width, copied(words[::step]), woven(columns))


LATER = {
    "total_weight": 0.0, "sd::oec.weighted_labeled_examples": 0.0, "current_pass": 0, "l1_state": 0.0, "l2_state": 1.0,
}


def _has(version: Version, name: str) -> bool:
    """Whether the state in a file of a version has a number."""
    since = WITH_PULLS if name in ("l1_state", "l2_state") else ALL_COUNTS if name in LATER else OLDEST
    return version >= since


def _wide(h: Header, rest: bytes, width: int) -> bool:
    """Whether the slots of a model that can be continued have numbers of eight bytes, as some versions before 8.5 wrote
    them whatever the bits: then every second word of the numbers is 0, and they rise."""
    step = 2 + width
    if h.version >= NARROW_SLOTS or len(rest) % (4 * step):
        return False
    words = array_of(rest, "I")
    slots = words[::step].tolist()
    return not any(words[1::step]) and all(a < b for a, b in pairwise(slots)) and max(slots, default=0) < 1 << h.bits


def woven(columns: Sequence[Array]) -> "array[float]":
    """Columns of floats as one row: the first of each, the second of each, and so on."""
    width = len(columns)
    out = array("f", bytes(4 * width * len(columns[0])))
    for i, column in enumerate(columns):
        memoryview(out)[i::width] = column
    return out


def read_regularizer(h: Header, source: _Bytes) -> tuple["array[int]", "array[float]"]:
    """Read the data that `write_regularizer` wrote after the head."""
    if source.unpack("<B") != 1:
        raise damaged(source.path, "it is a model, not a regularizer")
    entry = struct.Struct("<If")
    rest = source.data[source.at :]
    if len(rest) % entry.size:
        raise damaged(source.path, "it has missing or extra bytes at its end")
    slots, floats = array("Q"), array("f")
    for slot, x in entry.iter_unpack(rest):
        if slot >= 2 << h.bits:
            raise damaged(source.path, f"index {slot} exceeds its {h.bits} bits")
        slots.append(slot)
        floats.append(x)
    return slots, floats


# --- between slots of a rule and floats -------------------------------------------------------------


class SlotLayout:
    """How the slots of a rule are Vowpal Wabbit's floats."""

    def __init__(self, rule: Any, fields: Iterable[str]) -> None:
        self.rule, self.fields = rule, tuple(fields)
        self.codes = {name: CODES[kind] for name, kind in rule.SLOT}

    def stored(self, name: str) -> str:
        """What the rule calls a field."""
        return name if name in self.codes else {"w": "_w", "n": "root"}[name]

    def columns(self) -> tuple[Array, list[Array]]:
        """The keys of the live slots, and a column of floats for each of our fields."""
        data = self.rule.slots()
        keys = shifted(copied(field_of(self.rule, data, "mark")), 2**32 - 1)
        columns = []
        for name in map(self.stored, self.fields):
            column = field_of(self.rule, data, name)
            columns.append(narrowed(column, squared=name == "root") if self.codes[name] == "d" else column)
        return keys, columns

    def read(self) -> Iterator[tuple[int, tuple[float, ...]]]:
        """Each live slot: its key and floats."""
        keys, columns = self.columns()
        return zip(keys, zip(*columns, strict=True), strict=True)

    def write(
        self, keys: "array[int] | Array", floats: "array[float]", width: int, defaults: dict[str, float]
    ) -> bytearray:
        """Slots from keys and `width` floats for each, the first of our fields; the others have their defaults."""
        out = bytearray(len(keys) * self.rule.slot_size())
        field_of(self.rule, out, "mark")[:] = shifted(keys, 1)
        for i, name in enumerate(map(self.stored, self.fields[:width])):
            column = memoryview(floats)[i::width]
            if self.codes[name] == "d":
                column = widened(column, rooted=name == "root")
            field_of(self.rule, out, name)[:] = column
        for name, x in defaults.items():
            if name in self.codes and name not in self.fields[:width] and x != 0:
                code = self.codes[name]
                field_of(self.rule, out, name)[:] = memoryview(array(code, [x]) * len(keys))
        return out
