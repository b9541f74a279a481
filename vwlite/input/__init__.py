"""From files and standard input to parsed batches, and their cache."""

MOST_WORDS = 16  # of an n-gram; as in cython_ext/text/cells.pxd


def cache_name(source: str) -> str:
    """Where the cache of a file lies if it is not said."""
    return f"{source}.vwlite-cache"
