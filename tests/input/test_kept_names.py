"""Names that VW text cannot hold: of classes, tags and words of tables, which are kept; and models of 0.2.0, where they
have `_`."""

import csv
import io
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest
from models import save
from running import GD
from six_decimals import near
from slow_tables import ESCAPES, kept

from vwlite import load_model
from vwlite.errors import DataError
from vwlite.hashing import feature_hash
from vwlite.input.schema import Schema
from vwlite.model import read_model
from vwlite.model.absent import learned
from vwlite.model.file import Model
from vwlite.names import names_in, names_text

OLD = Path(__file__).parent / "names_0_2_0"  # written by vwlite 0.2.0
CLASSES = ["very good", "very_good", "bad|worse", "a,b", "'t", '"q" %20']
KINDS = ["a b", "a_b", "a:b", "c|d", "50%", "a%20b", "5% x", "line\nend", "plain"]
LABELLED = ["--label", "y", "--tag", "order"]
CLASSIFIED = [*LABELLED, "--oaa", "6", "--classes", "auto", "--loss", "logistic"]

pytestmark = pytest.mark.usefixtures("folder")


def rows(classes=CLASSES, times=4):
    each = len(classes) * len(KINDS)
    return [{"order": f"{'A' * (i % 3)} {i}", "kind": KINDS[i % len(KINDS)], "n": i % 7 + 0.5,
             "y": classes[i // len(KINDS) % len(classes)]} for i in range(times * each // 2)]


def write(found, form="csv"):
    """A table of these rows, as a file."""
    name = f"t.{form}"
    if form == "csv":
        with open(name, "w", newline="") as file:
            writer = csv.DictWriter(file, found[0])
            writer.writeheader()
            writer.writerows(found)
    elif form == "jsonl":
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in found))
    else:
        pa = pytest.importorskip("pyarrow")
        table = pa.table({key: [row[key] for row in found] for key in found[0]})
        __import__("pyarrow.parquet").parquet.write_table(table, name)
    return name


def cells(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def unescaped(text):
    return re.sub(f"%({ESCAPES})", lambda found: chr(int(found[1], 16)), text)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_classes_and_tags_are_those_of_the_file(vwlite, form):
    found = rows()
    data = write(found, form)
    vwlite("train", *GD, data, *CLASSIFIED, "-m", "m", "--cache-file", "c")
    assert sorted(read_model("m").classes) == sorted(CLASSES)
    vwlite("train", *GD, data, *CLASSIFIED, "-m", "again", "--cache-file", "c")
    assert Path("again").read_bytes() == Path("m").read_bytes()
    for output, read in (("csv", cells), ("json", lambda text: [*map(json.loads, text.splitlines())])):
        answers = read(vwlite("predict", "-m", "m", data, "--quiet", "--output-format", output).out)
        assert [a["tag"] for a in answers] == [row["order"].strip() for row in found]
        assert [a["label"] for a in answers] == [row["y"] for row in found]
        assert {a["class"] for a in answers} <= {*CLASSES}
    text = vwlite("predict", "-m", "m", data, "--quiet").out.splitlines()
    assert [[*map(unescaped, line.split(" "))] for line in text] == [[a["class"], a["tag"]] for a in answers]
    measured = json.loads(vwlite("evaluate", "-m", "m", data, "--json").out)
    assert sorted(measured["classes"]) == sorted(CLASSES)


def test_names_of_labels_and_classes_are_typed_as_in_csv(vwlite):
    data = write(rows(["very good", "a,b"]))
    vwlite("train", *GD, data, *LABELLED, "--labels", 'very good,"a,b"', "--loss", "logistic", "-m", "two")
    assert read_model("two").settings.labels == load_model("two").labels == ("very good", "a,b")
    for output in ("text", "csv", "json"):
        out = vwlite("predict", "-m", "two", data, "--threshold", 0.5, "--output-format", output, "--quiet").out
        if output == "text":
            assert {unescaped(line.split(" ")[0]) for line in out.splitlines()} <= {"very good", "a,b"}
        else:
            found = cells(out) if output == "csv" else [*map(json.loads, out.splitlines())]
            assert {row["label"] for row in found} == {"very good", "a,b"} >= {row["prediction"] for row in found}
    err = vwlite("train", *GD, data, "--label", "y", code=65).err
    assert """; add --labels '"a,b",very good', the negative one first""" in err
    data = write(rows())
    typed = names_text(CLASSES)
    assert names_in(typed) == CLASSES
    weights = names_text([f"{name}:2" for name in CLASSES])
    vwlite("train", *GD, data, *LABELLED, "--classes", typed, "--class-weight", weights, "-m", "m")
    assert load_model("m").classes == CLASSES and read_model("m").settings.oaa == len(CLASSES)
    vwlite("train", data, "-i", "m", "-m", "n", "--classes", typed)
    for how in ("tsv", "json"):
        vwlite("export", "m", "--to", how, "-o", "table")
        vwlite("import", "table", "-m", "back")
        assert load_model("back").classes == CLASSES
        assert vwlite("predict", "-m", "back", data).out == vwlite("predict", "-m", "m", data).out


def test_words_are_features_of_their_own(vwlite):
    data = write(rows())
    vwlite("train", *GD, data, *CLASSIFIED, "--names", "-m", "m")
    model = read_model("m")
    hashes = {feature_hash(b"kind=" + kind.encode(), b"kind"): b"kind^kind=" + kind.encode() for kind in KINDS}
    hashes[feature_hash(b"kind?", b"kind")] = b"kind^kind?"
    assert {key: name for key, name in model.names if name.startswith(b"kind^")} == hashes
    vwlite("train", *GD, data, *CLASSIFIED, "-m", "n")
    vwlite("names", "n", data)
    assert list(read_model("n").names) == list(model.names)
    shown = json.loads(vwlite("weights", "m", "--feature", "kind^kind=a b", "--json").out)
    assert {row["index"] for row in shown} == {feature_hash(b"kind=a b", b"kind")}
    names = {c["name"] for line in vwlite("explain", "-m", "m", data, "--json").out.splitlines()
             for of in json.loads(line)["classes"] for c in of["contributions"]}
    assert names >= {f"kind^kind={kind}" for kind in KINDS}


def test_keys_of_objects_are_features_of_their_own(vwlite):
    lines = [{"y": i % 2, "o": {"a b": 1, "a_b": 2, " c ": "x y", "d": "x_y"}} for i in range(9)]
    Path("t.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    vwlite("train", *GD, "t.jsonl", "--label", "y", "--names", "-m", "m")
    found = {name: key for key, name in read_model("m").names if name.startswith(b"o^")}
    assert found == {b"o^" + name: feature_hash(name, b"o") for name in (b"a b", b"a_b", b"c=x y", b"d=x_y", b"o?")}


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("options", [[], ["-q", "kind,n"], ["--hash", "all"]])
def test_vw_text_of_a_table_is_escaped_and_read_by_its_model(vwlite, form, options):
    found = rows()
    data = write(found, form)
    made = vwlite("convert", data, *LABELLED)
    Path("t.vw").write_text(made.out)
    heads = [line.partition(" |")[0].split(" ") for line in made.out.splitlines()]
    assert [unescaped(label) for label, _ in heads] == [row["y"] for row in found]
    assert [unescaped(tag[1:]) for _, tag in heads] == [row["order"].strip() for row in found]
    words = [re.search(r"kind=(\S+)", line)[1] for line in made.out.splitlines()]
    assert [*map(unescaped, words)] == [row["kind"] for row in found]
    assert "50%" in words and "a%2520b" in words and "5%%20x" in words
    changed = sum(kept(name, ":|", 2) != name for row in found for name in (row["kind"], row["order"].strip()))
    changed += sum(kept(row["y"], "|", 2) != row["y"] or row["y"] == "'t" for row in found)
    assert made.err.count(f"note: {changed:,} values have blanks, ':' or '|', which VW text cannot hold") == 1
    assert "note" not in vwlite("convert", data, *LABELLED, "--quiet").err
    vwlite("train", *GD, data, *CLASSIFIED, *options, "-m", "m", "--names")
    expected = vwlite("predict", "-m", "m", data, "--quiet", "-r", "raw").out
    scores = [line.rpartition(" ")[0] for line in Path("raw").read_text().splitlines()]
    text = vwlite("predict", "-m", "m", "t.vw", "--quiet", "-r", "raw").out
    assert [line.split()[0] for line in text.splitlines()] == [line.split()[0] for line in expected.splitlines()]
    assert [line.rpartition(" ")[0] for line in Path("raw").read_text().splitlines()] == scores
    measured = [json.loads(vwlite("evaluate", "-m", "m", name, "--json").out)["measures"] for name in (data, "t.vw")]
    assert measured[0] == measured[1]
    answers = list(load_model("m").predict_lines(made.out))
    assert answers == [unescaped(line.split()[0]) for line in expected.splitlines()]
    explained = [[json.loads(line)["classes"] for line in vwlite("explain", "-m", "m", name, "--json").out.splitlines()]
                 for name in (data, "t.vw")]
    assert explained[0] == explained[1]
    vwlite("train", "t.vw", "-i", "m", "-m", "of text")
    vwlite("train", data, "-i", "m", "-m", "of table")
    one, other = learned(read_model("of text")), learned(read_model("of table"))
    assert (one.keys, one.weights, list(one.names)) == (other.keys, other.weights, list(other.names))
    vwlite("export", "m", "--to", "python", "-o", "m.py")
    by_columns = form != "jsonl" and "-q" not in options  # then the program reads CSV
    read = Path(write(found, "csv")).read_bytes() if by_columns else made.out.encode()
    out = subprocess.run([sys.executable, "m.py"], input=read, capture_output=True, check=True).stdout
    assert out.decode() == (expected if by_columns else text)


def test_a_model_of_0_2_0_keeps_its_names(vwlite):
    for path in OLD.glob("names.*"):
        Path(path.name).write_bytes(path.read_bytes())
    expected = cells(Path("names.predictions").read_text())
    assert {row["class"] for row in expected} == {"very_good", "bad"}

    def same(found):
        for row, before in zip(found, expected, strict=True):
            assert near(json.dumps({**row, "tag": ""}), json.dumps({**before, "tag": ""}))

    options = ["-m", "names.model", "--output-format", "csv", "--quiet"]
    same(cells(vwlite("predict", *options, "names.csv").out))
    table = cells(Path("names.csv").read_text())
    assert [row["tag"] for row in cells(vwlite("predict", *options, "names.csv").out)] == [r["order"] for r in table]
    for row in table:
        row["n"] = float(row["n"])
    same(cells(vwlite("predict", *options, write(table, "jsonl")).out))
    same(cells(vwlite("predict", *options, write(table, "parquet")).out))
    Path("t.vw").write_text(vwlite("convert", "names.csv", "--label", "y").out.replace("%20", "_").replace("%3A", "_"))
    assert [row["class"] for row in expected] == load_model("names.model").predict(table).tolist()
    contributions = vwlite("explain", "-m", "names.model", "names.csv", "--json").out
    assert "kind^kind=a_b" in contributions and "kind^kind=a b" not in contributions
    vwlite("names", "names.model", "names.csv", "-o", "named")
    assert list(read_model("named").names) == list(read_model("names.model").names)
    vwlite("export", "names.model", "--to", "python", "-o", "m.py")
    assert "ESCAPED = False" in Path("m.py").read_text()


@pytest.mark.parametrize("how", ["-i", "--continue"])
def test_a_model_of_0_2_0_is_continued_with_its_names(vwlite, how):
    Path("m").write_bytes((OLD / "names.model").read_bytes())
    vwlite("train", how, "m", *(["-m", "m"] if how == "-i" else []), OLD / "names.csv", "--quiet")
    before, after = read_model(OLD / "names.model"), read_model("m")
    assert list(after.keys) == list(before.keys) and after.weights != before.weights
    assert (after.columns, after.classes, after.format) == (before.columns, before.classes, before.format)


def test_models_of_other_names_are_not_merged(vwlite):
    Path("old").write_bytes((OLD / "names.model").read_bytes())
    vwlite("train", *GD, OLD / "names.csv", *LABELLED, "--oaa", 3, "--classes", "auto", "--loss", "logistic", "-m", "m")
    rewritten("m", lambda model: setattr(model, "program", "vwlite 0.2.0"))
    assert "another way of reading words and labels" in vwlite("merge", "old", "m", "-o", "out", code=65).err


def test_shards_are_merged_whatever_their_words(vwlite):
    """One of them has words that VW text can hold, and the other has not."""
    Path("a.csv").write_text("c,y\n" + "a,x y\nb,z\n" * 9)
    Path("b.csv").write_text("c,y\n" + "a b,z\na_b,z\n" * 9)
    for name in "ab":
        vwlite("train", *GD, f"{name}.csv", "--label", "y", "--oaa", 3, "--classes", "auto", "-m", name)
    vwlite("merge", "a", "b", "-o", "m")
    assert read_model("m").columns["names"] == 3 and sorted(read_model("m").classes) == ["x y", "z"]


def test_a_model_says_which_names_it_has_where_it_matters(vwlite):
    Path("t.csv").write_text("a,b,y\n" + "1,2,0\n2,1,1\n" * 5)
    vwlite("train", *GD, "t.csv", "--label", "y", "-m", "numbers")
    model = read_model("numbers")
    assert model.format == 6 and "names" not in model.columns
    vwlite("train", *GD, "t.csv", "--label", "y", "--categorical", "a", "-m", "words")
    assert (read_model("words").format, read_model("words").columns["names"]) == (6, 3)
    Path("t.csv").write_text("a,y\n" + "1,very good\n2,bad\n" * 5)
    vwlite("train", *GD, "t.csv", "--label", "y", "--labels", "bad,very good", "-m", "labels")
    assert (read_model("labels").format, read_model("labels").columns["names"]) == (6, 3)
    vwlite("export", "labels", "--to", "tsv", "-o", "t.tsv")
    vwlite("import", "t.tsv", "-m", "back")
    assert read_model("back").columns == read_model("labels").columns


def rewritten(path: str, change) -> None:
    model: Model = read_model(path)
    change(model)
    save(path, model)


@pytest.mark.parametrize(("change", "said"), [
    (lambda m: m.columns.update(names=4), "its labels and features have names of the kind 4, which is unknown"),
    (lambda m: m.classes.__setitem__(0, "a\tb"), "is not a name of a class"),
    (lambda m: m.classes.__setitem__(0, " a"), "is not a name of a class"),
])
def test_invalid_names_are_refused(vwlite, change, said):
    vwlite("train", *GD, write(rows()), *CLASSIFIED, "-m", "m")
    rewritten("m", change)
    with pytest.raises(DataError, match=said):
        read_model("m")


def test_older_formats_have_no_such_classes(vwlite):
    Path("t.vw").write_text("a |x\nb |y\n")
    vwlite("train", *GD, "t.vw", "--classes", "a b,a,b", "-m", "m")
    assert read_model("m").format == 5
    vwlite("export", "m", "--to", "json", "-o", "t.json")
    found = json.loads(Path("t.json").read_text())
    found["header"]["format"] = 1
    Path("t.json").write_text(json.dumps(found))
    told = vwlite("import", "t.json", "-m", "n", code=65).err
    assert "which does not have what its options, columns or classes say" in told


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_class_has_no_control_characters(vwlite, form):
    found = rows(["good", "bad"])
    found[3]["y"] = "ba\td"
    data = write(found, form)
    run = ["train", *GD, data, "--label", "y", "--drop", "order,kind", "--oaa", "3", "--classes", "auto", "-m", "m"]
    said = vwlite(*run, code=65).err.splitlines()[-1]
    assert said.startswith(f"{data}:{4 if form != 'csv' else 5}:")
    assert said.endswith(" has a control character, which the name of a class cannot have: remove it")
    vwlite(*run, "--on-error", "skip")
    assert sorted(read_model("m").classes) == ["bad", "good"]
    assert vwlite("predict", "-m", "m", data, "--quiet").out.count("\n") == len(found)


def test_a_pickled_schema_of_0_2_0_keeps_its_names():
    schema = Schema({"a": "categorical"})
    state = {name: value for name, value in vars(schema).items() if name not in ("names", "words")}
    old = Schema.__new__(Schema)
    old.__setstate__(state)
    assert (old.names, old.words) == (1, 1)
    assert pickle.loads(pickle.dumps(schema)) == schema
