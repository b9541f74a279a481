"""Runs that are killed, a full disk, a folder that nobody may write into: no model without its rows, nothing lost."""

import os
import random
import signal
import time
from pathlib import Path

import pytest
from nights import a_night, unsettled
from running import finish, start

from vwlite.model import read_model
from vwlite.model.kept_rows import found_for


def pair():
    """The model, and the number of rows that it has; its rows must be there."""
    model = read_model("M")
    kept, _ = found_for("M", model.digest)
    assert kept is not None
    return model.counters["examples"], kept.facts.lines


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(k, marks=pytest.mark.long) for k in range(4, 200))])
def test_a_run_that_is_killed_leaves_a_model_with_its_rows(vwlite, write, seed):
    """The old pair or the new one."""
    night = a_night(vwlite, write)
    assert pair() == (150, 150)
    begin = time.monotonic()
    second = write("two words", "second", [1])
    run = start("train", "--continue", "M", second, "--label", "two", "--quiet")
    time.sleep(random.Random(seed).uniform(0.0, 1.5))
    run.send_signal(signal.SIGKILL)
    finish(run)
    assert time.monotonic() - begin < 60
    found = pair()
    assert found in ((150, 150), (300, 300))
    if found == (150, 150):
        night()
    vwlite("train", "--continue", "M", write("two words", "third", [2]), "--label", "two", "--quiet")
    assert pair() == (450, 450) and not unsettled()


@pytest.mark.parametrize("after", [b"vwlite cache", b"PK"])
def test_a_full_disk_leaves_the_old_pair(vwlite, write, monkeypatch, after):
    """Whether it is full for the rows or for the model."""
    night = a_night(vwlite, write, "--quiet", code=74)
    model, rows, put = Path("M").read_bytes(), Path("M.rows").read_bytes(), os.write

    def full(fd, data):
        if fd > 2 and os.readlink(f"/proc/self/fd/{fd}").endswith(".tmp") and bytes(data[: len(after)]) == after:
            raise OSError(28, "No space left on device")
        return put(fd, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        assert "No space left" in night().err
    assert (Path("M").read_bytes(), Path("M.rows").read_bytes()) == (model, rows) and not unsettled()


def test_rows_that_cannot_be_written_leave_the_old_pair(vwlite, write):
    night = a_night(vwlite, write, "--quiet", code=None)
    os.chmod("M.rows", 0o400)
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    assert night().code in (0, 73)
    assert pair() in ((150, 150), (300, 300))


def test_a_second_job_ends_at_once(vwlite, write):
    a_night(vwlite, write)
    os.mkfifo("pipe")
    run = start("train", "--continue", "M", "pipe", "--label", "two", "--quiet")
    while not Path(".M.lock").exists():
        time.sleep(0.01)
    second = write("two words", "second", [1])
    assert "another job is writing it" in vwlite("train", "--continue", "M", second, "--label", "two", code=75).err
    Path("pipe").write_bytes(second.read_bytes())
    assert finish(run).code == 0
    assert pair() == (300, 300)
