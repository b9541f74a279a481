"""`vwlite solve`: optima by their own conditions, models like all others, and everything that can be typed wrongly."""

import gzip
import json
import math
import os
import re
import signal
import time
from array import array
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from crafted_models import put_together, split_into_parts
from running import GD, PATIENT, shell, start
from streams import CONSTANT
from tables import bent_rows, written
from text_problems import SMOOTH, Data, weights_of

from vwlite import __version__
from vwlite.algorithms.solvers import SOLVERS
from vwlite.model import read_model
from vwlite.model.absent import learned

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "data/sources.train.vw"
DIGITS = ROOT / "data/digits.train.libsvm"

def report_of(path: Path) -> dict:
    return json.loads(path.read_text())


def test_the_optimum_over_the_features_that_the_first_model_derives(vwlite, at):
    """The objective is what other commands say of the model; and the model goes on with them."""
    written(at / "d.csv", ["x", "z", "w", "y"], bent_rows())
    vwlite("train", "d.csv", "--label", "y", "--derive", "auto", "-m", "first")
    vwlite("train", "d.csv", "--label", "y", "--derive", "curves", "-m", "other")
    derived = read_model("first").settings.derived
    for how in (["--solver", "cd"], ["--shards", 2]):
        vwlite("solve", "d.csv", "-i", "first", "--l2", 0.01, *how, "-m", "m", "--report", "r")
        assert read_model("m").settings.derived == derived is not None
        w = weights_of_all("m")
        loss = json.loads(vwlite("evaluate", "-m", "m", "d.csv", "--json").out)["measures"]["log_loss"]["value"]
        results = report_of(at / "r")["results"]
        # In prediction, missing cells have weights that are a little nearer to the mean.
        assert results["objective"] == pytest.approx(loss + 0.01 / 2 * w @ w, rel=1e-4)
        assert results["gap"] <= 1e-3 * results["objective"] and np.count_nonzero(w) > 200
    vwlite("train", "d.csv", "-i", "m", "--algorithm", "gd", "--label", "y", "-m", "on")
    assert read_model("on").settings.derived == derived
    said = vwlite("certify", "-m", "m", "d.csv", "--against", "other", code=2).err
    assert "other features are derived from its columns" in said


def weights_of_all(path):
    """Those that a model has learned, without the intercept."""
    model = learned(read_model(path))
    return np.array([w for key, w in zip(model.keys, model.weights, strict=True) if key != CONSTANT])


NEAR = 1e-6  # derivatives are as far from those of an optimum as the root of the gap, which is 1e-12 of the objective


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("loss", SMOOTH)
def test_the_optimum_has_the_conditions_of_one(vwlite, at, loss, constant):
    data, l2 = Data(1, loss), 0.1
    options = ["--l1-of-max", 0.2, "--l2", l2, "--tolerance", 0, *([] if constant else ["--no-constant"])]
    vwlite("solve", loss, "--loss", loss, *options, "-m", "m", "--report", "r")
    w, b = weights_of("m")
    l1 = read_model("m").options["l1"]
    g, slope = data.gradient(loss, w, b)
    assert 0 < np.count_nonzero(w) < 7
    for j in range(7):
        if w[j]:
            assert g[j] + l2 * w[j] + l1 * np.sign(w[j]) == pytest.approx(0, abs=NEAR)
        else:
            assert abs(g[j]) <= l1 + NEAR
    assert slope == pytest.approx(0, abs=NEAR) if constant else b == 0
    results = report_of(at / "r")["results"]
    objective = data.mean_loss(loss, w, b) + l1 * np.abs(w).sum() + l2 / 2 * w @ w
    assert results["objective"] == pytest.approx(objective, rel=1e-12)
    assert results["lower_bound"] == pytest.approx(objective, rel=1e-9)
    assert results["lower_bound"] <= objective * (1 + 1e-12)
    assert results["sum_of_weights"] == pytest.approx(np.abs(w).sum())
    assert results["nonzero_weights"] == np.count_nonzero(w)


@pytest.mark.parametrize("loss", SMOOTH)
def test_rows_come_nearer_and_bounds_never_pass_the_optimum(vwlite, at, loss):
    common = ("solve", loss, "--loss", loss, "--l1-of-max", 0.02, "--quiet", "--report", "r", "--tolerance")
    vwlite(*common, 0)
    exact = report_of(at / "r")
    optimum = exact["results"]["objective"]
    for row in exact["steps"]:
        assert row["lower_bound"] <= optimum * (1 + 1e-12) and row["objective"] >= optimum * (1 - 1e-12)
    bounds = [row["lower_bound"] for row in exact["steps"]]
    assert bounds == sorted(bounds)
    vwlite(*common, 0.01)
    early = report_of(at / "r")["results"]
    assert early["relative_gap"] <= 0.01 and early["ended"] == "the gap is at most --tolerance 0.01"
    assert early["gap"] == pytest.approx(early["objective"] - early["lower_bound"])
    assert early["steps"] <= exact["results"]["steps"]


def test_the_strength_as_a_part_of_the_largest_that_means_anything(vwlite, at):
    data = Data(1, "logistic")
    share = data.h[data.y > 0].sum() / data.h.sum()
    g, slope = data.gradient("logistic", np.zeros(7), math.log(share / (1 - share)))  # the best constant
    assert slope == pytest.approx(0, abs=1e-12)
    vwlite("solve", "logistic", "--l1-of-max", 0.3, "-m", "m", "--quiet")
    model = read_model("m")
    assert model.solved["l1_max"] == pytest.approx(np.abs(g).max(), rel=1e-9)
    assert model.options["l1"] == 0.3 * model.solved["l1_max"]
    said = vwlite("solve", "logistic", "--l1", np.abs(g).max() * 1.01).err
    assert "nonzero weights = 0\n" in said and "note: all weights are zero, as with every --l1 of at least " in said


def test_nonnegative_weights_and_weights_of_features(vwlite, at):
    data = Data(1, "logistic")
    Path("c").write_text("1 3\n2 0.5\n9 2\n")
    c = np.array([3, 0.5, 1, 1, 1, 1, 1])
    vwlite("solve", "logistic", "--l1", 0.03, "--feature-weights", "c", "--tolerance", 0, "-m", "m", "--quiet")
    w, b = weights_of("m")
    g, _ = data.gradient("logistic", w, b)
    assert all(g[j] == pytest.approx(-0.03 * c[j] * np.sign(w[j]), abs=NEAR) for j in range(7) if w[j])
    assert np.all(np.abs(g) <= 0.03 * c + NEAR)
    vwlite("solve", "logistic", "--l1", 0.03, "--nonnegative", "--tolerance", 0, "-m", "m", "--quiet")
    w, b = weights_of("m")
    g, _ = data.gradient("logistic", w, b)
    assert np.all(w >= 0) and w.any() and np.all(g >= -0.03 - NEAR)
    assert all(g[j] == pytest.approx(-0.03, abs=NEAR) for j in range(7) if w[j])


