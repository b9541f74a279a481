"""The measures by their definitions, of numbers that no model made; and one row is all that a measure needs."""

import json
from pathlib import Path

import numpy as np
import pytest
from running import GD

from vwlite.core.learn.losses import Quantile
from vwlite.evaluation import measures
from vwlite.evaluation.kinds import Binary, Classes, Regression, Rows
from vwlite.evaluation.measures import AT_ONCE, MEASURES, Against, Measure, StreamMeasures
from vwlite.evaluation.ranking import auc
from vwlite.evaluation.slices import MOST, OTHERS
from vwlite.evaluation.sums import Moments, Scores

WEIGHTS = {"ones": [1.0], "several": [0.0, 0.5, 1.0, 3.0]}


def mean(x, w):
    return float(w @ x / w.sum())


def two(chance, n, weights):
    """Rows of two labels with many equal scores; and the log loss of each."""
    y = np.where(chance.random(n) < 0.4, 1.0, -1.0)
    z = (y + chance.normal(size=n)).round(1)
    loss = np.log1p(np.exp(-y * z))
    return Rows.of(np.array([y, chance.choice(weights, n), z, loss, loss, np.ones(n)]))


def numbers(chance, n, weights):
    y = chance.poisson(2.0, n).astype(float)
    p = np.log(y + chance.random(n) + 0.1)
    return Rows.of(np.array([y, chance.choice(weights, n), p, chance.random(n), np.zeros(n), np.ones(n)]))


def classes(chance, n, weights):
    y, p = chance.integers(1, 5, n), chance.integers(1, 4, n)
    p = np.where(chance.random(n) < 0.5, y, p)
    return Rows.of(np.array([y, chance.choice(weights, n), p, np.zeros(n), chance.random(n), np.ones(n)], float))


def of_two(r):
    """Value and baseline by definition: areas are sums over pairs, precisions are of each threshold."""
    y, w, p = r.label > 0, r.weight, 1 / (1 + np.exp(-r.prediction))
    share, s = mean(y, w), r.prediction
    pairs = (s[y][:, None] > s[~y]) + 0.5 * (s[y][:, None] == s[~y])
    recall, average = 0.0, 0.0
    for threshold in sorted({*s[w > 0]}, reverse=True):
        chosen = s >= threshold
        found = w[chosen & y].sum() / w[y].sum()
        average, recall = average + (found - recall) * w[chosen & y].sum() / w[chosen].sum(), found
    entropy = -share * np.log(share) - (1 - share) * np.log(1 - share)
    best = s >= 0
    precision, recall = w[best & y].sum() / w[best].sum(), w[best & y].sum() / w[y].sum()
    return {
        "log loss": (mean(-np.log(np.where(y, p, 1 - p)), w), entropy),
        "AUC": (w[y] @ pairs @ w[~y] / w[y].sum() / w[~y].sum(), 0.5), "average precision": (average, share),
        "Brier": (mean((y - p) ** 2, w), share * (1 - share)), "accuracy": (mean(best == y, w), max(share, 1 - share)),
        "precision": (precision, None), "recall": (recall, None),
        "F1": (2 * precision * recall / (precision + recall), None),
    }


def of_numbers(r, loss):
    y, w, p = r.label, r.weight, np.exp(r.prediction) if loss == "poisson" else r.prediction

    def deviance(p):
        return mean(2 * (np.where(y > 0, y * np.log(np.maximum(y, 1e-300) / p), 0) - y + p), w)

    middle = np.full(len(y), mean(y, w))
    variance = mean((y - middle) ** 2, w)
    found = {
        "MSE": (mean((y - p) ** 2, w), variance), "MAE": (mean(np.abs(y - p), w), mean(np.abs(y - middle), w)),
        "RMSE": (mean((y - p) ** 2, w) ** 0.5, variance**0.5),
        "MAPE": tuple(mean(np.abs(1 - of[y != 0] / y[y != 0]), w[y != 0]) for of in (p, middle)),
        "R^2": (1 - mean((y - p) ** 2, w) / variance, 0.0),
    }
    if loss == "poisson":
        found["Poisson deviance"] = deviance(p), deviance(middle)
    if loss == "quantile":  # of the median, some label is the best constant
        found["quantile loss"] = mean(r.loss, w), min(mean(np.abs(y - c) / 2, w) for c in y)
        found["share below"] = mean(y <= p, w), None
    return found


