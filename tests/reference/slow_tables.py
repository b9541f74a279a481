"""Tables as VW text, slowly: a reader for each format of Python's own library, and the rules of vwlite/input/schema.py
once more. Only for good tables."""

import csv
import datetime
import io
import json
import math
import re
import struct
import unicodedata
from collections.abc import Iterable
from typing import Any

from vwlite.hashing import feature_hash

_BLANKS = " \t\r\n"
ESCAPES = "[01][0-9A-F]|20|25|27|3A|7C"  # behind %, in VW text
_CONTROL = "".join(map(chr, range(0x21)))
MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "-")
WHOLE = re.compile(r"-?(0|[1-9]\d*)\.0+", re.ASCII)  # words that lose the point and the zeros
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


_TIME = re.compile(
    r"(?P<date>(\d{4})-(\d\d)-(\d\d)|(\d{4})(\d\d)(\d\d))"
    r"([Tt ](?P<hour>\d\d)(:?\d\d(:?\d\d([.,]\d+)?)?)?(?P<offset>[Zz]|[+-]\d\d(:?\d\d)?| UTC| GMT)?)?",
    re.ASCII,
)


Moment = tuple[int | None, int | None, int]


def time_of(text: str, wide: bool = True) -> Moment | None:
    """Hour, weekday and month of a date or time, by Python's own calendar; None if it is invalid. wide: not for a model
    of 0.2.0."""
    found = _TIME.fullmatch(text)
    try:
        if wide and re.fullmatch(r"\d{4}-\d\d", text, re.ASCII):
            return None, None, datetime.date.fromisoformat(text + "-01").month
        if found is None or (found["hour"] is None and "-" not in text):
            return None if not _NUMBER.fullmatch(text) else time_of_number(float(text), wide)
        date = datetime.date.fromisoformat(found["date"])
        if found["hour"] is None:
            return None, date.isoweekday(), date.month
        time = text[len(found["date"]) + 1 :].upper().replace(",", ".")
        time = re.sub(r"(?<=:\d\d:)60(?!\d)|(?<=\d{4})60(?!\d)", "59", time)
        clock = re.sub(r"[Z+-].*| UTC| GMT|\.\d+", "", time)
        if ("-" in found["date"]) != (":" in clock) and len(clock) > 2:
            return None
        datetime.time.fromisoformat(clock)
        offset = found["offset"] or ""
        if offset in (" UTC", " GMT") and not wide:
            return None
        if offset not in ("", "Z", "z", " UTC", " GMT"):
            datetime.time.fromisoformat(offset[1:])
        return int(found["hour"]), date.isoweekday(), date.month
    except ValueError:
        return None


def time_of_number(x: float, wide: bool) -> Moment | None:
    """The same of seconds since 1970, in UTC, or of milliseconds and so on; a whole number of 8 digits is a date, one
    of 4 or 6 is invalid, and so is one of 14 that begins like a date."""
    if not abs(x) < (9.2e18 if wide else 1e12):
        return None
    digits = str(int(x)) if x >= 0 and x == int(x) else ""
    if len(digits) in (4, 6) or (wide and len(digits) == 14 and digits[:2] in ("19", "20")):
        return None
    unit = next(unit for unit, most in ((1, 1e11), (10**3, 1e14), (10**6, 1e17), (10**9, 1e99))
                if abs(x) < most or not wide)
    try:
        if len(digits) == 8:
            date = datetime.date.fromisoformat(digits)
            return None, date.isoweekday(), date.month
        time = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=math.floor(x) // unit)
    except (ValueError, OverflowError):
        return None
    return time.hour, time.isoweekday(), time.month


def features_of_time(text: str) -> list[str]:
    found = time_of(text)
    assert found is not None, text
    return [f"{name}={x}" for name, x in zip(("hour", "weekday", "month"), found, strict=True) if x is not None]


def fitting(text: str, banned: str) -> str:
    return "".join("_" if c <= " " or c in banned else c for c in text)


def kept(text: str, banned: str, names: int) -> str:
    """A word in VW text: escaped; in models of 0.2.0 (names 1) `fitting`."""
    if names == 1:
        return fitting(text, banned)
    text = re.sub(f"%(?={ESCAPES})", "%25", text)
    return "".join(f"%{ord(c):02X}" if c <= " " or c in banned else c for c in text)


