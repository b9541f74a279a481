"""Rows and columns in files: the same bits as in memory, and pages that are given back."""

import os
import re
from array import array
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from batch_problems import BITS, Drawn, draw, rows_of
from batches import Line, batch_of

from vwlite.algorithms.solvers import SOLVERS
from vwlite.core.base.checksum import Checksum, checksum
from vwlite.core.data.expand import Expander
from vwlite.core.solve.columns import Columns
from vwlite.core.solve.rows import Rows
from vwlite.core.solve.softmax import SoftmaxProblem


def in_file(lines: list[Line], *, blocks: int = 4, most: int = 1, bits: int = BITS) -> Rows:
    """Rows of which no batch stays in memory, nor do more than three entries of columns."""
    rows = Rows(Expander(bits=bits, constant=False), most=most)
    for first, last in pairwise(np.linspace(0, len(lines), blocks + 1).astype(int)):
        rows.add(batch_of(lines[first:last]))
    rows.finish()
    rows.limit(1, 24)
    return rows


@pytest.mark.parametrize("blocks", [1, 4, 30])
@pytest.mark.parametrize("most", [1, 40])
def test_rows_are_those_of_memory(blocks, most):
    lines = draw(3, "logistic").lines
    ours, one = in_file(lines, blocks=blocks, most=most), rows_of(lines)
    assert ours.in_file and not one.in_file
    assert [ours.row(i) for i in range(len(ours))] == [one.row(i) for i in range(len(one))]
    assert (ours.nonzeros, list(ours.keys), list(ours.labels)) == (one.nonzeros, list(one.keys), list(one.labels))
    ours.give_back()
    assert [bytes(part) for part in ours.entries] == [bytes(part) for part in one.entries]


def test_few_entries_stay_in_memory():
    rows = in_file(draw(3, "logistic").lines, most=10_000)
    assert not rows.in_file and Columns(rows).in_file


@pytest.mark.parametrize("lines", [[], [Line(1.0, [])], [Line(1.0, []), Line(-1.0, [(3, 1.0)])]])
def test_no_entries(lines):
    ours = in_file(lines, blocks=1)
    expected = [([], [])][: len(lines)] + [([0], [1.0])] * (len(lines) > 1)
    assert [ours.row(i) for i in range(len(ours))] == expected
    assert len(Columns(ours)) == len(ours.keys)


def test_sums_that_overflow_are_refused():
    rows = Rows(Expander(constant=False), most=1)
    rows.add(batch_of([Line(1.0, [(1, 3e38), (1, 3e38)]), Line(1.0, [(2, 1.0)])]))
    with pytest.raises(OverflowError, match="infinity"):
        rows.finish()


def solved(rows: Rows, name: str, loss: str) -> tuple[bytes, float, float, int]:
    """What a solver makes of a problem in some steps."""
    row = SOLVERS[name]
    options = {"radius": 0.7} if "radius" in row.needs else {"l2": 0.1} if "l2" in row.needs else {"l1": 0.05}
    options |= {"simplex": row.simplex, "penalize_constant": row.penalizes_constant}
    problem = Drawn(loss, [], rows).problem(**options)
    module, _, kind = row.kind.partition(":")
    solver = getattr(import_module(f"vwlite.core.solve.{module}"), kind)(problem)
    for _ in range(20):
        solver.step()
    problem.evaluate()
    return bytes(problem.w), problem.b, problem.lower_bound, solver.accesses


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_finds_the_same_bits(name):
    loss = SOLVERS[name].losses[-1] if name == "sdca" else "logistic"
    lines = draw(4, loss, n=80).lines
    ours, one = solved(in_file(lines), name, loss), solved(rows_of(lines), name, loss)
    assert ours == one and any(ours[0])


def test_the_gram_matrix_and_other_losses():
    for loss in ("squared", "squared-hinge", "poisson"):
        for name in ("newton", "cd"):
            lines = draw(6, loss, n=200).lines
            assert solved(in_file(lines), name, loss) == solved(rows_of(lines), name, loss)


def test_several_classes():
    lines = [Line(1.0 + i % 3, line.features) for i, line in enumerate(draw(4, "logistic").lines)]
    found = []
    for rows in (in_file(lines), rows_of(lines)):
        problem = SoftmaxProblem(rows, 3, 0.5)
        solver = import_module("vwlite.core.solve.gradient").AcceleratedGradient(problem)
        solver.step()
        found.append((bytes(problem.w), problem.objective, problem.lower_bound))
    assert found[0] == found[1]


def mapped() -> int:
    """Bytes of files that this process has in memory."""
    found = re.search(r"RssFile:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return 1024 * int(found[1])


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc")
def test_pages_are_given_back():
    """8 million entries, 64 MB as rows and as columns, within 4 MB each."""
    batch = batch_of([Line(1.0 - 2 * (i % 2), [(k, 1.0 + i % 7) for k in range(4000)]) for i in range(50)])
    rows = Rows(Expander(bits=20, constant=False), most=1 << 18)
    for _ in range(40):
        rows.add(batch)
    before = mapped()
    rows.finish()
    rows.limit(4 << 20, 4 << 20)
    assert rows.nonzeros == 8_000_000
    problem = Drawn("logistic", [], rows).problem(l1=0.1)
    problem.evaluate()
    problem.make_columns(0.1)
    assert problem.columns.in_file
    assert mapped() - before < 12 << 20
    assert len(Columns(rows)) == 4000
    assert mapped() - before < 12 << 20


def test_a_file_that_cannot_be_written(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    rows = Rows(Expander(constant=False), most=1)
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="No space"):
        rows.add(batch_of([Line(1.0, [(1, 1.0), (2, 1.0)])]))
    monkeypatch.undo()
    whole = in_file(draw(3, "logistic").lines)
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="No space"):
        Columns(whole)


def test_checksums_in_parts():
    data = array("B", range(251)).tobytes() * 3
    for cuts in ([0, 32, 64, 753], [0, 96, 753], [0, 704, 753], [0, 753], [0, 0, 0]):
        sums = Checksum()
        for first, end in pairwise(cuts):
            sums.add(data[first:end])
        assert sums.value == checksum(data[: cuts[-1]])
    with pytest.raises(ValueError, match="stripes"):
        sums = Checksum()
        sums.add(data[:33])
        sums.add(data[:1])
