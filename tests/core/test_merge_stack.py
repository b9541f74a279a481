"""The stack of a merge against its slow reference, and what it does where a holdout says little."""

import numpy as np
import pytest
from merge import stack, stack_start, stack_weights

from vwlite.merging.holdout import Scores
from vwlite.merging.stack import MOST_GROUPS, Examples, combined, fitted, mean_step, stacked
from vwlite.options.settings import Settings

N, MERGES, SHARDS = 60, 3, 4
LOSSES = {
    "squared": (Settings(loss="squared"), 0),
    "poisson": (Settings(loss="poisson"), 0),
    "logistic": (Settings(loss="logistic"), 0),
    "logistic of classes": (Settings(loss="logistic", oaa=3), 3),
    "softmax": (Settings(loss="logistic", oaa=3, softmax=True), 3),
}


def drawn(seed, loss, count=MERGES + SHARDS, n=N, noise=0.5):
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
    return Scores(x, labels, chance.choice([0.5, 1.0, 3.0], size=n), np.zeros(n))


def examples_of(scores, loss):
    settings, classes = LOSSES[loss]
    return Examples.of(scores, settings, classes, None).smoothed()


@pytest.mark.parametrize("strength", [3.0, 30.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_coefficients_are_those_of_the_reference(loss, strength):
    scores = drawn(1, loss)
    x, h, name = scores.each, scores.importance, loss.split()[0]
    labels = scores.labels - 1 if LOSSES[loss][1] else scores.labels
    examples = examples_of(scores, loss)
    start, _ = stack_start(x, labels, h, MERGES, name)
    np.testing.assert_allclose(fitted(examples, x, MERGES, np.inf), start, atol=1e-9)
    found = fitted(examples, x, MERGES, strength)
    np.testing.assert_allclose(found, stack(x, labels, h, MERGES, strength, name), atol=1e-4)
    assert np.abs(found - start).max() > 1e-3


@pytest.mark.parametrize("loss", ["hinge", "quantile", "huber"])
def test_losses_with_kinks(loss):
    """The objective of the stack is no larger than that of where it begins."""
    scores = drawn(2, "squared" if loss != "hinge" else "logistic")
    examples = Examples.of(scores, Settings(loss=loss), 0, None).smoothed()
    start, found = (fitted(examples, scores.each, MERGES, strength) for strength in (np.inf, 1.0))
    before, after = (examples.mean(examples.losses(combined(scores.each, b)))[0] for b in (start, found))
    assert after < before


def test_the_ridge_is_as_strong_as_the_scores_are_useless():
    """Shards that know nothing have no coefficients; those that know much have some."""
    chance = np.random.default_rng(3)
    strengths = {}
    for useful in (True, False):
        scores = drawn(4, "squared", n=400, noise=0.2)
        x = scores.each if useful else np.append(scores.each[:1], chance.normal(size=(6, 400, 1)), axis=0)
        b, strengths[useful] = stacked(examples_of(scores, "squared"), x, 1)
        assert (np.abs(b[1:]).max() > 0.01) == useful
    assert strengths[True] <= 100 and strengths[False] >= 300


def test_neighbours_of_many_shards_have_one_coefficient():
    scores = drawn(5, "squared", MERGES + 50, n=200)
    b, strength = stacked(examples_of(scores, "squared"), scores.each, MERGES)
    assert strength < np.inf
    assert len(b) == MERGES + 50
    assert len(set(b[MERGES:])) == MOST_GROUPS


def test_examples_that_are_separated_ask_for_no_larger_weights():
    """A holdout of a few positives, all far on their side: plain maximum likelihood would multiply the scores."""
    labels = np.where(np.arange(200) % 40 == 0, 1.0, -1.0)
    scores = Scores(np.array([5 * labels[:, None]] * 3), labels, np.ones(200), np.zeros(200))
    examples = examples_of(scores, "logistic")
    b, _ = stacked(examples, scores.each, 1)
    assert b.sum() < 1.2
    start = np.zeros((200, 1))
    assert 1 < mean_step(examples, start, scores.each[0], [1.0, 2.0, 4.0, 8.0]) < 1.3


def test_steps_are_averaged_and_few_examples_average_more_of_them():
    chance = np.random.default_rng(6)
    truth = chance.normal(size=(2000, 1))
    labels = np.where(truth[:, 0] + chance.logistic(size=2000) > 0, 1.0, -1.0)
    start = np.zeros_like(truth)
    steps, whole = np.array([1.0, 2.0, 4.0, 16.0]), truth / 4
    found = {}
    for n in (2000, 8):
        scores = Scores(truth[None, :n], labels[:n], np.ones(n), np.zeros(n))
        found[n] = mean_step(examples_of(scores, "logistic"), start[:n], whole[:n], list(steps))
        each = steps[:, None, None] * whole[:n]
        weights, _ = stack_weights(each, labels[:n], np.ones(n), "logistic")
        weights /= np.maximum(steps, 1) ** 2
        assert found[n] == pytest.approx(weights @ steps / weights.sum(), rel=1e-9)
    assert abs(found[2000] - 4) < 0.1 < abs(found[8] - 4)


def test_the_loss_of_classes_and_what_is_infinite():
    p = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]])
    scores = Scores(p[None], np.array([2.0, 3.0]), np.ones(2), np.zeros(2))
    settings, _ = LOSSES["logistic of classes"]
    found = Examples.of(scores, settings, 3, None).losses(p)
    signs = np.array([[-1, 1, -1], [-1, -1, 1]])
    np.testing.assert_allclose(found, np.log1p(np.exp(-signs * p)).sum(axis=1), rtol=1e-12)
    softmax, _ = LOSSES["softmax"]
    share = np.exp(p) / np.exp(p).sum(axis=1, keepdims=True)
    found = Examples.of(scores, softmax, 3, None).losses(p)
    np.testing.assert_allclose(found, -np.log([share[0, 1], share[1, 2]]), rtol=1e-12)
    known = Examples.of(scores, softmax, 2, None)  # the label 3 has no name
    assert known.mean(known.losses(p))[0] == pytest.approx(-np.log(share[0, 1]), rel=1e-12)
    clipped = Examples.of(scores, Settings(loss="squared"), 0, (2.5, 9.0)).losses(p[:, :1])
    np.testing.assert_allclose(clipped, [0.25, 0.25])
    assert np.isinf(known.mean(known.losses(np.full_like(p, np.inf)))[0])
