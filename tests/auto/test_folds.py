"""The folds of `--algorithm auto`: beside their reference, and by what they are for."""

import numpy as np
import pytest
from slow_auto import folds_by_kinds, held_out

from vwlite.core.auto.folds import folds_of
from vwlite.training.auto.selection import is_tenth

RNG = np.random.default_rng


def folds(contents, features, labels, count: int = 4, seed: int = 0) -> np.ndarray:
    out = bytearray(len(contents))
    folds_of(
        np.asarray(contents, np.uint64), np.asarray(features, np.uint32), np.asarray(labels, float), out, count, seed
    )
    return np.frombuffer(out, np.uint8)


def hashes(rng, kinds: int) -> np.ndarray:
    return rng.integers(1, 2**63, kinds).astype(np.uint64)


def signs(rng, n: int) -> np.ndarray:
    return rng.choice([-1.0, 1.0], n)


LABELS = {
    "of kinds": lambda rng, kind: (kind % 2) * 2.0 - 1,
    "drawn": lambda rng, kind: signs(rng, len(kind)),
    "nearly of kinds": lambda rng, kind: np.where(rng.random(len(kind)) < 0.05, -1, 1) * ((kind % 2) * 2.0 - 1),
    "numbers": lambda rng, kind: rng.normal(size=len(kind)),
    "classes": lambda rng, kind: rng.integers(1, 6, len(kind)).astype(float),
}


@pytest.mark.third
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("n", [1, 2, 5, 20, 63, 64, 65, 200, 500])
def test_folds_are_those_of_the_reference(n, labels):
    rng = RNG(n)
    for kinds in (1, 2, 3, 9, 40, 300, n):
        kind = rng.integers(0, kinds, n)
        contents, features = hashes(rng, kinds)[kind], rng.integers(0, 4, kinds)[kind]
        for sort in (False, True):
            order = np.argsort(contents, kind="stable") if sort else np.arange(n)
            c, f, y = contents[order], features[order], LABELS[labels](rng, kind)[order]
            assert folds(c, f, y).tolist() == folds_by_kinds(c.tolist(), f.tolist(), y.tolist())
            out = held_out(c.tolist(), f.tolist(), y.tolist())
            assert folds(c, f, y, 0).tolist() == [0 if x else 2 for x in out]
            for count, seed in ((3, 0), (5, 0), (10, 7), (20, 1), (4, 2)):
                slow = folds_by_kinds(c.tolist(), f.tolist(), y.tolist(), count, seed)
                assert folds(c, f, y, count, seed).tolist() == slow


@pytest.mark.parametrize("kinds", [20, 100_000])
def test_a_tenth_is_held_out_of_natural_kinds_and_of_different_rows(kinds):
    rng = RNG(3)
    kind = rng.integers(0, kinds, 50_000)
    out = folds(hashes(rng, kinds)[kind], np.full(len(kind), 9), signs(rng, len(kind)), 0) == 0
    of_kind = [out[kind == k].mean() for k in range(20)] if kinds == 20 else [out.mean()]
    assert of_kind == pytest.approx([0.1] * len(of_kind), abs=0.02)
    assert set(folds(hashes(rng, 3), [2] * 3, [1, 1, 1], 0).tolist()) <= {0, 2}


def test_copies_are_held_out_together():
    rng = RNG(4)
    row = rng.integers(0, 4000, 20_000)
    out = folds(hashes(rng, 4000)[row], np.full(len(row), 9), np.where(row % 2, 1.0, -1.0), 0)
    assert all(len(set(out[row == r])) == 1 for r in range(0, 4000, 37) if (row == r).any())


@pytest.mark.parametrize("differing", [0, 1])
def test_an_exact_tenth_of_what_chance_gives_is_enough(differing):
    """Of any two of 100 examples, 50 of each label, half differ; of 20 repeats, one is a tenth of that."""
    contents = np.r_[np.arange(1, 81), np.arange(1, 21)]
    labels = np.where(contents % 2, 1.0, -1.0)
    if differing:
        labels[99], labels[79 - 1] = -labels[99], labels[99]
    assert (labels == 1).sum() == 50 and (labels[80:] != labels[:20]).sum() == differing
    found = folds(contents, np.full(100, 9), labels)
    assert found.tolist() == folds_by_kinds(contents.tolist(), [9] * 100, labels.tolist())
    assert (found[:20] == found[80:]).all() == (differing == 0)


def test_fewer_folds_are_those_modulo_their_number():
    rng = RNG(5)
    contents, features, labels = hashes(rng, 500), np.full(500, 9), signs(rng, 500)
    four = folds(contents, features, labels)
    assert (folds(contents, features, labels, 2) == four % 2).all() and not folds(contents, features, labels, 1).any()


