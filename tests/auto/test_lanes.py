"""Lanes beside their eager reference, and beside the rule `gd` where they must be the same."""

import numpy as np
import pytest
from batches import Line, batch_of, learn
from losses import LOG_LINKED
from slow_auto import DELTA, RATES, TAU, SlowLanes
from streams import CONSTANT, random_stream

from vwlite.algorithms.losses import LOSSES
from vwlite.algorithms.settings import Settings
from vwlite.core.auto.lanes import Lanes
from vwlite.core.auto.robust import ScaledHuber
from vwlite.core.data.expand import Expander
from vwlite.core.data.normalize import Normalizer
from vwlite.core.learn import losses
from vwlite.model.learners import make_learner

KINDS, COLUMNS, STATE = 4, 8, 11
ALL = ["logistic", "squared", "poisson", "gamma", "tweedie", "quantile", "huber", "expectile"]


def loss_of(name: str) -> losses.Loss:
    """As the reference has it."""
    if name == "huber":
        return ScaledHuber(DELTA)
    return getattr(losses, LOSSES[name].kind)(*([TAU] if name in ("quantile", "expectile") else []))


def fresh(loss: str, folds: int, rates=RATES, normalize: str = "none") -> Lanes:
    return Lanes(loss_of(loss), Expander(normalizer=Normalizer(normalize)), rates, folds)


def usable(stream: list[Line]) -> list[Line]:
    """The lines that lanes may learn: with a label and an importance."""
    return [line for line in stream if line.kind == 0 and line.label == line.label and line.importance > 0]


def weights_of(lanes: Lanes) -> dict[int, np.ndarray]:
    """key -> its numbers at the end of a pass"""
    keys, numbers = np.zeros(len(lanes), np.uint32), np.zeros(STATE * len(lanes), np.float32)
    lanes.weights(keys, numbers)
    return dict(zip(keys.tolist(), numbers.reshape(-1, STATE), strict=True))


def merged(line: Line) -> dict[int, np.float32]:
    found: dict[int, np.float32] = {}
    for key, value in line.features:
        found[key] = np.float32(found.get(key, np.float32(0)) + np.float32(value))
    return {key: value for key, value in found.items() if value != 0} | {CONSTANT: np.float32(1)}


@pytest.mark.parametrize("folds", [1, 2, 4])
@pytest.mark.parametrize("loss", ALL)
def test_lanes_are_those_of_the_reference(loss, folds):
    stream = usable(random_stream(5, 150, loss=loss, keys=40))
    fold = np.random.default_rng(1).integers(0, folds, len(stream)).astype(np.uint8)
    lanes, scores = fresh(loss, folds), np.zeros(COLUMNS * len(stream), np.float32)
    batch = batch_of(stream)
    lanes.learn(batch, fold, scores=scores)

    number = {key: i for i, key in enumerate(dict.fromkeys(key for line in stream for key in merged(line)))}
    slow = SlowLanes(len(number), loss, folds)
    examples = [([number[key] for key in merged(line)], list(merged(line).values())) for line in stream]
    expected = [
        slow.learn(*example, line.label, at, line.importance, line.initial)
        for example, line, at in zip(examples, stream, fold, strict=True)
    ]
    found = weights_of(lanes)
    columns = np.array([found[key][:COLUMNS] for key in number]).T
    assert columns == pytest.approx(slow.columns(), rel=2e-4, abs=2e-5)
    assert np.array([found[key][COLUMNS] for key in number]) == pytest.approx(slow.s, rel=1e-6)
    assert scores.reshape(-1, COLUMNS) == pytest.approx(np.array(expected), rel=2e-3, abs=2e-4)

    lanes.score(batch, fold, scores)
    after = [slow.scores(np.array(keys), np.array(x), at) for (keys, x), at in zip(examples, fold, strict=True)]
    assert scores.reshape(-1, COLUMNS) == pytest.approx(np.array(after), rel=2e-3, abs=2e-4)


def test_all_lanes_learn_what_is_in_no_fold():
    """... as a single lane of each kind would; and a lane whose fold is held out does not."""
    stream = usable(random_stream(6, 300, loss="logistic", keys=30))
    held = np.random.default_rng(2).random(len(stream)) < 0.2
    fold = np.where(held, 0, 2).astype(np.uint8)
    lanes, number = fresh("logistic", 2), {}
    lanes.learn(batch_of(stream), fold)
    for line in stream:
        for key in merged(line):
            number.setdefault(key, len(number))
    slow = SlowLanes(len(number), "logistic", 2)
    for line, at in zip(stream, fold, strict=True):
        keys = [number[key] for key in merged(line)]
        slow.learn(keys, list(merged(line).values()), line.label, at, line.importance, line.initial)
    assert slow.T.tolist() == [[(~held).sum(), len(stream)]] * KINDS
    found = weights_of(lanes)
    assert pytest.approx(slow.columns(), rel=2e-4, abs=2e-5) == np.array([found[key][:COLUMNS] for key in number]).T
    scores = np.zeros(COLUMNS * len(stream), np.float32)
    for wrong in (lambda: lanes.score(batch_of(stream), fold, scores),
                  lambda: lanes.learn(batch_of(stream), fold, scores=scores),
                  lambda: lanes.learn(batch_of(stream), fold + 1)):
        with pytest.raises(ValueError, match="no such fold"):
            wrong()