def of_classes(r):
    y, w, p = r.label, r.weight, r.prediction
    shares = np.array([w[y == k].sum() for k in sorted({*y[w > 0]})]) / w.sum()
    each = []
    for k in sorted({*y[w > 0], *p[w > 0]}):
        right, label, predicted = (w[rows].sum() for rows in ((y == k) & (p == k), y == k, p == k))
        each.append([right / predicted if predicted else 0, right / label if label else 0,
                     2 * right / (label + predicted)])
    precision, recall, f1 = np.mean(each, axis=0)
    most, n = shares.max(), len(shares)
    return {
        "log loss": (mean(r.log_loss, w), -shares @ np.log(shares)), "accuracy": (mean(y == p, w), most),
        "macro precision": (precision, most / n), "macro recall": (recall, 1 / n),
        "macro F1": (f1, 2 * most / (1 + most) / n),
    }


KINDS = {
    "two": (two, lambda: Binary(probable=True, loss="logistic"), of_two),
    **{loss: (numbers, lambda loss=loss, own=own: Regression(loss=loss, robust=own, power=loss == "poisson"),
              lambda r, loss=loss: of_numbers(r, loss))
       for loss, own in {"squared": None, "poisson": None, "quantile": Quantile()}.items()},
    "classes": (classes, lambda: Classes(limit=6, probable=True), of_classes),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", KINDS)
def test_each_measure_is_its_definition(kind, weights):
    draw, make, define = KINDS[kind]
    for seed in range(20):
        chance = np.random.default_rng(seed)
        rows = draw(chance, int(chance.integers(40, 300)), WEIGHTS[weights])
        measured, at = StreamMeasures(make()), len(rows.label) // 3
        for part in (slice(at), slice(at, at), slice(at, None)):
            measured.add(rows.where(part))
        measured.finish()
        found = {taken.name: taken.value() for taken in measured.measures}
        expected = define(rows)
        for place, of in enumerate(("value", "baseline")):
            known = {name: both[place] for name, both in expected.items() if both[place] is not None}
            values = {name: x for name, v in found.items() if (x := getattr(v, of)) is not None}
            assert values == pytest.approx(known, rel=1e-9, abs=1e-12)
        assert measured.kind.weight == pytest.approx(rows.weight.sum())


@pytest.mark.parametrize("kind", KINDS)
def test_a_difference_is_that_of_the_values(kind):
    draw, make, _ = KINDS[kind]
    chance = np.random.default_rng(2)
    rows = draw(chance, AT_ONCE + 100, WEIGHTS["several"])
    order = chance.permutation(len(rows.label))
    other = rows._replace(prediction=rows.prediction[order], loss=rows.loss[order], log_loss=rows.log_loss[order])
    first, second = StreamMeasures(make()), StreamMeasures(make())
    against = Against(first, second)
    for at in range(0, len(order), 1000):
        part = slice(at, at + 1000)
        first.add(rows.where(part))
        against.add(rows.where(part), other.where(part))
    first.finish()
    second.finish()
    a, b = ({v.name: v.value for v in measured.values()} for measured in (first, second))
    differences = {v.name: v for v in against.values()}
    assert {*differences} == {v.name for v in first.values() if v.measure.each or v.measure.paired}
    for name, v in differences.items():
        assert v.value == pytest.approx(a[name] - b[name], rel=1e-9, abs=1e-12)
        assert v.interval[0] < v.value < v.interval[1] and v.baseline is None
    for v in first.values():  # predictions of other rows are worse
        assert v.measure.neutral or (a[v.name] > b[v.name]) == v.measure.larger, v.name


def test_a_row_of_the_table_is_all_that_a_measure_needs(vwlite, monkeypatch):
    """Screen, JSON, parts, differences, conditions and page have it."""
    new = Measure(name="new one", of=Regression, each=lambda k, rows: np.full(len(rows.label), 0.125),
                  baseline=lambda k: 0.375)
    Path("test.vw").write_text("".join(f"{i % 5} |f x:{i} k{i % 2}\n" for i in range(50)))
    vwlite("train", "test.vw", *GD, "--quiet", "-m", "m")
    monkeypatch.setattr(measures, "MEASURES", (*MEASURES, new))
    command = ["evaluate", "-m", "m", "test.vw", "--against", "m", "--by", "f"]
    found = json.loads(vwlite(*command, "--json").out)
    assert found["measures"]["new_one"] == {"value": 0.125, "baseline": 0.375, "low": 0.125, "high": 0.125}
    assert found["difference"]["new_one"]["value"] == 0
    assert all("new_one" in part["measures"] for part in found["by"].values())
    assert vwlite(*command).out.count("new one") == 2 + 1  # measures, differences, parts
    assert "--fail-if new_one>0.1: it is 0.1250" in vwlite(*command, "--fail-if", "new_one>0.1", code=1).err
    assert "new one" in vwlite("report", "-m", "m", "test.vw").out


def jackknife(value, groups):
    """The standard error of a value by leaving one example out, within each group of labels: close to that by its
    derivatives, which the product has. groups: the numbers of the examples of each."""
    variance = 0.0
    for group in groups:
        left = np.array([value(np.delete(np.arange(sum(map(len, groups))), i)) for i in group])
        variance += (len(left) - 1) * left.var()
    return variance**0.5


def test_errors_of_areas_are_those_of_delong():
    """With examples of weight 1, by sums over pairs; and those of the jackknife."""
    chance = np.random.default_rng(3)
    y = np.arange(30) < 12
    s = (y + chance.normal(size=30)).round(1)
    pairs = (s[y][:, None] > s[~y]) + 0.5 * (s[y][:, None] == s[~y])
    rows = Scores()
    rows.add(s, np.where(y, 1.0, -1.0))
    area, error = auc(rows.ranked())
    assert area == pytest.approx(pairs.mean())
    of_each = pairs.mean(axis=1).var(ddof=1) / 12 + pairs.mean(axis=0).var(ddof=1) / 18
    assert error == pytest.approx(of_each**0.5)

    def area_of(kept):
        a, b = s[kept][y[kept]], s[kept][~y[kept]]
        return ((a[:, None] > b) + 0.5 * (a[:, None] == b)).mean()

    assert error == pytest.approx(jackknife(area_of, [np.flatnonzero(y), np.flatnonzero(~y)]), rel=0.1)


def test_the_error_of_r2_is_that_of_its_influence():
    """With weights; its n is that of the effective number of examples; and close to the jackknife without them."""
    chance = np.random.default_rng(4)
    y = chance.normal(3.0, 2.0, 40)
    square = chance.exponential(1.0, 40)
    for w in (np.ones(40), chance.choice([0.5, 1.0, 3.0], 40)):
        m = Moments()
        m.add(y[:25], square[:25], w[:25])
        m.add(y[25:], square[25:], w[25:])
        variance = w @ (y - mean(y, w)) ** 2 / w.sum()
        ratio = mean(square, w) / variance
        influence = (square - ratio * (y - mean(y, w)) ** 2) / variance
        n = w.sum() ** 2 / (w @ w)
        error = (((w * influence) ** 2).sum() * n / (n - 1)) ** 0.5 / w.sum()
        assert m.r2() == pytest.approx((1 - ratio, error))
        if (w == 1).all():
            r2 = jackknife(lambda i: 1 - square[i].mean() / y[i].var(), [np.arange(40)])
            assert error == pytest.approx(r2, rel=0.15)


def test_slices_beyond_the_limit_are_one(vwlite, folder):
    rows = [f"{i % 2},{i % 7},k{i % (MOST + 3):03d}\n" for i in range(4 * MOST + 12)]
    Path("t.csv").write_text("y,x,k\n" + "".join(rows))
    vwlite("train", *GD, "t.csv", "--label", "y", "--drop", "k", "-m", "m")
    found = json.loads(vwlite("evaluate", "-m", "m", "t.csv", "--by", "k", "--json").out)["by"]
    assert sorted(found) == sorted([*(f"k{i:03d}" for i in range(MOST)), OTHERS]) and found[OTHERS]["rows"] == 12
