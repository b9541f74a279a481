"""`vwlite train --names` and `vwlite names`: the same names, and nothing else changes."""

import io
import json
import re
import zipfile
from pathlib import Path

import crafted_models
import numpy as np
import pytest
from crafted_models import put_together, split_into_parts
from running import GD, leftovers, shell, standard_input, with_gd
from slow_tables import ESCAPES
from test_feature_names import slow_names

from vwlite.input import reader
from vwlite.model import Model, read_model
from vwlite.model.absent import learned
from vwlite.model.feature_names import NONE, FeatureNames

TEXT = "1 |user anna:2 berta |page home\n-1 |user carl |page shop:0.5\n1 |user anna |page shop home\n" * 3
WAYS = {
    "gd": "",
    "few bits": "-b 4",
    "crossed": "-q up",
    "ftrl": "--algorithm ftrl --l1 0.1",
    "passes": "--passes 3 --holdout-off",
    "classes": "--classes red,green --oaa 2",
    "weights only": "--save-weights-only",
    "nonzeros": "--algorithm l1-ball --nonzeros 3",
}


@pytest.fixture(autouse=True)
def at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").write_text(TEXT)
    return tmp_path


def text_of(options):
    return re.sub("(?m)^-?1", lambda m: {"1": "red", "-1": "green"}[m[0]], TEXT) if "classes" in options else TEXT


def without_names(data):
    """The header and the arrays that a model would have if it had no names."""
    parts = split_into_parts(data)
    for name in ("names", "names_ends", "names_keys"):
        parts.arrays.pop(name, None)
    return {**parts.header, "format": 1}, parts.arrays


@pytest.mark.parametrize("way", WAYS)
def test_names_are_kept_of_nonzero_weights_and_nothing_else_changes(vwlite, at, way):
    (at / "data").write_text(text_of(way))
    command = ["train", "data", "--quiet", *with_gd(WAYS[way].split())]
    vwlite(*command, "-m", "without")
    vwlite(*command, "--names", "-m", "with")
    plain, named = read_model("without"), read_model("with")
    assert without_names(Path("with").read_bytes()) == without_names(Path("without").read_bytes())
    assert (plain.format, named.format) == (1, 2)
    k = named.records
    nonzero = {key for i, key in enumerate(named.keys) if any(named.weights[i * k : (i + 1) * k])}
    expected = [(k, name) for k, name in slow_names(TEXT.encode(), named.settings) if k in nonzero]
    assert list(named.names) == expected and expected
    vwlite("names", "without", "data", "--quiet")
    assert Path("without").read_bytes() == Path("with").read_bytes()


@pytest.mark.parametrize("options", ["--threads 1", "--threads 2", "--threads 4"])
@pytest.mark.parametrize("most", ["", "=1", "=7"])
def test_any_threads_and_blocks_keep_the_same_names(vwlite, at, monkeypatch, options, most):
    text = "".join(f"{2 * (i % 2) - 1} |a w{i % 37} v{i}:0.5 |b x{i % 11}\n" for i in range(300))
    (at / "data").write_text(text)
    command = ["train", *GD, "--names" + most, "-q", "ab", "--loss", "logistic", "--quiet"]
    vwlite(*command, "data", "-m", "first")
    for size in (64, 1000, 4096):
        monkeypatch.setattr(reader, "BLOCK_SIZE", size)
        vwlite(*command, "data", *options.split(), "-m", "m")
        assert Path("m").read_bytes() == Path("first").read_bytes()
    with standard_input(at / "data"):
        vwlite(*command, *options.split(), "-m", "m")
    assert Path("m").read_bytes() == Path("first").read_bytes()
    names = [name for _, name in read_model("m").names]
    if most:
        n = int(most[1:])
        assert sum(b"*" not in name for name in names) == n and sum(b"*" in name for name in names) <= n
    else:
        assert len(names) == 37 + 300 + 11 + 300 + 300


