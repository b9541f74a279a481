"""`--normalize center`: what is learned from values minus their means, as a model for values as they are."""

import json

import numpy as np
import pytest
from algorithm_options import OPTIONS, usual_loss, words
from running import finish, start
from sklearn.datasets import dump_svmlight_file
from slow_normalize import centered
from test_battery import FORMS, OF_VW, PAIRS

from vwlite import SparseClassifier
from vwlite.algorithms.losses import LOSSES
from vwlite.algorithms.rules import rule_class
from vwlite.algorithms.table import ALGORITHMS
from vwlite.model import read_model
from vwlite.model.learners import restore

COLUMNS = [3, 8, 20, 21, 400]
EQUAL, RARE = 50, 60  # columns with one value, and of a tenth of the rows


def draw(loss="logistic", n=80, classes=0):
    """Rows of (label, {column: value}); most columns have an offset."""
    r = np.random.default_rng(3)
    rows = []
    for _ in range(n):
        x = {j: float(np.float32(r.normal(at, 1))) for at, j in enumerate(COLUMNS) if r.random() < 0.8}
        x[EQUAL] = 2.5
        if r.random() < 0.1:
            x[RARE] = 1.0
        score = (sum(x.values()) - 12) / 4
        labels = {"binary": 1 if score > 0 else -1, "nonnegative": r.poisson(np.exp(min(score, 2))), "any": score,
                  "positive": r.gamma(2, np.exp(min(score, 2)))}
        rows.append((r.integers(classes) + 1 if classes else labels[LOSSES[loss].labels], x))
    return rows


def means_of(rows):
    """Key, mean and whether all values are equal, of the columns that half of the rows have."""
    n, found = len(rows), []
    for j in sorted({j for _, x in rows for j in x}):
        values = [x[j] for _, x in rows if j in x]
        if 2 * len(values) >= n:
            found.append((j, sum(values) / n, len(set(values)) == 1 and len(values) == n))
    return found


def line(label, features):
    return f"{label} | {' '.join(f'{j}:{x!r}' for j, x in features)}\n"


def write(folder, rows):
    dense = means_of(rows)
    columns = {key: (mean, equal) for key, mean, equal in dense}
    ready = [(y, zip(*centered(sorted(x), [x[j] for j in sorted(x)], columns), strict=True)) for y, x in rows]
    (folder / "raw").write_text("".join(line(y, sorted(x.items())) for y, x in rows))
    (folder / "centered").write_text("".join(line(y, x) for y, x in ready))
    return dense


def check(vwlite, folder, loss, options, passes=("--passes", "3")):
    """Columns have the weights that centered text gives them; the intercept has what is left."""
    dense = write(folder, draw(loss, classes=options.get("oaa", 0)))
    how = [*(() if options.get("softmax") else ("--loss", loss)), *words(options), *passes, "--quiet"]
    vwlite("train", folder / "raw", *how, "--normalize", "center", "-m", folder / "m", "-p", folder / "p")
    vwlite("train", folder / "centered", *how, "-m", folder / "n", "-p", folder / "q")
    assert (folder / "p").read_bytes() == (folder / "q").read_bytes()
    one, other = read_model(folder / "m"), read_model(folder / "n")
    assert one.settings.normalize == "none" and one.header()["format"] == 1
    k, constant = one.records, restore(one, one.settings, "", learn=False).expander.constant_key
    unseen = np.broadcast_to(np.array(other.rule.get("unseen", 0.0)), (k,))
    mine, its = (dict(zip(m.keys, np.reshape(m.weights, (-1, k)), strict=True)) for m in (one, other))
    assert mine.keys() - {constant, EQUAL} == its.keys() - {constant}
    assert (EQUAL in mine) == (not unseen.any()) and not np.any(mine.pop(EQUAL, 0))  # seen, with the weight 0
    assert all((mine[key] == its[key]).all() for key in mine if key != constant)
    moved = sum(its.get(key, unseen) * mean for key, mean, _ in dense)
    np.testing.assert_allclose(mine[constant], its.get(constant, np.zeros(k)) - moved, rtol=1e-9, atol=1e-9)
    for data, model in (("raw", "m"), ("centered", "n")):
        vwlite("predict", folder / data, "-m", folder / model, "-r", folder / f"{model}.raw", "--quiet")
    if "--probabilities" not in how and k == 1:
        a, b = (np.array([float(word) for word in (folder / f"{name}.raw").read_text().split()]) for name in "mn")
        # An absent feature of the rules whose unseen features have weights is not one with the value 0 - mean.
        assert one.rule.get("unseen", 0) or a == pytest.approx(b, rel=1e-4, abs=1e-4)
    if not one.weights_only:
        rule = restore(one, one.settings, "", learn=True).rule
        slots, stored = rule.slots(), np.reshape(one.weights, (-1, k))
        kept = np.isin(one.keys, [EQUAL], invert=True)  # a slot as new ones are is none
        again = np.zeros(kept.sum() * k)
        assert len(slots) == len(again) * rule.slot_size()
        rule.weights(slots, again)
        assert again == pytest.approx(stored[kept].ravel(), rel=1e-6, abs=1e-6)
    return one


