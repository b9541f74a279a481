"""What is printed while learning."""

import contextlib
import io
import json
import math
import os
import random
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from running import GD, PATIENT

from vwlite.output.progress import (
    HEADER,
    Interval,
    LiveLine,
    ProgressRow,
    format_number,
    format_row,
    live_text,
    pass_text,
)
from vwlite.training.progress import PassTable
from vwlite.training.trainer import PassRow


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
    return format_row(ProgressRow(**{**values, **changes}))


def test_a_row_is_that_of_vowpal_wabbit_with_one_column_more():
    # the compatibility page's example, section (d), with the digits of a small loss
    assert row() == (
        "0.500037 7.4e-5              2            2.0         0.0000         0.0086      608       607"
    )


def test_columns_are_under_their_heads():
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
        ({"label": 123456789012.5, "prediction": 5.64524e-08}, "      1.235e+11      5.645e-08 "),
        ({"average": 1.2345e-9, "recent": 123456789.5}, "1.235e-9 1.235e+8 "),
        ({"holdout": True}, " h"),
    ],
)
def test_unusual_values(changes, text):
    assert text in row(**changes)


@pytest.mark.parametrize(("step", "rows"), [(None, [1, 2, 4, 8, 16, 32, 64]), (25, [25, 50, 75, 100])])
def test_rows_come_at_doubling_weights_or_every_n(step, rows):
    interval, at = Interval() if step is None else Interval(step=step), []
    for weight in range(1, 101):
        if weight >= interval.at:
            at.append(weight)
            interval.advance(weight)
    assert at == rows


def test_the_live_line_tells_speed_and_time_left():
    assert live_text(1000, 5_000_000, 10_000_000, 2.0) == "1,000 examples, 500/s, 2.5 MB/s, 50 %, 0:02 left"
    assert live_text(1000, 5_000_000, None, 2.0) == "1,000 examples, 500/s, 2.5 MB/s"


def test_the_live_line_of_several_passes_is_about_all_of_them():
    """10 s for three and a half of 20 passes are 47 s for the others."""
    said = "pass 4 of at most 20, 1,000 examples, 100/s, 50 % of it, at most 0:47 left"
    assert live_text(1000, 5_000_000, 10_000_000, 10.0, 4, 20) == said
    assert live_text(1000, 5_000_000, None, 10.0, 4, 20) == "pass 4 of at most 20, 1,000 examples, 100/s"


def test_the_live_line_of_auto_tells_share_time_left_and_the_best_loss():
    """2 s for a quarter of a pass: 6 s for the rest of it, and 8 s for each of 17 more."""
    said = "pass 3 of at most 20, 25 % of it, 0:06 left in it, at most 2:22 in all, best so far 0.4614"
    assert pass_text(3, 20, 0.25, 2.0, 0.46139) == said
    assert pass_text(20, 20, 0.25, 2.0, None) == "pass 20 of at most 20, 25 % of it, 0:06 left in it"
    assert pass_text(3, None, 0.25, 2.0, None) == "pass 3, 25 % of it, 0:06 left in it"
    assert pass_text(1, 8, 0, 2.0, None) == "pass 1 of at most 8, 0 % of it"


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
    ("value", "text"),
    [(None, "n.a."), (3.0, "3"), (0.25, "0.250000"), (1.23456e-9, "1.235e-09"), (12, "12"), (math.inf, "inf")],
)
def test_numbers_of_the_summary(value, text):
    assert format_number(value) == text


# --- on a terminal ---------------------------------------------------------------------------

OFTEN = (
    "import sys; from vwlite.cli import run; from vwlite.output.progress import LiveLine; LiveLine.INTERVAL = 1e-4; "
    "sys.exit(run(sys.argv[1:]))"
)


