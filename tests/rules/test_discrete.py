"""Streams of few features with few different values, where weights meet each other, and 0, to the last bit.

Values that are drawn from a continuum never tie. Each rule is compared to its reference after each example, both with
the prediction of the compiled one, so that no kink of a loss is decided by a last bit; and a model that is cut off
anywhere and continued is, byte for byte, as if it had never stopped.

`make test-long` draws two hundred times as many streams.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
import slow_rules
from algorithm_options import IN_FLOATS, MANY, UNSEEN_WEIGHS, taken
from batches import Line, batch_of
from losses import LOG_LINKED
from streams import CONSTANT

from vwlite.algorithms.losses import LOSSES as TABLE
from vwlite.algorithms.rules import rule_class
from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import ALGORITHMS
from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Learner, Reason
from vwlite.core.learn.rule import Rule
from vwlite.model import Model
from vwlite.model.learners import make_learner, restore
from vwlite.model.snapshot import snapshot

STREAMS = 30  # of each kind
VALUES = [(1.0,), (1.0, -1.0), (0.5, 1.0, 2.0), (1.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0), (0.1, 0.2, 0.3, -0.1)]
LABELS = {
    "any": (-1.0, 0.0, 0.5, 1.0, 2.0, 4.0),
    "binary": (-1.0, 1.0),
    "nonnegative": (0.0, 1.0, 2.0),
    "positive": (0.25, 1.0, 2.0),
}
LOSSES = {name: getattr(slow_rules, row.kind) for name, row in TABLE.items()}
RATES = (0.03, 0.1, 0.25, 0.5, 1.0)
# What an option is drawn from, if an algorithm has it.
DRAWN: dict[str, tuple[Any, ...]] = {
    "l1": (0.0, 0.05, 0.1, 0.25, 0.5),
    "radius": (0.1, 0.25, 0.3, 0.5, 1.0, 1.5, 2.0, 4.0),
    "delta": (1e-8, 0.5, 1.0),
    "period": (1, 2, 3),
    "threshold": (0.1, 0.3, 0.25, 0.5),
    "pa_c": (0.1, 0.5, 1.0),
    "arow_r": (0.1, 0.5, 1.0),
    "ftrl_alpha": (0.1, 0.5),
    "ftrl_beta": (1.0, 0.5, 0.01),
}
# Where the rule decides by an equality, |w| < theta or w = 0, the reference rounds the two sides otherwise: numbers
# that are not rounded at all.
EXACT = {"loss": ("hinge", "quantile"), "learning_rate": (0.25, 0.5, 1.0), "power_t": (0.0,)}
BALLS = ("l1-ball", "nonnegative", "box", "feature weights", "feature weights and box", "adagrad-ball")


class Kind(NamedTuple):
    """An algorithm with options to draw from, and its reference."""

    algorithm: str
    reference: Any = None  # None: there is only continuing
    options: Mapping[str, Sequence[Any]] = {}
    tolerance: float = 1e-9


def of_row(name: str, own: Mapping[str, Sequence[Any]] = MappingProxyType({})) -> Kind:
    """With all of its options that can be drawn; own: where they are not the usual ones."""
    row = ALGORITHMS[name]
    reference = getattr(slow_rules, rule_class(row.rule).__name__)
    return Kind(name, reference, own | taken(row, DRAWN | own), 1e-5 if name in IN_FLOATS else 1e-9)


RADIUS, L1 = ({option: DRAWN[option]} for option in ("radius", "l1"))
KINDS = {name: of_row(name) for name in MANY} | {
    "truncated-gradient": of_row("truncated-gradient", {"threshold": (*DRAWN["threshold"], None)}),
    "rounding": of_row("rounding", EXACT | {"threshold": (0.125, 0.25, 0.5)}),
    "l1-subgradient": of_row("l1-subgradient", EXACT | {"l1": (0.0, 0.25, 0.5)}),
    "l1-subgradient, rounded": Kind("l1-subgradient", None, L1),
    "nonnegative": Kind("l1-ball", slow_rules.L1Ball, RADIUS | {"nonnegative": (True,)}),
    "box": Kind("l1-ball", slow_rules.WeightedL1Ball, RADIUS | {"box": (0.1, 0.25, 0.5, 1.0)}),
    "feature weights": Kind("l1-ball", slow_rules.WeightedL1Ball, RADIUS | {"feature_weights": (True,)}),
    "feature weights and box": Kind(
        "l1-ball", slow_rules.WeightedL1Ball, RADIUS | {"feature_weights": (True,), "box": (0.1, 0.5)}
    ),
    "gd": Kind("gd", None, L1),
}
AVERAGED = {f"average of {name}": KINDS[name] for name in ("sgd", "truncated-gradient", "l1-ball", "adagrad")}
LIMITED = {f"nonzeros of {name}": KINDS[name] for name in ("truncated-gradient", "l1-ball", "adagrad", "ftrl")}
SEVERAL = {f"{name} for classes": KINDS[name] for name in ("l1-ball", "nonnegative", "simplex", "eg", "adagrad-ball")}
CONTINUED = KINDS | AVERAGED | LIMITED | SEVERAL


class Case(NamedTuple):
    settings: Settings
    options: dict[str, Any]  # of the algorithm, as drawn
    a: dict[int, float]  # feature weights, by key
    lines: list[Line]
    keys: list[int]  # of all features that may come, and of the constant

    @property
    def constant(self) -> int | None:
        return CONSTANT & ((1 << self.settings.bits) - 1) if self.settings.constant else None

    @property
    def penalized(self) -> np.ndarray:
        return np.array([key != self.constant for key in self.keys])


def draw(name: str, seed: int) -> Case:
    """A short stream of a kind; often with features that collide, with each other or with the constant."""
    chance = random.Random(f"{name} {seed}")
    kind, choice = CONTINUED[name], chance.choice
    algorithm = ALGORITHMS[kind.algorithm]
    drawn = {"loss": algorithm.losses} | ({"learning_rate": RATES, "power_t": (0.0, 0.5)} if algorithm.schedule else {})
    options = {option: choice(values) for option, values in (drawn | dict(kind.options)).items()}
    if algorithm.schedule and options["loss"] in ("squared", *LOG_LINKED) and "radius" not in options:
        options["learning_rate"] = choice((0.03, 0.05))  # what no ball holds back
    if options["loss"] in LOG_LINKED:
        options["loss"] = "squared" if "radius" in options else options["loss"]  # nor is the constant held back
    count, bits = choice((1, 2, 3, 3, 4, 6)), choice((32, 32, 3, 2, 1))
    case = Case(replace(Settings.of(kind.algorithm), bits=bits, constant=choice((True, False, False))), {}, {}, [], [])
    seen = {key & ((1 << bits) - 1) for key in range(count)}
    if seen == {case.constant}:  # no feature at all
        case = case._replace(settings=replace(case.settings, constant=False))
    keys = sorted(seen | ({case.constant} if case.constant is not None else set()))
    if name in AVERAGED:
        options["average"] = True
    if name in LIMITED:
        options["nonzeros"] = choice((1, 2))
    if name in SEVERAL:
        options |= {"oaa": 3, "softmax": choice((True, False))}
    if algorithm.all_keys:
        options["features"] = max(len(keys) - (case.constant is not None) + choice((0, 0, 1, 5)), 1)
    a = {key: choice((0.0, 0.1, 0.5, 1.0, 2.0)) for key in keys} if "feature_weights" in options else {}
    settings = replace(case.settings, **options)
    labels = (1.0, 2.0, 3.0) if settings.oaa else LABELS[TABLE[settings.loss].labels]
    return Case(settings, options, a, list(lines(chance, labels, count)), keys)


def lines(chance: random.Random, labels: Sequence[float], count: int) -> Iterator[Line]:
    choice = chance.choice
    values = choice(VALUES)
    for _ in range(chance.randrange(4, 16)):
        features = [chance.randrange(count) for _ in range(chance.randrange(count + 2))]
        if chance.random() < 0.7:  # else some come twice
            features = list(dict.fromkeys(features))
        label = nan if chance.random() < 0.05 else choice(labels)
        importance = 0.0 if chance.random() < 0.03 else choice((1.0, 1.0, 1.0, 0.5, 2.0))
        yield Line(label, [(key, float(np.float32(choice(values)))) for key in features], importance)


def learner_of(case: Case) -> Learner:
    learner = make_learner(case.settings)
    if case.a:
        learner.rule.set_weights(np.array(list(case.a), np.uint32), np.array(list(case.a.values())))
    learner.begin_pass()
    return learner


def reference_of(name: str, case: Case) -> Any:
    names = {"learning_rate": "rate", "quantile_tau": "tau"}
    options = {names.get(option, option): value for option, value in case.options.items()}
    loss = LOSSES[options.pop("loss")]()
    if options.pop("feature_weights", False):
        options["a"] = [case.a[key] for key in case.keys]
    if options.get("threshold", 1) is None:
        del options["threshold"]
    constant = case.keys.index(case.constant) if case.constant is not None else None
    return KINDS[name].reference(loss, len(case.keys), constant_key=constant, **options)


def weights_of(case: Case, rule: Rule) -> np.ndarray:
    """The weights of all keys, those without a slot too: a row for each class."""
    slots = rule.slots()
    marks = np.frombuffer(bytes(slots), np.dtype(rule.SLOT, align=True))["mark"][:: rule.records]
    found = np.zeros(len(marks) * rule.records)
    rule.weights(slots, found)
    rows = dict(zip((marks - np.uint32(1)).tolist(), found.reshape(-1, rule.records), strict=True))
    unseen = rule.scalars().get("unseen", 0.0)
    return np.stack([rows.get(key, np.broadcast_to(unseen, rule.records)) for key in case.keys], axis=1)


def assert_inside(name: str, case: Case, rule: Rule, weights: np.ndarray, label: str) -> None:
    """Each class's weights are in the ball, or on the simplex, and the rule's books are right."""
    radius, off = case.settings.radius, 1e-9 * case.settings.radius
    penalized = case.penalized
    a = np.array([case.a.get(key, 1.0) for key in case.keys])
    for w in weights:
        norm = float((a * np.abs(w))[penalized].sum())
        if kind_of(name) in UNSEEN_WEIGHS:
            assert (w[penalized] >= 0).all(), label
            rest = (case.settings.features - penalized.sum()) * (rule.unseen if rule.records == 1 else 0)
            assert rule.records > 1 or abs(norm + rest - radius) <= off, label
        assert norm <= radius + off, label
    if rule.records > 1:
        return
    if kind_of(name) in BALLS:
        assert abs(rule.norm - norm) <= off, label
        assert rule.active == np.count_nonzero(w[penalized & (a > 0)]), label
    if kind_of(name) == "simplex":
        assert rule.touched == rule.active + rule.zeros, label


def kind_of(name: str) -> str:
    return name.removesuffix(" for classes")


def learn_beside_its_reference(name: str, seed: int) -> int:
    """How many examples were learned."""
    case = draw(name, seed)
    learner, reference, tolerance = learner_of(case), reference_of(name, case), KINDS[name].tolerance
    for number, line in enumerate(case.lines):
        label = f"{name}, seed {seed}, example {number}"
        assert learner.run(batch_of([line])) == 1, label
        p, mask = learner.prediction, (1 << case.settings.bits) - 1
        keys = [case.keys.index(key & mask) for key, _ in line.features]
        values = [x for _, x in line.features]
        if case.constant is not None:
            keys, values = [*keys, case.keys.index(case.constant)], [*values, 1.0]
        scale = max(1.0, np.abs(reference.weights).max())
        if scale > 1e3:
            return number
        assert abs(p - reference.predict(keys, values)) <= 20 * tolerance * scale, label
        if not isnan(line.label) and line.importance > 0:
            reference.learn(keys, values, p, line.label, line.importance)
        if name == "adagrad-ball":
            # It keeps H |w| + Theta: each touched weight has the digits of Theta / H alone, and what one lacks of the
            # radius is the others'. A smallest H near delta = 1e-8 has more than the tolerance.
            least = reference.delta + np.sqrt(reference.squares[reference.squares > 0].min(initial=np.inf))
            tolerance = max(tolerance, 4 * np.spacing(learner.rule.shift) / least)
        weights = weights_of(case, learner.rule)
        scale = max(1.0, np.abs(reference.weights).max())
        if not scale <= 1e3:
            return number
        np.testing.assert_allclose(weights[0], reference.weights, rtol=tolerance, atol=tolerance * scale, err_msg=label)
        if case.settings.radius is not None:
            assert_inside(name, case, learner.rule, weights, label)
    return len(case.lines)


REFERENCES = [name for name, kind in KINDS.items() if kind.reference]


@pytest.mark.parametrize("name", REFERENCES)
def test_each_rule_agrees_with_its_reference_after_every_example(name: str) -> None:
    assert sum(learn_beside_its_reference(name, seed) for seed in range(STREAMS)) > 5 * STREAMS


@pytest.mark.long
@pytest.mark.parametrize("name", REFERENCES)
def test_each_rule_agrees_with_its_reference_on_many_streams(name: str) -> None:
    for seed in range(STREAMS, 200 * STREAMS):
        learn_beside_its_reference(name, seed)


# --- continuing ------------------------------------------------------------------------------------


def as_bytes(model: Model) -> list[object]:
    """The state from which learning continues, and the weights."""
    arrays = {"keys": model.keys, "weights": model.weights} | model.state | model.more
    return [model.rule, model.range, *((name, array.tobytes()) for name, array in arrays.items())]


def model_of(case: Case, learner: Learner) -> Model:
    """As at the end of a run."""
    learner.rule.final = True
    model = snapshot(learner, case.settings, {})
    learner.rule.final = False
    return model


def cut_everywhere(name: str, seed: int) -> int:
    """How many cuts there were."""
    case = draw(name, seed)
    batches: list[Batch] = [batch_of([line]) for line in case.lines]
    whole, looked_at = learner_of(case), learner_of(case)
    models = [model_of(case, looked_at)]
    for number, batch in enumerate(batches):
        if whole.run(batch) == 0:  # it has diverged
            assert whole.reason == Reason.DIVERGED
            batches = batches[:number]
            break
        assert looked_at.run(batch) == 1
        models.append(model_of(case, looked_at))
        if name in SEVERAL:
            label = f"{name}, seed {seed}, example {number}"
            assert_inside(name, case, looked_at.rule, weights_of(case, looked_at.rule), label)
    end = as_bytes(model_of(case, whole))
    assert as_bytes(models[-1]) == end, f"{name}, seed {seed}: looking at it changes it"
    for cut, model in enumerate(models):
        label = f"{name}, seed {seed}, cut before example {cut}"
        learner = restore(model, case.settings, "model")
        learner.begin_pass()
        assert as_bytes(model_of(case, learner)) == as_bytes(model), f"{label}: loading changes it"
        for batch in batches[cut:]:
            assert learner.run(batch) == 1, label
        assert as_bytes(model_of(case, learner)) == end, label
    return len(models)


@pytest.mark.parametrize("name", CONTINUED)
def test_a_model_that_is_cut_off_anywhere_continues_byte_for_byte(name: str) -> None:
    assert sum(cut_everywhere(name, seed) for seed in range(STREAMS // 2)) > 3 * STREAMS


@pytest.mark.long
@pytest.mark.parametrize("name", CONTINUED)
def test_many_models_that_are_cut_off_anywhere_continue_byte_for_byte(name: str) -> None:
    for seed in range(STREAMS // 2, 100 * STREAMS):
        cut_everywhere(name, seed)
