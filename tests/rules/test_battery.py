"""One battery over all rules and losses: what must hold for every pair.

A new rule needs no line here: what it is tried with follows from its row in vwlite/algorithms/table.py.
"""

import importlib
from dataclasses import replace
from math import isnan, nan

import numpy as np
import pytest
from algorithm_options import FULL, OPTIONS, UNSEEN_WEIGHS, taken, usual_loss
from batches import Line, batch_of, learn
from losses import LOG_LINKED
from streams import random_stream
from tiers import drawn

from vwlite.algorithms.losses import LOSSES
from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import ALGORITHMS
from vwlite.core import Libraries
from vwlite.core.data.dictionary import Dictionary
from vwlite.core.learn.learner import Learner, Reason
from vwlite.core.learn.multiclass import Classifier
from vwlite.core.learn.rule import Rule
from vwlite.core.vw.coin import Coin
from vwlite.core.vw.freegrad import FreeGrad
from vwlite.core.vw.pistol import Pistol
from vwlite.model.learners import make_learner

pytestmark = pytest.mark.pairwise("battery")


def harsh(rule: str) -> dict[str, float]:
    """What makes nearly every weight zero; KeyError if nothing does."""
    strengths = {"round_at_end": 1e6, "l1": 1e5, "threshold": 1e6}
    strength = next((name for name in strengths if name in ALGORITHMS[rule].options), "")
    return {strength: strengths[strength]}


PAIRS = [(rule, loss) for rule in ALGORITHMS for loss in ALGORITHMS[rule].losses]
ELASTIC = [rule for rule in ALGORITHMS if "l2" in ALGORITHMS[rule].forms]
AVERAGED = [rule for rule in ALGORITHMS if "average" in ALGORITHMS[rule].options]
STEADY = [rule for rule in ALGORITHMS if "gravity" in ALGORITHMS[rule].options]
# The rules behind `vwlite vw` alone.
OF_VW = {"coin": Coin, "pistol": Pistol, "freegrad": FreeGrad}
# The other forms: rules that are classes of their own, and several classes in one table; the rule and its settings.
FORMS = {
    **{f"{rule} averaged": (rule, {"average": True}) for rule in AVERAGED},
    **{f"{rule} of constant gravity": (rule, {"gravity": "constant"}) for rule in STEADY},
    **{f"{rule} in a box": (rule, {"box": 0.4}) for rule in ALGORITHMS if "box" in ALGORITHMS[rule].forms},
    "l1-ball nonnegative": ("l1-ball", {"nonnegative": True}),
    **{f"{rule} limited": (rule, {"nonzeros": 20}) for rule in ALGORITHMS if "nonzeros" in ALGORITHMS[rule].options},
    **{f"{rule} with l2": (rule, {"l2": 0.1}) for rule in ELASTIC},
    **{f"{rule} with l2 limited": (rule, {"l2": 0.1, "nonzeros": 20}) for rule in ELASTIC if rule != "sgd"},
    **{f"{rule} with l2 in classes": (rule, {"l2": 0.1, "oaa": 3}) for rule in ELASTIC},
    **{f"{rule} with l2 softmax": (rule, {"l2": 0.1, "oaa": 3, "softmax": True}) for rule in ELASTIC},
    **{f"{rule} in classes": (rule, {"oaa": 3}) for rule in ALGORITHMS if rule not in FULL},
    **{rule: ("gd", {}) for rule in OF_VW},
    **{f"{rule} averaged in classes": (rule, {"average": True, "oaa": 3}) for rule in AVERAGED},
    **{f"{rule} normalized": (rule, {"normalize": how}) for rule, how in (("gd", "l2"), ("ftrl", "log"))},
    **{f"{rule} softmax": (rule, {"oaa": 3, "softmax": True}) for rule in ("sgd", "simplex", "adagrad", "ftrl")},
}
FORM_PAIRS = [
    (form, loss)
    for form, (rule, settings) in FORMS.items()
    for loss in ALGORITHMS[rule].losses
    if "oaa" not in settings or loss == usual_loss(rule)
    if form != "pistol" or loss not in LOG_LINKED  # whose weights grow too large for the logarithm of a mean
]
SPARSE_PAIRS = [
    pytest.param(
        rule,
        loss,
        marks=()
        if {"l1", "threshold"} & {*ALGORITHMS[rule].options}
        else pytest.mark.xfail(
            strict=True,
            raises=KeyError,
            reason="the projection onto a ball is on the ball, never empty"
            if "radius" in OPTIONS[rule]
            else f"{rule} has nothing that makes weights zero",
        ),
    )
    for rule, loss in PAIRS
]