# Each algorithm with its usual loss, and a third of all pairs, in which each loss is.
@pytest.mark.parametrize(
    ("algorithm", "loss"),
    [
        pytest.param(name, loss, marks=() if i % 3 == 0 or loss == usual_loss(name) else pytest.mark.long)
        for i, (name, loss) in enumerate(PAIRS)
    ],
)
def test_every_algorithm_with_every_loss(vwlite, tmp_path, algorithm, loss):
    options = {"algorithm": algorithm} | OPTIONS[algorithm]
    if ALGORITHMS[algorithm].rate == "learning_rate":
        options |= {"learning_rate": 0.05}
    model = check(vwlite, tmp_path, loss, options)
    assert model.weights_only == ("w" not in dict(rule_class(ALGORITHMS[algorithm].rule).SLOT))


@pytest.mark.parametrize("form", [form for form in FORMS if form not in OF_VW and "normalize" not in FORMS[form][1]])
def test_every_form(vwlite, tmp_path, form):
    algorithm, settings = FORMS[form]
    options = {"algorithm": algorithm} | OPTIONS[algorithm] | settings
    if options.get("nonzeros"):
        options = {name: value for name, value in options.items() if name not in ("l1", "radius")} | {"nonzeros": 3}
    check(vwlite, tmp_path, usual_loss(algorithm), options)


# --- where the data come from -------------------------------------------------------------------


def test_the_same_bytes_from_a_pipe_and_from_a_cache(vwlite, tmp_path):
    write(tmp_path, draw())
    how = ("--loss", "logistic", "--normalize", "center", "-m")
    vwlite("train", tmp_path / "raw", *how, tmp_path / "m", "-p", tmp_path / "p")
    finish(start("train", *how, tmp_path / "n", "-p", tmp_path / "q"), (tmp_path / "raw").read_bytes())
    for _ in range(2):
        vwlite("train", tmp_path / "raw", *how, tmp_path / "o", "--cache-file", tmp_path / "c", "--threads", "1")
        assert (tmp_path / "o").read_bytes() == (tmp_path / "m").read_bytes()
    assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes()
    assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()


@pytest.mark.parametrize("options", [{}, {"passes": 3}, {"algorithm": "ftrl"}, {"quadratic": ["  "]}])
def test_a_matrix_gives_the_model_of_its_text(vwlite, tmp_path, options):
    rng = np.random.default_rng(0)
    x = rng.normal(3, 1, (60, 5)).round(3)
    y = np.where(x.sum(axis=1) > 15, 1, -1)
    dump_svmlight_file(x, y, str(tmp_path / "data"))
    typed = [str(word) for name, v in options.items() for word in ("--" + name, v[0] if isinstance(v, list) else v)]
    vwlite("train", tmp_path / "data", "--loss", "logistic", "--normalize", "center", *typed, "-m", tmp_path / "m")
    made = SparseClassifier(normalize="center", **options).fit(x, y)
    made.save(tmp_path / "n")
    assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes() and made.normalize_ == "none"
    if not options:
        assert made.decision_function(x) == pytest.approx(x @ made.coef_[0] + made.intercept_[0], abs=1e-5)
        vwlite("train", tmp_path / "data", "-i", tmp_path / "m", "-m", tmp_path / "m")
        made.partial_fit(x, y).save(tmp_path / "n")
        assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes()
    with pytest.raises(ValueError, match="needs the means of all rows first"):
        SparseClassifier(normalize="center", **options).partial_fit(x, y, classes=[-1, 1])


