"""Several classes at once, a ball for each: what is said of any weights, steps, and the optimum."""

import numpy as np
import pytest
from batch_papers import Ball, Softmax
from batch_problems import draw

from vwlite.core.solve import gradient
from vwlite.core.solve.newton import Newton
from vwlite.core.solve.papers import sampled
from vwlite.core.solve.problem import Problem
from vwlite.core.solve.softmax import SoftmaxProblem

pytestmark = pytest.mark.pairwise
SETS = {
    "ball": {},
    "weighted": {"c": True},
    "nonnegative": {"nonnegative": True},
    "elastic": {"l2": 0.05},
    "all": {"nonnegative": True, "c": True, "l2": 0.03},
}
each_set = pytest.mark.parametrize("name", SETS)
with_and_without_constant = pytest.mark.parametrize("constant", [True, False])


def drawn_with(seed, name="ball", constant=True, classes=4, radius=0.9, unseen=None):
    """A reference, its ball, and the compiled problem; the labels are planted."""
    drawn = draw(seed, "squared")
    options = dict(SETS[name])
    plain = drawn.reference()
    c = np.random.default_rng(5).uniform(0.3, 3, plain.x.shape[1]) if options.pop("c", False) else None
    rng = np.random.default_rng(seed)
    scores = plain.x @ rng.normal(0, 1, (plain.x.shape[1], classes)) + rng.gumbel(size=(len(plain.y), classes))
    if unseen is not None:
        scores[:, unseen] = -np.inf
    y = scores.argmax(axis=1)
    reference = Softmax(plain.x, y, plain.h, classes, constant, options.get("l2", 0.0))
    problem = SoftmaxProblem(
        drawn.rows, classes, radius, labels=y + 1.0, constant=constant, penalty_weights=c, **options
    )
    weights = np.ones(plain.x.shape[1]) if c is None else c
    return reference, Ball(radius, weights, options.get("nonnegative", False)), problem


def project(ball, w):
    return np.array([ball.project(row) for row in w])


@with_and_without_constant
@each_set
def test_what_is_said_of_any_weights(name, constant):
    reference, ball, problem = drawn_with(61, name, constant)
    rng = np.random.default_rng(1)
    for scale in (0.1, 1, 30):
        w = project(ball, rng.normal(0, scale, np.shape(problem.w)))
        b = rng.normal(0, 1, 4) * constant
        problem.set(w, b)
        problem.evaluate()
        np.testing.assert_array_equal(problem.w, w)
        assert list(problem.b) == b.tolist()
        assert problem.objective == pytest.approx(reference.objective(w, b), rel=1e-12)
        assert problem.nonzeros == np.count_nonzero(w)
        g, by_b = reference.gradient(w, b)
        np.testing.assert_allclose(problem.gradient_at(), g - reference.l2 * w, rtol=1e-9, atol=1e-14)
        most = ((np.maximum(-g, 0) if ball.nonnegative else np.abs(g)) / ball.c).max(axis=1)
        worst = max(((g * w).sum(axis=1) / ball.z + most).max(), np.abs(by_b).max())
        assert problem.violation == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize("name", ["ball", "weighted", "nonnegative"])
def test_without_constants_the_bound_is_the_dual_at_the_probabilities(name):
    reference, ball, problem = drawn_with(62, name, False)
    rng = np.random.default_rng(2)
    for scale in (0.1, 1, 10):
        w = project(ball, rng.normal(0, scale, np.shape(problem.w)))
        problem.set(w, np.zeros(4))
        bound = reference.bound(reference.probabilities(w, np.zeros(4)), ball)
        assert problem.dual() == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize("unseen", [None, 2])
@with_and_without_constant
@each_set
def test_no_bound_is_above_any_objective(name, constant, unseen):
    reference, ball, problem = drawn_with(63, name, constant, unseen=unseen)
    rng = np.random.default_rng(3)
    bounds, objectives = [], []
    for scale in (0, 0.01, 0.1, 1, 100):
        w = project(ball, rng.normal(0, scale, np.shape(problem.w)))
        b = rng.normal(0, min(scale, 3), 4) * constant
        problem.set(w, b)
        bounds.append(problem.dual())
        objectives.append(reference.objective(w, b))
    solver = gradient.AcceleratedGradient(problem, iterations=200)
    for _ in range(5):
        solver.step()
        objectives.append(problem.objective)
    assert max(bounds) <= min(objectives)
    assert max(bounds) > 0


