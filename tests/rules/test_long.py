"""What must hold after every single example of a long run, however often sums are recomputed on the way.

`make test` has 80,000 examples of some kinds; `make test-long` has a million of all, and other balls and
steps.

A look at the weights is cheap, as the features are few and the compiled core looks: to a second learner over the same
rule, which only predicts, an example is one feature with the label 0, so that its loss is |w| / 2, its importance what
the feature counts in the norm. It sees what the table says, never the sums that the rule keeps.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from batches import Line, batch_of
from tiers import ALL

from vwlite.core.data.batch import Batch
from vwlite.core.data.expand import Expander
from vwlite.core.learn.learner import Learner, Reason
from vwlite.core.learn.losses import Hinge, Loss, Quantile, Squared
from vwlite.core.learn.rule import Rule
from vwlite.core.rules.adagrad_ball import AdagradBall
from vwlite.core.rules.eg import Eg, EgPm
from vwlite.core.rules.l1_ball import L1Ball, WeightedL1Ball
from vwlite.core.rules.simplex import Simplex

EXAMPLES = 1_000_000 if ALL else 80_000
pytestmark = pytest.mark.drawn
FEATURES, WIDTH = 30, 4
UNTOUCHED = 3  # of the features are in no example
POOL = 4096  # examples, of which the stream is made
KEYS = np.arange(FEATURES, dtype=np.uint32)


def pool_of(seed: int, loss: str) -> list[Line]:
    """Examples of a noisy linear model, with values of many sizes; a quarter of the labels tells nothing."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, FEATURES)
    lines = []
    for _ in range(POOL):
        keys = rng.choice(FEATURES - UNTOUCHED, WIDTH, replace=False)
        x = (rng.normal(0, 1, WIDTH) * 10.0 ** rng.integers(-2, 2, WIDTH)).astype(np.float32)
        score = float(truth[keys] @ x) + float(rng.normal(0, 1))
        if rng.random() < 0.25:
            score = float(rng.normal(0, 1))
        label = score if loss == "squared" else float(np.sign(score))
        lines.append(Line(label, [(int(k), float(v)) for k, v in zip(keys, x, strict=True)]))
    return lines


def learner_over(rule: Rule, loss: Loss, **options: object) -> Learner:
    return Learner(rule, loss, Expander(bits=32, constant=False), **options)


def stream(seed: int, examples: int = EXAMPLES) -> Iterator[Batch]:
    """Batches of one example each: those of the pool in ever new orders."""
    rng = np.random.default_rng(seed)
    batches = [batch_of([line]) for line in pool_of(seed, "hinge")]
    while examples:
        order = rng.permutation(POOL)[:examples]
        examples -= len(order)
        for i in order.tolist():
            yield batches[i]


def norm_of(rule: Rule, a: np.ndarray) -> Callable[[], float]:
    """What gives the sum of a |w|, as it is when it is called."""
    looker = learner_over(rule, Quantile(0.5), learn=False)
    look, features = looker.run, batch_of([Line(0.0, [(k, 1.0)], float(a[k])) for k in range(FEATURES)])
    tally, total = looker.progressive, 2 * float(a.sum())

    def norm() -> float:
        look(features)
        average: float = tally.take_recent()
        return average * total

    return norm


def box_of(rule: Rule, box: float) -> Callable[[], float]:
    """What gives by how much all |w| together are outside of the box, whose size is a power of two.

    The hinge losses of w / box for both labels add up to 2 inside, and to 1 + |w| / box outside."""
    looker = learner_over(rule, Hinge(), learn=False)
    look = looker.run
    features = batch_of([Line(y, [(k, 1 / box)]) for k in range(FEATURES) for y in (-1.0, 1.0)])

    def outside() -> float:
        look(features)
        average: float = looker.progressive.take_recent()
        return (average - 1) * 2 * FEATURES * box

    return outside


