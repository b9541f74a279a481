"""Signals: the example is finished, the model saved as of then; a second one ends at once."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from batches import Line, batch_of
from running import GD, PATIENT, PROGRAM, in_child, leftovers, start
from tiers import ALL, drawn

from vwlite.algorithms.settings import Settings
from vwlite.cli import run
from vwlite.core.learn.learner import Reason
from vwlite.model import read_model
from vwlite.model.learners import make_learner
from vwlite.output.atomic import AtomicFile
from vwlite.output.signals import StopSignal

pytestmark = pytest.mark.third
LINES = b"1 |a x y\n-1 |a y z\n" * 50
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def until(process: "subprocess.Popen[bytes]", examples: int = 100) -> "subprocess.Popen[bytes]":
    """Wait for the row that is printed after N examples."""
    while process.stderr.readline().split()[2:3] != [b"%d" % examples]:
        assert process.poll() is None
    return process


def fed(process: "subprocess.Popen[bytes]", data: bytes = LINES, examples: int = 100) -> "subprocess.Popen[bytes]":
    """Write to its standard input, and wait until it has learned N examples."""
    process.stdin.write(data)
    process.stdin.flush()
    return until(process, examples)


@pytest.fixture
def training(tmp_path):
    """A training run that has learned from all of the input so far, and waits for more."""
    process = fed(start("train", *GD, "-m", tmp_path / "m", "-P", "100"))
    yield process
    process.kill()
    process.communicate()


def ended(process: "subprocess.Popen[bytes]") -> tuple[int, bytes]:
    # Standard input stays open: not its end is to end the program. Its words are read while it runs, as a program
    # that has filled the pipe, because this test got no processor for a while, waits for its reader.
    patience = threading.Timer(PATIENT, process.kill)
    patience.start()
    words = process.stderr.read()
    code = process.wait()
    patience.cancel()
    return code, words


def ended_by(process: "subprocess.Popen[bytes]", number: int) -> bytes:
    """Send it a signal, by which it must end; what it wrote to standard error."""
    process.send_signal(number)
    code, words = ended(process)
    assert code == 128 + number
    return words


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_saves_the_model_as_of_then(tmp_path, training, number):
    words = ended_by(training, number)
    assert b"interrupted by signal %d; the model so far was saved to %s" % (number, bytes(tmp_path / "m")) in words
    model = read_model(str(tmp_path / "m"))
    assert model.interrupted
    assert model.counters["examples"] == 100
    assert os.listdir(tmp_path) == ["m"]


def test_an_interrupted_model_continues_as_if_nothing_had_happened(tmp_path, training, vwlite):
    ended_by(training, signal.SIGTERM)
    (tmp_path / "first").write_bytes(LINES)
    (tmp_path / "rest").write_bytes(b"1 |b u\n" * 7)
    vwlite("train", "-i", tmp_path / "m", "-m", tmp_path / "m", tmp_path / "rest", "--quiet")
    vwlite("train", *GD, "-m", tmp_path / "whole", tmp_path / "first", tmp_path / "rest", "--quiet")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()


def test_the_old_model_is_replaced_only_by_a_whole_one(tmp_path):
    (tmp_path / "m").write_bytes(b"old")
    process = fed(start("train", *GD, "-m", tmp_path / "m", "-P", "100"))
    process.kill()
    process.communicate()
    assert (tmp_path / "m").read_bytes() == b"old"


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_before_the_first_label_leaves_the_old_model(tmp_path, number):
    (tmp_path / "m").write_bytes(b"old")
    process = start("train", *GD, "-m", tmp_path / "m")
    process.stdin.write(b" |a of no label\n")
    process.stdin.flush()
    while b"unknown" not in process.stderr.readline():  # the row of that example
        assert process.poll() is None
    words = ended_by(process, number)
    assert b"; no example was learned, %s is unchanged" % bytes(tmp_path / "m") in words
    assert (tmp_path / "m").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["m"]


def test_what_is_ignored_from_outside_stays_ignored(tmp_path):
    """As nohup does it."""
    process = start(
        "train", *GD, "-m", tmp_path / "m", "-P", "100", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )
    fed(process)
    process.send_signal(signal.SIGHUP)
    process.stdin.write(LINES)
    assert process.communicate(timeout=PATIENT) and process.returncode == 0
    model = read_model(str(tmp_path / "m"))
    assert model.counters["examples"] == 200
    assert not model.interrupted


@pytest.mark.parametrize("number", SIGNALS)
def test_predicting_ends_with_what_it_has_predicted(tmp_path, vwlite, number):
    (tmp_path / "d").write_bytes(LINES)
    vwlite("train", *GD, "-m", tmp_path / "m", tmp_path / "d", "--quiet")
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
    vwlite("train", *GD, "-m", tmp_path / "m", tmp_path / "d", "--quiet")
    process = fed(start("train", "-i", tmp_path / "m", "-m", tmp_path / "m", "-P", "100"))
    ended_by(process, number)
    process.stdin.close()
    assert read_model(str(tmp_path / "m")).counters["examples"] == 200


IN_ONE_PROCESS = """
import os, signal, sys, threading
from vwlite.cli import run
def state():
    return len(os.listdir("/dev/fd")), threading.active_count(), [signal.getsignal(s) for s in (1, 2, 15)]
