"""From files to batches: reading and parsing run in threads of their own, ahead of learning.

They hold a few batches at most; the consumer gets them in stream order, so the result is bit for bit that
of one thread. When the consumer would have to wait, it parses a block itself: so all threads are busy,
however much work a byte of text makes for either side.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from vwlite.core.data.batch import Batch
from vwlite.core.data.class_names import Names
from vwlite.core.text.parser import Parser, detect
from vwlite.errors import DataError
from vwlite.input.diagnostics import BadLine, bad_lines
from vwlite.input.reader import Block, Fault, read_blocks, total_size

AHEAD = 4  # batches that wait for the learner at most


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
    names: Names | None = None  # of classes, which labels are then


@dataclass
class Parsed:
    """A batch, and what was wrong with the text that it comes from."""

    batch: Batch
    bad: list[BadLine] = field(default_factory=list)
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
    format, source = "vw" if options.format == "auto" else options.format, -1
    for block in read_blocks(sources, skip_faults=options.skip, stop=stop):
        if isinstance(block, Fault):
            yield Task(block)
            continue
        # What is blank tells nothing yet: from a pipe, it may come long before the first line.
        if options.format == "auto" and block.source_index != source and bytes(block.data).strip():
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

    def __init__(self, options: ParseOptions, number: bool = False) -> None:
        self.options = options
        self._number = number
        self._parsers: dict[str, Parser] = {}

    def parse(self, task: Task, batch: Batch) -> Parsed:
        """Fill the batch with the lines of a block."""
        block = task.block
        if isinstance(block, Fault):
            return Parsed(Batch(), [BadLine(block.source, block.line, 1, block.message)])
        batch.source, batch.first_line = block.source, block.first_line
        parser = self._parser(task.format)
        bad = bad_lines(parser, block.data, batch) if parser.parse(block.data, batch) else []
        block.release()
        if self._number:
            batch.number_hashes()
        return Parsed(batch, bad, block.done, block.total)

    def _parser(self, format: str) -> Parser:
        if format not in self._parsers:
            o = self.options
            self._parsers[format] = Parser(
                format=format, hash_all=o.hash_all, labels=o.labels, label_domain=o.label_domain,
                names=o.names, loss_name=o.loss_name, lenient_labels=o.lenient_labels, stop_at_fault=not o.skip,
            )  # fmt: skip
        return self._parsers[format]


def _shown(line: bytes) -> str:
    text = ascii(line[:60].decode("utf-8", "backslashreplace"))
    return text + ("..." if len(line) > 60 else "")


@contextmanager
def parsed_batches(
    sources: Sequence[str],
    options: ParseOptions,
    *,
    stop: Callable[[], bool] = lambda: False,
    threads: int = 1,
    number: bool = False,
) -> Iterator[Iterator[Parsed]]:
    """The batches of the sources, in order; each is valid until the next. With more than one thread, all but the
    caller's parse ahead, and the caller's parses too when it would wait.

    With options.skip False the first bad line ends the stream, as the last thing in the last item. Leaving the
    context ends the threads. number: whether to number the distinct hashes of a batch, if they are few.
    """
    if threads == 1:
        batch, parsing = Batch(), Parsing(options, number)
        items = (parsing.parse(task, batch) for task in tasks(sources, options, stop))
        yield _to_the_first_bad(items, options.skip)
        return
    # A pipe may be silent for long: then the consumer must not be the one who waits for it.
    prompt = total_size(sources or ["-"]) is not None
    ahead = Ahead(
        lambda stop: tasks(sources, options, stop),
        lambda: Parsing(options, number),
        threads - 1,
        stop,
        helps=prompt,
        in_order=options.names is not None and options.names.grows,  # classes get their numbers as they appear
    )
    try:
        yield _to_the_first_bad(iter(ahead), options.skip)
    finally:
        ahead.close()


def _to_the_first_bad(items: Iterator[Parsed], skip: bool) -> Iterator[Parsed]:
    for item in items:
        yield item
        if item.bad and not skip:
            return


class Ahead:
    """Threads that parse ahead of the consumer, who gets the batches in stream order.

    A fixed number of batches goes round: a thread takes an empty one, fills it with the next block of the
    source and hands it on; the consumer puts it back. An exception is raised in the consumer, in its place in
    the stream. helps: whether the consumer parses too, instead of waiting. in_order: parse one block after the other,
    as what a block means may depend on those before it.
    """

    def __init__(
        self,
        source: Callable[[Callable[[], bool]], Iterator[Task]],
        parsing: Callable[[], Parsing],
        threads: int,
        stop: Callable[[], bool],
        helps: bool = False,
        in_order: bool = False,
    ) -> None:
        self._closing = False
        self._source = source(lambda: self._closing or stop())
        self._reading = threading.Lock()  # one thread at a time asks the source
        self._in_order = in_order  # and parses what it got
        self._taken = 0  # items that came from the source
        self._ended = False
        self._parsing = parsing() if helps else None  # the consumer's
        self._empty: SimpleQueue[Batch | None] = SimpleQueue()
        self._full: SimpleQueue[tuple[int, Parsed | BaseException | None]] = SimpleQueue()
        for _ in range(threads + AHEAD):
            self._empty.put(Batch())
        self._threads = [
            threading.Thread(target=self._run, args=(parsing(),), name=f"parser {i}", daemon=True)
            for i in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def _run(self, parsing: Parsing) -> None:
        while (batch := self._empty.get()) is not None and self._fill(parsing, batch):
            pass

    def _fill(self, parsing: Parsing, batch: Batch) -> bool:
        """Parse the next block and hand it on; whether more may follow."""
        with self._reading:
            if self._ended or self._closing:
                return False
            number = self._taken
            try:
                task = next(self._source, None)
            except BaseException as error:
                self._ended = True
                self._full.put((number, error))
                return False
            if task is None:
                self._ended = True
                self._full.put((number, None))
                return False
            self._taken += 1
            if self._in_order:
                self._parse(number, parsing, task, batch)
                return True
        self._parse(number, parsing, task, batch)
        return True

    def _parse(self, number: int, parsing: Parsing, task: Task, batch: Batch) -> None:
        try:
            self._full.put((number, parsing.parse(task, batch)))
        except BaseException as error:
            self._full.put((number, error))

    def _help(self) -> None:
        """Parse a block if none is ready and a batch is free."""
        if self._parsing and self._full.empty():
            try:
                batch = self._empty.get_nowait()
            except Empty:
                return
            if batch is not None and not self._fill(self._parsing, batch):
                self._parsing = None

    def __iter__(self) -> Iterator[Parsed]:
        early: dict[int, Parsed | BaseException | None] = {}  # what came before its turn
        number = 0
        while True:
            while number not in early:
                self._help()
                found, result = self._full.get()
                early[found] = result
            result = early.pop(number)
            number += 1
            if result is None:
                return
            if isinstance(result, BaseException):
                raise result
            yield result
            self._empty.put(result.batch)

    def close(self) -> None:
        """End the threads; what they have not delivered is lost."""
        self._closing = True
        for _ in self._threads:
            self._empty.put(None)
        for thread in self._threads:
            thread.join()
