"""DATA that can be read once, made to be read twice."""

import os
import select
import stat
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from vwlite.errors import WriteError
from vwlite.input.sources import status_of, unreadable_error

PIECE = 1 << 20  # bytes that are copied at a time
POLL = 0.1  # seconds


def readable_twice(
    files: Sequence[str], stack: ExitStack, stop: Callable[[], bool]
) -> tuple[tuple[str, ...], Callable[[], None]]:
    """Copy standard input and pipes into temporary files, which disappear with the process. Returns the names of all
    files, and what must be called before they are read again."""
    names, begin = list[str](), 0
    for name in files or ("-",):
        is_file = stat.S_ISREG(status_of(name).st_mode)
        if name == "-":
            if not is_file:
                _replace_standard_input(_copy(0, stack, stop), stack)
            begin = os.lseek(0, 0, os.SEEK_CUR)
        elif not is_file:
            name = f"/dev/fd/{_copy(_opened(name, stack), stack, stop)}"
        names.append(name)

    def again() -> None:
        if "-" in names:
            os.lseek(0, begin, os.SEEK_SET)

    return tuple(names), again


def _opened(name: str, stack: ExitStack) -> int:
    try:
        fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as e:
        raise unreadable_error(name, e) from e
    stack.callback(os.close, fd)
    return fd


def _copy(pipe: int, stack: ExitStack, stop: Callable[[], bool]) -> int:
    """A temporary file with all that comes from a pipe."""
    try:
        copy = stack.enter_context(tempfile.TemporaryFile(prefix="vwlite-", buffering=0))
        while not stop():
            if not select.select([pipe], [], [], POLL)[0]:
                continue
            if not (data := os.read(pipe, PIECE)):
                break
            copy.write(data)
        copy.seek(0)
        return copy.fileno()
    except OSError as e:
        folder = tempfile.gettempdir()
        raise WriteError(f"the input cannot be copied to {folder}, where it is read twice: {e.strerror}; set TMPDIR to "
                         "a folder with more space") from e


def _replace_standard_input(fd: int, stack: ExitStack) -> None:
    before = os.dup(0)
    os.dup2(fd, 0)
    stack.callback(os.close, before)
    stack.callback(os.dup2, before, 0)
