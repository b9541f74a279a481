"""Absent cells of tables: missing ones, and words that a model does not know. What they add to a score."""

import json
import math
import random
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from running import GD
from slow_absent import Axis, cells_of, shrunk, weight_of
from test_effects import frame_of

from vwlite import SparseClassifier, SparseRegressor, load_model
from vwlite.core.data.batch import Batch
from vwlite.core.data.expand import CONSTANT_HASH
from vwlite.core.tables.cells import Cells
from vwlite.core.tables.known import KnownKeys
from vwlite.core.tables.tables import TableParser
from vwlite.derived import NumberColumn
from vwlite.errors import DataError
from vwlite.hashing import feature_hash
from vwlite.model import read_model
from vwlite.model.absent import learned
from vwlite.model.file import to_bytes
from vwlite.model.row_sample import MOST_ROWS, RowSample


def rows_of(n: int, seed: int = 1, missing: float = 0.0) -> list[dict[str, object]]:
    """Rows with a number and two columns of words. missing: which part of the cells has none."""
    r = random.Random(seed)
    rows = []
    for _ in range(n):
        row = {"x": round(r.uniform(2, 9), 3), "w": r.choice("abc"), "v": f"v{r.randrange(12)}"}
        y = row["x"] + {"a": 3, "b": 0, "c": -2}[row["w"]] + r.gauss(0, 0.5)
        row = {name: None if r.random() < missing else cell for name, cell in row.items()}
        rows.append(row | {"y": y})
    return rows


def csv_of(rows: list[dict[str, object]]) -> str:
    lines = (",".join("" if cell is None else str(cell) for cell in row.values()) for row in rows)
    return "\n".join([",".join(rows[0]), *lines, ""])


def weight_in(model, k: int = 0):
    """The weights of a model by name; 0 for what it does not have."""
    at = {key: i for i, key in enumerate(model.keys)}

    def weight(space: str, name: str) -> float:
        key = feature_hash(name.encode(), space.encode()) & ((1 << model.settings.bits) - 1)
        return model.weights[at[key] * model.records + k] if key in at else 0.0

    return weight


LEARNERS = {
    "gd": (*GD, "--loss", "squared"), "l2": (*GD, "--normalize", "l2"), "log": (*GD, "--normalize", "log"),
    "ftrl": ("--algorithm", "ftrl", "--l1", "1"), "rda": ("--algorithm", "rda", "--loss", "squared", "-l", ".02"),
    "sgd": ("--algorithm", "sgd", "-l", ".01", "--average"), "center": (*GD, "--normalize", "center"),
    "auto": ("--derive", "none"), "auto, normalized": ("--derive", "none", "--normalize", "l2"),
    "sparse": ("--sparse", "--derive", "none"),
    "center, subgradient": ("--algorithm", "l1-subgradient", "-l", ".02", "--normalize", "center"),
    "center, ftrl": ("--algorithm", "ftrl", "--normalize", "center"),
}


@pytest.mark.parametrize("missing", [0.0, 0.01, 0.3])
@pytest.mark.parametrize("name", LEARNERS)
def test_the_weight_of_an_absent_cell_is_as_it_is_defined(vwlite, folder, name, missing):
    rows = rows_of(400, missing=missing)
    Path("t.csv").write_text(csv_of([row | {"h": 1 + i % 3} for i, row in enumerate(rows)]))
    vwlite("train", "t.csv", "--label", "y", "--importance", "h", *LEARNERS[name], "-m", "m", "--quiet")
    model = read_model("m")
    weight, record = weight_in(model), model.absent["columns"]
    cells = [{name: cell for name, cell in row.items() if name != "y"} for row in rows]
    for column in ("x", "w", "v"):
        n = sum(row[column] is None for row in rows)
        assert record[column]["missing"] == n
        mean = weight_of(cells, [1 + i % 3 for i in range(len(rows))], column, weight, 0.0, model.settings.normalize)
        mean *= (n + 10) / 10
        assert record[column]["mean"] == [pytest.approx(mean, rel=1e-6, abs=1e-9)]
        if not n:
            assert weight(column, f"{column}?") == pytest.approx(mean, rel=1e-6, abs=1e-9)
        elif model.state and (not model.chosen or name == "sparse"):
            at = [*learned(model).keys].index(feature_hash(f"{column}?".encode(), column.encode()))
            own = learned(model).weights[at]
            assert weight(column, f"{column}?") == pytest.approx(shrunk(n, own, mean), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    "options", [("--oaa", "3", "--classes", "auto"), ("--loss", "quantile", "--quantile-tau", ".2,.8")])
