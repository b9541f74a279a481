"""Times in a format (`--time-format`) in SQL: `vwlite_read_written` of cython_ext/tables/times.pxd.

Each stage takes the next part of the format off `{cell}_rest`, which is NULL where that does not fit; the last one has
the time in ISO 8601, or what is no time.
"""

from collections.abc import Iterator, Sequence

from vwlite.export.sql_text import literal
from vwlite.time_formats import LETTERS, MONTHS, begins_with_digit, parts_of

DIGITS = "'0123456789'"
NO_TIME = "'not a time'"
_GAP = "' \t'"
_FIXED = {"Y": 4, "y": 2}  # digits
_MOST = {"H": 23, "M": 59, "S": 59}


def iso_stages(
    format: str, times: Sequence[str], kept: Sequence[str], missing: str
) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Name, source and columns of each stage. kept: other columns. missing: words that mean a missing time."""
    before, made, parts = "texts", list[str](), parts_of(format)
    for number, part in enumerate(parts):
        letter = part[1:]
        found = [(name, name) for name in (*kept, *times, *(_name(c, other) for other in made for c in times))]
        for c in times:
            value, rest = _taken(part, parts[number + 1 :], f"{c}_rest" if number else c)
            found += [(rest, f"{c}_rest"), (value, _name(c, letter))] if value else [(rest, f"{c}_rest")]
        made += [letter] if value else []
        yield f"part{number + 1}", before, found
        before = f"part{number + 1}"
    isos = [(f"CASE WHEN {c} IS NULL OR {c} IN ({missing}) THEN {c} WHEN {c}_rest = ''{_ranges(c, made)} "
             f"THEN {_iso(c, made)} ELSE {NO_TIME} END", c) for c in times]
    yield "isos", before, [*((name, name) for name in kept), *isos]


def _taken(part: str, behind: Sequence[str], rest: str) -> tuple[str, str]:
    """The value of a part at the beginning of a text, and what is left of that."""
    if part == " ":
        return "", f"CASE WHEN SUBSTR({rest}, 1, 1) IN (' ', '\t') THEN LTRIM({rest}, {_GAP}) END"
    if part[0] != "%" or part == "%%":
        text = part.replace("%%", "%")
        same = " AND ".join(f"SUBSTR({rest}, {i}, 1) IN ({', '.join(map(literal, _cases(c)))})"
                            for i, c in enumerate(text, 1))
        return "", f"CASE WHEN {same} THEN SUBSTR({rest}, {len(text) + 1}) END"
    letter = part[1]
    if letter in "bBp":
        words = ("am", "pm") if letter == "p" else MONTHS if letter == "B" else [word[:3] for word in MONTHS]
        begins = [(f"WHEN LOWER(SUBSTR({rest}, 1, {len(word)})) = '{word}' THEN", number, len(word))
                  for number, word in enumerate(words, letter != "p")]
        return (f"CASE {' '.join(f'{when} {literal(str(number))}' for when, number, _ in begins)} END",
                f"CASE {' '.join(f'{when} SUBSTR({rest}, {size + 1})' for when, _, size in begins)} END")
    if letter == "f":
        return "", f"CASE WHEN LTRIM({rest}, {DIGITS}) <> {rest} THEN LTRIM({rest}, {DIGITS}) END"
    if letter == "z":
        hours = f"SUBSTR({rest}, 2, 2)"
        minutes = (f"CASE WHEN SUBSTR({rest}, 4, 1) = ':' THEN SUBSTR({rest}, 5, 2) "
                   f"WHEN {_digits(f'SUBSTR({rest}, 4, 1)', 1)} THEN SUBSTR({rest}, 4, 2) ELSE '00' END")
        behind_it = (f"CASE WHEN SUBSTR({rest}, 4, 1) = ':' THEN SUBSTR({rest}, 7) "
                     f"WHEN {_digits(f'SUBSTR({rest}, 4, 1)', 1)} THEN SUBSTR({rest}, 6) ELSE SUBSTR({rest}, 4) END")
        return "", (
            f"CASE WHEN SUBSTR({rest}, 1, 1) IN ('Z', 'z') THEN SUBSTR({rest}, 2) "
            f"WHEN SUBSTR({rest}, 1, 1) IN ('+', '-') AND {_digits(hours, 2)} AND {hours} <= '23' "
            f"AND {_digits(minutes, 2)} AND {minutes} <= '59' THEN {behind_it} END")
    size = str(_FIXED.get(letter, 2))
    if letter not in _FIXED and not any(map(begins_with_digit, behind[:1])):
        size = f"CASE WHEN {_digits(f'SUBSTR({rest}, 2, 1)', 1)} THEN 2 ELSE 1 END"
    value = f"SUBSTR({rest}, 1, {size})"
    return value, f"CASE WHEN {_digits(value, size)} THEN SUBSTR({rest}, {size} + 1) END"


def _name(c: str, letter: str) -> str:
    """Of the part of a cell. Databases take names that differ by case alone for one."""
    return f"{c}_{'half' if letter == 'p' else LETTERS[letter]}"


def _cases(c: str) -> list[str]:
    return sorted({c.lower(), c.upper()}) if c.isascii() else [c]


def _digits(text: str, size: int | str) -> str:
    """Whether a text has so many digits, and nothing else."""
    return f"LENGTH({text}) = {size} AND TRIM({text}, {DIGITS}) = ''"


def _ranges(c: str, made: Sequence[str]) -> str:
    found = [f"{_two(_name(c, letter))} <= '{_MOST[letter]}'" for letter in made if letter in _MOST]
    found += [f"{_two(_name(c, 'I'))} BETWEEN '01' AND '12'"] * ("I" in made)
    return "".join(f" AND {condition}" for condition in found)


def _two(value: str) -> str:
    return f"SUBSTR('0' || {value}, LENGTH({value}), 2)"


def _iso(c: str, made: Sequence[str]) -> str:
    """In ISO 8601, without what changes no feature."""
    year, hour = _name(c, "Y"), _name(c, "H")
    if "y" in made:
        year = f"CASE WHEN {year} < '69' THEN '20' ELSE '19' END || {year}"
    if "I" in made:
        hour = f"CAST(CAST({hour} AS INTEGER) % 12 + 12 * CAST({_name(c, 'p')} AS INTEGER) AS VARCHAR)"
    found = f"{year} || '-' || {_two(_name(c, 'm'))}"
    found += f" || '-' || {_two(_name(c, 'd'))}" if "d" in made else ""
    return found + (f" || ' ' || {_two(hour)}" if {"H", "I"} & {*made} else "")
