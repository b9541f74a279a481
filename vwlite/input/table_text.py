"""Tables of text: delimited text and JSON lines.

Blocks of text are cut at line ends; those of delimited text again, where no quote is open. The header of each
source is removed, and every block goes to the parser with the position of each column.
"""

import re
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial

from vwlite.core.data.batch import Batch
from vwlite.core.data.class_names import ClassNames
from vwlite.core.tables.tables import TableParser, split, whole
from vwlite.core.text.parser import Parser
from vwlite.errors import DataError, Where
from vwlite.input.diagnostics import CONVERT, EXPLAINED
from vwlite.input.formats import BOM, FORMATS, Dialect, by_name, first_line
from vwlite.input.parsing import Columns, LineParsing, Parsed, SourceBlocks, SourceText, Task, Tasks
from vwlite.input.reader import MAX_LINE, Block
from vwlite.input.sample import Sample, is_data
from vwlite.input.schema import OPTIONAL, SAMPLE, SchemaError, listed, role_of
from vwlite.input.sources import UnreadableInput
from vwlite.input.tables import Kinds, Layout, TableReader, as_rows, json_layout, lay_out, values_of

_BLANKS = b" \t\r\n"
_MARK = re.compile(rb'(?:\xef\xbb\xbf)?(?:("?)sep=([,;|\t])\1\r?\n)?', re.IGNORECASE)  # before the header; of Excel


class TableParsing(LineParsing):
    """Parses delimited text. The context of a block is its Layout."""

    _of_tables = True
    _parser: TableParser
    _layout: Layout | None = None  # that the parser has
    _converts: tuple[Layout, TableParser] | None = None  # creates VW text of tables with this layout

    @staticmethod
    def blocks_of(format: str, source: str, columns: Columns, *, named: bool, tells_empty: bool) -> SourceBlocks:
        named = named or by_name(source) is not None
        return Records(format, source, columns(), named=named, tells_empty=tells_empty)

    def parse(self, task: Task, batch: Batch) -> Parsed:
        layout: Layout = task.context
        if layout is not self._layout:
            self._layout = layout
            self._prepare(self._parser, task)
        parsed = super().parse(task, batch)
        layout.finish(self._parser, batch)
        parsed.escaped, parsed.log = self._parser.take_escaped(), self._parser.take_log()
        if batch.breaks and layout.dialect.quoted:
            layout.look_for_rows(batch, SourceText(bytes(task.block.data), self._format).lines_of)
        if parsed.source is not None:
            kind = "csv" if layout.dialect.delimiter else self._format  # delimited text differs in its dialect only
            parsed.source = SourceText(parsed.source.text, kind, layout.dialect, layout.header, layout.mark)
        return parsed

    def converter(self, task: Task) -> Callable[[], tuple[bytes, Batch]]:
        return partial(self._converted, task)

    def _prepare(self, parser: Parser, task: Task) -> None:
        task.context.prepare(parser, self._options.hash_all, zeros=self._options.derives, logs=self._options.logs)

    def _converted(self, task: Task) -> tuple[bytes, Batch]:
        """The VW text that a block means, and the kinds of its lines: bad ones are not in the text. Labels do not
        matter."""
        if self._converts is None or self._converts[0] is not task.context:
            parser = TableParser(format=self._format, names=ClassNames(1), lenient_labels=True, stop_at_fault=False)
            task.context.prepare(parser, self._options.hash_all, as_text=True)
            self._converts = task.context, parser
        batch = Batch()
        self._converts[1].parse(task.block.data, batch)
        return self._converts[1].take_text(), batch


class JsonParsing(TableParsing):
    """Parses JSON lines."""

    @staticmethod
    def blocks_of(format: str, source: str, columns: Columns, *, named: bool, tells_empty: bool) -> SourceBlocks:
        return JsonBlocks(format, source, columns())


