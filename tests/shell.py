"""The program as a person at the shell has it: in a process of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAM = [sys.executable, "-m", "vwlite"]


def vwlite(*arguments: object, cwd: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run `vwlite ARGUMENTS` in a folder; standard input is empty unless it is given."""
    if "input" not in more and "stdin" not in more:
        more["stdin"] = subprocess.DEVNULL
    if "stdout" not in more:
        more["stdout"] = subprocess.PIPE
    if "stderr" not in more:
        more["stderr"] = subprocess.PIPE
    command = [*PROGRAM, *(str(a) for a in arguments)]
    return subprocess.run(command, cwd=cwd, text=True, errors="surrogateescape", timeout=60, **more)


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
