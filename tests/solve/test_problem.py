"""Objective, violation and lower bounds of drawn problems, against the dense reference."""

from itertools import product

import batch
import numpy as np
import pytest
from batch_problems import LOSSES, PENALTIES, Drawn, draw, penalty_of, rows_of
from batches import Line

from vwlite.core.solve.columns import Columns
from vwlite.core.solve.problem import Problem

pytestmark = pytest.mark.pairwise("problem")


def norm(options: dict, w: np.ndarray) -> float:
    return float(np.abs(w) @ options.get("c", np.ones(len(w))))


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("name", PENALTIES)
@pytest.mark.parametrize("loss", [*LOSSES, "hinge"])
def test_what_is_said_of_any_weights_is_what_the_reference_says(loss, name, constant):
    drawn = draw(3, loss)
    options = penalty_of(drawn, name) | {"constant": constant, "l1": 0.05}
    problem, reference = drawn.problem(**options), drawn.reference(**options)
    rng = np.random.default_rng(4)
    for _ in range(5):
        w = rng.normal(0, 1, len(drawn.rows.keys)) * (rng.random(len(drawn.rows.keys)) < 0.5)
        w = np.clip(w, 0 if options.get("nonnegative") else -np.inf, options.get("box", np.inf))
        w = np.clip(w, -options.get("box", np.inf), None)
        b = float(rng.normal()) if constant else 0.0
        problem.set(w, b)
        problem.evaluate()
        assert (list(problem.w), problem.b) == (w.tolist(), b)
        assert problem.objective == pytest.approx(reference.objective(w, b), rel=1e-12)
        assert problem.violation == pytest.approx(reference.violations(w, b).max(), rel=1e-10)
        assert problem.nonzeros == np.count_nonzero(w)
        np.testing.assert_allclose(problem.gradient_at(), reference.gradient(w, b)[0], rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(("constant", "nonnegative", "weighted"), list(product([True, False], repeat=3)))
@pytest.mark.parametrize("loss", LOSSES)
def test_the_largest_strength(loss, constant, nonnegative, weighted):
    drawn = draw(6, loss)
    options = {"constant": constant, "nonnegative": nonnegative} | (penalty_of(drawn, "weighted") if weighted else {})
    problem = drawn.problem(**options)
    problem.set(np.ones(len(drawn.rows.keys)), 1.0)
    found = problem.l1_max()
    assert found == pytest.approx(batch.l1_max(drawn.reference(**options)), rel=1e-9)
    assert list(problem.w) == [1.0] * len(drawn.rows.keys)


@pytest.mark.parametrize("fraction", [1.5, 0.3, 0.02])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("name", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_no_bound_is_above_the_optimum_and_that_of_the_optimum_meets_it(loss, name, constant, fraction):
    """For the penalty, and for the ball of the norm of the solution, on which the mean loss is as small as can be."""
    drawn = draw(7, loss)
    options = penalty_of(drawn, name) | {"constant": constant}
    reference = drawn.reference(**options)
    reference.l1 = fraction * batch.l1_max(reference)
    w, b = batch.solve(reference)
    assert reference.violations(w, b).max() < 1e-10
    best = reference.objective(w, b)
    problems = [(drawn.problem(**options, l1=reference.l1), best)]
    z = norm(options, w)
    if z > 0 and "box" not in options:
        ball = drawn.problem(**options, radius=z)
        problems.append((ball, best - reference.l1 * z))
        if options.get("nonnegative"):
            problems.append((drawn.problem(**options, radius=z, simplex=True), best - reference.l1 * z))
    rng = np.random.default_rng(8)
    for problem, optimum in problems:
        for scale in (10, 1, 0.1, 0.01, 1e-4):
            away, away_b = w + scale * rng.normal(size=len(w)), b + (scale * rng.normal() if constant else 0)
            away[rng.random(len(w)) < 0.3] = 0
            problem.set(away, away_b)
            assert problem.dual() <= optimum + 1e-12 * abs(optimum)
        problem.set(w, b)
        problem.evaluate()
        assert problem.objective == pytest.approx(optimum, rel=1e-12)
        assert abs(problem.objective - problem.dual()) <= 1e-9 * optimum
        assert problem.violation <= 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_importance_of_all_sizes(loss):
    """The constant is fitted until rounding is in the way."""
    lines = [
        line._replace(importance=[1e6, 1e-6, 0.3, 1.0][i % 4]) for i, line in enumerate(draw(15, loss, n=9).lines)
    ]
    drawn = Drawn(loss, lines, rows_of(lines))
    problem = drawn.problem()
    assert problem.l1_max() == pytest.approx(batch.l1_max(drawn.reference()), rel=1e-6)
    problem.set(np.full(len(problem.w), 0.3), 0.7)
    problem.evaluate()
    assert np.isfinite(problem.lower_bound)
    assert problem.lower_bound <= problem.objective


def test_the_best_bound_is_kept_until_the_strength_changes():
    drawn = draw(9, "logistic")
    reference = drawn.reference(l1=0.03)
    w, b = batch.solve(reference)
    problem = drawn.problem(l1=0.03)
    problem.set(w, b)
    problem.evaluate()
    best = problem.lower_bound
    problem.set(10 * w, b + 5)
    problem.evaluate()
    assert problem.lower_bound == best > 0
    assert problem.gap == problem.objective - best
    problem.set_l1(0.01)
    problem.evaluate()
    assert 0 <= problem.lower_bound < best


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "quantile"])
def test_the_bound_of_a_loss_with_kinks_is_below_every_objective(loss, constant):
    drawn = draw(10, "squared" if loss == "quantile" else loss)
    rng = np.random.default_rng(11)
    for options in ({"l1": 0.02}, {"l1": 0.01, "l2": 0.1}, {"radius": 0.7}):
        problem = Problem(drawn.rows, loss, tau=0.3, constant=constant, **options)
        bounds, objectives = [], []
        for scale in (1, 0.3, 0.1, 0.01, 0):
            w = scale * rng.normal(size=len(problem.w))
            w *= min(1, 0.7 / max(np.abs(w).sum(), 1e-9)) if "radius" in options else 1
            problem.set(w, rng.normal())
            bounds.append(problem.dual())
            problem.evaluate()
            objectives.append(problem.objective)
        assert max(bounds) <= min(objectives) + 1e-12
        assert max(bounds) > 0


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_one_class_only(loss):
    """The constant goes to infinity: nothing is left for the weights."""
    drawn = draw(12, loss, one_class=True)
    problem = drawn.problem(l1=0.1)
    assert problem.one_sided
    assert problem.l1_max() <= 1e-14
    problem.evaluate()
    assert problem.lower_bound == pytest.approx(0, abs=1e-13)
    assert not drawn.problem(l1=0.1, constant=False).one_sided


