"""Caches that are wrong in some way, with sums that are right: what somebody else's program, or somebody, may write.

`crafted` splits a real cache into its parts, changes something in it, and assembles it again.
"""

import json
import random
import struct
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from vwlite.core.base.checksum import checksum
from vwlite.core.data.batch import Batch
from vwlite.input.cache import ALIGNMENT, END, MAGIC, TRAILER

COUNTS = ("lines", "spans", "features", "tag bytes", "distinct", "form")
HEAD = struct.Struct(f"={len(COUNTS)}Q")
RARE_WORDS = (0, 1, 2, 7, 255, 1 << 15, (1 << 16) - 1, 1 << 31, (1 << 32) - 1)
RARE_LONGS = (0, 1, 8, 1 << 31, 1 << 32, 1 << 61, 1 << 63, (1 << 64) - 1)
RARE_FLOATS = (0.0, -0.0, 1e-45, 3e38, -3e38, float("inf"), float("-inf"), float("nan"))
RARE_DOUBLES = (*RARE_FLOATS, 0.5, -1.0, 1.0, 2.0, 3.0, 1e300, 5e-324, 4294967297.0, 1e19)
RARE_JSON = (
    None, True, False, 0, -1, 1, 40, 1 << 31, 1 << 64, 10**400, 0.5, -0.0, 1e300, "", "a", "\ud800", "\udcff", "a b",
    "x" * 5000, "\x1b[2J\n", [], [[]], [None], {}, {"a": 1}, [1, 2, 3, "a", 5], float("nan"),
)


class Crafted(NamedTuple):
    """A file, what is wrong with it, and whether a run may use it and learn something else."""

    what: str
    data: bytes
    plausible: bool = False


@dataclass
class Parts:
    """The parts of a cache."""

    batches: list[bytearray]
    origins: list[list[Any]]  # source and first line of each
    index: dict[str, Any]


def split_into_parts(data: bytes) -> Parts:
    place, size, _, _ = TRAILER.unpack(data[-TRAILER.size :])
    index = json.loads(data[place : place + size])
    entries = index.pop("batches")
    return Parts([bytearray(data[e[0] : e[0] + e[1]]) for e in entries], [e[3:] for e in entries], index)


def put_together(
    parts: Parts,
    change_index: Callable[[dict[str, Any]], Any] = lambda index: index,
    change_text: Callable[[bytes], bytes] = lambda text: text,
) -> bytes:
    """The file, with right sums. change_index: the index, complete, to what is to be written; change_text: its text."""
    data, entries = bytearray(MAGIC), []
    for batch, origin in zip(parts.batches, parts.origins, strict=True):
        data += bytes(-len(data) % ALIGNMENT)
        entries.append([len(data), len(batch), checksum(batch), *origin])
        data += batch
    text = change_text(json.dumps(change_index({**parts.index, "batches": entries})).encode("utf-8", "surrogatepass"))
    return bytes(data + text + TRAILER.pack(len(data), len(text), checksum(text), END))


# --- one batch -----------------------------------------------------------------------------------


