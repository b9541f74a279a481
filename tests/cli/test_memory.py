"""What a run may take at most, whatever its input: each in a process of its own, whose peak is measured."""

import subprocess
import sys

import pytest
from running import GD, PROGRAM, with_gd

pytestmark = pytest.mark.third
UNIT = 1 if sys.platform == "darwin" else 1024  # of the system's answer, in bytes
MB = 1_000_000
# A process counts the memory of the one that it was forked from: here, that of a small one.
RUN = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""


def peak(*arguments: object) -> int:
    """Run the program; the most memory that it had, in bytes."""
    command = [sys.executable, "-c", RUN, *PROGRAM, *(str(a) for a in arguments)]
    code, most = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.split()
    assert code == b"0"
    return int(most) * UNIT


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """One line of 5,000 features: 12 million pairs, of which each used to take 80 bytes."""
    path = tmp_path_factory.mktemp("wide") / "wide.vw"
    path.write_bytes(b"1 |a " + b" ".join(b"f%d" % i for i in range(5_000)) + b"\n")
    return path


@pytest.mark.parametrize(
    "options", ["", "--algorithm adagrad", "--algorithm l1-ball --radius 3", "--loss hinge --algorithm pa"]
)
def test_crossing_a_wide_line_takes_no_memory_for_each_pair(tmp_path, wide, options):
    """Of the weights there are at most 2^18; `predict` makes none."""
    model = tmp_path / "m"
    assert peak("train", wide, "-q", "::", "-b", "18", "-m", model, "--quiet", *with_gd(options.split())) < 200 * MB
    assert peak("predict", wide, "-m", model, "-p", tmp_path / "p", "--quiet") < 200 * MB
    assert (tmp_path / "p").read_bytes().count(b"\n") == 1


def test_predicting_a_wide_line_makes_no_weights(tmp_path, wide):
    """Also of the 2^32 that there may be."""
    (tmp_path / "d").write_bytes(b"1 |a f1 f2\n")
    assert peak("train", *GD, tmp_path / "d", "-q", "::", "-m", tmp_path / "m", "--quiet") < 200 * MB
    assert peak("predict", wide, "-m", tmp_path / "m", "-p", tmp_path / "p", "--quiet") < 200 * MB


@pytest.mark.parametrize("options", ["-q aa", "-q ::", "-q aa --nn 1"])
def test_so_does_vowpal_wabbits_command_line(wide, options):
    assert peak("vw", wide, *options.split(), "--quiet") < 200 * MB


@pytest.mark.parametrize("command", ["train", "predict", "vw"])
def test_ten_million_empty_lines(tmp_path, vwlite, command):
    """A few blocks of them at a time, whose lines are counted and nothing more."""
    (tmp_path / "one").write_bytes(b"1 |a x\n")
    (tmp_path / "empty").write_bytes(b"\n" * 10_000_000)
    vwlite("train", *GD, tmp_path / "one", "-m", tmp_path / "m", "--quiet")
    options = {"train": [*GD, "-d", tmp_path / "one"], "predict": ["-m", tmp_path / "m"], "vw": []}[command]
    assert peak(command, tmp_path / "empty", *options, "--quiet") < 300 * MB
