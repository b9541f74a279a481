"""Reading a model file of vwlite or Vowpal Wabbit."""

import io
import mmap
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import IO

from vwlite.digest import blake2b
from vwlite.errors import DataError, NoInputError
from vwlite.input import looks_like_vw
from vwlite.input.reader import check_file
from vwlite.model.file import Model, inconsistency, read_own
from vwlite.model.header import SMEARING
from vwlite.model.stated import check_weights

FOREIGN = "vwlite.vw.models.convert:from_vw"  # what reads models that are not our own


def read_model(path: str, *, uncalibrated: bool = False, whole: bool = False) -> Model:
    """Read a model file, all of it checked; of the rule's state that its weights are those of the model, as the rule
    checks the rest when it is loaded: `vwlite/model/learners.py`.

    uncalibrated: refuse a calibrated model, as its map is for the weights that it has. whole: the file may be cut short
    while it is read.
    NoInputError if it cannot be opened; DataError if it is not a model, not whole, or of a newer program.
    """
    with opened(path, whole=whole) as (file, data):
        model = _from(path, file, data, in_place=False)
        return _checked(path, model, uncalibrated)


def map_model(path: str, *, uncalibrated: bool = False) -> Model:
    """`read_model`, but the arrays stay in the file, and lie at any address: for those that go through many models,
    each once. The file must not change as long as the model is used (a new one may take its place)."""
    with opened(path, keeps=True) as (file, data):
        return _checked(path, _from(path, file, data, in_place=True), uncalibrated)


def _from(path: str, file: IO[bytes], data: bytes | mmap.mmap, *, in_place: bool) -> Model:
    if not looks_like_vw(data[:16]):
        return read_own(path, file, data, in_place=in_place)
    content = bytes(data)
    module, _, name = FOREIGN.partition(":")
    model: Model = getattr(import_module(module), name)(path, content)  # now, for the time of a start: few are such
    model.digest = blake2b(content, digest_size=32).hexdigest()
    return model


def _checked(path: str, model: Model, uncalibrated: bool) -> Model:
    if uncalibrated and model.calibration.get("method", SMEARING) != SMEARING:
        raise DataError(f"{path}: was made by vwlite calibrate, for its weights as they are: use the model before that")
    wrong = inconsistency(model)
    if wrong:
        raise DataError(f"{path}: not a valid model: {wrong}")
    check_weights(path, model)
    return model


@contextmanager
def opened(path: str, *, keeps: bool = False, whole: bool = False) -> Iterator[tuple[IO[bytes], bytes | mmap.mmap]]:
    """A file and all of its bytes; the content of a pipe is held in memory. keeps: the bytes are needed for
    longer. whole: they are read, not mapped."""
    check_file(path)
    try:
        with open(path, "rb") as f:
            info = os.fstat(f.fileno())
            if whole or not stat.S_ISREG(info.st_mode):
                data = f.read()
                yield io.BytesIO(data), data
            elif info.st_size == 0:  # cannot be mapped
                yield f, b""
            elif keeps:
                yield f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
            else:
                with mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                    yield f, mapped
    except OSError as e:
        from vwlite.input.sources import unreadable

        raise NoInputError(unreadable(path, e, data=False)) from e
