"""Models in tests."""

from pathlib import Path

from vwlite.input import looks_like_vw
from vwlite.model import Model, read_model
from vwlite.model.file import to_bytes


def content(path: Path) -> bytes:
    """The bytes of a model file, but for what it says that it began from. (Vowpal Wabbit's does not say it.)"""
    if looks_like_vw(path.read_bytes()[:16]):
        return path.read_bytes()
    model = read_model(str(path))
    model.base = model.resumed = ""
    return to_bytes(model, "the model")


def save(path: str | Path, model: Model) -> None:
    """Write a model file with the right checksum, whatever the model says."""
    Path(path).write_bytes(to_bytes(model, str(path)))