def test_that_there_is_no_space_for_more_is_said(vwlite):
    err = vwlite("train", *GD, "data", "--names=2", "-q", "up", "-m", "m").err
    assert "note: only the first 2 names of features and of crosses are kept: --names=N" in err
    assert "room" not in vwlite("train", *GD, "data", "--names=200", "-q", "up", "-m", "m").err
    vwlite("train", *GD, "data", "--names=2", "-m", "m", "--report", "r")
    report = json.loads(Path("r").read_text())
    assert report["options"]["names"] == 2 and report["results"]["names_of_features_found"] == 2


@pytest.mark.parametrize("n", ["0", "-1", "", "x", "1.5"])
def test_there_is_no_number_below_one(vwlite, n):
    assert "--names" in vwlite("train", *GD, "data", f"--names={n}", "-m", "m", code=2).err
    assert not Path("m").exists()


def test_names_alone_take_no_value(vwlite):
    """What follows is a file of data."""
    vwlite("train", *GD, "--names", "data", "-m", "m", "--quiet")
    assert len(read_model("m").names)
    assert "--names needs --model" in vwlite("train", *GD, "--names", "data", code=2).err


def test_continued_runs_keep_and_extend_names(vwlite, at):
    (at / "more").write_text("1 |user dora |page home\n")
    vwlite("train", *GD, "data", "--names", "-m", "a", "--quiet")
    vwlite("train", "more", "-i", "a", "-m", "b", "--quiet")
    before, after = ({name for _, name in read_model(path).names} for path in "ab")
    assert after == before | {b"user^dora"}
    vwlite("train", *GD, "data", "-m", "c", "--quiet")
    vwlite("train", "more", "-i", "c", "-m", "d", "--quiet", "--names")
    assert {name for _, name in read_model("d").names} == {b"user^dora", b"page^home"}
    assert list(read_model("c").names) == []


def test_two_names_of_one_index_are_both_kept(vwlite, at):
    vwlite("train", *GD, "data", "-b", "1", "--names", "-m", "m", "--quiet")
    names = read_model("m").names
    assert len(names) == 5 and set(names.keys) <= {0, 1}
    lines = [line.split("\t") for line in vwlite("weights", "m").out.splitlines()]
    assert {name for line in lines for name in line[2:]} - {"Constant"} == {
        "user^anna", "user^berta", "user^carl", "page^home", "page^shop",
    }


def test_info_says_how_much_has_a_name(vwlite, at):
    vwlite("train", *GD, "data", "--names=3", "-m", "m", "--quiet")
    facts = json.loads(vwlite("info", "m", "--json").out)
    model = read_model("m")
    weights = dict(zip(model.keys, model.weights, strict=True))
    named = sum(abs(weights[key]) for key in model.names.keys)
    assert (facts["names"], facts["named_features"], facts["format"]) == (3, 3, 2)
    assert facts["named_share_of_l1_norm"] == pytest.approx(named / facts["l1_norm"], abs=1e-6)
    assert "named share of l1 norm     0." in vwlite("info", "m").out
    vwlite("train", *GD, "data", "-m", "m", "--quiet")
    assert "named" not in vwlite("info", "m").out


def test_unusual_names_are_kept_and_shown(vwlite, at):
    (at / "odd").write_bytes(b"1 |a n\x00l \x1b[31m \xff\xfe 1\x0b2 \\t :1\n-1 |\xe2\x80\xae x\r\n")
    vwlite("train", *GD, "odd", "--names", "-m", "m", "--quiet")
    names = [name for _, name in read_model("m").names]
    assert set(names) == {b"a^n\x00l", b"a^\x1b[31m", b"a^\xff\xfe", b"a^1\x0b2", b"a^\\t", b"a^0", b"\xe2\x80\xae^x"}
    shown = {line.split("\t")[2] for line in vwlite("weights", "m").out.splitlines()}
    assert shown == {
        "a^n\\x00l", "a^\\x1b[31m", "a^\\xff\\xfe", "a^1\\x0b2", "a^\\\\t", "a^0", "\\xe2\\x80\\xae^x", "Constant",
    }
    for kind in ("tsv", "json"):
        vwlite("export", "m", "--to", kind, "-o", "table")
        vwlite("import", "table", "-m", "again")
        assert list(read_model("again").names) == list(read_model("m").names)
    for kind in ("sql", "c", "python"):
        vwlite("export", "m", "--to", kind, "-o", "out")


