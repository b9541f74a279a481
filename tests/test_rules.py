"""Each compiled rule against its dense, eager twin."""

from math import inf

import numpy as np
import pytest
import reference
from batches import batch_of
from streams import Walk, random_stream

from vwlite.core.expand import Expander
from vwlite.core.learner import Learner, Reason
from vwlite.core.losses import Hinge, Logistic, Poisson, Quantile, Squared
from vwlite.core.rules.gd import Gd
from vwlite.core.rules.l1_ball import L1Ball
from vwlite.core.rules.sgd import Sgd
from vwlite.core.rules.truncated_gradient import TruncatedGradient

LOSSES = {
    "squared": (Squared(), reference.Squared()),
    "logistic": (Logistic(), reference.Logistic()),
    "hinge": (Hinge(), reference.Hinge()),
    "quantile": (Quantile(0.7), reference.Quantile(0.7)),
    "poisson": (Poisson(), reference.Poisson()),
}
RULES = {
    "sgd": (Sgd, reference.Sgd),
    "truncated-gradient": (TruncatedGradient, reference.TruncatedGradient),
    "gd": (Gd, reference.Gd),
    "l1-ball": (L1Ball, reference.L1Ball),
}
FLOAT, DOUBLE = 2e-5, 1e-12  # relative to the largest weight: float32 weights, and state all in doubles
BITS = 7  # 128 keys for 300 features: collisions everywhere, with the constant too


def weights_of(rule, size):
    """The weights now, dense."""
    slots = rule.slots()
    table = np.frombuffer(bytes(slots), dtype=rule.SLOT)
    out = np.zeros(len(table))
    rule.weights(slots, out)
    dense = np.zeros(size)
    dense[table["mark"] - np.uint32(1)] = out
    return dense


def run(learner, stream, cut=None):
    """One pass, in batches of `cut` lines."""
    cut = cut or len(stream)
    for begin in range(0, len(stream), cut):
        batch = batch_of(stream[begin : begin + cut])
        assert learner.run(batch) == len(batch)
        assert learner.reason == Reason.DONE


def assert_agree(name, loss, stream, options, *, tolerance, passes=1, decay=1.0, bits=BITS, holdout_period=0, constant=True):
    """Run both over the stream; compare the weights after each pass, and every prediction."""
    compiled_loss, plain_loss = LOSSES[loss]
    expander = Expander(bits=bits, constant=constant)
    compiled = RULES[name][0](compiled_loss, constant=expander.constant_key, **options)
    twin = RULES[name][1](plain_loss, 1 << bits, constant=expander.constant_key, **options)
    learner = Learner(compiled, compiled_loss, expander, holdout_period=holdout_period, raw_predictions=True)
    low, high = (-50.0, 50.0) if loss in ("logistic", "poisson") else (0.0, 0.0)
    learner.min_label, learner.max_label = low, high
    walk = Walk(
        twin,
        bits=bits,
        constant=constant,
        holdout_period=holdout_period,
        range_of_labels=(low, high),
        largest_p=44 if loss == "poisson" else inf,
    )
    for number in range(passes):
        compiled.pass_decay = twin.decay = decay**number
        learner.begin_pass()
        run(learner, stream)
        walk.run(stream)
        ours, theirs = weights_of(compiled, 1 << bits), twin.weights
        assert np.abs(theirs).max() > 1e-3  # something was learned
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max())
        assert compiled.t == twin.t
        if tolerance == DOUBLE or name == "truncated-gradient":
            penalized = np.arange(1 << bits) != expander.constant_key
            assert compiled.count_nonzero() == np.count_nonzero(theirs[penalized])
    return compiled, twin


def rate_for(loss, constant_rate=False):
    """A learning rate at which nothing diverges on the streams of these tests."""
    rate = {"squared": 0.004, "logistic": 0.1, "hinge": 0.05, "quantile": 0.05, "poisson": 0.002}[loss]
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
    assert_agree("sgd", loss, random_stream(1, 700, loss=loss, scales=False), options, tolerance=FLOAT, passes=2, decay=0.8)


@pytest.mark.parametrize("threshold", [inf, 0.05])
@pytest.mark.parametrize("period", [1, 3, 10])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_truncated_gradient(loss, schedule, period, threshold):
    options = SCHEDULES[schedule] | {"rate": rate_for(loss, schedule == "constant")}
    options |= {"l1": 0.03, "period": period, "threshold": threshold}
    stream = random_stream(2, 400, loss=loss, scales=False)
    _, twin = assert_agree("truncated-gradient", loss, stream, options, tolerance=FLOAT, passes=2, decay=0.9, holdout_period=7)
    assert 0 < np.count_nonzero(twin.weights) < 128  # truncation did something


@pytest.mark.parametrize("radius", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_l1_ball(loss, schedule, radius):
    # the ball keeps it from diverging, so rates can be large
    options = SCHEDULES[schedule] | {"rate": 4 * rate_for(loss), "radius": radius}
    stream = random_stream(3, 500, loss=loss, scales=False)
    compiled, _ = assert_agree("l1-ball", loss, stream, options, tolerance=DOUBLE, passes=2, decay=0.9, holdout_period=10)
    assert compiled.shift > 0 or radius > 0.5


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
    stream = random_stream(4, 500, loss=loss, scales=loss != "poisson")
    tolerance = 2e-4 if "l" in options else FLOAT * 4
    compiled, twin = assert_agree(
        "gd", loss, stream, {"rate": 0.5} | GD[options], tolerance=tolerance, passes=2, decay=0.7, holdout_period=10
    )
    assert compiled.norm_sum == pytest.approx(twin.S, rel=1e-5)
    assert compiled.weight_sum == pytest.approx(twin.W, rel=1e-12)
    assert compiled.gravity == pytest.approx(twin.gravity, rel=1e-4)
    assert compiled.contraction == pytest.approx(twin.contraction, rel=1e-4)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("bits", [1, 2, 10])
def test_few_bits_and_no_constant(name, bits):
    options = {"rate": 0.05} | ({"radius": 0.7} if name == "l1-ball" else {})
    stream = random_stream(5, 400, loss="logistic", scales=False)
    tolerance = DOUBLE if name == "l1-ball" else 4 * FLOAT
    assert_agree(name, "logistic", stream, options, tolerance=tolerance, bits=bits, constant=False)
    assert_agree(name, "logistic", stream, options, tolerance=tolerance, bits=bits, constant=True)


def test_gd_pays_large_gravity_at_once():
    stream = [line._replace(label=1e5 * line.label) for line in random_stream(6, 400, loss="squared", scales=False)]
    options = {"rate": 2000.0, "l1": 0.005, "l2": 1e-7}
    compiled, twin = assert_agree("gd", "squared", stream, options, tolerance=2e-4, passes=2)
    assert twin.folds > 3
    assert np.count_nonzero(twin.weights) > 5
