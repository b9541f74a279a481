"""The parsing of text: from the blocks of a source to batches of examples.

`LineParsing` is for lines of features, such as VW text, and the base class for other formats (`formats.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple

from vwlite.core.data.batch import Batch
from vwlite.core.data.class_names import ClassNames
from vwlite.core.text.parser import Parser
from vwlite.input.diagnostics import BadLine, bad_lines
from vwlite.input.formats import FORMATS, NO_TEXT, Dialect, imported
from vwlite.input.reader import Block, Tap
from vwlite.input.sources import UnreadableInput
from vwlite.patterns import pattern
from vwlite.records import record

if TYPE_CHECKING:
    from vwlite.input.part import Part
    from vwlite.input.tables import TableReader

EXAMPLE, REJECTED = 0, 2  # kinds of lines, as in cython_ext/data/batch.pxd
MOST_LABELS = 3  # labels that are searched for, for advice about words
MOST_SPACES = 100_000  # namespaces that are named
_NAMESPACE = pattern(rb"\|([^ \t\r\n:|]+)")
MOST_PLACED = 1000  # distinct labels of a block that are checked for those that the model cannot use


@record(frozen=True)
class ParseOptions:
    """How text is parsed; all fields decide the content of a cache. Labels: see cython_ext/text/parser.pyx."""

    format: str = "auto"  # or one of FORMATS
    hash_all: bool = False
    labels: tuple[float, float] | tuple[str, str] | None = None  # (negative, positive)
    label_domain: str = "any"  # any, binary, nonnegative, positive, log1p
    loss_name: str = "squared"  # or label transform, for messages
    lenient_labels: bool = False  # a label that cannot be used is no error: the example is unlabelled (`unfit`)
    skip: bool = False  # continue after a bad line
    spaces: bool = False  # batches have the hashes of namespaces
    derives: bool = False  # ... and numbers of value 0, which derived features need
    samples: bool = False  # batches of tables have the hashes of namespaces
    logs: bool = False  # names of columns and words come with the batches
    class_names: ClassNames | None = None  # with it, labels are names of classes
    or_numbers: bool = False  # or all of them are numbers
    table: "TableReader | None" = None  # the columns, if the sources are known to be tables
    finder: Callable[[], Any] | None = None  # creates a finder of names of features for each thread
    keeps_text: bool = False  # batches come with their text, if their source is text
    names_spaces: bool = False  # ... or with the names of their namespaces, which are in it; needs `spaces`
    only_text: bool = False  # files of binary formats are refused
    whole_rows: bool = False  # batches of binary formats come with all columns, and a table without rows is a batch
    model: str = ""  # the file of a model that predicts, and knows no columns
    tap: Tap | None = None  # gets what is read of lines
    part: "Part | None" = None  # of the rows, that is read alone

    def columns(self) -> "TableReader":
        """The columns of a table that was detected."""
        from vwlite.input.tables import TableReader

        return self.table or TableReader(needs_label=True, model=self.model)

    def blocks_of(self, format: str, source: str) -> "SourceBlocks":
        """What takes the blocks of a source of text before they are parsed."""
        parsing: type[LineParsing] = imported(FORMATS[format].parsing)
        named = self.format != "auto"
        return parsing.blocks_of(format, source, self.columns, named=named, tells_empty=self.whole_rows)

    def line(self, source: str, number: int) -> int:
        """The line number in the source of the line that is read with this number."""
        return number if self.part is None else self.part.line(source, number)


@record(frozen=True)
class SourceText:
    """The original text of a batch, without the header of a table, which is `header`."""

    text: bytes
    format: str
    dialect: Dialect = NO_TEXT
    header: bytes = b""
    mark: bytes = b""  # the byte order mark before the text, if there is one

    def lines_of(self, batch: Batch, rows: Sequence[int]) -> list[bytes]:
        """The text of rows of the batch, without line ends."""
        import numpy as np  # not at the top: few runs want lines back

        lines = self.text.split(b"\n")
        if len(lines) - (not lines[-1]) == len(batch):  # a line is a line
            return [lines[row].rstrip(b"\r") for row in rows]
        newlines = np.flatnonzero(np.frombuffer(self.text, dtype=np.uint8) == ord("\n"))
        begins = [0, *(newlines + 1).tolist(), len(self.text)]
        places = ((begins[batch.line_number(at) - batch.first_line] for at in (row, row + 1)) for row in rows)
        return [self.text[begin:end].rstrip(b"\r\n") for begin, end in places]


class FrameRows(ABC):
    """Some rows of a frame in memory."""

    @abstractmethod
    def cells(self) -> dict[str, list[Any]]:
        """Values by column."""

    @abstractmethod
    def texts(self, column: str, rows: Sequence[int]) -> list[str]:
        """The cells of a column as text. UsageError for an unknown column."""


@record
class Parsed:
    """A batch, with the errors in its text."""

    batch: Batch
    bad: list[BadLine] = field(default_factory=list)
    done: int = 0  # bytes of input read so far
    total: int | None = None  # bytes of all input, if known
    text: bytes = b""  # the equivalent VW text, if required
    escaped: int = 0  # names, labels and tags that are escaped in it
    names: Any = None  # of features, as the finder gives them; a NameFinder, for NameStore.take
    log: Sequence[tuple[int, int, int, bytes]] = ()  # names of columns and words, as of `Cells.take_log`
    source: SourceText | None = None  # if required
    spaces: Mapping[int, str] = field(default_factory=dict)  # if required: names by hash, if new to the parser
    rows: Any = None  # of a binary format as pyarrow has them, or of a frame, if the source is required
    format: str = ""  # this binary format
    # With lenient labels, those that the model cannot use: the first few different ones, and where each is first
    unfit: Mapping[str, str] = field(default_factory=dict)


class Task(NamedTuple):
    """A block to be parsed."""

    block: Block
    format: str = "vw"
    context: Any = None  # what a parser must know besides, such as the columns of a table


Tasks = Iterator[Task | UnreadableInput]
Columns = Callable[[], "TableReader"]  # of a table that was detected


class SourceBlocks:
    """The blocks of one source of text before parsing. Here each block is complete in itself."""

    def __init__(self, format: str, context: Any = None) -> None:
        self._format, self._context = format, context

    def feed(self, block: Block) -> Tasks:
        """Take the next block of the source; returns what is ready to be parsed."""
        yield Task(block, self._format, self._context)

    def end(self) -> Tasks:
        """The rest, at the end of the source."""
        return iter(())


class LineParsing:
    """Parses blocks of one format, here of lines of features. For one thread."""

    _of_tables = False

    def __init__(self, format: str, options: ParseOptions) -> None:
        o, self._format, self._options = options, format, options
        self._places: dict[str, str] = {}  # of labels that the model cannot use
        self._spaces: set[int] = set()  # of earlier batches
        self._class: type[Parser] = imported(FORMATS[format].parser)
        self._parser = self._class(
            format=format, hash_all=o.hash_all, labels=o.labels, label_domain=o.label_domain, names=o.class_names,
            or_numbers=o.or_numbers, loss_name=o.loss_name, lenient_labels=o.lenient_labels, stop_at_fault=not o.skip,
            spaces=o.spaces or o.derives or (o.samples and self._of_tables),
            places=o.finder is not None or (format == "vw" and o.table is not None),
        )
        self._parser.zeros = o.derives

    @staticmethod
    def blocks_of(format: str, source: str, columns: Columns, *, named: bool, tells_empty: bool) -> SourceBlocks:
        """The object that gets the blocks of a source before they are parsed. named: --format says what it is.
        tells_empty: a table without rows is a block, too."""
        return SourceBlocks(format)

    def parse(self, task: Task, batch: Batch) -> Parsed:
        """Fill the batch with the lines of a block."""
        block, parser, o = task.block, self._parser, self._options
        if self._format == "vw" and o.table is not None and o.table.schema is not None:
            parser.unescapes = o.table.schema.is_escaped  # text of a table, for a model of one
        parsed = Parsed(batch, [], block.done, block.total)
        if parser.parse(block.data, batch):
            labels = None if o.lenient_labels else lambda: [*self._labels_of(task, MOST_LABELS)]
            parsed.bad = bad_lines(parser, block.data, batch, labels)
        if o.table is not None and o.table.as_text:
            parsed.text = parser.as_vw(block.data, batch)
        if o.keeps_text:
            parsed.source = SourceText(bytes(block.data), self._format)
        if o.names_spaces and len(self._spaces) < MOST_SPACES and (new := batch.distinct_spaces() - self._spaces):
            self._spaces |= new
            parsed.spaces = self._named(new, block.data)
        if unfit := parser.unfit_labels:
            parsed.unfit = self._placed(task, unfit)
        return parsed

    def is_plain(self, lines: bytes, batch: Batch) -> bool:
        """Fill the batch with lines of which nothing else is wanted; returns whether all are valid."""
        return not self._parser.parse(lines, batch)

    def converter(self, task: Task) -> Callable[[], tuple[bytes, Batch]] | None:
        """The `convert` of NameFinder.find for the block that was parsed last; None: names are in the block."""
        return None

    def _prepare(self, parser: Parser, task: Task) -> None:
        """Pass the context of the block to the parser."""

    def _named(self, spaces: set[int], text: Any) -> dict[int, str]:
        """The names of these namespaces of a text, which is read up to the last of them."""
        from vwlite.hashing import namespace_hash  # not at the top, for the time of a start

        found, seen = dict[int, str](), set[bytes]()
        missing = spaces - {namespace_hash(b"")}
        for match in _NAMESPACE.finditer(text) if missing else ():
            if (name := match[1]) in seen:
                continue
            seen.add(name)
            hash = namespace_hash(name, self._options.hash_all)
            found[hash] = name.decode("utf-8", "surrogateescape")
            missing.discard(hash)
            if not missing:
                break
        return found

    def _placed(self, task: Task, unfit: list[str]) -> dict[str, str]:
        """Labels that the model cannot use, each with its first place. The block is parsed again only for new ones."""
        if not self._places.keys() >= {*unfit}:
            found, source = self._labels_of(task, MOST_PLACED), task.block.source
            for label in unfit:
                place = f"{source}:{self._options.line(source, found[label])}" if label in found else source
                self._places.setdefault(label, place)
        return {label: self._places[label] for label in unfit}

    def _labels_of(self, task: Task, most: int) -> dict[str, int]:
        """The first few distinct labels of a block, and the line of each."""
        found, batch, lines = ClassNames(most, grows=True), Batch(), dict[str, int]()
        batch.first_line = task.block.first_line
        parser = self._class(format=self._format, names=found, lenient_labels=True, stop_at_fault=False)
        self._prepare(parser, task)
        parser.parse(task.block.data, batch)
        names = found.first(len(found))
        for row, number in enumerate(batch.label):
            if number == number:
                lines.setdefault(names[int(number) - 1], batch.line_number(row))
        return lines
