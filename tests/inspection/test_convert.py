"""`vwlite convert`: tables as VW text."""

import json
from pathlib import Path


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


def test_a_bar_between_cells_is_guessed_in_words(vwlite, at):
    for name, given in (("a.csv", []), ("a", ["--format", "csv"])):
        Path(name).write_text("size|age|sold\n1.5|30|1\n2.5|40|0\n")
        said = vwlite("convert", name, *given, "--label", "sold", code=65).err
        assert "no such column; the only one is size|age|sold: if | is the delimiter, add --delimiter '|'" in said
    assert vwlite("convert", "a", *given, "--label", "sold", "--delimiter", "|").out.startswith("1 |size size:1.5 ")


def test_types_may_differ_from_line_to_line(vwlite, at):
    rows = ['{"y": 1, "zip": 123}', '{"y": 1, "zip": "x1"}', '{"y": true, "zip": ["a", "b"]}', '{"zip": null}']
    Path("a.jsonl").write_text("\n".join(rows))
    assert vwlite("convert", "a.jsonl", "--label", "y").out == (
        "1 |zip zip:123\n1 |zip zip=x1\n1 |zip zip=a zip=b\n|\n"
    )
    out = vwlite("convert", "a.jsonl", "--label", "y", "--categorical", "zip").out
    assert out.startswith("1 |zip zip=123\n")