def test_a_cache_has_no_names_and_is_built_again(vwlite):
    vwlite("train", *GD, "data", "-c", "-m", "m", "--quiet")
    err = vwlite("train", *GD, "data", "-c", "--names", "-m", "n").err
    assert "is not used: names of features are only in the text; it is rebuilt" in err
    assert len(read_model("n").names)
    before = Path("data.vwlite-cache").read_bytes()
    vwlite("train", *GD, "data", "-c", "-m", "m", "--quiet")
    assert Path("data.vwlite-cache").read_bytes() == before


def test_bad_lines_have_no_names(vwlite, at):
    (at / "bad").write_text("1 |a good\n1 |a bad x:y\nx\n1 |a fine\n")
    assert "bad:2:" in vwlite("train", *GD, "bad", "--names", "-m", "m", code=65).err
    vwlite("train", *GD, "bad", "--names", "-m", "m", "--on-error", "skip", "--quiet")
    assert {name for _, name in read_model("m").names} == {b"a^good", b"a^fine"}
    assert "bad:2:" in vwlite("names", "m", "bad", code=65).err
    done = vwlite("names", "m", "bad", "--on-error", "skip", "--rejects", "r").err
    assert "2 bad lines skipped" in done and Path("r").read_text().count("\n") == 2


SOLVED = {
    "l1": "--l1 0.01",
    "crossed": "--l1 0.01 -q up",
    "ball": "--radius 1 -b 4",
    "classes": "--l1 0.01 --classes red,green --oaa 2",
    "softmax": "--radius 1 --classes red,green --oaa 2 --softmax",
}


@pytest.mark.parametrize("way", SOLVED)
def test_solved_models_have_names_as_if_they_were_found_later(vwlite, at, way):
    (at / "data").write_text(text_of(SOLVED[way]))
    command = ["solve", "data", "--quiet", *SOLVED[way].split()]
    vwlite(*command, "-m", "without")
    vwlite(*command, "--names", "--cache", "-m", "with")
    assert without_names(Path("with").read_bytes()) == without_names(Path("without").read_bytes())
    assert len(read_model("with").names)
    vwlite("names", "without", "data", "--quiet")
    assert Path("without").read_bytes() == Path("with").read_bytes()


def test_solved_models_of_a_path_and_started_from_one_have_names(vwlite, at):
    vwlite("solve", "data", "--l1-path", 3, "--names=3", "-m", "m%d")
    first, last = (read_model(f"m{k}") for k in (1, 3))
    assert len(first.names) == 0 < len(last.names) == len(last.keys) - 1  # without the constant
    (at / "more").write_text("1 |user dora |page home\n-1 |page home\n")
    err = vwlite("solve", "more", "-i", "m3", "--l1", 0.001, "-m", "m").err
    names = {name for _, name in read_model("m").names}
    assert b"user^dora" in names and len(read_model("m").keys) == len(names) + 1 and "room" not in err
    assert "note: only the first 1 names" in vwlite("solve", "data", "--l1", 0.01, "--names=1", "-m", "m").err
    assert "--names needs --model" in vwlite("solve", "data", "--l1", 1, "--names", code=2).err


# --- tables ----

TABLES = {
    "t.csv": """user,ad,price,tags,y
anna,shoes,1.5,,1

carl,"big, red\ncoat",2,a b,-1
bad,row
dora,,0,,-1
anna,a|b:c,0.5,\u00e9t\u00e9,1
""",
    "t.tsv": "user\tad\ty\nanna\tshoes\t1\ncarl\tbig red\t-1\nx\n\ncarl\t\t1\n",
    "t.jsonl": """{"user": "anna", "price": 1.5, "y": 1, "in": {"a": 1, "b": "x y"}}
{"user": "carl", "price": 0, "y": -1, "list": [3, 0, 5], "words": ["p q", "r"]}
not json
{"y": 1}
{"user": "a\\u0000b|:", "y": -1}
""",
}


