"""What is known of examples, and the drawn order, beside their references."""

import numpy as np
import pytest
from batches import Line, batch_of
from slow_auto import content_of, drawn_order
from streams import random_stream

from vwlite.core.auto.summary import DataSummary
from vwlite.core.data.expand import Expander
from vwlite.core.data.normalize import Normalizer
from vwlite.training.auto.data import Batches, DrawnExamples


def summary_of(batches) -> tuple[DataSummary, list[int]]:
    found = DataSummary(Expander(normalizer=Normalizer()))
    ends = [found.take(batch) and found.examples for batch in batches]
    return found, [end - begin for begin, end in zip([0, *ends], ends, strict=False)]


def used(stream: list[Line]) -> list[Line]:
    return [line for line in stream if line.kind == 0 and line.label == line.label and line.importance > 0]


def cut(stream: list[Line], size: int) -> list:
    return [batch_of(stream[at : at + size], numbered=at % 3 == 0) for at in range(0, len(stream), size)]


def test_contents_are_those_of_the_reference():
    stream = random_stream(2, 300, loss="logistic")
    found, _ = summary_of(cut(stream, 40))
    pairs = [list(zip(*line.features, strict=True)) or [(), ()] for line in used(stream)]
    expected = [content_of(*pair) for pair in pairs]
    assert found.contents.tolist() == expected
    assert found.feature_counts.tolist() == [len(line.features) for line in used(stream)]
    assert found.labels.tolist() == [line.label for line in used(stream)]


def test_contents_do_not_depend_on_the_order_of_features():
    lines = [Line(1.0, ((5, 1.0), (9, 2.0), (5, 0.5))), Line(1.0, ((9, 2.0), (5, 1.5)))]
    found, _ = summary_of([batch_of(lines)])
    assert found.contents[0] == found.contents[1]


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 500])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_order_is_that_of_the_reference(n, size):
    stream = [Line(float(i), ((i, 1.0),)) for i in range(n)]
    batches = cut(stream, size)
    summary, counts = summary_of(batches)
    examples = DrawnExamples.of(summary, Batches(counts, batches.__getitem__))
    assert examples.order.tolist() == drawn_order(n)
    assert [label for batch in examples.batches() for label in batch.label] == [float(i) for i in drawn_order(n)]


def test_only_what_can_be_learned_is_drawn():
    stream = random_stream(9, 900, loss="logistic")
    batches = cut(stream, 50)
    summary, counts = summary_of(batches)
    examples = DrawnExamples.of(summary, Batches(counts, batches.__getitem__))
    kept = used(stream)
    assert summary.examples == len(kept) == sum(counts) and sorted(examples.order) == list(range(len(kept)))
    found = [label for batch in examples.batches() for label in batch.label]
    assert found == [kept[i].label for i in examples.order]


@pytest.mark.parametrize("size", [0, 5000, 27_999, 28_000])
def test_large_data_are_kept_in_a_temporary_file(monkeypatch, size):
    """40 bytes of an example, and 8 of a feature, are counted."""
    monkeypatch.setattr("vwlite.training.auto.data.IN_MEMORY", size)
    monkeypatch.setattr("vwlite.training.auto.data.BATCH", 100)
    stream = [Line(float(i), ((i, 1.0), (i + 1, 2.0))) for i in range(500)]
    batches = cut(stream, 30)
    summary, counts = summary_of(batches)
    examples = DrawnExamples.of(summary, Batches(counts, batches.__getitem__))
    assert examples.in_memory == (size >= 500 * 40 + 1000 * 8)
    for _ in range(2):
        found = [(batch.label[i], batch.hash[2 * i]) for batch in examples.batches() for i in range(len(batch))]
        assert found == [(float(i), i) for i in drawn_order(500)]


def test_columns_that_most_examples_have():
    rng = np.random.default_rng(3)
    x = rng.normal(5, 1, (200, 4)).astype(np.float32)
    has = [(True, True, i % 2, i % 3 == 0) for i in range(200)]
    x[:, 1] = 3
    lines = [Line(1.0, tuple((k + 1, x[i, k]) for k in range(4) if has[i][k])) for i in range(200)]
    summary, _ = summary_of([batch_of(lines)])
    assert summary.features == 5
    columns = {key: (mean, equal) for key, mean, equal in summary.dense(Expander().constant_key)}
    assert list(columns) == [1, 2, 3]
    assert columns[1] == (pytest.approx(x[:, 0].mean(), rel=1e-6), False) and columns[2] == (3.0, True)
    assert columns[3] == (pytest.approx(x[1::2, 2].sum() / 200, rel=1e-6), False)


def test_moments_are_weighted():
    lines = [Line(1.0, ((1, 1.0),), 2.0), Line(4.0, ((1, 1.0),), 1.0)]
    summary, _ = summary_of([batch_of(lines)])
    assert summary.moments() == (2.0, pytest.approx(np.sqrt(2)))
