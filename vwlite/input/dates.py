"""Columns of dates or times whose role was not typed: which they are, by the first rows of a table."""

import re
from collections.abc import Callable, Collection, Mapping

from vwlite.core.tables.cells import parts_of_time, time_of
from vwlite.errors import DataError
from vwlite.input.diagnostics import IS_NUMBER
from vwlite.input.formats import by_magic
from vwlite.input.reader import Block, read_blocks
from vwlite.time_formats import LIKELY

DIGITS = re.compile(rb"(19|20)\d{6}")  # a date
# Of ISO 8601, or of LIKELY
_DATE = re.compile(rb"\d{4}[-/]\d|\d{1,2}([./-])\d{1,2}\1\d{4}")
LOOKED_AT = 1 << 18  # bytes of a file


def begins_with_dates(path: str) -> bool:
    """Whether the first bytes of a file have a date, or are binary. A file that cannot be read has none."""
    try:
        block = next(read_blocks([path], skip_faults=True), None)
    except DataError:
        return False
    if not isinstance(block, Block):
        return False
    first = bytes(block.data[:LOOKED_AT])
    return bool(by_magic(first[:8]) or _DATE.search(first))


def is_iso(cell: bytes) -> bool:
    """Whether a cell is a date or a time of ISO 8601; a number is only if it has 8 digits."""
    return time_of(cell) is not None and (IS_NUMBER.fullmatch(cell) is None or DIGITS.fullmatch(cell) is not None)


def reader_of(format: str) -> Callable[[bytes], bool]:
    """Whether a cell is a time of this format; "": of ISO 8601."""
    return (lambda cell: parts_of_time(cell, format.encode()) is not None) if format else is_iso


def format_of_dates(cells: Collection[bytes], typed: str = "") -> str | None:
    """The format that reads all of these cells, "" for ISO 8601; None if there is none, or if two do. typed: the only
    one that may be."""
    formats = [typed] if typed else [""] if all(map(is_iso, cells)) else LIKELY
    found = [format for format in formats if all(map(reader_of(format), cells))]
    return found[0] if cells and len(found) == 1 else None


def dates_among(columns: Mapping[str, Collection[bytes]], typed: str = "") -> dict[str, str]:
    """The columns whose cells are all times, each with its format, as of `format_of_dates`. Of two formats, only the
    columns of that of the first column: times of a table are in one format."""
    found = {name: format_of_dates(cells, typed) for name, cells in columns.items()}
    formats = [format for format in found.values() if format is not None]
    return {name: format for name, format in found.items() if format is not None and format == formats[0]}
