"""The table of input formats: how each is detected and which code reads it.

The grammar of a text format is in `vwlite.core.text`: `Parser` for lines of features, `TableParser` for tables.
`vwlite.core.text.parser.detect` detects VW text and libsvm.
"""

from typing import NamedTuple

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")  # which come after a suffix


class Format(NamedTuple):
    """A format of input."""

    suffixes: tuple[str, ...] = ()  # of file names that tell it
    magic: bytes = b""  # the first bytes of a binary file
    begin: bytes = b""  # of the first line, behind blanks
    is_table: bool = False
    is_delimited: bool = False  # a table whose records have cells
    delimiter: str = ""  # between the cells, if it is always the same
    is_binary: bool = False  # read by pyarrow, not by a parser of text


FORMATS = {
    "vw": Format(),
    "libsvm": Format(),
    "csv": Format(suffixes=("csv",), is_table=True, is_delimited=True),
    "tsv": Format(suffixes=("tsv", "tab"), is_table=True, is_delimited=True, delimiter="\t"),
    "jsonl": Format(suffixes=("jsonl", "ndjson"), begin=b"{", is_table=True),
    "parquet": Format(magic=b"PAR1", is_table=True, is_binary=True),
    "arrow": Format(magic=b"ARROW1", is_table=True, is_binary=True),
}
BINARY = [kind for kind, row in FORMATS.items() if row.is_binary]
DELIMITED = [kind for kind, row in FORMATS.items() if row.is_delimited]


def by_name(source: str) -> str | None:
    """The format that the name of a file tells; None: it tells nothing."""
    name = source.lower()
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    suffix = name.rpartition(".")[2] if "." in name else ""
    return next((kind for kind, row in FORMATS.items() if suffix in row.suffixes), None)


def by_magic(head: bytes) -> str | None:
    """The binary format of a file that begins so; None: it may be text."""
    return next((kind for kind, row in FORMATS.items() if row.magic and head.startswith(row.magic)), None)


def by_begin(line: bytes) -> str | None:
    """The format that the beginning of the first line tells; None: it tells nothing."""
    return next((kind for kind, row in FORMATS.items() if row.begin and line.lstrip().startswith(row.begin)), None)