def on_a_terminal(*arguments):
    """What a command prints on a terminal, with a live line as often as it can be."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", OFTEN, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=theirs, env=environment,
    )
    os.close(theirs)
    found = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while piece := os.read(ours, 1 << 16):
            found += piece
    os.close(ours)
    return process.wait(PATIENT), found.decode().replace("\r\n", "\n")


def on_the_screen(text):
    """The lines that a terminal shows in the end."""
    return [line.split("\r")[-1].replace("\x1b[K", "") for line in text.split("\n")]


@pytest.fixture
def trained(vwlite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("d").write_text("1 |a x y:2\n-1 |a x z\n" * 2000)
    vwlite("train", *GD, "d", "--loss", "logistic", "-m", "m", "--quiet")


def test_predicting_into_a_file_has_a_live_line(vwlite, trained):
    code, said = on_a_terminal("predict", "-m", "m", "d", "-p", "p")
    assert code == 0 and re.search(r"\r[\d,]+ examples, [\d,]+/s, .* MB/s, 100 %, 0:00 left", said)
    assert on_the_screen(said)[0] == "number of examples = 4000"
    assert vwlite("predict", "-m", "m", "d", "-p", "p").err.split("seconds")[0] == "\n".join(
        on_the_screen(said)
    ).split("seconds")[0]


def test_the_live_line_of_predicting_is_gone_before_an_error(trained):
    Path("bad").write_text("1 |a x\n" * 2000 + "bad\n")
    code, said = on_a_terminal("predict", "-m", "m", "d", "bad", "-p", "p")
    assert code == 65 and " examples, " in said
    assert on_the_screen(said)[0].startswith("Error: bad:2001:1: no '|'")


@pytest.mark.parametrize("typed", [("-p", "p", "--quiet"), ("-p", "-"), (), ("-p", "p", "-r", "-")])
def test_predicting_has_no_live_line_if_it_could_be_among_predictions_or_is_not_requested(trained, typed):
    assert " examples, " not in on_a_terminal("predict", "-m", "m", "d", *typed)[1]


def test_solving_has_a_live_line_that_its_table_does_not_keep(vwlite, trained):
    code, said = on_a_terminal("solve", "d", "--loss", "logistic", "--l1", "0.01", "-m", "s")
    assert code == 0 and " examples, " in said and re.search(r"\rstep \d+, \d+\.\d passes, 0:0\d", said)
    plain = vwlite("solve", "d", "--loss", "logistic", "--l1", "0.01", "-m", "s").err.splitlines()
    shown = on_the_screen(said)
    assert [line.split()[:1] for line in shown[:-1]] == [line.split()[:1] for line in plain]
    code, said = on_a_terminal("solve", "d", "--loss", "logistic", "--l1-path", "3:0.1")
    assert code == 0 and re.search(r"\rstrength 2 of 3, step \d+, ", said)
    assert not re.search(r"\r", on_a_terminal("solve", "d", "--loss", "logistic", "--l1", "0.01", "--quiet")[1])


@pytest.mark.parametrize(("typed", "shown"), [
    ("describe d.csv --label y", r"3,000 examples, [\d,]+/s, .* MB/s, 100 %, 0:00 left"),
    ("split d.csv -o a -o b", r"3,000 examples, [\d,]+/s, .* MB/s, 100 %, 0:00 left"),
    ("split d.csv --stratify --label y -o a -o b", r"pass 2 of at most 2, 3,000 examples, [\d,]+/s, 100 % of it"),
    ("convert d.csv --label y", r"3,000 examples, [\d,]+/s, .* MB/s, 100 %, 0:00 left"),
    ("report -m m d -o page.html", r"4,000 examples, [\d,]+/s, .* MB/s, 100 %, 0:00 left"),
    ("export m --to tsv -o t", r"0\.0 MB, \d+\.\d MB/s"),
])
def test_commands_that_read_data_or_write_much_have_a_live_line(vwlite, trained, typed, shown):
    Path("d.csv").write_text("y,a\n" + "".join(f"{i % 2},{i}\n" for i in range(3000)))
    code, said = on_a_terminal(*typed.split())
    assert code == 0 and re.search(rf"\r{shown}", said)
    assert not any(" MB" in line or "examples," in line for line in on_the_screen(said))
    if not typed.startswith("export"):
        code, said = on_a_terminal(*typed.split(), "--quiet")
        assert code == 0 and "\r" not in said


@pytest.mark.parametrize("typed", ["describe bad.csv --label y", "convert bad.csv --label y --on-error skip"])
def test_the_live_line_of_reading_is_gone_before_a_bad_line(trained, typed):
    Path("bad.csv").write_text("y,a\n" + "1,x\n" * 20000 + "1,x,x\n" + "1,x\n" * 40000)
    code, said = on_a_terminal(*typed.split())
    assert code == 0 and " examples, " in said
    (line,) = (line for line in on_the_screen(said) if "bad.csv:20002" in line)
    assert line.startswith("bad.csv:20002:1: a row of 3 cells")


def test_the_live_line_ticks_while_work_is_done(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    live = LiveLine(stream := Terminal())
    live.INTERVAL = 0.01
    seen = threading.Event()
    with live.ticking(lambda seconds: seen.set() or "at work"):
        assert seen.wait(PATIENT)
    size = len(stream.getvalue())
    assert not any(t.name == "live line" for t in threading.enumerate())
    assert size and len(stream.getvalue()) == size


def test_what_is_printed_while_the_live_line_ticks_has_lines_of_its_own(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    live = LiveLine(stream := Terminal())
    live.INTERVAL = 0
    with live.ticking(lambda seconds: "at work"):
        for i in range(200):
            with live.cleared():
                stream.write(f"row {i}\n")
    assert on_the_screen(stream.getvalue())[:200] == [f"row {i}" for i in range(200)]


def test_passes_of_auto_have_a_live_line(tmp_path, monkeypatch, vwlite):
    monkeypatch.setattr(LiveLine, "INTERVAL", 0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("vwlite.output.progress.is_terminal", lambda stream: True)
    data = tmp_path / "d"
    data.write_text("".join(f"{i % 2} | a:{i % 7} b{i % 5}\n" for i in range(3000)))
    said = vwlite("train", data).err
    assert re.search(r"\rpass \d+, \d+ %", said)
    rows = [line for line in on_the_screen(said) if re.match(r"\d+ ", line)]
    assert [int(row.split()[0]) for row in rows] == list(range(1, len(rows) + 1))


def pass_row(number, loss, seconds):
    return PassRow(number, "none", "gd(1)", loss, loss + 1, 5, seconds)


def shown_in_a_file(losses, seconds=None):
    """The numbers of the rows of each table, and after how many rows they came."""
    table, found = PassTable(is_whole=False), []
    for at, loss in enumerate(losses):
        number = at - max(k for k in range(at + 1) if k == 0 or losses[k - 1] is None) + 1
        if loss is not None:
            found += [(row.number, at) for row in table.rows(pass_row(number, loss, (seconds or losses)[at] or 0))]
    return found + [(row.number, len(losses)) for row in table.rest()]


def test_the_table_of_passes_in_a_file_has_its_first_best_and_last_rows():
    still = [0] * 20
    assert shown_in_a_file([5, 4, 3, 4, 5, 6], still) == [(1, 0), (3, 6), (6, 6)]
    assert shown_in_a_file([5, 4, 3], still) == [(1, 0), (3, 3)]
    assert shown_in_a_file([5, 6, 7], still) == [(1, 0), (3, 3)]
    assert shown_in_a_file([5], still) == [(1, 0)]
    assert shown_in_a_file([5, 4, 6, None, 9, 3, 8], still) == [(1, 0), (2, 4), (3, 4), (1, 4), (2, 7), (3, 7)]
    assert PassTable(is_whole=True).rows(pass_row(2, 1, 0)) == [pass_row(2, 1, 0)]


def test_a_long_run_has_a_row_a_minute_in_a_file():
    losses, seconds = [9, 5, 6, 6, 6, 4, 7], [30, 60, 80, 95, 100, 160, 170]
    assert shown_in_a_file(losses, seconds) == [(1, 0), (2, 3), (4, 3), (6, 5), (7, 7)]


def test_a_file_has_few_rows_of_passes_and_json_lines_all(vwlite, tmp_path, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    data = tmp_path / "d"
    chance = random.Random(1)
    rows = ([chance.randint(0, 60) for _ in range(6)] for _ in range(3000))
    data.write_text("".join(f"{int(sum(row) + chance.gauss(0, 40) > 180)} | {' '.join(f'w{x}' for x in row)}\n"
                            for row in rows))

    def numbers(text):
        return [int(row.split()[0]) for row in re.findall(r"(?m)^\d+ .*", text)]

    in_file = vwlite("train", data).err
    objects = map(json.loads, vwlite("train", data, "--log-format", "json").err.splitlines())
    all_rows = [found["passes"] for found in objects if "passes" in found]
    monkeypatch.setattr("vwlite.output.progress.is_terminal", lambda stream: True)
    on_screen = on_the_screen(vwlite("train", data).err)
    assert numbers("\n".join(on_screen)) == all_rows == [*range(1, len(all_rows) + 1)] and len(all_rows) > 3
    found = numbers(in_file)
    assert found[0] == 1 and found[-1] == all_rows[-1] and len(found) <= 3
    assert in_file.index("pass  values") < in_file.index("finished run")
