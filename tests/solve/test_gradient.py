"""First-order methods on balls and simplexes: step by step as the eager references, and the optimum in the end."""

from itertools import pairwise

import batch
import numpy as np
import pytest
from batch_papers import Ball, Exponentiated, FrankWolfe, Gradient, Minibatch, curvature
from batch_problems import LOSSES, draw, rows_of
from batches import Line

from vwlite.core.solve import gradient
from vwlite.core.solve.papers import sampled
from vwlite.core.solve.papers.scd import DeterministicCoordinateDescent, StochasticCoordinateDescent
from vwlite.core.solve.problem import Problem
from vwlite.core.solve.softmax import SoftmaxProblem

pytestmark = pytest.mark.pairwise("gradient")


def class_of(kind):
    return getattr(gradient, kind, None) or getattr(sampled, kind)


SETS = {
    "ball": {},
    "weighted": {"c": True},
    "nonnegative": {"nonnegative": True},
    "simplex": {"simplex": True},
    "weighted simplex": {"simplex": True, "c": True},
    "elastic": {"l2": 0.05},
    "all": {"nonnegative": True, "c": True, "l2": 0.03},
}
OF_EG = {"ball": True, "weighted": True, "simplex": False, "weighted simplex": False, "elastic": True}  # both signs
each_set = pytest.mark.parametrize("name", SETS)
each_loss = pytest.mark.parametrize("loss", LOSSES)
with_and_without_constant = pytest.mark.parametrize("constant", [True, False])


def drawn_with(seed, loss, name, constant, radius=0.8):
    """A reference, its ball, and the compiled problem."""
    drawn = draw(seed, loss)
    options = dict(SETS[name])
    c = np.random.default_rng(5).uniform(0.3, 3, len(drawn.rows.keys)) if options.pop("c", False) else None
    simplex, nonnegative = options.get("simplex", False), options.get("nonnegative", False)
    reference = drawn.reference(constant=constant, l2=options.get("l2", 0.0), c=c)
    problem = drawn.problem(**options, c=c, constant=constant, radius=radius)
    return reference, Ball(radius, reference.weights, nonnegative, simplex), problem


def same(problem, eager):
    np.testing.assert_allclose(problem.w, eager.w, rtol=1e-8, atol=1e-11)
    assert problem.b == pytest.approx(eager.b, rel=1e-8, abs=1e-11)


@pytest.mark.parametrize("how", ["armijo", "fixed", "sqrt", "accelerated"])
@with_and_without_constant
@each_set
@each_loss
def test_projected_gradient_goes_as_the_reference(loss, name, constant, how):
    reference, ball, problem = drawn_with(41, loss, name, constant)
    eager = Gradient(reference, ball, how=how)
    if how == "accelerated":
        solver = gradient.AcceleratedGradient(problem, iterations=1)
    else:
        solver = gradient.ProjectedGradient(problem, step=how, iterations=1)
    before = np.inf
    for _ in range(25):
        solver.step()
        eager.step()
        same(problem, eager.at)
        assert problem.objective == pytest.approx(eager.at.value, rel=1e-12)
        if how == "armijo" or (how == "fixed" and loss != "poisson"):
            assert problem.objective <= before * (1 + 1e-12)
        before = problem.objective
        if problem.violation < 1e-6:  # from here on, rounding decides what is accepted
            break


@with_and_without_constant
@each_set
@pytest.mark.parametrize("loss", ["squared", "logistic", "squared-hinge"])
def test_frank_wolfe_goes_as_the_reference(loss, name, constant):
    """And as the bound of Clarkson 2008: after k steps the objective is within 2 C / (k + 2) of the optimum, C the
    largest curvature between two corners."""
    reference, ball, problem = drawn_with(41, loss, name, constant)
    eager, objectives = FrankWolfe(reference, ball), []
    solver = gradient.FrankWolfe(problem, iterations=1)
    for k in range(60):
        solver.step()
        eager.step()
        if k < 25:  # later, rounding decides between corners
            same(problem, eager)
        objectives.append(problem.objective)
    assert all(b <= a * (1 + 1e-12) for a, b in pairwise(objectives))
    sides = eager.corners[:, None] - eager.corners
    q = curvature(reference) * ((sides @ reference.x.T) ** 2 @ reference.h) + reference.l2 * (sides**2).sum(axis=2)
    _, _, best = drawn_with(41, loss, name, constant)
    accelerated = gradient.AcceleratedGradient(best)
    for _ in range(200):
        accelerated.step()
    for k, objective in enumerate(objectives, 1):
        assert objective - best.objective <= 2 * q.max() / (k + 2)