@pytest.mark.parametrize("loss", SMOOTH)
def test_weights_in_a_box(vwlite, at, loss):
    """Inside, the subgradient is 0; at the edge it points out of the box. certify has the same problem."""
    data, box, l1 = Data(1, loss), 0.1, 0.01
    vwlite("solve", loss, "--loss", loss, "--l1", l1, "--box", box, "--tolerance", 0, "-m", "m", "--report", "report")
    results, (w, b) = report_of(at / "report")["results"], weights_of("m")
    g, _ = data.gradient(loss, w, b)
    assert np.abs(w).max() == box
    for g_j, w_j in zip(g, w, strict=True):
        if abs(w_j) == box:
            assert -np.sign(w_j) * g_j >= l1 - NEAR
        elif w_j:
            assert g_j == pytest.approx(-l1 * np.sign(w_j), abs=NEAR)
        else:
            assert abs(g_j) <= l1 + NEAR
    vwlite("certify", "-m", "m", loss, "--report", "certified")
    assert report_of(at / "certified")["results"]["lower_bound"] == pytest.approx(results["objective"], rel=1e-4)
    vwlite("solve", loss, "--loss", loss, "--l1", l1, "-m", "free", "--quiet")
    said = vwlite("certify", "-m", "m", loss, "--against", "free", code=65).err
    assert "free has weights beyond --box 0.1, which the problem of m excludes" in " ".join(said.split())


@pytest.mark.parametrize("loss", SMOOTH)
def test_a_ball_has_the_solution_of_its_strength(vwlite, at, loss):
    """l1 is the multiplier of the ball: the penalised optimum whose sum of |weights| is the radius is that of both."""
    data = Data(1, loss)
    vwlite("solve", loss, "--loss", loss, "--l1-of-max", 0.2, "--tolerance", 0, "-m", "m", "--quiet")
    w, b = weights_of("m")
    radius = np.abs(w).sum()
    vwlite("solve", loss, "--loss", loss, "--radius", radius, "--tolerance", 1e-9, "-m", "r", "--report", "report")
    results, (v, _) = report_of(at / "report")["results"], weights_of("r")
    assert np.abs(v).sum() <= radius * (1 + 1e-12) and v == pytest.approx(w, abs=1e-3)
    assert results["objective"] == pytest.approx(data.mean_loss(loss, w, b), rel=1e-8)
    assert results["lower_bound"] <= data.mean_loss(loss, w, b) * (1 + 1e-12)
    assert results["radius"] == read_model("r").options["radius"] == radius and "l1" not in results
    vwlite("solve", loss, "--loss", loss, "--radius", radius, "--nonnegative", "-m", "n", "--quiet")
    assert np.all(weights_of("n")[0] >= 0)


# --- the other solvers -------------------------------------------------------------------------

OF_PENALTY = [s.name for s in SOLVERS.values() if "l1" in s.takes and s.name != "newton"]
OF_BALL = [s.name for s in SOLVERS.values() if "radius" in s.needs and s.ends and not s.simplex]
BESIDE = {
    "l2": ["--l2", 0.1], "nonnegative": ["--nonnegative"], "box": ["--box", 0.05],
    "feature_weights": ["--feature-weights", "c"],
}


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("name", OF_PENALTY + OF_BALL)
def test_every_solver_ends_at_the_optimum_of_newton(vwlite, at, name, loss):
    row = SOLVERS[name]
    if loss not in row.losses:
        said = vwlite("solve", loss, "--loss", loss, "--l1", 0.1, "--solver", name, code=2).err
        assert f"--solver {name} does not take --loss {loss}: use --solver newton" in said
        return
    Path("c").write_text("1 3\n2 0.5\n9 2\n")
    strength = ["--radius", 0.4] if "radius" in row.needs else ["--l1-of-max", 0.2]
    for more in ([], *(words for option, words in BESIDE.items() if option in row.takes)):
        common = ("solve", loss, "--loss", loss, *strength, *more, "--quiet", "--report", "r", "--max-seconds", PATIENT)
        vwlite(*common, "--tolerance", 1e-9)
        optimum = report_of(at / "r")["results"]["objective"]
        vwlite(*common, "--solver", name, "--tolerance", 1e-6, "-m", "m")
        report = report_of(at / "r")
        assert report["results"]["objective"] == pytest.approx(optimum, rel=2e-6)
        assert report["results"]["lower_bound"] <= optimum * (1 + 1e-9)
        assert report["options"]["solver"] == name == read_model("m").solved["solver"]
        objectives = [step["objective"] for step in report["steps"]]
        assert not row.descends or all(b <= a * (1 + 1e-9) for a, b in pairwise(objectives))


def test_the_simplex_has_weights_that_add_up(vwlite, at):
    """Against the ball of weights that are not negative: where its solution is on the edge, that of both."""
    data = Data(1, "squared")
    vwlite("solve", "squared", "--loss", "squared", "--radius", 0.5, "--nonnegative", "--tolerance", 1e-9, "-m", "ball",
           "--quiet")
    w, b = weights_of("ball")
    assert w.sum() == pytest.approx(0.5)
    vwlite("solve", "squared", "--loss", "squared", "--radius", 0.5, "--solver", "eg", "--tolerance", 1e-5, "-m", "m",
           "--quiet")
    v, c = weights_of("m")
    optimum = data.mean_loss("squared", w, b)
    assert np.all(v > 0) and v.sum() == pytest.approx(0.5)
    assert optimum * (1 - 1e-9) <= data.mean_loss("squared", v, c) <= optimum * (1 + 2e-5)
    # Where the radius is far too large, the simplex is worse than the ball, and so is its bound, but no other bound.
    large = ["--loss", "squared", "--radius", 100, "--quiet"]
    vwlite("solve", "squared", *large, "--nonnegative", "-m", "ball")
    vwlite("solve", "squared", *large, "--solver", "eg", "-m", "m")
    ball, simplex = read_model("ball").solved, read_model("m").solved
    assert simplex["lower_bound"] > ball["objective"]
    for model, other, lower in (("ball", "m", 0), ("m", "ball", 0), ("m", "m", simplex["lower_bound"])):
        vwlite("certify", "-m", model, "squared", "--against", other, "--report", "r")
        results = report_of(at / "r")["results"]
        assert lower * (1 - 1e-12) <= results["lower_bound"] <= results["objective"] * (1 + 1e-12)
    vwlite("solve", "squared", *large[2:], "-i", "m", "--solver", "eg", "--report", "r")
    assert report_of(at / "r")["results"]["steps"] == 0
    said = vwlite("solve", "squared", "--radius", 99, "-i", "ball", "--solver", "eg").err
    assert "warning: ball is outside of the simplex: it is not used as the start\n" in said


