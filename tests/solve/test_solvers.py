"""The solvers of a penalty: the optimum of the reference, however they get there."""

import batch
import numpy as np
import pytest
from batch_problems import LOSSES, PENALTIES, draw, penalty_of, rows_of
from streams import random_stream

from vwlite.core.solve.coordinate import CoordinateDescent
from vwlite.core.solve.newton import Newton
from vwlite.core.solve.problem import Problem

pytestmark = pytest.mark.pairwise


def newton_by_columns(problem, **options):
    """Newton without the Gram matrix, which so few columns would have at once."""
    return Newton(problem, gram=False, **options)


SOLVERS = [CoordinateDescent, Newton, newton_by_columns]
each_solver = pytest.mark.parametrize("kind", SOLVERS)


def run(solver, steps=1000):
    before = np.inf
    for _ in range(steps):
        solver.step()
        assert solver.problem.objective <= before * (1 + 1e-12)
        before = solver.problem.objective
        if solver.done:
            return
    raise AssertionError(f"not done: violation {solver.problem.violation}")


@pytest.mark.parametrize("fraction", [1.5, 0.3, 0.02])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("name", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
@each_solver
def test_the_optimum_is_that_of_the_reference(kind, loss, name, constant, fraction):
    drawn = draw(21, loss)
    options = penalty_of(drawn, name) | {"constant": constant}
    reference = drawn.reference(**options)
    reference.l1 = fraction * batch.l1_max(reference)
    w, b = batch.solve(reference)
    problem = drawn.problem(**options, l1=reference.l1)
    run(kind(problem))
    ours = np.array(problem.w)
    assert problem.objective == pytest.approx(reference.objective(w, b), rel=1e-9)
    assert problem.objective == pytest.approx(reference.objective(ours, problem.b), rel=1e-12)
    assert reference.violations(ours, problem.b).max() <= 1e-10
    assert problem.gap <= 1e-9 * problem.objective
    assert problem.lower_bound <= reference.objective(w, b) * (1 + 1e-12)
    if fraction > 1:
        assert problem.nonzeros == 0


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
@each_solver
def test_a_larger_problem_proves_itself(kind, loss, constant):
    """The gap to the lower bound says how far the optimum is at most."""
    labels = "logistic" if loss == "squared-hinge" else loss
    rows = rows_of(random_stream(27, 400, loss=labels, keys=500, width=30, scales=False), bits=32)
    strongest = Problem(rows, loss, constant=constant).l1_max()
    nonzeros = []
    for fraction in (0.3, 0.03):
        problem = Problem(rows, loss, constant=constant, l1=fraction * strongest)
        run(kind(problem))
        assert problem.gap <= 1e-9 * problem.objective
        nonzeros.append(problem.nonzeros)
    assert 1 < nonzeros[0] < 30 < nonzeros[1]


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("loss", ["squared", "poisson"])
@each_solver
def test_without_a_penalty(kind, loss, constant):
    drawn = draw(22, loss)
    reference = drawn.reference(constant=constant)
    w, b = batch.solve(reference, tolerance=1e-10)
    problem = drawn.problem(constant=constant)
    run(kind(problem), 20_000)
    assert problem.objective == pytest.approx(reference.objective(w, b), rel=1e-9)


@each_solver
def test_it_continues_from_any_weights_and_strength(kind):
    drawn = draw(23, "logistic")
    problem = drawn.problem(l1=0.05)
    solver = kind(problem)
    run(solver)
    best, first = problem.objective, np.array(problem.w)
    problem.set(np.full(len(first), 3.0), -2.0)
    run(solver)
    assert problem.objective == pytest.approx(best, rel=1e-12)
    np.testing.assert_allclose(problem.w, first, atol=1e-9)
    problem.set_l1(0.005)
    run(solver)
    other = drawn.problem(l1=0.005)
    run(kind(other))
    assert problem.objective == pytest.approx(other.objective, rel=1e-12)


@each_solver
@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_one_class_only_leaves_all_to_the_constant(kind, loss):
    drawn = draw(28, loss, one_class=True)
    problem = drawn.problem(l1=1e-3)
    solver = kind(problem)
    run(solver)
    assert problem.nonzeros == 0
    assert problem.objective < 1e-12
    assert np.isfinite(problem.b)


def test_the_seed_decides_the_bytes():
    drawn = draw(24, "logistic", n=200)

    def weights(seed):
        problem = drawn.problem(l1=0.01)
        solver = CoordinateDescent(problem, seed=seed)
        for _ in range(3):
            solver.step()
        return bytes(problem.w)

    assert weights(1) == weights(1) != weights(2)


@each_solver
def test_stopped_before_it_began_it_is_still_valid(kind):
    drawn = draw(25, "logistic")
    problem = drawn.problem(l1=0.01)
    solver = kind(problem)
    solver.stop()
    solver.step()
    objective = drawn.reference(l1=0.01).objective(np.array(problem.w), problem.b)
    assert objective == pytest.approx(problem.objective, rel=1e-12)


@each_solver
def test_refusals(kind):
    drawn = draw(26, "logistic")
    with pytest.raises(ValueError, match="radius"):
        kind(drawn.problem(radius=1.0))
    drawn.loss = "hinge"
    with pytest.raises(ValueError, match="kinks"):
        kind(drawn.problem())
