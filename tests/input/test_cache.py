"""The cache: what comes out is what went in, or the cache is not used and the reason is said."""

import gzip
import json
import os
import random
import struct
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
from crafted_caches import arrays_of, crafted, put_together, split_into_parts, written_out
from running import GD, PATIENT, PROGRAM, finish, leftovers, start
from tiers import drawn

from vwlite.core.data.batch import Batch
from vwlite.core.text.parser import Parser
from vwlite.errors import NoInputError
from vwlite.input.cache import CacheUnusable, CacheWriter, fingerprint, open_cache

TEXT = b"".join(b"%d 2.5 'tag%d |a x%d:%d y |b z%d\n" % (i % 2, i, i % 7, i, i % 3) for i in range(30))


def batches(*texts):
    found = []
    for i, text in enumerate(texts):
        batch = Batch()
        Parser(format="vw", stop_at_fault=False).parse(text, batch)
        batch.source, batch.first_line = f"source{i}", 1 + 10 * i
        found.append(batch)
    return found


def content(batch):
    """Everything that a batch holds."""
    columns = ("label", "importance", "initial", "kind", "span_begin", "feature_begin", "letter", "hash", "value")
    arrays = [bytes(getattr(batch, name)) for name in columns]
    return batch.source, batch.first_line, arrays, [batch.tag(i) for i in range(len(batch))]


def write_cache(path, parts, made_from):
    writer = CacheWriter(path and str(path), made_from)
    for batch in parts:
        writer.add(batch)
    return writer.finish()


@pytest.fixture
def made_from(tmp_path):
    source = tmp_path / "data"
    source.write_bytes(TEXT)
    return fingerprint([str(source)], {"format": "vw", "labels": (0, 1)})


@pytest.fixture
def whole(tmp_path, made_from):
    """A small cache, as bytes."""
    write_cache(tmp_path / "cache", batches(TEXT[:300], b"", b"\n\n", b"1 |\nnonsense\n1 | a\n"), made_from)
    return (tmp_path / "cache").read_bytes()


@pytest.mark.parametrize("named", [True, False])
def test_round_trip(tmp_path, made_from, named):
    parts = batches(TEXT, b"", b"\n \n", b"1 |\nnonsense\n1 | a\n", b"1 'x|a b")
    path = tmp_path / "cache" if named else None
    cache = write_cache(path, parts, made_from)
    for _ in range(2):
        found = [(content(batch), place) for batch, place in cache.batches()]
        for share in (False, True):
            ahead = cache.batches(threads=2, share_numbers=share)
            assert [(content(batch), place) for batch, place in ahead] == found
        assert [each for each, _ in found] == [content(batch) for batch in parts]
        places = [place for _, place in found]
        assert places == sorted(places)
        assert places[-1] <= cache.size
    if named:
        again = open_cache(str(path), made_from)
        assert [content(batch) for batch, _ in again.batches()] == [content(batch) for batch in parts]
        assert leftovers(tmp_path, ["cache", "data"]) == []


def test_cache_without_batches(tmp_path, made_from):
    write_cache(tmp_path / "cache", [], made_from)
    assert list(open_cache(str(tmp_path / "cache"), made_from).batches()) == []


def test_what_is_not_finished_is_not_there(tmp_path, made_from):
    writer = CacheWriter(str(tmp_path / "cache"), made_from)
    writer.add(batches(TEXT)[0])
    writer.close()
    assert leftovers(tmp_path, ["data"]) == []


def test_every_truncation_is_refused(tmp_path, made_from, whole):
    path = tmp_path / "cut"
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(CacheUnusable):
            open_cache(str(path), made_from)
    path.write_bytes(whole + b"\0")
    with pytest.raises(CacheUnusable):
        open_cache(str(path), made_from)