def unescaped(name: bytes) -> bytes:
    """A name of VW text as it is in the table."""
    return re.sub(f"%({ESCAPES})".encode(), lambda found: bytes.fromhex(found[1].decode()), name)


def named_weights(model: str, of=lambda name: name) -> list[tuple[bytes, float]]:
    model = learned(read_model(model))
    weights = dict(zip(model.keys, model.weights, strict=True))
    return sorted((of(name), float(f"{weights[key]:.12g}")) for key, name in model.names if weights[key])


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("options", ["", "-q user,ad -q up", "--text tags --ngram 2" ])
def test_names_of_tables_are_those_of_their_vw_text(vwlite, at, monkeypatch, name, options):
    if "tags" in options and name != "t.csv":
        pytest.skip("it has no such column")
    if "user,ad" in options and name == "t.jsonl":
        options = "-q user,price"
    Path(name).write_text(TABLES[name])
    roles = [w for w in options.split() if "q" not in w and "," not in w and w != "up"]
    skip = ["--on-error", "skip"]
    crossing = [w for w in options.split() if w not in roles]
    Path("t.vw").write_text(vwlite("convert", name, "--label", "y", *roles, *skip).out)
    train = ["train", *GD, "--loss", "logistic", "--names", "--quiet", *crossing, *skip]
    vwlite(*train, name, "--label", "y", *roles, "-m", "table")
    vwlite(*train, "t.vw", "-m", "text")
    assert named_weights("table") == named_weights("text", unescaped) != []
    names = list(read_model("table").names)
    for size in (16, 64):
        monkeypatch.setattr(reader, "BLOCK_SIZE", size)
        vwlite(*train, name, "--label", "y", *roles, "-m", "again", "--threads", "3")
        assert list(read_model("again").names) == names
    vwlite("train", *GD, "--loss", "logistic", "--quiet", *crossing, *skip, name, "--label", "y", *roles, "-m", "m")
    vwlite("names", "m", name, *skip, "--quiet")
    assert Path("m").read_bytes() == Path("table").read_bytes()


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_names_of_files_of_columns_are_those_of_their_vw_text(vwlite, at, kind):
    pa = pytest.importorskip("pyarrow")

    table = pa.table({
        "user": ["anna", "carl", None, "a|b:c d\ne", "anna"], "n": [1, 2, 3, 0, 5],
        "city": pa.array(["rome", "oslo", "rome", None, "\u00e9"]).dictionary_encode(),
        "price": [1.5, None, 0.0, 2.5, 1e-3], "y": [1.0, -1.0, 0.5, 1.0, -1.0],
    })
    if kind == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, "t.parquet")
    else:
        pytest.importorskip("pyarrow.feather").write_feather(table, "t.arrow", compression="uncompressed")
    file, roles = f"t.{kind}", ["--label", "y", "--categorical", "n"]
    Path("t.vw").write_text(vwlite("convert", file, *roles).out)
    train = ["train", *GD, "--names", "--loss", "logistic", "-q", "user,n", "--quiet", "--on-error", "skip"]
    vwlite(*train, file, *roles, "-m", "table")
    vwlite(*train, "t.vw", "-m", "text")
    assert named_weights("table") == named_weights("text", unescaped)
    assert b"user^user=anna*n^n=1" in [name for _, name in read_model("table").names]
    vwlite(*(word for word in train if word != "--names"), file, *roles, "-m", "m")
    vwlite("names", "m", file, "--on-error", "skip", "--quiet")
    assert Path("m").read_bytes() == Path("table").read_bytes()


# --- vwlite names ------------------------------------------------------------------------------------


