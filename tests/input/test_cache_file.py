"""The file of a cache: what comes out is what went in, and no other byte is ever used."""

import errno
import gc
import itertools
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from batches import Line, batch_of
from slow_rules import xxh64
from tiers import ALL, drawn

import vwlite
from vwlite.errors import BusyError, CannotCreateError, NoInputError, UsageError, WriteError
from vwlite.input import cache_name
from vwlite.input.cache import (
    ALIGNMENT,
    MAGIC,
    SAMPLE,
    TRAILER,
    VERSION,
    CacheUnusable,
    CacheWriter,
    fingerprint,
    open_cache,
)

HELPERS = [str(Path(__file__).parents[1] / folder) for folder in ("support", "reference")]
OPTIONS = {"format": "auto", "hash_all": False, "labels": (0.0, 1.0), "skip": False}


def some_batches(seed=1, count=4, most_lines=6):
    """Batches of all sizes, one of them without any line."""
    chance = random.Random(seed)
    batches = []
    line = 1
    for i in range(count):
        batch = batch_of(
            Line(
                label=chance.choice([-1.0, 1.0, float("nan")]),
                features=[(chance.getrandbits(32), chance.gauss(0, 1)) for _ in range(chance.randrange(6))],
                importance=chance.random(),
                tag=bytes(chance.choices(b"abc", k=chance.randrange(9))),
            )
            for _ in range(0 if i == 1 else chance.randrange(1, most_lines))
        )
        batch.source, batch.first_line = f"day{i // 2}.vw", line
        line += len(batch)
        batches.append(batch)
    return batches


def content(batch):
    return batch.source, batch.first_line, b"".join(batch.dump())


def write(path, batches, made_from):
    writer = CacheWriter(None if path is None else str(path), made_from)
    for batch in batches:
        writer.add(batch)
    return writer.finish()


def delivered(cache):
    return [content(batch) for batch, _ in cache.batches()]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "day1.vw"
    path.write_bytes(b"1 | a\n" * 100)
    return path


@pytest.fixture
def stored(tmp_path, source):
    """The path of a small cache, what is in it, and its fingerprint."""
    path = tmp_path / "day1.cache"
    made_from = fingerprint([str(source)], OPTIONS)
    batches = some_batches()
    write(path, batches, made_from)
    return path, [content(batch) for batch in batches], made_from


def refused(path, made_from):
    """Why the cache is not used."""
    with pytest.raises(CacheUnusable) as e:
        open_cache(str(path), made_from)
    return str(e.value)


# --- round trips ---------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 2, 9])
@pytest.mark.parametrize("named", [True, False])
def test_batches_come_back_as_often_as_they_are_requested(tmp_path, named, count):
    batches = some_batches(count=count)
    expected = [content(batch) for batch in batches]
    cache = write(tmp_path / "c" if named else None, batches, {})
    for _ in range(3):
        assert delivered(cache) == expected


def test_a_cache_is_used_again_by_a_later_run(stored):
    path, expected, made_from = stored
    for _ in range(2):
        assert delivered(open_cache(str(path), made_from)) == expected
    assert delivered(open_cache(str(path), None)) == expected


def test_a_batch_that_is_filled_again_is_kept_as_it_was(tmp_path):
    from vwlite.core.data.batch import Batch
    from vwlite.core.text.parser import Parser

    parser, batch = Parser(format="vw"), Batch()
    writer = CacheWriter(str(tmp_path / "c"), {})
    expected = []
    for text in (b"1 'one |a b:2 c\n-1 |a d\n", b"\n", b"1 | longer than before " + b"x " * 500 + b"\n", b"-1 |z z\n"):
        assert parser.parse(text, batch) == 0
        writer.add(batch)
        expected.append(content(batch))
    assert delivered(writer.finish()) == expected
    assert delivered(open_cache(str(tmp_path / "c"), None)) == expected


