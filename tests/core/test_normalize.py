"""What `--normalize` does to the values of an example, against NumPy."""

import numpy as np
import pytest
from batches import Line, batch_of
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_normalize import MOST_DENSE, added_up, centered, normalized
from test_expand import PATTERNS, SPANS, expanded, slow_expand, slow_terms
from tiers import drawn

import vwlite.core.data.expand as expand
from vwlite.core.data.expand import CONSTANT_HASH, Expander
from vwlite.core.data.normalize import NORMALIZATIONS, Normalizer
from vwlite.core.learn.learner import Learner, Reason
from vwlite.core.learn.losses import Squared
from vwlite.core.rules.gd import Gd
from vwlite.core.solve.rows import Rows

CLOSE = 1e-6  # a float, where the arithmetic may round once differently
VALUES = [1.0, -1.0, 2.0, 0.1, -7e-5, 1e30, -1e30, 1e-45, -1e-40, 3e38, 0.0, -0.0]
FEATURES = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 5), st.integers(0, 2**32 - 1)),
        st.one_of(st.sampled_from(VALUES), st.floats(-1e6, 1e6)).map(lambda x: float(np.float32(x))),
    ),
    max_size=40,
)


def unzipped(features):
    return [key for key, _ in features], [x for _, x in features]


def of(normalizer, features):
    return normalizer(*unzipped(features))


def same(found, expected):
    assert found[0] == expected[0]
    np.testing.assert_allclose(found[1], expected[1], rtol=CLOSE, atol=1e-45)
    assert np.array_equal(np.signbit(found[1]), np.signbit(expected[1]))


@settings(max_examples=drawn(300), deadline=None)
@given(st.lists(FEATURES, min_size=1, max_size=4), st.sampled_from(["l2", "log"]))
def test_agrees_with_numpy(examples, name):
    normalizer = Normalizer(name)
    for features in examples:  # one after the other: nothing is left over
        if np.isfinite(added_up(*unzipped(features))[1]).all():
            same(of(normalizer, features), normalized(*unzipped(features), name))


@pytest.mark.parametrize(
    ("features", "keys", "l2"),
    [
        ([], [], []),
        ([(7, 3.0), (9, 4.0)], [7, 9], [0.6, 0.8]),
        ([(9, -4.0), (7, 3.0)], [9, 7], [-0.8, 0.6]),
        ([(9, 1.0), (7, 3.0), (9, 3.0)], [9, 7], [0.8, 0.6]),  # a word that stands twice
        ([(9, 1.0), (7, 3.0), (9, -1.0)], [7], [1.0]),
        ([(9, 1.0), (9, -1.0)], [], []),
        ([(5, 0.0)], [], []),
        ([(5, 1e30), (6, 1e30)], [5, 6], [0.5**0.5] * 2),  # its square is no float
        ([(5, 1e-45)], [5], [1.0]),
        ([(1, 1e-40), (2, 1.0)], [1, 2], [1e-40, 1.0]),
    ],
)
def test_divides_by_the_length(features, keys, l2):
    same(of(Normalizer("l2"), features), (keys, l2))


def test_logarithms_have_the_sign_of_the_value():
    found = of(Normalizer("log"), [(1, 1.0), (2, -3.0), (1, 2.0)])
    same(found, ([1, 2], [0.5**0.5, -(0.5**0.5)]))


