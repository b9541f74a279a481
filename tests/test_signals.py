"""Signals: the example is finished, the model saved as of then; a second one ends at once."""

import os
import signal
import subprocess
import sys
import time

import pytest
from running import PATIENT, start

from vwlite.model import read_model

LINES = b"1 |a x y\n-1 |a y z\n" * 50
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture
def training(tmp_path):
    """A training run that has learned from all of the input so far, and waits for more."""
    process = start("train", "-m", tmp_path / "m", "-P", "100")
    process.stdin.write(LINES)
    process.stdin.flush()
    while process.stderr.readline().split()[2:3] != [b"100"]:  # the row that is printed after 100 examples
        assert process.poll() is None
    yield process
    process.kill()
    process.communicate()


def ended(process: "subprocess.Popen[bytes]") -> tuple[int, bytes]:
    # Standard input stays open: not its end is to end the program.
    return process.wait(PATIENT), process.stderr.read()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_saves_the_model_as_of_then(tmp_path, training, number):
    training.send_signal(number)
    code, words = ended(training)
    assert code == 128 + number
    assert b"interrupted by signal %d; the model as of then is %s" % (number, bytes(tmp_path / "m")) in words
    model = read_model(str(tmp_path / "m"))
    assert model.interrupted
    assert model.counters["examples"] == 100
    assert os.listdir(tmp_path) == ["m"]


def test_an_interrupted_model_continues_as_if_nothing_had_happened(tmp_path, training, vwlite):
    training.send_signal(signal.SIGTERM)
    ended(training)
    (tmp_path / "first").write_bytes(LINES)
    (tmp_path / "rest").write_bytes(b"1 |b u\n" * 7)
    vwlite("train", "-i", tmp_path / "m", "-m", tmp_path / "m", tmp_path / "rest", "--quiet")
    vwlite("train", "-m", tmp_path / "whole", tmp_path / "first", tmp_path / "rest", "--quiet")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()


def test_the_old_model_is_replaced_only_by_a_whole_one(tmp_path):
    (tmp_path / "m").write_bytes(b"old")
    process = start("train", "-m", tmp_path / "m", "-P", "100")
    process.stdin.write(LINES)
    process.stdin.flush()
    while process.stderr.readline().split()[2:3] != [b"100"]:
        assert process.poll() is None
    process.kill()
    process.communicate()
    assert (tmp_path / "m").read_bytes() == b"old"


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_before_the_first_example_leaves_the_old_model(tmp_path, number):
    (tmp_path / "m").write_bytes(b"old")
    process = start("train", "-m", tmp_path / "m")
    process.stdin.write(b" |a of no label\n")
    process.stdin.flush()
    while b"unknown" not in process.stderr.readline():  # the row of that example
        assert process.poll() is None
    process.send_signal(number)
    code, words = ended(process)
    assert code == 128 + number
    assert b"; no example was learned, %s is left as it is" % bytes(tmp_path / "m") in words
    assert (tmp_path / "m").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["m"]


def test_what_is_ignored_from_outside_stays_ignored(tmp_path):
    """As nohup does it."""
    process = start(
        "train", "-m", tmp_path / "m", "-P", "100", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )
    process.stdin.write(LINES)
    process.stdin.flush()
    while process.stderr.readline().split()[2:3] != [b"100"]:
        assert process.poll() is None
    process.send_signal(signal.SIGHUP)
    process.stdin.write(LINES)
    assert process.communicate(timeout=PATIENT) and process.returncode == 0
    model = read_model(str(tmp_path / "m"))
    assert model.counters["examples"] == 200
    assert not model.interrupted


@pytest.mark.parametrize("number", SIGNALS)
def test_predicting_ends_with_what_it_has_predicted(tmp_path, vwlite, number):
    (tmp_path / "d").write_bytes(LINES)
    vwlite("train", "-m", tmp_path / "m", tmp_path / "d", "--quiet")
    process = start("predict", "-m", tmp_path / "m", "--quiet")
    process.stdin.write(b"1 |a x\n")
    process.stdin.flush()
    assert process.stdout.readline()
    process.send_signal(number)
    assert process.wait(PATIENT) == 128 + number
    assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
    process.stdin.close()


