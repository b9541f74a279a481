"""The search space of `vwlite tune`: its points, and the units of rates and strengths."""

from fractions import Fraction
from math import sqrt

import pytest

from vwlite.algorithms.table import ALGORITHMS
from vwlite.training.auto.space import NEAR, POINTS, Point, Range, Scale, Space, Value, Values

NONE = Values.of("none")


def primes(count):
    found = []
    while len(found) < count:
        n = found[-1] + 1 if found else 2
        while any(n % p == 0 for p in found):
            n += 1
        found.append(n)
    return found


def mirrored(number, base):
    """The digits of a number in this base behind the point, the last one first."""
    digits = []
    while number:
        number, digit = divmod(number, base)
        digits.append(digit)
    return float(sum((Fraction(digit, base ** (i + 1)) for i, digit in enumerate(digits)), Fraction(0)))


@pytest.mark.parametrize("tried", [0, 6])
def test_points_are_those_of_the_sequence_of_halton(tried):
    """A dimension for each option: normalization, rate, beta, l1, and those of --try."""
    found = Space({f"option {i}": Range(1, 2) for i in range(tried)}).points("ftrl")
    assert len(found) == POINTS
    for k, point in enumerate(found, 1):
        assert point.at == pytest.approx([mirrored(k, p) for p in primes(4 + tried)], rel=1e-12)


def test_few_points_are_all_tried():
    narrowed = {"normalize": Values.of("none", "l2"), "learning_rate": Values.of("1", "2", "3"), "l1": NONE}
    space = Space(narrowed)
    found = {tuple(value.text for name, value in space.setting(point).items() if name in narrowed)
             for point in space.points("adagrad")}
    assert len(space.points("adagrad")) == len(found) == 6


def test_a_near_point_differs_in_its_numbers_by_a_share_of_their_range():
    space, point = Space({}), Point("adagrad", (0.5, 0.02, 0.6))
    found = [space.near(point, k).at for k in range(1, 100)]
    assert {at[0] for at in found} == {0.5}
    assert min(at[1] for at in found) == 0 and max(at[1] for at in found) <= 0.02 + NEAR
    assert 0.6 - NEAR <= min(at[2] for at in found) < 0.6 < max(at[2] for at in found) <= 0.6 + NEAR


def test_numbers_are_even_between_their_limits():
    """Or their logarithms are, behind the share that is 0."""
    for zero in (0.0, 0.25):
        last, middle = 1 - 1e-12, (1 + zero) / 2
        geometric = Range(1e-4, 0.25, zero=zero)
        assert geometric.at(zero).text == "0.0001" and geometric.at(last).text == "0.25"
        assert geometric.at(middle).value == pytest.approx(sqrt(1e-4 * 0.25), rel=1e-2)
        linear = Range(-2, 6, log=False, zero=zero)
        assert [linear.at(u).value for u in (zero, middle, last)] == [-2, 2, 6]
        whole = Range(1, 16, whole=True, zero=zero)
        assert [whole.at(u) for u in (zero, middle)] == [Value("1", 1), Value("4", 4)]
    assert geometric.at(0.2499) == Value("0", 0.0)


def ends(algorithm, option, loss="squared", share=1.0, **scale):
    """The least and the largest value of an option."""
    space = Space({"normalize": NONE}, loss, {"none": Scale(**scale)})
    (size,) = {len(point.at) for point in space.points(algorithm)}
    zero = 0.25 if option == "l1" else 0.0
    found = [space.setting(Point(algorithm, (0.0, *[u] * (size - 1))), share)[option] for u in (zero, 1 - 1e-12)]
    return [value.value for value in found]


@pytest.mark.parametrize(("loss", "algorithm", "of_deviation", "of_length"), [
    ("squared", "gd", 1, 0), ("logistic", "gd", 1, 0), ("squared", "adagrad", 1, -1), ("huber", "adagrad-rda", 1, -1),
    ("logistic", "ftrl", 1, -1), ("squared", "sgd", 0, -2), ("huber", "sgd", 1, -2), ("quantile", "sgd", 1, -2),
])
def test_rates_span_decades_in_units_of_the_data(loss, algorithm, of_deviation, of_length):
    """Two, and three where steps do not depend on earlier gradients."""
    option = ALGORITHMS[algorithm].rate
    low, high = ends(algorithm, option, loss, deviation=1.0, length=1.0)
    assert high / low == pytest.approx(1000 if algorithm == "sgd" else 100)
    assert low < 1 < high
    unit = 3.0**of_deviation * 7.0**of_length
    found = ends(algorithm, option, loss, deviation=3.0, length=7.0)
    assert found == pytest.approx([low * unit, high * unit], rel=1e-2)


def test_strengths_are_relative_to_the_least_one_that_leaves_no_weight():
    """And for ftrl, whose l1 is for sums, to that times the number of examples that are learned."""
    for algorithm in ("adagrad", "ftrl"):
        low, high = ends(algorithm, "l1")
        assert 0 < low < high < 1
        unit = 5.0 * (0.5 * 800 if algorithm == "ftrl" else 1)
        found = ends(algorithm, "l1", share=0.5, largest=5.0, examples=800.0)
        assert found == pytest.approx([low * unit, high * unit], rel=1e-2)
