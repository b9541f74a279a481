"""`vwlite evaluate`: its measures against scikit-learn's, its screen, its errors."""

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from lines import write
from running import GD

from vwlite.evaluation import screen
from vwlite.evaluation.kinds import Binary, Regression, Rows
from vwlite.evaluation.measures import Against, StreamMeasures
from vwlite.options.types import Condition
from vwlite.output.json_text import json_text
from vwlite.runs.conditions import failures

metrics = pytest.importorskip("sklearn.metrics")

LEARN = [*GD, "--quiet"]


def lines_of(chance: np.random.Generator, n: int, label: str, *, weights: bool) -> list[str]:
    """Examples with few distinct features, so that many scores are the same."""
    lines = []
    for _ in range(n):
        a, b, c = chance.integers(0, [4, 3, 5])
        z = a - b + chance.normal()
        y = {"two": 1 if z > 0.5 else -1, "number": round(float(z), 3), "count": int(chance.poisson(np.exp(z / 2)))}
        y["class"] = f"c{min(max(int(z), 0), 3)}"  # type: ignore[assignment]
        weight = f" {chance.integers(0, 5) / 2}" if weights else ""
        lines.append(f"{y[label]}{weight} 't|user a{a} b{b} |page{c % 2} c{c} |n x:{a - 1.5}\n")
    return lines


def predicted(vwlite, model: str, data: str, *options: str) -> np.ndarray:
    return np.array([line.split()[0] for line in vwlite("predict", "-m", model, data, *options).out.splitlines()])


def made(label: str, weights: bool, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """train.vw and test.vw; labels and weights of the second."""
    chance = np.random.default_rng(seed)
    Path("train.vw").write_text("".join(lines_of(chance, 600, label, weights=weights)))
    lines = lines_of(chance, 900, label, weights=weights)
    Path("test.vw").write_text("".join(lines))
    y = np.array([line.split()[0] for line in lines])
    return y, np.array([float(line.split()[1]) if weights else 1.0 for line in lines])


def evaluated(vwlite, *options: str) -> dict:
    return json.loads(vwlite("evaluate", "-m", "m", "test.vw", "--json", *options).out)


def values(found: dict, names: Iterable[str] = ()) -> dict[str, float]:
    """Of the measures of these names, or of all."""
    return {name: found["measures"][name]["value"] for name in names or found["measures"]}


def baselines(found: dict, names: Iterable[str]) -> dict[str, float]:
    return {name: found["measures"][name]["baseline"] for name in names}


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_measures_of_two_labels_are_those_of_sklearn(vwlite, weights, threads):
    labels, w = made("two", weights)
    vwlite("train", "train.vw", "--loss", "logistic", *LEARN, "-m", "m")
    y, s = labels.astype(float) > 0, predicted(vwlite, "m", "test.vw", "--link", "identity").astype(float)
    p = 1 / (1 + np.exp(-s))
    found = evaluated(vwlite, "--threads", threads, "--threshold", "0.4")
    expected = {
        "log_loss": metrics.log_loss(y, p, sample_weight=w),
        "auc": metrics.roc_auc_score(y, s, sample_weight=w),
        "average_precision": metrics.average_precision_score(y, s, sample_weight=w),
        "brier": metrics.brier_score_loss(y, p, sample_weight=w),
        "accuracy": metrics.accuracy_score(y, s > 0, sample_weight=w),
    }
    assert values(found, expected) == pytest.approx(expected, rel=1e-6)  # the scores were text with six digits
    share = float(w @ y / w.sum())
    assert baselines(found, expected) == pytest.approx({
        "log_loss": metrics.log_loss(y, np.full(len(y), share), sample_weight=w), "auc": 0.5,
        "average_precision": share, "brier": share * (1 - share), "accuracy": max(share, 1 - share),
    })
    at = found["threshold"]
    assert [at["precision"], at["recall"], at["f1"]] == pytest.approx([
        metrics.precision_score(y, p >= 0.4, sample_weight=w), metrics.recall_score(y, p >= 0.4, sample_weight=w),
        metrics.f1_score(y, p >= 0.4, sample_weight=w),
    ])
    precision, recall, thresholds = metrics.precision_recall_curve(y, s, sample_weight=w)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-300)
    assert found["best_f1"]["f1"] == pytest.approx(f1.max())
    assert found["best_f1"]["threshold"] == pytest.approx(1 / (1 + np.exp(-thresholds[f1.argmax()])), rel=1e-5)
    groups = found["calibration"]
    assert sum(g["weight"] for g in groups) == pytest.approx(w.sum())
    assert sum(g["weight"] * g["observed"] for g in groups) == pytest.approx(w @ y)
    assert sum(g["weight"] * g["predicted"] for g in groups) == pytest.approx(w @ p, rel=1e-6)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("loss", ["squared", "quantile", "huber", "poisson"])
