"""exp, log and pow against decimals of 40 digits, and against what C says of particular numbers."""

import math
from decimal import Context, Decimal, localcontext
from pathlib import Path

import elementary_tables
import numpy as np
import pytest

from vwlite.core.base.elementary import each, power

ULP = 2.0**-52
ROOT = Path(__file__).parents[2]
DIGITS = Context(prec=40, Emax=10**6, Emin=-(10**6))
BOUND = Decimal("0.6")  # units in the last place, as the module says


def of(name, x, y=0.0):
    x = np.ascontiguousarray(x, float)
    out = np.empty_like(x)
    each(name, x, out, y)
    return out


def exps(x):
    return of("exponentials", x)


def powers(x, exponent):
    return of("powers", x, exponent)


def true(name, x, y=0.0):
    """In decimals. If 1 is subtracted or added, with enough additional digits for the cancellation."""
    x = Decimal(float(x))
    if name == "exp":
        return x.exp()
    if name == "expm1":
        with localcontext(DIGITS) as c:
            c.prec += 330
            return x.exp() - 1
    if name == "log":
        return x.ln()
    if name == "log1p":
        with localcontext(DIGITS) as c:
            c.prec += 330
            return (1 + x).ln()
    with localcontext(DIGITS) as c:
        c.prec += 10
        return (Decimal(float(y)) * x.ln()).exp()


def spread(name):
    """Numbers of all sizes, and those where a table or a series changes over."""
    rng = np.random.default_rng(3)
    if name in ("exp", "expm1"):
        x = [rng.uniform(-size, size, 60) for size in (1e-9, 1e-3, 0.03, 0.4, 3.0, 45.0, 700.0)]
        halves = (np.arange(-40, 41) + 0.5) * math.log(2) / 128
        return np.concatenate(
            [*x, halves, np.nextafter(halves, 9), [39.999, 40.0, -39.999, -40.0, 707.9, 709.7, -744.0]]
        )
    x = [rng.uniform(-size, size, 60) for size in (1e-9, 1e-3, 0.01, 0.5)]
    wide = np.exp(rng.uniform(-690, 690, 200))
    centers = np.array([float(c) for c in elementary_tables.centers()])
    ends = (centers[1:] + centers[:-1]) / 2
    beside = np.concatenate([centers, np.nextafter(centers, 9), ends, np.nextafter(ends, 0)])
    if name == "log":
        return np.concatenate([1 + x for x in x] + [wide, beside, [5e-324, 1e-310, 2.2250738585072014e-308, 1.7e308]])
    return np.concatenate(
        [*x, rng.uniform(-1, 0, 60), -1 + 2.0 ** -np.arange(1, 53), wide, beside - 1, beside, [1.7e308]]
    )


def off(found, expected):
    """By how many units in the last place."""
    return abs(Decimal(float(found)) - expected) / Decimal(math.ulp(float(expected)))


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p"])
def test_within_the_bound(name):
    with localcontext(DIGITS):
        x = spread(name)
        for a, found in zip(x, of(name, x), strict=True):
            subnormal = name == "exp" and a < -708
            assert off(found, true(name, a)) < (1 if subnormal else BOUND), a


@pytest.mark.parametrize("y", [-0.5, -0.3, 0.5, 1.0, 3.7, -20.0, 100.0, 1e8])
def test_pow_within_the_bound(y):
    rng = np.random.default_rng(4)
    widest = min(600 / abs(y), 700)
    x = np.concatenate([np.exp(rng.uniform(-size, size, 100)) for size in (widest, min(widest, 1.0), 1e-9)])
    x = np.append(x[np.isfinite(x)], [1.0, 1e-310 if abs(y) < 1 else 1.0])
    with localcontext(DIGITS):
        found = of("pow", x, y)
        assert max(off(one, true("pow", a, y)) for one, a in zip(found, x, strict=True)) < BOUND
    np.testing.assert_array_equal(found, [power(a, y) for a in x])


@pytest.mark.parametrize("y", [-0.5, -0.3, 0.5, -0.9, 1.5])
def test_powf_is_nearly_always_rounded_correctly(y):
    y = np.float32(y)
    x = np.exp(np.random.default_rng(5).uniform(-40, 40, 2000)).astype(np.float32)
    with localcontext(DIGITS):
        errors = [
            abs(Decimal(float(found)) - true("pow", a, y)) / Decimal(float(np.spacing(np.float32(found))))
            for a, found in zip(x, of("powf", x, y), strict=True)
        ]
    assert max(errors) < Decimal("0.501")


RARE = [0.0, -0.0, 5e-324, -5e-324, 1e-320, 1e-17, -1e-17, 1.0, -1.0, 2.0**53, 1e308, -1e308, math.inf, -math.inf,
       math.nan, 710.0, -746.0, 1e5, -1e5]


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "pow", "powf"])
def test_what_is_unusual_is_as_in_c(name):
    """NumPy's long doubles are those of C: rounded to doubles, where a unit in the last place makes no difference."""
    x = np.array(RARE if "pow" not in name else [a for a in RARE if not math.copysign(1, a) < 0])
    function = {"pow": np.power, "powf": np.power}.get(name) or getattr(np, name)
    wide, narrow = (np.float32, np.float32) if name == "powf" else (np.longdouble, float)
    exponents = [0.0, 1.0, -1.0, 2.5, -2.5, math.inf, -math.inf, math.nan, 1e300, -1e300, 1e-300]
    with np.errstate(all="ignore"):
        for y in exponents if "pow" in name else [None]:
            more = () if y is None else (wide(y),)
            expected = function(x.astype(wide), *more).astype(narrow).astype(float)
            found = of(name, x, 0.0 if y is None else y)
            np.testing.assert_allclose(found, expected, rtol=1e-6 if name == "powf" else 2 * ULP)
            np.testing.assert_array_equal(np.signbit(found)[found == 0], np.signbit(expected)[found == 0])


def test_sigmoid():
    np.testing.assert_array_equal(of("sigmoid", [0.0, math.inf, -math.inf, 1e9, -1e9]), [0.5, 1, 0, 1, 0])
    assert of("sigmoid", [-1.5])[0] == pytest.approx(1 / (1 + math.exp(1.5)), rel=1e-15)


def test_the_tables_are_what_their_definition_says():
    text = (ROOT / "cython_ext/base/elementary_tables.pxd").read_text()
    assert text == elementary_tables.text()
    assert 1 in elementary_tables.centers()


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
        each("exponentials", out, out)
        np.testing.assert_array_equal(out, exps(x))


def test_arrays_of_two_sizes_and_unknown_functions_are_refused():
    with pytest.raises(ValueError, match="as many"):
        each("exp", np.ones(3), np.ones(2))
    with pytest.raises(ValueError):
        each("sin", np.ones(3), np.ones(3))