@pytest.mark.parametrize("count", [3, 4, 5, 10, 20])
@pytest.mark.parametrize("n", [64, 200, 1000, 5000])
def test_sizes_of_folds_differ_by_at_most_a_run(n, count):
    rng = RNG(n)
    found = folds(hashes(rng, n), np.full(n, 9), signs(rng, n), count)
    assert np.ptp(np.bincount(found, minlength=count)) <= max(1, min(16, n // (16 * count)))


ORDERS = {
    "in a row": lambda rng, n: np.repeat(np.arange(n), 2),
    "the file three times": lambda rng, n: np.tile(np.arange(n), 3),
    "shuffled": lambda rng, n: rng.permutation(np.tile(np.arange(n), 3)),
    "appended": lambda rng, n: np.r_[np.arange(n), rng.permutation(n)[: n // 2]],
    "a bootstrap sample": lambda rng, n: rng.integers(0, n, n),
    "some rows ten times": lambda rng, n: rng.permutation(np.r_[np.arange(n), np.repeat(np.arange(n // 10), 9)]),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("n", [640, 1000])
def test_copies_share_a_fold(n, order):
    rng = RNG(n)
    contents, labels, rows = hashes(rng, n), signs(rng, n), ORDERS[order](rng, n)
    for count in (4, 5, 10):
        found = folds(contents[rows], np.full(len(rows), 9), labels[rows], count)
        assert all(len(set(found[rows == k])) <= 1 for k in range(n))
        assert min(np.bincount(found, minlength=count)) > len(rows) / (2 * count)


def test_repeats_of_64_rows_are_copies_unless_four_are_more_than_a_64th():
    rng = RNG(2)
    contents, labels = hashes(rng, 64), signs(rng, 64)
    for times in (2, 3):
        rows = np.tile(np.arange(64), times)
        found = folds(contents[rows], np.full(len(rows), 2), labels[rows]).reshape(times, 64)
        assert (found == found[0]).all()


NATURAL = {
    "two values": (2, 60, False, "of kinds"),
    "100 categories": (100, 5000, False, "of kinds"),
    "sorted by 100 categories": (100, 5000, True, "of kinds"),
    "labels that differ": (500, 3000, False, "drawn"),
    "sorted, labels that differ": (500, 3000, True, "drawn"),
}


@pytest.mark.parametrize("name", NATURAL)
def test_natural_kinds_are_in_all_folds_alike(name):
    kinds, n, is_sorted, labels = NATURAL[name]
    rng = RNG(kinds)
    kind = rng.integers(0, kinds, n)
    kind = np.sort(kind) if is_sorted else kind
    features = 1 if labels == "of kinds" and kinds == 100 else 9
    contents, y = hashes(rng, kinds)[kind], LABELS[labels](rng, kind)
    for count in (3, 4, 5, 10):
        found = folds(contents, np.full(n, features), y, count)
        for k in range(kinds):
            assert np.ptp(np.bincount(found[kind == k], minlength=count)) <= 1
        assert np.ptp(np.bincount(found, minlength=count)) < n / count


def test_a_kind_with_most_of_the_rows_is_in_all_folds_alike():
    rng = RNG(3)
    kind = np.where(rng.random(2000) < 0.6, 0, np.arange(2000))
    found = folds(hashes(rng, 2000)[kind], np.full(2000, 9), (kind % 2) * 2.0 - 1)
    assert np.ptp(np.bincount(found[kind == 0], minlength=4)) <= 1
    assert np.ptp(np.bincount(found, minlength=4)) < 4 * 16


def test_names_of_columns_do_not_matter():
    """The same equalities of other contents: the same folds."""
    rng = RNG(4)
    rows, labels = rng.integers(0, 700, 1500), signs(rng, 1500)
    one, other = (folds(hashes(rng, 700)[rows], np.full(1500, 3), labels) for _ in range(2))
    assert (one == other).all()


def test_rows_of_a_table_of_counts_are_together():
    kind = np.repeat(np.arange(12), 2)
    found = folds(hashes(RNG(5), 12)[kind], np.full(24, 2), np.tile([-1.0, 1.0], 12))
    assert (found[::2] == found[1::2]).all() and len(set(found)) > 1


def test_minus_zero_is_the_label_zero():
    kind = np.tile(np.arange(100), 2)
    contents, features = hashes(RNG(6), 100)[kind], np.full(200, 9)
    labels = np.where(np.arange(200) % 2, 0.0, 3.0)
    other = np.where((labels == 0) & (np.arange(200) < 100), -0.0, labels)
    assert (folds(contents, features, labels) == folds(contents, features, other)).all()


def test_half_a_tenth_to_two_tenths_are_about_a_tenth():
    for n in range(1, 130):
        assert all(is_tenth(held, n) == (5 * n <= 100 * held <= 20 * n) for held in range(n + 1))
    assert is_tenth(0, 0)


def test_bad_arguments_are_refused():
    one, few = np.ones(3, np.uint64), np.ones(3, np.uint32)
    with pytest.raises(ValueError, match="different lengths"):
        folds_of(one, few, np.ones(2), bytearray(3), 4)
    with pytest.raises(ValueError, match="more than 20"):
        folds_of(one, few, np.ones(3), bytearray(3), 21)
