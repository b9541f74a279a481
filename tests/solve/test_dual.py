"""The support vector machine by its dual: its box, its gap, and the optimum of the reference."""

import numpy as np
import pytest
from batch_papers import Dual, Random
from batch_problems import draw, rows_of
from batches import Line

from vwlite.core.solve.dual import DualCoordinateDescent
from vwlite.core.solve.problem import Problem

pytestmark = pytest.mark.pairwise
with_and_without_constant = pytest.mark.parametrize("constant", [True, False])
each_order = pytest.mark.parametrize("order", ["permuted", "random"])


def drawn_with(seed, constant, l2, **how):
    drawn = draw(seed, "hinge", **how)
    return Dual(drawn.reference(constant=constant, l2=l2)), drawn.problem(constant=constant, l2=l2)


def whole(problem):
    return np.append(problem.w, problem.b) if problem.constant else np.array(problem.w)


@pytest.mark.parametrize("l2", [10.0, 0.1, 0.003])
@with_and_without_constant
@each_order
def test_in_its_box_at_every_step_and_the_optimum_in_the_end(order, constant, l2):
    reference, problem = drawn_with(71, constant, l2)
    best = reference.objective(reference.solve())
    solver = DualCoordinateDescent(problem, order=order)
    bound = -np.inf
    for _ in range(5000):
        solver.step()
        a = np.array(solver.a)
        assert np.all((a >= 0) & (a <= reference.most))
        w = whole(problem)
        of_a = reference.x.T @ (a * reference.problem.y)
        if order == "random":
            np.testing.assert_allclose(w, of_a, rtol=1e-9, atol=1e-11)
        else:  # an average, no further than weights of this gap can be: the objective and the dual bend by l2
            gap = problem.objective - reference.bound(a)
            assert np.linalg.norm(w - of_a) <= np.sqrt(2 / l2) * np.sqrt(2 * gap) * (1 + 1e-9) + 1e-9
        assert problem.objective == pytest.approx(reference.objective(w), rel=1e-12)
        assert problem.lower_bound == pytest.approx(max(reference.bound(a), 0), rel=1e-9, abs=1e-14)
        assert reference.bound(a) >= bound - 1e-12
        assert problem.lower_bound <= best * (1 + 1e-12)
        bound = reference.bound(a)
        if solver.done or problem.gap <= 1e-11 * best:
            break
    assert problem.objective == pytest.approx(best, rel=1e-9)
    assert problem.gap <= 1e-9 * best
    objective = problem.objective
    problem.evaluate()  # which knows that the constant is penalised
    assert problem.objective == pytest.approx(objective, rel=1e-12)
    assert problem.lower_bound <= best * (1 + 1e-12)
    problem.forget()
    problem.evaluate()
    assert problem.lower_bound <= best * (1 + 1e-12)


def test_random_visits_are_those_of_the_reference():
    reference, problem = drawn_with(72, True, 0.05)
    solver = DualCoordinateDescent(problem, order="random", seed=5)
    random = Random(5)
    for _ in range(3):
        before = solver.accesses
        solver.step()
        read = 0
        while read < 4 * problem.rows.nonzeros:
            for _ in range(len(reference.a)):
                i = random.below(len(reference.a))
                read += len(problem.rows.row(i)[0])
                reference.visit(i)
        assert solver.accesses - before in (read + problem.rows.nonzeros, read + 2 * problem.rows.nonzeros)
        np.testing.assert_allclose(solver.a, reference.a, rtol=1e-9, atol=1e-12)


def test_the_shrinking_one_ends():
    for seed in range(73, 80):
        _, problem = drawn_with(seed, True, 0.02, n=60)
        solver = DualCoordinateDescent(problem)
        for _ in range(2000):
            solver.step()
            if solver.done:
                break
        assert solver.done
        assert solver.why
        assert problem.gap <= 1e-11 * problem.objective
        assert problem.violation <= 1e-6


def test_one_class_and_rows_without_features():
    """A row without features and constant loses 1 - y initial whatever the weights are."""
    lines = [Line(1.0, [(1, 2.0)]), Line(-1.0, []), Line(1.0, [], 2.0, 3.0), Line(-1.0, [(1, -1.0), (1, 1.0)])]
    rows = rows_of(lines)
    problem = Problem(rows, "hinge", l2=0.1, constant=False)
    solver = DualCoordinateDescent(problem)
    for _ in range(20):
        solver.step()
    np.testing.assert_allclose(problem.w, [0.5])
    np.testing.assert_allclose(list(solver.a)[1:], [0.2 / 0.1, 0, 0.2 / 0.1])
    assert problem.objective == pytest.approx(0.4 + 0.05 * 0.25, rel=1e-12)
    assert problem.gap <= 1e-12
    reference, problem = drawn_with(81, True, 0.1, one_class=True)
    best = reference.objective(reference.solve())
    solver = DualCoordinateDescent(problem)
    for _ in range(200):
        solver.step()
    assert problem.objective == pytest.approx(best, rel=1e-9)


def test_beginning_from_a_solution_and_continuing():
    _, problem = drawn_with(82, True, 0.01, n=200)
    solver = DualCoordinateDescent(problem)
    while problem.gap > 1e-9 * problem.objective or solver.accesses == 0:
        solver.step()
        problem.evaluate()  # changes nothing that the solver knows
    w, b, objective = np.array(problem.w), problem.b, problem.objective
    first = []
    for start in (np.zeros(len(w)), w):
        _, problem = drawn_with(82, True, 0.01, n=200)
        problem.set(start, b if start.any() else 0.0)
        solver = DualCoordinateDescent(problem)
        solver.stop()
        solver.step()
        first.append(problem.objective)
    assert first[1] < first[0]
    assert min(first) >= objective * (1 - 1e-9)


def test_the_seed_decides_the_bytes():
    def weights(seed):
        _, problem = drawn_with(83, True, 0.01, n=100)
        DualCoordinateDescent(problem, seed=seed).step()
        return bytes(problem.w)

    assert weights(1) == weights(1) != weights(2)


def test_refusals():
    drawn = draw(84, "hinge")
    with pytest.raises(ValueError, match="order is 'up'"):
        DualCoordinateDescent(drawn.problem(l2=0.1), order="up")
    for options in ({}, {"l2": 0.1, "l1": 0.1}, {"l2": 0.1, "radius": 1.0}, {"l2": 0.1, "box": 1.0},
                    {"l2": 0.1, "nonnegative": True}):
        with pytest.raises(ValueError, match="nothing beside"):
            DualCoordinateDescent(drawn.problem(**options))
    with pytest.raises(ValueError, match="hinge"):
        DualCoordinateDescent(draw(84, "logistic").problem(l2=0.1))
    for options in ({}, {"l2": 0.1, "l1": 0.1}, {"l2": 0.1, "radius": 1.0}):
        with pytest.raises(ValueError, match="l2 alone"):
            drawn.problem(**options, penalize_constant=True)
    with pytest.raises(ValueError, match="l2 alone"):
        draw(84, "logistic").problem(l2=0.1, penalize_constant=True)
    assert drawn.problem(l2=0.1, penalize_constant=True).penalizes_constant
    assert not drawn.problem(l2=0.1, penalize_constant=True, constant=False).penalizes_constant
