"""The quantile and the huber loss as `--algorithm auto` learns them."""

import numpy as np
import pytest
from slow_auto import DELTA, TAU, WIDTH, ScaledHuber, SmoothQuantile

from vwlite.core.auto import robust
from vwlite.core.learn import losses

GRID = [i / 64 for i in range(-128, 129)] + [-WIDTH, WIDTH, -DELTA, DELTA, -30.0, 30.0]
CASES = {
    **{f"quantile {tau}": (losses.Quantile(tau), robust.smoothed(losses.Quantile(tau)), SmoothQuantile(tau))
       for tau in (0.1, 0.5, TAU)},
    **{f"huber {delta}": (robust.ScaledHuber(delta), robust.ScaledHuber(delta), ScaledHuber(delta))
       for delta in (1e-6, DELTA, 1.0, 3.0)},
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("y", [0.0, -0.7])
def test_value_and_derivatives_are_those_of_the_definition(name, y):
    _, smooth, slow = CASES[name]
    for p in GRID:
        assert smooth(p, y) == pytest.approx(slow.value(p, y), rel=1e-9, abs=1e-12)
        assert smooth.derivative(p, y) == pytest.approx(slow.dloss(p, y), rel=1e-9, abs=1e-12)
        if abs(abs(p - y) - (WIDTH if "quantile" in name else smooth.delta)) > 1e-9:
            assert smooth.second_derivative(p, y) == pytest.approx(slow.curvature(p, y), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
def test_the_smooth_quantile_loss_is_the_mean_over_labels_near_by(tau):
    exact, smooth = losses.Quantile(tau), robust.smoothed(losses.Quantile(tau))
    near = (np.arange(2000) + 0.5) / 2000 * 2 * WIDTH - WIDTH
    for p in GRID:
        assert smooth(p, 0.0) == pytest.approx(np.mean([exact(p, y) for y in near]), abs=1e-7)
        assert smooth(p, 0.0) >= exact(p, 0.0)


def test_huber_is_between_the_absolute_and_the_squared_loss():
    for p in GRID:
        assert robust.ScaledHuber(1e-9)(p, 0.0) == pytest.approx(2 * abs(p), abs=1e-8)
        assert robust.ScaledHuber(100.0)(p, 0.0) == pytest.approx(p * p)
        assert robust.smoothed(losses.Huber(0.5))(p, 0.0) == robust.ScaledHuber(0.5)(p, 0.0)
    assert robust.smoothed(robust.ScaledHuber(1e-6)).delta == WIDTH
    logistic = losses.Logistic()
    assert robust.smoothed(logistic) is logistic


def flow(loss, p: float, y: float, eta: float, h: float, steps: int = 20_000) -> float:
    """Where dp/ds = -h l'(p) leads in the time eta, by tiny steps; at the label it stays."""
    for _ in range(steps):
        after = p - eta / steps * h * loss.derivative(p, y)
        if (p < y < after) or (after < y < p):
            return y
        p = after
    return p


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("p", [-3.0, -0.3, 0.0, 0.05, 0.41, 2.0])
def test_a_step_is_the_limit_of_tiny_steps(name, p):
    loss = CASES[name][0]
    for eta, h in [(0.01, 1.0), (0.5, 0.3), (1.0, 1.0), (0.02, 25.0), (3.0, 2.0)]:
        moved = p + h * loss.step(p, 0.0, eta, h)
        assert moved == pytest.approx(flow(loss, p, 0.0, eta, h), abs=1e-3)
        assert min(p, 0) - 1e-12 <= moved <= max(p, 0) + 1e-12


def test_a_step_of_the_quantile_loss_is_tau_or_the_rest_and_stops_at_the_label():
    loss, tau, c = losses.Quantile(TAU), TAU, 0.25
    for p, y, end in [(0, 9, tau * c), (9, 0, 9 - (1 - tau) * c), (0, 0.01, 0.01), (0.01, 0, 0), (3, 3, 3)]:
        assert p + loss.step(p, y, c, 1.0) == pytest.approx(end)
