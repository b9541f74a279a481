"""--average: the model is the mean of the weights that made the predictions."""

from itertools import pairwise
from math import inf

import numpy as np
import pytest
import slow_rules
import test_rules
from batches import Line
from streams import CONSTANT, random_stream
from test_continuing import lines_of
from test_rules import ADAPTIVE, BITS, EXACT, FLOAT, LOSSES, SCHEDULES, assert_agree, rate_for, run, weights_of
from tiers import drawn

from vwlite.core.data.expand import Expander
from vwlite.core.learn.learner import Learner
from vwlite.core.rules.adagrad import Adagrad, AveragedAdagrad
from vwlite.core.rules.l1_ball import AveragedL1Ball, L1Ball
from vwlite.core.rules.sgd import AveragedSgd, Sgd
from vwlite.core.rules.smidas import AveragedSmidas, Smidas
from vwlite.core.rules.truncated_gradient import AveragedTruncatedGradient, TruncatedGradient
from vwlite.model import read_model

pytestmark = pytest.mark.pairwise
PLAIN = {
    "sgd": Sgd, "truncated-gradient": TruncatedGradient, "l1-ball": L1Ball, "adagrad": Adagrad, "smidas": Smidas
}
RULES = {
    "sgd": (AveragedSgd, slow_rules.AveragedSgd),
    "truncated-gradient": (AveragedTruncatedGradient, slow_rules.AveragedTruncatedGradient),
    "l1-ball": (AveragedL1Ball, slow_rules.AveragedL1Ball),
    "adagrad": (AveragedAdagrad, slow_rules.AveragedAdagrad),
    "smidas": (AveragedSmidas, slow_rules.AveragedSmidas),
}
OPTIONS = {
    "sgd": {},
    "truncated-gradient": {"l1": 0.05, "period": 3, "threshold": 0.1},
    "l1-ball": {"radius": 0.7},
    "adagrad": {"l1": 0.02, "power_t": 0.2},
    "smidas": {"l1": 0.02},
}
# A long stream of few examples that touch a weight: more of them than the table has slots.
MANY = 700


@pytest.fixture(autouse=True)
def averaged_rules(monkeypatch):
    monkeypatch.setattr(test_rules, "RULES", RULES)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("name", "options", "tolerance"),
    [
        ("sgd", {}, FLOAT),
        ("truncated-gradient", {"l1": 0.03}, FLOAT),
        ("truncated-gradient", {"l1": 0.03, "period": 7}, FLOAT),
        ("truncated-gradient", {"l1": 0.01, "gravity": "constant"}, FLOAT),
        ("truncated-gradient", {"l1": 0.03, "period": 3, "threshold": 0.05}, FLOAT),
        ("l1-ball", {"radius": 0.01}, EXACT),
        ("l1-ball", {"radius": 1.0}, EXACT),
        ("l1-ball", {"radius": 20.0}, EXACT),
        ("adagrad", {}, ADAPTIVE),
        ("adagrad", {"l1": 0.01}, ADAPTIVE),
        ("adagrad", {"l1": 0.05, "delta": 0.1}, ADAPTIVE),
        ("smidas", {"l1": 0.01}, ADAPTIVE),
        ("smidas", {"l1": 0.01, "features": 1000}, ADAPTIVE),
    ],
)
def test_against_the_eager_mean(name, options, tolerance, loss, schedule):
    """With collisions, repeated features, importance, held-out and unlabelled examples, two passes."""
    rate = 4 * rate_for(loss) if name == "l1-ball" else rate_for(loss, schedule == "constant")
    if name == "adagrad":
        rate = 1.0 if schedule == "1/t" else 0.1
    options = SCHEDULES[schedule] | {"rate": rate} | options
    stream = random_stream(50, drawn(400), loss=loss, scales=False)
    _, reference = assert_agree(
        name, loss, stream, options, tolerance=tolerance, passes=2, decay=0.9, holdout_period=7
    )
    assert np.abs(reference.weights - reference.reference.weights).max() > 1e-4


