"""The reader: whatever way bytes arrive, the lines that come out are those that went in."""

import bz2
import gzip
import lzma
import os
import random
import threading
import time
import zlib
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import standard_input
from tiers import drawn

from vwlite.core.text.lines import count_lines
from vwlite.errors import DataError, NoInputError
from vwlite.input.reader import Block, read_blocks, total_size
from vwlite.input.sources import UnreadableInput, check_sources

zstandard = pytest.importorskip("zstandard")

COMPRESS = {
    "plain": lambda data: data,
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}
COMPRESSED = [name for name in COMPRESS if name != "plain"]
TEXT = b"".join(b"%d |a x%d:%d\n" % (i % 2, i, i * i) for i in range(40))
PATIENT = 20  # seconds after which a line will not come any more


def read(path, **options):
    return list(read_blocks([str(path)], **options))


def text_of(items):
    return b"".join(bytes(item.data) for item in items if isinstance(item, Block))


def faults_of(items):
    return [item for item in items if isinstance(item, UnreadableInput)]


def check_blocks(items, data):
    """Blocks hold the data, whole lines each, numbered rightly."""
    blocks = [item for item in items if isinstance(item, Block)]
    assert text_of(items) == data
    line = 1
    for i, block in enumerate(blocks):
        assert bytes(block.data)
        assert block.first_line == line
        assert bytes(block.data).endswith(b"\n") or i == len(blocks) - 1
        line += bytes(block.data).count(b"\n")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("reader") / "data"


# --- any bytes, any way --------------------------------------------------------------------------

lines = st.binary(max_size=300) | st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\0", b"1 |a b\n"])).map(b"".join)


@settings(deadline=None, max_examples=drawn(150))
@given(data=lines, block_size=st.integers(1, 400), kind=st.sampled_from(list(COMPRESS)))
def test_blocks_are_the_input_in_whole_lines(scratch, data, block_size, kind):
    data = b"-" + data  # no continuation can be magic bytes
    scratch.write_bytes(COMPRESS[kind](data))
    check_blocks(read(scratch, block_size=block_size), data)


@settings(deadline=None, max_examples=40)
@given(parts=st.lists(lines, max_size=5), block_size=st.integers(1, 100), seed=st.integers(0, 9))
def test_members_of_any_kind_follow_each_other_with_padding_between(scratch, parts, block_size, seed):
    chance = random.Random(seed)
    stored = COMPRESS["gzip"](b"-")
    for part in parts:
        stored += bytes(chance.randrange(20)) + COMPRESS[chance.choice(COMPRESSED)](part)
    scratch.write_bytes(stored + bytes(chance.randrange(600)))
    check_blocks(read(scratch, block_size=block_size), b"-" + b"".join(parts))


@pytest.mark.parametrize("kind", COMPRESS)
def test_much_data_in_few_bytes(scratch, kind):
    data = b"0 | a\n" * 1_000_000
    scratch.write_bytes(COMPRESS[kind](data))
    items = read(scratch)
    check_blocks(items, data)
    assert max(len(bytes(item.data)) for item in items) < 1 << 25  # memory does not follow what is compressed


@pytest.mark.third
@pytest.mark.parametrize("kind", COMPRESSED)
def test_blocks_stay_small_whatever_a_few_bytes_expand_to(scratch, kind):
    """A block of 64 MB makes a batch of 200 MB."""
    data = b"0 | a\n" * 5_000_000
    scratch.write_bytes(COMPRESS[kind](data))
    size = 0
    for block in read_blocks([str(scratch)]):
        assert len(bytes(block.data)) < 3 << 20
        size += len(bytes(block.data))
    assert size == len(data)


@settings(deadline=None, max_examples=drawn(200))
@given(data=st.binary() | st.integers(0, 2000).map(lambda n: b"\n" * n), skip=st.integers(0, 40))
def test_lines_are_counted(data, skip):
    assert count_lines(data) == data.count(b"\n")
    assert count_lines(memoryview(data)[skip:]) == data[skip:].count(b"\n")


