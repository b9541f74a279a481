"""What the page of `report` shows of columns: importances, one scale, and what effects do to the average row."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from effects import frame_of

from vwlite import load_model
from vwlite.estimators.readable import contributions
from vwlite.evaluation.kinds import Binary, Classes, Regression
from vwlite.evaluation.page.units import factor, of_100, unit_of
from vwlite.model.effects import Effects

CHART = re.compile(r'<figure class="chart">.*?</figure>', re.DOTALL)
ROW = re.compile(r'<tr( class="weak")?><th scope="row">(.*?)</th>.*?<td>(.*?)</td><td>(.*?)</td>', re.DOTALL)
PICTURE = re.compile(r'<figure class="small ?(weak|double)?"><figcaption>(.*?) <span class="soft">(.*?)</span>')


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    frame = frame_of(900).drop(columns=["at", "rare"])
    frame["noise"] = rng.normal(size=900)
    high = frame["z"] * 3 + (frame["w"] == "a") * frame["x"].fillna(0) / 2 + rng.logistic(size=900) / 2 > 1
    return frame.assign(y=np.where(high, "yes", "no"))


@pytest.fixture
def page(vwlite, frame, tmp_path):
    """The text of a page, and its JSON, of a model with these options."""
    def made(*options):
        frame.to_csv(tmp_path / "d.csv", index=False)
        vwlite("train", tmp_path / "d.csv", "--label", "y", "-m", tmp_path / "m", "--quiet", *options)
        command = ("report", "-m", tmp_path / "m", tmp_path / "d.csv")
        (model,) = json.loads(vwlite(*command, "--json").out)["models"]
        return vwlite(*command).out.replace("<wbr>", ""), model, load_model(tmp_path / "m")
    return made


def test_the_chart_is_first_and_has_the_numbers_of_importances(page):
    text, model, loaded = page()
    found = loaded.importances()
    assert [(c["name"], c["importance"]) for c in model["columns"]] == [*found.items()]
    (chart,) = CHART.findall(text)
    rows = ROW.findall(chart)
    assert [name for _, name, _, _ in rows] == [name for name, x in found.items() if x > 0]
    assert [float(said) for _, _, said, _ in rows] == pytest.approx([x for x in found.values() if x > 0], rel=1e-2)
    most = max(found.values())
    assert [bool(weak) for weak, *_ in rows] == [x < most / 10 for x in found.values() if x > 0]
    assert text.index(chart) < text.index('<div class="pictures">')
    base = float(loaded.effects().base[0])
    for (_, _, _, shares), x in zip(rows, found.values(), strict=False):
        usual, with_it = (100 / (1 + np.exp(-score)) for score in (base, base + x))
        assert shares == f"{of_100(usual / 100)} \N{RIGHTWARDS ARROW} {of_100(with_it / 100)}"


def test_pictures_have_the_order_of_columns_then_products_and_small_ones_are_grey(page):
    text, model, loaded = page()
    effects, place = loaded.effects(), [*loaded.importances()]
    found = [(name.replace(" \N{MULTIPLICATION SIGN} ", "*"), kind) for kind, name, _ in PICTURE.findall(text)]
    alone = [name for name, _ in found if "*" not in name]
    assert alone == sorted(alone, key=place.index)
    assert [name for name, _ in found][: len(alone)] == alone
    most = max(effect.size[0] for effect in effects)
    for name, kind in found:
        assert (kind == "weak") == (effects[name].size[0] < most / 10), name
        assert "*" not in name or kind != "weak"
    assert any(kind == "weak" for _, kind in found) and any("*" in name for name, _ in found)
    assert [e["size"] for e in model["effects"]] == [e.size[0] for e in effects if e.size[0] > 0]


def test_all_curves_have_one_scale(page):
    text, _, _ = page()
    curves = [svg for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL) if "adds to log-odds" in svg]
    assert len(curves) > 1
    scales = {tuple(re.findall(r'text-anchor="end">(-?[\d.]+)<', svg)) for svg in curves}
    beside = {tuple(re.findall(r'text-anchor="start">([\d.]+)<', svg)) for svg in curves}
    assert len(scales) == len(beside) == 1 and len(next(iter(beside))) > 1


def test_a_model_without_a_record_has_importances_over_the_rows_of_the_page(page, frame):
    text, model, loaded = page("--algorithm", "gd", "--passes", "3", "--cache", "--labels", "no,yes")
    names, found = contributions(loaded, frame.drop(columns="y"))
    expected = dict(zip(names, np.abs(found - found.mean(axis=0)).mean(axis=0).tolist(), strict=True))
    columns = {c["name"]: c["importance"] for c in model["columns"]}
    assert columns == pytest.approx(expected, rel=1e-6)
    assert [*columns.values()] == sorted(columns.values(), reverse=True)
    assert "over these rows" in text


def effects(base: float, rows: int = 1) -> Effects:
    return Effects(np.array([base]), (), rows=rows)


def test_effects_are_said_in_shares_or_factors():
    binary, two = Binary(probable=True, loss="logistic"), Binary(probable=False, loss="hinge")
    unit = unit_of(binary, "bought", "bought = 1", effects(np.log(0.2 / 0.8)))
    assert unit.said(0.0) == "20" and unit.said(np.log(4)) == "50" and unit.change(np.log(4)) == "20 → 50"
    assert "bought = 1" in unit.meaning and "20 of 100" in unit.meaning
    assert unit_of(binary, "y", "y = 1", effects(0.0, rows=0)).beside is None  # no average row is known
    assert unit_of(two, "y", "positive", effects(0.0)) == ("the score", "", "", None, "")
    log_link = unit_of(Regression(loss="poisson", power=1.0), "price", "", effects(0.0))
    assert log_link.name == "log of price" and log_link.change(np.log(2)) == "\N{MULTIPLICATION SIGN}2.00"
    assert "1 + price" in unit_of(Regression(loss="squared", offset=0.0), "price", "", None).name
    assert unit_of(Regression(loss="squared"), "price", "", None) == ("price", "", "", None, "")
    assert "largest score" in unit_of(Classes(limit=3, probable=True), "y", "", None).meaning


@pytest.mark.parametrize(("p", "said"), [
    (0.12345, "12"), (0.0949, "9.5"), (0.095, "10"), (0.001, "0.10"), (0.904, "90"), (0.906, "90.6"), (0.9999, "99.99"),
    (0.0, "0.00"), (1.0, "100.00"),
])
def test_how_many_of_100(p, said):
    assert of_100(p) == said


@pytest.mark.parametrize(("x", "said"), [
    (0.0, "1.00"), (-2.0, "0.14"), (-3.0, "0.05"), (5.0, "148"), (10.0, "22,026"), (1e9, "1e+304"), (-10.0, "4.5e-05"),
])
def test_factors(x, said):
    assert factor(x) == "\N{MULTIPLICATION SIGN}" + said
