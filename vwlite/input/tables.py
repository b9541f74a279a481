"""Tables among the sources: their detection, and the roles and positions of their columns.

The roles are decided once, from the first rows of the first table, before any block of it is parsed: so nothing depends
on how the text is cut.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from vwlite.core.data.batch import Batch
from vwlite.core.data.class_names import ClassNames
from vwlite.core.tables.cells import Cells
from vwlite.core.tables.tables import TableParser
from vwlite.core.text.parser import Parser, detect
from vwlite.errors import DataError, Where
from vwlite.input.dates import dates_among
from vwlite.input.diagnostics import IS_NUMBER
from vwlite.input.formats import NO_TEXT, Dialect, by_begin, by_name, first_line
from vwlite.input.json_text import loads
from vwlite.input.sample import (
    Finding,
    Sample,
    about_decisive,
    about_equal,
    about_mixed,
    about_words,
    time_format_of,
    typed_names,
)
from vwlite.input.schema import GROUP, OPTIONAL, ROLES, SAMPLE, RoleOptions, Schema, SchemaError, listed
from vwlite.input.unspaced import about, texts_in, unspaced_of
from vwlite.names import namespace_of
from vwlite.time_formats import typed_formats

MOST_BROKEN = 100  # records over several lines in which rows are looked for, of a block
MOST_KEYS = 1000  # of JSON lines that an error chooses from


@dataclass(frozen=True)
class Layout:
    """What a parser needs of a file: its columns, and their positions in a record."""

    table: "TableReader"
    schema: Schema
    positions: tuple[int, ...] = ()
    width: int = 0
    dialect: Dialect = NO_TEXT
    source: str = ""
    header: bytes = b""  # as it is in the file
    names: tuple[str, ...] = ()  # of its cells, if it may come again among the rows
    mark: bytes = b""  # the byte order mark, if the file has one
    lines: str = ""  # the format of lines that are a text

    def place_of(self, role: str) -> int:
        """The position of the column of a role that at most one column has; -1 without one."""
        name = self.schema.name_of(role)
        return -1 if name is None else self.positions[list(self.schema.roles).index(name)]

    def prepare(
        self, parser: Parser, hash_all: bool, *, as_text: bool = False, zeros: bool = False, logs: bool = False
    ) -> None:
        """Tell a parser of tables the columns. as_text: it makes VW text even if the run does not want it."""
        assert isinstance(parser, TableParser)
        schema, as_text = self.schema, as_text or self.table.as_text
        cells = Cells(
            schema.cells, missing=schema.missing, hash_all=hash_all, as_text=as_text, notation=schema.notation,
            zeros=zeros, logs=logs, **schema.names_of_cells,
        )
        if self.lines:
            roles = list(schema.roles.values())
            label = roles.index("label") if self.lines == "fasttext" and "label" in roles else -1
            parser.set_lines(cells, label, roles.index("text"))
        elif self.dialect.delimiter:
            parser.set_table(cells, self.positions, self.width, *self.dialect, header=self.names)
        else:
            parser.set_keys(cells, list(schema.roles), schema.open)

    def by_first_rows(self) -> "Layout":
        """With what the first rows may have decided since this was made, beside roles: the format of times, and which
        texts have no blanks."""
        found = self.table.schema or self.schema
        schema = replace(self.schema, time_format=found.time_format, unspaced=found.unspaced)
        return self if schema == self.schema else replace(self, schema=schema)

    def finish(self, parser: TableParser, batch: Batch) -> None:
        """Take what a parser has noted beside the batch; report the keys that it ignored."""
        batch.breaks = parser.breaks_of_lines()
        self.table.ignore(batch.source, parser.take_unknown())
        self.table.count_absents(self.schema, parser.take_absents())
        if self.dialect.delimiter or self.lines:
            return
        self.table.kinds.add(parser.take_kinds(MOST_KEYS))
        keys = parser.keys_seen(MOST_KEYS)
        self.table.keys.update(keys)
        if self.table.awaited:
            self.table.note_keys(keys)

    def look_for_rows(self, batch: Batch, lines_of: Callable[[Batch, Sequence[int]], list[bytes]]) -> None:
        """Say so, once, if a cell over several lines has lines that look like rows: then quotes may be ordinary.
        lines_of: the text of records of the batch."""
        rows = [row for row, ends in batch.breaks if ends > 1]
        if not rows or self.width == 1 or self.table.noted_rows:
            return
        between = self.dialect.delimiter.encode()
        for row, record in zip(rows, lines_of(batch, rows[:MOST_BROKEN]), strict=False):
            inner = record.split(b"\n")[1:-1]
            if any(line.count(between) == self.width - 1 for line in inner):
                self.table.noted_rows = True
                self.table.say(
                    f"note: {self.source}:{batch.line_number(row)}: a cell in quotes has {len(inner) + 2} lines, and "
                    "some look like rows: if quotes are ordinary characters in this file, add --quote none"
                )
                return


class Kinds:
    """Counts of numbers and of words by the path of a key, of keys in JSON lines whose values keep their own type."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, ...], tuple[int, int]] = {}

    def add(self, found: Iterable[tuple[tuple[str, ...], int, int]]) -> None:
        """So many more numbers and words."""
        for path, numbers, words in found:
            before = self._counts.get(path, (0, 0))
            self._counts[path] = before[0] + numbers, before[1] + words

    def read(self, layout: Layout, lines: bytes | memoryview) -> None:
        """Count those of a text of JSON lines."""
        parser = TableParser(format="jsonl", names=ClassNames(1), lenient_labels=True, stop_at_fault=False)
        layout.prepare(parser, False)
        parser.parse(lines, Batch())
        self.add(parser.take_kinds(MOST_KEYS))

    def mixed(self) -> dict[tuple[str, ...], str]:
        """What to say of keys with numbers in some lines and words in others."""
        return {path: f"key {listed(['.'.join(path)])}: a number in {_lines(numbers)} and a word in {_lines(words)}"
                for path, (numbers, words) in self._counts.items() if numbers and words}


