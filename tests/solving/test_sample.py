"""The rows of shards at the driver, their curvature as a matrix, and the rounds that it saves."""

import json
from array import array
from itertools import pairwise
from pathlib import Path

import batch
import numpy as np
import pytest
from batch_problems import LOSSES, draw, rows_of
from text_problems import Data, weights_of

from vwlite.algorithms.settings import Settings
from vwlite.solving.rounds import sample as module
from vwlite.solving.rounds.sample import Sample, sample_of, united
from vwlite.solving.rounds.sums import FeaturesOfShards


def shards_of(drawn):
    ends = [0, 17, 29, len(drawn.lines)]
    return [rows_of(drawn.lines[a:b]) for a, b in pairwise(ends)]


def dense(arrays, features):
    """The rows of a sample as a matrix."""
    x, at = np.zeros((len(arrays["counts"]), features)), 0
    for i, n in enumerate(arrays["counts"]):
        x[i, arrays["columns"][at : at + n]] = arrays["values"][at : at + n]
        at += n
    return x


def dense_rows(rows, keys):
    """Those of a shard."""
    x, places = np.zeros((len(rows), len(keys))), np.searchsorted(keys, np.asarray(rows.keys))
    for i in range(len(rows)):
        columns, values = rows.row(i)
        x[i, places[columns]] = values
    return x


