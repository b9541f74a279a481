"""Files that cannot be read, or are not what the place is for: the error says what to do."""

import os
import pty
import struct
import zipfile

import pytest
from running import GD, PATIENT, shell, standard_input, start

from vwlite.input import looks_like_vw


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, vwlite):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cancer.train.vw").write_text("1 |a x\n-1 |a y\n")
    vwlite("train", *GD, "cancer.train.vw", "-m", "m", "-c", "--quiet")
    (tmp_path / "t.csv").write_text("y,x\n1,2\n0,1\n")
    vwlite("train", *GD, "t.csv", "--label", "y", "-m", "of_table", "--quiet")
    vwlite("export", "m", "--to", "vw", "-o", "vw.model")
    with zipfile.ZipFile("table.xlsx", "w") as book:
        book.writestr("[Content_Types].xml", "<Types/>")
    (tmp_path / "days").mkdir()
    (tmp_path / "u16").write_text("1 |a x\n", encoding="utf-16")
    (tmp_path / "day1.vw").touch()
    return tmp_path


def model(name):
    return (
        f"it is a model, not data: `vwlite predict -m {name} DATA` predicts with it, `vwlite train -i {name} DATA` "
        "continues it\n"
    )


CACHE = "cancer.train.vw.vwlite-cache"
URL = "URLs are not supported: "
DASK = "or `vwlite dask`, which reads URLs\n"


@pytest.mark.parametrize("command", ["train", "solve --l1 1", "convert", "certify -m m", "predict -m m", "names m"])
@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        ("m", 65, model("m")),
        ("of_table", 65, model("of_table")),
        ("vw.model", 65, model("vw.model")),
        (CACHE, 65, f"it is a cache: name the data that it was made from, and --cache-file {CACHE}\n"),
        ("table.xlsx", 65, "it is a spreadsheet: save it as CSV\n"),
        ("u16", 65, "it is UTF-16: convert it, as with `iconv -f UTF-16 -t UTF-8 u16`\n"),
        ("day1.vw,m", 66, "No such file or directory: write spaces between files, day1.vw m\n"),
        ("s3://b/x.vw", 66, f"{URL}`aws s3 cp s3://b/x.vw - | vwlite ...`, {DASK}"),
        ("gs://b/x.vw", 66, f"{URL}`gcloud storage cat gs://b/x.vw | vwlite ...`, {DASK}"),
        ("https://b/x?a=1", 66, f"{URL}`curl -sSfL 'https://b/x?a=1' | vwlite ...`, {DASK}"),
        ("abfs://b/x", 66, f"{URL}have a program write it to standard output, `... | vwlite ...`, {DASK}"),
        ("file:///data/x", 66, f"{URL}name the file, /data/x\n"),
        ("days", 66, "Is a directory: days/* names the files in it\n"),
        ("cancer.trian.vw", 66, "No such file or directory (did you mean cancer.train.vw?)\n"),
        ("none", 66, "No such file or directory\n"),
        ("day2.vw", 66, "No such file or directory\n"),
        ("nosuch/cancer.train.vw", 66, "No such file or directory: there is no folder nosuch\n"),
        ("*.vw", 66, "No such file or directory: the shell expands a pattern without quotes\n"),
        ("*.gz", 66, "No such file or directory: no file matches\n"),
    ],
)
def test_what_is_not_data(vwlite, command, typed, code, said):
    """Before anything else is read or written."""
    if command == "names m" and typed == "m":
        pytest.skip("it is refused for another reason: it would be overwritten")
    new = ["-m", "new"] if command in ("train", "solve --l1 1") else []
    done = vwlite(*command.split(), "cancer.train.vw", typed, *new, code=code)
    assert (done.err, done.out) == (f"{typed}: {said}", "")
    assert not os.path.exists("new")


OFFICE = "mimetype", "application/vnd.oasis.opendocument.spreadsheet"


@pytest.mark.parametrize(
    ("first", "text"), [("docProps/app.xml", "<a/>"), ("xl/worksheets/sheet1.xml", "<a/>"), ("_rels/.rels", ""), OFFICE]
)
def test_a_spreadsheet_is_called_so_whatever_wrote_it(vwlite, first, text):
    with zipfile.ZipFile("t.xlsx", "w") as book:
        book.writestr(first, text)
        book.writestr("xl/workbook.xml", "<workbook/>")
    for command in ("train", "describe", "convert"):
        assert vwlite(command, "t.xlsx", code=65).err.endswith("t.xlsx: it is a spreadsheet: save it as CSV\n")
    assert "it is a spreadsheet" in vwlite("check", "t.xlsx", code=1).out
    for command in ("info", "predict -m"):
        assert "t.xlsx: not a model of vwlite: it is a spreadsheet;" in vwlite(*command.split(), "t.xlsx", code=65).err


def test_an_old_spreadsheet_is_called_so(vwlite, folder):
    (folder / "t.xls").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504))
    assert vwlite("train", "t.xls", code=65).err.endswith("t.xls: it is a spreadsheet: save it as CSV\n")