def rate_for(loss: str) -> float:
    rates = {"squared": 0.005, "logistic": 0.2, "squared-hinge": 0.005, "huber": 0.05}
    rates |= dict.fromkeys(LOG_LINKED, 0.005)
    return rates.get(loss, 0.1)


def fresh(rule: str, loss: str, *, learn: bool = True, extra: dict | None = None, **settings) -> Learner:
    """A learner that has seen nothing."""
    of_vw = OF_VW.get(rule)
    rule, form = FORMS.get(rule, (rule, {}))
    options = form | (OPTIONS[rule] if extra is None else extra)
    settings = {"bits": 32, "learning_rate": 0.5 if rule == "gd" else rate_for(loss)} | settings
    return make_learner(
        replace(Settings.of(rule), loss=loss, **settings, **options),
        of_vw,
        learn=learn,
        predictions=True,
        raw_predictions=True,
    )


def stream_for(rule: str, loss: str, seed: int, lines: int = 200, keys: int = 300, **options) -> list[Line]:
    if rule in FULL:
        lines, keys = min(lines, 60), min(keys, 20)
    stream = random_stream(seed, lines, loss=loss, keys=keys, **({"scales": False} | options))
    if "oaa" in FORMS.get(rule, (rule, {}))[1]:
        return [
            line if isnan(line.label) else line._replace(label=1.0 + (line.label > 0) * (1 + i % 2))
            for i, line in enumerate(stream)
        ]
    if rule == "freegrad":  # an importance below 1 can make its V negative, in Vowpal Wabbit too
        return [line._replace(importance=float(round(line.importance + 0.3))) for line in stream]
    return stream


def go(
    learner: Learner, stream: list[Line], cut: int | None = None, *, numbered: bool = False,
    dictionary: Dictionary | None = None,
) -> bytes:
    """Run over the stream in batches of `cut` lines, numbered each by itself or by one dictionary; the raw predictions
    as text."""
    cut = cut or len(stream) or 1
    for begin in range(0, len(stream), cut):
        batch = batch_of(stream[begin : begin + cut], numbered=numbered or dictionary is not None)
        assert dictionary is None or dictionary.renumber(batch)
        assert learn(learner, batch) == len(batch)
        assert learner.reason == Reason.DONE
    return learner.raw_predictions.take()


def state_of(learner: Learner) -> tuple[dict, tuple[float, float], np.ndarray]:
    """All that a model file keeps: the slots in order of keys, without what is only of this process."""
    rule = learner.rule
    layout = np.dtype(rule.SLOT, align=True)
    slots = np.frombuffer(bytes(rule.slots()), dtype=layout)
    clean = np.zeros_like(slots)
    for name, _ in rule.SLOT:
        if not name.startswith("_"):
            clean[name] = slots[name]
    return rule.scalars(), (learner.min_label, learner.max_label), clean[np.argsort(clean["mark"], kind="stable")]


def bits_of(state) -> tuple[str, bytes]:
    scalars, label_range, slots = state
    plain = {name: x.tobytes() if isinstance(x, memoryview) else x for name, x in scalars.items()}
    return repr((plain, label_range)), b"".join(slots[name].tobytes() for name in slots.dtype.names)


def restored(learner: Learner, state) -> Learner:
    """A new learner that continues from a state."""
    scalars, label_range, slots = state
    learner.rule.load(scalars, slots.view(np.uint8).reshape(-1))
    learner.min_label, learner.max_label = label_range
    return learner


def weights_of(learner: Learner) -> dict[int, float]:
    """The weights that are not zero, by key."""
    slots = learner.rule.slots()
    marks = np.frombuffer(bytes(slots), dtype=np.dtype(learner.rule.SLOT, align=True))["mark"]
    out = np.zeros(len(marks))
    learner.rule.weights(slots, out)
    return {(int(m) - 1) & 0xFFFFFFFF: w for m, w in zip(marks, out, strict=True) if w != 0}


def assert_close(ours: dict[int, float], theirs: dict[int, float], tolerance: float) -> None:
    assert max(map(abs, theirs.values())) > 1e-3
    largest = max(map(abs, theirs.values()))
    for key in ours.keys() | theirs.keys():
        assert ours.get(key, 0) == pytest.approx(theirs.get(key, 0), rel=tolerance, abs=tolerance * largest), key


def subclasses(base: type) -> set[type]:
    return {base}.union(*map(subclasses, base.__subclasses__()))


