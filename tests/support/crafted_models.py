"""Crafted models: the digest is valid, and something in them is not.

The digest of a model guards against accidents, not against people; whatever a file says must end in a sentence.

    models(folder)              a healthy model of each kind, as bytes, by name
    crafted(random, healthy)    what was changed, and the bytes of the file; now and then nothing is wrong with it
    outcomes(folder, data)      exit code and words of each command that takes a model, for such a file
    wrong(outcomes)             what is wrong about these; None if nothing is

`make fuzz` tries many of them.
"""

import copy
import hashlib
import io
import json
import math
import os
import re
import struct
import warnings
import zipfile
from array import array
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from running import with_gd

from vwlite.algorithms.losses import LOSSES
from vwlite.algorithms.solvers import SOLVERS
from vwlite.algorithms.table import ALGORITHMS
from vwlite.cli import run
from vwlite.output.signals import StopSignal
from vwlite.vw.models.binary import STATE, Header, write_binary
from vwlite.vw.models.binary import VwModel as VwModel

DATA = "1 |a b:0.5 c |x d\n-1 |a c:2 e |x d f\n1 |a b |x f:3\n-1 |a e:0.25 |x d\n" * 3
CLASSES = "1 |a b:0.5 c |x d\n2 |a c:2 e |x d f\n3 |a b |x f:3\n1 |a e:0.25 |x d\n" * 3
WORDS = CLASSES.replace("1 |", "red |").replace("2 |", "green |").replace("3 |", "blue |")

# A healthy model of each kind: options of `train`. Each algorithm once, and each form of a model.
KINDS = {
    **{name: f"--algorithm {name} --loss {a.losses[-1] if 'logistic' not in a.losses else 'logistic'}"
       + (" --radius 2" if "radius" in a.required else "") + (" --threshold 0.01" if "threshold" in a.required else "")
       for name, a in ALGORITHMS.items()},
    "squared": "--bits 18 -q ax --l1 1e-6",
    "poisson": "--loss quantile --quantile-tau 0.25 --keep a",
    "averaged": "--algorithm l1-ball --radius 1 --average --loss logistic",
    "averaged shrinking": "--algorithm truncated-gradient --l1 0.01 --average --loss logistic",
    "averaged adagrad": "--algorithm adagrad --l1 0.01 --average",
    "box": "--algorithm l1-ball --radius 1 --box 0.2",
    "few": "--algorithm ftrl --nonzeros 3 --loss logistic",
    "few in a ball": "--algorithm l1-ball --nonzeros 2 --loss hinge",
    "weights only": "--loss logistic --save-weights-only",
    "weights of a simplex": "--algorithm simplex --radius 1 --bits 6 --save-weights-only",
    "simplex": "--algorithm simplex --radius 1 --features 9",
    "classes": "--oaa 3 --loss logistic",
    "classes of averages": "--oaa 3 --loss hinge --algorithm sgd --average",
    "classes of matrices": "--oaa 3 --loss squared --algorithm adagrad-full",
    "softmax": "--oaa 3 --softmax --radius 2",
    "softmax of adagrad": "--oaa 4 --softmax --algorithm adagrad",
    "softmax, weights only": "--oaa 3 --softmax --radius 2 --save-weights-only",
    "words": "--classes red,green,blue",
    "words as they come": "--oaa 5 --classes auto --loss logistic",
    "normalized": "--loss logistic --normalize l2 -q ax",
    "names": "--loss logistic --names",
    "names, normalized": "--loss logistic --names --normalize log --algorithm ftrl",
    "names of crosses": "--bits 10 -q ax --names",
    "names of classes, weights only": "--oaa 3 --loss logistic --names --save-weights-only",
    "words, weights only": "--oaa 5 --classes auto --loss logistic --save-weights-only",
}

# And of each form that `solve` makes.
SOLVED_KINDS = {
    "solved": "--l1 0.01",
    "solved, both penalties": "--l1 0.01 --l2 0.1 --loss squared --bits 18 --nonnegative",
    "solved, few": "--nonzeros 3 --loss squared-hinge --link identity",
    "solved classes": "--oaa 3 --l1 0.01",
    "solved, normalized": "--l1 0.01 --normalize log",
    "solved words": "--oaa 5 --classes auto --l1 0.01",
}

