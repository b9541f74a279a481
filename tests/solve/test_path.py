"""A given norm, a given number of weights, and paths of strengths."""

import batch
import numpy as np
import pytest
from batch_problems import LOSSES, Drawn, draw, penalty_of, rows_of

from vwlite.core.solve.coordinate import CoordinateDescent
from vwlite.core.solve.newton import Newton
from vwlite.core.solve.path import NewtonOnBall, NewtonToCount

pytestmark = pytest.mark.pairwise


def finish(solver, steps=400):
    for _ in range(steps):
        solver.step()
        if solver.done:
            return
    raise AssertionError(f"not done: violation {solver.problem.violation}")


@pytest.mark.parametrize("fraction", [0.5, 0.02])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("name", ["l1", "elastic", "weighted", "nonnegative"])
@pytest.mark.parametrize("loss", LOSSES)
def test_on_the_ball_of_the_norm_of_a_penalized_solution_it_finds_that(loss, name, constant, fraction):
    drawn = draw(31, loss)
    options = penalty_of(drawn, name) | {"constant": constant}
    reference = drawn.reference(**options)
    reference.l1 = fraction * batch.l1_max(reference)
    w, b = batch.solve(reference)
    z = float(np.abs(w) @ options.get("c", np.ones(len(w))))
    best = reference.objective(w, b) - reference.l1 * z
    problem = drawn.problem(**options, radius=z)
    solver = NewtonOnBall(problem)
    finish(solver)
    assert problem.objective == pytest.approx(best, rel=1e-9)
    assert problem.gap <= 1e-9 * best
    assert problem.lower_bound <= best * (1 + 1e-12)
    assert np.abs(problem.w) @ options.get("c", np.ones(len(w))) <= z * (1 + 1e-12)
    assert solver.l1 == pytest.approx(reference.l1, rel=1e-4)


@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_a_ball_that_holds_all_is_not_a_limit(loss):
    drawn = draw(32, loss)
    free = drawn.problem()
    solver = CoordinateDescent(free)
    finish(solver, 20_000)
    problem = drawn.problem(radius=100.0)
    solver = NewtonOnBall(problem)
    for _ in range(300):
        solver.step()
    assert problem.objective == pytest.approx(free.objective, rel=1e-9)


def test_every_step_is_inside_of_the_ball():
    drawn = draw(33, "logistic", n=100)
    problem = drawn.problem(radius=0.7)
    solver = NewtonOnBall(problem)
    while not solver.done:
        solver.step()
        assert np.abs(problem.w).sum() <= 0.7 * (1 + 1e-12)
        assert problem.lower_bound <= problem.objective


@pytest.mark.parametrize("most", [0, 1, 2, 4, 100])
@pytest.mark.parametrize("loss", LOSSES)
def test_no_more_weights_than_asked_for_and_one_more_below(loss, most):
    drawn = draw(34, loss, n=60)
    problem = drawn.problem()
    solver = NewtonToCount(problem, nonzeros=most)
    for _ in range(1000):
        solver.step()
        if solver.done:
            break
    assert problem.nonzeros <= most
    reference = drawn.reference(l1=problem.l1)
    assert reference.violations(np.array(problem.w), problem.b).max() <= 1e-9
    if problem.nonzeros < most < 9:
        below = drawn.problem(l1=problem.l1 / 1.002)
        finish(Newton(below))
        assert below.nonzeros > most
    if most == 100:
        assert problem.l1 <= 1e-8 * drawn.problem().l1_max()


@pytest.mark.parametrize("kind", [CoordinateDescent, Newton])
def test_a_path_is_what_each_of_its_strengths_is(kind):
    drawn = draw(35, "logistic", n=80)
    problem = drawn.problem()
    strongest = problem.l1_max()
    problem.make_columns(0.01 * strongest)
    solver = kind(problem)
    for fraction in np.geomspace(1, 0.01, 8):
        problem.set_l1(fraction * strongest)
        finish(solver)
        alone = drawn.problem(l1=fraction * strongest)
        finish(kind(alone))
        assert problem.objective == pytest.approx(alone.objective, rel=1e-11)
        np.testing.assert_allclose(problem.w, alone.w, atol=1e-8)


def test_falling_strengths_without_columns_for_all():
    lines = draw(36, "logistic", n=80).lines
    lines = [line._replace(features=[*line.features, (8 + i % 12, 0.5)]) for i, line in enumerate(lines)]
    drawn = Drawn("logistic", lines, rows_of(lines))
    problem = drawn.problem(l1=0.9 * drawn.problem().l1_max())
    solver = Newton(problem)
    finish(solver)
    few = len(problem.columns)
    for _ in range(6):
        problem.set_l1(problem.l1 / 2)
        finish(solver)
    alone = drawn.problem(l1=problem.l1)
    finish(Newton(alone))
    assert problem.objective == pytest.approx(alone.objective, rel=1e-11)
    assert few < len(problem.columns)


def test_refusals():
    drawn = draw(37, "logistic")
    with pytest.raises(ValueError, match="needs a radius"):
        NewtonOnBall(drawn.problem(l1=0.1))
    with pytest.raises(ValueError, match="simplex"):
        NewtonOnBall(drawn.problem(radius=1.0, simplex=True))
    with pytest.raises(ValueError, match="does not take a radius"):
        NewtonToCount(drawn.problem(radius=1.0), nonzeros=3)
    with pytest.raises(ValueError, match="strength"):
        drawn.problem().make_columns(-1.0)
