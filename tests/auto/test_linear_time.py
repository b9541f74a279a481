"""Training takes time in proportion to the rows, also where nothing predicts better than a constant; and it ends soon
after a signal, whatever it is doing then."""

import os
import signal
import time
from itertools import product

import numpy as np
import pytest
from tables import written

from vwlite.training.auto.data import DrawnExamples
from vwlite.training.auto.derive import Stages
from vwlite.training.auto.final_choice import FinalChoice
from vwlite.training.auto.learning import FilePredictions
from vwlite.training.auto.race import Race
from vwlite.training.auto.selection import Selection
from vwlite.training.auto.sparse_folds import FoldSearch
from vwlite.training.auto.sparse_trainer import SparseChoice, SparseTrainer

ROWS, FEW = 5_000, 1_000
TABLE = ["--label", "y"]
LABELS = {"two labels": [], "numbers": [], "classes": ["--classes", "auto"]}
KINDS = {
    **{f"{labels}, {rows}": (labels, rows, [*TABLE, *options])
       for (labels, options), rows in product(LABELS.items(), ("noise", "two kinds", "equal"))},
    "words": ("two labels", "words", TABLE),
    "text": ("two labels", "lines", []),
    "equal lines": ("two labels", "equal lines", []),
    "groups": ("two labels", "groups", [*TABLE, "--group", "g"]),
    "sparse": ("two labels", "noise", [*TABLE, "--sparse"]),
    "sparse numbers": ("numbers", "equal", [*TABLE, "--sparse"]),
    "median": ("numbers", "noise", [*TABLE, "--loss", "quantile"]),
    "quantiles": ("numbers", "two kinds", [*TABLE, "--loss", "quantile", "--quantile-tau", "0.1,0.5"]),
    "huber": ("numbers", "two kinds", [*TABLE, "--loss", "huber"]),
}  # fmt: skip


def data_of(path, labels: str, kind: str, n: int):
    """Rows whose labels have nothing to do with them, unless they are to be told by them."""
    rng = np.random.default_rng(1)
    y = {"two labels": rng.choice(["-1", "1"], n), "classes": rng.choice(["a", "b", "c"], n),
         "numbers": rng.normal(size=n).round(3).astype(str)}[labels]
    words = rng.choice([*"abcdef"], (n, 2))
    columns = {
        "noise": rng.random((n, 2)).round(3).astype(str), "told": y[:, None],
        "two kinds": rng.choice(["u", "v"], (n, 1)),
        "equal": np.full((n, 1), "u"), "words": words, "lines": words, "equal lines": np.full((n, 2), "a"),
        "groups": np.c_[np.arange(n) // 10, rng.random(n).round(3)].astype(str),
    }[kind]
    if "lines" in kind:
        path.write_text("".join(f"{label} |f {' '.join(row)}\n" for label, row in zip(y, columns, strict=True)))
        return path
    names = ["g", "x"] if kind == "groups" else ["x", "z"][: columns.shape[1]]
    return written(path, ["y", *names], ([label, *row] for label, row in zip(y, columns.tolist(), strict=True)))


@pytest.mark.third
@pytest.mark.parametrize("kind", KINDS)
def test_four_times_the_rows_take_at_most_five_times_as_long(vwlite, tmp_path, kind):
    labels, rows, options = KINDS[kind]
    few, many = (data_of(tmp_path / f"{n}.data", labels, rows, n) for n in (ROWS, 4 * ROWS))
    form = ["--format", "vw" if "lines" in rows else "csv"]

    def seconds(path) -> float:
        before = time.process_time()
        vwlite("train", path, *form, *options, "-m", tmp_path / "m")
        return time.process_time() - before

    ratios = []
    for _ in range(4):
        ratios.append(seconds(many) / seconds(few))
        if min(ratios) <= 5:
            return
    raise AssertionError(ratios)


# What a run does, and whether --sparse does it.
PLACES = {
    "drawing": (DrawnExamples, "_add", False), "race": (Race, "_race", False),
    "scores": (Selection, "_stacked", False), "final choice": (FinalChoice, "chosen", False),
    "screening": (Stages, "_residuals", False), "stages": (Stages, "_judge", False),
    "predictions": (FilePredictions, "in_file", False), "grid": (SparseTrainer, "_grid_of", True),
    "learners": (FoldSearch, "_loss", True), "front": (SparseChoice, "find", True),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_a_signal_is_obeyed_at_once(vwlite, tmp_path, monkeypatch, place):
    """No pass is begun after it."""
    owner, name, is_sparse = PLACES[place]
    data = data_of(tmp_path / "d.csv", "two labels", "told" if is_sparse else "noise", FEW)
    method, one_pass, sent, late = getattr(owner, name), Selection._one_pass, [], []

    def interrupted(self, *args, **named):
        if not sent:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.2)
            sent.append(name)
        return method(self, *args, **named)

    def counted(self, c, number):
        late.extend([number] * bool(sent and not self.stopped))
        return one_pass(self, c, number)

    monkeypatch.setattr(owner, name, interrupted)
    monkeypatch.setattr(Selection, "_one_pass", counted)
    how = [*TABLE, *["--sparse"] * is_sparse, "--threads", "1"]
    said = vwlite("train", data, *how, "-m", tmp_path / "m", code=143).err
    assert "interrupted by signal 15" in said and sent and not late


def test_columns_are_not_screened_after_a_signal(vwlite, tmp_path, monkeypatch):
    """There may be very many pairs of them."""

    def interrupted(self, trainer):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.2)
        return None, None  # of which nothing can be asked

    monkeypatch.setattr(Stages, "_residuals", interrupted)
    data = data_of(tmp_path / "d.csv", "two labels", "noise", FEW)
    vwlite("train", data, *TABLE, "-m", tmp_path / "m", code=143)
