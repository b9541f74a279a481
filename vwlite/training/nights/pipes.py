"""DATA that can be read once, made to be read twice."""

import os
import select
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from vwlite.errors import WriteError
from vwlite.input.reader import opened
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
                _replace_standard_input(_copy(name, stack, stop), stack)
            begin = os.lseek(0, 0, os.SEEK_CUR)
        elif not is_file:
            name = f"/dev/fd/{_copy(name, stack, stop)}"
        names.append(name)

    def again() -> None:
        if "-" in names:
            os.lseek(0, begin, os.SEEK_SET)

    return tuple(names), again


def _copy(name: str, stack: ExitStack, stop: Callable[[], bool]) -> int:
    """A temporary file with all that comes from a pipe. WriteError if it cannot be written, NoInputError if the pipe
    cannot be read."""
    pipe = opened(name)
    if pipe:
        stack.callback(os.close, pipe)
    with _told():
        copy = stack.enter_context(tempfile.TemporaryFile(prefix="vwlite-", buffering=0))
    while not stop():
        try:
            if not select.select([pipe], [], [], POLL)[0]:
                continue
            data = os.read(pipe, PIECE)
        except OSError as e:
            raise unreadable_error(name, e) from e
        if not data:
            break
        with _told():
            copy.write(data)
    copy.seek(0)
    return copy.fileno()


@contextmanager
def _told() -> Iterator[None]:
    """WriteError in place of an OSError."""
    try:
        yield
    except OSError as e:
        folder = tempfile.gettempdir()
        raise WriteError(f"the input cannot be copied to {folder}, as it is read twice: {e.strerror}; set TMPDIR to a "
                         "folder with more space") from e


def _replace_standard_input(fd: int, stack: ExitStack) -> None:
    before = os.dup(0)
    os.dup2(fd, 0)
    stack.callback(os.close, before)
    stack.callback(os.dup2, before, 0)
