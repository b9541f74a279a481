"""From files and standard input to blocks of whole lines.

Any mix of plain and compressed files; compression is detected by magic bytes, never by the name. A
partial last line is carried over to the next block. From a pipe, the complete lines are
delivered as soon as the input pauses.
"""

import errno
import os
import select
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from vwlite.core.text.lines import count_lines
from vwlite.errors import DataError, NoInputError
from vwlite.input.sources import UnreadableInput, display_name, status_of, unreadable_error, why_no_data

BLOCK_SIZE = 1 << 20
MAX_LINE = 64 << 20
FRONT = 64 << 10  # free bytes before the data, for the beginning of the first line
POLL = 0.1  # seconds between two checks of `stop` while a pipe has no data
GZIP, BZIP2, XZ, ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
ZSTD_SKIPPABLE = tuple(bytes([0x50 + i, 0x2A, 0x4D, 0x18]) for i in range(16))
UNSUPPORTED = {
    b"PK\x03\x04": "zip",
    b"\x04\x22\x4d\x18": "lz4",
    b"\x1f\x9d": "compress",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"\xff\x06\x00\x00sNaPpY": "snappy",
    b"LZIP": "lzip",
}
LONGEST_MAGIC = 10
Tap = Callable[[str, Any], None]  # gets the name of a source and its next bytes, as they are stored


class Pool:
    """A pool of buffers: new memory costs more than reading a file into it."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._free: list[bytearray] = []

    def take(self) -> bytearray:
        return self._free.pop() if self._free else bytearray(self._size)

    def give_back(self, buffer: bytes | bytearray) -> None:
        if isinstance(buffer, bytearray):
            self._free.append(buffer)


# Plain classes: a data class is slow to define, and a record slow to create.
class Piece:
    """Some bytes of a source: buffer[begin:end]. If the buffer is of a pool, the bytes before them are free."""

    __slots__ = ("begin", "buffer", "end", "pool")

    def __init__(self, buffer: bytes | bytearray, begin: int, end: int, pool: Pool | None = None) -> None:
        self.buffer, self.begin, self.end, self.pool = buffer, begin, end, pool

    def view(self, begin: int, end: int) -> memoryview:
        return memoryview(self.buffer)[begin:end]


class Block:
    """Whole lines of one source; the last line of a source may lack its newline."""

    __slots__ = ("data", "done", "first_line", "owner", "source", "source_index", "total")

    def __init__(
        self, data: bytes | memoryview, source: str, source_index: int, first_line: int, done: int = 0,
        total: int | None = None, owner: Piece | None = None,
    ) -> None:
        """first_line: from 1. done: bytes of all sources read so far, as they are stored. total: bytes of all sources;
        None if one of them is a stream. owner: the buffer under `data`, if it may be reused."""
        self.data, self.source, self.source_index, self.first_line = data, source, source_index, first_line
        self.done, self.total, self.owner = done, total, owner

    def with_data(self, data: bytes, first_line: int) -> "Block":
        """Other lines of the source."""
        return Block(data, self.source, self.source_index, first_line, self.done, self.total)

    def release(self) -> None:
        """Return the buffer: the data is no longer needed."""
        self.data = b""
        if self.owner and self.owner.pool:
            self.owner.pool.give_back(self.owner.buffer)
        self.owner = None


def check_file(path: str) -> None:
    """NoInputError for a path that is neither a file nor an open pipe, as in `-m <(zcat FILE)`: opening a named pipe
    would wait for its writer, and reading a device may never end."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return  # opening it raises the error
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or (stat.S_ISFIFO(mode) and path.startswith(("/dev/", "/proc/"))):
        return
    kind = "a named pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    raise NoInputError(f"{path}: {kind}, not a file: copy its content to a file first")


def total_size(sources: Sequence[str]) -> int | None:
    """Bytes of all sources; None if one of them is not a regular file."""
    total = 0
    for source in sources:
        info = status_of(source)
        if not stat.S_ISREG(info.st_mode):
            return None
        total += info.st_size
    return total


