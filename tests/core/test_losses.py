"""Losses: derivatives against slopes, invariant steps against the ODE that defines them."""

from math import exp, expm1, inf, isfinite, log, log1p

import numpy as np
import pytest
import slow_rules

from vwlite.core.learn.losses import (
    Expectile,
    Gamma,
    Hinge,
    Huber,
    Logistic,
    Poisson,
    Quantile,
    Squared,
    SquaredHinge,
    Tweedie,
)

GRID = [i / 64 for i in range(-256, 257)] + [-30.0, 30.0]  # kinks included

LOSSES = {
    "squared": (Squared(), slow_rules.Squared(), [-1.0, 0.0, 1.0, 0.3, 250.0]),
    "logistic": (Logistic(), slow_rules.Logistic(), [-1.0, 1.0]),
    "hinge": (Hinge(), slow_rules.Hinge(), [-1.0, 1.0]),
    "quantile": (Quantile(), slow_rules.Quantile(), [-1.0, 0.0, 1.0, 2.5]),
    "quantile-0.1": (Quantile(0.1), slow_rules.Quantile(0.1), [-1.0, 0.0, 1.0, 2.5]),
    "quantile-0.9": (Quantile(0.9), slow_rules.Quantile(0.9), [-1.0, 0.0, 1.0, 2.5]),
    "expectile-0.1": (Expectile(0.1), slow_rules.Expectile(0.1), [-1.0, 0.0, 1.0, 2.5]),
    "expectile-0.8": (Expectile(0.8), slow_rules.Expectile(0.8), [-1.0, 0.0, 1.0, 250.0]),
    "squared-hinge": (SquaredHinge(), slow_rules.SquaredHinge(), [-1.0, 1.0]),
    "huber": (Huber(), slow_rules.Huber(), [-1.0, 0.0, 1.0, 2.5]),
    "huber-0.1": (Huber(0.1), slow_rules.Huber(0.1), [-1.0, 0.0, 1.0, 2.5]),
    "poisson": (Poisson(), slow_rules.Poisson(), [0.0, 1.0, 3.0, 0.5, 40.0]),
    "gamma": (Gamma(), slow_rules.Gamma(), [1.0, 3.0, 0.5, 40.0]),
    **{
        f"tweedie-{power}": (Tweedie(power), slow_rules.Tweedie(power), [0.0, 1.0, 3.0, 0.5, 40.0])
        for power in (1.5, 1.03, 1.3, 1.7, 1.97)
    },
}
CASES = [(name, y) for name, (_, _, labels) in LOSSES.items() for y in labels]
EXTREMES = [-1e308, -1e30, -1e6, -800.0, -710.0, -100.0, -50.0, 0.0, 50.0, 100.0, 700.0, 710.0, 1e6, 1e30, 1e308]


def target(name: str, y: float) -> float:
    """The prediction at which the loss is least."""
    if LOSSES[name][0].power:
        return log(y) if y > 0 else -inf
    return y * inf if name == "logistic" else y


@pytest.mark.parametrize(("name", "y"), CASES)
def test_derivative_is_between_the_slopes_on_either_side(name, y):
    loss, h = LOSSES[name][0], 1e-5
    for p in GRID:
        here = loss(p, y)
        tol = 1e-6 + 3e-11 * abs(here) + (1.1 * h * loss.second_derivative(p, y) if loss.power else 0)
        left = (here - loss(p - h, y)) / h
        right = (loss(p + h, y) - here) / h
        assert left - tol <= loss.derivative(p, y) <= right + tol, p


@pytest.mark.parametrize(("name", "y"), CASES)
def test_value_and_derivative_are_those_of_the_definition(name, y):
    loss, reference, _ = LOSSES[name]
    for p in GRID:
        assert loss(p, y) == pytest.approx(reference.value(p, y), rel=1e-12, abs=1e-12), p
        assert loss.derivative(p, y) == pytest.approx(reference.dloss(p, y), rel=1e-12, abs=1e-300), p


@pytest.mark.parametrize(("name", "y"), CASES)
def test_loss_is_never_negative_and_zero_only_at_its_least(name, y):
    loss = LOSSES[name][0]
    assert all(loss(p, y) >= -1e-12 * abs(y) for p in GRID)
    if isfinite(target(name, y)):
        assert loss(target(name, y), y) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("name", "y"), CASES)
def test_extreme_predictions_give_numbers(name, y):
    """Never NaN, and infinite only where the loss itself leaves the range of a double."""
    loss = LOSSES[name][0]
    for p in EXTREMES:
        if name == "poisson" and p > 1e300:  # y p is infinite too
            continue
        value, dloss = loss(p, y), loss.derivative(p, y)
        assert not np.isnan(value) and not np.isnan(dloss), p
        too_large = {"poisson": p > 709 or p < -1e300, "huber": abs(p) > 8e307}
        if loss.power > 1:
            too_large[name] = (2 - loss.power) * p > 700 or (1 - loss.power) * p > 700
        if not too_large.get(name, name.startswith(("squared", "expectile")) and abs(p) > 1e150):
            assert isfinite(value) and isfinite(dloss), p


