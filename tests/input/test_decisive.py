"""Columns that alone tell the label: by a count over all values and limits, and what is said of them."""

import itertools
import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

from vwlite.input.decisive import decisive


def right_rows(x, y):
    """In how many rows the best rule is right: a label for each value of two rows or more, or one for each interval of
    numbers, of all limits and orders of labels."""
    x, y = np.array(x), np.array(y)
    values = {*x.tolist()} if len({*x.tolist()}) * 5 <= len(x) else ()
    best = sum(max(np.sum(y[x == v] == label) for label in {*y}) for v in values if np.sum(x == v) > 1)
    if all(v.replace(b".", b"").isdigit() for v in x.tolist()):
        numbers = x.astype(float)
        limits = [-1.0, *np.unique(numbers)]
        for order in itertools.permutations(sorted({*y})):
            # of each label, in how many rows it is right up to a limit
            upto = [np.array([np.sum((numbers <= limit) & (y == label)) for limit in limits]) for label in order]
            for cuts in itertools.combinations_with_replacement(range(len(limits)), len(order) - 1):
                ends = [0, *cuts, len(limits) - 1]
                best = max(best, sum(of[b] - of[a] for of, a, b in zip(upto, ends[:-1], ends[1:], strict=True)))
    return best


def number(cell):
    return float(cell) if cell.replace(b".", b"").isdigit() else None


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_it_is_told_where_nearly_all_errors_of_the_constant_are_gone(seed, labels):
    rng = random.Random(seed)
    y = [b"%d" % rng.randrange(labels) for _ in range(90)]
    wrong = len(y) - max(map(y.count, y))
    columns = {}
    for flips in range(4):  # labels with so many of another row
        changed = [b"%d" % (int(label) + 3) for label in y]
        for i in rng.sample(range(90), flips):
            changed[i] = rng.choice(changed)
        columns[f"words {flips}"] = [b"w" + word for word in changed]
        columns[f"numbers {flips}"] = [b"%d.%02d" % (int(word) - 3, rng.randrange(99)) for word in changed]
    columns |= {"id": [b"%d" % i for i in rng.sample(range(90), 90)], "gap": [b"" if v == y[0] else b"x" for v in y]}
    expected = {name for name, x in columns.items() if len(y) - right_rows(x, y) <= 0.02 * wrong}
    assert {name for name, _ in decisive(y, columns, number)} == expected
    assert "words 0" in expected and "id" not in expected and ("gap" in expected) == (labels == 2)


def test_amounts_are_told_by_their_correlation():
    rng = random.Random(1)
    price = [rng.lognormvariate(3, 1) for _ in range(200)]
    columns = {
        "tax": [b"%.2f" % (0.19 * p + rng.random() / 50) for p in price],
        "rooms": [b"%d" % (p / 5 + rng.random() * 10) for p in price],
        "few": [b"" if i % 3 else b"%.2f" % p for i, p in enumerate(price)],
    }
    r = np.corrcoef(price, [float(x) for x in columns["tax"]])[0, 1]
    found = dict(decisive([b"%.2f" % p for p in price], columns, number))
    assert found == {"tax": f"its correlation with the label is {r:.4f} in the first 200 rows"}


@pytest.mark.parametrize("of", [math.log, lambda p: -(p**0.5), lambda p: 1 / p])
def test_amounts_that_only_rise_or_fall_with_a_column_are_told(of):
    rng = random.Random(2)
    price = [10 + rng.lognormvariate(3, 1) for _ in range(200)]
    columns = {
        "same": [b"%.9f" % of(p) for p in price], "near": [b"%.9f" % of(p * rng.lognormvariate(0, 0.2)) for p in price],
    }
    found = dict(decisive([b"%.2f" % p for p in price], columns, lambda cell: float(cell) if cell else None))
    sign = "-" if of(2) < of(1) else ""
    assert found == {"same": f"its rank correlation with the label is {sign}1.0000 in the first 200 rows"}


@pytest.mark.parametrize("classes", [2, 3, 7, 20])
def test_classes_between_limits_of_a_number_are_told(classes):
    """Such as grades of points."""
    rng = random.Random(classes)
    points = [rng.randrange(100) for _ in range(1000)]
    order = rng.sample(range(classes), classes)
    y = [b"grade %d" % order[p * classes // 100] for p in points]
    columns = {"points": [b"%d.%d" % (p, rng.randrange(10)) for p in points],
               "other": [b"%d" % (p + rng.randrange(9)) for p in points]}
    assert [name for name, _ in decisive(y, columns, number)] == ["points"]


def test_a_number_whose_square_is_too_large_tells_nothing():
    y = [b"%d" % i for i in range(200)]
    assert not [*decisive(y, {"x": [b"1e200", *y[1:]]}, float)]


@pytest.mark.parametrize(
    "y", [[b"1"] * 200, [b"1"] * 197 + [b"0"] * 3, [b"0", b"1"] * 20, [b"a%d" % i for i in range(200)]]
)
def test_few_rows_rare_labels_and_names_are_not_told(y):
    assert not [*decisive(y, {"copy": y}, number)]


def test_train_and_describe_name_them(vwlite, folder):
    rng = random.Random(1)
    rows = []
    for _ in range(300):
        age, churned = rng.randrange(18, 80), rng.random() < 0.3
        rows.append(f"{age},{rng.choice('abc')},{'2024-05-01' if churned else ''},{'yes' if churned else 'no'}")
    Path("a.csv").write_text("age,plan,left at,churned\n" + "\n".join(rows) + "\n")
    why = "alone it tells the label in 300 of the first 300 rows: --drop 'left at' leaves it out if it is known only"
    said = vwlite("train", "a.csv", "--label", "churned", "-m", "m").err
    assert said.count(" alone ") == 1 and f"note: column left at: {why} after the label" in said
    assert "alone it" not in vwlite("train", "a.csv", "--label", "churned", "--drop", "left at", "-m", "m").err
    assert "alone it tells the label" in " ".join(vwlite("describe", "a.csv", "--label", "churned").out.split())
    assert "alone it" not in vwlite("predict", "-m", "m", "a.csv").err


def test_a_value_of_two_rows_tells_nothing():
    """As in a file that was joined with itself."""
    rng = random.Random(1)
    rows = [(b"%.4f" % rng.gauss(0, 1), b"u%d" % rng.randrange(10**6), rng.choice([b"yes", b"no"])) for _ in range(300)]
    x, ids, y = zip(*(row for row in rows for _ in range(2)), strict=True)
    assert not [*decisive(y, {"x": x, "id": ids}, number)]


def test_rare_labels_are_told_as_others():
    y = [b"1" if i % 25 == 7 else b"0" for i in range(1000)]
    rng = random.Random(1)
    columns = {"leak": [b"late" if v == b"1" else b"" for v in y], "noise": [b"%d" % rng.randrange(9) for _ in y]}
    assert [name for name, _ in decisive(y, columns, number)] == ["leak"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_they_are_named_in_every_format(vwlite, folder, name):
    rows = [{"age": 20 + i % 60, "left": "2024" if i % 3 == 0 else None, "y": int(i % 3 == 0)} for i in range(300)]
    if name == "a.jsonl":
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(rows), name)
    said = vwlite("train", name, "--label", "y", "-m", "m").err
    assert said.count(" alone it tells ") == 1 and "note: column left: alone it tells the label in 300 of" in said
