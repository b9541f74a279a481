"""Times in a format, against Python's own strptime."""

import re
from datetime import datetime, timedelta, timezone
from random import Random

import pytest

from vwlite.core.tables.cells import parts_of_time
from vwlite.time_formats import ADVISED, fault_of, pattern_of

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
FORMATS = [*ADVISED, "%Y%m%d", "%y%m%d%H%M%S", "%Y-%m-%dT%H:%M:%S.%fZ", "%d %b %Y %H:%M %z", "%m/%d/%y%%%H", "%b %Y",
           "%m/%Y", "%Y年%m月%d日 %H時", "%d.%m.%Y %I%p", "%B the %dth, %Y at %H.%M", "%z %d.%m.%Y"]


def by_strptime(text, format):
    """Year, month, day, hour and seconds since 1970; None if it is no such time."""
    try:
        found = datetime.strptime(re.sub(r"(\.\d{6})\d+", r"\1", text), format)
    except ValueError:
        return None
    seconds = ((found if found.tzinfo else found.replace(tzinfo=timezone.utc)) - EPOCH) / timedelta(seconds=1)
    has_day, has_hour = "%d" in format, "%H" in format or "%I" in format
    return found.year, found.month, found.day if has_day else None, found.hour if has_hour else None, round(seconds, 5)


def check(text, format):
    """Whether it is a time. Where numbers follow each other, Python takes fewer digits than there should be."""
    found = parts_of_time(text.encode(), format.encode())
    found = found and (*found[:-1], round(found[-1], 5))
    if found or not re.search(r"%[dmHIMSyY]%[dmHIMSf]", format):
        assert found == by_strptime(text, format), text
    if found:  # the pattern of exports takes it, and leaves the calendar to the program
        assert re.fullmatch(pattern_of(format), text, re.ASCII | re.IGNORECASE), text
    return found is not None


@pytest.mark.parametrize("format", FORMATS)
def test_times_in_a_format_are_those_of_python(format):
    chance, found = Random(3), []
    for _ in range(60):
        at = EPOCH + timedelta(seconds=chance.randrange(-3 * 10**7, 2 * 10**9))
        text = at.astimezone(timezone(timedelta(minutes=chance.randrange(-1439, 1440)))).strftime(format)
        assert check(text, format) and check(text.swapcase(), format) and check(text.replace(" ", " \t "), format)
        check(re.sub(r"\b0(?=\d)", "", text), format)
        cut, at = [*text], chance.randrange(len(text) + 1)
        cut[at : at + chance.randint(0, 1)] = chance.choice([*"0123456789./: -APM", ""])
        found.append(check("".join(cut).strip(), format))
    assert not all(found)


@pytest.mark.parametrize(("text", "format", "seconds"), [
    ("2026131", "%Y%m%d", None), ("20261301", "%Y%m%d", None),  # numbers in a row have all of their digits
    ("1.1.2026 0.123456789", "%d.%m.%Y %S.%f", 1767225600.123456789),  # more than the six of Python
    ("1.1.2026 5 +01", "%d.%m.%Y %H %z", 1767225600 + 4 * 3600), ("1.1.2026 5 z", "%d.%m.%Y %H %z", 1767243600),
    ("1.1.2026 13 AM", "%d.%m.%Y %I %p", None), ("1.1.2026 0 AM", "%d.%m.%Y %I %p", None),
    ("1.1.2026 23:59:60", "%d.%m.%Y %H:%M:%S", None), ("0.1.2026", "%d.%m.%Y", None), ("1.0.2026", "%d.%m.%Y", None),
    ("29.2.2023", "%d.%m.%Y", None), ("", "%d.%m.%Y", None), ("1.1.2026", "%d.%m.%Y ", None),
    ("1.1.2026\xff", "%d.%m.%Y", None),
])
def test_what_is_a_time_in_a_format(text, format, seconds):
    found = parts_of_time(text.encode("latin-1"), format.encode())
    assert (found and found[-1]) == (seconds and pytest.approx(seconds, abs=1e-6))


@pytest.mark.parametrize(("format", "said"), [
    ("%d.%m.%Q", "%Q is not one of %d, %m,"), ("%d.%m.%", "% is not one of"), ("%d.%m", "no year (%Y, %y)"),
    ("%Y", "no month"), ("%d.%m.%Y %M", "no hour"), ("%Y-%m-%d %H:%M:%S.%f%z%d", "the day twice"),
    ("%Y-%m-%d %H.%f%M", "no number can be behind it"), ("%Y-%m-%d %H:%M:%S.%f0", "no number can be behind it"),
    ("%d.%m.%Y %y", "the year twice"), ("%d.%m.%Y %H %I %p", "the hour twice"), ("%d.%m.%Y %I", "need each other"),
    ("%d.%m.%Y %H %p", "need each other"), ("%m/%Y %H", "no day (%d)"), (" %d.%m.%Y", "a blank at an end"),
    ("%d.%m.%Y\n", "a blank at an end"), ("%d\t%m %Y", "control character"), ("%d.%m.%Y\udcff", "control character"),
])
def test_what_is_no_format(format, said):
    assert said in fault_of(format)


@pytest.mark.parametrize(("text", "hour"), [("2026-01-31 0900", 9), ("2026-01-31 900", None)])
def test_a_number_before_a_digit_has_both_of_its_digits(text, hour):
    """As before a number; so it is in the pattern of exports."""
    format = "%Y-%m-%d %H00"
    found = parts_of_time(text.encode(), format.encode())
    assert (found and found[3]) == hour
    assert bool(re.fullmatch(pattern_of(format), text, re.ASCII)) == bool(found)


def test_the_formats_are_valid():
    assert not [format for format in FORMATS if fault_of(format)]