@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_logistic_keeps_its_digits_far_out(y):
    loss = Logistic()
    assert loss(40 * y, y) == pytest.approx(exp(-40), rel=1e-14)
    assert loss.derivative(40 * y, y) == pytest.approx(-y * exp(-40), rel=1e-14)
    assert loss(-700 * y, y) == pytest.approx(700, rel=1e-15)
    assert loss.derivative(-700 * y, y) == -y


def flow(reference: slow_rules.Loss, p: float, y: float, eta: float, h: float, steps: int) -> float:
    """Where dp/ds = -h l'(p) leads from p in the time eta: the middle of tiny Runge-Kutta steps."""
    ds = eta / steps
    for _ in range(steps):
        k1 = -h * reference.dloss(p, y)
        k2 = -h * reference.dloss(p + ds / 2 * k1, y)
        k3 = -h * reference.dloss(p + ds / 2 * k2, y)
        k4 = -h * reference.dloss(p + ds * k3, y)
        p += ds / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return p


@pytest.mark.parametrize(("name", "y"), CASES)
def test_invariant_step_solves_its_equation(name, y):
    loss, reference, _ = LOSSES[name]
    chatters = name in ("hinge", "quantile", "quantile-0.1", "quantile-0.9")  # the flow, at the kink
    for i, p in enumerate([-3.0, -0.7, 0.0, 0.2, 1.0, 2.9]):
        # a third of the pairs, so that each p meets two of these, and each of these two p
        for eta, h in [(0.01, 1.0), (0.5, 0.3), (0.5, 1.0), (0.02, 25.0), (2.0, 1.5), (0.5, 7.0)][i % 3 :: 3]:
            # stiff where the dloss is steep: there the end is the label
            moved = flow(reference, p, y, eta, h, 4000 if chatters else 1000)
            if not isfinite(moved) or abs(moved) > 1e3:
                continue
            tol = 1e-4 if name == "logistic" else 1e-6
            if chatters:
                tol += eta * h / 4000
            assert p + h * loss.step(p, y, eta, h) == pytest.approx(moved, abs=tol), (p, eta, h)


@pytest.mark.parametrize(("name", "y"), CASES)
def test_invariant_step_goes_downhill_and_never_passes_the_label(name, y):
    loss, least = LOSSES[name][0], target(name, y)
    for p in [*GRID[::8], -40.0, -20.0, 15.0, 17.0, 20.0, 30.0, 37.0, 40.0, 50.0]:
        for eta in [1e-9, 1e-6, 1e-3, 0.1, 0.5, 3.0, 1e3]:
            for h in [1e-6, 1e-3, 0.05, 1.0, 30.0, 1e5, 1e12]:
                step = loss.step(p, y, eta, h)
                assert isfinite(step), (p, eta, h)
                if least == p:
                    assert abs(step) * h <= 1e-12, (p, eta, h)
                    continue
                assert step * np.sign(least - p) >= 0, (p, eta, h)
                slack = 1e-12 * max(1, abs(p), abs(least)) + 2.1e-6 * abs(least - p)  # eta h < 1e-6: plain
                if isfinite(least):
                    assert abs(h * step) <= abs(least - p) + slack, (p, eta, h)


@pytest.mark.parametrize(("name", "y"), CASES)
def test_invariant_step_is_not_longer_than_the_plain_one_and_tends_to_it(name, y):
    loss = LOSSES[name][0]
    for p in [*GRID[::8], -20.0, 15.0, 17.0, 20.0, 30.0, 37.0, 40.0, 50.0]:
        dloss = loss.derivative(p, y)
        for eta in [1e-3, 0.5, 10.0]:
            for h in [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2]:
                step, plain = loss.step(p, y, eta, h), -eta * dloss
                if name != "poisson" or y < exp(p):  # poisson's dloss grows where it falls short
                    assert abs(step) <= abs(plain) * (1 + 1e-9) + 1e-300, (p, eta, h)
        curvature = loss.second_derivative(p, y) if loss.power else 2
        eta, h = 1e-3, 1e-9 / max(curvature, 1e-3)
        assert loss.step(p, y, eta, h) == pytest.approx(-eta * dloss, rel=1e-9, abs=1e-15 * eta * curvature), p


@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_logistic_step_is_exact_far_out(y):
    """The prediction moves by d, where d + e^{yp} (e^d - 1) = eta h."""
    for margin in np.linspace(15.1, 60, 30):
        for eta, h in [(0.5, 1e-3), (0.5, 1.0), (3.0, 1e5), (0.5, 1e9)]:
            d = log1p(eta * h / exp(margin))
            for _ in range(60):  # Newton
                d -= (d + exp(margin) * expm1(d) - eta * h) / (1 + exp(margin + d))
            assert y * h * Logistic().step(y * margin, y, eta, h) == pytest.approx(d, rel=1e-6), (margin, eta, h)


def test_lambert_function_is_as_close_as_promised():
    """W(z) exp(W(z)) = z, as far as the logistic step uses it."""
    for x in np.linspace(-30, 200, 2301):
        w = slow_rules.lambert_w_of_exp_minus(x) + x
        u = min(x, log(max(x, 1)))
        for _ in range(50):  # Newton for e^u + u = x, u = log W
            u -= (exp(u) + u - x) / (exp(u) + 1)
        assert abs(w - exp(u)) < 9e-5
