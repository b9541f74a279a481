"""The list of shards: files and URLs, with large plain files cut into parts at newlines, and Parquet at row groups.

The parts depend only on the files and the block size, never on the workers, and so do the models.
"""

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from itertools import pairwise
from typing import IO, Any

from vwlite.dask.extras import fsspec, unknown_protocol
from vwlite.errors import DataError, NoInputError, UsageError, VwliteError
from vwlite.input.formats import by_magic
from vwlite.input.reader import BZIP2, GZIP, LONGEST_MAGIC, XZ, ZSTD, ZSTD_SKIPPABLE

CHUNK = 1 << 20  # bytes that are read at a time
MAGICS = (GZIP, BZIP2, XZ, ZSTD, *ZSTD_SKIPPABLE)


@dataclass(frozen=True)
class FilePart:
    """A shard: the lines of a file that begin in its bytes begin...end, or all that is in it if end is None; or its row
    groups begin...end. columns: of Parquet."""

    url: str
    begin: int = 0
    end: int | None = None
    number: int = 0  # of the parts of a file that is cut
    of: int = 1
    columns: tuple[str, ...] | None = None

    @property
    def is_parquet(self) -> bool:
        return self.columns is not None

    @property
    def name(self) -> str:
        """As messages have it."""
        return self.url if self.of == 1 else f"{self.url} (part {self.number + 1} of {self.of})"

    @property
    def is_local(self) -> bool:
        return "://" not in self.url


@dataclass(frozen=True)
class Listing:
    """The shards, and what tells whether they are those of another time."""

    parts: list[FilePart]
    empty: list[str]  # files with nothing in them, which are left out
    stamps: list[tuple[str, int, str]]  # of each file: name, size, and what changes when it does


