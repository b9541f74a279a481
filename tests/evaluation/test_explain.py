"""`vwlite explain`, `vwlite worst`, `vwlite weights MODEL DATA`: contributions, losses, counts by their definitions."""

import json
import math
import re
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from running import GD, finish, start
from tables import OF_TEXT, bent_rows, review_rows, written
from test_auto import lines_of

from vwlite import load_model, report
from vwlite.core.learn.scorer import Scorer
from vwlite.estimators.learned import scores_of
from vwlite.evaluation.commands import ExplainOptions
from vwlite.evaluation.explain import Explaining, heading
from vwlite.evaluation.words import words_of
from vwlite.evaluation.worst import Worst
from vwlite.input.pipeline import parsed_batches
from vwlite.inspection.weights_of_data import WeightsOfData
from vwlite.model import read_model
from vwlite.runs.opened import opened
from vwlite.runs.options import ModelOptions
from vwlite.runs.scoring import Scoring

DATA = Path(__file__).parents[2] / "data"
GOLDEN = [path for path in sorted((Path(__file__).parents[1] / "golden").glob("*/*.json"))
          if path.stem not in ("vw-ftrl", "vw-oaa")]  # `vwlite predict` does not take them either
CITIES = ("Rome", "Oslo", "Bern")
TABLE = "click,age,city,note\n" + "".join(
    f"{i % 3 % 2},{20 + i * 7 % 40},{CITIES[i % 3]},w{i % 5} w{i % 7}\n" for i in range(40)
)
WORDS = "red 'a|user anna:2 |page home\ngreen |user carl |page shop:0.5\nblue 1 0.5 'c|user anna |page shop home\n" * 4
VW = "".join(lines_of(60))
COUNTED = "1 |a x:2 y\n-1 |a y:3 |b z\n1 |b z:-1 x\n-1 |a y y:2\n\n1 |c q\n" * 5
MODELS = {
    "plain": (VW, GD),
    "few bits": (VW, (*GD, "-b", "3")),
    "l2": (VW, (*GD, "--normalize", "l2")),
    "log": (VW, (*GD, "--normalize", "log", "-b", "4")),
    "center": (VW, (*GD, "--normalize", "center")),
    "auto": (VW, ("--algorithm", "auto", "--loss", "logistic")),
    "auto of classes": (WORDS, ("--algorithm", "auto", "--oaa", "3", "--classes", "auto")),
    "interactions": (WORDS.replace("red", "1").replace("green", "-1").replace("blue", "1"), (*GD, "-q", "up")),
    "crosses": (COUNTED, (*GD, "-q", "::")),
    "oaa": (WORDS, (*GD, "--oaa", "3", "--classes", "auto", "--loss", "logistic")),
    "softmax": (WORDS, ("--algorithm", "ftrl", "--softmax", "--oaa", "3", "--classes", "red,green,blue", "-q", "up")),
    "table": (TABLE, ("--label", "click")),
    "unseen weights": (COUNTED, ("--algorithm", "eg-pm", "--radius", "3")),
}


@pytest.fixture(autouse=True)
def at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def trained(vwlite, name):
    """The model and the data of a name."""
    text, options = MODELS[name]
    data = "data.csv" if name == "table" else "data.vw"
    Path(data).write_text(text)
    vwlite("train", *options, data, "-m", "m", "--quiet")
    return "m", data


def scores(model, data):
    """The scores of each line, as `vwlite predict` finds them, in double precision."""
    applied = opened(ModelOptions(model=str(model), data=(str(data),)))
    with parsed_batches((str(data),), applied.parse, stop=lambda: False) as batches:
        parsed = [b.batch for b in batches]
    n = sum(batch.kind.tobytes().count(0) for batch in parsed)
    return scores_of(Scorer(applied.learner), parsed, n, False).raw


def lines(result):
    return [json.loads(line) for line in result.out.splitlines()]


def terms(e):
    return [e["base"], e["intercept"], e["others"]["contribution"], *(c["contribution"] for c in e["contributions"])]


