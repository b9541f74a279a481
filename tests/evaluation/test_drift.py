"""`vwlite drift`, and the note of `train --continue`: numbers by their definition, and what differs."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from test_continue import day
from test_report import Page

from vwlite.evaluation.columns import verdict
from vwlite.model import read_model
from vwlite.runs.watched import Number, Watched


@pytest.fixture
def days(vwlite, folder):
    """Two alike, one with another rate, a new device, and older people."""
    day("day1.csv", 1, 2000)
    day("day2.csv", 2, 2000)
    day("day3.csv", 3, 2000, rate=0.5, devices=("ios", "android", "web", "web"), age=43)
    vwlite("train", "day1.csv", "--label", "clicked", "-m", "M", "--quiet")
    return vwlite


def rows_of(name):
    with open(name) as file:
        return list(csv.DictReader(file))


def estimate(values):
    """A mean and its standard error."""
    x = np.array(values, float)
    return [x.mean(), x.std() / math.sqrt(x.size)]


def share(values):
    """A share and its standard error, with one more value of 0 and one of 1."""
    return [np.mean(values), np.std([*values, 0, 1]) / math.sqrt(len(values))]


def numbers_of(out):
    """Those of --json by their texts: of all rows, and of columns."""
    found = json.loads(out)
    of_columns = [(f"{column}: {key}", x) for column, of in found["columns"].items() for key, x in of.items()]
    return {kind: {name.replace("_", " "): x for name, x in numbers}
            for kind, numbers in (("numbers", found["numbers"].items()), ("columns", of_columns))}


def of_predictions(vwlite, name):
    """Mean label, mean prediction and loss, by what predict writes."""
    vwlite("predict", "-m", "M", name, "-p", "p", "--link", "logistic", "--quiet")
    p = np.array([float(line) for line in Path("p").read_text().split()])
    y = np.array([int(row["clicked"]) for row in rows_of(name)])
    return {"mean label": share(y), "mean prediction": estimate(p), "loss": estimate(-np.log(np.where(y, p, 1 - p)))}


def test_the_numbers_are_those_of_the_definition(days):
    found = numbers_of(days("drift", "-m", "M", "day2.csv", "day3.csv", "--json").out)
    for name, when in (("day2.csv", "yesterday"), ("day3.csv", "today")):
        rows = rows_of(name)
        new = [row["device"] == "web" for row in rows]
        unknown = np.mean(new) / (2 + np.mean(new))  # of two features in a row, and device? behind a new word
        s = (unknown * len(rows) + 1) / (len(rows) + 2)
        expected = {
            "numbers": of_predictions(days, name)
            | {"unknown features": [unknown, math.sqrt(s * (1 - s) / len(rows))]},
            "columns": {
                "device: in lines": share([1] * len(rows)), "device: unknown": share(new),
                "age: unknown": share([0] * len(rows)),
                "age: mean value": estimate([float(row["age"]) for row in rows]),
            },
        }
        for kind, numbers in expected.items():
            for key, values in numbers.items():
                assert [found[kind][key][x] for x in (when, f"{when}_error")] == pytest.approx(values, abs=2e-6), key
    both = found["columns"]["device: alike"]
    shares = [np.array([np.mean([row["device"] == d for row in rows_of(name)]) for d in ("ios", "android", "web")])
              for name in ("day2.csv", "day3.csv")]
    assert both["today"] == pytest.approx(1 - np.abs(shares[0] - shares[1]).sum() / 2)
    for pair in (found["numbers"] | found["columns"]).values():
        change = abs(pair["today"] - pair["yesterday"])
        errors = math.hypot(pair["today_error"], pair["yesterday_error"])
        assert pair["differs"] == (change > abs(pair["yesterday"]) / 10 and change > 3 * errors)


def test_what_differs_is_marked(days):
    assert "*" not in days("drift", "-m", "M", "day1.csv", "day2.csv").out
    out = days("drift", "-m", "M", "day2.csv", "day3.csv").out
    marked = [line[:40].strip() for line in out.splitlines() if line.endswith("*")]
    found = numbers_of(days("drift", "-m", "M", "day2.csv", "day3.csv", "--json").out)
    assert marked == [name for name, x in (found["numbers"] | found["columns"]).items() if x.get("differs")]
    assert {"unknown features", "mean label", "device: unknown", "device: alike", "age: mean value"} <= set(marked)
    assert max(map(len, out.splitlines())) <= 80
    for name in ("day2", "day3"):
        text = days("convert", f"{name}.csv", "--label", "clicked", "--quiet").out
        Path(f"{name}.vw").write_text(text.replace("device=web", "device=web device?"))
    assert days("drift", "-m", "M", "day2.vw", "day3.vw", "--threads", "1").out == out
    Path("part.csv").write_text("\n".join(line.rsplit(",", 1)[0] + "," for line in
                                          Path("day2.csv").read_text().splitlines()[1:]))
    Path("part.csv").write_text("clicked,device,age\n" + Path("part.csv").read_text())
    assert "age: in lines                                      1           0 *" in days(
        "drift", "-m", "M", "day2.csv", "part.csv").out


def test_the_verdict_names_columns_first(days):
    """Those with the largest difference in standard errors first."""
    assert days("drift", "-m", "M", "day1.csv", "day2.csv").out.splitlines()[0] == (
        "No column differs by more than a tenth and by more than chance.")
    out = days("drift", "-m", "M", "day2.csv", "day3.csv", "--page", "page.html", "--quiet").out
    said = " ".join(out.partition("\n\n")[0].splitlines())
    found = numbers_of(days("drift", "-m", "M", "day2.csv", "day3.csv", "--json").out)
    whole = [f"the {name}" for name, x in found["numbers"].items() if x["differs"]]
    also = f"{', '.join(whole[:-1])} and {whole[-1]}"
    assert said == f"device and age differ by more than a tenth and by more than chance, and so do {also}."
    assert said in Page(Path("page.html").read_text()).text


def test_verdicts():
    a, other = Number(1.0, 0.01), Number(2.0, 0.01)
    many = {Watched("mean_value", column=f"c{k}"): (a, Number(1.5 + k, 0.01)) for k in range(7)}
    why = "by more than a tenth and by more than chance"
    assert verdict({}, many) == f"c6, c5, c4, c3, c2 and 2 more columns differ {why}."
    loss, one = {Watched("loss"): (a, other)}, {Watched("alike", column="x"): (a, other)}
    assert verdict(loss, one) == f"x differs {why}, and so does the loss."
    assert verdict(loss, {Watched("alike", column="x"): (a, a)}) == f"No column differs {why}, but the loss does."
    assert verdict({}, {}) == f"No column differs {why}."


def test_a_page_has_both_days(days):
    plain = days("drift", "-m", "M", "day2.csv", "day3.csv", "--quiet").out
    shown = days("drift", "-m", "M", "day2.csv", "day3.csv", "--quiet", "--page", "page.html")
    assert shown.out == plain  # and nothing else
    found = numbers_of(days("drift", "-m", "M", "day2.csv", "day3.csv", "--quiet", "--json").out)
    text = Path("page.html").read_text()
    page = Page(text)
    assert len(text) < 300_000 and "<script" not in text and "nan" not in page.text
    for kind in ("numbers", "columns"):
        said = sum(x["differs"] for x in found[kind].values())
        assert f"{said} of {len(found[kind])}" in page.text
    for number in ("mean label", "mean prediction", "loss"):
        assert f"{found['numbers'][number]['today']:.4f}{number}yesterday {found['numbers'][number]['yesterday']:.4f}" \
            in page.text
    assert page.names.count("svg") == 2  # predictions, age
    both = [[row["device"] for row in rows_of(name)] for name in ("day2.csv", "day3.csv")]
    share = [both[k].count("web") / len(both[k]) for k in (0, 1)]
    assert "any other value" in page.text and f"0 %{share[1]:.0%}".replace("%", " %", 2).replace("  ", " ") in page.text


@pytest.mark.parametrize("kind", ["text", "classes"])
def test_a_page_of_models_without_columns(vwlite, folder, kind):
    for name, labels in (("a", "112"), ("b", "122")):
        rows = (f"{y if kind == 'classes' else 2 * int(y) - 3} |x f{y}\n" for y in labels)
        Path(name).write_text("".join(rows) * 200)
    more = ("--oaa", "2") if kind == "classes" else ("--loss", "logistic")
    vwlite("train", "a", *more, "-m", "M", "--quiet")
    vwlite("drift", "-m", "M", "a", "b", "--page", "page.html", "--quiet")
    page = Page(Path("page.html").read_text())
    assert "Predictions" in page.text and "Yesterday: a, 600 rows; today: b, 600 rows" in page.text


def test_a_few_rows_do_not_differ(days):
    lines = Path("day2.csv").read_text().splitlines(keepends=True)
    for n in (1, 2, 3):
        Path("few.csv").write_text("".join(lines[: n + 1]))
        for pair in (("few.csv", "day1.csv"), ("day1.csv", "few.csv")):
            assert "*" not in days("drift", "-m", "M", *pair).out
    found = json.loads(days("drift", "-m", "M", "few.csv", "day1.csv", "--json").out)["numbers"]["loss"]
    assert found["yesterday_error"] is None and found["today_error"] > 0
    for _ in range(2):
        days("train", "--continue", "N", "few.csv", "--again", "--label", "clicked", "--report", "r.json")
        assert not any("in the last run" in note for note in json.loads(Path("r.json").read_text())["notes"])
    assert "loss" not in read_model("N").continued["numbers"]


def test_classes_have_the_share_of_each_label(vwlite, folder):
    for name, labels in (("a", "112"), ("b", "122")):
        Path(name).write_text("".join(f"{y} |x f{y}\n" for y in labels) * 200)
    vwlite("train", "a", "--oaa", "2", "-m", "M", "--quiet")
    found = json.loads(vwlite("drift", "-m", "M", "a", "b", "--json").out)["numbers"]
    assert (found["label_1"]["yesterday"], found["label_1"]["today"]) == pytest.approx((2 / 3, 1 / 3))
    assert found["label_1"]["differs"] and "mean_label" not in found


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("day1.csv",), 2, "name two files, YESTERDAY and TODAY"),
        (("day1.csv", "nope.csv"), 66, "nope.csv: No such file"),
        (("day1.csv", "bad.csv"), 65, "bad.csv:2:1: "),
        (("day1.csv", "none.csv"), 65, "none.csv: no examples: nothing to evaluate"),
    ],
)
def test_bad_input(days, words, code, said):
    Path("bad.csv").write_text("clicked,device,age\n7x,ios,1\n")
    Path("none.csv").write_text("clicked,device,age\n")
    found = days("drift", "-m", "M", *words, code=code)
    assert said in found.err and found.out == ""


@pytest.mark.parametrize("without", [1, 0, 2])
def test_days_may_have_no_labels(days, without):
    """The rows of today are to be predicted. All that needs no label is compared as with labels."""
    names = ["day2.csv", "day3.csv"]
    whole = numbers_of(days("drift", "-m", "M", *names, "--json").out)
    for k in range(2):
        if without in (k, 2):
            rows = rows_of(names[k])
            names[k] = f"bare{k}.csv"
            Path(names[k]).write_text("device,age\n" + "".join(f"{row['device']},{row['age']}\n" for row in rows))
    done = days("drift", "-m", "M", *names, "--json", "--page", "page.html")
    found = numbers_of(done.out)
    assert found["columns"] == whole["columns"] and found["numbers"].keys() == {"mean prediction", "unknown features"}
    assert found["numbers"]["mean prediction"] == pytest.approx(whole["numbers"]["mean prediction"], rel=1e-12)
    shown = days("drift", "-m", "M", *names)
    assert "mean prediction" in shown.out and "loss" not in shown.out
    why = "no example has a label, so labels and losses are not compared"
    notes = [line for line in shown.err.splitlines() if "label" in line]
    assert notes == [f"note: {name}: {why}" for name in names if "bare" in name]
    assert Page(Path("page.html").read_text()).names.count("svg") == 2


def test_a_run_that_continues_notes_what_differs(days):
    for k, noted in ((1, []), (2, []), (3, ["mean label", "mean prediction", "loss", "unknown features"])):
        words = ("train", "--continue", "N", f"day{k}.csv", "--label", "clicked", "-p", "p", "--report", "r.json",
                 "--keep-rows", "0")
        days(*words, "--log-format", "line")
        notes = [note for note in json.loads(Path("r.json").read_text())["notes"] if "in the last run" in note]
        assert {note.partition(":")[0] for note in notes} <= set(noted) and bool(notes) == bool(noted)
        kept = read_model("N").continued["numbers"]
        predicted = [float(line) for line in Path("p").read_text().split()]
        assert kept["mean prediction"] == pytest.approx(estimate(predicted), abs=2e-6)
        assert kept["mean label"] == pytest.approx(share([int(row["clicked"]) for row in rows_of(f"day{k}.csv")]))
    web = np.mean([row["device"] == "web" for row in rows_of("day3.csv")])
    # Each row has an age and a device, and with an unknown word `device?`, too.
    assert kept["unknown features"][0] == pytest.approx(web / (2 + web))


def test_an_intercept_alone_compares_today_with_yesterday(vwlite, folder):
    """Its features are those of yesterday: half of today's lines have a new word."""
    for name, words in (("train", "ab"), ("day1", "ab"), ("day2", "ac")):
        lines = (f"{1 - i * 7919 % 10007 % 2 * 2} |u {words[i % 2]}\n" for i in range(400))
        (folder / f"{name}.vw").write_text("".join(lines))
    learn = ("--algorithm", "adagrad-rda", "--l1", "1000", "--loss", "logistic", "--quiet")
    vwlite("train", "train.vw", *learn, "-m", "m")
    done = vwlite("drift", "-m", "m", "day1.vw", "day2.vw", "--json")
    numbers = numbers_of(done.out)
    for name, kind in (("unknown features", "numbers"), ("u: unknown", "columns")):
        found = numbers[kind][name]
        assert (found["yesterday"], found["today"], found["differs"]) == (0.0, 0.5, True)
    assert "are names and namespaces the same" not in done.err
    same = numbers_of(vwlite("drift", "-m", "m", "day1.vw", "train.vw", "--json").out)
    assert not any(fact["differs"] for fact in same["columns"].values())
