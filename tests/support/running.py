"""Running the program in tests: in this process where that is enough, else in one of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.capture import FDCaptureBinary, MultiCapture

from vwlite.cli import run

PROGRAM = [sys.executable, "-m", "vwlite"]
GD = ("--algorithm", "gd")  # for tests of what does not depend on the default algorithm
PATIENT = 30  # seconds after which something that should happen will not happen any more


def with_gd(options: Sequence[str]) -> list[str]:
    """Options of `vwlite train`, with gd where they name no algorithm."""
    return [*options] if "--algorithm" in options or "--softmax" in options else [*GD, *options]


@dataclass
class Result:
    """What a run of the program gave."""

    code: int
    out: str
    err: str


class Shell:
    """Runs commands in this process, with what they print captured."""

    def __init__(self, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
        self._captured = capfdbinary

    def __call__(self, *arguments: object, code: int | None = 0) -> Result:
        """Run `vwlite ARGUMENTS`; its exit code must be `code`, unless that is None."""
        self._captured.readouterr()
        found = run([str(a) for a in arguments])
        sys.stdout.flush()
        sys.stderr.flush()
        out, err = self._captured.readouterr()
        result = Result(found, out.decode(), err.decode())
        assert code is None or found == code, result
        return result


def run_here(*arguments: object, code: int | None = 0) -> Result:
    """The same without the fixture of a case, for what several cases share."""
    captured = MultiCapture(in_=None, out=FDCaptureBinary(1), err=FDCaptureBinary(2))
    captured.start_capturing()
    try:
        return Shell(captured)(*arguments, code=code)
    finally:
        captured.stop_capturing()


def start(*arguments: object, **options: object) -> "subprocess.Popen[bytes]":
    """Start `vwlite ARGUMENTS` in a process of its own, with pipes unless the options say otherwise."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([*PROGRAM, *(str(a) for a in arguments)], **pipes)  # type: ignore[call-overload]


def finish(process: "subprocess.Popen[bytes]", data: bytes | None = None) -> Result:
    out, err = process.communicate(data, timeout=PATIENT)
    return Result(process.returncode, (out or b"").decode(), (err or b"").decode())


def shell(script: str, timeout: float = PATIENT, **environment: str) -> Result:
    """Run a script of bash, in which `vwlite` is the program."""
    prelude = f'set -o pipefail; vwlite() {{ "{sys.executable}" -m vwlite "$@"; }}\n'
    done = subprocess.run(
        ["bash", "-c", prelude + script], capture_output=True, timeout=timeout, env={**os.environ, **environment}
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def start_child(work: Callable[[], int]) -> int:
    """Call `work` in a forked process; its id."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            code = work()
        finally:
            os._exit(code)
    return child


def wait_child(child: int) -> int:
    """Its exit code, or minus the signal that ended it; 99 if `work` raised."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_child(work: Callable[[], int]) -> int:
    return wait_child(start_child(work))


@contextmanager
def standard_input(file: Path) -> Iterator[None]:
    """A file as the standard input of this process."""
    kept, opened = os.dup(0), os.open(file, os.O_RDONLY)
    os.dup2(opened, 0)
    os.close(opened)
    try:
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)


def leftovers(folder: Path, expected: Sequence[str]) -> list[str]:
    """Unexpected files in a folder, such as temporary ones and locks."""
    return sorted(set(os.listdir(folder)) - set(expected))
