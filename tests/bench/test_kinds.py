"""Drawn kinds of tables, whose truth must be right, and the tables of results that are made of them."""

import importlib.util
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benches import cells_of, load

from vwlite.algorithms.settings import Settings
from vwlite.model.learners import make_loss

if importlib.util.find_spec("sklearn") is None:
    pytest.skip("scikit-learn is a peer", allow_module_level=True)

kinds = load("kinds")
SIZES = {100, 300, 1000, 5000, 20_000, 60_000}
each_kind = pytest.mark.parametrize("name", kinds.KINDS)


def smallest(name: str, seed: int = 900) -> Any:
    return kinds.drawn(name, min(kinds.KINDS[name].rows), seed)


def arrays_of(table: Any) -> list[np.ndarray]:
    weight = [] if table.weight is None else [table.weight]
    return [*table.columns.values(), table.labels.y, table.labels.mean, table.labels.spread, *weight]


# --- kinds ------------------------------------------------------------------------------------------


@each_kind
def test_a_kind_draws_the_same_rows_twice_and_others_of_another_seed(name: str) -> None:
    first, again, other = smallest(name), smallest(name), smallest(name, 901)
    for a, b, c in zip(first, again, other, strict=True):
        for x, y in zip(arrays_of(a), arrays_of(b), strict=True):
            np.testing.assert_array_equal(x, y)
        differ = [not np.array_equal(x, y) for x, y in zip(arrays_of(a), arrays_of(c), strict=True)]
        assert any(differ)


@each_kind
def test_a_kind_has_the_shape_that_it_says(name: str) -> None:
    kind = kinds.KINDS[name]
    assert kind.draw.__doc__ and set(kind.rows) <= SIZES and list(kind.rows) == sorted(set(kind.rows))
    parts = smallest(name)
    for table, rows in zip(parts, (min(kind.rows), kinds.FRESH), strict=True):
        assert table.columns and {len(values) for values in arrays_of(table)} == {rows}
        for values in table.columns.values():
            assert values.dtype.kind in "fi" or all(isinstance(value, str) for value in values)
            assert values.dtype.kind != "f" or not np.isinf(values).any()
    assert list(parts[0].columns) == list(parts[1].columns)


@each_kind
def test_the_truth_of_a_kind_is_possible(name: str) -> None:
    for labels in (table.labels for table in smallest(name)):
        y, mean = labels.y, labels.mean
        assert np.isfinite(mean).all() and np.isfinite(y).all() and np.isfinite(labels.spread).all()
        assert (labels.spread >= 0).all()
        if labels.kind in ("binary", "classes"):
            assert (mean >= 0).all() and (mean <= 1).all()
            assert labels.kind == "binary" or mean.sum(axis=1) == pytest.approx(np.ones(len(y)))
            assert set(y) == set(range(2 if labels.kind == "binary" else mean.shape[1]))  # none is missing
        elif labels.kind != "numbers":
            assert (mean > 0).all() and (y > 0 if labels.kind == "gamma" else y >= 0).all()


@each_kind
def test_the_bayes_loss_is_not_above_that_of_the_constant(name: str) -> None:
    auto_kinds = load("auto_kinds")
    learn, fresh = smallest(name)
    constant = auto_kinds.constant(learn, fresh)
    bayes, of_constant = (fresh.labels.expected(p) for p in (fresh.labels.mean, constant))
    assert (bayes <= of_constant + 1e-9).all()
    if kinds.KINDS[name].signal:
        assert bayes.mean() < 0.995 * of_constant.mean()
    else:
        assert np.ptp(fresh.labels.mean) == 0


@each_kind
def test_the_expected_loss_is_the_mean_of_those_of_drawn_labels(name: str) -> None:
    """Both of the true mean and of the constant, within five standard errors."""
    auto_kinds = load("auto_kinds")
    learn, fresh = smallest(name)
    for predicted in (fresh.labels.mean, auto_kinds.constant(learn, fresh)):
        differences = fresh.labels.losses(predicted) - fresh.labels.expected(predicted)
        assert abs(differences.mean()) <= 5 * differences.std() / math.sqrt(len(differences)) + 1e-12


@pytest.mark.parametrize("name, loss", [("binary", "logistic"), *((x, x) for x in ("poisson", "gamma", "tweedie"))])
def test_losses_are_those_of_the_program(name: str, loss: str) -> None:
    program, links = make_loss(Settings(loss=loss)), {"binary": lambda p: 1 / (1 + math.exp(-p))}
    for score in (-3.0, -0.25, 0.0, 2.5):
        mean = links.get(name, math.exp)(score)
        for y in (0.0, 1.0, 7.5):
            if (name == "binary" and y > 1) or (name == "gamma" and y == 0):
                continue
            here = kinds.LOSSES[name](np.array([mean]), np.array([y]))
            of_program = program(score, 2 * y - 1 if name == "binary" else y)
            assert here == pytest.approx([of_program], rel=1e-6, abs=1e-9)