def weights_of(rule: Rule) -> np.ndarray:
    slots = rule.slots()
    out = np.zeros(len(slots) // rule.slot_size())
    rule.weights(slots, out)
    return out


# A rule, and a radius and a step with which it often recomputes its sums.
BALLS: dict[str, tuple[type[Rule], float, float]] = {
    "l1-ball": (L1Ball, 0.05, 1.0),
    "feature weights": (WeightedL1Ball, 1.0, 0.3),
    "box": (WeightedL1Ball, 0.05, 1.0),
    "feature weights and box": (WeightedL1Ball, 1.0, 0.3),
    "adagrad-ball": (AdagradBall, 1e-3, 0.5),
}


def stay_in_the_ball(name: str, radius: float, rate: float) -> int:
    """Learn a million examples; how often the shift fell: subtracted from all weights, sums recomputed."""
    kind, box = BALLS[name][0], 2.0 ** np.floor(np.log2(radius / 3))
    rule = kind(Hinge(), radius=radius, rate=rate, power_t=0.0, **({"box": box} if "box" in name else {}))
    a = np.ones(FEATURES)
    if "weights" in name:
        a = np.random.default_rng(2).choice([0.0, 0.1, 0.5, 1.0, 3.0, 50.0], FEATURES)
        rule.set_weights(KEYS, a)
    learner, norm = learner_over(rule, Hinge()), norm_of(rule, a)
    outside = box_of(rule, box) if "box" in name else lambda: 0.0
    run, most, largest, rebases, shift = learner.run, radius * (1 + 1e-9), 0.0, 0, 0.0
    for number, batch in enumerate(stream(1)):
        run(batch)
        found = norm()
        assert found <= most, (number, found / radius - 1)
        assert outside() <= 1e-9 * box, number
        if found > largest:
            largest = found
        if rule.shift < shift:
            rebases += 1
        shift = rule.shift
    assert learner.reason == Reason.DONE and learner.examples == EXAMPLES
    assert largest > radius * (1 - 1e-9)  # so the ball was in the way
    assert float(np.abs(weights_of(rule)).max()) > 0
    return rebases


@pytest.mark.third
@pytest.mark.parametrize("name", BALLS)
def test_the_norm_is_in_the_ball_after_every_example_of_a_million(name: str) -> None:
    _, radius, rate = BALLS[name]
    assert stay_in_the_ball(name, radius, rate) > 3


SETTINGS = [(1e-3, 0.1), (1.0, 0.01), (1.0, 0.3), (30.0, 2.0), (1.0, 10.0)]


@pytest.mark.long
@pytest.mark.parametrize(("radius", "rate"), [*SETTINGS, (1e-3, 0.5)])
@pytest.mark.parametrize("name", BALLS)
def test_the_norm_is_in_other_balls_too(name: str, radius: float, rate: float) -> None:
    stay_in_the_ball(name, radius, rate)


def add_up(kind: type[Rule], radius: float, rate: float) -> None:
    """Learn a million examples; after each, the weights and their sizes add up to the radius: none is negative."""
    rule = kind(Hinge(), radius=radius, rate=rate, power_t=0.0, features=FEATURES)
    learner, norm = learner_over(rule, Hinge()), norm_of(rule, np.ones(FEATURES))
    looker, everything = learner_over(rule, Squared(), learn=False), batch_of([all_features(radius)])
    run, look, off = learner.run, looker.run, 1e-9 * radius
    for number, batch in enumerate(stream(3)):
        run(batch)
        look(everything)
        assert abs(looker.prediction - radius) <= off, (number, looker.prediction)
        assert abs(norm() - radius) <= off, number
    assert learner.reason == Reason.DONE and learner.examples == EXAMPLES
    weights = weights_of(rule)
    assert (weights >= 0).all() and weights.max() > radius / FEATURES


def all_features(label: float) -> Line:
    return Line(label, [(k, 1.0) for k in range(FEATURES)])


@pytest.mark.parametrize("kind", [Simplex, pytest.param(Eg, marks=pytest.mark.long)])
def test_the_weights_add_up_after_every_example_of_a_million(kind: type[Rule]) -> None:
    add_up(kind, radius=1.0, rate=0.3)


@pytest.mark.long
@pytest.mark.parametrize(("radius", "rate"), [(1e-3, 0.5), (1.0, 0.01), (30.0, 2.0), (1.0, 100.0)], ids=str)
@pytest.mark.parametrize("kind", [Simplex, Eg])
def test_other_weights_add_up_too(kind: type[Rule], radius: float, rate: float) -> None:
    add_up(kind, radius, rate)


@pytest.mark.parametrize("rate", [0.1, *(pytest.param(rate, marks=pytest.mark.long) for rate in (1e-3, 1e2))])
def test_eg_adds_up_after_every_example_of_ten_million(rate: float) -> None:
    """All in one learner. An example that has every feature once predicts the sum of the weights. Such a one, held out,
    comes after every other; its label is the radius, so the holdout loss is the sum of the squares of all errors."""
    rule = Eg(Squared(), radius=2.0, rate=rate, power_t=0.0, features=FEATURES)
    learner = learner_over(rule, Squared(), holdout_period=2)
    lines = [line for example in pool_of(4, "squared") for line in (example, all_features(2.0))]
    batch = batch_of(lines, numbered=True)
    learner.begin_pass()
    while learner.examples < 10 * EXAMPLES:
        assert learner.run(batch) == 2 * POOL
        assert learner.reason == Reason.DONE  # nothing was infinite
        weights = weights_of(rule)
        assert np.isfinite(weights).all() and (weights >= 0).all() and rule.unseen >= 0
    assert learner.holdout.weight == learner.examples
    assert learner.holdout.loss <= (1e-9 * 2.0) ** 2


@pytest.mark.long
@pytest.mark.parametrize("rate", [0.01, 1.0, 1e4])
@pytest.mark.parametrize("kind", [Eg, EgPm])
def test_nothing_overflows_in_ten_million_examples_of_every_sort(kind: type[Rule], rate: float) -> None:
    """Logarithms walk up and down; most features are never seen."""
    rule = kind(Hinge(), radius=2.0, rate=rate, power_t=0.0, features=10**6)
    learner = learner_over(rule, Hinge())
    batch = batch_of(pool_of(5, "hinge"), numbered=True)
    while learner.examples < 10 * EXAMPLES:
        assert learner.run(batch) == POOL
        assert learner.reason == Reason.DONE
        weights = weights_of(rule)
        assert np.isfinite(weights).all()
        total = float(np.abs(weights).sum())
        assert total <= 2.0 * (1 + 1e-9)
        if kind is Eg:
            assert (weights >= 0).all()
            assert abs(total + (10**6 - len(weights)) * rule.unseen - 2.0) <= 2e-9
