"""From files to batches: reading and parsing run in a thread of their own, ahead of learning.

The thread holds a few batches at most; the consumer gets them in stream order, so the result is bit
for bit that of one thread.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from vwlite.complaints import BadLine
from vwlite.core.batch import Batch
from vwlite.core.parser import Parser, detect
from vwlite.errors import DataError
from vwlite.reader import Block, Fault, read_blocks

AHEAD = 4  # batches that wait for the learner at most
T = TypeVar("T")


@dataclass(frozen=True)
class ParseOptions:
    """How text becomes examples; all of it shapes what a cache holds."""

    format: str = "auto"  # auto, vw, libsvm
    hash_all: bool = False
    labels: tuple[float, float] | None = None  # (negative, positive)
    label_domain: str = "any"  # any, binary, nonnegative
    loss_name: str = "squared"  # for messages
    lenient_labels: bool = False
    skip: bool = False  # go on after a bad line


@dataclass
class Bad:
    """A bad line: where it is, what is wrong, and the line itself."""

    source: str
    line: int
    column: int
    message: str
    text: bytes = b""

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}: {self.message}"


@dataclass
class Parsed:
    """A batch, and what was wrong with the text that it comes from."""

    batch: Batch
    bad: list[Bad] = field(default_factory=list)
    done: int = 0  # bytes of input read so far
    total: int | None = None  # bytes of all input, if known


class Parsing:
    """Parses blocks, with a parser for each format; finds out the format of each source."""

    def __init__(self, options: ParseOptions) -> None:
        self.options = options
        self._parsers: dict[str, Parser] = {}
        self._source: int | None = None
        self._format = options.format

    def parse(self, block: Block, batch: Batch) -> list[Bad]:
        """Fill the batch with the lines of a block; what is wrong with them.

        DataError if the source is of neither format.
        """
        if self.options.format == "auto" and block.source_index != self._source:
            self._format, self._source = self._detect(block), block.source_index
            if self._format == "auto":  # nothing but blank lines yet
                self._source = None
        parser = self._parser("vw" if self._format == "auto" else self._format)
        batch.source, batch.first_line = block.source, block.first_line
        if parser.parse(block.data, batch) == 0:
            return []
        return [self._bad(block, fault) for fault in parser.faults(block.data, batch)]

    def _detect(self, block: Block) -> str:
        found: str | None = detect(block.data)
        if found is None:
            line = bytes(block.data[:200]).split(b"\n")[0]
            raise DataError(
                f"{block.source}:{block.first_line}:1: neither VW text (label |namespace feature ...) nor "
                f"libsvm (label index:value ...); --format says which: {_shown(line)}"
            )
        return found

    def _parser(self, format: str) -> Parser:
        if format not in self._parsers:
            o = self.options
            self._parsers[format] = Parser(
                format=format, hash_all=o.hash_all, labels=o.labels, label_domain=o.label_domain,
                loss_name=o.loss_name, lenient_labels=o.lenient_labels, stop_at_fault=not o.skip,
            )  # fmt: skip
        return self._parsers[format]

    def _bad(self, block: Block, fault: BadLine) -> Bad:
        text = bytes(block.data[fault.line_begin : fault.line_end])
        return Bad(block.source, block.first_line + fault.line, fault.column, fault.message, text)


def _shown(line: bytes) -> str:
    text = ascii(line[:60].decode("utf-8", "backslashreplace"))
    return text + ("..." if len(line) > 60 else "")


class Pool:
    """Batches that can be filled again."""

    def __init__(self) -> None:
        self._free: deque[Batch] = deque()

    def take(self) -> Batch:
        return self._free.pop() if self._free else Batch()

    def give_back(self, batch: Batch) -> None:
        self._free.append(batch)


def parsed_batches(
    sources: Sequence[str],
    options: ParseOptions,
    *,
    pool: Pool,
    stop: Callable[[], bool],
    each: Callable[[Batch], None] | None = None,
) -> Iterator[Parsed]:
    """The batches of the sources, in order. `each` is called with every batch as soon as it is parsed.

    With options.skip False the first bad line ends the stream, as the last thing in the last item.
    """
    parsing = Parsing(options)
    for block in read_blocks(sources, skip_faults=options.skip, stop=stop):
        batch = pool.take()
        if isinstance(block, Fault):
            yield Parsed(batch, [Bad(block.source, block.line, 1, block.message)])
            continue
        bad = parsing.parse(block, batch)
        if each is not None:
            each(batch)
        yield Parsed(batch, bad, block.done, block.total)
        if bad and not options.skip:
            return


class Ahead(Generic[T]):
    """Runs an iterator in a thread, a few items ahead of its consumer.

    An exception in the thread is raised in the consumer, in its place in the stream. `close` ends the thread
    and waits for it.
    """

    def __init__(self, items: Iterator[T], ahead: int = AHEAD) -> None:
        self._items = items
        self._ready: deque[T] = deque()
        self._error: BaseException | None = None
        self._finished = self._closed = False
        self._limit = ahead
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="parser", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for item in self._items:
                with self._change:
                    while len(self._ready) >= self._limit and not self._closed:
                        self._change.wait()
                    if self._closed:
                        break
                    self._ready.append(item)
                    self._change.notify_all()
        except BaseException as error:
            self._error = error
        finally:
            with self._change:
                self._finished = True
                self._change.notify_all()

    def __iter__(self) -> Iterator[T]:
        while True:
            with self._change:
                while not self._ready and not self._finished:
                    self._change.wait()
                if not self._ready:
                    break
                item = self._ready.popleft()
                self._change.notify_all()
            yield item
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """End the thread; what it has not delivered is lost."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        self._thread.join()