def read_blocks(
    sources: Sequence[str],
    *,
    block_size: int = BLOCK_SIZE,
    max_line: int = MAX_LINE,
    skip_faults: bool = False,
    stop: Callable[[], bool] = lambda: False,
    tap: Tap | None = None,
) -> Iterator[Block | UnreadableInput]:
    """The blocks of the sources, in order; no sources, or `-`, is standard input.

    A fault raises DataError; with skip_faults it is one of the items, and reading continues after the endless line, or
    with the next source. If `stop` returns true, the stream ends between two reads. tap: gets the bytes that are read.
    """
    sources = list(sources) or ["-"]
    total = total_size(sources)
    pool = Pool(FRONT + block_size)
    done = 0
    for index, source in enumerate(sources):
        file = _File(source, block_size, pool, stop)
        file.tap = tap
        try:
            for item in _lines(file, index, block_size, max_line):
                if isinstance(item, UnreadableInput):
                    if not skip_faults:
                        raise DataError(item.message, item.source, item.line, 1)
                else:
                    item.done, item.total = done + file.done, total
                yield item
        finally:
            done += file.done
            file.close()


def _lines(file: "_File", index: int, block_size: int, max_line: int) -> Iterator[Block | UnreadableInput]:
    """Cut the bytes of one source at line ends."""
    whole: list[bytes | memoryview] = []  # lines that are complete
    last: Piece | None = None  # the last item of these is the end of this one's buffer
    partial: list[bytes] = []  # the incomplete line after them
    size = length = 0  # of these two
    line = 1  # number of the first of them
    overlong = False  # inside of a line that is too long, whose bytes are dropped

    def take() -> Block:
        nonlocal size, line, last
        owner, front = last, size - len(whole[-1])
        data: bytes | memoryview
        if owner and owner.pool and front <= owner.begin:
            # The bytes before it are placed in the free space before the rest.
            end = owner.begin + len(whole[-1])
            owner.buffer[owner.begin - front : owner.begin] = b"".join(whole[:-1])  # type: ignore[index]
            data = owner.view(owner.begin - front, end)
        else:
            data = b"".join(whole)
            if owner and owner.pool:
                owner.pool.give_back(owner.buffer)
            owner = None
        block = Block(data, file.name, index, line, owner=owner)
        whole.clear()
        size, last = 0, None
        line += count_lines(block.data)
        return block

    for piece in _at_most(min(block_size, max_line), file):
        buffer, begin = piece.buffer, piece.begin
        if begin == piece.end:
            if whole:
                yield take()
            continue
        first = buffer.find(b"\n", begin, piece.end)
        if not overlong and length + (first if first >= 0 else piece.end) - begin > max_line:
            if whole:
                yield take()
            yield UnreadableInput(f"line is longer than {_shown_size(max_line)}", file.name, line)
            partial, length, overlong = [], 0, True
        if overlong:
            if first < 0:
                continue
            piece.begin = begin = first + 1
            overlong = False
            line += 1
        end = buffer.rfind(b"\n", begin, piece.end) + 1
        if end:
            whole += partial
            whole.append(piece.view(begin, end))
            last = piece
            size += length + end - begin
            partial, length = [], 0
        if max(begin, end) < piece.end:
            partial.append(bytes(piece.view(max(begin, end), piece.end)))
            length += len(partial[-1])
        if whole and size + length >= block_size:
            yield take()
    if not file.fault and not file.stopped and partial:  # else the last line may be cut off
        whole += partial
        size, last = size + length, None
    if whole:
        yield take()
    if file.fault:
        after = f" (after line {line - 1})" if line > 1 else ""
        yield UnreadableInput(file.fault + after, file.name, line)