def test_what_cannot_be_read_is_said(vwlite):
    """It has no rows, and no schema of them."""
    with zipfile.ZipFile("d.zip", "w") as archive:
        archive.writestr("d.csv", "y,a\n1,2\n")
    said = vwlite("describe", "d.zip", code=65).err
    assert "d.zip:1:1: compressed with zip, which is not supported: decompress it first" in said
    assert "d.zip: not a model of vwlite: it is a zip file;" in vwlite("check", "d.zip", code=1).out


@pytest.mark.parametrize("version", [b"7.10.3", b"9.11.0", b"9.11.0-" + b"x" * 40])
def test_a_model_of_vowpal_wabbit_begins_with_the_length_of_its_version(version):
    head = struct.pack("<I", len(version) + 1) + version + b"\0"
    assert looks_like_vw(head) and not looks_like_vw(head[:8])
    for at in range(1, 6):  # but for the lowest byte of the length
        assert not looks_like_vw(head[:at] + b"x" + head[at + 1 :])


def test_a_model_on_standard_input(vwlite, folder):
    expected = f"<stdin>:1:1: {model('FILE')}"
    with standard_input(folder / "m"):
        assert vwlite("train", *GD, "--quiet", code=65).err == expected
    assert shell("cat m | vwlite train --algorithm gd --quiet").err == expected


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        ("cancer.train.vw", 65, "not a model of vwlite: it is text; `vwlite train -m FILE` writes one\n"),
        (CACHE, 65, "not a model of vwlite: it is a cache of parsed data; `vwlite train -m FILE` writes one\n"),
        ("s3://b/m", 66, f"{URL}copy it to a file first, aws s3 cp s3://b/m - > FILE\n"),
        ("vw.modle", 66, "No such file or directory (did you mean vw.model?)\n"),
        ("days", 66, "Is a directory\n"),
    ],
)
@pytest.mark.parametrize("command", ["predict cancer.train.vw -m", "info", "train cancer.train.vw -i"])
def test_what_is_not_a_model(vwlite, command, typed, code, said):
    assert vwlite(*command.split(), typed, code=code).err == f"{typed}: {said}"


def test_a_url_is_not_a_place_for_a_model(vwlite):
    assert vwlite("train", *GD, "cancer.train.vw", "-m", "s3://b/m", "--quiet", code=73).err == (
        "s3://b/m: cannot be created: it is a URL; write a file, and copy it there\n"
    )


@pytest.mark.parametrize("command", ["train --algorithm gd", "predict -m m", "train - --algorithm gd"])
def test_a_terminal_is_announced(command):
    """Standard input is a terminal: the run says that it waits for lines, and how to end them."""
    master, slave = pty.openpty()
    for quiet in (False, True):
        process = start(*command.split(), *["--quiet"] * quiet, stdin=slave)
        os.write(master, b"1 |a x\n\x04")
        out, err = process.communicate(timeout=PATIENT)
        assert process.returncode == 0
        announced = b"note: reading lines from the terminal; Ctrl-D ends them\n"
        assert err.startswith(announced) != quiet and err.count(announced) == (not quiet)
        assert bool(out) == command.startswith("predict")
        assert quiet or b"number of examples = 1\n" in err
    os.close(master)
    os.close(slave)


def test_input_that_is_not_a_terminal_is_not_announced(vwlite, folder):
    with standard_input(folder / "cancer.train.vw"):
        assert "terminal" not in vwlite("train", *GD).err
    train = "vwlite train --algorithm gd"
    assert "terminal" not in shell(f"{train} < /dev/null; echo '1 |a x' | {train}").err


def test_a_column_that_is_invalid(vwlite, folder):
    (folder / "t.csv").write_text("label,a,b\n1,2,3\n")
    assert vwlite("train", *GD, "t.csv", "--label", "lable", "--quiet", code=65).err == (
        "t.csv:1:1: --label lable: no such column (did you mean label?); the columns are label, a, b\n"
    )
    assert vwlite("train", *GD, "cancer.train.vw", "--label", "y", "--quiet", code=65).err == (
        "cancer.train.vw:1:1: --label y: the file is VW text, which has no columns: leave the option out\n"
    )


def test_a_feature_without_its_namespace(vwlite):
    said = vwlite("weights", "m", "--feature", "x").err
    assert said.endswith("; with a namespace it is NAMESPACE^NAME\n")
    assert "NAMESPACE" not in vwlite("weights", "m", "--feature", "a^z").err


def test_an_export_to_standard_output(vwlite, folder):
    """As everywhere, - is not a file."""
    vwlite("export", "m", "--to", "tsv", "-o", "t")
    assert vwlite("export", "m", "--to", "tsv", "-o", "-").out == (folder / "t").read_text()
    assert not (folder / "-").exists()


def test_models_of_different_labels(vwlite):
    vwlite("train", *GD, "cancer.train.vw", "-m", "m2", "--labels", "-1,1", "--quiet")
    assert "m2: trained with --labels -1,1, but m with none: only" in vwlite("merge", "m", "m2", "-o", "x", code=65).err
