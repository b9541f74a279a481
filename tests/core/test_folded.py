"""The folded form of derived features: the sum over them of weight times value."""

from array import array
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import table
from tiers import drawn

from vwlite.algorithms.settings import Settings
from vwlite.core.data import expand
from vwlite.core.data.expand import CONSTANT_HASH
from vwlite.core.learn import folded
from vwlite.core.learn.learner import Learner
from vwlite.core.learn.scorer import Scorer
from vwlite.core.rules.frozen import Frozen
from vwlite.derived import CURVE, PARTS_OF_TIME, WORDS, Derived, NumberColumn, WordColumn
from vwlite.hashing import feature_hash
from vwlite.model.learners import make_learner, slots_of

COARSE, FINE = 5, 9
NAMES, KINDS = ["x", "y", "z", "job", "pet", "at"], ["numeric"] * 3 + ["categorical"] * 2 + ["time"]
JOBS, PETS = ("a", "b"), ("cat",)

floats = st.floats(width=32, allow_nan=False, allow_infinity=False)
near = st.integers(-6, 6).map(lambda i: i / 4) | st.sampled_from([1 + 2.0**-23, 2.0**-140, -1e30, 3e38])
knots = st.lists(near | floats, min_size=1, max_size=COARSE, unique_by=np.float32).map(lambda at: tuple(sorted(at)))


@st.composite
def numbers(draw, name):
    """Resolutions with some knots in common, or all of them."""
    at = {k: draw(knots) for k in (COARSE, FINE, CURVE)}
    at[FINE] = draw(st.sampled_from([at[FINE], at[COARSE], tuple(sorted({*at[COARSE], *at[CURVE]}))[: FINE]]))
    mean, deviation = draw(near), draw(st.sampled_from([0.0, 1e-310, 1e-9, 0.5, 3.0, 1e30]))
    return NumberColumn(name, mean, deviation, draw(st.booleans()), at)


@st.composite
def everything(draw):
    """Three numbers, two columns of words, and hours; pairs at two resolutions or one, and triples."""
    columns = [*map(draw, map(numbers, NAMES[:3])), WordColumn("job", JOBS), WordColumn("pet", PETS),
               WordColumn("at", PARTS_OF_TIME["hour"], "hour")]
    sets = st.lists(st.integers(0, 5), min_size=2, max_size=3, unique=True)
    products = []
    for of in draw(st.lists(sets, max_size=8)):
        for k in [COARSE] if len(of) == 3 else draw(st.sampled_from([[COARSE], [COARSE, FINE], [FINE]])):
            products.append(tuple((c, k if c < 3 else WORDS) for c in of))
    return Derived(tuple(columns), tuple(products))


cell = st.just("") | (near | floats).map(repr)
rows = st.lists(
    st.tuples(cell, cell, cell, st.sampled_from(["", *JOBS, "never"]), st.sampled_from(["", *PETS, "dog"]),
              st.sampled_from(["", "2026-01-31T13:05", "2026-02-01"])), min_size=1, max_size=8)


def learner_of(derived, weights, classes=0, unseen=0.0, bits=32, **more) -> Learner:
    """weights: by key, one for each class."""
    found = Settings(derived=derived, oaa=classes or None, bits=bits, **more)
    learner = make_learner(found, kind=Frozen, learn=False)
    keys = memoryview(array("I", sorted(weights)))
    each = memoryview(array("d", [w for key in keys for w in weights[key]]))
    scalars = learner.rule.scalars() | {"unseen": [unseen] * classes if classes else unseen}
    learner.rule.load(scalars, slots_of(learner.rule, keys, {"w": each}))
    return learner


def scores(learner, batch):
    scorer = Scorer(learner)
    found = np.empty((len(batch), scorer.width))
    scorer.into(found, np.empty(len(batch)))
    assert scorer.run(batch) == len(batch)
    return found, scorer


