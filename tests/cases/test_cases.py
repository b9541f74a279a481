"""Small inputs that went wrong, each with the right value: the commands of a user, and what they must say.

Folders have the inputs that are not drawn here.
"""

import json
import re
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from vwlite import SparseClassifier, evaluate, load_model

HERE = Path(__file__).parent


@pytest.fixture
def case(request, folder):
    """The folder of a case, with its inputs."""
    for path in (HERE / request.param).iterdir():
        shutil.copy(path, folder)
    return folder


def of(name: str):
    return pytest.mark.parametrize("case", [name], indirect=True)


def measures(vwlite, *arguments) -> dict[str, float]:
    found = json.loads(vwlite("evaluate", *arguments, "--json").out)["measures"]
    return {name: measure["value"] for name, measure in found.items()}


def appended(text: str) -> list[dict[str, str]]:
    names, *rows = (line.split(",") for line in text.splitlines())
    return [dict(zip(names, row, strict=True)) for row in rows]


def save(name: str, columns: dict[str, np.ndarray], y: np.ndarray) -> None:
    pd.DataFrame(columns | {"y": y}).to_csv(name, index=False, float_format="%.9g")


def both(columns: dict[str, np.ndarray], y: np.ndarray, n: int) -> None:
    save("train.csv", {name: x[:n] for name, x in columns.items()}, y[:n])
    save("test.csv", {name: x[n:] for name, x in columns.items()}, y[n:])


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def test_input_files_are_those_of_the_cases():
    assert len([path for path in HERE.iterdir() if path.is_dir() and path.name[0].isdigit()]) == 8


@of("01-missing-number-regression")
def test_a_missing_year_is_the_mean_over_the_years(vwlite, case):
    vwlite("train", "train.csv", "--label", "price", "-m", "m", "--quiet")
    rows = appended(vwlite("predict", "-m", "m", "test.csv", "--append", "-p", "-").out)
    of_shops = {row["shop"]: float(row["prediction"]) for row in rows if not row["year"]}
    assert of_shops == pytest.approx({"a": 1600, "b": 1800, "c": 1400}, abs=30)
    assert measures(vwlite, "-m", "m", "test.csv")["mse"] < 1.1 * 56_460


@of("05-oip-float-category")
def test_a_tensor_of_floats_is_a_category(vwlite, case):
    vwlite("train", "t.csv", "--label", "y", "--categorical", "shop", "-m", "m", "--quiet")
    m = load_model("m")
    two = m.predict([{"shop": 2, "price": 4}])[0]
    assert two == pytest.approx(0.91, abs=0.02)
    for shop in (2.0, "2", "2.0"):
        assert m.predict([{"shop": shop, "price": 4}])[0] == two
    frame = pd.DataFrame({"shop": [2.0, None], "price": [4, 4]})
    frame.to_parquet("f.parquet")
    answers = [float(line) for line in vwlite("predict", "-m", "m", "f.parquet").out.split()]
    assert answers[0] == pytest.approx(two, abs=1e-6) and abs(answers[1] - two) > 0.1
    (case / "t.sql").write_text(vwlite("export", "m", "--to", "sql", "--table", "t", "--id", "id", "-o", "-").out)
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE t (id, shop REAL, price)")
    db.execute("INSERT INTO t VALUES (1, 2.0, 4)")
    assert db.execute((case / "t.sql").read_text()).fetchone()[1] == pytest.approx(two, abs=1e-6)


@of("11-mlflow-int-frame")
def test_the_mlflow_folder_takes_the_frame_of_the_training(vwlite, case):
    pyfunc = pytest.importorskip("mlflow.pyfunc")
    vwlite("train", "t.csv", "--label", "y", "-m", "m", "--quiet")
    vwlite("export", "m", "--to", "mlflow", "-o", "exported")
    model, frame = pyfunc.load_model("exported"), pd.read_csv("t.csv")[["shop", "tenure"]]
    assert frame["tenure"].dtype == np.int64
    expected = [float(line) for line in vwlite("predict", "-m", "m", "t.csv").out.split()]
    assert model.predict(frame) == pytest.approx(expected, abs=1e-6)
    assert model.predict(frame.astype({"tenure": float})) == pytest.approx(expected, abs=1e-6)