class FirstLines(SourceBlocks):
    """The blocks of one source of lines, of which the first SAMPLE lines are held until they have decided how all are
    read. decides: they do."""

    def __init__(self, format: str, layout: Layout, decides: bool) -> None:
        super().__init__(format, layout)
        self._layout, self._decides = layout, decides
        self._held: list[Block] = []
        self._lines = 0

    def feed(self, block: Block) -> Tasks:
        if not self._decides:
            yield from super().feed(block)
            return
        self._held.append(block)
        self._lines += bytes(block.data).count(b"\n")
        if self._lines >= SAMPLE:
            yield from self.end()

    def end(self) -> Tasks:
        if self._decides:
            self._decides = False
            lines = b"".join(bytes(block.data) for block in self._held).split(b"\n", SAMPLE)
            self._context = self._layout = self._decided(b"\n".join(lines[:SAMPLE]))
        held, self._held = self._held, []
        for block in held:
            yield from super().feed(block)

    def _decided(self, lines: bytes) -> Layout:
        """The layout that the first lines have decided."""
        raise NotImplementedError


class JsonBlocks(FirstLines):
    """The blocks of one source of JSON lines. Of a stream, the first lines decide which keys are words; of files, a
    first reading has."""

    def __init__(self, format: str, source: str, table: TableReader) -> None:
        decides = table.schema is None and not table.reads_first and not table.as_rows
        super().__init__(format, json_layout(source, table), decides)
        self._source, self._table = source, table

    def _decided(self, lines: bytes) -> Layout:
        kinds = Kinds()
        self._table.look_at_values(lambda: values_of(lines))
        kinds.read(self._layout.by_first_rows(), lines)
        self._table.take_words(kinds)
        return json_layout(self._source, self._table)