@pytest.mark.parametrize("size", [1, 7, 0.25])
@pytest.mark.parametrize("how", ["fixed", "sqrt", "inverse"])
@each_set
@each_loss
def test_samples_go_as_the_reference(loss, name, how, size):
    reference, ball, problem = drawn_with(42, loss, name, True)
    many = max(1, round(size * len(reference.y))) if size < 1 else size
    eager = Minibatch(reference, ball, size=many, how=how, seed=9)
    solver = sampled.Minibatch(problem, batch=size, step=how, seed=9, iterations=3)
    for _ in range(15):
        solver.step()
        for _ in range(3):
            eager.step()
        same(problem, eager)
        assert problem.objective == pytest.approx(reference.objective(eager.w, eager.b), rel=1e-10)


@pytest.mark.parametrize("size", [None, 1, 0.3])
@pytest.mark.parametrize("how", ["fixed", "sqrt", "inverse", "armijo"])
@pytest.mark.parametrize("name", OF_EG)
@each_loss
def test_exponentiated_gradient_goes_as_the_reference(loss, name, how, size):
    reference, ball, problem = drawn_with(43, loss, name, True)
    if size and (problem.l2 or how == "armijo"):
        return
    many = max(1, round(size * len(reference.y))) if size and size < 1 else size
    kind = sampled.ExponentiatedGradientBothSigns if OF_EG[name] else sampled.ExponentiatedGradient
    eta0 = None if loss != "poisson" else 0.02
    eager = Exponentiated(reference, ball, both=OF_EG[name], size=many, how=how, eta0=eta0, seed=9)
    solver = kind(problem, batch=size, step=how, eta0=eta0, seed=9, iterations=3)
    before = np.inf
    for _ in range(40):
        solver.step()
        for _ in range(3):
            eager.step()
        same(problem, eager)
        if how == "armijo" or (size is None and how == "fixed" and loss != "poisson"):
            assert problem.objective <= before * (1 + 1e-12)
        before = problem.objective
        if how == "armijo" and problem.violation < 1e-5:  # from here on, rounding decides what is accepted
            break


def test_masses_that_differ_by_more_than_a_double_holds():
    """The logarithms are kept, so that what was nothing can come back."""
    reference, ball, problem = drawn_with(44, "squared", "ball", False)
    for size in (None, 5):
        eager = Exponentiated(reference, ball, both=True, size=size, eta0=3.0, seed=2)
        solver = sampled.ExponentiatedGradientBothSigns(
            problem, batch=size, step="fixed", eta0=3.0, seed=2, iterations=1
        )
        problem.set(np.zeros(len(problem.w)), 0.0)
        for _ in range(12):
            solver.step()
            eager.step()
            same(problem, eager)
    solver = sampled.ExponentiatedGradientBothSigns(problem, step="fixed", eta0=1e6, iterations=30)
    for _ in range(20):
        solver.step()
        assert np.abs(problem.w).sum() <= 0.8 * (1 + 1e-12)
        assert problem.objective < np.inf


@pytest.mark.parametrize("fraction", [0.3, 0.02])
@with_and_without_constant
@each_set
@each_loss
def test_the_optimum_is_that_of_the_penalty_with_that_norm(loss, name, constant, fraction):
    drawn = draw(45, loss)
    options = dict(SETS[name])
    if options.pop("c", False):
        options["c"] = np.random.default_rng(5).uniform(0.3, 3, len(drawn.rows.keys))
    simplex = options.pop("simplex", False)
    nonnegative = simplex or options.get("nonnegative", False)
    reference = drawn.reference(**options | {"nonnegative": nonnegative}, constant=constant)
    reference.l1 = fraction * batch.l1_max(reference)
    w, b = batch.solve(reference)
    z = float(np.abs(w) @ reference.weights)
    best = reference.objective(w, b) - reference.l1 * z
    problem = drawn.problem(**options, constant=constant, radius=z, simplex=simplex)
    for solver in (gradient.ProjectedGradient(problem), gradient.AcceleratedGradient(problem)):
        problem.set(np.zeros(len(w)), 0.0)
        for _ in range(3000):
            solver.step()
            if problem.gap <= 1e-10 * best:
                break
        assert problem.objective == pytest.approx(best, rel=1e-9)
        assert problem.lower_bound <= best * (1 + 1e-12)
        assert float(np.abs(problem.w) @ reference.weights) <= z * (1 + 1e-12)
        problem.forget()


