"""Output files that are there whole or not at all.

A file is written beside its place under a temporary name, flushed to the disk and renamed. A lock
beside it keeps a second job away. Killed at any instant, there is the old file or the new one.
"""

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO

from vwlite.errors import BusyError, CannotCreateError, WriteError

Buffer = bytes | bytearray | memoryview


class AtomicFile:
    """A file to be written: locked and its folder tried from the beginning, there from `commit` on.

    After `commit`, `begin` starts the next version. Leaving the `with` block removes what was not
    committed. What is not a regular file (a pipe, /dev/null) is written directly.

    CannotCreateError: no such folder, no permission. BusyError: another job writes it. WriteError: the
    disk is full or fails.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        target = Path(os.path.realpath(self.name))
        self._fd: int | None = None
        self._lock: int | None = None
        self._target = target
        self._temporary = target.with_name(f".{target.name}.tmp")
        self._lock_path = target.with_name(f".{target.name}.lock")
        try:
            mode = os.stat(self.name).st_mode  # not of the target: /dev/fd/63 leads to no path if it is a pipe
        except FileNotFoundError:
            mode = stat.S_IFREG
        except OSError as e:
            raise self._cannot_create(e) from e
        self.direct = not stat.S_ISREG(mode)  # written as it comes: there are no versions
        if stat.S_ISDIR(mode):
            raise CannotCreateError(f"{self.name}: cannot be written: it is a folder")
        if not self.direct:
            self._lock = self._acquire()
        try:
            self.begin()
        except BaseException:
            self.close()
            raise

    def begin(self) -> None:
        """Start a new version of the file, empty; one that was begun is thrown away."""
        if self._fd is not None:
            if self.direct:  # to open a pipe again, its reader would have to do so too
                return
            os.close(self._fd)
            self._fd = None
        try:
            if self.direct:
                self._fd = os.open(self.name, os.O_WRONLY | os.O_CLOEXEC)
            else:
                self._fd = os.open(
                    self._temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666
                )
                with contextlib.suppress(FileNotFoundError):
                    os.fchmod(self._fd, stat.S_IMODE(self._target.stat().st_mode))
        except OSError as e:
            raise self._cannot_create(e) from e

    def fileno(self) -> int:
        if self._fd is None:
            raise ValueError(f"{self.name}: not begun")
        return self._fd

    def write(self, data: Buffer) -> None:
        """Append bytes, all of them."""
        fd = self.fileno()
        view = memoryview(data).cast("B")
        try:
            while view.nbytes:
                view = view[os.write(fd, view[: 1 << 30]) :]
        except BrokenPipeError:
            raise
        except OSError as e:
            raise self._write_error(e) from e

    def writelines(self, pieces: Iterable[Buffer]) -> None:
        for piece in pieces:
            self.write(piece)

    def commit(self) -> None:
        """Put what was written in its place, for good."""
        fd = self.fileno()
        if self.direct:
            return
        try:
            os.fsync(fd)
            os.rename(self._temporary, self._target)
            folder = os.open(self._target.parent, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
            os.close(fd)
            self._fd = None
        except OSError as e:
            raise self._write_error(e) from e

    def close(self) -> None:
        """Give up what was not committed, and the lock."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
            if not self.direct:
                self._temporary.unlink(missing_ok=True)
        if self._lock is not None:
            with contextlib.suppress(OSError):
                self._lock_path.unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> "AtomicFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _acquire(self) -> int:
        """The lock, as a file descriptor. Whoever holds the lock may unlink its file, so it counts only while
        the path still leads to the file that was locked."""
        while True:
            try:
                lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
            except OSError as e:
                raise self._cannot_create(e) from e
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with contextlib.suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(lock), self._lock_path.stat()):
                        return lock
                os.close(lock)
            except BlockingIOError:
                os.close(lock)
                raise BusyError(
                    f"{self.name}: another job is writing it; wait for it, or write to another file"
                ) from None

    def _cannot_create(self, e: OSError) -> CannotCreateError:
        if e.errno == errno.ENOENT:
            return CannotCreateError(f"{self.name}: cannot be created: there is no folder {self._target.parent}")
        return CannotCreateError(f"{self.name}: cannot be created: {e.strerror}")

    def _write_error(self, e: OSError) -> WriteError:
        return WriteError(f"{self.name}: cannot be written: {e.strerror}")


def write_all(stream: IO[bytes], data: Buffer, name: str) -> None:
    """Write to a stream that is not ours, such as standard output. WriteError if it fails."""
    try:
        stream.write(data)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as e:
        raise WriteError(f"{name}: cannot be written: {e.strerror}") from e
