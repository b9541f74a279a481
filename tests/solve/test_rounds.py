"""Rounds over shards: sums that add, bounds that hold, steps as the references', and the optimum in the end."""

from array import array
from itertools import pairwise

import batch
import numpy as np
import pytest
import rounds as references
from batch_problems import LOSSES, draw, rows_of

from vwlite.core.solve.rounds import OWLQN, SPG
from vwlite.core.solve.shard import DualPoint, Shard, sums_of
from vwlite.solving.rounds.sums import FeaturesOfShards, sum_of_arrays

pytestmark = pytest.mark.pairwise("rounds")
each_loss = pytest.mark.parametrize("loss", LOSSES)
with_and_without_constant = pytest.mark.parametrize("constant", [True, False])
STRENGTHS = {
    "l1": {"l1": 0.05},
    "l2": {"l2": 0.1},
    "elastic": {"l1": 0.03, "l2": 0.05},
    "radius": {"radius": 0.8},
    "radius and l2": {"radius": 0.8, "l2": 0.1},
}
each_strength = pytest.mark.parametrize("name", STRENGTHS)


def shards_of(drawn, cuts=(7, 19)):
    """The lines of a drawn problem in three pieces."""
    ends = [0, *cuts, len(drawn.lines)]
    return [rows_of(drawn.lines[a:b]) for a, b in pairwise(ends)]


class Sums:
    """The sums over shards, as in the driver of the rounds."""

    def __init__(self, loss, shards, constant):
        self.loss, self.constant = loss, constant
        self.shards = [Shard(rows, loss, constant=constant) for rows in shards]
        self.features = FeaturesOfShards.of([rows.keys for rows in shards])
        self.keys = self.features.keys

    def at(self, x):
        """The mean loss, its gradient, the curvature by the constant; a dual point."""
        found = []
        for shard in self.shards:
            w = np.array([x[list(self.keys).index(key)] for key in shard.rows.keys])
            found.append(shard.sums(w, x[-1]))
        total = sum_of_arrays([sums for sums, _, _ in found])
        assert len(total) == sums_of(self.loss)
        slopes = self.features.sum([g for _, g, _ in found])
        second = None if found[0][2] is None else self.features.sum([g2 for _, _, g2 in found])
        whole = total[0]
        dual = DualPoint(self.loss, self.constant, total, slopes, second if self.constant else None)
        gradient = np.append(slopes, total[2] if self.constant else 0.0) / whole
        return total[1] / whole, gradient, total[3] / whole, dual


def descent_of(strength, x):
    return SPG(x, **strength) if "radius" in strength else OWLQN(x, **strength)


def reference_of(strength, x):
    known = {"l1": 0.0} | strength
    if "radius" in strength:
        known.pop("l1")
        return references.SPG(x, **known)
    return references.OWLQN(x, **known)


@with_and_without_constant
@each_loss
def test_sums_over_shards_are_those_of_the_whole(loss, constant):
    drawn = draw(3, loss)
    sums, reference = Sums(loss, shards_of(drawn), constant), drawn.reference(constant=constant)
    assert list(sums.keys) == list(drawn.rows.keys)
    rng = np.random.default_rng(1)
    for size in (0.0, 0.3, 2.0):
        x = size * rng.normal(0, 1, len(sums.keys) + 1)
        x[-1] *= constant
        loss_at, gradient, curvature, _ = sums.at(x)
        g, by_b = reference.gradient(x[:-1], x[-1])
        bends = reference.h @ batch.LOSSES[loss].curvature(reference.predictions(x[:-1], x[-1]), reference.y)
        assert loss_at == pytest.approx(reference.mean_loss(x[:-1], x[-1]), rel=1e-12)
        np.testing.assert_allclose(gradient, [*g, by_b * constant], rtol=1e-10, atol=1e-12)
        assert curvature == pytest.approx(bends, rel=1e-10)


