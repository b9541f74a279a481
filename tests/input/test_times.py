"""Times as people write them: formats that are typed or that the first rows show, and what is said about them."""

import json
import shlex
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from running import GD, finish, start

from vwlite import SparseClassifier, load_model
from vwlite.input.schema import Schema
from vwlite.model import read_model
from vwlite.model.absent import learned
from vwlite.model.file import to_bytes

ISO = "%Y-%m-%dT%H:%M"
RUN = ["--label", "y", "--time", "at"]
NOTE = "note: times are read as --time-format"


def rows_of(format, count=60, seed=1):
    """Rows of a label, a time and a word, whose times have all days of a month."""
    chance, found = Random(seed), []
    for i in range(count):
        at = datetime(2026, 1, 13) + timedelta(hours=31 * i)
        found.append({"y": at.hour % 2, "at": at.strftime(format), "c": chance.choice("ab")})
    return found


def write(name, rows):
    """As CSV, JSON lines or Parquet."""
    if name.endswith("jsonl"):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif name.endswith("parquet"):
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.Table.from_pylist(rows), name)
    else:
        Path(name).write_text("".join(",".join(map(str, row)) + "\n" for row in [rows[0], *(r.values() for r in rows)]))
    return name


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
@pytest.mark.parametrize("format", ["%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%d-%m-%Y"])
def test_a_format_that_reads_the_first_rows_is_used(vwlite, at, name, format):
    """The features are those of ISO 8601, the model stores the format, and all that apply it read times in it."""
    rows, isos = rows_of(format), rows_of(ISO if "%H" in format else "%Y-%m-%d")
    said = vwlite("train", *GD, write(name, rows), *RUN, "-m", "m").err
    assert [line for line in said.splitlines() if NOTE in line] == [f"{NOTE} '{format}'"]
    vwlite("train", *GD, write("iso.csv", isos), *RUN, "-m", "iso")
    expected = vwlite("predict", "-m", "iso", "iso.csv").out
    assert read_model("m").columns["time_format"] == format and "time_format" not in read_model("iso").columns
    assert vwlite("predict", "-m", "m", name).out == expected
    assert vwlite("convert", name, *RUN).out == vwlite("convert", "iso.csv", *RUN).out
    typed = vwlite("train", *GD, name, *RUN, "--time-format", format, "-m", "typed").err
    assert NOTE not in typed and Path("typed").read_bytes() == Path("m").read_bytes()
    predicted = [float(x) for x in expected.split()]
    assert load_model("m").predict([{k: v for k, v in row.items() if k != "y"} for row in rows]) == \
        pytest.approx(predicted, abs=1e-6)
    assert NOTE not in vwlite("train", *GD, name, *RUN, "--initial", "m", "-m", "m2").err
    said = vwlite("train", *GD, name, *RUN, "--initial", "m", "--time-format", "%Y", "-m", "m2", code=2).err
    assert "has no year" in said or "no month" in said
    said = vwlite("train", *GD, name, *RUN, "--initial", "m", "--time-format", "%Y %m", "-m", "m2", code=2).err
    assert f"--time-format '%Y %m' contradicts the model, which has '{format}'" in said


def test_a_stream_of_json_lines_shows_its_format(vwlite, at):
    rows = rows_of("%d.%m.%Y")
    write("t.jsonl", rows)
    said = finish(start("train", *GD, "--format", "jsonl", *RUN, "-m", "m"), Path("t.jsonl").read_bytes()).err
    assert f"{NOTE} '%d.%m.%Y'\n" in said and read_model("m").columns["time_format"] == "%d.%m.%Y"
    vwlite("train", *GD, "t.jsonl", *RUN, "-m", "file")
    assert vwlite("predict", "-m", "m", "t.jsonl").out == vwlite("predict", "-m", "file", "t.jsonl").out


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_day_or_month_first_is_asked(vwlite, at, name):
    write(name, [{"y": i % 2, "at": f"0{i % 9 + 1}/02/2026"} for i in range(30)])
    said = vwlite("train", *GD, name, *RUN, "-m", "m", code=65).err.splitlines()[-1]
    assert said.endswith("times of column at, such as '01/02/2026': add --time-format '%d/%m/%Y' or '%m/%d/%Y', as "
                         "both read the first rows")
    for format, month in (("%d/%m/%Y", "month=2"), ("%m/%d/%Y", "month=1")):
        out = vwlite("convert", name, *RUN, "--time-format", format).out
        assert out.splitlines()[0].endswith(month)


