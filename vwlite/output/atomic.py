"""Atomic output files: complete or absent.

A file is written in the same folder under a temporary name, flushed to the disk and renamed. A lock
file excludes a second job. If the job is killed at any instant, the file is the old or the new one.

For NAME they are .NAME.RANDOM.tmp and .NAME.lock. The folder may be shared with untrusted users, so an existing file
is never written: a temporary file is always a new one, and only its owner may read it before it
has the name and the mode of the old file. Locks are empty files; any user may lock a file that he can read.
"""

import contextlib
import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from vwlite.errors import BusyError, CannotCreateError, ClosedPipe, UsageError, WriteError

if TYPE_CHECKING:
    from pathlib import Path

Buffer = bytes | bytearray | memoryview

# Names of files that this process has open. They are used as they are: opened again by name they would
# be written from their beginning, and a pipe could not be found.
_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}

# What a file system says that cannot flush folders.
_NO_FOLDER_SYNC = (errno.EINVAL, errno.EACCES, errno.ENOTSUP, errno.ENOSYS)

_RANDOM = 8  # bytes in the name of a temporary file, as hexadecimal digits
_DIGEST = 8  # bytes of a digest that replaces the end of a name that is too long


class AtomicFile:
    """A file to be written: locked and its folder tried from the beginning, there from `commit` on.

    is_private: only its owner may read it, whatever the mode of the old file is.

    After `commit`, `new_version` starts the next version. Leaving the `with` block removes what was not
    committed. What is not a regular file (a pipe, /dev/null, /dev/stdout) is written directly, and once.

    CannotCreateError: no such folder, no permission. BusyError: another job writes it. WriteError: the
    disk is full or fails. ClosedPipe: the reader of a pipe has gone.
    """

    def __init__(self, path: str | os.PathLike[str], *, is_private: bool = False) -> None:
        from pathlib import Path

        self.name, self._is_private = os.fspath(path), is_private
        self._beside = _Beside(Path(os.path.realpath(self.name)))
        self._target = self._beside.target
        self._fd: int | None = None
        self._lock: int | None = None
        self._temporary: Path | None = None
        self._written = False  # something, and directly
        self._flushed = False
        self._left = False  # a temporary file that could not be removed: the lock stays, so that the next job looks
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
            self._check_replaceable()
            self._lock = self._acquire()
            _open_files.add(self)
        try:
            self.new_version()
        except BaseException:
            self.close()
            raise

    def _check_replaceable(self) -> None:
        try:
            info, folder = self._target.stat(), self._target.parent.stat()
        except OSError:  # it is not there, or opening it will tell what is wrong
            return
        if not os.access(self._target, os.W_OK):
            raise CannotCreateError(f"{self.name}: cannot be written: it is read-only")
        if folder.st_mode & stat.S_ISVTX and os.geteuid() not in (0, info.st_uid, folder.st_uid):
            raise CannotCreateError(f"{self.name}: cannot be written: in this folder only its owner may replace it")

    def new_version(self) -> None:
        """Start a new, empty version of the file; an unfinished one is discarded."""
        if self._direct and self._written and not os.path.samefile(self.name, os.devnull):
            raise CannotCreateError(f"{self.name}: cannot be written twice, as it is not a file: name a regular file")
        if self._direct and self._fd is not None:
            return  # closing a pipe would be the end of the file to its reader
        self._discard()
        self._flushed = False
        try:
            if self._open_already is not None:
                self._fd = os.dup(self._open_already)
            elif self._direct:
                self._fd = os.open(self.name, os.O_WRONLY | os.O_CLOEXEC)
            else:
                self._fd = self._create()
        except OSError as e:
            raise self._cannot_create(e) from e

    def _create(self) -> int:
        """A new file with an unpredictable name."""
        while True:
            self._temporary = self._beside.temporary()
            try:
                return os.open(self._temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            except FileExistsError:
                self._temporary = None
            except OSError:
                self._temporary = None
                raise

    def fileno(self) -> int:
        if self._fd is None:
            raise ValueError(f"{self.name}: not started")
        return self._fd

    def write(self, data: Buffer) -> None:
        """Append bytes, all of them."""
        fd = self.fileno()
        view = memoryview(data).cast("B")
        self._written, self._flushed = self._direct, False
        try:
            while view.nbytes:
                view = view[os.write(fd, view[: 1 << 30]) :]
        except BrokenPipeError as e:
            raise ClosedPipe(f"{self.name}: its reader has gone") from e
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
        self.flush()
        fd = self.fileno()
        try:
            self._fd = None
            os.close(fd)
            if self._temporary is not None:
                os.rename(self._temporary, self._target)
                self._temporary = None
                self._sync_folder()
        except OSError as e:
            raise self._write_error(e) from e

    def flush(self) -> None:
        """Write what is there to the disk, with the mode of the old file: `commit` then only gives it its name."""
        if self._direct or self._flushed:
            return
        try:
            with contextlib.suppress(PermissionError):  # a file system without modes
                os.fchmod(self.fileno(), self._mode())
            os.fsync(self.fileno())
        except OSError as e:
            raise self._write_error(e) from e
        self._flushed = True

    def remove_old(self) -> None:
        """Remove the old file."""
        if self._direct:
            return
        try:
            self._target.unlink(missing_ok=True)
            self._sync_folder()
        except OSError as e:
            raise self._write_error(e) from e

    def _mode(self) -> int:
        """The permissions of the old file, or those of any new one."""
        if self._is_private:
            return 0o600
        try:
            return self._target.stat().st_mode & 0o777
        except FileNotFoundError:
            umask = os.umask(0o077)
            os.umask(umask)
            return 0o666 & ~umask

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
        self._discard()
        if self._lock is not None:
            if not self._left:
                self._remove_lock(self._lock)
            _close(self._lock)
            self._lock = None
            _open_files.discard(self)

    def abandon(self) -> None:
        """Remove the temporary file and the lock, from any thread, before the process ends."""
        if (temporary := self._temporary) is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if (lock := self._lock) is not None:
            self._remove_lock(lock)

    def _discard(self) -> None:
        """Discard the unfinished version."""
        if self._fd is not None:
            _close(self._fd)
            self._fd = None
        if self._temporary is not None:
            try:
                os.unlink(self._temporary)
            except OSError as e:
                self._left = self._left or e.errno != errno.ENOENT
            self._temporary = None

    def __enter__(self) -> "AtomicFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- the lock ----------------------------------------------------------------------------

    def _acquire(self) -> int:
        """The lock, as a file descriptor. The holder of the lock may unlink its file, so it counts only while
        the path still leads to the file that was locked."""
        while True:
            lock, is_new = self._open_lock()
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._is_in_place(lock):
                    if not is_new:  # its job has not come to its end
                        self._beside.tidy()
                    return lock
                _close(lock)
            except BlockingIOError:
                _close(lock)
                raise BusyError(
                    f"{self.name}: another job is writing it; wait for it, or write to another file "
                    f"(its lock is {self._beside.lock})"
                ) from None
            except OSError as e:  # a file system without locks
                if is_new:
                    self._remove_lock(lock)
                _close(lock)
                raise CannotCreateError(f"{self.name}: cannot be locked: {e.strerror}") from e

    def _open_lock(self) -> tuple[int, bool]:
        """The file of the lock, and whether it was made for this."""
        path = self._beside.lock
        flags = os.O_CLOEXEC | os.O_NOFOLLOW
        while True:
            try:
                lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | flags, 0o644)
                with contextlib.suppress(OSError):
                    os.fchmod(lock, 0o644)  # for any umask: if this job is killed, others can continue
                return lock, True
            except FileExistsError:
                pass
            except OSError as e:
                raise self._cannot_create(e) from e
            try:
                if not stat.S_ISREG(os.lstat(path).st_mode):
                    os.unlink(path)
                    continue
                return os.open(path, (os.O_RDWR if os.access(path, os.W_OK) else os.O_RDONLY) | flags), False
            except FileNotFoundError:
                continue  # its job has ended
            except OSError as e:
                raise CannotCreateError(f"{self.name}: cannot be locked: {path} is in the way: remove it") from e

    def _is_in_place(self, lock: int) -> bool:
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(lock), os.lstat(self._beside.lock))
        return False

    def _remove_lock(self, lock: int) -> None:
        """Remove the file of the lock, if it is one: nothing is in it."""
        with contextlib.suppress(OSError):
            if self._is_in_place(lock) and os.fstat(lock).st_size == 0:
                os.unlink(self._beside.lock)

    def _cannot_create(self, e: OSError) -> CannotCreateError:
        if e.errno == errno.ENOENT and "://" in self.name:
            return CannotCreateError(f"{self.name}: cannot be created: it is a URL; write a file, and copy it there")
        if e.errno == errno.ENOENT:
            return CannotCreateError(f"{self.name}: cannot be created: there is no folder {self._target.parent}")
        return CannotCreateError(f"{self.name}: cannot be created: {e.strerror}")

    def _write_error(self, e: OSError) -> WriteError:
        return WriteError(f"{self.name}: cannot be written: {e.strerror}")


