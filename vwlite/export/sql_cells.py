"""The cells of a table in SQL, read as `vwlite predict` reads them: the first stages of a query.

    texts       cells as text without blanks at their ends; of columns of numbers, the number
    part1 ...   of models with --time-format: times in that format (sql_formats.py); isos: in ISO 8601
    spelled, signed, bare, unsigned, grouped, numerals    of models with --decimal, --thousands or --units: numbers as
                people write them, without what is beside their digits, in their parts, and as programs do
    mantissas   numbers without their exponents
    numerics    numbers; REFUSED for what is none, NULL for a missing one
    cells       numbers, words, and the texts of times; `readable`
    dates, clocks, moments       the parts of times
    times       days since 1970, and hours

`readable` is 0, or NULL in rows that `vwlite predict` refuses, as a cell is no number or no time: it is added to each
score. Databases cast different texts to numbers, and SQLite takes the first digits of any text, so only what has the
form of a number is cast. They have no regular expressions in common, but all of them have TRIM: what it leaves of a
text without the digits at its ends tells the form.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from vwlite.export.columns import Columns
from vwlite.export.sql_formats import DIGITS, iso_stages
from vwlite.export.sql_text import identifier, literal
from vwlite.model.effects import LevelAxis
from vwlite.output.text import printable
from vwlite.time_formats import typed_formats

BLANKS = "' \t\r\n'"
SPACES = "\u00a0\u2009\u202f"  # beside the ordinary one
MONEY = "$%" + "".join(map(chr, [*range(0xA2, 0xA6), *range(0x20A0, 0x20D0)]))  # signs that amounts may have, and %
LONGEST = 64  # of amounts
MONTH = "'0000-00'"
TOO_LARGE = 3.4028235677973366e38  # for a 32-bit float, from here on
REFUSED = 1e50
ROUND = 536870913.0  # 2^29 + 1: x ROUND - (x ROUND - x) has the 24 bits of a 32-bit float
BOOLEANS = (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("on", "off"))


@dataclass(frozen=True)
class Dialect:
    """What databases have different names for.

    shown: in the comment. number: that of a cell in a column of numbers, NULL of texts; "": there is no name for it.
    is_number: whether the column, in SQLite the cell, has numbers. rounded: a number as a 32-bit float. has_arrays:
    whether tables of numbers are arrays. few: a condition that holds for all rows, but few by the database's estimate.
    """

    shown: str
    number: str
    is_number: str
    rounded: Callable[[str], str]
    has_arrays: bool = False
    few: str = ""


def _split(x: str) -> str:
    return f"{x} * {ROUND} - ({x} * {ROUND} - {x})"


def _cast(x: str) -> str:
    return f"CAST(CASE WHEN ABS({x}) < 1e-37 THEN 0 ELSE CAST({x} AS REAL) END AS DOUBLE PRECISION)"


# In DuckDB and PostgreSQL a literal has the type of the column that it is compared with, and ' 1' is the number 1, but
# not the text '1'. In SQLite, where '1' is more than 2, it is a text; there each number is less than each text, and no
# text is both less than ' 0' and more, as number and text of a cell are.
_BY_COLUMN = "COALESCE(NULLIF({x}, {x}), ' 1') = '1'"
_BY_CELL = "'1' > 2 AND COALESCE({x}, {x}) < ' 0' AND CAST({x} AS VARCHAR) > ' 0'"
# PostgreSQL compiles expressions where it expects many rows, and these for longer than some 100,000 rows take.
_FEW = "CASE WHEN t.{id} IS NULL THEN 0 ELSE 0 END = ALL ('{{0, 0, 0, 0}}')"
_SQLITE = "SQLite 3.35 or later, with its math functions"
_POSTGRES = "PostgreSQL 12 or later"
DIALECTS = {
    "any": Dialect(f"{_SQLITE}; DuckDB; {_POSTGRES}", "", f"{_BY_COLUMN} OR ({_BY_CELL})", _split),
    "sqlite": Dialect(_SQLITE, "CASE WHEN typeof({x}) IN ('integer', 'real') THEN {x} END", "", _split),
    "duckdb": Dialect(
        "DuckDB",
        "CASE WHEN SUBSTR(TYPEOF({x}), 1, 4) NOT IN ('VARC', 'ENUM') THEN NULLIF(TRY_CAST({x} AS DOUBLE), 'nan') END",
        "", _cast),
    "postgres": Dialect(_POSTGRES, "", _BY_COLUMN, _cast, has_arrays=True, few=_FEW),
}


class Reading:
    """The stages. cells: the columns that the model reads, and what their cells are called; `{cell}_r` is a number as a
    32-bit float, `{cell}_day`, `{cell}_hour` and `{cell}_week` (the day; NULL for a month) are those of a time."""

    def __init__(self, columns: Columns, dialect: Dialect) -> None:
        self.columns, self.dialect = columns, dialect
        self.cells: dict[str, str] = {}
        for name in (*columns.numbers, *(name for name, _ in columns.words)):
            self.cells.setdefault(name, f"c{len(self.cells) + 1}")
        self.numbers = [self.cells[name] for name in columns.numbers]
        self.times = list(dict.fromkeys(self.cells[name] for name, part in columns.words if part))
        self._words = {cell: name for name, cell in self.cells.items() if cell not in {*self.numbers, *self.times}}
        self._kept = [*self.times, *self._words]  # the cells that stay texts while numbers are read
        schema, notation = columns.schema, columns.schema.notation
        self.decimal, self.thousands = schema.decimal or ".", schema.thousands
        self.is_plain = notation is not None  # numbers are written as people do
        self.units = notation.units if notation is not None else []
        self.is_wide, self.format = schema.has_wide_times, schema.time_format  # wide: also months and milliseconds
        self.missing = ["", *columns.missing_words]
        if "nan" not in self.missing and "nan" in map(str.lower, self.missing):
            self.missing.append("nan")  # the text of a NaN

    @property
    def may_refuse(self) -> bool:
        """Whether there is `readable`."""
        return bool(self.numbers or self.times)

    def comment(self) -> Iterator[str]:
        """What cells are."""
        if not self.may_refuse:
            return
        words = ", ".join(map(printable, self.columns.missing_words))
        of_words = f", and in columns of numbers and times {words}" if words else ""
        yield f"--\n-- Missing are NULL, an empty text{of_words}.\n"
        yield "-- Where another cell is not a number or time, `vwlite predict` refuses the row: its results are NULL.\n"
        yield "-- In columns of numbers true is 1, and false is 0.\n"
        if self.is_plain and self.numbers:
            unit = f" {printable(self.units[0])}" if self.units else ""
            shown = f"1{self.thousands}234{self.decimal}50{unit}"
            yield f"-- Texts have numbers such as {shown}; columns of numbers have their own point.\n"
        if self.times and self.format:
            yield f"-- Times are texts as {typed_formats([printable(self.format)])} says.\n"

    def stages(self, table: str, id: str) -> Iterator[str]:
        """Up to the one that `last` names."""
        found = {name: f"t.{identifier(name)}" for name in self.cells}
        plain = self.is_plain and bool(self.numbers)
        yield (f"characters(blanks{', money' if plain else ''}) AS "
               f"(VALUES ({BLANKS}{f', {literal(MONEY)}' if plain else ''}))")
        few = f"\nWHERE {self.dialect.few.format(id=id)}" if self.dialect.few else ""
        yield _stage("texts", f"{table} t CROSS JOIN characters{few}", [
            (f"t.{id}", "id"), *(pair for name, cell in self.cells.items() for pair in self._texts(cell, found[name]))])
        before = "texts"
        if self.times and self.format:
            kept = ["id", *(cell for cell in self.cells.values() if cell not in self.times), *self._typed()]
            words = ", ".join(map(literal, self.missing))
            for name, source, chosen in iso_stages(self.format, self.times, kept, words):
                yield _stage(name, source, chosen)
            before = "isos"
        if plain:
            yield from self._amounts(before)
            before = "numerals"
        if self.may_refuse:
            yield self._mantissas(before)
            yield self._values()
            before = "numerics"
        yield self._cells(before)
        if self.times:
            yield from self._dates()

    @property
    def last(self) -> str:
        return "times" if self.times else "cells"

    # --- texts ---------------------------------------------------------------------------------------

    def _texts(self, cell: str, x: str) -> Iterator[tuple[str, str]]:
        text, dialect = f"TRIM(CAST({x} AS VARCHAR), characters.blanks)", self.dialect
        if cell not in self.numbers:
            yield text, cell
            return
        number = dialect.number.format(x=x)
        yield f"CASE WHEN {number} IS NULL THEN {text} END" if number else text, cell
        if number:
            yield number, f"{cell}_v"
        elif self.is_plain:
            yield f"CASE WHEN {dialect.is_number.format(x=x)} THEN 1 ELSE 0 END", f"{cell}_v"

    def _typed(self) -> list[str]:
        """The columns for cells of columns of numbers: the number, or whether there is one."""
        return [f"{cell}_v" for cell in self.numbers] if self.dialect.number or self.is_plain else []

    # --- numbers as people write them: `plain_number` of cython_ext/tables/notation.pyx --------------

    def _amounts(self, before: str) -> Iterator[str]:
        """A unit or a sign of money is at one end, and a sign on either side of it; and groups of digits have three, or
        two before others."""
        kept = [_same(name) for name in ("id", *self._kept, *self.numbers, *self._typed())]
        point = literal(self.decimal)
        found: dict[str, list[tuple[str, str]]] = {}
        for c in self.numbers:
            text, sign, is_signed = f"{c}_t", f"{c}_sign", f"{c}_sign <> ''"
            whole = f"RTRIM({text}, {DIGITS})"
            has_point = f"SUBSTR({whole}, LENGTH({whole})) = {point}"
            for stage, pairs in {
                "spelled": [(f"CASE WHEN LENGTH({c}) <= {LONGEST} THEN {_spelled(c)} END", text)],
                "signed": [(_unsigned(text), text), (_sign(text), sign)],
                "bare": [(self._bare(text), text), _same(sign)],
                "unsigned": [(f"CASE WHEN {is_signed} THEN {text} ELSE {_unsigned(text)} END", text),
                             (f"CASE WHEN {is_signed} THEN {sign} ELSE {_sign(text)} END", sign)],
                "grouped": [
                    (f"CASE WHEN {has_point} THEN SUBSTR({whole}, 1, LENGTH({whole}) - 1) ELSE {text} END",
                     f"{c}_whole"),
                    (f"CASE WHEN {has_point} THEN SUBSTR({text}, LENGTH({whole}) + 1) ELSE '' END", f"{c}_part"),
                    _same(sign)],
                "numerals": [(self._numeral(c), f"{c}_plain")],
            }.items():
                found.setdefault(stage, []).extend(pairs)
        for stage, pairs in found.items():
            yield _stage(stage, f"{before} CROSS JOIN characters" if stage == "bare" else before, [*kept, *pairs])
            before = stage

    def _bare(self, text: str) -> str:
        """A number without the unit or the sign of money beside it."""
        sizes = [(f"= {literal(unit)}", len(unit)) for unit in self.units]
        first, last = f"SUBSTR({text}, 1, 1)", f"SUBSTR({text}, LENGTH({text}))"
        is_money = f"TRIM({{}}, characters.money) = '' AND {text} <> ''"
        whens = [(f"SUBSTR({text}, 1, {n}) {unit}", n) for unit, n in sizes] + [(is_money.format(first), 1)]
        found = [f"WHEN {is_unit} THEN LTRIM(SUBSTR({text}, {n + 1}), ' ')" for is_unit, n in whens]
        whens = [(f"SUBSTR({text}, LENGTH({text}) - {n - 1}) {unit}", n) for unit, n in sizes]
        found += [f"WHEN {is_unit} THEN RTRIM(SUBSTR({text}, 1, LENGTH({text}) - {n}), ' ')"
                  for is_unit, n in [*whens, (is_money.format(last), 1)]]
        return f"CASE {' '.join(found)} ELSE {text} END"

    def _numeral(self, c: str) -> str:
        """As programs write it; NULL if it is none."""
        whole, part = f"{c}_whole", f"{c}_part"
        typed = "" if self.dialect.number else f"WHEN {c}_v = 1 THEN {c} "
        text = f"{c}_sign || {{}} || '.' || {part}"
        found = (f"CASE {typed}WHEN {whole} || {part} = '' THEN NULL "
                 f"WHEN TRIM({whole}, {DIGITS}) = '' THEN {text.format(whole)}")
        if self.thousands:
            t, zeros = self.thousands, _shape(whole)
            right = zeros
            for wrong in ("0000", f"{t}{t}", f"{t}0{t}"):
                right = f"REPLACE({right}, {literal(wrong)}, '')"
            digits = f"REPLACE({whole}, {literal(t)}, '')"
            found += (f" WHEN LENGTH({whole}) > 4 AND TRIM({zeros}, {literal('0' + t)}) = '' "
                      f"AND SUBSTR({zeros}, 1, 1) = '0' AND {right} = {zeros} "
                      f"AND SUBSTR({zeros}, LENGTH({whole}) - 3) = {literal(t + '000')} THEN {text.format(digits)}")
        return found + " END"

    # --- numbers as programs write them --------------------------------------------------------------

    def _text_of(self, c: str) -> str:
        return f"{c}_plain" if self.is_plain and c in self.numbers else c

    def _mantissas(self, before: str) -> str:
        found = [_same(name) for name in ("id", *self._kept, *self.numbers, *self._typed())]
        for c in (*self.numbers, *self.times):
            text = self._text_of(c)
            if text != c:
                found.append(_same(text))
            found.append((_mantissa(text), f"{c}_m"))
        found += [(_shape(c), f"{c}_s") for c in self.times]
        return _stage("mantissas", before, found)

    def _values(self) -> str:
        found = [_same(name) for name in ("id", *self._words)]
        words = ", ".join(map(literal, self.missing))
        for c in (*self.numbers, *self.times):
            text = self._text_of(c)
            x = f"CASE WHEN {_has_form(f'{c}_m')} THEN {_number(text, f'{c}_m')} ELSE {REFUSED} END"
            if c in self.times:
                found += [(f"CASE WHEN {c} IN ({words}) THEN NULL ELSE {c} END", c), (x, f"{c}_x"), _same(f"{c}_s")]
                continue
            x = (f"CASE WHEN {c} IS NULL OR {c} IN ({words}) THEN NULL WHEN {c} = 'true' THEN 1.0 "
                 f"WHEN {c} = 'false' THEN 0.0 ELSE {x} END")
            found.append((f"COALESCE({c}_v, {x})" if self.dialect.number else x, c))
        return _stage("numerics", "mantissas", found)

    # --- cells ---------------------------------------------------------------------------------------

    def _cells(self, before: str) -> str:
        found = [_same("id"), *(_same(f"{c}{kind}") for c in self.times for kind in ("", "_x", "_s"))]
        found += [(self._word(name, cell), cell) for cell, name in self._words.items()]
        none = ", ".join(map(repr, self.columns.missing_numbers))
        for c in self.numbers:
            x = f"CASE WHEN {self.dialect.rounded(c)} IN ({none}) THEN NULL ELSE {c} END" if none else c
            found.append((f"CASE WHEN ABS({c}) < {TOO_LARGE!r} THEN {x} END", c))
        if self.may_refuse:
            found.append((_readable([f"ABS({c}) >= {TOO_LARGE!r}" for c in self.numbers]), "readable"))
        return _stage("cells", before, found)

    def _word(self, name: str, cell: str) -> str:
        """A word. Where words are those of a boolean, the database's own mean the same: true, false, 1, 0. Where they
        are whole numbers, 2.0 means 2: some programs store such columns as floats if a cell is missing."""
        levels = {level for axis in self.columns.axes if isinstance(axis, LevelAxis) and axis.column == name
                  for level in axis.levels}
        found = {level.lower(): level for level in levels}
        for pair in BOOLEANS:
            if len(levels) == 2 and set(found) == set(pair):
                yes, no = (literal(found[word]) for word in pair)
                return (f"CASE WHEN {cell} IN ('true', '1') THEN {yes} WHEN {cell} IN ('false', '0') THEN {no} "
                        f"ELSE NULLIF({cell}, '') END")
        is_safe = self.columns.schema.has_wholes or not any(level.endswith(".0") for level in levels)
        if is_safe and any(re.fullmatch("-?[0-9]+", level) for level in levels):
            return _without_zeros(cell)
        return f"NULLIF({cell}, '')"

    # --- times: `read_time` of cython_ext/tables/cells.pyx -------------------------------------------

    def _dates(self) -> Iterator[str]:
        others = ["id", *self._words, *self.numbers]
        found = [_same(name) for name in (*others, "readable", *self.times)]
        for c in self.times:
            size, digits = f"{c}_size", f"CAST(CAST({c}_x AS INTEGER) AS VARCHAR)"
            begins = (f"CASE WHEN SUBSTR({c}_s, 1, 10) = '0000-00-00' AND SUBSTR({c}_s, 11, 1) IN ('', 'T', 't', ' ') "
                      f"THEN 10 WHEN SUBSTR({c}_s, 1, 8) = '00000000' AND SUBSTR({c}_s, 9, 1) IN ('', 'T', 't', ' ') "
                      f"THEN 8{f' WHEN {c}_s = {MONTH} THEN 7' * self.is_wide} ELSE 0 END")
            whole, most = f"FLOOR({c}_x) = {c}_x", "9.2e18" if self.is_wide else "1e12"
            more = f" OR {c}_x >= 1.9e13 AND {c}_x < 2.1e13" * self.is_wide
            x = (f"CASE WHEN ABS({c}_x) >= {most} OR ({whole} AND ({c}_x >= 1000 AND {c}_x < 10000 "
                 f"OR {c}_x >= 100000 AND {c}_x < 1000000{more})) THEN NULL ELSE {c}_x END")
            date = f"CASE WHEN {whole} AND {c}_x >= 10000000 AND {c}_x < 100000000 THEN {digits} END"
            found += [(begins, size), (x, f"{c}_x"), (date, f"{c}_d"), _same(f"{c}_s")]
        yield _stage("dates", "cells", found)
        found = [_same(name) for name in (*others, "readable", *self.times)]
        for c in self.times:
            size = f"{c}_size"
            zone = f"LTRIM(SUBSTR({c}, {size} + 2), '0123456789:.,')"
            clock = f"SUBSTR({{}}, {size} + 2, LENGTH({c}) - {size} - 1 - LENGTH({zone}))"
            has_clock = f"{size} > 0 AND LENGTH({c}) > {size}"
            found += [
                _same(f"{c}_x"), _same(size),
                (f"CASE {size} WHEN 10 THEN REPLACE(SUBSTR({c}, 1, 10), '-', '') WHEN 8 THEN SUBSTR({c}, 1, 8) "
                 f"WHEN 7 THEN REPLACE({c}, '-', '') || '01' ELSE {c}_d END", f"{c}_d"),
                (f"CASE WHEN {has_clock} THEN {clock.format(f'{c}_s')} END", f"{c}_s"),
                (f"CASE WHEN {has_clock} THEN REPLACE({clock.format(c)}, ':', '') END", f"{c}_clock"),
                (zone, f"{c}_zone")]
        yield _stage("clocks", "dates", found)
        found = [_same(name) for name in (*others, *self.times)]
        for c in self.times:
            unit = f" * {_unit(c)}" * self.is_wide
            found += [(_day(c, unit), f"{c}_day"), (_hour(c, unit), f"{c}_hour"), _same(f"{c}_size")]
        yield _stage("moments", "clocks", [*found, _same("readable")])
        others += [f"{c}{kind}" for c in self.times for kind in ("", "_day", "_hour")]
        found = [_same(name) for name in others]
        found += [(f"CASE WHEN {c}_size <> 7 THEN {c}_day END", f"{c}_week") for c in self.times]
        yield _stage("times", "moments", [*found, (
            _readable([f"{c} IS NOT NULL AND {c}_day IS NULL" for c in self.times], "readable"), "readable")])


def _same(name: str) -> tuple[str, str]:
    return name, name


def _stage(name: str, source: str, columns: Sequence[tuple[str, str]]) -> str:
    shown = ",\n  ".join(text if text == called else f"{text} AS {called}" for text, called in columns)
    return f"{name} AS MATERIALIZED (\nSELECT {shown}\nFROM {source})"


def _readable(refused: Iterable[str], rest: str = "CAST(0 AS DOUBLE PRECISION)") -> str:
    whens = "".join(f"\n    WHEN {condition} THEN NULL" for condition in refused)
    return f"CASE{whens} ELSE {rest} END" if whens else rest


def _shape(text: str) -> str:
    """The text with zeros for its digits."""
    for digit in range(1, 10):
        text = f"REPLACE({text}, '{digit}', '0')"
    return text


def _spelled(text: str) -> str:
    """A number with one kind of blank, of apostrophe and of minus."""
    for blank in SPACES:
        text = f"REPLACE({text}, '{blank}', ' ')"
    return f"TRIM(REPLACE(REPLACE({text}, '\u2019', ''''), '\u2212', '-'), ' ')"


def _sign(x: str) -> str:
    """The sign before a number, a minus behind it, or that of the brackets around it; '' without one."""
    first, last = f"SUBSTR({x}, 1, 1)", f"SUBSTR({x}, LENGTH({x}))"
    return (f"CASE WHEN {first} IN ('+', '-') THEN {first} WHEN {last} = '-' OR {first} || {last} = '()' THEN '-' "
            "ELSE '' END")


def _unsigned(x: str) -> str:
    """A number without that."""
    first, last = f"SUBSTR({x}, 1, 1)", f"SUBSTR({x}, LENGTH({x}))"
    return (f"CASE WHEN {first} IN ('+', '-') THEN SUBSTR({x}, 2) WHEN {last} = '-' THEN "
            f"SUBSTR({x}, 1, LENGTH({x}) - 1) WHEN {first} || {last} = '()' THEN SUBSTR({x}, 2, LENGTH({x}) - 2) "
            f"ELSE {x} END")


def _mantissa(text: str) -> str:
    """A number without its sign and exponent."""
    before = f"RTRIM({text}, {DIGITS})"
    begin, size = f"CASE WHEN SUBSTR({text}, 1, 1) IN ('-', '+') THEN 2 ELSE 1 END", f"LENGTH({before})"
    end = (f"CASE WHEN {before} = {text} THEN LENGTH({text}) "
           f"WHEN SUBSTR({before}, {size}) IN ('e', 'E') THEN {size} - 1 "
           f"WHEN SUBSTR({before}, {size} - 1) IN ('e+', 'E+', 'e-', 'E-') THEN {size} - 2 ELSE LENGTH({text}) END")
    return (f"CASE WHEN TRIM({text}, {DIGITS}) IN ('', '.') THEN {text} "
            f"ELSE SUBSTR({text}, {begin}, {end} + 1 - {begin}) END")


def _has_form(m: str) -> str:
    """Whether a mantissa is one: digits, and at most a point."""
    return f"TRIM({m}, {DIGITS}) IN ('', '.') AND {m} NOT IN ('', '.')"


def _number(text: str, m: str) -> str:
    """The number of a text that has the form of one. Exponents of three digits are not cast, as some databases refuse
    results that are too large or too small."""
    before = f"RTRIM({text}, {DIGITS})"
    digits = f"LTRIM(SUBSTR({text}, LENGTH({before}) + 1), '0')"
    return (f"CASE WHEN LENGTH({text}) - LENGTH({m}) <= 1 OR LENGTH({digits}) <= 2 "
            f"THEN CAST({text} AS DOUBLE PRECISION) "
            f"WHEN SUBSTR({before}, LENGTH({before})) = '-' OR TRIM({m}, '.0') = '' THEN 0.0 ELSE {REFUSED} END")


def _without_zeros(cell: str) -> str:
    """A word; a whole number such as 2.0 without its point and zeros."""
    before = f"RTRIM({cell}, '0')"
    number = f"SUBSTR({before}, 1, LENGTH({before}) - 1)"
    digits = f"CASE WHEN SUBSTR({cell}, 1, 1) = '-' THEN SUBSTR({number}, 2) ELSE {number} END"
    is_whole = f"TRIM({digits}, {DIGITS}) = '' AND ({digits} = '0' OR SUBSTR({digits}, 1, 1) BETWEEN '1' AND '9')"
    return (f"CASE WHEN {before} <> {cell} AND SUBSTR({before}, LENGTH({before})) = '.' "
            f"THEN CASE WHEN {is_whole} THEN {number} ELSE {cell} END ELSE NULLIF({cell}, '') END")


# --- times: days since 1970, and the hour, of ISO 8601 or seconds since 1970 ---------------------------------------


def modulo(x: str, by: int) -> str:
    return f"({x} - {by} * FLOOR({x} / {by}.0))"


def _unit(c: str) -> str:
    """How much of a number is a second."""
    return (f"CASE WHEN ABS({c}_x) < 1e11 THEN 1.0 WHEN ABS({c}_x) < 1e14 THEN 1000.0 "
            f"WHEN ABS({c}_x) < 1e17 THEN 1000000.0 ELSE 1000000000.0 END")


def _day(c: str, unit: str) -> str:
    """NULL for what is no time. unit: what the seconds are multiplied by; in models of 0.2.0 there is none."""
    year, month, day = (f"CAST(SUBSTR({c}_d, {begin}, {size}) AS INTEGER)" for begin, size in ((1, 4), (5, 2), (7, 2)))
    leap = f"({year} % 4 = 0 AND {year} % 100 <> 0 OR {year} % 400 = 0)"
    last = (f"CASE WHEN {month} IN (4, 6, 9, 11) THEN 30 WHEN {month} <> 2 THEN 31 WHEN {leap} THEN 29 ELSE 28 END")
    is_date = f"{year} >= 1 AND {month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND {last}"
    fraction = f"RTRIM({c}_s, '0')"
    in_full = f"CASE {c}_size WHEN 10 THEN '00:00:00' ELSE '000000' END"
    is_clock = (f"CASE WHEN SUBSTR({fraction}, LENGTH({fraction})) IN ('.', ',') "
                f"THEN {fraction} <> {c}_s AND SUBSTR({fraction}, 1, LENGTH({fraction}) - 1) = {in_full} "
                f"WHEN {c}_size = 10 THEN {c}_s IN ('00', '00:00', '00:00:00') "
                f"ELSE {c}_s IN ('00', '0000', '000000') END "
                f"AND SUBSTR({c}_clock, 1, 2) <= '23' AND SUBSTR({c}_clock, 3, 2) <= '59' "
                f"AND SUBSTR({c}_clock, 5, 2) <= '60'")
    zone, zeros = f"{c}_zone", _shape(f"{c}_zone")
    names = ", ' UTC', ' GMT'" * bool(unit)
    is_zone = (f"({zone} IN ('', 'Z', 'z'{names}) OR {zeros} IN ('+00', '-00', '+0000', '-0000', '+00:00', '-00:00') "
               f"AND SUBSTR({zone}, 2, 2) <= '23' AND SUBSTR({zone}, LENGTH({zone}) - 1) <= '59')")
    seconds = f"FLOOR({c}_x / (86400.0{unit}))"
    return (f"CASE WHEN {c}_d IS NOT NULL THEN CASE WHEN {is_date} AND ({c}_s IS NULL OR {is_clock} AND {is_zone}) "
            f"THEN {_days(year, month, day)} END WHEN {seconds} BETWEEN -719162 AND 2932896 THEN {seconds} END")


def _days(year: str, month: str, day: str) -> str:
    """Howard Hinnant. chrono-Compatible Low-Level Date Algorithms (days_from_civil)."""
    y = f"({year} - CASE WHEN {month} <= 2 THEN 1 ELSE 0 END)"
    of_year = f"FLOOR((153.0 * ({month} + CASE WHEN {month} > 2 THEN -3 ELSE 9 END) + 2) / 5.0)"
    return (f"365 * {y} + FLOOR({y} / 4.0) - FLOOR({y} / 100.0) + FLOOR({y} / 400.0) + {of_year} + {day} - 719469")


def _hour(c: str, unit: str) -> str:
    """NULL for a date."""
    return (f"CASE WHEN {c}_s IS NOT NULL AND SUBSTR({c}_s, 1, 2) = '00' THEN CAST(SUBSTR({c}_clock, 1, 2) AS INTEGER) "
            f"WHEN {c}_d IS NULL THEN {modulo(f'FLOOR({c}_x / (3600.0{unit}))', 24)} END")


def month_of(day: str) -> str:
    """The month of a day, from 0 (civil_from_days)."""
    of_era = modulo(f"({day} + 719468)", 146097)
    year = (f"FLOOR(({of_era} - FLOOR({of_era} / 1460.0) + FLOOR({of_era} / 36524.0) - FLOOR({of_era} / 146096.0)) "
            "/ 365.0)")
    of_year = f"({of_era} - (365 * {year} + FLOOR({year} / 4.0) - FLOOR({year} / 100.0)))"
    from_march = f"FLOOR((5 * {of_year} + 2) / 153.0)"
    return modulo(f"({from_march} + 2)", 12)