def test_a_column_of_another_notation_is_an_error(vwlite, at):
    Path("t.csv").write_text("y,at,b\n" + "".join(f"{i % 2},{i + 11}.02.2026,2026-02-{i + 11}\n" for i in range(9)))
    said = vwlite("train", *GD, "t.csv", "--label", "y", "--time", "at,b", code=65).err
    assert ("t.csv:1:1: times of column at are as --time-format '%d.%m.%Y' says, and those of column b are not: write "
            "all in one way\n") in said
    Path("t.csv").write_text("y,at\n" + "".join(f"{i % 2},{i + 11}.02.2026\n" for i in range(9)) + "1,2026-02-11\n")
    said = vwlite("train", *GD, "t.csv", *RUN, "--time-format", "%d.%m.%Y", code=65).err
    assert "t.csv:11:3: column at: '2026-02-11' is not a time: expected --time-format '%d.%m.%Y'\n" in said


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_dates_and_numbers_in_one_column_are_noted(vwlite, at, name):
    rows = [{"y": i % 2, "at": 1769864700 + i * 86400 if i % 3 else f"2026-01-{i + 1:02}"} for i in range(30)]
    said = vwlite("train", *GD, write(name, rows), *RUN).err
    note = "dates of ISO 8601 in 10 of 30 cells, and numbers since 1970 in 20: both are read as times"
    assert f"note: column at: {note}\n" in said
    write(name, [{"y": i % 2, "at": f"202601{i + 1:02}" if i % 3 else f"2026-01-{i + 1:02}"} for i in range(30)])
    assert "note: column" not in vwlite("train", *GD, name, *RUN).err


@pytest.mark.parametrize("format", ["%d.%m.%Y", "%d/%m/%y %H:%M", "%b %d, %Y", "%m/%d/%Y %I:%M %p"])
def test_a_note_names_the_format_and_describe_types_it(vwlite, at, format):
    Path("t.tsv").write_text(
        "y\tat\tz\n" + "".join(f"{row['y']}\t{row['at']}\t{i % 7}\n" for i, row in enumerate(rows_of(format))))
    said = vwlite("train", *GD, "t.tsv", "--label", "y").err
    assert (f"note: column at: dates or times, each of which is a category: --time at --time-format '{format}' "
            "extracts hour, weekday and month\n") in said
    command = vwlite("describe", "t.tsv", "--label", "y").out.partition("next:")[2].replace("\\\n", "")
    words = shlex.split(command)
    assert words[words.index("--time-format") + 1] == format and "--drop" not in words
    vwlite(*words[1:], "--algorithm", "gd", "--quiet")
    columns = read_model("t.model").columns
    assert columns["time_format"] == format and ["at", "time"] in columns["roles"]


def test_words_among_dates(vwlite, at):
    """A format that reads the dates is named; of ISO 8601 there is none."""
    for format, option in (("%d.%m.%Y", "--time at --time-format '%d.%m.%Y'"), (ISO, "--time at")):
        rows = rows_of(format)
        rows[7]["at"] = "soon"
        said = vwlite("train", *GD, write("t.csv", rows), "--label", "y").err
        assert f"{option} extracts hour, weekday and month; --drop at leaves them out\n" in said


def test_an_ambiguous_date_is_not_dropped(vwlite, at):
    write("t.csv", [{"y": i % 2, "at": f"0{i % 9 + 1}/02/2026"} for i in range(60)])
    found = vwlite("describe", "t.csv", "--label", "y").out
    assert "--time at --time-format '%d/%m/%Y' or '%m/%d/%Y' extracts" in " ".join(found.split())
    assert "--drop" not in found and "--time" not in found.partition("next:")[2]


@pytest.mark.parametrize(("unit", "name"), [(1, "seconds"), (1000, "milliseconds"), (10**6, "microseconds")])
def test_numbers_since_1970_that_become_equal_name_their_unit(vwlite, at, unit, name):
    write("t.csv", [{"y": i % 2, "at": (1769864700 + i) * unit} for i in range(100)])
    assert f"--time at reads {name} since 1970" in vwlite("train", *GD, "t.csv", "--label", "y").err


