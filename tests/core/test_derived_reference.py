"""The reference of derived features: small cases by hand, and properties that follow from the definition."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from derived_features import (
    COARSE,
    FOLDS,
    KEPT_COLUMNS,
    NATS,
    RESOLUTIONS,
    WIDEST,
    Numbers,
    Product,
    Screening,
    Words,
    code_of_number,
    code_of_word,
    derivatives,
    derivatives_of_classes,
    escaped,
    features_of_derived_text,
    fold_of,
    four_grams,
    gain,
    hash_of_row,
    hats,
    is_taken,
    knots,
    levels,
    mean_and_deviation,
    name_of_hat,
    number,
    sample_of,
    standardized,
)
from hypothesis import given
from hypothesis import strategies as st

NAN, INF = math.nan, math.inf
VALUES = st.lists(st.floats(width=32) | st.sampled_from([0.0, -0.0, 1.0, 2.0]), max_size=200)

# --- rows ---------------------------------------------------------------------------------------


def test_the_hash_of_a_row_is_the_first_number_of_splitmix64() -> None:
    assert hash_of_row(0) == 0xE220A8397B1DCDAF  # as published for the seed 0


def test_a_sample_is_in_the_order_of_the_file_and_grows_with_its_size() -> None:
    assert sample_of(5, 9) == [0, 1, 2, 3, 4]
    few, more = sample_of(1000, 100), sample_of(1000, 101)
    assert few == sorted(few) and len(few) == 100
    assert set(few) < set(more)
    assert max(map(hash_of_row, few)) < min(hash_of_row(i) for i in set(range(1000)) - set(few))


@pytest.mark.parametrize("size", [4000, 500])
def test_folds_are_about_equal_in_a_sample_too(size: int) -> None:
    count = np.bincount([fold_of(row) for row in sample_of(4000, size)], minlength=FOLDS)
    assert len(count) == FOLDS and abs(count - size / FOLDS).max() < 4 * math.sqrt(size / FOLDS)


# --- knots --------------------------------------------------------------------------------------


def test_values_are_floats_and_what_is_not_finite_is_missing() -> None:
    assert number(0.1) == float(np.float32(0.1)) != 0.1
    assert all(math.isnan(number(x)) for x in (NAN, INF, -INF, 1e308))
    assert math.copysign(1, number(-0.0)) == 1
    assert knots([NAN, 3, INF, 1], 4) == [1, 3] and knots([NAN, INF], 4) == []


@pytest.mark.parametrize("k", [4, 5, 64])
def test_few_distinct_values_are_all_knots(k: int) -> None:
    assert knots([*range(k), *range(k), 0, 0, 0], k) == list(range(k))


def test_knots_of_distinct_values_are_their_quantiles() -> None:
    assert knots(range(101), 5) == [0, 25, 50, 75, 100]
    assert knots(range(9), 4) == [0, 2, 5, 8]  # floor(8 / 3), floor(16 / 3)


def test_frequent_values_are_knots_and_quantiles_are_those_of_the_others() -> None:
    # 40 of 120 values are 0, which is more than a fifth; the others have four knots.
    assert knots([0] * 40 + list(range(1, 81)), 5) == [0, 1, 27, 53, 80]


def test_a_value_with_exactly_its_share_is_not_frequent() -> None:
    assert knots([7, 7, 1, 2, 3, 4, 5, 6], 4) == [1, 3, 5, 7]
    assert knots([7, 7, 7, 1, 2, 3, 4, 5, 6], 4) == [1, 3, 6, 7]  # of the others 0, 2, 5


def test_equal_quantiles_are_one_knot() -> None:
    assert knots([1] * 3 + [2] * 3 + [3, 4, 5, 6] + [7] * 3, 4) == [1, 2, 5, 7]
    assert knots([1, 1, 1, 1, 2, 3, 4, 5, 6, 7], 8) == [1, 2, 3, 4, 5, 6, 7]  # of 1 2 3 4 5 6 7: at most 7 others


def test_with_all_but_one_knots_frequent_there_is_one_more() -> None:
    assert knots([1] * 30 + [2] * 30 + [3] * 30 + [4, 5, 6], 4) == [1, 2, 3, 4, 6]


@given(VALUES, st.sampled_from([4, 5, 8, 9, 64]))
def test_knots_are_values_of_the_sample_with_both_ends(values: list[float], k: int) -> None:
    found, finite = knots(values, k), [x for x in values if math.isfinite(x)]
    assert all(a < b for a, b in pairwise(found)) and set(found) <= set(finite)
    assert len(found) <= k + 1
    if finite:
        assert {min(finite), max(finite)} <= set(found)
    if len(set(finite)) <= k:
        assert set(found) == set(finite)
    assert found == knots(sorted(values, key=str), k)  # in any order


def test_mean_and_deviation_are_those_of_known_values() -> None:
    assert mean_and_deviation([1, NAN, 3, INF]) == (2, 1)
    assert standardized(3, 2, 0.5) == 2
    assert [standardized(x, 0, 1) for x in (-9, 9)] == [-4, 4]


# --- hats ---------------------------------------------------------------------------------------


def test_hats_by_hand() -> None:
    at = [0, 1, 5]
    assert hats(2, at) == [(1, 0.75), (2, 0.25)]
    assert hats(1, at) == [(1, 1.0)]
    assert [hats(x, at) for x in (-3, 9)] == [[(0, 1.0)], [(2, 1.0)]]
    assert hats(NAN, at) == hats(INF, at) == hats(1, []) == []
    assert hats(0, [-(2.0**60), 2.0**-60]) == [(1, 1.0)]  # 1 - w is 0
    assert [hats(x, [7]) for x in (6, 7, 8)] == [[(0, 1.0)]] * 3


@given(st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=1, max_size=9), st.floats(width=32))
def test_hats_are_a_partition_of_one_and_their_mean_knot_is_x(values: list[float], x: float) -> None:
    at = sorted(set(values))
    found = hats(x, at)
    if not math.isfinite(x):
        assert found == []
        return
    assert 1 <= len(found) <= 2 and sum(w for _, w in found) == pytest.approx(1, abs=1e-15)
    assert all(0 < w <= 1 for _, w in found)
    assert found[-1][0] - found[0][0] == len(found) - 1
    scale = max(map(abs, at)) or 1.0
    assert sum(w * at[i] / scale for i, w in found) == pytest.approx(min(max(x, at[0]), at[-1]) / scale, abs=1e-12)


# --- codes --------------------------------------------------------------------------------------


def test_codes_count_the_edges_strictly_below() -> None:
    at = [0, 2, 4]  # edges 1, 3
    assert [code_of_number(x, at) for x in (-5, 1, 1.5, 3, 3.5, NAN, INF)] == [0, 0, 1, 1, 2, 3, 3]
    assert [code_of_number(x, [7]) for x in (6, 8, NAN)] == [0, 0, 1]


def test_knots_have_codes_of_their_own() -> None:
    at = knots(range(1000), 16)
    assert [code_of_number(x, at) for x in at] == list(range(16))


def test_levels_are_by_count_then_by_name() -> None:
    words = ["b"] * 10 + ["a"] * 10 + ["c"] * 12 + ["rare"] * 9 + [""] * 50
    kept = levels(words)
    assert kept == ["c", "a", "b"]
    assert [code_of_word(word, kept) for word in ("c", "b", "rare", "unseen", "")] == [0, 2, 3, 3, 4]


def test_at_most_31_levels_are_kept() -> None:
    words = [f"{i:02}" for i in range(40) for _ in range(10 + i % 2)]
    kept = levels(words)
    assert len(kept) == 31 and kept == [f"{i:02}" for i in (*range(1, 40, 2), *range(0, 22, 2))]


# --- features -----------------------------------------------------------------------------------


def test_the_curve_of_a_number_has_z_hats_and_whether_it_is_missing() -> None:
    column = Numbers("age", [1, 2, 3, NAN])
    z = 0.5 / math.sqrt(2 / 3)
    assert column.curve(2.5) == [("age", pytest.approx(z)), ("age~64@2", 0.5), ("age~64@3", 0.5)]
    assert column.curve(2) == [("age~64@2", 1.0)]  # z is 0
    assert column.curve(99) == [("age", 4.0), ("age~64@3", 1.0)]
    assert column.curve(NAN) == column.curve(INF) == [("age?", 1.0)]
    assert Numbers("age", [1, 2]).curve(NAN) == []


@pytest.mark.parametrize("sample", [[3, 3, 3], [3], [NAN], []])
def test_a_column_of_one_value_has_no_curve(sample: list[float]) -> None:
    assert Numbers("x", sample).curve(3) == Numbers("x", sample).curve(5) == []


def test_words_stay_as_they_are() -> None:
    column = Words("job", ["clerk"])
    assert column.curve("clerk") == [("job=clerk", 1.0)] and column.curve("") == []


WORDS = Words("contact", ["unknown"] * 10 + ["cell^*?"] * 10 + ["rare"])
DURATION = Numbers("duration", [*range(0, 1000), NAN])


@pytest.mark.parametrize("word, name", [
    ("unknown", "contact=unknown"), ("rare", "contact=*"), ("new", "contact=*"), ("", "contact?"),
    ("cell^*?", "contact=cell%5E%2A%3F"),
])
def test_a_product_joins_the_names_of_its_columns(word: str, name: str) -> None:
    found = Product((0, 1), 9, q=4).features([DURATION, WORDS], (249.75, word))
    assert [feature for feature, _ in found] == [f"duration~5@249^{name}", f"duration~5@499^{name}"]


def test_names_of_levels_are_not_those_of_the_rest_or_of_missing_ones() -> None:
    words = ["*", "?", "^", "%2A", "%", "%25", "a%3F", "a?", ""]
    column = Words("a", [word for word in words for _ in range(10)])
    names = [name for word in [*words, "unseen"] for name, _ in column.factors(word, COARSE)]
    assert len(set(names)) == len(names)
    assert escaped("a b%", "^") == "a b%"


def test_knots_have_nine_digits_which_tell_floats_apart() -> None:
    a = np.float32(0.1)
    b = np.nextafter(a, np.float32(1))
    assert name_of_hat("x", 64, float(a)) == "x~64@0.100000001" != name_of_hat("x", 64, float(b))


@pytest.mark.parametrize("columns, q, resolutions", [
    ((DURATION, DURATION), 8, [5, 9]), ((DURATION, DURATION), 4, [5]), ((DURATION, WORDS), 32, [5, 33]),
    ((WORDS, WORDS), 4, [5]), ((DURATION, WORDS, DURATION), 8, [5]),
])
def test_resolutions_of_a_product(columns: Sequence[Numbers | Words], q: int, resolutions: list[int]) -> None:
    assert Product((0, 1, 2)[: len(columns)], 9, q).knots_of(columns) == resolutions


CELLS = st.floats(-128, 1152, width=32) | st.just(NAN)


@given(CELLS, CELLS, st.sampled_from(["unknown", "new", ""]))
def test_the_values_of_a_product_add_up_to_one_at_each_resolution(x: float, y: float, word: str) -> None:
    for columns, row in (((DURATION, DURATION), (x, y)), ((DURATION, WORDS), (x, word))):
        found = Product((0, 1), 9, q=16).features(columns, row)
        for k in (5, 17):
            values = [value for name, value in found if f"~{k}@" in name or "~" not in name]
            assert len(values) <= 4 and sum(values) == pytest.approx(1)


def test_a_product_without_hats_is_written_once() -> None:
    found = Product((0, 1), 9, q=16).features([DURATION, WORDS], (NAN, "unknown"))
    assert found == [("duration?^contact=unknown", 1.0)]


# --- residuals ----------------------------------------------------------------------------------


def test_residuals_by_hand() -> None:
    h = np.array([1.0, 2.0])
    R, H = derivatives("logistic", np.array([0.0, 0.0]), np.array([1.0, -1.0]), h)
    assert R.tolist() == [[0.5], [-1.0]] and H.tolist() == [[0.25], [0.5]]
    R, H = derivatives("poisson", np.array([0.0, math.log(4)]), np.array([2.0, 1.0]), np.ones(2))
    s = 1.25  # l' is -1 and 3, over the roots of 1 and 4, with deviation 1.25
    assert np.allclose(R, [[1 / s], [-3 / s]]) and np.allclose(H, [[1], [4]])
    R, H = derivatives("gamma", np.zeros(2), np.array([3.0, 5.0]), np.ones(2))  # l' is -2 and -4, with deviation 1
    assert R.tolist() == [[2.0], [4.0]] and H.tolist() == [[1.0], [1.0]]
    R, H = derivatives("squared", np.zeros(2), np.array([10.0, -10.0]), np.ones(2))
    assert R.tolist() == [[1.0], [-1.0]] and H.tolist() == [[1.0], [1.0]]  # residuals over their deviation


def test_residuals_of_two_classes_are_those_of_the_logistic_loss_twice() -> None:
    rng = np.random.default_rng(1)
    p, y, h = rng.normal(size=50), rng.integers(0, 2, 50), rng.random(50)
    R, H = derivatives_of_classes(np.column_stack([0 * p, p]), y, h)
    r, curvature = derivatives("logistic", p, 2 * y - 1.0, h)
    assert np.allclose(R, np.hstack([-r, r])) and np.allclose(H, np.hstack([curvature] * 2))


def test_perfect_predictions_leave_nothing_to_find() -> None:
    y = np.arange(9.0)
    R, _ = derivatives("squared", y, y, np.ones(9))
    assert not R.any()


# --- gains --------------------------------------------------------------------------------------


def test_a_gain_by_hand() -> None:
    # One cell. Fold 0 has r = 6, h = 2, fold 1 r = 4, h = 1: d = 4 / (1 + 4), and 6 / (2 + 4).
    cells, folds = [0] * 3, [0, 0, 1]
    R, H = np.array([[5.0], [1.0], [4.0]]), np.array([[1.0], [1.0], [1.0]])
    of_first, of_second = 0.8 * 6 - 0.8**2 * 2 / 2, 1 * 4 - 1**2 * 1 / 2
    assert gain(cells, folds, R, H) == pytest.approx(of_first + of_second)


def drawn(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 16, n), rng.integers(0, FOLDS, n), rng.normal(size=(n, 1))


def test_cells_that_tell_nothing_lose_on_average() -> None:
    gains = []
    for seed in range(40):
        cells, folds, R = drawn(1000, seed)
        gains.append(gain(cells, folds, R, np.ones((1000, 1))))
    assert np.mean(gains) + 3 * np.std(gains) / math.sqrt(40) < 0
    assert max(gains) < NATS


def test_cells_that_tell_something_gain_about_what_they_explain() -> None:
    cells, folds, R = drawn(4000)
    found = gain(cells, folds, R + (cells % 2 - 0.5)[:, None], np.ones((4000, 1)))
    assert found == pytest.approx(4000 * 0.5**2 / 2, rel=0.1)


def test_gains_do_not_depend_on_names_of_cells_or_the_order_of_rows() -> None:
    cells, folds, R = drawn(500)
    found, order = gain(cells, folds, R, np.ones((500, 1))), np.random.default_rng(2).permutation(500)
    assert gain(1000 - 7 * cells, folds, R, np.ones((500, 1))) == pytest.approx(found)
    assert gain(cells[order], folds[order], R[order], np.ones((500, 1))) == pytest.approx(found)


def test_a_row_of_importance_two_is_two_rows() -> None:
    cells, folds, R = drawn(300)
    H, twice = np.ones((300, 1)), np.arange(300) % 3 == 0
    weights = np.where(twice, 2.0, 1.0)[:, None]
    copies = np.r_[np.arange(300), np.flatnonzero(twice)]
    assert gain(cells, folds, R * weights, H * weights) == pytest.approx(
        gain(cells[copies], folds[copies], R[copies], H[copies])
    )


def test_gains_of_classes_are_added() -> None:
    cells, folds, R = drawn(300)
    H = np.ones((300, 1))
    both = gain(cells, folds, np.hstack([R, -2 * R]), np.hstack([H, H]))
    assert both == pytest.approx(gain(cells, folds, R, H) + gain(cells, folds, -2 * R, H))


# --- screening ----------------------------------------------------------------------------------


def planted(n: int = 2000) -> tuple[list[Numbers | Words], list[tuple[float, float, str, str]], np.ndarray]:
    """Columns a and b, whose signs together say the label, a word that says nothing, and a word with the sign of b."""
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, n))
    noise, side = rng.choice(["x", "y", "z"], n), np.where(b > 0, "up", "down")
    rows = [*zip(a.tolist(), b.tolist(), noise.tolist(), side.tolist(), strict=True)]
    columns = [Numbers("a", a.tolist()), Numbers("b", b.tolist()), Words("noise", noise.tolist()),
               Words("side", side.tolist())]
    return columns, rows, np.where(a * b > 0, 1.0, -1.0)


def test_a_planted_exclusive_or_is_found() -> None:
    columns, rows, y = planted()
    screening = Screening(columns, rows, *derivatives("logistic", 0 * y, y, np.ones(len(y))))
    found = screening.pairs()
    assert [x.columns for x in found] == [(0, 3), (0, 1)] or [x.columns for x in found] == [(0, 1), (0, 3)]
    assert all(x.gain > len(y) / 4 for x in found)
    assert screening.pairs(most=1) == found[:1]
    assert screening.gain((0, 2), 4) < NATS and screening.gain((1, 3), 4) < NATS


def test_the_gain_of_a_pair_is_that_of_its_best_resolution() -> None:
    columns, rows, y = planted()
    screening = Screening(columns, rows, *derivatives("logistic", 0 * y, y, np.ones(len(y))))
    best = screening.best((0, 1), RESOLUTIONS)
    gains = [screening.gain((0, 1), q) for q in RESOLUTIONS]
    assert best.gain == max(gains) and best.q == RESOLUTIONS[int(np.argmax(gains))]
    assert screening.best((2, 3), RESOLUTIONS).q == RESOLUTIONS[0]  # words have one


def test_a_rule_of_three_columns_is_found_by_way_of_a_pair() -> None:
    rng = np.random.default_rng(7)
    n = 3000
    of = {name: rng.choice(["no", "yes"], n).tolist() for name in "abcd"}
    columns = [Words(name, words) for name, words in of.items()]
    rows = [*zip(*of.values(), strict=True)]
    sign = np.array([(-1.0) ** (row[0] == "yes") * (-1.0) ** (row[1] == "yes") for row in rows])
    y = np.where(np.array(of["c"]) == "yes", sign, rng.choice([-1.0, 1.0], n))
    screening = Screening(columns, rows, *derivatives("logistic", 0 * y, y, np.ones(n)))
    pairs = screening.pairs()
    assert [x.columns for x in pairs] == [(0, 1)]
    triples = screening.triples(pairs)
    assert triples[0].columns == (0, 1, 2)
    assert triples[0].gain > 1.5 * pairs[0].gain
    assert {x.columns for x in triples} <= {(0, 1, 2), (0, 1, 3)}


def test_a_set_of_three_columns_is_counted_once() -> None:
    columns, rows, y = planted()
    screening = Screening(columns, rows, *derivatives("logistic", 0 * y, y, np.ones(len(y))))
    found = screening.triples([Product((0, 1), 9), Product((0, 3), 9), Product((1, 3), 9)])
    assert len({x.columns for x in found}) == len(found) and (0, 1, 3) in {x.columns for x in found}


def test_of_very_many_columns_those_with_a_gain_of_their_own_are_paired() -> None:
    rng = np.random.default_rng(9)
    n, m = 200, WIDEST + 1
    words = rng.choice(["no", "yes"], (n, m))
    y = np.where(words[:, 400] == "yes", 1.0, -1.0)
    columns = [Words(f"c{i}", words[:, i].tolist()) for i in range(m)]
    screening = Screening(columns, words.tolist(), *derivatives("logistic", 0 * y, y, np.ones(n)))
    paired = {i for x in screening.pairs(10**6) for i in x.columns}
    assert 400 in paired and len(paired) <= KEPT_COLUMNS


# --- texts --------------------------------------------------------------------------------------


def test_texts_have_words_pairs_of_words_and_pieces() -> None:
    assert four_grams("York") == ["~<yor", "~york", "~ork>"]
    assert four_grams("a is") == ["~<is>"] and four_grams("  ") == []
    assert four_grams("it's") == ["~<it'", "~it's", "~t's>"]  # a piece is what is between blanks
    found = features_of_derived_text("New York, new")
    assert [name for name in found if not name.startswith("~")] == ["new", "york", "new_york", "new", "york_new"]
    assert found.count("~<new") == 2


def test_a_letter_and_its_accent_are_the_same_in_one_character_and_in_two() -> None:
    assert four_grams("cafe\u0301") == four_grams("caf\u00e9") == ["~<caf", "~caf\u00e9", "~af\u00e9>"]


# --- choice -------------------------------------------------------------------------------------


def test_a_stage_is_taken_if_it_is_better_by_more_than_chance() -> None:
    rng = np.random.default_rng(3)
    best, h = rng.random(1000), np.ones(1000)
    noise = rng.normal(size=1000)
    noise -= noise.mean()
    assert is_taken(best - 0.01, best, h)
    assert not is_taken(best, best, h)
    assert not is_taken(best * 0.9995, best, h)  # too little
    error = math.sqrt((noise**2).sum()) / 1000
    assert is_taken(best - 0.01 + noise * 0.01 / error / 2.1, best, h)
    assert not is_taken(best - 0.01 + noise * 0.01 / error / 1.9, best, h)
