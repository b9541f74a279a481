"""The mean of the models of stages, as one model: its weights, its features, and what is reported of it."""

import json
from array import array
from copy import copy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tables import written

from vwlite.algorithms.settings import Settings
from vwlite.core.auto.given import scattered
from vwlite.core.learn.scorer import Scorer
from vwlite.derived import CURVE, Derived, NumberColumn, WordColumn
from vwlite.runs.run import feed
from vwlite.training.auto import mean_model
from vwlite.training.auto.mean_model import MeanModel, united
from vwlite.training.auto.selection import FOLDS

NAMES = ["x", "z", "w", "far", "y"]


def rows_of(kind: str, seed: int, n: int = 300):
    """x is in a band, or in a line, with few rows; cells are missing; numbers of `far` are far from 0, and some are a
    sentinel."""
    rng = np.random.default_rng(seed)
    x, z, far = rng.normal(size=(3, n))
    w = rng.choice(["a", "b", "c"], n)
    score = np.where(abs(x - 0.7) < 0.3, 1.5, -1.5) + (w == "a") if kind == "band" else x + 0.4 * z * (w == "a")
    noisy = score + rng.normal(size=n)
    label = [f"{s:g}" for s in noisy] if kind == "numbers" else np.where(rng.logistic(size=n) < 1.3 * score, "1", "0")
    for i in range(n):
        cells = f"{x[i]:g}", f"{z[i]:g}", w[i], "-999" if i % 9 == 0 else f"{1000 + far[i]:g}"
        yield ["" if i % 11 == k else cell for k, cell in enumerate(cells)] + [label[i]]


@pytest.fixture
def found(monkeypatch):
    """Of each mean: its weights by features, the labels, the scores that its definition gives, and its own."""
    means, outcome = [], MeanModel.outcome

    def kept(mean):
        result = outcome(mean)
        means.append(Found(mean, result))
        return result

    monkeypatch.setattr(MeanModel, "outcome", kept)
    return means


class Found:
    """What is known when a mean is made; later the data have other settings."""

    def __init__(self, mean, outcome):
        race, of_mean = mean.main, copy(mean.main.data)
        of_mean.settings, of_mean.summary = outcome.settings, outcome.summary
        self.weights, self.labels, self.loss = mean.weights, np.array(mean._rows.labels), outcome.best.best.loss
        self.folds = np.array(race.selection.folds_in_file)
        self.out_of_fold = np.array([m.scores if m.race is not race else race.scores() for m in mean.members])
        self.losses = np.array([m.losses for m in mean.members])
        self.choosing = {  # by member: the scores that chose, of races that have not gone on
            k: next((c.predictions for c in m.race.candidates if m.candidate and c.name == m.candidate.name), None)
            for k, m in enumerate(mean.members) if m.race is not race}
        self.order = np.array(race.selection.order)
        self.ahead = [mean_model.AHEAD * is_simple(m.race.data.settings.derived) for m in mean.members]
        self.scores = scores_of(race, outcome.best, of_mean)
        self.expected = sum(
            m.weight * scores_of(m.race, m.race.best if m.race is race else m.candidate, m.race.data)
            for m in mean.members)


def is_simple(derived):
    return not derived.products and not any(getattr(c, "hats", False) for c in derived.columns)


def scores_of(race, candidate, data):
    """The scores of a model for the rows that it has learned, in the order of the file."""
    loader = copy(race.loader)
    loader.data = data
    learner, settings, _ = loader.loaded(candidate, race.grid.dense)
    scorer, found = Scorer(learner), []
    for batch in race.selection.examples.batches():
        scores = memoryview(array("d", bytes(8 * len(batch))))
        scorer.into(scores.cast("B").cast("d", (len(batch), 1)), array("d", bytes(8 * len(batch))))
        feed(scorer, batch, settings)
        found += scores
    of_rows = array("d", bytes(8 * len(found)))
    scattered(array("d", found), race.selection.order, of_rows)
    return np.array(of_rows)


def weights_of(losses, ahead, is_log_loss):
    """The definition: weights in proportion to exp(-d / 2)."""
    total = losses.sum(axis=1) if is_log_loss else losses.shape[1] / 2 * np.log(losses.mean(axis=1))
    w = np.exp(-(total - total.min() - np.array(ahead)) / 2)
    return w / w.sum()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["band", "line", "numbers"])