def check_sums(found, expected):
    """Contributions add up to the score, which is the predicted one."""
    assert len(found) == len(expected) > 0
    for line, row in zip(found, expected, strict=True):
        for e, score in zip(line.get("classes", [line]), row, strict=False):
            size = sum(abs(c["contribution"]) for c in e["contributions"]) + abs(e["intercept"]) + abs(e["base"])
            assert abs(math.fsum(terms(e)) - e["score"]) <= 1e-12 * size
            assert abs(e["score"] - score) <= 1e-12 * size + 1e-300
            assert all(c["contribution"] == c["weight"] * c["value"] for c in e["contributions"])
            assert e["others"]["features"] == 0 or all(c["contribution"] for c in e["contributions"])


@pytest.mark.parametrize("name", MODELS)
def test_contributions_add_up_to_the_score(vwlite, name):
    model, data = trained(vwlite, name)
    expected = scores(model, data)
    check_sums(lines(vwlite("explain", "-m", model, data, "--json", "--top", 1000)), expected)
    for line, row in zip(lines(vwlite("explain", "-m", model, data, "--json", "--top", 2)), expected, strict=True):
        for e, score in zip(line.get("classes", [line]), row, strict=False):
            assert math.isclose(math.fsum(terms(e)), score, rel_tol=1e-9, abs_tol=1e-9)
            assert len(e["contributions"]) <= 2


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_of_models_of_every_algorithm(vwlite, path):
    data = path.parent / f"{json.loads(path.read_text())['data']}.test.vw"
    found = lines(vwlite("explain", "-m", path.with_suffix(".model"), data, "--json", "--top", 100))
    check_sums(found, scores(path.with_suffix(".model"), data))


def test_names_are_those_of_the_line(vwlite):
    model, data = trained(vwlite, "interactions")
    found = lines(vwlite("explain", "-m", model, data, "--json", "--top", 100))
    values = {c["name"]: c["value"] for c in found[1]["contributions"]}
    assert values == {"user^carl": 1, "page^shop": 0.5, "user^carl*page^shop": 0.5}
    assert {c["name"]: c["value"] for c in found[0]["contributions"]}["user^anna*page^home"] == 2
    for c in found[0]["contributions"]:
        assert vwlite("weights", model, "--feature", c["name"]).out.split("\t")[1] == repr(c["weight"])
    few, data = trained(vwlite, "few bits")
    found = lines(vwlite("explain", "-m", few, data, "--json", "--top", 99))
    for line, text in zip(found, VW.splitlines(), strict=True):
        named = sorted(name for c in line["contributions"] for name in c["name"].split(" + "))
        assert named == sorted(f"a^{word.split(':')[0]}" for word in text.split()[2:] if float(word.split(":")[1]))


def test_text_is_that_of_the_json(vwlite):
    model, data = trained(vwlite, "softmax")
    text = vwlite("explain", "-m", model, data, "--top", 1).out
    found = lines(vwlite("explain", "-m", model, data, "--json"))
    assert max(map(len, text.splitlines())) <= 80
    first = text.split("\n\n")[0].splitlines()
    best = {e["class"]: e for e in found[0]["classes"]}[found[0]["prediction"]]
    assert first[0] == f"data.vw:1 a  class red, score {best['score']:.6g}, predicted red, label red"
    top = best["contributions"][0]
    numbers = [f"{top['contribution']:+.6g}", f"{top['weight']:.6g}", f"{top['value']:.6g}"]
    assert first[1].split() == [numbers[0], "=", numbers[1], "x", numbers[2], top["name"]]
    other = vwlite("explain", "-m", model, data, "--class", "blue").out
    assert f"class blue, score {found[0]['classes'][2]['score']:.6g}, predicted red, label red" in other
    assert len(found[0]["classes"]) == 3


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_worst_are_those_with_the_largest_loss(vwlite, loss):
    text = [line.strip() for line in lines_of(300)]
    text += ["-1 0 'zero|a f1:9", "'none|a f2:100", "1 'same|a f3:9", "1 'same|a f3:9"]
    Path("data.vw").write_text("\n".join(text))
    vwlite("train", *GD, "--loss", loss, "data.vw", "-m", "m", "--quiet", "-l", "0.1")
    label = np.array([math.nan if " 0 '" in line or line[0] == "'" else float(line.split()[0]) for line in text])
    predicted = scores("m", "data.vw")[:, 0].clip(*([-1, 1] if loss == "squared" else [-50, 50]))
    expected = np.log1p(np.exp(-label * predicted)) if loss == "logistic" else (predicted - label) ** 2
    order = np.argsort(-np.nan_to_num(expected, nan=-1), kind="stable")[:10]
    found = lines(vwlite("worst", "-m", "m", "data.vw", "--json"))
    assert [line["line"] for line in found] == (order + 1).tolist()
    np.testing.assert_allclose([line["loss"] for line in found], expected[order], rtol=1e-9)
    for line in found:
        away = -1 if line["label"] > line["prediction"] else 1
        assert f"'{line['tag']}|" in text[line["line"] - 1]
        assert all(c["contribution"] * away > 0 for c in line["contributions"])
        assert math.isclose(math.fsum(terms(line)), line["score"], rel_tol=1e-12)