@each_strength
@with_and_without_constant
@each_loss
def test_no_bound_is_above_the_optimum_and_near_it_they_meet(loss, constant, name):
    strength = STRENGTHS[name]
    drawn = draw(5, loss)
    sums = Sums(loss, shards_of(drawn), constant)
    descent = descent_of(strength, np.zeros(len(sums.keys) + 1))
    least, rng = np.inf, np.random.default_rng(2)
    bounds = []
    given = {"l1": 0.0, "l2": 0.0} | strength
    for _ in range(3000):
        if descent.done:
            break
        loss_at, gradient, curvature, dual = sums.at(descent.arrays["trial"])
        descent.tell(loss_at, gradient, curvature)
        least = min(least, descent.objective)
        bounds.append(dual.bound(**given))
    for size in (0.1, 1.0, 3.0):
        x = size * rng.normal(0, 1, len(sums.keys) + 1)
        x[-1] *= constant
        bounds.append(sums.at(x)[3].bound(**given))
    assert max(bounds) <= least * (1 + 1e-9) + 1e-12
    assert max(bounds) == pytest.approx(least, rel=1e-5)


@each_strength
@with_and_without_constant
@each_loss
def test_rounds_go_as_the_reference(loss, constant, name):
    strength = STRENGTHS[name]
    drawn = draw(41, loss)
    sums = Sums(loss, shards_of(drawn), constant)
    start = np.zeros(len(sums.keys) + 1)
    descent, eager = descent_of(strength, start), reference_of(strength, start)
    refused = 0
    for _ in range(18):
        np.testing.assert_allclose(descent.arrays["trial"], eager.trial, rtol=1e-6, atol=1e-9)
        loss_at, gradient, curvature, _ = sums.at(eager.trial)
        taken = eager.tell(loss_at, gradient, curvature)
        assert descent.tell(loss_at, gradient.copy(), curvature) == taken
        assert descent.objective == pytest.approx(eager.objective, rel=1e-9)
        refused += not taken
        if eager.done or descent.done:
            break
    assert descent.rounds == descent.steps + refused


@each_loss
def test_rounds_with_a_given_first_hessian_go_as_the_reference(loss):
    sums = Sums(loss, shards_of(draw(41, loss)), True)
    start = np.zeros(len(sums.keys) + 1)
    root = np.random.default_rng(4).normal(0, 0.3, (len(start), len(start)))

    def hessian(x, curvature):
        """Any that is positive, and depends on what it is given."""
        return root @ root.T + np.diag(0.2 + np.append(x[:-1] ** 2, curvature))

    def solve(x, q, curvature):
        return np.linalg.solve(hessian(np.asarray(x), curvature), np.asarray(q))

    descent, eager = OWLQN(start, l2=0.1, solve=solve), references.OWLQN(start, 0.0, 0.1, hessian=hessian)
    for _ in range(12):
        np.testing.assert_allclose(descent.arrays["trial"], eager.trial, rtol=1e-6, atol=1e-9)
        loss_at, gradient, curvature, _ = sums.at(eager.trial)
        assert descent.tell(loss_at, gradient.copy(), curvature) == eager.tell(loss_at, gradient, curvature)
    assert descent.steps > 5


@pytest.mark.parametrize("name", ["l1", "l2", "elastic"])
@with_and_without_constant
@each_loss
def test_the_optimum_is_that_of_the_reference(loss, constant, name):
    drawn = draw(7, loss)
    sums, reference = Sums(loss, shards_of(drawn), constant), drawn.reference(constant=constant, **STRENGTHS[name])
    w, b = batch.solve(reference)
    descent = descent_of(STRENGTHS[name], np.zeros(len(sums.keys) + 1))
    for _ in range(500):
        if not descent.done:
            descent.tell(*sums.at(descent.arrays["trial"])[:3])
    assert descent.objective == pytest.approx(reference.objective(w, b), rel=1e-9)


