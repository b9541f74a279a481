"""Each compiled rule against its dense, eager reference."""

import math
import random
from math import inf
from time import process_time

import numpy as np
import pytest
import slow_rules
from algorithm_options import FULL, OPTIONS, taken
from batches import Line, batch_of, learn
from derived_features import Numbers, Product, Words
from derived_tables import derived_of, hashed
from losses import LOG_LINKED, LOSSES
from streams import CONSTANT, Walk, random_stream
from tables import table
from tiers import ALL, drawn

from vwlite.algorithms.rules import rule_class
from vwlite.algorithms.table import ALGORITHMS
from vwlite.core.data.expand import Expander
from vwlite.core.learn.learner import Learner, Reason
from vwlite.core.learn.losses import Hinge, Logistic, Quantile, Squared
from vwlite.core.rules.adagrad import ElasticAdagrad
from vwlite.core.rules.adagrad_ball import AdagradBall
from vwlite.core.rules.arow import Arow
from vwlite.core.rules.ftrl import Ftrl
from vwlite.core.rules.l1_ball import L1Ball, WeightedL1Ball
from vwlite.core.rules.l1_subgradient import L1Subgradient
from vwlite.core.rules.rounding import Rounding
from vwlite.core.rules.sgd import Sgd
from vwlite.core.rules.simplex import Simplex
from vwlite.core.rules.smidas import Smidas
from vwlite.core.rules.truncated_gradient import ElasticTruncatedGradient, TruncatedGradient

pytestmark = pytest.mark.pairwise("rules")
CLASSES = {name: rule_class(row.rule) for name, row in ALGORITHMS.items() if name not in FULL}
RULES = {name: (kind, getattr(slow_rules, kind.__name__)) for name, kind in CLASSES.items()} | {
    f"{name} with l2": (rule_class(ALGORITHMS[name].forms["l2"]), getattr(slow_rules, kind.__name__))
    for name, kind in CLASSES.items()
    if "l2" in ALGORITHMS[name].forms
}
BOXED = ("adagrad", "adagrad-rda")
RULES |= {
    f"{name} in a box": (rule_class(ALGORITHMS[name].forms["box"]), getattr(slow_rules, CLASSES[name].__name__))
    for name in BOXED
}
ALL_KEYS = [name for name, row in ALGORITHMS.items() if row.all_keys]
NEEDED = {  # a rate at which a rule that multiplies learns something
    name: {option: OPTIONS[name][option] for option in ALGORITHMS[name].required}
    | ({"rate": 1.0} if name in ALL_KEYS else {})
    for name in CLASSES
} | {
    f"{name} with l2": taken(row, {"l1": 0.01}) | {"l2": 0.1} | row.defaults
    for name, row in ALGORITHMS.items()
    if "l2" in row.forms
} | {f"{name} in a box": {"l1": 0.01, "box": 0.05} | ALGORITHMS[name].defaults for name in BOXED}
# Relative to the largest weight: float32 weights; state all in doubles, summed unlike in the reference; and like it.
FLOAT, EXACT, DOUBLE = 2e-5, 1e-9, 1e-12
HINGE_ONLY = tuple(name for name, row in ALGORITHMS.items() if row.losses == ("hinge",))
NEVER_ZERO = ("simplex", "eg", "eg-pm")  # or features that were never seen have weights too
IN_FLOATS = tuple(name for name, (kind, _) in RULES.items() if ("w", "<f4") in kind.SLOT)
ADAPTIVE = 1e-10  # for AdaGrad, all in doubles, whose feedback makes more of the last digits
BITS = 7  # 128 keys for 300 features: collisions everywhere, with the constant too


def weights_of(rule, size):
    """The weights now, dense; those of features that were never seen too."""
    slots = rule.slots()
    table = np.frombuffer(bytes(slots), dtype=np.dtype(rule.SLOT, align=True))
    out = np.zeros(len(table))
    rule.weights(slots, out)
    dense = np.full(size, rule.scalars().get("unseen", 0.0))
    dense[table["mark"] - np.uint32(1)] = out
    return dense


def run(learner, stream, cut=None):
    """One pass, in batches of `cut` lines."""
    cut = cut or len(stream) or 1
    for begin in range(0, len(stream), cut):
        batch = batch_of(stream[begin : begin + cut])
        assert learn(learner, batch) == len(batch)
        assert learner.reason == Reason.DONE


def assert_agree(
    name, loss, stream, options, *, tolerance, passes=1, decay=1.0, bits=BITS, holdout_period=0, constant=True,
    derivation=None, batch=None, units=()
):
    """Run both over the stream; compare the weights after each pass, and every prediction. derivation: makes the
    features of the stream from those of the batch. units: the hashes of those whose scale begins with 1 in gd."""
    compiled_loss, plain_loss = LOSSES[loss]
    expander = Expander(bits=bits, constant=constant, derivation=derivation)
    of_compiled = {"features": (1 << bits) - constant} | options if name in ALL_KEYS else options
    compiled = RULES[name][0](compiled_loss, constant_key=expander.constant_key, **of_compiled)
    reference = RULES[name][1](plain_loss, 1 << bits, constant_key=expander.constant_key, **options)
    if name == "gd":
        reference.N[[hash & ((1 << bits) - 1) for hash in units]] = 1
    learner = Learner(compiled, compiled_loss, expander, holdout_period=holdout_period, predictions=True)
    low, high = (-50.0, 50.0) if loss in ("logistic", *LOG_LINKED) else (0.0, 0.0)
    learner.min_label, learner.max_label = low, high
    walk = Walk(
        reference,
        bits=bits,
        constant=constant,
        holdout_period=holdout_period,
        range_of_labels=(low, high),
        largest_p=44 if loss in LOG_LINKED else inf,
    )
    for number in range(passes):
        compiled.pass_decay = reference.decay = decay**number
        learner.begin_pass()
        if batch is None:
            run(learner, stream)
        else:
            assert learn(learner, batch) == len(batch) == len(stream)
        walk.run(stream)
        ours, theirs = weights_of(compiled, 1 << bits), reference.weights
        assert np.abs(theirs).max() > 1e-3  # something was learned
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max())
        said = [float(text) for text in learner.predictions.take().split()]  # the shortest text of 32-bit floats
        np.testing.assert_allclose(
            said, walk.predictions[-len(said) :], rtol=2.0**-23 + 50 * tolerance, atol=1e-6 + 50 * tolerance
        )
        assert compiled.t == reference.t
        if (tolerance in (DOUBLE, ADAPTIVE) or name.startswith("truncated-gradient")) and name not in NEVER_ZERO:
            penalized = np.arange(1 << bits) != expander.constant_key
            assert compiled.count_nonzero() == np.count_nonzero(theirs[penalized])
    return compiled, reference


def rate_for(loss, constant_rate=False):
    """A learning rate at which nothing diverges on the streams of these tests."""
    rates = {"squared": 0.004, "squared-hinge": 0.004, "logistic": 0.1} | dict.fromkeys(LOG_LINKED, 0.002)
    rate = rates.get(loss, 0.05)
    return rate / 4 if constant_rate else rate