def test_batches_are_aligned_and_places_reach_the_end(tmp_path):
    cache = write(tmp_path / "c", some_batches(count=7), {})
    places = [place for _, place in cache.batches()]
    assert places == sorted(places)
    assert places[-1] < cache.size == os.path.getsize(tmp_path / "c")
    data = (tmp_path / "c").read_bytes()
    place, size, _, _ = TRAILER.unpack(data[-TRAILER.size :])
    entries = json.loads(data[place : place + size])["batches"]
    assert len(entries) == 7
    assert all(entry[0] % ALIGNMENT == 0 for entry in entries)


def test_the_same_batches_give_the_same_bytes(tmp_path):
    for name in "ab":
        write(tmp_path / name, some_batches(), {"a": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


# --- damage --------------------------------------------------------------------------------------


def test_every_truncation_is_refused(tmp_path, stored):
    path, _, made_from = stored
    data = path.read_bytes()
    for size in range(len(data)):
        path.write_bytes(data[:size])
        why = refused(path, made_from)
        assert why in ("it is empty", "it is not a cache of vwlite", "it is truncated", "it is truncated or damaged",
                       "its format has another version"), (size, why)


@pytest.mark.parametrize("more", [b"\0", b"\n", bytes(64), b"x" * TRAILER.size])
def test_trailing_bytes_are_refused(stored, more):
    path, _, made_from = stored
    path.write_bytes(path.read_bytes() + more)
    assert "truncated or damaged" in refused(path, made_from)
    assert "truncated or damaged" in refused(path, None)


@pytest.mark.drawn
def test_every_flipped_bit_is_refused(tmp_path, source):
    """In all bytes of a small cache: header, padding, batches, index, trailer."""
    path, made_from = tmp_path / "c", fingerprint([str(source)], {"format": "vw"})
    write(path, some_batches(count=2, most_lines=2), made_from)
    data = path.read_bytes()
    place, size, _, _ = TRAILER.unpack(data[-TRAILER.size :])
    batches = json.loads(data[place : place + size])["batches"]
    assert any(b[0] > a[0] + a[1] for a, b in itertools.pairwise(batches)), "there is some padding"
    with open(path, "r+b", buffering=0) as f:
        for at, byte in enumerate(data):
            for bit in range(8) if ALL else (at % 8, (at + 4) % 8):
                os.pwrite(f.fileno(), bytes([byte ^ 1 << bit]), at)
                refused(path, made_from)
            os.pwrite(f.fileno(), bytes([byte]), at)
    open_cache(str(path), made_from)


@pytest.mark.drawn
def test_flipped_bits_in_a_larger_cache_are_refused(stored):
    path, _, made_from = stored
    write(path, some_batches(seed=2, count=20, most_lines=60), made_from)
    data = path.read_bytes()
    chance = random.Random(3)
    with open(path, "r+b", buffering=0) as f:
        for _ in range(drawn(2000)):
            at, bit = chance.randrange(len(data)), chance.randrange(8)
            os.pwrite(f.fileno(), bytes([data[at] ^ 1 << bit]), at)
            refused(path, None)
            os.pwrite(f.fileno(), data[at : at + 1], at)
    open_cache(str(path), made_from)


def test_runs_of_zeros_are_refused(stored):
    """As a file system leaves them after a crash."""
    path, _, made_from = stored
    data = path.read_bytes()
    for size in (16, 64, 512):
        for at in range(0, len(data) - size, 16):
            if any(data[at : at + size]):
                path.write_bytes(data[:at] + bytes(size) + data[at + size :])
                refused(path, made_from)


def test_two_batches_that_changed_places_are_refused(tmp_path):
    """Each is whole, but not where the index says."""
    path = tmp_path / "c"
    one, two = batch_of([Line(1, [(1, 1.0)])]), batch_of([Line(1, [(2, 1.0)])])
    write(path, [one, two], {})
    data = bytearray(path.read_bytes())
    place, size, _, _ = TRAILER.unpack(data[-TRAILER.size :])
    (a, n, *_), (b, *_) = json.loads(data[place : place + size])["batches"]
    data[a : a + n], data[b : b + n] = data[b : b + n], data[a : a + n]
    path.write_bytes(data)
    assert refused(path, None) == "it is damaged"


def test_what_is_not_a_cache_is_refused(tmp_path, source):
    made_from = fingerprint([str(source)], OPTIONS)
    assert refused(source, made_from) == "it is not a cache of vwlite"
    assert refused(tmp_path / "none", made_from) == "No such file or directory"
    assert refused(tmp_path, made_from) == "Is a directory"
    (tmp_path / "c").write_bytes(b"")
    assert refused(tmp_path / "c", made_from) == "it is empty"
    (tmp_path / "c").write_bytes(os.urandom(1000))
    assert refused(tmp_path / "c", made_from) == "it is not a cache of vwlite"


def test_another_version_of_the_format_is_refused(stored):
    path, _, made_from = stored
    data = bytearray(path.read_bytes())
    assert data[: len(MAGIC)] == MAGIC
    data[len(MAGIC) - 2 : len(MAGIC)] = (VERSION + 1).to_bytes(2, "little")
    path.write_bytes(data)
    assert refused(path, made_from) == "its format has another version"


# --- stale and foreign ---------------------------------------------------------------------------


def test_an_unchanged_source_has_the_same_fingerprint(source):
    assert fingerprint([str(source)], OPTIONS) == fingerprint([str(source)], dict(OPTIONS))


@pytest.mark.parametrize(("more", "later"), [(b"1 | b\n", 0), (b"", 1000)], ids=["size", "time"])
def test_another_size_or_time_is_stale(stored, source, more, later):
    path, _, _ = stored
    info = os.stat(source)
    with open(source, "ab") as f:
        f.write(more)
    os.utime(source, ns=(info.st_atime_ns, info.st_mtime_ns + later))
    assert refused(path, fingerprint([str(source)], OPTIONS)) == "day1.vw has changed since it was made"


@pytest.mark.parametrize("size", [1, 100, SAMPLE, SAMPLE + 1, 10 * SAMPLE])
def test_another_content_is_stale_even_with_the_same_size_and_time(tmp_path, size):
    """Wherever it is changed: within the samples of the content, or where only the time of change tells."""
    path = tmp_path / "data"
    path.write_bytes(bytes(size))
    info = os.stat(path)
    samples = set()
    for at in {0, min(size, SAMPLE) - 1, size // 3, min(size - 1, size // 2), size * 2 // 3, size - 1}:
        before = fingerprint([str(path)], {})
        time.sleep(0.02)  # longer than the clock of the file system takes for a step
        with open(path, "r+b") as f:
            f.seek(at)
            f.write(b"x")
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
        after = fingerprint([str(path)], {})
        samples.add(before["sources"][0]["sample"] != after["sources"][0]["sample"])
        assert after["sources"][0]["mtime"] == before["sources"][0]["mtime"]
        assert after != before, at
    assert samples == ({True, False} if size == 10 * SAMPLE else {True})


def test_other_files_are_foreign(tmp_path, stored, source):
    path, _, _ = stored
    other = tmp_path / "day2.vw"
    other.write_bytes(source.read_bytes())
    assert refused(path, fingerprint([str(other)], OPTIONS)) == "it was made from day1.vw, not from day2.vw"
    both = [str(source), str(other)]
    assert refused(path, fingerprint(both, OPTIONS)) == "it was made from other files"
    write(path, [], fingerprint(both, OPTIONS))
    open_cache(str(path), fingerprint(both, OPTIONS))
    assert "not from day2.vw" in refused(path, fingerprint(both[::-1], OPTIONS))  # the order matters


@pytest.mark.parametrize("name", OPTIONS)
def test_other_options_are_named(stored, source, name):
    path, _, _ = stored
    changed = fingerprint([str(source)], {**OPTIONS, name: "another"})
    assert refused(path, changed) == f"it was made with another {name.replace('_', ' ')}"
    missing = fingerprint([str(source)], {k: v for k, v in OPTIONS.items() if k != name})
    assert refused(path, missing) == f"it was made with another {name.replace('_', ' ')}"


def test_an_option_that_came_later_is_named(stored, source):
    path, _, _ = stored
    assert "another ngrams" in refused(path, fingerprint([str(source)], {**OPTIONS, "ngrams": 2}))


def test_other_byte_order_and_program_are_named(tmp_path, source, monkeypatch):
    made_from = fingerprint([str(source)], OPTIONS)
    write(tmp_path / "c", [], {**made_from, "byte order": "middle"})
    assert refused(tmp_path / "c", made_from) == "it was made on another kind of machine"
    write(tmp_path / "c", [], {**made_from, "program": "0.0.1"})
    assert refused(tmp_path / "c", made_from) == "it was made by vwlite 0.0.1"
    assert made_from["program"] == vwlite.__version__


def test_a_pair_of_data_and_cache_in_a_folder_that_was_moved_is_still_good(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "day1.vw").write_bytes(b"1 | a\n")
    batches = some_batches()
    write(tmp_path / "here" / "day1.cache", batches, fingerprint([str(tmp_path / "here" / "day1.vw")], OPTIONS))
    os.rename(tmp_path / "here", tmp_path / "there")
    made_from = fingerprint([str(tmp_path / "there" / "day1.vw")], OPTIONS)
    assert delivered(open_cache(str(tmp_path / "there" / "day1.cache"), made_from)) == [content(b) for b in batches]


def test_a_name_that_is_not_a_text(tmp_path):
    name = os.path.join(os.fsencode(tmp_path), b"day\xff.vw")
    with open(name, "wb") as f:
        f.write(b"1 | a\n")
    made_from = fingerprint([os.fsdecode(name)], {})
    write(tmp_path / "c", [], made_from)
    open_cache(str(tmp_path / "c"), made_from)


def test_a_pipe_and_a_missing_file_have_no_fingerprint(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(UsageError, match="not a regular file"):
        fingerprint([str(tmp_path / "fifo")], {})
    with pytest.raises(NoInputError, match="none: No such file"):
        fingerprint([str(tmp_path / "none")], {})


# --- files ---------------------------------------------------------------------------------------


def test_nothing_but_the_cache_is_left(tmp_path):
    write(tmp_path / "c", some_batches(), {})
    assert os.listdir(tmp_path) == ["c"]


def test_a_cache_that_is_not_finished_leaves_the_old_one(tmp_path, stored):
    path, expected, made_from = stored
    before = sorted(os.listdir(tmp_path))
    writer = CacheWriter(str(path), made_from)
    writer.add(some_batches(seed=9)[0])
    writer.close()
    assert sorted(os.listdir(tmp_path)) == before
    assert delivered(open_cache(str(path), made_from)) == expected


def test_a_reader_is_not_disturbed_by_a_new_cache(stored):
    path, expected, made_from = stored
    cache = open_cache(str(path), made_from)
    write(path, some_batches(seed=9), made_from)
    assert delivered(cache) == expected


def test_two_writers_of_one_cache(tmp_path):
    first = CacheWriter(str(tmp_path / "c"), {})
    with pytest.raises(BusyError, match="another job"):
        CacheWriter(str(tmp_path / "c"), {})
    first.close()
    CacheWriter(str(tmp_path / "c"), {}).close()


def test_a_temporary_cache_has_no_name(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    writer = CacheWriter(None, {})
    writer.add(some_batches()[0])
    assert os.listdir(tmp_path) == []  # killed now, nothing is left
    assert len(delivered(writer.finish())) == 1
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_created(tmp_path, monkeypatch):
    with pytest.raises(CannotCreateError, match="there is no folder"):
        CacheWriter(str(tmp_path / "none" / "c"), {})
    with pytest.raises(CannotCreateError, match="folder"):
        CacheWriter(str(tmp_path), {})
    os.mkfifo(tmp_path / "fifo")
    for path in ("/dev/null", str(tmp_path / "fifo")):
        with pytest.raises(CannotCreateError, match="not a regular file"):
            CacheWriter(path, {})
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(WriteError, match=r"none cannot be written: No such file or directory.*TMPDIR"):
        CacheWriter(None, {})


def test_descriptors_are_given_back(tmp_path):
    def count():
        gc.collect()
        return len(os.listdir("/dev/fd"))

    before, rounds = count(), 8
    for _ in range(rounds):
        for path in (tmp_path / "c", None):
            delivered(write(path, some_batches(), {}))
        delivered(open_cache(str(tmp_path / "c"), None))
        CacheWriter(str(tmp_path / "c"), {}).close()
    assert count() < before + rounds  # threads of the libraries open some of their own


FULL = """
import resource, sys
sys.path[:0] = sys.argv[2:]
from batches import Line, batch_of
from slow_rules import xxh64
from vwlite.input.cache import CacheWriter
from vwlite.errors import VwliteError
batch = batch_of(Line(1.0, [(i, 1.0) for i in range(50)]) for _ in range(100))
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
writer = CacheWriter(sys.argv[1] or None, {})
try:
    for _ in range(10):
        writer.add(batch)
    writer.finish()
except VwliteError as e:
    writer.close()
    print(e)
    sys.exit(e.exit_code)
"""


@pytest.mark.parametrize("named", [True, False])
def test_a_full_disk_is_named(tmp_path, named):
    path = str(tmp_path / "c") if named else ""
    done = subprocess.run(
        [sys.executable, "-c", FULL, path, *HELPERS],
        capture_output=True, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}, timeout=60,
    )
    assert done.returncode == WriteError.exit_code, done.stderr
    assert os.strerror(errno.EFBIG) in done.stdout
    assert str(tmp_path) in done.stdout
    if not named:
        assert "TMPDIR" in done.stdout
    assert os.listdir(tmp_path) == []


LARGE = """
import resource, sys
from vwlite.input.cache import open_cache
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 if sys.platform == "linux" else 1024)
import vwlite.core.data.batch
from concurrent.futures import ThreadPoolExecutor
before = peak()
cache = open_cache(sys.argv[1], None)
for _ in range(2):
    for batch, _ in cache.batches(int(sys.argv[2])):
        assert sum(batch.kind) == 0 and batch.value[-1] == 2.0 and batch.hash[-1]
print(peak() - before)
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_memory_does_not_grow_with_the_cache(tmp_path, threads):
    batch = batch_of([Line(1.0, [(i + 1, 2.0) for i in range(60_000)])] * 2)
    writer = CacheWriter(str(tmp_path / "c"), {})
    for _ in range(64):
        writer.add(batch)
    assert writer.finish().size > 50_000_000
    done = subprocess.run(
        [sys.executable, "-c", LARGE, str(tmp_path / "c"), str(threads)],
        capture_output=True, text=True, check=True, timeout=60,
    )
    assert int(done.stdout) < 24 << 10  # KiB


def test_the_name_beside_the_data():
    assert cache_name("a/day1.vw.gz") == "a/day1.vw.gz.vwlite-cache"


def test_the_format_is_as_it_is_described(stored):
    """Magic, batches, index, trailer: read without the code that wrote it."""
    path, expected, made_from = stored
    data = path.read_bytes()
    assert data[:16] == b"vwlite cache\0\0\5\0"
    place, size, found, end = struct.unpack("<QQQ8s", data[-32:])
    assert end == b"vwl end\0"
    assert place + size + 32 == len(data)
    index = data[place : place + size]
    assert found == xxh64(index)
    index = json.loads(index)
    assert index["made from"] == json.loads(json.dumps(made_from))
    for (at, length, check, source, first_line), (*origin, dump) in zip(index["batches"], expected, strict=True):
        assert data[at : at + length] == dump
        assert xxh64(dump) == check
        assert [source, first_line] == origin