def test_missing_cells_are_where_a_kind_says() -> None:
    def missing(name: str) -> list[float]:
        return [np.isnan(np.column_stack([*table.columns.values()])).mean() for table in kinds.drawn(name, 1000, 7)]

    assert missing("missing at random") == pytest.approx([0.3, 0.3], abs=0.03)
    assert missing("missing later") == pytest.approx([0.05, 0.4], abs=0.03)
    learn, fresh = kinds.drawn("half a column", 300, 7)
    assert np.flatnonzero(np.isnan(learn.columns["x0"])).tolist() == list(range(150))
    assert not np.isnan(fresh.columns["x0"]).any()


def test_rows_are_sorted_or_copies_where_a_kind_says() -> None:
    learn, fresh = kinds.drawn("sorted by label", 300, 7)
    assert (np.diff(learn.labels.y) >= 0).all() and (np.diff(fresh.labels.y) < 0).any()
    assert len(set(kinds.drawn("copies", 300, 7)[0].columns["x0"])) <= 100


# --- what is measured -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def auto_kinds() -> Any:
    return load("auto_kinds")


def record(loss: float, linear: float = 0.5, **other: Any) -> dict[str, Any]:
    known = {"labels": "binary", "seconds": 1.0, "z": 0.0, "Bayes": 0.4, "constant": 0.6, "data": 1}
    return {**known, "vwlite": loss, "linear": linear, **other}


def records(auto_kinds: Any, *found: tuple[str, int, int, dict[str, Any]]) -> Any:
    return {auto_kinds.Cell(*cell): of for *cell, of in found}


def some(auto_kinds: Any, loss: float = 0.45, **other: Any) -> Any:
    """Shares .5 (two draws) and .25 of xor, `loss` of cauchy; noise."""
    return records(
        auto_kinds, ("xor", 300, 900, record(0.45)), ("xor", 300, 901, record(0.55)), ("xor", 1000, 900, record(0.45)),
        ("cauchy", 100, 900, record(loss, labels="poisson", seconds=2.5, **other)),
        ("noise of a number", 300, 900, record(0.63)),
    )


def test_a_share_is_a_mean_over_cells_of_that_of_their_draws(auto_kinds: Any) -> None:
    found = some(auto_kinds, 0.5, LightGBM=0.42)
    rows = {cells[0].strip(): [x.strip() for x in cells[1:]] for cells in cells_of(auto_kinds.kinds_table(found))}
    assert rows["xor"] == ["300, 1,000", "0.375", "0.500", ""] and rows["**sharp pairs**"][1] == "0.375"
    assert rows["cauchy"] == ["100", "0.500", "0.500", "0.100"]
    assert "noise of a number" not in rows
    rows = {cells[0].strip(): [x.strip() for x in cells[1:3]] for cells in cells_of(auto_kinds.means_table(found))}
    assert rows["all"] == ["3", f"{(0.5 + 0.25 + 0.5) / 3:.3f}"] and rows["300 rows"] == ["1", "0.500"]
    diverged = records(auto_kinds, ("xor", 300, 900, record(400.0)), ("xor", 1000, 900, record(0.4)))
    assert auto_kinds.share(diverged, "vwlite") == pytest.approx(1)  # of 2 and 0
    assert rows["labels: binary"] == ["2", "0.375"] and rows["labels: poisson"] == ["1", "0.500"]


def test_noise_low_reports_and_time_are_noted(auto_kinds: Any) -> None:
    text = auto_kinds.notes(some(auto_kinds, z=-3.5))
    assert "is 1.0500 (noise of a number, 300 rows)" in text and "z below -3: 1 of 5 models (cauchy 1)" in text
    assert "Loss above 1.02 of that of the constant: 1 of 5 models (noise of a number 1)." in text
    assert text.endswith("Training took 6 s of processors, at most 2.5 of one (cauchy, 100 rows).")


def test_results_are_compared_with_earlier_ones(auto_kinds: Any) -> None:
    before, now = some(auto_kinds, 0.45), some(auto_kinds, 0.43)
    assert auto_kinds.compared(before, now).splitlines() == [
        "Mean share 0.3000, before 0.3333: ratio 0.900.", "worse by 0.02: none", "better by 0.02: cauchy -0.100",
    ]
    assert "worse by 0.02: cauchy +0.100" in auto_kinds.compared(now, before)
    assert "better by 0.02: none" in auto_kinds.compared(before, some(auto_kinds, 0.4461))  # by less
    only = records(auto_kinds, ("friedman", 300, 900, record(0.5)))
    assert "No cells" in auto_kinds.compared(before, only)