@pytest.mark.drawn
def test_every_flipped_bit_is_refused(tmp_path, made_from, whole):
    path = tmp_path / "flipped"
    places = range(8 * len(whole))
    for at in random.Random(1).sample(places, min(drawn(1500), len(places))):
        damaged = bytearray(whole)
        damaged[at // 8] ^= 1 << at % 8
        path.write_bytes(damaged)
        with pytest.raises(CacheUnusable) as refused:
            open_cache(str(path), made_from)
        assert str(refused.value)


def test_swapped_pieces_are_refused(tmp_path, made_from, whole):
    path = tmp_path / "swapped"
    for at in range(64, len(whole) - 64, 64):
        path.write_bytes(whole[:at] + whole[at : at + 64][::-1] + whole[at + 64 :])
        if path.read_bytes() != whole:
            with pytest.raises(CacheUnusable):
                open_cache(str(path), made_from)


def reason(path, made_from):
    with pytest.raises(CacheUnusable) as refused:
        open_cache(str(path), made_from)
    return str(refused.value)


def test_what_is_not_a_cache(tmp_path, made_from):
    path = tmp_path / "cache"
    assert reason(path, made_from) == "No such file or directory"
    assert reason(tmp_path, made_from) == "Is a directory"
    path.write_bytes(b"")
    assert reason(path, made_from) == "it is empty"
    path.write_bytes(b"1 | a b c\n" * 100)
    assert reason(path, made_from) == "it is not a cache of vwlite"


def test_stale_by_time_size_and_content(tmp_path, made_from, whole):
    source, path = tmp_path / "data", tmp_path / "cache"
    stale = "data has changed since it was made"
    now = os.stat(source)
    assert open_cache(str(path), fingerprint([str(source)], made_from["options"]))

    os.utime(source, ns=(now.st_atime_ns, now.st_mtime_ns + 1))
    assert reason(path, fingerprint([str(source)], made_from["options"])) == stale

    source.write_bytes(TEXT.replace(b"x0", b"y0"))
    os.utime(source, ns=(now.st_atime_ns, now.st_mtime_ns))
    assert reason(path, fingerprint([str(source)], made_from["options"])) == stale

    source.write_bytes(TEXT + b"\n")
    os.utime(source, ns=(now.st_atime_ns, now.st_mtime_ns))
    assert reason(path, fingerprint([str(source)], made_from["options"])) == stale


def test_foreign(tmp_path, made_from, whole):
    path, source = tmp_path / "cache", tmp_path / "data"
    other = tmp_path / "other"
    other.write_bytes(TEXT)
    options = made_from["options"]
    assert reason(path, fingerprint([str(source)], options | {"labels": (-1, 1)})) == "it was made with another labels"
    assert reason(path, fingerprint([str(source)], options | {"hash_all": 1})) == "it was made with another hash all"
    assert reason(path, fingerprint([str(other)], options)) == "it was made from data, not from other"
    assert reason(path, fingerprint([str(source)] * 2, options)) == "it was made from other files"
    assert reason(path, {**made_from, "byte order": "middle"}) == "it was made on another kind of machine"


# --- in a run ------------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.vw"
    path.write_bytes(TEXT * 20)
    return path


def test_model_is_the_same_with_and_without_a_cache(vwlite, tmp_path, data):
    def model(*options):
        result = vwlite("train", *GD, data, "--passes", "3", "-m", tmp_path / "model", "-q", "ab", *options)
        assert "is not used" not in result.err
        return (tmp_path / "model").read_bytes()

    expected = model()
    assert leftovers(tmp_path, ["data.vw", "model"]) == []
    cache = ("--cache-file", tmp_path / "cache")
    assert model(*cache) == expected
    built = os.stat(tmp_path / "cache").st_mtime_ns
    assert model(*cache) == expected
    assert os.stat(tmp_path / "cache").st_mtime_ns == built
    assert model(*cache, "-k") == expected
    assert os.stat(tmp_path / "cache").st_mtime_ns > built
    assert model("-c") == expected
    assert model("-c") == expected
    assert leftovers(tmp_path, ["data.vw", "model", "cache", "data.vw.vwlite-cache"]) == []


def test_one_pass_over_a_cache(vwlite, tmp_path, data):
    vwlite("train", *GD, data, "-m", tmp_path / "text")
    for name in ("built", "used"):
        vwlite("train", *GD, data, "-c", "-m", tmp_path / name)
        assert (tmp_path / name).read_bytes() == (tmp_path / "text").read_bytes()


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda b: b[:-1], "it is truncated or damaged"),
        (lambda b: b[:200] + bytes([b[200] ^ 4]) + b[201:], "it is damaged"),
        (lambda b: b"", "it is empty"),
        (lambda b: b[:14] + b"\x09" + b[15:], "its format has another version"),
    ],
)
def test_unusable_cache_is_built_again(vwlite, tmp_path, data, damage, reason):
    command = ("train", *GD, data, "--cache-file", tmp_path / "cache", "--passes", 2, "-m", tmp_path / "model")
    vwlite(*command)
    cache, model = (tmp_path / "cache").read_bytes(), (tmp_path / "model").read_bytes()
    (tmp_path / "cache").write_bytes(damage(cache))
    result = vwlite(*command)
    assert f"cache {tmp_path}/cache is not used: {reason}; it is rebuilt\n" in result.err
    assert (tmp_path / "model").read_bytes() == model
    assert (tmp_path / "cache").read_bytes() == cache
    assert "is not used" not in vwlite(*command).err