def test_measures_of_numbers_are_those_of_sklearn(vwlite, loss, weights):
    labels, w = made("count" if loss == "poisson" else "number", weights)
    tau = ["--quantile-tau", "0.8"] if loss == "quantile" else []
    vwlite("train", "train.vw", "--loss", loss, *tau, *LEARN, "-m", "m")
    y, p = labels.astype(float), predicted(vwlite, "m", "test.vw", "--link", "identity").astype(float)
    p = np.exp(p) if loss == "poisson" else p
    mean = np.full(len(y), w @ y / w.sum())
    found = evaluated(vwlite)

    def expected(p):
        both = {
            "mse": metrics.mean_squared_error(y, p, sample_weight=w),
            "mae": metrics.mean_absolute_error(y, p, sample_weight=w),
            "r2": metrics.r2_score(y, p, sample_weight=w),
        }
        if loss == "quantile":
            both["quantile_loss"] = metrics.mean_pinball_loss(y, p, sample_weight=w, alpha=0.8)
        if loss == "poisson":
            both["poisson_deviance"] = metrics.mean_poisson_deviance(y, p, sample_weight=w)
        if loss == "huber":
            e = np.abs(y - p)
            both["huber_loss"] = float(w @ np.where(e <= 1, e**2, 2 * e - 1) / w.sum())
        return both

    constant = expected(mean)
    assert values(found, constant) == pytest.approx(expected(p), rel=1e-5)
    if loss in ("quantile", "huber"):  # whose best constant is not the mean
        key = f"{loss}_loss"
        tried = [*np.unique(y), *np.linspace(y.min(), y.max(), 2000)]
        each = np.subtract.outer(tried, y)
        size = np.abs(each)
        loss_of = np.where(size <= 1, each**2, 2 * size - 1) if loss == "huber" else np.maximum(-0.8 * each, 0.2 * each)
        constant[key] = (loss_of @ w / w.sum()).min()
    assert baselines(found, constant) == pytest.approx(constant, rel=1e-4 if loss == "huber" else 1e-9, abs=1e-9)
    assert loss != "huber" or found["measures"]["huber_loss"]["baseline"] <= constant["huber_loss"]


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("probable", [False, True])
def test_measures_of_classes_are_those_of_sklearn(vwlite, probable, weights):
    y, w = made("class", weights)
    kind = ["--softmax", "--algorithm", "adagrad"] if probable else GD
    vwlite("train", "train.vw", "--oaa", "6", "--classes", "auto", "--quiet", *kind, "-m", "m")
    p = predicted(vwlite, "m", "test.vw")
    found = evaluated(vwlite)
    with np.errstate(all="ignore"):
        precision, recall, f1, _ = metrics.precision_recall_fscore_support(
            y, p, sample_weight=w, average="macro", zero_division=0)
    expected = {
        "accuracy": metrics.accuracy_score(y, p, sample_weight=w),
        "macro_precision": precision, "macro_recall": recall, "macro_f1": f1,
    }
    if probable:
        rows = [line.split() for line in vwlite("predict", "-m", "m", "test.vw", "--probabilities").out.splitlines()]
        given = [dict(cell.rsplit(":", 1) for cell in row if ":" in cell) for row in rows]
        expected["log_loss"] = -float(w @ np.log([float(row[k]) for row, k in zip(given, y, strict=True)]) / w.sum())
    assert values(found, expected) == pytest.approx(expected, rel=1e-5)
    names = [*found["classes"]]
    assert np.array(found["confusion_matrix"]) == pytest.approx(
        metrics.confusion_matrix(y, p, labels=names, sample_weight=w))