@pytest.mark.parametrize("kind", ["softmax", "oaa"])
def test_worst_of_classes(vwlite, kind):
    data = DATA / "digits.train.libsvm"
    options = ("--algorithm", "sgd", "--softmax") if kind == "softmax" else (*GD, "--loss", "hinge")
    vwlite("train", *options, "--oaa", 10, data, "-m", "m", "--quiet")
    raw = scores("m", data)
    label = np.array([int(line.split()[0]) - 1 for line in data.read_text().splitlines()])
    rows = np.arange(len(label))
    others = raw.copy()
    others[rows, label] = -np.inf
    margin = others.max(axis=1) - raw[rows, label]
    expected = np.log(np.exp(raw - raw.max(axis=1)[:, None]).sum(axis=1)) + raw.max(axis=1) - raw[rows, label]
    if kind == "oaa":
        expected = (raw.argmax(axis=1) != label) * 1.0
    order = np.lexsort((rows, -margin, -expected))[:20]
    found = lines(vwlite("worst", "-m", "m", data, "--json", "--top", 20))
    assert [line["line"] for line in found] == (order + 1).tolist()
    np.testing.assert_allclose([line["loss"] for line in found], expected[order], rtol=1e-9)
    np.testing.assert_allclose([math.fsum(terms(line["margin"])) for line in found], margin[order], rtol=1e-9)
    assert [line["rival"] for line in found] == [str(k + 1) for k in others.argmax(axis=1)[order]]
    assert all(c["contribution"] > 0 for line in found for c in line["margin"]["contributions"])
    assert max(map(len, vwlite("worst", "-m", "m", data).out.splitlines())) <= 80


def slow_counts(text, interactions=False):
    """Examples that have each feature, and the standard deviations of its values."""
    rows = []
    for line in filter(None, text.splitlines()):
        row, spaces = {}, {}
        for part in line.split("|")[1:]:
            space, *words = part.split()
            for name, _, x in (word.partition(":") for word in words):
                spaces.setdefault(space, []).append((f"{space}^{name}", float(x or 1)))
        for features in spaces.values():
            for name, x in features:
                row[name] = row.get(name, 0) + x
        for one, x in spaces.get("a", []) if interactions else []:
            for other, z in spaces.get("b", []):
                row[f"{one}*{other}"] = row.get(f"{one}*{other}", 0) + x * z
        rows.append(row)
    return {name: (sum(name in r for r in rows), np.std([r.get(name, 0) for r in rows])) for r in rows for name in r}


