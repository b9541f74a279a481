"""Formats of times, in letters of strptime: which there are, and which ones tables often have."""

import re
from collections.abc import Sequence

LETTERS = {"d": "day", "m": "month", "b": "month", "B": "month", "Y": "year", "y": "year", "H": "hour", "I": "hour",
           "p": "%p", "M": "minute", "S": "second", "f": "fraction", "z": "offset"}
NUMBERS = {*"dmYyHMISf"}
SINCE_1970 = ("seconds", "milliseconds", "microseconds", "nanoseconds")  # that a number may be; each a thousandth
MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
          "december")
_PATTERNS = {
    "d": "[0-9]?[0-9]", "m": "[0-9]?[0-9]", "Y": "[0-9]{4}", "y": "[0-9]{2}", "H": "2[0-3]|[01]?[0-9]",
    "I": "1[0-2]|0?[1-9]", "M": "[0-5]?[0-9]", "S": "[0-5]?[0-9]", "f": "[0-9]+", "p": "[ap]m", "B": "|".join(MONTHS),
    "b": "|".join(word[:3] for word in MONTHS), "z": "z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?",
}
_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d")
_MORE_DAYS = ("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%b-%Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y")
LIKELY = tuple(day + clock for day in _DAYS for clock in ("", " %H:%M", " %H:%M:%S"))
# ... and those that are only advised.
ADVISED = LIKELY + tuple(
    day + clock for day in (*_DAYS, *_MORE_DAYS)
    for clock in ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p") if day + clock not in LIKELY)


def parts_of(format: str) -> list[str]:
    """Its parts: % and a letter, a blank for all in a row, and what is as it is in times."""
    return [" " if part.isspace() else part for part in re.findall("%.| +|[^% ]+", format)]


def pattern_of(format: str) -> str:
    """The regular expression of times, with the letters as names; for re.ASCII and re.IGNORECASE."""
    parts, found = parts_of(format), ""
    for part, behind in zip(parts, [*parts[1:], ""], strict=False):
        known = _PATTERNS.get(part[1:], "") if part[0] == "%" else ""
        if begins_with_digit(part) and begins_with_digit(behind):
            known = known.replace("?", "")
        other = "[ \\t]+" if part == " " else re.escape(part.replace("%%", "%"))
        found += f"(?P<{part[1]}>{known})" if known else other
    return found


def begins_with_digit(part: str) -> bool:
    """Whether a part of a format begins with a digit: numbers before it have all of their digits."""
    return (part[:1] == "%" and part[1:] in NUMBERS) or "0" <= part[:1] <= "9"


def typed_formats(formats: Sequence[str], option: str = "--time-format ") -> str:
    """The option, with one of them, or the first two."""
    return option + " or ".join(f"'{format}'" for format in formats[:2])


def fault_of(format: str) -> str:
    """Why this is no format, as the end of a sentence; "": it is one."""
    letters = re.findall("%(.?)", format)
    unknown = [letter for letter in letters if letter not in (*LETTERS, "%")]
    if unknown:
        return f"%{unknown[0]} is not one of {', '.join(f'%{letter}' for letter in LETTERS)}, %%"
    parts = [LETTERS[letter] for letter in letters if letter != "%"]
    twice = [part for part in parts if parts.count(part) > 1]
    if twice:
        return f"it has the {twice[0]} twice"
    if "year" not in parts or "month" not in parts:
        return "it has no year (%Y, %y) or no month (%m, %b, %B)"
    if "hour" not in parts and {"minute", "second", "fraction"} & {*parts}:
        return "it has minutes or seconds, and no hour (%H, or %I with %p)"
    if re.search(r"%f(%[dmYyHMIS]|\d)", format):
        return "%f takes all digits, so that no number can be behind it"
    if ("I" in letters) != ("p" in letters):
        return "%I, the hour of 12, and %p, AM or PM, need each other"
    if "day" not in parts and len(parts) > 2:
        return "it has the time of a day, and no day (%d)"
    if format != format.strip() or not format.isprintable():
        return "it has a blank at an end, or a control character"
    return ""