@of("13-small-predictions-are-zero")
def test_small_predictions_have_digits(vwlite, case):
    vwlite("train", "t.csv", "--label", "conc", "--loss", "gamma", "-m", "m", "--quiet")
    rows = appended(vwlite("predict", "-m", "m", "t.csv", "--append", "-p", "-").out)
    found, labels = ([float(row[name]) for row in rows] for name in ("prediction", "conc"))
    assert len({*found}) > 300 and np.corrcoef(found, labels)[0, 1] > 0.9
    assert found == pytest.approx([float(x) for x in vwlite("predict", "-m", "m", "t.csv").out.split()])


@of("18-half-in-the-estimator")
def test_one_half_is_one_label(vwlite, case):
    vwlite("train", "train.csv", "--label", "y", "-m", "m", "--quiet")
    rows = appended(vwlite("predict", "-m", "m", "test.csv", "--append", "-p", "-").out)
    assert {row["prediction"] for row in rows} == {"yes"} and {float(row["probability"]) for row in rows} == {0.5}
    a, b = pd.read_csv("train.csv"), pd.read_csv("test.csv")
    m = SparseClassifier().fit(a[["x", "k"]], a["y"])
    assert {*m.predict(b[["x", "k"]])} == {"yes"}
    of_model = measures(vwlite, "-m", "m", "test.csv")["accuracy"]
    of_estimator = evaluate(m, b[["x", "k"]], b["y"])["measures"]["accuracy"]["value"]
    assert m.score(b[["x", "k"]], b["y"]) == of_model == of_estimator == 0.75


@of("20-sqlite-text-number")
def test_a_text_that_is_no_number_is_never_read_in_part(vwlite, case):
    vwlite("train", "t.csv", "--label", "y", "-m", "m", "--quiet")
    for dialect in ("any", "sqlite"):
        query = vwlite("export", "m", "--to", "sql", "--table", "t", "--id", "id", "--dialect", dialect, "-o", "-").out
        db = sqlite3.connect(":memory:")
        db.execute("CREATE TABLE t (id, price, k)")
        db.executemany("INSERT INTO t VALUES (?, ?, 'a')", enumerate(["8.5", "8,5", "1.234,5", "abc", None]))
        good, *wrong, missing = (row[1] for row in db.execute(query))
        assert wrong == [None] * 3 and missing is not None
        (case / "one.csv").write_text("price,k\n8.5,a\n")
        assert good == pytest.approx(float(vwlite("predict", "-m", "m", "one.csv").out), abs=1e-6)
    (case / "bad.csv").write_text('price,k\n"8,5",a\n')
    assert "'8,5' is not a number" in vwlite("predict", "-m", "m", "bad.csv", code=65).err


@of("39-split-share-of-few-rows")
def test_a_share_that_equal_rows_move_is_said(vwlite, case):
    stratified = ("--test", 0.2, "--stratify", "--label", "left")
    for options in (("--test", 0.1), ("--test", 0.2), ("--test", 0.3), stratified):
        said = vwlite("split", "t.csv", *options, "-o", "train.csv", "-o", "test.csv").err
        test = len(Path("test.csv").read_text().splitlines()) - 1
        assert "of which 8 are different" in said and f"{test / 10:.1f} %" in said
        vwlite("split", "t.csv", *options, "--copies", "apart", "-o", "train.csv", "-o", "test.csv")
        assert abs(len(Path("test.csv").read_text().splitlines()) - 1 - 1000 * options[1]) < 60


@of("45-unknown-levels-rare-event")
def test_new_words_are_average_ones(vwlite, case):
    vwlite("train", "t.csv", "--label", "fraud", "-m", "m", "--quiet")
    done = vwlite("predict", "-m", "m", "new.csv", "--append", "-p", "-")
    found = [float(row["probability"]) for row in appended(done.out)]
    assert found == pytest.approx([0.038] * len(found), abs=0.015)
    assert "only words that training did not have" in done.err


# --- drawn kinds of data -------------------------------------------------------------------------


