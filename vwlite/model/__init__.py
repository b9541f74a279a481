"""Model files: reading and writing them, and the way from a learner to a model and back."""

from vwlite.model.file import Model, write_model
from vwlite.model.read import read_model

__all__ = ["Model", "read_model", "write_model"]