def test_a_table_with_names(vwlite, tmp_path):
    rows = [f"{(-1, 1)[i % 3 == 0]},{1000 + i % 7},{(i % 3) * 2 + 50},{'ab'[i % 2]}\n" for i in range(200)]
    (tmp_path / "t.csv").write_text("y,size,price,kind\n" + "".join(rows))
    vwlite("train", tmp_path / "t.csv", "--label", "y", "--loss", "logistic", "--normalize", "center", "--names",
           "--passes", "3", "-m", tmp_path / "m")
    shown = vwlite("weights", tmp_path / "m").out
    assert all(name in shown for name in ("size", "price", "kind=a"))
    report = tmp_path / "r"
    vwlite("predict", tmp_path / "t.csv", "-m", tmp_path / "m", "-p", tmp_path / "p", "--report", report)
    assert json.loads(report.read_text())["results"]["accuracy"] > 0.95


@pytest.mark.parametrize("algorithm", ["gd", "ftrl"])
def test_an_offset_of_a_column_changes_nothing(vwlite, tmp_path, algorithm):
    """Here of powers of two, so that values and means have no other rounding: predictions are the same."""
    rng = np.random.default_rng(0)
    values, labels = rng.integers(-8, 8, 64) / 8, rng.choice([-1, 1], 64)
    values[-1] -= values.sum()
    for name, offset in (("a", 0.0), ("b", 65536.0)):
        lines = [f"{y} |x v:{v + offset!r} w:{offset - v!r}\n" for y, v in zip(labels, values.tolist(), strict=True)]
        (tmp_path / name).write_text("".join(lines))
        vwlite("train", tmp_path / name, "--algorithm", algorithm, "--loss", "logistic", "--normalize", "center", "-m",
               tmp_path / f"{name}.m", "-p", tmp_path / f"{name}.p")
        vwlite("predict", tmp_path / name, "-m", tmp_path / f"{name}.m", "-r", tmp_path / f"{name}.r")
    assert (tmp_path / "a.p").read_bytes() == (tmp_path / "b.p").read_bytes()
    a, b = (np.loadtxt(tmp_path / f"{name}.r") for name in "ab")
    assert a == pytest.approx(b, abs=1e-5)


# --- the model ----------------------------------------------------------------------------------


def test_what_continues(vwlite, tmp_path):
    write(tmp_path, draw())
    for algorithm, options in (("gd", []), ("ftrl", []), ("sgd", ["--average"])):
        how = ("--algorithm", algorithm, *options, "--loss", "logistic", "--normalize", "center")
        vwlite("train", tmp_path / "raw", *how, "-m", tmp_path / "m")
        if algorithm == "gd":
            vwlite("train", tmp_path / "raw", "-i", tmp_path / "m", "-m", tmp_path / "n")
        else:
            said = vwlite("train", tmp_path / "raw", "-i", tmp_path / "m", "-m", tmp_path / "n", code=65).err
            assert f"learned by {algorithm} with --normalize center, which then has no state" in said
        said = vwlite("train", tmp_path / "raw", "-i", tmp_path / "m", "--normalize", "center", code=2).err
        assert "--normalize center contradicts the model" in said
        assert '"center"' in vwlite("info", tmp_path / "m", "--json").out


def test_a_checkpoint_and_the_rest_of_it(vwlite, tmp_path, monkeypatch, committed):
    """A checkpoint is a model of the examples so far, for values as they are."""
    write(tmp_path, draw())
    how = ("--algorithm", "gd", "--loss", "logistic", "--normalize", "center", "--checkpoint-every", "30")
    vwlite("train", tmp_path / "raw", *how, "-m", tmp_path / "m")
    monkeypatch.undo()
    assert len(committed) == 3
    for path in committed:
        assert read_model(str(path)).settings.normalize == "none"
        vwlite("predict", tmp_path / "raw", "-m", path, "-p", "/dev/null")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--no-constant"], 2, "--normalize center and --no-constant cannot be used together"),
        (["--holdout-to", "h"], 2, "--holdout-to and --normalize center cannot be used together"),
        (["--keep", "z"], 65, "--normalize center is for features that half of the examples have"),
    ],
)
def test_what_is_refused(vwlite, tmp_path, monkeypatch, options, code, said):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, draw())
    assert said in vwlite("train", "raw", "--normalize", "center", *options, "-m", "m", code=code).err
    assert not (tmp_path / "m").exists()


def test_more_columns_than_can_be_centered(vwlite, tmp_path):
    lines = [f"{y} | {' '.join(f'{j}:{j + y}' for j in range(301))}\n" for y in (1, -1, 1)]
    (tmp_path / "wide").write_text("".join(lines))
    said = vwlite("train", tmp_path / "wide", "--normalize", "center", "-m", tmp_path / "m", code=65).err
    assert "for at most 300 of them" in said


