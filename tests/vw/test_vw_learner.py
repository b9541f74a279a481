"""The engine's loop as `vwlite vw` has it: another order of events, and the lines that it can take."""

from math import inf, nan

import pytest
from batches import Line, batch_of

from vwlite.core.data.class_names import Names
from vwlite.core.data.expand import Expander
from vwlite.core.learn.losses import Squared
from vwlite.core.rules.gd import Gd
from vwlite.core.vw.labels import ExpectedLabels
from vwlite.core.vw.learner import VwLearner


def line(label, **other):
    return Line(label, [(5, 1.0)], **other)


def run(lines, **options):
    """A learner after these lines, whose predictions wait to be taken."""
    loss, labels, batch = Squared(), ExpectedLabels(-inf, inf, False), batch_of(lines)
    rule = Gd(loss, rate=0.25, power_t=0.0)
    learner = VwLearner(rule, loss, Expander(constant=False), labels, predictions=True, **options)
    labels.take(batch)
    assert learner.run(batch) == len(batch)
    return learner


def predictions(learner):
    return [float(text) for text in learner.predictions.take().split()]


def test_what_is_predicted_first_is_clipped_to_the_labels_before():
    lines = [line(2.0, initial=5.0), line(4.0, initial=9.0), line(nan, initial=9.0)]
    for predict_first, shown in ((False, [2, 4, 4]), (True, [0, 2, 4])):
        learner = run(lines, predict_first=predict_first)
        assert predictions(learner) == shown
        assert learner.progressive.loss == 0  # learning knows its label's range


def test_a_range_that_stays():
    learner = run([line(2.0, initial=5.0)], widens=False)
    assert predictions(learner) == [0] and learner.max_label == 0


@pytest.mark.parametrize(("options", "held"), [({"holdout_after": 2}, [3, 5]), ({"holdout_period": 2}, [2])])
def test_only_lines_with_a_label_are_held_out(options, held):
    learner = run([line(nan if number == 4 else float(number)) for number in range(1, 6)], **options)
    assert learner.holdout.labels == sum(held)
    assert learner.held_features == len(held) and learner.features == learner.time == 5
    assert learner.unlabelled == 1


@pytest.mark.parametrize(
    ("ends", "labels", "expected"),
    [
        ((-inf, inf, False), [1.0, nan, inf, -3.0], [0, 1, 2, 3]),
        ((-1.0, 1.0, False), [1.0, 1.5, 0.5, nan, -2.0], [0, 2, 3]),
        ((-1.0, 1.0, True), [1.0, 0.5, -1.0, nan], [0, 2, 3]),
    ],
)
def test_expected_labels(ends, labels, expected):
    known = ExpectedLabels(*ends)
    known.take(batch_of([line(label) for label in labels]))
    assert [i for i in range(len(labels)) if known.next_unexpected(i) != i] == expected


def test_lines_without_a_label_or_weight():
    blank = Line(nan, [], kind=1, importance=0.0)
    batch = batch_of([line(1.0), line(1.0, importance=0.0), blank, line(nan)])
    for needed, last in ((False, 4), (True, 3)):
        known = ExpectedLabels(-inf, inf, False, needed=needed)
        known.take(batch)
        assert (known.next_unexpected(0), known.next_unexpected(2), known.next_unexpected(4)) == (1, last, 4)


@pytest.mark.parametrize(
    ("tag", "expects"),
    [
        (b"b\0", True), (b"b 2\0tag", True), (b"b 0.25\0", True), (b"\0tag", True), (b"c\0", False), (b"b 0\0", False),
        (b"b -1\0", False), (b"b 1e3\0", False), (b"b 2 3\0", False), (b"b .5\0", False), (b" b\0", False),
        (b"b", False), (b"", False), (b"b 1234567890123456\0", False),
    ],
)  # fmt: skip
def test_labels_in_tags(tag, expects):
    known = ExpectedLabels(1, 2, False, names=Names(2, [b"a", b"b"]))
    known.take(batch_of([line(nan, tag=b"a\0"), line(nan, tag=tag)]))
    assert known.next_unexpected(0) == 1 + expects