def plans(n: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Rows of four plans, with a label of each: eight different rows."""
    r = np.random.default_rng(1)
    x = r.integers(0, 4, n)
    y = (r.random(n) < np.array([0.1, 0.3, 0.6, 0.9])[x]).astype(int)
    return {"plan": np.array([f"p{v}" for v in x])}, y


def test_folds_of_few_different_rows_are_honest(vwlite, folder):
    save("train.csv", *plans(300))
    losses = dict(re.findall(r"^(log loss|AUC) +([\d.]+)", vwlite("cv", "train.csv", "--label", "y").out, re.M))
    assert 0.46 < float(losses["log loss"]) < 0.56 and float(losses["AUC"]) > 0.78


def test_a_split_of_few_different_rows_says_so(vwlite, folder):
    save("all.csv", *plans(300))
    command = ("split", "all.csv", "--test", 0.3, "-o", "train.csv", "-o", "test.csv")
    assert "300 rows, of which 8 are different" in vwlite(*command).err
    vwlite(*command, "--copies", "apart")
    assert len({*Path("test.csv").read_text().splitlines()[1:]}) == 8


def test_groups_that_columns_show_are_noted(vwlite, folder):
    r = np.random.default_rng(1)
    n, total = 6000, 9000
    g = np.r_[r.integers(0, n // 15, n), n + np.arange(total - n) // 15]
    Z, u, X = r.normal(size=(g.max() + 1, 3)), 1.5 * r.normal(size=g.max() + 1), r.normal(size=(total, 2))
    y = (r.random(total) < sigmoid(0.5 * Z[g, 0] + X[:, 0] + u[g])).astype(int)
    both({"income": Z[g, 0], "age": Z[g, 1], "distance": Z[g, 2], "a": X[:, 0], "b": X[:, 1]}, y, n)
    said = vwlite("train", "train.csv", "--label", "y", "-m", "m").err
    assert "income, age, distance" in said and "--group income" in said
    new = float(re.search(r"of new groups the log loss is about ([\d.]+)", said)[1])
    assert new == pytest.approx(measures(vwlite, "-m", "m", "test.csv")["log_loss"], abs=0.06)


def test_copies_in_a_small_file_are_no_new_rows(vwlite, folder):
    r = np.random.default_rng(1)
    n, total = 300, 6300
    X = r.normal(size=(total, 4))
    i = np.r_[r.integers(0, 100, n), np.arange(n, total)]
    y = (r.random(total) < sigmoid(X @ [1, -1, 0.5, 0])).astype(int)
    both({f"x{j}": X[i, j] for j in range(4)}, y[i], n)
    vwlite("train", "train.csv", "--label", "y", "-m", "m", "--report", "r.json", "--quiet")
    reported = float(json.loads(Path("r.json").read_text())["results"]["out_of_fold_average_loss"])
    assert abs(reported - measures(vwlite, "-m", "m", "test.csv")["log_loss"]) < 0.1


def test_another_world_in_the_last_rows_is_noted(vwlite, folder):
    r = np.random.default_rng(1)
    n, total = 5000, 8000
    X, late = r.normal(size=(total, 4)), np.arange(total) > 0.9 * n
    y = (r.random(total) < np.where(late, sigmoid(X @ [-1, 1, 0.5, 0]), sigmoid(X @ [1.5, -1, 0.5, 0]))).astype(int)
    both({"day": np.minimum(np.arange(total), n) // 50, **{f"x{j}": X[:, j] for j in range(4)}}, y, n)
    said = vwlite("train", "train.csv", "--label", "y", "-m", "m").err
    assert re.search(r"note: .*last.*--validate", said)


@pytest.mark.parametrize("order", ["sorted", "mixed"])
def test_noise_with_few_of_a_class_is_no_better_than_a_constant(vwlite, folder, order):
    for seed in (1, 2, 3):
        r = np.random.default_rng(seed)
        X, y = r.normal(size=(30, 5)), np.r_[np.ones(7), np.zeros(23)].astype(int)
        save("train.csv", {f"x{j}": X[:, j] for j in range(5)}, y[r.permutation(30)] if order == "mixed" else y)
        said = vwlite("train", "train.csv", "--label", "y", "-m", "m").err
        loss, constant = float(re.search(r"log loss ([\d.]+)", said)[1]), 0.5433
        assert loss > 0.9 * constant and "% worse" not in said


def test_rare_features_with_values_are_no_worse_than_a_constant(vwlite, folder):
    r, V = np.random.default_rng(1), 3000
    share = 1 / np.arange(1, V + 1) ** 0.8
    share /= share.sum()
    b = 0.5 * r.normal(size=V)
    for name, n in (("train.vw", 300), ("test.vw", 2000)):
        lines = []
        for _ in range(n):
            x = {j: float(f"{r.exponential(1):.3g}") for j in {*r.choice(V, r.integers(8, 41), p=share).tolist()}}
            label = 1 if r.random() < sigmoid(sum(b[j] * v for j, v in x.items())) else -1
            lines.append(f"{label} | " + " ".join(f"f{j}:{v:g}" for j, v in x.items()) + "\n")
        Path(name).write_text("".join(lines))
    vwlite("train", "train.vw", "-m", "m", "--quiet")
    assert measures(vwlite, "-m", "m", "test.vw")["log_loss"] < 1.02 * 0.6931
