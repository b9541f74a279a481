"""`--memory` of `vwlite solve` and `certify`: the rest is kept in files, and no byte of a result changes."""

import json
import os
import resource
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from running import PATIENT, PROGRAM, standard_input, start

from vwlite.algorithms.memory import COLUMN, EXAMPLE

ENOUGH = "7M"
PROBLEMS = {
    "newton": ["--l1-of-max", 0.05],
    "newton on a ball": ["--radius", 3, "--threads", 1],
    "newton to count": ["--nonzeros", 40],
    "newton, squared": ["--loss", "squared", "--l1-of-max", 0.05, "--l2", 0.01, "--nonnegative"],
    "path": ["--l1-path", "4:0.05"],
    "cd": ["--solver", "cd", "--l1-of-max", 0.05],
    "scd": ["--solver", "scd", "--l1-of-max", 0.05, "--max-passes", 30],
    "detcd": ["--solver", "detcd", "--l1-of-max", 0.2, "--max-passes", 15],
    "projected-gradient": ["--solver", "projected-gradient", "--radius", 3, "--max-passes", 60],
    "accelerated": ["--solver", "accelerated", "--radius", 3],
    "minibatch": ["--solver", "minibatch", "--radius", 3, "--max-passes", 20],
    "eg": ["--solver", "eg", "--radius", 3, "--max-passes", 60],
    "eg-pm": ["--solver", "eg-pm", "--radius", 3, "--max-passes", 60],
    "sdca": ["--loss", "hinge", "--l2", 0.01, "--max-passes", 30],
}


@pytest.fixture(scope="module")
def text():
    """Data of 240,000 features, which take 1.9 MB as rows and as much as columns."""
    rng = np.random.default_rng(3)
    w, lines = rng.normal(size=400) * (rng.random(400) < 0.2), []
    for i in range(4000):
        columns = rng.choice(400, 60)  # some twice
        values = np.round(rng.random(60), 3)
        label = 1 if w[columns] @ values + rng.normal() > 0 else -1
        features = " ".join(f"{j}:{v}" for j, v in zip(columns, values, strict=True))
        lines.append(f"{label} {1 + i % 2} | {features}\n")
    return "".join(lines)