# And of each method of `calibrate`.
CALIBRATED_KINDS = {"platt": "--method platt", "isotonic": "--method isotonic"}


@dataclass
class Parts:
    """The parts of a model file."""

    header: Any
    arrays: dict[str, tuple[str, str, bytes]]  # name -> NumPy's type, the shape as text, content
    text: str | None = None  # instead of the header
    pack: dict[str, int] = field(default_factory=dict)  # members that are compressed, and how
    twice: list[str] = field(default_factory=list)  # members that are there twice
    after: list[Callable[[bytearray], bytearray]] = field(default_factory=list)  # what is done to the zip


def split_into_parts(data: bytes) -> Parts:
    """The parts of a healthy model."""
    arrays = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            size = 10 + int.from_bytes(content[8:10], "little")
            described = re.search(rb"'descr': '(.*?)'.*'shape': (\(.*?\))", content[:size])
            assert described is not None
            arrays[name.removesuffix(".npy")] = (described[1].decode(), described[2].decode(), content[size:])
    header = json.loads(arrays.pop("header")[2].decode("utf-32-le"))
    return Parts(header, arrays)


def put_together(parts: Parts) -> bytes:
    """The file, with its digest."""
    out = io.BytesIO()
    text = parts.text if parts.text is not None else json.dumps(parts.header, sort_keys=True)
    encoded = text.encode("utf-32-le", "surrogatepass")
    members = {"header": (f"<U{len(text)}", "()", encoded), **parts.arrays}
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as archive:
        warnings.simplefilter("ignore")  # a name that is there twice
        for name in [*members, *(name for name in parts.twice if name in members)]:
            kind, shape, content = members[name]
            described = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode("utf-8", "replace")
            described += b" " * (-(len(described) + 11) % 64) + b"\n"
            whole = b"\x93NUMPY\x01\0" + struct.pack("<H", len(described)) + described + content
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), whole, parts.pack.get(name, zipfile.ZIP_STORED))
    found = bytearray(out.getvalue())
    for change in parts.after:
        found = change(found)
    return sealed(bytes(found))


def sealed(content: bytes) -> bytes:
    """A zip without a comment, with the one that a model has."""
    content = content[:-2] + (79).to_bytes(2, "little")
    return content + b"vwlite blake2b=" + hashlib.blake2b(content, digest_size=32).hexdigest().encode()


def table(rng: Random, n: int = 400) -> str:
    """Rows whose label needs curves, pairs of columns and an hour: what `--algorithm auto` derives features for."""
    lines = ["y,x,a,b,at,words"]
    for _ in range(n):
        x, a, b, hour = rng.randrange(-40, 41) / 4, rng.choice("pqr"), rng.choice("stu"), rng.randrange(24)
        score = 3 * math.cos(x / 2) * (1 if a == "p" else -1) + 2 * (a + b in ("ps", "qt", "ru")) + (hour > 12)
        words = " ".join(rng.choices(("red", "green", "blue"), k=2))
        at = f"2024-01-0{rng.randrange(1, 8)}T{hour:02}:00"
        lines.append(f"{score + rng.random():.2f},{x or ''},{a},{b},{at},{words}")
    return "\n".join(lines) + "\n"


TABLES = {  # options of `train` for models with derived features, and what labels become
    "numbers": ((), lambda y: y),
    "two": ((), lambda y: "yes" if float(y) > 1 else "no"),
    "several": (("--classes", "auto"), lambda y: "uvw"[min(max(int(float(y)), 0), 2)]),
    "linear": (("--derive", "none"), lambda y: y),
}


