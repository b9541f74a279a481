"""`vwlite certify`: no lower bound is above an optimum, whichever model it comes from."""

import json
import re
from array import array
from pathlib import Path

import numpy as np
import pytest
from algorithm_options import UNSEEN_WEIGHS
from crafted_models import put_together, split_into_parts
from running import GD, shell
from streams import CONSTANT
from text_problems import SMOOTH, Data, weights_of

from vwlite.algorithms.table import ALGORITHMS
from vwlite.hashing import feature_hash
from vwlite.model import read_model

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "data/sources.train.vw"
DIGITS = ROOT / "data/digits.train.libsvm"


def certified(vwlite, *arguments) -> dict:
    """The results of a report, after it was seen that those printed are the same."""
    out = vwlite("certify", *arguments, "--report", "report").out
    results = json.loads(Path("report").read_text())["results"]
    shown = dict(re.findall(r"^(.*?) = (\S+)", out, re.M))
    for name in ("objective", "lower_bound"):
        assert float(shown[name.replace("_", " ")]) == pytest.approx(results[name], rel=1e-9)
    return results


# Algorithms whose strength is that of a problem as it is; options of training, and of certifying.
MODELS = {
    **{
        name: (["--l1", "0.1", *([] if row.defaults else ["-l", "0.01"])], [])
        for name, row in ALGORITHMS.items()
        if row.solves == "l1"
    },
    "gd": ([], ["--l1", "0.1"]),
    "sgd": (["-l", "0.01"], ["--l1", "0.1"]),
    "ftrl": (["--l1", "6"], ["--l1", "0.1"]),
}


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("algorithm", MODELS)
def test_the_objective_is_that_of_the_model_and_the_bound_is_one(vwlite, at, algorithm, loss):
    data, (train, judge) = Data(1, loss), MODELS[algorithm]
    vwlite("train", loss, "--loss", loss, "--algorithm", algorithm, *train, "-m", "m", "--quiet")
    w, b = weights_of("m")
    found = certified(vwlite, "-m", "m", loss, *judge)
    assert found["l1"] == 0.1 and found["loss"] == loss
    assert found["objective"] == pytest.approx(data.mean_loss(loss, w, b) + 0.1 * np.abs(w).sum(), rel=1e-9)
    vwlite("solve", loss, "--loss", loss, "--l1", 0.1, "--tolerance", 0, "-m", "s", "--quiet")
    optimum = read_model("s").solved["objective"]
    assert 0 <= found["lower_bound"] <= optimum * (1 + 1e-12) <= found["objective"] * (1 + 1e-9)
    assert found["gap"] == pytest.approx(found["objective"] - found["lower_bound"])
    against = certified(vwlite, "-m", "m", loss, *judge, "--against", "s")
    assert against["lower_bound"] == pytest.approx(optimum, rel=1e-9)
    assert against["objective_of_against"] == pytest.approx(optimum, rel=1e-12)


@pytest.mark.parametrize("algorithm", ["truncated-gradient", "adagrad", "adagrad-rda"])
def test_both_penalties_are_the_model_s(vwlite, at, algorithm):
    data, rate = Data(1, "logistic"), ["-l", 0.01] if algorithm == "truncated-gradient" else []
    both = ["--l1", 0.05, "--l2", 0.2]
    vwlite("train", "logistic", "--loss", "logistic", "--algorithm", algorithm, *both, *rate, "-m", "m", "--quiet")
    w, b = weights_of("m")
    found = certified(vwlite, "-m", "m", "logistic")
    expected = data.mean_loss("logistic", w, b) + 0.05 * np.abs(w).sum() + 0.1 * w @ w
    assert found["l2"] == 0.2 and found["objective"] == pytest.approx(expected, rel=1e-9)
    vwlite("solve", "logistic", *both, "--tolerance", 0, "-m", "s", "--quiet")
    against = certified(vwlite, "-m", "m", "logistic", "--against", "s")
    assert against["lower_bound"] == pytest.approx(read_model("s").solved["objective"], rel=1e-9)