@pytest.mark.parametrize("normalize", ["none", "log"])
@pytest.mark.parametrize("most", [None, 0, 700])
def test_batches_that_come_again_give_the_same_bytes(normalize, most):
    """Where their features are is remembered: of all, or of the first ones. What is only scored has features that are
    learned later."""
    stream = usable(random_stream(8, 300, loss="logistic", keys=80))
    batches = [batch_of(stream[at : at + 50]) for at in range(0, len(stream), 50)]
    fold, other = np.arange(50, dtype=np.uint8) % 4, batch_of([Line(1.0, ((10_000 + i, 1.0),)) for i in range(9)])
    found = []
    for keep in (False, True):
        lanes, scores = fresh("logistic", 4, normalize=normalize), []
        if most is not None:
            lanes.most_located = most
        for number in range(3):
            for batch in [*batches, other][: len(batches) + (number == 2)]:
                lanes.learn(batch, fold[: len(batch)], keep=keep)
            for batch in [*batches, other]:
                scores.append(np.zeros(COLUMNS * len(batch), np.float32))
                lanes.score(batch, fold[: len(batch)], scores[-1], keep=keep)
        found.append(([x.tobytes() for x in scores], {key: x.tobytes() for key, x in weights_of(lanes).items()}))
    assert found[0] == found[1]


def steady(stream: list[Line], label: float) -> list[Line]:
    """The stream after one example that has every feature at its largest value, so that no scale grows later; each
    feature once in a line. label: of that example; its loss must not be 0, which `gd` learns nothing from."""
    largest: dict[int, float] = {}
    for line in stream:
        for key, value in line.features:
            largest[key] = max(largest.get(key, 0), abs(value))
    once = [line._replace(features=tuple(dict(line.features).items()), initial=0.0) for line in stream]
    return [Line(label, tuple(largest.items())), *once]


@pytest.mark.parametrize(
    ("loss", "tolerance"), [("logistic", 0), ("squared", 1e-6), *((loss, 1e-6) for loss in LOG_LINKED)]
)
@pytest.mark.parametrize("rate", RATES[:2])
def test_a_lane_of_gd_is_the_rule_gd(loss, tolerance, rate):
    """Bit for bit, where scales do not grow and predictions are not clipped."""
    drawn = usable(random_stream(11, 800, loss=loss, scales=loss not in LOG_LINKED))
    stream = steady(drawn, 1.0 if loss == "logistic" else 2.0)
    settings = Settings(loss=loss, learning_rate=rate)
    learner = make_learner(settings)
    learner.clips = False
    learn(learner, batch_of(stream))
    rule = learner.rule
    slots = np.frombuffer(rule.slots(), [(name, code) for name, code in rule.SLOT])

    lanes = fresh(loss, 1)
    lanes.learn(batch_of(stream), bytes(len(stream)))
    found = weights_of(lanes)
    kind = RATES.index(rate)
    for slot in slots:
        numbers = found[(int(slot["mark"]) - 1) & 0xFFFFFFFF]
        assert numbers[COLUMNS] == slot["N"]
        if tolerance:
            assert numbers[kind] == pytest.approx(slot["w"], rel=tolerance, abs=tolerance)
        else:
            assert (numbers[kind], numbers[COLUMNS + 1 + kind]) == (slot["w"], slot["G"])
    state = lanes.scalars(kind)
    assert state["t"] == rule.weight_sum and (tolerance or state["S"] == rule.norm_sum)


def test_a_lane_with_folds_is_a_lane_alone_that_skips_its_fold():
    """... but for the scales and the sum of squares, which all examples move: here none does."""
    stream = [Line(1.0 if i % 3 else -1.0, ((i % 7, 1.0),)) for i in range(200)]
    fold = np.array([i * i % 5 % 4 for i in range(200)], np.uint8)
    together = fresh("logistic", 4)
    together.learn(batch_of(stream), fold)
    mean = {key: np.zeros(COLUMNS) for key in weights_of(together)}
    for j in range(4):
        alone = SlowLanes(8, "logistic", 4)
        for line, at in zip(stream, fold, strict=True):
            alone.learn([line.features[0][0], 7], [1.0, 1.0], line.label, at)
        assert alone.T[:, j].tolist() == [sum(fold != j)] * KINDS
        for key in mean:
            i = 7 if key == CONSTANT else key
            last = alone.w[:, j, i]
            mean[key] += np.r_[last, last - alone.A[:, j, i] / alone.T[:, j]] / 4
    for key, numbers in weights_of(together).items():
        assert numbers[:COLUMNS] == pytest.approx(mean[key], rel=2e-4, abs=2e-5)


