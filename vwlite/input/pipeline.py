"""From files to batches: reading and parsing run in threads of their own, ahead of learning.

They hold a few batches at most; the consumer gets them in stream order, so the result is bit for bit that
of one thread. When the consumer would have to wait, it parses a block itself: so all threads are busy,
whatever the ratio of the costs of parsing and learning.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from vwlite.core.data.batch import Batch
from vwlite.core.text.parser import detect
from vwlite.errors import DataError, UsageError
from vwlite.input.diagnostics import BadLine
from vwlite.input.formats import (
    ARROW_FILE,
    BINARY,
    FORMATS,
    JSON_LINES,
    LABELLED,
    by_begin,
    by_magic,
    by_name,
    first_line,
    imported,
)
from vwlite.input.parsing import LineParsing, Parsed, ParseOptions, SourceBlocks, Task, Tasks
from vwlite.input.reader import Block, read_blocks, total_size
from vwlite.input.sources import UnreadableInput, is_read_once
from vwlite.patterns import pattern

if TYPE_CHECKING:
    from vwlite.input.part import Part
    from vwlite.input.tables import TableReader

FIRST = 1000  # bytes in which a JSON array begins
_JSON_ARRAY = pattern(rb"(?:\xef\xbb\xbf)?\s*\[\s*[{\]]")
AHEAD = 4  # the most batches that wait for the learner


def tasks(sources: Sequence[str], options: ParseOptions, stop: Callable[[], bool]) -> Tasks:
    """The blocks of the sources in order, after the format of each source is detected.

    DataError if a source has no known format.
    """
    names = sources or ["-"]
    binary = [_binary_format(source, options.format) for source in names]
    if not any(binary):
        yield from _text_tasks(sources, options, stop)
        return
    if options.only_text:
        which, kind = next((source, kind) for source, kind in zip(names, binary, strict=True) if kind)
        raise UsageError(f"{which}: --holdout-to writes lines, and {kind.capitalize()} has none: convert it "
                         "with vwlite convert")
    for i, (source, format) in enumerate(zip(names, binary, strict=True)):
        if format is None:
            yield from _text_tasks([source], options, stop)
        else:
            rows_of = imported(FORMATS[format].parsing).rows_of
            yield from rows_of(source, format, i, options.columns(), stop, whole=options.whole_rows, part=options.part)


def _binary_format(source: str, format: str) -> str | None:
    """The format of a binary file; None: it is text."""
    if format in BINARY:
        return format
    if format != "auto" or source == "-" or not os.path.isfile(source):
        return None
    try:
        with open(source, "rb") as f:
            return by_magic(f.read(8))
    except OSError:
        return None  # reading it raises the error


def _text_tasks(sources: Sequence[str], options: ParseOptions, stop: Callable[[], bool]) -> Tasks:
    """`tasks` for sources of text."""
    source, blocks = -1, SourceBlocks("vw")
    found = read_blocks(sources, skip_faults=options.skip, stop=stop, tap=options.tap)
    for block in found if options.part is None else options.part.blocks(found):
        if isinstance(block, UnreadableInput):
            yield block
            continue
        if block.source_index != source:
            # What is blank tells nothing yet: from a pipe, it may come long before the first line.
            if not bytes(block.data).strip():
                yield Task(block)
                continue
            yield from blocks.end()
            source, format = block.source_index, format_of(block, options)
            blocks = options.blocks_of(format, block.source)
        yield from blocks.feed(block)
    if not stop():
        yield from blocks.end()


def decide_roles(
    sources: Sequence[str], format: str, table: "TableReader | None", part: "Part | None" = None,
    stop: Callable[[], bool] = lambda: False, *, only_text: bool = False,
) -> None:
    """Set the schema of a table if these files are one, in a first reading: of delimited text and binary formats up to
    the first rows that have a value in each column, of JSON lines to the end. part: of the rows, that is read alone.
    only_text: as in ParseOptions."""
    if table is None or table.as_rows or not table.is_undecided:
        return
    with table.first_reading():
        for source in sources:
            how = ParseOptions(format=format, table=table, skip=True, part=part, only_text=only_text)
            for task in tasks([source], how, stop):
                if isinstance(task, UnreadableInput):
                    continue
                if FORMATS[task.format].parsing == JSON_LINES:
                    table.look_at(task.context, task.block.data)
                task.block.release()
                if not FORMATS[task.format].is_table or task.format in BINARY or not table.is_undecided:
                    break
            if not table.is_undecided:
                break


def format_of(block: Block, options: ParseOptions) -> str:
    """The format of the text of a source. DataError if it is unknown."""
    if options.format in ("auto", "jsonl") and _JSON_ARRAY.match(bytes(block.data[:FIRST])):
        raise DataError(
            "a JSON array, not JSON lines: write each object of it on a line of its own, as with `jq -c '.[]' FILE`",
            block.source, 1, 1,
        )
    if options.format != "auto":
        return options.format
    kind = by_magic(bytes(block.data[:8]))
    if kind:
        is_stream = kind == "arrow" and not bytes(block.data[:8]).startswith(ARROW_FILE)
        raise DataError(
            f"{kind.capitalize()} in a compressed file or from standard input: decompress it, and give the name of the "
            "file" + "; --format arrow reads a stream" * is_stream, block.source, 1, 1,
        )
    known: str | None = None
    if options.table is not None and options.table.expected:
        known = options.table.format_of(block.source, block.data)
    line = first_line(block.data)
    copied = options.table is not None and options.table.as_rows
    if known is None and by_name(block.source) is None and LABELLED.match(line) and not copied:
        why = f"lines of fastText, which need --format fasttext: {_shown(line)}"
        raise DataError(why, block.source, block.first_line, 1)
    known = known or detect(block.data) or by_name(block.source) or by_begin(line)
    if known is None:
        table = f" (the model {options.model} is not for tables)" if options.model else ", or --label NAME for a table"
        raise DataError(
            f"neither VW text (label |namespace feature ...) nor libsvm (label index:value ...); give --format{table}: "
            f"{_shown(line)}", block.source, block.first_line, 1,
        )
    return known


def is_fasttext(sources: Sequence[str], format: str) -> bool:
    """Whether the sources are lines of fastText: by --format, or by the first line of a file whose name tells none."""
    path = sources[0] if sources else "-"
    if format != "auto" or by_name(path) or not os.path.isfile(path):
        return format == "fasttext"
    block = next(read_blocks([path], skip_faults=True), None)
    return isinstance(block, Block) and LABELLED.match(first_line(block.data)) is not None


def _shown(line: bytes) -> str:
    text = ascii(line[:60].decode("utf-8", "backslashreplace"))
    return text + ("..." if len(line) > 60 else "")


class Parsing:
    """Parses blocks of any format. For one thread."""

    def __init__(self, options: ParseOptions, number: bool = False) -> None:
        self.options = options
        self._number = number
        self._formats: dict[str, LineParsing] = {}
        self._finder = options.finder() if options.finder else None

    def parse(self, task: Task | UnreadableInput, batch: Batch) -> Parsed:
        """Fill the batch with the lines of a block."""
        if isinstance(task, UnreadableInput):
            return Parsed(Batch(), [BadLine(task.source, task.line, 1, task.message)])
        block = task.block
        batch.source, batch.first_line, batch.breaks = block.source, block.first_line, ()
        if task.format not in self._formats:
            self._formats[task.format] = imported(FORMATS[task.format].parsing)(task.format, self.options)
        parsing = self._formats[task.format]
        parsed = parsing.parse(task, batch)
        if self._finder:
            parsed.names = self._finder.find(block.data, batch, convert=parsing.converter(task))
        block.release()
        if self.options.part is not None:
            self.options.part.place(batch)
            parsed.bad = [b._replace(line=self.options.line(b.source, b.line)) for b in parsed.bad]
        if self._number:
            batch.number_hashes()
        return parsed


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

    With options.skip False the first bad line ends the stream, as the last thing in the last item. DataError if options
    name keys that no line of JSON has. Leaving the context ends the threads. number: whether to number the distinct
    hashes of a batch, if they are few.
    """
    if options.table is not None and not options.table.was_read and not is_read_once(sources):
        decide_roles(sources, options.format, options.table, options.part, stop, only_text=options.only_text)
    if threads == 1:
        batch, parsing = Batch(), Parsing(options, number)
        items = (parsing.parse(task, batch) for task in tasks(sources, options, stop))
        yield _to_the_end(items, options.table, stop, skip=options.skip)
        return
    # A pipe may have no data for a long time: then the consumer must not wait for it.
    prompt = total_size(sources or ["-"]) is not None
    ahead = Ahead(
        lambda stop: tasks(sources, options, stop),
        lambda: Parsing(options, number),
        threads - 1,
        stop,
        helps=prompt,
        # Classes get their numbers as they appear.
        in_order=options.class_names is not None and options.class_names.grows,
    )
    try:
        yield _to_the_end(iter(ahead), options.table, stop, skip=options.skip)
    finally:
        ahead.close()