SCHEDULES = {
    "1/sqrt(t)": {"power_t": 0.5},
    "constant": {"power_t": 0.0},
    "1/t": {"power_t": 1.0, "initial_t": 20.0},
    "any power": {"power_t": 0.37, "initial_t": 3.5},
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_sgd(loss, schedule):
    options = SCHEDULES[schedule] | {"rate": rate_for(loss, schedule == "constant")}
    stream = random_stream(1, drawn(700), loss=loss, scales=False)
    assert_agree("sgd", loss, stream, options, tolerance=FLOAT, passes=2, decay=0.8)


GRAVITIES = {"rate": {}, "constant": {"gravity": "constant"}}


@pytest.mark.parametrize("threshold", [inf, 0.05])
@pytest.mark.parametrize("period", [1, 3, 10])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("gravity", GRAVITIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_truncated_gradient(loss, gravity, schedule, period, threshold):
    options = SCHEDULES[schedule] | {"rate": rate_for(loss, schedule == "constant")} | GRAVITIES[gravity]
    options |= {"l1": 0.03 if gravity == "rate" else 0.01, "period": period, "threshold": threshold}
    stream = random_stream(2, drawn(400), loss=loss, scales=False)
    _, reference = assert_agree(
        "truncated-gradient", loss, stream, options, tolerance=FLOAT, passes=2, decay=0.9, holdout_period=7
    )
    assert 0 < np.count_nonzero(reference.weights) < 128  # truncation did something


@pytest.mark.parametrize("l2", [0.01, 1.0, 1e9, 1e308])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_sgd_with_l2(loss, schedule, l2):
    """At the largest, nothing but the constant is left after an example."""
    options = SCHEDULES[schedule] | {"rate": rate_for(loss, schedule == "constant"), "l2": l2}
    stream = random_stream(1, drawn(400), loss=loss, scales=False)
    assert_agree("sgd with l2", loss, stream, options, tolerance=FLOAT, passes=2, decay=0.8, holdout_period=7)


@pytest.mark.parametrize("l2", [1e-12, 0.3, 30.0])
@pytest.mark.parametrize("threshold", [inf, 0.05])
@pytest.mark.parametrize("period", [1, 10])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("gravity", GRAVITIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_elastic_net_by_truncated_gradient(loss, gravity, schedule, period, threshold, l2):
    options = SCHEDULES[schedule] | {"rate": rate_for(loss, schedule == "constant")} | GRAVITIES[gravity]
    options |= {"l1": 0.03 if gravity == "rate" else 0.01, "l2": l2, "period": period, "threshold": threshold}
    stream = random_stream(2, drawn(400), loss=loss, scales=False)
    _, reference = assert_agree(
        "truncated-gradient with l2", loss, stream, options, tolerance=FLOAT, passes=2, decay=0.9, holdout_period=7
    )
    assert 0 < np.count_nonzero(reference.weights) < 128


@pytest.mark.parametrize("name", ["truncated-gradient", "truncated-gradient with l2", "l1-subgradient"])
def test_a_constant_gravity_stays_when_the_learning_rate_changes(name):
    """A model that is continued keeps the rate by which it shrinks."""
    kind, slow = RULES[name]
    options = {"l1": 0.004, "gravity": "constant", "initial_t": 2.0} | ({"l2": 0.01} if name.endswith("l2") else {})
    reference = slow(slow_rules.Logistic(), 1 << BITS, rate=0.2, **options)
    walk = Walk(reference, bits=BITS, constant=False)
    rule = None
    for seed, rate in ((41, 0.2), (42, 0.03)):
        saved, rule = rule, kind(Logistic(), rate=rate, **options)
        if saved is not None:
            rule.load(saved.scalars(), saved.slots())
        stream = random_stream(seed, 200, loss="logistic", scales=False)
        run(Learner(rule, Logistic(), Expander(bits=BITS, constant=False)), stream)
        reference.rate = rate
        walk.run(stream)
    np.testing.assert_allclose(weights_of(rule, 1 << BITS), reference.weights, rtol=FLOAT, atol=1e-5)
    assert np.count_nonzero(reference.weights) > 5
    with pytest.raises(ValueError, match="the rate of gravity is not a positive number"):
        rule.set_scalars(rule.scalars() | {"gravity_rate": 0.0})


@pytest.mark.parametrize("theta", [0.1, 0.3, 0.7])
def test_a_weight_that_is_the_threshold_is_shrunk(theta):
    """As it is kept in 32 bits, 0.1 is above the double 0.1, and 0.7 below."""
    rule = TruncatedGradient(Quantile(0.5), rate=2.0, power_t=0.0, l1=0.005, threshold=theta)
    learner = Learner(rule, Quantile(0.5), Expander(bits=2, constant=False))
    larger = float(np.nextafter(np.float32(theta), np.float32(1)))
    run(learner, [Line(9.0, [(1, theta), (2, larger)])])
    assert weights_of(rule, 4)[1] == pytest.approx(theta - 0.01, rel=1e-6)
    assert weights_of(rule, 4)[2] == larger


@pytest.mark.parametrize("threshold", [0.01, 0.05])
@pytest.mark.parametrize("period", [1, 3, 10])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_rounding(loss, schedule, period, threshold):
    options = SCHEDULES[schedule] | {"rate": rate_for(loss), "period": period, "threshold": threshold}
    stream = random_stream(30, drawn(400), loss=loss, scales=False)
    compiled, reference = assert_agree(
        "rounding", loss, stream, options, tolerance=DOUBLE, passes=2, decay=0.9, holdout_period=7
    )
    assert 0 < np.count_nonzero(reference.weights) < 128  # rounding did something
    assert compiled.rounds == reference.t // period


def test_roundings_are_counted_again_before_the_count_overflows():
    stream = random_stream(31, 300, loss="squared", scales=False)
    options = {"threshold": 0.05, "period": 3, "rate": 0.004, "constant_key": CONSTANT % (1 << BITS)}
    plain, full = (Learner(Rounding(Squared(), **options), Squared(), Expander(bits=BITS)) for _ in range(2))
    full.rule.rounds = 2**32 - 21
    for line in stream:
        run(plain, [line])
        run(full, [line])
        np.testing.assert_array_equal(weights_of(plain.rule, 1 << BITS), weights_of(full.rule, 1 << BITS))
    assert plain.rule.rounds == plain.rule.t // 3 > 40
    assert full.rule.rounds == plain.rule.rounds - 20


@pytest.mark.parametrize("l1", [0.02, 0.5])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("gravity", GRAVITIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_l1_subgradient(loss, gravity, schedule, l1):
    """At the larger strength most weights step over zero and back."""
    rate = rate_for(loss, schedule == "constant") * (5 if schedule == "1/t" else 1)
    options = SCHEDULES[schedule] | {"rate": rate, "l1": l1} | GRAVITIES[gravity]
    stream = random_stream(32, drawn(400), loss=loss, scales=False)
    compiled, reference = assert_agree(
        "l1-subgradient", loss, stream, options, tolerance=EXACT, passes=3, decay=0.9, holdout_period=7
    )
    if l1 == 0.5:
        shrinkage = reference.shrinking_rate(reference.t) * l1
        assert np.count_nonzero((np.abs(reference.weights) > 0) & (np.abs(reference.weights) <= shrinkage)) > 10
    compiled.final = True
    assert compiled.count_nonzero() == np.count_nonzero(reference.weights[reference.penalized])


def subgradient(**options):
    return Learner(L1Subgradient(Squared(), **options), Squared(), Expander(bits=BITS, constant=False))


@pytest.mark.parametrize(
    ("power_t", "w", "l1", "walk"),
    [
        (0.0, 0.75, 0.25, [0.5, 0.25, 0, 0, 0]),  # zero exactly: there it stays
        (0.0, -0.75, 0.25, [-0.5, -0.25, 0, 0, 0]),
        (0.0, 0.75, 0.5, [0.25, -0.25, 0.25, -0.25, 0.25]),
        (0.0, -0.75, 0.5, [-0.25, 0.25, -0.25, 0.25, -0.25]),
        (0.0, 0.125, 0.5, [-0.375, 0.125, -0.375, 0.125]),
        (0.0, 5.0, 1.0, [4, 3, 2, 1, 0, 0]),
        (0.0, 1.0, 0.0, [1, 1, 1]),
        (1.0, 0.25, 1.0, [-0.25, 1 / 12, -1 / 6, 1 / 30, -2 / 15]),  # 1/2, 1/3, 1/4, 1/5, 1/6
        (1.0, 0.5, 1.0, [0, 0, 0]),
        (1.0, -0.75, 1.0, [-0.25, 1 / 12, -1 / 6]),
    ],
)
def test_an_untouched_weight_walks_to_zero_and_steps_over_it(power_t, w, l1, walk):
    learner = subgradient(rate=1.0, power_t=power_t, l1=l1)
    run(learner, [Line(w / 2, [(1, 1.0)])])
    assert weights_of(learner.rule, 4)[1] == w
    for expected in walk:
        run(learner, [Line(0.0, [(2, 1.0)])])
        assert weights_of(learner.rule, 4)[1] == pytest.approx(expected, rel=1e-12, abs=1e-16)
        assert learner.rule.count_nonzero() == (expected != 0)
    run(learner, [Line(0.0, [(1, 1e-30)])])     # touched, at no gradient to speak of
    assert abs(weights_of(learner.rule, 4)[1]) == pytest.approx(
        abs(abs(walk[-1]) - (l1 * (len(walk) + 2) ** -power_t if walk[-1] else 0)), rel=1e-12, abs=1e-16
    )


def test_a_long_walk_at_a_constant_rate():
    """Where the last step with the same sign ends depends on the digits of w / c; the walk is right to both sides."""
    rng = np.random.default_rng(33)
    for _ in range(300):
        w, c = np.float32(rng.normal()), float(np.exp(rng.uniform(-6, 1)))
        learner = subgradient(rate=1.0, power_t=0.0, l1=c)
        run(learner, [Line(float(w) / 2, [(1, 1.0)])])
        n = int(rng.integers(1, 2 * abs(w) / c + 5))
        run(learner, [Line(0.0, [(2, 1.0)])] * n)
        now, expected = weights_of(learner.rule, 4)[1], float(w)
        for _ in range(n):
            expected -= c * np.sign(expected)
        assert now == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_rounding_at_the_end_leaves_learning_alone():
    stream = random_stream(34, 300, loss="squared", scales=False)
    plain, rounded = (subgradient(rate=0.004, l1=0.1, round_at_end=theta) for theta in (0.0, 0.01))
    for line in stream:
        for learner in (plain, rounded):
            run(learner, [line])
            learner.rule.final = True
        kept = weights_of(rounded.rule, 1 << BITS)
        np.testing.assert_array_equal(kept, slow_rules.t0(weights_of(plain.rule, 1 << BITS), 0.01))
        assert rounded.rule.count_nonzero() == np.count_nonzero(kept) == len(rounded.rule.slots()) // 32
        plain.rule.final = rounded.rule.final = False
        np.testing.assert_array_equal(weights_of(rounded.rule, 1 << BITS), weights_of(plain.rule, 1 << BITS))
    assert 0 < np.count_nonzero(kept) < 100


@pytest.mark.parametrize("l1", [0.0, 0.01, 0.1])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_rda(loss, schedule, l1):
    """The weight is zero exactly where the mean gradient is at most l1."""
    options = SCHEDULES[schedule] | {"rate": rate_for(loss, schedule == "constant") / 2, "l1": l1}
    stream = random_stream(9, drawn(400), loss=loss, scales=False)
    rule, reference = assert_agree("rda", loss, stream, options, tolerance=EXACT, passes=2, decay=0.8, holdout_period=9)
    zeros = (np.abs(reference.sums) <= reference.t * l1) & reference.penalized
    np.testing.assert_array_equal(weights_of(rule, 1 << BITS) == 0, zeros)
    assert zeros.any() and not zeros.all()


@pytest.mark.parametrize("radius", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_l1_ball(loss, schedule, radius):
    # the ball keeps it from diverging, so rates can be large
    options = SCHEDULES[schedule] | {"rate": 4 * rate_for(loss), "radius": radius}
    stream = random_stream(3, drawn(500), loss=loss, scales=False)
    compiled, _ = assert_agree(
        "l1-ball", loss, stream, options, tolerance=DOUBLE, passes=2, decay=0.9, holdout_period=10
    )
    assert compiled.shift > 0 or radius > 0.5


@pytest.mark.parametrize("scales", [False, True])
@pytest.mark.parametrize("c", [0.01, 1.0, 1e4])
@pytest.mark.parametrize("name", ["pa", "pa-i", "pa-ii"])
def test_passive_aggressive(name, c, scales):
    options = {} if name == "pa" else {"pa_c": c}
    stream = random_stream(35, drawn(500), loss="hinge", scales=scales)
    compiled, _ = assert_agree(name, "hinge", stream, options, tolerance=EXACT, passes=3, decay=0.5, holdout_period=7)
    assert compiled.count_nonzero() > 50


def test_passive_aggressive_steps_just_far_enough():
    """PA to a margin of 1 exactly. PA-I and PA-II to a point from where none is better: by the objective, on a grid."""
    x = np.array([0.5, -2.0, 1.0])
    line = Line(-1.0, [(1, 0.5), (2, -1.0), (3, 1.0), (2, -1.0)], importance=0.7)   # one feature twice
    grid = np.linspace(0, 1, 20001)
    for name, options in [("pa", {}), ("pa-i", {"pa_c": 0.1}), ("pa-i", {"pa_c": 9.0}), ("pa-ii", {"pa_c": 0.1})]:
        learner = Learner(RULES[name][0](Hinge(), **options), Hinge(), Expander(bits=2, constant=False))
        run(learner, [line])
        w = weights_of(learner.rule, 4)[1:]
        tau = -w[0] / x[0]
        np.testing.assert_allclose(w, -tau * x, rtol=1e-12)
        loss = np.maximum(0, 1 - grid * (x @ x))
        slack = {"pa": 1e9 * loss, "pa-i": loss, "pa-ii": loss**2}[name] * 0.7 * options.get("pa_c", 1)
        best = grid[np.argmin(grid**2 * (x @ x) / 2 + slack)]
        assert tau == pytest.approx(best, abs=1e-4)


def test_an_example_without_features_or_with_tiny_ones_teaches_passive_aggressive_no_nonsense():
    for name in ("pa", "pa-i", "pa-ii"):
        learner = Learner(RULES[name][0](Hinge()), Hinge(), Expander(bits=4, constant=False))
        run(learner, [Line(1.0, []), Line(1.0, [(1, 1e-38)]), Line(1.0, [(2, 1.0), (2, -1.0)])])
        assert np.isfinite(weights_of(learner.rule, 16)).all()
        assert weights_of(learner.rule, 16)[2] == 0


def sigma_of(rule, size):
    """The variances of AROW, dense."""
    table = np.frombuffer(bytes(rule.slots()), dtype=np.dtype(rule.SLOT, align=True))
    dense = np.ones(size)
    dense[table["mark"] - np.uint32(1)] = table["sigma"]
    return dense


@pytest.mark.parametrize("scales", [False, True])
@pytest.mark.parametrize("r", [0.01, 1.0, 100.0])
def test_arow(r, scales):
    stream = random_stream(36, drawn(500), loss="hinge", scales=scales)
    compiled, reference = assert_agree(
        "arow", "hinge", stream, {"arow_r": r}, tolerance=EXACT, passes=3, decay=0.5, holdout_period=7
    )
    np.testing.assert_allclose(sigma_of(compiled, 1 << BITS), reference.sigma, rtol=EXACT)
    assert reference.sigma.min() < 0.5


def test_arow_minimises_its_objective():
    """KL(N(w, S) || N(w_0, S_0)) + (l(w)^2 + x' S x) h / (2 r): no other w or S near does better.

    Where l(w_0) = 0 the paper's figure leaves the example out, and neither w nor S moves.
    """
    rng = np.random.default_rng(37)
    loss, r, h = Hinge(), 0.7, 1.6
    left_out = 0
    for _ in range(40):
        learner = Learner(Arow(loss, arow_r=r), loss, Expander(bits=2, constant=False))
        run(learner, [Line(float(rng.choice([-1, 1])), [(k, float(rng.normal())) for k in range(4)]) for _ in range(3)])
        w0, S0 = weights_of(learner.rule, 4), sigma_of(learner.rule, 4)
        x, y = rng.normal(0, 3, 4).astype(np.float32).astype(float), float(rng.choice([-1, 1]))
        run(learner, [Line(y, list(enumerate(x.tolist())), importance=h)])
        w, S = weights_of(learner.rule, 4), sigma_of(learner.rule, 4)
        if y * (w0 @ x) >= 1:
            np.testing.assert_array_equal([w, S], [w0, S0])
            left_out += 1
            continue

        def objective_of_mean(v, w0=w0, S0=S0, x=x, y=y):
            return ((v - w0) ** 2 / S0).sum() / 2 + max(0, 1 - y * (v @ x)) ** 2 * h / (2 * r)

        best = objective_of_mean(w)
        assert all(best <= objective_of_mean(w + rng.normal(0, 0.01, 4)) + 1e-12 for _ in range(100))
        full = np.diag(S0) - np.outer(S0 * x, S0 * x) / (x @ (S0 * x) + r / h)   # of which the rule keeps the diagonal
        np.testing.assert_allclose(full @ (np.diag(1 / S0) + np.outer(x, x) * h / r), np.eye(4), atol=1e-12)
        np.testing.assert_allclose(S, np.diag(full), rtol=1e-12)
    assert 5 <= left_out <= 35


def test_the_variances_of_arow_never_fall_below_zero():
    """At a tiny r an example leaves no variance along it, but for rounding."""
    learner = Learner(Arow(Hinge(), arow_r=1e-30), Hinge(), Expander(bits=6, constant=False))
    rng = np.random.default_rng(38)
    for i in range(500):
        keys = rng.integers(0, 64, rng.integers(1, 3))
        run(learner, [Line((-1.0) ** i, [(int(k), float(rng.normal())) for k in keys])])
        sigma = sigma_of(learner.rule, 64)
        assert ((sigma >= 0) & (sigma <= 1)).all()
    assert sigma.min() == 0
    assert np.isfinite(weights_of(learner.rule, 64)).all()


@pytest.mark.parametrize("alpha", [0.02, 0.3])
@pytest.mark.parametrize(
    "options", [{}, {"l1": 0.5}, {"l2": 0.1}, {"l1": 2.0, "l2": 1e-3, "ftrl_beta": 1e-6}], ids=lambda o: " ".join(o)
)
@pytest.mark.parametrize("loss", LOSSES)
def test_ftrl(loss, options, alpha):
    # Steps that pass the minimum by more than they began before it multiply rounding errors, by 27 at alpha = 0.3 with
    # Huber's loss: its gradients are cut, so n stays small, but its curvature is not. References that differ only in
    # the order in which a prediction is summed differ by 1e-9 then.
    options = {"ftrl_alpha": alpha / 10 if loss in ("huber", *LOG_LINKED) else alpha} | options
    stream = random_stream(39, drawn(500), loss=loss, scales=loss not in LOG_LINKED)
    compiled, reference = assert_agree(
        "ftrl", loss, stream, options, tolerance=EXACT, passes=3, decay=0.5, holdout_period=7
    )
    assert compiled.count_nonzero() == np.count_nonzero(reference.weights[reference.penalized])
    assert ((reference.n > 0) & (reference.weights == 0)).any() == ("l1" in options)
    table = np.frombuffer(bytes(compiled.slots()), dtype=np.dtype(compiled.SLOT, align=True))
    keys = table["mark"] - np.uint32(1)
    np.testing.assert_allclose(table["z"], reference.z[keys], rtol=EXACT, atol=EXACT * np.abs(reference.z).max())
    np.testing.assert_allclose(table["root"] ** 2, reference.n[keys], rtol=EXACT)


def test_ftrl_is_zero_inside_its_threshold_and_only_there():
    """|z| <= l1 implies w == 0, also on the border; a weight goes back to zero, exactly."""
    learner = Learner(Ftrl(Quantile(0.5), l1=1.0), Quantile(0.5), Expander(bits=4, constant=False))
    for i, label in enumerate([9.0] * 5 + [-9.0] * 3):
        run(learner, [Line(label, [(1, 1.0)])])
        z = float(np.frombuffer(bytes(learner.rule.slots()), dtype=learner.rule.SLOT)["z"][0])
        w = weights_of(learner.rule, 16)[1]
        assert (w == 0) == (abs(z) <= 1), i
        if i == 1:
            assert z == -1
    stream = random_stream(40, 800, loss="logistic", scales=False)
    learner = Learner(Ftrl(Logistic(), l1=0.7), Logistic(), Expander(bits=BITS))
    seen = set()
    for line in stream:
        run(learner, [line])
        slots = np.frombuffer(bytes(learner.rule.slots()), dtype=learner.rule.SLOT)
        w = weights_of(learner.rule, 1 << BITS)[slots["mark"] - np.uint32(1)]
        shrunk = slots["mark"] != CONSTANT % (1 << BITS) + 1
        assert ((w == 0) == (np.abs(slots["z"]) <= 0.7))[shrunk].all()
        assert not np.signbit(w[w == 0]).any()
        now = set(slots["mark"][w != 0].tolist())
        back = seen - now
        seen |= now
    assert len(back) > 3


def test_ftrl_minimises_what_the_paper_says():
    """w = argmin <sum of g, w> + sum over s of sigma_s (w - w_s)^2 / 2 + l1 |w| + (l2 + beta / alpha) w^2 / 2."""
    alpha, beta, l1, l2 = 0.3, 0.7, 0.4, 0.2
    learner = Learner(
        Ftrl(Squared(), ftrl_alpha=alpha, ftrl_beta=beta, l1=l1, l2=l2), Squared(), Expander(bits=1, constant=False)
    )
    rng = np.random.default_rng(41)
    grid = np.linspace(-3, 3, 60001)
    objective = l1 * np.abs(grid) + (l2 + beta / alpha) * grid**2 / 2
    w = n = 0.0
    for _ in range(60):
        x, y = float(np.float32(rng.normal())), float(rng.normal())
        g = 2 * (w * x - y) * x
        objective += g * grid + (np.sqrt(n + g * g) - np.sqrt(n)) / alpha * (grid - w) ** 2 / 2
        n += g * g
        run(learner, [Line(y, [(1, x)])])
        w = weights_of(learner.rule, 2)[1]
        assert w == pytest.approx(grid[np.argmin(objective)], abs=2e-4)


def test_ftrl_takes_a_changed_strength_at_once():
    """Its weights follow from z and n: another l1 or l2 after loading is as if it had been there for the last step."""
    stream = random_stream(42, 300, loss="logistic", scales=False)
    before = Learner(Ftrl(Logistic(), l1=0.3), Logistic(), Expander(bits=BITS, constant=False))
    run(before, stream)
    after = Ftrl(Logistic(), l1=1.0, l2=2.0)
    after.load(before.rule.scalars(), before.rule.slots())
    slots = np.frombuffer(bytes(after.slots()), dtype=after.SLOT)
    expected = np.zeros(1 << BITS)
    expected[slots["mark"] - np.uint32(1)] = -slow_rules.soft(slots["z"], 1.0) / ((1 + slots["root"]) / 0.5 + 2)
    np.testing.assert_allclose(weights_of(after, 1 << BITS), expected, rtol=1e-12)
    learner = Learner(after, Logistic(), Expander(bits=BITS, constant=False), learn=False, raw_predictions=True)
    run(learner, [Line(1.0, [(k, 1.0)]) for k in range(1 << BITS)])
    said = [float(text) for text in learner.raw_predictions.take().split()]
    np.testing.assert_allclose(said, expected, atol=1e-6)


@pytest.mark.parametrize("features", [None, 1000])
@pytest.mark.parametrize("radius", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_simplex(loss, schedule, radius, features):
    options = SCHEDULES[schedule] | {"rate": rate_for(loss), "radius": radius}
    if features:
        options["features"] = features
    stream = random_stream(50, drawn(400), loss=loss, scales=False)
    assert_agree("simplex", loss, stream, options, tolerance=DOUBLE * 100, passes=2, decay=0.9, holdout_period=10)


@pytest.mark.parametrize("features", [None, 1000])
@pytest.mark.parametrize(("radius", "rate"), [(0.05, 40.0), (5.0, 10.0), (20.0, 4.0)])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", ["eg", "eg-pm"])
def test_exponentiated_gradient(name, loss, schedule, radius, rate, features):
    rate *= rate_for(loss, schedule == "constant")
    options = SCHEDULES[schedule] | {"rate": rate, "radius": radius}
    if features:
        options["features"] = features
    stream = random_stream(30, drawn(250), loss=loss, scales=False)
    assert_agree(name, loss, stream, options, tolerance=DOUBLE * 100, passes=2, decay=0.9, holdout_period=10)


@pytest.mark.parametrize("features", [None, 40, 10**6])
@pytest.mark.parametrize("l1", [0.0, 0.01, 0.1])
@pytest.mark.parametrize("p", [None, 2.0, 5.5, 16.0, 50.0])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_smidas(loss, schedule, p, l1, features):
    options = SCHEDULES[schedule] | {"rate": rate_for(loss, schedule == "constant"), "l1": l1}
    if features:
        options["features"] = features
    if p:
        options["smidas_p"] = p
    stream = random_stream(40, drawn(250), loss=loss, scales=False)
    compiled, reference = assert_agree(
        "smidas", loss, stream, options, tolerance=DOUBLE * 100, passes=2, decay=0.9, holdout_period=10
    )
    assert compiled.p == reference.p
    assert compiled.norm == pytest.approx(reference.norm, rel=1e-11)


@pytest.mark.parametrize("radius", [0.2, 5.0, 1e6])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_l1_ball_without_negative_weights(loss, schedule, radius):
    """Repeated features may go below zero on the way through an example."""
    options = SCHEDULES[schedule] | {"rate": rate_for(loss), "radius": radius, "nonnegative": True}
    stream = random_stream(61, drawn(400), loss=loss, scales=False)
    compiled, _ = assert_agree(
        "l1-ball", loss, stream, options, tolerance=DOUBLE, passes=2, decay=0.9, holdout_period=10
    )
    weights = np.delete(weights_of(compiled, 1 << BITS), CONSTANT % (1 << BITS))
    assert weights.min() == 0 < np.count_nonzero(weights) < 127
    assert weights.sum() <= radius * (1 + 1e-9)


@pytest.mark.parametrize("constants", [{"a": 0.5}, {"a": 1.0, "box": 0.03}, {"a": 0.0}, {"a": 0.0, "box": 0.03}])
def test_weighted_l1_ball_without_negative_weights(constants):
    """The nearest point of the whole ball to what is left when weights below zero are zero."""
    a, box = constants["a"], constants.get("box", inf)
    stream = random_stream(62, 300, loss="squared", scales=False)
    keys = np.arange(1 << BITS, dtype=np.uint32)
    of_compiled = {"rate": 0.01, "radius": 0.3, "nonnegative": True, "constant_key": CONSTANT % (1 << BITS)}
    of_compiled["box"] = box
    rule = WeightedL1Ball(Squared(), **of_compiled)
    rule.set_weights(keys, np.full(1 << BITS, a))
    learner = Learner(rule, Squared(), Expander(bits=BITS))
    reference = slow_rules.WeightedL1Ball(
        slow_rules.Squared(), 1 << BITS, rate=0.01, radius=0.3, constant_key=CONSTANT % (1 << BITS), a=a, box=box
    )

    def step(gradient, plain=reference.after_step):
        reference.weights = reference.weights - reference.eta() * gradient
        reference.weights[reference.penalized] = np.maximum(reference.weights[reference.penalized], 0)
        plain()

    reference.step = step
    run(learner, stream)
    Walk(reference, bits=BITS).run(stream)
    ours = weights_of(rule, 1 << BITS)
    np.testing.assert_allclose(ours, reference.weights, rtol=1e-9, atol=1e-9)
    assert 0 < np.count_nonzero(np.delete(ours, CONSTANT % (1 << BITS)) > 0) < 127


@pytest.mark.parametrize("box", [None, 1e-4, 0.05, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("radius", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_l1_ball_with_weights_and_box(loss, schedule, radius, weighted, box):
    size = 1 << BITS
    rng = np.random.default_rng(60)
    options = SCHEDULES[schedule] | {"rate": 2 * rate_for(loss), "radius": radius}
    if box is not None:
        options["box"] = box
    compiled_loss, plain_loss = LOSSES[loss]
    expander = Expander(bits=BITS)
    constant = expander.constant_key
    a = np.exp(rng.uniform(-2, 2, size)).round(4) if weighted else np.ones(size)
    a[::5], a[1::5] = 1, 0 if weighted else 1
    compiled = WeightedL1Ball(compiled_loss, constant_key=constant, **options)
    compiled.set_weights(np.arange(size, dtype=np.uint32), a)
    reference = slow_rules.WeightedL1Ball(plain_loss, size, constant_key=constant, a=a, **options)
    learner = Learner(compiled, compiled_loss, expander)
    walk = Walk(reference, bits=BITS, largest_p=44)
    stream = random_stream(61, drawn(160), loss=loss, scales=False)
    penalized = np.arange(size) != constant
    for line in stream:
        run(learner, [line])
        walk.run([line])
        ours = weights_of(compiled, size)
        np.testing.assert_allclose(ours, reference.weights, rtol=1e-10, atol=1e-10 * np.abs(reference.weights).max())
        assert (a * np.abs(ours))[penalized].sum() <= radius * (1 + 1e-9)
        assert np.abs(ours[penalized]).max() <= (box or inf)
        assert compiled.count_nonzero() == np.count_nonzero(reference.weights[penalized])
        assert compiled.active == np.count_nonzero(reference.weights[penalized & (a > 0)])
    assert compiled.norm == pytest.approx((a * np.abs(ours))[penalized].sum(), rel=1e-9)


GD = {
    "default": {},
    "l1": {"l1": 1e-3},
    "l2": {"l2": 1e-3},
    "l1 and l2": {"l1": 3e-4, "l2": 1e-4},
    "power_t 0.3": {"power_t": 0.3},
    "power_t 0.9": {"power_t": 0.9, "rate": 0.1},
    "power_t 0": {"power_t": 0.0, "rate": 0.01},
    "initial_t": {"initial_t": 5.0, "rate": 2.0},
    "power_t, initial_t, l1, l2": {"power_t": 0.6, "initial_t": 0.1, "l1": 1e-4, "l2": 1e-4},
    "fold by contraction": {"l2": 0.05, "rate": 3.0},
}


@pytest.mark.parametrize("options", GD)
@pytest.mark.parametrize("loss", LOSSES)
def test_gd(loss, options):
    stream = random_stream(4, drawn(500), loss=loss, scales=loss not in LOG_LINKED)
    tolerance = 2e-4 if "l" in options else FLOAT * 4
    compiled, reference = assert_agree(
        "gd", loss, stream, {"rate": 0.5} | GD[options], tolerance=tolerance, passes=2, decay=0.7, holdout_period=10
    )
    assert compiled.norm_sum == pytest.approx(reference.S, rel=1e-5)
    assert compiled.weight_sum == pytest.approx(reference.W, rel=1e-12)
    assert compiled.gravity == pytest.approx(reference.gravity, rel=1e-4)
    assert compiled.contraction == pytest.approx(reference.contraction, rel=1e-4)


ADAPTIVE_RATES = dict.fromkeys(LOSSES, 0.1) | {"quantile": 0.05} | dict.fromkeys(LOG_LINKED, 0.01)


@pytest.mark.parametrize(("l1", "delta"), [(0.0, 1e-8), (0.02, 1e-8), (0.1, 0.5), (1e-3, 1e-300)])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_adagrad(loss, schedule, l1, delta):
    options = SCHEDULES[schedule] | {"rate": ADAPTIVE_RATES[loss], "l1": l1, "delta": delta}
    stream = random_stream(9, drawn(500), loss=loss, scales=False)
    _, reference = assert_agree(
        "adagrad", loss, stream, options, tolerance=ADAPTIVE, passes=3, decay=0.8, holdout_period=9
    )
    assert np.count_nonzero(reference.weights) < np.count_nonzero(reference.squares) or l1 < 0.01


@pytest.mark.parametrize("box", [0.003, 0.1, 50.0])
@pytest.mark.parametrize(("l1", "delta"), [(0.0, 1e-8), (0.02, 0.5)])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", BOXED)
def test_adagrad_in_a_box(name, loss, schedule, l1, delta, box):
    options = SCHEDULES[schedule] | {"rate": ADAPTIVE_RATES[loss], "l1": l1, "delta": delta, "box": box}
    if schedule == "1/t":
        options["rate"] *= 100
    elif name == "adagrad-rda":  # whose weights are below the smallest box with some losses
        options["rate"] *= 10
    stream = random_stream(9, drawn(400), loss=loss, scales=False)
    rule, reference = assert_agree(
        f"{name} in a box", loss, stream, options, tolerance=ADAPTIVE, passes=2, decay=0.8, holdout_period=9
    )
    size = np.abs(weights_of(rule, 1 << BITS)[reference.penalized])
    assert size.max() <= box * (1 + 1e-12)
    assert box > 0.05 or np.count_nonzero(size > 0.999 * box) or l1 > 0


@pytest.mark.parametrize(("l1", "delta"), [(0.0, 1e-8), (0.02, 1e-8), (0.1, 0.5), (1e-3, 1e-300)])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_adagrad_rda(loss, schedule, l1, delta):
    options = SCHEDULES[schedule] | {"rate": ADAPTIVE_RATES[loss], "l1": l1, "delta": delta}
    if schedule == "1/t":  # the rate of now is that of all gradients so far
        options["rate"] *= 100
    stream = random_stream(9, drawn(500), loss=loss, scales=False)
    rule, reference = assert_agree(
        "adagrad-rda", loss, stream, options, tolerance=ADAPTIVE, passes=3, decay=0.8, holdout_period=9
    )
    # Inside the threshold a weight is exactly zero, outside it is not.
    zeros = (np.abs(reference.sums) <= reference.t * l1) & reference.penalized
    np.testing.assert_array_equal(weights_of(rule, 1 << BITS)[zeros], 0)
    assert (weights_of(rule, 1 << BITS)[~zeros] != 0).all()
    assert np.count_nonzero(zeros & (reference.squares > 0)) or l1 < 0.01


ELASTIC = [(0.0, 0.01), (0.02, 0.1), (0.1, 1e-9), (1e-3, 30.0)]


@pytest.mark.parametrize(("l1", "l2"), ELASTIC)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_elastic_net_by_adagrad(loss, schedule, l1, l2):
    """At other schedules than a constant one too, where all weights are brought up at every example."""
    options = SCHEDULES[schedule] | {"rate": ADAPTIVE_RATES[loss], "l1": l1, "l2": l2}
    stream = random_stream(9, drawn(500), loss=loss, scales=False)
    assert_agree(
        "adagrad with l2", loss, stream, options, tolerance=ADAPTIVE, passes=3, decay=0.8, holdout_period=9
    )


@pytest.mark.parametrize(("l1", "l2", "rate"), [(0.0, 1e308, 10.0), (1e307, 1e308, 10.0), (1e308, 1e-308, 1e-9)])
def test_the_largest_strengths_leave_the_constant_alone(l1, l2, rate):
    """If the product with the rate exceeds a double."""
    options = {"rate": rate, "power_t": 0.0, "l1": l1, "l2": l2}
    stream = random_stream(9, 200, loss="logistic", scales=False)
    loss = LOSSES["logistic"][0]
    rule = ElasticAdagrad(loss, constant_key=CONSTANT % (1 << BITS), **options)
    run(Learner(rule, loss, Expander(bits=BITS)), stream)
    weights = np.abs(weights_of(rule, 1 << BITS))
    assert weights[CONSTANT % (1 << BITS)] > 1e-10
    assert np.delete(weights, CONSTANT % (1 << BITS)).max() < 1e-250
    assert np.isfinite([*rule.scalars().values()]).all()
    assert np.isfinite(np.frombuffer(bytes(rule.slots()), dtype=np.dtype(rule.SLOT, align=True))["z"]).all()


@pytest.mark.parametrize(("l1", "l2"), ELASTIC)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_elastic_net_by_adagrad_rda(loss, schedule, l1, l2):
    options = SCHEDULES[schedule] | {"rate": ADAPTIVE_RATES[loss] * (100 if schedule == "1/t" else 1)}
    options |= {"l1": l1, "l2": l2}
    stream = random_stream(9, drawn(500), loss=loss, scales=False)
    rule, reference = assert_agree(
        "adagrad-rda with l2", loss, stream, options, tolerance=ADAPTIVE, passes=3, decay=0.8, holdout_period=9
    )
    zeros = (np.abs(reference.sums) <= reference.t * l1) & reference.penalized
    np.testing.assert_array_equal(weights_of(rule, 1 << BITS)[zeros], 0)


@pytest.mark.parametrize("name", [name for name in RULES if name.endswith("l2")])
def test_other_strengths_count_from_where_they_begin(name):
    """A state that is loaded by a rule with another rate and other strengths: what was missed is paid as of then."""
    loss, plain_loss = LOSSES["logistic"]
    first = {"rate": 0.1, "l2": 0.1, "power_t": 0.0} | ({} if name.startswith("sgd") else {"l1": 0.01})
    # What the averaging form has paid of l1 is a sum, as without l2.
    then = first | {"rate": 0.05, "l2": 0.4} | ({} if name.startswith(("sgd", "adagrad-rda")) else {"l1": 0.001})
    stream = random_stream(5, 300, loss="logistic", scales=False)
    rules = [RULES[name][0](loss, constant_key=CONSTANT % (1 << BITS), **options) for options in (first, then)]
    reference = RULES[name][1](plain_loss, 1 << BITS, constant_key=CONSTANT % (1 << BITS), **first)
    walk = Walk(reference, bits=BITS)
    run(Learner(rules[0], loss, Expander(bits=BITS)), stream[:150])
    walk.run(stream[:150])
    rules[1].load(rules[0].scalars(), rules[0].slots())
    if not name.startswith("adagrad-rda"):  # whose weights are those of the strength of now
        np.testing.assert_array_equal(weights_of(rules[1], 1 << BITS), weights_of(rules[0], 1 << BITS))
    run(Learner(rules[1], loss, Expander(bits=BITS)), stream[150:])
    for option, value in then.items():
        scaled = name.startswith("adagrad-rda") and option == "l2"
        setattr(reference, option, value * (reference.penalized if scaled else 1))
    walk.run(stream[150:])
    np.testing.assert_allclose(weights_of(rules[1], 1 << BITS), reference.weights, rtol=FLOAT, atol=1e-6)


@pytest.mark.parametrize("name", ["sgd with l2", "truncated-gradient with l2", "adagrad with l2"])
def test_a_weight_that_decays_for_a_million_examples(name):
    """Untouched, among examples that teach nothing: as by as many steps."""
    l1 = {} if name.startswith("sgd") else {"l1": 1e-9}
    loss, l2, rate = Quantile(0.5), 3e-6, 0.5
    rule = RULES[name][0](loss, rate=rate, power_t=0.0, l2=l2, **l1)
    learner = Learner(rule, loss, Expander(bits=4, constant=False))
    run(learner, [Line(9.0, [(1, 1.0)])])
    # The gradient of the first example is 0.5, which is also H of adagrad.
    H = 0.5 + 1e-8 if name.startswith("adagrad") else 1.0
    w = 0.25 / H
    batch = batch_of([Line(1.0, [])] * 10000)
    for _ in range(100):
        assert learner.run(batch) == len(batch)
    for _ in range(1_000_001):
        w = max(w - rate * l1.get("l1", 0) / H, 0) / (1 + rate * l2 / H)
    assert w > 0
    assert weights_of(rule, 16)[1] == pytest.approx(w, rel=1e-8)


def test_the_growth_of_the_elastic_net_stays_a_double():
    """It is divided by a power of two every dozen examples here, and weights come out as if it was not."""
    rule = ElasticTruncatedGradient(Quantile(0.5), rate=1.0, power_t=0.0, l2=2.0**20)
    learner = Learner(rule, Quantile(0.5), Expander(bits=4, constant=False))
    growths = []
    for i in range(100):
        run(learner, [Line(9.0, [(i % 16, 1.0)])])
        growths.append(rule.growth)
        assert weights_of(rule, 16)[i % 16] == pytest.approx(0.5 / (1 + 2**20), rel=1e-6)
        assert weights_of(rule, 16)[(i - 1) % 16] == pytest.approx(0.5 / (1 + 2**20) ** 2 if i else 0, rel=1e-6)
    assert max(growths) < 2.0**280
    assert sum(np.diff(growths) < 0) > 5


@pytest.mark.parametrize("delta", [1e-8, 0.5, 1e-300])
@pytest.mark.parametrize("radius", [0.01, 0.3, 3.0])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_adagrad_ball(loss, schedule, radius, delta):
    options = SCHEDULES[schedule] | {"rate": ADAPTIVE_RATES[loss], "radius": radius, "delta": delta}
    stream = random_stream(9, drawn(400), loss=loss, scales=False)
    rule, _ = assert_agree(
        "adagrad-ball", loss, stream, options, tolerance=ADAPTIVE, passes=2, decay=0.8, holdout_period=9
    )
    assert rule.shift > 0 or radius > 0.1
    assert rule.active == rule.count_nonzero()


@pytest.mark.parametrize("name", [name for name in RULES if name.startswith("adagrad")])
def test_adagrad_squares_the_gradient_of_the_whole_example(name):
    """Halves of a feature are the feature; a feature and its opposite are nothing."""
    options = {"radius": 2.0} if name == "adagrad-ball" else {"l1": 1e-3}
    options |= {"l2": 1e-3} if name.endswith("l2") else {"box": 0.5} if name.endswith("box") else {}
    whole = [Line(1.0, [(1, 2.0), (2, 1.0)]), Line(-1.0, [(2, 3.0)]), Line(1.0, [(1, -0.5)])]
    parts = [
        Line(1.0, [(1, 0.5), (2, 4.0), (1, 1.5), (2, -3.0), (3, 1.0), (3, -1.0)]),
        Line(-1.0, [(2, 1.0), (3, -2.0), (2, 1.0), (3, 2.0), (2, 1.0)]),
        Line(1.0, [(1, 1.0), (1, -1.5)]),
    ]
    loss, weights = Squared(), []
    for stream in (whole, parts):
        expander = Expander(bits=3, constant=False)
        rule = RULES[name][0](loss, rate=0.3, power_t=0, **options)
        run(Learner(rule, loss, expander), stream)
        weights.append(weights_of(rule, 8))
    np.testing.assert_array_equal(*weights)
    assert np.count_nonzero(weights[0]) == 2


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("bits", [1, 2, 10])
def test_few_bits_and_no_constant(name, bits):
    options = {"rate": 0.05} | NEEDED[name]
    loss = "hinge" if name in HINGE_ONLY else "logistic"
    stream = random_stream(5, drawn(400), loss=loss, scales=False)
    exact = ADAPTIVE if name.startswith("adagrad") else EXACT if name in ("simplex", "smidas") else DOUBLE
    tolerance = 4 * FLOAT if name in IN_FLOATS else exact
    assert_agree(name, loss, stream, options, tolerance=tolerance, bits=bits, constant=False)
    assert_agree(name, loss, stream, options, tolerance=tolerance, bits=bits, constant=True)


@pytest.mark.parametrize("name", RULES)
def test_curves_and_products(name):
    """Of two numbers and a column of words, with missing ones, beside a column that stays as it is."""
    rng = np.random.default_rng(7)
    loss, n = "hinge" if name in HINGE_ONLY else "logistic", 150
    columns = [
        Numbers("x", [math.nan if rng.random() < 0.1 else float(v) for v in rng.integers(-20, 21, n) / 4]),
        Numbers("z", rng.normal(size=n).round(3).tolist()),
        Words("w", rng.choice(["a", "b", ""], n).tolist()),
    ]
    products = [Product(places, 9.0, 8) for places in [(0, 1), (1, 2), (0, 1, 2)]]
    rows, stream = [], []
    for x, z, word in zip(columns[0].sample, columns[1].sample, columns[2].given, strict=True):
        other = f"{rng.integers(1, 9) / 8}"
        label = 1.0 if math.cos(x if x == x else 0) * (1 if word == "a" else -1) + z * z > 0.7 else -1.0
        rows.append(("" if x != x else f"{x:g}", f"{z:g}", word, other, f"{label:g}"))
        features = hashed(columns[2].curve(word), columns[2]) + hashed([("o", float(other))], Words("o", []))
        features += hashed(columns[0].curve(x), columns[0]) + hashed(columns[1].curve(z), columns[1])
        for product in products:
            features += hashed(product.features(columns, (x, z, word)), columns[product.columns[0]])
        stream.append(Line(label, tuple((hash, float(value)) for hash, value in features)))
    batch = table(["x", "z", "w", "o", "y"], ["numeric", "numeric", "categorical", "numeric", "label"], rows)
    derived = derived_of(columns, products)
    units = [hash for hash, space, feature, _ in derived.hashed(False) if feature != space]  # hats and products
    assert_agree(
        name, loss, stream, {"rate": 0.05} | NEEDED[name], tolerance=1e-4, passes=2, bits=10,
        derivation=derived.derivation(False), batch=batch, units=units,
    )


def test_gd_pays_large_gravity_at_once():
    stream = [line._replace(label=1e5 * line.label) for line in random_stream(6, 400, loss="squared", scales=False)]
    options = {"rate": 2000.0, "l1": 0.005, "l2": 1e-7}
    _, reference = assert_agree("gd", "squared", stream, options, tolerance=2e-4, passes=2)
    assert reference.folds > 3
    assert np.count_nonzero(reference.weights) > 5


# --- the l1 ball, by its properties ----------------------------------------------------------


def ball(radius, rate, *, power_t=0.5, bits=32, loss=None):
    """A learner on the l1 ball without a constant."""
    loss = loss or Squared()
    expander = Expander(bits=bits, constant=False)
    return Learner(L1Ball(loss, radius=radius, rate=rate, power_t=power_t), loss, expander)


def norm_of(rule):
    slots = rule.slots()
    out = np.zeros(len(slots) // rule.slot_size())
    rule.weights(slots, out)
    return float(np.abs(out).sum())


@pytest.mark.parametrize(("radius", "rate"), [(1e-4, 0.1), (1e-2, 0.5), (1.0, 0.3), (30.0, 2.0), (1.0, 100.0)], ids=str)
def test_norm_never_exceeds_the_radius(radius, rate):
    """After every example, over a stream long enough for many new bases."""
    stream = random_stream(20, 2500, loss="hinge", keys=1500, width=20, scales=False)
    learner = ball(radius, rate, power_t=0.0, loss=Hinge())
    rebases, shift = 0, 0.0
    for line in stream:
        run(learner, [line])
        rebases += learner.rule.shift < shift
        shift = learner.rule.shift
        norm = norm_of(learner.rule)
        assert norm <= radius * (1 + 1e-9)
        if shift > 0:  # it was projected, so it is on the ball or has moved inwards since
            assert learner.rule.active > 0
    assert rebases > 3 or radius / rate > 1


@pytest.mark.drawn
def test_norm_over_a_long_run():
    """A quarter of a million examples, or 60,000 of them; the norm and the book-keeping are still exact."""
    rng = np.random.default_rng(21)
    lines, width, keys = 250_000 if ALL else 60_000, 8, 5000
    hashes = rng.zipf(1.4, (lines, width)) % keys
    values = rng.normal(0, 1, (lines, width)).astype(np.float32)
    labels = rng.choice([-1.0, 1.0], lines)
    learner = ball(2.0, 2.0, power_t=0.0, loss=Hinge())
    rebases, shift = 0, 0.0
    for begin in range(0, lines, 1000):
        piece = range(begin, begin + 1000)
        run(learner, [Line(labels[i], list(zip(hashes[i].tolist(), values[i].tolist(), strict=True))) for i in piece])
        rebases += learner.rule.shift < shift
        shift = learner.rule.shift
        norm = norm_of(learner.rule)
        assert norm <= 2.0 * (1 + 1e-9)
        assert norm == pytest.approx(
            learner.rule.norm, rel=1e-9
        )
        assert learner.rule.count_nonzero() == learner.rule.active
    assert rebases > 2


@pytest.mark.parametrize(("radius", "rate", "delta"), [(2.0, 2.0, 1e-8), (0.05, 1.0, 1e-3), (30.0, 0.3, 10.0)])
def test_norm_over_a_long_run_in_the_adaptive_norm(radius, rate, delta):
    rng = np.random.default_rng(27)
    lines, width, keys = 30_000, 8, 3000
    hashes = rng.zipf(1.4, (lines, width)) % keys
    values = (rng.normal(0, 1, (lines, width)) * 10.0 ** rng.integers(-4, 4, (lines, width))).astype(np.float32)
    labels = rng.choice([-1.0, 1.0], lines)
    loss = Hinge()
    rule = AdagradBall(loss, radius=radius, rate=rate, power_t=0.0, delta=delta)
    learner = Learner(rule, loss, Expander(bits=32, constant=False))
    rebases, shift = 0, 0.0
    for begin in range(0, lines, 500):
        piece = range(begin, begin + 500)
        run(learner, [Line(labels[i], list(zip(hashes[i].tolist(), values[i].tolist(), strict=True))) for i in piece])
        rebases += rule.shift < shift
        shift = rule.shift
        assert norm_of(rule) == pytest.approx(rule.norm, rel=1e-9)
        assert norm_of(rule) <= radius * (1 + 1e-9)
        assert rule.count_nonzero() == rule.active > 0
    assert rebases or radius > 1


def test_each_step_is_the_projection():
    """KKT: w = P(v) iff |v_j| - |w_j| is one and the same for all that stay, no less than |v_j| for those that go."""
    stream = random_stream(22, 600, loss="squared", keys=400, rare=False, scales=False, repeats=False)
    radius, rate, bits = 3.0, 0.02, 9
    learner = ball(radius, rate, power_t=0.0, bits=bits)
    projected = 0
    for line in stream:
        before = weights_of(learner.rule, 1 << bits)
        keys = [h & (2**bits - 1) for h, _ in line.features]
        p = sum(before[k] * x for k, (_, x) in zip(keys, line.features, strict=True))
        v = before.copy()
        for k, (_, x) in zip(keys, line.features, strict=True):
            v[k] -= rate * 2 * (p - line.label) * x
        run(learner, [line])
        w = weights_of(learner.rule, 1 << bits)
        if np.abs(v).sum() <= radius:
            np.testing.assert_allclose(w, v, rtol=1e-11, atol=1e-12)
            continue
        projected += 1
        assert np.abs(w).sum() == pytest.approx(radius, rel=1e-11)
        stays = w != 0
        assert (np.sign(w[stays]) == np.sign(v[stays])).all()
        theta = np.abs(v[stays]) - np.abs(w[stays])
        assert np.ptp(theta) <= 1e-11
        assert (np.abs(v[~stays]) <= theta.max() + 1e-11).all()
    assert projected > 200


def test_ties_leave_the_ball_together():
    """Many weights of one size: all stay or all go."""
    learner = ball(1.0, 0.5, power_t=0.0, loss=Hinge())
    run(learner, [Line(1.0, [(k, 1.0) for k in range(64)])])
    w = weights_of(learner.rule, 128)
    np.testing.assert_allclose(w[:64], 1 / 64, rtol=1e-14)
    run(learner, [Line(1.0, [(100, 4.0)])])
    w = weights_of(learner.rule, 128)
    assert w[100] == pytest.approx(1, rel=1e-14)
    assert np.count_nonzero(w) == 1
    assert learner.rule.active == 1


def test_weights_cross_zero_and_come_back():
    learner = ball(10.0, 1.0, power_t=0.0)
    reference = slow_rules.L1Ball(slow_rules.Squared(), 8, radius=10.0, rate=1.0, power_t=0.0)
    walk = Walk(reference, bits=3, constant=False)
    rng = np.random.default_rng(23)
    stream = []
    for _ in range(300):
        k = int(rng.integers(0, 8))
        # up, down by the same (exactly zero), far down, twice in one example with opposite signs
        stream += [
            Line(0.5, [(k, 1.0)]),
            Line(-0.5, [(k, 0.5)]),
            Line(float(rng.normal()), [(k, 0.5), ((k + 1) % 8, -0.25), (k, -0.5)]),
            Line(float(rng.normal(0, 20)), [(k, 0.75), ((k + 3) % 8, 0.5)]),
        ]
    run(learner, stream, cut=1)
    walk.run(stream)
    np.testing.assert_allclose(weights_of(learner.rule, 8), reference.weights, rtol=1e-11, atol=1e-11)


TIES = {  # in each a weight came to be on the shift, to the last bit, and the shift fell by one: all are short of it
    "simplex": (
        Simplex, Squared(), {"rate": 0.03, "radius": 0.5, "features": 3},
        [(-1, "2:-2"), (0.5, "1:-1 2:2"), (-1, "0:-1"), (4, "1:-2"), (2, "0:-1 1:-0.5"), (-1, "1:-2")],
    ),
    "l1-ball, norm 1": (
        L1Ball, Squared(), {"rate": 1.0, "radius": 0.3}, [(2, "0:1 0:1"), (4, "0:1"), (1, "1:1 0:1"), (-1, "1:1")],
    ),
    "l1-ball, norm 0.25": (
        L1Ball, Quantile(0.5), {"rate": 1.0, "radius": 0.1},
        [(0.5, "0:1 2:-1"), (0, "0:1 1:1"), (2, "2:-1 0:-1 1:-1"), (0.5, "0:1")],
    ),
    "l1-ball, norm 0.125": (
        L1Ball, Hinge(), {"rate": 0.25, "radius": 0.1, "nonnegative": True},
        [(1, "2:1"), (-1, "0:-4"), (1, "2:1"), (-1, "1:-2"), (-1, "0:-2"), (-1, "2:-2 0:-2"), (1, "2:1")],
    ),
}


@pytest.mark.parametrize("name", TIES)
def test_a_projection_is_right_where_weights_tie_with_the_shift(name):
    kind, loss, options, examples = TIES[name]
    learner = Learner(kind(loss, power_t=0.0, **options), loss, Expander(bits=2, constant=False))
    slow_loss = getattr(slow_rules, type(loss).__name__)()
    reference = getattr(slow_rules, kind.__name__)(slow_loss, 3, power_t=0.0, **options)
    walk = Walk(reference, bits=2, constant=False)
    for label, text in examples:
        features = [(int(key), float(x)) for key, x in (feature.split(":") for feature in text.split())]
        run(learner, [Line(float(label), features)])
        walk.run([Line(float(label), features)])
        ours = weights_of(learner.rule, 4)[:3]
        np.testing.assert_allclose(ours, reference.weights, rtol=1e-12, atol=1e-12)
        norm = np.abs(ours).sum()
        assert norm <= options["radius"] * (1 + 1e-12)
        assert norm == pytest.approx(options["radius"], rel=1e-12) or kind is L1Ball
        assert learner.rule.active == np.count_nonzero(ours) or kind is Simplex


def test_adagrad_s_ball_holds_features_of_all_sizes():
    """1 / H is tiny for large features: what is left of the sum when the others leave the ball must have its digits."""
    chance = random.Random(7)
    at_border = 0
    for _ in range(300):
        rule = AdagradBall(Logistic(), radius=0.1, rate=0.5, power_t=0.0)
        learner = Learner(rule, Logistic(), Expander(constant=False))
        for _ in range(8):
            features = [(key, chance.choice([1.0, 1e10, 1e20, 1e30, 1e38])) for key in chance.sample(range(6), 3)]
            run(learner, [Line(chance.choice([-1.0, 1.0]), features)])
            norm = norm_of(rule)
            assert norm <= 0.1 * (1 + 1e-9)
            at_border += norm >= 0.1 * (1 - 1e-9)
    assert at_border > 1000


def test_a_step_with_no_digits_of_the_radius_leaves_none_of_it_behind():
    """Where all weights tie far above what a double can tell from the radius: the ball learns on, exactly."""
    learner = ball(1e-16, 1.0, power_t=0.0, loss=Hinge())
    run(learner, [Line(1.0, [(key, 1.0) for key in range(500)])])
    assert norm_of(learner.rule) <= 1e-16
    run(learner, [Line(1.0, [(3, 1e-16)])])
    run(learner, [Line(1.0, [(3, 1e-16)])])
    assert norm_of(learner.rule) == pytest.approx(1e-16, rel=1e-9)
    assert learner.rule.shift < 1e-10


def test_radius_too_large_to_matter_is_plain_descent():
    stream = random_stream(24, 600, loss="logistic", scales=False)
    loss = Logistic()
    learner = ball(1e6, 0.3, bits=BITS, loss=loss)
    run(learner, stream)
    reference = slow_rules.L1Subgradient(slow_rules.Logistic(), 1 << BITS, rate=0.3, l1=0)  # descent in 64 bits
    Walk(reference, bits=BITS, constant=False).run(stream)
    np.testing.assert_allclose(weights_of(learner.rule, 1 << BITS), reference.weights, rtol=1e-12, atol=1e-12)
    assert learner.rule.shift == 0
    plain = Learner(Sgd(loss, rate=0.3), loss, Expander(bits=BITS, constant=False))
    run(plain, stream)
    np.testing.assert_allclose(
        weights_of(learner.rule, 1 << BITS), weights_of(plain.rule, 1 << BITS), rtol=1e-4, atol=1e-5
    )


def test_a_radius_below_the_digits_of_a_double_does_no_harm():
    learner = ball(1e-300, 0.5, power_t=0.0, loss=Hinge())
    for line in random_stream(25, drawn(500), loss="hinge", scales=False):
        run(learner, [line])
        assert norm_of(learner.rule) < 1e-12


# --- the simplex, by its properties -----------------------------------------------------------


@pytest.mark.third
@pytest.mark.parametrize("features", [1500, 10**5, 2**32])
@pytest.mark.parametrize(("radius", "rate"), [(1e-4, 0.1), (1.0, 0.001), (1.0, 0.3), (30.0, 2.0), (1.0, 1e4)], ids=str)
def test_weights_of_the_simplex_add_up_to_the_radius(radius, rate, features):
    """After every example; none is negative; the books agree with the weights."""
    stream = random_stream(51, 1200, loss="squared", keys=1500, width=20, scales=False)
    loss = Squared() if rate < 0.01 else Quantile(0.6)
    rule = Simplex(loss, radius=radius, rate=rate, power_t=0.0, features=features)
    learner = Learner(rule, loss, Expander(bits=32, constant=False))
    risen = fallen = 0
    shift = rule.shift
    for line in stream:
        run(learner, [line])
        slots = rule.slots()
        out = np.zeros(len(slots) // rule.slot_size())
        rule.weights(slots, out)
        assert (out >= 0).all()
        assert out.sum() + (features - len(out)) * rule.unseen == pytest.approx(radius, rel=1e-9)
        assert rule.touched == len(out) == rule.active + rule.zeros
        assert np.count_nonzero(out) == rule.active
        risen, fallen = risen + (rule.shift > shift), fallen + (rule.shift < shift)
        shift = rule.shift
    assert risen > 0
    assert fallen > 0
    assert min(risen, fallen) > 10 or rate > 1000 * radius or rate < 0.01


def test_zeros_of_the_simplex_come_up_together():
    """All that were dropped, at different times, weigh the same after the shift has fallen."""
    loss = Quantile(0.5)
    rule = Simplex(loss, radius=1.0, rate=1.0, power_t=0.0, features=64)
    learner = Learner(rule, loss, Expander(bits=32, constant=False))
    reference = slow_rules.Simplex(slow_rules.Quantile(0.5), 64, radius=1.0, rate=1.0, power_t=0.0)
    rng = np.random.default_rng(52)
    walk = Walk(reference, bits=6, constant=False)
    alike = 0
    for _ in range(600):
        keys = rng.choice(64, int(rng.integers(1, 5)))
        size = float(rng.choice([2**-10, 2**-6, 0.5, 3.0]))
        line = Line(float(rng.choice([-1e9, 1e9])), [(int(k), size * float(rng.choice([1, 2]))) for k in keys])
        run(learner, [line])
        walk.run([line])
        ours = weights_of(learner.rule, 64)
        np.testing.assert_allclose(ours, reference.weights, rtol=1e-9, atol=1e-12)
        alike = max(alike, max(np.unique(ours[ours > 0], return_counts=True)[1]))
    assert alike > 20


@pytest.mark.parametrize("overflowing", [False, True])
def test_features_of_the_simplex_that_are_read_and_not_moved(overflowing):
    """Where the dloss is 0, and where the prediction overflows, so that the example is not learned."""
    radius = 1e280  # times the largest float, an infinity
    rule = Simplex(Hinge(), radius=radius, rate=radius, power_t=0.0, features=64)
    learner = Learner(rule, Hinge(), Expander(bits=32, constant=False))
    reference = slow_rules.Simplex(slow_rules.Hinge(), 64, radius=radius, rate=radius, power_t=0.0)
    walk = Walk(reference, bits=6, constant=False)
    rng = np.random.default_rng(55)
    diverged = 0
    for _ in range(500):
        keys = [int(key) for key in rng.choice(64, int(rng.integers(1, 5)))]
        line = Line(float(rng.choice([-1, 1, 1])), [(key, 2.0 ** int(rng.integers(-10, 2))) for key in keys])
        run(learner, [line])
        walk.run([line])
        np.testing.assert_allclose(weights_of(rule, 64), reference.weights, rtol=1e-9, atol=1e-12 * radius)
        weighty = [int(key) for key in rng.choice(64, 5)]
        if overflowing and reference.weights[weighty].sum() > 1e-6 * radius:
            assert learner.run(batch_of([Line(1.0, [(key, 3e38) for key in weighty])])) == 0
            assert learner.reason == Reason.DIVERGED
            diverged += 1
    assert diverged > 150 or not overflowing
    assert (reference.weights == 0).any()


@pytest.mark.parametrize("name", NEVER_ZERO)
def test_a_feature_with_the_key_of_the_constant_is_the_constant_from_the_beginning(name):
    """Its weight is 0 then, not that of features that were never seen."""
    options = {"radius": 6.0, "rate": 0.1, "features": 3, "constant_key": CONSTANT % 4}
    learner = Learner(
        RULES[name][0](Squared(), **options), Squared(), Expander(bits=2), learn=False, raw_predictions=True
    )
    run(learner, [Line(0.0, [(CONSTANT % 4, 5.0), (1, 1.0)])])
    assert learner.raw_predictions.take() == (b"0\n" if name == "eg-pm" else b"2\n")


# --- exponentiated gradient, by its properties -----------------------------------------------


def multiplicative(name, radius, rate, features, *, power_t=0.0, loss=None):
    """A learner of eg or eg-pm without a constant."""
    loss = loss or Hinge()
    rule = RULES[name][0](loss, radius=radius, rate=rate, power_t=power_t, features=features)
    return Learner(rule, loss, Expander(bits=32, constant=False))


def mass_of(name, rule):
    """The sum of all weights, those of features that were never seen too; for eg-pm of w+ and w-."""
    slots = rule.slots()
    out = np.zeros(len(slots) // rule.slot_size())
    rule.weights(slots, out)
    assert np.isfinite(out).all()
    if name == "eg-pm":  # w+ w- is the same for all: that of an unseen feature, which is w+ = w- = half of its mass
        return float(np.abs(out).sum())
    assert (out >= 0).all()
    return float(out.sum()) + (rule.features - len(out)) * rule.unseen


@pytest.mark.third
@pytest.mark.parametrize("features", [1500, 10**5, 2**32])
@pytest.mark.parametrize(("radius", "rate"), [(1e-3, 0.5), (1.0, 0.3), (30.0, 2.0), (1.0, 100.0), (2.0, 1e6)], ids=str)
def test_weights_of_eg_add_up_to_the_radius(radius, rate, features):
    """After every example."""
    stream = random_stream(31, 600, loss="hinge", keys=1500, width=20, scales=False)
    learner = multiplicative("eg", radius, rate, features)
    assert mass_of("eg", learner.rule) == pytest.approx(radius, rel=1e-12)
    for line in stream:
        run(learner, [line])
        assert mass_of("eg", learner.rule) == pytest.approx(radius, rel=1e-9)
    learner = multiplicative("eg-pm", radius, rate, features)
    for line in stream:
        run(learner, [line])
        assert mass_of("eg-pm", learner.rule) <= radius * (1 + 1e-9)


@pytest.mark.drawn
@pytest.mark.parametrize("name", ["eg", "eg-pm"])
@pytest.mark.parametrize("features", [4, 10**6])
@pytest.mark.parametrize("label", [-1e3, 1e3])
def test_nothing_overflows_in_ten_million_examples(name, features, label):
    """The logarithms of unnormalised weights come to millions, up or down; what they differ by is exact. A million of
    examples in `make test`."""
    repeats = 1000 if ALL else 100
    loss = Quantile(0.5)
    learner = multiplicative(name, 2.0, 0.5, features, loss=loss)
    lines = [Line(label, [(1, 1.0), (2, 0.5)]), Line(label, [(3, 1.0), (4, 0.75)])]
    batch = batch_of(lines * 5000)
    for _ in range(repeats):
        assert learner.run(batch) == len(batch)
    logs = np.array([1.0, 0.5, 1.0, 0.75]) * 5000 * repeats * 0.25 * np.sign(label)
    if features > 4:
        logs = np.append(logs, 0)  # the unseen ones; their number does not matter beside e^1e5
    both = np.append(logs, -logs) if name == "eg-pm" else logs
    parts = np.exp(both - both.max())
    parts[-1] *= features - 4 if features > 4 and name == "eg" else 1
    parts *= 2.0 / parts.sum()
    expected = parts[: len(logs)] - parts[len(logs) :] if name == "eg-pm" else parts
    np.testing.assert_allclose(weights_of(learner.rule, 5)[1:], expected[:4], rtol=1e-8, atol=1e-300)


def test_a_weight_that_was_nearly_zero_comes_back():
    """Down by e^-3000, far below the smallest double, and up again by as much."""
    learner = multiplicative("eg", 1.0, 1.0, 10, loss=Quantile(0.5))
    down, up = Line(-1e9, [(1, 2000.0)]), Line(1e9, [(1, 2000.0)])
    before = learner.rule.unseen
    run(learner, [down] * 3)
    assert weights_of(learner.rule, 5)[1] == 0
    assert learner.rule.unseen == pytest.approx(1 / 9, rel=1e-12)
    run(learner, [up] * 3)
    np.testing.assert_allclose(weights_of(learner.rule, 5)[1], before, rtol=1e-11)
    run(learner, [up] * 30)
    assert weights_of(learner.rule, 5)[1] == 1
    run(learner, [down] * 30)
    np.testing.assert_allclose(weights_of(learner.rule, 5)[1], before, rtol=1e-9)


def test_more_features_than_there_are_said_to_be():
    learner = multiplicative("eg", 1.0, 0.5, 3)
    run(learner, [Line(1.0, [(1, 1.0), (2, -1.0), (3, 1.0)])])
    assert learner.rule.unseen == 0
    assert learner.run(batch_of([Line(1.0, [(4, 1.0)])])) == 0
    assert learner.reason == Reason.TOO_MANY


# --- smidas, by its properties ----------------------------------------------------------------


def p_norm(theta, p):
    """Scaled, so that nothing underflows."""
    largest = np.abs(theta).max()
    return largest * ((np.abs(theta) / largest) ** p).sum() ** (1 / p)


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_smidas_with_p_of_2_is_truncated_gradient(loss):
    stream = random_stream(43, 300, loss=loss, scales=False)
    options = {"rate": rate_for(loss), "l1": 0.01}
    one, other = (
        Learner(kind(LOSSES[loss][0], **options, **more), LOSSES[loss][0], Expander(bits=BITS, constant=False))
        for kind, more in ((Smidas, {"smidas_p": 2.0}), (TruncatedGradient, {}))
    )
    for learner in (one, other):
        run(learner, stream)
    w = weights_of(other.rule, 1 << BITS)
    np.testing.assert_allclose(weights_of(one.rule, 1 << BITS), w, rtol=FLOAT, atol=FLOAT * np.abs(w).max())


@pytest.mark.parametrize("shape", ["flat", "two levels", "normal", "heavy tail"])
@pytest.mark.parametrize("features", [2000, 2**32])
def test_norm_of_smidas_is_that_of_all_weights(features, shape):
    """Also where many small ones add up; while the largest falls, by steps and by itself, so that others come up."""
    rng = np.random.default_rng(41)
    size = 2000
    start = {
        "flat": np.full(size, 1.0),
        "two levels": np.where(np.arange(size) < 3, 1.0, 0.45),
        "normal": rng.normal(0, 1, size),
        "heavy tail": rng.standard_cauchy(size),
    }[shape].astype(np.float32)
    rate, l1 = 0.5, 0.0004
    loss = Quantile(0.5)
    rule = Smidas(loss, rate=rate, power_t=0.0, l1=l1, features=features)
    learner = Learner(rule, loss, Expander(bits=32, constant=False))
    theta = np.zeros(size)
    for i in range(150):
        if i == 0:
            which, x = np.arange(size), start
        else:  # take most of what is largest away
            which = np.argsort(-np.abs(theta))[:2] if i % 3 == 0 else rng.choice(size, 3, replace=False)
            x = (-3.9 * rng.random(len(which)) * theta[which] + rng.normal(0, 0.01, len(which))).astype(np.float32)
        run(learner, [Line(1e30, list(zip(which.tolist(), x.tolist(), strict=True)))])
        theta[which] += rate * 0.5 * x.astype(float)
        theta = slow_rules.soft(theta, rate * l1)
        p = max(2, 2 * np.log(features))
        assert rule.p == p
        assert rule.norm == pytest.approx(p_norm(theta, p), rel=1e-12)
        w = np.sign(theta) * rule.norm * (np.abs(theta) / rule.norm) ** (p - 1)
        np.testing.assert_allclose(weights_of(rule, size), w, rtol=1e-9, atol=1e-9 * np.abs(w).max())


@pytest.mark.third
@pytest.mark.parametrize("shape", ["lognormal", "normal", "uniform"])
def test_norm_of_smidas_is_much_faster_than_over_all_weights(shape):
    """A million nonzero weights, some much larger than most, as in text, or half of them heavy: at least 20 times
    faster than the plain sum, which NumPy vectorizes, and the same to 1e-12."""
    rng = np.random.default_rng(42)
    size = 10**6
    draw = {"lognormal": lambda: rng.lognormal(0, 1, size), "normal": lambda: rng.normal(0, 1, size)}
    start = (rng.choice([-1, 1], size) * draw.get(shape, lambda: rng.random(size) + 1e-3)()).astype(np.float32)
    loss = Quantile(0.5)
    rule = Smidas(loss, rate=2.0, power_t=0.0, l1=1e-8, features=size)
    learner = Learner(rule, loss, Expander(bits=32, constant=False))
    run(learner, [Line(1e30, list(zip(range(size), start.tolist(), strict=True)))])
    which = rng.integers(0, size, (1000, 50))
    x = rng.normal(0, 0.1, (1000, 50)).astype(np.float32)
    rows = zip(which.tolist(), x.tolist(), strict=True)
    batch = batch_of([Line(1e30, list(zip(keys, values, strict=True))) for keys, values in rows])
    begin = process_time()
    assert learner.run(batch) == 1000
    ours = (process_time() - begin) / 1000
    theta = start.astype(float)
    np.add.at(theta, which.reshape(-1), x.reshape(-1).astype(float))
    theta = slow_rules.soft(theta, 2e-8 * 1001)
    begin = process_time()
    plain = p_norm(theta, rule.p)
    theirs = process_time() - begin
    assert rule.norm == pytest.approx(plain, rel=1e-12)
    assert rule.count_nonzero() > 990_000
    assert theirs > 20 * ours, (theirs, ours)


# --- the formulas of the references themselves ----------------------------------------------------


def test_projection_is_not_farther_than_any_other_point_of_the_ball():
    rng = np.random.default_rng(26)
    for _ in range(200):
        v, z = rng.normal(0, 2, 6), float(rng.choice([0.1, 1.0, 5.0]))
        w = slow_rules.project_l1(v, z)
        assert np.abs(w).sum() <= z * (1 + 1e-12)
        others = rng.normal(0, 1, (200, 6))
        others *= z / np.maximum(np.abs(others).sum(axis=1, keepdims=True), z)
        others = np.vstack([others, 0.999 * w + 0.001 * others])
        assert (np.linalg.norm(v - w) <= np.linalg.norm(v - others, axis=1) + 1e-12).all()
    assert slow_rules.project_simplex([0.2, -7.0], 1.0).tolist() == [1.0, 0.0]


def test_weighted_projection_is_not_farther_than_any_other_point():
    rng = np.random.default_rng(62)
    for _ in range(300):
        v, a = rng.normal(0, 2, 5), np.exp(rng.normal(0, 1, 5)) * (rng.random(5) < 0.8)
        z, b = float(rng.choice([0.1, 1.0, 5.0])), float(rng.choice([0.05, 0.5, 2.0, inf]))
        w = slow_rules.project_weighted(v, z, a, b)
        assert (a * np.abs(w)).sum() <= z * (1 + 1e-12)
        assert np.abs(w).max() <= b
        other_way = slow_rules.projection_by_bisection(v, z, weights=a, box=b)
        np.testing.assert_allclose(w, other_way, rtol=1e-9, atol=1e-12)
        others = np.clip(rng.normal(0, 1, (200, 5)), -b, b)
        others *= z / np.maximum((a * np.abs(others)).sum(axis=1, keepdims=True), z)
        others = np.vstack([others, 0.999 * w + 0.001 * others])
        assert (np.linalg.norm(v - w) <= np.linalg.norm(v - others, axis=1) + 1e-12).all()
    v = rng.normal(0, 2, 9)
    np.testing.assert_allclose(slow_rules.project_weighted(v, 1.5, np.ones(9), inf), slow_rules.project_l1(v, 1.5))


def test_truncation_on_a_grid():
    """No point of the grid does better for T1 with theta = inf: min (w - v)^2 / 2 + a |w|."""
    grid = np.linspace(-3, 3, 6001)
    for v in np.linspace(-2, 2, 41):
        for a in (0.0, 0.3, 1.0, 5.0):
            best = grid[np.argmin((grid - v) ** 2 / 2 + a * np.abs(grid))]
            assert float(slow_rules.t1(v, a, inf)) == pytest.approx(best, abs=1.1e-3)
            assert float(slow_rules.soft(v, a)) == pytest.approx(best, abs=1.1e-3)
    assert slow_rules.t1([0.5, -0.5, 0.6, -0.6], 0.2, 0.5).tolist() == [0.3, -0.3, 0.6, -0.6]
    assert slow_rules.t0([0.5, -0.4, 0.6, -0.6], 0.5).tolist() == [0.5, 0, 0.6, -0.6]


@pytest.mark.parametrize(("l1", "l2"), [(0.3, 0.0), (0.0, 0.7), (0.3, 0.7), (2.0, 5.0)])
def test_the_elastic_net_on_a_grid(l1, l2):
    """The references' steps at no gradient: no point does better for eta (l1 |w| + l2 w^2 / 2) + H (w - v)^2 / 2."""
    grid, v, eta = np.linspace(-3, 3, 6001), np.linspace(-2, 2, 41), 0.8
    options = {"rate": eta, "power_t": 0.0, "l2": l2}
    for reference, H in [
        (slow_rules.TruncatedGradient(None, 41, l1=l1, **options), 1.0),
        (slow_rules.Adagrad(None, 41, l1=l1, delta=0.4, **options), 0.4),
    ]:
        reference.weights, reference.t = v.copy(), 1
        reference.step(np.zeros(41))
        for before, after in zip(v, reference.weights, strict=True):
            best = grid[np.argmin(eta * (l1 * np.abs(grid) + l2 * grid**2 / 2) + H * (grid - before) ** 2 / 2)]
            assert after == pytest.approx(best, abs=1.1e-3)
    reference = slow_rules.AdagradRda(None, 41, l1=l1, delta=0.4, **options)
    reference.sums, reference.t = v.copy(), 3
    reference.step(np.zeros(41))
    for total, w in zip(v, reference.weights, strict=True):
        best = grid[np.argmin(eta * (total * grid / 3 + l1 * np.abs(grid) + l2 * grid**2 / 2) + 0.4 * grid**2 / 6)]
        assert w == pytest.approx(np.clip(best, -3, 3), abs=1.1e-3) or abs(w) > 3


def test_gd_does_not_see_importance_through_the_learning_rate_of_one_example():
    """The invariant step for weight h is that of h after another, in the limit of equal rates."""
    for compiled, _ in LOSSES.values():
        p = 0.3
        for _ in range(4):
            p += 0.7 * compiled.step(p, 1.0, 0.5, 0.7)
        assert 0.3 + 0.7 * compiled.step(0.3, 1.0, 2.0, 0.7) == pytest.approx(p, abs=5e-4)