def _at_most(size: int, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces, split if they are longer than a block, so that a line that is too long is never in one piece."""
    for piece in pieces:
        if piece.end - piece.begin <= size:
            yield piece
        else:
            for begin in range(piece.begin, piece.end, size):
                yield Piece(piece.buffer, begin, min(begin + size, piece.end))


def _shown_size(size: int) -> str:
    return f"{size >> 20} MiB" if size >> 20 else f"{size} bytes"


def opened(source: str) -> int:
    """The file descriptor of a source; 0 for standard input. NoInputError."""
    mode = status_of(source).st_mode
    if stat.S_ISDIR(mode):
        raise unreadable_error(source, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    # A named pipe without a writer must not block here, where nothing looks at signals. (Elsewhere than on Linux it
    # would seem to be at its end.)
    waits = os.O_NONBLOCK if stat.S_ISFIFO(mode) and sys.platform == "linux" else 0
    try:
        fd = 0 if source == "-" else os.open(source, os.O_RDONLY | os.O_CLOEXEC | waits)
    except OSError as e:
        raise NoInputError(f"{source}: {e.strerror}") from e
    if waits and fd:
        os.set_blocking(fd, True)
    return fd


class _File:
    """The decompressed bytes of one source, in pieces; an empty piece says that the input pauses.

    `fault`: why they ended early, or nothing.
    """

    tap: Tap | None = None

    def __init__(self, source: str, block_size: int, pool: Pool, stop: Callable[[], bool]) -> None:
        self.name = display_name(source)
        self.fault = ""
        self.stopped = False  # whether `stop` ended it
        self.done = 0  # bytes read, as stored
        self._size = block_size
        self._stop = stop
        self._fd = opened(source)
        mode = os.fstat(self._fd).st_mode
        self._waits = not stat.S_ISREG(mode)
        # The size of a plain file, and the bytes of it that are to be read (standard input may be half read).
        self._whole = 0 if self._waits else os.fstat(self._fd).st_size
        self._expected = 0 if self._waits else self._whole - os.lseek(self._fd, 0, os.SEEK_CUR)
        self._pool = pool  # of buffers of FRONT + block_size

    def close(self) -> None:
        if self._fd:
            with suppress(OSError):  # the data is read already
                os.close(self._fd)

    def _pause(self) -> Iterator[Piece]:
        """An empty piece, if the next read would wait."""
        if self._waits and not select.select([self._fd], [], [], 0)[0]:
            yield Piece(b"", 0, 0)

    def __iter__(self) -> Iterator[Piece]:
        head = b""
        while len(head) < LONGEST_MAGIC and (more := self._read()):
            head += more
            if not _may_be_magic(head):
                break
        name = next((name for magic, name in UNSUPPORTED.items() if head.startswith(magic)), None)
        if why := why_no_data(head, self.name):
            self.fault = why
        elif name:
            self.fault = f"compressed with {name}, which is not supported: decompress it first"
        elif head.startswith((GZIP, BZIP2, XZ, ZSTD, *ZSTD_SKIPPABLE)):
            yield from self._decompressed(head)
        elif self._waits:
            while head:
                yield Piece(head, 0, len(head))
                yield from self._pause()
                head = self._read()
        else:
            yield Piece(head, 0, len(head))
            while True:
                piece = Piece(self._pool.take(), FRONT, FRONT, self._pool)
                piece.end += self._read_into(piece.view(FRONT, FRONT + self._size))
                if piece.end == FRONT:
                    self._pool.give_back(piece.buffer)
                    break
                yield piece
        self._check_size()

    def _check_size(self) -> None:
        """A fault if the file is shorter at its end than when it was opened.

        It must have become shorter: files in /proc and /sys always have less content than their size.
        """
        missing = self._expected - self.done
        if missing > 0 and not self.stopped and not self.fault and os.fstat(self._fd).st_size < self._whole:
            self.fault = f"the file has become shorter while it was read: {missing} bytes of it are missing"

    def _read(self) -> bytes:
        """The next stored bytes; nothing at the end, or after `stop`."""
        while self._waits and not select.select([self._fd], [], [], POLL)[0]:
            if self._stop():
                break
        with self._readable() as readable:
            data = os.read(self._fd, self._size) if readable else b""
            self.done += len(data)
        if self.tap is not None:
            self.tap(self.name, data)
        return data

    def _read_into(self, space: memoryview) -> int:
        """The number of bytes read; 0 at the end, or after `stop`."""
        with self._readable() as readable:
            size = os.readv(self._fd, [space]) if readable else 0
            self.done += size
        if self.tap is not None:
            self.tap(self.name, space[:size])
        return size

    @contextmanager
    def _readable(self) -> Iterator[bool]:
        """Whether to continue reading, and the message if that fails."""
        self.stopped = self._stop()
        try:
            yield not self.stopped
        except OSError as e:
            raise NoInputError(str(e.strerror), self.name) from e

    def _decompressed(self, head: bytes) -> Iterator[Piece]:
        """The content of concatenated compressed members."""
        data = head
        while data:
            kind, decompressor = self._decompressor(data)
            if decompressor is None:
                self.fault = f"damaged: bytes after the end of the {kind} data"
                return
            while not decompressor.eof:
                try:
                    for content in _pieces(kind, decompressor, data):
                        yield Piece(content, 0, len(content))
                except Exception as e:  # each library has its own errors
                    if isinstance(e, MemoryError | GeneratorExit):
                        raise
                    self.fault = f"the {kind} data is damaged ({e})"
                    return
                if decompressor.eof:
                    break
                yield from self._pause()
                data = self._read()
                if not data:
                    if not self.stopped:
                        self.fault = f"the {kind} data ends early: the file is incomplete"
                    return
            data = decompressor.unused_data
            self._kind = kind
            # The next member may be cut up by the reads; padding of zeros may come before it or at the end.
            while True:
                data = data.lstrip(b"\0")
                if len(data) >= LONGEST_MAGIC:
                    break
                yield from self._pause()
                more = self._read()
                if not more:
                    break
                data += more

    _kind = ""

    def _decompressor(self, data: bytes) -> tuple[str, Any]:
        # Not at the top: most runs read plain text.
        if data.startswith(GZIP):
            import zlib

            return "gzip", zlib.decompressobj(wbits=31)
        if data.startswith(BZIP2):
            import bz2

            return "bzip2", bz2.BZ2Decompressor()
        if data.startswith(XZ):
            import lzma

            return "xz", lzma.LZMADecompressor()
        if data.startswith((ZSTD, *ZSTD_SKIPPABLE)):
            return "zstd", self._zstd()
        return self._kind, None

    def _zstd(self) -> Any:
        try:
            from compression import zstd  # type: ignore[import-not-found,unused-ignore]  # Python 3.14

            return zstd.ZstdDecompressor()
        except ImportError:
            pass
        try:
            import zstandard
        except ImportError:
            raise DataError(
                "compressed with zstd: pip install 'vwlite[zstd]', or decompress it first", self.name, 1, 1
            ) from None
        return _Zstandard(zstandard.ZstdDecompressor().decompressobj())


class _Zstandard:
    """A decompressor of the package zstandard with the interface of those in the standard library."""

    STEP = 512  # compressed bytes at a time: it makes up to 32 KiB of each, without a limit

    def __init__(self, decompressor: Any) -> None:
        self._decompressor = decompressor
        self._rest = memoryview(b"")
        self.unused_data = b""

    @property
    def eof(self) -> bool:
        return bool(self._decompressor.eof)

    @property
    def needs_input(self) -> bool:
        return not self._rest

    def decompress(self, data: bytes, size: int) -> bytes:
        """About `size` bytes of content, perhaps more. data: only if it needs input."""
        rest = memoryview(data) if data else self._rest
        pieces = []
        while rest and size > 0 and not self.eof:
            piece = self._decompressor.decompress(rest[: self.STEP])
            pieces.append(piece)
            size -= len(piece)
            rest = rest[self.STEP :]
        self._rest = rest
        if self.eof:
            self.unused_data = self._decompressor.unused_data + bytes(rest)
        return b"".join(pieces)


def _pieces(kind: str, decompressor: Any, data: bytes) -> Iterator[bytes]:
    """The content of compressed bytes, in pieces that are not much larger than a block."""
    while True:
        piece = decompressor.decompress(data, BLOCK_SIZE)
        if piece:
            yield piece
        if decompressor.eof:
            return
        if kind == "gzip":
            data = decompressor.unconsumed_tail
            if not data and len(piece) < BLOCK_SIZE:
                return
        else:
            data = b""
            if decompressor.needs_input:
                return


def _may_be_magic(head: bytes) -> bool:
    """Whether these bytes may be a part of the first bytes of a compressed file."""
    magics = (GZIP, BZIP2, XZ, ZSTD, *ZSTD_SKIPPABLE, *UNSUPPORTED)
    return any(magic.startswith(head) for magic in magics)
