"""`vwlite import`: tables come back as the model that was exported, and wrong ones are refused with their line."""

import json
import os
from pathlib import Path

import pytest
from running import shell, with_gd

from vwlite import __version__
from vwlite.export import tables
from vwlite.model import read_model
from vwlite.model.file import FORMAT


@pytest.mark.parametrize("kind", ["tsv", "json"])
@pytest.mark.parametrize("more", ["", "--save-weights-only", "--algorithm ftrl --l1 0.1", "--oaa 2"])
def test_tables_come_back_as_the_weights_alone(vwlite, tiny, kind, more):
    """As --save-weights-only would have left them, but for weights that are zero."""
    if "oaa" in more:
        Path("data").write_text(Path("data").read_text().replace("-1 ", "2 "))
    command = ["train", "data", "--quiet", "--names", *with_gd(more.split())]
    vwlite(*command, "-m", "m")
    vwlite(*command, "-m", "alone", *([] if "only" in more else ["--save-weights-only"]))
    vwlite("export", "m", "--to", kind, "-o", "table")
    vwlite("import", "table", "-m", "again")
    alone, again = read_model("alone"), read_model("again")
    assert again.header() == alone.header() and list(again.names) == list(alone.names)
    k = alone.records
    rows = [(key, list(alone.weights[i * k : (i + 1) * k])) for i, key in enumerate(alone.keys)]
    expected = [row for row in rows if any(row[1])]
    assert expected == [(key, list(again.weights[i * k : (i + 1) * k])) for i, key in enumerate(again.keys)]
    vwlite("export", "again", "--to", kind, "-o", "second")
    assert Path("second").read_bytes() == Path("table").read_bytes()
    assert "cannot be continued" in vwlite("train", "data", "-i", "again", code=65).err


def test_a_table_may_be_edited(vwlite, tiny):
    lines = Path("tsv").read_text().splitlines(keepends=True)
    head, rows = lines[:3], lines[3:]
    kept = [row for row in reversed(rows) if "carl" not in row]
    edited = [*head, "# mine\n", "\n", *kept, "17\t0.25\tx^y\t\ta\\tb\r\n"]
    Path("tsv").write_text("".join(edited))
    vwlite("import", "tsv", "-m", "n")
    model = read_model("n")
    assert len(model.keys) == len(rows) and (17, b"a\tb") in list(model.names) and model.weights[0] == 0.25
    assert not any(b"carl" in name for _, name in model.names)


def test_a_model_of_vowpal_wabbit_comes_back_with_its_loss(vwlite, tiny):
    vwlite("export", "m", "--to", "vw", "-o", "v")
    vwlite("predict", "-m", "v", "data", "-p", "expected", "--quiet")
    for kind in ("tsv", "json"):
        vwlite("export", "v", "--to", kind, "-o", "t")
        assert "add --loss, such as --loss logistic" in vwlite("import", "t", "-m", "n", code=65).err
        vwlite("import", "t", "-m", "n", "--loss", "logistic")
        vwlite("predict", "-m", "n", "data", "-p", "found", "--quiet")
        assert Path("found").read_bytes() == Path("expected").read_bytes()
    assert "contradicts" in vwlite("import", "tsv", "-m", "n", "--loss", "hinge", code=65).err
    vwlite("import", "tsv", "-m", "n", "--loss", "logistic")


def header(**changes):
    def change(text):
        lines = text.split("\n")
        found = json.loads(lines[1][1:])
        for name, value in changes.items():
            (found["options"] if name in found["options"] else found)[name] = value
        lines[1] = "# " + json.dumps(found)
        return "\n".join(lines)

    return change


def plus(line):
    return lambda text: text + line


