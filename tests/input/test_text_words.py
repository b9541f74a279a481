"""Words of texts in all scripts, and models of 0.2.0, whose words were cut at marks."""

import json
from pathlib import Path

import pytest
from models import save
from six_decimals import near

from vwlite import load_model
from vwlite.errors import DataError
from vwlite.model import read_model
from vwlite.model.file import to_bytes

OLD = Path(__file__).parent / "texts_0_2_0"  # written by vwlite 0.2.0
HINDI = "text,y\n" + "फिल्म बहुत खराब है,0\nफिल्म बहुत अच्छी है,1\n" * 4
TRAIN = ["--label", "y", "--text", "text", "--algorithm", "gd", "--loss", "logistic", "--labels", "0,1", "--quiet"]


@pytest.fixture(name="old")
def old_model(tmp_path, monkeypatch):
    """A folder with the model of 0.2.0 and its data."""
    monkeypatch.chdir(tmp_path)
    for path in OLD.glob("texts.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def test_a_model_of_0_2_0_predicts_the_same_bytes(vwlite, old):
    expected = (old / "texts.predictions").read_text()
    assert near(vwlite("predict", "-m", "texts.model", "texts.csv").out, expected)
    rows = [{"text": line.rpartition(",")[0].strip('"')} for line in (old / "texts.csv").read_text().splitlines()[1:]]
    (old / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert near(vwlite("predict", "-m", "texts.model", "t.jsonl").out, expected)
    found = load_model("texts.model").predict(rows)
    assert near("".join(f"{p}\n" for p in found), expected)
    pd = pytest.importorskip("pandas")
    assert load_model("texts.model").predict(pd.DataFrame(rows)).tolist() == found.tolist()


@pytest.mark.parametrize("how", [["-i", "texts.model", "-m", "new"], ["--continue", "texts.model"]])
def test_a_model_of_0_2_0_is_continued_with_its_words(vwlite, old, how):
    """As by the program that wrote it: no new weight of a word with marks, and its format stays."""
    vwlite("train", *how, "texts.csv", *(() if "-i" in how else ("--passes", "1")), "--quiet")
    before, after = read_model(OLD / "texts.model"), read_model("new" if "-i" in how else "texts.model")
    assert list(after.keys) == list(before.keys) and after.weights != before.weights
    assert after.columns == before.columns and after.format == 1


def test_models_of_texts_have_a_format_that_0_2_0_refuses(vwlite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(HINDI)
    vwlite("train", "t.csv", *TRAIN, "-m", "m")
    model = read_model("m")
    assert (model.format, model.columns["words"]) == (6, 2)
    model.format = 4
    assert model.header()["format"] == 6
    vwlite("train", "t.csv", *TRAIN[:2], *TRAIN[4:], "-m", "words")
    model = read_model("words")
    assert "words" not in model.columns
    # The words are whole, and the accuracy shows it.
    assert vwlite("convert", "t.csv", "--label", "y", "--text", "text").out.splitlines()[1].split() == [
        "1", "|text", "फिल्म", "बहुत", "अच्छी", "है"
    ]


def test_a_way_of_words_that_is_unknown_is_refused(vwlite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(HINDI)
    vwlite("train", "t.csv", *TRAIN, "-m", "m")
    model = read_model("m")
    model.columns["words"] = 3
    save("m", model)
    with pytest.raises(DataError, match="its texts become words in the way 3, which is unknown"):
        read_model("m")


def test_models_of_other_words_are_not_merged(vwlite, old):
    vwlite("train", "texts.csv", *TRAIN, "--ngram", "2", "-m", "new")
    new = read_model("new")
    new.program = read_model("texts.model").program
    Path("new").write_bytes(to_bytes(new, "new"))
    said = vwlite("merge", "texts.model", "new", "-m", "out", code=65).err
    assert "another way of cutting texts into words" in said


def test_vw_text_is_never_normalized(vwlite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["cafe\u0301", "caf\u00e9"]
    (tmp_path / "t.vw").write_text("".join(f"{i} |a {name}\n" for i, name in enumerate(names, 1)))
    vwlite("train", "t.vw", "--algorithm", "gd", "-m", "m", "--quiet", "--names")
    assert {name for name, _ in load_model("m").weights()} == {*(f"a^{name}" for name in names), "Constant"}
    vwlite("vw", "-d", "t.vw", "-f", "vw", "--quiet", "--invert_hash", "names")
    assert all(f"a^{name}:" in (tmp_path / "names").read_text() for name in names)
