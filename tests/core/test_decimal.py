"""Numbers as text."""

import math
import random
import re
from pathlib import Path

import decimal_tables
import numpy as np
import pytest

from vwlite.core.learn.output import number_text

ROOT = Path(__file__).resolve().parents[2]


def bits(x):
    return np.array(x, np.uint32).view(np.float32)


def shortest(x):
    """As Python writes numbers, with an exponent from 1e9 on and whole numbers without a point. numpy: with as few
    digits as tell x from other 32-bit floats."""
    mantissa, _, exponent = np.format_float_scientific(x, unique=True, trim="-").partition("e")
    e = int(exponent)
    if not -4 <= e < 9:
        return f"{mantissa}e{e:+03d}"
    return np.format_float_positional(x, unique=True, trim="-")


def drawn_floats():
    rng = np.random.default_rng(3)
    edges = bits([(e << 23) + m for e in range(255) for m in (0, 1, 2, 3, 0x400000, 0x7FFFFE, 0x7FFFFF)])[1:]
    whole = np.concatenate([np.arange(1, 300), 10.0 ** np.arange(39), 2.0 ** np.arange(24, 128)]).astype(np.float32)
    rounded = np.array([round(x, d) for d in range(9) for x in rng.gamma(1, 100, 300).tolist()], np.float32)
    usual = 1 / (1 + np.exp(rng.normal(0, 3, 20000))).astype(np.float32)
    return np.concatenate([edges, whole, rounded[rounded != 0], usual, bits(rng.integers(1, 0x7F800000, 50_000))])


def test_shortest_numbers_of_any_size():
    floats = drawn_floats()
    found = written(floats, "shortest")
    assert found == [shortest(x) for x in floats]
    assert all(np.float32(text) == x for text, x in zip(found, floats, strict=True))
    assert written(-floats, "shortest") == ["-" + text for text in found]
    assert all(re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?(e[+-]\d\d)?", text) for text in found)  # JSON
    assert all(len(re.sub(r"e.*|\D", "", text).strip("0")) <= 9 for text in found)


def test_shortest_numbers_of_doubles():
    """Of the nearest float; where that is 0 or infinite, nine digits of the double."""
    assert written([1 / 3, 0.1, 1, 0, -0.0, 5.64524e-08], "shortest") == [
        "0.33333334", "0.1", "1", "0", "0", "5.64524e-08"]
    assert written([1e-60 / 3, -1e300, math.inf, math.nan], "shortest") == ["3.33333333e-61", "-1e+300", "inf", "nan"]


def test_labels_are_as_in_the_data():
    texts = ["0", "-1", "0.1", "12.5", "-3.14", "123456789", "4503599627370497", "1000000000", "5.64524e-08",
             "123456.789012", "0.333333333333333", "2.5e+20", "1.5e-09"]
    for text in texts:
        assert number_text(float(text), "label") == text
        assert np.float32(number_text(float(np.float32(text)), "label")) == np.float32(text)  # VW text has floats
    rng = np.random.default_rng(4)
    for x in rng.normal(0, 1, 3000) * 10.0 ** rng.integers(-9, 12, 3000):
        assert float(number_text(x, "label")) == pytest.approx(x, rel=1e-14)
        digits = float(f"{x:.6g}")
        assert float(number_text(digits, "label")) == digits


def test_the_table_is_what_its_definition_says():
    assert (ROOT / "cython_ext/base/decimal_tables.pxd").read_text() == decimal_tables.text()


def six_decimals(v):
    """Six decimals, none for integers."""
    return f"{v:.0f}" if v == int(v) else f"{v:.6f}"


def written(values, form):
    return [number_text(float(v), form) for v in values]


def test_six_decimals_on_a_grid():
    values = [i / 64 for i in range(-300, 300)]
    values += [0.0, -0.0, 1e-6, 5e-7, 4.9999e-7, 1.5e-6, 2.5e-6, -1e-9, 1e-300, 5e-324, 0.9999994, 0.9999995, 0.9999999]
    values += [10.0**k for k in range(-12, 300, 3)] + [-(10.0**k) / 3 for k in range(-12, 300, 3)]
    values += [2.0**k for k in range(-30, 80)] + [2.0**k - 2.0 ** (k - 52) for k in range(-30, 80)]
    values += [1e15 - 0.125, 1e15 + 0.125, 2.0**52 - 0.5, 2.0**53 + 2, 9999999.9999995, 123456789.123456789]
    values += [k + 0.5e-6 for k in range(20)] + [(2 * k + 1) / 2**7 / 10**0 for k in range(64)]
    assert written(values, "six_decimals") == [six_decimals(v) for v in values]


def test_six_decimals_near_the_ties_of_the_last_digit():
    """The nearest double to a number of seven decimals that ends in 5 is above or below it."""
    rng = np.random.default_rng(1)
    values = [float(f"{whole}.{six:06}5") for whole in (0, 1, 7, 523) for six in rng.integers(0, 10**6, 3000)]
    values += [v * (1 + 2.0**-52) for v in values[:2000]] + [-v for v in values[:2000]]
    values += [k / 128 for k in range(1, 1000)]  # among them exact ties
    assert written(values, "six_decimals") == [six_decimals(v) for v in values]


def test_six_decimals_at_random():
    rng = np.random.default_rng(2)
    values = rng.normal(0, 1, 4000) * 10.0 ** rng.uniform(-8, 18, 4000)
    values = np.concatenate([values, values.astype(np.float32).astype(float), np.round(values)])
    assert written(values, "six_decimals") == [six_decimals(v) for v in values]


def test_six_digits_are_those_of_printf():
    r = random.Random(7)
    drawn = [lambda: r.random(), lambda: 10 ** (-5 * r.random()), lambda: round(r.random(), 7),
             lambda: (r.randint(1, 999_999) + 0.5) / 10 ** r.randint(6, 10),
             lambda: 10.0 ** -r.randint(0, 5) * (1 + r.choice([-1, 1]) * 2.0 ** -r.randint(15, 52))]
    edges = [0.0, -0.0, 1.0, 1e-4, 9.99999e-5, 0.99999949999, 0.9999995, math.inf, math.nan, -0.5, 1e300, 123456.5]
    for x in edges + [draw() for draw in drawn for _ in range(4000)]:
        assert number_text(x, "six_digits") == f"{x:g}"