@pytest.mark.parametrize("kind", [gradient.ProjectedGradient, gradient.AcceleratedGradient])
@with_and_without_constant
@each_set
def test_the_gap_closes(kind, name, constant):
    reference, ball, problem = drawn_with(64, name, constant)
    solver = kind(problem, iterations=50)
    before = np.inf
    for _ in range(1000):
        solver.step()
        if kind is gradient.ProjectedGradient:
            assert problem.objective <= before * (1 + 1e-12)
            before = problem.objective
        if problem.gap <= 1e-9 * problem.objective:
            break
    w, b = np.array(problem.w), np.array(problem.b)
    assert problem.gap <= 1e-9 * problem.objective
    assert problem.objective == pytest.approx(reference.objective(w, b), rel=1e-12)
    assert (np.abs(w) @ ball.c).max() <= ball.z * (1 + 1e-12)
    assert not ball.nonnegative or w.min() >= 0
    assert 0 < np.count_nonzero(w) < w.size


def test_projected_gradient_goes_as_plain_numpy():
    reference, ball, problem = drawn_with(65)
    solver = gradient.ProjectedGradient(problem, step="fixed", eta0=0.4, iterations=1)
    w, b = np.zeros(np.shape(problem.w)), np.zeros(4)
    for _ in range(30):
        solver.step()
        g, by_b = reference.gradient(w, b)
        w, b = project(ball, w - 0.4 * g), b - 0.4 * by_b
        np.testing.assert_allclose(problem.w, w, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(problem.b, b, rtol=1e-9, atol=1e-12)


def test_samples_and_multipliers_come_near():
    """The figure's other methods: both see the same function."""
    reference, ball, problem = drawn_with(66, "nonnegative")
    solver = gradient.AcceleratedGradient(problem, iterations=500)
    for _ in range(20):
        solver.step()
    best = problem.objective
    _, _, problem = drawn_with(66, "nonnegative")
    solver = sampled.Minibatch(problem, batch=len(reference.y), eta0=1.0, step="fixed", iterations=5000)
    solver.step()
    assert problem.objective == pytest.approx(best, rel=1e-6)
    _, _, problem = drawn_with(66, "nonnegative")
    solver = sampled.Minibatch(problem, batch=3, iterations=5000)
    solver.step()
    assert best <= problem.objective <= best * 1.05
    _, _, problem = drawn_with(66, "nonnegative")
    for batch in (None, 4):
        problem.set(np.zeros(np.shape(problem.w)), np.zeros(4))
        solver = sampled.ExponentiatedGradient(problem, batch=batch, eta0=0.05, iterations=200)
        solver.step()
        np.testing.assert_allclose(np.array(problem.w).sum(axis=1), ball.z, rtol=1e-12)
        assert problem.objective <= reference.objective(np.zeros(np.shape(problem.w)), np.zeros(4))


@with_and_without_constant
def test_two_classes_are_logistic_regression_with_twice_the_radius(constant):
    drawn = draw(67, "logistic", weighted=False)
    two = SoftmaxProblem(drawn.rows, 2, 0.5, labels=(np.array(drawn.rows.labels) + 3) / 2, constant=constant)
    one = Problem(drawn.rows, "logistic", radius=1.0, constant=constant)
    solvers = gradient.AcceleratedGradient(two), gradient.AcceleratedGradient(one)
    for _ in range(500):
        for solver in solvers:
            solver.step()
    assert two.objective == pytest.approx(one.objective, rel=1e-9)
    assert two.lower_bound == pytest.approx(one.lower_bound, rel=1e-8)


def test_refusals():
    drawn = draw(68, "squared")
    labels = np.ones(len(drawn.rows))
    with pytest.raises(ValueError, match="1 classes"):
        SoftmaxProblem(drawn.rows, 1, 1.0, labels=labels)
    for wrong in (0.0, 4.0, 1.5, np.nan, 1e30):
        with pytest.raises(ValueError, match="label is"):
            SoftmaxProblem(drawn.rows, 3, 1.0, labels=np.append(labels[1:], wrong))
    with pytest.raises(ValueError, match="radius"):
        SoftmaxProblem(drawn.rows, 3, -1.0, labels=labels)
    with pytest.raises(TypeError):
        SoftmaxProblem(drawn.rows, 3, None, labels=labels)
    problem = SoftmaxProblem(drawn.rows, 3, 1.0, labels=labels)
    assert problem.one_sided
    shape = np.shape(problem.w)
    with pytest.raises(ValueError, match="2 x 9 weights"):
        problem.set(np.zeros((2, 9)), np.zeros(3))
    with pytest.raises(ValueError, match="2 intercepts"):
        problem.set(np.zeros(shape), np.zeros(2))
    with pytest.raises(ValueError, match="weight is not finite"):
        problem.set(np.full(shape, np.inf), np.zeros(3))
    with pytest.raises(ValueError, match="intercept is not finite"):
        problem.set(np.zeros(shape), np.full(3, np.nan))
    with pytest.raises(ValueError, match="no l1"):
        problem.l1_max()
    with pytest.raises(ValueError, match="no l1"):
        problem.penalized()
    with pytest.raises(ValueError, match="radius"):
        Newton(problem)
    with pytest.raises(ValueError, match="simplex"):
        sampled.ExponentiatedGradient(problem)
