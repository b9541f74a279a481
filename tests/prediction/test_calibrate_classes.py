"""`vwlite calibrate` of classes: temperature and vector scaling, chosen by folds."""

import json

import numpy as np
import pytest

from vwlite.model import read_model
from vwlite.prediction.calibrate_classes import FOLDS, ClassMap, chosen_map, log_losses

KINDS = ("red", "dark blue", "green")


def rows(seed, n, header=True):
    """Classes whose odds are linear in two numbers."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2)).round(4)
    odds = np.stack([x[:, 0], x[:, 1], -x.sum(axis=1)]) + rng.gumbel(size=(3, n))
    lines = [f"{KINDS[k]},{a},{b}\n" for k, (a, b) in zip(odds.argmax(axis=0), x, strict=True)]
    return "kind,a,b\n" * header + "".join(lines)


@pytest.fixture
def folder(vwlite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed, n in (("train", 1, 150), ("fresh", 2, 500), ("test", 3, 500)):
        (tmp_path / f"{name}.csv").write_text(rows(seed, n))
    vwlite("train", "train.csv", "--label", "kind", "--oaa", "3", "--classes", "auto", "--algorithm", "gd",
           "--loss", "logistic", "--passes", "30", "--holdout-off", "-l", "8", "-m", "c.model")
    return tmp_path


def evaluated(vwlite, model, data):
    return json.loads(vwlite("evaluate", "-m", model, data, "--json").out)["measures"]


def scores(vwlite, model, data="fresh.csv"):
    vwlite("predict", "-m", model, data, "-p", "p.txt", "-r", "r.txt", "--probabilities")
    raw = [[float(word.rpartition(":")[2]) for word in line.split()] for line in open("r.txt")]
    shares = [[float(word.rpartition(":")[2]) for word in line.split()] for line in open("p.txt")]
    return np.array(raw), np.array(shares)


@pytest.mark.parametrize("method", ["temperature", "vector"])
@pytest.mark.parametrize("train", [(), ("--softmax",), ("auto",)])
def test_mapped_scores_are_those_of_the_new_model(vwlite, folder, method, train):
    if train == ("--softmax",):
        vwlite("train", "train.csv", "--label", "kind", "--oaa", "3", "--classes", "auto", "--softmax", "-m", "c.model")
    elif train:
        vwlite("train", "train.csv", "--label", "kind", "--oaa", "3", "--classes", "auto", "-m", "c.model")
    line = ("calibrate", "-m", "c.model", "fresh.csv", "-o", "new.model", "--method", method, "--json")
    found = json.loads(vwlite(*line).out)
    facts = read_model("new.model").calibration
    (old, shares), (new, new_shares) = scores(vwlite, "c.model"), scores(vwlite, "new.model")
    np.testing.assert_allclose(new, old * facts["scales"] + facts["offsets"], rtol=1e-5, atol=2e-5)
    wanted = np.exp(new) / np.exp(new).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(new_shares, wanted, atol=2e-6)
    for name, model in (("before", "c.model"), ("after", "new.model")):
        loss = evaluated(vwlite, model, "fresh.csv")["log_loss"]["value"]
        assert found[name]["log_loss"] == pytest.approx(loss, rel=2e-5)
    label = np.array([KINDS.index(line.split(",")[0]) for line in open("fresh.csv").readlines()[1:]])
    at = [KINDS.index(name) for name in read_model("c.model").class_names()]
    hits = np.eye(3)[label][:, at]
    assert found["before"]["brier"] == pytest.approx(((shares - hits) ** 2).sum(axis=1).mean(), abs=1e-5)
    assert found["after"]["brier"] == pytest.approx(((new_shares - hits) ** 2).sum(axis=1).mean(), abs=1e-5)


def test_an_overconfident_model_is_better_on_rows_that_nothing_has_seen(vwlite, folder):
    done = vwlite("calibrate", "-m", "c.model", "fresh.csv", "-o", "new.model")
    assert "500 rows, map: " in done.out
    before, after = (evaluated(vwlite, model, "test.csv") for model in ("c.model", "new.model"))
    assert after["log_loss"]["value"] < before["log_loss"]["value"] - 0.02
    assert "method" in vwlite("info", "new.model").out
    assert "base" in vwlite("explain", "-m", "new.model", "test.csv", "--json").out


@pytest.mark.parametrize("method", ["temperature", "vector"])
@pytest.mark.parametrize("has_offsets", [True, False])
@pytest.mark.parametrize("unit", [1e-6, 1, 1e6])
def test_the_map_has_the_least_loss(method, has_offsets, unit):
    rng = np.random.default_rng(4)
    scores, weight = rng.normal(size=(400, 4)) * 3, rng.uniform(0.2, 3, 400)
    label = (scores * [0.2, 0.5, 0.3, 0.1] + [0.4, 0, -0.5, 0.2] + rng.gumbel(size=(400, 4))).argmax(axis=1)
    found = ClassMap(method, scores * unit, label, weight, has_offsets)

    def loss(scales, offsets):
        return (log_losses(scores * unit * scales + offsets, label) * weight).sum() / weight.sum()

    least = loss(found.scales, found.offsets)
    for _ in range(200):
        step = rng.normal(size=4) * 1e-3 / unit
        if method == "temperature":
            step[:] = step[0]
        move = rng.normal(size=4) * 1e-3 if method == "vector" and has_offsets else np.zeros(4)
        assert loss(found.scales + step, found.offsets + move) > least - 1e-12
    assert (has_offsets and method == "vector") or not found.offsets.any()


def test_the_method_is_chosen_by_folds():
    rng = np.random.default_rng(5)
    for n, scale in ((60, [0.5] * 3), (4000, [0.2, 1.0, 0.5])):
        scores = rng.normal(size=(n, 3)) * 2
        label = (scores * scale + rng.gumbel(size=(n, 3))).argmax(axis=1)
        name, _, losses = chosen_map(None, scores, label, np.ones(n), True)
        for method in ("temperature", "vector"):
            each = np.zeros(n)
            for f in range(FOLDS):
                of = np.arange(n) % FOLDS == f
                made = ClassMap(method, scores[~of], label[~of], np.ones((~of).sum()), True)
                each[of] = log_losses(made(scores[of]), label[of])
            assert losses[method] == pytest.approx(each.mean(), rel=1e-12)
        assert name == min(losses, key=losses.get)
    assert name == "vector"


def test_what_cannot_use_it_says_so(vwlite, folder):
    vwlite("calibrate", "-m", "c.model", "fresh.csv", "-o", "new.model")
    for line in (("train", "fresh.csv", "-i", "new.model", "-m", "x.model"),
                 ("merge", "new.model", "c.model", "-m", "x.model")):
        assert "vwlite calibrate" in vwlite(*line, code=None).err
    again = vwlite("calibrate", "-m", "new.model", "fresh.csv", "-o", "x.model", code=2)
    assert "use the model before that" in again.err
    for method in ("platt", "isotonic"):
        done = vwlite("calibrate", "-m", "c.model", "fresh.csv", "-o", "x.model", "--method", method, code=2)
        assert f"--method {method} is not for classes: use temperature or vector" in done.err
    vwlite("train", "train.csv", "--label", "kind", "--oaa", "3", "--classes", "auto", "--loss", "hinge", "--algorithm",
           "gd", "-m", "h.model")
    assert "--loss hinge" in vwlite("calibrate", "-m", "h.model", "fresh.csv", "-o", "x.model", code=2).err
    (folder / "one.csv").write_text("kind,a,b\nred,1,2\nred,3,4\n")
    (folder / "none.csv").write_text("a,b\n1,2\n")
    for name, said in (("one", "every label is the same class"), ("none", "no example has a label")):
        assert said in vwlite("calibrate", "-m", "c.model", f"{name}.csv", "-o", "x.model", code=65).err
    assert not (folder / "x.model").exists()


def test_few_rows_of_a_class_are_said(vwlite, folder):
    (folder / "few.csv").write_text("".join(open("fresh.csv").readlines()[:40]))
    assert "20 or more of each class" in vwlite("calibrate", "-m", "c.model", "few.csv", "-o", "x.model").err


def test_a_class_without_rows_keeps_its_share(vwlite, folder):
    kept = [line for line in rows(5, 600).splitlines(keepends=True) if not line.startswith("green")]
    (folder / "two.csv").write_text("".join(kept))
    found = json.loads(vwlite("calibrate", "-m", "c.model", "two.csv", "-o", "new.model", "--json").out)
    assert found["method"] == "temperature"
    old, new = (scores(vwlite, model)[1][:, 2] for model in ("c.model", "new.model"))
    assert (new[old > 0.5] > 0.1).all()


def test_exports_have_the_map(vwlite, folder):
    vwlite("train", "train.csv", "--label", "kind", "--oaa", "3", "--classes", "auto", "-m", "c.model")
    vwlite("calibrate", "-m", "c.model", "fresh.csv", "-o", "new.model", "--method", "vector")
    vwlite("export", "new.model", "--to", "tsv", "-o", "new.tsv")
    vwlite("import", "new.tsv", "-m", "again.model")
    assert scores(vwlite, "again.model")[1].tolist() == scores(vwlite, "new.model")[1].tolist()