@pytest.mark.parametrize("label", ["two", "number"])
def test_intervals_hold_the_truth_19_times_of_20(vwlite, label):
    # The truth is what 40 test parts have together.
    made(label, False)
    loss = ["--loss", "logistic"] if label == "two" else []
    vwlite("train", "train.vw", *loss, *LEARN, "-m", "m")
    chance = np.random.default_rng(8)
    parts = [lines_of(chance, 300, label, weights=False) for _ in range(40)]
    Path("test.vw").write_text("".join(line for part in parts for line in part))
    whole = {name: m["value"] for name, m in evaluated(vwlite)["measures"].items() if m["low"] is not None}
    inside = dict.fromkeys(whole, 0)
    for part in parts:
        Path("test.vw").write_text("".join(part))
        measured = evaluated(vwlite)["measures"]
        for name in whole:
            inside[name] += measured[name]["low"] <= whole[name] <= measured[name]["high"]
    assert len(inside) >= 3 and all(count >= 34 for count in inside.values()), inside


def test_a_model_is_compared_with_another(vwlite):
    labels, _ = made("two", False)
    vwlite("train", "train.vw", "--loss", "logistic", *LEARN, "-m", "m")
    vwlite("train", "train.vw", "--loss", "logistic", *LEARN, "--ignore", "u", "-m", "other")
    alone, other = evaluated(vwlite), evaluated(vwlite, "-m", "other")
    found = evaluated(vwlite, "--against", "other")
    for name, m in found["difference"].items():
        assert m["value"] == pytest.approx(alone["measures"][name]["value"] - other["measures"][name]["value"])
    y = labels.astype(float) > 0
    a, b = (predicted(vwlite, m, "test.vw", "--link", "identity").astype(float) for m in ("m", "other"))
    places = [
        ((s[y][:, None] > s[~y]) + 0.5 * (s[y][:, None] == s[~y])) for s in (a, b)
    ]  # DeLong's paper, written out
    d = places[0] - places[1]
    variance = d.mean(axis=1).var(ddof=1) / y.sum() + d.mean(axis=0).var(ddof=1) / (~y).sum()
    area = found["difference"]["auc"]
    assert (area["high"] - area["low"]) / 2 / 1.959963984540054 == pytest.approx(variance**0.5, rel=1e-6)
    assert "better" in vwlite("evaluate", "-m", "m", "--against", "other", "test.vw").out
    same = vwlite("evaluate", "-m", "m", "--against", "m", "test.vw").out
    assert same.count("no clear difference") == 4


def test_scores_in_bins_are_marked(vwlite, monkeypatch):
    made("two", True)
    vwlite("train", "train.vw", "--loss", "logistic", *LEARN, "-m", "m")
    exact = values(evaluated(vwlite))
    from vwlite.evaluation.sums import Scores

    monkeypatch.setattr(Scores.__init__, "__defaults__", (100,))
    monkeypatch.setattr("vwlite.evaluation.kinds.Binary.__init__.__kwdefaults__", {"threshold": None, "most": 100})
    monkeypatch.setattr("vwlite.evaluation.evaluate.Evaluating.kind.__defaults__", (100,))
    found = evaluated(vwlite)
    assert values(found) == pytest.approx(exact, rel=2e-3)
    assert found["measures"]["auc"]["approximate"]
    assert "approximate" not in found["measures"]["brier"]
    assert "~0." in vwlite("evaluate", "-m", "m", "test.vw").out


def test_slices_are_evaluated_as_their_lines_alone(vwlite):
    made("two", False)
    vwlite("train", "train.vw", "--loss", "logistic", *LEARN, "-m", "m")
    parts = evaluated(vwlite, "--by", "page1")["by"]
    lines = Path("test.vw").read_text().splitlines(keepends=True)
    for name, part in parts.items():
        own = [line for line in lines if (f"|page1 {name}" in line if name != "(none)" else "|page1" not in line)]
        Path("test.vw").write_text("".join(own))
        alone = evaluated(vwlite)
        assert part["rows"] == alone["rows"] == len(own)
        assert values(part) == pytest.approx(values(alone))
    assert len(parts) == 3