@pytest.mark.parametrize("content", [b"hello\n", b"v", b"1 |a x\n" * 1000, b"vwlite cachE" + bytes(99)])
@pytest.mark.parametrize("more", [(), ("-k",), ("--passes", 2), ("--names",)])
def test_a_file_that_is_not_a_cache_is_not_replaced(vwlite, tmp_path, data, content, more):
    """Of --cache-file with a wrong name."""
    (tmp_path / "notes.txt").write_bytes(content)
    command = ("train", *GD, data, "--cache-file", tmp_path / "notes.txt", "-m", tmp_path / "model", *more)
    if content == b"v":  # as a cache begins
        vwlite(*command)
        assert (tmp_path / "notes.txt").stat().st_size > 100
        return
    err = vwlite(*command, code=73).err.splitlines()[-1]
    assert err == (
        f"{tmp_path}/notes.txt: this file is not a cache of vwlite, so it is not replaced by one: name another file, "
        "or remove it"
    )
    assert (tmp_path / "notes.txt").read_bytes() == content
    assert leftovers(tmp_path, ["data.vw", "notes.txt"]) == []


def test_changed_data_and_options_in_a_run(vwlite, tmp_path, data):
    command = ("train", *GD, data, "-c", "-m", tmp_path / "model")
    vwlite(*command)
    assert (
        "is not used: it was made with another label domain;"
        in vwlite(*command, "--loss", "logistic", "--labels", "0,1").err
    )
    with data.open("ab") as f:
        f.write(b"1 |a new\n")
    assert "is not used:" in vwlite(*command).err
    cached = (tmp_path / "model").read_bytes()
    vwlite("train", *GD, data, "-m", tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == cached


def test_bits_and_interactions_leave_the_cache_valid(vwlite, tmp_path, data):
    """They are what the learner does with the features."""
    vwlite("train", *GD, data, "-c", "-m", tmp_path / "model")
    result = vwlite("train", *GD, data, "-c", "-m", tmp_path / "model", "-b", 18, "-q", "ab", "--ignore", "b")
    assert "is not used" not in result.err


def test_bad_line_leaves_no_cache(vwlite, tmp_path, data):
    with data.open("ab") as f:
        f.write(b"1 |a x:y\n")
    vwlite("train", *GD, data, "-c", "--passes", 2, code=65)
    assert leftovers(tmp_path, ["data.vw"]) == []


def test_a_pipe_has_no_cache_of_its_own(vwlite, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    assert "--cache" in vwlite("train", *GD, tmp_path / "fifo", "-c", code=2).err


def test_an_edit_that_keeps_size_and_time_is_seen(vwlite, tmp_path, data):
    """One that no sample of the content has in it."""
    data.write_bytes(b"1 |a x:0.25 y\n-1 |a z:0.75\n" * 40_000)
    command = ("train", *GD, data, "-c", "--passes", 2, "--quiet", "-m", tmp_path / "model")
    vwlite(*command)
    before, info = (tmp_path / "model").read_bytes(), os.stat(data)
    with data.open("r+b") as f:
        f.seek(info.st_size // 2 // 28 * 28)
        f.write(b"-")
    os.utime(data, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert "data.vw has changed since it was made; it is rebuilt" in vwlite(*command).err
    assert (tmp_path / "model").read_bytes() != before


def test_data_that_shrinks_is_not_data(tmp_path):
    """It is cut while the program waits for somebody to read predictions."""
    data = tmp_path / "data.vw"
    data.write_bytes(TEXT * 20_000)
    process = start("train", *GD, data, "-c", "-p", "-", "-m", tmp_path / "model", "--quiet")
    assert process.stdout.read(1)
    os.truncate(data, os.path.getsize(data) - 10_000)
    result = finish(process)
    assert result.code == 65
    assert f"{data}:" in result.err and "the file has become shorter while it was read" in result.err
    assert leftovers(tmp_path, ["data.vw"]) == []


def test_several_files(vwlite, tmp_path):
    for i in range(3):
        (tmp_path / f"{i}").write_bytes(TEXT[i * 300 : i * 300 + 300].split(b"\n", 1)[1].rsplit(b"\n", 1)[0])
    files = [tmp_path / f"{i}" for i in range(3)]
    vwlite("train", *GD, *files, "--passes", 2, "-m", tmp_path / "model")
    expected = (tmp_path / "model").read_bytes()
    for _ in range(2):
        vwlite("train", *GD, *files, "--passes", 2, "-c", "-m", tmp_path / "model")
        assert (tmp_path / "model").read_bytes() == expected


def test_full_disk_for_the_temporary_cache_names_the_folder(tmp_path, data):
    data.write_bytes(TEXT * 2000)
    code = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
from vwlite.cli import main
main(sys.argv[1:])
"""
    folder = tmp_path / "temporary"
    folder.mkdir()
    command = ["train", *GD, str(data), "--passes", "2", "--quiet", "-m", str(tmp_path / "model")]
    done = subprocess.run(
        [*PROGRAM[:1], "-c", code, *command],
        capture_output=True,
        env={**os.environ, "TMPDIR": str(folder)},
        timeout=PATIENT,
    )
    assert done.returncode == 74
    assert done.stderr.decode() == (
        f"the temporary cache in {folder} cannot be written: File too large; several passes keep the parsed data "
        "there: set TMPDIR to a folder with more space, or name a --cache-file\n"
    )
    assert leftovers(tmp_path, ["data.vw", "temporary"]) == []
    assert os.listdir(folder) == []


def test_bad_lines_are_reported_when_the_cache_leaves_them_out(vwlite, tmp_path):
    data, report = tmp_path / "data.vw", tmp_path / "report"
    data.write_bytes(b"1 | a\nbad\n-1 | b\nworse\n")

    def run(*options, code=0):
        result = vwlite(
            "train", *GD, data, "-c", "--on-error", "skip", "--quiet", "--report", report, *options, code=code
        )
        return result.err

    def skipped():
        return json.loads(report.read_bytes())["results"]["bad_lines_skipped"]

    assert run().count("skipped") == 3
    assert skipped() == 2
    assert run() == f"2 bad lines skipped when {data}.vwlite-cache was made\n"
    assert skipped() == 2
    rejects = tmp_path / "rejects"
    assert "it leaves out bad lines (2), which --rejects needs; it is rebuilt" in run("--rejects", rejects)
    assert rejects.read_bytes() == b"bad\nworse\n"
    assert "which --max-errors needs" in run("--max-errors", "1", code=65)
    assert "which --max-errors needs" in run("--max-errors", "2")


def test_without_bad_lines_the_rejects_are_empty_from_a_cache_too(vwlite, tmp_path):
    data, rejects = tmp_path / "data.vw", tmp_path / "rejects"
    data.write_bytes(b"1 | a\n")
    for _ in range(2):
        rejects.write_bytes(b"of an earlier run\n")
        result = vwlite("train", *GD, data, "-c", "--on-error", "skip", "--quiet", "--rejects", rejects)
        assert (result.code, result.err) == (0, "")
        assert rejects.read_bytes() == b""


def test_a_stream_that_ends_early_is_not_a_rejected_line(vwlite, tmp_path):
    data, rejects = tmp_path / "data.vw.gz", tmp_path / "rejects"
    data.write_bytes(gzip.compress(b"1 | a\nbad\n1 | b\n")[:-1])
    assert vwlite("train", *GD, data, "--on-error", "skip", "--rejects", rejects).code == 0
    assert rejects.read_bytes() == b"bad\n"


def test_reading_ahead_can_end_early_and_does_not_wait_for_what_is_gone(tmp_path, made_from):
    parts = batches(*(TEXT for _ in range(20)))
    cache = write_cache(tmp_path / "cache", parts, made_from)
    some = cache.batches(threads=2)
    next(some)
    some.close()
    assert not [t for t in threading.enumerate() if t.name == "cache reader"]
    os.truncate(tmp_path / "cache", 100)
    for threads, share in ((1, False), (2, False), (2, True)):
        with pytest.raises(NoInputError, match=r"changed while it was in use \(it is truncated\)"):
            list(cache.batches(threads, share))


# --- a cache that changes while it is in use -----------------------------------------------------


def zeros(path, size):
    with open(path, "r+b") as f:
        f.seek(size // 2)
        f.write(bytes(size // 2 - 10_000))


def other_ranges(path, size):
    """What was checked before would lead anywhere now."""
    with open(path, "r+b") as f:
        f.seek(size // 2)
        f.write(b"\xff" * (size // 2 - 10_000))


@pytest.mark.third
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("change", [lambda path, size: os.truncate(path, size // 2), zeros, other_ranges])
def test_a_cache_that_changes_while_it_is_in_use_is_an_error(tmp_path, vwlite, threads, change):
    """It is changed while the program waits for somebody to read predictions."""
    data, cache = tmp_path / "data.vw", tmp_path / "cache"
    data.write_bytes(TEXT * 20_000)
    vwlite("train", *GD, data, "--cache-file", cache, "--quiet")
    (tmp_path / "model").write_bytes(b"old")
    process = start(
        "train", *GD, data, "--cache-file", cache, "-p", "-", "-m", tmp_path / "model", "--quiet", "--threads", threads
    )
    assert process.stdout.read(1)
    change(cache, os.path.getsize(cache))
    result = finish(process)
    assert result.code == 66, result.err
    assert "the cache has changed while it was in use (it is " in result.err
    assert (tmp_path / "model").read_bytes() == b"old"
    assert leftovers(tmp_path, ["data.vw", "cache", "model"]) == []


def test_what_is_learned_is_what_was_checked(tmp_path, made_from):
    """A batch that was delivered is not touched by what happens to the file."""
    parts = batches(*(TEXT for _ in range(9)))
    for threads in (1, 2):
        cache = write_cache(tmp_path / "cache", parts, made_from)
        found = cache.batches(threads)
        batch, _ = next(found)
        with open(tmp_path / "cache", "r+b") as f:
            f.write(b"\xff" * os.path.getsize(tmp_path / "cache"))
        assert content(batch) == content(parts[0])
        with pytest.raises(NoInputError, match="changed while it was in use"):
            list(found)


# --- others' caches ------------------------------------------------------------------------------


@pytest.fixture
def well_made(vwlite, tmp_path):
    """Data of a few batches, the cache that belongs to it, and the model."""
    files = []
    for i in range(3):
        files.append(tmp_path / f"{i}.vw")
        files[-1].write_bytes(TEXT * (i + 1))
    (tmp_path / "0.vw").write_bytes(b"".join(b"1 'u%d |z n%d\n\n" % (i, i) for i in range(20)))  # not numbered
    command = ("train", *GD, *files, "--cache-file", tmp_path / "cache", "--quiet", "-m", tmp_path / "model")
    vwlite(*command)
    return command, (tmp_path / "cache").read_bytes(), (tmp_path / "model").read_bytes()


def test_a_cache_put_together_again_is_used(vwlite, tmp_path, well_made):
    command, cache, _ = well_made
    assert put_together(split_into_parts(cache)) == cache
    assert vwlite(*command).err == ""


@pytest.mark.third
@pytest.mark.parametrize("seed", range(8))
def test_crafted_caches_are_refused_or_do_no_harm(vwlite, tmp_path, well_made, seed):
    """With right sums: built again, or as good as another cache."""
    command, cache, model = well_made
    chance = random.Random(seed)
    refused = 0
    for _ in range(40):
        case = crafted(cache, chance)
        (tmp_path / "cache").write_bytes(case.data)
        result = vwlite(*command, "--threads", chance.choice([1, 2]), code=None)
        assert result.code in ((0, 65) if case.plausible else (0,)), (case.what, result)
        if "is not used" in result.err:
            refused += 1
            assert result.err.endswith("; it is rebuilt\n"), (case.what, result)
            assert (tmp_path / "cache").read_bytes() == cache, case.what
        assert result.code or case.plausible or (tmp_path / "model").read_bytes() == model, case.what
        if result.code == 0:
            assert np.isfinite(np.load(tmp_path / "model")["weights"]).all(), case.what
    assert refused > 20


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda parts: parts.index.pop("made from"), "its format has another version"),
        (lambda parts: parts.index.update({"made from": []}), "its format has another version"),
        (lambda parts: parts.index.update({"skipped": "many"}), "its format has another version"),
        (lambda parts: parts.index.update({"classes": [1]}), "its format has another version"),
        (lambda parts: parts.index.update({"classes": ["\ud800"]}), "its format has another version"),
        (lambda parts: parts.index["made from"].pop("program"), "made by vwlite ?;"),
        (lambda parts: parts.index["made from"].update({"program": "\x1b[2J9"}), "made by vwlite ?[2J9"),
        (lambda parts: parts.index["made from"].update({"command": "vw"}), "not made by vwlite train"),
        (lambda parts: parts.index["made from"].update({"options": 1}), "made with other options"),
        (lambda parts: parts.index["made from"].update({"sources": [1, 2, 3]}), "made from other files"),
        (lambda parts: parts.origins[0].__setitem__(0, 5), "its format has another version"),
        (lambda parts: parts.origins[0].__setitem__(1, -1), "its format has another version"),
        (lambda parts: parts.batches[0].__setitem__(slice(0, 8), bytes(8)), "the counts do not add up"),
    ],
)
def test_unusual_caches_are_built_again(vwlite, tmp_path, well_made, change, why):
    command, cache, model = well_made
    parts = split_into_parts(cache)
    change(parts)
    (tmp_path / "cache").write_bytes(put_together(parts))
    result = vwlite(*command)
    assert "is not used: " in result.err and why in result.err
    assert (tmp_path / "cache").read_bytes() == cache
    assert (tmp_path / "model").read_bytes() == model
    (tmp_path / "cache").write_bytes(put_together(parts))
    assert f"{tmp_path}/cache: " in vwlite("check", tmp_path / "cache", code=None).out


@pytest.mark.parametrize(
    ("array", "value", "options", "why"),
    [
        ("value", 0.0, (), "a value is zero"),
        ("value", float("inf"), (), "a value is not finite"),
        ("value", float("nan"), (), "a value is not finite"),
        ("label", float("inf"), (), "a label is invalid"),
        ("label", 0.5, ("--loss", "logistic", "--labels", "0,1"), "a label is invalid"),
        ("label", -1.0, ("--loss", "poisson"), "a label is invalid"),
        ("label", 3.0, ("--oaa", 2, "--classes", "auto"), "a label is invalid"),
        ("label", 0.0, ("--oaa", 2, "--classes", "auto"), "a label is invalid"),
        ("label", 1.5, ("--oaa", 2, "--classes", "auto"), "a label is invalid"),
        ("importance", -1.0, (), "an importance or an initial prediction is invalid"),
        ("importance", float("nan"), (), "an importance or an initial prediction is invalid"),
        ("initial", float("inf"), (), "an importance or an initial prediction is invalid"),
        ("kind", 3, (), "neither an example nor empty"),
        ("span_begin", 1 << 31, (), "out of order"),
        ("number", 999, (), "an invalid number"),
    ],
)
def test_numbers_that_no_text_gives_are_refused(vwlite, tmp_path, data, array, value, options, why):
    command = ("train", *GD, data, "-c", "--quiet", "-m", tmp_path / "model", *options)
    vwlite(*command)
    cache, model = (tmp_path / "data.vw.vwlite-cache"), (tmp_path / "model").read_bytes()
    parts = split_into_parts(cache.read_bytes())
    parts.batches[0] = written_out(parts.batches[0])
    at, items, code = arrays_of(parts.batches[0])[array]
    struct.pack_into("=" + code, parts.batches[0], at + items // 2 * struct.calcsize(code), value)
    cache.write_bytes(put_together(parts))
    assert why in vwlite(*command).err
    assert (tmp_path / "model").read_bytes() == model
    assert vwlite(*command).err == ""


@pytest.mark.parametrize(
    "names", [["0"], ["0", "1", "2"], ["0", "0"], ["1", "0"], ["0", "a\tb"], ["0", ""], ["0", "\udcff "]]
)
def test_names_of_classes_that_are_not_those_of_the_data(vwlite, tmp_path, data, names):
    command = ("train", *GD, data, "-c", "--quiet", "-m", tmp_path / "model", "--oaa", 2, "--classes", "auto")
    vwlite(*command)
    cache, model = (tmp_path / "data.vw.vwlite-cache"), (tmp_path / "model").read_bytes()
    parts = split_into_parts(cache.read_bytes())
    assert parts.index["classes"] == ["0", "1"]
    parts.index["classes"] = names
    cache.write_bytes(put_together(parts))
    result = vwlite(*command)
    if names != ["1", "0"]:  # names of other classes may be those of other data
        assert "is not used: " in result.err
        assert (tmp_path / "model").read_bytes() == model


def test_a_cache_that_is_not_a_file(vwlite, tmp_path, data):
    os.mkfifo(tmp_path / "fifo")
    assert "not a regular file" in vwlite("train", *GD, data, "--cache-file", tmp_path / "fifo", code=73).err


@pytest.mark.third
@pytest.mark.parametrize("algorithm", ["gd", "truncated-gradient --l1 1e-3", "ftrl --l1 1"])
def test_features_of_many_blocks_learn_as_from_text(tmp_path, vwlite, algorithm):
    """Numbers of features hold for several blocks, until there are more than 2^16 of them."""
    rng = random.Random(5)
    with (tmp_path / "data").open("w") as f:
        for i in range(12_000):
            words = (f"w{i * 6 + rng.randrange(25_000)}" for _ in range(40))
            f.write(f"{rng.choice((1, -1))} | {' '.join(words)}\n")
    learn = ("train", tmp_path / "data", "--loss", "logistic", "--algorithm", *algorithm.split(), "--passes", 3)
    vwlite(*learn, "-m", tmp_path / "text", "--quiet", "--threads", 1)
    learn += ("--cache-file", tmp_path / "cache", "-m", tmp_path / "model", "--quiet", "--threads")
    for threads in (2, 1):
        for _ in range(2):  # the cache is made, and used
            vwlite(*learn, threads)
            assert (tmp_path / "model").read_bytes() == (tmp_path / "text").read_bytes()
        (tmp_path / "cache").unlink()


def test_a_cache_of_texts_with_ngrams_to_try_is_used(vwlite, folder):
    Path("t.csv").write_text("y,text\n" + "".join(f"{i % 2},{'good old' if i % 2 else 'bad old'} {i % 7}\n"
                                                    for i in range(100)))
    first = vwlite("train", "t.csv", "--label", "y", "--text", "text", "--cache", "-m", "a").err
    second = vwlite("train", "t.csv", "--label", "y", "--text", "text", "--cache", "-m", "b").err
    assert "is not used" not in first + second
    assert Path("a").read_bytes() == Path("b").read_bytes()
