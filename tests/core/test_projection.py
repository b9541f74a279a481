"""Projections onto the simplex and the l1 ball: two methods, a reference, and the conditions of optimality."""

import re
import textwrap
import time
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest
import slow_rules
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import drawn

from vwlite.projection import SparseBall, project_l1, project_simplex

METHODS = ["linear", "sort"]
RNG = np.random.default_rng

VECTORS = {
    "random": RNG(1).normal(0, 1, 500),
    "one number": np.array([-3.0]),
    "two equal": np.array([2.0, 2.0]),
    "ties": RNG(2).integers(-3, 4, 500).astype(float),
    "constant": np.full(300, 0.7),
    "one above many ties": np.array([5.0] + [1.0] * 400),
    "ascending": np.arange(1.0, 300),
    "descending": -np.arange(1.0, 300)[::-1],
    "steep": 2.0 ** -np.arange(200.0),
    "heavy tail": RNG(3).standard_cauchy(500),
    "huge": RNG(4).normal(0, 1e200, 300),
    "tiny": RNG(5).normal(0, 1e-200, 300),
    "zeros": np.zeros(40),
    "mostly zeros": np.where(np.arange(300) % 17 == 0, RNG(6).normal(0, 1, 300), 0),
    "far from zero": 1e9 + RNG(7).normal(0, 1, 100),
    "widely spread": RNG(8).choice([-1, 1], 300) * 10.0 ** RNG(9).uniform(-12, 12, 300),
}
RADII = [1e-6, 0.3, 1.0, 20.0, 1e7]


def unlike(x, y, scale):
    return float(np.abs(x - y).max(initial=0)) / scale


# --- the definition ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("z", RADII)
@pytest.mark.parametrize("name", VECTORS)
def test_simplex_by_its_reference(name, z, method):
    v = VECTORS[name]
    before = v.copy()
    w = project_simplex(v, z, method=method)
    assert unlike(w, slow_rules.projection_by_bisection(v, z, simplex=True), z) < 1e-12
    assert w.min() >= 0
    assert w.sum() == pytest.approx(z, rel=1e-12)
    assert np.array_equal(v, before)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("z", RADII)
@pytest.mark.parametrize("name", VECTORS)
def test_l1_by_its_reference(name, z, method):
    """v is as large as z here, with a factor: the reference has no digits of z beside numbers that are much larger."""
    v = VECTORS[name] * (z / max(np.abs(VECTORS[name]).max(), 1e-300))
    for factor in (0.001, 1.0, 30.0):
        w = project_l1(factor * v, z, method=method)
        assert unlike(w, slow_rules.projection_by_bisection(factor * v, z), z) < 1e-12


