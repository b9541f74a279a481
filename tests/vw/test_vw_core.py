"""What Vowpal Wabbit's front asks of the core: its losses, and `gd` with any choice of its flags."""

from itertools import product
from math import exp, expm1, log, sqrt

import numpy as np
import pytest

from vwlite.core.data.expand import Expander
from vwlite.core.learn.losses import Squared
from vwlite.core.vw.gd_flags import GdWithFlags
from vwlite.core.vw.losses import Classic, Expectile, PoissonDeviance, SoftLogistic
from vwlite.core.vw.stepper import Stepper

GRID = [i / 16 for i in range(-64, 65)]


def softplus(x: float) -> float:
    return log(1 + exp(x))


@pytest.mark.parametrize(
    ("loss", "value", "labels"),
    [
        (Classic(), lambda p, y: (p - y) ** 2, [-1.0, 0.3]),
        (Expectile(0.2), lambda p, y: (0.2 if y < p else 0.8) * (p - y) ** 2, [-1.0, 0.3]),
        (SoftLogistic(), lambda p, y: (y + 1) / 2 * softplus(-p) + (1 - y) / 2 * softplus(p), [-1.0, 0.0, 0.4, 1.0]),
        (SoftLogistic(0, 2), lambda p, y: y / 2 * softplus(-p) + (1 - y / 2) * softplus(p), [0.0, 0.5, 2.0]),
        (PoissonDeviance(), lambda p, y: 2 * (y * (log(y + 1e-6) - p) - (y - exp(p))), [0.0, 1.0, 3.0]),
    ],
)
def test_losses_are_those_of_the_definition(loss, value, labels):
    for y, p in product(labels, GRID):
        assert loss(p, y) == pytest.approx(value(p, y), rel=1e-9, abs=1e-9)
        dloss = (value(p + 1e-6, y) - value(p - 1e-6, y)) / 2e-6
        if isinstance(loss, PoissonDeviance):
            dloss /= 2      # its steps are those of half the deviance
        assert loss.derivative(p, y) == pytest.approx(dloss, abs=1e-3)


def test_large_predictions_are_evaluated_as_vowpal_wabbit_does():
    """In single precision 1 + exp(-yp) is 1 from 16.6 on: there is no loss. Of p, poisson sees at most 44."""
    soft = SoftLogistic()
    for p in (16.6, 16.7, 50.0):
        lost = np.float32(1) + np.exp(np.float32(-p)) == 1
        assert lost == (p > 16.65)
        assert (soft(p, 1.0) == soft(-p, -1.0) == 0) == lost
        assert soft.derivative(p, 1.0) == pytest.approx(-exp(-p), rel=1e-6)
        assert soft(p, 0.5) == pytest.approx(softplus(-p) * 0.75 + softplus(p) * 0.25)
    deviance = PoissonDeviance()
    for y in (0.0, 1.0):
        assert deviance(49.0, y) == deviance(44.0, y) == pytest.approx(2 * exp(44), rel=1e-9)
        assert deviance(-49.0, y) == deviance(-44.0, y) == pytest.approx(2 * y * 43, abs=1e-5)
        assert deviance.derivative(49.0, y) == pytest.approx(exp(44))


def eager(examples, *, adaptive, normalized, invariant, power_t, rate):
    """Predictions before each example: the definition, dense and in double precision; squared loss."""
    n = examples[0][0].size
    w, G, N = np.zeros(n), np.zeros(n), np.zeros(n)
    S = W = t = 0.0
    M, low, high, out = 1.0, 0.0, 0.0, []
    for x, y in examples:
        low, high = min(low, y), max(high, y)
        p = min(max(float(w @ x), low), high)
        out.append(p)
        d, r = 2 * (p - y), np.ones(n)
        on = np.flatnonzero(x)
        if d != 0:
            if adaptive:
                G[on] += d * d * x[on] ** 2
            if normalized:
                for i in on:
                    size = abs(x[i])
                    if size > N[i]:
                        if N[i] > 0 and power_t == 0.5:
                            w[i] *= (N[i] / size) ** (1 if adaptive else 2)
                        elif N[i] > 0:
                            w[i] *= ((size / N[i]) ** 2) ** (power_t - 1)
                        N[i] = size
                S += float(np.sum((x[on] / N[on]) ** 2))
                W += 1
                if power_t == 0.5:
                    M = sqrt(W / S) if adaptive else W / S
                else:
                    M = (S / W) ** (power_t - 1)
            if adaptive:
                r[on] *= G[on] ** -power_t
            if normalized:
                r[on] *= (N[on] ** (-1.0 if adaptive else -2.0)) if power_t == 0.5 else (N[on] ** 2) ** (power_t - 1)
            h = M * float(np.sum(x[on] ** 2 * r[on]))
            eta = rate * (1 if adaptive else (t + 1) ** -power_t)
            step = -(y - p) * expm1(-2 * eta * h) / h if invariant and eta * h >= 1e-6 else -eta * d
            w[on] += step * M * x[on] * r[on]
        t += 1
    return out


@pytest.mark.parametrize("flags", list(product([False, True], repeat=3)))
@pytest.mark.parametrize("power_t", [0.5, 0.3])
def test_gd_with_any_flags_is_the_eager_one(flags, power_t):
    names = dict(zip(("adaptive", "normalized", "invariant"), flags, strict=True))
    random = np.random.default_rng(7)
    examples = []
    for _ in range(60):
        x = np.where(random.random(8) < 0.5, random.normal(size=8) * np.arange(1, 9), 0.0).astype(np.float32)
        examples.append((x.astype(float), float(random.choice([-1.0, 0.5, 1.0]))))
    rate = 0.05 if flags[0] or flags[1] else 0.005
    rule = GdWithFlags(Squared(), rate=rate, power_t=power_t, **names)
    stepper = Stepper(rule, Squared(), Expander(bits=32, constant=False), bits=18)
    found = []
    for x, y in examples:
        on = np.flatnonzero(x)
        stepper.set([int(i) for i in on], [float(x[i]) for i in on])
        found.append(stepper.learn(y))
    assert found == pytest.approx(eager(examples, power_t=power_t, rate=rate, **names), abs=1e-4)


def test_each_model_of_a_stepper_learns_alone():
    stepper = Stepper(GdWithFlags(Squared()), Squared(), Expander(bits=32, constant=False), bits=18, shift=2)
    stepper.set([stepper.key(3)], [1.0])
    stepper.learn(1.0, 1.0, 2)
    assert stepper.predict(2) > 0 and stepper.predict(1) == 0 and stepper.predict(3) == 0