@pytest.mark.parametrize("algorithm", [name for name, row in ALGORITHMS.items() if row.solves == "radius"])
def test_a_ball_is_certified_by_its_radius(vwlite, at, algorithm):
    data = Data(1, "logistic")
    features = ["--features", 7] if ALGORITHMS[algorithm].all_keys else []
    vwlite("train", "logistic", "--loss", "logistic", "--algorithm", algorithm, "--radius", 1.5, *features, "-l", 0.1,
           "--passes", 3, "--holdout-off", "-m", "m", "--quiet")
    w, b = weights_of("m")
    found = certified(vwlite, "-m", "m", "logistic")
    assert found["radius"] == 1.5 and found["objective"] == pytest.approx(data.mean_loss("logistic", w, b), rel=1e-9)
    # The bound is <= the loss of every model in the set: of this one, and of some drawn ones.
    rng = np.random.default_rng(1)
    for _ in range(200):
        other = rng.dirichlet(np.full(7, 0.2)) * 1.5
        if algorithm not in UNSEEN_WEIGHS:
            other *= rng.choice([-1, 1], 7) * rng.random()
        assert found["lower_bound"] <= data.mean_loss("logistic", other, rng.normal())
    assert found["lower_bound"] <= found["objective"]


def test_a_solved_model_is_as_near_as_it_said(vwlite, at):
    vwlite("solve", SOURCES, "--l1-of-max", 0.05, "-m", "s", "--quiet")
    solved = read_model("s").solved
    found = certified(vwlite, "-m", "s", SOURCES, "--against", "s")
    assert found["objective"] == pytest.approx(solved["objective"], rel=1e-12)
    assert found["lower_bound"] == pytest.approx(solved["lower_bound"], rel=1e-12)
    assert found["l1"] == read_model("s").options["l1"]


def test_the_bound_of_another_run_holds_only_for_the_same_data_and_strength(vwlite, at):
    vwlite("solve", SOURCES, "--l1-of-max", 0.05, "-m", "s", "--quiet")
    l1 = read_model("s").options["l1"]
    note = "note: s was solved for other data or another regularization strength: only its weights are used"
    assert note not in vwlite("certify", "-m", "s", SOURCES, "--against", "s").err
    other = vwlite("certify", "-m", "s", SOURCES, "--against", "s", "--l1", l1 / 2)
    assert note in other.err
    vwlite("solve", SOURCES, "--l1", l1 / 2, "--tolerance", 1e-6, "-m", "t", "--quiet")
    bound = float(re.search(r"^lower bound = (\S+)", other.out, re.M)[1])
    assert bound <= read_model("t").solved["objective"]
    assert note in vwlite("certify", "-m", "s", ROOT / "data/sources.test.vw", "--against", "s").err


def test_features_that_the_data_lack_count_in_the_penalty(vwlite, at):
    Path("d").write_text("1 |a x:1 y:2\n-1 |a y:1 z\n")
    vwlite("train", "ok", "--loss", "logistic", "--algorithm", "sgd", "-m", "m", "--quiet")
    model = read_model("m")
    weights = {k: w for k, w in zip(model.keys, model.weights, strict=True) if k != 11650396}
    norm = sum(map(abs, weights.values()))
    assert certified(vwlite, "-m", "m", "d", "--l1", 0)["sum_of_weights"] == pytest.approx(norm)
    plain, more = (certified(vwlite, "-m", "m", "d", "--l1", l1)["objective"] for l1 in (0, 0.5))
    assert more - plain == pytest.approx(0.5 * norm)
    squares = certified(vwlite, "-m", "m", "d", "--l2", 0.5)["objective"]
    assert squares - plain == pytest.approx(0.25 * sum(w * w for w in weights.values()))
    Path("c").write_text("a^x 3\nb^u 2\n")
    weighted = certified(vwlite, "-m", "m", "d", "--l1", 0.5, "--feature-weights", "c")["objective"]
    (x, *_), (u, *_) = (vwlite("weights", "m", "--feature", name).out.split()[1:] for name in ("a^x", "b^u"))
    assert weighted - more == pytest.approx(0.5 * (2 * abs(float(x)) + abs(float(u))))