@pytest.mark.pairwise
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("box", [None, 0.02, 0.4, 50.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("z", RADII)
@pytest.mark.parametrize("name", VECTORS)
def test_weights_and_box_by_their_reference(name, z, weighted, box, method):
    v = VECTORS[name] * (3 / max(np.abs(VECTORS[name]).max(), 1e-300))
    a = 10 ** RNG(10).uniform(-1, 1, len(v)) if weighted else None
    w = project_l1(v, z, weights=a, box=box, method=method)
    reference = slow_rules.projection_by_bisection(v, z, weights=a, box=inf if box is None else box)
    assert unlike(w, reference, 3) < 1e-12


@pytest.mark.pairwise
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("share", [None, 1.5, 1.000001, 30.0])
@pytest.mark.parametrize("weighted", ["not", "above 0", "some 0"])
@pytest.mark.parametrize("z", RADII)
@pytest.mark.parametrize("name", VECTORS)
def test_the_simplex_with_weights_and_box_by_its_reference(name, z, weighted, share, method):
    """share: the box, in units of the smallest that there may be."""
    v = VECTORS[name] * (3 * z / max(np.abs(VECTORS[name]).max(), 1e-300))
    a = np.ones(len(v)) if weighted == "not" else 10 ** RNG(10).uniform(-1, 1, len(v))
    if weighted == "some 0":
        a[::3] = 0
        if not a.any():
            return
    box = None if share is None else share * z / a.sum()
    w = project_simplex(v, z, weights=None if weighted == "not" else a, box=box, method=method)
    assert a @ w == pytest.approx(z, rel=1e-10)
    assert w.min() >= 0
    assert w.max() <= (inf if box is None else box)
    reference = slow_rules.projection_by_bisection(v, z, simplex=True, weights=a, box=inf if box is None else box)
    assert unlike(w, reference, 3 * z) < 1e-11


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("box", [None, 0.4])
@pytest.mark.parametrize("z", [0, 0.3, 1.0, inf])
def test_a_coordinate_of_weight_0_is_free(z, box, method):
    """Nothing but the box limits it; the others are as without it."""
    v, a = RNG(11).normal(0, 1, 30), RNG(12).choice([0.0, 0.5, 2.0], 30)
    w = project_l1(v, z, weights=a, box=box, method=method)
    b = inf if box is None else box
    np.testing.assert_array_equal(w[a == 0], np.clip(v[a == 0], -b, b))
    np.testing.assert_array_equal(w[a > 0], project_l1(v[a > 0], z, weights=a[a > 0], box=box, method=method))
    assert unlike(w, slow_rules.projection_by_bisection(v, z, weights=a, box=b) if 0 < z < inf else w, 1) < 1e-12


def test_no_point_of_the_weighted_simplex_is_nearer():
    rng = RNG(13)
    for _ in range(200):
        v, a, b = rng.normal(0, 2, 4), rng.choice([0.0, 0.5, 1.0, 3.0], 4), float(rng.choice([0.8, 2.0, inf]))
        a[0] = 1.0
        w = project_simplex(v, 0.7, weights=a, box=b)
        others = rng.dirichlet(np.ones(4), 300) * 0.7 / np.where(a > 0, a, 1)
        others = np.where(a > 0, others, np.clip(v, 0, b))
        if not (a > 0).all():
            others[:, a > 0] *= 0.7 / (others @ a)[:, None]
        others = others[(others <= b).all(axis=1)]
        others = np.vstack([others, 0.999 * w + 0.001 * others])
        assert (np.linalg.norm(v - w) <= np.linalg.norm(v - others, axis=1) + 1e-12).all()


def assert_optimal(v, w, z, a, b, tolerance):
    """KKT: |v_i| - |w_i| is theta a_i where 0 < |w_i| < b, no less where |w_i| = b, and no more where w_i = 0."""
    size, kept = np.abs(v), np.abs(w)
    assert (kept <= b).all()
    mass = float(a @ kept)
    assert mass <= z + tolerance * a.sum()
    assert (v * w >= 0).all()
    if float(a @ np.minimum(size, b)) <= z:
        assert np.array_equal(w, np.clip(v, -b, b))
        return
    assert mass == pytest.approx(z, abs=tolerance * a.sum())
    pull, inner = (size - kept) / a, (kept > 0) & (kept < b)
    least = pull[kept == 0].max(initial=0)  # theta is not less
    most = pull[kept == b].min(initial=inf)  # and no more
    slack = tolerance / a.min()
    assert least <= most + slack
    if inner.any():
        assert np.ptp(pull[inner]) <= slack
        assert least <= pull[inner].max() + slack
        assert most >= pull[inner].min() - slack


NUMBERS = st.one_of(st.floats(-10, 10), st.integers(-3, 3).map(float), st.sampled_from([0.0, -0.0, 1.0, 1e-9, 1e4]))
TRIPLES = st.lists(st.tuples(NUMBERS, st.sampled_from([0.25, 0.5, 1.0, 1.7, 4.0])), max_size=40)


@settings(deadline=None, max_examples=drawn(300))
@given(
    TRIPLES,
    st.one_of(st.floats(1e-3, 60), st.sampled_from([0.5, 1.0, 2.0, 3.0])),
    st.one_of(st.just(None), st.floats(1e-2, 5), st.sampled_from([0.5, 1.0, 2.0])),
    st.booleans(),
)
def test_any_input_is_projected_by_both_methods(pairs, z, box, weighted):
    v, a = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    weights = a if weighted else None
    a = a if weighted else np.ones_like(a)
    results = [project_l1(v, z, weights=weights, box=box, method=m) for m in METHODS]
    scale = max(1, z, np.abs(v).max(initial=0))
    assert unlike(*results, scale) < 1e-12
    for w in results:
        assert_optimal(v, w, z, a, inf if box is None else box, 1e-12 * scale)
    if len(v):
        results = [project_simplex(v, z, method=m) for m in METHODS]
        assert unlike(*results, z) < 1e-12
        assert unlike(results[0], slow_rules.projection_by_bisection(v, z, simplex=True), z) < 1e-12


def layers(rng, z):
    """Numbers of which the mean, less z / n, leaves little behind, time and again: each layer is below that bound."""
    n = int(rng.integers(5, 80))
    v = rng.integers(-2, 1, n) * 0.1 * z / n
    gap = 1e-6 * z / len(v)
    for _ in range(int(rng.integers(3, 9))):
        bound = (v.sum() - z) / len(v)
        gap *= 8
        size = max(1, int(len(v) * rng.uniform(0.1, 0.3)))
        v = np.append(v, bound - gap * (1 if rng.random() < 0.5 else rng.uniform(0.9, 1, size)) * np.ones(size))
    return rng.permutation(v)


@pytest.mark.parametrize("seed", range(200))
def test_layers_by_their_reference(seed):
    """The means alone take many rounds here, so that it is up to the pivots; layers of ties are among them."""
    rng = RNG(seed)
    z = float(rng.choice([1e-3, 1.0, 50.0]))
    v = layers(rng, z)
    reference = slow_rules.projection_by_bisection(v, z, simplex=True)
    for method in METHODS:
        assert unlike(project_simplex(v, z, method=method), reference, z) < 1e-12
        assert unlike(project_l1(v + 3 * z, z, method=method), reference, z) < 1e-11


DISCRETE = [(0.0, 1.0), (-1.0, 0.0, 1.0), (-0.5, 0.5, 1.0, 2.0), (0.1, 0.2, 0.3, 0.7), (-2.0, -0.3, 0.15, 0.45)]


@pytest.mark.third
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("numbers", DISCRETE, ids=str)
def test_few_different_numbers(numbers, method):
    """Ties with each other, and with theta: it is as large as one of them in many of these."""
    rng = RNG(15)
    for _ in range(40):
        n, z = int(rng.choice([1, 2, 3, 5, 30, 1000])), float(rng.choice([0.1, 0.25, 0.3, 0.5, 1.0, 1.5, 2.0]))
        v = rng.choice(numbers, n)
        largest = v == v.max()
        if rng.random() < 0.5:  # the largest ones exceed the others by so much that the others are at theta
            below = v[~largest].max(initial=0)
            v[largest] = below + z / largest.sum()
        w = project_simplex(v, z, method=method)
        assert (w >= 0).all()
        assert w.sum() == pytest.approx(z, rel=1e-13)
        assert unlike(w, slow_rules.projection_by_bisection(v, z, simplex=True), z) < 1e-13
        assert (w[v == v[0]] == w[0]).all()
        a, b = rng.choice([0.5, 1.0, 2.0], n), float(rng.choice([0.1, 0.5, inf]))
        for kwargs in ({}, {"weights": a}, {"box": b}, {"weights": a, "box": b}):
            w = project_l1(v, z, method=method, **kwargs)
            weights, box = kwargs.get("weights", np.ones(n)), kwargs.get("box", inf)
            assert float(weights @ np.abs(w)) <= z * (1 + 1e-11)
            reference = slow_rules.projection_by_bisection(v, z, weights=weights, box=box)
            assert unlike(w, reference, max(z, np.abs(v).max())) < 1e-13


# --- the edges -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_what_is_inside_comes_back_bit_by_bit(method):
    v = np.array([0.1, -0.2, -0.0, 0.3, 5e-324])
    for z, box in ((0.75, None), (inf, None), (5.0, 1.0), (inf, 0.3)):
        for weights in (None, np.ones(5)):
            w = project_l1(v, z, box=box, weights=weights, method=method)
            assert w.tobytes() == v.tobytes()
            assert not np.shares_memory(w, v)


@pytest.mark.parametrize("method", METHODS)
def test_no_digits_are_lost_beside_large_numbers(method):
    assert project_simplex([1e20, 2e20, -1e308], 1.0, method=method).tolist() == [0, 1, 0]
    assert project_l1([1e300, -2e300, 1.7e308], 1e-300, method=method).tolist() == [0, 0, 1e-300]
    assert project_l1([-1.7e308, 1.7e308], 3.0, method=method).tolist() == [-1.5, 1.5]
    assert project_l1([1e308] * 4, 1e308, method=method) == pytest.approx([0.25e308] * 4, rel=1e-15)
    assert project_simplex([-1e308, 1e308, 1e308], 1.5e308, method=method) == pytest.approx([0, 0.75e308, 0.75e308])
    w = project_l1([1e300, 1e300], 1.0, weights=[1e-100, 1e-100], method=method)
    assert np.isfinite(w).all()


@pytest.mark.parametrize("method", METHODS)
def test_empty_and_zero(method):
    empty = np.array([])
    for kwargs in ({}, {"weights": []}, {"box": 1}, {"weights": [], "box": 1}):
        assert project_l1(empty, method=method, **kwargs).shape == (0,)
    assert project_simplex(empty, 0, method=method).shape == (0,)
    assert project_simplex([3, -1], 0, method=method).tolist() == [0, 0]
    for kwargs in ({"z": 0}, {"z": 0, "weights": [1, 2]}, {"box": 0}, {"z": inf, "box": 0}):
        assert project_l1([3, -1], method=method, **kwargs).tolist() == [0, 0]


@pytest.mark.parametrize("method", METHODS)
def test_any_real_vector_is_taken_and_out_is_filled(method):
    v = np.arange(-4, 5)
    expected = project_l1(v.astype(float), 3.0, method=method)
    assert np.array_equal(project_l1(v.tolist(), 3.0, method=method), expected)
    assert np.array_equal(project_l1(v.astype(np.float32), 3.0, method=method), expected)
    assert np.array_equal(project_l1(np.repeat(v, 2).astype(float)[::2], 3.0, method=method), expected)
    fixed = v.astype(float)
    fixed.flags.writeable = False
    out = np.empty(9)
    assert project_l1(fixed, 3.0, method=method, out=out) is out
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bad", [nan, inf, -inf])
def test_numbers_that_are_not_finite(bad, method):
    v = np.ones(9)
    v[5] = bad
    calls = [lambda: project_simplex(v, method=method), lambda: project_simplex(v, 0, method=method)]
    for kwargs in ({}, {"z": 100}, {"z": inf}, {"z": 0}, {"box": 1}, {"weights": np.ones(9)}):
        calls.append(lambda k=kwargs: project_l1(v, method=method, **k))
    for call in calls:
        with pytest.raises(ValueError, match=r"v\[5\] is (nan|-?inf)"):
            call()


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"z": -1}, "z is -1.0: it must be 0 or more"),
        ({"z": nan}, "z is nan"),
        ({"method": "quick"}, "method is 'quick'"),
        ({"v": np.ones((2, 2))}, "v has 2 dimensions"),
        ({"v": np.ones(2, complex)}, "complex128: they must be real"),
        ({"v": ["a", "b"]}, "they must be real"),
        ({"out": np.zeros(3)}, r"out has shape \(3,\), v \(2,\)"),
        ({"out": np.zeros(2, np.float32)}, "out must be a contiguous, writeable float64 array"),
        ({"out": np.zeros(4)[::2]}, "out must be"),
    ],
    ids=str,
)
def test_refusals_of_both(kwargs, message):
    for project in (project_simplex, project_l1):
        with pytest.raises(ValueError, match=message):
            project(**({"v": [1.0, 2.0]} | kwargs))


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"weights": [1.0]}, "weights has 1 numbers, v 2"),
        ({"weights": [1.0, -1.0]}, "weights must be 0 or more, and finite"),
        ({"weights": [1.0, nan]}, "weights must be 0 or more"),
        ({"weights": [1.0, inf]}, "weights must be 0 or more"),
        ({"weights": [[1.0, 1.0]]}, "weights has 2 dimensions"),
        ({"weights": [1e200, 1.0]}, "more than 1e[+]150 times the smallest"),
        ({"box": -1}, "box is -1.0: it must be 0 or more"),
        ({"box": nan}, "box is nan"),
    ],
    ids=str,
)
def test_refusals_of_weights_and_box(kwargs, message):
    for project in (project_simplex, project_l1):
        with pytest.raises(ValueError, match=message):
            project([1.0, 2.0], **kwargs)