@pytest.fixture
def at(tmp_path, monkeypatch, text):
    """A folder with the data, and one for temporary files."""
    monkeypatch.chdir(tmp_path)
    Path("d").write_text(text)
    Path("tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_byte_of_the_model_changes(vwlite, at, name):
    model = "%d" if name == "path" else "1"
    common = ("solve", "d", *PROBLEMS[name], "-m", f"m{model}", "--report")
    whole = vwlite(*common, "whole").err
    models = {path.name: path.read_bytes() for path in at.glob("m*")}
    said = vwlite(*common, "limited", "--memory", ENOUGH).err
    assert " nonzeros in a file\n" in said and " in a file" not in whole
    assert len(models) == (4 if name == "path" else 1)
    assert {path.name: path.read_bytes() for path in at.glob("m*")} == models
    ours, theirs = (json.loads(Path(report).read_text()) for report in ("limited", "whole"))
    assert (ours["options"]["memory"], theirs["options"]["memory"]) == (7 << 20, None)
    assert (ours["data"]["in_files"], theirs["data"]["in_files"]) == (True, False)
    for row in (*ours["steps"], *theirs["steps"]):
        del row["seconds"]
    assert ours["steps"] == theirs["steps"]
    assert os.listdir("tmp") == []


@pytest.mark.parametrize("softmax", [False, True])
def test_several_classes(vwlite, at, softmax):
    lines = Path("d").read_text().splitlines(keepends=True)
    Path("d").write_text("".join(f"{1 + i % 3}{line[line.index(' ') :]}" for i, line in enumerate(lines)))
    strength = ["--softmax", "--radius", 2] if softmax else ["--l1-of-max", 0.3]
    common = ("solve", "d", "--oaa", 3, *strength, "--max-passes", 60)
    vwlite(*common, "-m", "whole")
    assert " in a file\n" in vwlite(*common, "-m", "limited", "--memory", ENOUGH).err
    assert Path("whole").read_bytes() == Path("limited").read_bytes()


def test_caches_pipes_and_threads(vwlite, at):
    common = ("solve", "--l1-of-max", 0.05, "-m", "m")
    vwlite(*common, "d")
    whole = Path("m").read_bytes()
    for more in (["d", "--cache"], ["d", "--cache"], ["d", "--cache-file", "c"], ["d", "--threads", 1], ["-"]):
        with standard_input(at / "d"):
            assert " in a file\n" in vwlite(*common, *more, "--memory", ENOUGH).err
        assert Path("m").read_bytes() == whole


def test_a_fifo_is_read_once(vwlite, at):
    vwlite("solve", "d", "--l1-of-max", 0.05, "-m", "m", "--quiet")
    os.mkfifo("fifo")
    run = start("solve", "fifo", "--l1-of-max", 0.05, "-m", "n", "--memory", ENOUGH)
    with Path("fifo").open("wb") as fifo:
        fifo.write(Path("d").read_bytes())
    assert run.communicate(timeout=PATIENT)[1] and run.returncode == 0
    assert Path("n").read_bytes() == Path("m").read_bytes()


def test_data_that_fit_stay_in_memory(vwlite, at):
    said = vwlite("solve", "d", "--l1-of-max", 0.05, "--memory", "1g", "--report", "r").err
    assert " in a file" not in said and json.loads(Path("r").read_text())["options"]["memory"] == 1 << 30


def test_too_little_says_what_would_do(vwlite, at):
    words = vwlite("solve", "d", "--l1-of-max", 0.05, "--memory", "100k", "-m", "m", code=65).err.splitlines()[-1]
    said, _, end = words.partition(": ")
    assert said == "--memory 102400 is too little for 4000 examples and 400 columns"
    enough = end.removeprefix("use ")
    assert not Path("m").exists()
    vwlite("solve", "d", "--l1-of-max", 0.05, "--memory", enough, "-m", "m", "--quiet")
    limited = Path("m").read_bytes()
    vwlite("solve", "d", "--l1-of-max", 0.05, "-m", "m", "--quiet")
    assert Path("m").read_bytes() == limited
    assert ": use " in vwlite("solve", "d", "--l1-of-max", 0.05, "--memory", int(enough) // 2, code=65).err
    about = " ".join(vwlite("help", "solve").out.split())
    assert f"About {EXAMPLE} bytes for each example and {COLUMN} for each column" in about


@pytest.mark.parametrize("value", ["", "x", "1.5M", "-1", "0", "1T", "1 M", "k", "nan", "1_000", "9" * 30])
def test_numbers_of_bytes_that_are_invalid(vwlite, at, value):
    said = vwlite("solve", "d", "--l1", 1, f"--memory={value}", code=2).err
    assert "--memory" in said and ("such as 500M" in said or "at least 1" in said)


def test_certifying_says_the_same(vwlite, at):
    vwlite("solve", "d", "--l1-of-max", 0.05, "-m", "m", "--quiet")
    vwlite("solve", "d", "--l1-of-max", 0.02, "-m", "other", "--quiet")
    for more in ([], ["--l1", 0.001, "--against", "other"], ["--radius", 1], ["--against", "m"]):
        whole = vwlite("certify", "-m", "m", "d", *more)
        limited = vwlite("certify", "-m", "m", "d", *more, "--memory", "4M")
        assert (limited.out, limited.err) == (whole.out, whole.err)
    assert "4000 examples and 400 columns" in vwlite("certify", "-m", "m", "d", "--memory", "1M", code=65).err


def test_no_folder_for_temporary_files(vwlite, at, monkeypatch):
    with monkeypatch.context() as context:
        context.setattr("tempfile.tempdir", str(at / "none"))
        said = vwlite("solve", "d", "--l1-of-max", 0.05, "--memory", ENOUGH, "-m", "m", code=74).err
    words = said.splitlines()[-1]
    assert words == (
        f"the temporary file of the examples in {at / 'none'} cannot be written: No such file or directory; set TMPDIR "
        "to a folder with more space, or allow more --memory"
    )
    assert not Path("m").exists()


@pytest.mark.parametrize("limit", [1_000, 100_000, 600_000])
def test_a_full_disk(at, limit):
    """Files may be so large: those of rows are cut off while they are read or tidied."""
    Path("m").write_bytes(b"old")
    ended = subprocess.run(
        [*PROGRAM, "solve", "d", "--l1-of-max", "0.001", "--memory", ENOUGH, "-m", "m"], capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)), timeout=PATIENT,
    )
    assert ended.returncode == 74, ended
    assert "cannot be written: File too large; set TMPDIR to a folder with more space" in ended.stderr
    assert Path("m").read_bytes() == b"old" and os.listdir("tmp") == []


