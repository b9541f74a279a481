"""What is printed while learning."""

import io
import math

import pytest

from vwlite.runs.progress import HEADER, Interval, LiveLine, Row, format_row, live_text, number


def row(**changes):
    values = {
        "average": 0.500037,
        "recent": 0.000074,
        "examples": 2,
        "weight": 2.0,
        "label": 0.0,
        "prediction": 0.0086,
        "features": 608,
        "nonzeros": 607,
    }
    return format_row(Row(**{**values, **changes}))


def test_a_row_is_that_of_vowpal_wabbit_with_one_column_more():
    # the compatibility page's example, section (d)
    assert row() == (
        "0.500037 0.000074            2            2.0         0.0000         0.0086      608       607"
    )


def test_columns_stand_under_their_heads():
    heads = HEADER.splitlines()
    ends = [i for i in range(1, len(heads[0]) + 1) if heads[0][i - 1] != " " and heads[0][i : i + 1] in ("", " ")]
    made = row()
    assert all(made[end - 1] != " " for end in ends if end > 20), "numbers are flush with their heads"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"average": 12345.678901}, "12345.67 "),
        ({"average": None, "recent": None}, "n.a.     n.a.     "),
        ({"average": None, "recent": None, "holdout": True}, "unknown  unknown  "),
        ({"label": None}, " unknown "),
        ({"label": 123456789012.5}, " 12345678901... "),
        ({"holdout": True}, " h"),
    ],
)
def test_odd_values(changes, text):
    assert text in row(**changes)


def test_rows_come_at_doubling_weights():
    interval, at = Interval(), []
    for weight in range(1, 100):
        if weight >= interval.at:
            at.append(weight)
            interval.advance(weight)
    assert at == [1, 2, 4, 8, 16, 32, 64]


def test_rows_every_so_many():
    interval, at = Interval(step=25), []
    for weight in range(1, 101):
        if weight >= interval.at:
            at.append(weight)
            interval.advance(weight)
    assert at == [25, 50, 75, 100]


def test_the_live_line_tells_speed_and_time_left():
    assert live_text(1000, 5_000_000, 10_000_000, 2.0) == "1,000 examples, 500/s, 2.5 MB/s, 50 %, 0:02 left"
    assert live_text(1000, 5_000_000, None, 2.0) == "1,000 examples, 500/s, 2.5 MB/s"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def live_line(monkeypatch, stream, **environment):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    times = iter([0.0, 1.0, 1.1, 2.0])
    live = LiveLine(stream, lambda: next(times))
    for examples in (10, 20, 30):
        live.update(examples, examples, None)
    live.clear()
    return stream.getvalue()


def test_the_live_line_is_for_terminals(monkeypatch):
    assert live_line(monkeypatch, io.StringIO()) == ""
    assert live_line(monkeypatch, Terminal(), TERM="dumb") == ""
    text = live_line(monkeypatch, Terminal())
    assert "10 examples" in text and "20 examples" not in text and "30 examples" in text
    assert text.endswith("\r\x1b[K"), "cleared at the end"


def test_no_color_takes_the_colour_away(monkeypatch):
    assert "\x1b[2m" in live_line(monkeypatch, Terminal())
    assert "\x1b[2m" not in live_line(monkeypatch, Terminal(), NO_COLOR="1")


@pytest.mark.parametrize(
    ("value", "text"), [(None, "n.a."), (3.0, "3"), (0.25, "0.250000"), (12, "12"), (math.inf, "inf")]
)
def test_numbers_of_the_summary(value, text):
    assert number(value) == text