@pytest.mark.parametrize("learner", [GD, ("--derive", "none")])
def test_each_class_and_quantile_has_its_own_mean(vwlite, folder, options, learner):
    rows = rows_of(300)
    if "auto" in options:
        rows = [row | {"y": "lmh"[int(row["y"] > 4) + int(row["y"] > 7)]} for row in rows]
    Path("t.csv").write_text(csv_of(rows))
    vwlite("train", "t.csv", "--label", "y", *options, *learner, "-m", "m", "--quiet")
    model = read_model("m")
    rows = [{name: cell for name, cell in row.items() if name != "y"} for row in rows]
    for k in range(model.records):
        weight = weight_in(model, k)
        for column in ("x", "w", "v"):
            mean = weight_of(rows, [1.0] * len(rows), column, weight, 0.0, model.settings.normalize)
            assert weight(column, f"{column}?") == pytest.approx(mean, rel=1e-5, abs=1e-7)


def test_cells_of_products_have_the_means_of_their_columns(folder):
    """Each one of which a column is absent, of the pairs and triples of a default model."""
    frame = frame_of(2500)
    frame.loc[frame.index % 50 == 3, "w"] = None
    m = SparseClassifier(drop=["at", "p^w"]).fit(frame.drop(columns="y"), frame["y"])
    m.save("m")
    model = read_model("m")
    derived, before = model.settings.derived, weight_in(model)
    assert any(len(product) == 2 for product in derived.products)
    rows = [{k: None if cell is None or cell != cell else cell for k, cell in row.items()}
            for row in frame.drop(columns=["y", "at", "p^w"]).to_dict("records")]
    for row in rows:
        row.update({k: float(np.float32(x)) for k, x in row.items() if isinstance(x, float)})
    shared: dict[str, list[float]] = {}
    for number, product in enumerate(derived.products):
        columns = [derived.columns[c] for c, _ in product]
        axes = [Axis(c.name, [float(np.float32(x)) for x in c.knots[k]]) if isinstance(c, NumberColumn)
                else Axis(c.name, words=c.levels) for c, (_, k) in zip(columns, product, strict=True)]
        names = [c.factors(k) for c, (_, k) in zip(columns, product, strict=True)]
        whole = np.ndindex(*(axis.size for axis in axes))
        weights = {cell: before(columns[0].name, "^".join(n[at] for n, at in zip(names, cell, strict=True)))
                   for cell in whole}
        again = number and [c for c, _ in derived.products[number - 1]] == [c for c, _ in product]
        for cell, (mean, mass) in cells_of(rows, axes, weights).items():
            has_number = any(axis.is_number and at < axis.size - 1 for axis, at in zip(axes, cell, strict=True))
            name = "^".join(n[at] for n, at in zip(names, cell, strict=True))
            if has_number:
                if not mass:
                    assert weights[cell] == pytest.approx(mean, rel=1e-4, abs=1e-6), name
            elif again:
                shared[name][0] += mean
            else:
                shared[name] = [mean, mass, weights[cell]]
    assert shared
    for name, (mean, mass, found) in shared.items():
        if not mass:
            assert found == pytest.approx(mean, rel=1e-4, abs=1e-6), name


def test_rows_without_absent_cells_predict_as_without_their_features(vwlite, folder):
    """Also of levels that are rare, and of a model whose weights are mostly zero."""
    rows = rows_of(600)
    Path("t.csv").write_text(csv_of(rows))
    for options in ((), GD, ("--algorithm", "ftrl", "--l1", "30"),
                    ("--algorithm", "l1-ball", "--radius", "2", "-l", ".01"),
                    ("--algorithm", "truncated-gradient", "--l1", ".1", "-l", ".01")):
        vwlite("train", "t.csv", "--label", "y", *options, "-m", "m", "--quiet")
        model = read_model("m")
        absent = {feature_hash(f"{c}?".encode(), c.encode()) for c in ("x", "w", "v")}
        kept = [i for i, key in enumerate(model.keys) if key not in absent]
        bare = replace(
            model, keys=memoryview(np.array(model.keys)[kept]), weights=memoryview(np.array(model.weights)[kept]),
            state={}, rule={}, weights_only=True, absent={}, columns=model.columns, names=model.names)
        bare.names = type(model.names).of((key, name) for key, name in model.names if key not in absent)
        Path("bare").write_bytes(to_bytes(bare, "bare"))
        assert vwlite("predict", "-m", "m", "t.csv").out == vwlite("predict", "-m", "bare", "t.csv").out, options