@pytest.mark.parametrize("more", [[], ["--l1-path", 3], ["--oaa", 2], ["--solver", "cd"]])
def test_a_disk_that_is_full_at_any_moment(vwlite, at, monkeypatch, more):
    """While rows or columns are written: how often that is, is counted first."""
    if "--oaa" in more:
        Path("d").write_text(Path("d").read_text().replace("-1 ", "2 "))
    command = ["solve", "d", "--memory", ENOUGH, *([] if "--l1-path" in more else ["--l1", 0.001]), *more]
    command += ["-m", "m%d" if "--l1-path" in more else "m1", "--quiet"]
    pwrite, calls = os.pwrite, []

    def write(*arguments):
        calls.append(None)
        if len(calls) == last:
            raise OSError(28, "No space left on device")
        return pwrite(*arguments)

    last = 0
    monkeypatch.setattr(os, "pwrite", write)
    vwlite(*command)
    Path("m1").write_bytes(b"old")
    for at_call in (len(calls) // 3, 2 * len(calls) // 3, len(calls)):
        last, calls = at_call, []
        said = vwlite(*command, code=74).err
        assert " cannot be written: No space left on device; set TMPDIR to a folder" in said.splitlines()[-1]
        assert Path("m1").read_bytes() == b"old" or "--l1-path" in more
        assert os.listdir("tmp") == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_behind(at, number):
    run = start("solve", "d", "--solver", "detcd", "--l1-of-max", 0.001, "--memory", ENOUGH, "-m", "m")
    assert run.stderr is not None
    for line in run.stderr:
        if line.split()[:1] == [b"1"]:
            break
    assert os.listdir("tmp") == []
    run.send_signal(number)
    run.communicate(timeout=PATIENT)
    assert run.returncode == (-9 if number == signal.SIGKILL else 143)
    assert os.listdir("tmp") == [] and Path("m").exists() == (number == signal.SIGTERM)


def test_data_that_change_meanwhile_are_not_used(at):
    """They are read once; what solving reads has no name."""
    command = ("solve", "d", "--l1-path", "20:0.02", "--tolerance", 1e-6, "--memory", ENOUGH, "-m", "m%d")
    subprocess.run([*PROGRAM, *map(str, command)], check=True, capture_output=True, timeout=PATIENT)
    whole = Path("m20").read_bytes()
    run = start(*command)
    assert run.stderr is not None
    for line in run.stderr:
        if line.startswith(b"strength"):
            break
    Path("d").write_text("1 | other\n")
    assert run.communicate(timeout=PATIENT) and run.returncode == 0
    assert Path("m20").read_bytes() == whole


def test_the_memory_that_is_held(at):
    """What a run holds more than one of few examples is within the limit, with the buffers of reading beside it."""
    lines = Path("d").read_text()
    Path("d").write_text(lines * 15)
    peaks = {}
    Path("few").write_text(lines[:2000])
    for data, more in (("few", []), ("d", []), ("d", ["--memory", "24M"])):
        command = [*PROGRAM, "solve", data, "--l1-of-max", "0.01", "--threads", "1", *more]
        script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], capture_output=True, check=True); "
        script += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        run = subprocess.run([PROGRAM[0], "-c", script, *command], capture_output=True, check=True, timeout=PATIENT)
        peaks[data, len(more)] = 1024 * int(run.stdout)
    few = peaks["few", 0]
    assert peaks["d", 0] - few > 50 << 20
    assert peaks["d", 2] - few < (24 + 8) << 20
