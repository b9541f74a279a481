"""The weight table, seen through plain descent: it must behave as a dictionary."""

from itertools import pairwise

import numpy as np
import pytest
from batches import Line, batch_of
from hypothesis import given, settings
from hypothesis import strategies as st

from vwlite.core.data.expand import Expander
from vwlite.core.learn.learner import Learner
from vwlite.core.learn.losses import Squared
from vwlite.core.rules.gd import Gd
from vwlite.core.rules.sgd import Sgd
from vwlite.core.rules.truncated_gradient import TruncatedGradient

LAST = 2**32 - 1
GOLDEN_INVERSE = pow(0x9E3779B97F4A7C15, -1, 2**64)

# Keys that a poor table would heap up in one place, or mistake for a free slot.
ADVERSARIAL = {
    "running": np.arange(5000),
    "equal high bits": 0xABCD0000 + np.arange(5000),
    "equal low bits": (np.arange(5000) << 16) & LAST,
    "the ends": np.concatenate([np.arange(2500), LAST - np.arange(2500)]),
    "multiples of a capacity": (np.arange(5000) * 16384) & LAST,
    "multiples of the golden ratio": (np.arange(5000, dtype=np.uint64) * np.uint64(0x9E3779B1)) & np.uint64(LAST),
    "one home": np.array([((i << 40) + 1) * GOLDEN_INVERSE % 2**64 % 2**32 for i in range(5000)]),
}


def learner_of(rule=Sgd, bits=32, **options):
    loss = Squared()
    return Learner(rule(loss, rate=0.5, power_t=0.0, **options), loss, Expander(bits=bits, constant=False))


def weights_of(rule):
    """By rising key; the idle ones are not there."""
    slots = rule.slots()
    marks = np.frombuffer(bytes(slots), np.dtype(rule.SLOT, align=True))["mark"]
    out = np.zeros(len(marks))
    rule.weights(slots, out)
    keys = [(int(m) - 1) % 2**32 for m in marks]
    assert keys == sorted(set(keys))
    return dict(zip(keys, out.tolist(), strict=True))


def set_to(key, value):
    """An example that sets an unseen weight to `value`: w = 0.5 * 2 * (y - 0)."""
    return Line(value, [(int(key), 1.0)])


@pytest.mark.parametrize("kind", ADVERSARIAL)
def test_finds_what_was_put_in(kind):
    keys = list(dict.fromkeys(int(k) for k in ADVERSARIAL[kind]))
    learner = learner_of()
    learner.run(batch_of([set_to(k, i + 1.0) for i, k in enumerate(keys)]))
    assert weights_of(learner.rule) == {k: i + 1.0 for i, k in enumerate(keys)}
    assert len(learner.rule) == len(keys)
    assert learner.rule.count_nonzero() == len(keys)
    reader = Learner(learner.rule, Squared(), Expander(constant=False), learn=False, raw_predictions=True)
    reader.run(batch_of([set_to(k, 0.0) for k in keys]))
    assert [float(p) for p in reader.raw_predictions.take().split()] == [i + 1.0 for i in range(len(keys))]


KEYS = st.one_of(st.integers(0, 40), st.integers(LAST - 40, LAST), st.integers(0, LAST))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(KEYS, st.integers(-8, 8), st.booleans()), max_size=120), st.sampled_from([32, 31, 7, 1]))
def test_is_a_dictionary(operations, bits):
    """Learning sets a weight (here exactly: x = 1, rate 1/2), predicting reads it and makes no slot."""
    learner = learner_of(bits=bits)
    reader = Learner(learner.rule, Squared(), Expander(bits=bits, constant=False), learn=False, raw_predictions=True)
    model: dict[int, float] = {}
    for key, value, learns in operations:
        masked = key & (2**bits - 1)
        if learns:
            learner.run(batch_of([set_to(key, value)]))
            model[masked] = float(value)
        else:
            reader.run(batch_of([set_to(key, 99.0)]))
            assert float(reader.raw_predictions.take()) == model.get(masked, 0)
        assert len(learner.rule) == len(model)
    assert weights_of(learner.rule) == {k: v for k, v in model.items() if v}


def test_grows_within_one_example():
    """An example with more features than the capacity of the table, some of them twice."""
    learner = learner_of()
    features = [(k * 7919 % 2**32, 1.0) for k in range(20_000)]
    learner.run(batch_of([Line(1.0, features + features[:10])]))
    weights = weights_of(learner.rule)
    assert len(weights) == len(learner.rule) == 20_000
    assert [weights[k] for k, _ in features[:11]] == [2.0] * 10 + [1.0]
    assert learner.rule.table_bytes <= 8 * (2**16 + 1)