def test_weights_of_features_are_named_once_more(vwlite, at):
    Path("c").write_text("a^x 3\nb^u 2\n")
    vwlite("solve", "ok", "--l1", 0.02, "--feature-weights", "c", "--tolerance", 1e-9, "-m", "m", "--quiet")
    said = vwlite("certify", "-m", "m", "ok", code=2).err
    assert "m was made with --feature-weights: give their file again" in said
    found = certified(vwlite, "-m", "m", "ok", "--feature-weights", "c", "--against", "m")
    assert found["relative_gap"] < 1e-8


def test_classes_are_summed(vwlite, at):
    vwlite("solve", DIGITS, "--oaa", 10, "--l1", 0.02, "-m", "s", "--quiet")
    found = certified(vwlite, "-m", "s", DIGITS, "--against", "s")
    assert found["objective"] == pytest.approx(read_model("s").solved["objective"], rel=1e-12)
    assert found["lower_bound"] == pytest.approx(read_model("s").solved["lower_bound"], rel=1e-9)
    online = ["--oaa", 10, "--loss", "logistic", "--algorithm", "adagrad-rda", "--l1", 0.02]
    vwlite("train", DIGITS, *online, "-m", "m", "--quiet")
    worse = certified(vwlite, "-m", "m", DIGITS, "--against", "s")
    assert worse["objective"] > found["objective"]
    assert worse["lower_bound"] == pytest.approx(found["lower_bound"], rel=1e-9)


class Classes:
    """Drawn examples of three classes, as a matrix and as text."""

    def __init__(self) -> None:
        rng = np.random.default_rng(4)
        self.x = rng.normal(size=(60, 3)).astype(np.float32).astype(float)
        self.h = rng.choice([0.5, 1.0, 2.0], 60)
        self.y = (self.x @ rng.normal(size=(3, 3)) + rng.normal(size=(60, 3)) / 3).argmax(axis=1)

    def text(self) -> str:
        rows = (" ".join(f"{j + 1}:{v:.9g}" for j, v in enumerate(row)) for row in self.x)
        return "".join(f"{'abc'[k]} {h:g} | {row}\n" for k, h, row in zip(self.y, self.h, rows, strict=True))

    def of(self, path: str) -> tuple[np.ndarray, float]:
        """The weights of a model [features, classes], and its mean loss."""
        model, w = read_model(path), np.zeros((4, 3))
        for key, weights in zip(model.keys, np.reshape(model.weights, (-1, 3)), strict=True):
            w[3 if key == CONSTANT else key - 1] = weights
        scores = self.x @ w[:3] + w[3]
        losses = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(60), self.y]
        return w[:3], float(self.h @ losses / self.h.sum())


TRAINED = {
    "sgd": ["-l", "0.3"],
    "sgd, no constant": ["-l", "0.3", "--no-constant"],
    "l1-ball": ["--radius", "1", "-l", "0.3"],
    "adagrad": ["--l1", "0.01"],
    "eg": ["--radius", "1"],
}


@pytest.mark.parametrize("name", TRAINED)
@pytest.mark.parametrize("radius", [0.3, 1, 30])
def test_several_classes_with_one_loss(vwlite, at, name, radius):
    data = Classes()
    Path("d").write_text(data.text())
    several = ["--classes", "a,b,c", "--softmax"]
    solving = ["--no-constant"] if "no" in name else ["--nonnegative"] if name == "eg" else []
    vwlite("train", "d", *several, "--algorithm", name.split(",")[0], *TRAINED[name], "-m", "m", "--quiet")
    w, loss = data.of("m")
    found = certified(vwlite, "-m", "m", "d", "--radius", radius)
    norms = np.abs(w).sum(axis=0)
    assert found["objective"] == pytest.approx(loss, rel=1e-9)
    assert found["sum_of_weights"] == pytest.approx(norms.sum())
    assert found["nonzero_weights"] == np.count_nonzero(w)
    notes = json.loads(Path("report").read_text())["notes"]
    assert any("m is outside of this ball" in note for note in notes) == (norms.max() > radius * (1 + 1e-6))
    vwlite("solve", "d", *several, *solving, "--radius", radius, "--tolerance", 1e-7, "-m", "s", "--quiet")
    solved = read_model("s").solved
    assert 0 <= found["lower_bound"] <= solved["objective"]
    assert norms.max() > radius or solved["lower_bound"] <= loss
    against = certified(vwlite, "-m", "m", "d", "--radius", radius, "--against", "s")
    assert against["objective_of_against"] == pytest.approx(solved["objective"], rel=1e-12)
    assert against["objective"] == found["objective"]
    assert against["lower_bound"] == pytest.approx(solved["objective"], rel=1e-5)
    if name == "eg":
        vwlite("solve", "d", *several, "--radius", radius, "-m", "signed", "--quiet")
        said = vwlite("certify", "-m", "m", "d", "--against", "signed", code=65).err
        assert said == "signed has weights below 0, which the problem of m excludes: they are not compared\n"
    own = certified(vwlite, "-m", "s", "d", "--against", "s")
    assert own["radius"] == radius and own["lower_bound"] == solved["lower_bound"]
    assert own["relative_gap"] <= 1e-7 and own["objective"] == pytest.approx(solved["objective"], rel=1e-12)


