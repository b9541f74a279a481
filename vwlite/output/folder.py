"""A new folder: complete or absent."""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from vwlite.errors import CannotCreateError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def new_folder(name: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """The path of a folder that is to be filled, and what then gives it its name; else it is removed, as are those that
    killed jobs have left. CannotCreateError if there is a file or a folder with files of this name."""
    target = os.path.realpath(name)
    if os.path.lexists(target) and not (os.path.isdir(target) and not os.listdir(target)):
        raise CannotCreateError(f"{name}: cannot be written: it is there already: name a new folder, or an empty one")
    place, begin = os.path.dirname(target), f".{os.path.basename(target)[:100]}."
    with ExitStack() as stack:
        try:
            _remove_left(place, begin)
            around = tempfile.mkdtemp(".tmp", begin, place)
            stack.callback(shutil.rmtree, around, ignore_errors=True)
            _lock(around, stack)
            os.mkdir(os.path.join(around, "locked"))
        except OSError as e:
            raise CannotCreateError(f"{name}: cannot be written: {e.strerror}") from e
        filled = os.path.join(around, "new")

        def commit() -> None:
            try:
                os.rename(filled, target)
            except OSError as e:
                raise CannotCreateError(f"{name}: cannot be written: {e.strerror}") from e

        yield filled, commit


def _lock(folder: str, stack: ExitStack) -> bool:
    """Lock a folder until its job ends; False if another job has it, or the file system has no locks."""
    with suppress(OSError):
        fd = os.open(folder, _FOLDER)
        stack.callback(os.close, fd)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _remove_left(place: str, begin: str) -> None:
    """Remove the folders of jobs that have ended: they are not locked any more. An empty one may not be locked yet."""
    for name in os.listdir(place):
        if re.fullmatch(re.escape(begin) + r"[a-z0-9_]{8}\.tmp", name):
            with ExitStack() as stack:
                if _lock(path := os.path.join(place, name), stack) and os.listdir(path):
                    shutil.rmtree(path, ignore_errors=True)
