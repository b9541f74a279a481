"""Columns of dates and times that no option names: `--algorithm auto` reads them as times, unless words are better."""

import json
import math
import random
import subprocess
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from running import PROGRAM
from tables import written

from vwlite.input.dates import format_of_dates
from vwlite.input.part import Part
from vwlite.training.auto import times
from vwlite.training.auto.times import Judged, chosen_times, drawn_rows

FIRST = datetime(2022, 1, 3)  # a Monday


def rows_of_weekdays(n=600, days=200, written_as="%Y-%m-%d", seed=0):
    """The label depends on the day of the week, and on z. A day has a few rows."""
    draw = random.Random(seed)
    for _ in range(n):
        day, z = draw.randrange(days), draw.gauss(0, 1)
        score = (2 if day % 7 > 4 else -0.8) + z
        yield (FIRST + timedelta(day)).strftime(written_as), f"{z:.3f}", int(draw.random() < 1 / (1 + math.exp(-score)))


def rows_of_releases(n=600, releases=12, seed=0):
    """Each of a few dates has an effect of its own, that neither weekday nor month tell: 84 days have all 7 of one, and
    dates of a month differ."""
    draw = random.Random(seed)
    for _ in range(n):
        k = draw.randrange(releases)
        yield str((FIRST + timedelta(7 * k)).date()), int(draw.random() < (0.9 if k % 2 else 0.1))


@pytest.fixture
def model(vwlite, here):
    """Train; the bytes of the model, and what was said."""

    def train(name, *words):
        done = vwlite("train", name, "--label", "y", *words, "-m", "m")
        return Path("m").read_bytes(), done.err

    return train


WEEKDAYS = ["day", "z", "y"]
NOTE = "note: column day: read as a time; --categorical day keeps its words\n"


def write(name, columns, rows):
    rows = [*rows]
    if name.endswith("csv"):
        written(Path(name), columns, rows)
        return
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(rows, columns=columns)
    frame["z"] = frame["z"].astype(float)
    if name.endswith("jsonl"):
        frame.to_json(name, orient="records", lines=True)
    else:
        frame.to_parquet(name)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_the_model_is_that_with_time_typed(model, name):
    write(name, WEEKDAYS, rows_of_weekdays())
    found, said = model(name)
    assert found == model(name, "--time", "day")[0] and NOTE in said
    typed, said = model(name, "--categorical", "day")
    assert typed != found and "read as a time" not in said


def test_in_a_format_that_one_finds(model):
    written(Path("a.csv"), WEEKDAYS, rows_of_weekdays(written_as="%d.%m.%Y"))
    found, said = model("a.csv")
    assert found == model("a.csv", "--time", "day")[0] and NOTE in said


def test_words_stay_if_they_are_better(model):
    written(Path("a.csv"), ["day", "y"], rows_of_releases())
    found, said = model("a.csv")
    assert found == model("a.csv", "--categorical", "day")[0] and "read as a time" not in said
    assert ("note: column day: its words predict better than its hour, weekday and month; --time day learns these\n"
            in said)
    assert "each of which is a category" not in said


@pytest.mark.parametrize(("place", "cell"), [(3, "soon"), (1100, "soon"), (1100, "2026-13-01"), (1100, "12")])
def test_a_cell_that_is_none_leaves_words(model, place, cell):
    rows = [*rows_of_weekdays(1200)]
    rows[place] = (cell, *rows[place][1:])
    written(Path("a.csv"), WEEKDAYS, rows)
    found, said = model("a.csv")
    assert found == model("a.csv", "--categorical", "day")[0] and "read as a time" not in said


def test_missing_cells_are_allowed(model):
    rows = [("NA" if k % 9 == 0 else "" if k % 5 == 0 else day, *others)
            for k, (day, *others) in enumerate(rows_of_weekdays())]
    written(Path("a.csv"), WEEKDAYS, rows)
    found, said = model("a.csv")
    assert found == model("a.csv", "--time", "day")[0] and NOTE in said


@pytest.mark.parametrize("words", [["--text", "day"], ["--drop", "day"], ["--tag", "day"], ["--algorithm", "gd"],
                                   ["--passes", "1"]])
def test_what_is_typed_stays(model, words):
    written(Path("a.csv"), WEEKDAYS, rows_of_weekdays(300))
    assert "read as a time" not in model("a.csv", *words)[1]


def test_a_stream_has_the_note_alone(here):
    written(Path("a.csv"), WEEKDAYS, rows_of_weekdays(300))
    with open("a.csv", "rb") as file:
        run = [*PROGRAM, "train", "--label", "y"]
        said = subprocess.run(run, stdin=file, capture_output=True, check=True, text=True).stderr
    assert "read as a time" not in said and "--time day extracts" in said


def test_a_later_file_is_read_as_with_the_option(vwlite, model):
    written(Path("a.csv"), WEEKDAYS, rows_of_weekdays(300))
    written(Path("b.csv"), WEEKDAYS, [("soon", "1", "1")])
    model("a.csv")
    said = vwlite("predict", "b.csv", "-m", "m", code=65).err
    assert "b.csv:2:1: column day: 'soon' is not a time" in said
    assert vwlite("train", "a.csv", "--label", "y", "-i", "m", code=None).err.count("is read as") == 0


def test_bad_lines_are_those_of_the_run(model):
    """They are skipped by the comparison, and reported once."""
    rows = [*rows_of_weekdays(300)]
    rows[7] = ("2022-01-04", "nine", "1")
    written(Path("a.csv"), ["day", "z", "y"], rows)
    said = model("a.csv", "--numeric", "z", "--on-error", "skip")[1]
    assert NOTE in said and said.count("a.csv:9:") == 1 and "1 bad line skipped" in said