def test_slices_of_tables_and_json(vwlite):
    rows = [("a,b", 1), ('say "x"', 0), ("", 1), ("a,b", 0)] * 5
    quoted = ["" if not a else '"' + a.replace('"', '""') + '"' for a, _ in rows]
    lines = [f"{q},{y},{i}\n" for i, (q, (_, y)) in enumerate(zip(quoted, rows, strict=True))]
    Path("t.csv").write_text("word,y,n\n" + "".join(lines))
    Path("t.jsonl").write_text("".join(json.dumps({"word": a, "y": y}) + "\n" for a, y in rows))
    vwlite("train", "t.csv", "--label", "y", *LEARN, "--loss", "logistic", "--labels", "0,1", "-m", "m")
    for data in ("t.csv", "t.jsonl"):
        found = json.loads(vwlite("evaluate", "-m", "m", data, "--by", "word", "--json").out)
        assert {name: part["rows"] for name, part in found["by"].items()} == {"a,b": 10, 'say "x"': 5, "(none)": 5}
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"word": [a or None for a, _ in rows], "y": [y for _, y in rows], "n": range(20),
                      "list": [[1]] * 20, "when": pa.array([86400 * (i % 2) for i in range(20)], pa.timestamp("s"))})
    importlib.import_module("pyarrow.parquet").write_table(table, "t.parquet")
    with pa.OSFile("t.arrow", "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)
    of_csv = json.loads(vwlite("evaluate", "-m", "m", "t.csv", "--by", "word", "--json").out)["by"]
    for data in ("t.parquet", "t.arrow"):
        assert json.loads(vwlite("evaluate", "-m", "m", data, "--by", "word", "--json").out)["by"] == of_csv
        times = json.loads(vwlite("evaluate", "-m", "m", data, "--by", "when", "--json").out)["by"]
        assert [(name[:10], part["rows"]) for name, part in times.items()] == [("1970-01-01", 10), ("1970-01-02", 10)]
        assert "--by list: a column of list" in vwlite("evaluate", "-m", "m", data, "--by", "list", code=2).err
    text = vwlite("evaluate", "-m", "m", "t.csv", "--by", "word").out
    assert text.splitlines()[0] == "20 rows, 10 y (50.0 %)"
    assert max(map(len, text.splitlines())) <= 80
    assert "there is no such column; there are word, y, n" in vwlite(
        "evaluate", "-m", "m", "t.csv", "--by", "nothing", code=2).err


@pytest.mark.parametrize(("condition", "code"), [("auc<0.1", 0), ("auc<0.999", 1), ("Brier>=0", 1), ("f1<0", 0)])
def test_conditions_decide_the_exit_code(vwlite, condition, code):
    made("two", False)
    vwlite("train", "train.vw", "--loss", "logistic", *LEARN, "-m", "m")
    done = vwlite("evaluate", "-m", "m", "test.vw", "--fail-if", condition, code=code)
    assert ("--fail-if" in done.err) == bool(code)


def test_what_is_not_defined_is_said(vwlite):
    made("two", False)
    vwlite("train", "train.vw", "--loss", "logistic", *LEARN, "-m", "m")
    Path("test.vw").write_text("1 |user a1\n1 |user a2\n")
    found = evaluated(vwlite)
    assert found["measures"]["auc"] == {
        "value": None, "baseline": None, "low": None, "high": None, "undefined": "all labels are positive",
    }
    text = vwlite("evaluate", "-m", "m", "test.vw").out
    assert re.search(r"^AUC +- +not defined: all labels are positive$", text, re.MULTILINE)
    assert "nan" not in text
    done = vwlite("evaluate", "-m", "m", "test.vw", "--fail-if", "auc<0.5", code=1)
    assert "--fail-if auc<0.5: it is not defined" in done.err
    Path("test.vw").write_text("3 |user a1\n3 |user a2\n")
    vwlite("train", "test.vw", *LEARN, "--loss", "squared", "-m", "m")
    text = vwlite("evaluate", "-m", "m", "test.vw").out
    assert re.search(r"^R\^2 +- +not defined: all labels are the same$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("text", "options", "code", "message"),
    [
        ("", "", 65, "test.vw: no examples: nothing to evaluate"),
        ("|user a1\n\n|user a2\n", "", 65, "test.vw: no example has a label: nothing to evaluate"),
        ("1 0 |user a1\n", "", 65, "all importance weights are 0"),
        ("1 |user a1\nbad|x:y z\n", "", 65, "test.vw:2:7"),
        ("3 |user a1\n4 |user a1\n", "", 65, "do not match m"),
        ("1 |user a1\n", "--fail-if auc", 2, "is not a measure, <, <=, > or >=, and a number"),
        ("1 |user a1\n", "--fail-if mse<1", 2, "there is no measure mse; there are log_loss, accuracy, brier, auc"),
        ("1 |user a1\n", "--by none", 65, "no line has a column, key or namespace of that name"),
        ("1 |user a1\n", "--against number", 2, "are models of different tasks"),
        ("1 |user a1\n", "-m gone", 66, "gone"),
        ("1 |user a1\n", "-m test.vw", 65, "not a model"),
        ("1 |user a1\n", "-m number --threshold 1", 2, "--threshold is for models of two labels"),
    ],
)
def test_bad_input(vwlite, text, options, code, message):
    made("number", False)
    vwlite("train", "train.vw", *LEARN, "--loss", "squared", "-m", "number")
    made("two", False)
    vwlite("train", "train.vw", "--loss", "logistic", *LEARN, "-m", "m")
    Path("test.vw").write_text(text)
    done = vwlite("evaluate", *([] if "-m" in options else ["-m", "m"]), "test.vw", *options.split(), code=code)
    assert message in done.err
    assert done.out == ""


def test_a_pipe_is_evaluated_but_not_compared(vwlite):
    made("two", False)
    vwlite("train", "train.vw", "--loss", "logistic", *LEARN, "-m", "m")
    from_file = vwlite("evaluate", "-m", "m", "test.vw").out
    run = [sys.executable, "-P", "-m", "vwlite", "evaluate", "-m", "m"]
    piped = subprocess.run(run, input=Path("test.vw").read_bytes(), capture_output=True, check=True)
    assert piped.stdout.decode() == from_file
    refused = subprocess.run([*run, "--against", "m"], input=b"", capture_output=True)
    assert refused.returncode == 2
    assert b"standard input is read only once" in refused.stderr


def strict(text: str) -> dict:
    """JSON, which has no NaN and no Infinity."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("place", ["highest", "lowest", "between"])
def test_examples_of_importance_0_change_no_measure(vwlite, place):
    made("two", False)
    vwlite("train", "train.vw", *LEARN, "--loss", "logistic", "-m", "m")
    before = strict(vwlite("evaluate", "-m", "m", "test.vw", "--json").out)
    more = {"highest": "|n x:99", "lowest": "|n x:-99", "between": "|user a1"}[place]
    lines = Path("test.vw").read_text()
    for label in ("1", "-1"):
        Path("test.vw").write_text(f"{label} 0 {more}\n{lines}{label} 0 {more}\n")
        done = vwlite("evaluate", "-m", "m", "test.vw", "--json", "--fail-if", "average_precision<0.1")
        after = strict(done.out)
        for name, measure in before["measures"].items():
            assert after["measures"][name]["value"] == pytest.approx(measure["value"], rel=1e-12)
        assert after["best_f1"] == pytest.approx(before["best_f1"], rel=1e-12)
        assert "Warning" not in done.err
        assert " nan" not in vwlite("evaluate", "-m", "m", "test.vw").out


@pytest.mark.parametrize("label", ["1e7", "-1e30"])
def test_a_large_label_of_importance_0_takes_no_digits(label, vwlite):
    made("number", False)
    vwlite("train", "train.vw", *LEARN, "-m", "m")
    before = strict(vwlite("evaluate", "-m", "m", "test.vw", "--json").out)["measures"]
    lines = Path("test.vw").read_text()
    Path("test.vw").write_text(f"{label} 0 |user a1\n{lines}{label} 0 |user a1\n")
    after = strict(vwlite("evaluate", "-m", "m", "test.vw", "--json").out)["measures"]
    for name in ("mse", "rmse", "r2"):
        for value in ("value", "low", "high"):
            assert after[name][value] == pytest.approx(before[name][value], rel=1e-12), (name, value)


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
@pytest.mark.parametrize("value", [None, float("nan")])
def test_a_condition_on_what_compares_with_no_number_fails(sign, value):
    assert failures([Condition("auc", sign, 0.5)], {"auc": value}) == [f"--fail-if auc{sign}0.5: it is not defined"]


def test_json_has_null_for_what_is_not_finite():
    values = {"a": float("nan"), "b": [1.5, float("inf"), (True, -float("inf"))], "c": "NaN"}
    assert strict(json_text(values)) == {"a": None, "b": [1.5, None, [True, None]], "c": "NaN"}


LOSS = {"two": ["logistic"], "number": ["squared"], "count": ["poisson"],
        "class": ["logistic", "--oaa", "4", "--classes", "auto"]}


def scaled(text: str, factor: float) -> str:
    """The lines with their importances times this."""
    words = (line.split(" ", 2) for line in text.splitlines())
    return "".join(f"{label} {float(weight) * factor:.17g} {rest}\n" for label, weight, rest in words)


@pytest.mark.third
@pytest.mark.parametrize("label", ["two", "number", "count", "class"])
@pytest.mark.parametrize("factor", [1e-320, 1e-300, 1e-160, 1e160, 1e300])
def test_the_scale_of_importances_changes_no_measure(vwlite, monkeypatch, label, factor):
    monkeypatch.setattr("vwlite.evaluation.measures.AT_ONCE", 100)
    made(label, True)
    vwlite("train", "train.vw", *LEARN, "--loss", *LOSS[label], "-m", "m")
    vwlite("train", "train.vw", *LEARN, "--loss", *LOSS[label], "--l1", "0.01", "-m", "m2")
    text, options = Path("test.vw").read_text(), ("--against", "m2", "--by", "user")
    before = evaluated(vwlite, *options)
    Path("test.vw").write_text(scaled(text, factor))
    after = evaluated(vwlite, *options)
    close = 1e-9 if factor > 1e-305 else 2e-3  # below the least normal number, few digits are left
    assert after["rows"] == before["rows"] and after["weight"] == pytest.approx(factor * before["weight"], rel=close)
    for kind in ("measures", "difference"):
        for name, measure in before[kind].items():
            for field, value in measure.items():
                expected = pytest.approx(value, rel=close, abs=close) if isinstance(value, float) else value
                assert after[kind][name][field] == expected, (kind, name, field)
    assert [*after["by"]] == [*before["by"]]
    shown = vwlite("evaluate", "-m", "m", "test.vw").out
    assert max(map(len, re.findall(r"[\d,]+", shown))) < 25
    for command in ("report", "drift"):
        vwlite(command, "-m", "m", "test.vw", *["test.vw"] * (command == "drift"))


@pytest.mark.pairwise
@pytest.mark.parametrize("label", ["two", "number", "class"])
@pytest.mark.parametrize("at", [0, 450, 899])
@pytest.mark.parametrize("weight", ["1e30", "1e160", "1e300"])
def test_one_large_importance_decides(vwlite, monkeypatch, label, at, weight):
    monkeypatch.setattr("vwlite.evaluation.measures.AT_ONCE", 100)
    made(label, False)
    vwlite("train", "train.vw", *LEARN, "--loss", *LOSS[label], "-m", "m")
    lines = Path("test.vw").read_text().splitlines()
    Path("test.vw").write_text(lines[at] + "\n")
    alone = values(evaluated(vwlite))
    lines[at] = lines[at].replace(" '", f" {weight} '")
    Path("test.vw").write_text("\n".join(lines) + "\n")
    found = values(evaluated(vwlite))
    means = {"two": ["log_loss", "brier", "accuracy"], "number": ["mse", "mae"], "class": ["log_loss", "accuracy"]}
    assert [found[name] for name in means[label]] == pytest.approx([alone[name] for name in means[label]], abs=1e-12)
    for command in ("report", "drift"):
        vwlite(command, "-m", "m", "test.vw", *["test.vw"] * (command == "drift"))


def test_importances_whose_sum_overflows_are_bad_data(vwlite):
    Path("test.vw").write_text("1 1.7e308 |f a\n-1 1.7e308 |f b\n")
    Path("train.vw").write_text("1 |f a\n-1 |f b\n")
    vwlite("train", "train.vw", *LEARN, "--loss", "logistic", "-m", "m")
    assert "test.vw: the sum of the importance weights" in vwlite("evaluate", "-m", "m", "test.vw", code=65).err


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("label", ["1", "-1"])
def test_a_prediction_at_the_threshold_is_positive_everywhere(vwlite, loss, label):
    """Of lines without a known feature and without an intercept, whose score is 0."""
    Path("train.vw").write_text("1 |f a\n-1 |f b\n" * 9)
    vwlite("train", "train.vw", *LEARN, "--loss", loss, "--no-constant", "-m", "m")
    vwlite("train", "train.vw", *LEARN, "--loss", loss, "-m", "m2")
    Path("test.vw").write_text(f"{label} |f c\n1 |f a\n-1 |f b\n{label} |g a\n")
    usual = "0.5" if loss == "logistic" else "0"
    positive = vwlite("predict", "-m", "m", "test.vw", "--threshold", usual).out.split()
    assert positive == ["1", "1", "-1", "1"]
    right = [line == y for line, y in zip(positive, [label, "1", "-1", label], strict=True)]
    found = evaluated(vwlite)
    assert evaluated(vwlite, "--threshold", usual)["threshold"] == found["threshold"]
    assert found["threshold"]["found"] + found["threshold"]["false"] == positive.count("1")
    assert found["measures"]["accuracy"]["value"] == sum(right) / 4
    vwlite("predict", "-m", "m", "test.vw", "-p", "/dev/null", "--report", "r.json")
    assert json.loads(Path("r.json").read_text())["results"]["accuracy"] == sum(right) / 4
    other = vwlite("predict", "-m", "m2", "test.vw", "--threshold", usual).out.split()
    different = json.loads(vwlite("diff", "m", "m2", "test.vw", "--json").out)["predictions"]
    assert different["differ"] == sum(a != b for a, b in zip(positive, other, strict=True))


def drawn_rows(chance: np.random.Generator, n: int, noise: float) -> Rows:
    """Scores of two labels, of which few or none are wrong; of some, all labels are the same."""
    y = np.where(chance.random(n) < 0.5, 1.0, -1.0)
    z = 3 * y + noise * chance.normal(size=n)
    loss = np.log1p(np.exp(-y * z))
    return Rows.of(np.array([y, chance.choice([1.0, 0.5, 4.0], n), z, loss, loss, np.ones(n)]))


@pytest.mark.parametrize("noise", [0.1, 2.0, 4.0])
def test_intervals_are_within_the_range_of_their_measures(noise):
    chance, met = np.random.default_rng(1), 0
    least, most = {"R^2": -np.inf}, {"AUC": 1, "average precision": 1, "Brier": 1, "accuracy": 1, "R^2": 1}
    for _ in range(200):
        kinds = [Binary(probable=True, loss="logistic"), Binary(probable=True, loss="logistic"),
                 Regression(loss="squared"), Regression(loss="squared")]
        rows = drawn_rows(chance, int(chance.integers(2, 30)), noise)
        other = rows._replace(prediction=rows.prediction[::-1], loss=rows.loss[::-1])
        for first, second in (kinds[:2], kinds[2:]):
            first, second = StreamMeasures(first), StreamMeasures(second)
            against = Against(first, second)
            first.add(rows)
            first.finish()
            against.add(rows, other)
            for m in first.values():
                low, high = m.interval or (None, None)
                if low is not None:
                    met += 1
                    bound = most.get(m.name, np.inf)
                    assert least.get(m.name, 0) <= low <= m.value + 1e-12 and m.value - 1e-12 <= high <= bound, m
            for m in against.values():
                if m.interval is not None and m.name in most:
                    assert -most[m.name] <= m.interval[0] <= m.interval[1] <= most[m.name]
    assert met > 600


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e5, 1e12])
def test_columns_are_apart_whatever_the_size_of_numbers(vwlite, scale):
    chance = np.random.default_rng(1)
    numbers = enumerate(chance.normal(size=(60, 2)))
    rows = (f"{scale * (x + 0.1 * y):.17g} |f a:{x:.3f} |s v{k % 3}\n" for k, (x, y) in numbers)
    Path("test.vw").write_text("".join(rows))
    for name, more in (("m", []), ("m2", ["--l1", "0.1"])):
        vwlite("train", "test.vw", *LEARN, *more, "-m", name)
    found = evaluated(vwlite, "--against", "m2", "--by", "s")
    out = vwlite("evaluate", "-m", "m", "test.vw", "--against", "m2", "--by", "s").out
    words = out.split()
    for m in found["measures"].values():
        for value in (m["value"], m["baseline"], m["low"], m["high"]):
            assert screen.shown(value) in words
    for m in found["difference"].values():
        if m["low"] is not None:
            assert {screen.signed(m[name]) for name in ("value", "low", "high")} <= {*words}
    for part in found["by"].values():
        shown = [screen.shown(m["value"]) for m in part["measures"].values()]  # as many as there is room for
        assert {*shown[:3]} <= {*words}


@pytest.mark.parametrize("weights", ["1 1 1 1", "9 1 1 1", "2 0.5 0.5 1"])
def test_shares_of_rows_and_of_weights_are_apart(vwlite, weights):
    each = [float(w) for w in weights.split()]
    labels = ["1", "-1", "-1", "1"]
    Path("test.vw").write_text("".join(f"{y} {w} |f x:{w}\n" for y, w in zip(labels, each, strict=True)))
    vwlite("train", "test.vw", *LEARN, "--loss", "logistic", "-m", "m")
    head, *rest = vwlite("evaluate", "-m", "m", "test.vw").out.splitlines()
    said = "4 rows, 2 positive (50.0 %)"
    if set(each) != {1.0}:
        share = (each[0] + each[3]) / sum(each)
        said += f"; weight {sum(each):g}, {each[0] + each[3]:g} of it positive ({100 * share:.1f} %)"
    assert head == said
    assert any(line.startswith("at 0.5000 by weight: ") for line in rest) == (set(each) != {1.0})


@pytest.mark.parametrize("k", [1, 2, 5])
def test_precision_and_recall_at_k_are_those_of_the_best_classes(vwlite, k):
    lines = [f"{i * i % 7 % 4 + 1} {i % 3 + 1} |a x{i % 5}:{i % 4} y{i % 3}\n" for i in range(200)]
    write("d", "".join(lines) + "|a y1\n")
    vwlite("train", *GD, "d", "--oaa", 4, "--loss", "logistic", "-m", "m", "--quiet")
    found = json.loads(vwlite("evaluate", "-m", "m", "d", "--top", k, "--json").out)["measures"]
    lines = vwlite("predict", "-m", "m", "d", "--top", k, "--quiet").out.splitlines()
    rows = [line.split()[:2] for line in Path("d").read_text().splitlines()][:200]
    best = [[word.split(":")[0] for word in line.split()] for line in lines[:200]]
    hits = [label in classes for (label, _), classes in zip(rows, best, strict=True)]
    weights = [float(weight) for _, weight in rows]
    recall = sum(w for hit, w in zip(hits, weights, strict=True) if hit) / sum(weights)
    assert found[f"recall_at_{k}"]["value"] == pytest.approx(recall)
    assert found[f"precision_at_{k}"]["value"] == pytest.approx(recall / k)
    assert k > 1 or recall == pytest.approx(found["accuracy"]["value"])
    plain = json.loads(vwlite("evaluate", "-m", "m", "d", "--json").out)["measures"]
    assert plain == {name: x for name, x in found.items() if "_at_" not in name}
    most = sorted(sum(w for (label, _), w in zip(rows, weights, strict=True) if label == c) for c in "1234")
    assert found[f"recall_at_{k}"]["baseline"] == pytest.approx(sum(most[-k:]) / sum(weights))
    assert vwlite("evaluate", "-m", "m", "d", "--top", k, "--fail-if", f"recall_at_{k}<1.1", code=1)
    vwlite("train", *GD, "d", "-m", "number", "--quiet")
    assert "--top is for models of classes" in vwlite("evaluate", "-m", "number", "d", "--top", k, code=2).err
