"""Errors as Python has them: what the commands say of options, lines and models, as a ValueError or OSError."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from vwlite.errors import DataError, NoInputError, UsageError, VwliteError

SOURCE = "X"  # the name of a matrix in messages, as that of a file is: before the number of the row


@contextmanager
def as_python() -> Iterator[None]:
    """Raise errors of a run as Python's own: options by their names as parameters, rows in place of lines."""
    try:
        yield
    except (UsageError, DataError) as e:
        raise ValueError(in_words_of_python(str(e))) from None
    except NoInputError as e:
        raise FileNotFoundError(str(e)) from None
    except MemoryError as e:
        raise MemoryError(in_words_of_python(str(e))) from None
    except VwliteError as e:
        raise OSError(str(e)) from None


def in_words_of_python(text: str) -> str:
    """`--pa-c 2` as `pa_c 2`, `X:17:1:` as `row 17:`."""
    text = re.sub(r"(?<![\w-])--?([a-z][a-z0-9-]*)", lambda m: m[1].replace("-", "_"), text)
    text = text.replace("the model the model", "the model")  # which has no file
    return re.sub(rf"\b{SOURCE}:(\d+)(:1)?:?", r"row \1:", text)
