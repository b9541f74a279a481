"""Batches from matrices: those of the libsvm text of the same rows; and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import drawn

from vwlite.core.data.batch import Batch
from vwlite.core.tables.matrix import Matrix, column_hashes
from vwlite.core.text.parser import Parser, name_hash

VALUES = st.one_of(st.just(0.0), st.floats(-(2.0**99), 2.0**99, width=32), st.sampled_from([1e-60, -1e-50, 1e30, 0.1]))
MATRICES = st.integers(0, 5).flatmap(
    lambda width: st.lists(st.lists(VALUES, min_size=width, max_size=width), min_size=0, max_size=6).map(
        lambda rows: np.array(rows, dtype=np.float64).reshape(len(rows), width)
    )
)
ARRAYS = (
    "label", "importance", "initial", "kind", "tag_begin", "span_begin", "feature_begin", "letter", "hash", "value",
)


def csr(dense, index=np.int32, kind=np.float64):
    """The arrays of a sparse matrix, zeros left in."""
    n, width = dense.shape
    columns = np.tile(np.arange(width, dtype=index), n)
    return dense.astype(kind).ravel(), columns, np.arange(n + 1, dtype=index) * index(width)


def text_of(dense, label):
    rows = (" ".join(f"{j}:{x!r}" for j, x in enumerate(row.tolist())) for row in dense)
    return "".join(f"{y:g} {row}\n" for y, row in zip(label, rows, strict=True)).encode()


def contents(batch):
    return {name: getattr(batch, name).tolist() for name in ARRAYS} if len(batch) else {}


@settings(max_examples=drawn(200), deadline=None)
@given(MATRICES, st.sampled_from([np.int32, np.int64]), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_a_batch_is_that_of_the_text(dense, index, kind, hash_all):
    label = np.arange(len(dense), dtype=np.float64) - 1
    expected, parser = Batch(), Parser(format="libsvm", hash_all=hash_all)
    assert parser.parse(text_of(dense, label), expected) == 0
    values, columns, begins = csr(dense, index, kind)
    sparse = Matrix(values, columns, begins, width=dense.shape[1], label=label, hash_all=hash_all)
    for matrix in (sparse, Matrix(dense.astype(kind), label=label, hash_all=hash_all)):
        batch = Batch()
        assert matrix.fill(batch, 0) == matrix.rows == len(dense)
        assert matrix.fault is None
        assert contents(batch) == contents(expected)


def test_rows_come_in_several_batches():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(9000, 21))
    weight = rng.exponential(size=9000)
    matrix, batch, row, seen = Matrix(dense, importance=weight), Batch(), 0, []
    while row < matrix.rows:
        before, row = row, matrix.fill(batch, row)
        assert len(batch) == row - before < matrix.rows
        assert batch.importance.tolist() == weight[before:row].tolist()
        assert np.isnan(batch.label).all()
        seen += batch.value.tolist()
    assert seen == dense.astype(np.float32).ravel().tolist()
    with pytest.raises(IndexError):
        matrix.fill(batch, matrix.rows + 1)


def fault_of(matrix):
    """What `fill` finds, from the first row on."""
    batch, row = Batch(), 0
    while row < matrix.rows:
        row = matrix.fill(batch, row)
        if row < 0:
            return matrix.fault
        assert matrix.fault is None
    return None


def one(values, columns, begins, width=4):
    return fault_of(Matrix(np.array(values, dtype=np.float64), np.array(columns), np.array(begins), width=width))


@pytest.mark.parametrize(
    ("arrays", "found"),
    [
        (([1, 2], [0, 4], [0, 2]), ("column", 0, 4)),
        (([1, 2], [-1, 2], [0, 2]), ("column", 0, -1)),
        (([1, 2, 3], [0, 2, 4], [0, 1, 3]), ("column", 1, 4)),
        (([1, 2, 3], [3, 3, 4], [0, 3]), ("column", 0, 4)),
        (([3e38, 3e38], [3, 3], [0, 2]), ("infinity", 0, 3)),
        (([1, np.inf, -np.inf], [1, 0, 0], [0, 3]), ("NaN", 0, 0)),
        (([1, np.nan], [0, 1], [0, 1, 2]), ("NaN", 1, 1)),
        (([1, -np.inf], [0, 3], [0, 0, 2]), ("infinity", 1, 3)),
        (([1, 1e39], [0, 3], [0, 0, 2]), ("infinity", 1, 3)),
        (([1, 2], [0, 1], [0, 3]), ("begin", 0, 0)),
        (([1, 2], [0, 1], [0, 2, 1]), ("begin", 1, 0)),
        (([1, 2], [0, 1], [-1, 2]), ("begin", 0, 0)),
    ],
)
def test_a_fault_has_a_place(arrays, found):
    assert one(*arrays) == found


def test_a_negative_column_is_outside_of_the_widest_matrix():
    arrays = np.ones(1), np.array([-1], dtype=np.int32), np.array([0, 1], dtype=np.int32)
    assert fault_of(Matrix(*arrays, width=2**32)) == ("column", 0, -1)


def test_arrays_that_do_not_fit_are_refused():
    values, columns, begins = csr(np.ones((2, 3)))
    for wrong in (
        (values[:5], columns, begins), (values[::2], columns[::2], begins), (values, columns, begins.astype(np.int64)),
        (values.astype(np.int64), columns, begins), (values, columns.astype(np.uint32), begins.astype(np.uint32)),
        (values, columns, begins[:0]), (values.reshape(2, 3), columns, begins),
    ):
        with pytest.raises(ValueError, match=r"fit together|float32|int32"):
            Matrix(*wrong, width=3)
    for label in (np.zeros(3), np.zeros(2, dtype=np.float32), np.zeros(4)[::2]):
        with pytest.raises(ValueError, match="one float64 for each row"):
            Matrix(values, columns, begins, width=3, label=label)
    with pytest.raises(ValueError, match="two dimensions"):
        Matrix(np.zeros(3))
    with pytest.raises(ValueError, match="too many"):
        Matrix(values, columns, begins, width=2**32 + 1)


def test_the_hashes_of_columns_are_those_of_their_names():
    for hash_all in (False, True):
        found = np.zeros(1005, dtype=np.uint32)
        column_hashes(found, hash_all=hash_all)
        assert found.tolist() == [name_hash(b"%d" % j, 0, hash_all) for j in range(1005)]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_fault_is_found_anywhere_in_a_large_matrix(kind):
    rng = np.random.default_rng(1)
    values, columns, begins = csr(rng.normal(size=(3000, 100)) + 9, kind=kind)
    matrix, dense = Matrix(values, columns, begins, width=100), Matrix(values.reshape(3000, 100))
    assert fault_of(matrix) is fault_of(dense) is None
    for row, column in ((0, 0), (655, 99), (656, 0), (1023, 17), (2999, 99)):
        at = 100 * row + column
        for value, what in ((np.inf, "infinity"), (np.nan, "NaN")):
            before, values[at] = values[at], value
            assert fault_of(matrix) == fault_of(dense) == (what, row, column)
            values[at] = before
        before, columns[at] = columns[at], 100
        assert fault_of(matrix) == ("column", row, 100)
        columns[at] = before
    assert fault_of(matrix) is fault_of(dense) is None


@settings(max_examples=drawn(200), deadline=None)
@given(st.data(), st.sampled_from([np.int32, np.int64]), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_columns_in_any_order_are_added_up_as_scipy_does(data, index, kind, hash_all):
    width = data.draw(st.integers(1, 6))
    sizes = data.draw(st.lists(st.integers(0, 8), max_size=6))
    columns = data.draw(st.lists(st.integers(0, width - 1), min_size=sum(sizes), max_size=sum(sizes)))
    halves = st.integers(-4, 4).map(lambda x: x / 2)  # no sum of them is rounded, in whichever order
    values = data.draw(st.lists(halves, min_size=sum(sizes), max_size=sum(sizes)))
    begins = np.array([0, *np.cumsum(sizes, dtype=np.int64)], dtype=index)
    given = np.array(values, dtype=kind), np.array(columns, dtype=index), begins
    expected = sp.csr_matrix(given, shape=(len(sizes), width), copy=True)
    expected.sum_duplicates()
    summed = (expected.data, expected.indices.astype(index), expected.indptr.astype(index))
    found = []
    for arrays in (given, summed):
        batch = Batch()
        matrix = Matrix(*arrays, width=width, label=np.zeros(len(sizes)), hash_all=hash_all)
        for _ in range(2):  # in the second pass, the order is known
            assert matrix.fill(batch, 0) == len(sizes)
            found.append(contents(batch))
    assert found[0] == found[1] == found[2] == found[3]


def test_a_matrix_that_changes_after_the_first_pass_is_looked_at_again():
    values, columns, begins = np.ones(4), np.array([2, 1, 1, 0]), np.array([0, 2, 4])
    matrix, batch = Matrix(values, columns, begins, width=3), Batch()
    assert matrix.fill(batch, 0) == 2
    values[3] = np.inf
    assert fault_of(matrix) == ("infinity", 1, 0)
    columns[3] = 3
    assert fault_of(matrix) == ("column", 1, 3)
    begins[1] = 1  # the second row has three values, of which two had an order
    assert fault_of(matrix) is not None


def test_sums_are_rounded_as_their_type_is():
    values, columns, begins = [1e8, 1.0, -1e8], [5, 5, 5], [0, 3]
    for kind, expected in ((np.float32, []), (np.float64, [1.0])):
        batch = Batch()
        Matrix(np.array(values, dtype=kind), np.array(columns), np.array(begins), width=6).fill(batch, 0)
        assert batch.value.tolist() == expected


def test_columns_are_numbered_where_they_have_many_values():
    for rows in (1, 2):
        dense = np.ones((rows, 5))
        values, columns, begins = csr(dense)
        for matrix in (Matrix(dense), Matrix(values, columns, begins, width=5)):
            batch = Batch()
            matrix.fill(batch, 0)
            expected = np.zeros(5, dtype=np.uint32)
            column_hashes(expected)
            assert batch.distinct.tolist() == (expected.tolist() if rows > 1 else [])
            assert batch.hash.tolist() == expected.tolist() * rows


def test_a_batch_that_another_matrix_has_filled_has_the_columns_of_the_last():
    batch = Batch()
    for hash_all in (False, True, False):
        Matrix(np.ones((4, 3)), hash_all=hash_all).fill(batch, 0)
        expected = np.zeros(3, dtype=np.uint32)
        column_hashes(expected, hash_all=hash_all)
        assert batch.hash.tolist() == expected.tolist() * 4