def test_features_and_classes_that_the_data_lack(vwlite, at):
    Path("d").write_text("red |a x\ngreen |a y\nred |a x z\nblue |a z\n" * 3)
    Path("c").write_text("a^x 2\n")
    common = ("--softmax", "--radius", 2, "--quiet", "--feature-weights", "c", "--l2", 0.1)
    vwlite("solve", "d", "--oaa", 5, "--classes", "auto", *common, "-m", "m")
    Path("less").write_text("red |a x\ngreen |a y\nred |a x\n")
    typed = ("-m", "m", "--feature-weights", "c")
    whole = certified(vwlite, *typed, "d")
    assert whole["objective"] == pytest.approx(read_model("m").solved["objective"], rel=1e-12)
    found = certified(vwlite, *typed, "less")
    assert found["sum_of_weights"] == pytest.approx(whole["sum_of_weights"])
    assert 0 <= found["lower_bound"] <= found["objective"]
    weights = np.reshape(read_model("m").weights, (-1, 5))
    keys = list(read_model("m").keys)
    scores = weights[keys.index(CONSTANT)][:3] + np.zeros((3, 3))
    for i, name in enumerate("xyx"):
        scores[i] += weights[keys.index(feature_hash(name.encode(), b"a"))][:3]
    loss = np.mean(np.log(np.exp(scores).sum(axis=1)) - scores[[0, 1, 2], [0, 1, 0]])
    squares = (np.delete(weights, keys.index(CONSTANT), axis=0) ** 2).sum()
    assert found["objective"] == pytest.approx(loss + 0.05 * squares, rel=1e-6)
    Path("bare").write_text("red |\ngreen |\nred |\n")
    vwlite("solve", "bare", "--classes", "red,green", "--softmax", "--radius", 1, "--tolerance", 1e-6, "-m", "b")
    bare = certified(vwlite, "-m", "b", "bare")
    assert bare["objective"] == pytest.approx(-(2 * np.log(2 / 3) + np.log(1 / 3)) / 3, rel=1e-5)


def test_models_of_vowpal_wabbit_say_no_loss(vwlite, at):
    vwlite("vw", "-d", "ok", "--loss_function", "logistic", "-f", "old")
    assert "give it, such as --loss logistic" in vwlite("certify", "-m", "old", "ok", "--l1", 0.1, code=2).err
    vwlite("export", "old", "--to", "vw", "-o", "same")
    logistic = ["ok", "--l1", 0.1, "--loss", "logistic"]
    found = certified(vwlite, "-m", "old", *logistic)
    assert certified(vwlite, "-m", "same", *logistic)["objective"] == found["objective"]
    vwlite("solve", "ok", "-b", 18, "--l1", 0.1, "--tolerance", 0, "-m", "s", "--quiet")
    optimum = read_model("s").solved["objective"]
    against = certified(vwlite, "-m", "old", *logistic, "--against", "s")
    assert against["lower_bound"] == pytest.approx(optimum) and found["objective"] >= optimum
    of_quantiles = certified(vwlite, "-m", "old", "ok", "--l1", 0.1, "--loss", "quantile", "--quantile-tau", 0.3)
    assert of_quantiles["objective"] > 0