_open_files: set[AtomicFile] = set()  # those that hold a lock


def abandon_all() -> None:
    """Remove the temporary files and locks of all open outputs, before the process ends."""
    for file in list(_open_files):
        file.abandon()


def _close(fd: int) -> None:
    """Close what nothing depends on any more."""
    with contextlib.suppress(OSError):
        os.close(fd)


class _Beside:
    """The names that lie beside a file while it is written."""

    def __init__(self, target: "Path") -> None:
        self.target = target
        self._stem = _shortened(target)
        self.lock = target.with_name(f".{self._stem}.lock")

    def temporary(self) -> "Path":
        return self.target.with_name(f".{self._stem}.{os.urandom(_RANDOM).hex()}.tmp")

    def has(self, path: "Path") -> bool:
        """Whether a file may lie there: the lock, or a temporary file of this job or of one that was killed."""
        return path == self.lock or (path.parent == self.target.parent and self._is_temporary(path.name))

    def tidy(self) -> None:
        """Remove the temporary files of jobs that were killed. With the lock held, no other job is running."""
        with contextlib.suppress(OSError):
            for name in os.listdir(self.target.parent):
                if self._is_temporary(name):
                    with contextlib.suppress(OSError):
                        os.unlink(self.target.with_name(name))

    def _is_temporary(self, name: str) -> bool:
        return re.fullmatch(rf"\.{re.escape(self._stem)}\.[0-9a-f]{{{2 * _RANDOM}}}\.tmp", name) is not None


