"""From files to batches: reading and parsing run in threads of their own, ahead of learning.

They hold a few batches at most; the consumer gets them in stream order, so the result is bit for bit that
of one thread. When the consumer would have to wait, it parses a block itself: so all threads are busy,
whatever the ratio of the costs of parsing and learning.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from vwlite.core.data.batch import Batch
from vwlite.core.data.class_names import ClassNames
from vwlite.core.text.parser import Parser, detect
from vwlite.errors import DataError, UsageError
from vwlite.input.diagnostics import BadLine, bad_lines
from vwlite.input.formats import BINARY, FORMATS, by_begin, by_magic, by_name
from vwlite.input.reader import Block, UnreadableInput, read_blocks, total_size

if TYPE_CHECKING:
    from vwlite.core.text.feature_names import NameFinder
    from vwlite.input.arrow import ArrowParsing, ArrowRows
    from vwlite.input.tables import Layout, Records, TableReader

EXAMPLE, BLANK, REJECTED = 0, 1, 2  # kinds of lines, as in cython_ext/data/batch.pxd
MOST_LABELS = 3  # that are looked for, for advice about words
AHEAD = 4  # batches that wait for the learner at most


@dataclass(frozen=True)
class ParseOptions:
    """How text becomes examples; all of it shapes what a cache holds."""

    format: str = "auto"  # auto, vw, libsvm, csv, tsv, jsonl, parquet, arrow
    hash_all: bool = False
    labels: tuple[float, float] | tuple[str, str] | None = None  # (negative, positive)
    label_domain: str = "any"  # any, binary, nonnegative
    loss_name: str = "squared"  # for messages
    lenient_labels: bool = False
    skip: bool = False  # continue after a bad line
    spaces: bool = False  # batches have the hashes of namespaces
    names: ClassNames | None = None  # of classes, which labels are then
    table: "TableReader | None" = None  # the columns, if something says that the sources are tables
    finder: Callable[[], "NameFinder"] | None = None  # makes what looks for names of features, one for each thread
    keeps_text: bool = False  # batches come with the text that they were, if they were text
    only_text: bool = False  # files of a format without lines are refused
    model: str = ""  # the file of a model that predicts, and knows no columns


@dataclass(frozen=True)
class SourceText:
    """The text of a batch as it is in its source, without the header of a table, which is `header`."""

    text: bytes
    format: str
    delimiter: str = ""
    header: bytes = b""

    def lines_of(self, batch: Batch, rows: Sequence[int]) -> list[bytes]:
        """The text of rows of the batch, without line ends."""
        import numpy as np  # not at the top: few runs want lines back

        newlines = np.flatnonzero(np.frombuffer(self.text, dtype=np.uint8) == ord("\n"))
        begins = [0, *(newlines + 1).tolist(), len(self.text)]
        places = ((begins[batch.line_number(at) - batch.first_line] for at in (row, row + 1)) for row in rows)
        return [self.text[begin:end].rstrip(b"\r\n") for begin, end in places]


@dataclass
class Parsed:
    """A batch, and what was wrong with the text that it comes from."""

    batch: Batch
    bad: list[BadLine] = field(default_factory=list)
    done: int = 0  # bytes of input read so far
    total: int | None = None  # bytes of all input, if known
    text: bytes = b""  # the equivalent VW text, if required
    names: tuple[bytes, bytes, bytes] | None = None  # of features, for NameStore.take
    source: SourceText | None = None  # if required
    unfit: Sequence[str] = ()  # with lenient labels, those that the model cannot use: the first few different ones


@dataclass
class Task:
    """A block and the format of its lines; or what is wrong with the input there."""

    block: Block | UnreadableInput
    format: str = ""
    layout: "Layout | None" = None  # of a table
    rows: "ArrowRows | None" = None  # instead of text


def tasks(sources: Sequence[str], options: ParseOptions, stop: Callable[[], bool]) -> Iterator[Task]:
    """The blocks of the sources in order, with the format of each source found out.

    DataError if a source is of no format.
    """
    binary = {i: kind for i, source in enumerate(sources) if (kind := _binary_format(source, options.format))}
    if options.format in BINARY and not sources:
        sources, binary = ["-"], {0: options.format}
    if not binary:
        yield from _text_tasks(sources, options, stop)
        return
    if options.only_text:
        which, kind = next((sources[i], kind) for i, kind in binary.items())
        raise UsageError(f"{which}: --holdout-to writes lines, and {kind.capitalize()} has none: convert it "
                         "with vwlite convert")  # fmt: skip
    from vwlite.input import arrow, tables  # not at the top: few runs read tables

    if options.table is None:
        options = replace(options, table=tables.TableReader(needs_label=True, model=options.model))
    for i, source in enumerate(sources):
        if i not in binary:
            yield from _text_tasks([source], options, stop)
            continue
        assert options.table is not None
        for block, rows in arrow.rows_of(source, binary[i], i, options.table, stop):
            yield Task(block, binary[i], rows=rows)


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


def _text_tasks(sources: Sequence[str], options: ParseOptions, stop: Callable[[], bool]) -> Iterator[Task]:
    """`tasks` for sources of text."""
    format, source = "vw", -1
    records: Records | None = None  # of the source, if it is delimited text
    layout: Layout | None = None  # of its lines, if they are JSON
    table = options.table
    last: Block | None = None
    for block in read_blocks(sources, skip_faults=options.skip, stop=stop):
        if isinstance(block, UnreadableInput):
            yield Task(block)
            continue
        # What is blank tells nothing yet: from a pipe, it may come long before the first line.
        if block.source_index != source and bytes(block.data).strip():
            if records is not None:
                yield from _tasks_of(records.end(last))
            source = block.source_index
            format = _format(block, options)
            records = layout = None
            if FORMATS[format].is_table:
                from vwlite.input import tables  # not at the top: few runs read tables

                table = table or tables.TableReader(needs_label=True, model=options.model)
                if FORMATS[format].is_delimited:
                    records = tables.Records(block.source, FORMATS[format].delimiter, table)
                else:
                    layout = tables.json_layout(block.source, table)
        elif block.source_index != source:
            yield Task(block, "vw")
            continue
        if records is not None:
            last = replace(block, data=b"", owner=None)
            yield from _tasks_of(records.feed(block))
        else:
            yield Task(block, format, layout)
    if records is not None and not stop():
        yield from _tasks_of(records.end(last))


def _tasks_of(blocks: "Iterator[tuple[Block | UnreadableInput, Layout | None]]") -> Iterator[Task]:
    for block, layout in blocks:
        yield Task(block, "csv", layout)


def decide_roles(sources: Sequence[str], options: ParseOptions) -> None:
    """Have options.table know its schema, if the first of the files is a table, without parsing it."""
    if options.table is not None and options.table.schema is None:
        for task in tasks(sources[:1], replace(options, skip=True), lambda: False):
            if isinstance(task.block, Block):
                task.block.release()
                break


def _format(block: Block, options: ParseOptions) -> str:
    """What the text of a source is. DataError if nothing tells."""
    if options.format != "auto":
        return options.format
    kind = by_magic(bytes(block.data[:8]))
    if kind:
        raise DataError(
            f"{block.source}:1:1: {kind.capitalize()} in a compressed file or from standard input: decompress it, and "
            "give the name of the file"
        )
    known: str | None = None
    if options.table is not None and options.table.expected:
        known = options.table.format_of(block.source, block.data)
    line = bytes(block.data[:200]).split(b"\n")[0]
    known = known or detect(block.data) or by_name(block.source) or by_begin(line)
    if known is None:
        table = f" (the model {options.model} is not for tables)" if options.model else ", or --label NAME for a table"
        raise DataError(
            f"{block.source}:{block.first_line}:1: neither VW text (label |namespace feature ...) nor "
            f"libsvm (label index:value ...); give --format{table}: {_shown(line)}"
        )
    return known


class Parsing:
    """Parses blocks, with a parser for each format. For one thread."""

    def __init__(self, options: ParseOptions, number: bool = False) -> None:
        self.options = options
        self._number = number
        self._parsers: dict[str, Parser] = {}
        self._arrow: ArrowParsing | None = None
        self._layouts: dict[str, Any] = {}  # that those of tables have
        self._finder = options.finder() if options.finder else None
        self._texts: dict[str, Any] = {}  # parsers that make VW text of tables, and the layouts that they have

    def parse(self, task: Task, batch: Batch) -> Parsed:
        """Fill the batch with the lines of a block."""
        block = task.block
        if isinstance(block, UnreadableInput):
            return Parsed(Batch(), [BadLine(block.source, block.line, 1, block.message)])
        batch.source, batch.first_line, batch.breaks = block.source, block.first_line, ()
        if task.rows is not None:
            if self._arrow is None:
                from vwlite.input.arrow import ArrowParsing

                self._arrow = ArrowParsing(self.options)
            bad, text = self._arrow.parse(block, task.rows, batch)
            names = self._finder.find(b"", batch, convert=self._arrow.converted) if self._finder else None
            if self._number:
                batch.number_hashes()
            return Parsed(batch, bad, block.done, block.total, text, names, unfit=self._arrow.unfit_labels)
        parser = self._parser(task.format) if task.layout is None else self._table_parser(task.format, task.layout)
        bad = []
        if parser.parse(block.data, batch):
            labels = None if self.options.lenient_labels else partial(self._labels_of, task)
            bad = bad_lines(parser, block.data, batch, labels)
        text = b""
        if task.layout is not None:
            text = task.layout.finish(parser, batch)
        elif self.options.table is not None and self.options.table.as_text:
            text = _as_vw(block.data, batch, task.format)
        source = None
        if self.options.keeps_text:
            layout = task.layout
            known = (layout.delimiter, layout.header) if layout is not None else ()
            source = SourceText(bytes(block.data), task.format, *known)
        names = None
        if self._finder:
            convert = None if task.layout is None else partial(self._converted, task.format, task.layout, block.data)
            names = self._finder.find(block.data, batch, convert=convert)
        block.release()
        if self._number:
            batch.number_hashes()
        return Parsed(batch, bad, block.done, block.total, text, names, source, parser.unfit_labels)

    def _labels_of(self, task: Task) -> list[str]:
        """The first few different labels of a block of text, whatever they are."""
        block, found = task.block, ClassNames(MOST_LABELS, grows=True)
        assert isinstance(block, Block)
        known: dict[str, Any] = {"names": found, "lenient_labels": True, "stop_at_fault": False}
        batch = Batch()
        batch.first_line = block.first_line
        if task.layout is None:
            Parser(format=task.format, **known).parse(block.data, batch)
        else:
            from vwlite.core.text.tables import TableParser

            parser = TableParser(format=task.format, **known)
            task.layout.prepare(parser, False, as_text=False)
            parser.parse(block.data, batch)
        labels: list[str] = found.first(len(found))
        return labels

    def _converted(self, format: str, layout: "Layout", data: bytes | memoryview) -> tuple[bytes, Batch]:
        """The VW text that a block of a table means, and the kinds of its lines: bad ones are not in the text. Labels
        do not matter."""
        from vwlite.core.text.tables import TableParser

        known, parser = self._texts.get(format, (None, None))
        if parser is None:
            parser = TableParser(format=format, names=ClassNames(1), lenient_labels=True, stop_at_fault=False)
        if known is not layout:
            layout.prepare(parser, self.options.hash_all, as_text=True)
            self._texts[format] = layout, parser
        batch = Batch()
        parser.parse(data, batch)
        return parser.take_text(), batch

    def _parser(self, format: str, kind: type[Parser] = Parser) -> Parser:
        if format not in self._parsers:
            o = self.options
            self._parsers[format] = kind(
                format=format, hash_all=o.hash_all, labels=o.labels, label_domain=o.label_domain,
                names=o.names, loss_name=o.loss_name, lenient_labels=o.lenient_labels, stop_at_fault=not o.skip,
                spaces=o.spaces, places=self._finder is not None,
            )  # fmt: skip
        return self._parsers[format]

    def _table_parser(self, format: str, layout: "Layout") -> Parser:
        from vwlite.core.text.tables import TableParser  # not at the top: few runs read tables

        parser = self._parser(format, TableParser)
        if layout is not self._layouts.get(format):
            self._layouts[format] = layout
            layout.prepare(parser, self.options.hash_all)
        return parser


def _as_vw(data: bytes | memoryview, batch: Batch, format: str) -> bytes:
    """The good lines of a block, as VW text."""
    lines = bytes(data).removeprefix(b"\xef\xbb\xbf" if batch.first_line == 1 else b"").split(b"\n")
    found = []
    for kind, line in zip(batch.kind, lines, strict=False):
        if kind == BLANK:
            found.append(b"\n")
        elif kind == EXAMPLE and format == "vw":
            found.append(line + b"\n")
        elif kind == EXAMPLE:
            words = line.partition(b"#")[0].split()
            label = words.pop(0) + b" " if words and b":" not in words[0] else b""
            found.append(b" ".join([label + b"|", *words]) + b"\n")
    return b"".join(found)


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

    With options.skip False the first bad line ends the stream, as the last thing in the last item. DataError if options
    name keys that no line of JSON has. Leaving the context ends the threads. number: whether to number the distinct
    hashes of a batch, if they are few.
    """
    if threads == 1:
        batch, parsing = Batch(), Parsing(options, number)
        items = (parsing.parse(task, batch) for task in tasks(sources, options, stop))
        yield _to_the_end(items, options, stop)
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
        yield _to_the_end(iter(ahead), options, stop)
    finally:
        ahead.close()


def _to_the_end(items: Iterator[Parsed], options: ParseOptions, stop: Callable[[], bool]) -> Iterator[Parsed]:
    """The items up to the first bad line, unless these are skipped. DataError if all are read and options of columns do
    not fit them."""
    for item in items:
        yield item
        if item.bad and not options.skip:
            return
    if options.table is not None and not stop():
        options.table.check_awaited()


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
