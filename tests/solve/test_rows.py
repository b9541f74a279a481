"""Rows and columns: what is counted, in which order, and what is summed."""

from math import nan

import numpy as np
import pytest
from batch_problems import draw, rows_of
from batches import Line, batch_of

from vwlite.core.data import expand
from vwlite.core.data.expand import Expander
from vwlite.core.solve.rows import Rows


def test_only_labelled_examples_of_some_importance_count():
    lines = [
        Line(1.0, [(5, 1.0)], 2.0, 0.5),
        Line(nan, [(6, 1.0)]),
        Line(nan, [], kind=1),
        Line(2.0, [(7, 1.0)], 0.0),
        Line(3.0, []),
    ]
    rows = rows_of(lines)
    assert (len(rows), rows.unlabelled, rows.nonzeros) == (2, 1, 1)
    assert (list(rows.labels), list(rows.importance), list(rows.initial)) == ([1.0, 3.0], [2.0, 1.0], [0.5, 0.0])
    assert list(rows.keys) == [5]


def test_columns_are_numbered_by_key_and_repeated_features_summed():
    lines = [
        Line(1.0, [(9, 1.0), (4, 2.0), (9, 0.5)]),
        Line(1.0, [(2, 1.0), (9, 3.0), (4 + 32, 1.0), (4, 1.0), (2, -1.0)]),
    ]
    rows = rows_of(lines)
    assert list(rows.keys) == [2, 4, 9]
    assert rows.row(0) == ([2, 1], [1.5, 2.0])
    assert rows.row(1) == ([0, 2, 1], [0.0, 3.0, 2.0])
    assert rows.nonzeros == 5
    with pytest.raises(IndexError):
        rows.row(2)


@pytest.mark.parametrize("blocks", [1, 2, 7])
@pytest.mark.parametrize("numbered", [False, True])
def test_blocks_and_numbers_are_invisible(blocks, numbered):
    lines = draw(1, "logistic").lines
    ours, one = rows_of(lines, blocks=blocks, numbered=numbered), rows_of(lines)
    assert list(ours.keys) == list(one.keys)
    assert [ours.row(i) for i in range(len(ours))] == [one.row(i) for i in range(len(one))]


def test_many_keys():
    rng = np.random.default_rng(2)
    keys = rng.integers(0, 2**32, 20_000, dtype=np.uint64)
    rows = rows_of([Line(1.0, [(int(k), 1.0)]) for k in keys], bits=32)
    assert list(rows.keys) == sorted(set(keys.tolist()))
    assert all(rows.keys[rows.row(i)[0][0]] == keys[i] for i in range(0, len(keys), 97))


def test_an_oversized_line_is_one_row(monkeypatch):
    monkeypatch.setattr(expand, "most_whole", 16)
    monkeypatch.setattr(expand, "chunk_size", 4)
    rows = rows_of([Line(1.0, [(k % 25, 1.0) for k in range(50)])], bits=32)
    assert rows.row(0) == (list(range(25)), [2.0] * 25)


def test_finished_rows_take_no_more():
    rows = rows_of([Line(1.0, [(1, 1.0)])])
    with pytest.raises(ValueError, match="finished"):
        rows.add(batch_of([Line(1.0, [(1, 1.0)])]))


def test_sums_that_overflow_are_refused():
    rows = Rows(Expander(constant=False))
    rows.add(batch_of([Line(1.0, [(1, 3e38), (1, 3e38)])]))
    with pytest.raises(OverflowError, match="infinity"):
        rows.finish()
