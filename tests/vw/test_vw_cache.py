"""The cache of `vwlite vw`: used again, or made again with a line that says why."""

import functools
import os
import random
import struct

import pytest
from crafted_caches import crafted, put_together, split_into_parts
from running import GD, leftovers
from test_cache import other_ranges, zeros

from vwlite.input.reader import read_blocks

LINES = b"".join(b"%d 2.5 'tag%d |a x%d:%d y |b z%d\n" % (i % 2 * 2 - 1, i, i % 7, i + 1, i % 3) for i in range(60))
CLASSES = b"".join(b"%d 'tag%d |a x%d:%d y |b z%d\n" % (i % 3 + 1, i, i % 7, i + 1, i % 3) for i in range(60))
# As Vowpal Wabbit 9.11 writes it: length of the version, version, `c`, bits, and one example after the other.
FOREIGN = struct.pack("<Q", 7) + b"9.11.9\0" + b"c" + struct.pack("<I", 18) + bytes(range(100))


@pytest.fixture(name="run")
def in_a_folder(vwlite, tmp_path, monkeypatch):
    """Run `vwlite vw -d d ...`; its standard output, and its predictions if it gave some."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").write_bytes(LINES)

    def run(*options, code=0, data=("-d", "d")):
        result = vwlite("vw", *data, "-p", "p", "-f", "m", *options, code=code)
        return result.out, (tmp_path / "p").read_bytes(), (tmp_path / "m").read_bytes() if code == 0 else b""

    return run


def test_a_cache_is_used_again(run, tmp_path):
    out, *found = run()
    assert run("-c") == (out, *found)
    built = os.stat("d.cache").st_mtime_ns
    assert run("-c") == (out, *found)
    assert os.stat("d.cache").st_mtime_ns == built
    assert leftovers(tmp_path, ["d", "d.cache", "m", "p"]) == []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (lambda whole: FOREIGN, "it is not a cache of vwlite"),
        (lambda whole: FOREIGN[:16], "it is not a cache of vwlite"),
        (lambda whole: b"", "it is empty"),
        (lambda whole: whole[:-1], "it is truncated or damaged"),
        (lambda whole: whole[:300] + bytes([whole[300] ^ 1]) + whole[301:], "it is damaged"),
        (lambda whole: whole[:14] + b"\3" + whole[15:], "its format has another version"),
    ],
)
def test_what_cannot_be_used_is_made_again(run, content, why):
    expected = run()
    run("-c")
    with open("d.cache", "rb") as f:
        whole = f.read()
    with open("d.cache", "wb") as f:
        f.write(content(whole))
    out, *found = run("-c")
    assert f"[warning] cache file is ignored, and rebuilt from the data: {why}.\n" in out
    assert tuple(found) == expected[1:]
    with open("d.cache", "rb") as f:
        assert f.read() == whole
    assert run("-c") == expected


@pytest.mark.parametrize("content", [FOREIGN, b"", b"1 | a\n", b"notes\n", b"\7\0\0\0\0\0\0\0no version"])
def test_what_may_not_be_made_again_stays(run, content):
    """Without data, or if the file may be anything else."""
    with open("notes", "wb") as f:
        f.write(content)
    data = () if content in (FOREIGN, b"") else ("-d", "d")
    open("p", "w").close()
    out, *_ = run("--cache_file", "notes", data=data, code=1)
    assert "[critical] vw (cache.cc:1): cache file notes is possibly corrupted or of another program: it is " in out
    with open("notes", "rb") as f:
        assert f.read() == content


def test_a_pipe_is_not_a_cache(run):
    os.mkfifo("pipe")
    open("p", "w").close()
    assert "it is not a regular file" in run("--cache_file", "pipe", code=1)[0]


def test_the_data_is_not_made_a_cache(run):
    open("p", "w").close()
    for content in (LINES, b"", FOREIGN):
        with open("d", "wb") as f:
            f.write(content)
        run("--cache_file", "d", code=2)
        with open("d", "rb") as f:
            assert f.read() == content


def test_the_caches_of_both_commands_are_not_mixed_up(run, vwlite):
    """Each makes its own again, as often as they change."""
    expected = run()
    vwlite("train", *GD, "d", "--cache-file", "c", "-m", "m0", "--quiet")
    with open("m0", "rb") as f:
        model = f.read()
    for _ in range(2):
        out, *found = run("--cache_file", "c")
        assert "rebuilt from the data: it was not made by vwlite vw." in out
        assert tuple(found) == expected[1:]
        result = vwlite("train", *GD, "d", "--cache-file", "c", "-m", "m0", "--quiet")
        assert result.err == "cache c is not used: it was not made by vwlite train; it is rebuilt\n"
        with open("m0", "rb") as f:
            assert f.read() == model


def test_labels_of_another_kind_are_not_read(run, vwlite):
    with open("d", "wb") as f:
        f.write(CLASSES)
    simple, classes = run(), run("--oaa", 3)
    run("-c")
    for options, expected in ((("--oaa", 3), classes), ((), simple)):
        out, *found = run("-c", *options)
        assert "rebuilt from the data: it was made with another kind of labels." in out
        assert tuple(found) == expected[1:]
        assert run("-c", *options) == expected
    assert "a cache, whole: 60 lines" in vwlite("check", "d.cache").out


@pytest.mark.third
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("options", [("--passes", 2), ("--oaa", 3), ("--csoaa", 3), ("--adaptive", "-q", "ab")])
def test_crafted_caches_are_refused_or_do_no_harm(run, seed, options):
    if options[0] in ("--oaa", "--csoaa"):
        with open("d", "wb") as f:
            f.write(CLASSES if options[0] == "--oaa" else CLASSES.replace(b" '", b":1 '"))
    options = (*options, "-c", "--quiet")
    expected = run(*options)
    with open("d.cache", "rb") as f:
        whole = f.read()
    chance = random.Random(seed)
    for _ in range(12):
        case = crafted(whole, chance)
        with open("d.cache", "wb") as f:
            f.write(case.data)
        out, *found = run(*options, code=None)
        with open("d.cache", "rb") as f:
            built_again = f.read() == whole
        assert "internal error" not in out
        if built_again or not case.plausible:
            assert tuple(found[:1]) == expected[1:2], case.what
    run(*options, "-k")
    assert put_together(split_into_parts(whole)) == whole


def test_a_cache_that_is_missing_a_count_of_bits(run):
    run("-c")
    with open("d.cache", "rb") as f:
        parts = split_into_parts(f.read())
    for rare in (None, "18", 17, {}):
        parts.index["made from"]["bits"] = rare
        with open("d.cache", "wb") as f:
            f.write(put_together(parts))
        out, *_ = run("-c")
        assert "cache file is ignored as it's made with less bit precision than required." in out


@pytest.mark.parametrize("change", [lambda path, size: os.truncate(path, size // 2), zeros, other_ranges])
@pytest.mark.parametrize("options", [(), ("--oaa", 3)])
def test_a_cache_that_changes_between_passes_is_an_error(run, vwlite, monkeypatch, change, options):
    """Plain runs, and those that go one by one."""
    from vwlite.vw.run import VwRun

    with open("d", "wb") as f:
        f.write(CLASSES * 400)
    run("-c", *options)
    end_pass = VwRun.end_pass

    def then_change(self):
        change("d.cache", os.path.getsize("d.cache"))
        return end_pass(self)

    monkeypatch.setattr(VwRun, "end_pass", then_change)
    result = vwlite("vw", "-d", "d", "-c", "--passes", 3, *options, code=1)
    assert "the cache has changed while it was in use" in result.err


# --- examples that outlive their batch -----------------------------------------------------------


def groups(count):
    chance = random.Random(2)
    for _ in range(count):
        best = chance.randrange(3)
        for i in range(chance.choice([2, 3, 40])):
            words = " ".join(f"w{chance.randrange(30)}:{chance.random():.3f}" for _ in range(6))
            yield f"{i + 1}:{float(i != best)} |a {words} |b good{i == best}\n"
        yield "\n"


@pytest.mark.parametrize("options", [("--csoaa_ldf", "m"), ("--wap_ldf", "m"), ("--csoaa_ldf", "m", "-q", "ab")])
def test_groups_of_lines_may_be_cut_by_batches(run, monkeypatch, options):
    """However often the memory of the first ones was filled again meanwhile."""
    with open("d", "w") as f:
        f.writelines(groups(70))
    expected = run(*options, "--quiet")
    monkeypatch.setattr("vwlite.vw.text.examples.read_blocks", functools.partial(read_blocks, block_size=300))
    assert run(*options, "--quiet") == expected
    for _ in range(2):
        assert run(*options, "--quiet", "-c") == expected
    passes = ("--passes", 3, "--holdout_off")
    assert run(*options, *passes, "--quiet", "-c") == run(*options, *passes, "--quiet", "-c", "-k")


@pytest.mark.parametrize(
    "options", [("--replay_b", 20), ("--oaa", 3, "--replay_m", 20), ("--csoaa", 3, "--replay_c", 20)]
)
def test_replayed_examples_may_be_of_earlier_batches(run, monkeypatch, options):
    with open("d", "wb") as f:
        f.write((CLASSES.replace(b" '", b":1 '") if "--csoaa" in options else CLASSES) * 5)
    expected = run(*options, "--quiet")
    monkeypatch.setattr("vwlite.vw.text.examples.read_blocks", functools.partial(read_blocks, block_size=300))
    assert run(*options, "--quiet") == expected
    for _ in range(2):
        assert run(*options, "--quiet", "-c") == expected