def arrays_of(batch: bytearray) -> dict[str, tuple[int, int, str]]:
    """Where the arrays of a batch are: place, items, and the code of an item for struct."""
    lines, spans, features, tags, distinct, form = HEAD.unpack_from(batch)
    at, found = HEAD.size, {}
    kept = spans // lines if form & 8 else spans
    for name, items, code in [
        ("label", lines, "d"),
        ("importance", 0 if form & 1 else lines, "d"), ("initial", 0 if form & 2 else lines, "d"),
        ("tag_begin", 0 if form & 4 else lines + 1, "I"), ("span_begin", 0 if form & 8 else lines + 1, "I"),
        ("feature_begin", 0 if form & 16 else spans + 1, "I"), ("distinct_hash", distinct, "I"),
        ("number", features, "H") if distinct else ("hash", features, "I"),
        ("value", 0 if form & 32 else features, "f"),
        ("kind", 0 if form & 64 else lines, "B"), ("letter", kept, "B"), ("tags", tags, "B"),
    ]:
        found[name] = (at, items, code)
        at += -(-items * struct.calcsize(code) // 8) * 8
    return found


def written_out(batch: bytearray) -> bytearray:
    """The same batch with all arrays, those too that its writer has left out."""
    found = Batch.view(bytes(batch), 0, len(batch))
    counts = [*HEAD.unpack_from(batch)[:-1], 128 if len(found.space) else 0]
    empty = b"\0" * 4  # of a range of nothing
    arrays: list[Any] = [found.label, found.importance, found.initial, found.tag_begin, found.span_begin]
    arrays += [found.feature_begin, found.distinct]
    number = {hash: i for i, hash in enumerate(found.distinct)}
    arrays.append(array("H", (number[hash] for hash in found.hash)) if number else found.hash)
    arrays += [found.value, found.kind, found.letter, b"".join(map(found.tag, range(len(found)))), found.space]
    out = bytearray(HEAD.pack(*counts))
    for i, items in enumerate(arrays):
        piece = bytes(items) or (empty if i in (3, 4, 5) else b"")
        out += piece + bytes(-len(piece) % 8)
    return out


def change_item(batch: bytearray, chance: random.Random) -> str:
    """Set an item of an array to an unusual value."""
    arrays = {name: found for name, found in arrays_of(batch).items() if found[1]}
    name = chance.choice(sorted(arrays))
    at, items, code = arrays[name]
    i = chance.choice([0, items - 1, chance.randrange(items)])
    size = struct.calcsize(code)
    (old,) = struct.unpack_from("=" + code, batch, at + i * size)
    value: float
    if code in "df":
        value = chance.choice(RARE_DOUBLES if code == "d" else RARE_FLOATS)
    else:
        value = chance.choice([*RARE_WORDS, old + 1, old - 1, chance.getrandbits(32)]) % (1 << 8 * size)
    struct.pack_into("=" + code, batch, at + i * size, value)
    return f"{name}[{i}] is {value} instead of {old}"


def change_batch(batch: bytearray, chance: random.Random) -> tuple[str, bool]:
    """Change a batch in place. What was done, and whether it may be another valid batch now."""
    kind = chance.randrange(10)
    if kind == 0:
        i = chance.randrange(len(COUNTS))
        old = HEAD.unpack_from(batch)[i]
        value = chance.choice([*RARE_LONGS, old + 1, old - 1, 2 * old, old ^ 1 << chance.randrange(9)]) % (1 << 64)
        struct.pack_into("=Q", batch, 8 * i, value)
        return f"{COUNTS[i]} is {value} instead of {old}", False
    if kind == 1:
        size = chance.choice([0, 1, 8, 40, 47, 48, 56, len(batch) - 8, len(batch) - 1])
        del batch[max(0, size) :]
        return f"a batch of {len(batch)} bytes", False
    if kind == 2:
        more = chance.choice([1, 8, 64, 4096])
        batch += bytes(more)
        return f"{more} bytes more", False
    if kind == 3:
        before, n = bytes(batch), chance.randrange(1, 9)
        for _ in range(n):
            batch[chance.randrange(len(batch))] = chance.randrange(256)
        return f"{n} bytes are others", before != batch
    return change_item(batch, chance), True


# --- the index -----------------------------------------------------------------------------------


def change_json(x: Any, chance: random.Random) -> tuple[str, Any]:
    """A value of JSON with something unusual in it."""
    if isinstance(x, dict) and x and chance.random() < 0.85:
        key = chance.choice(sorted(x))
        if chance.random() < 0.15:
            return f"no {key!r}", {k: v for k, v in x.items() if k != key}
        what, changed = change_json(x[key], chance)
        return f"{key!r}: {what}", {**x, key: changed}
    if isinstance(x, list) and x and chance.random() < 0.85:
        i = chance.randrange(len(x))
        if chance.random() < 0.15:
            return f"no [{i}]", x[:i] + x[i + 1 :]
        if chance.random() < 0.1:
            return f"[{i}] twice", [*x[:i], x[i], *x[i:]]
        what, changed = change_json(x[i], chance)
        return f"[{i}]: {what}", [*x[:i], changed, *x[i + 1 :]]
    choices = [*RARE_JSON, x + 1, x - 1, x + 8, x + 64] if type(x) is int else list(RARE_JSON)
    value = chance.choice(choices)
    return f"{repr(value)[:60]} instead of {repr(x)[:60]}", value


def change_text(text: bytes, chance: random.Random) -> tuple[str, bytes]:
    """The text of an index that is not JSON, or unusual JSON."""
    at = chance.randrange(len(text))
    return chance.choice(
        [
            ("no JSON", text[:at]),
            ("no UTF-8", text[:at] + b"\xff" + text[at:]),
            ("deep", b"[" * 200_000),
            ("a long number", text.replace(b"[16", b"[1" + b"0" * 5000, 1)),
            ("nothing", b""),
            ("not an object", b"[]"),
            ("UTF-16", text.decode("utf-8", "replace").encode("utf-16")),
            ("twice the same key", text[:-1] + b', "batches": []}'),
        ]
    )


def crafted(data: bytes, chance: random.Random) -> Crafted:
    """A variant of a cache, always the same for the same state of `chance`."""
    parts = split_into_parts(data)
    kind = chance.random()
    if kind < 0.6 and parts.batches:
        i = chance.randrange(len(parts.batches))
        if chance.random() < 0.5:
            parts.batches[i] = written_out(parts.batches[i])
        what, plausible = change_batch(parts.batches[i], chance)
        return Crafted(f"batch {i}: {what}", put_together(parts), plausible)
    if kind < 0.9:
        found = []

        def change(index: dict[str, Any]) -> Any:
            what, changed = change_json(index, chance)
            found.append(what)
            return changed

        whole = put_together(parts, change)
        return Crafted(f"index: {found[0]}", whole, "'skipped'" in found[0] or "'classes'" in found[0])
    if kind < 0.96:
        words = []

        def change_bytes(text: bytes) -> bytes:
            what, changed = change_text(text, chance)
            words.append(what)
            return changed

        whole = put_together(parts, change_text=change_bytes)
        return Crafted(f"index: {words[0]}", whole)
    place, size, _, end = TRAILER.unpack(data[-TRAILER.size :])
    place, size = (chance.choice([x, x + 1, x - 1, *RARE_LONGS]) % (1 << 64) for x in (place, size))
    sum_of_it = checksum(data[place : place + size]) if place < len(data) else 0
    return Crafted(f"trailer: {place}, {size}", data[: -TRAILER.size] + TRAILER.pack(place, size, sum_of_it, end))
