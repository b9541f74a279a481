"""From files to batches: reading and parsing run in threads of their own, ahead of learning.

They hold a few batches at most; the consumer gets them in stream order, so the result is bit for bit that
of one thread.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from vwlite.complaints import BadLine
from vwlite.core.batch import Batch
from vwlite.core.parser import Parser, detect
from vwlite.errors import DataError
from vwlite.reader import Block, Fault, read_blocks

AHEAD = 4  # batches that wait for the learner at most
S = TypeVar("S")
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


@dataclass
class Task:
    """A block and the format of its lines; or what is wrong with the input there."""

    block: Block | Fault
    format: str = ""


def tasks(sources: Sequence[str], options: ParseOptions, stop: Callable[[], bool]) -> Iterator[Task]:
    """The blocks of the sources in order, with the format of each source found out.

    DataError if a source is of neither format.
    """
    format, source = options.format, -1
    for block in read_blocks(sources, skip_faults=options.skip, stop=stop):
        if isinstance(block, Fault):
            yield Task(block)
            continue
        if options.format == "auto" and block.source_index != source:
            format, source = _detected(block), block.source_index
        yield Task(block, format)


def _detected(block: Block) -> str:
    found: str | None = detect(block.data)
    if found is None:
        line = bytes(block.data[:200]).split(b"\n")[0]
        raise DataError(
            f"{block.source}:{block.first_line}:1: neither VW text (label |namespace feature ...) nor "
            f"libsvm (label index:value ...); --format says which: {_shown(line)}"
        )
    return found


class Parsing:
    """Parses blocks, with a parser for each format. For one thread."""

    def __init__(self, options: ParseOptions, pool: "Pool") -> None:
        self.options = options
        self._pool = pool
        self._parsers: dict[str, Parser] = {}

    def __call__(self, task: Task) -> "Parsed":
        """The batch of a block."""
        block, batch = task.block, self._pool.take()
        if isinstance(block, Fault):
            return Parsed(batch, [Bad(block.source, block.line, 1, block.message)])
        batch.source, batch.first_line = block.source, block.first_line
        parser = self._parser(task.format)
        bad = []
        if parser.parse(block.data, batch):
            bad = [self._bad(block, fault) for fault in parser.faults(block.data, batch)]
        return Parsed(batch, bad, block.done, block.total)

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


@contextmanager
def parsed_batches(
    sources: Sequence[str],
    options: ParseOptions,
    *,
    pool: Pool,
    stop: Callable[[], bool] = lambda: False,
    threads: int = 1,
) -> Iterator[Iterator[Parsed]]:
    """The batches of the sources, in order. All threads but one parse, ahead of the consumer.

    Batches go back to the pool when they are done with. With options.skip False the first bad line ends the
    stream, as the last thing in the last item. Leaving the context ends the threads.
    """
    if threads == 1:
        parse = Parsing(options, pool)
        yield _to_the_first_bad(map(parse, tasks(sources, options, stop)), options.skip)
        return
    closing = threading.Event()
    source = tasks(sources, options, lambda: closing.is_set() or stop())
    ahead = Ahead(source, lambda: Parsing(options, pool), threads - 1)
    try:
        yield _to_the_first_bad(iter(ahead), options.skip)
    finally:
        closing.set()
        ahead.close()


def _to_the_first_bad(items: Iterator[Parsed], skip: bool) -> Iterator[Parsed]:
    for item in items:
        yield item
        if item.bad and not skip:
            return


class Ahead(Generic[S, T]):
    """Maps a function over an iterator in threads, a few items ahead of the consumer, in order.

    make: a function for each thread. An exception is raised in the consumer, in its place in the stream.
    """

    def __init__(self, source: Iterator[S], make: Callable[[], Callable[[S], T]], threads: int) -> None:
        self._source = source
        self._reading = threading.Lock()  # one thread at a time asks the source
        self._change = threading.Condition()
        self._done: dict[int, T | _Raised] = {}  # by number in the stream
        self._taken = 0  # items that came from the source
        self._wanted = 0  # the next that the consumer gets
        self._end: int | None = None  # how many there are, once that is known
        self._closed = False
        self._most = AHEAD + threads
        self._threads = [
            threading.Thread(target=self._run, args=(make(),), name=f"parser {i}", daemon=True) for i in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def _run(self, work: Callable[[S], T]) -> None:
        while True:
            with self._reading:
                with self._change:
                    while self._taken - self._wanted >= self._most and not self._closed:
                        self._change.wait()
                    if self._closed or self._end is not None:
                        return
                    number = self._taken
                try:
                    item = next(self._source)
                except StopIteration:
                    self._deliver(number, None, end=number)
                    return
                except BaseException as error:
                    self._deliver(number, _Raised(error), end=number + 1)
                    return
                self._taken += 1
            try:
                result: T | _Raised = work(item)
            except BaseException as error:
                result = _Raised(error)
            self._deliver(number, result)

    def _deliver(self, number: int, result: "T | _Raised | None", end: int | None = None) -> None:
        with self._change:
            if result is not None:
                self._done[number] = result
            if end is not None:
                self._end = end
            self._change.notify_all()

    def __iter__(self) -> Iterator[T]:
        while True:
            with self._change:
                while self._wanted not in self._done and self._wanted != self._end:
                    self._change.wait()
                if self._wanted == self._end:
                    return
                result = self._done.pop(self._wanted)
                self._wanted += 1
                self._change.notify_all()
            if isinstance(result, _Raised):
                raise result.error
            yield result

    def close(self) -> None:
        """End the threads; what they have not delivered is lost."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        for thread in self._threads:
            thread.join()


@dataclass
class _Raised:
    """An exception in the place of a result."""

    error: BaseException