def _to_the_end(
    items: Iterator[Parsed], table: "TableReader | None", stop: Callable[[], bool], *, skip: bool
) -> Iterator[Parsed]:
    """The items up to the first bad line, unless these are skipped. DataError if all are read and options of columns do
    not fit them."""
    for item in items:
        yield item
        if item.bad and not skip:
            return
    if table is not None and not stop():
        table.check_awaited()
        table.note_kinds()


class Ahead:
    """Threads that parse ahead of the consumer, who gets the batches in stream order.

    A fixed number of batches is reused: a thread takes an empty one, fills it with the next block of the source and
    delivers it; the consumer returns it. An exception is raised in the consumer, at its place in the stream. helps:
    whether the consumer parses too, instead of waiting. in_order: parse one block after the other, because the meaning
    of a block may depend on those before it.
    """

    def __init__(
        self,
        source: Callable[[Callable[[], bool]], Tasks],
        parsing: Callable[[], Parsing],
        threads: int,
        stop: Callable[[], bool],
        helps: bool = False,
        in_order: bool = False,
    ) -> None:
        self._closing = False
        self._source = source(lambda: self._closing or stop())
        self._reading = threading.Lock()  # one thread at a time reads the source
        self._in_order = in_order  # and parses the block within the lock
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
        """Parse the next block and deliver it; returns whether more may follow."""
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

    def _parse(self, number: int, parsing: Parsing, task: Task | UnreadableInput, batch: Batch) -> None:
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
        early: dict[int, Parsed | BaseException | None] = {}  # items that were ready before their turn
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
        """End the threads, and drop the batches that were not delivered."""
        self._closing = True
        for _ in self._threads:
            self._empty.put(None)
        for thread in self._threads:
            thread.join()