def test_nothing_to_learn(vwlite, tmp_path):
    (tmp_path / "d").write_text("| 1:2\n\n")
    how = ("train", tmp_path / "d", "--algorithm", "gd", "--normalize", "center", "-m", tmp_path / "m")
    assert "no example was learned" in vwlite(*how, code=65).err
    vwlite(*how, "--allow-empty")
    assert len(read_model(str(tmp_path / "m")).keys) == 0


# --- solve and certify ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        ["--l1", "0.01"], ["--loss", "squared", "--l1", "0.1"], ["--l2", "0.01"],
        ["--loss", "squared-hinge", "--radius", "0.5"], ["--nonzeros", "2"], ["--loss", "poisson", "--l1", "0.05"],
        ["--oaa", "3", "--l1", "0.02"],
        ["--oaa", "3", "--softmax", "--radius", "1"], ["--l1-of-max", "0.1", "--solver", "cd"],
    ],
)
def test_the_optimum_is_that_of_values_as_they_are(vwlite, tmp_path, options):
    """As there is no penalty of the intercept; and `certify` confirms it without the option, from the model alone."""
    loss = options[1] if options[0] == "--loss" else "logistic"
    write(tmp_path, draw("logistic" if "hinge" in loss else loss, classes=3 if "--oaa" in options else 0))
    how = (tmp_path / "raw", *options, "--quiet")
    facts = []
    for name, more in (("m", ["--normalize", "center", "--tolerance", "1e-6"]), ("n", ["--tolerance", "1e-6"])):
        vwlite("solve", *how, *more, "-m", tmp_path / name, "--report", tmp_path / "r")
        facts.append(json.loads((tmp_path / "r").read_text())["results"])
    assert read_model(str(tmp_path / "m")).settings.normalize == "none"
    if "--nonzeros" not in options:
        assert facts[0]["objective"] == pytest.approx(facts[1]["objective"], rel=1e-5)
    vwlite("certify", tmp_path / "raw", "-m", tmp_path / "m", "--against", tmp_path / "m", "--report", tmp_path / "r")
    certified = json.loads((tmp_path / "r").read_text())["results"]
    assert certified["objective"] == pytest.approx(facts[0]["objective"], rel=1e-6)
    assert certified["relative_gap"] < 1e-4
    finish(start("solve", *options, "--normalize", "center", "--tolerance", "1e-6", "-m", tmp_path / "p", "--quiet"),
           (tmp_path / "raw").read_bytes())
    assert (tmp_path / "p").read_bytes() == (tmp_path / "m").read_bytes()


def test_an_offset_is_no_trouble_for_solve(vwlite, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(0, 1, (200, 3))
    y = np.where(x.sum(axis=1) + rng.normal(0, 1, 200) > 0, 1, -1)
    passes = []
    for name, offset in (("near", 0.0), ("far", 1000.0)):
        rows = (x + offset).round(3).tolist()
        (tmp_path / name).write_text("".join(line(a, enumerate(b)) for a, b in zip(y, rows, strict=True)))
        vwlite("solve", tmp_path / name, "--l1", "0.001", "--solver", "cd", "--normalize", "center", "--report",
               tmp_path / "r", "--max-passes", "500")
        passes.append(json.loads((tmp_path / "r").read_text())["results"]["passes"])
    assert passes[1] < 2 * passes[0] + 5


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--loss", "hinge", "--l2", "0.1"], 2, "penalty of the intercept"),
        (["--l1", "0.1", "--shards", "1"], 2, "a problem with --normalize center cannot be solved in rounds"),
        (["--l1", "0.1", "--no-constant"], 2, "--normalize center and --no-constant"),
        (["--l1", "0.1", "--keep", "z"], 65, "half of the examples have"),
    ],
)
def test_what_solve_refuses(vwlite, tmp_path, options, code, said):
    write(tmp_path, draw())
    assert said in vwlite("solve", tmp_path / "raw", *options, "--normalize", "center", code=code).err


@pytest.mark.parametrize(("options", "said"), [
    ([], "--normalize center needs the means of all data"),
    (["--exact", "--loss", "logistic", "--l1", "0.1"], "a problem with --normalize center cannot be solved in rounds"),
])
def test_what_dask_refuses(vwlite, tmp_path, options, said):
    pytest.importorskip("dask")
    write(tmp_path, draw())
    how = ("--normalize", "center", "--scheduler", "tcp://127.0.0.1:1", "-m", tmp_path / "m")
    assert said in vwlite("dask", "train", tmp_path / "raw", *how, *options, code=2).err
