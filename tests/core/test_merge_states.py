"""The state after a merge against its eager reference."""

from dataclasses import replace

import numpy as np
import pytest
from merge import adagrad_z, ftrl_z, product, project_adaptive, rda_z, soft

from vwlite.algorithms.settings import Settings
from vwlite.core.merge.sums import ModelStream, Sums
from vwlite.merging.states import Merged
from vwlite.model.learners import make_loss, make_rule

N, CONSTANT = 40, 7


def merged(seed, algorithm, **options):
    """Random numbers; of one in three features the weight is zero."""
    chance = np.random.default_rng(seed)
    w = chance.normal(size=(N, 1)) * (chance.random((N, 1)) < 0.67)
    return Merged(
        settings=replace(Settings.of(algorithm), loss="logistic", **options),
        scalars={"t": [20.0], "shift": [0.3], "scale": [0.5]}, keys=np.arange(N, dtype=np.uint32),
        constant_row=CONSTANT,
        w=w, S=chance.exponential(size=(N, 1)), extra=chance.normal(size=(N, 1)), absent=chance.random((N, 1)) * 0.2,
        unseen=[0.0], features=1000,
    )


def rule_of(m):
    return make_rule(m.settings, make_loss(m.settings), None)


def strength(x):
    """The same for all features but the constant."""
    found = np.full(N, x)
    found[CONSTANT] = 0
    return found


def close(a, b):
    np.testing.assert_allclose(np.ravel(a), b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_duals_of_weights(seed):
    m = merged(seed, "adagrad", l1=0.01, delta=0.1)
    w, S, z = m.w.ravel(), m.S.ravel(), m.extra.ravel()
    found = rule_of(m).state_of(m)
    close(found["z"], adagrad_z(w, S, 0.1, strength(0.3)))
    close(soft(np.ravel(found["z"]), strength(0.3)) / (0.1 + np.sqrt(S)), w)
    m = merged(seed, "adagrad-rda", l1=0.01, delta=0.1)
    close(rule_of(m).state_of(m)["z"], rda_z(w, S, 0.1, strength(20 * 0.01), m.settings.learning_rate, z))
    m = merged(seed, "ftrl", l1=0.2, l2=0.1, ftrl_alpha=0.3, ftrl_beta=2.0)
    close(rule_of(m).state_of(m)["z"], ftrl_z(w, S, 0.3, 2.0, strength(0.2), strength(0.1), z))
    close(rule_of(m).state_of(m)["root"], np.sqrt(S))


@pytest.mark.parametrize("seed", range(4))
def test_what_makes_weights_sparse(seed):
    m = merged(seed, "adagrad", l1=0.01, delta=0.1)
    w, S, z = m.w.ravel(), m.S.ravel(), m.extra.ravel()
    others = np.arange(N) != CONSTANT
    H = 0.1 + np.sqrt(S)
    close(rule_of(m).restricted(m, m.w), soft(w * H, m.absent.ravel() * others) / H)
    m = merged(seed, "adagrad-ball", radius=3.0, delta=0.1)
    expected = w.copy()
    expected[others] = project_adaptive(w[others], S[others], 0.1, 3.0)
    found = rule_of(m).restricted(m, m.w)
    close(found, expected)
    m.w = found
    state = rule_of(m).state_of(m)
    close(state["z"], expected * H)
    assert m.scalars["sum"] == [pytest.approx(np.abs(expected[others]).sum())]
    assert m.scalars["inverses"] == [pytest.approx((1 / H)[others & (expected != 0)].sum())]
    m = merged(seed, "ftrl", l1=0.2)
    close(rule_of(m).restricted(m, m.w), np.where(others & (np.abs(z) <= 0.2), 0, w))
    m = merged(seed, "adagrad-rda", l1=0.02)
    close(rule_of(m).restricted(m, m.w), np.where(others & (np.abs(z) <= 20 * 0.02), 0, w))


@pytest.mark.parametrize("seed", range(4))
def test_normal_distributions_and_averaged_gradients(seed):
    """`dual` of arow is the product of the distributions."""
    chance = np.random.default_rng(seed)
    keys = memoryview(np.arange(N, dtype=np.uint32))
    sigma0 = chance.uniform(0.5, 1, N)
    sigma = sigma0 * chance.uniform(0.1, 1, (3, N))
    w0, w = chance.normal(size=N), chance.normal(size=(3, N))

    def sums(numbers0, numbers, z0, z, **more):
        start, *each = (
            ModelStream(keys, memoryview(a), memoryview(b), memoryview(c), [0], [0.0], [0.0])
            for a, b, c in zip([w0, *w], [numbers0, *numbers], [z0, *z], strict=True)
        )
        wanted = ("start", "start_evidence", "evidence", "dual", "extra")
        return Sums(start, each, wanted=wanted, extra="added", rates=[0.5], **more)

    z0, z = chance.normal(size=N), chance.normal(size=(3, N))
    found = sums(sigma0, sigma, z0, z, evidence="variance")
    mean, variance = product(w0, sigma0, w, sigma)
    close(np.array(found["start"]) + np.array(found["dual"]), mean)
    close(1 / (np.array(found["start_evidence"]) + np.array(found["evidence"])), variance)
