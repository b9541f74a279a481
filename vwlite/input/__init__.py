"""From files and standard input to parsed batches, and their cache."""

MOST_WORDS = 16  # of an n-gram; as in cython_ext/tables/cells.pxd
MOST_CHARACTERS = 8  # likewise
ON_UNKNOWN = ("error", "note")  # what is done about a row that has none of the columns of a model
MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "-")  # words that mean a missing value, in tables


def cache_name(source: str) -> str:
    """The default path of the cache of a file."""
    return f"{source}.vwlite-cache"


def looks_like_vw(head: bytes) -> bool:
    """Whether a file begins as a model of Vowpal Wabbit does: with the length of its version, and that."""
    return len(head) > 8 and head[1:4] == b"\0\0\0" and head[4:5].isdigit() and head[5:6] == b"."
