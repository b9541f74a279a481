"""What shards send for the default: sums, whose size depends on their features and never on their rows."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("distributed", reason="the front on Dask is an extra")

from test_shard_fit import UNITS, drawn, features_of, keys_of, penalties_of, rows_of, settings_of

from vwlite.dask import sums
from vwlite.dask.parts import FilePart
from vwlite.dask.sums import ShardsOnWorkers
from vwlite.training.shards.fit import ShardFit
from vwlite.training.shards.strengths import Strength

FEATURES, SHARDS = 9, 3


def numbers(x):
    """How many there are in what is sent."""
    if isinstance(x, np.ndarray):
        return x.size
    if isinstance(x, dict):
        return sum(map(numbers, x.values()))
    if isinstance(x, (list, tuple)):
        return sum(map(numbers, x))
    return sum(map(numbers, vars(x).values())) if hasattr(x, "__dict__") else 1


class CountingCluster:
    """Does tasks here, and counts the numbers of each result that a driver gets. sent: (shard, function, numbers)."""

    def __init__(self):
        self.sent, self.what = [], {}

    def put(self, f, *arguments, avoid=None):
        result = f(*arguments)
        self.what[id(result)] = f.__name__ if f is not sums.called else arguments[1]
        return result

    def each(self, count, make, named, done=None):
        results = []
        for i in range(count):
            results.append(make(i, None))
            self.sent.append((named(i), self.what[id(results[-1])], numbers(results[-1])))
        return results


def traffic(monkeypatch, loss, n):
    """What is sent in a whole fit of two rounds to n rows."""
    x, y, v = drawn(loss, n, FEATURES)
    place, unit, settings = np.arange(n) % SHARDS, UNITS[loss], settings_of(loss)
    found, held = [], [np.arange(0, n // SHARDS, 20)] * SHARDS
    for k in range(SHARDS):
        rows = features_of(loss, x[place == k], y[place == k], v[place == k])
        found.append(SimpleNamespace(rows=rows, lines=np.arange(len(rows))))
    cluster = CountingCluster()

    def answer(part, model, job, asked, held):
        return asked.answer(found[part.number], SimpleNamespace(settings=settings), held)

    monkeypatch.setattr(sums, "answer", answer)
    parts = [FilePart("x", number=k, of=SHARDS) for k in range(SHARDS)]
    shards = ShardsOnWorkers(cluster, parts, held, None, b"", unit)
    facts = shards.facts()
    assert (shards.keys == keys_of(x)).all()
    sample = rows_of(loss, *(a[: n // 3] for a in (x, y, v)))
    sample.widen(shards.keys)
    total, of_held = (sum(getattr(one, name) for one in facts) for name in ("weight", "held"))
    w = np.zeros((FEATURES + 1, unit.scores))
    fit = ShardFit(shards, sample, penalties_of(x, v), Strength(1.0, 4.0, 0.75), total, of_held, w)
    own = fit.w + 0.1
    for _ in range(2):
        fit.round(others=[w, own])
    fit.mix(own)
    return cluster.sent, shards


@pytest.mark.parametrize("loss", ["logistic", "classes"])
def test_a_shard_sends_vectors_of_its_features_and_a_few_numbers(monkeypatch, loss):
    scores, lanes = UNITS[loss].scores, 3
    messages = {  # of section 4 of the definition: two vectors; numbers of a search, at most for each lane; losses
        "answer": {5 * FEATURES + 7, 2 * (FEATURES + 1) * scores},
        "is_done": {1},
        "sums": {points * (1 + n + n * n) for points in range(1, lanes + 1) for n in (1, 2)},
        "losses_apart": {3 * (lanes + 2), 3 * 11},
    }
    sent, shards = traffic(monkeypatch, loss, 600)
    others = [message for message in sent if message[2] not in messages[message[1]]]
    assert not others and {name for name, *_ in sent} == {f"x (part {k + 1} of {SHARDS})" for k in range(SHARDS)}
    vectors = [size for _, what, size in sent if what == "answer"]
    assert len(vectors) == SHARDS * 3  # facts, and the two vectors of two rounds
    assert shards.readings == 5 and len(sent) < SHARDS * 100
    facts = SHARDS * (5 * FEATURES + 7)  # of which only the keys, of 4 bytes, are counted before they are added
    counted = sum(size for _, what, size in sent if what != "is_done") - facts
    assert shards.up == 8 * counted + 4 * FEATURES * SHARDS


def test_twice_the_rows_send_no_more(monkeypatch):
    most = [max(size for *_, size in traffic(monkeypatch, "logistic", n)[0]) for n in (600, 2400)]
    assert most[0] == most[1]
