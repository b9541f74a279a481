"""The benchmark works; how fast anything is, no test says."""

import importlib.util
import json
import math
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from vwlite.algorithms.table import ALGORITHMS

HERE = Path(__file__).parent
BENCH = HERE / "bench.py"
PROJECTION = HERE / "projection.py"
COMPARE = HERE / "compare.py"
CLAIMS = HERE / "claims.py"
DIMENSION = HERE / "dimension.py"


def cells_of(text: str) -> list[list[str]]:
    """The tables in a text, row by row."""
    return [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]


def filled(folder: Path, program: Path, *options: str, name: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a quick benchmark that writes between its markers in a file, and see that it does that only."""
    results, name = folder / "RESULTS.md", name or program.stem
    results.write_text(f"a\n<!-- begin bench: {name} -->\nold\n<!-- end bench: {name} -->\nb\n")
    command = [sys.executable, str(program), "--quick", "--results", str(results), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = results.read_text()
    assert text.startswith("a\n") and text.endswith("b\n") and "\nold\n" not in text
    assert done.stdout in text
    return done


def test_some_rows_of_the_quick_benchmark_fill_a_table(tmp_path: Path) -> None:
    done = filled(tmp_path, BENCH, "--folder", str(tmp_path), "--only", "libsvm", name="some")
    table = cells_of(done.stdout)
    assert {len(cells) for cells in table} == {7} and len(table) > 2
    assert all(not cells[0].strip() or "libsvm" in cells[0] for cells in table[2:])


@pytest.mark.long  # 60 CPU seconds
def test_the_quick_benchmark_fills_its_table(tmp_path: Path) -> None:
    stand_in = Path(sys.executable).with_name("vwlite")
    done = filled(tmp_path, BENCH, "--folder", str(tmp_path), "--portable", str(stand_in))
    table = cells_of(done.stdout)
    assert {len(cells) for cells in table} == {7}
    works = " ".join(cells[0] for cells in table)
    rows = ["`gd`", "clicks", "predict", "libsvm", "cache", "`sgd`", "`l1-ball`", "`adagrad`", "`arow`", "memory"]
    rows += ["meals", "over their text", "one thread", "the portable build, train", "the portable build, a pass"]
    if importlib.util.find_spec("sklearn"):
        rows.append("in memory")
    for word in (*rows, "`vwlite vw`", "--version", "one"):
        assert word in works
    assert "Progressive logistic loss: documents: vwlite 0." in done.stdout


def test_the_quick_benchmark_of_projections_fills_its_table(tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    done = filled(tmp_path, PROJECTION, "--picture", str(picture))
    table = cells_of(done.stdout)
    assert [len(cells) for cells in table] == [8] * 4
    assert "sparse, k = 50" in done.stdout
    if importlib.util.find_spec("matplotlib"):
        assert picture.read_bytes().startswith(b"\x89PNG")
    else:
        assert "pip install 'vwlite[bench]'" in done.stderr and not picture.exists()


def test_the_quick_benchmark_of_dimensions_fills_its_table(tmp_path: Path) -> None:
    done = filled(tmp_path, DIMENSION)
    table = cells_of(done.stdout)
    assert {len(cells) for cells in table} == {7}
    named = [cells[0].strip(" `") for cells in table if cells[0].startswith(" `") and "--" not in cells[0]]
    assert named == [name for name in ALGORITHMS if name != "adagrad-full"] * 2
    used = [int(n.replace(",", "")) for n in re.search(r"in use: ([0-9, ]+)\.", done.stdout)[1].split(", ")]
    assert used == sorted(used) and used[-1] == 500  # all of them different


def test_the_growth_of_time_is_that_of_the_least_times(dimension) -> None:
    times = {"sgd": {10**4: [9.0, 5.0], 10**5: [20.0, 15.0]}, "eg": {10**4: [2.0, 3.0], 10**5: [9.0, 8.0]}}
    assert list(dimension.rows(times))[2:] == [
        "| `sgd` | 5.0 ns | 3.00 | **no** |",
        "| `eg` | 2.0 ns | 4.00 | **no** |",
    ]
    assert list(dimension.rows(times, "sgd"))[2:] == [
        "| `sgd` | 5.0 ns | 3.00 (1.00) | yes |",
        "| `eg` | 2.0 ns | 4.00 (1.33) | yes |",
    ]


def only(name: str) -> pytest.MarkDecorator:
    """A benchmark of one data set; that of all is `long`."""
    return pytest.mark.parametrize("only", [["--only", name], pytest.param([], marks=pytest.mark.long)], ids=str)


@only("tumours")
def test_the_quick_comparison_has_every_algorithm(tmp_path: Path, only: list[str]) -> None:
    command = [sys.executable, str(COMPARE), "--quick", "--out", str(tmp_path), *only]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "compare.json").read_text())["sets"]
    assert set(found) == {"tumours"} if only else {"documents", "tumours"} <= set(found)
    if not only:  # documents have too many features for a matrix
        assert set(found["documents"]["algorithms"]) == set(ALGORITHMS) - {"adagrad-full"}
    assert set(found["tumours"]["algorithms"]) == set(ALGORITHMS)
    for name, results in found.items():
        rows, weights = results["algorithms"], results["features"] * (results["classes"] if name == "digits" else 1)
        for row in rows.values():
            assert 0 <= row["error"] <= 1 and 0 <= row["nonzeros"] <= weights
            assert len(row["curve"]) in (0, 2)
        assert f"compare-{name}.png" in done.stdout
        assert all(f"| `{algorithm}` |" in done.stdout for algorithm in rows)
        assert name != "tumours" or min(row["error"] for row in rows.values()) < 0.1
        if importlib.util.find_spec("matplotlib"):
            assert (tmp_path / f"compare-{name}.png").read_bytes().startswith(b"\x89PNG")
    if not importlib.util.find_spec("matplotlib"):
        assert "pip install 'vwlite[bench]'" in done.stderr


def test_the_comparison_says_where_missing_data_can_be_had(tmp_path: Path) -> None:
    command = [sys.executable, str(COMPARE), "--data", str(tmp_path / "gone"), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 66
    assert f"no rcv1.train.libsvm.gz in {tmp_path / 'gone'}: --data names the folder" in done.stderr
    assert "UCI Machine Learning Repository" in done.stderr
    assert list(tmp_path.iterdir()) == []


@only("digits")
def test_the_quick_claims_have_their_tables(tmp_path: Path, only: list[str]) -> None:
    command = [sys.executable, str(CLAIMS), "--quick", "--out", str(tmp_path), *only]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "claims.json").read_text())
    assert list(found["counts"]) == ([] if only else ["tumours"])
    assert list(found["objective"]) == (["digits"] if only else ["tumours", "digits"])
    for results in found["counts"].values():
        for way in ("paper", "tuned", "nonzeros"):
            cells = [(int(n), cell) for kind in results[way].values() for n, cell in kind.items()]
            assert all(cell["nonzeros"] <= n and 0 <= cell["auc"] <= 1 for n, cell in cells)
        assert all(kind.keys() == {"10"} for kind in results["nonzeros"].values())
    for results in found["objective"].values():
        for cells in results.values():
            for runs in cells.values():
                assert 0 < runs["5"]["objective"] <= 1.01 * runs["1"]["objective"] < 0.75
    columns = [6] * 2 + [7] * 2 + [4] * 4 if only else [6] * 3 + [7] * 3 + [4] * 6
    assert [len(cells) for cells in cells_of(done.stdout)] == columns


@pytest.fixture
def dimension(monkeypatch):
    monkeypatch.syspath_prepend(str(DIMENSION.parent))
    return importlib.import_module("dimension")


@pytest.fixture
def compare(monkeypatch):
    monkeypatch.syspath_prepend(str(COMPARE.parent))
    return importlib.import_module("compare")


@pytest.fixture
def claims(monkeypatch):
    monkeypatch.syspath_prepend(str(CLAIMS.parent))
    return importlib.import_module("claims")


def test_the_weakest_strength_is_found_that_leaves_so_many_weights(claims, compare, monkeypatch) -> None:
    asked = []

    def ranked(parts, algorithm, setting, folder):
        strength = float(setting.options[-1])
        asked.append(strength)
        setting.nonzeros = round(100 / strength)
        return setting if strength > 1.5 else None  # weaker ones cannot be learned

    monkeypatch.setattr(claims, "ranked", ranked)
    kind = claims.Kind("adagrad", tuple(range(1, 65)), ("--l1 {}",), compare.Grid("-l", (1.0,)))
    found = claims.at_most(None, kind, "--l1 {}", (1.0, ("-l", "1")), [50, 30, 1], None)
    assert {n: setting.options[-1] for n, setting in found.items()} == {50: "2", 30: "4"}  # 30 allows 100 / 4
    assert len(asked) == len(set(asked)) < 20


def test_the_measures_of_the_comparison(compare) -> None:
    rng = np.random.default_rng(1)
    scores, labels = rng.integers(-3, 4, 50) / 2.0, rng.choice([-1.0, 1.0], 50)
    pairs = list(product(scores[labels > 0], scores[labels < 0]))
    assert compare.auc(scores, labels) == pytest.approx(sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs))
    assert compare.log_loss(scores, labels) == pytest.approx(
        sum(np.log(1 + np.exp(-y * x)) for x, y in zip(scores, labels, strict=True)) / 50
    )
    assert compare.error(np.array([0.0, 1, -1, 2]), np.array([-1.0, 1, 1, -1])) == 0.5
    assert compare.error(np.array([3.0, 1, 2]), np.array([3.0, 1, 1]), classes=3) == pytest.approx(1 / 3)


def test_no_other_line_makes_the_log_loss_of_scores_less(compare) -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(size=400) * 7 + 2
    labels = np.where(rng.random(400) < 1 / (1 + np.exp(-(0.4 * scores - 1.5))), 1.0, -1.0)
    a, b = compare.straight_line(scores, labels)
    least = compare.log_loss(a * scores + b, labels)
    for i, j in product((-1e-2, 0, 1e-2), repeat=2):
        assert compare.log_loss((a + i) * scores + b + j, labels) >= least
    assert 0.2 < a < 0.8 and -3 < b < 0


def test_a_setting_is_chosen_for_few_weights_among_the_good_ones(compare) -> None:
    def setting(loss, nonzeros):
        return compare.Setting(1.0, 1.0, [], loss, nonzeros)

    good, close, sparse = setting(0.1, 900), setting(0.1009, 30), setting(0.1011, 3)
    assert compare.chosen([good, sparse, close]) is close


def test_the_smallest_good_models_are_found(compare) -> None:
    def row(error, nonzeros, *curve):
        return {"error": error, "nonzeros": nonzeros, "curve": [row(e, n) for e, n in curve]}

    algorithms = {"a": row(0.05, 900, (0.05, 900), (0.059, 70), (0.061, 5)), "b": row(0.058, 80), "c": row(0.2, 1)}
    lines = compare.smallest({"sets": {"news": {"algorithms": algorithms}}}).splitlines()
    assert lines[2:] == ["| `a` | **70** |", "| `b` | 80 |", "| `c` | - |"]


def test_scaling_divides_by_the_root_mean_square(compare) -> None:
    lines = ["1 |a x:3 y |b x:2", "-1 |a x:4"]
    by = compare.scales(lines)
    assert by == {("|a", "x"): 12.5**0.5, ("|a", "y"): 0.5**0.5, ("|b", "x"): 2**0.5}
    assert compare.scaled("-1 |a x:5 |b y:2", lambda space, name: 2.0) == "-1 |a x:2.5 |b y:1"


def test_the_results_have_room_for_all_that_is_measured_and_its_pictures() -> None:
    results = (HERE / "RESULTS.md").read_text(encoding="utf-8")
    for program in (BENCH, DIMENSION, PROJECTION, COMPARE, CLAIMS):
        assert results.count(f"<!-- begin bench: {program.stem} -->\n") == 1
        assert results.count(f"<!-- end bench: {program.stem} -->") == 1
    sets = json.loads((HERE / "compare.json").read_text(encoding="utf-8"))["sets"]
    for name in [*(f"compare-{name}.png" for name in sets), "projection.png"]:
        assert f"({name})" in results
        assert (HERE / name).exists()


def test_results_are_kept_one_record_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    from report import rounded, write_records

    results = {"a": [{"x": [1, 2], "y": [1 / 3, math.inf]}, {}], "n": 22490, "made": 'today "x"', 10: [[[]]]}
    path = tmp_path / "results.json"
    write_records(path, results, 2)
    assert path.read_text().splitlines() == [
        "{", ' "a": [', '  {"x": [1, 2], "y": [0.333333333, Infinity]},', "  {}", " ],", ' "n": 22490,',
        ' "made": "today \\"x\\"",', ' "10": [', "  [[]]", " ]", "}",
    ]  # fmt: skip
    assert json.loads(path.read_text()) == {str(name): value for name, value in rounded(results).items()}