def test_several_sources_are_numbered_on_their_own(tmp_path):
    (tmp_path / "a").write_bytes(b"a1\na2")
    (tmp_path / "b").write_bytes(b"")
    (tmp_path / "c").write_bytes(gzip.compress(b"c1\nc2\n"))
    sources = [str(tmp_path / name) for name in "abc"]
    found = [(bytes(item.data), item.source, item.source_index, item.first_line) for item in read_blocks(sources)]
    assert found == [(b"a1\na2", sources[0], 0, 1), (b"c1\nc2\n", sources[2], 2, 1)]


def test_progress_counts_stored_bytes(tmp_path):
    (tmp_path / "a").write_bytes(gzip.compress(TEXT))
    (tmp_path / "b").write_bytes(TEXT)
    sources = [str(tmp_path / name) for name in "ab"]
    items = list(read_blocks(sources, block_size=64))
    done = [item.done for item in items]
    assert done == sorted(done)
    assert done[-1] == items[-1].total == total_size(sources) == sum(os.path.getsize(s) for s in sources)


# --- damage --------------------------------------------------------------------------------------


def check_damaged(items, data):
    """Either all of the data, or some of its lines and a fault."""
    text = text_of(items)
    if faults_of(items):
        assert data.startswith(text)
        assert text == b"" or text.endswith(b"\n")
    else:
        assert text == data


@pytest.mark.parametrize("kind", COMPRESSED)
def test_every_truncation_is_a_fault(scratch, kind):
    stored = COMPRESS[kind](TEXT)
    whole = 0
    # Fewer bytes than the magic are not a compressed file; as text they are not a valid line either.
    for size in range({"gzip": 2, "bzip2": 3, "xz": 6, "zstd": 4}[kind], len(stored)):
        scratch.write_bytes(stored[:size])
        items = read(scratch, skip_faults=True, block_size=50)
        check_damaged(items, TEXT)
        assert len(faults_of(items)) == 1
        assert "ends early" in faults_of(items)[0].message
        with pytest.raises(DataError, match="ends early"):
            read(scratch)
        whole += bool(text_of(items))
    assert whole


@pytest.mark.parametrize("kind", COMPRESSED)
def test_second_member_truncated(scratch, kind):
    first, second = TEXT[:300], TEXT[300:]
    stored = COMPRESS[kind](first)
    member = COMPRESS[kind](second)
    for size in range(1, len(member)):
        scratch.write_bytes(stored + member[:size])
        items = read(scratch, skip_faults=True, block_size=50)
        check_damaged(items, TEXT)
        assert len(faults_of(items)) == 1


