"""The sample of rows that `vwlite report` measures effects on."""

import json
import random
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from vwlite.evaluation.sampling import Sampling
from vwlite.input.parsing import EXAMPLE


def batches(rows, size):
    """Batches of so many examples, with a blank line behind each tenth; lines have ten bytes."""
    done = 0
    while rows:
        n = min(size, rows)
        kind = [kind for i in range(n) for kind in [EXAMPLE, *[1] * (i % 10 == 9)]]
        rows, done = rows - n, done + 10 * n
        yield SimpleNamespace(batch=SimpleNamespace(kind=np.array(kind)), done=done, total=None)


def sampled(rows, most, size=1000, known=True):
    """The numbers of the rows that are taken, and the sampling."""
    found, numbers, first = Sampling(most), [], 0
    for parsed in batches(rows, size):
        parsed.total = 10 * rows if known else None
        mask = found.of(parsed)
        examples = np.flatnonzero(parsed.batch.kind == EXAMPLE)
        mask = parsed.batch.kind == EXAMPLE if mask is None else mask
        assert not mask[parsed.batch.kind != EXAMPLE].any()
        numbers += (first + np.flatnonzero(mask[examples])).tolist()
        first += len(examples)
    assert (found.rows, found.taken) == (rows, len(numbers))
    return np.array(numbers)


@pytest.mark.parametrize("size", [100, 1000, 7777])
def test_a_sample_is_spread_evenly_and_has_about_the_rows_it_should(size):
    rows, most = 50_000, 5000
    found = sampled(rows, most, size)
    assert abs(len(found) - most) <= 0.02 * most
    assert np.histogram(found, 50, (0, rows))[0] == pytest.approx(np.full(50, most / 50), abs=3)
    for period in (2, 7, 10, 24):  # as of data in the order of days
        assert np.bincount(found % period) / len(found) == pytest.approx(np.full(period, 1 / period), rel=0.1)
    assert len(found) == len({*found}) and (np.diff(found) > 0).all()


@pytest.mark.parametrize(("rows", "known"), [(900, True), (1000, True), (1200, True), (50_000, False)])
def test_few_rows_and_those_of_a_pipe_are_all_taken(rows, known):
    assert len(sampled(rows, 1000, known=known)) == rows
    assert len(sampled(2000, 1000)) < 1100


def test_a_report_says_that_effects_are_of_a_sample(vwlite, tmp_path, monkeypatch):
    """Its measures are of all rows, and effects nearly those of all."""
    monkeypatch.chdir(tmp_path)
    chance = random.Random(5)
    rows = [(chance.gauss(0, 1), chance.choice("abc")) for _ in range(4000)]
    Path("t.csv").write_text("x,w,y\n" + "".join(
        f"{x:.4f},{w},{int(x + (w == 'b') + chance.gauss(0, 1) > 0)}\n" for x, w in rows))
    vwlite("train", "t.csv", "--label", "y", "-m", "m", "--quiet")
    whole = json.loads(vwlite("report", "-m", "m", "t.csv", "--json").out)
    assert "a sample of" not in vwlite("report", "-m", "m", "t.csv").out
    monkeypatch.setattr(Sampling.__init__, "__defaults__", (1000,))
    found = json.loads(vwlite("report", "-m", "m", "t.csv", "--json").out)
    taken = found["models"][0]["rows_of_effects"]
    assert whole["models"][0]["rows_of_effects"] == 4000 and abs(taken - 1000) < 50
    assert found["measures"] == whole["measures"] and found["models"][0]["worst"] == whole["models"][0]["worst"]
    for name in ("x", "w"):
        a, b = ({e["name"]: e["deviation"] for e in of["models"][0]["effects"]}[name] for of in (found, whole))
        assert np.ravel(a) == pytest.approx(np.ravel(b), rel=0.1)
    page = vwlite("report", "-m", "m", "t.csv").out
    assert f"All this is of a sample of {taken:,} of the 4,000 rows." in page