@pytest.mark.parametrize("more", [(), ("-q", "ab"), ("--oaa", "2", "--labels", "-1,1"), ("--names",)])
def test_weights_beside_data(vwlite, more):
    more = tuple(x for x in more if x not in ("--oaa", "2", "--labels", "-1,1")) or more
    classes = "--oaa" in more
    Path("data.vw").write_text(COUNTED.replace("-1 |", "2 |") if classes else COUNTED)
    more = ("--oaa", "2") if classes else more
    vwlite("train", *GD, *more, "data.vw", "-m", "m", "--quiet")
    found = json.loads(vwlite("weights", "m", "data.vw", "--json", "--top", 100).out)
    expected = slow_counts(COUNTED, "-q" in more)
    assert found["examples"] == 25
    by_name = {(w["names"] or [""])[0]: w for w in found["weights"]}
    assert set(by_name) - {"Constant"} == set(expected)
    assert by_name["Constant"]["examples"] == 25
    for name, (count, spread) in expected.items():
        w = by_name[name]
        assert w["examples"] == count
        assert math.isclose(w["spread"], spread, rel_tol=1e-12)
        assert w["effect"] == w["weight"] * w["spread"]
    effects = [abs(w["effect"]) for w in found["weights"]]
    assert effects == sorted(effects, reverse=True)
    sums = {}
    for w in found["weights"]:
        if w["names"] != ["Constant"]:
            space = "*".join(part.split("^")[0] for part in w["names"][0].split("*"))
            sums[space] = sums.get(space, 0) + abs(w["effect"])
    assert {g["name"] for g in found["groups"]} == set(sums)
    for g in found["groups"]:
        assert math.isclose(g["effect"], sums[g["name"]], rel_tol=1e-12)
        assert math.isclose(g["share"], sums[g["name"]] / sum(sums.values()), rel_tol=1e-12)


def test_weights_of_columns(vwlite):
    model, data = trained(vwlite, "table")
    found = json.loads(vwlite("weights", model, data, "--json", "--all").out)
    assert {"age", "city", "note"} >= {g["name"] for g in found["groups"]} >= {"city"}
    text = vwlite("weights", model, data, "--top", 3).out.splitlines()
    assert text[0] == "40 examples"
    assert max(map(len, text)) <= 80
    (one,) = json.loads(vwlite("weights", model, data, "--json", "--feature", "city^city=Rome").out)["weights"]
    assert one["examples"] == 14


def test_names_cannot_command_a_terminal(vwlite):
    bad = "\x1b[31m<b>&\u202e"
    Path("data.vw").write_text(f"1 '{bad}|a {bad}:2 x\n-1 |a x:3\n" * 4)
    vwlite("train", *GD, "data.vw", "-m", "m", "--quiet")
    for command in (("explain", "-m", "m", "data.vw"), ("worst", "-m", "m", "data.vw"), ("weights", "m", "data.vw")):
        out = vwlite(*command).out
        assert "\x1b" not in out and "\u202e" not in out and "\\x1b[31m<b>&" in out
        assert "\\u001b[31m<b>&" in vwlite(*command, "--json").out
    Path("classes.vw").write_text(f"{bad} |a x\nb |a y\n" * 4)
    vwlite("train", *GD, "--oaa", 2, "--classes", "auto", "classes.vw", "-m", "m", "--quiet")
    for command in (("explain", "-m", "m"), ("worst", "-m", "m"), ("weights", "m")):
        assert "\x1b" not in vwlite(*command, "classes.vw").out


