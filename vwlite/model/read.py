"""Reading a model file, of whichever program it is."""

import io
import mmap
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from vwlite.errors import DataError, NoInputError
from vwlite.model.file import Model, inconsistency, read_own


def read_model(path: str) -> Model:
    """Read a model file, all of it checked but for the rule's state, which the rule knows: `vwlite/model/snapshot.py`.

    NoInputError if it cannot be opened; DataError if it is not a model, not whole, or of a newer program.
    """
    with _opened(path) as (file, data):
        if looks_like_vw(data[:16]):
            from vwlite.vw.models.convert import from_vw  # here for the time of a start: few models are such

            model = from_vw(path, bytes(data))
        else:
            model = read_own(path, file, data)
    wrong = inconsistency(model)
    if wrong:
        raise DataError(f"{path}: not a valid model: {wrong}")
    return model


@contextmanager
def _opened(path: str) -> Iterator[tuple[IO[bytes], bytes | mmap.mmap]]:
    """A file and all of its bytes; what comes through a pipe is held in memory."""
    try:
        with open(path, "rb") as f:
            info = os.fstat(f.fileno())
            if not stat.S_ISREG(info.st_mode):
                data = f.read()
                yield io.BytesIO(data), data
            elif info.st_size == 0:  # cannot be mapped
                yield f, b""
            else:
                with mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                    yield f, mapped
    except OSError as e:
        raise NoInputError(f"{path}: {e.strerror}") from e


def looks_like_vw(begin: bytes) -> bool:
    """Whether a file begins as a model of Vowpal Wabbit does: with the length of its version, and that."""
    return len(begin) > 8 and begin[1:4] == b"\0\0\0" and begin[0] < 32 and begin[4:5].isdigit() and begin[5:6] == b"."