@pytest.mark.parametrize("unit", [1000, 10**6, 10**9])
@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_milliseconds_and_so_on_are_the_same_times(vwlite, at, unit, name):
    write("iso.csv", [row | {"at": row["at"].replace("T", " ") + " UTC"} for row in rows_of(ISO)])
    begin = datetime(1970, 1, 1)
    write(name, [row | {"at": (datetime.strptime(row["at"], ISO) - begin) // timedelta(seconds=1) * unit}
                 for row in rows_of(ISO)])
    assert vwlite("convert", name, *RUN).out == vwlite("convert", "iso.csv", *RUN).out


def test_models_of_0_2_0_read_seconds_and_no_months(vwlite, at):
    write("t.csv", rows_of(ISO))
    vwlite("train", *GD, "t.csv", *RUN, "-m", "m")
    model = learned(read_model("m"))
    model.columns = {name: x for name, x in model.columns.items() if name not in ("names", "absents")}
    model.absent, model.format = {}, 1
    Path("old").write_bytes(to_bytes(model, "old"))
    for cell in ("2026-01", "1769864700000", "2026-01-31 13:05 UTC"):
        Path("new.csv").write_text(f"at,c\n{cell},a\n")
        vwlite("predict", "-m", "m", "new.csv")
        assert f"'{cell}' is not a time" in vwlite("predict", "-m", "old", "new.csv", code=65).err
    Path("new.csv").write_text("at,c\n100000000000,a\n5138-11-16T09:46:40,a\n")
    one, other = vwlite("predict", "-m", "old", "new.csv").out.split()
    assert one == other


def test_a_month_is_the_month_alone(vwlite, at):
    write("t.csv", [{"y": i % 2, "at": f"2026-{i % 12 + 1:02}"} for i in range(24)])
    lines = vwlite("convert", "t.csv", *RUN).out.splitlines()
    assert lines[:2] == ["0 |at month=1", "1 |at month=2"]


def test_frames_have_the_format_too():
    pa = pytest.importorskip("pyarrow")
    rows, isos = rows_of("%d.%m.%Y %H:%M"), rows_of(ISO)
    y = [row["y"] for row in rows]
    table, typed = (pa.table({"at": [row["at"] for row in found]}) for found in (rows, isos))
    made = SparseClassifier(algorithm="gd", time="at", time_format="%d.%m.%Y %H:%M").fit(table, y)
    other = SparseClassifier(algorithm="gd", time="at").fit(typed, y)
    assert made.decision_function(table).tolist() == other.decision_function(typed).tolist()
    times = pa.table({"at": pa.array([datetime.strptime(row["at"], ISO) for row in isos])})
    assert made.decision_function(times).tolist() == other.decision_function(typed).tolist()
    with pytest.raises(ValueError, match=r"row 0, column 'at': a time is ISO .* with time_format='%d.%m.%Y %H:%M' "):
        SparseClassifier(algorithm="gd", time="at").fit(table, y)
    with pytest.raises(ValueError, match=r"a time is time_format='%d.%m.%Y %H:%M'$"):
        made.predict(typed)
    for format, why in (("%d", "it has no year"), (["%Y"], "it is not a string")):
        with pytest.raises(ValueError, match=f"time_format is .*, which is no format: {why}"):
            SparseClassifier(algorithm="gd", time="at", time_format=format).fit(table, y)


def test_a_time_that_no_calendar_has_is_no_word():
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="invalid time, at row 1, column 'at': a time is ISO 8601"):
        times = pa.array([0, 2**50], pa.timestamp("s"))
        SparseClassifier(algorithm="gd", time="at").fit(pa.table({"at": times}), [0, 1])


def test_numbers_of_a_frame_are_read_by_the_format():
    pa = pytest.importorskip("pyarrow")
    days = [20260131, None, 20260201, 20260202] * 5
    made = SparseClassifier(algorithm="gd", time="at", time_format="%Y%m%d").fit(pa.table({"at": days}), [0, 1] * 10)
    for kind in (pa.float64(), pa.string(), pa.decimal128(10)):
        again = pa.table({"at": pa.array(days).cast(pa.int32()).cast(kind)})
        assert made.decision_function(again).tolist() == made.decision_function(pa.table({"at": days})).tolist()


def test_a_header_with_an_invalid_format_is_refused():
    stored = Schema({"at": "time"}, time_format="%d.%m.%Y").stored()
    assert Schema.restored(stored).time_format == "%d.%m.%Y"
    with pytest.raises(ValueError, match="its times have the format '%d', which is invalid"):
        Schema.restored(stored | {"time_format": "%d"})
    with pytest.raises(ValueError, match="its columns are invalid"):
        Schema.restored(stored | {"time_format": 1})


def test_a_format_that_reads_nearly_all_times_is_taken(vwlite, folder):
    """The others are bad lines, each with its place."""
    days = [f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.2026" for i in range(60)]
    days[40] = "n.d."
    Path("a.csv").write_text("at,y\n" + "".join(f"{day},{i % 2}\n" for i, day in enumerate(days)))
    run = ["train", "a.csv", "--label", "y", "--time", "at", "--algorithm", "gd", "-m", "m"]
    said = vwlite(*run, code=65).err
    assert "times are read as --time-format '%d.%m.%Y'" in said
    assert "a.csv:42:1: column at: 'n.d.' is not a time: expected --time-format '%d.%m.%Y'" in said
    assert "1 bad line skipped" in vwlite(*run, "--on-error", "skip").err
