"""Several classes: one against all is K runs of two labels, softmax is its reference; what is predicted and counted."""

from dataclasses import replace
from math import isnan, nan

import numpy as np
import pytest
import slow_rules
from algorithm_options import FULL, OPTIONS
from batches import Line, batch_of
from streams import CONSTANT, random_stream

from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import ALGORITHMS
from vwlite.core.learn.learner import Reason
from vwlite.core.learn.tally import Tally
from vwlite.model.learners import make_learner

AVERAGED = [a.name for a in ALGORITHMS.values() if "average" in a.options]
BITS = 11  # the table grows on the way; many of the 3000 features collide
K = 3


def stream_of(seed, lines=400, classes=K):
    """Examples whose class is that of the largest of K planted scores; the rest as in `random_stream`."""
    rng = np.random.default_rng(seed)
    planted = rng.normal(0, 1, (classes, 1 << BITS))
    out = []
    for line in random_stream(seed, lines, loss="squared", keys=3000, scales=False):
        keys = [h & ((1 << BITS) - 1) for h, _ in line.features]
        scores = planted[:, keys] @ np.array([x for _, x in line.features]) + rng.normal(0, 0.3, classes)
        out.append(line._replace(label=line.label if isnan(line.label) else float(np.argmax(scores) + 1)))
    return out


def learner_of(rule, loss="logistic", *, oaa=K, bits=BITS, holdout_period=7, learn=True, **options):
    loss = loss if loss in ALGORITHMS[rule].losses else "hinge"
    bits = 4 if rule in FULL else bits
    settings = replace(Settings.of(rule), loss=loss, bits=bits, oaa=oaa, **(OPTIONS[rule] | options))
    return make_learner(
        settings, learn=learn, holdout_period=holdout_period, predictions=True, raw_predictions=True
    )


def go(learner, stream, passes=1, decay=0.9):
    for number in range(passes):
        learner.rule.pass_decay = decay**number
        learner.begin_pass()
        assert learner.run(batch_of(stream)) == len(stream)
        assert learner.reason == Reason.DONE


def weights_of(rule):
    """By key, those of all classes; and what a slot holds but for what is only of this process."""
    slots = np.frombuffer(bytes(rule.slots()), np.dtype(rule.SLOT, align=True)).reshape(-1, rule.records)
    out = np.zeros(slots.size)
    rule.weights(rule.slots(), out)
    assert (slots["mark"] == slots["mark"][:, :1]).all()
    keys = (slots["mark"][:, 0] - np.uint32(1)).tolist()
    kept = [name for name, _ in rule.SLOT if name != "mark" and not name.startswith("_")]
    state = np.stack([slots[name].astype(float) for name in kept], axis=2)
    return dict(zip(keys, out.reshape(slots.shape), strict=True)), dict(zip(keys, state, strict=True))


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize(("rule", "average"), [*((r, False) for r in ALGORITHMS), *((r, True) for r in AVERAGED)])
def test_one_against_all_is_a_run_of_two_labels_for_each_class(rule, loss, average):
    lines, passes = (15, 1) if rule in FULL else (500, 1) if rule == "sgd" else (200, 2)
    stream = stream_of(1, lines)
    together = learner_of(rule, loss, average=average)
    go(together, stream, passes)
    assert rule != "sgd" or len(together.rule) > 614  # the table has grown
    weights, state = weights_of(together.rule)
    scalars = together.rule.scalars()
    nonzero = 0
    for k in range(K):
        alone = learner_of(rule, loss, oaa=None, average=average)
        go(alone, [line._replace(label=two_labels(line.label, k)) for line in stream], passes)
        own_weights, own_state = weights_of(alone.rule)
        unseen = alone.rule.scalars().get("unseen", 0.0)
        for key in weights.keys() | own_weights.keys():  # either may have forgotten what is idle
            assert weights.get(key, [unseen] * K)[k] == own_weights.get(key, [unseen])[0]
        for key in own_state:
            np.testing.assert_array_equal(state[key][k], own_state[key][0])
        for name, value in alone.rule.scalars().items():
            if isinstance(value, memoryview):
                np.testing.assert_array_equal(scalars[f"{name}_{k + 1}"], value)
            else:
                assert scalars[name][k] == value, name
        if alone.clips:
            assert (scalars["min_label"][k], scalars["max_label"][k]) == (alone.min_label, alone.max_label)
        nonzero += alone.rule.count_nonzero()
    assert together.rule.count_nonzero() == nonzero > 0