data, model = sys.argv[1:]
found = []
for _ in range(30):
    assert run(["train", data, "--algorithm", "gd", "-m", model, "--quiet", "--passes", "2", "-c"]) == 0
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
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "as before\n", "")


SHORT = """
import resource, sys
from vwlite.cli import main
import vwlite.training.trainer, vwlite.training.commands
count, *arguments = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_NOFILE, (int(count),) * 2)
main(arguments)
"""


@pytest.mark.drawn
def test_too_few_open_files_are_named(tmp_path):
    (tmp_path / "d").write_bytes(LINES)
    codes, words = set(), set()
    for count in range(3, 16, 1 if ALL else 3):
        command = ["train", *GD, tmp_path / "d", "-c", "-m", tmp_path / "m", "--quiet"]
        done = subprocess.run(
            [sys.executable, "-c", SHORT, str(count), *command], capture_output=True, text=True, timeout=PATIENT
        )
        codes.add(done.returncode)
        words.add(done.stderr)
        assert "Traceback" not in done.stderr
        assert "internal error" not in done.stderr
        assert done.returncode == 0 or "oo many open files" in done.stderr, count
    assert codes <= {0, 66, 71, 73}
    assert {0, 71} <= codes
    assert any(f"may have {n} at a time; ulimit -n allows more" in text for n in range(3, 16) for text in words)


# --- before there is anything to be finished -----------------------------------------------------------


def importing(*arguments: object) -> "subprocess.Popen[bytes]":
    """The program, telling on standard error what it imports as soon as it has done so."""
    command = [sys.executable, "-X", "importtime", *PROGRAM[1:], *(str(a) for a in arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def handled(process: "subprocess.Popen[bytes]") -> None:
    """Wait until the program is ready for signals; what comes before is Python's own start."""
    for line in process.stderr:
        if line.endswith(b" vwlite.output.signals\n"):
            break
    assert process.stderr.readline()  # imported after that


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("more", [0, 5, 60])
def test_a_signal_while_the_program_starts_ends_it_without_a_word(tmp_path, number, more):
    (tmp_path / "m").write_bytes(b"old")
    process = importing("train", *GD, "-m", tmp_path / "m", "--quiet")
    handled(process)
    for _ in range(more):
        process.stderr.readline()
    words = ended_by(process, number)
    assert [line for line in words.splitlines() if not line.startswith(b"import time:")] == []
    assert (os.listdir(tmp_path), (tmp_path / "m").read_bytes()) == (["m"], b"old")


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("command", ["train", "vw"])
def test_a_signal_before_the_first_example_leaves_the_old_model(tmp_path, number, command):
    """An empty one would take its place."""
    (tmp_path / "m").write_bytes(b"old")
    process = start(command, *(["-f"] if command == "vw" else [*GD, "-m"]), tmp_path / "m")
    while process.stderr.readline().split()[:1] not in ([b"loss"], [b"average"]):
        assert process.poll() is None
    words = ended_by(process, number)
    assert b"interrupted by signal %d" % number in words
    assert (os.listdir(tmp_path), (tmp_path / "m").read_bytes()) == (["m"], b"old")


def test_the_signals_are_handled_before_there_are_files(tmp_path, monkeypatch):
    """Files started before that stay when a signal ends the program."""
    order = []
    enter, create = StopSignal.__enter__, AtomicFile.__init__
    monkeypatch.setattr(StopSignal, "__enter__", lambda self: order.append("signals") or enter(self))
    monkeypatch.setattr(AtomicFile, "__init__", lambda self, path: order.append("file") or create(self, path))
    (tmp_path / "d").write_bytes(LINES)
    model, predictions = str(tmp_path / "m"), str(tmp_path / "p")
    for arguments in (
        ["train", *GD, "-m", model, "-p", predictions],
        ["predict", "-m", model, "-p", predictions],
        ["vw", "-f", model],
    ):

        def work(arguments: list[str] = arguments) -> int:
            return silent([*arguments, str(tmp_path / "d")]) or order[0] != "signals" or "file" not in order

        assert in_child(work) == 0  # in a process of its own, as handlers are not put back


def silent(arguments: list[str]) -> int:
    for fd in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), fd)
    return run(arguments)