@pytest.mark.parametrize(("arguments", "code", "message"), [
    (("explain",), 2, "Missing option '-m'"),
    (("explain", "-m", "no", "data.vw"), 66, "no: No such file or directory"),
    (("explain", "-m", "data.vw", "data.vw"), 65, "data.vw"),
    (("explain", "-m", "m", "empty"), 65, "there is no example in the data to explain"),
    (("explain", "-m", "m", "data.vw", "--class", "a"), 2, "--class a: m has no such class; it has no classes"),
    (("explain", "-m", "c", "words", "--class", "pink"), 2, "--class pink: c has no such class; it has red, "),
    (("explain", "-m", "m", "bad"), 65, "bad:1:8: feature value 'y' is not a number"),
    (("worst", "-m", "m", "unlabelled"), 65, "no example of the data has a label"),
    (("worst", "-m", "m", "empty"), 65, "no example of the data has a label"),
    (("worst", "-m", "v", "data.vw"), 2, "v does not store its loss: give --loss"),
    (("weights", "m", "empty"), 65, "there is no example in the data"),
    (("weights", "m", "none"), 66, "none: No such file or directory"),
    (("weights", "m", "--format", "vw"), 2, "--format is for DATA"),
    (("weights", "m", "data.vw", "--by-class"), 2, "--by-class: m has no classes"),
])
def test_bad_input(vwlite, arguments, code, message):
    Path("words").write_text(WORDS)
    vwlite("train", *MODELS["oaa"][1], "words", "-m", "c", "--quiet")
    trained(vwlite, "plain")
    vwlite("vw", "data.vw", "-f", "v", "--quiet")
    Path("empty").write_text("\n")
    Path("bad").write_text("1 |a x:y\n")
    Path("unlabelled").write_text("|a x\n")
    result = vwlite(*arguments, code=None)
    assert (result.code, result.out) == (code, ""), result
    assert message in result.err
    assert "Traceback" not in result.err and "nan" not in result.err


def test_models_of_vowpal_wabbit(vwlite):
    Path("data.vw").write_text(VW)
    vwlite("vw", "data.vw", "-f", "v", "--quiet")
    check_sums(lines(vwlite("explain", "-m", "v", "data.vw", "--json", "--top", 99)), scores("v", "data.vw"))
    assert len(lines(vwlite("worst", "-m", "v", "data.vw", "--loss", "squared", "--json", "--top", 7))) == 7
    assert "weight x spread" in vwlite("weights", "v", "data.vw").out


def test_pipes_bad_lines_and_threads(vwlite):
    model, data = trained(vwlite, "plain")
    text = Path(data).read_text()
    Path("some").write_text("1 |a x:y\n" + text)
    result = vwlite("explain", "-m", model, "some", "--json", "--on-error", "skip")
    assert [line["line"] for line in lines(result)] == list(range(2, 62))
    assert "1 bad line skipped" in result.err
    for command in (("explain", "-m", model), ("worst", "-m", model), ("weights", model)):
        file = [*command, data]
        assert vwlite(*file, "--threads", 1).out == vwlite(*file, "--threads", 4).out
        piped = finish(start(*command, *(["-"] if command[0] == "weights" else [])), text.encode())
        assert piped.out.replace("<stdin>", data) == vwlite(*file).out


def test_from_python(vwlite):
    model, data = trained(vwlite, "softmax")
    applied = opened(ModelOptions(model=model, data=(data,), quiet=True))
    worst, weights = Worst(applied, 2, 3), WeightsOfData(applied)
    scoring = Scoring(applied, worst.recorder)
    for found in (worst, weights):
        with parsed_batches((data,), replace(scoring.parse, finder=found.finder)) as batches:
            for parsed in batches:
                if found is worst:
                    scoring.take(parsed)
                    worst.take(parsed)
                else:
                    weights.take(parsed.batch, parsed.names)
    weights.finish()
    assert worst.rows()[0].label in ("red", "green", "blue")
    assert [row.as_dict() for row in worst.rows()] == lines(vwlite("worst", "-m", model, data, "--json", "--top", 2))
    assert {group.name for group in weights.groups()} == {"user", "page", "user*page"}
    (row,) = weights.rows([(read_model(model).keys[0], 0, 1.0, ["x"])])
    assert 0 < row.examples <= weights.examples == 12


def test_a_line_with_too_many_features(vwlite, monkeypatch):
    from vwlite.evaluation import explain

    trained(vwlite, "plain")
    monkeypatch.setattr(explain, "MOST", 3)
    Path("long").write_text("1 |a f1 f2\n1 |a f1 f2 f3 f4\n")
    result = vwlite("explain", "-m", "m", "long", code=65)
    assert "long:2:1: the line has more than 3 features, too many to explain" in result.err