def test_the_ball_holds_its_weights():
    drawn = draw(7, "logistic")
    sums = Sums("logistic", shards_of(drawn), True)
    free = OWLQN(np.zeros(len(sums.keys) + 1), l1=0.02)
    for _ in range(300):
        if not free.done:
            free.tell(*sums.at(free.arrays["trial"])[:3])
    radius = float(np.abs(free.weights()[0]).sum())
    ball = SPG(np.full(len(sums.keys) + 1, 3.0), radius=radius)
    for _ in range(2000):
        if not ball.done:
            assert np.abs(ball.weights("trial")[0]).sum() <= radius * (1 + 1e-12)
            ball.tell(*sums.at(ball.arrays["trial"])[:3])
    # That of the same problem with a penalty instead.
    assert ball.least == pytest.approx(free.objective - 0.02 * radius, rel=1e-8)


@each_strength
def test_a_state_continues_as_if_nothing_had_happened(name):
    strength = STRENGTHS[name]
    drawn = draw(13, "logistic")
    sums = Sums("logistic", shards_of(drawn), True)
    first = descent_of(strength, np.zeros(len(sums.keys) + 1))
    for _ in range(25):
        again = descent_of(strength, np.zeros(len(sums.keys) + 1))
        again.load(first.state(), {k: bytes_of(a) for k, a in first.arrays.items()})
        at_trial = sums.at(first.arrays["trial"])[:3]
        for descent in (first, again):
            if not descent.done:
                descent.tell(at_trial[0], at_trial[1].copy(), at_trial[2])
        assert again.state() == first.state()
        assert {k: a.tobytes() for k, a in again.arrays.items()} == {k: a.tobytes() for k, a in first.arrays.items()}


def bytes_of(numbers):
    return memoryview(numbers.tobytes()).cast("d")


def test_a_state_of_something_else_is_refused():
    one, other = OWLQN(np.zeros(3), l1=0.1), SPG(np.zeros(3), radius=1.0)
    with pytest.raises(ValueError, match="not those of the method"):
        one.load(other.state(), other.arrays)
    with pytest.raises(ValueError, match="not those of the method"):
        other.load({}, other.arrays)
    with pytest.raises(ValueError, match="not those of the method"):
        one.load(one.state(), {k: a[:2] for k, a in one.arrays.items()})


def test_an_objective_that_is_not_a_number_shortens_the_step():
    descent = OWLQN(np.zeros(3), l1=0.1)
    assert descent.tell(1.0, array("d", [1.0, -2.0, 0.5]), 0.25)
    trial = list(descent.arrays["trial"])
    assert not descent.tell(float("inf"), array("d", [0.0, 0.0, 0.0]), 0.0)
    np.testing.assert_allclose(descent.arrays["trial"], np.array(trial) / 10)


def test_it_ends_where_nothing_is_lower():
    descent = OWLQN(np.zeros(2), l1=0.1)
    descent.tell(1.0, array("d", [1.0, 0.0]), 0.25)
    for _ in range(100):  # the slope is a lie
        if not descent.done:
            descent.tell(2.0, array("d", [1.0, 0.0]), 0.25)
    assert descent.done
    assert list(descent.arrays["trial"]) == [0.0, 0.0]


def test_numbers_of_shards_are_added_by_their_features():
    a, b = array("I", [1, 4, 9]), array("I", [0, 4, 10, 11])
    found = FeaturesOfShards.of([a, b])
    assert list(found.keys) == [0, 1, 4, 9, 10, 11] and list(found.places[1]) == [0, 2, 4, 5]
    assert list(found.sum([array("d", [1, 2, 3]), array("d", [5, 6, 7, 8])])) == [5, 1, 8, 3, 7, 8]
    with_more = found.sum([np.arange(8.0).reshape(4, 2), np.ones((5, 2))])  # a last row, of an intercept
    assert with_more.tolist() == [[1, 1], [0, 1], [3, 4], [4, 5], [1, 1], [1, 1], [7, 8]]
    with pytest.raises(ValueError, match="2 numbers of 4 features"):
        found.sum([array("d", [1, 2, 3]), array("d", [1, 2])])
    nothing = FeaturesOfShards.of([array("I"), array("I")])
    assert list(nothing.keys) == [] and list(nothing.sum([array("d"), array("d")])) == []


def test_a_loss_with_a_kink_is_refused():
    with pytest.raises(ValueError, match="kinks"):
        Shard(draw(1, "logistic").rows, "hinge")
