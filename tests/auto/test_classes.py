"""Lanes and stacking of several classes, beside their references."""

import numpy as np
import pytest
from batches import Line, batch_of
from slow_auto import RATES, log_loss_of_classes, slow_class_lanes, stacked_classes, turns_round
from streams import random_stream
from test_lanes import COLUMNS, STATE, loss_of, merged, usable

from vwlite.core.auto.lanes import Lanes
from vwlite.core.auto.softmax_stack import ClassScored, constant_loss, importance_of_classes
from vwlite.core.data.expand import Expander
from vwlite.core.data.normalize import Normalizer

CLASSES = 3


def fresh(folds: int, classes: int = CLASSES) -> Lanes:
    return Lanes(loss_of("logistic"), Expander(normalizer=Normalizer()), RATES, folds, classes)


def drawn_lines(classes: int = CLASSES) -> list[Line]:
    rng = np.random.default_rng(2)
    lines = usable(random_stream(5, 300, loss="logistic", keys=60))
    return [line._replace(label=float(rng.integers(1, classes + 1))) for line in lines]


def weights_of(lanes: Lanes) -> tuple[dict[int, int], np.ndarray]:
    """key -> its row, and [classes, features, STATE]"""
    keys, columns = np.zeros(len(lanes), np.uint32), np.zeros(lanes.classes * STATE * len(lanes), np.float32)
    lanes.weights(keys, columns)
    return {key: i for i, key in enumerate(keys.tolist())}, columns.reshape(lanes.classes, -1, STATE)


@pytest.mark.parametrize("folds", [1, 2, 4])
def test_lanes_of_classes_are_those_of_the_reference(folds):
    stream = drawn_lines()
    fold = np.random.default_rng(1).integers(0, folds, len(stream)).astype(np.uint8)
    lanes, scores = fresh(folds), np.zeros(CLASSES * COLUMNS * len(stream), np.float32)
    batch = batch_of(stream)
    lanes.learn(batch, fold, scores=scores)

    number = {key: i for i, key in enumerate(dict.fromkeys(key for line in stream for key in merged(line)))}
    slow = slow_class_lanes(CLASSES, len(number), folds)
    examples = [([number[key] for key in merged(line)], list(merged(line).values())) for line in stream]
    expected = [
        [own.learn(*example, 1 if line.label == k else -1, at, line.importance, line.initial)
         for k, own in enumerate(slow, 1)]
        for example, line, at in zip(examples, stream, fold, strict=True)
    ]
    row, columns = weights_of(lanes)
    for k in range(CLASSES):
        found = np.array([columns[k][row[key]][:COLUMNS] for key in number]).T
        assert found == pytest.approx(slow[k].columns(), rel=2e-4, abs=2e-5)
    assert scores.reshape(-1, CLASSES, COLUMNS) == pytest.approx(np.array(expected), rel=2e-3, abs=2e-4)
    lanes.score(batch, fold, scores)
    after = [[own.scores(np.array(keys), np.array(x), at) for own in slow]
             for (keys, x), at in zip(examples, fold, strict=True)]
    assert scores.reshape(-1, CLASSES, COLUMNS) == pytest.approx(np.array(after), rel=2e-3, abs=2e-4)


@pytest.mark.parametrize("classes", [CLASSES, 40])
def test_each_class_has_the_bytes_of_lanes_for_two_labels(classes):
    stream = drawn_lines(classes)
    fold = np.random.default_rng(1).integers(0, 2, len(stream)).astype(np.uint8)
    together = fresh(2, classes)
    together.learn(batch_of(stream), fold)
    scores = np.zeros(classes * COLUMNS * len(stream), np.float32)
    together.score(batch_of(stream), fold, scores)
    row, columns = weights_of(together)
    for k in range(classes):
        lines = [line._replace(label=1.0 if line.label == k + 1 else -1.0) for line in stream]
        alone, own = fresh(2, 1), np.zeros(COLUMNS * len(stream), np.float32)
        alone.learn(batch_of(lines), fold)
        alone.score(batch_of(lines), fold, own)
        its_row, its_columns = weights_of(alone)
        assert its_row == row and its_columns[0].tobytes() == columns[k].tobytes()
        assert own.tolist() == scores.reshape(-1, classes, COLUMNS)[:, k].ravel().tolist()
        assert [alone.scalars(kind) for kind in range(2)] == [together.scalars(kind, k) for kind in range(2)]


