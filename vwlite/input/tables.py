"""Tables among the sources: their detection, their headers, the roles of their columns, and blocks of whole records.

Blocks of text are cut at line ends; those of delimited text again, where no quote is open. The header of each
source is removed, and every block goes to the parser with the position of each column. The roles are decided once, from
the first rows of the first table, before any block of it is parsed: so nothing depends on how the text is cut.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from vwlite.core.data.batch import Batch
from vwlite.core.text.cells import Cells
from vwlite.core.text.parser import Parser, detect
from vwlite.core.text.tables import TableParser, split, whole
from vwlite.errors import DataError
from vwlite.input.diagnostics import EXPLAINED
from vwlite.input.formats import by_begin, by_name
from vwlite.input.reader import MAX_LINE, Block, UnreadableInput
from vwlite.input.sample import Sample, is_data
from vwlite.input.schema import (
    OPTIONAL,
    SAMPLE,
    RoleOptions,
    Schema,
    SchemaError,
    decide,
    listed,
    namespace_of,
    open_schema,
)

BOM = b"\xef\xbb\xbf"
_BLANKS = b" \t\r\n"
MOST_KEYS = 1000  # of JSON lines that an error chooses from

@dataclass(frozen=True)
class Layout:
    """What a parser needs of a file: its columns, and their positions in a record."""

    table: "TableReader"
    schema: Schema
    positions: tuple[int, ...] = ()
    width: int = 0
    delimiter: str = ""  # "": it is JSON, or no text
    source: str = ""
    header: bytes = b""  # as it is in the file

    def place_of(self, role: str) -> int:
        """The position of the column of a role that at most one column has; -1 without one."""
        name = self.schema.name_of(role)
        return -1 if name is None else self.positions[list(self.schema.roles).index(name)]

    def prepare(self, parser: Parser, hash_all: bool, *, as_text: bool = False) -> None:
        """Tell a parser of tables the columns. as_text: it makes VW text even if the run does not want it."""
        assert isinstance(parser, TableParser)
        schema, as_text = self.schema, as_text or self.table.as_text
        cells = Cells(
            schema.cells, ngram=schema.ngram, missing=schema.missing, hash_all=hash_all, as_text=as_text
        )
        if self.delimiter:
            parser.set_table(cells, self.positions, self.width, self.delimiter)
        else:
            parser.set_keys(cells, list(schema.roles), schema.open)

    def finish(self, parser: Parser, batch: Batch) -> bytes:
        """What a parser of tables has beside a batch: VW text. Keys that were passed over are said."""
        assert isinstance(parser, TableParser)
        source, batch.breaks = batch.source, parser.breaks_of_lines()
        self.table.ignore(source, parser.take_unknown())
        if self.table.awaited and not self.delimiter:
            self.table.note_keys(parser.keys_seen(MOST_KEYS))
        return bytes(parser.take_text()) if self.table.as_text else b""


@dataclass
class TableReader:
    """The columns of the tables of a run.

    options: the roles that were typed. schema: what is known from a model, or decided from the first table.
    needs_label: learning does. say: tells a person what was decided.
    """

    options: RoleOptions = field(default_factory=RoleOptions)
    schema: Schema | None = None
    needs_label: bool = False
    crosses: tuple[str, ...] = ()  # names of namespaces that are crossed
    as_text: bool = False  # make VW text
    say: Callable[[str], None] = lambda line: None
    model: str = ""  # the file of a model that is to predict, and knows no columns
    may_lack: bool = False  # keys named by options may be missing from all lines: a warning, not an error
    awaited: set[str] = field(default_factory=set)  # keys of JSON lines that options name, and no line had so far
    _others: set[str] = field(default_factory=set)  # keys that came meanwhile
    _ignored: set[str] = field(default_factory=set)

    @property
    def expected(self) -> bool:
        """Whether the sources are taken for tables if nothing speaks against it."""
        return self.schema is not None or self.options != RoleOptions()

    def format_of(self, source: str, data: bytes | memoryview) -> str | None:
        """The format of a source of tables, by its name or its first bytes; None where a model knows columns, and the
        text is not a table."""
        first = bytes(data[: 1 << 16]).removeprefix(BOM).lstrip().split(b"\n")[0]
        found = by_name(source) or by_begin(first)
        if found is not None:
            return found
        options = self.options
        if b"|" in first and options == RoleOptions() and (self.schema is None or self.schema.delimiter != "|"):
            return None
        if self.schema is None and options.ngram > 1 and options == RoleOptions(ngram=options.ngram) and detect(data):
            raise DataError(
                f"{source}:1:1: --ngram is for --text columns of tables, and this is {detect(data)} text: leave the "
                "option out"
            )
        return "csv"

    def ignore(self, source: str, keys: list[str]) -> None:
        """Say, once for each, which keys of JSON lines the model does not have."""
        new = [key for key in dict.fromkeys(keys) if key not in self._ignored]
        if new:
            self._ignored.update(new)
            self.say(f"{source}: columns that are not in the model are ignored: {listed(new)}")

    def note_keys(self, keys: Iterable[str]) -> None:
        """These keys, or columns, are in the data."""
        self.awaited.difference_update(keys)
        self._others.update(islice(keys, MOST_KEYS - min(len(self._others), MOST_KEYS)))

    def check_awaited(self) -> None:
        """At the end of the data. DataError if an option names a key that no line has: a typing error there would leave
        the key that was meant among the features."""
        roles = self.options.roles()
        others = sorted(self._others - {*roles})
        for name in [name for name in roles if name in self.awaited]:
            from difflib import get_close_matches  # here for the time of a start

            near = get_close_matches(name, others)
            there = f"did you mean {listed(near)}?" if near else f"the other keys are {listed(others) or 'none'}"
            why = f"--{roles[name]} {name}: no line has this key; {there}"
            if not self.may_lack:
                raise DataError(why)
            self.say(f"warning: {why}")

    def decide(self, schema: Schema, where: str, sample: Sample | None = None) -> None:
        """These are the columns. sample: what decided it. DataError if the model knows none, or if there should be a
        label among them."""
        if self.model:
            raise DataError(
                f"{where}: this is a table, and the model {self.model} was trained on text without columns: train on a "
                "table with --label NAME, or convert this one to VW text with vwlite convert"
            )
        if self.needs_label and schema.name_of("label") is None:
            there = f": {listed(list(schema.roles))}" if schema.roles else ""
            raise DataError(f"{where}: which column is the label? train with --label NAME{there}")
        known = {namespace_of(name) for name, role in schema.roles.items() if role not in OPTIONAL}
        for cross in self.crosses if not schema.open else ():
            unknown = [name for name in cross.split(",") if namespace_of(name) not in known]
            if unknown:
                raise DataError(f"{where}: {cross} cannot be crossed: there are no features of a column {unknown[0]}")
        self.schema = schema
        self.say(schema.summary() + (sample.missing(schema) if sample else ""))
        for note in sample.notes(schema, self.options.roles()) if sample else ():
            self.say(f"note: {note}")


class Records:
    """The blocks of one source of delimited text, cut into whole records behind the header.

    names: the columns of a file without a header.
    """

    def __init__(self, source: str, delimiter: str, table: TableReader) -> None:
        self._source, self._table = source, table
        self._fixed = delimiter
        self._delimiter = ""
        self._pending = b""  # a record whose end is not there yet
        self._line = 1  # of its first line
        self._started = False  # something of the source is here
        self._header: list[str] | None = None
        self._head = b""  # as it is in the file
        self._where = ""  # for messages
        self._layout: Layout | None = None
        self._held: list[Block] = []  # rows from which roles are to be decided
        self._rows: list[list[bytes]] = []

    def feed(self, block: Block, *, last: bool = False) -> Iterator[tuple[Block | UnreadableInput, Layout | None]]:
        """The blocks that are ready now, each with what the parser must know."""
        if self._pending:
            joined = self._pending + bytes(block.data)
            block.release()
            block = replace(block, data=joined, first_line=self._line, owner=None)
        elif not self._started and bytes(block.data[:3]) == BOM and block.first_line == 1:
            block.data = block.data[3:]
        self._started, self._pending, self._line = True, b"", block.first_line
        if not self._delimiter:
            self._delimiter = self._guess(block.data)
        end = len(block.data) if last else whole(block.data, self._delimiter)
        if end < len(block.data):
            self._pending = bytes(block.data[end:])
            self._line += bytes(block.data[:end]).count(b"\n")
            block.data = block.data[:end]
            if len(self._pending) > MAX_LINE:
                yield from self._give(block)
                yield from self._too_long(block)
                return
        yield from self._give(block)

    def end(self, block: Block | None) -> Iterator[tuple[Block | UnreadableInput, Layout | None]]:
        """The rest, at the end of the source. block: its last one, for what it says about the stream."""
        if self._pending and block is not None:
            rest, self._pending = self._pending, b""
            yield from self.feed(replace(block, data=rest, first_line=self._line, owner=None), last=True)
        yield from self._decided(final=True)

    def _too_long(self, block: Block) -> Iterator[tuple[Block | UnreadableInput, Layout | None]]:
        """A quote that is not closed within the limit: the line where it is opened is bad."""
        why = f"a record is longer than {MAX_LINE >> 20} MiB: a quote that opens on this line is not closed, perhaps"
        yield UnreadableInput(why, self._source, self._line), None
        rest = self._pending.partition(b"\n")[2]
        self._pending, self._line = b"", self._line + 1
        yield from self.feed(replace(block, data=rest, first_line=self._line, owner=None))

    def _guess(self, data: bytes | memoryview) -> str:
        """The delimiter, if it is not given: detected in the first line."""
        known = self._table.options.delimiter or (self._table.schema.delimiter if self._table.schema else "")
        if known or self._fixed:
            return known or self._fixed
        first = bytes(data[: 1 << 16]).lstrip().split(b"\n")[0]
        return "," if b"," in first else next((c for c in "\t;" if c.encode() in first), ",")

    def _give(self, block: Block) -> Iterator[tuple[Block | UnreadableInput, Layout | None]]:
        if self._header is None and not self._take_header(block):
            return
        if self._layout is not None:
            if len(block.data):
                yield block, self._layout
            return
        self._held.append(block)
        for cells, _, _ in split(block.data, self._delimiter, SAMPLE - len(self._rows)):
            if cells is not None and len(cells) == len(self._header or ()):
                self._rows.append(cells)
        yield from self._decided(final=False)

    def _take_header(self, block: Block) -> bool:
        """Take the header off a block; whether it is there."""
        schema, options = self._table.schema, self._table.options
        if options.names or (schema is not None and not schema.header and not schema.open):
            self._set_header(list(options.names or (schema.roles if schema else ())), block.first_line)
            return True
        while len(block.data):
            line = block.first_line
            cells, _, end = split(block.data, self._delimiter)[0]
            if cells is None:
                what = "first line" if options.no_header else "header"
                raise DataError(f"{self._source}:{line}:1: the {what} is not a valid row: {EXPLAINED[end]}")
            if options.no_header and (len(cells) > 1 or cells[0].strip(_BLANKS)):
                self._head = b""
                self._set_header([f"c{i + 1}" for i in range(len(cells))], line)
                return True
            self._head = bytes(block.data[:end])
            block.first_line += self._head.count(b"\n")
            block.data = block.data[end:]
            if len(cells) == 1 and not cells[0].strip(_BLANKS):
                continue
            try:
                names = [cell.strip(_BLANKS).decode() for cell in cells]
            except UnicodeDecodeError:
                raise DataError(f"{self._source}:{line}:1: the header is not UTF-8: convert the file") from None
            if any("\r" in name.replace("\r\n", "") for name in names):
                raise DataError(f"{self._source}:{line}:1: a carriage return in the header: lines end with LF or CR LF")
            self._check_names(names, line)
            self._set_header(names, line)
            return True
        return False

    def _check_names(self, names: list[str], line: int) -> None:
        """DataError for a header that is more likely a row of data, unless an option or the model has such names."""
        schema, options = self._table.schema, self._table.options
        known = schema.roles if schema else options.roles()
        required = {name for name, role in known.items() if not schema or role not in OPTIONAL}
        if not is_data(names) or (required and required <= set(names)):
            return
        instead = "--columns NAMES gives them names" + ("" if schema else ", --no-header calls them c1, c2, ...")
        shown = listed(names, most=6)
        why = f"the first line looks like data, not like the names of columns: {shown}; {instead}"
        raise DataError(f"{self._source}:{line}:1: {why}")

    def _set_header(self, names: list[str], line: int) -> None:
        self._header, self._where = names, f"{self._source}:{line}:1"
        if self._table.schema is not None:
            self._lay_out()

    def _lay_out(self) -> None:
        assert self._header is not None
        found = lay_out(self._table, self._source, self._where, self._header, self._delimiter)
        self._layout = replace(found, header=self._head)

    def _decided(self, *, final: bool) -> Iterator[tuple[Block | UnreadableInput, Layout | None]]:
        """The blocks that were held, when there are enough rows to decide the roles."""
        if self._layout is None and self._header is not None and (final or len(self._rows) >= SAMPLE):
            rows = [[cell.strip(_BLANKS) for cell in row] for row in self._rows]
            sample = Sample(self._header, rows, self._table.options.missing_words)
            try:
                schema = decide(self._header, sample.numeric(), self._table.options)
            except SchemaError as e:
                raise DataError(f"{self._where}: {e}") from None
            self._table.decide(schema, self._where, sample)
            self._lay_out()
        if self._layout is not None:
            held, self._held = self._held, []
            for block in held:
                if len(block.data):
                    yield block, self._layout


def json_layout(source: str, table: TableReader) -> Layout:
    """What the parser of JSON lines must know: the keys that have a role. They are known before any line is read."""
    if table.schema is None:
        try:
            table.decide(open_schema(table.options), f"{source}:1:1")
            table.awaited.update(table.options.roles())
        except SchemaError as e:
            raise DataError(f"{source}:1:1: {e}") from None
    assert table.schema is not None
    tag = table.options.tag
    if tag is None or table.schema.roles.get(tag) == "tag":
        return Layout(table, table.schema)
    table.awaited.add(tag)
    return Layout(table, _with_tag(table.schema, tag))


def _with_tag(schema: Schema, tag: str) -> Schema:
    """The schema with this column as its tag."""
    others = {name: "drop" if role == "tag" else role for name, role in schema.roles.items()}
    return replace(schema, roles=others | {tag: "tag"})


def lay_out(
    table: TableReader, source: str, where: str, names: list[str], delimiter: str, index: Collection[str] = ()
) -> Layout:
    """The positions of the columns in a file with these names. DataError if one is missing; others are noted, except
    those of an index."""
    schema, options = table.schema, table.options
    assert schema is not None
    try:
        if schema.open:  # a model of JSON lines: every other column by its values
            new = [name for name in schema.unknown(names) if name not in index]
            schema = replace(schema, roles={**schema.roles, **dict.fromkeys(new, "auto")})
        if options.tag is not None and options.tag in names:
            schema = _with_tag(schema, options.tag)
        positions = schema.positions(names)
    except SchemaError as e:
        raise DataError(f"{where}: {e}") from None
    table.note_keys(names)
    unknown = [name for name in schema.unknown(names) if name not in index]
    if unknown:
        table.say(f"{source}: columns that are not in the model are ignored: {listed(unknown)}")
    return Layout(table, schema, tuple(positions), len(names), delimiter, source)
