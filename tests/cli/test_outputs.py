"""Exit codes of processes; outputs that cannot be written, are those of another job, or have lost their reader."""

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest
from lines import BAD, GOOD, OLD, SAID, text, write
from running import GD, PATIENT, finish, in_child, leftovers, shell, start

from vwlite.cli import run
from vwlite.output.atomic import AtomicFile

pytestmark = pytest.mark.usefixtures("folder")

FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


@pytest.fixture
def model(vwlite):
    """A model; beside it data, and more of it."""
    write("data", text(1, 100))
    write("much", text(2, 1000))
    vwlite("train", *GD, "data", "-m", "model", "--quiet")
    return "model"


@pytest.mark.parametrize(
    ("code", "script", "said"),
    [
        (0, "vwlite train data --algorithm gd -m m --quiet && vwlite check m >/dev/null", ""),
        (1, "vwlite check data model broken >/dev/null", ""),
        (2, "vwlite train data --passes", "Error: Option '--passes' needs a value: number of passes over the data\n"),
        (65, "cat data broken | vwlite train - --algorithm gd --quiet", f"<stdin>:111:8: {SAID}\n"),
        (65, "head -c 1000 model >cut; vwlite weights cut", "cut: not a complete model: "),
        (65, "gzip -c data | head -c 500 >cut; vwlite train cut --algorithm gd --quiet", "cut:"),
        (66, "vwlite predict -m model --quiet <&-", "<stdin>: Bad file descriptor\n"),
    ],
)
def test_exit_codes_of_processes(model, code, script, said):
    write("broken", GOOD * 5 + BAD)
    done = shell(script)
    assert done.code == code
    assert done.err.startswith(said) if said else done.err == ""


OUTPUTS = ["-m", "-p", "-r", "--report", "--rejects", "--cache-file"]


@pytest.mark.third
@pytest.mark.parametrize("option", OUTPUTS)
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nosuch/x", "cannot be created: there is no folder "),
        ("data/x", "cannot be created: Not a directory"),
        ("folder", "cannot be written: it is a folder"),
    ],
)
def test_outputs_that_cannot_be_created_are_found_before_anything_is_learned(
    vwlite, model, folder, option, name, reason
):
    os.mkdir("folder")
    seen = sorted(os.listdir())
    command = f"--quiet --on-error skip {option} {name} " + ("-r -" if option == "-p" else "-p -")
    commands = [f"train --algorithm gd {command}"]
    if option in ("-p", "-r", "--report", "--rejects"):
        commands.append(f"predict -i model {command}")
    for words in commands:
        done = vwlite(*words.split(), "data", code=73)
        assert done.out == ""
        assert done.err.splitlines()[-1].startswith(f"{name}: {reason}")
        assert leftovers(folder, seen) == []
        if option != "--cache-file" and name == "folder":  # nothing is read: the pipe is silent, and stays open
            process = start(*words.split())
            assert process.wait(PATIENT) == 73
            process.communicate()


@pytest.mark.parametrize("option", OUTPUTS)
def test_a_folder_without_permission(option, monkeypatch):
    place = Path(tempfile.mkdtemp())  # not tmp_path, which only its owner may enter
    try:
        place.chmod(0o755)
        (place / "closed").mkdir(mode=0o555)
        (place / "data").write_bytes(GOOD)
        monkeypatch.chdir(place)

        def attempt():
            if os.geteuid() == 0:  # who may do everything
                os.setuid(65534)
            return run(["train", *GD, "data", "--quiet", "--on-error", "skip", option, "closed/x"])

        assert in_child(attempt) == 73
        assert os.listdir("closed") == []
    finally:
        (place / "closed").chmod(0o755)
        shutil.rmtree(place)


