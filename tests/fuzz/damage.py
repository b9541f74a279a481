"""Crafted models and caches: changed at random, with valid digests.

The digest of a model and the sums of a cache find accidents. They are not signatures, so the rest of the program must
not trust the content.
"""

import hashlib
import io
import json
import struct
import warnings
import zipfile
from random import Random
from typing import Any

import crafted_caches
import crafted_models

from vwlite.core.base.checksum import checksum
from vwlite.input.cache import END, TRAILER, fingerprint
from vwlite.model.file import _COMMENT, _COMMENT_SIZE, ZIP
from vwlite.vw.models import binary as vw

WORDS = [0, 1, 2, 3, 63, 64, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
FLOATS = [0.0, -0.0, 1.0, -1.0, 1e-320, 1e300, -1e300, float("nan"), float("inf"), -float("inf")]
VALUES = [
    None, True, False, 0, 1, -1, 2, 3, 31, 33, 65535, 65536, 65537, 2**31, 2**32, 2**53, 2**63, 2**64, 10**30, 0.5,
    -0.5, 1e-300, 1e300, float("nan"), float("inf"), "", "0", "1", "a", "ab", "::", "nan", "auto", "1,2", "a,a", "\x00",
    "\u00e9", "\ud800", [], [0], [1, 2], ["a"], [[]], ["ab", 1], {}, {"a": 1}, [None], [0.5, "a"], [-1, 1], [1, -1],
    "x" * 1000,
]


def damaged_model(rng: Random, data: bytes) -> bytes:
    """A model with something changed and the right digest; or one of Vowpal Wabbit's own."""
    if data[:4] != ZIP:
        return _damaged_vw(rng, data)
    if rng.random() < 0.5:  # what the tests of models change, one thing at a time
        changed: bytes = crafted_models.crafted(rng, {"stock": data})[1]
        return changed
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        data = rng.choice([_other_bytes, _other_header, _other_header, _other_array, _other_archive])(rng, data)
    return signed(data)


def signed(data: bytes) -> bytes:
    """A model with the digest of what is in it."""
    body = data[:-_COMMENT_SIZE]
    return body + _COMMENT % hashlib.blake2b(body, digest_size=32).hexdigest().encode()


def changed_bytes(rng: Random, data: bytes) -> bytes:
    """Some bytes of it other ones, too many or missing."""
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(found) + 1)
        match rng.randrange(6):
            case 0 | 1:
                found[at : at + 1] = bytes([rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])])
            case 2:
                size = rng.choice([4, 8])
                found[at : at + size] = (rng.choice(WORDS) % (1 << 8 * size)).to_bytes(size, "little")
            case 3:
                del found[at : at + rng.choice([1, 2, 4, 8, 64])]
            case 4:
                found[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice([1, 4, 8])))
            case 5:
                found[at : at + 8] = struct.pack("<d", rng.choice(FLOATS))
    return bytes(found)


def _other_bytes(rng: Random, data: bytes) -> bytes:
    return changed_bytes(rng, data[:-_COMMENT_SIZE]) + data[-_COMMENT_SIZE:]


def _members(data: bytes) -> list[tuple[str, bytes]]:
    """The members of an archive; none of one that is too broken by now."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [(info.filename, archive.read(info)) for info in archive.infolist()]
    except Exception:
        return []


def _archive(members: list[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        archive.comment = _COMMENT % (b"0" * 64)
        for name, content in members:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of names that are there twice
                archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, compress_type=compression)
    return out.getvalue()


def _npy(kind: str, shape: str, content: bytes) -> bytes:
    described = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    described += b" " * (-(11 + len(described)) % 64) + b"\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(described)) + described + content


def _parts(array: bytes) -> tuple[str, str, bytes]:
    """Type, shape and content of an array in NumPy's format."""
    size = int.from_bytes(array[8:10], "little")
    described = array[10 : 10 + size].decode("latin-1")
    return described.split("'")[3], "(" + described.split("(")[1].split(")")[0] + ")", array[10 + size :]


