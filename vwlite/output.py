"""Output files that are there whole or not at all.

A file is written beside its place under a temporary name, flushed to the disk and renamed. A lock
beside it keeps a second job away. Killed at any instant, there is the old file or the new one.
"""

import contextlib
import errno
import fcntl
import os
import re
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from vwlite.errors import BusyError, CannotCreateError, ClosedPipe, WriteError

Buffer = bytes | bytearray | memoryview

# Names of files that this process has open. They are used as they are: opened again by name they would
# be written from their beginning, and a pipe could not be found.
_OPEN_ALREADY = re.compile(r"/dev/(?:(stdout)|(stderr)|fd/(\d{1,6}))|/proc/self/fd/(\d{1,6})")

# What a file system says that cannot flush folders.
_NO_FOLDER_SYNC = (errno.EINVAL, errno.EACCES, errno.ENOTSUP, errno.ENOSYS)


class AtomicFile:
    """A file to be written: locked and its folder tried from the beginning, there from `commit` on.

    After `commit`, `begin` starts the next version. Leaving the `with` block removes what was not
    committed. What is not a regular file (a pipe, /dev/null, /dev/stdout) is written directly, and once.

    CannotCreateError: no such folder, no permission. BusyError: another job writes it. WriteError: the
    disk is full or fails. ClosedPipe: the reader of a pipe has gone.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        target = Path(os.path.realpath(self.name))
        self._fd: int | None = None
        self._lock: int | None = None
        self._written = False  # something, and directly
        self._target = target
        self._temporary = target.with_name(f".{target.name}.tmp")
        self._lock_path = target.with_name(f".{target.name}.lock")
        try:
            mode = os.stat(self.name).st_mode
        except FileNotFoundError:
            mode = stat.S_IFREG
        except OSError as e:
            raise self._cannot_create(e) from e
        self._open_already = _open_already(self.name)
        self._direct = not stat.S_ISREG(mode) or self._open_already is not None
        if stat.S_ISDIR(mode):
            raise CannotCreateError(f"{self.name}: cannot be written: it is a folder")
        if not self._direct:
            if target.exists() and not os.access(target, os.W_OK):
                raise CannotCreateError(f"{self.name}: cannot be written: it is read-only")
            self._lock = self._acquire()
        try:
            self.begin()
        except BaseException:
            self.close()
            raise

    def begin(self) -> None:
        """Start a new version of the file, empty; one that was begun is thrown away."""
        if self._direct and self._written and not os.path.samefile(self.name, os.devnull):
            raise CannotCreateError(f"{self.name}: cannot be written twice, as it is not a file: name a regular file")
        if self._direct and self._fd is not None:
            return  # closing a pipe would be the end of the file to its reader
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
        try:
            if self._open_already is not None:
                self._fd = os.dup(self._open_already)
            elif self._direct:
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
        self._written = self._direct
        try:
            while view.nbytes:
                view = view[os.write(fd, view[: 1 << 30]) :]
        except BrokenPipeError as e:
            raise ClosedPipe(f"{self.name}: nobody reads it any more") from e
        except OSError as e:
            raise self._write_error(e) from e

    def writelines(self, pieces: Iterable[Buffer]) -> None:
        for piece in pieces:
            self.write(piece)

    def draft(self) -> "Draft":
        """A draft of this file, on the same disk where that is possible."""
        return Draft(self.name, None if self._direct else self._target.parent)

    def commit(self) -> None:
        """Put what was written in its place, for good."""
        fd = self.fileno()
        try:
            if not self._direct:
                os.fsync(fd)
                os.rename(self._temporary, self._target)
            os.close(fd)
            self._fd = None
            if not self._direct:
                self._sync_folder()
        except OSError as e:
            raise self._write_error(e) from e

    def _sync_folder(self) -> None:
        try:
            folder = os.open(self._target.parent, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as e:
            if e.errno not in _NO_FOLDER_SYNC:
                raise

    def close(self) -> None:
        """Give up what was not committed, and the lock."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
            if not self._direct:
                with contextlib.suppress(OSError):
                    self._temporary.unlink()
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
            except OSError as e:  # a file system without locks
                os.close(lock)
                raise CannotCreateError(f"{self.name}: cannot be locked: {e.strerror}") from e

    def _cannot_create(self, e: OSError) -> CannotCreateError:
        if e.errno == errno.ENOENT:
            return CannotCreateError(f"{self.name}: cannot be created: there is no folder {self._target.parent}")
        return CannotCreateError(f"{self.name}: cannot be created: {e.strerror}")

    def _write_error(self, e: OSError) -> WriteError:
        return WriteError(f"{self.name}: cannot be written: {e.strerror}")


class Draft:
    """A version of a file that may be wanted later. It has no name of its own, and is gone with the process.

    WriteError: the disk is full or fails.
    """

    def __init__(self, name: str, folder: Path | None) -> None:
        self.name = name
        try:
            self._file = tempfile.TemporaryFile(prefix="vwlite-", dir=folder, buffering=0)
        except OSError as e:
            raise self._error(e) from e

    def begin(self) -> None:
        """Throw away what was written."""
        self._file.seek(0)
        self._file.truncate()

    def write(self, data: Buffer) -> None:
        """Append bytes, all of them."""
        view = memoryview(data).cast("B")
        try:
            while view.nbytes:
                view = view[os.write(self._file.fileno(), view[: 1 << 30]) :]
        except OSError as e:
            raise self._error(e) from e

    def copy_to(self, file: AtomicFile) -> None:
        """Append all of it to a file."""
        self._file.seek(0)
        while data := self._file.read(1 << 20):
            file.write(data)

    def __enter__(self) -> "Draft":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _error(self, e: OSError) -> WriteError:
        return WriteError(f"{self.name}: cannot be written: {e.strerror}")


def _open_already(name: str) -> int | None:
    """The file descriptor that a name such as /dev/stdout or /dev/fd/3 stands for."""
    match = _OPEN_ALREADY.fullmatch(name)
    if match is None:
        return None
    return 1 if match[1] else 2 if match[2] else int(match[3] or match[4])