def two_labels(label, k):
    return nan if isnan(label) else 1.0 if label == k + 1 else -1.0


@pytest.mark.parametrize(
    ("rule", "softmax", "average"),
    [
        (rule, softmax, average)
        for rule in ALGORITHMS
        for softmax in (False, True)
        for average in (False, True)
        if not (softmax and ALGORITHMS[rule].needs_loss) and not (average and rule not in AVERAGED)
    ],
)
def test_continuing_is_as_if_it_had_never_stopped(rule, softmax, average):
    lines = 30 if rule in FULL else 300
    stream = stream_of(2, lines)
    options = {"softmax": softmax, "average": average}
    whole, first, second = (learner_of(rule, holdout_period=0, **options) for _ in range(3))
    go(whole, stream)
    go(first, stream[: lines // 2])
    second.rule.load(first.rule.scalars(), first.rule.slots())
    second.named = first.named
    go(second, stream[lines // 2 :])
    assert repr(plain(whole.rule.scalars())) == repr(plain(second.rule.scalars()))
    for ours, theirs in zip(weights_of(whole.rule), weights_of(second.rule), strict=True):
        assert ours.keys() == theirs.keys()
        for key in ours:
            np.testing.assert_array_equal(ours[key], theirs[key])


def plain(scalars):
    return {name: list(x) if isinstance(x, memoryview) else x for name, x in scalars.items()}


@pytest.mark.parametrize("last", [2**32 - 1, 2**32 - 2])
def test_the_last_keys_of_all(last):
    """The one whose mark is 0, and the constant as any other."""
    stream = [Line(1 + i % 3, [(last, 1.0), (i, 0.5)]) for i in range(30)]
    learner = learner_of("sgd", bits=32, holdout_period=0)
    go(learner, stream)
    alone = learner_of("sgd", bits=32, holdout_period=0, oaa=None)
    go(alone, [line._replace(label=two_labels(line.label, 1)) for line in stream])
    assert weights_of(learner.rule)[0][last][1] == weights_of(alone.rule)[0][last][0] != 0


# --- what is predicted, counted and written -----------------------------------------------------


def test_the_largest_score_is_predicted_the_first_of_equals():
    learner = learner_of("sgd", learning_rate=1.0, power_t=0.0, constant=False, holdout_period=0)
    stream = [Line(3, [(5, 1.0)]), Line(2, [(5, 1.0)]), Line(nan, [(5, 2.0)], tag=b"t"), Line(1, [(9, 1.0)])]
    go(learner, stream)
    assert learner.predictions.take().split(b"\n")[:4] == [b"1", b"3", b"2 t", b"1"]
    raw = learner.raw_predictions.take().split(b"\n")
    half = 1 / (1 + np.exp(-0.5))
    assert raw[0] == b"1:0 2:0 3:0" or raw[0] == b"1:0.000000 2:0.000000 3:0.000000"
    scores = [float(x.split(b":")[1]) for x in raw[1].split()]
    assert scores == pytest.approx([-0.5, -0.5, 0.5])  # the dloss of the logistic loss at 0 is 1/2
    scores = [float(x.split(b":")[1]) for x in raw[2].split()[:3]]
    less, more = 1 - half, half  # the slopes at -1/2 and 1/2, which are not labels
    assert scores == pytest.approx([2 * (-0.5 - less), 2 * (-0.5 + half), 2 * (0.5 - more)], abs=1e-5)
    assert raw[2].endswith(b" t")
    tally = learner.progressive
    assert (tally.average, tally.accuracy, tally.auc) == (pytest.approx(2 / 3), pytest.approx(1 / 3), None)
    assert tally.matrix(3) == [[1, 0, 0], [0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize("seed", range(3))
def test_the_matrix_of_random_predictions(seed):
    rng = np.random.default_rng(seed)
    tally = Tally(4)
    expected = np.zeros((4, 4))
    for _ in range(200):
        p, y, h = int(rng.integers(1, 5)), int(rng.integers(1, 5)), float(rng.choice([0.0, 0.5, 1.0, 3.0]))
        tally.count(p, y, h, p != y)
        expected[y - 1, p - 1] += h
    assert tally.matrix(4) == expected.tolist()
    assert tally.matrix(2) == expected[:2, :2].tolist()
    assert tally.accuracy == pytest.approx(np.trace(expected) / expected.sum())
    assert tally.average == pytest.approx(1 - np.trace(expected) / expected.sum())
    for p, y in ((0, 5), (5, 1), (1, 0), (1, nan)):
        with pytest.raises(ValueError):
            tally.count(p, y)


def test_a_label_that_is_not_a_class_is_invalid():
    """The parser lets none through; a batch may come from elsewhere."""
    learner = learner_of("sgd", holdout_period=0)
    go(learner, [Line(label, [(1, 1.0)]) for label in (0.0, 4.0, -1.0, 0.5, 1e300)])
    assert (learner.rule.t, learner.unlabelled, learner.progressive.weight) == (0, 5, 0)


# --- softmax ---------------------------------------------------------------------------------------


class Given:
    """A loss whose dloss is the prediction: so that a reference of one score takes the given step."""

    def dloss(self, p, y):
        return p


REFERENCES = {
    "l1-ball": (slow_rules.L1Ball, {"radius": 1.5}),
    "nonnegative": (slow_rules.L1Ball, {"radius": 1.5, "nonnegative": True}),
    "sgd": (slow_rules.Sgd, {}),
    "adagrad": (slow_rules.Adagrad, {"l1": 0.01}),
    "ftrl": (slow_rules.Ftrl, {"ftrl_alpha": 0.1, "l1": 0.3, "l2": 0.01}),
    "truncated-gradient": (slow_rules.TruncatedGradient, {"l1": 0.02, "period": 3, "threshold": 0.4}),
    "sgd with l2": (slow_rules.Sgd, {"l2": 0.1}),
    "truncated-gradient with l2": (
        slow_rules.TruncatedGradient, {"l1": 0.02, "l2": 0.1, "period": 3, "threshold": 0.4},
    ),
    "adagrad with l2": (slow_rules.Adagrad, {"l1": 0.01, "l2": 0.1}),
    "adagrad-rda with l2": (slow_rules.AdagradRda, {"l1": 0.01, "l2": 0.1}),
}


@pytest.mark.parametrize("radius", [1.5, 1e6])
@pytest.mark.parametrize("name", REFERENCES)
def test_softmax_is_its_eager_reference(name, radius):
    kind, options = REFERENCES[name]
    options = {**options, "radius": radius} if "radius" in options else options
    rule = "l1-ball" if name == "nonnegative" else name.split()[0]
    power = 0.0 if rule.startswith("adagrad") else 0.5
    learner = learner_of(rule, softmax=True, learning_rate=0.3, holdout_period=0, **options)
    mask = (1 << BITS) - 1
    settings = {"rate": 0.3, "power_t": power, "constant_key": CONSTANT & mask, **options}
    references = [kind(Given(), 1 << BITS, **settings) for _ in range(K)]
    stream = stream_of(3)
    go(learner, stream)
    predicted = []
    for line in stream:
        if line.kind != 0:
            continue
        keys = [h & mask for h, _ in line.features] + [CONSTANT & mask]
        values = [x for _, x in line.features] + [1.0]
        scores = np.array([reference.predict(keys, values, line.initial) for reference in references])
        predicted.append(int(np.argmax(scores)) + 1)
        if isnan(line.label) or line.importance == 0:
            continue
        shares = slow_rules.softmax(scores)
        for k, reference in enumerate(references):
            reference.learn(keys, values, shares[k] - (line.label == k + 1), line.label, line.importance)
    tolerance = 2e-5 if rule in ("sgd", "truncated-gradient") else 1e-9
    weights, _ = weights_of(learner.rule)
    dense = np.zeros((K, 1 << BITS))
    for key, row in weights.items():
        dense[:, key] = row
    theirs = np.stack([reference.weights for reference in references])
    assert np.abs(theirs).max() > 1e-2
    np.testing.assert_allclose(dense, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max())
    ours = [int(text.split()[0]) for text in learner.predictions.take().decode().splitlines()]
    assert np.mean([a == b for a, b in zip(ours, predicted, strict=True)]) > 0.99  # equal scores may differ by a bit
    if rule == "l1-ball":
        without = np.arange(1 << BITS) != CONSTANT & mask
        assert (np.abs(dense[:, without]).sum(axis=1) <= radius * (1 + 1e-9)).all()
        assert name != "nonnegative" or (dense[:, without] >= 0).all()


@pytest.mark.parametrize("rule", AVERAGED)
def test_softmax_with_average_is_the_mean_of_the_weights_on_the_way(rule):
    options = {"softmax": True, "holdout_period": 0, "learning_rate": 0.3}
    plain, averaged = learner_of(rule, **options), learner_of(rule, average=True, **options)
    total, learned = np.zeros((K, 1 << BITS)), 0
    for line in stream_of(5, 200):
        if line.kind == 0 and not isnan(line.label) and line.importance > 0:
            for key, row in weights_of(plain.rule)[0].items():  # which predict this example
                total[:, key] += row
            learned += 1
        go(plain, [line])
        go(averaged, [line])
        assert averaged.predictions.take() == plain.predictions.take() or line.importance == 0 or isnan(line.label)
    mean, ours = total / learned, np.zeros_like(total)
    for key, row in weights_of(averaged.rule)[0].items():
        ours[:, key] = row
    np.testing.assert_allclose(ours, mean, rtol=1e-9, atol=1e-10 * np.abs(mean).max())
    assert np.abs(mean).max() > 1e-2


@pytest.mark.parametrize("label", [1, 2, 3])
def test_the_step_of_softmax_is_the_gradient_of_its_loss(label):
    """A step of 1 down the gradient, against finite differences of the loss at the weights before it."""
    before = stream_of(4, 60)
    features = [(7, 0.5), (8, -2.0), (9, 1.5), (7, 0.25)]
    options = {"learning_rate": 1.0, "power_t": 0.0, "holdout_period": 0, "softmax": True}
    first, second = (learner_of("l1-ball", radius=1e9, **options) for _ in range(2))
    go(first, [*before, Line(nan, features)])
    go(second, [*before, Line(float(label), features)])
    at, after = weights_of(first.rule)[0], weights_of(second.rule)[0]
    keys = [7, 8, 9, CONSTANT & ((1 << BITS) - 1)]
    x = np.array([0.75, -2.0, 1.5, 1.0])
    W = np.array([at.get(key, np.zeros(K)) for key in keys]).T
    assert np.abs(W).max() > 0.01
    moved = np.array([after[key] for key in keys]).T - W
    h = 1e-6
    for k in range(K):
        for j in range(len(keys)):
            up, down = W.copy(), W.copy()
            up[k, j] += h
            down[k, j] -= h
            rise = slow_rules.multinomial_loss(up @ x, label - 1) - slow_rules.multinomial_loss(down @ x, label - 1)
            assert -moved[k, j] == pytest.approx(rise / (2 * h), abs=1e-7)


def test_softmax_of_scores_that_are_far_from_each_other():
    learner = learner_of("l1-ball", softmax=True, radius=1e12, learning_rate=1e6, bits=32, holdout_period=0)
    go(learner, [Line(1 + i % 3, [(i % 3, 1000.0)]) for i in range(12)])
    assert learner.reason == Reason.DONE
    assert learner.progressive.correct >= 8
    assert 1e3 < learner.progressive.log_loss < np.inf  # where the probability of the label is 0 in a double


@pytest.mark.parametrize("far", [1.0, 30.0, 800.0, 1e6])
@pytest.mark.parametrize("softmax", [False, True])
def test_log_loss_of_scores_that_are_far_from_each_other(softmax, far):
    """In logarithms throughout, where probabilities underflow too. One step sets the scores, the rest is predicted."""
    options = {"softmax": softmax, "learning_rate": 1.0, "power_t": 0.0, "constant": False, "bits": 32}
    learner = learner_of("sgd", holdout_period=0, **options)
    go(learner, [Line(2, [(1, 1.0)])])
    dloss = np.array([1, -2, 1]) / 3 if softmax else np.array([1, -1, 1]) / 2
    predictor = learner_of("sgd", learn=False, holdout_period=0, **options)
    predictor.rule.load(learner.rule.scalars(), learner.rule.slots())
    total = weight = 0.0
    for x in (far, -far):
        scores = -dloss * x
        logs = scores if softmax else -np.logaddexp(0, -scores)
        logs = logs - np.logaddexp.reduce(logs)
        for label, h in ((1, 1.0), (2, 0.5), (3, 2.0)):
            go(predictor, [Line(label, [(1, x)], h)])
            total, weight = total - h * logs[label - 1], weight + h
            assert predictor.progressive.log_loss == pytest.approx(total / weight, rel=1e-6)


def test_scores_that_mean_no_probabilities_have_no_log_loss():
    for loss in ("squared", "hinge"):
        learner = learner_of("gd", loss)
        go(learner, stream_of(1, 50))
        assert learner.progressive.weight > 0 and learner.progressive.log_loss is None
    assert Tally(3, probable=True).log_loss is None
