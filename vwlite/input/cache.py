"""The cache: parsed batches on disk, nearly as they are in memory.

    magic, format version           16 bytes
    batches                         each at a multiple of 64 bytes, as Batch.dump writes it, zeros between
    index                           JSON: the fingerprint, the names of classes, of columns and words, the keys of JSON
                                    lines, and place, size, sum and origin of each batch
    trailer                         32 bytes: place and size of the index, its sum, magic

A later pass reads the batches and parses nothing. A cache from an earlier run is used only if its fingerprint is that
of the current data and options, and every byte of it belongs to a part above. The file is not trusted, as other
processes may write to it at any time: whenever a batch is needed, it is copied into private memory and checked there.
"""

import errno
import json
import os
import stat
import struct
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeGuard

from vwlite import __version__
from vwlite.core.base.checksum import checksum
from vwlite.core.data.batch import Batch
from vwlite.core.data.dictionary import Dictionary
from vwlite.digest import blake2b
from vwlite.errors import CannotCreateError, NoInputError, UsageError, WriteError
from vwlite.input.ahead import read_ahead
from vwlite.output.atomic import AtomicFile

VERSION = 5
MAGIC = b"vwlite cache\0\0" + VERSION.to_bytes(2, "little")
END = b"vwl end\0"
TRAILER = struct.Struct("<QQQ8s")  # place and size of the index, its sum, END
ALIGNMENT = 64
FETCHED = 3  # batches that are read ahead
SAMPLE = 1 << 16  # bytes of each content sample

Found = tuple[Batch, int] | None  # a batch, and the place in the file where it ends
NameOfLog = tuple[int, int, int, bytes]  # of a column or a word, as of `Cells.take_log`


class CacheUnusable(Exception):
    """Why a cache is not used, as the end of a sentence."""


def made_by(command: str) -> dict[str, Any]:
    """The part of a fingerprint with the program and the machine of a cache."""
    return {"command": command, "program": __version__, "byte order": sys.byteorder}


def fingerprint(sources: Sequence[str], options: dict[str, Any]) -> dict[str, Any]:
    """What a cache of `vwlite train` was made from: the files, the options that shaped it, the program.

    UsageError for a pipe or a device: it may give other data the next time.
    """
    found = [_source_fingerprint(source) for source in sources]
    return {**made_by("train"), "options": options, "sources": found}


def _source_fingerprint(source: str) -> dict[str, Any]:
    try:
        info = os.stat(source)
        if not stat.S_ISREG(info.st_mode):
            raise UsageError(f"{source}: not a regular file, so a cache of it cannot be kept: leave --cache out")
        digest = blake2b(digest_size=16)
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
        "ctime": info.st_ctime_ns,  # of the last change of any kind, which programs cannot set
        "sample": digest.hexdigest(),
    }


@dataclass(frozen=True)
class BatchEntry:
    """One batch in the file."""

    place: int
    size: int
    sum: int
    source: str
    first_line: int
    gap: int = 0  # bytes of zeros before it
    breaks: Sequence[tuple[int, int]] = ()  # Batch.breaks