@pytest.mark.parametrize("kind", COMPRESSED)
def test_flipped_bits_never_change_a_line_in_silence(scratch, kind):
    stored = COMPRESS[kind](TEXT)
    found = 0
    places = random.Random(1).sample(range(8 * len(stored)), 1200)
    for at in places:
        damaged = bytearray(stored)
        damaged[at // 8] ^= 1 << at % 8
        scratch.write_bytes(damaged)
        items = read(scratch, skip_faults=True)
        if not faults_of(items):
            # Bits that mean nothing (a time, a file system), or a first byte that makes it text of its own.
            assert text_of(items) in (TEXT, bytes(damaged))
        found += bool(faults_of(items))
    assert found > 900


def test_lines_before_a_damaged_end_are_numbered(scratch):
    stored = gzip.compress(TEXT)
    scratch.write_bytes(stored[:-1])
    *_, fault = read(scratch, skip_faults=True)
    assert (fault.source, fault.line) == (str(scratch), 41)
    assert fault.message.startswith("the gzip data ends early") and fault.message.endswith("(after line 40)")


@pytest.mark.parametrize(
    ("magic", "name"),
    [
        (b"PK\x03\x04", "zip"),
        (b"\x04\x22\x4d\x18", "lz4"),
        (b"\x1f\x9d", "compress"),
        (b"7z\xbc\xaf\x27\x1c", "7z"),
        (b"\xff\x06\x00\x00sNaPpY", "snappy"),
        (b"LZIP", "lzip"),
    ],
)
@pytest.mark.parametrize("block_size", [1, 1 << 20])
def test_unsupported_compression_is_named(scratch, magic, name, block_size):
    scratch.write_bytes(magic + b"abc\n" * 9)
    (fault,) = read(scratch, skip_faults=True, block_size=block_size)
    assert fault.message == f"compressed with {name}, which is not supported: decompress it first"
    with pytest.raises(DataError, match=f"^{scratch}:1:1: compressed with {name}"):
        read(scratch)


@pytest.mark.parametrize("kind", COMPRESSED)
def test_text_behind_compressed_data_is_a_fault(scratch, kind):
    scratch.write_bytes(COMPRESS[kind](TEXT) + b"1 | a b c d e\n")
    items = read(scratch, skip_faults=True)
    assert text_of(items) == TEXT
    assert "bytes after the end" in faults_of(items)[0].message


def test_after_a_damaged_source_the_next_one_is_read(tmp_path):
    (tmp_path / "a").write_bytes(gzip.compress(TEXT)[:-9])
    (tmp_path / "b").write_bytes(b"b\n")
    items = list(read_blocks([str(tmp_path / "a"), str(tmp_path / "b")], skip_faults=True))
    assert bytes(items[-1].data) == b"b\n"
    assert len(faults_of(items)) == 1


# --- lines without end ---------------------------------------------------------------------------


@settings(deadline=None, max_examples=drawn(200))
@given(
    sizes=st.lists(st.integers(0, 60), max_size=12),
    block_size=st.integers(1, 100),
    max_line=st.integers(1, 40),
    ended=st.booleans(),
    kind=st.sampled_from(["plain", "gzip", "zstd"]),
)
def test_lines_that_are_too_long_are_left_out(scratch, sizes, block_size, max_line, ended, kind):
    rows = [b"-" * size + b"\n" for size in sizes]
    if rows and not ended:
        rows[-1] = rows[-1][:-1]
    scratch.write_bytes(COMPRESS[kind](b"".join(rows)))
    items = read(scratch, block_size=block_size, max_line=max_line, skip_faults=True)
    long = [i + 1 for i, row in enumerate(rows) if len(row.rstrip()) > max_line]
    assert [fault.line for fault in faults_of(items)] == long
    assert text_of(items) == b"".join(row for row in rows if len(row.rstrip()) <= max_line)
    for item in items:
        if isinstance(item, Block):
            assert bytes(item.data).startswith(rows[item.first_line - 1])
    if long:
        with pytest.raises(DataError, match=f":{long[0]}:1: line is longer"):
            read(scratch, block_size=block_size, max_line=max_line)


# --- pipes ---------------------------------------------------------------------------------------


@contextmanager
def piped():
    """The two ends of a pipe; the reading end as the name of a source."""
    reading, writing = os.pipe()
    try:
        yield f"/dev/fd/{reading}", writing
    finally:
        os.close(reading)


def answers(source, writing, pieces):
    """Write the pieces, each (bytes, lines that must have come before the next one is written)."""
    arrived, ready = [], threading.Condition()

    def consume():
        for block in read_blocks([source]):
            with ready:
                arrived.append(bytes(block.data))
                ready.notify_all()

    thread = threading.Thread(target=consume)
    thread.start()
    waits = []
    try:
        for piece, expected in pieces:
            begin = time.monotonic()
            os.write(writing, piece)
            with ready:
                came = ready.wait_for(lambda e=expected: len(b"".join(arrived)) >= len(e), PATIENT)
                assert came, f"{expected!r} has not come, only {arrived}"
                assert b"".join(arrived) == expected
            waits.append(time.monotonic() - begin)
    finally:
        os.close(writing)
        thread.join(PATIENT)
    assert not thread.is_alive()
    assert min(waits) < 0.05  # noise makes single answers late, not all of them


def test_a_line_in_a_pipe_does_not_wait_for_the_next():
    with piped() as (source, writing):
        answers(source, writing, [(b"-%d\n" % i, b"".join(b"-%d\n" % j for j in range(i + 1))) for i in range(20)])


def test_whole_lines_do_not_wait_for_the_end_of_the_last():
    with piped() as (source, writing):
        answers(source, writing, [(b"one\nt", b"one\n"), (b"wo", b"one\n"), (b"\nthree\n", b"one\ntwo\nthree\n")])


def test_a_line_is_delivered_when_the_beginning_of_the_next_arrives_at_once(monkeypatch):
    """No pause between two reads, but the second has no line end."""
    with piped() as (source, writing):
        os.write(writing, b"one\ntw")
        blocks = read_blocks([source], block_size=4)  # the first read is `one\n`
        found = []
        thread = threading.Thread(target=lambda: found.append(bytes(next(blocks).data)))
        thread.start()
        thread.join(PATIENT / 4)
        late = thread.is_alive()
        os.close(writing)
        thread.join()
        assert not late
        assert found == [b"one\n"]
        assert [bytes(block.data) for block in blocks] == [b"tw"]


def test_a_line_in_a_compressed_pipe_arrives_when_it_is_flushed():
    with piped() as (source, writing):
        compressor = zlib.compressobj(wbits=31)
        pieces = []
        for i in range(20):
            line = b"-%d\n" % i
            stored = compressor.compress(line) + compressor.flush(zlib.Z_SYNC_FLUSH)
            pieces.append((stored, b"".join(b"-%d\n" % j for j in range(i + 1))))
        pieces.append((compressor.flush(), pieces[-1][1]))
        answers(source, writing, pieces)


def first_answer(stored, block_size):
    """The first lines that come from a pipe with these bytes in it, which is not at its end."""
    with piped() as (source, writing):
        os.write(writing, stored)
        blocks = read_blocks([source], block_size=block_size)
        found = []
        thread = threading.Thread(target=lambda: found.append(bytes(next(blocks).data)))
        thread.start()
        thread.join(PATIENT / 4)
        late = thread.is_alive()
        os.close(writing)
        thread.join()
        blocks.close()
    assert not late
    return found[0]


def test_a_line_does_not_wait_for_the_compressed_bytes_behind_it():
    """No pause between two reads, but the second is too short to decide."""
    compressor = zlib.compressobj(wbits=31)
    stored = compressor.compress(b"one\n") + compressor.flush(zlib.Z_SYNC_FLUSH)
    more = compressor.compress(b"two\n") + compressor.flush(zlib.Z_SYNC_FLUSH)
    assert first_answer(stored + more[:1], block_size=len(stored)) == b"one\n"


@pytest.mark.parametrize("kind", COMPRESSED)
@pytest.mark.parametrize("behind", [b"", b"\0", b"\x1f", b"\x1f\x8b\x08"])
def test_a_line_does_not_wait_for_the_next_member(kind, behind):
    stored = COMPRESS[kind](b"one\n")
    assert first_answer(stored + behind, block_size=len(stored)) == b"one\n"


def test_a_magic_that_arrives_byte_by_byte():
    with piped() as (source, writing):
        stored = COMPRESS["xz"](TEXT)

        def write():
            for i in range(len(stored)):
                os.write(writing, stored[i : i + 1])
            os.close(writing)

        thread = threading.Thread(target=write)
        thread.start()
        assert text_of(read_blocks([source])) == TEXT
        thread.join()


def test_stop_ends_a_silent_pipe_without_the_line_that_is_cut_off():
    with piped() as (source, writing):
        os.write(writing, b"one\ntw")
        stopped = threading.Event()
        threading.Timer(0.2, stopped.set).start()
        assert text_of(read_blocks([source], stop=stopped.is_set)) == b"one\n"
        os.close(writing)


def test_a_named_pipe_is_opened_once(tmp_path):
    """A writer would get SIGPIPE when the first reader closes it."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    check_sources([str(fifo)])  # does not wait for a writer either
    failed = []

    def write():
        try:
            with open(fifo, "wb", buffering=0) as f:
                time.sleep(0.1)
                f.write(TEXT)
        except OSError as e:
            failed.append(e)

    thread = threading.Thread(target=write)
    thread.start()
    assert text_of(read_blocks([str(fifo)])) == TEXT
    thread.join()
    assert not failed


def test_stop_ends_the_wait_for_a_writer(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    thread = threading.Thread(target=lambda: list(read_blocks([str(fifo)], stop=lambda: True)), daemon=True)
    thread.start()
    thread.join(PATIENT)
    assert not thread.is_alive()


# --- what changes while it is read ---------------------------------------------------------------


def shrunk(path, size, **options):
    """The items of a file that is cut to `size` bytes after its first block was read."""
    items = read_blocks([str(path)], block_size=1000, **options)
    found = [next(items)]
    os.truncate(path, size)
    return [*found, *items]


@pytest.mark.parametrize("size", [0, 1, 1005, 5003, 9999])
def test_a_file_that_shrinks_is_a_fault(tmp_path, size):
    path, data = tmp_path / "a", b"1 | a\n" * 1666 + b"1 |\n"
    path.write_bytes(data)
    found = shrunk(path, size, skip_faults=True)
    fault = found[-1]
    read_before = text_of(found)
    assert isinstance(fault, UnreadableInput)
    assert data.startswith(read_before)
    assert read_before.endswith(b"\n")  # a truncated line does not count
    assert "has become shorter while it was read" in fault.message
    assert fault.line == 1 + read_before.count(b"\n")
    path.write_bytes(data)
    with pytest.raises(DataError, match=rf"{path}:\d+:1: the file has become shorter"):
        shrunk(path, size)


def test_a_file_that_grows_or_shrinks_behind_what_is_read_is_invalid(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"1 | a\n" * 100)
    items = read_blocks([str(path)], block_size=100)
    next(items)
    with path.open("ab") as f:
        f.write(b"1 | b\n")
    assert text_of(list(items)).endswith(b"1 | b\n")
    assert text_of(read("/proc/self/status")).startswith(b"Name")  # of size 0
    for name in ("/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/notes"):  # shorter than their sizes
        if os.path.exists(name):
            assert not faults_of(read(name, skip_faults=True))


def test_standard_input_that_is_half_read_is_whole(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"1 | a\n" * 100)
    with standard_input(path):
        os.lseek(0, 300, os.SEEK_SET)
        assert text_of(read("-")) == b"1 | a\n" * 50
        assert os.lseek(0, 300, os.SEEK_SET) == 300
        assert "200 bytes of it are missing" in shrunk_standard_input(path)


def shrunk_standard_input(path):
    items = read_blocks(["-"], block_size=50, skip_faults=True)
    next(items)
    os.truncate(path, 400)
    return list(items)[-1].message


# --- what cannot be read -------------------------------------------------------------------------


def test_missing_files_are_found_before_anything_is_read(tmp_path):
    (tmp_path / "a").write_bytes(b"a\n")
    with pytest.raises(NoInputError, match=r"none: No such file or directory"):
        check_sources([str(tmp_path / "a"), str(tmp_path / "none")])
    with pytest.raises(NoInputError, match=r"none: No such file or directory"):
        read(tmp_path / "none")


def test_a_folder_is_not_an_input(tmp_path):
    with pytest.raises(NoInputError, match="Is a directory"):
        check_sources([str(tmp_path)])
    with pytest.raises(NoInputError, match="Is a directory"):
        read(tmp_path)


def test_a_path_below_a_file_is_not_an_input(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(NoInputError, match="Not a directory"):
        check_sources([str(tmp_path / "a" / "b")])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_not_an_input(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "a").chmod(0)
    with pytest.raises(NoInputError, match="Permission denied"):
        check_sources([str(tmp_path / "a")])


def test_closed_standard_input_is_not_an_input(monkeypatch):
    saved = os.dup(0)
    os.close(0)
    try:
        with pytest.raises(NoInputError, match="<stdin>: Bad file descriptor"):
            list(read_blocks(["-"]))
        for sources in ([], ["-"]):
            with pytest.raises(NoInputError, match="<stdin>: Bad file descriptor"):
                check_sources(sources)  # before another file gets the number 0
    finally:
        os.dup2(saved, 0)
        os.close(saved)
