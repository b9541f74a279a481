"""The order of events: predict, score, learn; what is held out; why `run` comes back; what is written."""

import threading
from math import exp, inf, nan

import numpy as np
import pytest
from batches import Line, batch_of

from vwlite.core.data.batch import Batch
from vwlite.core.data.expand import Expander
from vwlite.core.learn.learner import Learner, Reason
from vwlite.core.learn.losses import Hinge, Logistic, Poisson, Squared
from vwlite.core.rules.gd import Gd
from vwlite.core.rules.sgd import Sgd
from vwlite.core.tables.matrix import Matrix

BLANK, REJECTED = Line(nan, [], kind=1), Line(nan, [], kind=2)


def learner_of(loss=None, *, rate=0.25, rule=Sgd, **options):
    """Plain descent at a constant rate without a constant: at rate 1/4, squared loss halves the distance."""
    loss = loss or Squared()
    expander = Expander(constant=False)
    return Learner(
        rule(loss, rate=rate, power_t=0.0), loss, expander, predictions=True, raw_predictions=True, **options
    )


def one(label=1.0, x=1.0, key=5, **other):
    return Line(label, [(key, x)], **other)


def numbers(learner):
    return [float(line.split()[0]) for line in learner.raw_predictions.take().splitlines()]


def test_predicts_before_it_learns():
    learner = learner_of()
    assert learner.run(batch_of([one()] * 4)) == 4
    assert numbers(learner) == [0, 0.5, 0.75, 0.875]
    assert learner.progressive.loss == 1 + 0.25 + 0.0625 + 0.125**2
    assert learner.progressive.average == learner.progressive.loss / 4
    assert (learner.label, learner.prediction, learner.size) == (1, 0.875, 1)


def test_initial_is_added_to_the_prediction():
    learner = learner_of()
    learner.run(batch_of([one(initial=0.5), one(initial=-2.0)]))
    assert numbers(learner) == [0.5, -1.75]


def test_importance_weighs_step_and_loss():
    learner = learner_of()
    learner.run(batch_of([one(importance=2.0), one()]))
    assert numbers(learner) == [0, 1]
    assert learner.progressive.loss == 2
    assert learner.progressive.weight == 3
    assert learner.progressive.labels == 3


def test_what_is_not_learned():
    """No label, importance 0, held out, or learn=False: predicted, and no more."""
    learner = learner_of()
    learner.run(batch_of([one(label=nan), one(importance=0.0), one(label=nan, importance=3.0)]))
    assert numbers(learner) == [0, 0, 0]
    assert (learner.examples, learner.unlabelled, learner.unlabelled_weight) == (3, 2, 4)
    assert learner.progressive.weight == 0
    assert learner.progressive.average is None
    assert (learner.rule.t, len(learner.rule)) == (0, 0)

    learner = learner_of(learn=False)
    learner.run(batch_of([one()] * 3))
    assert learner.progressive.loss == 3
    assert (learner.rule.t, len(learner.rule)) == (0, 0)


def test_every_kth_line_is_held_out_blank_lines_counted():
    learner = learner_of(holdout_period=3)
    stream = [one(), BLANK, one(), one(), one(), BLANK, one(), REJECTED, one(), one()]
    held = [False, None, True, False, False, None, False, None, False, True]  # rejected lines do not count
    for cut in (10, 1, 4):
        learner = learner_of(holdout_period=3)
        for begin in range(0, 10, cut):
            learner.run(batch_of(stream[begin : begin + cut]))
        learned = held.count(False)
        assert learner.rule.t == learned
        assert learner.examples == learned
        assert learner.progressive.weight == learned
        assert learner.holdout.weight == held.count(True)
        p, expected = 0.0, []
        for line, out in zip(stream, held, strict=True):
            if line.kind == 0:
                expected.append(p)
            if out is False:
                p += (1 - p) / 2
        assert numbers_of_examples(learner) == expected
        assert learner.holdout.loss == pytest.approx((1 - expected[1]) ** 2 + (1 - expected[-1]) ** 2)