def table_models(folder: Path, rng: Random) -> dict[str, tuple[bytes, str]]:
    """A healthy model of each kind of table, made in a folder; and its data."""
    head, *rows = table(rng).splitlines(True)
    found = {}
    for name, (options, label_of) in TABLES.items():
        text = head + "".join(f"{label_of(y)},{rest}" for y, _, rest in (row.partition(",") for row in rows))
        (folder / "table.csv").write_text(text)
        columns = ["--label", "y", "--text", "words", "--time", "at"]
        command = ["train", str(folder / "table.csv"), *columns, "-m", str(folder / "healthy"), "--quiet", *options]
        assert run(command) == 0, command
        found[name] = (folder / "healthy").read_bytes(), text
    return found


FACTS = ["baseline", "loss", "pass", "passes", "weights", "offsets", "data", "loss is", "normalize", "kept"]


def change_facts(random: Random, parts: Parts) -> str:
    """Change what the header of a model of a table says of its columns, of what is derived, or of what was chosen."""
    header = parts.header
    what = random.choice(["chosen", "derived", "derived", "product", "twice", "column", "role", "classes", "weight"])
    derived = header["options"]["derived"] if what in ("derived", "product", "twice", "column") else {}
    if what == "chosen":
        name = random.choice(FACTS)
        header["chosen"][name] = any_value(random, header["chosen"].get(name))
        what = f"chosen {name}"
    elif what == "derived":
        path = random.choice(places(derived))
        where = derived
        for key in path[:-1]:
            where = where[key]
        where[path[-1]] = any_value(random, where[path[-1]])
        what = f"derived {path}"
    elif what == "product":
        n = len(derived["columns"])
        factors = [(c, random.choice([0, 64, *map(int, derived["columns"][c].get("knots", ()))])) for c in range(n)]
        many = random.choice([1, 9])
        derived["products"] = [random.sample(factors, min(n, random.choice([2, 3]))) for _ in range(many)]
    elif what == "twice":
        derived["products"] += derived["products"] * random.choice([1, 40])
    elif what == "column":
        column = random.choice(derived["columns"])
        column["name"] = random.choice(["zz", "x", "a", "at", "words", "y", ""])
    elif what == "role":
        pair = random.choice(header["columns"]["roles"])
        pair[random.randrange(2)] = random.choice(["numeric", "categorical", "text", "time", "drop", "auto", "x", "b"])
    elif what == "classes":
        header["classes"] = random.choice([[], ["u"], header.get("classes", [])[::-1]])
    else:
        kind, shape, content = parts.arrays["weights"]
        at = 8 * random.randrange(len(content) // 8)
        x = random.choice([0.0, 1.0, -struct.unpack_from("<d", content, at)[0]])
        parts.arrays["weights"] = (kind, shape, content[:at] + struct.pack("<d", x) + content[at + 8 :])
    return what


def crafted_table(random: Random, healthy: bytes) -> bytes:
    """A model of a table with other facts in its header."""
    parts = split_into_parts(healthy)
    for _ in range(random.choice([1, 1, 2])):
        change = random.choice([change_facts, change_facts, change_header])
        try:
            change(random, parts)
        except (IndexError, KeyError, TypeError, AttributeError, ValueError):  # it has no such thing, or no more
            continue
    return put_together(parts)


def models(folder: Path) -> dict[str, bytes]:
    """A healthy model of each kind, made in a folder."""
    for name, text in (("numbers", DATA), ("classes", CLASSES), ("words", WORDS)):
        (folder / f"{name}.vw").write_text(text)
    found = {}
    for name, options in {**KINDS, **SOLVED_KINDS}.items():
        verb = "solve" if name in SOLVED_KINDS else "train"
        data = "words" if "--classes" in options else "classes" if "--oaa" in options else "numbers"
        typed = options.split() if verb == "solve" else with_gd(options.split())
        command = [verb, str(folder / f"{data}.vw"), "--quiet", "-m", str(folder / "healthy"), *typed]
        assert run(command) == 0, command
        found[name] = (folder / "healthy").read_bytes()
    (folder / "healthy").write_bytes(found["ftrl"])
    for name, options in CALIBRATED_KINDS.items():
        command = ["calibrate", str(folder / "numbers.vw"), "--quiet", "--json", "-m", str(folder / "healthy")]
        with redirect_stdout(io.StringIO()):
            assert run([*command, "-o", str(folder / "calibrated"), *options.split()]) == 0
        found[name] = (folder / "calibrated").read_bytes()
    return found


# --- what is changed ------------------------------------------------------------------------------

NAMES = [*ALGORITHMS, *LOSSES, *SOLVERS, "solve"]
NAMES += ["magic", "identity", "logistic", "poisson", "strings", "all", "cmd", "rda", "auto"]


def any_value(random: Random, old: Any = None) -> Any:
    """Something that JSON can hold, perhaps near to the old value."""
    if type(old) in (int, float) and random.random() < 0.4:
        factor = random.choice([-1, 0, 2, 0.5, 1.5, 1e-300, 1e300, 1 << 40])
        return random.choice([old + 1, old - 1, float(old), -old, old * factor if abs(old) < 1e300 else 0])
    if type(old) is list and random.random() < 0.5:
        changed = list(old)
        if changed and random.random() < 0.6:
            at = random.randrange(len(changed))
            changed[at] = any_value(random, changed[at])
            return changed
        return random.choice([changed[:-1], changed + changed, [changed], changed[::-1], [*changed, None]])
    numbers = [0, 1, -1, 2, 3, 17, 31, 33, 64, 1.5, -0.0, 0.1, 1e308, -1e308, 1e-320, 1e39, math.nan, math.inf,
               -math.inf, 255, 65536, 65537, 2**31, 2**32, 2**32 + 1, 2**53, 2**63, 2**64,
               10**18, 10**30, 10**400]
    words = ["", "a", "ab", "a|b", "a b", "1", "nan", "no", "\ud800", "\0", "ä", "\u0100", ":", "a,b", "a,a",
             "red,green,blue", "x" * 70, "x" * 10_000, "1,2," * 99, *NAMES]
    deep: Any = 1
    for _ in range(random.choice([3, 90])):
        deep = [deep]
    lists = [[], [1], [0, 1], [1, 0], [0.5, 0.5], ["ab"], ["a"], ["ab", 1], [None], [math.nan, 1], [10**400, 1],
             [[1, 2]], deep, [1] * 100_000, ["ab"] * 70, [-1e308, 1e308], [1, 2, 3], [True, False], {}, {"a": 1},
             {"a": {"b": [1]}}]
    pool = random.choice([numbers, numbers, words, lists, [None, True, False]])
    return copy.deepcopy(random.choice(pool))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path to everything in nested objects and lists; of long lists to the first items."""
    found = [path] if path else []
    for key in value if isinstance(value, dict) else range(min(len(value), 4)) if isinstance(value, list) else ():
        found += places(value[key], (*path, key))
    return found


def change_header(random: Random, parts: Parts) -> str:
    """Change one thing in the header."""
    every = places(parts.header)
    path = random.choice([p for p in every if p[0] == "options"] if random.random() < 0.5 else every)
    where = parts.header
    for key in path[:-1]:
        where = where[key]
    shown = "/".join(map(str, path))
    what = random.choice(["value", "value", "value", "value", "value", "value", "gone", "more", "name"])
    if what == "value":
        where[path[-1]] = any_value(random, where[path[-1]])
        return f"{shown} = {str(where[path[-1]])[:50]!r}"
    if what == "gone":
        del where[path[-1]]
        return f"no {shown}"
    if what == "more":
        where[random.choice(["future", "", "t", "unseen", "link", "classes", "w", "_"])] = any_value(random)
        return f"more in {shown}"
    where[f"{path[-1]}_"] = where.pop(path[-1])
    return f"{shown} has another name"


def change_text(random: Random, parts: Parts) -> str:
    """A header that is something else."""
    good = json.dumps(parts.header)
    parts.text = random.choice(
        [
            "",
            "null",
            "1",
            "{",
            "[]",
            "{}",
            '"x"',
            "[" * 100_000,
            '{"a":' * 5000,
            good[:-1],
            good + "}",
            good * 2,
            "NaN",
            good.replace("{", '{"format": 1e999, ', 1),
            good.replace("{", '{"format": 2, ', 1),
            '{"format": 7}',
            '{"format": 7, "program": [1]}',
            '{"format": 99999999999999999999, "program": "\\u001b[31m"}',
            "1" * 5000,
            good.replace(":", ": ") + " " * 100_000,
            "\ud800",
            '{"format": 1, "program": "x"}',
        ]
    )
    return f"the header is {parts.text[:20]!r}"


def change_array(random: Random, parts: Parts) -> str:
    """Change one of the arrays: its numbers, its type, its shape, its name."""
    name = random.choice(list(parts.arrays))
    kind, shape, content = parts.arrays[name]
    what = random.choice(
        ["number", "number", "number", "bits", "type", "shape", "gone", "name", "cut", "more", "twice", "swap"]
    )
    size = int(kind[2:] or 1) or 1  # an earlier change may have left a type of no size
    count = len(content) // size
    if what in ("number", "bits") and count:
        numbers = bytearray(content)
        for _ in range(random.choice([1, 1, count])):
            at = size * random.randrange(count)
            if what == "bits" or kind[1] != "f":
                new = (
                    random.randbytes(size) if random.random() < 0.5 else random.choice([b"\0", b"\xff", b"\x01"]) * size
                )
            else:
                x = random.choice(
                    [math.nan, math.inf, -math.inf, 1e308, -1e308, 1e38, 5e-324, -1.0, 0.0, -0.0, 1e-30, 1e200]
                )
                new = struct.pack(
                    "<f" if size == 4 else "<d", max(-3e38, min(3e38, x)) if size == 4 and abs(x) < 1e309 else x
                )
            numbers[at : at + size] = new
        parts.arrays[name] = (kind, shape, bytes(numbers))
    elif what == "type":
        other = random.choice(
            ["<u4", "<f8", "<f4", "<i4", ">f8", "<u8", "|O", "<U3", "|S8", "<c16", "|V8", "<u1", "<f0", "<f99999999999"]
        )
        parts.arrays[name] = (other, shape, content)
        what = f"type {other}"
    elif what == "shape":
        other = random.choice(
            ["()", "(0,)", "(1,)", f"({count}, 1)", f"(1, {count})", "(-1,)", "(1152921504606846976,)", "(,)", "x",
             "(4294967296, 4294967296)", f"({count + 1},)", f"({count}, 1, 1)", "(" + "9" * 5000 + ",)"]
        )
        parts.arrays[name] = (kind, other, content)
        what = f"shape {other[:30]}"
    elif what == "gone":
        del parts.arrays[name]
    elif what == "name":
        other = random.choice(
            ["state_x", "state_w", "more_G", "more_", "state_", "keys", "../../x", "other", "header", "state_mark",
             "names", "names_ends", "names_x"]
        )
        parts.arrays = {other if n == name else n: a for n, a in parts.arrays.items()}
        what = f"name {other}"
    elif what in ("cut", "more"):
        rows = random.randrange(count + 1)
        content = content[: size * rows] if what == "cut" else content + content
        shape = f"({len(content) // size},)" if random.random() < 0.7 else shape
        parts.arrays[name] = (kind, shape, content)
    elif what == "twice":
        parts.twice.append(name)
    elif what == "swap":
        other = random.choice(list(parts.arrays))
        parts.arrays[name], parts.arrays[other] = parts.arrays[other], parts.arrays[name]
    return f"{name}: {what}"


def change_zip(random: Random, parts: Parts) -> str:
    """Change what holds the arrays."""
    name = random.choice([*parts.arrays, "header"])
    what = random.choice(["pack", "pack", "bomb", "flag", "before", "sum", "size", "offset"])
    if what == "pack":
        parts.pack[name] = random.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    elif what == "bomb":
        name = random.choice(["keys", "weights", "more_zeros", "state_zeros"])
        parts.arrays[name] = ("<f8", f"({1 << 20},)", bytes(8 << 20))
        parts.pack[name] = zipfile.ZIP_DEFLATED
    elif what == "before":
        parts.after.append(lambda data: bytearray(b"PK\x03\x04" + random.randbytes(20)) + data)
    else:
        # A number in an entry of the directory: flags, sum, sizes, place.
        at, form = {"flag": (8, "<H"), "sum": (16, "<I"), "size": (20, "<I"), "offset": (42, "<I")}[what]
        value = random.choice([0, 1, 8, 0xFFFF, random.getrandbits(10)])
        fields = random.choice([(at,), (20, 24)]) if what == "size" else (at,)

        def change(data: bytearray) -> bytearray:
            entries = [m.start() for m in re.finditer(re.escape(b"PK\x01\x02"), bytes(data))]
            entry = random.choice(entries)
            for place in fields:
                struct.pack_into(form, data, entry + place, value)
            return data

        parts.after.append(change)
        what = f"{what} {value}"
    return f"zip: {what} {name}"


def crafted(random: Random, healthy: dict[str, bytes]) -> tuple[str, bytes]:
    """What was changed, and the changed file."""
    if random.random() < 0.1:
        return crafted_vw(random)
    kind = random.choice(list(healthy))
    parts = split_into_parts(healthy[kind])
    changes = []
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        change = random.choice([change_header] * 6 + [change_array] * 3 + [change_zip, change_text])
        try:
            changes.append(change(random, parts))
        except (IndexError, KeyError, TypeError, AttributeError):  # an earlier change has taken away what it needs
            continue
    return f"{kind}: {'; '.join(changes)}", put_together(parts)


def crafted_vw(random: Random) -> tuple[str, bytes]:
    """A model of Vowpal Wabbit whose checksum is right."""
    header = Header(min_label=-1, max_label=1, bits=18, options=" --link identity")
    state: dict[str, float] | None = {name: 0.0 for name, _ in STATE}
    state |= {
        "norm normalizer": 3.5,
        "t": 12.0,
        "total_weight": 12.0,
        "l2_state": 1.0,
        "max_label": 1.0,
        "min_label": -1.0,
    }
    slots = sorted(random.sample(range(1 << 18), 6))
    width = random.choice([1, 3, 3])
    floats = [random.uniform(0.1, 1) for _ in range(width * len(slots))]
    changes = []
    for _ in range(random.choice([0, 1, 1, 2])):
        what = random.choice(["bits", "label", "options", "state", "slots", "floats"])
        if what == "bits":
            header.bits = random.choice([0, 1, 31, 32, 5])
        elif what == "label":
            header.min_label = random.choice([math.nan, math.inf, 5.0, -math.inf])
        elif what == "options":
            header.options = random.choice(
                [
                    " --power_t -1",
                    " --learning_rate 0",
                    " --learning_rate nan",
                    " --hash all",
                    " --hash no",
                    " --keep :",
                    " --link logistic",
                    " --link cubic",
                    " --quadratic ab",
                    " --interactions a",
                    " --interactions " + "a" * 99,
                    " --oaa 3",
                    " --cb 3",
                    " --sgd",
                    " --ignore \\x00",
                    " --link",
                    " x",
                    " --noconstant",
                    " --bfgs",
                    " --initial_t 5",
                    " --quadratic \udcff\udcfe",
                    " --ignore " + "a" * 99,
                    " --ftrl",
                    " --args /dev/zero",
                    " --args=/etc/passwd",
                    " --power_t 1e30",
                ]
            )
        elif what == "state":
            name = random.choice(list(state))
            state[name] = random.choice([math.nan, math.inf, -1.0, 1e30, -1e30, 1e-300])
            if dict(STATE)[name] == "<Q":
                state[name] = 7
        elif what == "slots":
            random.shuffle(slots)
            slots[0] = random.choice([slots[1], slots[0], 0])
        else:
            floats[random.randrange(len(floats))] = random.choice([math.nan, math.inf, -1.0, 0.0, 3e38])
        changes.append(what)
    model = VwModel(header, state if width == 3 else None, width, array("I", slots), array("f", floats))
    try:
        data = write_binary(model)
    except (OverflowError, struct.error):
        return crafted_vw(random)
    if random.random() < 0.1:
        changes.append("cut")
        data = data[: random.randrange(len(data))]
    return f"vw {header.options!r}: {', '.join(changes)}", data


# --- what happens --------------------------------------------------------------------------------

COMMANDS = {
    "predict": ["predict", "-m", "crafted", "numbers.vw", "--on-error", "skip", "-p", "out"],
    "train": ["train", "-i", "crafted", "more.vw", "--on-error", "skip", "--quiet", "-m", "trained"],
    "info": ["info", "crafted"],
    "json": ["info", "--json", "crafted"],
    "weights": ["weights", "crafted", "--all"],
    "feature": ["weights", "crafted", "--feature", "a^b", "--feature", "x^nobody"],
    "export": ["export", "crafted", "--to", "vw", "-o", "exported"],
    "tsv": ["export", "crafted", "--to", "tsv", "-o", "exported"],
    "sql": ["export", "crafted", "--to", "sql", "-o", "exported"],
    "c": ["export", "crafted", "--to", "c", "-o", "exported"],
    "names": ["names", "crafted", "more.vw", "--on-error", "skip", "-o", "named", "--quiet"],
    "merge": ["merge", "crafted", "--holdout", "more.vw", "--on-error", "skip", "-o", "merged", "--quiet"],
    "check": ["check", "crafted"],
    "solve": ["solve", "-i", "crafted", "more.vw", "--l1", "0.01", "--on-error", "skip", "--quiet", "-m", "solved"],
    "certify": ["certify", "-m", "crafted", "more.vw", "--l1", "0.01", "--on-error", "skip", "--quiet"],
}
GOOD = {"check": (0, 1), **dict.fromkeys(("train", "solve", "certify", "merge"), (0, 2, 65))}  # exit codes
OTHERS = (0, 65)  # those of all others


def outcomes(folder: Path, data: bytes) -> dict[str, tuple[int, str, str]]:
    """Exit code, standard output and error of each command, for a model of these bytes. Changes the working folder."""
    os.chdir(folder)
    Path("crafted").write_bytes(data)
    Path("numbers.vw").write_text(DATA)
    Path("more.vw").write_text(DATA + CLASSES + WORDS)
    return {name: _captured(arguments) for name, arguments in COMMANDS.items()}


def _captured(arguments: list[str]) -> tuple[int, str, str]:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") for _ in range(2))
    entering, StopSignal.__enter__ = StopSignal.__enter__, lambda self: self  # type: ignore[method-assign,assignment]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = run(arguments)
    finally:
        StopSignal.__enter__ = entering  # type: ignore[method-assign]
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return code, texts[0], texts[1]


def wrong(found: dict[str, tuple[int, str, str]]) -> str | None:
    """What should not be so."""
    for name, (code, out, err) in found.items():
        words = out if name == "check" else err
        if code not in GOOD.get(name, OTHERS):
            return f"{name}: exit code {code}: {words.strip()[-300:]}"
        if "internal error" in words or "Traceback" in words or "out of memory" in words:
            return f"{name}: {words.strip()[-300:]}"
        if code and not words.strip():
            return f"{name}: exit code {code} without a word"
        if code and any(len(line) > 500 or not line.isprintable() for line in words.split("\n")):
            return f"{name}: not a sentence: {words[:300]!r}"
        if name in ("weights", "feature", "json") and not code and re.search(r"[\t :]-?(nan|inf|Infinity|NaN)\b", out):
            return f"{name}: not finite: {out[:300]}"
    if (found["check"][0] == 0) != (found["predict"][0] == 0) and "diverged" not in found["predict"][2]:
        return f"check: {found['check'][1].strip()}, predict: {found['predict'][2].strip()}"
    for name in ("info", "json", "weights", "feature"):
        if found[name][0] and not found["predict"][0]:
            return f"{name} refuses what predict takes: {found[name][2].strip()}"
    return None
