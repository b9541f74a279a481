"""Export to Vowpal Wabbit: its model file."""

from vwlite.export import Request
from vwlite.vw.models.convert import to_vw


def vw(request: Request) -> bytes:
    """The bytes of the file. DataError if Vowpal Wabbit has no such models."""
    return to_vw(request.path, request.model)