@pytest.mark.parametrize("loss", ["hinge", "quantile"])
def test_losses_with_kinks_are_said_to_leave_a_gap(vwlite, at, loss):
    vwlite("train", "hinge", "--loss", loss, "--algorithm", "sgd", "-m", "m", "--quiet")
    done = vwlite("certify", "-m", "m", "hinge", "--l1", 0.01)
    assert f"note: with --loss {loss} the bound is below the objective even at the optimum" in done.err


def test_a_model_outside_of_the_ball_is_said_to_be(vwlite, at):
    online = ["--loss", "logistic", "--algorithm", "sgd", "--passes", 50, "--holdout-off"]
    vwlite("train", "ok", *online, "-m", "m", "--quiet")
    norm = certified(vwlite, "-m", "m", "ok", "--l1", 0)["sum_of_weights"]
    said = "is outside of this ball: the sum of its |weights| is"
    assert said in vwlite("certify", "-m", "m", "ok", "--radius", norm / 2).err
    assert said not in vwlite("certify", "-m", "m", "ok", "--radius", norm * 1.001).err


def test_a_bound_is_never_below_zero_and_says_when_it_says_nothing(vwlite, at):
    vwlite("train", "squared", "--algorithm", "sgd", "-l", 0.5, "--power-t", 0, "-m", "m", "--quiet")
    done = vwlite("certify", "-m", "m", "squared", "--l1", 0)
    assert "\nlower bound = 0\n" in done.out
    assert "note: the bound is trivial: no objective is below 0; try --against a model of vwlite solve" in done.err


@pytest.mark.parametrize(("loss", "label"), [("logistic", "1"), ("logistic", "-1"), ("poisson", "0")])
def test_labels_of_one_kind_leave_no_bound(vwlite, at, loss, label):
    Path("d").write_text(f"{label} |a x\n{label} |a y\n")
    vwlite("solve", loss, "--loss", loss, "--l1", 0.01, "-m", "m", "--quiet")
    for more in ([], ["--radius", 1], ["--l2", 1]):
        done = vwlite("certify", "-m", "m", "d", *more)
        assert "\nlower bound = 0\n" in done.out and "(100 %)" in done.out
        assert done.err.endswith(f"note: every label is {label}: the minimum is 0, at an infinite intercept\n")
    Path("several").write_text("a |x\na |y\na |x y\n")
    vwlite("solve", "several", "--classes", "a,b", "--l1", 0.01, "-m", "c", "--quiet")
    said = vwlite("certify", "-m", "c", "several").err
    assert "note: class a: all examples, or none, are of it: the minimum is 0" in said
    assert "note: class b: all examples" in said


def test_threads_caches_and_pipes_change_no_word(vwlite, at):
    vwlite("solve", SOURCES, "--l1-of-max", 0.05, "-m", "s", "--quiet")
    expected = vwlite("certify", "-m", "s", SOURCES).out
    for more in (["--threads", 1], ["--threads", 4], ["--cache-file", "c"], ["--cache-file", "c"]):
        assert vwlite("certify", "-m", "s", SOURCES, *more).out == expected
    assert shell(f"cat {SOURCES} | vwlite certify -m {at}/s").out == expected


