"""Folds and the drawn order, beside their references and by what they are for."""

import numpy as np
import pytest
from batches import Line, batch_of
from slow_auto import content_of, drawn_order, folds_by_runs
from streams import random_stream

from vwlite.auto.data import DrawnExamples
from vwlite.core.auto.order import folds_of
from vwlite.core.auto.summary import DataSummary
from vwlite.core.data.expand import Expander
from vwlite.core.data.normalize import Normalizer


def summary_of(batches) -> tuple[DataSummary, list[int]]:
    found = DataSummary(Expander(normalizer=Normalizer()))
    ends = [found.take(batch) and found.examples for batch in batches]
    return found, [end - begin for begin, end in zip([0, *ends], ends, strict=False)]


def used(stream: list[Line]) -> list[Line]:
    return [line for line in stream if line.kind == 0 and line.label == line.label and line.importance > 0]


def cut(stream: list[Line], size: int) -> list:
    return [batch_of(stream[at : at + size], numbered=at % 3 == 0) for at in range(0, len(stream), size)]


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 200, 3000])
@pytest.mark.parametrize("folds", [2, 4])
def test_folds_are_those_of_the_reference(n, folds):
    contents = np.random.default_rng(n).integers(0, 2**64, n, dtype=np.uint64)
    out = bytearray(n)
    folds_of(contents, out, folds)
    assert list(out) == folds_by_runs(contents.tolist(), folds)


def test_few_distinct_rows_are_cut_by_number():
    contents = np.random.default_rng(0).choice(np.array([7, 16], np.uint64), 4000)
    out = bytearray(4000)
    folds_of(contents, out, 4)
    assert list(out) == folds_by_runs(contents.tolist(), 4)
    assert min(np.bincount(np.frombuffer(out, np.uint8), minlength=4)) > 700


def test_equal_rows_share_a_fold():
    """A file three times after itself, and each row twice in a row."""
    contents = np.random.default_rng(1).integers(0, 2**64, 4000, dtype=np.uint64)
    out = bytearray(12000)
    folds_of(np.tile(contents, 3), out, 4)
    folds = np.frombuffer(out, np.uint8).reshape(3, -1)
    assert (folds[1] == folds[2]).all() and (folds[0] != folds[1]).sum() < 64
    out = bytearray(8000)
    folds_of(np.repeat(contents, 2), out, 4)
    pairs = np.frombuffer(out, np.uint8).reshape(-1, 2)
    assert (pairs[:, 0] == pairs[:, 1]).all()


def test_contents_are_those_of_the_reference():
    stream = random_stream(2, 300, loss="logistic")
    found, _ = summary_of(cut(stream, 40))
    pairs = [list(zip(*line.features, strict=True)) or [(), ()] for line in used(stream)]
    expected = [content_of(*pair) for pair in pairs]
    assert found.contents.tolist() == expected
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
    examples = DrawnExamples.of(summary, counts, batches.__getitem__)
    assert examples.order.tolist() == drawn_order(n)
    assert [label for batch in examples.batches() for label in batch.label] == [float(i) for i in drawn_order(n)]


def test_only_what_can_be_learned_is_drawn():
    stream = random_stream(9, 900, loss="logistic")
    batches = cut(stream, 50)
    summary, counts = summary_of(batches)
    examples = DrawnExamples.of(summary, counts, batches.__getitem__)
    kept = used(stream)
    assert summary.examples == len(kept) == sum(counts) and sorted(examples.order) == list(range(len(kept)))
    found = [label for batch in examples.batches() for label in batch.label]
    assert found == [kept[i].label for i in examples.order]


def test_large_data_are_kept_in_a_temporary_file(monkeypatch):
    monkeypatch.setattr("vwlite.auto.data.IN_MEMORY", 5000)
    monkeypatch.setattr("vwlite.auto.data.BATCH", 100)
    stream = [Line(float(i), ((i, 1.0), (i + 1, 2.0))) for i in range(500)]
    batches = cut(stream, 30)
    summary, counts = summary_of(batches)
    examples = DrawnExamples.of(summary, counts, batches.__getitem__)
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
