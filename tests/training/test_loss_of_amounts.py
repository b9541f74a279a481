"""The default for amounts: which labels they are, which loss is chosen, and that the model is that of the loss."""

import json

import numpy as np
import pytest

from vwlite import load_model
from vwlite.core.auto.summary import DataSummary
from vwlite.core.data.expand import Expander
from vwlite.core.data.normalize import Normalizer
from vwlite.model import read_model
from vwlite.training.auto import amounts
from vwlite.training.auto.amounts import LEAST_SKEWNESS, Compared, are_amounts, best_of, compared

TYPED = {"squared": ("--loss", "squared"), "poisson": ("--loss", "poisson"), "gamma": ("--loss", "gamma"),
         "log1p": ("--label-transform", "log1p")}
PLAIN = ("--derive", "none", "--normalize", "none")


def drawn(n=400, seed=2, zeros=False):
    """Prices: products of the effect of a model and a size, and noise in proportion to them."""
    rng = np.random.default_rng(seed)
    model, size = rng.integers(0, 6, n), np.exp(0.3 * rng.normal(size=n)).round(4)
    mean = 50 * np.exp(0.5 * np.array([-2, -1, 0, 1, 2, 3]))[model] * size
    y = (mean * np.exp(0.2 * rng.normal(size=n))).round(3)
    if zeros:
        y[rng.random(n) < 0.1] = 0
    return model, size, y


def table(path, model, size, y):
    rows = "".join(f"m{a},{b:.6g},{c:.6g}\n" for a, b, c in zip(model, size, y, strict=True))
    path.write_text("model,size,y\n" + rows)
    return path


def fresh(path, seed=7):
    return table(path, *drawn(300, seed))


def same(a, b):
    """Whether two models are the same but for what their headers say of the choice."""
    a, b = read_model(str(a)), read_model(str(b))
    parts = ("keys", "weights", "state", "range", "counters", "rule", "settings", "calibration", "passes")
    return all(getattr(a, name) == getattr(b, name) for name in parts)


def losses_of(path):
    return json.loads(path.read_text())["chosen"].get("losses", {})


# --- the definition of amounts ------------------------------------------------------------------


def summary_of(y, h=None):
    found = DataSummary(Expander(normalizer=Normalizer()))
    found.take_labels(*(np.ascontiguousarray(x, float) for x in (y, np.ones(len(y)) if h is None else h, 0 * y)))
    return found


def skewness(y, h):
    mean = np.average(y, weights=h)
    return np.average((y - mean) ** 3, weights=h) / np.average((y - mean) ** 2, weights=h) ** 1.5


def test_the_definition_of_amounts():
    rng, counted = np.random.default_rng(3), set()
    for k in range(200):
        y = rng.gamma(rng.uniform(0.5, 40), size=rng.integers(10, 60)) * 10.0 ** rng.integers(-9, 9)
        y -= (k % 5 == 0) * rng.uniform(0, 2) * y.min()
        h = rng.integers(1, 4, len(y)).astype(float)
        summary = summary_of(y, h)
        assert summary.skewness() == pytest.approx(skewness(y, h), rel=1e-9, abs=1e-12)
        assert summary.least_label() == y.min()
        expected = y.min() >= 0 and skewness(y, h) >= LEAST_SKEWNESS
        assert are_amounts(summary) == expected
        counted.add(expected)
    assert counted == {True, False}


@pytest.mark.parametrize("y", [
    [], [3.0] * 9, [0, 0, 0, 1] * 9, [1e300, 1e-300, 1e300], [-1e-9, 5, 5, 90], [1, 2, 3] * 9,
])  # fmt: skip
def test_labels_that_are_no_amounts(y):
    assert not are_amounts(summary_of(np.array(y, float)))


def test_very_large_amounts():
    assert are_amounts(summary_of(np.array([1e307, 1e300, 1e301, 2e302, 5e300])))
    assert are_amounts(summary_of(np.array([5e-324, 1e-310, 1e-320, 1e-320, 2e-320])))


