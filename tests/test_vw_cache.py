"""The cache of `vwlite vw`: used again."""

import functools
import os
import random

import pytest
from running import leftovers
from test_cache import other_ranges, zeros

from vwlite.reader import read_blocks

LINES = b"".join(b"%d 2.5 'tag%d |a x%d:%d y |b z%d\n" % (i % 2 * 2 - 1, i, i % 7, i + 1, i % 3) for i in range(60))
CLASSES = b"".join(b"%d 'tag%d |a x%d:%d y |b z%d\n" % (i % 3 + 1, i, i % 7, i + 1, i % 3) for i in range(60))


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


@pytest.mark.parametrize("change", [lambda path, size: os.truncate(path, size // 2), zeros, other_ranges])
@pytest.mark.parametrize("options", [(), ("--oaa", 3)])
def test_a_cache_that_changes_between_passes_is_an_error(run, vwlite, monkeypatch, change, options):
    """Plain runs, and those that go one by one."""
    from vwlite.vw.run import Run

    with open("d", "wb") as f:
        f.write(CLASSES * 400)
    run("-c", *options)
    end_pass = Run.end_pass

    def then_change(self):
        change("d.cache", os.path.getsize("d.cache"))
        return end_pass(self)

    monkeypatch.setattr(Run, "end_pass", then_change)
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
        f.writelines(groups(200))
    expected = run(*options, "--quiet")
    monkeypatch.setattr("vwlite.vw.examples.read_blocks", functools.partial(read_blocks, block_size=300))
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
    monkeypatch.setattr("vwlite.vw.examples.read_blocks", functools.partial(read_blocks, block_size=300))
    assert run(*options, "--quiet") == expected
    for _ in range(2):
        assert run(*options, "--quiet", "-c") == expected