def test_names_are_added_to_a_model_in_another_file_or_its_own(vwlite, at):
    vwlite("train", *GD, "data", "-m", "m", "--quiet")
    before = Path("m").read_bytes()
    (at / "half").write_text("".join(TEXT.splitlines(keepends=True)[1:2]))
    err = vwlite("names", "m", "half", "-o", "n").err
    assert re.fullmatch(r"2 of 5 features with a weight have a name, \d\d\.\d% of the sum of \|weights\|\n", err)
    assert Path("m").read_bytes() == before
    assert "5 of 5 features" in vwlite("names", "n", "data", "data", "--threads", "1").err
    assert without_names(Path("n").read_bytes()) == without_names(before)
    assert vwlite("names", "n", "data", "--quiet").err == ""
    vwlite("predict", "-m", "n", "data", "-p", "p", "--quiet")
    vwlite("predict", "-m", "m", "data", "-p", "q", "--quiet")
    assert Path("p").read_bytes() == Path("q").read_bytes()


def test_only_names_of_the_models_weights_take_space(vwlite, at):
    """However much else is in the data."""
    vwlite("train", *GD, "data", "-m", "m", "--quiet")
    (at / "large").write_text("".join(f"1 |user u{i}\n" for i in range(500)) + TEXT)
    assert "5 of 5 features" in vwlite("names", "m", "large", "--most", "5", "-o", "n").err
    err = vwlite("names", "m", "large", "--most", "2", "-o", "n").err
    assert "2 of 5" in err and "note: only the first 2 names of features are kept: --most" in err


def test_names_of_classes_models_do_not_look_at_labels(vwlite, at):
    vwlite("train", *GD, "data", "-m", "m", "--quiet", "--classes", "1,-1", "--oaa", "2")
    (at / "other").write_text("nobody |user anna\nx |page shop\n |user carl\n")
    assert "3 of 5 features" in vwlite("names", "m", "other").err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["m"], 2, "Missing argument"),
        (["nothing", "data"], 66, "nothing: No such file"),
        (["empty", "data"], 65, "empty: not a model"),
        (["m", "nothing"], 66, "nothing: No such file"),
        (["m", "data", "-o", "data"], 2, "which it would overwrite"),
        (["m", "data", "-o", "none/m"], 73, "none/m"),
        (["m", "m"], 2, "which it would overwrite"),
        (["m", "data", "--most", "0"], 2, "--most"),
        (["m", "data", "--max-errors", "3"], 2, "needs --on-error skip"),
        (["v", "data"], 65, "a model of Vowpal Wabbit cannot store names"),
    ],
)
def test_what_names_refuses(vwlite, at, arguments, code, said):
    vwlite("train", *GD, "data", "-m", "m", "--quiet")
    vwlite("export", "m", "--to", "vw", "-o", "v")
    (at / "empty").touch()
    before = {path.name: path.read_bytes() for path in at.iterdir()}
    assert said in vwlite("names", *arguments, code=code).err
    assert {path.name: path.read_bytes() for path in at.iterdir()} == before


def test_a_full_disk_leaves_the_model_as_it_was(at):
    Path("m").touch()
    train = "vwlite train data --algorithm gd -m m --quiet"
    done = shell(f"{train}; cp m before; ulimit -f 0; vwlite names m data; echo $?; cmp m before")
    assert done.out.startswith("74\n") and "m: cannot be written" in done.err + done.out
    assert leftovers(at, ["data", "m", "before"]) == []


# --- the file ----------------------------------------------------------------------------------------


def test_numpy_reads_the_names(vwlite):
    vwlite("train", *GD, "data", "--names", "-m", "m", "--quiet")
    with np.load("m", allow_pickle=False) as arrays:
        text, ends, keys = arrays["names"].tobytes(), arrays["names_ends"], arrays["names_keys"]
    begins = [0, *ends[:-1]]
    assert [(key, text[a:b]) for key, a, b in zip(keys, begins, ends, strict=True)] == list(read_model("m").names)


