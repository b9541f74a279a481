"""Batch losses: derivatives by differences, conjugates by their definition."""

from math import inf

import numpy as np
import pytest

from vwlite.core.learn import losses
from vwlite.core.solve.batch_losses import conjugate_at, loss_at

GRID = [i / 64 for i in range(-256, 257)] + [-30.0, 30.0]
LABELS = {
    "squared": [-1.5, 0.0, 2.0],
    "logistic": [-1.0, 1.0],
    "squared-hinge": [-1.0, 1.0],
    "poisson": [0.0, 1.0, 3.5],
    "hinge": [-1.0, 1.0],
    "quantile": [-1.0, 0.5],
}
CASES = [(name, y) for name, labels in LABELS.items() for y in labels]
ONLINE = {
    "squared": losses.Squared(),
    "logistic": losses.Logistic(),
    "hinge": losses.Hinge(),
    "quantile": losses.Quantile(0.3),
    "poisson": losses.Poisson(),
}


@pytest.mark.parametrize(("name", "y"), CASES)
def test_dloss_is_between_the_slopes_on_either_side(name, y):
    h = 1e-5
    for p in GRID[:-2]:
        left = (loss_at(name, p, y, 0.3)[0] - loss_at(name, p - h, y, 0.3)[0]) / h
        right = (loss_at(name, p + h, y, 0.3)[0] - loss_at(name, p, y, 0.3)[0]) / h
        tolerance = 1e-5 * (1 + abs(left))
        assert left - tolerance <= loss_at(name, p, y, 0.3)[1] <= right + tolerance


@pytest.mark.parametrize(("name", "y"), CASES)
def test_the_curvature_is_the_slope_of_dloss(name, y):
    for p in GRID[:-2]:
        if name in ("hinge", "quantile") or (name == "squared-hinge" and abs(y * p - 1) < 1e-4):
            continue
        slope = (loss_at(name, p + 1e-5, y)[1] - loss_at(name, p - 1e-5, y)[1]) / 2e-5
        assert loss_at(name, p, y)[2] == pytest.approx(slope, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(("name", "y"), [case for case in CASES if case[0] in ONLINE])
def test_the_losses_are_those_of_the_online_learners(name, y):
    for p in [*GRID, -600.0, 500.0]:
        value, dloss, _ = loss_at(name, p, y, 0.3)
        assert value == pytest.approx(ONLINE[name](p, y), rel=1e-13, abs=1e-15)
        assert dloss == pytest.approx(ONLINE[name].derivative(p, y), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize(("name", "y"), CASES)
def test_the_conjugate_is_the_supremum(name, y):
    """l*(-alpha) = max over p of -alpha p - l(p), reached where l'(p) = -alpha."""
    fine = np.linspace(-12, 12, 4001)
    for p in (-2.3, -1.0, -0.2, 0.4, 0.99, 1.7, 3.0):
        alpha = -loss_at(name, p, y, 0.3)[1]
        found = conjugate_at(name, alpha, y, 0.3)
        assert found == pytest.approx(-alpha * p - loss_at(name, p, y, 0.3)[0], rel=1e-9, abs=1e-9)
        assert all(found >= -alpha * q - loss_at(name, q, y, 0.3)[0] - 1e-9 for q in fine)


@pytest.mark.parametrize(
    ("name", "alpha", "y"),
    [
        ("logistic", -0.1, 1.0),
        ("logistic", 1.1, 1.0),
        ("hinge", 0.1, -1.0),
        ("hinge", 1.1, 1.0),
        ("squared-hinge", -0.1, 1.0),
        ("poisson", 2.1, 2.0),
        ("quantile", 0.4, 1.0),
        ("quantile", -0.8, 1.0),
    ],
)
def test_outside_of_its_domain_the_conjugate_is_infinite(name, alpha, y):
    assert conjugate_at(name, alpha, y, 0.3) == inf
