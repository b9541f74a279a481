"""Predictions and losses of any size have digits that count."""

import json
from pathlib import Path

import numpy as np
import pytest
from lines import write
from running import GD

SIZES = [1e-12, 1e-8, 1e-5, 1e-2, 1, 1e3, 1e6, 1e10]


def in_its_digits(found, expected):
    """At most a unit of the last place of 32-bit floats apart."""
    np.testing.assert_allclose(np.float64(found), expected, rtol=2.0**-23, atol=0)


@pytest.mark.parametrize("size", SIZES)
def test_every_form_has_the_digits_of_a_32_bit_float(vwlite, size):
    """A model of which the prediction is known: the labels are amounts with one value for each level."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    from vwlite import load_model

    values = {level: float(f"{x * size:.5g}") for level, x in {"a": 1.2345, "b": 2.3456, "c": 7.6543}.items()}
    rows = [(level, x) for level, x in values.items() for _ in range(50)]
    write("t.csv", "k,y\n" + "".join(f"{level},{x!r}\n" for level, x in rows))
    vwlite("train", "t.csv", "--label", "y", "--loss", "gamma", "-m", "m", "--quiet", "-p", "before")
    expected = load_model("m").predict([{"k": level} for level, _ in rows])
    assert expected == pytest.approx([x for _, x in rows], rel=0.2)
    text = vwlite("predict", "-m", "m", "t.csv", "--quiet", "-r", "raw").out.split()
    in_its_digits(text, expected)
    assert (np.float32(text) == expected.astype(np.float32)).all() and max(map(len, text)) <= 14
    assert np.exp(np.float64(Path("raw").read_text().split())) == pytest.approx(expected, rel=1e-5)
    table = vwlite("predict", "-m", "m", "t.csv", "--append", "--quiet").out.splitlines()
    in_its_digits([line.split(",")[2] for line in table[1:]], expected)
    csv = vwlite("predict", "-m", "m", "t.csv", "--output-format", "csv", "--quiet").out.splitlines()
    cells = [dict(zip(csv[0].split(","), line.split(","), strict=True)) for line in csv[1:]]
    in_its_digits([row["prediction"] for row in cells], expected)
    assert [float(row["label"]) for row in cells] == [x for _, x in rows], "labels are as in the data"
    lines = vwlite("predict", "-m", "m", "t.csv", "--output-format", "json", "--quiet").out.splitlines()
    in_its_digits([json.loads(line)["prediction"] for line in lines], expected)
    parquet.write_table(arrow.table({"k": [level for level, _ in rows]}), "t.parquet")
    vwlite("predict", "-m", "m", "t.parquet", "--append", "-p", "o.parquet", "--quiet")
    in_its_digits(parquet.read_table("o.parquet")["prediction"].to_numpy(), expected)
    assert np.float64(Path("before").read_text().split()) == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize("size", SIZES)
def test_losses_have_four_digits(vwlite, size):
    chance = np.random.default_rng(1)
    y = size * chance.normal(1, 0.3, 200)
    write("d", "".join(f"{label:.9g} |a x:{label / size:.6g} z\n" for label in y))
    vwlite("train", *GD, "d", "-m", "m", "--report", "r", "--quiet")
    done = vwlite("predict", "-m", "m", "d", "--report", "p", "-p", "out")
    exact = json.loads(Path("p").read_text())["results"]["average_loss"]
    shown = next(line for line in done.err.splitlines() if line.startswith("average loss")).split()
    assert float(shown[3]) == pytest.approx(exact, rel=5e-4)
    measures = json.loads(vwlite("evaluate", "-m", "m", "d", "--json").out)["measures"]
    table = vwlite("evaluate", "-m", "m", "d").out.splitlines()
    rmse = next(line for line in table if line.startswith("RMSE")).split()
    assert float(rmse[1]) == pytest.approx(measures["rmse"]["value"], rel=5e-4)
    assert float(rmse[2]) == pytest.approx(measures["rmse"]["baseline"], rel=5e-4)