def test_refusals_of_the_simplex():
    with pytest.raises(ValueError, match=r"box is 0[.]3: no numbers up to it have a sum of 1, as weights add up to 3"):
        project_simplex([1.0, 2.0, 5.0], box=0.3)
    with pytest.raises(ValueError, match="v is empty"):
        project_simplex([1.0, 2.0], weights=[0.0, 0.0])
    with pytest.raises(ValueError, match="v is empty: no numbers have a sum of 1"):
        project_simplex([])
    with pytest.raises(ValueError, match="z is inf"):
        project_simplex([1.0], inf)
    v = np.ones(3)
    with pytest.raises(ValueError, match="share memory"):
        project_l1(v, out=v)


N = 200_000
HARD = {
    "constant": (np.ones(N), 1.0),
    "one above many ties": (np.r_[2.0, np.ones(N)], 0.5),
    "two values": (np.r_[np.ones(N // 2), np.full(N // 2, 2.0)], N / 4),
    "ascending": (np.arange(1.0, N), 10.0),
    "descending": (np.arange(1.0, N)[::-1].copy(), 1e8),
    # each mean of the rest is just above the smallest number: without a pivot, 900 rounds over everything
    "steep": (np.r_[-(2.0 ** np.arange(900)), RNG(11).uniform(0, 1, N)], 2.0**940),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_inputs_take_linear_time(name):
    v, z = HARD[name]
    a, box = RNG(12).choice([1.0, 2.0], len(v)), float(np.abs(v).max()) / 2
    for kwargs in ({}, {"weights": np.ones_like(v)}, {"weights": a, "box": box}):
        times = []
        for method in METHODS:
            began = time.process_time()
            project_l1(v, z, method=method, **kwargs)
            if not kwargs:
                project_simplex(v, z, method=method)
            times.append(time.process_time() - began)
        assert times[0] < 20 * times[1] + 0.2  # a quadratic method needs thousands of times as long


def test_the_same_input_gives_the_same_bytes():
    v = RNG(13).normal(0, 1, 10_000)
    for kwargs in ({}, {"box": 0.01}):
        assert project_l1(v, 5.0, **kwargs).tobytes() == project_l1(v.copy(), 5.0, **kwargs).tobytes()


# --- the sparse form -----------------------------------------------------------------------------


def after(w, indices, values, z):
    """One step of the eager form; the largest number on the way."""
    v = w.copy()
    np.add.at(v, indices, values)
    return project_l1(v, z, method="sort"), max(z, np.abs(v).max(), np.abs(values).max(initial=0))


@pytest.mark.third
@pytest.mark.parametrize("size", [1e-3, 0.1, 1.0, 30.0, 1e12])
@pytest.mark.parametrize("z", [1e-250, 1e-3, 1.0, 5.0, 1e9])
@pytest.mark.parametrize("n", [1, 2, 50, 400])
def test_sparse_form_by_the_eager_one(n, z, size):
    """Each step from the vector as it was: fractions, round numbers, repeated indices, sometimes a far larger step."""
    rng = RNG([n, int(size * 1000)])
    start = None if n == 50 else rng.normal(0, 3 * z / n, n)
    ball = SparseBall(n, z, start)
    w = np.zeros(n) if start is None else project_l1(start, z)
    assert unlike(ball.vector(), w, z) < 1e-14
    for step in range(400):
        k = int(rng.integers(0, 9))
        indices = rng.integers(0, n, k)
        values = (rng.normal(0, 1, k) if step % 2 else rng.integers(-2, 3, k)) * size * z
        if step % 50 == 49:
            values = values * 1e3
        expected, largest = after(w, indices, values, z)
        ball.add(indices, values)
        w = ball.vector()
        assert unlike(w, expected, max(z, 1e-3 * largest)) < 1e-12
        assert ball.active == np.count_nonzero(w)
        assert ball.norm == pytest.approx(np.abs(w).sum(), rel=1e-12, abs=1e-12 * z)
        assert ball.norm <= z * (1 + 1e-12)


@pytest.mark.parametrize("size", [1e-4, 0.02, 0.5])
def test_sparse_form_does_not_drift(size):
    """Long runs without a look back at it; the eager form beside it."""
    n, z, steps, k = 2000, 3.0, 6000, 40
    rng = RNG(14)
    ball, w = SparseBall(n, z), np.zeros(n)
    for _ in range(steps):
        indices, values = rng.zipf(1.3, k) % n, rng.normal(0, size, k)
        ball.add(indices, values)
        np.add.at(w, indices, values)
        w = project_l1(w, z)
    assert unlike(ball.vector(), w, z) < 1e-11
    assert ball.active == np.count_nonzero(w)


def test_sparse_form_of_few_different_numbers():
    """Ties with each other, with 0, and with the shift."""
    rng = RNG(16)
    for _ in range(150):
        n, z, unit = int(rng.integers(1, 6)), float(rng.choice([0.1, 0.3, 0.5, 1.0])), float(rng.choice([0.1, 0.25, 1]))
        ball, w = SparseBall(n, z), np.zeros(n)
        for _ in range(20):
            k = int(rng.integers(1, 4))
            indices, values = rng.integers(0, n, k), unit * rng.choice([1, -1, 0.5, 2, -2], k)
            w, _ = after(w, indices, values, z)
            ball.add(indices, values)
            assert unlike(ball.vector(), w, z) < 1e-11
            assert np.abs(ball.vector()).sum() <= z * (1 + 1e-12)
            assert ball.active == np.count_nonzero(ball.vector())


def test_sparse_form_keeps_no_digits_of_a_large_step():
    ball = SparseBall(4, 1.0, [0.25, 0.25, 0.25, 0.25])
    ball.add([1, 2], [3e20, -3e20])
    assert ball.vector().tolist() == [0, 0.5, -0.5, 0]
    ball.add([0, 1, 0], [1e100, 0.25, -1e100])
    np.testing.assert_allclose(ball.vector(), [0, 0.625, -0.375, 0], rtol=1e-12)


def test_sparse_form_holds_no_more_than_it_needs():
    """A weight that goes and comes again, the same each time, must not fill the queue."""
    ball = SparseBall(10, 1.0)
    for _ in range(20_000):
        ball.add([3], [0.25])
        ball.add([3], [-0.25])
        assert ball.entries <= 2 * ball.active + 1026


@pytest.mark.parametrize(
    ("indices", "values", "error", "message"),
    [
        ([0, 5], [1.0, 1.0], IndexError, "from 0 to 4"),
        ([0, -1], [1.0, 1.0], IndexError, "from 0 to 4"),
        ([0, 1], [1.0, nan], ValueError, "nan is not finite"),
        ([0, 1], [1.0, inf], ValueError, "inf is not finite"),
        ([0, 1], [1.0, 1e300], ValueError, "too large"),
        ([0, 1], [1.0], ValueError, "one length"),
        ([[0]], [[1.0]], ValueError, "one length"),
        ([0.0, 1.0], [1.0, 1.0], ValueError, "integers, not float64"),
    ],
    ids=str,
)
def test_a_refused_step_changes_nothing(indices, values, error, message):
    ball = SparseBall(5, 1.0, [0.5, 0, 0, 0, 0.25])
    with pytest.raises(error, match=message):
        ball.add(indices, values)
    assert ball.vector().tolist() == [0.5, 0, 0, 0, 0.25]
    ball.add([], [])
    ball.add(np.array([1], np.uint16), [0.125])
    assert ball.vector().tolist() == [0.5, 0.125, 0, 0, 0.25]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0, 1.0), "n is 0"), ((5, 0.0), "z is 0"), ((5, nan), "z is nan"), ((5, inf), "z is inf"), ((5, -1.0), "z is -1"),
     ((2, 1.0, [1.0]), "start has 1 numbers, not 2"), ((2, 1.0, [1.0, nan]), "not finite")],
    ids=str,
)
def test_balls_that_make_no_sense(arguments, message):
    with pytest.raises(ValueError, match=message):
        SparseBall(*arguments)


# --- the help topic ------------------------------------------------------------------------------


def test_the_example_in_the_help_runs():
    topic = (Path(__file__).parents[2] / "vwlite/help/projections.txt").read_text(encoding="utf-8")
    code = textwrap.dedent("".join(re.findall(r"^    .*\n|^\n", topic, re.MULTILINE)))
    names = {}
    exec(code, names)
    claims = re.findall(r"^w = (.*?) +# (\[.*?\])", code, re.MULTILINE)
    assert len(claims) == 6
    for call, expected in claims:
        np.testing.assert_allclose(eval(call, names), eval(expected), atol=1e-12)