# Beginnings of the names that Unicode gives to letters of scripts without blanks between words.
_UNSPACED = (
    "CJK UNIFIED IDEOGRAPH-", "CJK COMPATIBILITY IDEOGRAPH-", "IDEOGRAPHIC ITERATION", "IDEOGRAPHIC CLOSING",
    "IDEOGRAPHIC NUMBER", "HIRAGANA ", "KATAKANA ", "KATAKANA-HIRAGANA ", "HALFWIDTH KATAKANA", "THAI ", "LAO ",
    "KHMER ", "MYANMAR ", "HENTAIGANA ",
)


def is_unspaced(c: str) -> bool:
    """Whether a letter is of a script without blanks between words; no digit is."""
    return c.isalnum() and not re.search(" DIGIT | LEK ATTAK ", name := unicodedata.name(c, "")) \
        and name.startswith(_UNSPACED)


def words_of(text: str, unspaced: bool = False) -> list[str]:
    """unspaced: each letter of a script without blanks is a word, with the marks behind it."""
    found, word = [], ""
    for c in unicodedata.normalize("NFC", text) + " ":
        if word and unspaced and c.isalnum() and (is_unspaced(c) or is_unspaced(word[0])):
            found.append(word)
            word = ""
        if c.isalnum():
            word += c.lower()[0]
        elif word and unicodedata.category(c).startswith("M"):
            word += c
        elif word:
            found.append(word)
            word = ""
    return found


def are_unspaced(texts: Iterable[str]) -> bool:
    """Whether a column whose first cells are these has words of one letter: a tenth of its letters and digits are of
    scripts without blanks."""
    letters = [c for text in texts for c in text if c.isalnum()]
    return 0 < len(letters) <= 10 * sum(map(is_unspaced, letters))


def features_of_text(text: str, ngram: int, unspaced: bool = False) -> list[str]:
    words = words_of(text, unspaced)
    return ["_".join(words[i + 1 - k : i + 1]) for i in range(len(words)) for k in range(1, min(ngram, i + 1) + 1)]


def is_missing(text: str, role: str, missing: tuple[str, ...]) -> bool:
    """Whether a cell without blanks at its ends is as good as empty."""
    if _NUMBER.fullmatch(text):
        numbers = [struct.pack("f", float(x)) for x in missing if _NUMBER.fullmatch(x)]
        return role == "numeric" and struct.pack("f", float(text)) in numbers
    return text == "" or (role in ("numeric", "time", "label", "importance") and text in missing)


def scalar(name: str, role: str, value: Any, ngram: int, missing: tuple[str, ...], names: int) -> list[str]:
    """Features of a cell, or of a value of JSON, which has its type. name: as it is in VW text."""
    is_number = isinstance(value, Number)
    text = {True: "true", False: "false", None: ""}[value] if value in (True, False, None) and not is_number else value
    text = text.strip(_BLANKS)
    if is_missing(text, "numeric" if role == "auto" and is_number else role, missing):
        return []
    if role == "text":
        return features_of_text(text, ngram)
    if role == "time":
        return features_of_time(text)
    if role == "numeric" or (role == "auto" and is_number):
        return [f"{name}:{text}"]
    text = text if names == 1 else text.rstrip(_CONTROL)
    if names > 2 and WHOLE.fullmatch(text):
        text = text.partition(".")[0]
    return [f"{name}={kept(text, ':|', names)}"] if text else []


class Number(str):
    """A number of JSON, unchanged."""


def head(label: str, importance: str, tag: str, names: int) -> str:
    label, importance, tag = (x.strip(_BLANKS) for x in (label, importance, tag))
    if label.startswith("'"):
        label = ("_" if names == 1 else "%27") + kept(label[1:], "|", names)
    else:
        label = kept(label, "|", names)
    words = [label] if label else []
    if label and importance:
        words.append(importance)
    if tag:
        words.append("'" + kept(tag, "|", 2))
    return " ".join(words)


def line(heads: dict[str, str], namespaces: list[tuple[str, list[str]]], missing: tuple[str, ...], names: int) -> str:
    heads = {role: "" if is_missing(x.strip(_BLANKS), role, missing) else x for role, x in heads.items()}
    before = head(*(heads.get(role, "") for role in ("label", "importance", "tag")), names)
    spaces = [" ".join([f"|{fitting(name, ':|')}", *features]) for name, features in namespaces if features]
    return " ".join([before, *(spaces or ["|"])]).lstrip() + "\n"


