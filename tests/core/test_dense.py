"""Dense matrices: against what defines their results, in NumPy."""

import numpy as np
import pytest

from vwlite.core.base.dense import add_outer_products, dot, eigenvectors, solve, times, times_transposed

SIZES = [1, 2, 3, 7, 8, 9, 40, 257, 300]
EPSILON = 2.0**-52


def symmetric(kind, n):
    rng = np.random.default_rng(n)
    X = rng.normal(0, 1, (n, max(1, n // 3) if kind == "rank" else n))
    if kind == "graded":
        X *= 10.0 ** -np.arange(n)[:, None].clip(0, 150)
    if kind == "large":
        X *= 1e150
    if kind == "tiny":
        X *= 1e-155
    if kind == "diagonal":
        return np.diag(rng.normal(0, 1, n))
    return np.tril(X @ X.T) + np.tril(X @ X.T, -1).T


@pytest.mark.parametrize("kind", ["full", "rank", "graded", "large", "tiny", "diagonal"])
@pytest.mark.parametrize("n", SIZES)
def test_eigenvectors(n, kind):
    G = symmetric(kind, n)
    rows, values = G.copy(), np.empty(n)
    eigenvectors(rows, values)
    largest = np.abs(values).max()
    assert (np.diff(values) >= 0).all()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(G), rtol=0, atol=4 * n * EPSILON * largest)
    np.testing.assert_allclose(rows @ rows.T, np.eye(n), rtol=0, atol=40 * n * EPSILON)
    unit = 2.0 ** np.floor(np.log2(largest))
    back = (rows.T * (values / unit)) @ rows
    np.testing.assert_allclose(back, G / unit, rtol=0, atol=40 * n * EPSILON)


def test_eigenvectors_of_nothing_zeros_and_the_infinite():
    eigenvectors(np.empty((0, 0)), np.empty(0))
    rows, values = np.zeros((4, 4)), np.ones(4)
    eigenvectors(rows, values)
    assert not values.any()
    np.testing.assert_array_equal(rows @ rows.T, np.eye(4))
    for bad in (np.inf, -np.inf, np.nan):
        G = np.eye(4)
        G[2, 1] = G[1, 2] = bad
        with pytest.raises(ArithmeticError, match="not finite"):
            eigenvectors(G, values)


@pytest.mark.parametrize("n", SIZES)
def test_products(n):
    rng = np.random.default_rng(n)
    A, x, y = rng.normal(0, 1, (n, n + 2)), rng.normal(0, 1, n + 2), rng.normal(0, 1, n)
    y[::3] = 0
    out = np.empty(n)
    times(A, x, out)
    np.testing.assert_allclose(out, A @ x, atol=n * EPSILON * 10)
    assert dot(x, x) == pytest.approx(x @ x, rel=n * EPSILON)
    out = np.empty(n + 2)
    times_transposed(A, y, out)
    np.testing.assert_allclose(out, A.T @ y, atol=n * EPSILON * 10)
    S = symmetric("full", n + 5)
    expected = S.copy()
    expected[: n + 2, : n + 2] += (A.T * y) @ A
    add_outer_products(S, y, A)
    np.testing.assert_allclose(S, expected, atol=n * EPSILON * 30)
    np.testing.assert_array_equal(S, S.T)


@pytest.mark.parametrize("n", SIZES)
def test_solve(n):
    A = symmetric("full", n) + 0.1 * np.eye(n)
    b = np.random.default_rng(n + 1).normal(0, 1, n)
    x = b.copy()
    solve(A.copy(), x)
    condition = np.linalg.cond(A)
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=0, atol=n * EPSILON * condition * np.abs(x).max())


def test_solve_what_is_singular_but_for_rounding():
    """The last pivot is all rounding, of either sign: no NaN, and the equation holds."""
    for seed in range(50):
        X = np.random.default_rng(seed).normal(0, 1, (6, 5))
        A, true = X @ X.T, np.random.default_rng(seed + 1).normal(0, 1, 6)
        x = A @ true
        solve(A.copy(), x)
        np.testing.assert_allclose(A @ x, A @ true, rtol=0, atol=1e-10)


def test_what_does_not_fit_is_refused():
    for call, *arguments in [
        (dot, np.ones(2), np.ones(3)), (times, np.ones((2, 3)), np.ones(2), np.ones(2)),
        (times_transposed, np.ones((2, 3)), np.ones(3), np.ones(3)), (solve, np.ones((2, 3)), np.ones(2)),
        (add_outer_products, np.ones((2, 2)), np.ones(1), np.ones((1, 3))), (eigenvectors, np.ones((2, 2)), np.ones(3)),
    ]:
        with pytest.raises(ValueError, match=r"do not fit|lengths"):
            call(*arguments)