class CacheWriter:
    """Writes a cache. Without a path it is a temporary file without a name, deleted when it is closed. is_private: only
    its owner may read it."""

    def __init__(self, path: str | None, made_from: dict[str, Any], *, is_private: bool = False) -> None:
        self.path = path
        self._made_from = made_from
        self._entries: list[BatchEntry] = []
        self._log: dict[tuple[int, int], NameOfLog] = {}  # by the hashes of namespace and feature
        self._file: AtomicFile | None = None
        if path is None:
            try:
                self._temporary = tempfile.TemporaryFile(prefix="vwlite-", buffering=0)
            except OSError as e:
                raise self._error(e) from e
        elif os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
            raise CannotCreateError(f"{path}: not a regular file, so it cannot hold a cache")
        else:
            self._file = AtomicFile(path, is_private=is_private)
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
            "the parsed data there: set TMPDIR to a folder with more space, or name a --cache-file"
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
        gap = -self._at % ALIGNMENT
        self._write(bytes(gap))
        place, data = self._at, b"".join(batch.dump())
        self._write(data)
        entry = BatchEntry(place, len(data), checksum(data), batch.source, batch.first_line, gap, tuple(batch.breaks))
        self._entries.append(entry)

    def take(self, log: Sequence[NameOfLog]) -> None:
        """Keep names of columns and words."""
        for name in log:
            self._log.setdefault(name[:2], name)

    def finish(self, skipped: int = 0, classes: Sequence[str] = (), keys: Sequence[str] = ()) -> "CacheReader":
        """Put the file in its place; how to read it.

        skipped: how many bad lines it leaves out. classes: the names that its labels are the numbers of. keys: of
        JSON lines.
        """
        log = [*self._log.values()]
        index = json.dumps(
            {
                "made from": self._made_from,
                "skipped": skipped,
                "classes": list(classes),
                **({"keys": list(keys)} if keys else {}),
                **({"log": [[*numbers, os.fsdecode(name)] for *numbers, name in log]} if log else {}),
                "batches": [
                    [e.place, e.size, e.sum, e.source, e.first_line, *([e.breaks] if e.breaks else [])]
                    for e in self._entries
                ],
            }
        ).encode()
        place = self._at
        self._write(index)
        self._write(TRAILER.pack(place, len(index), checksum(index), END))
        reader = CacheReader(
            self._file.fileno() if self._file is not None else self._temporary.fileno(),
            CacheIndex(self._made_from, skipped, list(classes), self._entries, log, list(keys)),
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


def check_replaceable(path: str) -> None:
    """CannotCreateError for a file that does not begin as a cache: a wrong name must not destroy it."""
    if not os.path.isfile(path):
        return  # nothing is lost, or AtomicFile refuses it
    try:
        with open(path, "rb") as f:
            head = f.read(len(MAGIC) - 2)
    except OSError as e:
        raise CannotCreateError(f"{path}: cannot be replaced by a cache, as it cannot be read: {e.strerror}") from e
    if not MAGIC.startswith(head):
        raise CannotCreateError(
            f"{path}: this file is not a cache of vwlite, so it is not replaced by one: name another file, or remove it"
        )


@dataclass(frozen=True)
class CacheIndex:
    """The data at the end of a cache."""

    made_from: dict[str, Any]
    skipped: int
    classes: list[str]
    entries: list[BatchEntry]
    log: list[NameOfLog]
    keys: list[str]


class CacheReader:
    """The batches of a cache, for any number of passes. It leaves out `skipped` bad lines of the data; its labels
    are the numbers of `classes`, if there are some.

    fd: of the file; it may be closed afterwards.
    """

    def __init__(self, fd: int, index: CacheIndex) -> None:
        self.skipped, self.classes, self.made_from = index.skipped, index.classes, index.made_from
        self.log, self.keys = index.log, index.keys
        self.size = os.fstat(fd).st_size
        self._entries = index.entries
        self._domain, self._most = _labels(index)
        options = index.made_from.get("options")
        self._opens = isinstance(options, dict) and options.get("derives") is True
        self._dictionary: Dictionary | None = None
        self.lengths: list[int] = []  # the number of lines of each batch, once they were checked
        self._fd = os.dup(fd)
        weakref.finalize(self, os.close, self._fd)

    def batches(self, threads: int = 1, share_numbers: bool = False) -> Iterator[tuple[Batch, int]]:
        """The batches in order, each with the place in the file where it ends. Each is valid until the next.

        With more than one thread, another one reads them ahead. share_numbers: it also gives their features numbers
        that hold for several batches, so that a learner looks up few. NoInputError if the file is not what it was.
        """
        entries = iter(self._entries)

        def read(buffer: bytearray) -> Found:
            entry = next(entries, None)
            return None if entry is None else (self._read(entry, buffer), entry.place + entry.size)

        if threads > 1:
            buffers = [self._buffer(self._entries) for _ in range(FETCHED)]
            if not share_numbers:
                yield from read_ahead(read, buffers, "cache reader")
                return
            with self._numbering() as renumber:
                yield from read_ahead(lambda buffer: renumber(read(buffer)), buffers, "cache reader")
            return
        buffer = self._buffer(self._entries)
        while (found := read(buffer)) is not None:
            yield found

    @contextmanager
    def _numbering(self) -> Iterator[Callable[[Found], Found]]:
        """A function that gives the features of a batch numbers that hold for several batches. The next pass continues
        with the dictionary of this one."""
        dictionary, self._dictionary = self._dictionary or Dictionary(), None

        def renumber(found: Found) -> Found:
            nonlocal dictionary
            if found is not None and not dictionary.renumber(found[0]):
                dictionary = Dictionary()
                dictionary.renumber(found[0])
            return found

        try:
            yield renumber
        finally:
            self._dictionary = dictionary

    def batch(self, number: int) -> Batch:
        """One of the batches, in memory of its own. NoInputError as above."""
        return self._read(self._entries[number], self._buffer(self._entries[number : number + 1]))

    def check(self) -> None:
        """CacheUnusable if any of the bytes is not as it should be. Two threads, which a fast
        disk keeps busy."""
        from concurrent.futures import ThreadPoolExecutor

        self.lengths = [0] * len(self._entries)

        def part(first: int) -> None:
            entries = self._entries[first::2]
            buffer = self._buffer(entries)
            for number, entry in enumerate(entries):
                batch = self._load(entry, buffer)
                self.lengths[first + 2 * number] = len(batch)
                if self._domain is not None:
                    _check_numbers(batch, self._domain, self._most, opens=self._opens)

        with ThreadPoolExecutor(2) as threads:
            list(threads.map(part, [0, 1]))

    @staticmethod
    def _buffer(entries: list[BatchEntry]) -> bytearray:
        """A buffer that is large enough for each of these batches."""
        return bytearray(max((entry.gap + entry.size for entry in entries), default=0))

    def _read(self, entry: BatchEntry, buffer: bytearray) -> Batch:
        """A batch that was good before."""
        try:
            return self._load(entry, buffer)
        except CacheUnusable as e:
            raise NoInputError(f"the cache has changed while it was in use ({e}): run again") from e
        except OSError as e:
            raise NoInputError(f"the cache cannot be read: {e.strerror}") from e

    def _load(self, entry: BatchEntry, buffer: bytearray) -> Batch:
        """The batch in the buffer. CacheUnusable if it is not what was written."""
        view = memoryview(buffer)[: entry.gap + entry.size]
        _fill(view, self._fd, entry.place - entry.gap)
        if checksum(view[entry.gap :]) != entry.sum or any(view[: entry.gap]):
            raise CacheUnusable("it is damaged")
        try:
            batch = Batch.view(buffer, entry.gap, entry.size)
        except ValueError as e:  # the checksum is right: not our batch
            raise CacheUnusable(str(e)) from e
        batch.source, batch.first_line, batch.breaks = entry.source, entry.first_line, entry.breaks
        return batch


def _check_numbers(batch: Batch, domain: str, classes: int, *, opens: bool) -> None:
    try:
        batch.check_numbers(domain, classes, opens)
    except ValueError as e:
        raise CacheUnusable(str(e)) from e


def _fill(view: memoryview, fd: int, place: int) -> None:
    """Fill a buffer from a file, from an offset on."""
    done = 0
    while done < len(view):
        more = os.preadv(fd, [view[done:]], place + done)
        if more == 0:
            raise CacheUnusable("it is truncated")
        done += more


def open_cache(path: str, expected: dict[str, Any] | None) -> CacheReader:
    """A cache that was written earlier. CacheUnusable if there is something wrong with it.

    expected: the fingerprint that it must have, or a part of it; None: any.
    """
    with _opened(path) as fd:
        return _checked(fd, expected)


@contextmanager
def _opened(path: str) -> Iterator[int]:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            yield fd
        finally:
            os.close(fd)
    except OSError as e:
        raise CacheUnusable(e.strerror) from e


def made_from(path: str) -> dict[str, Any]:
    """What a cache was made from; its batches are not checked. CacheUnusable as above."""
    with _opened(path) as fd:
        return _index_of(fd).made_from


def _checked(fd: int, expected: dict[str, Any] | None) -> CacheReader:
    index = _index_of(fd)
    if expected is not None:  # before the bytes: this is quick
        _compare(index.made_from, expected)
    reader = CacheReader(fd, index)
    reader.check()
    return reader


def _index_of(fd: int) -> CacheIndex:
    info = os.fstat(fd)
    if not stat.S_ISREG(info.st_mode):
        raise CacheUnusable(os.strerror(errno.EISDIR) if stat.S_ISDIR(info.st_mode) else "it is not a regular file")
    if info.st_size == 0:
        raise CacheUnusable("it is empty")
    magic = os.pread(fd, len(MAGIC), 0)
    if magic[:-2] != MAGIC[:-2]:
        raise CacheUnusable("it is not a cache of vwlite")
    if magic != MAGIC:
        raise CacheUnusable("its format has another version")
    return _index(fd, info.st_size)


def _index(fd: int, size: int) -> CacheIndex:
    if size < len(MAGIC) + TRAILER.size:
        raise CacheUnusable("it is truncated")
    trailer = bytearray(TRAILER.size)
    _fill(memoryview(trailer), fd, size - TRAILER.size)
    place, length, sum_of_it, end = TRAILER.unpack(trailer)
    if end != END or place + length != size - TRAILER.size:
        raise CacheUnusable("it is truncated or damaged")
    text = bytearray(length)
    _fill(memoryview(text), fd, place)
    if checksum(text) != sum_of_it:
        raise CacheUnusable("it is damaged")
    try:
        content = json.loads(text)
        index = CacheIndex(
            _dict(content["made from"]), _count(content["skipped"]),
            [_text(name) for name in _list(content["classes"])], list(_entries(content["batches"], place)),
            [_logged(*entry) for entry in _list(content.get("log", []))],
            [_text(key) for key in _list(content.get("keys", []))],
        )
    except (KeyError, TypeError, ValueError, RecursionError) as e:  # the checksum is right: not our index
        raise CacheUnusable("its format has another version") from e
    return index


def _entries(found: Any, end: int) -> Iterator[BatchEntry]:
    """The batches of an index, which are one after the other, up to the place of the index. ValueError if not."""
    at = len(MAGIC)
    for place, size, sum_of_it, source, first_line, *more in _list(found):
        gap = -at % ALIGNMENT
        if len(more) > 1 or _count(place) != at + gap or place + _count(size) > end:
            raise ValueError(f"no batch can be at {place}")
        breaks = [(_count(line), _count(count)) for line, count in _list(more[0])] if more else []
        yield BatchEntry(place, size, _count(sum_of_it), _text(source), _count(first_line), gap, breaks)
        at = place + size
    if at != end:
        raise ValueError(f"there is something between {at} and {end}")


# What an index holds, or ValueError.


def _dict(x: Any) -> dict[str, Any]:
    if not isinstance(x, dict):
        raise ValueError(f"{x!r} is not an object")
    return x


def _list(x: Any) -> list[Any]:
    if not isinstance(x, list):
        raise ValueError(f"{x!r} is not a list")
    return x


def _count(x: Any) -> int:
    if type(x) is not int or not 0 <= x < 1 << 64:
        raise ValueError(f"{x!r} is not a count")
    return x


def _logged(space: Any, hash: Any, size: Any, name: Any) -> NameOfLog:
    """A name of a column, or of a word of it."""
    found = _count(space), _count(hash), _count(size), os.fsencode(_text(name))
    if found[2] > len(found[3]):
        raise ValueError(f"{name!r} is no name of a column")
    return found


def _text(x: Any) -> str:
    """A text that came from bytes."""
    if not isinstance(x, str):
        raise ValueError(f"{x!r} is not a text")
    os.fsencode(x)
    return x


def _labels(index: CacheIndex) -> tuple[str | None, int]:
    """What the labels of `vwlite train` may be: their domain (None: anything), and how many classes there may be."""
    options = index.made_from.get("options")
    if index.made_from.get("command") != "train" or not isinstance(options, dict):
        return None, 0
    domain, classes = options.get("label_domain"), options.get("number of classes", 0)
    if options.get("choice of classes") == "auto":
        classes = len(index.classes)
    sound = type(classes) is int and 0 <= classes < 1 << 32
    return (domain if isinstance(domain, str) else "any"), (classes if sound else 0)


def _compare(found: dict[str, Any], expected: dict[str, Any]) -> None:
    expected = json.loads(json.dumps(expected))  # tuples become lists
    if found.get("command") != expected["command"]:
        raise CacheUnusable(f"it was not made by vwlite {expected['command']}")
    if found.get("program") != expected["program"]:
        raise CacheUnusable(f"it was made by vwlite {_shown(found.get('program'))}")
    if found.get("byte order") != expected["byte order"]:
        raise CacheUnusable("it was made on another kind of machine")
    if "options" in expected:
        _compare_options(found.get("options"), expected["options"])
    if "sources" in expected:
        _compare_sources(found.get("sources"), expected["sources"])


def _compare_options(old: Any, new: dict[str, Any]) -> None:
    if not isinstance(old, dict):
        raise CacheUnusable("it was made with other options")
    for name in sorted(set(old) | set(new)):
        if old.get(name) != new.get(name):
            raise CacheUnusable(f"it was made with another {_shown(name.replace('_', ' '))}")


def _compare_sources(found: Any, expected: list[dict[str, Any]]) -> None:
    if not _are_dicts(found) or len(found) != len(expected):
        raise CacheUnusable("it was made from other files")
    for was, now in zip(found, expected, strict=True):
        if was.get("name") != now["name"]:
            raise CacheUnusable(f"it was made from {_shown(was.get('name'))}, not from {now['name']}")
        if was != now:
            raise CacheUnusable(f"{now['name']} has changed since it was made")


def _are_dicts(x: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(x, list) and all(isinstance(item, dict) for item in x)


def _shown(x: Any) -> str:
    """A text of a cache as it is shown in a message: it is not trusted."""
    return "".join(c if c.isprintable() else "?" for c in x[:100]) if isinstance(x, str) else "?"