class Records(SourceBlocks):
    """The blocks of one source of delimited text, cut into whole records behind the header.

    named: the format was given, or the name of the file tells it. tells_empty: a header without rows is a block.
    """

    def __init__(
        self, format: str, source: str, table: TableReader, *, named: bool, tells_empty: bool = False
    ) -> None:
        super().__init__(format)
        self._named, self._tells_empty = named, tells_empty
        self._source, self._table = source, table
        self._dialect = Dialect()
        self._last: Block | None = None  # for what it says about the stream
        self._pending = b""  # a record whose end is not there yet
        self._line = 1  # of its first line
        self._started = False  # something of the source is here
        self._header: list[str] | None = None
        self._head = self._mark = b""  # as they are in the file
        self._told = ""  # the delimiter by the line `sep=;`
        self._where: Where = ()
        self._layout: Layout | None = None
        self._wanted: dict[str, int] = {}  # columns without a value so far, and their places
        self._held: list[Block] = []  # rows from which roles are to be decided
        self._rows: list[list[bytes]] = []

    def feed(self, block: Block, *, last: bool = False) -> Tasks:
        self._last = block.with_data(b"", block.first_line)
        if self._pending:
            joined = self._pending + bytes(block.data)
            block.release()
            block = block.with_data(joined, self._line)
        elif not self._started and block.first_line == 1:
            self._take_mark(block)
        self._started, self._pending, self._line = True, b"", block.first_line
        if not self._dialect.delimiter:
            self._dialect = self._table.dialect(self._guess(block.data))
        end = len(block.data) if last else whole(block.data, *self._dialect)
        if end < len(block.data):
            self._pending = bytes(block.data[end:])
            self._line += bytes(block.data[:end]).count(b"\n")
            block.data = block.data[:end]
            if len(self._pending) > MAX_LINE:
                yield from self._give(block)
                yield from self._too_long(block)
                return
        yield from self._give(block)

    def end(self) -> Tasks:
        if self._pending and self._last is not None:
            rest, self._pending = self._pending, b""
            yield from self.feed(self._last.with_data(rest, self._line), last=True)
        yield from self._decided(final=True)
        if self._tells_empty and self._layout is not None and self._last is not None:
            yield Task(self._last, self._format, self._layout)

    def _too_long(self, block: Block) -> Tasks:
        """A quote that is not closed within the limit: the line where it is opened is bad."""
        why = f"a record is longer than {MAX_LINE >> 20} MiB: a quote that opens on this line is not closed, perhaps"
        yield UnreadableInput(why, self._source, self._line)
        rest = self._pending.partition(b"\n")[2]
        self._pending, self._line = b"", self._line + 1
        yield from self.feed(block.with_data(rest, self._line))

    def _take_mark(self, block: Block) -> None:
        """Take off what is before the header. DataError for a delimiter that is not the typed one."""
        found, typed = _MARK.match(bytes(block.data[:16])), self._table.options.delimiter
        if found is None or not found[0]:
            return
        self._mark, block.data = found[0], block.data[found.end() :]
        if found[2]:
            block.first_line += 1
            self._told = found[2].decode("latin-1")
            if typed not in ("", self._told):
                why = f"the file has the delimiter {self._told!r}, and --delimiter is {typed!r}: leave the option out"
                raise DataError(why, self._source, 1, 1)

    def _guess(self, data: bytes | memoryview) -> str:
        """The delimiter, if it is not given: detected in the first line."""
        schema, typed = self._table.schema, self._table.options.delimiter
        known = typed or self._told or (schema.delimiter if schema else "")
        if known or FORMATS[self._format].delimiter:
            return known or FORMATS[self._format].delimiter
        first = first_line(data)
        return "," if b"," in first else next((c for c in "\t;" if c.encode() in first), ",")

    def _give(self, block: Block) -> Tasks:
        if self._header is None and not self._take_header(block):
            return
        if self._layout is not None and not self._held:
            rest = yield from self._to_first_value(block)
            if rest is None:
                return
            block = rest
        self._held.append(block)
        for cells, _, _ in split(block.data, *self._dialect, most=SAMPLE - len(self._rows)):
            if cells is not None and len(cells) == len(self._header or ()) and not self._is_header(cells):
                self._rows.append(cells)
        yield from self._decided(final=False)

    def _is_header(self, cells: list[bytes]) -> bool:
        """Whether a row has the names of the columns, as where files were joined."""
        names = self._header or []
        found = [cell.removeprefix(BOM).strip(_BLANKS) for cell in cells]
        return len(names) > 1 and found == [name.encode("utf-8", "surrogateescape") for name in names]

    def _to_first_value(self, block: Block) -> Generator[Task, None, Block | None]:
        """Give the rows of a block before the first value of a column without one so far; the rest, if there is one."""
        places, words = [*self._wanted.values()], self._table.schema.missing if self._table.schema else ()
        found = places and split(
            block.data, *self._dialect, places=places, width=len(self._header or ()),
            missing={word.encode("utf-8", "surrogateescape") for word in words},
        )
        if not found:
            if len(block.data):
                yield Task(block, self._format, self._layout)
            return None
        data, begin = bytes(block.data), found[0][1]
        block.release()
        if begin:
            yield Task(block.with_data(data[:begin], block.first_line), self._format, self._layout)
        self._rows = []
        return block.with_data(data[begin:], block.first_line + data.count(b"\n", 0, begin))

    def _take_header(self, block: Block) -> bool:
        """Take the header off a block; whether it is there."""
        schema, options = self._table.schema, self._table.options
        names = list(options.names or (schema.roles if schema and not (schema.header or schema.open) else ()))
        if names and not options.no_header:
            self._set_header(names, block.first_line)
            return True
        found = split(block.data, *self._dialect, skip_blank=True)
        if not found:
            block.data = b""
            return False
        cells, begin, end = found[0]
        line = block.first_line + bytes(block.data[:begin]).count(b"\n")
        if cells is None:
            what = "first line" if options.no_header else "header"
            raise DataError(f"the {what} is not a valid row: {EXPLAINED[end]}", self._source, line, 1)
        block.first_line, block.data = line, block.data[begin:]
        if options.no_header:
            self._set_header(names or [f"c{i + 1}" for i in range(len(cells))], line)
            return True
        self._head = bytes(block.data[: end - begin])
        block.first_line += self._head.count(b"\n")
        block.data = block.data[end - begin :]
        try:
            names = [cell.strip(_BLANKS).decode() for cell in cells]
        except UnicodeDecodeError:
            raise DataError(f"the header is not UTF-8: {CONVERT}", self._source, line, 1) from None
        if any("\r" in name.replace("\r\n", "") for name in names):
            raise DataError("a carriage return in the header: lines end with LF or CR LF", self._source, line, 1)
        self._check_names(names, line)
        self._set_header(names, line)
        return True

    def _check_names(self, names: list[str], line: int) -> None:
        """DataError for a header that is more likely a row of data, unless an option or the model has such names."""
        schema, options = self._table.schema, self._table.options
        known = schema.roles if schema else options.roles()
        required = {name for name, role in known.items() if not schema or role not in OPTIONAL}
        for other in ",;\t|" if options.delimiter and len(names) == 1 and required else "":
            if required <= {name.strip() for name in names[0].split(other)}:
                why = (f"the header has no {options.delimiter!r}, but {other!r} between the names: leave --delimiter "
                       f"out, or use --delimiter {other!r}")
                raise DataError(why, self._source, line, 1)
        if not is_data(names) or (required and required <= set(names)):
            return
        instead = "--columns NAMES gives them names" + ("" if schema else ", --no-header calls them c1, c2, ...")
        shown = listed(names, most=6)
        why = f"the first line looks like data, not like the names of columns: {shown}; {instead}"
        raise DataError(why, self._source, line, 1)

    def _set_header(self, names: list[str], line: int) -> None:
        self._header, self._where = names, (self._source, line, 1)
        if self._table.as_rows:
            self._layout = replace(as_rows(self._table, self._source, names, self._dialect), header=self._head)
        elif self._table.schema is not None:
            self._lay_out()

    def _lay_out(self) -> None:
        assert self._header is not None
        found = lay_out(self._table, self._source, self._where, self._header, self._dialect)
        self._wanted = {name: self._header.index(name) for name in self._table.undecided}
        schema = found.schema.with_roles(dict.fromkeys(self._wanted, "numeric"))  # words may mean a missing value
        names = tuple(self._header) if len(self._header) > 1 else ()  # the name of a single column may be a value
        self._layout = replace(found, schema=schema, header=self._head, names=names, mark=self._mark)

    def _decided(self, *, final: bool) -> Tasks:
        """The blocks that were held, when there are enough rows to decide the roles."""
        while self._header is not None and (final or len(self._rows) >= SAMPLE) and (self._held or not self._layout):
            rows = [[cell.strip(_BLANKS) for cell in row] for row in self._rows]
            columns = [Counter(column) for column in zip(*rows, strict=True)] or [Counter() for _ in self._header]
            schema = self._table.schema or self._table.options.open_schema()
            sample = Sample(self._header, columns, len(rows), schema, rows)
            self._decide(sample, columns)
            held, self._held, self._rows = self._held, [], []
            for block in held:
                yield from self._give(block)

    def _decide(self, sample: Sample, columns: Sequence[Counter[bytes]]) -> None:
        """Decide the roles of all columns, or of those that had no value so far."""
        assert self._header is not None
        numbers, o = sample.numeric(), self._table.options
        if self._layout is None:
            try:
                filled = {name for name, column in zip(self._header, columns, strict=True) if column.keys() - {b""}}
                index = {""} - filled  # columns with neither a name nor a cell are none
                schema = o.decide(self._header, numbers, index, is_table=self._named)
            except SchemaError as e:
                raise DataError(str(e), *self._where) from None
            self._table.decide(schema, self._where, sample)
        else:
            found = {name: role_of(n) for name, n in zip(self._header, numbers, strict=True)
                     if name in self._wanted and n is not None}
            self._table.take_roles(found, f"{self._source}:{self._held[0].first_line}", sample)
        self._lay_out()
