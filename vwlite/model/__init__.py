"""Model files: reading and writing them, and the conversion from a learner to a model and back.

The names here are public. They are loaded on first use: code that creates models from other files, such as `vwlite vw`,
starts without them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vwlite.model.file import Model, write_model
    from vwlite.model.read import read_model

__all__ = ["Model", "read_model", "write_model"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("vwlite.model.read" if name == "read_model" else "vwlite.model.file"), name)