def numbers_of_examples(learner):
    return [float(line) for line in learner.raw_predictions.take().splitlines() if line]


def test_holdout_restarts_in_each_pass():
    learner = learner_of(holdout_period=3)
    for _ in range(2):
        learner.begin_pass()
        assert learner.lines == 0
        assert learner.holdout.weight == 0
        learner.run(batch_of([one()] * 5))
        assert learner.holdout.weight == 1
        assert learner.lines == 5
    assert learner.examples == 8


def test_features_are_counted_for_all_examples():
    expander = Expander()
    loss = Squared()
    learner = Learner(Sgd(loss), loss, expander, holdout_period=2)
    learner.run(batch_of([one(), one(), one(label=nan), BLANK, Line(1.0, [])]))
    assert learner.features == 2 + 2 + 2 + 1


# --- why run comes back ----------------------------------------------------------------------


def test_comes_back_to_report():
    learner = learner_of()
    batch = batch_of([one()] * 3 + [one(label=nan), BLANK, one(importance=2.0), one(importance=0.5), one()])
    learner.report_at = 2
    assert (learner.run(batch), learner.reason) == (2, Reason.REPORT)
    learner.report_at = 5.5  # unlabelled ones count
    assert (learner.run(batch, 2), learner.reason) == (6, Reason.REPORT)
    learner.report_at = 7.5
    assert (learner.run(batch, 6), learner.reason) == (8, Reason.REPORT)  # at the very end, too
    assert (learner.run(batch, 8), learner.reason) == (8, Reason.DONE)
    assert learner.progressive.weight + learner.unlabelled_weight == 7.5


def test_held_out_examples_do_not_hasten_a_report():
    learner = learner_of(holdout_period=2)
    learner.report_at = 2
    assert (learner.run(batch_of([one()] * 5)), learner.reason) == (3, Reason.REPORT)


def test_comes_back_for_a_checkpoint():
    learner = learner_of()
    learner.checkpoint_at = 3
    batch = batch_of([BLANK, one(), one(label=nan), one(), one()])
    assert (learner.run(batch), learner.reason) == (4, Reason.CHECKPOINT)
    learner.checkpoint_at = 10**9
    assert (learner.run(batch, 4), learner.reason) == (5, Reason.DONE)


def test_a_checkpoint_is_not_lost_behind_a_report():
    learner = learner_of()
    learner.checkpoint_at = learner.report_at = 2
    batch = batch_of([one()] * 5)
    reasons = []
    at = 0
    while at < 5:
        at = learner.run(batch, at)
        reasons.append(learner.reason)
        if learner.reason == Reason.REPORT:
            learner.report_at = inf
        if learner.reason == Reason.CHECKPOINT:
            learner.checkpoint_at = 10**9
    assert set(reasons) == {Reason.REPORT, Reason.CHECKPOINT, Reason.DONE}
    assert learner.examples == 5


def test_stops_on_request():
    learner = learner_of()
    learner.stop()
    batch = batch_of([one()] * 3)
    assert (learner.run(batch), learner.reason) == (0, Reason.STOPPED)
    assert (learner.run(batch, 2), learner.reason) == (2, Reason.STOPPED)
    assert learner.examples == 0
    assert learner.rule.t == 0


def test_stops_from_another_thread_after_a_whole_example():
    learner = learner_of()
    batch = batch_of([one(x=1e-3)] * 200_000)
    started = threading.Event()

    def stop():
        started.wait()
        learner.stop()

    thread = threading.Thread(target=stop)
    thread.start()
    done = 0
    started.set()
    for _ in range(1000):
        at = learner.run(batch)
        done += at
        if learner.reason == Reason.STOPPED:
            break
        learner.raw_predictions.take()
        learner.predictions.take()
    thread.join()
    assert learner.reason == Reason.STOPPED
    assert learner.examples == learner.rule.t == learner.lines == done


def test_diverging_comes_back_with_the_culprit_unlearned():
    learner = learner_of(rate=1e30)
    batch = batch_of([one(), one(x=1e30, key=6), one(x=1e30, key=6), one(key=7), one()])
    at = learner.run(batch)
    assert learner.reason == Reason.DIVERGED
    assert at == 2  # w = 1e60 exceeds a float
    assert learner.rule.t == 2
    assert learner.examples == 2
    assert len(learner.raw_predictions.take().splitlines()) == 2


