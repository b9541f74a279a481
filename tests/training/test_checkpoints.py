"""`--checkpoint-every`, the best of several passes, and models of runs that are killed."""

import json
import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from algorithm_options import MANY, TYPED
from lines import GOOD, OLD, text, write
from models import content
from running import GD, PATIENT, finish, in_child, leftovers, shell, start, start_child, wait_child
from streams import CONSTANT

from vwlite.cli import run
from vwlite.model import read_model

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize("algorithm", MANY)
@pytest.mark.parametrize("passes", [1, 3])
def test_checkpoints_leave_no_trace_in_the_model(vwlite, folder, algorithm, passes):
    write("data", text(1, 300))
    command = ("train", "data", "--algorithm", algorithm, *TYPED[algorithm], "--passes", passes, "--quiet")
    vwlite(*command, "-m", "expected")
    for every in ("70", "100000", "1s"):
        vwlite(*command, "-m", "model", "--checkpoint-every", every)
        assert Path("model").read_bytes() == Path("expected").read_bytes()
    assert leftovers(folder, ["data", "model", "expected"]) == []


@pytest.mark.parametrize("every", [(), ("--checkpoint-every", "100")])
def test_the_best_pass_survives_the_checkpoints_of_worse_ones(vwlite, folder, every):
    """Nothing can be learned here; the first pass is the best, the third after it the last."""
    chance = random.Random(1)
    rows = [
        f"{chance.choice([-1, 1])} |a " + " ".join(f"w{chance.randrange(200)}" for _ in range(8)) for _ in range(300)
    ]
    write("data", "\n".join(rows).encode())
    command = ("train", "data", "--loss", "logistic", "-l", 1, "--l1", 0.003, "--algorithm", "truncated-gradient")
    done = vwlite(*command, "--passes", 20, "-m", "model", "-P", 50, "--report", "report", *every)
    assert "best pass, kept = 1\n" in done.err
    report = json.loads(Path("report").read_bytes())
    model = read_model("model")
    assert len(report["passes"]) == 4
    assert model.counters["examples"] == 270 and not model.interrupted
    counted = sum(w != 0 for k, w in zip(model.keys, model.weights, strict=True) if k != CONSTANT)
    assert report["results"]["nonzero_weights"] == counted
    last = [row.split() for row in done.err.splitlines() if row.endswith(" h")][-1]
    assert last[-2] != str(counted)  # the last pass ended with another number
    assert leftovers(folder, ["data", "model", "report"]) == []


def test_a_model_of_several_passes_can_go_into_a_pipe(vwlite):
    write("data", text(1, 300))
    vwlite("train", *GD, "data", "--passes", 3, "-m", "expected", "--quiet")
    assert shell("vwlite train data --algorithm gd --passes 3 --quiet -m >(cat >model); wait $!").code == 0
    assert Path("model").read_bytes() == Path("expected").read_bytes()


def test_a_full_disk_for_the_best_pass_is_an_error(folder):
    write("data", (b"1 |a " + b" ".join(b"%d" % i for i in range(40)) + b"\n") * 4)  # 820 pairs in the model
    write("model", OLD)
    command = "vwlite train data --passes 2 --holdout-period 2 -q aa --quiet -m model"
    done = shell(f"ulimit -f 8; {command}")
    assert (done.code, done.err) == (74, "model: cannot be written: File too large\n")
    assert Path("model").read_bytes() == OLD
    assert leftovers(folder, ["data", "model"]) == []
    assert shell(f"ulimit -f 64; {command}").code == 0


def start_training(*options):
    """A training run that has learned 100 examples and waits for more."""
    process = start("train", *GD, "-m", "model", "-P", "100", *options)
    process.stdin.write(GOOD * 50)
    process.stdin.flush()
    while process.stderr.readline().split()[2:3] != [b"100"]:  # the row that is printed after 100 examples
        assert process.poll() is None
    return process


def test_a_checkpoint_is_there_while_the_run_continues(vwlite):
    process = start_training("--checkpoint-every", "30")
    early = read_model("model")
    assert (early.counters["examples"], early.interrupted) == (90, True)
    shutil.copy("model", "early")
    assert finish(process, GOOD * 10).code == 0
    last = read_model("model")
    assert (last.counters["examples"], last.interrupted) == (120, False)
    vwlite("train", write("rest", GOOD * 15), "-i", "early", "-m", "continued", "--quiet")
    assert content(Path("continued")) == content(Path("model"))


def test_checkpoints_by_the_clock():
    process = start_training("--checkpoint-every", "1s")
    end = time.monotonic() + PATIENT
    while not os.path.exists("model"):
        assert time.monotonic() < end and process.poll() is None
        process.stdin.write(GOOD)
        process.stdin.flush()
        time.sleep(0.1)
    early = read_model("model")
    assert early.counters["examples"] >= 100 and early.interrupted
    assert finish(process).code == 0
    assert not read_model("model").interrupted


def wait_for_versions(name, count, child):
    """Wait until a process has replaced a file `count` times, or ends."""

    def version():
        found = os.stat(name)
        return found.st_ino, found.st_mtime_ns

    def running():
        return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    for _ in range(count):
        was = version()
        while version() == was and running():
            time.sleep(0.001)


def test_killed_at_any_moment_there_is_a_whole_model_and_nothing_in_the_way(vwlite, folder):
    write("first", text(1, 100))
    write("data", text(2, 4000))
    vwlite("train", *GD, "first", "-m", "old", "--quiet")
    old = Path("old").read_bytes()
    before = read_model("old").counters["examples"]
    command = ["train", "data", "-i", "model", "-m", "model", "-c", "--passes", "2", "--quiet"]

    def learned():
        return read_model("model").counters["examples"] - before

    def job():
        return run([*command, "--checkpoint-every", "400"])

    write("model", old)
    assert in_child(job) == 0
    final = learned()
    chance = random.Random(1)
    found = []
    for i in range(24):  # a moment after the start, or after the first, second, ... checkpoint
        write("model", old)
        Path("data.vwlite-cache").unlink(missing_ok=True)
        child = start_child(job)
        wait_for_versions("model", i % 5, child)
        time.sleep(chance.random() * (0.02 if i else 0))
        os.kill(child, signal.SIGKILL)
        assert wait_child(child) in (0, -signal.SIGKILL)
        assert vwlite("check", "model").out.startswith("model: a model, whole")
        found.append(learned())
        assert found[-1] % 400 == 0 or found[-1] == final
        if os.path.exists("data.vwlite-cache"):
            assert vwlite("check", "data.vwlite-cache").out.startswith("data.vwlite-cache: a cache, whole")
    assert 0 in found
    assert any(0 < count < final for count in found)
    # Files of killed runs do not disturb; the next run that writes there removes them.
    write("model", old)
    vwlite(*command, "--kill-cache")
    assert learned() == final
    assert leftovers(folder, ["first", "data", "old", "model", "data.vwlite-cache"]) == []
