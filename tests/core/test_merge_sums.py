"""The compiled sums of a merge against their eager references."""

import random
from array import array

import numpy as np
import pytest
from merge import PATHS, directions, path_length

from vwlite.core.merge.holdout import products
from vwlite.core.merge.sums import NAMES, ModelStream, Sums

BESIDE = {"start", "start_evidence", "evidence", "extra", "absent"}  # the ways of a merge
BLANK = {"itself": 0.0, "root": 0.0, "variance": 1.0}


def misplaced(numbers, code):
    """A view of numbers at an odd address, as in a file."""
    data = array(code, numbers).tobytes()
    return memoryview(b"x" + data)[1:].cast(code) if data else memoryview(array(code))


class Model:
    """Some of the keys 0 to n - 1, with a row of numbers for each; `dense` has all of them."""

    def __init__(self, chance, n, classes, kind, *, part, base=None, code="d"):
        self.keys = sorted(chance.sample(range(n), int(part * n)))
        if base is not None:  # nothing is forgotten of the start but some keys that are blank
            self.keys = sorted({*self.keys, *(k for k in base.keys if chance.random() < 0.9)})
        size = len(self.keys) * classes
        self.w = np.array([chance.choice([0, chance.gauss(0, 1)]) for _ in range(size)]).reshape(-1, classes)
        self.S = np.array([chance.expovariate(1) * chance.choice([0, 1, 1, 1e-20, 1e8]) for _ in range(size)])
        if kind == "variance":
            self.S = 1 / (1 + self.S)
        self.S = np.array(array(code, self.S)).reshape(-1, classes)
        self.x = np.array([chance.gauss(0, 1) for _ in range(size)]).reshape(-1, classes)
        self.n, self.classes, self.code, self.kind = n, classes, code, kind
        self.columns = list(range(classes))
        chance.shuffle(self.columns)
        self.penalty = [chance.random() for _ in range(classes)]

    def stream(self, **more):
        """With the classes of the arrays in another order."""
        order = np.argsort(self.columns)
        flat = {name: getattr(self, name)[:, order].ravel() for name in ("w", "S", "x")}
        return ModelStream(
            misplaced(self.keys, "I"), misplaced(flat["w"], "d"), misplaced(flat["S"], self.code),
            misplaced(flat["x"], "d"), self.columns, [0.0] * self.classes, self.penalty,
            blank_evidence=BLANK[self.kind], **more,
        )

    def dense(self, name, blank=0.0):
        out = np.full((self.n, self.classes), blank)
        out[self.keys] = getattr(self, name)
        return out.ravel()

    def evidence(self):
        S = self.dense("S", BLANK[self.kind])
        return {"itself": S, "root": S * S, "variance": 1 / np.where(S > 0, S, 1)}[self.kind]


@pytest.mark.third
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", BLANK)
@pytest.mark.parametrize("started", [False, True])
def test_sums_are_those_of_the_reference(seed, kind, started):
    chance = random.Random(f"{seed} {kind} {started}")
    n, classes, shards = 40, chance.choice([1, 3]), chance.choice([1, 2, 3, 7, 16])
    start = Model(chance, n, classes, kind, part=0.4 if started else 0)
    models = [
        Model(chance, n, classes, kind, part=0.4, base=start, code=chance.choice("df")) for _ in range(shards)
    ]
    beta, rates = chance.choice([0.0, 1e-8, 1.0]), [chance.choice([0.1, 0.5]) for _ in range(classes)]
    sums = Sums(
        start.stream(), [m.stream(share=1 / shards) for m in models], wanted=NAMES, evidence=kind, extra="added",
        beta=beta, rates=rates,
    )
    union = sorted({*start.keys, *(k for m in models for k in m.keys)})
    assert list(sums.keys) == union
    assert len(sums["mean"]) == len(union) * classes
    rows = np.add.outer(np.array(union, dtype=int) * classes, np.arange(classes)).ravel()
    w0, S0 = start.dense("w"), start.evidence()
    w, S = np.array([m.dense("w") for m in models]), np.array([m.evidence() for m in models])
    x0, x = start.dense("x"), np.array([m.dense("x") for m in models])
    absent = sum(m.dense("penalty_of") for m in map(with_penalties, models))
    some = {"extra": x0 + (x - x0).sum(axis=0), "start": w0, "start_evidence": S0, "absent": absent}
    for name, expected in some.items():
        np.testing.assert_allclose(sums[name], expected[rows], rtol=1e-12, atol=1e-12, err_msg=name)
    eta = np.tile(rates, n)
    for name, expected in directions(w0, S0, w, S, eta=eta, beta=beta, variance=kind == "variance").items():
        np.testing.assert_allclose(sums[name], expected[rows], rtol=2e-5, atol=1e-9, err_msg=name)


def with_penalties(model):
    """The same, with the penalty of the shard at the keys that it lacks."""
    model.penalty_of = np.zeros((len(model.keys), model.classes))
    dense = model.dense

    def filled(name, blank=0.0):
        if name != "penalty_of":
            return dense(name, blank)
        out = np.tile(model.penalty, (model.n, 1))
        out[model.keys] = 0
        return out.ravel()

    model.dense = filled
    return model


