"""Tables as nobody wants them: columns without values, with huge ones, ids, copies of the label; few rows, repeated and
sorted ones. `--derive auto` gives a model that is no worse than without, or a sentence."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from tables import written
from tiers import drawn

ROWS, FRESH, DRAWS = 300, 1000, drawn(6)


def numbers(x) -> list[str]:
    return [f"{v:.6g}" for v in x]


def words(rng, n: int, kinds: int) -> list[str]:
    return [f"w{i}" for i in rng.integers(0, kinds, n)]


def missing(x, rng):
    return {"x": numbers(x), "m": [""] * len(x)}, 1.5 * x


def one_value(x, rng):
    return {"x": numbers(x), "c": ["5"] * len(x)}, 1.5 * x


def one_value_or_none(x, rng):
    given = rng.random(len(x)) < 0.5
    return {"x": numbers(x), "c": ["5" if g else "" for g in given]}, x * np.where(given, 1.5, -1)


def two_values(x, rng):
    c = rng.integers(0, 2, len(x))
    return {"x": numbers(x), "c": numbers(c)}, 1.5 * x * (2 * c - 1)


def huge(x, rng):
    return {"x": numbers(4e37 * x), "d": numbers(1e-40 * rng.random(len(x)))}, 1.5 * x


def denormal(x, rng):
    return {"x": numbers(1e-40 * x)}, 1.5 * x


def heavy(x, rng):
    return {"x": numbers(np.exp(5 * x))}, 1.5 * np.sin(2 * x)


def ids(x, rng):
    n, most = len(x), 10**6
    return {"id": numbers(rng.integers(0, most, n)), "u": words(rng, n, most), "x": numbers(x)}, 1.5 * x


def noise(x, rng):
    n = len(x)
    return {"x": numbers(x), "z": numbers(rng.integers(0, 9, n)), "w": words(rng, n, 4)}, 0 * x


def few_kinds(x, rng):
    c = rng.integers(0, 5, len(x))
    return {"x": numbers(x), "c": [f"w{i}" for i in c]}, np.array([-3, 3, -3, 3, 0])[c]


def equal_in_float(x, rng):
    k = rng.integers(0, 100, len(x))
    return {"x": [repr(1 + 1e-9 * int(v)) for v in k], "z": [repr(16777216 + int(v) % 7) for v in k]}, (k - 50) / 20


def levels(x, rng):
    n = len(x)
    return {"w": words(rng, n, 100_000), "v": words(rng, n, 30), "x": numbers(x)}, 1.5 * x


def signs(x, rng):
    z = rng.normal(size=len(x))
    return {"a^b": numbers(x), "e|f": numbers(z), "?": rng.choice(["*", "p^q", "?"], len(x))}, 3 * np.sign(x * z)


TABLES = (missing, one_value, one_value_or_none, two_values, huge, denormal, heavy, ids, noise, few_kinds,
          equal_in_float, levels, signs)
LABELS = {
    "two": lambda score, rng: np.where(rng.random(len(score)) < 1 / (1 + np.exp(-score)), "yes", "no").tolist(),
    "numbers": lambda score, rng: numbers(score + rng.normal(size=len(score))),
    "classes": lambda score, rng: [
        "a" if u < p * 0.6 else "b" if u < 0.5 + 0.2 * p else "c"
        for u, p in zip(rng.random(len(score)), 1 / (1 + np.exp(-score)), strict=True)
    ],
}
ORDERS = {
    "drawn": lambda y: range(len(y)),
    "sorted": lambda y: sorted(range(len(y)), key=lambda i: (y[i], i)),
    "twice": lambda y: [i for i in range(len(y)) for _ in range(2)],
}


def write(path: Path, columns, y, order) -> Path:
    rows = [*zip(*columns.values(), y, strict=True)]
    return written(path, [*columns, "y"], (rows[i] for i in order))


def is_number(word: str) -> bool:
    return word.replace(".", "").replace("e+", "").lstrip("-").isdigit()


def constant_loss(y, of) -> float:
    """That of the labels `of` by the best constant of y."""
    if y[0][-1].isdigit():
        return float(np.mean((np.array(of, float) - np.mean(np.array(y, float))) ** 2))
    return -float(np.mean([math.log(y.count(label) / len(y)) for label in of]))


def loss_of(vwlite, model, path) -> float:
    measures = json.loads(vwlite("evaluate", "-m", model, path, "--json", "--quiet").out)["measures"]
    return float(next(measures[k]["value"] for k in ("log_loss", "mse") if k in measures))


@pytest.mark.drawn
@pytest.mark.third
@pytest.mark.parametrize(
    ("labels", "order"),
    [("two", "drawn"), ("numbers", "drawn"), ("classes", "drawn"), ("two", "sorted"), ("numbers", "twice")],
)
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_a_sensible_model(vwlite, tmp_path, table, labels, order):
    """Never worse than the constant on its own rows; on others in the mean of draws not worse than the constant, or the
    model without derived features, by more than two standard errors."""
    worse = []
    options = ["--label", "y", *(["--classes", "auto"] if labels == "classes" else [])]
    for seed in range(DRAWS):
        rng = np.random.default_rng([seed, TABLES.index(table)])
        n = 60 if table in (few_kinds, noise) else ROWS
        columns, score = table(rng.normal(size=n), rng)
        y = LABELS[labels](score, rng)
        data = write(tmp_path / "data.csv", columns, y, ORDERS[order](y))
        vwlite("train", data, *options, "--derive", "auto", "-m", tmp_path / "auto")
        own = loss_of(vwlite, tmp_path / "auto", data)
        assert own <= constant_loss(y, y) * 1.001
        worse.append(0.0)
        if not json.loads(vwlite("info", tmp_path / "auto", "--json").out)["options"].get("derived"):
            continue  # nothing was taken: the model is that without derived features
        columns, score = table(rng.normal(size=FRESH), rng)
        others = LABELS[labels](score, rng)
        fresh = write(tmp_path / "fresh.csv", columns, others, range(FRESH))
        vwlite("train", data, *options, "--derive", "none", "-m", tmp_path / "none")
        none, auto = (loss_of(vwlite, tmp_path / kind, fresh) for kind in ("none", "auto"))
        assert math.isfinite(auto)
        worse[-1] = auto - max(none, constant_loss(y, others))
    assert np.mean(worse) <= 2 * np.std(worse) / math.sqrt(DRAWS - 1) + 1e-6


SCRIPTS = ("Привет мир", "你好 世界", "नमस्ते दुनिया", "สวัสดี", "שלום עולם", "e\u0301te\u0301 naïve", "😀 👩‍👩‍👧", "\u200b")


def long_texts(rng) -> list[list[str]]:
    """Of a fifth of a megabyte in one row, and empty ones."""
    texts = ["x " * 100_000, "y" * 200_000, "", " ", *(["good day", "bad day", ""] * 20)]
    labels = ["yes" if "good" in text else "no" for text in texts]
    return [["text", "x", "y"], *([text, f"{i % 7}", labels[i]] for i, text in enumerate(texts))]


def all_scripts(rng) -> list[list[str]]:
    return [["text", "x", "y"], *([SCRIPTS[k], f"{rng.random():.3f}", "yes" if k < 4 else "no"]
                                  for k in rng.integers(0, len(SCRIPTS), 200))]


def copy_of_label(rng) -> list[list[str]]:
    return [["x", "y"], *([str(k)] * 2 for k in rng.integers(0, 2, 200))]


def copy_of_number(rng) -> list[list[str]]:
    return [["x", "y"], *([x] * 2 for x in numbers(rng.random(200)))]


def ten_rows(rng) -> list[list[str]]:
    return [["x", "w", "y"], *([f"{rng.random():.3f}", "ab"[i % 2], "01"[i % 2]] for i in range(10))]


def one_row(rng) -> list[list[str]]:
    return [["x", "w", "y"], ["1", "a", "1"]]


def one_label(rng) -> list[list[str]]:
    return [["x", "w", "y"], *([f"{i}", "a", "1"] for i in range(100))]


def nothing_but_missing(rng) -> list[list[str]]:
    return [["x", "w", "y"], *(["", "", f"{i % 2}"] for i in range(100))]


def words_and_numbers(rng) -> list[list[str]]:
    found = rng.choice(["1", "a", "2.5"], 200)
    return [["x", "z", "y"], *([str(x), f"{rng.random():.3f}", f"{i % 2}"] for i, x in enumerate(found))]


def beyond_float(rng) -> list[list[str]]:
    return [["x", "y"], *([f"{(i - 50) * 1e306!r}", f"{i % 2}"] for i in range(100))]


def of_a_model_without_errors(rng) -> list[list[str]]:
    """Curves and pairs know the label."""
    a, b = rng.normal(size=(2, 400))
    labels = np.where(a * b > 0, "yes", "no")
    return [["a", "b", "y"], *([f"{u:.3f}", f"{v:.3f}", y] for u, v, y in zip(a, b, labels, strict=True))]


def wide(rng) -> list[list[str]]:
    """40 columns, of which the 30 best are screened, as the test allows no more."""
    X = rng.normal(size=(60, 40))
    label = np.where(X[:, 1] > 0, "yes", "no")
    return [[*(f"c{i}" for i in range(40)), "y"], *([*numbers(row), y] for row, y in zip(X, label, strict=True))]


MODELS = (long_texts, all_scripts, copy_of_label, copy_of_number, ten_rows, one_row, one_label, nothing_but_missing,
          words_and_numbers, of_a_model_without_errors, wide)


@pytest.mark.parametrize("table", MODELS, ids=lambda table: table.__name__)
def test_every_prediction_is_a_number(vwlite, tmp_path, monkeypatch, table):
    """On its own rows, on rows where all or some is missing, and on values far outside."""
    monkeypatch.setattr("vwlite.training.auto.derive.MOST_SCREENED", 30)
    names, *rows = table(np.random.default_rng(MODELS.index(table)))
    data, model, other = tmp_path / "data.csv", tmp_path / "m", tmp_path / "other.csv"
    texts = ["--text", "text"] if names[0] == "text" else []
    written(data, names, rows)
    assert "nan" not in vwlite("train", data, "--label", "y", *texts, "--derive", "auto", "-m", model).err
    empty = [["" for _ in row[:-1]] + row[-1:] for row in rows[:3]]
    far = [["-3e38" if is_number(x) else x for x in row[:-1]] + row[-1:] for row in rows[:3]]
    written(other, names, [*empty, *far, *([*row[:-2], "", row[-1]] for row in rows[:9])])
    for path in (data, other):
        predicted = vwlite("predict", "-m", model, path).out.split()
        assert predicted and all(math.isfinite(float(x)) for x in predicted)


def test_numbers_beyond_float32_are_refused(vwlite, tmp_path):
    names, *rows = beyond_float(None)
    written(tmp_path / "data.csv", names, rows)
    said = vwlite("train", tmp_path / "data.csv", "--label", "y", "--derive", "auto", code=65).err
    assert "data.csv:2:1: column x: '-5e+307' is too large for a 32-bit float" in said


def test_a_file_without_a_column_is_refused_and_one_with_it_in_another_place_is_not(vwlite, tmp_path):
    names, *rows = of_a_model_without_errors(np.random.default_rng(1))
    data, model, other = tmp_path / "data.csv", tmp_path / "m", tmp_path / "other.csv"
    written(data, names, rows)
    vwlite("train", data, "--label", "y", "--derive", "auto", "-m", model)
    written(other, ["a", "y"], ([row[0], row[2]] for row in rows))
    assert "column b of the model is missing" in vwlite("predict", "-m", model, other, code=65).err
    written(other, ["b", "c", "a"], ([row[1], "7", row[0]] for row in rows))
    assert vwlite("predict", "-m", model, other).out == vwlite("predict", "-m", model, data).out