# --- the comparison -----------------------------------------------------------------------------


def comparison(errors, h, copies):
    """By the definition: means of weighted differences; rows that are copies are one for their standard error."""
    found = {}
    for name, own in errors.items():
        d = own - errors["squared"]
        mean = np.average(d, weights=h)
        sums = np.zeros(len(d))
        np.add.at(sums, copies, h * (d - mean))
        found[name] = np.average(own, weights=h), mean, np.sqrt((sums**2).sum()) / h.sum()
    return found


def choice(found):
    name = min(found, key=lambda x: found[x][0])
    return name if found[name][1] < -found[name][2] else "squared"


def test_the_choice_by_the_standard_error_of_the_difference():
    rng, counted = np.random.default_rng(5), set()
    for _ in range(200):
        n = 60
        base, h = rng.gamma(1, size=n), rng.integers(1, 4, n).astype(float)
        copies = np.arange(n) // 3 * 3 if rng.random() < 0.5 else np.arange(n)
        errors = {"squared": base}
        for name in ("log1p", "poisson", "gamma"):
            errors[name] = base * np.exp(rng.normal(-0.05, 0.5, n))
        expected = comparison(errors, h, copies)
        found = compared(errors, h, copies.astype(np.uint32))
        for name, (mse, difference, error) in expected.items():
            assert found[name].mse == pytest.approx(mse)
            assert found[name].difference == pytest.approx(difference, abs=1e-12)
            if name != "squared":
                assert found[name].error == pytest.approx(error, rel=0.02)
        assert best_of(found) == choice(expected)
        counted.add(choice(expected))
    assert len(counted) == 4


def test_the_check_is_of_the_predictions_out_of_fold(vwlite, tmp_path):
    """Those of the model, and those of the squared loss with the same features, as both are written."""
    data = table(tmp_path / "d.csv", *drawn())
    how = ("train", data, "--label", "y", *PLAIN)
    vwlite(*how, "-m", tmp_path / "m", "-p", tmp_path / "own", "--report", tmp_path / "r")
    vwlite(*how, *TYPED["squared"], "-m", tmp_path / "s", "-p", tmp_path / "squared")
    y, chosen = drawn()[2], json.loads((tmp_path / "r").read_text())["chosen"]
    (name, own), (_, squared) = sorted(chosen["losses_with_features_of_model"].items(), key=lambda x: x[0] == "squared")
    errors = {kind: (np.loadtxt(tmp_path / kind) - y) ** 2 for kind in ("own", "squared")}
    mse, difference, error = comparison(errors, np.ones(len(y)), np.arange(len(y)))["own"]
    assert own["mse"] == pytest.approx(mse, rel=1e-4) and own["standard_error"] == pytest.approx(error, rel=1e-2)
    assert own["difference"] == pytest.approx(difference, rel=1e-3)
    assert squared["mse"] == pytest.approx(errors["squared"].mean(), rel=1e-4)
    found = {key: (x["mse"], x.get("difference", 0), x.get("standard_error", 0)) for key, x in chosen["losses"].items()}
    assert name == choice(found) != "squared" and own["difference"] < -own["standard_error"]


# --- the model ----------------------------------------------------------------------------------


