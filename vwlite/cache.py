"""The cache: parsed batches on disk, as they are in memory.

    magic, format version           16 bytes
    batches                         each at a multiple of 64 bytes, as Batch.dump writes it, zeros between
    index                           JSON: the fingerprint, the names of classes, and place, size, CRC and origin of
                                    each batch
    trailer                         32 bytes: place and size of the index, its CRC, magic

A later pass maps the file and parses nothing. A cache that this run did not write is used only if the
fingerprint is that of the data and options of now, and every byte of it is accounted for.
"""

import hashlib
import json
import mmap
import os
import stat
import struct
import sys
import tempfile
import threading
import weakref
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from vwlite import __version__
from vwlite.core.batch import Batch
from vwlite.errors import CannotCreateError, NoInputError, UsageError, WriteError
from vwlite.output import AtomicFile

VERSION = 4
MAGIC = b"vwlite cache\0\0" + VERSION.to_bytes(2, "little")
END = b"vwlite end\0\0"
TRAILER = struct.Struct("<QQI12s")  # place and size of the index, its CRC, END
ALIGNMENT = 64
FETCHED = 3  # batches that are read ahead
SAMPLE = 1 << 16  # bytes of each content sample


class CacheUnusable(Exception):
    """Why a cache is not used, as the end of a sentence."""


def cache_name(source: str) -> str:
    """Where the cache of a file lies if it is not said."""
    return f"{source}.vwlite-cache"


def fingerprint(sources: Sequence[str], options: dict[str, Any]) -> dict[str, Any]:
    """What a cache was made from: the files, the options that shaped it, the program that parsed them.

    UsageError for a pipe or a device: nobody can tell whether it would give the same again.
    """
    return {
        "program": __version__,
        "byte order": sys.byteorder,
        "options": options,
        "sources": [_source_fingerprint(source) for source in sources],
    }