def csv_as_vw(
    text: str, roles: dict[str, str], *, ngram: int = 1, delimiter: str = ",", missing: tuple[str, ...] = MISSING,
    kind: int = 3, absents: bool = False,
) -> str:
    """roles: of the columns that are known, in the order of the features. kind: of the names of labels and features.
    absents: an absent cell has a feature."""
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter, strict=True))
    while not rows[0]:
        del rows[0]
    names = [name.strip(_BLANKS) for name in rows[0]]
    out = []
    for row in rows[1:]:
        if not row or (len(row) == 1 and not row[0].strip(_BLANKS)):
            out.append("\n")
            continue
        cells = dict(zip(names, row, strict=True))
        heads = {role: cells[name] for name, role in roles.items() if name in cells}
        spaces = [
            (name, scalar(fitting(name, ":|"), role, cells[name], ngram, missing, kind) or absent(name, absents))
            for name, role in roles.items()
            if name in cells and role in ("numeric", "categorical", "text", "time")
        ]
        out.append(line(heads, spaces, missing, kind))
    return "".join(out)


def json_as_vw(
    text: str, roles: dict[str, str], *, ngram: int = 1, missing: tuple[str, ...] = MISSING, kind: int = 3,
    absents: bool = False,
) -> str:
    out = []
    for row in text.split("\n")[:-1]:
        if not row.strip():
            out.append("\n")
            continue
        heads, spaces = {}, []
        for key, value in json.loads(row, parse_float=Number, parse_int=Number).items():
            role = roles.get(key, "auto")
            if role in ("label", "importance", "tag"):
                heads[role] = {True: "1", False: "0", None: ""}[value] if value in (True, False, None) else value
            elif role != "drop":
                members = [(fitting(key, ":|"), value)]
                if isinstance(value, dict):
                    keys = {name: (name if kind == 1 else name.strip(_CONTROL)) for name in value}
                    members = [(kept(keys[name], ":|", kind) or fitting(name, ""), x) for name, x in value.items()]
                found = [f for name, x in members for f in values(name, role, x, ngram, missing, kind)]
                spaces.append((key, found or absent(key, absents)))
        there = json.loads(row)
        features = ("numeric", "categorical", "text", "time")
        spaces += [(key, absent(key, absents)) for key, role in roles.items() if role in features and key not in there]
        out.append(line(heads, spaces, missing, kind))
    return "".join(out)


def absent(column: str, absents: bool) -> list[str]:
    """The feature of an absent cell."""
    return [f"{fitting(column, ':|')}?"] if absents else []


def values(name: str, role: str, value: Any, ngram: int, missing: tuple[str, ...], kind: int) -> list[str]:
    if not isinstance(value, list):
        return scalar(name, role, value, ngram, missing, kind)
    found = []
    for i, x in enumerate(value):
        one = scalar(name, role, x, ngram, missing, kind)
        if one and (role == "numeric" or (role == "auto" and isinstance(x, Number))):
            one = [f"{i}:{x}"]
        found += one
    return found


def decided(text: str, typed: dict[str, str], *, delimiter: str = ",") -> dict[str, str]:
    """The roles of a table's columns: those that were typed; else by the first thousand rows, or as many from the first
    one on that has a value."""
    rows = [row for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter) if row]
    names = [name.strip(_BLANKS) for name in rows[0]]
    rows = [row for row in rows[1:] if len(row) == len(names)]
    found = {}
    for i, name in enumerate(names):
        cells = [row[i].strip(_BLANKS) for row in rows]
        begin = next((at for at, cell in enumerate(cells) if cell not in ("", *MISSING)), None)
        begin = 0 if begin is None or begin < 1000 else begin
        some = [cell for cell in cells[begin : begin + 1000] if cell not in ("", *MISSING)]
        numbers = all(_NUMBER.fullmatch(cell) for cell in some)
        found[name] = typed.get(name, "numeric" if numbers else "categorical")
    return found


def features_of(vw: str, *, hash_all: bool, kind: int) -> list[int]:
    """The hashes of the features of the table that this is, of names without their escapes. kind: of names."""
    found = []
    for spaces in (row.split("|")[1:] for row in vw.splitlines()):
        for space in spaces:
            name, *features = (space + " ").split(" ")
            for feature, _, value in (x.partition(":") for x in features if x):
                if struct.pack("f", float(value or 1)) not in (b"\0\0\0\0", b"\0\0\0\x80"):
                    word = feature.encode()
                    if kind > 1:
                        word = re.sub(f"%({ESCAPES})".encode(), lambda m: bytes.fromhex(m[1].decode()), word)
                    found.append(feature_hash(word, name.encode(), hash_all=hash_all))
    return found