def test_an_infinite_loss_is_divergence_too():
    learner = learner_of(Poisson(), rate=1.0)
    learner.run(batch_of([one(label=1000.0)]))
    assert (learner.run(batch_of([one(label=0.0)])), learner.reason) == (0, Reason.DIVERGED)
    # Without a label there is nothing to overflow.
    assert (learner.run(batch_of([one(label=nan)])), learner.reason) == (1, Reason.DONE)


def test_unlabelled_overflow_is_divergence_too():
    learner = learner_of()
    learner.run(batch_of([one(label=1e30)]))
    batch = batch_of([Line(nan, [(5, 3e38)] * 100)])
    assert (learner.run(batch), learner.reason) == (1, Reason.DONE)  # large, but a double
    learner = learner_of(learn=False)
    assert (learner.run(batch_of([Line(nan, [], initial=inf)])), learner.reason) == (0, Reason.DIVERGED)


def test_begin_beyond_the_end_is_refused():
    batch = batch_of([one()])
    learner = learner_of()
    assert learner.run(batch, 1) == 1
    with pytest.raises(IndexError):
        learner.run(batch, 2)
    assert learner.run(batch_of([])) == 0


# --- the range of predictions ----------------------------------------------------------------


def test_gd_clips_to_the_labels_seen():
    loss = Squared()
    rule = Gd(loss, rate=0.5)
    learner = Learner(rule, loss, Expander(constant=False), predictions=True, raw_predictions=True)
    learner.run(batch_of([one(label=2.0, initial=7.0)]))  # widened before the prediction is clipped
    assert learner.predictions.take() == b"2\n"
    assert learner.raw_predictions.take() == b"7\n"
    assert (learner.min_label, learner.max_label) == (0, 2)
    # Not widened by what is not learned.
    learner.run(batch_of([one(label=-5.0, initial=-9.0, importance=0.0), one(label=nan, initial=9.0)]))
    assert learner.predictions.take() == b"0\n2\n"
    learner.run(batch_of([one(label=-5.0, initial=-9.0)]))
    assert learner.predictions.take() == b"-5\n"
    held = Learner(Gd(loss), loss, Expander(), holdout_period=1)
    held.run(batch_of([one(label=3.0)]))
    assert (held.min_label, held.max_label) == (0, 0)
    assert held.holdout.loss == 9


def test_the_range_is_that_of_labels_that_were_learned():
    learner = learner_of(rule=Gd)
    assert learner.run(batch_of([one(label=-2.0), one(label=inf)])) == 1
    assert learner.reason == Reason.DIVERGED
    assert (learner.min_label, learner.max_label) == (-2, 0)


def test_gd_takes_log_means_of_44_at_most():
    """Beyond, the square of exp(p) exceeds a float, and a label of 100 does not make exp(100) sensible."""
    loss = Poisson()
    learner = Learner(Gd(loss), loss, Expander(constant=False), predictions=True)
    learner.min_label, learner.max_label = -50.0, 50.0
    learner.run(batch_of([one(label=100.0, initial=90.0), one(label=3.0, initial=-90.0)]))
    assert learner.predictions.take() == b"44\n-44\n"
    assert learner.reason == Reason.DONE


def test_a_range_of_log_means_includes_the_logarithms_of_labels():
    loss = Poisson()
    learner = Learner(Gd(loss), loss, Expander(constant=False))
    learner.min_label = learner.max_label = 1.0
    learner.run(batch_of([one(label=exp(3)), one(label=0.0), one(label=2.0, importance=0.0)]))
    assert (learner.min_label, learner.max_label) == (1, pytest.approx(3))
    learner.run(batch_of([one(label=exp(-2))]))
    assert (learner.min_label, learner.max_label) == pytest.approx((-2, 3))