def _other_header(rng: Random, data: bytes) -> bytes:
    members = dict(_members(data))
    try:
        header = json.loads(_parts(members["header.npy"])[2].decode("utf-32-le"))
    except Exception:
        return data
    if type(header) is not dict:
        return data
    text = json.dumps(rare_json(rng, header), sort_keys=True)
    members["header.npy"] = _npy(f"<U{len(text)}", "()", text.encode("utf-32-le", "surrogatepass"))
    return _archive(list(members.items()))


def rare_json(rng: Random, content: Any) -> Any:
    """The same with one thing in it another one."""
    if type(content) is dict and content and rng.random() < 0.95:
        name = rng.choice(sorted(content))
        match rng.randrange(12):
            case 0:
                return {key: value for key, value in content.items() if key != name}
            case 1:
                return content | {name + "s": content[name]}
            case 2:
                return content | {name: content[rng.choice(sorted(content))]}
        return content | {name: rare_json(rng, content[name])}
    if type(content) is list and content and rng.random() < 0.8:
        at = rng.randrange(len(content))
        if rng.random() < 0.2:
            return rng.choice([content[:at], content + content, content[::-1], [*content, content[at]]])
        return [*content[:at], rare_json(rng, content[at]), *content[at + 1 :]]
    if type(content) in (int, float) and rng.random() < 0.4:
        return rng.choice([content + 1, content - 1, -content, content * 2, content * 1000])
    if type(content) is str and rng.random() < 0.4:
        return rng.choice([content + "x", content[:-1], content.upper(), content * 50])
    return rng.choice(VALUES)