# --- vwlite vw ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("more", ["", "--oaa 2", "--nn 3", "--passes 3 -k --cache_file cache", "-p p -r r", "--noop"])
def test_vw_saves_the_model_as_of_then(tmp_path, vwlite, number, more):
    (tmp_path / "m").write_bytes(b"old")
    lines = LINES.replace(b"-1", b"2") if "oaa" in more else LINES
    process = fed(start("vw", "-f", "m", "-P", "100", "--holdout_off", *more.split(), cwd=tmp_path), lines)
    words = ended_by(process, number)
    assert words.endswith(b"interrupted by signal %d; the model so far was saved to m\n" % number)
    assert leftovers(tmp_path, ["m", "p", "r"]) == []
    if "-p p" in more:
        assert (tmp_path / "p").read_text().count("\n") == 100
    # As if the data had ended there.
    (tmp_path / "d").write_bytes(lines)
    more = more.replace("--passes 3 -k --cache_file cache", "")
    more = more.replace("-p p -r r", "")
    vwlite("vw", "-f", tmp_path / "whole", "-d", tmp_path / "d", "-P", "100", "--holdout_off", *more.split())
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()


def test_vw_does_not_keep_a_cache_of_half_the_data(tmp_path):
    (tmp_path / "d").write_bytes(LINES * 3000)
    process = until(start("vw", "-d", "d", "-c", "--passes", "2", "-f", "m", "-P", "100", "--nn", "2", cwd=tmp_path))
    ended_by(process, signal.SIGTERM)
    assert leftovers(tmp_path, ["d", "m"]) == []


def test_vw_learns_no_group_of_lines_that_may_lack_its_end(tmp_path, vwlite):
    group = b"1:0 | a\n2:1 | b\n\n"
    process = fed(start("vw", "--csoaa_ldf", "m", "-f", "m", "-P", "1", cwd=tmp_path), group * 2 + b"1:9 | a\n", 2)
    ended_by(process, signal.SIGTERM)
    (tmp_path / "d").write_bytes(group * 2)
    vwlite("vw", "--csoaa_ldf", "m", "-f", tmp_path / "whole", "-d", tmp_path / "d", "-P", "1")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("solver", ["--bfgs", "--conjugate_gradient"])
def test_vw_s_batch_solvers_save_the_weights_of_the_last_pass(tmp_path, solver):
    (tmp_path / "d").write_bytes(LINES * 4)
    (tmp_path / "m").write_bytes(b"old")
    arguments = ["-d", "d", "-k", "-c", "--passes", "100000", solver, "-f", "m", "-a",
                 "--predict_only_model", "--holdout_off", "--l2", "1"]
    if solver == "--bfgs":
        arguments += ["--termination", "0"]
    process = start("vw", *arguments, cwd=tmp_path, stdout=subprocess.DEVNULL)
    for line in process.stderr:
        if line.split()[:1] == [b"3"]:
            break
    process.send_signal(signal.SIGHUP)
    code, words = ended(process)
    if code == 0:
        pytest.skip("it has converged")
    assert code == 128 + signal.SIGHUP
    assert b"the model so far was saved to m" in words
    assert (tmp_path / "m").read_bytes() != b"old"
    assert leftovers(tmp_path, ["d", "m", "d.cache"]) == []


