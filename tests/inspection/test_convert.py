"""`vwlite convert`: tables as VW text."""

import csv
import json
from pathlib import Path

import pytest
from models import save
from tables import bent_rows, written

from vwlite.model import read_model


def test_without_a_header_the_first_row_counts(vwlite, at):
    Path("a.csv").write_text("\n  \n1,x,2\n-1,y,3\n")
    run = ["a.csv", "--no-header", "--label", "c1"]
    assert vwlite("convert", *run).out == "1 |c2 c2=x |c3 c3:2\n-1 |c2 c2=y |c3 c3:3\n"
    assert vwlite("convert", *run, "--drop", "c2", "--tag", "c3").out == "1 '2|\n-1 '3|\n".replace("|", " |")
    Path("a.csv").write_text('1,x "y"\n')
    said = "a.csv:1:1: the first line is not a valid row: a quote inside of a cell that does not begin with one: quote "
    assert vwlite("convert", *run, code=65).err.startswith(said)
    Path("a.csv").write_text("1,x\n1\n")
    assert "a.csv:2:1: a row of 1 cells, but there are 2 columns" in vwlite("convert", *run, code=65).err
    Path("a.csv").write_text("")
    assert vwlite("convert", *run).out == ""


def test_a_bad_row_is_skipped_up_to_the_end_of_its_line(vwlite, at):
    Path("a.csv").write_text('y,a\n1,x\n1,"x\n1,y\n1,q"q\n1,z\n')
    out = vwlite("convert", "a.csv", "--label", "y", "--on-error", "skip").out
    # The quote of row 3 is closed in row 5, behind which there is text.
    assert out == "1 |a a=x\n1 |a a=z\n"
    Path("a.csv").write_text('y,a\n1,x\n1,"x\n1,y\n1,z\n')
    assert vwlite("convert", "a.csv", "--label", "y", "--on-error", "skip").out == "1 |a a=x\n1 |a a=y\n1 |a a=z\n"


def test_the_index_of_pandas_can_be_dropped(vwlite, at):
    Path("a.csv").write_text(",y,a\n0,1,2\n")
    assert vwlite("convert", "a.csv", "--label", "y", "--drop", "").out == "1 |a a:2\n"


def test_blanks_before_a_quote_are_ignored(vwlite, at):
    Path("a.csv").write_text('"Index", "Height(Inches)", "Weight(Pounds)"\n1, 65.78, 112.99\n2, 71.52, "136.49" \n')
    found = vwlite("convert", "a.csv", "--label", "Weight(Pounds)", "--drop", "Index", "--quiet").out
    assert found == "112.99 |Height(Inches) Height(Inches):65.78\n136.49 |Height(Inches) Height(Inches):71.52\n"


def test_columns_without_a_name_and_without_a_cell_are_none(vwlite, at):
    """Spreadsheets write them, and the spam.csv of Kaggle has them."""
    Path("a.csv").write_text('y,t,,,\nham,Going home,,,\nspam,Win cash, ,,\nham,"Nah, no",,,\n')
    Path("b.csv").write_text('y,t\nham,Going home\nspam,Win cash\nham,"Nah, no"\n')
    typed = ["--label", "y", "--text", "t"]
    expected = vwlite("convert", "b.csv", *typed).out
    assert vwlite("convert", "a.csv", *typed).out == vwlite("convert", "a.csv", *typed, "--drop", "").out == expected
    for name in "ab":
        vwlite("train", f"{name}.csv", *typed, "--labels", "ham,spam", "-m", name, "--algorithm", "gd", "--quiet")
    predictions = {vwlite("predict", "-m", model, f"{name}.csv", "--quiet").out for model in "ab" for name in "ab"}
    assert len(predictions) == 1
    assert json.loads(vwlite("describe", "a.csv", *typed, "--json").out)["rows"] == 3
    Path("a.csv").write_text("y,t,,\n1,x,,a\n")
    assert "has no name" in vwlite("convert", "a.csv", *typed, code=65).err
    assert vwlite("convert", "a.csv", *typed, "--drop", "", "--quiet").out == "1 |t x\n"


@pytest.mark.parametrize(("labels", "said"), [
    ("0 1", "as in DATA, 0 and 1: "), ("no yes", "as in DATA, no and yes: "),
    ("a'b x|y", "as in DATA, a'b and x%7Cy: "),
    ("-1 1", ""), ("1 2 3", ""), ("1", ""), ("1 -1 ", ""), ("0.5 0.25 0.125", ""),
])
def test_labels_that_the_logistic_loss_of_vw_does_not_take_are_named(vwlite, at, labels, said):
    Path("a.csv").write_text("y,a\n" + "".join(f"{label},x\n" for label in labels.split(" ")))
    found = vwlite("convert", "a.csv", "--label", "y")
    assert [line.split(" |")[0] for line in found.out.splitlines() if line[0] != "|"] == [
        label.replace("|", "%7C") for label in labels.split()]
    note = f"note: labels are written {said}vwlite reads them, but Vowpal Wabbit's logistic loss needs -1 and 1"
    assert (note in found.err) == bool(said) and ("labels are written" in found.err) == bool(said)
    assert "labels are written" not in vwlite("convert", "a.csv", "--label", "y", "--quiet").err
    Path("a.vw").write_text("0 |a x\n1 |a y\n")
    assert "labels are written" not in vwlite("convert", "a.vw").err  # as they were


