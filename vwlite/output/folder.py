"""A new folder: complete or absent."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from vwlite.errors import CannotCreateError


@contextmanager
def new_folder(name: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """The path of a folder that is to be filled, and what then gives it its name; else it is removed. CannotCreateError
    if there is a file or a folder with files of this name."""
    target = os.path.realpath(name)
    if os.path.lexists(target) and not (os.path.isdir(target) and not os.listdir(target)):
        raise CannotCreateError(f"{name}: cannot be written: it is there already: name a new folder, or an empty one")
    try:
        around = tempfile.mkdtemp(".tmp", f".{os.path.basename(target)[:100]}.", os.path.dirname(target))
    except OSError as e:
        raise CannotCreateError(f"{name}: cannot be written: {e.strerror}") from e
    filled = os.path.join(around, "new")

    def commit() -> None:
        try:
            os.rename(filled, target)
        except OSError as e:
            raise CannotCreateError(f"{name}: cannot be written: {e.strerror}") from e

    try:
        yield filled, commit
    finally:
        shutil.rmtree(around, ignore_errors=True)