def _source_fingerprint(source: str) -> dict[str, Any]:
    try:
        info = os.stat(source)
        if not stat.S_ISREG(info.st_mode):
            raise UsageError(f"{source}: not a regular file, so a cache of it cannot be kept: leave --cache out")
        digest = hashlib.blake2b(digest_size=16)
        with open(source, "rb") as f:
            for place in sorted({0, info.st_size // 3, info.st_size * 2 // 3, max(0, info.st_size - SAMPLE)}):
                f.seek(place)
                digest.update(f.read(SAMPLE))
    except OSError as e:
        raise NoInputError(f"{source}: {e.strerror}") from e
    return {
        "name": os.path.basename(source),
        "size": info.st_size,
        "mtime": info.st_mtime_ns,
        "ctime": info.st_ctime_ns,  # of the last change of any kind, which nobody can set back
        "sample": digest.hexdigest(),
    }


@dataclass(frozen=True)
class Entry:
    """One batch in the file."""

    place: int
    size: int
    crc: int
    source: str
    first_line: int


class CacheWriter:
    """Writes a cache. Without a path it is a temporary file that nobody else sees, gone when it is closed."""

    def __init__(self, path: str | None, made_from: dict[str, Any]) -> None:
        self.path = path
        self._made_from = made_from
        self._entries: list[Entry] = []
        self._file: AtomicFile | None = None
        if path is None:
            try:
                self._temporary = tempfile.TemporaryFile(prefix="vwlite-", buffering=0)
            except OSError as e:
                raise self._error(e) from e
        elif os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
            raise CannotCreateError(f"{path}: not a regular file, so it cannot hold a cache")
        else:
            self._file = AtomicFile(path)
        self._at = 0
        try:
            self._write(MAGIC)
        except BaseException:
            self.close()
            raise

    def _error(self, e: OSError) -> WriteError:
        folder = tempfile.tempdir or os.environ.get("TMPDIR", "the folder for temporary files")
        return WriteError(
            f"the temporary cache in {folder} cannot be written: {e.strerror}; several passes keep "
            "the parsed data there: set TMPDIR to a folder with more room, or name a --cache-file"
        )

    def _write(self, data: bytes | memoryview) -> None:
        view = memoryview(data).cast("B")
        self._at += view.nbytes
        if self._file is not None:
            self._file.write(view)
            return
        try:
            while view.nbytes:
                view = view[os.write(self._temporary.fileno(), view) :]
        except OSError as e:
            raise self._error(e) from e

    def add(self, batch: Batch) -> None:
        """Append a batch."""
        self._write(bytes(-self._at % ALIGNMENT))
        place, crc = self._at, 0
        for piece in batch.dump():
            if self.path is not None:
                crc = zlib.crc32(piece, crc)
            self._write(piece)
        self._entries.append(Entry(place, self._at - place, crc, batch.source, batch.first_line))

    def finish(self, skipped: int = 0, classes: Sequence[str] = ()) -> "CacheReader":
        """Put the file in its place; how to read it.

        skipped: how many bad lines it leaves out. classes: the names that its labels are the numbers of.
        """
        index = json.dumps(
            {
                "made from": self._made_from,
                "skipped": skipped,
                "classes": list(classes),
                "batches": [[e.place, e.size, e.crc, e.source, e.first_line] for e in self._entries],
            }
        ).encode()
        place = self._at
        self._write(index)
        self._write(TRAILER.pack(place, len(index), zlib.crc32(index), END))
        reader = CacheReader(
            self._file.fileno() if self._file is not None else self._temporary.fileno(), self._entries, skipped, classes
        )
        if self._file is not None:
            self._file.commit()
        self.close()
        return reader

    def close(self) -> None:
        """Give up what was not finished."""
        if self._file is not None:
            self._file.close()
        else:
            self._temporary.close()


class CacheReader:
    """The batches of a cache, as often as they are wanted. It leaves out `skipped` bad lines of the data; its labels
    are the numbers of `classes`, if there are some.

    fd: of the file; it may be closed afterwards.
    """

    def __init__(self, fd: int, entries: list[Entry], skipped: int, classes: Sequence[str] = ()) -> None:
        self.skipped, self.classes = skipped, list(classes)
        self.made_from: dict[str, Any] = {}
        self._fd = os.dup(fd)
        weakref.finalize(self, os.close, self._fd)
        self._data = mmap.mmap(fd, 0, access=mmap.ACCESS_READ)
        self._entries = entries

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self._data)

    def batches(self, threads: int = 1) -> Iterator[tuple[Batch, int]]:
        """The batches in order, each with the place in the file where it ends.

        With one thread they are where the file is mapped, and valid as long as they are held. With more, another
        thread reads them ahead, and each is valid until the next.
        """
        if threads > 1:
            yield from self._read_ahead()
            return
        if hasattr(mmap, "MADV_SEQUENTIAL"):
            self._data.madvise(mmap.MADV_SEQUENTIAL)
        for entry in self._entries:
            batch = Batch.view(self._data, entry.place, entry.size)
            batch.source, batch.first_line = entry.source, entry.first_line
            yield batch, entry.place + entry.size
            _forget(self._data, entry)

    def _read_ahead(self) -> Iterator[tuple[Batch, int]]:
        size = max((entry.size for entry in self._entries), default=0)
        empty: SimpleQueue[bytearray | None] = SimpleQueue()
        full: SimpleQueue[bytearray | NoInputError] = SimpleQueue()

        def run() -> None:
            for entry in self._entries:
                buffer = empty.get()
                if buffer is None:
                    return
                full.put(self._read(entry, buffer))

        for _ in range(FETCHED):
            empty.put(bytearray(size))
        thread = threading.Thread(target=run, name="cache reader", daemon=True)
        thread.start()
        try:
            for entry in self._entries:
                buffer = full.get()
                if isinstance(buffer, NoInputError):
                    raise buffer
                batch = Batch.view(buffer, 0, entry.size)
                batch.source, batch.first_line = entry.source, entry.first_line
                yield batch, entry.place + entry.size
                empty.put(buffer)
        finally:
            empty.put(None)
            thread.join()

    def _read(self, entry: Entry, buffer: bytearray) -> bytearray | NoInputError:
        """The buffer with the bytes of a batch; or what went wrong."""
        done = 0
        try:
            while done < entry.size:
                more = os.preadv(self._fd, [memoryview(buffer)[done : entry.size]], entry.place + done)
                if more == 0:
                    return NoInputError("the cache was cut off while it was in use: try again")
                done += more
        except OSError as e:
            return NoInputError(f"the cache cannot be read: {e.strerror}")
        return buffer


def _forget(data: mmap.mmap, entry: Entry) -> None:
    """Take the pages of a batch out of the process, so that its memory does not grow with the cache.

    They stay in the page cache of the system, and come back when somebody looks at them.
    """
    if hasattr(mmap, "MADV_DONTNEED"):
        begin = entry.place // mmap.PAGESIZE * mmap.PAGESIZE
        data.madvise(mmap.MADV_DONTNEED, begin, entry.place + entry.size - begin)


def open_cache(path: str, wanted: dict[str, Any] | None) -> CacheReader:
    """A cache that was written earlier. CacheUnusable if there is something wrong with it.

    wanted: the fingerprint that it must have; None: any.
    """
    try:
        with open(path, "rb") as f:
            if os.fstat(f.fileno()).st_size == 0:
                raise CacheUnusable("it is empty")
            return _checked(f.fileno(), wanted)
    except OSError as e:
        raise CacheUnusable(e.strerror) from e


def _checked(fd: int, wanted: dict[str, Any] | None) -> CacheReader:
    data = mmap.mmap(fd, 0, access=mmap.ACCESS_READ)
    if data[: len(MAGIC) - 2] != MAGIC[:-2]:
        raise CacheUnusable("it is not a cache of vwlite")
    if data[len(MAGIC) - 2 : len(MAGIC)] != MAGIC[-2:]:
        raise CacheUnusable("it is of another version of the format")
    made_from, skipped, classes, entries, end = _index(data)
    if wanted is not None:  # before the bytes: this is quick
        _compare(made_from, wanted)
    _check_bytes(data, entries, end)
    reader = CacheReader(fd, entries, skipped, classes)
    reader.made_from = made_from
    return reader


def _index(data: mmap.mmap) -> tuple[dict[str, Any], int, list[str], list[Entry], int]:
    """What the cache was made from, the lines it leaves out, the classes, its batches, and where they end."""
    if len(data) < len(MAGIC) + TRAILER.size:
        raise CacheUnusable("it is cut off")
    place, size, crc, end = TRAILER.unpack(data[-TRAILER.size :])
    if end != END or place + size != len(data) - TRAILER.size:
        raise CacheUnusable("it is cut off or damaged")
    index = data[place : place + size]
    if zlib.crc32(index) != crc:
        raise CacheUnusable("it is damaged")
    try:
        content = json.loads(index)
        entries = [Entry(*entry) for entry in content["batches"]]
        return content["made from"], content["skipped"], content.get("classes", []), entries, place
    except (KeyError, TypeError, ValueError) as e:  # the checksum is right: somebody else's index
        raise CacheUnusable("it is of another version of the format") from e


def _check_bytes(data: mmap.mmap, entries: list[Entry], end: int) -> None:
    """Every byte: the batches by their CRC, what lies between them is zero. Two threads: it is the CRC that takes
    its time, if the file is not read from a slow disk."""
    from concurrent.futures import ThreadPoolExecutor

    ends = [len(MAGIC), *(e.place + e.size for e in entries)]

    def whole(entry: Entry, before: int) -> bool:
        with memoryview(data) as view, view[entry.place : entry.place + entry.size] as batch:
            good = zlib.crc32(batch) == entry.crc and not any(view[before : entry.place])
        _forget(data, entry)
        return good

    with ThreadPoolExecutor(2) as threads:
        if ends[-1] != end or not all(threads.map(whole, entries, ends)):
            raise CacheUnusable("it is damaged")


def _compare(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    wanted = json.loads(json.dumps(wanted))  # tuples become lists
    if found["program"] != wanted["program"]:
        raise CacheUnusable(f"it was made by vwlite {found['program']}")
    if found["byte order"] != wanted["byte order"]:
        raise CacheUnusable("it was made on another kind of machine")
    old, new = found["options"], wanted["options"]
    for name in sorted(set(old) | set(new)):
        if old.get(name) != new.get(name):
            raise CacheUnusable(f"it was made with another {name.replace('_', ' ')}")
    if len(found["sources"]) != len(wanted["sources"]):
        raise CacheUnusable("it was made from other files")
    for was, now in zip(found["sources"], wanted["sources"], strict=True):
        if was["name"] != now["name"]:
            raise CacheUnusable(f"it was made from {was['name']}, not from {now['name']}")
        if was != now:
            raise CacheUnusable(f"{now['name']} has changed since it was made")