def test_samples_come_near_and_the_best_of_all_steps_is_kept(vwlite, at):
    common = ("solve", "logistic", "--radius", 0.4, "--quiet", "--report", "r")
    vwlite(*common)
    optimum = report_of(at / "r")["results"]["objective"]
    kept = False
    for batch in (7, 0.2, 0.99):
        vwlite(*common, "--solver", "minibatch", "--batch", batch, "--eta0", 3, "--tolerance", 0, "--max-passes", 200,
               "-m", "m")
        report = report_of(at / "r")
        assert report["results"]["ended"] == "--max-passes 200 is reached"
        found, objectives = report["results"]["objective"], [step["objective"] for step in report["steps"]]
        assert optimum * (1 - 1e-3) <= found <= optimum * 1.01
        assert found == pytest.approx(min(objectives), rel=1e-12)
        kept |= found < objectives[-1] * (1 - 1e-12)
        w, b = weights_of("m")
        assert Data(1, "logistic").mean_loss("logistic", w, b) == pytest.approx(found, rel=1e-9)
        assert report["options"]["batch"] == batch
    assert kept  # the last step was not always the best


def test_the_bound_of_the_paper_makes_smaller_steps(vwlite, at):
    passes = {}
    for beta in ("mean", "paper"):
        vwlite("solve", "logistic", "--l1-of-max", 0.1, "--solver", "scd", "--beta", beta, "--report", "r", "--quiet")
        passes[beta] = report_of(at / "r")["results"]["passes"]
        assert report_of(at / "r")["options"]["beta"] == beta
    assert passes["mean"] < passes["paper"]


@pytest.mark.parametrize("more", [[], ["--order", "random"], ["--no-constant"]])
def test_the_support_vector_machine(vwlite, at, more):
    """The optimum by its conditions: w = sum of a_i y_i x_i, a_i at the ends of [0, h_i / l2] but at margins of 1."""
    data, l2 = Data(1, "hinge"), 0.1
    options = ["--loss", "hinge", "--l2", l2, *more]
    vwlite("solve", "hinge", *options, "--tolerance", 1e-9, "-m", "m", "--report", "r", "--quiet")
    w, b = weights_of("m")
    results, solved = report_of(at / "r")["results"], read_model("m").solved
    assert solved["solver"] == "sdca" and solved["l1_max"] is None
    objective = data.mean_loss("hinge", w, b) + l2 / 2 * (w @ w + b * b)
    assert results["objective"] == pytest.approx(objective, rel=1e-12) and "l1" not in results
    assert results["l2"] == l2
    assert objective * (1 - 1e-9) <= results["lower_bound"] <= objective * (1 + 1e-12)
    margins, h = data.y * (data.x @ w + b), data.h / data.h.sum()
    x = np.column_stack([data.x, np.ones(len(data.y)) * (b != 0)])
    on_edge = np.abs(margins - 1) < 1e-4
    rest = l2 * np.append(w, b) - x.T @ (h * data.y * (margins < 1) * ~on_edge)  # what those at margins of 1 give
    a = np.linalg.lstsq((x * data.y[:, None])[on_edge].T, rest, rcond=None)[0]
    assert (x * data.y[:, None])[on_edge].T @ a == pytest.approx(rest, abs=1e-3)
    assert bool(b) == ("--no-constant" not in more)
    # Any change makes it worse.
    rng = np.random.default_rng(1)
    for scale in (1e-3, 1e-2, 1e-1):
        v, c = w + scale * rng.normal(size=7), b + scale * rng.normal() * (b != 0)
        assert data.mean_loss("hinge", v, c) + l2 / 2 * (v @ v + c * c) > objective
    vwlite("certify", "-m", "m", "hinge", "--report", "r", "--against", "m")
    found = report_of(at / "r")["results"]
    assert found["objective"] == pytest.approx(objective, rel=1e-12)
    assert found["lower_bound"] == solved["lower_bound"]
    assert not any("does not meet" in note for note in report_of(at / "r")["notes"])
    vwlite("solve", "hinge", "-i", "m", "-m", "again", "--quiet")  # its own l2
    assert read_model("again").options["l2"] == l2
    assert read_model("again").solved["objective"] == pytest.approx(objective, rel=1e-3)


def test_a_constant_without_a_penalty_has_another_bound(vwlite, at):
    """The bound of sdca is of a penalised constant: without that, models can be better."""
    Path("d").write_text("1 |a x\n1 |a x\n1 |a x\n1 |a y\n-1 |a z\n")
    vwlite("solve", "d", "--loss", "hinge", "--l2", 1, "-m", "svm", "--quiet", "--tolerance", 1e-9)
    vwlite("train", "d", "--loss", "hinge", "--algorithm", "sgd", "-l", 0.3, "--passes", 30, "--holdout-off", "-m", "t",
           "--cache-file", "cache", "--quiet")
    vwlite("certify", "-m", "t", "d", "--l1", 0, "--l2", 1, "--against", "svm", "--report", "r")
    report = report_of(at / "r")
    assert report["results"]["lower_bound"] < read_model("svm").solved["lower_bound"]
    solved = "svm was solved for other data or another regularization strength: only its weights are used"
    assert solved in report["notes"]
    vwlite("certify", "-m", "svm", "d", "--l2", 2, "--report", "r")
    _, b = weights_of("svm")
    found = report_of(at / "r")["results"]["objective"]
    vwlite("certify", "-m", "svm", "d", "--report", "r")
    own = report_of(at / "r")["results"]["objective"]
    weights = read_model("svm").weights
    assert found - own == pytest.approx(1 / 2 * sum(w * w for w in weights)) and b