def test_the_model_is_that_of_its_loss(vwlite, tmp_path):
    data, new = table(tmp_path / "d.csv", *drawn()), fresh(tmp_path / "new.csv")
    told = vwlite("train", data, "--label", "y", "-m", tmp_path / "m", "--report", tmp_path / "r").err
    found = losses_of(tmp_path / "r")
    assert set(found) == set(TYPED)
    best = min(found, key=lambda name: found[name]["mse"])
    assert best != "squared" and f"loss: {best.replace('poisson', 'Poisson')} " in told
    assert " (RMSE on rows not learned, compared with curves only)" in told
    vwlite("train", data, "--label", "y", *TYPED[best], "-m", tmp_path / "t")
    vwlite("train", data, "--label", "y", *TYPED["squared"], "-m", tmp_path / "s")
    assert same(tmp_path / "m", tmp_path / "t")
    assert read_model(str(tmp_path / "m")).chosen["losses"] == found
    errors = {}
    for name in "mts":
        predicted = np.array(vwlite("predict", "-m", tmp_path / name, new).out.split(), float)
        errors[name] = ((predicted - drawn(300, 7)[2]) ** 2).mean()
    assert errors["m"] == errors["t"] < 0.95 * errors["s"]
    rows = [{"model": f"m{a}", "size": b} for a, b, _ in zip(*drawn(300, 7), strict=True)]
    again = ((load_model(tmp_path / "m").predict(rows) - drawn(300, 7)[2]) ** 2).mean()
    assert again == pytest.approx(errors["m"], rel=1e-3)


@pytest.mark.parametrize("name", ["log1p", "poisson", "gamma"])
@pytest.mark.parametrize("validates", [False, True])
def test_each_loss_is_as_if_it_were_given(vwlite, tmp_path, monkeypatch, name, validates):
    monkeypatch.setattr(amounts, "best_of", lambda found: name)
    monkeypatch.setattr(Compared, "is_better", True)
    data = table(tmp_path / "d.csv", *drawn(3000))  # larger than the files that are kept in memory
    more = ("--validate", fresh(tmp_path / "v.csv")) if validates else ("-p", tmp_path / "p")
    how = ("train", data, "--label", "y", *PLAIN, *more)
    vwlite(*how, "-m", tmp_path / "m")
    if not validates:
        (tmp_path / "p").rename(tmp_path / "q")
    vwlite(*how, *TYPED[name], "-m", tmp_path / "t")
    assert same(tmp_path / "m", tmp_path / "t")
    if not validates:
        assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()


def test_the_squared_loss_if_another_one_is_not_ahead_at_last(vwlite, tmp_path, monkeypatch):
    data = table(tmp_path / "d.csv", *drawn())
    how = ("train", data, "--label", "y", "-m")
    vwlite(*how, tmp_path / "s", *TYPED["squared"])
    for name in ("log1p", "gamma"):
        monkeypatch.setattr(amounts, "best_of", lambda found, name=name: name)
        behind = {name: Compared(9.0, -1.0, 1.5), "squared": Compared(10.0)}
        monkeypatch.setattr(amounts.LossCheck, "compared", lambda *_, found=behind: found)
        told = vwlite(*how, tmp_path / "m").err
        assert f"loss = squared after all, as {name} is not better by a standard error with the features" in told
        assert "with the features of its model 3.0000, squared 3.1623: the difference is within" in told
        assert same(tmp_path / "m", tmp_path / "s")


def test_groups_and_weights(vwlite, tmp_path):
    rng = np.random.default_rng(4)
    rows = zip(*drawn(), rng.integers(0, 40, 400), rng.integers(1, 4, 400), strict=True)
    lines = [f"m{a},{b},{c},g{d},{e}\n" for a, b, c, d, e in rows]
    (tmp_path / "d.csv").write_text("model,size,y,g,w\n" + "".join(lines))
    how = ("train", tmp_path / "d.csv", "--label", "y", "--group", "g", "--importance", "w", *PLAIN)
    vwlite(*how, "-m", tmp_path / "m", "--report", tmp_path / "r")
    found = losses_of(tmp_path / "r")
    best = min(found, key=lambda name: found[name]["mse"])
    vwlite(*how, *TYPED[best], "-m", tmp_path / "t")
    assert best != "squared" and same(tmp_path / "m", tmp_path / "t")


def test_labels_of_0_are_not_for_gamma(vwlite, tmp_path):
    data = table(tmp_path / "d.csv", *drawn(zeros=True))
    vwlite("train", data, "--label", "y", *PLAIN, "-m", tmp_path / "m", "--report", tmp_path / "r")
    assert set(losses_of(tmp_path / "r")) == {"squared", "log1p", "poisson"}