def test_the_accelerated_one_needs_fewer_passes():
    passes = []
    for kind in (gradient.ProjectedGradient, gradient.AcceleratedGradient):
        _, _, problem = drawn_with(46, "logistic", "ball", True, radius=5.0)
        solver = kind(problem, iterations=1)
        solver.step()
        while problem.gap > 1e-6 * problem.objective:
            solver.step()
        passes.append(solver.passes)
    assert passes[1] < passes[0]


def test_exponentiated_gradient_comes_to_the_optimum():
    for name, kind in (
        ("ball", sampled.ExponentiatedGradientBothSigns),
        ("simplex", sampled.ExponentiatedGradient),
    ):
        _, _, problem = drawn_with(47, "logistic", name, True)
        passes = []
        for step in ("armijo", "fixed"):
            problem.set(np.zeros(len(problem.w)), 0.0)
            problem.forget()
            solver = kind(problem, step=step)
            while solver.passes < 50_000 and (solver.passes == 0 or problem.gap > 1e-5 * problem.objective):
                solver.step()
            passes.append(solver.passes)
            assert problem.gap <= 1e-5 * problem.objective
        assert passes[0] < passes[1] / 2


@pytest.mark.parametrize(
    "kind",
    [
        gradient.ProjectedGradient,
        gradient.AcceleratedGradient,
        gradient.FrankWolfe,
        sampled.Minibatch,
        sampled.ExponentiatedGradientBothSigns,
    ],
)
def test_beginning_continuing_and_stopping(kind):
    """Looking changes nothing; from given weights it begins there; stopped at once, the weights are valid."""
    ways = []
    for looks in (False, True):
        _, _, problem = drawn_with(48, "logistic", "ball", True)
        solver = kind(problem, iterations=2)
        for _ in range(6):
            solver.step()
            if looks:
                problem.evaluate()
        ways.append((bytes(problem.w), problem.b))
    assert ways[0] == ways[1]
    reference, _, problem = drawn_with(48, "logistic", "ball", True)
    given = np.linspace(-0.1, 0.1, len(problem.w))  # inside
    problem.set(given, 0.25)
    solver = kind(problem, iterations=2)
    solver.stop()
    solver.step()
    np.testing.assert_allclose(problem.w, given, rtol=1e-9, atol=1e-12)
    assert problem.b == 0.25
    assert problem.objective == pytest.approx(reference.objective(np.array(problem.w), problem.b), rel=1e-12)
    problem.set(np.full(len(given), 2.0), 0.0)  # outside
    kind(problem, iterations=1).step()
    assert np.abs(problem.w).sum() <= 0.8 * (1 + 1e-12)


def test_the_seed_decides_the_sample():
    def weights(seed):
        _, _, problem = drawn_with(49, "logistic", "ball", True)
        sampled.Minibatch(problem, batch=1, seed=seed).step()
        return bytes(problem.w)

    assert weights(1) == weights(1) != weights(2)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_a_sample_of_all_and_a_loss_with_kinks(loss):
    """Samples take any loss; one of all examples is the whole gradient."""
    reference, ball, problem = drawn_with(50, loss, "ball", True)
    eager = Minibatch(reference, ball, size=len(reference.y), how="sqrt", eta0=0.1)
    solver = sampled.Minibatch(problem, batch=len(reference.y), eta0=0.1, iterations=1)
    for _ in range(10):
        solver.step()
        eager.step()
        same(problem, eager)