@pytest.mark.parametrize("learner", [(), ("--derive", "none"), GD, ("--normalize", "l2")])
def test_a_new_word_is_a_missing_one_and_both_are_average(vwlite, folder, learner):
    rows = rows_of(500)
    Path("t.csv").write_text(csv_of(rows))
    vwlite("train", "t.csv", "--label", "y", *learner, "-m", "m", "--quiet")
    mean = float(np.mean([row["y"] for row in rows]))
    new = [{"x": None, "w": None, "v": None, "y": ""}, {"x": None, "w": "new", "v": "new", "y": ""}]
    Path("new.csv").write_text(csv_of(new))
    first, second = map(float, vwlite("predict", "-m", "m", "new.csv").out.split())
    assert first == pytest.approx(mean, abs=0.4)
    if "l2" not in learner and read_model("m").settings.normalize == "none":
        assert second == pytest.approx(first, abs=1e-5)


def tables():
    """Tables that a linear model fits, without missing cells: name, frame, and whether y is of two labels."""
    r = np.random.default_rng(5)
    for seed in range(3):
        n = 600
        frame = pd.DataFrame({
            "year": r.integers(1960, 2020, n).astype(float), "shop": r.choice([*"abcd"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "kind": r.choice(["k1", "k2"], n), "size": r.exponential(3, n).round(3),
        })
        score = (0.1 * (frame.year - 1990) + frame["shop"].map({"a": 0, "b": 2, "c": -2, "d": 1})
                 + (frame.kind == "k1") - 0.3 * frame["size"])
        yield f"numbers {seed}", frame, 1000 + 50 * score + r.normal(0, 20, n), False
        p = 1 / (1 + np.exp(2.5 - score))
        yield f"labels {seed}", frame, (r.random(n) < p).astype(int), True


@pytest.mark.third
@pytest.mark.parametrize(("name", "frame", "y", "binary"), [pytest.param(*x, id=x[0]) for x in tables()])
def test_an_emptied_column_costs_no_more_than_with_its_mean_put_in(name, frame, y, binary):
    """The loss on rows of which one column is empty, beside that of scikit-learn with the mean number, or with the
    mean of the columns of 0 and 1 that words are."""
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.metrics import log_loss, mean_squared_error

    y = np.asarray(y)
    coded = pd.get_dummies(frame, columns=["shop", "kind"], dtype=float)
    scale = coded[:400].std()
    m = (SparseClassifier if binary else SparseRegressor)().fit(frame[:400], y[:400])
    peer = (LogisticRegression(max_iter=1000) if binary else LinearRegression()).fit(coded[:400] / scale, y[:400])

    def loss(model, X):
        return log_loss(y[400:], model.predict_proba(X)) if binary else mean_squared_error(y[400:], model.predict(X))

    for column in frame:
        test, mean = frame[400:].copy(), coded[400:].copy()
        test[column] = None if frame[column].dtype == object or frame[column].dtype == "str" else math.nan
        for one in mean.columns[mean.columns.str.startswith(column)]:
            mean[one] = coded[one][:400].mean()
        with pytest.warns(UserWarning, match=f"column {column}: 200 of 200 cells are missing"):
            found = loss(m, test)
        assert found <= 1.1 * loss(peer, mean / scale), (name, column)


# --- where they come from ------------------------------------------------------------------------


def test_all_formats_have_the_same_absent_cells(vwlite, folder):
    rows = rows_of(400, missing=0.2)
    Path("t.csv").write_text(csv_of(rows))
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    frame = pd.DataFrame(rows)
    frame.to_parquet("t.parquet")
    roles = ("--numeric", "x", "--categorical", "w,v")
    assert " |w w?" in vwlite("convert", "t.csv", "--label", "y", *roles).out
    new = [row | {"w": "new" if i % 3 else row["w"]} for i, row in enumerate(rows_of(50, 2, 0.3))]
    Path("new.csv").write_text(csv_of(new))
    pd.DataFrame(new).to_parquet("new.parquet")
    Path("new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in new))
    some = ({k: v for k, v in row.items() if v is not None} for row in new)
    Path("some.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some))
    for learner in ((), GD):
        models = []
        for path in ("t.csv", "t.jsonl", "t.parquet"):
            vwlite("train", path, "--label", "y", *roles, *learner, "-m", "m", "--quiet")
            models.append(read_model("m"))
        weights = [dict(zip(m.keys, m.weights, strict=True)) for m in models]
        assert weights[0].keys() == weights[1].keys() == weights[2].keys()
        for other in weights[1:]:
            assert all(other[key] == pytest.approx(w, rel=1e-4, abs=1e-5) for key, w in weights[0].items())
        outputs = [vwlite("predict", "-m", "m", f"new.{kind}").out for kind in ("csv", "jsonl", "parquet")]
        outputs.append(vwlite("predict", "-m", "m", "some.jsonl").out)
        assert len({*outputs}) == 1
        m = load_model("m")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            of_rows = m.predict([{k: v for k, v in row.items() if k != "y"} for row in new])
            of_frame = m.predict(pd.DataFrame(new).drop(columns="y"))
        assert of_rows == pytest.approx([float(line) for line in outputs[0].split()], abs=1e-5)
        assert of_frame == pytest.approx(of_rows, abs=1e-9)


def test_keys_of_json_lines_are_columns_that_may_be_absent(vwlite, folder):
    """No option says which there are. A line without a key that each had lacks its mean effect otherwise."""
    rows = rows_of(500)
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    mean = float(np.mean([row["y"] for row in rows]))
    Path("new.jsonl").write_text('{"other": 1}\n{"x": null, "w": null, "v": null}\n{"w": "new", "v": "b"}\n')
    Path("new.csv").write_text("other\n1\n")
    for learner in ((), GD):
        vwlite("train", "t.jsonl", "--label", "y", *learner, "-m", "m", "--quiet")
        assert {*read_model("m").absent["columns"]} == {"x", "w", "v"}
        found = [float(line) for line in vwlite("predict", "-m", "m", "new.jsonl").out.split()]
        assert found == pytest.approx([mean] * 3, abs=0.4)
        assert float(vwlite("predict", "-m", "m", "new.csv").out) == pytest.approx(mean, abs=0.4)


def test_zeros_are_numbers(folder):
    """Also where a frame or JSON has them."""
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0] * 100, "y": [1.0, 2.0, 3.0, 4.0] * 100})
    m = SparseRegressor(algorithm="gd", passes=20).fit(frame[["x"]], frame["y"])
    m.save("m")
    with pytest.warns(UserWarning, match="column x: 1 of 2 cells is missing"):
        at_zero = load_model("m").predict([{"x": 0}, {"x": None}])
    with pytest.warns(UserWarning, match="column x: 1 of 2 cells is missing"):
        of_frame = m.predict(pd.DataFrame({"x": [0.0, math.nan]}))
    assert at_zero == pytest.approx(of_frame) and at_zero == pytest.approx([1.0, 2.5], abs=0.2)


def test_a_zero_in_an_object_is_a_number_whatever_follows(vwlite, folder):
    rows = [{"y": i % 2, "a": {"x": i % 3, "w": "" if i % 3 == 0 else "u"}} for i in range(30)] + [{"y": 1, "a": None}]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    vwlite("train", "t.jsonl", "--label", "y", "--algorithm", "sgd", "-m", "m", "--quiet")
    Path("new.jsonl").write_text('{"a": {"w": null, "x": 0}}\n{"a": {"x": 0, "w": null}}\n{"a": {"w": null}}\n')
    one, other, absent = vwlite("predict", "-m", "m", "new.jsonl").out.split()
    assert one == other != absent


@pytest.mark.parametrize("change", [{"missing": 0}, {"learned": True}])
def test_a_weight_that_was_learned_from_no_cell_is_refused(vwlite, folder, change):
    """x was learned, and v was not."""
    rows = [row | {"x": None if i % 5 == 0 else row["x"]} for i, row in enumerate(rows_of(100))]
    Path("t.csv").write_text(csv_of(rows))
    vwlite("train", "t.csv", "--label", "y", *GD, "-m", "m", "--quiet")
    model = read_model("m")
    name = "x" if "missing" in change else "v"
    columns = model.absent["columns"] | {name: model.absent["columns"][name] | change}
    Path("m").write_bytes(to_bytes(replace(model, absent=model.absent | {"columns": columns}), "m"))
    with pytest.raises(DataError, match=f"absent cells of {name} was learned from none"):
        read_model("m")


@pytest.mark.parametrize("bits", [4, 6, 8, 11])
@pytest.mark.parametrize("learner", ["gd", "ftrl", "l2", "center", "auto", "auto, normalized"])
def test_a_column_whose_absent_cells_share_a_key_has_what_was_learned(vwlite, folder, bits, learner):
    """With another column, a word, a number or the intercept: a weight that is of these too is that of the state."""
    r = random.Random(bits)
    rows = [{f"c{i}": r.choice("abcdefgh") if i % 2 else r.randrange(9) for i in range(25)} for _ in range(300)]
    Path("t.csv").write_text(csv_of([row | {"y": r.gauss(0, 1) + row["c0"] + (row["c1"] == "a")} for row in rows]))
    vwlite("train", "t.csv", "--label", "y", "-b", bits, *LEARNERS[learner], "-m", "m", "--quiet")
    model, mask = read_model("m"), 2**bits - 1
    key = {f"c{i}": feature_hash(f"c{i}?".encode(), f"c{i}".encode()) & mask for i in range(25)}
    others = [feature_hash(f"c{i}={w}".encode(), f"c{i}".encode()) & mask for i in range(1, 25, 2) for w in "abcdefgh"]
    others += [feature_hash(f"c{i}".encode(), f"c{i}".encode()) & mask for i in range(0, 25, 2)]
    others += [CONSTANT_HASH & mask]
    alone = {name for name, k in key.items() if [*key.values(), *others].count(k) == 1}
    assert set(model.absent["columns"]) == alone
    assert learned(model).absent["columns"].keys() == alone
    vwlite("train", "-i", "m", "t.csv", "-m", "m2", "--quiet")
    assert read_model("m2").absent["columns"].keys() == alone


def test_sums_of_bits_of_hashes_are_found_among_keys():
    """`is_known` against a set, for keys that are spread evenly and for others."""
    r = random.Random(3)
    for bits, keys in ((32, {r.getrandbits(32) for _ in range(5000)}), (8, {r.getrandbits(8) for _ in range(40)}),
                       (32, {*range(100)}), (32, {2**32 - 1, 5}), (32, set()), (2, {0, 1, 2, 3}), (1, {0, 1}),
                       (32, {feature_hash(f"c=w{i}".encode(), b"c") for i in range(0, 2000, 3)} | {*range(999)})):
        words = [f"w{i}" for i in range(2000)]
        known = [w for w in words if feature_hash(f"c={w}".encode(), b"c") & (2**bits - 1) in keys]
        every = np.array(sorted({*keys, feature_hash(b"c?", b"c") & (2**bits - 1)}), np.uint32)
        parser, batch = TableParser(format="csv"), Batch()
        cells = Cells([("c", 1)], absents=True, known=KnownKeys(memoryview(every), bits, True))
        parser.set_table(cells, [0], 1, ",")
        parser.parse("".join(f"{w}\n" for w in words).encode(), batch)
        missing, unknown = parser.take_absents()[0]
        if bits == 32:
            assert (missing, unknown) == (0, len(words) - len(known))
        else:
            assert unknown <= len(words) - len(known)


@pytest.mark.parametrize("n", [100, MOST_ROWS + 1, 5 * MOST_ROWS])
def test_a_sample_does_not_depend_on_how_rows_are_cut(n):
    text = "".join(f"{i}\n" for i in range(n)).encode()

    def sampled(step: int) -> list[float]:
        sample, lines = RowSample(), text.split(b"\n")[:-1]
        parser = TableParser(format="csv", spaces=True)
        parser.set_table(Cells([("x", 0)], zeros=True), [0], 1, ",")
        for at in range(0, n, step):
            batch = Batch()
            parser.parse(b"\n".join([*lines[at : at + step], b""]), batch)
            sample.take(batch)
        return [x for part in sample.batches for x in part.value]

    whole = sampled(n)
    assert whole == sampled(1000) == sampled(777)
    assert len(whole) == n if n <= MOST_ROWS else MOST_ROWS / 2 < len(whole) <= MOST_ROWS
    assert len({int(x) // (n // 10) for x in whole}) >= 10


# --- models that go on ---------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_a_model_that_is_continued_learns_what_one_run_does(vwlite, folder, missing):
    """But for the weights of absent cells, whose means are of both files."""
    rows = rows_of(400, missing=missing)
    Path("a.csv").write_text(csv_of(rows[:250]))
    Path("b.csv").write_text(csv_of(rows[250:]))
    Path("t.csv").write_text(csv_of(rows))
    vwlite("train", "t.csv", "--label", "y", *GD, "-m", "whole", "--quiet")
    vwlite("train", "a.csv", "--label", "y", *GD, "-m", "a", "--quiet")
    vwlite("train", "-i", "a", "b.csv", "-m", "b", "--quiet")
    whole, parts = (learned(read_model(name)) for name in ("whole", "b"))
    assert whole.keys == parts.keys
    for name in whole.state:
        assert whole.state[name].tobytes() == parts.state[name].tobytes()
    one, two = (read_model(name).absent for name in ("whole", "b"))
    assert one["rows"] == two["rows"] == 400
    for column in ("x", "w", "v"):
        assert one["columns"][column]["missing"] == two["columns"][column]["missing"]
        assert one["columns"][column]["mean"] == pytest.approx(two["columns"][column]["mean"], abs=0.3)


def test_partial_fit_has_the_means_of_all_calls(folder):
    frame = pd.DataFrame(rows_of(400))
    for algorithm in ("gd", "auto"):
        m = SparseRegressor(algorithm=algorithm)
        for part in (frame[:150], frame[150:]):
            m.partial_fit(part.drop(columns="y"), part["y"])
        m.save("m")
        assert read_model("m").absent["rows"] == 400
        with pytest.warns(UserWarning, match="cells? (is|are) missing"):
            found = m.predict(pd.DataFrame({"x": [math.nan], "w": [None], "v": [None]}))
        assert found == pytest.approx([frame["y"].mean()], abs=0.5)


def test_merged_models_have_the_means_of_all_shards(vwlite, folder):
    rows = rows_of(600)
    rows[7]["w"] = None
    for i in range(3):
        Path(f"p{i}.csv").write_text(csv_of(rows[i::3]))
        vwlite("train", f"p{i}.csv", "--label", "y", *GD, "--loss", "squared", "-m", f"m{i}", "--quiet")
    vwlite("merge", "m0", "m1", "m2", "-m", "m", "--quiet")
    model = read_model("m")
    assert model.absent["rows"] == 600
    for column in ("x", "w", "v"):
        assert model.absent["columns"][column]["missing"] == sum(row[column] is None for row in rows)
    Path("new.csv").write_text("x,w,v\n,,\n")
    mean = np.mean([row["y"] for row in rows])
    assert float(vwlite("predict", "-m", "m", "new.csv").out) == pytest.approx(mean, abs=0.5)


def test_solved_models_have_them_too_and_are_certified_without(vwlite, folder):
    rows = rows_of(500, missing=0.05)
    Path("t.csv").write_text(csv_of(rows))
    vwlite("solve", "t.csv", "--label", "y", "--loss", "squared", "--l1", "0.001", "-m", "m", "--quiet")
    Path("new.csv").write_text("x,w,v\n5.5,,\n")
    found = float(vwlite("predict", "-m", "m", "new.csv").out)
    assert found == pytest.approx(np.mean([row["y"] for row in rows]), abs=0.7)
    said = dict(line.split(" = ") for line in vwlite("certify", "-m", "m", "t.csv").out.splitlines())
    assert float(said["objective"]) == pytest.approx(read_model("m").solved["objective"], rel=1e-5)


# --- what is said --------------------------------------------------------------------------------


def test_notes_count_what_training_never_had(vwlite, folder):
    rows = rows_of(300)
    Path("t.csv").write_text(csv_of(rows))
    vwlite("train", "t.csv", "--label", "y", "-m", "m", "--quiet")
    Path("new.csv").write_text("x,w,v\n,a,v1\n3,new,v1\n4,new,v1\n5,a,v2\n")
    said = vwlite("predict", "-m", "m", "new.csv", "-p", "p").err
    average = "such a cell counts as an average one"
    assert f"note: column x: 1 of 4 cells is missing, and none was missing in training: {average}" in said
    assert "note: column w: 2 of 4 cells have only words that training did not have: such a cell counts as" in said
    assert "column v" not in said
    assert "average one" not in vwlite("predict", "-m", "m", "t.csv", "-p", "p").err
    Path("some.csv").write_text(csv_of(rows_of(300, missing=0.1)))
    vwlite("train", "some.csv", "--label", "y", "-m", "m", "--quiet")
    assert "column x" not in vwlite("predict", "-m", "m", "new.csv", "-p", "p").err
    report = vwlite("predict", "-m", "m", "new.csv", "-p", "p", "--report", "r.json").err
    assert json.loads(Path("r.json").read_text()) and report
    with pytest.warns(UserWarning, match="column w: 1 of 2 cells has only words that training did not have"):
        load_model("m").predict([{"x": 1, "w": "new", "v": "v1"}, {"x": 1, "w": "a", "v": "v1"}])