@pytest.mark.parametrize("folds", [1, 2, 4])
def test_half_of_the_lanes_have_the_bytes_of_those_beside_the_others(folds):
    stream, batch = drawn_lines(), batch_of(drawn_lines())
    fold = np.random.default_rng(1).integers(0, folds, len(stream)).astype(np.uint8)
    for half in ((0, 2), (0, 3), (1, 3)):
        numbers, state = [], []
        for there in (range(4), half):
            rates = [rate if k in there else 0.0 for k, rate in enumerate(RATES)]
            lanes = Lanes(loss_of("logistic"), Expander(normalizer=Normalizer()), rates, folds, CLASSES)
            before, after = (np.zeros(CLASSES * COLUMNS * len(stream), np.float32) for _ in range(2))
            lanes.learn(batch, fold, scores=before)
            lanes.score(batch, fold, after)
            _, columns = weights_of(lanes)
            has_kind = np.isin(np.arange(4), half)
            has_number = np.r_[has_kind, has_kind, True, has_kind[:2]]
            assert len(there) == 4 or not columns[:, :, ~has_number].any()
            of_half = [x.reshape(-1, COLUMNS)[:, has_number[:COLUMNS]].tobytes() for x in (before, after)]
            numbers.append([columns[:, :, has_number].tobytes(), *of_half])
            state.append([lanes.scalars(half[0], k) for k in range(CLASSES)])
            assert len(there) == 4 or lanes.scalars(1 - half[0], 0)["learned"] == 0
        assert numbers[0] == numbers[1] and state[0] == state[1]
    with pytest.raises(ValueError, match="as many kinds of gd as of nsgd"):
        Lanes(loss_of("logistic"), Expander(normalizer=Normalizer()), (1.0, 8.0, 0.0, 0.0), folds, CLASSES)


# --- stacking ----------------------------------------------------------------------------------