@pytest.mark.parametrize("kind", ["ProjectedGradient", "AcceleratedGradient", "Minibatch", "ExponentiatedGradient"])
def test_no_columns(kind):
    """The constant alone is left: log odds of 2 to 1."""
    rows = rows_of([Line(1.0, []), Line(-1.0, []), Line(1.0, [])])
    entropy = -(np.log(2 / 3) * 2 + np.log(1 / 3)) / 3
    for problem in (
        Problem(rows, "logistic", radius=1.0, simplex=True),
        SoftmaxProblem(rows, 2, 1.0, True, labels=np.array([1.0, 2.0, 1.0])),
    ):
        options = {"batch": 3, "step": "fixed"} if kind == "Minibatch" else {}
        solver = class_of(kind)(problem, iterations=100, **options)
        for _ in range(5):
            solver.step()
        assert problem.objective == pytest.approx(entropy, rel=1e-6)
        assert problem.gap <= 1e-6


def test_columns_that_are_the_same():
    """Two of a kind do what one does."""
    drawn = draw(53, "logistic")
    twice = [
        line._replace(features=[(k % 32 + at, v) for at in (0, 32) for k, v in line.features]) for line in drawn.lines
    ]
    objectives = []
    for rows in (drawn.rows, rows_of(twice, bits=6)):
        problem = Problem(rows, "logistic", radius=0.7)
        solver = gradient.AcceleratedGradient(problem)
        for _ in range(200):
            solver.step()
        problems = [problem]
        for kind in (StochasticCoordinateDescent, DeterministicCoordinateDescent):
            problem = Problem(rows, "logistic", l1=0.02)
            solver = kind(problem, visits=300)
            for _ in range(200):
                solver.step()
            problems.append(problem)
        objectives.append([problem.objective for problem in problems])
    np.testing.assert_allclose(*objectives, rtol=1e-9)


def test_one_class():
    for kind in (gradient.ProjectedGradient, gradient.AcceleratedGradient, sampled.Minibatch):
        drawn = draw(51, "logistic", one_class=True)
        problem = drawn.problem(radius=1.0)
        solver = kind(problem, **({"batch": 5} if kind is sampled.Minibatch else {}))
        for _ in range(20):
            solver.step()
        assert problem.objective < 0.5
        assert np.isfinite(problem.b)


@pytest.mark.parametrize(
    ("kind", "options", "text"),
    [
        ("ProjectedGradient", {"step": "half"}, "step is 'half'"),
        ("ProjectedGradient", {"eta0": 0.0}, "eta0"),
        ("Minibatch", {"step": "armijo"}, "step is 'armijo'"),
        ("Minibatch", {"batch": 0}, "batch is 0"),
        ("Minibatch", {"batch": 1.5}, "batch is 1.5"),
        ("Minibatch", {"batch": float("nan")}, "batch is nan"),
        ("Minibatch", {"batch": None}, "size"),
        ("ExponentiatedGradient", {}, "simplex"),
    ],
)
def test_refusals(kind, options, text):
    problem = draw(52, "logistic").problem(radius=1.0)
    with pytest.raises(ValueError, match=text):
        class_of(kind)(problem, **options)


def test_other_refusals():
    drawn = draw(52, "logistic")
    for kind in ("ProjectedGradient", "AcceleratedGradient", "Minibatch", "ExponentiatedGradientBothSigns"):
        with pytest.raises(ValueError, match="radius"):
            class_of(kind)(drawn.problem(l1=0.1))
    with pytest.raises(ValueError, match="w >= 0"):
        sampled.ExponentiatedGradientBothSigns(drawn.problem(radius=1.0, nonnegative=True))
    with pytest.raises(ValueError, match="with samples it is"):
        sampled.ExponentiatedGradientBothSigns(drawn.problem(radius=1.0), step="armijo", batch=3)
    with pytest.raises(ValueError, match="kinks it is"):
        sampled.ExponentiatedGradientBothSigns(draw(52, "hinge").problem(radius=1.0))
    with pytest.raises(ValueError, match="l2"):
        sampled.ExponentiatedGradientBothSigns(drawn.problem(radius=1.0, l2=0.1), batch=3)
    with pytest.raises(ValueError, match="kinks"):
        gradient.ProjectedGradient(draw(52, "hinge").problem(radius=1.0))
