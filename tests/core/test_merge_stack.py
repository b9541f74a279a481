"""The stack of a merge against its slow reference, and what it does where a holdout says little."""

import numpy as np
import pytest
from merge import STACK_PRIOR, stack_average, stack_differences

from vwlite.algorithms.settings import Settings
from vwlite.core.auto.stack import WIDTH
from vwlite.merging import stack
from vwlite.merging.holdout import START, Candidate, HoldoutScores
from vwlite.merging.stack import Labelled, averaged, differences

N, SHARDS = 60, 4
WAYS = ("mean", "touched", "information", "path2", "path", "path32", "dual", "root")
CANDIDATES = [*map(Candidate, WAYS), START, *(Candidate("shard", shard=k) for k in range(SHARDS))]
COUNT = len(CANDIDATES)
LOSSES = {
    "squared": (Settings(loss="squared"), 0),
    "poisson": (Settings(loss="poisson"), 0),
    "logistic": (Settings(loss="logistic"), 0),
    "logistic of classes": (Settings(loss="logistic", oaa=3), 3),
    "softmax": (Settings(loss="logistic", oaa=3, softmax=True), 3),
}


def drawn(seed, loss, count=COUNT, n=N, noise=0.5):
    """Scores of models that know something of the labels: those, as they are in a holdout."""
    chance = np.random.default_rng(seed)
    classes = LOSSES[loss][1] or 1
    truth = chance.normal(size=(n, classes))
    x = truth + noise * chance.normal(size=(count, n, classes))
    if LOSSES[loss][1]:
        labels = 1.0 + (truth + chance.gumbel(size=truth.shape)).argmax(axis=1)
    elif loss == "poisson":
        labels = chance.poisson(np.exp(truth[:, 0])).astype(float)
    elif loss == "squared":
        labels = truth[:, 0] + 0.3 * chance.normal(size=n)
    else:
        labels = np.where(truth[:, 0] + chance.logistic(size=n) > 0, 1.0, -1.0)
    return HoldoutScores(x, labels, chance.choice([0.5, 1.0, 3.0], size=n), np.zeros(n))


def examples_of(scores, loss):
    settings, classes = LOSSES[loss]
    return Labelled.of(scores, settings, classes, None).smoothed()


def labels_of(scores, loss):
    """As the reference has them."""
    return scores.labels - 1 if LOSSES[loss][1] else scores.labels


def mixed(u, x):
    return sum(u[c] * scores for c, scores in x.items())


@pytest.mark.parametrize("loss", LOSSES)
def test_the_average_is_that_of_the_reference(loss):
    scores = drawn(1, loss)
    x, h, name = dict(zip(CANDIDATES, scores.each, strict=True)), scores.importance, loss.split()[0]
    assert {c.way for c in CANDIDATES} == set(STACK_PRIOR)
    u, scale = averaged(examples_of(scores, loss), x, SHARDS)
    keyed = {(c.way, max(c.shard, 0)): scores for c, scores in x.items()}
    expected, expected_scale = stack_average(keyed, labels_of(scores, loss), h, name)
    np.testing.assert_allclose(mixed(u, x), expected, rtol=1e-7, atol=1e-9)
    assert scale == pytest.approx(expected_scale, rel=1e-9)
    assert sum(u.values()) == pytest.approx(1)


@pytest.mark.parametrize("strength", [3.0, 30.0])
@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "softmax"])
def test_the_coefficients_of_shards_are_those_of_the_reference(loss, strength, monkeypatch):
    monkeypatch.setattr(stack, "STRENGTHS", (strength,))
    scores = drawn(1, loss)
    average, x = scores.each[0], scores.each[-SHARDS:]
    found, chosen = differences(examples_of(scores, loss), average, x, 0.7)
    assert chosen == strength
    h, name = scores.importance, loss.split()[0]
    expected = stack_differences(x, average, labels_of(scores, loss), h, 0.7 * strength, name)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert np.abs(found).max() > 1e-3 and abs(found.sum()) < 1e-12


@pytest.mark.parametrize("loss", ["hinge", "quantile", "huber"])
def test_losses_with_kinks(loss, monkeypatch):
    """With differences, the loss is no larger than that of the average."""
    monkeypatch.setattr(stack, "STRENGTHS", (1.0,))
    scores = drawn(2, "squared" if loss != "hinge" else "logistic")
    examples = Labelled.of(scores, Settings(loss=loss), 0, None).smoothed()
    average, x = scores.each[0], scores.each[-SHARDS:]
    u, _ = differences(examples, average, x, 1.0)
    after = average + np.tensordot(u, x, axes=1)
    assert examples.total(after) < examples.total(average)