def _other_array(rng: Random, data: bytes) -> bytes:
    members = _members(data)
    arrays = [i for i, (name, _) in enumerate(members) if name != "header.npy"]
    if not arrays:
        return data
    i = rng.choice(arrays)
    name, array = members[i]
    try:
        kind, shape, content = _parts(array)
    except Exception:
        return data
    size = int(kind[2:]) if kind[2:].isdigit() else 8
    match rng.randrange(7):
        case 0:
            kind = rng.choice(["<f8", "<f4", "<u4", "<i8", "<u8", "<U3", "|O", ">f8", "<f2"])
        case 1:
            shape = rng.choice(["()", "(0,)", "(1,)", "(4294967296,)", "(2, 2)", "(1, 1)", "(99999999999999999999,)"])
        case 2 | 3:
            at = rng.randrange(max(len(content) // size, 1)) * size
            word = struct.pack("<d", rng.choice(FLOATS)) if "f" in kind else struct.pack("<Q", rng.choice(WORDS))
            if kind == "<f4":
                word = struct.pack("<f", rng.choice([x for x in FLOATS if abs(x) < 3e38 or x != x] + [float("inf")]))
            content = content[:at] + word[:size] + content[at + size :]
        case 4:
            rows = len(content) // size
            content = rng.choice([content[:-size], content + content[:size], b"", content[::-1], content * 2])
            shape = shape.replace(f"({rows}", f"({len(content) // size}")
        case 5:
            content = changed_bytes(rng, content)
        case 6:
            word = struct.pack("<d", rng.choice(FLOATS)) if "f" in kind else struct.pack("<Q", rng.choice(WORDS))
            content = (word[:size] * (len(content) // size + 1))[: len(content)]
    members[i] = name, _npy(kind, shape, content)
    return _archive(members)


def _other_archive(rng: Random, data: bytes) -> bytes:
    members = _members(data)
    if not members:
        return data
    i = rng.randrange(len(members))
    match rng.randrange(6):
        case 0:
            del members[i]
        case 1:
            members.append((rng.choice(["state_x.npy", "more_x.npy", "../x", "x", "state_.npy"]), members[i][1]))
        case 2:
            members[i] = rng.choice(members)[0], members[i][1]
        case 3:
            return _archive(members, rng.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]))
        case 4:
            members.reverse()
        case 5:
            members.append((members[i][0], changed_bytes(rng, members[i][1])))
    return _archive(members) if members else data


def _damaged_vw(rng: Random, data: bytes) -> bytes:
    """One of Vowpal Wabbit's own: a sum guards its head, and nothing the rest."""
    try:
        header, _ = vw.read_head("", data)
        at = len(vw.binary_head(header))
    except Exception:
        return changed_bytes(rng, data)
    match rng.randrange(4):
        case 0:
            return changed_bytes(rng, data)
        case 1 | 2:
            return data[:at] + changed_bytes(rng, data[at:])
    names = ["id", "min_label", "max_label", "bits", "options"]
    rare: dict[str, list[Any]] = {
        "id": ["x" * 300, "\u00e9"], "min_label": FLOATS[:7], "max_label": FLOATS[:7],
        "bits": [0, 1, 17, 19, 31, 32, 33, 62, -1, 2**31 - 1],
        "options": [
            " --oaa 3", " --oaa 4194304", " --nn 3", " --quadratic ::", " --cubic :::", " --x", " --hash", " --lrq ab2",
            " --hash all", " --link logistic", " --noconstant", " --ftrl", " --bootstrap 2", " --interactions a",
            " --keep", "\udcff", " --sgd", " --bfgs", " --random_seed 1", " --learning_rate nan",
            " --power_t -1", " --affix +2a",
        ],
    }
    name = rng.choice(names)
    value = rng.choice(rare[name])
    if name == "options" and rng.random() < 0.5:
        value = header.options + value
    setattr(header, name, value)
    try:
        return vw.binary_head(header) + data[at:]
    except Exception:  # what cannot be written
        return changed_bytes(rng, data)


# --- caches ------------------------------------------------------------------------------------------


def damaged_cache(rng: Random, data: bytes) -> bytes:
    """A cache with something changed and the right sums."""
    if rng.random() < 0.5:  # and those of caches
        other: bytes = crafted_caches.crafted(data, rng).data
        return other
    index, end = _index(data)
    if rng.random() < 0.3:
        index = rare_json(rng, index)
        return with_index(data[:end], index)
    body = bytearray(data[:end])
    batches = index["batches"]
    for _ in range(rng.choice([1, 1, 2, 4])):
        row = rng.choice(batches)
        place, size = row[:2]
        if rng.random() < 0.5:  # its head, or the arrays behind it
            size = min(size, 256)
        size_of_word = rng.choice([1, 4, 4, 8])
        at = place + rng.randrange(max(size // size_of_word, 1)) * size_of_word
        word = rng.choice([*WORDS, rng.randrange(1 << 64)]) % (1 << 8 * size_of_word)
        if rng.random() < 0.3:
            old = int.from_bytes(body[at : at + size_of_word], "little")
            word = (old + rng.choice([-64, -8, -1, 1, 8, 64])) % (1 << 8 * size_of_word)
        body[at : at + size_of_word] = word.to_bytes(size_of_word, "little")
    body = body[:end]
    for row in batches:
        row[2] = checksum(body[row[0] : row[0] + row[1]])
    return with_index(bytes(body), index)


def _index(data: bytes) -> tuple[Any, int]:
    """The index of a cache, and where it begins."""
    place, size, _, _ = TRAILER.unpack(data[-TRAILER.size :])
    return json.loads(data[place : place + size]), place


def with_index(body: bytes, index: Any) -> bytes:
    """The batches of a cache, with an index and its sums."""
    text = json.dumps(index).encode()
    return body + text + TRAILER.pack(len(body), len(text), checksum(text), END)


def refitted(data: bytes, sources: list[str]) -> bytes:
    """A cache as if it had been made from these files as they are now; as it is if it is too broken for that."""
    try:
        index, end = _index(data)
        made_from = fingerprint(sources, index["made from"]["options"])
        made_from = {name: made_from[name] for name in index["made from"] if name in made_from}
        index["made from"] |= made_from
    except Exception:
        return data
    return with_index(data[:end], index)