@pytest.mark.parametrize("number", SIGNALS)
def test_continuing_ends_like_a_first_run(tmp_path, vwlite, number):
    """A model was read: numpy is there, with its threads, before the signals are handled."""
    (tmp_path / "d").write_bytes(LINES)
    vwlite("train", "-m", tmp_path / "m", tmp_path / "d", "--quiet")
    process = start("train", "-i", tmp_path / "m", "-m", tmp_path / "m", "-P", "100")
    process.stdin.write(LINES)
    process.stdin.flush()
    while process.stderr.readline().split()[2:3] != [b"100"]:
        assert process.poll() is None
    process.send_signal(number)
    assert ended(process)[0] == 128 + number
    process.stdin.close()
    assert read_model(str(tmp_path / "m")).counters["examples"] == 200


def test_a_second_signal_ends_a_program_that_cannot_finish(tmp_path, vwlite):
    """It waits for a reader of its predictions, who never comes."""
    (tmp_path / "d").write_bytes(LINES * 1000)
    vwlite("train", "-m", tmp_path / "m", tmp_path / "d", "--quiet")
    process = start("predict", "-m", tmp_path / "m", tmp_path / "d")
    assert process.stdout.read(1)
    process.send_signal(signal.SIGTERM)
    end = time.monotonic() + PATIENT
    while process.poll() is None and time.monotonic() < end:
        process.send_signal(signal.SIGTERM)
        time.sleep(0.05)
    assert process.poll() == 128 + signal.SIGTERM


IN_ONE_PROCESS = """
import os, signal, sys, threading
from vwlite.cli import run
def state():
    return len(os.listdir("/dev/fd")), threading.active_count(), [signal.getsignal(s) for s in (1, 2, 15)]
data, model = sys.argv[1:]
found = []
for _ in range(30):
    assert run(["train", data, "-m", model, "--quiet", "--passes", "2", "-c"]) == 0
    assert run(["predict", data, "-m", model, "--quiet", "-p", os.devnull]) == 0
    found.append(state())
assert found[0] == found[-1], found
assert signal.set_wakeup_fd(-1) == -1
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("as before")
"""


def test_runs_within_a_process_leave_it_as_it_was(tmp_path):
    """Files, threads, and what becomes of a signal."""
    (tmp_path / "d").write_bytes(LINES)
    done = subprocess.run(
        [sys.executable, "-c", IN_ONE_PROCESS, tmp_path / "d", tmp_path / "m"],
        capture_output=True, text=True, timeout=PATIENT,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "as before\n", "")


SHORT = """
import resource, sys
from vwlite.cli import main
import vwlite.training, vwlite.commands.train
count, *arguments = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_NOFILE, (int(count),) * 2)
main(arguments)
"""


def test_too_few_open_files_are_named(tmp_path):
    (tmp_path / "d").write_bytes(LINES)
    codes, words = set(), set()
    for count in range(3, 16):
        done = subprocess.run(
            [sys.executable, "-c", SHORT, str(count), "train", tmp_path / "d", "-c", "-m", tmp_path / "m", "--quiet"],
            capture_output=True, text=True, timeout=PATIENT,
        )  # fmt: skip
        codes.add(done.returncode)
        words.add(done.stderr)
        assert "Traceback" not in done.stderr
        assert "internal error" not in done.stderr
        assert done.returncode == 0 or "oo many open files" in done.stderr, count
    assert codes <= {0, 66, 71, 73}
    assert {0, 71} <= codes
    assert any(f"may have {n} at a time; ulimit -n allows more" in text for n in range(3, 16) for text in words)


def test_a_signal_when_all_is_done_ends_without_a_word(tmp_path):
    code = "import os, signal; from vwlite import signals; signals.end_at_once(); os.kill(os.getpid(), signal.SIGINT)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=PATIENT)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")