def test_cells_of_few_rows_are_drawn_more_often_and_results_read_back(auto_kinds: Any) -> None:
    cells = auto_kinds.cells_of(kinds.KINDS.values(), quick=False)
    assert len(set(cells)) == len(cells) and {cell.kind for cell in cells} == set(kinds.KINDS)
    for rows, seeds in ((100, 4), (300, 4), (1000, 2), (5000, 2), (20_000, 1), (60_000, 1)):
        assert {cell.seed for cell in cells if cell.rows == rows} == set(range(900, 900 + seeds))
    found = some(auto_kinds)
    assert auto_kinds.records_of(auto_kinds.results_of(found)) == found


def test_peers_learn_again_only_if_the_data_changed(auto_kinds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def peer(learn: Any, fresh: Any) -> np.ndarray:
        asked.append(len(fresh.labels.y))
        return fresh.labels.mean

    monkeypatch.setattr(auto_kinds, "PEERS", {"linear": (peer, "sklearn"), "LightGBM": (peer, "no_such_package")})
    cell = auto_kinds.Cell("xor", 300, 900)
    first = auto_kinds.measured(cell, {})
    assert asked == [kinds.FRESH] and first["linear"] == first["Bayes"] and "LightGBM" not in first
    kept = {**first, "linear": 7.0}
    assert auto_kinds.measured(cell, kept)["linear"] == 7 and len(asked) == 1
    assert auto_kinds.measured(cell, {**kept, "data": 0})["linear"] == first["Bayes"] and len(asked) == 2


def test_the_standard_error_is_that_over_samples_of_rows(auto_kinds: Any) -> None:
    rng, n = np.random.default_rng(1), 2000
    p, weight = rng.random(n), np.exp(rng.normal(size=n))
    labels, predicted = kinds.binary(rng, p), np.full(n, 0.7)
    losses = labels.losses(predicted)
    rows = rng.integers(0, n, (1000, 500))
    means = np.average(losses[rows], axis=1, weights=weight[rows])
    assert auto_kinds.standard_error(labels, predicted, weight, 500) == pytest.approx(means.std(), rel=0.1)


@pytest.mark.parametrize("name", ["missing at random", "few kinds", "ten classes", "weights", "gamma amounts"])
def test_the_file_has_the_cells_of_the_table(auto_kinds: Any, name: str, tmp_path: Path) -> None:
    table = smallest(name)[0]
    auto_kinds.write(tmp_path / "train.csv", table)
    header, *lines = [line.split(",") for line in (tmp_path / "train.csv").read_text().splitlines()]
    assert header == [*table.columns, "y", *(["w"] if name == "weights" else [])]
    for title, cells in zip(header, zip(*lines, strict=True), strict=True):
        values = {**table.columns, "y": table.labels.y, "w": table.weight}[title]
        if values.dtype == object:
            assert list(cells) == list(values)
        else:
            read = [float(cell.removeprefix("class") or "nan") for cell in cells]
            np.testing.assert_allclose(read, values.astype(float), rtol=1e-8)


def test_the_constant_is_the_weighted_mean_of_labels(auto_kinds: Any) -> None:
    learn, fresh = smallest("weights")
    mean = (learn.labels.y * learn.weight).sum() / learn.weight.sum()
    assert auto_kinds.constant(learn, fresh) == pytest.approx(np.full(kinds.FRESH, mean))
    learn, fresh = smallest("three classes")
    assert auto_kinds.constant(learn, fresh)[0] == pytest.approx(np.bincount(learn.labels.y) / len(learn.labels.y))


def test_the_reported_loss_is_that_of_rows_not_learned(auto_kinds: Any) -> None:
    report = {"out_of_fold_average_loss": 1.0, "out_of_fold_log_loss": 2.0, "average_loss": 3.0}
    assert auto_kinds.reported_loss(report, "binary") == 1 and auto_kinds.reported_loss(report, "classes") == 2
    assert auto_kinds.reported_loss({"average_loss": 3.0, "holdout_average_loss": 4.0}, "poisson") == 4
    assert auto_kinds.reported_loss({"average_loss": 3.0}, "numbers") == 3
    assert auto_kinds.reported_loss({"average_loss": 3.0, "squared_error": 5.0}, "numbers") == 5


def test_the_squared_error_of_amounts_is_that_of_the_chosen_loss(auto_kinds: Any) -> None:
    """Of the one that was better than the squared loss with the features of the model."""
    better = {"mse": 2.0, "difference": -1.0, "standard_error": 0.5}
    for of, expected in ((better, {"squared_error": 2.0}), (better | {"standard_error": 1.5}, {})):
        found = {"chosen": {"losses_with_features_of_model": {"poisson": of, "squared": {"mse": 3.0}}}}
        assert auto_kinds.squared_error(found) == expected
    assert auto_kinds.squared_error({}) == {}