def places_of(rows, count, x, y, own):
    """The row of each of the equal parts of a shard that is x, with its label."""
    found = []
    for k in range(count):
        part = range(k * len(rows) // count, (k + 1) * len(rows) // count)
        found.append(next(i for i in part if (own[i] == x[k]).all() and rows.labels[i] == y[k]))
    return found


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("most", [12, 100])
@pytest.mark.parametrize("loss", LOSSES)
def test_it_solves_with_the_curvature_of_the_sample_and_a_diagonal(monkeypatch, loss, most, constant):
    """B of the definition, dense, from the rows that were drawn."""
    monkeypatch.setattr(module, "MOST_ROWS", most)
    monkeypatch.setattr(module, "CLOSE", 1e-24)
    shards = shards_of(draw(9, loss, n=50))
    features = FeaturesOfShards.of([rows.keys for rows in shards])
    d, samples = len(features.keys), [sample_of(rows, len(shards)) for rows in shards]
    arrays = united(samples, features)
    x, (y, v, initial) = dense(arrays, d), (arrays[name] for name in ("labels", "v", "initial"))

    at, all_squares = 0, np.zeros(d)
    for rows, one in zip(shards, samples, strict=True):
        own, h, count = dense_rows(rows, features.keys), np.asarray(rows.importance), len(one.v)
        assert count == (len(rows) if most == 100 else 4)
        drawn = places_of(rows, count, x[at : at + count], y[at : at + count], own)
        np.testing.assert_allclose(one.v, h[drawn] * h.sum() / h[drawn].sum(), rtol=1e-12)
        np.testing.assert_array_equal(one.initial, np.asarray(rows.initial)[drawn])
        all_squares += h @ own**2
        at += count
    assert at == len(v)

    total, m, l2 = v.sum(), 0.37, 0.05
    w, q = (np.random.default_rng(seed).normal(0, 0.5, d + 1) for seed in (1, 2))
    w[-1] *= constant
    q[-1] *= constant
    bends = batch.LOSSES[loss].curvature(x @ w[:-1] + w[-1] + initial, y)
    with_one = np.hstack([x, np.full((len(v), 1), float(constant))])
    lacking = np.maximum(all_squares - v @ x**2, 0)
    h = (with_one.T * (v * bends)) @ with_one / total
    u, own = v * bends, np.diag(h)[:-1]
    rows, parameters = u.sum() ** 2 / (u @ u), (own / (own + l2)).sum()
    a = 1 / (1 + (2 * (1 - len(v) / sum(map(len, shards))) * parameters / rows) ** 2)
    diagonal = np.append(m * lacking / total + l2, max(m - h[-1, -1], 0.0) if constant else 1.0)
    matrix = a * h + (1 - a) * np.diag(np.diag(h)) + np.diag(diagonal)
    found = Sample(arrays, Settings(loss=loss, l2=l2, constant=constant)).solve(array("d", w), array("d", q), m)
    np.testing.assert_allclose(found, np.linalg.solve(matrix, q), rtol=1e-6, atol=1e-8)
    assert (most == 100) == (lacking.max() < 1e-9) == (a == 1)


def test_a_shard_sends_few_entries(monkeypatch):
    monkeypatch.setattr(module, "MOST_ENTRIES", 60)
    rows = draw(9, "logistic", n=200).rows
    assert 20 < len(sample_of(rows, 1).columns) <= 90 < len(rows.entries[1])
    assert len(sample_of(rows, 10_000).v) == 1


def test_rows_in_a_periodic_order_are_drawn_from_each_place(monkeypatch):
    """Of alternating labels, every second row would be of one label."""
    monkeypatch.setattr(module, "MOST_ROWS", 100)
    drawn = draw(9, "logistic", weighted=False, n=200)
    rows = rows_of([line._replace(label=(-1.0) ** i) for i, line in enumerate(drawn.lines)])
    assert abs(sample_of(rows, 1).labels.mean()) < 0.2


# --- damaged samples -----------------------------------------------------------------------------


DAMAGES = {
    "counts": lambda a: a["counts"].__setitem__(0, a["counts"][0] + 1),
    "a count that goes around": lambda a: a["counts"].__setitem__(0, 2**32 - 1),
    "a column": lambda a: a["columns"].__setitem__(0, 99),
    "a value": lambda a: a["values"].__setitem__(0, np.nan),
    "an importance": lambda a: a["v"].__setitem__(0, -1.0),
    "a square": lambda a: a["lacking"].__setitem__(0, -1.0),
    "labels": lambda a: a.update(labels=a["labels"][1:]),
    "values": lambda a: a.update(values=a["values"][1:]),
    "fewer rows than are drawn": lambda a: a["rows"].__setitem__(0, 1.0),
    "no rows": lambda a: a.update({name: a[name][:0] for name in a if name not in ("lacking", "rows")}),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_an_impossible_sample_is_refused(name):
    rows = draw(9, "logistic").rows
    arrays = united([sample_of(rows, 1)], FeaturesOfShards.of([rows.keys]))
    settings = Settings(loss="logistic", l2=0.1)
    Sample(arrays, settings)
    DAMAGES[name](arrays)
    with pytest.raises(ValueError, match=r"match|impossible|beyond"):
        Sample(arrays, settings)


# --- rounds --------------------------------------------------------------------------------------


def optimum(data, loss, l2):
    """The least objective, by Newton's method with a dense matrix and halved steps."""
    x, h = np.hstack([data.x, np.ones((len(data.y), 1))]), data.h / data.h.sum()
    penalty, w = np.append(np.full(data.x.shape[1], l2), 0.0), np.zeros(data.x.shape[1] + 1)

    def objective(w):
        return h @ batch.LOSSES[loss].value(x @ w, data.y) + penalty @ w**2 / 2

    for _ in range(60):
        p = x @ w
        gradient = x.T @ (h * batch.LOSSES[loss].dloss(p, data.y)) + penalty * w
        bends = h * batch.LOSSES[loss].curvature(p, data.y)
        step = np.linalg.solve((x.T * bends) @ x + np.diag(penalty + 1e-12), gradient)
        part = 1.0
        while objective(w - part * step) > objective(w) and part > 1e-9:
            part /= 2
        w = w - part * step
    return objective(w), w


@pytest.mark.parametrize("most", [400, 100])
@pytest.mark.parametrize("loss", LOSSES)
def test_few_rounds_reach_the_optimum(vwlite, at, monkeypatch, loss, most):
    """Of 400 rows all are in the sample, or 100."""
    monkeypatch.setattr(module, "MOST_ROWS", most)
    data = Data(5, loss, n=400, d=40)
    lines = data.text().splitlines(keepends=True)
    for i in range(4):
        Path(f"shard{i}").write_text("".join(lines[i::4]))
    shards = [f"shard{i}" for i in range(4)]
    options = ["--loss", loss, "--l2", 1e-3, "--tolerance", 1e-8]
    said = vwlite("solve", *shards, "--shards", 2, *options, "-m", "m", "--report", "r")
    report, (least, w) = json.loads(Path("r").read_text()), optimum(data, loss, 1e-3)
    assert said.err.startswith(f"solver = l-bfgs, loss = {loss}, shards = 4\n")
    assert report["results"]["objective"] == pytest.approx(least, rel=2e-8)
    assert least * (1 - 2e-8) <= report["results"]["lower_bound"] <= least * (1 + 1e-12)
    assert report["results"]["rounds"] <= (25 if most == 400 else 60)
    found, intercept = weights_of("m", 40)
    np.testing.assert_allclose([*found, intercept], w, atol=2e-3)