WRONG_TSV = {
    "empty": (lambda text: "", "1: neither JSON nor a table of weights"),
    "data": (lambda text: "1 |a x\n", "1: neither JSON nor a table of weights"),
    "no header": (lambda text: text.replace("# {", "# x{"), "its header cannot be read"),
    "no lines": (lambda text: "# vwlite weights 1\n", "2: expected the titles index, weight, name"),
    "other titles": (lambda text: text.replace("index\t", "key\t"), "3: expected the titles"),
    "no weight": (plus("17\n"), "10: expected index, weight"),
    "no number": (plus("17\tx\n"), "10: the weight x is not a finite number"),
    "no finite one": (plus("17\tnan\n"), "10: the weight nan is not a finite number"),
    "a large one": (plus("17\t1e999\n"), "10: the weight inf is not a finite number"),
    "no index": (plus("x\t1\n"), "10: the index x is not an integer from 0"),
    "a negative index": (plus("-1\t1\n"), "10: the index -1 is not an integer from 0"),
    "a large index": (plus("4294967296\t1\n"), "10: the index 4294967296 is not an integer from 0"),
    "an index twice": (plus("17\t1\n17\t2\n"), "11: duplicate index 17"),
    "an invalid escape": (plus("17\t1\ta\\q\n"), "10: 'a\\\\q' has a \\ without"),
    "fewer bits": (header(bits=4), "has more than 4 bits"),
    "an unknown option": (header(options={"magic": 1}), f"needs vwlite {__version__} or later: unknown option magic"),
    "a newer format": (header(format=FORMAT + 1), f"or later: it is of format {FORMAT + 1}"),
    "absurd bits": (header(bits=77), "--bits"),
    "a state": (header(weights_only=False), "a model with a state"),
    "classes": (header(oaa=3, range=None, link="identity"), "a class is missing"),
    "a control sequence": (plus("\x1b[31m\t1\n"), "10: the index \\x1b[31m is not an integer from 0"),
}


@pytest.mark.parametrize("name", WRONG_TSV)
def test_wrong_tables_are_refused_with_their_line(vwlite, tiny, name):
    change, said = WRONG_TSV[name]
    Path("tsv").write_text(change(Path("tsv").read_text()))
    err = vwlite("import", "tsv", "-m", "n", code=65).err
    assert said in err and err.startswith("tsv:") and err.count("\n") == 1 and err.strip().isprintable()
    assert not Path("n").exists()


WRONG_JSON = {
    "a list": (lambda found: [found], "not a table of weights"),
    "another format": (lambda found: found | {"format": "x"}, "its format is 'x'"),
    "no features": (lambda found: found | {"features": {}}, "no list of features"),
    "a number": (lambda found: found | {"features": [3]}, "feature 1: expected an object"),
    "another field": (lambda found: found | {"features": [{"index": 3, "weight": 1, "x": 2}]}, "unknown key x"),
    "no weight": (lambda found: found | {"features": [{"index": 3}]}, "feature 1: the weight None is not a finite"),
    "true": (lambda found: found | {"features": [{"index": True, "weight": 1}]}, "the index True is not an integer"),
    "a text": (lambda found: found | {"features": [{"index": 3, "weight": 1, "names": "x"}]}, "a list of strings"),
    "classes": (lambda found: found | {"features": [{"index": 3, "weights": {"x": 1}}]}, "'x' is not in the header"),
    "NaN": (lambda found: found | {"features": [{"index": 3, "weight": float("nan")}]}, "weight nan is not a finite"),
    "a lone surrogate": (
        lambda found: found | {"features": [{"index": 3, "weight": 1, "names": ["\ud800"]}]}, "feature 1: ",
    ),
}


@pytest.mark.parametrize("name", WRONG_JSON)
def test_wrong_json_is_refused(vwlite, tiny, name):
    change, said = WRONG_JSON[name]
    Path("json").write_text(json.dumps(change(json.loads(Path("json").read_text()))))
    err = vwlite("import", "json", "-m", "n", code=65).err
    assert said in err or name == "a list"
    assert err.startswith("json:") and err.count("\n") == 1


DEEP = b"[" * 100_000


@pytest.mark.parametrize("data", [b"{", b"{\xff", DEEP, b'{"format": ' + DEEP, b"\0\xff\n", b"\n\n"], ids=range(6))
def test_what_is_not_a_table_is_refused(vwlite, tiny, data):
    Path("t").write_bytes(data)
    assert vwlite("import", "t", "-m", "n", code=65).err.startswith("t:")


def test_a_table_takes_the_memory_of_its_bytes(vwlite, tiny, monkeypatch):
    vwlite("export", "m", "--to", "tsv", "-o", "t")
    done = shell("ulimit -v 2000000; OPENBLAS_NUM_THREADS=1 vwlite import t -m again; echo $?")
    assert (done.out, done.err) == ("0\n", "")
    monkeypatch.setattr(tables, "MAX_FILE", os.path.getsize("t") - 1)
    assert vwlite("import", "t", "-m", "none", code=65).err == (
        "t: larger than 0 GiB, which is too much for a table of weights\n"
    )
    assert not os.path.exists("none")