@pytest.mark.parametrize("options", [
    (), ("--derive", "none"), ("--oaa", "2", "--classes", "no,yes"), ("--normalize", "l2", "--derive", "none"),
])
def test_terms_of_columns_are_in_the_units_of_the_data_and_sum_to_the_score(vwlite, tmp_path, options):
    path = written(tmp_path / "d.csv", ["x", "z", "w", "y"], bent_rows(400))
    vwlite("train", path, "--label", "y", *options, "-m", tmp_path / "m")
    text = vwlite("explain", "-m", tmp_path / "m", path, "--top", 100).out
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    for part, (x, z, w, _) in zip(text.strip().split("\n\n"), rows, strict=True):
        found = [re.fullmatch(r" *([-+][\d.e+-]+)  (.*)", line) for line in part.splitlines()]
        terms = [match.groups() for match in found if match]
        score = float(re.search(r"score ([-+\d.e]+)", part)[1])
        assert sum(float(term) for term, _ in terms) == pytest.approx(score, abs=2e-5)
        known = {f"x = {float(x):.7g}" if x else "x is missing", f"z = {float(z) + 0.0:.7g}", f"w = {w}"}
        said = {each for _, words in terms[:-1] for each in words.split(" and ")}
        assert said <= known and terms[-1][1] == "the average row, against which these are"
    opened_model = opened(ExplainOptions(model=str(tmp_path / "m"), data=[str(path)]))
    explaining = Explaining(opened_model, 3, None, by_columns=True)
    with parsed_batches([str(path)], explaining.parse, threads=1) as batches:
        for example in chain.from_iterable(explaining.over(batches)):
            for terms, e in zip(example.terms, example.scores, strict=True):
                whole = sum(abs(x) for x, _ in terms.listed) + abs(terms.base) + abs(terms.others) + 1
                assert abs(terms.score - e.score) <= 1e-6 * whole  # features are 32-bit floats


def by_words(vwlite, model, path, rows):
    """The words of the texts of rows, from the features of the JSON."""
    found = []
    for line, (text, _) in zip(vwlite("explain", "-m", model, path, "--json", "--top", 9999).out.splitlines(), rows,
                               strict=True):
        features = [(c["name"].partition("^")[2], c["contribution"]) for c in json.loads(line)["contributions"]]
        found.append(words_of(text, features))
    return found


@pytest.fixture
def reviews(vwlite, tmp_path):
    """The rows of a table of texts, its path, and a model of it."""
    rows = review_rows(400)
    path = written(tmp_path / "d.csv", ["review", "y"], rows)
    vwlite("train", path, *OF_TEXT, "-m", tmp_path / "m")
    return rows, path, tmp_path / "m"


def test_words_of_a_text_have_what_their_letters_contribute(vwlite, reviews):
    """As the lines of a row, in its text, and on the page as means over rows."""
    rows, path, model = reviews
    texts = by_words(vwlite, model, path, rows)
    shown = vwlite("explain", "-m", model, path, "--top", 1000).out.split("\n\n")
    for said, text in zip(shown[:20], texts, strict=False):
        lines = {word: float(x) for x, word in re.findall(r"^ *([-+\d.e]+)  review: (\w+)$", said, re.M)}
        expected = text.by_word() | ({"signs": text.rest} if text.rest else {})
        assert lines == pytest.approx({word: x for word, x in expected.items() if x}, rel=1e-4, abs=1e-6)
        assert "review: instead of the words of an average row" in said
        marked = " ".join(re.findall(r"^      (?![-+]\d)(\S.*)$", said, re.M))
        assert re.sub(r"\([-+][^)]*\)", "", marked) == " ".join(text.text.split())
        most = max(text.words, key=lambda word: abs(word.contribution))
        assert f"{text.text[most.begin : most.end]}({most.contribution:+.2g})" in marked
    means: dict[str, list[float]] = {}
    for text in texts:
        for word, x in text.by_word().items():
            means.setdefault(word, []).append(x)
    page = vwlite("report", "-m", model, path).out.replace("<wbr>", "")
    bars = re.findall(r'<th scope="row">(\w+)</th><td class="bar">.*?</td><td>([-+][\d.]+)</td><td class="soft">(\d+)<',
                      page)
    moved = sorted(means, key=lambda word: -sum(map(abs, means[word])))
    assert [word for word, _, _ in bars] == moved[:16]
    for word, x, n in bars:
        assert float(x) == pytest.approx(np.mean(means[word]), abs=6e-3) and int(n) == len(means[word])
    assert '<span class="text">' in page and re.search('<mark class="[pn][1-5]">', page)