def test_the_ridge_is_as_strong_as_the_shards_are_alike():
    """Shards that know nothing more have no coefficients; where one knows much more, it has some."""
    chance = np.random.default_rng(3)
    for useful in (True, False):
        scores = drawn(4, "squared", n=400, noise=0.2)
        x = scores.each[-SHARDS:].copy()
        x[1:] += (1.0 if useful else 0.0) * chance.normal(size=x[1:].shape)
        u, strength = differences(examples_of(scores, "squared"), x.mean(axis=0), x, 1.0)
        if useful:
            assert u[0] > 0.01 and u[0] == u.max() and strength <= 100
        else:
            assert np.abs(u).max() < 0.1


def test_neighbours_of_many_shards_have_one_coefficient():
    scores = drawn(5, "squared", 50, n=200)
    x = scores.each
    x[7:] += 3 * np.random.default_rng(8).normal(size=x[7:].shape)  # of eight groups, the first is better
    u, strength = differences(examples_of(scores, "squared"), x.mean(axis=0), x, 0.1)
    assert strength < np.inf
    assert len(u) == 50 and len(set(u.round(12))) == WIDTH


def test_examples_that_are_separated_ask_for_no_larger_weights():
    """A holdout of a few positives, all far on their side: plain maximum likelihood would multiply the scores."""
    labels = np.where(np.arange(200) % 40 == 0, 1.0, -1.0)
    way, shard = Candidate("information"), Candidate("shard", shard=0)
    whole = 5 * labels[:, None]
    scores = HoldoutScores(np.array([whole] * 2), labels, np.ones(200), np.zeros(200))
    x = {way: whole, START: 0 * whole, shard: whole}
    u, _ = averaged(examples_of(scores, "logistic"), x, 4)
    assert 1 < u[way] + u[shard] < 1.3


def test_steps_are_chosen_by_many_examples_and_averaged_by_few():
    chance = np.random.default_rng(6)
    truth = chance.normal(size=(2000, 1))
    labels = np.where(truth[:, 0] + chance.logistic(size=2000) > 0, 1.0, -1.0)
    way, found = Candidate("information"), {}
    for n in (2000, 8):
        scores = HoldoutScores(truth[None, :n], labels[:n], np.ones(n), np.zeros(n))
        u, _ = averaged(examples_of(scores, "logistic"), {way: truth[:n] / 3, START: np.zeros((n, 1))}, 2)
        found[n] = u[way]
    assert abs(found[2000] - 3) < 0.3 < abs(found[8] - 3)


def test_what_is_not_finite_is_left_out():
    scores = drawn(7, "logistic")
    x = dict(zip(CANDIDATES, scores.each.copy(), strict=True))
    x[CANDIDATES[2]][3] = np.inf
    u, _ = averaged(examples_of(scores, "logistic"), x, SHARDS)
    assert u[CANDIDATES[2]] == 0 and sum(u.values()) == pytest.approx(1)
    x[START][:] = np.inf
    u, _ = averaged(examples_of(scores, "logistic"), x, SHARDS)
    assert {c: b for c, b in u.items() if b} == {START: 1.0}
    u, strength = differences(examples_of(scores, "logistic"), x[START], scores.each[-SHARDS:], 1.0)
    assert not u.any() and strength == np.inf


def test_the_loss_of_classes_and_what_is_infinite():
    p = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]])
    scores = HoldoutScores(p[None], np.array([2.0, 3.0]), np.ones(2), np.zeros(2))
    settings, _ = LOSSES["logistic of classes"]
    found = Labelled.of(scores, settings, 3, None).losses(p)
    signs = np.array([[-1, 1, -1], [-1, -1, 1]])
    np.testing.assert_allclose(found, np.log1p(np.exp(-signs * p)).sum(axis=1), rtol=1e-12)
    softmax, _ = LOSSES["softmax"]
    share = np.exp(p) / np.exp(p).sum(axis=1, keepdims=True)
    found = Labelled.of(scores, softmax, 3, None).losses(p)
    np.testing.assert_allclose(found, -np.log([share[0, 1], share[1, 2]]), rtol=1e-12)
    known = Labelled.of(scores, softmax, 2, None)  # the label 3 has no name
    assert known.mean(known.losses(p))[0] == pytest.approx(-np.log(share[0, 1]), rel=1e-12)
    clipped = Labelled.of(scores, Settings(loss="squared"), 0, (2.5, 9.0)).losses(p[:, :1])
    np.testing.assert_allclose(clipped, [0.25, 0.25])
    assert np.isinf(known.mean(known.losses(np.full_like(p, np.inf)))[0])