def test_a_program_without_names_gets_the_name_of_one_that_has_them(vwlite):
    vwlite("train", *GD, "data", "--names", "-m", "m", "--quiet")
    with zipfile.ZipFile("m") as archive:
        header = json.loads(str(np.load(io.BytesIO(archive.read("header.npy")))))
    assert header["format"] == 2  # programs of format 1 look at it first: test_model.py


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    return crafted_models.models(tmp_path_factory.mktemp("healthy"))


def changed(parts, what):
    kind, shape, content = parts.arrays[what[0]]
    if what[1] == "gone":
        del parts.arrays[what[0]]
    elif what[1] == "cut":
        size = {"<u1": 1, "<u4": 4}[kind]
        parts.arrays[what[0]] = (kind, re.sub(r"\d+", lambda m: str(int(m[0]) - 1), shape), content[:-size])
    elif what[1] == "kind":
        parts.arrays[what[0]] = (what[2], shape, content * 4 if kind == "<u1" else content)
    else:
        parts.arrays[what[0]] = (kind, shape, what[1] * (len(content) // len(what[1])))


@pytest.mark.parametrize(
    "what",
    [
        ("names", "gone"), ("names_ends", "gone"), ("names_keys", "gone"), ("names", "cut"), ("names_ends", "cut"),
        ("names_keys", "cut"), ("names_ends", b"\xff\xff\xff\xff"), ("names_ends", b"\0\0\0\0"),
        ("names_keys", b"\xff\xff\xff\xff"), ("names_keys", b"\0\0\0\0"), ("names", "kind", "<u4"),
        ("names_ends", "kind", "<i4"), ("names_keys", "kind", "<f4"),
    ],
    ids=str,
)
def test_damaged_names_are_refused_alike(vwlite, at, what):
    vwlite("train", *GD, "data", "--names", "-m", "m", "--quiet")
    parts = split_into_parts(Path("m").read_bytes())
    changed(parts, what)
    Path("m").write_bytes(put_together(parts))
    for command in (["info", "m"], ["weights", "m"], ["predict", "-m", "m", "data"], ["names", "m", "data"]):
        assert vwlite(*command, code=65).err.startswith("m: not a valid model: ")


def test_a_format_and_its_names_go_together(vwlite, at, healthy):
    vwlite("train", *GD, "data", "--names", "-m", "m", "--quiet")
    named, plain = split_into_parts(Path("m").read_bytes()), split_into_parts(healthy["gd"])
    named.header["format"], plain.header["format"] = 1, 2
    for parts, said in ((named, "its format is 1, and it has 3"), (plain, "its format is 2, and it has 0")):
        Path("m").write_bytes(put_together(parts))
        assert said in vwlite("info", "m", code=65).err


def test_names_do_not_depend_on_the_order_that_they_come_in():
    pairs = [(5, b"b"), (3, b""), (5, b"a"), (5, b"b"), (1, b"\xff")]
    names = FeatureNames.of(pairs)
    assert list(names) == sorted(set(pairs)) and len(names) == 4
    assert names.by_key == {1: [b"\xff"], 3: [b""], 5: [b"a", b"b"]}
    assert names.keys_of(b"b") == [5] and names.keys_of(b"c") == []
    assert len(NONE) == 0 and list(NONE) == []
    assert Model.__dataclass_fields__["names"].default is NONE


def test_features_behind_numbers_of_value_0_have_names(vwlite, at):
    """Such numbers are features of a batch from which others are derived, and none of its text."""
    rows = [f"{i % 2},{i % 3},0,{'abc'[i % 3]},{i % 5 * (i > 50)},{'uv'[i % 2]}{i % 7}" for i in range(400)]
    Path("t.csv").write_text("\n".join(["y,n,zero,word,later,last", *rows, ""]))
    vwlite("train", "t.csv", "--label", "y", "--labels", "0,1", "--numeric", "zero,later", "--names", "-m", "m",
           "--quiet")
    model = read_model("m")
    words = {b"last^last=" + b"uv"[i % 2 : i % 2 + 1] + b"%d" % (i % 7) for i in range(400)}
    assert {name for _, name in model.names} >= words | {b"word^word=a", b"word^word=b", b"word^word=c"}