def learner(kind, loss, **options):
    compiled_loss = LOSSES[loss][0]
    rule = kind(compiled_loss, constant_key=CONSTANT % (1 << BITS), **options)
    return Learner(rule, compiled_loss, Expander(bits=BITS))


def plain_and_averaged(name, loss, options):
    return learner(PLAIN[name], loss, **options), learner(RULES[name][0], loss, **options)


@pytest.mark.third
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", RULES)
def test_it_is_the_mean_of_the_plain_weights_to_the_last_digits(name, loss):
    """Also where weights are floats, and over more examples than are remembered; and learning does not see it."""
    options = OPTIONS[name] | {"rate": 4 * rate_for(loss)}
    plain, averaged = plain_and_averaged(name, loss, options)
    total = np.zeros(1 << BITS)
    for number, line in enumerate(random_stream(51, MANY, loss=loss, scales=False, rare=False)):
        total += weights_of(plain.rule, 1 << BITS)
        run(plain, [line])
        run(averaged, [line])
        assert averaged.prediction == plain.prediction
        if number % 199 == 0 or number == MANY - 1:
            mean = total / (number + 1)
            ours = np.zeros(1 << BITS)
            for key in range(1 << BITS):  # by `weight`, which closes no account
                ours[key] = answer_of(averaged, key)
            np.testing.assert_allclose(ours, mean, rtol=1e-10, atol=1e-12 * max(np.abs(mean).max(), 1e-3))
    np.testing.assert_allclose(weights_of(averaged.rule, 1 << BITS), mean, rtol=1e-10, atol=1e-12 * np.abs(mean).max())
    penalized = np.arange(1 << BITS) != CONSTANT % (1 << BITS)
    assert averaged.rule.count_nonzero() == np.count_nonzero(mean[penalized])
    if name != "sgd":
        assert averaged.rule.count_nonzero() > plain.rule.count_nonzero()


def answer_of(learner, key):
    """The weight of a feature, from the predictions of an example without a label."""
    constant = CONSTANT % (1 << BITS)
    values = []
    for features in ([], [(key, 1.0)]):
        run(learner, [Line(float("nan"), features)])
        values.append(learner.prediction)
    return values[1] - values[0] if key != constant else values[0]


@pytest.mark.parametrize("name", RULES)
def test_looking_at_the_model_changes_nothing(name):
    """Accounts that are closed early hold the same bits as those that are closed late."""
    stream = random_stream(52, MANY, loss="logistic", scales=False)
    options = OPTIONS[name] | {"rate": 0.1}
    often, never = learner(RULES[name][0], "logistic", **options), learner(RULES[name][0], "logistic", **options)
    rng = np.random.default_rng(53)
    for line in stream:
        run(often, [line])
        run(never, [line])
        if rng.random() < 0.05:
            weights_of(often.rule, 1 << BITS)
    assert bytes(often.rule.slots()) == bytes(never.rule.slots())
    assert often.rule.scalars() == never.rule.scalars()


def test_a_weight_counts_for_the_examples_that_it_predicted():
    """By hand: w = 0, 1, 0.75, 0.5, 0.25, 0, 0 at a rate of 0.5, squared loss, shrunk by 0.25 each."""
    shrunk = learner(AveragedTruncatedGradient, "squared", rate=0.5, power_t=0.0, l1=0.5)
    sums = [0, 1.0, 1.75, 2.25, 2.5, 2.5, 2.5]
    for i, total in enumerate(sums):
        run(shrunk, [Line(1.25, [(1, 1.0)]) if i == 0 else Line(0.0, [(2, 1.0)])])
        assert weights_of(shrunk.rule, 1 << BITS)[1] == pytest.approx(total / (i + 1), rel=1e-15)


def test_before_anything_is_learned_there_is_no_mean():
    for kind, _ in RULES.values():
        options = {"radius": 1.0} if kind is AveragedL1Ball else {}
        fresh = learner(kind, "squared", **options)
        run(fresh, [Line(float("nan"), [(1, 2.0)])])
        assert fresh.prediction == 0
        assert fresh.rule.count_nonzero() == 0


