"""Which columns of texts are in scripts without blanks between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese.

In such a column each letter of these scripts is a word (vwlite/input/schema.py). It is one if at least a tenth of the
letters and digits in its first SAMPLE rows are letters of these scripts: texts that have a few names in them are not.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vwlite.core.tables.cells import count_letters
from vwlite.input.schema import listed

LEAST = 10  # of so many letters and digits, one at least


def unspaced_of(columns: Mapping[str, Iterable[bytes]]) -> tuple[str, ...]:
    """Those of these columns of texts that are, by their first cells. They are sorted, as files differ in the order of
    columns."""
    return (*sorted(name for name, cells in columns.items() if _is_unspaced(cells)),)


def _is_unspaced(cells: Iterable[bytes]) -> bool:
    letters, found = count_letters(b" ".join(cells))
    return bool(0 < letters <= LEAST * found)


def texts_in(values: Iterable[Any]) -> Iterator[bytes]:
    """The texts among values, also of JSON."""
    for value in values:
        if isinstance(value, bytes):
            yield value
        elif isinstance(value, str):
            yield value.encode("utf-8", "surrogatepass")
        elif isinstance(value, list | dict):
            yield from texts_in(value.values() if isinstance(value, dict) else value)


def about(columns: Iterable[str]) -> str:
    """What was decided, as a sentence."""
    names = [*columns]
    return (f"column{'s' * (len(names) > 1)} {listed(names)}: each letter of a script without blanks (Chinese, "
            "Japanese, Thai, ...) is a word")
