"""The sample of a large file from which features are derived has more rows of a rare label."""

from types import SimpleNamespace

import numpy as np
import pytest
from batches import Line, batch_of

from vwlite.algorithms.settings import Settings
from vwlite.core.auto.summary import DataSummary
from vwlite.core.data.normalize import Normalizer
from vwlite.model.learners import make_expander
from vwlite.training.auto import rare
from vwlite.training.auto.data import Batches, DrawnExamples
from vwlite.training.auto.rare import sample_of, with_rare
from vwlite.training.auto.screened_rows import ScreenedRows


def defined(labels, first, fewest):
    """By the definition, row by row: the importance of each row in the sample, 0 outside of it; for how many it counts.
    first: rows of the sample before."""
    n, some = len(labels), {*first}
    label = min(sorted({*labels}), key=labels.count)
    rare_rows = [i for i in range(n) if labels[i] == label]
    added = [i for i in rare_rows if i not in some][: max(fewest - len(some & {*rare_rows}), 0)]
    others = some - {*rare_rows}
    if not added or not others or len({*labels}) != 2:
        return [float(i in some) for i in range(n)], len(some)
    kept = (some & {*rare_rows}) | {*added}
    v = len(kept) * (n - len(rare_rows)) / (len(rare_rows) * len(others))
    return [1.0 if i in kept else v if i in others else 0.0 for i in range(n)], n * len(kept) / len(rare_rows)


@pytest.mark.parametrize("seed", range(60))
def test_the_sample_is_that_of_the_definition(monkeypatch, seed):
    draw = np.random.default_rng(seed)
    n, fewest = int(draw.integers(2, 60)), int(draw.integers(0, 12))
    monkeypatch.setattr(rare, "FEWEST_RARE", fewest)
    labels = np.where(draw.random(n) < draw.random() / 2, 1.0, -1.0)
    chosen = draw.random(n) < draw.random()
    found = with_rare(labels, chosen)
    expected, counts_for = defined(labels.tolist(), np.flatnonzero(chosen).tolist(), fewest)
    if chosen.all():
        expected, counts_for = [1.0] * n, n
    weights = np.ones(n) if found.weights is None else found.weights
    np.testing.assert_allclose(np.where(found.chosen, weights, 0), expected)
    assert found.counts_for == pytest.approx(counts_for)


def test_sums_over_the_sample_estimate_those_of_the_file(monkeypatch):
    """Over all first rows of which one is rare, their mean is the sum over the file."""
    monkeypatch.setattr(rare, "FEWEST_RARE", 2)
    labels, values = np.array([1.0, 1, 1, -1, -1, -1, -1, -1]), np.array([3.0, -1, 4, 1, -5, 9, 2, 6])
    sums = []
    for order in (np.random.default_rng(k).permutation(8) for k in range(6000)):
        chosen = np.arange(8) < 4
        if (labels[order] > 0)[:4].sum() == 1:
            found = with_rare(labels[order], chosen)
            sums.append(8 / found.counts_for * (values[order] * found.weights)[found.chosen].sum())
    error = np.std(sums) / len(sums) ** 0.5
    assert abs(np.mean(sums) - values.sum()) < 4 * error < 2


def test_sums_are_exact_if_all_rare_rows_are_taken_and_others_are_equal(monkeypatch):
    monkeypatch.setattr(rare, "FEWEST_RARE", 5)
    labels = np.repeat([1.0, -1.0], [4, 96])[np.random.default_rng(1).permutation(100)]
    found = with_rare(labels, np.arange(100) < 20)
    assert found.counts_for == 100
    weights = np.where(found.chosen, found.weights, 0)
    assert weights[labels > 0].sum() == 4 and weights[labels < 0].sum() == pytest.approx(96)


@pytest.mark.parametrize("labels", [[], [1.0] * 30, [1.0, 2.0, 3.0] * 10])
def test_other_labels_have_the_first_rows_alone(labels):
    chosen = np.arange(30) < 9
    found = with_rare(labels, chosen)
    assert found.weights is None and found.counts_for == 9 and np.array_equal(found.chosen, chosen)


def test_importances_and_places_of_the_batches_of_a_sample(monkeypatch):
    monkeypatch.setattr(rare, "FEWEST_RARE", 6)
    draw = np.random.default_rng(3)
    labels, importances = np.where(draw.random(200) < 0.05, 1.0, -1.0), draw.integers(1, 5, 200)
    lines = [Line(y, [(k + 1, 1.0)], float(h)) for k, (y, h) in enumerate(zip(labels, importances, strict=True))]
    batches = [batch_of(lines[i : i + 16]) for i in range(0, 200, 16)]
    summary = DataSummary(make_expander(Settings(), Normalizer()))
    counts = []
    for batch in batches:
        summary.take(batch)
        counts.append(len(batch))
    examples = DrawnExamples.of(summary, Batches(counts, batches.__getitem__))
    for two in (True, False):
        data = SimpleNamespace(summary=summary, has_two_labels=two)
        found = sample_of(data, examples, 40)
        expected, counts_for = defined(labels[examples.order].tolist() if two else [1.0] * 200, range(40), 6)
        rows = [k for k, h in enumerate(expected) if h]
        places = [examples.order[k] for k in rows]
        assert found.places.tolist()[: len(rows)] == places and sorted(found.places) == [*range(200)]
        assert [y for batch in found.batches for y in batch.label] == labels[places].tolist()
        wanted = [expected[k] * importances[examples.order[k]] for k in rows]
        np.testing.assert_allclose([h for batch in found.batches for h in batch.importance], wanted)
        assert found.counts_for == pytest.approx(counts_for)


def test_residuals_of_a_screening_sample_have_its_importances(monkeypatch):
    monkeypatch.setattr(rare, "FEWEST_RARE", 3)
    labels = np.array([-1.0, 1, -1, -1, 1, -1])
    sample = with_rare(labels, np.arange(6) < 3)
    rows = ScreenedRows(labels, None, sample, None)
    # Both rare rows, and two of the four others, each of which stands for two.
    assert [*rows.of_sample(np.arange(1.0, 7))] == [2.0, 2.0, 6.0, 5.0]
    assert rows.scale == 1.0 and [*rows.sampled] == [1, 1, 1, 0, 1, 0]
