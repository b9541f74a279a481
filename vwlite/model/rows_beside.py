"""The names of the rows that are kept beside a model: `vwlite/model/kept_rows.py`."""

import os

SUFFIX = ".rows"
DIGITS = 16  # of the digest of a model in the name of its rows until the model is there


def path_of(model: str) -> str:
    """Where the rows of the model in this file are."""
    return os.path.realpath(model) + SUFFIX


def unsettled(model: str, digest: str) -> str:
    """Where they are until the model is there."""
    return f"{path_of(model)}.{digest[:DIGITS]}"


def are_there(model: str, digest: str) -> bool:
    """Whether there may be rows of the model in this file, which has this digest."""
    return os.path.lexists(path_of(model)) or os.path.lexists(unsettled(model, digest))