def drawn(n: int = 300, classes: int = 4, seed: int = 0):
    """Scores of eight learners that err around one truth, labels, importances."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, (n, classes))
    scores = truth[:, :, None] * rng.uniform(0.3, 2, 8) + rng.normal(0, 0.5, (n, classes, 8))
    y = (truth + np.array([0, 0, 0.5, 1]) + rng.gumbel(0, 0.5, (n, classes))).argmax(axis=1) + 1.0
    return scores.astype(np.float32), y, rng.choice([0.5, 1.0, 3.0], n)


def scored(scores, y, h, **more) -> ClassScored:
    return ClassScored(scores.ravel(), y, h, scores.shape[1], scores.shape[1], **more)


def test_newton_finds_the_stack_of_the_reference():
    scores, y, h = drawn()
    start = np.eye(8)[3]
    found = scored(scores, y, h).fit(start.tolist(), 5.0)
    u, b = stacked_classes(scores.astype(float), y, h, start)
    assert found == pytest.approx([*u, *b], rel=1e-4, abs=1e-5)
    assert abs(sum(b)) < 1e-8 and b[3] > b[2] > 0  # shifts of all classes are penalized away


def test_without_offsets():
    scores, y, h = drawn()
    start = np.eye(8)[3]
    found = scored(scores, y, h, has_offsets=False).fit(start.tolist(), 5.0)
    u, _ = stacked_classes(scores.astype(float), y, h, start, offsets=1e12)
    assert found == pytest.approx(u, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("has_offsets", [False, True])
def test_half_of_the_columns(has_offsets):
    scores, y, h = drawn()
    which, start = [0, 3, 4, 7], np.eye(8)[3]
    half = scored(scores, y, h, which=which, has_offsets=has_offsets)
    found = half.fit(start.tolist(), 5.0)
    of_half = scores[:, :, which].astype(float)
    u, b = stacked_classes(of_half, y, h, start[which], offsets=0.5 if has_offsets else 1e12)
    expected = np.zeros(8)
    expected[which] = u
    assert found == pytest.approx([*expected, *(b if has_offsets else ())], rel=1e-4, abs=1e-5)
    losses = scored(scores, y, h).losses()
    assert half.losses() == [losses[c] if c in which else np.inf for c in range(8)]
    out = np.zeros(4 * len(y))
    half.predictions(found, out)
    z = of_half @ np.array(found)[which] + (found[8:] if has_offsets else 0)
    assert out.reshape(-1, 4) == pytest.approx(z, rel=1e-12)
    assert half.loss_of(found) == pytest.approx(log_loss_of_classes(z, y, h), rel=1e-12)
    assert half.turns_round((-np.array(found)).tolist(), start.tolist())


@pytest.mark.parametrize("has_offsets", [False, True])
def test_where_newton_begins_does_not_matter(has_offsets):
    scores, y, h = drawn()
    first, start = (np.arange(len(y)) % 2 == 0).astype(np.uint8), [0.0, 1.0, *[0.0] * 6]
    cold = scored(scores, y, h, has_offsets=has_offsets)
    for begin in ((), [0.5] * 8, cold.fit(start, 5.0)):
        warm = scored(scores, y, h, has_offsets=has_offsets, begin=begin)
        for which in (first, 1 - first, None):
            assert warm.fit(start, 5.0, which) == pytest.approx(cold.fit(start, 5.0, which), rel=1e-3, abs=1e-4)


def test_losses_and_predictions():
    scores, y, h = drawn()
    both = scored(scores, y, h)
    expected = [log_loss_of_classes(scores[:, :, c].astype(float), y, h) / h.sum() for c in range(8)]
    assert both.losses() == pytest.approx(expected, rel=1e-12)
    stack = [*np.linspace(-1, 1, 8), *range(4)]
    out = np.zeros(4 * len(y))
    both.predictions(stack, out)
    z = scores.astype(float) @ stack[:8] + stack[8:]
    assert out.reshape(-1, 4) == pytest.approx(z, rel=1e-12)
    assert both.loss_of(stack) == pytest.approx(log_loss_of_classes(z, y, h), rel=1e-12)


def test_a_stack_that_turns_the_best_column_round_is_found():
    scores, y, h = drawn()
    rng, which = np.random.default_rng(3), (np.arange(len(y)) % 3 == 0).astype(np.uint8)
    one, some = scored(scores, y, h), which.astype(bool)
    for c in range(8):
        u, alone = rng.normal(size=8), np.eye(8)[c]
        stack = [*u, *rng.normal(size=4)]
        assert one.turns_round(stack, alone.tolist()) == turns_round(scores, h, u, alone)
        assert one.turns_round(stack, alone.tolist(), which) == turns_round(scores[some], h[some], u, alone)


def test_some_examples_only():
    scores, y, h = drawn()
    which = (np.arange(len(y)) % 3 == 0).astype(np.uint8)
    some, start = which == 1, [1.0, *[0.0] * 7]
    whole, alone = scored(scores, y, h), scored(scores[some].copy(), y[some], h[some])
    assert whole.fit(start, 5.0, which) == alone.fit(start, 5.0)
    assert whole.loss_of(start, which) == alone.loss_of(start)


def test_records_that_take_no_part():
    """Those of classes without a name."""
    scores, y, h = drawn()
    more = np.concatenate([scores, np.full_like(scores[:, :1], 7)], axis=1)
    start = [1.0, *[0.0] * 7]
    found = ClassScored(more.ravel(), y, h, 5, 4)
    assert found.fit(start, 5.0) == scored(scores, y, h).fit(start, 5.0)
    assert found.losses() == scored(scores, y, h).losses()


def test_hopeless_scores_are_not_a_problem():
    scores, y, h = drawn()
    wild = [np.zeros_like(scores), np.full_like(scores, 3e38), scores * np.float32(1e30), -scores * np.float32(3e37)]
    for each in wild:
        hopeless = scored(each, y, h)
        assert np.isfinite(hopeless.fit([1.0, *[0.0] * 7], 5.0)).all() and np.isfinite(hopeless.losses()).all()


def test_a_class_without_examples_has_a_finite_offset():
    scores, y, h = drawn()
    found = scored(scores, np.minimum(y, 3), h).fit([1.0, *[0.0] * 7], 5.0)
    assert -20 < found[11] < min(found[8:11])


def test_importance_of_classes():
    assert importance_of_classes(np.array([1.0, 3, 1]), np.array([0.5, 2, 1]), 3).tolist() == [1.5, 0, 2]


def test_the_loss_of_constant_scores():
    scores, weights = np.array([0.5, -3, 2]), np.array([1.0, 0, 3])
    expected = log_loss_of_classes(np.array([scores] * 2), np.array([1.0, 3]), weights[[0, 2]]) / 4
    assert constant_loss(scores, weights) == pytest.approx(expected, rel=1e-12)
    assert constant_loss(np.array([0, -50.0, -50]), np.array([2.0, 0, 0])) == 0


def test_wrong_arguments():
    scores, y, h = drawn()
    with pytest.raises(ValueError, match="none of the classes"):
        scored(scores, y + 1, h)
    with pytest.raises(ValueError, match="none of the classes"):
        importance_of_classes(y, h, 3)
    with pytest.raises(ValueError, match="different lengths"):
        scored(scores[:-1], y, h)
    with pytest.raises(ValueError, match="one weight for each column"):
        scored(scores, y, h).fit([1.0], 5.0)
    with pytest.raises(ValueError, match="one weight for each column"):
        scored(scores, y, h, has_offsets=False).loss_of([1.0] * 12)
    with pytest.raises(ValueError, match="or half of them"):
        scored(scores, y, h, which=[0, 1])