def test_an_objective_that_is_not_finite_is_invalid(vwlite, at):
    vwlite("solve", "squared", "--loss", "squared", "--l1", 0.01, "-m", "m", "--quiet")
    parts = split_into_parts(Path("m").read_bytes())
    kind, shape, content = parts.arrays["weights"]
    parts.arrays["weights"] = (kind, shape, array("d", [1e300]).tobytes() + content[8:])
    Path("far").write_bytes(put_together(parts))
    said = vwlite("certify", "-m", "far", "squared", code=65).err
    assert said == "far: its objective on these data is not finite\n"
    assert said == vwlite("certify", "-m", "m", "squared", "--against", "far", code=65).err
    Path("others").write_text("1 | of another world\n")  # the weight costs 0.01 of it; its square, nothing
    found = certified(vwlite, "-m", "far", "others")
    assert found["objective"] == pytest.approx(1e298, rel=1e-9)
    assert found["nonzero_weights"] == np.count_nonzero(weights_of("far")[0])


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ("ok --l1 1", 2, "Missing option '-m'"),
        ("-m g ok", 2, "g: the regularization strength of a model of gd does not apply here: give --l1"),
        ("-m f ok", 2, "f: the regularization strength of a model of ftrl does not apply here"),
        ("-m th ok", 2, "th: the regularization strength of a model of truncated-gradient does not apply here"),
        ("-m few ok", 2, "few: the regularization strength of a model of ftrl does not apply here"),
        ("-m full ok", 2, "full: the regularization strength of a model of adagrad-full does not apply here"),
        ("-m g ok --l1 1 --radius 1", 2, "--l1 and --radius cannot be used together"),
        ("-m g ok --l1 -1", 2, "-1 is out of range"),
        ("-m g ok --l1 1 --loss squared", 2, "--loss squared contradicts the model g, which was trained with logistic"),
        ("-m g ok --l1 1 --quantile-tau 0.2", 2, "--quantile-tau is for a model of Vowpal Wabbit"),
        ("-m hu ok --l1 1", 2, "hu: no lower bound is known for --loss huber"),
        ("-m g ok --l1 1 --against sq", 2, "sq solves another problem than g: --loss differs"),
        ("-m g ok --l1 1 --against b", 2, "b solves another problem than g: --bits differs"),
        ("-m g ok --l1 1 --against ok", 65, "ok: not a model of vwlite"),
        ("-m g ok --l1 1 --against no", 66, "no: No such file"),
        ("-m g ok --l1 1 --against s --report s", 2, "--report s is the model of --against"),
        ("-m g ok --l1 1 --report g", 2, "--report g is the input model"),
        ("-m ok ok", 65, "ok: not a model of vwlite: it is text"),
        ("-m no ok", 66, "no: No such file"),
        ("-m g no --l1 1", 66, "no: No such file"),
        ("-m g bad --l1 1", 65, "bad:1:1: "),
        ("-m g none --l1 1", 65, "no example with a label: of 1 lines, 1 without a label"),
        ("-m soft classes --l1 1", 2, "soft: the lower bound of a model of --softmax needs a ball"),
        ("-m soft classes --l2 1", 2, "a ball for each class: give --radius"),
        ("-m soft one --radius 1", 65, "label '3': --oaa 2 takes whole numbers"),
    ],
)
def test_what_cannot_be_certified_gives_the_reason(vwlite, at, options, code, words):
    for name, text in (("bad", "7 |a x\n"), ("none", " |a x\n"), ("classes", "1 |a x\n2 |a y\n"),
                       ("one", "1 |a x\n3 |a y\n")):
        Path(name).write_text(text)
    logistic = ["--loss", "logistic", "--quiet"]
    vwlite("train", *GD, "ok", *logistic, "-m", "g")
    makes = {
        "f": ["train", "ok", *logistic, "--algorithm", "ftrl"],
        "th": ["train", "ok", *logistic, "--algorithm", "truncated-gradient", "--l1", 1, "--threshold", 1],
        "few": ["train", "ok", *logistic, "--algorithm", "ftrl", "--nonzeros", 2],
        "full": ["train", "ok", *logistic, "--algorithm", "adagrad-full", "--l1", 1, "--radius", 1],
        "hu": ["train", "ok", "--loss", "huber", "--quiet"],
        "sq": ["solve", "ok", "--loss", "squared", "--l1", 1, "--quiet"],
        "b": ["solve", "ok", "--l1", 1, "--quiet", "-b", 20],
        "s": ["solve", "ok", "--l1", 1, "--quiet"],
        "soft": ["train", "classes", "--oaa", 2, "--softmax", "--algorithm", "sgd", "--quiet"],
    }
    for name in set(options.split()) & set(makes):
        vwlite(*makes[name], "-m", name)
    done = vwlite("certify", *options.split(), code=code)
    assert words in done.err and done.out == ""
