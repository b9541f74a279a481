"""What is known of data after they were read once: with what is known of each example, and without."""

import numpy as np
import pytest
from batches import Line, batch_of

from vwlite.algorithms.settings import Settings
from vwlite.core.auto.summary import DataSummary
from vwlite.core.data.normalize import Normalizer
from vwlite.model.learners import make_expander


def summary_of(batch, **options):
    found = DataSummary(make_expander(Settings(), Normalizer()), **options)
    found.take(batch)
    return found


@pytest.fixture
def batch():
    r = np.random.default_rng(0)
    lines = []
    for i in range(50):
        features = [(j, float(r.integers(1, 9))) for j in (3, 5, 9) if r.random() < (0.2, 0.8)[j > 3]]
        lines.append(Line(float(i % 3), (*features, (11, 2.5))))
    return batch_of(lines)


def test_columns_are_the_same_without_examples(batch):
    one, other = summary_of(batch), summary_of(batch, keeps=False)
    key = make_expander(Settings()).constant_key
    assert other.dense(key) == one.dense(key)
    assert [column[0] for column in one.dense(key)] == [5, 9, 11]
    assert [column[2] for column in one.dense(key)] == [False, False, True]
    assert (other.examples, other.features) == (one.examples, one.features) == (50, 5)
    assert list(other.labels) == list(other.contents) == [] and other.moments() == (0.0, 0.0)


def test_labels_alone(batch):
    one, other = summary_of(batch), DataSummary(make_expander(Settings(), Normalizer()))
    other.take_labels(one.labels, one.importances, one.initials)
    assert list(other.labels) == list(one.labels) and other.examples == one.examples
    assert (other.moments(), other.rate(), other.has_initial) == (one.moments(), one.rate(), one.has_initial)
    with pytest.raises(ValueError, match="different lengths"):
        other.take_labels(one.labels, one.importances[1:], one.initials)


def test_a_normalizer_whose_columns_are_found_later():
    dense, keys, values = [(3, 1.5, False), (11, 2.5, True)], [3, 4, 11], [1.0, 2.0, 2.5]
    later = Normalizer("center", [(4, 7.0, False)])
    later.center(dense)
    assert later(keys, values) == Normalizer("center", dense)(keys, values) == ([4, 3], [2.0, -0.5])


@pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.5, 0.7, 1])
def test_rarer_labels(share):
    """Those that are not the label of more than half; else at least half."""
    rng = np.random.default_rng(3)
    for n in (1, 2, 40, 101):
        labels = np.where(rng.random(n) < share, 2.0, rng.integers(3, 9, n).astype(float))
        found, folds = DataSummary(make_expander(Settings(), Normalizer())), rng.integers(0, 3, n).astype(np.uint8)
        found.take_labels(labels, np.ones(n), np.zeros(n))
        values, counts = np.unique(labels, return_counts=True)
        usual = values[counts.argmax()]
        if 2 * counts.max() > n:
            assert found.rarer() == (labels != usual).sum()
            assert found.rarer(folds) == ((labels != usual) & (folds == 0)).sum()
        else:
            assert 2 * found.rarer() >= n
    with pytest.raises(ValueError, match="different lengths"):
        found.rarer(folds[1:])