@pytest.mark.third
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("train much --algorithm gd -m old", "old"),
        ("train much --algorithm gd -p old", "old"),
        ("train much --algorithm gd -r old", "old"),
        ("train much --algorithm gd --cache-file old", "old"),
        ("train much --algorithm gd --passes 2 --cache-file old -m new", "old"),
        ("train broken --algorithm gd --on-error skip --rejects old", "old"),
        ("train much --algorithm gd -m old --checkpoint-every 500", "old"),
        ("train data --report old --quantile-tau 0.5 --loss quantile", "old"),
        ("predict -i model much -p old", "old"),
        ("predict -i model much -r old", "old"),
        pytest.param("train much --algorithm gd -m /dev/full", "/dev/full", marks=FULL),
        pytest.param("train much --algorithm gd -p /dev/full", "/dev/full", marks=FULL),
        pytest.param("train much --algorithm gd -r /dev/full", "/dev/full", marks=FULL),
        pytest.param("train much --algorithm gd --report /dev/full", "/dev/full", marks=FULL),
        pytest.param("train broken --algorithm gd --on-error skip --rejects /dev/full", "/dev/full", marks=FULL),
        pytest.param("predict -i model much -p /dev/full", "/dev/full", marks=FULL),
        pytest.param("predict -i model much --report /dev/full", "/dev/full", marks=FULL),
    ],
)
def test_a_full_disk_is_an_error_and_the_old_file_stays(model, folder, command, name):
    old = b"vwlite cache" if "--cache-file" in command else OLD  # another file is not replaced by a cache
    write("old", old)
    write("broken", b"nonsense |a b\n" * 200)
    seen = [*os.listdir(), "new"] if "new" not in command else os.listdir()
    done = shell(f"ulimit -f 1; vwlite {command} --quiet 2>&1 | grep -v '(skipped)'")
    reason = "No space left on device" if name == "/dev/full" else "File too large"
    assert done.out.splitlines()[-1] == f"{name}: cannot be written: {reason}"
    assert done.code == 74
    assert Path("old").read_bytes() == old
    assert leftovers(folder, seen) == []


@FULL
def test_a_report_that_cannot_be_written_does_not_cost_the_model(vwlite, model):
    assert shell("vwlite train data --algorithm gd -m new --report /dev/full --quiet").code == 74
    assert Path("new").read_bytes() == Path(model).read_bytes()


@pytest.mark.parametrize("option", [option for option in OUTPUTS if option != "--cache-file"])
def test_a_second_job_with_the_same_output_is_turned_away(vwlite, model, option):
    """The first one is in the middle of its work; the second changes nothing about it."""
    command = ["train", *GD, "--quiet", "--on-error", "skip", option]
    first = start(*command, "output")
    end = time.monotonic() + PATIENT
    while not os.path.exists(".output.lock"):
        assert time.monotonic() < end and first.poll() is None
        time.sleep(0.01)
    second = finish(start(*command, "output", "much"))
    assert (second.code, second.out) == (75, "")
    assert second.err == (
        "output: another job is writing it; wait for it, or write to another file "
        f"(its lock is {os.path.realpath('.output.lock')})\n"
    )
    assert finish(first, Path("data").read_bytes()).code == 0
    assert leftovers(Path(), ["data", "much", "model", "output"]) == []
    vwlite(*command, "expected", "data")
    if option != "--report":  # which tells the time
        assert Path("output").read_bytes() == Path("expected").read_bytes()


def test_a_second_job_with_the_same_cache_is_turned_away(model):
    with AtomicFile("cache"):
        done = finish(start("train", *GD, "data", "--cache-file", "cache", "--quiet"))
    assert done.code == 75
    assert done.err.startswith("cache: another job is writing it; ")


@pytest.mark.parametrize(
    "script",
    [
        "vwlite predict -m model huge | head -1 >/dev/null",
        "vwlite predict -m model huge -p /dev/stdout | head -1 >/dev/null",
        "{ yes '1 |a x' || true; } | vwlite predict -m model | head -1 >/dev/null",
        "vwlite train huge --algorithm gd --quiet -p - | head -1 >/dev/null",
        "vwlite weights big --all | head -1 >/dev/null",
        "mkfifo pipe; head -1 pipe >/dev/null & vwlite predict -m model huge -p pipe && wait",
    ],
)
def test_a_reader_that_has_had_enough_ends_the_run_quietly(vwlite, model, script):
    write("huge", text(1, 2000) * 5)
    write("numbers", b"".join(b"1 %d:1\n" % i for i in range(1, 9999)))
    vwlite("train", *GD, "numbers", "-m", "big", "--quiet")
    done = shell(script)
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize(
    ("out", "command"),
    [
        ("-", "train --algorithm gd -m"),
        ("/dev/stdout", "train --algorithm gd -m"),
        ("pipe", "train --algorithm gd -m"),
        ("-", "train --algorithm gd -r"),
        ("-", "train --algorithm gd --cache-file"),
        ("-", "predict -i model -r"),
        ("pipe", "predict -i model -r"),
    ],
)
def test_a_reader_that_has_had_enough_does_not_cost_the_other_outputs(vwlite, model, out, command):
    write("huge", text(1, 2000) * 5)
    os.mkfifo("pipe")
    script = f"vwlite {command} output huge -p {out} --quiet"
    done = shell(f"head -1 pipe >/dev/null & {script} && wait" if out == "pipe" else f"{script} | head -1 >/dev/null")
    assert (done.code, done.err) == (0, "")
    vwlite(*command.split(), "expected", "huge", "-p", "predictions", "--quiet")
    assert Path("output").read_bytes() == Path("expected").read_bytes()
    assert os.path.getsize("predictions") > 1 << 16  # more than a pipe holds
