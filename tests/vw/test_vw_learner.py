"""The engine's loop as `vwlite vw` has it: another order of events, and the lines that it can take."""

from math import inf, nan

import pytest
from batches import Line, batch_of

from vwlite.core.data.class_names import ClassNames
from vwlite.core.data.expand import Expander
from vwlite.core.learn.learner import Reason
from vwlite.core.learn.losses import Squared
from vwlite.core.rules.gd import Gd
from vwlite.core.vw.counts import Counts
from vwlite.core.vw.labels import ExpectedLabels
from vwlite.core.vw.learner import VwLearner


def line(label, **other):
    return Line(label, [(5, 1.0)], **other)


def run(lines, **options):
    """A learner after these lines, whose predictions wait to be taken; and what it counted."""
    loss, labels, batch, counts = Squared(), ExpectedLabels(-inf, inf, False), batch_of(lines), Counts()
    rule = Gd(loss, rate=0.25, power_t=0.0)
    learner = VwLearner(rule, loss, Expander(constant=False), labels, counts, predictions=True, **options)
    labels.take(batch)
    assert learner.run(batch) == len(batch)
    return learner, counts


def predictions(learner):
    return [float(text) for text in learner.predictions.take().split()]


def test_what_is_predicted_first_is_clipped_to_the_labels_before():
    lines = [line(2.0, initial=5.0), line(4.0, initial=9.0), line(nan, initial=9.0)]
    for predict_first, shown in ((False, [2, 4, 4]), (True, [0, 2, 4])):
        learner, counts = run(lines, predict_first=predict_first)
        assert predictions(learner) == shown
        assert counts.sum_loss == 0  # learning knows its label's range


def test_a_range_that_stays():
    learner, _ = run([line(2.0, initial=5.0)], widens=False)
    assert predictions(learner) == [0] and learner.max_label == 0


@pytest.mark.parametrize(("options", "held"), [({"holdout_after": 2}, [3, 5]), ({"holdout_period": 2}, [2])])
def test_only_lines_with_a_label_are_held_out(options, held):
    _, counts = run([line(nan if number == 4 else float(number)) for number in range(1, 6)], **options)
    assert (counts.t, counts.holdout_weight, counts.holdout_weight_since_pass) == (5, len(held), len(held))
    assert counts.weighted_labels == 1 + 2 + 3 + 5 - sum(held)
    assert counts.total_features == counts.example_number == counts.weight == 5 - len(held)
    assert counts.weighted_unlabeled_examples == 1


def test_it_comes_back_when_a_row_is_due():
    loss, labels, batch, counts = Squared(), ExpectedLabels(-inf, inf, False), batch_of([line(1.0)] * 4), Counts()
    learner = VwLearner(Gd(loss), loss, Expander(), labels, counts, reports=True)
    labels.take(batch)
    counts.dump_interval = 3
    assert (learner.run(batch), learner.reason) == (3, Reason.REPORT)
    learner = VwLearner(Gd(loss), loss, Expander(), labels, counts)
    assert (learner.run(batch, 3), learner.reason, counts.example_number) == (4, Reason.DONE, 4)


def test_counts_of_either_way_are_the_same():
    """The engine's loop counts what Python does one example at a time, labels and losses too."""
    lines = [line(1.0), line(nan, importance=3.0), line(2.0, importance=0.5), line(4.0), line(1.0)]
    _, counts = run(lines, holdout_after=3, learn=False)
    expected = Counts()
    for held, example in zip([False, False, False, True, True], lines, strict=True):
        known = example.label == example.label
        loss = example.label**2 * example.importance if known else 0.0  # of the prediction 0
        expected.update(held, known, loss, example.importance, 1)
        if known:
            expected.count_label(held, example.label, example.importance)
    names = [name for name in dir(expected) if isinstance(getattr(expected, name), float | int)]
    assert len(names) > 15
    assert {name: getattr(counts, name) for name in names} == {name: getattr(expected, name) for name in names}


def test_different_labels():
    counts, seen = Counts(), []
    for label in (2.0, 2.0, 5.0, 2.0, 5.0, 7.0, 9.0):
        counts.see_label(label)
        seen.append(counts.distinct_labels)
    assert seen == [1, 1, 2, 2, 2, 3, 3] and (counts.first_label, counts.second_label) == (2, 5)
    assert counts.weight == counts.weighted_labels == 0


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
)
def test_labels_in_tags(tag, expects):
    known = ExpectedLabels(1, 2, False, class_names=ClassNames(2, [b"a", b"b"]))
    known.take(batch_of([line(nan, tag=b"a\0"), line(nan, tag=tag)]))
    assert known.next_unexpected(0) == 1 + expects
