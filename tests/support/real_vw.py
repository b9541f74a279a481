"""The real Vowpal Wabbit beside ours: where it is, and a process that runs it.

Run as a program by the interpreter that has it, this file answers each line on standard input, a JSON list of a
folder and arguments, with the exit code of that run: 0, or 1 if it raised. What the run prints goes into the files
`out` and `err` there.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENT = 60  # seconds


def interpreter() -> str | None:
    """The interpreter that has the package `vowpalwabbit`: that of the tests or of the benchmark; None: neither."""
    for python in (sys.executable, str(ROOT / ".bench" / "venv" / "bin" / "python")):
        if not os.path.exists(python):
            continue
        found = subprocess.run([python, "-c", "import vowpalwabbit"], capture_output=True, timeout=PATIENT)
        if found.returncode == 0:
            return python
    return None


class RealVw:
    """Runs Vowpal Wabbit, each time in a fresh process, forked from one in which it is loaded already."""

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(
            [python, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def __call__(self, folder: Path, arguments: list[str]) -> int:
        """Run it in a folder; its exit code, or minus the signal that ended it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(folder), arguments]) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate(timeout=PATIENT)


def serve() -> None:
    import vowpalwabbit

    for line in sys.stdin:
        folder, arguments = json.loads(line)
        child = os.fork()
        if child == 0:
            os.chdir(folder)
            for number, name in ((1, "out"), (2, "err")):
                os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            code = 1
            try:
                vowpalwabbit.Workspace(arg_list=arguments).finish()
                code = 0
            except Exception as e:
                os.write(2, str(e).encode())
            finally:
                os._exit(code)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    serve()