def test_the_model_is_the_mean_of_models(vwlite, tmp_path, found, kind, seed):
    """Scores are the weighted sums of those of the models. The weights are those of the definition; the loss is of
    rows whose fold took no part in the weights."""
    data = written(tmp_path / "d.csv", NAMES, rows_of(kind, seed))
    vwlite("train", data, "--label", "y", "-m", tmp_path / "m", "--report", tmp_path / "r.json", "--loss",
           "squared" if kind == "numbers" else "logistic", "-p", tmp_path / "p")
    for mean in found:
        assert mean.scores == pytest.approx(mean.expected, rel=1e-4, abs=1e-4)
        labels, scores, judged = mean.labels, mean.out_of_fold, np.zeros(len(mean.labels))
        for k, predictions in mean.choosing.items():
            p = np.zeros(len(labels)) if predictions is None else np.array(predictions)[np.argsort(mean.order)]
            expected = (p - labels) ** 2 if kind == "numbers" else np.logaddexp(0, -labels * p)
            assert predictions is None or mean.losses[k] == pytest.approx(expected)
        for fold in range(FOLDS):
            own = mean.folds == fold
            judged[own] = weights_of(mean.losses[:, ~own], mean.ahead, kind != "numbers") @ scores[:, own]
        loss = (judged - labels) ** 2 if kind == "numbers" else np.logaddexp(0, -labels * judged)
        assert mean.loss == pytest.approx(loss.mean())
        chosen = json.loads((tmp_path / "r.json").read_text())["chosen"]
        assert chosen["mean_of_models_with"] == pytest.approx(mean.weights)
        assert sum(mean.weights.values()) == pytest.approx(1)
    assert found or seed


def test_models_with_little_weight_are_left_out():
    """Of 100 rows, or of as many of which two each are copies. The first model has no derived features."""
    curve = (NumberColumn("x", 0.0, 1.0, True, {CURVE: (0.0, 1.0)}),)

    def member(loss, columns):
        data = SimpleNamespace(settings=replace(Settings.of("gd"), derived=Derived(columns), loss="logistic"))
        return mean_model.Member(SimpleNamespace(data=data), None, np.full(100, loss))

    members = [member(0.5, ()), member(0.5, curve), member(0.52, curve), member(0.7, curve)]
    for copies, of in ((np.arange(100), [2, 0, -1]), (np.repeat(np.arange(50), 2), [2, 0, -0.5])):
        rows = SimpleNamespace(labels=np.zeros(100), importances=np.ones(100), copies=copies)
        w = np.exp(of) / (np.exp(of).sum() + np.exp(-len({*copies}) / 10))
        w = np.append(np.where(w < mean_model.LEAST_WEIGHT, 0, w), 0)
        assert mean_model._large(members, rows) == pytest.approx(w / w.sum())


@pytest.mark.parametrize(
    "options", [["--bits", "20"], ["-q", "::"], ["--noconstant"], ["--validate"], ["--normalize", "l2"]])
def test_where_there_is_no_mean(vwlite, tmp_path, found, options):
    data = written(tmp_path / "d.csv", NAMES, rows_of("band", 0))
    more = [data] if options == ["--validate"] else []
    vwlite("train", data, "--label", "y", "-m", tmp_path / "m", *options, *more)
    assert found == []


def test_features_are_united():
    curves = (0.0, 1.0, 4.0), (0.0, 2.0, 4.0)
    x, few = (NumberColumn("x", 0.0, 1.0, True, {CURVE: at, 5: (0.0, 4.0)}) for at in curves)
    z, w = NumberColumn("z", 0.0, 1.0, True, {CURVE: (1.0,), 5: (1.0,)}), WordColumn("w", ("a",))
    order = {"w": 0, "x": 1, "z": 2}
    found = united([Derived((x, z), (((0, 5), (1, 5)),)), Derived((w, few), (((0, 0), (1, 5)),))], order)
    assert [c.full_name for c in found.columns] == ["w", "x", "z"]
    assert found.columns[1].knots == {CURVE: (0.0, 1.0, 2.0, 4.0), 5: (0.0, 4.0)}
    assert found.products == (((0, 0), (1, 5)), ((1, 5), (2, 5)))


def test_the_summary_says_the_weights(vwlite, tmp_path, found):
    data = written(tmp_path / "d.csv", NAMES, rows_of("band", 0))
    said = vwlite("train", data, "--label", "y", "-m", tmp_path / "m")
    assert found
    line = next(line for line in (said.out + said.err).splitlines() if line.startswith("features: "))
    for name, weight in found[0].weights.items():
        assert f"{name} ({weight:.2f})" in line
