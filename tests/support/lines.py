"""Lines of VW text for tests of whole runs: drawn ones, good ones, and a bad one with what is said of it."""

import bz2
import gzip
import lzma
import random
from pathlib import Path

import pytest

GOOD = b"1 |a x y\n-1 |a y z:0.5\n"
BAD = b"1 |a x:abc\n"
SAID = "feature value 'abc' is not a number"
OLD = b"the model of yesterday"


def text(seed: int, count: int) -> bytes:
    """Lines with tags, importance, unlabelled and blank ones; two labels."""
    chance = random.Random(seed)
    lines = []
    for i in range(count):
        features = " ".join(f"w{int(chance.paretovariate(0.6)) % 200}:{chance.gauss(0, 1):.3f}" for _ in range(5))
        label = "" if i % 31 == 7 else f"{chance.choice([-1, 1])} {chance.choice([1, 0.5, 2])}"
        lines.append(f"{label} 'tag{i}|a {features} |b {chance.randrange(30)}\n" if i % 23 else "\n")
    return "".join(lines).encode()


def write(name: str, data: bytes | str) -> str:
    Path(name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return name


def zstd(data: bytes) -> bytes:
    compressed: bytes = pytest.importorskip("zstandard").ZstdCompressor().compress(data)
    return compressed


COMPRESS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstd}