COMMANDS = {
    "sgd": [],
    "truncated-gradient": ["--l1", 0.01, "--period", 7, "--threshold", 0.2],
    "l1-ball": ["--radius", 1],
    "adagrad": ["--l1", 0.01],
    "smidas": ["--l1", 0.001],
}


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("algorithm", RULES)
def test_continuing_predicting_and_listing(vwlite, tmp_path, algorithm, loss):
    text = lines_of(3, 600).splitlines(keepends=True)
    (tmp_path / "all").write_text("".join(text))
    (tmp_path / "test").write_text("".join(text[:200]))
    command = ["train", "--algorithm", algorithm, "--loss", loss, "-l", 0.05, "--average", *COMMANDS[algorithm]]
    err = vwlite(*command, tmp_path / "all", "-m", tmp_path / "whole").err
    for i, (begin, end) in enumerate(pairwise([0, 150, 151, 400, len(text)])):
        (tmp_path / "part").write_text("".join(text[begin:end]))
        start = command if i == 0 else ["train", "-i", tmp_path / "model"]
        vwlite(*start, "--quiet", tmp_path / "part", "-m", tmp_path / "model", "--checkpoint-every", 100)
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()

    vwlite(*command, "--quiet", tmp_path / "all", "-m", tmp_path / "light", "--save-weights-only")
    full, light = (vwlite("predict", "-m", tmp_path / m, tmp_path / "test").out for m in ("whole", "light"))
    assert full == light
    model = read_model(str(tmp_path / "whole"))
    weights = dict(zip(model.keys.tolist(), model.weights.tolist(), strict=True))
    nonzero = sum(w != 0 for key, w in weights.items() if key != 11650396)
    assert f"nonzero weights = {nonzero}\n" in err
    listed = vwlite("weights", tmp_path / "whole", "--all").out.splitlines()
    assert {int(row.split()[0]): float(row.split()[1]) for row in listed} == weights
    # The mean is not the model of the last weights; learning continues from the last weights.
    options = ["train", "--quiet", "--algorithm", algorithm, "--loss", loss, "-l", 0.05, *COMMANDS[algorithm]]
    vwlite(*options, tmp_path / "all", "-m", tmp_path / "plain", "-p", tmp_path / "plain.p")
    vwlite(*command, "--quiet", tmp_path / "all", "-p", tmp_path / "averaged.p")
    assert vwlite("predict", "-m", tmp_path / "plain", tmp_path / "test").out != full
    ours, theirs = ((tmp_path / f"{name}.p").read_text().splitlines() for name in ("averaged", "plain"))
    learned = [not line.startswith("|") for line in text]
    assert len(learned) == len(ours)
    assert [p for p, is_learned in zip(ours, learned, strict=True) if is_learned] == [
        p for p, is_learned in zip(theirs, learned, strict=True) if is_learned
    ]


def test_held_out_examples_are_predicted_with_the_mean():
    stream = random_stream(54, 300, loss="squared", scales=False, rare=False)
    compiled_loss = LOSSES["squared"][0]
    rule = AveragedSgd(compiled_loss, rate=0.004)
    held = Learner(rule, compiled_loss, Expander(bits=BITS, constant=False), holdout_period=10)
    for line in stream:
        before = weights_of(rule, 1 << BITS)
        run(held, [line])
        if held.lines % 10 == 0:
            expected = sum(before[h & ((1 << BITS) - 1)] * x for h, x in line.features)
            assert held.prediction == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("infinite", [inf, 1e9])
def test_nothing_to_shrink(infinite):
    """Without l1 the mean of truncated gradient is that of plain descent."""
    stream = random_stream(55, 800, loss="logistic", scales=False)
    one = learner(AveragedSgd, "logistic", rate=0.1)
    other = learner(AveragedTruncatedGradient, "logistic", rate=0.1, threshold=infinite)
    for each in (one, other):
        run(each, stream)
    np.testing.assert_allclose(
        weights_of(other.rule, 1 << BITS), weights_of(one.rule, 1 << BITS), rtol=1e-4, atol=1e-7
    )