def test_a_second_signal_ends_a_program_that_cannot_finish_and_leaves_no_file_behind(tmp_path, vwlite):
    """It waits for a reader of its predictions, which never comes, and a file is started."""
    (tmp_path / "d").write_bytes(LINES * 1000)
    vwlite("train", *GD, "-m", tmp_path / "m", tmp_path / "d", "--quiet")
    process = start("predict", "-m", tmp_path / "m", tmp_path / "d", "--report", tmp_path / "r")
    assert process.stdout.read(1)
    assert len(leftovers(tmp_path, ["d", "m"])) == 2
    end = time.monotonic() + PATIENT
    while process.poll() is None and time.monotonic() < end:
        process.send_signal(signal.SIGTERM)
        time.sleep(0.05)
    assert process.poll() == 128 + signal.SIGTERM
    assert leftovers(tmp_path, ["d", "m"]) == []


def crossing(features: int) -> bytes:
    """A line with that many features, of which `-q aa` makes half their square."""
    return b"1 |a " + b" ".join(b"%d" % i for i in range(features)) + b"\n"


@pytest.mark.parametrize("number", SIGNALS)
def test_training_ends_within_an_oversized_line(tmp_path, vwlite, number):
    """The line alone would take minutes. It is left out."""
    (tmp_path / "d").write_bytes(LINES + crossing(300_000))
    process = until(start("train", *GD, tmp_path / "d", "-q", "aa", "-b", "18", "-m", tmp_path / "m", "-P", "100"))
    time.sleep(0.2)
    ended_by(process, number)
    (tmp_path / "first").write_bytes(LINES)
    for model in ("m", "first.m"):
        (tmp_path / "rest").write_bytes(b"1 |b u\n" * 7)
        if model == "first.m":
            vwlite("train", *GD, tmp_path / "first", "-q", "aa", "-b", "18", "-m", tmp_path / model, "--quiet")
        vwlite("train", "-i", tmp_path / model, "-m", tmp_path / model, tmp_path / "rest", "--quiet")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "first.m").read_bytes()


@pytest.mark.parametrize("number", SIGNALS)
def test_predicting_ends_within_an_oversized_line(tmp_path, vwlite, number):
    (tmp_path / "first").write_bytes(LINES)
    (tmp_path / "d").write_bytes(LINES + crossing(300_000))
    vwlite("train", *GD, tmp_path / "first", "-q", "aa", "-b", "18", "-m", tmp_path / "m", "--quiet")
    process = start("predict", tmp_path / "d", "-m", tmp_path / "m", "-p", tmp_path / "p", "--quiet")
    while not leftovers(tmp_path, ["first", "d", "m"]):  # the file of predictions is started
        assert process.poll() is None
    time.sleep(0.3)
    assert ended_by(process, number) == b"interrupted by signal %d; no file was written\n" % number
    assert leftovers(tmp_path, ["first", "d", "m"]) == []


def test_vwlite_vw_ends_within_an_oversized_line(tmp_path):
    """In the engine's loop, and one by one."""
    (tmp_path / "d").write_bytes(LINES + crossing(300_000))
    for options in (["-q", "aa"], ["-q", "aa", "--nn", "1"]):
        process = until(start("vw", tmp_path / "d", *options), 64)
        time.sleep(0.2)
        ended_by(process, signal.SIGINT)


def test_what_was_learned_of_an_oversized_line_stays():
    """Once the example counts, it is being learned, which takes seconds with a --power-t that is not 0.5."""
    features = [(i * 2654435761 % 2**32, 1.0) for i in range(6000)]
    settings = Settings(bits=18, interactions=("aa",), power_t=0.3)
    learner = make_learner(settings, learn=True)

    def stop() -> None:
        while learner.examples == 0:
            time.sleep(0.001)
        learner.stop()

    thread = threading.Thread(target=stop)
    thread.start()
    line = Line(1.0, features, spans=[(ord("a"), len(features))])
    assert learner.run(batch_of([line, line])) == 1
    thread.join()
    assert learner.reason == Reason.STOPPED
    assert learner.examples == 1
    assert learner.cut == learner.size == 6000 + 6000 * 6001 // 2 + 1


