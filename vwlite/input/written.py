"""Numbers as people write them: the options that read the cells of a column."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from vwlite.core.tables.notation import Notation
from vwlite.input.schema import Schema, fits_unit
from vwlite.names import names_text
from vwlite.output.shell_words import joined

MOST_UNITS, LONGEST_UNIT = 5, 20  # that are advised, and characters of one
FEW = 4  # different cells for each of several units: fewer are categories, such as 1.5Fin, 1.5Unf and 2Story

_PAIRS = ((".", ","), (",", "."), (",", " "), (".", " "), (".", "'"))  # decimal point, between thousands
_BLANKS = " \u00a0\u2009\u202f"
_SAME = {" ": _BLANKS, "'": "'\u2019"}  # characters that are a separator too
_DIGIT = re.compile(rb"[0-9]")
_NUMBER = re.compile(rf"(?:(?<!\w)[.,])?\d(?:[\d.,'\u2019{_BLANKS}]*\d)?[.,]?")
_UNIT = re.compile("(?:[^\\W\\d_]|[°/\"\u2032\u2033])\\D*(?:(?<=[^\\W\\d_])[0-9])?")  # as m2
_MONEY = re.compile(
    "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|HUF|IDR|ILS|INR|JPY|KRW|MXN|MYR|NOK|NZD|PHP|PLN|RON|RUB|SEK|SGD|THB|TRY|"
    r"TWD|UAH|USD|VND|ZAR|US\$|[ACR]\$|Fr\.?|Kč|kr\.?|R[ps]\.?|zł"
)


class NumberOptions(NamedTuple):
    """The options. read: how many cells. example: one of them that is not read without options."""

    decimal: str = ""
    thousands: str = ""
    units: tuple[str, ...] = ()
    read: int = 0
    example: bytes = b""
    is_comma: bool = False  # the cells are numbers with a decimal comma, too

    @property
    def options(self) -> list[str]:
        """As words of a command."""
        needs_point = self.decimal == "," or not (self.thousands or self.units)
        found = ["--decimal", self.decimal] if self.decimal and needs_point else []
        found += ["--thousands", self.thousands] if self.thousands else []
        return found + (["--units", names_text(self.units)] if self.units else [])

    @property
    def advice(self) -> str:
        """As a part of a sentence."""
        converts = ", but converts none of these units into another" if len(self.units) > 1 else ""
        comma = ", or --decimal , if the comma is their decimal point" if self.is_comma else ""
        return f"{joined(self.options)} reads them{converts}{comma}"


def together(readings: Iterable[NumberOptions]) -> NumberOptions:
    """The options for several columns: the point is that of numbers with groups of digits, or else a comma of one."""
    found = [*readings]
    first = max(found, key=lambda r: (r.thousands != "", r.decimal == ","), default=NumberOptions())
    return first._replace(units=tuple(dict.fromkeys(unit for r in found for unit in r.units)))


def reading_of(
    cells: Mapping[bytes, int], schema: Schema, is_read: Callable[[bytes], bool], enough: float
) -> NumberOptions | None:
    """The options that read `enough` of these cells, and some that are not read now; None: there are none. is_read:
    whether a numeric column of the schema reads a cell."""
    if sum(count for cell, count in cells.items() if _DIGIT.search(cell)) < enough:
        return None
    typed = schema.decimal, schema.thousands
    pairs = [pair for pair in _PAIRS if all(a in ("", b) for a, b in zip(typed, pair, strict=True))]
    for units in dict.fromkeys((schema.units, tuple(dict.fromkeys((*schema.units, *_units(cells)))))):
        found = [_read(cells, *pair, units) for pair in pairs or [(schema.decimal or ".", schema.thousands)]]
        best, read = max(found, key=lambda pair: pair[0].read)
        new = [cell for cell in read if not is_read(cell)]
        if best.read >= enough and len(new) >= (FEW * len(best.units) if len(best.units) > 1 else 1):
            with_comma = max((other.read for other, _ in found if other.decimal == ","), default=0)
            return best._replace(example=min(new), is_comma=best.thousands == "," and with_comma == best.read)
    return None


def _read(
    cells: Mapping[bytes, int], decimal: str, thousands: str, units: tuple[str, ...]
) -> tuple[NumberOptions, list[bytes]]:
    """These options, without the separator if no cell has it; and the cells that they read: none, if the first group of
    one begins with 0, as 0 is not the thousands of a number."""
    notation, between = Notation(decimal, thousands, units), _SAME.get(thousands, thousands)
    read = [cell for cell in cells if notation.number_of(cell) is not None]
    texts = [cell.decode("utf-8", "replace") for cell in read]
    is_grouped = any(c in text for text in texts for c in between)
    first_zero = re.compile(rf"(?<![\d.,])0\d*[{between}]\d")
    if is_grouped and any(map(first_zero.search, texts)):
        return NumberOptions(), []
    return NumberOptions(decimal, thousands if is_grouped else "", units, sum(cells[cell] for cell in read)), read


def _units(cells: Mapping[bytes, int]) -> list[str]:
    """The most frequent words beside numbers that are written as units are."""
    found: Counter[str] = Counter()
    for cell, count in cells.items():
        found[_unit(cell.decode("utf-8", "surrogateescape"))] += count
    del found[""]
    words = [word for word, _ in found.most_common(MOST_UNITS)]
    return sorted(words) if len(words) == 1 or any(len(word) > 1 for word in words) else []  # 1A and 2B are codes


def _unit(text: str) -> str:
    """The word beside the number of a cell, or "". A whole number behind a word is an id, unless the word is money."""
    number = _NUMBER.search(text)
    if number is None:
        return ""
    before = text[: number.start()].strip(_BLANKS + "()+-\u2212")
    behind = text[number.end() :].strip(_BLANKS + "()")
    word = behind if not before else before if not behind else ""
    is_id = before and (number[0].isdecimal() or text[number.start() - 1] not in _BLANKS)
    if not _UNIT.fullmatch(word) or not fits_unit(word) or len(word) > LONGEST_UNIT:
        return ""
    return "" if is_id and not _MONEY.fullmatch(word) else word