@pytest.mark.parametrize("labels", ["negative", "symmetric"])
def test_other_numbers_are_learned_as_before(vwlite, tmp_path, labels):
    model, size, y = drawn(300)
    y = y - 2 * y.min() if labels == "negative" else 1000 + np.random.default_rng(2).normal(size=300)
    data = table(tmp_path / "d.csv", model, size, y)
    vwlite("train", data, "--label", "y", "-m", tmp_path / "m", "--report", tmp_path / "r")
    vwlite("train", data, "--label", "y", "--loss", "squared", "-m", tmp_path / "s")
    assert not losses_of(tmp_path / "r")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "s").read_bytes()


@pytest.mark.parametrize("options", [
    ("--loss", "huber"), ("--link", "identity"), ("--fail-if", "mse>1e9"), ("--no-constant",), ("--passes", "1"),
    ("--loss", "quantile"),
])  # fmt: skip
def test_options_that_decide_the_loss_or_depend_on_it(vwlite, tmp_path, options):
    data = table(tmp_path / "d.csv", *drawn(300))
    vwlite("train", data, "--label", "y", *PLAIN, *options, "-m", tmp_path / "m", "--report", tmp_path / "r")
    found = read_model(str(tmp_path / "m")).settings
    assert not losses_of(tmp_path / "r") and found.loss == {"--loss": options[-1]}.get(options[0], "squared")


def test_a_model_that_is_continued_learns_any_label(vwlite, tmp_path):
    first = table(tmp_path / "a.csv", *drawn(300))
    vwlite("train", first, "--label", "y", "--continue", tmp_path / "m")
    more = table(tmp_path / "b.csv", ["m1"], [1.0], [-3.0])
    vwlite("train", more, "--label", "y", "--continue", tmp_path / "m")
    assert read_model(str(tmp_path / "m")).settings.loss == "squared"


def test_folds_of_cv_may_have_other_losses(vwlite, tmp_path, monkeypatch):
    names = iter(["log1p", "gamma"])
    monkeypatch.setattr(amounts, "best_of", lambda found: names.__next__())
    monkeypatch.setattr(amounts.LossCheck, "compared", lambda *_: {})
    monkeypatch.setattr(amounts.AmountTrainer, "about_model", lambda self: iter(()))
    data = table(tmp_path / "d.csv", *drawn(300))
    found = json.loads(vwlite("cv", data, "--label", "y", "--folds", 2, *PLAIN, "--json").out)["measures"]
    assert {"mse", "mae", "r2"} <= set(found) and not {"log1p_mse", "gamma_deviance"} & set(found)


def test_tune_has_one_loss(vwlite, tmp_path):
    data = table(tmp_path / "d.csv", *drawn(300))
    found = vwlite("tune", data, "--label", "y", "--try", "algorithm=auto", "-m", tmp_path / "m")
    assert "--loss squared" in found.out and read_model(str(tmp_path / "m")).settings.loss == "squared"


def test_counts_that_are_learned_as_counts_get_no_advice(vwlite, tmp_path):
    rng = np.random.default_rng(6)
    x = rng.normal(size=(2, 500)).round(3)
    y = rng.poisson(np.exp(0.5 + x[0]))
    (tmp_path / "d.csv").write_text("a,b,y\n" + "".join(f"{a},{b},{c}\n" for a, b, c in zip(*x, y, strict=True)))
    told = vwlite("train", tmp_path / "d.csv", "--label", "y", *PLAIN, "-m", tmp_path / "m").err
    assert read_model(str(tmp_path / "m")).settings.loss == "poisson"
    assert "add --loss poisson" not in told and "if they are classes, add" in told


def test_weights_that_are_too_large_leave_a_loss_out(vwlite, tmp_path):
    model, size, y = drawn(300)
    data = table(tmp_path / "d.csv", model, size, y * 1e30)
    vwlite("train", data, "--label", "y", *PLAIN, "-m", tmp_path / "m", "--report", tmp_path / "r")
    assert "squared" in losses_of(tmp_path / "r")
