"""The table of input formats: how each is detected and which code reads it. To add one, write its parser and its row.

The grammar of text is in `vwlite.core.text`; `vwlite.core.text.parser.detect` detects VW text and libsvm.
"""

import re
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from vwlite.errors import UsageError
from vwlite.patterns import pattern

BOM = b"\xef\xbb\xbf"
LONGEST_FIRST = 1 << 16  # bytes of a first line that tell the format
PREFIX, LABEL, TEXT = b"__label__", "label", "text"  # of lines of fastText: what is before a label; the two columns
LABELLED = pattern(re.escape(PREFIX) + rb"\S+(?:\s+(?!\|)|\s*$)")  # not VW text with such a label
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")  # which come after a suffix

# Classes, as `module:name`: they are imported when they are used.
LINES, PARSER = "vwlite.input.parsing:LineParsing", "vwlite.core.text.parser:Parser"
DELIMITED_TEXT, TABLE_PARSER = "vwlite.input.table_text:TableParsing", "vwlite.core.tables.tables:TableParser"
JSON_LINES = "vwlite.input.table_text:JsonParsing"
LABELLED_TEXT = "vwlite.input.labelled_text:LabelledText"
ARROW = "vwlite.input.arrow:ArrowParsing"
ARROW_FILE = b"ARROW1"  # how a file of Arrow begins; a stream begins with four bytes 255


class Dialect(NamedTuple):
    """How delimited text is written. delimiter: "": it is no delimited text."""

    delimiter: str = ""
    quoted: bool = True  # quotes are not ordinary characters
    escape: str = ""  # what makes the character after it ordinary, if there is such a thing


NO_TEXT = Dialect()


class Format(NamedTuple):
    """A format of input."""

    parsing: str  # the class that parses its blocks: LineParsing, or one with the same methods
    parser: str = ""  # the class of its grammar: Parser or a subclass; none for a binary format
    suffixes: tuple[str, ...] = ()  # of file names that tell it
    magic: tuple[bytes, ...] = ()  # what a file of a binary format can begin with: its class opens the file itself
    begin: bytes = b""  # of the first line, behind blanks
    is_table: bool = False
    delimiter: str = ""  # between the cells, if it is always the same


FORMATS = {
    "vw": Format(LINES, PARSER),
    "libsvm": Format(LINES, PARSER),
    "csv": Format(DELIMITED_TEXT, TABLE_PARSER, suffixes=("csv",), is_table=True),
    "tsv": Format(DELIMITED_TEXT, TABLE_PARSER, suffixes=("tsv", "tab"), is_table=True, delimiter="\t"),
    "jsonl": Format(JSON_LINES, TABLE_PARSER, suffixes=("jsonl", "ndjson"), begin=b"{", is_table=True),
    "fasttext": Format(LABELLED_TEXT, TABLE_PARSER, is_table=True),
    "text": Format(LABELLED_TEXT, TABLE_PARSER, is_table=True),
    "parquet": Format(ARROW, magic=(b"PAR1",), is_table=True),
    "arrow": Format(ARROW, magic=(ARROW_FILE, b"\xff\xff\xff\xff"), is_table=True),
}
BINARY = [kind for kind, row in FORMATS.items() if row.magic]
OF_TEXT = [kind for kind, row in FORMATS.items() if row.parsing == LABELLED_TEXT]
DELIMITED = [kind for kind, row in FORMATS.items() if row.parsing == DELIMITED_TEXT]


@cache
def imported(name: str) -> Any:
    """The class of a row, from its `module:name`."""
    module, _, name = name.partition(":")
    return getattr(import_module(module), name)


def first_line(data: bytes | memoryview) -> bytes:
    """The first line of a text that is not blank, or its beginning."""
    return bytes(data).removeprefix(BOM).lstrip()[:LONGEST_FIRST].split(b"\n")[0]


def by_name(source: str) -> str | None:
    """The format that the name of a file tells; None: it tells nothing."""
    name = source.lower()
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    suffix = name.rpartition(".")[2] if "." in name else ""
    return next((kind for kind, row in FORMATS.items() if suffix in row.suffixes), None)


def check_name(path: str, format: str, delimiter: str = "") -> None:
    """UsageError for an output whose name tells another format than that of its rows, which are those of DATA.
    delimiter: of delimited text, which may be found in a file of any name."""
    format = next((kind for kind in DELIMITED if delimiter and FORMATS[kind].delimiter == delimiter), format)
    told = by_name(path) or next((kind for kind in BINARY if path.lower().endswith("." + kind)), format)
    if told != format and (told, format) != ("csv", "tsv"):  # tabs are found in .csv, too
        raise UsageError(f"{path}: the rows stay in the format of DATA, which is {format}: name the file so, or "
                         f"convert DATA to {told} first")


def by_magic(head: bytes) -> str | None:
    """The binary format of a file that begins so; None: it may be text."""
    return next((kind for kind, row in FORMATS.items() if row.magic and head.startswith(row.magic)), None)


def by_begin(line: bytes) -> str | None:
    """The format that the beginning of the first line tells; None: it tells nothing."""
    if LABELLED.match(line):
        return "fasttext"
    return next((kind for kind, row in FORMATS.items() if row.begin and line.lstrip().startswith(row.begin)), None)