@pytest.mark.parametrize("normalize", ["none", "l2", "log"])
def test_one_batch_or_many_give_the_same_bytes(normalize):
    stream = usable(random_stream(3, 500, loss="logistic"))
    fold = np.random.default_rng(2).integers(0, 4, len(stream)).astype(np.uint8)
    whole, parts = fresh("logistic", 4, normalize=normalize), fresh("logistic", 4, normalize=normalize)
    whole.learn(batch_of(stream), fold)
    for at in range(0, len(stream), 7):
        parts.learn(batch_of(stream[at : at + 7], numbered=at % 2 == 0), fold[at : at + 7])
    one, other = weights_of(whole), weights_of(parts)
    assert one.keys() == other.keys()
    assert all(one[key].tobytes() == other[key].tobytes() for key in one)


@pytest.mark.parametrize("loss", ALL)
def test_huge_and_tiny_values_stay_finite(loss):
    rng = np.random.default_rng(4)
    sizes = [1e30, 3e38, 1e-30, 1e-44, 1.0]
    stream = [
        Line(float(rng.integers(0, 2) * 2 - (loss == "logistic")), tuple((int(k), float(rng.choice([-1, 1]) * size))
             for k, size in zip(rng.choice(9, 5, replace=False), rng.permutation(sizes), strict=True)))
        for _ in range(300)
    ]
    fold = rng.integers(0, 4, len(stream)).astype(np.uint8)
    lanes, scores = fresh(loss, 4), np.zeros(COLUMNS * len(stream), np.float32)
    lanes.learn(batch_of(stream), fold, scores=scores)
    assert all(np.isfinite(numbers).all() for numbers in weights_of(lanes).values())
    assert np.isfinite(scores).all()


def test_a_lane_that_has_learned_nothing_counts_in_no_mean():
    stream = [Line(1.0, ((5, 1.0),)), Line(-1.0, ((6, 1.0),))]
    lanes = fresh("logistic", 4)
    lanes.learn(batch_of(stream), bytes([2, 2]))
    slow = SlowLanes(3, "logistic", 4)
    slow.learn([0, 2], [1, 1], 1.0, 2)
    slow.learn([1, 2], [1, 1], -1.0, 2)
    found = weights_of(lanes)
    assert found[5][:COLUMNS] == pytest.approx(slow.columns()[:, 0], rel=1e-4)
    assert slow.w[0, 0, 0] == pytest.approx(found[5][0], rel=1e-4)  # the mean is that of three equal lanes


def test_weights_of_a_fold_are_those_of_its_lanes_in_the_stack():
    """Their mean over the folds is the stack of the means; those of one fold are those of lanes without it."""
    stream = usable(random_stream(5, 400, loss="logistic", keys=60))
    fold = np.random.default_rng(1).integers(0, 4, len(stream)).astype(np.uint8)
    lanes = fresh("logistic", 4)
    lanes.learn(batch_of(stream), fold)
    u = np.array([0.5, -0.25, 1.0, 0.125, 2.0, 0.75, -1.5, 0.0625])
    found = np.zeros(4 * len(lanes))
    lanes.fold_weights(u, found)
    slow = SlowLanes(60 + 1, "logistic", 4)
    number = {key: i for i, key in enumerate(dict.fromkeys(key for line in stream for key in merged(line)))}
    for line, at in zip(stream, fold, strict=True):
        slow.learn([number[key] for key in merged(line)], [*merged(line).values()], line.label, at, line.importance,
                   line.initial)
    for key, of_folds in zip(weights_of(lanes), found.reshape(-1, 4), strict=True):
        last = slow.w[:, :, number[key]]  # [kinds, folds]
        mean = last - slow.A[:, :, number[key]] / slow.T
        assert of_folds == pytest.approx(u[:4] @ last + u[4:] @ mean, rel=1e-3, abs=1e-4)
    with pytest.raises(ValueError, match="other lanes"):
        lanes.fold_weights(u[:7], found)
    with pytest.raises(ValueError, match="other lanes"):
        lanes.fold_weights(u, found[:-1])


def test_wrong_arguments():
    batch = batch_of([Line(1.0, ((5, 1.0),))])
    with pytest.raises(ValueError, match="fewer folds"):
        fresh("logistic", 4).learn(batch, b"")
    with pytest.raises(ValueError, match="no such fold"):
        fresh("logistic", 2).learn(batch, bytes([3]))
    with pytest.raises(ValueError, match="four rates"):
        fresh("logistic", 3)