@pytest.mark.parametrize("name", [s.name for s in SOLVERS.values() if s.softmax])
def test_several_classes_with_one_loss(vwlite, at, name):
    """Objective and bound by their definitions, from the scores that predict prints."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(60, 3)).astype(np.float32).astype(float)
    y = (x @ rng.normal(size=(3, 3)) + rng.normal(size=(60, 3)) / 3).argmax(axis=1)
    rows = [" ".join(f"{j + 1}:{v:.9g}" for j, v in enumerate(row)) for row in x]
    Path("d").write_text("".join(f"{'abc'[k]} | {row}\n" for k, row in zip(y, rows, strict=True)))
    common = ("solve", "d", "--classes", "a,b,c", "--softmax", "--radius", 1, "--quiet", "--report", "r")
    vwlite(*common, "--tolerance", 1e-8)
    optimum = report_of(at / "r")["results"]["objective"]
    assert report_of(at / "r")["options"]["solver"] == "accelerated"
    limits = ["--tolerance", 1e-4, "--max-passes", 20000, *(["--eta0", 1] if name == "minibatch" else [])]
    vwlite(*common, *limits, "--solver", name, "-m", "m")
    results, model = report_of(at / "r")["results"], read_model("m")
    found = np.zeros((4, 3))
    for key, weights in zip(model.keys, np.reshape(model.weights, (-1, 3)), strict=True):
        found[3 if key == CONSTANT else key - 1] = weights
    scores = x @ found[:3] + found[3]
    objective = np.mean(np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(60), y])
    assert np.abs(found[:3]).sum(axis=0).max() <= 1 + 1e-9
    assert results["objective"] == pytest.approx(objective, rel=1e-9) == model.solved["objective"]
    assert optimum * (1 - 1e-7) <= objective <= optimum * 1.001
    assert results["lower_bound"] <= optimum
    assert results["nonzero_weights"] == np.count_nonzero(found[:3])
    assert model.solved["l1_max"] is None and model.settings.softmax
    vwlite("predict", "-m", "m", "d", "-p", "p")
    assert Path("p").read_text().split() == ["abc"[k] for k in scores.argmax(axis=1)]
    vwlite("solve", "d", "-i", "m", "--quiet", "--report", "r")  # with its radius
    assert report_of(at / "r")["results"]["steps"] == 0
    vwlite("train", "d", "-i", "m", "--algorithm", "sgd", "-l", 1e-9, "-m", "t", "--quiet")
    vwlite("predict", "-m", "t", "d", "-p", "q")
    assert Path("q").read_text() == Path("p").read_text()


def test_softmax_knows_the_classes_that_it_finds(vwlite, at):
    Path("d").write_text("red |a x\ngreen |a y\nred |a x z\n" * 3)
    common = ("solve", "d", "--softmax", "--radius", 2, "-m", "m")
    vwlite(*common, "--oaa", 4, "--classes", "auto")
    assert read_model("m").classes == ["red", "green"]
    assert vwlite("predict", "-m", "m", "d").out.split()[:3] == ["red", "green", "red"]
    said = vwlite(*common, "--classes", "red,green,blue").err
    assert "note: some classes have no examples: their optimal intercepts are infinite\n" in said
    assert vwlite("predict", "-m", "m", "d").out.split()[:3] == ["red", "green", "red"]
    vwlite("train", "d", "--softmax", "--radius", 9, "--classes", "red,green", "-m", "t", "-l", 9, "--quiet")
    said = vwlite("solve", "d", "-i", "t", "--radius", 0.1).err
    assert "t is outside of the ball: it is not used as the start" in said
    Path("one").write_text("red |a x\n")
    said = vwlite("solve", "one", "--softmax", "--radius", 2, "--oaa", 4, "--classes", "auto", code=65).err
    assert said.splitlines()[-1] == "1 classes: there must be at least 2"
    Path("bare").write_text("red |\ngreen |\nred |\n")
    vwlite("solve", "bare", "--softmax", "--radius", 2, "--classes", "red,green", "-m", "m", "--report", "r")
    expected = -(2 * math.log(2 / 3) + math.log(1 / 3)) / 3
    assert report_of(at / "r")["results"]["objective"] == pytest.approx(expected, rel=1e-3)


# --- the model ---------------------------------------------------------------------------------


def test_a_model_is_like_any_other(vwlite, at):
    data = Data(1, "logistic")
    vwlite("solve", "logistic", "--l1-of-max", 0.1, "--link", "logistic", "-m", "m", "--quiet")
    w, b = weights_of("m")
    scores = data.x @ w + b
    vwlite("predict", "-m", "m", "logistic", "-p", "p", "-r", "raw")
    assert np.loadtxt("raw") == pytest.approx(scores, abs=1e-5)
    assert np.loadtxt("p") == pytest.approx(1 / (1 + np.exp(-scores)), abs=1e-5)
    listed = vwlite("weights", "m").out.split()
    assert dict(zip(map(int, listed[::2]), map(float, listed[1::2]), strict=True)) == {
        CONSTANT: b, **{j + 1: w[j] for j in range(7) if w[j]},
    }
    assert "m: a model, whole: solve, " in vwlite("check", "m").out
    facts = json.loads(vwlite("info", "--json", "m").out)
    assert facts["algorithm"] == "solve" and facts["nonzero_weights"] == np.count_nonzero(w)
    assert facts["solved"]["lower_bound"] <= facts["solved"]["objective"] and facts["solved"]["solver"] in SOLVERS
    assert re.fullmatch("[0-9a-f]{16}", facts["solved"]["data"])
    vwlite("export", "m", "--to", "vw", "-o", "m.vw")
    assert vwlite("weights", "m.vw").out.split("\t")[0] == listed[0]


def test_threads_caches_pipes_and_compression_change_no_byte(vwlite, at):
    options = ["--l1-of-max", "0.02", "-m", "m", "--quiet"]
    vwlite("solve", SOURCES, *options)
    expected = Path("m").read_bytes()
    Path("s.vw.gz").write_bytes(gzip.compress(SOURCES.read_bytes()))
    for more in ([SOURCES, "--threads", 1], [SOURCES, "--threads", 5], ["s.vw.gz"]):
        vwlite("solve", *more, *options)
        assert Path("m").read_bytes() == expected
    for _ in range(2):  # the cache is made, and read
        vwlite("solve", SOURCES, *options, "--cache-file", "cache")
        assert Path("m").read_bytes() == expected
    assert shell(f"cd {at} && cat {SOURCES} | vwlite solve {' '.join(options)}").code == 0
    assert Path("m").read_bytes() == expected


def test_the_cache_is_that_of_train(vwlite, at):
    vwlite("train", *GD, "logistic", "--loss", "logistic", "--cache-file", "cache", "--quiet")
    before = Path("cache").read_bytes()
    assert "is not used" not in vwlite("solve", "logistic", "--l1", 0.1, "--cache-file", "cache").err
    assert Path("cache").read_bytes() == before


def test_options_of_features_are_those_of_train(vwlite, at):
    """Scores of predict are those of what was solved: its objective on the same data is that of the report."""
    options = ["-q", "ab", "--ignore", "w", "-b", "12", "--hash", "all", "--labels", "0,1"]
    Path("d").write_text("1 |a x:2 3 |b y\n0 |a x |b z:2 |w k\n1 2 0.5 |a 3:4 |b y z\n0 |a u u |w k\n")
    vwlite("solve", "d", "--l1", 0.05, *options, "-m", "m", "--report", "r", "--quiet")
    vwlite("predict", "-m", "m", "d", "-r", "raw", "-p", "p")
    y, h, p = np.array([1, -1, 1, -1]), np.array([1, 1, 2, 1]), np.loadtxt("raw")
    model = read_model("m")
    norm = sum(abs(w) for k, w in zip(model.keys, model.weights, strict=True) if k != CONSTANT % 4096)
    expected = h @ np.logaddexp(0, -y * p) / 5 + 0.05 * norm
    assert report_of(at / "r")["results"]["objective"] == pytest.approx(expected, abs=1e-5)


def test_one_class_against_all_is_each_by_itself(vwlite, at):
    options = ["--l1", 0.02, "--tolerance", 0, "--quiet"]
    vwlite("solve", DIGITS, "--oaa", 10, *options, "-m", "m", "--report", "r")
    model = read_model("m")
    weights = np.array(model.weights).reshape(-1, 10)
    lines = DIGITS.read_text().splitlines()
    total = 0.0
    for k in (1, 4):
        Path("one").write_text("".join(f"{1 if x.split()[0] == str(k) else -1} {x.split(' ', 1)[1]}\n" for x in lines))
        vwlite("solve", "one", "--format", "libsvm", *options, "-m", "alone")
        alone = read_model("alone")
        found = dict(zip(alone.keys, alone.weights, strict=True))
        assert dict(zip(model.keys, weights[:, k - 1], strict=True)) == pytest.approx(
            {key: found.get(key, 0.0) for key in model.keys}, abs=1e-7
        )
        total += alone.solved["objective"]
    assert report_of(at / "r")["results"]["objective"] > total
    vwlite("predict", "-m", "m", ROOT / "data/digits.test.libsvm", "-p", "p", "--report", "q")
    assert report_of(at / "q")["results"]["accuracy"] > 0.9


def test_classes_with_names(vwlite, at):
    Path("d").write_text("red |a x\ngreen |a y\nred |a x z\nblue |b z\n" * 3)
    for options in (["--classes", "red,green,blue"], ["--oaa", "4", "--classes", "auto"]):
        said = vwlite("solve", "d", "--l1", 0.02, *options, "-m", "m").err
        assert "  green\n" in said
        assert vwlite("predict", "-m", "m", "d").out.split()[:4] == ["red", "green", "red", "blue"]
    assert read_model("m").classes == ["red", "green", "blue"]
    vwlite("solve", "d", "-i", "m", "-m", "m", "--quiet")  # the names are continued
    assert read_model("m").classes == ["red", "green", "blue"]


def test_a_warm_start_takes_the_options_of_the_model(vwlite, at):
    vwlite("solve", SOURCES, "--l1-of-max", 0.02, "-b", 20, "-m", "m", "--report", "r", "--quiet")
    first, cold = read_model("m"), report_of(at / "r")["results"]
    vwlite("solve", SOURCES, "-i", "m", "-m", "again", "--report", "r", "--quiet")
    assert report_of(at / "r")["results"]["steps"] == 0
    again = read_model("again")
    assert again.options == first.options and again.solved["objective"] == pytest.approx(first.solved["objective"])
    vwlite("solve", SOURCES, "-i", "m", "--l1", 0.9 * first.options["l1"], "--report", "r", "--quiet")
    assert 0 < report_of(at / "r")["results"]["steps"] <= cold["steps"]
    online = ["--loss", "logistic", "-b", 20, "--algorithm", "adagrad-rda", "--l1", 1e-3]
    vwlite("train", SOURCES, *online, "-m", "t", "--quiet")
    vwlite("solve", SOURCES, "-i", "t", "-m", "again", "--quiet")
    assert read_model("again").options["l1"] == 1e-3


def test_a_start_is_a_result(vwlite, at):
    vwlite("train", "logistic", "--loss", "logistic", "--algorithm", "sgd", "-l", 0.05, "-m", "t", "--quiet")
    for limit in ("--max-seconds", "--max-passes"):
        said = vwlite("solve", "logistic", "-i", "t", "--l1", 0.01, limit, 0, "-m", "m").err
        assert re.search(rf"^warning: {limit} 0 is \w+: the gap is [\d.]+ %$", said, re.M)
        assert vwlite("weights", "m").out == vwlite("weights", "t").out
    model = read_model("m")
    w, b = weights_of("m")
    expected = Data(1, "logistic").mean_loss("logistic", w, b) + 0.01 * np.abs(w).sum()
    assert model.solved["objective"] == pytest.approx(expected, rel=1e-9)
    assert not model.interrupted


def test_a_start_that_is_worse_than_none_is_left(vwlite, at):
    vwlite("solve", "logistic", "--l1", 0.1, "-m", "m", "--quiet")
    parts = split_into_parts(Path("m").read_bytes())
    kind, shape, content = parts.arrays["weights"]
    parts.arrays["weights"] = (kind, shape, array("d", [-1e15]).tobytes() + content[8:])
    Path("far").write_bytes(put_together(parts))
    done = vwlite("solve", "logistic", "-i", "far", "-m", "n", "--quiet")
    assert done.err == "warning: far is worse than weights of zero: it is not used as the start\n"
    assert Path("n").read_bytes() == Path("m").read_bytes()
    for strength in (["--nonzeros", 3], ["--l1-path", 3], ["--radius", 1e17]):
        assert "worse than weights of zero" in vwlite("solve", "logistic", "-i", "far", *strength).err
    norm = np.abs(weights_of("m")[0]).sum()
    assert "m is outside of the ball" in vwlite("solve", "logistic", "-i", "m", "--radius", norm / 2).err
    vwlite("solve", "logistic", "--radius", norm / 2, "-m", "b", "--quiet")
    vwlite("solve", "logistic", "-i", "b", "-m", "c", "--report", "r", "--quiet")
    assert report_of(at / "r")["results"]["steps"] == 0


def test_a_path_has_a_model_and_a_line_for_each_strength(vwlite, at):
    said = vwlite("solve", SOURCES, "--l1-path", "4:0.1", "-m", "p%d.model", "--report", "r").err
    report = report_of(at / "r")
    largest = report["results"]["l1_max"]
    rows = [line for line in said.splitlines() if re.match(r" +[1-4] +\d", line)]
    assert len(rows) == len(report["path"]) == 4
    for k, found in enumerate(report["path"]):
        assert found["l1"] == pytest.approx(largest * 0.1 ** (k / 3))
        model = read_model(f"p{k + 1}.model")
        assert model.options["l1"] == found["l1"] and model.solved["objective"] == found["objective"]
        vwlite("solve", SOURCES, "--l1", found["l1"], "-m", "alone", "--quiet")
        assert read_model("alone").solved["objective"] == pytest.approx(found["objective"], rel=2e-3)
    counts = [found["nonzero_weights"] for found in report["path"]]
    assert counts[0] <= 1 < counts[3]


def test_at_most_n_weights(vwlite, at):
    vwlite("solve", SOURCES, "--nonzeros", 12, "-m", "m", "--quiet", "--report", "r")
    results = report_of(at / "r")["results"]
    assert 8 <= results["nonzero_weights"] <= 12 and results["relative_gap"] <= 1e-3
    assert read_model("m").options["l1"] == results["l1"]
    weaker = results["l1"] / 1.1
    vwlite("solve", SOURCES, "--l1", weaker, "-m", "m", "--quiet", "--report", "r")
    assert report_of(at / "r")["results"]["nonzero_weights"] >= results["nonzero_weights"]


@pytest.mark.parametrize(
    ("algorithm", "more"),
    [
        ("gd", []),
        ("sgd", []),
        ("sgd", ["--l2", "0.01"]),
        ("truncated-gradient", ["--l1", "0.01"]),
        ("truncated-gradient", ["--l2", "0.01"]),
        ("rounding", ["--threshold", "1e-9"]),
        ("l1-subgradient", ["--l1", "0.01"]),
    ],
)
def test_learning_continues_from_the_weights(vwlite, at, algorithm, more):
    vwlite("solve", SOURCES, "--l1-of-max", 0.05, "-m", "m", "--quiet")
    vwlite("predict", "-m", "m", SOURCES, "-p", "p")
    said = vwlite("train", SOURCES, "-i", "m", "--algorithm", algorithm, "-l", 1e-6, *more, "-m", "t", "-p", "q").err
    assert f"algorithm = {algorithm}, loss = logistic" in said and "continuing m after 4500 examples" in said
    assert np.loadtxt("q")[:200] == pytest.approx(np.loadtxt("p")[:200], abs=2e-3)
    assert read_model("t").algorithm == algorithm and read_model("t").counters["examples"] == 9000
    vwlite("train", SOURCES, "-i", "t", "--quiet")


def test_learning_continues_from_the_weights_of_classes(vwlite, at):
    vwlite("solve", DIGITS, "--oaa", 10, "--l1", 0.02, "-m", "m", "--quiet")
    vwlite("train", DIGITS, "-i", "m", "--algorithm", "sgd", "-l", 1e-9, "-m", "t", "--quiet")
    for model in ("m", "t"):
        vwlite("predict", "-m", model, DIGITS, "-p", f"{model}.txt")
    assert Path("m.txt").read_text() == Path("t.txt").read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "m was made by vwlite solve, which does not learn from a stream: say how to continue, such as"),
        (["--algorithm", "ftrl"], "--algorithm ftrl cannot start from weights alone, as its weights depend on more: "),
        (["--algorithm", "sgd", "--average"], "--algorithm sgd with --average cannot start from weights alone"),
        (["--algorithm", "truncated-gradient", "--nonzeros", "3"], "with --nonzeros cannot start from weights alone"),
        (["--algorithm", "pa"], "--algorithm pa cannot learn from --loss logistic"),
        (["--algorithm", "sgd", "-b", "18"], "--bits 18 contradicts the model m"),
    ],
)
def test_learning_that_cannot_continue_says_why(vwlite, at, options, words):
    vwlite("solve", "ok", "--l1", 0.05, "-m", "m", "--quiet")
    assert words in vwlite("train", "ok", "-i", "m", *options, code=2).err


@pytest.mark.parametrize(
    ("where", "name", "value", "words"),
    [
        ("solved", "solver", "magic", f"needs vwlite {__version__} or later: unknown solver magic"),
        ("solved", "new", 1, f"needs vwlite {__version__} or later: unknown fact new about its solution"),
        ("solved", "objective", "x", "objective of its solution is 'x'"),
        ("solved", "objective", None, "objective of its solution is None"),
        ("solved", "objective", float("nan"), "its header has a number that is not finite"),
        ("solved", "objective", 0.0, "the facts about its solution are impossible"),  # below the bound
        ("solved", "lower_bound", -1.0, "the facts about its solution are impossible"),
        ("solved", "l1_max", -1.0, "the facts about its solution are impossible"),
        ("solved", "data", "0123", "the facts about its solution are impossible"),
        ("", "solved", {}, "solver of its solution is None"),
        ("", "solved", [], "the facts about its solution are missing"),
        ("", "weights_only", False, "it has a state, which models of vwlite solve do not have"),
        ("", "rule", {"unseen": 0.5}, "it has a state, which models of vwlite solve do not have"),
        ("", "range", [-1, 1], "it has a range of predictions"),
        ("", "algorithm", "gd", "algorithm is gd, but its options say solve"),
        ("options", "radius", 2.0, "it has both l1 and radius"),
        ("options", "learning_rate", 0.1, "--learning-rate has no effect with --algorithm solve"),
        ("options", "softmax", True, "--softmax needs the classes"),
        ("options", "algorithm", "solve2", "unknown algorithm solve2"),
    ],
)
def test_a_header_that_no_run_has_made_is_refused(vwlite, at, where, name, value, words):
    vwlite("solve", "ok", "--l1", 0.05, "-m", "m", "--quiet")
    parts = split_into_parts(Path("m").read_bytes())
    place = parts.header[where] if where else parts.header
    place[name] = value
    Path("m").write_bytes(put_together(parts))
    for command in ("info m", "predict -m m ok", "solve ok -i m", "certify -m m ok", "train ok -i m"):
        assert words in vwlite(*command.split(), code=65).err


def test_predictions_that_are_not_finite_are_refused(vwlite, at):
    vwlite("solve", "ok", "--l1", 0.01, "-m", "m", "--quiet")
    parts = split_into_parts(Path("m").read_bytes())
    kind, shape, content = parts.arrays["weights"]
    parts.arrays["weights"] = (kind, shape, array("d", [1e308] * (len(content) // 8)).tobytes())
    Path("m").write_bytes(put_together(parts))
    Path("d").write_text("1 |a x:10 y:10 z:10\n|b u:10\n")
    said = vwlite("predict", "-m", "m", "d", code=65).err
    why = "feature values are too large for the model; scale them as in training"
    assert said == f"d:1:1: the prediction is not finite: {why}\n"


def test_models_of_other_commands_say_nothing_of_solving(vwlite, at):
    vwlite("train", *GD, "ok", "-m", "m", "--quiet")
    parts = split_into_parts(Path("m").read_bytes())
    assert "solved" not in parts.header
    parts.header["solved"] = {"solver": "cd"}
    Path("m").write_bytes(put_together(parts))
    assert "it has facts about a solution, but is not a model of vwlite solve" in vwlite("info", "m", code=65).err


# --- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("", "the regularization strength is missing: give --l1"),
        ("--l1 -1", "-1 is out of range: it must be at least 0 and finite"),
        ("--l1 nan", "nan is out of range"),
        ("--l1 inf", "inf is out of range"),
        ("--l1 x", "'x' is not a number"),
        ("--l2 -1", "-1 is out of range"),
        ("--radius 0", "0 is out of range"),
        ("--radius inf", "inf is out of range"),
        ("--l1-of-max 0", "0 is out of range"),
        ("--l1 0.1 --radius 2", "--l1 and --radius cannot be used together"),
        ("--l1-of-max 0.1 --l1-path 3", "--l1-of-max and --l1-path cannot be used together"),
        ("--nonzeros 3 --l1 1", "--l1 and --nonzeros cannot be used together"),
        ("--nonzeros 3 --oaa 2", "--nonzeros counts the weights of one score"),
        ("--l1-path 1", "1 is out of range"),
        ("--l1-path 3:2", "2 is out of range"),
        ("--l1-path x", "'x' is not a whole number"),
        ("--l1-path 3 -m x", "--model x: with --l1-path, the name must have %d once, for the number of each model"),
        ("--l1 1 --tolerance -1", "-1 is out of range"),
        ("--l1 1 --max-seconds -1", "-1 is out of range"),
        ("--l1 1 --max-passes 1.5", "'1.5' is not a whole number"),
        ("--l1 1 --loss quantile", "'quantile' is not one of"),
        ("--loss hinge", "--loss hinge is minimised with --l2, as in a support vector machine: add --l2"),
        ("--loss hinge --l2 1 --l1 1", "--loss hinge is minimised with --l2 only: leave --l1 out, or use --loss sq"),
        ("--loss hinge --radius 1", "--loss hinge is minimised with --l2 only: leave --radius out"),
        ("--loss hinge --l2 1 --nonnegative", "--solver sdca does not take --nonnegative"),
        ("--radius 1 --box 2", "--box and --radius cannot be used together: --box is for --l1 and --l2"),
        ("--nonzeros 3 --box 2", "--box and --nonzeros cannot be used together: --box is for --l1 and --l2"),
        ("--radius 1 --box 2 --solver accelerated", "--box and --radius cannot be used together"),
        ("--loss hinge --l2 1 --feature-weights weights", "--solver sdca does not take --feature-weights"),
        ("--loss hinge --l2 1 --solver newton", "--solver newton does not take --loss hinge: use --solver sdca"),
        ("--l2 1 --solver sdca", "--solver sdca does not take --loss logistic: use --solver newton"),
        ("--loss hinge --l2 1 --order x", "'x' is not one of"),
        ("--l1 1 --order random", "--order has no effect with --solver newton, only with sdca"),
        ("-i soft --l1 1", "--softmax needs --radius, the limit of the sum of |weights| of each class, and no"),
        ("-i soft --radius 1 --solver newton", "--solver newton does not take --softmax: use --solver accelerated"),
        ("--oaa 2 --softmax --radius 1 --loss squared", "--softmax has its own loss: leave --loss squared out"),
        ("--softmax --radius 1", "--softmax needs the classes"),
        ("--l1 1 --solver cdd", "'cdd' is not one of"),
        ("--radius 1 --solver cd", "--solver cd does not take --radius: use --solver newton"),
        ("--nonzeros 3 --solver cd", "--solver cd does not take --nonzeros: use --solver newton"),
        ("--radius 1 --solver scd", "--solver scd does not take --radius: use --solver newton"),
        ("--l1 1 --solver accelerated", "--solver accelerated needs --radius: use --solver newton"),
        ("--l1-path 3 --solver eg", "--solver eg needs --radius: use --solver newton"),
        ("--radius 1 --nonnegative --solver eg-pm", "--solver eg-pm does not take --nonnegative: use --solver newton"),
        ("--radius 1 --solver minibatch", "--solver minibatch has no stopping rule: add --max-seconds or --max-"),
        ("--radius 1 --solver minibatch --max-passes 3 --batch 1.5", "--batch 1.5: a number of examples must be whole"),
        ("--radius 1 --solver minibatch --max-passes 3 --batch 0", "0 is out of range"),
        ("--l1 1 --beta paper", "--beta has no effect with --solver newton, only with scd, detcd"),
        ("--l1 1 --solver scd --beta x", "'x' is not one of"),
        ("--l1 1 --solver cd --batch 3", "--batch has no effect with --solver cd, only with minibatch"),
        ("--l1 1 --solver cd --eta0 3", "--eta0 has no effect with --solver cd, only with projected-gradient, acc"),
        ("--l1 1 --loss poisson --oaa 2", "--oaa learns from labels of 1 and -1"),
        ("--l1 1 --labels 0,1 --loss poisson", "--labels maps labels to -1 and 1"),
        ("--l1 1 --link poisson", "--link poisson cannot be applied"),
        ("--l1 1 --passes 2", "No such option '--passes'"),
        ("--l1 1 -m ok", "--model ok is one of the DATA files"),
        ("--l1 1 --rejects bad", "--rejects needs --on-error skip"),
        ("--l1-path 3 -m %d --report 2", "--model and --report are both 2"),
        ("--l1 1 -k", "--kill-cache needs --cache"),
        ("-i m -b 18", "--bits 18 contradicts the model m, which was trained with 32"),
        ("-i m --loss squared", "--loss squared contradicts the model m, which was trained with logistic"),
        ("-i m --oaa 2", "--oaa 2 contradicts the model m"),
        ("-i q", "q was trained with --loss quantile, which vwlite solve does not minimise"),
        ("-i old --l1 1", "old: a model of Vowpal Wabbit does not store the loss"),
        ("-i c", "c was solved with --feature-weights: give their file again"),
    ],
)
def test_options_that_are_wrong(vwlite, at, options, words):
    Path("weights").write_text("a^x 2\n")
    vwlite("solve", "ok", "--l1", 0.05, "-m", "m", "--quiet")
    if "-i c" in options:
        vwlite("solve", "ok", "--l1", 0.05, "--feature-weights", "weights", "-m", "c", "--quiet")
    if "-i q" in options:
        vwlite("train", "ok", "--loss", "quantile", "-m", "q", "--quiet")
    if "-i soft" in options:
        Path("two").write_text("1 |a x\n2 |a y\n")
        vwlite("train", "two", "--oaa", 2, "--softmax", "--radius", 1, "-m", "soft", "--quiet")
    if "-i old" in options:
        vwlite("export", "m", "--to", "vw", "-o", "old")
    before = sorted(os.listdir())
    said = vwlite("solve", "ok", *options.split(), code=2)
    assert words in said.err and said.out == ""
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    ("data", "options", "code", "words"),
    [
        ("", "", 65, "no example with a label: the input has no examples"),
        (" |a x\n |a y\n", "", 65, "no example with a label: of 2 lines, 2 without a label"),
        ("1 0 |a x\n", "", 65, "no example with a label: of 1 lines, 1 blank or of importance 0"),
        ("1 |a x:y\n", "", 65, "d:1:8: "),
        ("1 |a x:y\n", "--on-error skip", 65, "no example with a label: of 1 lines, 1 bad"),
        ("2 |a x\n", "", 65, "d:1:1: "),
        ("-1 |a x\n", "--loss poisson", 65, "d:1:1: "),
        ("1 |a x\n-1 |a x y z\n", "-b 1", 65, "a feature of the data has the index of the intercept, 0: use"),
        ("1 |a x:3e38 x:3e38\n-1 |a y\n", "", 65, "sum to infinity"),
        ("3 |a x\n", "--oaa 2", 65, "d:1:1: "),
        ("1e200 |a x\n-1e200 |a y\n", "--loss squared", 65, "the objective is not finite; scale the features"),
        ("1e300 |a x\n0 |a y\n", "--loss poisson", 65, "a label is 1e+300, more than 1e+250"),
        ("1e250 |a x:1e38\n0 |a y\n", "--loss poisson --interactions aaaa", 65, "of zero are not finite; scale"),
        (None, "", 66, "No such file"),
        ("1 |a x\n", "-i d", 65, "d: not a model of vwlite: it is text"),
        ("1 |a x\n", "-i nothing", 66, "nothing: No such file"),
        ("1 |a x\n", "--feature-weights nothing", 66, "nothing: No such file"),
        ("1 |a x\n", "--feature-weights zero", 65, "zero:1: a feature of weight 0 has no penalty"),
        ("1 |a x\n", "-m nowhere/m", 73, "nowhere"),
    ],
)
def test_data_that_are_wrong(vwlite, at, data, options, code, words):
    if data is not None:
        Path("d").write_text(data)
    Path("zero").write_text("a^x 0\n")
    Path("m").write_bytes(b"old")
    more = [] if "-m" in options else ["-m", "m"]
    said = vwlite("solve", "d", "--l1", 0.1, *options.split(), *more, code=code).err
    assert words in said
    assert Path("m").read_bytes() == b"old"


@pytest.mark.parametrize("label", ["1", "3", "7", "0.1", "1e200"])
def test_rounding_makes_no_loss_negative(vwlite, at, label):
    """The deviance of a count that is met exactly is 0, and sums to less as numbers go."""
    Path("d").write_text(f"{label} |a x y z\n" * 3)
    for more in (["--l1", 0.1], ["--l1-path", 2], ["--radius", 1, "--l2", 1]):
        vwlite("solve", "d", "--loss", "poisson", *more, "-m", "m%d" if "--l1-path" in more else "m1", "--report", "r")
        results, solved = report_of(at / "r")["results"], read_model("m1").solved
        assert results["objective"] >= results["lower_bound"] >= 0
        assert solved["objective"] >= solved["lower_bound"] >= 0


def test_ratios_that_are_not_numbers_are_invalid(vwlite, at):
    """Of strengths that are far from those of the data."""
    Path("d").write_text("1 |a x:1e-38\n-1 |a y:1e-38\n1 |a z:1e-38 y:1e-38\n")
    for l1 in (1e300, 1e-320):
        vwlite("solve", "d", "--l1", l1, "--max-seconds", 1, "--report", "r")
        report = json.loads((at / "r").read_text(), parse_constant=pytest.fail)
        assert l1 < 1 or report["results"]["l1_over_l1_max"] is None
    Path("far").write_text("1 |a x:1e38\n-1 |a y:1e38\n")
    vwlite("solve", "far", "--l1", 1e-300, "--max-seconds", 0, "--report", "r")
    report = json.loads((at / "r").read_text(), parse_constant=pytest.fail)
    assert report["steps"][0]["violation"] is None


def test_steps_that_are_as_small_as_can_be_end(vwlite, at):
    """So far out that no step along the gradient is safe."""
    Path("d").write_text("1 |a x y\n-1 |a z\n")
    common = ("solve", "d", "--loss", "squared-hinge", "--radius", 1e100, "--max-seconds", 0.2)
    for solver in ("eg", "eg-pm", "projected-gradient", "accelerated"):
        vwlite(*common, "--l2", 1e300, "--solver", solver, "--quiet", code=None)


def test_bad_lines_are_left_out_and_kept_separately(vwlite, at):
    Path("d").write_text("1 |a x\nnonsense\n-1 |a y\n1 |a x:z\n-1 |a z\n")
    vwlite("solve", "d", "--l1", 0.05, "--on-error", "skip", "--rejects", "bad", "-m", "m", "--quiet", "--report", "r")
    assert Path("bad").read_text() == "nonsense\n1 |a x:z\n"
    assert report_of(at / "r")["data"]["bad_lines_skipped"] == 2
    Path("d").write_text("1 |a x\n-1 |a y\n-1 |a z\n")
    vwlite("solve", "d", "--l1", 0.05, "-m", "clean", "--quiet")
    assert Path("m").read_bytes() == Path("clean").read_bytes()
    Path("d").write_text("bad\n" * 4 + "1 |a x\n")
    vwlite("solve", "d", "--l1", 0.05, "--on-error", "skip", "--max-errors", 3, code=65)


@pytest.mark.parametrize(("loss", "label"), [("logistic", "1"), ("logistic", "-1"), ("poisson", "0")])
def test_labels_of_one_kind_have_no_finite_constant(vwlite, at, loss, label):
    Path("d").write_text(f"{label} |a x\n{label} |a y\n")
    said = vwlite("solve", "d", "--loss", loss, "--l1", 0.1, "-m", "m").err
    assert f"note: every label is {label}: the optimal intercept is infinite" in said
    model = read_model("m")
    assert len(model.keys) == 1 and 10 < abs(model.weights[0]) < 1000
    assert model.solved["objective"] < 1e-9


def test_a_class_that_nothing_is_of_has_no_finite_constant(vwlite, at):
    Path("d").write_text("1 |a x\n3 |a y\n1 |a x z\n")
    said = vwlite("solve", "d", "--oaa", 3, "--l1", 0.1, "-m", "m").err
    assert "note: class 2: all examples, or none, are of it: the optimal intercept is infinite" in said
    assert "class 1: " not in said and "warning" not in said


def test_without_a_penalty_the_loss_falls_as_far_as_numbers_go(vwlite, at):
    said = vwlite("solve", "ok", "--l1", 0, "-m", "m", "--tolerance", 1e-3).err
    assert "warning: " in said and "the gap is 100 %" in said  # as no bound is above 0 then
    assert read_model("m").solved["objective"] < 1e-6


def test_features_that_the_options_name_and_the_data_lack_are_noted(vwlite, at):
    said = vwlite("solve", "ok", "--l1", 1, "--ignore", "k").err
    assert "note: --ignore k: no namespace of the data begins with 'k'" in said


def test_a_cache_of_data_that_changed_is_made_again(vwlite, at):
    vwlite("solve", "ok", "--l1", 0.1, "--cache-file", "cache", "--quiet")
    Path("ok").write_text("1 |a x\n-1 |a y z\n")
    said = vwlite("solve", "ok", "--l1", 0.1, "--cache-file", "cache", "-m", "m").err
    assert "cache cache is not used: ok has changed" in said and "2 examples, " in said


# --- signals -----------------------------------------------------------------------------------

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_reading_leaves_the_old_model(at, number):
    Path("m").write_bytes(b"old")
    process = start("solve", "--l1", "0.1", "-m", "m", stderr=None)
    process.stdin.write(b"1 |a x\n")
    process.stdin.flush()
    time.sleep(0.5)
    process.send_signal(number)
    assert process.wait(PATIENT) == 128 + number
    assert Path("m").read_bytes() == b"old"


@pytest.mark.third
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_solving_saves_what_is_there(at, number):
    Path("d").write_text(Data(3, "logistic", n=4000, d=200).text())
    process = start("solve", "d", "--l1", "1e-9", "--tolerance", "0", "--solver", "cd", "-m", "m")
    for _ in range(8):  # some steps
        process.stderr.readline()
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENT)
    assert process.returncode == 128 + number, err
    assert b"interrupted by signal %d; the model so far was saved to m, -i continues from it" % number in err
    model = read_model("m")
    assert model.interrupted and model.solved["lower_bound"] < model.solved["objective"] < math.log(2)
    w, b = weights_of("m", 200)
    expected = Data(3, "logistic", n=4000, d=200).mean_loss("logistic", w, b) + 1e-9 * np.abs(w).sum()
    assert model.solved["objective"] == pytest.approx(expected, rel=1e-6)


def test_time_that_is_over_is_not_an_error(vwlite, at):
    Path("d").write_text(Data(3, "logistic", n=4000, d=200).text())
    begin = time.monotonic()
    said = vwlite("solve", "d", "--l1", 1e-9, "--tolerance", 0, "--solver", "cd", "--max-seconds", 0.3, "-m", "m").err
    assert "warning: --max-seconds 0.3 is over: the gap is " in said and time.monotonic() - begin < PATIENT
    assert read_model("m").solved["objective"] < math.log(2)
