"""Convert the errors of commands (about options, lines and models) to ValueError and OSError."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from vwlite.errors import DataError, NoInputError, UsageError, VwliteError

SOURCE = "X"  # represents the matrix in messages, where a file has its path: before the row number
OF_FIT = {"group": "groups"}  # options that are arguments of `fit`


@contextmanager
def as_python() -> Iterator[None]:
    """Raise errors of a run as Python exceptions: with names of parameters for options, and rows for lines."""
    try:
        yield
    except (UsageError, DataError) as e:
        raise ValueError(python_message(str(e))) from None
    except NoInputError as e:
        raise FileNotFoundError(str(e)) from None
    except MemoryError as e:
        raise MemoryError(python_message(str(e))) from None
    except VwliteError as e:
        raise OSError(str(e)) from None


def python_message(text: str) -> str:
    """`--pa-c 2` as `pa_c 2`, but not in commands to type, `X:17:1:` as `row 17:`."""
    option = r"`vwlite [^`]*`|(?<![\w-])--?([a-z][a-z0-9-]*)"
    text = re.sub(option, lambda m: OF_FIT.get(m[1], m[1].replace("-", "_")) if m[1] else m[0], text)
    text = text.replace("the model the model", "the model")  # the model has no file
    return re.sub(rf"\b{SOURCE}:(\d+)(:1)?:?", r"row \1:", text)