def test_a_bar_between_cells_is_guessed_in_words(vwlite, at):
    for name, given in (("a.csv", []), ("a", ["--format", "csv"])):
        Path(name).write_text("size|age|sold\n1.5|30|1\n2.5|40|0\n")
        said = vwlite("convert", name, *given, "--label", "sold", code=65).err
        assert "no such column; the only one is size|age|sold: if | is the delimiter, add --delimiter '|'" in said
    assert vwlite("convert", "a", *given, "--label", "sold", "--delimiter", "|").out.startswith("1 |size size:1.5 ")


def test_words_win_where_types_differ_from_line_to_line(vwlite, at):
    rows = ['{"y": 1, "zip": 123}', '{"y": 1, "zip": "x1"}', '{"y": true, "zip": ["a", "b"]}', '{"zip": null}']
    Path("a.jsonl").write_text("\n".join(rows))
    assert vwlite("convert", "a.jsonl", "--label", "y").out == (
        "1 |zip zip=123\n1 |zip zip=x1\n1 |zip zip=a zip=b\n|zip zip?\n"
    )
    out = vwlite("convert", "a.jsonl", "--label", "y", "--categorical", "zip").out
    assert out.startswith("1 |zip zip=123\n")


@pytest.fixture
def derived(vwlite, at):
    """d.csv, a model m of it with derived features, and plain, its weights without saying what is derived."""
    written(Path("d.csv"), ["x", "z", "w", "y"], [*bent_rows(), ["", "", "", "no"], ["", "0", "", "yes"]])
    vwlite("train", "d.csv", "--label", "y", "--derive", "auto", "-m", "m")
    model = read_model("m")
    del model.options["derived"]
    save("plain", model)


def test_the_features_that_a_model_derives_have_its_weights(vwlite, derived):
    """From every format the same text, whose features give the scores of the table."""
    text = vwlite("convert", "d.csv", "-m", "m").out
    Path("d.vw").write_text(text)
    vwlite("predict", "d.csv", "-m", "m", "-r", "expected")
    vwlite("predict", "d.vw", "-m", "plain", "-r", "found")
    found, expected = ([float(x) for x in Path(name).read_text().split()] for name in ("found", "expected"))
    assert found == pytest.approx(expected, abs=2e-6)
    with open("d.csv", newline="") as f:
        rows = [{k: float(v) if k in "xz" else v for k, v in row.items() if v} for row in csv.DictReader(f)]
    Path("d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("plain.vw").write_text(vwlite("convert", "d.csv", "--label", "y").out)
    for other in ("d.jsonl", "plain.vw"):
        assert vwlite("convert", other, "-m", "m").out == text
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.Table.from_pylist(rows), "d.parquet")
    assert vwlite("convert", "d.parquet", "-m", "m").out == text


def test_what_learns_the_text_has_the_features_of_the_model(vwlite, derived):
    Path("d.vw").write_text(vwlite("convert", "d.csv", "-m", "m").out)
    vwlite("solve", "d.csv", "-i", "m", "--l2", 0.01, "--tolerance", 1e-9, "--report", "a")
    vwlite("solve", "d.vw", "--labels", "no,yes", "--l2", 0.01, "--tolerance", 1e-9, "--report", "b")
    a, b = (json.loads(Path(name).read_text())["results"] for name in "ab")
    assert a["objective"] == pytest.approx(b["objective"], rel=1e-8)
    assert a["nonzero_weights"] == b["nonzero_weights"] > 200


def test_names_of_what_is_derived(vwlite, derived):
    lines = vwlite("convert", "d.csv", "-m", "m").out.splitlines()
    assert lines[-2].startswith("no |w w? |x x? |z z? |x x?^")  # all is missing
    assert lines[-1].startswith("yes |w w? |x x? |z z:") and " z~64@" in lines[-1]
    whole = next(line for line in lines if "w=b%20c" in line)
    assert "^w=b%20c" in whole and whole.count("|w w=b%20c") == 1
    # VW text of another form: what has several values, or another name, stays.
    Path("a.vw").write_text("yes 2 tag|x a x:1 |z:2 z:3 |w w=a\n\nyes 1 tag|z z:2\n")
    found = vwlite("convert", "a.vw", "-m", "m").out.splitlines()
    assert found[0].startswith("yes 2 tag|x a x:1 |w w=a |x x? |z z:") and found[1] == ""
    assert found[2].startswith("yes 1 tag|x x? |z z:")


def test_a_model_without_columns_converts_no_table(vwlite, derived):
    Path("a.vw").write_text("1 |a b\n-1 |a c\n")
    vwlite("train", "a.vw", "--loss", "logistic", "-m", "text")
    assert vwlite("convert", "a.vw", "-m", "text").out == "1 |a b\n-1 |a c\n"
    assert "the model text was trained on text without columns" in vwlite("convert", "d.csv", "-m", "text", code=65).err
    assert "contradicts" in vwlite("convert", "d.csv", "-m", "m", "--categorical", "z", code=2).err
