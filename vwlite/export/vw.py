"""Export to Vowpal Wabbit: its model file."""

from vwlite.export import Request


def vw(request: Request) -> bytes:
    """The bytes of the file. DataError if Vowpal Wabbit has no such models."""
    from vwlite.vw.models.convert import to_vw

    return to_vw(request.path, request.model)