def _shortened(target: "Path") -> str:
    """The name of a file, with a digest for its end if a folder takes nothing longer."""
    try:
        longest = os.pathconf(target.parent, "PC_NAME_MAX")
    except (OSError, ValueError):
        longest = 255
    space = longest - len(".." + ".tmp") - 2 * _RANDOM
    name = os.fsencode(target.name)
    if len(name) <= space:
        return target.name
    from vwlite.digest import blake2b

    digest = blake2b(name, digest_size=_DIGEST).hexdigest()
    return name[: max(0, space - 1 - len(digest))].decode("utf-8", "ignore") + "~" + digest


def check_apart(
    outputs: Mapping[str, str | None], inputs: Iterable[tuple[str, str]], continued: tuple[str, str | None] = ("", None)
) -> None:
    """See that outputs, by option, overwrite neither each other nor inputs, which are a path and what it is.

    - is standard input or output. continued: an option that may name this file, though it is an input.
    UsageError for two that meet, by whatever names.
    """
    if all(path is None for path in outputs.values()):
        return
    from pathlib import Path

    read = {_identity(path, 0): what for path, what in inputs}
    taken: dict[Any, str] = {}
    besides: dict[str, _Beside] = {}
    for option, path in outputs.items():
        if path is None or (path != "-" and os.path.exists(path) and not os.path.isfile(path)):
            continue
        identity = _identity(path, 1)
        if identity in taken:
            raise UsageError(f"{taken[identity]} and {option} are both {path}")
        replaces = option == continued[0] and continued[1] is not None and identity == _identity(continued[1], 0)
        if identity in read and not replaces:
            raise UsageError(f"{option} {path} is {read[identity]}, which it would overwrite")
        taken[identity] = option
        if path != "-" and _open_already(path) is None:
            besides[f"{option} {path}"] = _Beside(Path(os.path.realpath(path)))
    used = [(f"{option} ", path) for option, path in outputs.items() if path] + [("", path) for path, _ in inputs]
    for option, path in used:
        folder, name = os.path.split(path)
        for place in (Path(os.path.realpath(path)), Path(os.path.realpath(folder), name)):
            for other, beside in besides.items():
                if beside.has(place):
                    raise UsageError(
                        f"{option}{path} has the name of a lock or a temporary file of {other}: choose another"
                    )


def _identity(path: str, standard: int) -> Any:
    """The same for two names of one file. standard: the file descriptor that - is."""
    try:
        info = os.fstat(standard) if path == "-" else os.stat(path)
    except OSError:
        return path if path == "-" else os.path.realpath(path)
    if path == "-" and not stat.S_ISREG(info.st_mode):
        return path, standard
    return info.st_dev, info.st_ino


def commit_together(first: AtomicFile, *others: AtomicFile) -> None:
    """Commit files that belong together. If the job is killed meanwhile, some are missing; no old one is beside a new
    one."""
    for file in (first, *others):
        file.flush()
    for file in others:
        file.remove_old()
    for file in (first, *others):
        file.commit()


class Draft:
    """A version of a file that may be needed later. It has no name, and disappears with the process.

    WriteError: the disk is full or fails.
    """

    def __init__(self, name: str, folder: "Path | None") -> None:
        self.name = name
        with self._told():
            import tempfile

            self._file = tempfile.TemporaryFile(prefix="vwlite-", dir=folder, buffering=0)

    def new_version(self) -> None:
        """Throw away what was written."""
        with self._told():
            os.lseek(self._file.fileno(), 0, os.SEEK_SET)
            os.ftruncate(self._file.fileno(), 0)

    def write(self, data: Buffer) -> None:
        """Append bytes, all of them."""
        view = memoryview(data).cast("B")
        with self._told():
            while view.nbytes:
                view = view[os.write(self._file.fileno(), view[: 1 << 30]) :]

    def copy_to(self, file: AtomicFile) -> None:
        """Append all of it to a file."""
        with self._told():
            os.lseek(self._file.fileno(), 0, os.SEEK_SET)
        while data := self._read():
            file.write(data)

    def _read(self) -> bytes:
        with self._told():
            return os.read(self._file.fileno(), 1 << 20)

    def __enter__(self) -> "Draft":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Tell errors of the system in words."""
        try:
            yield
        except OSError as e:
            raise WriteError(f"{self.name}: cannot be written: {e.strerror}") from e


def _open_already(name: str) -> int | None:
    """The file descriptor of a name such as /dev/stdout or /dev/fd/3."""
    if name in _STANDARD:
        return _STANDARD[name]
    folder, _, number = name.rpartition("/")
    is_one = folder in ("/dev/fd", "/proc/self/fd") and number.isascii() and number.isdigit() and len(number) <= 6
    return int(number) if is_one else None
