"""Exponentials and powers against those of Python's integers and NumPy's long doubles."""

import numpy as np
import pytest

from vwlite.core.base.elementary import exp, power

ULP = 2.0**-52


def exps(x):
    x = np.ascontiguousarray(x, float)
    out = np.empty_like(x)
    exp(x, out)
    return out


def powers(x, exponent):
    x = np.ascontiguousarray(x, float)
    out = np.empty_like(x)
    power(x, exponent, out)
    return out


@pytest.mark.parametrize("largest", [1e-300, 1e-9, 0.35, 1, 30, 700])
def test_exp_to_a_few_units_in_the_last_place(largest):
    x = np.random.default_rng(1).uniform(-largest, largest, 100_003)
    true = np.exp(x.astype(np.longdouble))
    assert np.max(np.abs(exps(x) - true) / true) < 2 * ULP


def test_exp_of_particular_numbers():
    np.testing.assert_array_equal(exps([0.0, -0.0, 5e-324]), 1)
    halves = np.arange(-1000, 1001) * np.log(2) / 2  # where the whole part changes
    true = np.exp(halves[np.abs(halves) < 700].astype(np.longdouble))
    assert np.max(np.abs(exps(halves[np.abs(halves) < 700]) / true - 1)) < 2 * ULP


@pytest.mark.parametrize("exponent", [1.0, 2.0, 20.53, 21.53, 60.0])
def test_power_in_units_of_its_logarithm(exponent):
    rng = np.random.default_rng(2)
    near_one = 1 + rng.uniform(-1, 1, 999) * 1e-9
    x = np.concatenate([rng.uniform(0, 1, 50_001), np.exp(rng.uniform(-300, 5, 50_001)), near_one])
    true = x.astype(np.longdouble) ** np.longdouble(exponent)
    seen = true > 1e-300
    error = np.abs(powers(x, exponent)[seen] / true[seen] - 1)
    assert np.max(error / (2 + np.abs(np.log(true[seen])))) < 2 * ULP


def test_power_of_particular_numbers():
    np.testing.assert_array_equal(powers([0.0, 1.0, 5e-324, 1e-200], 3.0), [0, 1, 0, 0])
    np.testing.assert_array_equal(powers([1.0] * 17, 21.5), 1)


@pytest.mark.parametrize("n", range(20))
def test_the_same_bits_alone_and_among_others(n):
    x = np.random.default_rng(n).uniform(0.01, 3, n)
    if n:
        np.testing.assert_array_equal(exps(x), [exps([a])[0] for a in x])
        np.testing.assert_array_equal(powers(x, 20.5), [powers([a], 20.5)[0] for a in x])
        out = x.copy()
        exp(out, out)
        np.testing.assert_array_equal(out, exps(x))


def test_arrays_of_two_sizes_are_refused():
    with pytest.raises(ValueError, match="as many"):
        exp(np.ones(3), np.ones(2))
    with pytest.raises(ValueError, match="as many"):
        power(np.ones(2), 2.0, np.ones(3))
