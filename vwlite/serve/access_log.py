"""The log of requests and answers, one JSON object on a line."""

import errno
import fcntl
import json
import os
import select
import stat
from tempfile import TemporaryFile
from threading import Lock
from typing import Any

from vwlite.errors import CannotCreateError
from vwlite.output.stdio import say

LATE = 1.0  # seconds of waiting for the reader of a pipe


class AccessLog:
    """A file to which several threads and processes append. It is opened for each line, so it may be moved away.
    path: None: no log; -: standard output, where threads and processes take turns, because a pipe takes a long line in
    pieces."""

    def __init__(self, path: str | None) -> None:
        self.path, self._failed = path, False
        self._cut = False  # the end of a line is missing
        self._thread, self._process = Lock(), _lock_file() if path == "-" else None
        if path not in (None, "-"):
            try:
                if not _is_pipe(path):  # a pipe may get its reader later
                    open(path, "ab").close()
            except OSError as e:
                raise CannotCreateError(f"{path}: cannot be written: {e.strerror}") from e

    def add(self, row: dict[str, Any]) -> None:
        if self.path is None:
            return
        try:
            self._append(self.path, json.dumps(row).encode() + b"\n")
            self._failed = False
        except OSError as e:
            if not self._failed:
                why = "no process reads this pipe" if e.errno in (errno.ENXIO, errno.EAGAIN) else e.strerror
                place = "standard output" if self.path == "-" else self.path
                say(f"warning: {place}: {why}; requests are not logged until it can be written again")
            self._failed = True

    def _append(self, path: str, line: bytes) -> None:
        """Write a line in one call, so that lines of several processes do not mix. If the last line was cut, end it
        first."""
        if self._process is not None:
            with self._thread:
                fcntl.lockf(self._process, fcntl.LOCK_EX)
                try:
                    self._write(1, line, select.PIPE_BUF)
                finally:
                    fcntl.lockf(self._process, fcntl.LOCK_UN)
            return
        fd = _opened(path)
        try:
            self._write(fd, line)
        finally:
            os.close(fd)

    def _write(self, fd: int, line: bytes, piece: int = 0) -> None:
        """piece: the bytes that a pipe takes at once when it is ready; 0: a write never waits."""
        rest = memoryview(b"\n" * self._is_cut(fd) + line)
        waiting = select.poll()
        waiting.register(fd, select.POLLOUT)
        while rest:
            self._cut = len(rest) < len(line)
            try:
                if piece and not waiting.poll(0):  # it would wait in the write
                    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
                rest = rest[os.write(fd, rest[: piece or None]) :]
            except BlockingIOError:
                if not waiting.poll(0 if self._failed else LATE * 1000):
                    raise
        self._cut = False

    def _is_cut(self, fd: int) -> bool:
        """Whether the last line has no end: the disk was full, or a process was killed."""
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            return self._cut
        try:
            return info.st_size > 0 and os.pread(fd, 1, info.st_size - 1) != b"\n"
        except OSError:  # this process must not read it
            return self._cut


def _lock_file() -> int:
    """A file without a name, to be locked."""
    if hasattr(os, "memfd_create"):  # a container may have no folder that can be written
        return os.memfd_create("log")
    with TemporaryFile() as file:
        return os.dup(file.fileno())


def _is_pipe(path: str) -> bool:
    return os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode)


def _opened(path: str) -> int:
    how = os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK  # OSError for a pipe without a reader
    if not _is_pipe(path):
        try:
            return os.open(path, os.O_RDWR | how, 0o666)
        except PermissionError:
            pass  # it is enough to write it
    return os.open(path, os.O_WRONLY | how, 0o666)


def text_of(data: bytes) -> str:
    """Bytes that are not UTF-8 are U+DC80 to U+DCFF, as in Python."""
    return data.decode("utf-8", "surrogateescape")
