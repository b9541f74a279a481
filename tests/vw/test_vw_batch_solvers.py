"""`vwlite vw --bfgs` and `--conjugate_gradient`: where they arrive, by which steps, and what they refuse.

The minimum is found separately, by Newton's method with dense matrices in double precision.
"""

import re
import struct
from array import array

import numpy as np
import pytest

from vwlite.core.learn.losses import Hinge, Loss, Quantile, Squared
from vwlite.core.vw.losses import Classic, Expectile, PoissonDeviance, SoftLogistic
from vwlite.model import read_model
from vwlite.vw.solvers.regularizer import Regularizer
from vwlite.vw.solvers.rows import ExampleMatrix, ratio
from vwlite.vw.solvers.weights import Weights

N, FEATURES, BITS = 60, 6, 7
CONSTANT = 11650396 % (1 << BITS)
KEYS = [*range(FEATURES), CONSTANT]
SOLVERS = [["--bfgs", "--termination", "0"], ["--bfgs", "--hessian_on", "--termination", "0"], ["--conjugate_gradient"]]


class Problem:
    """Examples with importances, and perhaps initial predictions; the features are numbers, each its own slot."""

    def __init__(self, loss: str, seed: int = 1, initial: bool = False) -> None:
        rng = np.random.default_rng(seed)
        self.loss = loss
        self.x = np.where(rng.random((N, FEATURES)) < 0.7, np.round(rng.normal(size=(N, FEATURES)) * 8) / 8, 0)
        self.importance = rng.choice([0.5, 1, 2], N)
        self.initial = rng.choice([0, 0.25, -0.5], N) if initial else np.zeros(N)
        score = self.x @ rng.normal(size=FEATURES) + 0.7 + rng.normal(size=N)
        self.y = np.where(score > 0, 1, -1) if loss == "logistic" else np.round(score * 8) / 8
        self.x = np.hstack([self.x, np.ones((N, 1))])

    def text(self) -> str:
        lines = []
        for x, y, c, b in zip(self.x, self.y, self.importance, self.initial, strict=True):
            features = " ".join(f"{j}:{v}" for j, v in enumerate(x[:-1]) if v)
            lines.append(f"{y} {c} {b} | {features}\n")
        return "".join(lines)

    def objective(self, w: np.ndarray, r: np.ndarray, u: np.ndarray) -> float:
        p = self.x @ w + self.initial
        loss = np.log1p(np.exp(-self.y * p)) if self.loss == "logistic" else (p - self.y) ** 2
        return float(self.importance @ loss + 0.5 * r @ (w - u) ** 2)

    def minimum(self, r: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Newton's method."""
        w = np.zeros(FEATURES + 1)
        for _ in range(50):
            p = self.x @ w + self.initial
            if self.loss == "logistic":
                s = 1 / (1 + np.exp(self.y * p))
                first, second = -self.y * s, s * (1 - s)
            else:
                first, second = 2 * (p - self.y), np.full(N, 2.0)
            gradient = self.x.T @ (self.importance * first) + r * (w - u)
            hessian = (self.x.T * (self.importance * second)) @ self.x + np.diag(r)
            w = w - np.linalg.solve(hessian, gradient)
        return w


@pytest.fixture
def solve(vwlite, tmp_path):
    """Solve a problem by the command; its weights and what it said."""

    def run(problem: Problem, *options: str, passes: int = 150) -> tuple[np.ndarray, str]:
        (tmp_path / "d").write_text(problem.text())
        done = vwlite(
            "vw", "-d", str(tmp_path / "d"), "-c", "-k", "-b", str(BITS), "--passes", str(passes), "--holdout_off",
            "--loss_function", problem.loss, "--predict_only_model", "--readable_model", str(tmp_path / "m"), *options,
            "--min_prediction", "-1000", "--max_prediction", "1000",
        )
        return weights_of((tmp_path / "m").read_text()), done.err

    return run


def weights_of(text: str) -> np.ndarray:
    found = dict(line.split(":") for line in text.partition("\n:0\n")[2].splitlines())
    assert set(map(int, found)) <= set(KEYS)
    return np.array([float(found.get(str(key), 0)) for key in KEYS])


# --- where they arrive ---------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("options", SOLVERS, ids=["bfgs", "bfgs with curvature", "conjugate gradient"])
@pytest.mark.parametrize("bias", [True, False], ids=["all regularised", "but the constant"])
def test_the_minimum_is_that_of_newton(solve, loss, options, bias):
    # Measured curvature is wrong where there are initial predictions, in Vowpal Wabbit too: steps become too short.
    problem = Problem(loss, initial=options == SOLVERS[0])
    r, u = np.full(FEATURES + 1, 0.5), np.zeros(FEATURES + 1)
    if not bias:
        r[-1] = 0
        options = [*options, "--no_bias_regularization"]
    w, _ = solve(problem, *options, "--l2", "0.5")
    best = problem.minimum(r, u)
    assert problem.objective(w, r, u) == pytest.approx(problem.objective(best, r, u), rel=1e-5)
    assert w == pytest.approx(best, abs=0.01)


def test_a_small_memory_arrives_as_well(solve):
    problem = Problem("logistic")
    r, u = np.full(FEATURES + 1, 0.5), np.zeros(FEATURES + 1)
    w, _ = solve(problem, "--bfgs", "--mem", "1", "--termination", "0", "--l2", "0.5", passes=300)
    assert w == pytest.approx(problem.minimum(r, u), abs=0.02)


def test_a_regularizer_pulls_to_where_another_run_ended(solve, vwlite, tmp_path):
    """The file has the weights, and twice the strength for every slot, as Vowpal Wabbit writes it."""
    first, second, file = Problem("squared", 1), Problem("squared", 2), str(tmp_path / "r")
    text = str(tmp_path / "t")
    (tmp_path / "d").write_text(first.text())
    common = ("vw", "-d", str(tmp_path / "d"), "-c", "-k", "-b", str(BITS), "--passes", "99", "--predict_only_model")
    done = vwlite(*common, "--bfgs", "--l2", "0.5", "--output_feature_regularizer_binary", file)
    assert "Making holdout_set_off=true since output regularizer specified" in done.err
    vwlite(*common, "--bfgs", "--l2", "0.5", "--output_feature_regularizer_text", text)
    entries = dict(line.split(":") for line in (tmp_path / "t").read_text().partition("\n:1\n")[2].splitlines())
    assert {entries[str(2 * j)] for j in range(1 << BITS)} == {"1"}
    u = np.array([float(entries[str(2 * key + 1)]) for key in KEYS])
    assert u == pytest.approx(first.minimum(np.full(FEATURES + 1, 0.5), np.zeros(FEATURES + 1)), abs=0.05)
    w, _ = solve(second, "--bfgs", "--input_feature_regularizer", file, "--termination", "0")
    assert w == pytest.approx(second.minimum(np.ones(FEATURES + 1), u), abs=0.01)


def test_a_regularizer_is_not_a_model(vwlite, solve, tmp_path):
    (tmp_path / "d").write_text("1 | 1\n-1 | 2\n" * 9)
    common = ("vw", "-d", str(tmp_path / "d"), "-c", "-k", "--passes", "50", "--predict_only_model", "-b", "4")
    vwlite(*common, "--bfgs", "--l2", "1", "--output_feature_regularizer_binary", str(tmp_path / "r"))
    assert "it is a regularizer" in vwlite(*common, "-i", str(tmp_path / "r"), code=1).out
    vwlite(*common, "--bfgs", "--l2", "1", "-f", str(tmp_path / "m"))
    refused = vwlite(*common, "--input_feature_regularizer", str(tmp_path / "m"), code=1)
    assert "it is a model, not a regularizer" in refused.out


# --- by which steps ------------------------------------------------------------------------------


def numbers(row: str) -> list[float]:
    return [float(x) for x in row.split()]


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_first_row_holds_the_derivatives_at_zero(solve, loss):
    """The loss, the gradient's square, and curvature along the first direction, all by finite differences."""
    problem = Problem(loss)
    r, u = np.full(FEATURES + 1, 0.5), np.zeros(FEATURES + 1)
    _, said = solve(problem, "--bfgs", "--l2", "0.5", passes=2)
    row = numbers(next(line for line in said.splitlines() if line.startswith(" 1 ")))
    total, h = problem.importance.sum(), 1e-4

    def f(w: np.ndarray) -> float:
        return problem.objective(w, r, u)

    at = np.zeros(FEATURES + 1)
    steps = np.eye(FEATURES + 1) * h
    gradient = np.array([(f(at + step) - f(at - step)) / (2 * h) for step in steps])
    second = np.array([(f(at + step) - 2 * f(at) + f(at - step)) / h**2 for step in steps])
    d = -gradient / second
    curvature = (f(h * d) - 2 * f(at) + f(-h * d)) / h**2
    expected = [1, f(at) / total, gradient @ gradient / total**2, gradient @ (gradient / second) / total]
    expected += [curvature / total, d @ d, -(gradient @ d) / curvature]
    assert row == pytest.approx(expected, rel=1e-4, abs=2e-5)


def test_a_step_that_goes_too_far_is_halved(vwlite, tmp_path):
    # The hinge's second derivative is 0, so the first steps are far too long.
    (tmp_path / "d").write_text(Problem("logistic").text())
    done = vwlite(
        "vw", "-d", str(tmp_path / "d"), "-c", "-k", "--passes", "12", "--bfgs", "--l2", "0.01", "--holdout_off",
        "--loss_function", "hinge",
    )
    halved = [line for line in done.err.splitlines() if "revise x 0.5" in line]
    steps = [float(line.split()[-1]) for line in halved]
    assert steps and all(step in (0.5, 0.25, 0.125, 0.0625, 0.03125) or step < 0.02 for step in steps)


def test_two_loop_recursion_are_the_bfgs_formula():
    """H <- (I - rho s y') H (I - rho y s') + rho s s', from the scaled diagonal; d = -H g."""
    rng = np.random.default_rng(3)
    n, m = 8, 3
    a = rng.normal(size=(n, n))
    a = a @ a.T + np.eye(n)
    zeros = np.zeros(n, np.float32)
    weights = Weights(rng.normal(size=n).astype(np.float32), np.full(n, 0.5, np.float32), zeros.copy(), m)
    weights.g[:] = a @ weights.w
    weights.h[:] = 1
    weights.start()
    pairs = []
    for _ in range(6):
        w, g = weights.old_w.astype(float), weights.old_g.astype(float)
        weights.step(0.1)
        weights.g[:] = a @ weights.w.astype(float)
        now = weights.g.astype(float)
        pairs = [*pairs, (weights.w - w, now - g)][-m:]
        s, y = pairs[-1]
        h = np.diag(weights.h.astype(float)) * (s @ y) / (y * weights.h @ y)
        for s, y in pairs:
            v = np.eye(n) - np.outer(y, s) / (s @ y)
            h = v.T @ h @ v + np.outer(s, s) / (s @ y)
        weights.two_loop_recursion()
        assert weights.d == pytest.approx(-h @ now, rel=2e-3, abs=2e-3)


LOSSES = [Squared(), Classic(), Expectile(0.2), SoftLogistic(), SoftLogistic(0, 2), Hinge(), Quantile(0.3)]


@pytest.mark.parametrize("loss", [*LOSSES, PoissonDeviance()], ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("y", [1.0, 0.0, -1.0])
def test_second_derivatives_by_finite_differences(loss: Loss, y: float):
    if isinstance(loss, SoftLogistic | PoissonDeviance) and y < 0:
        y = 2.0
    h = 1e-5
    for p in np.arange(-4, 4, 0.093):
        if abs(p - y) < 0.01 or abs(p * y - 1) < 0.01:  # kinks
            continue
        slope = (loss.derivative(p + h, y) - loss.derivative(p - h, y)) / (2 * h)
        assert loss.second_derivative(p, y) == pytest.approx(slope, rel=1e-5, abs=1e-8)


def test_losses_of_many_are_those_of_each():
    loss, p, y = SoftLogistic(), np.array([0.5, -2, 30]), np.array([1.0, 0, -1])
    found = np.empty((3, 3))
    loss.evaluate_each(p, y, *found)
    for i in range(3):
        each = loss(p[i], y[i]), loss.derivative(p[i], y[i]), loss.second_derivative(p[i], y[i])
        assert tuple(found[:, i]) == each
    with pytest.raises(ValueError, match="lengths"):
        loss.evaluate_each(p, y[:2], *found)


def test_rows_are_a_matrix():
    rows = ExampleMatrix()
    rows.add([7, 3, 7], [1.0, 2.0, 0.5], 0.25)
    rows.add([], [], -1.0)
    rows.add([9], [4.0], 0.0)
    assert list(rows.freeze(np.array([5], np.uint32))) == [3, 5, 7, 9]
    v = np.array([1, 10, 100, 1000], np.float32)
    assert list(rows.times(v)) == [152.25, -1, 4000]
    g = np.zeros(4, np.float32)
    rows.add_to(g, np.array([1, 2, 3], np.float32))
    assert list(g) == [2, 0, 1.5, 12]
    h = np.zeros(4, np.float32)
    rows.add_to(h, np.array([1, 2, 3], np.float32), 2)
    assert list(h) == [4, 0, 1.25, 48]


def test_the_preconditioner_is_bounded():
    zeros = np.zeros(3, np.float32)
    weights = Weights(zeros, zeros, zeros, 5)
    weights.h[:] = [100, 1e-6, 0]
    weights.invert()
    assert list(weights.h) == pytest.approx([0.01, 10000 / 100, 0])


def test_a_ratio_is_that_of_processors():
    assert ratio(1, 2) == 0.5 and ratio(-1, 0.0) == -np.inf and np.isnan(ratio(0, 0)) and np.isnan(ratio(np.nan, 0))


def test_a_regularizer_file_may_leave_out_zeros():
    regularizer = Regularizer(9)
    regularizer.take(array("Q", [2, 7]), array("f", [3, 5]))
    r, u = regularizer.over(np.array([0, 1, 3], np.uint32))
    assert list(r) == [0, 3, 0] and list(u) == [0, 0, 5]


# --- models and passes ---------------------------------------------------------------------------


def prepare(tmp_path, loss: str = "squared") -> tuple[Problem, list[str]]:
    problem = Problem(loss, initial=True)
    (tmp_path / "d").write_text(problem.text())
    data = ["vw", "-d", str(tmp_path / "d"), "-c", "-k", "-b", str(BITS), "--l2", "0.5", "--predict_only_model"]
    return problem, data


def test_a_model_predicts_what_its_weights_say_and_can_be_gone_on_from(vwlite, tmp_path):
    problem, data = prepare(tmp_path)
    model, text = str(tmp_path / "m"), str(tmp_path / "t")
    vwlite(*data, "--bfgs", "--passes", "30", "--holdout_off", "-f", model, "--readable_model", text)
    w = weights_of((tmp_path / "t").read_text())
    vwlite(*data, "-t", "-i", model, "-r", str(tmp_path / "p"))
    predicted = np.array([float(line) for line in (tmp_path / "p").read_text().split()])
    assert predicted == pytest.approx(problem.x @ w + problem.initial, abs=1e-4)
    done = vwlite(*data, "-i", model, "--passes", "2", "--holdout_off")
    row = numbers(next(line for line in done.err.splitlines() if line.startswith(" 1 ")))
    r, u = np.full(FEATURES + 1, 0.5), np.zeros(FEATURES + 1)
    assert row[1] == pytest.approx(problem.objective(w, r, u) / problem.importance.sum(), rel=1e-3)
    assert read_model(model).algorithm == "gd"


def test_passes_over_notes_are_those_over_examples(vwlite, tmp_path):
    """-p makes every pass go through the examples; without it, later passes are made from notes."""
    _, data = prepare(tmp_path, "logistic")
    common = [*data, "--bfgs", "--hessian_on", "--passes", "15", "--loss_function", "logistic", "-f"]
    quick = vwlite(*common, str(tmp_path / "m"))
    slow = vwlite(*common, str(tmp_path / "n"), "-p", str(tmp_path / "p"))
    printed = [[line for line in done.err.splitlines() if " = " not in line] for done in (quick, slow)]
    assert printed[0] == printed[1] and len(printed[0]) > 8
    sums = [re.findall(r"^(?:weighted|total|average|best|number|passes).*", done.err, re.M) for done in (quick, slow)]
    assert sums[0] == sums[1] and len(sums[0]) == 8
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


def test_the_model_kept_is_that_of_the_best_pass(vwlite, tmp_path):
    _, data = prepare(tmp_path)
    common = [*data, "--bfgs", "--passes", "40", "--termination", "0", "--early_terminate", "2", "-f"]
    done = vwlite(*common, str(tmp_path / "m"), "--save_per_pass")
    assert "Early termination reached w.r.t. holdout set error" in done.err
    passes = int(re.search(r"passes used = (\d+)", done.err)[1])
    same = [i for i in range(1, passes + 1) if (tmp_path / f"m.{i}").read_bytes() == (tmp_path / "m").read_bytes()]
    assert same == [passes - 2]


def test_several_classes(vwlite, tmp_path):
    problem, data = prepare(tmp_path)
    lines = [f"{1 + (y > 0) + (y > 1)} |{line.split('|')[1]}" for y, line in zip(
        problem.y, problem.text().splitlines(True), strict=True)]
    (tmp_path / "d").write_text("".join(lines))
    done = vwlite(*data, "--bfgs", "--oaa", "3", "--passes", "20", "--holdout_off", "-f", str(tmp_path / "m"))
    assert "Enabled learners: bfgs, scorer-identity, oaa" in done.err
    done = vwlite(*data, "-t", "-i", str(tmp_path / "m"))
    assert float(re.search(r"average loss = (.*)", done.err)[1]) < 0.5


# --- what they refuse ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, words",
    [
        (["--passes", "1"], "At least 2 passes must be used for BFGS"),
        (["--passes", "3", "--conjugate_gradient"], "'conjugate_gradient' and 'bfgs' cannot be used together."),
        (["--passes", "3", "-f", "m"], "model save failed. Error Details: BFGS does not support models"),
        (["--passes", "3", "--readable_model", "m"], "Only models produced and consumed with --predict_only_model"),
        (["--passes", "3", "--adaptive"], "unrecognised option '--adaptive'"),
        (["--passes", "3", "--ftrl"], "unrecognised option '--ftrl'"),
    ],
)
def test_what_vowpal_wabbit_refuses_is_refused_in_its_words(vwlite, tmp_path, options, words):
    (tmp_path / "d").write_text("1 | a\n")
    done = vwlite("vw", "-d", str(tmp_path / "d"), "-c", "-k", "--bfgs", *options, code=1)
    assert done.out.splitlines()[-1].startswith("[critical] vw (") and words in done.out
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "options",
    [["--lrq", "ab2"], ["--boosting", "3"], ["--bootstrap", "3"], ["--confidence"], ["--mem", "-1"]],
)
def test_what_has_no_meaning_in_batches_is_refused(vwlite, tmp_path, options):
    (tmp_path / "d").write_text("1 | a\n")
    done = vwlite("vw", "-d", str(tmp_path / "d"), "-c", "-k", "--bfgs", "--passes", "2", *options, code=2)
    assert options[0] in done.err


def test_a_model_is_read_only_as_what_it_is(vwlite, tmp_path):
    _, data = prepare(tmp_path)
    vwlite(*data, "--bfgs", "--passes", "3", "-f", str(tmp_path / "m"))
    done = vwlite("vw", "-t", "-d", str(tmp_path / "d"), "-i", str(tmp_path / "m"), code=1)
    assert "model load failed. Error Details: BFGS does not support models with save_resume data" in done.out
    cut = (tmp_path / "m").read_bytes()
    (tmp_path / "m").write_bytes(cut + struct.pack("<I", 1))
    assert "bad model file" in vwlite(*data, "-t", "-i", str(tmp_path / "m"), code=1).out


def test_nothing_to_learn_ends_at_once(vwlite, tmp_path):
    (tmp_path / "d").write_text("0 | a b\n0 | b\n")
    done = vwlite("vw", "-d", str(tmp_path / "d"), "-c", "-k", "--bfgs", "--passes", "9", "--holdout_off")
    assert "[info] Derivative 0 detected." in done.out and "passes used = 2" in done.err