def test_worst_shows_the_row_and_cuts_nothing_that_has_room(vwlite, tmp_path, monkeypatch):
    path = written(tmp_path / "d.csv", ["x", "z", "w", "y"], [[*row[:2], row[2] + " and" * 25, row[3]]
                                                              for row in bent_rows(400)])
    vwlite("train", path, "--label", "y", "-m", tmp_path / "m")
    line = path.read_text().splitlines()
    monkeypatch.chdir(tmp_path)
    for width, is_cut in ((80, True), (200, False)):
        monkeypatch.setenv("COLUMNS", str(width))
        said = vwlite("worst", "-m", "m", "d.csv", "--top", 1).out.splitlines()
        row = line[int(re.search(r":(\d+)", said[0])[1]) - 1]
        assert [each for each in said if each.startswith("      " + row[:60])] == [
            ("      " + row)[:77] + "..." if is_cut else "      " + row]
        assert (max(map(len, said)) <= 80) == is_cut
    review = written(tmp_path / "r.csv", ["review", "y"], review_rows(600))
    vwlite("train", review, *OF_TEXT, "-m", tmp_path / "r")
    said = vwlite("worst", "-m", tmp_path / "r", review, "--top", 1).out
    assert "against which these are" in said and re.search(r"^      Film\w+", said, re.M)
    assert "source" not in json.loads(vwlite("worst", "-m", tmp_path / "r", review, "--top", 1, "--json").out)


def test_lines_of_fasttext_and_frames_have_texts(vwlite, reviews):
    rows, _, model = reviews
    Path("d.txt").write_text("".join(f"__label__{y} {text}\n" for text, y in rows))
    vwlite("train", "d.txt", "-m", "f")
    said = vwlite("explain", "-m", "f", "d.txt", "--top", 3).out.split("\n\n")[0]
    assert re.search(r"^      Film0ella(\(.*?\))?, ", said, re.M) and "__label__" not in said and "text: " in said
    frame = pd.DataFrame(rows, columns=["review", "y"])
    page = report(load_model(str(model)), frame[["review"]], frame["y"])
    assert '<span class="text">' in page and "<mark class=" in page


def test_features_are_listed_where_the_text_is_not_known(vwlite, tmp_path):
    """Of VW text, in which words are features already: they are the text."""
    path = written(tmp_path / "d.csv", ["review", "y"], review_rows(300))
    vwlite("train", path, *OF_TEXT, "-m", tmp_path / "m")
    text = vwlite("convert", "-m", tmp_path / "m", path).out
    (tmp_path / "d.vw").write_text(text)
    said = vwlite("explain", "-m", tmp_path / "m", tmp_path / "d.vw", "--top", 3).out
    assert "review: " in said and "against which these are" in said


def test_a_level_without_a_name_is_named_by_the_data(vwlite, tmp_path):
    path = written(tmp_path / "d.csv", ["x", "z", "w", "y"], bent_rows(400))
    vwlite("train", path, "--label", "y", "--labels", "no,yes", *GD, "-m", tmp_path / "m")
    text = vwlite("explain", "-m", tmp_path / "m", path, "--top", 100).out
    assert "w = b c" in text and "intercept" in text


def test_a_heading_of_at_most_eighty_columns_is_one_line():
    for length, lines in ((71, 1), (72, 2)):
        text = heading("d.vw", 12, "", ["x" * length])
        assert text.count("\n") == lines and text.split() == ["d.vw:12", "x" * length]
        assert max(map(len, text.splitlines())) <= 80
