"""The paper's coordinate descent: step by step as the eager reference, and the optimum in the end."""

import batch
import numpy as np
import pytest
from batch_papers import Coordinates
from batch_problems import PENALTIES, draw, penalty_of

from vwlite.core.solve.papers.scd import DeterministicCoordinateDescent, StochasticCoordinateDescent

pytestmark = pytest.mark.pairwise
LOSSES = ("squared", "logistic", "squared-hinge")
KINDS = {"stochastic": StochasticCoordinateDescent, "deterministic": DeterministicCoordinateDescent}
each_kind = pytest.mark.parametrize("kind", KINDS)


def drawn_with(loss, name, constant, fraction, seed=31):
    drawn = draw(seed, loss)
    options = penalty_of(drawn, name) | {"constant": constant}
    reference = drawn.reference(**options)
    reference.l1 = fraction * batch.l1_max(reference)
    return reference, drawn.problem(**options, l1=reference.l1)


def entries(problem):
    found = np.zeros(len(problem.w), int)
    for i in range(len(problem.rows)):
        found[problem.rows.row(i)[0]] += 1
    return found


@pytest.mark.parametrize("beta", ["mean", "paper"])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("name", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
@each_kind
def test_each_step_is_that_of_the_reference(kind, loss, name, constant, beta):
    reference, problem = drawn_with(loss, name, constant, 0.1)
    eager = Coordinates(reference, entries(problem), seed=7, beta=beta)
    solver = KINDS[kind](problem, seed=7, beta=beta, visits=3)
    for _ in range(30):
        solver.step()
        getattr(eager, kind)(3)
        np.testing.assert_allclose(solver.halves, eager.u, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(problem.w, eager.w, rtol=1e-9, atol=1e-12)
        assert problem.b == pytest.approx(eager.b, rel=1e-9, abs=1e-12)
        assert problem.objective == pytest.approx(reference.objective(eager.w, eager.b), rel=1e-12)
        if problem.violation > 1e-5:  # later, whether a step is one is decided by rounding
            assert solver.accesses == eager.accesses
    assert np.any(eager.u > 0)


@each_kind
def test_a_visit_counts_the_entries_once_whether_a_weight_moves_or_not(kind):
    _, problem = drawn_with("logistic", "l1", False, 0.1)
    columns = entries(problem)
    solver = KINDS[kind](problem, seed=7, visits=1)
    moves = 0
    for _ in range(30):
        w, accesses = np.array(problem.w), solver.accesses
        solver.step()
        moved = np.flatnonzero(np.asarray(problem.w) != w)
        counted = columns if kind == "stochastic" else [columns.sum()]
        if len(moved) and kind == "stochastic":
            counted = columns[moved]
        assert solver.accesses - accesses in counted
        moves += len(moved)
    assert moves > 5


@pytest.mark.parametrize("fraction", [1.5, 0.3, 0.02])
@pytest.mark.parametrize("name", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
@each_kind
def test_the_optimum_is_that_of_the_reference(kind, loss, name, fraction):
    reference, problem = drawn_with(loss, name, True, fraction)
    w, b = batch.solve(reference)
    solver = KINDS[kind](problem, visits=200)
    for _ in range(3000):
        solver.step()
        if solver.done:
            break
    assert solver.done
    assert problem.objective == pytest.approx(reference.objective(w, b), rel=1e-9)
    assert problem.gap <= 1e-9 * problem.objective
    assert problem.lower_bound <= reference.objective(w, b) * (1 + 1e-12)


def test_it_continues_after_others_looked_and_from_other_weights():
    """`evaluate` between two steps changes nothing; `set` begins again, from one part for each weight."""
    ways = []
    for looks in (False, True):
        _, problem = drawn_with("logistic", "l1", False, 0.05)
        solver = StochasticCoordinateDescent(problem, seed=3, visits=40)
        for _ in range(5):
            solver.step()
            if looks:
                problem.evaluate()
        ways.append(np.array(solver.halves))
    np.testing.assert_allclose(ways[0], ways[1], rtol=1e-9, atol=1e-14)
    problem.set(np.full(len(problem.w), -0.5), 0.0)
    solver = DeterministicCoordinateDescent(problem, visits=1)
    solver.step()
    assert sum(w not in (-0.5, 0) for w in problem.w) == 1
    assert np.count_nonzero(np.array(solver.halves)) <= len(problem.w) + 1


@each_kind
def test_one_class_and_stopping(kind):
    drawn = draw(32, "logistic", one_class=True)
    problem = drawn.problem(l1=0.1)
    solver = KINDS[kind](problem)
    for _ in range(5):
        solver.step()
    assert problem.nonzeros == 0
    assert problem.objective <= 1e-12
    drawn = draw(33, "squared")
    problem = drawn.problem(l1=0.01)
    solver = KINDS[kind](problem, visits=100_000_000)
    solver.stop()
    solver.step()
    w = np.array(problem.w)
    assert drawn.reference(l1=0.01).objective(w, problem.b) == pytest.approx(problem.objective, rel=1e-12)


@each_kind
def test_refusals(kind):
    drawn = draw(34, "logistic")
    with pytest.raises(ValueError, match="radius"):
        KINDS[kind](drawn.problem(radius=1.0))
    with pytest.raises(ValueError, match="beta is 'half'"):
        KINDS[kind](drawn.problem(), beta="half")
    for loss in ("poisson", "hinge"):
        with pytest.raises(ValueError, match="bounded"):
            KINDS[kind](draw(34, loss).problem())
