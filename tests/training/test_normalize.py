"""`--normalize`: learning from raw values is learning from values that were normalized before."""

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest
from crafted_models import put_together, split_into_parts
from running import GD, with_gd
from slow_normalize import normalized

import vwlite.core.data.expand as expand
from vwlite import SparseClassifier, load_model
from vwlite.hashing import feature_hash
from vwlite.model import read_model
from vwlite.model.absent import learned

HOW = ["l2", "log"]
COLUMNS = [3, 8, 20, 21, 400]


def draw(n=60, seed=1):
    """Rows of (label, {column: value}), with lengths from 0.01 to 1000."""
    r = random.Random(seed)
    rows = []
    for _ in range(n):
        scale = 10 ** r.uniform(-2, 3)
        x = {j: float(np.float32(scale * r.gauss(0, 1))) for j in COLUMNS if r.random() < 0.7}
        rows.append((1 if sum(x.values()) > 0 else -1, x))
    return rows


def line(label, features, space=""):
    return f"{label} |{space} {' '.join(f'{j}:{x!r}' for j, x in features)}\n"


@pytest.fixture
def rows():
    return draw()


@pytest.fixture
def at(tmp_path, monkeypatch, rows):
    """The rows as text, and as what they become."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "raw").write_text("".join(line(y, x.items()) for y, x in rows))
    for how in HOW:
        ready = [(y, zip(*normalized(list(x), list(x.values()), how), strict=True)) for y, x in rows]
        (tmp_path / how).write_text("".join(line(y, x) for y, x in ready))
    return tmp_path


def same_weights(one, other):
    """But for the last bits of logarithms."""
    a, b = read_model(one), read_model(other)
    assert list(a.keys) == list(b.keys)
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-4, atol=1e-7)


ALGORITHMS = [
    "",
    "--algorithm adagrad-rda --l1 0.01",
    "--algorithm sgd --average",
    "--algorithm l1-ball --radius 2",
    "--algorithm ftrl --nonzeros 3",
    "--algorithm arow --loss hinge",
    "--passes 3 --holdout-period 4",
]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("options", ALGORITHMS)
def test_learns_what_normalized_values_give(vwlite, at, how, options):
    options = ["--loss", "logistic", *with_gd(options.split())]
    vwlite("train", "raw", "--normalize", how, *options, "-m", "m", "--quiet")
    vwlite("train", how, *options, "-m", "n", "--quiet")
    same_weights("m", "n")
    found, expected = (
        np.array(vwlite("predict", "-m", *words, "--quiet").out.split(), float) for words in (("m", "raw"), ("n", how))
    )
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_none_is_the_default_and_leaves_models_as_they_are(vwlite, at):
    vwlite("train", *GD, "raw", "-m", "m", "--quiet")
    vwlite("train", *GD, "raw", "--normalize", "none", "-m", "n", "--quiet")
    assert Path("m").read_bytes() == Path("n").read_bytes()
    model = read_model("m")
    assert "normalize" not in model.options and model.header()["format"] == 1
    assert "normalize" not in vwlite("info", "m").out


@pytest.mark.parametrize("how", HOW)
def test_text_cache_libsvm_and_matrix_give_the_same_bytes(vwlite, at, rows, how):
    options = ["--loss", "logistic", "--normalize", how, "--passes", "2", "--holdout-off"]
    vwlite("train", "raw", *options, "-m", "text", "--quiet")
    for _ in range(2):  # it writes the cache, then reads it
        vwlite("train", "raw", *options, "--cache", "-m", "cached", "--quiet")
        assert Path("cached").read_bytes() == Path("text").read_bytes()
    Path("svm").write_text("".join(f"{y} {' '.join(f'{j}:{v!r}' for j, v in x.items())}\n" for y, x in rows))
    vwlite("train", "svm", *options, "-m", "libsvm", "--quiet")
    assert Path("libsvm").read_bytes() == Path("text").read_bytes()
    x = np.zeros((len(rows), max(COLUMNS) + 1))
    for i, (_, row) in enumerate(rows):
        x[i, list(row)] = list(row.values())
    made = SparseClassifier(normalize=how, passes=2, holdout_off=True).fit(x, [y for y, _ in rows])
    made.save("matrix")
    assert Path("matrix").read_bytes() == Path("text").read_bytes()
    assert made.normalize_ == how
    ready = np.array([np.zeros(x.shape[1])] * len(rows))
    for i, (_, row) in enumerate(rows):
        keys, values = normalized(list(row), list(row.values()), how)
        ready[i, keys] = values
    with pytest.raises(AttributeError, match="weights_ has all weights"):
        made.coef_  # noqa: B018
    weights = dict(made.weights_)
    weights = np.array([weights.get(j, 0) for j in range(x.shape[1])])
    np.testing.assert_allclose(made.decision_function(x), ready @ weights + made.intercept_[0], atol=1e-5)
    np.testing.assert_allclose(load_model("matrix", link="identity").predict(x), made.decision_function(x), atol=1e-12)


def test_csv_is_its_text(vwlite, at):
    Path("a.csv").write_text("y,size,name,n\n" + "".join(
        f"{i % 2 * 2 - 1},{i * 1.5},{'ab'[i % 3 % 2]},{10**(i % 4)}\n" for i in range(40)))
    Path("a.vw").write_text(vwlite("convert", "a.csv", "--label", "y").out)
    for name, more in (("a.csv", ["--label", "y"]), ("a.vw", [])):
        vwlite("train", *GD, name, *more, "--normalize", "log", "-m", f"{name}.model", "--quiet")
    table, text = learned(read_model("a.csv.model")), read_model("a.vw.model")
    assert list(table.keys) == list(text.keys) and list(table.weights) == list(text.weights)
    shown = [vwlite("predict", "-m", f"{name}.model", name, "--quiet").out for name in ("a.csv", "a.vw")]
    assert shown[0] == shown[1] and len(set(shown[0].split())) > 4


def test_a_word_that_stands_twice_is_added_first(vwlite, at):
    Path("twice").write_text("1 |a x y x\n-1 |a z:2 x:0.5 z:-2\n1 |a |b\n" * 5)
    Path("once").write_text("1 |a x:2 y\n-1 |a x:0.5\n1 |a |b\n" * 5)
    for name in ("twice", "once"):
        vwlite("train", *GD, name, "--normalize", "log", "-m", f"m.{name}", "--quiet")
    assert Path("m.twice").read_bytes() == Path("m.once").read_bytes()
    assert feature_hash(b"z", b"a") not in list(read_model("m.twice").keys)


def test_crosses_come_first(vwlite, at):
    Path("d").write_text("1 |a x:3 |b y:2\n-1 |a x:1 |b z\n" * 4)
    one = 3**-0.5
    first = f"1 |a x:{3 / 7!r} |b y:{2 / 7!r} |c product:{6 / 7!r}\n"
    Path("n").write_text((first + f"-1 |a x:{one!r} |b z:{one!r} |c other:{one!r}\n") * 4)
    for name, more in (("d", ["-q", "ab", "--normalize", "l2"]), ("n", [])):
        vwlite("train", *GD, name, *more, "-m", f"{name}.model", "--quiet", "-p", f"{name}.p")
    np.testing.assert_allclose(np.loadtxt("d.p"), np.loadtxt("n.p"), rtol=1e-4, atol=1e-6)


def test_continuing_keeps_it_and_gives_the_bytes_of_one_run(vwlite, at):
    lines = Path("raw").read_text().splitlines(keepends=True)
    Path("first").write_text("".join(lines[:25]))
    Path("rest").write_text("".join(lines[25:]))
    vwlite("train", *GD, "raw", "--normalize", "log", "-m", "m", "--quiet")
    vwlite("train", *GD, "first", "--normalize", "log", "-m", "n", "--quiet")
    vwlite("train", "rest", "-i", "n", "-m", "n", "--quiet")
    assert Path("m").read_bytes() == Path("n").read_bytes()
    said = vwlite("train", "rest", "-i", "n", "--normalize", "l2", code=2).err
    assert "--normalize l2 contradicts the model n, which was trained with log" in said
    vwlite("train", *GD, "rest", "-m", "plain", "--quiet")
    assert "--normalize l2 contradicts" in vwlite("train", "rest", "-i", "plain", "--normalize", "l2", code=2).err


@pytest.mark.parametrize("more", ["--oaa 3", "--oaa 3 --softmax --algorithm sgd", "--classes auto --oaa 4"])
def test_classes(vwlite, at, more):
    r = random.Random(2)
    ready = {"raw": [], "l2": []}
    for _ in range(50):
        x = {j: r.choice([1.0, 2.0, 50.0]) for j in COLUMNS if r.random() < 0.6}
        y = 1 + (3 in x) + (8 in x)
        ready["raw"].append(line(y, x.items()))
        ready["l2"].append(line(y, zip(*normalized(list(x), list(x.values()), "l2"), strict=True)))
    for name, text in ready.items():
        Path(name).write_text("".join(text))
        how = ["--normalize", "l2"] if name == "raw" else []
        vwlite("train", name, "--loss", "logistic", *with_gd(more.split()), *how, "-m", f"m.{name}", "--quiet")
    same_weights("m.raw", "m.l2")


def test_names_are_those_of_the_features(vwlite, at):
    Path("d").write_text("1 |a x:3 |b y:2\n-1 |a x:1 |b z\n" * 4)
    for how in ("none", "l2"):
        vwlite("train", *GD, "d", "-q", "ab", "--normalize", how, "--names", "-m", how, "--quiet")
    one, other = read_model("none"), read_model("l2")
    assert list(one.names) == list(other.names) != []
    assert (one.header()["format"], other.header()["format"]) == (2, 3)
    vwlite("train", *GD, "d", "-q", "ab", "--normalize", "l2", "-m", "m", "--quiet")
    vwlite("names", "m", "d", "-o", "named")
    assert list(read_model("named").names) == list(other.names)
    assert "a^x*b^y" in vwlite("weights", "named").out


# --- the model file ------------------------------------------------------------------------------


def test_has_a_format_of_its_own(vwlite, at):
    vwlite("train", *GD, "raw", "--normalize", "l2", "-m", "m", "--quiet")
    facts = json.loads(vwlite("info", "m", "--json").out)
    assert (facts["format"], facts["options"]["normalize"]) == (3, "l2")
    assert "\n  normalize                l2\n" in vwlite("info", "m").out
    assert "a model, whole" in vwlite("check", "m").out
    parts = split_into_parts(Path("m").read_bytes())
    for wrong in (1, 2):
        parts.header["format"] = wrong
        Path("old").write_bytes(put_together(parts))
        assert "not a valid model: its format is " in vwlite("predict", "-m", "old", "raw", code=65).err
    parts.header["format"] = 3
    parts.header["options"]["normalize"] = "center"
    Path("center").write_bytes(put_together(parts))
    assert "--normalize center" in vwlite("predict", "-m", "center", "raw", code=65).err
    parts.header["options"]["normalize"] = "l3"
    Path("newer").write_bytes(put_together(parts))
    assert "newer: needs vwlite" in vwlite("predict", "-m", "newer", "raw", code=65).err


@pytest.mark.parametrize("more", [[], ["--names"], ["--save-weights-only"]])
def test_comes_back_from_a_table(vwlite, at, more):
    vwlite("train", *GD, "raw", "--normalize", "log", *more, "-m", "m", "--quiet")
    for kind in ("tsv", "json"):
        vwlite("export", "m", "--to", kind, "-o", "table")
        vwlite("import", "table", "-m", "again")
        assert read_model("again").settings.normalize == "log"
        shown = [vwlite("predict", "-m", name, "raw", "--quiet").out for name in ("again", "m")]
        assert shown[0] == shown[1]


@pytest.mark.parametrize(
    ("kind", "said"),
    [("vw", "values of --normalize l2 are not supported by Vowpal Wabbit"), ("sql", "would need square roots")],
)
def test_formats_without_it_refuse_the_model(vwlite, at, kind, said):
    vwlite("train", *GD, "raw", "--normalize", "l2", "-m", "m", "--quiet")
    assert said in vwlite("export", "m", "--to", kind, "-o", "out", code=65).err
    assert not Path("out").exists()


def test_shards_of_another_normalization_are_refused_by_name(vwlite, at):
    for name, how in (("a", "l2"), ("b", "log"), ("c", "none")):
        vwlite("train", *GD, "raw", "--loss", "logistic", "--normalize", how, "-m", name, "--quiet")
    for other in ("b", "c"):
        said = vwlite("merge", "a", other, "-o", "m", code=65).err
        assert f"{other}: trained with --normalize {'log' if other == 'b' else 'none'}, but a with l2" in said
    vwlite("train", *GD, "log", "--loss", "logistic", "--normalize", "l2", "-m", "d", "--quiet")
    vwlite("merge", "a", "d", "--holdout", "raw", "-o", "m", "--quiet")
    assert read_model("m").settings.normalize == "l2"


# --- batch problems ------------------------------------------------------------------------------


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("more", ["--l1 0.01", "--l2 0.1 --l1 0", "--radius 3"])
def test_the_rows_of_a_problem_are_normalized(vwlite, at, how, more):
    options = [*more.split(), "--quiet"]
    vwlite("solve", "raw", "--normalize", how, *options, "-m", "m")
    vwlite("solve", how, *options, "-m", "n")
    a, b = (read_model(name).solved for name in "mn")
    assert a["objective"] == pytest.approx(b["objective"], rel=1e-5)
    np.testing.assert_allclose(read_model("m").weights, read_model("n").weights, rtol=1e-2, atol=1e-3)
    certified = vwlite("certify", "-m", "m", "raw", *more.split()).out
    assert float(re.search(r"^objective = (.*)$", certified, re.M)[1]) == pytest.approx(a["objective"], rel=1e-8)
    predicted = vwlite("predict", "-m", "m", "raw", "--quiet").out.split()
    expected = vwlite("predict", "-m", "n", how, "--quiet").out.split()
    np.testing.assert_allclose(np.array(predicted, float), np.array(expected, float), rtol=1e-2, atol=1e-2)


def test_a_problem_continues_with_the_normalization_of_its_start(vwlite, at):
    vwlite("solve", "raw", "--normalize", "l2", "--l1", "0.05", "-m", "m", "--quiet")
    vwlite("solve", "raw", "-i", "m", "--l1", "0.01", "-m", "n", "--quiet")
    assert read_model("n").settings.normalize == "l2"
    assert "--normalize log contradicts" in vwlite("solve", "raw", "-i", "m", "--normalize", "log", code=2).err
    vwlite("train", "raw", "-i", "m", "--algorithm", "sgd", "-m", "o", "--quiet")
    assert read_model("o").settings.normalize == "l2"
    vwlite("solve", "raw", "--normalize", "none", "--l1", "0.05", "-m", "p", "--quiet")
    assert "--normalize differs" in vwlite("certify", "-m", "m", "raw", "--against", "p", code=2).err


def test_shards_of_a_problem_have_the_optimum_of_the_whole(vwlite, at):
    lines = Path("raw").read_text().splitlines(keepends=True)
    for i in range(3):
        Path(f"part{i}").write_text("".join(lines[i::3]))
    options = ["--normalize", "log", "--l1", "0.01", "--tolerance", "1e-7"]
    vwlite("solve", "raw", *options, "-m", "m", "--quiet")
    vwlite("solve", "part0", "part1", "part2", "--shards", "2", *options, "-m", "n", "--quiet")
    whole, parts = (read_model(name).solved["objective"] for name in "mn")
    assert parts == pytest.approx(whole, rel=1e-6)
    assert read_model("n").settings.normalize == "log"


# --- what does not work --------------------------------------------------------------------------


def test_an_unknown_one_names_those_that_there_are(vwlite, at):
    said = vwlite("train", "raw", "--normalize", "l3", code=2).err
    assert "'l3' is not one of 'none', 'l2', 'log', 'center'" in said
    with pytest.raises(ValueError, match="normalize: 'l3' is not one of"):
        SparseClassifier(normalize="l3").fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("command", ["train", "predict", "solve", "certify"])
def test_an_example_that_cannot_be_held_is_an_error(vwlite, at, monkeypatch, command):
    Path("d").write_text("1 |a x\n-1 |a x |b y\n1 |a " + " ".join(f"f{i}" for i in range(200)) + "\n")
    vwlite("solve", "d", "--normalize", "l2", "--l1", "0.1", "-m", "m", "--quiet")
    monkeypatch.setattr(expand, "most_normalized", 100)
    normalizing = {"train": [*GD, "--normalize", "l2"], "solve": ["--normalize", "l2", "--l1", "0.1"]}
    done = vwlite(command, "d", *normalizing.get(command, ["-m", "m"]), "--quiet", code=65)
    if command in ("train", "predict"):
        assert "d:3:1: the example has too many features with its interactions to normalize them" in done.err
    else:
        assert "the data cannot be held: an example has more than 100 features, too many to normalize them" in done.err


def test_sums_of_repeated_values_that_are_infinite_are_refused_by_batch_problems(vwlite, at):
    Path("d").write_text("1 |a x:3e38 x:3e38 y\n-1 |a y\n")
    said = vwlite("solve", "d", "--normalize", "l2", "--l1", "0.1", code=65).err
    assert "the values of a feature that is repeated in a line sum to infinity" in said
    assert "not finite" in vwlite("train", *GD, "d", "--normalize", "l2", code=65).err