def test_every_slot_struct_has_the_size_of_its_fields():
    for module in Libraries.modules:
        importlib.import_module(module)
    found = subclasses(Rule) - subclasses(Classifier)  # those have the slots of their rules
    assert len(found) > 30
    for rule in found:
        assert ("SLOT" in vars(rule)) == ("SLOT_BYTES" in vars(rule)), rule
        assert rule.slot_size() == rule.SLOT_BYTES == np.dtype(rule.SLOT, align=True).itemsize, rule


@pytest.mark.parametrize(("rule", "loss"), PAIRS + FORM_PAIRS)
def test_predicting_changes_no_bit(rule, loss):
    learner = fresh(rule, loss)
    go(learner, stream_for(rule, loss, 1))
    before, size = bits_of(state_of(learner)), len(learner.rule)
    unseen = stream_for(rule, loss, 2, keys=3000)
    for line in unseen[::3]:  # without a label, with no weight, with features that are unseen
        learner.run(batch_of([line._replace(label=nan)]))
        learner.run(batch_of([line._replace(importance=0.0)]))
    learner.rule.count_nonzero()
    weights_of(learner)
    assert bits_of(state_of(learner)) == before
    assert len(learner.rule) == size

    predictor = restored(fresh(rule, loss, learn=False), state_of(learner))
    first = go(predictor, unseen)
    assert bits_of(state_of(predictor)) == before
    assert go(predictor, unseen) == first
    assert (
        go(restored(fresh(rule, loss, learn=False), state_of(learner)), unseen[::-1]).splitlines()
        == first.splitlines()[::-1]
    )


@pytest.mark.parametrize("bits", [32, 7])
@pytest.mark.parametrize(("rule", "loss"), PAIRS + FORM_PAIRS)
def test_numbered_features_leave_no_trace(rule, loss, bits):
    stream = [
        line._replace(label=nan) if i % 7 == 3 else line._replace(importance=0.0) if i % 7 == 5 else line
        for i, line in enumerate(stream_for(rule, loss, 21, lines=100))
    ]
    plain, numbered, together = (fresh(rule, loss, bits=bits) for _ in range(3))
    dictionary = Dictionary()
    for cut in (70, 1, None):
        expected = go(plain, stream, 60)
        assert go(numbered, stream, cut, numbered=True) == expected
        assert go(together, stream, cut, dictionary=dictionary) == expected
    assert bits_of(state_of(numbered)) == bits_of(state_of(together)) == bits_of(state_of(plain))
    predictor = restored(fresh(rule, loss, bits=bits, learn=False), state_of(plain))
    unseen = stream_for(rule, loss, 22, lines=100, keys=3000)
    size = len(predictor.rule)
    expected = go(predictor, unseen, 50)
    assert go(predictor, unseen, 50, numbered=True) == go(predictor, unseen, 50, dictionary=dictionary) == expected
    assert len(predictor.rule) == size


@pytest.mark.parametrize(("rule", "loss"), PAIRS)
def test_unseen_features_are_harmless(rule, loss):
    learner = fresh(rule, loss)
    go(learner, stream_for(rule, loss, 3))
    predictor = restored(fresh(rule, loss, learn=False), state_of(learner))
    plain = [line for line in stream_for(rule, loss, 3)[:50] if line.kind == 0]
    unseen = [(0xFFFFFFFF, 3.0), (0, -2.0), (77, 1e30)]
    if rule in UNSEEN_WEIGHS:
        unseen[2] = (77, -1.0)  # they all weigh the same
    with_unseen = [line._replace(features=[*line.features, *unseen]) for line in plain]
    assert go(predictor, with_unseen) == go(predictor, plain)


@pytest.mark.parametrize(("rule", "loss"), PAIRS)
def test_order_of_features_does_not_matter(rule, loss):
    stream = stream_for(rule, loss, 4, repeats=False)
    rng = np.random.default_rng(5)
    shuffled = [
        line._replace(features=[line.features[i] for i in rng.permutation(len(line.features))]) for line in stream
    ]
    assert shuffled != stream
    one, other = fresh(rule, loss), fresh(rule, loss)
    go(one, stream)
    go(other, shuffled)
    assert_close(weights_of(one), weights_of(other), 1e-4)


@pytest.mark.parametrize(("rule", "loss"), PAIRS + FORM_PAIRS)
def test_batch_boundaries_are_invisible(rule, loss):
    stream = stream_for(rule, loss, 6, lines=300, keys=2000)
    whole = fresh(rule, loss)
    text, state = go(whole, stream), bits_of(state_of(whole))
    for cut in (1, 7, 250):
        learner = fresh(rule, loss)
        assert go(learner, stream, cut) == text
        assert bits_of(state_of(learner)) == state


