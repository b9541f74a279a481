"""`vwlite report`: a page that is complete, safe and loads nothing, with the numbers of the other commands."""

import gzip
import hashlib
import json
import math
import random
import re
import shlex
import subprocess
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from running import GD, finish, shell, start

from vwlite.evaluation.page.charts import WIDTH, Axis, Series, chart, label_lines
from vwlite.evaluation.page.markup import Markup
from vwlite.evaluation.page.markup import name as breaking
from vwlite.evaluation.page.origin import command_of
from vwlite.input import reader
from vwlite.model.read import read_model
from vwlite.options.spec import TABLES, specs_of
from vwlite.output.shell_words import split_words
from vwlite.runs.options import InputOptions

DATA = Path(__file__).parents[2] / "data"
VOID = {"meta", "path", "wbr", "br"}


class Page(HTMLParser):
    """The texts and elements of a page whose elements must be closed in their order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def models(vwlite):
    learn = ("train", str(DATA / "breast_cancer.train.vw"), "--quiet", "--loss", "logistic")
    vwlite(*learn, *GD, "--passes", "4", "--cache-file", "c", "-m", "gd.model")
    vwlite(*learn, "--algorithm", "auto", "-m", "auto.model")
    return str(DATA / "breast_cancer.test.vw")


def test_a_page_has_the_numbers_of_the_other_commands(vwlite, models):
    assert vwlite("report", "-m", "gd.model", models, "-o", "page.html").code == 0
    text = Path("page.html").read_text()
    page = Page(text)
    assert len(text) < 300_000
    found = json.loads(vwlite("evaluate", "-m", "gd.model", models, "--json").out)["measures"]
    for name in ("log_loss", "auc", "brier", "accuracy"):
        assert f"{found[name]['value']:.4f}" in page.text
        assert f"{found[name]['baseline']:.4f}" in page.text
    worst = [json.loads(line) for line in vwlite("worst", "-m", "gd.model", models, "--json").out.splitlines()]
    for row in worst:
        assert f"breast_cancer.test.vw:{row['line']}" in page.text
        assert row["contributions"][0]["name"] in page.text
    assert "vwlite train DATA --algorithm gd" in page.text and "--passes 4" in page.text
    facts = json.loads(vwlite("report", "-m", "gd.model", models, "--json").out)
    assert facts["measures"]["measures"] == found
    assert [p["pass"] for p in facts["models"][0]["passes"]] == [1, 2, 3, 4]


CODE, CANCER = DATA / "code.train.csv", DATA / "breast_cancer.train.vw"
TABLE = [CODE, "--label", "is_cython", "--text", "code", "--drop", "id"]
LEARNED = {
    "table": TABLE,
    "table with names": [*TABLE, "--names", "--ngram", "2", "--missing", "?,none"],
    "table of gd": [*TABLE, *GD, "--loss", "logistic", "--labels", "0,1", "-q", "first,words",
                    "--cubic", "first,words,code"],
    "table without a header": ["no-header.csv", "--columns", "a b,\"c,d\",y", "--label", "y", "--categorical", "a b"],
    "delimiter": ["other.csv", "--delimiter", "\x01", "--label", "y", "--importance", "w", "--tag", "t"],
    "json lines": ["rows.jsonl", "--label", "y", "--categorical", "n"],
    "vw text": [CANCER, "--loss", "logistic"],
    "numbers": [CANCER, "--loss", "squared"],
    "one pass": [CANCER, "--passes", "1", "--loss", "logistic", "-b", "12"],
    "crosses of auto": [CANCER, "-q", "me", "-q", "ew", "--no-constant", "--ignore-linear", "w"],
    "sparse": [CANCER, "--sparse=0.9"],
    "noise": ["noise.vw", "--loss", "logistic"],
    "classes": [DATA / "digits.train.libsvm", "--oaa", "10", "--classes", "auto"],
    "classes of gd": [DATA / "digits.train.libsvm", *GD, "--oaa", "10", "--classes", "1,2,3,4,5,6,7,8,9,10"],
    "softmax": [DATA / "digits.train.libsvm", "--oaa", "10", "--classes", "auto", "--softmax", "--radius", "30"],
    "gd with -q": [CANCER, *GD, "--loss", "logistic", "-q", "me", "--cubic", "mew", "--interactions", "mmee",
                   "-l", "0.1"],
    "passes": [CANCER, *GD, "--loss", "hinge", "--passes", "3", "--holdout-off", "--cache-file", "c2"],
    "weights": [CANCER, *GD, "--loss", "huber", "--huber-delta", "0.3", "--save-weights-only", "--l1", "1e-7"],
    "ftrl": [CANCER, "--algorithm", "ftrl", "--loss", "logistic", "--ftrl-alpha", "0.1", "--link", "identity"],
    "solve": [CANCER, "--l1", "0.01", "--loss", "logistic"],
    "class weights": [CANCER, *GD, "--loss", "logistic", "--class-weight=-1:0.1,1:3"],
    "balanced": [CANCER, "--class-weight", "balanced", "--names=5"],
    "stopped": ["noise.vw", *GD, "--loss", "logistic", "--passes", "9", "--early-terminate", "2", "--cache-file", "c2"],
    "held out": [CANCER, *GD, "--loss", "squared", "--passes", "2", "--holdout-period", "7", "--cache-file", "c2"],
    "two passes at most": [CANCER, "--passes", "2"],
    "bad lines": ["bad.vw", *GD, "--loss", "logistic", "--format", "vw", "--on-error", "skip"],
}


@pytest.mark.parametrize("name", LEARNED)
def test_the_command_of_a_page_makes_the_model_again(vwlite, folder, name):
    chance = random.Random(1)
    for file, delimiter in (("no-header.csv", ","), ("other.csv", "\x01")):
        rows = [[chance.choice("123"), str(chance.random()), chance.choice("01"), "2", "t"] for _ in range(60)]
        rows = [row[:3] for row in rows] if file == "no-header.csv" else [["k", "x", "y", "w", "t"], *rows]
        Path(file).write_text("".join(delimiter.join(row) + "\n" for row in rows))
    rows = ({"y": chance.choice([0, 1]), "n": i % 5, "x": chance.random()} for i in range(60))
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("noise.vw").write_text("".join(f"{chance.choice([1, -1])} |f a:{chance.random()}\n" for _ in range(200)))
    Path("bad.vw").write_text("1 |f a:x\n" + Path("noise.vw").read_text())
    data, *options = LEARNED[name]
    vwlite("solve" if name == "solve" else "train", data, *options, "-m", "first.model", "--quiet")
    model = read_model("first.model")
    command = command_of(model)
    assert command.isprintable()
    words = {"DATA": str(data), "MODEL": "again.model"}
    typed = " ".join(words.get(word, word) for word in split_words(command))
    more = " --cache-file c3" if "--passes" in options and "--algorithm" in options else ""  # where they are kept
    more += " --on-error skip" if "--on-error" in options else ""
    if "$" in typed:  # only a shell reads $'\001'
        done = shell(f"{typed} --quiet{more}")
        assert done.code == 0, (command, done.err)
    else:
        vwlite(*shlex.split(f"{typed} --quiet{more}")[1:])
    assert Path("again.model").read_bytes() == Path("first.model").read_bytes(), command


# How a table is read: for each option its value, and another option, or how the file is written: an old and a new text.
HOW_TABLES_ARE_READ = {
    "label": ("y",), "text": ("w",), "categorical": ("x",), "numeric": ("x",), "time": ("d",), "drop": ("w",),
    "tag": ("w",), "importance": ("x",), "ngram": ("2", "--text w"), "delimiter": (";", (",", ";")),
    "quote": ("none", ("red", '"red')), "escape": ("\\", ("red", "r\\,ed")), "columns": ("y,x,w,d", ("y,x,w,d\n", "")),
    "no_header": ("", ("y,x,w,d\n", "")), "missing": ("?,-", (",13,", ",?,")), "decimal": (",", (",13,", ',"1,3",')),
    "thousands": ("'", (",13,", ",1'026,")), "units": ("kg", (",13,", ",13 kg,")),
    "time_format": ("%Y-%m-%d", "--time d"),
}


@pytest.mark.parametrize("name", HOW_TABLES_ARE_READ)
def test_the_command_of_a_page_has_all_options_that_decide_how_a_table_is_read(vwlite, folder, name):
    assert {*HOW_TABLES_ARE_READ} == {spec.name for spec in specs_of(InputOptions, TABLES)}
    value, *more = HOW_TABLES_ARE_READ[name]
    rows = "".join(f"{i % 2},{i},{['red', 'blue'][i % 3 > 0]},2026-01-{1 + i % 28:02}\n" for i in range(60))
    others = [word for words in more if isinstance(words, str) for word in words.split()]
    Path("t.csv").write_text(("y,x,w,d\n" + rows).replace(*(("", "") if others or not more else more[0])))
    option = [f"--{name.replace('_', '-')}", *([value] if value else [])]
    label = [] if name == "label" else ["--label", "c1" if name == "no_header" else "y"]
    vwlite("train", "t.csv", *label, *option, *others, *GD, "-m", "first.model")
    words = shlex.split(command_of(read_model("first.model")))
    assert ("--columns" if name == "no_header" else option[0]) in words
    vwlite(*({"DATA": "t.csv", "MODEL": "again.model"}.get(word, word) for word in words[1:]))
    assert Path("again.model").read_bytes() == Path("first.model").read_bytes(), words


def test_the_command_of_a_page_has_the_format_of_lines_with_labels(vwlite, folder):
    Path("lines.txt").write_text("".join(f"__label__{'ab'[i % 2]} red {i % 5} wine\n" for i in range(60)))
    vwlite("train", "lines.txt", "--format", "fasttext", "--ngram", "2", *GD, "-m", "first.model")
    words = shlex.split(command_of(read_model("first.model")))
    vwlite(*({"DATA": "lines.txt", "MODEL": "again.model"}.get(word, word) for word in words[1:]))
    assert Path("again.model").read_bytes() == Path("first.model").read_bytes(), words


def test_the_page_has_the_digest_of_the_training_data_that_the_model_has(vwlite, models):
    vwlite("train", CANCER, *GD, "--loss", "logistic", "--continue", "c.model")
    page = Page(vwlite("report", "-m", "c.model", models).out)
    assert hashlib.blake2b(CANCER.read_bytes(), digest_size=16).hexdigest() in page.text
    assert hashlib.sha256(Path(models).read_bytes()).hexdigest() in page.text
    assert "--continue MODEL" in page.text


def test_the_digest_of_examples_does_not_depend_on_how_they_are_written(vwlite, folder):
    rows = [(k % 3, k % 2, k % 5) for k in range(400)]
    Path("t.csv").write_text("x,y,z\n" + "".join(f"{x},{y},{z}\n" for x, y, z in rows))
    Path("t.jsonl").write_text("".join(json.dumps({"z": z, "y": y, "x": x}) + "\n" for x, y, z in rows))
    Path("other.csv").write_text("x,y,z\n" + "".join(f"{x},{y},{z + (z == 4)}\n" for x, y, z in rows))
    found = {}
    for name in ("t.csv", "t.jsonl", "other.csv"):
        vwlite("train", name, "--label", "y", "--quiet", "-m", "m")
        found[name] = read_model("m").chosen["data"]
        assert found[name] in Page(vwlite("report", "-m", "m", "t.csv").out).text
    assert found["t.csv"] == found["t.jsonl"] != found["other.csv"]


def test_the_same_input_makes_the_same_page(vwlite, models):
    pages = [vwlite("report", "-m", "auto.model", models, "--threads", n).out for n in ("1", "3")]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("kind", ["text", "compressed", "table"])
def test_data_are_read_once(vwlite, models, monkeypatch, kind):
    """So a pipe will do; with two models, once for each. The digest is that of the bytes of the file."""
    lines = Path(models).read_bytes()
    if kind == "table":
        lines = b"y,x,k\n" + b"".join(b"%d,%d,k%d\n" % (i % 2, i * i % 7, i % 3) for i in range(60))
    Path("data").write_bytes(gzip.compress(lines) if kind == "compressed" else lines)
    if kind == "table":
        for name, more in (("gd.model", (*GD, "--loss", "logistic", "--labels", "0,1")), ("auto.model", ())):
            vwlite("train", "data", "--label", "y", "--quiet", "-m", name, *more)
    opened, before = [], reader._File.__init__

    def init(file, source, *arguments):
        opened.append(source)
        before(file, source, *arguments)

    monkeypatch.setattr(reader._File, "__init__", init)
    command = ["report", "-m", "gd.model", "data", "--json"]
    found = json.loads(vwlite(*command).out)
    assert opened == ["data"]
    vwlite(*command, "--against", "auto.model")
    assert opened == ["data"] * 3
    assert found["data"] == {"data": hashlib.sha256(Path("data").read_bytes()).hexdigest()}
    piped = finish(start("report", "-m", "gd.model", "--json", stdin=subprocess.PIPE), Path("data").read_bytes())
    assert piped.code == 0
    assert json.loads(piped.out.replace("<stdin>", "data")) == found


def test_the_command_of_a_model_without_names_keeps_none(vwlite, models):
    """Though the page shows the names that are in the data."""
    found = json.loads(vwlite("report", "-m", "gd.model", models, "--json").out)
    (model,) = found["models"]
    assert "--names" not in split_words(model["command"])
    assert any(any(c.isalpha() for c in name) for row in model["weights"] for name in row["names"])


def test_bad_lines_are_left_out_and_noted_once(vwlite, models):
    """Also labels that the model cannot read."""
    lines = Path(models).read_text().splitlines(keepends=True)
    Path("bad.vw").write_text("".join([*lines[:9], "bad |mean radius:1\n", "1 |mean radius:x\n", *lines[9:]]))
    Path("good.vw").write_text("".join(lines))
    found = {}
    for name in ("bad.vw", "good.vw"):
        done = vwlite("report", "-m", "gd.model", name, "--json", "--on-error", "skip")
        found[name] = json.loads(done.out)
        assert done.err.count("(skipped)") == (2 if name == "bad.vw" else 0)
    note, *notes = found["bad.vw"].pop("notes")
    assert note.startswith("bad lines: 2, which are not in these numbers; the first is bad.vw:10:1: label 'bad'")
    assert notes == found["good.vw"].pop("notes")
    assert found["bad.vw"]["measures"] == found["good.vw"]["measures"]


def test_two_models_are_beside_each_other(vwlite, models):
    page = Page(vwlite("report", "-m", "gd.model", models, "--against", "auto.model").out)
    apart = json.loads(vwlite("evaluate", "-m", "gd.model", models, "--against", "auto.model", "--json").out)
    assert f"{apart['difference']['log_loss']['value']:+.5f}" in page.text
    assert page.names.count("svg") == 3  # gains and calibration of both, scores of the first


HOSTILE = "<script>alert(1)</script>", '"><svg onload=alert(1)>', "&lt;b&gt;", "</style>", "\x1b[31m\u202e"


def test_names_from_data_are_text(vwlite):
    rows = [f'{i % 2},{i},"{HOSTILE[i % 5].replace(chr(34), chr(34) * 2)}"' for i in range(60)]
    Path("t.csv").write_text(f'y,"{HOSTILE[0]}","{HOSTILE[1].replace(chr(34), chr(34) * 2)}"\n' + "\n".join(rows))
    vwlite("train", "t.csv", "--label", "y", "--quiet", *GD, "--loss", "logistic", "--labels", "0,1", "-m", "m")
    shown = vwlite("report", "-m", "m", "t.csv")
    assert shown.code == 0
    page = Page(shown.out)
    assert set(page.names) <= {
        "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "section", "div", "table",
        "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "svg", "path", "text", "span", "ul",
        "li", "pre", "strong", "wbr", "br",
    }
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("href", "src")]
    assert HOSTILE[0] in page.text and "\x1b" not in shown.out and "\u202e" not in shown.out


def test_the_front_of_tune_is_drawn(vwlite, models):
    rows = [{"loss": 0.5, "nonzero weights": 3}, {"loss": 0.25, "nonzero_weights": 40}]
    Path("tune.json").write_text(json.dumps({"front": rows}))
    page = Page(vwlite("report", "-m", "gd.model", models, "--front", "tune.json").out)
    assert "Loss over nonzero weights" in page.text and page.names.count("svg") == 4


def test_a_wide_table_has_a_small_page(vwlite):
    names = [f"column {i}" for i in range(1500)]
    rows = [",".join([str(i % 2), *(str(i * j % 7) for j in range(1500))]) for i in range(10)]
    Path("t.csv").write_text(",".join(["y", *names]) + "\n" + "\n".join(rows) + "\n")
    vwlite("train", "t.csv", "--label", "y", "--quiet", *GD, "--loss", "logistic", "--labels", "0,1", "-m", "m")
    shown = vwlite("report", "-m", "m", "t.csv").out
    assert len(shown) < 150_000 and " more are smaller: vwlite report --json has all" in Page(shown).text


COLUMNS = ("age", "visits", "city of the customer", "day")


@pytest.fixture
def customers(vwlite, folder):
    """A table with a curve, words, times and missing values, and its model; the command of its page."""
    chance = random.Random(7)
    lines = ["bought," + ",".join(COLUMNS)]
    for _ in range(3000):
        age, city, visits = chance.randint(18, 80), chance.choice(["Rome", "New York", "Oslo"]), chance.randint(0, 30)
        score = 2 * math.sin(age / 9) + {"Rome": 1, "Oslo": -1}.get(city, 0) + visits / 20 - 1
        bought = int(chance.random() < 1 / (1 + math.exp(-score)))
        day = f"2026-0{chance.randint(1, 9)}-1{chance.randint(0, 9)}T1{chance.randint(0, 9)}:00"
        lines.append(f"{bought},{age if age != 33 else ''},{visits},{city},{day}")
    Path("train.csv").write_text("\n".join(lines[:2001]) + "\n")
    Path("test.csv").write_text("\n".join([lines[0], *lines[2001:]]) + "\n")
    vwlite("train", "train.csv", "--label", "bought", "--time", "day", "-m", "m", "--quiet")
    return "report", "-m", "m", "test.csv"


def scores_of(vwlite, *link):
    vwlite("predict", "-m", "m", "test.csv", "-p", "p", "--quiet", *link)
    labels = [int(line[0]) for line in Path("test.csv").read_text().splitlines()[1:]]
    return np.array([float(line) for line in Path("p").read_text().split()]), np.array(labels)


def test_a_page_of_a_table_has_its_effects(vwlite, customers):
    text = vwlite(*customers).out
    page = Page(text)
    for column in COLUMNS[:3]:
        assert column in page.text
    for said in ("New York", "missing in ", "adds to log-odds", "rows with bought = 1", "rows"):
        assert said in page.text
    assert "<script" not in text and len(text) < 300_000 and "nan" not in page.text
    (model,) = json.loads(vwlite(*customers, "--json").out)["models"]
    sizes = [effect["deviation"] for effect in model["effects"]]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("column", [1, 2, 3])
def test_the_size_of_an_effect_is_the_deviation_of_the_scores_if_there_is_no_other(vwlite, customers, column):
    for name in ("train.csv", "test.csv"):
        rows = (line.split(",") for line in Path(name).read_text().splitlines())
        Path(name).write_text("".join(f"{row[0]},{row[column]}\n" for row in rows))
    vwlite("train", "train.csv", "--label", "bought", "-m", "m", "--quiet")
    (model,) = json.loads(vwlite(*customers, "--json").out)["models"]
    scores, _ = scores_of(vwlite, "--link", "identity")
    assert [effect["deviation"] for effect in model["effects"]] == pytest.approx([scores.std()], rel=1e-4)


def test_gains_and_costs_are_those_of_the_definition(vwlite, customers):
    """Rows in the order of their scores; the threshold whose false alarms and misses cost least."""
    page = Page(vwlite(*customers).out)
    score, label = scores_of(vwlite, "--link", "logistic")
    tenth = np.sort(score)[-len(score) // 10]
    held = label[score >= tenth].sum() / label.sum()
    assert f"hold {held:.0%} of all rows with bought = 1".replace("%", " %") in page.text
    for ratio, said in ((1, "1 false alarm"), (5, "5 false alarms")):
        cost = {t: (label[score >= t] == 0).sum() + ratio * label[score < t].sum() for t in [*score, 2.0]}
        row = re.search(rf"{said}([\d.]+|none)", page.text)
        assert row is not None
        found = min(cost.values())
        flags = 2.0 if row[1] == "none" else min(score, key=lambda t: abs(t - float(row[1][:6])))
        assert cost[flags] == found


def test_errors_are_in_the_unit_of_the_label(vwlite, folder):
    chance = random.Random(2)
    rows = [(x := chance.random(), 50_000 + 400_000 * x + chance.gauss(0, 20_000)) for _ in range(600)]
    Path("t.csv").write_text("price,size\n" + "".join(f"{y:.0f},{x:.4f}\n" for x, y in rows))
    vwlite("train", "t.csv", "--label", "price", "-m", "m", "--quiet")
    page = Page(vwlite("report", "-m", "m", "t.csv").out)
    measures = json.loads(vwlite("report", "-m", "m", "t.csv", "--json").out)["measures"]["measures"]
    rmse, mae = math.sqrt(measures["mse"]["value"]), measures["mae"]["value"]
    assert f"{rmse:,.0f}RMSE" in page.text and f"price are off by {mae:,.0f} on average" in page.text
    assert "mean of price, with 95 % intervals" in page.text and "price less its prediction" in page.text
    worst = json.loads(vwlite("worst", "-m", "m", "t.csv", "--json", "--top", "1").out)
    assert worst["label"] >= 1000 and f"{worst['label']:,.0f}{worst['prediction']:,.0f}" in page.text


def test_classes_show_the_worst_and_the_most_confused(vwlite, folder):
    chance = random.Random(3)
    rows = [(k, k if chance.random() < 0.9 else 20 + k % 2) for k in (chance.randrange(30) for _ in range(900))]
    Path("t.csv").write_text("kind,word\n" + "".join(f"k{y},w{x}\n" for y, x in rows))
    how = ["--oaa", "30", "--classes", "auto", *GD, "--loss", "logistic"]
    vwlite("train", "t.csv", "--label", "kind", *how, "-m", "m", "--quiet")
    page = Page(vwlite("report", "-m", "m", "t.csv").out)
    found = json.loads(vwlite("report", "-m", "m", "t.csv", "--json").out)["measures"]
    worst = sorted(found["classes"], key=lambda k: found["classes"][k]["f1"])[0]
    assert "The worst 10 of 30 classes" in page.text
    assert f"{worst}{found['classes'][worst]['f1']:.3f}" in page.text
    matrix = np.array(found["confusion_matrix"])
    np.fill_diagonal(matrix, 0)
    a, b = np.unravel_index(matrix.argmax(), matrix.shape)
    names = list(found["classes"])
    assert f"{names[a]}{names[b]}{matrix.max():.0f}" in page.text


def test_the_day_of_a_page_can_be_set(vwlite, customers, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert "1970-01-02" in Page(vwlite(*customers).out).text


def test_names_break_behind_their_words():
    assert breaking("hours_per-week:x") == "hours_<wbr>per-<wbr>week:<wbr>x"
    assert breaking("1.25<b>") == "1.25&lt;b&gt;" and breaking(Markup("a_b")) == "a_b"
    assert label_lines("temperature_of_the_outer_hull", 120) == ["temperature_of_", "the_outer_hull"]


@pytest.mark.parametrize(
    "options, text, code, message",
    [
        (("-m", "gd.model", "--against", "gd.model"), None, 2, "standard input is read only once"),
        (("-m", "gd.model", "--against", "gd.model", "-"), None, 2, "standard input is read only once"),
        (("-m", "gd.model", "t.vw"), "", 65, "nothing to evaluate"),
        (("-m", "gd.model", "t.vw"), "|n x\n", 65, "no example has a label"),
        (("-m", "gd.model", "t.vw"), "1 |n x:a\n", 65, "t.vw:1:8"),
        (("-m", "t.vw", "t.vw"), "1 |n x\n", 65, "not a model"),
        (("-m", "gd.model", "t.vw", "--front", "t.vw"), "1 |n x\n", 65, "not what vwlite tune --json writes"),
        (("-m", "gd.model", "t.vw", "--front", "none"), "1 |n x\n", 66, "none: No such file"),
        (("-m", "gd.model", "t.vw", "-o", "none/page"), "1 |n x\n", 73, "none/page"),
    ],
)
def test_bad_input(vwlite, models, options, text, code, message):
    if text is not None:
        Path("t.vw").write_text(text)
    Path("page.html").write_text("before")
    done = vwlite("report", *options, *(("-o", "page.html") if "-o" not in options else ()), code=code)
    assert message in done.err and not done.out
    assert Path("page.html").read_text() == "before"


def test_one_label_and_one_row(vwlite, models):
    Path("t.vw").write_text("1 |mean radius:1\n")
    page = Page(vwlite("report", "-m", "gd.model", "t.vw").out)
    assert "all labels are positive" in page.text and "nan" not in page.text


@pytest.mark.parametrize("size", [1e-12, 1e-3, 1.0, 250.0, 1e4, 3e7, 1e12, 1e200])
def test_labels_of_axes_are_within_their_chart_and_apart(size):
    """With letters of 6 of 11 pixels, as wide as digits of usual fonts."""
    values = [-size, 0.0, size / 3, size]
    for x, y in ((values, [0.0, 1.0]), ([0.0, 1.0], values), (values, values)):
        svg = chart("title", "about", [Series("", x[:2], y[:2])], Axis("x", x), Axis("y", y))
        found = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">([^<]*)</text>', svg)
        assert len(found) > 4
        rows: dict[str, list[tuple[float, float]]] = {}
        for at, row, anchor, label in found:
            wide = 6.0 * len(label)
            begin = float(at) - {"middle": wide / 2, "end": wide}[anchor]
            assert begin >= 0 and begin + wide <= WIDTH, label
            rows.setdefault(row, []).append((begin, begin + wide))
        for ends in rows.values():
            assert all(a[1] < b[0] for a, b in pairwise(sorted(ends)))