def test_many_features_and_few():
    """The table that finds equal keys grows, and is used again."""
    random, normalizer = np.random.default_rng(1), Normalizer("l2")
    for n in (3, 100_000, 5, 100_000, 0, 1000):
        keys = random.integers(0, max(n // 2, 1), n).tolist()
        values = random.normal(size=n).astype(np.float32).tolist()
        same(normalizer(keys, values), normalized(keys, values, "l2"))


def dense_columns(n):
    random = np.random.default_rng(n)
    keys = random.choice(2**32, n, replace=False).tolist()
    return {key: (float(random.normal(50, 30)), i % 7 == 3) for i, key in enumerate(keys)}


@pytest.mark.parametrize("n", [0, 1, 5, 299, MOST_DENSE])
def test_centered_columns_follow_the_others(n):
    """Also those that the example lacks; those whose values are all equal are left out."""
    dense = dense_columns(n)
    normalizer = Normalizer("center", [(key, *rest) for key, rest in dense.items()])
    assert normalizer.extra == n
    random = np.random.default_rng(n)
    for _ in range(20):
        present = [key for key in dense if random.random() < 0.8] + random.integers(0, 2**32, 10).tolist() + [1, 2, 1]
        random.shuffle(present)
        values = random.normal(50, 30, len(present)).astype(np.float32).tolist()
        same(normalizer(present, values), centered(present, values, dense))


def test_a_value_at_the_mean_is_left_out():
    assert Normalizer("center", [(7, 2.0, False)])([7, 8], [2.0, 1.0]) == ([8], [1.0])
    assert Normalizer("center", [(7, 2.0, False)])([8, 7, 7], [1.0, 1.0, 4.0]) == ([8, 7], [1.0, 3.0])


def test_refuses_what_it_cannot_do():
    with pytest.raises(ValueError, match="at most 300 columns"):
        Normalizer("center", [(i, 0.0, False) for i in range(MOST_DENSE + 1)])
    with pytest.raises(ValueError):
        Normalizer("l3")
    with pytest.raises(ValueError, match="cannot precede"):
        Expander(constant_early=True, normalizer=Normalizer("l2"))
    assert NORMALIZATIONS == ("none", "l2", "log", "center")


# --- in the expander -----------------------------------------------------------------------------


@settings(max_examples=drawn(200), deadline=None)
@given(SPANS, PATTERNS, st.sampled_from([b"", b"a", b"bc"]), st.sampled_from([32, 18, 2]), st.booleans(),
       st.sampled_from(["l2", "log"]))
def test_interactions_come_first_and_the_intercept_is_apart(spans, patterns, ignore_linear, bits, constant, name):
    filters = {"ignore_linear": ignore_linear, "bits": bits}
    expander = Expander(interactions=patterns, constant=constant, normalizer=Normalizer(name), **filters)
    raw = Expander(interactions=patterns, constant=False, **filters)
    seen = {c for c, features in spans if features}
    assert expanded(raw, spans)[0] == slow_expand(spans, slow_terms(patterns, seen), constant=False, **filters)[0]
    keys, values = expanded(raw, spans)
    if not np.isfinite(values).all() or not np.isfinite(added_up(keys, values)[1]).all():
        return
    expected = normalized(keys, values, name)
    intercept = ([CONSTANT_HASH % 2**bits], [1.0]) if constant else ([], [])
    same(expanded(expander, spans), (expected[0] + intercept[0], expected[1] + intercept[1]))


def test_a_feature_with_the_key_of_the_intercept_is_not_added_to_it():
    found = expanded(Expander(normalizer=Normalizer("l2")), [(97, [(CONSTANT_HASH, 3.0), (5, 4.0)])])
    same(found, ([CONSTANT_HASH, 5, CONSTANT_HASH], [0.6, 0.8, 1.0]))


def test_centered_columns_without_any_in_the_example():
    expander = Expander(normalizer=Normalizer("center", [(4, 1.5, False), (5, 1.0, True)]))
    same(expanded(expander, []), ([4, CONSTANT_HASH], [-1.5, 1.0]))


def test_numbered_batches_are_normalized_too():
    line = Line(1.0, [(3, 1.0), (4, 2.0), (3, 2.0)])
    expander = Expander(constant=False, normalizer=Normalizer("l2"))
    assert not expander.unchanged
    found = [expander.features(batch_of([line], numbered=numbered), 0) for numbered in (True, False)]
    assert found[0] == found[1]


@pytest.mark.parametrize("interactions", [[], [b"ab"]])
def test_lines_that_otherwise_come_in_chunks_come_whole(monkeypatch, interactions):
    monkeypatch.setattr(expand, "most_whole", 3)
    spans = [(97, [(1, 1.0), (2, 2.0), (3, -1.0)]), (98, [(4, 0.5), (5, 3.0)])]
    keys, values = expanded(Expander(constant=False, interactions=interactions), spans)
    found = expanded(Expander(constant=False, interactions=interactions, normalizer=Normalizer("l2")), spans)
    same(found, normalized(keys, values, "l2"))


@pytest.mark.parametrize("interactions", [[], [b"ab"]])
def test_more_features_than_can_be_normalized(monkeypatch, interactions):
    """An answer, and no numbers: of a learner and of the rows of a batch problem."""
    monkeypatch.setattr(expand, "most_normalized", 4)
    line = Line(1.0, [(i, 1.0) for i in range(5 - bool(interactions))], spans=[(97, 2), (98, 3 - bool(interactions))])
    batch = batch_of([Line(1.0, [(1, 1.0)]), line, Line(1.0, [(1, 1.0)])])
    expander = Expander(interactions=interactions, normalizer=Normalizer("l2"))
    learner = Learner(Gd(Squared()), Squared(), expander)
    assert learner.run(batch) == 1
    assert (learner.reason, learner.examples) == (Reason.TOO_LONG, 1)
    with pytest.raises(OverflowError, match="an example has more than 4 features"):
        Rows(Expander(constant=False, interactions=interactions, normalizer=Normalizer("l2"))).add(batch)
    with pytest.raises(OverflowError):
        expander.features(batch, 1)


def test_rows_are_normalized_and_refuse_sums_that_are_infinite():
    rows = Rows(Expander(constant=False, normalizer=Normalizer("l2")))
    rows.add(batch_of([Line(1.0, [(9, 3.0), (2, 4.0)]), Line(-1.0, [(9, 1.0), (2, 1.0), (9, -1.0)])]))
    with pytest.raises(OverflowError, match="sum to infinity"):
        rows.add(batch_of([Line(1.0, [(9, 3e38), (2, 1.0), (9, 3e38)])]))
    rows.finish()
    same(rows.row(0), ([1, 0], [0.6, 0.8]))
    same(rows.row(1), ([0], [1.0]))
