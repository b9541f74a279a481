"""Models in tests."""

from pathlib import Path

from vwlite.model import read_model, write_model
from vwlite.model.read import looks_like_vw


class _Memory:
    """Where a model is written to."""

    name = "memory"

    def __init__(self) -> None:
        self.content = bytearray()

    def write(self, data: bytes) -> None:
        self.content += data


def content(path: Path) -> bytes:
    """The bytes of a model file, but for what it says that it began from. (Vowpal Wabbit's does not say it.)"""
    if looks_like_vw(path.read_bytes()[:16]):
        return path.read_bytes()
    model, memory = read_model(str(path)), _Memory()
    model.base = model.resumed = ""
    write_model(memory, model)  # type: ignore[arg-type]
    return bytes(memory.content)