def _lines(n: int) -> str:
    return f"{n:,} line{'s' * (n != 1)}"


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
    as_rows: bool = False  # rows are copied: columns have positions, and no roles
    noted_rows: bool = False  # a note on a cell that may be rows was printed
    keys: set[str] = field(default_factory=set)  # of JSON lines so far
    absents: dict[str, tuple[int, int]] = field(default_factory=dict)  # by column: missing cells, and of unknown words
    kinds: Kinds = field(default_factory=Kinds)  # of JSON lines so far
    findings: list[Finding] = field(default_factory=list)  # of the first rows, or of keys that a first reading decided
    dates: dict[str, str] = field(default_factory=dict)  # columns of words whose first cells are times; their formats
    _first: Kinds | None = None  # of a first reading of files
    _samples: list[tuple[Sample | None, Collection[str]]] = field(default_factory=list)  # ... and what decided roles
    _notes: list[str] = field(default_factory=list)  # that are to be said behind the roles
    _saw_values: bool = False
    _others: set[str] = field(default_factory=set)  # keys that came meanwhile
    _ignored: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._takes_roles, self._is_new = self.schema is None or self.needs_label, self.schema is None
        self.was_read = False  # in a first reading

    @property
    def undecided(self) -> list[str]:
        """The columns that get their roles from the first rows that have a value; none if a model is applied."""
        return self.schema.undecided if self.schema is not None and self._takes_roles else []

    @property
    def is_undecided(self) -> bool:
        """Whether more rows decide roles. In a first reading, all JSON lines do."""
        return self.schema is None or bool(self.undecided) or (self._first is not None and self.schema.open)

    @property
    def reads_first(self) -> bool:
        """Whether this is a first reading of files."""
        return self._first is not None

    @contextmanager
    def first_reading(self) -> Iterator[None]:
        """A reading of files that decides roles, and says which at its end."""
        self._first = Kinds() if self._is_new else None
        yield
        kinds, self._first, self.was_read = self._first, None, True
        if self.schema is not None:
            self._tell(self._samples)
            self._samples = []
            self.take_words(kinds or Kinds())

    def look_at(self, layout: Layout, lines: bytes | memoryview) -> None:
        """Look at JSON lines in a first reading."""
        self.look_at_values(lambda: values_of(bytes(lines)))
        if self._first is not None and layout.schema.open:
            self._first.read(layout.by_first_rows(), lines)

    def look_at_values(self, first: Callable[[], Mapping[str, Sequence[Any]]]) -> None:
        """Look at the values of the first rows, once, unless the roles are those of a model."""
        if not self._is_new or self._saw_values or self.schema is None:
            return
        self._saw_values, typed, columns = True, self.options.roles(), first()
        times = {name: _cells_of(columns[name], self.schema.missing) for name, role in self.schema.roles.items()
                 if role == "time" and name in columns}
        self._find_dates(columns)
        self.schema = self._with_time_format(self.schema, times)
        texts = {name: columns[name] for name, role in self.schema.roles.items() if role == "text" and name in columns}
        self.schema = self._with_unspaced(self.schema, texts)
        for name, values in columns.items():
            role, found = self.schema.roles.get(name, "auto"), ""
            if name in times and not self.schema.time_format:
                found = about_mixed(times[name])
            if role in ("numeric", "auto"):
                found = about_equal(name, (x for x in values if type(x) in (int, float)))
            elif role == "categorical" and name not in typed:
                found = about_words(name, (x for x in values if type(x) is str))
            if found:
                self._notes.append(f"note: column {name}: {found}")
        rows = max(map(len, columns.values()), default=0)
        cells = {name: [*map(_cell_of, values)] for name, values in columns.items() if len(values) == rows}
        self._note_decisive(about_decisive(self.schema, cells, _number_of))
        if not self.reads_first:
            self._tell([])

    def _find_dates(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Find the columns without a typed role whose first values are words, all of which are times."""
        assert self.schema is not None
        typed, roles, missing = self.options.roles(), self.schema.roles, self.schema.missing
        words = {name: _cells_of(values, missing) for name, values in columns.items() if name not in typed
                 and roles.get(name, "auto") in ("auto", "categorical")
                 and all(type(x) is str for x in values if x is not None)}
        self.dates.update(dates_among(words, self.schema.time_format))

    def _note_decisive(self, found: Iterable[Finding]) -> None:
        hints = [*found]
        self.findings += hints
        self._notes += [f"note: column {hint.column}: {hint.sentence}" for hint in hints]

    def _with_time_format(self, schema: Schema, times: Mapping[str, Collection[bytes]], where: Where = ()) -> Schema:
        """The same columns, with the format of times that their first cells show. DataError."""
        try:
            found = "" if schema.time_format else time_format_of(times)
        except SchemaError as e:
            raise DataError(str(e), *where) from None
        if not found:
            return schema
        self._notes.append(f"note: times are read as {typed_formats([found])}")
        return replace(schema, time_format=found)

    def _with_unspaced(self, schema: Schema, texts: Mapping[str, Iterable[Any]]) -> Schema:
        """The same columns, with those of texts without blanks, as another run or their first cells say."""
        known = self.options.unspaced
        found = unspaced_of({name: texts_in(cells) for name, cells in texts.items()}) if known is None else (*known,)
        if found:
            self._notes.append(f"note: {about(found)}")
        return replace(schema, unspaced=found)

    def take_roles(self, roles: Mapping[str, str], where: str = "", sample: Sample | None = None) -> None:
        """Columns that had no value so far have these roles. where: the first row with a value. sample: what decided
        it."""
        assert self.schema is not None
        self.schema = self.schema.with_roles(roles)
        if sample is not None:
            known = {name for name in self.schema.roles if name not in roles}
            self.dates.update(sample.dates(self.schema, known))
        if self._samples:
            self._samples.append((sample, roles))
            return
        for role in dict.fromkeys(roles.values()):
            self.say(f"{where}: the first values of {role} {listed([n for n, r in roles.items() if r == role])}")
        self._tell_notes(sample, roles)

    def take_words(self, kinds: Kinds) -> None:
        """Keys with numbers in some lines and words in others have words alone. A key of an object in a line has no
        role."""
        assert self.schema is not None
        roles = dict(self.schema.roles)
        spaces = {namespace_of(name) for name in roles}
        for path, what in kinds.mixed().items():
            name = path[0]
            if len(path) > 1 or not name or namespace_of(name) in spaces:
                continue
            roles[name] = "categorical"
            spaces.add(namespace_of(name))
            option = typed_names([name])
            how = f"so its values are words: --categorical {option} confirms it, --numeric {option} makes it numeric"
            self.findings.append(Finding(name, f"{what.partition(': ')[2]}, {how}"))
            self.say(f"note: {what}, {how}")
        if roles != self.schema.roles:
            order = (*ROLES, GROUP)  # as if they had been typed
            found = sorted(roles.items(), key=lambda pair: order.index(pair[1]))
            self.schema = replace(self.schema, roles=dict(found))

    def note_kinds(self) -> None:
        """At the end of the data. Say which keys had numbers in some lines and words in others, and were read so."""
        for path, what in self.kinds.mixed().items():
            option = typed_names([*path[:1]])
            how = f"--categorical {option} makes it words, --numeric {option} numbers"
            how = how if self._is_new and len(path) == 1 else "make it one of them"
            self.say(f"note: {what}, each of which is read by its type: {how}")
        self.kinds = Kinds()

    def _tell(self, samples: "Sequence[tuple[Sample | None, Collection[str]]]") -> None:
        """Say what was decided."""
        assert self.schema is not None
        for sample, _ in samples[:1]:
            self.say(self.schema.summary() + (sample.missing(self.schema) if sample else ""))
            self._note_decisive(sample.decisive(self.schema) if sample else ())
        for sample, names in samples:
            self._tell_notes(sample, names)
        while self._notes:
            self.say(self._notes.pop(0))

    def _tell_notes(self, sample: Sample | None, names: Collection[str]) -> None:
        """Notes on these columns."""
        assert self.schema is not None
        others = {name: "" for name in self.schema.roles if name not in names}
        for note in sample.notes(self.schema, {**self.options.roles(), **others}) if sample else ():
            self.say(f"note: {note}")

    @property
    def expected(self) -> bool:
        """Whether the model or the options say that the sources are tables."""
        return self.schema is not None or self.options != RoleOptions()

    def dialect(self, delimiter: str) -> Dialect:
        """How a file with this delimiter is written: as was typed, or else as the model says."""
        quote, escape = (
            getattr(self.options, name) or (getattr(self.schema, name) if self.schema else "")
            for name in ("quote", "escape")
        )
        return Dialect(delimiter, quote != "none", escape.removesuffix("none"))

    def format_of(self, source: str, data: bytes | memoryview) -> str | None:
        """The format of a source of tables, by its name or its first bytes; None where a model knows columns, and the
        text is not a table."""
        first = first_line(data)
        found = by_name(source) or (self.schema.format if self.schema else "") or by_begin(first)
        if found is not None:
            return found
        options = self.options
        if b"|" in first and options == RoleOptions() and (self.schema is None or self.schema.delimiter != "|"):
            return None
        if self.schema is None and options.ngram > 1 and options == RoleOptions(ngram=options.ngram) and detect(data):
            raise DataError(
                f"--ngram is for --text columns of tables, and this is {detect(data)} text: leave the option out",
                source, 1, 1,
            )
        return "csv"

    def ignore(self, source: str, keys: list[str]) -> None:
        """Say, once for each, which keys of JSON lines the model does not have."""
        new = [key for key in dict.fromkeys(keys) if key not in self._ignored]
        if new:
            self._ignored.update(new)
            self.say(f"{source}: columns that are not in the model are ignored: {listed(new)}")

    def count_absents(self, schema: Schema, found: Iterable[tuple[int, int]]) -> None:
        """So many more cells of columns are missing, or have only words that the model does not know."""
        for name, (missing, unknown) in zip(schema.roles, found, strict=True):
            if missing or unknown:
                before = self.absents.get(name, (0, 0))
                self.absents[name] = before[0] + missing, before[1] + unknown

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

    def decide(self, schema: Schema, where: Where, sample: Sample | None = None) -> None:
        """These are the columns. sample: what decided it. DataError if the model knows none, or if there should be a
        label among them."""
        if self.model:
            raise DataError(
                f"this is a table, and the model {self.model} was trained on text without columns: train on a table "
                "with --label NAME, or convert this one to VW text with vwlite convert", *where,
            )
        if self.needs_label and schema.name_of("label") is None:
            there = f": {listed(list(schema.roles))}" if schema.roles else ""
            raise DataError(f"which column is the label? train with --label NAME{there}", *where)
        known = {namespace_of(name) for name, role in schema.roles.items() if role not in OPTIONAL}
        for cross in self.crosses if not schema.open else ():
            unknown = [name for name in cross.split(",") if namespace_of(name) not in known]
            if unknown:
                raise DataError(f"{cross} cannot be crossed: there are no features of a column {unknown[0]}", *where)
        if sample:
            schema = self._with_time_format(schema, sample.times(schema), where)
            schema = self._with_unspaced(schema, sample.texts(schema))
        self.schema = schema
        if sample is not None:
            self.dates.update(sample.dates(self.schema, self.options.roles()))
        decided = (sample, schema.roles)
        if self.reads_first:
            self._samples.append(decided)
        else:
            self._tell([decided])


def _cells_of(values: Iterable[Any], missing: Collection[str]) -> Counter[bytes]:
    """Words and numbers among values, without those that mean a missing one."""
    texts = (str(x).strip() for x in values if type(x) in (str, int, float) and x == x)
    return Counter(text.encode("utf-8", "surrogatepass") for text in texts if text and text not in missing)


def _cell_of(value: Any) -> bytes:
    """A value as the text of a cell; of lists and objects, as of missing values, an empty one."""
    if value is None or value != value or isinstance(value, (list, dict)):
        return b""
    text = str(value).lower() if type(value) is bool else str(value)
    return text.encode("utf-8", "surrogatepass")


def _number_of(cell: bytes) -> float | None:
    return float(cell) if IS_NUMBER.fullmatch(cell) else None


def values_of(lines: bytes) -> dict[str, list[Any]]:
    """The values of the keys in the first JSON lines."""
    found: dict[str, list[Any]] = {}
    for line in lines.split(b"\n", SAMPLE)[:SAMPLE]:
        with suppress(ValueError, RecursionError):
            row = loads(line)
            for name, value in row.items() if type(row) is dict else ():
                found.setdefault(name, []).append(value)
    return found


def json_layout(source: str, table: TableReader) -> Layout:
    """What the parser of JSON lines must know: the keys that have a role. They are known before any line is read."""
    if table.schema is None:
        try:
            table.decide(table.options.open_schema(), (source, 1, 1))
            table.awaited.update(table.options.roles())
        except SchemaError as e:
            raise DataError(str(e), source, 1, 1) from None
    assert table.schema is not None
    tag = table.options.tag
    if tag is None or table.schema.roles.get(tag) == "tag":
        return Layout(table, table.schema)
    table.awaited.add(tag)
    return Layout(table, _with_tag(table.schema, tag))


def as_rows(table: TableReader, source: str, names: Sequence[str], dialect: Dialect = NO_TEXT) -> Layout:
    """The layout of rows that are copied. DataError for two columns with the name of one that is used."""
    for name in table.options.roles():
        if names.count(name) > 1:
            raise DataError(f"two columns are called {name!r}: rename one of them", source, 1, 1)
    places = {name: at for at, name in enumerate(names)}
    return Layout(table, Schema(dict.fromkeys(places, "drop")), (*places.values(),), len(names), dialect, source)


def _with_tag(schema: Schema, tag: str) -> Schema:
    """The schema with this column as its tag."""
    others = {name: "drop" if role == "tag" else role for name, role in schema.roles.items()}
    return replace(schema, roles=others | {tag: "tag"})


def lay_out(
    table: TableReader, source: str, where: Where, names: list[str], dialect: Dialect = NO_TEXT,
    index: Collection[str] = (),
) -> Layout:
    """The positions of the columns in a file with these names. DataError if one is missing; others are noted, except
    those of an index."""
    schema, options = table.schema, table.options
    assert schema is not None
    try:
        keys: list[str] = []
        if schema.open:  # a model of JSON lines: every other column by its values
            new = [name for name in schema.unknown(names) if name not in index]
            keys = [name for name, role in schema.roles.items() if role == "auto" and name not in names]
            roles = {name: role for name, role in schema.roles.items() if name not in keys}
            schema = replace(schema, roles={**roles, **dict.fromkeys(new, "auto")})
        if options.tag is not None and options.tag in names:
            schema = _with_tag(schema, options.tag)
        positions = schema.positions(names)
        if keys:  # which lines need not have, so they are absent
            schema = replace(schema, roles={**schema.roles, **dict.fromkeys(keys, "auto")})
            positions += [-1] * len(keys)
    except SchemaError as e:
        raise DataError(str(e), *where) from None
    table.note_keys(names)
    unknown = [name for name in schema.unknown(names) if name not in index]
    if unknown:
        table.say(f"{source}: columns that are not in the model are ignored: {listed(unknown)}")
    return Layout(table, schema, tuple(positions), len(names), dialect, source)
