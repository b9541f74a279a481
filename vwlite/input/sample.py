"""Statistics of the first rows of a delimited table: which columns are numeric, missing values, likely mistakes."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from struct import pack, unpack
from typing import TYPE_CHECKING, NamedTuple

from vwlite.core.tables.cells import parts_of_time, time_of
from vwlite.input.dates import DIGITS, dates_among
from vwlite.input.decisive import MOST_CLASSES, decisive
from vwlite.input.diagnostics import IS_NUMBER, shown
from vwlite.input.schema import CELLS_MISSING, GROUP, SAMPLE, Schema, SchemaError, listed
from vwlite.names import names_text
from vwlite.time_formats import ADVISED, LIKELY, SINCE_1970, typed_formats

if TYPE_CHECKING:
    from vwlite.input.written import NumberOptions

NEARLY = 0.9  # a share of the cells of a column that counts as nearly all
FEW = 50  # cells: too few to see whether most values are distinct
LONGEST_WHOLE = 18  # digits of a whole number that may be the name of a column
EXACT_32, LARGEST_32 = 1 << 24, 3.4e38  # 32-bit floats: whole numbers up to the first are exact; about the largest
FIRST_SECOND, LAST_SECOND = 3e8, 4.3e9  # since 1970, of times that are likely
MOST_OTHERS = 5  # distinct words among numbers that may mean a missing number

_DATE = re.compile(rb"\d{1,4}[./]\d{1,2}[./]\d{1,4}\b")  # the order of day and month is unknown
_NO_VALUE = re.compile(rb"[?.*#/-]+|(?i:none|null|nil|missing|unknown|empty|n\.?/?a\.?)")  # whatever --missing says
_DATES = "dates or times, each of which is a category"


class Finding(NamedTuple):
    """A hint about a column. option: the option that it recommends, if it is clear."""

    column: str
    sentence: str
    option: str = ""
    words: tuple[str, ...] = ()  # of --missing
    reading: "NumberOptions | None" = None  # of numbers
    time_format: str = ""


class Sample:
    """The cells of the columns of a table, without blanks at their ends. rows: how many rows were read, of which there
    may be more if they are SAMPLE; 0: these are all. schema: how cells are read. cells: those of each row; none if rows
    are not known."""

    def __init__(
        self, names: Sequence[str], columns: "Sequence[Counter[bytes]]", rows: int, schema: Schema,
        cells: Sequence[Sequence[bytes]] = (),
    ) -> None:
        self._schema, self._notation, self._words = schema, schema.notation, schema.missing
        self._names, self._columns, self._rows, self._cells = names, columns, rows, cells
        self._missing = {word.encode("utf-8", "surrogateescape") for word in self._words} | {b""}
        self._numbers = {float(word) for word in self._missing if IS_NUMBER.fullmatch(word)}

    def numeric(self) -> list[bool | None]:
        """For each column, whether all of its cells that are not missing are numbers; None: all are missing."""
        found = (column.keys() - self._missing for column in self._columns)
        return [all(map(self._is_number, cells)) if cells else None for cells in found]

    def _number(self, cell: bytes) -> float | None:
        """The number that a numeric column reads in a cell; None: there is none."""
        text = cell if self._notation is None else self._notation.number_of(cell) or b""
        return float(text) if IS_NUMBER.fullmatch(text) else None

    def _is_number(self, cell: bytes) -> bool:
        return self._number(cell) is not None

    def times(self, schema: Schema) -> dict[str, Collection[bytes]]:
        """The different cells of columns of times, without those that are missing."""
        return {name: column.keys() - self._missing for name, column in zip(self._names, self._columns, strict=True)
                if schema.roles[name] == "time"}

    def dates(self, schema: Schema, typed: Collection[str]) -> dict[str, str]:
        """The categorical columns whose cells are all times, each with its format. typed: columns with a typed role."""
        cells = {name: column.keys() - self._missing for name, column in zip(self._names, self._columns, strict=True)}
        return dates_among({name: found for name, found in cells.items()
                            if schema.roles[name] == "categorical" and name not in typed}, schema.time_format)

    def texts(self, schema: Schema) -> dict[str, Iterable[bytes]]:
        """The cells of columns of texts."""
        return {name: column.elements() for name, column in zip(self._names, self._columns, strict=True)
                if schema.roles[name] == "text"}

    def missing(self, schema: Schema) -> str:
        """The shares of missing cells, as part of the line about the columns."""
        found = []
        for name, column in zip(self._names, self._columns, strict=True):
            role = schema.roles[name]
            count = column[b""]
            if role in CELLS_MISSING:
                count = sum(column[word] for word in self._missing)
            if role == "numeric" and self._numbers:
                others = (x for x in column.keys() - self._missing if IS_NUMBER.fullmatch(x))
                count += sum(column[x] for x in others if float(x) in self._numbers)
            if count and role not in ("drop", "tag", GROUP):
                found.append((name, count))
        of = f"of the first {SAMPLE} rows" if self._rows >= SAMPLE else f"of {self._rows} rows"
        return f"; missing: {listed([name for name, _ in found], [n for _, n in found])} {of}" if found else ""

    def notes(self, schema: Schema, typed: Mapping[str, str]) -> Iterator[str]:
        """The sentences of `findings`."""
        return (f"column {found.column}: {found.sentence}" for found in self.findings(schema, typed))

    def findings(self, schema: Schema, typed: Mapping[str, str]) -> Iterator[Finding]:
        """Hints about columns whose role was not typed, with the options that change it."""
        for name, column in zip(self._names, self._columns, strict=True):
            role = schema.roles[name]
            cells = {cell: n for cell, n in column.items() if cell not in self._missing}
            others = {cell: n for cell, n in cells.items() if not self._is_number(cell)}
            are_dates = role == "numeric" and all(map(DIGITS.fullmatch, cells)) and all(map(time_of, cells))
            numbers = map(self._number, cells) if role == "numeric" and not are_dates else ()
            if equal := about_equal(name, (x for x in numbers if x is not None)):
                yield Finding(name, equal)
            if role == "label" and others and self._missing - {b""} & column.keys():
                found = self._shown(self._missing - {b""} & column.keys())
                yield Finding(name, f"{found} means a missing label, not a class: --missing WORDS changes that")
            if role in ("label", "importance") and (written := self._written_label(name, role, cells, others)):
                yield written
            if typed.get(name) == role == "time" and not schema.time_format and (mixed := about_mixed(cells)):
                yield Finding(name, mixed)
            if name in typed or not cells:
                continue
            if are_dates:
                how = f"--time {typed_names([name])} extracts weekday and month"
                yield Finding(name, f"dates, read as large numbers: {how}", "--time")
            if role == "categorical" and (about := self._about_category(name, cells, others)):
                yield about

    def _about_category(self, name: str, cells: Mapping[bytes, int], others: Mapping[bytes, int]) -> Finding | None:
        """What the cells of a categorical column may be. others: the cells that are not numbers."""
        total, bad, option = sum(cells.values()), sum(others.values()), typed_names([name])
        formats = formats_of(others, ADVISED)
        dates = sum(n for cell, n in others.items() if time_of(cell) or _DATE.match(cell))
        mostly = total - bad >= NEARLY * total or (total > bad and all(map(_NO_VALUE.fullmatch, others)))
        written = self._as_written(name, cells) if bad else None
        if written is not None:
            return written
        if bad and len(others) <= MOST_OTHERS and mostly:
            more = tuple(sorted(cell.decode("utf-8", "replace") for cell in others))
            words = typed_names([*self._words, *more])
            return Finding(name, f"{total - bad} of {total} cells are numbers, but not {self._shown(others)}, so it "
                                 f"is categorical: --missing {words} makes it numeric, --categorical {option} "
                                 "confirms it", "--missing", more)
        if formats and bad == total:
            how = f"--time {option} {typed_formats(formats)} extracts hour, weekday and month"
            only = formats[0] if len(formats) == 1 else ""
            return Finding(name, f"{_DATES}: {how}", "--time" * bool(only), time_format=only)
        if dates >= NEARLY * total:
            known = all(map(time_of, others))
            unread = [cell for cell in others if _DATE.match(cell)]
            like = formats_of(unread, ADVISED)
            how = "" if not unread else f" {typed_formats(like)}" if like else " --time-format FORMAT"
            return Finding(name, f"{_DATES}: --time {option}{how} extracts hour, weekday and month; --drop {option} "
                                 "leaves them out", "--time" if known else "--drop")
        if total >= FEW and len(cells) >= NEARLY * total:
            texts = sum(n for cell, n in cells.items() if b" " in cell) >= total / 2
            words = f"; --text {option} makes a feature of each word" if texts else ""
            of, when = ("the first ", " if they are ids") if self._rows >= SAMPLE else ("", "")
            return Finding(name, f"{len(cells)} of {of}{total} cells differ, and each is a category: --drop "
                                 f"{option} leaves them out{when}{words}", "--text" if texts else "--drop")
        return None

    def decisive(self, schema: Schema) -> Iterator[Finding]:
        """Hints about columns that alone tell the label."""
        rows = {name: [cell if cell not in self._missing else b"" for cell in column]
                for name, column in zip(self._names, zip(*self._cells, strict=False), strict=False)}
        return about_decisive(schema, rows, self._number)

    def _written_label(
        self, name: str, role: str, cells: Mapping[bytes, int], others: Mapping[bytes, int]
    ) -> Finding | None:
        """A hint about labels or importances that are numbers with signs, separators or units. Few different labels,
        such as 5 stars, are classes."""
        if not others or (role == "label" and len(cells) <= MOST_CLASSES):
            return None
        return self._as_written(name, cells, "is a word" if role == "label" else "is no importance")

    def _as_written(self, name: str, cells: Mapping[bytes, int], now: str = "is a category") -> Finding | None:
        """A hint about numbers with signs, separators or units, if nearly all cells are such numbers. now: what each is
        without options."""
        from vwlite.input.written import reading_of  # not at the top: few tables have a note

        total = sum(cells.values())
        found = reading_of(cells, self._schema, self._is_number, NEARLY * total)
        if found is None:
            return None
        what = "units" if found.units else "signs or separators"
        return Finding(name, f"{found.read} of {total} cells are numbers with {what}, such as "
                             f"'{shown(found.example)}', and each {now}: {found.advice}", reading=found)

    @staticmethod
    def _shown(cells: "Mapping[bytes, int] | set[bytes]") -> str:
        return ", ".join(f"'{shown(cell)}'" for cell in sorted(cells))


def about_decisive(
    schema: Schema, columns: Mapping[str, Sequence[bytes]], number: Callable[[bytes], float | None]
) -> Iterator[Finding]:
    """Hints about columns that alone tell the label. columns: cells of the first rows; "" is a missing one. Keys of
    JSON lines need no role."""
    label = schema.name_of("label")
    kept = {name: cells for name, cells in columns.items()
            if schema.roles.get(name, "auto") in ("numeric", "categorical", "time", "auto")}
    if label is None or label not in columns:
        return
    for name, what in decisive(columns[label], kept, number):
        how = f"--drop {typed_names([name])} leaves it out if it is known only after the label"
        yield Finding(name, f"{what}: {how}")


def formats_of(cells: Iterable[bytes], formats: Sequence[str]) -> list[str]:
    """Those that read all cells as times."""
    found = [(format, format.encode()) for format in formats]
    for cell in cells:
        found = [pair for pair in found if parts_of_time(cell, pair[1])]
        if not found:
            break
    return [format for format, _ in found]


def time_format_of(columns: Mapping[str, Collection[bytes]]) -> str:
    """The format that reads nearly all times of these columns, and more than others do; "": they are ISO 8601 or
    numbers, or there is none. SchemaError if there are two, or only some columns have it."""
    others = [name for name, cells in columns.items() if sum(map(bool, map(time_of, cells))) < NEARLY * len(cells)]
    cells = [cell for name in others for cell in columns[name]]
    read = {format: sum(parts_of_time(cell, format.encode()) is not None for cell in cells) for format in LIKELY}
    most = max(read.values())
    if not cells or most < NEARLY * len(cells):
        return ""
    found = [format for format in LIKELY if read[format] == most]
    known = [name for name, cells in columns.items() if cells and name not in others]
    if known:
        raise SchemaError(f"times of column {listed(others)} are as {typed_formats(found)} says, and those of column "
                          f"{listed(known)} are not: write all in one way")
    if len(found) > 1:
        one = shown(min(columns[others[0]]))
        raise SchemaError(f"times of column {listed(others)}, such as '{one}': add {typed_formats(found)}, as both "
                          "read the first rows")
    return found[0]


def about_mixed(cells: Mapping[bytes, int]) -> str:
    """What to say of a column of times that has both dates and numbers; "": nothing."""
    numbers = sum(n for cell, n in cells.items() if IS_NUMBER.fullmatch(cell) and not DIGITS.fullmatch(cell))
    total = sum(cells.values())
    what = f"dates of ISO 8601 in {total - numbers} of {total} cells, and numbers since 1970 in {numbers}"
    return f"{what}: both are read as times" if 0 < numbers < total else ""


def about_equal(name: str, numbers: Iterable[float]) -> str:
    """What to do about numbers of a numeric column that are equal as 32-bit floats, if they are many; "": they are few.
    From 2^24 on, not every whole number is such a float."""
    large = {x for x in numbers if EXACT_32 < abs(x) < LARGEST_32}
    kept = {unpack("f", pack("f", x)) for x in large}
    if not large or len(kept) > NEARLY * len(large):
        return ""
    option, units = typed_names([name]), units_since_1970(large)
    time = f", --time {option} reads {units} since 1970" if units else ""
    return (f"{len(large):,} different numbers become {len(kept):,} as 32-bit floats, the type of numbers here: "
            f"subtract a start from them in the data{time}, or --categorical {option} makes each a category")


def units_since_1970(numbers: Collection[float]) -> str:
    """Which parts of time since 1970 these numbers may be; "": none."""
    low, high, units = min(numbers), max(numbers), enumerate(SINCE_1970)
    return next((unit for k, unit in units if low / 1000**k > FIRST_SECOND and high / 1000**k < LAST_SECOND), "")


def about_words(name: str, words: Iterable[str]) -> str:
    """What to do about a categorical column whose values have the type of words, and are all numbers; "": nothing."""
    cells = {word.strip().encode("utf-8", "surrogateescape") for word in words} - {b""}
    if not cells or not all(map(IS_NUMBER.fullmatch, cells)):
        return ""
    return f"its words are all numbers, and each is a category: --numeric {typed_names([name])} makes it numeric"


def is_data(names: Sequence[str]) -> bool:
    """Whether a header is more likely a row of data.

    Whole numbers that rise by one, as pandas names columns, are names. Else it is data if most cells are numbers, or a
    number occurs twice, or there are several numbers and an empty cell.
    """
    numbers = [name for name in names if IS_NUMBER.fullmatch(name.encode("utf-8", "surrogateescape"))]
    whole = [int(name) for name in numbers if name.isdecimal() and len(name) <= LONGEST_WHOLE]
    if len(whole) == len(numbers) and whole == list(range(whole[0], whole[0] + len(whole)) if whole else ()):
        return False
    return 2 * len(numbers) > len(names) or len(set(numbers)) < len(numbers) or (len(numbers) > 1 and "" in names)


def typed_names(names: Sequence[str]) -> str:
    """Names as an option takes them, for a shell."""
    from vwlite.output.shell_words import quoted  # not at the top: few tables have a note

    return quoted(names_text(names))
