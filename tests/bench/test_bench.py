"""The benchmarks work, and their measures are right; how fast anything is, no test says."""

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
from algorithm_options import FULL
from benches import FOLDER, HAS_PICTURES, NO_PICTURE, cells_of, libsvm_lines, load, start, write_gz

from vwlite.algorithms.table import ALGORITHMS

PNG = b"\x89PNG"


def filled(folder: Path, program: str, *options: object, name: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a quick benchmark that writes between its markers in a file, and see that it does that only."""
    results, name = folder / "RESULTS.md", name or program
    results.write_text(f"a\n<!-- begin bench: {name} -->\nold\n<!-- end bench: {name} -->\nb\n")
    done = start(program, *options, "--results", results)
    text = results.read_text()
    assert text.startswith("a\n") and text.endswith("b\n") and "\nold\n" not in text
    assert done.stdout in text
    return done


def only(name: str) -> pytest.MarkDecorator:
    """A benchmark of one data set; that of all is `long`."""
    return pytest.mark.parametrize("only", [["--only", name], pytest.param([], marks=pytest.mark.long)], ids=str)


# --- bench, projection, dimension, rounds, merge ----------------------------------------------------


def test_some_rows_of_the_quick_benchmark_fill_a_table(tmp_path: Path) -> None:
    table = cells_of(filled(tmp_path, "bench", "--quick", "--folder", tmp_path, "--only", "libsvm", name="some").stdout)
    assert {len(cells) for cells in table} == {7} and len(table) > 2
    assert all(not cells[0].strip() or "libsvm" in cells[0] for cells in table[2:])


@pytest.mark.long
def test_the_figures_of_readme_are_measured() -> None:
    facts = json.loads(start("tasks", "--quick").stdout)
    assert facts.keys() == json.loads((FOLDER / "tasks.json").read_text()).keys()
    assert facts["bytes"]["same"] is True and facts["clicks"]["vwlite"] > 0


def test_the_benchmark_against_a_commit_prints_ratios_of_pairs(tmp_path: Path) -> None:
    """Here against a program that is there, and one that has not what the row needs; `make` builds that of a commit."""
    itself = Path(sys.executable).with_name("vwlite")
    named = ["start: --version", "start: train of one line", "start: predict of one line"]
    for program, names in ((itself, named), ("/bin/false", ["serve, 300 requests of one row"])):
        done = start("against", "--quick", "--folder", tmp_path, "--only", names[0].split()[0], program)
        rows = [[cell.strip() for cell in cells] for cells in cells_of(done.stdout)][2:]
        assert [row[0] for row in rows] == names
        for ratio in (ratio for row in rows for ratio in row[3:]):
            assert re.fullmatch(r"\d\.\d\d \(\d\.\d\d-\d\.\d\d\)" if program == itself else r"n\.a\.", ratio)
    against = load("against")
    assert against.ratio([1.0, 2.0, 3.0, 4.0], [2.0, 2.0, 2.0, 2.0]) == "1.25 (1.00-1.50)"
    assert against.ratio([1.0], [0.0]) == "n.a."


@pytest.mark.long
def test_the_quick_benchmark_of_selects_fills_its_table(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    assert len(cells_of(filled(tmp_path, "sql", "--quick").stdout)) == 6


@pytest.mark.long  # 60 CPU seconds
def test_the_quick_benchmark_fills_its_table(tmp_path: Path) -> None:
    stand_in = Path(sys.executable).with_name("vwlite")
    done = filled(tmp_path, "bench", "--quick", "--folder", tmp_path, "--portable", stand_in)
    table = cells_of(done.stdout)
    assert {len(cells) for cells in table} == {7}
    works = " ".join(cells[0] for cells in table)
    rows = ["`gd`", "clicks", "predict", "libsvm", "cache", "`sgd`", "`l1-ball`", "`adagrad`", "`arow`", "memory"]
    rows += ["fw-synthetic", "over their text", "one thread", "the portable build, train", "the portable build, a pass"]
    rows += ["in memory"] if importlib.util.find_spec("sklearn") else []
    for word in (*rows, "`vwlite vw`", "--version", "one"):
        assert word in works
    assert "Progressive logistic loss: documents: vwlite 0." in done.stdout


def test_the_quick_benchmark_of_projections_fills_its_table(tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    done = filled(tmp_path, "projection", "--quick", "--picture", picture)
    assert [len(cells) for cells in cells_of(done.stdout)] == [8] * 4
    assert "sparse, k = 50" in done.stdout
    assert picture.read_bytes().startswith(PNG) if HAS_PICTURES else NO_PICTURE in done.stderr


def test_the_quick_benchmark_of_dimensions_fills_its_table(tmp_path: Path) -> None:
    done = filled(tmp_path, "dimension", "--quick")
    table = cells_of(done.stdout)
    assert {len(cells) for cells in table} == {7}
    named = [cells[0].strip(" `") for cells in table if cells[0].startswith(" `") and "--" not in cells[0]]
    assert named == [name for name in ALGORITHMS if name not in FULL] * 2
    used = [int(n.replace(",", "")) for n in re.search(r"in use: ([0-9, ]+)\.", done.stdout)[1].split(", ")]
    assert used == sorted(used) and used[-1] == 500  # all of them different


def test_the_growth_of_time_is_that_of_the_least_times() -> None:
    times = {"sgd": {10**4: [9.0, 5.0], 10**5: [20.0, 15.0]}, "eg": {10**4: [2.0, 3.0], 10**5: [9.0, 8.0]}}
    dimension = load("dimension")
    assert dimension.table_of(times).splitlines()[2:] == [
        "| `sgd` | 5.0 ns | 3.00 | **no** |",
        "| `eg` | 2.0 ns | 4.00 | **no** |",
    ]
    assert dimension.table_of(times, "sgd").splitlines()[2:] == [
        "| `sgd` | 5.0 ns | 3.00 (1.00) | yes |",
        "| `eg` | 2.0 ns | 4.00 (1.33) | yes |",
    ]


def test_the_benchmark_of_rounds_writes_its_table(tmp_path: Path) -> None:
    lines = libsvm_lines(1)
    write_gz(tmp_path / "a9a.train.libsvm.gz", lines)
    some = ("--sets", "a9a", "--strengths", "1e-4", "1e-3", "--rounds", "60")
    done = filled(tmp_path, "rounds", "--data", tmp_path, *some)
    problems = cells_of(done.stdout)[2:]
    features = sum(len({i for line in lines[k::8] for i in line.split()[1:]}) for k in range(8))
    sample = 28 * len(lines) + 8 * (sum(len(line.split()) - 1 for line in lines) + features)
    assert [problem[1].split()[0] for problem in problems] == ["`--l1", "`--l2"]
    for problem, first in zip(problems, (0, sample), strict=True):
        assert float(problem[9]) == pytest.approx(((4 + 16 * int(problem[4])) * features + first) / 1e6, abs=0.05)
        assert len(problem) == 10 and all(0 < int(cell) <= 60 for cell in problem[3:6])


@pytest.mark.parametrize("some", [["round", "time"], pytest.param([], marks=pytest.mark.long)], ids=["some", "all"])
def test_the_benchmark_of_merging_fills_its_tables(tmp_path: Path, some: list[str]) -> None:
    for seed, part in enumerate(("train", "test")):
        write_gz(tmp_path / f"a9a.{part}.libsvm.gz", libsvm_lines(seed))
    results = tmp_path / "MERGE.md"
    results.write_text((FOLDER / "MERGE.md").read_text())
    options = ["--data", tmp_path, "--features", 500, "--shards", 20, "--examples", 50,
               "--draws", 1, "--results", results, *(["--only", *some] if some else []), "--sets"]
    start("merge", *options, "a9a")
    text = results.read_text()
    algorithms = ("adagrad", "ftrl", "gd")
    found = [cells for cells in cells_of(text) if cells[0] == " a9a "]
    rows = [cells for cells in found if cells[2].split()[0] in algorithms]
    sizes = [(cells[1].strip(), cells[2].strip(), int(cells[3])) for cells in found if cells not in rows]
    round, rounds = [a for a in algorithms for _ in range(2)], list(algorithms)
    assert [row[2].split()[0] for row in rows] == [*round * 2, *([] if some else rounds * 4)]  # of two draws
    assert all(len(row) == 9 and float(row[6]) > 0 for row in rows)
    expected = ["| without a holdout | "]
    if not some:
        orders = (("shuffled", 12), ("skewed", 6))
        assert sizes == [(size, order, count) for order, count in orders for size in ("200", "500", "2,000")]
        expected += ["| Five rounds, skewed shards | 14 | 3 |", "| 20 models at once | "]
        expected += ["| all models to one machine | "]
    assert all(words in text for words in expected)
    done = start("merge", *options, "rcv1", code=1)
    assert "has no rcv1.train.libsvm.gz, rcv1.test.libsvm.gz: SETS=FOLDER says" in done.stderr


# --- auto -------------------------------------------------------------------------------------------

needs_sklearn = pytest.mark.skipif(importlib.util.find_spec("sklearn") is None, reason="scikit-learn is a peer")


@pytest.mark.long
@needs_sklearn
def test_the_quick_comparison_of_auto_has_its_tables(tmp_path: Path) -> None:
    picture = tmp_path / "auto.png"
    options = ("--quick", "--only", "binary", "--picture", picture)
    done = filled(tmp_path, "auto", *options, name="auto binary")
    learners = list(load("auto").CLASSIFIERS)
    found = cells_of(done.stdout)
    assert [cells[0].strip() for cells in found[2 : 2 + len(learners)]] == learners
    rows = [cells for cells in found if cells[0] == " breast_cancer "]
    assert len(rows) == 3 and all(len(cells) == 1 + len(learners) for cells in rows)
    assert picture.read_bytes().startswith(PNG) if HAS_PICTURES else NO_PICTURE in done.stderr


@needs_sklearn
@pytest.mark.long
def test_the_quick_speed_of_auto_has_its_table(tmp_path: Path) -> None:
    done = filled(tmp_path, "auto_speed", "--quick", name="auto speed")
    assert [len(cells) for cells in cells_of(done.stdout)] == [7] * 8
    assert re.search(r"16 lanes of 31 features take \d+ bytes a feature", done.stdout)


@needs_sklearn
@pytest.mark.long
def test_the_quick_tables_of_many_examples_and_classes() -> None:
    done = start("auto_scale", "--quick")
    assert [len(cells) for cells in cells_of(done.stdout)] == [8] * 9 + [7] * 4


@needs_sklearn
@pytest.mark.long
def test_the_quick_comparison_of_numbers_has_its_tables(tmp_path: Path) -> None:
    done = filled(tmp_path, "auto", "--quick", "--only", "numbers", name="auto numbers")
    assert [len(cells) for cells in cells_of(done.stdout)] == [6] * 10


@needs_sklearn
@pytest.mark.long
def test_the_quick_comparison_of_classes_has_its_tables(tmp_path: Path) -> None:
    done = filled(tmp_path, "auto", "--quick", "--only", "classes", name="auto classes")
    assert [cells[0].strip() for cells in cells_of(done.stdout)] == ["set", "---", "digits"] * 2


@needs_sklearn
@pytest.mark.long
def test_the_quick_stress_has_its_table(tmp_path: Path) -> None:
    done = filled(tmp_path, "auto", "--quick", "--only", "stress", name="auto stress")
    rows = cells_of(done.stdout)
    assert [cells[0].strip() for cells in rows[2:]][-1] == "all" and {len(cells) for cells in rows} == {8}


@needs_sklearn
@pytest.mark.long
@pytest.mark.parametrize("name, sets", [("texts", ["opinions"]), ("tables", ["two", "sizes, RMSE", "three"])])
def test_the_quick_comparison_of_tables_and_texts_has_its_tables(tmp_path: Path, name: str, sets: list[str]) -> None:
    picture = tmp_path / "tables.png"
    done = filled(tmp_path, "auto", "--quick", "--only", name, "--tables-picture", picture, name=f"auto {name}")
    found = [cells[0].strip() for cells in cells_of(done.stdout)]
    assert found[0] == "mean of log(loss / loss of)" and set(sets) < set(found)
    if name == "texts":  # which has a peer that is always there
        assert picture.read_bytes().startswith(PNG) if HAS_PICTURES else NO_PICTURE in done.stderr


@needs_sklearn
@pytest.mark.long
def test_the_quick_run_of_drawn_kinds_has_its_tables(tmp_path: Path) -> None:
    results = load("auto_kinds").RESULTS
    before = results.read_bytes()
    done = filled(tmp_path, "auto_kinds", "--quick", "--jobs", 1, name="auto kinds")
    found = {cells[0].strip(): cells[1:] for cells in cells_of(done.stdout)}
    with_signal = [name for name in load("auto_kinds").QUICK if "noise" not in name]
    assert {*with_signal, "all", "100 rows", "labels: classes"} < set(found)
    assert all(re.fullmatch(r" \d\.\d{3} ", cell) for name in with_signal for cell in found[name][1:3])
    assert found["all"][0] == f" {len(with_signal)} " and "Noise: the largest loss" in done.stdout
    assert results.read_bytes() == before


@needs_sklearn
def test_losses_of_rows_are_those_of_the_set() -> None:
    bench = load("auto_tables")
    y = np.array([0, 1, 1])
    found = bench.Predicted("bin", y, bench.log_probabilities(np.array([0.5, 0.25, 1.0])))
    assert found.losses == pytest.approx([math.log(2), math.log(4), 0])
    assert found.figures() == {"loss": pytest.approx(math.log(2)), "error": pytest.approx(1 / 3)}
    sizes = bench.Predicted("reg", np.array([1.0, 5.0]), np.array([4.0, 1.0]))
    assert sizes.figures() == {"loss": pytest.approx(math.sqrt(12.5))}  # the root of the mean square
    assert bench.log_softmax(np.array([[1.0, 1.0, 1000.0]])) == pytest.approx(np.array([[-999, -999, 0]]))


@needs_sklearn
@pytest.mark.parametrize("task", ["bin", "reg"])
def test_the_standard_error_of_a_difference_is_that_over_samples_of_rows(task: str) -> None:
    bench, rng, n = load("auto_tables"), np.random.default_rng(1), 2000
    if task == "bin":
        y, p = rng.integers(0, 2, n), rng.random(n)
        two = [bench.log_probabilities(x) for x in (p, np.clip(p + 0.2 * rng.random(n), 0.01, 0.99))]
    else:
        y = rng.normal(size=n)
        two = [y + rng.normal(size=n), y + 1.1 * rng.normal(size=n)]

    def of(rows: np.ndarray) -> tuple[float, float]:
        a, b = (bench.Predicted(task, y[rows], of[rows]) for of in two)
        return b.log_ratio(a)

    ratio, error = of(np.arange(n))
    drawn = [of(rng.integers(0, n, n))[0] for _ in range(400)]
    assert error == pytest.approx(np.std(drawn), rel=0.2) and ratio == pytest.approx(np.mean(drawn), abs=error)
    same = bench.Predicted(task, y, two[0])
    assert same.log_ratio(same) == (0, 0)


@needs_sklearn
def test_peers_that_are_kept_do_not_learn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = load("auto_tables")
    (data,) = bench.sets_of(bench.small_sets(tmp_path), True, tmp_path)
    kept = {name: {"loss": 0.5, "error": 0.25} for name in bench.PEERS[True]}
    refuse = {name: bench.Peer(lambda data: pytest.fail("learned")) for name in kept}
    monkeypatch.setattr(bench, "PEERS", {True: refuse})
    found = bench.measured(data, True, kept, tmp_path)
    assert {name: found[name] for name in kept} == kept
    assert found["none"]["ratio"] == found["none"]["standard error"] == 0


@needs_sklearn
def test_stages_have_their_goals_and_what_got_worse_is_named() -> None:
    bench = load("auto_tables")
    first = {"loss": 0.4, "error": 0.1, "ratio": 0.0, "standard error": 0.0, "seconds": 1.0, "weights": 10}
    peer = {"loss": 0.4, "error": 0.1}

    def found(loss: float, error: float) -> dict[str, dict[str, float]]:
        last = first | {"loss": loss, "ratio": math.log(loss / 0.4), "standard error": error, "seconds": 4.0}
        return {"none": first, "auto": last, bench.TREES: peer, bench.TUNED_TREES: peer}

    sets = {"better": found(0.3, 0.1), "worse": found(0.5, 0.1), "perhaps": found(0.5, 0.3)}
    sets["nursery"] = found(0.01, 0.1)
    assert "Worse than `none` by more than a standard error: worse." in bench.stages_of(sets)
    assert "geometric mean: 4.0; largest: 4.0" in bench.stages_of(sets)
    rows = {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in cells_of(bench.means_of(sets, False))}
    mean = f"{(math.log(0.3 / 0.4) + 2 * math.log(0.5 / 0.4)) / 3:+.3f}"
    assert rows[bench.TUNED_TREES] == ["3", "+0.000", "", "", mean, "+0.015", "**no**"]
    del sets["worse"], sets["perhaps"]
    assert bench.means_of(sets, False).count("| yes |") == 2


@needs_sklearn
def test_what_is_far_behind_the_best_tuned_learner_is_named() -> None:
    auto = load("auto")

    def measured(**losses: float) -> dict[str, dict[str, list[float]]]:
        given = dict.fromkeys(auto.CLASSIFIERS, 0.5) | {getattr(auto, name): loss for name, loss in losses.items()}
        return {learner: {"log loss": [loss]} for learner, loss in given.items()}

    sets = {
        "near": measured(FILES=0.4, ADAGRAD=0.38), "far": measured(FILES=0.4, ONE_PASS=0.1, LOGISTIC=0.2),
        "learned by heart": measured(LOGISTIC=1e-5),
    }
    text = auto.goals_of(sets)
    rows = {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in cells_of(text)}
    assert rows["auto"] == [f"{(math.log(0.4 / 0.38) + math.log(2)) / 2:+.3f}", "0", "**no**", "far 2.00"]
    assert rows["auto, one pass"][1:] == ["0.05", "yes", "near 1.32"]
    assert "Without learned by heart" in text


# --- compare, claims --------------------------------------------------------------------------------


@only("tumours")
def test_the_quick_comparison_has_every_algorithm(tmp_path: Path, only: list[str]) -> None:
    done = start("compare", "--quick", "--out", tmp_path, *only)
    found = json.loads((tmp_path / "compare.json").read_text())["sets"]
    assert set(found) == {"tumours"} if only else {"documents", "tumours"} <= set(found)
    if not only:  # documents have too many features for a matrix
        assert set(found["documents"]["algorithms"]) == set(ALGORITHMS) - {*FULL}
    assert set(found["tumours"]["algorithms"]) == set(ALGORITHMS)
    for name, results in found.items():
        rows, weights = results["algorithms"], results["features"] * (results["classes"] if name == "digits" else 1)
        for row in rows.values():
            assert 0 <= row["error"] <= 1 and 0 <= row["nonzeros"] <= weights
            assert len(row["curve"]) in (0, 2)
        assert f"compare-{name}.png" in done.stdout
        assert all(f"| `{algorithm}` |" in done.stdout for algorithm in rows)
        assert name != "tumours" or min(row["error"] for row in rows.values()) < 0.1
        picture = tmp_path / f"compare-{name}.png"
        assert picture.read_bytes().startswith(PNG) if HAS_PICTURES else NO_PICTURE in done.stderr


def test_the_comparison_says_where_missing_data_can_be_had(tmp_path: Path) -> None:
    done = start("compare", "--data", tmp_path / "gone", "--out", tmp_path, code=66)
    assert f"no rcv1.train.libsvm.gz in {tmp_path / 'gone'}: --data names the folder" in done.stderr
    assert "UCI Machine Learning Repository" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
@only("digits")
def test_the_quick_claims_have_their_tables(tmp_path: Path, only: list[str]) -> None:
    done = start("claims", "--quick", "--out", tmp_path, *only)
    found = json.loads((tmp_path / "claims.json").read_text())
    assert list(found["counts"]) == ([] if only else ["tumours"])
    assert list(found["objective"]) == (["digits"] if only else ["tumours", "digits"])
    for results in found["counts"].values():
        for way in ("paper", "tuned", "nonzeros"):
            cells = [(int(n), cell) for kind in results[way].values() for n, cell in kind.items()]
            assert all(cell["nonzeros"] <= n and 0 <= cell["auc"] <= 1 for n, cell in cells)
        assert all(kind.keys() == {"10"} for kind in results["nonzeros"].values())
    for results in found["objective"].values():
        for runs in (runs for cells in results.values() for runs in cells.values()):
            assert 0 < runs["5"]["objective"] <= 1.01 * runs["1"]["objective"] < 0.75
    columns = [6] * 2 + [7] * 2 + [4] * 4 if only else [6] * 3 + [7] * 3 + [4] * 6
    assert [len(cells) for cells in cells_of(done.stdout)] == columns


def test_the_weakest_strength_is_found_that_leaves_n_weights(monkeypatch) -> None:
    claims, compare, asked = load("claims"), load("compare"), []

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


def test_the_measures_of_the_comparison() -> None:
    compare, rng = load("compare"), np.random.default_rng(1)
    scores, labels = rng.integers(-3, 4, 50) / 2.0, rng.choice([-1.0, 1.0], 50)
    pairs = list(product(scores[labels > 0], scores[labels < 0]))
    assert compare.auc(scores, labels) == pytest.approx(sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs))
    assert compare.log_loss(scores, labels) == pytest.approx(
        sum(np.log(1 + np.exp(-y * x)) for x, y in zip(scores, labels, strict=True)) / 50
    )
    assert compare.error(np.array([0.0, 1, -1, 2]), np.array([-1.0, 1, 1, -1])) == 0.5
    assert compare.error(np.array([3.0, 1, 2]), np.array([3.0, 1, 1]), classes=3) == pytest.approx(1 / 3)


def test_no_other_line_makes_the_log_loss_of_scores_less() -> None:
    compare, rng = load("compare"), np.random.default_rng(2)
    scores = rng.normal(size=400) * 7 + 2
    labels = np.where(rng.random(400) < 1 / (1 + np.exp(-(0.4 * scores - 1.5))), 1.0, -1.0)
    a, b = compare.straight_line(scores, labels)
    least = compare.log_loss(a * scores + b, labels)
    for i, j in product((-1e-2, 0, 1e-2), repeat=2):
        assert compare.log_loss((a + i) * scores + b + j, labels) >= least
    assert 0.2 < a < 0.8 and -3 < b < 0


def test_a_setting_is_chosen_for_few_weights_among_the_good_ones() -> None:
    compare = load("compare")
    settings = [compare.Setting(1.0, 1.0, [], *found) for found in ((0.1, 900), (0.1011, 3), (0.1009, 30))]
    assert compare.chosen(settings).nonzeros == 30


def test_the_smallest_good_models_are_found() -> None:
    def row(error, nonzeros, *curve):
        return {"error": error, "nonzeros": nonzeros, "curve": [row(e, n) for e, n in curve]}

    algorithms = {"a": row(0.05, 900, (0.05, 900), (0.059, 70), (0.061, 5)), "b": row(0.058, 80), "c": row(0.2, 1)}
    lines = load("compare").smallest({"sets": {"news": {"algorithms": algorithms}}}).splitlines()
    assert lines[2:] == ["| `a` | **70** |", "| `b` | 80 |", "| `c` | - |"]


def test_scaling_divides_by_the_root_mean_square() -> None:
    compare = load("compare")
    by = compare.scales(["1 |a x:3 y |b x:2", "-1 |a x:4"])
    assert by == {("|a", "x"): 12.5**0.5, ("|a", "y"): 0.5**0.5, ("|b", "x"): 2**0.5}
    assert compare.scaled("-1 |a x:5 |b y:2", lambda space, name: 2.0) == "-1 |a x:2.5 |b y:1"


# --- results ----------------------------------------------------------------------------------------


def test_the_results_have_space_for_all_that_is_measured_and_its_pictures() -> None:
    results = (FOLDER / "RESULTS.md").read_text(encoding="utf-8")
    for program in ("bench", "dimension", "projection", "compare", "claims"):
        assert results.count(f"<!-- begin bench: {program} -->\n") == 1
        assert results.count(f"<!-- end bench: {program} -->") == 1
    sets = json.loads((FOLDER / "compare.json").read_text(encoding="utf-8"))["sets"]
    for name in [*(f"compare-{name}.png" for name in sets), "projection.png"]:
        assert f"({name})" in results
        assert (FOLDER / name).exists()


def test_results_are_kept_one_record_a_line(tmp_path: Path) -> None:
    harness = load("harness")
    results = {"a": [{"x": [1, 2], "y": [1 / 3, math.inf]}, {}], "n": 22490, "made": 'today "x"', 10: [[[]]]}
    path = tmp_path / "results.json"
    harness.write_records(path, results, 2)
    assert path.read_text().splitlines() == [
        "{", ' "a": [', '  {"x": [1, 2], "y": [0.333333333, Infinity]},', "  {}", " ],", ' "n": 22490,',
        ' "made": "today \\"x\\"",', ' "10": [', "  [[]]", " ]", "}",
    ]
    assert json.loads(path.read_text()) == {str(name): value for name, value in harness.rounded(results).items()}


# --- the picture of the README ----------------------------------------------------------------------


@pytest.mark.long
def test_dots_are_measured(tmp_path: Path) -> None:
    """On digits 1 to 5 against the others: a dot for each strength, each of a model that learned something."""
    picture, parts = load("picture"), {}
    for name in ("train", "test"):
        lines = (FOLDER.parents[1] / f"data/digits.{name}.libsvm").read_text().splitlines()
        parts[name] = tmp_path / name
        with parts[name].open("w") as text:
            for label, *features in map(str.split, lines):  # scaled to a length of about 1
                pairs = (feature.split(":") for feature in features)
                scaled = " ".join(f"{i}:{float(value) / 64:g}" for i, value in pairs)
                print(1 if int(label) <= 5 else -1, scaled, file=text)
    ours = next(p for p in picture.PROGRAMS if p.package == "vwlite")
    few = picture.Program(ours.title, ours.package, ours.learn, ("--nonzeros 3", "--nonzeros 30"), ours.tried[:2])
    dots = picture.measure(parts["train"], parts["test"], [few])
    assert [dot["program"] for dot in dots] == ["vwlite"] * 2
    assert 0 < dots[0]["nonzeros"] <= 3 < dots[1]["nonzeros"] <= 30
    assert dots[1]["loss"] < dots[0]["loss"] < np.log(2)
    assert all(dot["seconds"] > 0 for dot in dots)


def test_the_picture_has_a_dot_for_each_strength_and_is_drawn(tmp_path: Path) -> None:
    kept = (FOLDER / "picture.json").read_text(encoding="utf-8")
    found = [dot["program"] for dot in json.loads(kept)["dots"]]
    assert len(kept.splitlines()) == len(found) + 5  # a line for each
    strengths = {p.title: len(p.strengths) for p in load("picture").PROGRAMS}
    assert {title: found.count(title) for title in found} == {title: strengths[title] for title in dict.fromkeys(found)}
    assert (FOLDER / "picture.png").exists()
    if HAS_PICTURES:
        (tmp_path / "picture.json").write_text(kept)
        start("picture", "--draw", "--out", tmp_path)
        assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


@pytest.mark.long
def test_nights_beside_all_days_at_once(tmp_path: Path) -> None:
    """As long as nothing is forgotten, the model of nights is that of all days."""
    table = cells_of(filled(tmp_path, "nights", "--quick", "--only", "sizes flip", name="continue").stdout)
    rows = [[cell.strip() for cell in cells] for cells in table]
    assert ["sizes", "10"] in [row[:2] for row in rows] and ["two", "flip"] in [row[:2] for row in rows]
    of_sizes = next(row for row in rows if row[:1] == ["sizes"])
    assert of_sizes[4] != "0" or of_sizes[3] == "+0.000"