@settings(deadline=None, max_examples=drawn(150))
@given(everything(), rows, rows, st.data())
def test_scores_are_those_of_the_derived_features(derived, seen, others, data):
    """Of a model that has some of the features of some lines, or all, with weights of any sign."""
    classes, bits = data.draw(st.sampled_from([0, 2, 3])), data.draw(st.sampled_from([32, 12]))
    unseen = data.draw(st.sampled_from([0.0, 0.0, 0.75]))
    derivation, k = derived.derivation(False), classes or 1
    mask = (1 << bits) - 1
    batch = table(NAMES, KINDS, seen + others)
    features = [(hashes, values) for hashes, values, _ in derivation.derived(batch)]
    known = {hash for hashes, _ in features[: len(seen)] for hash in hashes} | {*derived.named(False)}
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    share = data.draw(st.sampled_from([0.0, 0.1, 0.6, 1.0]))
    weights = {key: random.normal(size=k) * 3 for key in sorted(x & mask for x in known) if random.random() < share}
    constant = weights[CONSTANT_HASH & mask] = random.normal(size=k)
    learner = learner_of(derived, weights, classes, unseen, bits)
    plain, _ = scores(learner, batch)
    learner.fold()
    assert learner.folded is not None
    found, _ = scores(learner, batch)
    for (hashes, values), of_line, before in zip(features, found, plain, strict=True):
        each = zip(hashes, values, strict=True)
        parts = [constant, *(weights.get(hash & mask, np.full(k, unseen)) * x for hash, x in each)]
        scale = 1 + np.abs(parts).sum(0)
        assert (np.abs(of_line - np.sum(parts, 0)) <= 1e-6 * scale).all()
        assert (np.abs(of_line - before) <= 1e-6 * scale).all()


X = NumberColumn("x", 0.0, 1.0, True, {CURVE: (0.0, 1.0, 2.0), COARSE: (0.0, 2.0)})
Y = replace(X, name="y")
PAIR = Derived((X, Y), (((0, COARSE), (1, COARSE)),))


@pytest.mark.parametrize("more", [
    {"interactions": ("xy",)}, {"crosses": ("x,y",)}, {"ignore": "x"}, {"keep": "x"}, {"ignore_linear": "x"},
    {"normalize": "l2"},
])
def test_features_that_are_crossed_or_left_out_stay_features(more):
    learner = learner_of(PAIR, {CONSTANT_HASH: [1.0]}, **more)
    learner.fold()
    assert learner.folded is None


def test_tables_have_a_bound(monkeypatch):
    monkeypatch.setattr(folded, "most_bytes", 500)
    learner = learner_of(PAIR, {CONSTANT_HASH: [1.0]})
    learner.fold()
    assert learner.folded is None
    assert scores(learner, table(["x", "y"], ["numeric"] * 2, [["1", "1"]]))[0] == [[1.0]]


def test_nothing_to_fold():
    for derived in (None, Derived(texts=1), Derived((WordColumn("job", JOBS),))):
        learner = learner_of(derived, {CONSTANT_HASH: [1.0]})
        learner.fold()
        assert learner.folded is None


def test_a_number_is_unknown_if_no_weight_of_its_curve_is_there():
    """... where its value is: z, or one of the hats."""
    hats = [feature_hash(f"x~{CURVE}@{at}".encode(), b"x") for at in (0, 1, 2)]
    batch = table(["x", "y"], ["numeric"] * 2, [["0", ""], ["0.5", ""], ["1", "1"], ["7", ""], ["", ""]])

    def counts(weights):
        learner = learner_of(PAIR, {hash: [1.0] for hash in [CONSTANT_HASH, *weights]})
        learner.fold()
        scorer = scores(learner, batch)[1]
        return scorer.looked_up, scorer.unknown, scorer.unknown_examples

    assert counts([]) == (5, 5, 4)
    assert counts([hats[0]]) == (5, 3, 2)
    assert counts([hats[2]]) == (5, 3, 2)
    assert counts([feature_hash(b"x", b"x")]) == (5, 1, 0)


def test_other_users_of_the_expander_have_all_features():
    learner = learner_of(PAIR, {CONSTANT_HASH: [1.0]})
    batch = table(["x", "y"], ["numeric"] * 2, [["1.5", "1"]])
    before = learner.expander.features(batch, 0)
    learner.fold()
    scores(learner, batch)
    assert learner.expander.features(batch, 0) == before


def test_lines_in_chunks_have_the_same_scores(monkeypatch):
    """Their other features come in parts, which know nothing of what is folded."""
    rng = np.random.default_rng(2)
    products = (((0, COARSE), (1, COARSE)), ((1, COARSE), (2, WORDS)))
    derived = Derived((X, Y, WordColumn("job", JOBS)), products)
    words = [feature_hash(f"job={job}".encode(), b"job") for job in JOBS]
    weights = {hash: rng.normal(size=1) for hash in [CONSTANT_HASH, *words, *derived.named(False)]}
    lines = [["1.5", "0.5", "a"], ["", "3", "b"], ["0", "", ""]]
    batch = table(["x", "y", "job"], ["numeric", "numeric", "categorical"], lines)
    whole = learner_of(derived, weights)
    whole.fold()
    monkeypatch.setattr(expand, "most_whole", 0)
    monkeypatch.setattr(expand, "chunk_size", 2)
    parts = learner_of(derived, weights)
    parts.fold()
    assert scores(parts, batch)[0] == pytest.approx(scores(whole, batch)[0], rel=1e-12)