def test_no_column_at_all():
    problem = Problem(rows_of([Line(1.0, []), Line(-1.0, []), Line(1.0, [])]), "logistic", l1=0.1)
    assert problem.l1_max() == 0
    problem.evaluate()
    entropy = -(np.log(2 / 3) * 2 + np.log(1 / 3)) / 3
    assert problem.objective == pytest.approx(np.log(2))
    assert problem.lower_bound == pytest.approx(entropy, rel=1e-14)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"l1": -1.0}, "strength"),
        ({"l2": float("nan")}, "strength"),
        ({"radius": 0.0}, "radius"),
        ({"radius": 1.0, "l1": 0.1}, "radius"),
        ({"simplex": True}, "simplex"),
        ({"box": -1.0}, "box"),
        ({"tau": 2.0}, "tau"),
        ({"labels": np.ones(3)}, "3 labels"),
        ({"labels": np.full(30, 2.0)}, "label is 2"),
        ({"penalty_weights": np.ones(3)}, "3 weights"),
        ({"penalty_weights": np.zeros(9)}, "above 0"),
    ],
)
def test_refusals(options, text):
    drawn = draw(13, "logistic", weighted=False)
    with pytest.raises(ValueError, match=text):
        Problem(drawn.rows, "logistic", **options)


def test_other_refusals():
    drawn, other = draw(13, "logistic"), draw(14, "logistic")
    with pytest.raises(ValueError, match="no loss"):
        Problem(drawn.rows, "cubic")
    with pytest.raises(ValueError, match="no labelled example"):
        Problem(rows_of([]), "squared")
    with pytest.raises(ValueError, match="other rows"):
        Problem(drawn.rows, "logistic", columns=Columns(other.rows))
    problem = Problem(drawn.rows, "logistic")
    with pytest.raises(ValueError, match="not finite"):
        problem.set(np.full(len(problem.w), np.inf), 0.0)
    with pytest.raises(ValueError, match="not finite"):
        problem.set(np.zeros(len(problem.w)), np.nan)
    with pytest.raises(ValueError, match="3 weights"):
        problem.set(np.zeros(3), 0.0)
    with pytest.raises(ValueError, match="kinks"):
        Problem(drawn.rows, "hinge").l1_max()
    with pytest.raises(ValueError, match="label is -1"):
        Problem(drawn.rows, "poisson")