def test_sgd_does_not_clip():
    learner = learner_of()
    learner.run(batch_of([one(initial=7.0)]))
    assert learner.predictions.take() == learner.raw_predictions.take() == b"7\n"


# --- what is written -------------------------------------------------------------------------


def test_tags_and_rejected_lines():
    learner = learner_of(learn=False)
    lines = [one(tag=b"first"), BLANK, one(tag="é|'".encode()), REJECTED, one(), one(tag=b"x" * 5000, initial=0.5)]
    learner.run(batch_of(lines))
    text = "0 first\n0 é|'\n\n0\n".encode() + b"0.5 " + b"x" * 5000 + b"\n"
    assert learner.raw_predictions.take() == text
    assert learner.predictions.take() == text
    assert learner.predictions.take() == b""


def test_nothing_is_written_unasked():
    loss = Squared()
    learner = Learner(Sgd(loss), loss, Expander())
    learner.run(batch_of([one(), REJECTED]))
    assert learner.predictions.take() == learner.raw_predictions.take() == b""


@pytest.mark.parametrize(
    ("link", "formula"),
    [
        ("identity", lambda p: p),
        ("logistic", lambda p: 1 / (1 + exp(-p)) if p > -700 else 0.0),
        ("glf1", lambda p: 2 / (1 + exp(-p)) - 1 if p > -700 else -1.0),
        ("poisson", exp),
        ("log", exp),
    ],
)
def test_links_change_the_text_only(link, formula):
    points = [-800.0, -30.0, -2.0, -0.1, 0.0, 0.7, 3.0, 20.0]
    loss = Hinge()
    learner = Learner(Sgd(loss), loss, Expander(), predictions=True, raw_predictions=True, link=link)
    learner.run(batch_of([Line(1.0, [], initial=p, importance=0.0) for p in points]))
    text = learner.predictions.take().decode().splitlines()
    assert [float(t) for t in text] == pytest.approx([formula(p) for p in points], rel=6e-8)  # of floats
    assert [float(t) for t in learner.raw_predictions.take().split()] == points
    assert learner.prediction == 20.0
    for p in points:
        assert learner.linked(p) == pytest.approx(formula(p), rel=1e-14)


def test_link_does_not_reach_the_loss():
    loss = Logistic()
    plain, linked = (Learner(Sgd(loss), loss, Expander(), link=link) for link in ("identity", "logistic"))
    stream = batch_of([one(), one(label=-1.0, x=2.0)] * 10)
    plain.run(stream)
    linked.run(stream)
    assert plain.progressive.loss == linked.progressive.loss
    assert bytes(plain.rule.slots()) == bytes(linked.rule.slots())


def test_unknown_link_is_refused():
    loss = Squared()
    with pytest.raises(KeyError):
        Learner(Sgd(loss), loss, Expander(), link="cubic")


@pytest.mark.parametrize("known", [False, True])
def test_a_dictionary_is_asked_for_again_when_the_table_changes(known):
    """Batches of one matrix share their columns: what is learned between them must not be lost."""
    x, y = np.ones((4, 2)), np.ones(4)
    matrix, learner, batch = Matrix(x, label=y), learner_of(rate=0.01), Batch()
    model = Learner(learner.rule, Squared(), learner.expander, learn=False, raw_predictions=True)
    before = column_weights(model, Matrix(x, label=y), batch)
    assert before == 0
    for keys in ([], [7], range(100, 3000)):  # nothing new; a new slot; so many new slots that all move
        learner.run(batch_of([Line(1, [(key, 1)]) for key in keys]))
        matrix = matrix if known else Matrix(x, label=y)
        matrix.fill(batch, 0)
        learner.run(batch)
        learner.raw_predictions.take()
        fresh = Learner(learner.rule, Squared(), learner.expander, learn=False, raw_predictions=True)
        after = column_weights(fresh, Matrix(x, label=y), batch)
        assert before < after < 1.2
        assert after == column_weights(model, matrix, batch)
        before = after


def column_weights(learner, matrix, batch):
    """What is predicted for the last row."""
    matrix.fill(batch, 0)
    learner.run(batch)
    return numbers(learner)[-1]