def test_what_came_before_an_inner_one_begins_is_dealt_with_by_then(monkeypatch):
    """Its thread may be late on a busy machine; what it does must not happen when there are files by then."""
    stopped = threading.Event()

    def late(self: StopSignal) -> "int | None":
        time.sleep(0.2)
        return StopSignal._next(self)

    outer = StopSignal(stopped.set)
    monkeypatch.setattr(outer, "_next", late.__get__(outer))
    with outer:
        os.kill(os.getpid(), signal.SIGTERM)
        with StopSignal() as inner:
            assert stopped.is_set()
            assert inner.number is None
    assert outer.number == signal.SIGTERM


# --- from our first line on -------------------------------------------------------------------------

# Runs the program, with a signal before that line of ours, counted from the first one that could handle it.
AT_LINE = """
import os, runpy, sys
from importlib.util import find_spec
left, number = int(sys.argv[1]), int(sys.argv[2])
sys.argv[1:] = sys.argv[3:]
ours = os.path.dirname(find_spec("vwlite").origin)
ready = False
def trace(frame, event, argument):
    global left, ready
    file = frame.f_code.co_filename
    if not ready:
        ready = file == os.path.join(ours, "__main__.py") and event == "line" and frame.f_lineno > FIRST
        if not ready:
            return trace
    if file.startswith(ours) and event == "line":
        left -= 1
        if left == 0:
            sys.settrace(None)
            os.kill(os.getpid(), number)
    return trace
sys.settrace(trace)
runpy.run_module("vwlite", run_name="__main__", alter_sys=True)
"""
LINES_OF_START = [*range(1, 12), *random.Random(25).sample(range(12, 1200), 24)]


@pytest.mark.drawn
@pytest.mark.parametrize("number", [*SIGNALS, signal.SIGPIPE])
def test_a_signal_at_any_line_of_the_start_ends_the_program_without_a_word(tmp_path, number):
    (tmp_path / "m").write_bytes(b"old")
    text = Path(find_spec("vwlite").origin).with_name("__main__.py").read_text()
    found = [i for i, line in enumerate(text.splitlines(), 1) if line.strip() == "signal(SIGINT, SIG_DFL)"]
    first = found[0] if found else 0
    for line in LINES_OF_START[:: 4 if number == signal.SIGPIPE or not ALL else 1]:
        command = [sys.executable, "-P", "-c", AT_LINE.replace("FIRST", str(first)), str(line), str(int(number))]
        done = subprocess.run(
            [*command, "train", tmp_path / "m.vw", "-m", tmp_path / "m"], capture_output=True, timeout=PATIENT
        )
        if number == signal.SIGPIPE:  # which Python ignores: a pipe without a reader is an error of writing
            assert (done.returncode, done.stderr.count(b"\n")) == (66, 1), line
        else:
            assert done.returncode in (-number, 128 + number), (line, done)
            assert (done.stdout, done.stderr) == (b"", b""), line
        assert (os.listdir(tmp_path), (tmp_path / "m").read_bytes()) == (["m"], b"old")


@pytest.mark.drawn
def test_signals_at_any_time_from_the_start_of_the_process(tmp_path):
    """Python itself may still be starting; what is ours is in no trace back."""
    rng = random.Random(25)
    (tmp_path / "d").write_bytes(LINES)
    for number in rng.choices(SIGNALS, [4, 1, 1], k=drawn(36)):
        process = start("train", *GD, tmp_path / "d", "-m", tmp_path / "m", "--quiet")
        time.sleep(rng.uniform(0, 0.15))
        process.send_signal(number)
        code, words = ended(process)
        process.communicate()
        assert b"__main__.py" not in words and b"vwlite/runs" not in words, words
        assert code in (0, -number, 128 + number) or (number == signal.SIGINT and b"<frozen " in words), (code, words)
        assert leftovers(tmp_path, ["d", "m"]) == []