def test_folds_decide_each_for_itself(vwlite, here):
    written(Path("a.csv"), WEEKDAYS, rows_of_weekdays(400))
    run = ["cv", "a.csv", "--label", "y", "--folds", "2", "--json"]
    assert vwlite(*run).out == vwlite(*run, "--time", "day").out


def test_frames_are_as_files():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    from vwlite import SparseClassifier

    frame = pandas.DataFrame(rows_of_weekdays(), columns=WEEKDAYS).astype({"z": float})
    X, y = frame[["day", "z"]], frame["y"]

    def learned(**roles):
        return SparseClassifier(algorithm="auto", **roles).fit(X, y).decision_function(X)

    assert np.array_equal(learned(), learned(time=["day"]))
    assert not np.array_equal(learned(), learned(categorical=["day"]))
    assert np.array_equal(learned(categorical=["day"]), learned(categorical=["day"], derive="auto"))


def test_types_of_times_need_no_option(vwlite, here):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for kind in (pa.timestamp("ms"), pa.timestamp("s", "Europe/Rome"), pa.date32(), pa.date64()):
        at = pa.array([0, None, 40], pa.int32()).cast(kind) if kind == pa.date32() else pa.array(
            [0, None, 86400000], pa.int64()).cast(kind)
        pq.write_table(pa.table({"y": [1, -1, 1], "at": at}), "a.parquet")
        assert vwlite("convert", "a.parquet", "--label", "y").out == vwlite(
            "convert", "a.parquet", "--label", "y", "--time", "at").out


# --- the rule ---------------------------------------------------------------------------------------


def judged(loss):
    found = object.__new__(Judged)
    found.loss = loss
    return found


@pytest.mark.parametrize(("words", "times", "expected"), [
    (0.5, 0.5, True), (0.4996, 0.5, True), (0.4994, 0.5, False), (0.6, 0.5, True), (None, 0.5, False),
    (0.5, None, False),
])
def test_words_are_better_if_their_loss_is_below_999_thousandths(words, times, expected):
    assert judged(words).is_not_better(judged(times)) == expected


def test_the_losses_are_out_of_fold_ones_of_the_columns_as_they_are(vwlite, here, monkeypatch):
    """Those that training reports after three passes, without derived features and normalization."""
    found = []
    of = Judged.learn_in_passes
    monkeypatch.setattr(Judged, "learn_in_passes", lambda self, batches: (of(self, batches), found.append(self.loss)))
    written(Path("a.csv"), WEEKDAYS, rows_of_weekdays(1500))
    vwlite("train", "a.csv", "--label", "y")
    run = ["train", "a.csv", "--label", "y", "--derive", "none", "--normalize", "none", "--passes", "3"]
    for loss, option in zip(found, ("--categorical", "--time"), strict=True):
        vwlite(*run, option, "day", "--report", "r")
        results = json.loads(Path("r").read_text())["results"]
        assert math.isclose(loss, results["out_of_fold_average_loss"], rel_tol=1e-6)


def test_mostly_different_values_are_times_and_the_others_compared_in_order():
    asked = []

    class Some:
        loss = 1.0

        def __init__(self, names):
            self.names = [*names]

        def is_not_better(self, other):
            asked.append((self.names, other.names))
            return other.names[-1] == "b"

    assert chosen_times({"a": 3, "b": 10, "c": 51, "d": 50}, 100, Some, lambda: False) == (["b", "c"], ["a", "d"])
    assert asked == [(["c"], ["c", "a"]), (["c"], ["c", "b"]), (["c", "b"], ["c", "b", "d"])]


def test_drawn_rows_are_learnable_and_of_all_places(monkeypatch):
    monkeypatch.setattr(times, "COMPARED", 500)
    used = np.random.default_rng(1).random(10_000) < 0.5
    found = drawn_rows(used)
    assert found.sum() == 500 and not np.any(found & ~used)
    assert all(20 < part.sum() < 80 for part in np.split(found, 10))


def test_the_part_of_a_file_has_its_header_and_whole_records(here, monkeypatch, vwlite):
    """Records may have several lines, before which others come that cannot be learned."""
    monkeypatch.setattr(times, "COMPARED", 40)
    rows = [(day, z, "" if k % 10 == 0 else y, '"a\n\nb"' if k % 3 == 0 else "c")
            for k, (day, z, y) in enumerate(rows_of_weekdays(300))]
    Path("a.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in [("day", "z", "y", "c"), *rows]))
    parts = []
    monkeypatch.setattr(times, "Part", lambda lines: parts.append(lines) or Part(lines))
    vwlite("train", "a.csv", "--label", "y")
    lines = parts[0]["a.csv"]
    text = Path("a.csv").read_text().splitlines(keepends=True)[: len(lines)]
    kept = "".join(line for line, used in zip(text, lines, strict=True) if used)
    records = [",".join(map(str, row)) + "\n" for row in rows if row[2] != ""]
    assert kept.startswith("day,z,y,c\n")
    rest = kept.removeprefix("day,z,y,c\n")
    count = 0
    for record in records:
        if rest.startswith(record):
            rest, count = rest.removeprefix(record), count + 1
    assert not rest and count == 40


@pytest.mark.parametrize(("cells", "format"), [
    (["2026-01-31", "2026-01"], ""), (["2026-01-31T13:05Z"], ""), (["20260131", "2026-02-01"], ""),
    (["31.01.2026", "01.02.2026"], "%d.%m.%Y"), (["01/31/2026"], "%m/%d/%Y"), (["01/02/2026"], None),
    (["2026-01-31", "31.01.2026"], None), (["12"], None), (["2026-01-31", "1e9"], None), (["x"], None), ([], None),
])
def test_formats(cells, format):
    assert format_of_dates([cell.encode() for cell in cells]) == format