@pytest.mark.parametrize(("rule", "loss"), PAIRS + FORM_PAIRS)
def test_save_load_continue_equals_never_stopping(rule, loss):
    """At many places, some of them around the growth of the table."""
    stream = stream_for(rule, loss, 7, lines=300, keys=4000, width=25)
    straight, sizes, text = fresh(rule, loss), [], []
    for line in stream:
        text.append(go(straight, [line]))
        sizes.append(straight.rule.table_bytes)
    end = bits_of(state_of(straight))
    grown = [i for i in range(1, len(sizes)) if sizes[i] != sizes[i - 1]]
    if rule in ("gd", "sgd"):  # the others forget most of them
        assert len(grown) >= 1
    cuts = {1, 50, 123, len(stream) // 2, len(stream) - 1} | {i + d for i in grown for d in (-1, 0, 1)}
    straight, done = fresh(rule, loss), 0
    for cut in sorted(cuts):
        go(straight, stream[done:cut])
        state, done = state_of(straight), cut
        learner = restored(fresh(rule, loss), state)
        assert bits_of(state_of(learner)) == bits_of(state)
        assert go(learner, stream[cut:]) == b"".join(text[cut:]), cut
        assert bits_of(state_of(learner)) == end, cut
    again = fresh(rule, loss)  # stopping all the time
    for begin in range(0, len(stream), 20):
        again = restored(fresh(rule, loss), state_of(again))
        go(again, stream[begin : begin + 20])
    assert bits_of(state_of(again)) == end


@pytest.mark.drawn
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_the_order_of_the_heap_is_invisible(loss):
    """A rebuilt heap drops the same features in another order; the sum S must not depend on it."""
    radius, rate, keys = {"squared": (5.0, 0.05, 3000), "logistic": (20.0, 1.0, 3000), "hinge": (3.0, 0.5, 300)}[loss]
    settings = {"extra": {"radius": radius}, "learning_rate": rate}
    for seed in range(drawn(3)):
        stream = stream_for("l1-ball", loss, 100 + seed, lines=1200, keys=keys, width=30)
        straight = fresh("l1-ball", loss, **settings)
        states = [state_of(straight) for line in stream if go(straight, [line]) is not None]
        assert len(states[-1][2]) > 50
        for cut in range(20, 1200, 100):
            again = restored(fresh("l1-ball", loss, **settings), states[cut - 1])
            go(again, stream[cut:])
            assert bits_of(state_of(again)) == bits_of(states[-1]), cut


@pytest.mark.parametrize(("rule", "loss"), SPARSE_PAIRS)
def test_harsh_regularization_gives_an_empty_model(rule, loss):
    learner = fresh(rule, loss, extra=harsh(rule))
    stream = stream_for(rule, loss, 8)
    go(learner, stream)
    assert learner.rule.t > len(stream) // 4
    learner.rule.final = True
    assert learner.rule.count_nonzero() == 0
    nonzero = weights_of(learner)
    assert set(nonzero) <= {learner.expander.constant_key}
    if rule != "gd":  # where the constant pays too
        assert nonzero


@pytest.mark.parametrize(("rule", "loss"), PAIRS + FORM_PAIRS)
def test_zero_importance_learns_nothing(rule, loss):
    learner = fresh(rule, loss)
    before, size = bits_of(state_of(learner)), len(learner.rule)
    go(learner, [line._replace(importance=0.0) for line in stream_for(rule, loss, 9)])
    assert bits_of(state_of(learner)) == before
    assert len(learner.rule) == size

    stream = stream_for(rule, loss, 10, rare=False)
    zeros = stream_for(rule, loss, 11, rare=False)
    mixed = [line for pair in zip(stream, zeros, strict=True) for line in (pair[0], pair[1]._replace(importance=0.0))]
    one, other = fresh(rule, loss), fresh(rule, loss)
    go(one, stream)
    go(other, mixed)
    assert bits_of(state_of(one)) == bits_of(state_of(other))


@pytest.mark.parametrize(("rule", "loss"), PAIRS)
def test_importance_counts(rule, loss):
    """Importance 2 moves further than 1; for the invariant rule it moves about as two examples do."""
    stream = stream_for(rule, loss, 12, rare=False, repeats=False)[:60]
    free = {"threshold": 1e-9, "radius": 1e6, "pa_c": 0.01, "ftrl_alpha": 0.01}  # nothing holds back
    extra = OPTIONS[rule] if ALGORITHMS[rule].all_keys else taken(ALGORITHMS[rule], free)
    settings = {}
    if rule.startswith("adagrad"):  # whose steps do not grow with the gradient, unless delta is large
        extra, settings = extra | {"delta": 100.0}, {"learning_rate": 10 * rate_for(loss)}
    last = next(line for line in stream[30:] if len(line.features) > 6)
    if LOSSES[loss].labels != "binary":  # far from anything predicted so far
        last = last._replace(label=9.0)

    def after(lines: list[Line]) -> float:
        learner = fresh(rule, loss, extra=extra, **settings)
        go(learner, stream)
        go(learner, lines)
        return float(go(learner, [last._replace(label=nan)]))

    if rule == "pa":  # makes the loss zero, however important it is
        at_first, once, double = (after(lines) for lines in ([], [last], [last._replace(importance=2.0)]))
        assert double == once == pytest.approx(last.label, abs=1e-5) != at_first
        return
    at_first, once, double, twice = (
        after(lines) for lines in ([], [last], [last._replace(importance=2.0)], [last, last])
    )
    assert abs(double - at_first) > abs(once - at_first) > 0
    assert abs(twice - at_first) > abs(once - at_first)
    if rule == "gd":
        # G and S differ: g2 is counted at the first prediction, for both halves.
        assert double - at_first == pytest.approx(twice - at_first, rel=0.35)


@pytest.mark.parametrize(("rule", "loss"), PAIRS)
def test_count_of_nonzero_weights_leaves_the_constant_out(rule, loss):
    for bits, constant in [(32, True), (5, True), (32, False)]:
        learner = fresh(rule, loss, bits=bits, constant=constant)
        go(learner, stream_for(rule, loss, 13))
        nonzero = set(weights_of(learner)) - {learner.expander.constant_key}
        assert learner.rule.count_nonzero() == len(nonzero) > 0


@pytest.mark.parametrize(("rule", "loss"), PAIRS)
def test_the_last_key_is_a_feature_like_any_other(rule, loss):
    """2^32 - 1 is stored separately in the table. Giving it to another feature changes nothing else."""
    stream = stream_for(rule, loss, 14)
    popular = stream_for(rule, loss, 14, rare=False)[0].features[0][0]
    renamed = [
        line._replace(features=[(0xFFFFFFFF if h == popular else h, x) for h, x in line.features]) for line in stream
    ]
    for constant in (True, False):
        one, other = fresh(rule, loss, constant=constant), fresh(rule, loss, constant=constant)
        assert go(one, stream) == go(other, renamed)
        ours, theirs = weights_of(one), weights_of(other)
        assert (popular in ours) == (0xFFFFFFFF in theirs)
        if popular in ours:
            theirs[popular] = theirs.pop(0xFFFFFFFF)
        assert ours == theirs
        assert one.rule.count_nonzero() == other.rule.count_nonzero()
        again = restored(fresh(rule, loss, constant=constant), state_of(other))
        assert go(again, renamed) == go(one, stream)


@pytest.mark.parametrize(("rule", "loss"), PAIRS)
def test_wildcards_survive_a_restart(rule, loss):
    """Which namespaces have been seen is not in the model, and need not be."""
    rng = np.random.default_rng(15)
    stream = []
    # A full matrix is over the pairs of features: of few.
    for line in stream_for(rule, loss, 16, lines=150, width=2 if rule in FULL else 6):
        size = len(line.features)
        first = int(rng.integers(0, size + 1))
        letters = rng.choice(list(b"abcd"), 2, replace=False)
        spans = [(int(letter), n) for letter, n in zip(letters, (first, size - first), strict=True) if n]
        stream.append(line._replace(spans=spans))
    settings = {"interactions": ("::", "a::"), "learning_rate": 0.3 if rule == "gd" else rate_for(loss) / 20}
    straight, started = fresh(rule, loss, **settings), fresh(rule, loss, **settings)
    text = go(straight, stream)
    head = go(started, stream[:75])
    tail = go(restored(fresh(rule, loss, **settings), state_of(started)), stream[75:])
    assert head + tail == text


def test_settings_of_the_battery_reach_the_rule():
    """That options are not lost on the way: another value gives another model."""
    stream = stream_for("truncated-gradient", "logistic", 17)
    models = {
        repr(extra): bits_of(state_of(learner))
        for extra in ({}, {"l1": 0.01}, {"l1": 0.01, "period": 7}, {"l1": 0.01, "threshold": 0.1})
        for learner in [fresh("truncated-gradient", "logistic", extra=extra)]
        if go(learner, stream)
    }
    assert len(set(models.values())) == 4
    assert replace(Settings(), l1=1.0) != Settings()