def listed(patterns: tuple[str, ...], block_size: int, format: str = "auto") -> Listing:
    """The shards of files, patterns and URLs, sorted by name. format: auto, or that of all. NoInputError, UsageError;
    DataError for other binary formats than Parquet, and for damaged files."""
    stamps: dict[str, tuple[str, int, str]] = {}
    for pattern in patterns:
        for stamp in _remote(pattern) if "://" in pattern else _local(pattern):
            stamps[stamp[0]] = stamp
    parts, empty = list[FilePart](), list[str]()
    for url, size, _ in sorted(stamps.values()):
        if size == 0:
            empty.append(url)
            continue
        head = _head(url)
        kind = by_magic(head)
        if kind == "parquet" and format not in ("auto", kind):
            raise DataError(f"{url}: a file of Parquet: leave --format {format} out")
        if "parquet" in (kind, format):
            found = of_parquet(url, block_size)
            parts += found
            empty += [] if found else [url]
            continue
        if kind == "arrow":
            raise DataError(f"{url}: a file of Arrow, which workers do not read: write it as Parquet or "
                            "CSV")
        count = 1 if head.startswith(MAGICS) else max(1, -(-size // block_size))
        if count == 1:
            parts.append(FilePart(url))
        else:
            parts += [FilePart(url, i * block_size, min((i + 1) * block_size, size), i, count) for i in range(count)]
    if not parts:
        raise NoInputError(f"{', '.join(patterns)}: all files are empty")
    return Listing(parts, empty, sorted(stamps.values()))


def of_parquet(url: str, block_size: int) -> list[FilePart]:
    """The shards of a file of Parquet: row groups one after the other, which together are at most a block, or one that
    is larger."""
    from vwlite.input import arrow

    pa = arrow.library(url, "parquet")
    ends, size = list[int](), 0
    with naming_errors(url), opened(url) as file:
        try:
            stored = arrow.parquet_file(file, whole=True)
            found, columns = stored.metadata, tuple(stored.schema_arrow.names)
            for number, group in enumerate(map(found.row_group, range(found.num_row_groups))):
                if not group.num_rows:
                    continue
                if not ends or size + group.total_byte_size > block_size:
                    ends.append(0)
                    size = 0
                size, ends[-1] = size + group.total_byte_size, number + 1
        except arrow.broken(pa) as e:
            raise arrow.incomplete(url, "parquet", e) from e
    pairs = enumerate(pairwise([0, *ends]))
    return [FilePart(url, begin, end, i, len(ends), columns) for i, (begin, end) in pairs]


def _local(pattern: str) -> Iterator[tuple[str, int, str]]:
    """Files of this machine, which the workers must see under the same names."""
    paths = sorted(glob(pattern, recursive=True)) if has_magic(pattern) and not os.path.exists(pattern) else [pattern]
    if not paths:
        raise NoInputError(f"{pattern}: no such file")
    for path in paths:
        try:
            info = os.stat(path)
        except OSError as e:
            raise NoInputError(f"{path}: {e.strerror}") from e
        if os.path.isdir(path):
            if path != pattern:
                continue
            raise NoInputError(f"{path}: {os.strerror(errno.EISDIR)}: '{path}/*' names the files in it")
        if not os.path.isfile(path):
            raise UsageError(f"{path}: is not a file, and shards are read more than once")
        yield os.path.abspath(path), info.st_size, str(info.st_mtime_ns)


def _remote(pattern: str) -> Iterator[tuple[str, int, str]]:
    fs, path = file_system(pattern)
    with naming_errors(pattern):
        paths = fs.glob(path, detail=True) if has_magic(path) else {path: fs.info(path)}
        found = {name: info for name, info in paths.items() if info.get("type") != "directory"}
        if not found and paths:
            raise NoInputError(f"{pattern}: is a folder: {pattern.rstrip('/')}/* names the files in it")
        if not found:
            raise NoInputError(f"{pattern}: no such file")
        for name, info in found.items():
            if info.get("size") is None:
                raise NoInputError(f"{fs.unstrip_protocol(name)}: its size is not known, so it cannot be cut")
            told_by = ("ETag", "etag", "checksum", "md5Hash", "mtime", "LastModified", "last_modified", "created")
            stamp = "".join(f"{key}={info[key]} " for key in told_by if key in info)
            yield fs.unstrip_protocol(name), int(info["size"]), stamp.strip()


def file_system(url: str) -> tuple[Any, str]:
    """The file system of a URL, and its path there. UsageError if a package is missing."""
    library = fsspec()
    try:
        found: tuple[Any, str] = library.core.url_to_fs(url)
        return found
    except (ImportError, ValueError) as e:
        raise unknown_protocol(url, e) from e
    except Exception as e:
        raise NoInputError(f"{url}: {one_line(e)}") from e


class naming_errors:
    """Errors of a file system, and of the library behind it, as NoInputError."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, e: BaseException | None, trace: Any) -> None:
        if isinstance(e, Exception) and not isinstance(e, VwliteError | MemoryError | BrokenPipeError):
            why = e.strerror if isinstance(e, OSError) and e.strerror else one_line(e)
            if isinstance(e, FileNotFoundError):
                why = os.strerror(errno.ENOENT)
            raise NoInputError(why, self._url) from e


def one_line(e: BaseException) -> str:
    """What an exception says, on one line."""
    return " ".join(str(e).split()) or type(e).__name__


def opened(url: str) -> IO[bytes]:
    """A file or URL, to be read from its beginning."""
    if "://" not in url:
        return open(url, "rb")
    fs, path = file_system(url)
    file: IO[bytes] = fs.open(path, "rb")
    return file


def _head(url: str) -> bytes:
    with naming_errors(url), opened(url) as file:
        return file.read(LONGEST_MAGIC)


def content(part: FilePart) -> Iterator[bytes]:
    """The bytes of a part as they are stored; of a file that is cut, whole lines. NoInputError."""
    with naming_errors(part.url), opened(part.url) as file:
        if part.end is not None:
            yield from _cut(part, file)
            return
        while data := file.read(CHUNK):
            yield data


def _cut(part: FilePart, file: IO[bytes]) -> Iterator[bytes]:
    """The lines that begin in a part of a plain file."""
    assert part.end is not None
    at = part.begin
    if at:  # the byte before shows whether a line begins there
        file.seek(at - 1)
        at += len(file.readline()) - 1
    rest = b""
    while at < part.end:
        data = file.read(min(CHUNK, part.end - at))
        if not data:
            raise NoInputError("the file has become shorter while it was read", part.url)
        at += len(data)
        whole = data.rfind(b"\n") + 1
        if whole:
            yield rest + data[:whole] if rest else data[:whole]
            rest = data[whole:]
        else:
            rest += data
    if rest:
        yield rest + file.readline()


def first_line(url: str) -> bytes:
    """That of a plain file: the header of a table."""
    with naming_errors(url), opened(url) as file:
        return file.readline()
