"""Signals: the example is finished, the model saved as of then; a second one ends at once."""

import os
import signal
import subprocess
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
