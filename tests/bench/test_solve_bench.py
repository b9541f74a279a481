"""The bench of `vwlite solve`: its tables, and what it does to LIBLINEAR."""

import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from benches import load, start


@pytest.fixture
def bench() -> ModuleType:
    return load("solve")


def results_of(bench):
    return [
        bench.Result("logistic", "rcv1 0.1", 0.2, 1.0, "`-e 0.5`"),
        bench.Result("logistic", "rcv1 0.01", 0.8, 1.0),
        bench.Result("logistic", "rcv1 0.001", 0.5, math.inf, "LIBLINEAR does not reach it"),
        bench.Result("svm", "a9a C = 1", 0.7, 1.0),
        bench.Result("memory", "5 documents, 0.01", 3.0, 2.0, "MB"),
    ]


def test_goals_are_of_the_mean_and_of_the_largest_ratio(bench) -> None:
    lines = bench.summary(results_of(bench)).splitlines()[2:]
    assert lines[0] == "| logistic l1, over LIBLINEAR `-s 6` | 2 of 3 | 0.40 | 0.45 | 0.80 | 0.75 | **no** |"
    assert lines[3] == "| SVM dual, over LIBLINEAR `-s 3` | 1 | 0.70 |  | 0.70 | 0.70 | yes |"
    assert lines[1].endswith("| 0.85 | not measured |") and "| **no** |" in lines[7] and len(lines) == len(bench.GOALS)


def test_the_table_has_a_row_for_each_case(bench) -> None:
    lines = bench.table_of(results_of(bench)).splitlines()[2:]
    assert lines[0] == "| logistic | rcv1 0.1 | 0.2000 s | 1.0000 s | 0.20 | `-e 0.5` |"
    assert lines[2] == "| logistic | rcv1 0.001 | 0.5000 s | - | - | LIBLINEAR does not reach it |"
    assert lines[4] == "| memory | 5 documents, 0.01 | 3.0 MB | 2.0 MB | 1.50 | MB |"


def test_the_results_are_kept_with_those_of_before(bench, tmp_path: Path) -> None:
    kept = tmp_path / "SOLVE.md"
    bench.keep(kept, results_of(bench), "made before")
    bench.keep(kept, [bench.Result("svm", "a9a C = 1", 0.6, 1.0)], "made then")
    text = kept.read_text()
    assert text.startswith("# `vwlite solve` against others\n\n") and "make bench-solve" not in text.split("|")[0]
    assert "| svm | a9a C = 1 | 0.6000 s |" in text and "| memory | 5 documents" in text
    assert text.endswith("made then\n")


def test_the_loosest_of_a_ladder_is_found(bench) -> None:
    asked = []

    def reaches(e: float) -> bool:
        asked.append(e)
        return e <= 0.01

    ladder = [2.0**-k for k in range(1, 24)]
    assert bench.loosest(reaches, ladder) == 2.0**-7 and len(asked) < 7
    assert bench.loosest(lambda e: False, ladder) is None and bench.loosest(lambda e: True, ladder) == 0.5


def test_liblinear_tells_when_a_solver_begins(bench) -> None:
    one = "\n\t\t\ttranspose(prob, &x_space ,&prob_col);\n"
    source = "train_one {\n\tswitch(solver_type)\n\t{\n\t\tcase L2R_LR:" + one + one
    assert bench.with_marks(source).count('info("begin\\n");') == 3
    with pytest.raises(ValueError, match=r"not that of 2\.50\.0"):
        bench.with_marks(source + one)


def test_a_model_of_liblinear_is_read(bench, tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_text("solver_type L1R_LR\nnr_class 2\nlabel -1 1\nnr_feature 3\nbias -1\nw\n0.5 \n-2 \n0 \n")
    assert bench.model_weights(path, 4).tolist() == [-0.5, 2, 0, 0]


def test_objectives_are_those_of_the_problem(bench) -> None:
    pytest.importorskip("scipy")
    data = load("papers.data").arcene(20, 30, 10)
    found = bench.case("x", data)
    w = np.linspace(-1, 1, data.features)
    p = data.dense(np.float32).astype(float) @ w
    expected = np.logaddexp(0, -data.labels * p).mean() + 0.1 * np.abs(w).sum()
    assert found.objective("logistic", w, 0.1) == pytest.approx(expected, rel=1e-12)


def test_the_quick_bench_of_ours_against_theirs(bench, tmp_path: Path) -> None:
    for name in ("scipy", "liblinear"):
        pytest.importorskip(name)
    start("solve", "--quick", "--work", tmp_path, "--results", tmp_path / "SOLVE.md", "--only", "logistic", "path")
    text = (tmp_path / "SOLVE.md").read_text()
    assert text.count("| logistic | documents 0.") == 3 and text.count("| path | documents |") == 1