@pytest.mark.parametrize("kind", ["itself", "variance"])
@pytest.mark.parametrize("seed", range(4))
def test_one_shard_is_what_it_was(seed, kind):
    chance = random.Random(seed)
    start = Model(chance, 50, 2, kind, part=0.5)
    shard = Model(chance, 50, 2, kind, part=0.5, base=start)
    never_falls = np.minimum if kind == "variance" else np.maximum  # the evidence
    shard.S = never_falls(shard.S, start.dense("S", BLANK[kind]).reshape(50, 2)[shard.keys])
    sums = Sums(start.stream(), [shard.stream()], wanted=NAMES, evidence=kind, beta=0.1, rates=[0.5, 0.5])
    expected = shard.dense("w").reshape(50, 2)[list(sums.keys)].ravel()
    for name in set(NAMES) - BESIDE - (PATHS.keys() if kind == "variance" else {"dual"}):
        merged = np.array(sums["start"]) + np.array(sums[name])
        np.testing.assert_allclose(merged, expected, rtol=1e-9, atol=1e-12, err_msg=name)


def test_sums_are_the_same_at_every_order_of_threads_of_arrival():
    """The order of the list is the order of the sums; nothing else is."""
    chance = random.Random(1)
    start = Model(chance, 50, 1, "itself", part=0.3)
    models = [Model(chance, 50, 1, "itself", part=0.5, base=start) for _ in range(5)]
    found = [bytes(Sums(start.stream(), [m.stream() for m in models], wanted=NAMES)["mean"]) for _ in range(2)]
    assert found[0] == found[1]


def test_the_largest_and_the_common_extra_number():
    def stream(keys, extra):
        numbers = memoryview(array("d", extra))
        zeros = memoryview(array("d", [0.0] * len(keys)))
        return ModelStream(memoryview(array("I", keys)), zeros, None, numbers, [0], [0.0], [0.0], blank_extra=1.0)

    start, one, other = stream([2], [5.0]), stream([1, 2], [0.25, 4.0]), stream([1, 3], [0.5, 0.125])
    largest = Sums(start, [one, other], wanted=["extra"], extra="largest")
    assert list(largest["extra"]) == [0.5, 5.0, 0.125]
    with pytest.raises(ValueError, match="differ"):
        Sums(stream([], []), [one, other], wanted=["extra"], extra="same")
    other = stream([1, 3], [0.25, 0.125])
    assert list(Sums(stream([], []), [one, other], wanted=["extra"], extra="same")["extra"]) == [0.25, 4.0, 0.125]
    with pytest.raises(KeyError):
        largest["mean"]


@pytest.mark.parametrize("beta", [0.0, 1e-8, 1.0, 100.0])
def test_paths_at_all_scales(beta):
    """Of a shard, beside one that has not moved and has learned twice as much, for a large distance."""
    n, slow = 40, 1e-12
    S0 = np.array([10.0**i for i in range(-20, 20, 2) for _ in range(2)])
    d = np.array([10.0**i for i in range(-19, 21, 2) for _ in range(2)])

    def stream(S, weight):
        keys, w = memoryview(array("I", range(n))), memoryview(array("d", [weight] * n))
        return ModelStream(keys, w, memoryview(array("d", S)), None, [0], [0.0], [0.0])

    shards = [stream(S0 + d, 1.0), stream(S0 + 2 * d, 0.0)]
    sums = Sums(stream(S0, 0.0), shards, wanted=NAMES, beta=beta, rates=[slow])
    first, whole = (S0 + d) - S0, np.array(sums["evidence"])
    lengths = path_length(S0, first, beta), path_length(S0, whole, beta)
    long = lengths[0] * slow > 1e-300
    for path, c in PATHS.items():
        share, of_all = (-np.expm1(-c * slow * length[long]) for length in lengths)
        expected = of_all * first[long] / share / whole[long]
        np.testing.assert_allclose(np.array(sums[path])[long], expected, rtol=2e-5)
        assert np.isfinite(np.array(sums[path])).all()


def test_scores_are_those_of_the_rows_and_the_constant():
    chance = random.Random(3)
    begin, index, value = [0], [], []
    for _ in range(20):
        for _ in range(chance.randrange(6)):
            index.append(chance.randrange(9))
            value.append(chance.gauss(0, 1))
        begin.append(len(index))
    rows = array("L", begin), array("I", index), array("f", value)
    w = np.array([[chance.gauss(0, 1) for _ in range(2)] for _ in range(9)])
    dense = np.zeros((20, 9))
    for i in range(20):
        for j in range(begin[i], begin[i + 1]):
            dense[i, index[j]] += np.float32(value[j])
    found = np.array(products(*rows, w.reshape(-1), array("d", [0.5, -0.25]))).reshape(20, 2)
    np.testing.assert_allclose(found, dense @ w + [0.5, -0.25], rtol=1e-12, atol=1e-12)