@pytest.mark.parametrize("bits", range(1, 33))
def test_bits_mask_the_keys(bits):
    rng = np.random.default_rng(bits)
    keys = [int(k) for k in rng.integers(0, 2**32, 100)] + [LAST, 0]
    learner = learner_of(bits=bits)
    learner.run(batch_of([set_to(k, 1.0) for k in keys]))
    assert set(weights_of(learner.rule)) == {k % 2**bits for k in keys}


def test_memory_follows_the_features():
    """At most 100 bytes a feature beside the 64 KiB of the smallest tables, whatever is in them."""
    for rule in (Sgd, Gd, TruncatedGradient):
        learner = learner_of(rule)
        for begin in range(0, 30_000, 3000):
            learner.run(batch_of([set_to(k * 2654435761 % 2**32, 1.0) for k in range(begin, begin + 3000)]))
            assert learner.rule.table_bytes < 2**16 + 100 * len(learner.rule)


def truncating(gravity):
    return learner_of(TruncatedGradient, l1=gravity)


def test_truncated_weights_leave():
    """A stream of ever new features keeps the table small; the weights are those of a table that never forgot."""
    rng = np.random.default_rng(3)
    n = 100_000
    common, labels = rng.integers(0, 50, n).tolist(), rng.normal(2, 1, n).tolist()
    stream = [Line(labels[i], [(1000 + i, 1.0), (common[i], 1.0)]) for i in range(n)]
    small = truncating(0.002)
    sizes, sizes_of_tables = [], []
    for begin in range(0, len(stream), 500):
        small.run(batch_of(stream[begin : begin + 500]))
        sizes.append(len(small.rule))
        sizes_of_tables.append(small.rule.table_bytes)
    assert max(sizes_of_tables) < 2.1 * 2**20
    assert max(sizes) < n / 2
    assert sum(b < a for a, b in pairwise(sizes)) >= 2

    # One that was large from the beginning has never had to forget.
    large = truncating(0.002)
    large.run(batch_of([Line(0.0, [(2**31 + k, 1.0) for k in range(150_000)])]))
    large.rule.t = large.rule.gravity = 0  # that example taught it nothing
    large.run(batch_of(stream))
    assert len(large.rule) == 150_000 + n + 50
    assert weights_of(large.rule) == weights_of(small.rule)
    assert large.rule.scalars() == small.rule.scalars()
    assert 0 < len(weights_of(small.rule)) < 6000


def test_a_feature_that_left_comes_back_as_new():
    learner = truncating(1.0)
    learner.run(batch_of([Line(0.6, [(5, 1.0)]), Line(0.0, [(6, 1.0)])]))
    assert weights_of(learner.rule) == {}
    learner.run(batch_of([Line(0.0, [(10_000 + k, 1.0)]) for k in range(2000)]))  # the table grows or sweeps
    assert len(learner.rule) < 2002
    learner.rule.gravity = 1e6
    learner.run(batch_of([Line(3.0, [(5, 1.0)])]))
    assert weights_of(learner.rule) == {5: 2.5}  # 3, less the gravity of this step


def test_gd_slots_restart_with_initial_t():
    """Slots whose initial state is not zero: unseen ones, and those in a table that grew."""
    for initial_t in (3.0, 0.1):
        learner = learner_of(Gd, initial_t=initial_t)
        learner.max_label = 10
        learner.run(batch_of([Line(1.0, [(k, 1.0)]) for k in range(3000)] + [Line(1.0, [(LAST, 1.0)])]))
        slots = np.frombuffer(bytes(learner.rule.slots()), np.dtype(Gd.SLOT, align=True))
        assert len(slots) == 3001
        np.testing.assert_allclose(slots["G"], initial_t + 4.0, rtol=1e-6)  # (2 (0 - 1))^2
        # Seen, but with a loss of zero: nothing to remember.
        learner.run(batch_of([Line(0.0, [(5000 + k, 1.0)]) for k in range(100)]))
        assert len(weights_of(learner.rule)) == 3001


def test_load_refills_a_table():
    learner = learner_of()
    keys = [*range(3000), LAST]
    learner.run(batch_of([set_to(k, k + 1.0) for k in keys]))
    again = learner_of()
    again.rule.load(learner.rule.scalars(), learner.rule.slots())
    assert weights_of(again.rule) == weights_of(learner.rule)
    assert len(again.rule) == len(keys)
    with pytest.raises((KeyError, ValueError)):
        again.rule.load({}, b"")
